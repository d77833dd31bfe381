"""Test `tree`: the text of a graph, for terminals."""

import pytest

import wengert as wg
from wengert.viz import tree


def leaf(value=2.0):
    return wg.tensor(value, dtype=wg.float64, requires_grad=True)


def lines(*args, **kwargs):
    return tree(*args, **kwargs).replace("\u202f", " ").split("\n")


def test_the_text_of_a_small_graph():
    x = leaf()
    y = (x**2).log() * x.sin() + 1 / x
    assert lines(y, {"x": x}) == [
        "y ()",
        "add ()",
        "├─ mul ()",
        "│  ├─ log ()",
        "│  │  pow ()  of leaf x ()",
        "│  └─ sin ()  of leaf x ()",
        "└─ mul ()",
        "   reciprocal ()  of leaf x ()",
    ]


def test_it_is_a_text_that_shows_itself():
    made = tree(leaf().exp())
    assert isinstance(made, str)
    assert repr(made) == str(made) == "y ()\nexp ()  of leaf ()"


def test_what_several_operations_use_is_written_once():
    x = leaf([1.0, 2.0])
    h = x.exp()
    assert lines((h * h.sin()).sum(), {"h": h}) == [
        "y ()",
        "sum ()",
        "mul (2,)",
        "├─ [1] h = exp (2,)  of leaf (2,)",
        "└─ sin (2,)  of see [1]",
    ]


def test_references_within_branches():
    h = leaf().exp()
    k = h.sin()
    assert lines(h.cos() * (k + h) * k) == [
        "y ()",
        "mul ()",
        "├─ mul ()",
        "│  ├─ cos ()",
        "│  │  [1] exp ()  of leaf ()",
        "│  └─ add ()  and see [1]",
        "│     [2] sin ()  of see [1]",
        "└─ see [2]",
    ]


def test_a_leaf_beside_a_chain_stands_on_the_line():
    x, w = leaf(), leaf()
    assert lines(((x * w).sin() * w).exp(), {"x": x, "w": w}) == [
        "y ()",
        "exp ()",
        "mul ()  and leaf w ()",
        "sin ()",
        "mul ()  of leaf x (), leaf w ()",
    ]


def test_repetitions_are_one_line():
    x = y = leaf()
    for _ in range(1000):
        y = (y * x).sin()
    assert lines(y, {"x": x}) == [
        "y ()",
        "(mul, sin) \u00d7 1 000  (2 000 operations)  of leaf x ()",
    ]


def test_many_leaves_are_counted():
    h = wg.ones(1, 3)
    for w in [wg.randn(3, 3, requires_grad=True) for _ in range(100)]:
        h = (h @ w).relu()
    assert lines(h)[1].endswith("of leaf (3, 3), leaf (3, 3), leaf (3, 3), 97 more")


def test_a_chain_of_any_length_stays_at_the_margin():
    y = leaf()
    for _ in range(20_000):
        y = y.sin()
    text = lines(y, limit=10**9)
    assert len(text) == 20_001
    assert set(text[1:-1]) == {"sin ()"}


def test_branches_that_lie_deep_are_written_apart():
    def sums(count):
        return leaf() if count == 0 else leaf().sin() * 2 + (sums(count - 1).cos() * 3)

    text = lines(sums(60), limit=10**9)
    assert max(map(len, text)) < 100
    assert sum(line.startswith("[") for line in text) >= 3
    # each operation stands there once
    assert sum("sin" in line for line in text) == 60
    assert sum("cos" in line for line in text) == 60


def test_several_outputs_a_leaf_and_a_constant():
    x = leaf()
    h = x.exp()
    assert lines((h, h.sin(), x, wg.ones(2)), {"x": x}) == [
        "y[0] ()",
        "[1] exp ()  of leaf x ()",
        "y[1] ()",
        "sin ()  of see [1]",
        "x ()  a leaf",
        "y[3] (2,)  a constant: nothing was recorded",
    ]
    assert lines(x) == ["y ()  a leaf"]


def test_one_output_twice():
    h = leaf().exp()
    assert lines((h, h)) == ["y[0] ()", "[1] exp ()  of leaf ()", "y[1] ()", "see [1]"]


def test_operations_with_several_outputs_and_functions_of_the_users():
    class Double(wg.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x * 2

        @staticmethod
        def backward(ctx, g):
            return g * 2

    a, b = Double.apply(leaf([1.0, 2.0])).unbind(0)
    assert lines(a * b) == ["y ()", "mul ()", "unbind", "Double (2,)  of leaf (2,)"]


def test_calls_are_opened_as_deep_as_is_asked():
    def inner(x):
        return x.sin().cos()

    x = leaf()
    with wg.autograd.set_detect_anomaly(True, check_nan=False):
        y = inner(x) * 3
    assert lines(y, depth=0) == ["y ()", "mul ()", "inner()  (2 operations)  of leaf ()"]
    assert lines(y, depth=1) == ["y ()", "mul ()", "cos ()", "sin ()  of leaf ()"]


def test_a_graph_that_was_freed():
    x = leaf([1.0, 2.0])
    y = x.exp().sum()
    y.backward()
    assert lines(y) == ["y ()", "sum ()", "exp (2,)  of leaf (2,)"]


def test_wrong_arguments_are_refused():
    with pytest.raises(TypeError, match="y must be a Tensor or a tuple of Tensors, not int"):
        tree(1)
    with pytest.raises(TypeError, match="is empty"):
        tree(())
    with pytest.raises(ValueError, match="depth must not be negative"):
        tree(leaf(), depth=-2)
    with pytest.raises(TypeError, match="params must be"):
        tree(leaf(), params=1)
