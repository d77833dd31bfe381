"""Layer 8 · compiler: full unrolling of short loops, and index-set splitting.

A loop with very few iterations is unrolled, so that the loop around it becomes an innermost one.
Joined and padded arrays test loop counters to choose between elements: a loop is split at the
counts where the outcome of a test changes, so that the pieces need no tests.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import pairwise
from operator import is_
from typing import Any

from wengert.compiler.backends.affine import Counter, Index, Looked, Place, of
from wengert.compiler.backends.loops import LoopTree, Product, Store, statements_of
from wengert.compiler.backends.nodes import Apply, Choice, Load, Node, Position, walk
from wengert.compiler.ir.programs import open_ended

# the largest trip count that is unrolled, and the most nodes after unrolling
_SHORT = 4
_MOST = 96
# the most pieces that a loop is split into
_PIECES = 5


class _Rewriter:
    """Substitutes indices for counters in statements."""

    def __init__(self, known: Mapping[Counter, Index]) -> None:
        self._known = dict(known)
        self._nodes: dict[int, tuple[Node, Node]] = {}

    def statement(self, item: Any) -> Any:
        """A statement, or a tree of loops."""
        if isinstance(item, LoopTree):
            return self._tree(item)
        place = self._place(item.place)
        if isinstance(item, Store):
            return replace(item, place=place, node=self.node(item.node))
        factors = {"left": self._load(item.left), "right": self._load(item.right)}
        return replace(item, place=place, **factors)

    def _tree(self, tree: LoopTree) -> LoopTree:
        parts = [list(map(self.statement, items)) for items in (tree.before, tree.body, tree.after)]
        new = tree.of(tree.counter, *parts)
        new.writes = {v: list(map(self._place, places)) for v, places in tree.writes.items()}
        return new

    def _place(self, place: Place) -> Place:
        return tuple(map(self._index, place))

    def _index(self, index: Index) -> Index:
        result = index.put(self._known)
        if not any(isinstance(v, Looked) for v, _ in result.terms):
            return result
        terms = []
        for v, factor in result.terms:
            node = self.node(v.node) if isinstance(v, Looked) else None
            changed = isinstance(v, Looked) and node is not v.node
            terms.append((Looked(node, v.extent) if changed else v, factor))
        return Index(result.constant, terms)

    def _load(self, node: Load) -> Load:
        return Load(node.value, self._place(node.place))

    def node(self, node: Node) -> Node:
        """A node, the same one if nothing in it has changed."""
        known = self._nodes.get(id(node))
        if known is None:
            known = self._nodes[id(node)] = node, self._renewed(node)
        return known[1]

    def _renewed(self, node: Node) -> Node:
        if isinstance(node, Load):
            place = self._place(node.place)
            return node if place == node.place else Load(node.value, place)
        if isinstance(node, Position):
            index = self._index(node.index)
            return node if index == node.index else Position(index)
        if isinstance(node, Apply):
            operands = [self.node(operand) for operand in node.operands]
            numbers = {name: self.node(number) for name, number in node.numbers.items()}
            old = (*node.operands, *node.numbers.values())
            if all(map(is_, (*operands, *numbers.values()), old)):
                return node
            return Apply(node.prim, operands, node.dtype, node.params, numbers, node.step)
        if isinstance(node, Choice):
            return self._chosen(node)
        return node

    def _chosen(self, node: Choice) -> Node:
        tests = []
        for index, low, high in node.tests:
            index = self._index(index)
            least, most = index.bounds()
            if most < low or least >= high:
                return self.node(node.outside)
            if least < low or most >= high:
                tests.append((index, low, high))
        inside = self.node(node.inside)
        return Choice(tests, inside, self.node(node.outside)) if tests else inside


class Shaper:
    """Unrolls and splits the loops of a nest before they are written.

    Parameters
    ----------
    merged: Returns the loops that can be collapsed into one.
    in_vectors: Returns whether an innermost loop can be vectorised.
    """

    def __init__(
        self,
        merged: Callable[[LoopTree], list[LoopTree]],
        in_vectors: Callable[[Sequence[LoopTree]], bool],
    ) -> None:
        self._merged = merged
        self._in_vectors = in_vectors

    def shaped(self, tree: LoopTree) -> list[Any]:
        """Return the loops and statements to write for a loop."""
        cuts = _cuts(tree)
        if cuts:
            return [part for piece in _pieces(tree, cuts) for part in self.shaped(piece)]
        if len(self._merged(tree)) > 1:
            return [tree]
        before, body, after = (self._all(parts) for parts in (tree.before, tree.body, tree.after))
        new = tree.of(tree.counter, before, body, after)
        if not _is_short(new) or self._in_vectors([new]):
            return [new]
        items = [*before]
        for k in range(tree.counter.extent):
            rewriter = _Rewriter({tree.counter: Index(k)})
            items += map(rewriter.statement, body)
        return [*items, *after]

    def _all(self, parts: Sequence[Any]) -> list[Any]:
        items: list[Any] = []
        for part in parts:
            items += self.shaped(part) if isinstance(part, LoopTree) else [part]
        return items


def _is_short(tree: LoopTree) -> bool:
    extent = tree.counter.extent
    if (
        extent > _SHORT
        or open_ended(extent)
        or any(isinstance(part, LoopTree | Product) for part in tree.body)
    ):
        return False
    return extent * sum(1 for _ in walk([n for part in tree.body for n in part.nodes])) <= _MOST


def _choices(items: Sequence[Any]) -> Iterator[Choice]:
    nodes = walk([node for item in statements_of(*items) for node in item.nodes])
    return (node for node in nodes if isinstance(node, Choice))


def _cuts(tree: LoopTree) -> list[int]:
    """Return the counts where tests of the counter change; if many, those of the longest pieces."""
    extent = tree.counter.extent
    found: set[int] = set()
    for choice in _choices(tree.body):
        for index, low, high in choice.tests:
            if len(index.terms) != 1 or index.terms[0][0] is not tree.counter:
                continue
            factor = index.terms[0][1]
            for limit in (low, high):
                # the first count on the other side of the limit
                away = limit - index.constant
                cut = -(-away // factor) if factor > 0 else (index.constant - limit) // -factor + 1
                if 0 < cut < extent:
                    found.add(cut)
    cuts = sorted(found)
    if len(cuts) < _PIECES:
        return cuts
    pieces = sorted(pairwise([0, *cuts, extent]), key=lambda piece: piece[0] - piece[1])
    chosen = {end for piece in pieces[: _PIECES // 2] for end in piece}
    return sorted(chosen - {0, extent})


def _pieces(tree: LoopTree, cuts: Sequence[int]) -> Iterator[LoopTree]:
    """Yield the pieces of a loop between cuts."""
    ends = [*cuts, tree.counter.extent]
    for start, end in zip([0, *cuts], ends, strict=True):
        counter = Counter(end - start)
        rewriter = _Rewriter({tree.counter: of(counter).moved(start)})
        before = tree.before if not start else []
        body = [rewriter.statement(part) for part in tree.body]
        yield tree.of(counter, before, body, tree.after if end == ends[-1] else [])
