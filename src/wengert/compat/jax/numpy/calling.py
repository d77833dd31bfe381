"""Layer 9 · compat: construction of the functions of `jax.numpy` from NumPy's counterparts.

NOTE [functions of jax.numpy]
A function checks that its operands are arrays or numbers, converts them to the dtype that JAX would
compute in, and calls the counterpart of NumPy's function of this name (NOTE [counterparts]) on
plain tensors. The result becomes an `Array`, in JAX's dtypes. So a function that is differentiable
there is differentiable here, under every transform, and nothing is implemented twice. Functions
that differ from NumPy's (static sizes, indices that never raise, no in-place writes) are defined
separately.
"""

from __future__ import annotations

import functools
import operator
from collections.abc import Callable
from typing import Any, NoReturn

import numpy as np

from wengert.base.error_states import errstate
from wengert.compat.jax.array import Array, asarray, made, of_kind, promote, promote_inexact
from wengert.compat.jax.dtypes import canonical_dtype, requested_dtype
from wengert.compat.jax.words import refusal
from wengert.compat.kit.namespaces import functions_of
from wengert.compat.kit.signatures import signature_of, signed
from wengert.numpy.arrays import numpys_error
from wengert.tape.base import TensorBase, new_tensor
from wengert.tape.operands import cast
from wengert.tensor.numpy import ufuncs as numpy_ufuncs
from wengert.tensor.numpy.dispatch import named
from wengert.tensor.tensor import Tensor

_NUMBERS = (bool, int, float, complex, np.generic, np.ndarray, TensorBase)


def check_arrays(name: str, *values) -> None:
    """Refuse operands that are neither arrays nor numbers: lists, tuples, strings, None.

    Raises
    ------
    TypeError: The message names the function, the type and the position.
    """
    for position, value in enumerate(values):
        cls = value.__class__
        if cls is Array or cls is float or cls is int or isinstance(value, TensorBase):
            continue
        if isinstance(value, np.ndarray | np.generic) and value.dtype.kind in "biufcV":
            continue
        if isinstance(value, _NUMBERS[:4]) or hasattr(value, "__jax_array__"):
            continue
        text = f"{name} requires ndarray or scalar arguments, got {type(value)} at position "
        hint = ": convert it by jnp.array(...) first" if isinstance(value, list | tuple) else ""
        raise TypeError(f"{text}{position}.{hint}")


def operands(name: str, *values) -> list[Any]:
    """Return checked operands as arrays, each in its own dtype."""
    check_arrays(name, *values)
    return [asarray(value) for value in values]


def pair(x, y) -> list[Any]:
    """Like `promote`, but for two operands; fast for a float array and a Python number."""
    if x.__class__ is Array and (y.__class__ is float or y.__class__ is int):
        dtype = x._payload.dtype
        if dtype.kind == "f" and dtype.itemsize > 2:
            return [x, made(new_tensor(dtype.type(y)))]
    elif y.__class__ is Array and (x.__class__ is float or x.__class__ is int):
        dtype = y._payload.dtype
        if dtype.kind == "f" and dtype.itemsize > 2:
            return [made(new_tensor(dtype.type(x))), y]
    return promote(x, y)


def as_operands(name: str, *values, inexact=False) -> list[Any]:
    """Return checked operands as arrays of one dtype, which is inexact if `inexact` is set."""
    check_arrays(name, *values)
    if len(values) == 2:
        x, y = pair(*values)
        return [x, y] if not inexact or x._payload.dtype.kind in "fc" else promote_inexact(*values)
    return promote_inexact(*values) if inexact else promote(*values)


def plain(x) -> Any:
    """Return an array as a plain tensor, with the operators of tensors; return others unchanged."""
    if isinstance(x, Array):
        return new_tensor(x._payload) if x._edge is None else of_kind(x, Tensor)
    if isinstance(x, list | tuple):
        return type(x)([plain(part) for part in x])
    return x


