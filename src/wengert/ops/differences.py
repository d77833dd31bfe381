"""Layer 5 · ops · scans: finite differences, numerical derivatives, and the trapezoidal rule."""

# the arguments have PyTorch's names

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from wengert.base.export import export
from wengert.base.shapes import normal_dim, normal_dims
from wengert.ops.checks import numpy_names, one_dim, renamed
from wengert.ops.coerce import integer, number, operand
from wengert.ops.join import cat
from wengert.ops.options import placed
from wengert.ops.out import into
from wengert.prims import scan as scan
from wengert.tape.base import TensorBase
from wengert.tape.operands import cast, is_number, plain
from wengert.tape.record import T


def _part(x: Any, dim: int, start: int, end: int) -> Any:
    """Return positions from `start` to `end`, which counts from the end if at most 0."""
    size = x._payload.shape[dim]
    first = start if start >= 0 else max(size + start, 0)
    last = end if end > 0 else max(size + end, 0)
    return T.slice(x, dim=dim, start=min(first, size), end=max(min(last, size), first), step=1)


# -- differences ----------------------------------------------------------------------------------


@export("wengert", "Tensor")
def diff(
    input: Any,
    n: int = 1,
    dim: int = -1,
    prepend: Any = None,
    append: Any = None,
    *,
    out: Any = None,
    **names: Any,
) -> Any:
    """Return the differences of neighbours along a dimension, taken once or several times.

    Parameters
    ----------
    input : Tensor. Of any dtype. For bools, the result says whether neighbours differ.
    n : int. The order: how often to take differences.
    dim : int. The dimension.
    prepend, append : Tensor, optional. Tensors to concatenate before and after the input first; of
        its shape except for `dim`.
    out : Tensor, optional. Where to write the result.

    Returns
    -------
    Tensor: Shorter by `n` along `dim`; differentiable, to any order.

    Raises
    ------
    RuntimeError: If the input has no dimension, `n` is negative, or the shapes do not fit.

    Examples
    --------
    >>> wg.diff(wg.tensor([1, 4, 9, 16]))
    tensor([3, 5, 7])
    >>> wg.diff(wg.tensor([1, 4, 9, 16]), n=2)
    tensor([2, 2])
    """
    if names:
        dim, _ = renamed("diff", dim, True, names, usual=-1)
    x = operand(input, "diff")
    times = integer(n, "diff", "n")
    if not x._payload.ndim:
        raise RuntimeError("diff expects input to be at least one-dimensional")
    if times < 0:
        raise RuntimeError(f"order must be non-negative but got {times}")
    axis = one_dim(dim, x._payload.ndim, "diff")
    beside = [
        None if value is None else _beside(value, x._payload.shape, axis, name)
        for name, value in (("prepend", prepend), ("append", append))
    ]
    if beside != [None, None] and times:
        x = cat([part for part in (beside[0], x, beside[1]) if part is not None], axis)
    for _ in range(min(times, x._payload.shape[axis])):
        left, right = _part(x, axis, 0, -1), _part(x, axis, 1, 0)
        bools = x._payload.dtype.kind == "b"
        x = T.logical_xor(right, left) if bools else T.sub(right, left)
    if not times:
        x = T.clone(x)
    return x if out is None else into(out, x, "diff")


def _beside(value: Any, shape: tuple[int, ...], axis: int, name: str) -> Any:
    part = operand(value, "diff", name)
    given = part._payload.shape
    if len(given) != len(shape):
        raise RuntimeError(
            "diff expects prepend or append to be the same dimension as input: "
            f"{len(given)} against {len(shape)}"
        )
    for i, (size, own) in enumerate(zip(given, shape, strict=True)):
        if i != axis and size != own:
            raise RuntimeError(
                "diff expects the shape of tensor to prepend or append to match that of input "
                f"except along the differencing dimension; input.size({i}) = {own}, but got "
                f"tensor.size({i}) = {size}"
            )
    return part


# -- derivatives ----------------------------------------------------------------------------------


