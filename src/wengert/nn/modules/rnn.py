"""Layer 8 · nn: recurrent layers."""

# the classes and arguments have PyTorch's names

from __future__ import annotations

from typing import TYPE_CHECKING, Any, overload

from wengert.base.dtypes import dtype
from wengert.base.elsewhere import elsewhere
from wengert.nn.modules.rnn_base import RNNBase
from wengert.nn.utils.rnn import PackedSequence
from wengert.ops.create import zeros
from wengert.ops.shape import squeeze, unsqueeze
from wengert.types import Device, Tensor

__all__ = ["GRU", "LSTM", "RNN", "RNNBase"]

__getattr__ = elsewhere(__name__)  # PyTorch has more here


class RNN(RNNBase):
    """Layers of simple recurrent units: ``h = tanh(w_ih x + b_ih + w_hh h + b_hh)`` at each step.

    Call it with `input` and, optionally, the initial hidden state. It returns the output, which
    holds the last layer's hidden states at all steps, and the final hidden states of all layers.

    * `input` has shape (steps, batch, input_size), or (batch, steps, input_size) with
      `batch_first`, or (steps, input_size), or is a `PackedSequence`. The output has the same
      form, with ``directions * hidden_size`` features.
    * Hidden states have shape (num_layers * directions, batch, hidden_size), without the batch if
      the input has none.

    Parameters
    ----------
    %(features, layers)s
    nonlinearity : str. ``"tanh"`` or ``"relu"``.
    bias, batch_first, dropout, bidirectional, device, dtype: See `RNNBase`.

    %(raises_argument)s

    Examples
    --------
    >>> rnn = wg.nn.RNN(2, 3, num_layers=2, nonlinearity="relu")
    >>> output, hidden = rnn(wg.ones(5, 4, 2))
    >>> output.shape, hidden.shape
    (torch.Size([5, 4, 3]), torch.Size([2, 4, 3]))
    """

    if TYPE_CHECKING:

        @overload
        def __call__(self, input: Tensor, hx: Tensor | None = None) -> tuple[Tensor, Tensor]: ...
        @overload
        def __call__(
            self, input: PackedSequence, hx: Tensor | None = None
        ) -> tuple[PackedSequence, Tensor]: ...
        def __call__(self, input: Any, hx: Any = None) -> Any:
            """Run the layers over a sequence, or over a batch of sequences."""

    def __init__(
        self,
        input_size: int,
        hidden_size: int,
        num_layers: int = 1,
        nonlinearity: str = "tanh",
        bias: bool = True,
        batch_first: bool = False,
        dropout: float = 0.0,
        bidirectional: bool = False,
        device: Device = None,
        dtype: dtype | None = None,
        **unknown: Any,
    ) -> None:
        _check_unknown("RNN", unknown)
        if nonlinearity not in ("tanh", "relu"):
            raise ValueError(
                f"Unknown nonlinearity '{nonlinearity}'. Select from 'tanh' or 'relu'."
            )
        mode = f"RNN_{nonlinearity.upper()}"
        sizes, rest = (input_size, hidden_size, num_layers), (bias, batch_first, dropout)
        super().__init__(mode, *sizes, *rest, bidirectional, device=device, dtype=dtype)
        self.nonlinearity = nonlinearity


class GRU(RNNBase):
    """Layers of gated recurrent units (see `wengert.gru_cell` for one step).

    Call it like an `RNN`, with the same shapes.

    Parameters
    ----------
    %(features)s
    num_layers, bias, batch_first, dropout, bidirectional, device, dtype: See `RNNBase`.

    %(raises_argument)s

    Examples
    --------
    >>> output, hidden = wg.nn.GRU(2, 3, bidirectional=True)(wg.ones(5, 4, 2))
    >>> output.shape, hidden.shape
    (torch.Size([5, 4, 6]), torch.Size([2, 4, 3]))
    """

    if TYPE_CHECKING:

        @overload
        def __call__(self, input: Tensor, hx: Tensor | None = None) -> tuple[Tensor, Tensor]: ...
        @overload
        def __call__(
            self, input: PackedSequence, hx: Tensor | None = None
        ) -> tuple[PackedSequence, Tensor]: ...
        def __call__(self, input: Any, hx: Any = None) -> Any:
            """Run the layers over a sequence, or over a batch of sequences."""

    def __init__(
        self,
        input_size: int,
        hidden_size: int,
        num_layers: int = 1,
        bias: bool = True,
        batch_first: bool = False,
        dropout: float = 0.0,
        bidirectional: bool = False,
        device: Device = None,
        dtype: dtype | None = None,
        **unknown: Any,
    ) -> None:
        _check_unknown("GRU", unknown)
        sizes, rest = (input_size, hidden_size, num_layers), (bias, batch_first, dropout)
        super().__init__("GRU", *sizes, *rest, bidirectional, device=device, dtype=dtype)


