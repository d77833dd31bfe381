"""Layer 5 · ops · pointwise: comparisons of whole tensors."""

from __future__ import annotations

from typing import Any

from wengert.base.device import different_devices
from wengert.base.dtypes import default_float
from wengert.base.error_states import errstate
from wengert.base.errors import long_name
from wengert.base.export import export
from wengert.base.shapes import broadcast
from wengert.interp.levels import Lifted, device_of, is_elsewhere, namespace_of
from wengert.ops.coerce import number, operand
from wengert.tape.base import tensor_over
from wengert.tape.inference import made_in_inference

_KINDS = "rtol", "atol"


@export("wengert", "Tensor")
def equal(input: Any, other: Any) -> bool:
    """Return whether two tensors have the same shape and elements.

    Parameters
    ----------
    input, other : Tensor. Of any shapes and dtypes; NaN equals nothing.

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

    Parameters
    ----------
    input, other : Tensor. Of one dtype, and of shapes that broadcast.
    rtol, atol : float. The relative and the absolute tolerance, not negative.
    equal_nan : bool. Whether NaN is close to NaN.

    Raises
    ------
    RuntimeError: If the dtypes differ, the shapes do not broadcast, or a tolerance is negative.

    Examples
    --------
    >>> wg.isclose(wg.tensor([1.0, 2.0]), wg.tensor([1.0, 2.1]))
    tensor([ True, False])
    """
    a, b, rtol, atol = _compared("isclose", input, other, rtol, atol)
    return made_in_inference(tensor_over(_are_close(a, b, rtol, atol, equal_nan)))


def _compared(name: str, input: Any, other: Any, *tolerances: Any) -> tuple[Any, ...]:
    """Return the payloads of two tensors, and the tolerances, if they can be compared."""
    a, b = operand(input, name)._payload, operand(other, name, "other", 2)._payload
    if a.dtype != b.dtype:
        raise RuntimeError(
            f"{long_name(a.dtype)} did not match {long_name(b.dtype)}: {name}() compares tensors "
            "of one dtype"
        )
    broadcast(a.shape, b.shape)
    limits = [number(limit, name, kind) for kind, limit in zip(_KINDS, tolerances, strict=True)]
    for kind, limit in zip(_KINDS, limits, strict=True):
        if not limit >= 0:
            raise RuntimeError(f"{kind} must be greater than or equal to zero, but got {limit}")
    return a, b, *limits


@errstate(all="ignore")
def _are_close(a: Any, b: Any, rtol: float, atol: float, equal_nan: bool) -> Any:
    """Return which elements are equal, or are finite numbers within the tolerances."""
    F: Any = namespace_of(a, b)
    close = F.eq(a, b)
    if equal_nan:
        close = F.logical_or(close, F.logical_and(F.ne(a, a), F.ne(b, b)))
    if not (rtol or atol):
        # integers stay what they are: floats do not tell neighbours of 2**53 apart
        return close
    if a.dtype.kind in "biu":
        a, b = (F.to_copy(value, dtype=default_float()) for value in (a, b))
    apart = F.abs(F.sub(a, b))
    allowed = F.add_scalar(F.abs(F.mul_scalar(b, other=rtol)), other=atol)
    return F.logical_or(close, F.logical_and(F.isfinite(apart), F.le(apart, allowed)))


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
    """Return whether all elements are close; arguments as for `isclose`.

    Examples
    --------
    >>> wg.allclose(wg.ones(2), wg.ones(2) + 1e-9)
    True
    """
    a, b, rtol, atol = _compared("allclose", input, other, rtol, atol)
    return _holds(_are_close(*_both(a, b), rtol, atol, equal_nan))
