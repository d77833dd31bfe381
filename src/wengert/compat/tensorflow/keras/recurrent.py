"""Layer 9 · compat: Keras's recurrent layers: cells that go through sequences.

>>> layer = tf.keras.layers.LSTM(4, return_sequences=True)
>>> layer(tf.ones([2, 5, 3])).shape
TensorShape([2, 5, 4])
"""

from __future__ import annotations

import inspect
from typing import Any

import numpy as np

from wengert.base.sections import fill_sections
from wengert.compat.tensorflow import nest, operations
from wengert.compat.tensorflow.configs import deserialize_keras_object, serialize_keras_object
from wengert.compat.tensorflow.keras.cells import (
    Cell,
    GRUCell,
    LSTMCell,
    SimpleRNNCell,
    StackedRNNCells,
    initial,
    stepped,
)
from wengert.compat.tensorflow.keras.layer import Layer
from wengert.compat.tensorflow.keras.settings import settings
from wengert.compat.tensorflow.variable import Variable

__all__ = ["GRU", "LSTM", "RNN", "Bidirectional", "Masking", "SimpleRNN", "TimeDistributed"]


class RNN(Layer):
    """A cell that goes through the second dimension of its input.

    Parameters
    ----------
    cell : Layer, object or list of them. With `call`, of an input and states, and `state_size`.
    return_sequences : bool. Whether all outputs are the result, not the last one alone.
    return_state : bool. Whether the states after the last step follow.
    go_backwards : bool. Whether to begin at the end; outputs stay in that order.
    stateful : bool. Whether a call begins with the states that the one before left.
    unroll : bool. Accepted: the steps are always taken by Python.
    zero_output_for_mask : bool. Whether outputs of steps that are masked are zeros, and not those
        of the step before.
    **kwargs: Those of `Layer`.

    Raises
    ------
    ValueError: If the cell is none.
    """

    def __init__(
        self,
        cell,
        return_sequences: bool = False,
        return_state: bool = False,
        go_backwards: bool = False,
        stateful: bool = False,
        unroll: bool = False,
        zero_output_for_mask: bool = False,
        **kwargs,
    ) -> None:
        if isinstance(cell, list | tuple):
            cell = StackedRNNCells(cell)
        for needed in ("call", "state_size"):
            if not hasattr(cell, needed):
                raise ValueError(f"Argument `cell` should have a `{needed}`. Received: cell={cell}")
        super().__init__(**kwargs)
        self.cell = cell
        self.return_sequences = return_sequences
        self.return_state = return_state
        self.go_backwards = go_backwards
        self.stateful = stateful
        self.unroll = unroll
        self.zero_output_for_mask = zero_output_for_mask
        self.states: Any = None

    @property
    def state_size(self) -> list[Any]:
        """The sizes of the states."""
        size = self.cell.state_size
        return list(size) if isinstance(size, list | tuple) else [size]

    def build(self, input_shape) -> None:
        """Build the cell, for one step."""
        shape = input_shape[0] if isinstance(input_shape, list) else input_shape
        if isinstance(self.cell, Layer) and not self.cell.built:
            self.cell.build((shape[0], *shape[2:]))
            self.cell.built = True
        self.built = True

    def compute_mask(self, inputs, mask=None) -> Any:
        """The mask of the steps stays if all outputs are returned."""
        kept = mask if self.return_sequences else None
        return [kept] + [None] * len(self.state_size) if self.return_state else kept

    def get_initial_state(self, batch_size) -> list[Any]:
        """The states that a sequence begins with."""
        found = initial(self.cell, batch_size, self._kind)
        return list(found) if isinstance(found, list | tuple) else [found]

    def reset_state(self) -> None:
        """Begin again, if the layer keeps its states."""
        for state in nest.flatten(self.states) if self.states is not None else ():
            state.assign(np.zeros(tuple(state.shape), state.dtype.as_numpy_dtype))

    reset_states = reset_state

    def _begin(self, batch: int, given) -> list[Any]:
        if given is not None:
            return list(given) if isinstance(given, list | tuple) else [given]
        start = self.get_initial_state(batch)
        if not self.stateful:
            return start
        if self.states is None:
            self.states = nest.map_structure(
                lambda value: Variable(value, trainable=False, name="rnn_state"), start
            )
        held: list[Any] = nest.map_structure(lambda variable: variable.read_value(), self.states)
        return held

    def call(self, sequences, initial_state=None, mask=None, training: bool = False) -> Any:
        """The outputs, or the last one, and perhaps the states."""
        if isinstance(sequences, list | tuple):
            sequences, initial_state = sequences[0], list(sequences[1:])
        if isinstance(mask, list | tuple):
            mask = mask[0]
        states = self._begin(int(sequences.shape[0]), initial_state)
        getattr(self.cell, "reset_dropout_mask", lambda: None)()
        quick = isinstance(self.cell, Cell)
        source = self.cell.projected(sequences, training) if quick else sequences
        steps = operations.unstack(source, axis=1)
        turns = range(len(steps))
        outputs: list[Any] = []
        for t in reversed(turns) if self.go_backwards else turns:
            if quick:
                output, new = self.cell.advanced(steps[t], states, training)
            else:
                output, new = self._stepped(steps[t], states, training)
            if mask is not None:
                output, new = self._masked(mask[:, t], output, new, outputs, states)
            outputs.append(output)
            states = new
        if self.stateful and self.states is not None:
            nest.map_structure(lambda kept, value: kept.assign(value), self.states, states)
        result = operations.stack(outputs, axis=1) if self.return_sequences else outputs[-1]
        return (result, *states) if self.return_state else result

    def _stepped(self, inputs, states: list[Any], training: bool) -> Any:
        """A step of a cell of any kind: one state is not in a list, if its size is not."""
        alone = not isinstance(self.cell.state_size, list | tuple)
        output, new = stepped(self.cell, inputs, states, training)
        return output, [new] if alone and not isinstance(new, list | tuple) else list(new)

    def _masked(self, seen, output, new, outputs, states) -> Any:
        """An output and states as they are where `seen`, and as before elsewhere."""
        seen = operations.expand_dims(operations.cast(seen, "bool"), -1)
        before = operations.zeros_like(output)
        if outputs and not self.zero_output_for_mask:
            before = outputs[-1]
        kept = nest.map_structure(lambda a, b: operations.where(seen, a, b), new, states)
        return operations.where(seen, output, before), kept

    @classmethod
    def from_config(cls, config: dict[str, Any]) -> Any:
        """One with these arguments."""
        return cls(**{key: deserialize_keras_object(value) for key, value in config.items()})


