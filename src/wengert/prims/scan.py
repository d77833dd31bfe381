"""Layer 2 · prims: running sums, products and extremes along a dimension, and full products.

``dim`` is a non-negative int; the public functions normalise it.
"""

from __future__ import annotations

import math
from typing import Any

from wengert.kernels import scan as kernels
from wengert.kernels.reduce import prod, product
from wengert.prims.families import along_dim, constant, linear, reduction
from wengert.prims.record import case
from wengert.prims.reduce import spread

_ALONG = (
    case((), dim=0),
    case((3,), dim=0),
    case((2, 3), dim=0),
    case((2, 3, 2), dim=1),
    case((0,), dim=0),
    case((2, 0), dim=1),
)


# -- sums and products ----------------------------------------------------------------------------

# NOTE [products without division]
# The derivative of a product is the product of all other elements. Dividing the result by each
# element would fail at 0, and the second derivative of that already where a single element is 0. So
# the elements before each one and those after it are multiplied separately (`cumprod` in both
# directions), and the derivative of `cumprod` is a linear recurrence, whose own derivative is one
# again: the set of records is closed, and products have derivatives of every order at every point.

_RUNNING = tuple(
    case(shape, dim=dim, reverse=reverse)
    for shape, dim in (((), 0), ((3,), 0), ((2, 3), 0), ((2, 3), 1), ((0,), 0), ((2, 1, 2), 1))
    for reverse in (False, True)
)


def _recurrence(F: Any, g: Any, factor: Any, dim: int, reverse: bool) -> Any:
    """Return the cotangent of a linear recurrence's terms: the recurrence run backwards."""
    following = F.shift(factor, dim=dim, by=1 if reverse else -1, fill=0)
    return F.linear_recurrence(following, g, dim=dim, reverse=not reverse)


def _slope_of_cumprod(F: Any, g: Any, self: Any, result: Any, dim: int, reverse: bool) -> Any:
    before = F.shift(result, dim=dim, by=-1 if reverse else 1, fill=1)
    return before * _recurrence(F, g, self, dim, reverse)


def _slope_of_factor(F: Any, g: Any, factor: Any, result: Any, dim: int, reverse: bool) -> Any:
    before = F.shift(result, dim=dim, by=-1 if reverse else 1, fill=0)
    return before * _recurrence(F, g, factor, dim, reverse)


linear(
    "cumsum",
    kernels.cumsum,
    vjp=lambda F, g, dim, reverse: F.cumsum(g, dim=dim, reverse=not reverse),
    cases=_RUNNING,
    layout="contiguous",
    shows={"reverse": None},
    doc="the sum of the elements up to each one, with `reverse` from each one on",
    batching="along",
    fused="whole",
    casts=True,
)
along_dim(
    "cumprod",
    kernels.cumprod,
    vjp=(_slope_of_cumprod,),
    cases=_RUNNING,
    layout="contiguous",
    shows={"reverse": None},
    doc="the product of the elements up to each one, with `reverse` from each one on",
    fused="whole",
    casts=True,
)
along_dim(
    "shift",
    kernels.shift,
    vjp=(lambda F, g, dim, by: F.shift(g, dim=dim, by=-by, fill=0),),
    cases=tuple(
        case(shape, dim=dim, by=by, fill=fill)
        for shape, dim in (((), 0), ((3,), 0), ((2, 3), 1), ((0,), 0))
        for by, fill in ((1, 0), (-1, 1), (2, 1))
    ),
    doc="the elements moved on by `by` places along `dim`, and `fill` before or behind them",
    sparsity="moved",
)
along_dim(
    "linear_recurrence",
    kernels.linear_recurrence,
    vjp=(
        _slope_of_factor,
        lambda F, g, factor, dim, reverse: _recurrence(F, g, factor, dim, reverse),
    ),
    promote="same",
    cases=tuple(
        case(shape, shape, dim=dim, reverse=reverse)
        for shape, dim in (((), 0), ((3,), 0), ((2, 3), 1), ((0,), 0))
        for reverse in (False, True)
    ),
    layout="contiguous",
    doc="y[k] = factor[k] * y[k - 1] + term[k] along `dim`, with `reverse` from the end",
)


def _slope_of_prod(
    F: Any, g: Any, self: Any, self_shape: tuple[int, ...], dim: tuple[int, ...], keepdim: bool
) -> Any:
    # the other elements of a block: those of the same row, times the products of the other rows
    slope = spread(F, g, self_shape, dim, keepdim)
    for i in dim:
        before = F.shift(F.cumprod(self, dim=i, reverse=False), dim=i, by=1, fill=1)
        behind = F.shift(F.cumprod(self, dim=i, reverse=True), dim=i, by=-1, fill=1)
        slope = slope * (before * behind)
        if i != dim[-1]:
            self = F.prod_dim(self, dim=(i,), keepdim=True)
    return slope


linear(
    "prod",
    product,
    vjp=lambda F, g, self, self_shape: _slope_of_prod(
        F, g, self, self_shape, tuple(range(len(self_shape))), False
    ),
    cases=tuple(map(case, [(), (3,), (2, 3), (0,), (2, 1, 3)])),
    layout="contiguous",
    doc="the product of all elements",
    autocast="float32",
    tangents="reduced",
    combines="mul",
    overloaded=True,
    casts=True,
)
reduction(
    "prod_dim",
    prod,
    overload="prod.dim_int",
    vjp=_slope_of_prod,
    node="ProdBackward1",
    shows={"dim": lambda dim: dim[0] if len(dim) == 1 else dim},
    doc="the product along dimensions",
    autocast="float32",
    combines="mul",
    fused="whole",
)

# -- extremes: positions; see `wengert.prims.sorting` for the elements at them ------------------

for _name, _doc in (
    ("cummax", "the largest element up to each one"),
    ("cummin", "the smallest element up to each one"),
):
    constant(
        f"arg{_name}",
        getattr(kernels, _name),
        cases=_ALONG,
        raises=False,
        doc=f"the position of {_doc} along a dimension: the last of several",
        batching="along",
        fused="whole",
    )

# -- sums of exponentials -------------------------------------------------------------------------

# NOTE [running sums of exponentials]
# With y[k] = log(sum of exp(x[i]) for i <= k), dy[k]/dx[i] is exp(x[i] - y[k]).
# So the cotangent of x[i] is exp(x[i] - y[i]) * s[i], where s[i] sums exp(y[i] - y[k]) * g[k] over
# k >= i: the recurrence s[i] = g[i] + exp(y[i] - y[i + 1]) * s[i + 1]. For real numbers no exponent
# is above 0, so nothing overflows. Where the difference of two infinities would be NaN, it is taken
# as 0; an element of minus infinity contributes to no sum, and gets no gradient.


def _slope_of_logcumsumexp(F: Any, g: Any, self: Any, result: Any, dim: int) -> Any:
    behind = F.shift(result, dim=dim, by=-1, fill=math.inf)
    decay = F.exp(F.where(result == behind, 0, result - behind))
    total = F.linear_recurrence(decay, g, dim=dim, reverse=True)
    share = F.exp(F.where(self == result, 0, self - result))
    return F.where(self == -math.inf, 0, total * share)


along_dim(
    "logcumsumexp",
    kernels.logcumsumexp,
    vjp=(_slope_of_logcumsumexp,),
    cases=_ALONG,
    layout="contiguous",
    doc="the logarithm of the sum of the exponentials up to each element along a dimension",
)
