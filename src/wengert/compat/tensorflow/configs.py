"""Layer 9 · compat: Keras's configurations: objects as dictionaries that JSON can hold, and back.

NOTE [configurations of Keras]
Every object records the arguments that it was created with (`Configured`), so its configuration
follows from the signature of its class. Deserialisation calls the class, which is looked up among
Keras's own and those that the program registered: no code is ever read from a file.
"""

from __future__ import annotations

import functools
import importlib
import inspect
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

from wengert.compat.kit.arguments import Given
from wengert.compat.kit.namespaces import defined
from wengert.compat.tensorflow.dtypes import DType
from wengert.compat.tensorflow.functions.values import constant_of
from wengert.compat.tensorflow.shapes import TensorShape
from wengert.compat.tensorflow.variable import Variable
from wengert.compat.tensorflow.words import refusal
from wengert.tape.base import TensorBase

_CUSTOM: dict[str, Any] = {}
_REGISTERED: dict[str, Any] = {}
_PREFIX = "wengert.compat.tensorflow.keras"
_MODULES = (
    "layers",
    "initializers",
    "regularizers",
    "constraints",
    "activations",
    "losses",
    "metrics",
    "optimizers",
    "optimizers.schedules",
)
"""The modules that define Keras's own objects, under ``keras.``."""


class Configured(Given):
    """An object that remembers the arguments it was made with."""

    _given: tuple[tuple[Any, ...], dict[str, Any]]

    def __new__(cls, *args, **kwargs) -> Any:
        """Create the object, and record its arguments."""
        made = super().__new__(cls)
        object.__setattr__(made, "_given", (args, kwargs))
        return made

    def get_config(self) -> dict[str, Any]:
        """Return the arguments that create an equal object."""
        return arguments_of(self)

    @classmethod
    def from_config(cls, config: dict[str, Any]) -> Any:
        """Build an object from these arguments."""
        return cls(**{key: deserialize_keras_object(value) for key, value in config.items()})


# a class without an `__init__` takes no arguments
Configured.__new__.__signature__ = inspect.signature(lambda cls: cls)  # type: ignore[attr-defined]


def arguments_of(owner) -> dict[str, Any]:
    """Return the arguments of an object's class, from its attributes or as they were given."""
    args, kwargs = owner._given
    signature = inspect.signature(type(owner).__init__)
    bound = signature.bind(owner, *args, **kwargs)
    bound.apply_defaults()
    found: dict[str, Any] = {}
    own = type(owner).__module__.startswith("wengert.")
    for name, value in list(bound.arguments.items())[1:]:
        kind = signature.parameters[name].kind
        if kind is inspect.Parameter.VAR_KEYWORD:
            found |= {key: serialize_keras_object(part) for key, part in value.items()}
        elif kind is not inspect.Parameter.VAR_POSITIONAL:
            chosen = getattr(owner, name, value) if own else value
            found[name] = serialize_keras_object(chosen)
    return found


# -- names -----------------------------------------------------------------------------------------


def snake_case(kind: str) -> str:
    """Convert the name of a class to snake case: ``batch_normalization``."""
    parted = re.sub(r"(.)([A-Z][a-z]+)", r"\1_\2", re.sub(r"\W+", "", kind))
    return re.sub(r"([a-z])([A-Z])", r"\1_\2", parted).lower()


