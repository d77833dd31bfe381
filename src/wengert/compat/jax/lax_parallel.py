"""Layer 9 · compat: functions of `jax.lax` over a named axis, that of a `vmap`.

A sum over the axis is the same for each element of the batch, and is differentiated as a sum.
Derivatives taken inside the `vmap` are refused: a cotangent there belongs to one element, and those
of the others are unknown.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

import wengert.compat.jax.numpy as jnp
from wengert.compat.jax.array import asarray, made
from wengert.compat.jax.batching import axis_level, is_mapped
from wengert.compat.jax.tracing import argument
from wengert.compat.jax.trees import tree_map
from wengert.compat.jax.words import refusal
from wengert.compat.kit.namespaces import functions_of
from wengert.compat.kit.signatures import named
from wengert.interp.levels import Level
from wengert.tape.levels import Move, move


def _levels(axis_name) -> list[Level]:
    names = axis_name if isinstance(axis_name, list | tuple) else (axis_name,)
    return [axis_level(name) for name in names]


def _refuse_groups(name: str, groups) -> None:
    if groups is not None:
        raise refusal(NotImplementedError, "lax.{} with axis_index_groups", name)


def _whole(x, level: Level) -> Any:
    """Return all elements of a batch along a new first axis, the same for each of them."""
    return made(move("unwrap", x, level, True), x.weak_type)


class _Collected(Move):
    """The node where the values of a batch become one value shared by all elements."""

    __slots__ = ()

    def apply(self, g, keep: bool, edges: tuple[Any, ...]) -> tuple[Any, ...]:
        """Return the cotangents of the elements, as seen from outside the `vmap`."""
        if is_mapped(self.level):
            raise refusal(NotImplementedError, "the gradient of a collective")
        return super().apply(g, keep, edges)

    apply_in = apply


def _collected(x, level: Level) -> Any:
    whole = _whole(x, level)
    if whole is not x and whole._edge.__class__ is Move:
        whole._edge.__class__ = _Collected
    return whole


def _over(name: str, rule: Callable[[Any], Any]) -> Callable[..., Any]:
    def collective(x, axis_name, *, axis_index_groups=None) -> Any:
        _refuse_groups(name, axis_index_groups)
        levels = _levels(axis_name)

        def leaf(value) -> Any:
            result = argument(value)
            for level in levels:
                result = rule(_collected(result, level))
            return result

        return tree_map(leaf, x)

    return named(collective, name, f"Compute `jax.lax.{name}` over the named axis of a `vmap`.")


def all_gather(x, axis_name, *, axis_index_groups=None, axis=0, tiled=False) -> Any:
    """Gather the elements along the named axis of a `vmap`: stacked, or joined if `tiled`."""
    _refuse_groups("all_gather", axis_index_groups)
    (level,) = _levels(axis_name)

    def leaf(value) -> Any:
        whole = _collected(argument(value), level)
        if not tiled:
            return jnp.moveaxis(whole, 0, axis)
        return jnp.concatenate(list(whole), axis=axis)

    return tree_map(leaf, x)


def axis_index(axis_name) -> Any:
    """Return the index of this element along the named axis of a `vmap`."""
    (level,) = _levels(axis_name)
    line = asarray(np.arange(level.size or 0))
    return made(move("wrap", line, level, True))


def axis_size(axis_name) -> int:
    """Return the size of the named axis of a `vmap`."""
    sizes = [level.size for level in _levels(axis_name)]
    return int(np.prod([size for size in sizes if size is not None]))


def ppermute(x, axis_name, perm: Sequence[tuple[int, int]]) -> Any:
    """Permute the elements along the named axis of a `vmap`, with zeros where nothing arrives."""
    (level,) = _levels(axis_name)

    def leaf(value) -> Any:
        whole = _whole(argument(value), level)
        sent = jnp.zeros_like(whole)
        for source, target in perm:
            sent = sent.at[target].set(whole[source])
        return made(move("wrap", sent, level, True), whole.weak_type)

    return tree_map(leaf, x)


def all_to_all(
    x, axis_name, split_axis: int, concat_axis: int, *, axis_index_groups=None, tiled=False
) -> Any:
    """Exchange parts: element i receives part i along `split_axis` of every element."""
    _refuse_groups("all_to_all", axis_index_groups)
    (level,) = _levels(axis_name)

    def leaf(value) -> Any:
        whole = _whole(argument(value), level)
        count, size = whole.shape[0], whole.shape[split_axis + 1]
        if size % count or not (tiled or size == count):
            raise refusal(ValueError, "all_to_all requires the", count, size)
        shape = whole.shape
        parts = whole.reshape(
            (*shape[: split_axis + 1], count, size // count, *shape[split_axis + 2 :])
        )
        sent = jnp.moveaxis(parts, split_axis + 1, 0)  # receiver, sender, ...
        if not tiled:
            sent = jnp.squeeze(sent, split_axis + 2)
        sent = jnp.moveaxis(sent, 1, concat_axis + 1)
        if tiled:
            around = sent.shape
            joined = around[concat_axis + 1] * around[concat_axis + 2]
            sent = sent.reshape((*around[: concat_axis + 1], joined, *around[concat_axis + 3 :]))
        return made(move("wrap", sent, level, True), whole.weak_type)

    return tree_map(leaf, x)


def psum_scatter(x, axis_name, *, scatter_dimension=0, axis_index_groups=None, tiled=False) -> Any:
    """Sum over the elements of the batch, and give each element its part of the sum."""
    options = {"axis_index_groups": axis_index_groups, "tiled": tiled}
    parts = all_to_all(x, axis_name, scatter_dimension, scatter_dimension, **options)
    if not tiled:
        return tree_map(lambda part: jnp.sum(part, axis=scatter_dimension), parts)
    count = axis_size(axis_name)

    def summed(part) -> Any:
        at, shape = scatter_dimension, part.shape
        return jnp.sum(part.reshape((*shape[:at], count, -1, *shape[at + 1 :])), axis=at)

    return tree_map(summed, parts)


NAMES: dict[str, Callable[..., Any]] = {
    **functions_of(globals()),
    "pmax": _over("pmax", lambda whole: jnp.max(whole, axis=0)),
    "pmean": _over("pmean", lambda whole: jnp.mean(whole, axis=0)),
    "pmin": _over("pmin", lambda whole: jnp.min(whole, axis=0)),
    "pswapaxes": lambda x, axis_name, axis, **options: all_to_all(
        x, axis_name, axis, axis, **options
    ),
    "pbroadcast": lambda x, axis_name, source: tree_map(
        lambda part: part[source], all_gather(x, axis_name)
    ),
    "pcast": lambda x, axis_name=None, **options: x,
    "pvary": lambda x, axis_name=None: x,
    "psum": _over("psum", lambda whole: jnp.sum(whole, axis=0)),
}
