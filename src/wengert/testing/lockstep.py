"""Layer 9 · testing: programs that both libraries run, compared (NOTE [programs in lockstep])."""

from __future__ import annotations

import re
import warnings
from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any

import numpy as np

from wengert.testing.agreement import array, leaves
from wengert.testing.lines import WALKS, Side, is_tensor, sound
from wengert.testing.parity import Failure

__all__ = ["difference", "shrunk"]

TANGENTS = re.compile(r"t\.func\.|d\.functional\.|unpack_dual|jvp|hessian|grad\b")
"""Lines whose results, where they are constant, have a history in one of the libraries."""
OURS = re.compile(
    "Inference tensors cannot be saved|got dtype .* but expected .*: convert it in"
    "|takes operands of one dtype|expected (scalar type|dtype)"
    "|hooks cannot be registered on non-leaf"
)
"""What we refuse and PyTorch does not."""
EMPTY = re.compile(
    "a batch without elements|out of bounds for dimension|ZeroDivisionError|for .Bool"
)
"""The same, of tensors without elements."""
BEYOND = re.compile(
    "not implemented|not differentiable|A leaf node was passed|Nested forward mode"
    "|detached in-place|written-to tensor refers|ZeroTensors|forward AD with|input_is_complex"
    "|output 0 of (Exp|MaskedFill|AsStrided)|inputs to be real|is singular"
    "|returned an invalid gradient"
    "|Found dtype|Double and Float|output 0 of Prod|stack expects a non-empty|expected t.size"
)
"""What PyTorch says where it lacks a derivative that is here."""
FINEST = 1e-7
NEAR = {"float16": 2e-2, "bfloat16": 1e-1, "float32": 1e-3, "complex64": 1e-3}


class Different(Exception):
    """Both libraries ran a line, and not to the same effect."""


class Beyond(Exception):
    """What is not compared begins here: docs/differences.md tells of it."""


# -- comparing ------------------------------------------------------------------------------------


def difference(
    lines: Sequence[str], ours: Any, theirs: Any, swapped: Mapping[str, str] = MappingProxyType({})
) -> tuple[str, str] | None:
    """What first differs in a program between two libraries: the line, and in words what.

    `swapped` has other lines that `ours` is to run, to see that differences are noticed.
    """
    a, b = Side(ours), Side(theirs)
    empty = any("(0, 3)" in line for line in lines)
    for line in lines:
        failures = a.run(swapped.get(line, line)), b.run(line)
        try:
            if failures != (None, None):
                _same_failure(*failures, empty, _near(b) > FINEST)
                if WALKS.search(line):
                    return None
            else:
                _same_heard(a, b)
                if TANGENTS.search(line):
                    _level(line, a, b)
                _same_names(a, b)
        except Different as found:
            return _told(line, found, lines)
        except Beyond:
            return None
    try:
        met, want = _attempt(a), _attempt(b)
        if isinstance(met, Failure) or isinstance(want, Failure):
            failed = [x if isinstance(x, Failure) else None for x in (met, want)]
            _same_failure(failed[0], failed[1], empty, _near(b) > FINEST)
        else:
            _same(met, want, "derivative", _near(b), False)
    except Different as found:
        return _told("derivatives", found, lines)
    except Beyond:
        pass
    return None


def _told(line: str, found: Different, lines: Sequence[str]) -> tuple[str, str] | None:
    # at zero, derivatives of norms are finite here
    theirs = str(found).rpartition("in PyTorch [")[2]
    if "nan" in theirs and any(word in " ".join(lines) for word in ("norm", "dist", "std", "var")):
        return None
    return line, str(found)


def _attempt(side: Side) -> Any:
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        try:
            return side.derivatives()
        except Exception as error:
            return Failure(error)


def _same_failure(ours: Failure | None, theirs: Failure | None, empty: bool, several: bool) -> None:
    if theirs is None:
        assert ours is not None
        if OURS.search(ours.text) or (empty and EMPTY.search(ours.text)):
            raise Beyond
        raise Different(f"we raise {ours!r}")
    if ours is None:
        # of an operand that was converted to another dtype a copy is saved here
        if BEYOND.search(theirs.text) or (several and "modified by an inplace" in theirs.text):
            raise Beyond
        raise Different(f"PyTorch raises {theirs!r}")
    if {theirs.kind, ours.kind} <= {"IndexError", "RuntimeError"}:
        return
    if theirs.kind not in ours.kinds and theirs.kind != "NotImplementedError":
        raise Different(f"PyTorch raises {theirs!r}, we {ours!r}")


