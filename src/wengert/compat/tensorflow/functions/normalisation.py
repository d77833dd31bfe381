"""Layer 9 · compat: TensorFlow's moments, norms, normalisations, dropout and embedding look-ups."""

from __future__ import annotations

from typing import Any

import numpy as np

import wengert as wg
from wengert.compat.kit.namespaces import completed
from wengert.compat.tensorflow.functions import values as V
from wengert.compat.tensorflow.functions.drawing import stream_of
from wengert.compat.tensorflow.functions.indexing import gather


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
    for bound in (low, high):
        if np.broadcast_shapes(bound._payload.shape, x._payload.shape) != tuple(x._payload.shape):
            raise V.invalid(
                "ClipByValue",
                f"Incompatible shapes: {V.shown(x._payload.shape)} vs. "
                f"{V.shown(bound._payload.shape)}",
            )
    x = wg.where(wg.gt(x, high), high, x)
    return wg.where(wg.lt(x, low), low, x)


@V.operation("RealDiv")
def clip_by_norm(t, clip_norm, axes=None, name=None) -> Any:
    """Scale a tensor down so that its Euclidean norm is at most `clip_norm`.

    Parameters
    ----------
    t : Tensor. The input, of a floating dtype.
    clip_norm : Tensor. The maximum norm, a positive number.
    axes : int or sequence of int, optional. The dimensions along which norms are taken; all by
        default.

    Returns
    -------
    Tensor: Differentiable.

    Examples
    --------
    >>> print(tf.clip_by_norm([3.0, 4.0], 1.0).numpy())
    [0.6 0.8]
    """
    x = V.tensor_of(t)
    limit = V.tensor_of(clip_norm, dtype_hint=x._payload.dtype)
    x, limit = V.aligned("Mul", x, limit)
    V.check("Sqrt", x, V.COMPLEX)
    places = V.axes_of("Sum", axes, x._payload.ndim)
    total = wg.sum(wg.mul(x, x), places, True) if places else wg.mul(x, x)
    some = wg.gt(total, 0)
    root = wg.where(some, wg.sqrt(wg.where(some, total, wg.ones_like(total))), total)
    return wg.div(wg.mul(x, limit), wg.where(wg.ge(root, limit), root, limit))


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
        V.check("L2Loss", part, V.COMPLEX)
        totals.append(wg.sum(wg.square(wg.abs(part))))
    return wg.sqrt(wg.stack(totals).sum())


def _sequence(t_list) -> list[Any]:
    if not isinstance(t_list, list | tuple):
        raise TypeError(f"`t_list` should be a sequence of tensors. Received {type(t_list)}.")
    return list(t_list)


