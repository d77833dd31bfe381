"""Layer 9 · compat: the names of `jax.core` that have a meaning without a trace."""

from __future__ import annotations

from typing import Any

from wengert.compat.jax.array import Array
from wengert.compat.jax.classes import is_traced
from wengert.compat.jax.methods import ShapedArray as AbstractValue
from wengert.compat.jax.methods import ShapedArray as ShapedArray
from wengert.compat.jax.tracing import argument
from wengert.interp.levels import Lifted

__all__ = [
    "AbstractValue",
    "ShapedArray",
    "Tracer",
    "concrete_or_error",
    "get_aval",
    "is_concrete",
    "mapped_aval",
    "unmapped_aval",
]

_ABSENT = "nothing is traced, so there are no jaxprs and no primitives"


class _Traced(type):
    def __instancecheck__(cls, x: Any) -> bool:
        return isinstance(x, Array) and (isinstance(x.payload, Lifted) or is_traced(x))


class Tracer(metaclass=_Traced):
    """The arrays that a transform follows, here and now: for `isinstance`."""


def is_concrete(x: Any) -> bool:
    """Whether a value is known: it is, but for batches of `vmap`."""
    return not isinstance(x, Tracer)


def concrete_or_error(typ: Any, val: Any, context: str = "") -> Any:
    """A value as a Python number, or as it is; batches of `vmap` refuse."""
    return val if typ is None else typ(val)


def get_aval(x: Any) -> ShapedArray:
    """The shape and dtype of an array or a number."""
    found: ShapedArray = argument(x).aval
    return found


def mapped_aval(size: int, axis: int | None, aval: ShapedArray) -> ShapedArray:
    """The shape of an element of a batch that has its axis at `axis`."""
    if axis is None:
        return aval
    sizes = aval.shape[:axis] + aval.shape[axis + 1 :]
    return ShapedArray(sizes, aval.dtype, aval.weak_type)


def unmapped_aval(size: int, axis: int | None, aval: ShapedArray) -> ShapedArray:
    """The shape of a batch of elements of this shape, with its axis at `axis`."""
    if axis is None:
        return aval
    sizes = (*aval.shape[:axis], size, *aval.shape[axis:])
    return ShapedArray(sizes, aval.dtype, aval.weak_type)


def __getattr__(name: str) -> Any:
    raise AttributeError(f"module 'jax.core' has no attribute {name!r}: {_ABSENT}")
