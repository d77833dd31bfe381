"""Layer 9 · compat: flattening of arguments and results, shared by JAX's transforms.

NOTE [functions of flat tensors]
The transforms of `wengert.func` get functions that take one tensor for each differentiable leaf of
the arguments, and return lists of tensors. This module wraps the user's function in such a
function: leaves become arrays of their original class, containers are rebuilt, and results are
flattened, including registered containers.

NOTE [JAX's complex derivatives]
`grad` and `vjp` return the conjugates of PyTorch's gradients, so that the gradient of a holomorphic
function is its complex derivative: cotangents are conjugated when they enter the tape, and
gradients when they leave it.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Sequence
from contextvars import ContextVar
from typing import Any

import numpy as np

from wengert.compat.jax.array import Array, asarray, of_kind
from wengert.compat.jax.dtypes import float0
from wengert.compat.jax.settings import WATCHED, check_finite
from wengert.compat.jax.trees import PyTreeDef, tree_flatten
from wengert.compat.jax.words import refusal
from wengert.tape.base import TensorBase
from wengert.tape.record import T
from wengert.tensor.tensor import Tensor

STAGED: ContextVar[bool] = ContextVar("staged", default=False)
"""Whether a function runs that JAX would trace: its values are known but treated as unknown."""


def staged(function: Callable[..., Any]) -> Callable[..., Any]:
    """Wrap a function that calls functions JAX would trace (see `STAGED`)."""

    @functools.wraps(function)
    def call(*args, **kwargs) -> Any:
        if STAGED.get():
            return function(*args, **kwargs)
        STAGED.set(True)  # the token is not kept: tracing compares the values that frames hold
        try:
            return function(*args, **kwargs)
        finally:
            STAGED.set(False)

    return call


SHAPES: ContextVar[bool] = ContextVar("shapes", default=False)
"""Whether a function runs for the shapes of its results only: its values are examples."""


def for_shapes(function: Callable[..., Any]) -> Callable[..., Any]:
    """Wrap a function that is called on examples: callbacks in it are not called."""

    @functools.wraps(function)
    def call(*args, **kwargs) -> Any:
        before = SHAPES.get()
        SHAPES.set(True)
        try:
            return staged(function)(*args, **kwargs)
        finally:
            SHAPES.set(before)

    return call


def check_callable(fun) -> None:
    """Refuse an argument that is not a function.

    Raises
    ------
    TypeError: If it cannot be called, or is a generator function.
    """
    if isinstance(fun, staticmethod):
        raise TypeError(f"staticmethod arguments are not supported, got {fun}")
    if not callable(fun):
        raise TypeError(f"Expected a callable value, got {fun}")
    if inspect.isgeneratorfunction(fun):
        raise TypeError(f"Expected a function, got a generator function: {fun}")


def name_of(fun) -> str:
    """Return the name of a function."""
    return str(getattr(fun, "__name__", fun.__class__.__name__))


_KINDS = {"__name__": str, "__qualname__": str, "__annotations__": dict, "__type_params__": tuple}


def wraps(fun) -> Any:
    """Decorate a wrapper like `functools.wraps`, which fails for a name that is no text."""
    names = functools.WRAPPER_ASSIGNMENTS
    fits = [one for one in names if isinstance(getattr(fun, one, None), _KINDS.get(one, object))]
    return functools.wraps(fun, fits)


def argument(value, what="Argument") -> Any:
    """Return a leaf of the arguments as an array.

    Raises
    ------
    TypeError: If it is neither an array nor a number.
    """
    if isinstance(value, Array):
        return value
    plain = np.ndarray | np.generic | bool | int | float | complex | TensorBase
    known = isinstance(value, plain) or hasattr(value, "__jax_array__")
    if known and getattr(getattr(value, "dtype", None), "kind", None) != "O":
        return asarray(value)
    raise TypeError(f"{what} {value!r} of type {type(value)} is not a valid JAX type.")


def result_of(value, fun, what: str) -> Any:
    """Convert a result of a function that JAX would trace to an array.

    Raises
    ------
    TypeError: If the value has a type that JAX does not support; the message names the function.
    """
    try:
        return argument(value)
    except TypeError:
        raise refusal(TypeError, "function {} traced for", name_of(fun), what, value) from None


def labelled(result, cls: type) -> Any:
    """Return a tensor as an array of the class `cls`."""
    if result.__class__ is Tensor:
        if WATCHED:
            check_finite(result, "a value or a derivative")
        result.__class__ = cls
        return result
    return result if result.__class__ is cls else of_kind(result, cls)


def conjugated(x) -> Any:
    """Return the conjugate of a complex tensor, or any other tensor itself."""
    if x._payload.dtype.kind != "c":
        return x
    return T.add(T.conj(x), 0)  # avoid imaginary parts of -0


def is_inexact(x) -> bool:
    """Return whether an array is differentiable."""
    dtype = x._payload.dtype
    return dtype.kind in "fc" or (dtype.kind == "V" and dtype != float0)


def nothing_like(x) -> Any:
    """Return the placeholder for a derivative with respect to integers: an array of no bytes."""
    return np.zeros(tuple(x._payload.shape), float0)


def short(x) -> str:
    """Return the dtype and shape of an array as text: ``float32[2,3]``."""
    return f"{x._payload.dtype.name}[{','.join(map(str, x._payload.shape))}]"


class Leaves:
    """Arguments to differentiate by: their leaves as arrays, and how to rebuild them.

    Attributes
    ----------
    arrays: All leaves.
    places: The positions of those with derivatives.
    """

    def __init__(self, values: Sequence[Any]) -> None:
        leaves, self.structure = tree_flatten(tuple(values))
        self.arrays = [argument(leaf) for leaf in leaves]
        self.places = [i for i, x in enumerate(self.arrays) if is_inexact(x)]

    @property
    def tensors(self) -> list[Any]:
        """Return the leaves with derivatives."""
        return [self.arrays[i] for i in self.places]

    def with_tensors(self, tensors: Sequence[Any]) -> Any:
        """Return the arguments, a tuple, with other tensors for the differentiable leaves."""
        arrays = list(self.arrays)
        for place, tensor in zip(self.places, tensors, strict=True):
            arrays[place] = labelled(tensor, arrays[place].__class__)
        return self.structure.unflatten(arrays)

    def derivatives(self, found: Sequence[Any]) -> Any:
        """Return gradients in the structure of the arguments: a tuple."""
        made: list[Any] = [nothing_like(x) for x in self.arrays]
        for place, grad in zip(self.places, found, strict=True):
            made[place] = labelled(grad, self.arrays[place].__class__)
        return self.structure.unflatten(made)


class Results:
    """The flattened results of a function, filled in when the function is called.

    Leaves with derivatives are passed to the transform as its output, the others as auxiliary data.
    """

    structure: PyTreeDef

    def __init__(self) -> None:
        self.classes: list[type] = []
        self.places: list[int] = []
        self.tensor_places: list[int] = []
        self.leaves: list[Any] = []

    def take(self, value, what: str | None = None) -> tuple[list[Any], list[Any]]:
        """Return the differentiable tensors of `value`, and the others.

        Parameters
        ----------
        what: The name of the leaves in errors, if they must be arrays; None if they may be
            anything.
        """
        self.leaves, self.structure = tree_flatten(value)
        if what is not None:
            self.leaves = [argument(leaf, what) for leaf in self.leaves]
        tensors = [i for i, x in enumerate(self.leaves) if isinstance(x, TensorBase)]
        self.classes = [type(x) for x in self.leaves]
        self.places = [i for i in tensors if what is not None and is_inexact(self.leaves[i])]
        self.tensor_places = [i for i in tensors if i not in set(self.places)]
        return ([self.leaves[i] for i in self.places], [self.leaves[i] for i in self.tensor_places])

    def give(self, outputs: Sequence[Any], others: Sequence[Any] = ()) -> Any:
        """Rebuild the value with other differentiable and other remaining tensors."""
        leaves = list(self.leaves)
        for places, tensors in ((self.places, outputs), (self.tensor_places, others)):
            # there is an output too many if none has a derivative
            for place, tensor in zip(places, tensors, strict=False):
                cls = self.classes[place]
                leaves[place] = labelled(tensor, cls) if issubclass(cls, Array) else tensor
        return self.structure.unflatten(leaves)

    def let_go(self) -> None:
        """Drop the leaves, which belong to the transform, but keep their shapes and dtypes."""
        for place in (*self.places, *self.tensor_places):
            self.leaves[place] = None

    def derivatives(self, found: Sequence[Any], like: Callable[[int], Any]) -> Any:
        """Return derivatives in the structure of the value; ``like(i)`` replaces missing ones."""
        made: list[Any] = [None] * len(self.leaves)
        for place, slope in zip(self.places, found, strict=False):
            cls = self.classes[place]
            known = slope is not None and issubclass(cls, Array)
            made[place] = labelled(slope, cls) if known else slope
        for place in range(len(made)):
            if made[place] is None:
                made[place] = like(place)
        return self.structure.unflatten(made)


def two_parts(result, has_aux: bool) -> tuple[Any, Any]:
    """Split the result of a function into its output and its auxiliary data."""
    if not has_aux:
        return result, None
    if not isinstance(result, tuple) or len(result) != 2:
        is_tuple = isinstance(result, tuple)
        got = f"a tuple of length {len(result)}" if is_tuple else f"type {type(result)}"
        raise refusal(TypeError, "expected function with", got, result)
    return result