_RNN = list(inspect.signature(RNN.__init__).parameters.values())[2:-1]
_IGNORED = ("use_cudnn", "implementation")


def _of_cell(kind: type, words: str) -> Any:
    """The layer of a cell: its arguments are those of the cell, and of `RNN`."""
    name = kind.__name__.removesuffix("Cell")
    own = list(inspect.signature(kind.__init__).parameters.values())[:-1]  # type: ignore[misc]
    rest = inspect.Parameter("kwargs", inspect.Parameter.VAR_KEYWORD)
    signature = inspect.Signature([*own, *_RNN, rest])
    names = {parameter.name for parameter in own[1:]}

    def __init__(self, *args, **kwargs) -> None:
        given = dict(signature.bind(self, *args, **kwargs).arguments)
        given.pop("self")
        given |= given.pop("kwargs", {})
        for ignored in _IGNORED:
            given.pop(ignored, None)
        cell = {key: given.pop(key) for key in list(given) if key in names}
        shared = {key: given[key] for key in ("dtype", "trainable") if key in given}
        RNN.__init__(self, kind(**cell, **shared), **given)

    def __getattr__(self, attribute: str) -> Any:
        if attribute in names and "cell" in vars(self):
            return getattr(self.cell, attribute)
        return Layer.__getattr__(self, attribute)

    __init__.__signature__ = signature  # type: ignore[attr-defined]
    doc = f"""{words}: `{name}Cell` through a sequence (see `RNN`).

    Examples
    --------
    >>> import wengert.compat.tensorflow as tf
    >>> tf.keras.layers.{name}(4)(tf.ones([2, 5, 3])).shape
    TensorShape([2, 4])
    """
    body = {"__init__": __init__, "__getattr__": __getattr__, "__doc__": doc}
    return type(name, (RNN,), {**body, "__module__": __name__})


SimpleRNN = _of_cell(SimpleRNNCell, "A recurrent layer without gates")
LSTM = _of_cell(LSTMCell, "Long short-term memory")
GRU = _of_cell(GRUCell, "Gated recurrent units")


@settings
class Masking(Layer):
    """Mask the steps all of whose elements are `mask_value`.

    Examples
    --------
    >>> layer = tf.keras.layers.Masking()
    >>> layer.compute_mask(tf.constant([[[0.0], [2.0]]])).numpy()
    array([[False,  True]])
    """

    mask_value: float = 0.0

    def compute_mask(self, inputs, mask=None) -> Any:
        """Where an element is another one."""
        return operations.reduce_any(operations.not_equal(inputs, self.mask_value), axis=-1)

    def call(self, inputs) -> Any:
        seen = self.compute_mask(inputs)
        return inputs * operations.cast(operations.expand_dims(seen, -1), inputs.dtype)


