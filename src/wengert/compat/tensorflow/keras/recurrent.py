"""Layer 9 · compat: Keras's recurrent layers and cells.

>>> layer = tf.keras.layers.LSTM(4, return_sequences=True)
>>> layer(tf.ones([2, 5, 3])).shape
TensorShape([2, 5, 4])

NOTE [gates of Keras]
Kernels concatenate the gates in Keras's order: input, forget, cell and output for `LSTM`; update,
reset and candidate for `GRU`. The projection of the input does not depend on the states, so a layer
computes it for all steps in one product (`projected`), and then iterates over the steps
(`advanced`).
"""

from __future__ import annotations

import inspect
from typing import Any, ClassVar

import numpy as np

from wengert.compat.kit.namespaces import defined
from wengert.compat.kit.rows import told
from wengert.compat.tensorflow import nest, nn, operations
from wengert.compat.tensorflow.configs import deserialize_keras_object, serialize_keras_object
from wengert.compat.tensorflow.keras.core_layers import conv_padding, expand
from wengert.compat.tensorflow.keras.layer import Layer, Seeded
from wengert.compat.tensorflow.keras.settings import settings
from wengert.compat.tensorflow.keras.specs import of_rank
from wengert.compat.tensorflow.variable import Variable
from wengert.compat.tensorflow.words import refusal


@settings(
    "units, activation='tanh', use_bias=True, {kernel recurrent bias = glorot_uniform orthogonal "
    "zeros}, dropout=0.0, recurrent_dropout=0.0, seed=None"
)
class Cell(Seeded):
    """Base class for cells, with concatenated gates, and dropout masks that last for a sequence."""

    gates: ClassVar[int] = 1
    dimensions: ClassVar[int] = 0
    """The number of spatial dimensions of a step."""
    ignored: ClassVar[tuple[str, ...]] = ("implementation",)

    def _prepare(self: Any) -> None:
        self.dropout = min(1.0, max(0.0, self.dropout))
        self.recurrent_dropout = min(1.0, max(0.0, self.recurrent_dropout))
        self.state_size: Any = self.units
        self.output_size = self.units
        self.reset_dropout_mask()

    def build(self, input_shape) -> None:
        """Create the kernels and the bias."""
        wide = self.units * self.gates
        self.kernel = self._weight("kernel", (input_shape[-1], wide))
        self.recurrent_kernel = self._weight("recurrent_kernel", (self.units, wide), "recurrent")
        self.bias = self._bias(wide) if self.use_bias else None

    def _bias(self, wide: int) -> Any:
        return self._weight("bias", (wide,))

    def get_initial_state(self, batch_size=None, **kwargs) -> list[Any]:
        """Return the initial state: zeros."""
        return _zeros(self.state_size, batch_size, self._computed)

    # -- dropout ----------------------------------------------------------------------------------

    def reset_dropout_mask(self) -> None:
        """Discard the dropout masks; the next training step draws new ones."""
        self._left: dict[str, Any] = {}

    reset_recurrent_dropout_mask = reset_dropout_mask

    def _masks(self, key: str, x, rate: float, count: int) -> list[Any]:
        if key not in self._left:
            ones = operations.ones_like(x)
            self._left[key] = [self._dropped(ones, rate) for _ in range(count)]
        return self._left[key]

    def _times(self, key: str, x, kernel) -> Any:
        return operations.tensordot(x, kernel, 1)

    def _product(self, key: str, x, kernel, rate: float, training: bool) -> Any:
        """Return ``x @ kernel``, with dropout on `x` in training."""
        if not training or not 0.0 < rate < 1.0:
            return self._times(key, x, kernel)
        several = self.gates if self.recurrent_dropout or self.dimensions else 1
        first = x if len(x.shape) == 2 + self.dimensions else x[:, :1]
        masks = self._masks(key, first, rate, several)
        parts = operations.split(kernel, several, axis=-1)
        products = [
            self._times(key, operations.multiply(x, mask), part)
            for mask, part in zip(masks, parts, strict=True)
        ]
        return products[0] if several == 1 else operations.concat(products, -1)

    # -- steps ------------------------------------------------------------------------------------

    def projected(self, inputs, training: bool) -> Any:
        """Return the input projection for one step or many."""
        made = self._product("input", inputs, self.kernel, self.dropout, training)
        bias = self._input_bias()
        return made if bias is None else operations.add(made, bias)

    def _input_bias(self) -> Any:
        return self.bias

    def _inner(self, h, training: bool, kernel=None) -> Any:
        kernel = self.recurrent_kernel if kernel is None else kernel
        return self._product("recurrent", h, kernel, self.recurrent_dropout, training)

    def advanced(self, z, states, training: bool) -> tuple[Any, list[Any]]:
        """Return the output and the states after a step, given its projected input."""
        raise NotImplementedError

    def call(self, inputs, states, training=False) -> Any:
        """Return the output and the states after a step."""
        nested = isinstance(states, list | tuple)
        output, new = self.advanced(
            self.projected(inputs, training), states if nested else [states], training
        )
        return output, new if nested else new[0]