def clip_by_global_norm(t_list, clip_norm, use_norm=None, name=None) -> Any:
    """Scale several tensors down together so that their `global_norm` is at most `clip_norm`.

    Parameters
    ----------
    t_list : sequence of Tensor. The tensors, such as gradients; None stays None.
    clip_norm : Tensor. The maximum norm, a positive number.
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

    def scale() -> Any:
        inverse = wg.minimum(wg.reciprocal(length), wg.reciprocal(limit))
        factor = wg.mul(limit, inverse)
        return wg.where(wg.isfinite(length), factor, wg.full_like(factor, np.nan))

    factor = V.computed("Mul", scale)
    scaled = [
        None if part is None else V.computed("Mul", wg.mul, *V.aligned("Mul", part, factor))
        for part in parts
    ]
    return scaled, V.made(length)


@V.operation("Sqrt")
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
    if isinstance(axis, list | tuple) and not matrices:
        if len(axis) != 1:
            raise ValueError(
                f"'axis' must be None, an integer, or a tuple of 2 unique integers, got {axis!r}"
            )
        axis = axis[0]
    known = ("euclidean", "fro", 1, 2, np.inf) if matrices else ("euclidean", 1, 2, np.inf)
    positive = isinstance(ord, int | float) and ord > 0
    if ord not in known and not (positive and not matrices):
        what = "matrix" if matrices else "vector"
        hint = f"{known}" if matrices else ""
        raise ValueError(
            f"'ord' must be a supported {what} norm{' in ' + hint if hint else ''}, got {ord}"
        )
    x = V.tensor_of(tensor)
    V.check("Sqrt" if ord in ("euclidean", "fro", 2) else "Abs", x, V.COMPLEX)
    keep = bool(keepdims)
    power = 2 if ord in ("euclidean", "fro") else ord
    if not matrices:
        places = V.axes_of("Sum", axis, x._payload.ndim)
        return _typed(wg.linalg.vector_norm(x, power, places or None, keep), x)
    pair = V.axes_of("Sum", axis, x._payload.ndim)
    if ord in ("euclidean", "fro"):
        return _typed(wg.linalg.vector_norm(x, 2, pair, keep), x)
    return _typed(wg.linalg.matrix_norm(x, power, pair, keep), x)


def _typed(result, x) -> Any:
    # TensorFlow returns the norm of complex numbers as a complex tensor
    return V.converted(result, x._payload.dtype) if V.is_complex(x) else result


def normalize(tensor, ord="euclidean", axis=None, name=None) -> tuple[Any, Any]:
    """Divide a tensor by its `norm`, and return the norm too; takes the arguments of `norm`.

    Examples
    --------
    >>> unit, length = tf.linalg.normalize([3.0, 4.0])
    >>> print(unit.numpy(), length.numpy())
    [0.6 0.8] [5.]
    """
    x = V.tensor_of(tensor)
    length = norm(x, ord, axis, keepdims=True)
    return V.computed("RealDiv", wg.div, x, length), length


@V.operation("Mul")
def l2_normalize(x, axis=None, epsilon: float = 1e-12, name=None, dim=None) -> Any:
    """Divide a tensor by its Euclidean norm, or by the root of `epsilon` if that is larger.

    Examples
    --------
    >>> print(tf.nn.l2_normalize([3.0, 4.0]).numpy())
    [0.6 0.8]
    """
    x = V.tensor_of(x)
    V.check("Square", x, V.COMPLEX)
    chosen = dim if axis is None else axis
    places = V.axes_of(
        "Sum", None if chosen is None else V.integers(chosen, "axis"), x._payload.ndim
    )
    total = wg.sum(wg.square(wg.abs(x)), places, True)
    bounded = wg.where(wg.lt(total, epsilon), wg.full_like(total, epsilon), total)
    return wg.mul(x, wg.rsqrt(bounded))


@V.operation("BiasAdd")
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
    x, b = V.aligned("BiasAdd", value, bias)
    V.check("BiasAdd", x, V.NUMBERS)
    channels_first = isinstance(data_format, str) and data_format.startswith("NC")
    place = 1 if channels_first else x._payload.ndim - 1
    if (
        b._payload.ndim != 1
        or x._payload.ndim < 2
        or b._payload.shape[0] != x._payload.shape[place]
    ):
        raise V.invalid(
            "BiasAdd",
            "Must provide as many biases as the last dimension of the input tensor: "
            f"{V.shown(b._payload.shape)} vs. {V.shown(x._payload.shape)}",
        )
    return wg.add(x, wg.reshape(b, (-1, *(1,) * (x._payload.ndim - place - 1))))


def _moments(x, axes, keepdims: bool) -> tuple[Any, Any]:
    places = V.axes_of("Mean", axes, x._payload.ndim)
    if not places:
        return x, wg.square(wg.abs(wg.sub(x, x)))
    mean = wg.mean(x, places, True)
    # TensorFlow treats the mean as a constant here; the derivative is the same
    variance = wg.mean(wg.square(wg.abs(wg.sub(x, mean))), places, keepdims)
    return (mean if keepdims else wg.mean(x, places)), variance


@V.operation("Mean")
def moments(x, axes, shift=None, keepdims: bool = False, name=None) -> Any:
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
    x = V.tensor_of(x)
    V.check("Mean", x, V.FLOATING)
    return _moments(x, axes, bool(keepdims))


@V.operation("Mean")
def weighted_moments(x, axes, frequency_weights, keepdims: bool = False, name=None) -> Any:
    """Return the weighted mean and variance along dimensions.

    Examples
    --------
    >>> mean, variance = tf.nn.weighted_moments([1.0, 5.0], [0], [3.0, 1.0])
    >>> print(mean.numpy(), variance.numpy())
    2.0 3.0
    """
    x, w = V.aligned("Mul", x, frequency_weights)
    places = V.axes_of("Sum", axes, x._payload.ndim)
    w = wg.broadcast_to(w, x._payload.shape)
    total = wg.sum(w, places, True)
    mean: Any = wg.div(wg.sum(wg.mul(w, x), places, True), total)
    spread = wg.div(wg.sum(wg.mul(w, wg.square(wg.sub(x, mean))), places, True), total)
    if keepdims:
        return mean, spread
    kept = tuple(n for i, n in enumerate(mean._payload.shape) if i not in places)
    return wg.reshape(mean, kept), wg.reshape(spread, kept)


@V.operation("Mul")
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
    x, mean, variance = V.aligned("Mul", x, mean, variance)
    factor = wg.rsqrt(wg.add(variance, variance_epsilon))
    if scale is not None:
        factor = wg.mul(factor, V.tensor_of(scale, dtype_hint=x._payload.dtype))
    result = wg.sub(wg.mul(x, factor), wg.mul(mean, factor))
    return (
        result
        if offset is None
        else wg.add(result, V.tensor_of(offset, dtype_hint=x._payload.dtype))
    )


@V.operation("Mul")
def dropout(x, rate, noise_shape=None, seed=None, name=None) -> Any:
    """Set a fraction `rate` of the elements to 0, and divide the others by ``1 - rate``.

    Parameters
    ----------
    x : Tensor. The input, of a real floating dtype.
    rate : float. The fraction, in ``[0, 1)``.
    noise_shape : sequence of int, optional. The shape of the mask, which broadcasts; by default
        that of `x`.
    seed : int, optional. The operation seed; see `set_seed`.

    Returns
    -------
    Tensor: Differentiable.

    Raises
    ------
    ValueError: If `rate` is out of range, or the dtype is not supported.

    Examples
    --------
    >>> print(tf.nn.dropout([1.0, 2.0], rate=0.0).numpy())
    [1. 2.]
    """
    x = V.tensor_of(x)
    share = float(V.numbers_of(rate))
    if not 0 <= share < 1:
        raise ValueError(
            f"`rate` must be a scalar tensor or a float in the range [0, 1). Received: rate={rate}"
        )
    if not (V.is_floating(x) or V.is_complex(x)):
        raise ValueError(
            "`x.dtype` must be a floating point tensor as `x` will be scaled. Received: "
            f"x_dtype={V.type_of(x)}"
        )
    if share == 0:
        return wg.clone(x)
    sizes = x._payload.shape
    if noise_shape is not None:
        sizes = [
            size if wanted is None else int(wanted)
            for size, wanted in zip(sizes, noise_shape, strict=True)
        ]
    kind = x._payload.dtype if V.is_floating(x) else np.dtype(np.float32)
    kept = stream_of(seed, "RandomUniform", kind).uniform_of(tuple(sizes), kind) >= share
    factor = wg.as_tensor((kept / (1 - share)).astype(x._payload.dtype))
    return wg.mul(x, factor)


def embedding_lookup(params, ids, max_norm: float | None = None, name=None) -> Any:
    """Look up rows of a matrix by index; scale them down to `max_norm` if it is given.

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
    rows = gather(params, ids)
    if max_norm is None:
        return rows
    first = V.numbers_of(ids).ndim
    return clip_by_norm(rows, max_norm, axes=list(range(first, rows._payload.ndim)))


