"""Layer 5 · ops · creation: tensors over the memory of other objects, and the old `range`."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from wengert.base.dtypes import as_dtype, default_float
from wengert.base.export import export
from wengert.base.sections import fill_sections
from wengert.ops.create import from_numpy
from wengert.tape.sites import warn

__all__ = ["frombuffer", "range"]


@export("wengert")
def frombuffer(
    buffer: Any, *, dtype: Any, count: int = -1, offset: int = 0, requires_grad: bool = False
) -> Any:
    """A tensor of one dimension over the memory of an object with Python's buffer protocol.

    Parameters
    ----------
    buffer : object. Bytes, a bytearray, a memory map and the like; what is written to one appears
        in the other.
    dtype : dtype. Of the elements.
    count : int. How many there are; -1 for all that fit.
    offset : int. The number of bytes before the first.
    requires_grad : bool. Whether operations on the result are recorded.

    Returns
    -------
    Tensor: A leaf; one over memory that must not be written to warns, as `from_numpy`.

    Raises
    ------
    ValueError: If the memory is too short, or not as long as a number of elements.

    Examples
    --------
    >>> wg.frombuffer(bytearray([1, 0, 2, 0]), dtype=wg.int16)
    tensor([1, 2], dtype=torch.int16)
    """
    kind = as_dtype(dtype).dtype
    memory = memoryview(buffer)
    size = memory.nbytes
    if size == 0 or count == 0:
        raise ValueError(f"both buffer length ({size}) and count ({count}) must not be 0")
    if not 0 <= offset < size:
        raise ValueError(
            f"offset ({offset} bytes) must be non-negative and no greater than buffer length "
            f"({size} bytes) minus 1"
        )
    if count < 0 and (size - offset) % kind.itemsize:
        raise ValueError(
            f"buffer length ({size - offset} bytes) after offset ({offset} bytes) must be a "
            f"multiple of element size ({kind.itemsize})"
        )
    if count > 0 and offset + count * kind.itemsize > size:
        raise ValueError(
            f"requested buffer length ({count} * {kind.itemsize} bytes) after offset ({offset} "
            f"bytes) must not be greater than actual buffer length ({size} bytes)"
        )
    made = from_numpy(np.frombuffer(buffer, kind, count, offset))
    return made.requires_grad_() if requires_grad else made


@export("wengert")
def range(
    start: Any = 0,
    end: Any = None,
    step: Any = 1,
    *,
    out: Any = None,
    dtype: Any = None,
    layout: Any = None,
    device: Any = None,
    requires_grad: bool = False,
) -> Any:
    """Numbers from `start` up to and with `end`, in steps of `step`; write `arange` instead.

    Parameters
    ----------
    start, end, step : number. The first one, the last one if the steps lead there, and the steps.
    out : Tensor, optional. What to write to.
    dtype : dtype, optional. Default: the default floating dtype.
    layout, device: Those that there are.
    requires_grad : bool. Whether operations on the result are recorded.

    Examples
    --------
    %(without_warnings)s
    ...     x = wg.range(1, 3)
    >>> x
    tensor([1., 2., 3.])
    """
    warn(
        "torch.range is deprecated and will be removed in a future release because its behavior "
        "is inconsistent with Python's range builtin. Instead, use torch.arange, which produces "
        "values in [start, end).",
        UserWarning,
    )
    if end is None:
        start, end = 0, start
    if step == 0:
        raise RuntimeError("step must be nonzero")
    if (end - start) * step < 0:
        raise RuntimeError("upper bound and lower bound inconsistent with step sign")
    kind = default_float() if dtype is None else as_dtype(dtype).dtype
    count = math.floor((end - start) / step) + 1
    values = (start + step * np.arange(count, dtype=np.float64)).astype(kind)
    made = from_numpy(values)
    if out is not None:
        return out.resize_(made.shape).copy_(made)
    return made.requires_grad_() if requires_grad else made


fill_sections(globals())