@settings
class TimeDistributed(Layer):
    """A layer, applied to each step by itself.

    Examples
    --------
    >>> layer = tf.keras.layers.TimeDistributed(tf.keras.layers.Dense(4))
    >>> layer(tf.ones([2, 5, 3])).shape
    TensorShape([2, 5, 4])
    """

    layer: Any

    def _prepare(self) -> None:
        if not isinstance(self.layer, Layer):
            raise ValueError(
                f"Layer {self.layer} supplied to Wrapper is not a supported layer type"
            )

    def build(self, input_shape) -> None:
        """Build the layer, for one step."""
        if not self.layer.built:
            self.layer.build((input_shape[0], *input_shape[2:]))
            self.layer.built = True
        self.built = True

    def call(self, inputs, training: bool = False) -> Any:
        shape = tuple(inputs.shape)
        flat = operations.reshape(inputs, (shape[0] * shape[1], *shape[2:]))
        result = self.layer(flat, training=training)
        return operations.reshape(result, (*shape[:2], *tuple(result.shape)[1:]))


class Bidirectional(Layer):
    """A recurrent layer, and another like it that begins at the end.

    Parameters
    ----------
    layer : RNN. The layer.
    merge_mode : {"concat", "sum", "mul", "ave"} or None. What becomes of the two outputs.
    backward_layer : RNN, optional. The other layer, with ``go_backwards``.

    Raises
    ------
    ValueError: If `merge_mode` is another one, or the layers do not fit.

    Examples
    --------
    >>> tf.keras.layers.Bidirectional(tf.keras.layers.GRU(4))(tf.ones([2, 5, 3])).shape
    TensorShape([2, 8])
    """

    def __init__(
        self, layer, merge_mode: str | None = "concat", weights=None, backward_layer=None, **kwargs
    ) -> None:
        if not isinstance(layer, Layer):
            raise ValueError(
                "Please initialize `Bidirectional` layer with a `keras.layers.Layer` instance. "
                f"Received: {layer}"
            )
        if merge_mode not in ("sum", "mul", "ave", "concat", None):
            raise ValueError(
                f"Invalid merge mode. Received: {merge_mode}. Merge mode should be one of "
                '{"sum", "mul", "ave", "concat", None}'
            )
        super().__init__(**kwargs)
        self.merge_mode = merge_mode
        self.layer = layer
        self.forward_layer = _again(layer, "forward_", {})
        backwards = {"go_backwards": not self.forward_layer.go_backwards}
        self.backward_layer = backward_layer or _again(layer, "backward_", backwards)
        if self.forward_layer.go_backwards == self.backward_layer.go_backwards:
            raise ValueError(
                "Forward layer and backward layer should have different `go_backwards` value."
            )
        for one in (self.forward_layer, self.backward_layer):
            one.zero_output_for_mask = one.return_sequences
        for key in ("stateful", "return_sequences", "return_state"):
            setattr(self, key, getattr(layer, key))

    def _parts(self) -> Any:
        # the layer that was given is a pattern, and has no part in this
        yield self.forward_layer
        yield self.backward_layer

    def compute_mask(self, inputs, mask=None) -> Any:
        """The mask of the steps stays if all outputs are returned."""
        return mask if self.return_sequences and not self.return_state else None

    def build(self, input_shape) -> None:
        """Build both layers."""
        for one in (self.forward_layer, self.backward_layer):
            if not one.built:
                one.build(input_shape)
        self.built = True

    def call(self, sequences, initial_state=None, mask=None, training: bool = False) -> Any:
        """The outputs of both, merged, and perhaps the states of both."""
        half = len(initial_state) // 2 if initial_state is not None else 0
        starts = (initial_state[:half], initial_state[half:]) if half else (None, None)
        results = [
            one(sequences, initial_state=start, mask=mask, training=training)
            for one, start in zip((self.forward_layer, self.backward_layer), starts, strict=True)
        ]
        states: tuple[Any, ...] = ()
        if self.return_state:
            states = (*results[0][1:], *results[1][1:])
            results = [result[0] for result in results]
        ahead, back = results
        if self.return_sequences:
            back = operations.reverse(back, axis=[1])
        if self.merge_mode is None:
            return (ahead, back, *states)
        if self.merge_mode == "concat":
            merged = operations.concat([ahead, back], -1)
        elif self.merge_mode == "mul":
            merged = ahead * back
        else:
            merged = ahead + back
            merged = merged / 2.0 if self.merge_mode == "ave" else merged
        return (merged, *states) if self.return_state else merged

    def reset_state(self) -> None:
        """Begin again, if the layers keep their states."""
        self.forward_layer.reset_state()
        self.backward_layer.reset_state()


def _again(layer, prefix: str, changes: dict[str, Any]) -> Any:
    """Another layer like one, under another name."""
    config = serialize_keras_object(layer)
    config.pop("build_config", None)
    config["config"] |= {"name": prefix + layer.name.removeprefix(prefix), **changes}
    return deserialize_keras_object(config)


fill_sections(globals())
