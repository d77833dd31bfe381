"""Layer 9 · compat: Keras's loss functions of targets and predictions."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

import wengert as wg
from wengert.compat.kit.namespaces import defined
from wengert.compat.kit.rows import of_rows, shaped
from wengert.compat.tensorflow.functions import values as V
from wengert.compat.tensorflow.functions.values import converted, is_floating, tensor_of
from wengert.compat.tensorflow.keras.globals import epsilon, float_type
from wengert.compat.tensorflow.nn import sparse_softmax_cross_entropy_with_logits
from wengert.compat.tensorflow.words import refusal

_F = wg.nn.functional


def both(y_true, y_pred) -> tuple[Any, Any]:
    """Return targets and predictions in the dtype of the predictions."""
    p = tensor_of(y_pred)
    y = converted(tensor_of(y_true), p._payload.dtype)
    if not is_floating(p):
        y, p = (converted(x, float_type()) for x in (y, p))
    return same_rank(y, p)


def same_rank(a, b) -> tuple[Any, Any]:
    """Match the ranks of two tensors: one may have an additional last dimension of size 1.

    One-dimensional tensors get this dimension, so that each example still has a loss.
    """
    if a._payload.ndim < b._payload.ndim:
        return same_rank(b, a)[::-1]
    if a._payload.ndim == b._payload.ndim + 1 and a._payload.shape[-1] == 1:
        return (a, wg.unsqueeze(b, -1)) if b._payload.ndim == 1 else (wg.squeeze(a, -1), b)
    return a, b


def clipped(x, low: float, high: float) -> Any:
    """Clamp `x` to bounds."""
    return wg.clamp(x, low, high)


def smoothed(y, share: float, classes: int) -> Any:
    """Smooth targets: distribute a fraction evenly over all classes."""
    return wg.add(wg.mul(y, 1.0 - share), share / classes)


def _mean_of(path: str, function: Callable[[Any, Any], Any], words: str) -> Any:
    """Make the loss `path`: the mean of ``function(targets, predictions)`` over the last
    dimension."""

    @V.operation("Mean")
    def loss(y_true, y_pred) -> Any:
        """{words}, one for each example: the mean over the last dimension.

        Parameters
        ----------
        y_true, y_pred : Tensor. The targets and the predictions.

        Returns
        -------
        Tensor: Without the last dimension; differentiable.

        Examples
        --------
        >>> tf.keras.losses.{name}([[1.0, 0.0]], [[0.5, 0.5]]).shape
        TensorShape([1])
        """
        y, p = both(y_true, y_pred)
        return wg.mean(function(y, p), -1)

    return shaped(loss, path, words=words)


def _absolute(y, p) -> Any:
    return wg.abs(wg.sub(y, p))


def _squared(y, p) -> Any:
    return wg.square(wg.sub(y, p))


def _squared_logarithmic(y, p) -> Any:
    return wg.square(wg.sub(_logarithm(y), _logarithm(p)))


def _squared_margin(y, p) -> Any:
    return wg.square(_margin(y, p))


def _relative(y, p) -> Any:
    scale = wg.clamp(wg.abs(y), min=epsilon())
    return wg.mul(wg.abs(wg.div(wg.sub(y, p), scale)), 100.0)


def _logarithm(x) -> Any:
    return wg.log(wg.add(wg.clamp(x, min=epsilon()), 1.0))


def _signs(y) -> Any:
    """Map targets 0 and 1 to -1 and 1; return others unchanged."""
    values = V.numbers_of(y)
    binary = bool(((values == 0) | (values == 1)).all())
    return wg.sub(wg.mul(y, 2.0), 1.0) if binary else y


def _margin(y, p) -> Any:
    return wg.relu(wg.sub(1.0, wg.mul(_signs(y), p)))


def _log_cosh(y, p) -> Any:
    x = wg.sub(p, y)
    return wg.sub(wg.add(x, _F.softplus(wg.mul(x, -2.0))), math.log(2.0))


def _poisson(y, p) -> Any:
    return _F.poisson_nll_loss(p, y, log_input=False, eps=epsilon(), reduction="none")


of_rows(
    globals(),
    _mean_of,
    """
    mean_squared_error | =_squared | The squared error
    mean_absolute_error | =_absolute | The absolute error
    mean_absolute_percentage_error | =_relative | The error in percent of the target
    mean_squared_logarithmic_error | =_squared_logarithmic | The squared difference of logarithms
    hinge | =_margin | What is missing to a margin of 1
    squared_hinge | =_squared_margin | The square of what is missing to a margin of 1
    log_cosh | =_log_cosh | The logarithm of the hyperbolic cosine of the error
    poisson | =_poisson | ``y_pred - y_true * log(y_pred)``
    """,
)


@V.operation("Mean")
def huber(y_true, y_pred, delta=1.0) -> Any:
    """Return the mean Huber loss over the last dimension: quadratic up to `delta`, else linear.

    Examples
    --------
    >>> print(tf.keras.losses.huber([[0.0, 0.0]], [[0.5, 3.0]]).numpy())
    [1.3125]
    """
    y, p = both(y_true, y_pred)
    return wg.mean(_F.huber_loss(p, y, reduction="none", delta=delta), -1)


@V.operation("Sum")
def kullback_leibler_divergence(y_true, y_pred) -> Any:
    """Return the sum of ``y_true * log(y_true / y_pred)`` over the last dimension.

    Examples
    --------
    >>> print(tf.keras.losses.kld([[0.5, 0.5]], [[0.5, 0.5]]).numpy())
    [0.]
    """
    y, p = both(y_true, y_pred)
    y, p = clipped(y, epsilon(), 1.0), clipped(p, epsilon(), 1.0)
    return wg.sum(wg.mul(y, wg.log(wg.div(y, p))), -1)


@V.operation("Mean")
def categorical_hinge(y_true, y_pred) -> Any:
    """Return the categorical hinge loss: the right class should exceed all others by 1.

    Examples
    --------
    >>> print(tf.keras.losses.categorical_hinge([[1.0, 0.0]], [[0.5, 0.25]]).numpy())
    [0.75]
    """
    y, p = both(y_true, y_pred)
    right = wg.sum(wg.mul(y, p), -1)
    best = wg.amax(wg.mul(wg.sub(1.0, y), p), -1)
    return wg.relu(wg.add(wg.sub(best, right), 1.0))


@V.operation("Sum")
def cosine_similarity(y_true, y_pred, axis=-1) -> Any:
    """Return minus the cosine of the angle between targets and predictions.

    Examples
    --------
    >>> print(tf.keras.losses.cosine_similarity([[0.0, 1.0]], [[0.0, 2.0]]).numpy())
    [-1.]
    """
    y, p = both(y_true, y_pred)
    return wg.neg(wg.sum(wg.mul(_unit(y, axis), _unit(p, axis)), axis))


def _unit(x, axis: int) -> Any:
    total = wg.sum(wg.square(x), axis, True)
    return wg.mul(x, wg.rsqrt(wg.clamp(total, min=1e-14)))


def _of_one_shape(y_true, y_pred, share: float, classes=0) -> tuple[Any, Any]:
    """Return targets and predictions, which must have one shape."""
    y, p = both(y_true, y_pred)
    if y._payload.shape != p._payload.shape:
        raise refusal(
            ValueError, "Arguments `target` and", tuple(y._payload.shape), tuple(p._payload.shape)
        )
    return smoothed(y, share, classes or p._payload.shape[-1]) if share else y, p


@V.operation("Mean")
def binary_crossentropy(y_true, y_pred, from_logits=False, label_smoothing=0.0, axis=-1) -> Any:
    """Return the cross entropy of two-class probabilities; the mean over a dimension.

    Parameters
    ----------
    y_true, y_pred : Tensor. The targets 0 or 1, and the probabilities of 1 or their logits.
    from_logits : bool. Whether `y_pred` contains logits.
    label_smoothing : float. The fraction by which targets move to one half.
    axis : int. The dimension to average.

    %(returns_differentiable)s

    Examples
    --------
    >>> print(tf.keras.losses.binary_crossentropy([[1.0]], [[0.0]], from_logits=True).numpy())
    [0.6931472]
    """
    y, p = _of_one_shape(y_true, y_pred, label_smoothing, 2)
    cross_entropy = _with_logits if from_logits else _of_two
    return wg.mean(cross_entropy(y, p), axis)


def _with_logits(y, p) -> Any:
    return _F.binary_cross_entropy_with_logits(p, y, reduction="none")


def _of_two(y, p) -> Any:
    p = clipped(p, epsilon(), 1.0 - epsilon())
    return wg.neg(wg.add(wg.mul(y, wg.log(p)), wg.mul(wg.sub(1.0, y), wg.log(wg.sub(1.0, p)))))


@V.operation("Mean")
def binary_focal_crossentropy(
    y_true,
    y_pred,
    apply_class_balancing=False,
    alpha=0.25,
    gamma=2.0,
    from_logits=False,
    label_smoothing=0.0,
    axis=-1,
) -> Any:
    """Return the cross entropy of two-class probabilities, with less weight for certain ones.

    Parameters
    ----------
    y_true, y_pred : Tensor. The targets and the predictions, as in `binary_crossentropy`.
    apply_class_balancing : bool. Whether the classes are weighted by `alpha` and ``1 - alpha``.
    alpha : float. The weight of class 1.
    gamma : float. The power of the probability of the wrong class, by which losses are weighted.
    from_logits, label_smoothing, axis: As in `binary_crossentropy`.

    Examples
    --------
    >>> print(tf.keras.losses.binary_focal_crossentropy([[1.0]], [[0.5]]).numpy())
    [0.1732868]
    """
    y, p = _of_one_shape(y_true, y_pred, label_smoothing, 2)
    if from_logits:
        p = wg.sigmoid(p)
    wrong = wg.sub(1.0, wg.add(wg.mul(y, p), wg.mul(wg.sub(1.0, y), wg.sub(1.0, p))))
    each = wg.mul(wg.pow(wrong, gamma), _of_two(y, p))
    if apply_class_balancing:
        each = wg.mul(each, wg.add(wg.mul(y, alpha), wg.mul(wg.sub(1.0, y), 1.0 - alpha)))
    return wg.mean(each, axis)


@V.operation("Sum")
def categorical_crossentropy(
    y_true, y_pred, from_logits=False, label_smoothing=0.0, axis=-1
) -> Any:
    """Return the cross entropy of class probabilities over a dimension.

    Parameters
    ----------
    y_true, y_pred : Tensor. Target probabilities, and predicted probabilities or logits, of one
        shape.
    from_logits : bool. Whether `y_pred` contains logits.
    label_smoothing : float. The fraction of the targets that is distributed over all classes.
    axis : int. The dimension of the classes.

    Returns
    -------
    Tensor: The losses, without that dimension; differentiable.

    Raises
    ------
    ValueError: If the shapes differ.

    Examples
    --------
    >>> print(tf.keras.losses.categorical_crossentropy([[0.0, 1.0]], [[0.5, 0.5]]).numpy())
    [0.6931472]
    """
    y, p = _of_one_shape(y_true, y_pred, label_smoothing)
    if from_logits:
        return wg.neg(wg.sum(wg.mul(y, wg.log_softmax(p, axis)), axis))
    p = wg.div(p, wg.sum(p, axis, True))
    return wg.neg(wg.sum(wg.mul(y, wg.log(clipped(p, epsilon(), 1.0 - epsilon()))), axis))


@V.operation("Sum")
def categorical_focal_crossentropy(
    y_true, y_pred, alpha=0.25, gamma=2.0, from_logits=False, label_smoothing=0.0, axis=-1
) -> Any:
    """Return the cross entropy of class probabilities, with less weight for certain ones.

    Parameters
    ----------
    y_true, y_pred : Tensor. As those of `binary_focal_crossentropy`.
    alpha : float or sequence of float. The weights of the classes.
    gamma : float. The power of ``1 - y_pred``, by which losses are weighted.
    from_logits, label_smoothing, axis: As in `categorical_crossentropy`.

    Examples
    --------
    >>> print(tf.keras.losses.categorical_focal_crossentropy([[0.0, 1.0]], [[0.5, 0.5]]).numpy())
    [0.0433217]
    """
    y, p = _of_one_shape(y_true, y_pred, label_smoothing)
    p = wg.softmax(p, axis) if from_logits else p
    p = clipped(wg.div(p, wg.sum(p, axis, True)), epsilon(), 1.0 - epsilon())
    share = wg.mul(wg.pow(wg.sub(1.0, p), gamma), wg.as_tensor(alpha, dtype=p.dtype))
    return wg.neg(wg.sum(wg.mul(share, wg.mul(y, wg.log(p))), axis))


@V.operation("Sum")
def tversky(y_true, y_pred, alpha=0.5, beta=0.5, axis=None) -> Any:
    """Return one minus the Tversky index, of the overlap of targets and predictions.

    Parameters
    ----------
    y_true, y_pred : Tensor. The targets and the predictions.
    alpha : float. The weight of targets that are not predicted.
    beta : float. The weight of predictions that are no targets.
    axis : int or sequence of int, optional. The dimensions that are summed; all by default.

    Examples
    --------
    >>> print(tf.keras.losses.tversky([[1.0, 1.0]], [[1.0, 0.0]], alpha=1.0).numpy())
    0.5
    """
    y, p = both(y_true, y_pred)
    shared = wg.mul(y, p)
    missed, more = wg.sub(y, shared), wg.sub(p, shared)
    shared, missed, more = (wg.sum(x, axis) for x in (shared, missed, more))
    total = wg.add(wg.add(wg.add(shared, wg.mul(missed, alpha)), wg.mul(more, beta)), epsilon())
    return wg.sub(1.0, wg.div(shared, total))


@V.operation("Sum")
def dice(y_true, y_pred, axis=None) -> Any:
    """Return one minus the Dice coefficient, of the overlap of targets and predictions.

    Parameters
    ----------
    y_true, y_pred, axis: As in `tversky`.

    Examples
    --------
    >>> print(tf.keras.losses.dice([[1.0, 0.0]], [[0.5, 0.5]]).numpy())
    0.5
    """
    y, p = both(y_true, y_pred)
    total = wg.add(wg.add(wg.sum(y, axis), wg.sum(p, axis)), epsilon())
    return wg.sub(1.0, wg.div(wg.mul(wg.sum(wg.mul(y, p), axis), 2.0), total))


@V.operation("SparseSoftmaxCrossEntropyWithLogits")
def sparse_categorical_crossentropy(
    y_true, y_pred, from_logits=False, ignore_class: int | None = None, axis=-1
) -> Any:
    """Return the cross entropy of class indices.

    Parameters
    ----------
    y_true : Tensor. The indices of the right classes.
    y_pred : Tensor. The probabilities or logits, with one more dimension.
    from_logits : bool. Whether `y_pred` contains logits.
    ignore_class : int, optional. The class index whose loss is 0.
    axis : int. The dimension of the classes.

    Returns
    -------
    Tensor: The losses, of the shape of `y_true`; differentiable in `y_pred`.

    Raises
    ------
    InvalidArgumentError: If a class index is out of range.

    Examples
    --------
    >>> print(tf.keras.losses.sparse_categorical_crossentropy([1], [[0.5, 0.5]]).numpy())
    [0.6931472]
    """
    p = V.tensor_of(y_pred)
    classes = V.converted(V.tensor_of(y_true), np.dtype(np.int64))
    if axis not in (-1, p._payload.ndim - 1):
        p = wg.movedim(p, axis, -1)
    if classes._payload.ndim == p._payload.ndim and classes._payload.shape[-1] == 1:
        classes = wg.squeeze(classes, -1)
    ignored = None if ignore_class is None else wg.eq(classes, ignore_class)
    if ignored is not None:
        classes = wg.where(ignored, wg.zeros_like(classes), classes)
    if not from_logits:
        p = wg.log(clipped(p, epsilon(), 1.0 - epsilon()))
    result = V.tensor_of(sparse_softmax_cross_entropy_with_logits(V.made(classes), V.made(p)))
    if ignored is not None:
        result = wg.where(ignored, wg.zeros_like(result), result)
    return result


for _short, _name in (
    ("mse", "mean_squared_error"),
    ("mae", "mean_absolute_error"),
    ("mape", "mean_absolute_percentage_error"),
    ("msle", "mean_squared_logarithmic_error"),
):
    globals().update(dict.fromkeys((_short, _short.upper()), globals()[_name]))
kld = KLD = kl_divergence = kullback_leibler_divergence
logcosh = globals()["log_cosh"]

__all__ = defined(globals(), without="both clipped same_rank smoothed")
