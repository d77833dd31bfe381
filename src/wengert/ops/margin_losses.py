"""Layer 5 · ops · losses: losses that require a margin between scores."""

# the arguments have PyTorch's names

from __future__ import annotations

from typing import Any

import numpy as np

from wengert.base.errors import long_name
from wengert.base.export import export
from wengert.base.shapes import broadcast
from wengert.ops.activations import logsigmoid, softplus
from wengert.ops.coerce import in_full, number, operand, wide
from wengert.ops.gather import check_bounds, gather
from wengert.ops.losses import reduced, reduction_of
from wengert.ops.options import placed, sent_to
from wengert.ops.reduce import mean, sum
from wengert.ops.select import clamp, where
from wengert.ops.shape import reshape
from wengert.prims import scan as scan
from wengert.tape.base import new_tensor
from wengert.tape.record import T


@export("nn.functional")
def margin_ranking_loss(
    input1: Any,
    input2: Any,
    target: Any,
    margin: float = 0,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
) -> Any:
    """Return ``max(0, -target * (input1 - input2) + margin)``: which of two should rank higher.

    Parameters
    ----------
    input1, input2 : Tensor. Scores, of one shape.
    target : Tensor. 1 where `input1` is to be the larger, -1 where `input2` is.
    margin : float. The least difference.
    %(reduction)s

    Returns
    -------
    Tensor: The loss; differentiable with respect to both scores, to any order.

    %(raises_reduction)s
    RuntimeError: If the numbers of dimensions differ, or the shapes do not broadcast.

    Examples
    --------
    >>> F.margin_ranking_loss(wg.tensor([1.0, 2.0]), wg.tensor([3.0, 1.0]), wg.tensor([1.0, 1.0]))
    tensor(1.)
    """
    how = reduction_of(reduction, size_average, reduce)
    a = operand(input1, "margin_ranking_loss", "input1")
    b = operand(input2, "margin_ranking_loss", "input2", 2)
    a, b, y = in_full(a, b, operand(target, "margin_ranking_loss", "target", 3))
    if not a._payload.ndim == b._payload.ndim == y._payload.ndim:
        raise RuntimeError(
            "margin_ranking_loss : All input tensors should have same dimension but got sizes: "
            f"input1: {a.shape}, input2: {b.shape}, target: {y.shape} "
        )
    return reduced(
        clamp(-y * (a - b) + float(number(margin, "margin_ranking_loss", "margin")), min=0), how
    )


@export("nn.functional")
def hinge_embedding_loss(
    input: Any,
    target: Any,
    margin: float = 1.0,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
) -> Any:
    """Return the input where the target is 1, and ``max(0, margin - input)`` where it is -1.

    Parameters
    ----------
    input : Tensor. Distances.
    target : Tensor. 1 for similar pairs, -1 for dissimilar ones.
    margin : float. The least distance of dissimilar pairs.
    %(reduction)s

    Returns
    -------
    Tensor: The loss; differentiable with respect to the distances, to any order.

    %(raises_reduction)s

    Examples
    --------
    >>> F.hinge_embedding_loss(wg.tensor([0.5, 0.5]), wg.tensor([1, -1]), reduction="none")
    tensor([0.5000, 0.5000])
    """
    how = reduction_of(reduction, size_average, reduce)
    x = operand(input, "hinge_embedding_loss")
    x, y = in_full(x, operand(target, "hinge_embedding_loss", "target", 2))
    apart = where(y != 1, clamp(number(margin, "hinge_embedding_loss", "margin") - x, min=0), 0.0)
    return reduced(apart + where(y != -1, x, 0.0), how)


@export("nn.functional")
def soft_margin_loss(
    input: Any,
    target: Any,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
) -> Any:
    """Return ``ln(1 + exp(-target * input))``, without overflow.

    Parameters
    ----------
    input : Tensor. Scores.
    target : Tensor. 1 or -1, of the same shape.
    %(reduction, returns_score_loss, raises_reduction)s
    RuntimeError: If there are more targets than scores.

    Examples
    --------
    >>> F.soft_margin_loss(wg.tensor([0.0]), wg.tensor([1.0]))
    tensor(0.6931)
    """
    how = reduction_of(reduction, size_average, reduce)
    x = operand(input, "soft_margin_loss")
    x, y = in_full(x, operand(target, "soft_margin_loss", "target", 2))
    shape = broadcast(x._payload.shape, y._payload.shape)
    if shape != x._payload.shape:
        raise RuntimeError(
            f"output with shape {list(x._payload.shape)} doesn't match the broadcast shape "
            f"{list(shape)}: give each target a score"
        )
    return reduced(softplus(-y * x), how)


@export("nn.functional")
def multilabel_soft_margin_loss(
    input: Any,
    target: Any,
    weight: Any = None,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
) -> Any:
    """Return the binary cross entropy of scores, averaged over several labels.

    Parameters
    ----------
    input, target : Tensor. Scores, and 0 or 1, of shape (..., labels).
    weight : Tensor, optional. A factor for each label.
    %(reduction, returns_score_loss, raises_reduction)s

    Examples
    --------
    >>> F.multilabel_soft_margin_loss(wg.tensor([[0.0, 0.0]]), wg.tensor([[1.0, 0.0]]))
    tensor(0.6931)
    """
    how = reduction_of(reduction, size_average, reduce)
    x = operand(input, "multilabel_soft_margin_loss")
    y = operand(target, "multilabel_soft_margin_loss", "target", 2)
    if not x._payload.ndim:
        raise IndexError("Dimension specified as -1 but tensor has no dimensions")
    losses = -(y * logsigmoid(x) + (1 - y) * logsigmoid(-x))
    if weight is not None:
        losses = losses * weight
    # the classes are those of the scores, even if there are more rows of targets
    axis, count = x._payload.ndim - 1, x._payload.shape[-1]
    return reduced(sum(losses, axis) / count if count else mean(losses, axis), how)