def finished(result, weak=False) -> Any:
    """Return the result of a counterpart as arrays of JAX's dtypes, in tuples and lists too."""
    if isinstance(result, np.ndarray | np.generic):
        result = new_tensor(result)
    if isinstance(result, TensorBase):
        dtype = result._payload.dtype
        wanted = canonical_dtype(dtype)
        return made(cast(result, wanted) if dtype != wanted else result, weak)
    if isinstance(result, tuple) and hasattr(result, "_fields"):
        return type(result)(*[finished(part, weak) for part in result])
    if isinstance(result, list | tuple):
        return type(result)([finished(part, weak) for part in result])
    return result


@functools.cache
def _counterpart(name: str) -> tuple[Any, Callable[..., Any]]:
    numpys: Any = np
    for part in name.split("."):
        numpys = getattr(numpys, part)
    if isinstance(numpys, np.ufunc):
        return numpys, functools.partial(numpy_ufuncs.call, numpys)
    return numpys, named(name, numpys)


def call(name: str, *args, weak=False, **kwargs) -> Any:
    """Call the counterpart of the NumPy function called `name` on arrays.

    Raises
    ------
    ValueError, TypeError: As in NumPy's own function.
    """
    numpys, ours = _counterpart(name)
    given = [plain(value) for value in args]
    more = {key: plain(value) for key, value in kwargs.items()}
    try:
        return _called(ours, given, more, weak)
    except (RuntimeError, IndexError) as error:
        raise numpys_error(error, numpys, args, kwargs) from None


@errstate(all="ignore")
def _called(function: Callable[..., Any], args: Any, kwargs: Any, weak: bool) -> Any:
    return finished(function(*args, **kwargs), weak)


def no_out(name: str, out) -> None:
    """Refuse the ``out=`` argument.

    Raises
    ------
    NotImplementedError: If it is given: arrays are immutable.
    """
    if out is not None:
        raise refusal(NotImplementedError, "The 'out' argument to jnp.{}", name)


def checked_dtype(dtype, name: str) -> Any:
    """Return the dtype that a user asked for, or None."""
    return None if dtype is None else requested_dtype(dtype, name)


def widened(preferred, name: str, *values) -> Any:
    """Return the operands of a product, in the dtype preferred for its result if that is wider."""
    wanted = checked_dtype(preferred, name)
    if wanted is None:
        return values
    arrays = [asarray(value) for value in values]
    return [x if _is_wider(x._payload.dtype, wanted) else x.astype(wanted) for x in arrays]


def _is_wider(dtype: np.dtype[Any], wanted: np.dtype[Any]) -> bool:
    if dtype.kind == wanted.kind:
        return dtype.itemsize >= wanted.itemsize
    return dtype.kind == "c"


def sizes_of(x) -> tuple[int, ...]:
    """Return the shape of an array, number or list, even if a transform follows it."""
    return tuple(x.shape) if hasattr(x, "shape") else np.shape(x)


def value_of(x, what: str) -> Any:
    """Return the values of an argument that determines shapes, as a NumPy array.

    Raises
    ------
    jax.errors.ConcretizationTypeError: If they differ within the batch of a `vmap`.
    """
    if isinstance(x, list | tuple):
        return np.asarray([value_of(part, what) for part in x])
    if not isinstance(x, TensorBase):
        return np.asarray(x)
    payload = x._payload
    if isinstance(payload, np.ndarray | np.generic):
        return np.asarray(payload)
    return np.asarray(_known(x, what))


def _known(x, what: str) -> Any:
    single = getattr(x, "_single", None)
    if single is None:
        return x._array()
    try:
        return single()
    except TypeError as error:
        raise type(error)(f"{what} decides about a shape and must be known. {error}") from None


def static(number, what: str) -> Any:
    """Return a number that determines a shape as an int."""
    if number.__class__ is int or number is None:
        return number
    return int(value_of(number, what))


def whole_sizes(shape) -> tuple[int, ...]:
    """Return a shape as a tuple of ints, which may be negative.

    Raises
    ------
    TypeError: If it contains anything else.
    """
    given = shape
    if isinstance(shape, TensorBase | np.ndarray):
        shape = value_of(shape, "a shape").reshape(-1).tolist()
    sizes = shape if isinstance(shape, tuple | list) else (shape,)
    try:
        return tuple(size.__index__() for size in sizes)
    except (AttributeError, TypeError):
        shown = given if isinstance(given, tuple | list) else (given,)
        raise refusal(TypeError, "Shapes must be 1D sequences", tuple(shown)) from None