@export("wengert")
@numpy_names
def gradient(input: Any, *, spacing: Any = None, dim: Any = None, edge_order: int = 1) -> Any:
    """Return estimates of the derivatives of a function from its values at the points of a grid.

    They are central differences: exact, with even spacing, for polynomials of the second degree.

    Parameters
    ----------
    input : Tensor. The values, of any dtype but bool and uint8.
    spacing : number, sequence of number, or sequence of Tensor, optional. The distance of
        neighbours, for all dimensions or for each; or the coordinates of the points along each
        dimension. 1 by default.
    dim : int or sequence of int, optional. The dimensions to differentiate along; all by default.
    edge_order : {1, 2}. The order of the differences at both ends.

    Returns
    -------
    tuple of Tensor: An estimate of the shape of `input` for each dimension. Differentiable with
        respect to `input` and to coordinates, to any order.

    Raises
    ------
    RuntimeError: If there are too few points, or the spacing does not fit the dimensions.

    References
    ----------
    B. Fornberg, "Generation of finite difference formulas on arbitrarily spaced grids",
    Mathematics of Computation 51 (1988), 699-706.

    Examples
    --------
    >>> wg.gradient(wg.tensor([1.0, 4.0, 9.0, 16.0]))
    (tensor([3., 4., 6., 7.]),)
    >>> wg.gradient(wg.tensor([1.0, 4.0, 16.0]), spacing=(wg.tensor([0.0, 2.0, 4.0]),))
    (tensor([1.5000, 3.7500, 6.0000]),)
    """
    x = operand(input, "gradient")
    dims, spaces = _spacing(x._payload, spacing, dim)
    order = integer(edge_order, "gradient", "edge_order")
    _check_gradient(x._payload, dims, order)
    found = []
    for axis, space in zip(dims, spaces, strict=True):
        make = _on_grid if isinstance(space, TensorBase) else _evenly
        found.append(make(x, axis, space, order))
    return tuple(found)


def _spacing(payload: Any, spacing: Any, dim: Any) -> tuple[tuple[int, ...], list[Any]]:
    """Return the dimensions to differentiate along, and the distance or coordinates for each."""
    ndim = payload.ndim
    if dim is None:
        dims = tuple(range(ndim))
    elif isinstance(dim, tuple | list):
        dims = normal_dims(tuple(dim), ndim)
    else:
        dims = (normal_dim(integer(dim, "gradient", "dim"), ndim),)
    if isinstance(spacing, np.generic) or (
        isinstance(spacing, TensorBase) and not spacing._payload.ndim
    ):
        spacing = number(spacing, "gradient", "spacing")
    if spacing is None or is_number(spacing):
        return dims, [1 if spacing is None else spacing] * len(dims)
    if isinstance(spacing, TensorBase) or not isinstance(spacing, Sequence):
        raise TypeError(
            "gradient() received an invalid combination of arguments - got spacing of type "
            f"{type(spacing).__name__}, but expected a number, or a sequence with a number or a "
            "Tensor of coordinates for each dimension"
        )
    if len(spacing) != len(dims):
        if dim is None:
            raise RuntimeError(
                "torch.gradient expected spacing to be unspecified, a scalar, or a list of length "
                f"equal to 'self.dim() = {ndim}', since dim argument was not given, but got a list "
                f"of length {len(spacing)}"
            )
        raise RuntimeError(
            "torch.gradient expected spacing to be unspecified, a scalar or it's spacing and dim "
            "arguments to have the same length, but got a spacing argument of length "
            f"{len(spacing)} and a dim argument of length {len(dims)}."
        )
    spaces: list[Any] = []
    spacing = [plain(space) for space in spacing]
    for i, space in enumerate(spacing):
        if is_number(space) != is_number(spacing[0]):
            raise TypeError(
                f"expected {'float' if is_number(spacing[0]) else 'Tensor'} as element {i} in "
                f"argument 1, but got {type(space).__name__}"
            )
        if not is_number(space):
            space = operand(space, "gradient", "spacing", 2)
            if space._payload.ndim != 1:
                raise RuntimeError(
                    "torch.gradient expected each element of spacing to have one dimension, but "
                    f"got an element with {space._payload.ndim} dimensions!"
                )
        spaces.append(space)
    return dims, spaces


