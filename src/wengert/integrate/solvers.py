"""Layer 8 · integrate: `odeint` and `solve_ivp`, with SciPy's arguments."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from wengert.autograd.elements import each, followed, in_batch, without_tangent
from wengert.base.containers import flatten
from wengert.implicit.vectors import precision
from wengert.integrate.field import Field, State
from wengert.integrate.flow import Flow, chosen
from wengert.integrate.times import at_event, moved
from wengert.ops.create import as_tensor
from wengert.ops.join import stack
from wengert.tape.base import new_tensor
from wengert.tape.modes import is_recording, no_grad
from wengert.tensor.tensor import Tensor

_OPTIONS = ("first_step", "max_step", "min_step")


def odeint(
    func: Callable[..., Any],
    y0: Any,
    t: Any,
    args: Any = (),
    *,
    tfirst: bool = False,
    rtol: float | None = None,
    atol: Any = None,
    method: str = "RK45",
    sensitivity: str = "auto",
    **options: Any,
) -> Any:
    """Integrate ``dy/dt = func(y, t, *args)`` from ``t[0]`` on, with derivatives.

    Parameters
    ----------
    func : callable. Takes the state, the time as a 0-d tensor, and `args`, and returns dy/dt in the
        structure of the state, by recorded operations. Gradients also flow to tensors that it
        closes over.
    y0 : Tensor or containers of tensors. The state at ``t[0]``, of any shape; floating, or complex
        (not with Radau and LSODA).
    t : Tensor or sequence of numbers. The times at which to return the state, in ascending or
        descending order.
    args : tuple. Parameters, which may be nested in lists, tuples and dicts.
    tfirst : bool. Whether `func` takes the time before the state.
    rtol, atol : float, optional. The tolerances of each step; default: the root of the dtype's
        precision, 1.5e-8 for doubles.
    method : {"RK45", "RK23", "DOP853", "Radau", "BDF", "LSODA"}. SciPy's solver; the last three are
        for stiff equations.
    sensitivity : {"auto", "discrete", "forward", "adjoint"}. How derivatives are computed; see
        `solve_ivp`.
    **options: ``first_step``, ``max_step`` and ``min_step`` of SciPy's solvers.

    Returns
    -------
    Tensor or containers of tensors: The states, in the structure of `y0`, with a new first
        dimension for the times. Differentiable with respect to `y0`, `t`, `args`, and tensors that
        `func` closes over.

    Raises
    ------
    RuntimeError: If the integration fails, for example because the solution diverges.
    ValueError: If `t` is not sorted, or the result of `func` does not have the state's shape.
    TypeError: If states are not floating, or `func` returns complex numbers for a real state.
    %(error_scipy)s

    Examples
    --------
    >>> y0 = wg.tensor([1.0], dtype=wg.float64)
    >>> rate = wg.tensor(-0.5, dtype=wg.float64, requires_grad=True)
    >>> y = wg.integrate.odeint(lambda y, t, rate: rate * y, y0, [0.0, 1.0, 2.0], (rate,))
    >>> y[:, 0].detach()
    tensor([1.0000, 0.6065, 0.3679], dtype=torch.float64)
    >>> wg.autograd.grad(y[2, 0], rate)
    (tensor(0.7358, dtype=torch.float64),)
    """
    leaves, rebuild = flatten((y0, t, args))
    tensors = [item for item in leaves if isinstance(item, Tensor)]
    if in_batch(tensors):
        options.update(tfirst=tfirst, rtol=rtol, atol=atol, method=method, sensitivity=sensitivity)
        structures: list[Any] = []

        def one(parts: list[Any]) -> list[Any]:
            source = iter(parts)
            y0, t, args = rebuild([next(source) if isinstance(i, Tensor) else i for i in leaves])
            made, structure = flatten(odeint(func, y0, t, args, **options))
            structures.append(structure)
            return made

        states = each(one, tensors)
        return structures[0](states)
    state = State(y0, "y0")
    times = _times(t, "t")
    if times.size == 0:
        raise ValueError("t must hold at least the time of y0, but is empty")
    ordered = np.diff(times) * (1.0 if times[-1] >= times[0] else -1.0)
    if (ordered <= 0).any():
        raise ValueError("t must be strictly increasing or decreasing")
    call = func if tfirst else _swapped(func)
    field = Field(call, _name(func), state, args, float(times[0]))
    tolerance = precision(state.dtype) ** 0.5
    options = _checked(options) | {
        "rtol": tolerance if rtol is None else rtol,
        "atol": tolerance if atol is None else atol,
    }
    first = state.initial
    by_time = _followed(t)
    if by_time:
        _start_at(field, t[0], float(times[0]))
    used = chosen(sensitivity, method, field)
    if len(times) == 1:
        return state.split(first.reshape((1, state.size)), (1,))
    flow = Flow(field, (float(times[0]), float(times[-1])), method, used, options, times)
    if not flow.found.success:
        reached = f" after t={flow.found.t[-1]:g}" if len(flow.found.t) else ""
        raise RuntimeError(f"odeint failed{reached}: {flow.found.message}")
    states = flow.states
    if by_time:
        rows = [
            _moved_to(field, float(time), t[k], states[k])
            for k, time in enumerate(times.tolist())
            if k > 0
        ]
        states = stack([first, *rows])
    return state.split(states, (len(times),))


@dataclass(repr=False, eq=False)
class OdeResult:
    """The result of `solve_ivp`.

    Attributes
    ----------
    t : Tensor. The times, of shape (m,).
    y : Tensor. The states at these, of shape (n, m); differentiable.
    t_events, y_events : list of Tensor, or None. For each event, the times at which it occurred,
        and the states then, of shape (k, n); differentiable.
    sensitivity : str. How derivatives are computed: "discrete", "forward", "adjoint", or "none" if
        no input requires a gradient.
    nfev, njev, nlu : int. The number of evaluations of the right-hand side and its Jacobian, and of
        matrix factorizations.
    status : int. 0: the end was reached; 1: an event ended the integration; -1: it failed.
    message : str. The status in words.
    success : bool. Whether it did not fail.
    """

    t: Any
    y: Any
    t_events: Any
    y_events: Any
    sensitivity: str
    nfev: int
    njev: int
    nlu: int
    status: int
    message: str
    success: bool

    def __repr__(self) -> str:
        lines = [f"{name:>11}: {value}" for name, value in vars(self).items()]
        return "\n".join(lines)


def solve_ivp(
    fun: Callable[..., Any],
    t_span: Any,
    y0: Any,
    method: str = "RK45",
    t_eval: Any = None,
    events: Any = None,
    args: Any = (),
    *,
    rtol: float = 1e-3,
    atol: Any = 1e-6,
    sensitivity: str = "auto",
    **options: Any,
) -> OdeResult:
    """Integrate ``dy/dt = fun(t, y, *args)`` over an interval, with derivatives.

    Parameters
    ----------
    fun : callable. Takes the time as a 0-d tensor, the state, and `args`, and returns dy/dt as a
        tensor, or a list of its elements, by recorded operations. Gradients also flow to tensors
        that it closes over.
    t_span : pair of numbers or tensors. The first time and the last.
    y0 : Tensor. The state at the first time, of shape (n,); floating, or complex (not with Radau
        and LSODA).
    method : {"RK45", "RK23", "DOP853", "Radau", "BDF", "LSODA"}. SciPy's solver; Radau, BDF and
        LSODA are for stiff equations, and get the Jacobian of `fun`.
    t_eval : Tensor or sequence of numbers, optional. The times at which to return the state;
        default: each step.
    events : callable or sequence of callables, optional. Functions ``event(t, y, *args)`` whose
        zeros to find, as in SciPy: with attributes ``terminal`` and ``direction``.
    args : tuple. Parameters, also inside lists, tuples and dicts.
    rtol, atol : float. The tolerances of each step.
    sensitivity : {"auto", "discrete", "forward", "adjoint"}. How derivatives are computed.

        * "discrete": those of the steps that RK23 or RK45 took, as they are. They are the exact
          derivatives of the numbers that come out, and can be taken any number of times. Every
          step is kept until then.
        * "forward": equations for the derivatives are integrated with the state, under the same
          tolerances; the number of derivatives counts, that of times does not. First derivatives
          only.
        * "adjoint": an equation is integrated backwards for each backward pass; the number of
          derivatives does not count, that of times at which states are used does. They agree with
          the solution to the tolerances.
        * "auto": "discrete" for RK23 and RK45, unless the state has more than 10,000 elements;
          else "forward" for up to 8 derivatives, and "adjoint" for more.
    **options
        ``first_step``, ``max_step`` and ``min_step`` of SciPy's solvers.

    Returns
    -------
    OdeResult: With ``t``, ``y``, ``t_events``, ``y_events``, ``sensitivity``, and what SciPy
        reports. Differentiable with respect to `y0`, `args`, tensors that `fun` closes over,
        `t_span` and `t_eval`.

    Raises
    ------
    ValueError: If shapes do not match, or the method does not support the sensitivity.
    TypeError: If states are not floating, or `fun` returns complex numbers for a real state.
    %(error_scipy)s

    Examples
    --------
    A ball that is thrown upwards, and the derivative of its landing time with respect to its speed:

    >>> def ball(t, y):
    ...     height, speed = y
    ...     return [speed, -10.0]
    >>> def ground(t, y):
    ...     return y[0]
    >>> ground.terminal, ground.direction = True, -1
    >>> y0 = wg.tensor([0.0, 20.0], dtype=wg.float64, requires_grad=True)
    >>> sol = wg.integrate.solve_ivp(ball, (0.0, 10.0), y0, events=ground)
    >>> round(sol.t_events[0].item(), 6), sol.sensitivity
    (4.0, 'discrete')
    >>> wg.autograd.grad(sol.t_events[0].sum(), y0)
    (tensor([0.0500, 0.2000], dtype=torch.float64),)
    """
    given = flatten((t_span, y0, t_eval, args))[0]
    if in_batch([item for item in given if isinstance(item, Tensor)]):
        raise RuntimeError(
            "solve_ivp does not work under vmap, since the elements of a batch take steps of their "
            "own: use odeint, with the times at which the states are wanted"
        )
    state = State(y0, "y0", flat=True)
    begin, end = t_span
    span = (float(_times(begin, "t_span")), float(_times(end, "t_span")))
    times = None if t_eval is None else _times(t_eval, "t_eval")
    field = Field(fun, _name(fun), state, args, span[0])
    if _followed(begin):
        _start_at(field, begin, span[0])
    used = chosen(sensitivity, method, field)
    watched = [events] if callable(events) else list(events or ())
    flow = Flow(
        field,
        span,
        method,
        used,
        _checked(options) | {"rtol": rtol, "atol": atol},
        times,
        [_numeric(event, field) for event in watched],
    )
    found = flow.found
    count = len(found.t)
    ts = [field.time(time) for time in found.t.tolist()]
    rows: Any = None
    if times is not None and _followed(t_eval):
        ts = [t_eval[k] for k in range(count)]
        rows = [_moved_to(field, float(found.t[k]), ts[k], flow.states[k]) for k in range(count)]
    elif times is None and _followed(end) and found.status == 0:
        ts[-1] = end.reshape(())
        rows = [*flow.states[: count - 1], _moved_to(field, span[1], end, flow.states[count - 1])]
    t_events, y_events = _events(flow, field, watched)
    if found.status == 1 and times is None and followed(flow.states):
        last = [(t[-1], y[-1]) for t, y in zip(t_events, y_events, strict=True) if len(t)]
        t_last, y_last = max(last, key=lambda pair: abs(float(without_tangent(pair[0])) - span[0]))
        ts[-1] = t_last
        rows = [*flow.states[: count - 1], y_last]
    states = flow.states[:count] if rows is None else stack(rows)
    return OdeResult(
        t=stack([t.to(_time_dtype(field)) for t in ts]) if ts else field.time(0.0).new_zeros(0),
        y=states.T,
        t_events=t_events if watched else None,
        y_events=y_events if watched else None,
        sensitivity=used,
        nfev=found.nfev,
        njev=found.njev,
        nlu=found.nlu,
        status=found.status,
        message=found.message,
        success=found.success,
    )


# -- arguments -----------------------------------------------------------------------------------


def _name(function: Any) -> str:
    return f"{getattr(function, '__name__', type(function).__name__)}()"


def _swapped(function: Callable[..., Any]) -> Callable[..., Any]:
    return lambda t, y, *args: function(y, t, *args)


def _times(value: Any, name: str) -> Any:
    """Return times as an array of doubles."""
    if isinstance(value, Tensor):
        value = without_tangent(value)._array()
    elif isinstance(value, list | tuple):
        value = [without_tangent(v)._array() if isinstance(v, Tensor) else v for v in value]
    times = np.asarray(value)
    if times.dtype.kind not in "iuf":
        raise TypeError(f"{name} must be real, but is {times.dtype}")
    return times.astype(np.float64)


def _followed(t: Any) -> bool:
    """Return whether derivatives with respect to `t` are needed."""
    return is_recording() and any(
        isinstance(item, Tensor) and followed(item) for item in flatten(t)[0]
    )


def _checked(options: dict[str, Any]) -> dict[str, Any]:
    for name in options:
        if name not in _OPTIONS:
            raise TypeError(
                f"unexpected keyword argument {name!r}: of SciPy's options, "
                f"{', '.join(_OPTIONS)} are taken"
            )
    return options


def _start_at(field: Field, t: Any, number: float) -> None:
    """Make the initial state a function of the time `t`, whose value is `number`."""
    t = t.reshape(()).to(_time_dtype(field))
    field.state.initial = moved(
        field, t, field.state.initial, field.time(number) - t, field.parameters
    )


def _moved_to(field: Field, number: float, t: Any, y: Any) -> Any:
    """Make the state `y` at a number a function of the time `t`, which has that value."""
    if not isinstance(t, Tensor):
        return y
    at = field.time(number)
    return moved(field, at, y, t.reshape(()).to(_time_dtype(field)) - at, field.parameters)


def _time_dtype(field: Field) -> Any:
    """Return the dtype of times that the user's function gets."""
    return field.time(0.0).dtype


