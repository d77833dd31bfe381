"""Layer 9 · serialization: groups of arrays that share memory."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, TypeVar

import numpy as np

from wengert.kernels.strided import owner_of

K = TypeVar("K")


def sharing(arrays: dict[K, Any]) -> Iterator[tuple[int, int, list[K]]]:
    """Group arrays that overlap, directly or through others: yield the extent and members of each.

    Empty arrays have no extent.
    """
    by_owner: dict[int, list[tuple[int, int, int, K]]] = {}
    for i, (name, array) in enumerate(arrays.items()):
        if array.size:
            low, high = np.lib.array_utils.byte_bounds(array)
            by_owner.setdefault(id(owner_of(array)), []).append((low, high, i, name))
    for spans in by_owner.values():
        spans.sort()
        while spans:
            start, end, _, _ = spans[0]
            count = 1
            while count < len(spans) and spans[count][0] < end:
                end = max(end, spans[count][1])
                count += 1
            yield start, end, [name for _, _, _, name in spans[:count]]
            del spans[:count]