def _zeros(sizes, batch, kind) -> Any:
    if isinstance(sizes, list | tuple):
        return [_zeros(size, batch, kind) for size in sizes]
    return operations.zeros((batch, sizes), str(kind))


class SimpleRNNCell(Cell):
    """``h = activation(x @ kernel + h @ recurrent_kernel + bias)``.

    Examples
    --------
    >>> cell = tf.keras.layers.SimpleRNNCell(3)
    >>> output, states = cell(tf.ones([2, 4]), [tf.zeros([2, 3])])
    >>> output.shape
    TensorShape([2, 3])
    """

    early = ("seed",)

    def advanced(self, z, states, training: bool) -> tuple[Any, list[Any]]:
        h = self.activation(operations.add(z, self._inner(states[0], training)))
        return h, [h]


@settings("activation/recurrent_activation='sigmoid', bias_initializer/unit_forget_bias=True")
class LSTMCell(Cell):
    """Long short-term memory, with states ``h`` and ``c``.

    Examples
    --------
    >>> cell = tf.keras.layers.LSTMCell(3)
    >>> output, (h, c) = cell(tf.ones([2, 4]), [tf.zeros([2, 3]), tf.zeros([2, 3])])
    >>> output.shape, cell.bias.numpy()[3:6].tolist()
    (TensorShape([2, 3]), [1.0, 1.0, 1.0])
    """

    gates = 4

    def _prepare(self: Any) -> None:
        super()._prepare()
        self.state_size = [self.units, self.units]

    def _bias(self, wide: int) -> Any:
        if not self.unit_forget_bias:
            return super()._bias(wide)
        start = self.bias_initializer

        def with_ones(shape, dtype=None) -> Any:
            ones = operations.ones((self.units,), dtype)
            parts = start((self.units,), dtype=dtype), ones, start((2 * self.units,), dtype=dtype)
            return operations.concat(parts, 0)

        return self._weight("bias", (wide,), initializer=with_ones)

    def advanced(self, z, states, training: bool) -> tuple[Any, list[Any]]:
        h, c = states
        z = operations.add(z, self._inner(h, training))
        i, f, new, o = operations.split(z, 4, axis=-1)
        gate = self.recurrent_activation
        c = operations.add(
            operations.multiply(gate(f), c), operations.multiply(gate(i), self.activation(new))
        )
        h = operations.multiply(gate(o), self.activation(c))
        return h, [h, c]


@settings(
    "filters, kernel_size, strides=1, padding='valid', data_format=None, dilation_rate=1, "
    "activation='tanh'"
)
class ConvLSTMCell(LSTMCell):
    """Base class for cells whose states are images: products are convolutions."""

    without = ("units=None",)

    def _prepare(self: Any) -> None:
        expand(self, "kernel_size strides dilation_rate")
        self.padding = conv_padding(self.padding)
        self.units = self.filters
        super()._prepare()

    def build(self, input_shape) -> None:
        """Create the kernels and the bias; note the shape of the states."""
        wide = self.filters * self.gates
        self.kernel = self._weight("kernel", (*self.kernel_size, input_shape[-1], wide))
        sizes = (*self.kernel_size, self.filters, wide)
        self.recurrent_kernel = self._weight("recurrent_kernel", sizes, "recurrent")
        self.bias = self._bias(wide) if self.use_bias else None
        step = operations.zeros((1, *input_shape[1:]), self.dtype)
        self._sizes = tuple(self._times("input", step, self.kernel).shape)[1:-1]

    def _times(self, key: str, x, kernel) -> Any:
        if key == "recurrent":
            return nn.convolution(x, kernel, 1, "SAME")
        before, after = (
            tuple(x.shape)[: -self.dimensions - 1],
            tuple(x.shape)[-self.dimensions - 1 :],
        )
        flat = operations.reshape(x, (-1, *after))
        found = nn.convolution(flat, kernel, self.strides, self.padding, None, self.dilation_rate)
        return operations.reshape(found, (*before, *tuple(found.shape)[1:]))

    def get_initial_state(self, batch_size=None, **kwargs) -> list[Any]:
        """Return zeros for the output and the memory."""
        shape = (batch_size, *self._sizes, self.filters)
        return [operations.zeros(shape, self.compute_dtype) for _ in range(2)]


