"""Layer 8 · compiler: symbols, which are both real arrays and values of a program.

NOTE [values of a trace]
A `Sym` is the payload of a tensor during tracing: a real array, and the `Value` of the program (an
SSA value) that stands for it. Every primitive on such payloads runs its kernel, so that the
function takes its decisions on real data, and adds a step to the trace. Reading elements
(``bool(t)``, ``t.item()``) becomes a guard; handing them to untraced code ends the trace, not the
function (`Trace.escape`).

NOTE [memory of a trace]
Writes go to the real arrays, so views among these see them. The program has no memory, only
values. So each `Sym` belongs to a `Storage`, with the chain of views that leads from there to it.
After a write the storage has a new value, and its views recompute theirs on demand. Inputs that
share memory have a storage each, which is a window of a whole (NOTE [aliasing inputs] in
`wengert.compiler.tracing.memory`): a write goes to the whole, and all of its windows follow.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any

import numpy as np

from wengert.base.memory_format import in_format, memory_format
from wengert.compiler.ir.programs import Value
from wengert.interp.levels import Lifted, LiftedArray
from wengert.prims.facet import OPERATOR
from wengert.prims.record import Primitive
from wengert.prims.table import TABLE


class Storage:
    """Memory that several payloads may be views of.

    Attributes
    ----------
    value: Its current value.
    first: The value that it began with.
    writes: The number of writes to it.
    origin: The input of the program that is this memory, or None.
    touched
        Whether a write went through this storage, and not through another one of the same memory.
    whole: The storage of all inputs that share this memory, or None.
    window
        The views that lead from the whole to this part, as (primitive, parameters); None if no
        views express it.
    """

    __slots__ = ("first", "origin", "touched", "value", "whole", "window", "writes")

    def __init__(self, value: Value, origin: Value | None = None) -> None:
        self.value = self.first = value
        self.writes = 0
        self.origin = origin
        self.touched = False
        self.whole: Storage | None = None
        self.window: tuple[tuple[Primitive, dict[str, Any]], ...] | None = ()

    def follow(self, trace: Any) -> None:
        """Update the value after writes to the whole."""
        whole = self.whole
        if whole is not None and whole.writes != self.writes and self.window is not None:
            self.value = trace.shown(whole.value, self.window)
            self.writes = whole.writes


class Sym(LiftedArray):
    """An array together with its value in the program (see NOTE [values of a trace]).

    Attributes
    ----------
    array: The array.
    trace: The trace that it belongs to.
    chain: The views, as (primitive, parameters), that lead from its storage to it.
    """

    __slots__ = ("_seen", "_storage", "_value", "array", "chain", "trace")
    _namespace: Any
    __array_priority__ = 1000.0

    def __init__(
        self,
        array: Any,
        trace: Any,
        value: Value,
        storage: Storage | None = None,
        chain: tuple[tuple[Primitive, dict[str, Any]], ...] = (),
    ) -> None:
        self.array = array
        self.trace = trace
        self._value = value
        self._storage = storage
        self._seen = 0 if storage is None else storage.writes
        self.chain = chain

    @property
    def storage(self) -> Storage:
        """The storage, created on demand since few symbols need one."""
        found = self._storage
        if found is None:
            found = self._storage = Storage(self._value)
        elif found.whole is not None:
            found.follow(self.trace)
        return found

    @property
    def value(self) -> Value:
        """The value of the program, as of the last write to the memory."""
        storage = self._storage
        if storage is not None:
            if storage.whole is not None:
                storage.follow(self.trace)
            if self._seen != storage.writes:
                self._value = self.trace.shown(storage.value, self.chain)
                self._seen = storage.writes
        return self._value

    @property
    def memory(self) -> Storage | None:
        """The memory of the elements, which all of its views share; None if never requested."""
        storage = self._storage
        return storage if storage is None or storage.whole is None else storage.whole

    @property
    def alone(self) -> Storage | bool | None:
        """Its storage, if that was never written to and this symbol is all of it; else None.

        True if the storage was never requested, so that no other symbol shares it.
        """
        storage = self._storage
        if storage is None:
            return True
        known = self.chain or storage.writes or storage.whole or storage.origin
        return storage if not known else None

    # -- the array interface that operations use ---------------------------------------------------

    @property
    def shape(self) -> tuple[int, ...]:  # type: ignore[override]  # follows from the array
        """The shape."""
        shape: tuple[int, ...] = self.array.shape
        return shape

    @property
    def dtype(self) -> Any:
        """The dtype."""
        return self.array.dtype

    @property
    def of_input(self) -> bool:
        """Whether this is a view of the memory of an input of the program."""
        storage = self._storage
        return storage is not None and storage.origin is not None

    def look(self) -> None:
        """Note that the function depends on the memory layout of an input."""
        if self.of_input:
            self.trace.looked.add(self._storage)

    @property
    def flags(self) -> Any:
        """The memory layout flags, which the trace guards for inputs."""
        self.look()
        return self.array.flags

    @property
    def strides(self) -> tuple[int, ...]:
        """The strides in bytes, which the trace guards for inputs."""
        self.look()
        return tuple(self.array.strides)

    def placed(self) -> Sym:
        if self.array.__class__ is not np.ndarray:
            # a NumPy scalar, which cannot be written to
            self.array = np.asarray(self.array)
        return self

    def lie(self, order: memory_format) -> None:
        if self.array.ndim:
            self.array = in_format(self.array, order)

    @property
    def nbytes(self) -> int:
        """The bytes of the elements."""
        return int(self.array.nbytes)

    @property
    def real(self) -> Any:
        """The real part."""
        return self._namespace.real(self) if self.dtype.kind == "c" else self

    def contents(self) -> Iterable[Any]:
        """Return nothing: it holds no payload of another transform."""
        return ()

    def constant(self) -> Any:
        """Return the symbol itself, which has no tangents."""
        return self if self.trace.active else self.array

    def reshape(self, *shape: Any) -> Any:
        sizes = shape[0] if len(shape) == 1 and isinstance(shape[0], tuple) else shape
        return self._namespace.unsafe_view(self, shape=tuple(self.array.reshape(sizes).shape))

    def __getattr__(self, name: str) -> Any:
        # other threads may use tensors that hold symbols, and are not traced
        if name.startswith("__") or self.trace.active:
            raise AttributeError(f"'Sym' object has no attribute {name!r}")
        return getattr(self.array, name)

    def __repr__(self) -> str:
        return repr(self._escaped("its text"))

    def __str__(self) -> str:
        return str(self._escaped("its text"))

    def write(self, result: Any) -> None:
        self.trace.write(self, result)

    def shown(self) -> Any:
        return self.trace.escape(self, "printing")

    def written(self, tensor: Any, name: str) -> str | None:
        text: str | None = self.trace.tensor_written(tensor, name)
        return text

    # -- decisions ---------------------------------------------------------------------------------

    def __bool__(self) -> bool:
        return bool(self.trace.decide("bool", self))

    def item(self) -> Any:
        """Return the only element: a number of the program if it is a float, else a decision."""
        if self.array.size == 1:
            kind = self.dtype.kind
            if kind == "f" or (
                kind in "iu" and self.dtype != np.uint64 and self.trace.is_printed()
            ):
                return self.trace.scalar(self)
        return self.trace.decide("item", self)

    def any(self) -> Any:
        """Return whether any element is true."""
        return bool(self._namespace.any(self, dim=tuple(range(self.ndim)), keepdim=False))

    def all(self) -> Any:
        """Return whether every element is true."""
        return bool(self._namespace.all(self, dim=tuple(range(self.ndim)), keepdim=False))

    def min(self, axis: Any = None) -> Any:
        """Return the minimum, of all elements or along `axis`."""
        found = self._namespace.amin(self, dim=_axes(self, axis), keepdim=False)
        return self.trace.scalar(found) if axis is None else found

    def max(self, axis: Any = None) -> Any:
        """Return the maximum, of all elements or along `axis`."""
        found = self._namespace.amax(self, dim=_axes(self, axis), keepdim=False)
        return self.trace.scalar(found) if axis is None else found

    def _escaped(self, how: str) -> Any:
        return self.trace.escape(self, how)

    def tolist(self) -> Any:
        """Return the elements as Python numbers: a few like `item`; more end the trace."""
        if not self.trace.active or not self.array.size:
            return self.array.tolist()
        if self.array.size > _LISTED:
            return self._escaped(".tolist()").tolist()
        if not self.ndim:
            return self.item()
        rows = [self._namespace.select(self, dim=0, index=i) for i in range(self.shape[0])]
        return [row.tolist() for row in rows]

    def __array__(self, dtype: Any = None, copy: Any = None) -> Any:
        if dtype is None or dtype == self.dtype:
            made = np.array(self.array)
            if self.trace.handed_back(self, made):
                return made
        array = np.asarray(self._escaped("conversion to an array of NumPy"))
        if dtype is not None and array.dtype != dtype:
            return array.astype(dtype)
        return array.copy() if copy else array

    def __getitem__(self, index: Any) -> Any:
        parts = index if isinstance(index, tuple) else (index,)
        places = tuple([part.array if isinstance(part, Sym) else part for part in parts])
        return self._escaped("reading elements")[places]

    def __iter__(self) -> Any:
        return iter(self._escaped("reading elements"))

    def __array_ufunc__(  # type: ignore[override]  # other values of transforms have none
        self, ufunc: Any, method: str, *args: Any, **kwargs: Any
    ) -> Any:
        name = _BY_UFUNC.get(ufunc)
        if method == "__call__" and name is not None and not kwargs and self.trace.active:
            return getattr(self._namespace, name)(*args)

        def plain(part: Any) -> Any:
            return self.trace.escape(part, ufunc.__name__) if isinstance(part, Sym) else part

        named = {key: plain(part) for key, part in kwargs.items()}
        return getattr(ufunc, method)(*map(plain, args), **named)

    # -- operators, for rules ----------------------------------------------------------------------

    def __and__(self, other: Any) -> Any:
        return _infix("logical_and" if self.dtype.kind == "b" else "bitwise_and", self, other)

    def __or__(self, other: Any) -> Any:
        return _infix("logical_or" if self.dtype.kind == "b" else "bitwise_or", self, other)

    def __neg__(self) -> Any:
        return self._namespace.neg(self)

    def __invert__(self) -> Any:
        return (
            self._namespace.logical_not(self)
            if self.dtype.kind == "b"
            else self._namespace.bitwise_not(self)
        )

    __hash__ = object.__hash__


_LISTED = 64
"""The most elements that become separate numbers of the program."""


def _axes(value: Sym, axis: Any) -> tuple[int, ...]:
    if axis is None:
        return tuple(range(value.ndim))
    return (axis,) if isinstance(axis, int) else tuple(axis)


def _infix(name: str, left: Any, right: Any) -> Any:
    """Compute an operator as NumPy's arrays do."""
    if isinstance(left, Lifted) and isinstance(right, Lifted):
        other = left if isinstance(right, Sym) else right
        if not isinstance(other, Sym):
            return NotImplemented
    trace = (left if isinstance(left, Sym) else right).trace
    number = _is_number(left) or _is_number(right)
    if number:
        return trace.with_number(name, left, right)
    left, right = (trace.symbol(v) for v in (left, right))
    if left.dtype != right.dtype:
        common = np.result_type(left.dtype, right.dtype)
        left, right = (
            v if v.dtype == common else Sym._namespace.to_copy(v, dtype=common)
            for v in (left, right)
        )
    return _product(left, right) if name == "matmul" else getattr(Sym._namespace, name)(left, right)


