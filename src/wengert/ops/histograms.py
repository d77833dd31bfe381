"""Layer 5 · ops · reductions: counts of numbers, and of elements in bins.

With weights that require a gradient, PyTorch's functions raise in the backward pass. A weighted
count is a sum of weights, so here it is differentiable.
"""

# the arguments have PyTorch's names

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from wengert.base.dtypes import FLOATING, category
from wengert.base.errors import not_implemented
from wengert.base.export import export
from wengert.interp.levels import Lifted, is_elsewhere
from wengert.kernels.fused import linspace
from wengert.kernels.search import check_range
from wengert.ops import named_results
from wengert.ops.checks import flag
from wengert.ops.coerce import dtype_name, integer, operand
from wengert.ops.named_results import pair
from wengert.ops.options import number, placed
from wengert.ops.out import into
from wengert.prims import search as search
from wengert.tape.base import TensorBase
from wengert.tape.detachments import note
from wengert.tape.inference import made_in_inference
from wengert.tape.operands import cast
from wengert.tape.record import T

_FLOATING = (np.dtype(np.float32), np.dtype(np.float64))


@export("wengert", "Tensor")
def bincount(input: Any, weights: Any = None, minlength: int = 0) -> Any:
    """Count the occurrences of each number, or sum the weights of its occurrences.

    Parameters
    ----------
    input : Tensor. Of integers that are not negative, with one dimension.
    weights : Tensor, optional. One for each element.
    minlength : int. The minimum number of results.

    Returns
    -------
    Tensor: The count of each number from 0 to the largest, as int64; or the sums of the weights, as
        float32 if the weights are, else as float64. Differentiable with respect to `weights`.

    Raises
    ------
    RuntimeError: If the input does not have one dimension, has a negative element, or does not
        fit the weights.
    NotImplementedError: If the input does not consist of integers.

    Examples
    --------
    >>> wg.bincount(wg.tensor([1, 3, 1]))
    tensor([0, 2, 0, 1])
    >>> wg.bincount(wg.tensor([1, 3, 1]), wg.tensor([0.5, 1.0, 2.0]))
    tensor([0.0000, 2.5000, 0.0000, 1.0000])
    """
    x = operand(input, "bincount")
    payload = x._payload
    least = integer(minlength, "bincount", "minlength")
    if least < 0:
        raise RuntimeError(f"minlength should be >= 0, but is {least}")
    if payload.dtype.kind not in "iu":
        raise not_implemented(
            "bincount_cpu", payload.dtype, "convert the input to integers with .to(dtype)"
        )
    if payload.ndim != 1 or (payload.size and payload.min() < 0):
        raise RuntimeError(
            "bincount only supports 1-d non-negative integral inputs. The input has the shape "
            f"{list(payload.shape)}{' and a negative element' if payload.ndim == 1 else ''}."
        )
    if not payload.size:
        return placed(x, np.zeros(least, np.int64))
    if weights is None:
        return T.bincount(x, size=least)
    weight = operand(weights, "bincount", "weights", 2)
    if weight._payload.shape != payload.shape:
        raise RuntimeError(
            "weights should be 1-d and have the same length as input: "
            f"{list(weight._payload.shape)} against {list(payload.shape)}"
        )
    if weight._payload.dtype != np.float32:
        weight = cast(weight, np.dtype(np.float64))
    return _weighed(x, weight, max(least, int(payload.max()) + 1))


def _weighed(numbers: Any, weight: Any, size: int) -> Any:
    """Return the sums of the weights of each number below `size`."""
    zeros = placed(weight, np.zeros(size, weight._payload.dtype))
    return T.index_add(zeros, cast(numbers, np.dtype(np.int64)), weight, dim=0, alpha=1)


# -- bins -----------------------------------------------------------------------------------------


@export("wengert", "Tensor")
def histc(input: Any, bins: int = 100, min: Any = 0, max: Any = 0, *, out: Any = None) -> Any:
    """Count the elements in each of several bins of equal width.

    Parameters
    ----------
    input : Tensor. Of any floating dtype.
    bins : int. The number of bins.
    min, max : number. The bounds of the bins; elements outside are not counted. If both are equal,
        the smallest and the largest element.
    out : Tensor, optional. Where to write the result.

    Returns
    -------
    Tensor: `bins` counts, of the input's dtype; without a derivative.

    Raises
    ------
    RuntimeError: If `bins` is not positive, or the bounds are not finite or not in order.
    NotImplementedError: If the input is not floating.

    Examples
    --------
    >>> wg.histc(wg.tensor([1.0, 2.0, 1.0]), bins=4, min=0, max=3)
    tensor([0., 2., 1., 0.])
    """
    x = operand(input, "histc")
    payload = x._payload
    count = _positive(integer(bins, "histc", "bins"))
    low, high = number(min), number(max)
    check_range(low, high)
    if low > high:
        raise RuntimeError(f"torch.histc: max must be larger than min, but got {high} and {low}")
    if category(payload.dtype) != FLOATING:
        kernel = "histogram_cpu" if payload.dtype.kind in "iu" else "aminmax_cpu"
        advice = "histc() takes floating tensors; convert the input with .to(dtype)"
        raise not_implemented(kernel, payload.dtype, advice)
    if x._edge is not None:
        note("histc()", x)
    return into(out, T.histc(x, bins=count, low=float(low), high=float(high)), "histc")


