"""Layer 9 · compat: ``tf.image``: image preprocessing.

Images are tensors of shape (height, width, channels), or batches of them.

>>> tf.image.resize(tf.ones([4, 6, 3]), [2, 3]).shape
TensorShape([2, 3, 3])
"""

from __future__ import annotations

import inspect
from typing import Any

import numpy as np

import wengert as wg
from wengert.compat.kit.signatures import named
from wengert.compat.tensorflow import math, nn, operations
from wengert.compat.tensorflow.functions import values as V
from wengert.compat.tensorflow.functions.convolutions import extent_of, padding_of
from wengert.compat.tensorflow.functions.drawing import stateless, uniforms
from wengert.compat.tensorflow.words import public, refusal


class ResizeMethod:
    """The names of the interpolation methods."""

    BILINEAR = "bilinear"
    BICUBIC = "bicubic"
    LANCZOS3 = "lanczos3"
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
    method : {"bilinear", "bicubic", "lanczos3", "nearest"}. The interpolation method.
    preserve_aspect_ratio : bool. Whether to preserve the ratio of height and width.
    antialias : bool. Whether filters widen as images shrink; of no effect for ``"nearest"``.

    Returns
    -------
    Tensor: The resized images, in float32, or in the dtype of `images` for ``"nearest"``;
        differentiable.

    Raises
    ------
    ValueError: If `method` is not supported, or shrinks images by ``"bicubic"`` or ``"lanczos3"``
        without `antialias`.
    """
    x = V.tensor_of(images)
    height, width = V.integers(size, "size")
    shape = tuple(x._payload.shape)
    if preserve_aspect_ratio:
        scale = min(height / shape[-3], width / shape[-2])
        height, width = round(shape[-3] * scale), round(shape[-2] * scale)
    mode = _MODES.get(method)
    nearest = mode == "nearest"
    # while images grow, filters are the same with and without antialiasing
    wide = bool(antialias) or mode != "bilinear"
    shrinks = height < shape[-3] or width < shape[-2]
    if mode is None or (not nearest and wide and not antialias and shrinks):
        raise refusal(
            ValueError, "tf.image.resize(method={!r}, antialias={}) is", method, antialias
        )
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
                moved, size=(height, width), mode=mode, antialias=wide
            )
            found = wg.permute(moved, (0, 2, 3, 1))
        return wg.reshape(found, (*shape[:-3], height, width, shape[-1]))

    return V.computed("ResizeBilinear", resized, x)


_MODES: dict[Any, str] = {
    **{name: name for name in ("bilinear", "nearest", "bicubic")},
    **{"lanczos3": "lanczos", 0: "bilinear", 1: "nearest", 2: "bicubic"},
}


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
        x = V.made(V.tensor_of(image))
        shape = tuple(x.shape)[:-3]  # a batch has one number for each image
        drawn = operations.reshape(uniforms(seed, shape, 0.0, 1.0, "float32"), [*shape, 1, 1, 1])
        return operations.where(drawn > 0.5 if shape else drawn < 0.5, flip(x), x)

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
    return adjust_brightness(image, uniforms(seed, (), -max_delta, max_delta, "float32"))


def random_contrast(image, lower: float, upper: float, seed=None) -> Any:
    """Apply `adjust_contrast` with a random factor."""
    return adjust_contrast(image, _between(lower, upper, seed))


def _between(lower: float, upper: float, seed) -> Any:
    if not 0 <= lower < upper:
        raise ValueError("upper must be > lower, and lower must be non-negative.")
    return uniforms(seed, (), lower, upper, "float32")


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
    x, sizes = V.made(V.tensor_of(value)), np.asarray(V.integers(size, "size"))
    limit = np.asarray(tuple(x.shape)) - sizes + 1
    if (limit < 1).any():
        raise ValueError("Need value.shape >= size")
    drawn = uniforms(seed, limit.shape, 0, np.iinfo(np.int32).max, "int32")
    return operations.slice(x, V.numbers_of(drawn) % limit, sizes)


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
    return adjust_hue(image, uniforms(seed, (), -max_delta, max_delta, "float32"))


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


def _compared(a, b, max_val, size: int, sigma: float, k1: float, k2: float) -> Any:
    """Return the structural similarity of windows, and its part without luminance."""
    distance = np.arange(size) - (size - 1) / 2
    row = np.exp(-(distance**2) / (2 * sigma**2))
    window = np.outer(row, row) / row.sum() ** 2
    wide = np.broadcast_to(window[..., None, None], (size, size, tuple(a.shape)[-1], 1))

    def blurred(x) -> Any:
        flat = operations.reshape(x, [-1, *tuple(x.shape)[-3:]])
        result = nn.depthwise_conv2d(flat, wide.astype(np.float32), [1, 1, 1, 1], "VALID")
        return operations.reshape(result, [*tuple(x.shape)[:-3], *tuple(result.shape)[1:]])

    c1, c2 = ((k * max_val) ** 2 for k in (k1, k2))
    mean_a, mean_b = blurred(a), blurred(b)
    product, squares = 2.0 * mean_a * mean_b, mean_a**2 + mean_b**2
    rest = (2.0 * blurred(a * b) - product + c2) / (blurred(a**2 + b**2) - squares + c2)
    return (product + c1) / (squares + c1) * rest, rest


def _of_one_scale(img1, img2, max_val) -> Any:
    """Return two images as float32, and their greatest value in the same scale."""
    a, b = (convert_image_dtype(image, "float32") for image in (img1, img2))
    kind = V.made(V.tensor_of(img1)).dtype
    return a, b, float(convert_image_dtype(operations.cast(max_val, kind), "float32"))


def ssim(
    img1,
    img2,
    max_val,
    filter_size=11,
    filter_sigma=1.5,
    k1=0.01,
    k2=0.03,
    return_index_map=False,
) -> Any:
    """Return the structural similarity of images (Wang and others, 2004); differentiable.

    Parameters
    ----------
    img1, img2 : Tensor. The images, of one shape (..., height, width, channels).
    max_val : number. The greatest value of a pixel.
    filter_size, filter_sigma : int, float. The size and the width of the Gaussian windows.
    k1, k2 : float. Small numbers that bound the quotients.
    return_index_map : bool. Whether to return the similarity of each window.

    Examples
    --------
    >>> print(tf.image.ssim(tf.ones([11, 11, 1]), tf.ones([11, 11, 1]), 1.0).numpy().round(2))
    1.0
    """
    a, b, top = _of_one_scale(img1, img2, max_val)
    found, _ = _compared(a, b, top, filter_size, filter_sigma, k1, k2)
    return operations.reduce_mean(found, axis=[-1] if return_index_map else [-3, -2, -1])


def ssim_multiscale(
    img1,
    img2,
    max_val,
    power_factors=(0.0448, 0.2856, 0.3001, 0.2363, 0.1333),
    filter_size=11,
    filter_sigma=1.5,
    k1=0.01,
    k2=0.03,
) -> Any:
    """Return the product of powers of the structural similarity at several scales (see `ssim`)."""
    a, b, top = _of_one_scale(img1, img2, max_val)
    result: Any = 1.0
    for i, power in enumerate(power_factors):
        if i:
            a, b = map(_halved, (a, b))
        found = _compared(a, b, top, filter_size, filter_sigma, k1, k2)
        part = found[0] if i == len(power_factors) - 1 else found[1]
        result = result * nn.relu(operations.reduce_mean(part, axis=[-3, -2])) ** power
    return operations.reduce_mean(result, axis=-1)


def _halved(image) -> Any:
    """Return the means of blocks of 2 by 2; an odd last row or column counts twice."""
    shape = tuple(image.shape)
    pads = [[0, 0], *([0, n % 2] for n in shape[-3:-1]), [0, 0]]
    whole = operations.pad(operations.reshape(image, [-1, *shape[-3:]]), pads, "SYMMETRIC")
    result = nn.avg_pool2d(whole, 2, 2, "VALID")
    return operations.reshape(result, [*shape[:-3], *tuple(result.shape)[1:]])


def image_gradients(image) -> Any:
    """Return the differences of neighbors, downwards and to the right, of a batch of images.

    Examples
    --------
    >>> down, right = tf.image.image_gradients(tf.constant([[[[1.0], [4.0]]]]))
    >>> print(down.numpy().ravel(), right.numpy().ravel())
    [0. 0.] [3. 0.]
    """
    x, none = V.made(V.tensor_of(image)), [0, 0]
    down, right = x[:, 1:] - x[:, :-1], x[:, :, 1:] - x[:, :, :-1]
    pads = [none, [0, 1], none, none], [none, none, [0, 1], none]
    return tuple(operations.pad(*pair) for pair in zip((down, right), pads, strict=True))


def sobel_edges(image) -> Any:
    """Return Sobel's derivatives of a batch of images, downwards and to the right, in a new last
    dimension.
    """
    x = V.made(V.tensor_of(image))
    down = np.outer([-1, 0, 1], [1, 2, 1])
    kernel = np.stack([down, down.T], -1)[:, :, None].repeat(tuple(x.shape)[-1], 2)
    whole = operations.pad(x, [[0, 0], [1, 1], [1, 1], [0, 0]], "REFLECT")
    kernel = kernel.astype(x.dtype.as_numpy_dtype)
    edges = nn.depthwise_conv2d(whole, kernel, [1, 1, 1, 1], "VALID")
    return operations.reshape(edges, [*tuple(x.shape), 2])


def extract_patches(images, sizes, strides, rates, padding, name=None) -> Any:
    """Return the windows of a batch of images, each as one row of channels.

    Examples
    --------
    >>> x = tf.reshape(tf.range(16), [1, 4, 4, 1])
    >>> blocks = tf.image.extract_patches(x, [1, 2, 2, 1], [1, 2, 2, 1], [1, 1, 1, 1], "VALID")
    >>> blocks.numpy()[0, 0].tolist()
    [[0, 1, 4, 5], [2, 3, 6, 7]]
    """
    x = V.made(V.tensor_of(images))
    size, step, rate = (V.integers(given)[1:3] for given in (sizes, strides, rates))
    extent = extent_of(size, rate)
    pairs = padding_of(padding, tuple(x.shape)[1:3], extent, step, False)
    x = operations.pad(x, [[0, 0], *pairs, [0, 0]])
    for i, axis in ((0, 1), (1, 3)):
        count = (tuple(x.shape)[axis] - extent[i]) // step[i] + 1
        places = step[i] * np.arange(count)[:, None] + rate[i] * np.arange(size[i])
        x = operations.gather(x, places, axis=axis)
    x = operations.transpose(x, [0, 1, 3, 2, 4, 5])
    return operations.reshape(x, [*tuple(x.shape)[:3], -1])


def _linear(from_to: str, matrix: Any) -> Any:
    first, second = from_to.split("_to_")

    def convert(images) -> Any:
        x = _floats(images)
        return operations.tensordot(x, matrix.astype(x.dtype.as_numpy_dtype), 1)

    return named(convert, from_to, f"Convert {first.upper()} to {second.upper()}.")


_LUMA = [0.299, 0.587, 0.114]
_YUV = [_LUMA, [-0.14714119, -0.28886916, 0.43601035], [0.61497538, -0.51496512, -0.10001026]]
_YIQ = [_LUMA, [0.59590059, -0.27455667, -0.32134392], [0.21153661, -0.52273617, 0.31119955]]
for _name, _matrix in (("yuv", np.transpose(_YUV)), ("yiq", np.transpose(_YIQ))):
    globals()[f"rgb_to_{_name}"] = _linear(f"rgb_to_{_name}", _matrix)
    globals()[f"{_name}_to_rgb"] = _linear(f"{_name}_to_rgb", np.linalg.inv(_matrix))


def _stateless(function: Any) -> Any:
    signature = inspect.signature(function)

    def drawn(*args, **kwargs) -> Any:
        given = signature.bind(*args, **kwargs).arguments
        return function(**given | {"seed": stateless(given["seed"])})

    name = function.__name__
    drawn.__signature__ = signature  # type: ignore[attr-defined]
    return named(drawn, f"stateless_{name}", f"Compute `{name}` from a pair of seeds.")


for _name in [name for name in globals() if name.startswith("random_")]:
    globals()[f"stateless_{_name}"] = _stateless(globals()[_name])


__all__ = public(globals())
