"""Layer 3 · interp: B, the namespace that computes on whole batches of values at once.

NOTE [batching rules]
A `Batched` holds its content with the batch along the first dimension. A batching rule applies a
primitive to every element of the batch by one call on contents: ``rule(call, args, params)``, where
`args` are `Slot`s (a content, and whether it has the batch dimension) and `call` is the `Call` with
the primitive, the namespace of the contents and the size of the batch. It returns contents with the
batch dimension. `BATCHING` names the rule that a primitive shares with others (in
`wengert.interp.batching`), `RULES` has the rules of single primitives; a primitive with neither
runs once for each element of the batch, and `fallbacks` lists it.
"""

from __future__ import annotations

import functools
import operator
from collections.abc import Callable, Iterable, Iterator
from typing import Any, NamedTuple, NoReturn

import numpy as np

from wengert.base.ports import provides
from wengert.interp.levels import Infix, Interpreter, Level, Lifted, namespace_of
from wengert.prims.facet import Facet
from wengert.prims.record import Primitive


def _refuse(what: str) -> NoReturn:
    raise RuntimeError(
        f"vmap: It looks like you're {what} on a Tensor. We don't support vmap over calling "
        "this: its result would differ from one element of the batch to the next. Compute with "
        "tensors instead (wengert.where in place of an `if`), or call the function in a loop."
    )


@functools.total_ordering
class Bound:
    """The smallest or largest element of a batch: checks compare it, but it is no element's own."""

    __slots__ = ("number",)

    def __init__(self, number: Any) -> None:
        self.number = number

    def __eq__(self, other: object) -> bool:
        return bool(self.number == getattr(other, "number", other))

    def __lt__(self, other: Any) -> bool:
        return bool(self.number < getattr(other, "number", other))

    def __str__(self) -> str:
        return str(self.number)

    def __index__(self) -> int:
        _refuse("reading the least or the greatest value")

    __int__ = __float__ = __index__


@provides("batched")
class Batched(Infix, Lifted):
    """A batch of values that a function under `vmap` sees as one value."""

    __slots__ = ("shape", "value")
    _namespace: Any

    def __init__(self, value: Any, owner: Level) -> None:
        self.value = value
        self.owner = owner
        self.shape = value.shape[1:]

    def contents(self) -> Iterable[Any]:
        """Return the batch."""
        return (self.value,)

    def constant(self) -> Any:
        """Return the batch without tangents."""
        value = self.value.constant() if isinstance(self.value, Lifted) else self.value
        return self if value is self.value else Batched(value, self.owner)

    def __repr__(self) -> str:
        return f"Batched({self.value!r}, {self.owner!r})"

    def copy(self) -> Any:
        """Return a copy of the batch."""
        return Batched(self.value.copy(), self.owner)

    # -- queries by operations that check their arguments: they hold for the whole batch
    # ----------------

    def any(self) -> Any:
        """Return whether any element of any value is true."""
        return self.value.any()

    def all(self) -> Any:
        """Return whether every element of every value is true."""
        return self.value.all()

    def min(self, axis: Any = None) -> Any:
        """Return the smallest element of all values, to be compared."""
        # of a batch without elements none is outside of any bounds
        least = self.value.min() if self.value.size else np.inf
        return Bound(least) if axis is None else _refuse("reading the least values")

    def max(self, axis: Any = None) -> Any:
        """Return the largest element of all values, to be compared."""
        most = self.value.max() if self.value.size else -np.inf
        return Bound(most) if axis is None else _refuse("reading the greatest values")

    def __bool__(self) -> bool:
        raise RuntimeError(
            "vmap: It looks like you're attempting to use a Tensor in some data-dependent control "
            "flow. We don't support that yet: use wengert.where, which chooses element by element, "
            "or call the function in a loop."
        )

    def item(self) -> Any:
        """Refuse: there is one value for each element of the batch."""
        return _refuse("calling .item()")

    def tolist(self) -> Any:
        """Refuse: there is one value for each element of the batch."""
        return _refuse("calling .tolist()")

    def __array__(self, dtype: Any = None, copy: Any = None) -> Any:
        return _refuse("reading the values of, as a NumPy array would,")

    def __getitem__(self, index: Any) -> Any:
        return _refuse("reading some of the values")

    def __iter__(self) -> Any:
        return _refuse("reading the values one by one")

    __float__ = __int__ = __index__ = __complex__ = item

    # -- operators, for rules ----------------------------------------------------------------------

    def __and__(self, other: Any) -> Any:
        return self._infix("and", operator.and_, self, other)

    def __or__(self, other: Any) -> Any:
        return self._infix("or", operator.or_, self, other)

    def __matmul__(self, other: Any) -> Any:
        return self._infix("matmul", operator.matmul, self, other)

    def __rmatmul__(self, other: Any) -> Any:
        return self._infix("matmul", operator.matmul, other, self)

    def _infix(self, name: str, function: Callable[[Any, Any], Any], a: Any, b: Any) -> Any:
        if isinstance(a, Lifted) and isinstance(b, Lifted) and a.owner.number != b.owner.number:
            top = a if a.owner.number > b.owner.number else b
            if not isinstance(top, Batched):
                return NotImplemented
        else:
            top = a if isinstance(a, Batched) else b
        slots = [_slot(a, top.owner), _slot(b, top.owner)]
        x, y = aligned(namespace_of(slots[0].value, slots[1].value), slots)
        return Batched(function(x, y), top.owner)

    def __neg__(self) -> Any:
        return Batched(-self.value, self.owner)

    def __invert__(self) -> Any:
        return Batched(~self.value, self.owner)

    __hash__ = object.__hash__


