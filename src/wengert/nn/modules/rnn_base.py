"""Layer 8 · nn: the base class of recurrent layers."""

# the classes and arguments have PyTorch's names

from __future__ import annotations

import math
import numbers
import operator
from itertools import chain
from typing import Any

from wengert.base.dtypes import dtype
from wengert.nn import init
from wengert.nn.modules.making import new_parameter
from wengert.nn.modules.module import Module
from wengert.nn.utils.rnn import PackedSequence
from wengert.ops.create import zeros
from wengert.ops.gather import index_select
from wengert.ops.permute import transpose
from wengert.ops.recurrence import arranged, run_layers
from wengert.ops.shape import squeeze, unsqueeze
from wengert.tape.modes import mixes_dtypes
from wengert.tape.sites import warn
from wengert.types import Device

_GATES = {"LSTM": 4, "GRU": 3, "RNN_TANH": 1, "RNN_RELU": 1}


def _check_settings(values: dict[str, Any]) -> None:
    """Raise an error for settings that no recurrent layer accepts."""
    rate = values["dropout"]
    is_number = isinstance(rate, numbers.Real) and not isinstance(rate, bool)
    if not is_number or not 0 <= rate <= 1:
        raise ValueError(
            "dropout should be a number in range [0, 1] representing the probability of an element "
            f"being zeroed, but got {rate!r}"
        )
    if rate > 0 and values["num_layers"] == 1:
        warn(
            "dropout option adds dropout after all but last recurrent layer, so non-zero dropout "
            f"expects num_layers greater than 1, but got dropout={rate} and num_layers=1",
        )
    for name in ("bias", "batch_first"):
        if not isinstance(values[name], bool):
            raise TypeError(f"{name} should be of type bool, got: {type(values[name]).__name__}")
    for name in ("input_size", "hidden_size"):
        if not isinstance(values[name], int):
            raise TypeError(f"{name} should be of type int, got: {type(values[name]).__name__}")
        if values[name] <= 0:
            raise ValueError(f"{name} must be greater than zero, got {values[name]}")
    if values["num_layers"] <= 0:
        raise ValueError(f"num_layers must be greater than zero, got {values['num_layers']}")
    if values["proj_size"] < 0:
        raise ValueError("proj_size should be a positive integer or zero to disable projections")
    if values["proj_size"] >= values["hidden_size"]:
        raise ValueError(
            "proj_size has to be smaller than hidden_size, got "
            f"{values['proj_size']} and {values['hidden_size']}"
        )
    if values["mode"] not in _GATES:
        raise ValueError(f"Unrecognized RNN mode: {values['mode']}")


