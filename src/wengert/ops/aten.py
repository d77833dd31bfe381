"""Layer 5 · ops: PyTorch's names of operations, such as ``aten.mm.default``.

There is no dispatcher here: contexts and policies receive the name of an operation, a string such
as "mm". These objects are strings of that kind, which print as PyTorch's overloads do.
Calling one calls the function or the method of that name; in a ``__torch_dispatch__`` that received
it, what was dispatched.
"""

from __future__ import annotations

import importlib
from contextvars import ContextVar
from functools import cache
from inspect import signature
from typing import Any

import numpy as np

from wengert.base.dtypes import as_dtype, dtype
from wengert.base.ports import PORTS
from wengert.ops.exports import EXPORTS
from wengert.prims.facet import Facet
from wengert.prims.table import TABLE


class OpOverload(str):
    """The name of an operation: ``wg.ops.aten.mm.default == "mm"``.

    It is shown as PyTorch's overload, such as ``aten.mul.Tensor``; all overloads of one operation
    are equal.
    """

    __slots__ = ("kind", "packet")
    packet: str
    kind: str

    namespace = "aten"
    __name__: Any = property(lambda self: f"{self.packet}.{self.kind}")

    @property
    def overloadpacket(self) -> OpOverloadPacket:
        """All overloads of the operation."""
        return OpOverloadPacket(self.packet)

    _overloadpacket = overloadpacket

    def name(self) -> str:
        """Return the qualified name."""
        return f"aten::{self.packet}" + (f".{self.kind}" if self.kind != "default" else "")

    def __str__(self) -> str:
        return f"aten.{self.packet}.{self.kind}"

    def __format__(self, spec: str) -> str:
        return format(str(self), spec)

    def __repr__(self) -> str:
        return f"<OpOverload(op='aten.{self.packet}', overload='{self.kind}')>"

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        name, run = _DISPATCHED.get()
        return (run if name == self else _function(self.packet, str.__str__(self)))(*args, **kwargs)


OVERLOAD: Facet[str] = Facet("overload", lambda prim: "default")
"""The overload of PyTorch's that an operation is shown as: its kind; that if the last argument is a
tensor, and that for a number; or the name, where that is another there, and the kind."""


@cache
def _named(packet: str, kind: str) -> str:
    """Return the name here of an overload of PyTorch's."""
    if (plain := f"{packet}_{kind}") in TABLE:
        return plain
    stated = f"{packet}.{kind}"
    return next((prim.name for prim, shown in OVERLOAD.items() if shown == stated), packet)


@cache
def overload(name: str, packet: str, kind: str) -> OpOverload:
    """Return the operation `name`, shown as an overload."""
    made = OpOverload(name)
    made.packet, made.kind = packet, kind
    return made


def overload_of(name: str, args: Any = (), kwargs: Any = None) -> OpOverload:
    """Return an operation, shown as the overload that PyTorch calls with such arguments."""
    plain = name.rstrip("_")
    record = TABLE.get(plain) or TABLE.get(f"{plain}_scalar")
    packet, kind = plain, "default" if record is None else OVERLOAD[record]
    if "." in kind:
        packet, _, kind = kind.partition(".")
    elif packet[-4:] == "_dim":
        packet, kind = packet[:-4], "dim"
    else:
        # numbers that are compared are 0-d tensors here
        last = ([*args[1:], *(kwargs or {}).values()] or [None])[-1]
        kinds = kind.split()
        kind = kinds[-1 if not getattr(last, "ndim", 0) else 0]
        if name != plain:
            kind = kind.removeprefix("Tensor_")
    return overload(name, packet + name[len(plain) :], kind)


_DISPATCHED: ContextVar[tuple[str | None, Any]] = ContextVar("dispatched", default=(None, None))
"""The operation that a ``__torch_dispatch__`` is handling, and what computes it."""


def dispatched(handler: Any, name: str, run: Any, types: Any, args: Any, kwargs: Any) -> Any:
    """Return what a ``__torch_dispatch__`` makes of an operation, which `run` computes.

    The handler sees arguments in PyTorch's order, and the program's dtypes; `run` takes tensors,
    and the rest by name.
    """
    several = "tensors" in (names := _tensor_names(name, args, kwargs))
    tensors = {"tensors": list(args)} if several else dict(zip(names, args, strict=True))
    values = {**tensors, **{key: _of_programs(value) for key, value in kwargs.items()}}
    made = isinstance(name, OpOverload)
    order = dict.fromkeys(tensors) if made else _order(name, (*tensors,))
    shown = keys = [key for key in order if key in values]
    while shown[-1:] and shown[-1] in kwargs and values[shown[-1]] in (None, order[shown[-1]]):
        shown = shown[:-1]

    def plainly(*given: Any, **options: Any) -> Any:
        named = {**values, **dict(zip(keys, given, strict=False)), **options}
        parts = [named.pop(key) for key in tensors]
        options = {key: _of_arrays(value) for key, value in named.items()}
        return run(*(parts[0] if several else parts), **options)

    if not made:
        name = overload_of(name.removesuffix("_scaled"), args, kwargs)
    token = _DISPATCHED.set((name, plainly))
    try:
        rest = {key: values[key] for key in kwargs if key not in order}
        return handler(name, types, tuple([values[key] for key in shown]), rest)
    finally:
        _DISPATCHED.reset(token)


