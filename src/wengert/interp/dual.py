"""Layer 3 · interp: D, the namespace that propagates tangents.

NOTE [tangents]
A `Dual` is a primal with its tangent in the direction of a `jvp`; a tangent of None is zero. A
primitive's record defines how it propagates tangents: an element-wise primitive multiplies them by
its local derivatives, which serve both modes; a linear one is applied to them; a bilinear one to
each of them with the other primal; a composite one passes them through its decomposition.
`wengert.interp.tangents` has rules for some others, and the rest transpose their reverse rule,
through the port `transposed`: the rule is linear in its cotangent u, and its transpose maps the
arguments' tangents to the result's (J. Townsend, "A new trick for calculating Jacobian vector
products", 2017).

NOTE [cotangents of duals]
For reverse mode through a `Dual` the rules run in D on a cotangent that is a `Dual` too. Its primal
is the cotangent of the tangent, and its tangent is that of the primal: with J the Jacobian and J'
its derivative, the primal of a rule's result is J^T u, and its tangent is J^T v + J'^T u.
"""

from __future__ import annotations

import functools
import operator
from collections.abc import Callable, Iterable
from typing import Any, NamedTuple

import numpy as np

from wengert.base.ports import PORTS
from wengert.interp.levels import Infix, Interpreter, Level, Lifted, memory_of, namespace_of
from wengert.prims.facet import Facet
from wengert.prims.record import Primitive


class Dual(Infix, Lifted):
    """A value and its tangent; a function under `jvp` sees the value.

    Attributes
    ----------
    own
        Whether only this value and views of it share the tangent's memory: then writes
        go there. Otherwise the first write gives the tangent memory of its own.
    given
        The version cell of the tangent's memory, if a tensor of the user's owns it.
    """

    __slots__ = ("given", "own", "primal", "tangent")
    _namespace: Any

    def __init__(
        self, primal: Any, tangent: Any, owner: Level, own: bool = False, given: Any = None
    ) -> None:
        self.primal = primal
        self.tangent = tangent
        self.owner = owner
        self.own = own
        self.given = given

    @property
    def shape(self) -> tuple[int, ...]:  # type: ignore[override]  # the value's
        """The shape of the value."""
        return self.primal.shape

    def contents(self) -> Iterable[Any]:
        """Return the value, and the tangent if there is one."""
        return (self.primal,) if self.tangent is None else (self.primal, self.tangent)

    def constant(self) -> Any:
        """Return the value without tangents."""
        return self.primal.constant() if isinstance(self.primal, Lifted) else self.primal

    def placed(self) -> Any:
        """Return the same value and tangent in memory that can be written and shared."""
        own = self.own or isinstance(memory_of(self.tangent), np.generic)
        primal, tangent = _placed(self.primal), _placed(self.tangent)
        if primal is self.primal and tangent is self.tangent and own is self.own:
            return self
        return Dual(primal, tangent, self.owner, own, self.given)

    def __repr__(self) -> str:
        return f"Dual({self.primal!r}, {self.tangent!r}, {self.owner!r})"

    def copy(self) -> Any:
        """Return copies of the value and its tangent."""
        tangent = None if self.tangent is None else self.tangent.copy()
        return Dual(self.primal.copy(), tangent, self.owner)

    # -- values, on which programs may branch -----------------------------------------------------

    def any(self) -> Any:
        """Return whether any element is true."""
        return self.primal.any()

    def all(self) -> Any:
        """Return whether every element is true."""
        return self.primal.all()

    def min(self, axis: Any = None) -> Any:
        """Return the smallest element."""
        return self.primal.min(axis)

    def max(self, axis: Any = None) -> Any:
        """Return the largest element."""
        return self.primal.max(axis)

    def item(self) -> Any:
        """Return the value of a single element, as a Python number."""
        return self.primal.item()

    def tolist(self) -> Any:
        """Return the values as nested lists."""
        return self.primal.tolist()

    def __bool__(self) -> bool:
        return bool(self.primal)

    def __float__(self) -> float:
        return float(self.primal)

    def __int__(self) -> int:
        return int(self.primal)

    def __index__(self) -> int:
        return operator.index(self.primal)

    def __complex__(self) -> complex:
        return complex(self.primal)

    def __array__(self, dtype: Any = None, copy: Any = None) -> Any:
        if self.owner.dropped and self.owner not in PORTS.levels():
            return np.asarray(self.primal, dtype)
        raise RuntimeError(
            "a tensor that carries a tangent was about to be copied into a plain NumPy array, "
            "losing its derivative: use operations on tensors, or detach() it if no derivative is "
            "wanted"
        )

    # -- operators, for rules ----------------------------------------------------------------------

    def __matmul__(self, other: Any) -> Any:
        return _product(self, other)

    def __rmatmul__(self, other: Any) -> Any:
        return _product(other, self)

    def _infix(self, name: str, function: Callable[[Any, Any], Any], a: Any, b: Any) -> Any:
        numbers = [not isinstance(v, Lifted | np.ndarray | np.generic) for v in (a, b)]
        if not any(numbers):
            return getattr(namespace_of(a, b), name)(a, b)
        # a number is weaker than any dtype, as for arrays
        dual, first = (b, False) if numbers[0] else (a, True)
        primal = function(dual.primal, b) if first else function(a, dual.primal)
        t = dual.tangent
        if t is None:
            return primal
        if name == "add" or (name == "sub" and first):
            tangent = t
        elif name == "sub":
            tangent = -t
        elif name == "mul":
            tangent = t * (b if first else a)
        elif name == "div":
            tangent = t / b if first else -(t * (primal / dual.primal))
        elif name == "pow" and first:
            tangent = t * (b * dual.primal ** (b - 1)) if b else t * 0
        elif name == "pow":
            tangent = t * (primal * np.log(a))
        else:
            return primal
        return Dual(primal, tangent, dual.owner)

    def __neg__(self) -> Any:
        return Dual(-self.primal, None if self.tangent is None else -self.tangent, self.owner)

    __hash__ = object.__hash__


