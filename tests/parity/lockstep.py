"""Run a program in both libraries, and compare them (NOTE [programs in lockstep])."""

from __future__ import annotations

import re
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import Any, NamedTuple

import numpy as np
from known import MODIFIED, VALUE, Known, explained

from support.agreement import array, leaves
from support.line_grammar import REGIONS
from support.lines import TRANSFORMED, WALKS, Copying, Side, is_tensor, sound
from support.parity import Failure

__all__ = ["difference", "differences", "shrunk", "unexplained"]

TANGENTS = re.compile(r"t\.func\.|d\.functional\.|unpack_dual|jvp|hessian|grad\b")
"""Lines whose results, where they are constant, have a history in one of the libraries."""
FINEST = 1e-7
HUGE = 1e10
"""Sines of numbers beyond it, as derivatives are compared by, have few digits."""
NEARLY = ", nearly"
NEAR = {"float16": 2e-2, "bfloat16": 1e-1, "float32": 1e-3, "complex64": 1e-3}


class Different(Exception):
    """Both libraries ran a line, and not to the same effect."""


def unexplained(lines: list[str], ours: Any, theirs: Any) -> tuple[list[str], str, str] | None:
    """The shortest program with a difference of `lines` that the page does not list."""
    return next((found for found, known in differences(lines, ours, theirs) if known is None), None)


def differences(
    lines: list[str], ours: Any, theirs: Any
) -> Iterator[tuple[tuple[list[str], str, str], Known | None]]:
    """The shortest programs with each difference of `lines`, and the row that lists it.

    What the page lists does not hide the rest: that is compared without the line that does it.
    """
    while (found := _shortest(lines, ours, theirs)) is not None:
        yield found, explained(found[2], found[0])
        lines = _without(lines, found[0][-1])


def _without(lines: list[str], last: str) -> list[str]:
    """The program without a line, and without those that use what it names."""
    left: list[str] = []
    gone: set[str] = set()
    for line in lines:
        if last in (line, _bare(line)) or gone & set(re.findall(r"\bx\d+", line)):
            gone.update(re.findall(r"\b(x\d+) = ", line))
        else:
            left.append(line)
    return left


def _shortest(lines: list[str], ours: Any, theirs: Any) -> tuple[list[str], str, str] | None:
    """The shortest program with the difference of `lines`; the line, and in words what.

    Where PyTorch can do the same in another way, and then does as we do, the words end with it. If
    there is another difference then, it is that.
    """
    if difference(lines, ours, theirs) is None:
        return None
    lines = shrunk(lines, ours, theirs)
    found = difference(lines, ours, theirs)
    if found is None:
        return lines, lines[-1], "now the libraries differ, now they do not"
    if re.match(VALUE, found[1]) and _is_rounding(lines, ours, theirs, found[1].endswith(NEARLY)):
        return None
    # what a line that is refused has done shows in later ones, or in derivatives
    earlier = lines if found[0] == "derivatives" else lines[:-1]
    after = "; after what is refused" if _refuses(earlier, theirs) else ""
    copies = False
    for way in WAYS:
        if not re.match(way.told, found[1]):
            continue
        # what another way has been found for stays
        theirs_now = [way.theirs(_pushed(line)) for line in lines]
        ours_now = [way.ours(line) for line in lines]
        if theirs_now == ours_now == lines and not way.copies:
            continue
        swapped = dict(zip(theirs_now, ours_now, strict=True))
        left = difference(theirs_now, ours, theirs, swapped, copies or way.copies)
        if left is None or (left[1].endswith(NEARLY) and _is_rounding(theirs_now, ours, theirs)):
            return lines, found[0], f"{found[1]}{after}; not {way.name}"
        if way.replaces and "saved tensor hooks" not in left[1] and "Nested forw" not in left[1]:
            found, copies = left, copies or way.copies
    return lines, found[0], found[1] + after


def _refuses(lines: list[str], theirs: Any) -> bool:
    """Whether PyTorch refuses a line: one that the difference does not do without."""
    side = Side(theirs)
    return any(side.run(line) is not None for line in lines)


