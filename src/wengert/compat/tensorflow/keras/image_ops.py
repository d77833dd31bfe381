"""Layer 9 · compat: ``tf.keras.ops.image``: functions of images (NOTE [Keras's operations])."""

from __future__ import annotations

import functools
import itertools
import operator
from typing import Any

import numpy as np

from wengert.compat.tensorflow import image, nn
from wengert.compat.tensorflow import operations as tf
from wengert.compat.tensorflow.conversion import convert_to_tensor
from wengert.compat.tensorflow.keras.operands import of_families
from wengert.compat.tensorflow.words import public


def _last(function: Any) -> Any:
    """Return a function that is given `data_format` last: channels may come first."""

    @functools.wraps(function)
    def moved(images, *args) -> Any:
        images = convert_to_tensor(images)
        if args[-1] != "channels_first":
            return function(images, *args[:-1])
        batch = list(range(len(images.shape) - 3))
        n = len(batch)
        result = function(tf.transpose(images, (*batch, n + 1, n + 2, n)), *args[:-1])
        return tf.transpose(result, (*batch, n + 2, n, n + 1))

    return moved


@_last
def _resize(images, size, interpolation, antialias, crop, pad, fill_mode, fill_value) -> Any:
    """Resize images (see `tf.image.resize`)."""
    if crop or pad:
        raise NotImplementedError("resize crops and pads no images here: see crop_images")
    resized = image.resize(images, size, interpolation, antialias=antialias)
    return tf.cast(tf.round(resized) if images.dtype.is_integer else resized, images.dtype)


@_last
def _extract_patches(images, size, strides, dilation_rate, padding) -> Any:
    """Return the windows of images, in place of the channels."""
    given = (size, strides or size, dilation_rate)
    window, steps, spread = ([1, *np.broadcast_to(n, 2).tolist(), 1] for n in given)
    batch = images if len(images.shape) == 4 else images[None]
    found = image.extract_patches(batch, window, steps, spread, padding.upper())
    return found if len(images.shape) == 4 else found[0]


@_last
def _pad_images(images, top, left, bottom, right, height, width) -> Any:
    """Pad images with zeros, to a size or by margins."""
    sizes = tuple(images.shape)[-3:-1]
    pairs = map(_ends, sizes, (top, left), (bottom, right), (height, width), (1, 1))
    batch = [(0, 0)] * (len(images.shape) - 3)
    return tf.pad(images, [*batch, *pairs, (0, 0)])


@_last
def _crop_images(images, top, left, bottom, right, height, width) -> Any:
    """Cut margins off images, or all but a size."""
    sizes = tuple(images.shape)[-3:-1]
    pairs = map(_ends, sizes, (top, left), (bottom, right), (height, width), (-1, -1))
    spans = [slice(a, n - b) for n, (a, b) in zip(sizes, pairs, strict=True)]
    return images[(..., *spans, slice(None))]


def _ends(size: int, before, after, target, sign: int) -> tuple[int, int]:
    """Return both margins, of which one may follow from the size of the result."""
    given = sum(n is not None for n in (before, after, target))
    if given != 2:
        raise ValueError(f"Must specify exactly two of two margins and a target size: {given}")
    if before is None:
        before = sign * (target - size) - after
    return before, sign * (target - size) - before if after is None else after


@_last
def _gaussian_blur(images, kernel_size, sigma) -> Any:
    """Blur images with a normal distribution."""
    rows, columns = (
        np.exp(-0.5 * ((np.arange(n) - (n - 1) / 2) / s) ** 2)
        for n, s in zip(kernel_size, sigma, strict=True)
    )
    kernel = np.outer(columns / columns.sum(), rows / rows.sum()).reshape(*kernel_size, 1, 1)
    filters = tf.tile(tf.cast(kernel, images.dtype), (1, 1, images.shape[-1], 1))
    batch = images if len(images.shape) == 4 else images[None]
    blurred = nn.depthwise_conv2d(batch, filters, (1, 1, 1, 1), "SAME")
    return blurred if len(images.shape) == 4 else blurred[0]


def _map_coordinates(inputs, coordinates, order, fill_mode, fill_value) -> Any:
    """Return the values at coordinates, interpolated between elements if `order` is 1."""
    if order not in (0, 1) or fill_mode not in ("constant", "nearest"):
        raise NotImplementedError(
            f"map_coordinates takes order=0 or 1, and fill_mode='constant' or 'nearest': {order}, "
            f"{fill_mode!r}"
        )
    inputs = convert_to_tensor(inputs)
    ends = []
    for x, size in zip(tf.unstack(convert_to_tensor(coordinates)), inputs.shape, strict=True):
        low = tf.floor(x) if order else tf.round(x)
        share = x - low
        pairs = [(low, 1 - share), (low + 1, share)] if order else [(low, tf.ones_like(x))]
        ends.append(
            [(tf.clip_by_value(n, 0, size - 1), (n >= 0) & (n < size), w) for n, w in pairs]
        )
    results = []
    for corner in itertools.product(*ends):
        places, inside, weights = zip(*corner, strict=True)
        found = tf.gather_nd(inputs, tf.cast(tf.stack(places, -1), "int32"))
        if fill_mode == "constant":
            filled = tf.cast(fill_value, found.dtype)
            found = tf.where(functools.reduce(operator.and_, inside), found, filled)
        results.append(functools.reduce(operator.mul, weights) * tf.cast(found, weights[0].dtype))
    result = functools.reduce(operator.add, results)
    whole = inputs.dtype.is_integer
    return tf.cast(tf.round(result) if whole else result, inputs.dtype)


_gray, _to_hsv, _to_rgb, _edges = map(
    _last, (image.rgb_to_grayscale, image.rgb_to_hsv, image.hsv_to_rgb, image.sobel_edges)
)


def _ssim(image1, image2, max_val, filter_size, filter_sigma, k1, k2, data_format) -> Any:
    """Return the structural similarity (see `tf.image.ssim`)."""
    first, second = (
        tf.transpose(x, (0, 2, 3, 1)) if data_format == "channels_first" else x
        for x in map(convert_to_tensor, (image1, image2))
    )
    return image.ssim(first, second, max_val, filter_size, filter_sigma, k1, k2)


of_families(
    globals(),
    """
    (images, top_cropping=None, left_cropping=None, bottom_cropping=None, right_cropping=None,
        target_height=None, target_width=None, data_format=None): crop_images=_crop_images
    (images, size, strides=None, dilation_rate=1, padding='valid', data_format=None):
        extract_patches=_extract_patches
    (images, kernel_size=(3, 3), sigma=(1.0, 1.0), data_format=None): gaussian_blur=_gaussian_blur
    (images, data_format=None): hsv_to_rgb=_to_rgb rgb_to_grayscale=_gray rgb_to_hsv=_to_hsv
        sobel_edges=_edges
    (inputs, coordinates, order, fill_mode='constant', fill_value=0):
        map_coordinates=_map_coordinates
    (images, top_padding=None, left_padding=None, bottom_padding=None, right_padding=None,
        target_height=None, target_width=None, data_format=None): pad_images=_pad_images
    (images, size, interpolation='bilinear', antialias=False, crop_to_aspect_ratio=False,
        pad_to_aspect_ratio=False, fill_mode='constant', fill_value=0.0, data_format=None):
        resize=_resize
    (image1, image2, max_val=1.0, filter_size=11, filter_sigma=1.5, k1=0.01, k2=0.03,
        data_format=None): ssim=_ssim
    """,
)


__all__ = public(globals())
