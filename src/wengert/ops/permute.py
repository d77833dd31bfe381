"""Layer 5 · ops · shapes: dimensions in another order."""

from __future__ import annotations

from typing import Any

from wengert.base.export import export
from wengert.base.shapes import normal_dim
from wengert.ops.coerce import integer, operand, sizes_of
from wengert.tape.record import T
from wengert.tape.sites import warn_once


@export("wengert", "Tensor", "Tensor_ reshaped")
def transpose(input: Any, dim0: Any, dim1: Any = None) -> Any:
    """Return the tensor with two dimensions swapped.

    Parameters
    ----------
    %(input)s
    dim0, dim1 : int. The dimensions. Or one sequence, the order of all, as NumPy takes it.

    %(returns_view, raises_no_dim)s

    Examples
    --------
    >>> wg.zeros(2, 3, 4).transpose(0, 2).shape
    torch.Size([4, 3, 2])
    """
    x = operand(input, "transpose")
    if dim1 is None and isinstance(dim0, tuple | list):
        return permute(x, dim0)
    ndim = x._payload.ndim
    first = normal_dim(integer(dim0, "transpose", "dim0"), ndim)
    second = normal_dim(integer(dim1, "transpose", "dim1"), ndim)
    if not ndim:
        return T.alias(x)
    return T.transpose(x, dim0=first, dim1=second)


@export("wengert", "Tensor", "Tensor_ reshaped")
def swapaxes(input: Any, axis0: int, axis1: int) -> Any:
    """`transpose` under NumPy's name.

    Parameters
    ----------
    %(input)s
    axis0, axis1 : int. The dimensions.

    %(returns_view, raises_no_dim)s

    Examples
    --------
    >>> wg.swapaxes(wg.zeros(2, 3), 0, 1).shape
    torch.Size([3, 2])
    """
    return transpose(input, axis0, axis1)


@export("wengert", "Tensor", "Tensor_ reshaped")
def swapdims(input: Any, dim0: int, dim1: int) -> Any:
    """`transpose` under another name.

    Parameters
    ----------
    %(input, two_dims, returns_view, raises_no_dim)s

    Examples
    --------
    >>> wg.swapdims(wg.zeros(2, 3), 0, 1).shape
    torch.Size([3, 2])
    """
    return transpose(input, dim0, dim1)


@export("wengert", "Tensor", "Tensor_ reshaped")
def t(input: Any) -> Any:
    """Return the transpose of a matrix; a vector or a scalar as it is.

    Parameters
    ----------
    input : Tensor. Of at most two dimensions.

    %(returns_view)s

    Raises
    ------
    RuntimeError: If there are more than two dimensions.

    Examples
    --------
    >>> wg.zeros(2, 3).t().shape
    torch.Size([3, 2])
    """
    x = operand(input, "t")
    if x._payload.ndim > 2:
        raise RuntimeError(
            f"t() expects a tensor with <= 2 dimensions, but self is {x._payload.ndim}D: use "
            "transpose(dim0, dim1) or permute(dims)"
        )
    return T.t(x)


@export("wengert", "Tensor")
def permute(input: Any, *sizes: Any, dims: Any = None) -> Any:
    """Return the tensor with its dimensions in another order.

    Parameters
    ----------
    %(input)s
    *sizes : int, or one sequence of ints. For each dimension of the result the one of `input` that
        it is (also as `dims`).

    %(returns_view)s

    Raises
    ------
    RuntimeError: If a dimension is missing or is named twice.

    Examples
    --------
    >>> wg.zeros(2, 3, 4).permute(2, 0, 1).shape
    torch.Size([4, 2, 3])
    """
    x = operand(input, "permute")
    ndim = x._payload.ndim
    order = sizes_of(sizes if dims is None else dims, "permute", "dims")
    if len(order) != ndim:
        raise RuntimeError(
            "permute(sparse_coo): number of dimensions in the tensor input does not match the "
            f"length of the desired ordering of dimensions i.e. input.dim() = {ndim} is not equal "
            f"to len(dims) = {len(order)}"
        )
    if sorted(order) != [*range(ndim)]:
        order = tuple([normal_dim(d, ndim) for d in order])
        if len(set(order)) != ndim:
            raise RuntimeError(f"permute(): duplicate dims are not allowed. Got {list(order)}")
    return T.permute(x, dims=order)


@export("wengert", "Tensor")
def movedim(input: Any, source: Any, destination: Any) -> Any:
    """Return the tensor with some dimensions moved, and the rest in order.

    Parameters
    ----------
    %(input, moved)s

    Examples
    --------
    >>> wg.zeros(2, 3, 4).movedim(0, -1).shape
    torch.Size([3, 4, 2])
    """
    x = operand(input, "movedim")
    ndim = x._payload.ndim
    if ndim and source.__class__ is int and destination.__class__ is int:
        order = [*range(ndim)]
        order.insert(normal_dim(destination, ndim), order.pop(normal_dim(source, ndim)))
        return T.permute(x, dims=tuple(order))
    sources = source if isinstance(source, tuple | list) else (source,)
    places = destination if isinstance(destination, tuple | list) else (destination,)
    if len(sources) != len(places):
        raise RuntimeError(
            "movedim: Invalid source or destination dims: source "
            f"({list(sources)} dims) should contain the same number of dims as destination "
            f"({list(places)} dims)"
        )
    moved, there = _moved(sources, "source", ndim), _moved(places, "destination", ndim)
    if not ndim:
        return T.alias(x)
    order = [dim for dim in range(ndim) if dim not in moved]
    for place, dim in sorted(zip(there, moved, strict=True)):
        order.insert(place, dim)
    return T.permute(x, dims=tuple(order))