def _check_unknown(name: str, unknown: dict[str, Any]) -> None:
    if "proj_size" in unknown:
        raise ValueError("proj_size argument is only supported for LSTM, not RNN or GRU")
    if unknown:
        raise TypeError(
            f"{name}.__init__() got an unexpected keyword argument '{next(iter(unknown))}'"
        )


class LSTM(RNNBase):
    """Layers with long short-term memory (see `wengert.lstm_cell` for one step).

    Call it like an `RNN`, but with a pair of states: the hidden state, of `proj_size` features if
    there is a projection, and the cell state, of `hidden_size` features.

    Parameters
    ----------
    %(features)s
    num_layers, bias, batch_first, dropout, bidirectional, proj_size, device, dtype: See `RNNBase`.

    %(raises_argument)s

    Examples
    --------
    >>> output, (hidden, cell) = wg.nn.LSTM(2, 4, proj_size=3)(wg.ones(5, 2))
    >>> output.shape, hidden.shape, cell.shape
    (torch.Size([5, 3]), torch.Size([1, 3]), torch.Size([1, 4]))
    """

    if TYPE_CHECKING:

        @overload
        def __call__(
            self, input: Tensor, hx: tuple[Tensor, Tensor] | None = None
        ) -> tuple[Tensor, tuple[Tensor, Tensor]]: ...
        @overload
        def __call__(
            self, input: PackedSequence, hx: tuple[Tensor, Tensor] | None = None
        ) -> tuple[PackedSequence, tuple[Tensor, Tensor]]: ...
        def __call__(self, input: Any, hx: Any = None) -> Any:
            """Run the layers over a sequence, or over a batch of sequences."""

    def __init__(
        self,
        input_size: int,
        hidden_size: int,
        num_layers: int = 1,
        bias: bool = True,
        batch_first: bool = False,
        dropout: float = 0.0,
        bidirectional: bool = False,
        proj_size: int = 0,
        device: Device = None,
        dtype: dtype | None = None,
    ) -> None:
        sizes, rest = (input_size, hidden_size, num_layers), (bias, batch_first, dropout)
        super().__init__("LSTM", *sizes, *rest, bidirectional, proj_size, device, dtype)

    def get_expected_cell_size(self, input: Any, batch_sizes: Any) -> tuple[int, int, int]:
        """Return the shape that the cell state must have."""
        return self._state_size(input, batch_sizes, self.hidden_size)

    def check_forward_args(self, input: Any, hidden: Any, batch_sizes: Any) -> None:
        """Raise an error if the input or the states do not fit the layer."""
        self.check_input(input, batch_sizes)
        for i, size in enumerate((self.get_expected_hidden_size, self.get_expected_cell_size)):
            self.check_hidden_size(
                hidden[i], size(input, batch_sizes), f"Expected hidden[{i}] size {{}}, got {{}}"
            )

    def permute_hidden(self, hx: Any, permutation: Any) -> Any:
        """Return the states with their batch permuted."""
        h, c = hx
        return super().permute_hidden(h, permutation), super().permute_hidden(c, permutation)

    def _first_states(self, input: Any, batch_sizes: Any) -> Any:
        size = self.get_expected_cell_size(input, batch_sizes)
        return super()._first_states(input, batch_sizes), zeros(
            size, dtype=input.dtype, device=input.device
        )

    def _beside_batch(self, input: Any, hx: Any) -> Any:
        if not isinstance(hx, tuple | list) or len(hx) != 2:
            raise IndexError(
                "LSTM takes its states as a pair (h_0, c_0), but hx is "
                + (f"of length {len(hx)}" if isinstance(hx, tuple | list) else f"a {type(hx)}")
            )
        h, c = hx
        batched = input.dim() == 3
        if (h.dim(), c.dim()) != ((3, 3) if batched else (2, 2)):
            raise RuntimeError(
                f"For {'batched 3-D' if batched else 'unbatched 2-D'} input, hx and cx should also "
                f"be {3 if batched else 2}-D but got ({h.dim()}-D, {c.dim()}-D) tensors"
            )
        return (h, c) if batched else (unsqueeze(h, 1), unsqueeze(c, 1))

    def _without_batch(self, hidden: Any) -> Any:
        return squeeze(hidden[0], 1), squeeze(hidden[1], 1)

    def _states(self, hx: Any) -> tuple[Any, ...]:
        return hx[0], hx[1]

    def _hidden(self, states: tuple[Any, ...]) -> Any:
        return states
