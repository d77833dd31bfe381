"""Layer 1 · kernels: points of a grid: their positions in planes, and the weights of the elements
around them.

NOTE [sampling]
A point's position along a dimension splits into an integer and a fraction t in [0, 1). The elements
around it (the taps: one, two or four) have weights that are polynomials in t; the weight of an
element of the plane is the product of those of its dimensions. The planes are first extended, with
zeros or as the padding mode says, so that one index locates all elements around a point: element k
is at that index in a view that is shifted by k's offset. If there are few points for a large plane,
the indices of each element are mapped to the plane instead.
"""

from __future__ import annotations

import itertools
from functools import lru_cache
from math import isfinite
from typing import Any

import numpy as np

Shape = tuple[int, ...]
_A = -0.75
_WEIGHTS: dict[str, tuple[tuple[float, ...], ...]] = {
    "nearest": ((1.0,),),
    "bilinear": ((1.0, -1.0), (0.0, 1.0)),
    "bicubic": (
        (0.0, _A, -2 * _A, _A),
        (1.0, 0.0, -(_A + 3), _A + 2),
        (0.0, -_A, 2 * _A + 3, -(_A + 2)),
        (0.0, 0.0, _A, -_A),
    ),
}


def powers(mode: str, order: int) -> list[tuple[float, ...]]:
    """Return the coefficients of t, ascending, of the weights' derivatives of an order."""
    found = list(_WEIGHTS[mode])
    for _ in range(order):
        found = [tuple([i * c for i, c in enumerate(p)][1:]) for p in found]
    return found


def valued(polynomial: tuple[float, ...], t: Any) -> Any:
    """Evaluate a polynomial at t; return None for 0, a number if it is constant."""
    if not any(polynomial):
        return None
    if not any(polynomial[1:]):
        return polynomial[0]
    if polynomial == (0.0, 1.0):
        return t
    if polynomial == (1.0, -1.0):
        return 1 - t
    total: Any = polynomial[-1]
    for c in polynomial[-2::-1]:
        total = total * t
        if c:
            total += c
    return total


# -- the dimensions -------------------------------------------------------------------------------


