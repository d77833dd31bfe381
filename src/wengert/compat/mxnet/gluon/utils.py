"""Layer 9 · compat: ``gluon.utils``."""

from __future__ import annotations

import itertools
import math
from typing import Any

import numpy as np

from wengert.compat.mxnet.arrays import NDArray
from wengert.compat.mxnet.base import refusal
from wengert.compat.mxnet.context import checked
from wengert.compat.mxnet.numpy.creation import made
from wengert.tape.sites import warn

__all__ = ["clip_global_norm", "split_and_load", "split_data"]


def split_data(data, num_slice: int, batch_axis=0, even_split=True) -> Any:
    """Split `data` into `num_slice` parts along `batch_axis`."""
    size = data.shape[batch_axis]
    if even_split and size % num_slice:
        raise refusal(ValueError, "data with shape", data.shape, num_slice, batch_axis, num_slice)
    step, rest = divmod(size, num_slice)  # the first parts get one more of the remainder
    before = (slice(None),) * batch_axis
    ends = [i * step + min(i, rest) for i in range(num_slice + 1)]
    return [data[(*before, slice(*span))] for span in itertools.pairwise(ends)]


def split_and_load(data, ctx_list, batch_axis=0, even_split=True) -> Any:
    """Split `data` into one part per context."""
    checked(ctx_list)
    array = data if isinstance(data, NDArray) else made(np.asarray(data))
    return split_data(array, len(ctx_list), batch_axis, even_split)


def clip_global_norm(arrays, max_norm: float, check_isfinite=True) -> float:
    """Scale arrays in place to a global norm of at most `max_norm`; return the old norm."""
    norm = math.sqrt(sum(float((np.asarray(a._payload, np.float64) ** 2).sum()) for a in arrays))
    if check_isfinite and not math.isfinite(norm):
        warn("nan or inf is detected. Clipping results will be undefined.")
    scale = max_norm / (norm + 1e-8)
    if scale < 1.0:
        for array in arrays:
            array[...] = array * scale
    return norm
