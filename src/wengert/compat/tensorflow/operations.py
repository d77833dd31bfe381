"""Layer 9 · compat: the functions of TensorFlow's top-level package, such as ``tf.add``."""

from __future__ import annotations

from typing import Any as _Any

from wengert.compat.kit.namespaces import gathered as _gathered

__all__ = _gathered(
    globals(),
    "wengert.compat.tensorflow",
    """
    functions.binary: add atan2 divide maximum minimum multiply pow scalar_mul subtract truediv
        truncatediv truncatemod
    functions.creation: bitcast cast complex saturate_cast
    functions.binary: equal greater greater_equal less less_equal logical_and logical_or
        not_equal
    functions.ordering: histogram_fixed_width
    functions.creation: eye fill identity_n linspace one_hot ones ones_like range rank
        sequence_mask shape shape_n size zeros zeros_like
    functions.matrices: eig eigvals
    functions.indexing: boolean_mask gather gather_nd slice strided_slice where
    functions.joining: concat pad repeat reverse reverse_sequence roll split stack tile unstack
    functions.normalisation: clip_by_global_norm clip_by_norm clip_by_value norm
    functions.ordering: argmax argmin argsort searchsorted sort unique unique_with_counts
        unravel_index
    functions.pointwise: abs acos acosh asin asinh atan atanh cos cosh exp floor logical_not
        negative round sigmoid sign sin sinh sqrt square tan tanh
    functions.products: add_n einsum matmul tensordot
    functions.reductions: cumsum reduce_all reduce_any reduce_logsumexp reduce_max reduce_mean
        reduce_min reduce_prod reduce_sum
    functions.segments: dynamic_partition dynamic_stitch scatter_nd tensor_scatter_nd_add
        tensor_scatter_nd_max tensor_scatter_nd_min tensor_scatter_nd_sub tensor_scatter_nd_update
    functions.shapes: broadcast_dynamic_shape broadcast_static_shape broadcast_to ensure_shape
        expand_dims meshgrid reshape squeeze transpose
    initializers: constant_initializer ones_initializer random_normal_initializer
        random_uniform_initializer zeros_initializer
    """,
)


def __getattr__(name: str) -> _Any:
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
