"""Layer 9 · compat: ``tf.keras.Model`` and ``tf.keras.Sequential``: layers that can be trained.

>>> model = tf.keras.Sequential([tf.keras.layers.Dense(1)])
>>> model.compile(optimizer="sgd", loss="mse")
>>> history = model.fit(tf.ones([8, 2]), tf.zeros([8, 1]), epochs=3, verbose=0)
>>> len(history.history["loss"])
3
"""

from __future__ import annotations

from typing import Any

from wengert.base.sections import fill_sections
from wengert.compat.tensorflow.functions.values import constant_of
from wengert.compat.tensorflow.keras import symbols
from wengert.compat.tensorflow.keras.layer import Layer
from wengert.compat.tensorflow.keras.layers import InputLayer
from wengert.compat.tensorflow.keras.training import History as History
from wengert.compat.tensorflow.keras.training import Trainer
from wengert.compat.tensorflow.refusal import refusal

__all__ = ["History", "Model", "Sequential", "clone_model"]


class Model(Trainer, Layer):
    """A layer that can be compiled, fitted and evaluated.

    Subclasses define `call`; or a model is made of symbolic inputs and outputs.

    Parameters
    ----------
    inputs, outputs : KerasTensor, or list or dict of them, optional. What `tf.keras.Input` gave,
        and what layers made of it.
    **kwargs: Those of `Layer`.

    Examples
    --------
    >>> inputs = tf.keras.Input(shape=(3,))
    >>> hidden = tf.keras.layers.Dense(4, activation="relu")(inputs)
    >>> model = tf.keras.Model(inputs, tf.keras.layers.Dense(1)(hidden))
    >>> model(tf.ones([2, 3])).shape, len(model.trainable_variables)
    (TensorShape([2, 1]), 4)
    """

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        given = dict(zip(("inputs", "outputs"), args, strict=False))
        inputs = given.get("inputs", kwargs.pop("inputs", None))
        outputs = given.get("outputs", kwargs.pop("outputs", None))
        super().__init__(**kwargs)
        self._inputs = self._outputs = None
        if inputs is not None:
            self._order = symbols.order_of(outputs, inputs)
            self._inputs, self._outputs = inputs, outputs
            seen: dict[int, Any] = {}
            for symbol in self._order:
                seen.setdefault(id(symbol.origin[0]), symbol.origin[0])
            self._graph = list(seen.values())
            self.built = True

    def build(self, input_shape: Any = None) -> None:
        """Make the weights, for inputs of this shape."""
        if input_shape is not None and not self.built:
            object.__setattr__(self, "built", True)
            self(constant_of(_zeros(input_shape)))

    def _build_for(self, args: tuple[Any, ...]) -> None:
        if type(self).build is Model.build:
            # the inner layers build themselves when they are called
            object.__setattr__(self, "built", True)
        else:
            super()._build_for(args)

    @property
    def inputs(self) -> Any:
        """The symbolic inputs, as a list."""
        return None if self._inputs is None else symbols._inner(self._inputs)

    @property
    def outputs(self) -> Any:
        """The symbolic outputs, as a list."""
        return None if self._outputs is None else symbols._inner(self._outputs)

    def call(self, inputs: Any, *args: Any, **kwargs: Any) -> Any:
        """What the layers between inputs and outputs make of `inputs`."""
        if self._outputs is None:
            raise NotImplementedError(
                f"Model {type(self).__name__} does not have a `call()` method implemented."
            )
        names = symbols._inner(self._inputs)
        if isinstance(inputs, dict):
            keys = self._inputs if isinstance(self._inputs, dict) else {s.name: s for s in names}
            pairs = [(keys[key], value) for key, value in inputs.items()]
        else:
            values = inputs if isinstance(inputs, list | tuple) else [inputs]
            pairs = list(zip(names, values, strict=True))
        return symbols.evaluated(
            self._outputs, self._order, {id(symbol): value for symbol, value in pairs}
        )

    def get_layer(self, name: str | None = None, index: int | None = None) -> Any:
        """An inner layer, by its name or its place.

        Raises
        ------
        ValueError: If there is none.
        """
        if index is not None:
            return self.layers[index]
        for layer in self.layers:
            if layer.name == name:
                return layer
        names = [layer.name for layer in self.layers]
        raise ValueError(f"No such layer: {name}. Existing layers are: {names}.")

    def summary(self, *args: Any, print_fn: Any = print, **kwargs: Any) -> None:
        """Print the layers, with the shapes of their weights, and how many numbers there are.

        Raises
        ------
        ValueError: If the model has not been built.
        """
        print_fn(f'Model: "{self.name}"')
        for layer in self.layers:
            shapes = ", ".join(str(tuple(v.shape)) for v in layer.weights)
            print_fn(f" {layer.name} ({type(layer).__name__}): {layer.count_params():,} [{shapes}]")
        trained = sum(v.shape.num_elements() for v in self.trainable_variables)
        total = self.count_params()
        print_fn(f" Total params: {total:,}")
        print_fn(f" Trainable params: {trained:,}")
        print_fn(f" Non-trainable params: {total - trained:,}")


