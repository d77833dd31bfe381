"""Layer 5 · ops · random: random integers, permutations and choices."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from wengert.base.dtypes import FLOATING, as_dtype, category
from wengert.base.errors import long_name, overflow
from wengert.base.export import export
from wengert.kernels import random as kernels
from wengert.kernels.reducing import largest, smallest
from wengert.ops.checks import flag
from wengert.ops.coerce import integer
from wengert.ops.generator import stream_of
from wengert.ops.like import memory_like
from wengert.ops.options import beside, check_strided, input_tensor, made, placed, sized, type_of
from wengert.ops.out import created, into
from wengert.ops.randomness import drawn
from wengert.ops.sample import draw_bernoulli, laid_out, span_of
from wengert.ops.select import in_history
from wengert.ops.whole_batches import drawn_of, holds
from wengert.tape.base import TensorBase, new_tensor
from wengert.tape.inference import made_in_inference
from wengert.tape.record import T

_MOST_CATEGORIES = 2**24
"""Consecutive integers up to here are exact in float32."""


@export("wengert")
def randint(
    low: Any = 0,
    high: Any = None,
    size: Any = None,
    *,
    generator: Any = None,
    out: Any = None,
    dtype: Any = None,
    layout: Any = None,
    device: Any = None,
    requires_grad: bool = False,
    pin_memory: Any = None,
) -> Any:
    """Draw integers from [low, high): ``randint(high, size)`` or ``randint(low, high, size)``.

    Parameters
    ----------
    low, high : int. The bounds; `high` is excluded.
    size : sequence of int. The shape.
    generator, layout, device, requires_grad, pin_memory: As for `rand`.
    dtype : dtype, optional. int64 unless given; a real dtype that holds the bounds.

    %(returns_leaf)s

    Raises
    ------
    RuntimeError: If no integer lies between the bounds, or `dtype` cannot hold them.

    Examples
    --------
    >>> _ = wg.manual_seed(0)
    >>> wg.randint(10, (5,))
    tensor([4, 9, 3, 0, 3])
    """
    if layout is not None:
        check_strided(layout, "randint")
    if size is None:
        low, high, size = 0, low, high
    elif high is None:
        low, high = 0, low
    shape = sized("randint", size, 2)
    kind = np.dtype(np.int64) if dtype is None else type_of(dtype)
    low, high = integer(low, "randint", "low"), integer(high, "randint", "high")
    low, span = span_of(low, high, kind)
    stream = stream_of("randint", generator)
    count = math.prod(shape)
    array = drawn(lambda: kernels.integers(stream, count, kind, low, span).reshape(shape))
    return created(array, device, requires_grad, out, "randint")


@export("wengert")
def randint_like(
    input: Any,
    low: Any = 0,
    high: Any = None,
    *,
    generator: Any = None,
    dtype: Any = None,
    layout: Any = None,
    device: Any = None,
    pin_memory: Any = None,
    requires_grad: bool = False,
    memory_format: Any = None,
) -> Any:
    """Draw integers from [low, high) with a tensor's shape and dtype; or ``randint_like(t, high)``.

    Examples
    --------
    >>> _ = wg.manual_seed(0)
    >>> wg.randint_like(wg.ones(3), 5)
    tensor([4., 4., 3.])
    """
    if layout is not None:
        check_strided(layout, "randint_like")
    template = memory_like("randint_like", input, dtype, memory_format)
    if high is None:
        low, high = 0, low
    drawn_in_order = randint(low, high, (template.size,), generator=generator, dtype=template.dtype)
    return made(laid_out(template, drawn_in_order._payload), beside(device, input), requires_grad)


@export("wengert")
def randperm(
    n: Any,
    *,
    generator: Any = None,
    out: Any = None,
    dtype: Any = None,
    layout: Any = None,
    device: Any = None,
    requires_grad: bool = False,
    pin_memory: Any = None,
) -> Any:
    """Return the integers from 0 to ``n - 1`` in a random order.

    Parameters
    ----------
    n : int. The number of integers.
    generator, out, layout, device, requires_grad, pin_memory: As for `rand`.
    dtype : dtype, optional. int64, or that of `out`, unless given.

    Returns
    -------
    Tensor: Of shape (n,).

    Raises
    ------
    RuntimeError: If `n` is negative or exceeds what `dtype` holds.

    Examples
    --------
    >>> _ = wg.manual_seed(0)
    >>> wg.randperm(5)
    tensor([4, 0, 1, 3, 2])
    """
    if layout is not None:
        check_strided(layout, "randperm")
    count = integer(n, "randperm", "n")
    if count < 0:
        raise RuntimeError(f"Trying to create tensor with negative dimension {count}: [{count}]")
    like = np.dtype(np.int64) if out is None else out._payload.dtype
    kind = like if dtype is None else type_of(dtype)
    if kind.kind in "iu" and count - 1 > np.iinfo(kind).max:
        raise overflow(kind, count)
    if kind.kind == "f" and count > (most := 2 ** (np.finfo(kind).nmant + 1) + 1):
        raise RuntimeError(f"n cannot be greater than {most} for {long_name(kind)} type.")
    stream = stream_of("randperm", generator)
    array = drawn(lambda: kernels.permutation(stream, count).astype(kind, copy=False))
    return created(array, device, requires_grad, out, "randperm")


@export("wengert", "Tensor")
def bernoulli(input: Any, p: Any = None, *, generator: Any = None, out: Any = None) -> Any:
    """Draw ones with the given probabilities, and zeros otherwise.

    Parameters
    ----------
    input : Tensor. Probabilities, of a floating dtype, whose gradients are 0.
    p : float, optional. One probability for all elements instead.
    %(where_to_draw)s

    Returns
    -------
    Tensor: Of the shape and dtype of `input`.

    Raises
    ------
    RuntimeError: If a probability is not between 0 and 1.

    Examples
    --------
    >>> _ = wg.manual_seed(0)
    >>> wg.bernoulli(wg.tensor([0.0, 1.0, 0.5]))
    tensor([0., 1., 1.])
    """
    chances = input_tensor("bernoulli", input)
    kind, shape = chances._payload.dtype, tuple(chances._payload.shape)
    if p is not None:
        drawn_ = drawn(lambda: draw_bernoulli(np.empty(shape, kind), p, generator=generator))
        result = made_in_inference(placed(chances, drawn_))
        return _ones_into(out, result)
    if category(kind) != FLOATING:
        raise NotImplementedError(
            f"\"bernoulli_tensor_cpu_p_\" not implemented for '{as_dtype(kind)!r}': "
            "probabilities need a floating dtype"
        )
    if chances._edge is not None:
        chances = chances.detach()
    if not holds((chances >= 0) & (chances <= 1)):
        raise RuntimeError(
            "Expected p_in >= 0 && p_in <= 1 to be true, but got false: probabilities lie "
            "between 0 and 1"
        )
    stream = stream_of("bernoulli", generator)
    noise = drawn(lambda: kernels.units(stream, math.prod(shape), kind).reshape(shape))
    result = T.to_copy(T.lt(placed(chances, noise), chances), dtype=kind)
    return _ones_into(out, in_history(result, input) if out is None else result)


def _ones_into(out: Any, result: Any) -> Any:
    """Return `result`, or `out`, of any dtype, overwritten with its zeros and ones."""
    if isinstance(out, TensorBase):
        result = T.to_copy(result, dtype=out._payload.dtype)
    return result if out is None else into(out, result, "bernoulli")


@export("wengert", "Tensor")
def multinomial(
    input: Any,
    num_samples: int,
    replacement: bool = False,
    *,
    generator: Any = None,
    out: Any = None,
) -> Any:
    """Return indices drawn with the weights in a vector, or in each row of a matrix.

    Parameters
    ----------
    input : Tensor. Non-negative weights of a floating dtype, which need not sum to one.
    num_samples : int. The number of indices to draw (from each row).
    replacement : bool. Whether an index may be drawn more than once.
    %(where_to_draw)s

    Returns
    -------
    Tensor: int64, of shape (num_samples,) or (rows, num_samples).

    Raises
    ------
    RuntimeError: If the weights are negative, not finite or all zero, or there are too few of them.

    Examples
    --------
    >>> _ = wg.manual_seed(0)
    >>> wg.multinomial(wg.tensor([0.0, 1.0, 0.5]), 2)
    tensor([2, 1])
    """
    weights = input_tensor("multinomial", input)._payload
    if weights.ndim not in (1, 2):
        raise RuntimeError(f"prob_dist must be 1 or 2 dim, but has {weights.ndim}")
    if category(weights.dtype) != FLOATING:
        raise RuntimeError(
            "multinomial only supports floating-point dtypes for input, got: "
            f"{as_dtype(weights.dtype)!r}"
        )
    num_samples = integer(num_samples, "multinomial", "num_samples")
    if num_samples <= 0:
        raise RuntimeError(f"cannot sample n_sample <= 0 samples, but got {num_samples}")
    if not flag(replacement, "replacement") and num_samples > weights.shape[-1]:
        raise RuntimeError(
            "cannot sample n_sample > prob_dist.size(-1) samples without replacement: "
            f"{num_samples} of {weights.shape[-1]}"
        )
    if weights.shape[-1] > _MOST_CATEGORIES:
        raise RuntimeError(f"number of categories cannot exceed 2^24, but is {weights.shape[-1]}")
    if isinstance(out, TensorBase) and out._payload.dtype != np.int64:
        raise RuntimeError(
            f"multinomial expects Long tensor out, got: {long_name(out._payload.dtype)}"
        )
    stream = stream_of("multinomial", generator)
    # for one sample the order does not matter, and PyTorch takes the second way
    choose = _with_replacement if replacement and num_samples > 1 else _without_replacement

    def draw(array: Any) -> Any:
        rows = array if array.ndim < 3 else array.reshape(-1, array.shape[-1])
        _check_weights(rows, replacement)
        return choose(stream, rows, num_samples).reshape(*array.shape[:-1], num_samples)

    return into(out, made_in_inference(new_tensor(drawn_of(draw, weights))), "multinomial")


def _check_weights(weights: Any, replacement: bool) -> None:
    if weights.size and not (smallest(weights, None) >= 0 and largest(weights, None) < math.inf):
        if not replacement:
            raise RuntimeError("probability tensor contains either `inf`, `nan` or element < 0")
        found = "< 0" if np.isfinite(weights).all() else "= infinity or NaN"
        raise RuntimeError(
            f"invalid multinomial distribution (encountering probability entry {found})"
        )
    if weights.size and not (weights.sum(-1) > 0).all():
        raise RuntimeError("invalid multinomial distribution (sum of probabilities <= 0)")


def _with_replacement(stream: kernels.Stream, weights: Any, count: int) -> Any:
    """Draw each index by bisection of the cumulative weights."""
    rows = weights.reshape(-1, weights.shape[-1])
    # one row at a time, as PyTorch draws from the stream
    points = kernels.uniform(stream, len(rows) * count, np.dtype(np.float64))
    points = points.reshape(len(rows), count)
    sums = rows.cumsum(1)
    sums /= sums[:, -1:]
    found = [s.searchsorted(p) for s, p in zip(sums, points, strict=True)]
    last = weights.shape[-1] - 1
    picked = np.minimum(np.array(found, np.int64), last).reshape(len(rows), count)
    return picked.reshape(*weights.shape[:-1], count)


def _without_replacement(stream: kernels.Stream, weights: Any, count: int) -> Any:
    """Draw the first arrivals among independent exponential ones of these rates."""
    waits = kernels.exponential(stream, weights.size, weights.dtype)
    waits = laid_out(np.empty_like(weights), waits)
    with np.errstate(divide="ignore", invalid="ignore"):
        order = -(weights / waits)
    if count == 1 and order.size and not math.isnan(smallest(order, None)):
        return order.argmin(-1)
    if 4 * count < order.shape[-1]:
        # the first arrivals, not yet sorted; where others arrive at the same time, all of them
        last = np.partition(order, count - 1, -1)[..., count - 1, None]
        among = np.nonzero(order <= last)[-1]
        if among.size == last.size * count:
            among = among.reshape(*last.shape[:-1], count)
            some = np.take_along_axis(order, among, -1)
            return np.take_along_axis(among, np.argsort(some, axis=-1, kind="stable"), -1)
    return np.argsort(order, axis=-1, kind="stable")[..., :count].astype(np.int64)