def _placed(part: Any) -> Any:
    if isinstance(part, np.generic):
        return np.asarray(part)
    return part.placed() if isinstance(part, Lifted) else part


def _product(a: Any, b: Any) -> Any:
    """Multiply matrices, for the operator ``@`` in rules."""
    number = max(v.owner.number for v in (a, b) if isinstance(v, Lifted))
    parts = [
        (v.primal, v.tangent) if isinstance(v, Dual) and v.owner.number == number else (v, None)
        for v in (a, b)
    ]
    owners = [v.owner for v in (a, b) if isinstance(v, Dual) and v.owner.number == number]
    if not owners:
        # the other operand is a batch at a higher level
        return NotImplemented
    (x, t_x), (y, t_y) = parts
    terms = [t_x @ y] if t_x is not None else []
    terms += [x @ t_y] if t_y is not None else []
    return Dual(x @ y, sum(terms[1:], terms[0]) if terms else None, owners[0])


# -- propagation of tangents -----------------------------------------------------------------------


class Pushforward(NamedTuple):
    """One call of a primitive, with the tangents to push forward.

    Attributes
    ----------
    F: The namespace of the primals and the tangents.
    prim: The primitive.
    owner: The level whose tangents they are.
    primals: The arguments.
    tangents: The tangent of each argument, or None.
    result: What the primitive returned.
    params: The parameters.
    """

    F: Any
    prim: Primitive
    owner: Level
    primals: list[Any]
    tangents: list[Any]
    result: Any
    params: dict[str, Any]


Rule = Callable[[Pushforward], Any]
TANGENTS: Facet[Rule | None] = Facet("tangent_rule", lambda prim: None)
"""The rules of single primitives, which return the tangents of the results, or None."""

KIND: Facet[str] = Facet("tangents", lambda prim: "")
"""How tangents are computed if the family does not imply it: a key of `WAYS`, such as ``"linear"``
(over the real numbers), ``"diagonal"`` (by the reverse rules, since the Jacobians are symmetric),
or ``"parts"`` (by the decomposition into simpler primitives).
"""


