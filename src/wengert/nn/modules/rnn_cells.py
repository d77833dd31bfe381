"""Layer 8 · nn: cells of recurrent networks, which compute one step."""

# the classes and arguments have PyTorch's names

from __future__ import annotations

import math
from typing import Any

from wengert.base.dtypes import dtype
from wengert.nn import init
from wengert.nn.modules.making import new_parameter
from wengert.nn.modules.module import Module
from wengert.ops.create import zeros
from wengert.ops.recurrent import gru_cell, lstm_cell, rnn_relu_cell, rnn_tanh_cell
from wengert.ops.shape import squeeze, unsqueeze
from wengert.types import Device, Tensor


class RNNCellBase(Module):
    """The base class of recurrent cells.

    Parameters
    ----------
    %(features, biases)s
    num_chunks : int. The number of gates.
    %(their_dtype)s

    Examples
    --------
    >>> isinstance(wg.nn.LSTMCell(3, 4), wg.nn.RNNCellBase)
    True
    """

    def __init__(
        self,
        input_size: int,
        hidden_size: int,
        bias: bool,
        num_chunks: int,
        device: Device = None,
        dtype: dtype | None = None,
    ) -> None:
        super().__init__()
        self.input_size = input_size
        self.hidden_size = hidden_size
        self.bias = bias
        gates = num_chunks * hidden_size
        for name, shape in (
            ("weight_ih", (gates, input_size)),
            ("weight_hh", (gates, hidden_size)),
            ("bias_ih", (gates,)),
            ("bias_hh", (gates,)),
        ):
            made = None
            if bias or name.startswith("weight"):
                made = new_parameter(shape, device, dtype)
            self.register_parameter(name, made)
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Draw all parameters again, uniformly within ``±1 / sqrt(hidden_size)``."""
        bound = 1 / math.sqrt(self.hidden_size) if self.hidden_size > 0 else 0
        for parameter in self.parameters():
            init.uniform_(parameter, -bound, bound)

    def extra_repr(self) -> str:
        """Return the text that `repr` shows: the sizes, and settings that are not the defaults."""
        shown = f"{self.input_size}, {self.hidden_size}"
        if self.bias is not True:
            shown += f", bias={self.bias}"
        nonlinearity = self.__dict__.get("nonlinearity", "tanh")
        return shown if nonlinearity == "tanh" else f"{shown}, nonlinearity={nonlinearity}"

    def _check_dims(self, input: Any, states: tuple[tuple[str, Any], ...]) -> None:
        name = self._get_name()
        for what, value in (("input", input), *states):
            if value.dim() not in (1, 2):
                raise ValueError(
                    f"{name}: Expected {what} to be 1D or 2D, got {value.dim()}D instead"
                )

    def _zeros(self, input: Any) -> Any:
        """Return the initial state if none is given."""
        return zeros(input.shape[0], self.hidden_size, dtype=input.dtype, device=input.device)

    def _step(self, step: Any, input: Any, hx: Any) -> Any:
        """Run one step of a cell with one state."""
        self._check_dims(input, () if hx is None else (("hidden", hx),))
        batched = input.dim() == 2
        x = input if batched else unsqueeze(input, 0)
        if hx is None:
            hx = self._zeros(x)
        elif not batched:
            hx = unsqueeze(hx, 0)
        made = step(x, hx, self.weight_ih, self.weight_hh, self.bias_ih, self.bias_hh)
        return made if batched else squeeze(made, 0)


class RNNCell(RNNCellBase):
    """A simple recurrent unit (see `wengert.rnn_tanh_cell`).

    Call it with an input of shape (batch, input_size) and, optionally, a hidden state of shape
    (batch, hidden_size). It returns the next hidden state. The batch dimension is optional.

    Parameters
    ----------
    %(features, biases)s
    nonlinearity : str. ``"tanh"`` or ``"relu"``.
    %(their_dtype)s

    Examples
    --------
    >>> cell = wg.nn.RNNCell(2, 3)
    >>> hidden = None
    >>> for x in wg.ones(5, 4, 2):
    ...     hidden = cell(x, hidden)
    >>> hidden.shape
    torch.Size([4, 3])
    """

    def __init__(
        self,
        input_size: int,
        hidden_size: int,
        bias: bool = True,
        nonlinearity: str = "tanh",
        device: Device = None,
        dtype: dtype | None = None,
    ) -> None:
        super().__init__(input_size, hidden_size, bias, 1, device, dtype)
        self.nonlinearity = nonlinearity

    def forward(self, input: Tensor, hx: Tensor | None = None) -> Tensor:
        steps = {"tanh": rnn_tanh_cell, "relu": rnn_relu_cell}
        if self.nonlinearity not in steps:
            raise RuntimeError(f"Unknown nonlinearity: {self.nonlinearity}; it is 'tanh' or 'relu'")
        return self._step(steps[self.nonlinearity], input, hx)


class LSTMCell(RNNCellBase):
    """A cell with long short-term memory (see `wengert.lstm_cell`).

    Call it with an input of shape (batch, input_size) and, optionally, the hidden state and the
    cell state as a pair, both of shape (batch, hidden_size). It returns the next pair. The batch
    dimension is optional.

    Parameters
    ----------
    input_size, hidden_size : int. The number of features of the input and of the states.
    %(biases, their_dtype)s

    Examples
    --------
    >>> hidden, cell = wg.nn.LSTMCell(2, 3)(wg.ones(4, 2))
    >>> hidden.shape, cell.shape
    (torch.Size([4, 3]), torch.Size([4, 3]))
    """

    def __init__(
        self,
        input_size: int,
        hidden_size: int,
        bias: bool = True,
        device: Device = None,
        dtype: dtype | None = None,
    ) -> None:
        super().__init__(input_size, hidden_size, bias, 4, device, dtype)

    def forward(
        self, input: Tensor, hx: tuple[Tensor, Tensor] | None = None
    ) -> tuple[Tensor, Tensor]:
        """Return the next hidden state and the next cell state."""
        pair = isinstance(hx, tuple | list)
        given = () if hx is None or not pair else tuple(hx)
        self._check_dims(input, tuple((f"hx[{i}]", v) for i, v in enumerate(given)))
        batched = input.dim() == 2
        x = input if batched else unsqueeze(input, 0)
        if hx is None:
            nothing = self._zeros(x)
            hx = (nothing, nothing)
        elif pair and not batched:
            hx = tuple(unsqueeze(state, 0) for state in hx)
        h, c = lstm_cell(x, hx, self.weight_ih, self.weight_hh, self.bias_ih, self.bias_hh)
        return (h, c) if batched else (squeeze(h, 0), squeeze(c, 0))


class GRUCell(RNNCellBase):
    """A gated recurrent unit (see `wengert.gru_cell`).

    Call it like an `RNNCell`, with the same shapes.

    Parameters
    ----------
    %(features, biases, their_dtype)s

    Examples
    --------
    >>> wg.nn.GRUCell(2, 3)(wg.ones(2)).shape
    torch.Size([3])
    """

    def __init__(
        self,
        input_size: int,
        hidden_size: int,
        bias: bool = True,
        device: Device = None,
        dtype: dtype | None = None,
    ) -> None:
        super().__init__(input_size, hidden_size, bias, 3, device, dtype)

    def forward(self, input: Tensor, hx: Tensor | None = None) -> Tensor:
        return self._step(gru_cell, input, hx)