class Slot(NamedTuple):
    """An argument of a batching rule: a content, and whether it has the batch dimension."""

    value: Any
    batched: bool

    @property
    def ndim(self) -> int:
        """The number of dimensions without the batch dimension."""
        ndim = getattr(self.value, "ndim", 0)
        return ndim - self.batched


def _slot(value: Any, owner: Level) -> Slot:
    if isinstance(value, Batched) and value.owner.number == owner.number:
        return Slot(value.value, True)
    return Slot(value, False)


def spread(F: Any, slot: Slot, size: int) -> Any:
    """Return the content of `slot` with the batch dimension, added if necessary."""
    if slot.batched:
        return slot.value
    value = slot.value
    if not hasattr(value, "shape"):
        value = np.asarray(value)
    return F.expand(F.unsqueeze(value, dim=0), shape=(size, *value.shape))


def aligned(F: Any, slots: list[Slot]) -> list[Any]:
    """Return the contents with aligned dimensions, so that they broadcast as their values do."""
    ndim = max(slot.ndim for slot in slots)
    values = []
    for slot in slots:
        value = slot.value
        if slot.batched:
            for _ in range(ndim - slot.ndim):
                value = F.unsqueeze(value, dim=1)
        values.append(value)
    return values


class Call(NamedTuple):
    """One call of a primitive on a batch.

    Attributes
    ----------
    prim: The primitive.
    F: The namespace of the contents.
    owner: The level of the batch.
    size: The size of the batch.
    """

    prim: Primitive
    F: Any
    owner: Level
    size: int

    def __call__(self, *args: Any, **params: Any) -> Any:
        """Call the primitive itself, on contents."""
        return getattr(self.F, self.prim.name)(*args, **params)

    def spread(self, slots: Iterable[Slot]) -> list[Any]:
        """Return all contents with the batch dimension; None stays None."""
        return [s.value if s.value is None else spread(self.F, s, self.size) for s in slots]


Rule = Callable[[Call, list[Slot], dict[str, Any]], Any]
RULES: Facet[Any] = Facet("batching_rule", lambda prim: None)
"""The batching rules of single primitives, or None."""
_SHARED: dict[str, Rule] = {}
DIMENSIONS = frozenset(("dim", "dim0", "dim1", "dim2", "dimension", "dims"))
"""The parameters that name dimensions."""


def _of_family(prim: Primitive) -> str:
    named = DIMENSIONS.union(("shape",)).intersection(prim.params)
    if prim.family == "reduction" or (prim.family == "view" and named):
        return "dims"
    # operations on elements; those that are "general" may do anything
    spreads = prim.broadcasts and not named and prim.family != "general"
    ufunc = prim.family == "constant" and isinstance(prim.kernel, np.ufunc)
    return "pointwise" if prim.family == "elementwise" or spreads or ufunc else "each"


BATCHING: Facet[str] = Facet("batching", _of_family)
"""The name of the rule in `wengert.interp.batching` that the operation follows."""


def shared(rule: Rule) -> Rule:
    """Register a rule that records refer to by name."""
    _SHARED[rule.__name__] = rule
    return rule


@functools.cache
def _rule_of(prim: Primitive) -> Rule:
    return RULES[prim] or _SHARED[BATCHING[prim]]


