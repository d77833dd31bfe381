"""Layer 9 · compat: MXNet's backward pass, which writes to attached gradients."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from wengert.compat.mxnet.base import MXNetError, refusal, reraise, shown
from wengert.compat.mxnet.state import CLEARED, Modes, cleared, node_of
from wengert.tape.backward import run_grad
from wengert.tape.base import TensorBase, new_tensor
from wengert.tape.node import Unrecorded, edge_of

__all__ = ["backward", "gradients"]


def _unrecorded(head, index: int) -> Exception:
    what = f"heads[{index}] is an array of shape {tuple(head._payload.shape)}"
    if head._edge is not None and cleared(head._edge):
        why = (
            "whose graph an earlier backward pass has used up: pass retain_graph=True there, or "
            "record it again"
        )
    elif head._payload.dtype.kind not in "fc":
        why = f"of dtype {head._payload.dtype}, which has no gradient: compute it in floats"
    else:
        why = (
            "that was computed outside of autograd.record(), or from no array with an attached "
            "gradient: call x.attach_grad(), then compute it inside `with autograd.record():`"
        )
    return refusal(MXNetError, "Check failed: !AGInfo: :IsNone(*i)", what, why)


def _walked(heads: Sequence[Any]) -> tuple[list[Any], list[Any]]:
    """Return the leaves and the nodes that `heads` depend on."""
    leaves: dict[Any, None] = {}
    nodes: dict[Any, None] = {}
    stack = [node_of(edge_of(head)) for head in heads]
    while stack:
        node = stack.pop()
        if node._seq > 0:
            leaves[node] = None
        elif node not in nodes:
            nodes[node] = None
            stack += [node_of(edge) for edge in node.edges if edge is not None]
    return list(leaves), list(nodes)


def _seed(head, given, index: int) -> Any:
    payload = head._payload
    if given is None:
        return new_tensor(np.ones_like(payload))
    if not isinstance(given, TensorBase):
        raise TypeError(f"head_grads[{index}] must be an NDArray or None, got {shown(given)}")
    if given._payload.shape != payload.shape:
        raise MXNetError(
            f"Shape inconsistent: head_grads[{index}] has shape {tuple(given._payload.shape)}, and "
            f"the array that it belongs to has shape {tuple(payload.shape)}"
        )
    return given


def _checked(heads: Sequence[Any], grads: Sequence[Any]) -> list[Any]:
    for i, head in enumerate(heads):
        if not isinstance(head, TensorBase):
            raise TypeError(f"heads[{i}] must be an NDArray, got {shown(head)}")
        if head._edge is None or head._edge.__class__ is Unrecorded or cleared(head._edge):
            raise _unrecorded(head, i)
    return [_seed(head, g, i) for i, (head, g) in enumerate(zip(heads, grads, strict=True))]


def _run(
    heads: Sequence[Any],
    sources: Sequence[Any],
    seeds: Sequence[Any],
    keep: bool,
    create_graph: bool,
    train_mode: bool,
) -> list[Any]:
    try:
        with Modes(create_graph, bool(train_mode)):
            return run_grad(heads, sources, seeds, keep, create_graph)
    except (RuntimeError, ValueError) as error:
        reraise(error)


def gradients(
    heads: Sequence[Any],
    sources: Sequence[Any],
    grads: Sequence[Any],
    retain_graph: bool,
    create_graph: bool,
    train_mode: bool,
) -> list[Any]:
    """Return the gradients of `sources` as plain tensors, or None without a path."""
    seeds = _checked(heads, grads)
    _, nodes = _walked(heads)
    found = _run(heads, sources, seeds, bool(retain_graph), bool(create_graph), train_mode)
    if not retain_graph:
        CLEARED.update(nodes)
    return found


def backward(
    heads: Sequence[Any], grads: Sequence[Any], retain_graph: bool, train_mode: bool
) -> None:
    """Compute the gradients of `heads`, and write or add them to the attached arrays."""
    seeds = _checked(heads, grads)
    leaves, nodes = _walked(heads)
    found = _run(heads, leaves, seeds, bool(retain_graph), False, train_mode)
    if not retain_graph:
        CLEARED.update(nodes)
    for leaf, g in zip(leaves, found, strict=True):
        if g is not None:
            _deliver(leaf, g._payload)


def _deliver(leaf, g) -> None:
    request = vars(leaf).get("_grad_req", "add")
    if request == "null":
        return
    buffer = None if leaf._ext is None else leaf._ext.grad
    if buffer is None:
        leaf._extra().grad = new_tensor(g)
        return
    memory = buffer._array()
    cell = buffer._share_version()
    cell[0] += 1
    cell[1] = "backward"
    if request == "add":
        np.add(memory, g, memory)
    else:
        np.copyto(memory, g)
    vars(leaf)["_fresh_grad"] = True
