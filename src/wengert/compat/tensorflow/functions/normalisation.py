"""Layer 9 · compat: TensorFlow's moments, norms, normalisations, dropout and embedding look-ups."""

from __future__ import annotations

from typing import Any

import numpy as np

import wengert as wg
from wengert.compat.kit.namespaces import defined
from wengert.compat.tensorflow.functions import values as V
from wengert.compat.tensorflow.functions.drawing import stream_of
from wengert.compat.tensorflow.functions.indexing import gather
from wengert.compat.tensorflow.words import refusal


@V.operation("ClipByValue")
def clip_by_value(t, clip_value_min, clip_value_max, name=None) -> Any:
    """Clamp the elements to `clip_value_min` and `clip_value_max`.

    Parameters
    ----------
    t : Tensor. The input, of a real dtype.
    clip_value_min, clip_value_max : Tensor. The bounds, which broadcast to the shape of `t`.

    Returns
    -------
    Tensor: Differentiable; the gradient also passes at the bounds themselves.

    Raises
    ------
    InvalidArgumentError: If the shapes do not broadcast, or the dtypes differ.
    TypeError: If the dtype cannot represent a bound.

    Examples
    --------
    >>> print(tf.clip_by_value([1, 5, 9], 2, 6).numpy())
    [2 5 6]
    """
    x, low, high = V.aligned("Minimum", t, clip_value_min, clip_value_max)
    shape = tuple(x._payload.shape)
    for bound in (low, high):
        if np.broadcast_shapes(bound._payload.shape, shape) != shape:
            limits = V.shown(bound._payload.shape)
            raise V.invalid(f"Incompatible shapes: {V.shown(shape)} vs. {limits}")
    x = wg.where(wg.gt(x, high), high, x)
    return wg.where(wg.lt(x, low), low, x)


@V.operation("RealDiv", t=V.COMPLEX, clip_norm="t")
def clip_by_norm(t, clip_norm, axes=None, name=None) -> Any:
    """Scale a tensor down so that its Euclidean norm is at most `clip_norm`.

    Parameters
    ----------
    t : Tensor. The input, of a floating dtype.
    clip_norm : Tensor. The maximum norm; a negative one counts as 0.
    axes : int or sequence of int, optional. The dimensions along which norms are taken; all by
        default.

    %(returns_differentiable)s

    Examples
    --------
    >>> print(tf.clip_by_norm([3.0, 4.0], 1.0).numpy())
    [0.6 0.8]
    """
    limit = V.converted(wg.clamp(wg.real(clip_norm), min=0), t._payload.dtype)
    places = V.axes_of(axes, t._payload.ndim, "Sum")
    total = wg.sum(wg.mul(t, t), places, True) if places else wg.mul(t, t)
    some = wg.gt(total, 0)
    root = wg.where(some, wg.sqrt(wg.where(some, total, wg.ones_like(total))), total)
    return wg.div(wg.mul(t, limit), wg.where(wg.lt(root, limit), limit, root))


@V.operation("Sqrt")
def global_norm(t_list, name=None) -> Any:
    """Return the Euclidean norm of several tensors together; None is skipped.

    Raises
    ------
    TypeError: If `t_list` is not a sequence.

    Examples
    --------
    >>> print(tf.linalg.global_norm([[3.0], [4.0]]).numpy())
    5.0
    """
    parts = [part for part in _sequence(t_list) if part is not None]
    if not parts:
        return wg.as_tensor(np.float32(0))
    totals = []
    for part in V.aligned("AddN", *parts):
        V.check(part, V.COMPLEX, op="L2Loss")
        totals.append(wg.sum(wg.square(wg.abs(part))))
    return wg.sqrt(wg.stack(totals).sum())


def _sequence(t_list) -> list[Any]:
    if not isinstance(t_list, list | tuple):
        raise TypeError(f"`t_list` should be a sequence of tensors. Received {type(t_list)}.")
    return list(t_list)


@V.operation("Mul")
def clip_by_global_norm(t_list, clip_norm, use_norm=None, name=None) -> Any:
    """Scale several tensors down together so that their `global_norm` is at most `clip_norm`.

    Parameters
    ----------
    t_list : sequence of Tensor. The tensors, such as gradients; None stays None.
    clip_norm : Tensor. The maximum norm; a negative one counts as 0.
    use_norm : Tensor, optional. The global norm, if it has been computed.

    Returns
    -------
    list of Tensor: The scaled tensors; NaN if the norm is not finite.
    Tensor: The global norm before scaling.

    Raises
    ------
    TypeError: If `t_list` is not a sequence.

    Examples
    --------
    >>> parts, norm = tf.clip_by_global_norm([[3.0], [4.0]], 1.0)
    >>> print(parts[0].numpy(), parts[1].numpy(), norm.numpy())
    [0.6] [0.8] 5.0
    """
    parts = _sequence(t_list)
    length = V.tensor_of(global_norm(parts) if use_norm is None else use_norm)
    limit = V.tensor_of(clip_norm, dtype_hint=length._payload.dtype)
    factor = wg.mul(limit, wg.minimum(wg.reciprocal(length), wg.reciprocal(limit)))
    factor = wg.where(wg.isfinite(length), factor, wg.full_like(factor, np.nan))
    return [p if p is None else wg.mul(*V.aligned("Mul", p, factor)) for p in parts], length