@shared
def each(call: Call, slots: list[Slot], params: dict[str, Any]) -> Any:
    """Call the primitive once for each element of the batch, without a rule."""
    F = call.F
    rows = []
    for i in range(call.size):
        args = [F.select(s.value, dim=0, index=i) if s.batched else s.value for s in slots]
        rows.append(call(*args, **{name: _row(F, value, i) for name, value in params.items()}))
    if not rows:
        raise RuntimeError(
            f"vmap: {call.prim.name} has no batching rule, and a batch without elements says "
            "nothing of its result: call the function on a batch of at least one"
        )
    if isinstance(rows[0], tuple):
        return tuple(_stacked(call, parts) for parts in zip(*rows, strict=True))
    return _stacked(call, rows)


def _of_none(call: Call, slots: list[Slot], params: dict[str, Any]) -> Any:
    """Return the result for a batch without elements: of the shape of the result for zeros.

    None stands for an operation that says nothing, as its result has a shape that values decide.
    """
    if "size" in call.prim.facets or [*_contents(params.values())]:
        return None
    if any(isinstance(slot.value, Lifted) for slot in slots):
        return None
    rows = [np.zeros(s.value.shape[1:], s.value.dtype) if s.batched else s.value for s in slots]
    try:
        with np.errstate(all="ignore"):
            made = call(*rows, **params)
    except (ArithmeticError, IndexError, RuntimeError, ValueError):  # zeros are not in the domain
        return None
    parts = made if isinstance(made, tuple) else (made,)
    empty = tuple(np.zeros((0, *part.shape), part.dtype) for part in parts)
    return empty if isinstance(made, tuple) else empty[0]


def _row(F: Any, value: Any, i: int) -> Any:
    """Return element `i` of a batched parameter."""
    if isinstance(value, Within):
        return F.select(value.value, dim=0, index=i)
    if isinstance(value, tuple):
        return tuple(_row(F, part, i) for part in value)
    return value


class Within(NamedTuple):
    """A content with the batch dimension among the parameters of a primitive."""

    value: Any


def _stacked(call: Call, rows: Any) -> Any:
    shapes = {tuple(row.shape) for row in rows}
    if len(shapes) > 1:
        raise RuntimeError(
            "vmap: We do not support batching operators that can output dynamic shape. Attempted "
            f"to vmap over {call.prim.name}, whose result has another shape for each element. Use "
            "an operation whose shape does not depend on values (wengert.where for a mask), or a "
            "loop."
        )
    return namespace_of(*rows).stack(
        *[
            np.asarray(r) if r.__class__ is not np.ndarray and not isinstance(r, Lifted) else r
            for r in rows
        ],
        dim=0,
    )


def _owner(values: Iterable[Any]) -> Level | None:
    """Return the highest batch level among values, or tuples of them."""
    found: Level | None = None
    for value in values:
        if isinstance(value, tuple | list):
            own = _owner(value)
        else:
            own = value.owner if isinstance(value, Batched) else None
        if own is not None and (found is None or own.number > found.number):
            found = own
    return found


def _within(value: Any, owner: Level) -> Any:
    if isinstance(value, tuple):
        return tuple(_within(part, owner) for part in value)
    if isinstance(value, Batched) and value.owner.number == owner.number:
        return Within(value.value)
    return value


def _contents(params: Iterable[Any]) -> Iterator[Any]:
    """Return the values among parameters, with or without the batch dimension."""
    for value in params:
        if isinstance(value, Within):
            yield value.value
        elif isinstance(value, tuple):
            yield from _contents(value)
        elif isinstance(value, Lifted):
            yield value


def run(prim: Primitive, args: tuple[Any, ...], params: dict[str, Any]) -> Any:
    """Compute `prim` on arguments, some of which are batched at the highest level."""
    owner = _owner((*args, *params.values()))
    if owner is None or any(
        isinstance(value, Lifted) and value.owner.number > owner.number for value in args
    ):
        # the namespace was chosen for a rule's other values
        return getattr(namespace_of(*args), prim.name)(*args, **params)
    slots = [_slot(value, owner) for value in args]
    within = {name: _within(value, owner) for name, value in params.items()}
    F = namespace_of(*[s.value for s in slots], *_contents(within.values()))
    assert owner.size is not None
    call = Call(prim, F, owner, owner.size)
    results = None if owner.size else _of_none(call, slots, within)
    if results is None:
        results = _rule_of(prim)(call, slots, within)
    if isinstance(results, tuple):
        return tuple(Batched(r, owner) for r in results)
    return Batched(results, owner)


B: Any = Interpreter(run)
"""Every primitive as a function of batched values."""

Batched._namespace = B
