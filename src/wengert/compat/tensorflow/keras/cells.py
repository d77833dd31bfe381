"""Layer 9 · compat: Keras's recurrent cells: one step of a sequence.

NOTE [gates of Keras]
Kernels hold their gates side by side, in Keras's order: input, forget, cell and output for `LSTM`;
update, reset and candidate for `GRU`. What a cell makes of its input does not depend on the states,
so a layer computes it for all steps at once (`projected`), and then goes through the steps
(`advanced`).
"""

from __future__ import annotations

from typing import Any, ClassVar

from wengert.base.sections import fill_sections
from wengert.compat.tensorflow import nn, operations
from wengert.compat.tensorflow.keras.layer import Layer
from wengert.compat.tensorflow.keras.settings import settings

__all__ = ["Cell", "GRUCell", "LSTMCell", "SimpleRNNCell", "StackedRNNCells"]


@settings
class Cell(Layer):
    """What the cells have in common: gates side by side, and dropout that stays for a sequence."""

    gates: ClassVar[int] = 1
    ignored: ClassVar[tuple[str, ...]] = ("implementation",)
    units: int
    activation: Any = "tanh"
    use_bias: bool = True
    kernel_initializer: Any = "glorot_uniform"
    recurrent_initializer: Any = "orthogonal"
    bias_initializer: Any = "zeros"
    kernel_regularizer: Any = None
    recurrent_regularizer: Any = None
    bias_regularizer: Any = None
    kernel_constraint: Any = None
    recurrent_constraint: Any = None
    bias_constraint: Any = None
    dropout: float = 0.0
    recurrent_dropout: float = 0.0
    seed: Any = None

    def _prepare(self) -> None:
        if self.units <= 0:
            raise ValueError(
                "Received an invalid value for argument `units`, expected a positive integer, got "
                f"{self.units}."
            )
        self.dropout = min(1.0, max(0.0, self.dropout))
        self.recurrent_dropout = min(1.0, max(0.0, self.recurrent_dropout))
        self.state_size: Any = self.units
        self.output_size = self.units
        self.reset_dropout_mask()

    def build(self, input_shape) -> None:
        """Make the kernels and the bias."""
        wide = self.units * self.gates
        self.kernel = self._weight("kernel", (input_shape[-1], wide))
        self.recurrent_kernel = self._weight("recurrent_kernel", (self.units, wide), "recurrent")
        self.bias = self._bias(wide) if self.use_bias else None
        self.built = True

    def _bias(self, wide: int) -> Any:
        return self._weight("bias", (wide,))

    def get_initial_state(self, batch_size=None, **kwargs) -> list[Any]:
        """Zeros."""
        return _zeros(self.state_size, batch_size, self._kind)

    # -- dropout ----------------------------------------------------------------------------------

    def reset_dropout_mask(self) -> None:
        """Draw what is left out again, at the next step of training."""
        self._left: dict[str, Any] = {}

    reset_recurrent_dropout_mask = reset_dropout_mask

    def _masks(self, key: str, x, rate: float, count: int) -> list[Any]:
        if key not in self._left:
            ones = operations.ones_like(x)
            self._left[key] = [nn.dropout(ones, rate, None, self.seed) for _ in range(count)]
        return self._left[key]

    def _product(self, key: str, x, kernel, rate: float, training: bool) -> Any:
        """``x @ kernel``, with elements of `x` left out while training."""
        if not training or not 0.0 < rate < 1.0:
            return operations.tensordot(x, kernel, 1)
        several = self.gates if self.recurrent_dropout else 1
        first = x if len(x.shape) == 2 else x[:, :1]
        masks = self._masks(key, first, rate, several)
        parts = operations.split(kernel, several, axis=1)
        products = [
            operations.tensordot(operations.multiply(x, mask), part, 1)
            for mask, part in zip(masks, parts, strict=True)
        ]
        return products[0] if several == 1 else operations.concat(products, -1)

    # -- steps ------------------------------------------------------------------------------------

    def projected(self, inputs, training: bool) -> Any:
        """What is made of inputs, of one step or of many."""
        made = self._product("input", inputs, self.kernel, self.dropout, training)
        bias = self._input_bias()
        return made if bias is None else operations.add(made, bias)

    def _input_bias(self) -> Any:
        return self.bias

    def _inner(self, h, training: bool, kernel=None) -> Any:
        kernel = self.recurrent_kernel if kernel is None else kernel
        return self._product("recurrent", h, kernel, self.recurrent_dropout, training)

    def advanced(self, z, states, training: bool) -> tuple[Any, list[Any]]:
        """The output and the states after a step, from what was made of its input."""
        raise NotImplementedError

    def call(self, inputs, states, training: bool = False) -> Any:
        """The output and the states after a step."""
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

    def advanced(self, z, states, training: bool) -> tuple[Any, list[Any]]:
        h = self.activation(operations.add(z, self._inner(states[0], training)))
        return h, [h]


