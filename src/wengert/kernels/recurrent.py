"""Layer 1 · kernels: recurrent layers, forwards and backwards.

NOTE [steps of a recurrent layer]
The rows of a layer's input are those of step 0, then those of step 1, and so on; `sizes` says how
many rows each step has, and never rises, so that a batch of sequences of different lengths needs no
padding. Row r of a step belongs to sequence r. The states of all sequences are one array, of which
a step reads and writes the first rows: forwards, the state of a sequence that has ended stays as it
is, and backwards (``reverse``) that of a sequence which has not begun is the initial one. So the
array is the final state after the last step, in both directions.

What a derivative needs of each step is in `known`: planes with a row for each row of the input.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

__all__ = [
    "gru_backward",
    "gru_layer",
    "gru_states",
    "lstm_backward",
    "lstm_layer",
    "lstm_states",
    "rnn_backward",
    "rnn_layer",
    "rnn_states",
    "steps",
]

Sizes = tuple[int, ...]


def steps(sizes: Sizes, reverse: bool) -> Iterator[tuple[int, int]]:
    """The first row and the number of rows of each step, in the order in which they are taken."""
    starts = [0]
    for size in sizes:
        starts.append(starts[-1] + size)
    order = range(len(sizes))
    for t in reversed(order) if reverse else order:
        yield starts[t], sizes[t]


def _sigmoid(a: Any) -> None:
    """The sigmoid, in place. Where the power overflows the result is 0, which is right."""
    np.negative(a, out=a)
    np.exp(a, out=a)
    np.add(a, 1, out=a)
    np.reciprocal(a, out=a)


# -- LSTM ------------------------------------------------------------------------------------------


def lstm_states(
    x: Any, weight: Any, h0: Any, c0: Any, *, sizes: Sizes, reverse: bool
) -> tuple[Any, Any, Any, Any]:
    """What `lstm_layer` returns, and the planes i, f, g, o, tanh(c), c and h before, of each step.

    The rows of `x` are what the gates get from outside: i, f, g and o, one after the other.
    """
    count, hidden = x.shape[0], c0.shape[1]
    known = np.empty((7, count, hidden), x.dtype)
    y = np.empty((count, hidden), x.dtype)
    h, c = h0.copy(), c0.copy()
    turned = np.ascontiguousarray(weight.T)
    gates, scratch = np.empty((len(h), 4 * hidden), x.dtype), np.empty_like(c)
    with np.errstate(over="ignore"):
        for start, size in steps(sizes, reverse):
            end = start + size
            state, cell, a, part = h[:size], c[:size], gates[:size], scratch[:size]
            i, f, g, o, bent, cell_before, state_before = known[:, start:end]
            state_before[...] = state
            cell_before[...] = cell
            np.matmul(state, turned, out=a)
            a += x[start:end]
            np.tanh(a[:, 2 * hidden : 3 * hidden], out=g)
            _sigmoid(a)
            i[...] = a[:, :hidden]
            f[...] = a[:, hidden : 2 * hidden]
            o[...] = a[:, 3 * hidden :]
            np.multiply(i, g, out=part)
            cell *= f
            cell += part
            np.tanh(cell, out=bent)
            np.multiply(o, bent, out=state)
            y[start:end] = state
    return y, h, c, known


def lstm_layer(*tensors: Any, sizes: Sizes, reverse: bool) -> tuple[Any, Any, Any]:
    """The states h of each step, and the final h and c; of x, weight, h0, c0 and `known`."""
    return lstm_states(*tensors[:4], sizes=sizes, reverse=reverse)[:3]


def lstm_backward(*tensors: Any, sizes: Sizes, reverse: bool) -> tuple[Any, Any, Any, Any]:
    """The cotangents of x, weight, h0 and c0, from those of what `lstm_layer` returns.

    The arrays are the three cotangents, then those of `lstm_layer`.
    """
    g_y, g_h, g_c, x, weight, h0, c0, known = tensors
    if not known.size:
        known = lstm_states(x, weight, h0, c0, sizes=sizes, reverse=reverse)[3]
    i, f, g, o, bent, cell_before, state_before = known
    count, hidden = i.shape
    # the slopes of all steps: of c by the gates' sums, and of h by that of o and by c
    slopes = np.empty((count, 4, hidden), x.dtype)
    scratch = np.empty_like(i)
    for at, gate, factor in ((0, i, g), (1, f, cell_before), (3, o, bent)):
        np.subtract(1, gate, out=scratch)
        scratch *= gate
        np.multiply(scratch, factor, out=slopes[:, at])
    np.multiply(g, g, out=scratch)
    np.subtract(1, scratch, out=scratch)
    np.multiply(scratch, i, out=slopes[:, 2])
    by_cell = np.multiply(bent, bent)
    np.subtract(1, by_cell, out=by_cell)
    by_cell *= o
    made = np.empty((count, 4, hidden), x.dtype)
    flat = made.reshape(count, 4 * hidden)
    h, c = g_h.copy(), g_c.copy()
    spare = np.empty_like(c)
    for start, size in reversed(list(steps(sizes, reverse))):
        end = start + size
        state, cell, part, out = h[:size], c[:size], spare[:size], made[start:end]
        state += g_y[start:end]
        np.multiply(state, by_cell[start:end], out=part)
        cell += part
        np.multiply(slopes[start:end, :3], cell[:, None], out=out[:, :3])
        np.multiply(slopes[start:end, 3], state, out=out[:, 3])
        np.matmul(flat[start:end], weight, out=state)
        cell *= f[start:end]
    return flat, flat.T @ state_before, h, c


# -- GRU -------------------------------------------------------------------------------------------


def gru_states(
    x: Any, weight: Any, bias: Any, h0: Any, *, sizes: Sizes, reverse: bool
) -> tuple[Any, Any, Any]:
    """What `gru_layer` returns, and the planes r, z, n, what r multiplies, and h before.

    The rows of `x` are what the gates get from outside: r, z and n, one after the other.
    """
    count, hidden = x.shape[0], h0.shape[1]
    known = np.empty((5, count, hidden), x.dtype)
    y = np.empty((count, hidden), x.dtype)
    h = h0.copy()
    turned = np.ascontiguousarray(weight.T)
    gates = np.empty((len(h), 3 * hidden), x.dtype)
    two = 2 * hidden
    with np.errstate(over="ignore"):
        for start, size in steps(sizes, reverse):
            end = start + size
            state, a, outer = h[:size], gates[:size], x[start:end]
            r, z, n, inner, before = known[:, start:end]
            before[...] = state
            np.matmul(state, turned, out=a)
            a += bias
            inner[...] = a[:, two:]
            front = a[:, :two]
            front += outer[:, :two]
            _sigmoid(front)
            r[...] = a[:, :hidden]
            z[...] = a[:, hidden:two]
            np.multiply(r, inner, out=n)
            n += outer[:, two:]
            np.tanh(n, out=n)
            state -= n
            state *= z
            state += n
            y[start:end] = state
    return y, h, known


def gru_layer(*tensors: Any, sizes: Sizes, reverse: bool) -> tuple[Any, Any]:
    """The states of each step, and the final one; of x, weight, bias, h0 and `known`."""
    return gru_states(*tensors[:4], sizes=sizes, reverse=reverse)[:2]


def gru_backward(*tensors: Any, sizes: Sizes, reverse: bool) -> tuple[Any, Any, Any, Any]:
    """The cotangents of x, weight, bias and h0, from those of what `gru_layer` returns.

    The arrays are the two cotangents, then those of `gru_layer`.
    """
    g_y, g_h, x, weight, bias, h0, known = tensors
    if not known.size:
        known = gru_states(x, weight, bias, h0, sizes=sizes, reverse=reverse)[2]
    r, z, n, inner, before = known
    count, hidden = r.shape
    # the slopes of all steps: of h by the sums of z and n, and of that of n by that of r
    by_z = (1 - z) * z * (before - n)
    by_n = (1 - n * n) * (1 - z)
    by_r = (1 - r) * r * inner
    made = np.empty((count, 3, hidden), x.dtype)
    outer = np.empty((count, hidden), x.dtype)
    flat = made.reshape(count, 3 * hidden)
    h = g_h.copy()
    spare = np.empty_like(h)
    for start, size in reversed(list(steps(sizes, reverse))):
        end = start + size
        state, part, out, new = h[:size], spare[:size], made[start:end], outer[start:end]
        state += g_y[start:end]
        np.multiply(state, by_n[start:end], out=new)
        np.multiply(new, by_r[start:end], out=out[:, 0])
        np.multiply(state, by_z[start:end], out=out[:, 1])
        np.multiply(new, r[start:end], out=out[:, 2])
        np.matmul(flat[start:end], weight, out=part)
        state *= z[start:end]
        state += part
    g_weight, g_bias = flat.T @ before, flat.sum(0)
    made[:, 2] = outer
    return flat, g_weight, g_bias, h


# -- simple layers ---------------------------------------------------------------------------------


def rnn_states(
    x: Any, weight: Any, h0: Any, *, sizes: Sizes, reverse: bool, nonlinearity: str
) -> tuple[Any, Any, Any]:
    """What `rnn_layer` returns, and the planes of h and of h before."""
    count, hidden = x.shape[0], h0.shape[1]
    known = np.empty((2, count, hidden), x.dtype)
    h = h0.copy()
    turned = np.ascontiguousarray(weight.T)
    for start, size in steps(sizes, reverse):
        end = start + size
        state, (after, before) = h[:size], known[:, start:end]
        before[...] = state
        np.matmul(before, turned, out=after)
        after += x[start:end]
        if nonlinearity == "tanh":
            np.tanh(after, out=after)
        else:
            np.maximum(after, 0, out=after)
        state[...] = after
    return known[0].copy(), h, known


def rnn_layer(*tensors: Any, sizes: Sizes, reverse: bool, nonlinearity: str) -> tuple[Any, Any]:
    """The states of each step, and the final one; of x, weight, h0 and `known`."""
    how = {"sizes": sizes, "reverse": reverse, "nonlinearity": nonlinearity}
    return rnn_states(*tensors[:3], **how)[:2]


def rnn_backward(
    *tensors: Any, sizes: Sizes, reverse: bool, nonlinearity: str
) -> tuple[Any, Any, Any]:
    """The cotangents of x, weight and h0, from those of what `rnn_layer` returns.

    The arrays are the two cotangents, then those of `rnn_layer`.
    """
    g_y, g_h, x, weight, h0, known = tensors
    if not known.size:
        how = {"sizes": sizes, "reverse": reverse, "nonlinearity": nonlinearity}
        known = rnn_states(x, weight, h0, **how)[2]
    after, before = known
    slope = 1 - after * after if nonlinearity == "tanh" else (after > 0).astype(x.dtype)
    made = np.empty_like(after)
    h = g_h.copy()
    for start, size in reversed(list(steps(sizes, reverse))):
        end = start + size
        state, out = h[:size], made[start:end]
        state += g_y[start:end]
        np.multiply(state, slope[start:end], out=out)
        np.matmul(out, weight, out=state)
    return made, made.T @ before, h