def _is_rounding(lines: list[str], ours: Any, theirs: Any, nearly: bool = True) -> bool:
    """Whether there is no difference in float64, or PyTorch differs as much from itself.

    That is where its inputs differ in the last bits. If the libraries do not `nearly` agree, both
    must hold.
    """
    double = [
        _in_float64(line).replace("float32", "float64").replace(".float()", "") for line in lines
    ]
    exact = double != lines and difference(double, ours, theirs) is None
    if exact == nearly:
        return nearly
    last = 1e-15 if nearly else 5e-4 if re.search("float16|half", "".join(lines)) else 1e-7

    def nudged(line: str) -> str:
        if not re.match(r"x\d+ = t\.tensor\(.*dtype=t\.(float|complex)", line):
            return line
        return re.sub(r"\b\d+\.\d+", lambda n: repr(float(n[0]) + last * max(1, float(n[0]))), line)

    again = [nudged(line) for line in lines]
    found = difference(again, theirs, theirs, dict(zip(again, lines, strict=True)))
    return found is not None and found[1].endswith(NEARLY) == nearly


def _pushed(line: str) -> str:
    made = r"t\.func\.linearize\((.*), (x\d+)\)\[1\]\((t\.ones_like\(x\d+\))\)"
    return re.sub(made, r"t.func.jvp(\1, (\2,), (\3,))[1]", line)


def _rooted(line: str) -> str:
    return line.replace("u.norm()", "(u * u.conj()).real.sum().sqrt()")


def _copied(line: str) -> str:
    """A transform's line, with copies of what it is given."""
    if not TRANSFORMED.search(line):
        return line
    name, equals, text = line.partition(" = ")
    return name + equals + re.sub(r"\bx\d+\b", r"\g<0>.clone()", text)


def _unhooked(line: str) -> str:
    """A line without the hooks of saved tensors around it, which keep what is written to."""
    hooked = r"with t\.autograd\.graph\.(save_on_cpu\(\)|saved_tensors_hooks\(pack, unpack\)): "
    return re.sub(hooked, "", line)


def _nudged(line: str) -> str:
    """A leaf's line, with numbers a little beside."""

    def beside(number: re.Match[str]) -> str:
        # the same each time, and another for each place
        return repr(float(number[0]) + 0.004 + 0.003 * ((7 * number.start()) % 11) / 11)

    if not re.match(r"x\d+ = t\.tensor\(.*dtype=t\.(float|complex)", line):
        return line
    return re.sub(r"\d+\.\d+", beside, line)


def _in_float64(line: str) -> str:
    return line.replace("t.float16", "t.float64").replace(".half()", ".double()")


def _materialised(line: str) -> str:
    """A line whose gradients are zeros where there is no path."""
    return re.sub(
        r"((retain|create)_graph=|True, )True(?=\))", r"\g<0>, materialize_grads=True", line
    )


def _in_rows(line: str) -> str:
    """An operator's line, whose operands lie row by row, dimensions of size 1 included."""
    if not re.match(r"x\d+ = x\d+ ([-+*/%<>]|//|[<>=!]=) ", line):
        return line
    name, equals, text = line.partition(" = ")
    return (
        name + equals + re.sub(r"\bx\d+\b", r"\g<0>.clone(memory_format=t.contiguous_format)", text)
    )


def _in_place_of(pattern: str, instead: str) -> Callable[[str], str]:
    return lambda line: re.sub(pattern, instead, line)


_PRODUCT = '__import__("math").prod(u.reshape(-1).unbind())'


class Way(NamedTuple):
    """Another way to do the same."""

    name: str
    told: str
    """How the difference begins."""
    theirs: Callable[[str], str] = str
    """What a line of PyTorch's becomes."""
    ours: Callable[[str], str] = str
    copies: bool = False
    """Whether PyTorch copies what it saves before that is written to."""
    replaces: bool = True
    """Whether a difference that is left is the one to report."""


