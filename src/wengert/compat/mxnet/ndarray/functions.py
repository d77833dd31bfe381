"""Layer 9 · compat: the functions of ``mxnet.nd``, with the arguments of the legacy operators.

Importing this module also installs methods on the class.
"""

from __future__ import annotations

import functools
import inspect
import itertools
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from wengert import numpy as wnp
from wengert.autograd import Function
from wengert.compat.kit.namespaces import rows_of
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
"""The names of the methods."""


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
    """Reshape the array (see ``mxnet.nd.reshape`` for the codes 0 and below)."""
    if "shape" in kwargs:
        shape = kwargs.pop("shape")
    elif len(shape) == 1 and isinstance(shape[0], list | tuple):
        (shape,) = shape
    return computed(NDArray, reshape, (self, shape), {}, views=True)


def _transpose(self, *axes) -> Any:
    """Permute the axes by `axes`, or reverse them."""
    order = axes[0] if len(axes) == 1 and not isinstance(axes[0], int) else axes
    function = function_of("transpose")
    assert function is not None
    return function(self, order)


operators.install(NDArray, {name: _method(name) for name in INSTALLED})
operators.install(NDArray, {"reshape": _reshape, "transpose": _transpose})


class _SoftmaxOutput(Function):
    """Softmax with the gradient of the cross entropy with labels; the cotangent is ignored."""

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
    """Return softmax of `data`; its gradient is that of the cross entropy with `label`.

    As in MXNet, the cotangent is ignored: the layer must be the last one.
    """
    scale = grad_scale / data._payload.shape[0] if normalization == "batch" else grad_scale
    return _SoftmaxOutput.apply(data, label, scale)


def softmax_cross_entropy(data, label) -> Any:
    """Return the cross entropy of softmax(data) with `label`, summed over all rows."""
    return F.cross_entropy(data, new_tensor(label._payload.astype(np.int64)), reduction="sum")


def make_loss(data, **kwargs) -> Any:
    """Return `data` as the output of a graph."""
    return T.clone(data)


def l2_normalization(data, eps: float = 1e-10, mode: str = "instance") -> Any:
    """Divide `data` by its Euclidean norm, per instance."""
    axes = {"instance": tuple(range(1, data._payload.ndim)), "channel": (1,)}
    dims = axes.get(mode, tuple(range(2, data._payload.ndim)))
    squares = total(data * data, dims, True)
    return data / T.sqrt(squares + eps)


def _named(text: str) -> dict[str, str]:
    """Return the functions in rows ``function: MXNet's names``, by MXNet's name."""
    return {name: home for home, names in rows_of(text) for name in names}


_SAME = """
    abs arccos arccosh arcsin arcsinh arctan arctanh broadcast_arrays cbrt ceil cos cosh degrees
    expand_dims exp expm1 fix floor log log10 log1p log2 moveaxis radians reciprocal rint round sign
    sin sinh sqrt square squeeze swapaxes tan tanh trunc where add subtract multiply divide
    maximum minimum power negative hypot diag flip repeat tile
    """
"""Functions that are the same as NumPy's."""
_SPELLED = _named(
    """
    absolute: abs
    add: broadcast_add broadcast_plus elemwise_add
    divide: broadcast_div elemwise_div
    flip: reverse
    hypot: broadcast_hypot
    maximum: broadcast_maximum
    minimum: broadcast_minimum
    multiply: broadcast_mul elemwise_mul
    power: broadcast_power pow
    remainder: broadcast_mod modulo
    subtract: broadcast_minus broadcast_sub elemwise_sub
    swapaxes: SwapAxis
    trunc: fix
    """
)
_COMPARING = {
    **{name: numpys for numpys in COMPARISONS.values() for name in (numpys, f"broadcast_{numpys}")},
    **{f"{b}logical_{w}": f"logical_{w}" for w in ("and", "or", "xor") for b in ("", "broadcast_")},
    **{name: name for name in ("logical_not", "isfinite", "isinf", "isnan")},
    **_named(
        """
        less: lesser broadcast_lesser
        less_equal: lesser_equal broadcast_lesser_equal
        """
    ),
}
"""Functions that return 1 and 0, in the dtype of their argument."""


def _first(args: tuple[Any, ...]) -> Any:
    return next((x for x in args if isinstance(x, TensorBase)), None)


# -- reductions ------------------------------------------------------------------------------------


def _axes(x, axis, exclude: bool) -> Any:
    """Return the axes to reduce; in MXNet, an empty tuple means all."""
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
    """Return the root of the sum of squares, or with ``ord=1`` the sum of absolute values."""
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
    """Sum products over the last axis of `lhs` and the first of `rhs`."""
    a = wnp.transpose(lhs) if transpose_a else lhs
    b = wnp.transpose(rhs) if transpose_b else rhs
    return wnp.tensordot(a, b, axes=1)


def gemm2(A, B, transpose_a: bool = False, transpose_b: bool = False, alpha: float = 1.0) -> Any:
    """Return ``alpha * A @ B`` for matrices or stacks of them."""
    return NEURAL["batch_dot"](A, B, transpose_a, transpose_b) * alpha


