"""Layer 9 · viz: loops in a sequence of symbols, found in nearly linear time."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

_LEAST = 3
"""The minimum number of iterations of a loop."""
_WORDS = (1, 2, 4, 16, 64)
"""The lengths of words whose distances are tried as periods."""
_PERIODS = 12
"""The number of periods to try for each length of words."""


class Run(NamedTuple):
    """A loop of `rounds` iterations, each of `period` symbols, from the index `start` on."""

    start: int
    period: int
    rounds: int


def mixed(values: Any, *more: Any) -> Any:
    """Return 64-bit hashes of the elements of several integer arrays, combined."""
    result = np.asarray(values).astype(np.uint64)
    for other in (*more, np.uint64(0x9E3779B97F4A7C15)):
        result = result ^ (result >> np.uint64(29))
        result = result * np.uint64(0xBF58476D1CE4E5B9) + np.asarray(other).astype(np.uint64)
    return result ^ (result >> np.uint64(32))


def runs_of(symbols: Any, kinds: Any) -> list[Run]:
    """Return the loops in `symbols`, disjoint and in order; short periods are found first.

    Parameters
    ----------
    symbols: An array of integers.
    kinds: A coarser classification of the symbols: a loop is extended by at most one iteration at
        each end if only the kinds agree. (The first iteration of a loop has other arguments.)
    """
    taken = np.zeros(len(symbols), bool)
    found: list[Run] = []
    for period in _periods(symbols):
        equal = symbols[:-period] == symbols[period:]
        equal &= ~taken[:-period] & ~taken[period:]
        edges = np.flatnonzero(np.diff(np.concatenate(([False], equal, [False]))))
        starts, lengths = edges[::2], edges[1::2] - edges[::2]
        for start, length in zip(starts.tolist(), lengths.tolist(), strict=True):
            count = length // period + 1
            # the symbols between were taken by a run of the same period
            if count >= _LEAST and not taken[start : start + count * period].any():
                run = _extended(start, start + length + period, period, kinds, taken)
                taken[run.start : run.start + run.period * run.rounds] = True
                found.append(run)
    return sorted(found)


def _extended(start: int, stop: int, period: int, kinds: Any, taken: Any) -> Run:
    first, last = max(0, start - period), min(len(kinds), stop + period)
    while start > first and not taken[start - 1] and kinds[start - 1] == kinds[start - 1 + period]:
        start -= 1
    while stop < last and not taken[stop] and kinds[stop] == kinds[stop - period]:
        stop += 1
    return Run(start, period, (stop - start) // period)


def _periods(symbols: Any) -> list[int]:
    """Return the most frequent distances between occurrences of a word, the shortest first.

    The period of a loop is the distance of any word that occurs once in each iteration.
    """
    total = len(symbols)
    periods: set[int] = set()
    words = np.asarray(symbols, np.uint64)
    length = 1
    for wanted in _WORDS:
        while length < wanted:
            # a word of twice the length is two adjacent words
            if len(words) <= length:
                return sorted(periods)
            words = mixed(words[:-length], words[length:])
            length *= 2
        order = np.argsort(words, kind="stable")
        returns = words[order[1:]] == words[order[:-1]]
        distances = np.diff(order)[returns]
        distances = distances[distances <= total // _LEAST]
        if not len(distances):
            continue
        counts = np.bincount(distances)
        # by how much of the sequence they may cover, not by frequency
        cover = counts * np.arange(len(counts))
        best = np.argsort(cover)[::-1][:_PERIODS]
        periods.update(best[counts[best] > 0].tolist())
        common = np.argsort(counts)[::-1][:_PERIODS]
        periods.update(common[counts[common] > 0].tolist())
    return sorted(periods - {0})
