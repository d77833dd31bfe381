"""Functions of science: the evals of GradBench, a network's step, Rosenbrock, and N bodies.

Values and gradients (Jacobians, Newton's step) in float64, in sizes from small to large, beside
PyTorch, JAX under `jit`, and the value alone in NumPy. Where there is `wg.compile`, ``wengert`` is
what it makes of the same functions, and ``wengert (eager)`` these as they are. All run in one
process, on one thread, in turns, and must agree. ``first`` is what the first calls of a gradient
take together: those that trace, compile, and try out what they made.
"""

from __future__ import annotations

import argparse
import json
import statistics
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from importlib import import_module
from math import exp, log
from types import ModuleType
from typing import Any, NamedTuple

from _measure import (
    OURS,
    Row,
    arguments,
    as_object,
    chosen,
    clock,
    measure,
    optional,
    ratio,
    report,
    rows,
)

# isort: split
import numpy as np
from gradbench import evals, further, inputs
from gradbench.references import plain_numpy

import wengert as wg

torch = optional("torch")
jax = optional("jax")
if torch is not None:
    torch.set_num_threads(1)

EAGER = "wengert (eager)"
SIZES = ("small", "medium", "large")
CASES: dict[str, Sequence[tuple[Any, ...]]] = {
    "hello": [()],
    "gmm": [(2, 5, 1000), (10, 25, 1000), (32, 50, 1000)],
    "ba": [(5, 100, 400), (21, 1131, 3645), (49, 7776, 31843)],
    "ht": [(544, 100, False), (544, 1000, True), (5000, 4000, True)],
    "lstm": [(2, 64), (2, 1024), (4, 1024)],
    "kmeans": [(10, 1000, 8), (100, 10_000, 8), (200, 20_000, 16)],
    "ode": [(1000, 1), (1000, 100), (100_000, 10)],
    "llsq": [(16, 128), (1024, 128), (16_392, 128)],
    "lse": [(2500,), (40_000,), (1_280_000,)],
    "det": [(5,), (8,), (11,)],
    "particle": [()],
    "saddle": [()],
    "network": [(8, 20, 10, 5), (64, 100, 100, 10), (64, 1000, 100, 10)],
    "rosenbrock": [(5,), (1000,), (1_000_000,)],
    "nbody": [(8,), (64,), (512,)],
}
"""What `inputs` makes the functions' inputs of, in the order of `SIZES`."""

ENOUGH = 2e-3
"""Seconds that a phase of a contestant lasts in a round, at least."""
PATIENCE = 20.0
"""Seconds that a case may take, about; but at least `LEAST` rounds are measured."""
LEAST = 3
FIRST = 4
"""How many calls of a function it takes at most until all later ones are alike."""

Call = Callable[[], Any]
Function = Callable[..., Any]


class Contestant(NamedTuple):
    """A library's value and derivative of one input, ready to be called."""

    objective: Call
    gradient: Call | None = None
    fresh: Call | None = None
    """The first calls of the derivative, as if there had been none, where they take longer."""


WARM = 12
"""So many calls come first: compiled functions try out in the first ones what they gain."""


def module_of(name: str) -> ModuleType:
    package = evals if name in EVALS else further
    return import_module(f"{package.__name__}.{name}")


EVALS = [name for name in CASES if name not in ("network", "rosenbrock", "nbody")]


def converted(args: Sequence[Any], make: Function) -> list[Any]:
    """The arguments with another library's arrays in place of tensors."""
    return [make(arg.numpy()) if isinstance(arg, wg.Tensor) else arg for arg in args]


def begun(call: Call) -> None:
    for _ in range(FIRST):
        call()


def ours(module: ModuleType, args: Sequence[Any], compile: Function | None) -> Contestant:
    if compile is None:
        return Contestant(lambda: module.objective(*args), lambda: module.gradient(*args))
    objective, gradient = compile(module.objective), compile(module.gradient)
    return Contestant(
        lambda: objective(*args),
        lambda: gradient(*args),
        lambda: begun(partial(compile(lambda *args: module.gradient(*args)), *args)),
    )


