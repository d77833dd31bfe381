"""Layer 9 · compat: conversion and checks of the arguments and results of TensorFlow's functions.

NOTE [functions of TensorFlow]
Each function converts its arguments to tensors, makes the checks that TensorFlow makes, and calls
an operation of wengert. `operation` declares the kernel of TensorFlow and what the arguments are
converted to. The result is a plain tensor whose class is changed; errors about wrong arguments
become an `InvalidArgumentError` that names the kernel. This module does not compute, and is
independent of tapes.
"""

# ruff: noqa: F401  some names are for other modules

from __future__ import annotations

import functools
import inspect
import operator
from collections.abc import Callable, Sequence
from typing import Any, TypeVar

import numpy as np

import wengert as wg
from wengert.base.error_states import errstate, quietly
from wengert.compat.kit.namespaces import defined
from wengert.compat.tensorflow import nest
from wengert.compat.tensorflow.dtypes import cxx_name, numpy_dtype, of_numpy
from wengert.compat.tensorflow.eager import each, is_text, labels_of
from wengert.compat.tensorflow.errors import OpError, invalid, mismatched
from wengert.compat.tensorflow.tensor import Tensor, made, same_dtype, tensor_of
from wengert.compat.tensorflow.values import TextError, array_of
from wengert.compat.tensorflow.words import refusal
from wengert.interp.levels import Lifted
from wengert.tape.base import TensorBase, new_tensor
from wengert.tape.operands import cast as converted

FLOATING = ("bfloat16", "half", "float", "double")
INTEGERS = ("uint8", "int8", "uint16", "int16", "int32", "uint32", "int64", "uint64")
REAL = (*FLOATING, *INTEGERS)
COMPLEX = (*FLOATING, "complex64", "complex128")
NUMBERS = (*REAL, "complex64", "complex128")
"""Lists of dtypes, by the names in the messages of TensorFlow's kernels."""
ANY: tuple[str, ...] = ()
"""No list: any dtype is taken."""

_CXX_NAMES: dict[Any, str] = {}
_Function = TypeVar("_Function", bound=Callable[..., Any])


def shown(shape) -> str:
    """Return a shape as TensorFlow's kernels print it: ``[2,3]``."""
    return f"[{','.join(map(str, shape))}]"


def kind_of(x) -> str:
    """Return the kind of a tensor's dtype: one of ``f``, ``c``, ``i``, ``u``, ``b``."""
    kind = x._payload.dtype.kind
    return "f" if kind == "V" else kind


def type_of(x) -> Any:
    """Return the dtype of a tensor as TensorFlow prints it."""
    return of_numpy(np.dtype(x._payload.dtype))


def constant_of(array) -> Any:
    """Convert an array to a constant tensor."""
    return made(new_tensor(np.asarray(array)))


def is_floating(x) -> bool:
    """Return whether a tensor's dtype is a real floating one."""
    return kind_of(x) == "f"


def is_complex(x) -> bool:
    """Return whether a tensor's dtype is complex."""
    return x._payload.dtype.kind == "c"


def check(x, allowed: Sequence[str], attribute="T", op="") -> None:
    """Raise an error unless the kernel supports the dtype of `x`.

    Raises
    ------
    InvalidArgumentError: With advice on what to write instead.
    """
    kind = x._payload.dtype
    name = _CXX_NAMES.get(kind)
    if name is None:
        name = _CXX_NAMES[kind] = cxx_name(kind)
    if name in allowed or allowed is ANY:
        return
    hint = ""
    if "float" in allowed and kind_of(x) in "iub":
        hint = "; convert it first: tf.cast(x, tf.float32), or write 1.0 for 1"
    elif "int32" in allowed and "float" not in allowed:
        hint = "; convert it first: tf.cast(x, tf.int32)"
    raise refusal(
        invalid, "Value for attr '{}'", attribute, name, ", ".join(allowed), hint, operation=op
    )


def computed(op: str, function: Callable[..., Any], *args, **kwargs) -> Any:
    """Call a function of wengert; return TensorFlow's tensors and raise its errors."""
    entered = [tensor_of(arg) if arg.__class__ is Tensor else arg for arg in args]
    try:
        return made(quietly(function, *entered, **kwargs))
    except OpError as error:
        raise error._of(op) from error.__cause__
    except (RuntimeError, IndexError, ValueError) as error:
        raise invalid(str(error), op) from error


