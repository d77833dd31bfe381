"""Layer 9 · compat: TensorFlow's activation functions, and cross entropies and other losses."""

from __future__ import annotations

from typing import Any

import numpy as np

import wengert as wg
from wengert.base.extras import scipy_module
from wengert.compat.kit.namespaces import defined
from wengert.compat.tensorflow.functions import values as V
from wengert.compat.tensorflow.words import refusal

_F = wg.nn.functional


@V.operation("SoftmaxCrossEntropyWithLogits", logits=V.FLOATING, labels="logits")
def softmax_cross_entropy_with_logits(labels, logits, axis=-1, name=None) -> Any:
    """Return the cross entropy of `labels` and the `softmax` of `logits`, one value per row.

    Parameters
    ----------
    labels : Tensor. Probabilities, of a shape that broadcasts with that of `logits`.
    logits : Tensor. The logits, of a real floating dtype.
    axis : int. The dimension of the classes.

    Returns
    -------
    Tensor: The losses, without the dimension of the classes; differentiable in both arguments.

    Raises
    ------
    InvalidArgumentError: If the shapes or dtypes do not match.

    Examples
    --------
    >>> loss = tf.nn.softmax_cross_entropy_with_logits(labels=[[1.0, 0.0]], logits=[[0.0, 0.0]])
    >>> print(loss.numpy())
    [0.6931472]
    """
    x, y = logits, V.converted(labels, logits._payload.dtype)
    try:
        np.broadcast_shapes(x._payload.shape, y._payload.shape)
    except ValueError:
        raise refusal(
            V.invalid, "logits and labels", V.shown(x._payload.shape), V.shown(y._payload.shape)
        ) from None
    return wg.neg(wg.sum(wg.mul(y, wg.log_softmax(x, int(axis))), int(axis)))


@V.operation("SparseSoftmaxCrossEntropyWithLogits", logits=V.FLOATING, labels=V.ANY)
def sparse_softmax_cross_entropy_with_logits(labels, logits, name=None) -> Any:
    """Return the cross entropy of class indices and the `softmax` of `logits`.

    Parameters
    ----------
    labels : Tensor. The integer indices of the classes, of the shape of `logits` without its last
        dimension.
    logits : Tensor. The logits, of a real floating dtype.

    Returns
    -------
    Tensor: The losses, of the shape of `labels`; differentiable in `logits`.

    Raises
    ------
    InvalidArgumentError: If a label is out of range, or `labels` are not integers.
    ValueError: If the shapes do not match.

    Examples
    --------
    >>> loss = tf.nn.sparse_softmax_cross_entropy_with_logits(labels=[0], logits=[[0.0, 0.0]])
    >>> print(loss.numpy())
    [0.6931472]
    """
    V.check(labels, ("int32", "int64"), "Tlabels")
    sizes, given = logits._payload.shape, labels._payload.shape
    if len(sizes) != len(given) + 1 or sizes[:-1] != given:
        raise refusal(ValueError, "`labels.shape` must equal", given, sizes)
    if not V.is_mapped(labels):
        _check_classes(V.numbers_of(labels), sizes[-1])
    places = wg.unsqueeze(V.converted(labels, np.dtype(np.int64)), -1)
    picked = wg.take_along_dim(wg.log_softmax(logits, -1), places, -1)
    return wg.neg(wg.squeeze(picked, -1))


def _check_classes(classes, count: int) -> None:
    outside = (classes < 0) | (classes >= count)
    if outside.any():
        raise V.invalid(
            f"Received a label value of {classes[outside][0]} which is outside the valid range of "
            f"[0, {count}).  Label values: {' '.join(map(str, classes.reshape(-1)[:20]))}"
        )


def _check_shapes(labels, logits) -> None:
    sizes, given = tuple(logits._payload.shape), tuple(labels._payload.shape)
    if sizes != given:
        raise refusal(ValueError, "`logits` and `labels`", sizes, given)


@V.operation("Log1p", "logits", "labels", logits=V.FLOATING)
def sigmoid_cross_entropy_with_logits(labels=None, logits=None, name=None) -> Any:
    """Return the elementwise cross entropy of `labels` and the `sigmoid` of `logits`.

    Parameters
    ----------
    labels, logits : Tensor. The probabilities and the logits, of one shape and one real floating
        dtype.

    Returns
    -------
    Tensor: The losses, of the same shape; differentiable in both arguments.

    Raises
    ------
    ValueError: If the shapes differ.

    Examples
    --------
    >>> print(tf.nn.sigmoid_cross_entropy_with_logits(labels=[1.0], logits=[0.0]).numpy())
    [0.6931472]
    """
    _check_shapes(labels, logits)
    return _F.binary_cross_entropy_with_logits(logits, labels, reduction="none")


