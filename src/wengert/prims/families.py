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


def zero(F: Any, g: Any) -> Any:
    """Return the cotangent of a piecewise constant operation."""
    return F.zeros_like(g)


def is_step(prim: Primitive) -> bool:
    """Return whether the derivative of an operation is 0 wherever it exists."""
    rules = [rule for rule in prim.rules if rule is not None]
    return bool(rules) and all(rule.call is zero for rule in rules)


def _elementwise_cases(args: Sequence[str]) -> tuple[Case, ...]:
    if len(args) == 1:
        return _UNARY_CASES
    if len(args) == 2:
        return _BINARY_CASES
    return (case(*[()] * len(args)), case((2, 3), *[(3,)] * (len(args) - 1)))


def elementwise(
    name: str,
    kernel: Kernel,
    *,
    lin: VJP | Sequence[VJP],
    args: Sequence[str] = ("self",),
    promote: str | None = "float",
    cases: Iterable[Case] = (),
    params: Sequence[str] = (),
    **more: Any,
) -> Primitive:
    """Register an operation with a diagonal Jacobian: one rule per argument serves both modes."""
    rules = (lin,) if lin is None or callable(lin) else tuple(lin)
    if not cases and not params:
        cases = _elementwise_cases(args)
    if len(args) > 1 and "infix" not in more:
        more.setdefault("layout", "elements")
    return Primitive(
        name,
        kernel,
        family="elementwise",
        args=args,
        params=params,
        vjp=rules,
        broadcasts=len(args) > 1,
        promote=promote,
        cases=cases,
        **more,
    )


def bilinear(
    name: str,
    kernel: Kernel,
    *,
    vjp: Sequence[VJP],
    args: Sequence[str] = ("self", "other"),
    promote: str | None = "same",
    broadcasts: bool = False,
    cases: Iterable[Case] = (),
    **more: Any,
) -> Primitive:
    """Register an operation that is linear in each of its two arguments."""
    if not cases and broadcasts:
        cases = _BINARY_CASES
    return Primitive(
        name,
        kernel,
        family="bilinear",
        args=args,
        vjp=vjp,
        promote=promote,
        broadcasts=broadcasts,
        cases=cases,
        **more,
    )


def linear(
    name: str,
    kernel: Kernel,
    *,
    vjp: VJP | Sequence[VJP],
    args: Sequence[str] = ("self",),
    **more: Any,
) -> Primitive:
    """Register an operation that is linear in all its arguments jointly; `vjp` is its transpose."""
    rules = (vjp,) if vjp is None or callable(vjp) else tuple(vjp)
    return Primitive(name, kernel, family="linear", args=args, vjp=rules, **more)


def view(name: str, kernel: Kernel, *, vjp: VJP, **more: Any) -> Primitive:
    """Register a linear operation on one argument whose result shares that argument's memory."""
    return Primitive(name, kernel, family="view", args=("self",), vjp=(vjp,), view=True, **more)


def reduction(
    name: str,
    kernel: Kernel,
    *,
    vjp: VJP,
    params: Sequence[str] = ("dim", "keepdim"),
    promote: str | None = None,
    layout: str | None = "contiguous",
    cases: Iterable[Case] = (),
    **more: Any,
) -> Primitive:
    """Register an operation that combines elements along ``dim``, a tuple of non-negative ints."""
    if not cases:
        cases = [
            case((2, 3), dim=dim, keepdim=keep)
            for dim in ((0,), (1,), (0, 1))
            for keep in (False, True)
        ]
        cases += [case((), dim=(), keepdim=False), case((2, 3, 4), dim=(0, 2), keepdim=False)]
    return Primitive(
        name,
        kernel,
        family="reduction",
        args=("self",),
        params=params,
        vjp=(vjp,),
        promote=promote,
        layout=layout,
        cases=cases,
        **more,
    )


def general(
    name: str, kernel: Kernel, *, vjp: Sequence[VJP], args: Sequence[str] = ("self",), **more: Any
) -> Primitive:
    """Register an operation whose record states everything."""
    return Primitive(name, kernel, family="general", args=args, vjp=vjp, **more)


per_matrix = partial(general, batching="leading", sparsity="per_matrix")
"""An operation on each matrix of the last two dimensions."""
along_dim = partial(general, batching="along")
"""An operation on each line along ``dim``; a value without dimensions is a line of one element."""
loss = partial(general, batching="reduced", tangents="loss")
"""An element-wise loss, which is summed or averaged as `reduction` says."""


def constant(
    name: str, kernel: Kernel, *, args: Sequence[str] = ("self",), **more: Any
) -> Primitive:
    """Register an operation without a derivative (comparisons, predicates, positions)."""
    if not more.get("cases") and not more.get("params"):
        more["cases"] = _elementwise_cases(args)
    return Primitive(name, kernel, family="constant", args=args, vjp=None, **more)
