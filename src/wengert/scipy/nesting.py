"""Layer 8 · scipy: nested parameters as the one vector that SciPy works on, and back.

A value is a container (a dict, a list, a tuple, a named tuple, None) or an array: a NumPy array, a
tensor, a number, or a list of nothing but numbers, which is an array as it is to NumPy. All arrays
together, each in row-major order, one after another, are the vector.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from copy import copy
from numbers import Number
from typing import Any

import numpy as np

from wengert.base.containers import field_names
from wengert.base.sections import fill_sections
from wengert.tape.base import LEAF, TensorBase, new_tensor


class Place:
    """Where one array lies in the vector.

    Attributes
    ----------
    name: What the user would write for it: ``x0['weights'][0]``.
    kind: ``"array"``, ``"tensor"`` or ``"number"``.
    shape, start, stop: Its shape, and its part of the vector.
    """

    __slots__ = ("kind", "name", "shape", "start", "stop")

    def __init__(self, name: str, kind: str, shape: tuple[int, ...], start: int, size: int) -> None:
        self.name = name
        self.kind = kind
        self.shape = shape
        self.start = start
        self.stop = start + size


class _Container:
    """A dict, list or tuple: how it is made from its parts."""

    __slots__ = ("keys", "make", "parts")

    def __init__(self, make: Callable[[list[Any]], Any], keys: list[Any], parts: list[Any]) -> None:
        self.make = make
        self.keys = keys
        self.parts = parts


def _is_numbers(value: Any) -> bool:
    """Whether a list holds numbers and lists of numbers only: an array, to NumPy."""
    return all(
        _is_numbers(item)
        if isinstance(item, list | tuple)
        else isinstance(item, Number | np.generic)
        for item in value
    )


def _opened(value: Any) -> tuple[Callable[[list[Any]], Any], list[Any], list[Any]] | None:
    """How a container is made, its keys and its items; None for an array."""
    kind = type(value)
    if value is None:
        return (lambda items: None), [], []
    if isinstance(value, dict):
        keys = list(value)

        def make(items: list[Any]) -> Any:
            made = copy(value)  # which may have more to it than its keys, as a defaultdict has
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
    """The arrays of a nested value, in order, each with its name."""
    opened = _opened(value)
    if opened is None:
        yield name, value
        return
    for key, item in zip(opened[1], opened[2], strict=True):
        yield from leaves_of(item, f"{name}[{key!r}]")


def array_of(value: Any, name: str) -> np.ndarray[Any, Any]:
    """One array of real numbers, in float64, cut from any graph."""
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
    """The nesting of some parameters, taken from a first value of them.

    Parameters
    ----------
    value: The parameters.
    name: What messages call them.
    at_least_1d: Whether a number stands for an array of one element, as it does for ``x0`` in
        SciPy.

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
        self.places.append(place)
        self.size += array.size
        pieces.append(array.reshape(-1))
        return place

    def tensors(self, vector: Any) -> tuple[Any, list[Any]]:
        """The parameters as leaves that require a gradient, nested, and in a list."""
        single = self._single
        if single is not None:
            array = np.array(vector, np.float64)
            leaf = new_tensor(array if array.shape == single.shape else array.reshape(single.shape))
            leaf._edge = LEAF
            return leaf, [leaf]
        leaves: list[Any] = []

        def make(place: Place) -> Any:
            piece = np.array(vector[place.start : place.stop], np.float64)
            leaves.append(new_tensor(piece.reshape(place.shape), LEAF))
            return leaves[-1]

        return self._built(make), leaves

    def values(self, vector: Any) -> Any:
        """The parameters as values of the kinds that they were given in, copied."""

        def make(place: Place) -> Any:
            piece = np.array(vector[place.start : place.stop], np.float64).reshape(place.shape)
            if place.kind == "tensor":
                return new_tensor(piece)
            return float(piece) if place.kind == "number" else piece

        return self._built(make)

    def _built(self, make: Callable[[Place], Any]) -> Any:
        def build(part: Any) -> Any:
            if isinstance(part, Place):
                return make(part)
            return part.make([build(inner) for inner in part.parts])

        return build(self._root)

    def flatten(self, value: Any, what: str) -> np.ndarray[Any, Any]:
        """A vector from a value with this nesting, or from a flat one.

        Raises
        ------
        ValueError: If some array of it has another shape.
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

    def spread(self, value: Any, fill: float, what: str) -> np.ndarray[Any, Any]:
        """A vector from a value that is nested as the parameters are, with parts left out.

        Each array of `value` broadcasts to the array of parameters in its place; None, and a key
        that a dict has not, stand for `fill`.
        """
        vector = np.full(self.size, fill)

        def put(part: Any, given: Any, name: str) -> None:
            if given is None:
                return
            if isinstance(part, Place):
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
        """Each key of a container, with the part there and what `given` has for it."""
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
        """The outermost container, or the one place."""
        return self._root

    def holding(self, index: int) -> str:
        """The name of one element of the vector: ``x0['b'][2, 0]``."""
        for place in self.places:
            if index < place.stop:
                inside = np.unravel_index(index - place.start, place.shape or (1,))
                if not place.shape:
                    return place.name
                return f"{place.name}[{', '.join(str(int(i)) for i in inside)}]"
        raise IndexError(index)


fill_sections(globals())