@V.operation("Log1p", "logits", "labels", logits=V.FLOATING, pos_weight="logits")
def weighted_cross_entropy_with_logits(labels, logits, pos_weight, name=None) -> Any:
    """Return the sigmoid cross entropy, with positive labels weighted by `pos_weight`.

    Examples
    --------
    >>> print(tf.nn.weighted_cross_entropy_with_logits([1.0], [0.0], 3.0).numpy())
    [2.0794415]
    """
    _check_shapes(labels, logits)
    options: dict[str, Any] = {"reduction": "none", "pos_weight": pos_weight}
    return _F.binary_cross_entropy_with_logits(logits, labels, **options)


@V.operation("CTCLoss", labels=V.ANY, logits=V.FLOATING, blank_index=int)
def ctc_loss(
    labels,
    logits,
    label_length,
    logit_length,
    logits_time_major=True,
    unique=None,
    blank_index=None,
    name=None,
) -> Any:
    """Return the connectionist temporal classification loss of each sequence of a batch.

    Parameters
    ----------
    labels : Tensor. The classes, of shape (batch, longest), padded at the end.
    logits : Tensor. The logits, of shape (steps, batch, classes); the batch comes first unless
        `logits_time_major`.
    label_length, logit_length : Tensor. The lengths of both, of shape (batch,).
    blank_index : int, optional. The class of the blank: 0 by default.

    %(returns_differentiable)s

    Examples
    --------
    >>> print(tf.nn.ctc_loss([[1]], tf.zeros([2, 1, 2]), [1], [2]).numpy().round(4))
    [0.2877]
    """
    x = wg.log_softmax(logits if logits_time_major else wg.transpose(logits, 0, 1), -1)
    steps, counts = (
        wg.as_tensor(V.numbers_of(lengths).astype(np.int64))
        for lengths in (logit_length, label_length)
    )
    blank = (blank_index or 0) % logits._payload.shape[-1]
    return wg.nn.functional.ctc_loss(x, labels, steps, counts, blank, "none")


@V.operation("L2Loss", t=V.COMPLEX)
def l2_loss(t, name=None) -> Any:
    """Return half the sum of the squares.

    Examples
    --------
    >>> print(tf.nn.l2_loss([3.0, 4.0]).numpy())
    12.5
    """
    return wg.div(wg.sum(wg.square(t)), 2)


@V.operation("Mul", "log_input", "targets")
def log_poisson_loss(targets, log_input, compute_full_loss=False, name=None) -> Any:
    """Return the negative log-likelihood of Poisson `targets`, given the log of their mean.

    Examples
    --------
    >>> print(tf.nn.log_poisson_loss([1.0], [0.0]).numpy())
    [1.]
    """
    full = bool(compute_full_loss)
    return _F.poisson_nll_loss(log_input, targets, full=full, reduction="none")


@V.operation("Mul", per_example_loss=V.ANY, sample_weight="per_example_loss", global_batch_size=int)
def compute_average_loss(per_example_loss, sample_weight=None, global_batch_size=None) -> Any:
    """Return the sum of the example losses divided by the batch size.

    Examples
    --------
    >>> print(tf.nn.compute_average_loss([1.0, 3.0], global_batch_size=4).numpy())
    1.0
    """
    losses = per_example_loss
    size = losses._payload.shape[0] if global_batch_size is None else global_batch_size
    if size < 0:
        raise V.invalid(f"global_batch_size must be non-negative, not {size}", "Assert")
    total = wg.sum(losses if sample_weight is None else wg.mul(losses, sample_weight))
    return wg.div(total, size) if size else wg.zeros_like(total)


@V.operation("Lgamma", x=V.FLOATING)
def lbeta(x, name=None) -> Any:
    """Return the log of the absolute value of the beta function, along the last dimension.

    Examples
    --------
    >>> print(tf.math.lbeta([1.0, 2.0]).numpy())
    -0.6931472
    """
    return wg.sub(wg.sum(wg.special.gammaln(x), -1), wg.special.gammaln(wg.sum(x, -1)))


@V.operation("Betainc", "a", "b", "x")
def betainc(a, b, x, name=None) -> Any:
    """Return the regularized incomplete beta function, which is differentiable in `x` only.

    Examples
    --------
    >>> print(tf.math.betainc(1.0, 2.0, 0.5).numpy())
    0.75
    """
    betainc = scipy_module("special", "tf.math.betainc").betainc
    return betainc(a.detach(), b.detach(), x)


_SCALE = 1.0507009873554804934193349852946
_ALPHA = 1.6732632423543772848170429916717


@V.operation("Relu", features=V.REAL)
def relu(features, name=None) -> Any:
    """Return max(x, 0); the derivative at 0 is 0.

    Parameters
    ----------
    features : Tensor. The input, of a real dtype.

    %(returns_differentiable)s

    Raises
    ------
    InvalidArgumentError: If the dtype is not supported.

    Examples
    --------
    >>> print(tf.nn.relu([-1.0, 2.0]).numpy())
    [0. 2.]
    """
    return wg.relu(features)


