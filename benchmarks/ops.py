"""Every family of operations beside PyTorch, on one thread: small and large inputs, both passes.

The time of a forward pass includes that it is recorded. Both libraries run the same call, in turns,
and must agree on its result and gradients. ``--markdown`` writes the page docs/operations-speed.md.
"""

from __future__ import annotations

import argparse
import os
import platform
import statistics
import sys
import warnings
from collections.abc import Callable, Mapping
from time import perf_counter, process_time
from typing import Any, NamedTuple

from _measure import OURS, Row, arguments, measure, optional, ratio, report

# isort: split
import numpy as np
from _operations import FAMILIES, Operation

import wengert as wg

torch = optional("torch")
if torch is not None:
    torch.set_num_threads(1)

LIMIT = 3.0
"""Whatever takes longer than this many times PyTorch's time is named at the end."""
ROUND = 1.5e-3
"""Seconds that one contestant runs for before the other has its turn, at least."""
DRAWN = "dropout(x, 0.5)"
GENERAL = (
    "Forward passes of small inputs are above 3 more often than this table shows: PyTorch runs one "
    "kernel, which takes 4 to 10 µs, where wengert runs two or three that take as long each. The "
    "table counts the backward pass as well, if there is one."
)
REASONS = {
    "F.gelu": "float32: the normal distribution function is a polynomial and an exponential, 50 "
    "passes over the array instead of one, with its digits kept in the left tail",
    "t.erfc": "float32: computed in float64 in 60 passes, to the last place",
    "x.prod": "products before and behind each element by two running products, which NumPy makes "
    "element by element; dividing would fail at 0",
    "t.index_select": "gradients are added in rounds, in each of which no row is named twice",
    "F.one_hot": "four array operations instead of one kernel",
    "F.hardswish": "two masked pieces, each a pass over fresh memory",
    "F.grid_sample": "some forty array operations instead of one kernel",
    "F.multi_margin_loss": "six primitives instead of one kernel",
    "F.scaled_dot_product_attention": "four primitives instead of one kernel",
    "F.ctc_loss": "a step of the recursion is a dozen array operations",
    "F.layer_norm": "passes over fresh memory instead of one over the cache",
    "F.group_norm": "passes over fresh memory instead of one over the cache",
}
"""Why a call is above `LIMIT`, by the beginning of the call."""


class Step(NamedTuple):
    """One operation of one library, ready to run."""

    forward: Callable[[], Any]
    both: Callable[[], Any] | None


