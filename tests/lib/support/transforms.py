"""Programs to transform, transforms, and their expected results.

A program takes a tensor of three numbers and returns a tensor. A transform is a function from
programs to programs, so that any two nest; its reference calls the program on plain arrays only:
finite differences, or a loop. Both are functions of the module, so that PyTorch can get the same
ones.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

__all__ = ["POINT", "compare", "programs", "transforms"]

POINT = np.array([0.6, -0.4, 1.1])
MATRIX = np.array([[2.0, 0.3, -0.5], [0.1, 1.5, 0.4], [-0.3, 0.2, 2.5]])
SCALES = np.array([1.0, -0.5, 1.3, 0.7])
CLOSED_OVER = np.array([0.9, -1.2, 0.5])

Program = Callable[[Any], Any]


def _functions(m: Any) -> Program:
    class Cubed(m.autograd.Function):
        """The cube, by its backward."""

        generate_vmap_rule = True

        @staticmethod
        def forward(x: Any) -> Any:
            return x * x * x

        @staticmethod
        def setup_context(ctx: Any, inputs: Any, output: Any) -> None:
            ctx.save_for_backward(*inputs)
            ctx.save_for_forward(*inputs)

        @staticmethod
        def backward(ctx: Any, g: Any) -> Any:
            (x,) = ctx.saved_tensors
            return g * 3 * x * x

        @staticmethod
        def jvp(ctx: Any, t: Any) -> Any:
            (x,) = ctx.saved_tensors
            return t * 3 * x * x

    class Product(m.autograd.Function):
        """A product and a sum, with all methods."""

        @staticmethod
        def forward(x: Any, y: Any) -> Any:
            return x * y, x + y

        @staticmethod
        def setup_context(ctx: Any, inputs: Any, output: Any) -> None:
            ctx.save_for_backward(*inputs)
            ctx.save_for_forward(*inputs)

        @staticmethod
        def backward(ctx: Any, g: Any, h: Any) -> Any:
            x, y = ctx.saved_tensors
            return g * y + h, g * x + h

        @staticmethod
        def jvp(ctx: Any, s: Any, t: Any) -> Any:
            x, y = ctx.saved_tensors
            return s * y + x * t, s + t

        @staticmethod
        def vmap(info: Any, in_dims: Any, x: Any, y: Any) -> Any:
            # all with the batch in front: it may be one of several
            fronts = [
                v.expand(info.batch_size, *v.shape) if d is None else v.movedim(d, 0)
                for v, d in zip((x, y), in_dims, strict=True)
            ]
            return Product.apply(*fronts), (0, 0)

    def functions(x: Any) -> Any:
        product, total = Product.apply(Cubed.apply(x), x.sin())
        return Cubed.apply(total) + product

    return functions


def _backward_alone(m: Any) -> Program:
    class Waves(m.autograd.Function):
        """A sine, by its backward alone, in the old style with an output saved."""

        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:
            ctx.save_for_backward(x)
            return x.sin()

        @staticmethod
        def backward(ctx: Any, g: Any) -> Any:
            (x,) = ctx.saved_tensors
            return g * x.cos()

    return lambda x: Waves.apply(x * x) * Waves.apply(x)


def _ruled(m: Any) -> Program:
    @m.func.custom_vjp
    def wave(x: Any, y: Any) -> Any:
        return {"wave": x.sin() * y}

    def forward(x: Any, y: Any) -> Any:
        return {"wave": x.sin() * y}, (x, y)

    def back(kept: Any, g: Any) -> Any:
        x, y = kept
        return g["wave"] * x.cos() * y, g["wave"] * x.sin()

    wave.defvjp(forward, back)

    @m.func.custom_jvp
    def swell(x: Any) -> Any:
        return x.cosh()

    @swell.defjvp
    def rule(primals: Any, tangents: Any) -> Any:
        (x,), (t,) = primals, tangents
        return swell(x), t * x.sinh()

    return lambda x: wave(x, x * x)["wave"] * swell(x)


def programs(m: Any) -> dict[str, Program]:
    """The programs, as functions of tensors of the module `m`.

    ``ruled`` and ``backward_alone`` use what PyTorch does not have.
    """
    outside = m.tensor(CLOSED_OVER, requires_grad=True)

    def polynomial(x: Any) -> Any:
        return m.stack([x[0] * x[1] ** 2, x[1].exp() * x[2], (x * x).sum(), x.prod()])

    def waves(x: Any) -> Any:
        return (x.sin() * x.cumsum(0)).tanh() / (1 + x.square())

    def written(x: Any) -> Any:
        y = m.cat([x, x[:1]]) * 0
        y[0] = x[1] * x[2]
        y[1:] = x
        y[1:3].mul_(x[:2]).add_(x[1:].sin())
        return (y * 2).sub_(y.exp())

    def network(x: Any) -> Any:
        weight = m.tensor(MATRIX)
        hidden = (weight @ x + x).tanh()
        return m.log_softmax(weight.T @ hidden, 0)

    def solved(x: Any) -> Any:
        a = m.tensor(MATRIX) + m.outer(x, x)
        return m.linalg.solve(a, x[:, None])[:, 0] * m.linalg.det(a)

    def ordered(x: Any) -> Any:
        values, places = x.sort()
        parts = [values * x, x[places].cumprod(0), x.flip(0)[:1], x.amax().reshape(1)]
        return m.cat(parts)

    def closed_over(x: Any) -> Any:
        return (outside * x).exp().sum() * outside - x**3

    def inner(x: Any) -> Any:
        slope = m.func.grad(lambda y: (y * x).sin().prod())(x * 2)
        return slope * m.func.jvp(m.tanh, (x,), (slope,))[1]

    def spectrum(x: Any) -> Any:
        parts = m.fft.rfft(m.cat([x, x * x.roll(1)]))
        return (parts * parts.conj()).real + (parts * (1 + 2j)).abs()

    def watched(x: Any) -> Any:
        y = x * 1
        if y.requires_grad:
            y.register_hook(lambda g: g * 1)
        return y.exp() * y

    plain = (
        polynomial, waves, written, network, solved, ordered, closed_over, inner, spectrum, watched
    )  # fmt: skip
    found: dict[str, Program] = {program.__name__: program for program in plain}
    found["functions"] = _functions(m)
    if hasattr(m.func, "custom_vjp"):
        found["ruled"] = _ruled(m)
        found["backward_alone"] = _backward_alone(m)
    return found


# -- transforms ------------------------------------------------------------------------------------


def _weights(y: Any) -> Any:
    size = int(np.prod(y.shape))
    return (np.arange(size) % 5 - 1.5).reshape(tuple(y.shape)) / 2


def _direction(x: Any) -> Any:
    """A direction that depends on the point, so that a confusion of tangents would show."""
    return x.cos() + x.flip(0)


def transforms(m: Any) -> dict[str, Callable[[Program], Program]]:
    """The transforms of the module `m`, as functions from programs to programs."""
    func = m.func

    def weighed(f: Program) -> Program:
        def total(x: Any) -> Any:
            y = f(x)
            return (y * m.tensor(_weights(y))).sum()

        return total

    def back(f: Program) -> Program:
        def product(x: Any) -> Any:
            y, pull = func.vjp(f, x)
            return pull(m.tensor(_weights(y)))[0]

        return product

    def both(f: Program) -> Program:
        def each(x: Any) -> Any:
            slope, value = func.grad_and_value(weighed(f))(x)
            return slope * value

        return each

    def in_chunks(f: Program) -> Program:
        def each(x: Any) -> Any:
            rows = m.tensor(SCALES) * x[:, None]
            return func.vmap(f, in_dims=1, out_dims=-1, chunk_size=3)(rows)

        return each

    found: dict[str, Callable[[Program], Program]] = {
        "grad": lambda f: func.grad(weighed(f)),
        "grad_and_value": both,
        "vjp": back,
        "jvp": lambda f: lambda x: func.jvp(f, (x,), (_direction(x),))[1],
        "linearize": lambda f: lambda x: func.linearize(f, x)[1](_direction(x)),
        "vmap": lambda f: lambda x: func.vmap(lambda s: f(x * s))(m.tensor(SCALES)),
        "chunks": in_chunks,
        "jacrev": func.jacrev,
        "jacfwd": func.jacfwd,
        "hessian": lambda f: func.hessian(weighed(f)),
    }
    if hasattr(func, "hvp"):
        found["hvp"] = lambda f: lambda x: func.hvp(weighed(f), (x,), (_direction(x),))[1][0]
        found["hessian_diag"] = func.hessian_diag
        found["laplacian"] = func.laplacian
    return found


# -- references ------------------------------------------------------------------------------------


def _differences(f: Callable[[Any], Any], x: Any) -> Any:
    """The Jacobian of `f` by differences of fourth order; the argument's dimensions are last."""
    step = 2e-4
    columns = []
    for unit in np.eye(x.size).reshape(-1, *x.shape) * step:
        near, far = f(x + unit) - f(x - unit), f(x + 2 * unit) - f(x - 2 * unit)
        columns.append((8 * near - far) / (12 * step))
    return np.stack(columns, -1).reshape(*columns[0].shape, *x.shape)