@settings("activation/recurrent_activation='sigmoid', recurrent_dropout/reset_after=True")
class GRUCell(Cell):
    """A gated recurrent unit.

    Parameters
    ----------
    reset_after : bool. Whether the reset gate is applied after the product with the recurrent
        kernel.

    Examples
    --------
    >>> cell = tf.keras.layers.GRUCell(3)
    >>> output, states = cell(tf.ones([2, 4]), [tf.zeros([2, 3])])
    >>> output.shape, cell.bias.shape
    (TensorShape([2, 3]), TensorShape([2, 9]))
    """

    gates = 3

    def _bias(self, wide: int) -> Any:
        return self._weight("bias", (2, wide) if self.reset_after else (wide,))

    def _input_bias(self) -> Any:
        return self.bias if self.bias is None or not self.reset_after else self.bias[0]

    def advanced(self, z, states, training: bool) -> tuple[Any, list[Any]]:
        (h,) = states
        gate = self.recurrent_activation
        x_update, x_reset, x_new = operations.split(z, 3, axis=-1)
        if self.reset_after:
            inner = self._inner(h, training)
            if self.bias is not None:
                inner = operations.add(inner, self.bias[1])
            h_update, h_reset, h_new = operations.split(inner, 3, axis=-1)
            update, reset = gate(x_update + h_update), gate(x_reset + h_reset)
            h_new = reset * h_new
        else:
            left = [h] * 3
            if training and 0.0 < self.recurrent_dropout < 1.0:
                masks = self._masks("recurrent", h, self.recurrent_dropout, 3)
                left = [h * mask for mask in masks]
            kernels = operations.split(self.recurrent_kernel, 3, axis=1)
            update = gate(x_update + operations.matmul(left[0], kernels[0]))
            reset = gate(x_reset + operations.matmul(left[1], kernels[1]))
            h_new = operations.matmul(reset * left[2], kernels[2])
        new = self.activation(x_new + h_new)
        h = update * h + (1.0 - update) * new
        return h, [h]


class StackedRNNCells(Layer):
    """A stack of cells, each taking the output of the previous one.

    Examples
    --------
    >>> cells = [tf.keras.layers.LSTMCell(3), tf.keras.layers.GRUCell(2)]
    >>> tf.keras.layers.StackedRNNCells(cells).state_size
    [[3, 3], 2]
    """

    def __init__(self, cells, **kwargs) -> None:
        super().__init__(**kwargs)
        for cell in cells:
            if not hasattr(cell, "call") or not hasattr(cell, "state_size"):
                raise refusal(ValueError, "All cells must", cell)
        self.cells = list(cells)

    @property
    def state_size(self) -> list[Any]:
        """The sizes of the states of each cell."""
        return [cell.state_size for cell in self.cells]

    @property
    def output_size(self) -> Any:
        """The size of the output of the last cell."""
        return size_of(self.cells[-1])

    def get_initial_state(self, batch_size=None, **kwargs) -> list[Any]:
        """Return zeros for each cell."""
        return [initial(cell, batch_size, self._computed) for cell in self.cells]

    def build(self, input_shape) -> None:
        """Build each cell for the output of the one before it."""
        for cell in self.cells:
            if isinstance(cell, Layer) and not cell.built:
                cell.build(input_shape)
            input_shape = (input_shape[0], size_of(cell))

    def call(self, inputs, states, training=False) -> Any:
        """Return the output of the last cell, and the states of all."""
        after = []
        for cell, own in zip(self.cells, states, strict=True):
            alone = not isinstance(own, list | tuple)
            inputs, new = stepped(cell, inputs, [own] if alone else own, training)
            after.append(new[0] if alone and isinstance(new, list | tuple) else new)
        return inputs, after

    def reset_dropout_mask(self) -> None:
        """Draw new dropout masks."""
        for cell in self.cells:
            getattr(cell, "reset_dropout_mask", lambda: None)()


