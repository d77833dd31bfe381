"""Layer 9 · compat: functions of `jax.numpy` that make indices, grids and windows; and files."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from wengert.compat.jax.array import asarray as converted
from wengert.compat.jax.array import promote
from wengert.compat.jax.numpy.calling import call, documented, finished, static, value_of
from wengert.compat.kit.namespaces import functions_of


def _window(name: str) -> Callable[..., Any]:
    def function(*args) -> Any:
        return converted(getattr(np, name)(*[value_of(x, name).item() for x in args]), float)

    return function


def _places(name: str) -> Callable[..., Any]:
    def function(*args, **kwargs) -> Any:
        kwargs.pop("size", None)
        numbers = [x if callable(x) else static(x, name) for x in args]
        return finished(getattr(np, name)(*numbers, **kwargs))

    return function


def _places_from(name: str) -> Callable[..., Any]:
    def function(arr, k: int = 0) -> Any:
        sizes = arr.shape
        if len(sizes) != 2:
            raise ValueError("Only 2-D inputs are accepted")
        return finished(getattr(np, name)(sizes[-2], k=k, m=sizes[-1]))

    return function


def diag_indices_from(arr) -> Any:
    """The indices of the diagonal of an array."""
    if arr.ndim < 2 or len(set(arr.shape)) > 1:
        raise ValueError("All dimensions of input must be of equal length")
    return finished(np.diag_indices(arr.shape[0], arr.ndim))


def load(file, *args, **kwargs) -> Any:
    """The array, or arrays, of a file that `save` or `savez` wrote."""
    found = np.load(file, *args, **kwargs)
    return converted(found) if isinstance(found, np.ndarray) else found


def save(file, arr, allow_pickle: bool = True) -> None:
    """Write an array to a file."""
    np.save(file, np.asarray(arr), allow_pickle=allow_pickle)


def savez(file, *args, allow_pickle: bool = True, **kwds) -> None:
    """Write several arrays to one file."""
    named: Any = {key: np.asarray(value) for key, value in kwds.items()}
    # numbers are never pickled, and NumPy 2.0 would take the keyword for the name of an array
    np.savez(file, *map(np.asarray, args), **named)


class _Grid:
    """``mgrid`` and ``ogrid``: coordinates by slices."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.__doc__ = f"Coordinates by slices, as `numpy.{name}` gives them: ``{name}[0:3, 0:2]``."

    def __getitem__(self, key) -> Any:
        found = getattr(np, self.name)[key]
        return [converted(x) for x in found] if isinstance(found, tuple) else converted(found)


class _Joined:
    """``r_`` and ``c_``: arrays, numbers and slices joined along an axis."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.__doc__ = (
            f"Arrays, numbers and slices joined, as by `numpy.{name}`: ``{name}[x, 0, 1:4]``."
        )

    def __getitem__(self, key) -> Any:
        parts = key if isinstance(key, tuple) else (key,)
        if any(isinstance(part, str) for part in parts):
            raise NotImplementedError(
                f"jnp.{self.name}[...] with a text: write jnp.concatenate or jnp.stack"
            )
        given = promote(
            *[converted(np.r_[part] if isinstance(part, slice) else part) for part in parts]
        )
        if self.name == "c_":
            return call("column_stack", given)
        return call("concatenate", [call("atleast_1d", part) for part in given])


PLACES: dict[str, Callable[..., Any]] = {
    **functions_of(globals()),
    "diag_indices": _places("diag_indices"),
    "mask_indices": _places("mask_indices"),
    "tril_indices": _places("tril_indices"),
    "tril_indices_from": _places_from("tril_indices"),
    "triu_indices": _places("triu_indices"),
    "triu_indices_from": _places_from("triu_indices"),
    **{name: _window(name) for name in ("bartlett", "blackman", "hamming", "hanning", "kaiser")},
}
for _name, _function in PLACES.items():
    documented(_function, _name)
PLACES |= {name: _Grid(name) for name in ("mgrid", "ogrid")}  # type: ignore[misc]
PLACES |= {name: _Joined(name) for name in ("r_", "c_")}  # type: ignore[misc]
