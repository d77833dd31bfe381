"""Layer 9 · compat: functions of `jax.numpy` that arrange the elements of arrays.

They keep dtypes, including weak ones. Functions that join arrays promote them to one dtype.
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

import numpy as np

from wengert.compat.jax.array import asarray, made, promote
from wengert.compat.jax.checks import axis_in, broadcast, resized
from wengert.compat.jax.numpy import calling as C
from wengert.compat.jax.words import refusal
from wengert.compat.kit.rows import of_rows
from wengert.tape.base import TensorBase
from wengert.tape.record import T


def reshape(a, shape, order="C", *, copy: bool | None = None, out_sharding=None) -> Any:
    """Reshape an array.

    Examples
    --------
    >>> jnp.reshape(jnp.arange(4), (2, -1))
    Array([[0, 1],
           [2, 3]], dtype=int32)
    """
    (x,) = C.operands("reshape", a)
    if order == "A":
        raise NotImplementedError("np.reshape order=A is not implemented: write order='C' or 'F'")
    return C.call("reshape", x, resized(x, C.whole_sizes(shape)), order, weak=x.weak_type)


def ravel(a, order="C", *, out_sharding=None) -> Any:
    """Flatten an array."""
    (x,) = C.operands("ravel", a)
    if order == "K":
        raise NotImplementedError("Ravel not implemented for order='K': write order='C'")
    return C.call("ravel", x, order, weak=x.weak_type)


def transpose(a, axes=None) -> Any:
    """Permute the axes: reverse them, or use the given order."""
    (x,) = C.operands("transpose", a)
    if axes is not None:
        axes = tuple(C.static(i, "axes of transpose") for i in axes)
        if sorted(i % max(x.ndim, 1) for i in axes) != list(range(x.ndim)):
            raise refusal(TypeError, "transpose permutation isn't", axes, x)
    return C.call("transpose", x, axes, weak=x.weak_type)


def expand_dims(a, axis) -> Any:
    """Insert axes of size 1."""
    (x,) = C.operands("expand_dims", a)
    places = tuple(axis) if np.ndim(axis) else operator.index(axis)
    return C.call("expand_dims", x, places, weak=x.weak_type)


def squeeze(a, axis=None) -> Any:
    """Remove axes of size 1."""
    (x,) = C.operands("squeeze", a)
    axes = () if axis is None else axis if isinstance(axis, tuple | list) else (axis,)
    for i in axes:
        if -x.ndim <= i < x.ndim and x.shape[i] != 1:
            raise refusal(ValueError, "cannot select an axis to", x, tuple(axes))
    return C.call("squeeze", x, axis if axis is None else tuple(axes), weak=x.weak_type)


def broadcast_to(array, shape, *, out_sharding=None) -> Any:
    """Broadcast an array to a shape."""
    (x,) = C.operands("broadcast_to", array)
    to = C.shape_of(shape)
    own = tuple(x.shape)
    if len(own) > len(to) or any(
        n not in (1, m) for n, m in zip(reversed(own), reversed(to), strict=False)
    ):
        raise ValueError(f"Incompatible shapes for broadcasting: {own} and requested shape {to}")
    return made(T.expand(C.plain(x), shape=to), x.weak_type)


def broadcast_arrays(*args) -> list[Any]:
    """Broadcast arrays to their common shape."""
    given = C.operands("broadcast_arrays", *args)
    to = broadcast_shapes(*[tuple(x.shape) for x in given])
    return [broadcast_to(x, to) for x in given]


def broadcast_shapes(*shapes) -> tuple[int, ...]:
    """Return the broadcast shape of several shapes."""
    return broadcast(*shapes)


def atleast(n: int) -> Callable[..., Any]:
    """Build ``atleast_1d`` and the like."""
    name = f"atleast_{n}d"

    def function(*arys) -> Any:
        given = C.operands(name, *arys)
        done = [C.call(name, x, weak=x.weak_type) for x in given]
        return done[0] if len(done) == 1 else done

    return function


# -- joining ---------------------------------------------------------------------------------------


def _sequence(name: str, arrays) -> list[Any]:
    """Return the arrays of a sequence in one dtype; an array counts as the sequence of its rows."""
    if isinstance(arrays, TensorBase | np.ndarray):
        if not C.sizes_of(arrays):
            raise ValueError("Need at least one array to concatenate: got one without dimensions")
        arrays = list(asarray(arrays))
    arrays = list(arrays)
    if not arrays:
        raise ValueError("Need at least one array to concatenate.")
    C.check_arrays(name, *arrays)
    return promote(*arrays)


def _in_dtype(arrays: list[Any], dtype, name: str) -> list[Any]:
    kind = C.checked_dtype(dtype, name)
    return arrays if kind is None else [asarray(x, kind) for x in arrays]


def concatenate(arrays, axis=0, dtype=None) -> Any:
    """Join arrays along an axis.

    Examples
    --------
    >>> jnp.concatenate([jnp.arange(2), jnp.ones(1)])
    Array([0., 1., 1.], dtype=float32)
    """
    given = _in_dtype(_sequence("concatenate", arrays), dtype, "concatenate")
    if any(not x.ndim for x in given):
        raise ValueError("Zero-dimensional arrays cannot be concatenated.")
    _check_alike("concatenate", given, axis)
    return C.call("concatenate", given, axis, weak=given[0].weak_type)


def _check_alike(name: str, given: list[Any], axis) -> None:
    first = tuple(given[0].shape)
    for x in given[1:] if axis is not None else ():
        own = tuple(x.shape)
        ours = [n for i, n in enumerate(first) if i != axis % len(first)]
        theirs = [n for i, n in enumerate(own) if i != axis % len(first)]
        if len(own) != len(first) or ours != theirs:
            shapes = ", ".join(str(tuple(part.shape)) for part in given)
            raise refusal(TypeError, "Cannot {} arrays", name, axis, shapes)


def concat(arrays, /, *, axis=0) -> Any:
    """Join arrays along an axis; same as `concatenate`."""
    return concatenate(arrays, axis)


def stack(arrays, axis=0, out=None, dtype=None) -> Any:
    """Join arrays along a new axis."""
    C.no_out("stack", out)
    given = _in_dtype(_sequence("stack", arrays), dtype, "stack")
    shapes = [tuple(x.shape) for x in given]
    if len(set(shapes)) > 1:
        raise ValueError(f"All input arrays must have the same shape: stack got {shapes}.")
    return C.call("stack", given, axis, weak=given[0].weak_type)


def _stacked(name: str, deep: int, axis: Callable[[int], int]) -> Callable[..., Any]:
    def function(tup, dtype=None) -> Any:
        given = _in_dtype(_sequence(name, tup), dtype, name)
        wide = [C.call(f"atleast_{deep}d", x, weak=x.weak_type) for x in given]
        return concatenate(wide, axis(wide[0].ndim))

    return function


def column_stack(tup) -> Any:
    """Stack vectors as the columns of a matrix."""
    given = _sequence("column_stack", tup)
    return C.call("column_stack", given, weak=given[0].weak_type)


def append(arr, values, axis: int | None = None) -> Any:
    """Append arrays to an array."""
    x, y = C.operands("append", arr, values)
    if axis is None:
        return concatenate([ravel(x), ravel(y)])
    return concatenate([x, y], axis)


def block(arrays) -> Any:
    """Assemble an array from nested lists of blocks."""
    leaves: list[Any] = []

    def gather(part) -> None:
        if isinstance(part, tuple):
            raise refusal(ValueError, "jax.numpy.block does not")
        if isinstance(part, list):
            for inner in part:
                gather(inner)
        else:
            leaves.append(part)

    gather(arrays)
    C.check_arrays("block", *leaves)
    given = promote(*leaves)
    same = iter(given)

    def arranged(part) -> Any:
        return [arranged(inner) for inner in part] if isinstance(part, list) else next(same)

    return C.call("block", arranged(arrays), weak=given[0].weak_type)


def _split(name: str) -> Callable[..., Any]:
    def function(ary, indices_or_sections, axis=0) -> list[Any]:
        (x,) = C.operands(name, ary)
        where = indices_or_sections
        if isinstance(where, TensorBase | np.ndarray | list | tuple):
            where = C.value_of(where, f"indices_or_sections of {name}").tolist()
        elif where.__class__ is not int:
            where = C.static(where, f"indices_or_sections of {name}")
        parts = C.call(name.removeprefix("v"), x, where, axis, weak=x.weak_type)
        return list(parts)

    return function


def vsplit(ary, indices_or_sections) -> list[Any]:
    """Split an array along the first axis."""
    return _split("vsplit")(ary, indices_or_sections)


def unstack(x, /, *, axis=0) -> tuple[Any, ...]:
    """Return the slices of an array along an axis."""
    (x,) = C.operands("unstack", x)
    if not x.ndim:
        raise refusal(ValueError, "Unstack requires arrays")
    return tuple(made(list(T.unbind(x, dim=axis_in(axis, x.ndim))), x.weak_type))


of_rows(
    globals(),
    C.of_row,
    """
    diag | v, k=0 | own-weak | Return the diagonal of a matrix, or the matrix of a diagonal.
    diagflat | v, k=0 | own-weak | Return the matrix whose diagonal has all elements.
    diagonal | a, offset=0, axis1=0, axis2=1 | own-weak | Return the diagonals over two axes.
    dsplit | ary, indices_or_sections | own-weak | Split an array along the third axis.
    flip | m, axis=None | own-weak | Reverse the elements along axes.
    fliplr | m | own-weak | Reverse the elements along the second axis.
    flipud | m | own-weak | Reverse the elements along the first axis.
    hsplit | ary, indices_or_sections | own-weak | Split an array along the second axis.
    matrix_transpose | x, / | own-weak | Swap the last two axes of an array.
    moveaxis | a, source, destination | own-weak | Move axes of an array to other positions.
    permute_dims | a, /, axes | own-weak | Permute the axes of an array.
    rollaxis | a, axis, start=0 | own-weak | Move an axis in front of another one.
    rot90 | m, k=1, axes=(0, 1) | own-weak | Rotate an array by a right angle.
    swapaxes | a, axis1, axis2 | own-weak | Swap two axes of an array.
    tril | m, k=0 | own-weak | Return the elements at and below a diagonal, 0 elsewhere.
    triu | m, k=0 | own-weak | Return the elements at and above a diagonal, 0 elsewhere.
    """,
)
NAMES = C.table(
    globals(),
    "atleast",
    made={
        **{name: _split(name) for name in ("split", "array_split")},
        **{f"atleast_{n}d": atleast(n) for n in (1, 2, 3)},
        "dstack": _stacked("dstack", 3, lambda ndim: 2),
        "hstack": _stacked("hstack", 1, lambda ndim: 0 if ndim == 1 else 1),
        "vstack": _stacked("vstack", 2, lambda ndim: 0),
    },
)
