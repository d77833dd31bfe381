"""Layer 1 · kernels: block diagonals, and elements moved between channels and pixels."""

from __future__ import annotations

from typing import Any

from wengert.kernels.protocols import empty, zeros

Shape = tuple[int, ...]
_FEW = 1 << 12
"""The number of elements up to which one copy is faster than one per plane."""


def _corners(shapes: tuple[Shape, ...]) -> list[tuple[slice, slice]]:
    """Return the position of each block on the diagonal."""
    corners, top, left = [], 0, 0
    for high, wide in shapes:
        corners.append((slice(top, top + high), slice(left, left + wide)))
        top, left = top + high, left + wide
    return corners


def _matrix(shape: Shape) -> Shape:
    """Return the shape of a number or vector as a matrix of one row."""
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
    """Move channels to pixels: (..., c·r², h, w) to (..., c, h·r, w·r)."""
    r = upscale_factor
    *batch, channels, high, wide = self.shape
    split = self.reshape(*batch, channels // (r * r), r, r, high, wide)
    shape = (*batch, channels // (r * r), high * r, wide * r)
    if self.size <= _FEW:
        n = len(batch)
        return split.transpose(*range(n + 1), n + 3, n + 1, n + 4, n + 2).copy().reshape(shape)
    result = empty(self, shape, self.dtype)
    # one plane at a time, since consecutive writes read from distant elements
    for i in range(r):
        for j in range(r):
            result[..., i::r, j::r] = split[..., i, j, :, :]
    return result


def pixel_unshuffle(self: Any, downscale_factor: int) -> Any:
    """Move pixels to channels: (..., c, h·r, w·r) to (..., c·r², h, w)."""
    r = downscale_factor
    *batch, channels, high, wide = self.shape
    high, wide = high // r, wide // r
    result = empty(self, (*batch, channels, r, r, high, wide), self.dtype)
    for i in range(r):
        for j in range(r):
            result[..., i, j, :, :] = self[..., i::r, j::r]
    return result.reshape(*batch, channels * r * r, high, wide)


def channel_shuffle(self: Any, groups: int) -> Any:
    """Interleave channels: the first of each group, then the second of each, and so on."""
    count, channels, *rest = self.shape
    split = self.reshape(count, groups, channels // groups, *rest)
    # always a copy: with one group, or one channel per group, the order is unchanged
    return split.swapaxes(1, 2).copy(order="C").reshape(self.shape)
