"""Layer 9 · compat: ``tf.math``: elementary and special functions, sums, comparisons, segments.

>>> print(tf.math.log([1.0, 2.0]).numpy())
[0.        0.6931472]
"""

from __future__ import annotations

from wengert.compat.kit.namespaces import gathered as _gathered
from wengert.compat.tensorflow.refusal import refusing as _refusing

__all__ = _gathered(
    globals(),
    "wengert.compat.tensorflow",
    """
    functions.activations: log_softmax softmax
    functions.binary: add atan2 divide divide_no_nan floordiv floormod igamma igammac maximum
        minimum mod multiply multiply_no_nan nextafter polygamma pow scalar_mul squared_difference
        subtract truediv xdivy xlog1py xlogy zeta
    functions.binary: equal greater greater_equal less less_equal logical_and logical_or
        logical_xor not_equal
    functions.ordering: bincount confusion_matrix
    functions.activations: lbeta
    functions.normalisation: l2_normalize
    functions.ordering: argmax argmin in_top_k invert_permutation is_non_decreasing
        is_strictly_increasing top_k
    functions.pointwise: abs acos acosh angle asin asinh atan atanh ceil conj cos cosh exp expm1
        floor imag is_finite is_inf is_nan log log1p log_sigmoid logical_not negative real
        reciprocal reciprocal_no_nan rint round rsqrt sigmoid sign sin sinh softplus softsign sqrt
        square tan tanh
    functions.products: accumulate_n add_n polyval
    functions.reductions: count_nonzero cumprod cumsum cumulative_logsumexp reduce_all reduce_any
        reduce_euclidean_norm reduce_logsumexp reduce_max reduce_mean reduce_min reduce_prod
        reduce_std reduce_sum reduce_variance zero_fraction
    functions.segments: segment_max segment_mean segment_min segment_prod segment_sum
        unsorted_segment_max unsorted_segment_mean unsorted_segment_min unsorted_segment_prod
        unsorted_segment_sqrt_n unsorted_segment_sum
    functions.pointwise: bessel_i0 bessel_i0e bessel_i1 bessel_i1e digamma erf erfc erfcinv erfinv
        lgamma ndtri
    """,
)


__getattr__ = _refusing("math")
