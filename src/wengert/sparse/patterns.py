"""Layer 8 · sparse: the pattern of a Jacobian, propagated along the tape from rows to elements."""

from __future__ import annotations

import math
from collections.abc import Sequence
from heapq import heappop, heappush
from typing import Any

import numpy as np

from wengert.base.extras import scipy_module
from wengert.interp.eager import K
from wengert.sparse.coloring import as_pattern
from wengert.sparse.links import Link, merged
from wengert.sparse.structure import links_of
from wengert.tape.base import LEAF, OutputEdge, new_tensor
from wengert.tape.inplace import CopySlices
from wengert.tape.node import Unrecorded
from wengert.tape.views import push

Pairs = tuple[Any, Any]
Shape = tuple[int, ...]


def pattern_of(outputs: Sequence[Any], leaves: Sequence[Any]) -> Any:
    """Return the pattern of the Jacobian of outputs by leaves: a CSR array of bools."""
    sparse = scipy_module("sparse", "wengert.sparse.pattern")
    sizes = [math.prod(output._payload.shape) for output in outputs]
    height = sum(sizes)
    walk = _Walk(height)
    start = 0
    for output, size in zip(outputs, sizes, strict=True):
        edge = output if output._edge is LEAF else output._edge
        pairs = (np.arange(size), np.arange(start, start + size))
        walk.deliver(edge, tuple(output._payload.shape), pairs)
        start += size
    walk.run()
    columns, rows = [], []
    width = 0
    for leaf in leaves:
        for elements, at in walk.arrived(leaf):
            columns.append(elements + width)
            rows.append(at)
        width += leaf._payload.size
    none = np.zeros(0, np.int64)
    column, row = merged(
        np.concatenate(columns) if columns else none, np.concatenate(rows) if rows else none, height
    )
    pattern = sparse.coo_array((np.ones(row.size, bool), (row, column)), shape=(height, width))
    pattern = pattern.tocsr()
    pattern.sort_indices()
    return pattern


def hessian_pattern_of(slopes: Sequence[Any], leaves: Sequence[Any]) -> Any:
    """Return the symmetric pattern of a Hessian from recorded gradients of leaves; None is zero."""
    given = [
        new_tensor(np.zeros_like(leaf._payload)) if slope is None else slope
        for slope, leaf in zip(slopes, leaves, strict=True)
    ]
    half = pattern_of(given, leaves)
    return as_pattern(half + half.T)


class _Walk:
    """A walk in the engine's order (see NOTE [order of the walk]), with pairs for cotangents."""

    def __init__(self, height: int) -> None:
        self.height = height
        self.heap: list[tuple[int, Any]] = []
        self.shapes: dict[Any, dict[int, Shape]] = {}
        self.pending: dict[Any, dict[int, list[Pairs]]] = {}

    def deliver(self, edge: Any, shape: Shape, pairs: Pairs) -> None:
        """Add pairs to those waiting at the target of an edge, a value of a `shape`."""
        if edge is None or edge.__class__ is Unrecorded or not pairs[0].size:
            return
        node, index = (edge.node, edge.index) if isinstance(edge, OutputEdge) else (edge, 0)
        waiting = self.pending.get(node)
        if waiting is None:
            waiting = self.pending[node] = {}
            self.shapes[node] = {}
            if node._seq < 0:
                heappush(self.heap, (node._seq, node))
        waiting.setdefault(index, []).append(pairs)
        self.shapes[node][index] = shape

    def arrived(self, leaf: Any) -> list[Pairs]:
        """Return the pairs of a leaf."""
        return self.pending.get(leaf, {}).get(0, [])

    def run(self) -> None:
        """Walk to the leaves."""
        while self.heap:
            node = heappop(self.heap)[1]
            waiting, shapes = self.pending.pop(node), self.shapes.pop(node)
            pairs = {index: self._together(parts) for index, parts in waiting.items()}
            if isinstance(node, CopySlices):
                self._written(node, shapes[0], pairs[0])
                continue
            known: list[Shape | None] = [shapes.get(0)]
            if node.several and hasattr(node, "prim"):
                known = [tuple(meta[0]) for meta in node.outputs_meta]
            elif node.several:
                # of a Function: it handles missing pairs itself
                known = [shapes.get(index) for index in range(node.width())]
            self._step(node.edges, links_of(node, known), pairs)

    def _together(self, parts: list[Pairs]) -> Pairs:
        if len(parts) == 1:
            return parts[0]
        elements = np.concatenate([part[0] for part in parts])
        return merged(elements, np.concatenate([part[1] for part in parts]), self.height)

    def _step(self, edges: Any, found: Any, pairs: dict[int, Pairs]) -> None:
        for edge, argument in zip(edges, found, strict=True):
            if edge is None or argument is None:
                continue
            shape, links = argument
            for index, (elements, rows) in pairs.items():
                link: Link | None = links[index]
                if link is not None:
                    self.deliver(edge, shape, link.carry(elements, rows, self.height))

    def _written(self, node: Any, shape: Shape, pairs: Pairs) -> None:
        """Return the links of a write through a view: the viewed values have its history."""
        elements, rows = pairs
        size = math.prod(shape)
        shown = push(K, node.chain, np.arange(size).reshape(shape))
        places = shown.reshape(-1)
        inside = np.full(size, -1)
        inside[places] = np.arange(places.size)
        at = inside[elements]
        written = at >= 0
        base = node.edges[node.place]
        self.deliver(base, shape, (elements[~written], rows[~written]))
        at, rows = at[written], rows[written]
        if not at.size:
            return
        found = links_of(node.inner, [shown.shape])
        for i, (edge, argument) in enumerate(zip(node.edges, found, strict=True)):
            if edge is None or argument is None:
                continue
            link = argument[1][0]
            if link is None:
                continue
            to, of = link.carry(at, rows, self.height)
            if i == node.place:
                self.deliver(edge, shape, (places[to], of))
            else:
                self.deliver(edge, argument[0], (to, of))
