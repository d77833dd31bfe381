"""Layer 9 · compat: ``tf.image``: what programs do with pictures before they learn from them.

Pictures are tensors of shape (height, width, channels), or of several such.

>>> tf.image.resize(tf.ones([4, 6, 3]), [2, 3]).shape
TensorShape([2, 3, 3])
"""

from __future__ import annotations

from typing import Any

import numpy as np

import wengert as wg
from wengert.base.sections import fill_sections
from wengert.compat.kit.namespaces import defined
from wengert.compat.tensorflow import operations
from wengert.compat.tensorflow.functions import values as V
from wengert.compat.tensorflow.functions.drawing import stream_of
from wengert.compat.tensorflow.refusal import refusing


class ResizeMethod:
    """Names of the ways to resize."""

    BILINEAR = "bilinear"
    NEAREST_NEIGHBOR = "nearest"


def _floats(image) -> Any:
    x = V.made(V.tensor_of(image))
    return x if x.dtype.is_floating else operations.cast(x, "float32")


def resize(
    images,
    size,
    method=ResizeMethod.BILINEAR,
    preserve_aspect_ratio: bool = False,
    antialias: bool = False,
    name=None,
) -> Any:
    """Pictures in another size.

    Parameters
    ----------
    images : Tensor. Of shape (..., height, width, channels).
    size : sequence of int. The new height and width.
    method : {"bilinear", "nearest"}. How pixels are made of others.
    preserve_aspect_ratio : bool. Whether the sizes stay in proportion.
    antialias : bool. Not offered.

    Returns
    -------
    Tensor: Of float32, or of the dtype of the images for ``"nearest"``; differentiable.

    Raises
    ------
    ValueError: If another way is asked for.
    """
    x = V.tensor_of(images)
    height, width = V.integers(size, "size")
    if method not in ("bilinear", "nearest", 0, 1) or (antialias and method not in ("nearest", 1)):
        raise ValueError(
            f"tf.image.resize(method={method!r}, antialias={antialias}) is not "
            "offered here: method is 'bilinear' or 'nearest', without antialias"
        )
    shape = tuple(x._payload.shape)
    if preserve_aspect_ratio:
        scale = min(height / shape[-3], width / shape[-2])
        height, width = round(shape[-3] * scale), round(shape[-2] * scale)
    nearest = method in ("nearest", 1)
    if not nearest and V.kind_of(x) != "f":
        x = V.tensor_of(operations.cast(V.made(x), "float32"))

    def resized(x) -> Any:
        flat = wg.reshape(x, (-1, *shape[-3:]))
        if nearest:
            rows, columns = _nearest(shape[-3], height), _nearest(shape[-2], width)
            found = wg.index_select(wg.index_select(flat, 1, rows), 2, columns)
        else:
            moved = wg.permute(flat, (0, 3, 1, 2))
            moved = wg.nn.functional.interpolate(
                moved, size=(height, width), mode="bilinear", align_corners=False
            )
            found = wg.permute(moved, (0, 2, 3, 1))
        return wg.reshape(found, (*shape[:-3], height, width, shape[-1]))

    return V.computed("ResizeBilinear", resized, x)


def _nearest(old: int, new: int) -> Any:
    places = np.floor((np.arange(new) + 0.5) * (old / new)).astype(np.int64)
    return wg.tensor(np.minimum(places, old - 1))


def convert_image_dtype(image, dtype, saturate: bool = False, name=None) -> Any:
    """A picture in another dtype: floating numbers lie in [0, 1], whole ones in their range.

    Examples
    --------
    >>> float(tf.image.convert_image_dtype(tf.constant(255, tf.uint8), tf.float32))
    1.0
    """
    x, kind = V.made(V.tensor_of(image)), V.dtype_of(dtype)
    given = x.dtype.as_numpy_dtype
    if x.dtype.dtype == kind:
        return x
    if x.dtype.is_integer and kind.kind in "iu":
        raise ValueError(
            "convert_image_dtype between types of whole numbers is not offered here: go by way of "
            "tf.float32"
        )
    if x.dtype.is_integer:
        return operations.multiply(operations.cast(x, kind), 1.0 / np.iinfo(given).max)
    if kind.kind == "f":
        return operations.cast(x, kind)
    scale = np.iinfo(kind).max + 0.5
    scaled = operations.multiply(x, scale)
    return operations.saturate_cast(scaled, kind) if saturate else operations.cast(scaled, kind)


