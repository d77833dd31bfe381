"""Layer 5 · ops · random: `make_tensor`, with a range of numbers that suits the dtype."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from wengert.base.dtypes import FLOATING, as_dtype, category, finfo
from wengert.base.memory_format import in_format
from wengert.kernels import random as kernels
from wengert.ops.generator import stream_of
from wengert.ops.options import made, shape_of, type_of
from wengert.ops.randomness import drawn
from wengert.ops.sample import draw_uniform, span_of
from wengert.tape.sites import warn


def make_tensor(
    *shape: Any,
    dtype: Any,
    device: Any = None,
    low: float | None = None,
    high: float | None = None,
    requires_grad: bool = False,
    noncontiguous: bool = False,
    exclude_zero: bool = False,
    memory_format: Any = None,
) -> Any:
    """A tensor of random numbers in [low, high), as `torch.testing.make_tensor` draws them.

    Parameters
    ----------
    shape : int or sequence of int. The shape; without one, the tensor has no dimensions.
    dtype : dtype. The dtype.
    device : device, optional. The device of the tensor; optional here.
    low, high : number, optional. The bounds, cut to what `dtype` holds; by default -9 and 9, for
        integers -9 and 10, for uint8 0 and 10, for bool 0 and 2.
    requires_grad : bool. Whether the tensor is a leaf that requires a gradient.
    noncontiguous : bool. Whether the elements lie with gaps between them.
    exclude_zero : bool. Whether zeros are replaced: by the least positive number, 1 or True.
    memory_format : memory_format, optional. The order of the elements in memory.

    %(returns_leaf)s

    Raises
    ------
    ValueError: If no number of the dtype lies between the bounds, one of them is NaN, an integer
        tensor is to require a gradient, or both `noncontiguous` and `memory_format` are given.

    Examples
    --------
    >>> _ = wg.manual_seed(0)
    >>> wg.testing.make_tensor(3, dtype=wg.int64)
    tensor([ 6, -5, -9])
    """
    sizes, kind = shape_of("make_tensor", shape or ((),)), type_of(dtype)
    if noncontiguous and memory_format is not None:
        raise ValueError(
            "The parameters `noncontiguous` and `memory_format` are mutually exclusive, but got "
            f"{noncontiguous=} and {memory_format=}"
        )
    if requires_grad and category(kind) < FLOATING:
        raise ValueError(
            "`requires_grad=True` is not supported for boolean and integral dtypes, but got "
            f"dtype={as_dtype(kind)!r}"
        )
    apart = noncontiguous and len(sizes) > 0
    whole = (*sizes[:-1], 2 * sizes[-1]) if apart else sizes
    array = drawn(lambda: draw_between(whole, kind, *_bounds(kind, low, high)))
    if apart:
        array = array[..., 1::2]
    elif memory_format is not None:
        array = in_format(array, memory_format)
    if exclude_zero:
        array[array == 0] = 1 if category(kind) < FLOATING else finfo(as_dtype(kind)).tiny
    return made(array, device, requires_grad)


def draw_between(shape: tuple[int, ...], kind: Any, low: float, high: float) -> Any:
    """An array of numbers in [low, high) from the default generator."""
    if category(kind) >= FLOATING:
        # a span beyond the largest number is drawn from its half
        scale = 2 if high - low >= finfo(as_dtype(kind)).max else 1
        array = draw_uniform(np.empty(shape, kind), low / scale, high / scale)
        array *= scale
        return array
    stream = stream_of("make_tensor", None)
    count = math.prod(shape)
    return kernels.integers(stream, count, kind, *span_of(int(low), int(high), kind)).reshape(shape)


def _bounds(kind: np.dtype[Any], low: float | None, high: float | None) -> tuple[float, float]:
    """Return the bounds, clamped to the dtype's range."""
    usual: tuple[float, float] = (
        (0, 2) if kind.kind == "b" else (0, 10) if kind == np.uint8 else (-9, 10)
    )
    least: float
    most: float
    if category(kind) >= FLOATING:
        usual, (least, most) = (-9, 9), (finfo(as_dtype(kind)).min, finfo(as_dtype(kind)).max)
    elif kind.kind == "b":
        least, most = 0, 2
    else:
        # as in PyTorch, whose bounds are of int64, its largest is not drawn
        least, most = np.iinfo(kind).min, int(np.iinfo(kind).max) + (kind != np.int64)
    bottom, top = (a if b is None else b for a, b in zip(usual, (low, high), strict=True))
    # not isnan(), which takes no int beyond the range of floats
    if bottom != bottom or top != top:
        raise ValueError(f"`low` and `high` cannot be NaN, but got low={bottom} and high={top}")
    if bottom == top and category(kind) >= FLOATING:
        warn(
            "Passing `low==high` to `torch.testing.make_tensor` for floating or complex types is "
            "deprecated since 2.1 and will be removed in 2.3. Use `torch.full(...)` instead.",
            FutureWarning,
        )
    elif bottom >= top:
        raise ValueError(f"`low` must be less than `high`, but got {bottom} >= {top}")
    if top < least or bottom >= most:
        raise ValueError(
            f"The value interval specified by `low` and `high` is [{bottom}, {top}), but "
            f"{as_dtype(kind)!r} only supports [{least}, {most})"
        )
    bottom, top = max(bottom, least), min(top, most)
    if category(kind) < FLOATING:
        return math.ceil(bottom), math.ceil(top)
    return bottom, top
