"""Where the time of an operation goes: programs that differ in one thing, and their differences.

Nothing of the library is taken apart. A chain of operations runs on arrays, on tensors that record
nothing, on tensors that record, and backwards with less and less to do; what one program takes
beyond the last is the part that it adds. So the same account holds for the package in Python and
for the compiled one, and the parts add up to the whole.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from time import perf_counter
from typing import Any, NamedTuple

from _builds import BUILDS
from _measure import measure

# isort: split
import numpy as np

__all__ = ["KERNELS", "PARTS", "Account", "Kernel", "Part", "accounts_of", "operands"]

OWN_LOOPS = 2048
"""Up to so many elements the compiled modules compute products themselves (native/arrays.h)."""

_KERNELS = ("numpy", "first", "second", "sum")
"""The programs that are arithmetic alone."""

Chain = Callable[[Any, Any], Any]
"""One operation on what has come so far and on another operand."""


class Kernel(NamedTuple):
    """An operation of two arguments, and what NumPy computes in its derivatives."""

    forward: Chain
    first: Chain
    """From the cotangent and the second argument, the cotangent of the first."""
    second: Chain
    """From the first argument and the cotangent, the cotangent of the second."""


KERNELS = {
    "product": Kernel(lambda y, w: y * w, lambda g, w: g * w, lambda y, g: g * y),
    "matmul": Kernel(lambda y, w: y @ w, lambda g, w: g @ w.T, lambda y, g: y.T @ g),
}


class Part(NamedTuple):
    """A line of the account: what it is, and how it follows from the programs' times."""

    phase: str
    name: str
    value: Callable[[Mapping[str, float]], float]
    is_kernel: bool = False
    """Whether it is the arithmetic itself, which compiled modules may do in loops of their own."""


PARTS = (
    Part("forward", "NumPy's kernel", lambda t: t["numpy"], True),
    Part("forward", "mode check", lambda t: t["mode"]),
    Part(
        "forward",
        "operator, checks of the arguments, a tensor for the result",
        lambda t: t["unrecorded"] - t["numpy"] - t["mode"],
    ),
    Part("forward", "node and edges", lambda t: t["add"] - t["add unrecorded"]),
    Part(
        "forward",
        "saving for backward, and the memory that stays taken",
        lambda t: (t["recorded"] - t["unrecorded"]) - (t["add"] - t["add unrecorded"]),
    ),
    Part("forward", "**the recorded operation**", lambda t: t["recorded"]),
    Part("forward", "*NumPy alone, if it keeps its results*", lambda t: t["kept"]),
    Part("backward", "engine step", lambda t: t["step"]),
    Part("backward", "NumPy in the two rules", lambda t: t["first"] + t["second"], True),
    Part(
        "backward", "first rule, with what was saved", lambda t: t["one"] - t["step"] - t["first"]
    ),
    Part(
        "backward",
        "second rule, and its cotangent's way",
        lambda t: t["both"] - t["one"] - t["second"] - t["sum"],
    ),
    Part("backward", "NumPy's sum of cotangents", lambda t: t["sum"], True),
    Part("backward", "**the backward step**", lambda t: t["both"]),
    Part(
        "leaf",
        "a leaf's cotangent becomes its `.grad`",
        lambda t: t["leaf"] - t["one"] - t["second"],
    ),
    Part("leaf", "NumPy's sum with the `.grad` that is there", lambda t: t["sum"], True),
    Part(
        "leaf",
        "the rest of adding to `.grad`",
        lambda t: t["leaf again"] - t["leaf"] - t["sum"],
    ),
    Part(
        "leaf",
        "**accumulation into a `.grad` that is there**",
        lambda t: t["leaf again"] - t["one"] - t["second"],
    ),
    Part("call", "**the call of `backward()`**", lambda t: t["call"]),
)


def _numpy(kernel: Kernel, x: Any, w: Any, g: Any, ops: int) -> dict[str, Callable[[], float]]:
    """What NumPy alone takes, on the same arrays and in the same order."""
    nothing: list[Any] = [None] * ops
    kept = nothing.copy()

    def chain(operation: Chain, places: range | list[int]) -> Callable[[], float]:
        def run() -> float:
            start = perf_counter()
            y = x
            for place in places:
                y = kept[place] = operation(y, w)
            del y
            kept[:] = nothing
            return perf_counter() - start

        return run

    def second() -> float:
        start = perf_counter()
        for _ in range(ops):
            kernel.second(x, g)
        return perf_counter() - start

    def added() -> float:
        total = g.copy()
        start = perf_counter()
        for _ in range(ops):
            total += g
        return perf_counter() - start

    return {
        "numpy": chain(kernel.forward, [0] * ops),
        "kept": chain(kernel.forward, range(ops)),
        "first": chain(kernel.first, [0] * ops),
        "second": second,
        "sum": added,
    }


