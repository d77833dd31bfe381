"""Layer 9 · compat: ``mxnet.np.ndarray``."""

from __future__ import annotations

from typing import Any

import numpy as np

from wengert.compat.mxnet import operators
from wengert.compat.mxnet.arrays import NDArray
from wengert.compat.mxnet.numpy.functions import function_of
from wengert.compat.mxnet.results import CLASSES, default_float

__all__ = ["ndarray"]


class ndarray(NDArray):
    """The array of ``mxnet.np``: NumPy's shapes and functions, float32 by default.

    Examples
    --------
    >>> from wengert.compat.mxnet import autograd, np, npx
    >>> npx.set_np()
    >>> x = np.arange(4.0)
    >>> x.attach_grad()
    >>> with autograd.record():
    ...     y = 2 * np.dot(x, x)
    >>> y.backward()
    >>> x.grad
    array([ 0.,  4.,  8., 12.])
    """

    __slots__ = ()
    __module__ = "wengert.compat.mxnet.numpy"

    @property
    def dtype(self) -> Any:
        return self._payload.dtype

    def __repr__(self) -> str:
        text = repr(np.asarray(self._payload))
        kind = self._payload.dtype
        shown = "dtype=" in text
        if shown and kind == default_float():
            return text[: text.rindex(",")] + ")"
        if not shown and kind not in (default_float(), np.dtype(bool)):
            return f"{text[:-1]}, dtype={kind})"
        return text

    def __str__(self) -> str:
        return str(np.asarray(self._payload))

    def asscalar(self) -> Any:
        """Raise an error: arrays of ``mxnet.np`` have `item` instead."""
        raise AttributeError("mxnet.numpy.ndarray object has no attribute asscalar: write x.item()")

    def as_np_ndarray(self) -> Any:
        """Return the array itself."""
        return self


_METHODS = """
    all any argmax argmin argsort clip cumsum diagonal dot max mean min nonzero prod ravel repeat
    round squeeze std sum swapaxes take trace transpose var
    """


CLASSES["np"] = ndarray
operators.install_methods(ndarray)  # these take precedence over the legacy array's
operators.install(ndarray, operators.delegated("np", _METHODS, function_of))
