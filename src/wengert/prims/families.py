"""Layer 2 · prims: the families of operations, which derive most of a record.

================  ==============================================  ==========================
family            what the record states                          what follows
================  ==============================================  ==========================
`elementwise`     one local derivative ``lin``                    vjp = jvp = ``lin``
`bilinear`        a rule for each argument                        jvp: the operation itself
`linear`          the transpose                                   jvp: the operation itself
`view`            the transpose                                   shares memory; jvp: itself
`reduction`       a rule                                          shapes of samples
`general`         everything                                      nothing
`constant`        the kernel                                      no derivative
`per_matrix`      everything                                      the dimensions before the
                                                                  matrices are a batch
`along_dim`       everything                                      works on the lines of ``dim``
`loss`            everything                                      an element-wise loss, then
                                                                  its sum or mean
================  ==============================================  ==========================
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import partial
from typing import Any

from wengert.prims.record import Case, Primitive, case

Kernel = Callable[..., Any]
VJP = Callable[..., Any] | None

_UNARY_CASES = (case(()), case((3,)), case((2, 3)), case((0,)), case((2, 0, 3)))
_BINARY_CASES = (
    case((), ()),
    case((3,), (3,)),
    case((2, 3), (3,)),
    case((), (2, 3)),
    case((2, 1), (1, 3)),
    case((0,), (1,)),
)


_REDUCTION_CASES = (
    *(
        case((2, 3), dim=dim, keepdim=keep)
        for dim in ((0,), (1,), (0, 1))
        for keep in (False, True)
    ),
    case((), dim=(), keepdim=False),
    case((2, 3, 4), dim=(0, 2), keepdim=False),
)


def zero(F: Any, g: Any) -> Any:
    """Return the cotangent of a piecewise constant operation."""
    return F.zeros_like(g)


def is_step(prim: Primitive) -> bool:
    """Return whether the derivative of an operation is 0 wherever it exists."""
    rules = [rule for rule in prim.rules if rule is not None]
    return bool(rules) and all(rule.call is zero for rule in rules)


def _with_cases(prim: Primitive) -> Primitive:
    """Give an element-wise record without cases the usual ones, if it has no parameters."""
    if not prim.cases and not prim.params:
        count = len(prim.args)
        more = (case(*[()] * count), case((2, 3), *[(3,)] * (count - 1)))
        prim.cases = {1: _UNARY_CASES, 2: _BINARY_CASES}.get(count, more)
    return prim


def elementwise(
    name: str,
    kernel: Kernel,
    *,
    lin: VJP | Sequence[VJP],
    promote: str | None = "float",
    **more: Any,
) -> Primitive:
    """Register an operation with a diagonal Jacobian: one rule per argument serves both modes."""
    rules = (lin,) if lin is None or callable(lin) else tuple(lin)
    several = len(rules) > 1
    if several and "infix" not in more:
        more.setdefault("layout", "elements")
    record = Primitive(
        name, kernel, family="elementwise", vjp=rules, broadcasts=several, promote=promote, **more
    )
    return _with_cases(record)


def bilinear(
    name: str,
    kernel: Kernel,
    *,
    vjp: Sequence[VJP],
    promote: str | None = "same",
    **more: Any,
) -> Primitive:
    """Register an operation that is linear in each of its two arguments."""
    record = Primitive(name, kernel, family="bilinear", vjp=vjp, promote=promote, **more)
    return _with_cases(record) if record.broadcasts else record


def linear(name: str, kernel: Kernel, *, vjp: VJP | Sequence[VJP], **more: Any) -> Primitive:
    """Register an operation that is linear in all its arguments jointly; `vjp` is its transpose."""
    rules = (vjp,) if vjp is None or callable(vjp) else tuple(vjp)
    record = Primitive(name, kernel, family="linear", vjp=rules, **more)
    return _with_cases(record) if record.broadcasts else record


def view(name: str, kernel: Kernel, *, vjp: VJP, **more: Any) -> Primitive:
    """Register a linear operation on one argument whose result shares that argument's memory."""
    return Primitive(name, kernel, family="view", vjp=(vjp,), view=True, **more)


def reduction(
    name: str,
    kernel: Kernel,
    *,
    vjp: VJP,
    layout: str | None = "contiguous",
    cases: Iterable[Case] = _REDUCTION_CASES,
    **more: Any,
) -> Primitive:
    """Register an operation that combines elements along ``dim``, a tuple of non-negative ints."""
    return Primitive(
        name, kernel, family="reduction", vjp=(vjp,), layout=layout, cases=cases, **more
    )


def general(name: str, kernel: Kernel, *, vjp: Sequence[VJP], **more: Any) -> Primitive:
    """Register an operation whose record states everything."""
    return Primitive(name, kernel, family="general", vjp=vjp, **more)


per_matrix = partial(general, batching="leading", sparsity="per_matrix")
"""An operation on each matrix of the last two dimensions."""
along_dim = partial(general, batching="along", raises=False)
"""An operation on each line along ``dim``; a value without dimensions is a line of one element."""
loss = partial(general, batching="reduced", tangents="loss", raises=False)
"""An element-wise loss, which is summed or averaged as `reduction` says."""


def constant(name: str, kernel: Kernel, **more: Any) -> Primitive:
    """Register an operation without a derivative (comparisons, predicates, positions)."""
    return _with_cases(Primitive(name, kernel, family="constant", vjp=None, **more))
