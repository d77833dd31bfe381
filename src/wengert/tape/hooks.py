"""Layer 4 · tape: hooks on tensors, and tensors that retain their gradient.

NOTE [hooks during a walk]
Hooks take and return tensors, so a raw cotangent is wrapped for them and unwrapped afterwards. They
run with recording on only if the walk itself is recorded (``create_graph``). Hooks of a leaf run
once, on the sum of all cotangents that arrived in the walk; hooks of a non-leaf run before its
node.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from wengert.base import errors
from wengert.tape.base import LEAF, SparseValue, TensorBase
from wengert.tape.handles import WATCHED, RemovableHandle, Watchpoint, register
from wengert.tape.node import USER_CODE, Unrecorded, is_leaf_edge, target_of


def register_hook(tensor: Any, hook: Callable[[Any], Any]) -> RemovableHandle:
    """Call `hook` with the gradient of `tensor` (see `Tensor.register_hook`)."""
    edge = tensor._edge
    if edge is None:
        raise RuntimeError("cannot register a hook on a tensor that doesn't require gradient")
    if edge is LEAF:
        ext = tensor._extra()
        if ext.hooks is None:
            ext.hooks = {}
        _watch_leaf(ext)
        return register(ext.hooks, hook, "register_hook")
    if edge.__class__ is Unrecorded:
        # no gradient arrives there
        return register({}, hook, "register_hook")
    node, index = target_of(edge)
    ext = node._extra()
    if ext.tensor_hooks is None:
        ext.tensor_hooks = {}
    WATCHED.add(node)
    USER_CODE.add(node)
    return register(ext.tensor_hooks, hook, "register_hook", index)


def register_post_accumulate_grad_hook(tensor: Any, hook: Callable[[Any], Any]) -> RemovableHandle:
    """Call `hook` with `tensor` once its ``.grad`` has been added to (see `Tensor`)."""
    if tensor._edge is None:
        raise RuntimeError("cannot register a hook on a tensor that doesn't require gradient")
    if not is_leaf_edge(tensor._edge):
        raise RuntimeError("post accumulate grad hooks cannot be registered on non-leaf tensors")
    ext = tensor._extra()
    if ext.post_hooks is None:
        ext.post_hooks = {}
    _watch_leaf(ext)
    return register(ext.post_hooks, hook, "register_post_accumulate_grad_hook")


def set_hooks(tensor: Any, hooks: dict[Any, Any] | None) -> None:
    """Set the dictionary of a leaf's hooks; its keys are arbitrary (`Tensor._backward_hooks`)."""
    ext = tensor._extra()
    ext.hooks = hooks
    _watch_leaf(ext)


def set_grad_dtype(tensor: Any, dtype: Any) -> None:
    """Set the NumPy dtype of a leaf's gradient; None leaves gradients as they arrive."""
    ext = tensor._extra()
    ext.grad_dtype = dtype
    # unwatched walks assume that gradients have their leaf's dtype
    _watch_leaf(ext)


def _watch_leaf(ext: Any) -> None:
    if ext.watchpoint is None:
        ext.watchpoint = Watchpoint()
    WATCHED.add(ext.watchpoint)


def retain_grad(tensor: Any) -> None:
    """Make a non-leaf keep its gradient in ``.grad`` (see `Tensor.retain_grad`)."""
    edge = tensor._edge
    if edge is None:
        raise RuntimeError("can't retain_grad on Tensor that has requires_grad=False")
    if is_leaf_edge(edge):
        return
    node, index = target_of(edge)
    tensor._extra().retains = True
    node.retain(index, tensor)


def call_hook(hook: Callable[[Any], Any], grad: Any) -> Any:
    """Return a tensor's gradient after `hook`: a tensor, or None if none arrived."""
    result = hook(grad)
    if result is None:
        return grad
    _check_result(hook, grad, result)
    return result


def call_leaf_hook(hook: Callable[[Any], Any], leaf: Any) -> None:
    """Run a hook of a leaf whose ``.grad`` has been added to; it may also return the leaf."""
    result = hook(leaf)
    if result is not None and result is not leaf:
        raise RuntimeError(
            f"Tensor post accumulate grad hooks should return None: hook '{_name(hook)}' changes "
            "the gradient by writing to, or setting, the .grad of its argument"
        )


def call_node_hook(
    hook: Callable[..., Any], grads: tuple[Any, ...], *more: tuple[Any, ...]
) -> tuple[Any, ...]:
    """Return the gradients `grads`, tensors or None, after a hook of a node."""
    results = hook(grads, *more)
    if results is None:
        return grads
    if not isinstance(results, tuple):
        raise TypeError(
            f"expected tuple, but hook returned '{type(results).__name__}': hook '{_name(hook)}' "
            f"must return a tuple of {len(grads)}, or None to leave the gradients as they are"
        )
    if len(results) != len(grads):
        raise RuntimeError(
            f"hook '{_name(hook)}' has returned an incorrect number of values (got "
            f"{len(results)}, but expected {len(grads)})"
        )
    for grad, result in zip(grads, results, strict=True):
        if result is not None:
            _check_result(hook, grad, result)
    return results


def _check_result(hook: Any, grad: Any, result: Any) -> None:
    if grad is None:
        raise RuntimeError(
            "can't replace a None gradient with a non-None value: no gradient arrived or is asked "
            f"for there, so hook '{_name(hook)}' must return None in its place"
        )
    if isinstance(grad, SparseValue) or isinstance(result, SparseValue):
        if (result.dtype, result.shape) != (grad.dtype, grad.shape):
            raise RuntimeError(f"hook '{_name(hook)}' has changed the type or size of value")
        return
    if not isinstance(result, TensorBase):
        raise TypeError(
            f"expected Variable, but hook returned '{type(result).__name__}': hook "
            f"'{_name(hook)}' must return a tensor, or None to leave the gradient as it is"
        )
    if result._payload.dtype != grad._payload.dtype:
        raise RuntimeError(
            f"hook '{_name(hook)}' has changed the type of value (was "
            f"torch.{errors.long_name(grad._payload.dtype)}Tensor got "
            f"torch.{errors.long_name(result._payload.dtype)}Tensor)"
        )
    if result._payload.shape != grad._payload.shape:
        raise errors.hook_shape(hook, grad._payload, result._payload)


def _name(hook: Any) -> str:
    return str(getattr(hook, "__name__", hook))
