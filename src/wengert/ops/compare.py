"""Layer 5 · ops · pointwise: comparisons of whole tensors."""

from __future__ import annotations

from typing import Any

import numpy as np

from wengert.base.device import different_devices
from wengert.base.errors import long_name
from wengert.base.export import export
from wengert.base.sections import fill_sections
from wengert.base.shapes import broadcast
from wengert.interp.levels import Lifted, device_of, is_elsewhere, namespace_of
from wengert.ops.coerce import number, operand
from wengert.tape.base import new_tensor, tensor_over
from wengert.tape.inference import made_in_inference


@export("wengert", "Tensor")
def equal(input: Any, other: Any) -> bool:
    """Return whether two tensors have the same shape and elements.

    Examples
    --------
    >>> wg.equal(wg.ones(2), wg.ones(2)), wg.equal(wg.ones(2), wg.ones(1))
    (True, False)
    """
    a, b = operand(input, "equal"), operand(other, "equal", "other", 2)
    x, y = _both(a._payload, b._payload)
    return x.shape == y.shape and _holds(x == y)


def _holds(condition: Any) -> bool:
    """Return whether a condition is true everywhere, if it can be read."""
    if not isinstance(condition, Lifted):
        return bool(condition.all())
    F: Any = condition._namespace
    return bool(F.all(condition, dim=tuple(range(condition.ndim)), keepdim=False).item())


@export("wengert", "Tensor")
def isclose(
    input: Any, other: Any, rtol: float = 1e-05, atol: float = 1e-08, equal_nan: bool = False
) -> Any:
    """Return whether ``abs(input - other) <= atol + rtol * abs(other)``, element by element.

    Examples
    --------
    >>> wg.isclose(wg.tensor([1.0, 2.0]), wg.tensor([1.0, 2.1]))
    tensor([ True, False])
    """
    rtol, atol = number(rtol, "isclose", "rtol"), number(atol, "isclose", "atol")
    a, b = operand(input, "isclose")._payload, operand(other, "isclose", "other", 2)._payload
    _check_dtypes(a, b, "isclose")
    broadcast(a.shape, b.shape)
    for name, tolerance in (("rtol", rtol), ("atol", atol)):
        if tolerance < 0:
            raise RuntimeError(f"{name} must be greater than or equal to zero, but got {tolerance}")
    if isinstance(a, Lifted) or isinstance(b, Lifted):
        return tensor_over(_are_close(a, b, rtol, atol, equal_nan))
    close: Any = np.isclose(a, b, rtol, atol, equal_nan)
    return made_in_inference(new_tensor(close))


def _are_close(a: Any, b: Any, rtol: float, atol: float, equal_nan: bool) -> Any:
    """Compute NumPy's ``isclose`` for the values of transforms."""
    F: Any = namespace_of(a, b)
    if a.dtype.kind in "biu":
        a, b = (F.to_copy(value, dtype=np.dtype(float)) for value in (a, b))
    near = F.le(F.abs(F.sub(a, b)), F.add_scalar(F.mul_scalar(F.abs(b), other=rtol), other=atol))
    close = F.logical_or(F.eq(a, b), F.logical_and(near, F.isfinite(b)))
    if equal_nan:
        close = F.logical_or(close, F.logical_and(F.isnan(a), F.isnan(b)))
    return close


def _both(a: Any, b: Any) -> tuple[Any, Any]:
    """Return two arrays in NumPy, from the device of both, since a bool is asked for."""
    if device_of(a) != device_of(b):
        raise different_devices(device_of(a), device_of(b))
    if is_elsewhere(a):
        return a.fetched(), b.fetched()
    return _held(a), _held(b)


def _held(payload: Any) -> Any:
    """Return the values for a decision: tangents do not affect it."""
    return payload.constant() if isinstance(payload, Lifted) else payload


@export("wengert", "Tensor")
def allclose(
    input: Any, other: Any, rtol: float = 1e-05, atol: float = 1e-08, equal_nan: bool = False
) -> bool:
    """Return whether all elements are close (see `isclose`).

    Raises
    ------
    RuntimeError: If the dtypes differ.

    Examples
    --------
    >>> wg.allclose(wg.ones(2), wg.ones(2) + 1e-9)
    True
    """
    a, b = operand(input, "allclose")._payload, operand(other, "allclose", "other", 2)._payload
    _check_dtypes(a, b, "allclose")
    broadcast(a.shape, b.shape)
    x, y = _both(a, b)
    if isinstance(x, Lifted) or isinstance(y, Lifted):
        return _holds(_are_close(x, y, rtol, atol, equal_nan))
    return bool(np.allclose(x, y, rtol, atol, equal_nan))


def _check_dtypes(a: Any, b: Any, name: str) -> None:
    if a.dtype != b.dtype:
        raise RuntimeError(
            f"{long_name(a.dtype)} did not match {long_name(b.dtype)}: {name}() compares tensors "
            "of one dtype"
        )


fill_sections(globals())
