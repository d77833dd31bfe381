"""Layer 5 · ops · losses: loss functions of pairs: distances, and cross entropies of probabilities.

NOTE [reduction]
Every loss takes ``reduction``: "none" for the loss of each element, "sum", or "mean". PyTorch's
former arguments ``size_average`` and ``reduce`` are still accepted, with a warning.
"""

# the arguments have PyTorch's names

from __future__ import annotations

from typing import Any

from wengert.base.dtypes import is_differentiable
from wengert.base.errors import cannot_cast, long_name, not_implemented
from wengert.base.export import export
from wengert.base.shapes import broadcast
from wengert.ops.checks import flag
from wengert.ops.coerce import in_full, number, operand
from wengert.ops.constants import ONE, ZERO
from wengert.ops.reduce import mean, sum
from wengert.prims import neural as neural
from wengert.tape.modes import mixes_dtypes
from wengert.tape.record import T
from wengert.tape.sites import warn


def reduction_of(
    reduction: Any, size_average: bool | None = None, reduce: bool | None = None
) -> str:
    """The reduction that the arguments of a loss ask for."""
    if size_average is not None or reduce is not None:
        size_average = True if size_average is None else size_average
        reduce = True if reduce is None else reduce
        reduction = "none" if not reduce else "mean" if size_average else "sum"
        warn(
            "size_average and reduce args will be deprecated, please use "
            f"reduction='{reduction}' instead.",
        )
    if reduction not in ("none", "mean", "sum"):
        raise ValueError(
            f"{reduction} is not a valid value for reduction: choose 'none', 'mean' or 'sum'"
        )
    return str(reduction)


def reduced(losses: Any, reduction: str) -> Any:
    """Single losses as they are, their mean or their sum."""
    if reduction == "none":
        return losses
    return mean(losses) if reduction == "mean" else sum(losses)


def _pair(input: Any, target: Any, name: str, kernel: str | None) -> tuple[Any, Any]:
    """Return both as tensors of one shape; different shapes broadcast, with a warning.

    `kernel` is PyTorch's name of a kernel that takes only floating tensors, if there is one.
    """
    input, target = operand(input, name), operand(target, name, "target", 2)
    a, b = input._payload, target._payload
    if kernel and not is_differentiable(a.dtype) and not is_differentiable(b.dtype):
        advice = f"{name}() takes floating tensors; convert the input with .to(dtype)"
        raise not_implemented(kernel, a.dtype, advice)
    if a.shape != b.shape:
        warn(
            f"Using a target size (torch.Size({list(b.shape)})) that is different to the input "
            f"size (torch.Size({list(a.shape)})). This will likely lead to incorrect results due "
            "to broadcasting. Please ensure they have the same size.",
        )
        shape = broadcast(a.shape, b.shape)
        input = input if a.shape == shape else T.expand(input, shape=shape)
        target = target if b.shape == shape else T.expand(target, shape=shape)
    return input, target


def _weigh(losses: Any, weight: Any) -> Any:
    """Multiply losses by weights of the same shape."""
    if losses._payload.shape != weight._payload.shape:
        raise ValueError(
            "Weights and input must have the same size, but the weights have the shape "
            f"{list(weight._payload.shape)}, the losses {list(losses._payload.shape)}."
        )
    return T.mul(losses, weight)


def _weighted(losses: Any, weight: Any, reduction: str) -> Any:
    """Multiply losses by weights; the mean is divided by the sum of the weights."""
    losses = _weigh(losses, weight)
    if reduction == "none":
        return losses
    total = T.sum(losses)
    return total if reduction == "sum" else T.div(total, T.sum(weight))


@export("nn.functional")
def mse_loss(
    input: Any,
    target: Any,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
    weight: Any = None,
) -> Any:
    """Return the squared differences of input and target.

    Parameters
    ----------
    input, target : Tensor. Of the same shape (others broadcast, with a warning) and of floating
        dtype.
    %(reduction, unit_weight, returns_loss)s

    Raises
    ------
    ValueError: For another reduction, or weights of another shape.
    %(error_broadcast)s
    NotImplementedError: If neither has a floating dtype.

    Examples
    --------
    >>> wg.nn.functional.mse_loss(wg.tensor([1.0, 2.0]), wg.tensor([1.0, 4.0]))
    tensor(2.)
    """
    reduction = reduction_of(reduction, size_average, reduce)
    input, target = _pair(input, target, "mse_loss", "mse_cpu")
    if weight is not None:
        losses = T.mse_loss(input, target, reduction="none")
        return _weighted(losses, operand(weight, "mse_loss", "weight", 6), reduction)
    return T.mse_loss(input, target, reduction=reduction)


