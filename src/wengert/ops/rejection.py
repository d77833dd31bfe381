"""Layer 5 · ops · random: numbers drawn by rejection, and their derivatives.

A sample is drawn from the values of the parameters, and then recorded as a function of them (see
NOTE [derivatives of samples]).
"""

# the arguments have PyTorch's names

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from wengert.base.dtypes import FLOATING, category
from wengert.base.errors import long_name, not_implemented
from wengert.base.export import export
from wengert.base.shapes import broadcast
from wengert.kernels import samplers as kernels
from wengert.ops.expand import spread
from wengert.ops.generator import stream_of
from wengert.ops.options import input_tensor
from wengert.ops.select import in_history
from wengert.ops.whole_batches import drawn_of, holds
from wengert.prims import samplers as samplers
from wengert.tape.base import new_tensor
from wengert.tape.inference import made_in_inference
from wengert.tape.record import T


def _parameters(function: str, kernel: str, *values: Any, half: bool = False) -> list[Any]:
    """Return the arguments as floating tensors, in half precision only where PyTorch has it."""
    tensors = [input_tensor(function, value) for value in values]
    for tensor in tensors:
        kind = tensor._payload.dtype
        if category(kind) != FLOATING or (kind.itemsize == 2 and not half):
            raise not_implemented(kernel, kind, f"{function}() takes tensors of float32 or float64")
    return tensors


def _sample(draw: Callable[..., Any], *tensors: Any) -> Any:
    """Return a tensor without history of the numbers that `draw` makes from flat arrays."""

    def shaped(*arrays: Any) -> Any:
        made = draw(*[np.ascontiguousarray(array).reshape(-1) for array in arrays])
        return made.reshape(arrays[0].shape)

    return made_in_inference(new_tensor(drawn_of(shaped, *[one._payload for one in tensors])))


@export("wengert")
def poisson(input: Any, generator: Any = None) -> Any:
    """Draw numbers from the Poisson distribution.

    Parameters
    ----------
    input : Tensor. Rates, not negative, of a floating dtype, whose gradients are 0.
    %(where_to_draw)s

    Returns
    -------
    Tensor: Counts, in the dtype of `input`.

    Raises
    ------
    RuntimeError: If a rate is negative, infinite or NaN.
    NotImplementedError: If `input` has an integer dtype.

    Examples
    --------
    >>> _ = wg.manual_seed(0)
    >>> wg.poisson(wg.tensor([1.0, 5.0, 100.0]))
    tensor([ 2.,  6., 99.])
    """
    (rate,) = _parameters("poisson", "poisson_cpu", input, half=True)
    stream = stream_of("poisson", generator)
    at = rate.detach()
    if not holds(at >= 0):
        raise RuntimeError("invalid Poisson rate, expected rate to be non-negative")
    if not holds(at < math.inf):
        raise RuntimeError("invalid Poisson rate, expected rate to be finite")
    return in_history(_sample(lambda rates: kernels.poisson(stream, rates), rate), rate)


@export("wengert")
def binomial(count: Any, prob: Any, generator: Any = None) -> Any:
    """Draw numbers from the binomial distribution.

    Parameters
    ----------
    count : Tensor. Numbers of trials, of dtype float32 or float64.
    prob : Tensor. Probabilities, of the same dtype; the shapes broadcast. A gradient of the
        numbers with respect to either is refused.
    %(where_to_draw)s

    Returns
    -------
    Tensor: How many of the trials succeed, in the dtype of the arguments.

    Raises
    ------
    ValueError: If `count` is not a floating tensor.
    RuntimeError: If the dtypes differ, or a number of trials is infinite.

    Examples
    --------
    >>> _ = wg.manual_seed(0)
    >>> wg.binomial(wg.full((3,), 100.0), wg.tensor([0.1, 0.5, 1.0]))
    tensor([ 11.,  45., 100.])
    """
    counts = input_tensor("binomial", count)
    if category(counts._payload.dtype) != FLOATING:
        raise ValueError(
            "binomial only supports floating-point dtypes for count, got: "
            f"{long_name(counts._payload.dtype)}"
        )
    counts, probs = _parameters("binomial", "binomial_cpu", count, prob)
    if counts._payload.dtype != probs._payload.dtype:
        found, expected = (long_name(one._payload.dtype) for one in (probs, counts))
        raise RuntimeError(f"Found dtype {found} but expected {expected}")
    if not holds(counts.detach() < math.inf):
        raise RuntimeError("binomial expects the numbers of trials to be finite")
    stream = stream_of("binomial", generator)
    shape = broadcast(tuple(counts._payload.shape), tuple(probs._payload.shape))
    both = [spread(one, shape) for one in (counts, probs)]
    return T.binomial(*both, _sample(lambda n, p: kernels.binomial(stream, n, p), *both))


def _standard_gamma(input: Any, generator: Any = None) -> Any:
    """Numbers of the gamma distribution of these shape parameters, and of rate 1.

    Differentiable with respect to the parameters, once (see NOTE [derivatives of samples]).

    Examples
    --------
    >>> alpha = wg.tensor([0.5, 20.0], requires_grad=True)
    >>> wg._standard_gamma(alpha).sum().backward()
    >>> (alpha.grad > 0).tolist()
    [True, True]
    """
    (alpha,) = _parameters("_standard_gamma", "gamma_cpu", input)
    stream = stream_of("_standard_gamma", generator)
    kind = alpha._payload.dtype

    def draw(shapes: Any) -> Any:
        found = kernels.gamma(stream, shapes).astype(kind)
        # a number that is not positive is not a sample; nor is NaN, as in PyTorch
        return np.fmax(found, np.finfo(kind).tiny)

    return T._standard_gamma(alpha, _sample(draw, alpha))


def _sample_dirichlet(input: Any, generator: Any = None) -> Any:
    """Numbers of the Dirichlet distribution, whose concentrations lie along the last dimension.

    Differentiable with respect to the concentrations, once.

    Examples
    --------
    >>> wg._sample_dirichlet(wg.ones(2, 3)).sum(-1)
    tensor([1., 1.])
    """
    (alpha,) = _parameters("_sample_dirichlet", "dirichlet", input)
    stream = stream_of("_sample_dirichlet", generator)
    drawn = drawn_of(lambda array: kernels.dirichlet(stream, array), alpha._payload)
    return T._sample_dirichlet(alpha, made_in_inference(new_tensor(drawn)))


def _standard_gamma_grad(input: Any, output: Any) -> Any:
    """The derivative of gamma samples `output` by their shape parameters."""
    return T._standard_gamma_grad(input, output)


def _dirichlet_grad(x: Any, alpha: Any, total: Any) -> Any:
    """The derivative of elements of Dirichlet samples by their parameters, over ``1 - x``."""
    return T._dirichlet_grad(x, alpha, total)
