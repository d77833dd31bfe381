"""Layer 1 · kernels: elements arranged in blocks, and between channels and places."""

from __future__ import annotations

from typing import Any

from wengert.kernels.protocols import empty, zeros

Shape = tuple[int, ...]
_FEW = 1 << 12
"""So few elements are copied sooner at once than a plane at a time."""


def _corners(shapes: tuple[Shape, ...]) -> list[tuple[slice, slice]]:
    """Return the position of each block on the diagonal."""
    corners, top, left = [], 0, 0
    for high, wide in shapes:
        corners.append((slice(top, top + high), slice(left, left + wide)))
        top, left = top + high, left + wide
    return corners


def _matrix(shape: Shape) -> Shape:
    """Return the shape of a number or a vector as a matrix of one row."""
    return (1,) * (2 - len(shape)) + shape


def block_diag(*tensors: Any) -> Any:
    """Return zeros with matrices along the diagonal; vectors and numbers are rows."""
    shapes = tuple([_matrix(tensor.shape) for tensor in tensors])
    size = sum([high for high, _ in shapes]), sum([wide for _, wide in shapes])
    result = zeros(tensors[0], size, tensors[0].dtype)
    for tensor, corner in zip(tensors, _corners(shapes), strict=True):
        result[corner] = tensor
    return result


def block_diag_backward(self: Any, shapes: tuple[Shape, ...]) -> tuple[Any, ...]:
    """Return the blocks, of the given shapes, along the diagonal."""
    corners = _corners(tuple([_matrix(shape) for shape in shapes]))
    return tuple(
        [self[at].copy().reshape(shape) for at, shape in zip(corners, shapes, strict=True)]
    )


def pixel_shuffle(self: Any, upscale_factor: int) -> Any:
    """Channels spread over places: (..., c·r², h, w) as (..., c, h·r, w·r)."""
    r = upscale_factor
    *batch, channels, high, wide = self.shape
    split = self.reshape(*batch, channels // (r * r), r, r, high, wide)
    shape = (*batch, channels // (r * r), high * r, wide * r)
    if self.size <= _FEW:
        n = len(batch)
        return split.transpose(*range(n + 1), n + 3, n + 1, n + 4, n + 2).copy().reshape(shape)
    result = empty(self, shape, self.dtype)
    # a plane at a time, since elements that are written in order are read far apart
    for i in range(r):
        for j in range(r):
            result[..., i::r, j::r] = split[..., i, j, :, :]
    return result


def pixel_unshuffle(self: Any, downscale_factor: int) -> Any:
    """Places gathered into channels: (..., c, h·r, w·r) as (..., c·r², h, w)."""
    r = downscale_factor
    *batch, channels, high, wide = self.shape
    high, wide = high // r, wide // r
    result = empty(self, (*batch, channels, r, r, high, wide), self.dtype)
    for i in range(r):
        for j in range(r):
            result[..., i, j, :, :] = self[..., i::r, j::r]
    return result.reshape(*batch, channels * r * r, high, wide)


def channel_shuffle(self: Any, groups: int) -> Any:
    """The channels in another order: the first of each group, the second of each, and so on."""
    count, channels, *rest = self.shape
    split = self.reshape(count, groups, channels // groups, *rest)
    # always a copy: with one group, or one channel in each, the order is as it was
    return split.swapaxes(1, 2).copy(order="C").reshape(self.shape)