def _flipped(name: str, words: str, axis: int) -> Any:
    def flip(image, name=None) -> Any:
        return operations.reverse(image, axis=[axis])

    def chance(image, seed=None) -> Any:
        return flip(image) if stream_of(seed).random() < 0.5 else V.made(V.tensor_of(image))

    flip.__name__ = flip.__qualname__ = f"flip_{name}"
    flip.__doc__ = f"Pictures, {words}."
    chance.__name__ = chance.__qualname__ = f"random_flip_{name}"
    chance.__doc__ = f"Pictures, {words} half of the time."
    return flip, chance


flip_left_right, random_flip_left_right = _flipped("left_right", "left and right exchanged", -2)
flip_up_down, random_flip_up_down = _flipped("up_down", "top and bottom exchanged", -3)


def transpose(image, name=None) -> Any:
    """Pictures with rows and columns exchanged."""
    order = list(range(len(V.made(V.tensor_of(image)).shape)))
    order[-3], order[-2] = order[-2], order[-3]
    return operations.transpose(image, order)


def rot90(image, k: int = 1, name=None) -> Any:
    """Pictures, turned by a quarter against the clock, `k` times.

    Examples
    --------
    >>> tf.image.rot90(tf.constant([[[1], [2]], [[3], [4]]])).numpy()[..., 0].tolist()
    [[2, 4], [1, 3]]
    """
    result = V.made(V.tensor_of(image))
    for _ in range(k % 4):
        result = operations.reverse(transpose(result), axis=[-3])
    return result


def adjust_brightness(image, delta) -> Any:
    """A picture with a number added, on the scale from 0 to 1."""
    return _scaled(image, lambda x: operations.add(x, float(delta)))


def adjust_contrast(images, contrast_factor) -> Any:
    """Pictures whose distance from their mean, in each channel, is multiplied."""

    def adjusted(x) -> Any:
        mean = operations.reduce_mean(x, axis=[-3, -2], keepdims=True)
        return (x - mean) * float(contrast_factor) + mean

    return _scaled(images, adjusted)


def _scaled(image, function) -> Any:
    """A function of a picture of floating numbers; the result has the dtype of the picture."""
    x = V.made(V.tensor_of(image))
    if x.dtype.is_floating:
        return function(x)
    scaled = function(convert_image_dtype(x, "float32"))
    return convert_image_dtype(scaled, x.dtype, saturate=True)


def random_brightness(image, max_delta: float, seed=None) -> Any:
    """`adjust_brightness` by chance."""
    if max_delta < 0:
        raise ValueError("max_delta must be non-negative.")
    return adjust_brightness(image, stream_of(seed).uniform(-max_delta, max_delta))


def random_contrast(image, lower: float, upper: float, seed=None) -> Any:
    """`adjust_contrast` by chance."""
    if not 0 <= lower < upper:
        raise ValueError("upper must be > lower, and lower must be non-negative.")
    return adjust_contrast(image, stream_of(seed).uniform(lower, upper))


def _cut(image, top: int, left: int, height: int, width: int) -> Any:
    return V.made(V.tensor_of(image))[..., top : top + height, left : left + width, :]


def crop_to_bounding_box(image, offset_height, offset_width, target_height, target_width) -> Any:
    """A part of pictures.

    Raises
    ------
    ValueError: If it lies outside of them.
    """
    numbers = [V.integers(n, "box")[0] for n in (offset_height, offset_width)]
    sizes = [V.integers(n, "box")[0] for n in (target_height, target_width)]
    shape = tuple(V.made(V.tensor_of(image)).shape)[-3:-1]
    for place, size, whole in zip(numbers, sizes, shape, strict=True):
        if place < 0 or size <= 0 or place + size > whole:
            raise ValueError("the box must lie within the image")
    return _cut(image, *numbers, *sizes)


def pad_to_bounding_box(image, offset_height, offset_width, target_height, target_width) -> Any:
    """Pictures with zeros around them."""
    x = V.made(V.tensor_of(image))
    shape = tuple(x.shape)
    pads = [(0, 0)] * (len(shape) - 3)
    for offset, target, size in (
        (offset_height, target_height, shape[-3]),
        (offset_width, target_width, shape[-2]),
    ):
        before = V.integers(offset, "box")[0]
        after = V.integers(target, "box")[0] - before - size
        if before < 0 or after < 0:
            raise ValueError("the image must lie within the box")
        pads.append((before, after))
    return operations.pad(x, [*pads, (0, 0)])