def options_of(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--only", metavar="text", help="only calls and families with this in them")
    parser.add_argument("--markdown", action="store_true", help="print the page of the docs")


def inputs_of(text: str, dtype: Any) -> dict[str, Any]:
    """The arrays that a description such as ``"x 3,4; i(5) 2"`` stands for."""
    rng = np.random.default_rng(0)
    arrays = {}
    for item in text.split(";"):
        letter, sizes = item.split()
        shape = tuple(int(size) for size in sizes.split(","))
        kind = letter[0]
        if kind in "ij":
            arrays[kind] = rng.integers(0, int(letter[2:-1]), shape)
        elif kind == "m":
            arrays[kind] = rng.random(shape) > 0.5
        elif kind == "k":
            arrays[kind] = rng.random(shape).astype(dtype)
        elif kind in "pq":
            arrays[kind] = rng.uniform(0.5, 2, shape).astype(dtype)
        elif kind == "u":
            arrays[kind] = rng.uniform(-0.9, 0.9, shape).astype(dtype)
        else:
            array = rng.standard_normal(shape)
            arrays[kind] = (array / shape[-1] ** 0.5 if kind == "w" else array).astype(dtype)
    return arrays


def tensors_of(value: Any) -> list[Any]:
    if isinstance(value, tuple | list):
        return [tensor for item in value for tensor in tensors_of(item)]
    return [value]


def step_of(lib: Any, call: str, arrays: Mapping[str, Any]) -> Step:
    """The same code for both libraries: one pass, and both passes where there is a gradient."""
    tensors = {name: lib.from_numpy(array.copy()) for name, array in arrays.items()}
    leaves = [tensor.requires_grad_() for name, tensor in tensors.items() if name in "xyzpquw"]
    function = eval(f"lambda t, F, {', '.join(tensors)}: {call}")
    values = tuple(tensors.values())

    def forward() -> Any:
        return function(lib, lib.nn.functional, *values)

    outputs = [out for out in tensors_of(forward()) if getattr(out, "requires_grad", False)]
    if not outputs or not leaves:
        return Step(forward, None)
    seeds = [lib.ones_like(out) for out in outputs]
    grad = lib.autograd.grad

    def both() -> Any:
        outs = [out for out in tensors_of(forward()) if out.requires_grad]
        return grad(outs, leaves, seeds, allow_unused=True)

    return Step(forward, both)


def disagree(ours: Any, theirs: Any) -> bool:
    """Whether results differ: eigenvalues come in any order, vectors with any sign."""
    for a, b in zip(tensors_of(ours), tensors_of(theirs), strict=True):
        if a is None or b is None:
            continue
        x, y = (np.sort_complex(np.abs(out.detach().numpy()).ravel()) for out in (a, b))
        if x.shape != y.shape or not np.allclose(
            x, y, 2e-2, 2e-2 * max(1.0, np.abs(y).max(initial=0))
        ):
            return True
    return False


def contestant(step: Step, seconds: float) -> Callable[[], Mapping[str, float]]:
    """Seconds of the processor's time for one call, by phase."""
    repeats = max(1, int(ROUND / seconds))

    def run() -> dict[str, float]:
        found = {}
        for phase, call in (("forward", step.forward), ("both", step.both)):
            if call is not None:
                call()  # its own code back into the processor's caches
                start = process_time()
                for _ in range(repeats):
                    call()
                found[phase] = (process_time() - start) / repeats
        return found

    return run


def timed(call: Callable[[], Any]) -> float:
    call()
    start = process_time()
    call()
    return process_time() - start


def rows_of(operation: Operation, rounds: int, libraries: Mapping[str, Any]) -> list[Row]:
    """The rows of one operation: small and large, forward and both passes."""
    lines = []
    for size, text in (("small", operation.small), ("large", operation.large)):
        arrays = inputs_of(text, np.float32)
        steps = {name: step_of(lib, operation.call, arrays) for name, lib in libraries.items()}
        for name, step in steps.items():
            for ours, theirs in zip(steps[OURS], step, strict=True):
                if ours is None or theirs is None or DRAWN in operation.call:
                    continue
                if name != OURS and disagree(ours(), theirs()):
                    sys.exit(f"{operation.call}, {text}: {name} has other results")
        slowest = max(timed(step.both or step.forward) for step in steps.values())
        few = rounds if slowest < 0.02 else max(3, rounds // 2)
        times = measure({n: contestant(step, slowest) for n, step in steps.items()}, few)
        phases = [phase for phase in ("forward", "both") if all(phase in t for t in times.values())]
        for phase in phases:
            by_name = {name: of[phase] for name, of in times.items()}
            lines.append(Row(f"{operation.call}  {size}", phase, by_name))
    return lines


def _above(row: Row) -> bool:
    return ratio(row.times[OURS], row.times["torch"]) > LIMIT


def _found() -> list[str]:
    config: Any = np.show_config(mode="dicts")
    simd = config["SIMD Extensions"]
    return simd.get("baseline", []) + simd.get("found", [])


def _reason(case: str) -> str:
    return next((why for call, why in REASONS.items() if case.startswith(call)), "")


def page(families: Mapping[str, list[Row]]) -> str:
    """The page of the documentation: our time as a fraction of PyTorch's."""
    everything = [row for rows in families.values() for row in rows]
    ratios = [ratio(r.times[OURS], r.times["torch"]) for r in everything]
    pairs = {row.case for row in everything if row.phase == "both"}
    whole = [row for row in everything if row.phase == "both" or row.case not in pairs]
    parts = [
        "# How fast the operations are\n\n"
        "The figures are wengert's time as a fraction of PyTorch's for the same call on float32: "
        "below 1 is quicker than PyTorch. Both run in one process and take turns; each figure is a "
        "median over rounds. *forward* is a recorded forward pass; *both* adds a backward pass by "
        "`autograd.grad`. Inputs are small (about ten elements) or large (300 by 300, unless "
        "`benchmarks/_operations.py` says otherwise). `python benchmarks/ops.py --markdown` "
        "measures and writes this page.\n\n"
        f"Measured on {platform.system()}, {platform.machine()}, {os.cpu_count()} cores, of which "
        f"each library used one, with the vector instructions {', '.join(_found())}; Python "
        f"{platform.python_version()}, NumPy {np.__version__}, PyTorch "
        f"{torch.__version__.split('+')[0]}. Processor time is counted, so other "
        "programs took none of it, but they shared the caches: single figures are good to some "
        "20 per cent.\n\n"
        f"Of {len(ratios)} measurements the median is {statistics.median(ratios):.2f}; "
        f"{sum(r < 1 for r in ratios)} are below 1, {sum(r > LIMIT for r in ratios)} above "
        f"{LIMIT:g}. Of the {len(whole)} that include the backward pass, if there is one, "
        f"{sum(map(_above, whole))} are above {LIMIT:g}.\n\n"
        "| family | geometric mean, forward | both |\n|---|---:|---:|\n"
    ]
    for family, rows in families.items():
        cells = []
        for phase in ("forward", "both"):
            found = [ratio(r.times[OURS], r.times["torch"]) for r in rows if r.phase == phase]
            cells.append(f"{statistics.geometric_mean(found):.2f}" if found else "-")
        parts.append(f"| {family} | {' | '.join(cells)} |\n")
    parts.append(
        f"\n## Above {LIMIT:g}\n\n{GENERAL}\n\n| call | fraction | why |\n|---|---:|---|\n"
    )
    for row in whole:
        if _above(row):
            call, size = row.case.rsplit("  ", 1)
            value = ratio(row.times[OURS], row.times["torch"])
            parts.append(f"| `{call}`, {size} | {value:.1f} | {_reason(call)} |\n")
    for family, rows in families.items():
        by_call: dict[str, dict[str, float]] = {}
        for row in rows:
            call, size = row.case.rsplit("  ", 1)
            value = ratio(row.times[OURS], row.times["torch"])
            by_call.setdefault(call, {})[f"{size} {row.phase}"] = value
        parts.append(
            f"\n## {'FFT' if family == 'fft' else family.capitalize()}\n\n"
            "| call | small, forward | small, both | large, forward | large, both |\n"
            "|---|---:|---:|---:|---:|\n"
        )
        for call, values in by_call.items():
            cells = [
                f"{values[key]:.2f}" if key in values else "-"
                for key in ("small forward", "small both", "large forward", "large both")
            ]
            parts.append(f"| `{call}` | {' | '.join(cells)} |\n")
    return "".join(parts)


def main() -> None:
    options = arguments(__doc__, options_of)
    libraries = {OURS: wg, **({"torch": torch} if torch is not None else {})}
    if options.peers is not None and "torch" not in options.peers.split(","):
        libraries.pop("torch", None)
    if options.markdown and "torch" not in libraries:
        sys.exit("the page compares with PyTorch, which is not installed")
    warnings.simplefilter("ignore")
    families: dict[str, list[Row]] = {}
    start = perf_counter()
    for family, operations in FAMILIES.items():
        for operation in operations:
            if options.only and options.only not in operation.call and options.only not in family:
                continue
            rows = rows_of(operation, 3 if options.quick else 7, libraries)
            families.setdefault(family, []).extend(rows)
        if family in families and not options.json and not options.markdown:
            report(family, "µs", 1e6, families[family], False)
    if options.markdown:
        print(page(families), end="")
        return
    everything = [row for rows in families.values() for row in rows]
    if options.json:
        report("Operations", "µs", 1e6, everything, True)
        return
    print(f"\n{len(everything)} measurements in {perf_counter() - start:.0f} s")
    if "torch" in libraries:
        slow = [
            (ratio(row.times[OURS], row.times["torch"]), f"{row.case}, {row.phase}")
            for row in everything
        ]
        for value, case in sorted(slow, reverse=True):
            if value > LIMIT:
                print(f"{value:5.1f} times PyTorch's time: {case}")


if __name__ == "__main__":
    main()
