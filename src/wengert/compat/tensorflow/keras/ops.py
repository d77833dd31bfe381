"""Layer 9 · compat: ``tf.keras.ops``: NumPy's functions, and those of networks.

NOTE [Keras's operations]
NumPy's functions are those of `wengert.numpy`, with Keras's dtypes: operands of several dtypes are
promoted as PyTorch promotes them, so that whole numbers do not widen floats, and numbers without a
dtype have `floatx`. The others are rows: parameters, and the functions that take them in this
order. Symbols of functional models are operands as well (NOTE [symbols of Keras]).

>>> print(tf.keras.ops.mean(tf.keras.ops.square([[1.0, 5.0]]), axis=-1).numpy())
[13.]
"""

from __future__ import annotations

import inspect
import itertools
import re
import sys
from collections.abc import Callable
from typing import Any

import numpy as np

import wengert as wg
import wengert.numpy as wnp
from wengert.compat.kit.signatures import named
from wengert.compat.tensorflow import control, conversion, linalg, math, nest, nn
from wengert.compat.tensorflow import operations as tf
from wengert.compat.tensorflow.control import cond as cond
from wengert.compat.tensorflow.custom import custom_gradient as custom_gradient
from wengert.compat.tensorflow.functions.values import computed, dtype_of, tensor_of
from wengert.compat.tensorflow.keras import activations, backend, composed, image_ops, symbols
from wengert.compat.tensorflow.keras.globals import floatx
from wengert.compat.tensorflow.keras.operands import none, of_families, one, promoted, several, two
from wengert.compat.tensorflow.words import public

_UNARY = """
    abs absolute all amax amin angle any append argmax argmin argpartition argsort array_split
    bincount bitwise_invert bitwise_not clip conj conjugate copy count_nonzero cumprod cumsum diag
    diagflat diagonal diff digitize dsplit empty_like expand_dims flip fliplr flipud full_like
    histogram hsplit imag isfinite isinf isnan isneginf isposinf isreal logical_not max min moveaxis
    nan_to_num nanargmax nanargmin nancumprod nancumsum nanmax nanmin nanprod nansum negative
    nonzero ones_like pad prod ptp ravel real repeat reshape roll rot90 round searchsorted sign
    signbit sort split square squeeze sum swapaxes take take_along_axis tile trace transpose tril
    triu unravel_index vander vsplit zeros_like
"""
"""Functions of an array, and possibly of others that are not promoted with it."""
_FLOATING = """
    arccos arccosh arcsin arcsinh arctan arctanh average cbrt ceil corrcoef cos cosh deg2rad exp
    exp2 expm1 fabs floor i0 log log10 log1p log2 mean median nanmean nanmedian nanpercentile
    nanquantile nanstd nanvar percentile quantile rad2deg reciprocal sin sinc sinh sqrt std tan tanh
    trapezoid trunc var
"""
"""Those whose results are floats."""
_BINARY = """
    add allclose bitwise_and bitwise_left_shift bitwise_or bitwise_right_shift bitwise_xor cross dot
    equal floor_divide fmax fmin fmod gcd greater greater_equal inner isclose isin kron lcm ldexp
    left_shift less less_equal logical_and logical_or logical_xor matmul maximum minimum mod
    multiply not_equal outer power right_shift subtract tensordot vdot
"""
"""Functions of two arrays."""
_BINARY_FLOATING = """
    arctan2 correlate divide heaviside hypot logaddexp logaddexp2 nextafter true_divide
"""
_JOINING = "concatenate dstack hstack meshgrid stack vstack"
_CREATING = """
    eye full geomspace identity linspace logspace ones tri zeros
"""
_PLACES = {
    *("argmax", "argmin", "argsort", "bincount", "count_nonzero", "digitize"),
    *("nanargmax", "nanargmin", "nonzero", "searchsorted"),
}
"""Functions whose results have 32 bits."""
_SUMS = {"cumprod", "cumsum", "prod", "sum", "trace"}
"""Functions that keep the dtype of whole numbers."""


def _to_32(places: Any) -> Any:
    """Convert positions to the integers that Keras counts with."""
    return places.to(wg.int32)


