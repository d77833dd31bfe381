"""Test invariants of the layered layout, for any graph."""

import random
from itertools import combinations, pairwise

import pytest

from wengert.viz.layout import arrange
from wengert.viz.layout_layers import against_cycles, build, rows_of
from wengert.viz.layout_order import crossings, put_in_order


def random_graph(count, seed):
    numbers = random.Random(seed)
    pairs = []
    for head in range(1, count):
        for _ in range(numbers.choice([0, 1, 1, 2, 3])):
            pairs.append((max(0, head - 1 - int(numbers.expovariate(0.2))), head))
    sizes = [(numbers.randint(30, 160), numbers.randint(20, 70)) for _ in range(count)]
    return sizes, pairs


def residual(blocks):
    """A chain of blocks, each with a way round it, and a weight at every operation."""
    pairs, last, count = [], 0, 1
    for _ in range(blocks):
        start = last
        for _ in range(3):
            pairs += [(last, count), (count + 1, count)]
            last, count = count, count + 2
        pairs += [(last, count), (start, count)]
        last, count = count, count + 1
    return [(90, 34)] * count, pairs


def alike(count, pairs, labels=False):
    sizes = [(80, 30)] * count
    return (sizes, pairs, [(40, 16)] * len(pairs)) if labels else (sizes, pairs)


def labelled(graph):
    sizes, pairs = graph
    return sizes, pairs, [(20 + 7 * (at % 9), 16) for at in range(len(pairs))]


GRAPHS = {
    "one box": alike(1, []),
    "two boxes": alike(2, [(0, 1)]),
    "no arrows": alike(30, []),
    "square": alike(2, [(0, 1), (0, 1)]),
    "chain": alike(30, [(at, at + 1) for at in range(29)]),
    "fan": alike(22, [(0, at) for at in range(1, 21)] + [(at, 21) for at in range(1, 21)]),
    "residual": residual(5),
    "bipartite": alike(10, [(tail, head) for tail in range(5) for head in range(5, 10)]),
    "over many rows": alike(12, [(at, at + 1) for at in range(11)] + [(0, 11), (2, 9), (1, 11)]),
    "many weights": alike(64, [(0, 1), *((at, 1) for at in range(2, 62)), (1, 62), (62, 63)]),
    "wide fan": alike(
        63,
        [*((0, at) for at in range(1, 61)), *((at, 61) for at in range(1, 61)), (61, 62), (0, 62)],
    ),
    "two components": alike(8, [(0, 1), (1, 2), (0, 2), (3, 4), (5, 6), (5, 7)]),
    "derivatives": alike(6, [(0, 1), (1, 2), (0, 3), (2, 4), (3, 4), (4, 5), (0, 5)], labels=True),
    "labels on equal arrows": alike(2, [(0, 1), (0, 1), (0, 1)], labels=True),
    **{f"random {seed}": random_graph(40, seed) for seed in range(6)},
    "random, labelled": labelled(random_graph(40, 7)),
    "residual, labelled": labelled(residual(3)),
    "large": random_graph(600, 8),
}


def box_of(place, size):
    (x, y), (width, height) = place, size
    return x - width / 2, y - height / 2, x + width / 2, y + height / 2


def overlap(one, other, slack=0.01):
    return (
        one[0] < other[2] - slack
        and other[0] < one[2] - slack
        and one[1] < other[3] - slack
        and other[1] < one[3] - slack
    )


def points_on(route, steps=12):
    for at in range(0, len(route) - 1, 3):
        corners = route[at : at + 4]
        for step in range(steps + 1):
            t = step / steps
            weights = (1 - t) ** 3, 3 * t * (1 - t) ** 2, 3 * t**2 * (1 - t), t**3
            yield tuple(
                sum(w * corner[axis] for w, corner in zip(weights, corners, strict=True))
                for axis in (0, 1)
            )


