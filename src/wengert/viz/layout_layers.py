"""Layer 9 · viz: the rows of a layout, and the lanes in which long arrows pass through them.

The rows come from longest paths; then boxes slide down towards their uses where that makes the
arrows shorter: a weight stands beside the operation that it enters, not at the top of the picture.

An arrow that spans several rows gets a thin node in each row between, which keeps a lane free for
it. All arrows from one box carry the same value, so they share these nodes: they form one trunk,
from which each branches off where it is used. A label is also a node, in a separate row just above
the arrow's head, so labels cover neither boxes nor each other.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import accumulate, pairwise

_WIDEST = 1500.0  # the number of boxes in a row that all lead to the same box
_ROW = 80.0  # approximately the height of a row

Size = tuple[float, float]
Pair = tuple[int, int]


@dataclass(slots=True)
class Net:
    """Nodes in rows, with segments between neighbouring rows only.

    The first `boxes` nodes are boxes, those after them lanes and labels.

    Attributes
    ----------
    row, width, height: Of each node.
    above, below: The neighbours of each node in the rows next to its own.
    rows: The nodes of each row, in order.
    trunks: The nodes that arrows share: their tail, then one lane in each row below.
    ways: The trunk of each arrow.
    shared: For each arrow, the number of nodes of its trunk that it follows; 0 without a lane.
    label: The node that holds an arrow's label, or -1.
    merged: Lanes in which arrows from several tails run to one head.
    """

    boxes: int
    row: list[int]
    width: list[float]
    height: list[float]
    above: list[list[int]]
    below: list[list[int]]
    rows: list[list[int]] = field(default_factory=list)
    trunks: dict[int, list[int]] = field(default_factory=dict)
    ways: list[int] = field(default_factory=list)
    shared: list[int] = field(default_factory=list)
    label: list[int] = field(default_factory=list)
    merged: set[int] = field(default_factory=set)


def against_cycles(count: int, arrows: Sequence[Pair]) -> list[bool]:
    """Return, for each arrow, whether to reverse it so that no cycle is left."""
    waiting = [0] * count
    leaving: list[list[int]] = [[] for _ in range(count)]
    for number, (tail, head) in enumerate(arrows):
        if tail != head:
            waiting[head] += 1
            leaving[tail].append(number)
    turned = [False] * len(arrows)
    ready = [box for box in range(count) if not waiting[box]]
    done = [False] * count
    left = 0
    while True:
        while ready:
            box = ready.pop()
            done[box] = True
            for number in leaving[box]:
                head = arrows[number][1]
                if not done[head]:
                    waiting[head] -= 1
                    if not waiting[head]:
                        ready.append(head)
                else:
                    turned[number] = True
        while left < count and done[left]:
            left += 1
        if left == count:
            return turned
        waiting[left] = 0  # every remaining box follows a cycle: break one here
        ready.append(left)


def rows_of(count: int, arrows: Sequence[Pair], lag: Sequence[int] = ()) -> list[int]:
    """Give each box a row, so that every arrow points to a later row and the arrows are short.

    `lag` is the number of rows added between each box and its predecessors.
    """
    lag = lag or [0] * count
    heads: list[list[int]] = [[] for _ in range(count)]
    tails: list[list[int]] = [[] for _ in range(count)]
    for tail, head in arrows:
        heads[tail].append(head)
        tails[head].append(tail)
    waiting = [len(several) for several in tails]
    order = [box for box in range(count) if not waiting[box]]
    row = [0] * count
    for box in order:  # grows during the loop
        for head in heads[box]:
            row[head] = max(row[head], row[box] + 1 + lag[head])
            waiting[head] -= 1
            if not waiting[head]:
                order.append(head)
    # a box that leads only to this one belongs to it, and slides along with it at no cost
    free = [False] * count
    costs = [0] * count
    for box in order:
        own = 0
        for tail in tails[box]:
            own += free[tail] and len(heads[tail]) == 1
        costs[box] = len(tails[box]) - own
        free[box] = not costs[box]
        if own and costs[box] == len(heads[box]):
            costs[box] -= 1  # at equal cost, keep together what belongs together
    for _ in range(4):
        moved = False
        for box in reversed(order):
            if heads[box] and len(heads[box]) > costs[box]:
                lowest = min([row[head] for head in heads[box]]) - 1
                if lowest > row[box]:
                    row[box] = lowest
                    moved = True
        if not moved:
            break
    first = min(row, default=0)
    return [number - first for number in row]


def _columns(
    sizes: Sequence[Size], arrows: Sequence[Pair], labelled: Sequence[bool]
) -> tuple[list[list[int]], list[list[int]]]:
    """Find boxes that would make a row too wide, and arrange them in columns instead.

    Such boxes lead only to one common box, and either have no predecessor or, second, one common
    predecessor. Labels need separate rows, so the arrows must have none.
    """
    count = len(sizes)
    leaving, entering, plain = [0] * count, [0] * count, [True] * count
    origin, goal = [-1] * count, [-1] * count
    for (tail, head), has in zip(arrows, labelled, strict=True):
        leaving[tail] += 1
        entering[head] += 1
        plain[tail] &= not has
        plain[head] &= not has
        goal[tail], origin[head] = head, tail
    groups: dict[Pair, list[int]] = {}
    for box in range(count):
        if leaving[box] == 1 and entering[box] < 2 and plain[box]:
            groups.setdefault((origin[box], goal[box]), []).append(box)
    found: tuple[list[list[int]], list[list[int]]] = [], []
    for (start, _), boxes in groups.items():
        total = sum(sizes[box][0] for box in boxes)
        tall = -int(-total // max(_WIDEST, (2 * _ROW * total) ** 0.5))  # twice as wide as high
        if tall > 1:
            number = -(-len(boxes) // tall)
            for at in range(number):
                column = boxes[at * len(boxes) // number : (at + 1) * len(boxes) // number]
                found[start >= 0].append(column)
    return found


def build(
    sizes: Sequence[Size],
    arrows: Sequence[Pair],
    labels: Sequence[Size],
    lane: float,
    limit: int,
) -> Net:
    """Assign boxes to rows, and insert lanes and labels between them.

    `limit` is the maximum number of nodes for lanes: the longest trunks beyond it get
    none, and their arrows run straight, underneath the boxes in their way.
    """
    labelled = [width > 0 for width, _ in labels]
    sources, between = _columns(sizes, arrows, labelled)
    net = _boxes_in_rows(sizes, _rows(len(sizes), arrows, labelled, sources, between))
    ends = [net.row[head] - 1 - has for (_, head), has in zip(arrows, labelled, strict=True)]
    # each column of boxes between two others has its own trunk
    column_of = {box: number for number, column in enumerate(between) for box in column}
    net.ways = [-1 - column_of[head] if head in column_of else tail for tail, head in arrows]
    _start_trunks(net, arrows, ends, [*sources, *between], lane, limit)
    _route(net, arrows, ends, labels, lane)
    return net


def _rows(
    count: int,
    arrows: Sequence[Pair],
    labelled: Sequence[bool],
    sources: list[list[int]],
    between: list[list[int]],
) -> list[int]:
    """Return the row of each box; labels get a row of their own above the heads of their arrows."""
    lag = [0] * count
    for column in between:
        for index, box in enumerate(column):
            lag[box] = index
    row = rows_of(count, arrows, lag)
    goal = dict(arrows)
    for column in sources:
        for index, box in enumerate(column):
            row[box] = row[goal[box]] - len(column) + index
    first = min(row, default=0)
    row = [number - first for number in row]
    extra = {row[head] for (_, head), has in zip(arrows, labelled, strict=True) if has}
    shifts = list(accumulate(number in extra for number in range(max(row, default=-1) + 1)))
    return [number + shifts[number] for number in row]


def _boxes_in_rows(sizes: Sequence[Size], row: list[int]) -> Net:
    """Return a net of boxes alone."""
    net = Net(
        len(sizes),
        row,
        [width for width, _ in sizes],
        [height for _, height in sizes],
        [[] for _ in sizes],
        [[] for _ in sizes],
        [[] for _ in range(max(row, default=-1) + 1)],
    )
    for box, number in enumerate(row):
        net.rows[number].append(box)
    return net


def _start_trunks(
    net: Net,
    arrows: Sequence[Pair],
    ends: list[int],
    columns: list[list[int]],
    lane: float,
    limit: int,
) -> None:
    """Start the trunks: those of boxes in columns share their lanes, the others hold their tail."""
    row = net.row
    reach: dict[int, tuple[int, int, int]] = {}  # the length of a trunk, its end, and its tail
    for (tail, _), way, end in zip(arrows, net.ways, ends, strict=True):
        end = max(reach[way][1], end) if way in reach else end
        reach[way] = end - row[tail], end, tail
    for column in columns:
        bottom = reach[column[0]][1]
        lanes = [_add(net, number, (lane, 0.0)) for number in range(row[column[0]] + 1, bottom + 1)]
        for upper, lower in pairwise(lanes):
            _join(net, upper, lower)
        for box in column:
            net.trunks[box] = [box, *lanes[len(lanes) - (bottom - row[box]) :]]
            if len(net.trunks[box]) > 1:
                _join(net, box, net.trunks[box][1])
        net.merged.update(lanes)
    used = 0
    for way, (length, _, tail) in sorted(reach.items(), key=lambda item: (item[1][0], item[0])):
        used += length
        if used > limit:
            break
        net.trunks.setdefault(way, [tail])


def _route(
    net: Net, arrows: Sequence[Pair], ends: list[int], labels: Sequence[Size], lane: float
) -> None:
    """Lead each arrow along its trunk, which grows as needed, and through its label to its head."""
    net.label = [-1] * len(arrows)
    net.shared = [0] * len(arrows)
    joined: set[Pair] = set()
    for number, (tail, head) in enumerate(arrows):
        trunk = net.trunks.get(net.ways[number])
        if trunk is None:
            continue
        steps = ends[number] - net.row[tail] + 1
        while len(trunk) < steps:
            lane_node = _add(net, net.row[tail] + len(trunk), (lane, 0.0))
            _join(net, trunk[-1], lane_node)
            trunk.append(lane_node)
        net.shared[number] = steps
        last = trunk[steps - 1]
        if labels[number][0] > 0:
            net.label[number] = _add(net, net.row[head] - 1, labels[number])
            _join(net, last, net.label[number])
            last = net.label[number]
        if (last, head) not in joined:
            joined.add((last, head))
            _join(net, last, head)


def _add(net: Net, row: int, size: Size) -> int:
    net.row.append(row)
    net.width.append(size[0])
    net.height.append(size[1])
    net.above.append([])
    net.below.append([])
    net.rows[row].append(len(net.row) - 1)
    return len(net.row) - 1


def _join(net: Net, upper: int, lower: int) -> None:
    net.below[upper].append(lower)
    net.above[lower].append(upper)
