"""Layer 4 · tape: the sequence numbers of nodes."""

from __future__ import annotations

import itertools
from collections.abc import Callable

next_sequence: Callable[[], int] = itertools.count(-2, -1).__next__
"""Sequence numbers, counting down, so that a heap yields the youngest node first."""
