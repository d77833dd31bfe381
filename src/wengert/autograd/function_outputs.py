"""Layer 7 · autograd: processing of the outputs of a Function's `forward`."""

from __future__ import annotations

from typing import Any

from wengert.autograd.function_node import FunctionNode, check_dirty
from wengert.autograd.kept import Kept
from wengert.base.dtypes import is_differentiable
from wengert.base.ports import PORTS
from wengert.interp.levels import levels_of
from wengert.tape.base import OutputEdge, SparseValue, TensorBase, new_tensor, version_of
from wengert.tape.inplace import bump, write_through_view
from wengert.tape.modes import current_mode, no_grad
from wengert.tape.node import USER_CODE, edge_of, is_leaf_edge, next_sequence
from wengert.tape.saving import keeps_aside, stand_in
from wengert.tape.sites import mark, warn
from wengert.tape.views import (
    MADE_IN_FUNCTION,
    MADE_UNRECORDED,
    ONE_OF_SEVERAL,
    attach_alias,
    invalidate_elsewhere,
    move_edge,
    refresh_views,
)


def finish(node: FunctionNode, args: tuple[Any, ...], output: Any, recorded: bool) -> Any:
    """Attach the outputs of `forward` to the node, and save the tensors passed to ctx."""
    positions = [i for i, arg in enumerate(args) if isinstance(arg, TensorBase)]
    tensors = [args[i] for i in positions]
    several = isinstance(output, tuple)
    outputs = list(output) if several else [output]
    _check_pure_view(node, tensors, outputs)
    _check_dirty_tensors(node, tensors, outputs, recorded)
    made = [
        _made(node, out, tensors, recorded) if isinstance(out, TensorBase) else out
        for out in outputs
    ]
    if recorded:
        _attach(node, tensors, positions, made)
        node._kept = Kept.of(node, args, made)
    # the tensors in them may hold the node, which would make a cycle
    node._given = node._dirty = ()
    if recorded:
        _save(node, made)
    return tuple(made) if several else made[0]


def _check_pure_view(node: FunctionNode, tensors: list[Any], outputs: list[Any]) -> None:
    if node._is_pure_view and (len(tensors) != 1 or len(outputs) != 1):
        raise RuntimeError(
            "Pure view custom Function can only have one input Tensor and one output Tensor. Open "
            f"an issue if you need to support more. {node.function.__name__} has {len(tensors)} "
            f"and {len(outputs)}."
        )


def _check_dirty_tensors(
    node: FunctionNode, tensors: list[Any], outputs: list[Any], recorded: bool
) -> None:
    """Raise or warn unless what `forward` marked as dirty is both an input and an output."""
    name = node.function.__name__
    for dirty in node._dirty:
        if not any(dirty is out for out in outputs):
            raise RuntimeError(
                "Some elements marked as dirty during the forward method were not returned as "
                f"output: {name}.forward must return every tensor that it marks as dirty"
            )
        if not any(dirty is t for t in tensors):
            message = (
                "ctx.mark_dirty() received a tensor that was not an input. Only input Tensors that "
                f"have been mutated should be passed to ctx.mark_dirty(): see {name}.forward."
            )
            if _is_view(dirty):
                raise RuntimeError(message)
            if recorded:
                warn(message)
        if recorded:
            check_dirty(dirty)
            if len(outputs) > 1 and _is_view(dirty):
                raise RuntimeError(
                    "If your Function modifies inplace an input that is a view of another Tensor, "
                    "your Function cannot return more than one Tensor. Clone the input, or split "
                    f"{name} into one Function that writes and one that gives the other outputs."
                )


def _made(node: FunctionNode, out: Any, tensors: list[Any], recorded: bool) -> Any:
    """Return the tensor that a call returns for an output of `forward`."""
    is_input = any(out is t for t in tensors)
    constant = any(out is t for t in node._constants)
    result = out
    if _is_dirty(node, out):
        bump(out, node.function.__name__)
        if out._ext is not None:
            refresh_views(out, None)
        if is_input and out._edge is not None and (constant or not recorded):
            # unrecorded and non-differentiable outputs do not require a gradient
            result = new_tensor(out._array(), None, out._share_version())
    elif is_input:
        # a returned input becomes an alias
        result = _alias(out)
        if out._edge is None or (recorded and not constant):
            attach_alias(out, result)
    elif recorded and out._edge is not None and not _made_in_forward(out):
        result = new_tensor(out._array(), None, out._share_version())
    elif not recorded and _made_in_forward(out):
        out._ext.no_write = MADE_IN_FUNCTION
    if constant and result is not out:
        node._constants = (*node._constants, result)
    return result


def _alias(source: Any) -> Any:
    """Return another tensor over the memory of `source`, of the class of its views."""
    if source.__class__ is not PORTS.tensor:
        with no_grad():
            alias = source.view_as(source)
        # a subclass may return anything
        if isinstance(alias, TensorBase) and alias is not source and is_leaf_edge(alias._edge):
            alias._edge = alias._ext = None
            return alias
    return new_tensor(source._array(), None, source._share_version())


def _is_view(tensor: Any) -> bool:
    return tensor._ext is not None and tensor._ext.base is not None