@V.operation("Sqrt", tensor=V.ANY)
def norm(tensor, ord="euclidean", axis=None, keepdims=None, name=None) -> Any:
    """Return the norm of all elements, of vectors, or of matrices.

    Parameters
    ----------
    tensor : Tensor. The input, of a floating or complex dtype.
    ord : str or number. The order: ``"euclidean"``; ``"fro"`` (its equivalent for matrices); 1, 2,
        ``np.inf``; for vectors any positive number.
    axis : int or pair of int, optional. One dimension gives norms of vectors, two give norms of
        matrices; by default all elements are one vector.
    keepdims : bool, optional. Whether to keep reduced dimensions with size 1.

    Returns
    -------
    Tensor: Differentiable; the derivative of a Euclidean norm at 0 is 0 here.

    Raises
    ------
    ValueError: If the order is unknown, or there are more than two dimensions.

    Examples
    --------
    >>> print(tf.norm([[3.0, 4.0], [5.0, 12.0]], axis=1).numpy())
    [ 5. 13.]
    """
    matrices = isinstance(axis, list | tuple) and len(axis) == 2
    if isinstance(axis, list | tuple) and len(axis) not in (1, 2):
        raise refusal(ValueError, "'axis' must be", axis)
    euclidean = ord in ("euclidean", "fro") if matrices else ord in ("euclidean", 2)
    positive = isinstance(ord, int | float) and ord > 0
    if not euclidean and not (ord in (1, 2, np.inf) if matrices else positive):
        what = "matrix norm in ('euclidean', 'fro', 1, 2, inf)" if matrices else "vector norm"
        raise ValueError(f"'ord' must be a supported {what}, got {ord}")
    V.check(tensor, V.COMPLEX, op="Sqrt" if euclidean else "Abs")
    places = V.axes_of(axis, tensor._payload.ndim, "Sum") or None
    function: Any = wg.linalg.matrix_norm if matrices and not euclidean else wg.linalg.vector_norm
    result = function(tensor, 2 if euclidean else ord, places, bool(keepdims))
    # TensorFlow returns the Euclidean norm of complex numbers as a complex tensor
    return V.converted(result, tensor._payload.dtype) if euclidean else result


@V.operation("RealDiv", tensor=V.ANY)
def normalize(tensor, ord="euclidean", axis=None, name=None) -> tuple[Any, Any]:
    """Divide a tensor by its `norm`, and return the norm too; arguments as for `norm`.

    Examples
    --------
    >>> unit, length = tf.linalg.normalize([3.0, 4.0])
    >>> print(unit.numpy(), length.numpy())
    [0.6 0.8] [5.]
    """
    length = V.tensor_of(norm(tensor, ord, axis, keepdims=True))
    return wg.div(tensor, length), length


@V.operation("Square", x=V.COMPLEX)
def l2_normalize(x, axis=None, epsilon=1e-12, name=None, dim=None) -> Any:
    """Divide a tensor by its Euclidean norm, or by the root of `epsilon` if that is larger.

    Examples
    --------
    >>> print(tf.nn.l2_normalize([3.0, 4.0]).numpy())
    [0.6 0.8]
    """
    places = V.axes_of(dim if axis is None else axis, x._payload.ndim, "Sum")
    total = wg.sum(wg.square(wg.abs(x)), places, True)
    bounded = wg.where(wg.lt(total, epsilon), wg.full_like(total, epsilon), total)
    return wg.mul(x, wg.rsqrt(bounded))


@V.operation("BiasAdd", "value", "bias", value=V.NUMBERS)
def bias_add(value, bias, data_format=None, name=None) -> Any:
    """Add one number per channel to a tensor whose channels are last.

    Raises
    ------
    InvalidArgumentError: If the numbers of biases and channels differ.

    Examples
    --------
    >>> print(tf.nn.bias_add([[1.0, 2.0]], [10.0, 20.0]).numpy())
    [[11. 22.]]
    """
    channels_first = isinstance(data_format, str) and data_format.startswith("NC")
    place = 1 if channels_first else value._payload.ndim - 1
    if (
        bias._payload.ndim != 1
        or value._payload.ndim < 2
        or bias._payload.shape[0] != value._payload.shape[place]
    ):
        raise V.invalid(
            "Must provide as many biases as the last dimension of the input tensor: "
            f"{V.shown(bias._payload.shape)} vs. {V.shown(value._payload.shape)}"
        )
    return wg.add(value, wg.reshape(bias, (-1, *(1,) * (value._payload.ndim - place - 1))))