@pytest.fixture(params=GRAPHS, scope="module")
def drawn(request):
    graph = GRAPHS[request.param]
    return arrange(*graph), *graph[:2], graph[2] if len(graph) > 2 else None


def test_boxes_do_not_overlap(drawn):
    laid, sizes, _, _ = drawn
    corners = [box_of(place, size) for place, size in zip(laid.places, sizes, strict=True)]
    assert not any(overlap(one, other) for one, other in combinations(corners, 2))


def test_everything_lies_within_the_picture(drawn):
    laid, sizes, _, _ = drawn
    for place, size in zip(laid.places, sizes, strict=True):
        left, top, right, bottom = box_of(place, size)
        assert left >= -0.01
        assert top >= -0.01
        assert right <= laid.width + 0.01
        assert bottom <= laid.height + 0.01
    for route in laid.routes:
        for x, y in route:
            assert -0.01 <= x <= laid.width + 0.01
            assert -0.01 <= y <= laid.height + 0.01


def test_arrows_point_downwards_all_the_way(drawn):
    laid, _, pairs, _ = drawn
    for (tail, head), route in zip(pairs, laid.routes, strict=True):
        assert laid.rows[tail] < laid.rows[head]
        heights = [y for _, y in points_on(route)]
        assert all(after > before - 1e-6 for before, after in pairwise(heights))


def test_arrows_begin_and_end_on_their_boxes(drawn):
    laid, sizes, pairs, _ = drawn
    for (tail, head), route in zip(pairs, laid.routes, strict=True):
        left, _, right, bottom = box_of(laid.places[tail], sizes[tail])
        assert left < route[0][0] < right
        assert route[0][1] == pytest.approx(bottom)
        left, top, right, _ = box_of(laid.places[head], sizes[head])
        assert left < route[-1][0] < right
        assert route[-1][1] == pytest.approx(top)


def test_arrows_run_through_no_box(drawn):
    laid, sizes, _, _ = drawn
    corners = [box_of(place, size) for place, size in zip(laid.places, sizes, strict=True)]
    for route in laid.routes:
        xs, ys = [x for x, _ in route], [y for _, y in route]
        hull = min(xs), min(ys), max(xs) + 0.1, max(ys)
        near = [one for one in corners if overlap(one, hull)]
        for x, y in points_on(route) if near else ():
            assert not any(overlap((x, y, x, y), one, -0.01 + 0.5) for one in near)


def test_arrows_into_one_box_end_apart(drawn):
    laid, _, pairs, _ = drawn
    ways = {}
    for (tail, _), route in zip(pairs, laid.routes, strict=True):
        ways.setdefault(route[-1], []).append((tail, route))
    for several in ways.values():
        assert len({tail for tail, _ in several}) == len(several)  # equal arrows do not merge
        for _, route in several:
            assert len(several) == 1 or route[-4:] == several[0][1][-4:]  # they merged before


def test_labels_lie_on_their_arrows_and_cover_nothing(drawn):
    laid, sizes, _, labels = drawn
    if labels is None:
        assert set(laid.labels) <= {None}
        return
    taken = [box_of(place, size) for place, size in zip(laid.places, sizes, strict=True)]
    taken += [box_of(place, size) for place, size in zip(laid.labels, labels, strict=True)]
    assert not any(overlap(one, other) for one, other in combinations(taken, 2))
    for (x, y), route in zip(laid.labels, laid.routes, strict=True):
        assert any(abs(px - x) < 1 and abs(py - y) < 12 for px, py in points_on(route, 40))


@pytest.mark.sampled(4)
def test_no_more_crossings_than_in_the_order_given(drawn):
    _, sizes, pairs, labels = drawn
    net = build(sizes, pairs, labels or [(0, 0)] * len(pairs), 1.0, 100_000)
    before = crossings(net)
    after = put_in_order(net, 24, 4)
    assert after <= before
    assert after == crossings(net)
    assert sorted(map(len, net.rows)) == sorted(
        len([node for node in net.row if node == number]) for number in range(len(net.rows))
    )


