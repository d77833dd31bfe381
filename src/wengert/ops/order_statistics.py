"""Layer 5 · ops · reductions: elements at ranks along a dimension: medians, quantiles, the mode.

NOTE [order statistics]
The gradient goes to the selected elements, as in PyTorch: of equal ones, to the one that a stable
sort would put at the rank. Only full medians, without a dimension, share it among all equal
elements.
"""

# the arguments have PyTorch's names

from __future__ import annotations

import math
from typing import Any

import numpy as np

from wengert.base.errors import not_implemented
from wengert.base.export import export
from wengert.ops import named_results
from wengert.ops.checks import check_alone, flag, one_dim, real_input, renamed
from wengert.ops.coerce import dtype_name, integer, operand, wide
from wengert.ops.named_results import pair
from wengert.ops.options import placed
from wengert.ops.out import into
from wengert.prims import blend as blend
from wengert.prims import sorting as sorting
from wengert.tape.operands import cast, is_number, plain
from wengert.tape.record import T


def _checked(input: Any, dim: Any, name: str, kernel: str) -> tuple[Any, int]:
    """Return the input, real and not of bools, and the dimension, which must not be of size 0."""
    tensor = real_input(input, name, kernel)
    payload = tensor._payload
    if payload.dtype.kind == "b" and name != "mode":
        raise not_implemented(kernel, payload.dtype, "convert the input with .to(dtype)")
    axis = one_dim(dim, payload.ndim, name)
    if payload.ndim and payload.shape[axis] == 0:
        raise IndexError(
            f"{name}(): Expected reduction dim {axis} to have non-zero size. The input has the "
            f"shape {list(payload.shape)}."
        )
    return tensor, axis


@export("wengert", "Tensor")
def kthvalue(
    input: Any, k: int, dim: int = -1, keepdim: bool = False, *, out: Any = None, **names: Any
) -> Any:
    """Return the `k`-th smallest element along a dimension.

    Parameters
    ----------
    input : Tensor. Of any real dtype but bool. A NaN counts as larger than every number.
    k : int. The rank, from 1.
    %(selected_dim, keepdim, two_outs)s

    Returns
    -------
    return_types.kthvalue: A named tuple ``(values, indices)``; the values are differentiable, to
        any order.

    Raises
    ------
    RuntimeError: If there are no `k` elements.
    %(error_empty_dim)s

    Examples
    --------
    >>> wg.kthvalue(wg.tensor([4.0, 1.0, 3.0]), 2).values
    tensor(3.)
    """
    if names:
        dim, keepdim = renamed("kthvalue", dim, keepdim, names, usual=-1)
    x, axis = _checked(input, dim, "kthvalue", "kthvalue_cpu")
    rank = integer(k, "kthvalue", "k")
    size = x._payload.shape[axis] if x._payload.ndim else 1
    if not 1 <= rank <= size:
        raise RuntimeError(
            f"kthvalue(): selected number k out of range for dimension {axis}: it has size {size}, "
            f"and k is {rank}"
        )
    indices = T.argkth(x, k=rank - 1, dim=axis, keepdim=flag(keepdim, "keepdim"))
    return pair(named_results.kthvalue, T.kthvalue(x, indices, dim=axis), indices, out)


@export("wengert", "Tensor")
def median(
    input: Any, dim: int | None = None, keepdim: bool = False, *, out: Any = None, **names: Any
) -> Any:
    """Return the median: of an even number of elements, the lower one of the two in the middle.

    For the mean of both use ``quantile(input, 0.5)``.

    Parameters
    ----------
    input : Tensor. Of any real dtype but bool. The median of elements with a NaN is NaN.
    %(chosen_dim, keepdim, outs_of_dim)s

    Returns
    -------
    Tensor or return_types.median: The median of all elements, or a named tuple ``(values,
        indices)``; the values are differentiable, to any order. Without `dim` equal elements share
        the gradient.

    %(raises_empty_dim)s

    Examples
    --------
    >>> wg.median(wg.tensor([4.0, 1.0, 3.0, 2.0]))
    tensor(2.)
    >>> wg.median(wg.tensor([[4, 1, 3], [0, 5, 2]]), dim=1).indices
    tensor([2, 2])
    """
    return _median("median", input, dim, keepdim, out, names)


@export("wengert", "Tensor")
def nanmedian(
    input: Any, dim: int | None = None, keepdim: bool = False, *, out: Any = None, **names: Any
) -> Any:
    """Return the median of the elements that are not NaN, or NaN if all are.

    Parameters
    ----------
    %(numeric_input, chosen_dim, keepdim, outs_of_dim)s

    Returns
    -------
    Tensor or return_types.nanmedian: The median of all elements, or a named tuple ``(values,
        indices)``; the values are differentiable, to any order. Without `dim` equal elements share
        the gradient.

    %(raises_empty_dim)s

    Examples
    --------
    >>> wg.nanmedian(wg.tensor([4.0, float("nan"), 3.0]))
    tensor(3.)
    """
    return _median("nanmedian", input, dim, keepdim, out, names)


