"""Layer 9 · compat: the functions of ``mxnet.nd``, with the arguments of the legacy operators.

Importing this module puts those that are methods, too, on the class.
"""

from __future__ import annotations

import functools
import itertools
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from wengert import numpy as wnp
from wengert.autograd import Function
from wengert.compat.mxnet import operators
from wengert.compat.mxnet.arrays import NDArray
from wengert.compat.mxnet.base import MXNetError, shown
from wengert.compat.mxnet.neural import FUNCTIONS as NEURAL
from wengert.compat.mxnet.neural import known
from wengert.compat.mxnet.numpy.functions import TIED
from wengert.compat.mxnet.operators import COMPARISONS
from wengert.compat.mxnet.results import computed, index_of
from wengert.nn import functional as F
from wengert.ops.reduce import sum as total
from wengert.ops.shape import reshape as reshaped
from wengert.tape.base import TensorBase, new_tensor
from wengert.tape.record import T

__all__ = ["function_of", "names"]


_NAMES = """
    abs arccos arccosh arcsin arcsinh arctan arctanh argmax argmin argsort broadcast_axes
    broadcast_like broadcast_to cbrt ceil clip cos cosh degrees diag dot exp expand_dims expm1 fix
    flatten flip floor log log10 log1p log2 log_softmax max mean min nanprod nansum norm one_hot
    ones_like pick prod radians reciprocal relu repeat reshape_like rint round rsqrt sigmoid sign
    sin sinh slice slice_axis softmax softmin sort split sqrt square squeeze sum swapaxes take tan
    tanh tile topk trunc zeros_like
    """
INSTALLED = tuple(_NAMES.split())
"""Their names."""


def _method(name: str) -> Callable[..., Any]:
    def method(self, *args, **kwargs) -> Any:
        if type(self) is not NDArray:
            raise AttributeError(
                f"mxnet.numpy.ndarray object has no attribute {name}: write np.{name}(x), or "
                f"npx.{name}(x)"
            )
        function = function_of(name)
        assert function is not None
        return function(self, *args, **kwargs)

    method.__name__ = method.__qualname__ = name
    method.__doc__ = f"As ``mxnet.nd.{name}``, of this array."
    return method


def _reshape(self, *shape, **kwargs) -> Any:
    """The array in another shape (see ``mxnet.nd.reshape`` for the codes 0 and below)."""
    if "shape" in kwargs:
        shape = kwargs.pop("shape")
    elif len(shape) == 1 and isinstance(shape[0], list | tuple):
        (shape,) = shape
    return computed(NDArray, reshape, (self, shape), {}, views=True)


def _transpose(self, *axes) -> Any:
    """The array with its axes in the order of `axes`, or reversed."""
    order = axes[0] if len(axes) == 1 and not isinstance(axes[0], int) else axes
    function = function_of("transpose")
    assert function is not None
    return function(self, order)


operators.install(NDArray, {name: _method(name) for name in INSTALLED})
operators.install(NDArray, {"reshape": _reshape, "transpose": _transpose})


class _SoftmaxOutput(Function):
    """softmax, with the gradient of the cross entropy to labels, whatever cotangent comes."""

    @staticmethod
    def forward(ctx, data, label, scale: float) -> Any:
        result = F.softmax(data, dim=1 if data._payload.ndim > 1 else 0)
        ctx.save_for_backward(result, label)
        ctx.scale = scale
        return result

    @staticmethod
    def backward(ctx, *grads) -> Any:
        chances, label = ctx.saved_tensors
        places = label._payload.astype(np.int64)
        hot = np.eye(chances._payload.shape[-1], dtype=chances._payload.dtype)[places]
        return (chances - new_tensor(hot)) * ctx.scale, None, None


def softmax_output(
    data, label, grad_scale: float = 1.0, normalization: str = "null", **kwargs
) -> Any:
    """softmax of `data`; its gradient is that of the cross entropy to `label`, as in MXNet.

    The gradient that comes from further on is ignored: the layer is the last one.
    """
    scale = grad_scale / data._payload.shape[0] if normalization == "batch" else grad_scale
    return _SoftmaxOutput.apply(data, label, scale)