def _level(line: str, ours: Side, theirs: Side) -> None:
    """Forget the history of what the line made, where PyTorch's has none."""
    name = re.search(r"\b(x\d+) = ", line)
    if name is None:
        return
    met, want = ours.names[name[1]], theirs.names[name[1]]
    if is_tensor(want) and is_tensor(met):
        if met.requires_grad != want.requires_grad:
            ours.names[name[1]], theirs.names[name[1]] = met.detach(), want.detach()
    elif isinstance(want, tuple) and isinstance(met, tuple):
        pairs = [
            (x.detach(), y.detach())
            if is_tensor(y) and x.requires_grad != y.requires_grad
            else (x, y)
            for x, y in zip(leaves(met), leaves(want), strict=True)
        ]
        ours.names[name[1]], theirs.names[name[1]] = map(tuple, zip(*pairs, strict=True))


def _near(side: Side) -> float:
    kinds = {str(x.dtype).rpartition(".")[2] for x in side.tensors().values()}
    return max([FINEST, *(NEAR.get(kind, 0.0) for kind in kinds)])


def _same_heard(ours: Side, theirs: Side) -> None:
    met, want = ([name for name, _ in side.heard] for side in (ours, theirs))
    if met != want:
        raise Different(f"hooks: {met}, in PyTorch {want}")
    near = _near(theirs)
    for (name, x), (_, y) in zip(ours.heard, theirs.heard, strict=True):
        _same(x, y, f"hook {name}", near, False)


def _same_names(ours: Side, theirs: Side) -> None:
    near = _near(theirs)
    for name, want in theirs.names.items():
        if name[0] != "x":
            continue
        _same(ours.names[name], want, name, near, True)
        if is_tensor(want) and sound(want) and want.is_leaf and is_tensor(ours.names[name]):
            _same(ours.names[name].grad, want.grad, f"{name}.grad", near, False)


KINDS = ("dtype", "shape", "requires_grad", "is_leaf", "retains_grad")


def _same(met: Any, want: Any, what: str, near: float, deep: bool) -> None:
    if isinstance(want, tuple | list):
        a, b = leaves(met), leaves(want)
        if len(a) != len(b):
            raise Different(f"{what}: {len(a)} values, in PyTorch {len(b)}")
        for i, (x, y) in enumerate(zip(a, b, strict=True)):
            _same(x, y, f"{what}[{i}]", near, deep)
        return
    if not is_tensor(want) or not is_tensor(met):
        if is_tensor(want) or is_tensor(met):
            raise Different(f"{what} is {type(met).__name__}, in PyTorch {type(want).__name__}")
        if isinstance(want, str | int | float | bool) and str(met) != str(want):
            raise Different(f"{what} is {met!r}, in PyTorch {want!r}")
        return
    if sound(met) and not sound(want):
        raise Beyond
    if sound(met) != sound(want):
        raise Different(f"{what} has a history: {sound(met)}, in PyTorch {sound(want)}")
    if sound(want):
        _same_kinds(met, want, what, deep)
    x, y = array(met), array(want)
    if x.dtype.kind in "fc":
        finite = np.abs(y[np.isfinite(y)])
        size = max(1.0, float(finite.max())) if finite.size else 1.0
        close = np.allclose(x, y, near, near * size, equal_nan=True)
    else:
        close = bool((x == y).all())
    if not close and not deep:
        # below a mask 0 times what is not finite is 0 here
        apart = np.isnan(y) & (x == 0)
        if apart.any() and np.allclose(x[~apart], y[~apart], near, near * size, equal_nan=True):
            raise Beyond
    if not close:
        raise Different(f"{what} is {x.ravel()[:6]}, in PyTorch {y.ravel()[:6]}".replace("\n", ""))


def _same_kinds(met: Any, want: Any, what: str, deep: bool) -> None:
    for name in KINDS if deep else KINDS[:2]:
        pair = [str(getattr(x, name)).rpartition(".")[2] for x in (met, want)]
        if pair[0] != pair[1]:
            raise Different(f"{what}: {name} {pair[0]}, in PyTorch {pair[1]}")
    if deep and want.numel() and _steps(met) != _steps(want):
        raise Different(f"{what}: stride {met.stride()}, in PyTorch {want.stride()}")
    if not want.is_complex() and met.is_inference() != want.is_inference():
        raise Different(f"{what}: is_inference {met.is_inference()}")


def _steps(x: Any) -> list[int]:
    return [s for s, n in zip(x.stride(), x.shape, strict=True) if n > 1]


def shrunk(lines: list[str], ours: Any, theirs: Any) -> list[str]:
    """The program without lines that its difference does without."""
    kind = _kind(difference(lines, ours, theirs))
    i = len(lines)
    while i:
        i -= 1
        fewer = lines[:i] + lines[i + 1 :]
        found = difference(fewer, ours, theirs)
        if found is not None and _kind(found) == kind:
            lines = fewer
    return lines


def _kind(found: tuple[str, str] | None) -> Any:
    if found is None:
        return None
    line = re.sub(r"\bx\d+", "x", found[0])
    return line, re.sub(r"\[[^]]*\]|x\d+|[-\d.e+]+", "", found[1])[:24]