def _product(left: Sym, right: Sym) -> Any:
    """Compute ``left @ right`` from primitives."""
    S = Sym._namespace
    if left.ndim == 1 or right.ndim == 1:
        rows = S.unsqueeze(left, dim=0) if left.ndim == 1 else left
        columns = S.unsqueeze(right, dim=1) if right.ndim == 1 else right
        made = _product(rows, columns)
        shape = (left.array @ right.array).shape
        return S.unsafe_view(made, shape=tuple(shape))
    if left.ndim == 2 and right.ndim == 2:
        return S.mm(left, right)
    batch = np.broadcast_shapes(left.shape[:-2], right.shape[:-2])
    parts = []
    for side in (left, right):
        whole = S.expand(side, shape=(*batch, *side.shape[-2:]))
        parts.append(S.unsafe_view(whole, shape=(math.prod(batch), *side.shape[-2:])))
    made = S.bmm(*parts)
    return S.unsafe_view(made, shape=(*batch, left.shape[-2], right.shape[-1]))


def _is_number(value: Any) -> bool:
    return value.__class__ in (float, int, bool, complex)


def _operator(name: str, swapped: bool) -> Any:
    """Return an operator as a method, with a fast path for two symbols of one dtype."""

    def method(self: Sym, other: Any) -> Any:
        if other.__class__ is Sym and other.array.dtype is self.array.dtype and name != "matmul":
            return getattr(self._namespace, name)(self, other)
        return _infix(name, other, self) if swapped else _infix(name, self, other)

    return method


_PRIMS = {name: prim.name for prim, name in OPERATOR.items() if name}
for _python in ("__add__", "__sub__", "__mul__", "__truediv__", "__pow__", "__matmul__"):
    _name = _python.strip("_")
    setattr(Sym, _python, _operator(_PRIMS.get(_name, _name), False))
    setattr(Sym, f"__r{_name}__", _operator(_PRIMS.get(_name, _name), True))
for _python in ("__lt__", "__le__", "__gt__", "__ge__", "__eq__", "__ne__"):
    setattr(Sym, _python, _operator(_python.strip("_"), False))

_BY_UFUNC: dict[Any, str] = {}
for _name, _prim in TABLE.items():
    if isinstance(_prim.kernel, np.ufunc) and not _prim.params:
        _BY_UFUNC.setdefault(_prim.kernel, _name)