class RNNBase(Module):
    """The base class of `RNN`, `LSTM` and `GRU`.

    Parameters
    ----------
    mode : str. ``"LSTM"``, ``"GRU"``, ``"RNN_TANH"`` or ``"RNN_RELU"``.
    %(features, layers, biases)s
    batch_first : bool. Whether input and output have the batch as their first dimension and the
        steps as their second.
    dropout : float. The probability that an element between layers becomes 0 in training.
    bidirectional : bool. Whether each layer also runs backwards; the outputs of that direction
        follow those of the other.
    proj_size : int. For an LSTM: the number of features to project the hidden state to; 0 for no
        projection.
    %(their_dtype, raises_argument)s

    Examples
    --------
    >>> [name for name, _ in wg.nn.GRU(2, 3, bias=False, bidirectional=True).named_parameters()]
    ['weight_ih_l0', 'weight_hh_l0', 'weight_ih_l0_reverse', 'weight_hh_l0_reverse']
    """

    def __init__(
        self,
        mode: str,
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
        super().__init__()
        self.mode = mode
        self.input_size = input_size
        self.hidden_size = hidden_size
        self.num_layers = num_layers
        self.bias = bias
        self.batch_first = batch_first
        self.dropout = dropout
        self.bidirectional = bidirectional
        self.proj_size = proj_size
        _check_settings(self.__dict__)
        self.dropout = float(dropout)
        gates, directions = _GATES[mode] * hidden_size, 2 if bidirectional else 1
        out = proj_size or hidden_size
        shapes: dict[str, tuple[int, ...]] = {
            "weight_ih": (gates, input_size),
            "weight_hh": (gates, out),
        }
        if bias:
            shapes |= {"bias_ih": (gates,), "bias_hh": (gates,)}
        if proj_size:
            shapes["weight_hr"] = (proj_size, hidden_size)
        self._all_weights: list[list[str]] = []
        for layer in range(num_layers):
            for suffix in ("", "_reverse")[:directions]:
                names = [f"{kind}_l{layer}{suffix}" for kind in shapes]
                for name, shape in zip(names, shapes.values(), strict=True):
                    setattr(self, name, new_parameter(shape, device, dtype))
                self._all_weights.append(names)
            shapes["weight_ih"] = (gates, out * directions)
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Draw all parameters again, uniformly within ``±1 / sqrt(hidden_size)``."""
        bound = 1 / math.sqrt(self.hidden_size)
        for parameter in self.parameters():
            init.uniform_(parameter, -bound, bound)

    @property
    def all_weights(self) -> list[list[Any]]:
        """The parameters, in a list for each direction of each layer."""
        return [[getattr(self, name) for name in names] for names in self._all_weights]

    _flat_weights_names = property(lambda self: [*chain(*self._all_weights)])

    @property
    def _flat_weights(self) -> tuple[Any, ...]:
        """The parameters in a row, which cannot be set apart from the attributes they come from."""
        return (*chain(*self.all_weights),)

    @_flat_weights.setter
    def _flat_weights(self, weights: Any) -> None:
        held = self._flat_weights
        if len(weights) != len(held) or any(map(operator.is_not, weights, held)):
            raise RuntimeError(
                "_flat_weights must be the tensors that the attributes in _flat_weights_names are: "
                "set the attributes"
            )

    def flatten_parameters(self) -> None:
        """Do nothing: parameters need not be contiguous, as a GPU library requires."""

    def extra_repr(self) -> str:
        """Return the text that `repr` shows: the sizes, and settings that are not the defaults."""
        shown = [str(self.input_size), str(self.hidden_size)]
        for name, usual in (
            ("proj_size", 0),
            ("num_layers", 1),
            ("bias", True),
            ("batch_first", False),
            ("dropout", 0),
            ("bidirectional", False),
        ):
            value = getattr(self, name)
            if value != usual:
                shown.append(f"{name}={value}")
        return ", ".join(shown)

    # -- checks ------------------------------------------------------------------------------------

    def check_input(self, input: Any, batch_sizes: Any) -> None:
        """Raise an error if the input has the wrong dtype, rank or number of features."""
        expected, weight = 3 if batch_sizes is None else 2, getattr(self, self._all_weights[0][0])
        if input.dtype != weight.dtype and not mixes_dtypes():
            raise ValueError(
                f"RNN input dtype ({input.dtype}) does not match weight dtype ({weight.dtype}). "
                f"Convert input: input.to({weight.dtype}), or convert model: "
                f"model.to({input.dtype})"
            )
        if input.dim() != expected:
            raise RuntimeError(f"input must have {expected} dimensions, got {input.dim()}")
        if input.shape[-1] != self.input_size:
            raise RuntimeError(
                "input.size(-1) must be equal to input_size. Expected "
                f"{self.input_size}, got {input.shape[-1]}"
            )

    def get_expected_hidden_size(self, input: Any, batch_sizes: Any) -> tuple[int, int, int]:
        """Return the shape that the hidden state must have."""
        return self._state_size(input, batch_sizes, self.proj_size or self.hidden_size)

    def _state_size(self, input: Any, batch_sizes: Any, features: int) -> tuple[int, int, int]:
        if batch_sizes is None:
            batch = input.shape[0 if self.batch_first else 1]
        else:
            batch = int(batch_sizes[0])
        return self.num_layers * (2 if self.bidirectional else 1), batch, features

    def check_hidden_size(
        self,
        hx: Any,
        expected_hidden_size: tuple[int, int, int],
        msg: str = "Expected hidden size {}, got {}",
    ) -> None:
        """Raise an error if a state has another shape."""
        if tuple(hx.shape) != expected_hidden_size:
            raise RuntimeError(msg.format(expected_hidden_size, list(hx.shape)))

    def check_forward_args(self, input: Any, hidden: Any, batch_sizes: Any) -> None:
        """Raise an error if the input or the hidden state does not fit the layer."""
        self.check_input(input, batch_sizes)
        self.check_hidden_size(hidden, self.get_expected_hidden_size(input, batch_sizes))

    def permute_hidden(self, hx: Any, permutation: Any) -> Any:
        """Return the state with its batch permuted."""
        return hx if permutation is None else index_select(hx, 1, permutation)

    # -- computing ---------------------------------------------------------------------------------

    def _first_states(self, input: Any, batch_sizes: Any) -> Any:
        size = self.get_expected_hidden_size(input, batch_sizes)
        return zeros(size, dtype=input.dtype, device=input.device)

    def _beside_batch(self, input: Any, hx: Any) -> Any:
        """Return the state of one sequence as a batch of one; raise an error if it does not fit."""
        batched = input.dim() == 3
        if hx.dim() != (3 if batched else 2):
            raise RuntimeError(
                f"For {'batched 3-D' if batched else 'unbatched 2-D'} input, hx should also be "
                f"{3 if batched else 2}-D but got {hx.dim()}-D tensor"
            )
        return hx if batched else unsqueeze(hx, 1)

    def _without_batch(self, hidden: Any) -> Any:
        return squeeze(hidden, 1)

    def _states(self, hx: Any) -> tuple[Any, ...]:
        return (hx,)

    def _hidden(self, states: tuple[Any, ...]) -> Any:
        return states[0]

    def _layers(self) -> list[list[tuple[Any, ...]]]:
        """Return the parameters as `run_layers` takes them."""
        directions = 2 if self.bidirectional else 1
        each = []
        for names in self._all_weights:
            parameters = [getattr(self, name) for name in names]
            biases = parameters[2:4] if self.bias else [None, None]
            each.append((*parameters[:2], *biases, parameters[-1] if self.proj_size else None))
        return [each[i : i + directions] for i in range(0, len(each), directions)]

    def _run(self, rows: Any, hx: Any, sizes: tuple[int, ...]) -> tuple[Any, Any]:
        rate = self.dropout if self.training else 0.0
        rows, states = run_layers(self.mode, rows, self._states(hx), self._layers(), sizes, rate)
        return rows, self._hidden(states)

    def forward(self, input: Any, hx: Any = None) -> Any:
        """Run the layers over a sequence, or over a batch of sequences (see the class)."""
        if isinstance(input, PackedSequence):
            return self._packed(input, hx)
        if input.dim() not in (2, 3):
            name = self._get_name()
            raise ValueError(
                f"{name}: Expected input to be 2D or 3D, got {input.dim()}D"
                f"{' tensor' if name == 'RNN' else ''} instead"
            )
        if hx is not None:
            hx = self._beside_batch(input, hx)
        batched = input.dim() == 3
        batch_dim = 0 if self.batch_first else 1
        x = input if batched else unsqueeze(input, batch_dim)
        if hx is None:
            hx = self._first_states(x, None)
        self.check_forward_args(x, hx, None)
        if self.batch_first:
            x = transpose(x, 0, 1)
        steps, batch, features = x.shape
        if not steps:
            raise RuntimeError("Expected sequence length to be larger than 0 in RNN")
        rows, hidden = self._run(x.reshape(steps * batch, features), hx, (batch,) * steps)
        output = arranged(self.mode, rows, steps, batch, self.batch_first)
        if batched:
            return output, hidden
        return squeeze(output, batch_dim), self._without_batch(hidden)

    def _packed(self, input: PackedSequence, hx: Any) -> Any:
        data, batch_sizes, order, back = input
        given = hx is not None
        hx = self.permute_hidden(hx, order) if given else self._first_states(data, batch_sizes)
        self.check_forward_args(data, hx, batch_sizes)
        sizes = tuple(batch_sizes.tolist())
        if sum(sizes) != data.shape[0] or list(sizes) != sorted(sizes, reverse=True):
            raise RuntimeError(
                f"the batch sizes of a PackedSequence must never rise, and add up to the number of "
                f"its elements, {data.shape[0]}, but got {list(sizes)}"
            )
        rows, hidden = self._run(data, hx, sizes)
        return PackedSequence(rows, batch_sizes, order, back), self.permute_hidden(hidden, back)
