"""Layer 5 · ops · shapes: copies in which the elements of a view are replaced."""

from __future__ import annotations

from typing import Any

from wengert.base.export import export
from wengert.base.shapes import normal_dim
from wengert.interp.levels import namespace_of
from wengert.ops.checks import numpy_names
from wengert.ops.coerce import integer, operand
from wengert.ops.out import into
from wengert.ops.split import stretch
from wengert.ops.strided import is_within, window_of
from wengert.prims import scatter as scatter
from wengert.tape.operands import cast
from wengert.tape.record import T


def _replaced(view: str, x: Any, src: Any, params: dict[str, Any]) -> Any:
    """Return a copy of `x` with `src` at the elements that the view operation `view` shows."""
    y = operand(src, f"{view}_scatter", "src", 2)
    payload = x._array()
    size = getattr(namespace_of(payload), view)(payload, **params).shape
    if y._payload.shape != size:
        raise RuntimeError(
            "expected src to have a size equal to the slice of self. src size = "
            f"{list(y._payload.shape)}, slice size = {list(size)}"
        )
    return getattr(T, f"{view}_scatter")(x, cast(y, x._payload.dtype), **params)


@export("wengert", "Tensor")
def select_scatter(input: Any, src: Any, dim: int, index: int) -> Any:
    """Return a copy with another tensor in one position of a dimension.

    Parameters
    ----------
    %(vectors)s
    src : Tensor. The values to write: of the shape of ``input.select(dim, index)``; converted to
        the dtype of `input`.
    dim, index : int. The dimension and the position, both negative to count from the end.

    %(returns_of_both)s

    Raises
    ------
    IndexError: If there is no such dimension or position.
    RuntimeError: If `src` has another shape.

    Examples
    --------
    >>> wg.select_scatter(wg.zeros(2, 2), wg.ones(2), 0, 1)
    tensor([[0., 0.],
            [1., 1.]])
    """
    x = operand(input, "select_scatter")
    shape = x._payload.shape
    if not shape:
        raise IndexError("select() cannot be applied to a 0-dim tensor.")
    axis = normal_dim(integer(dim, "select_scatter", "dim"), len(shape))
    place = integer(index, "select_scatter", "index")
    if not -shape[axis] <= place < shape[axis]:
        raise IndexError(
            f"select(): index {place} out of range for tensor of size {list(shape)} at dimension "
            f"{axis}"
        )
    return _replaced("select", x, src, {"dim": axis, "index": place % shape[axis]})


@export("wengert", "Tensor")
@numpy_names
def slice_scatter(
    input: Any,
    src: Any,
    dim: int = 0,
    start: int | None = None,
    end: int | None = None,
    step: int = 1,
    *,
    out: Any = None,
) -> Any:
    """Return a copy with another tensor in a range of a dimension.

    Parameters
    ----------
    %(vectors)s
    src : Tensor. The values to write: of the shape of the range; converted to the dtype of
        `input`.
    %(dim)s
    start, end, step : int. The range, as in ``input[start:end:step]``; `step` must be positive.

    %(returns_of_both)s

    Raises
    ------
    IndexError: If there is no such dimension, or none at all.
    RuntimeError: If `src` has another shape, or `step` is not positive.

    Examples
    --------
    >>> wg.slice_scatter(wg.zeros(4), wg.ones(2), start=1, step=2)
    tensor([0., 1., 0., 1.])
    """
    x = operand(input, "slice_scatter")
    params = stretch(x._payload.shape, dim, start, end, step, "slice_scatter")
    return into(out, _replaced("slice", x, src, params), "slice_scatter")


@export("wengert", "Tensor")
def diagonal_scatter(input: Any, src: Any, offset: int = 0, dim1: int = 0, dim2: int = 1) -> Any:
    """Return a copy with another tensor on a diagonal of two dimensions.

    Parameters
    ----------
    %(planes)s
    src : Tensor. The values to write: of the shape of ``input.diagonal(offset, dim1, dim2)``;
        converted to the dtype of `input`.
    %(offset)s
    dim1, dim2 : int. The dimensions.

    %(returns_of_both, raises_no_dim)s
    RuntimeError: If the dimensions are one, or `src` has another shape.

    Examples
    --------
    >>> wg.diagonal_scatter(wg.zeros(2, 2), wg.tensor([1.0, 2.0]))
    tensor([[1., 0.],
            [0., 2.]])
    """
    x = operand(input, "diagonal_scatter")
    first, second = normal_dim(dim1, x._payload.ndim), normal_dim(dim2, x._payload.ndim)
    if first == second:
        raise RuntimeError(f"diagonal dimensions cannot be identical {dim1}, {dim2}")
    params = {"offset": integer(offset, "diagonal_scatter", "offset"), "dim1": first}
    return _replaced("diagonal", x, src, {**params, "dim2": second})


@export("wengert", "Tensor")
def as_strided_scatter(
    input: Any, src: Any, size: Any, stride: Any, storage_offset: int | None = None
) -> Any:
    """Return a copy with another tensor written to a strided view of its memory.

    Parameters
    ----------
    input : Tensor. Contiguous, of any shape.
    src : Tensor. The values to write: of the shape `size`; converted to the dtype of `input`.
    size, stride : sequence of int. The places, as `as_strided` takes them; no place should be named
        twice.
    storage_offset : int, optional. The first place; default: that of the first element of `input`.

    %(returns_of_both)s

    Raises
    ------
    RuntimeError: If `input` is not contiguous, if the places are not all within it, or if `src` has
        another shape.

    Examples
    --------
    >>> wg.as_strided_scatter(wg.zeros(2, 2), wg.ones(2), (2,), (3,))
    tensor([[1., 0.],
            [0., 1.]])
    """
    x = operand(input, "as_strided_scatter")
    if not x._payload.flags.c_contiguous:
        raise RuntimeError(
            "as_strided_scatter is currently only supported for contiguous inputs: use contiguous()"
        )
    params = window_of(x, size, stride, storage_offset)
    if not is_within(x, params):
        raise RuntimeError(
            "as_strided_scatter() reaches beyond the tensor: give it sizes, strides and an offset "
            "of the tensor's own elements"
        )
    return _replaced("as_strided", x, src, params)