def _tensor_names(name: str, args: Any, kwargs: Any) -> tuple[str, ...]:
    """Return the names of the tensors among an operation's arguments, for all of them."""
    plain = name.rstrip("_")
    forms = [TABLE[form] for form in (f"{plain}_scalar", plain) if form in TABLE]
    for form in forms:
        if form.args[-1:] == ("tensors",) or len(form.args) == len(args):
            return form.args
    return tuple([f"arg{i}" for i in range(len(args))])


_BY_NAME = frozenset({"alpha", "beta", "dtype"})
"""Arguments that PyTorch takes by name only."""


@cache
def _order(name: str, tensors: tuple[str, ...]) -> dict[str, Any]:
    """Return an operation's arguments in the order in which PyTorch passes them: their defaults."""
    plain = name.rstrip("_")
    record = TABLE.get(f"{plain}_scalar" if len(tensors) == 1 else plain) or TABLE.get(plain)
    names = tensors + (() if record is None else record.params)
    try:
        given = dict(signature(_function(plain.removesuffix("_dim"))).parameters)
    except NotImplementedError:
        given = {}
    rank = {key: i for i, key in enumerate(given)}
    known = sorted(
        [key for key in names[:: -1 if name == "rpow" else 1] if key not in _BY_NAME],
        key=lambda key: -1 if key == "self" and given else rank.get(key, len(rank)),
    )
    return {key: given[key].default if key in given else False for key in known}


def _of_programs(value: Any) -> Any:
    if isinstance(value, np.dtype):
        return as_dtype(value)
    return list(value) if isinstance(value, tuple) else value


def _of_arrays(value: Any) -> Any:
    if isinstance(value, dtype):
        return value.dtype
    return tuple(value) if isinstance(value, list) else value


class OpOverloadPacket:
    """All overloads of an operation, such as ``wg.ops.aten.mm``."""

    __slots__ = ("__name__", "_name")

    def __init__(self, name: str) -> None:
        self._name = self.__name__ = name

    def __getattr__(self, kind: str) -> OpOverload:
        if kind.startswith("_"):
            # without the name, which a copy that is still being made lacks
            raise AttributeError(f"an operation of aten has no attribute {kind!r}")
        return overload(_named(self._name, kind), self._name, kind)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return _function(self._name)(*args, **kwargs)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, OpOverloadPacket) and self._name == other._name

    def __hash__(self) -> int:
        return hash(self._name)

    def __repr__(self) -> str:
        return f"aten.{self._name}"


def _function(name: str, prim: str = "") -> Any:
    """Return the function or the method of a name, else the operation `prim`."""
    found = getattr(importlib.import_module("wengert"), name, None)
    found = found or getattr(PORTS.tensor, name, None)
    if found is None and prim in TABLE:
        found = _operation(prim)
    if found is None:
        raise NotImplementedError(f"{name} is only a name here: no function computes it")
    return found


def _operation(name: str) -> Any:
    """Return an operation as a function of its arguments in the order that handlers see."""
    record = TABLE[name]

    def run(*given: Any, **options: Any) -> Any:
        order = _order(name, record.args)
        values = {**order, **dict(zip(order, given, strict=False)), **options}
        tensors = [values.pop(key) for key in record.args]
        params = {key: _of_arrays(value) for key, value in values.items()}
        return getattr(PORTS.namespace, name)(*tensors, **params)

    return run


_NAMES = (
    "_assert_async _assert_scalar _assert_tensor_metadata _conj _convolution _embedding_bag "
    "_fft_c2c _grouped_mm _is_all_true _local_scalar_dense _pin_memory "
    "_scaled_dot_product_cudnn_attention _scaled_dot_product_cudnn_attention_backward "
    "_scaled_dot_product_flash_attention _scaled_dot_product_flash_attention_backward "
    "_sparse_addmm _sparse_mm_reduce_impl _to_copy _unsafe_view _upsample_bilinear2d_aa "
    "convolution copy detach empty_permuted fill_diagonal index_put scaled_dot_product_attention "
    "sym_constrain_range_for_size sym_size to lift_fresh"
)
_UNDERLYING = frozenset(_NAMES.split())
"""Operations that PyTorch's functions decompose to, which contexts and packages name."""


def __getattr__(name: str) -> OpOverloadPacket:
    plain = name.rstrip("_")
    named = (TABLE, EXPORTS["wengert"], EXPORTS["Tensor"], _UNDERLYING)
    known = any(plain in names for names in named)
    if not known and not name.startswith("_foreach_"):
        raise AttributeError(f"there is no operation {name!r}")
    return OpOverloadPacket(name)
