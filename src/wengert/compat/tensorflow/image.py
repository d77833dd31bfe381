"""Layer 9 · compat: ``tf.image``: image preprocessing.

Images are tensors of shape (height, width, channels), or batches of them.

>>> tf.image.resize(tf.ones([4, 6, 3]), [2, 3]).shape
TensorShape([2, 3, 3])
"""

from __future__ import annotations

from typing import Any

import numpy as np

import wengert as wg
from wengert.compat.kit.signatures import named
from wengert.compat.tensorflow import math, operations
from wengert.compat.tensorflow.functions import values as V
from wengert.compat.tensorflow.functions.drawing import stream_of
from wengert.compat.tensorflow.words import completed, refusal


class ResizeMethod:
    """The names of the interpolation methods."""

    BILINEAR = "bilinear"
    NEAREST_NEIGHBOR = "nearest"


def _floats(image) -> Any:
    x = V.made(V.tensor_of(image))
    return x if x.dtype.is_floating else operations.cast(x, "float32")


def resize(
    images,
    size,
    method=ResizeMethod.BILINEAR,
    preserve_aspect_ratio=False,
    antialias=False,
    name=None,
) -> Any:
    """Resize images.

    Parameters
    ----------
    images : Tensor. The images, of shape (..., height, width, channels).
    size : sequence of int. The new height and width.
    method : {"bilinear", "nearest"}. The interpolation method.
    preserve_aspect_ratio : bool. Whether to preserve the ratio of height and width.
    antialias : bool. Not offered.

    Returns
    -------
    Tensor: The resized images, in float32, or in the dtype of `images` for ``"nearest"``;
        differentiable.

    Raises
    ------
    ValueError: If `method` or `antialias` is not supported.
    """
    x = V.tensor_of(images)
    height, width = V.integers(size, "size")
    if method not in ("bilinear", "nearest", 0, 1) or (antialias and method not in ("nearest", 1)):
        raise refusal(
            ValueError, "tf.image.resize(method={!r}, antialias={}) is", method, antialias
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


def convert_image_dtype(image, dtype, saturate=False, name=None) -> Any:
    """Convert an image to another dtype: floats in [0, 1], integers in the range of their dtype.

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
        raise refusal(ValueError, "convert_image_dtype between types")
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

    named(chance, f"random_flip_{name}", f"Flip images {words} with probability 1/2.")
    return named(flip, f"flip_{name}", f"Flip images {words}."), chance


flip_left_right, random_flip_left_right = _flipped("left_right", "left to right", -2)
flip_up_down, random_flip_up_down = _flipped("up_down", "top to bottom", -3)


def transpose(image, name=None) -> Any:
    """Transpose the rows and columns of images."""
    order = list(range(len(V.made(V.tensor_of(image)).shape)))
    order[-3], order[-2] = order[-2], order[-3]
    return operations.transpose(image, order)


def rot90(image, k=1, name=None) -> Any:
    """Rotate images by 90 degrees counterclockwise, `k` times.

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
    """Add `delta` to the pixels, on a scale from 0 to 1."""
    return _scaled(image, lambda x: x + _alike(delta, x))


def adjust_contrast(images, contrast_factor) -> Any:
    """Scale the deviations of the pixels from their channel means."""

    def adjusted(x) -> Any:
        mean = operations.reduce_mean(x, axis=[-3, -2], keepdims=True)
        return (x - mean) * _alike(contrast_factor, x) + mean

    return _scaled(images, adjusted)


def _alike(value, x) -> Any:
    """Return a number or a tensor in the dtype of `x`."""
    return operations.cast(value, x.dtype)


def _scaled(image, function) -> Any:
    """Wrap a function of a floating-point image to return the dtype of its argument."""
    x = V.made(V.tensor_of(image))
    if x.dtype.is_floating:
        return function(x)
    scaled = function(convert_image_dtype(x, "float32"))
    return convert_image_dtype(scaled, x.dtype, saturate=True)


def random_brightness(image, max_delta: float, seed=None) -> Any:
    """Apply `adjust_brightness` with a random amount."""
    if max_delta < 0:
        raise ValueError("max_delta must be non-negative.")
    return adjust_brightness(image, stream_of(seed).uniform(-max_delta, max_delta))


def random_contrast(image, lower: float, upper: float, seed=None) -> Any:
    """Apply `adjust_contrast` with a random factor."""
    return adjust_contrast(image, _between(lower, upper, seed))


def _between(lower: float, upper: float, seed) -> Any:
    if not 0 <= lower < upper:
        raise ValueError("upper must be > lower, and lower must be non-negative.")
    return stream_of(seed).uniform(lower, upper)


def _cut(image, top: int, left: int, height: int, width: int) -> Any:
    return V.made(V.tensor_of(image))[..., top : top + height, left : left + width, :]


def crop_to_bounding_box(image, offset_height, offset_width, target_height, target_width) -> Any:
    """Crop images to a box.

    Raises
    ------
    ValueError: If the box is not inside the image.
    """
    numbers = [V.integer(n, "box") for n in (offset_height, offset_width)]
    sizes = [V.integer(n, "box") for n in (target_height, target_width)]
    shape = tuple(V.made(V.tensor_of(image)).shape)[-3:-1]
    for place, size, whole in zip(numbers, sizes, shape, strict=True):
        if place < 0 or size <= 0 or place + size > whole:
            raise ValueError("the box must lie within the image")
    return _cut(image, *numbers, *sizes)


def pad_to_bounding_box(image, offset_height, offset_width, target_height, target_width) -> Any:
    """Pad images with zeros to a given size."""
    x = V.made(V.tensor_of(image))
    shape = tuple(x.shape)
    pads = [(0, 0)] * (len(shape) - 3)
    for offset, target, size in (
        (offset_height, target_height, shape[-3]),
        (offset_width, target_width, shape[-2]),
    ):
        before = V.integer(offset, "box")
        after = V.integer(target, "box") - before - size
        if before < 0 or after < 0:
            raise ValueError("the image must lie within the box")
        pads.append((before, after))
    return operations.pad(x, [*pads, (0, 0)])


def resize_with_crop_or_pad(image, target_height, target_width) -> Any:
    """Crop images, or pad them with zeros, around their center."""
    x = V.made(V.tensor_of(image))
    height, width = tuple(x.shape)[-3:-1]
    wanted = V.integer(target_height, "size"), V.integer(target_width, "size")
    cut = [min(n, m) for n, m in zip((height, width), wanted, strict=True)]
    x = _cut(x, (height - cut[0]) // 2, (width - cut[1]) // 2, *cut)
    top, left = ((m - n) // 2 for n, m in zip(cut, wanted, strict=True))
    return pad_to_bounding_box(x, top, left, *wanted)


def resize_with_pad(
    image, target_height, target_width, method=ResizeMethod.BILINEAR, antialias=False
) -> Any:
    """Resize images, preserving the aspect ratio, and pad them with zeros.

    Examples
    --------
    >>> tf.image.resize_with_pad(tf.ones([4, 2, 1]), 8, 8).shape
    TensorShape([8, 8, 1])
    """
    sizes = np.array(V.tensor_of(image)._payload.shape[-3:-1], np.float32)
    wanted = V.integer(target_height, "size"), V.integer(target_width, "size")
    scaled = sizes / np.max(sizes / np.array(wanted, np.float32))
    resized = resize(image, [int(size) for size in scaled], method, antialias=antialias)
    top, left = (int((n - size) / 2) for n, size in zip(wanted, scaled, strict=True))
    return pad_to_bounding_box(resized, top, left, *wanted)


def central_crop(image, central_fraction: float) -> Any:
    """Crop the center of images.

    Raises
    ------
    ValueError: If `central_fraction` is not in (0, 1].
    """
    share = float(central_fraction)
    if not 0 < share <= 1:
        raise ValueError("central_fraction must be within (0, 1]")
    height, width = tuple(V.made(V.tensor_of(image)).shape)[-3:-1]
    top, left = (int((n - n * share) / 2) for n in (height, width))
    return _cut(image, top, left, height - 2 * top, width - 2 * left)


def random_crop(value, size, seed=None, name=None) -> Any:
    """Crop a tensor to a size at a random position."""
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
    """Convert RGB images to one channel of brightness.

    Examples
    --------
    >>> tf.image.rgb_to_grayscale(tf.ones([2, 2, 3])).shape
    TensorShape([2, 2, 1])
    """
    weights = np.asarray([[0.2989], [0.587], [0.114]], np.float32)
    return _scaled(images, lambda x: operations.tensordot(x, weights.astype(x.dtype.dtype), 1))


def grayscale_to_rgb(images, name=None) -> Any:
    """Repeat the single channel three times."""
    return operations.concat([images] * 3, -1)


def per_image_standardization(image) -> Any:
    """Normalize each image to mean 0 and variance 1."""
    x = _floats(image)
    count = int(np.prod(tuple(x.shape)[-3:]))
    mean = operations.reduce_mean(x, axis=[-3, -2, -1], keepdims=True)
    centred = x - mean
    spread = operations.sqrt(operations.reduce_mean(centred**2, axis=[-3, -2, -1], keepdims=True))
    return centred / operations.maximum(spread, 1.0 / float(np.sqrt(count)))


def total_variation(images, name=None) -> Any:
    """Return the sum of the absolute differences of neighboring pixels.

    Examples
    --------
    >>> float(tf.image.total_variation(tf.constant([[[0.0], [1.0]], [[3.0], [1.0]]])))
    6.0
    """
    x = V.made(V.tensor_of(images))
    down = operations.abs(x[..., 1:, :, :] - x[..., :-1, :, :])
    right = operations.abs(x[..., :, 1:, :] - x[..., :, :-1, :])
    return sum(operations.reduce_sum(part, axis=[-3, -2, -1]) for part in (down, right))


# -- colours ---------------------------------------------------------------------------------------


def rgb_to_hsv(images, name=None) -> Any:
    """Convert red, green and blue to hue, saturation and value, all in [0, 1].

    Examples
    --------
    >>> print(tf.image.rgb_to_hsv([[[1.0, 0.5, 0.5]]]).numpy())
    [[[0.  0.5 1. ]]]
    """
    x = V.made(V.tensor_of(images))
    r, g, b = (x[..., i] for i in range(3))
    most, least = operations.reduce_max(x, axis=-1), operations.reduce_min(x, axis=-1)
    width = most - least
    grey = operations.equal(width, 0.0)
    safe = operations.where(grey, operations.ones_like(width), width)
    of_red = ((g - b) / safe) % 6.0
    others = operations.where(most == g, (b - r) / safe + 2.0, (r - g) / safe + 4.0)
    hue = operations.where(most == r, of_red, others) / 6.0
    zero = operations.zeros_like(hue)
    some = operations.where(most > 0.0, most, operations.ones_like(most))
    share = operations.where(most > 0.0, width / some, zero)
    return operations.stack([operations.where(grey, zero, hue), share, most], axis=-1)


def hsv_to_rgb(images, name=None) -> Any:
    """Convert hue, saturation and value to red, green and blue.

    Examples
    --------
    >>> print(tf.image.hsv_to_rgb([[[0.0, 0.5, 1.0]]]).numpy())
    [[[1.  0.5 0.5]]]
    """
    x = V.made(V.tensor_of(images))
    hue, share, value = (x[..., i] for i in range(3))
    parts = []
    for start in (5.0, 3.0, 1.0):
        place = (hue * 6.0 + start) % 6.0
        near = operations.minimum(operations.minimum(place, 4.0 - place), 1.0)
        parts.append(value - value * share * operations.maximum(near, 0.0))
    return operations.stack(parts, axis=-1)


def _recoloured(image, hue, factor) -> Any:
    def changed(x) -> Any:
        h, s, v = operations.unstack(rgb_to_hsv(x), axis=-1)
        s = operations.clip_by_value(s * _alike(factor, s), 0.0, 1.0)
        return hsv_to_rgb(operations.stack([(h + _alike(hue, h)) % 1.0, s, v], axis=-1))

    return _scaled(image, changed)


def adjust_hue(image, delta, name=None) -> Any:
    """Rotate the hue by `delta`."""
    return _recoloured(image, delta, 1.0)


def adjust_saturation(image, saturation_factor, name=None) -> Any:
    """Scale the saturation."""
    return _recoloured(image, 0.0, saturation_factor)


def adjust_gamma(image, gamma=1, gain=1) -> Any:
    """Return ``gain * image ** gamma``."""
    return _scaled(image, lambda x: x ** _alike(gamma, x) * _alike(gain, x))


def random_hue(image, max_delta: float, seed=None) -> Any:
    """Rotate the hue by a random number between ``-max_delta`` and `max_delta`."""
    if not 0 <= max_delta <= 0.5:
        raise ValueError("max_delta must be between 0 and 0.5.")
    return adjust_hue(image, stream_of(seed).uniform(-max_delta, max_delta))


def random_saturation(image, lower: float, upper: float, seed=None) -> Any:
    """Apply `adjust_saturation` with a random factor between `lower` and `upper`."""
    return adjust_saturation(image, _between(lower, upper, seed))


def psnr(a, b, max_val, name=None) -> Any:
    """Return the peak signal-to-noise ratio of each image, in decibels.

    Examples
    --------
    >>> print(tf.image.psnr(tf.zeros([2, 2, 1]), tf.ones([2, 2, 1]), 10.0).numpy())
    20.0
    """
    top, x, y = float(max_val), _floats(a), _floats(b)
    error = operations.reduce_mean((x - y) ** 2, axis=[-3, -2, -1])
    return 20.0 * np.log10(top).item() - math.log(error) * (10.0 / float(np.log(10.0)))


__all__ = completed(globals())
