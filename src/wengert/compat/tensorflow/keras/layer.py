"""Layer 9 · compat: ``tf.keras.layers.Layer``: a function of tensors with its own weights.

NOTE [layers of Keras]
A layer creates its weights when it is first called, from the shape of its input (`build`). Its
weights and inner layers are those in its attributes, including nested lists, tuples and dicts, in
order of assignment. The outermost call receives ``training``, which is passed on to all inner
layers whose `call` has this parameter.
"""

from __future__ import annotations

import functools
import inspect
import operator
from collections.abc import Callable, Iterator
from contextvars import ContextVar
from typing import Any

import numpy as np

from wengert.compat.kit.namespaces import defined
from wengert.compat.tensorflow import initializers, nest
from wengert.compat.tensorflow.archive import WAITING, resume
from wengert.compat.tensorflow.configs import Configured, register_keras_serializable
from wengert.compat.tensorflow.eager import Tensor, is_text, labels_of
from wengert.compat.tensorflow.functions.drawing import SeedGenerator, normals
from wengert.compat.tensorflow.functions.normalisation import dropout
from wengert.compat.tensorflow.functions.values import converted, is_floating, made, tensor_of
from wengert.compat.tensorflow.keras import constraints, policies, regularizers, specs
from wengert.compat.tensorflow.keras.globals import float_type, name_for
from wengert.compat.tensorflow.keras.means import Metric
from wengert.compat.tensorflow.keras.symbols import OPERATORS, Symbol, symbolic
from wengert.compat.tensorflow.keras.weights import COMPUTED, Weight
from wengert.compat.tensorflow.variable import Variable
from wengert.compat.tensorflow.words import refusal
from wengert.tape.sites import warn

_UNSEEN = frozenset(
    {
        "_compiled",
        "_given",
        "_held",
        "_losses",
        "_node",
        "_optimizer",
        "_regularized",
        "_watched",
        "_weights",
        "optimizer",
    }
)
"""Attributes that are not searched for weights and layers."""
_TRAINING: ContextVar[bool | None] = ContextVar("wengert_keras_training", default=None)


