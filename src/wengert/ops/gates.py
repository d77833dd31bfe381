"""Layer 5 · ops · activations: activations of pieces, and gates."""

# the functions and arguments have PyTorch's names

from __future__ import annotations

from typing import Any

import numpy as np

from wengert.base.dtypes import finfo, from_numpy_dtype
from wengert.base.export import export
from wengert.base.shapes import normal_dim
from wengert.interp.levels import Lifted
from wengert.ops.activations import leaky_relu
from wengert.ops.checks import real_input
from wengert.ops.coerce import dtype_name, integer, number, operand, real_number
from wengert.ops.like import memory_like
from wengert.ops.neural import softmax
from wengert.ops.options import placed
from wengert.ops.out import into
from wengert.ops.randomness import drawn
from wengert.ops.sample import draw_exponential, draw_uniform
from wengert.ops.whole_batches import drawn_of
from wengert.prims import thresholds as thresholds
from wengert.prims.table import TABLE
from wengert.tape.base import new_tensor
from wengert.tape.inplace import write
from wengert.tape.record import T


def _made(name: str, x: Any, inplace: bool, **params: Any) -> Any:
    if inplace:
        return write(TABLE[name], x, (), params, f"{name}_")
    return getattr(T, name)(x, **params)


@export("nn.functional")
def hardswish(input: Any, inplace: bool = False) -> Any:
    """Return ``input * relu6(input + 3) / 6``, element by element.

    Parameters
    ----------
    %(floating_input, returns_smooth_result, raises_floating)s

    Examples
    --------
    >>> wg.nn.functional.hardswish(wg.tensor([-4.0, 1.0, 4.0]))
    tensor([-0.0000,  0.6667,  4.0000])
    """
    x = real_input(input, "hardswish", "hardswish_cpu", floating=True)
    return _made("hardswish", x, inplace)


@export("wengert", "nn.functional", "Tensor")
def hardshrink(input: Any, lambd: float = 0.5, *, out: Any = None) -> Any:
    """Return the elements beyond `lambd` on either side of 0, and 0 for the others.

    Parameters
    ----------
    %(floating_input)s
    lambd : float. The limit.

    %(returns_smooth_result, raises_floating)s

    Examples
    --------
    >>> wg.nn.functional.hardshrink(wg.tensor([-1.0, 0.3, 2.0]))
    tensor([-1.,  0.,  2.])
    """
    x = real_input(input, "hardshrink", "hardshrink_cpu", True)
    # compared as the dtype holds it
    bound = float(x._payload.dtype.type(real_number(lambd, x, "hardshrink", "lambd")))
    return into(out, _made("hardshrink", x, False, lambd=bound), "hardshrink")


@export("nn.functional")
def softshrink(input: Any, lambd: float = 0.5, *, out: Any = None) -> Any:
    """Return the elements moved towards 0 by `lambd`, at most to 0.

    Parameters
    ----------
    %(floating_input)s
    lambd : float. The distance; not negative.

    %(returns_smooth_result, raises_floating)s
    RuntimeError: If `lambd` is negative or not finite.

    Examples
    --------
    >>> wg.nn.functional.softshrink(wg.tensor([-1.0, 0.3, 2.0]))
    tensor([-0.5000,  0.0000,  1.5000])
    """
    x = real_input(input, "softshrink", "softshrink_cpu", floating=True)
    lambd = real_number(lambd, x, "softshrink", "lambd")
    # every dtype reaches 1
    most = 1.0 if 0 <= lambd <= 1 else finfo(from_numpy_dtype(x._payload.dtype)).max
    if not 0 <= lambd <= most:
        raise RuntimeError(
            f"lambda must be in range [0, {most:g}] for input dtype {dtype_name(x._payload)}, but "
            f"found {lambd:g}"
        )
    return into(out, _made("softshrink", x, False, lambd=lambd), "softshrink")