def _positive(bins: int, dim: int = 0) -> int:
    if bins <= 0:
        raise RuntimeError(
            f"torch.histogram(): bins must be > 0, but got {bins} for dimension {dim}"
        )
    return bins


@export("wengert", "Tensor")
def histogram(
    input: Any,
    bins: Any = 100,
    *,
    range: Sequence[float] | None = None,
    weight: Any = None,
    density: bool = False,
    out: Any = None,
) -> Any:
    """Count the elements in each bin, or sum their weights.

    Parameters
    ----------
    input : Tensor. Of float32 or float64.
    bins : int or Tensor. The number of bins of equal width; or their edges, in ascending order and
        of the input's dtype.
    range : sequence of two floats, optional. The bounds of the bins; by default the smallest and
        the largest element.
    weight : Tensor, optional. A weight for each element, of its dtype.
    density : bool. Whether to scale the result to an integral of 1.
    out : tuple of two Tensors, optional. Where to write the results.

    Returns
    -------
    return_types.histogram: A named tuple ``(hist, bin_edges)``, of the input's dtype. ``hist`` is
        differentiable with respect to `weight`.

    Raises
    ------
    RuntimeError: If the bins are invalid, or the weights do not fit.
    NotImplementedError: If the input is not of float32 or float64.

    Examples
    --------
    >>> hist, edges = wg.histogram(wg.tensor([0.0, 0.5, 2.0]), bins=2)
    >>> hist, edges
    (tensor([2., 1.]), tensor([0., 1., 2.]))
    """
    x = operand(input, "histogram")
    if isinstance(bins, TensorBase | np.ndarray):
        if range is not None:
            raise TypeError(
                "histogram() received an invalid combination of arguments - got a range beside the "
                "edges of the bins: leave it out, or give the number of bins"
            )
        bins = [bins]
    else:
        bins = [integer(bins, "histogram", "bins")]
    scales = None
    if weight is not None:
        scales = operand(weight, "histogram", "weight")
        if scales._payload.shape != x._payload.shape:
            raise _misfit([x._payload.size, 1], scales._payload.shape)
        scales = T.view(T.contiguous(scales), shape=(x._payload.size,))
    hist, (edges,) = _histogram("histogram", x, bins, range, scales, density)
    if x._edge is not None:
        note("histogram()", x)
    return pair(named_results.histogram, hist, edges, out)


@export("wengert")
def histogramdd(
    input: Any,
    bins: Any,
    *,
    range: Sequence[float] | None = None,
    weight: Any = None,
    density: bool = False,
) -> Any:
    """Count the points in each bin of a space of several dimensions, or sum their weights.

    Parameters
    ----------
    input : Tensor. Of float32 or float64; the last dimension holds the coordinates of each point.
    bins : int, sequence of int, or sequence of Tensor. The number of bins of equal width in each
        dimension; or their edges, as for `histogram`.
    range : sequence of float, optional. The lower and the upper bound for each dimension in turn;
        by default the smallest and the largest coordinates.
    weight : Tensor, optional. A weight for each point, of the input's dtype.
    density : bool. Whether to scale the result to an integral of 1.

    Returns
    -------
    return_types.histogramdd: A named tuple ``(hist, bin_edges)``: a dimension of ``hist``, and an
        entry of the tuple ``bin_edges``, for each coordinate. ``hist`` is differentiable with
        respect to `weight`.

    Raises
    ------
    RuntimeError: If the bins are invalid, or the weights do not fit.
    NotImplementedError: If the input is not of float32 or float64.

    Examples
    --------
    >>> points = wg.tensor([[0.0, 1.0], [1.0, 0.0], [2.0, 2.0]])
    >>> wg.histogramdd(points, bins=[2, 2]).hist
    tensor([[0., 1.],
            [1., 1.]])
    """
    x = operand(input, "histogramdd")
    shape = x._payload.shape
    if len(shape) < 2:
        raise RuntimeError(
            "torch.histogramdd: input tensor should have at least 2 dimensions, but got "
            f"{len(shape)}: for single numbers use histogram()"
        )
    several = list(bins) if isinstance(bins, tuple | list) else [bins] * shape[-1]
    if len(several) != shape[-1]:
        raise RuntimeError(
            "histogramdd: The size of bins must be equal to the innermost dimension of the input. "
            f"There are {len(several)} bins and {shape[-1]} coordinates."
        )
    scales = None
    if weight is not None:
        scales = operand(weight, "histogramdd", "weight")
        if scales._payload.shape != shape[:-1]:
            raise _misfit(list(shape), scales._payload.shape)
        scales = T.view(T.contiguous(scales), shape=(math.prod(shape[:-1]),))
    hist, edges = _histogram("histogramdd", x, several, range, scales, density)
    if x._edge is not None:
        note("histogramdd()", x)
    return named_results.histogramdd((hist, edges))


