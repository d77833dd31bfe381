"""Layer 4 · tape: the order of a walk where a program has set sequence numbers of its own.

NOTE [set sequence numbers]
The engine takes nodes by falling sequence number, which is right because a node is younger than all
that its edges lead to. A number that a program sets need not be: it says only which of the nodes
whose gradients are complete is to come first. So before such a walk the order is found by counting
the edges that lead to each node, and for the time of the walk its nodes have numbers in that order.
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
    """The sequence number of `node` as users see it: the greater, the earlier."""
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
    """Let `nodes`, all that a walk may come to, come in the order of the numbers that were set."""
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
