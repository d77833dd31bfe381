"""Layer 9 · compat: ``gluon.rnn``: recurrent layers and cells, implemented by `wengert.nn`.

>>> from wengert.compat.mxnet import np, npx
>>> from wengert.compat.mxnet.gluon import rnn
>>> npx.set_np()
>>> layer = rnn.LSTM(4)
>>> layer.initialize()
>>> output, states = layer(np.ones((5, 2, 3)), layer.begin_state(batch_size=2))
>>> output.shape, [state.shape for state in states]
((5, 2, 4), [(1, 2, 4), (1, 2, 4)])

Gates are in MXNet's order, which is also PyTorch's: input, forget, cell and output; reset, update,
new.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar

import numpy as np

import wengert as wg
from wengert import numpy as wnp
from wengert.compat.kit.arguments import arguments
from wengert.compat.mxnet.base import public, refusal
from wengert.compat.mxnet.gluon.basic_layers import Stack, called
from wengert.compat.mxnet.gluon.block import HybridBlock
from wengert.compat.mxnet.numpy.creation import made
from wengert.compat.mxnet.results import CLASSES, computed
from wengert.compat.mxnet.state import NUMPY, TRAINING
from wengert.ops.recurrence import run_layers

_GATES = {"RNN": 1, "RNN_RELU": 1, "RNN_TANH": 1, "LSTM": 4, "GRU": 3}
_PARTS = ("i2h_weight", "h2h_weight", "i2h_bias", "h2h_bias")


def _zeros(shape, like=None, func=None, **kwargs) -> Any:
    """Return the initial state of a sequence: zeros, or the result of `func`."""
    if func is not None:
        return func(shape=shape, **kwargs)
    chosen = CLASSES["np"] if NUMPY.get()[1] else CLASSES["nd"]
    return made(
        np.zeros(shape, "float32" if like is None else like.dtype),
        chosen if like is None else type(like),
    )


# -- layers ----------------------------------------------------------------------------------------


class _Stateful(HybridBlock):
    """Base class for layers and cells with initial states."""

    def state_info(self, batch_size=0) -> list[dict[str, Any]]:
        """Return the shapes of the states, and their layouts."""
        raise NotImplementedError

    def begin_state(self, batch_size=0, func=None, **kwargs) -> list[Any]:
        """Return the initial states of a sequence: zeros, or results of `func`."""
        kwargs.pop("ctx", None)
        return [_zeros(info["shape"], None, func, **kwargs) for info in self.state_info(batch_size)]

    def _weights(self, prefix: str, wide: int, before: int, hidden: int, dtype="float32") -> None:
        """Create the parameters of one step."""
        shapes = ((wide, before), (wide, hidden), (wide,), (wide,))
        for part, shape in zip(_PARTS, shapes, strict=True):
            start = getattr(self, f"_{part}_initializer")
            param = self.params.get(prefix + part, shape=shape, init=start, dtype=dtype)
            setattr(self, prefix + part, param)


@arguments(
    "_hidden_size, _num_layers=1, _layout='TNC', _dropout=0, _bidirectional=False, _input_size=0, "
    "_i2h_weight_initializer=None, _h2h_weight_initializer=None, _i2h_bias_initializer='zeros', "
    "_h2h_bias_initializer='zeros', _dtype='float32'"
)
class _Layer(_Stateful):
    """Base class for recurrent layers, which process whole sequences."""

    mode: ClassVar[str] = ""

    def _prepare(self: Any) -> None:
        if self._layout not in ("TNC", "NTC"):
            raise AssertionError(f"Invalid layout {self._layout}; must be one of ['TNC' or 'NTC']")
        self._sides = ("l", "r") if self._bidirectional else ("l",)
        hidden = self._hidden_size
        for i in range(self._num_layers):
            before = hidden * len(self._sides) if i else self._input_size
            for side in self._sides:
                wide = _GATES[self.mode] * hidden
                self._weights(f"{side}{i}_", wide, before, hidden, self._dtype)

    def __repr__(self) -> str:
        more = "".join(
            [
                f", num_layers={self._num_layers}" if self._num_layers != 1 else "",
                f", dropout={self._dropout}" if self._dropout else "",
                ", bidirectional" if len(self._sides) == 2 else "",
            ]
        )
        inputs = self._input_size or None
        return f"{type(self).__name__}({inputs} -> {self._hidden_size}, {self._layout}{more})"

    def state_info(self, batch_size=0) -> list[dict[str, Any]]:
        """Return the shapes of the states, and their layouts."""
        shape = (self._num_layers * len(self._sides), batch_size, self._hidden_size)
        return [{"shape": shape, "__layout__": "LNC"}] * (2 if self.mode == "LSTM" else 1)

    def infer_shape(self, x, *args) -> None:
        """Infer the number of inputs from the first sequence."""
        self._input_size = x.shape[2]
        for side in self._sides:
            weight = self._reg_params[f"{side}0_i2h_weight"]
            weight.shape = (weight.shape[0], x.shape[2])

    def __call__(self, inputs, states=None, sequence_length=None) -> Any:
        """Return the outputs of the last layer, and the final states if states were given."""
        if sequence_length is not None:
            raise refusal(NotImplementedError, "sequence_length is not")
        result = super().__call__(inputs, states)
        return result[0] if states is None else result

    def hybrid_forward(self, F, x, states=None, **params) -> Any:
        if self._layout == "NTC":
            x = x.swapaxes(0, 1)
        if states is None:
            states = [_zeros(info["shape"], x) for info in self.state_info(x.shape[1])]
        elif not isinstance(states, list | tuple):
            states = [states]
        for info, state in zip(self.state_info(x.shape[1]), states, strict=True):
            if tuple(state.shape) != info["shape"]:
                raise refusal(
                    ValueError, "Invalid recurrent state", info["shape"], tuple(state.shape)
                )
        names = [
            f"{side}{i}_{part}"
            for i in range(self._num_layers)
            for side in self._sides
            for part in _PARTS
        ]
        output, *after = computed(
            type(x),
            _sequenced(self.mode, self._dropout if TRAINING.get() else 0.0, len(self._sides)),
            (x, len(states), *states, *(params[name] for name in names)),
            {},
        )
        if self._layout == "NTC":
            output = output.swapaxes(0, 1)
        return output, after


def _sequenced(mode: str, rate: float, directions: int) -> Callable[..., Any]:
    """Return the layers as a function of the sequence, the states and the parameters."""

    def run(x, count: int, *arrays) -> Any:
        states, weights = arrays[:count], arrays[count:]
        each = [(*weights[i : i + 4], None) for i in range(0, len(weights), 4)]
        layers = [each[i : i + directions] for i in range(0, len(each), directions)]
        steps, batch, features = x.shape
        rows = wnp.reshape(x, (steps * batch, features))
        rows, after = run_layers(mode, rows, states, layers, (batch,) * steps, rate)
        return (wnp.reshape(rows, (steps, batch, -1)), *after)

    return run


class LSTM(_Layer):
    """Layers of long short-term memory."""

    mode = "LSTM"


class GRU(_Layer):
    """Layers of gated recurrent units."""

    mode = "GRU"


@arguments("num_layers/_activation='relu', h2h_bias_initializer/_input_size=0")
class RNN(_Layer):
    """Recurrent layers without gates, with ``"relu"`` or ``"tanh"``."""

    mode = "RNN"

    def _prepare(self: Any) -> None:
        super()._prepare()
        self.mode = f"RNN_{self._activation.upper()}"
        if self.mode not in _GATES:
            raise ValueError(f"activation is 'relu' or 'tanh', not {self._activation!r}")


# -- cells -----------------------------------------------------------------------------------------


class RecurrentCell(_Stateful):
    """One step of a recurrent network: maps an input and states to an output and new states."""

    def reset(self) -> None:
        """Reset the cell before a new sequence."""
        for child in self._children.values():
            if isinstance(child, RecurrentCell):
                child.reset()

    def unroll(
        self,
        length: int,
        inputs,
        begin_state=None,
        layout="NTC",
        merge_outputs: bool | None = None,
        valid_length=None,
    ) -> Any:
        """Return the outputs of `length` steps, and the final states.

        Parameters
        ----------
        length : int. The number of steps.
        inputs : array or list of arrays. The sequence, or its steps.
        begin_state : list of arrays, optional. Zeros by default.
        layout : str. The order of the dimensions: ``T`` for steps, ``N`` for the batch.
        merge_outputs : bool, optional. Whether to return the outputs as one array; by default as
            the inputs are.
        valid_length : array, optional. Not supported.
        """
        if valid_length is not None:
            raise refusal(NotImplementedError, "valid_length is not")
        self.reset()
        steps, merged = _steps(length, inputs, layout)
        if begin_state is None:
            info = self.state_info(steps[0].shape[0])
            begin_state = [_zeros(one["shape"], steps[0]) for one in info]
        outputs, states = self._stepped(steps, begin_state)
        return _merged(outputs, layout, merged if merge_outputs is None else merge_outputs), states

    def _stepped(self, steps: list[Any], states: list[Any]) -> tuple[list[Any], list[Any]]:
        """Return the outputs of the steps, and the final states."""
        outputs = []
        for step in steps:
            output, states = self(step, states)
            outputs.append(output)
        return outputs, states


HybridRecurrentCell = RecurrentCell


def _steps(length: int, inputs, layout: str) -> tuple[list[Any], bool]:
    if isinstance(inputs, list | tuple):
        if len(inputs) != length:
            raise AssertionError(f"{length} steps were asked for, and {len(inputs)} came")
        return list(inputs), False
    axis = layout.find("T")
    before = (slice(None),) * axis
    if inputs.shape[axis] != length:
        raise AssertionError(f"{length} steps were asked for, and {inputs.shape[axis]} came")
    return [inputs[(*before, t)] for t in range(length)], True


def _merged(outputs: list[Any], layout: str, merge: bool) -> Any:
    if not merge:
        return outputs
    return computed(type(outputs[0]), _stacked, tuple(outputs), {"axis": layout.find("T")})


def _stacked(*parts, axis: int) -> Any:
    return wnp.stack(parts, axis)


@arguments(
    "_hidden_size, _i2h_weight_initializer=None, _h2h_weight_initializer=None, "
    "_i2h_bias_initializer='zeros', _h2h_bias_initializer='zeros', _input_size=0, prefix=None, "
    "params=None, _activation='tanh', _recurrent_activation='sigmoid'"
)
class _OneCell(RecurrentCell):
    """Base class for cells with their own parameters."""

    mode: ClassVar[str] = ""
    states: ClassVar[int] = 1
    i2h_weight: ClassVar[Any]

    def _prepare(self: Any) -> None:
        kind, gate = self._activation, self._recurrent_activation
        if f"{self.mode}_{kind}" not in _STEPS or gate != "sigmoid":
            raise ValueError(
                f"{type(self).__name__}(activation={kind!r}, recurrent_activation={gate!r}) is not "
                "offered here: write the step as a Block"
            )
        hidden = self._hidden_size
        self._weights("", _GATES[self.mode] * hidden, self._input_size, hidden)

    def _alias(self) -> str:
        return self.mode.lower()

    def __repr__(self) -> str:
        wide, inputs = self.i2h_weight.shape
        return f"{type(self).__name__}({None if inputs < 1 else inputs} -> {wide})"

    def state_info(self, batch_size=0) -> list[dict[str, Any]]:
        """Return one shape for each state."""
        return [{"shape": (batch_size, self._hidden_size), "__layout__": "NC"}] * self.states

    def infer_shape(self, x, *args) -> None:
        """Infer the number of inputs from the first step."""
        self.i2h_weight.shape = (self.i2h_weight.shape[0], x.shape[-1])

    def hybrid_forward(self, F, x, states, **params) -> Any:
        weights = [params[part] for part in _PARTS]
        step = _STEPS[f"{self.mode}_{self._activation}"]
        after = computed(type(x), step, (x, *states, *weights), {})
        after = list(after) if isinstance(after, tuple | list) else [after]
        return after[0], after


def _lstm(x, h, c, *weights) -> Any:
    return wg.lstm_cell(x, (h, c), *weights)


_STEPS: dict[str, Callable[..., Any]] = {
    "RNN_tanh": wg.rnn_tanh_cell,
    "RNN_relu": wg.rnn_relu_cell,
    "GRU_tanh": wg.gru_cell,
    "LSTM_tanh": _lstm,
}


@arguments("hidden_size/_activation='tanh'")
class RNNCell(_OneCell):
    """A step of a recurrent layer without gates."""

    mode = "RNN"


class LSTMCell(_OneCell):
    """A step of long short-term memory; the states are the output and the memory."""

    mode, states = "LSTM", 2


class GRUCell(_OneCell):
    """A step of gated recurrent units."""

    mode = "GRU"


class _Composed(RecurrentCell):
    """Base class for cells whose states are those of the cells in them."""

    def state_info(self, batch_size=0) -> list[dict[str, Any]]:
        """Return the shapes of the states."""
        cells: Any = self._children.values()
        return [info for cell in cells for info in cell.state_info(batch_size)]


class SequentialRNNCell(_Composed, Stack):
    """A stack of cells, each taking the output of the previous one."""

    def forward(self, x, states) -> Any:
        """Run one step of each cell."""
        after: list[Any] = []
        for cell in self:
            count = len(cell.state_info())
            x, new = cell(x, states[len(after) : len(after) + count])
            after += new
        return x, after


HybridSequentialRNNCell = SequentialRNNCell


class DropoutCell(_Composed):
    """Dropout with a new mask at each step in training."""

    def __init__(self, rate: float, axes=(), prefix=None, params=None) -> None:
        super().__init__(prefix, params)
        self._rate, self._axes = rate, axes

    def forward(self, x, states) -> Any:
        """Return the input with dropout."""
        return (called("dropout", x, self._rate, axes=self._axes) if self._rate else x), states


class _Around(_Composed):
    """Base class for cells that wrap another cell."""

    def __init__(self, base_cell) -> None:
        super().__init__()
        self.base_cell = base_cell


class ResidualCell(_Around):
    """Adds the input of a cell to its output."""

    def forward(self, x, states) -> Any:
        """Run one step."""
        output, states = self.base_cell(x, states)
        return output + x, states


class BidirectionalCell(_Composed):
    """A pair of cells, one of which runs backwards; only `unroll` is supported."""

    def __init__(self, l_cell, r_cell, output_prefix="bi_") -> None:
        super().__init__()
        self.l_cell, self.r_cell = l_cell, r_cell

    def __call__(self, inputs, states) -> Any:
        """Raise an error: a single step cannot run in both directions."""
        raise NotImplementedError("Bidirectional cell cannot be stepped. Please use unroll")

    def _stepped(self, steps: list[Any], states: list[Any]) -> tuple[list[Any], list[Any]]:
        """Return the concatenated outputs, and the states of both cells."""
        count = len(self.l_cell.state_info())
        ahead, first = self.l_cell._stepped(steps, states[:count])
        back, last = self.r_cell._stepped(steps[::-1], states[count:])
        outputs = [
            computed(type(a), lambda a, b: wnp.concatenate([a, b], 1), (a, b), {})
            for a, b in zip(ahead, back[::-1], strict=True)
        ]
        return outputs, first + last


__all__ = public(globals())
