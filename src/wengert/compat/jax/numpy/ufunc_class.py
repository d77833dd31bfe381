"""Layer 9 · compat: `jax.numpy.ufunc`, a function that works element by element, with methods."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from wengert.compat.jax.array import asarray, made
from wengert.compat.jax.checks import axis_in
from wengert.compat.jax.dtypes import total_dtype
from wengert.compat.jax.numpy.calling import call, checked_dtype, no_out, operands, plain, value_of
from wengert.compat.jax.words import refusal
from wengert.ops import select
from wengert.tape.base import new_tensor
from wengert.tape.record import T


class ufunc:
    """An elementwise function with `reduce`, `accumulate`, `at`, `outer`.

    Attributes
    ----------
    nin, nout, nargs: The numbers of arguments, of results, and of both.
    identity: The neutral element, or None.

    Examples
    --------
    >>> jnp.add.reduce(jnp.arange(4)), jnp.multiply.outer(jnp.arange(2), jnp.arange(3))
    (Array(6, dtype=int32), Array([[0, 0, 0],
           [0, 1, 2]], dtype=int32))
    """

    def __init__(
        self,
        func: Callable[..., Any],
        /,
        nin: int,
        nout: int,
        *,
        name: str | None = None,
        identity=None,
    ) -> None:
        self._func = func
        self.nin, self.nout, self.identity = nin, nout, identity
        label: str = str(name or getattr(func, "__name__", "ufunc"))
        self.__name__ = self.__qualname__ = label
        self.__doc__ = func.__doc__ or f"Compute `numpy.{self.__name__}` on JAX arrays."

    nargs = property(lambda self: self.nin + self.nout)

    def __repr__(self) -> str:
        return f"<jnp.ufunc {self.__name__!r}>"

    def __call__(self, *args, out=None, where=None) -> Any:
        """Compute elementwise."""
        if out is not None:
            raise NotImplementedError(f"out argument of {self!r}: arrays are immutable")
        if where is not None:
            raise refusal(NotImplementedError, "where argument of {0!r}", self)
        if len(args) != self.nin:
            raise TypeError(f"{self!r} takes {self.nin} arguments, but {len(args)} were given")
        return self._func(*args)

    def _check_binary(self, method: str) -> None:
        if self.nin != 2 or self.nout != 1:
            raise refusal(ValueError, "{0} only supported for", method, self)

    def reduce(
        self, a, axis=0, dtype=None, out=None, keepdims=False, initial=None, where=None
    ) -> Any:
        """Combine all elements along axes."""
        self._check_binary("reduce")
        no_out(f"{self.__name__}.reduce", out)
        (x,) = operands(f"{self.__name__}.reduce", a)
        if where is not None and initial is None and self.identity is None:
            raise refusal(ValueError, "reduction operation {.__name__!r}", self)
        if isinstance(axis, tuple) or axis is None:
            axes = sorted(axis_in(i, x.ndim) for i in (range(x.ndim) if axis is None else axis))
        else:
            axes = [axis_in(axis, x.ndim)] if x.ndim else []
        neutral = initial if initial is not None else self.identity
        if where is not None:
            x = made(
                select.where(
                    *map(plain, (asarray(where, bool), x, asarray(neutral, x._payload.dtype)))
                )
            )
        x = self._wide(x, dtype, True)
        for i in reversed(axes):
            parts = list(T.unbind(x, dim=i)) if x.shape[i] else []
            x = self._folded(made(parts), x, i)
            if keepdims:
                x = made(T.unsqueeze(x, dim=i))
        return x if initial is None else self(asarray(initial, x._payload.dtype), x)

    def _wide(self, x, dtype, promote_integers: bool) -> Any:
        """Return the elements in the dtype of results; totals of small integers need a wide one."""
        dtype = checked_dtype(dtype, self.__name__)
        if dtype is None and self.__name__ in ("add", "multiply"):
            dtype = total_dtype(x._payload.dtype, promote_integers)
        return x if dtype is None else x.astype(dtype)

    def _folded(self, parts: list[Any], x, axis: int) -> Any:
        if not parts:
            if self.identity is None:
                raise refusal(ValueError, "zero-size array to reduction", self)
            shape = tuple(n for i, n in enumerate(x.shape) if i != axis)
            return made(new_tensor(np.full(shape, self.identity, x._payload.dtype)))
        result = parts[0]
        for part in parts[1:]:
            result = self(result, part)
        return result

    def accumulate(self, a, axis=0, dtype=None, out=None) -> Any:
        """Return the partial results of `reduce`."""
        self._check_binary("accumulate")
        no_out(f"{self.__name__}.accumulate", out)
        (x,) = operands(f"{self.__name__}.accumulate", a)
        x = self._wide(x, dtype, False)
        parts = made(list(T.unbind(x, dim=axis)))
        steps = parts[:1]
        for part in parts[1:]:
            steps.append(self(steps[-1], part))
        return call("stack", steps, axis)

    def outer(self, A, B, /) -> Any:
        """Apply to all pairs of elements."""
        self._check_binary("outer")
        x, y = operands(f"{self.__name__}.outer", A, B)
        return self(x[(...,) + (None,) * y.ndim], y)

    def at(self, a, indices, b=None, *, inplace=True) -> Any:
        """Apply at indices, which may repeat; returns a new array.

        Raises
        ------
        NotImplementedError: Unless ``inplace=False``: arrays are immutable.
        """
        if inplace:
            raise refusal(NotImplementedError, "ufunc.at: inplace=True")
        (x,) = operands(f"{self.__name__}.at", a)
        if b is None:
            return x.at[indices].set(self(x[indices]))
        quick = {"add": "add", "multiply": "multiply", "minimum": "min", "maximum": "max"}
        if self.__name__ in quick:
            return getattr(x.at[indices], quick[self.__name__])(b)
        if self.__name__ == "subtract":
            return x.at[indices].add(-asarray(b))
        places = np.arange(x.size).reshape(x.shape)[indices]
        values = call("broadcast_to", asarray(b), places.shape)
        flat = x.reshape(-1)
        for place, value in zip(places.ravel(), values.reshape(-1), strict=True):
            flat = flat.at[place].set(self(flat[place], value))
        return flat.reshape(x.shape)

    def reduceat(self, a, indices, axis=0, dtype=None, out=None) -> Any:
        """Reduce the slices between indices."""
        self._check_binary("reduceat")
        no_out(f"{self.__name__}.reduceat", out)
        (x,) = operands(f"{self.__name__}.reduceat", a)
        places = [int(i) for i in value_of(indices, "indices of reduceat")]
        axis = axis_in(axis, x.ndim)
        size, lead = x.shape[axis], (slice(None),) * axis
        if any(not 0 <= i < size for i in places):
            name = self.__name__
            raise IndexError(f"an index of {name}.reduceat is out of bounds [0, {size}): {places}")
        ends = [*places[1:], size]
        x = self._wide(x, dtype, True)
        parts = [
            self.reduce(x[(*lead, slice(i, j))], axis) if i < j else x[(*lead, i)]
            for i, j in zip(places, ends, strict=True)
        ]
        return call("stack", parts, axis)
