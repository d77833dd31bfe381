"""Layer 8 · integrate: derivatives with respect to times, and at events.

NOTE [derivatives with respect to times]
Solvers get their times as numbers. The dependence of a state on its time is recorded afterwards, as
one step of the classical Runge-Kutta method of length zero: ``t - number``, which is 0 but has a
derivative. The method has order 4, so its value has the right derivatives up to the fourth.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from wengert.implicit.decorators import root
from wengert.integrate.field import Field
from wengert.tape.base import new_tensor
from wengert.tensor.tensor import Tensor


def moved(field: Field, t: Any, y: Any, by: Any, parameters: list[Any]) -> Any:
    """Return the state at ``t + by``, where `by` is zero, of the solution through `y` at `t`."""
    half = by / 2
    k1 = field(t, y, parameters)
    k2 = field(t + half, y + half * k1, parameters)
    k3 = field(t + half, y + half * k2, parameters)
    k4 = field(t + by, y + by * k3, parameters)
    return y + by / 6 * (k1 + 2 * k2 + 2 * k3 + k4)


def at_event(
    field: Field, event: Callable[..., Any], time: float, y: Any, parameters: list[Any]
) -> tuple[Any, Any]:
    """Return the time and the state of an event, as functions of everything the state depends on.

    Parameters
    ----------
    event : callable. Takes a time, a state as a vector, and parameters; it is zero at the event.
    time : float. The time of the event as a number.
    y : Tensor. The solution at that time, which counts as constant.
    """
    at = field.time(time)

    def condition(t: Any, y: Any, *parameters: Any) -> Any:
        value = event(t, moved(field, at, y, t - at, list(parameters)), list(parameters))
        if not isinstance(value, Tensor):
            raise TypeError(
                f"an event must return a tensor that depends on the state for derivatives at the "
                f"event, but gave {type(value).__name__}"
            )
        return value.reshape(())

    def found(init: Any, *known: Any) -> Any:
        return new_tensor(at._payload)

    t = root(condition, tol=float("inf"))(found)(None, y, *parameters)
    return t, moved(field, at, y, t - at, parameters)