def _moments(x, axes, keepdims: bool) -> tuple[Any, Any]:
    places = V.axes_of(axes, x._payload.ndim, "Mean")
    if not places:
        return x, wg.square(wg.abs(wg.sub(x, x)))
    mean = wg.mean(x, places, True)
    # TensorFlow treats the mean as a constant here; the derivative is the same
    variance = wg.mean(wg.square(wg.abs(wg.sub(x, mean))), places, keepdims)
    return (mean if keepdims else wg.mean(x, places)), variance


@V.operation("Mean", x=V.FLOATING)
def moments(x, axes, shift=None, keepdims=False, name=None) -> Any:
    """Return the mean and the variance along dimensions.

    Parameters
    ----------
    x : Tensor. The input, of a floating dtype.
    axes : sequence of int. The dimensions to reduce.
    shift, name : optional. Accepted, and of no effect.
    keepdims : bool. Whether to keep reduced dimensions with size 1.

    Returns
    -------
    mean, variance : Tensor. Differentiable.

    Examples
    --------
    >>> mean, variance = tf.nn.moments(tf.constant([[1.0, 3.0]]), axes=[1])
    >>> print(mean.numpy(), variance.numpy())
    [2.] [1.]
    """
    return _moments(x, axes, bool(keepdims))


@V.operation("Mean", "x", "frequency_weights")
def weighted_moments(x, axes, frequency_weights, keepdims=False, name=None) -> Any:
    """Return the weighted mean and variance along dimensions.

    Examples
    --------
    >>> mean, variance = tf.nn.weighted_moments([1.0, 5.0], [0], [3.0, 1.0])
    >>> print(mean.numpy(), variance.numpy())
    2.0 3.0
    """
    places = V.axes_of(axes, x._payload.ndim, "Sum")
    w = wg.broadcast_to(frequency_weights, x._payload.shape)
    total = wg.sum(w, places, True)
    mean: Any = wg.div(wg.sum(wg.mul(w, x), places, True), total)
    spread = wg.div(wg.sum(wg.mul(w, wg.square(wg.sub(x, mean))), places, True), total)
    if keepdims:
        return mean, spread
    kept = tuple(n for i, n in enumerate(mean._payload.shape) if i not in places)
    return wg.reshape(mean, kept), wg.reshape(spread, kept)


@V.operation("Mul", "x", "mean", "variance")
def batch_normalization(
    x, mean, variance, offset, scale, variance_epsilon: float, name=None
) -> Any:
    """Return ``scale * (x - mean) / sqrt(variance + variance_epsilon) + offset``.

    Parameters
    ----------
    x, mean, variance : Tensor. The input and its moments, of one floating dtype; they broadcast.
    offset, scale : Tensor or None. The shift and the scale; None omits it.
    variance_epsilon : float. A small number that avoids division by 0.

    Returns
    -------
    Tensor: Differentiable in all arguments.

    Examples
    --------
    >>> print(tf.nn.batch_normalization([1.0, 3.0], 2.0, 1.0, None, None, 0.0).numpy())
    [-1.  1.]
    """
    factor = wg.rsqrt(wg.add(variance, variance_epsilon))
    if scale is not None:
        factor = wg.mul(factor, V.tensor_of(scale, dtype_hint=x._payload.dtype))
    result = wg.sub(wg.mul(x, factor), wg.mul(mean, factor))
    if offset is None:
        return result
    return wg.add(result, V.tensor_of(offset, dtype_hint=x._payload.dtype))