def numpy_style(name: str, args: Sequence[Any]) -> Contestant:
    arrays = converted(args, np.asarray)
    return Contestant(lambda: getattr(plain_numpy, name)(*arrays))


def torch_style(name: str, args: Sequence[Any]) -> Contestant:
    reference = import_module("gradbench.references.pytorch")
    tensors = converted(args, optional("torch").from_numpy)  # type: ignore[union-attr]  # installed
    objective, gradient = getattr(reference, name), reference.DERIVATIVES[name]
    return Contestant(lambda: objective(*tensors), lambda: gradient(*tensors))


def jax_style(name: str, args: Sequence[Any]) -> Contestant:
    reference = import_module("gradbench.references.jax_jit")
    places = [i for i, arg in enumerate(args) if isinstance(arg, wg.Tensor)]
    arrays = [jax.numpy.asarray(args[i].numpy()) for i in places]  # type: ignore[union-attr]  # installed

    def jitted(f: Function) -> Call:
        def of_arrays(*arrays: Any) -> Any:
            # numbers that a shape depends on are not arguments of what JAX compiles
            full = list(args)
            for place, array in zip(places, arrays, strict=True):
                full[place] = array
            return f(*full)

        compiled = jax.jit(of_arrays)  # type: ignore[union-attr]  # installed
        return lambda: jax.block_until_ready(compiled(*arrays))  # type: ignore[union-attr]  # installed

    derivative = reference.DERIVATIVES[name]
    return Contestant(
        jitted(getattr(reference, name)),
        jitted(derivative),
        lambda: begun(jitted(derivative)),
    )


def contestants(
    name: str, size: tuple[Any, ...], compile: Function | None, peers: str | None
) -> dict[str, Contestant]:
    """Those that are installed and were asked for; we come first."""
    module = module_of(name)
    args = module.arguments(getattr(inputs, name)(*size))
    makers: dict[str, Call] = {OURS: lambda: ours(module, args, compile)}
    if compile is not None:
        makers[EAGER] = lambda: ours(module, args, None)
    if torch is not None:
        makers["torch"] = lambda: torch_style(name, args)
    if jax is not None:
        makers["jax (jit)"] = lambda: jax_style(name, args)
    makers["numpy"] = lambda: numpy_style(name, args)
    return {name: make() for name, make in chosen(makers, peers).items()}


def flat(value: Any) -> Any:
    """All numbers of a result."""
    if isinstance(value, tuple | list):
        return np.concatenate([flat(part) for part in value])
    return np.asarray(value.detach() if hasattr(value, "detach") else value).ravel()


def check(case: str, there: Mapping[str, Contestant]) -> None:
    """Leave with a message unless everybody computes the same."""
    for phase in ("objective", "gradient"):
        truth = flat(getattr(there[OURS], phase)())
        for name, contestant in there.items():
            call = getattr(contestant, phase)
            # as large results are sums of many terms, the largest number is the measure
            scale = np.abs(truth).max()
            if call is not None and not np.allclose(flat(call()), truth, rtol=0, atol=1e-9 * scale):
                sys.exit(f"{case}: the {phase} of {name} differs")


def seconds(call: Call, repeats: int = 1) -> float:
    start = clock()
    for _ in range(repeats):
        call()
    return (clock() - start) / repeats


def enough(call: Call) -> tuple[int, float]:
    """How often to call, and about how long that takes."""
    repeats = 1
    while (total := seconds(call, repeats) * repeats) < ENOUGH:
        repeats *= 2
    return repeats, total


def runner(contestant: Contestant) -> tuple[Callable[[], Mapping[str, float]], float]:
    """What `measure` runs, and about how long that takes."""
    phases = {"objective": contestant.objective, "gradient": contestant.gradient}
    calls = {phase: call for phase, call in phases.items() if call is not None}
    for call in calls.values():
        for _ in range(WARM):
            call()
    planned = {phase: enough(call) for phase, call in calls.items()}

    def run() -> dict[str, float]:
        return {phase: seconds(call, planned[phase][0]) for phase, call in calls.items()}

    return run, sum(total for _, total in planned.values())


