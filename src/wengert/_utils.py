"""Layer 6 · tensor: functions that programs use from PyTorch's internal module."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from wengert.base.dtypes import as_dtype
from wengert.base.elsewhere import elsewhere
from wengert.base.sections import fill_sections
from wengert.ops.join import cat

__all__ = ["_element_size", "_flatten_dense_tensors", "_unflatten_dense_tensors"]

__getattr__ = elsewhere(__name__)


def _element_size(dtype: Any) -> int:
    """Return the number of bytes per element of a dtype.

    Examples
    --------
    >>> wg._utils._element_size(wg.float64)
    8
    """
    return as_dtype(dtype).itemsize


def _flatten_dense_tensors(tensors: Iterable[Any]) -> Any:
    """Concatenate the elements of tensors of one dtype to a flat tensor.

    Examples
    --------
    >>> wg._utils._flatten_dense_tensors([wg.ones(2), wg.zeros(1, 2)])
    tensor([1., 1., 0., 0.])
    """
    return cat([one.reshape(-1) for one in tensors])


def _unflatten_dense_tensors(flat: Any, tensors: Sequence[Any]) -> tuple[Any, ...]:
    """Split a flat tensor into views with the shapes of given tensors.

    Examples
    --------
    >>> wg._utils._unflatten_dense_tensors(wg.arange(4), [wg.ones(2), wg.zeros(1, 2)])
    (tensor([0, 1]), tensor([[2, 3]]))
    """
    parts = flat.split([one.numel() for one in tensors])
    return tuple(part.view_as(one) for part, one in zip(parts, tensors, strict=True))


fill_sections(globals())