def softmax_cross_entropy(data, label) -> Any:
    """The sum over all rows of the cross entropy of softmax(data) to `label`."""
    return F.cross_entropy(data, new_tensor(label._payload.astype(np.int64)), reduction="sum")


def make_loss(data, **kwargs) -> Any:
    """`data`, as the end of a graph."""
    return T.clone(data)


def l2_normalization(data, eps: float = 1e-10, mode: str = "instance") -> Any:
    """`data` divided by the square root of its sum of squares, for each instance."""
    axes = {"instance": tuple(range(1, data._payload.ndim)), "channel": (1,)}
    dims = axes.get(mode, tuple(range(2, data._payload.ndim)))
    squares = total(data * data, dims, True)
    return data / T.sqrt(squares + eps)


FUNCTIONS: dict[str, Callable[..., Any]] = {
    "L2Normalization": l2_normalization,
    "MakeLoss": make_loss,
    "SoftmaxOutput": softmax_output,
    "make_loss": make_loss,
    "softmax_cross_entropy": softmax_cross_entropy,
}


_SAME = """
    abs arccos arccosh arcsin arcsinh arctan arctanh broadcast_arrays cbrt ceil cos cosh degrees
    expand_dims exp expm1 fix floor log log10 log1p log2 moveaxis radians reciprocal rint round sign
    sin sinh sqrt square squeeze swapaxes tan tanh trunc where add subtract multiply divide
    maximum minimum power negative hypot diag
    """
"""Functions that are NumPy's."""
_SPELLED = {
    "abs": "absolute",
    "broadcast_add": "add",
    "broadcast_div": "divide",
    "broadcast_hypot": "hypot",
    "broadcast_maximum": "maximum",
    "broadcast_minimum": "minimum",
    "broadcast_minus": "subtract",
    "broadcast_mod": "remainder",
    "broadcast_mul": "multiply",
    "broadcast_plus": "add",
    "broadcast_power": "power",
    "broadcast_sub": "subtract",
    "elemwise_add": "add",
    "elemwise_div": "divide",
    "elemwise_mul": "multiply",
    "elemwise_sub": "subtract",
    "fix": "trunc",
    "modulo": "remainder",
    "pow": "power",
}
_COMPARING = {
    **{name: numpys for numpys in COMPARISONS.values() for name in (numpys, f"broadcast_{numpys}")},
    "lesser": "less",
    "lesser_equal": "less_equal",
    "broadcast_lesser": "less",
    "broadcast_lesser_equal": "less_equal",
    **{f"logical_{w}": f"logical_{w}" for w in ("and", "or", "xor", "not")},
    **{f"broadcast_logical_{w}": f"logical_{w}" for w in ("and", "or", "xor")},
    "isfinite": "isfinite",
    "isinf": "isinf",
    "isnan": "isnan",
}
"""Functions that answer with 1 and 0, in the dtype of their argument."""


def _first(args: tuple[Any, ...]) -> Any:
    return next((x for x in args if isinstance(x, TensorBase)), None)


# -- reductions ------------------------------------------------------------------------------------


def _axes(x, axis, exclude: bool) -> Any:
    """The axes to reduce; an empty tuple means all, in MXNet."""
    if axis is None or axis == ():
        axis = tuple(range(x._payload.ndim)) if not exclude else ()
    if not exclude:
        return axis
    kept = {(axis if isinstance(axis, int) else i) % x._payload.ndim for i in np.ravel(axis)}
    return tuple(i for i in range(x._payload.ndim) if i not in kept)


def _reduction(numpys: str) -> Callable[..., Any]:
    below = getattr(wnp, numpys)

    def reduce(data, axis=None, keepdims: bool = False, exclude: bool = False) -> Any:
        result = below(data, axis=_axes(data, axis, exclude), keepdims=keepdims)
        whole = data._payload.dtype.kind in "iu" and result._payload.dtype != data._payload.dtype
        return result.astype(data._payload.dtype) if whole else result

    return reduce


