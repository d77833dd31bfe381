"""Layer 1 · kernels: recurrent layers, forward and backward.

NOTE [steps of a recurrent layer]
The rows of a layer's input are those of step 0, then those of step 1, and so on; `sizes` is the
number of rows of each step, and never rises, so that a batch of sequences of different lengths
needs no padding. Row r of a step belongs to sequence r. Forwards, a step continues the first rows
of the previous step, and the other sequences have ended; backwards (``reverse``), the rows that the
previous step lacks start from the initial states.

The array `known` holds the values of each step that derivatives need.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from wengert.base.error_states import errstate
from wengert.kernels.protocols import contiguous, empty, numbers
from wengert.kernels.sums import sums

Sizes = tuple[int, ...]


def steps(sizes: Sizes, reverse: bool) -> Iterator[tuple[int, int]]:
    """Return the first row and the number of rows of each step, in execution order."""
    starts = [0]
    for size in sizes:
        starts.append(starts[-1] + size)
    order = range(len(sizes))
    for t in reversed(order) if reverse else order:
        yield starts[t], sizes[t]


def _carried(state: Any, first: Any, size: int) -> Any:
    """Return the states that a step of `size` rows continues: the previous or initial ones."""
    count = len(state)
    if count == size:
        return state
    return state[:size] if count > size else np.concatenate((state, first[count:size]))


def _before(first: Any, after: Any, sizes: Sizes, reverse: bool) -> list[Any]:
    """Return the states before each step, in parts: initial ones, and those after each step."""
    size = sizes[0]
    if sizes[-1] == size:
        # no copy, since all but one of the parts are adjacent
        return [after[size:], first] if reverse else [first, after[: len(after) - size]]
    parts, start = [], 0
    for size, following in zip(sizes, (*sizes[1:], 0), strict=True):
        end = start + size
        if reverse:
            parts += [after[end : end + following], first[following:size]]
        else:
            parts += [first[:size]] if not start else []
            parts.append(after[start : start + following])
        start = end
    return [np.concatenate(parts)]


def _beside(rows: Any, parts: list[Any]) -> Iterator[tuple[Any, Any]]:
    """Iterate over the parts with the rows that they belong to."""
    start = 0
    for part in parts:
        yield rows[start : start + len(part)], part
        start += len(part)


def _weights(rows: Any, parts: list[Any]) -> Any:
    """Return the sums of products of rows and the states before them, for the weights."""
    (one, before), *more = _beside(rows, parts)
    total = one.T @ before
    for others, part in more:
        total += others.T @ part
    return total


def _final(after: Any, sizes: Sizes, reverse: bool) -> Any:
    """Return the states of each sequence after its last step."""
    size = sizes[0]
    if reverse:
        return after[:size].copy()
    if sizes[-1] == size:
        return after[len(after) - size :].copy()
    lengths = (np.array(sizes)[:, None] > np.arange(size)).sum(0)
    return after[np.cumsum((0, *sizes))[lengths - 1] + np.arange(size)]


# -- LSTM ------------------------------------------------------------------------------------------


def _lstm_parts(known: Any, count: int, hidden: int) -> tuple[Any, Any, Any, Any]:
    """Return the parts of `known`: gates i, f, g, o side by side, and c, tanh(c) and h."""
    gates = 4 * count * hidden
    cells, bent, after = known[gates:].reshape(3, count, hidden)
    return known[:gates].reshape(count, 4 * hidden), cells, bent, after


# over: the sigmoid of a large number
@errstate(over="ignore")
def lstm_states(
    x: Any, weight: Any, h0: Any, c0: Any, *, sizes: Sizes, reverse: bool, keep: bool = True
) -> tuple[Any, Any, Any, Any]:
    """Return the result of `lstm_layer`, and the values of each step that its derivative needs.

    The rows of `x` are the input's contributions to the gates i, f, g and o, concatenated. If the
    values are not kept, all steps reuse the buffers of one.
    """
    count, hidden = x.shape[0], c0.shape[1]
    rows = count if keep else len(c0)
    known = empty(x, 7 * count * hidden if keep else 0, x.dtype)
    if keep:
        gates, cells, bent, after = _lstm_parts(known, count, hidden)
    else:
        gates, after = empty(x, (rows, 4 * hidden), x.dtype), empty(x, (count, hidden), x.dtype)
        cells, bent = empty(x, (2, rows, hidden), x.dtype)
    # negated sums throughout, since sigmoids need exp of them
    turned, (one,) = contiguous(np.negative(weight).T), numbers(x, 1.0)
    scratch = np.empty_like(c0)
    state, cell, two, three, width = h0, c0, 2 * hidden, 3 * hidden, -1
    for start, size in steps(sizes, reverse):
        end = start + size
        if keep or size != width:
            own, width = (slice(start, end) if keep else slice(size)), size
            a, c, b, g = gates[own], cells[own], bent[own], scratch[:size]
            i, f, fresh, o = a[:, :hidden], a[:, hidden:two], a[:, two:three], a[:, three:]
        np.dot(_carried(state, h0, size), turned, out=a)
        np.subtract(a, x[start:end], out=a)
        np.tanh(fresh, out=g)
        np.exp(a, out=a)
        np.add(a, one, out=a)
        np.divide(one, a, out=a)
        if keep:
            np.negative(g, out=fresh)
        np.multiply(f, _carried(cell, c0, size), out=c)
        np.multiply(g, i, out=g)
        np.subtract(c, g, out=c)
        np.tanh(c, out=b)
        cell, state = c, after[start:end]
        np.multiply(o, b, out=state)
    if not keep:
        # the last rows belong to sequences that have ended
        return after, _final(after, sizes, reverse), cells, known
    return after.copy(), _final(after, sizes, reverse), _final(cells, sizes, reverse), known


def lstm_layer(*tensors: Any, sizes: Sizes, reverse: bool) -> tuple[Any, Any, Any]:
    """Return h of each step, and the final h and c; of x, weight, h0, c0 and `known`."""
    return lstm_states(*tensors[:4], sizes=sizes, reverse=reverse, keep=False)[:3]


def lstm_backward(*tensors: Any, sizes: Sizes, reverse: bool) -> tuple[Any, Any, Any, Any]:
    """Return the cotangents of x, weight, h0 and c0, from those of what `lstm_layer` returns.

    The arrays are the three cotangents, then those of `lstm_layer`.
    """
    g_y, g_h, g_c, x, weight, h0, c0, known = tensors
    if not known.size:
        known = lstm_states(x, weight, h0, c0, sizes=sizes, reverse=reverse)[3]
    count, hidden = x.shape[0], c0.shape[1]
    gates, cells, bent, after = _lstm_parts(known, count, hidden)
    i, f, g, o = (gates[:, at : at + hidden] for at in range(0, 4 * hidden, hidden))
    # the slopes of all steps: of c by the gates' sums, and of h by the sum of o and by c
    slopes = np.subtract(1, gates)
    slopes *= gates
    slopes = slopes.reshape(count, 4, hidden)
    slopes[:, 0] *= g
    for some, before in _beside(slopes[:, 1], _before(c0, cells, sizes, reverse)):
        some *= before
    slopes[:, 3] *= bent
    by_cell = np.multiply(g, g)
    np.subtract(1, by_cell, out=by_cell)
    np.multiply(by_cell, i, out=slopes[:, 2])
    np.multiply(bent, bent, out=by_cell)
    np.subtract(1, by_cell, out=by_cell)
    by_cell *= o
    # multiplied in place by the cotangents of c and h, they become the cotangents of x
    flat = slopes.reshape(count, 4 * hidden)
    h, c = g_h.copy(), g_c.copy()
    spare = np.empty_like(c)
    for start, size in reversed(list(steps(sizes, reverse))):
        end = start + size
        state, cell, part, out = h[:size], c[:size], spare[:size], slopes[start:end]
        state += g_y[start:end]
        np.multiply(state, by_cell[start:end], out=part)
        cell += part
        out[:, :3] *= cell[:, None]
        out[:, 3] *= state
        np.matmul(flat[start:end], weight, out=state)
        cell *= f[start:end]
    return flat, _weights(flat, _before(h0, after, sizes, reverse)), h, c


# -- GRU -------------------------------------------------------------------------------------------


@errstate(over="ignore")
def gru_states(
    x: Any, weight: Any, bias: Any, h0: Any, *, sizes: Sizes, reverse: bool, keep: bool = True
) -> tuple[Any, Any, Any]:
    """Return the result of `gru_layer`, and planes of r, z, n, the factor of r, and h.

    The rows of `x` are the input's contributions to r, z and n, concatenated. If the planes are not
    kept, there are none.
    """
    count, hidden = x.shape[0], h0.shape[1]
    known = empty(x, (5, count, hidden) if keep else 0, x.dtype)
    after = known[4] if keep else empty(x, (count, hidden), x.dtype)
    two, (one,) = 2 * hidden, numbers(x, 1.0)
    # negated sums for r and z, since sigmoids need exp of them
    turned, bias = weight.T.copy(order="C"), bias.copy()
    for values in (turned[:, :two], bias[:two]):
        np.negative(values, out=values)
    gates, scratch = empty(x, (len(h0), 3 * hidden), x.dtype), np.empty_like(h0)
    state = h0
    for start, size in steps(sizes, reverse):
        end = start + size
        a, outer, before = gates[:size], x[start:end], _carried(state, h0, size)
        front, state = a[:, :two], after[start:end]
        n = known[2, start:end] if keep else scratch[:size]
        np.dot(before, turned, out=a)
        np.add(a, bias, out=a)
        np.subtract(front, outer[:, :two], out=front)
        np.exp(front, out=front)
        np.add(front, one, out=front)
        np.divide(one, front, out=front)
        if keep:
            for plane, at in ((0, 0), (1, hidden), (3, two)):
                known[plane, start:end] = a[:, at : at + hidden]
        np.multiply(a[:, :hidden], a[:, two:], out=n)
        np.add(n, outer[:, two:], out=n)
        np.tanh(n, out=n)
        np.subtract(before, n, out=state)
        np.multiply(state, a[:, hidden:two], out=state)
        np.add(state, n, out=state)
    return after.copy() if keep else after, _final(after, sizes, reverse), known


def gru_layer(*tensors: Any, sizes: Sizes, reverse: bool) -> tuple[Any, Any]:
    """Return the states of each step, and the final one; of x, weight, bias, h0 and `known`."""
    return gru_states(*tensors[:4], sizes=sizes, reverse=reverse, keep=False)[:2]


def gru_backward(*tensors: Any, sizes: Sizes, reverse: bool) -> tuple[Any, Any, Any, Any]:
    """Return the cotangents of x, weight, bias and h0, from those of what `gru_layer` returns.

    The arrays are the two cotangents, then those of `gru_layer`.
    """
    g_y, g_h, x, weight, bias, h0, known = tensors
    if not known.size:
        known = gru_states(x, weight, bias, h0, sizes=sizes, reverse=reverse)[2]
    r, z, n, inner, after = known
    parts = _before(h0, after, sizes, reverse)
    count, hidden = r.shape
    # the slopes of all steps: of h by the sums of z and n, and of the sum of n by that of r
    by_z = np.negative(n)
    for some, before in _beside(by_z, parts):
        some += before
    by_z *= (1 - z) * z
    by_n = (1 - n * n) * (1 - z)
    by_r = (1 - r) * r * inner
    made = empty(x, (count, 3, hidden), x.dtype)
    outer = empty(x, (count, hidden), x.dtype)
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
    g_weight, g_bias = _weights(flat, parts), sums(flat, (0,))
    made[:, 2] = outer
    return flat, g_weight, g_bias, h


# -- simple layers ---------------------------------------------------------------------------------


def rnn_states(
    x: Any,
    weight: Any,
    h0: Any,
    *,
    sizes: Sizes,
    reverse: bool,
    nonlinearity: str,
    keep: bool = True,
) -> tuple[Any, Any, Any]:
    """Return the result of `rnn_layer`, and the states again if they are kept."""
    after = empty(x, (x.shape[0], h0.shape[1]), x.dtype)
    turned = contiguous(weight.T)
    state = h0
    for start, size in steps(sizes, reverse):
        own = after[start : start + size]
        np.dot(_carried(state, h0, size), turned, out=own)
        np.add(own, x[start : start + size], out=own)
        if nonlinearity == "tanh":
            np.tanh(own, out=own)
        else:
            np.maximum(own, 0, out=own)
        state = own
    known = after.copy() if keep else empty(x, 0, x.dtype)
    return after, _final(after, sizes, reverse), known


def rnn_layer(*tensors: Any, sizes: Sizes, reverse: bool, nonlinearity: str) -> tuple[Any, Any]:
    """Return the states of each step, and the final one; of x, weight, h0 and `known`."""
    how: dict[str, Any] = {"sizes": sizes, "reverse": reverse, "nonlinearity": nonlinearity}
    return rnn_states(*tensors[:3], **how, keep=False)[:2]


def rnn_backward(
    *tensors: Any, sizes: Sizes, reverse: bool, nonlinearity: str
) -> tuple[Any, Any, Any]:
    """Return the cotangents of x, weight and h0, from those of what `rnn_layer` returns.

    The arrays are the two cotangents, then those of `rnn_layer`.
    """
    g_y, g_h, x, weight, h0, known = tensors
    if not known.size:
        how: dict[str, Any] = {"sizes": sizes, "reverse": reverse, "nonlinearity": nonlinearity}
        known = rnn_states(x, weight, h0, **how)[2]
    slope = 1 - known * known if nonlinearity == "tanh" else (known > 0).astype(x.dtype)
    made = np.empty_like(known)
    h = g_h.copy()
    for start, size in reversed(list(steps(sizes, reverse))):
        end = start + size
        state, out = h[:size], made[start:end]
        state += g_y[start:end]
        np.multiply(state, slope[start:end], out=out)
        np.matmul(out, weight, out=state)
    return made, _weights(made, _before(h0, known, sizes, reverse)), h
