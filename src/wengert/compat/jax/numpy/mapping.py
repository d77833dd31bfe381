"""Layer 9 · compat: functions of `jax.numpy` that map other functions over arrays."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import partial, wraps
from typing import Any

import numpy as np

from wengert.compat.jax.array import asarray
from wengert.compat.jax.batching import vmap
from wengert.compat.jax.checks import axis_in
from wengert.compat.jax.numpy.calling import call, operands, shape_of, table
from wengert.compat.jax.numpy.ufunc_class import ufunc
from wengert.compat.jax.trees import tree_map
from wengert.compat.jax.words import refusal

_ARGUMENT = r"\(\s*(?:\w+\s*(?:,\s*\w+\s*)*)?\)"
_SIGNATURE = re.compile(
    rf"^\s*{_ARGUMENT}(\s*,\s*{_ARGUMENT})*\s*->\s*{_ARGUMENT}(\s*,\s*{_ARGUMENT})*\s*$"
)


def _dimensions(text: str) -> list[tuple[str, ...]]:
    """Return the dimension names of each argument in one half of a signature."""
    return [tuple(re.findall(r"\w+", part)) for part in re.findall(_ARGUMENT, text)]


def _read(signature: str) -> tuple[list[tuple[str, ...]], list[tuple[str, ...]]]:
    if not _SIGNATURE.match(signature):
        raise ValueError(f"not a valid gufunc signature: {signature}")
    given, results = signature.split("->")
    return _dimensions(given), _dimensions(results)


def vectorize(
    pyfunc: Callable[..., Any], *, excluded=frozenset(), signature: str | None = None
) -> Callable[..., Any]:
    """Turn a function of scalars or small arrays into one that broadcasts, by `vmap`.

    Parameters
    ----------
    pyfunc : callable
    excluded : set. The positions of arguments that are passed on unchanged.
    signature : str, optional. The dimensions of the arrays that the function takes and returns,
        such as ``"(n,m),(m)->(n)"``. Default: scalars.

    Examples
    --------
    >>> f = jnp.vectorize(jnp.dot, signature="(n),(n)->()")
    >>> f(jnp.ones((2, 3)), jnp.arange(3.0))
    Array([3., 3.], dtype=float32)
    """
    if any(not isinstance(place, str | int) for place in excluded):
        raise refusal(TypeError, "jax.numpy.vectorize can", excluded)
    if any(isinstance(place, int) and place < 0 for place in excluded):
        raise ValueError(f"excluded={excluded!r} contains negative numbers")

    @wraps(pyfunc)
    def wrapped(*args, **kwargs) -> Any:
        over = [i for i in range(len(args)) if i not in excluded]
        names = [key for key in kwargs if key not in excluded]
        given = operands("vectorize", *[args[i] for i in over], *[kwargs[key] for key in names])
        inner: list[tuple[str, ...]] = (
            [()] * len(given) if signature is None else _read(signature)[0]
        )
        if len(inner) != len(given):
            raise refusal(TypeError, "wrong number of positional", len(inner), len(given))

        def of_parts(*parts) -> Any:
            positional = list(args)
            for i, part in zip(over, parts, strict=False):
                positional[i] = part
            named = dict(zip(names, parts[len(over) :], strict=True))
            return pyfunc(*positional, **{**kwargs, **named})

        outer = _outer_shapes(given, inner, signature)
        common = np.broadcast_shapes(*outer)
        aligned = [(1,) * (len(common) - len(lead)) + lead for lead in outer]
        parts = []
        for x, lead, wide in zip(given, outer, aligned, strict=True):
            # a broadcast axis is dropped, not mapped
            sizes = [n for n, m in zip(wide, common, strict=True) if n == m]
            parts.append(x.reshape((*sizes, *x.shape[len(lead) :])))
        mapped: Callable[..., Any] = of_parts
        for level in reversed(range(len(common))):
            axes = tuple(0 if w[level] == common[level] else None for w in aligned)
            mapped = vmap(mapped, axes)
        return tree_map(asarray, mapped(*parts))

    return wrapped


def _outer_shapes(
    given: list[Any], inner: list[tuple[str, ...]], signature: str | None
) -> list[tuple[int, ...]]:
    """Return the shapes to map over, without the dimensions of the signature."""
    outer = []
    known: dict[str, int] = {}
    for x, dimensions in zip(given, inner, strict=True):
        at = x.ndim - len(dimensions)
        if at < 0:
            raise refusal(ValueError, "input with shape {.shape}", x, dimensions, signature)
        for name, size in zip(dimensions, x.shape[at:], strict=True):
            if known.setdefault(name, size) != size:
                raise refusal(ValueError, "inconsistent size", name, size, known[name], signature)
        outer.append(tuple(x.shape[:at]))
    return outer


def apply_along_axis(func1d: Callable[..., Any], axis: int, arr, *args, **kwargs) -> Any:
    """Apply a function of vectors to the lines of an array along an axis.

    Examples
    --------
    >>> jnp.apply_along_axis(jnp.sum, 0, jnp.ones((2, 3)))
    Array([2., 2., 2.], dtype=float32)
    """
    (x,) = operands("apply_along_axis", arr)
    axis = axis_in(axis, x.ndim)
    lines = call("moveaxis", x, axis, -1, weak=x.weak_type)
    mapped: Callable[..., Any] = lambda line: func1d(line, *args, **kwargs)  # noqa: E731
    for _ in range(x.ndim - 1):
        mapped = vmap(mapped)
    found = asarray(mapped(lines))
    more = found.ndim - (x.ndim - 1)
    places = list(range(x.ndim - 1, found.ndim)), list(range(axis, axis + more))
    return call("moveaxis", found, *places, weak=found.weak_type)


def frompyfunc(func: Callable[..., Any], /, nin: int, nout: int, *, identity=None) -> Any:
    """Turn a function of numbers into a `ufunc` with `reduce`, `accumulate`, `outer`."""
    return ufunc(
        vectorize(func), nin, nout, name=getattr(func, "__name__", "func"), identity=identity
    )


def fromfunction(function: Callable[..., Any], shape, *, dtype=float, **kwargs) -> Any:
    """Apply a function to the coordinates of each element, given as scalars.

    Examples
    --------
    >>> jnp.fromfunction(lambda i: i * jnp.arange(2), (2,), dtype=int)
    Array([[0, 0],
           [0, 1]], dtype=int32)
    """
    sizes = shape_of(shape)
    lines = [
        asarray(np.arange(n).reshape([-1 if i == j else 1 for j in range(len(sizes))]), dtype)
        for i, n in enumerate(sizes)
    ]
    return vectorize(partial(function, **kwargs))(*lines)


NAMES = table(globals())
