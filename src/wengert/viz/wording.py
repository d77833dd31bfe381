"""Layer 9 · viz: the text of values, shapes and sizes in a picture."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

TIMES = "\u00d7"
"""The multiplication sign, before a number of iterations."""
_FEW = 6
_DETAIL = 200
_SUBSCRIPTS = str.maketrans("0123456789", "₀₁₂₃₄₅₆₇₈₉")


def number(value: Any) -> str:
    """Format one element, with five digits: ``1.3863``, ``-3``, ``1+2j``, ``nan``, ``True``."""
    value = value.item() if isinstance(value, np.generic) else value
    if isinstance(value, complex):
        imaginary = "nan" if math.isnan(value.imag) else f"{value.imag:+.5g}"
        sign = "+" if imaginary[0] not in "+-" else ""
        return f"{value.real:.5g}{sign}{imaginary}j"
    return f"{value:.5g}" if isinstance(value, float) else str(value)


def brief(value: Any) -> str:
    """Format an array in a few characters: its elements if they are few, else a summary."""
    array = np.asarray(value)
    if array.ndim == 0:
        return number(array[()])
    if array.size <= _FEW:
        return _nested(array)
    return _summary(array)


def step_text(value: Any) -> str:
    """Format an array within a sentence: `brief`, with a summary in parentheses."""
    return brief(value) if np.size(value) <= _FEW else f"({brief(value)})"


def _nested(array: Any) -> str:
    if array.ndim == 0:
        return number(array[()])
    return f"[{', '.join(_nested(part) for part in array)}]"


def _summary(array: Any) -> str:
    """Return the range, the mean and the number of non-finite elements."""
    kind = array.dtype.kind
    if kind == "b":
        return f"{count_text(int(array.sum()))} of {count_text(array.size)} true"
    if kind not in "fiu":
        sizes = np.abs(array)
        return f"{count_text(array.size)} elements, largest size {number(sizes.max())}"
    wild = 0
    if kind == "f":
        finite = array[np.isfinite(array)]
        wild = array.size - finite.size
    else:
        finite = array
    parts = []
    if finite.size:
        with np.errstate(all="ignore"):
            mean = finite.mean(dtype=np.float64)
        parts.append(f"{number(finite.min())} … {number(finite.max())}, mean {number(mean)}")
    if wild:
        nans = int(np.isnan(array).sum())
        parts += [f"{count_text(nans)} nan"] * bool(nans)
        parts += [f"{count_text(wild - nans)} inf"] * bool(wild - nans)
    return ", ".join(parts)


def full(value: Any) -> str:
    """Format an array in detail: all elements up to a limit, and a summary."""
    array = np.asarray(value)
    text = np.array2string(array, precision=6, threshold=_DETAIL, edgeitems=3, max_line_width=80)
    return text if array.size <= _FEW else f"{text}\n{_summary(array)}"


def shape_text(shape: Sequence[int] | None) -> str:
    """Format a shape as Python does, or ``?`` if it is not known."""
    return "?" if shape is None else str(tuple(shape))


def count_text(count: int) -> str:
    """Format a count in groups of three digits: ``2 000``."""
    return f"{count:,}".replace(",", "\u202f")


def bytes_text(count: int) -> str:
    """Format a number of bytes: ``24 B``, ``1.5 MiB``."""
    if count < 1024:
        return f"{count} B"
    size = float(count)
    for unit in ("KiB", "MiB", "GiB"):
        size /= 1024
        if size < 1024:
            return f"{size:.3g} {unit}"
    return f"{size / 1024:.3g} TiB"


def listed(names: Iterable[str], most: int = 4) -> str:
    """Return names in the order of their first occurrence, each with its number of occurrences."""
    counts: dict[str, int] = {}
    for name in names:
        counts[name] = counts.get(name, 0) + 1
    parts = [
        name if count == 1 else f"{name} {TIMES} {count_text(count)}"
        for name, count in counts.items()
    ]
    if len(parts) > most:
        parts[most - 1 :] = [f"{count_text(len(parts) - most + 1)} more"]
    return ", ".join(parts)


def subscript(count: int) -> str:
    """Return a number as a subscript."""
    return str(count).translate(_SUBSCRIPTS)
