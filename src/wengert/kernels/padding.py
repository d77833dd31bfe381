"""Layer 1 · kernels: padding of arrays."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

from wengert.kernels.protocols import empty, full, zeros

Pads = tuple[tuple[int, int], ...]


def constant_pad(self: Any, pads: Pads, value: Any) -> Any:
    """Pad self with `value` in each dimension; negative widths crop."""
    shape = tuple([n + sum(pad) for n, pad in zip(self.shape, pads, strict=True)])
    result = full(self, shape, value, self.dtype)
    spans = [_span(n, *pad) for n, pad in zip(self.shape, pads, strict=True)]
    result[tuple([inner for _, inner in spans])] = self[tuple([own for own, _ in spans])]
    return result


@lru_cache(maxsize=256)
def _span(n: int, before: int, after: int) -> tuple[slice, slice]:
    """Return the slices of the kept positions, in the input and in the padded result."""
    length = max(n + min(before, 0) + min(after, 0), 0)
    first, start = max(-before, 0), max(before, 0)
    return slice(first, first + length), slice(start, start + length)


@lru_cache(maxsize=256)
def _frames(size: int, before: int, after: int, mode: str) -> list[tuple[slice, slice]]:
    """Return the parts of the padding along a dimension of `size`, and their sources.

    Both are slices, of the padded dimension and of the dimension itself.
    """
    kept = _span(size, before, after)[0]
    end = size + before + after
    parts = []
    # padding may itself be cropped, if more is cropped at the other end than there are elements
    if before > 0:
        part = slice(0, min(before, end))
        if mode == "reflect":
            source = slice(before, before - part.stop, -1)
        elif mode == "circular":
            source = slice(kept.stop - before, kept.stop)
        else:
            source = slice(0, 1)
        parts.append((part, source))
    if after > 0:
        part = slice(max(end - after, 0), end)
        if mode == "reflect":
            last = size - 2 - after
            source = slice(last + end - part.start, last if last >= 0 else None, -1)
        elif mode == "circular":
            source = slice(kept.start, kept.start + after)
        else:
            source = slice(size - 1, size)
        parts.append((part, source))
    return parts


def framed(self: Any, pads: Pads, mode: str) -> Any:
    """Pad self with its own elements: reflected, replicated or circular."""
    if not any(map(any, pads)):
        return self.copy()
    for dim, (before, after) in enumerate(pads):
        if not before and not after:
            continue
        lead, size = (slice(None),) * dim, self.shape[dim]
        shape = (*self.shape[:dim], size + before + after, *self.shape[dim + 1 :])
        result = empty(self, shape, self.dtype)
        own, inner = _span(size, before, after)
        result[(*lead, inner)] = self[(*lead, own)]
        for part, source in _frames(size, before, after, mode):
            result[(*lead, part)] = self[(*lead, source)]
        self = result
    return self


def unframed(self: Any, pads: Pads, mode: str) -> Any:
    """Compute the transpose of `framed`: add the padding to the elements that it came from."""
    for dim in range(len(pads) - 1, -1, -1):
        before, after = pads[dim]
        if not before and not after:
            continue
        lead, size = (slice(None),) * dim, self.shape[dim] - before - after
        own, inner = _span(size, before, after)
        if own == slice(0, size):
            result = self[(*lead, inner)].copy()
        else:
            result = zeros(self, (*self.shape[:dim], size, *self.shape[dim + 1 :]), self.dtype)
            result[(*lead, own)] = self[(*lead, inner)]
        for part, source in _frames(size, before, after, mode):
            frame = self[(*lead, part)]
            if mode == "replicate":
                frame = frame.sum(dim, keepdims=True)
            result[(*lead, source)] += frame
        self = result
    return self