@V.operation("Mul", x=V.ANY)
def dropout(x, rate, noise_shape=None, seed=None, name=None) -> Any:
    """Set a fraction `rate` of the elements to 0, and divide the others by ``1 - rate``.

    Parameters
    ----------
    x : Tensor. The input, of a real floating dtype.
    rate : float. The fraction, in ``[0, 1)``.
    noise_shape : sequence of int, optional. The shape of the mask, which broadcasts; by default
        that of `x`.
    seed : int, optional. The operation seed; see `set_seed`.

    %(returns_differentiable)s

    Raises
    ------
    ValueError: If `rate` is out of range, or the dtype is not supported.

    Examples
    --------
    >>> print(tf.nn.dropout([1.0, 2.0], rate=0.0).numpy())
    [1. 2.]
    """
    share = float(V.numbers_of(rate))
    if not 0 <= share < 1:
        raise refusal(ValueError, "`rate` must be", rate)
    if not (V.is_floating(x) or V.is_complex(x)):
        raise refusal(ValueError, "`x.dtype` must be", V.type_of(x))
    if share == 0:
        return wg.clone(x)
    sizes = x._payload.shape
    if noise_shape is not None:
        pairs = zip(sizes, noise_shape, strict=True)
        sizes = [size if wanted is None else int(wanted) for size, wanted in pairs]
    kind = x._payload.dtype if V.is_floating(x) else np.dtype(np.float32)
    kept = stream_of(seed, "RandomUniform", kind).uniform_of(tuple(sizes), kind) >= share
    factor = wg.as_tensor((kept / (1 - share)).astype(x._payload.dtype))
    return wg.mul(x, factor)


def embedding_lookup(params, ids, max_norm: float | None = None, name=None) -> Any:
    """Look up rows of a matrix by index; scale them down to `max_norm` if it is given.

    The matrix may be in parts: a list of matrices, one below the other.

    Raises
    ------
    InvalidArgumentError: If an index is out of range.

    Examples
    --------
    >>> table = tf.constant([[1.0, 2.0], [3.0, 4.0]])
    >>> print(tf.nn.embedding_lookup(table, [1, 0, 1]).numpy())
    [[3. 4.]
     [1. 2.]
     [3. 4.]]
    """
    if isinstance(params, list | tuple) and np.ndim(params[0]) > 1:
        alone = len(params) == 1
        params = params[0] if alone else V.made(wg.cat(V.aligned("ConcatV2", *params)))
    rows = gather(params, ids)
    if max_norm is None:
        return rows
    first = V.numbers_of(ids).ndim
    return clip_by_norm(rows, max_norm, axes=list(range(first, rows._payload.ndim)))


@V.operation("LRN", input=V.FLOATING)
def local_response_normalization(
    input, depth_radius=5, bias: float = 1, alpha: float = 1, beta=0.5, name=None
) -> Any:
    """Divide elements by a power of the sum of squares over neighboring channels.

    Examples
    --------
    >>> print(tf.nn.local_response_normalization(tf.ones([1, 1, 1, 3])).numpy())
    [[[[0.5 0.5 0.5]]]]
    """
    if input._payload.ndim != 4:
        raise V.invalid("in must be 4-dimensional")
    depth = input._payload.shape[-1]
    place = np.arange(depth)
    near = np.abs(place[:, None] - place) <= depth_radius
    total = wg.matmul(wg.square(input), wg.as_tensor(near.astype(input._payload.dtype)))
    return wg.div(input, wg.pow(wg.add(wg.mul(total, alpha), bias), beta))


lrn = local_response_normalization


@V.operation("SpaceToDepth", input=V.ANY, block_size=int)
def space_to_depth(input, block_size, data_format="NHWC", name=None) -> Any:
    """Move blocks of pixels into the channels.

    Examples
    --------
    >>> tf.nn.space_to_depth(tf.ones([1, 4, 4, 1]), 2).shape
    TensorShape([1, 2, 2, 4])
    """
    (n, h, w, c), b = _image(input, data_format), block_size
    if b < 2 or h % b or w % b:
        raise V.invalid(f"Image width {w} and height {h} should be divisible by {b}, which is > 1")
    parts = wg.reshape(input, (n, h // b, b, w // b, b, c))
    return wg.reshape(wg.permute(parts, (0, 1, 3, 2, 4, 5)), (n, h // b, w // b, b * b * c))


@V.operation("DepthToSpace", input=V.ANY, block_size=int)
def depth_to_space(input, block_size, data_format="NHWC", name=None) -> Any:
    """Move channels into blocks of pixels.

    Examples
    --------
    >>> tf.nn.depth_to_space(tf.ones([1, 2, 2, 4]), 2).shape
    TensorShape([1, 4, 4, 1])
    """
    (n, h, w, c), b = _image(input, data_format), block_size
    if b < 2 or c % (b * b):
        raise V.invalid(f"Input depth dimension {c} should be divisible by: {b * b}")
    parts = wg.reshape(input, (n, h, w, b, b, c // (b * b)))
    return wg.reshape(wg.permute(parts, (0, 1, 3, 2, 4, 5)), (n, h * b, w * b, c // (b * b)))


def _image(x, data_format: str) -> tuple[int, int, int, int]:
    if data_format != "NHWC" or x._payload.ndim != 4:
        raise V.invalid("images of shape (batch, height, width, channels) are offered here")
    n, h, w, c = x._payload.shape
    return n, h, w, c


__all__ = defined(globals())
