"""Layer 4 · tape: in-place writes inside transforms.

NOTE [writing values of transforms]
The value written may belong to levels that its target does not belong to, as in
``y = zeros(3); y[0] = x`` under `vmap`. Then the memory of the target, or of its base if it is a
view, is first replaced by memory at all of these levels (`elevate`), and every view is rebuilt from
it. Likewise, a tangent that other values may share (see `Dual.own`) is copied before the first
write.

A tensor from outside thereby becomes a tensor of the level, useless once the level has ended. So
each level keeps a list of the tensors written to. When a transform ends its level it restores them,
and raises if any is reachable from outside its function (`wengert.func.inputs`). Where the
function refers to the tensor by a name from an enclosing scope, `refuse_outside` raises at the
write itself.
"""

from __future__ import annotations

import weakref
from collections.abc import Sequence
from typing import Any

import numpy as np

from wengert.base.ports import provides
from wengert.interp.batched import Batched
from wengert.interp.dual import Dual
from wengert.interp.levels import Level, Lifted, levels_of, memory_of, namespace_of
from wengert.kernels.strided import copied_as
from wengert.prims.record import Primitive
from wengert.tape.base import LEAF, new_tensor
from wengert.tape.given import follow, noted_tangent
from wengert.tape.inplace import bump, count, is_recorded, node_of_write, set_history
from wengert.tape.levels import brought, check_levels, move, settled
from wengert.tape.modes import change_mode, enable_grad, full_mode, traced, untraced
from wengert.tape.views import move_edge, push, refresh_views, renew_views
from wengert.tape.write_checks import (
    check_distinct,
    check_mode,
    check_recordable,
    check_shape,
    check_sources,
    check_writable,
    may_repeat,
    refuse_outside,
    repeats,
)


def _is_own(payload: Any, levels: Sequence[Level]) -> bool:
    """Return whether a write at the ordered `levels` reaches all of a payload and nothing else."""
    if isinstance(payload, Lifted) and payload.traced:
        return not levels and _takes_writes(payload)
    if not levels:
        return payload.__class__ is np.ndarray and _takes_writes(payload)
    *below, level = levels
    if not isinstance(payload, Lifted) or payload.owner is not level:
        return False
    if isinstance(payload, Batched):
        return _is_own(payload.value, below)
    assert isinstance(payload, Dual)
    return (
        payload.own and not below and _is_own(payload.primal, ()) and _is_own(payload.tangent, ())
    )


def _takes_writes(payload: Any) -> bool:
    """Return whether an array, or the one of a symbol, is as a write needs it."""
    if repeats(payload):
        return False
    if isinstance(payload, Lifted):
        # a constant of a trace is an array in eager code
        return not payload.of_input or bool(payload.flags.writeable)  # type: ignore[attr-defined]
    return bool(payload.flags.writeable)


def _owned(payload: Any, levels: Sequence[Level]) -> Any:
    """Return `payload` with memory of its own for every part of a value at `levels`."""
    if isinstance(payload, Lifted) and payload.traced and not levels:
        return payload if _takes_writes(payload) else payload.copy()
    if not levels:
        return payload if _is_own(payload, ()) else np.array(payload)
    *below, level = levels
    if level.size is not None:
        return Batched(_owned(move("unwrap", new_tensor(payload), level)._payload, below), level)
    mine = isinstance(payload, Dual) and payload.owner is level
    primal, tangent = (payload.primal, payload.tangent) if mine else (payload, None)
    F: Any = namespace_of(primal)
    tangent = F.zeros_like(primal) if tangent is None else tangent.copy()
    value, slope = _owned(primal, below), _owned(tangent, below)
    memory, beside = memory_of(value), memory_of(slope)
    if memory.__class__ is not np.ndarray or beside.__class__ is not np.ndarray:
        return Dual(value, slope, level)
    # the layouts must agree, so that a view of one is a view of both
    laid = beside if memory.strides == beside.strides else copied_as(beside, memory)
    if slope is beside:
        slope = beside if laid is None else laid
    elif laid is not beside:
        untraced("a value of jvp lies in memory differently than its tangent")
    return Dual(value, slope, level, laid is not None)


def elevate(tensor: Any, levels: Sequence[Level]) -> None:
    """Give `tensor`, its base and the base's other views memory of their own at all `levels`."""
    ext = tensor._ext
    base = tensor if ext is None or ext.base is None else ext.base
    before = base._array()
    if not isinstance(before, Lifted) and (symbol := traced("unknown", before)) is not before:
        base._payload = before = symbol
        renew_views(base)
        if tensor is not base:
            tensor._payload = push(namespace_of(before), tensor._ext.chain, before)
    known = {**levels_of(before), **{level.number: level for level in levels}}
    every = [known[number] for number in sorted(known)]
    if not every or _is_own(before, every):
        # without levels, the memory is written as it is
        return
    own = levels_of(before)
    for level in every:
        if level.number not in own:
            level.written.append((weakref.ref(base), before, base._edge))
    with enable_grad():
        # recorded even if the write is not, which would leave the history unchanged
        raised = brought(new_tensor(before, None if base._edge is LEAF else base._edge), every)
    base._payload = _owned(raised._payload, every)
    if raised._edge is not base._edge and base._edge is not LEAF:
        move_edge(base, raised._edge)
    references = renew_views(base)
    if references and base._edge is not None and base._edge is not LEAF:
        refresh_views(base, base._edge)
    if tensor is not base and isinstance(base._payload, Lifted):
        # a window for one write, which its base does not reference
        tensor._payload = push(namespace_of(base._payload), tensor._ext.chain, base._payload)


