"""Run programs in source text compiled and uncompiled, and compare their effects."""

from __future__ import annotations

import contextlib
import io
import linecache
import os
import re
import sys
import threading
import types
import warnings
from collections.abc import Callable, Iterator
from random import Random
from typing import Any, NamedTuple

import numpy as np
from random_grammar import HELPERS, Pair

import wengert as wg
from wengert import nn
from wengert.base.containers import flatten
from wengert.nn import functional as F

__all__ = ["FIRST", "Maker", "Verdict", "array_of", "check", "space"]

FIRST = int(
    os.environ.get("WENGERT_SEED") or Random(os.environ.get("WENGERT_SAMPLE", "")).randrange(10**6)
)
"""The seed of the first random program, drawn from the commit unless it is given."""

REFUSED = "cannot be differentiated twice from outside"


# -- running ---------------------------------------------------------------------------------------

NUDGE: list[Any] = [None]
"""Random numbers by which all data are changed in their last places, if there are any."""


class Maker:
    """Makes the arguments of a call."""

    def __init__(self, seed: int) -> None:
        self.rng = np.random.default_rng(seed)

    def real(self, *shape: int, dtype: Any = np.float64) -> Any:
        return nudged(self.rng.standard_normal(shape).astype(dtype))

    def __call__(self, *shape: int, dtype: Any = np.float64, grad: bool = True) -> Any:
        return wg.tensor(self.real(*shape, dtype=dtype), requires_grad=grad)

    def whole(self, *shape: int) -> Any:
        return wg.tensor(self.rng.integers(0, 3, shape))

    def truth(self, *shape: int) -> Any:
        return wg.tensor(self.rng.random(shape) < 0.6)

    def complex(self, *shape: int) -> Any:
        return wg.tensor(self.real(*shape) + 1j * self.real(*shape), requires_grad=True)


class Nudge:
    """Changes data in the last places of the least precise numbers of a program."""

    def __init__(self, text: str, seed: int) -> None:
        coarse = "float32" in text or ".float()" in text
        self.eps = np.finfo(np.float32 if coarse else np.float64).eps
        self.integers = np.random.default_rng(seed).integers


def nudged(array: Any) -> Any:
    rng = NUDGE[0]
    if rng is None or array.dtype.kind not in "fc":
        return array
    step = rng.eps * rng.integers(-4, 5, array.shape)
    return (array * (1 + step)).astype(array.dtype)


def space() -> dict[str, Any]:
    """What the source of programs finds there."""
    # dataclasses look for the module of a class
    module = sys.modules["random_program"] = types.ModuleType("random_program")
    made = module.__dict__
    made |= {"wg": wg, "nn": nn, "F": F, "np": np, "Maker": Maker, "Pair": Pair}
    exec(HELPERS, made)
    return made


def loaded(text: str) -> dict[str, Any]:
    """A program, run up to where its world can be made."""
    name = f"<program {abs(hash(text))}>"
    linecache.cache[name] = (len(text), None, text.splitlines(True), name)
    made = space()
    exec(compile(text, name, "exec"), made)
    made["DRAWS"] = re.search("rand|bernoulli|dropout|normal|Generator", text) is not None
    return made


def tensors_in(things: Any) -> list[Any]:
    """The tensors of containers, modules and optimisers."""
    found: list[Any] = []
    for leaf in flatten(things)[0]:
        if isinstance(leaf, wg.Tensor):
            found.append(leaf)
        elif isinstance(leaf, nn.Module):
            found += [*leaf.parameters(), *leaf.buffers()]
        elif isinstance(leaf, wg.optim.Optimizer):
            found += [t for g in leaf.param_groups for t in g["params"]]
    return list({id(t): t for t in found}.values())


def array_of(tensor: Any) -> Any:
    return tensor.detach().resolve_conj().numpy().copy()


