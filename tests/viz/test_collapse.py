"""Test large graphs as few boxes: loops, calls, stretches; and invariants of groupings."""

import numpy as np
import pytest

import wengert as wg
from wengert.viz import draw
from wengert.viz.collapse import groups_of
from wengert.viz.collect import Graph
from wengert.viz.repeats import Run, runs_of
from wengert.viz.scopes import Scopes


def leaf(value=0.5):
    return wg.tensor(value, dtype=wg.float64, requires_grad=True)


def groups(y, limit=150, depth=None):
    graph = Graph([y])
    made = groups_of(graph, limit, depth, Scopes(graph.nodes))
    # intervals that follow each other, and nothing is left out
    assert [group.start for group in made] == [0, *[group.stop for group in made[:-1]]]
    assert made[-1].stop == len(graph.nodes)
    return made


def titles(y, **kwargs):
    return [box.title.replace("\u202f", " ") for box in draw(y, **kwargs).picture.boxes]


def chain(x, count):
    y = x
    for _ in range(count):
        y = (y * 0.5).sin()
    return y


# -- repetitions in a sequence ---------------------------------------------------------------------


def runs(text, kinds=None):
    symbols = np.array([ord(letter) for letter in text], np.uint64)
    coarse = symbols if kinds is None else np.array([ord(letter) for letter in kinds], np.uint64)
    return runs_of(symbols, coarse)


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("aaaa", [(0, 1, 4)]),
        ("abababx", [(0, 2, 3)]),
        ("xyabcabcabczz", [(2, 3, 3)]),
        # every letter twice in a round
        ("aabbaabbaabbaabb", [(0, 4, 4)]),
        ("aaaaaxbbbbb", [(0, 1, 5), (6, 1, 5)]),
        ("abcdefgh", []),
        # twice is no repetition
        ("abcabcx", []),
        ("", []),
        ("a", []),
    ],
)
def test_runs_of_a_sequence(text, wanted):
    assert runs(text) == [Run(*run) for run in wanted]


def test_a_run_is_extended_over_rounds_of_the_same_kind():
    # the first round and the last one differ in detail
    assert runs("ABabababaB", "ababababab") == [Run(0, 2, 5)]
    assert runs("XYababab", "xyababab") == [Run(2, 2, 3)]


def test_runs_do_not_overlap_and_repeat_what_they_say():
    generator = np.random.default_rng(0)
    for _ in range(200):
        symbols = generator.integers(0, 3, generator.integers(1, 60)).astype(np.uint64)
        end = 0
        for start, period, count in runs_of(symbols, symbols):
            assert start >= end
            assert count >= 3
            end = start + period * count
            block = symbols[start : start + period]
            assert (symbols[start:end] == np.tile(block, count)).all()


# -- repetitions in a graph ------------------------------------------------------------------------


def test_a_small_graph_is_drawn_whole():
    made = groups(chain(leaf(), 75))
    assert len(made) == 150
    assert {group.kind for group in made} == {"node"}


def test_a_loop_is_one_box_with_its_number_of_rounds():
    x = leaf()
    assert titles(chain(x, 5000), params={"x": x}) == ["x", "(mul, sin) \u00d7 5 000", "y"]
    box = draw(chain(x, 5000)).picture.boxes[1]
    assert box.kind == "group"
    assert box.count == 5000
    assert box.lines[0].replace("\u202f", " ") == "10 000 operations"
    assert box.details["one round"] == "mul, sin"


def test_a_recurrent_network():
    w, b = wg.randn(3, 3, requires_grad=True), wg.zeros(3, requires_grad=True)
    h, loss = wg.zeros(1, 3), wg.tensor(0.0)
    for _ in range(500):
        h = (h @ w + b).tanh()
        loss = loss + (h * h).sum()
    (group,) = groups(loss)
    assert (group.kind, group.count, group.block) == ("repetition", 500, 6)


def test_layers_with_weights_of_their_own():
    h = wg.ones(1, 3)
    weights = [wg.randn(3, 3, requires_grad=True) for _ in range(200)]
    for w in weights:
        h = (h @ w).relu()
    picture = draw(h.sum(), params=weights).picture
    assert [box.title.replace("\u202f", " ") for box in picture.boxes] == [
        "200 leaves",
        "(mm, relu) \u00d7 200",
        "sum",
        "y",
    ]
    assert picture.boxes[0].lines == ["(3, 3) \u00d7 200"]
    assert "param0" in picture.boxes[0].details["leaves"]


def test_a_loop_within_a_loop():
    x = y = leaf()
    for _ in range(60):
        for _ in range(7):
            y = y.sin() * x
        y = y.exp().log()
    (group,) = groups(y)
    assert (group.kind, group.count, group.block) == ("repetition", 60, 16)


def test_inner_loops_of_different_lengths_still_repeat():
    x = y = leaf()
    for i in range(100):
        for _ in range(3 + i % 5):
            y = y.sin() * x
        y = y.exp().log()
    assert len(groups(y)) < 15


def test_what_all_rounds_use_does_not_break_the_pattern():
    x = leaf()
    common = (x * 3).exp()
    y = x
    for _ in range(300):
        y = (y * common).sin()
    made = groups(y)
    assert [group.count for group in made] == [1, 1, 300]