def size_of(cell) -> int:
    """Return the size of a cell's output."""
    found = getattr(cell, "output_size", None)
    if found is None:
        size = cell.state_size
        found = size[0] if isinstance(size, list | tuple) else size
    return int(found)


def initial(cell, batch, kind) -> Any:
    """Return the initial states that a cell defines, else zeros."""
    own = getattr(cell, "get_initial_state", None)
    return own(batch_size=batch) if own is not None else _zeros(cell.state_size, batch, kind)


def stepped(cell, inputs, states, training: bool) -> Any:
    """Run one step of a cell, which is a layer or has a method `call`."""
    return (
        cell(inputs, states, training=training)
        if isinstance(cell, Layer)
        else cell.call(inputs, states)
    )


@settings(
    "cell, return_sequences=False, return_state=False, go_backwards=False, stateful=False, "
    "unroll=False, zero_output_for_mask=False, time_major=False"
)
class RNN(Layer):
    """Runs a cell over the second dimension of the input, the time steps.

    Parameters
    ----------
    cell : Layer, object or list of them. The cell, with `call(inputs, states)` and `state_size`.
    return_sequences : bool. Whether to return the outputs of all steps instead of the last.
    return_state : bool. Whether to also return the final states.
    go_backwards : bool. Whether to start at the last step; outputs are in that order.
    stateful : bool. Whether a call starts from the final states of the previous call.
    unroll : bool. Accepted, without effect: the loop over steps always runs in Python.
    zero_output_for_mask : bool. Whether masked steps output zeros instead of repeating the previous
        output.
    time_major : bool. Whether the time steps are the first dimension, and the batch the second.
    **kwargs: The arguments of `Layer`.

    Raises
    ------
    ValueError: If `cell` is not a cell.
    """

    cell: Any
    _held: Any = None

    @property
    def states(self) -> Any:
        """The states of a stateful layer, which are not among its weights; else None."""
        return self._held

    def _prepare(self: Any) -> None:
        if isinstance(self.cell, list | tuple):
            self.cell = StackedRNNCells(self.cell)
        for needed in ("call", "state_size"):
            if not hasattr(self.cell, needed):
                raise refusal(ValueError, "Argument `cell` should", needed, self.cell)

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

    def compute_mask(self, inputs, mask=None) -> Any:
        """Return the mask of the steps if all outputs are returned, else None."""
        kept = mask if self.return_sequences else None
        return [kept] + [None] * len(self.state_size) if self.return_state else kept

    def get_initial_state(self, batch_size) -> list[Any]:
        """Return the initial states of a sequence."""
        found = initial(self.cell, batch_size, self._computed)
        return list(found) if isinstance(found, list | tuple) else [found]

    def reset_state(self) -> None:
        """Reset the states of a stateful layer."""
        for state in nest.flatten(self._held) if self._held is not None else ():
            state.assign(np.zeros(tuple(state.shape), state.dtype.as_numpy_dtype))

    reset_states = reset_state

    def _begin(self, batch: int, given) -> list[Any]:
        if given is not None:
            return list(given) if isinstance(given, list | tuple) else [given]
        start = self.get_initial_state(batch)
        if not self.stateful:
            return start
        if self._held is None:
            self._held = nest.map_structure(
                lambda value: Variable(value, trainable=False, name="rnn_state"), start
            )
        return nest.map_structure(lambda variable: variable.read_value(), self._held)

    def call(self, sequences, initial_state=None, mask=None, training=False) -> Any:
        """Return the outputs, or the last one, and the states if requested."""
        if isinstance(sequences, list | tuple):
            sequences, initial_state = sequences[0], list(sequences[1:])
        if isinstance(mask, list | tuple):
            mask = mask[0]
        if self.time_major:
            sequences, mask = _turned(sequences), mask if mask is None else _turned(mask)
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
        if self.stateful and self._held is not None:
            nest.map_structure(lambda kept, value: kept.assign(value), self._held, states)
        axis = 0 if self.time_major else 1
        result = operations.stack(outputs, axis) if self.return_sequences else outputs[-1]
        return (result, *states) if self.return_state else result

    def _stepped(self, inputs, states: list[Any], training: bool) -> Any:
        """Run one step of a cell; if its state size is not a list, nor is its state."""
        alone = not isinstance(self.cell.state_size, list | tuple)
        output, new = stepped(self.cell, inputs, states, training)
        return output, [new] if alone and not isinstance(new, list | tuple) else list(new)

    def _masked(self, seen, output, new, outputs, states) -> Any:
        """Select the new output and states where `seen`, else the previous ones."""

        def chosen(a, b) -> Any:
            wide = (-1, *[1] * (len(a.shape) - 1))
            return operations.where(operations.reshape(operations.cast(seen, "bool"), wide), a, b)

        before = operations.zeros_like(output)
        if outputs and not self.zero_output_for_mask:
            before = outputs[-1]
        return chosen(output, before), nest.map_structure(chosen, new, states)


