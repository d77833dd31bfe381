"""Layer 5 · ops: the functions whose modules are imported when they are first named.

One entry for each module: which of its functions are functions of the package, which belong to
``nn.functional``, which are methods of tensors, and which have a form in place (``x.digamma_()``),
which writes what the function returns.
A law of the tests compares the entries with what the modules define.
"""

from __future__ import annotations

__all__ = ["FUNCTIONS", "IN_PLACE", "METHODS", "NEURAL"]

FUNCTIONS: dict[str, str] = {}
"""The module, within `wengert.ops`, of each function of the package."""
NEURAL: dict[str, str] = {}
"""The module of each function of ``nn.functional``."""
METHODS: dict[str, str] = {}
"""The module of each method, a function whose first parameter is the tensor."""
IN_PLACE: dict[str, str] = {}
"""The module of each function that has a form in place, by the function's name."""


def _has(
    module: str, functions: str = "", methods: str = "", in_place: str = "", neural: str = ""
) -> None:
    """Enter what `module` has: names, separated by blanks."""
    tables = ((FUNCTIONS, functions), (NEURAL, neural), (METHODS, methods), (IN_PLACE, in_place))
    for table, names in tables:
        table.update(dict.fromkeys(names.split(), module))


_has(
    "sorting",
    functions="argsort msort sort topk",
    methods="argsort msort sort topk",
)
_has(
    "order_statistics",
    functions="kthvalue median mode nanmedian nanquantile quantile",
    methods="kthvalue median mode nanmedian nanquantile quantile",
)
_has("scan", functions="cummax cummin logcumsumexp", methods="cummax cummin logcumsumexp")
_has("distinct", functions="unique unique_consecutive", methods="unique unique_consecutive")
_has(
    "search",
    functions="bucketize isin nonzero_static searchsorted",
    methods="nonzero_static",
)
_has(
    "histograms",
    functions="bincount histc histogram histogramdd",
    methods="bincount histc histogram",
)
_has(
    "statistics",
    functions="corrcoef cov nanmean nansum",
    methods="corrcoef cov nanmean nansum",
)
_has(
    "differences",
    functions="cumulative_trapezoid diff gradient trapezoid trapz",
    methods="diff",
)
_has("combine", functions="cartesian_prod combinations", methods="sum_to_size")
_has(
    "decompositions",
    functions="pca_lowrank pinverse qr svd svd_lowrank",
    methods="pinverse qr svd",
)
_has("stft", functions="istft stft", methods="istft stft")
_has(
    "signal_windows",
    functions="bartlett_window blackman_window hamming_window hann_window kaiser_window",
)
_has(
    "complex_parts",
    functions="angle conj_physical is_conj is_neg resolve_conj resolve_neg",
    methods="angle conj_physical is_conj is_neg resolve_conj resolve_neg",
    in_place="conj_physical",
)
_has(
    "elementary",
    functions="bitwise_left_shift bitwise_right_shift copysign deg2rad fill float_power fmax fmin "
    "frac frexp gcd heaviside isneginf isposinf isreal lcm ldexp nan_to_num nextafter positive "
    "rad2deg round signbit",
    methods="bitwise_left_shift bitwise_right_shift copysign deg2rad float_power float_power_ fmax "
    "fmin frac frexp gcd heaviside isneginf isposinf isreal lcm ldexp nan_to_num nextafter "
    "positive rad2deg round signbit",
    in_place="bitwise_left_shift bitwise_right_shift copysign deg2rad frac gcd heaviside lcm ldexp "
    "nan_to_num nextafter rad2deg round",
)
_has(
    "transcendental",
    functions="digamma erfinv i0 igamma igammac lgamma logaddexp logaddexp2 logit mvlgamma "
    "polygamma sinc xlogy",
    methods="digamma erfinv i0 igamma igammac lgamma logaddexp logaddexp2 logit mvlgamma sinc "
    "xlogy",
    in_place="digamma erfinv i0 igamma igammac lgamma logit mvlgamma sinc xlogy",
)
_has("gamma_methods", methods="polygamma", in_place="polygamma")
_has("distances", functions="cdist pdist", neural="pdist")
_has(
    "norms",
    functions="dist norm renorm",
    neural="normalize",
    methods="dist norm renorm",
    in_place="renorm",
)
_has(
    "pooling",
    functions="avg_pool1d max_pool1d max_pool1d_with_indices max_pool2d max_pool3d",
    neural="avg_pool1d avg_pool2d avg_pool3d local_response_norm lp_pool1d lp_pool2d lp_pool3d "
    "max_pool1d max_pool1d_with_indices max_pool2d max_pool2d_with_indices max_pool3d "
    "max_pool3d_with_indices",
)
_has(
    "adaptive_pooling",
    functions="adaptive_avg_pool1d adaptive_max_pool1d",
    neural="adaptive_avg_pool1d adaptive_avg_pool2d adaptive_avg_pool3d adaptive_max_pool1d "
    "adaptive_max_pool1d_with_indices adaptive_max_pool2d adaptive_max_pool2d_with_indices "
    "adaptive_max_pool3d adaptive_max_pool3d_with_indices",
)
_has(
    "unpooling",
    neural="fractional_max_pool2d fractional_max_pool2d_with_indices fractional_max_pool3d "
    "fractional_max_pool3d_with_indices max_unpool1d max_unpool2d max_unpool3d",
)
_has("resample", neural="interpolate upsample upsample_bilinear upsample_nearest")
_has(
    "grids",
    functions="affine_grid_generator grid_sampler grid_sampler_2d grid_sampler_3d",
    neural="affine_grid grid_sample",
)
_has(
    "algebra",
    functions="cholesky cholesky_inverse cholesky_solve det inverse logdet lu lu_solve lu_unpack "
    "matrix_exp matrix_power orgqr slogdet triangular_solve",
    methods="cholesky cholesky_inverse cholesky_solve det inverse logdet lu lu_solve matrix_exp "
    "matrix_power orgqr slogdet triangular_solve",
)
_has(
    "products",
    functions="addbmm addr chain_matmul cross ger kron tensordot trace vander",
    methods="addbmm addr cross ger kron trace",
    in_place="addbmm addr",
)
_has("einsum", functions="einsum")
_has(
    "convolution",
    functions="conv1d conv2d conv3d conv_tbc conv_transpose1d conv_transpose2d conv_transpose3d",
    neural="conv1d conv2d conv3d conv_tbc conv_transpose1d conv_transpose2d conv_transpose3d",
)
_has("fold", neural="fold unfold")
_has(
    "scatter",
    functions="index_reduce scatter_reduce",
    methods="index_reduce scatter_reduce",
    in_place="index_reduce scatter_reduce",
)
_has(
    "inset",
    functions="as_strided_scatter diagonal_scatter select_scatter slice_scatter",
    methods="as_strided_scatter diagonal_scatter select_scatter slice_scatter",
)
_has(
    "structure",
    functions="atleast_1d atleast_2d atleast_3d block_diag broadcast_shapes diagflat is_nonzero "
    "narrow_copy rot90 unravel_index",
    methods="diagflat is_nonzero narrow_copy rot90",
)
_has(
    "copies",
    functions="alias_copy as_strided_copy detach_copy diagonal_copy expand_copy permute_copy "
    "select_copy slice_copy split_copy split_with_sizes_copy squeeze_copy t_copy transpose_copy "
    "unbind_copy unfold_copy unsafe_chunk unsafe_split unsafe_split_with_sizes unsqueeze_copy "
    "view_as_complex_copy view_as_real_copy view_copy",
    methods="unsafe_chunk unsafe_split unsafe_split_with_sizes",
)
_has(
    "padding",
    functions="channel_shuffle constant_pad_nd native_channel_shuffle pixel_shuffle "
    "pixel_unshuffle",
    neural="channel_shuffle native_channel_shuffle one_hot pad pixel_shuffle pixel_unshuffle",
)
_has(
    "margin_losses",
    functions="hinge_embedding_loss margin_ranking_loss",
    neural="hinge_embedding_loss margin_ranking_loss multi_margin_loss multilabel_margin_loss "
    "multilabel_soft_margin_loss soft_margin_loss",
)
_has(
    "distance_losses",
    functions="cosine_embedding_loss triplet_margin_loss",
    neural="cosine_embedding_loss triplet_margin_loss triplet_margin_with_distance_loss",
)
_has(
    "likelihoods",
    functions="poisson_nll_loss",
    neural="gaussian_nll_loss poisson_nll_loss",
)
_has(
    "normalisation",
    functions="rms_norm",
    neural="batch_norm group_norm instance_norm layer_norm rms_norm",
)
_has("ctc", functions="ctc_loss", neural="ctc_loss")
_has("linear_losses", neural="linear_cross_entropy")
_has(
    "gates",
    functions="hardshrink prelu rrelu rrelu_ threshold threshold_",
    neural="glu gumbel_softmax hardshrink hardswish prelu rrelu rrelu_ softshrink threshold "
    "threshold_",
    methods="hardshrink prelu",
)
_has(
    "dropouts",
    neural="alpha_dropout dropout1d dropout2d dropout3d feature_alpha_dropout",
)
_has(
    "attention",
    functions="bilinear cosine_similarity pairwise_distance",
    neural="bilinear cosine_similarity pairwise_distance scaled_dot_product_attention",
)
_has(
    "layers",
    functions="alpha_dropout alpha_dropout_ batch_norm celu celu_ dropout dropout_ embedding "
    "feature_alpha_dropout feature_alpha_dropout_ feature_dropout feature_dropout_ group_norm "
    "instance_norm layer_norm relu_ selu selu_",
    neural="celu_ elu_ hardtanh_ leaky_relu_ relu_ selu_",
)
_has("embedding", neural="embedding embedding_bag")
_has("recurrent", functions="gru_cell lstm_cell rnn_relu_cell rnn_tanh_cell")
_has("multihead", neural="multi_head_attention_forward")
