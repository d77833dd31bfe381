"""Layer 1 · kernels: arrays with a frame around them."""

from __future__ import annotations

from typing import Any

import numpy as np

__all__ = ["constant_pad", "framed", "unframed"]

Pads = tuple[tuple[int, int], ...]


def constant_pad(self: Any, pads: Pads, value: Any) -> Any:
    """Self with `value` before and after it in each dimension; negative widths cut."""
    shape = tuple(n + before + after for n, (before, after) in zip(self.shape, pads, strict=True))
    result = np.full(shape, value, self.dtype)
    inner, own = [], []
    for n, (before, after) in zip(self.shape, pads, strict=True):
        inner.append(slice(max(before, 0), max(before, 0) + n + min(before, 0) + min(after, 0)))
        own.append(slice(max(-before, 0), n - max(-after, 0)))
    result[tuple(inner)] = self[tuple(own)]
    return result


def _places(size: int, before: int, after: int, mode: str) -> Any:
    """Which position each one along a framed dimension repeats."""
    places = np.arange(-before, size + after)
    if mode == "replicate":
        return np.clip(places, 0, size - 1)
    if mode == "circular":
        # what is cut off comes first, and is not repeated either
        first = max(-before, 0)
        return first + (places - first) % (size - first - max(-after, 0))
    turned = np.abs(places)
    return np.where(turned >= size, 2 * (size - 1) - turned, turned)


def framed(self: Any, pads: Pads, mode: str) -> Any:
    """Self continued by its own elements: reflected, at the edge, or from the other end."""
    for dim, (before, after) in enumerate(pads):
        if before or after:
            self = self.take(_places(self.shape[dim], before, after, mode), axis=dim)
    return self


def unframed(self: Any, pads: Pads, mode: str) -> Any:
    """The transpose of `framed`: the frame is added to where its elements came from."""
    for dim, (before, after) in enumerate(pads):
        if not before and not after:
            continue
        size = self.shape[dim] - before - after
        lead = (slice(None),) * dim
        places = _places(size, before, after, mode)
        start, stop = max(before, 0), max(before, 0) + size + min(before, 0) + min(after, 0)
        inner = np.zeros((*self.shape[:dim], size, *self.shape[dim + 1 :]), self.dtype)
        first = max(-before, 0)
        inner[(*lead, slice(first, first + stop - start))] = self[(*lead, slice(start, stop))]
        for place in (*range(start), *range(stop, self.shape[dim])):
            inner[(*lead, places[place])] += self[(*lead, place)]
        self = inner
    return self
