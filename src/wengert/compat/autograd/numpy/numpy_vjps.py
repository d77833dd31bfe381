"""Layer 9 · compat: helpers for custom rules: sums over broadcast axes, ..."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as _np

import wengert.compat.autograd.numpy as np
from wengert.compat.autograd.boxes import plain
from wengert.compat.autograd.numpy.rows import metadata
from wengert.compat.kit.namespaces import defined


def unbroadcast(x, target_meta: tuple[Any, ...], broadcast_idx=0) -> Any:
    """Sum a cotangent over the axes along which its argument was broadcast.

    Parameters
    ----------
    x : array
    target_meta : tuple. The result of `metadata` for the argument.
    broadcast_idx : int. The first axis to sum over if `x` has more axes than the argument.

    Examples
    --------
    >>> import numpy as np
    >>> from wengert.compat.autograd.numpy.numpy_vjps import unbroadcast
    >>> from wengert.compat.autograd.numpy.numpy_wrapper import metadata
    >>> unbroadcast(np.ones((2, 3)), metadata(np.ones((3,))))
    array([2., 2., 2.])
    """
    shape, ndim, _, is_complex = target_meta
    while np.ndim(x) > ndim:
        x = np.sum(x, axis=broadcast_idx)
    for axis, size in enumerate(shape):
        if size == 1:
            x = np.sum(x, axis=axis, keepdims=True)
    return np.real(x) if np.iscomplexobj(x) and not is_complex else x


def unbroadcast_f(target, f: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """Wrap a function of a cotangent to sum its results down to the shape of `target`.

    Examples
    --------
    >>> import numpy as np
    >>> from wengert.compat.autograd.numpy.numpy_vjps import unbroadcast_f
    >>> unbroadcast_f(1.0, lambda g: 2 * g)(np.ones(3))
    np.float64(6.0)
    """
    target_meta = metadata(target)
    return lambda g: unbroadcast(f(g), target_meta)


def repeat_to_match_shape(g, shape, dtype, axis, keepdims: bool) -> Any:
    """Expand the cotangent of a reduction to its argument's shape, and count the reduced elements.

    Examples
    --------
    >>> import numpy as np
    >>> from wengert.compat.autograd.numpy.numpy_vjps import repeat_to_match_shape
    >>> repeat_to_match_shape(np.ones(2), (2, 3), float, 1, False)
    (array([[1., 1., 1.],
           [1., 1., 1.]]), 3)
    """
    if shape == ():
        return g, 1
    axes = tuple(range(len(shape))) if axis is None else axis
    axes = axes if isinstance(axes, tuple | list) else (axes,)
    kept = list(shape)
    for one in axes:
        kept[one] = 1
    count = int(_np.prod(shape)) // max(int(_np.prod(kept)), 1)
    return np.reshape(g, kept) + _np.zeros(shape, dtype=dtype), count


def replace_zero(x, val) -> Any:
    """Return `x` with another value where it is 0."""
    return np.where(plain(x) != 0, x, val)


def balanced_eq(x, z, y) -> Any:
    """Return 1 where only x equals z, a half where x and y both do, and 0 elsewhere."""
    return (plain(x) == plain(z)) / (1.0 + (plain(x) == plain(y)))


def match_complex(target, x) -> Any:
    """Return `x` as complex if `target` is complex, else as real."""
    wanted, given = np.iscomplexobj(target), np.iscomplexobj(x)
    if wanted == given:
        return x
    return x + 0j if wanted else np.real(x)


__all__ = defined(globals())