def test_the_backward_part_of_a_loop_is_a_loop():
    x = leaf()
    picture = draw(chain(x, 1000), {"x": x}, mode="double").picture
    found = [
        (box.title.replace("\u202f", " "), box.scope)
        for box in picture.boxes
        if box.kind == "group"
    ]
    assert found == [
        ("(mul, sin) \u00d7 1 000", ("forward",)),
        ("(cos, mul \u00d7 2) \u00d7 1 000", ("backward",)),
    ]


# -- calls -----------------------------------------------------------------------------------------


def layer(h):
    return (h * 0.5).tanh()


def block(h):
    return layer(layer(h) + h) * 2


def network(x, count):
    with wg.autograd.set_detect_anomaly(True, check_nan=False):
        h = x
        for _ in range(count):
            h = block(h)
        return layer(h).exp() + h


def test_depth_says_how_many_calls_are_opened():
    x = leaf()
    y = network(x, 1)
    assert titles(y, depth=0) == ["leaf", "block()", "layer()", "exp", "add", "y"]
    calls = ["layer()", "add\u2081", "layer()", "mul", "mul\u2082", "tanh", "exp", "add\u2082"]
    calls[3:6] = ["mul\u2081", "mul\u2082", "tanh"]
    assert titles(y, depth=1) == ["leaf", *calls, "y"]
    opened = titles(y, depth=2)
    assert opened.count("layer()") == 0
    assert len(opened) == len(draw(y).picture.boxes)


def test_boxes_know_the_functions_that_they_belong_to():
    picture = draw(network(leaf(), 1)).picture
    scopes = [box.scope for box in picture.boxes if box.kind == "operation"]
    assert scopes == [
        *[("block", "layer")] * 2,
        ("block",),
        *[("block", "layer")] * 2,
        ("block",),
        *[("layer",)] * 2,
        (),
        (),
    ]


def test_calls_are_opened_as_far_as_there_is_room():
    y = network(leaf(), 3)
    deep = len(draw(y, limit=100).picture.boxes)
    shallow = len(draw(y, limit=6).picture.boxes)
    assert deep == 3 * 6 + 4 + 2
    assert shallow < 10


def test_a_call_says_what_it_repeats():
    with wg.autograd.set_detect_anomaly(True, check_nan=False):
        h = leaf()
        for _ in range(4):
            h = layer(h)
        y = h.exp()
    made = draw(y, depth=0).picture
    assert [box.title for box in made.boxes] == ["leaf", "layer()", "exp", "y"]
    assert made.boxes[1].lines == ["8 operations", "(mul, tanh) \u00d7 4"]
    assert made.boxes[1].count == 4


# -- no structure ----------------------------------------------------------------------------------


def tangle(count, seed=0):
    generator = np.random.default_rng(seed)
    values = [leaf()]
    for _ in range(count):
        a = values[generator.integers(max(0, len(values) - 30), len(values))]
        b = values[generator.integers(len(values))]
        values.append([a + b, a * b, a.sin(), a.cos(), a - b, a.tanh()][generator.integers(6)])
    return sum(values[-40:])


@pytest.mark.parametrize("seed", range(5))
def test_a_graph_without_structure_is_cut_into_stretches(seed):
    picture = draw(tangle(3000, seed)).picture
    assert len(picture.boxes) <= 150
    assert len(picture.arrows) <= 6 * len(picture.boxes)
    assert picture.notes


def test_arrows_between_groups_make_no_circle():
    for y in (tangle(2000), chain(leaf(), 400), network(leaf(), 60)):
        picture = draw(y, limit=40).picture
        assert all(arrow.tail != arrow.head for arrow in picture.arrows)
        pairs = [(arrow.tail, arrow.head) for arrow in picture.arrows]
        assert len(pairs) == len(set(pairs))
        waiting = dict.fromkeys(range(len(picture.boxes)), 0)
        for _, head in pairs:
            waiting[head] += 1
        ready = [i for i, count in waiting.items() if not count]
        for box in ready:
            for tail, head in pairs:
                if tail == box:
                    waiting[head] -= 1
                    if not waiting[head]:
                        ready.append(head)
        assert len(ready) == len(picture.boxes)


def test_many_leaves_are_drawn_together():
    leaves = [leaf(float(i)) for i in range(500)]
    total = leaves[0]
    for one in leaves[1:]:
        total = total + one
    picture = draw(total, leaves).picture
    assert len(picture.boxes) <= 12
    assert sum(box.count for box in picture.boxes if "leaves" in box.title) == 500


# -- size ------------------------------------------------------------------------------------------


def test_ten_thousand_operations_in_at_most_150_boxes():
    for y in (chain(leaf(), 5000), tangle(12_000)):
        drawing = draw(y, show="value,shape,grad,saved,local,bytes")
        assert len(drawing.picture.boxes) <= 150
        assert "<svg" in drawing.svg()


def test_ten_thousand_operations_that_were_freed():
    x = leaf()
    y = chain(x, 5000)
    y.backward()
    picture = draw(y, show="value,grad,saved").picture
    assert len(picture.boxes) == 3
    assert any("freed" in note for note in picture.notes)


@pytest.mark.slow
@pytest.mark.parametrize("mode", ["backward", "double"])
def test_a_million_operations(mode):
    count = 500_000 if mode == "backward" else 100_000
    x = leaf()
    picture = draw(chain(x, count), {"x": x}, mode=mode, show="shape,grad").picture
    assert len(picture.boxes) <= 150
    assert picture.boxes[0].title == "x"
    assert max(box.count for box in picture.boxes) == count
