"""Layer 8 · scipy: nested parameters as one vector for SciPy, and back.

A value is a container (a dict, a list, a tuple, a named tuple, None) or an array: a NumPy array, a
tensor, a number, or a list that contains only numbers. The vector is the concatenation of all
arrays, each in row-major order.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from copy import copy
from numbers import Number
from typing import Any

import numpy as np

from wengert.base.containers import field_names
from wengert.base.ports import PORTS
from wengert.tape.base import LEAF, TensorBase, new_tensor


class Place:
    """The place of one array in the vector.

    Attributes
    ----------
    name: The expression for it: ``x0['weights'][0]``.
    kind: The type of the value: ``"array"``, ``"tensor"`` or ``"number"``.
    shape, start, stop: Its shape, and its range in the vector.
    cls: The class of tensors that stand for it.
    """

    __slots__ = ("cls", "kind", "name", "shape", "start", "stop")

    def __init__(self, name: str, kind: str, shape: tuple[int, ...], start: int, size: int) -> None:
        self.name = name
        self.kind = kind
        self.shape = shape
        self.start = start
        self.stop = start + size
        self.cls: Any = PORTS.tensor

    def tensor(self, array: Any, edge: Any = None) -> Any:
        """Return a tensor over an array of the shape."""
        made = new_tensor(array, edge)
        made.__class__ = self.cls
        return made


class _Container:
    """A dict, list or tuple, with the function that rebuilds it from its parts."""

    __slots__ = ("keys", "make", "parts")

    def __init__(self, make: Callable[[list[Any]], Any], keys: list[Any], parts: list[Any]) -> None:
        self.make = make
        self.keys = keys
        self.parts = parts


def _is_numbers(value: Any) -> bool:
    """Return whether a list holds only numbers and lists of numbers: an array, to NumPy."""
    return all(
        _is_numbers(item)
        if isinstance(item, list | tuple)
        else isinstance(item, Number | np.generic)
        for item in value
    )


def _opened(value: Any) -> tuple[Callable[[list[Any]], Any], list[Any], list[Any]] | None:
    """Return a container's rebuilding function, keys and items; None for an array."""
    kind = type(value)
    if value is None:
        return (lambda items: None), [], []
    if isinstance(value, dict):
        keys = list(value)

        def make(items: list[Any]) -> Any:
            made = copy(value)  # a dict subclass may have more state, like a defaultdict
            made.update(zip(keys, items, strict=True))
            return made

        return make, keys, list(value.values())
    if isinstance(value, tuple) and hasattr(value, "_fields"):
        return (lambda items: kind(*items)), list(range(len(value))), list(value)
    if isinstance(value, list | tuple) and not _is_numbers(value):
        return (lambda items: kind(items)), list(range(len(value))), list(value)
    names = field_names(value)
    if names is not None:
        leaves = [getattr(value, name) for name in names]

        def replaced(items: list[Any]) -> Any:
            made = copy(value)
            for name, item in zip(names, items, strict=True):
                object.__setattr__(made, name, item)
            return made

        return replaced, list(names), leaves
    return None


def leaves_of(value: Any, name: str) -> Iterator[tuple[str, Any]]:
    """Return the arrays of a nested value, in order, each with its name."""
    opened = _opened(value)
    if opened is None:
        yield name, value
        return
    for key, item in zip(opened[1], opened[2], strict=True):
        yield from leaves_of(item, f"{name}[{key!r}]")


def array_of(value: Any, name: str) -> np.ndarray[Any, Any]:
    """Return one array of real numbers as float64, detached from any graph."""
    array = value._payload if isinstance(value, TensorBase) else value
    try:
        array = np.asarray(array)
    except ValueError as error:
        raise TypeError(f"{name} is not an array of numbers: {error}") from error
    if array.dtype.kind == "c":
        raise TypeError(
            f"{name} is complex: SciPy's solvers work on real vectors, so give the real and the "
            "imaginary part as two arrays and put them together in the function"
        )
    if array.dtype.kind not in "fiub":
        raise TypeError(
            f"{name} must be an array, a tensor, a number, or a dict, list or tuple of these; got "
            f"{type(value).__name__}"
        )
    return array.astype(np.float64)


