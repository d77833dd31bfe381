"""Layer 9 · compat: nested containers of arrays as vectors, and back."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as _np

import wengert.compat.autograd.numpy as np
from wengert.compat.autograd.boxes import cannot, getval
from wengert.compat.kit.namespaces import defined


def flatten(value) -> tuple[Any, Callable[[Any], Any]]:
    """Flatten a nested container of arrays into a vector, and return the inverse function too.

    Parameters
    ----------
    value : array, number, or nested lists, tuples and dicts of them. The parts of dicts are taken
        in the sorted order of their keys.

    Returns
    -------
    vector : array. One-dimensional, of one dtype.
    unflatten : callable. Takes a vector of this length, and returns a container with the structure
        and shapes of `value`. Both directions are differentiable.

    Examples
    --------
    >>> import numpy as np
    >>> from wengert.compat.autograd.misc import flatten
    >>> vector, unflatten = flatten({"b": 3.0, "a": [np.ones(2), 2.0]})
    >>> vector
    array([1., 1., 2., 3.])
    >>> unflatten(2 * vector)
    {'b': array(6.), 'a': [array([2., 2.]), array(4.)]}
    """
    parts: list[Any] = []
    make = _taken(value, parts, [0])
    vector = np.concatenate([np.ravel(part) for part in parts]) if parts else np.array([])
    return vector, make


def _taken(value, parts: list[Any], place: list[int]) -> Callable[[Any], Any]:
    """Append the arrays of `value` to `parts`, and return the function that rebuilds it from a
    vector.
    """
    if isinstance(value, dict):
        makers = {key: _taken(value[key], parts, place) for key in sorted(value)}
        return lambda vector: {key: makers[key](vector) for key in value}
    if isinstance(value, list | tuple):
        each = [_taken(part, parts, place) for part in value]
        kind: Any = type(value)
        if hasattr(kind, "_make"):
            return lambda vector: kind._make(make(vector) for make in each)
        return lambda vector: kind(make(vector) for make in each)
    array = _np.asarray(getval(value))
    if array.dtype.kind not in "biufc":
        raise cannot(value, ": arrays, numbers, and lists, tuples and dicts of them")
    shape, dtype = array.shape, array.dtype
    start, stop = place[0], place[0] + array.size
    place[0] = stop
    parts.append(value)

    def make(vector) -> Any:
        part = np.reshape(vector[start:stop], shape)
        kind = part.dtype
        if kind == dtype or dtype.kind in "biu":
            return part
        if kind.kind == "c" and dtype.kind == "f":
            part = np.real(part)
        return part.astype(dtype)

    return make


def flatten_func(
    func: Callable[..., Any], example
) -> tuple[Callable[..., Any], Callable[[Any], Any], Any]:
    """Turn a function of containers into a function of vectors.

    Parameters
    ----------
    func : callable. Takes a container like `example`, and perhaps more arguments, and returns a
        container.
    example: An example of the first argument.

    Returns
    -------
    function : callable. Takes a vector in place of the container, and returns a vector.
    unflatten : callable. Converts a vector to a container.
    vector : array. `example` as a vector.

    Examples
    --------
    >>> from wengert.compat.autograd.misc.flatten import flatten_func
    >>> f, unflatten, x = flatten_func(lambda p: [2 * p["a"], p["b"]], {"a": 1.0, "b": 2.0})
    >>> f(x)
    array([2., 2.])
    """
    vector, unflatten = flatten(example)

    def function(x, *args) -> Any:
        return flatten(func(unflatten(x), *args))[0]

    return function, unflatten, vector


__all__ = defined(globals())
