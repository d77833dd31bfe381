"""Layer 5 · ops · losses: loss functions of classification: `nll_loss` and `cross_entropy`."""

# the arguments have PyTorch's names

from __future__ import annotations

import math
from typing import Any

import numpy as np

from wengert.base.dtypes import is_differentiable
from wengert.base.error_states import errstate
from wengert.base.errors import long_name, not_implemented
from wengert.base.export import export
from wengert.ops.coerce import in_full, integer, number, operand
from wengert.ops.constants import ONE
from wengert.ops.losses import reduced, reduction_of
from wengert.ops.neural import log_softmax
from wengert.tape.base import new_tensor
from wengert.tape.record import T

Shape = tuple[int, ...]

_LONG, _BYTE = np.dtype(np.int64), np.dtype(np.uint8)


def _check_classes(x: Any, target: Any, weight: Any) -> None:
    """Refuse an input, class targets and weights that do not fit together."""
    shape, labels = x.shape, target.shape
    if not shape:
        raise ValueError("Expected 1 or more dimensions (got 0)")
    if len(shape) == 1:
        if labels not in ((), (1,)):
            raise ValueError(
                "For 1D input, 1D target must have size 1, but got target size: "
                f"{', '.join(map(str, labels))}"
            )
    elif not labels or shape[0] != labels[0]:
        raise ValueError(
            f"Expected input batch_size ({shape[0]}) to match target batch_size "
            f"({labels[0] if labels else 'none: it has no dimension'})."
        )
    elif len(shape) == 2 and len(labels) != 1:
        raise RuntimeError(
            "0D or 1D target tensor expected, multi-target not supported: the target has the "
            f"shape {list(labels)}, the input {list(shape)}"
        )
    elif labels[1:] != shape[2:]:
        raise RuntimeError(f"Expected target size {[shape[0], *shape[2:]]}, got {list(labels)}")
    if not is_differentiable(x.dtype):
        raise not_implemented("nll_loss_out_frame", x.dtype, "the input must be floating")
    if target.dtype != _LONG and target.dtype != _BYTE:
        raise RuntimeError(
            f"expected target dtype to be Long or Byte, but got {long_name(target.dtype)}"
        )
    if weight is not None:
        _check_weight(x, weight)


def _check_weight(x: Any, weight: Any) -> None:
    classes = x.shape[0 if x.ndim == 1 else 1]
    if weight.shape != (classes,):
        raise RuntimeError(
            f"weight tensor should be defined either for all {classes} classes or no classes but "
            f"got weight tensor of shape: {list(weight.shape)}"
        )
    if weight.dtype != x.dtype:
        raise RuntimeError(
            f"expected scalar type {long_name(x.dtype)} but found {long_name(weight.dtype)}"
        )


def _nll(input: Any, target: Any, weight: Any, reduction: str, ignore_index: int) -> Any:
    x = input._payload
    _check_classes(x, target._payload, None if weight is None else weight._payload)
    if weight is None:
        # a 0-d weight applies to every class
        weight = ONE[x.dtype] if x.dtype in ONE else new_tensor(x.dtype.type(1))
    ignore_index = integer(ignore_index, "nll_loss", "ignore_index")
    record = T.nll_loss if x.ndim <= 2 else T.nll_loss2d
    return record(input, target, weight, reduction=reduction, ignore_index=ignore_index)


@export("nn.functional")
def nll_loss(
    input: Any,
    target: Any,
    weight: Any = None,
    size_average: bool | None = None,
    ignore_index: int = -100,
    reduce: bool | None = None,
    reduction: str = "mean",
) -> Any:
    """Return minus the logarithms of the probabilities of the target classes.

    Parameters
    ----------
    input : Tensor. Logarithms of probabilities, of shape (N, C), (N, C, d1, ...) or (C,) for C
        classes.
    target : Tensor. The classes, of shape (N,), (N, d1, ...) or (), of int64 or uint8.
    weight : Tensor, optional. A weight for each class, of shape (C,) and the input's dtype.
    %(former_reduction)s
    ignore_index : int. A target that does not count.
    reduction : {"mean", "sum", "none"}. How to reduce the losses; the mean is by the sum
        of the targets' weights.

    Returns
    -------
    Tensor: The loss; differentiable with respect to the input.

    %(raises_classes)s

    Examples
    --------
    >>> logs = wg.tensor([[0.5, 0.5], [0.25, 0.75]]).log()
    >>> wg.nn.functional.nll_loss(logs, wg.tensor([0, 0]))
    tensor(1.0397)
    """
    reduction = reduction_of(reduction, size_average, reduce)
    if weight is not None:
        weight = operand(weight, "nll_loss", "weight", 3)
    input, target = operand(input, "nll_loss"), operand(target, "nll_loss", "target", 2)
    return _nll(input, target, weight, reduction, ignore_index)


