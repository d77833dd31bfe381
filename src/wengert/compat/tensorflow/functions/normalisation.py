"""Layer 9 · compat: TensorFlow's moments, normalisations, dropout, and look-ups of rows."""

from __future__ import annotations

from typing import Any

import numpy as np

import wengert as wg
from wengert.base.sections import fill_sections
from wengert.compat.kit.namespaces import defined
from wengert.compat.tensorflow.functions import values as V
from wengert.compat.tensorflow.functions.indexing import gather
from wengert.compat.tensorflow.functions.norms import clip_by_norm
from wengert.compat.tensorflow.functions.streams import stream_of


@V.operation("BiasAdd")
def bias_add(value, bias, data_format=None, name=None) -> Any:
    """The tensor plus one number for each of its channels, which are its last dimension.

    Raises
    ------
    InvalidArgumentError: If there are not as many numbers as channels.

    Examples
    --------
    >>> print(tf.nn.bias_add([[1.0, 2.0]], [10.0, 20.0]).numpy())
    [[11. 22.]]
    """
    x, b = V.aligned("BiasAdd", value, bias)
    V.check("BiasAdd", x, V.NUMBERS)
    channels_first = isinstance(data_format, str) and data_format.startswith("NC")
    place = 1 if channels_first else x.payload.ndim - 1
    if b.payload.ndim != 1 or x.payload.ndim < 2 or b.payload.shape[0] != x.payload.shape[place]:
        raise V.invalid(
            "BiasAdd",
            "Must provide as many biases as the last dimension of the input tensor: "
            f"{V.shown(b.payload.shape)} vs. {V.shown(x.payload.shape)}",
        )
    return wg.add(x, wg.reshape(b, (-1, *(1,) * (x.payload.ndim - place - 1))))


def _moments(x, axes, keepdims: bool) -> tuple[Any, Any]:
    places = V.axes_of("Mean", axes, x.payload.ndim)
    mean = wg.mean(x, places, True)
    # TensorFlow takes the mean for a constant here; the derivative is the same
    variance = wg.mean(wg.square(wg.abs(wg.sub(x, mean))), places, keepdims)
    return (mean if keepdims else wg.mean(x, places)), variance


@V.operation("Mean")
def moments(x, axes, shift=None, keepdims: bool = False, name=None) -> Any:
    """The mean and the variance along dimensions.

    Parameters
    ----------
    x : Tensor. Of a floating dtype.
    axes : sequence of int. The dimensions.
    shift, name : optional. Accepted, and of no effect.
    keepdims : bool. Whether to leave dimensions of size 1.

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
    """The mean and the variance along dimensions, in which elements count as often as weights say.

    Examples
    --------
    >>> mean, variance = tf.nn.weighted_moments([1.0, 5.0], [0], [3.0, 1.0])
    >>> print(mean.numpy(), variance.numpy())
    2.0 3.0
    """
    x, w = V.aligned("Mul", x, frequency_weights)
    places = V.axes_of("Sum", axes, x.payload.ndim)
    w = wg.broadcast_to(w, x.payload.shape)
    total = wg.sum(w, places, True)
    mean: Any = wg.div(wg.sum(wg.mul(w, x), places, True), total)
    spread = wg.div(wg.sum(wg.mul(w, wg.square(wg.sub(x, mean))), places, True), total)
    if keepdims:
        return mean, spread
    kept = tuple(n for i, n in enumerate(mean.payload.shape) if i not in places)
    return wg.reshape(mean, kept), wg.reshape(spread, kept)


@V.operation("Mul")
def batch_normalization(
    x, mean, variance, offset, scale, variance_epsilon: float, name=None
) -> Any:
    """``scale * (x - mean) / sqrt(variance + variance_epsilon) + offset``.

    Parameters
    ----------
    x, mean, variance : Tensor. Of one floating dtype, and of shapes that broadcast.
    offset, scale : Tensor or None. None is left out.
    variance_epsilon : float. So that nothing is divided by 0.

    Returns
    -------
    Tensor: Differentiable in all of them.

    Examples
    --------
    >>> print(tf.nn.batch_normalization([1.0, 3.0], 2.0, 1.0, None, None, 0.0).numpy())
    [-1.  1.]
    """
    x, mean, variance = V.aligned("Mul", x, mean, variance)
    factor = wg.rsqrt(wg.add(variance, variance_epsilon))
    if scale is not None:
        factor = wg.mul(factor, V.tensor_of(scale, dtype_hint=x.payload.dtype))
    result = wg.sub(wg.mul(x, factor), wg.mul(mean, factor))
    return (
        result
        if offset is None
        else wg.add(result, V.tensor_of(offset, dtype_hint=x.payload.dtype))
    )


@V.operation("Mul")
def dropout(x, rate, noise_shape=None, seed=None, name=None) -> Any:
    """The elements divided by ``1 - rate``, a share `rate` of them replaced by 0.

    Parameters
    ----------
    x : Tensor. Of a real floating dtype.
    rate : float. From 0 to 1, without 1.
    noise_shape : sequence of int, optional. The shape of the choice, which is broadcast; that of
        `x` by default.
    seed : int, optional. See `set_seed`.

    Returns
    -------
    Tensor: Differentiable.

    Raises
    ------
    ValueError: If `rate` is out of range, or the dtype is another one.

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
    sizes = x.payload.shape
    if noise_shape is not None:
        sizes = [
            size if wanted is None else int(wanted)
            for size, wanted in zip(sizes, noise_shape, strict=True)
        ]
    kept = stream_of(seed).random(tuple(sizes), np.float32) >= share
    factor = wg.as_tensor((kept / (1 - share)).astype(x.payload.dtype))
    return wg.mul(x, factor)


def embedding_lookup(params, ids, max_norm: float | None = None, name=None) -> Any:
    """The rows of a matrix that numbers name; scaled down to `max_norm`, if that is given.

    Raises
    ------
    InvalidArgumentError: If there is no such row.

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
    return clip_by_norm(rows, max_norm, axes=list(range(first, rows.payload.ndim)))


@V.operation("LRN")
def local_response_normalization(
    input, depth_radius: int = 5, bias: float = 1, alpha: float = 1, beta: float = 0.5, name=None
) -> Any:
    """The elements divided by a power of the sum of the squares in the channels around each.

    Examples
    --------
    >>> print(tf.nn.local_response_normalization(tf.ones([1, 1, 1, 3])).numpy())
    [[[[0.5 0.5 0.5]]]]
    """
    x = V.tensor_of(input)
    V.check("LRN", x, V.FLOATING)
    if x.payload.ndim != 4:
        raise V.invalid("LRN", "in must be 4-dimensional")
    depth = x.payload.shape[-1]
    place = np.arange(depth)
    near = np.abs(place[:, None] - place) <= depth_radius
    total = wg.matmul(wg.square(x), wg.as_tensor(near.astype(x.payload.dtype)))
    return wg.div(x, wg.pow(wg.add(wg.mul(total, alpha), bias), beta))


lrn = local_response_normalization


@V.operation("SpaceToDepth")
def space_to_depth(input, block_size, data_format: str = "NHWC", name=None) -> Any:
    """Blocks of images, each put into the channels of one place.

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
    """The channels of each place, put into a block of images.

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
    if data_format != "NHWC" or x.payload.ndim != 4:
        raise V.invalid(op, "images of shape (batch, height, width, channels) are offered here")
    n, h, w, c = x.payload.shape
    return n, h, w, c


__all__ = defined(globals())
fill_sections(globals())