def norm(data, ord: int = 2, axis=None, keepdims: bool = False, out_dtype=None) -> Any:
    """The square root of the sum of squares, or with ``ord=1`` the sum of sizes."""
    if ord == 1:
        return wnp.sum(wnp.absolute(data), axis=axis, keepdims=keepdims)
    if ord != 2:
        raise MXNetError(f"norm only supports ord=1 and ord=2, got {ord!r}")
    flat = data if axis is not None else reshaped(data, (data._payload.size,))
    result = wnp.linalg.norm(flat, axis=axis, keepdims=keepdims and axis is not None)
    return result.reshape((1,) * data._payload.ndim) if keepdims and axis is None else result


def _position(numpys: str) -> Callable[..., Any]:
    def position(data, axis: int | None = None, keepdims: bool = False) -> Any:
        places = getattr(np, numpys)(np.asarray(data._payload), axis=axis, keepdims=keepdims)
        return new_tensor(np.asarray(places, np.float32))

    return position


# -- products --------------------------------------------------------------------------------------


def dot(lhs, rhs, transpose_a: bool = False, transpose_b: bool = False) -> Any:
    """Sums of products over the last axis of `lhs` and the first of `rhs`."""
    a = wnp.transpose(lhs) if transpose_a else lhs
    b = wnp.transpose(rhs) if transpose_b else rhs
    return wnp.tensordot(a, b, axes=1)


def gemm2(A, B, transpose_a: bool = False, transpose_b: bool = False, alpha: float = 1.0) -> Any:
    """``alpha * A @ B``, of matrices or stacks of them."""
    return NEURAL["batch_dot"](A, B, transpose_a, transpose_b) * alpha


# -- shapes ----------------------------------------------------------------------------------------


def reshape(data, shape=None, reverse: bool = False, **kwargs) -> Any:
    """`data` in another shape.

    0 keeps a size, -1 is what is left, -2 all sizes that are left, -3 the product of two, and
    ``-4, a, b`` splits one into two.
    """
    sizes = [shape] if isinstance(shape, int) else list(shape)
    return reshaped(data, resolved(tuple(data._payload.shape), sizes))


def resolved(have: tuple[int, ...], wanted: Sequence[int]) -> tuple[int, ...]:
    """The shape that MXNet means by `wanted` for an array of shape `have`."""
    result: list[int] = []
    at, codes = 0, iter(wanted)
    for code in codes:
        if code == 0:
            result.append(have[at])
            at += 1
        elif code == -2:
            result += have[at:]
            at = len(have)
        elif code == -3:
            result.append(have[at] * have[at + 1])
            at += 2
        elif code == -4:
            parts = [next(codes), next(codes)]
            if -1 in parts:
                parts[parts.index(-1)] = have[at] // -(parts[0] * parts[1])
            result += parts
            at += 1
        else:
            result.append(code)
            at += 1
    count = int(np.prod(have))
    if -1 in result:
        others = -int(np.prod(result))
        if not others or count % others:
            raise MXNetError(f"Cannot reshape array of shape {list(have)} into {list(wanted)}")
        result[result.index(-1)] = count // others
    if int(np.prod(result)) != count:
        raise MXNetError(
            f"Cannot reshape array of size {count} into shape {result}: the array has shape "
            f"{list(have)}"
        )
    return tuple(result)


def flatten(data) -> Any:
    """All dimensions but the first as one."""
    return reshaped(data, resolved(tuple(data._payload.shape), [0, -1]))


def transpose(data, axes=None) -> Any:
    """The axes in another order, by default reversed."""
    return wnp.transpose(data, axes or None)


def concat(*data, dim: int = 1, num_args: int | None = None) -> Any:
    """Arrays joined along `dim`."""
    return wnp.concatenate(data, axis=dim)


def stack(*data, axis: int = 0, num_args: int | None = None) -> Any:
    """Arrays joined along a new axis."""
    parts = data[0] if len(data) == 1 and isinstance(data[0], list | tuple) else data
    return wnp.stack(list(parts), axis=axis)


def concatenate(arrays, axis: int = 0, always_copy: bool = True) -> Any:
    """A list of arrays joined along `axis`."""
    return wnp.concatenate(arrays, axis=axis)


def split(data, num_outputs: int, axis: int = 1, squeeze_axis: bool = False) -> Any:
    """`data` in `num_outputs` equal parts along `axis`."""
    parts = wnp.split(data, num_outputs, axis=axis)
    return [wnp.squeeze(part, axis) for part in parts] if squeeze_axis else parts


