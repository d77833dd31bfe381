"""Layer 8 · scipy: gradients and Hessian products, as vectors for SciPy."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from wengert.tape.backward import is_plain, plain_walk, run_grad
from wengert.tape.base import LEAF, new_tensor
from wengert.tape.detachments import recent, told
from wengert.tape.node import Unrecorded

_ONE = np.float64(1)


def is_recorded(tensor: Any) -> bool:
    """Return whether gradients flow from a tensor."""
    edge = tensor._edge
    return edge is not None and edge.__class__ is not Unrecorded


def gradients(output: Any, leaves: Sequence[Any], seed: Any, keep: bool) -> list[Any]:
    """Return an output's gradients for leaves as raw, possibly shared arrays; None without a path.

    Parameters
    ----------
    seed: The output's cotangent, a raw array; None for 1.
    keep: Whether the graph is needed again.
    """
    if seed is None:
        shape = output._payload.shape
        dtype = output._payload.dtype
        seed = _ONE if shape == () and dtype == np.float64 else np.ones(shape, dtype)
    edge = output._edge
    if edge is LEAF or not is_plain():
        found = run_grad([output], leaves, [new_tensor(seed)], keep, False)
        return [None if g is None else g._payload for g in found]
    # like `grad`, without a search for the nodes that lead to the leaves: all do
    arrived = plain_walk(edge, seed, keep)
    return [arrived.get(leaf) for leaf in leaves]


def recorded_gradients(
    outputs: Sequence[Any], leaves: Sequence[Any], seeds: Sequence[Any]
) -> list[Any]:
    """Return the gradients of outputs for leaves as tensors that can be differentiated again."""
    return run_grad(list(outputs), list(leaves), list(seeds), True, True)


def flat(pieces: Sequence[Any], leaves: Sequence[Any]) -> np.ndarray[Any, Any]:
    """Concatenate arrays of leaves into a new float64 vector; None stands for zeros."""
    if len(pieces) == 1:
        piece = pieces[0]
        size = leaves[0]._payload.size
        return np.zeros(size) if piece is None else np.array(piece, np.float64).reshape(size)
    parts = [
        np.zeros(leaf._payload.size) if piece is None else np.asarray(piece, np.float64).reshape(-1)
        for piece, leaf in zip(pieces, leaves, strict=True)
    ]
    return np.concatenate(parts)


def second_product(
    slopes: Sequence[Any], leaves: Sequence[Any], vector: np.ndarray[Any, Any]
) -> np.ndarray[Any, Any]:
    """Return the product of a Hessian and a vector, from recorded gradients for `leaves`.

    Gradients that are None, or without a path to the leaves, count as constant.
    """
    outputs, seeds = [], []
    start = 0
    for tensor, leaf in zip(slopes, leaves, strict=True):
        size = leaf._payload.size
        if tensor is not None and is_recorded(tensor):
            outputs.append(tensor)
            seed = np.asarray(vector[start : start + size], tensor._payload.dtype)
            seeds.append(new_tensor(seed.reshape(tensor._payload.shape)))
        start += size
    if not outputs:
        return np.zeros(start)
    found = run_grad(outputs, list(leaves), seeds, True, False)
    return flat([None if g is None else g._payload for g in found], leaves)


def unit(size: int, index: int) -> np.ndarray[Any, Any]:
    """Return the vector with one at `index` and zero elsewhere."""
    vector = np.zeros(size)
    vector[index] = 1
    return vector


def square(slopes: Sequence[Any], leaves: Sequence[Any], size: int) -> np.ndarray[Any, Any]:
    """Return the Hessian from recorded gradients for `leaves`, of `size` elements in total."""
    hessian = np.empty((size, size))
    for i in range(size):
        hessian[i] = second_product(slopes, leaves, unit(size, i))
    return hessian


def by_rows(outputs: Sequence[Any], leaves: Sequence[Any]) -> np.ndarray[Any, Any]:
    """Return the Jacobian of outputs for `leaves`, with one backward pass for each row."""
    rows = []
    for output in outputs:
        shape, dtype = output._payload.shape, output._payload.dtype
        size = output._payload.size
        if not is_recorded(output):
            rows.append(np.zeros((size, sum(leaf._payload.size for leaf in leaves))))
            continue
        for i in range(size):
            seed = np.zeros(size, dtype)
            seed[i] = 1
            rows.append(flat(gradients(output, leaves, seed.reshape(shape), True), leaves)[None])
    width = sum(leaf._payload.size for leaf in leaves)
    return np.concatenate(rows) if rows else np.zeros((0, width))


def by_columns(outputs: Sequence[Any], leaves: Sequence[Any]) -> np.ndarray[Any, Any]:
    """Return the Jacobian of outputs for `leaves`, with one pass for each column.

    The gradient of ``sum(u * output)`` is linear in ``u``; the vjp of this linear map is the
    product of the Jacobian with a vector.
    """
    sizes = [output._payload.size for output in outputs]
    width = sum(leaf._payload.size for leaf in leaves)
    jacobian = np.zeros((sum(sizes), width))
    spans = np.cumsum([0, *sizes])
    chosen = [i for i, output in enumerate(outputs) if is_recorded(output)]
    if not chosen:
        return jacobian
    u = [new_tensor(np.zeros_like(outputs[i]._payload), LEAF) for i in chosen]
    slopes = recorded_gradients([outputs[i] for i in chosen], leaves, u)
    column = 0
    for slope, leaf in zip(slopes, leaves, strict=True):
        size = leaf._payload.size
        for j in range(size if slope is not None and is_recorded(slope) else 0):
            seed = unit(size, j).astype(slope._payload.dtype).reshape(leaf._payload.shape)
            pieces = gradients(slope, u, seed, True)
            for i, piece in zip(chosen, pieces, strict=True):
                if piece is not None:
                    jacobian[spans[i] : spans[i + 1], column + j] = np.reshape(piece, -1)
        column += size
    return jacobian


def no_path(label: str, returned: str, names: Sequence[str]) -> RuntimeError:
    """Return the error for a result whose graph does not lead to any of the parameters."""
    lines = [
        f"{label} returned {returned}, which has no graph that leads to {', '.join(names)}.",
        f"  {label} is given tensors: compute with them by wengert's operations or NumPy's "
        "functions, and",
        "  leave out what takes values out of the graph: float(), .item(), .numpy(), .detach(),",
        "  no_grad(). Methods without derivatives (Nelder-Mead, ...) need no graph.",
    ]
    cuts = told(recent())
    if cuts:
        lines += ["  Values left graphs last at:", *[f"    {line}" for line in cuts]]
    return RuntimeError("\n".join(lines))


def is_finite(vector: np.ndarray[Any, Any]) -> bool:
    """Return whether all elements are finite."""
    # a dot product avoids an array of bools; it may overflow even if every element is finite
    return math.isfinite(vector.dot(vector)) or bool(np.isfinite(vector).all())