@export("wengert", "nn.functional")
def threshold(input: Any, threshold: float, value: float, inplace: bool = False) -> Any:
    """Return the elements above a threshold, and a value for the others.

    Parameters
    ----------
    input : Tensor. Of a real dtype.
    threshold, value : float. The threshold, and the value for elements that are not above it.

    %(returns_smooth_result)s

    Raises
    ------
    NotImplementedError: If the dtype is complex or bool.

    Examples
    --------
    >>> wg.nn.functional.threshold(wg.tensor([-1.0, 2.0]), 0.5, 9.0)
    tensor([9., 2.])
    """
    return _above("threshold", input, threshold, value, inplace)


def _above(op: str, input: Any, threshold: Any, value: Any, inplace: bool) -> Any:
    x = real_input(input, op, "threshold_cpu")
    threshold = number(threshold, op, "threshold")
    real_number(threshold, x, op, "threshold")
    value = real_number(value, x, op, "value")
    if x._payload.dtype.kind in "iu":
        threshold, value = int(threshold), int(value)
    return _made("threshold", x, inplace, threshold=threshold, value=value)


@export("wengert", "nn.functional")
def threshold_(input: Any, threshold: float, value: float) -> Any:
    """`threshold`, written into the tensor, which is returned.

    Examples
    --------
    >>> wg.nn.functional.threshold_(wg.tensor([-1.0, 2.0]), 0.5, 9.0)
    tensor([9., 2.])
    """
    return _above("threshold_", input, threshold, value, True)


@export("wengert", "nn.functional", "Tensor")
def prelu(input: Any, weight: Any) -> Any:
    """Return the elements that are positive, and multiples of the others.

    Parameters
    ----------
    %(floating_input)s
    weight : Tensor. The factors: one, or one for each channel, the second dimension of the input.

    %(returns_smooth_result, raises_floating)s
    RuntimeError: If the number of factors is neither one nor that of the channels, or the dtypes
        differ.

    Examples
    --------
    >>> wg.nn.functional.prelu(wg.tensor([-1.0, 2.0]), wg.tensor(0.25))
    tensor([-0.2500,  2.0000])
    """
    x = real_input(input, "prelu", "prelu_cpu", floating=True)
    w = operand(weight, "prelu", "weight", 2)
    shape, own = x._payload.shape, w._payload
    if own.dtype != x._payload.dtype:
        raise RuntimeError(
            f"prelu: Type promoting not supported. Got {x.dtype} and {w.dtype}: convert the weight "
            "to the dtype of the input"
        )
    if own.ndim > 1 and own.size != 1:
        raise RuntimeError(
            f"prelu: Expected `weight` to be a scalar or 1D tensor, but got: ndim = {own.ndim}"
        )
    if own.ndim == 1 and own.size != 1:
        if not shape:
            raise RuntimeError("Not allow zero-dim input tensor.")
        channels = shape[1] if len(shape) > 1 else 1
        if channels != own.size:
            raise RuntimeError(
                f"Mismatch of parameter numbers and input channel size. Found parameter numbers = "
                f"{own.size} and channel size = {channels}."
            )
        w = T.view(w, shape=(1, channels, *[1] * (len(shape) - 2)))
    elif own.ndim != len(shape):
        w = T.view(w, shape=(1,) * len(shape))
    return T.prelu(x, w)


@export("wengert", "nn.functional")
def rrelu(
    input: Any,
    lower: float = 1 / 8,
    upper: float = 1 / 3,
    training: bool = False,
    inplace: bool = False,
) -> Any:
    """Return the elements that are positive, and random multiples of the others.

    Parameters
    ----------
    %(floating_input)s
    lower, upper : float. The range that the factors are drawn from, each for itself.
    training : bool. Whether to draw; otherwise all factors are the middle of the range.

    %(returns_smooth_result, raises_floating)s
    RuntimeError: If the range is empty.

    Examples
    --------
    >>> wg.nn.functional.rrelu(wg.tensor([-48.0, 2.0]))
    tensor([-11.,   2.])
    """
    x = real_input(input, "rrelu", "rrelu_with_noise_out_cpu", floating=True)
    if lower > upper:
        raise RuntimeError(
            f"Lower bound should be less than or equal to the upper bound, not {lower} and {upper}"
        )
    if not training:
        return leaky_relu(x, (lower + upper) / 2, inplace)
    payload = x._payload
    shape, dtype = payload.shape, payload.dtype
    if isinstance(payload, Lifted) and not payload.traced:
        # a value of a transform: a number for each element, used or not
        noise: Any = drawn(lambda: draw_uniform(np.empty(shape, dtype), lower, upper))
        return T.where(T.gt(x, T.zeros_like(x)), x, T.mul(x, new_tensor(noise)))

    def factors(array: Any) -> Any:
        # one number for each negative element, in double precision, as in PyTorch
        low = np.logical_not(np.greater(array, 0))
        found = np.ones(shape)
        found[low] = draw_uniform(np.empty(int(low.sum())), lower, upper)
        return np.asarray(found, dtype)

    factor = new_tensor(drawn_of(factors, payload))
    return write(TABLE["mul"], x, (factor,), {}, "rrelu_") if inplace else T.mul(x, factor)


