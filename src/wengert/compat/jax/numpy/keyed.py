"""Layer 9 · compat: typed keys in functions that move elements.

NOTE [keys that are moved]
A typed key is a pair of words, and the last axis of the array of words is not an axis of the keys.
A function that only moves elements is mapped over that axis, so that it sees an array of the keys'
own shape.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from typing import Any

from wengert.compat.jax.batching import vmap
from wengert.compat.jax.trees import tree_flatten, tree_map
from wengert.tape.base import TensorBase

NUMPY = (
    "append=arr,values atleast_1d atleast_2d atleast_3d array_split broadcast_arrays broadcast_to "
    "column_stack concat concatenate delete dsplit dstack empty_like expand_dims flip fliplr "
    "flipud hsplit hstack insert=arr,values matrix_transpose moveaxis permute_dims ravel repeat "
    "reshape roll rollaxis rot90 select=choicelist,default split squeeze stack swapaxes take "
    "take_along_axis tile transpose unstack vsplit vstack where=x,y zeros_like"
)
LAX = (
    "broadcast broadcast_in_dim concatenate dynamic_index_in_dim dynamic_slice "
    "dynamic_slice_in_dim dynamic_update_index_in_dim=operand,update "
    "dynamic_update_slice=operand,update dynamic_update_slice_in_dim=operand,update expand_dims "
    "index_in_dim reshape rev select=on_true,on_false slice slice_in_dim split squeeze stack tile "
    "transpose unstack"
)
"""The functions, each with the parameters that are moved if these are not the first one."""


def _is_keys(x) -> bool:
    return hasattr(x, "words") and not isinstance(x, TensorBase)


def by_words(function: Callable[..., Any], *keys) -> Any:
    """Return the result for arrays of keys of a function that only moves elements."""
    return tree_map(type(keys[0]), vmap(function, -1, -1)(*[key.words for key in keys]))


def _moving(function: Callable[..., Any], names: list[str]) -> Callable[..., Any]:
    @functools.wraps(function)
    def moved(*args, **kwargs) -> Any:
        try:
            return function(*args, **kwargs)
        except TypeError:
            bound = inspect.signature(function).bind(*args, **kwargs)
            places = names or [*bound.arguments][:1]
            given = [bound.arguments.get(name) for name in places]
            keys, structure = tree_flatten(given, _is_keys)
            if not keys or not all(map(_is_keys, keys)):
                raise

        def of_words(*words) -> Any:
            bound.arguments.update(zip(places, structure.unflatten(words), strict=True))
            return function(*bound.args, **bound.kwargs)

        return by_words(of_words, *keys)

    return moved


def with_keys(functions: dict[str, Any], moving: str) -> dict[str, Any]:
    """Return functions by name, of which those that only move elements also take keys."""
    rows = [row.partition("=") for row in moving.split()]
    return functions | {
        name: _moving(functions[name], moved.split(",") if moved else []) for name, _, moved in rows
    }
