"""Layer 5 · ops: losses of linear functions."""

# the arguments have PyTorch's names

from __future__ import annotations

from typing import Any

from wengert.base.export import export
from wengert.ops.affine import linear
from wengert.ops.classes import cross_entropy
from wengert.ops.coerce import operand


@export("nn.functional")
def linear_cross_entropy(
    input: Any,
    linear_weight: Any,
    target: Any,
    *,
    linear_bias: Any = None,
    weight: Any = None,
    reduction: str = "mean",
    ignore_index: int | None = None,
    label_smoothing: float = 0.0,
    options: Any = None,
) -> Any:
    """Return the `cross_entropy` of the logits that `linear` computes from the input.

    Parameters
    ----------
    input : Tensor. Of shape (in_features,) or (N, in_features).
    linear_weight : Tensor. Of shape (C, in_features), for C classes, or (C, d1, ..., in_features),
        for logits of shape (N, C, d1, ...).
    target : Tensor. Classes, of shape (N,) or (N, d1, ...), or probabilities, of the shape of the
        logits.
    linear_bias : Tensor, optional. Of the shape of `linear_weight` without its last dimension.
    weight : Tensor, optional. A weight for each class, of shape (C,).
    %(single_reduction)s
    ignore_index : int, optional. Targets of this class do not count; default: -100.
    label_smoothing : float. The share of the target that is spread over all classes.
    options : object, optional. PyTorch's options for working in pieces, which save memory there;
        without effect here.

    Returns
    -------
    Tensor: The loss; differentiable with respect to `input`, `linear_weight`, `linear_bias` and
        probabilities.

    Raises
    ------
    RuntimeError: If the shapes do not fit, or `ignore_index` is given with probabilities.

    Examples
    --------
    >>> x, w = wg.tensor([[1.0, 2.0]]), wg.eye(2)
    >>> wg.nn.functional.linear_cross_entropy(x, w, wg.tensor([1]))
    tensor(0.3133)
    """
    name = "linear_cross_entropy"
    x = operand(input, name)
    w = operand(linear_weight, name, "linear_weight", 2)
    y = operand(target, name, "target", 3)
    shape, own = x._payload.shape, w._payload.shape
    if len(shape) not in (1, 2):
        raise RuntimeError(f"expected input with dimensionality 1 or 2, got {len(shape)}")
    if len(own) < 2:
        raise RuntimeError(f"expected linear_weight with dimensionality at least 2, got {len(own)}")
    if shape[-1] != own[-1]:
        raise RuntimeError(
            "expected equal input and linear_weight last dimensions (in_features), got "
            f"{shape[-1]} and {own[-1]}, respectively"
        )
    if len(own) > 2 and len(shape) == 1:
        raise RuntimeError(
            f"K-dimensional loss defined by linear_weight shape {own} requires batched input, "
            f"(N, {shape[-1]}), got unbatched input with shape {shape}"
        )
    bias = None
    if linear_bias is not None:
        bias = operand(linear_bias, name, "linear_bias", 4)
        if bias._payload.shape != own[:-1]:
            raise RuntimeError(f"expected linear_bias shape {own[:-1]}, got {bias._payload.shape}")
        bias = bias.reshape(-1)
    sizes = (*shape[:-1], *own[:-1])
    if y._payload.shape == sizes and ignore_index is not None:
        raise RuntimeError("ignore_index cannot be specified when target contains probabilities")
    logits = linear(x, w.reshape(-1, own[-1]), bias).reshape(sizes)
    return cross_entropy(
        logits,
        y,
        weight=weight,
        ignore_index=-100 if ignore_index is None else ignore_index,
        reduction=reduction,
        label_smoothing=label_smoothing,
    )