def _check_gradient(payload: Any, dims: tuple[int, ...], order: int) -> None:
    if payload.dtype == np.uint8:
        raise RuntimeError("torch.gradient does not support uint8 input.")
    if order not in (1, 2):
        raise RuntimeError("torch.gradient only supports edge_order=1 and edge_order=2.")
    for axis in dims if payload.ndim else ():
        if payload.shape[axis] < order + 1:
            raise RuntimeError(
                "torch.gradient expected each dimension size to be at least edge_order+1: "
                f"dimension {axis} has size {payload.shape[axis]}, and edge_order is {order}"
            )


def _evenly(x: Any, axis: int, step: Any, order: int) -> Any:
    inner = (_part(x, axis, 2, 0) - _part(x, axis, 0, -2)) / (2 * step)
    if order == 1:
        first = (_part(x, axis, 1, 2) - _part(x, axis, 0, 1)) / step
        last = (_part(x, axis, -1, 0) - _part(x, axis, -2, -1)) / step
    else:
        a, b, c = (_part(x, axis, i, i + 1) for i in range(3))
        first = (b * 2 - a * 1.5 - c * 0.5) / step
        a, b, c = (_part(x, axis, i, i + 1) for i in (-3, -2, -1))
        last = (c * 1.5 - b * 2 + a * 0.5) / step
    return cat([first, inner, last], axis)


def _on_grid(x: Any, axis: int, points: Any, order: int) -> Any:
    shape = [-1 if i == axis else 1 for i in range(x._payload.ndim)]
    size = points._payload.size
    shape[axis] = size
    along = T.view(T.contiguous(points), shape=tuple(shape))
    steps = _part(along, axis, 1, 0) - _part(along, axis, 0, -1)
    before, behind = _part(steps, axis, 0, -1), _part(steps, axis, 1, 0)
    both = before + behind
    inner = (
        _part(x, axis, 2, 0) * (before / (behind * both))
        + _part(x, axis, 1, -1) * ((behind - before) / (before * behind))
        - _part(x, axis, 0, -2) * (behind / (before * both))
    )
    if order == 1:
        first = (_part(x, axis, 1, 2) - _part(x, axis, 0, 1)) / _part(steps, axis, 0, 1)
        last = (_part(x, axis, -1, 0) - _part(x, axis, -2, -1)) / _part(steps, axis, -1, 0)
    else:
        h, k = _part(steps, axis, 0, 1), _part(steps, axis, 1, 2)
        a, b, c = (_part(x, axis, i, i + 1) for i in range(3))
        first = (
            b * ((h + k) / (h * k)) - a * ((h * 2 + k) / (h * (h + k))) - c * (h / (k * (h + k)))
        )
        h, k = _part(steps, axis, -2, -1), _part(steps, axis, -1, 0)
        a, b, c = (_part(x, axis, i, i + 1) for i in (-3, -2, -1))
        last = a * (k / (h * (h + k))) - b * ((h + k) / (h * k)) + c * ((h + k * 2) / (k * (h + k)))
    return cat([first, inner, last], axis)


# -- integrals ------------------------------------------------------------------------------------


@export("wengert")
def trapezoid(y: Any, x: Any = None, *, dx: Any = None, dim: int = -1, **names: Any) -> Any:
    """Return the integral of a function along a dimension, by the trapezoidal rule.

    Parameters
    ----------
    %(points)s

    Returns
    -------
    Tensor: Without the dimension. Differentiable with respect to `y` and `x`, to any order.

    Raises
    ------
    RuntimeError: If there is not one point for each value, or the dtype is bool.
    TypeError: If there are both `x` and `dx`.

    Examples
    --------
    >>> wg.trapezoid(wg.tensor([1.0, 2.0, 4.0]))
    tensor(4.5000)
    >>> wg.trapezoid(wg.tensor([1.0, 2.0, 4.0]), wg.tensor([0.0, 2.0, 3.0]))
    tensor(6.)
    """
    return _trapezoid("trapezoid", y, x, dx, dim, names)


@export("wengert")
def trapz(y: Any, x: Any = None, *, dx: Any = None, dim: int = -1, **names: Any) -> Any:
    """`trapezoid` under its older name.

    Parameters
    ----------
    %(points)s

    Returns
    -------
    Tensor: Without the dimension. Differentiable with respect to `y` and `x`, to any order.

    Examples
    --------
    >>> wg.trapz(wg.tensor([1.0, 2.0, 4.0]), dx=2)
    tensor(9.)
    """
    return _trapezoid("trapezoid", y, x, dx, dim, names)