@export("nn.functional")
def l1_loss(
    input: Any,
    target: Any,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
    weight: Any = None,
) -> Any:
    """Return the absolute differences of input and target.

    Parameters
    ----------
    input, target : Tensor. Of the same shape (others broadcast, with a warning) and of floating or
        complex dtype.
    %(reduction, unit_weight)s

    Returns
    -------
    Tensor: The loss; differentiable with respect to input and target, with the derivative 0 where
        they are equal.

    Raises
    ------
    ValueError: For another reduction, or weights of another shape.
    RuntimeError: If the shapes do not broadcast, or for the mean of integers.
    Examples
    --------
    >>> wg.nn.functional.l1_loss(wg.tensor([1.0, 2.0]), wg.tensor([1.0, 4.0]))
    tensor(1.)
    """
    reduction = reduction_of(reduction, size_average, reduce)
    input, target = in_full(*_pair(input, target, "l1_loss", None))
    losses = T.abs(T.sub(input, target))
    if weight is not None:
        return _weighted(losses, operand(weight, "l1_loss", "weight", 6), reduction)
    return reduced(losses, reduction)


@export("nn.functional")
def smooth_l1_loss(
    input: Any,
    target: Any,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
    beta: float = 1.0,
) -> Any:
    """Return the absolute differences of input and target, as a parabola below `beta`.

    Parameters
    ----------
    input, target : Tensor. Of the same shape (others broadcast, with a warning) and of real
        floating dtype.
    %(reduction)s
    beta : float. The difference at which the parabola ends; 0 gives `l1_loss`.

    %(returns_loss, raises_reduction)s
    RuntimeError: If `beta` is negative, or the shapes do not broadcast.

    Examples
    --------
    >>> wg.nn.functional.smooth_l1_loss(wg.tensor([1.0, 2.0]), wg.tensor([1.5, 4.0]))
    tensor(0.8125)
    """
    reduction = reduction_of(reduction, size_average, reduce)
    beta = number(beta, "smooth_l1_loss", "beta")
    if beta < 0:
        raise RuntimeError(f"smooth_l1_loss does not support negative values for beta, got {beta}")
    input, target = _pair(input, target, "smooth_l1_loss", "smooth_l1_cpu")
    if beta == 0:
        return reduced(T.abs(T.sub(input, target)), reduction)
    return T.smooth_l1_loss(input, target, reduction=reduction, beta=float(beta))


@export("nn.functional")
def huber_loss(
    input: Any, target: Any, reduction: str = "mean", delta: float = 1.0, weight: Any = None
) -> Any:
    """Return half the squared differences of input and target, linear above `delta`.

    Parameters
    ----------
    input, target : Tensor. Of the same shape (others broadcast, with a warning) and of real
        floating dtype.
    %(single_reduction)s
    delta : float. The difference at which the parabola ends; positive.
    weight : Tensor, optional. A factor of each single loss, of their shape.

    %(returns_loss)s

    Raises
    ------
    ValueError: For another reduction, or weights of another shape.
    RuntimeError: If `delta` is not positive, or the shapes do not broadcast.

    Examples
    --------
    >>> wg.nn.functional.huber_loss(wg.tensor([1.0, 2.0]), wg.tensor([1.5, 4.0]))
    tensor(0.8125)
    """
    reduction, delta = reduction_of(reduction), float(number(delta, "huber_loss", "delta"))
    if not delta > 0:
        raise RuntimeError(
            f"huber_loss does not support non-positive values for delta, got {delta}"
        )
    input, target = _pair(input, target, "huber_loss", "huber_cpu")
    if weight is not None:
        losses = T.huber_loss(input, target, reduction="none", delta=delta)
        return reduced(_weigh(losses, operand(weight, "huber_loss", "weight", 5)), reduction)
    return T.huber_loss(input, target, reduction=reduction, delta=delta)


@export("nn.functional")
def kl_div(
    input: Any,
    target: Any,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
    log_target: bool = False,
) -> Any:
    """Return the Kullback-Leibler divergence: ``target * (log(target) - input)``, reduced.

    Parameters
    ----------
    input : Tensor. Logarithms of probabilities.
    target : Tensor. Probabilities, or their logarithms if `log_target`; its shape broadcasts with
        the input's.
    %(former_reduction)s
    reduction : {"mean", "batchmean", "sum", "none"}. How to combine the single terms; "batchmean"
        divides their sum by the first size, as the definition does.
    log_target : bool. Whether the targets are logarithms.

    Returns
    -------
    Tensor: The divergence; differentiable with respect to both.

    %(raises_reduction, error_broadcast)s

    Examples
    --------
    >>> p, q = wg.tensor([[0.5, 0.5]]), wg.tensor([[0.25, 0.75]])
    >>> wg.nn.functional.kl_div(q.log(), p, reduction="batchmean")
    tensor(0.1438)
    """
    batch = reduction == "batchmean"
    reduction = "sum" if batch else reduction_of(reduction, size_average, reduce)
    if reduction == "mean":
        warn(
            "reduction: 'mean' divides the total loss by both the batch size and the support size."
            "'batchmean' divides only by the batch size, and aligns with the KL div math "
            "definition.'mean' will be changed to behave the same as 'batchmean' in the next major "
            "release.",
        )
    input, target = in_full(operand(input, "kl_div"), operand(target, "kl_div", "target", 2))
    if flag(log_target, "log_target"):
        terms = T.mul(T.exp(target), T.sub(target, input))
    else:
        # 0 * log 0 is 0, and the derivative of the branch not taken must be finite, too
        some, kind = T.ne(target, 0), target._payload.dtype
        log = T.log(T.where(some, target, ONE.get(kind, 1)))
        products = T.where(some, T.mul(target, log), ZERO.get(kind, 0))
        terms = T.sub(products, T.mul(target, input))
    result = reduced(terms, reduction)
    size = input._payload.shape[0] if input._payload.ndim else 1
    return T.div(result, size) if batch else result


