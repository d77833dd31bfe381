"""Layer 9 · compat: functions of `jax.numpy` that choose, order, search and count.

NOTE [static sizes]
Where the size of NumPy's result depends on values (`nonzero`, `unique`, ...), JAX takes ``size=``:
a longer result is truncated, a shorter one is padded. Within a `vmap` it is required.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from wengert.compat.jax.array import asarray, made
from wengert.compat.jax.checks import axis_in, broadcast
from wengert.compat.jax.dtypes import default_dtype
from wengert.compat.jax.indexing import Places, absent, checked_mode
from wengert.compat.jax.numpy.calling import (
    as_operands,
    call,
    check_arrays,
    finished,
    no_out,
    operands,
    pair,
    plain,
    refuse_writing,
    sizes_of,
    table,
    value_of,
)
from wengert.compat.jax.words import refusal
from wengert.ops import select as choice
from wengert.tape.record import T


def _truth(x) -> Any:
    return x if x._payload.dtype.kind == "b" else made(T.ne(x, 0))


def where(condition, x=None, y=None, /, *, size: int | None = None, fill_value=None) -> Any:
    """Return `x` where a condition holds and `y` elsewhere, or the indices where it holds.

    Examples
    --------
    >>> jnp.where(jnp.arange(3) > 1, 10.0, jnp.zeros(3))
    Array([ 0.,  0., 10.], dtype=float32)
    """
    if x is None and y is None:
        check_arrays("where", condition)
        return nonzero(condition, size=size, fill_value=fill_value)
    if x is None or y is None:
        check_arrays("where", condition, x, y)
    if size is not None or fill_value is not None:
        raise refusal(ValueError, "size and fill_value arguments")
    check_arrays("where", condition, x, y)
    holds = _truth(asarray(condition))
    a, b = pair(x, y)
    shapes = [part._payload.shape for part in (holds, a, b)]
    if any(shape != shapes[0] and shape for shape in shapes):
        broadcast(*shapes, of=" of where")
    return made(choice.where(plain(holds), plain(a), plain(b)), a.weak_type)


def select(condlist, choicelist, default=0) -> Any:
    """Choose each element from the choice of the first condition that holds."""
    if len(condlist) != len(choicelist):
        raise refusal(ValueError, "condlist must have length", len(condlist), len(choicelist))
    if not len(condlist):
        raise ValueError("condlist must be non-empty")
    holds = operands("select", *condlist)
    *choices, result = as_operands("select", *choicelist, default)
    for condition, chosen in zip(reversed(holds), reversed(choices), strict=True):
        result = where(condition, chosen, result)
    return result


def piecewise(x, condlist, funclist, *args, **kw) -> Any:
    """Apply a separate function where each condition holds.

    All functions are called on all elements, so a function also receives values for which its
    condition does not hold.
    """
    (x,) = operands("piecewise", x)
    several = isinstance(condlist, list | tuple)
    holds = [asarray(c, bool) for c in (condlist if several else asarray(condlist))]
    if not several and sizes_of(condlist) == tuple(x.shape):
        holds = [asarray(condlist, bool)]
    if len(funclist) == len(holds) + 1:
        *funclist, result = funclist
    elif len(funclist) == len(holds):
        result = 0
    else:
        n = len(holds)
        raise refusal(ValueError, "with {0} condition(s)", n, n + 1, len(funclist))

    def of(function) -> Any:
        return asarray(
            function(x, *args, **kw) if callable(function) else function, x._payload.dtype
        )

    found = of(result)
    for condition, function in zip(holds, funclist, strict=True):  # the last one that holds
        found = where(condition, of(function), found)
    return call("broadcast_to", found, tuple(x.shape))


def sized(places, size: int | None, fill) -> Any:
    """Truncate or pad integers to a size."""
    if size is not None:
        places = places[:size]
        places = np.concatenate([places, np.full(size - len(places), fill, places.dtype)])
    return places


def nonzero(a, *, size: int | None = None, fill_value=None) -> tuple[Any, ...]:
    """Return the indices of the elements that are not 0, as one array per dimension.

    Parameters
    ----------
    size : int, optional. The number of indices to return: a longer result is truncated, a shorter
        one is padded with `fill_value`, 0.

    Examples
    --------
    >>> jnp.nonzero(jnp.array([0, 5, 0]), size=2, fill_value=-1)
    (Array([ 1, -1], dtype=int32),)
    """
    (x,) = operands("nonzero", a)
    if not x.ndim:
        raise refusal(ValueError, "Calling nonzero on 0d arrays")
    fills = fill_value if isinstance(fill_value, tuple) else (fill_value or 0,) * x.ndim
    if size is not None and not isinstance(x._payload, np.ndarray | np.generic):
        return _batched_nonzero(x, int(size), fills)
    found = np.nonzero(value_of(x, "size"))
    return tuple(
        finished(sized(places, size, int(fill)).astype(default_dtype("i")))
        for places, fill in zip(found, fills, strict=True)
    )


def _batched_nonzero(x, size: int, fills) -> tuple[Any, ...]:
    """Like `nonzero`, for a mask that differs within a batch; running counts give the indices."""
    holds = _truth(x).reshape(-1)
    so_far = call("cumsum", holds.astype(int))
    places = call("searchsorted", so_far, asarray(np.arange(1, size + 1)))
    found = []
    inside = made(T.lt(places, holds.size))
    for stride, length, fill in zip(_strides(x.shape), x.shape, fills, strict=True):
        found.append(where(inside, places // stride % length, int(fill)).astype(default_dtype("i")))
    return tuple(found)


def _strides(sizes) -> list[int]:
    strides = [1]
    for size in reversed(sizes[1:]):
        strides.append(strides[-1] * size)
    return strides[::-1]


def argwhere(a, *, size: int | None = None, fill_value=None) -> Any:
    """Return the indices of the elements that are not 0, one in each row."""
    (x,) = operands("argwhere", a)
    if not x.ndim:
        return asarray(np.zeros((int(value_of(x, "size") != 0), 0)), default_dtype("i"))
    return call("stack", list(nonzero(x, size=size, fill_value=fill_value)), -1)


def flatnonzero(a, *, size: int | None = None, fill_value=None) -> Any:
    """Return the indices, in the flattened array, of the elements that are not 0."""
    (x,) = operands("flatnonzero", a)
    return nonzero(x.reshape(-1), size=size, fill_value=fill_value)[0]


def take(
    a,
    indices,
    axis: int | None = None,
    out=None,
    mode: str | None = None,
    unique_indices: bool = False,
    indices_are_sorted: bool = False,
    fill_value=None,
) -> Any:
    """Take elements along an axis; out-of-bounds indices give NaN (see `mode`, `fill_value`).

    Parameters
    ----------
    mode : str, optional. The treatment of out-of-bounds indices: ``"fill"`` returns `fill_value`
        (NaN; the least integer), ``"clip"`` the nearest element, ``"wrap"`` takes the index modulo
        the size.
    """
    no_out("take", out)
    x, at = operands("take", a, indices)
    if axis is None:
        x, axis = x.reshape(-1), 0
    if at._payload.dtype.kind not in "iu":
        raise refusal(TypeError, "take requires integer indices", at)
    if mode == "raise":
        raise NotImplementedError("The 'raise' mode to jnp.take is not supported.")
    if mode not in (None, "fill", "wrap", "clip"):
        raise ValueError(f"Invalid mode '{mode}' for np.take")
    dim = axis_in(axis, x.ndim)
    # as in NumPy, negative indices are clipped to the first element
    return _read(x, (slice(None),) * dim + (at,), mode, fill_value, mode != "clip")


def _read(x, index, mode: str | None, fill_value, wrap_negative: bool = True) -> Any:
    places = Places(x.shape, index, checked_mode(mode, "fill"), wrap_negative)
    missing = absent(x._payload.dtype) if fill_value is None else fill_value
    return made(places.of(plain(x), missing), x.weak_type)


def _lines(x, axis: int, at) -> Any:
    """Return an index with separate positions along an axis for each line of an array."""
    sizes = np.broadcast_shapes(
        *[tuple(1 if i == axis else n for i, n in enumerate(part.shape)) for part in (x, at)]
    )
    index = []
    for i in range(x.ndim):
        if i == axis:
            wide = tuple(at.shape[i] if j == axis else n for j, n in enumerate(sizes))
            index.append(call("broadcast_to", at, wide))
        else:
            # a broadcast line is read at index 0
            n = np.arange(sizes[i]) if x.shape[i] != 1 else np.zeros(sizes[i], int)
            index.append(n.reshape([-1 if i == j else 1 for j in range(x.ndim)]))
    return tuple(index)


def take_along_axis(
    arr,
    indices,
    axis: int | None = -1,
    mode: str | None = None,
    fill_value=None,
    *,
    wrap_negative_indices: bool | None = None,
) -> Any:
    """Take elements along an axis, with separate indices for each line."""
    x, at = operands("take_along_axis", arr, indices)
    if at._payload.dtype.kind not in "iu":
        raise refusal(TypeError, "take_along_axis indices", at)
    if axis is None:
        x, axis = x.reshape(-1), 0
        at = at.reshape(-1)
    if x.ndim != at.ndim:
        raise refusal(ValueError, "indices and arr must have", at, x)
    wraps = wrap_negative_indices is not False
    return _read(x, _lines(x, axis_in(axis, x.ndim), at), mode, fill_value, wraps)


def put_along_axis(
    arr, indices, values, axis: int | None, inplace: bool = True, *, mode=None
) -> Any:
    """Return the array with values put along an axis, with separate indices for each line."""
    if inplace:
        refuse_writing("put_along_axis")
    x, at = operands("put_along_axis", arr, indices)
    sizes = x.shape
    if axis is None:
        x, axis = x.reshape(-1), 0
        at = at.reshape(-1)
    return x.at[_lines(x, axis_in(axis, x.ndim), at)].set(values, mode=mode).reshape(sizes)


def put(a, ind, v, mode: str | None = None, *, inplace: bool = True) -> Any:
    """Return the array with values put at indices of the flattened array."""
    if inplace:
        refuse_writing("put")
    x, at, new = operands("put", a, ind, v)
    at, new = at.reshape(-1), new.reshape(-1)
    if not at.size or not new.size:
        return x
    new = new[asarray(np.arange(at.size) % new.size)]
    flat = x.reshape(-1)
    if mode == "clip":
        at = call("clip", at, 0, x.size - 1)
    return flat.at[at].set(new, mode=mode or "clip").reshape(x.shape)


def place(arr, mask, vals, *, inplace: bool = True) -> Any:
    """Return the array with values put, in order, where a mask holds."""
    if inplace:
        refuse_writing("place")
    x, holds, new = operands("place", arr, mask, vals)
    if holds.size != x.size:
        raise ValueError("place: arr and mask must have the same size")
    new = new.reshape(-1)
    if not new.size:
        raise ValueError("place: vals must not be empty")
    (places,) = nonzero(holds.reshape(-1))
    new = new[asarray(np.arange(places.size) % new.size)]
    return x.reshape(-1).at[places].set(new).reshape(x.shape)


def fill_diagonal(a, val, wrap: bool = False, *, inplace: bool = True) -> Any:
    """Return the array with values on its diagonal."""
    if inplace:
        raise NotImplementedError("JAX arrays are immutable, must use inplace=False")
    if wrap:
        raise NotImplementedError("wrap=True is not implemented, must use wrap=False")
    x, new = operands("fill_diagonal", a, val)
    if x.ndim < 2:
        raise ValueError("array must be at least 2-d")
    n = min(x.shape)
    if new.ndim and new.size < n:
        new = call("resize", new, (n,))
    at = np.arange(n)
    return x.at[(at,) * x.ndim].set(new.reshape(-1)[:n] if new.ndim else new)


def compress(
    condition, a, axis: int | None = None, *, size: int | None = None, fill_value=0, out=None
) -> Any:
    """Return the slices along an axis where a condition holds."""
    no_out("compress", out)
    holds, x = operands("compress", condition, a)
    if axis is None:
        x, axis = x.reshape(-1), 0
    if holds.ndim != 1:
        raise ValueError("condition must be a 1D array")
    count = x.shape[axis]
    (places,) = nonzero(holds[:count], size=size, fill_value=count)
    return take(x, places, axis, mode="fill", fill_value=fill_value)


def extract(condition, arr, *, size: int | None = None, fill_value=0) -> Any:
    """Return the elements where a condition holds."""
    holds, x = operands("extract", condition, arr)
    return compress(holds.reshape(-1), x.reshape(-1), size=size, fill_value=fill_value)


def choose(a, choices, out=None, mode: str = "raise") -> Any:
    """Choose each element from the array whose index is given."""
    no_out("choose", out)
    (x,) = operands("choose", a)
    given = as_operands("choose", *choices)
    if mode == "raise":
        at = value_of(x, "the mode 'raise' of choose")
        if at.size and (at.min() < 0 or at.max() >= len(given)):
            raise ValueError("invalid entry in choice array: give mode='clip' or 'wrap'")
    elif mode == "wrap":
        x = x % len(given)
    result = given[0]
    for i, one in enumerate(given[1:], 1):
        # indices beyond the last choice take the last: 'clip'
        result = where(x >= i, one, result)
    return call("broadcast_to", result, np.broadcast_shapes(tuple(x.shape), tuple(result.shape)))


NAMES = table(globals(), "sized")
