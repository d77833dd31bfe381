"""Test that short programs print and return the same as in PyTorch, line for line."""

import contextlib
import io
import re

import pytest

import wengert
from support.parity import assert_same, outcome

torch = pytest.importorskip("torch")
pytestmark = pytest.mark.torch


def describe(tensor):
    return f"{tensor} {tensor.requires_grad} {tensor.is_leaf} {tensor.grad_fn} {tensor.grad}"


def show(**tensors):
    for name, tensor in tensors.items():
        print(name, describe(tensor))


def logarithm_of_a_cube(t):
    x = t.tensor(5.0, requires_grad=True)
    y = x**3
    z = t.log(y)
    show(x=x, y=y, z=z)
    z.backward()
    show(x=x, y=y, z=z)


def two_ways_to_one_leaf(t):
    x = t.tensor(5.0, requires_grad=True)
    y, w = x**3, x**2
    z = t.log(y) + t.sqrt(w)
    z.backward()
    show(x=x, y=y, w=w, z=z)


def a_power_as_a_function(t):
    class Power(t.autograd.Function):
        @staticmethod
        def forward(ctx, base, exponent):
            ctx.save_for_backward(base, exponent)
            return base**exponent

        @staticmethod
        def backward(ctx, grad):
            base, exponent = ctx.saved_tensors
            by_base = grad * exponent * base ** (exponent - 1)
            by_exponent = grad * base**exponent * t.log(base)
            show(base=base, exponent=exponent, by_base=by_base, by_exponent=by_exponent)
            return by_base, by_exponent

    q = t.tensor(3.0, requires_grad=True)
    x = t.tensor(5.0, requires_grad=True)
    y = Power.apply(x, q)
    z = t.log(y)
    show(q=q, x=x, y=y, z=z)
    z.backward()
    show(q=q, x=x, y=y, z=z)


def an_exponential_as_a_function(t):
    class Exp(t.autograd.Function):
        @staticmethod
        def forward(ctx, i):
            result = i.exp()
            ctx.save_for_backward(result)
            return result

        @staticmethod
        def backward(ctx, grad):
            (result,) = ctx.saved_tensors
            return grad * result

    i = t.tensor([0.0, 1.0], requires_grad=True)
    out = Exp.apply(i)
    print(out, out.grad_fn.name())
    out.sum().backward()
    print(i.grad)
    i = i.detach().double().requires_grad_()
    print(t.autograd.gradcheck(Exp.apply, i), t.autograd.gradgradcheck(Exp.apply, i))


