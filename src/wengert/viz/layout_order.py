"""Layer 9 · viz: the order of the nodes in each row, chosen so that few arrows cross."""

from __future__ import annotations

from bisect import bisect_right

from wengert.viz.layout_layers import Net

_MANY = 400


def crossings(net: Net, rows: list[list[int]] | None = None) -> int:
    """Count how often segments between neighbouring rows cross.

    `rows` defaults to the current order of the net.
    """
    rows = net.rows if rows is None else rows
    place = _places(net, rows)
    total = 0
    for row in rows[:-1]:
        ends: list[int] = []
        for node in row:
            below = [place[other] for other in net.below[node]]
            if len(below) > 1:
                below.sort()  # arrows from one box do not cross each other
            ends += below
        if ends == sorted(ends):
            continue
        seen: list[int] = []
        for end in ends:
            at = bisect_right(seen, end)
            total += len(seen) - at
            seen.insert(at, end)
    return total


def put_in_order(net: Net, sweeps: int, switches: int) -> int:
    """Order the rows of a net, and return how many crossings are left.

    Sweeps down and up move every node to the mean position of its neighbours in the previous row;
    then neighbours are swapped where that helps, at most `switches` times. The best order seen is
    kept; it never has more crossings than the initial order.
    """
    best, fewest = net.rows, crossings(net)
    for start in (_from_below(net), _from_above(net), net.rows):
        if fewest == 0 and best is not net.rows:
            break
        rows = [list(row) for row in start]
        found = crossings(net, rows)
        if found < fewest or (found == fewest and best is net.rows):
            best, fewest = [list(row) for row in rows], found
        stale = 0
        for number in range(sweeps):
            _sweep(net, rows, down=number % 2 == 0, late=number % 4 >= 2)
            for _ in range(switches):
                if not _switch(net, rows):
                    break
            found = crossings(net, rows)
            if found < fewest:
                best, fewest, stale = [list(row) for row in rows], found, 0
            else:
                stale += 1
                if stale > 5:
                    break
            if fewest == 0:
                break
        if len(net.row) > 4000:
            break  # one initial order is enough for a net of this size
    net.rows = best
    return fewest


def _places(net: Net, rows: list[list[int]]) -> list[int]:
    place = [0] * len(net.row)
    for row in rows:
        for index, node in enumerate(row):
            place[node] = index
    return place


def _from_below(net: Net) -> list[list[int]]:
    """Order by a walk from the results up, arguments from left to right."""
    return _walked(net, [node for row in reversed(net.rows) for node in row], net.above)


def _from_above(net: Net) -> list[list[int]]:
    """Order by a walk from the leaves down."""
    return _walked(net, [node for row in net.rows for node in row], net.below)


def _walked(net: Net, starts: list[int], towards: list[list[int]]) -> list[list[int]]:
    rows: list[list[int]] = [[] for _ in net.rows]
    seen = [False] * len(net.row)
    back = net.above if towards is net.below else net.below
    for start in starts:
        if back[start]:
            continue
        stack = [start]
        while stack:
            node = stack.pop()
            if seen[node]:
                continue
            seen[node] = True
            rows[net.row[node]].append(node)
            stack.extend(reversed(towards[node]))
    return rows


def _sweep(net: Net, rows: list[list[int]], down: bool, late: bool) -> None:
    """Sort each row by the mean positions of its nodes' neighbours in the previous row.

    Nodes without neighbours there keep their positions. Of equals, the first stays first, or with
    `late` the last, which helps to escape local optima.
    """
    joined = net.above if down else net.below
    place = _places(net, rows)
    numbers = range(1, len(rows)) if down else range(len(rows) - 2, -1, -1)
    for number in numbers:
        row = rows[number]
        if len(row) < 2:
            continue
        held = [node for node in row if joined[node]]
        means = {}
        for node in held:
            several = joined[node]
            means[node] = sum([place[other] for other in several]) / len(several)
        if late:
            held.reverse()
        held.sort(key=means.__getitem__)
        if len(held) == len(row):
            row[:] = held
        else:
            following = iter(held)
            row[:] = [next(following) if joined[node] else node for node in row]
        for index, node in enumerate(row):
            place[node] = index


def _switch(net: Net, rows: list[list[int]]) -> bool:
    """Swap neighbours in a row where that reduces the number of crossings."""
    place = _places(net, rows)
    changed = False
    for row in rows:
        if len(row) < 2:
            continue
        up = [[place[other] for other in net.above[node]] for node in row]
        down = [[place[other] for other in net.below[node]] for node in row]
        for at in range(len(row) - 1):
            if _gain(up[at], up[at + 1]) + _gain(down[at], down[at + 1]) > 0:
                row[at : at + 2] = row[at + 1], row[at]
                up[at : at + 2] = up[at + 1], up[at]
                down[at : at + 2] = down[at + 1], down[at]
                changed = True
        for at, node in enumerate(row):
            place[node] = at
    return changed


def _gain(left: list[int], right: list[int]) -> int:
    """Return the number of crossings saved by placing `right` on the left."""
    if len(left) == 1 == len(right):
        return (left[0] > right[0]) - (left[0] < right[0])
    if len(left) * len(right) > _MANY:
        return -_MANY  # boxes with more arrows stay where the sweeps put them
    gain = 0
    for one in left:
        for other in right:
            gain += (one > other) - (one < other)
    return gain
