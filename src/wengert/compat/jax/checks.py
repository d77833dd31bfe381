"""Layer 9 · compat: checks of operands in JAX's words."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from wengert.base.error_states import errstate
from wengert.compat.jax.settings import numpy_rank_promotion
from wengert.compat.jax.words import refusal
from wengert.tape.record import T
from wengert.tape.sites import warn

_NAMES = {"b": "bool", "i": "integer", "u": "integer", "f": "floating", "c": "complexfloating"}


def broadcast(*shapes, of: str = "") -> tuple[int, ...]:
    """Return the shape that shapes broadcast to, or raise in JAX's words."""
    try:
        return np.broadcast_shapes(*shapes)
    except ValueError:
        given = [tuple(shape) for shape in shapes]
        raise ValueError(f"Incompatible shapes for broadcasting: shapes={given}{of}") from None


def axis_in(axis: int, ndim: int) -> int:
    """Return an axis, counted from 0.

    Raises
    ------
    ValueError: If it is out of bounds.
    """
    if not -ndim <= axis < ndim:
        raise ValueError(f"axis {axis} is out of bounds for array of dimension {ndim}")
    return axis % ndim


def check_shapes(name: str, *operands) -> None:
    """Refuse shapes that do not broadcast together.

    Raises
    ------
    TypeError: If they have the same number of dimensions.
    ValueError: If they have different numbers of dimensions.
    """
    shapes = [tuple(x._payload.shape) for x in operands]
    if all(shape == shapes[0] or not shape for shape in shapes):
        return
    ranks = {len(shape) for shape in shapes if shape}
    if len(ranks) > 1 and numpy_rank_promotion.value != "allow":
        _report_ranks(f"{name} on shapes {' '.join(map(str, shapes))}")
    try:
        np.broadcast_shapes(*shapes)
    except ValueError:
        if len({len(shape) for shape in shapes}) == 1:
            raise TypeError(
                f"{name} got incompatible shapes for broadcasting: {', '.join(map(str, shapes))}."
            ) from None
        raise refusal(ValueError, "Incompatible shapes for", shapes, name) from None


def _report_ranks(which: str) -> None:
    """Warn of operands with different numbers of dimensions, or refuse them."""
    if numpy_rank_promotion.value == "raise":
        raise refusal(ValueError, "Operands could not be broadcast", which)
    warn(
        f"Following NumPy automatic rank promotion for {which}. Set the jax_numpy_rank_promotion "
        "config option to 'allow' to disable this warning."
    )


def resized(x, sizes: tuple[int, ...]) -> tuple[int, ...]:
    """Return the sizes to reshape an array to, without -1.

    Raises
    ------
    TypeError: If the array has another number of elements.
    """
    shape = x._payload.shape
    size, known, free = math.prod(shape), math.prod(n for n in sizes if n != -1), sizes.count(-1)
    fits = free == 1 and known and not size % known if free else known == size
    if not fits or min(sizes, default=0) < -1:
        raise refusal(TypeError, "cannot reshape array of shape", tuple(shape), size, sizes, known)
    return tuple([size // known if n == -1 else n for n in sizes])


def check_contracted(left: Sequence[int], right: Sequence[int]) -> None:
    """Refuse operands of a product over the last axis and the last but one that differ there."""
    m, n = left[-1], right[-2 if len(right) > 1 else 0]
    if m != n:
        raise TypeError(
            "dot_general requires contracting dimensions to have the same shape, got "
            f"({m},) and ({n},): the operands have shapes {tuple(left)} and {tuple(right)}."
        )


def check_dtype(name: str, x, kinds: str, place: int | None = None) -> None:
    """Refuse a dtype that an operation does not support.

    Raises
    ------
    TypeError: If it is not of the `kinds`.
    """
    dtype = x._payload.dtype
    kind = "f" if dtype.kind == "V" else dtype.kind
    if kind not in kinds:
        accepted = ", ".join(dict.fromkeys(_NAMES[kind] for kind in kinds))
        at = "" if place is None else f" at position {place}"
        raise refusal(TypeError, "{0} does not accept dtype", name, dtype, at, accepted)


_QUIET: dict[str, Callable[..., Any]] = {}


def quiet(name: str) -> Callable[..., Any]:
    """Apply a primitive, recorded, without NumPy's warnings."""
    found = _QUIET.get(name)
    if found is None:
        found = _QUIET[name] = errstate(all="ignore")(getattr(T, name))
    return found


def by_zero(name: str, x, y, filler: Callable[[Any, np.dtype[Any]], Any]) -> Any:
    """Apply a division of integers, with the values that XLA gives where `y` is 0.

    Parameters
    ----------
    name : str. The primitive, which refuses to divide integers by 0.
    filler : callable. Takes `x` and its dtype, and returns those values.
    """
    divisors = y._payload
    dtype = divisors.dtype
    known = isinstance(divisors, np.ndarray | np.generic)
    if dtype.kind not in "iu" or (known and np.all(divisors)):
        return quiet(name)(x, y)
    none = T.eq(y, 0)
    return T.where(none, filler(x, dtype), quiet(name)(x, T.where(none, dtype.type(1), y)))


def all_ones(x, dtype: np.dtype[Any]) -> Any:
    """Return the integer whose bits are all set: -1, or the greatest one without a sign."""
    return dtype.type(0) if dtype.kind == "b" else ~dtype.type(0)
