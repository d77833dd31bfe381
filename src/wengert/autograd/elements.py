"""Layer 7 · autograd: calls of code that works on plain arrays, under transforms.

NOTE [numbers under transforms]
A SciPy solver takes plain arrays. Under a `vmap`, it is called for each element of the batch, as is
every rule that calls a solver on its cotangents. Under a `jvp`, it gets primals without tangents;
the `Function` that records its result defines the tangents.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from wengert.interp.dual import Dual
from wengert.interp.levels import batch_of, levels_of
from wengert.ops.like import zeros_like
from wengert.tape.base import new_tensor
from wengert.tape.levels import move
from wengert.tape.modes import outside_of
from wengert.tape.record import T


def followed(tensor: Any) -> bool:
    """Return whether a derivative of `tensor` may be needed: it has a history or a tangent."""
    return tensor._edge is not None or bool(levels_of(tensor._payload))


def without_tangent(tensor: Any) -> Any:
    """Return `tensor` without history and tangents."""
    payload = tensor._payload
    while isinstance(payload, Dual):
        payload = payload.primal
    return tensor.detach() if payload is tensor._payload else new_tensor(payload)


def refuse_lifted(tensors: Sequence[Any], what: str) -> None:
    """Refuse a result that belongs to a transform although all arguments are plain."""
    if levels_of(*[tensor._payload for tensor in tensors]):
        raise RuntimeError(
            f"{what} closes over a tensor of an enclosing vmap or jvp: pass that as an argument, "
            "since a solver cannot follow it"
        )


def in_batch(tensors: Sequence[Any]) -> bool:
    """Return whether any of `tensors` is batched."""
    return batch_of(*[tensor._payload for tensor in tensors]) is not None


def each(run: Callable[[list[Any]], list[Any]], tensors: Sequence[Any]) -> list[Any]:
    """Call ``run(tensors)`` for each element of the batches that `tensors` belong to.

    Parameters
    ----------
    run: A function of unbatched tensors that returns a list of tensors or None.
    tensors: None stands for a tensor that is not there.
    """
    level = batch_of(*[tensor._payload for tensor in tensors if tensor is not None])
    if level is None:
        return run(list(tensors))
    belongs = [t is not None and level.number in levels_of(t._payload) for t in tensors]
    whole = [
        move("unwrap", t, level, True) if own else t
        for t, own in zip(tensors, belongs, strict=True)
    ]
    with outside_of(level):
        rows = []
        for index in range(level.size or 0):
            parts = [
                T.select(t, dim=0, index=index) if own else t
                for t, own in zip(whole, belongs, strict=True)
            ]
            rows.append(each(run, parts))
        if not rows:
            raise RuntimeError("vmap over a batch without elements: there is nothing to solve")
        columns = [_stacked(column) for column in zip(*rows, strict=True)]
    return [None if column is None else move("wrap", column, level, True) for column in columns]


def _stacked(parts: Sequence[Any]) -> Any:
    like = next((part for part in parts if part is not None), None)
    if like is None:
        return None
    return T.stack(*[zeros_like(like) if p is None else p for p in parts], dim=0)
