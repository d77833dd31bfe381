"""Test the user's view of the graph: node names, edges, saved values."""

import pytest

import wengert as wg


@pytest.fixture
def x():
    return wg.tensor([0.5, 1.5], requires_grad=True)


@pytest.fixture
def w():
    return wg.tensor([2.0, 3.0], requires_grad=True)


@pytest.mark.parametrize(
    ("function", "name"),
    [
        (lambda x, w: x + w, "AddBackward0"),
        (lambda x, w: x + 1, "AddBackward0"),
        (lambda x, w: 1 + x, "AddBackward0"),
        (lambda x, w: x - w, "SubBackward0"),
        (lambda x, w: x - 1, "SubBackward0"),
        (lambda x, w: 1 - x, "RsubBackward1"),
        (lambda x, w: x * w, "MulBackward0"),
        (lambda x, w: x * 2, "MulBackward0"),
        (lambda x, w: 2 * x, "MulBackward0"),
        (lambda x, w: x / w, "DivBackward0"),
        (lambda x, w: x / 2, "DivBackward0"),
        (lambda x, w: 2 / x, "MulBackward0"),
        (lambda x, w: x**2, "PowBackward0"),
        (lambda x, w: x**w, "PowBackward1"),
        (lambda x, w: 2**x, "PowBackward2"),
        (lambda x, w: -x, "NegBackward0"),
        (lambda x, w: abs(x), "AbsBackward0"),
        (lambda x, w: x @ w, "DotBackward0"),
        (lambda x, w: x.exp(), "ExpBackward0"),
        (lambda x, w: x.log(), "LogBackward0"),
        (lambda x, w: x.sqrt(), "SqrtBackward0"),
        (lambda x, w: x.sum(), "SumBackward0"),
        (lambda x, w: x.sum(0), "SumBackward1"),
        (lambda x, w: x.mean(), "MeanBackward0"),
        (lambda x, w: x.mean(0), "MeanBackward1"),
        (lambda x, w: x.view(1, 2), "ViewBackward0"),
        (lambda x, w: x.reshape(1, 2), "ViewBackward0"),
        (lambda x, w: x[0], "SelectBackward0"),
        (lambda x, w: x[1:], "SliceBackward0"),
        (lambda x, w: x.expand(3, 2), "ExpandBackward0"),
        (lambda x, w: x.unsqueeze(0), "UnsqueezeBackward0"),
        (lambda x, w: x.clamp(min=0), "ClampBackward1"),
        (lambda x, w: x.relu(), "ReluBackward0"),
        (lambda x, w: x.max(), "MaxBackward1"),
        (lambda x, w: x.prod(), "ProdBackward0"),
        (lambda x, w: x.clone(), "CloneBackward0"),
        (lambda x, w: x.double(), "ToCopyBackward0"),
        (lambda x, w: wg.cat([x, w]), "CatBackward0"),
        (lambda x, w: wg.stack([x, w]), "StackBackward0"),
        (lambda x, w: wg.where(x > 1, x, w), "WhereBackward0"),
        (lambda x, w: x.softmax(0), "SoftmaxBackward0"),
        (lambda x, w: x.norm(), "LinalgVectorNormBackward0"),
        (lambda x, w: x.var(), "VarBackward0"),
        (lambda x, w: x.std(), "StdBackward0"),
    ],
)
def test_nodes_have_pytorchs_names(x, w, function, name):
    node = function(x, w).grad_fn
    assert node.name() == name
    assert type(node).__name__ == name
    assert repr(node).startswith(f"<{name} object at 0x")


def test_edges_lead_to_the_producers(x, w):
    y = x * w
    z = y + 1
    assert z.grad_fn.next_functions == ((y.grad_fn, 0), (None, 0))
    (left, i), (right, j) = y.grad_fn.next_functions
    assert i == j == 0
    assert left.name() == right.name() == "torch::autograd::AccumulateGrad"
    assert left.variable is x and right.variable is w
    assert left.next_functions == ()


def test_a_leaf_has_one_accumulating_node(x):
    a, b = x * 2, x * 3
    assert a.grad_fn.next_functions[0][0] is b.grad_fn.next_functions[0][0]


def test_an_argument_without_gradient_has_no_edge(x):
    y = x * wg.ones(2)
    assert y.grad_fn.next_functions[1] == (None, 0)


def test_several_outputs_are_numbered(x):
    a, b = x.split(1)
    assert a.grad_fn is b.grad_fn
    assert (a + b).grad_fn.next_functions == ((a.grad_fn, 0), (b.grad_fn, 1))


def test_saved_values(x, w):
    y = x * w
    assert y.grad_fn._saved_self is x
    assert y.grad_fn._saved_other is w
    e = x.exp()
    assert e.grad_fn._saved_result.tolist() == e.tolist()
    assert (x**3).grad_fn._saved_exponent == 3
    assert x.sum(0, keepdim=True).grad_fn._saved_keepdim is True


def test_only_what_is_needed_is_saved(x):
    constant = wg.ones(2)
    y = x * constant
    assert y.grad_fn._saved_other is constant
    assert y.grad_fn._saved_self is None


def test_saved_values_are_gone_after_backward(x, w):
    y = x * w
    y.sum().backward()
    with pytest.raises(RuntimeError, match="Trying to backward through the graph a second time"):
        y.grad_fn._saved_self  # noqa: B018


def test_an_unknown_attribute_is_an_error(x):
    with pytest.raises(AttributeError):
        (x * 2).grad_fn.nonsense  # noqa: B018
    with pytest.raises(AttributeError):
        (x * 2).grad_fn._saved_nonsense  # noqa: B018


def test_a_node_has_a_place_for_notes(x):
    node = (x * 2).grad_fn
    node.metadata["who"] = "me"
    assert node.metadata == {"who": "me"}


def test_the_graph_of_a_gradient(x):
    (g,) = wg.autograd.grad(x.exp().sum(), x, create_graph=True)
    assert g.grad_fn.name() == "MulBackward0"


def test_a_node_lists_what_it_saved_of_pytorchs_names_and_nothing_else(x, w):
    def listed(y):
        return [name for name in dir(y.grad_fn) if name.startswith("_saved")]

    assert listed(x.exp()) == ["_saved_result"]
    assert listed(x * w) == ["_saved_other", "_saved_self"]
    assert listed(x.sum()) == ["_saved_self_sym_sizes"]
    assert listed(x.pow(2.0)) == ["_saved_exponent", "_saved_self"]
    assert "next_functions" in dir(x.exp().grad_fn)