# -- events --------------------------------------------------------------------------------------


def _numeric(event: Any, field: Field) -> Any:
    """Wrap an event for SciPy, as a function of numbers."""

    def function(t: float, y: Any) -> float:
        with no_grad():
            value = event(field.time(t), new_tensor(field.vector(y)), *field.arguments(field.plain))
            return float(value)

    for name in ("terminal", "direction"):
        if hasattr(event, name):
            setattr(function, name, getattr(event, name))
    return function


def _events(flow: Flow, field: Field, events: Sequence[Any]) -> tuple[list[Any], list[Any]]:
    """Return the times and the states of each event."""
    t_events: list[Any] = []
    y_events: list[Any] = []
    row = len(flow.found.t)
    for number, event in enumerate(events):
        count = len(flow.found.t_events[number])

        def function(t: Any, y: Any, parameters: list[Any], event: Any = event) -> Any:
            return event(t, y, *field.arguments(parameters))

        pairs = [(field.time(flow.times[k]), flow.states[k]) for k in range(row, row + count)]
        if followed(flow.states):
            pairs = [
                at_event(field, function, float(flow.times[row + k]), y, field.parameters)
                for k, (_, y) in enumerate(pairs)
            ]
        row += count
        empty = as_tensor(np.zeros(0, field.state.real))
        t_events.append(stack([t for t, _ in pairs]) if pairs else empty)
        y_events.append(
            stack([y for _, y in pairs])
            if pairs
            else as_tensor(np.zeros((0, field.state.size), field.state.dtype))
        )
    return t_events, y_events