# -- shapes ----------------------------------------------------------------------------------------


def reshape(data, shape=None, reverse: bool = False, **kwargs) -> Any:
    """Reshape `data`.

    0 keeps a size, -1 is inferred, -2 keeps all remaining sizes, -3 merges two sizes, and
    ``-4, a, b`` splits one size into two.
    """
    sizes = [shape] if isinstance(shape, int) else list(shape)
    return reshaped(data, resolved(tuple(data._payload.shape), sizes))


def resolved(have: tuple[int, ...], wanted: Sequence[int]) -> tuple[int, ...]:
    """Resolve MXNet's codes in the shape `wanted` for an array of shape `have`."""
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
    """Flatten all dimensions but the first."""
    return reshaped(data, resolved(tuple(data._payload.shape), [0, -1]))


def transpose(data, axes=None) -> Any:
    """Permute the axes; reverse them by default."""
    return wnp.transpose(data, axes or None)


def concat(*data, dim: int = 1, num_args: int | None = None) -> Any:
    """Join arrays along `dim`."""
    return wnp.concatenate(data, axis=dim)


def stack(*data, axis: int = 0, num_args: int | None = None) -> Any:
    """Join arrays along a new axis."""
    parts = data[0] if len(data) == 1 and isinstance(data[0], list | tuple) else data
    return wnp.stack(list(parts), axis=axis)


def concatenate(arrays, axis: int = 0, always_copy: bool = True) -> Any:
    """Join a list of arrays along `axis`."""
    return wnp.concatenate(arrays, axis=axis)


def split(data, num_outputs: int, axis: int = 1, squeeze_axis: bool = False) -> Any:
    """Split `data` into `num_outputs` equal parts along `axis`."""
    parts = wnp.split(data, num_outputs, axis=axis)
    return [wnp.squeeze(part, axis) for part in parts] if squeeze_axis else parts


def broadcast_to(data, shape) -> Any:
    """Broadcast `data` to `shape`, in which 0 keeps a size."""
    sizes = tuple(size or data._payload.shape[i] for i, size in enumerate(shape))
    return wnp.broadcast_to(data, sizes)


def broadcast_like(lhs, rhs) -> Any:
    """Broadcast `lhs` to the shape of `rhs`."""
    return wnp.broadcast_to(lhs, tuple(rhs._payload.shape))


def broadcast_axis(data, axis=(), size=()) -> Any:
    """Broadcast `data` along axes of size 1."""
    sizes = list(data._payload.shape)
    for i, n in zip(np.ravel(axis), np.ravel(size), strict=True):
        sizes[int(i)] = int(n)
    return wnp.broadcast_to(data, tuple(sizes))


def slice(data, begin, end, step=()) -> Any:
    """Return the elements from `begin` to `end` in each dimension."""
    spans = itertools.zip_longest(begin, end, step or ())
    return wnp.ndarray.__getitem__(data, tuple(_span(*span) for span in spans))


_span = type(np.s_[:])


def slice_axis(data, axis: int, begin: int, end: int | None) -> Any:
    """Return the elements from `begin` to `end` along one axis."""
    at = [_span(None)] * data._payload.ndim
    at[axis] = _span(begin, end)
    return wnp.ndarray.__getitem__(data, tuple(at))


def take(a, indices, axis: int = 0, mode: str = "clip") -> Any:
    """Take slices of `a` along `axis` by index."""
    return wnp.take(a, index_of(indices), axis=axis, mode=mode)


def clip(data, a_min: float, a_max: float) -> Any:
    """Clamp elements to [a_min, a_max]."""
    return wnp.clip(data, a_min, a_max)


def sort(data, axis: int = -1, is_ascend: bool = True) -> Any:
    """Sort the elements along an axis."""
    ordered = wnp.sort(data, axis)
    return ordered if is_ascend else wnp.flip(ordered, axis)


def argsort(data, axis: int = -1, is_ascend: bool = True, dtype="float32") -> Any:
    """Return the indices that sort the elements along an axis."""
    places = np.argsort(np.asarray(data._payload), axis, kind="stable")
    return new_tensor((places if is_ascend else np.flip(places, axis)).astype(dtype))


def cast(data, dtype) -> Any:
    """Convert `data` to another dtype."""
    return T.to_copy(data, dtype=np.dtype(dtype))


def ones_like(data) -> Any:
    """Return ones in the shape and dtype of `data`."""
    return new_tensor(np.ones_like(data._payload))


def zeros_like(data) -> Any:
    """Return zeros in the shape and dtype of `data`."""
    return new_tensor(np.zeros_like(data._payload))


def softmax(data, axis: int = -1, **kwargs) -> Any:
    """Return exp(data) divided by its sum along `axis`."""
    return NEURAL["softmax"](data, None, axis, **kwargs)


def add_n(*args) -> Any:
    """Return the sum of arrays."""
    total = args[0]
    for other in args[1:]:
        total = wnp.add(total, other)
    return total


