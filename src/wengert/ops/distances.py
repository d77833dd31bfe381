"""Layer 5 · ops · products: distances between the points of two lists, or of one."""

from __future__ import annotations

from typing import Any

from wengert.base.errors import not_implemented, wrong_type
from wengert.base.export import export
from wengert.base.shapes import broadcast
from wengert.ops.coerce import dtype_name, number, operand, wide
from wengert.prims import distances as distances
from wengert.tape.operands import is_number
from wengert.tape.record import T

_MODES = {
    "use_mm_for_euclid_dist_if_necessary": None,
    "use_mm_for_euclid_dist": True,
    "donot_use_mm_for_euclid_dist": False,
}
_FEW_POINTS = 25


def _power(p: Any, op: str) -> float:
    p = number(p, op, "p")
    if not is_number(p) or isinstance(p, complex):
        raise wrong_type(op, "p", "float", p)
    if not p >= 0:
        raise RuntimeError(f"{op} only supports non-negative p values, but got {p}")
    return float(p)


def _check_dtype(x: Any, op: str) -> None:
    if x._payload.dtype.itemsize < 4:
        raise not_implemented(op, x._payload.dtype, "convert the input to float32")


@export("wengert")
def cdist(
    x1: Any, x2: Any, p: float = 2.0, compute_mode: str = "use_mm_for_euclid_dist_if_necessary"
) -> Any:
    """Return the distance of each point of one list from each point of another.

    Parameters
    ----------
    x1, x2 : Tensor. Points with M coordinates, of shapes (..., P, M) and (..., R, M) and of one
        floating dtype. The leading dimensions broadcast.
    p : number. The power of the norm, from 0 (the number of coordinates that differ) to infinity.
    compute_mode : str. For p = 2: "use_mm_for_euclid_dist" computes distances by a product of
        matrices, which is quick for many points, but loses digits where points are closer to each
        other than to 0; "donot_use_mm_for_euclid_dist" does not;
        "use_mm_for_euclid_dist_if_necessary" does for more than 25 points.

    Returns
    -------
    Tensor: Of shape (..., P, R). Differentiable, to any order; where points coincide, the gradient
        is 0.

    Raises
    ------
    RuntimeError: If the shapes or dtypes do not fit, or `p` is negative.
    ValueError: For another `compute_mode`.

    Examples
    --------
    >>> wg.cdist(wg.tensor([[0.0, 0.0], [3.0, 0.0]]), wg.tensor([[0.0, 4.0]]))
    tensor([[4.],
            [5.]])
    """
    if compute_mode not in _MODES:
        raise ValueError(f"{compute_mode} is not a valid value for compute_mode: {list(_MODES)}")
    a, b = wide(x1, "cdist", "x1"), wide(x2, "cdist", "x2", 2)
    for name, x in (("X1", a), ("X2", b)):
        if x._payload.dtype.kind in "biuc":
            raise RuntimeError(
                f"cdist only supports floating-point dtypes, {name} got: {dtype_name(x._payload)}"
            )
    for name, x in (("X1", a), ("X2", b)):
        if x._payload.ndim < 2:
            raise RuntimeError(
                f"cdist only supports at least 2D tensors, {name} got: {x._payload.ndim}D"
            )
    left, right = a._payload.shape, b._payload.shape
    if left[-1] != right[-1]:
        raise RuntimeError(
            f"X1 and X2 must have the same number of columns. X1: {left[-1]} X2: {right[-1]}"
        )
    p = _power(p, "cdist")
    _check_dtype(a, "cdist")
    if a._payload.dtype != b._payload.dtype:
        raise RuntimeError(
            f"expected scalar type {dtype_name(a._payload)} but found {dtype_name(b._payload)}: "
            "convert one of them"
        )
    lead = broadcast(left[:-2], right[:-2])
    if left[:-2] != lead:
        a = T.expand(a, shape=(*lead, *left[-2:]))
    if right[:-2] != lead:
        b = T.expand(b, shape=(*lead, *right[-2:]))
    mm = _MODES[compute_mode]
    if mm is None:
        mm = max(left[-2], right[-2]) > _FEW_POINTS
    return T.cdist(a, b, p=p, mm=mm and p == 2)


@export("wengert", "nn.functional")
def pdist(input: Any, p: float = 2.0) -> Any:
    """Return the distances between all pairs of points in a list.

    Parameters
    ----------
    input : Tensor. N points, of shape (N, M) and of a floating dtype.
    p : number. The power of the norm, as for `cdist`.

    Returns
    -------
    Tensor: Of shape (N * (N - 1) / 2,): the part of the matrix of distances above its diagonal, row
        by row. Differentiable, to any order; where points coincide, the gradient is 0.

    Raises
    ------
    RuntimeError: If the input is not a floating matrix, or `p` is negative.

    Examples
    --------
    >>> wg.pdist(wg.tensor([[0.0, 0.0], [3.0, 0.0], [0.0, 4.0]]))
    tensor([3., 4., 5.])
    """
    x = operand(input, "pdist")
    array = x._payload
    if array.ndim != 2:
        raise RuntimeError(f"pdist only supports 2D tensors, got: {array.ndim}D")
    if array.dtype.kind in "biuc":
        raise RuntimeError(f"pdist only supports floating-point dtypes, got {dtype_name(array)}")
    p = _power(p, "pdist")
    if array.shape[0] > 1:
        _check_dtype(x, "pdist")
    return T.pdist(x, p=p)
