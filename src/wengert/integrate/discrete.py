"""Layer 8 · integrate: derivatives of the steps taken by an explicit Runge-Kutta method.

NOTE [discrete sensitivity]
SciPy's solver chooses the steps; the evaluations of the right-hand side are recorded, and those of
accepted steps are kept. A step from y with size h is

    Y_i = y + h (a_i0 K_0 + ... + a_i,i-1 K_i-1),   K_i = f(t + c_i h, Y_i),
    y'  = y + h (b_0 K_0 + ... + b_s-1 K_s-1),      K_s = f(t + h, y'),

where K_s is K_0 of the next step, and the solution between is ``y + h (w_0(x) K_0 + ... + w_s(x)
K_s)`` with polynomials w. The backward pass goes through these equations from last to first with
arrays, and uses the tape only for products with derivatives of f. Step sizes count as constants.
For second derivatives the steps are taken again, with tensors.

References: Hairer, Nørsett, Wanner, "Solving Ordinary Differential Equations I", II.4 to II.6;
Walther, "Automatic differentiation of explicit Runge-Kutta methods for optimal control", 2007.
"""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np

from wengert.autograd.elements import each
from wengert.autograd.function import Function
from wengert.autograd.local import Gates, products
from wengert.base.extras import scipy_module
from wengert.integrate.field import Field, gradient_of
from wengert.interp.levels import is_plain
from wengert.ops.join import stack
from wengert.tape.base import new_tensor
from wengert.tape.modes import enable_grad, is_grad_enabled

METHODS = ("RK23", "RK45")


class Steps:
    """The steps that a solver took, with the recorded evaluations of each.

    Attributes
    ----------
    times: The times between steps, the first one included.
    stages: For each step the evaluations after the first, which is the last of the previous step;
        the very first one is in `first`.
    """

    def __init__(self, field: Field) -> None:
        self.field = field
        self.first: Any = None
        self.times: list[float] = []
        self.stages: list[list[Any]] = []
        self._recent: list[Any] = []

    def evaluate(self, t: float, y: Any) -> Any:
        """Evaluate dy/dt for the solver, and record it."""
        pair = self.field.recorded(t, y)
        if self.first is None:
            self.first = pair
        self._recent.append(pair)
        return pair[1]._payload

    def accept(self, before: float, after: float, count: int, proposal: float) -> None:
        """Keep the last `count` evaluations as a step's; earlier ones are from rejected steps."""
        if not self.times:
            self.times.append(before)
        self.times.append(after)
        self.stages.append(self._recent[-count:])
        self._recent = []

    def place(self, tableau: Any, time: float) -> tuple[int, Any]:
        """Return the step that contains `time`, and the weights of its stages there.

        None denotes the weights at the end of a step, which is a separate value.
        """
        times = np.asarray(self.times)
        sign = 1.0 if times[-1] >= times[0] else -1.0
        step = min(int(np.searchsorted(sign * times[1:], sign * time)), len(times) - 2)
        if time == times[step + 1]:
            return step, None
        x = (time - times[step]) / (times[step + 1] - times[step])
        powers = np.cumprod(np.full(tableau.P.shape[1], x))
        return step, tableau.P @ powers


@cache
def recording_method(name: str) -> Any:
    """Make a subclass of SciPy's solver of that name that records its steps in a `Steps`."""
    base = getattr(scipy_module("integrate", f"method={name!r}"), name)

    def initialise(self: Any, *args: Any, steps: Steps, **options: Any) -> None:
        self.steps = steps
        base.__init__(self, *args, **options)

    def step(self: Any) -> Any:
        before = self.t
        done, message = base._step_impl(self)
        if done:
            self.steps.accept(before, self.t, self.n_stages, self.h_abs)
        return done, message

    return type(f"Recording{name}", (base,), {"__init__": initialise, "_step_impl": step})


