"""Layer 2 · prims: running extremes and running sums of exponentials along a dimension."""

from __future__ import annotations

import math
from typing import Any

from wengert.kernels import scan as kernels
from wengert.prims.families import along_dim, constant
from wengert.prims.record import case

_ALONG = (
    case((), dim=0),
    case((3,), dim=0),
    case((2, 3), dim=0),
    case((2, 3, 2), dim=1),
    case((0,), dim=0),
    case((2, 0), dim=1),
)


# -- extremes: where; what is there is taken as in `wengert.prims.sorting` ----------------------

for _name, _doc in (
    ("cummax", "the largest element up to each one"),
    ("cummin", "the smallest element up to each one"),
):
    constant(
        f"arg{_name}",
        getattr(kernels, _name),
        params=("dim",),
        cases=_ALONG,
        raises=False,
        doc=f"the position of {_doc} along a dimension: the last of several",
        batching="along",
    )

# -- sums of exponentials -------------------------------------------------------------------------

# NOTE [running sums of exponentials]
# With y[k] = log(sum of exp(x[i]) for i <= k), the derivative of y[k] by x[i] is exp(x[i] - y[k]).
# So the cotangent of x[i] is exp(x[i] - y[i]) * s[i], where s[i] sums exp(y[i] - y[k]) * g[k] over
# k >= i: the recurrence s[i] = g[i] + exp(y[i] - y[i + 1]) * s[i + 1]. For real numbers no exponent
# is above 0, so nothing overflows. Where a difference of two infinities would be NaN, it is taken
# as 0; what is minus infinity has no part in any sum, and gets no gradient.


def _slope_of_logcumsumexp(F: Any, g: Any, self: Any, result: Any, dim: int) -> Any:
    behind = F.shift(result, dim=dim, by=-1, fill=math.inf)
    decay = F.exp(F.where(result == behind, 0, result - behind))
    total = F.linear_recurrence(decay, g, dim=dim, reverse=True)
    share = F.exp(F.where(self == result, 0, self - result))
    return F.where(self == -math.inf, 0, total * share)


along_dim(
    "logcumsumexp",
    kernels.logcumsumexp,
    params=("dim",),
    vjp=(_slope_of_logcumsumexp,),
    cases=_ALONG,
    layout="contiguous",
    doc="the logarithm of the sum of the exponentials up to each element along a dimension",
    raises=False,
)
