"""Layer 9 · compat: the functions of ``mxnet.nd``, with the arguments of the legacy operators.

Importing this module also installs methods on the class.
"""

from __future__ import annotations

import functools
import inspect
import itertools
from collections.abc import Callable
from typing import Any

import numpy as np

from wengert import numpy as wnp
from wengert.compat.kit.namespaces import functions_of
from wengert.compat.kit.operators import COMPARISONS
from wengert.compat.mxnet import operators, outputs
from wengert.compat.mxnet.arrays import NDArray
from wengert.compat.mxnet.base import MXNetError, shown
from wengert.compat.mxnet.neural import FUNCTIONS as NEURAL
from wengert.compat.mxnet.neural import known
from wengert.compat.mxnet.numpy.functions import TIED, kept, whole_numbers
from wengert.compat.mxnet.results import EXTREMES, computed, into
from wengert.compat.mxnet.shaping import SHAPING, reshape
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
    depth_to_space pad rcbrt shape_array sin sinh size_array slice slice_axis slice_like softmax
    softmin sort space_to_depth split split_v2 sqrt square squeeze sum swapaxes take tan tanh tile
    topk trunc zeros_like
    """
"""The methods of arrays that are functions of ``mxnet.nd``."""


def _reshape(self, *shape, **kwargs) -> Any:
    """Reshape the array (see ``mxnet.nd.reshape`` for the codes 0 and below)."""
    reverse = kwargs.get("reverse", False)
    if "shape" in kwargs:
        shape = kwargs.pop("shape")
    elif len(shape) == 1 and isinstance(shape[0], list | tuple):
        (shape,) = shape
    return computed(NDArray, reshape, (self, shape, reverse), {}, views=True)


def softmax_cross_entropy(data, label) -> Any:
    """Return the cross entropy of softmax(data) with `label`, summed over all rows."""
    return F.cross_entropy(data, new_tensor(label._payload.astype(np.int64)), reduction="sum")


def l2_normalization(data, eps=1e-10, mode="instance") -> Any:
    """Divide `data` by its Euclidean norm, per instance."""
    axes = {"instance": tuple(range(1, data._payload.ndim)), "channel": (1,)}
    dims = axes.get(mode, tuple(range(2, data._payload.ndim)))
    squares = total(data * data, dims, True)
    return data / T.sqrt(squares + eps)


def _pairs(text: str) -> dict[str, str]:
    return dict(pair.split("=") for pair in text.split())


_SAME = """
    abs arccos arccosh arcsin arcsinh arctan arctanh broadcast_arrays cbrt ceil cos cosh degrees
    expand_dims exp expm1 fix floor log log10 log1p log2 moveaxis radians reciprocal rint round sign
    sin sinh sqrt square squeeze tan tanh trunc add subtract multiply divide
    maximum minimum power negative hypot flip repeat tile
    """
"""Functions that are the same as NumPy's."""
_OTHERS = """
    abs=absolute broadcast_add=add broadcast_div=divide broadcast_hypot=hypot
    broadcast_maximum=maximum broadcast_minimum=minimum broadcast_minus=subtract
    broadcast_mod=remainder broadcast_mul=multiply broadcast_plus=add broadcast_power=power
    broadcast_sub=subtract elemwise_add=add elemwise_div=divide elemwise_mul=multiply
    elemwise_sub=subtract fix=trunc modulo=remainder pow=power reverse=flip true_divide=divide
    """
