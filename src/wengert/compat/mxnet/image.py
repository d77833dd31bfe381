"""Layer 9 · compat: ``mxnet.image``: images as arrays of shape (height, width, channels).

>>> mx.npx.set_np()
>>> mx.image.resize_short(mx.np.ones((4, 6, 3)), 2).shape
(2, 3, 3)
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

import wengert as wg
from wengert import numpy as wnp
from wengert.compat.mxnet.base import public
from wengert.compat.mxnet.results import computed
from wengert.compat.mxnet.sampling import STREAM


def _resized(image, w: int, h: int, nearest: bool) -> Any:
    """Resize one or more images; integers stay integers."""
    kind = np.dtype(image.dtype)
    flat = image if image.ndim == 4 else wnp.expand_dims(image, 0)
    moved = wnp.transpose(flat, (0, 3, 1, 2)).astype("float32")
    options = {"mode": "nearest"} if nearest else {"mode": "bilinear", "align_corners": False}
    found = wg.nn.functional.interpolate(moved, size=(h, w), **options)
    found = wnp.transpose(found, (0, 2, 3, 1))
    found = found if image.ndim == 4 else found[0]
    return (wnp.clip(wnp.round(found), 0, 255) if kind.kind in "iu" else found).astype(kind)


def imresize(src, w: int, h: int, interp=1) -> Any:
    """Resize an image by bilinear interpolation, or by the nearest pixel if `interp` is 0."""
    if interp not in (0, 1):
        raise ValueError(f"interp={interp} is not offered here: 0 is nearest, 1 is bilinear")
    return computed(type(src), _resized, (src, w, h, interp == 0), {})


def resize_short(src, size: int, interp=1) -> Any:
    """Resize an image so that its shorter edge is `size`."""
    height, width = src.shape[:2]
    if height > width:
        return imresize(src, size, size * height // width, interp)
    return imresize(src, size * width // height, size, interp)


def resize(data, size, keep_ratio=False, interp=1) -> Any:
    """Resize images to ``(width, height)``, or one number."""
    if isinstance(size, int):
        if keep_ratio:
            return resize_short(data, size, interp)
        size = (size, size)
    return imresize(data, size[0], size[1], interp)


def fixed_crop(src, x0: int, y0: int, w: int, h: int, size=None, interp=1) -> Any:
    """Crop a box of an image, and resize it if `size` is given."""
    part = src[..., y0 : y0 + h, x0 : x0 + w, :]
    if size is None or (w, h) == tuple(size):
        return part
    return imresize(part, size[0], size[1], interp)


def crop(data, x: int, y: int, width: int, height: int) -> Any:
    """Crop a box of images."""
    return fixed_crop(data, x, y, width, height)


def center_crop(src, size, interp=1) -> Any:
    """Crop the center of an image, and return its position too."""
    return _cropped(src, size, interp, lambda left: left // 2)


def random_crop(src, size, interp=1) -> Any:
    """Crop an image at a random position, and return the position too."""
    return _cropped(src, size, interp, lambda left: int(STREAM.randint(0, left + 1)))


def _cropped(src, size, interp, place: Callable[[int], int]) -> Any:
    """Return a part of the size and its box; `place` chooses its start, given what is left."""
    height, width = src.shape[-3:-1]
    w, h = min(size[0], width), min(size[1], height)
    x, y = place(width - w), place(height - h)
    return fixed_crop(src, x, y, w, h, size, interp), (x, y, w, h)


def color_normalize(src, mean, std=None) -> Any:
    """Subtract the mean from an image, and divide by the standard deviation."""
    return src - mean if std is None else (src - mean) / std


def to_tensor(data) -> Any:
    """Convert images of bytes to numbers in [0, 1], with the channels first."""

    def moved(x) -> Any:
        order = (2, 0, 1) if x.ndim == 3 else (0, 3, 1, 2)
        return wnp.transpose(x, order).astype("float32") / np.float32(255)

    return computed(type(data), moved, (data,), {})


def normalize(data, mean=0.0, std=1.0) -> Any:
    """Subtract `mean` and divide by `std` per channel, for images with the channels first."""

    def scaled(x) -> Any:
        low, wide = (np.asarray(value, np.float32).reshape(-1, 1, 1) for value in (mean, std))
        return (x - low) / wide

    return computed(type(data), scaled, (data,), {})


def flip_left_right(data) -> Any:
    """Flip images left to right."""
    return computed(type(data), wnp.flip, (data, -2), {})


def flip_top_bottom(data) -> Any:
    """Flip images top to bottom."""
    return computed(type(data), wnp.flip, (data, -3), {})


__all__ = public(globals())