class Nesting:
    """The nesting of some parameters, taken from their first value.

    Parameters
    ----------
    value: The parameters.
    name: Their name in messages.
    at_least_1d: Whether a number counts as an array of one element, as for ``x0`` in SciPy.

    Attributes
    ----------
    places: The arrays, in order.
    size: The number of elements.
    vector: The first value, flat.
    """

    __slots__ = ("_root", "_single", "places", "size", "vector")

    def __init__(self, value: Any, name: str = "x0", at_least_1d: bool = True) -> None:
        self.places: list[Place] = []
        pieces: list[Any] = []
        self.size = 0
        self._root = self._read(value, name, pieces)
        self._single = self.places[0] if isinstance(self._root, Place) else None
        if self._single is not None and at_least_1d and self._single.shape == ():
            self._single.shape = (1,)
            if self._single.kind == "number":
                self._single.kind = "array"
        self.vector = np.concatenate(pieces) if pieces else np.zeros(0)

    def _read(self, value: Any, name: str, pieces: list[Any]) -> Any:
        opened = _opened(value)
        if opened is not None:
            make, keys, items = opened
            parts = [
                self._read(item, f"{name}[{key!r}]", pieces)
                for key, item in zip(keys, items, strict=True)
            ]
            return _Container(make, keys, parts)
        array = array_of(value, name)
        if isinstance(value, TensorBase):
            kind = "tensor"
        else:
            kind = "number" if isinstance(value, Number) else "array"
        place = Place(name, kind, array.shape, self.size, array.size)
        if kind == "tensor" and value._stays:
            place.cls = value.__class__
        self.places.append(place)
        self.size += array.size
        pieces.append(array.reshape(-1))
        return place

    def tensors(self, vector: Any) -> tuple[Any, list[Any]]:
        """Return the parameters as leaves that require a gradient, nested, and as a list."""
        single = self._single
        if single is not None:
            array = np.array(vector, np.float64)
            array = array if array.shape == single.shape else array.reshape(single.shape)
            leaf = single.tensor(array, LEAF)
            return leaf, [leaf]
        leaves: list[Any] = []

        def make(place: Place) -> Any:
            piece = np.array(vector[place.start : place.stop], np.float64)
            leaves.append(place.tensor(piece.reshape(place.shape), LEAF))
            return leaves[-1]

        return self._built(make), leaves

    def values(self, vector: Any) -> Any:
        """Return copies of the parameters in the kinds in which they were given."""

        def make(place: Place) -> Any:
            piece = np.array(vector[place.start : place.stop], np.float64).reshape(place.shape)
            if place.kind == "tensor":
                return place.tensor(piece)
            return float(piece) if place.kind == "number" else piece

        return self._built(make)

    def _built(self, make: Callable[[Place], Any]) -> Any:
        def build(part: Any) -> Any:
            if isinstance(part, Place):
                return make(part)
            return part.make([build(inner) for inner in part.parts])

        return build(self._root)

    def flatten(self, value: Any, what: str) -> np.ndarray[Any, Any]:
        """Flatten a value with this nesting, or an already flat one, to a vector.

        Raises
        ------
        ValueError: If an array has another shape.
        """
        if self._single is None and not isinstance(value, np.ndarray):
            found = list(leaves_of(value, what))
            if len(found) == len(self.places):
                pieces = [array_of(item, name) for name, item in found]
                for (name, _), piece, place in zip(found, pieces, self.places, strict=True):
                    if piece.shape != place.shape:
                        raise ValueError(
                            f"{name} has the shape {piece.shape}, but {place.name} has "
                            f"{place.shape}"
                        )
                return np.concatenate([piece.reshape(-1) for piece in pieces])
        vector = array_of(value, what).reshape(-1)
        if vector.size != self.size:
            raise ValueError(
                f"{what} has {vector.size} elements, but the parameters have {self.size}"
            )
        return vector

    def spread(
        self, value: Any, fill: float, what: str, end: int | None = None
    ) -> np.ndarray[Any, Any]:
        """Expand a value nested like the parameters, with parts left out, to a vector.

        Each array of `value` broadcasts to the parameters' array in its place; None, and keys
        missing in a dict, mean `fill`. If `end` is 0 or 1, there are pairs in place of arrays.
        """
        vector = np.full(self.size, fill)

        def put(part: Any, given: Any, name: str) -> None:
            if given is None:
                return
            if isinstance(part, Place):
                if end is not None:
                    if not isinstance(given, list | tuple) or len(given) != 2:
                        what = f"a pair (low, high) for {part.name}, or None"
                        raise ValueError(f"{name} must be {what}; got {given!r}")
                    given = given[end]
                    if given is None:
                        return
                array = array_of(given, name)
                try:
                    piece = np.broadcast_to(array, part.shape)
                except ValueError as error:
                    raise ValueError(
                        f"{name} has the shape {array.shape}, which does not broadcast to "
                        f"{part.shape}, the shape of {part.name}"
                    ) from error
                vector[part.start : part.stop] = piece.reshape(-1)
                return
            for key, inner, item in self.beside(part, given, name):
                put(inner, item, f"{name}[{key!r}]")

        if isinstance(value, int | float | np.generic):
            vector[:] = float(value)
        else:
            put(self._root, value, what)
        return vector

    @staticmethod
    def beside(part: Any, given: Any, name: str) -> Iterable[tuple[Any, Any, Any]]:
        """Yield each key of a container, with its part and the value that `given` has for it."""
        if isinstance(given, dict):
            unknown = [key for key in given if key not in part.keys]
            if unknown:
                raise ValueError(f"{name} has the key {unknown[0]!r}, which the parameters do not")
            return [
                (k, inner, given.get(k)) for k, inner in zip(part.keys, part.parts, strict=True)
            ]
        if not isinstance(given, list | tuple) or len(given) != len(part.parts):
            raise ValueError(
                f"{name} must be nested as the parameters are: {len(part.parts)} parts, one for "
                f"each of {part.keys}"
            )
        return list(zip(part.keys, part.parts, given, strict=True))

    @property
    def root(self) -> Any:
        """The outermost container, or the place of the only array."""
        return self._root

    def holding(self, index: int) -> str:
        """Return the name of one element of the vector: ``x0['b'][2, 0]``."""
        for place in self.places:
            if index < place.stop:
                inside = np.unravel_index(index - place.start, place.shape or (1,))
                if not place.shape:
                    return place.name
                return f"{place.name}[{', '.join(str(int(i)) for i in inside)}]"
        raise IndexError(index)
