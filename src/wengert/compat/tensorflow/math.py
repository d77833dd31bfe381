"""Layer 9 · compat: ``tf.math``: elementary and special functions, sums, comparisons, segments.

>>> print(tf.math.log([1.0, 2.0]).numpy())
[0.        0.6931472]
"""

from __future__ import annotations

from typing import Any as _Any

from wengert.base.sections import fill_sections
from wengert.compat.tensorflow.functions.activations import (
    log_softmax as log_softmax,
)
from wengert.compat.tensorflow.functions.activations import (
    softmax as softmax,
)
from wengert.compat.tensorflow.functions.binary import (
    add as add,
)
from wengert.compat.tensorflow.functions.binary import (
    atan2 as atan2,
)
from wengert.compat.tensorflow.functions.binary import (
    divide as divide,
)
from wengert.compat.tensorflow.functions.binary import (
    divide_no_nan as divide_no_nan,
)
from wengert.compat.tensorflow.functions.binary import (
    floordiv as floordiv,
)
from wengert.compat.tensorflow.functions.binary import (
    floormod as floormod,
)
from wengert.compat.tensorflow.functions.binary import (
    igamma as igamma,
)
from wengert.compat.tensorflow.functions.binary import (
    igammac as igammac,
)
from wengert.compat.tensorflow.functions.binary import (
    maximum as maximum,
)
from wengert.compat.tensorflow.functions.binary import (
    minimum as minimum,
)
from wengert.compat.tensorflow.functions.binary import (
    mod as mod,
)
from wengert.compat.tensorflow.functions.binary import (
    multiply as multiply,
)
from wengert.compat.tensorflow.functions.binary import (
    multiply_no_nan as multiply_no_nan,
)
from wengert.compat.tensorflow.functions.binary import (
    nextafter as nextafter,
)
from wengert.compat.tensorflow.functions.binary import (
    polygamma as polygamma,
)
from wengert.compat.tensorflow.functions.binary import (
    pow as pow,
)
from wengert.compat.tensorflow.functions.binary import (
    scalar_mul as scalar_mul,
)
from wengert.compat.tensorflow.functions.binary import (
    squared_difference as squared_difference,
)
from wengert.compat.tensorflow.functions.binary import (
    subtract as subtract,
)
from wengert.compat.tensorflow.functions.binary import (
    truediv as truediv,
)
from wengert.compat.tensorflow.functions.binary import (
    xdivy as xdivy,
)
from wengert.compat.tensorflow.functions.binary import (
    xlog1py as xlog1py,
)
from wengert.compat.tensorflow.functions.binary import (
    xlogy as xlogy,
)
from wengert.compat.tensorflow.functions.binary import (
    zeta as zeta,
)
from wengert.compat.tensorflow.functions.comparisons import (
    equal as equal,
)
from wengert.compat.tensorflow.functions.comparisons import (
    greater as greater,
)
from wengert.compat.tensorflow.functions.comparisons import (
    greater_equal as greater_equal,
)
from wengert.compat.tensorflow.functions.comparisons import (
    less as less,
)
from wengert.compat.tensorflow.functions.comparisons import (
    less_equal as less_equal,
)
from wengert.compat.tensorflow.functions.comparisons import (
    logical_and as logical_and,
)
from wengert.compat.tensorflow.functions.comparisons import (
    logical_or as logical_or,
)
from wengert.compat.tensorflow.functions.comparisons import (
    logical_xor as logical_xor,
)
from wengert.compat.tensorflow.functions.comparisons import (
    not_equal as not_equal,
)
from wengert.compat.tensorflow.functions.counting import (
    bincount as bincount,
)
from wengert.compat.tensorflow.functions.counting import (
    confusion_matrix as confusion_matrix,
)
from wengert.compat.tensorflow.functions.crossentropy import (
    lbeta as lbeta,
)
from wengert.compat.tensorflow.functions.norms import (
    l2_normalize as l2_normalize,
)
from wengert.compat.tensorflow.functions.ordering import (
    argmax as argmax,
)
from wengert.compat.tensorflow.functions.ordering import (
    argmin as argmin,
)
from wengert.compat.tensorflow.functions.ordering import (
    in_top_k as in_top_k,
)
from wengert.compat.tensorflow.functions.ordering import (
    invert_permutation as invert_permutation,
)
from wengert.compat.tensorflow.functions.ordering import (
    is_non_decreasing as is_non_decreasing,
)
from wengert.compat.tensorflow.functions.ordering import (
    is_strictly_increasing as is_strictly_increasing,
)
from wengert.compat.tensorflow.functions.ordering import (
    top_k as top_k,
)
from wengert.compat.tensorflow.functions.pointwise import (
    abs as abs,
)
from wengert.compat.tensorflow.functions.pointwise import (
    acos as acos,
)
from wengert.compat.tensorflow.functions.pointwise import (
    acosh as acosh,
)
from wengert.compat.tensorflow.functions.pointwise import (
    angle as angle,
)
from wengert.compat.tensorflow.functions.pointwise import (
    asin as asin,
)
from wengert.compat.tensorflow.functions.pointwise import (
    asinh as asinh,
)
from wengert.compat.tensorflow.functions.pointwise import (
    atan as atan,
)
from wengert.compat.tensorflow.functions.pointwise import (
    atanh as atanh,
)
from wengert.compat.tensorflow.functions.pointwise import (
    ceil as ceil,
)
from wengert.compat.tensorflow.functions.pointwise import (
    conj as conj,
)
from wengert.compat.tensorflow.functions.pointwise import (
    cos as cos,
)
from wengert.compat.tensorflow.functions.pointwise import (
    cosh as cosh,
)
from wengert.compat.tensorflow.functions.pointwise import (
    exp as exp,
)
from wengert.compat.tensorflow.functions.pointwise import (
    expm1 as expm1,
)
from wengert.compat.tensorflow.functions.pointwise import (
    floor as floor,
)
from wengert.compat.tensorflow.functions.pointwise import (
    imag as imag,
)
from wengert.compat.tensorflow.functions.pointwise import (
    is_finite as is_finite,
)
from wengert.compat.tensorflow.functions.pointwise import (
    is_inf as is_inf,
)
from wengert.compat.tensorflow.functions.pointwise import (
    is_nan as is_nan,
)
from wengert.compat.tensorflow.functions.pointwise import (
    log as log,
)
from wengert.compat.tensorflow.functions.pointwise import (
    log1p as log1p,
)
from wengert.compat.tensorflow.functions.pointwise import (
    log_sigmoid as log_sigmoid,
)
from wengert.compat.tensorflow.functions.pointwise import (
    logical_not as logical_not,
)
from wengert.compat.tensorflow.functions.pointwise import (
    negative as negative,
)
from wengert.compat.tensorflow.functions.pointwise import (
    real as real,
)
from wengert.compat.tensorflow.functions.pointwise import (
    reciprocal as reciprocal,
)
from wengert.compat.tensorflow.functions.pointwise import (
    reciprocal_no_nan as reciprocal_no_nan,
)
from wengert.compat.tensorflow.functions.pointwise import (
    rint as rint,
)
from wengert.compat.tensorflow.functions.pointwise import (
    round as round,
)
from wengert.compat.tensorflow.functions.pointwise import (
    rsqrt as rsqrt,
)
from wengert.compat.tensorflow.functions.pointwise import (
    sigmoid as sigmoid,
)
from wengert.compat.tensorflow.functions.pointwise import (
    sign as sign,
)
from wengert.compat.tensorflow.functions.pointwise import (
    sin as sin,
)
from wengert.compat.tensorflow.functions.pointwise import (
    sinh as sinh,
)
from wengert.compat.tensorflow.functions.pointwise import (
    softplus as softplus,
)
from wengert.compat.tensorflow.functions.pointwise import (
    softsign as softsign,
)
from wengert.compat.tensorflow.functions.pointwise import (
    sqrt as sqrt,
)
from wengert.compat.tensorflow.functions.pointwise import (
    square as square,
)
from wengert.compat.tensorflow.functions.pointwise import (
    tan as tan,
)
from wengert.compat.tensorflow.functions.pointwise import (
    tanh as tanh,
)
from wengert.compat.tensorflow.functions.products import (
    accumulate_n as accumulate_n,
)
from wengert.compat.tensorflow.functions.products import (
    add_n as add_n,
)
from wengert.compat.tensorflow.functions.products import (
    polyval as polyval,
)
from wengert.compat.tensorflow.functions.reductions import (
    count_nonzero as count_nonzero,
)
from wengert.compat.tensorflow.functions.reductions import (
    cumprod as cumprod,
)
from wengert.compat.tensorflow.functions.reductions import (
    cumsum as cumsum,
)
from wengert.compat.tensorflow.functions.reductions import (
    cumulative_logsumexp as cumulative_logsumexp,
)
from wengert.compat.tensorflow.functions.reductions import (
    reduce_all as reduce_all,
)
from wengert.compat.tensorflow.functions.reductions import (
    reduce_any as reduce_any,
)
from wengert.compat.tensorflow.functions.reductions import (
    reduce_euclidean_norm as reduce_euclidean_norm,
)
from wengert.compat.tensorflow.functions.reductions import (
    reduce_logsumexp as reduce_logsumexp,
)
from wengert.compat.tensorflow.functions.reductions import (
    reduce_max as reduce_max,
)
from wengert.compat.tensorflow.functions.reductions import (
    reduce_mean as reduce_mean,
)
from wengert.compat.tensorflow.functions.reductions import (
    reduce_min as reduce_min,
)
from wengert.compat.tensorflow.functions.reductions import (
    reduce_prod as reduce_prod,
)
from wengert.compat.tensorflow.functions.reductions import (
    reduce_std as reduce_std,
)
from wengert.compat.tensorflow.functions.reductions import (
    reduce_sum as reduce_sum,
)
from wengert.compat.tensorflow.functions.reductions import (
    reduce_variance as reduce_variance,
)
from wengert.compat.tensorflow.functions.reductions import (
    zero_fraction as zero_fraction,
)
from wengert.compat.tensorflow.functions.segments import (
    segment_max as segment_max,
)
from wengert.compat.tensorflow.functions.segments import (
    segment_mean as segment_mean,
)
from wengert.compat.tensorflow.functions.segments import (
    segment_min as segment_min,
)
from wengert.compat.tensorflow.functions.segments import (
    segment_prod as segment_prod,
)
from wengert.compat.tensorflow.functions.segments import (
    segment_sum as segment_sum,
)
from wengert.compat.tensorflow.functions.segments import (
    unsorted_segment_max as unsorted_segment_max,
)
from wengert.compat.tensorflow.functions.segments import (
    unsorted_segment_mean as unsorted_segment_mean,
)
from wengert.compat.tensorflow.functions.segments import (
    unsorted_segment_min as unsorted_segment_min,
)
from wengert.compat.tensorflow.functions.segments import (
    unsorted_segment_prod as unsorted_segment_prod,
)
from wengert.compat.tensorflow.functions.segments import (
    unsorted_segment_sqrt_n as unsorted_segment_sqrt_n,
)
from wengert.compat.tensorflow.functions.segments import (
    unsorted_segment_sum as unsorted_segment_sum,
)
from wengert.compat.tensorflow.functions.special import (
    bessel_i0 as bessel_i0,
)
from wengert.compat.tensorflow.functions.special import (
    bessel_i0e as bessel_i0e,
)
from wengert.compat.tensorflow.functions.special import (
    bessel_i1 as bessel_i1,
)
from wengert.compat.tensorflow.functions.special import (
    bessel_i1e as bessel_i1e,
)
from wengert.compat.tensorflow.functions.special import (
    digamma as digamma,
)
from wengert.compat.tensorflow.functions.special import (
    erf as erf,
)
from wengert.compat.tensorflow.functions.special import (
    erfc as erfc,
)
from wengert.compat.tensorflow.functions.special import (
    erfcinv as erfcinv,
)
from wengert.compat.tensorflow.functions.special import (
    erfinv as erfinv,
)
from wengert.compat.tensorflow.functions.special import (
    lgamma as lgamma,
)
from wengert.compat.tensorflow.functions.special import (
    ndtri as ndtri,
)
from wengert.compat.tensorflow.refusal import refusal as _refusal

__all__ = sorted(name for name in globals() if name[0] != "_" and name != "annotations")


def __getattr__(name: str) -> _Any:
    raise _refusal("math", name)


fill_sections(globals())
