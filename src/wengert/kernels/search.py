"""Layer 1 · kernels: positions in sorted sequences, membership, and bins."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from wengert.kernels.protocols import beside, full

# the number of values per sequence up to which all sequences are searched in lockstep
_FEW = 32
# up to so many comparisons, comparing all pairs is faster than a search
_SMALL = 4096


def searchsorted(sorted_sequence: Any, self: Any, right: bool) -> Any:
    """Return the positions at which to insert values into sorted sequences."""
    side: Any = "right" if right else "left"
    size = sorted_sequence.shape[-1]
    missing = False
    if sorted_sequence.dtype.kind == "f" and size:
        last = sorted_sequence[..., -1]
        missing = bool(np.count_nonzero(last != last))
    if sorted_sequence.ndim == 1:
        found: Any = sorted_sequence.searchsorted(self, side)
    else:
        rows = sorted_sequence.reshape(math.prod(sorted_sequence.shape[:-1]), size)
        values = self.reshape(len(rows), self.shape[-1])
        if not missing and rows.size * values.shape[1] <= _SMALL:
            found = _counted(rows, values, right)
        elif not missing and len(rows) > _FEW > values.shape[1]:
            found = _bisected(rows, values, right)
        else:
            found = np.empty(values.shape, np.int64)
            for i, row in enumerate(rows):
                found[i] = row.searchsorted(values[i], side)
        found = found.reshape(self.shape)
    # a NaN belongs at the end, after other NaNs
    return np.where(self != self, size, found) if missing else found


def _after(met: Any, sought: Any, right: bool) -> Any:
    """Return whether a value belongs before an element of the sequence; a NaN never does."""
    return met > sought if right else met >= sought


def _counted(rows: Any, values: Any, right: bool) -> Any:
    """Return the number of elements of its row that come before each value."""
    after = _after(rows[:, None, :], values[:, :, None], right)
    return rows.shape[1] - np.add.reduce(after, -1, np.int64)


def _bisected(rows: Any, values: Any, right: bool) -> Any:
    """Run a binary search for every value in its row, in lockstep."""
    lead = np.arange(len(rows))[:, None]
    low = np.zeros(values.shape, np.int64)
    size = rows.shape[1]
    step = 1 << size.bit_length()
    while step > 1:
        step >>= 1
        middle = low + step - 1
        met = rows[lead, np.minimum(middle, size - 1)]
        low += step * (~_after(met, values, right) & (middle < size))
    return low


def isin(elements: Any, test_elements: Any, invert: bool) -> Any:
    """Return which elements are among the test elements."""
    if elements.__class__ is np.ndarray and elements.size * test_elements.size <= _SMALL:
        found = np.logical_or.reduce(elements[..., None] == test_elements.reshape(-1), -1)
        return ~found if invert else found
    return np.isin(elements, test_elements, invert=invert)


def nonzero_static(self: Any, size: int, fill_value: int) -> Any:
    """Return the first `size` positions of nonzero elements, padded with `fill_value`."""
    found = np.argwhere(self)[:size]
    result = full(self, (size, self.ndim), fill_value, np.int64)
    result[: len(found)] = found
    return result


# -- bins -----------------------------------------------------------------------------------------


def bincount(self: Any, size: int) -> Any:
    """Count the occurrences of each number from 0 to the largest, at least of `size` numbers."""
    return np.bincount(self, minlength=size)


def check_range(low: float, high: float) -> None:
    """Refuse bounds that are not finite."""
    if not (math.isfinite(low) and math.isfinite(high)):
        raise RuntimeError(f"torch.histc: range of [{low:g}, {high:g}] is not finite")


def histc(self: Any, bins: int, low: float, high: float) -> Any:
    """Count the elements in each of several bins of equal width between two bounds.

    If these are equal, they are the least and the greatest element; a range of 0 becomes one of 2.
    """
    wide = self if self.dtype.itemsize > 2 else self.astype(np.float32)
    flat, number = wide.reshape(-1), wide.dtype.type
    if low == high and self.size:
        low, high = float(flat.min()), float(flat.max())
        check_range(low, high)
    else:
        flat = flat[(flat >= number(low)) & (flat <= number(high))]
    if low == high:
        low, high = low - 1, high + 1
    first, last = number(low), number(high)
    found = ((flat - first) * number(bins) / (last - first)).astype(np.int64)
    np.minimum(found, bins - 1, out=found)
    return np.bincount(found, minlength=bins).astype(self.dtype)


def histogram(self: Any, edges: tuple[Any, ...], even: bool) -> Any:
    """Count the rows of coordinates in each bin; see `bin_numbers`."""
    columns = self.reshape(-1, len(edges)).T
    sizes = tuple([len(limits) - 1 for limits in edges])
    numbers = _numbers(columns[:, _inside(columns, edges)], edges, even)
    counts = np.bincount(numbers, minlength=math.prod(sizes))
    return counts.astype(self.dtype).reshape(sizes)


def bin_numbers(self: Any, edges: tuple[Any, ...], even: bool) -> Any:
    """Return the number of the bin of each row of coordinates, or of each element if 1-d.

    Parameters
    ----------
    edges: For each column the edges of its bins; the last bin contains its upper edge.
    even: Whether bins have equal widths, so that a division finds them.

    Returns
    -------
    array of int64
        Bins are numbered in C order; points in none get a number of their own after all others.
    """
    columns = self.reshape(-1, len(edges)).T
    inside = _inside(columns, edges)
    none = math.prod([len(limits) - 1 for limits in edges])
    found = full(self, len(inside), none, np.int64)
    found[inside] = _numbers(columns[:, inside], edges, even)
    return found


def _inside(columns: Any, edges: tuple[Any, ...]) -> Any:
    """Return a mask of the points that are in some bin."""
    inside: Any = True
    for column, limits in zip(columns, edges, strict=True):
        inside &= (column >= limits[0]) & (column <= limits[-1])
    return inside


def _numbers(columns: Any, edges: tuple[Any, ...], even: bool) -> Any:
    """Return the numbers of the bins of points that are all inside."""
    number: Any = 0
    for column, limits in zip(columns, edges, strict=True):
        count = len(limits) - 1
        if even:
            found = _divided(column, limits)
        else:
            # the last bin includes its upper edge
            found = np.searchsorted(beside(column, limits), column, "right") - 1
            found = np.minimum(found, count - 1)
        number = number * count + found
    return number


def _divided(column: Any, limits: Any) -> Any:
    """Return the bins of equal width that elements are in, corrected for rounding at edges."""
    count = len(limits) - 1
    low, high = limits[0], limits[-1]
    found = ((column - low) * column.dtype.type(count) / (high - low)).astype(np.int64)
    np.minimum(found, count - 1, out=found)
    limits = beside(column, limits)
    found -= column < limits[found]
    found += (column >= limits[found + 1]) & (found < count - 1)
    return found