def _median(name: str, input: Any, dim: Any, keepdim: Any, out: Any, names: dict[str, Any]) -> Any:
    if names:
        dim, keepdim = renamed(name, dim, keepdim, names)
    check_alone(name, dim, keepdim)
    if dim is not None:
        x, axis = _checked(input, dim, name, "median_out")
        find = T.argmedian if name == "median" else T.argnanmedian
        indices = find(x, dim=axis, keepdim=flag(keepdim, "keepdim"))
        take = T.median_dim if name == "median" else T.nanmedian_dim
        return pair(getattr(named_results, name), take(x, indices, dim=axis), indices, out)
    x = real_input(input, name, "median_cpu")
    if x._payload.dtype.kind == "b":
        raise not_implemented("median_cpu", x._payload.dtype, "convert the input with .to(dtype)")
    return into(out, T.median(x) if name == "median" else T.nanmedian(x), name)


@export("wengert", "Tensor")
def mode(input: Any, dim: int = -1, keepdim: bool = False, *, out: Any = None, **names: Any) -> Any:
    """Return the most frequent element along a dimension: of several, the smallest.

    Parameters
    ----------
    input : Tensor. Of any real dtype. A NaN equals nothing, and so is never frequent.
    %(selected_dim, keepdim, two_outs)s

    Returns
    -------
    return_types.mode: A named tuple ``(values, indices)``, with the last position of each value;
        the values are differentiable, to any order.

    %(raises_empty_dim)s

    Examples
    --------
    >>> values, indices = wg.mode(wg.tensor([3, 1, 2, 1]))
    >>> values, indices
    (tensor(1), tensor(3))
    """
    if names:
        dim, keepdim = renamed("mode", dim, keepdim, names, usual=-1)
    x, axis = _checked(input, dim, "mode", "mode_cpu")
    indices = T.argmode(x, dim=axis, keepdim=flag(keepdim, "keepdim"))
    return pair(named_results.mode, T.mode(x, indices, dim=axis), indices, out)


# -- quantiles ------------------------------------------------------------------------------------

_INTERPOLATIONS = ("linear", "lower", "higher", "midpoint", "nearest")


@export("wengert", "Tensor")
def quantile(
    input: Any,
    q: Any,
    dim: int | None = None,
    keepdim: bool = False,
    *,
    interpolation: str = "linear",
    out: Any = None,
    **names: Any,
) -> Any:
    """Return the quantiles of the elements, overall or along a dimension.

    Parameters
    ----------
    input : Tensor. Of float32 or float64, with at least one element. Quantiles of elements with a
        NaN are NaN.
    %(quantiles, raises_quantiles, error_dim)s

    Examples
    --------
    >>> x = wg.tensor([1.0, 2.0, 4.0, 8.0])
    >>> wg.quantile(x, 0.5)
    tensor(3.)
    >>> wg.quantile(x, wg.tensor([0.25, 0.75]), interpolation="lower")
    tensor([1., 4.])
    """
    return _quantile("quantile", input, q, dim, keepdim, interpolation, out, names)


@export("wengert", "Tensor")
def nanquantile(
    input: Any,
    q: Any,
    dim: int | None = None,
    keepdim: bool = False,
    *,
    interpolation: str = "linear",
    out: Any = None,
    **names: Any,
) -> Any:
    """Return quantiles of the elements that are not NaN, or NaN if all are.

    Parameters
    ----------
    input : Tensor. Of float32 or float64, with at least one element.
    %(quantiles, raises_quantiles, error_dim)s

    Examples
    --------
    >>> wg.nanquantile(wg.tensor([1.0, float("nan"), 3.0]), 0.5)
    tensor(2.)
    """
    return _quantile("nanquantile", input, q, dim, keepdim, interpolation, out, names)


def _quantile(
    name: str,
    input: Any,
    q: Any,
    dim: Any,
    keepdim: Any,
    interpolation: str,
    out: Any,
    names: dict[str, Any],
) -> Any:
    if names:
        dim, keepdim = renamed(name, dim, keepdim, names)
    x = wide(input, name)
    q = plain(q)
    _check_quantile(x._payload, q, interpolation)
    ndim = x._payload.ndim
    rest = x._payload.shape
    if dim is None:
        rows, rest, axis = T.view(T.contiguous(x), shape=(x._payload.size,)), (), 0
    else:
        axis = one_dim(dim, ndim, name)
        rest = rest[:axis] + rest[axis + 1 :]
        last = ndim - 1
        if not ndim:
            rows = T.view(x, shape=(1,))
        elif axis == last:
            rows = x
        else:
            order = (*[i for i in range(ndim) if i != axis], axis)
            rows = T.permute(x, dims=order)
    if not is_number(q):
        q = operand(q, name)
    found = _at_ranks(rows, q, interpolation, name == "nanquantile")
    single = is_number(q) or not q._payload.ndim
    if flag(keepdim, "keepdim"):
        rest = (1,) * ndim if dim is None else (*rest[:axis], *([1] * bool(ndim)), *rest[axis:])
    if single:
        result = T.view(T.contiguous(found), shape=rest)
    else:
        count = found._payload.shape[-1]
        width = found._payload.ndim
        if width > 1:
            found = T.permute(found, dims=(width - 1, *range(width - 1)))
        result = T.view(T.contiguous(found), shape=(count, *rest))
    return result if out is None else into(out, result, name)