def _turned(x) -> Any:
    """Swap the first two dimensions."""
    return operations.transpose(x, [1, 0, *range(2, len(x.shape))])


_RNN = list(inspect.signature(RNN.__init__).parameters.values())[2:-1]
_IGNORED = ("use_cudnn", "implementation")


def _of_cell(kind: type, words: str, given="4", shape=(2, 5, 3)) -> Any:
    """Make the layer of a cell, with the arguments of the cell and of `RNN`."""
    name = kind.__name__.removesuffix("Cell")
    own = list(inspect.signature(kind.__init__).parameters.values())[:-1]  # type: ignore[misc]
    rest = inspect.Parameter("kwargs", inspect.Parameter.VAR_KEYWORD)
    signature = inspect.Signature([*own, *_RNN, rest])
    names = {parameter.name for parameter in own[1:]}

    def __init__(self, *args, **kwargs) -> None:
        """{words}: `{name}Cell` through a sequence (see `RNN`).

        Examples
        --------
        >>> tf.keras.layers.{name}({given})(tf.ones({shape})).shape[-1]
        4
        """
        given = dict(signature.bind(self, *args, **kwargs).arguments)
        given.pop("self")
        given |= given.pop("kwargs", {})
        for ignored in _IGNORED:
            given.pop(ignored, None)
        cell = {key: given.pop(key) for key in list(given) if key in names}
        shared = {key: given[key] for key in ("dtype", "trainable") if key in given}
        RNN.__init__(self, cell=kind(**cell, **shared), **given)

    def __getattr__(self, attribute: str) -> Any:
        if attribute in names and "cell" in vars(self):
            return getattr(self.cell, attribute)
        raise AttributeError(f"'{name}' object has no attribute '{attribute}'")

    def _needed(self) -> Any:
        return of_rank(ndim=3 + getattr(kind, "dimensions", 0))

    __init__.__signature__ = signature  # type: ignore[attr-defined]
    doc = told(__init__, words=words, name=name, given=given, shape=list(shape))
    __init__.__doc__ = None
    body = {"__init__": __init__, "__getattr__": __getattr__, "_needed": _needed, "__doc__": doc}
    return type(name, (RNN,), {**body, "__module__": __name__})


SimpleRNN = _of_cell(SimpleRNNCell, "A recurrent layer without gates")
LSTM = _of_cell(LSTMCell, "Long short-term memory")
GRU = _of_cell(GRUCell, "Gated recurrent units")
for _d, _what in ((1, "sequences"), (2, "images"), (3, "volumes")):
    _cell = type(f"ConvLSTM{_d}DCell", (ConvLSTMCell,), {"dimensions": _d, "__module__": __name__})
    globals()[f"ConvLSTM{_d}D"] = _of_cell(
        _cell, f"Long short-term memory of {_what}", "4, 2", (1, 2, *[3] * _d, 1)
    )