@export("nn.functional")
def binary_cross_entropy(
    input: Any,
    target: Any,
    weight: Any = None,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
) -> Any:
    """Return ``-(target * log(input) + (1 - target) * log(1 - input))``, the cross entropy.

    Parameters
    ----------
    input : Tensor. Probabilities, between 0 and 1.
    %(shared_target, reduction)s

    Returns
    -------
    Tensor: The loss; differentiable with respect to input and target. Logarithms are kept above
        -100.

    Raises
    ------
    ValueError: For different shapes or another reduction.
    RuntimeError: If an input is not between 0 and 1.

    Examples
    --------
    >>> wg.nn.functional.binary_cross_entropy(wg.tensor([0.5, 0.9]), wg.tensor([1.0, 1.0]))
    tensor(0.3993)
    """
    reduction = reduction_of(reduction, size_average, reduce)
    name = "binary_cross_entropy"
    input, target = operand(input, name), operand(target, name, "target", 2)
    if input._payload.shape != target._payload.shape:
        raise ValueError(
            f"Using a target size (torch.Size({list(target._payload.shape)})) that is different to "
            f"the input size (torch.Size({list(input._payload.shape)})) is deprecated. Please "
            "ensure they have the same size."
        )
    have, want = target._payload.dtype, input._payload.dtype
    if have != want and not mixes_dtypes():
        raise RuntimeError(
            f"Found dtype {long_name(have)} but expected {long_name(want)}: the targets of "
            f"{name}() are probabilities; convert them with .to(dtype)"
        )
    if weight is None:
        return T.binary_cross_entropy(input, target, reduction=reduction)
    losses = T.binary_cross_entropy(input, target, reduction="none")
    return reduced(T.mul(losses, operand(weight, name, "weight", 3)), reduction)


@export("nn.functional")
def binary_cross_entropy_with_logits(
    input: Any,
    target: Any,
    weight: Any = None,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
    pos_weight: Any = None,
) -> Any:
    """Return the cross entropies of ``sigmoid(input)`` and target probabilities, without overflow.

    Parameters
    ----------
    input : Tensor. Any real numbers.
    %(shared_target, reduction)s
    pos_weight : Tensor, optional. A factor of the targets' part of the loss, whose shape broadcasts
        with theirs.

    %(returns_loss)s

    Raises
    ------
    ValueError: For different shapes or another reduction.

    Examples
    --------
    >>> F.binary_cross_entropy_with_logits(wg.tensor([0.0, 100.0]), wg.tensor([1.0, 1.0]))
    tensor(0.3466)
    """
    reduction = reduction_of(reduction, size_average, reduce)
    name = "binary_cross_entropy_with_logits"
    input, target = operand(input, name), operand(target, name, "target", 2)
    if input._payload.shape != target._payload.shape:
        raise ValueError(
            f"Target size (torch.Size({list(target._payload.shape)})) must be the same as input "
            f"size (torch.Size({list(input._payload.shape)}))"
        )
    if target._payload.dtype.kind in "iub":
        raise cannot_cast(input._payload.dtype, target._payload.dtype)
    if weight is None and pos_weight is None:
        return T.binary_cross_entropy_with_logits(input, target, reduction=reduction)
    if pos_weight is None:
        losses = T.binary_cross_entropy_with_logits(input, target, reduction="none")
    else:
        # (1 - t) * x + (1 + (w - 1) * t) * -log(sigmoid(x))
        extra = T.sub(operand(pos_weight, name, "pos_weight", 7), 1)
        surprise = T.mul(T.add(T.mul(extra, target), 1), T.log_sigmoid(input))
        losses = T.sub(T.mul(T.add(T.neg(target), 1), input), surprise)
    if weight is not None:
        losses = T.mul(losses, operand(weight, name, "weight", 3))
    return reduced(losses, reduction)
