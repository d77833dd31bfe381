"""Layer 9 · compat: TensorFlow's losses of classification, from logits, and some other losses."""

from __future__ import annotations

from typing import Any

import numpy as np

import wengert as wg
from wengert.base.sections import fill_sections
from wengert.compat.kit.namespaces import defined
from wengert.compat.tensorflow.functions import values as V


@V.operation("SoftmaxCrossEntropyWithLogits")
def softmax_cross_entropy_with_logits(labels, logits, axis=-1, name=None) -> Any:
    """The cross entropy of `labels` and of the `softmax` of `logits`, one for each row.

    Parameters
    ----------
    labels : Tensor. Probabilities, of the shape of `logits` or one that broadcasts.
    logits : Tensor. Of a real floating dtype.
    axis : int. The dimension of the classes.

    Returns
    -------
    Tensor: Without the dimension of the classes; differentiable in both.

    Raises
    ------
    InvalidArgumentError: If the shapes or dtypes do not fit.

    Examples
    --------
    >>> loss = tf.nn.softmax_cross_entropy_with_logits(labels=[[1.0, 0.0]], logits=[[0.0, 0.0]])
    >>> print(loss.numpy())
    [0.6931472]
    """
    x = V.tensor_of(logits)
    V.check("SoftmaxCrossEntropyWithLogits", x, V.FLOATING)
    y = V.tensor_of(labels, dtype_hint=x.payload.dtype)
    if y.payload.dtype != x.payload.dtype and y.payload.dtype.kind == "f":
        y = V.converted(y, x.payload.dtype)
    x, y = V.aligned("SoftmaxCrossEntropyWithLogits", x, y)
    try:
        np.broadcast_shapes(x.payload.shape, y.payload.shape)
    except ValueError:
        raise V.invalid(
            "SoftmaxCrossEntropyWithLogits",
            "logits and labels must be broadcastable: "
            f"logits_size={V.shown(x.payload.shape)} labels_size={V.shown(y.payload.shape)}",
        ) from None
    return wg.neg(wg.sum(wg.mul(y, wg.log_softmax(x, int(axis))), int(axis)))


@V.operation("SparseSoftmaxCrossEntropyWithLogits")
def sparse_softmax_cross_entropy_with_logits(labels, logits, name=None) -> Any:
    """The cross entropy of classes, given by number, and of the `softmax` of `logits`.

    Parameters
    ----------
    labels : Tensor. Of whole numbers, of the shape of `logits` without its last dimension.
    logits : Tensor. Of a real floating dtype.

    Returns
    -------
    Tensor: Of the shape of `labels`; differentiable in `logits`.

    Raises
    ------
    InvalidArgumentError: If there is no such class, or `labels` are not whole numbers.
    ValueError: If the shapes do not fit.

    Examples
    --------
    >>> loss = tf.nn.sparse_softmax_cross_entropy_with_logits(labels=[0], logits=[[0.0, 0.0]])
    >>> print(loss.numpy())
    [0.6931472]
    """
    op = "SparseSoftmaxCrossEntropyWithLogits"
    x, y = V.tensor_of(logits), V.tensor_of(labels)
    V.check(op, x, V.FLOATING)
    V.check(op, y, ("int32", "int64"), "Tlabels")
    sizes, given = x.payload.shape, y.payload.shape
    if len(sizes) != len(given) + 1 or sizes[:-1] != given:
        raise ValueError(
            "`labels.shape` must equal `logits.shape` except for the last dimension. Received: "
            f"labels.shape={given} and logits.shape={sizes}"
        )
    if not V.is_mapped(y):
        _check_classes(op, V.numbers_of(y), sizes[-1])
    places = wg.unsqueeze(V.converted(y, np.dtype(np.int64)), -1)
    picked = wg.take_along_dim(wg.log_softmax(x, -1), places, -1)
    return wg.neg(wg.squeeze(picked, -1))


def _check_classes(op: str, classes, count: int) -> None:
    outside = (classes < 0) | (classes >= count)
    if outside.any():
        raise V.invalid(
            op,
            f"Received a label value of {classes[outside][0]} which is outside the valid range of "
            f"[0, {count}).  Label values: {' '.join(map(str, classes.reshape(-1)[:20]))}",
        )