WAYS = (
    Way("with `jvp`", "", _pushed),
    Way("with a root", f"PyTorch raises .*{MODIFIED}", _rooted),
    Way("with copies", f"PyTorch raises .*{MODIFIED}", copies=True),
    Way("with copies", f"PyTorch raises .*{MODIFIED}", _copied, copies=True),
    Way("with copies and without hooks", "derivative", _unhooked, copies=True),
    Way(
        "with zeros",
        "(we raise|PyTorch raises) .*have been used in the graph",
        _materialised,
        _materialised,
    ),
    Way("in float64", VALUE, _in_float64, _in_float64, replaces=False),
    Way("in rows", r"x\d+: stride", _in_rows, replaces=False),
    *(
        Way(name, VALUE, _in_place_of(pattern, instead), replaces=False)
        for name, pattern, instead in (
            ("as it is", r"(x\d+)\.diagonal_scatter\(\1\.diagonal\(\)\)", r"\1.clone()"),
            ("as it is", r"(x\d+)\.as_strided_scatter\(\1\..*\(1,\)\)", r"\1.clone()"),
            ("with a sum", r"(x\d+)\.logcumsumexp\(([^)]*)\)", r"\1.exp().cumsum(\2).log()"),
            ("with doubles", r"t\.atan2\((x\d+), (x\d+)", r"t.atan2(\1.to(\2.dtype), \2"),
            ("below the diagonal", r"(x\d+)\.cholesky_inverse", r"\1.tril().cholesky_inverse"),
            ("with factors", r"u\.prod\(\)", _PRODUCT),
            (
                "without the rest",
                r"(x\d+)\.scatter_reduce\((\S+), (.*), include_self=False",
                r"\1.index_fill(\2, t.tensor([0]), -t.inf).scatter_reduce(\2, \3",
            ),
            ("without tangents", r"dual\((x\d+), [^()]*(\([^()]*\))?[^()]*\)", r"\1"),
        )
    ),
    Way("beside", VALUE, _nudged, _nudged, replaces=False),
)
"""Each is tried, one after the other."""


# -- comparing ------------------------------------------------------------------------------------


def difference(
    lines: Sequence[str],
    ours: Any,
    theirs: Any,
    swapped: Mapping[str, str] = MappingProxyType({}),
    copies: bool = False,
) -> tuple[str, str] | None:
    """What first differs in a program between two libraries: the line, and in words what.

    `swapped` has other lines that `ours` is to run. With `copies`, PyTorch copies what it has
    saved before it is written to.
    """
    if copies:
        with theirs.autograd.graph.saved_tensors_hooks(theirs.clone, lambda saved: saved):
            return _difference(lines, Side(ours), Copying(theirs), swapped)
    return _difference(lines, Side(ours), Side(theirs), swapped)


def _difference(
    lines: Sequence[str], a: Side, b: Side, swapped: Mapping[str, str]
) -> tuple[str, str] | None:
    for line in lines:
        failures = a.run(swapped.get(line, line)), b.run(line)
        try:
            if failures != (None, None):
                _same_failure(*failures)
                if WALKS.search(line):
                    return None
            else:
                _same_heard(a, b)
                if TANGENTS.search(line):
                    _level(line, a, b)
                _same_names(a, b)
        except Different as found:
            # with the same numbers the line may do the same: then they are at an edge
            again = swapped.get(line, line)
            return None if _rounded(again, a, b, str(found)) else (line, str(found))
    try:
        met, want = _attempt(a), _attempt(b)
        if isinstance(met, Failure) or isinstance(want, Failure):
            _same_failure(*[x if isinstance(x, Failure) else None for x in (met, want)])
        else:
            _same(met, want, "derivative", _near(b), False)
    except Different as found:
        return "derivatives", str(found)
    return None


def _rounded(line: str, ours: Side, theirs: Side, what: str) -> bool:
    """Whether a line does the same as in PyTorch, given the same arguments to the last bit."""
    made = re.search(r"\b(x\d+) = ", line)
    if made is None or not what.startswith((f"{made[1]} is ", f"{made[1]}: shape")):
        return False
    if not is_tensor(theirs.names[made[1]]):
        return False
    trial = Side(ours.module)
    apart = False
    for name in set(re.findall(r"\bx\d+", line)) - {made[1]}:
        met, want = ours.names.get(name), array(theirs.names[name])
        if not is_tensor(met):
            return False
        apart = apart or array(met).tobytes() != want.tobytes()
        same = trial.names[name] = met.detach().clone()
        same.copy_(ours.module.tensor(want.tolist(), dtype=met.dtype).reshape(met.shape))
        same.requires_grad_(met.requires_grad)
    if not apart or trial.run(line) is not None or not is_tensor(trial.names[made[1]]):
        return False
    met, want = array(trial.names[made[1]]), array(theirs.names[made[1]])
    return met.shape == want.shape and _differ(met, want, _near(theirs)) is None