def _misfit(shape: Any, weight: Any) -> RuntimeError:
    return RuntimeError(
        "torch.histogramdd: if weight tensor is provided it should have the same shape as the "
        f"input tensor excluding its innermost dimension, but got input with shape {list(shape)} "
        f"and weight with shape {list(weight)}"
    )


def _histogram(
    name: str, x: Any, bins: list[Any], range: Any, weight: Any, density: bool
) -> tuple[Any, tuple[Any, ...]]:
    payload = x._payload
    if payload.dtype not in _FLOATING:
        advice = f"{name}() takes float32 and float64; convert the input with .to(dtype)"
        raise not_implemented("histogramdd", payload.dtype, advice)
    if weight is not None and weight._payload.dtype != payload.dtype:
        raise RuntimeError(
            "torch.histogramdd: if weight tensor is provided, input tensor and weight tensor should"
            f" have the same dtype, but got input({dtype_name(payload).lower()}), and "
            f"weight({dtype_name(weight._payload).lower()})"
        )
    if isinstance(bins[0], TensorBase | np.ndarray):
        edges = [_edges(given, payload, i) for i, given in enumerate(bins)]
        even = False
    else:
        counts = [_positive(integer(n, name, "bins"), i) for i, n in enumerate(bins)]
        bounds = _bounds(payload, len(bins), range)
        edges = [
            linspace(low, high, n + 1, payload.dtype)
            for n, (low, high) in zip(counts, bounds, strict=True)
        ]
        even = True
    if weight is None:
        hist = T.histogram(x, edges=tuple(edges), even=even)
    else:
        numbers = T.bin_numbers(x, edges=tuple(edges), even=even)
        sizes = tuple([len(edge) - 1 for edge in edges])
        # points in no bin come last, and are dropped
        size = math.prod(sizes)
        every = _weighed(numbers, weight, size + 1)
        hist = T.view(T.slice(every, dim=0, start=0, end=size, step=1), shape=sizes)
    if flag(density, "density"):
        hist = T.div(hist, T.sum(hist))
        for i, edge in enumerate(edges):
            hist = T.div(
                hist, placed(x, np.diff(edge).reshape((-1,) + (1,) * (len(edges) - i - 1)))
            )
    return hist, tuple([made_in_inference(placed(x, edge)) for edge in edges])


def _edges(given: Any, payload: Any, dim: int) -> Any:
    edge = operand(given, "histogram", "bins", 2)._payload
    if edge.dtype != payload.dtype:
        raise RuntimeError(
            "torch.histogramdd: input tensor and bins tensors should have the same dtype, but got "
            f"input with dtype {dtype_name(payload).lower()} and bins for dimension {dim} with "
            f"dtype {dtype_name(edge).lower()}"
        )
    if edge.ndim != 1:
        raise RuntimeError(
            f"torch.histogramdd: bins tensor should have one dimension, but got {edge.ndim} "
            f"dimensions in the bins tensor for dimension {dim}"
        )
    if not edge.size:
        raise RuntimeError(
            "torch.histogramdd: bins tensor should have at least 1 element, but got 0 elements in "
            f"the bins tensor for dimension {dim}"
        )
    _positive(edge.size - 1, dim)
    if is_elsewhere(edge):
        return np.array(edge.tolist(), edge.dtype)
    return np.array(edge.constant() if isinstance(edge, Lifted) else edge)


def _bounds(payload: Any, dims: int, range: Any) -> list[tuple[float, float]]:
    """Return the lower and upper bound for each dimension."""
    if range is not None:
        given = [float(number(bound)) for bound in range]
        if len(given) != 2 * dims:
            raise RuntimeError(
                f"torch.histogramdd: for a {dims}-dimensional histogram range should have "
                f"{2 * dims} elements, but got {len(given)}"
            )
        found = list(zip(given[::2], given[1::2], strict=True))
    elif payload.size:
        rows = payload.reshape(-1, dims)
        found = list(zip(rows.min(0).tolist(), rows.max(0).tolist(), strict=True))
    else:
        found = [(0.0, 1.0)] * dims
    for dim, (low, high) in enumerate(found):
        if not (math.isfinite(low) and math.isfinite(high)):
            raise RuntimeError(
                f"torch.histogramdd: dimension {dim}'s range [{low}, {high}] is not finite"
            )
        if low > high:
            raise RuntimeError(
                f"torch.histogramdd: min should not exceed max, but got min {low} max {high} for "
                f"dimension {dim}"
            )
    return [(low - 0.5, high + 0.5) if low == high else (low, high) for low, high in found]