@export("wengert")
def cumulative_trapezoid(
    y: Any, x: Any = None, *, dx: Any = None, dim: int = -1, **names: Any
) -> Any:
    """Return the running integral of a function along a dimension, by the trapezoidal rule.

    Parameters
    ----------
    %(points)s

    Returns
    -------
    Tensor: The integrals up to each point but the first. Differentiable with respect to `y` and
        `x`, to any order.

    Raises
    ------
    RuntimeError: If there is not one point for each value, or the dtype is bool.
    TypeError: If there are both `x` and `dx`.

    Examples
    --------
    >>> wg.cumulative_trapezoid(wg.tensor([1.0, 2.0, 4.0]))
    tensor([1.5000, 4.5000])
    """
    return _trapezoid("cumulative_trapezoid", y, x, dx, dim, names)


def _trapezoid(name: str, y: Any, x: Any, dx: Any, dim: Any, names: dict[str, Any]) -> Any:
    if names:
        dim, _ = renamed(name, dim, True, names, usual=-1)
    if x is not None and dx is not None:
        raise TypeError(
            f"{name}() received an invalid combination of arguments - got both x and dx: give the "
            "points, or the distance of neighbours"
        )
    values = operand(y, name, "y")
    payload = values._payload
    if not payload.ndim:
        raise IndexError(f"Dimension specified as {dim} but tensor has no dimensions")
    axis = one_dim(dim, payload.ndim, name)
    points = None if x is None else operand(x, name, "x", 2)
    whole = name == "trapezoid"
    if whole and not payload.shape[axis]:
        shape = payload.shape[:axis] + payload.shape[axis + 1 :]
        return placed(values, np.zeros(shape, payload.dtype))
    if payload.dtype.kind == "b" or (points is not None and points._payload.dtype.kind == "b"):
        which = "`y`" if points is None else "`x` or `y`"
        raise RuntimeError(
            f"{name}: received a bool input for {which}, but bool is not supported: convert it "
            "with .to(dtype)"
        )
    values = _wide(values)
    points = None if points is None else _wide(points)
    if points is None:
        width = 1 if dx is None else dx
        if whole:
            last = payload.shape[axis] - 1
            ends = T.add(*[T.select(values, dim=axis, index=i) for i in (0, last)])
            return T.mul(T.sub(_total(values, axis), T.mul(ends, 0.5)), width)
    pairs = T.add(_part(values, axis, 0, -1), _part(values, axis, 1, 0))
    if points is None:
        return T.cumsum(T.mul(pairs, width / 2), dim=axis, reverse=False)
    steps = _steps(points, payload.shape, axis)
    axis -= max(0, payload.ndim - steps._payload.ndim)
    areas = T.mul(pairs, steps)
    if whole:
        return T.div(_total(areas, axis), 2.0)
    return T.cumsum(T.div(areas, 2.0), dim=axis, reverse=False)


def _wide(x: Any) -> Any:
    """Convert integers to int64, so that sums of small ones do not overflow."""
    return cast(x, np.dtype(np.int64)) if x._payload.dtype.kind in "iu" else x


def _total(areas: Any, axis: int) -> Any:
    return T.sum_dim(areas, dim=(axis,), keepdim=False)


def _steps(points: Any, shape: tuple[int, ...], axis: int) -> Any:
    """Return the distances of neighbouring points, in a shape that broadcasts with the values."""
    own = points._payload.shape
    if len(own) == 1:
        if own[0] != shape[axis]:
            raise RuntimeError(
                "trapezoid: There must be one `x` value for each sample point: there are "
                f"{own[0]} for {shape[axis]}"
            )
        wide = tuple([own[0] if i == axis else 1 for i in range(len(shape))])
        points = T.view(T.contiguous(points), shape=wide)
    elif len(own) < len(shape):
        wide = (*[1] * (len(shape) - len(own)), *own)
        points = T.view(T.contiguous(points), shape=wide)
    return T.sub(_part(points, axis, 1, 0), _part(points, axis, 0, -1))
