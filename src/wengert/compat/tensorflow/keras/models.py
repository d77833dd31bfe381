"""Layer 9 · compat: ``tf.keras.Model`` and ``tf.keras.Sequential``: trainable compositions of
layers.

>>> model = tf.keras.Sequential([tf.keras.layers.Dense(1)])
>>> model.compile(optimizer="sgd", loss="mse")
>>> history = model.fit(tf.ones([8, 2]), tf.zeros([8, 1]), epochs=3, verbose=0)
>>> len(history.history["loss"])
3
"""

# ruff: noqa: F401  some names are for users

from __future__ import annotations

import json
from typing import Any

from wengert.compat.tensorflow import nest
from wengert.compat.tensorflow.archive import coded, decoded
from wengert.compat.tensorflow.configs import deserialize_keras_object, serialize_keras_object
from wengert.compat.tensorflow.functions.values import constant_of
from wengert.compat.tensorflow.keras import symbols
from wengert.compat.tensorflow.keras.globals import name_for
from wengert.compat.tensorflow.keras.layer import Layer
from wengert.compat.tensorflow.keras.layers import InputLayer
from wengert.compat.tensorflow.keras.saving import (
    load_model,
    read_weights,
    save_model,
    write_model,
    write_weights,
)
from wengert.compat.tensorflow.keras.summaries import summary_of
from wengert.compat.tensorflow.keras.symbols import Symbol, inner
from wengert.compat.tensorflow.keras.training import Trainer
from wengert.compat.tensorflow.words import public, refusal


def _coded(value, places: dict[int, int]) -> Any:
    """Encode arguments for JSON: symbols become their numbers."""

    def leaf(part, _path: str) -> dict[str, Any]:
        if isinstance(part, Symbol):
            return {"symbol": places[id(part)]}
        return {"value": serialize_keras_object(part)}

    return coded(value, leaf)


def _decoded(code: dict[str, Any], symbols: list[Any]) -> Any:
    def leaf(kind: str, held) -> Any:
        return symbols[held] if kind == "symbol" else deserialize_keras_object(held)

    return decoded(code, leaf)


def drawn(model) -> dict[str, Any]:
    """Return the config of a functional model: its layers and their calls."""
    inputs = inner(model._inputs)
    places = {id(symbol): number for number, symbol in enumerate(inputs)}
    layers: dict[int, tuple[int, Any]] = {}
    calls: dict[int, dict[str, Any]] = {}
    for symbol in model._order:
        layer, args, kwargs, place = symbol.origin
        number, _ = layers.setdefault(id(layer), (len(layers), layer))
        call = calls.setdefault(
            id(args),
            {
                "layer": number,
                "args": _coded(args, places),
                "kwargs": _coded(kwargs, places),
                "results": [],
            },
        )
        call["results"].append(place)
        places[id(symbol)] = len(places)
    return {
        "layers": [serialize_keras_object(layer) for _, layer in layers.values()],
        "inputs": [
            {"shape": list(one.shape), "dtype": one.dtype, "name": one.name} for one in inputs
        ],
        "nodes": list(calls.values()),
        "input_structure": _coded(model._inputs, places),
        "output_structure": _coded(model._outputs, places),
    }


def redrawn(config: dict[str, Any], custom_objects=None) -> tuple[Any, Any]:
    """Rebuild inputs and outputs from a config, with new layers."""
    layers = [deserialize_keras_object(layer, custom_objects) for layer in config["layers"]]
    symbols = [
        Symbol(tuple(one["shape"]), one["dtype"], None, one["name"]) for one in config["inputs"]
    ]
    for call in config["nodes"]:
        args, kwargs = (_decoded(call[key], symbols) for key in ("args", "kwargs"))
        results = nest.flatten(layers[call["layer"]](*args, **kwargs))
        symbols += [results[place or 0] for place in call["results"]]
    return (
        _decoded(config["input_structure"], symbols),
        _decoded(config["output_structure"], symbols),
    )


