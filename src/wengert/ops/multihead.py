"""Layer 5 · ops · sequences: attention of several heads, with projections."""

# the functions and arguments have PyTorch's names

from __future__ import annotations

import math
from typing import Any

import numpy as np

from wengert.base.export import export
from wengert.ops.affine import baddbmm, linear
from wengert.ops.attention import scaled_dot_product_attention
from wengert.ops.coerce import operand
from wengert.ops.dropout import dropout
from wengert.ops.expand import expand
from wengert.ops.matmul import bmm
from wengert.ops.neural import softmax
from wengert.ops.options import placed
from wengert.ops.padding import constant_pad_nd
from wengert.ops.permute import permute, transpose
from wengert.ops.reduce import mean
from wengert.ops.select import masked_fill
from wengert.ops.shape import reshape, squeeze, unsqueeze
from wengert.ops.split import chunk, split
from wengert.tape.record import T
from wengert.tape.sites import warn


def canonical_mask(
    mask: Any, name: str, target: Any, other: Any = None, other_name: str = ""
) -> Any:
    """Return a mask to add to scores: for bools, minus infinity where it is True.

    Parameters
    ----------
    mask, name: The mask, or None, and what to call it.
    target: The tensor whose dtype a mask of bools is converted to.
    other, other_name: A mask that must be of the same kind, or None.
    """
    if mask is None:
        return None
    kind = operand(mask, "multi_head_attention_forward", name)._payload.dtype
    if kind.kind not in "fVb":
        raise AssertionError(
            f"only bool and floating types of {name} are supported, but it is {mask.dtype}"
        )
    if other is not None and other._payload.dtype != kind:
        warn(
            f"Support for mismatched {name} and {other_name} is deprecated. Use same type for both "
            "instead.",
        )
    if kind.kind != "b":
        return mask
    shape = mask._payload.shape
    return masked_fill(placed(target, np.zeros(shape, target._payload.dtype)), mask, -math.inf)


def _check_dims(
    query: Any, key: Any, value: Any, key_padding_mask: Any, attn_mask: Any, heads: int
) -> bool:
    """Refuse inconsistent numbers of dimensions; return whether there is a batch."""
    dims = query.dim()
    if dims not in (2, 3):
        raise AssertionError(
            f"query should be unbatched 2D or batched 3D tensor but received {dims}-D query tensor"
        )
    which = f"For {'batched (3-D)' if dims == 3 else 'unbatched (2-D)'} `query`, expected "
    if key.dim() != dims or value.dim() != dims:
        raise AssertionError(
            f"{which}`key` and `value` to be {dims}-D but found {key.dim()}-D and {value.dim()}-D "
            "tensors respectively"
        )
    if key_padding_mask is not None and key_padding_mask.dim() != dims - 1:
        raise AssertionError(
            f"{which}`key_padding_mask` to be `None` or {dims - 1}-D but found "
            f"{key_padding_mask.dim()}-D tensor instead"
        )
    if attn_mask is not None:
        if attn_mask.dim() not in (2, 3):
            raise AssertionError(
                f"{which}`attn_mask` to be `None`, 2-D or 3-D but found {attn_mask.dim()}-D tensor "
                "instead"
            )
        expected = (heads, query.shape[0], key.shape[0])
        if dims == 2 and attn_mask.dim() == 3 and tuple(attn_mask.shape) != expected:
            raise AssertionError(
                f"Expected `attn_mask` shape to be {expected} but got {attn_mask.shape}"
            )
    return dims == 3


def _with_batch(*tensors: Any) -> list[Any]:
    """Add a batch dimension; what was one tensor remains one."""
    made = {id(tensor): unsqueeze(tensor, 1) for tensor in tensors}
    return [made[id(tensor)] for tensor in tensors]


def _projected(values: tuple[Any, ...], weight: Any, bias: Any) -> tuple[Any, ...]:
    """Project query, key and value, by one weight or by three."""
    query, key, value = values
    if isinstance(weight, tuple):
        if key.shape[:2] != value.shape[:2]:
            raise AssertionError(
                f"key's sequence and batch dims {key.shape[:2]} do not match value's "
                f"{value.shape[:2]}"
            )
        return _projected_apart(values, weight, bias)
    if key.shape != value.shape:
        raise AssertionError(f"key shape {key.shape} does not match value shape {value.shape}")
    if weight is None:
        raise AssertionError("use_separate_proj_weight is False but in_proj_weight is None")
    return _projected_together(query, key, value, weight, bias)


