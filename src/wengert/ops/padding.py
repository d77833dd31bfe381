"""Layer 5 · ops · resampling: padding, and elements moved between channels and pixels."""

from __future__ import annotations

from typing import Any

import numpy as np

from wengert.base.errors import not_implemented, wrong_type
from wengert.base.export import export
from wengert.kernels.reduce import are_within
from wengert.ops.coerce import integer, integers, number, operand
from wengert.ops.options import placed
from wengert.prims import padding as padding
from wengert.prims import structure as structure
from wengert.tape.base import new_tensor
from wengert.tape.operands import held
from wengert.tape.record import T

Pads = tuple[tuple[int, int], ...]
_RECORDS = {
    "reflect": "reflection_pad",
    "replicate": "replication_pad",
    "circular": "circular_pad",
}


def _widths(pad: Any) -> tuple[int, ...]:
    if not isinstance(pad, tuple | list):
        raise wrong_type("pad", "pad", "tuple of ints", pad, 2)
    return integers(pad, "pad", "pad", 2)


def _pairs(widths: tuple[int, ...], ndim: int) -> Pads:
    """Return the widths before and after, for each dimension; `widths` begin with the last."""
    given = [(widths[i], widths[i + 1]) for i in range(len(widths) - 2, -1, -2)]
    return ((0, 0),) * (ndim - len(given)) + tuple(given)


@export("wengert")
def constant_pad_nd(input: Any, pad: Any, value: Any = 0) -> Any:
    """Return the tensor with a number before and after it (see `nn.functional.pad`).

    Parameters
    ----------
    %(any_input)s
    pad : sequence of int. Widths before and after, from the last dimension on; negative ones cut.
    value : number. The value of the padding.

    Returns
    -------
    Tensor: A copy; differentiable.

    Raises
    ------
    RuntimeError: If the widths do not fit the tensor.

    Examples
    --------
    >>> wg.constant_pad_nd(wg.tensor([1.0, 2.0]), (1, 2), 9)
    tensor([9., 1., 2., 9., 9.])
    """
    return _constant(operand(input, "constant_pad_nd"), _widths(pad), value)


def _constant(x: Any, widths: tuple[int, ...], value: Any) -> Any:
    ndim = x._payload.ndim
    if len(widths) % 2:
        raise RuntimeError(
            f"Length of pad must be even but instead it equals {len(widths)}: two widths for each "
            "dimension, before and after"
        )
    if len(widths) > 2 * ndim:
        raise RuntimeError(
            f"Length of pad should be no more than twice the number of dimensions of the input. "
            f"Pad length is {len(widths)} while the input has {ndim} dimensions."
        )
    pairs = _pairs(widths, ndim)
    for dim, (n, (before, after)) in enumerate(zip(x._payload.shape, pairs, strict=True)):
        if n + before + after < 0:
            raise RuntimeError(
                f"The input size {n}, plus negative padding {before} and {after}, resulted in a "
                f"negative output size, which is invalid. Check dimension {dim} of your input."
            )
    return T.constant_pad_nd(x, pads=pairs, value=held(value, x._payload.dtype))


