"""Layer 3 · interp: which primitive follows which of the common batching rules.

Element-wise primitives need no entry. `fallbacks` says which run once for each element of a batch.
"""

from __future__ import annotations

from wengert.interp import (
    batching_norms,
    batching_places,
    batching_products,
    batching_shapes,
)
from wengert.interp.batched import FAMILIES, RULES
from wengert.interp.batching import (
    along,
    chosen,
    dims,
    flattened,
    fold,
    leading,
    pointwise,
    reduced,
    whole,
)
from wengert.prims.table import TABLE

__all__ = ["fallbacks"]

# the modules whose rules are entered when they are imported
ENTERED = (batching_norms, batching_places, batching_products, batching_shapes)

_POINTWISE = """
    add add_scaled sub sub_scaled rsub mul eq ne lt le gt ge logical_and logical_or logical_xor
    logical_not bitwise_and bitwise_or bitwise_xor bitwise_not gcd lcm bitwise_left_shift
    bitwise_right_shift isnan isinf isfinite signbit isposinf isneginf isreal zeros_like
    masked_fill masked_fill_tensor where clamp clamp_min clamp_max clamp_min_tensor
    clamp_max_tensor clamp_tensor threshold_backward grid_turn frexp frexp_scale
    linalg_solve_triangular to_copy contiguous
"""
_DIMS = """
    corner_backward corner sum_dim mean_dim prod_dim
    amax amin at_index any all count_nonzero var std var_mean std_mean vector_norm logsumexp
    view alias transpose unsqueeze select slice diagonal unbind split split_with_sizes
    select_backward slice_backward diagonal_backward unsafe_view flip tril triu diag_embed
    diagonal_copy view_as_real view_as_complex cdist cdist_backward renorm permute_rows
    lu_permutation unit_lower linalg_lu_factor_ex linalg_lu_solve linalg_cholesky
    linalg_cholesky_ex cholesky_inverse im2col col2im fft_c2c fft_r2c fft_c2r linalg_inv
    linalg_inv_ex linalg_det cofactor cofactor_backward linalg_slogdet linalg_lstsq
    lstsq_inverse max_pool1d adaptive_max_pool1d max_pool2d adaptive_max_pool2d max_pool3d
    adaptive_max_pool3d max_pool_indices adaptive_max_pool_indices fractional_max_pool_indices
    avg_pool1d avg_pool2d avg_pool3d linalg_cross linalg_matrix_exp upsample_nearest1d
    upsample_nearest2d upsample_nearest3d upsample_nearest_exact1d upsample_nearest_exact2d
    upsample_nearest_exact3d upsample_linear1d upsample_bilinear2d upsample_trilinear3d
    upsample_bicubic2d upsample_bilinear2d_aa upsample_bicubic2d_aa upsample_lanczos2d_aa
    adaptive_avg_pool1d adaptive_avg_pool2d adaptive_avg_pool3d resample scatter_others
    select_scatter slice_scatter diagonal_scatter linalg_eigh linalg_eigvalsh linalg_eig
    linalg_eigvals linalg_svd linalg_svdvals linalg_qr inverse_gaps inverse_values phase_free
    unused solve_factor nansum pixel_shuffle pixel_unshuffle argranked
"""
_ALONG = """
    cumsum cumprod shift linear_recurrence argcummax argcummin logcumsumexp argsort argtop argkth
    argmedian argnanmedian argmode softmax log_softmax
"""
_CHOSEN = """
    max_dim min_dim taken sort topk kthvalue median_dim nanmedian_dim mode cummax cummin placed
"""
_LEADING = """
    pool_pick max_pool1d_with_indices adaptive_max_pool1d_with_indices max_pool2d_with_indices
    adaptive_max_pool2d_with_indices fractional_max_pool2d_with_indices max_pool3d_with_indices
    adaptive_max_pool3d_with_indices fractional_max_pool3d_with_indices pool_scatter max_unpool1d
    max_unpool2d max_unpool3d avg_pool_backward resample_backward
"""
_FOLD = """
    signal_parts overlap_add grid_corners corner_pick corner_scatter grid_sample_slope
    grid_sampler_2d grid_sampler_3d grid_sample_backward channel_shuffle
"""
_REDUCED = """
    mse_loss smooth_l1_loss huber_loss binary_cross_entropy binary_cross_entropy_with_logits
"""

FAMILIES["elementwise"] = pointwise
for _rule, _names in (
    (pointwise, _POINTWISE),
    (dims, _DIMS),
    (along, _ALONG),
    (chosen, _CHOSEN),
    (leading, _LEADING),
    (fold, _FOLD),
    (reduced, _REDUCED),
    (flattened, "argmax argmin"),
):
    RULES.update(dict.fromkeys(_names.split(), _rule))
for _name, _by_dims in (
    ("sum", "sum_dim"),
    ("mean", "mean_dim"),
    ("prod", "prod_dim"),
    ("max", "amax"),
    ("min", "amin"),
):
    RULES[_name] = whole(_by_dims)


def fallbacks() -> list[str]:
    """The primitives, among those imported, that run once for each element of a batch."""
    return sorted(
        name
        for name, prim in TABLE.items()
        if name not in RULES and prim.family != "elementwise" and prim.args
    )
