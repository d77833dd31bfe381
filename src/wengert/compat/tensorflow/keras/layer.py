"""Layer 9 · compat: ``tf.keras.layers.Layer``: weights, and a function of tensors that uses them.

NOTE [layers of Keras]
A layer makes its weights when it is first called, from the shape of its input (`build`). It finds
weights and layers among its attributes, in lists, tuples and dicts, too, in the order in which
these were set. Whether the program trains or predicts is an argument of the outermost call, and is
handed down to all layers whose `call` asks for ``training``.

NOTE [symbols of Keras]
`Input` gives a `Symbol`, a shape and a dtype. A layer called with symbols is run on zeros, to build
it and to find the shape of its result, and gives a symbol that remembers the layer and its inputs.
A model of inputs and outputs walks from the outputs back to the inputs, and runs the layers that it
meets in that order.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Iterator
from contextvars import ContextVar
from typing import Any

import numpy as np

from wengert.base.sections import fill_sections
from wengert.compat.tensorflow import initializers
from wengert.compat.tensorflow.archive import WAITING, resume
from wengert.compat.tensorflow.configs import Configured
from wengert.compat.tensorflow.functions.values import (
    constant_of,
    converted,
    dtype_of,
    is_floating,
    made,
    tensor_of,
)
from wengert.compat.tensorflow.keras import constraints, regularizers
from wengert.compat.tensorflow.keras.backend import float_type, name_for
from wengert.compat.tensorflow.keras.metrics import Metric
from wengert.compat.tensorflow.shapes import TensorShape
from wengert.compat.tensorflow.variable import Variable

__all__ = ["Layer"]


class Symbol:
    """A tensor that is not there yet: its shape, its dtype, and where it comes from."""

    def __init__(self, shape, dtype="float32", origin=None, name: str | None = None) -> None:
        self.shape = tuple(shape)
        self.dtype = str(dtype_of(dtype))
        self.origin = origin
        self.name = name or "keras_tensor"

    def __repr__(self) -> str:
        return f"<KerasTensor shape={self.shape}, dtype={self.dtype}, name={self.name}>"

    def _refuse(self, *args) -> Any:
        raise TypeError(
            "only layers are offered for the inputs of functional models: write "
            "tf.keras.layers.Add()([a, b]) for a + b, or subclass tf.keras.Model"
        )

    __add__ = __radd__ = __sub__ = __rsub__ = __mul__ = __rmul__ = _refuse
    __truediv__ = __rtruediv__ = __matmul__ = __pow__ = __neg__ = __getitem__ = _refuse


def _example(value, size: int) -> Any:
    if isinstance(value, Symbol):
        shape = [size if n is None else n for n in value.shape]
        return constant_of(np.zeros(shape, value.dtype))
    if isinstance(value, list | tuple):
        return type(value)(_example(part, size) for part in value)
    return value


def symbolic(layer, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """The symbols that a layer makes of others."""
    results = []
    for size in (2, 3):
        # sizes that change with the batch are not known
        named = {key: _example(value, size) for key, value in kwargs.items()}
        results.append(layer(*(_example(arg, size) for arg in args), **named))
    origin = (layer, args, kwargs)
    if isinstance(results[0], list | tuple):
        return type(results[0])(
            _symbol(a, b, origin, i) for i, (a, b) in enumerate(zip(*results, strict=True))
        )
    return _symbol(results[0], results[1], origin, None)


def _symbol(a, b, origin, place: int | None) -> Symbol:
    shape = [m if m == n else None for m, n in zip(tuple(a.shape), tuple(b.shape), strict=True)]
    return Symbol(TensorShape(shape), a.dtype.name, (*origin, place))


def _inner(value) -> list[Any]:
    if isinstance(value, Symbol):
        return [value]
    if isinstance(value, list | tuple):
        return [part for item in value for part in _inner(item)]
    if isinstance(value, dict):
        return _inner(list(value.values()))
    return []


def order_of(outputs, inputs) -> list[Symbol]:
    """The symbols that lead from `inputs` to `outputs`, each after those that it needs.

    Raises
    ------
    ValueError: If something else is needed.
    """
    known = {id(symbol) for symbol in _inner(inputs)}
    done: list[Symbol] = []
    stack: list[tuple[Symbol, bool]] = [(symbol, False) for symbol in reversed(_inner(outputs))]
    while stack:
        symbol, ready = stack.pop()
        if id(symbol) in known:
            continue
        if symbol.origin is None:
            raise ValueError(
                f"`inputs` not connected to `outputs`: {symbol!r} is needed, and is not an input"
            )
        if ready:
            known.add(id(symbol))
            done.append(symbol)
            continue
        stack.append((symbol, True))
        needed = _inner(symbol.origin[1]) + _inner(symbol.origin[2])
        stack += [(part, False) for part in reversed(needed)]
    return done


def evaluated(outputs, order: list[Symbol], values: dict[int, Any]) -> Any:
    """What `outputs` are, given what the inputs are, by the identity of symbols."""
    results: dict[int, Any] = {}
    for symbol in order:
        layer, args, kwargs, place = symbol.origin
        key = id(args)
        if place is None or key not in results:
            named = {name: _filled(value, values) for name, value in kwargs.items()}
            results[key] = layer(*(_filled(arg, values) for arg in args), **named)
        values[id(symbol)] = results[key] if place is None else results[key][place]
    return _filled(outputs, values)


def _filled(value, values: dict[int, Any]) -> Any:
    if isinstance(value, Symbol):
        return values[id(value)]
    if isinstance(value, list | tuple):
        return type(value)(_filled(part, values) for part in value)
    if isinstance(value, dict):
        return {key: _filled(part, values) for key, part in value.items()}
    return value


class Weight(Variable):
    """A variable as `Layer.add_weight` makes it: named and shown as Keras's are.

    Examples
    --------
    >>> layer = tf.keras.layers.Dense(1, kernel_initializer="ones", name="last")
    >>> _ = layer(tf.ones([1, 2]))
    >>> layer.bias
    <Variable path=last/bias, shape=(1,), dtype=float32, value=[0.]>
    """

    def __init__(self, value, owner: str, name: str, **kwargs) -> None:
        super().__init__(value, name=name, **kwargs)
        self._label = name
        self._owner = owner

    @property
    def name(self) -> str:
        """The name within the layer."""
        return self._label

    @property
    def path(self) -> str:
        """The names of the layer and of the weight."""
        return f"{self._owner}/{self._label}"

    @property
    def trainable(self) -> bool:
        """Whether it is to be trained, and watched by tapes."""
        return self._trainable

    @trainable.setter
    def trainable(self, value: bool) -> None:
        self._trainable = bool(value)

    def __repr__(self) -> str:
        return (
            f"<Variable path={self.path}, shape={self.shape}, dtype={self.dtype.name}, "
            f"value={self.numpy()}>"
        )


_UNSEEN = frozenset(
    {
        "_compiled",
        "_given",
        "_losses",
        "_optimizer",
        "_regularized",
        "_watched",
        "_weights",
        "optimizer",
    }
)
"""Attributes in which nothing belongs to the layer."""
_TRAINING: ContextVar[bool | None] = ContextVar("wengert_keras_training", default=None)


class Layer(Configured):
    """A function of tensors with weights of its own.

    Subclasses define `call`, and `build`, if weights depend on the shape of the input.

    Parameters
    ----------
    trainable : bool. Whether the weights are to be trained.
    name : str, optional. A name.
    dtype : DType, optional. That of the weights; float32 by default.
    **kwargs: ``input_shape`` or ``input_dim``: the shape of one example, if this is the first layer
        of a `Sequential`.

    Examples
    --------
    >>> class Scale(tf.keras.layers.Layer):
    ...     def build(self, input_shape):
    ...         self.factor = self.add_weight(shape=(input_shape[-1],), initializer="ones")
    ...
    ...     def call(self, inputs):
    ...         return inputs * self.factor
    >>> scale = Scale()
    >>> print(scale(tf.constant([[1.0, 2.0]])).numpy(), len(scale.trainable_weights))
    [[1. 2.]] 1
    """

    built: bool
    _losses: list[Any]

    def __new__(cls, *args, **kwargs) -> Any:
        """A layer that can already be given attributes."""
        layer = super().__new__(cls, *args, **kwargs)
        object.__setattr__(layer, "_weights", [])
        object.__setattr__(layer, "_losses", [])
        object.__setattr__(layer, "_regularized", [])
        object.__setattr__(layer, "built", False)
        object.__setattr__(layer, "_trainable", True)
        object.__setattr__(layer, "_built_for", None)
        return layer

    def __init__(
        self,
        *,
        activity_regularizer=None,
        trainable: bool = True,
        dtype=None,
        autocast: bool = True,
        name: str | None = None,
        **kwargs,
    ) -> None:
        self.name = name or name_for(type(self).__name__)
        self._trainable = bool(trainable)
        self._kind = float_type(dtype)
        self._activity = regularizers.get(activity_regularizer)
        shape = kwargs.pop("input_shape", None)
        if "input_dim" in kwargs:
            shape = (kwargs.pop("input_dim"),)
        self._input_shape = None if shape is None else (None, *shape)
        batch = kwargs.pop("batch_input_shape", None)
        if batch is not None:
            self._input_shape = tuple(batch)
        if kwargs:
            raise ValueError(
                f"Unrecognized keyword arguments passed to {type(self).__name__}: {kwargs}"
            )

    # -- weights ----------------------------------------------------------------------------------

    def _weight(self, name: str, shape, role: str = "", **more) -> Any:
        """A new weight that begins, and is held, as the attributes of its role say."""
        role = role or name
        kinds = ("initializer", "regularizer", "constraint")
        said = {kind: getattr(self, f"{role}_{kind}", None) for kind in kinds}
        return self.add_weight(shape=shape, name=name, **{**said, **more})

    def add_weight(
        self,
        shape=None,
        initializer=None,
        dtype=None,
        trainable: bool = True,
        autocast: bool = True,
        regularizer=None,
        constraint=None,
        aggregation=None,
        name: str | None = None,
    ) -> Any:
        """A new weight.

        Parameters
        ----------
        shape : sequence of int. Its shape; none by default.
        initializer : Initializer or str, optional. How it begins: ``"glorot_uniform"`` by default.
        dtype : DType, optional. That of the layer by default.
        trainable : bool. Whether it is to be trained.
        regularizer, constraint : callable, optional. What it adds to the loss; what is applied to
            it after each step.
        autocast, aggregation : optional. Accepted, and of no effect.
        name : str, optional. A name.

        Returns
        -------
        Variable: The weight.
        """
        if isinstance(shape, str):
            # the order of older programs: a name, and then the shape
            shape, name = initializer, shape
            initializer = None
        sizes = () if shape is None else tuple(int(size) for size in shape)
        kind = self._kind if dtype is None else float_type(dtype)
        start = initializers.get(
            initializer or ("zeros" if kind.kind in "iub" else "glorot_uniform")
        )
        variable = Weight(
            start(sizes, dtype=str(kind)),
            self.name,
            name or "variable",
            trainable=trainable,
            constraint=constraints.get(constraint),
        )
        self._weights.append(variable)
        if regularizer is not None:
            self._regularized.append((variable, regularizers.get(regularizer)))
        return variable

    def _parts(self) -> Iterator[Any]:
        """Layers, metrics and weights among the attributes, in order."""
        yield from self._weights
        for name, value in vars(self).items():
            if name not in _UNSEEN:
                yield from _found(value)

    def _flatten_layers(self, recursive: bool = True, include_self: bool = True) -> Iterator[Any]:
        seen: set[int] = set()
        stack: list[Any] = [self]
        while stack:
            layer = stack.pop()
            if id(layer) in seen:
                continue
            seen.add(id(layer))
            if layer is not self or include_self:
                yield layer
            if recursive or layer is self:
                inner = [part for part in layer._parts() if isinstance(part, Layer)]
                stack += reversed(inner)

    def _variables(self, trainable: bool | None) -> list[Any]:
        found: dict[int, Any] = {}
        self._collect(found, trainable, True, set())
        return list(found.values())

    def _collect(
        self, found: dict[int, Any], wanted: bool | None, alive: bool, seen: set[int]
    ) -> None:
        if id(self) in seen:
            return
        seen.add(id(self))
        alive = alive and self._trainable
        for part in self._parts():
            if isinstance(part, Layer):
                part._collect(found, wanted, alive, seen)
            elif isinstance(part, Variable):
                trained = alive and part.trainable
                if wanted is None or trained is wanted:
                    found.setdefault(id(part), part)

    @property
    def trainable(self) -> bool:
        """Whether the weights are to be trained."""
        return self._trainable

    @trainable.setter
    def trainable(self, value: bool) -> None:
        for layer in self._flatten_layers():
            layer._trainable = bool(value)

    @property
    def trainable_variables(self) -> list[Any]:
        """The weights that are to be trained, those of inner layers included."""
        return self._variables(True)

    @property
    def non_trainable_variables(self) -> list[Any]:
        """The weights that are not to be trained."""
        return self._variables(False)

    @property
    def variables(self) -> list[Any]:
        """All weights."""
        return self._variables(None)

    trainable_weights = trainable_variables
    non_trainable_weights = non_trainable_variables
    weights = variables

    @property
    def layers(self) -> list[Any]:
        """The inner layers."""
        return list(self._flatten_layers(recursive=False, include_self=False))

    @property
    def metrics(self) -> list[Any]:
        """The metrics among the attributes, those of inner layers included."""
        found: dict[int, Any] = {}
        for layer in self._flatten_layers():
            for part in layer._parts():
                if isinstance(part, Metric):
                    found.setdefault(id(part), part)
        return list(found.values())

    def get_weights(self) -> list[Any]:
        """The values of all weights, as arrays."""
        return [variable.numpy() for variable in self.weights]

    def set_weights(self, weights) -> None:
        """Set the values of all weights.

        Raises
        ------
        ValueError: If there are not as many, or a shape differs.
        """
        own = self.weights
        if len(own) != len(weights):
            raise ValueError(
                f"You called `set_weights(weights)` on layer '{self.name}' with a weight list of "
                f"length {len(weights)}, but the layer was expecting {len(own)} weights."
            )
        for variable, value in zip(own, weights, strict=True):
            if tuple(variable.shape) != np.shape(value):
                raise ValueError(
                    f"Layer {self.name} weight shape {tuple(variable.shape)} is not compatible "
                    f"with provided weight shape {np.shape(value)}."
                )
        for variable, value in zip(own, weights, strict=True):
            variable.assign(value)

    def count_params(self) -> int:
        """The number of numbers in all weights."""
        return sum(int(np.prod(tuple(variable.shape))) for variable in self.weights)

    # -- losses -----------------------------------------------------------------------------------

    def add_loss(self, loss) -> None:
        """Add something to the loss; to be called in `call`."""
        self._losses += loss if isinstance(loss, list | tuple) else [loss]

    @property
    def losses(self) -> list[Any]:
        """What weights and calls add to the loss."""
        found = []
        for layer in self._flatten_layers():
            found += layer._losses
            found += [regularizer(variable) for variable, regularizer in layer._regularized]
        return found

    # -- calling ----------------------------------------------------------------------------------

    def build(self, input_shape) -> None:
        """Make the weights, for inputs of this shape; the first size, of the batch, is None."""
        self.built = True

    def call(self, *args, **kwargs) -> Any:
        """What the layer computes."""
        raise NotImplementedError(
            f"Layer {type(self).__name__} does not have a `call()` method implemented."
        )

    def __call__(self, *args, **kwargs) -> Any:
        """Build the layer, if that is to be done, and compute."""
        if not hasattr(self, "name"):
            raise RuntimeError(
                f"In layer {type(self).__name__}, you forgot to call `super().__init__()` as the "
                "first statement in the `__init__()` method."
            )
        if any(isinstance(part, Symbol) for arg in (args, *kwargs.values()) for part in _flat(arg)):
            return symbolic(self, args, kwargs)
        training = kwargs.pop("training", None)
        outer = _TRAINING.get()
        if training is None:
            training = outer
        kind: Any = type(self)
        masks = _masks(args[0]) if args else None
        if masks is not None and _asks_for("mask", kind):
            kwargs.setdefault("mask", masks)
        args = (_entered(args[0], self._kind), *args[1:]) if args else args
        self._build_for(args)
        token = _TRAINING.set(training)
        try:
            if outer is None:
                for layer in self._flatten_layers():
                    layer._losses.clear()
            if _asks_for("training", kind):
                kwargs["training"] = bool(training) if training is not None else False
            result = self.call(*args, **kwargs)
        finally:
            _TRAINING.reset(token)
        if self._activity is not None:
            self.add_loss(self._activity(result))
        self._mask(result, args, masks)
        return result

    def compute_mask(self, inputs, mask=None) -> Any:
        """Which steps of the result count, given the mask of the inputs: the same ones."""
        return mask

    def _mask(self, result, args, masks) -> None:
        if masks is None and type(self).compute_mask is Layer.compute_mask:
            return
        found = self.compute_mask(args[0] if args else None, masks)
        if found is None:
            return
        parts = result if isinstance(result, list | tuple) else [result]
        found = found if isinstance(found, list | tuple) else [found]
        for part, mask in zip(parts, found, strict=False):
            if mask is not None and getattr(part, "_keras_mask", None) is None:
                part._keras_mask = mask

    def _build_for(self, args: tuple[Any, ...]) -> None:
        if self.built:
            return
        shapes: Any = None
        if args:
            parts = args[0]
            if isinstance(parts, list | tuple):
                shapes = [tuple(part.shape) for part in parts]
            elif hasattr(parts, "shape"):
                shapes = tuple(parts.shape)
        self.build(shapes)
        object.__setattr__(self, "_built_for", shapes)
        object.__setattr__(self, "built", True)
        if WAITING:
            resume(self)

    def compute_output_shape(self, input_shape) -> Any:
        """The shape of the result, for an input of this shape."""
        result = symbolic(self, (Symbol(tuple(input_shape), str(self._kind)),), {})
        return result.shape

    @property
    def dtype(self) -> Any:
        """The dtype of the weights."""
        return str(self._kind)

    def get_config(self) -> dict[str, Any]:
        """The arguments that make another layer like this."""
        own = {"name": self.name, "trainable": self.trainable, "dtype": str(self._kind)}
        return {**super().get_config(), **own}

    def get_build_config(self) -> dict[str, Any] | None:
        """The shape that the weights were made for."""
        return {"input_shape": self._built_for} if self.built and self._built_for else None

    def build_from_config(self, config: dict[str, Any]) -> None:
        """Make the weights for the shape of `get_build_config`."""
        shape = config["input_shape"]
        if not self.built and shape is not None:
            self.build(_shape(shape))
            object.__setattr__(self, "built", True)
            self._built_for = shape

    def __getattr__(self, name: str) -> Any:
        raise AttributeError(f"'{type(self).__name__}' object has no attribute '{name}'")

    def __repr__(self) -> str:
        return f"<{type(self).__name__} name={self.name}, built={self.built}>"


def _flat(value) -> Iterator[Any]:
    if isinstance(value, list | tuple):
        for part in value:
            yield from _flat(part)
    else:
        yield value


def _shape(value) -> Any:
    """A shape that a file had as a list, or a list of shapes."""
    if any(isinstance(part, list | tuple) for part in value):
        return [_shape(part) for part in value]
    return tuple(value)


def _found(value) -> Iterator[Any]:
    """Layers, metrics and variables in a value."""
    if isinstance(value, Layer | Variable | Metric):
        yield value
    elif isinstance(value, list | tuple):
        for part in value:
            yield from _found(part)
    elif isinstance(value, dict):
        for part in value.values():
            yield from _found(part)


def _entered(value, kind) -> Any:
    """An input: arrays and numbers as tensors, floating ones of the dtype of the layer."""
    if isinstance(value, list | tuple) and any(hasattr(part, "shape") for part in value):
        return type(value)(_entered(part, kind) for part in value)
    if isinstance(value, dict) or value is None:
        return value
    x = tensor_of(value)
    if is_floating(x) and x._payload.dtype != kind:
        return made(converted(x, kind))
    return value if hasattr(value, "_payload") else made(x)


def _masks(value) -> Any:
    """What says which steps of an input count, or None."""
    if isinstance(value, list | tuple):
        found = [getattr(part, "_keras_mask", None) for part in value]
        return None if all(one is None for one in found) else found
    return getattr(value, "_keras_mask", None)


@functools.cache
def _asks_for(name: str, kind) -> bool:
    return name in inspect.signature(kind.call).parameters


fill_sections(globals())
