"""Custom Functions that you can differentiate twice: four right ways, and a wrong one.

The `backward` of a `Function` is its derivative. You can differentiate it again if it uses recorded
operations on tensors that belong to the graph. Two facts decide which tensors do:

* `forward` runs without recording. The graph does not know the values that it computes on the way.
* With ``create_graph=True``, `backward` is recorded. The tensors in ``ctx.saved_tensors`` belong to
  the graph if they are arguments or results.

So these are right:

1. `Square` saves its argument.
2. `Exp` saves its result.
3. `Sinh` needs two intermediate values in `backward`, and returns them as extra results. Then they
   belong to the graph, and may receive gradients as well.
4. `Cube` has a `backward` that cannot be recorded, because NumPy (or C++) computes it. So it calls
   a second Function, which has its own `backward`.

And this is wrong: `SinhBad` keeps its intermediate values as attributes of `ctx`. Its first
derivative is right. A second derivative would treat the values as constants, so wengert refuses it,
unless the Function declares that this is intended.
"""

import numpy as np

import wengert as wg
from wengert.autograd import Function, gradcheck, gradgradcheck


class Square(Function):
    """x², which saves its argument."""

    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x**2

    @staticmethod
    def backward(ctx, grad):
        (x,) = ctx.saved_tensors
        return grad * 2 * x


class Exp(Function):
    """exp(x), which saves its result."""

    @staticmethod
    def forward(ctx, x):
        result = x.exp()
        ctx.save_for_backward(result)
        return result

    @staticmethod
    def backward(ctx, grad):
        (result,) = ctx.saved_tensors
        return grad * result


class Sinh(Function):
    """sinh(x), with exp(x) and exp(-x) as extra results."""

    @staticmethod
    def forward(ctx, x):
        rising, falling = x.exp(), (-x).exp()
        ctx.save_for_backward(rising, falling)
        return (rising - falling) / 2, rising, falling

    @staticmethod
    def backward(ctx, grad, grad_rising, grad_falling):
        rising, falling = ctx.saved_tensors
        # a second derivative sends gradients through the two extra results
        return grad * (rising + falling) / 2 + grad_rising * rising - grad_falling * falling


def sinh(x):
    """Return the first result alone, which is what users want."""
    return Sinh.apply(x)[0]


class Cube(Function):
    """x³ by NumPy, whose `backward` is a Function again."""

    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return wg.from_numpy(np.asarray(x.detach().numpy() ** 3))

    @staticmethod
    def backward(ctx, grad):
        (x,) = ctx.saved_tensors
        return CubeBackward.apply(grad, x)


class CubeBackward(Function):
    """3 x² times a gradient, by NumPy: linear in the gradient, and 6 x is its derivative in x."""

    @staticmethod
    def forward(ctx, grad, x):
        ctx.save_for_backward(grad, x)
        return wg.from_numpy(np.asarray(grad.detach().numpy() * 3 * x.detach().numpy() ** 2))

    @staticmethod
    def backward(ctx, grad_of_grad):
        grad, x = ctx.saved_tensors
        return grad_of_grad * 3 * x**2, grad_of_grad * grad * 6 * x


class SinhBad(Function):
    """What not to do: keep intermediate values as attributes of ctx."""

    @staticmethod
    def forward(ctx, x):
        ctx.rising, ctx.falling = x.exp(), (-x).exp()
        return (ctx.rising - ctx.falling) / 2

    @staticmethod
    def backward(ctx, grad):
        return grad * (ctx.rising + ctx.falling) / 2


RIGHT_WAYS = {
    "Square (saves its argument)": Square.apply,
    "Exp    (saves its result)": Exp.apply,
    "Sinh   (returns intermediate values)": sinh,
    "Cube   (a Function for its backward)": Cube.apply,
}


def second_derivative(function, x):
    """The derivative of the derivative of `function` at the number `x`."""
    (slope,) = wg.autograd.grad(function(x), x, create_graph=True)
    return wg.autograd.grad(slope, x)[0].item()


def main():
    x = wg.tensor(0.7, dtype=wg.float64, requires_grad=True)
    exact = {"Square": 2.0, "Exp": np.exp(0.7), "Sinh": np.sinh(0.7), "Cube": 6 * 0.7}
    columns = ("gradcheck", "gradgradcheck", "second derivative", "exact")
    print(f"{'the right ways':38}" + "  ".join(f"{c:>13}" for c in columns))
    for name, function in RIGHT_WAYS.items():
        first, second = gradcheck(function, x), gradgradcheck(function, x)
        value = second_derivative(function, x)
        row = (str(first), str(second), f"{value:.6f}", f"{exact[name.split()[0]]:.6f}")
        print(
            f"{name:38}"
            + "  ".join(f"{v:>{max(13, len(c))}}" for v, c in zip(row, columns, strict=True))
        )

    print("\nthe wrong way")
    print(f"gradcheck of SinhBad: {gradcheck(SinhBad.apply, x)}")
    for ask in (second_derivative, gradgradcheck):
        try:
            ask(SinhBad.apply, x)
        except RuntimeError as error:
            print(f"{ask.__name__} raises {type(error).__name__}: {error}")
    # declares that this is intended, which gives PyTorch's result
    SinhBad.keeps_constants = True
    (slope,) = wg.autograd.grad(SinhBad.apply(x), x, create_graph=True)
    print(f"as a constant, its slope is {slope.item():.6f} and has no history: {slope.grad_fn}")


if __name__ == "__main__":
    main()
