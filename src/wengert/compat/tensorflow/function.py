"""Layer 9 · compat: ``tf.function`` and related names; operations always run eagerly here."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from typing import Any

import numpy as np

from wengert.compat.kit.namespaces import defined
from wengert.compat.tensorflow import nest
from wengert.compat.tensorflow.conversion import TensorSpec, convert_to_tensor
from wengert.compat.tensorflow.dtypes import numpy_dtype
from wengert.compat.tensorflow.tensor import made, tensor_of
from wengert.compat.tensorflow.words import refusal
from wengert.tape.base import TensorBase, new_tensor

_EAGERLY = [False]


class Function:
    """A function decorated by ``tf.function``; it runs eagerly at every call.

    Nothing is traced or compiled, so Python side effects occur at each call. Arrays among its
    arguments become tensors, as do numbers and arrays among its results.
    """

    def __init__(self, python_function: Callable[..., Any], input_signature=None) -> None:
        functools.update_wrapper(self, python_function)
        self._python_function = python_function
        self._input_signature = None if input_signature is None else tuple(input_signature)

    @property
    def python_function(self) -> Callable[..., Any]:
        """The original function."""
        return self._python_function

    @property
    def input_signature(self) -> tuple[Any, ...] | None:
        """The specs of the arguments, if they were given."""
        return self._input_signature

    def __call__(self, *args, **kwargs) -> Any:
        """Call the function."""
        args = _with_tensors(args) if self._input_signature is None else self._bound(args)
        result = self._python_function(*args, **_with_tensors(kwargs))
        return nest.map_structure(_output, result)

    def _bound(self, args: tuple[Any, ...]) -> tuple[Any, ...]:
        signature = self._input_signature or ()
        if len(args) > len(signature):
            raise refusal(TypeError, "Binding inputs to", len(signature), len(args))
        return tuple(_fitted(self, spec, arg) for spec, arg in zip(signature, args, strict=False))

    def __get__(self, instance, owner: type | None = None) -> Any:
        """Bind a decorated method to an instance."""
        if instance is None:
            return self
        signature = self._input_signature
        # a function of its own, so that a signature describes the arguments without `self`
        bound: Any = functools.partial(self._python_function, instance)
        functools.update_wrapper(bound, self._python_function)
        del bound.__wrapped__  # its signature has no `self`
        return Function(bound, signature)

    def get_concrete_function(self, *args, **kwargs) -> ConcreteFunction:
        """Return the function for arguments of the given specs: each a `TensorSpec` or a tensor.

        It has no graph: the function runs eagerly, and refuses other arguments.
        """
        signature = inspect.signature(self._python_function)
        if not args and not kwargs and self._input_signature is not None:
            args = self._input_signature
        bound = signature.bind(*args, **kwargs)
        return ConcreteFunction(self, dict(bound.arguments))

    def __repr__(self) -> str:
        return f"<Function {getattr(self._python_function, '__name__', self._python_function)}>"


class ConcreteFunction:
    """A function for arguments of given shapes and dtypes."""

    def __init__(self, function: Function, arguments: dict[str, Any]) -> None:
        self._function = function
        self._specs = {name: nest.map_structure(_spec, one) for name, one in arguments.items()}
        self.name: str = function._python_function.__name__
        self.python_function = function.python_function

    @property
    def structured_input_signature(self) -> tuple[Any, ...]:
        """The specs of the arguments."""
        return tuple(self._specs.values()), {}

    @property
    def inputs(self) -> list[Any]:
        """The specs of the tensors among the arguments."""
        flat = nest.flatten(list(self._specs.values()))
        return [one for one in flat if isinstance(one, TensorSpec)]

    @property
    def graph(self) -> Any:
        """Raise an error: there are no graphs.

        Raises
        ------
        NotImplementedError: Always.
        """
        raise NotImplementedError("there are no graphs: functions run as they are")

    def __call__(self, *args, **kwargs) -> Any:
        """Call the function; arguments that are not tensors default to the values in its specs."""
        given = dict(zip(self._specs, args, strict=False)) | kwargs
        for name, spec in self._specs.items():
            if name in given:
                given[name] = _fitted(self, spec, given[name])
            elif any(isinstance(one, TensorSpec) for one in nest.flatten(spec)):
                raise TypeError(f"{self.name}() is missing the argument {name!r}")
            else:
                given[name] = spec
        unknown = [name for name in given if name not in self._specs]
        if unknown or len(args) > len(self._specs):
            raise TypeError(f"{self.name}() takes the arguments {list(self._specs)}")
        return self._function(**given)

    @property
    def __name__(self) -> str:
        return self.name

    def __repr__(self) -> str:
        return f"<ConcreteFunction {self.name}({', '.join(self._specs)})>"


def _spec(value) -> Any:
    """Return the spec of a tensor; return other arguments unchanged."""
    if isinstance(value, TensorBase | np.ndarray) or hasattr(value, "_as_tensor"):
        return TensorSpec.from_tensor(convert_to_tensor(value))
    return value


def _fitted(owner, spec, arg) -> Any:
    """Return an argument converted to its signature."""
    if nest.is_nested(spec):
        nest.assert_same_structure(spec, arg, check_types=False)
        parts = zip(nest.flatten(spec), nest.flatten(arg), strict=True)
        return nest.pack_sequence_as(arg, [_fitted(owner, one, other) for one, other in parts])
    if not isinstance(spec, TensorSpec):
        return arg
    if not isinstance(arg, TensorBase) and not hasattr(arg, "_as_tensor"):
        arg = convert_to_tensor(arg, spec.dtype)
    if not spec.is_compatible_with(arg):
        raise TypeError(
            "Binding inputs to tf.function failed due to `Can not cast "
            f"{TensorSpec.from_tensor(arg)} to {spec}`: the input_signature of {owner.__name__} "
            "does not fit the argument"
        )
    return arg


def _with_tensors(structure) -> Any:
    return nest.map_structure(
        lambda leaf: convert_to_tensor(leaf) if isinstance(leaf, np.ndarray | np.generic) else leaf,
        structure,
    )


def _output(leaf) -> Any:
    if isinstance(leaf, bool | int | float | complex | np.ndarray | np.generic):
        return convert_to_tensor(leaf)
    if hasattr(leaf, "_as_tensor"):
        return leaf.read_value()
    return leaf


def function(
    func: Callable[..., Any] | None = None,
    input_signature=None,
    autograph=True,
    jit_compile: bool | None = None,
    reduce_retracing=False,
    experimental_implements=None,
    experimental_autograph_options=None,
    experimental_attributes=None,
    experimental_relax_shapes=None,
    experimental_compile=None,
    experimental_follow_type_hints=None,
) -> Any:
    """Decorate a function as TensorFlow does; it runs eagerly.

    Parameters
    ----------
    func : callable, optional. The function; without it a decorator is returned.
    input_signature : sequence of TensorSpec, optional. The shapes and dtypes that arguments must
        have; numbers are converted to these dtypes.
    autograph, jit_compile, reduce_retracing, experimental_implements,
    experimental_autograph_options, experimental_attributes, experimental_relax_shapes,
    experimental_compile, experimental_follow_type_hints: Accepted, without effect.

    Returns
    -------
    Function: A callable like `func`, which is its attribute ``python_function``.

    Examples
    --------
    >>> @tf.function
    ... def square(x):
    ...     return x * x
    >>> square(tf.constant(3.0))
    <tf.Tensor: shape=(), dtype=float32, numpy=9.0>
    """
    if func is None:
        return functools.partial(function, input_signature=input_signature)
    return Function(func, input_signature)


def executing_eagerly() -> bool:
    """Return True: operations run eagerly.

    Examples
    --------
    >>> tf.executing_eagerly()
    True
    """
    return True


def inside_function() -> bool:
    """Return False: functions are not traced.

    Examples
    --------
    >>> tf.inside_function()
    False
    """
    return False


def run_functions_eagerly(run_eagerly: bool) -> None:
    """Store the setting for `functions_run_eagerly`; functions always run eagerly."""
    _EAGERLY[0] = bool(run_eagerly)


def functions_run_eagerly() -> bool:
    """Return the last setting of `run_functions_eagerly`.

    Examples
    --------
    >>> tf.config.functions_run_eagerly()
    False
    """
    return _EAGERLY[0]


def _outputs(result, Tout) -> Any:
    several = isinstance(Tout, list | tuple)
    kinds = [numpy_dtype(kind) for kind in (Tout if several else [Tout])]
    values = list(result) if several and isinstance(result, list | tuple) else [result]
    if Tout is None or (several and not kinds):
        return None if result is None else [convert_to_tensor(value) for value in values]
    if len(values) != len(kinds):
        raise refusal(ValueError, "Tout names {}", len(kinds), len(values))
    found = [
        made(tensor_of(value)) if isinstance(value, TensorBase) else convert_to_tensor(value, kind)
        for value, kind in zip(values, kinds, strict=True)
    ]
    for value, kind in zip(found, kinds, strict=True):
        if value._payload.dtype != kind:
            raise refusal(TypeError, "the function returned", value.dtype, kind)
    return found if several else found[0]


def py_function(func: Callable[..., Any] | None = None, inp=None, Tout=None, name=None) -> Any:
    """Call a Python function on tensors; its operations are recorded.

    Parameters
    ----------
    func : callable. The function to call.
    inp : list. The arguments of `func`, which become tensors.
    Tout : DType or list of DType. The types of its results.
    name: Accepted, without effect.

    Examples
    --------
    >>> tf.py_function(lambda x: x * 2, [1.5], tf.float32)
    <tf.Tensor: shape=(), dtype=float32, numpy=3.0>
    """
    assert func is not None
    return _outputs(func(*[convert_to_tensor(value) for value in inp or ()]), Tout)


def numpy_function(
    func: Callable[..., Any] | None = None, inp=None, Tout=None, stateful=True, name=None
) -> Any:
    """Call a Python function on NumPy arrays; no gradient passes through it.

    Parameters
    ----------
    func : callable. The function to call.
    inp : list. The arguments of `func`, which become arrays.
    Tout : DType or list of DType. The types of its results.
    stateful, name: Accepted, without effect.

    Examples
    --------
    >>> tf.numpy_function(lambda x: x * 2, [tf.constant([1.5])], tf.float32)
    <tf.Tensor: shape=(1,), dtype=float32, numpy=array([3.], dtype=float32)>
    """
    assert func is not None
    result = func(*[np.asarray(convert_to_tensor(value).numpy()) for value in inp or ()])
    outputs = _outputs(result, Tout)
    return nest.map_structure(lambda leaf: leaf if leaf is None else _constant(leaf), outputs)


def _constant(tensor) -> Any:
    return made(new_tensor(tensor._payload))


__all__ = defined(globals())