def _function(
    name: str, function: Callable[..., Any], entered: Callable[..., Any], **more: Any
) -> Any:
    def compute(*given: Any, **kwargs: Any) -> Any:
        result = function(*given, **kwargs)
        if name in _PLACES:
            return [_to_32(x) for x in result] if isinstance(result, tuple) else _to_32(result)
        if name in _SUMS and given[0]._payload.dtype.kind in "iub":
            return result.to(wg.int32 if given[0].dtype == wg.bool else given[0].dtype)
        return result

    def operation(*args, **kwargs) -> Any:
        if symbols.inner((args, kwargs)):
            return symbols.symbolic(operation, args, kwargs)
        kind = kwargs.get("dtype", floatx() if name in _CREATED else None)
        if kind is not None:
            kwargs["dtype"] = dtype_of(kind)
        return computed(name, compute, *entered(*args, **more), **kwargs)

    own: Any = named(operation, name, f"Return ``numpy.{name}`` of these arguments.")
    own.__signature__ = inspect.signature(function)
    own.__module__ = __name__
    return own


def _of_numpy(names: str, entered: Callable[..., Any], home: Any = wnp, **more: Any) -> None:
    for name in names.split():
        globals()[name] = _function(name, getattr(home, name), entered, **more)


_CREATED = frozenset(_CREATING.split())
_of_numpy(_UNARY, one)
_of_numpy(_FLOATING, one, floating=True)
_of_numpy(_BINARY, two)
_of_numpy(_BINARY_FLOATING, two, floating=True)
_of_numpy(_JOINING, several)
_of_numpy(_CREATING, none)
_of_numpy("cholesky det eig eigh inv norm pinv qr slogdet svd", one, wnp.linalg, floating=True)
_of_numpy("solve", two, wnp.linalg, floating=True)


# -- others ----------------------------------------------------------------------------------------


def _where(condition, x1, x2) -> Any:
    """Select elements by a condition; without values return the positions where it holds."""
    if x1 is None and x2 is None:
        return tuple(tf.unstack(tf.cast(tf.where(condition), "int32"), axis=1))
    return computed("SelectV2", wg.where, tensor_of(condition), *promoted([x1, x2]))


def _one_hot(x, num_classes, axis, dtype) -> Any:
    """Return one-hot vectors along a new dimension."""
    return tf.one_hot(tf.cast(x, "int32"), num_classes, axis=axis, dtype=dtype or floatx())


def _moments(x, axes, keepdims) -> Any:
    """Return means and variances."""
    return nn.moments(x, axes, keepdims=keepdims)


def _lstsq(a, b, rcond) -> Any:
    """Return the least-squares solution of a linear system."""
    return computed("MatrixSolveLs", lambda *given: wnp.linalg.lstsq(*given, rcond)[0], *two(a, b))


def _fori_loop(lower, upper, body_fun, init_val) -> Any:
    """Call a function of the turn and the last value for each turn."""
    for i in range(int(lower), int(upper)):
        init_val = body_fun(i, init_val)
    return init_val


def _scan(f, init, xs, length, reverse, unroll) -> Any:
    """Call a function of the last carry and each element; return the carry and all results."""
    flat = [] if xs is None else [tf.unstack(x) for x in nest.flatten(xs)]
    rows = [nest.pack_sequence_as(xs, row) for row in zip(*flat, strict=True)] or [None] * length
    results = []
    for row in rows[::-1] if reverse else rows:
        init, result = f(init, row)
        results.append(result)
    results = results[::-1] if reverse else results
    return init, nest.map_structure(lambda *parts: tf.stack(parts), *results)


def _segments(reduce: Callable[..., Any]) -> Callable[..., Any]:
    def reduced(data, segment_ids, num_segments, sorted) -> Any:
        ids = conversion.convert_to_tensor(segment_ids)
        most = int(tf.reduce_max(ids)) + 1 if num_segments is None else num_segments
        return reduce(data, ids, most)

    reduced.__name__, reduced.__doc__ = reduce.__name__, reduce.__doc__
    return reduced


def _empty(shape, dtype) -> Any:
    """Return zeros."""
    return tf.zeros(shape, dtype or floatx())


def switch(index, branches, *operands) -> Any:
    """Call the branch of this number; the number is clipped to those that there are."""
    return branches[int(np.clip(int(index), 0, len(branches) - 1))](*operands)


