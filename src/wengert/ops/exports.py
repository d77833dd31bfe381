"""Layer 5 · ops: the lazy exports: which names each module has for which surface.

See NOTE [lazy exports]. Written by stubs/exports.py.
"""

from __future__ import annotations

_NAMES = {
    "Tensor": {
        "affine": "addmm addmv baddbmm inner outer",
        "algebra": (
            "cholesky cholesky_inverse cholesky_solve inverse logdet lu lu_solve orgqr "
            "triangular_solve"
        ),
        "arrange": (
            "diag diag_embed diagonal flip fliplr flipud repeat repeat_interleave roll tile tril "
            "triu"
        ),
        "blend": "addcdiv addcmul lerp",
        "callbacks": "apply_ is_shared map2_ map_ share_memory_",
        "cast": (
            "cpu cuda pin_memory sparse_mask to to_dense to_sparse to_sparse_coo to_sparse_csr "
            "type_as"
        ),
        "choice": "bernoulli multinomial",
        "clone": "clone",
        "combine": "sum_to_size",
        "compare": "allclose equal isclose",
        "complex_parts": "angle conj_physical is_conj is_neg resolve_conj resolve_neg",
        "copies": "unsafe_chunk unsafe_split unsafe_split_with_sizes",
        "decompositions": "pinverse qr svd",
        "differences": "diff",
        "distinct": "unique unique_consecutive",
        "elementary": (
            "bitwise_left_shift bitwise_right_shift copysign deg2rad float_power float_power_ "
            "fmax fmin frac frexp gcd heaviside isneginf isposinf isreal lcm ldexp nan_to_num "
            "nextafter positive rad2deg round signbit"
        ),
        "expand": "broadcast_to expand expand_as",
        "extremes": "amax amin aminmax argmax argmin max min",
        "factors": "geqrf ormqr",
        "gamma_methods": "polygamma",
        "gates": "hardshrink prelu",
        "gather": "gather index_add index_select scatter scatter_add take take_along_dim",
        "histograms": "bincount histc histogram",
        "index": "index_put",
        "inset": "as_strided_scatter diagonal_scatter select_scatter slice_scatter",
        "like": "new_empty new_empty_strided new_full new_ones new_tensor new_zeros",
        "linear_systems": "det slogdet",
        "matmul": "bmm dot matmul mm mv vdot",
        "matrix_functions": "matrix_exp matrix_power",
        "moments": "std var",
        "neural": "log_softmax softmax",
        "norms": "dist norm renorm",
        "order_statistics": "kthvalue median mode nanmedian nanquantile quantile",
        "permute": "adjoint moveaxis movedim permute swapaxes swapdims t transpose",
        "place": "index_copy index_fill masked_scatter put",
        "products": "addbmm addr cross ger kron trace",
        "reduce": "all any count_nonzero cumprod cumsum logsumexp mean prod sum",
        "scan": "cummax cummin logcumsumexp",
        "scatter": "index_reduce scatter_reduce",
        "search": "nonzero_static",
        "select": "argwhere clamp clamp_max clamp_min clip masked_fill masked_select nonzero",
        "shape": (
            "contiguous flatten ravel reshape reshape_as squeeze unflatten unsqueeze view view_as"
        ),
        "sorting": "argsort msort sort topk",
        "split": (
            "chunk dsplit hsplit narrow select split split_with_sizes tensor_split unbind vsplit"
        ),
        "statistics": "corrcoef cov nanmean nansum",
        "stft": "istft stft",
        "strided": "as_strided unfold",
        "structure": "diagflat is_nonzero narrow_copy rot90",
        "transcendental": (
            "digamma erfinv i0 igamma igammac lgamma logaddexp logaddexp2 logit mvlgamma sinc "
            "xlogy"
        ),
        "typed": "new",
    },
    "Tensor_": {
        "affine": "addmm addmv baddbmm",
        "arrange": "tril triu",
        "complex_parts": "conj_physical",
        "elementary": (
            "bitwise_left_shift bitwise_right_shift copysign deg2rad frac gcd heaviside lcm ldexp "
            "nan_to_num nextafter rad2deg round"
        ),
        "gamma_methods": "polygamma",
        "norms": "renorm",
        "products": "addbmm addr",
        "reduce": "cumprod cumsum",
        "scatter": "index_reduce scatter_reduce",
        "transcendental": "digamma erfinv i0 igamma igammac lgamma logit mvlgamma sinc xlogy",
    },
    "Tensor_ apart": {
        "gather": "index_add scatter scatter_add",
    },
    "Tensor_ drawn": {
        "sample": (
            "draw_cauchy draw_exponential draw_geometric draw_log_normal draw_normal draw_random "
            "draw_uniform"
        ),
    },
    "Tensor_ drawn each": {
        "sample": "draw_bernoulli",
    },
    "Tensor_ reshaped": {
        "permute": "swapaxes swapdims t transpose",
        "shape": "squeeze unsqueeze",
        "strided": "as_strided",
    },
    "Tensor_ written": {
        "blend": "addcdiv addcmul lerp",
        "place": "index_copy index_fill masked_scatter put",
    },
    "nn.functional": {
        "activations": (
            "celu elu gelu hardsigmoid hardtanh leaky_relu logsigmoid mish relu6 selu silu "
            "softplus softsign tanhshrink"
        ),
        "adaptive_pooling": (
            "adaptive_avg_pool1d adaptive_avg_pool2d adaptive_avg_pool3d adaptive_max_pool1d "
            "adaptive_max_pool1d_with_indices adaptive_max_pool2d "
            "adaptive_max_pool2d_with_indices adaptive_max_pool3d "
            "adaptive_max_pool3d_with_indices"
        ),
        "affine": "linear",
        "attention": "bilinear cosine_similarity pairwise_distance scaled_dot_product_attention",
        "classes": "cross_entropy nll_loss",
        "convolution": (
            "conv1d conv2d conv3d conv_tbc conv_transpose1d conv_transpose2d conv_transpose3d"
        ),
        "ctc": "ctc_loss",
        "distance_losses": (
            "cosine_embedding_loss triplet_margin_loss triplet_margin_with_distance_loss"
        ),
        "distances": "pdist",
        "dropout": "dropout",
        "dropouts": "alpha_dropout dropout1d dropout2d dropout3d feature_alpha_dropout",
        "embedding": "embedding embedding_bag",
        "fold": "fold unfold",
        "gates": (
            "glu gumbel_softmax hardshrink hardswish prelu rrelu rrelu_ softshrink threshold "
            "threshold_"
        ),
        "grids": "affine_grid grid_sample",
        "layers": "celu_ elu_ hardtanh_ leaky_relu_ relu_ selu_",
        "likelihoods": "gaussian_nll_loss poisson_nll_loss",
        "linear_losses": "linear_cross_entropy",
        "losses": (
            "binary_cross_entropy binary_cross_entropy_with_logits huber_loss kl_div l1_loss "
            "mse_loss smooth_l1_loss"
        ),
        "margin_losses": (
            "hinge_embedding_loss margin_ranking_loss multi_margin_loss multilabel_margin_loss "
            "multilabel_soft_margin_loss soft_margin_loss"
        ),
        "multihead": "multi_head_attention_forward",
        "normalisation": "batch_norm group_norm instance_norm layer_norm rms_norm",
        "norms": "normalize",
        "padding": (
            "channel_shuffle native_channel_shuffle one_hot pad pixel_shuffle pixel_unshuffle"
        ),
        "pooling": (
            "avg_pool1d avg_pool2d avg_pool3d local_response_norm lp_pool1d lp_pool2d lp_pool3d "
            "max_pool1d max_pool1d_with_indices max_pool2d max_pool2d_with_indices max_pool3d "
            "max_pool3d_with_indices"
        ),
        "resample": "interpolate upsample upsample_bilinear upsample_nearest",
        "unpooling": (
            "fractional_max_pool2d fractional_max_pool2d_with_indices fractional_max_pool3d "
            "fractional_max_pool3d_with_indices max_unpool1d max_unpool2d max_unpool3d"
        ),
    },
    "wengert": {
        "adaptive_pooling": "adaptive_avg_pool1d adaptive_max_pool1d",
        "affine": "addmm addmv baddbmm inner outer",
        "algebra": (
            "cholesky cholesky_inverse cholesky_solve inverse logdet lu lu_solve lu_unpack orgqr "
            "triangular_solve"
        ),
        "arrange": (
            "diag diag_embed diagonal flip fliplr flipud repeat_interleave roll tile tril triu"
        ),
        "attention": "bilinear cosine_similarity pairwise_distance",
        "blend": "addcdiv addcmul lerp",
        "choice": "bernoulli multinomial randint randint_like randperm",
        "clone": "clone",
        "combine": "cartesian_prod combinations",
        "compare": "allclose equal isclose",
        "complex_parts": "angle conj_physical is_conj is_neg resolve_conj resolve_neg",
        "control": "cond sym_float sym_int sym_ite sym_max sym_min sym_not sym_sqrt sym_sum",
        "convolution": (
            "conv1d conv2d conv3d conv_tbc conv_transpose1d conv_transpose2d conv_transpose3d "
            "convolution"
        ),
        "copies": (
            "alias_copy as_strided_copy detach_copy diagonal_copy expand_copy permute_copy "
            "select_copy slice_copy split_copy split_with_sizes_copy squeeze_copy t_copy "
            "transpose_copy unbind_copy unfold_copy unsafe_chunk unsafe_split "
            "unsafe_split_with_sizes unsqueeze_copy view_as_complex_copy view_as_real_copy "
            "view_copy"
        ),
        "create": "as_tensor asarray empty from_numpy full ones scalar_tensor tensor zeros",
        "ctc": "ctc_loss",
        "decompositions": "pca_lowrank pinverse qr svd svd_lowrank",
        "differences": "cumulative_trapezoid diff gradient trapezoid trapz",
        "distance_losses": "cosine_embedding_loss triplet_margin_loss",
        "distances": "cdist pdist",
        "distinct": "unique unique_consecutive",
        "eigenpairs": "lobpcg",
        "einsum": "einsum",
        "elementary": (
            "bitwise_left_shift bitwise_right_shift copysign deg2rad fill float_power fmax fmin "
            "frac frexp gcd heaviside isneginf isposinf isreal lcm ldexp nan_to_num nextafter "
            "positive rad2deg round signbit"
        ),
        "expand": "broadcast_tensors broadcast_to meshgrid",
        "extremes": "amax amin aminmax argmax argmin max min",
        "factors": "geqrf ormqr",
        "foreign": "from_dlpack from_file frombuffer",
        "gates": "hardshrink prelu rrelu rrelu_ threshold threshold_",
        "gather": "gather index_add index_select scatter scatter_add take take_along_dim",
        "generator": "Generator fork_rng get_rng_state initial_seed manual_seed seed set_rng_state",
        "grids": "affine_grid_generator grid_sampler grid_sampler_2d grid_sampler_3d",
        "histograms": "bincount histc histogram histogramdd",
        "index": "index_put",
        "inset": "as_strided_scatter diagonal_scatter select_scatter slice_scatter",
        "join": "cat column_stack concat concatenate dstack hstack row_stack stack vstack",
        "layers": (
            "alpha_dropout alpha_dropout_ batch_norm celu celu_ dropout dropout_ embedding "
            "feature_alpha_dropout feature_alpha_dropout_ feature_dropout feature_dropout_ "
            "group_norm instance_norm layer_norm relu_ selu selu_"
        ),
        "like": "empty_like full_like ones_like zeros_like",
        "likelihoods": "poisson_nll_loss",
        "linear_systems": "det slogdet",
        "margin_losses": "hinge_embedding_loss margin_ranking_loss",
        "matmul": "bmm dot matmul mm mv vdot",
        "matrix_functions": "matrix_exp matrix_power",
        "moments": "std std_mean var var_mean",
        "neural": "log_softmax softmax",
        "normalisation": "rms_norm",
        "norms": "dist norm renorm",
        "order_statistics": "kthvalue median mode nanmedian nanquantile quantile",
        "padding": (
            "channel_shuffle constant_pad_nd native_channel_shuffle pixel_shuffle pixel_unshuffle"
        ),
        "permute": "adjoint moveaxis movedim permute swapaxes swapdims t transpose",
        "place": "index_copy index_fill masked_scatter put",
        "pooling": "avg_pool1d max_pool1d max_pool1d_with_indices max_pool2d max_pool3d",
        "products": "addbmm addr chain_matmul cross ger kron tensordot trace vander",
        "random": "normal rand rand_like randn randn_like",
        "ranges": "arange complex eye linspace logspace polar range tril_indices triu_indices",
        "recurrent": "gru_cell lstm_cell rnn_relu_cell rnn_tanh_cell",
        "reduce": "all any count_nonzero cumprod cumsum logsumexp mean prod sum",
        "rejection": "binomial poisson",
        "scan": "cummax cummin logcumsumexp",
        "scatter": "index_reduce scatter_reduce segment_reduce",
        "search": "bucketize isin nonzero_static searchsorted",
        "select": "argwhere clamp clamp_max clamp_min clip masked_fill masked_select nonzero where",
        "shape": "flatten ravel reshape squeeze unflatten unsqueeze",
        "signal_windows": (
            "bartlett_window blackman_window hamming_window hann_window kaiser_window"
        ),
        "sorting": "argsort msort sort topk",
        "split": (
            "chunk dsplit hsplit narrow select split split_with_sizes tensor_split unbind vsplit"
        ),
        "statistics": "corrcoef cov nanmean nansum",
        "stft": "istft stft",
        "strided": "as_strided empty_strided view_as_complex view_as_real",
        "structure": (
            "atleast_1d atleast_2d atleast_3d block_diag broadcast_shapes diagflat is_nonzero "
            "narrow_copy rot90 unravel_index"
        ),
        "transcendental": (
            "digamma erfinv i0 igamma igammac lgamma logaddexp logaddexp2 logit mvlgamma "
            "polygamma sinc xlogy"
        ),
    },
}

EXPORTS: dict[str, dict[str, str]] = {
    surface: {name: module for module, names in modules.items() for name in names.split()}
    for surface, modules in _NAMES.items()
}
"""The module of each name, within `wengert.ops`, by surface."""
