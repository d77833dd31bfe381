"""Layer 5 · ops · scans: running extremes and running sums of exponentials along a dimension."""

# the arguments have PyTorch's names

from __future__ import annotations

from typing import Any

from wengert.base.dtypes import is_differentiable
from wengert.base.errors import not_implemented
from wengert.base.export import export
from wengert.ops import named_results
from wengert.ops.checks import one_dim, real_input, renamed
from wengert.ops.coerce import operand
from wengert.ops.named_results import pair
from wengert.ops.out import into
from wengert.prims import scan as scan
from wengert.prims import sorting as sorting
from wengert.tape.record import T


@export("wengert", "Tensor")
def cummax(input: Any, dim: int | None = None, *, out: Any = None, **names: Any) -> Any:
    """Return the running maxima along a dimension, and where they are.

    Parameters
    ----------
    input : Tensor. Of any real dtype. From a NaN on, all maxima are NaN.
    %(along, two_outs)s

    Returns
    -------
    return_types.cummax: A named tuple ``(values, indices)``; of several equal elements the last is
        the maximum. The values are differentiable, to any order: each gives its gradient to the
        element at its index.

    %(raises_dim)s

    Examples
    --------
    >>> values, indices = wg.cummax(wg.tensor([1.0, 3.0, 2.0, 3.0]), dim=0)
    >>> values, indices
    (tensor([1., 3., 3., 3.]), tensor([0, 1, 1, 3]))
    """
    return _extremes("cummax", input, dim, out, names)


@export("wengert", "Tensor")
def cummin(input: Any, dim: int | None = None, *, out: Any = None, **names: Any) -> Any:
    """Return the running minima along a dimension, and where they are.

    Parameters
    ----------
    input : Tensor. Of any real dtype. From a NaN on, all minima are NaN.
    %(along, two_outs)s

    Returns
    -------
    return_types.cummin: A named tuple ``(values, indices)``; of several equal elements the last is
        the minimum. The values are differentiable, to any order: each gives its gradient to the
        element at its index.

    %(raises_dim)s

    Examples
    --------
    >>> wg.cummin(wg.tensor([2, 3, 1]), dim=0).values
    tensor([2, 2, 1])
    """
    return _extremes("cummin", input, dim, out, names)


def _extremes(name: str, input: Any, dim: Any, out: Any, names: dict[str, Any]) -> Any:
    if names:
        dim, _ = renamed(name, dim, True, names)
    if dim is None:
        raise _no_dim(name)
    x = real_input(input, name, f"{name}_cpu")
    axis = one_dim(dim, x._payload.ndim, name)
    if name == "cummax":
        indices = T.argcummax(x, dim=axis)
        values = T.cummax(x, indices, dim=axis)
    else:
        indices = T.argcummin(x, dim=axis)
        values = T.cummin(x, indices, dim=axis)
    return pair(getattr(named_results, name), values, indices, out)


def _no_dim(name: str) -> TypeError:
    return TypeError(f'{name}() missing 1 required positional arguments: "dim"')


@export("wengert", "Tensor")
def logcumsumexp(input: Any, dim: int | None = None, *, out: Any = None, **names: Any) -> Any:
    """Return the logarithms of running sums of exponentials along a dimension, without overflow.

    Parameters
    ----------
    input : Tensor. Of any floating or complex dtype.
    %(along)s

    Returns
    -------
    Tensor: Of the input's shape; differentiable, to any order. Elements of minus infinity, which
        add nothing, get the gradient 0.

    %(raises_dim)s
    NotImplementedError: If the input consists of integers or bools.

    Examples
    --------
    >>> wg.logcumsumexp(wg.tensor([1000.0, 1000.0, 1000.0]), dim=0)
    tensor([1000.0000, 1000.6932, 1001.0986])
    """
    if names:
        dim, _ = renamed("logcumsumexp", dim, True, names)
    if dim is None:
        raise _no_dim("logcumsumexp")
    x = operand(input, "logcumsumexp")
    axis = one_dim(dim, x._payload.ndim, "logcumsumexp")
    if not is_differentiable(x._payload.dtype):
        advice = "convert the input to a floating dtype with .to(dtype)"
        raise not_implemented("logcumsumexp_out_cpu", x._payload.dtype, advice)
    return into(out, T.logcumsumexp(x, dim=axis), "logcumsumexp")
