"""Layer 7 · autograd: the check that backward passes handle undefined output gradients."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from wengert.autograd.function import Function
from wengert.tape.backward import run_grad
from wengert.tape.base import new_tensor


class UndefinedGrad(Function):
    """The identity, with an undefined gradient."""

    @staticmethod
    def forward(ctx: Any, tensor: Any) -> Any:
        """Return a copy of `tensor`."""
        return tensor.clone()

    @staticmethod
    def backward(ctx: Any, grad: Any) -> None:
        """Return None: the gradient is undefined."""
        return


def undefined_gradients(
    outputs: Callable[[], Sequence[Any]],
    inputs: Sequence[Any],
    name: Callable[[int], str],
    rtol: float,
    atol: float,
) -> tuple[str, Exception | None] | None:
    """Return a message, and its exception, if undefined output gradients fail; else None.

    Parameters
    ----------
    outputs: Returns the recomputed outputs that require a gradient.
    inputs, name: The inputs, and the name of each in messages.
    """
    count = len(outputs())
    cases = [range(count), *([i] for i in range(count) if count > 1)]
    for undefined in cases:
        made = outputs()
        which = "all outputs" if len(undefined) == count else f"output {undefined[0]}"
        roots = [UndefinedGrad.apply(o) if i in undefined else o for i, o in enumerate(made)]
        zeros = [new_tensor(np.zeros(out._payload.shape, out._payload.dtype)) for out in made]
        grads = _attempt(roots, inputs, zeros)
        if isinstance(grads, Exception):
            return _failing(which, grads)
        for k, grad in enumerate(grads):
            if grad is not None and np.any(np.asarray(grad._payload) != 0):
                return (
                    "Expected all input grads to be undefined or zero when all output grads are "
                    f"undefined or zero, but {name(k)} gets a gradient where {which} got none and "
                    "the others got zeros",
                    None,
                )
    for i in range(count if count > 1 else 0):
        made = outputs()
        seeds = [new_tensor(np.zeros(out._payload.shape, out._payload.dtype)) for out in made]
        seeds[i] = new_tensor(np.ones(made[i]._payload.shape, made[i]._payload.dtype))
        defined = _attempt(made, inputs, seeds)
        alone = _attempt([made[i]], inputs, [seeds[i]])
        if isinstance(alone, Exception) or isinstance(defined, Exception):
            return _failing(f"all outputs but {i}", alone)
        for k, pair in enumerate(zip(alone, defined, strict=True)):
            a, b = (0 if grad is None else np.asarray(grad._payload) for grad in pair)
            if not np.allclose(a, b, rtol, atol, equal_nan=True):
                return (
                    f"Expected undefined output grads to count as zero: the gradient of output {i} "
                    f"by {name(k)} changes when the other outputs' gradients are zeros",
                    None,
                )
    return None


def _attempt(outputs: Sequence[Any], inputs: Sequence[Any], seeds: Sequence[Any]) -> Any:
    try:
        return run_grad(outputs, inputs, seeds, True, False)
    except Exception as error:
        return error


def _failing(which: str, error: Any) -> tuple[str, Exception]:
    return (
        f"Expected backward function to handle undefined output grads: it fails where {which} got "
        f"none ({type(error).__name__}: {error}). Its gradients are None then: let backward return "
        "None for them, or leave ctx.set_materialize_grads as it is"
    ), error