@V.operation("LRN")
def local_response_normalization(
    input, depth_radius: int = 5, bias: float = 1, alpha: float = 1, beta: float = 0.5, name=None
) -> Any:
    """Divide elements by a power of the sum of squares over neighboring channels.

    Examples
    --------
    >>> print(tf.nn.local_response_normalization(tf.ones([1, 1, 1, 3])).numpy())
    [[[[0.5 0.5 0.5]]]]
    """
    x = V.tensor_of(input)
    V.check("LRN", x, V.FLOATING)
    if x._payload.ndim != 4:
        raise V.invalid("LRN", "in must be 4-dimensional")
    depth = x._payload.shape[-1]
    place = np.arange(depth)
    near = np.abs(place[:, None] - place) <= depth_radius
    total = wg.matmul(wg.square(x), wg.as_tensor(near.astype(x._payload.dtype)))
    return wg.div(x, wg.pow(wg.add(wg.mul(total, alpha), bias), beta))


lrn = local_response_normalization


@V.operation("SpaceToDepth")
def space_to_depth(input, block_size, data_format: str = "NHWC", name=None) -> Any:
    """Move blocks of pixels into the channels.

    Examples
    --------
    >>> tf.nn.space_to_depth(tf.ones([1, 4, 4, 1]), 2).shape
    TensorShape([1, 2, 2, 4])
    """
    x = V.tensor_of(input)
    (b,) = V.integers(block_size, "block_size")
    n, h, w, c = _image("SpaceToDepth", x, data_format)
    if h % b or w % b:
        raise V.invalid(
            "SpaceToDepth", f"Image width {w} and height {h} should be divisible by {b}"
        )
    parts = wg.reshape(x, (n, h // b, b, w // b, b, c))
    return wg.reshape(wg.permute(parts, (0, 1, 3, 2, 4, 5)), (n, h // b, w // b, b * b * c))


@V.operation("DepthToSpace")
def depth_to_space(input, block_size, data_format: str = "NHWC", name=None) -> Any:
    """Move channels into blocks of pixels.

    Examples
    --------
    >>> tf.nn.depth_to_space(tf.ones([1, 2, 2, 4]), 2).shape
    TensorShape([1, 4, 4, 1])
    """
    x = V.tensor_of(input)
    (b,) = V.integers(block_size, "block_size")
    n, h, w, c = _image("DepthToSpace", x, data_format)
    if c % (b * b):
        raise V.invalid(
            "DepthToSpace", f"Input depth dimension {c} should be divisible by: {b * b}"
        )
    parts = wg.reshape(x, (n, h, w, b, b, c // (b * b)))
    return wg.reshape(wg.permute(parts, (0, 1, 3, 2, 4, 5)), (n, h * b, w * b, c // (b * b)))


def _image(op: str, x, data_format: str) -> tuple[int, int, int, int]:
    if data_format != "NHWC" or x._payload.ndim != 4:
        raise V.invalid(op, "images of shape (batch, height, width, channels) are offered here")
    n, h, w, c = x._payload.shape
    return n, h, w, c


__all__ = completed(globals())