def kind_of(prim: Primitive) -> str:
    """Return how the tangents of `prim` are computed, from its record alone.

    ``"rule"`` (in `TANGENTS`), ``"constant"``, or a key of `WAYS`, of which ``"transposed"`` is the
    default.
    """
    if not prim.is_differentiable:
        return "constant"
    if TANGENTS[prim] is not None:
        return "rule"
    if KIND[prim]:
        return KIND[prim]
    if prim.family == "elementwise":
        return "diagonal"
    if prim.family == "bilinear":
        return "bilinear"
    if prim.family in ("linear", "view", "reduction"):
        named = {n for rule in prim.rules if rule is not None for n in rule.names}
        if "result" not in named and not (named & set(prim.args)) - set(prim.fixed):
            return "linear"
    return "reduced" if prim.family == "reduction" else "transposed"


def expanded(F: Any, tangent: Any, result: Any) -> Any:
    """Return `tangent` in the shape of the result."""
    if tangent is None or tuple(tangent.shape) == tuple(result.shape):
        return tangent
    return F.expand(tangent, shape=tuple(result.shape))


def _diagonal(push: Pushforward) -> Any:
    F, prim, primals, result = push.F, push.prim, push.primals, push.result
    if prim.conj == "explicit" and any(p.dtype.kind == "c" for p in primals):
        return _transposed(push)
    known = {**push.params, "result": result, **dict(zip(prim.args, primals, strict=True))}
    total = None
    for tangent, rule in zip(push.tangents, prim.rules, strict=True):
        if tangent is None or rule is None:
            continue
        whole = expanded(F, tangent, result)
        values = [known[n] if n in known else _fact(n, prim, primals) for n in rule.names]
        try:
            part = rule.call(F, whole, *values)
        except NotImplementedError as error:
            raise NotImplementedError(
                f"Trying to use forward AD with {prim.name} that does not support it because it "
                f"has not been implemented yet: {error}"
            ) from None
        total = part if total is None else total + part
    return expanded(F, total, result)


def _fact(name: str, prim: Primitive, primals: list[Any]) -> Any:
    arg, what = name.rsplit("_", 1)
    # the memory layout of a transform's value is unobservable
    return True if what == "ordered" else getattr(primals[prim.args.index(arg)], what)


def _linear(push: Pushforward) -> Any:
    F, prim, primals, params = push.F, push.prim, push.primals, push.params
    rules = prim.rules * len(primals) if prim.variadic else prim.rules
    if all(t is None or rule is None for t, rule in zip(push.tangents, rules, strict=True)):
        return None
    if "value" in params:
        # the constants written to other elements have no tangent
        params = {**params, "value": 0}
    args = [
        primal
        if rule is None
        else (F.zero_tangent(primal) if hasattr(primal, "shape") else 0)
        if tangent is None
        else tangent
        for primal, tangent, rule in zip(primals, push.tangents, rules, strict=True)
    ]
    return getattr(F, prim.name)(*args, **params)


def _bilinear(push: Pushforward) -> Any:
    call, primals = getattr(push.F, push.prim.name), push.primals
    total = None
    for i, tangent in enumerate(push.tangents):
        if tangent is not None:
            part = call(*primals[:i], tangent, *primals[i + 1 :], **push.params)
            total = part if total is None else total + part
    return total


def _transposed(push: Pushforward) -> Any:
    return PORTS.transposed(push.prim, push.primals, push.tangents, push.result, push.params)


def through_parts(push: Pushforward) -> Any:
    """Push tangents through the decomposition of the primitive."""
    duals = [
        primal if tangent is None else Dual(primal, tangent, push.owner)
        for primal, tangent in zip(push.primals, push.tangents, strict=True)
    ]
    made = PORTS.parts(push.prim)(D, *duals, **push.params)
    return _transposed(push) if made is NotImplemented else made.tangent


