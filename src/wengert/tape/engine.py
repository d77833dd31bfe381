"""Layer 4 · tape: the engine, which walks the graph from its outputs to its leaves.

NOTE [order of the walk]
A node is younger than everything that its edges lead to. So when nodes run from the youngest to the
oldest, all cotangents of a node have arrived before it runs, and no pass to count dependencies is
needed. A heap holds the pending nodes; along a chain it stays empty, and the next
node is kept in a local variable.

NOTE [gradients that are None]
Only a custom Function may return None where a gradient was asked for. The target of that edge still
runs, with None: an operation skips its rules and passes None on, while hooks and custom Functions
are called; a Function gets zeros unless it declined them. Where a whole compiled call returns None,
no path leads there, and nothing runs.

NOTE [ownership of buffers]
A rule may return the very array that it received, or a saved one, or the same array for two edges.
So the first cotangent of an edge is only borrowed. The first sum allocates an array that the engine
owns, and later cotangents are added to it in place. The cotangent that arrives at a leaf, or that
the caller asked for, becomes the gradient without a copy if nobody else holds its memory
(`wengert.tape.accumulate`). Within a rule, NumPy reuses buffers: an operator on large arrays writes
into a temporary operand, as in ``g * (1 - result * result)``, unless compiled code calls it.
"""

from __future__ import annotations

from collections.abc import Iterable
from heapq import heappop, heappush, heapreplace
from typing import Any

import numpy as np

from wengert.tape.sums import add_into


def walk(
    roots: Iterable[tuple[Any, Any]],
    keep: bool,
    raw: bool,
    wanted: dict[Any, tuple[Any, ...]] | None = None,
    watch: Any = None,
) -> dict[Any, Any]:
    """Carry cotangents from `roots` down the graph, and return those of the leaves.

    Parameters
    ----------
    roots: Pairs of an edge and its cotangent: a raw array, or with ``raw=False`` any other value.
    keep: Whether to keep the values that nodes saved, for another walk.
    raw: Whether cotangents are raw arrays, so that nodes apply their rules directly.
    wanted: The nodes to run, each with its edges (None for those not asked for); None for all.
    watch: The observer of the walk (see `wengert.tape.watch.Watch`), if any.
    """
    pending: dict[Any, Any] = {}
    owned: set[Any] = set()
    heap: list[tuple[int, Any]] = []
    g_following: Any = None
    for edge, g in roots:
        if pending or edge._seq >= 0:
            _deliver(edge, g, pending, owned, heap)
        else:
            # the first pending node, and most often the only one
            pending[edge] = g
            heap.append((edge._seq, edge))
    if watch is not None:
        watch.begin(pending)
    while heap:
        node = heappop(heap)[1]
        g = pending.pop(node)
        while True:
            edges: Any = node.edges if wanted is None else wanted.get(node)
            following = None
            grads: tuple[Any, ...] | None
            if watch is not None:
                grads = watch.step(node, g, keep, edges)
            elif edges is None:
                grads = None
            elif g is None:
                grads = node.step(g, keep, edges, raw)
            else:
                grads = node.apply(g, keep, edges) if raw else node.apply_in(g, keep, edges)
            if grads is not None:
                # count by hand: `zip` would cost as much as a product of small arrays
                position = -1
                for edge in edges:
                    position += 1
                    grad = grads[position]
                    if edge is None or grad is None:
                        if edge is not None and edge is not following and node.gives_none:
                            _announce(edge, pending, heap)
                        continue
                    if edge is following:
                        g_following = g_following + grad
                    elif edge in pending:
                        have = pending[edge]
                        if edge in owned and grad.__class__ is np.ndarray:
                            add_into(have, grad)
                        elif have is None:
                            pending[edge] = grad
                        else:
                            pending[edge] = have = have + grad
                            if have.__class__ is np.ndarray:
                                owned.add(edge)
                            else:
                                owned.discard(edge)
                    else:
                        seq = edge._seq
                        if seq > 0:
                            pending[edge] = grad
                        elif seq == 0:
                            _deliver(edge, grad, pending, owned, heap)
                        elif following is None:
                            following, g_following = edge, grad
                        else:
                            pending[edge] = grad
                            heappush(heap, (seq, edge))
            if watch is not None:
                # drop our references: a gradient that nobody else holds becomes .grad without a
                # copy
                grads = grad = have = None
                watch.finished(node, pending)
            if following is None:
                break
            if heap and heap[0][0] < following._seq:
                pending[following] = g_following
                node = heapreplace(heap, (following._seq, following))[1]
                g = pending.pop(node)
            else:
                node, g = following, g_following
    return pending


def _announce(edge: Any, pending: dict[Any, Any], heap: Any) -> None:
    """Schedule the target of `edge` although a rule returned None for it, as PyTorch does."""
    target = edge.node if edge._seq == 0 else edge
    if target not in pending:
        pending[target] = None if edge._seq else [None] * target.width()
        if target._seq < 0:
            heappush(heap, (target._seq, target))


def _deliver(edge: Any, g: Any, pending: dict[Any, Any], owned: set[Any], heap: Any) -> None:
    """Add a cotangent to those pending for the target of `edge`."""
    if edge._seq != 0:
        if pending.get(edge) is not None:
            pending[edge] = pending[edge] + g
            owned.discard(edge)
        else:
            pending[edge] = g
            if edge._seq < 0:
                heappush(heap, (edge._seq, edge))
        return
    node: Any = edge.node
    parts = pending.get(node)
    if parts is None:
        parts = pending[node] = [None] * node.width()
        heappush(heap, (node._seq, node))
    have = parts[edge.index]
    parts[edge.index] = g if have is None else have + g


def ends_at(
    edges: Iterable[Any], leaves: Iterable[Any], rules: bool = False, noted: bool = False
) -> bool:
    """Return whether all paths from `edges` end at `leaves`.

    With `rules`, nodes whose rules may use other tensors lead elsewhere, too. With `noted`, inputs
    of transforms that have ended are ends, and nodes note a leaf that they lead to instead, so that
    no history is walked twice.
    """
    # tensors and nodes hash by identity
    seen = {*leaves}
    stack = [*edges]
    came: dict[Any, Any] = {}
    while stack:
        edge = stack.pop()
        node = edge if edge._seq else edge.node
        if node in seen:
            continue
        ext = node._ext
        leaf = node if node._seq > 0 else ext.leaf if noted and ext is not None else None
        if leaf is not None and leaf not in seen:
            if not noted:
                return False
            if leaf._ext is None or not leaf._ext.ended:
                while (node := came.get(node)) is not None:
                    node._extra().leaf = leaf
                return False
        if leaf is node:
            continue
        if rules and node.closes_over():
            return False
        seen.add(node)
        blind = True
        for edge in node.edges:
            if edge is not None:
                blind = False
                if edge not in seen:
                    stack.append(edge)
                    if noted:
                        came[edge if edge._seq else edge.node] = node
        if blind:
            # a history without a leaf, like that of a view made without recording: an input of an
            # active transform may be on it
            return False
    return True