@settings
class LSTMCell(Cell):
    """Long short-term memory: states ``h`` and ``c``, and gates for what is kept of them.

    Examples
    --------
    >>> cell = tf.keras.layers.LSTMCell(3)
    >>> output, (h, c) = cell(tf.ones([2, 4]), [tf.zeros([2, 3]), tf.zeros([2, 3])])
    >>> output.shape, cell.bias.numpy()[3:6].tolist()
    (TensorShape([2, 3]), [1.0, 1.0, 1.0])
    """

    gates = 4

    places: ClassVar[dict[str, str]] = {
        "recurrent_activation": "activation",
        "unit_forget_bias": "bias_initializer",
    }
    recurrent_activation: Any = "sigmoid"
    unit_forget_bias: bool = True

    def _prepare(self) -> None:
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


@settings
class GRUCell(Cell):
    """A gated recurrent unit.

    Parameters
    ----------
    reset_after : bool. Whether the reset gate acts behind the product with the recurrent kernel.

    Examples
    --------
    >>> cell = tf.keras.layers.GRUCell(3)
    >>> output, states = cell(tf.ones([2, 4]), [tf.zeros([2, 3])])
    >>> output.shape, cell.bias.shape
    (TensorShape([2, 3]), TensorShape([2, 9]))
    """

    gates = 3

    places: ClassVar[dict[str, str]] = {
        "recurrent_activation": "activation",
        "reset_after": "recurrent_dropout",
    }
    recurrent_activation: Any = "sigmoid"
    reset_after: bool = True

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
    """Cells, each of which takes the output of the one before it.

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
                raise ValueError(
                    "All cells must have a `call` method and a `state_size` attribute. Received "
                    f"cell without one: {cell}"
                )
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
        """Zeros for each cell."""
        return [initial(cell, batch_size, self._kind) for cell in self.cells]

    def build(self, input_shape) -> None:
        """Build each cell for the output of the one before it."""
        for cell in self.cells:
            if isinstance(cell, Layer) and not cell.built:
                cell.build(input_shape)
                cell.built = True
            input_shape = (input_shape[0], size_of(cell))
        self.built = True

    def call(self, inputs, states, training: bool = False) -> Any:
        """The output of the last cell, and the states of all."""
        after = []
        for cell, own in zip(self.cells, states, strict=True):
            inputs, new = stepped(cell, inputs, own, training)
            after.append(new)
        return inputs, after

    def reset_dropout_mask(self) -> None:
        """Draw what is left out again."""
        for cell in self.cells:
            getattr(cell, "reset_dropout_mask", lambda: None)()


def size_of(cell) -> int:
    """The size of a cell's output."""
    found = getattr(cell, "output_size", None)
    if found is None:
        size = cell.state_size
        found = size[0] if isinstance(size, list | tuple) else size
    return int(found)


def initial(cell, batch, kind) -> Any:
    """The states that a cell begins with: what it says itself, else zeros."""
    own = getattr(cell, "get_initial_state", None)
    return own(batch_size=batch) if own is not None else _zeros(cell.state_size, batch, kind)


def stepped(cell, inputs, states, training: bool) -> Any:
    """A step of a cell, which is a layer or has a method `call`."""
    return (
        cell(inputs, states, training=training)
        if isinstance(cell, Layer)
        else cell.call(inputs, states)
    )


fill_sections(globals())
