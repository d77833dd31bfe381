"""Layer 4 · tape: the sequence numbers of nodes."""

from __future__ import annotations

import itertools
from collections.abc import Callable

from wengert.tape.sites import OFFSETS

__all__ = ["next_sequence"]

next_sequence: Callable[[], int] = itertools.count(-2 * OFFSETS, -OFFSETS).__next__
"""Sequence numbers, counting down, so that a heap yields the youngest node first.

The bits below `OFFSETS` are 0; a node may have others there (see NOTE [sites]).
"""
