"""Layer 9 · viz: a layered layout: boxes in rows, arrows downwards and round the boxes.

The steps are Sugiyama's: rows (`layout_layers`), order in the rows (`layout_order`), positions
(`layout_places`), and the curves of the arrows, which this module adds. Everything is
deterministic, without recursion, and takes time nearly proportional to the number of boxes and
arrows; large pictures are ordered and placed with fewer iterations.

Within a row, an arrow keeps to its lane; between two rows, it swings from one lane to the next. So
no arrow runs through a box. Only graphs with arrows across thousands of rows reach the limit on
lanes, beyond which the longest arrows run straight.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from wengert.viz.layout_layers import Net, Pair, Size, against_cycles, build
from wengert.viz.layout_order import put_in_order
from wengert.viz.layout_places import give_places

Point = tuple[float, float]

_LANE = 1.0  # of a lane
_TIP = 8.0  # of an arrow's straight part
_ENTRY = 14.0  # between the arrows that enter one box
_NEAR = 0.25  # lanes closer than this form one straight line


@dataclass(slots=True)
class Layout:
    """The positions of everything in a drawing.

    Attributes
    ----------
    places: The centre of each box.
    routes: For each arrow, the points of a chain of cubic Bézier curves from the tail to the head:
        the first point, then three for each curve. A straight part is also a curve. An arrow from a
        box to itself has none.
    labels: The centre of each arrow's label, or None.
    rows: The row of each box.
    crossings: The number of crossings of arrows left between rows.
    """

    width: float = 0.0
    height: float = 0.0
    places: list[Point] = field(default_factory=list)
    routes: list[list[Point]] = field(default_factory=list)
    labels: list[Point | None] = field(default_factory=list)
    rows: list[int] = field(default_factory=list)
    crossings: int = 0


def arrange(
    sizes: Sequence[Size],
    arrows: Sequence[Pair],
    labels: Sequence[Size] | None = None,
    *,
    gap: Size = (26.0, 38.0),
) -> Layout:
    """Lay out boxes that are joined by arrows.

    Parameters
    ----------
    sizes: The width and height of each box.
    arrows: Pairs of box numbers, tail and head. Where they close a cycle, some point upwards.
    labels: The width and height of each arrow's label; (0, 0) for none.
    gap: The minimum space between neighbouring boxes, and between rows.

    Examples
    --------
    >>> laid = arrange([(60, 20), (40, 20), (40, 20)], [(0, 1), (0, 2)])
    >>> laid.rows
    [0, 1, 1]
    >>> laid.places[0][0] == (laid.places[1][0] + laid.places[2][0]) / 2
    True
    """
    if labels is None:
        labels = [(0.0, 0.0)] * len(arrows)
    result = Layout(
        places=[(0.0, 0.0)] * len(sizes),
        routes=[[] for _ in arrows],
        labels=[None] * len(arrows),
        rows=[0] * len(sizes),
    )
    turned = against_cycles(len(sizes), arrows)
    pieces = []
    for boxes, numbers in _components(len(sizes), arrows):
        index = {box: at for at, box in enumerate(boxes)}
        pairs = [(index[arrows[one][0]], index[arrows[one][1]]) for one in numbers]
        pairs = [
            pair[::-1] if turned[one] else pair for one, pair in zip(numbers, pairs, strict=True)
        ]
        piece = _arrange_one(
            [sizes[box] for box in boxes], pairs, [labels[one] for one in numbers], gap
        )
        pieces.append((boxes, numbers, piece))
    corners = _shelves([(piece.width, piece.height) for _, _, piece in pieces], gap)
    for (boxes, numbers, piece), (left, top) in zip(pieces, corners, strict=True):
        for at, box in enumerate(boxes):
            x, y = piece.places[at]
            result.places[box] = (x + left, y + top)
            result.rows[box] = piece.rows[at]
        for at, one in enumerate(numbers):
            route = [(x + left, y + top) for x, y in piece.routes[at]]
            result.routes[one] = route[::-1] if turned[one] else route
            label = piece.labels[at]
            if label is not None:
                result.labels[one] = (label[0] + left, label[1] + top)
        result.width = max(result.width, left + piece.width)
        result.height = max(result.height, top + piece.height)
        result.crossings += piece.crossings
    return result


def _components(count: int, arrows: Sequence[Pair]) -> list[tuple[list[int], list[int]]]:
    """Return the connected components as boxes and arrows, in the order of their first boxes."""
    parent = list(range(count))

    def find(box: int) -> int:
        while parent[box] != box:
            parent[box] = parent[parent[box]]
            box = parent[box]
        return box

    for tail, head in arrows:
        one, other = find(tail), find(head)
        if one != other:
            parent[max(one, other)] = min(one, other)
    parts: dict[int, tuple[list[int], list[int]]] = {}
    for box in range(count):
        parts.setdefault(find(box), ([], []))[0].append(box)
    for number, (tail, head) in enumerate(arrows):
        if tail != head:
            parts[find(tail)][1].append(number)
    return list(parts.values())


def _shelves(sizes: Sequence[Size], gap: Size) -> list[Point]:
    """Arrange pieces side by side on shelves, about as wide as all shelves are high."""
    between = 2 * gap[0]
    area = sum((width + between) * (height + between) for width, height in sizes)
    wide = max(max((width for width, _ in sizes), default=0.0), (2 * area) ** 0.5)
    x = y = tall = 0.0
    corners = []
    for width, height in sizes:
        if x and x + width > wide:
            x, y, tall = 0.0, y + tall + between, 0.0
        corners.append((x, y))
        x += width + between
        tall = max(tall, height)
    return corners


def _arrange_one(
    sizes: Sequence[Size], arrows: Sequence[Pair], labels: Sequence[Size], gap: Size
) -> Layout:
    net = build(sizes, arrows, labels, _LANE, 20_000 + 3 * len(sizes))
    nodes = len(net.row)
    small = nodes < 1500
    crossings = put_in_order(net, 24 if small else 4, (4 if nodes < 300 else 1) if small else 0)
    count = net.boxes

    def space(left: int, right: int) -> float:
        boxes = (left < count) + (right < count)
        return gap[0] if boxes == 2 else gap[0] * 0.65 if boxes else gap[0] * 0.45

    x = give_places(net, space, nodes < 6000)
    left = min(one - width / 2 for one, width in zip(x, net.width, strict=True))
    x = [one - left for one in x]
    top, bottom = _heights(net, x, gap[1])
    entries = _entries(net, arrows, x)
    result = Layout(crossings=crossings)
    result.width = max(one + width / 2 for one, width in zip(x, net.width, strict=True))
    result.height = bottom[-1]
    result.rows = net.row[:count]
    middle = [(high + low) / 2 for high, low in zip(top, bottom, strict=True)]
    result.places = [(x[box], middle[net.row[box]]) for box in range(count)]
    lanes = {way: _Lanes(nodes, net, x, top, bottom) for way, nodes in net.trunks.items()}
    for number, (tail, head) in enumerate(arrows):
        route = [(x[tail], result.places[tail][1] + sizes[tail][1] / 2)]
        leave = bottom[net.row[tail]]
        if net.shared[number]:
            leave = lanes[net.ways[number]].follow(route, net.shared[number])
        label = net.label[number]
        if label >= 0:
            row = net.row[label]
            _swing(route, leave, (x[label], top[row]))
            leave = bottom[row]
            result.labels.append((x[label], middle[row]))
        else:
            result.labels.append(None)
        _swing(route, leave, (entries[number], top[net.row[head]] - _TIP))
        _straight(route, result.places[head][1] - sizes[head][1] / 2)
        result.routes.append(route)
    return result


class _Lanes:
    """The lanes that the arrows of one box share; those in a vertical line are merged."""

    def __init__(
        self, nodes: list[int], net: Net, x: list[float], top: list[float], bottom: list[float]
    ):
        self.bottoms = [bottom[net.row[node]] for node in nodes]
        self.starts: list[tuple[float, float, int]] = []  # x, top, first of each straight part
        for at, node in enumerate(nodes):
            if not at or abs(x[node] - self.starts[-1][0]) > _NEAR:
                self.starts.append((x[node], top[net.row[node]], at))

    def follow(self, route: list[Point], steps: int) -> float:
        """Extend a route through `steps` lanes; return the height at which the last one ends."""
        for x, top, at in self.starts[1:]:
            if at >= steps:
                break
            _swing(route, self.bottoms[at - 1], (x, top))
        return self.bottoms[steps - 1]


def _heights(net: Net, x: list[float], gap: float) -> tuple[list[float], list[float]]:
    """Return the top and bottom of each row: further apart where arrows go far to the side."""
    tops, bottoms = [], []
    y = 0.0
    for number, row in enumerate(net.rows):
        if number:
            aside = max(
                [abs(x[node] - x[upper]) for node in row for upper in net.above[node]], default=0.0
            )
            y += min(0.08 * aside, 1.2 * gap)
            if all(node >= net.boxes for node in row):  # a row of labels
                y += 0.45 * gap
            elif all(node >= net.boxes for node in net.rows[number - 1]):
                y += 0.45 * gap + _TIP
            else:
                y += gap
        tops.append(y)
        y += max([net.height[node] for node in row])
        bottoms.append(y)
    return tops, bottoms


def _entries(net: Net, arrows: Sequence[Pair], x: list[float]) -> list[float]:
    """Return where each arrow enters its head: straight below its tail, as far as possible."""
    result = [0.0] * len(arrows)
    entering: dict[int, list[int]] = {}
    for number, (_, head) in enumerate(arrows):
        entering.setdefault(head, []).append(number)
    for head, numbers in entering.items():
        came = {}
        ends: dict[int, int] = {}  # of lanes in which arrows have merged, which have one end
        same: dict[int, int] = {}
        for number in numbers:
            last, steps = arrows[number][0], net.shared[number]
            if steps:
                last = net.trunks[net.ways[number]][steps - 1]
            came[number] = x[last if net.label[number] < 0 else net.label[number]]
            if last in net.merged and ends.setdefault(last, number) != number:
                same[number] = ends[last]
        numbers = [number for number in numbers if number not in same]
        numbers.sort(key=lambda number: (came[number], number))
        reach = 0.38 * net.width[head]
        step = min(_ENTRY, 2 * reach / len(numbers))
        low, high = x[head] - reach, x[head] + reach
        rightmost = high - step * (len(numbers) - 1)
        wanted = [
            min(max(came[number], low), high) - step * at for at, number in enumerate(numbers)
        ]
        for at, (number, place) in enumerate(zip(numbers, _rising(wanted), strict=True)):
            result[number] = min(max(place, low), rightmost) + step * at
        for number, other in same.items():
            result[number] = result[other]
    return result


def _rising(wanted: list[float]) -> list[float]:
    """Return the non-decreasing numbers nearest to `wanted`, by least squares."""
    sums: list[list[float]] = []
    for value in wanted:
        sums.append([value, 1.0])
        while len(sums) > 1 and sums[-2][0] * sums[-1][1] > sums[-1][0] * sums[-2][1]:
            total, number = sums.pop()
            sums[-1][0] += total
            sums[-1][1] += number
    return [total / number for total, number in sums for _ in range(int(number))]


def _straight(route: list[Point], y: float) -> None:
    """Extend a route straight down to the height `y`."""
    x, third = route[-1][0], (y - route[-1][1]) / 3
    if third:
        route += [(x, y - 2 * third), (x, y - third), (x, y)]


def _swing(route: list[Point], leave: float, end: Point) -> None:
    """Extend a route down to the height `leave`, then over to `end`, vertical at both ends."""
    x = route[-1][0]
    if x == end[0]:
        _straight(route, end[1])
    else:
        _straight(route, leave)
        bend = 0.5 * (end[1] - leave)
        route += [(x, leave + bend), (end[0], end[1] - bend), end]
