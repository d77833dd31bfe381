"""Layer 9 · compat: MXNet's neural network functions on tensors, with MXNet's arguments.

``mxnet.npx`` and ``mxnet.nd`` export them under their own names; `wengert.nn.functional` computes
them.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from wengert import special
from wengert.compat.kit.namespaces import functions_of
from wengert.compat.mxnet.base import MXNetError, refusal
from wengert.compat.mxnet.state import TRAINING
from wengert.nn import functional as F
from wengert.numpy.arrays import array_of
from wengert.ops.gather import gather
from wengert.ops.index import getitem
from wengert.ops.matmul import matmul
from wengert.ops.permute import movedim
from wengert.ops.select import where
from wengert.ops.shape import reshape as reshaped
from wengert.ops.shape import squeeze
from wengert.ops.sorting import topk as largest
from wengert.tape.base import TensorBase, new_tensor
from wengert.tape.record import T

__all__ = ["FUNCTIONS", "Deferred", "known"]


class Deferred:
    """A parameter whose shape is unknown until a function infers it."""

    def __init__(self, parameter) -> None:
        self.parameter = parameter

    def __getattr__(self, name: str) -> Any:
        return getattr(self.parameter.data(), name)  # raises an error with advice


def known(name: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[Any, ...]:
    """Return the arguments of a function, after inferring the shapes of parameters."""
    if not any(isinstance(value, Deferred) for value in args):
        return args
    x = args[0].shape
    for value in args[1:]:
        if not isinstance(value, Deferred):
            continue
        have = value.parameter.shape
        if name == "fully_connected" and len(have) == 2:
            flat = kwargs.get("flatten", True)
            value.parameter.finish((have[0], math.prod(x[1:]) if flat else x[-1]))
        elif name == "convolution" and len(have) > 2:
            value.parameter.finish((have[0], x[1] // kwargs.get("num_group", 1), *have[2:]))
    return tuple(v.parameter.data() if isinstance(v, Deferred) else v for v in args)


def _whole(x) -> Any:
    """Convert positions, which may be floats in MXNet, to integers."""
    array = x._payload if isinstance(x, TensorBase) else np.asarray(x)
    return new_tensor(np.asarray(array).astype(np.int64))


def relu(data) -> Any:
    """Return max(data, 0)."""
    return F.relu(data)


def sigmoid(data) -> Any:
    """Return 1 / (1 + exp(-data))."""
    return F.sigmoid(data)


def _valid(data, length, axis: int) -> Any:
    """Return a mask of the positions along `axis` that are below `length`."""
    places = np.arange(data._payload.shape[axis])
    limit = np.expand_dims(np.asarray(length._payload), axis if axis >= 0 else -1)
    while limit.ndim < data._payload.ndim:
        limit = np.expand_dims(limit, -2)
    return new_tensor(places < limit)


def softmax(
    data, length=None, axis=-1, temperature: float | None = None, use_length=False, dtype=None
) -> Any:
    """Return exp(data) divided by its sum along `axis`; 0 beyond `length` if that is given."""
    x = data if temperature in (None, 1.0) else data / temperature
    if use_length or (length is not None and isinstance(length, TensorBase)):
        valid = _valid(x, length, axis)
        x = where(valid, x, new_tensor(np.asarray(-np.inf, x._payload.dtype)))
        result = where(valid, F.softmax(x, dim=axis), new_tensor(np.zeros((), x._payload.dtype)))
    else:
        result = F.softmax(x, dim=axis)
    return result if dtype is None else T.to_copy(result, dtype=np.dtype(dtype))


def log_softmax(
    data, axis=-1, temperature: float | None = None, dtype=None, use_length=False
) -> Any:
    """Return the logarithm of `softmax`."""
    x = data if temperature in (None, 1.0) else data / temperature
    if use_length:
        raise NotImplementedError("log_softmax(use_length=True): take the logarithm of softmax")
    result = F.log_softmax(x, dim=axis)
    return result if dtype is None else T.to_copy(result, dtype=np.dtype(dtype))


def softmin(data, axis=-1) -> Any:
    """Return `softmax` of -data."""
    return F.softmin(data, dim=axis)


def topk(
    data, axis: int | None = -1, k=1, ret_typ="indices", is_ascend=False, dtype="float32"
) -> Any:
    """Return the `k` largest elements along `axis`, or their indices."""
    shape = data._payload.shape
    if axis is None:
        data, axis = reshaped(data, (data._payload.size,)), 0
    found = largest(data, k if k > 0 else data._payload.shape[axis], axis, not is_ascend)
    places = new_tensor(found.indices._payload.astype(dtype))
    if ret_typ == "indices":
        return places
    if ret_typ == "value":
        return found.values
    if ret_typ == "both":
        return [found.values, places]
    if ret_typ == "mask":
        mask = np.zeros(data._payload.shape, data._payload.dtype)
        np.put_along_axis(mask, found.indices._payload, 1, axis)
        return new_tensor(mask.reshape(shape))
    raise MXNetError(f"topk: ret_typ must be 'indices', 'value', 'both' or 'mask', got {ret_typ!r}")


def pick(data, index, axis=-1, mode="clip", keepdims=False) -> Any:
    """Return the element that `index` selects from each row of `data`."""
    places = np.asarray(_whole(index)._payload)
    count = data._payload.shape[axis]
    places = places % count if mode == "wrap" else places.clip(0, count - 1)
    shape = tuple(data._payload.shape)
    kept = (*shape[:axis], 1, *shape[axis:][1:])
    if places.shape not in (kept, tuple(np.delete(kept, axis))):
        raise MXNetError(f"pick() takes one index per row, of shape {kept}, got {places.shape}")
    places = places.reshape(kept)
    picked = gather(data, axis, new_tensor(places))
    return picked if keepdims else squeeze(picked, axis)


def one_hot(data, depth: int, on_value=1.0, off_value=0.0, dtype="float32") -> Any:
    """Return `on_value` at the indices in `data` along a new last axis, else `off_value`."""
    places = np.asarray(_whole(data)._payload)
    hot = np.where(places[..., None] == np.arange(depth), on_value, off_value)
    return new_tensor(hot.astype(dtype))


def batch_dot(lhs, rhs, transpose_a=False, transpose_b=False) -> Any:
    """Multiply two batches of matrices."""
    lhs = movedim(lhs, -1, -2) if transpose_a else lhs
    return matmul(lhs, movedim(rhs, -1, -2) if transpose_b else rhs)


_ACTIVATIONS: dict[str, Callable[[Any], Any]] = {
    "gelu": F.gelu,
    "log_sigmoid": F.logsigmoid,
    "mish": F.mish,
    "relu": F.relu,
    "sigmoid": F.sigmoid,
    "softrelu": F.softplus,
    "softsign": F.softsign,
    "tanh": F.tanh,
}


def activation(data, act_type: str) -> Any:
    """Apply the activation `act_type`: relu, sigmoid, tanh, softrelu or softsign."""
    if act_type not in _ACTIVATIONS:
        known = ", ".join(sorted(_ACTIVATIONS))
        raise MXNetError(f"Invalid Input: '{act_type}', valid values are: {known}")
    return _ACTIVATIONS[act_type](data)


def leaky_relu(data, gamma=None, act_type="leaky", slope=0.25, **bounds: float) -> Any:
    """Apply an activation that is the identity above 0: leaky, prelu, elu, selu or gelu."""
    if act_type == "leaky":
        return F.leaky_relu(data, slope)
    if act_type == "prelu":
        return F.prelu(data, gamma)
    if act_type == "elu":
        return F.elu(data, slope)
    if act_type in ("selu", "gelu"):
        return getattr(F, act_type)(data)
    raise refusal(MXNetError, "Invalid Input: '{}',", act_type)


def fully_connected(
    x, weight, bias=None, num_hidden: int | None = None, no_bias=False, flatten=True
) -> Any:
    """Return ``x @ weight.T + bias``; with `flatten`, over all dimensions but the first."""
    count = weight._payload.shape[0]
    if num_hidden is not None and num_hidden != count:
        raise refusal(MXNetError, "Shape inconsistent: num_hidden={},", num_hidden, count)
    if flatten and x._payload.ndim != 2:
        x = reshaped(x, (x._payload.shape[0], math.prod(x._payload.shape[1:])))
    if x._payload.shape[-1] != weight._payload.shape[-1]:
        raise MXNetError(
            f"Shape inconsistent, Provided = {[*weight._payload.shape]}, inferred shape="
            f"({count},{x._payload.shape[-1]}): x has {x._payload.shape[-1]} features"
        )
    return F.linear(x, weight, None if no_bias else bias)


def _convolutions(data, weight, transposed: bool, filters, kernel, layout) -> Any:
    d, shape = data._payload.ndim - 2, weight._payload.shape
    if d not in (1, 2, 3):
        raise MXNetError(f"convolution: data has {d + 2} dimensions; 3, 4 and 5 are convolved")
    if layout not in (None, "NCW", "NCHW", "NCDHW"):
        raise MXNetError(f"layout {layout}: only NCW, NCHW and NCDHW are convolved: transpose data")
    if kernel and tuple(kernel) != tuple(shape[2:]):
        raise MXNetError(f"Shape inconsistent: kernel={tuple(kernel)}, and weight is {shape}")
    if not transposed and filters not in (None, shape[0]):
        raise MXNetError(f"Shape inconsistent: num_filter={filters}, and weight is {shape}")
    return getattr(F, f"conv_transpose{d}d" if transposed else f"conv{d}d")


def convolution(
    data,
    weight,
    bias=None,
    kernel=None,
    stride=(),
    dilate=(),
    pad=(),
    num_filter: int | None = None,
    num_group=1,
    no_bias=False,
    layout: str | None = None,
    **tuning,
) -> Any:
    """Convolve (batch, channel, ...) with (filter, channel, ...) kernels, in 1 to 3 dimensions."""
    convolve = _convolutions(data, weight, False, num_filter, kernel, layout)
    return convolve(
        data, weight, None if no_bias else bias, stride or 1, pad or 0, dilate or 1, num_group
    )


def deconvolution(
    data,
    weight,
    bias=None,
    kernel=None,
    stride=(),
    dilate=(),
    pad=(),
    adj=(),
    num_filter: int | None = None,
    num_group=1,
    no_bias=True,
    target_shape=(),
    layout: str | None = None,
    **tuning,
) -> Any:
    """Compute a transposed convolution (see `convolution`)."""
    bias = None if no_bias else bias
    convolve = _convolutions(data, weight, True, num_filter, kernel, layout)
    if any(target_shape):
        raise NotImplementedError("Deconvolution(target_shape=...): give pad and adj")
    return convolve(data, weight, bias, stride or 1, pad or 0, adj or 0, num_group, dilate or 1)


def pooling(
    data,
    kernel=(),
    pool_type="max",
    global_pool=False,
    stride=(),
    pad=(),
    pooling_convention="valid",
    count_include_pad=True,
    p_value=2,
    layout: str | None = None,
    **tuning,
) -> Any:
    """Return the maximum, mean, sum or norm of windows over the last dimensions."""
    d = data._payload.ndim - 2
    if layout not in (None, "NCW", "NCHW", "NCDHW"):
        raise MXNetError(f"layout {layout}: only NCW, NCHW and NCDHW are pooled: transpose data")
    if pooling_convention == "same":
        raise NotImplementedError("Pooling(pooling_convention='same'): pad by nd.pad")
    if global_pool:
        kernel, stride, pad = tuple(data._payload.shape[2:]), (), ()
    ceil = pooling_convention == "full"
    stride, pad = stride or (1,) * d, pad or (0,) * d
    wide = any(2 * n > size for n, size in zip(pad, kernel, strict=True))
    least = float(np.finfo(data._payload.dtype).min) if pool_type == "max" else 0.0  # of no element
    if wide and not ceil and (pool_type == "max" or count_include_pad):
        # more padding than PyTorch's pooling accepts
        data = F.pad(data, [n for size in reversed(pad) for n in (size, size)], value=least)
        pad = (0,) * d
    sizes = data._payload.shape[2:]
    if pool_type == "max":
        pooled = getattr(F, f"max_pool{d}d")(data, kernel, stride, pad, 1, ceil)
    elif pool_type == "avg":
        pooled = getattr(F, f"avg_pool{d}d")(data, kernel, stride, pad, ceil, count_include_pad)
    elif pool_type in ("sum", "lp"):
        powers = T.abs(data) ** p_value if pool_type == "lp" else data
        if ceil:  # windows beyond the edge add nothing
            powers = F.pad(powers, [n for size in reversed(stride) for n in (0, size)])
        pooled = getattr(F, f"avg_pool{d}d")(powers, kernel, stride, pad) * math.prod(kernel)
    else:
        raise MXNetError(f"Invalid Input: '{pool_type}', valid values are: avg, lp, max, sum")
    if ceil:  # PyTorch leaves out windows that begin in the padding
        spans = zip(sizes, pad, kernel, stride, strict=True)
        wanted = [1 - (k - n - 2 * p) // s for n, p, k, s in spans]
        have = pooled._payload.shape[2:]
        more = [size - got for size, got in zip(wanted, have, strict=True)]
        if any(more):
            pooled = F.pad(pooled, [n for size in reversed(more) for n in (0, size)], value=least)
    return pooled ** (1 / p_value) if pool_type == "lp" else pooled


def batch_norm(
    x,
    gamma,
    beta,
    running_mean,
    running_var,
    eps=1e-3,
    momentum=0.9,
    fix_gamma=True,
    use_global_stats=False,
    output_mean_var=False,
    axis=1,
    **tuning,
) -> Any:
    """Normalize a batch along `axis`; training updates the running statistics."""
    if output_mean_var:
        raise NotImplementedError("output_mean_var=True: compute them by mean and var")
    order = None
    if axis not in (1, 1 - x._payload.ndim):
        x = movedim(x, axis, 1)
        order = axis
    scale = new_tensor(np.ones_like(gamma._payload)) if fix_gamma else gamma
    training = TRAINING.get() and not use_global_stats
    result = F.batch_norm(
        x, None if training else running_mean, None if training else running_var, scale, beta,
        training, 0.0, eps,
    )  # fmt: skip
    if training:
        _note_statistics(x._payload, running_mean, running_var, momentum)
    return result if order is None else movedim(result, 1, order)


def _note_statistics(x, mean, var, momentum: float) -> None:
    """Blend a batch's statistics into the running ones, with MXNet's variance."""
    axes = (0, *range(2, x.ndim))
    for running, now in ((mean, x.mean(axes)), (var, x.var(axes))):
        array_of(running)[...] = momentum * running._payload + (1 - momentum) * now


def layer_norm(data, gamma, beta, axis=-1, eps=1e-5) -> Any:
    """Normalize along an axis, scale by `gamma`, and shift by `beta`."""
    if axis not in (-1, data._payload.ndim - 1):
        moved = layer_norm(movedim(data, axis, -1), gamma, beta, -1, eps)
        return movedim(moved, -1, axis)
    return F.layer_norm(data, data._payload.shape[-1:], gamma, beta, eps)


def instance_norm(data, gamma, beta, eps=1e-3) -> Any:
    """Normalize each channel of each example, scale by `gamma`, and shift by `beta`."""
    return F.instance_norm(data, None, None, gamma, beta, True, 0.0, eps)


def group_norm(data, gamma, beta, num_groups=1, eps=1e-5) -> Any:
    """Normalize groups of channels of each example; scale and shift have one number per group."""
    shape = tuple(data._payload.shape)
    one = (1, num_groups, *[1] * (len(shape) - 1))
    normal = F.group_norm(data, num_groups, None, None, eps)
    normal = reshaped(normal, (shape[0], num_groups, -1, *shape[2:]))
    return reshaped(normal * reshaped(gamma, one) + reshaped(beta, one), shape)


def ctc_loss(
    data,
    label,
    data_lengths=None,
    label_lengths=None,
    use_data_lengths=False,
    use_label_lengths=False,
    blank_label="first",
) -> Any:
    """Return the CTC loss of each sequence; `data` of shape (steps, batch, classes) are logits.

    Labels end at the first 0, or -1 if the blank label is the last.
    """
    steps, batch, classes = data._payload.shape
    first = blank_label == "first"
    labels = np.asarray(label._payload).astype(np.int64)
    if label_lengths is None or not use_label_lengths:
        over = labels == (0 if first else -1)
        counts = np.where(over.any(1), over.argmax(1), labels.shape[1])
    else:
        counts = np.asarray(label_lengths._payload).astype(np.int64)
    lengths = np.full(batch, steps)
    if data_lengths is not None and use_data_lengths:
        lengths = np.asarray(data_lengths._payload).astype(np.int64)
    blank = 0 if first else classes - 1
    labels = np.where(np.arange(labels.shape[1]) < counts[:, None], labels, (blank + 1) % classes)
    chances = F.log_softmax(data, dim=-1)
    given, shown, taken = (new_tensor(value) for value in (labels, lengths, counts))
    return F.ctc_loss(chances, given, shown, taken, blank, "none")


def embedding(
    data,
    weight,
    input_dim: int | None = None,
    output_dim: int | None = None,
    dtype="float32",
    sparse_grad=False,
) -> Any:
    """Return the rows of `weight` at the indices in `data`, clamped to the last row."""
    places = _whole(data)._payload.clip(0, weight._payload.shape[0] - 1)
    return F.embedding(new_tensor(places), weight)


def dropout(data, p=0.5, mode="training", axes=(), cudnn_off=True) -> Any:
    """Set elements to 0 with probability `p` in training, and scale up the others.

    The mask is shared along `axes`.
    """
    if not (TRAINING.get() or mode == "always") or not p:
        return data
    if not axes:
        return F.dropout(data, p, True)
    sizes = [1 if i in axes else size for i, size in enumerate(data._payload.shape)]
    ones = new_tensor(np.ones(sizes, data._payload.dtype))
    return data * F.dropout(ones, p, True)


def smooth_l1(data, scalar=1.0) -> Any:
    """Return the smooth L1 loss: quadratic where ``|data| < 1 / scalar**2``, linear beyond."""
    square = scalar * scalar
    size = T.abs(data)
    near = new_tensor(np.asarray(size._payload < 1 / square))
    return where(near, 0.5 * square * data * data, size - 0.5 / square)


def gamma(data) -> Any:
    """Return the gamma function."""
    sign = np.where(data._payload > 0, 1, 1 - 2 * (np.floor(data._payload) % 2))
    return new_tensor(sign.astype(data._payload.dtype)) * T.exp(special.gammaln(data))


def sequence_mask(data, sequence_length=None, use_sequence_length=False, value=0.0, axis=0) -> Any:
    """Return `data` with `value` beyond each sequence's length; sequences run along `axis`."""
    if not use_sequence_length or sequence_length is None:
        return data
    places = np.arange(data._payload.shape[axis])
    lengths = np.asarray(sequence_length._payload)
    valid = places[:, None] < lengths if axis == 0 else places < lengths[:, None]
    valid = valid.reshape(valid.shape + (1,) * (data._payload.ndim - 2))
    beyond = new_tensor(np.asarray(value, data._payload.dtype))
    return where(new_tensor(np.broadcast_to(valid, data._payload.shape)), data, beyond)


def reshape_like(lhs, rhs) -> Any:
    """Reshape `lhs` to the shape of `rhs`."""
    return reshaped(lhs, tuple(rhs._payload.shape))


def arange_like(data, start=0.0, step=1.0, axis: int | None = None) -> Any:
    """Return numbers from `start` on, as many as `data` has elements, or along `axis`."""
    shape = data._payload.shape if axis is None else (data._payload.shape[axis],)
    count = np.arange(math.prod(shape)).reshape(shape)
    return new_tensor((start + step * count).astype(data._payload.dtype))


def gather_nd(data, indices) -> Any:
    """Return the elements at the indices in the columns of `indices`."""
    places = np.asarray(_whole(indices)._payload)
    return getitem(data, tuple(new_tensor(row) for row in places))


def stop_gradient(data) -> Any:
    """Return `data` without its gradient."""
    return new_tensor(np.array(data._payload))


FUNCTIONS: dict[str, Callable[..., Any]] = functions_of(globals(), "Deferred known")
FUNCTIONS |= {name: getattr(special, name) for name in ("erf", "erfinv", "gammaln")}
"""The functions by the names of ``mxnet.npx``."""