@export("wengert", "nn.functional")
def rrelu_(input: Any, lower: float = 1 / 8, upper: float = 1 / 3, training: bool = False) -> Any:
    """`rrelu`, written into the tensor, which is returned.

    Examples
    --------
    >>> wg.nn.functional.rrelu_(wg.tensor([-48.0, 2.0]))
    tensor([-11.,   2.])
    """
    return rrelu(input, lower, upper, training, True)


@export("nn.functional")
def glu(input: Any, dim: int = -1) -> Any:
    """Return one half of the tensor times the sigmoid of the other.

    Parameters
    ----------
    %(floating_input)s
    dim : int. The dimension that is halved; of even size.

    %(returns_smooth_result, raises_floating)s
    RuntimeError: If there is no dimension, or its size is odd.

    Examples
    --------
    >>> wg.nn.functional.glu(wg.tensor([2.0, 0.0]))
    tensor([1.])
    """
    x = real_input(input, "glu", "glu_cpu", floating=True)
    if not x._payload.ndim:
        raise RuntimeError("glu does not support 0-dimensional tensors")
    axis = normal_dim(integer(dim, "glu", "dim"), x._payload.ndim)
    size = x._payload.shape[axis]
    if size % 2:
        raise RuntimeError(f"Halving dimension must be even, but dimension {axis} is size {size}")
    return T.glu(x, dim=axis)


@export("nn.functional")
def gumbel_softmax(
    logits: Any, tau: float = 1, hard: bool = False, eps: float = 1e-10, dim: int = -1
) -> Any:
    """Return a random choice that can be differentiated: `softmax` of logits with noise.

    Parameters
    ----------
    logits : Tensor. Logarithms of probabilities, up to a constant; of a real floating dtype.
    tau : float. The temperature: the smaller, the nearer the results are to 0 and 1.
    hard : bool. Whether to return 0 and 1 themselves, with the gradient of the soft results.
    eps : float. Without effect, as in PyTorch.
    dim : int. The dimension of the choices.

    Returns
    -------
    Tensor: Of the shape of `logits`; differentiable.

    Examples
    --------
    >>> wg.nn.functional.gumbel_softmax(wg.zeros(3), hard=True).sum()
    tensor(1.)
    """
    x = real_input(logits, "gumbel_softmax", "exponential_cpu", floating=True)
    # the negative logarithm of an exponential variable has a Gumbel distribution
    template = memory_like("gumbel_softmax", x, None)
    noise = -placed(x, drawn(lambda: draw_exponential(template))).log()
    soft = softmax((x + noise) / tau, dim)
    if not hard:
        return soft
    if isinstance(soft._payload, Lifted):
        held, axis = soft.detach(), dim % max(soft._payload.ndim, 1)
        best = T.argmax(held, dim=axis, keepdim=True)
        return T.scatter_value(T.zeros_like(held), best, dim=axis, value=1) - held + soft
    best = soft._payload.argmax(dim)
    chosen = np.expand_dims(best, dim) == np.moveaxis(
        np.arange(soft._payload.shape[dim]).reshape(-1, *[1] * (soft._payload.ndim - 1)), 0, dim
    )
    return new_tensor(chosen.astype(soft._payload.dtype)) - soft.detach() + soft
