"""Test `make_dot`: torchviz's boxes and arrows, for graphs of any depth and state."""

import re
import sys

import pytest

import wengert as wg
from support.alone import said
from wengert.viz import make_dot, make_dot_from_trace

pytest.importorskip("graphviz")


def labels(dot):
    """The first line of each label of a box, in order."""
    return re.findall(r'^\t\d+ \[label="?([^"\n\]\\]*)', "".join(dot.body), re.M)


def arrows(dot):
    return sum("->" in line for line in dot.body)


def colors(dot):
    return re.findall(r"fillcolor=(\w+)", dot.source)


class Square(wg.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x * x

    @staticmethod
    def backward(ctx, g):
        (x,) = ctx.saved_tensors
        return 2 * x * g


def test_an_output_its_operations_and_its_leaf():
    x = wg.ones(2, 3, requires_grad=True)
    dot = make_dot((x * x).sum(), params={"x": x})
    assert colors(dot) == ["darkolivegreen1", "lightblue"]
    assert {"SumBackward0", "MulBackward0", "AccumulateGrad"} <= set(labels(dot))
    assert "x\n (2, 3)" in dot.source
    # from the leaf, along both arguments of the product, to the sum, to the output
    assert arrows(dot) == 5
    assert dot.node_attr["fontname"] == "monospace"


def test_saved_tensors_of_a_custom_function_are_drawn_without_being_asked_for():
    x = wg.tensor(1.0, requires_grad=True).clone()
    out = Square.apply(x)
    dot = make_dot(out, params={"x": x, "out": out})
    assert colors(dot).count("orange") == 1
    assert "SquareBackward" in labels(dot)
    assert sum("dir=none" in line for line in dot.body) == 1


def test_saved_tensors_of_operations_are_drawn_on_request():
    x = wg.ones(2, requires_grad=True)
    y = x.exp().sum()
    assert "orange" not in colors(make_dot(y))
    dot = make_dot(y, show_saved=True)
    assert "orange" in colors(dot)
    assert "result\n (2)" in dot.source


def test_attributes_are_a_table_cut_to_a_width():
    x = wg.ones(2, 3, requires_grad=True)
    dot = make_dot(x.sum(1), show_attrs=True, max_attr_chars=4)
    assert "SumBackward1\n--------------------\ndim           : (1,)" in dot.source
    assert "keepdim       : F..." in dot.source


def test_a_view_is_drawn_with_its_base():
    x = wg.ones(2, 3, requires_grad=True)
    y = x * 2
    dot = make_dot(y[0])
    assert colors(dot)[:2] == ["darkolivegreen1", "lightblue"]
    assert "darkolivegreen3" in colors(dot)
    assert sum("style=dotted" in line for line in dot.body) == 1


def test_several_outputs_share_what_they_have_in_common():
    x = wg.ones(2, requires_grad=True)
    h = x.exp()
    dot = make_dot((h.sum(), h.prod()))
    assert labels(dot).count("ExpBackward0") == 1
    assert colors(dot).count("darkolivegreen1") == 2
    assert make_dot([h.sum()]).body[0].endswith("fillcolor=darkolivegreen1]\n")


def test_a_leaf_and_a_constant_are_one_box():
    for tensor in (wg.ones(2, requires_grad=True), wg.ones(2)):
        dot = make_dot(tensor)
        assert len(dot.body) == 1
        assert colors(dot) == ["darkolivegreen1"]


def test_twenty_thousand_operations_do_not_recurse():
    y = wg.ones(1, requires_grad=True)
    for _ in range(10_000):
        y = (y * 0.5).sin()
    dot = make_dot(y)
    assert "".join(dot.body).count("SinBackward0") == 10_000
    assert dot.graph_attr["size"] == f"{len(dot.body) * 0.15},{len(dot.body) * 0.15}"


def test_a_graph_that_was_freed_is_drawn_without_what_was_saved():
    x = wg.ones(2, requires_grad=True)
    y = Square.apply(x.exp()).sum()
    y.backward()
    dot = make_dot(y, show_attrs=True, show_saved=True)
    assert {"ExpBackward0", "SquareBackward", "SumBackward0"} <= set(labels(dot))
    assert "orange" not in colors(dot)


def test_no_gradient_and_no_hook_is_touched():
    x = wg.ones(2, requires_grad=True)
    y = (x * x).sum()
    y.register_hook(lambda g: pytest.fail("a hook ran"))
    make_dot(y, params={"x": x}, show_attrs=True, show_saved=True)
    assert x.grad is None


def test_what_is_no_tensor_is_refused():
    x = wg.ones(2, requires_grad=True)
    with pytest.raises(TypeError, match=r"var must be a Tensor .* not float"):
        make_dot(1.0)
    with pytest.raises(TypeError, match=r"var\[1\] must be a Tensor .* not str"):
        make_dot((x, "y"))
    with pytest.raises(TypeError, match=r"params\['w'\] must be a Tensor, not int"):
        make_dot(x, params={"w": 3})
    with pytest.raises(TypeError, match=r"params must be a dict .* not list"):
        make_dot(x, params=[x])


def test_without_the_package_the_error_names_the_extra(monkeypatch):
    monkeypatch.setitem(sys.modules, "graphviz", None)
    with pytest.raises(ImportError, match=r"pip install 'wengert\[viz\]'"):
        make_dot(wg.ones(2))


def test_the_package_is_imported_only_when_it_is_needed():
    said("import sys, wengert.viz; assert 'graphviz' not in sys.modules")


def test_make_dot_from_trace_says_what_to_use():
    with pytest.raises(NotImplementedError, match="dependency_graph"):
        make_dot_from_trace(None)