@V.operation("Relu6", features=V.REAL)
def relu6(features, name=None) -> Any:
    """Return min(max(x, 0), 6).

    Examples
    --------
    >>> print(tf.nn.relu6([-1.0, 2.0, 8.0]).numpy())
    [0. 2. 6.]
    """
    return _F.relu6(features)


@V.operation("LeakyRelu", features=V.ANY, alpha=float)
def leaky_relu(features, alpha=0.2, name=None) -> Any:
    """Return x where positive, else `alpha` times x; the derivative at 0 is `alpha`.

    Examples
    --------
    >>> print(tf.nn.leaky_relu([-1.0, 2.0]).numpy())
    [-0.2  2. ]
    """
    if features._payload.dtype.kind in "iu":
        features = V.converted(features, np.dtype(np.float32))
    V.check(features, V.FLOATING)
    return _F.leaky_relu(features, alpha)


@V.operation("Elu", features=V.FLOATING)
def elu(features, name=None) -> Any:
    """Return x where positive, else ``exp(x) - 1``.

    Examples
    --------
    >>> print(tf.nn.elu([-1.0, 2.0]).numpy().round(3))
    [-0.632  2.   ]
    """
    return _F.elu(features)


@V.operation("Selu", features=V.FLOATING)
def selu(features, name=None) -> Any:
    """Return ``scale * x`` where positive, else ``scale * alpha * (exp(x) - 1)``.

    Examples
    --------
    >>> print(tf.nn.selu([-1.0, 2.0]).numpy().round(3))
    [-1.111  2.101]
    """
    # at 0 TensorFlow uses the right derivative
    below = wg.lt(features, 0)
    small = wg.where(below, features, wg.zeros_like(features))
    return wg.where(below, wg.mul(wg.expm1(small), _SCALE * _ALPHA), wg.mul(features, _SCALE))


@V.operation("Gelu", features=V.ANY)
def gelu(features, approximate=False, name=None) -> Any:
    """Return x times the standard normal distribution function at x.

    Parameters
    ----------
    features : Tensor. The input, of a real floating dtype.
    approximate : bool. Whether to use the `tanh` approximation.

    %(returns_differentiable)s

    Raises
    ------
    ValueError: If the dtype is not supported.

    Examples
    --------
    >>> print(tf.nn.gelu([1.0, 2.0]).numpy().round(3))
    [0.841 1.954]
    """
    if features._payload.dtype.kind in "iubc":
        raise refusal(ValueError, "`features.dtype` must be", V.type_of(features))
    return _F.gelu(features, approximate="tanh" if approximate else "none")


@V.operation("Sigmoid", features=V.FLOATING, beta="features")
def silu(features, beta=1.0) -> Any:
    """Return ``x * sigmoid(beta * x)``.

    Examples
    --------
    >>> print(tf.nn.silu([1.0, 2.0]).numpy().round(3))
    [0.731 1.762]
    """
    return wg.mul(features, wg.sigmoid(wg.mul(beta, features)))


swish = silu


@V.operation("Relu", features=V.REAL)
def crelu(features, axis=-1, name=None) -> Any:
    """Concatenate `relu` of x and `relu` of -x.

    Examples
    --------
    >>> print(tf.nn.crelu([1.0, -2.0]).numpy())
    [1. 0. 0. 2.]
    """
    return wg.relu(wg.cat([features, wg.neg(features)], int(axis)))


def _place(logits, axis) -> int:
    ndim = logits._payload.ndim
    if not ndim:
        raise V.invalid("logits must have >= 1 dimension, got []")
    place = -1 if axis is None else int(axis)
    if not -ndim <= place < ndim:
        raise refusal(V.invalid, "`dim` must be", -ndim, ndim, ndim, place)
    return place


@V.operation("Softmax", logits=V.FLOATING)
def softmax(logits, axis=None, name=None) -> Any:
    """Return exponentials, normalized to sum to 1 along a dimension.

    Parameters
    ----------
    logits : Tensor. The logits, of a real floating dtype.
    axis : int, optional. The dimension; the last by default.

    Returns
    -------
    Tensor: Differentiable; it does not overflow.

    Raises
    ------
    InvalidArgumentError: If `axis` is out of range, or the dtype is not supported.

    Examples
    --------
    >>> print(tf.nn.softmax([0.0, 0.0]).numpy())
    [0.5 0.5]
    """
    return wg.softmax(logits, _place(logits, axis))


@V.operation("LogSoftmax", logits=V.FLOATING)
def log_softmax(logits, axis=None, name=None) -> Any:
    """Return the logarithm of `softmax`; arguments as for `softmax`.

    Examples
    --------
    >>> print(tf.nn.log_softmax([0.0, 1000.0]).numpy())
    [-1000.     0.]
    """
    return wg.log_softmax(logits, _place(logits, axis))


__all__ = defined(globals())
