"""Layer 6 · tensor: functions that programs use from PyTorch's internal module."""

from __future__ import annotations

import sys
import traceback
from collections.abc import Iterable, Sequence
from typing import Any

from wengert.base.dtypes import as_dtype
from wengert.base.elsewhere import elsewhere
from wengert.ops.join import cat

__all__ = [
    "ExceptionWrapper",
    "_element_size",
    "_flatten_dense_tensors",
    "_unflatten_dense_tensors",
]

__getattr__ = elsewhere(__name__)


class _Shown(str):
    """A text that is its own representation, which the message of a KeyError is."""

    __slots__ = ()
    __repr__ = str.__str__


class ExceptionWrapper:
    """An exception with the text of its traceback, which another thread or process can raise.

    Parameters
    ----------
    exc_info : tuple, optional. As of ``sys.exc_info()``; default: the one that is handled now.
    where : str. Where it was raised, for the message.

    Examples
    --------
    >>> try:
    ...     1 / 0
    ... except ZeroDivisionError:
    ...     kept = wg._utils.ExceptionWrapper(where="in a worker")
    >>> kept.exc_type, kept.where
    (<class 'ZeroDivisionError'>, 'in a worker')
    """

    def __init__(self, exc_info: Any = None, where: str = "in background") -> None:
        raised = exc_info or sys.exc_info()
        self.exc_type: Any = raised[0]
        self.exc_msg = "".join(traceback.format_exception(*raised))
        self.where = where

    def reraise(self) -> None:
        """Raise an exception of the same type, with the first one's traceback in its message."""
        message = _Shown(f"Caught {self.exc_type.__name__} {self.where}.\nOriginal {self.exc_msg}")
        try:
            made = self.exc_type(message)
        except Exception:
            made = RuntimeError(message)  # the type has other arguments
        raise made


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