def _moved(dims: Any, name: str, ndim: int) -> list[int]:
    found = [
        normal_dim(dim if type(dim) is int else integer(dim, "movedim", name), ndim) for dim in dims
    ]
    if len(found) > 1 and len(set(found)) != len(found):
        raise RuntimeError(f"movedim: repeated dim in `{name}` ({list(dims)})")
    return found


@export("wengert", "Tensor")
def moveaxis(input: Any, source: Any, destination: Any) -> Any:
    """`movedim` under NumPy's name.

    Parameters
    ----------
    %(input, moved)s

    Examples
    --------
    >>> wg.moveaxis(wg.zeros(2, 3, 4), 0, -1).shape
    torch.Size([3, 4, 2])
    """
    return movedim(input, source, destination)


# -- what tensors have as attributes ---------------------------------------------------------------


def reversed_dims(input: Any) -> Any:
    """All dimensions in reverse order: the attribute ``T``.

    Examples
    --------
    >>> wg.zeros(2, 3).T.shape
    torch.Size([3, 2])
    """
    x = operand(input, "T")
    ndim = x._payload.ndim
    return T.permute(x, dims=(1, 0) if ndim == 2 else tuple(range(ndim))[::-1])


def transposed(input: Any) -> Any:
    """The dimensions in reverse order: the attribute ``T``.

    Warns
    -----
    UserWarning: Unless there are two dimensions; ``mT`` transposes batches of matrices.

    Examples
    --------
    >>> wg.tensor([[1, 2], [3, 4]]).T
    tensor([[1, 3],
            [2, 4]])
    """
    ndim = input._payload.ndim
    if ndim == 0:
        warn_once("Tensor.T is deprecated on 0-D tensors, which it returns as they are.")
    elif ndim != 2:
        warn_once(
            "The use of `x.T` on tensors of dimension other than 2 to reverse their shape is "
            "deprecated. Write `x.mT` to transpose matrices, or `x.permute(...)` with the order of "
            "the dimensions."
        )
    return reversed_dims(input)


def mT(input: Any) -> Any:
    """The last two dimensions exchanged: the attribute ``mT``.

    Raises
    ------
    RuntimeError: If there is one dimension only; a tensor without dimensions is returned as it is.

    Examples
    --------
    >>> wg.zeros(5, 2, 3).mT.shape
    torch.Size([5, 3, 2])
    """
    x = operand(input, "mT")
    ndim = x._payload.ndim
    if not ndim:
        return x
    if ndim < 2:
        raise RuntimeError(
            f"tensor.mT is only supported on matrices or batches of matrices. Got {ndim}-D tensor."
        )
    return T.transpose(x, dim0=ndim - 2, dim1=ndim - 1)


def H(input: Any) -> Any:
    """The conjugate transpose of a matrix: the attribute ``H``.

    Raises
    ------
    RuntimeError: If the tensor has another number of dimensions than two (or none).

    Examples
    --------
    >>> wg.zeros(2, 3).H.shape
    torch.Size([3, 2])
    """
    x = operand(input, "H")
    ndim = x._payload.ndim
    if ndim not in (0, 2):
        raise RuntimeError(
            f"tensor.H is only supported on matrices (2-D tensors). Got {ndim}-D tensor."
            + (" For batches of matrices, consider using tensor.mH" if ndim > 2 else "")
        )
    return _conjugated(T.transpose(x, dim0=0, dim1=1) if ndim else x)


def mH(input: Any) -> Any:
    """The conjugate of `mT`: the attribute ``mH``.

    Raises
    ------
    RuntimeError: If there is one dimension only.

    Examples
    --------
    >>> wg.zeros(5, 2, 3).mH.shape
    torch.Size([5, 3, 2])
    """
    return adjoint(input)


@export("wengert", "Tensor")
def adjoint(input: Any) -> Any:
    """Return the conjugate transposes of matrices.

    Parameters
    ----------
    input : Tensor. Matrices, in the last two dimensions; or a tensor without dimensions.

    Returns
    -------
    Tensor: A view of real tensors. Differentiable.

    Raises
    ------
    RuntimeError: If there is one dimension only.

    Examples
    --------
    >>> wg.adjoint(wg.zeros(5, 2, 3)).shape
    torch.Size([5, 3, 2])
    """
    x = operand(input, "adjoint")
    ndim = x._payload.ndim
    if not ndim:
        return _conjugated(x)
    if ndim < 2:
        raise RuntimeError(
            f"tensor.adjoint() is only supported on matrices or batches of matrices. Got {ndim}-D "
            "tensor."
        )
    return _conjugated(T.transpose(x, dim0=ndim - 2, dim1=ndim - 1))


def _conjugated(x: Any) -> Any:
    return T.conj(x) if x._payload.dtype.kind == "c" else x