def _projected_together(
    query: Any, key: Any, value: Any, weight: Any, bias: Any
) -> tuple[Any, ...]:
    """Project query, key and value by parts of one weight, in as few products as possible."""
    if key is value and query is key:
        return chunk(linear(query, weight, bias), 3, -1)
    size = query.shape[-1]
    if key is value:
        own, others = split(weight, [size, 2 * size])
        own_bias, other_bias = (None, None) if bias is None else split(bias, [size, 2 * size])
        return linear(query, own, own_bias), *chunk(linear(key, others, other_bias), 2, -1)
    biases = (None,) * 3 if bias is None else chunk(bias, 3)
    weights = chunk(weight, 3)
    return tuple(map(linear, (query, key, value), weights, biases))


def _projected_apart(values: tuple[Any, ...], weights: tuple[Any, ...], bias: Any) -> Any:
    """Project query, key and value, each by its own weight."""
    names = ("query", "key", "value")
    size = values[0].shape[-1]
    for name, weight in zip("qkv", weights, strict=True):
        if weight is None:
            raise AssertionError(f"use_separate_proj_weight is True but {name}_proj_weight is None")
    for name, value, weight in zip(names, values, weights, strict=True):
        if tuple(weight.shape) != (size, value.shape[-1]):
            raise AssertionError(
                f"expecting {name} weights shape of {(size, value.shape[-1])}, but got "
                f"{weight.shape}"
            )
    biases = (None,) * 3 if bias is None else chunk(bias, 3)
    for name, part in zip(names, biases, strict=True):
        if part is not None and tuple(part.shape) != (size,):
            raise AssertionError(f"expecting {name} bias shape of {(size,)}, but got {part.shape}")
    return tuple(map(linear, values, weights, biases))


def _by_heads(
    values: tuple[Any, ...],
    heads: int,
    biases: tuple[Any, Any],
    static: tuple[Any, Any],
    add_zero_attn: bool,
) -> tuple[Any, Any, Any, int]:
    """Return query, key and value, of shapes (batch * heads, steps, size).

    The last result is the number of rows that were appended to key and value.
    """
    q, k, v = values
    steps, batch, size = q.shape
    rows, head = batch * heads, size // heads
    more = 0
    if _check_bias(*biases, *static):
        k, v = (
            T.cat(t, expand(row, (1, batch, size)), dim=0)
            for t, row in zip((k, v), biases, strict=True)
        )
        more = 1
    q = transpose(reshape(q, (steps, rows, head)), 0, 1)
    k = _by_head(k, static[0], "static_k", rows, head)
    v = _by_head(v, static[1], "static_v", rows, head)
    if add_zero_attn:
        nothing = placed(q, np.zeros((rows, 1, head), q._payload.dtype))
        k, v = T.cat(k, nothing, dim=1), T.cat(v, nothing, dim=1)
        more += 1
    return q, k, v, more


def _by_head(value: Any, static: Any, name: str, rows: int, size: int) -> Any:
    """Return a key or value of shape (batch * heads, steps, size), or its given replacement."""
    if static is None:
        return transpose(reshape(value, (value.shape[0], rows, size)), 0, 1)
    for dim, expected in ((0, rows), (2, size)):
        if static.shape[dim] != expected:
            raise AssertionError(
                f"expecting {name}.size({dim}) of {expected}, but got {static.shape[dim]}"
            )
    return static


def _joined(hidden: Any, padding: Any, more: int, sizes: tuple[int, int, int]) -> Any:
    """Return the sum of the masks of scores and keys, which see all of the appended rows."""
    batch, heads, sources = sizes
    if more:
        hidden = None if hidden is None else constant_pad_nd(hidden, [0, more])
        padding = None if padding is None else constant_pad_nd(padding, [0, more])
    if padding is None:
        return hidden
    for dim, expected in ((0, batch), (1, sources)):
        if padding.shape[dim] != expected:
            raise AssertionError(
                f"Expected key_padded_mask.shape[{dim}] to be {expected}, but got "
                f"{padding.shape[dim]}"
            )
    padding = expand(reshape(padding, (batch, 1, 1, sources)), (-1, heads, -1, -1))
    padding = reshape(padding, (batch * heads, 1, sources))
    return padding if hidden is None else T.add(hidden, padding)


