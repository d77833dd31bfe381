"""Layer 7 · autograd: the gradients of a function as a function, for `gradgradcheck`."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

from wengert.autograd.numeric import as_tuple
from wengert.autograd.verify import argument_names, requires_grad
from wengert.ops.make_tensor import draw_between
from wengert.tape.backward import run_grad
from wengert.tape.base import LEAF, new_tensor


def function_of_gradients(
    func: Callable[..., Any], inputs: Any, grad_outputs: Any, strided: bool
) -> tuple[Callable[..., Any], tuple[Any, ...]]:
    """Return the gradients of `func` as a function of inputs and cotangents, and these arguments.

    Missing cotangents are drawn from the default generator, not contiguous in memory if
    `strided`.
    """
    tensors = as_tuple(inputs)
    watched = [i for i, value in enumerate(tensors) if requires_grad(value)]
    if grad_outputs is None:
        cotangents = tuple(
            _random_cotangent(out._payload, strided)
            for out in as_tuple(func(*tensors))
            if requires_grad(out)
        )
    else:
        cotangents = as_tuple(grad_outputs)
    count = len(tensors)

    def gradients(*arguments: Any) -> tuple[Any, ...]:
        # forward mode passes them without a history
        by = [arguments[i].requires_grad_() for i in watched]
        outputs = [out for out in as_tuple(func(*arguments[:count])) if requires_grad(out)]
        grads = run_grad(outputs, by, list(arguments[count:]), True, True)
        return tuple(grad for grad in grads if grad is not None)

    gradients.__name__ = f"the gradients of {getattr(func, '__name__', func)}"
    gradients.__signature__ = _signature_of_gradients(func, count, len(cotangents))  # type: ignore[attr-defined]
    return gradients, (*tensors, *cotangents)


def _random_cotangent(like: Any, strided: bool) -> Any:
    """Return a leaf of random numbers between -1 and 1, of the shape and dtype of `like`."""
    apart = strided and like.ndim > 0
    shape = (*like.shape[:-1], 2 * like.shape[-1]) if apart else like.shape
    values = draw_between(shape, like.dtype, -1, 1)
    return new_tensor(values[..., 1::2] if apart else values, LEAF)


def _signature_of_gradients(func: Any, inputs: int, outputs: int) -> inspect.Signature:
    names = [name or f"input_{i}" for i, name in enumerate(argument_names(func, inputs))]
    names += [f"grad_outputs_{i}" for i in range(outputs)]
    return inspect.Signature(
        [inspect.Parameter(name, inspect.Parameter.POSITIONAL_ONLY) for name in names]
    )
