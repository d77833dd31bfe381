"""Layer 6 · tensor: NumPy's functions without a gradient, on tensors inside transforms.

They are usually computed on the values (see NOTE [kinds of functions]). A batch or a dual has no
plain values, so for these the functions are computed with our operations.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from wengert.ops import extremes
from wengert.tape.base import TensorBase
from wengert.tape.modes import current_mode
from wengert.tensor.numpy.counterparts import late, rule, tensor


def is_followed(value: Any) -> bool:
    """Return whether `value`, an argument or a list, contains a tensor without plain values."""
    if isinstance(value, TensorBase):
        mode = current_mode()
        if not isinstance(value._payload, np.ndarray | np.generic):
            return True
        return mode is not None and bool(mode.dispatch)
    return isinstance(value, list | tuple) and any(map(is_followed, value))


def _size(a: Any, axis: int | None = None) -> int:
    return int(a.numel()) if axis is None else int(a.shape[axis])


def _like(value: float) -> Callable[..., Any]:
    def like(
        a: Any, dtype: Any = None, order: str = "K", subok: bool = True, shape: Any = None, **_: Any
    ) -> Any:
        full: Any = rule("full_like")
        return full(a, value, dtype, shape=shape)

    return like


def _position(function: Callable[..., Any]) -> Callable[..., Any]:
    def position(a: Any, axis: Any = None, out: Any = None, *, keepdims: Any = False) -> Any:
        # NumPy accepts booleans, PyTorch does not
        numbers = a.byte() if a._payload.dtype.kind == "b" else a
        return function(numbers, axis, keepdims is True)

    return position


def _argsort(a: Any, axis: int | None = -1, *_: Any, descending: bool = False, **__: Any) -> Any:
    if axis is None:
        ravel: Any = rule("ravel")
        a, axis = ravel(a), 0
    return late("argsort")(tensor(a), axis, descending, stable=True)


def _searchsorted(a: Any, v: Any, side: str = "left", sorter: Any = None) -> Any:
    return late("searchsorted")(tensor(a), tensor(v), side=side, sorter=sorter)


COUNTERPARTS: dict[Any, Callable[..., Any]] = {
    np.argmax: _position(extremes.argmax),
    np.argmin: _position(extremes.argmin),
    np.argsort: _argsort,
    np.empty_like: _like(0.0),
    np.ndim: lambda a: a.ndim,
    np.ones_like: _like(1.0),
    np.searchsorted: _searchsorted,
    np.shape: lambda a: tuple(a.shape),
    np.size: _size,
    np.zeros_like: _like(0.0),
}
"""The implementations of these functions on such tensors."""