def end(level: Level) -> None:
    """End `level`, and drop its tangents from the gradients that it left on leaves."""
    under_way = full_mode().levels
    change_mode(levels=tuple(one for one in under_way if one is not level))
    for reference in level.leaves:
        leaf = reference()
        grad = None if leaf is None or leaf._ext is None else leaf._ext.grad
        if grad is not None and level.number in levels_of(grad._payload):
            leaf._ext.grad = move("primal_of", grad, level)
    level.leaves, level.written = [], []


def left(level: Level) -> dict[int, tuple[Any, Any, Any]]:
    """Return the live tensors written to at `level`, with their earlier memory and edge.

    The outside may hold them, or a graph that has yet to be walked.
    """
    found = [(reference(), memory, edge) for reference, memory, edge in reversed(level.written)]
    return {
        id(tensor): (tensor, memory, edge)
        for tensor, memory, edge in found
        if tensor is not None and level.number in levels_of(tensor._payload)
    }


def put_back(tensor: Any, memory: Any, edge: Any) -> None:
    """Give a tensor back the memory and the edge that it had before a level.

    Batched values were never written to that memory; primals of `jvp` may have been.
    """
    tensor._payload = memory
    if tensor._edge is not edge:
        move_edge(tensor, edge)
    renew_views(tensor)


def store(target: Any, result: Any) -> None:
    """Write `result` to the memory of `target`."""
    if isinstance(target, Batched):
        value = move("unwrap", new_tensor(result), target.owner)._payload
        store(target.value, value)
    elif isinstance(target, Dual):
        level = target.owner
        store(target.primal, move("primal_of", new_tensor(result), level)._payload)
        store(target.tangent, move("tangent_of", new_tensor(result), level)._payload)
    elif isinstance(target, Lifted):
        target.write(result)
    else:
        np.copyto(target, result, casting="same_kind")


@provides("write")
def write_in_level(
    prim: Primitive,
    tensor: Any,
    values: list[Any],
    params: dict[str, Any],
    name: str,
    mode: Any,
) -> Any:
    """Like `write`, but inside transforms (see NOTE [writing values of transforms])."""
    check_mode(tensor)
    plain = settled(tensor)
    if plain is not tensor:
        # keep the same object, so that nodes that hold it notice the write
        tensor._payload = plain._payload
        if tensor._edge is not LEAF:
            move_edge(tensor, plain._edge)
    values = [value if value is tensor else settled(value) for value in values]
    recording = is_recorded(mode, tensor, values)
    if recording:
        check_recordable(tensor)
    if getattr(tensor._payload, "traced", False):
        _check_memory(prim, tensor, values, recording)
    else:
        if "overlapping" not in prim.writes:
            check_distinct(tensor._payload)
        if prim.broadcasts:
            check_shape(tensor._payload, [value._payload for value in values[1:]])
    found = check_levels([value._payload for value in values])
    if not found and not isinstance(tensor._payload, Lifted):
        check_writable(tensor, recording, may_repeat(prim, recording))
    order = [found[number] for number in sorted(found)]
    own = levels_of(tensor._payload)
    added = [level for number, level in found.items() if number not in own]
    if added:
        refuse_outside(tensor, any(level.size is not None for level in added))
    if recording:
        values = [
            value if value is tensor or value._edge is None else brought(value, order)
            for value in values
        ]
    elevate(tensor, order)
    payload = tensor._array()
    base = tensor if tensor._ext is None or tensor._ext.base is None else tensor._ext.base
    tangent = noted_tangent(base)
    payloads = [payload if value is tensor else value._payload for value in values]
    if not recording and hasattr(payload, "overwrite"):
        payload.overwrite(prim, payloads, params, name)
        bump(tensor, name)
        return tensor
    F: Any = namespace_of(*[p for p in payloads if isinstance(p, Lifted)])
    result = getattr(F, prim.name)(*payloads, **params)
    node: Any = None
    if recording and prim.is_differentiable:
        node = node_of_write(prim, tensor, values, payloads, params, False)
    if result.dtype != payload.dtype:
        result = F.to_copy(result, dtype=payload.dtype)
    if "partial" in prim.writes and repeats(payload):
        # the trace has stopped, and the values of elements are not those of their memory
        prim.into(payload.array, *map(memory_of, payloads[1:]), **params)  # type: ignore[misc]
    else:
        store(payload, result)
    bump(tensor, name)
    while isinstance(payload, Batched):
        payload = payload.value
    if isinstance(payload, Dual) and payload.given is not None:
        count(payload.given, name)
    if node is not None:
        set_history(tensor, node, "result" in prim.saved)
    elif tensor._ext is not None:
        refresh_views(tensor, None)
    if tangent is not None:
        follow(base, tangent)
    return tensor


def _check_memory(prim: Primitive, tensor: Any, values: list[Any], recording: bool) -> None:
    """Refuse, while tracing, the writes that would be refused without a trace."""
    payload = tensor._payload
    if payload.of_input or repeats(payload):
        check_writable(tensor, recording, may_repeat(prim, recording))
    check_sources(prim, payload.array, [memory_of(value._payload) for value in values])
    base = (
        tensor._payload
        if tensor._ext is None or tensor._ext.base is None
        else tensor._ext.base._payload
    )
    if repeats(payload) or repeats(base):
        untraced("a write to memory that a tensor shows several times")
