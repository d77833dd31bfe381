"""Layer 5 · ops: recurrent layers over sequences.

On plain arrays, a layer is one operation with its own kernels. Under transforms, and in a trace, it
is a composition, so that batches, tangents and the compiler see its parts (see
`wengert.prims.recurrent`).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from wengert.kernels import recurrent as kernels
from wengert.ops.affine import linear
from wengert.ops.dropout import dropout
from wengert.ops.matmul import ADDED_MATRICES, check_dtypes
from wengert.ops.options import placed
from wengert.prims.recurrent import gru_steps, lstm_steps, rnn_steps
from wengert.prims.table import TABLE
from wengert.tape.base import new_tensor
from wengert.tape.modes import current_mode, mixes_dtypes
from wengert.tape.operands import cast
from wengert.tape.record import T, run

Sizes = tuple[int, ...]

_STATES: dict[str, Any] = {
    "lstm": kernels.lstm_states,
    "gru": kernels.gru_states,
    "rnn": kernels.rnn_states,
}
_FUSED = (np.dtype(np.float32), np.dtype(np.float64))


def run_layers(
    mode: str,
    rows: Any,
    states: Sequence[Any],
    layers: Sequence[Sequence[Sequence[Any]]],
    sizes: Sizes,
    rate: float = 0.0,
) -> tuple[Any, tuple[Any, ...]]:
    """Take a batch of sequences through layers.

    Parameters
    ----------
    mode: ``"LSTM"``, ``"GRU"``, ``"RNN_TANH"`` or ``"RNN_RELU"``.
    rows: The rows of all steps (see NOTE [steps of a recurrent layer] in `wengert.kernels`).
    states
        h, and for an LSTM c, before the first step: of shape (layers * directions, batch, size).
    layers
        For each layer and each of its directions the parameters: two weights, two biases or None,
        and the weight of a projection or None.
    sizes: The number of rows of each step.
    rate: The probability of each element to become 0 between layers.

    Returns
    -------
    tuple: The rows of the last layer, and the final states.
    """
    before = list(zip(*[T.unbind(state, dim=0) for state in states], strict=True))
    after: list[tuple[Any, ...]] = []
    for i, directions in enumerate(layers):
        if i and rate:
            rows = dropout(rows, rate)
        made = []
        for reverse, parameters in enumerate(directions):
            out, *last = _layer(mode, rows, before[len(after)], parameters, sizes, bool(reverse))
            made.append(out)
            after.append(tuple(last))
        rows = made[0] if len(made) == 1 else T.cat(*made, dim=1)
    return rows, tuple([T.stack(*values, dim=0) for values in zip(*after, strict=True)])


def _layer(
    mode: str,
    rows: Any,
    states: tuple[Any, ...],
    parameters: Sequence[Any],
    sizes: Sizes,
    reverse: bool,
) -> Any:
    outer_weight, weight, outer_bias, bias, projection = parameters
    how: dict[str, Any] = {"sizes": sizes, "reverse": reverse}
    for value in (rows, *states):
        check_dtypes(value._payload, weight._payload, ADDED_MATRICES)
    if mode == "GRU":
        # the hidden state's contribution to n is multiplied by r, including its bias
        if bias is None:
            bias = placed(weight, np.zeros(weight._payload.shape[0], weight._payload.dtype))
        tensors = [linear(rows, outer_weight, outer_bias), weight, bias, *states]
        return _taken("gru", gru_steps, tensors, how)
    if bias is not None:
        outer_bias = T.add(outer_bias, bias)
    tensors = [linear(rows, outer_weight, outer_bias), weight, *states]
    if mode != "LSTM":
        how["nonlinearity"] = "tanh" if mode == "RNN_TANH" else "relu"
        return _taken("rnn", rnn_steps, tensors, how)
    if mixes_dtypes() and len(set(sizes)) == 1:
        # PyTorch keeps the states of packed sequences alone in their own dtype
        tensors[2:] = [cast(state, tensors[0]._payload.dtype) for state in states]
    if projection is not None:
        x, _, h, c = tensors
        return lstm_steps(T, x, weight, h, c, projection, **how)
    return _taken("lstm", lstm_steps, tensors, how)


def _taken(name: str, steps: Any, tensors: list[Any], how: dict[str, Any]) -> tuple[Any, ...]:
    """Run one layer in one direction: fused if all values are arrays, otherwise step by step."""
    payloads = [tensor._payload for tensor in tensors]
    mode = current_mode()
    if (mode is not None and mode.lifts) or any(
        type(p) is not np.ndarray or p.dtype not in _FUSED for p in payloads
    ):
        return steps(T, *tensors, **how)
    record = TABLE[f"{name}_layer"]
    unknown = new_tensor(np.empty(0, payloads[0].dtype))
    if mode is None or (mode.special is None and not mode.dispatch):
        keep = (mode is None or mode.records) and any(t._edge is not None for t in tensors)
        *outs, known = map(new_tensor, _STATES[name](*payloads, **how, keep=keep))
        kept = known if keep else unknown
        return run(record, [*tensors, kept], how, outs)
    return getattr(T, record.name)(*tensors, unknown, **how)
