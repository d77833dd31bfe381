"""Layer 9 · viz: a graph of any size as few groups: function calls, loops and stretches.

NOTE [groups are intervals]
Nodes are in recording order, each after its arguments. Every group is an interval of that order.
So no two groups use each other, whichever nodes are joined: the groups form an acyclic graph again,
in an order in which they can be computed.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from wengert.viz.collect import Graph
from wengert.viz.repeats import mixed, runs_of
from wengert.viz.scopes import Scopes

_FAR = 4096
"""Arguments computed further back than this count as equally far."""
_SHARED = 5
"""A value used by this many nodes counts as shared by all iterations of a loop."""
_OFTEN = 3
"""The number of times a distance must occur to count as part of a pattern."""
_ROUNDS = 12
_FEW = 30
"""The number of boxes above which loops are folded if a depth was requested."""
_LEAST_STRETCHES = 12
_ARROWS = 4
"""The number of arrows per box up to which a drawing can be read."""


@dataclass(slots=True)
class Group:
    """The nodes from `start` up to `stop`, drawn as one box.

    Attributes
    ----------
    count: The number of iterations in the group.
    block: The number of nodes of the first iteration.
    kind: ``"node"``, ``"repetition"``, ``"call"`` or ``"stretch"``.
    """

    start: int
    stop: int
    count: int = 1
    block: int = 1
    kind: str = "node"


def groups_of(
    graph: Graph,
    limit: int,
    depth: int | None = None,
    scopes: Scopes | None = None,
    split: int | None = None,
) -> list[Group]:
    """Return about `limit` groups of the nodes of `graph` at most, in order.

    Parameters
    ----------
    depth: The number of levels of calls to draw node by node; None: as many as fit.
    scopes: The calls that recorded the nodes.
    split: The number of the node that starts the second part, which shares no group with the nodes
        before.
    """
    total = len(graph.nodes)
    if total <= limit and depth is None:
        return [Group(i, i + 1) for i in range(total)]
    parted = total if split is None else split
    sequence = _Sequence(graph, parted)
    known = scopes is not None and scopes.known
    assert scopes is not None or not known
    if depth is not None:
        depths = [depth] if known else [0]
    else:
        depths = [*range(scopes.depth, -1, -1)] if known and scopes is not None else [0]
    made: list[Group] = []
    for opened in depths:
        made = [Group(i, i + 1) for i in range(total)]
        if known and scopes is not None:
            made = _called(scopes, total, opened, parted)
        if len(made) > (limit if depth is None else _FEW):
            made = _folded(sequence, made, limit if depth is None else _FEW)
        if len(made) <= limit:
            return _counted(sequence, made)
    return _stretches(sequence, _counted(sequence, made), limit, parted)


def _counted(sequence: _Sequence, groups: list[Group]) -> list[Group]:
    """Return the groups, with iteration counts for calls that repeat one pattern."""
    for group in groups:
        if group.kind != "call":
            continue
        kinds = sequence.kinds[group.start : group.stop]
        total = len(kinds)
        for period in (p for p in range(1, total // 2 + 1) if total % p == 0):
            if (kinds[period:] == kinds[:-period]).all():
                group.block, group.count = period, total // period
                break
    return groups


def _called(scopes: Scopes, total: int, depth: int, split: int) -> list[Group]:
    """Join neighbours that one call recorded."""
    groups: list[Group] = []
    last: Any = None
    for i in range(total):
        group = scopes.group(i, depth)
        if group is not None and group == last and i != split:
            joined = groups[-1]
            joined.stop, joined.kind = i + 1, "call"
            joined.block = joined.stop - joined.start
        else:
            groups.append(Group(i, i + 1))
        last = group
    return groups


class _Sequence:
    """The nodes of a graph as symbols, and its edges as arrays.

    Attributes
    ----------
    kinds: For each node, the number of its name.
    content: Like `kinds`, and also which arguments are leaves or shared by many nodes.
    tails, heads: The other edges: the producing node and the using node.
    """

    def __init__(self, graph: Graph, split: int) -> None:
        count = len(graph.nodes)
        known: dict[str, int] = {}
        labels = np.array(
            [known.setdefault(node.label, len(known)) for node in graph.nodes], np.int64
        )
        # no pattern crosses from one part to the other
        labels[split:] += len(known)
        sources = np.array(graph.sources, np.int64)
        starts = np.array(graph.starts, np.int64)
        users = np.repeat(np.arange(count), np.diff(starts))
        uses = np.bincount(sources, minlength=graph.size()) if len(sources) else sources
        places = np.arange(len(sources)) - starts[users]
        distances = users - sources
        near = (sources < count) & (distances <= _FAR)
        near &= uses[sources] < _SHARED if len(sources) else near
        # a backward part uses the forward part in reverse order, at growing distances
        often = np.bincount(distances[near], minlength=1)
        near[near] = often[distances[near]] >= _OFTEN
        # the graph of a loop's iterations differs only in the distances of these
        outside = np.where(sources >= count, 1, 2)
        hashes = np.where(near, np.uint64(0), mixed(places, outside))
        self.kinds = mixed(labels)
        self.content = mixed(labels, _sums(hashes, starts))
        self.tails, self.heads, self.places = sources[near], users[near], places[near]
        self.ends = users[sources < count], sources[sources < count]

    def symbols(self, groups: list[Group], content: Any) -> Any:
        """Return a symbol for each group: its kind and the distances to the groups that it uses."""
        starts = np.array([group.start for group in groups], np.int64)
        number = np.searchsorted(starts, np.arange(len(self.content)), "right") - 1
        head, tail = number[self.heads], number[self.tails]
        across = head != tail
        hashes = np.zeros(len(groups), np.uint64)
        np.add.at(hashes, head[across], mixed((head - tail)[across], self.places[across]))
        return mixed(content, hashes)

    def crossing(self) -> Any:
        """Return, for each gap between nodes, the number of edges that cross it."""
        change = np.zeros(len(self.content) + 1, np.int64)
        heads, tails = self.ends
        np.add.at(change, tails + 1, 1)
        np.add.at(change, heads + 1, -1)
        return np.cumsum(change)


def _sums(values: Any, starts: Any) -> Any:
    running = np.concatenate((np.zeros(1, np.uint64), np.cumsum(values, dtype=np.uint64)))
    return running[starts[1:]] - running[starts[:-1]]


def _folded(sequence: _Sequence, groups: list[Group], limit: int) -> list[Group]:
    """Fold loops into single groups, inner loops first, until at most `limit` groups are left."""
    content, kinds = _words(sequence.content, groups), _words(sequence.kinds, groups)
    for _ in range(_ROUNDS):
        runs = runs_of(sequence.symbols(groups, content), kinds)
        if not runs:
            break
        made: list[Group] = []
        words: list[Any] = []
        coarse: list[Any] = []
        place = 0
        for start, period, count in runs:
            made += groups[place:start]
            words.append(content[place:start])
            coarse.append(kinds[place:start])
            first, last = groups[start], groups[start + period - 1]
            place = start + period * count
            stop = groups[place - 1].stop
            made.append(Group(first.start, stop, count, last.stop - first.start, "repetition"))
            words.append(_word(content[place - period : place]))
            coarse.append(_word(kinds[start : start + period]))
        made += groups[place:]
        groups = made
        content = np.concatenate([*words, content[place:]])
        kinds = np.concatenate([*coarse, kinds[place:]])
        if len(groups) <= limit:
            break
    return groups


def _words(values: Any, groups: list[Group]) -> Any:
    """Return one number for each group, a hash of those of its nodes."""
    if len(groups) == len(values):
        return values
    return np.concatenate([_word(values[g.start : g.stop]) for g in groups])


def _word(content: Any) -> Any:
    """Return one number for a sequence of numbers."""
    if len(content) == 1:
        return content
    return mixed(content, np.arange(len(content))).sum(keepdims=True) * np.uint64(3)


def _stretches(sequence: _Sequence, groups: list[Group], limit: int, split: int) -> list[Group]:
    """Join neighbours until few enough are left, cut where few edges cross."""
    crossing = sequence.crossing()
    wanted = limit
    while True:
        made = _cut(groups, crossing, wanted, split)
        if wanted <= _LEAST_STRETCHES or _arrows(sequence, made) <= _ARROWS * len(made):
            return made
        wanted = max(_LEAST_STRETCHES, wanted * 2 // 3)


def _cut(groups: list[Group], crossing: Any, wanted: int, split: int) -> list[Group]:
    total = len(groups)
    stops = np.array([group.stop for group in groups])
    width = total / wanted
    cuts: list[int] = []
    for k in range(1, wanted):
        low = max(cuts[-1] + 1 if cuts else 1, int((k - 0.25) * width))
        high = min(total - 1, int((k + 0.25) * width) + 1)
        if low < high:
            cuts.append(low + int(np.argmin(crossing[stops[low - 1 : high - 1]])))
    between = int(np.searchsorted(stops, split, "right"))
    if 0 < between < total:
        cuts = sorted({*cuts, between})
    made: list[Group] = []
    for first, last in zip([0, *cuts], [*cuts, total], strict=True):
        if last - first == 1:
            made.append(groups[first])
        else:
            start, stop = groups[first].start, groups[last - 1].stop
            made.append(Group(start, stop, 1, stop - start, "stretch"))
    return made


def _arrows(sequence: _Sequence, groups: list[Group]) -> int:
    starts = np.array([group.start for group in groups])
    heads, tails = (np.searchsorted(starts, ends, "right") - 1 for ends in sequence.ends)
    across = heads != tails
    return len(np.unique(heads[across] * len(groups) + tails[across]))
