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


OPERATIONS = {
    "add": lambda t, x, w: x + x,
    "add a number": lambda t, x, w: x + 1,
    "sub": lambda t, x, w: x - x,
    "from a number": lambda t, x, w: 1 - x,
    "mul": lambda t, x, w: x * x,
    "mul by a constant": lambda t, x, w: x * x.detach(),
    "mul by a number": lambda t, x, w: x * 2,
    "div": lambda t, x, w: x / x,
    "div by a number": lambda t, x, w: x / 2,
    "a number over": lambda t, x, w: 1 / x,
    "pow": lambda t, x, w: x**2,
    "pow of tensors": lambda t, x, w: x**x,
    "mm": lambda t, x, w: x @ w,
    "mv": lambda t, x, w: x @ t.tensor([1.0, 2.0, 3.0]),
    "bmm": lambda t, x, w: t.bmm(x.unsqueeze(0), w.unsqueeze(0)),
    "addmm": lambda t, x, w: t.addmm(w[0], x, w),
    "sum": lambda t, x, w: x.sum(),
    "sum of a dimension": lambda t, x, w: x.sum(0),
    "mean": lambda t, x, w: x.mean(),
    "mean of a dimension": lambda t, x, w: x.mean(1),
    "exp": lambda t, x, w: x.exp(),
    "log": lambda t, x, w: x.log(),
    "sqrt": lambda t, x, w: x.sqrt(),
    "sin": lambda t, x, w: x.sin(),
    "tanh": lambda t, x, w: x.tanh(),
    "relu": lambda t, x, w: x.relu(),
    "sigmoid": lambda t, x, w: x.sigmoid(),
    "softmax": lambda t, x, w: x.softmax(1),
    "log_softmax": lambda t, x, w: x.log_softmax(1),
    "abs and neg": lambda t, x, w: -x.abs(),
    "view": lambda t, x, w: x.view(3, 2),
    "reshape": lambda t, x, w: x.reshape(6),
    "transpose": lambda t, x, w: x.transpose(0, 1),
    "t": lambda t, x, w: x.t(),
    "permute": lambda t, x, w: x.permute(1, 0),
    "select": lambda t, x, w: x[0],
    "slice": lambda t, x, w: x[:, 1:],
    "a list of indices": lambda t, x, w: x[t.tensor([0, 1])],
    "unsqueeze": lambda t, x, w: x.unsqueeze(0),
    "squeeze": lambda t, x, w: x.squeeze(),
    "expand": lambda t, x, w: x.expand(4, 2, 3),
    "max": lambda t, x, w: x.max(),
    "max of a dimension": lambda t, x, w: x.max(1)[0],
    "clone": lambda t, x, w: x.clone(),
    "where": lambda t, x, w: t.where(x > 2, x, -x),
    "unbind": lambda t, x, w: x.unbind(0)[1],
    "norm": lambda t, x, w: x.norm(),
    "clamp": lambda t, x, w: x.clamp(2.0, 4.0),
    "mse_loss": lambda t, x, w: t.nn.functional.mse_loss(x, x.detach()),
    "cumsum": lambda t, x, w: x.cumsum(0),
    "bce": lambda t, x, w: t.nn.functional.binary_cross_entropy_with_logits(x, x.detach()),
    "gelu": lambda t, x, w: t.nn.functional.gelu(x),
    "leaky_relu": lambda t, x, w: t.nn.functional.leaky_relu(x),
}


@pytest.mark.parametrize("options", OPTIONS, ids=str)
@pytest.mark.parametrize("name", OPERATIONS)
def test_one_operation(name, options):
    def program(t):
        x, w = one(t), two(t)
        return OPERATIONS[name](t, x, w), {"x": x, "w": w}

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