_MODULE = _named(
    """
    add_n: ElementWiseSum add_n
    argsort: argsort
    broadcast_axis: broadcast_axes broadcast_axis
    broadcast_like: broadcast_like
    broadcast_to: broadcast_to
    cast: Cast cast
    clip: clip
    concat: Concat concat
    concatenate: concatenate
    dot: dot
    flatten: Flatten flatten
    gemm2: gemm2 linalg_gemm2
    l2_normalization: L2Normalization
    make_loss: MakeLoss make_loss
    norm: norm
    ones_like: ones_like
    reshape: Reshape reshape
    slice: slice
    slice_axis: slice_axis
    softmax: softmax
    softmax_cross_entropy: softmax_cross_entropy
    softmax_output: SoftmaxOutput
    sort: sort
    split: SliceChannel split
    stack: stack
    take: take
    transpose: transpose
    zeros_like: zeros_like
    """
)
"""Functions of this module."""
_OWN: dict[str, Callable[..., Any]] = {
    **{n: _reduction(n) for n in ("sum", "mean", "prod", "max", "min", "nansum", "nanprod")},
    **{f"{n}_axis": _reduction(n) for n in ("sum", "max", "min")},
    **{n: _position(n) for n in ("argmax", "argmin")},
    **{name: globals()[home] for name, home in _MODULE.items()},
    "rsqrt": lambda data: T.rsqrt(data),
}
_CAPITALS = _named(
    """
    activation: Activation
    batch_norm: BatchNorm
    convolution: Convolution
    deconvolution: Deconvolution
    dropout: Dropout
    embedding: Embedding
    fully_connected: FullyConnected
    layer_norm: LayerNorm
    leaky_relu: LeakyReLU
    pooling: Pooling
    sequence_mask: SequenceMask
    stop_gradient: BlockGrad
    """
)
"""Layers, by their legacy names."""


def _comparing(numpys: str) -> Callable[..., Any]:
    below = getattr(wnp, numpys)

    def compare(*args) -> Any:
        first = _first(args)
        return below(*args).astype(first._payload.dtype)

    return compare


def _elementwise(below: Callable[..., Any], name: str) -> Callable[..., Any]:
    """Restrict the function `below` to arrays of the same shape."""

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


_MXNETS = dict.fromkeys(("a", "x", "A", "m", "v", "input"), "data")
"""MXNet's names for array arguments that NumPy and PyTorch name differently."""


def _signature(below: Callable[..., Any], arrays: int) -> inspect.Signature:
    """Return the signature of `below` with ``out``, and with ``data`` as the first parameter.

    Parameters
    ----------
    arrays: The number of array arguments of an element-wise function; 0 for other functions.
    """
    shown = inspect.signature(below)
    kind = inspect.Parameter.POSITIONAL_OR_KEYWORD
    first, *rest = [
        one.replace(kind=kind) if one.kind is one.POSITIONAL_ONLY else one
        for one in shown.parameters.values()
    ]
    if arrays:
        names = ("data",) if arrays == 1 else ("lhs", "rhs")
        first, *rest = [inspect.Parameter(name, kind) for name in names]
    if below.__module__ != __name__ and first.kind is kind:
        first = first.replace(name=_MXNETS.get(first.name, first.name))
    variable = [one for one in rest if one.kind is one.VAR_KEYWORD]
    kept = [one for one in rest if one.name != "out" and one not in variable]
    out = inspect.Parameter("out", inspect.Parameter.KEYWORD_ONLY, default=None)
    return shown.replace(parameters=[first, *kept, out, *variable])


def names() -> set[str]:
    """Return the names of all functions."""
    return {*_OWN, *_CAPITALS, *NEURAL, *_COMPARING, *_SPELLED, *_SAME.split()}


@functools.cache
def function_of(name: str) -> Callable[..., Any] | None:
    """Return the function of ``mxnet.nd`` with a given name, or None."""
    below = _below(name)
    if below is None:
        return None
    numpys = _COMPARING.get(name, _SPELLED.get(name, name))
    elementwise = name not in _OWN and name not in NEURAL
    signature = _signature(below, getattr(getattr(wnp, numpys, None), "nin", 0) * elementwise)
    order = [p.name for p in signature.parameters.values() if p.kind is p.POSITIONAL_OR_KEYWORD]

    def function(*args, **kwargs) -> Any:
        for ignored in ("name", "ctx"):
            kwargs.pop(ignored, None)
        out = kwargs.pop("out", None)
        if "data" in kwargs and not args:
            args = (kwargs.pop("data"),)
        for part in itertools.takewhile(kwargs.__contains__, order[len(args) :]):
            args = (*args, kwargs.pop(part))
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
    function.__signature__ = signature  # type: ignore[attr-defined]
    told = below.__doc__ if name in _OWN or name in _CAPITALS or name in NEURAL else None
    told = None if told is None else told.partition("\n\n")[0]
    function.__doc__ = told or f"MXNet's `{name}`, element by element, broadcast; differentiable."
    return function
