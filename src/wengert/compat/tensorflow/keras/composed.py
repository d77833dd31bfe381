"""Layer 9 · compat: Keras's operations that are a few of TensorFlow's (NOTE [Keras's operations]).

Arguments have the order of Keras's functions; `tf.keras.ops` has their names and defaults.
"""

from __future__ import annotations

import math as _math
from typing import Any

import numpy as np

import wengert as wg
import wengert.numpy as wnp
from wengert.compat.tensorflow import linalg, math, nest, nn
from wengert.compat.tensorflow import operations as tf
from wengert.compat.tensorflow import signal as _signal
from wengert.compat.tensorflow.accumulator import ForwardAccumulator
from wengert.compat.tensorflow.conversion import convert_to_tensor
from wengert.compat.tensorflow.functions.values import computed, numbers_of, tensor_of
from wengert.compat.tensorflow.keras.globals import epsilon as usual_epsilon
from wengert.compat.tensorflow.keras.globals import floatx

_F = wg.nn.functional
signal: Any = _signal


# -- convolutions and pooling ----------------------------------------------------------------------


def layout(x, data_format) -> str:
    """Return TensorFlow's name of a format of the data: ``NHWC`` or ``NCHW``, and so on."""
    places = "DHW"[-(len(x.shape) - 2) :] if len(x.shape) != 3 else "W"
    return f"NC{places}" if data_format == "channels_first" else f"N{places}C"


def conv(x, kernel, strides, padding, data_format, dilation_rate) -> Any:
    """Return `tf.nn.convolution`."""
    form = layout(x, data_format)
    return nn.convolution(x, kernel, strides, padding.upper(), form, dilation_rate)


def depthwise_conv(x, kernel, strides, padding, data_format, dilation_rate) -> Any:
    """Convolve each channel with filters of its own."""
    rank = len(x.shape) - 2
    if rank == 2:
        form = layout(x, data_format)
        return nn.depthwise_conv2d(x, kernel, strides, padding.upper(), form, dilation_rate)
    wide = tuple(kernel.shape)
    flat = tf.reshape(kernel, (*wide[:rank], 1, wide[-2] * wide[-1]))
    return conv(x, flat, strides, padding, data_format, dilation_rate)


def separable_conv(x, kernel, pointwise, strides, padding, data_format, dilation_rate) -> Any:
    """Convolve each channel with filters of its own, then all channels of each position."""
    inner = depthwise_conv(x, kernel, strides, padding, data_format, dilation_rate)
    return conv(inner, pointwise, 1, "valid", data_format, 1)


def conv_transpose(x, kernel, strides, padding, output_padding, data_format, dilation_rate) -> Any:
    """Map cotangents of a convolution to those of its input."""
    rank = len(x.shape) - 2
    first = data_format == "channels_first"
    steps, spread, more = (
        np.broadcast_to(0 if n is None else n, rank).tolist()
        for n in (strides, dilation_rate, output_padding)
    )
    sizes, kernel = tuple(x.shape)[2:] if first else tuple(x.shape)[1:-1], tensor_of(kernel)
    extents = [(k - 1) * d + 1 for k, d in zip(kernel.shape, spread, strict=False)]
    wide = [
        transposed_size(n, k, s, padding == "same", None if output_padding is None else o)
        for n, k, s, o in zip(sizes, extents, steps, more, strict=True)
    ]
    filters = int(kernel.shape[-2])
    shape = [x.shape[0], filters, *wide] if first else [x.shape[0], *wide, filters]
    transposed = getattr(nn, f"conv{rank}d_transpose")
    return transposed(x, kernel, shape, steps, padding.upper(), layout(x, data_format), spread)