def _check_quantile(payload: Any, q: Any, interpolation: str) -> None:
    if not payload.size:
        raise RuntimeError(
            f"quantile() input tensor must be non-empty, but has the shape {list(payload.shape)}"
        )
    if payload.dtype not in (np.dtype(np.float32), np.dtype(np.float64)):
        raise RuntimeError(
            f"quantile() input tensor must be either float or double dtype, not "
            f"{dtype_name(payload)}: convert it with .to(dtype)"
        )
    if interpolation not in _INTERPOLATIONS:
        raise RuntimeError(
            f"quantile() interpolation must be one of linear, lower, higher, midpoint or nearest, "
            f"but got {interpolation}"
        )
    if is_number(q):
        if not 0 <= q <= 1:
            raise RuntimeError(f"quantile() q must be in the range [0, 1] but got {q}")
        return
    given = operand(q, "quantile", "q", 2)._payload
    if given.ndim > 1:
        raise RuntimeError(
            f"quantile() q must be a scalar or 1D tensor, but has the shape {list(given.shape)}"
        )
    if given.dtype != payload.dtype:
        raise RuntimeError(
            "quantile() q tensor must be same dtype as the input tensor: "
            f"{dtype_name(payload)}, not {dtype_name(given)}"
        )
    if not ((given >= 0).all() and (given <= 1).all()):
        raise RuntimeError(
            "quantile() q values must be in the range [0, 1], but reach from "
            f"{given.min()} to {given.max()}"
        )


def _at_ranks(rows: Any, q: Any, interpolation: str, ignore_nan: bool) -> Any:
    """Return the quantiles of each row along a new last dimension, one per element of `q`."""
    payload = rows._payload
    known = is_number(q) or (isinstance(q._payload, np.ndarray | np.generic) and q._edge is None)
    if known and not ignore_nan:
        return _at_common_ranks(rows, q, interpolation)
    own = payload.dtype
    wanted = placed(rows, np.full(1, q, own)) if is_number(q) else q
    wanted = wanted if wanted._payload.ndim else T.view(wanted, shape=(1,))
    last = payload.ndim - 1
    missing = T.isnan(rows)
    if ignore_nan:
        counts = T.sum_dim(T.logical_not(missing), dim=(last,), keepdim=True)
        ranks = T.mul(wanted, T.sub_scalar(cast(counts, own), other=1))
        ranks = T.where(T.eq(counts, 0), 0, ranks)
    else:
        ranks = T.mul_scalar(wanted, other=payload.shape[-1] - 1)
        broken = T.any(missing, dim=(last,), keepdim=True)
        ranks = T.where(broken, float(payload.shape[-1] - 1), ranks)
    order = T.argsort(rows, dim=last, descending=False)

    def values_at(places: Any) -> Any:
        where = T.taken(order, cast(places, np.dtype(np.int64)), dim=last)
        return T.taken(rows, where, dim=last)

    if interpolation in ("lower", "higher", "nearest"):
        rounded = {"lower": T.floor, "higher": T.ceil, "nearest": T.round}[interpolation]
        return values_at(rounded(ranks))
    floor = T.floor(ranks)
    below, above = values_at(floor), values_at(T.ceil(ranks))
    if interpolation == "midpoint":
        return T.lerp(below, above, weight=0.5)
    return T.lerp_tensor(below, above, T.sub(ranks, floor))


def _at_common_ranks(rows: Any, q: Any, interpolation: str) -> Any:
    """Compute `_at_ranks` where every row has the same ranks, known in advance."""
    payload = rows._payload
    span = payload.shape[-1] - 1
    if is_number(q):
        ranks = [q * span]
    else:
        # in the precision of q, in which its ranks are rounded
        ranks = np.atleast_1d(q._payload * q._payload.dtype.type(span)).tolist()
    below = [math.floor(rank) for rank in ranks]
    above = [math.ceil(rank) for rank in ranks]
    count, last = len(ranks), payload.ndim - 1
    if interpolation in ("lower", "higher", "nearest"):
        chosen = {"lower": below, "higher": above, "nearest": [round(rank) for rank in ranks]}
        return T.taken(rows, T.argranked(rows, ranks=tuple(chosen[interpolation])), dim=last)
    found = T.argranked(rows, ranks=(*below, *above))
    low, high = (
        T.taken(rows, T.slice(found, dim=last, start=start, end=start + count, step=1), dim=last)
        for start in (0, count)
    )
    if interpolation == "midpoint":
        return T.lerp(low, high, weight=0.5)
    parts = [rank - floor for rank, floor in zip(ranks, below, strict=True)]
    weight = placed(low, np.array(parts, payload.dtype))
    return T.lerp_tensor(low, high, weight)