class Model(Trainer, Layer):
    """A layer that can be compiled, trained and evaluated.

    Either a subclass defines `call`, or a model is built from symbolic inputs and outputs.

    Parameters
    ----------
    inputs, outputs : KerasTensor, or list or dict of them, optional. Results of `tf.keras.Input`,
        and outputs that layers computed from them.
    **kwargs: The arguments of `Layer`.

    Examples
    --------
    >>> inputs = tf.keras.Input(shape=(3,))
    >>> hidden = tf.keras.layers.Dense(4, activation="relu")(inputs)
    >>> model = tf.keras.Model(inputs, tf.keras.layers.Dense(1)(hidden))
    >>> model(tf.ones([2, 3])).shape, len(model.trainable_variables)
    (TensorShape([2, 1]), 4)
    """

    def _mask(self, result, inputs, masks) -> None:
        """Leave the result as the layers of the model masked it."""

    def __init__(self, *args, **kwargs) -> None:
        given = dict(zip(("inputs", "outputs"), args, strict=False))
        inputs = given.get("inputs", kwargs.pop("inputs", None))
        outputs = given.get("outputs", kwargs.pop("outputs", None))
        if inputs is not None and type(self) is Model:
            kwargs["name"] = kwargs.get("name") or name_for("functional")
        super().__init__(**kwargs)
        self._inputs = self._outputs = None
        if inputs is not None:
            self._order, turns = symbols.order_of(outputs, inputs)
            self._inputs, self._outputs = inputs, outputs
            entries = [(symbol, InputLayer.of(symbol)) for symbol in inner(inputs)]
            self._graph = symbols.layers_of(self._order, turns, entries)
            self.built = True

    def build(self, input_shape=None) -> None:
        """Create the weights, for inputs of this shape."""
        if input_shape is not None and not self.built:
            object.__setattr__(self, "built", True)
            self(constant_of(_zeros(input_shape)))

    def _build_for(self, args: tuple[Any, ...]) -> None:
        if type(self).build is Model.build:
            # inner layers are built when they are called
            object.__setattr__(self, "built", True)
            shape = tuple(getattr(args[0], "shape", ())) if args else None
            object.__setattr__(self, "_built_for", shape)
        else:
            super()._build_for(args)

    @property
    def inputs(self) -> Any:
        """The inputs of a functional model, in a list."""
        return None if self._inputs is None else inner(self._inputs)

    @property
    def outputs(self) -> Any:
        """The outputs of a functional model, in a list."""
        return None if self._outputs is None else inner(self._outputs)

    @property
    def input_shape(self) -> Any:
        """The shapes of the inputs, in the structure they were given in."""
        return _shape_of(self._inputs)

    @property
    def output_shape(self) -> Any:
        """The shapes of the outputs, in the structure they were given in."""
        return _shape_of(self._outputs)

    @property
    def input(self) -> Any:
        """The inputs of a functional model, in the structure they were given in."""
        return self._inputs

    @property
    def output(self) -> Any:
        """The outputs of a functional model, in the structure they were given in."""
        return self._outputs

    def call(self, inputs, *args, **kwargs) -> Any:
        """Run the layers between the inputs and the outputs on `inputs`."""
        if self._outputs is None:
            raise refusal(NotImplementedError, "Model {} does", type(self).__name__)
        names = inner(self._inputs)
        if isinstance(inputs, dict):
            keys = self._inputs if isinstance(self._inputs, dict) else {s.name: s for s in names}
            pairs = [(keys[key], value) for key, value in inputs.items()]
        else:
            values = inputs if isinstance(inputs, list | tuple) else [inputs]
            pairs = list(zip(names, values, strict=True))
        return symbols.evaluated(
            self._outputs, self._order, {id(symbol): value for symbol, value in pairs}
        )

    # -- files and configurations -----------------------------------------------------------------

    def get_config(self) -> dict[str, Any]:
        """Return the config that rebuilds the model: of a functional model, layers and their calls.

        Raises
        ------
        NotImplementedError: If the model is a subclass without its own `get_config`.
        """
        if self._outputs is None:
            return super().get_config()
        return {"name": self.name, "trainable": self.trainable, **drawn(self)}

    @classmethod
    def from_config(cls, config: dict[str, Any], custom_objects=None) -> Any:
        """Build a model from a config."""
        if "nodes" not in config:
            return super().from_config(config)
        inputs, outputs = redrawn(config, custom_objects)
        return cls(inputs, outputs, name=config["name"], trainable=config["trainable"])

    def get_compile_config(self) -> Any:
        """Return the arguments of `compile`."""
        return serialize_keras_object(self._compiled)

    def compile_from_config(self, config) -> None:
        """Compile with the result of `get_compile_config`."""
        self.compile(**deserialize_keras_object(config))
        if self.built:
            self.optimizer.build(self.trainable_variables)

    def to_json(self, **kwargs) -> str:
        """Return the config as JSON."""
        return json.dumps(serialize_keras_object(self), **kwargs)

    def save(self, filepath, overwrite=True, **kwargs) -> None:
        """Write the config, the weights, and the optimizer state to a file.

        The file has this library's own format, which its `tf.keras.models.load_model` reads: a zip
        archive of JSON and arrays, without code.

        Parameters
        ----------
        filepath : str or path. The file, whose name ends in ``.keras``.
        overwrite : bool. Whether to replace an existing file.

        Raises
        ------
        ValueError: If the name has another suffix, or the file exists.
        """
        write_model(self, filepath, overwrite)

    def save_weights(self, filepath, overwrite=True) -> None:
        """Write the weights to a file named ``….weights.h5``, which is not an HDF5 file."""
        write_weights(self, filepath, overwrite)

    def load_weights(self, filepath, skip_mismatch=False) -> None:
        """Load the weights from a file that `save_weights` or `save` wrote.

        Raises
        ------
        ValueError: If the model has no weights yet, or its weights do not match.
        """
        read_weights(self, filepath, skip_mismatch)

    def export(self, filepath, *args, **kwargs) -> None:
        """Raise an error: no format can be served by other software.

        Raises
        ------
        NotImplementedError: Always.
        """
        raise refusal(NotImplementedError, "model.export is not")

    def get_layer(self, name: str | None = None, index: int | None = None) -> Any:
        """Return an inner layer by name or index.

        Raises
        ------
        ValueError: If there is no such layer.
        """
        if index is not None:
            return self.layers[index]
        for layer in self.layers:
            if layer.name == name:
                return layer
        names = [layer.name for layer in self.layers]
        raise ValueError(f"No such layer: {name}. Existing layers are: {names}.")

    def summary(
        self,
        line_length: int | None = None,
        positions=None,
        print_fn=None,
        expand_nested=False,
        show_trainable=False,
        layer_range=None,
    ) -> None:
        """Print a table of the layers, with the shapes of their results and their parameters.

        Parameters
        ----------
        line_length : int, optional. The width; at most that of the terminal by default.
        positions : sequence of float, optional. Where columns end, as parts of the width.
        print_fn : callable, optional. Called with the text, in place of ``print``.
        expand_nested : bool. Whether to list the layers of inner models, too.
        show_trainable : bool. Whether to show which layers are trained.
        layer_range: Not offered.
        """
        text = summary_of(self, line_length, positions, expand_nested, show_trainable)
        print(text, end="") if print_fn is None else print_fn(text)


