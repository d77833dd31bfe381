"""Layer 5 · ops: copies of a tensor, in a memory order."""

from __future__ import annotations

from typing import Any

from wengert.base.export import export
from wengert.base.memory_format import (
    check_memory_format,
    in_format,
    memory_format,
    preserve_format,
)
from wengert.interp.levels import Lifted
from wengert.ops.coerce import operand
from wengert.tape.record import T


@export("wengert", "Tensor")
def clone(input: Any, *, memory_format: Any = None) -> Any:
    """Return a copy of a tensor, recorded: gradients flow back to the original.

    Parameters
    ----------
    input : Tensor. Of any shape and dtype.
    memory_format : memory_format, optional. The order of the copy's memory; default:
        ``preserve_format``, the same order.

    Returns
    -------
    Tensor: Of the same shape and dtype. Differentiable to any order.

    Raises
    ------
    RuntimeError: If tensors of this number of dimensions cannot have `memory_format`.

    Examples
    --------
    >>> wg.clone(wg.tensor([1.0, 2.0], requires_grad=True))
    tensor([1., 2.], grad_fn=<CloneBackward0>)
    """
    if memory_format is None or memory_format is preserve_format:
        return T.clone(input)
    x = operand(input, "clone")
    order = check_memory_format(memory_format, "clone", x._payload.ndim)
    return lying(T.clone(x), order)


def lying(out: Any, order: memory_format) -> Any:
    """Return `out`, a tensor that nobody else holds, with its elements in the memory `order`."""
    payload = out._payload
    if isinstance(payload, Lifted):
        payload.lie(order)
    elif payload.ndim:
        out._payload = in_format(payload, order)
    return out
