"""Layer 5 · ops · sequences: recurrent cells: one step of a batch."""

# the functions and arguments have PyTorch's names

from __future__ import annotations

from typing import Any

from wengert.base.errors import wrong_type
from wengert.base.export import export
from wengert.ops.affine import linear
from wengert.ops.coerce import operand
from wengert.ops.split import chunk
from wengert.tape.record import T


def _check_state(x: Any, state: Any, at: int, hidden: int) -> None:
    rows, own = x._payload.shape[0], state._payload.shape[:1]
    if own != (rows,):
        raise RuntimeError(
            f"Input batch size {rows} doesn't match hidden{at} batch size {own[0] if own else 0}"
        )
    if state._payload.shape[1:] != (hidden,):
        raise RuntimeError(
            f"hidden{at} has inconsistent hidden_size: got "
            f"{', '.join(map(str, state._payload.shape[1:]))}, expected {hidden}"
        )


def _sums(
    op: str, input: Any, states: tuple[Any, ...], weights: tuple[Any, ...], biases: tuple[Any, ...]
) -> tuple[Any, Any]:
    """Return the contributions of the input and of the hidden state to the gates."""
    x = operand(input, op)
    w_ih, w_hh = operand(weights[0], op, "w_ih", 3), operand(weights[1], op, "w_hh", 4)
    if x._payload.ndim != 2:
        raise RuntimeError(
            f"{op}() takes an input of shape (batch, input size), not of shape "
            f"{list(x._payload.shape)}"
        )
    if x._payload.shape[1] != w_ih._payload.shape[1]:
        raise RuntimeError(
            f"input has inconsistent input_size: got {x._payload.shape[1]} expected "
            f"{w_ih._payload.shape[1]}"
        )
    for i, state in enumerate(states):
        _check_state(x, operand(state, op, "hx", 2), i, w_hh._payload.shape[1])
    return linear(x, w_ih, biases[0]), linear(states[0], w_hh, biases[1])


@export("wengert")
def rnn_tanh_cell(
    input: Any, hx: Any, w_ih: Any, w_hh: Any, b_ih: Any = None, b_hh: Any = None
) -> Any:
    """Return one step of a simple recurrent network: ``tanh(w_ih x + b_ih + w_hh h + b_hh)``.

    Parameters
    ----------
    input : Tensor. Of shape (n, m).
    hx : Tensor. The hidden state, of shape (n, h).
    w_ih, w_hh : Tensor. Of shapes (h, m) and (h, h).
    b_ih, b_hh : Tensor, optional. Of shape (h,).

    Returns
    -------
    Tensor: The next hidden state; differentiable, to any order.

    %(raises_shapes_or_dtypes)s

    Examples
    --------
    >>> wg.rnn_tanh_cell(wg.ones(1, 2), wg.zeros(1, 3), wg.ones(3, 2), wg.ones(3, 3))
    tensor([[0.9640, 0.9640, 0.9640]])
    """
    own, back = _sums("rnn_tanh_cell", input, (hx,), (w_ih, w_hh), (b_ih, b_hh))
    return T.tanh(T.add(own, back))


@export("wengert")
def rnn_relu_cell(
    input: Any, hx: Any, w_ih: Any, w_hh: Any, b_ih: Any = None, b_hh: Any = None
) -> Any:
    """Return one step of a recurrent network with rectifiers; arguments as for `rnn_tanh_cell`.

    It is ``relu(w_ih x + b_ih + w_hh h + b_hh)``.

    Examples
    --------
    >>> wg.rnn_relu_cell(wg.ones(1, 2), wg.ones(1, 3), wg.ones(3, 2), -wg.ones(3, 3))
    tensor([[0., 0., 0.]])
    """
    own, back = _sums("rnn_relu_cell", input, (hx,), (w_ih, w_hh), (b_ih, b_hh))
    return T.relu(T.add(own, back))


@export("wengert")
def gru_cell(input: Any, hx: Any, w_ih: Any, w_hh: Any, b_ih: Any = None, b_hh: Any = None) -> Any:
    """Return one step of a gated recurrent unit.

    The result is ``(1 - z) * n + z * h`` with the gates
    ``r = sigmoid(w_ir x + b_ir + w_hr h + b_hr)``, z likewise, and
    ``n = tanh(w_in x + b_in + r * (w_hn h + b_hn))``. Weights and biases hold the parts of r, z and
    n in this order.

    Parameters
    ----------
    input : Tensor. Of shape (n, m).
    hx : Tensor. The hidden state, of shape (n, h).
    w_ih, w_hh : Tensor. Of shapes (3 h, m) and (3 h, h).
    b_ih, b_hh : Tensor, optional. Of shape (3 h,).

    Returns
    -------
    Tensor: The next hidden state; differentiable, to any order.

    %(raises_shapes_or_dtypes)s

    Examples
    --------
    >>> wg.gru_cell(wg.ones(1, 2), wg.ones(1, 1), wg.zeros(3, 2), wg.zeros(3, 1))
    tensor([[0.5000]])
    """
    own, back = _sums("gru_cell", input, (hx,), (w_ih, w_hh), (b_ih, b_hh))
    (own_r, own_z, own_n), (back_r, back_z, back_n) = chunk(own, 3, 1), chunk(back, 3, 1)
    r, z = T.sigmoid(T.add(own_r, back_r)), T.sigmoid(T.add(own_z, back_z))
    n = T.tanh(T.add(own_n, T.mul(r, back_n)))
    return T.add(n, T.mul(z, T.sub(hx, n)))


@export("wengert")
def lstm_cell(
    input: Any, hx: Any, w_ih: Any, w_hh: Any, b_ih: Any = None, b_hh: Any = None
) -> tuple[Any, Any]:
    """Return one step of a network with long short-term memory.

    The next cell state is ``c = f * c + i * g``, the next hidden state ``o * tanh(c)``, with the
    gates ``i = sigmoid(w_ii x + b_ii + w_hi h + b_hi)``, f and o likewise, and g with tanh instead
    of sigmoid. Weights and biases hold the parts of i, f, g and o in this order.

    Parameters
    ----------
    input : Tensor. Of shape (n, m).
    hx : tuple of Tensor. The hidden state and the cell state, of shape (n, h) each.
    w_ih, w_hh : Tensor. Of shapes (4 h, m) and (4 h, h).
    b_ih, b_hh : Tensor, optional. Of shape (4 h,).

    Returns
    -------
    tuple of Tensor: The next hidden state and the next cell state; differentiable, to any order.

    %(raises_shapes_or_dtypes)s
    TypeError: If `hx` is not a pair.

    Examples
    --------
    >>> state = wg.zeros(1, 1), wg.ones(1, 1)
    >>> wg.lstm_cell(wg.ones(1, 2), state, wg.zeros(4, 2), wg.zeros(4, 1))
    (tensor([[0.2311]]), tensor([[0.5000]]))
    """
    if not isinstance(hx, tuple | list):
        raise wrong_type("lstm_cell", "hx", "tuple of Tensors", hx, 2)
    if len(hx) != 2:
        raise RuntimeError(
            f"lstm_cell expects two hidden states, h and c, but hx has {len(hx)} elements"
        )
    h, c = hx
    own, back = _sums("lstm_cell", input, (h, c), (w_ih, w_hh), (b_ih, b_hh))
    i, f, g, o = chunk(T.add(own, back), 4, 1)
    c = T.add(T.mul(T.sigmoid(f), c), T.mul(T.sigmoid(i), T.tanh(g)))
    return T.mul(T.sigmoid(o), T.tanh(c)), c
