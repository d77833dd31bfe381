"""Layer 9 · compat: plain Python within programs: callbacks, transfers, `jax.debug`."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from wengert.compat.jax.array import Array, asarray, made
from wengert.compat.jax.custom import is_followed
from wengert.compat.jax.dtypes import canonical_dtype
from wengert.compat.jax.lax_elementwise import stop_gradient
from wengert.compat.jax.staging import ShapeDtypeStruct, example
from wengert.compat.jax.tracing import SHAPES, argument, name_of
from wengert.compat.jax.trees import tree_flatten, tree_leaves, tree_map
from wengert.compat.jax.values import differs, innermost, is_lifted
from wengert.compat.jax.words import refusal
from wengert.interp.levels import batch_of, levels_of
from wengert.tape.levels import move
from wengert.tape.modes import untraced


def device_put(x, device=None, **options) -> Any:
    """Return a pytree with its leaves as arrays."""
    if isinstance(device, str):
        raise ValueError(f"Received invalid value for a device: {device!r}: pass a jax.Device")
    return tree_map(argument, x)


def device_get(x) -> Any:
    """Return a pytree with its arrays as NumPy arrays."""
    return tree_map(lambda leaf: np.asarray(leaf) if isinstance(leaf, Array) else leaf, x)


def block_until_ready(x) -> Any:
    """Return the pytree; everything in it is already computed."""
    return x


def copy_to_host_async(x) -> Any:
    """Return the pytree; everything in it is already on the host."""
    return x


def effects_barrier() -> None:
    """Do nothing: effects happen immediately."""


def values_of(x) -> Any:
    """Return the leaves of a pytree as NumPy arrays, without the transforms that follow them."""

    def leaf(value) -> Any:
        if not isinstance(value, Array):
            return np.asarray(value) if isinstance(value, int | float | complex) else value
        return np.asarray(innermost(value))

    return tree_map(leaf, x)


def each_of(x) -> Iterator[Any]:
    """Yield `values_of` a pytree for each element of its batches; nothing for shapes only."""
    if SHAPES.get():
        return
    leaves, structure = tree_flatten(x)
    level = batch_of(*[leaf._payload for leaf in leaves if isinstance(leaf, Array)])
    if level is None:
        yield values_of(x)
        return
    stopped = [stop_gradient(leaf) for leaf in leaves]
    mapped = [isinstance(s, Array) and level.number in levels_of(s._payload) for s in stopped]
    whole = [
        made(move("unwrap", leaf, level, True)) if inside else leaf
        for leaf, inside in zip(stopped, mapped, strict=True)
    ]
    for i in range(level.size or 0):
        rows = [leaf[i] if inside else leaf for leaf, inside in zip(whole, mapped, strict=True)]
        yield from each_of(structure.unflatten(rows))


def pure_callback(
    callback: Callable[..., Any],
    result_shape_dtypes,
    *args,
    sharding=None,
    vmap_method: str | None = None,
    vectorized=None,
    **kwargs,
) -> Any:
    """Call a function of NumPy arrays and return its results as arrays, constant to derivatives.

    Parameters
    ----------
    callback : callable. Takes NumPy arrays, and returns arrays as described by
        `result_shape_dtypes`.
    result_shape_dtypes: A pytree of `jax.ShapeDtypeStruct`, or of arrays.
    vmap_method : {"sequential", "expand_dims", "broadcast_all"}, optional. How to call it under
        `vmap`: once for each element, or once for the whole batch.

    Raises
    ------
    ValueError: If a derivative follows an argument: define one by `jax.custom_jvp` or
        `jax.custom_vjp`. If the results have another shape or dtype than announced.

    Examples
    --------
    >>> jax.pure_callback(np.sin, jax.ShapeDtypeStruct((), "float32"), 0.0)
    Array(0., dtype=float32)
    """
    untraced(f"it calls {name_of(callback)}()")
    if vmap_method not in (None, "sequential", "expand_dims", "broadcast_all"):
        raise refusal(ValueError, "vmap_method must be", vmap_method)
    given = tree_map(argument, (args, kwargs))
    leaves, structure = tree_flatten(given)
    if any(map(is_followed, leaves)):
        raise refusal(ValueError, "Pure callbacks do not support")
    batched = any(differs(leaf._payload) for leaf in leaves)
    if batched and vmap_method is None:
        raise refusal(NotImplementedError, "vmap is only supported")
    if SHAPES.get():
        return tree_map(example, result_shape_dtypes)
    if not batched:
        values, named = structure.unflatten([np.asarray(leaf) for leaf in leaves])
        return _results(callback(*values, **named), result_shape_dtypes)
    return _batched(callback, result_shape_dtypes, leaves, structure, str(vmap_method))


def _batched(
    callback: Callable[..., Any], shapes, leaves: list[Any], structure, method: str
) -> Any:
    """Return the results of a callback for a whole batch."""
    level: Any = batch_of(*[leaf._payload for leaf in leaves])
    whole = []
    for leaf in leaves:
        mapped = is_lifted(leaf._payload) and leaf._payload.owner is level
        if not mapped and method == "expand_dims":
            whole.append(made(asarray(leaf)[None]))
        else:
            whole.append(made(move("unwrap", leaf, level, True)))
    size = level.size or 0
    if method == "sequential":
        rows = [
            pure_callback(callback, shapes, *args, vmap_method=method, **named)
            for args, named in (
                structure.unflatten([leaf[i] for leaf in whole]) for i in range(size)
            )
        ]
        columns = [asarray(list(parts)) for parts in zip(*map(tree_leaves, rows), strict=True)]
    else:
        args, named = structure.unflatten(whole)
        more = tree_map(lambda x: ShapeDtypeStruct((size, *x.shape), x.dtype), shapes)
        columns = tree_leaves(pure_callback(callback, more, *args, vmap_method=method, **named))
    inside = [made(move("wrap", column, level, True)) for column in columns]
    return tree_flatten(shapes)[1].unflatten(inside)


def _results(value, shapes) -> Any:
    """Return a callback's results as arrays, checked against the declared shapes and dtypes."""
    wanted, structure = tree_flatten(shapes)
    found = structure.flatten_up_to(value)
    arrays = []
    for i, (leaf, like) in enumerate(zip(found, wanted, strict=True)):
        array, dtype = asarray(np.asarray(leaf)), canonical_dtype(like.dtype)
        if array.dtype != dtype:
            raise refusal(ValueError, "Incorrect output dtype", i, dtype.name, array.dtype.name)
        if array.shape != tuple(like.shape):
            raise refusal(ValueError, "the callback returned an", array, like)
        arrays.append(array)
    return structure.unflatten(arrays)


def io_callback(
    callback: Callable[..., Any], result_shape_dtypes, *args, ordered=False, **kwargs
) -> Any:
    """Like `pure_callback`, but for a function with side effects."""
    untraced(f"it calls {name_of(callback)}()")
    stopped = stop_gradient(tree_map(argument, args))
    if result_shape_dtypes is None:
        for values, named in each_of((stopped, kwargs)):
            callback(*values, **named)
        return None
    return pure_callback(
        callback, result_shape_dtypes, *stopped, vmap_method="sequential", **kwargs
    )
