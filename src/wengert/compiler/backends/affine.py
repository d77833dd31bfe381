"""Layer 8 · compiler: affine indices of elements in loop counters.

NOTE [index expressions]
The place of an element along one dimension is an `Index`: a constant plus multiples of variables. A
variable is a loop's `Counter`, or an integer that is loaded in the loop (`Looked`, for the index
arrays of gathers). Views (permutations, slices, reversals, most reshapes) map affine indices to
affine indices, so they cost nothing: elements are read from the value that the view shows.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import Any

from wengert.compiler.codegen.code import strides_of


class Counter:
    """The counter of a loop, which runs from 0 to `extent`."""

    __slots__ = ("extent",)

    def __init__(self, extent: int) -> None:
        self.extent = extent

    def __repr__(self) -> str:
        return f"i{id(self) % 1000}<{self.extent}"


class Looked:
    """A position that `node` computes; negative positions count from the end.

    Attributes
    ----------
    node: The expression of the integer.
    extent: The size of the dimension; that nothing lies outside of it is checked elsewhere.
    """

    __slots__ = ("extent", "node")

    def __init__(self, node: Any, extent: int) -> None:
        self.node = node
        self.extent = extent

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Looked) and self.node is other.node and self.extent == other.extent

    def __hash__(self) -> int:
        return hash((id(self.node), self.extent))


Variable = Counter | Looked


class Index:
    """An affine function of variables; equal if constant and terms are."""

    __slots__ = ("_hash", "constant", "terms")

    def __init__(self, constant: int, terms: Iterable[tuple[Variable, int]] = ()) -> None:
        self.constant = constant
        self.terms = tuple(terms)
        self._hash: int | None = None

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Index) or self.constant != other.constant:
            return False
        if len(self.terms) != len(other.terms):
            return False
        return self.terms == other.terms or frozenset(self.terms) == frozenset(other.terms)

    def __hash__(self) -> int:
        if self._hash is None:
            self._hash = hash((self.constant, frozenset(self.terms)))
        return self._hash

    def __repr__(self) -> str:
        return " + ".join([str(self.constant), *(f"{c}*{v!r}" for v, c in self.terms)])

    def plus(self, other: Index) -> Index:
        """The sum."""
        if not other.terms:
            return self if not other.constant else Index(self.constant + other.constant, self.terms)
        terms = dict(self.terms)
        for variable, factor in other.terms:
            terms[variable] = terms.get(variable, 0) + factor
        return Index(
            self.constant + other.constant, [(v, factor) for v, factor in terms.items() if factor]
        )

    def moved(self, by: int) -> Index:
        """Return the index plus a number."""
        return Index(self.constant + by, self.terms) if by else self

    def times(self, factor: int) -> Index:
        """A multiple."""
        if factor == 1:
            return self
        if not factor:
            return ZERO
        return Index(self.constant * factor, [(v, c * factor) for v, c in self.terms])

    def factor(self, variable: Variable) -> int:
        """The coefficient of a variable."""
        for v, c in self.terms:
            if v is variable:
                return c
        return 0

    def is_counter(self, variable: Variable) -> bool:
        """Return whether the index is this variable."""
        return (
            not self.constant
            and len(self.terms) == 1
            and self.terms[0][0] is variable
            and self.terms[0][1] == 1
        )

    def bounds(self) -> tuple[int, int]:
        """Return the least and the largest value."""
        low = high = self.constant
        for variable, factor in self.terms:
            reach = factor * (variable.extent - 1)
            low += min(reach, 0)
            high += max(reach, 0)
        return low, high

    def put(self, known: dict[Counter, Index]) -> Index:
        """Substitute indices for counters."""
        if not any(v in known for v, _ in self.terms):
            return self
        result = Index(self.constant)
        for variable, factor in self.terms:
            new = known.get(variable) if isinstance(variable, Counter) else None
            term = Index(0, [(variable, factor)]) if new is None else new.times(factor)
            result = result.plus(term)
        return result


ZERO = Index(0)
Place = tuple[Index, ...]


def of(variable: Variable) -> Index:
    """A variable as an index."""
    if isinstance(variable, Counter) and variable.extent == 1:
        return ZERO
    return Index(0, [(variable, 1)])


def linear(place: Place, shape: Sequence[int]) -> Index:
    """Return the offset of a place in C order."""
    return weighted(place, strides_of(shape))


def weighted(place: Place, weights: Sequence[int]) -> Index:
    """The sum of multiples of indices."""
    constant = 0
    terms: dict[Variable, int] = {}
    for index, weight in zip(place, weights, strict=True):
        if weight:
            constant += index.constant * weight
            for variable, factor in index.terms:
                terms[variable] = terms.get(variable, 0) + factor * weight
    return Index(constant, [(v, factor) for v, factor in terms.items() if factor])


def place_of(number: Index, shape: Sequence[int]) -> Place | None:
    """Return the place at an offset in C order, or None if it has no affine indices.

    Each term of the offset must move along a single dimension without leaving it.
    """
    if not math.prod(shape):
        return (ZERO,) * len(shape)
    places: list[Index] = []
    rest = number
    for size, stride in zip(shape, strides_of(shape), strict=True):
        if size == 1:
            places.append(ZERO)
            continue
        whole, left = divmod(rest.constant, stride)
        terms = []
        leftover = []
        for variable, factor in rest.terms:
            if factor % stride == 0 and factor:
                terms.append((variable, factor // stride))
            else:
                leftover.append((variable, factor))
        index = Index(whole, terms)
        low, high = index.bounds()
        if low < 0 or high >= size:
            return None
        rest = Index(left, leftover)
        low, high = rest.bounds()
        if low < 0 or high >= stride:
            return None
        places.append(index)
    return tuple(places)
