"""Layer 5 · ops · sorting: the elements along a dimension in order, and the first of them."""

# the arguments have PyTorch's names

from __future__ import annotations

from typing import Any

from wengert.base.export import export
from wengert.ops import named_results
from wengert.ops.checks import flag, one_dim, renamed
from wengert.ops.coerce import integer, operand
from wengert.ops.named_results import pair
from wengert.ops.out import into
from wengert.prims import sorting as sorting
from wengert.tape.detachments import note
from wengert.tape.record import T


def _sortable(input: Any, dim: Any, name: str) -> tuple[Any, int]:
    tensor = operand(input, name)
    payload = tensor._payload
    if payload.dtype.kind == "c":
        raise RuntimeError(
            f"{'topk' if name == 'topk' else 'Sort'} does not support complex dtypes on CPU: they "
            "have no order; sort by input.real, input.abs() or input.angle()"
        )
    return tensor, one_dim(dim, payload.ndim, name)


@export("wengert", "Tensor")
def sort(
    input: Any,
    dim: int = -1,
    descending: bool = False,
    *,
    stable: bool | None = False,
    out: Any = None,
    **names: Any,
) -> Any:
    """Return the elements along a dimension in ascending or descending order.

    Parameters
    ----------
    %(sorted, two_outs)s

    Returns
    -------
    return_types.sort: A named tuple ``(values, indices)``; the values are differentiable, to any
        order.

    %(raises_dim, error_complex_input)s

    Examples
    --------
    >>> values, indices = wg.sort(wg.tensor([3.0, 1.0, 2.0]))
    >>> values, indices
    (tensor([1., 2., 3.]), tensor([1, 2, 0]))
    """
    if names:
        dim, _ = renamed("sort", dim, True, names, usual=-1)
    x, axis = _sortable(input, dim, "sort")
    indices = T.argsort(x, dim=axis, descending=flag(descending, "descending"))
    return pair(named_results.sort, T.sort(x, indices, dim=axis), indices, out)


@export("wengert", "Tensor")
def argsort(
    input: Any,
    dim: int = -1,
    descending: bool = False,
    *,
    stable: bool = False,
    out: Any = None,
    **names: Any,
) -> Any:
    """Return the positions of the elements along a dimension in ascending or descending order.

    Parameters
    ----------
    %(sorted)s

    Returns
    -------
    Tensor: Of int64; without a derivative.

    %(raises_dim, error_complex_input)s

    Examples
    --------
    >>> wg.argsort(wg.tensor([3.0, 1.0, 2.0]), descending=True)
    tensor([0, 2, 1])
    """
    if names:
        dim, _ = renamed("argsort", dim, True, names, usual=-1)
    x, axis = _sortable(input, dim, "sort")
    if x._edge is not None:
        note("argsort()", x)
    return into(out, T.argsort(x, dim=axis, descending=flag(descending, "descending")), "argsort")


@export("wengert", "Tensor")
def msort(input: Any, *, out: Any = None) -> Any:
    """Return the elements along the first dimension in ascending order.

    Parameters
    ----------
    %(real_input)s

    Returns
    -------
    Tensor: ``sort(input, dim=0).values``; differentiable, to any order.

    %(raises_complex_input)s

    Examples
    --------
    >>> wg.msort(wg.tensor([[3, 1], [2, 4]]))
    tensor([[2, 1],
            [3, 4]])
    """
    x, axis = _sortable(input, 0, "sort")
    return into(out, T.sort(x, T.argsort(x, dim=axis, descending=False), dim=axis), "msort")


@export("wengert", "Tensor")
def topk(
    input: Any,
    k: int,
    dim: int = -1,
    largest: bool = True,
    sorted: bool = True,
    *,
    out: Any = None,
    **names: Any,
) -> Any:
    """Return the `k` largest, or smallest, elements along a dimension.

    Parameters
    ----------
    input : Tensor. Of any real dtype but bool. A NaN counts as larger than every number.
    k : int. The number of elements.
    %(selected_dim)s
    largest : bool. Whether to choose the largest.
    sorted : bool. Whether they must come in order, the first choice first.
    %(two_outs)s

    Returns
    -------
    return_types.topk: A named tuple ``(values, indices)``; the values are differentiable, to any
        order. Which of several equal elements are chosen is not defined.

    Raises
    ------
    RuntimeError: If there are no `k` elements, or the input is complex or of bools.
    %(error_dim)s

    Examples
    --------
    >>> values, indices = wg.topk(wg.tensor([1.0, 5.0, 3.0, 4.0]), 2)
    >>> values, indices
    (tensor([5., 4.]), tensor([1, 3]))
    """
    if names:
        dim, _ = renamed("topk", dim, True, names, usual=-1)
    x, axis = _sortable(input, dim, "topk")
    payload = x._payload
    if payload.dtype.kind == "b":
        raise RuntimeError("topk does not support bool dtypes on CPU: convert it with .to(dtype)")
    count = integer(k, "topk", "k")
    size = payload.shape[axis] if payload.ndim else 1
    if not 0 <= count <= size:
        raise RuntimeError(
            f"selected index k out of range: dimension {axis} has size {size}, and k is {count}"
        )
    indices = T.argtop(
        x, k=count, dim=axis, largest=flag(largest, "largest"), sorted=flag(sorted, "sorted")
    )
    return pair(named_results.topk, T.topk(x, indices, dim=axis), indices, out)
