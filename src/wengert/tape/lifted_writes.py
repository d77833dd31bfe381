"""Layer 4 · tape: writes to the memory of tensors inside of transforms.

NOTE [writing values of transforms]
What is written may belong to levels that the tensor written to does not, as in ``y = zeros(3);
y[0] = x`` under `vmap`. Then the memory of the tensor, or of the base that it is a view of, is
replaced by memory with all levels first (`elevate`), and every view is made anew from it. A tensor
of the outside becomes one of the inside by that, and cannot be used when the level has ended.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from wengert.interp.batched import Batched
from wengert.interp.dual import Dual
from wengert.interp.levels import Level, Lifted, namespace_of
from wengert.tape.base import LEAF, new_tensor
from wengert.tape.levels import brought, move
from wengert.tape.views import move_edge, push, refresh_views

__all__ = ["elevate", "store"]


def _is_own(payload: Any) -> bool:
    """Whether a write reaches all parts of a payload, and nothing but it."""
    if isinstance(payload, Batched):
        return _is_own(payload.value)
    if isinstance(payload, Dual):
        return payload.owned and _is_own(payload.primal) and _is_own(payload.tangent)
    shared = any(
        step == 0 and size > 1 for step, size in zip(payload.strides, payload.shape, strict=True)
    )
    return payload.__class__ is np.ndarray and bool(payload.flags.writeable) and not shared


def _owned(payload: Any) -> Any:
    if isinstance(payload, Batched):
        return Batched(_owned(payload.value), payload.owner)
    if isinstance(payload, Dual):
        F: Any = namespace_of(payload.primal)
        tangent = payload.tangent
        tangent = F.zeros_like(payload.primal) if tangent is None else _copied(tangent)
        return Dual(_owned(payload.primal), _owned(tangent), payload.owner, True)
    return payload if _is_own(np.asarray(payload)) and payload.ndim else np.array(payload)


def _copied(payload: Any) -> Any:
    F: Any = namespace_of(payload)
    return F.clone(np.asarray(payload) if not isinstance(payload, Lifted) else payload)


def elevate(tensor: Any, levels: Sequence[Level]) -> None:
    """Give `tensor`, with its base and the other views, memory of its own at all of `levels`."""
    ext = tensor.ext
    base = tensor if ext is None or ext.base is None else ext.base
    before = base.array()
    raised = brought(new_tensor(before, None if base.edge is LEAF else base.edge), levels)
    if raised.payload is before and _is_own(before):
        return
    base.payload = _owned(raised.payload)
    if raised.edge is not base.edge and base.edge is not LEAF:
        move_edge(base, raised.edge)
    references = () if base.ext is None or base.ext.views is None else base.ext.views
    for reference in references:
        view = reference()
        if view is not None and view.ext is not None and view.ext.base is base:
            view.payload = push(namespace_of(base.payload), view.ext.chain, base.payload)
    if references and base.edge is not None and base.edge is not LEAF:
        refresh_views(base, base.edge)
    if tensor is not base and isinstance(base.payload, Lifted):
        # a view for one write, which its base does not know
        tensor.payload = push(namespace_of(base.payload), tensor.ext.chain, base.payload)


def store(target: Any, result: Any) -> None:
    """Write `result` to the memory of `target`."""
    if isinstance(target, Batched):
        value = move("unwrap", new_tensor(result), target.owner).payload
        store(target.value, value)
    elif isinstance(target, Dual):
        level = target.owner
        store(target.primal, move("primal_of", new_tensor(result), level).payload)
        store(target.tangent, move("tangent_of", new_tensor(result), level).payload)
    else:
        np.copyto(target, result, casting="same_kind")