def broadcast_to(data, shape) -> Any:
    """`data` repeated up to `shape`; 0 keeps a size."""
    sizes = tuple(size or data._payload.shape[i] for i, size in enumerate(shape))
    return wnp.broadcast_to(data, sizes)


def broadcast_like(lhs, rhs) -> Any:
    """`lhs` repeated up to the shape of `rhs`."""
    return wnp.broadcast_to(lhs, tuple(rhs._payload.shape))


def broadcast_axis(data, axis=(), size=()) -> Any:
    """`data` repeated along axes of size 1."""
    sizes = list(data._payload.shape)
    for i, n in zip(np.ravel(axis), np.ravel(size), strict=True):
        sizes[int(i)] = int(n)
    return wnp.broadcast_to(data, tuple(sizes))


def slice(data, begin, end, step=()) -> Any:
    """The elements from `begin` up to `end` in each dimension."""
    spans = itertools.zip_longest(begin, end, step or ())
    return wnp.ndarray.__getitem__(data, tuple(_span(*span) for span in spans))


_span = type(np.s_[:])


def slice_axis(data, axis: int, begin: int, end: int | None) -> Any:
    """The elements from `begin` up to `end` along one axis."""
    at = [_span(None)] * data._payload.ndim
    at[axis] = _span(begin, end)
    return wnp.ndarray.__getitem__(data, tuple(at))


def take(a, indices, axis: int = 0, mode: str = "clip") -> Any:
    """Parts of `a` along `axis`, by their positions."""
    return wnp.take(a, index_of(indices), axis=axis, mode=mode)


def flip(data, axis) -> Any:
    """The elements along `axis` in reverse order."""
    return wnp.flip(data, axis)


def tile(data, reps) -> Any:
    """`data` repeated as a whole."""
    return wnp.tile(data, reps)


def repeat(data, repeats: int, axis: int | None = None) -> Any:
    """Each element repeated."""
    return wnp.repeat(data, repeats, axis)


def clip(data, a_min: float, a_max: float) -> Any:
    """Elements below `a_min` or above `a_max` replaced by these."""
    return wnp.clip(data, a_min, a_max)


def sort(data, axis: int = -1, is_ascend: bool = True) -> Any:
    """The elements along `axis` in order."""
    ordered = wnp.sort(data, axis)
    return ordered if is_ascend else wnp.flip(ordered, axis)


def argsort(data, axis: int = -1, is_ascend: bool = True, dtype="float32") -> Any:
    """Where the elements of `sort` are."""
    places = np.argsort(np.asarray(data._payload), axis, kind="stable")
    return new_tensor((places if is_ascend else np.flip(places, axis)).astype(dtype))


def cast(data, dtype) -> Any:
    """`data` in another dtype."""
    return T.to_copy(data, dtype=np.dtype(dtype))


def like(data, value: float) -> Any:
    """An array of `value` in the shape and dtype of `data`."""
    return new_tensor(np.full_like(data._payload, value))


def softmax(data, axis: int = -1, **kwargs) -> Any:
    """exp(data) divided by its sum along `axis`."""
    return NEURAL["softmax"](data, None, axis, **kwargs)


def add_n(*args) -> Any:
    """The sum of arrays."""
    total = args[0]
    for other in args[1:]:
        total = wnp.add(total, other)
    return total