@pytest.mark.sampled(4)
def test_the_same_graph_is_drawn_the_same_way(drawn):
    laid, sizes, pairs, labels = drawn
    assert arrange(sizes, pairs, labels) == laid


def test_crossings_are_counted_as_one_by_one():
    sizes, pairs = random_graph(40, 11)
    net = build(sizes, pairs, [(0, 0)] * len(pairs), 1.0, 100_000)
    place = {node: at for row in net.rows for at, node in enumerate(row)}
    segments = [(upper, lower) for upper, several in enumerate(net.below) for lower in several]
    count = 0
    for (a, b), (c, d) in combinations(segments, 2):
        if net.row[a] == net.row[c]:
            count += (place[a] - place[c]) * (place[b] - place[d]) < 0
    assert crossings(net) == count > 0


def test_sweeps_and_switches_each_take_crossings_away():
    sizes, pairs = random_graph(60, 12)
    left = []
    for sweeps, switches in ((0, 0), (24, 0), (24, 4)):
        net = build(sizes, pairs, [(0, 0)] * len(pairs), 1.0, 100_000)
        left.append(put_in_order(net, sweeps, switches))
    assert left[0] > left[1] > left[2]


def test_a_planar_graph_is_drawn_without_crossings():
    assert arrange(*residual(6)).crossings == 0
    tree = [((at - 1) // 2, at) for at in range(1, 31)]
    assert arrange(*alike(31, tree)).crossings == 0
    shuffled = random.Random(3).sample(tree, len(tree))
    assert arrange(*alike(31, shuffled)).crossings == 0


@pytest.mark.parametrize(
    ("count", "pairs", "mirrored"),
    [
        (3, [(0, 1), (0, 2)], {0: 0, 1: 2}),
        (3, [(0, 2), (1, 2)], {0: 1, 2: 2}),
        (4, [(0, 1), (0, 2), (1, 3), (2, 3)], {0: 0, 1: 2, 3: 3}),
        (5, [(0, 4), (1, 4), (2, 4), (3, 4)], {0: 3, 1: 2, 4: 4}),
        (7, [(0, 4), (1, 4), (2, 5), (3, 5), (4, 6), (5, 6)], {0: 3, 1: 2, 4: 5, 6: 6}),
    ],
)
@pytest.mark.parametrize("labels", [False, True])
def test_a_symmetric_graph_is_drawn_symmetrically(count, pairs, mirrored, labels):
    laid = arrange(*alike(count, pairs, labels))
    for one, other in mirrored.items():
        assert laid.places[one][0] + laid.places[other][0] == pytest.approx(laid.width)


def test_a_chain_is_straight():
    laid = arrange(
        [(40 + 13 * (at % 4), 30) for at in range(12)], [(at, at + 1) for at in range(11)]
    )
    assert {x for x, _ in laid.places} == {laid.width / 2}
    assert {x for route in laid.routes for x, _ in route} == {laid.width / 2}


def test_the_chain_of_a_network_runs_straight_past_weights_and_ways_round():
    sizes, pairs = residual(4)
    laid = arrange(sizes, pairs)
    heads = {head for _, head in pairs}
    assert len({round(laid.places[box][0], 3) for box in heads}) == 1


def test_what_is_used_once_stands_just_above_its_use():
    # two weights, one behind a transposition, enter the end of a chain of ten
    pairs = [(at, at + 1) for at in range(9)] + [(10, 9), (11, 12), (12, 9)]
    rows = rows_of(13, pairs)
    assert rows[9] - rows[10] == rows[9] - rows[12] == rows[12] - rows[11] == 1


def test_arrows_from_one_box_share_a_trunk():
    pairs = [(at, at + 1) for at in range(1, 9)] + [(0, at) for at in range(2, 10)]
    laid = arrange(*alike(10, pairs))
    routes = [route for (tail, _), route in zip(pairs, laid.routes, strict=True) if tail == 0]
    assert len({route[0] for route in routes}) == 1
    lanes = {round(x, 3) for route in routes for x, _ in route[4:-6]}
    assert len(lanes) <= 2


def test_many_boxes_that_lead_to_one_stand_in_columns():
    pairs = [(at, 0) for at in range(1, 121)] + [(0, 121)]
    sizes = [(100, 40)] * 122
    laid = arrange(sizes, pairs)
    assert laid.width < 2500
    assert laid.rows[0] > 3
    assert laid.crossings == 0
    assert len({route[-1] for route in laid.routes[:-1]}) < 60
    labels = [(30, 16)] * len(pairs)
    assert arrange(sizes, pairs, labels).rows[1:121] == [0] * 120


def test_many_boxes_between_two_stand_in_columns():
    pairs = [(0, at) for at in range(1, 81)] + [(at, 81) for at in range(1, 81)] + [(81, 82)]
    laid = arrange([(100, 40)] * 83, pairs)
    assert laid.width < 3600
    assert laid.crossings == 0
    assert laid.places[0][0] == pytest.approx(laid.places[81][0], abs=laid.width / 10)


def test_rows_far_apart_leave_room_for_arrows_that_go_far_aside():
    narrow = arrange(*alike(4, [(0, 1), (0, 2), (0, 3)]))
    wide = arrange(*alike(31, [(0, at) for at in range(1, 31)]))
    assert wide.places[1][1] - wide.places[0][1] > narrow.places[1][1] - narrow.places[0][1]


def test_nothing_is_drawn_of_nothing():
    laid = arrange([], [])
    assert (laid.width, laid.height, laid.places, laid.routes) == (0, 0, [], [])


def test_components_stand_apart():
    laid = arrange(*alike(9, [(0, 1), (1, 2), (3, 4), (5, 6), (7, 8)]))
    spans = []
    for members in ((0, 1, 2), (3, 4), (5, 6), (7, 8)):
        corners = [box_of(laid.places[box], (80, 30)) for box in members]
        spans.append(
            tuple(
                choose(corner[axis] for corner in corners)
                for axis, choose in enumerate((min, min, max, max))
            )
        )
    assert not any(overlap(one, other) for one, other in combinations(spans, 2))


def test_many_components_make_a_picture_that_is_not_a_ribbon():
    laid = arrange(*alike(400, []))
    assert laid.width < 6 * laid.height


def test_a_cycle_is_drawn_with_one_arrow_upwards():
    pairs = [(0, 1), (1, 2), (2, 0), (2, 3)]
    assert sum(against_cycles(4, pairs)) == 1
    laid = arrange(*alike(4, pairs))
    upwards = [route for route in laid.routes if route[-1][1] < route[0][1]]
    assert len(upwards) == 1


def test_an_arrow_from_a_box_to_itself_is_left_out():
    laid = arrange(*alike(2, [(0, 0), (0, 1)]))
    assert laid.routes[0] == []
    assert laid.routes[1]


@pytest.mark.sampled(3)
@pytest.mark.parametrize(
    ("count", "pairs"),
    [
        (10_001, [(0, at) for at in range(1, 10_000)] + [(at, 10_000) for at in range(1, 10_000)]),
        (10_000, [(at, at + 1) for at in range(1, 9_999)] + [(0, at) for at in range(2, 9_999, 2)]),
        (3_000, [(at, at + 1) for at in range(2_999)] + [(at, 2_999) for at in range(0, 2_998, 2)]),
    ],
    ids=["fan", "one weight used all along a chain", "more long arrows than there can be lanes"],
)
def test_large_graphs_are_drawn(count, pairs):
    laid = arrange(*alike(count, pairs))
    assert len(laid.places) == count
    assert all(route for route in laid.routes)
    tops = {}
    for (x, y), row in zip(laid.places, laid.rows, strict=True):
        tops.setdefault(row, []).append((x, y))
    for several in tops.values():
        several.sort()
        assert all(other[0] - one[0] > 80 for one, other in pairwise(several))