@export("nn.functional")
def pad(input: Any, pad: Any, mode: str = "constant", value: float | None = None) -> Any:
    """Pad a tensor on the sides of its last dimensions.

    Parameters
    ----------
    input : Tensor. Of any shape for ``"constant"``; for the other modes with one or two dimensions,
        which are batch and channels, before those that are padded.
    pad : sequence of int. Widths before and after, from the last dimension on. Negative ones cut.
    mode : {"constant", "reflect", "replicate", "circular"}. Whether the frame consists of a number,
        of the tensor reflected at its edge (which is not repeated), of its edge, or of its other
        end.
    value : number, optional. The number, for ``"constant"``; 0 by default.

    Returns
    -------
    Tensor: A copy; differentiable, to any order.

    Raises
    ------
    RuntimeError: If the widths do not fit the tensor.
    NotImplementedError: For other modes, and for other numbers of dimensions than 1 to 3 in those
        modes.

    Examples
    --------
    >>> x = wg.tensor([[1.0, 2.0, 3.0]])
    >>> wg.nn.functional.pad(x, (1, 1)), wg.nn.functional.pad(x, (2, 1), mode="reflect")
    (tensor([[0., 1., 2., 3., 0.]]), tensor([[3., 2., 1., 2., 3., 2.]]))
    """
    x, widths = operand(input, "pad"), _widths(pad)
    shape = x._payload.shape
    if len(widths) % 2:
        raise RuntimeError(
            f"Padding length must be divisible by 2, but there are {len(widths)} widths"
        )
    if len(widths) > 2 * len(shape):
        raise RuntimeError(
            "Padding length should be less than or equal to two times the input dimension but got "
            f"padding length {len(widths)} and input of dimension {len(shape)}"
        )
    if mode == "constant":
        return _constant(x, widths, 0 if value is None else number(value, "pad", "value"))
    if mode not in _RECORDS:
        raise NotImplementedError(
            f"Unrecognised padding mode {mode}: use constant, reflect, replicate or circular"
        )
    if value is not None and value != 0:
        raise RuntimeError(f'Padding mode "{mode}" doesn\'t take in value argument: it got {value}')
    count = len(widths) // 2
    if not 1 <= count <= 3 or len(shape) not in (count + 1, count + 2):
        raise NotImplementedError(
            f"Padding size {len(widths)} is not supported for {len(shape)}D input tensor. In modes "
            "other than 'constant' one, two or three dimensions are padded, after one of channels "
            "and possibly one of the batch"
        )
    if x._payload.dtype.kind == "b" and mode != "circular":
        raise not_implemented(
            f"{_RECORDS[mode]}{count}d", x._payload.dtype, "convert the tensor first"
        )
    pairs, first = _pairs(widths, len(shape)), len(shape) - count
    if mode != "circular" and 0 in shape[first - 1 :]:
        raise RuntimeError(
            f"Expected {count + 1}D or {count + 2}D (batch mode) tensor with possibly 0 batch size "
            f"and other non-zero dimensions for input, but got: {list(shape)}"
        )
    for dim in range(first, len(shape)):
        before, after = pairs[dim]
        n = shape[dim]
        if mode == "reflect" and (before >= n or after >= n):
            raise RuntimeError(
                "Argument #4: Padding size should be less than the corresponding input dimension, "
                f"but got: padding ({before}, {after}) at dimension {dim} of input {list(shape)}"
            )
        left = n + before + after
        if mode == "circular" and left < 0:
            raise RuntimeError(
                "Negative padding value is resulting in an empty dimension: padding "
                f"({before}, {after}) at dimension {dim} of input {list(shape)}"
            )
        if mode == "circular" and max(before, after) > n + min(before, 0) + min(after, 0):
            raise RuntimeError(
                "Padding value causes wrapping around more than once: padding "
                f"({before}, {after}) at dimension {dim} of input {list(shape)}"
            )
        if mode != "circular" and left < 1:
            raise RuntimeError(
                f"input ({'DHW'[dim - len(shape)]}: {n}) is too small. Calculated output "
                f"{'DHW'[dim - len(shape)]}: {left}, with padding ({before}, {after})"
            )
    return getattr(T, _RECORDS[mode])(x, pads=pairs, mode=mode)


def _pixels(input: Any, factor: Any, function: str, argument: str) -> tuple[Any, int]:
    """Return the checked arguments of `pixel_shuffle` and `pixel_unshuffle`."""
    x, factor = operand(input, function), integer(factor, function, argument)
    ndim = x._payload.ndim
    if ndim < 3:
        raise RuntimeError(
            f"{function} expects input to have at least 3 dimensions, but got input with "
            f"{ndim} dimension(s)"
        )
    if factor <= 0:
        raise RuntimeError(f"{function} expects a positive {argument}, but got {factor}")
    return x, factor


@export("wengert", "nn.functional")
def pixel_shuffle(input: Any, upscale_factor: int) -> Any:
    """Rearrange channels into pixels: (..., c·r², h, w) becomes (..., c, h·r, w·r).

    Parameters
    ----------
    %(volumes)s
    upscale_factor : int. The factor r.

    %(returns_differentiable)s

    Raises
    ------
    RuntimeError: If the number of channels is not divisible by r².

    Examples
    --------
    >>> wg.nn.functional.pixel_shuffle(wg.arange(4.0).reshape(4, 1, 1), 2)
    tensor([[[0., 1.],
             [2., 3.]]])
    """
    x, r = _pixels(input, upscale_factor, "pixel_shuffle", "upscale_factor")
    shape = x._payload.shape
    if shape[-3] % (r * r):
        raise RuntimeError(
            "pixel_shuffle expects its input's 'channel' dimension to be divisible by the square "
            f"of upscale_factor, but input.size(-3)={shape[-3]} is not divisible by {r * r}"
        )
    return T.pixel_shuffle(x, upscale_factor=r)


