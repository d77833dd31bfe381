"""Layer 5 · ops: recurrent layers over sequences.

On plain arrays, a layer is one operation with its own kernels. Under transforms, and in a trace, it
is a composition, so that batches, tangents and the compiler see its parts (see
`wengert.prims.recurrent`).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from wengert.base.export import export
from wengert.kernels import recurrent as kernels
from wengert.ops.affine import linear
from wengert.ops.coerce import operand
from wengert.ops.dropout import dropout
from wengert.ops.matmul import ADDED_MATRICES, check_dtypes
from wengert.ops.options import placed
from wengert.prims.recurrent import gru_steps, lstm_steps, rnn_steps
from wengert.prims.table import TABLE
from wengert.tape.base import new_tensor
from wengert.tape.modes import current_mode, mixes_dtypes
from wengert.tape.operands import cast
from wengert.tape.record import T, run
from wengert.tape.views import unviewed

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


def _network(mode: str, rows: Any, args: Sequence[Any]) -> tuple[Any, ...]:
    """Compute `lstm` and its like from their arguments; those of packed rows begin with sizes."""
    if len(args) != 8:
        raise TypeError(
            f"{mode.lower()}() received an invalid combination of arguments - got {len(args) + 1}, "
            "but expected 9: see `help`"
        )
    rows = operand(rows, mode.lower())
    packed = not isinstance(args[2], bool)
    sizes: Sizes = tuple(args[0].tolist()) if packed else ()
    hx, flat, biased, count, rate, training, both = args[1:8] if packed else args[:7]
    turned = not packed and args[7]
    if not packed:
        rows = T.transpose(rows, dim0=0, dim1=1) if turned else rows
        steps, batch, features = rows.shape
        rows, sizes = rows.reshape(steps * batch, features), (batch,) * steps
    directions = 2 if both else 1
    width = len(flat) // (count * directions)
    each = []
    for i in range(0, len(flat), width):
        own = list(flat[i : i + width])
        biases, rest = (own[2:4], own[4:]) if biased else ([None, None], own[2:])
        each.append((*own[:2], *biases, rest[0] if rest else None))
    layers = [each[i : i + directions] for i in range(0, len(each), directions)]
    states = tuple(hx) if mode == "LSTM" else (hx,)
    rows, last = run_layers(mode, rows, states, layers, sizes, rate if training else 0.0)
    return (rows if packed else arranged(mode, rows, steps, batch, turned)), *last


def arranged(mode: str, rows: Any, steps: int, batch: int, turned: bool) -> Any:
    """Return the rows of all steps as (steps, batch, features), or with the batch first."""
    out = rows.reshape(steps, batch, rows.shape[1])
    out = T.transpose(out, dim0=0, dim1=1) if turned else out
    # PyTorch makes a view of an LSTM's output, and turns the others in place
    return out if turned and mode == "LSTM" else unviewed(out)


@export("wengert")
def lstm(input: Any, *args: Any) -> tuple[Any, ...]:
    """Take sequences through layers with long short-term memory (see `wengert.nn.LSTM`).

    Parameters
    ----------
    input : Tensor. Of shape (steps, batch, features), or with `batch_first` (batch, steps,
        features); or the rows of a `PackedSequence`.
    *args
        Positional: for packed rows their batch sizes, then `hx` (the pair of first states; one
        state for the other networks), the weights and biases of each layer and direction in the
        order of ``nn.LSTM(...).parameters()``, `has_biases`, `num_layers`, `dropout`, `train`,
        `bidirectional` and, unless packed, `batch_first`.

    Returns
    -------
    tuple of Tensor: The output, in the form of the input, and the last states; differentiable, to
        any order.

    %(raises_shapes_or_dtypes)s

    Examples
    --------
    >>> net, x, h = wg.nn.LSTM(2, 3), wg.ones(5, 4, 2), wg.zeros(1, 4, 3)
    >>> out, *last = wg.lstm(x, (h, h), [*net.parameters()], True, 1, 0.0, False, False, False)
    >>> out.shape, wg.equal(out, net(x)[0])
    (torch.Size([5, 4, 3]), True)
    """
    return _network("LSTM", input, args)


@export("wengert")
def gru(input: Any, *args: Any) -> tuple[Any, ...]:
    """Take sequences through layers of gated recurrent units; arguments as for `lstm`.

    %(raises_shapes_or_dtypes)s

    Examples
    --------
    >>> net, x, h = wg.nn.GRU(2, 3), wg.ones(5, 4, 2), wg.zeros(1, 4, 3)
    >>> out, last = wg.gru(x, h, [*net.parameters()], True, 1, 0.0, False, False, False)
    >>> wg.equal(out, net(x)[0])
    True
    """
    return _network("GRU", input, args)


@export("wengert")
def rnn_tanh(input: Any, *args: Any) -> tuple[Any, ...]:
    """Take sequences through layers of simple recurrent units; arguments as for `lstm`.

    %(raises_shapes_or_dtypes)s

    Examples
    --------
    >>> net, x, h = wg.nn.RNN(2, 3), wg.ones(5, 4, 2), wg.zeros(1, 4, 3)
    >>> out, last = wg.rnn_tanh(x, h, [*net.parameters()], True, 1, 0.0, False, False, False)
    >>> wg.equal(out, net(x)[0])
    True
    """
    return _network("RNN_TANH", input, args)


@export("wengert")
def rnn_relu(input: Any, *args: Any) -> tuple[Any, ...]:
    """Take sequences through simple recurrent layers with rectifiers; arguments as for `lstm`.

    %(raises_shapes_or_dtypes)s

    Examples
    --------
    >>> net, x, h = wg.nn.RNN(2, 3, nonlinearity="relu"), wg.ones(5, 4, 2), wg.zeros(1, 4, 3)
    >>> out, last = wg.rnn_relu(x, h, [*net.parameters()], True, 1, 0.0, False, False, False)
    >>> wg.equal(out, net(x)[0])
    True
    """
    return _network("RNN_RELU", input, args)


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
