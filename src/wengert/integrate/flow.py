"""Layer 8 · integrate: one integration with SciPy, recorded with the chosen sensitivity."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from wengert.autograd.elements import followed, without_tangent
from wengert.base.extras import scipy_module
from wengert.integrate.adjoint import AdjointSolution, Course
from wengert.integrate.discrete import METHODS as EXPLICIT
from wengert.integrate.discrete import DiscreteSolution, Steps, recording_method
from wengert.integrate.field import Field
from wengert.integrate.forward import ForwardSolution, Variations
from wengert.tape.base import new_tensor
from wengert.tape.modes import is_recording

METHODS = ("RK45", "RK23", "DOP853", "Radau", "BDF", "LSODA")
SENSITIVITIES = ("auto", "discrete", "forward", "adjoint")
IMPLICIT = ("Radau", "BDF", "LSODA")
_FEW = 8
"""The largest number of derivatives that are integrated forward by default."""
_LARGE = 10_000
"""The number of state elements from which steps are not kept by default."""


def chosen(sensitivity: str, method: str, field: Field) -> str:
    """Return the sensitivity to use: "none" if nothing can be differentiated.

    Raises
    ------
    ValueError: If the requested one does not support the method or complex states.
    """
    if sensitivity not in SENSITIVITIES:
        raise ValueError(
            f"sensitivity must be one of {', '.join(map(repr, SENSITIVITIES))}, "
            f"but is {sensitivity!r}"
        )
    if method not in METHODS:
        raise ValueError(
            f"method must be one of {', '.join(map(repr, METHODS))}, but is {method!r}"
        )
    if sensitivity == "discrete" and method not in EXPLICIT:
        raise ValueError(
            f"sensitivity='discrete' differentiates the steps of {' or '.join(map(repr, EXPLICIT))}"
            f", not of {method!r}: choose one of these methods, or 'adjoint' or 'forward'"
        )
    if sensitivity == "forward" and field.complex:
        raise ValueError(
            "sensitivity='forward' takes real states only: choose 'adjoint' or 'discrete'"
        )
    columns = sum(t.numel() for t in field.inputs if followed(t))
    if not is_recording() or columns == 0:
        return "none"
    if sensitivity != "auto":
        return sensitivity
    if method in EXPLICIT and field.state.size <= _LARGE:
        return "discrete"
    if columns <= _FEW and not field.complex:
        return "forward"
    return "adjoint"


class Flow:
    """An integration by SciPy: its result, and the states as a recorded tensor.

    Parameters
    ----------
    field : Field
    span : pair of float
    method, sensitivity : str. The latter from `chosen`.
    options : dict. Other options of `scipy.integrate.solve_ivp`.
    times : sequence of float, optional. The times of the states; default: each step.
    events : sequence of callable. Functions of a time and an array.

    Attributes
    ----------
    found: SciPy's result.
    times: The times of the rows of `states`: those of the result, then those of each event.
    states : Tensor. A row for each time.
    """

    def __init__(
        self,
        field: Field,
        span: tuple[float, float],
        method: str,
        sensitivity: str,
        options: dict[str, Any],
        times: Sequence[float] | None = None,
        events: Sequence[Callable[..., Any]] = (),
    ) -> None:
        self._field = field
        self._method = method
        self._options = options
        self._common: dict[str, Any] = {"t_eval": times}
        if events:
            self._common["events"] = events
        self._span = span
        start = np.array(without_tangent(field.state.initial)._array(), dtype=field.work)
        self.states: Any = getattr(self, f"_{sensitivity}")(start)

    def _solved(self, function: Any, start: Any, method: Any, **more: Any) -> Any:
        solve = scipy_module("integrate", "integrate").solve_ivp
        options = {**self._options, **self._common, **more}
        self.found = solve(function, self._span, start, method=method, **options)
        found = self.found
        rows = [found.y.T, *[np.reshape(y, (-1, len(start))) for y in found.y_events or ()]]
        self.times = np.concatenate([found.t, *(found.t_events or ())])
        return np.concatenate(rows)

    def _jacobian(self, jacobian: Any) -> dict[str, Any]:
        """Return the option that gives implicit methods the Jacobian instead of an estimate."""
        return {"jac": jacobian} if self._method in IMPLICIT else {}

    def _none(self, start: Any) -> Any:
        field = self._field
        rows = self._solved(field.numeric, start, self._method, **self._jacobian(field.jacobian))
        return new_tensor(rows.astype(field.state.dtype))

    def _discrete(self, start: Any) -> Any:
        field = self._field
        steps = Steps(field)
        method = recording_method(self._method)
        rows = self._solved(steps.evaluate, start, method, steps=steps)
        rows = rows.astype(field.state.dtype)
        return DiscreteSolution.apply(steps, self._method, self.times, rows, *field.inputs)

    def _adjoint(self, start: Any) -> Any:
        field = self._field
        more = self._jacobian(field.jacobian)
        rows = self._solved(field.numeric, start, self._method, dense_output=True, **more)
        options = {**self._options, **more, "method": self._method}
        options.pop("first_step", None)
        course = Course(field, self._span[0], self.times, self.found.sol, options, self._again)
        return AdjointSolution.apply(course, rows.astype(field.state.dtype), *field.inputs)

    def _forward(self, start: Any) -> Any:
        field = self._field
        variations = Variations(field)
        n = field.state.size
        if "events" in self._common:
            self._common["events"] = [_of_state(event, n) for event in self._common["events"]]
        more = self._jacobian(variations.jacobian)
        if np.ndim(self._options["atol"]):
            more["atol"] = np.tile(self._options["atol"], 1 + variations.size)
        rows = self._solved(variations.slope, variations.start(start), self._method, **more)
        return ForwardSolution.apply(variations, rows, *field.inputs)

    def _again(self, field: Field, start: float, times: list[float]) -> Any:
        """Integrate again by the same method, with the adjoint sensitivity."""
        options = dict(self._options)
        options.pop("first_step", None)
        options["atol"] = float(np.min(options["atol"]))
        sensitivity = chosen("adjoint", self._method, field)
        flow = Flow(field, (start, times[-1]), self._method, sensitivity, options, times)
        if not flow.found.success:
            raise RuntimeError(
                f"the adjoint equation could not be integrated from t={start:g} back to "
                f"{times[-1]:g}: {flow.found.message}"
            )
        return flow.states


def _of_state(event: Any, size: int) -> Any:
    """Return `event` as a function of the state at the front of a longer vector."""

    def function(t: float, both: Any) -> Any:
        return event(t, both[:size])

    for name in ("terminal", "direction"):
        if hasattr(event, name):
            setattr(function, name, getattr(event, name))
    return function
