"""Layer 9 · compat: ``gluon.data.vision.transforms``: image transforms, as blocks.

>>> from wengert.compat.mxnet import gluon, np, npx
>>> npx.set_np()
>>> transforms = gluon.data.vision.transforms
>>> both = transforms.Compose([transforms.Resize(2), transforms.ToTensor()])
>>> both(np.full((4, 4, 3), 255, dtype="uint8"))[0]
array([[1., 1.],
       [1., 1.]])
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable
from typing import Any

import numpy as np

from wengert import numpy as wnp
from wengert.compat.mxnet import image
from wengert.compat.mxnet.base import public
from wengert.compat.mxnet.gluon.basic_layers import HybridSequential, Sequential
from wengert.compat.mxnet.gluon.block import Block, HybridBlock
from wengert.compat.mxnet.results import computed
from wengert.compat.mxnet.sampling import STREAM


def _chance(low=0.0, high=1.0) -> float:
    return float(STREAM.uniform(low, high))


class Compose(Sequential):
    """A sequence of transforms."""

    def __init__(self, transforms) -> None:
        super().__init__()
        self.add(*transforms)


class HybridCompose(HybridSequential, Compose):
    """A sequence of transforms; same as `Compose`."""


class _Mapped(HybridBlock):
    """Base class for transforms that apply a function to images."""

    def __init__(self, function: Callable[[Any], Any]) -> None:
        super().__init__()
        self._function = function

    def forward(self, x, *args) -> Any:
        """Return the transformed image and the other arguments."""
        found = self._function(x)
        return (found, *args) if args else found


def _size(value) -> tuple[int, int]:
    return (value, value) if isinstance(value, int) else (int(value[0]), int(value[1]))


class Cast(_Mapped):
    """Converts images to another dtype."""

    def __init__(self, dtype="float32") -> None:
        super().__init__(lambda x: x.astype(dtype))


class ToTensor(_Mapped):
    """Converts images of bytes to numbers in [0, 1], with the channels first."""

    def __init__(self) -> None:
        super().__init__(image.to_tensor)


class Normalize(_Mapped):
    """Subtracts `mean` and divides by `std`, for images with the channels first."""

    def __init__(self, mean=0.0, std=1.0) -> None:
        super().__init__(lambda x: image.normalize(x, mean, std))


class Resize(_Mapped):
    """Resizes images to ``(width, height)``, or one number."""

    def __init__(self, size, keep_ratio=False, interpolation=1) -> None:
        super().__init__(lambda x: image.resize(x, size, keep_ratio, interpolation))


class CenterCrop(_Mapped):
    """Crops the center of images."""

    def __init__(self, size, interpolation=1) -> None:
        super().__init__(lambda x: image.center_crop(x, _size(size), interpolation)[0])


class CropResize(_Mapped):
    """Crops images, and resizes them if `size` is given."""

    def __init__(self, x: int, y: int, width: int, height: int, size=None, interpolation=1) -> None:
        wanted = None if size is None else _size(size)
        super().__init__(
            lambda data: image.fixed_crop(data, x, y, width, height, wanted, interpolation or 1)
        )


class RandomCrop(_Mapped):
    """Crops images at a random position, after padding with `pad` zeros."""

    def __init__(self, size, pad=None, interpolation=1) -> None:
        if pad is not None:
            raise ValueError("RandomCrop(pad=...) is not offered here: pad by np.pad before")
        super().__init__(lambda x: image.random_crop(x, _size(size), interpolation)[0])


class RandomResizedCrop(_Mapped):
    """Crops images to a random area and aspect ratio, and resizes them."""

    def __init__(
        self,
        size,
        scale: tuple[float, float] = (0.08, 1.0),
        ratio: tuple[float, float] = (3 / 4, 4 / 3),
        interpolation=1,
    ) -> None:
        def cut(x) -> Any:
            height, width = x.shape[-3:-1]
            for _ in range(10):
                area = _chance(*scale) * height * width
                shape = math.exp(_chance(math.log(ratio[0]), math.log(ratio[1])))
                w, h = round(math.sqrt(area * shape)), round(math.sqrt(area / shape))
                if 0 < w <= width and 0 < h <= height:
                    place = int(_chance(0, width - w + 1)), int(_chance(0, height - h + 1))
                    return image.fixed_crop(x, *place, w, h, _size(size), interpolation)
            return image.center_crop(x, _size(size), interpolation)[0]

        super().__init__(cut)


class RandomFlipLeftRight(_Mapped):
    """Flips images left to right at random."""

    def __init__(self, p=0.5) -> None:
        super().__init__(lambda x: image.flip_left_right(x) if _chance() < p else x)


class RandomFlipTopBottom(_Mapped):
    """Flips images top to bottom at random."""

    def __init__(self, p=0.5) -> None:
        super().__init__(lambda x: image.flip_top_bottom(x) if _chance() < p else x)


_GREY = (0.299, 0.587, 0.114)


def _contrast(x, factor: float) -> Any:
    grey: Any = sum(x[..., i] * weight for i, weight in enumerate(_GREY))
    return x * factor + (1 - factor) * grey.mean()


def _saturation(x, factor: float) -> Any:
    grey = sum(x[..., i : i + 1] * weight for i, weight in enumerate(_GREY))
    return x * factor + (1 - factor) * grey


_YIQ = np.array([_GREY, [0.596, -0.274, -0.321], [0.211, -0.523, 0.311]])


def _hue(x, factor: float) -> Any:
    """Turn the colours, which leaves the grey."""
    turn = (factor - 1) * math.pi
    turned = np.eye(3)
    turned[1:, 1:] = [[math.cos(turn), -math.sin(turn)], [math.sin(turn), math.cos(turn)]]
    mixed = np.linalg.inv(_YIQ) @ turned @ _YIQ
    parts = [sum(x[..., j : j + 1] * float(mixed[i, j]) for j in range(3)) for i in range(3)]
    return computed(type(x), wnp.concatenate, (parts, -1), {})


def _jitter(name: str, words: str, function: Callable[[Any, float], Any]) -> Any:
    def __init__(self, amount: float) -> None:
        def changed(x) -> Any:
            factor = 1 + _chance(-amount, amount)
            return function(x.astype("float32"), factor)

        _Mapped.__init__(self, changed)

    doc = f"Change the {words} of pictures at random; the result is float32."
    return type(name, (_Mapped,), {"__init__": __init__, "__doc__": doc, "__module__": __name__})


RandomBrightness = _jitter("RandomBrightness", "brightness", operator.mul)
RandomContrast = _jitter("RandomContrast", "contrast", _contrast)
RandomSaturation = _jitter("RandomSaturation", "saturation", _saturation)
RandomHue = _jitter("RandomHue", "hue", _hue)


class RandomColorJitter(Compose):
    """Changes brightness, contrast, saturation and hue at random."""

    def __init__(
        self, brightness: float = 0, contrast: float = 0, saturation: float = 0, hue: float = 0
    ) -> None:
        kinds = (RandomBrightness, RandomContrast, RandomSaturation, RandomHue)
        amounts = (brightness, contrast, saturation, hue)
        super().__init__([kind(a) for kind, a in zip(kinds, amounts, strict=True) if a])


class RandomApply(Block):
    """Applies a transform at random."""

    def __init__(self, transforms, p=0.5) -> None:
        super().__init__()
        self.transforms, self._p = transforms, p

    def forward(self, x, *args) -> Any:
        """Return the transformed images, or the images unchanged."""
        return self.transforms(x, *args) if _chance() < self._p else x


HybridRandomApply = RandomApply


__all__ = public(globals())