def _attempt(side: Side) -> Any:
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        try:
            return side.derivatives()
        except Exception as error:
            return Failure(error)


def _same_failure(ours: Failure | None, theirs: Failure | None) -> None:
    if theirs is None:
        raise Different(f"we raise {ours!r}")
    if ours is None:
        raise Different(f"PyTorch raises {theirs!r}")
    if theirs.kind not in ours.kinds:
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
    elif isinstance(want, tuple) and isinstance(met, tuple) and want:
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
    if isinstance(want, float) and isinstance(met, float):
        if _differ(np.array(met), np.array(want), near) is not None:
            raise Different(f"{what} is {met!r}, in PyTorch {want!r}")
        return
    if not is_tensor(want) or not is_tensor(met):
        if is_tensor(want) or is_tensor(met):
            raise Different(f"{what} is {_kind_of(met)}, in PyTorch {_kind_of(want)}")
        if isinstance(want, str | int | float | bool) and str(met) != str(want):
            raise Different(f"{what} is {met!r}, in PyTorch {want!r}")
        return
    if sound(met) != sound(want):
        which = "sound" if sound(met) else "spoiled"
        raise Different(f"{what} has a {which} history, in PyTorch it has not")
    if sound(want):
        _same_kinds(met, want, what, deep)
    x, y = array(met), array(want)
    told = _differ(x, y, near)
    if told is not None:
        # those elements that differ
        apart = (x != y) & ((x == x) | (y == y))
        if x.dtype.kind in "fc":
            apart &= ~_are_close(x, y, near, near)
        text = f"{what} is {x[apart][:6]}, in PyTorch {y[apart][:6]}{told}"
        raise Different(text.replace("\n", ""))


def _kind_of(value: Any) -> str:
    zeros = is_tensor(value) and not array(value).any()
    return "zeros" if zeros else type(value).__name__


def _differ(x: Any, y: Any, near: float) -> str | None:
    """None if two arrays are close; else where alone they are not, if that can be said."""
    if x.dtype.kind not in "fc":
        return None if bool((x == y).all()) else ""
    finite = np.abs(y[np.isfinite(y)])
    size = max(1.0, float(finite.max())) if finite.size else 1.0

    def close(where: Any) -> bool:
        return bool(_are_close(x[where], y[where], near, near * size).all())

    if close(...):
        return None
    if size > (0.05 / near if near > FINEST else HUGE):
        # there is nothing left to compare
        return None
    hidden, met = np.isnan(y) & ~np.isnan(x), np.isnan(x) & ~np.isnan(y)
    if hidden.any() and close(~hidden):
        return ", only where PyTorch's is NaN"
    if met.any() and close(~met):
        return ", only where ours is NaN"
    least = max(1e-4, 5 * near)
    return NEARLY if _are_close(x, y, least, least * size).all() else ""


def _are_close(x: Any, y: Any, rtol: float, atol: float) -> Any:
    """Where numbers are close, or both NaN; of complex ones one part may be infinite."""
    if x.dtype.kind != "c":
        return np.isclose(x, y, rtol, atol, equal_nan=True)
    parts = [np.isclose(a, b, rtol, atol) for a, b in ((x.real, y.real), (x.imag, y.imag))]
    return (np.isnan(x) & np.isnan(y)) | (parts[0] & parts[1])


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
    """The program without lines, and modes of lines, that its difference does without."""
    kind = _kind(difference(lines, ours, theirs))
    i = len(lines)
    while i:
        i -= 1
        for instead in ([], [bare] if (bare := _bare(lines[i])) != lines[i] else []):
            fewer = lines[:i] + instead + lines[i + 1 :]
            found = difference(fewer, ours, theirs)
            if found is not None and _kind(found) == kind:
                lines = fewer
                break
    return lines


def _bare(line: str) -> str:
    for region in REGIONS:
        line = line.removeprefix(region)
    return line


def _kind(found: tuple[str, str] | None) -> Any:
    if found is None:
        return None
    words = re.sub(r"\[[^]]*\]|x\d+|[-\d.e+]+", "", found[1])
    # what is missing in a shorter program is another difference
    return re.sub(r"\bx\d+", "x", _bare(found[0])), words[:120], "NameError" in words