class Sequential(Model):
    """A sequence of layers.

    Parameters
    ----------
    layers : sequence of Layer, optional. The layers. If the first is a `tf.keras.Input` or has an
        ``input_shape``, the weights are created immediately.
    **kwargs: The arguments of `Layer`.

    Examples
    --------
    >>> model = tf.keras.Sequential([tf.keras.layers.Flatten(), tf.keras.layers.Dense(10)])
    >>> model(tf.ones([2, 28, 28])).shape
    TensorShape([2, 10])
    """

    def __init__(self, layers=None, trainable=True, name: str | None = None) -> None:
        super().__init__(trainable=trainable, name=name)
        self._stack: list[Any] = []
        self._shape: Any = None
        for layer in layers or []:
            self.add(layer)

    def add(self, layer, rebuild=True) -> None:
        """Append a layer.

        Raises
        ------
        ValueError: If `layer` is not a layer.
        """
        if isinstance(layer, Symbol):
            self._shape = (layer.shape, layer.dtype)
            return
        if isinstance(layer, InputLayer):
            self._shape = (layer._input_shape, "float32")
            return
        if not isinstance(layer, Layer):
            if not callable(layer):
                raise refusal(ValueError, "Only instances of", layer, type(layer))
            layer = _Called(layer)
        if not self._stack and self._shape is None and layer._input_shape is not None:
            self._shape = (layer._input_shape, "float32")
        self._stack.append(layer)
        self._draw([layer])

    def _draw(self, layers) -> None:
        """Build the layers as far as the input shape is known."""
        if self._shape is None:
            return
        if self._inputs is None:
            self._inputs = self._outputs = Symbol(*self._shape)
        for layer in layers:
            self._outputs = layer(self._outputs)
        object.__setattr__(self, "built", True)
        object.__setattr__(self, "_built_for", self._shape[0])

    def get_config(self) -> dict[str, Any]:
        """Return the name, the layers, and the input shape."""
        return {
            "name": self.name,
            "trainable": self.trainable,
            "layers": [serialize_keras_object(layer) for layer in self._stack],
            "build_input_shape": serialize_keras_object(self._shape),
        }

    @classmethod
    def from_config(cls, config: dict[str, Any], custom_objects=None) -> Any:
        """Build a model from a config."""
        model = cls(name=config["name"], trainable=config.get("trainable", True))
        if config.get("build_input_shape") is not None:
            shape, dtype = config["build_input_shape"]
            model.add(Symbol(tuple(shape), dtype))
        for layer in config["layers"]:
            model.add(deserialize_keras_object(layer, custom_objects))
        return model

    def pop(self, rebuild=True) -> Any:
        """Remove the last layer."""
        last = self._stack.pop()
        self._inputs = None
        self._draw(self._stack)
        return last

    @property
    def layers(self) -> list[Any]:
        """The layers."""
        return list(self._stack)

    def call(self, inputs, training: bool | None = None, mask=None) -> Any:
        """Run the layers on `inputs`."""
        for layer in self._stack:
            inputs = layer(inputs)
        return inputs