@settings("mask_value=0.0")
class Masking(Layer):
    """Masks the steps whose elements all equal `mask_value`.

    Examples
    --------
    >>> layer = tf.keras.layers.Masking()
    >>> layer.compute_mask(tf.constant([[[0.0], [2.0]]])).numpy()
    array([[False,  True]])
    """

    def compute_mask(self, inputs, mask=None) -> Any:
        """Return the mask of the steps with any element that differs from `mask_value`."""
        return operations.reduce_any(operations.not_equal(inputs, self.mask_value), axis=-1)

    def call(self, inputs) -> Any:
        seen = self.compute_mask(inputs)
        return inputs * operations.cast(operations.expand_dims(seen, -1), inputs.dtype)


@settings("layer")
class TimeDistributed(Layer):
    """Applies a layer to each step separately.

    Examples
    --------
    >>> layer = tf.keras.layers.TimeDistributed(tf.keras.layers.Dense(4))
    >>> layer(tf.ones([2, 5, 3])).shape
    TensorShape([2, 5, 4])
    """

    def _prepare(self: Any) -> None:
        if not isinstance(self.layer, Layer):
            raise refusal(ValueError, "Layer {} supplied", self.layer)

    def build(self, input_shape) -> None:
        """Build the layer, for one step."""
        if not self.layer.built:
            self.layer.build((input_shape[0], *input_shape[2:]))

    def call(self, inputs, training=False) -> Any:
        shape = tuple(inputs.shape)
        flat = operations.reshape(inputs, (shape[0] * shape[1], *shape[2:]))
        result = self.layer(flat, training=training)
        return operations.reshape(result, (*shape[:2], *tuple(result.shape)[1:]))


class Bidirectional(Layer):
    """A recurrent layer, and a copy that runs backwards.

    Parameters
    ----------
    layer : RNN. The layer.
    merge_mode : {"concat", "sum", "mul", "ave"} or None. How to combine the two outputs; None
        returns both.
    backward_layer : RNN, optional. The backward layer, with ``go_backwards``; by default a copy.

    Raises
    ------
    ValueError: If `merge_mode` is unknown, or the layers do not match.

    Examples
    --------
    >>> tf.keras.layers.Bidirectional(tf.keras.layers.GRU(4))(tf.ones([2, 5, 3])).shape
    TensorShape([2, 8])
    """

    def __init__(
        self, layer, merge_mode: str | None = "concat", weights=None, backward_layer=None, **kwargs
    ) -> None:
        if not isinstance(layer, Layer):
            raise refusal(ValueError, "Please initialize `Bidirectional`", layer)
        if merge_mode not in ("sum", "mul", "ave", "concat", None):
            raise refusal(ValueError, "Invalid merge mode.", merge_mode)
        super().__init__(**kwargs)
        self.merge_mode = merge_mode
        self.layer = layer
        self.forward_layer = _again(layer, "forward_", {})
        backwards = {"go_backwards": not self.forward_layer.go_backwards}
        self.backward_layer = backward_layer or _again(layer, "backward_", backwards)
        if self.forward_layer.go_backwards == self.backward_layer.go_backwards:
            raise refusal(ValueError, "Forward layer and")
        for one in (self.forward_layer, self.backward_layer):
            one.zero_output_for_mask = one.return_sequences
        for key in ("stateful", "return_sequences", "return_state"):
            setattr(self, key, getattr(layer, key))

    def _parts(self) -> Any:
        # the given layer is only a template, and is not tracked
        yield self.forward_layer
        yield self.backward_layer

    def compute_mask(self, inputs, mask=None) -> Any:
        """Return the mask of the steps if all outputs are returned, else None."""
        return mask if self.return_sequences and not self.return_state else None

    def build(self, input_shape) -> None:
        """Build both layers."""
        for one in (self.forward_layer, self.backward_layer):
            if not one.built:
                one.build(input_shape)

    def call(self, sequences, initial_state=None, mask=None, training=False) -> Any:
        """Return the merged outputs, and the states of both layers if requested."""
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
        """Reset the states of stateful layers."""
        self.forward_layer.reset_state()
        self.backward_layer.reset_state()


def _again(layer, prefix: str, changes: dict[str, Any]) -> Any:
    """Return a copy of a layer under another name."""
    config = serialize_keras_object(layer)
    config.pop("build_config", None)
    config["config"] |= {"name": prefix + layer.name.removeprefix(prefix), **changes}
    return deserialize_keras_object(config)


__all__ = defined(globals())
