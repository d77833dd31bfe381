"""Layer 5 · ops: comparisons of whole tensors."""

from __future__ import annotations

from typing import Any

import numpy as np

from wengert.tape.base import TensorBase, new_tensor

__all__ = ["allclose", "equal", "isclose"]


def equal(input: Any, other: Any) -> bool:
    """Whether two tensors have the same shape and elements.

    Examples
    --------
    >>> import wengert as wg
    >>> wg.equal(wg.ones(2), wg.ones(2)), wg.equal(wg.ones(2), wg.ones(1))
    (True, False)
    """
    return bool(np.array_equal(_payload("equal", input), _payload("equal", other)))


def isclose(
    input: Any, other: Any, rtol: float = 1e-05, atol: float = 1e-08, equal_nan: bool = False
) -> Any:
    """For each element whether ``abs(input - other) <= atol + rtol * abs(other)``.

    Examples
    --------
    >>> import wengert as wg
    >>> wg.isclose(wg.tensor([1.0, 2.0]), wg.tensor([1.0, 2.1]))
    tensor([ True, False])
    """
    a, b = _payload("isclose", input), _payload("isclose", other)
    for name, tolerance in (("rtol", rtol), ("atol", atol)):
        if tolerance < 0:
            raise RuntimeError(f"{name} must be greater than or equal to zero, but got {tolerance}")
    close: Any = np.isclose(a, b, rtol, atol, equal_nan)
    return new_tensor(close)


def allclose(
    input: Any, other: Any, rtol: float = 1e-05, atol: float = 1e-08, equal_nan: bool = False
) -> bool:
    """Whether all elements are close (see `isclose`).

    Raises
    ------
    RuntimeError
        If the dtypes differ.

    Examples
    --------
    >>> import wengert as wg
    >>> wg.allclose(wg.ones(2), wg.ones(2) + 1e-9)
    True
    """
    a, b = _payload("allclose", input), _payload("allclose", other)
    if a.dtype != b.dtype:
        raise RuntimeError(
            f"{a.dtype} did not match {b.dtype}: allclose compares tensors of one dtype"
        )
    return bool(np.allclose(a, b, rtol, atol, equal_nan))


def _payload(name: str, value: Any) -> Any:
    if not isinstance(value, TensorBase):
        raise TypeError(f"{name}(): arguments must be Tensor, not {type(value).__name__}")
    return value.payload
