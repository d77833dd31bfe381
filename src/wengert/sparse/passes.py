"""Layer 8 · sparse: compressed Jacobians and Hessians, one pass per colour."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from wengert.sparse.coloring import Coloring
from wengert.tape.backward import run_grad
from wengert.tape.base import LEAF, new_tensor
from wengert.tape.node import Unrecorded


def is_recorded(tensor: Any) -> bool:
    """Return whether gradients flow from a tensor."""
    return tensor._edge is not None and tensor._edge.__class__ is not Unrecorded


def _parts(vector: Any, tensors: Sequence[Any]) -> list[Any]:
    """Split a vector into tensors of the shapes and dtypes of others."""
    parts = []
    start = 0
    for tensor in tensors:
        payload = tensor._payload
        piece = np.asarray(vector[start : start + payload.size], payload.dtype)
        parts.append(new_tensor(piece.reshape(payload.shape)))
        start += payload.size
    return parts


def _joined(grads: Sequence[Any], like: Sequence[Any]) -> Any:
    """Concatenate gradients into one vector; None stands for zeros."""
    pieces = [
        np.zeros(tensor._payload.size, tensor._payload.dtype)
        if g is None
        else np.asarray(g._payload).reshape(-1)
        for g, tensor in zip(grads, like, strict=True)
    ]
    return pieces[0] if len(pieces) == 1 else np.concatenate(pieces)


def rows_of(
    outputs: Sequence[Any], leaves: Sequence[Any], retain: bool = True
) -> Callable[[Any], Any]:
    """Return the function that multiplies the Jacobian of `outputs` by a vector from the left."""
    chosen = [i for i, output in enumerate(outputs) if is_recorded(output)]

    def product(vector: Any) -> Any:
        seeds = _parts(vector, outputs)
        if not chosen:
            return _joined([None] * len(leaves), leaves)
        found = run_grad(
            [outputs[i] for i in chosen], list(leaves), [seeds[i] for i in chosen], retain, False
        )
        return _joined(found, leaves)

    return product


def _columns_of(outputs: Sequence[Any], leaves: Sequence[Any]) -> Callable[[Any], Any]:
    """Return the function that multiplies the Jacobian of `outputs` by a vector from the right.

    The product of a vector with the Jacobian is linear in the vector; the vjp of this linear map is
    the Jacobian's product with a vector from the right.
    """
    chosen = [i for i, output in enumerate(outputs) if is_recorded(output)]
    u = [new_tensor(np.zeros_like(output._payload), LEAF) for output in outputs]
    slopes: list[Any] = [None] * len(leaves)
    if chosen:
        slopes = run_grad(
            [outputs[i] for i in chosen], list(leaves), [u[i] for i in chosen], True, True
        )
    there = [i for i, slope in enumerate(slopes) if slope is not None and is_recorded(slope)]

    def product(vector: Any) -> Any:
        seeds = _parts(vector, leaves)
        if not there:
            return _joined([None] * len(outputs), outputs)
        found = run_grad([slopes[i] for i in there], u, [seeds[i] for i in there], True, False)
        return _joined(found, outputs)

    return product


def compressed(outputs: Sequence[Any], leaves: Sequence[Any], coloring: Coloring) -> Any:
    """Return the Jacobian of outputs with respect to leaves as a CSR array."""
    rows = coloring.mode == "rows"
    product = (rows_of if rows else _columns_of)(outputs, leaves)
    return coloring.assembled(_products(product, coloring))


def square_of(slopes: Sequence[Any], leaves: Sequence[Any], coloring: Coloring) -> Any:
    """Return the Hessian from recorded gradients of leaves as a CSR array."""
    slopes = [
        new_tensor(np.zeros_like(leaf._payload)) if slope is None else slope
        for slope, leaf in zip(slopes, leaves, strict=True)
    ]
    return coloring.assembled(_products(rows_of(slopes, leaves), coloring))


def _products(product: Callable[[Any], Any], coloring: Coloring) -> Iterator[Any]:
    return (product(coloring.seed(number)) for number in range(coloring.passes))