_OWN: dict[str, Callable[..., Any]] = {
    **{n: _reduction(n) for n in ("sum", "mean", "prod", "max", "min", "nansum", "nanprod")},
    **{f"{n}_axis": _reduction(n) for n in ("sum", "max", "min")},
    **{n: _position(n) for n in ("argmax", "argmin")},
    **FUNCTIONS,
    "BlockGrad": NEURAL["stop_gradient"],
    "Cast": cast,
    "Concat": concat,
    "ElementWiseSum": add_n,
    "Flatten": flatten,
    "Reshape": reshape,
    "SliceChannel": split,
    "SwapAxis": wnp.swapaxes,
    "add_n": add_n,
    "argsort": argsort,
    "broadcast_axes": broadcast_axis,
    "broadcast_axis": broadcast_axis,
    "broadcast_like": broadcast_like,
    "broadcast_to": broadcast_to,
    "cast": cast,
    "clip": clip,
    "concat": concat,
    "concatenate": concatenate,
    "dot": dot,
    "flatten": flatten,
    "flip": flip,
    "gemm2": gemm2,
    "linalg_gemm2": gemm2,
    "norm": norm,
    "ones_like": functools.partial(like, value=1),
    "relu": NEURAL["relu"],
    "repeat": repeat,
    "reshape": reshape,
    "reverse": flip,
    "rsqrt": lambda data: T.rsqrt(data),
    "slice": slice,
    "slice_axis": slice_axis,
    "softmax": softmax,
    "sort": sort,
    "split": split,
    "stack": stack,
    "take": take,
    "tile": tile,
    "transpose": transpose,
    "zeros_like": functools.partial(like, value=0),
}
_CAPITALS = {
    "Activation": "activation",
    "BatchNorm": "batch_norm",
    "Convolution": "convolution",
    "Deconvolution": "deconvolution",
    "Dropout": "dropout",
    "Embedding": "embedding",
    "FullyConnected": "fully_connected",
    "LayerNorm": "layer_norm",
    "LeakyReLU": "leaky_relu",
    "Pooling": "pooling",
    "SequenceMask": "sequence_mask",
}
"""Layers, by their legacy names."""


def _comparing(numpys: str) -> Callable[..., Any]:
    below = getattr(wnp, numpys)

    def compare(*args) -> Any:
        first = _first(args)
        return below(*args).astype(first._payload.dtype)

    return compare


def _elementwise(below: Callable[..., Any], name: str) -> Callable[..., Any]:
    """As `below`, of arrays of one shape only."""

    def function(lhs, rhs) -> Any:
        if lhs._payload.shape != rhs._payload.shape:
            have, got = list(lhs._payload.shape), list(rhs._payload.shape)
            raise MXNetError(
                f"Incompatible attr in node  at 1-th input: expected {have}, got {got}: {name} is "
                f"of arrays of one shape, nd.{name.replace('elemwise', 'broadcast')} broadcasts"
            )
        return below(lhs, rhs)

    return function


def _below(name: str) -> Callable[..., Any] | None:
    if name in _OWN:
        return _OWN[name]
    if name in _CAPITALS or name in NEURAL:
        return NEURAL[_CAPITALS.get(name, name)]
    if name in _COMPARING:
        return _comparing(_COMPARING[name])
    if name in _SPELLED or name in _SAME.split():
        numpys = _SPELLED.get(name, name)
        below: Callable[..., Any] = TIED.get(numpys, getattr(wnp, numpys))
        return _elementwise(below, name) if name.startswith("elemwise_") else below
    return None


def names() -> set[str]:
    """The names of all functions."""
    return {*_OWN, *_CAPITALS, *NEURAL, *_COMPARING, *_SPELLED, *_SAME.split()}


@functools.cache
def function_of(name: str) -> Callable[..., Any] | None:
    """The function of ``mxnet.nd`` that is called `name`, or None."""
    below = _below(name)
    if below is None:
        return None

    def function(*args, **kwargs) -> Any:
        for ignored in ("name", "ctx"):
            kwargs.pop(ignored, None)
        out = kwargs.pop("out", None)
        if "data" in kwargs and not args:
            args = (kwargs.pop("data"),)
        if not args and not kwargs:
            raise TypeError(f"nd.{name} needs an array")
        if args and isinstance(args[0], np.ndarray):
            raise TypeError(f"nd.{name}: {shown(args[0])} is not an NDArray: write nd.array(x)")
        args = known(_CAPITALS.get(name, name), args, kwargs)
        result = computed(NDArray, below, args, kwargs)
        if out is None:
            return result
        out[...] = result
        return out

    function.__name__ = function.__qualname__ = name
    function.__module__ = "wengert.compat.mxnet.nd"
    told = below.__doc__ if name in _OWN or name in _CAPITALS or name in NEURAL else None
    told = None if told is None else told.partition("\n\n")[0]
    function.__doc__ = told or f"MXNet's `{name}`, element by element, broadcast; differentiable."
    return function