class _Called(Layer):
    """A layer that wraps a function in a `Sequential`."""

    def __init__(self, function) -> None:
        super().__init__(name=getattr(function, "__name__", None))
        self.function = function

    def call(self, inputs) -> Any:
        """Return the result of the function."""
        return self.function(inputs)


def _shape_of(value) -> Any:
    if value is None:
        raise AttributeError("the model has no fixed shapes: it is not made of tf.keras.Input")
    return nest.map_structure(lambda symbol: symbol.shape, value)


def _zeros(shape) -> Any:
    return symbols.example(Symbol(tuple(shape)), 2).numpy()


def clone_model(model, input_tensors=None, clone_function=None, **kwargs) -> Any:
    """Build a model of the same structure with newly initialized weights.

    Parameters
    ----------
    model : Model. A functional model or a `Sequential`.
    input_tensors, clone_function: Not offered.

    Raises
    ------
    ValueError: If another argument is given.

    Examples
    --------
    >>> model = tf.keras.Sequential([tf.keras.Input((2,)), tf.keras.layers.Dense(3)])
    >>> tf.keras.models.clone_model(model).count_params()
    9
    """
    if input_tensors is not None or clone_function is not None or kwargs:
        raise ValueError("clone_model takes the model alone here")
    return type(model).from_config(model.get_config())


def model_from_config(config: dict[str, Any], custom_objects=None) -> Any:
    """Build a model from the result of `serialize_keras_object`."""
    return deserialize_keras_object(config, custom_objects)


def model_from_json(json_string: str, custom_objects=None) -> Any:
    """Build a model from the result of `Model.to_json`.

    Examples
    --------
    >>> model = tf.keras.Sequential([tf.keras.Input((2,)), tf.keras.layers.Dense(3)])
    >>> tf.keras.models.model_from_json(model.to_json()).output_shape
    (None, 3)
    """
    return deserialize_keras_object(json.loads(json_string), custom_objects)


__all__ = public(globals(), "load_model save_model", without="drawn redrawn")
