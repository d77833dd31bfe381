"""Layer 9 · compat: conversion to JAX's arrays, and dtype promotion.

The classes are defined in `wengert.compat.jax.classes` and re-exported here.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from wengert.base.arrays import unmasked
from wengert.compat.jax.classes import (
    Array,
    WeakArray,
    made,
    of_kind,
)
from wengert.compat.jax.dtypes import (
    WEAK,
    TypePromotionError,
    canonical_dtype,
    canonical_name,
    inexact_of,
    join,
)
from wengert.compat.jax.settings import numpy_dtype_promotion
from wengert.compat.jax.words import refusal
from wengert.ops.join import stack
from wengert.tape.base import TensorBase, new_tensor
from wengert.tape.operands import cast
from wengert.tape.record import T

_PYTHON_KINDS = {bool: "b", int: "i", float: "f", complex: "c"}


def _of_number(value, dtype) -> Any:
    """Return a Python number as a 0-d array."""
    kind = _PYTHON_KINDS[value.__class__]
    if dtype is not None and (kind == "i" or dtype.kind in "iu"):
        with np.errstate(over="ignore"):
            # NumPy refuses numbers that do not fit integers
            return np.asarray(value.real if dtype.kind in "iu" else value, dtype)[()]
    chosen = canonical_dtype({"b": bool, "i": int, "f": float, "c": complex}[kind])
    try:
        with np.errstate(over="ignore"):
            number = chosen.type(value)
    except OverflowError:
        raise OverflowError(f"Python int {value} too large to convert to {chosen.name}") from None
    return number


def asarray(value, dtype=None) -> Any:
    """Convert an array, a tensor, a number or a nested list of these to an `Array` of JAX's dtypes.

    Parameters
    ----------
    value : array_like. Lists may contain tensors, to which the gradient flows. NumPy arrays are
        copied, since they may be written to.
    dtype : dtype, optional. Default: the value's own, of at most 32 bits unless x64 is enabled; a
        Python number then becomes a weakly typed array.

    Returns
    -------
    Array: `value` itself if it is an array of that dtype.

    Raises
    ------
    TypeError: If `value` is, or contains, anything that is not a number.
    OverflowError: If an integer is too large.

    Examples
    --------
    >>> from wengert.compat.jax.array import asarray
    >>> asarray(2.0), asarray([1, 2])
    (Array(2., dtype=float32, weak_type=True), Array([1, 2], dtype=int32))
    >>> asarray(1, "int8")
    Array(1, dtype=int8)
    """
    kind = None if dtype is None else canonical_dtype(dtype)
    if isinstance(value, TensorBase):
        return _of_tensor(value, kind)
    if value.__class__ in _PYTHON_KINDS:
        number = _of_number(value, kind)
        if kind is None:
            return made(new_tensor(number), value.__class__ is not bool)
        return made(convert(new_tensor(number), kind))
    if value is None:
        raise ValueError("None is not a valid value for jnp.array")
    if isinstance(value, np.ndarray | np.generic):
        wanted = canonical_dtype(value.dtype) if kind is None else kind
        return made(new_tensor(_converted(unmasked(value), wanted)))
    if isinstance(value, list | tuple):
        return _of_list(value, kind)
    for protocol in ("__jax_array__", "__array__"):
        method = getattr(value, protocol, None)
        if method is not None:
            return asarray(method(), dtype)
    if isinstance(value, range):
        return asarray(np.asarray(value), dtype)
    try:
        array = np.asarray(unmasked(value))
    except Exception as error:
        raise TypeError(f"Unexpected input type for array: {type(value)}") from error
    return asarray(_checked(array, value), dtype)


def _checked(array, value) -> Any:
    if array.dtype.kind not in "biufcV":
        raise refusal(TypeError, "Value {!r} with dtype {.dtype}", value, array)
    return array


def _converted(value, dtype: np.dtype[Any]) -> Any:
    with np.errstate(over="ignore", invalid="ignore"):
        return np.array(_checked(value, value), dtype)


def _of_tensor(value, kind) -> Any:
    wanted = canonical_dtype(value._payload.dtype) if kind is None else kind
    if value._payload.dtype != wanted:
        return made(convert(value, wanted))
    if isinstance(value, Array) and (kind is None or not value.weak_type):
        return value
    return of_kind(value, Array)


def convert(x, dtype: np.dtype[Any]) -> Any:
    """Convert a tensor to a dtype, recorded if both are differentiable; return a plain tensor."""
    if x._payload.dtype == dtype:
        return x
    with np.errstate(over="ignore", invalid="ignore"):
        if x._payload.dtype.kind == "c" and dtype.kind in "iufbV":
            x = T.real(x)
        if x._payload.dtype.kind in "fV" and dtype.kind in "iu":
            return T.saturate(x, dtype=dtype)
        return cast(x, dtype)


def _of_list(value, kind) -> Any:
    leaves: list[Any] = []
    _leaves(value, leaves)
    if any(leaf is None for leaf in leaves):
        raise ValueError("None is not a valid value for jnp.array")
    if not any(isinstance(leaf, TensorBase) for leaf in leaves):
        if all(leaf.__class__ in _PYTHON_KINDS for leaf in leaves):
            array = np.array(value)
            if array.dtype.kind == "O" or (array.dtype.kind == "u" and kind is None):
                raise OverflowError("Python int too large to convert to int64")
            wanted = kind or canonical_dtype(array.dtype if leaves else float)
            if array.dtype.kind == "f" and wanted.kind in "iu":
                array = np.array(value, wanted)  # refuses numbers that do not fit
            if array.dtype.kind in "iu" and wanted.kind in "iu" and kind is None:
                limits = np.iinfo(wanted)
                if array.size and not limits.min <= array.min() <= array.max() <= limits.max:
                    large = next(v for v in leaves if not limits.min <= v <= limits.max)
                    raise OverflowError(f"Python int {large} too large to convert to {wanted.name}")
            return made(new_tensor(_converted(array, wanted)))
        leaves = [
            leaf
            if leaf.__class__ in _PYTHON_KINDS or isinstance(leaf, np.ndarray | np.generic)
            else asarray(leaf)
            for leaf in leaves
        ]
    if kind is None:
        kind, _ = result_type(*leaves) if leaves else (canonical_dtype(float), False)
    return made(_stacked(value, kind))


def _leaves(value, found: list[Any]) -> None:
    for part in value:
        if isinstance(part, list | tuple):
            _leaves(part, found)
        else:
            found.append(part)


def _stacked(value, kind) -> Any:
    parts = [
        _stacked(part, kind) if isinstance(part, list | tuple) else asarray(part, kind)
        for part in value
    ]
    if not parts:
        return new_tensor(np.zeros(0, kind))
    shapes = {tuple(part._payload.shape) for part in parts}
    if len(shapes) > 1:
        raise refusal(ValueError, "All input arrays must have", sorted(shapes))
    return stack(parts, 0)


# -- promotion -------------------------------------------------------------------------------------


def is_weak(value) -> bool:
    """Return whether `value` is weakly typed: a Python number, or an array made from numbers."""
    if value.__class__ in _PYTHON_KINDS:
        return value.__class__ is not bool
    return isinstance(value, Array) and value.weak_type


def _name(value) -> str:
    """Return the node of an operand in the promotion lattice."""
    kind = _PYTHON_KINDS.get(value.__class__)
    if kind is not None:
        return WEAK.get(kind, "bool")
    if isinstance(value, TensorBase):
        dtype = value._payload.dtype
        if isinstance(value, Array) and value.weak_type and dtype.kind in WEAK:
            return WEAK[dtype.kind]
        return canonical_name(dtype)
    if isinstance(value, np.ndarray | np.generic):
        return canonical_name(_checked(value, value).dtype)
    return canonical_dtype(value).name


_WEAK_NAMES = {"i*": int, "f*": float, "c*": complex}


def result_type(*values) -> tuple[np.dtype[Any], bool]:
    """Return the promoted dtype of values, and whether it is weak.

    Parameters
    ----------
    *values: Arrays, tensors, numbers and dtypes (see NOTE [JAX's dtypes]).

    Examples
    --------
    >>> from wengert.compat.jax.array import asarray, result_type
    >>> result_type(asarray([1, 2]), 1.5)
    (dtype('float32'), True)
    """
    names = frozenset(map(_name, values))
    joined = join(names)
    if numpy_dtype_promotion.value == "strict" and {joined} != (
        names - _WEAK_NAMES.keys() or {joined}
    ):
        shown = tuple(sorted(names))
        raise refusal(TypePromotionError, "Input dtypes {} have no available", shown)
    weak = _WEAK_NAMES.get(joined)
    return canonical_dtype(weak or joined), weak is not None


def promote(*values) -> list[Any]:
    """Convert operands to arrays of their promoted dtype, by JAX's rules.

    Parameters
    ----------
    *values: Arrays, tensors, NumPy's arrays, and numbers.

    Returns
    -------
    list of Array: Arrays of one dtype, as operations of wengert expect them. If the dtype is weak,
        all of them are weakly typed, and so is a result: ``made(result,
        weak=operands[0].weak_type)``.

    Examples
    --------
    >>> from wengert.compat.jax.array import asarray, promote
    >>> promote(asarray([1, 2]), 0.5)
    [Array([1., 2.], dtype=float32, weak_type=True), Array(0.5, dtype=float32, weak_type=True)]
    """
    first = values[0]
    if first.__class__ is Array:
        dtype = first._payload.dtype
        if all(v.__class__ is Array and v._payload.dtype is dtype for v in values):
            return list(values)
    dtype, weak = result_type(*values)
    return [_operand(value, dtype, weak) for value in values]


def promote_inexact(*values) -> list[Any]:
    """Like `promote`, but to an inexact dtype: integers become the default float."""
    dtype, weak = result_type(*values)
    dtype = inexact_of(dtype)
    return [_operand(value, dtype, weak) for value in values]


def _operand(value, dtype: np.dtype[Any], weak: bool) -> Any:
    cls = WeakArray if weak else Array
    if value.__class__ is cls and value._payload.dtype == dtype:
        return value
    found = asarray(value)
    changed = convert(found, dtype)
    if changed is value:
        changed = of_kind(value, cls)
    changed.__class__ = cls
    return changed