def operation(op: str, *alike: str, **wanted) -> Callable[[_Function], _Function]:
    """Decorate a function of plain tensors: a kernel of TensorFlow.

    The arguments that are named are converted before the call; the result becomes TensorFlow's
    tensors, and errors name the kernel.

    Parameters
    ----------
    op : str. The kernel, as messages name it.
    *alike : str. Arguments that become tensors of one dtype (see `aligned`).
    **wanted
        What other arguments become: for a list of dtypes a tensor of one of them, for the name of
        an argument a tensor of its dtype if possible, for ``int`` a whole number, for ``tuple``
        whole numbers, for ``float`` a number and never a tensor, for ``bool`` a tensor of bools; a
        function returns it. A default of None stays None.
    """

    def decorate(function: _Function) -> _Function:
        parameters = inspect.signature(function).parameters
        places = {name: place for place, name in enumerate(parameters)}
        like = {name: kind for name, kind in wanted.items() if isinstance(kind, str)}
        optional = {name for name in wanted if parameters[name].default is None}
        steps = [
            (places[name], name, _entering(op, name, kind, name in optional))
            for name, kind in wanted.items()
            if name not in like
        ]

        def related(args: tuple[Any, ...], kwargs: dict[str, Any]) -> dict[str, Any]:
            """Convert arguments whose dtype depends on others; return all by name."""
            given = dict(zip(places, args, strict=False), **kwargs)
            if len(given) < len(args) + len(kwargs):
                function(*args, **kwargs)  # raises a TypeError
            if alike and given.keys() >= {*alike}:
                given |= zip(alike, same_dtype(op, *[given[n] for n in alike]), strict=True)
            for name, other in like.items():
                value = given.get(name, parameters[name].default)
                if value is not None and other in given:
                    given[other] = tensor_of(given[other])
                    given[name] = tensor_of(value, given[other]._payload.dtype)
            return given

        @errstate(all="ignore")
        def entered(args, kwargs) -> Any:
            if alike or like:
                args, kwargs = (), related(args, kwargs)
            given, count = list(args), len(args)
            for place, name, enter in steps:
                if place < count:
                    given[place] = enter(given[place])
                elif name in kwargs:
                    kwargs[name] = enter(kwargs[name])
            return _converted(function(*given, **kwargs))

        @functools.wraps(function)
        def call(*args, **kwargs) -> Any:
            try:
                return entered(args, kwargs)
            except (OpError, TextError) as error:
                # a keyword that is a plain string is a name or a dtype
                said = {key: value for key, value in kwargs.items() if isinstance(value, str)}
                given = args, {key: kwargs[key] for key in kwargs.keys() - said}
                if call.__name__ in _MOVING.split() and any(map(is_text, nest.flatten(given))):
                    return _by_codes(functools.partial(call, **said), *given)
                if isinstance(error, TextError):
                    raise
                raise error._of(op) from error.__cause__
            except (RuntimeError, IndexError) as error:
                raise invalid(str(error), op) from error

        return call  # type: ignore[return-value]

    return decorate


_MOVING = """
    boolean_mask broadcast_to concat dynamic_partition equal expand_dims fill gather gather_nd
    not_equal rank repeat reshape reverse roll shape size slice split squeeze stack tile transpose
    unique unstack where zeros_like
    """
"""The functions that take strings, too: they move elements and compare them."""