def _made_in_forward(tensor: Any) -> bool:
    """Return whether `tensor` is a view made without recording, as in `forward`."""
    return tensor._ext is not None and tensor._ext.no_write == MADE_UNRECORDED


def _attach(node: Any, tensors: list[Any], positions: list[int], made: list[Any]) -> None:
    """Make `node` the history of the differentiable outputs."""
    node._positions = tuple(positions)
    node._inputs_meta = tuple((t._payload.shape, t._payload.dtype) for t in tensors)
    node._inputs_levels = levels_of(*[t._payload for t in tensors]).values()
    # backward gets a gradient for each output, None for outputs other than tensors
    node.several = len(made) != 1
    constants = {id(t) for t in node._constants}
    metas: list[Any] = [None] * len(made)
    smooth: list[tuple[int, Any]] = []
    for i, out in enumerate(made):
        if not isinstance(out, TensorBase):
            continue
        if node._materialize_non_diff_grads or id(out) not in constants:
            metas[i] = (out._payload.shape, out._payload.dtype)
        if id(out) not in constants and is_differentiable(out._payload.dtype):
            smooth.append((i, out))
        elif out._ext is not None and out._ext.base is not None:
            out._ext.no_write = MADE_IN_FUNCTION
    node._outputs_meta = tuple(metas)
    mode = current_mode()
    if mode is not None and mode.levels:
        _bring_to_batches(node, tensors, [out for _, out in smooth])
    node._seq = next_sequence()
    mark(node)
    for i, out in smooth:
        edge = OutputEdge(node, i) if node.several else node
        if _is_dirty(node, out):
            _set_written(node, edge, out, tensors)
        else:
            _set_history(out, edge)
            if _is_view(out):
                # writes through a view made by forward would need the history of its base, which
                # a Function has that declares itself a view
                of_input = None if tensors[0]._ext is None else tensors[0]._ext.no_write
                several = ONE_OF_SEVERAL if len(smooth) > 1 else MADE_IN_FUNCTION
                out._ext.no_write = of_input if node._is_pure_view else several
    USER_CODE.add(node)
    if mode is not None and mode.anomaly is not None:
        node.site = mode.anomaly.site()


def _bring_to_batches(node: Any, tensors: list[Any], outputs: list[Any]) -> None:
    """Make a call one of all batches that its arguments and outputs belong to.

    Its cotangents belong to them then, too, so that the gradient of an argument that the elements
    of a batch share is summed over these.
    """
    found = levels_of(*[t._payload for t in (*tensors, *outputs)])
    batches = [found[number] for number in sorted(found) if found[number].size is not None]
    for out in outputs if batches else ():
        payload = PORTS.brought(new_tensor(out._payload), batches)._payload
        if payload is not out._payload and _is_dirty(node, out):
            raise NotImplementedError(
                f"{node.function.__name__}.forward writes to an argument that is not mapped, and "
                "has another one that is: pass a clone() of the first, or map both"
            )
        out._payload = payload
    node.edges = tuple(
        None if edge is None else edge_of(PORTS.brought(at_edge(edge, tensor), batches))
        for edge, tensor in zip(node.edges, tensors, strict=True)
    )


def at_edge(edge: Any, tensor: Any) -> Any:
    """Return a tensor with the value of `tensor` and the history of `edge`."""
    return edge if isinstance(edge, TensorBase) else new_tensor(tensor._payload, edge)


def _set_written(node: Any, edge: Any, out: Any, tensors: list[Any]) -> None:
    """Set the history of an input that `forward` wrote to."""
    if out._ext is not None:
        # as in PyTorch: the gradient belonged to the previous value
        out._ext.grad = None
    if _is_view(out):
        write_through_view(out, node, next(i for i, t in enumerate(tensors) if t is out))
    else:
        _set_history(out, edge)


def _set_history(out: Any, edge: Any) -> None:
    move_edge(out, edge)
    if out._ext is not None and out._ext.base is None:
        refresh_views(out, edge)
        invalidate_elsewhere(out)


def _is_dirty(node: Any, tensor: Any) -> bool:
    return any(tensor is dirty for dirty in node._dirty)


def _save(node: Any, made: list[Any]) -> None:
    """Save outputs as payload and version cell, which avoids a cycle, and other tensors as is."""
    entries: list[Any] = []
    mode = current_mode()
    aside = keeps_aside(mode)
    # packing a tensor may raise; then nothing may hold an output, which holds the node
    to_save, node._to_save = node._to_save, ()
    sparse: dict[int, Any] = {}
    for i, tensor in enumerate(to_save):
        entry: Any = None
        if isinstance(tensor, SparseValue):
            # detached: the values of an output hold the node
            whole: Any = tensor
            sparse[i], tensor = whole.detach(), whole._values_
        if tensor is not None:
            own = next(
                (i for i, out in enumerate(made) if tensor is out and tensor._edge is not None),
                None,
            )
            if aside:
                entry = (stand_in(mode, tensor), own, None if own is not None else edge_of(tensor))
            elif own is None:
                entry = (tensor, 0, tensor._payload, None, version_of(tensor))
            else:
                cell = tensor._share_version()
                entry = (None, own, tensor._payload, cell, cell[0])
        entries.append(entry)
    node._saved, node._sparse = tuple(entries), sparse