_SPELLED = _pairs(_OTHERS)
_COMPARING = {
    **{name: numpys for numpys in COMPARISONS.values() for name in (numpys, f"broadcast_{numpys}")},
    **{f"{b}logical_{w}": f"logical_{w}" for w in ("and", "or", "xor") for b in ("", "broadcast_")},
    **{name: name for name in ("logical_not", "isfinite", "isinf", "isnan")},
    **dict.fromkeys(("lesser", "broadcast_lesser"), "less"),
    **dict.fromkeys(("lesser_equal", "broadcast_lesser_equal"), "less_equal"),
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
    below = EXTREMES.get(numpys, getattr(wnp, numpys))

    def reduce(data, axis=None, keepdims=False, exclude=False) -> Any:
        return below(data, axis=_axes(data, axis, exclude), keepdims=keepdims)

    return reduce


def norm(data, ord=2, axis=None, keepdims=False, out_dtype=None) -> Any:
    """Return the root of the sum of squares, or with ``ord=1`` the sum of absolute values."""
    if ord == 1:
        return wnp.sum(wnp.absolute(data), axis=axis, keepdims=keepdims)
    axis = None if axis == () else axis
    if ord != 2:
        raise MXNetError(f"norm only supports ord=1 and ord=2, got {ord!r}")
    flat = data if axis is not None else reshaped(data, (data._payload.size,))
    result = wnp.linalg.norm(flat, axis=axis, keepdims=keepdims and axis is not None)
    return result.reshape((1,) * data._payload.ndim) if keepdims and axis is None else result


def _position(numpys: str) -> Callable[..., Any]:
    def position(data, axis: int | None = None, keepdims=False) -> Any:
        places = getattr(np, numpys)(np.asarray(data._payload), axis=axis, keepdims=keepdims)
        return new_tensor(np.asarray(places, data._payload.dtype))

    return position


# -- products --------------------------------------------------------------------------------------


def dot(lhs, rhs, transpose_a=False, transpose_b=False) -> Any:
    """Sum products over the last axis of `lhs` and the first of `rhs`."""
    a = wnp.moveaxis(lhs, 0, -1) if transpose_a else lhs
    b = wnp.moveaxis(rhs, -1, 0) if transpose_b else rhs
    return wnp.tensordot(a, b, axes=1)


def gemm2(A, B, transpose_a=False, transpose_b=False, alpha=1.0) -> Any:
    """Return ``alpha * A @ B`` for matrices or stacks of them."""
    return NEURAL["batch_dot"](A, B, transpose_a, transpose_b) * alpha


_LEGACY = """
    AdaptiveAvgPooling2D=adaptive_average Cast=cast Concat=concat ElementWiseSum=add_n
    Flatten=flatten L2Normalization=l2_normalization LRN=lrn
    LinearRegressionOutput=linear_output LogisticRegressionOutput=logistic_output
    MAERegressionOutput=absolute_output MakeLoss=make_loss Pad=pad Reshape=reshape
    SequenceLast=sequence_last SequenceReverse=sequence_reverse SliceChannel=split
    SoftmaxOutput=softmax_output SwapAxis=swapaxes UpSampling=up_sampling
    broadcast_axes=broadcast_axis choose_element_0index=batch_take crop=slice linalg_gemm2=gemm2
    """
"""Legacy names of functions of these modules."""
_ONLY_LEGACY = """
    absolute_output adaptive_average l2_normalization linear_output logistic_output lrn resolved
    sequence_last sequence_reverse softmax_output up_sampling
    """
_LAYERS = """
    Activation=activation BatchNorm=batch_norm BlockGrad=stop_gradient CTCLoss=ctc_loss
    Convolution=convolution Deconvolution=deconvolution Dropout=dropout Embedding=embedding
    FullyConnected=fully_connected GroupNorm=group_norm InstanceNorm=instance_norm
    LayerNorm=layer_norm LeakyReLU=leaky_relu Pooling=pooling SequenceMask=sequence_mask
    ctc_loss=ctc_loss
    """
_CAPITALS = _pairs(_LAYERS)
"""Layers, by their legacy names."""
_HERE = functions_of(globals(), "function_of names") | SHAPING | functions_of(vars(outputs))
_OWN: dict[str, Callable[..., Any]] = {
    **{n: _reduction(n) for n in ("sum", "mean", "prod", "max", "min", "nansum", "nanprod")},
    **{f"{n}_axis": _reduction(n) for n in ("sum", "max", "min")},
    **{n: _position(n) for n in ("argmax", "argmin")},
    **{name: below for name, below in _HERE.items() if name not in _ONLY_LEGACY.split()},
    **{name: _HERE[home] for name, home in _pairs(_LEGACY).items()},
    "rsqrt": lambda data: T.rsqrt(data),
    "identity": lambda data: T.clone(data),
}


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
        below: Callable[..., Any] = _ROUNDED.get(name, TIED.get(numpys, getattr(wnp, numpys)))
        return _elementwise(below, name) if name.startswith("elemwise_") else below
    return None


def _halves_up(x) -> Any:
    """Round to the nearest integer, halves away from 0."""
    size = wnp.absolute(x)
    whole = wnp.floor(size)
    return wnp.sign(x) * (whole + (size._payload - whole._payload >= 0.5))


_ROUNDED = {"round": _halves_up}


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
        result = computed(NDArray, below, whole_numbers(args) if elementwise else args, kwargs)
        if "dtype" not in signature.parameters and not name.endswith("_array"):
            result = kept(result, args, f"nd.{name}")
        return into(out, result)

    function.__name__ = function.__qualname__ = name
    function.__module__ = "wengert.compat.mxnet.nd"
    function.__signature__ = signature  # type: ignore[attr-defined]
    told = below.__doc__ if name in _OWN or name in _CAPITALS or name in NEURAL else None
    told = None if told is None else told.partition("\n\n")[0]
    function.__doc__ = told or f"MXNet's `{name}`, element by element, broadcast; differentiable."
    return function


INSTALLED = operators.delegated("nd", _NAMES, function_of) | {"reshape": _reshape}
operators.install(NDArray, INSTALLED)
