"""Layer 5 · ops · sequences: attention, and products of pairs of vectors."""

# the functions and arguments have PyTorch's names

from __future__ import annotations

import functools
import math
from typing import Any

import numpy as np

from wengert.base.dtypes import is_differentiable, is_half, joined
from wengert.base.export import export
from wengert.ops.arrange import repeat_interleave
from wengert.ops.checks import flag, numpy_names
from wengert.ops.coerce import dtype_name, number, operand
from wengert.ops.dropout import dropout
from wengert.ops.expand import broadcast_tensors
from wengert.ops.matmul import matmul, size_of
from wengert.ops.moments import vector_norm
from wengert.ops.neural import softmax
from wengert.ops.options import placed
from wengert.ops.permute import transpose
from wengert.ops.reduce import sum
from wengert.ops.select import clamp, masked_fill
from wengert.ops.shape import reshape
from wengert.prims import contraction as contraction
from wengert.prims import numbers as numbers
from wengert.tape.base import new_tensor
from wengert.tape.masked import hides
from wengert.tape.modes import mixes_dtypes
from wengert.tape.operands import cast
from wengert.tape.record import T

_FEW = 64
"""The number of steps up to which causal masks are cached."""


def _later(rows: int, columns: int) -> Any:
    """Return a read-only mask of the keys that come after each query."""
    later = np.arange(rows)[:, None] < np.arange(columns)
    later.flags.writeable = False
    return later


_few_later = functools.lru_cache(16)(_later)