def timed(case: str, there: Mapping[str, Contestant], rounds: int) -> list[Row]:
    """The rows of a case: its objective, its gradient, and the first call of that."""
    firsts = {n: [seconds(c.fresh)] for n, c in there.items() if c.fresh is not None}
    check(case, there)
    runners = {name: runner(contestant) for name, contestant in there.items()}
    within = int(PATIENCE / sum(time for _, time in runners.values())) - 2
    counted = min(rounds, max(LEAST, within))
    lines = rows(case, measure({name: run for name, (run, _) in runners.items()}, counted))
    if OURS in firsts:
        lines.append(Row(case, "first", firsts))
    return lines


def mean(ratios: Iterable[float]) -> float:
    """The geometric mean."""
    return exp(statistics.fmean(log(ratio) for ratio in ratios))


def summary(lines: Sequence[Row]) -> dict[str, Any]:
    """Geometric means and the worst of our times as fractions of the others', and of our own."""
    found: dict[str, Any] = {}
    for phase in ("objective", "gradient"):
        chosen_rows = [line for line in lines if line.phase == phase]
        for peer in dict.fromkeys(n for line in chosen_rows for n in line.times if n != OURS):
            ratios = {
                line.case: ratio(line.times[OURS], line.times[peer])
                for line in chosen_rows
                if peer in line.times
            }
            found[f"{phase} over {peer}"] = spread(ratios)
    values = {line.case: line.times[OURS] for line in lines if line.phase == "objective"}
    gradients = {line.case: line.times[OURS] for line in lines if line.phase == "gradient"}
    found["gradient over objective"] = spread(
        {case: ratio(times, values[case]) for case, times in gradients.items()}
    )
    firsts = {line.case: line.times[OURS][0] for line in lines if line.phase == "first"}
    if firsts:
        found["first calls, in seconds"] = spread(firsts)
    return found


def spread(ratios: Mapping[str, float]) -> dict[str, Any]:
    worst = max(ratios, key=lambda case: ratios[case])
    return {"mean": mean(ratios.values()), "most": ratios[worst], "case": worst}


def show(found: Mapping[str, Mapping[str, Any]]) -> None:
    print("\nOur time as a fraction: geometric means, and the most\n")
    wide = max(map(len, found))
    for what, of in found.items():
        print(f"{what:{wide}}  {of['mean']:8.3f}  {of['most']:8.3f}  {of['case']}")


def more(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--only", metavar="gmm,ba", help="only these functions")
    parser.add_argument("--sizes", metavar="small,large", help="only these sizes")
    parser.add_argument("--eager", action="store_true", help="compile nothing of ours")


def asked_for(text: str | None, known: Iterable[str], what: str) -> list[str]:
    names = list(known) if text is None else text.split(",")
    for name in names:
        if name not in known:
            sys.exit(f"there is no {what} {name!r}, only {', '.join(known)}")
    return names


def main() -> None:
    options = arguments(__doc__, more, rounds=(5, 15))
    lines: list[Row] = []
    compile = None if options.eager else getattr(wg, "compile", None)
    sizes = asked_for(options.sizes, SIZES, "size")
    for name in asked_for(options.only, CASES, "function"):
        for label, size in zip(SIZES, CASES[name], strict=False):
            if label in sizes:
                case = " ".join([name, "x".join(str(part) for part in size)]).strip()
                there = contestants(name, size, compile, options.peers)
                lines += timed(case, there, options.rounds)
    title = "Values and gradients of functions of science"
    if options.json:
        table = as_object(title, "µs", 1e6, lines)
        print(json.dumps(table | {"summary": summary(lines)}, indent=2))
        return
    report(title, "µs per call", 1e6, lines, as_json=False)
    show(summary(lines))


if __name__ == "__main__":
    main()
