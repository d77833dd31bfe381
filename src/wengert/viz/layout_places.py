"""Layer 9 · viz: the horizontal positions of the nodes of a layout.

Based on Brandes and Köpf, "Fast and Simple Horizontal Coordinate Assignment" (2001). Nodes are
aligned with the median of their neighbours in the previous row, which gives straight vertical
blocks, and the blocks are compacted. Four drawings are made, each compacted into another corner;
the result is the mean of the two in the middle, so a symmetric graph is drawn symmetrically. Blocks
are compacted by longest paths over all of them at once, which avoids the flaws that the authors'
erratum of 2020 corrects.

Two things are added. The neighbours that a node is aligned with are those at the ends of the
longest chains: a chain of operations runs straight, and the weights that enter it stand beside it.
Finally, each block slides towards its neighbours as far as there is room.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise

from wengert.viz.layout_layers import Net

Strong = list[list[int]]
Gap = Callable[[int, int], float]


def give_places(net: Net, gap: Gap, thorough: bool) -> list[float]:
    """Return the centre of each node, so that neighbours in a row are at least `gap` apart.

    Without `thorough`, two drawings are averaged instead of four, and no block slides.
    """
    place = [0] * len(net.row)
    for row in net.rows:
        for index, node in enumerate(row):
            place[node] = index
    up, down = _strong(net)
    taken = _crossed(net, place)
    wanted = {(one, lower) for one, several in enumerate(down) for lower in several} - taken
    links: list[list[int]] = []  # for the walk upwards
    for lower, uppers in enumerate(up):
        links.append([one for one in uppers if (one, lower) in wanted])
        if len(links[-1]) > 1:
            links[-1].sort(key=place.__getitem__)
    back: list[list[int]] = [[] for _ in net.row]
    for row in net.rows:
        for node in row:
            for upper in links[node]:
                back[upper].append(node)
    apart = {
        (left, right): (net.width[left] + net.width[right]) / 2 + gap(left, right)
        for row in net.rows
        for left, right in pairwise(row)
    }
    drawings = []
    for rows, joined in ((net.rows, links), (net.rows[::-1], back))[: 2 if thorough else 1]:
        drawings.append(_drawn(rows, joined, place, apart))
        mirrored_rows = [row[::-1] for row in rows]
        mirrored = [several[::-1] for several in joined]
        at = [0] * len(place)
        for row in mirrored_rows:
            for index, node in enumerate(row):
                at[node] = index
        swapped = {(right, left): space for (left, right), space in apart.items()}
        drawings.append([-x for x in _drawn(mirrored_rows, mirrored, at, swapped)])
    places = _balanced(net, drawings)
    if thorough:
        _slide(net, places, apart, up, down, links)
    return places


def _strong(net: Net) -> tuple[Strong, Strong]:
    """Return, for each node, the neighbours above and below that it should be aligned with.

    A neighbour counts by the length of the longest chain that ends there; a chain that leads
    nowhere else, such as a transposed weight, counts less. An arrow that skips rows counts as much
    as one from the previous row only if its tail has no other arrow: then it is a branch that joins
    again, while the others go round something.
    """
    count = net.boxes
    owner = list(range(len(net.row)))
    depth = [0] * len(net.row)
    private = [True] * len(net.row)
    rank = [0] * len(net.rows)  # rows of labels do not add to the length
    for number, row in enumerate(net.rows):
        rank[number] = rank[number - 1] + any(node < count for node in row) if number else 0
        for node in row:
            for upper in net.above[node]:
                if node < count:
                    depth[node] = max(depth[node], depth[upper] + 1)
                    private[node] &= private[upper] and len(net.below[owner[upper]]) == 1
                else:
                    depth[node], owner[node] = depth[upper], owner[upper]
                    private[node] = private[upper]
    rise = [0] * len(net.row)
    for row in reversed(net.rows):
        for node in row:
            for lower in net.below[node]:
                rise[node] = max(rise[node], rise[lower] + (lower < count))
    up: Strong = []
    down: Strong = []
    for node in range(len(net.row)):
        above, below = net.above[node], net.below[node]
        if len(above) > 1 and node >= count:
            above = [one for one in above if one >= count] or above  # lanes continue straight
        elif len(above) > 1:
            # chains half as long as the longest qualify, private ones if two thirds as long
            most = max([depth[one] for one in above]) + 1
            above = [
                one for one in above if (3 if private[one] else 4) * (depth[one] + 1) >= 2 * most
            ]
            here = rank[net.row[node]]
            near = [
                one
                for one in above
                if here - rank[net.row[owner[one]]] < 2 or len(net.below[owner[one]]) == 1
            ]
            above = near or above
        if len(below) > 1:
            onwards = [one for one in below if one >= count and net.width[one] < 2]
            if node >= count and onwards:
                below = onwards
            else:
                most = max([rise[one] + (one < count) for one in below])
                heavy = [one for one in below if 2 * (rise[one] + 1) > most]
                near = [one for one in heavy if one < count or net.width[one] >= 2]
                below = near or heavy
        up.append(above)
        down.append(below)
    return up, down


def _crossed(net: Net, place: list[int]) -> set[tuple[int, int]]:
    """Return the segments that cross a segment between two lanes; they are not aligned.

    The segments between lanes stay straight instead.
    """
    result = set()
    count = net.boxes
    for upper, lower in zip(net.rows, net.rows[1:], strict=False):
        left, start = -1, 0
        for index, node in enumerate(lower):
            inner = -1
            if node >= count:
                inner = next((place[one] for one in net.above[node] if one >= count), -1)
            if inner >= 0 or index == len(lower) - 1:
                right = inner if inner >= 0 else len(upper)
                for other in lower[start : index + 1]:
                    for one in net.above[other]:
                        at = place[one]
                        if (at < left or at > right) and (one < count or other < count):
                            result.add((one, other))
                start, left = index + 1, right
    return result


def _drawn(
    rows: list[list[int]],
    joined: list[list[int]],
    place: list[int],
    apart: dict[tuple[int, int], float],
) -> list[float]:
    """Compute one drawing: align each node with a median neighbour, push the blocks to the left."""
    root = list(range(len(place)))
    follows = [-1] * len(place)
    for row in rows[1:]:
        edge = -1
        for node in row:
            several = joined[node]
            for one in several[(len(several) - 1) // 2 : len(several) // 2 + 1] if several else ():
                if follows[one] < 0 and place[one] > edge:
                    follows[one] = node
                    root[node] = root[one]
                    edge = place[one]
                    break
    right_of: list[list[tuple[int, float]]] = [[] for _ in place]
    waiting = [0] * len(place)
    for row in rows:
        for left, right in pairwise(row):
            right_of[root[left]].append((root[right], apart[left, right]))
            waiting[root[right]] += 1
    order = [node for node in range(len(place)) if root[node] == node and not waiting[node]]
    x = [0.0] * len(place)
    for block in order:  # grows during the loop
        at = x[block]
        for other, space in right_of[block]:
            if at + space > x[other]:
                x[other] = at + space
            waiting[other] -= 1
            if not waiting[other]:
                order.append(other)
    for block in reversed(order):
        if right_of[block]:
            x[block] = max(x[block], min([x[other] - space for other, space in right_of[block]]))
    return [x[one] for one in root]


def _balanced(net: Net, drawings: list[list[float]]) -> list[float]:
    """Superimpose drawings, left ones by their left sides, and take the middle."""
    half = [width / 2 for width in net.width]
    sides = []
    for drawing in drawings:
        sides.append(
            (
                min([x - h for x, h in zip(drawing, half, strict=True)]),
                max([x + h for x, h in zip(drawing, half, strict=True)]),
            )
        )
    low, high = min(sides, key=lambda side: side[1] - side[0])
    moved = []
    for index, (drawing, side) in enumerate(zip(drawings, sides, strict=True)):
        shift = low - side[0] if index % 2 == 0 else high - side[1]
        moved.append([x + shift for x in drawing])
    if len(moved) == 2:
        return [(a + b) / 2 for a, b in zip(*moved, strict=True)]
    result = []
    for several in zip(*moved, strict=True):
        ordered = sorted(several)
        result.append((ordered[1] + ordered[2]) / 2)
    return result


def _slide(
    net: Net,
    x: list[float],
    apart: dict[tuple[int, int], float],
    up: Strong,
    down: Strong,
    links: list[list[int]],
) -> None:
    """Move blocks towards what they are joined to, as far as their neighbours leave room."""
    block = list(range(len(x)))
    for row in net.rows:
        for node in row:
            for one in links[node]:
                if abs(x[one] - x[node]) < 0.5:
                    block[node] = block[one]
                    break
    members: dict[int, list[int]] = {}
    for node, first in enumerate(block):
        members.setdefault(first, []).append(node)
    pulls: dict[int, list[tuple[int, int]]] = {}
    for first, nodes in members.items():
        several = [
            (node, other)
            for node in nodes
            for other in (*up[node], *down[node])
            if block[other] != first
        ]
        if several:
            pulls[first] = several
    left: list[int] = [-1] * len(x)
    right: list[int] = [-1] * len(x)
    for row in net.rows:
        for one, other in pairwise(row):
            left[other], right[one] = one, other
    order = sorted(pulls, key=lambda first: (x[first], first))
    for _ in range(6):
        passes = []
        for turn in (order, order[::-1]):
            new = list(x)
            for first in turn:
                several = pulls[first]
                shift = sum([new[other] - new[node] for node, other in several]) / len(several)
                if shift < 0:
                    for node in members[first]:
                        if left[node] >= 0:
                            room = new[left[node]] + apart[left[node], node] - new[node]
                            shift = max(shift, min(room, 0.0))
                else:
                    for node in members[first]:
                        if right[node] >= 0:
                            room = new[right[node]] - apart[node, right[node]] - new[node]
                            shift = min(shift, max(room, 0.0))
                for node in members[first]:
                    new[node] += shift
            passes.append(new)
        change = 0.0
        for node, (one, other) in enumerate(zip(*passes, strict=True)):
            middle = (one + other) / 2
            change = max(change, abs(middle - x[node]))
            x[node] = middle
        if change < 0.5:
            break