def transposed_size(size: int, extent: int, step: int, same: bool, output_padding) -> int:
    """Return the size of the result of a transposed convolution, in one dimension."""
    if output_padding is None:
        return size * step if same else size * step + max(extent - step, 0)
    return (size - 1) * step + extent - (2 * (extent // 2) if same else 0) + int(output_padding)


def _pool(kind: str) -> Any:
    def pool(x, pool_size, strides, padding, data_format) -> Any:
        """Pool windows of all spatial dimensions (see `tf.nn.pool`)."""
        steps = pool_size if strides is None else strides
        return nn.pool(x, pool_size, kind, steps, padding.upper(), layout(x, data_format))

    return pool


average_pool, max_pool = _pool("AVG"), _pool("MAX")


def _adaptive(kind: str) -> Any:
    def pool(x, output_size, data_format) -> Any:
        """Pool as many windows as the result has positions."""
        x = convert_to_tensor(x)
        rank = len(x.shape) - 2
        pooled = getattr(_F, f"adaptive_{kind}_pool{rank}d")
        size = np.broadcast_to(output_size, rank).tolist()
        if data_format == "channels_first":
            return computed("AvgPool", pooled, tensor_of(x), size)

        def last(x) -> Any:
            return wg.movedim(pooled(wg.movedim(x, -1, 1), size), 1, -1)

        return computed("AvgPool", last, tensor_of(x))

    return pool


adaptive_average_pool, adaptive_max_pool = _adaptive("avg"), _adaptive("max")


def unfold(x, kernel_size, dilation, padding, stride) -> Any:
    """Return the windows of images whose channels come first, as columns."""
    return computed(
        "ExtractPatches", _F.unfold, tensor_of(x), kernel_size, dilation, padding, stride
    )


def fold(x, output_size, kernel_size, dilation, padding, stride) -> Any:
    """Add columns up to images, as windows of them."""
    sizes = (output_size, kernel_size, dilation, padding, stride)
    return computed("Add", _F.fold, tensor_of(x), *sizes)


# -- networks --------------------------------------------------------------------------------------


def _over(x, axis, value) -> Any:
    """Return a weight of some dimensions of `x` in the rank of `x`."""
    axes = [one % len(x.shape) for one in np.atleast_1d(axis)]
    shape = [n if i in axes else 1 for i, n in enumerate(tuple(x.shape))]
    return tf.reshape(tf.cast(value, x.dtype), shape)


def batch_normalization(x, mean, variance, axis, offset, scale, epsilon) -> Any:
    """Subtract a mean and divide by a standard deviation, given for each position of `axis`."""
    x = convert_to_tensor(x)
    mean, variance, offset, scale = (
        None if one is None else _over(x, axis, one) for one in (mean, variance, offset, scale)
    )
    return nn.batch_normalization(x, mean, variance, offset, scale, epsilon)


def depth_to_space(x, block_size, data_format) -> Any:
    """Return blocks of positions for the channels."""
    return nn.depth_to_space(x, block_size, layout(x, data_format))


def space_to_depth(x, block_size, data_format) -> Any:
    """Return channels for blocks of positions."""
    return nn.space_to_depth(x, block_size, layout(x, data_format))


def layer_normalization(x, gamma, beta, axis, epsilon) -> Any:
    """Subtract the mean and divide by the standard deviation over dimensions."""
    x = convert_to_tensor(x)
    mean, variance = nn.moments(x, np.atleast_1d(axis).tolist(), keepdims=True)
    shift, scale = (None if one is None else _over(x, axis, one) for one in (beta, gamma))
    least = usual_epsilon() if epsilon is None else epsilon
    return nn.batch_normalization(x, mean, variance, shift, scale, least)


def rms_normalization(x, scale, axis, epsilon) -> Any:
    """Divide by the root of the mean square over dimensions."""
    x = convert_to_tensor(x)
    least = usual_epsilon() if epsilon is None else epsilon
    size = tf.reduce_mean(tf.square(x), np.atleast_1d(axis).tolist(), keepdims=True)
    plain = x * math.rsqrt(size + least)
    return plain if scale is None else plain * _over(x, axis, scale)


def normalize(x, axis, order, epsilon) -> Any:
    """Divide by the norm along a dimension."""
    x = convert_to_tensor(x)
    least = usual_epsilon() if epsilon is None else epsilon
    if order == 2:
        return nn.l2_normalize(x, axis, least**2)
    return x / tf.maximum(tf.norm(x, order, axis, keepdims=True), least)


def multi_hot(x, num_classes, axis, dtype, sparse) -> Any:
    """Return 1 for each class that occurs in a row, else 0."""
    x = convert_to_tensor(x)
    rows = tf.one_hot(tf.cast(x, "int32"), num_classes, axis=axis, dtype=dtype or floatx())
    return tf.reduce_max(rows, 1 if len(x.shape) > 1 else 0)


def dot_product_attention(query, key, value, bias, mask, scale, is_causal, flash, soft_cap) -> Any:
    """Return means of values, weighted by the products of queries and keys of each head."""
    query, key, value = map(convert_to_tensor, (query, key, value))
    many = query.shape[2] // key.shape[2]
    if many > 1 and key.shape[2] > 1:
        key, value = (tf.repeat(one, many, 2) for one in (key, value))
    factor = 1.0 / _math.sqrt(key.shape[-1]) if scale is None else scale
    scores = tf.einsum("btnh,bsnh->bnts", query, key) * factor
    if bias is not None:
        scores = scores + bias
    kept = None if mask is None else tf.cast(mask, "bool")
    if is_causal:
        earlier = np.tril(np.ones(tuple(scores.shape)[2:], bool))[None, None]
        kept = earlier if kept is None else tf.logical_and(kept, earlier)
    if kept is not None:
        least = -45850.0 if scores.dtype == "float16" else -0.7 * 3.38953e38
        scores = tf.where(kept, scores, convert_to_tensor(least, scores.dtype))
    return tf.einsum("bnts,bsnh->btnh", nn.softmax(scores), value)


def ctc_loss(target, output, target_length, output_length, mask_index) -> Any:
    """Return the loss of alignments of sequences."""
    return nn.ctc_loss(
        tf.cast(target, "int32"), output, target_length, output_length, False,
        blank_index=mask_index,
    )  # fmt: skip


def ctc_decode(x, lengths, strategy, beam_width, top_paths, merge_repeated, mask_index) -> Any:
    """Return the labels of the best class of each step, then -1, and the negated scores."""
    if strategy != "greedy":
        raise NotImplementedError(f"ctc_decode: strategy is 'greedy' here, not {strategy!r}")
    x = convert_to_tensor(x)
    within = np.arange(x.shape[1]) < numbers_of(lengths)[:, None]
    best = numbers_of(tf.argmax(x, -1, "int32"))
    kept = within & (best != mask_index % x.shape[2])
    if merge_repeated:
        kept[:, 1:] &= best[:, 1:] != best[:, :-1]
    first = np.argsort(~kept, 1, "stable")
    labels = np.take_along_axis(np.where(kept, best, -1), first, 1)
    scores = tf.reduce_max(x, -1) * tf.cast(within, x.dtype)
    return convert_to_tensor(labels[None]), -tf.reduce_sum(scores, 1, keepdims=True)


def psnr(x1, x2, max_val) -> Any:
    """Return the peak signal-to-noise ratio in decibel."""
    x1, x2 = map(convert_to_tensor, (x1, x2))
    decibel = 10 / _math.log(10)
    return decibel * (2 * _math.log(max_val) - math.log(tf.reduce_mean(tf.square(x1 - x2))))


# -- arrays ----------------------------------------------------------------------------------------


def cdist(x, y) -> Any:
    """Return the distances of all pairs of rows."""
    x, y = convert_to_tensor(x), convert_to_tensor(y)
    return tf.norm(tf.expand_dims(x, -2) - tf.expand_dims(y, -3), axis=-1)


def unique(x, ordered, return_index, return_inverse, return_counts, axis, size, fill_value) -> Any:
    """Return the distinct elements in increasing order, and positions and counts if asked for."""
    array = numbers_of(x)
    asked = [return_index, return_inverse, return_counts]
    found = np.unique(array, True, True, True, axis)
    values, rest = found[0], [n for n, given in zip(found[1:], asked, strict=True) if given]
    if size is not None:
        many = [(0, 0)] * values.ndim
        many[axis or 0] = (0, max(size - values.shape[axis or 0], 0))
        wide = np.pad(values, many, constant_values=fill_value or 0)
        values = np.take(wide, range(size), axis or 0)
    results = [convert_to_tensor(values), *(convert_to_tensor(n.astype(np.int32)) for n in rest)]
    return tuple(results) if rest else results[0]


def slice_update(inputs, start_indices, updates) -> Any:
    """Return `inputs` with a block replaced."""
    updates = convert_to_tensor(updates)
    starts = [int(n) for n in np.ravel(numbers_of(start_indices))]
    ranges = [np.arange(n) + start for n, start in zip(updates.shape, starts, strict=True)]
    places = np.stack(np.meshgrid(*ranges, indexing="ij"), -1).astype(np.int32)
    return tf.tensor_scatter_nd_update(inputs, places, updates)


def get_item(x, key) -> Any:
    """Return ``x[key]``."""
    return convert_to_tensor(x)[key]


def select(condlist, choicelist, default) -> Any:
    """Select from the first choice whose condition holds."""
    result = convert_to_tensor(default)
    for condition, choice in zip(condlist[::-1], choicelist[::-1], strict=True):
        choice = convert_to_tensor(choice)
        result = tf.where(condition, choice, tf.cast(result, choice.dtype))
    return result


def associative_scan(f, elems, reverse, axis) -> Any:
    """Return the running results of a function of two elements."""
    rows = list(zip(*(tf.unstack(x, axis=axis) for x in nest.flatten(elems)), strict=True))
    rows = rows[::-1] if reverse else rows
    results = [nest.pack_sequence_as(elems, rows[0])]
    for row in rows[1:]:
        results.append(f(results[-1], nest.pack_sequence_as(elems, row)))
    results = results[::-1] if reverse else results
    return nest.map_structure(lambda *parts: tf.stack(parts, axis), *results)


def jvp(fun, primals, tangents, has_aux) -> Any:
    """Return the result of a function and its derivative in a direction."""
    primals = [convert_to_tensor(x) for x in primals]
    tangents = [convert_to_tensor(x) for x in tangents]
    with ForwardAccumulator(primals, tangents) as accumulator:
        result = fun(*primals)
    result, *aux = result if has_aux else (result,)
    return result, nest.map_structure(accumulator.jvp, result), *aux


def _window(name: str) -> Any:
    def window(x, *rest) -> Any:
        """Return a window of this length."""
        return tf.cast(getattr(wnp, name)(int(x), *map(float, rest)).numpy(), floatx())

    return window


bartlett, blackman, hamming, hanning, kaiser = map(
    _window, ("bartlett", "blackman", "hamming", "hanning", "kaiser")
)


def _fourier(function: Any) -> Any:
    def transformed(x) -> Any:
        """Return the real and the imaginary part of a transform of both parts."""
        found = function(tf.complex(*map(convert_to_tensor, x)))
        return math.real(found), math.imag(found)

    return transformed


fft, fft2, ifft2 = map(_fourier, (signal.fft, signal.fft2d, signal.ifft2d))


def rfft(x, fft_length) -> Any:
    """Return the real and the imaginary part of the transform of real numbers."""
    found = signal.rfft(x, None if fft_length is None else [fft_length])
    return math.real(found), math.imag(found)


def irfft(x, fft_length) -> Any:
    """Return the real numbers whose `rfft` is `x`."""
    both = tf.complex(*map(convert_to_tensor, x))
    return signal.irfft(both, None if fft_length is None else [fft_length])


def _framed(function: Any, x, window, fft_length, stride, frame, **given: Any) -> Any:
    """Call PyTorch's transform, which has frames in the last dimension, and one of batches."""
    if window is None or isinstance(window, str):
        if window not in (None, "hann", "hamming"):
            raise ValueError(f"window is 'hann', 'hamming', None or an array, not {window!r}")
        made: Any = wg.ones if window is None else getattr(wg, f"{window}_window")
        window = made(frame, dtype=x.dtype.to_real())
    inner = x.ndim - (2 if x.is_complex() else 1)
    rows = x.mT if x.is_complex() else x
    rows = rows.reshape(-1, *rows.shape[inner:])
    found = function(rows, fft_length, stride, frame, tensor_of(window), **given)
    found = found.mT if found.is_complex() else found
    return found.reshape(*x.shape[:inner], *found.shape[1:])


def stft(x, length, stride, fft_length, window, center) -> Any:
    """Return the real and the imaginary part of the transforms of overlapping frames."""
    given = (tensor_of(convert_to_tensor(x)), window, fft_length, stride, length)
    found = computed("RFFT", _framed, wg.stft, *given, center=center, return_complex=True)
    return math.real(found), math.imag(found)


def istft(x, length, stride, fft_length, size, window, center) -> Any:
    """Return the signal whose `stft` has these parts."""
    given = (tensor_of(tf.complex(*map(convert_to_tensor, x))), window, fft_length, stride, length)
    return computed("IRFFT", _framed, wg.istft, *given, center=center, length=size)


def polar(length, angle) -> Any:
    """Return complex numbers of these lengths and angles."""
    length, angle = convert_to_tensor(length), convert_to_tensor(angle)
    return tf.complex(length * tf.cos(angle), length * tf.sin(angle))


def view_as_complex(x) -> Any:
    """Return pairs of numbers as complex numbers."""
    x = convert_to_tensor(x)
    return tf.complex(x[..., 0], x[..., 1])


def view_as_real(x) -> Any:
    """Return complex numbers as pairs of numbers."""
    return tf.stack([math.real(x), math.imag(x)], -1)


def lu_factor(x) -> Any:
    """Return both triangular matrices in one, and the order of the rows."""
    both, order = linalg.lu(convert_to_tensor(x))
    return both, math.invert_permutation(order)


def cholesky_inverse(x, upper) -> Any:
    """Return the inverse of the matrix that has this Cholesky factor."""
    x = convert_to_tensor(x)
    lower = linalg.matrix_transpose(x) if upper else x
    eye = tf.eye(x.shape[-1], batch_shape=tuple(x.shape)[:-2], dtype=x.dtype)
    return linalg.cholesky_solve(lower, eye)
