"""Layer 8 · nn: gradients of convolutions as functions, under torch.nn.grad's names."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from wengert.autograd.api import grad
from wengert.base.names import defined
from wengert.nn import functional
from wengert.ops.create import empty
from wengert.tape.modes import enable_grad
from wengert.types import Tensor


def _gradient(
    convolve: Callable[..., Any],
    of: str,
    size: Sequence[int],
    other: Tensor,
    grad_output: Tensor,
    parameters: tuple[Any, ...],
) -> Any:
    # a convolution is linear in each argument, so the point of the gradient does not matter
    at = empty(tuple(size), dtype=other.dtype).zero_().requires_grad_()
    arguments = (at, other) if of == "input" else (other, at)
    with enable_grad():
        made = convolve(*arguments, None, *parameters)
    return grad(made, at, grad_output, create_graph=True)[0]


def _families(dimensions: int) -> tuple[Any, Any]:
    name = f"conv{dimensions}d"
    convolve = getattr(functional, name)

    def of_input(
        input_size: Sequence[int],
        weight: Tensor,
        grad_output: Tensor,
        stride: Any = 1,
        padding: Any = 0,
        dilation: Any = 1,
        groups: int = 1,
    ) -> Any:
        if input_size is None:
            raise ValueError(f"grad.{name}_input requires specifying an input_size")
        parameters = (stride, padding, dilation, groups)
        return _gradient(convolve, "input", input_size, weight, grad_output, parameters)

    def of_weight(
        input: Tensor,
        weight_size: Sequence[int],
        grad_output: Tensor,
        stride: Any = 1,
        padding: Any = 0,
        dilation: Any = 1,
        groups: int = 1,
    ) -> Any:
        parameters = (stride, padding, dilation, groups)
        return _gradient(convolve, "weight", weight_size, input, grad_output, parameters)

    for function, what in ((of_input, "input"), (of_weight, "weight")):
        function.__name__ = function.__qualname__ = f"{name}_{what}"
        function.__doc__ = (
            f"Return the gradient of the {what} of `{name}`, from the gradient of its result.\n\n"
            "Differentiable with respect to the other tensors. "
            f"`{what}_size` is the shape of the {what}."
        )
    return of_input, of_weight


conv1d_input, conv1d_weight = _families(1)
conv2d_input, conv2d_weight = _families(2)
conv3d_input, conv3d_weight = _families(3)


__all__ = defined(globals())
