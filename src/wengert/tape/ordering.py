"""Layer 4 · tape: the order of a walk where the program has set sequence numbers.

NOTE [set sequence numbers]
The engine runs nodes from the youngest to the oldest, which is correct because a node is younger
than everything that its edges lead to. Numbers that a program sets need not have that property:
they are priorities among nodes whose gradients are complete. So before such a walk a topological
order is found by counting the edges to each node, and the nodes have numbers in that order while
the walk runs.
"""

from __future__ import annotations

import contextlib
import weakref
from collections.abc import Iterable, Iterator
from heapq import heapify, heappop, heappush
from typing import Any

REORDERED: weakref.WeakSet[Any] = weakref.WeakSet()
"""Live nodes whose sequence number has been set."""


def number_of(node: Any) -> int:
    """Return the sequence number of `node` that users see: nodes of higher numbers run earlier."""
    ext = node._ext
    if ext is not None and ext.number is not None:
        return int(ext.number)
    return -int(node._seq)


def set_number(node: Any, number: int) -> None:
    """Set the sequence number of `node`."""
    if not isinstance(number, int):
        raise TypeError(f"an integer is required for a sequence number, not {number!r}")
    if number < 0:
        raise OverflowError(f"can't convert negative int to unsigned: {number}")
    node._extra().number = number
    REORDERED.add(node)


@contextlib.contextmanager
def in_order(nodes: Iterable[Any]) -> Iterator[None]:
    """Number `nodes`, all that a walk may reach, in the order of the numbers that were set."""
    waiting = dict.fromkeys(nodes, 0)
    for node in waiting:
        for target in _targets(node):
            if target in waiting:
                waiting[target] += 1
    ready = [(-number_of(node), node._seq, node) for node, count in waiting.items() if not count]
    heapify(ready)
    order = []
    while ready:
        node = heappop(ready)[2]
        order.append(node)
        for target in _targets(node):
            if target in waiting:
                waiting[target] -= 1
                if not waiting[target]:
                    heappush(ready, (-number_of(target), target._seq, target))
    before = [node._seq for node in order]
    try:
        for node, seq in zip(order, sorted(before), strict=True):
            node._seq = seq
        yield
    finally:
        for node, seq in zip(order, before, strict=True):
            node._seq = seq


def _targets(node: Any) -> Iterator[Any]:
    for edge in node.edges:
        if edge is not None:
            yield edge.node if edge._seq == 0 else edge