def _tensors(
    lib: Any, mode: Callable[[], Any], kernel: Kernel, arrays: tuple[Any, Any, Any], ops: int
) -> dict[str, Callable[[], float]]:
    """The programs on tensors; those that go backwards are timed there only."""
    constants = [lib.tensor(array) for array in arrays]
    x, w, g = (lib.tensor(array) for array in arrays)
    x.requires_grad_()
    w.requires_grad_()
    others = [lib.tensor(arrays[1]) for _ in range(ops)]
    leaves = [lib.tensor(arrays[1]).requires_grad_() for _ in range(ops)]

    def forward(operation: Chain, x: Any, w: Any) -> Callable[[], float]:
        def run() -> float:
            start = perf_counter()
            y = x
            for _ in range(ops):
                y = operation(y, w)
            del y
            return perf_counter() - start

        return run

    def walked(operation: Chain, operands: list[Any], again: bool) -> float:
        def pass_back() -> float:
            y = x
            for operand in operands:
                y = operation(y, operand)
            start = perf_counter()
            y.backward(g)
            del y
            return perf_counter() - start

        seconds = pass_back()
        if again:
            seconds = pass_back()
        x.grad = w.grad = None
        for leaf in leaves:
            leaf.grad = None
        return seconds

    def modes() -> float:
        start = perf_counter()
        for _ in range(ops):
            mode() is None  # noqa: B015 (what is timed)
        return perf_counter() - start

    programs = {
        "mode": modes,
        "unrecorded": forward(kernel.forward, constants[0], constants[1]),
        "recorded": forward(kernel.forward, x, w),
        "add unrecorded": forward(plus, constants[0], constants[1]),
        "add": forward(plus, x, w),
    }
    backward: dict[str, tuple[Chain, list[Any], bool]] = {
        "step": (lambda y, w: y + 1.0, others, False),
        "one": (kernel.forward, others, False),
        "both": (kernel.forward, [w] * ops, False),
        "leaf": (kernel.forward, leaves, False),
        "leaf again": (kernel.forward, leaves, True),
    }
    for name, (operation, operands, again) in backward.items():
        programs[name] = partial(walked, operation, operands, again)
        programs[f"{name}, once"] = partial(walked, operation, operands[:1], again)
    return programs


def plus(y: Any, w: Any) -> Any:
    return y + w


class Account(NamedTuple):
    """Nanoseconds of each part; None: it is in the part that follows it."""

    kernel: str
    shape: tuple[int, ...]
    dtype: str
    build: str
    parts: dict[str, dict[str, float | None]]
    """Phase -> part -> nanoseconds."""


def operands(name: str, shape: tuple[int, ...], dtype: Any) -> tuple[Any, Any, Any]:
    """Two arguments and a cotangent such that long chains neither grow nor shrink much."""
    rng = np.random.default_rng(0)
    x, w, g = (rng.uniform(0.95, 1.0, shape).astype(dtype) for _ in range(3))
    if name == "matmul":
        w /= shape[-1]
    return (x, w, g) if shape else (dtype(x), dtype(w), dtype(g))


def accounts_of(
    name: str, shape: tuple[int, ...], dtype: Any, ops: int, repeats: int, rounds: int
) -> list[Account]:
    """The account of one operation, for each build."""
    arrays = operands(name, shape, dtype)
    programs = {"numpy": _numpy(KERNELS[name], *arrays, ops)}
    for build_name, build in BUILDS.items():
        mode = build.load("wengert.tape.modes").current_mode
        with build.set_up():
            programs[build_name] = _tensors(build.package, mode, KERNELS[name], arrays, ops)
            for program in programs[build_name].values():
                program()

    def contestant(own: Mapping[str, Callable[[], float]]) -> Callable[[], dict[str, float]]:
        def run() -> dict[str, float]:
            for program in own.values():
                program()
            return {name: min(program() for _ in range(repeats)) for name, program in own.items()}

        return run

    times = measure({name: contestant(own) for name, own in programs.items()}, rounds)
    # the least of all rounds: what the steps take if nothing comes in between
    least = {name: {p: min(of) for p, of in own.items()} for name, own in times.items()}
    numpy = least.pop("numpy")
    accounts = []
    for build_name, own in least.items():
        seconds = _per_operation({**numpy, **own}, ops)
        within = BUILDS[build_name].is_compiled and name == "product" and arrays[0].size < OWN_LOOPS
        parts: dict[str, dict[str, float | None]] = {}
        for part in PARTS:
            hidden = within and part.is_kernel
            known = {**seconds, **dict.fromkeys(_KERNELS, 0.0)} if within else seconds
            value = None if hidden else 1e9 * part.value(known)
            parts.setdefault(part.phase, {})[part.name] = value
        accounts.append(Account(name, shape, np.dtype(dtype).name, build_name, parts))
    return accounts


def _per_operation(seconds: Mapping[str, float], ops: int) -> dict[str, float]:
    found = {}
    for name, whole in seconds.items():
        once = seconds.get(f"{name}, once")
        found[name] = whole / ops if once is None else (whole - once) / (ops - 1)
    found["call"] = seconds["one, once"] - found["one"]
    return found