def seen(leaf: Any, known: list[Any]) -> Any:
    """What can be told of one thing."""
    if isinstance(leaf, np.ndarray):
        return leaf.copy()
    if not isinstance(leaf, wg.Tensor):
        return leaf
    place = next((n for n, other in enumerate(known) if other is leaf), None)
    gradient = leaf.grad if leaf.is_leaf or leaf.retains_grad else None
    return (
        array_of(leaf),
        None if gradient is None else (array_of(gradient), gradient.requires_grad),
        (str(leaf.dtype), tuple(leaf.shape), leaf.requires_grad, leaf.is_leaf, place),
        type(leaf).__name__,
    )


def differentiated(result: Any, known: list[Any], how: str) -> Any:
    """Derivatives of what a call returned, taken outside of it."""
    roots = [
        t
        for t in flatten(result)[0]
        if isinstance(t, wg.Tensor) and t.requires_grad and not t.is_leaf
    ]
    leaves = [t for t in known if t.requires_grad and t.is_leaf]
    if not roots or how == "none" or (how != "backward" and not leaves):
        return None
    total = 0.0
    for root in roots:
        part = (root * root.detach().abs().cos()).sum()
        total = total + (part.real + part.imag if part.is_complex() else part)
    if how == "backward":
        total.backward()
        return None
    if how == "grad":
        return [seen(g, []) for g in wg.autograd.grad(total, leaves, allow_unused=True)]
    first = wg.autograd.grad(total, leaves, allow_unused=True, create_graph=True)
    found = [seen(g, []) for g in first]
    recorded = [g for g in first if g is not None and g.requires_grad]
    if not recorded:
        return found
    pieces = [(g * g.conj()).real.sum() if g.is_complex() else (g * g).sum() for g in recorded]
    try:
        second = wg.autograd.grad(sum(pieces), leaves, allow_unused=True)
    except RuntimeError as error:
        if REFUSED not in str(error):
            raise
        return REFUSED
    return [found, [None if g is None else array_of(g) for g in second]]


def story(text: str, backend: str | None) -> tuple[list[Any], Any]:
    """All that can be seen of a program's calls, and the compiled function if there is one."""
    made = loaded(text)
    before = wg.get_default_dtype()
    wg.set_default_dtype(made["DTYPE"])
    try:
        with warnings.catch_warnings(), np.errstate(all="ignore"):
            warnings.simplefilter("ignore")
            return _story(made, backend)
    finally:
        wg.set_default_dtype(before)


def _story(made: dict[str, Any], backend: str | None) -> tuple[list[Any], Any]:
    wg.manual_seed(0)
    function, calls, state = made["world"]()
    if NUDGE[0] is not None:
        for tensor in tensors_in(state):
            tensor.data = wg.tensor(nudged(array_of(tensor)))
    used = function
    if backend is not None:
        used = wg.compile(function, backend=backend, options={"measure": False})
    looks = [entry for entry in state if isinstance(entry, types.FunctionType)]
    found: list[Any] = []
    for args in calls():
        known = [*tensors_in(args), *tensors_in(state)]
        before = [t._version for t in known]
        facts: list[Any] = []
        result: Any = None
        try:
            if made.get("THREADS") and not found:
                with contextlib.redirect_stdout(io.StringIO()):
                    # in whatever order
                    facts += in_threads(used, args, made["THREADS"], known)
            with printed_to(facts):
                result = made["CALL"](used, *args) if "CALL" in made else used(*args)
            facts += [seen(leaf, known) for leaf in flatten(result)[0]]
            if made.get("LIES", True):
                facts += [lies(leaf) for leaf in flatten(result)[0] if isinstance(leaf, wg.Tensor)]
            facts.append(differentiated(result, known, made["OUTSIDE"]))
        except Exception as error:
            found.append(said(error))
            if "AFTER" not in made or made["DRAWS"]:
                # what had been written before the error is not written by compiled code, and
                # streams of random numbers may have gone on further
                return found, used
        # leaves that were made inside have got gradients by now
        facts += [seen(t, known) for t in [*known, *tensors_in(result)]]
        # compiled loops count their writes as in the call that was traced
        facts += [
            t._version > old
            for t, old in zip(known, before, strict=True)
            if t.requires_grad or t.is_leaf
        ]
        facts += [told(look) for look in looks]
        if result is not None and made.get("AFTER", "none") != "none":
            # whoever shares memory with a result sees what is written to it
            written_to(result, made["AFTER"])
            facts += [array_of(t) for t in known] + [told(look) for look in looks]
            facts += [array_of(t) for t in flatten(result)[0] if isinstance(t, wg.Tensor)]
        found.append(facts)
    found.append(wg.rand(2).numpy())
    return found, used


