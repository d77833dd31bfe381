"""Layer 2 · prims: recurrent layers, one record for each, and the equivalent compositions.

The compositions define what a layer computes, and are used for values other than raw arrays (see
NOTE [rules of compositions] in `wengert.prims.pull`); the kernels are for raw arrays. See NOTE
[steps of a recurrent layer] for the order of the steps in the rows of an input.

The last argument, `known`, holds values that the kernels of the forward pass kept for the backward
pass, or is empty. It only saves recomputing them: it has no derivative.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from wengert.kernels import recurrent as kernels
from wengert.prims.families import constant, general
from wengert.prims.pull import are_raw, pull
from wengert.prims.record import Case, case

Sizes = tuple[int, ...]


def _first(F: Any, value: Any, size: int) -> Any:
    """Return the first rows of a state."""
    count = value.shape[0]
    return value if size == count else F.slice(value, dim=0, start=0, end=size, step=1)


def _replaced(F: Any, whole: Any, first: Any) -> Any:
    """Replace the first rows of a state."""
    size, count = first.shape[0], whole.shape[0]
    if size == count:
        return first
    return F.cat(first, F.slice(whole, dim=0, start=size, end=count, step=1), dim=0)


def _walk(
    F: Any,
    x: Any,
    states: tuple[Any, ...],
    step: Callable[..., tuple[Any, ...]],
    sizes: Sizes,
    reverse: bool,
) -> tuple[Any, ...]:
    """Run all steps; return the first state after each, and the final states."""
    even, width = sizes[0] == sizes[-1], x.shape[1]
    if even:
        # the compiler makes a loop of `unbind` and `stack`
        rows = F.unbind(F.unsafe_view(x, shape=(len(sizes), sizes[0], width)), dim=0)
    else:
        rows = F.split(x, sizes=sizes, dim=0)
    made = [rows[0]] * len(sizes)
    for t in reversed(range(len(sizes))) if reverse else range(len(sizes)):
        after = step(rows[t], *[_first(F, state, sizes[t]) for state in states])
        made[t] = after[0]
        states = tuple([_replaced(F, s, a) for s, a in zip(states, after, strict=True)])
    if even:
        whole = F.unsafe_view(F.stack(*made, dim=0), shape=(x.shape[0], made[0].shape[1]))
        return whole, *states
    return F.cat(*made, dim=0), *states


def lstm_steps(
    F: Any,
    x: Any,
    weight: Any,
    h0: Any,
    c0: Any,
    projection: Any = None,
    *,
    sizes: Sizes,
    reverse: bool,
) -> tuple[Any, ...]:
    """Return the states h of each step of an LSTM, and the final h and c."""
    turned, gates = F.t(weight), (c0.shape[1],) * 4
    narrow = None if projection is None else F.t(projection)

    def step(row: Any, h: Any, c: Any) -> tuple[Any, Any]:
        i, f, g, o = F.split(F.add(row, F.mm(h, turned)), sizes=gates, dim=1)
        c = F.add(F.mul(F.sigmoid(f), c), F.mul(F.sigmoid(i), F.tanh(g)))
        h = F.mul(F.sigmoid(o), F.tanh(c))
        return (h if narrow is None else F.mm(h, narrow)), c

    return _walk(F, x, (h0, c0), step, sizes, reverse)


def gru_steps(
    F: Any, x: Any, weight: Any, bias: Any, h0: Any, *, sizes: Sizes, reverse: bool
) -> tuple[Any, ...]:
    """Return the states of each step of a GRU, and the final one."""
    turned, hidden = F.t(weight), h0.shape[1]
    gates = (2 * hidden, hidden)

    def step(row: Any, h: Any) -> tuple[Any]:
        inner = F.addmm(bias, h, turned, beta=1, alpha=1)
        (own, new), (front, back) = [F.split(v, sizes=gates, dim=1) for v in (row, inner)]
        r, z = F.split(F.sigmoid(F.add(own, front)), sizes=(hidden, hidden), dim=1)
        n = F.tanh(F.add(new, F.mul(r, back)))
        return (F.add(n, F.mul(z, F.sub(h, n))),)

    return _walk(F, x, (h0,), step, sizes, reverse)


def rnn_steps(
    F: Any, x: Any, weight: Any, h0: Any, *, sizes: Sizes, reverse: bool, nonlinearity: str
) -> tuple[Any, ...]:
    """Return the states of each step of a simple recurrent layer, and the final one."""
    turned = F.t(weight)
    bend = F.tanh if nonlinearity == "tanh" else F.relu

    def step(row: Any, h: Any) -> tuple[Any]:
        return (bend(F.add(row, F.mm(h, turned))),)

    return _walk(F, x, (h0,), step, sizes, reverse)


def _slopes(
    F: Any, g: Any, tensors: Any, steps: Callable[..., Any], backward: str, **params: Any
) -> tuple[Any, ...]:
    if are_raw(*g, *tensors):
        return *getattr(F, backward)(*g, *tensors, **params), None
    return *pull(F, partial(steps, **params), tensors[:-1], g), None


def _unknown(rng: Any) -> Any:
    return np.empty(0)


# -- records ---------------------------------------------------------------------------------------

_COMPLEX = {"c": "recurrent layers take real numbers, not '{}'"}
_SIZES: tuple[tuple[Sizes, bool, int], ...] = (
    ((2, 1), False, 2),
    ((2, 1), True, 1),
    ((1, 1), True, 1),
)


def _shapes(sizes: Sizes, hidden: int, gates: int, states: int, biased: bool) -> list[Any]:
    """Return the shapes of a layer's arguments: its input, its parameters, and its first states."""
    own: list[Any] = [(sum(sizes), gates * hidden), (gates * hidden, hidden)]
    own += [(gates * hidden,)] if biased else []
    return [*own, *[(sizes[0], hidden)] * states, _unknown]