@export("nn.functional")
def cross_entropy(
    input: Any,
    target: Any,
    weight: Any = None,
    size_average: bool | None = None,
    ignore_index: int = -100,
    reduce: bool | None = None,
    reduction: str = "mean",
    label_smoothing: float = 0.0,
) -> Any:
    """Return the cross entropies of ``softmax(input)`` and target classes or target probabilities.

    Parameters
    ----------
    input : Tensor. Any real numbers, of shape (N, C), (N, C, d1, ...) or (C,) for C classes.
    target : Tensor. Either classes, of shape (N,), (N, d1, ...) or (), of int64 or uint8; or
        probabilities, of the input's shape and of floating dtype.
    weight : Tensor, optional. A weight for each class, of shape (C,) and the input's dtype.
    %(former_reduction)s
    ignore_index : int. A target class that does not count.
    reduction : {"mean", "sum", "none"}. How to reduce the losses; the mean is by the sum
        of the target classes' weights, or over all targets if they are probabilities.
    label_smoothing : float. How much of each target, between 0 and 1, to spread evenly over all
        classes.

    Returns
    -------
    Tensor: The loss; differentiable with respect to the input, and the target probabilities.

    %(raises_classes)s

    Examples
    --------
    >>> x = wg.tensor([[1.0, 2.0, 3.0]], requires_grad=True)
    >>> wg.nn.functional.cross_entropy(x, wg.tensor([2])).backward()
    >>> x.grad
    tensor([[ 0.0900,  0.2447, -0.3348]])
    """
    reduction = reduction_of(reduction, size_average, reduce)
    if weight is not None:
        (weight,) = in_full(operand(weight, "cross_entropy", "weight", 3))
    input = operand(input, "cross_entropy")
    input, target = in_full(input, operand(target, "cross_entropy", "target", 2))
    x = input._payload
    label_smoothing = number(label_smoothing, "cross_entropy_loss", "label_smoothing")
    if not 0 <= label_smoothing <= 1:
        raise RuntimeError(f"label_smoothing must be between 0.0 and 1.0. Got: {label_smoothing}")
    if not x.ndim:
        raise ValueError("Expected 1 or more dimensions (got 0)")
    axis = 0 if x.ndim == 1 else 1
    if x.shape == target._payload.shape:
        return _of_probabilities(
            input, target, weight, reduction, ignore_index, label_smoothing, axis
        )
    logs = log_softmax(input, axis)
    loss = _nll(logs, target, weight, reduction, ignore_index)
    if label_smoothing == 0:
        return loss
    smooth = _spread_evenly(logs, target, weight, reduction, ignore_index, axis)
    share = label_smoothing / x.shape[axis]
    return T.add(T.mul(loss, 1 - label_smoothing), T.mul(smooth, share))


def _by_class(weight: Any, shape: Shape, axis: int) -> Any:
    """Return weights of classes in a shape that broadcasts with an input of `shape`."""
    return T.view(weight, shape=tuple([n if i == axis else 1 for i, n in enumerate(shape)]))


def _of_probabilities(
    input: Any,
    target: Any,
    weight: Any,
    reduction: str,
    ignore_index: int,
    smoothing: float,
    axis: int,
) -> Any:
    x = input._payload
    if not is_differentiable(target._payload.dtype):
        raise RuntimeError(
            "Expected floating point type for target with class probabilities, got "
            f"{long_name(target._payload.dtype)}"
        )
    if ignore_index >= 0:
        raise RuntimeError("ignore_index is not supported for floating point target")
    if weight is not None:
        _check_weight(x, weight._payload)
    if smoothing:
        target = T.add(T.mul(target, 1 - smoothing), smoothing / x.shape[axis])
    terms = T.mul(log_softmax(input, axis), target)
    if weight is not None:
        terms = T.mul(terms, _by_class(weight, x.shape, axis))
    if reduction == "none":
        return T.neg(T.sum_dim(terms, dim=(axis,), keepdim=False))
    loss = T.neg(T.sum(terms))
    if reduction == "sum":
        return loss
    return T.div(loss, x.size / x.shape[axis]) if x.size else T.mul(loss, math.nan)


def _spread_evenly(
    logs: Any, target: Any, weight: Any, reduction: str, ignore_index: int, axis: int
) -> Any:
    """Return the loss of targets that are uniform over all classes, times their number."""
    shape = logs._payload.shape
    terms = logs if weight is None else T.mul(logs, _by_class(weight, shape, axis))
    terms = T.neg(T.sum_dim(terms, dim=(axis,), keepdim=False))
    if terms._payload.shape != target._payload.shape:
        target = T.view(target, shape=terms._payload.shape)
    ignored = T.eq(target, ignore_index)
    losses = T.where(ignored, 0, terms)
    if reduction != "mean":
        return reduced(losses, reduction)
    if weight is None:
        total = T.sum(T.to_copy(T.logical_not(ignored), dtype=logs._payload.dtype))
    else:
        # the sum of the targets' weights is the loss of inputs equal to minus the weights
        each = T.expand(T.neg(_by_class(weight, shape, axis)), shape=shape)
        total = _nll(each, target, None, "sum", ignore_index)
    return _quotient(T.sum(losses), total)


# invalid: the mean over no target is NaN
@errstate(invalid="ignore")
def _quotient(total: Any, count: Any) -> Any:
    return T.div(total, count)