def shape_of(shape) -> tuple[int, ...]:
    """Return the shape of an array to make.

    Raises
    ------
    TypeError: If it contains anything but ints that are not negative.
    """
    found = whole_sizes(shape)
    if any(size < 0 for size in found):
        raise TypeError(f"shape must have every element be nonnegative, got {found}.")
    return found


def refuse_writing(name: str) -> NoReturn:
    """Refuse to write in place."""
    raise refusal(ValueError, "jax.numpy.{} cannot modify", name)


# -- functions of rows -----------------------------------------------------------------------------

_IGNORED = frozenset({"out_sharding", "precision", "unroll"})
"""Parameters that have no effect here."""


def axes_of(name: str, axis) -> Any:
    """Return an axis or axes as ints."""
    if axis is None or axis.__class__ is int:
        return axis
    if isinstance(axis, tuple | list):
        return tuple(operator.index(value_of(i, "axis")) for i in axis)
    return operator.index(value_of(axis, "axis"))


def mask(name: str, where) -> Any:
    """Return the ``where=`` argument as an array of booleans."""
    check_arrays(name, where)
    return asarray(where, bool)


_SAID = {
    "axis": axes_of,
    "dtype": lambda name, dtype: checked_dtype(dtype, name),
    "k": lambda name, k: static(k, f"k of {name}"),
    "where": mask,
}
"""The treatment of parameters with these names."""


def of_row(
    name: str,
    signature: str,
    meeting: str,
    text: str,
    compute: Callable[..., Any] | None = None,
    see="numpy",
) -> Callable[..., Any]:
    """Build the counterpart of the NumPy function of this name, with promoted operands.

    Parameters
    ----------
    name, signature, text: Its name, its parameters, and a line of documentation.
    meeting: How to promote the operands: ``own`` for one operand, of its own dtype; ``same`` for
        all parameters without a default, in their promoted dtype; ``inexact`` for a promoted
        inexact dtype. The suffix ``-weak`` makes the result weak if the first operand is. The names
        of optional operands follow.
    compute: The implementation; default: `call` of `name`.
    see: The module that has the original function.
    """
    how, *optional = meeting.split()
    parameters = signature_of(signature).parameters.values()
    required = [one.name for one in parameters if one.default is one.empty]
    required = required[: 1 if how.startswith("own") else None]
    counterpart = functools.partial(call, name) if compute is None else compute

    def computed(given: dict[str, Any]) -> Any:
        no_out(name, given.pop("out", None))
        wanted = given.pop("preferred_element_type", None)
        first = [given.pop(key) for key in required]
        more = {key: given.pop(key) for key in optional if given[key] is not None}
        if how.startswith("own"):
            arrays = operands(name, *first, *more.values())
        else:
            arrays = as_operands(name, *first, *more.values(), inexact=how.startswith("inexact"))
        named: dict[str, Any] = dict(zip(more, arrays[len(first) :], strict=True))
        arrays = widened(wanted, name, *arrays[: len(first)])
        for key, value in given.items():
            if value is not None and key not in _IGNORED:
                named[key] = _SAID[key](name, value) if key in _SAID else value
        weak = how.endswith("weak") and arrays[0].weak_type
        result = counterpart(*arrays, weak=weak, **named)
        return result if wanted is None else result.astype(wanted)

    return signed(name, signature, computed, f"{text}\n\nSee `{see}.{name}`.")


def documented(function, name: str, text="") -> Any:
    """Give a function its name and, unless it has one, its docstring."""
    function.__name__ = function.__qualname__ = name.rpartition(".")[2]
    function.__module__ = f"jax.numpy.{name}".rpartition(".")[0]
    if not function.__doc__:
        first = f"Compute `numpy.{name}` on JAX arrays."
        function.__doc__ = f"{first} {text}\n\nSee `numpy.{name}`." if text else first
    return function


def table(namespace: dict[str, Any], but="", made: Any = None) -> dict[str, Any]:
    """Return the functions that a module defines, and some more, by name, all documented."""
    found = functions_of(namespace, but) | (made or {})
    for name, function in found.items():
        documented(function, name)
    return found