def _cases(gates: int, states: int, biased: bool = False, **more: Any) -> tuple[Case, ...]:
    return tuple(
        case(*_shapes(sizes, hidden, gates, states, biased), sizes=sizes, reverse=back, **more)
        for sizes, back, hidden in _SIZES
    )


def _slope_cases(gates: int, states: int, biased: bool = False, **more: Any) -> tuple[Case, ...]:
    made = []
    for sizes, back, hidden in _SIZES:
        given = [(sum(sizes), hidden), *[(sizes[0], hidden)] * states]
        shapes = _shapes(sizes, hidden, gates, states, biased)
        made.append(case(*given, *shapes, sizes=sizes, reverse=back, **more))
    return tuple(made)


general(
    "lstm_layer",
    kernels.lstm_layer,
    refuses=_COMPLEX,
    args=("*tensors",),
    outputs=3,
    vjp=(
        lambda F, g, tensors, **params: _slopes(
            F, g, tensors, lstm_steps, "lstm_backward", **params
        ),
    ),
    cases=_cases(4, 2),
    doc="the states of an LSTM over a sequence, and the final ones",
    raises=False,
)
general(
    "gru_layer",
    kernels.gru_layer,
    refuses=_COMPLEX,
    args=("*tensors",),
    outputs=2,
    vjp=(
        lambda F, g, tensors, **params: _slopes(F, g, tensors, gru_steps, "gru_backward", **params),
    ),
    cases=_cases(3, 1, True),
    doc="the states of a GRU over a sequence, and the final one",
    raises=False,
)
general(
    "rnn_layer",
    kernels.rnn_layer,
    refuses=_COMPLEX,
    args=("*tensors",),
    outputs=2,
    vjp=(
        lambda F, g, tensors, **params: _slopes(F, g, tensors, rnn_steps, "rnn_backward", **params),
    ),
    cases=(
        *_cases(1, 1, nonlinearity="tanh"),
        *_cases(1, 1, nonlinearity="relu"),
    ),
    doc="the states of a simple recurrent layer over a sequence, and the final one",
    raises=False,
)
for _name, _outputs, _made in (
    ("lstm", 4, _slope_cases(4, 2)),
    ("gru", 4, _slope_cases(3, 1, True)),
    ("rnn", 3, _slope_cases(1, 1, nonlinearity="tanh")),
):
    constant(
        f"{_name}_backward",
        getattr(kernels, f"{_name}_backward"),
        refuses=_COMPLEX,
        args=("*tensors",),
        outputs=_outputs,
        cases=_made,
        raises=False,
        doc=f"the cotangents of the arguments of {_name}_layer, on raw arrays",
    )
