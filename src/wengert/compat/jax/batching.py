"""Layer 9 · compat: `vmap` under JAX's name, and its support for named axes."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from contextvars import ContextVar
from typing import Any

import numpy as np

import wengert.func as func
from wengert.compat.jax.array import asarray
from wengert.compat.jax.checks import axis_in
from wengert.compat.jax.tracing import Results, argument, check_callable, labelled, name_of, wraps
from wengert.compat.jax.trees import PyTreeDef, leaves_with_paths, tree_flatten
from wengert.compat.jax.words import refusal
from wengert.interp.levels import Level, levels_of
from wengert.tape.modes import current_mode

_AXES: ContextVar[dict[Any, Level] | None] = ContextVar("axes", default=None)


def axis_level(name) -> Level:
    """Return the level of the `vmap` with this axis name.

    Raises
    ------
    NameError: If no active `vmap` has it.
    """
    known = _AXES.get() or {}
    if name not in known:
        raise refusal(NameError, "unbound axis name: {0}", name)
    return known[name]


def is_mapped(level: Level) -> bool:
    """Return whether the `vmap` of a level is active and has an axis name."""
    return level in (_AXES.get() or {}).values()


def _spread(axes, tree, name: str) -> list[Any]:
    """Return the entry of `axes`, a tree prefix of `tree`, for each leaf of `tree`."""
    entries, structure = tree_flatten(axes, lambda entry: entry is None)
    if not all(entry is None or type(entry) is int for entry in entries):
        raise refusal(TypeError, "{} must be an int, None", name, axes)
    try:
        parts = structure.flatten_up_to(tree, name)
    except ValueError as error:
        raise refusal(ValueError, "{} specification must be", name, error) from None
    both = zip(entries, parts, strict=True)
    return [entry for entry, part in both for _ in range(tree_flatten(part)[1].num_leaves)]


_ENTRIES = (
    "vmap in_axes must be an int, None, or a tuple of entries corresponding to the positional "
    "arguments passed to the function, but got "
)


def _mapped(leaf, axis: int) -> tuple[Any, int]:
    """Return a mapped leaf as an array, and its axis, counted from 0."""
    array = argument(leaf)
    ndim = array._payload.ndim
    if not -ndim <= axis < ndim:
        least, shape = max(axis + 1, -axis), tuple(array._payload.shape)
        raise refusal(ValueError, "vmap was requested", axis, least, ndim, shape)
    return array, axis % ndim


def _owners(fun: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> list[str]:
    """Return the place of each leaf of the arguments, for errors."""
    try:
        names = [
            p.name
            for p in inspect.signature(fun).parameters.values()
            if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)
        ]
    except (TypeError, ValueError):
        names = []
    names += [f"args[{i}]" for i in range(len(names), len(args))]
    heads = [*(f"argument {name}" for name in names[: len(args)])]
    heads += [f"kwargs[{key!r}]" for key in sorted(kwargs)]
    parts = [*args, *(kwargs[key] for key in sorted(kwargs))]
    return [
        "".join([head, *map(str, path)])
        for head, part in zip(heads, parts, strict=True)
        for path, _ in leaves_with_paths(part, None, False)[0]
    ]


def _inconsistent(found: list[tuple[Any, int]], where: list[str], axis_size: int | None) -> str:
    """Say which axes to map over have which sizes, the most frequent one first."""
    by_size: dict[int, list[str]] = {}
    for (array, axis), owner in zip(found, where, strict=True):
        text = f"axis {axis} of {owner} of type {array.aval.str_short().removeprefix('~')}"
        by_size.setdefault(array._payload.shape[axis], []).append(text)
    lines = []
    for size, texts in sorted(by_size.items(), key=lambda pair: -len(pair[1])):
        count, least = len(texts), min(map(len, by_size.values()))
        amount = "one axis" if count == 1 else f"{'most' if count > least else 'some'} axes"
        many = "" if count == 1 else f" ({count} of them)"
        eg = "" if count == 1 else ", e.g."
        lines.append(f"  * {amount}{many} had size {size}{eg or ':'} {texts[0]}")
    if axis_size is not None:
        lines.append(f"  * the given axis_size, or the number of devices, is {axis_size}")
    joined = ";\n".join(lines)
    return f"vmap got inconsistent sizes for array axes to be mapped:\n{joined}"


def vmap(
    fun: Callable[..., Any],
    in_axes=0,
    out_axes=0,
    axis_name=None,
    axis_size: int | None = None,
    spmd_axis_name=None,
    sum_match=False,
) -> Callable[..., Any]:
    """Vectorize `fun` over an axis of its arguments.

    Inside, `fun` sees arrays without the mapped axis; each operation on them is one operation on
    the whole batch.

    Parameters
    ----------
    %(pytree_function)s
    in_axes : int, None, or a pytree of these. The axis to map over of each positional argument;
        with None, each element gets the whole argument. Keyword arguments are mapped over their
        first axis.
    out_axes : int, None, or a pytree of these. The position of the mapped axis in the results; None
        for a result that does not depend on it.
    axis_name : hashable, optional. The name of the axis, for `jax.lax.psum` and other collectives.
    axis_size : int, optional. The size of the axis; needed if no argument is mapped.

    Returns
    -------
    callable: Takes arguments with the mapped axis, and returns results with it.

    Raises
    ------
    ValueError: If axes do not fit the arguments, or differ in size.

    Examples
    --------
    >>> x = jax.numpy.arange(6.0).reshape(2, 3)
    >>> jax.vmap(jax.numpy.dot)(x, x)
    Array([ 5., 50.], dtype=float32)
    >>> jax.vmap(lambda a, b: a * b, in_axes=(0, None))(jax.numpy.arange(3), 2)
    Array([0, 2, 4], dtype=int32)
    """
    check_callable(fun)
    entry = tuple(in_axes) if isinstance(in_axes, list) else in_axes
    if entry is not None and type(entry) not in (int, tuple):
        raise TypeError(f"{_ENTRIES}{in_axes}.")

    @wraps(fun)
    def mapped(*args, **kwargs) -> Any:
        if isinstance(entry, tuple) and len(entry) != len(args):
            raise ValueError(f"{_ENTRIES}len(in_axes)={len(entry)}, len(args)={len(args)}")
        leaves, structure = tree_flatten((args, kwargs))
        axes = [*_spread(entry, args, "vmap in_axes"), *_spread(0, kwargs, "vmap in_axes")]
        found, places = [], []
        for i, (leaf, axis) in enumerate(zip(leaves, axes, strict=True)):
            if axis is not None:
                found.append(_mapped(leaf, axis))
                places.append(i)
        sizes = {int(array._payload.shape[axis]) for array, axis in found}
        if axis_size is not None:
            sizes.add(axis_size)
        if not sizes:
            raise refusal(ValueError, "vmap must have at least")
        if len(sizes) > 1:
            where = _owners(fun, args, kwargs)
            raise ValueError(_inconsistent(found, [where[i] for i in places], axis_size))
        size = sizes.pop()
        return _run(fun, leaves, structure, found, places, size, out_axes, axis_name)

    mapped.__doc__ = (
        f"Vectorized version of {name_of(fun)}. Takes similar arguments as {name_of(fun)} but with "
        "additional array axes over which it is mapped."
    )
    if fun.__doc__:
        mapped.__doc__ += f"\n\nOriginal documentation:\n\n{fun.__doc__}"
    return mapped


def _run(
    fun: Callable[..., Any],
    leaves: list[Any],
    structure: PyTreeDef,
    found: list[tuple[Any, int]],
    places: list[int],
    size: int,
    out_axes,
    axis_name,
) -> Any:
    results = Results()
    ends: list[Any] = []
    # an extra mapped argument, which defines the batch if no argument is mapped
    whole = [asarray(np.arange(size)), *(array for array, _ in found)]

    def call(_, *tensors) -> Any:
        mode = current_mode()
        assert mode is not None
        level = mode.levels[-1]
        given = list(leaves)
        for place, tensor, (array, _) in zip(places, tensors, found, strict=True):
            given[place] = labelled(tensor, array.__class__)
        args, kwargs = structure.unflatten(given)
        token = None
        if axis_name is not None:
            token = _AXES.set({**(_AXES.get() or {}), axis_name: level})
        try:
            value = fun(*args, **kwargs)
        finally:
            if token is not None:
                _AXES.reset(token)
        outputs, others = results.take(value, "Output")
        spread = _spread(out_axes, value, "vmap out_axes")
        order = [*results.places, *results.tensor_places]
        for place, out in zip(order, [*outputs, *others], strict=True):
            end, ndim = spread[place], out._payload.ndim + 1
            if end is not None:
                axis_in(end, ndim)
            elif level.number in levels_of(out._payload):
                raise refusal(ValueError, "at vmap out_axes, got axis")
            ends.append(end)
        return [*outputs, *others]

    transformed = func.vmap(
        call, in_dims=(0, *(axis for _, axis in found)), out_dims=ends, randomness="different"
    )
    made = transformed(*whole)
    count = len(results.places)
    return results.give(made[:count], made[count:])