_segment_max, _segment_min, _segment_prod, _segment_sum = (
    _segments(getattr(math, f"unsorted_segment_{name}")) for name in ("max", "min", "prod", "sum")
)


def _convert_to_numpy(x) -> Any:
    """Return the values as an array."""
    return np.asarray(x)


def einsum(subscripts: str, *operands, **kwargs) -> Any:
    """Return a sum of products (see `tf.einsum`)."""
    if symbols.inner(operands):
        return symbols.symbolic(einsum, (subscripts, *operands), kwargs)
    return tf.einsum(subscripts, *promoted(operands))


def rearrange(tensor, pattern: str, **axes_lengths) -> Any:
    """Return an array whose dimensions are split, ordered and joined as a pattern says.

    Examples
    --------
    >>> tf.keras.ops.rearrange(tf.ones([2, 6]), "a (b c) -> (b a) c", c=3).shape
    TensorShape([4, 3])
    """
    if symbols.inner(tensor):
        return symbols.symbolic(rearrange, (tensor, pattern), axes_lengths)
    tensor = conversion.convert_to_tensor(tensor)
    left, right = (
        [group.strip("()").split() for group in re.findall(r"\([^)]*\)|\w+", side)]
        for side in pattern.split("->")
    )
    sizes, names = axes_lengths, [name for group in left for name in group]
    fits = len(left) == len(tensor.shape) and sorted(names) == sorted(itertools.chain(*right))
    for group, size in zip(left, tensor.shape, strict=False):
        for name in [name for name in group if name not in sizes][:1]:
            sizes[name] = size // int(np.prod([sizes.get(one, 1) for one in group]))
        fits = fits and size == np.prod([sizes.get(name, 0) for name in group])
    if not fits:
        raise ValueError(f"rearrange: {pattern!r} does not fit the shape {tensor.shape}")
    split = tf.reshape(tensor, [sizes[name] for name in names])
    turned = tf.transpose(split, [names.index(name) for name in itertools.chain(*right)])
    return tf.reshape(turned, [int(np.prod([sizes[n] for n in group])) for group in right])


