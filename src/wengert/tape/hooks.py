"""Layer 4 · tape: hooks on tensors, and tensors that retain their gradient.

NOTE [hooks during a walk]
Hooks take and return tensors, so a raw cotangent is wrapped for them and unwrapped after. They run
with recording on only if the walk itself is recorded (``create_graph``). Hooks of a leaf run once,
on the sum of all that arrived in the walk; hooks of any other tensor before its node runs.
"""

from __future__ import annotations

import itertools
import weakref
from collections.abc import Callable
from typing import Any

from wengert.base import errors
from wengert.tape.base import LEAF, OutputEdge, TensorBase, new_tensor
from wengert.tape.node import USER_CODE

__all__ = ["RemovableHandle", "register_hook", "retain_grad", "run_leaf_hooks", "visitor"]

_ids = itertools.count()


class RemovableHandle:
    """What `register_hook` returns: `remove` takes the hook away; also a context manager."""

    def __init__(self, hooks: dict[Any, Any], key: Any) -> None:
        self._hooks = hooks
        self._key = key
        self.id = key[-1] if isinstance(key, tuple) else key

    def remove(self) -> None:
        """Take the hook away; doing so twice does no harm."""
        self._hooks.pop(self._key, None)

    def __enter__(self) -> RemovableHandle:
        return self

    def __exit__(self, *exc: object) -> None:
        self.remove()


def register_hook(tensor: Any, hook: Callable[[Any], Any]) -> RemovableHandle:
    """Call `hook` with the gradient of `tensor` (see `Tensor.register_hook`)."""
    edge = tensor.edge
    if edge is None:
        raise RuntimeError("cannot register a hook on a tensor that doesn't require gradient")
    if not callable(hook):
        raise TypeError(f"register_hook(): hook must be callable, not {type(hook).__name__}")
    key = next(_ids)
    if edge is LEAF:
        ext = tensor.extra()
        if ext.hooks is None:
            ext.hooks = {}
        ext.hooks[key] = hook
        return RemovableHandle(ext.hooks, key)
    node, index = (edge.node, edge.index) if isinstance(edge, OutputEdge) else (edge, 0)
    hooks = node.extra().tensor_hooks
    hooks[index, key] = hook
    USER_CODE.add(node)
    return RemovableHandle(hooks, (index, key))


def retain_grad(tensor: Any) -> None:
    """Make a non-leaf keep its gradient in ``.grad`` (see `Tensor.retain_grad`)."""
    edge = tensor.edge
    if edge is None:
        raise RuntimeError("can't retain_grad on Tensor that has requires_grad=False")
    if edge is LEAF:
        return
    node, index = (edge.node, edge.index) if isinstance(edge, OutputEdge) else (edge, 0)
    tensor.extra().retains = True
    node.extra().retained[index] = weakref.ref(tensor)


def _call(hook: Callable[[Any], Any], grad: Any) -> Any:
    result = hook(grad)
    if result is None:
        return grad
    if not isinstance(result, TensorBase):
        raise TypeError(
            f"expected a tensor or None from a gradient hook, got {type(result).__name__}"
        )
    if result.payload.shape != grad.payload.shape:
        raise errors.hook_shape(hook, grad.payload, result.payload)
    return result


def run_leaf_hooks(leaf: TensorBase, grad: Any) -> Any:
    """What the hooks of a leaf make of its gradient, a tensor."""
    hooks = leaf.ext.hooks if leaf.ext is not None else None
    for hook in list(hooks.values()) if hooks else ():
        grad = _call(hook, grad)
    return grad


def visitor(raw: bool, collect: Callable[[Any, Any], None]) -> Callable[[Any, Any], Any]:
    """What the engine calls at each node with `NodeExtra`: runs hooks, hands on retained gradients.

    Parameters
    ----------
    raw
        Whether cotangents are raw arrays.
    collect
        ``collect(tensor, gradient)`` for each tensor that retains its gradient.
    """

    def visit(node: Any, g: Any) -> Any:
        ext = node.ext
        if not ext.tensor_hooks and not ext.retained:
            return g
        parts = list(g) if node.several else [g]
        for (index, _), hook in list(ext.tensor_hooks.items()):
            part = parts[index]
            if part is not None:
                result = _call(hook, new_tensor(part) if raw else part)
                parts[index] = result.payload if raw else result
        for index, reference in list(ext.retained.items()):
            tensor = reference()
            if tensor is not None and parts[index] is not None:
                collect(tensor, parts[index])
        return parts if node.several else parts[0]

    return visit
