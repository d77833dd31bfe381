"""Layer 9 · compat: ``tf.math``: elementary and special functions, sums, comparisons, segments.

>>> print(tf.math.log([1.0, 2.0]).numpy())
[0.        0.6931472]
"""

from wengert.compat.kit.namespaces import gathered as _gathered
from wengert.compat.tensorflow.words import refusing as _refusing

__all__ = _gathered(
    globals(),
    "wengert.compat.tensorflow",
    """
    functions.activations: betainc lbeta log_softmax softmax
    functions.binary: * -*_shift -bitwise_* -fractional -invert -truncate*
    functions.normalisation: l2_normalize
    functions.ordering: arg*x argmin bincount confusion_matrix in_top_k invert_* is_* top_k
    functions.pointwise: *
    functions.products: accumulate_n add_n polyval
    functions.reductions: *
    functions.segments: *segment_*
    """,
)


__getattr__ = _refusing("math")
