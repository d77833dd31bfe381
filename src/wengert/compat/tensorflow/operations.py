"""Layer 9 · compat: the functions of TensorFlow's top-level package, such as ``tf.add``."""

from __future__ import annotations

from typing import Any as _Any

from wengert.compat.kit.namespaces import gathered as _gathered

__all__ = _gathered(
    globals(),
    "wengert.compat.tensorflow",
    """
    functions.binary: *equal *maximum *minimum add atan2 divide greater less logical_and logical_or
        multiply pow scalar_mul subtract tru*
    functions.creation: *
    functions.indexing: * -flat_positions -positions
    functions.joining: *
    functions.matrices: eig eigvals
    functions.normalisation: clip_* norm
    functions.ordering: arg* histogram_fixed_width searchsorted sort unique* unravel_index
    functions.pointwise: abs acos acosh asin asinh atan atanh cos cosh exp floor logical_not
        negative round sigmoid sign sin sinh sqrt square tan tanh
    functions.products: add_n einsum matmul tensordot
    functions.reductions: cumsum reduce_* -*_euclidean_norm -*_std -*_variance
    functions.segments: * -*segment_*
    functions.shapes: *
    initializers: constant_initializer ones_initializer random_normal_initializer
        random_uniform_initializer zeros_initializer
    """,
)


def __getattr__(name: str) -> _Any:
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