_NUMBERS = re.compile(r"(-?(?:\d+\.?\d*(?:e[-+]?\d+)?|inf\b|nan\b))")


@contextlib.contextmanager
def printed_to(facts: list[Any]) -> Iterator[None]:
    """Add what is printed: texts, and numbers, which may be rounded otherwise."""
    with contextlib.redirect_stdout(io.StringIO()) as heard:
        try:
            yield
        finally:
            text = heard.getvalue()
            # how wide numbers are shows in blanks
            parts = _NUMBERS.split(" ".join(text.split()))
            facts.append([part.strip() for part in parts[::2]] + [text.count("\n")])
            facts.append([float(part) for part in parts[1::2]])


def lies(tensor: Any) -> list[int]:
    """The strides of the dimensions that have several elements."""
    if not tensor.numel():
        return []
    return [step for step, n in zip(tensor.stride(), tensor.shape, strict=True) if n > 1]


def told(look: Callable[[], Any]) -> Any:
    """What is said of a state, unless it cannot be."""
    try:
        return look()
    except Exception as error:
        return said(error)


def said(error: Exception) -> str:
    """An error without the lines below the first, which are advice, and without versions.

    Compiled code says what eager code said when it was traced.
    """
    text = f"{type(error).__name__}: {error}".partition("\n")[0]
    # a compiled call is one node, whose results are named otherwise
    text = re.sub(r"(modified by an inplace operation: ).*( is at version)", r"\1\2", text)
    return re.sub(r"version \d+", "version", text)