@export("wengert", "nn.functional")
def pixel_unshuffle(input: Any, downscale_factor: int) -> Any:
    """Rearrange pixels into channels: (..., c, h·r, w·r) becomes (..., c·r², h, w).

    Parameters
    ----------
    %(volumes)s
    downscale_factor : int. The factor r.

    %(returns_differentiable)s

    Raises
    ------
    RuntimeError: If height or width is not divisible by r.

    Examples
    --------
    >>> wg.nn.functional.pixel_unshuffle(wg.arange(4.0).reshape(1, 2, 2), 2).shape
    torch.Size([4, 1, 1])
    """
    x, r = _pixels(input, downscale_factor, "pixel_unshuffle", "downscale_factor")
    shape = x._payload.shape
    for name, place in (("height", -2), ("width", -1)):
        if shape[place] % r:
            raise RuntimeError(
                f"pixel_unshuffle expects {name} to be divisible by downscale_factor, but "
                f"input.size({place})={shape[place]} is not divisible by {r}"
            )
    return T.pixel_unshuffle(x, downscale_factor=r)


@export("wengert", "nn.functional")
def channel_shuffle(input: Any, groups: int) -> Any:
    """Interleave groups of channels: the first of each group, then the second, and so on.

    Parameters
    ----------
    input : Tensor. Of shape (n, c, ...).
    groups : int. The number of groups, which divides c.

    %(returns_differentiable)s

    Raises
    ------
    RuntimeError: If the channels cannot be divided so.

    Examples
    --------
    >>> wg.nn.functional.channel_shuffle(wg.arange(4).reshape(1, 4, 1), 2).flatten()
    tensor([0, 2, 1, 3])
    """
    x = operand(input, "channel_shuffle")
    shape = x._payload.shape
    if len(shape) < 3:
        raise RuntimeError(
            f"channel_shuffle expects input with > 2 dims, but got input with sizes {list(shape)}"
        )
    parts = integer(groups, "channel_shuffle", "groups")
    if parts <= 0:
        raise RuntimeError(
            f"Number of groups to divide channels in must be positive. Value of groups:{parts}"
        )
    if shape[1] % parts:
        raise RuntimeError(
            "Number of channels must be divisible by groups. Got "
            f"{shape[1]} channels and {parts} groups."
        )
    return T.channel_shuffle(x, groups=parts)


@export("wengert", "nn.functional")
def native_channel_shuffle(input: Any, groups: int) -> Any:
    """`channel_shuffle` by another name.

    Examples
    --------
    >>> wg.native_channel_shuffle(wg.arange(4).reshape(1, 4, 1), 2).flatten()
    tensor([0, 2, 1, 3])
    """
    return channel_shuffle(input, groups)


@export("nn.functional")
def one_hot(tensor: Any, num_classes: int = -1) -> Any:
    """Return the one-hot encoding of classes.

    Parameters
    ----------
    tensor : Tensor. Classes, int64, of any shape.
    num_classes : int. The number of classes; -1: one more than the largest class in the input.

    Returns
    -------
    Tensor: int64, with one dimension more; never requires a gradient.

    Raises
    ------
    RuntimeError: If a class is negative or too large, or the dtype is another.

    Examples
    --------
    >>> wg.nn.functional.one_hot(wg.tensor([0, 2]))
    tensor([[1, 0, 0],
            [0, 0, 1]])
    """
    given = operand(tensor, "one_hot", "tensor")
    x = given._payload
    if x.dtype != np.int64:
        raise RuntimeError(
            "one_hot is only applicable to index tensor of type LongTensor, but got "
            f"{x.dtype}: convert it with .long()"
        )
    count = integer(num_classes, "one_hot", "num_classes")
    if not x.size:
        if count <= 0:
            raise RuntimeError(
                "Can not infer total number of classes from empty tensor: pass num_classes"
            )
        return placed(given, np.zeros((*x.shape, count), np.int64))
    if not are_within(x, count):
        if x.min() < 0:
            raise RuntimeError(f"Class values must be non-negative, but the least is {x.min()}")
        if count != -1:
            raise RuntimeError(
                "Class values must be smaller than num_classes, but the largest is "
                f"{x.max()} of {count} classes"
            )
        count = int(x.max()) + 1
    same = T.eq(T.unsqueeze(new_tensor(x), dim=x.ndim), placed(given, np.arange(count)))
    return T.to_copy(same, dtype=np.dtype(np.int64))
