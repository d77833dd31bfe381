"""Layer 4 · tape: the engine, which walks the graph from its outputs to its leaves.

NOTE [order of the walk]
A node is younger than all that its edges lead to, so taking nodes by falling sequence number means
that all cotangents of a node have arrived before its turn: no counting of dependencies beforehand.
A heap holds the nodes whose turn is yet to come; along a chain it stays empty and the next node is
kept in a local variable.

NOTE [gradients that are None]
Only a custom Function may give None where a gradient was asked for. What its edge leads to still
has its turn, with None: the rules of operations are not asked then and pass None on, while hooks
and custom Functions are called, a Function with zeros unless it declined them.

NOTE [ownership of buffers]
A rule may hand on the very array that it got, or one that was saved, or give one array to two
edges. So the first cotangent of an edge is only borrowed; the first sum makes an array of the
engine's own, and later ones are added into that in place. What arrives at a leaf, or is asked for,
becomes its gradient without a copy if nobody else holds that memory (`wengert.tape.accumulate`).
Within a rule NumPy reuses buffers: an operator on large arrays writes into an operand that nothing
refers to, as in ``g * (1 - result * result)``, unless compiled code calls it.
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
    """Carry cotangents from `roots` down the graph; the result holds those of the leaves.

    Parameters
    ----------
    roots: Pairs of an edge and its cotangent: a raw array, or with ``raw=False`` any other value.
    keep: Whether to leave what the nodes saved for another walk.
    raw: Whether cotangents are raw arrays: then nodes apply their rules directly.
    wanted: The nodes to run, each with its edges (None for those that nobody asks for); None: all.
    watch: What goes on beside the walk (see `wengert.tape.watch.Watch`), if anything.
    """
    pending: dict[Any, Any] = {}
    owned: set[Any] = set()
    heap: list[tuple[int, Any]] = []
    g_following: Any = None
    for edge, g in roots:
        _deliver(edge, g, pending, owned, heap)
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
                # counted by hand: `zip` would cost as much as a product of small arrays
                position = -1
                for edge in edges:
                    position += 1
                    grad = grads[position]
                    if edge is None or grad is None:
                        if edge is not None and edge is not following:
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
                # what nobody else holds becomes .grad without a copy
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
    """Let the target of `edge` have its turn though a rule gave it nothing, as PyTorch does."""
    target = edge.node if edge._seq == 0 else edge
    if target not in pending:
        pending[target] = None if edge._seq else [None] * target.width()
        if target._seq < 0:
            heappush(heap, (target._seq, target))


def _deliver(edge: Any, g: Any, pending: dict[Any, Any], owned: set[Any], heap: Any) -> None:
    """Add a cotangent to what waits for the target of `edge`."""
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
