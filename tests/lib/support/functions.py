"""Custom Functions of each kind, for PyTorch and for this library."""

from __future__ import annotations

import functools
from typing import Any

__all__ = ["functions"]


@functools.cache
def functions(module: Any) -> dict[str, Any]:
    """The Functions by name; those with ``_`` write into their argument."""
    Function: Any = module.autograd.Function

    class Square(Function):
        """Saves its input."""

        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:
            ctx.save_for_backward(x)
            return x * x

        @staticmethod
        def backward(ctx: Any, g: Any) -> Any:
            (x,) = ctx.saved_tensors
            return 2 * x * g

    class Exp(Function):
        """Saves its output."""

        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:
            result = x.clamp(max=0.5).exp()
            ctx.save_for_backward(x, result)
            return result

        @staticmethod
        def backward(ctx: Any, g: Any) -> Any:
            x, result = ctx.saved_tensors
            return g * result * (x <= 0.5)

    class Two(Function):
        """Has two outputs."""

        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:
            sine, cosine = x.sin(), x.cos()
            ctx.save_for_backward(sine, cosine)
            return sine, cosine

        @staticmethod
        def backward(ctx: Any, g: Any, h: Any) -> Any:
            sine, cosine = ctx.saved_tensors
            return g * cosine - h * sine

    class Either(Function):
        """Has two outputs and gets None for what nobody used."""

        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:
            ctx.set_materialize_grads(False)
            return x * 2, x * 3

        @staticmethod
        def backward(ctx: Any, g: Any, h: Any) -> Any:
            if g is None:
                return None if h is None else 3 * h
            return 2 * g if h is None else 2 * g + 3 * h

    class Flagged(Function):
        """Has an output without a gradient."""

        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:
            flags = x > 0.1
            ctx.mark_non_differentiable(flags)
            return x * 2, flags

        @staticmethod
        def backward(ctx: Any, g: Any, _: Any) -> Any:
            return 2 * g

    class Product(Function):
        """Has two arguments, and a context that is set up apart."""

        @staticmethod
        def forward(x: Any, y: Any) -> Any:
            return x * y

        @staticmethod
        def setup_context(ctx: Any, inputs: Any, output: Any) -> None:
            ctx.save_for_backward(*inputs)

        @staticmethod
        def backward(ctx: Any, g: Any) -> Any:
            x, y = ctx.saved_tensors
            wanted = ctx.needs_input_grad
            return g * y if wanted[0] else None, g * x if wanted[1] else None

    class Same(Function):
        """Returns its input."""

        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:
            return x

        @staticmethod
        def backward(ctx: Any, g: Any) -> Any:
            return 3 * g

    class Flat(Function):
        """Returns a view of its input."""

        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:
            ctx.shape = x.shape
            return x.view(-1)

        @staticmethod
        def backward(ctx: Any, g: Any) -> Any:
            return 2 * g.reshape(ctx.shape)

    class Part(Function):
        """Returns a part of its input."""

        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:
            ctx.shape = x.shape
            return x[0] if x.dim() and len(x) else x[...]

        @staticmethod
        def backward(ctx: Any, g: Any) -> Any:
            if g.shape == ctx.shape:
                return 2 * g
            return module.stack([2 * g] + [0 * g] * (ctx.shape[0] - 1))

    class Split(Function):
        """Returns two views of its input."""

        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:
            ctx.shape = x.shape
            return (x[0], x[-1]) if x.dim() and len(x) else (x[...], x[...])

        @staticmethod
        def backward(ctx: Any, g: Any, h: Any) -> Any:
            if g.shape == ctx.shape:
                return g + h
            rows = [0 * g] * ctx.shape[0]
            rows[0] = g
            rows[-1] = rows[-1] + h
            return module.stack(rows)

    class Double_(Function):
        """Writes into its input."""

        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:
            ctx.mark_dirty(x)
            return x.mul_(2)

        @staticmethod
        def backward(ctx: Any, g: Any) -> Any:
            return 2 * g

    class Sine_(Function):
        """Writes into its input, of which it saves a copy, and its output."""

        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:
            cosine = x.cos()
            x.sin_()
            ctx.mark_dirty(x)
            ctx.save_for_backward(x)
            ctx.flip = cosine < 0
            return x

        @staticmethod
        def backward(ctx: Any, g: Any) -> Any:
            (sine,) = ctx.saved_tensors
            cosine = (1 - sine * sine).abs().sqrt()
            return g * module.where(ctx.flip, -cosine, cosine)

    made = [Square, Exp, Two, Either, Flagged, Product, Same, Flat, Part, Split, Double_, Sine_]
    return {cls.__name__: cls for cls in made}