def getter(
    what: str, namespace: dict[str, Any], base, others: dict[str, Any] | None = None
) -> Callable[[Any], Any]:
    """Return the function `get` of one of Keras's modules; define its `serialize`, `deserialize`.

    Parameters
    ----------
    what : str
        The kind of object that the module defines, for messages.
    namespace : dict
        The ``globals()`` of the module, whose classes are looked up by name, also in snake case.
    base : type
        The base class of the module's classes.
    others : dict, optional
        Further names: classes, functions, or `functools.partial` objects of a class.
    """
    names: dict[str, Any] = {}
    for name, kind in namespace.items():
        if inspect.isclass(kind) and issubclass(kind, base) and kind is not base:
            names |= dict.fromkeys((name, snake_case(name), name.lower()), kind)
    names |= others or {}

    def get(identifier) -> Any:
        if isinstance(identifier, dict):
            return deserialize_keras_object(identifier)
        found = identifier
        if isinstance(identifier, str):
            found = names.get(identifier) or names.get(identifier.lower())
        known = found is None or callable(found) or isinstance(found, base)
        if not known or (found is None and identifier is not None):
            raise ValueError(f"Could not interpret {what} identifier: {identifier}")
        return found() if isinstance(found, type | functools.partial) else found

    get.__doc__ = f"""Return the {what} with a given name; return other objects unchanged.

    Raises
    ------
    ValueError: If there is no object of that name.
    """

    def serialize(obj) -> Any:
        return serialize_keras_object(obj)

    def deserialize(config, custom_objects=None) -> Any:
        with custom_object_scope(custom_objects or {}):
            return get(config)

    serialize.__doc__ = f"Return a JSON-compatible description of the {what}."
    deserialize.__doc__ = f"Return the {what} of a name, or of the result of `serialize`."
    namespace |= {"serialize": serialize, "deserialize": deserialize}
    for function in (get, serialize, deserialize):
        function.__module__ = namespace["__name__"]
    return get


def register_keras_serializable(package="Custom", name: str | None = None) -> Callable[[Any], Any]:
    """Decorate a class or a function to register it for files, as ``package>name``.

    Examples
    --------
    >>> @tf.keras.saving.register_keras_serializable("mine")
    ... def double(x):
    ...     return 2 * x
    >>> tf.keras.saving.get_registered_name(double)
    'mine>double'
    """

    def register(target) -> Any:
        if inspect.isclass(target) and not hasattr(target, "get_config"):
            raise ValueError("Cannot register a class that does not have a get_config() method.")
        _REGISTERED[f"{package}>{name or target.__name__}"] = target
        return target

    return register


def get_registered_name(obj) -> str:
    """Return the registered name of a class or function, or its own."""
    return next((key for key, value in _REGISTERED.items() if value is obj), obj.__name__)


def get_registered_object(name: str, custom_objects=None, module_objects=None) -> Any:
    """Return the class or function registered under a name, or None."""
    for table in (_CUSTOM, _REGISTERED, custom_objects or {}, module_objects or {}):
        if name in table:
            return table[name]
    return None


def get_custom_objects() -> dict[str, Any]:
    """Return the table of custom names, which the program may extend."""
    return _CUSTOM


@contextmanager
def custom_object_scope(custom_objects: dict[str, Any]) -> Iterator[None]:
    """Return a context in which additional names are registered."""
    before = dict(_CUSTOM)
    _CUSTOM.update(custom_objects)
    try:
        yield
    finally:
        _CUSTOM.clear()
        _CUSTOM.update(before)


def _module(path: str) -> Any:
    """Return the module of Keras with a given name."""
    package = importlib.import_module(_PREFIX)
    return functools.reduce(getattr, path.split(".") if path else (), package)


def _home(kind) -> str | None:
    """Return the module of Keras that lists a class or function."""
    for module in _MODULES:
        if vars(_module(module)).get(kind.__name__) is kind:
            return f"keras.{module}"
    return None


# -- to dictionaries -------------------------------------------------------------------------------