WAYS: dict[str, Rule] = {
    "diagonal": _diagonal,
    "linear": _linear,
    "bilinear": _bilinear,
    "parts": through_parts,
    "transposed": _transposed,
}
"""The shared rules; `wengert.interp.tangents` adds others."""


@functools.cache
def _way_of(prim: Primitive) -> Rule | None:
    """Return what computes the tangents of `prim`; None if its results are constant."""
    kind = kind_of(prim)
    if kind == "constant":
        return None
    return TANGENTS[prim] if kind == "rule" else WAYS[kind]


def run(prim: Primitive, args: tuple[Any, ...], params: dict[str, Any]) -> Any:
    """Compute `prim` on arguments, some of which are duals of the highest level."""
    owner: Level | None = None
    top, beside = -1, _contents(params) if params else []
    for value in (*args, *beside) if beside else args:
        if isinstance(value, Lifted) and value.owner.number > top:
            # of an owner that is not a dual's, the namespace was chosen for a rule's other values
            top, owner = value.owner.number, value.owner if isinstance(value, Dual) else None
    if owner is None:
        return getattr(namespace_of(*args, *beside), prim.name)(*args, **params)
    way = _way_of(prim)
    if way is through_parts:
        made = PORTS.parts(prim)(D, *args, **params)
        if made is not NotImplemented:
            return made
    primals: list[Any] = list(args)
    tangents: list[Any] = [None] * len(args)
    for i, value in enumerate(args):
        if isinstance(value, Dual) and value.owner.number == top:
            primals[i], tangents[i] = value.primal, value.tangent
    result = getattr(namespace_of(*primals, *beside), prim.name)(*primals, **params)
    if way is None or all(t is None for t in tangents) or not PORTS.full_mode().tangents:
        return _each(result, lambda r: _paired(r, None, owner))
    F = namespace_of(*primals, *tangents, *beside)
    found = way(Pushforward(F, prim, owner, primals, tangents, result, params))
    whose = args[0] if prim.view and primals[0] is not args[0] else None
    if not isinstance(result, tuple):
        if whose is None:
            found = _unshared(found, tangents)
            # views of both must be views
            tangent, value = memory_of(found), memory_of(result)
            own = tangent.__class__ is np.ndarray and tangent.strides == value.strides
            return _paired(result, found, owner, own)
        return _paired(result, found, owner, whose.own, whose.given)
    found = (*(found or ()), *(None,) * (len(result) - len(found or ())))
    shown = (False, None) if whose is None else (whose.own, whose.given)
    return tuple(_paired(r, t, owner, *shown) for r, t in zip(result, found, strict=True))


def _unshared(found: Any, tangents: list[Any]) -> Any:
    """Return the tangent `found` of a result that is not a view, in memory of its own."""
    memory, given = memory_of(found), map(memory_of, tangents)
    if memory.__class__ is np.ndarray and any(
        t.__class__ is np.ndarray and np.may_share_memory(memory, t) for t in given
    ):
        return found.copy()
    return found


def _each(result: Any, function: Callable[[Any], Any]) -> Any:
    return tuple(map(function, result)) if isinstance(result, tuple) else function(result)


def _paired(result: Any, tangent: Any, owner: Level, own: bool = False, given: Any = None) -> Any:
    return Dual(result, tangent, owner, own, given) if result.dtype.kind in "fcV" else result


def _contents(params: dict[str, Any]) -> list[Any]:
    """Return the index arrays of levels among the parameters."""
    found: list[Any] = []
    for value in params.values():
        found += [v for v in value if isinstance(v, Lifted)] if isinstance(value, tuple) else []
    return found


D: Any = Interpreter(run)
"""Every primitive as a function of values with tangents."""

Dual._namespace = D


def has_tangent(payload: Any, level: Level) -> bool:
    """Return whether a payload carries a tangent of `level`."""
    if not isinstance(payload, Lifted):
        return False
    if isinstance(payload, Dual) and payload.owner is level:
        return payload.tangent is not None
    return any(has_tangent(part, level) for part in payload.contents())