def resize_with_crop_or_pad(image, target_height, target_width) -> Any:
    """Pictures cut, or padded with zeros, around their middle."""
    x = V.made(V.tensor_of(image))
    height, width = tuple(x.shape)[-3:-1]
    wanted = V.integers(target_height, "size")[0], V.integers(target_width, "size")[0]
    cut = [min(n, m) for n, m in zip((height, width), wanted, strict=True)]
    x = _cut(x, (height - cut[0]) // 2, (width - cut[1]) // 2, *cut)
    top, left = ((m - n) // 2 for n, m in zip(cut, wanted, strict=True))
    return pad_to_bounding_box(x, top, left, *wanted)


def resize_with_pad(
    image, target_height, target_width, method=ResizeMethod.BILINEAR, antialias: bool = False
) -> Any:
    """Pictures in another size, in proportion, with zeros around them.

    Examples
    --------
    >>> tf.image.resize_with_pad(tf.ones([4, 2, 1]), 8, 8).shape
    TensorShape([8, 8, 1])
    """
    height, width = tuple(V.tensor_of(image)._payload.shape)[-3:-1]
    wanted = V.integers(target_height, "size")[0], V.integers(target_width, "size")[0]
    ratio = max(height / wanted[0], width / wanted[1])
    size = (int(height / ratio), int(width / ratio))
    return resize_with_crop_or_pad(resize(image, size, method, antialias=antialias), *wanted)


def central_crop(image, central_fraction: float) -> Any:
    """The middle of pictures.

    Raises
    ------
    ValueError: If the share is not in (0, 1].
    """
    share = float(central_fraction)
    if not 0 < share <= 1:
        raise ValueError("central_fraction must be within (0, 1]")
    height, width = tuple(V.made(V.tensor_of(image)).shape)[-3:-1]
    top, left = (int((n - n * share) / 2) for n in (height, width))
    return _cut(image, top, left, height - 2 * top, width - 2 * left)


def random_crop(value, size, seed=None, name=None) -> Any:
    """A part of a tensor, of this size, at a place by chance."""
    x, sizes = V.made(V.tensor_of(value)), V.integers(size, "size")
    stream = stream_of(seed)
    places = []
    for whole, part in zip(tuple(x.shape), sizes, strict=True):
        if part > whole:
            raise ValueError("Need value.shape >= size")
        start = int(stream.integers(whole - part + 1))
        places.append(slice(start, start + part))
    return x[tuple(places)]


def rgb_to_grayscale(images, name=None) -> Any:
    """Pictures with one channel of brightness.

    Examples
    --------
    >>> tf.image.rgb_to_grayscale(tf.ones([2, 2, 3])).shape
    TensorShape([2, 2, 1])
    """
    weights = np.asarray([[0.2989], [0.587], [0.114]], np.float32)
    return _scaled(images, lambda x: operations.tensordot(x, weights.astype(x.dtype.dtype), 1))


def grayscale_to_rgb(images, name=None) -> Any:
    """Pictures with the same brightness in three channels."""
    return operations.concat([images] * 3, -1)


def per_image_standardization(image) -> Any:
    """Pictures with mean 0 and variance 1, each by itself."""
    x = _floats(image)
    count = int(np.prod(tuple(x.shape)[-3:]))
    mean = operations.reduce_mean(x, axis=[-3, -2, -1], keepdims=True)
    centred = x - mean
    spread = operations.sqrt(operations.reduce_mean(centred**2, axis=[-3, -2, -1], keepdims=True))
    return centred / operations.maximum(spread, 1.0 / float(np.sqrt(count)))


def total_variation(images, name=None) -> Any:
    """The sum of the differences of neighbours.

    Examples
    --------
    >>> float(tf.image.total_variation(tf.constant([[[0.0], [1.0]], [[3.0], [1.0]]])))
    6.0
    """
    x = V.made(V.tensor_of(images))
    down = operations.abs(x[..., 1:, :, :] - x[..., :-1, :, :])
    right = operations.abs(x[..., :, 1:, :] - x[..., :, :-1, :])
    return sum(operations.reduce_sum(part, axis=[-3, -2, -1]) for part in (down, right))


__getattr__ = refusing("image")


__all__ = defined(globals())
fill_sections(globals())
