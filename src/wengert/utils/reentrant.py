"""Layer 8 · utils: the reentrant checkpoint, a Function that runs a backward pass in its own."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from wengert.autograd.api import _is_checkpoint_valid, backward
from wengert.autograd.function import Function
from wengert.ops.generator import default_generator, fork_rng
from wengert.tape.base import LEAF, TensorBase
from wengert.tape.masked import apart, continuing
from wengert.tape.modes import MODE, changed, current_mode, full_mode, no_grad
from wengert.tape.sites import warn
from wengert.utils.dispatch import fresh_casts


def detach_variable(inputs: tuple[Any, ...]) -> tuple[Any, ...]:
    """Detach the tensors of a tuple, as leaves that require a gradient where the originals do.

    They share memory with the originals. Other values are unchanged.

    Raises
    ------
    RuntimeError: If `inputs` is not a tuple.

    Examples
    --------
    >>> from wengert.utils.checkpoint import detach_variable
    >>> x = wg.ones(2, requires_grad=True) * 2
    >>> detach_variable((x, 3))
    (tensor([2., 2.], requires_grad=True), 3)
    """
    if not isinstance(inputs, tuple):
        raise RuntimeError(
            "Only tuple of tensors is supported. Got Unsupported input type: "
            f"{type(inputs).__name__}"
        )
    return tuple(_leaf(value) if isinstance(value, TensorBase) else value for value in inputs)


def _leaf(tensor: Any) -> Any:
    leaf = tensor.detach()
    if tensor._edge is not None:
        leaf._edge = LEAF
    return leaf


def check_backward_validity(inputs: Iterable[Any]) -> None:
    """Warn if no tensor among `inputs` requires a gradient.

    Examples
    --------
    >>> from wengert.utils.checkpoint import check_backward_validity
    >>> check_backward_validity((1, wg.ones(2, requires_grad=True)))
    """
    if not any(isinstance(value, TensorBase) and value._edge is not None for value in inputs):
        warn("None of the inputs have requires_grad=True. Gradients will be None")


class CheckpointFunction(Function):
    """The Function of a reentrant checkpoint: ``apply(function, preserve_rng_state, *args)``.

    Its `backward` recomputes the function with recording, and runs a backward pass over the result:
    leaves that the function closes over get their gradients there.

    Raises
    ------
    RuntimeError: In the backward pass, if only some gradients are requested, or if no output of the
        function requires one.

    Examples
    --------
    >>> from wengert.utils.checkpoint import CheckpointFunction
    >>> x = wg.ones(2, requires_grad=True)
    >>> CheckpointFunction.apply(wg.exp, True, x).sum().backward()
    >>> x.grad
    tensor([2.7183, 2.7183])
    """

    @staticmethod
    def forward(
        ctx: Any, run_function: Callable[..., Any], preserve_rng_state: bool, *args: Any
    ) -> Any:
        """Compute the function without recording it."""
        check_backward_validity(args)
        ctx.run_function = run_function
        ctx.rng = default_generator.stream.pack() if preserve_rng_state else None
        ctx.casts = fresh_casts(full_mode().dispatch)
        ctx.inputs = [None if isinstance(arg, TensorBase) else arg for arg in args]
        ctx.tensor_indices = [i for i, arg in enumerate(args) if isinstance(arg, TensorBase)]
        ctx.save_for_backward(*[args[i] for i in ctx.tensor_indices])
        with no_grad():
            return run_function(*args)

    @staticmethod
    def backward(ctx: Any, *grads: Any) -> Any:
        """Recompute the function, and compute its gradients."""
        if not _is_checkpoint_valid():
            raise RuntimeError(
                "When use_reentrant=True, torch.utils.checkpoint is incompatible with .grad() or "
                "passing an `inputs` parameter to .backward(). To resolve this error, you can "
                "either set use_reentrant=False, or call .backward() without passing the `inputs` "
                "argument."
            )
        inputs = list(ctx.inputs)
        for i, tensor in zip(ctx.tensor_indices, ctx.saved_tensors, strict=True):
            inputs[i] = tensor
        leaves = detach_variable(tuple(inputs))
        with fork_rng(enabled=ctx.rng is not None):
            if ctx.rng is not None:
                default_generator.stream.unpack(ctx.rng)
            before = current_mode()
            others = (context for context in full_mode().dispatch if not context.mixes)
            MODE.set(changed(before, grad=True, dispatch=(*others, *fresh_casts(ctx.casts))))
            try:
                with apart():
                    outputs = ctx.run_function(*leaves)
            finally:
                MODE.set(before)
        if isinstance(outputs, TensorBase):
            outputs = (outputs,)
        # missing gradients arrive as zeros, and as None for arguments that are not tensors
        tensors = [output for output in outputs if isinstance(output, TensorBase)]
        arrived = [grad for grad in grads if grad is not None]
        asked = [
            (tensor, grad)
            for tensor, grad in zip(tensors, arrived, strict=True)
            if tensor._edge is not None
        ]
        if not asked:
            raise RuntimeError(
                "none of output has requires_grad=True, this checkpoint() is not necessary"
            )
        roots: list[Any] = [output for output, _ in asked]
        with continuing():
            backward(roots, [grad for _, grad in asked])
        return None, None, *[getattr(leaf, "grad", None) for leaf in leaves]
