"""Layer 1 · kernels: the windows of fractional pooling, whose positions are random.

The sequences are those of B. Graham, Fractional max-pooling, arXiv:1412.6071 (2014), in PyTorch's
form: for one number u in [0, 1) the i-th of m windows of size k over n elements begins at
floor((i + u) a) - floor(u a) with a = (n - k) / (m - 1), and the last one ends with the dimension.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from wengert.kernels.protocols import arange, beside, full

Shape = tuple[int, ...]


def _starts(samples: Any, n: int, count: int, kernel: int) -> Any:
    """Return the starts of the windows of each plane, of shape (planes, count)."""
    starts = full(samples, (len(samples), count), n - kernel, np.int64)
    if count > 1:
        step = samples.dtype.type((n - kernel) / (count - 1))
        place = arange(samples, count - 1, dtype=samples.dtype)
        shifted = (place + samples[:, None]) * step
        starts[:, :-1] = shifted.astype(np.int64) - (samples[:, None] * step).astype(np.int64)
    return starts


def fractional_max_pool_indices(
    self: Any, samples: Any, kernel_size: Shape, output_size: Shape
) -> Any:
    """Return the index of the largest element of each window in the flattened pooled dimensions.

    `samples` holds a number for each plane and dimension, the last dimension first.
    """
    dims = len(kernel_size)
    sizes = self.shape[self.ndim - dims :]
    planes = math.prod(self.shape[: self.ndim - dims])
    flat = self.reshape(planes, math.prod(sizes))
    numbers = samples.reshape(planes, dims)
    first: Any = 0
    offsets = np.zeros(1, np.int64)
    for d in range(dims):
        # the first number is for the width in two dimensions, for the depth in three
        number = numbers[:, dims - 1 - d if dims == 2 else d]
        begin = _starts(number, sizes[d], output_size[d], kernel_size[d])
        shape = [planes, *(1,) * dims]
        shape[d + 1] = output_size[d]
        first = first * sizes[d] + begin.reshape(shape)
        offsets = (offsets[:, None] * sizes[d] + np.arange(kernel_size[d])).reshape(-1)
    first = first.reshape(planes, math.prod(output_size), 1)
    offsets = beside(self, offsets)
    each = flat[arange(self, planes)[:, None, None], first + offsets]
    code = each.argmax(2)
    odd = each != each
    if np.count_nonzero(odd):
        # the last NaN is the largest
        code = np.where(odd.any(2), len(offsets) - 1 - odd[..., ::-1].argmax(2), code)
    places = first[..., 0] + offsets[code]
    return places.reshape(*self.shape[: self.ndim - dims], *output_size)
