"""Layer 8 · nn: the nodes that give backward hooks a module's input and output gradients.

NOTE [backward hooks of modules]
The tensors among the inputs of a module pass through one identity node, `BackwardHookFunction`, and
those among its outputs through another. The backward pass runs the node of the outputs first, and
then the gradients of the outputs are known; after the node of the inputs, those of the inputs.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from wengert.autograd.function import Function
from wengert.ops.create import zeros
from wengert.tape.modes import is_grad_enabled
from wengert.tape.sites import warn
from wengert.tensor.tensor import Tensor


class BackwardHookFunction(Function):
    """The identity of its arguments, as one node that sees all of their gradients."""

    @staticmethod
    def forward(ctx: Any, *args: Any) -> tuple[Any, ...]:
        """Return the arguments themselves."""
        ctx.mark_non_differentiable(*[arg for arg in args if not arg.requires_grad])
        return args

    @staticmethod
    def backward(ctx: Any, *grads: Any) -> tuple[Any, ...]:
        """Return the cotangents themselves."""
        return grads


class BackwardHook:
    """One call of a module that has backward hooks."""

    def __init__(self, module: Any, hooks: Sequence[Any], pre_hooks: Sequence[Any]) -> None:
        self._module = module
        self._hooks = hooks
        self._pre_hooks = pre_hooks
        self._grad_outputs: Any = None
        self._inputs: list[int] | None = None
        self._kinds: list[tuple[Any, Any]] = []
        self._input_count = 0

    def setup_input_hook(self, args: tuple[Any, ...]) -> tuple[Any, ...]:
        """Return the positional arguments to call `forward` with."""
        self._input_count = len(args)
        made, self._inputs, node = _through_one_node(args)
        if node is not None and self._inputs is not None:
            self._kinds = [(args[i].shape, args[i].dtype) for i in self._inputs]
            node.register_hook(self._when_inputs_are_known)
        return made

    def setup_output_hook(self, result: Any) -> Any:
        """Return the value that the call returns instead of `result`."""
        if not isinstance(result, Tensor | tuple):
            warn(
                "For backward hooks to be called, module output should be a Tensor or a tuple of "
                f"Tensors but received {type(result)}",
            )
        several = isinstance(result, tuple)
        outputs = result if several else (result,)
        made, places, node = _through_one_node(outputs)
        if node is not None and places is not None:
            count = len(outputs)
            node.register_hook(lambda _, grads: self._when_outputs_are_known(grads, places, count))
        return made if several else made[0]

    def _when_outputs_are_known(self, grads: Any, places: list[int], count: int) -> Any:
        grad_outputs = _spread(grads, places, count)
        for hook in self._pre_hooks:
            made = hook(self._module, grad_outputs)
            if made is None:
                continue
            if len(made) != count:
                raise RuntimeError(
                    "Backward pre hook returned an invalid number of grad_output, got "
                    f"{len(made)}, but expected {count}"
                )
            grad_outputs = made
        if self._inputs is None:
            self._run_without_inputs(grad_outputs)
        else:
            self._grad_outputs = grad_outputs
        return tuple(grad_outputs[i] for i in places)

    def _run_without_inputs(self, grad_outputs: Any) -> None:
        if self._hooks:
            warn(
                "Full backward hook is firing when gradients are computed with respect to module "
                "outputs since no inputs require gradients: grad_input is None throughout.",
            )
        for hook in self._hooks:
            made = hook(self._module, (None,) * self._input_count, grad_outputs)
            if made is not None and not (
                isinstance(made, tuple) and all(grad is None for grad in made)
            ):
                raise RuntimeError(
                    "Backward hook for Modules where no input requires gradient should always "
                    "return None or None for all gradients."
                )

    def _when_inputs_are_known(self, grads: Any, _: Any) -> Any:
        if self._grad_outputs is None or self._inputs is None:
            # the gradient reached the input without passing through the output
            return None
        # the hooks see zeros for tensors that need no gradient, or get none
        seen = [
            zeros(shape, dtype=dtype) if grad is None else grad
            for grad, (shape, dtype) in zip(grads, self._kinds, strict=True)
        ]
        grad_inputs = _spread(seen, self._inputs, self._input_count)
        for hook in self._hooks:
            made = hook(self._module, grad_inputs, self._grad_outputs)
            if made is None:
                continue
            if len(made) != len(grad_inputs):
                raise RuntimeError(
                    "Backward hook returned an invalid number of grad_input, got "
                    f"{len(made)}, but expected {len(grad_inputs)}"
                )
            grad_inputs = made
        self._grad_outputs = None
        return tuple(
            None if old is None else grad_inputs[i]
            for i, old in zip(self._inputs, grads, strict=True)
        )


def _spread(values: Any, places: Sequence[int], count: int) -> tuple[Any, ...]:
    """Return a tuple of length `count` with `values` at `places`, and None elsewhere."""
    made = [None] * count
    for place, value in zip(places, values, strict=True):
        made[place] = value
    return tuple(made)


def _through_one_node(values: tuple[Any, ...]) -> tuple[Any, list[int] | None, Any]:
    """Pass all tensors among the values through one node.

    Returns the new values, the positions of the tensors, and the node.

    The positions and the node are None where no gradient is recorded.
    """
    places = [i for i, value in enumerate(values) if isinstance(value, Tensor)]
    tensors = [values[i] for i in places]
    if not (is_grad_enabled() and any(tensor.requires_grad for tensor in tensors)):
        return values, None, None
    made = list(values)
    node = None
    for place, tensor in zip(places, BackwardHookFunction.apply(*tensors), strict=True):
        made[place] = tensor
        node = node or tensor.grad_fn
    # a named tuple takes its fields as separate arguments
    return tuple(made) if type(values) is tuple else type(values)(*made), places, node


def hook_outputs_node(module: Any, hooks: Sequence[Any], args: Any, result: Any) -> None:
    """Register backward hooks of the older kind on the node of the first tensor in `result`."""
    first = result
    while not isinstance(first, Tensor):
        if isinstance(first, dict):
            first = next(value for value in first.values() if isinstance(value, Tensor))
        else:
            first = first[0]
    node = first.grad_fn
    if node is None:
        return
    for hook in hooks:
        node.register_hook(lambda grads, grad_outputs, hook=hook: hook(module, grads, grad_outputs))
    what = _what_is_missing(args, result, node)
    if what is not None:
        warn(
            f"Using a non-full backward hook {what} is deprecated. Please use "
            "register_full_backward_hook to get the documented behavior.",
            FutureWarning,
        )


def _what_is_missing(args: Any, result: Any, node: Any) -> str | None:
    """Return why a hook of the older kind does not see all gradients; None if it does."""
    outputs = result if isinstance(result, tuple) else (result,)
    if not all(isinstance(value, Tensor) for value in outputs):
        return "on a Module that does not return a single Tensor or a tuple of Tensors"
    if not all(isinstance(value, Tensor) for value in args):
        return "on a Module that does not take as input a single Tensor or a tuple of Tensors"
    if any(value.grad_fn is not node for value in outputs if value.grad_fn is not None):
        return "when outputs are generated by different autograd Nodes"
    nodes = {id(value.grad_fn) for value in args if value.grad_fn is not None}
    nearest = {id(other) for other, _ in node.next_functions if other is not None}
    if nodes != nearest:
        return "when the forward contains multiple autograd Nodes"
    return None
