"""Layer 8 · compiler: entries of a trace besides steps: decisions, draws, and why it broke."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable
from typing import Any, NamedTuple

import numpy as np

from wengert.compiler.ir.programs import Value


class Reason(NamedTuple):
    """The reason and source line of a graph break.

    With `layout`, it applies only to inputs that share memory in the same way.
    """

    what: str
    where: tuple[str, int] | None
    layout: bool = False

    def __str__(self) -> str:
        if self.where is None:
            return self.what
        file, line = self.where
        return f"{self.what} ({file.rsplit('/', 1)[-1]}:{line})"


class Guard(NamedTuple):
    """A decision of the function on a value, with its outcome in this run.

    Attributes
    ----------
    kind: How the outcome is computed from the value: ``"bool"``, ``"item"`` or ``"count"``.
    value: The value.
    outcome: The outcome.
    site: The source line.
    state: The state of Python at the decision, if it is known.
    """

    kind: str
    value: Value
    outcome: Any
    site: tuple[str, int] | None
    state: Any = None


class Draw(NamedTuple):
    """An array of random numbers, drawn again in each run."""

    value: Value
    draw: Callable[[], Any]


def crowded(blocks: Iterable[Any], most: int) -> Reason:
    """Return the reason for giving up on too many traces."""
    outcomes: dict[Any, set[Any]] = {}
    ways: Counter[Any] = Counter()
    for block in blocks:
        if block.guard is not None:
            outcomes.setdefault(block.guard.site, set()).update(block.children)
            ways[block.guard.site] += len(block.children)
    widest = max(outcomes, key=lambda site: len(outcomes[site]))
    if len(outcomes[widest]) > most:
        return Reason(f"a decision on values had more than {most} outcomes", widest)
    # the decision that occurs most often: in a loop, or after others
    most_often = ways.most_common(1)[0][0]
    return Reason(f"decisions on values went more than {most} ways in all", most_often)


def outcome_of(kind: str, array: Any) -> Any:
    """Compute the outcome of a decision."""
    if kind == "bool":
        return bool(array)
    if kind == "item":
        return array.item()
    return int(np.count_nonzero(array))