def _same_shape(labels, logits) -> tuple[Any, Any]:
    x, y = V.aligned("Mul", logits, labels)
    if x.payload.shape != y.payload.shape:
        raise ValueError(
            "`logits` and `labels` must have the same shape, received "
            f"({tuple(x.payload.shape)} vs {tuple(y.payload.shape)})."
        )
    V.check("Log1p", x, V.FLOATING)
    return y, x


@V.operation("Log1p")
def sigmoid_cross_entropy_with_logits(labels=None, logits=None, name=None) -> Any:
    """The cross entropy of `labels` and of the `sigmoid` of `logits`, element by element.

    Parameters
    ----------
    labels, logits : Tensor. Of one shape and one real floating dtype.

    Returns
    -------
    Tensor: Of that shape; differentiable in both.

    Raises
    ------
    ValueError: If the shapes differ.

    Examples
    --------
    >>> print(tf.nn.sigmoid_cross_entropy_with_logits(labels=[1.0], logits=[0.0]).numpy())
    [0.6931472]
    """
    y, x = _same_shape(labels, logits)
    # -log(sigmoid(x)) y - log(1 - sigmoid(x)) (1 - y)
    return wg.sub(wg.nn.functional.softplus(x), wg.mul(x, y))


@V.operation("Log1p")
def weighted_cross_entropy_with_logits(labels, logits, pos_weight, name=None) -> Any:
    """`sigmoid_cross_entropy_with_logits`, in which positive labels count `pos_weight` times.

    Examples
    --------
    >>> print(tf.nn.weighted_cross_entropy_with_logits([1.0], [0.0], 3.0).numpy())
    [2.0794415]
    """
    y, x = _same_shape(labels, logits)
    weight = V.tensor_of(pos_weight, dtype_hint=x.payload.dtype)
    factor = wg.add(wg.mul(wg.sub(weight, 1), y), 1)
    return wg.add(wg.mul(wg.sub(1, y), x), wg.mul(factor, wg.nn.functional.softplus(wg.neg(x))))


@V.operation("L2Loss")
def l2_loss(t, name=None) -> Any:
    """Half the sum of the squares.

    Examples
    --------
    >>> print(tf.nn.l2_loss([3.0, 4.0]).numpy())
    12.5
    """
    x = V.tensor_of(t)
    V.check("L2Loss", x, V.COMPLEX)
    return wg.div(wg.sum(wg.square(x)), 2)


@V.operation("Mul")
def log_poisson_loss(targets, log_input, compute_full_loss: bool = False, name=None) -> Any:
    """Minus the logarithm of the probability of `targets`, if `log_input` is the logarithm of
    their mean.

    Examples
    --------
    >>> print(tf.nn.log_poisson_loss([1.0], [0.0]).numpy())
    [1.]
    """
    x, y = V.aligned("Mul", log_input, targets)
    result = wg.sub(wg.exp(x), wg.mul(x, y))
    if not compute_full_loss:
        return result
    safe = wg.where(wg.gt(y, 1), y, wg.ones_like(y))
    stirling = wg.add(
        wg.sub(wg.mul(safe, wg.log(safe)), safe), wg.mul(wg.log(safe * 2 * np.pi), 0.5)
    )
    return wg.add(result, wg.where(wg.gt(y, 1), stirling, wg.zeros_like(y)))


@V.operation("Mul")
def compute_average_loss(per_example_loss, sample_weight=None, global_batch_size=None) -> Any:
    """The sum of the losses of the examples, divided by the size of the batch.

    Examples
    --------
    >>> print(tf.nn.compute_average_loss([1.0, 3.0], global_batch_size=4).numpy())
    1.0
    """
    x = V.tensor_of(per_example_loss)
    if sample_weight is not None:
        x = wg.mul(x, V.tensor_of(sample_weight, dtype_hint=x.payload.dtype))
    size = x.payload.shape[0] if global_batch_size is None else float(global_batch_size)
    return wg.div(wg.sum(x), size)


@V.operation("Lgamma")
def lbeta(x, name=None) -> Any:
    """The logarithm of the absolute value of the beta function, along the last dimension.

    Examples
    --------
    >>> print(tf.math.lbeta([1.0, 2.0]).numpy())
    -0.6931472
    """
    x = V.tensor_of(x)
    V.check("Lgamma", x, V.FLOATING)
    return wg.sub(wg.sum(wg.special.gammaln(x), -1), wg.special.gammaln(wg.sum(x, -1)))


__all__ = defined(globals())
fill_sections(globals())