of_families(
    globals(),
    """
    (inputs, output_size, data_format=None): composed.adaptive_average_pool
        composed.adaptive_max_pool
    (start, stop=None, step=None, dtype=None): arange=backend._arange
    (f, elems, reverse=False, axis=0): composed.associative_scan
    (inputs, pool_size, strides=None, padding='valid', data_format=None): composed.average_pool
        composed.max_pool
    (x): composed.bartlett composed.blackman composed.fft composed.fft2 composed.hamming
        composed.hanning composed.ifft2 composed.lu_factor activations.sparse_plus
        activations.sparse_sigmoid composed.view_as_complex composed.view_as_real
    (x, beta): composed.kaiser
    (x, y): composed.cdist
    (x, upper=False): composed.cholesky_inverse
    (inputs, kernel, strides=1, padding='valid', data_format=None, dilation_rate=1): composed.conv
        composed.depthwise_conv
    (inputs, kernel, strides=1, padding='valid', output_padding=None, data_format=None,
        dilation_rate=1): composed.conv_transpose
    (target, output, target_length, output_length, mask_index=0): composed.ctc_loss
    (x, block_size, data_format='channels_last'): composed.depth_to_space
        composed.space_to_depth
    (inputs, sequence_lengths, strategy='greedy', beam_width=100, top_paths=1, merge_repeated=True,
        mask_index=0): composed.ctc_decode
    (x, sequence_length, sequence_stride, fft_length, length=None, window='hann', center=True):
        composed.istft
    (x, sequence_length, sequence_stride, fft_length, window='hann', center=True): composed.stft
    (x1, x2): math.divide_no_nan
    (query, key, value, bias=None, mask=None, scale=None, is_causal=False, flash_attention=None,
        attn_logits_soft_cap=None): composed.dot_product_attention
    (shape, dtype=None): empty=_empty
    (x, sequence_length, sequence_stride): extract_sequences=signal.frame
    (x, output_size, kernel_size, dilation=1, padding=0, stride=1): composed.fold
    (x, key): composed.get_item
    (x, fft_length=None): composed.irfft composed.rfft
    (fun, primals, tangents, has_aux=False): composed.jvp
    (x, gamma=None, beta=None, axis=-1, epsilon=None): composed.layer_normalization
    (x, tol=None): linalg.matrix_rank
    (inputs, num_classes=None, axis=-1, dtype=None, sparse=False): composed.multi_hot
    (x, axis=-1, order=2, epsilon=None): composed.normalize
    (abs_, angle): composed.polar
    (x1, x2, max_val): composed.psnr
    (x, scale=None, axis=-1, epsilon=None): composed.rms_normalization
    (condlist, choicelist, default=0): composed.select
    (inputs, depthwise_kernel, pointwise_kernel, strides=1, padding='valid', data_format=None,
        dilation_rate=1): composed.separable_conv
    (inputs, start_indices, updates): composed.slice_update
    (x, axis=-1): activations.sparsemax
    (x, threshold, default_value): activations.threshold
    (x, kernel_size, dilation=1, padding=0, stride=1): composed.unfold
    (x, sorted=True, return_index=False, return_inverse=False, return_counts=False, axis=None,
        size=None, fill_value=None): composed.unique
    (x, dtype=None): view=tf.bitcast
    (x, dtype=None): array=conversion.convert_to_tensor conversion.convert_to_tensor
    (x, mean, variance, axis, offset=None, scale=None, epsilon=0.001):
        composed.batch_normalization
    (target, output, from_logits=False): backend.binary_crossentropy
    (x, shape): tf.broadcast_to
    (x, dtype): tf.cast tf.saturate_cast
    (target, output, from_logits=False, axis=-1): backend.categorical_crossentropy
        backend.sparse_categorical_crossentropy
    (x): activations.celu convert_to_numpy=_convert_to_numpy backend.dtype math.erf math.erfc
        math.erfinv activations.glu activations.hard_shrink activations.hard_sigmoid
        activations.hard_silu hard_swish=activations.hard_silu activations.hard_tanh
        conversion.is_tensor activations.log_sigmoid linalg.logdet backend.ndim activations.relu
        activations.relu6 math.rsqrt activations.selu shape=backend.int_shape
        activations.sigmoid activations.silu tf.size activations.soft_shrink
        activations.softplus activations.softsign activations.squareplus swish=activations.silu
        activations.tanh_shrink
    (x, alpha=1.0): activations.elu
    (lower, upper, body_fun, init_val): fori_loop=_fori_loop
    (x, approximate=True): activations.gelu
    (targets, predictions, k): math.in_top_k
    (x, negative_slope=0.2): activations.leaky_relu
    (x, axis=-1): activations.log_softmax activations.softmax
    (x, axis=None, keepdims=False): logsumexp=math.reduce_logsumexp
    (a, b, rcond=None): lstsq=_lstsq
    (f, xs): map=control.map_fn
    (x, axes, keepdims=False): moments=_moments
    (x, num_classes, axis=-1, dtype=None): one_hot=_one_hot
    (indices, values, shape): scatter=tf.scatter_nd
    (inputs, indices, updates): scatter_update=tf.tensor_scatter_nd_update
    (f, init, xs=None, length=None, reverse=False, unroll=1): scan=_scan
    (data, segment_ids, num_segments=None, sorted=False): segment_max=_segment_max
        segment_min=_segment_min segment_prod=_segment_prod segment_sum=_segment_sum
    (inputs, start_indices, shape): tf.slice
    (a, b, lower=False): solve_triangular=linalg.triangular_solve
    (variable): conversion.stop_gradient
    (x, k, sorted=True): math.top_k
    (x, num=None, axis=0): tf.unstack
    (function, elements): control.vectorized_map
    (condition, x1=None, x2=None): where=_where
    (cond, body, loop_vars): control.while_loop
    """,
    activations=activations,
    backend=backend,
    composed=composed,
    control=control,
    conversion=conversion,
    linalg=linalg,
    math=math,
    signal=composed.signal,
)


image = image_ops
numpy = sys.modules[__name__]
"""Namespaces of Keras: those of networks and matrices are `tf.nn` and `tf.linalg` as well."""

__all__ = public(globals(), "cond custom_gradient image numpy")
