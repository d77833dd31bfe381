"""Layer 5 · ops: the lazy exports: which names each module has for which surface.

See NOTE [lazy exports]. Written by stubs/exports.py.
"""

from __future__ import annotations

_NAMES = {
    ("Tensor",): {
        "arrange": "repeat",
        "callbacks": "apply_ is_shared map2_ map_ module_load share_memory_",
        "cast": (
            "cpu cuda pin_memory sparse_mask to to_dense to_sparse to_sparse_bsc to_sparse_bsr "
            "to_sparse_coo to_sparse_csc to_sparse_csr type_as"
        ),
        "combine": "sum_to_size",
        "elementary": "float_power_",
        "expand": "expand expand_as",
        "like": "new_empty new_empty_strided new_full new_ones new_tensor new_zeros",
        "shape": "contiguous reshape_as view view_as",
        "strided": "unfold",
        "typed": "new",
    },
    ("Tensor", "Tensor_"): {
        "gamma_methods": "polygamma",
    },
    ("Tensor", "Tensor_", "wengert"): {
        "affine": "addmm addmv baddbmm",
        "arrange": "tril triu",
        "complex_parts": "conj_physical",
        "elementary": (
            "bitwise_left_shift bitwise_right_shift copysign deg2rad frac gcd heaviside lcm ldexp "
            "nan_to_num nextafter rad2deg round"
        ),
        "norms": "renorm",
        "products": "addbmm addr",
        "reduce": "cumprod cumsum",
        "scatter": "index_reduce scatter_reduce",
        "transcendental": "digamma erfinv i0 igamma igammac lgamma logit mvlgamma sinc xlogy",
    },
    ("Tensor", "Tensor_ reshaped", "wengert"): {
        "permute": "swapaxes swapdims t transpose",
        "shape": "squeeze unsqueeze",
        "strided": "as_strided",
    },
    ("Tensor", "Tensor_ written", "wengert"): {
        "blend": "addcdiv addcmul lerp",
        "gather": "index_add scatter scatter_add",
        "place": "index_copy index_fill masked_scatter put",
    },
    ("Tensor", "nn.functional", "wengert"): {
        "gates": "hardshrink prelu",
    },
    ("Tensor", "wengert"): {
        "affine": "inner outer",
        "algebra": (
            "cholesky cholesky_inverse cholesky_solve inverse logdet lu lu_solve orgqr "
            "triangular_solve"
        ),
        "arrange": "diag diag_embed diagonal flip fliplr flipud repeat_interleave roll tile",
        "choice": "bernoulli multinomial",
        "clone": "clone",
        "compare": "allclose equal isclose",
        "complex_parts": "angle is_conj is_neg resolve_conj resolve_neg",
        "copies": "unsafe_chunk unsafe_split unsafe_split_with_sizes",
        "decompositions": "pinverse qr svd",
        "differences": "diff",
        "distinct": "unique unique_consecutive",
        "elementary": "float_power fmax fmin frexp isneginf isposinf isreal positive signbit",
        "expand": "broadcast_to",
        "extremes": "amax amin aminmax argmax argmin max min",
        "factors": "geqrf ormqr",
        "gather": "gather index_select take take_along_dim",
        "histograms": "bincount histc histogram",
        "index": "index_put",
        "inset": "as_strided_scatter diagonal_scatter select_scatter slice_scatter",
        "linear_systems": "det slogdet",
        "matmul": "bmm dot matmul mm mv vdot",
        "matrix_functions": "matrix_exp matrix_power",
        "moments": "std var",
        "neural": "log_softmax softmax",
        "norms": "dist norm",
        "order_statistics": "kthvalue median mode nanmedian nanquantile quantile",
        "permute": "adjoint moveaxis movedim permute",
        "products": "cross ger kron trace",
        "reduce": "all any count_nonzero logsumexp mean prod sum",
        "scan": "cummax cummin logcumsumexp",
        "search": "nonzero_static",
        "select": "argwhere clamp clamp_max clamp_min clip masked_fill masked_select nonzero",
        "shape": "flatten ravel reshape unflatten",
        "sorting": "argsort msort sort topk",
        "split": (
            "chunk dsplit hsplit narrow select split split_with_sizes tensor_split unbind vsplit"
        ),
        "statistics": "corrcoef cov nanmean nansum",
        "stft": "istft stft",
        "structure": "diagflat is_nonzero narrow_copy rot90",
        "transcendental": "logaddexp logaddexp2",
    },
    ("Tensor_ drawn",): {
        "sample": (
            "draw_cauchy draw_exponential draw_geometric draw_log_normal draw_normal draw_random "
            "draw_uniform"
        ),
    },
    ("Tensor_ drawn each",): {
        "sample": "draw_bernoulli",
    },
    ("nn.functional",): {
        "activations": (
            "celu elu gelu hardsigmoid hardtanh leaky_relu logsigmoid mish relu6 selu silu "
            "softplus softsign tanhshrink"
        ),
        "adaptive_pooling": (
            "adaptive_avg_pool2d adaptive_avg_pool3d adaptive_max_pool1d "
            "adaptive_max_pool1d_with_indices adaptive_max_pool2d "
            "adaptive_max_pool2d_with_indices adaptive_max_pool3d "
            "adaptive_max_pool3d_with_indices"
        ),
        "affine": "linear",
        "attention": "scaled_dot_product_attention",
        "classes": "cross_entropy nll_loss",
        "ctc": "ctc_loss",
        "distance_losses": (
            "cosine_embedding_loss triplet_margin_loss triplet_margin_with_distance_loss"
        ),
        "dropout": "dropout",
        "dropouts": "alpha_dropout dropout1d dropout2d dropout3d feature_alpha_dropout",
        "embedding": "embedding embedding_bag",
        "fold": "fold unfold",
        "gates": "glu gumbel_softmax hardswish softshrink",
        "grids": "affine_grid grid_sample",
        "layers": "elu_ hardtanh_ leaky_relu_",
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
        "normalisation": "batch_norm group_norm instance_norm layer_norm",
        "norms": "normalize",
        "padding": "one_hot pad",
        "pooling": (
            "avg_pool2d avg_pool3d local_response_norm lp_pool1d lp_pool2d lp_pool3d "
            "max_pool2d_with_indices max_pool3d_with_indices"
        ),
        "resample": "interpolate upsample upsample_bilinear upsample_nearest",
        "unpooling": (
            "fractional_max_pool2d fractional_max_pool2d_with_indices fractional_max_pool3d "
            "fractional_max_pool3d_with_indices max_unpool1d max_unpool2d max_unpool3d"
        ),
    },
    ("nn.functional", "wengert"): {
        "adaptive_pooling": "adaptive_avg_pool1d",
        "attention": "bilinear cosine_similarity pairwise_distance",
        "convolution": (
            "conv1d conv2d conv3d conv_tbc conv_transpose1d conv_transpose2d conv_transpose3d"
        ),
        "distances": "pdist",
        "gates": "rrelu rrelu_ threshold threshold_",
        "layers": "celu_ relu_ selu_",
        "normalisation": "rms_norm",
        "padding": "channel_shuffle native_channel_shuffle pixel_shuffle pixel_unshuffle",
        "pooling": "avg_pool1d max_pool1d max_pool1d_with_indices max_pool2d max_pool3d",
    },
    ("wengert",): {
        "algebra": "lu_unpack",
        "choice": "randint randint_like randperm",
        "combine": "cartesian_prod combinations",
        "control": "cond sym_float sym_int sym_ite sym_max sym_min sym_not sym_sqrt sym_sum",
        "convolution": "convolution",
        "copies": (
            "alias_copy as_strided_copy detach_copy diagonal_copy expand_copy permute_copy "
            "select_copy slice_copy split_copy split_with_sizes_copy squeeze_copy t_copy "
            "transpose_copy unbind_copy unfold_copy unsqueeze_copy view_as_complex_copy "
            "view_as_real_copy view_copy"
        ),
        "create": "as_tensor asarray empty from_numpy full ones scalar_tensor tensor zeros",
        "decompositions": "pca_lowrank svd_lowrank",
        "differences": "cumulative_trapezoid gradient trapezoid trapz",
        "distances": "cdist",
        "eigenpairs": "lobpcg",
        "einsum": "einsum",
        "elementary": "fill",
        "expand": "broadcast_tensors meshgrid",
        "fake_quantize": "fake_quantize_per_channel_affine fake_quantize_per_tensor_affine",
        "foreign": "from_dlpack from_file frombuffer",
        "generator": "Generator fork_rng get_rng_state initial_seed manual_seed seed set_rng_state",
        "grids": "affine_grid_generator grid_sampler grid_sampler_2d grid_sampler_3d",
        "histograms": "histogramdd",
        "join": "cat column_stack concat concatenate dstack hstack row_stack stack vstack",
        "layers": (
            "adaptive_max_pool1d alpha_dropout alpha_dropout_ batch_norm celu dropout dropout_ "
            "embedding feature_alpha_dropout feature_alpha_dropout_ feature_dropout "
            "feature_dropout_ group_norm instance_norm layer_norm selu"
        ),
        "like": "empty_like full_like ones_like zeros_like",
        "moments": "std_mean var_mean",
        "numbered_losses": (
            "binary_cross_entropy_with_logits cosine_embedding_loss ctc_loss hinge_embedding_loss "
            "kl_div margin_ranking_loss poisson_nll_loss triplet_margin_loss"
        ),
        "padding": "constant_pad_nd",
        "products": "chain_matmul tensordot vander",
        "random": "normal rand rand_like randn randn_like",
        "ranges": "arange complex eye linspace logspace polar range tril_indices triu_indices",
        "recurrence": "gru lstm rnn_relu rnn_tanh",
        "recurrent": "gru_cell lstm_cell rnn_relu_cell rnn_tanh_cell",
        "rejection": "binomial poisson",
        "scatter": "segment_reduce",
        "search": "bucketize isin searchsorted",
        "select": "where",
        "signal_windows": (
            "bartlett_window blackman_window hamming_window hann_window kaiser_window"
        ),
        "strided": "empty_permuted empty_strided view_as_complex view_as_real",
        "structure": "atleast_1d atleast_2d atleast_3d block_diag broadcast_shapes unravel_index",
        "transcendental": "polygamma",
    },
}

EXPORTS: dict[str, dict[str, str]] = {}
"""The module of each name, within `wengert.ops`, by surface."""
for _surfaces, _modules in _NAMES.items():
    _found = {name: module for module, names in _modules.items() for name in names.split()}
    for _surface in _surfaces:
        EXPORTS.setdefault(_surface, {}).update(_found)