def _check_mask(mask: Any, batch: int, heads: int, steps: int, sources: int) -> Any:
    """Return the mask with a dimension for batch and heads; refuse another shape."""
    expected = (steps, sources) if mask.dim() == 2 else (batch * heads, steps, sources)
    if tuple(mask.shape) != expected:
        raise RuntimeError(
            f"The shape of the {mask.dim()}D attn_mask is {mask.shape}, but should be {expected}."
        )
    return unsqueeze(mask, 0) if mask.dim() == 2 else mask


def _check_bias(bias_k: Any, bias_v: Any, static_k: Any, static_v: Any) -> bool:
    """Return whether a row is appended to key and value; refuse one without the other."""
    if bias_k is None and bias_v is None:
        return False
    if bias_k is None or bias_v is None:
        given, missing = ("bias_v", "bias_k") if bias_k is None else ("bias_k", "bias_v")
        raise AssertionError(f"{given} is set but {missing} is None")
    for what, static in (("key", static_k), ("value", static_v)):
        if static is not None:
            raise AssertionError(f"bias cannot be added to static {what}.")
    return True


@export("nn.functional")
def multi_head_attention_forward(
    query: Any,
    key: Any,
    value: Any,
    embed_dim_to_check: int,
    num_heads: int,
    in_proj_weight: Any,
    in_proj_bias: Any,
    bias_k: Any,
    bias_v: Any,
    add_zero_attn: bool,
    dropout_p: float,
    out_proj_weight: Any,
    out_proj_bias: Any,
    training: bool = True,
    key_padding_mask: Any = None,
    need_weights: bool = True,
    attn_mask: Any = None,
    use_separate_proj_weight: bool = False,
    q_proj_weight: Any = None,
    k_proj_weight: Any = None,
    v_proj_weight: Any = None,
    static_k: Any = None,
    static_v: Any = None,
    average_attn_weights: bool = True,
    is_causal: bool = False,
) -> tuple[Any, Any | None]:
    """Apply multi-head attention: `scaled_dot_product_attention` between projections.

    Parameters
    ----------
    query : Tensor. Of shape (l, batch, e), or (l, e) without a batch.
    key, value : Tensor. Of shapes (s, batch, e), or of other features with
        `use_separate_proj_weight`.
    embed_dim_to_check : int. The required value of e.
    num_heads : int. The number of heads, each of e / num_heads features.
    in_proj_weight, in_proj_bias : Tensor or None. Of shapes (3 e, e) and (3 e,): the projections of
        query, key and value.
    bias_k, bias_v : Tensor or None. Of shape (1, 1, e): rows appended to key and value.
    add_zero_attn : bool. Whether to append rows of zeros to key and value.
    dropout_p : float. The probability of each weight to become 0 during training.
    out_proj_weight : Tensor
    out_proj_bias : Tensor or None. Of shapes (e, e) and (e,): the projection of the result.
    training : bool. Whether to drop weights.
    key_padding_mask : Tensor, optional. Of shape (batch, s): of bools, True where a key is not to
        be seen; or floating, added to the scores.
    need_weights : bool. Whether to return the weights, which takes longer.
    attn_mask : Tensor, optional. Of shape (l, s) or (batch * num_heads, l, s); of bools or
        floating, as `key_padding_mask`.
    use_separate_proj_weight : bool. Whether the next three arguments take the place of
        `in_proj_weight`.
    q_proj_weight, k_proj_weight, v_proj_weight : Tensor, optional. The projections of query, key
        and value.
    static_k, static_v : Tensor, optional. Of shape (batch * num_heads, s, e / num_heads): in place
        of projected keys and values.
    average_attn_weights : bool. Whether to return the mean of the heads' weights, rather than those
        of each.
    is_causal : bool. A promise that `attn_mask` lets a query see the keys up to its own place, and
        no others.

    Returns
    -------
    tuple: The result, of the shape of `query`, and weights of shape (batch, l, s), or (batch,
        num_heads, l, s), or None. Differentiable, to any order. A query that sees no key gets NaN
        where the weights are returned, and otherwise the projection of zeros.

    Raises
    ------
    AssertionError, RuntimeError: If the arguments do not fit together.

    Examples
    --------
    >>> x, eye = wg.ones(2, 1, 4), wg.eye(4)
    >>> result, weights = wg.nn.functional.multi_head_attention_forward(
    ...     x, x, x, 4, 2, wg.cat([eye] * 3), None, None, None, False, 0.0, eye, None
    ... )
    >>> weights
    tensor([[[0.5000, 0.5000],
             [0.5000, 0.5000]]])
    """
    batched = _check_dims(query, key, value, key_padding_mask, attn_mask, num_heads)
    if not batched:
        query, key, value = _with_batch(query, key, value)
        key_padding_mask = None if key_padding_mask is None else unsqueeze(key_padding_mask, 0)
    steps, batch, size = query.shape
    padding = canonical_mask(key_padding_mask, "key_padding_mask", query, attn_mask, "attn_mask")
    if is_causal and attn_mask is None:
        raise RuntimeError(
            "Need attn_mask if specifying the is_causal hint. You may use the Transformer module "
            "method `generate_square_subsequent_mask` to create this mask."
        )
    hidden = None
    if not is_causal or padding is not None or need_weights:
        hidden = canonical_mask(attn_mask, "attn_mask", query)
        is_causal = is_causal and padding is None
    if size != embed_dim_to_check:
        raise AssertionError(
            f"was expecting embedding dimension of {embed_dim_to_check}, but got {size}"
        )
    if size % num_heads:
        raise AssertionError(f"embed_dim {size} not divisible by num_heads {num_heads}")
    weight = (
        (q_proj_weight, k_proj_weight, v_proj_weight)
        if use_separate_proj_weight
        else in_proj_weight
    )
    q, k, v = _projected((query, key, value), weight, in_proj_bias)
    if hidden is not None:
        hidden = _check_mask(hidden, batch, num_heads, steps, key.shape[0])
    q, k, v, more = _by_heads(
        (q, k, v), num_heads, (bias_k, bias_v), (static_k, static_v), add_zero_attn
    )
    hidden = _joined(hidden, padding, more, (batch, num_heads, k.shape[1]))
    rate = dropout_p if training else 0.0
    weights = None
    if need_weights:
        result, weights = _weighed(q, k, v, hidden, rate)
        result = transpose(result, 0, 1)
        weights = reshape(weights, (batch, num_heads, steps, k.shape[1]))
        weights = mean(weights, 1) if average_attn_weights else weights
    else:
        result = _unweighed(q, k, v, hidden, rate, is_causal, (batch, num_heads))
    result = linear(reshape(result, (steps * batch, size)), out_proj_weight, out_proj_bias)
    result = reshape(result, (steps, batch, result.shape[1]))
    if not batched:
        result = squeeze(result, 1)
        weights = None if weights is None else squeeze(weights, 0)
    return result, weights


def _weighed(q: Any, k: Any, v: Any, hidden: Any, rate: float) -> tuple[Any, Any]:
    """Return the weighted means of values, and the weights."""
    q = T.mul_scalar(q, other=math.sqrt(1 / q.shape[-1]))
    turned = transpose(k, -2, -1)
    scores = bmm(q, turned) if hidden is None else baddbmm(hidden, q, turned)
    weights = softmax(scores, -1)
    if rate > 0:
        weights = dropout(weights, rate)
    return bmm(weights, v), weights


def _unweighed(
    q: Any, k: Any, v: Any, hidden: Any, rate: float, is_causal: bool, lead: tuple[int, int]
) -> Any:
    """Return the weighted means of values, of shape (steps, batch, heads, size)."""
    q, k, v = (reshape(t, (*lead, *t.shape[1:])) for t in (q, k, v))
    if hidden is not None:
        alone = hidden.shape[0] == 1
        hidden = reshape(hidden, (*((1, 1) if alone else lead), *hidden.shape[1:]))
    result = scaled_dot_product_attention(q, k, v, hidden, rate, is_causal)
    return permute(result, (2, 0, 1, 3))