class Sequential(Model):
    """Layers, one after the other.

    Parameters
    ----------
    layers : sequence of Layer, optional. The layers; the first may be a `tf.keras.Input` or have an
        ``input_shape``, and then the weights are made at once.
    **kwargs: Those of `Layer`.

    Examples
    --------
    >>> model = tf.keras.Sequential([tf.keras.layers.Flatten(), tf.keras.layers.Dense(10)])
    >>> model(tf.ones([2, 28, 28])).shape
    TensorShape([2, 10])
    """

    def __init__(self, layers: Any = None, trainable: bool = True, name: str | None = None) -> None:
        super().__init__(trainable=trainable, name=name)
        self._stack: list[Any] = []
        self._shape: Any = None
        for layer in layers or []:
            self.add(layer)

    def add(self, layer: Any, rebuild: bool = True) -> None:
        """Add a layer at the end.

        Raises
        ------
        ValueError: If it is not a layer.
        """
        if isinstance(layer, symbols.Symbol):
            self._shape = (layer.shape, layer.dtype)
            return
        if isinstance(layer, InputLayer):
            self._shape = (layer._input_shape, "float32")
            return
        if not isinstance(layer, Layer):
            if not callable(layer):
                raise ValueError(
                    "Only instances of `keras.Layer` can be added to a Sequential model. Received: "
                    f"{layer} (of type {type(layer)})"
                )
            layer = _Called(layer)
        if not self._stack and self._shape is None and layer._input_shape is not None:
            self._shape = (layer._input_shape, "float32")
        self._stack.append(layer)
        if self._shape is not None:
            self._build_now()

    def pop(self, rebuild: bool = True) -> Any:
        """Take the last layer away."""
        return self._stack.pop()

    def _build_now(self) -> None:
        shape, dtype = self._shape
        result = symbols.symbolic(self, (symbols.Symbol(shape, dtype),), {})
        self.output_shape = result.shape
        self.input_shape = tuple(shape)

    @property
    def layers(self) -> list[Any]:
        """The layers."""
        return list(self._stack)

    def call(self, inputs: Any, training: bool | None = None, mask: Any = None) -> Any:
        """What the layers make of `inputs`."""
        for layer in self._stack:
            inputs = layer(inputs)
        return inputs


class _Called(Layer):
    """A function among the layers of a `Sequential`."""

    def __init__(self, function: Any) -> None:
        super().__init__(name=getattr(function, "__name__", None))
        self.function = function

    def call(self, inputs: Any) -> Any:
        """The result of the function."""
        return self.function(inputs)


def _zeros(shape: Any) -> Any:
    return symbols._example(symbols.Symbol(tuple(shape)), 2).numpy()


def clone_model(model: Any, **kwargs: Any) -> Any:
    """Refused: a model is rebuilt by the program that made the first one.

    Raises
    ------
    NotImplementedError: Always.
    """
    raise NotImplementedError(
        "tf.keras.models.clone_model is not offered: make another model in the same way, and "
        "other.set_weights(model.get_weights())"
    )


def __getattr__(name: str) -> Any:
    raise refusal("keras.models", name)


fill_sections(globals())