def intermediate_results_as_outputs(t):
    class Sinh(t.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            up, down = t.exp(x), t.exp(-x)
            ctx.save_for_backward(up, down)
            return (up - down) / 2, up, down

        @staticmethod
        def backward(ctx, grad, grad_up, grad_down):
            up, down = ctx.saved_tensors
            result = grad * (up + down) / 2
            result += grad_up * up
            result -= grad_down * down
            return result

    def sinh(x):
        return Sinh.apply(x)[0]

    x = t.linspace(0, 1, 6, dtype=t.float64).reshape(2, 3).requires_grad_()
    print(t.autograd.gradcheck(sinh, x), t.autograd.gradgradcheck(sinh, x))
    out = sinh(x)
    (g,) = t.autograd.grad(out.sum(), x, create_graph=True)
    print(out)
    print(g)
    return names_of(g), names_of(out)


def a_function_whose_backward_is_a_function(t):
    class Cube(t.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x)
            return x**3

        @staticmethod
        def backward(ctx, grad):
            (x,) = ctx.saved_tensors
            return CubeBackward.apply(grad, x)

    class CubeBackward(t.autograd.Function):
        @staticmethod
        def forward(ctx, grad, x):
            ctx.save_for_backward(x, grad)
            return grad * 3 * x**2

        @staticmethod
        def backward(ctx, outer):
            x, grad = ctx.saved_tensors
            return outer * 3 * x**2, outer * grad * 6 * x

    x = t.tensor(2.0, requires_grad=True, dtype=t.float64)
    print(t.autograd.gradcheck(Cube.apply, x), t.autograd.gradgradcheck(Cube.apply, x))
    out = Cube.apply(x)
    (g,) = t.autograd.grad(out, x, create_graph=True)
    print(out, g)
    return names_of(g)


def a_network(t):
    x = t.linspace(-1, 1, 24).reshape(4, 6)
    y = t.linspace(0, 1, 8).reshape(4, 2)
    first = t.linspace(-0.5, 0.5, 18).reshape(6, 3).requires_grad_()
    second = t.linspace(0.5, -0.5, 6).reshape(3, 2).requires_grad_()
    for _ in range(20):
        loss = (x.mm(first).clamp(min=0).mm(second) - y).pow(2).sum()
        loss.backward()
        with t.no_grad():
            first -= 0.05 * first.grad
            second -= 0.05 * second.grad
            first.grad.zero_()
            second.grad.zero_()
    return loss, first, second


def a_network_with_a_function(t):
    class ReLU(t.autograd.Function):
        @staticmethod
        def forward(ctx, input):
            ctx.save_for_backward(input)
            return input.clamp(min=0)

        @staticmethod
        def backward(ctx, grad_output):
            (input,) = ctx.saved_tensors
            grad_input = grad_output.clone()
            grad_input[input < 0] = 0
            return grad_input

    x = t.linspace(-1, 1, 24).reshape(4, 6)
    w = t.linspace(-0.5, 0.5, 18).reshape(6, 3).requires_grad_()
    loss = ReLU.apply(x.mm(w)).pow(2).sum()
    loss.backward()
    return loss, w.grad


def control_flow(t):
    def f(a):
        b = a * 2
        while b.norm() < 1000:
            b = b * 2
        return b if b.sum() > 0 else 100 * b

    for value in (0.3, -2.0):
        a = t.tensor(value, requires_grad=True)
        d = f(a)
        d.backward()
        print(d, a.grad, a.grad == d / a)


def a_gradient_with_history(t):
    x = t.tensor(5.0, requires_grad=True)
    t.log(x**3).backward(create_graph=True)
    print(x.grad, x.grad.requires_grad)
    print(t.autograd.grad(x.grad, x))
    x.grad = None


def named_graphs(t):
    x = t.tensor([1.0, 2.0], requires_grad=True)
    w = t.tensor([3.0, 4.0], requires_grad=True)
    values = [
        (x * w + 1).sum(),
        (x - w).pow(2).mean(),
        t.cat([x, w * 2]).exp(),
        t.stack([x, w]).max(0).values.sum(),
        (x.reshape(2, 1) @ w.reshape(1, 2)).t()[0],
        x.softmax(0).log().neg() / w,
        (x.expand(3, 2) * w).sum(0, keepdim=True).squeeze(),
        t.where(x > 1, x, w).clamp(min=0).sqrt(),
        t.nn.functional.mse_loss(x, w),
        t.nn.functional.cross_entropy(x * w, t.tensor(1)),
        x.norm() + w.std() + w.var(0),
        x.split(1)[1] * w.chunk(2)[0],
    ]
    return [names_of(value) for value in values]


def names_of(tensor):
    """The graph behind `tensor` as nested names, a node that was met before as its number."""
    seen = {}

    def walk(node):
        if node is None:
            return "None"
        if node in seen:
            return f"#{seen[node]}"
        seen[node] = len(seen)
        return f"{node.name()}({', '.join(f'{walk(n)}:{i}' for n, i in node.next_functions)})"

    return walk(tensor.grad_fn)


PROGRAMS = [
    *(logarithm_of_a_cube, two_ways_to_one_leaf, a_power_as_a_function),
    *(an_exponential_as_a_function, intermediate_results_as_outputs),
    *(a_function_whose_backward_is_a_function, a_network, a_network_with_a_function),
    *(control_flow, a_gradient_with_history, named_graphs),
]


def run(program, module):
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        result = outcome(program, module)
    return re.sub(r"0x[0-9a-f]+", "0x", printed.getvalue()), result


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda program: program.__name__)
def test_program(program):
    ours, theirs = run(program, wengert), run(program, torch)
    assert ours[0] == theirs[0]
    assert_same(ours[1], theirs[1], program.__name__, rtol=1e-5, words=8)