class DiscreteSolution(Function):
    """The states at some times, as a function of the initial state and the parameters.

    `outputs` has a row for each of `times`.
    """

    @staticmethod
    def forward(ctx: Any, steps: Steps, method: str, times: Any, outputs: Any, *inputs: Any) -> Any:
        ctx.steps = steps
        ctx.method = method
        ctx.times = times
        ctx.save_for_backward(*inputs)
        return new_tensor(outputs)

    @staticmethod
    def backward(ctx: Any, grad: Any) -> Any:
        """See NOTE [discrete sensitivity]."""
        grads = each(lambda grads: DiscreteSolution._pulled(ctx, grads[0]), [grad])
        return None, None, None, None, *grads

    @staticmethod
    def _pulled(ctx: Any, grad: Any) -> list[Any]:
        inputs = ctx.saved_tensors
        steps: Steps = ctx.steps
        tableau = recording_method(ctx.method)
        recording = is_grad_enabled()
        if not recording and is_plain(grad._payload):
            results = _backwards(steps, tableau, ctx.times, grad._payload)
            return [gradient_of(a, like) for a, like in zip(results, inputs, strict=True)]
        count = 1 + len(steps.field.parameters)
        gates = Gates()
        initial, *parameters = gates.before(inputs[:count])
        with enable_grad():
            outputs = _again(steps, tableau, ctx.times, initial, parameters)
        targets = [initial, *parameters, *steps.field.closures]
        results = products([outputs], targets, [grad], create_graph=recording)
        gates.open()
        return results


def _backwards(steps: Steps, tableau: Any, times: Any, grad: Any) -> list[Any]:
    """Return the gradients of the initial state, the parameters and the closures, as arrays."""
    field = steps.field
    sums: list[Any] = [None] * len(field.wanted)
    zeros = np.zeros(field.state.size, field.work)

    def pulled(pair: tuple[Any, Any], cotangent: Any) -> Any:
        """Return the product with the state's derivative; add up those with the parameters'."""
        if not cotangent.any():
            return zeros
        state, value = pair
        by_state, *others = field.pulled(value, [state, *field.wanted], cotangent)
        for i, other in enumerate(others):
            if other is not None:
                if sums[i] is None:
                    sums[i] = other  # a separate array
                else:
                    sums[i] += other
        return zeros if by_state is None else by_state

    adjoint = zeros.copy()  # of the state after the step
    slope = zeros.copy()  # of dy/dt there
    placed: dict[int, list[Any]] = {}
    for row, time in enumerate(times):
        step, weights = (-1, None) if not steps.stages else steps.place(tableau, time)
        placed.setdefault(step, []).append((row, weights))
    s = tableau.n_stages
    for n in range(len(steps.stages) - 1, -1, -1):
        h = steps.times[n + 1] - steps.times[n]
        stages = [steps.first if n == 0 else steps.stages[n - 1][-1], *steps.stages[n]]
        cotangents = np.zeros((s + 1, field.state.size), field.work)
        cotangents[s] = slope
        before = zeros.copy()
        for row, weights in placed.get(n, ()):
            if weights is None:
                adjoint = adjoint + grad[row]
            else:
                before += grad[row]
                cotangents += h * np.multiply.outer(weights, grad[row])
        adjoint = adjoint + pulled(stages[s], cotangents[s])
        cotangents[:s] += h * np.multiply.outer(tableau.B, adjoint)
        before += adjoint
        for i in range(s - 1, 0, -1):
            stage = pulled(stages[i], cotangents[i])
            before += stage
            cotangents[:i] += h * np.multiply.outer(tableau.A[i, :i], stage)
        adjoint, slope = before, cotangents[0]
    for row, _ in placed.get(-1, ()):
        adjoint = adjoint + grad[row]
    adjoint = adjoint + pulled(steps.first, slope)
    return [adjoint, *sums]


def _again(steps: Steps, tableau: Any, times: Any, y: Any, parameters: list[Any]) -> Any:
    """Return the states at `times`, recomputed by the same steps with recording."""
    field = steps.field
    rows: list[Any] = [None] * len(times)
    placed = [(-1, None) if not steps.stages else steps.place(tableau, time) for time in times]
    for row, (step, _) in enumerate(placed):
        if step == -1:
            rows[row] = y
    slope = field(field.time(steps.times[0]), y, parameters) if steps.stages else None
    for n in range(len(steps.stages)):
        t, h = steps.times[n], steps.times[n + 1] - steps.times[n]
        slopes = [slope]
        for i in range(1, tableau.n_stages):
            state = y + _combined(h * tableau.A[i, :i], slopes)
            slopes.append(field(field.time(t + tableau.C[i] * h), state, parameters))
        after = y + _combined(h * tableau.B, slopes)
        slope = field(field.time(t + h), after, parameters)
        slopes.append(slope)
        for row, (step, weights) in enumerate(placed):
            if step == n:
                rows[row] = after if weights is None else y + _combined(h * weights, slopes)
        y = after
    return stack(rows)


def _combined(weights: Any, slopes: list[Any]) -> Any:
    """Return the weighted sum of `slopes`."""
    stages = stack(slopes)
    return new_tensor(np.asarray(weights, dtype=stages._payload.dtype)) @ stages