def _by_codes(function, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """Call a function with numbers in place of strings.

    The numbers are of float64, which no other result of these functions is; 0 is the empty string.
    """
    codes = {b"": 0.0}

    def coded(value) -> Any:
        if not is_text(value):
            return value
        return constant_of(each(lambda s: codes.setdefault(s, len(codes)), value, dtype=np.float64))

    def text(result) -> Any:
        if result._payload.dtype != np.float64:
            return result
        return labels_of(np.asarray([*codes], object)[result._payload.astype(np.int64)])

    given, named = nest.map_structure(coded, (args, kwargs))
    return nest.map_structure(text, function(*given, **named))


def _entering(op: str, name: str, kind, optional: bool) -> Callable[[Any], Any]:
    """Return the function that converts an argument (see `operation`)."""

    def checked(value) -> Any:
        x = tensor_of(value)
        check(x, kind)
        return x

    def number(value) -> Any:
        if isinstance(value, TensorBase) or hasattr(value, "_as_tensor"):
            raise TypeError(f"Expected float for argument {name!r} not {value!r}.")
        return float(value)

    def whole(value) -> Any:
        (number,) = integers(value, name)
        return number

    ways = {
        int: whole,
        float: number,
        tuple: lambda value: integers(value, name),
        bool: lambda value: truths(op, value)[0],
        ANY: tensor_of,
    }
    enter: Any = ways.get(kind, checked if isinstance(kind, tuple) else kind)
    return (lambda value: None if value is None else enter(value)) if optional else enter


def _converted(result) -> Any:
    if isinstance(result, TensorBase):
        return made(result)
    if isinstance(result, tuple | list):
        parts = [_converted(part) for part in result]
        if hasattr(result, "_fields"):
            return type(result)(*parts)
        return type(result)(parts)
    return result


# -- arguments -------------------------------------------------------------------------------------


def aligned(op: str, *values) -> list[Any]:
    """Convert `values` to tensors of one dtype: that of the first tensor, else of the first value.

    Raises
    ------
    InvalidArgumentError: If tensors have different dtypes.
    TypeError: If the dtype cannot represent a number.
    """
    return list(same_dtype(op, *values))


def numbers_of(value) -> Any:
    """Return the elements of a tensor-like as an array, without history."""
    return np.asarray(tensor_of(value).numpy())


def is_mapped(x) -> bool:
    """Return whether a tensor is a batch, as under `vectorized_map`, without a single value."""
    return isinstance(x._payload, Lifted)


def truths(op: str, *values) -> list[Any]:
    """Convert values to tensors of bools.

    Raises
    ------
    TypeError: If a value is a number.
    InvalidArgumentError: If a value is a tensor of numbers.
    """
    found = [_truth(value) for value in values]
    for i, x in enumerate(found):
        if x._payload.dtype.kind != "b":
            advice = "\nCompare it with something: x != 0."
            raise mismatched(op, i, "bool", cxx_name(x._payload.dtype), advice)
    return found


def _truth(value) -> Any:
    if isinstance(value, TensorBase) or hasattr(value, "_as_tensor"):
        return tensor_of(value)
    return made(new_tensor(array_of(value, np.dtype(bool))))


def list_of(op: str, values) -> list[Any]:
    """Return tensors of one dtype, from a list of values or from the slices of a tensor."""
    if isinstance(values, TensorBase | np.ndarray) or hasattr(values, "_as_tensor"):
        values = list(wg.unbind(tensor_of(values)))
    if not isinstance(values, list | tuple):
        values = [values]
    return aligned(op, *values)


def dtype_of(dtype, default=None) -> Any:
    """Return the NumPy dtype of a dtype in any form; None gives `default`."""
    found = default if dtype is None else numpy_dtype(dtype)
    if found is not None and found.kind == "O":
        raise TypeError("strings are labels here, which tf.constant and tf.strings make")
    return found


def integers(value, what="shape") -> tuple[int, ...]:
    """Return integers from a list, a tensor, an array, a shape, or a single number.

    Raises
    ------
    TypeError: If an element of `value` is not an integer.
    """
    return tuple(integer(part, what) for part in _parts(value))


def _parts(value) -> Any:
    if isinstance(value, TensorBase) or hasattr(value, "_as_tensor"):
        value = numbers_of(value)
    elif hasattr(value, "as_list"):
        return value.as_list()
    if isinstance(value, np.ndarray):
        return value.reshape(-1).tolist()
    return value if isinstance(value, list | tuple | range) else (value,)


def integer(value, what: str) -> int:
    """Convert a number, which may be a tensor, to an integer.

    Raises
    ------
    TypeError: If `value` is not one integer.
    """
    if isinstance(value, TensorBase) or hasattr(value, "_as_tensor"):
        value = numbers_of(value).item()
    try:
        return operator.index(value)
    except TypeError:
        raise refusal(TypeError, "Cannot convert {!r} to EagerTensor", value, what) from None


def shape_of(value, op="") -> tuple[int, ...]:
    """Return a shape, given in any form, as a tuple of sizes.

    Raises
    ------
    InvalidArgumentError: If a size is negative.
    """
    shape = integers(value)
    for size in shape:
        if size < 0:
            raise invalid(f"Dimension {size} must be >= 0", op)
    return shape


def axis_of(axis, ndim: int, message: str | None = None) -> int:
    """Return the index of a dimension, counted from the front.

    Raises
    ------
    InvalidArgumentError: If the dimension is out of range; the message begins with `message` if
        given.
    """
    (number,) = integers(axis, "axis")
    if not -ndim <= number < ndim:
        text = message or f"Expected dimension in the range [{-ndim}, {ndim}), but got"
        raise invalid(f"{text} {number}")
    return number % ndim


def axes_of(axis, ndim: int, op="") -> tuple[int, ...]:
    """Return the dimensions to reduce; None means all of them.

    Raises
    ------
    InvalidArgumentError: If a dimension is out of range or repeated.
    """
    if axis is None:
        return tuple(range(ndim))
    found: list[int] = []
    for number in integers(axis, "axis"):
        if not -ndim <= number < ndim:
            raise refusal(invalid, "Invalid reduction dimension", number, ndim, operation=op)
        if number % ndim in found:
            raise refusal(invalid, "Invalid reduction arguments:", number % ndim, operation=op)
        found.append(number % ndim)
    return tuple(found)


__all__ = defined(globals())
