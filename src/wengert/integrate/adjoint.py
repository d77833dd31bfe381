"""Layer 8 · integrate: derivatives by an adjoint equation that is integrated backwards.

NOTE [adjoint sensitivity]
The gradient a(t) of a function of the states at some times, with respect to the state at t,
satisfies

    da/dt = -(df/dy)ᵀ a,

and grows by the gradient of the function at each of these times. So it is integrated backwards from
each of them to the previous one, with the state from the solver's own interpolation. The gradient
of the parameters is the integral of (df/dp)ᵀ a. Parameters, however many, are not part of the
solver's state and error control: the integral is taken over its steps, with the stage weights of an
explicit Runge-Kutta method, or else by Gauss-Legendre quadrature of its interpolation. The equation
is linear in a, so a is scaled to make the tolerances mean the same as for the state.

For second derivatives the states, a, and the integral are integrated together, as an equation that
is differentiable like the original.

References: Cao, Li, Petzold, Serban, "Adjoint sensitivity analysis for differential-algebraic
equations", 2003; Chen et al., "Neural ordinary differential equations", 2018.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from wengert.autograd.elements import each
from wengert.autograd.function import Function
from wengert.autograd.local import Gates, leaf, products
from wengert.base.extras import scipy_module
from wengert.integrate.discrete import recording_method
from wengert.integrate.field import Field, State, gradient_of
from wengert.interp.levels import is_plain
from wengert.ops.create import zeros
from wengert.ops.like import zeros_like
from wengert.tape.base import new_tensor
from wengert.tape.modes import enable_grad, is_grad_enabled, is_recording

# the nodes and weights of Gauss-Legendre quadrature on [0, 1], exact up to degree 5
_ROOT = 0.15**0.5
_NODES = (0.5 - _ROOT, 0.5, 0.5 + _ROOT)
_WEIGHTS = (5 / 18, 8 / 18, 5 / 18)


EXPLICIT = ("RK23", "RK45", "DOP853")


class Course:
    """A solution with the data for the backward integration.

    Attributes
    ----------
    states: Returns the state at a time, as an array.
    times: The times of the rows of the solution.
    solve: Integrates a field from one time to others by the same method, recorded: ``solve(field,
        start, times)``.
    """

    def __init__(
        self,
        field: Field,
        start: float,
        times: Any,
        states: Any,
        options: dict[str, Any],
        solve: Any,
    ) -> None:
        self.field = field
        self.start = start
        self.times = times
        self.states = states
        self.options = options
        self.solve = solve


class AdjointSolution(Function):
    """The states at some times, as a function of the initial state and the parameters."""

    @staticmethod
    def forward(ctx: Any, course: Course, outputs: Any, *inputs: Any) -> Any:
        ctx.course = course
        result = new_tensor(outputs)
        ctx.save_for_backward(result, *inputs)
        return result

    @staticmethod
    def backward(ctx: Any, grad: Any) -> Any:
        """See NOTE [adjoint sensitivity]."""
        return None, None, *each(lambda grads: AdjointSolution._pulled(ctx, grads[0]), [grad])

    @staticmethod
    def _pulled(ctx: Any, grad: Any) -> list[Any]:
        states, *inputs = ctx.saved_tensors
        course: Course = ctx.course
        recording = is_grad_enabled()
        if recording or not is_plain(grad._payload):
            with enable_grad():
                results = _recorded(course, states, inputs, grad)
            if recording:
                return results
            return [None if r is None else new_tensor(r._payload) for r in results]
        arrays = _backwards(course, grad._payload, any(ctx.needs_input_grad[3:]))
        return [gradient_of(a, like) for a, like in zip(arrays, inputs, strict=True)]


def _order(course: Course, rows: Iterable[int]) -> list[tuple[float, int]]:
    sign = 1.0 if max(course.times) > course.start else -1.0
    stops = [(float(course.times[row]), row) for row in rows]
    return sorted(stops, key=lambda stop: -sign * stop[0])


def _backwards(course: Course, grad: Any, by_parameters: bool) -> list[Any]:
    field = course.field
    sums: list[Any] = [None] * len(field.wanted)
    scale = float(np.abs(grad).max()) if grad.size else 0.0
    adjoint = np.zeros(field.state.size, field.work)
    if not np.isfinite(scale):
        return [np.full_like(adjoint, np.nan), *[np.full(t.shape, np.nan) for t in field.wanted]]
    if scale == 0.0:
        return [adjoint, *sums]
    # the times at which the adjoint grows, with their rows
    stops = _order(course, [row for row in range(len(grad)) if grad[row].any()])
    integrate = scipy_module("integrate", "sensitivity='adjoint'").solve_ivp

    options = dict(course.options)
    parameters = field.wanted if by_parameters else []
    integral: _Integral | None = None
    if options["method"] in EXPLICIT:
        method = recording_method(options["method"])
        integral = _Integral(sums, method.B)
        options.update(method=method, steps=integral)

    def slope(t: float, a: Any) -> Any:
        state, value = field.recorded(t, course.states(t))
        if integral is None:
            (pulled,) = field.pulled(value, [state], a)
        else:
            pulled, *others = field.pulled(value, [state, *parameters], a)
            integral.note(others)
        return np.zeros_like(a) if pulled is None else -pulled

    def jacobian(t: float, a: Any) -> Any:
        return -field.jacobian(t, course.states(t)).conj().T

    if "jac" in options:
        options["jac"] = jacobian
    ends = [time for time, _ in stops[1:]] + [course.start]
    for (time, row), end in zip(stops, ends, strict=True):
        adjoint = adjoint + grad[row] / scale
        if time == end:
            continue
        if integral is not None:
            integral.begin()
            if integral.proposal:
                options["first_step"] = min(integral.proposal, abs(time - end))
        dense = by_parameters and integral is None
        found = integrate(slope, (time, end), adjoint, dense_output=dense, **options)
        if not found.success:
            raise RuntimeError(
                f"the adjoint equation could not be integrated from t={time:g} back to {end:g}: "
                f"{found.message} Try a method for stiff equations, or sensitivity='discrete'."
            )
        if dense:
            _add_integral(course, found, sums)
        adjoint = found.y[:, -1]
    return [adjoint * scale, *[None if total is None else total * scale for total in sums]]


def _add_integral(course: Course, found: Any, sums: list[Any]) -> None:
    """Add the gradient of the parameters over the steps of `found`."""
    field = course.field
    for begin, end in zip(found.sol.ts[:-1], found.sol.ts[1:], strict=True):
        for node, weight in zip(_NODES, _WEIGHTS, strict=True):
            t = begin + node * (end - begin)
            _, value = field.recorded(t, course.states(t))
            cotangent = weight * (begin - end) * found.sol(t)
            _add(sums, field.pulled(value, field.wanted, cotangent))


def _add(sums: list[Any], parts: list[Any], factor: float = 1.0) -> None:
    for i, part in enumerate(parts):
        if part is not None:
            part = factor * part
            if sums[i] is None:
                sums[i] = part  # a separate array
            else:
                sums[i] += part


class _Integral:
    """The gradient of the parameters, integrated with the stage weights of a Runge-Kutta method.

    Attributes
    ----------
    proposal: The step that the solver would take next.
    """

    def __init__(self, sums: list[Any], weights: Any) -> None:
        self._sums = sums
        self._weights = weights.tolist()
        self.proposal = 0.0
        self.begin()

    def begin(self) -> None:
        """Prepare for the first evaluation of an integration."""
        self._last: list[Any] | None = None
        self._recent: list[list[Any]] = []

    def note(self, products: list[Any]) -> None:
        """Record the products of one evaluation."""
        if self._last is None:
            self._last = products
        self._recent.append(products)

    def accept(self, before: float, after: float, count: int, proposal: float) -> None:
        """Add a step, whose evaluations were the last `count`."""
        stages = [self._last, *self._recent[-count:]]
        for weight, parts in zip(self._weights, stages, strict=False):
            if weight and parts is not None:
                _add(self._sums, parts, weight * (before - after))
        # the last step is cut to what remains
        self.proposal = max(proposal, abs(after - before))
        self._last = stages[-1]
        self._recent = []


def _recorded(course: Course, states: Any, inputs: list[Any], grad: Any) -> list[Any]:
    """Return the gradients as functions on the tape."""
    field = course.field
    count = len(field.parameters)
    followed = [i for i, t in enumerate(inputs[1:]) if t._edge is not None]

    def slopes(t: Any, both: Any, *given: Any) -> Any:
        y, a, *_ = both
        recording = is_recording()
        with enable_grad():
            gates = Gates()
            y, *parameters = gates.before([y, *given])
            # products with values without history need an edge, too
            y = leaf(y) if y._edge is None else y
            parameters = [
                leaf(p) if p._edge is None and i in followed else p
                for i, p in enumerate(parameters)
            ]
            value = field(t, y, parameters)
            by = [*parameters, *field.closures]
            targets = [y, *[by[i] for i in followed]]
            pulled = products([value], targets, [a.to(value.dtype)], create_graph=recording)
            gates.open()
        parts = [value if recording else value.detach()]
        for target, product in zip(targets, pulled, strict=True):
            parts.append(zeros_like(target) if product is None else -product)
        return tuple(part.to(y.dtype) for part in parts)

    stops = _order(course, range(len(course.times)))
    ends = [time for time, _ in stops[1:]] + [course.start]
    adjoint = zeros_like(states[0])
    sums = [zeros(inputs[1 + i].shape, dtype=states.dtype) for i in followed]
    for (time, row), end in zip(stops, ends, strict=True):
        adjoint = adjoint + grad[row]
        if time != end:
            state = State((states[row], adjoint, *sums), "the adjoint state")
            both = Field(slopes, "the adjoint equation", state, tuple(inputs[1 : 1 + count]), time)
            _, adjoint, *sums = state.split(course.solve(both, time, [end])[0])
    results: list[Any] = [adjoint, *[None] * (len(inputs) - 1)]
    for i, total in zip(followed, sums, strict=True):
        like = inputs[1 + i]
        real = total.real if total.is_complex() and not like.is_complex() else total
        results[1 + i] = real.to(like.dtype)
    return results