def _classes(input: Any, target: Any, name: str, weight: Any = None) -> tuple[Any, Any]:
    """Return scores as rows, and the classes of each row; check for one weight per class."""
    x, y = wide(input, name), operand(target, name, "target", 2)
    shape, places = x._payload.shape, y._payload.shape
    if len(shape) > 2 or 0 in shape[-1:]:
        raise RuntimeError(
            "Expected non-empty vector or matrix with optional 0-dim batch size, but got: "
            f"{list(shape)}"
        )
    several = name == "multilabel_margin_loss"
    fitting = shape if several else shape[:-1]
    if places != fitting and not (len(shape) < 2 and y._payload.size == 1):
        raise RuntimeError(
            f"inconsistent target size: {list(places)} for input of size: {list(shape)}"
            if several
            else "multi_margin_loss: target tensor should be 1-D with size equal to the number of "
            f"input samples (batch size). Expected target size {list(fitting)}, but got "
            f"{list(places)}."
        )
    if weight is not None and weight._payload.shape != shape[-1:]:
        raise RuntimeError(
            f"inconsistent weight size, expected {shape[-1] if shape else 1} but got "
            f"{list(weight._payload.shape)}"
        )
    if y._payload.dtype != np.int64:
        raise RuntimeError(
            f"expected scalar type Long but found {long_name(y._payload.dtype)}: the target of "
            f"{name}() consists of classes, int64"
        )
    if len(shape) == 2:
        return x, y if several else T.unsqueeze(y, dim=1)
    return reshape(x, (1, -1)), reshape(y, (1, -1))


@export("nn.functional")
def multi_margin_loss(
    input: Any,
    target: Any,
    p: int = 1,
    margin: float = 1.0,
    weight: Any = None,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
) -> Any:
    """Return how far the other classes' scores come within `margin` of the right one.

    That is the sum of ``max(0, margin - input[target] + input[j]) ** p`` over the other classes j,
    divided by the number of classes.

    Parameters
    ----------
    input : Tensor. Scores, of shape (n, classes) or (classes,).
    target : Tensor. The right classes, int64, of shape (n,) or ().
    p : {1, 2}. The exponent of the terms.
    margin : float. The margin by which the right score should be higher.
    weight : Tensor, optional. A factor for each class, of the right ones.
    %(reduction, returns_score_loss)s

    Raises
    ------
    ValueError: For another reduction, or of `p`.
    RuntimeError: If the shapes or the dtype of the target do not fit.

    Examples
    --------
    >>> F.multi_margin_loss(wg.tensor([[0.0, 0.5, 2.0]]), wg.tensor([1]))
    tensor(1.)
    """
    how = reduction_of(reduction, size_average, reduce)
    if p not in (1, 2):
        raise ValueError(f"only p == 1 and p == 2 supported, but p is {p}")
    if weight is not None and weight._payload.ndim != 1:
        raise ValueError(f"weight must be one-dimensional, but is {weight._payload.ndim}D")
    x, y = _classes(input, target, "multi_margin_loss", weight)
    rows, count = x._payload.shape
    check_bounds(y._payload, count, 1)
    lacks = T.relu(margin - T.gather(x, y, dim=1) + x)
    if p == 2:
        lacks = lacks * lacks
    if weight is not None:
        lacks = lacks * weight[y]
    right = new_tensor(sent_to(y, np.arange(count)) == y._payload)
    lacks = T.masked_fill(lacks, right, value=0.0)
    if how == "mean" and rows and lacks._payload.dtype.kind == "f":
        return T.mean(lacks)
    losses = sum(lacks, 1) / count
    return reduced(losses if target.ndim else reshape(losses, ()), how)


@export("nn.functional")
def multilabel_margin_loss(
    input: Any,
    target: Any,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
) -> Any:
    """Return how far the other classes' scores come within 1 of the right ones.

    Parameters
    ----------
    input : Tensor. Scores, of shape (n, classes) or (classes,).
    target : Tensor. The right classes, int64, of the same shape: those before the first -1.
    %(reduction, returns_score_loss, raises_reduction)s
    RuntimeError: If the shapes or the dtype of the target do not fit.

    Examples
    --------
    >>> F.multilabel_margin_loss(wg.tensor([0.1, 0.2, 0.4, 0.8]), wg.tensor([3, 0, -1, 1]))
    tensor(0.8500)
    """
    how = reduction_of(reduction, size_average, reduce)
    x, y = _classes(input, target, "multilabel_margin_loss")
    classes = x._payload.shape[1]
    # the targets are the numbers before the first negative one
    ended = T.cumsum(T.to_copy(T.lt(y, 0), dtype=np.dtype(np.int64)), dim=1, reverse=False)
    given = T.eq(ended, 0)
    chosen = T.where(given, y, 0)
    none = placed(x, np.zeros((x._payload.shape[0], classes + 1), bool))
    right = T.scatter_value(none, T.where(given, y, classes), dim=1, value=True)
    wrong = T.logical_not(T.slice(right, dim=1, start=0, end=classes, step=1))
    counts = T.logical_and(T.unsqueeze(given, dim=2), T.unsqueeze(wrong, dim=1))
    near = 1 - reshape(gather(x, 1, chosen), (-1, classes, 1)) + reshape(x, (-1, 1, classes))
    losses = sum(where(counts, T.relu(near), 0.0), (1, 2)) / classes
    return reduced(losses if input.ndim > 1 else reshape(losses, ()), how)