def serialize_keras_object(obj) -> Any:
    """Return a JSON-compatible description of an object.

    Raises
    ------
    TypeError: If the object cannot be described, such as a lambda.

    Examples
    --------
    >>> tf.keras.saving.serialize_keras_object(tf.keras.initializers.Zeros())["class_name"]
    'Zeros'
    """
    if obj is None or isinstance(obj, str | bool | int | float):
        return obj
    if isinstance(obj, np.generic):
        return obj.item()
    if isinstance(obj, TensorShape):
        return list(obj.as_list())
    if isinstance(obj, tuple):
        return tuple(serialize_keras_object(one) for one in obj)
    if isinstance(obj, list):
        return [serialize_keras_object(one) for one in obj]
    if isinstance(obj, dict):
        return {key: serialize_keras_object(value) for key, value in obj.items()}
    if isinstance(obj, DType | np.dtype):
        return obj.name
    if isinstance(obj, np.ndarray | TensorBase | Variable):
        array = np.asarray(obj)
        name = "__numpy__" if isinstance(obj, np.ndarray) else "__tensor__"
        held = {"value": array.tolist(), "dtype": array.dtype.name}
        return {"class_name": name, "config": held}
    if isinstance(obj, slice):
        ends = [serialize_keras_object(end) for end in (obj.start, obj.stop, obj.step)]
        return {"class_name": "__slice__", "config": ends}
    if obj is Ellipsis:
        return {"class_name": "__ellipsis__", "config": []}
    if hasattr(obj, "get_config"):
        return _of_object(obj)
    if inspect.isfunction(obj) or inspect.isclass(obj):
        return _of_function(obj)
    raise TypeError(f"Cannot serialize object {obj} of type {type(obj)}")


def _of_object(obj) -> dict[str, Any]:
    kind = type(obj)
    registered = get_registered_name(kind)
    found = {
        "module": _home(kind) or ("keras" if kind.__module__.startswith("wengert.") else None),
        "class_name": kind.__name__,
        "config": serialize_keras_object(obj.get_config()),
        "registered_name": None if registered == kind.__name__ else registered,
    }
    build = getattr(obj, "get_build_config", None)
    if build is not None and build() is not None:
        found["build_config"] = serialize_keras_object(build())
    return found


def _of_function(function) -> Any:
    home = _home(function)
    registered = get_registered_name(function)
    if home == "keras.activations":
        return function.__name__
    if home is None and "<lambda>" in registered:
        raise refusal(TypeError, "Cannot serialize {}:", function)
    return {
        "module": home or "builtins",
        "class_name": "function",
        "config": function.__name__,
        "registered_name": registered,
    }


# -- from dictionaries -----------------------------------------------------------------------------


def deserialize_keras_object(config, custom_objects=None, safe_mode=True, **kwargs) -> Any:
    """Rebuild an object from the result of `serialize_keras_object`.

    Raises
    ------
    TypeError: If its class or function is not registered.
    """
    if custom_objects:
        with custom_object_scope(custom_objects):
            return deserialize_keras_object(config)
    if isinstance(config, list | tuple):
        return type(config)(deserialize_keras_object(one) for one in config)
    if not isinstance(config, dict):
        return config
    name = config.get("class_name")
    if name is None or "config" not in config:
        return {key: deserialize_keras_object(value) for key, value in config.items()}
    inner = config["config"]
    if name in ("__slice__", "__ellipsis__"):
        return slice(*map(deserialize_keras_object, inner)) if inner else Ellipsis
    if name in ("__numpy__", "__tensor__"):
        array = np.asarray(inner["value"], inner["dtype"])
        return array if name == "__numpy__" else constant_of(array)
    if name == "function":
        return _found(inner, config)
    kind = _found(name, config)
    made = kind.from_config(dict(inner))
    build = config.get("build_config")
    if build is not None and hasattr(made, "build_from_config"):
        made.build_from_config(deserialize_keras_object(build))
    return made


def _found(name: str, config: dict[str, Any]) -> Any:
    for key in (config.get("registered_name"), name):
        found = get_registered_object(key) if key else None
        if found is not None:
            return found
    module = config.get("module") or ""
    own = module.removeprefix("keras").removeprefix(".")
    if module.startswith("keras") and own in (*_MODULES, ""):
        found = vars(_module(own)).get(name)
        if found is not None:
            return found
    raise refusal(TypeError, "Could not locate", name)


__all__ = defined(globals())