def _expected(m: Any, transform: str, program: Program, x: Any) -> Any:
    """What `transform` of `program` should give; second derivatives from first ones by `m`."""

    def plain(function: Program) -> Callable[[Any], Any]:
        def run(point: Any) -> Any:
            return np.array(function(m.tensor(np.asarray(point))).detach().numpy())

        return run

    def total(point: Any) -> Any:
        y = plain(program)(point)
        return np.sum(y * _weights(y))

    along = np.cos(x) + x[::-1]
    rows = [plain(program)(x * s) for s in SCALES] if transform in ("vmap", "chunks") else []
    match transform:
        case "grad" | "vjp":
            return _differences(total, x)
        case "grad_and_value":
            return _differences(total, x) * total(x)
        case "jvp" | "linearize":
            return _differences(plain(program), x) @ along
        case "vmap":
            return np.stack(rows)
        case "chunks":
            return np.stack(rows, -1)
        case "jacrev" | "jacfwd":
            return _differences(plain(program), x)
        case "hessian" | "hvp":
            gradient = plain(transforms(m)["grad"](program))
            second = _differences(gradient, x)
            return second if transform == "hessian" else second @ along
        case "hessian_diag" | "laplacian":
            second = _differences(plain(m.func.jacrev(program)), x)
            diagonal = np.einsum("...ii->...i", second)
            return diagonal if transform == "hessian_diag" else diagonal.sum(-1)
    raise ValueError(f"there is no transform {transform!r}")


def compare(m: Any, transform: str, program: Program) -> None:
    """Compare a transform of `program` with what it should give.

    Parameters
    ----------
    m
        The module.
    transform
        One of `transforms`.
    program
        A program, perhaps with transforms inside.

    Raises
    ------
    AssertionError
        If shape, dtype or values differ.
    """
    found = transforms(m)[transform](program)(m.tensor(POINT))
    expected = _expected(m, transform, program, POINT)
    assert tuple(found.shape) == expected.shape, (tuple(found.shape), expected.shape)
    assert found.dtype == m.float64
    scale = 1 + np.abs(expected).max()
    np.testing.assert_allclose(found.detach().numpy(), expected, rtol=0, atol=1e-6 * scale)