def in_threads(function: Any, args: Any, count: int, known: list[Any]) -> list[Any]:
    """What several threads see of one function that they call at once."""
    found: list[Any] = [None] * count
    barrier = threading.Barrier(count)

    def call(n: int) -> None:
        barrier.wait()
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                found[n] = [seen(leaf, known) for leaf in flatten(function(*args))[0]]
        except Exception as error:
            found[n] = said(error)

    threads = [threading.Thread(target=call, args=(n,)) for n in range(count)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return found


def written_to(result: Any, how: str) -> None:
    """Write to the tensors of a result."""
    for leaf in flatten(result)[0]:
        if isinstance(leaf, wg.Tensor) and leaf.is_floating_point():
            try:
                if how == "data":
                    leaf.data.mul_(1.5)
                else:
                    with wg.no_grad():
                        leaf.add_(0.25)
            except RuntimeError:  # one place of memory that is shown several times
                pass


# -- comparing -------------------------------------------------------------------------------------


def difference(one: Any, other: Any, slack: Callable[[Any], Any], at: str = "") -> str | None:
    """Where two things that were seen are not the same."""
    if isinstance(one, str) and one == REFUSED:
        return None
    if isinstance(one, list | tuple) and isinstance(other, list | tuple):
        if len(one) != len(other):
            return f"{at}: {len(one)} instead of {len(other)} parts"
        for n, (mine, yours) in enumerate(zip(one, other, strict=True)):
            found = difference(mine, yours, slack, f"{at}.{n}")
            if found is not None:
                return found
        return None
    if isinstance(one, float) and isinstance(other, float):
        one, other = np.asarray(one), np.asarray(other)
    if isinstance(one, np.ndarray) and isinstance(other, np.ndarray):
        if one.shape != other.shape or one.dtype != other.dtype:
            return f"{at}: {one.dtype}{one.shape} instead of {other.dtype}{other.shape}"
        if one.dtype.kind not in "fc":
            return None if np.array_equal(one, other) else f"{at}: {one!r} instead of {other!r}"
        with np.errstate(all="ignore"):
            close = np.abs(one - other) <= slack(at, other)
        close |= (one == other) | (np.isnan(one) & np.isnan(other))
        return None if close.all() else f"{at}: {one!r} instead of {other!r}"
    same = type(one) is type(other) and one == other
    return None if same else f"{at}: {one!r} instead of {other!r}"


def rounding(at: str, array: Any) -> Any:
    """How far numbers may be apart that are the same but for rounding."""
    tight = 1e-9 if array.dtype.itemsize // (1 + (array.dtype.kind == "c")) == 8 else 2e-4
    finite = np.where(np.isfinite(array), np.abs(array), 0)
    largest = finite.max() if array.size else 0
    return tight * (finite + 0.01 * largest) + tight * 1e-2


def single(at: str, array: Any) -> Any:
    """The same where float64 may hold what was computed in float32."""
    finite = np.where(np.isfinite(array), np.abs(array), 0)
    return rounding(at, array) + 1e-6 * np.max(finite, initial=0.0)


def spread(text: str, expected: Any) -> Callable[[Any, Any], Any] | None:
    """How far results move where data move in their last places; None if they become others."""
    moved: dict[str, Any] = {}

    def note(at: str, array: Any) -> Any:
        moved[at] = np.maximum(moved.get(at, 0.0), 0.0)
        return np.inf

    for seed in range(4):
        NUDGE[0] = Nudge(text, seed)
        try:
            found, _ = story(text, None)
        finally:
            NUDGE[0] = None
        if difference(found, expected, note) is not None:
            return None
        for at, mine, yours in pairs(found, expected):
            with np.errstate(all="ignore"):
                gap = np.abs(mine - yours)
            if not np.array_equal(np.isfinite(mine), np.isfinite(yours)):
                return None
            moved[at] = np.maximum(moved.get(at, 0.0), np.where(np.isfinite(gap), gap, 0))
    return lambda at, array: rounding(at, array) + 100 * np.max(moved[at], initial=0.0)


def pairs(one: Any, other: Any, at: str = "") -> Iterator[tuple[str, Any, Any]]:
    if isinstance(one, list | tuple):
        for n, (mine, yours) in enumerate(zip(one, other, strict=True)):
            yield from pairs(mine, yours, f"{at}.{n}")
    elif isinstance(one, float | np.ndarray) and np.asarray(one).dtype.kind in "fc":
        yield at, np.asarray(one), np.asarray(other)


class Verdict(NamedTuple):
    """What came of a program.

    Attributes
    ----------
    what
        ``"agree"``, ``"eager"`` (it agrees, and runs as it is), ``"unstable"`` (its results go
        apart where data change in their last places, or a second derivative is refused), or
        ``"disagree"``.
    why
        The reason why it runs as it is, or the difference.
    """

    what: str
    why: str = ""


def check(text: str, backend: str) -> Verdict:
    """Run a program both ways and compare."""
    expected, _ = story(text, None)
    found, compiled = story(text, backend)
    if isinstance(expected[-1], str) and REFUSED in repr(found[len(expected) - 1]):
        # it refuses what turns out to be an error
        expected, found = expected[:-1], found[: len(expected) - 1]
    close = single if "float32" in text else rounding
    why = difference(found, expected, close)
    if why is None:
        reason = compiled.reason
        end = found[-1] if found and isinstance(found[-1], str) else ""
        return Verdict("agree", end) if reason is None else Verdict("eager", reason.what)
    slack = spread(text, expected)
    if slack is None or difference(found, expected, slack) is None or REFUSED in repr(found):
        return Verdict("unstable", why)
    return Verdict("disagree", why)
