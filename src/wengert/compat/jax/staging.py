"""Layer 9 · compat: functions that rely on tracing in JAX, but not here.

`eval_shape`, and contexts that change nothing.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from wengert.compat.jax.array import asarray, made
from wengert.compat.jax.classes import is_traced
from wengert.compat.jax.closures import Closure
from wengert.compat.jax.dtypes import canonical_dtype, is_of_keys
from wengert.compat.jax.methods import ShapedArray, Sized
from wengert.compat.jax.tracing import argument, check_callable, for_shapes
from wengert.compat.jax.trees import tree_map, tree_structure
from wengert.compat.jax.words import refusal
from wengert.compat.kit.signatures import named
from wengert.tape.base import new_tensor


class ShapeDtypeStruct(Sized):
    """The shape and dtype of an array, without its values.

    Parameters
    ----------
    shape : tuple of int. The sizes.
    dtype : dtype. The dtype.

    Examples
    --------
    >>> jax.ShapeDtypeStruct((2, 3), "float32")
    ShapeDtypeStruct(shape=(2, 3), dtype=float32)
    """

    __slots__ = ("dtype", "shape", "sharding", "weak_type")

    def __init__(self, shape, dtype, *, sharding=None, weak_type: bool = False, **more) -> None:
        if dtype is None:
            raise ValueError("ShapeDtypeStruct: dtype must be specified.")
        self.shape = tuple(int(size) for size in shape)
        self.dtype = dtype if is_of_keys(dtype) else canonical_dtype(dtype)
        self.sharding = sharding
        self.weak_type = weak_type

    def __repr__(self) -> str:
        weak = ", weak_type=True" if self.weak_type else ""
        return f"ShapeDtypeStruct(shape={self.shape}, dtype={self.dtype.name}{weak})"

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, ShapeDtypeStruct):
            return NotImplemented
        return (self.shape, self.dtype) == (other.shape, other.dtype)

    def __hash__(self) -> int:
        return hash((self.shape, self.dtype))


def example(leaf) -> Any:
    """Return zeros of the shape and dtype of an array; return anything else unchanged."""
    if is_of_keys(getattr(leaf, "dtype", None)):
        return leaf.dtype.zeros(leaf.shape)
    if hasattr(leaf, "shape") and hasattr(leaf, "dtype"):
        zeros = new_tensor(np.zeros(tuple(leaf.shape), canonical_dtype(leaf.dtype)))
        return made(zeros, getattr(leaf, "weak_type", False))
    return asarray(leaf) * 0


def eval_shape(fun: Callable[..., Any], *args, **kwargs) -> Any:
    """Return the shapes and dtypes of a function's result, by calling it on zeros.

    Parameters
    ----------
    %(pytree_function)s
    *args, **kwargs: Pytrees of arrays, or of anything with a shape and a dtype.

    Examples
    --------
    >>> jax.eval_shape(lambda x: x.T, jax.ShapeDtypeStruct((2, 3), "float32"))
    ShapeDtypeStruct(shape=(3, 2), dtype=float32)
    """
    check_callable(fun)

    def shape(leaf) -> ShapeDtypeStruct:
        if isinstance(leaf, ShapeDtypeStruct):
            return leaf
        array = argument(leaf)
        return ShapeDtypeStruct(array.shape, array.dtype, weak_type=array.weak_type)

    given, named = tree_map(example, (args, kwargs))
    return tree_map(shape, for_shapes(fun)(*given, **named))


def typeof(x) -> ShapedArray:
    """Return the shape and dtype of an array or a number."""
    return (x if hasattr(x, "aval") else argument(x)).aval


def named_call(fun: Callable[..., Any], *, name: str | None = None) -> Callable[..., Any]:
    """Return the function itself: names only show in compiled programs."""
    check_callable(fun)
    return fun


@contextlib.contextmanager
def named_scope(name: str) -> Iterator[None]:
    """Return a context that changes nothing: names only show in compiled programs."""
    if not isinstance(name, str):
        raise TypeError("named_scope name argument must be a string.")
    yield


def _changing_nothing(name: str, why: str) -> Any:
    @contextlib.contextmanager
    def context(new_val=None) -> Iterator[None]:
        yield

    return named(context, name, f"Return a context that changes nothing: {why}.")


_KEPT = "values are not traced, so they cannot leak"
_PRODUCTS = "products are computed in the dtype of the operands"
checking_leaks = _changing_nothing("checking_leaks", _KEPT)
default_device = _changing_nothing("default_device", "there is one device")
default_matmul_precision = _changing_nothing("default_matmul_precision", _PRODUCTS)
ensure_compile_time_eval = _changing_nothing(
    "ensure_compile_time_eval", "everything is computed immediately"
)
check_tracer_leaks = checking_leaks


def closure_convert(fun: Callable[..., Any], *example_args) -> tuple[Any, list[Any]]:
    """Convert the differentiated values that a function closes over to arguments.

    Parameters
    ----------
    fun : callable. A function, whose closure may hold arrays that a transform follows.
    *example_args: Example arguments of `fun`.

    Returns
    -------
    converted : callable. Takes the arguments of `fun`, followed by the arrays.
    consts : list of Array. The arrays.
    """
    check_callable(fun)
    closure = Closure(fun, bound=False)
    found: list[Any] = []
    for leaf in closure.leaves:
        if is_traced(leaf) and all(leaf is not other for other in found):
            found.append(leaf)
    expected = tree_structure(example_args)

    def converted(*args) -> Any:
        count = len(args) - len(found)
        if tree_structure(args[:count]) != expected:
            raise refusal(
                TypeError, "The inputs to the closure", expected, tree_structure(args[:count])
            )
        new = {id(old): value for old, value in zip(found, args[count:], strict=True)}
        return closure.rebuilt([new.get(id(old), old) for old in closure.leaves])(*args[:count])

    return converted, list(found)