@export("nn.functional")
def scaled_dot_product_attention(
    query: Any,
    key: Any,
    value: Any,
    attn_mask: Any = None,
    dropout_p: float = 0.0,
    is_causal: bool = False,
    scale: float | None = None,
    enable_gqa: bool = False,
) -> Any:
    """Return the attention ``softmax(query @ key.mT * scale + attn_mask) @ value``.

    Parameters
    ----------
    query : Tensor. Of shape (..., l, e).
    key, value : Tensor. Of shapes (..., s, e) and (..., s, v).
    attn_mask : Tensor, optional. Broadcasts to (..., l, s): of bools, True where a query may see a
        key; or floating, added to the scores.
    dropout_p : float. The probability of each weight to become 0.
    is_causal : bool. Whether query i sees the keys up to i only; without `attn_mask`.
    scale : float, optional. The factor of the products; by default 1 / sqrt(e).
    enable_gqa : bool. Whether several heads of the query share one of key and value: the third
        dimension from the end of `query` is a multiple of theirs.

    Returns
    -------
    Tensor: Of shape (..., l, v). A query that sees no key gets zeros. Differentiable, to any order,
        by query, key, value and a floating mask.

    Raises
    ------
    RuntimeError: If the shapes or dtypes do not fit, or a mask is given with ``is_causal``.

    Examples
    --------
    >>> q, k = wg.zeros(1, 2), wg.ones(3, 2)
    >>> wg.nn.functional.scaled_dot_product_attention(q, k, wg.tensor([[1.0], [2.0], [6.0]]))
    tensor([[3.]])
    """
    op = "scaled_dot_product_attention"
    q, k, v = (
        operand(query, op, "query"),
        operand(key, op, "key", 2),
        operand(value, op, "value", 3),
    )
    # an autocast decides on the dtypes of the products
    kinds, mixed = [t._payload.dtype for t in (q, k, v)], mixes_dtypes()
    if len(set(kinds)) > 1 and not mixed:
        raise RuntimeError(
            "Expected query, key, and value to have the same dtype, but got query.dtype: "
            f"{dtype_name(q._payload)} key.dtype: {dtype_name(k._payload)} and value.dtype: "
            f"{dtype_name(v._payload)} instead."
        )
    if q._payload.ndim < 2 or k._payload.ndim < 2 or v._payload.ndim < 2:
        raise RuntimeError(
            "Expected query, key, and value to all be  at least 2 dimensional, but got "
            f"query.dim: {q._payload.ndim}, key.dim: {k._payload.ndim} and "
            f"value.dim: {v._payload.ndim} instead."
        )
    if is_causal and attn_mask is not None:
        raise RuntimeError(
            "_scaled_dot_product_attention: Explicit attn_mask should not be set when "
            "is_causal=True"
        )
    if enable_gqa:
        k, v = (
            repeat_interleave(t, q._payload.shape[-3] // t._payload.shape[-3], -3) for t in (k, v)
        )
    if kinds[0].itemsize == 2:
        # half precision would lose digits of the result in products and sums
        q, k, v = (cast(t, np.dtype(np.float32)) for t in (q, k, v))
    lead = q._payload.shape[:-2]
    # in one step each, if nothing broadcasts
    together = (
        is_differentiable(kinds[0])
        and k._payload.shape == (*lead, v._payload.shape[-2], q._payload.shape[-1])
        and v._payload.shape[:-2] == lead
    )
    if scale is None:
        scale = 1 / math.sqrt(max(q._payload.shape[-1], 1))
    factor = number(scale, op, "scale")
    q = T.mul_scalar(q, other=factor)
    *batch, row, column, inner = range(len(lead) + 3)
    if together:
        by_query, by_key = (*batch, row, inner), (*batch, column, inner)
        by_both = (*batch, row, column)
        scores = T.contract(q, k, a=by_query, b=by_key, out=by_both)
    else:
        last = k._payload.ndim - 1
        scores = matmul(q, T.transpose(k, dim0=last - 1, dim1=last))
    hidden = None
    if flag(is_causal, "is_causal"):
        rows, columns = scores._payload.shape[-2:]
        later = _few_later if rows <= _FEW >= columns else _later
        hidden = placed(scores, later(rows, columns))
    elif attn_mask is not None:
        mask = operand(attn_mask, op, "attn_mask", 4)
        if mask._payload.dtype.kind == "b":
            hidden = T.logical_not(mask)
        else:
            if mask._payload.dtype != kinds[0] and not mixed:
                raise RuntimeError(
                    "Expected attn_mask dtype to be bool or float or to match query dtype, but got "
                    f"attn_mask.dtype: {dtype_name(mask._payload)} and  query.dtype: "
                    f"{dtype_name(q._payload)} instead."
                )
            scores = scores + mask
            hidden = T.isneginf(scores) if T.isneginf(mask)._payload.any() else None
    if hidden is None:
        weights = softmax(scores, -1)
    else:
        filled = T.masked_fill(scores, hidden, value=-math.inf)
        weights = softmax(hides(filled, scores), -1)
        # each row of a causal mask allows its first column
        blind = None if is_causal else T.all(hidden, dim=(hidden._payload.ndim - 1,), keepdim=True)
        if blind is not None and blind._payload.any():
            weights = masked_fill(weights, blind, 0.0)
    if dropout_p:
        weights = dropout(weights, dropout_p)
    if together:
        result = T.contract(weights, v, a=by_both, b=by_key, out=by_query)
    else:
        result = matmul(weights, v)
    return result if mixed else cast(result, kinds[0])


@export("wengert", "nn.functional")
@numpy_names
def cosine_similarity(x1: Any, x2: Any, dim: int = 1, eps: float = 1e-8) -> Any:
    """Return the cosine of the angle between vectors.

    Parameters
    ----------
    x1, x2 : Tensor. They broadcast against each other.
    dim : int. The dimension of the vectors.
    eps : float. The least norm: smaller norms count as `eps`, with a derivative of 0, as in
        PyTorch.

    Returns
    -------
    Tensor: Without that dimension; differentiable.

    Raises
    ------
    RuntimeError: If the shapes do not broadcast, or the dtype is not a floating or complex one.

    Examples
    --------
    >>> x = wg.tensor([3.0, 4.0])
    >>> wg.nn.functional.cosine_similarity(x, wg.tensor([4.0, 3.0]), dim=0)
    tensor(0.9600)
    """
    a, b = operand(x1, "cosine_similarity", "x1"), operand(x2, "cosine_similarity", "x2", 2)
    kind = joined(a._payload.dtype, b._payload.dtype)
    if not is_differentiable(kind):
        raise RuntimeError(
            "expected common dtype to be floating point, yet common dtype is "
            f"{dtype_name(np.empty(0, kind))}"
        )
    if is_half(kind):
        # squares of small numbers, and eps, underflow in it
        single = np.dtype(np.float32)
        return cast(cosine_similarity(cast(a, single), cast(b, single), dim, eps), kind)
    a, b = broadcast_tensors(cast(a, kind), cast(b, kind))
    parts = []
    for x in (a, b):
        norm = vector_norm(x, 2, dim, True)
        least = new_tensor(norm._payload)
        parts.append(x / (norm + (clamp(least, min=eps) - least)))
    return sum(parts[0] * parts[1], dim)


@export("wengert", "nn.functional")
@numpy_names
def pairwise_distance(
    x1: Any, x2: Any, p: float = 2.0, eps: float = 1e-6, keepdim: bool = False
) -> Any:
    """Return the norm of the difference of vectors, along the last dimension.

    Parameters
    ----------
    x1, x2 : Tensor. They broadcast against each other.
    p : float. The power of the norm.
    eps : float. Added to the differences.
    keepdim : bool. Whether to leave a dimension of size 1.

    Returns
    -------
    Tensor: The distances; differentiable.

    %(raises_broadcast)s

    Examples
    --------
    >>> wg.nn.functional.pairwise_distance(wg.tensor([[1.0, 2.0]]), wg.tensor([[4.0, 6.0]]))
    tensor([5.0000])
    """
    a = operand(x1, "pairwise_distance", "x1")
    b = operand(x2, "pairwise_distance", "x2", 2)
    return vector_norm(a - b + number(eps, "pairwise_distance", "eps"), p, -1, keepdim)


@export("wengert", "nn.functional")
def bilinear(input1: Any, input2: Any, weight: Any, bias: Any = None) -> Any:
    """Return ``input1 @ weight[k] @ input2`` for each k.

    Parameters
    ----------
    input1, input2 : Tensor. Of shapes (..., m) and (..., n).
    weight : Tensor. Of shape (k, m, n).
    bias : Tensor, optional. Of shape (k,).

    Returns
    -------
    Tensor: Of shape (..., k); differentiable with respect to all.

    %(raises_shapes)s

    Examples
    --------
    >>> wg.nn.functional.bilinear(wg.ones(1, 2), wg.ones(1, 3), wg.ones(4, 2, 3))
    tensor([[6., 6., 6., 6.]])
    """
    x, y = operand(input1, "bilinear", "input1"), operand(input2, "bilinear", "input2", 2)
    w = operand(weight, "bilinear", "weight", 3)
    given = {"input1": x, "input2": y, "weight": w}
    if bias is not None:
        given["bias"] = operand(bias, "bilinear", "bias", 4)
    if len({t._payload.dtype for t in given.values()}) > 1 and not mixes_dtypes():
        told = ", ".join(f"{key}: {dtype_name(t._payload).lower()}" for key, t in given.items())
        raise RuntimeError(
            f"All tensors must have the same dtype, got {told}: convert with .to(dtype)"
        )
    a, b, shape = x._payload.shape, y._payload.shape, w._payload.shape
    if len(a) != len(b):
        raise RuntimeError(f"bilinear(): input dimensions do not match: got {len(a)} and {len(b)}")
    for d, (m, n) in enumerate(zip(a[:-1], b[:-1], strict=True)):
        if m != n:
            raise RuntimeError(
                f"bilinear(): input batch dimensions do not match at dim {d}: got {m} and {n}"
            )
    for name, size, place in (("input1", a[-1], 1), ("input2", b[-1], 2)):
        if size != size_of(w._payload, place):
            raise RuntimeError(
                f"bilinear(): {name} size does not match weight size: got {size} but expected "
                f"{shape[place]}"
            )
    if bias is not None and bias._payload.shape[0] != shape[0]:
        raise RuntimeError(
            f"bilinear(): bias size does not match weight size: got {bias._payload.shape[0]} but "
            f"expected {shape[0]}"
        )
    rows = math.prod(a[:-1])
    k, m, n = shape
    flat = matmul(reshape(x, (rows, m)), reshape(transpose(w, 0, 1), (m, k * n)))
    made = matmul(reshape(flat, (rows, k, n)), reshape(y, (rows, n, 1)))
    made = reshape(made, (*a[:-1], k))
    return made if bias is None else made + bias