class Layer(Configured):
    """A function of tensors with its own weights.

    Subclasses define `call`, and also `build` if weights depend on the shape of the input.

    Parameters
    ----------
    trainable : bool. Whether to train the weights.
    name : str, optional. A name.
    dtype : DType, optional. The dtype of the weights; float32 by default.
    **kwargs: ``input_shape`` or ``input_dim``, the shape of one example, for the first layer of a
        `Sequential`.

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
        """Create a layer that accepts attributes before ``__init__`` runs."""
        layer = super().__new__(cls, *args, **kwargs)
        vars(layer).update(_weights=[], _losses=[], _regularized=[])
        vars(layer).update(built=False, _built_for=None, _trainable=True)
        return layer

    def __init_subclass__(cls, **kwargs) -> None:
        """Note that a layer is built when its `build` returns."""
        super().__init_subclass__(**kwargs)
        if "build" in vars(cls):
            cls.build = _noted(cls.build)  # type: ignore[method-assign]

    def __init__(
        self,
        *,
        activity_regularizer=None,
        trainable=True,
        dtype=None,
        autocast=True,
        name: str | None = None,
        **kwargs,
    ) -> None:
        self.name = name or name_for(type(self).__name__)
        self._trainable = bool(trainable)
        self.dtype_policy = policies.get(dtype)
        self._kind = float_type(self.dtype_policy.variable_dtype)
        self._computed = float_type(self.dtype_policy.compute_dtype)
        self._narrow = None if self._computed == self._kind else self._computed
        self._activity = regularizers.get(activity_regularizer)
        shape = kwargs.pop("input_shape", None)
        if "input_dim" in kwargs:
            shape = (kwargs.pop("input_dim"),)
        self._input_shape = None if shape is None else (None, *shape)
        batch = kwargs.pop("batch_input_shape", None)
        if batch is not None:
            self._input_shape = tuple(batch)
        if kwargs:
            raise refusal(ValueError, "Unrecognized keyword arguments", type(self).__name__, kwargs)

    # -- weights ----------------------------------------------------------------------------------

    def _weight(self, name: str, shape, role="", **more) -> Any:
        """Create a weight with the initializer, regularizer and constraint of its role."""
        role = role or name
        kinds = ("initializer", "regularizer", "constraint")
        said = {kind: getattr(self, f"{role}_{kind}", None) for kind in kinds}
        return self.add_weight(shape=shape, name=name, **{**said, **more})

    def add_weight(
        self,
        shape=None,
        initializer=None,
        dtype=None,
        trainable=True,
        autocast=True,
        regularizer=None,
        constraint=None,
        aggregation=None,
        overwrite_with_gradient=False,
        name: str | None = None,
    ) -> Any:
        """Add a weight.

        Parameters
        ----------
        shape : sequence of int. The shape; by default that of a scalar.
        initializer : Initializer or str, optional. The initializer; ``"glorot_uniform"`` by
            default.
        dtype : DType, optional. The dtype; by default that of the layer.
        trainable : bool. Whether to train the weight.
        regularizer, constraint : callable, optional. The penalty on the weight; its projection
            after each step.
        autocast, aggregation : optional. Accepted, and of no effect.
        overwrite_with_gradient : bool. Whether optimizers assign the gradient to the weight.
        name : str, optional. A name.

        Returns
        -------
        Variable: The weight.
        """
        if isinstance(shape, str):
            # the order of older versions: the name first, then the shape
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
        variable.overwrite_with_gradient = overwrite_with_gradient
        self._weights.append(variable)
        if regularizer is not None:
            self._regularized.append((variable, regularizers.get(regularizer)))
        return variable

    def _parts(self) -> Iterator[Any]:
        """Yield the layers, metrics and weights among the attributes, in order."""
        yield from self._weights
        for name, value in vars(self).items():
            if name not in _UNSEEN:
                yield from _found(value)

    def _flatten_layers(self, recursive=True, include_self=True) -> Iterator[Any]:
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
        """Whether to train the weights."""
        return self._trainable

    @trainable.setter
    def trainable(self, value: bool) -> None:
        for layer in self._flatten_layers():
            layer._trainable = bool(value)

    @property
    def trainable_variables(self) -> list[Any]:
        """The weights to train, including those of inner layers."""
        return self._variables(True)

    @property
    def non_trainable_variables(self) -> list[Any]:
        """The weights that are not trained."""
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
        """The metrics among the attributes, including those of inner layers."""
        found: dict[int, Any] = {}
        for layer in self._flatten_layers():
            for part in layer._parts():
                if isinstance(part, Metric):
                    found.setdefault(id(part), part)
        return list(found.values())

    def get_weights(self) -> list[Any]:
        """Return the values of all weights, as arrays."""
        return [variable.numpy() for variable in self.weights]

    def set_weights(self, weights) -> None:
        """Set the values of all weights.

        Raises
        ------
        ValueError: If their number or a shape differs.
        """
        own = self.weights
        if len(own) != len(weights):
            raise refusal(
                ValueError, "You called `set_weights(weights)`", self.name, len(weights), len(own)
            )
        for variable, value in zip(own, weights, strict=True):
            if tuple(variable.shape) != np.shape(value):
                raise refusal(
                    ValueError, "Layer {} weight", self.name, tuple(variable.shape), np.shape(value)
                )
        for variable, value in zip(own, weights, strict=True):
            variable.assign(value)

    def count_params(self) -> int:
        """Return the number of elements in all weights."""
        return sum(int(np.prod(tuple(variable.shape))) for variable in self.weights)

    # -- losses -----------------------------------------------------------------------------------

    def add_loss(self, loss) -> None:
        """Add a term to the loss; called from `call`."""
        self._losses += loss if isinstance(loss, list | tuple) else [loss]

    @property
    def losses(self) -> list[Any]:
        """The terms that weights and calls add to the loss."""
        layers = list(self._flatten_layers())
        added = [loss for layer in layers for loss in layer._losses]
        held = [pair for layer in layers for pair in layer._regularized]
        return added + [regularizer(variable) for variable, regularizer in held]

    # -- calling ----------------------------------------------------------------------------------

    def build(self, input_shape) -> None:
        """Create the weights for inputs of this shape; the batch size is None."""
        self.built = True

    def call(self, *args, **kwargs) -> Any:
        """Compute the output of the layer."""
        raise refusal(NotImplementedError, "Layer {} does", type(self).__name__)

    def __call__(self, *args, **kwargs) -> Any:
        """Build the layer if needed, and call it."""
        if not hasattr(self, "name"):
            raise refusal(RuntimeError, "In layer {},", type(self).__name__)
        if any(isinstance(part, Symbol) for part in nest.flatten([args, list(kwargs.values())])):
            result = symbolic(self, args, kwargs)
            object.__setattr__(self, "_node", (args, result))
            return result
        training = kwargs.pop("training", None)
        outer = _TRAINING.get()
        kind: Any = type(self)
        training = outer if training is None else training
        training = _training(kind) if training is None else training
        first = args[0] if args else kwargs.get(_first_of(kind))
        masks = _masks(first)
        if masks is not None and _asks_for("mask", kind):
            kwargs.setdefault("mask", masks)
        if kwargs:
            kwargs = {name: _array(value, self._computed) for name, value in kwargs.items()}
        if args:
            others = [_array(value, self._computed) for value in args[1:]] if args[1:] else ()
            args = (_entered(args[0], self._computed), *others)
        needed = self.input_spec
        if needed is not None and args:
            specs.check(needed, args[0], self.name)
        self._build_for(args)
        token = _TRAINING.set(training)
        kinds = None if COMPUTED.get() is self._narrow else COMPUTED.set(self._narrow)
        try:
            if outer is None:
                for layer in self._flatten_layers():
                    layer._losses.clear()
            if training is not None and _asks_for("training", kind):
                kwargs["training"] = bool(training)
            result = self.call(*args, **kwargs)
        finally:
            _TRAINING.reset(token)
            if kinds is not None:
                COMPUTED.reset(kinds)
        if self._activity is not None:
            self.add_loss(
                [self._activity(part) / (part.shape or [1])[0] for part in nest.flatten(result)]
            )
        self._mask(result, first, masks)
        return result

    @property
    def input_spec(self) -> Any:
        """The `InputSpec` that the first argument must have, or a structure of them."""
        chosen = vars(self).get("_input_spec")
        return self._needed() if chosen is None else chosen

    @input_spec.setter
    def input_spec(self, value) -> None:
        object.__setattr__(self, "_input_spec", value)

    def _needed(self) -> Any:
        """Return the `InputSpec` of this kind of layer, if there is one."""
        return None

    def compute_mask(self, inputs, mask=None) -> Any:
        """Return the mask of the result; by default the mask of the inputs."""
        return mask

    _supports_masking: bool | None = None

    @property
    def supports_masking(self) -> bool:
        """Whether masks pass through; by default, whether the class has a `compute_mask`."""
        chosen = self._supports_masking
        return type(self).compute_mask is not Layer.compute_mask if chosen is None else chosen

    @supports_masking.setter
    def supports_masking(self, value: bool) -> None:
        object.__setattr__(self, "_supports_masking", value)

    def _mask(self, result, inputs, masks) -> None:
        if masks is None and type(self).compute_mask is Layer.compute_mask:
            return
        if not self.supports_masking:
            if masks is not None:
                warn(refusal(str, "Layer '{}' (of", self.name, type(self).__name__))
            return
        found = self.compute_mask(inputs, masks)
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
        self._built_for = shapes
        if WAITING:
            resume(self)

    def compute_output_shape(self, input_shape) -> Any:
        """Return the output shape for an input of this shape."""
        result = symbolic(self, (Symbol(tuple(input_shape), str(self._kind)),), {})
        return nest.map_structure(lambda one: one.shape, result)

    def _in_graph(self, place: int) -> Any:
        if "_node" not in vars(self):
            raise refusal(ValueError, "The layer {}", self.name)
        args, result = vars(self)["_node"]
        return result if place else args[0] if len(args) == 1 else args

    @property
    def input(self) -> Any:
        """The input of the layer in a functional model."""
        return self._in_graph(0)

    @property
    def output(self) -> Any:
        """The output of the layer in a functional model."""
        return self._in_graph(1)

    @property
    def dtype(self) -> Any:
        """The dtype of the weights."""
        return str(self._kind)

    variable_dtype = dtype

    @property
    def path(self) -> str:
        """The name, with which the paths of the weights begin."""
        return self.name

    @property
    def compute_dtype(self) -> str:
        """The dtype that inputs and weights are cast to."""
        return str(self._computed)

    def get_config(self) -> dict[str, Any]:
        """Return the arguments that create an equal layer."""
        own = {"name": self.name, "trainable": self.trainable, "dtype": self.dtype_policy.name}
        return {**super().get_config(), **own}

    def get_build_config(self) -> dict[str, Any] | None:
        """Return the input shape that the weights were created for."""
        return {"input_shape": self._built_for} if self.built and self._built_for else None

    def build_from_config(self, config: dict[str, Any]) -> None:
        """Create the weights for the shape in a result of `get_build_config`."""
        shape = config.get("input_shape")
        if not self.built and shape is not None:
            self.build(_shape(shape))
            self._built_for = shape

    def __repr__(self) -> str:
        return f"<{type(self).__name__} name={self.name}, built={self.built}>"


def _noted(build: Callable[..., Any]) -> Any:
    @functools.wraps(build)
    def noted(self, *args, **kwargs) -> None:
        build(self, *args, **kwargs)
        self.built = True

    return noted


@register_keras_serializable("wengert")
class Operation(Layer):
    """A layer that applies an operator to symbols of functional models."""

    def __init__(self, symbol: str, reflected=False, **kwargs) -> None:
        super().__init__(**kwargs)
        self.symbol, self.reflected = symbol, reflected

    def call(self, *parts) -> Any:
        return getattr(operator, self.symbol)(*(parts[::-1] if self.reflected else parts))


def _operator(symbol: str, reflected: bool) -> Any:
    return lambda *parts: Operation(symbol, reflected)(*parts)


for _name, _symbol in OPERATORS.items():
    setattr(Symbol, f"__{_name}__", _operator(_symbol, _name[0] == "r"))


def _shape(value) -> Any:
    """Convert a shape, or a list of shapes, from the lists in a file."""
    if any(isinstance(part, list | tuple) for part in value):
        return [_shape(part) for part in value]
    return tuple(value)


def _found(value) -> Iterator[Any]:
    """Yield the layers, metrics and variables in a value."""
    if isinstance(value, Layer | Variable | Metric):
        yield value
    elif isinstance(value, list | tuple):
        for part in value:
            yield from _found(part)
    elif isinstance(value, dict):
        for part in value.values():
            yield from _found(part)


def _array(value, kind) -> Any:
    """Convert an argument after the first, if it is an array or a tensor, as the first."""
    return _entered(value, kind) if isinstance(value, (np.ndarray, Tensor)) else value


def _entered(value, kind) -> Any:
    """Convert an input to tensors; floating ones get the dtype of the layer."""
    if isinstance(value, list | tuple) and any(hasattr(part, "shape") for part in value):
        return type(value)(_entered(part, kind) for part in value)
    if isinstance(value, dict) or value is None:
        return value
    if is_text(value):
        return labels_of(value)
    x = tensor_of(value)
    if is_floating(x) and x._payload.dtype != kind:
        return made(converted(x, kind))
    return value if hasattr(value, "_payload") else made(x)


Layer.__new__.__signature__ = inspect.signature(Layer.__init__)  # type: ignore[attr-defined]


def _masks(value) -> Any:
    """Return the mask of the steps of an input, or None."""
    if isinstance(value, list | tuple):
        found = [getattr(part, "_keras_mask", None) for part in value]
        return None if all(one is None for one in found) else found
    return getattr(value, "_keras_mask", None)


@functools.cache
def _first_of(kind) -> str:
    """Return the name of the first argument of calls."""
    return [*inspect.signature(kind.call).parameters, "", ""][1]


@functools.cache
def _asks_for(name: str, kind) -> bool:
    return name in inspect.signature(kind.call).parameters


@functools.cache
def _training(kind) -> bool | None:
    """Return whether calls train by default."""
    found = inspect.signature(kind.call).parameters.get("training")
    return found.default if found is not None and isinstance(found.default, bool) else None


class Seeded(Layer):
    """Base class for layers with an argument `seed`, from which their draws go on."""

    _supports_masking = True
    seed_generator: SeedGenerator
    chance = ""
    """The name of the attribute without which a layer never draws, if there is one."""

    @property
    def seed(self) -> Any:
        """The seed that was given, or None."""
        return self.seed_generator.seed

    @seed.setter
    def seed(self, seed) -> None:
        self._begin(seed)

    def _begin(self, seed) -> None:
        if isinstance(seed, SeedGenerator):
            self.seed_generator = seed
        elif self.chance and not getattr(self, self.chance):
            # a layer that never draws takes no seed, as in Keras
            self.seed_generator = SeedGenerator(0)
            self.seed_generator.seed = seed
        else:
            self.seed_generator = SeedGenerator(seed)

    def _dropped(self, values, rate: float, noise_shape=None) -> Any:
        """Return dropout of `values` with the numbers of the next draw."""
        return dropout(values, rate, noise_shape, self.seed_generator.stream())

    def _normal(self, like, mean: float, stddev: float) -> Any:
        stream = self.seed_generator.stream()
        return normals(stream, like.shape, mean, stddev, like.dtype)


__all__ = defined(globals())