class Layout:
    """The map from positions in dimensions of `sizes` to indices. Arrays have shape (d, 1, 1).

    Attributes
    ----------
    is_open: Whether positions may be outside of the planes.
    scale, shift: The affine map from a grid's numbers to positions.
    last: The position of the last element.
    first, span: The first border at which positions are reflected, and the distance to the other.
    low, high: The bounds of the integer parts; None if the padding keeps positions within.
    period: The period of the integer parts, or None.
    sources: The source of each element of an extended dimension, -1 for a zero.
    before: The number of added elements before the first.
    extended: The sizes of the extended dimensions.
    offsets: The elements around a point, relative to its integer part.
    base: The index in an extended plane of the first of these, for a point at 0.
    shifts: The offsets of the others from that index.
    """

    __slots__ = (
        "base",
        "before",
        "extended",
        "first",
        "high",
        "is_open",
        "last",
        "low",
        "mode",
        "offsets",
        "padding",
        "period",
        "scale",
        "shifts",
        "sizes",
        "sources",
        "span",
    )

    def __init__(
        self, sizes: Shape, mode: str, padding: str, align_corners: bool, dtype: Any
    ) -> None:
        def column(values: Any) -> Any:
            return np.array([*values], dtype).reshape(-1, 1, 1)

        self.sizes = sizes
        self.mode = mode
        self.padding = padding
        self.is_open = padding == "zeros" or mode == "bicubic"
        self.scale = column([(n - align_corners) / 2 for n in sizes])
        self.last = column([n - 1 for n in sizes])
        self.first = dtype.type(0 if align_corners else -0.5)
        self.span = column([n - align_corners for n in sizes])
        self.low: Any = None
        self.high: Any = None
        self.period: Any = None
        if padding == "zeros":
            # enough zeros that a point beyond the last relevant position reads only zeros
            before = {"nearest": 1, "bilinear": 2, "bicubic": 4}[mode]
            least = -1 if mode == "nearest" else 1 - before
            self.low, self.high = dtype.type(least), column([n + before // 4 for n in sizes])
            if mode == "bilinear":
                self.low = dtype.type(-2)
            self.sources = [_marked(np.arange(-before, n + before), n) for n in sizes]
        elif mode != "bicubic":
            # the element after the last one has the weight 0
            before = 0
            self.sources = [_marked(np.arange(n + (mode == "bilinear")), n) for n in sizes]
        elif padding == "border":
            before = 4
            self.low, self.high = dtype.type(-3), column([n + 1 for n in sizes])
            self.sources = [np.clip(np.arange(-4, n + 4), 0, n - 1) for n in sizes]
        else:
            before = 1
            periods = [max(2 * (n - align_corners), 1) for n in sizes]
            self.period = column(periods)
            self.sources = [
                _reflected(np.arange(-1, period + 3), n, align_corners)
                for period, n in zip(periods, sizes, strict=True)
            ]
        self.before = before
        self.extended = tuple([len(source) for source in self.sources])
        taps = range(-1, 3) if mode == "bicubic" else range(len(_WEIGHTS[mode]))
        self.offsets = list(itertools.product(taps, repeat=len(sizes)))
        self.base = 0
        self.shifts = [0] * len(self.offsets)
        for d, n in enumerate(self.extended):
            self.base = self.base * n + before + taps[0]
            self.shifts = [
                shift * n + offset[d] - taps[0]
                for shift, offset in zip(self.shifts, self.offsets, strict=True)
            ]

    def within(self, position: Any) -> Any:
        """Reflect positions at the borders, and clamp them."""
        away = np.abs(position - self.first)
        twice = 2 * np.maximum(self.span, 1)
        away -= twice * np.floor(away / twice)
        # to the far border and back
        away -= self.span
        back = self.span - np.abs(away, out=away) + self.first
        np.maximum(back, 0, out=back)
        return np.minimum(back, self.last, out=back)

    def raw(self, numbers: Any) -> Any:
        """Return the positions of a grid's numbers, before padding is applied."""
        # in PyTorch's order of operations: rounding decides whether a point is on an element
        position = numbers + 1
        position *= self.scale
        if self.first:
            position += self.first
        if not isfinite(np.add.reduce(position, axis=None)):
            if self.is_open:
                # points at NaN have no sample
                return np.where(np.isfinite(position), position, np.nan)
            far = 4.0 * max(self.sizes) + 8
            # NaN counts as outside, before the first element
            position = np.nan_to_num(position, nan=-far, posinf=far, neginf=-far)
        return position

    def position(self, numbers: Any) -> Any:
        """Return the positions of a grid's numbers, after padding is applied."""
        position = self.raw(numbers)
        if self.is_open:
            return position
        if self.padding == "border":
            np.maximum(position, 0, out=position)
            return np.minimum(position, self.last, out=position)
        return self.within(position)

    def turn(self, numbers: Any) -> Any:
        """Return the derivative of `position`: 0 where clamped, negated where reflected.

        At the border itself it is 0, as in PyTorch. It broadcasts to the numbers.
        """
        if self.is_open:
            return self.scale
        position = self.raw(numbers)
        turn: Any = self.scale
        if self.padding == "reflection":
            away = position - self.first
            twice = 2 * np.maximum(self.span, 1)
            turned = np.abs(away)
            turned -= twice * np.floor(turned / twice)
            turn = turn * np.sign(away) * np.sign(self.span - turned)
            position = self.within(position)
        return turn * ((position > 0) & (position < self.last))

    def split(self, position: Any) -> tuple[Any, Any]:
        """Return indices into the extended dimensions, and the fractions."""
        whole = np.rint(position) if self.mode == "nearest" else np.floor(position)
        rest = None if self.mode == "nearest" else position - whole
        if self.period is not None:
            np.remainder(whole, self.period, out=whole)
            np.fmax(whole, 0, out=whole)
        elif self.low is not None:
            np.fmax(whole, self.low, out=whole)
            np.minimum(whole, self.high, out=whole)
        return whole.astype(np.intp), rest


def _marked(places: Any, n: int) -> Any:
    return np.where((places >= 0) & (places < n), places, -1)


def _reflected(places: Any, n: int, align_corners: bool) -> Any:
    if align_corners and n == 1:
        return np.zeros_like(places)
    period = 2 * (n - align_corners)
    at = places % period
    back = period - at - (not align_corners)
    return np.where(at < n, at, back)


@lru_cache(maxsize=256)
def layout_of(
    sizes: Shape, mode: str, padding: str, align_corners: bool, dtype: np.dtype[Any]
) -> Layout:
    """Return the layout of planes of `sizes`."""
    return Layout(sizes, mode, padding, align_corners, dtype)


# -- points ---------------------------------------------------------------------------------------


class Points:
    """The indices and weights of points of a grid, given in the shape (d, N, P)."""

    __slots__ = ("dense", "index", "layout", "rests")

    def __init__(self, numbers: Any, layout: Layout, dense: bool) -> None:
        self.layout = layout
        self.dense = dense
        self.index, self.rests = layout.split(layout.position(numbers))
        if dense:
            total = self.index[0]
            for d in range(1, len(self.index)):
                total *= layout.extended[d]
                total += self.index[d]
            self.index = total

    def weights(self, orders: Shape) -> list[Any]:
        """Return each element's weight, differentiated along the dimensions given; None for 0."""
        mode = self.layout.mode
        each = [
            [valued(p, None if self.rests is None else self.rests[d]) for p in powers(mode, order)]
            for d, order in enumerate(orders)
        ]
        return [_times(factors) for factors in itertools.product(*each)]

    def places(self, offset: Shape) -> tuple[Any, Any]:
        """Return the positions of an element in the plane itself, and where it does not exist."""
        total: Any = 0
        none: Any = False
        layout = self.layout
        for index, source, n, step in zip(
            self.index, layout.sources, layout.sizes, offset, strict=True
        ):
            place = source[index + (step + layout.before)]
            none = none | (place < 0)
            total = total * n + np.maximum(place, 0)
        return total, none


def _times(factors: tuple[Any, ...]) -> Any:
    total: Any = 1.0
    for factor in factors:
        if factor is None:
            return None
        total = factor if isinstance(total, float) and total == 1 else total * factor
    return total
