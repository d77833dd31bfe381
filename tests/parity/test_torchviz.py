"""Test `make_dot` against torchviz, line for line, on many programs."""

import re
import warnings

import pytest

import wengert
from wengert.viz import make_dot

torch = pytest.importorskip("torch")
pytest.importorskip("graphviz")
with warnings.catch_warnings():
    warnings.simplefilter("ignore")  # it imports distutils
    torchviz = pytest.importorskip("torchviz")
# distutils says that it is deprecated
pytestmark = [pytest.mark.torch, pytest.mark.filterwarnings("ignore::DeprecationWarning")]

OPTIONS = [{}, {"show_attrs": True}, {"show_saved": True}, {"show_attrs": True, "show_saved": True}]


def lines(dot):
    """The lines of a graph, with objects numbered in the order in which they appear."""
    numbers = {}

    def number(match):
        return str(numbers.setdefault(match.group(), len(numbers)))

    return [re.sub(r"(?<![\w.(-])\d{9,}(?= (?:\[|->)|$|\n)", number, line) for line in dot.body]


def check(program, **options):
    outputs, params = program(torch)
    theirs = torchviz.make_dot(outputs, params, **options)
    outputs, params = program(wengert)
    ours = make_dot(outputs, params, **options)
    assert lines(ours) == lines(theirs)
    assert ours.graph_attr == theirs.graph_attr
    assert ours.node_attr == theirs.node_attr


def one(t):
    return t.tensor([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]], requires_grad=True)


def two(t):
    return t.tensor([[0.1, 0.2], [0.3, 0.4], [0.5, 0.6]], requires_grad=True)


# what they save is compared in test_saved_attributes.py
OPERATIONS = [
    *("x + x", "1 - x", "x * x.detach()", "x / 2", "1 / x", "x**2", "x**x", "x @ w"),
    *("t.addmm(w[0], x, w)", "x.sum(0)", "x.exp()", "x.softmax(1)", "x.view(3, 2)"),
    *("x.transpose(0, 1)", "x[0]", "x[:, 1:]", "x[t.tensor([0, 1])]", "x.expand(4, 2, 3)"),
    *("x.max(1)[0]", "t.where(x > 2, x, -x)", "x.unbind(0)[1]", "x.norm()", "x.clamp(2.0, 4.0)"),
    *("x.cumsum(0)", "t.nn.functional.mse_loss(x, x.detach())", "t.nn.functional.gelu(x)"),
]


@pytest.mark.parametrize("options", OPTIONS, ids=str)
@pytest.mark.parametrize("call", OPERATIONS)
def test_one_operation(call, options):
    def program(t):
        x, w = one(t), two(t)
        return eval(call, {"t": t, "x": x, "w": w}), {"x": x, "w": w}

    check(program, **options)


def network(t):
    x, w, v = one(t), two(t), t.ones(2, 1, requires_grad=True)
    hidden = (x @ w).tanh()
    loss = ((hidden @ v - t.ones(2, 1)) ** 2).mean()
    return loss, {"w": w, "v": v}


def several_outputs(t):
    x = one(t)
    y = x * 2
    return (y.sum(), y.exp(), y, x), {"x": x, "y": y}


def a_view_of_a_leaf(t):
    x = one(t)
    return x[0][1:], {"x": x}


def a_view_of_an_intermediate(t):
    x = one(t)
    y = x * 2
    return y.t()[0], {"x": x, "y": y}


def views_of_one_base(t):
    x = one(t)
    y = x.exp()
    a, b = y.unbind(0)
    return (a, b), None


def a_leaf(t):
    x = one(t)
    return x, {"the leaf": x}


def a_constant(t):
    return t.ones(2, 3), None


def a_number(t):
    return t.tensor(1.0, requires_grad=True) * 2, None


def shared(t):
    x = one(t)
    y = x.sin()
    return (y * y + y).sum(), None


def a_write(t):
    x = one(t)
    y = x * 2
    y.mul_(x)
    return y.sum(), {"x": x}


def a_write_through_a_view(t):
    x = one(t)
    y = x * 2
    y[0] = x[1]
    return y.sum(), {"x": x}


def a_second_derivative(t):
    x = t.tensor(2.0, requires_grad=True)
    y = x.sin() * x
    (g,) = t.autograd.grad(y, x, create_graph=True)
    return (g, y), {"x": x, "y": y, "g": g}


def an_anonymous_parameter(t):
    x = one(t)
    return (x * 3).sum(), {}


def retained(t):
    x = one(t)
    y = x * 2
    y.retain_grad()
    z = y.sum()
    z.backward(retain_graph=True)
    return z, {"y": y}


@pytest.mark.parametrize("options", OPTIONS, ids=str)
@pytest.mark.parametrize(
    "program",
    [
        network,
        several_outputs,
        a_view_of_a_leaf,
        a_view_of_an_intermediate,
        views_of_one_base,
        a_leaf,
        a_constant,
        a_number,
        shared,
        a_second_derivative,
        an_anonymous_parameter,
        retained,
    ],
)
def test_a_program(program, options):
    check(program, **options)


@pytest.mark.parametrize("program", [a_write, a_write_through_a_view])
def test_a_program_that_writes_in_place(program):
    check(program)


def functions(t):
    class Square(t.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x)
            return x**2

        @staticmethod
        def backward(ctx, g):
            (x,) = ctx.saved_tensors
            return g * 2 * x

    class Exp(t.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            result = x.exp()
            ctx.save_for_backward(result)
            return result

        @staticmethod
        def backward(ctx, g):
            (result,) = ctx.saved_tensors
            return result * g

    class Sinh(t.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            plus, minus = x.exp(), (-x).exp()
            ctx.save_for_backward(plus, minus)
            return (plus - minus) / 2, plus, minus

        @staticmethod
        def backward(ctx, g, g_plus, g_minus):
            plus, minus = ctx.saved_tensors
            grad = g * (plus + minus) / 2
            grad += g_plus * plus
            grad -= g_minus * minus
            return grad

    class Twice(t.autograd.Function):
        @staticmethod
        def forward(ctx, x, constant):
            ctx.save_for_backward(constant)
            ctx.note = "kept as it is"
            return x * 2

        @staticmethod
        def backward(ctx, g):
            return g * 2, None

    return Square, Exp, Sinh, Twice


@pytest.mark.parametrize("options", OPTIONS, ids=str)
@pytest.mark.parametrize("which", range(4))
@pytest.mark.parametrize("leaf", [True, False])
def test_a_custom_function(which, leaf, options):
    def program(t):
        x = t.tensor(1.5, requires_grad=True)
        x = x if leaf else x.clone()
        function = functions(t)[which]
        out = function.apply(x, t.tensor(3.0)) if which == 3 else function.apply(x)
        out = out[0] if which == 2 else out
        (g,) = t.autograd.grad(out, x, create_graph=True)
        return (g, x, out), {"g": g, "x": x, "out": out}

    check(program, **options)


@pytest.mark.parametrize("width", [-1, 3, 5, 200])
def test_the_width_of_attributes(width):
    def program(t):
        return (one(t).sum(0, keepdim=True) ** 2.123456789).sum(), None

    check(program, show_attrs=True, max_attr_chars=width)
