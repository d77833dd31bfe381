"""Layer 9 · compat: plain Python within programs: callbacks, transfers, `jax.debug`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from wengert.base.sections import fill_sections
from wengert.compat.jax.array import Array, asarray, made
from wengert.compat.jax.custom import is_followed
from wengert.compat.jax.dtypes import canonical_dtype
from wengert.compat.jax.lax_elementwise import ELEMENTWISE
from wengert.compat.jax.tracing import argument, name_of
from wengert.compat.jax.trees import tree_flatten, tree_leaves, tree_map
from wengert.compat.jax.values import differs, innermost, is_lifted
from wengert.tape.levels import move
from wengert.tape.modes import untraced

__all__ = [
    "block_until_ready",
    "device_get",
    "device_put",
    "io_callback",
    "pure_callback",
    "values_of",
]


def device_put(x: Any, device: Any = None, **options: Any) -> Any:
    """The leaves of a pytree as arrays."""
    return tree_map(argument, x)


def device_get(x: Any) -> Any:
    """The arrays of a pytree as NumPy's arrays."""
    return tree_map(lambda leaf: np.asarray(leaf) if isinstance(leaf, Array) else leaf, x)


def block_until_ready(x: Any) -> Any:
    """The pytree itself: all of it has been computed."""
    return x


def values_of(x: Any) -> Any:
    """The leaves of a pytree as NumPy's arrays, whatever transforms follow them."""

    def leaf(value: Any) -> Any:
        if not isinstance(value, Array):
            return np.asarray(value) if isinstance(value, int | float | complex) else value
        return np.asarray(innermost(value))

    return tree_map(leaf, x)


def pure_callback(
    callback: Callable[..., Any],
    result_shape_dtypes: Any,
    *args: Any,
    sharding: Any = None,
    vmap_method: str | None = None,
    vectorized: Any = None,
    **kwargs: Any,
) -> Any:
    """What a function of NumPy's arrays gives, as arrays: a constant to derivatives.

    Parameters
    ----------
    callback : callable. Takes NumPy's arrays, and returns what `result_shape_dtypes` says.
    result_shape_dtypes: A pytree of `jax.ShapeDtypeStruct`, or of arrays.
    vmap_method : {"sequential", "expand_dims", "broadcast_all"}, optional. What is done under
        `vmap`: a call for each element, or one for the whole batch.

    Raises
    ------
    ValueError: If an argument is differentiated by: give the function a derivative, by
        `jax.custom_jvp` or `jax.custom_vjp`.

    Examples
    --------
    >>> jax.pure_callback(np.sin, jax.ShapeDtypeStruct((), "float32"), 0.0)
    Array(0., dtype=float32)
    """
    untraced(f"it calls {name_of(callback)}()")
    given = tree_map(argument, (args, kwargs))
    leaves, structure = tree_flatten(given)
    if any(map(is_followed, leaves)):
        raise ValueError(
            "Pure callbacks do not support JVP. Please use `jax.custom_jvp` to use callbacks while "
            "taking gradients."
        )
    if not any(differs(leaf.payload) for leaf in leaves):
        values, named = structure.unflatten([np.asarray(leaf) for leaf in leaves])
        return _results(callback(*values, **named), result_shape_dtypes, ())
    if vmap_method is None:
        raise NotImplementedError(
            "vmap is only supported for pure_callback with vmap_method: 'sequential', "
            "'expand_dims' or 'broadcast_all'"
        )
    return _batched(callback, result_shape_dtypes, leaves, structure, vmap_method)


def _batched(
    callback: Callable[..., Any], shapes: Any, leaves: list[Any], structure: Any, method: str
) -> Any:
    """The results of a callback for a whole batch."""
    levels = [
        leaf.payload.owner
        for leaf in leaves
        if is_lifted(leaf.payload) and leaf.payload.owner.size is not None
    ]
    level = max(levels, key=lambda each: each.number)
    whole = []
    for leaf in leaves:
        mapped = is_lifted(leaf.payload) and leaf.payload.owner is level
        if not mapped and method == "expand_dims":
            whole.append(made(asarray(leaf)[None]))
        else:
            whole.append(made(move("unwrap", leaf, level, True)))
    if any(differs(leaf.payload) for leaf in whole):
        raise NotImplementedError(
            "pure_callback under several vmaps: map once, over arrays with the axes as one"
        )
    rows = [np.asarray(leaf) for leaf in whole]
    if method == "sequential":
        results = []
        for i in range(level.size or 0):
            values, named = structure.unflatten([row[i] for row in rows])
            results.append(_results(callback(*values, **named), shapes, ()))
        columns = [asarray(list(parts)) for parts in zip(*map(tree_leaves, results), strict=True)]
    else:
        values, named = structure.unflatten(rows)
        columns = tree_leaves(_results(callback(*values, **named), shapes, (level.size or 0,)))
    inside = [made(move("wrap", column, level, True)) for column in columns]
    return tree_flatten(shapes)[1].unflatten(inside)


def _results(value: Any, shapes: Any, batch: tuple[int, ...]) -> Any:
    """What a callback gave, as arrays of the shapes and dtypes that were announced."""
    wanted, structure = tree_flatten(shapes)
    found = structure.flatten_up_to(value)
    arrays = []
    for leaf, like in zip(found, wanted, strict=True):
        array = asarray(np.asarray(leaf), canonical_dtype(like.dtype))
        if array.shape != (*batch, *like.shape):
            raise ValueError(
                f"the callback returned an array of shape {array.shape}, but "
                f"{(*batch, *like.shape)} was announced by result_shape_dtypes"
            )
        arrays.append(array)
    return structure.unflatten(arrays)


def io_callback(
    callback: Callable[..., Any],
    result_shape_dtypes: Any,
    *args: Any,
    ordered: bool = False,
    **kwargs: Any,
) -> Any:
    """As `pure_callback`, of a function with effects."""
    untraced(f"it calls {name_of(callback)}()")
    stopped = ELEMENTWISE["stop_gradient"](tree_map(argument, args))
    if result_shape_dtypes is None:
        callback(*values_of(stopped), **values_of(kwargs))
        return None
    return pure_callback(callback, result_shape_dtypes, *stopped, **kwargs)


fill_sections(globals())
