"""Layer 0 · base: PyTorch's modules that re-export other modules' names, as a table (`elsewhere`).

A row is a module and, for each module that it re-exports from, the names: ``new=old`` where they
differ. Refused names are in `base.refused`, except for single names of modules that exist here.
"""

from __future__ import annotations

from wengert.base.refused import REASONS, ROWS

_SHOWN: dict[str, dict[str, str]] = {
    "_inductor": {},
    "_inductor.config": {},
    **{path: {} for path in ("_decomp", "_logging", "_refs", "utils.deterministic")},
    "_C._functorch": {"_C": "is_batchedtensor"},
    "_functorch.apis": {"func": "grad grad_and_value vmap"},
    "_functorch.batch_norm_replacement": {"func": "replace_all_batch_norm_modules_"},
    "_functorch.eager_transforms": {
        "func": "functionalize grad_and_value hessian jacfwd jacrev jvp linearize vjp"
    },
    "_functorch.functional_call": {"func": "functional_call stack_module_state"},
    "_functorch.make_functional": {
        "compat.functorch": (
            "FunctionalModule combine_state_for_ensemble make_functional "
            "make_functional_with_buffers"
        )
    },
    "_functorch.vmap": {
        "": "Tensor",
        "func": "vmap",
        "utils._pytree": "tree_flatten tree_unflatten",
    },
    "_custom_ops": {"library": "custom_op impl impl_abstract"},
    "_jit_internal": {"jit": "Final export ignore is_scripting unused"},
    "_lobpcg": {"": "lobpcg"},
    "_lowrank": {"": "pca_lowrank svd_lowrank"},
    "_tensor": {"tensor.tensor": "Tensor"},
    "_tensor_str": {
        "tensor.printing": "PRINT_OPTS=OPTIONS _tensor_str printoptions set_printoptions"
    },
    "": {
        "jit": "ScriptFunction ScriptModule fork wait",
        "tensor.storage": "TypedStorage UntypedStorage",
        "_C": "has_lapack has_mkl has_openmp has_spectral",
        "amp.autocast": (
            "clear_autocast_cache get_autocast_gpu_dtype=get_autocast_dtype "
            "is_autocast_cache_enabled"
        ),
        "autograd.anomaly_mode": "set_anomaly_enabled=set_detect_anomaly",
        "sparse.operations": "dsmm=mm",
    },
    "cpu.amp": {"amp": "GradScaler autocast"},
    "amp.autocast_mode": {"amp": "autocast custom_bwd custom_fwd is_autocast_available"},
    "amp.grad_scaler": {"amp": "GradScaler"},
    "autograd": {
        "autograd.api": "variable=Variable",
        "backends.others": "kineto_available=is_available",
    },
    "autograd.profiler": {
        "profiler": (
            "EventList FunctionEvent FunctionEventAvg emit_itt emit_nvtx load_nvprof profile "
            "record_function"
        )
    },
    "autograd.profiler_util": {
        "profiler": "EventList FunctionEvent FunctionEventAvg _format_time=_time"
    },
    "autograd.variable": {"autograd": "Variable"},
    "backends.cpu": {"backends.others": "get_cpu_capability"},
    "backends.cuda": {"nn.attention": "SDPBackend"},
    "backends.cusparselt": {"backends.others": "get_max_alg_id is_available version"},
    "backends.kleidiai": {"backends.others": "is_available"},
    "backends.mha": {"backends.others": "get_fastpath_enabled set_fastpath_enabled"},
    "backends.miopen": {"backends.others": "immediate"},
    "backends.nnpack": {"backends.others": "flags is_available set_flags"},
    "backends.opt_einsum": {
        "backends.others": (
            "enabled flags=einsum_flags get_opt_einsum is_available set_flags=set_einsum_flags "
            "strategy"
        )
    },
    "backends.quantized": {"backends.others": "engine supported_engines"},
    "backends.xnnpack": {"backends.others": "enabled"},
    "cuda.amp.autocast_mode": {"cuda.amp": "autocast custom_bwd custom_fwd"},
    "cuda.amp.grad_scaler": {"cuda.amp": "GradScaler"},
    "cuda.memory": {
        "cuda": (
            "empty_cache max_memory_allocated max_memory_cached max_memory_reserved mem_get_info "
            "memory_allocated memory_cached memory_reserved memory_stats memory_summary "
            "reset_max_memory_allocated reset_max_memory_cached reset_peak_memory_stats"
        )
    },
    "cuda.nvtx": {"profiler": "range=record_function"},
    "cuda.random": {
        "cuda": (
            "get_rng_state get_rng_state_all initial_seed manual_seed manual_seed_all seed "
            "seed_all set_rng_state set_rng_state_all"
        )
    },
    "cuda.streams": {"cuda": "Event ExternalStream Stream"},
    "distributions.multivariate_normal": {
        "distributions.multivariate": "_precision_to_scale_tril=precision_to_scale_tril",
        "distributions": "Distribution",
    },
    "distributions.utils": {"distributions.number_transforms": "_sum_rightmost=sum_rightmost"},
    "distributed.constants": {"distributed": "default_pg_timeout"},
    "distributed.distributed_c10d": {
        "distributed": (
            "Backend GroupMember P2POp ProcessGroup ReduceOp all_gather all_gather_into_tensor "
            "all_gather_object all_reduce all_to_all all_to_all_single barrier broadcast "
            "broadcast_object_list destroy_process_group gather gather_object get_backend "
            "get_global_rank get_group_rank get_process_group_ranks get_rank get_world_size group "
            "init_process_group irecv is_gloo_available is_initialized is_mpi_available "
            "is_nccl_available is_torchelastic_launched isend monitored_barrier new_group recv "
            "reduce reduce_scatter reduce_scatter_tensor scatter scatter_object_list send "
            "supports_complex"
        )
    },
    "func.functional_call": {"func": "functional_call"},
    "functional": {
        "": (
            "atleast_1d atleast_2d atleast_3d block_diag broadcast_shapes "
            "broadcast_tensors cartesian_prod cdist chain_matmul einsum istft lu meshgrid norm "
            "pca_lowrank split stft svd_lowrank tensordot unique unique_consecutive unravel_index"
        )
    },
    "jit.annotations": {
        "jit": (
            "BroadcastingList1 BroadcastingList2 BroadcastingList3 BroadcastingList4 "
            "BroadcastingList5 BroadcastingList6 Dict Future List Optional Tuple"
        )
    },
    "_dynamo._trace_wrapped_higher_order_op": {"_dynamo": "TransformGetItemToIndex"},
    "_dynamo.eval_frame": {"_dynamo": "OptimizedModule"},
    "_dynamo.utils": {"_dynamo": "is_compile_supported"},
    "utils._python_dispatch": {"tensor.overrides": "is_traceable_wrapper_subclass"},
    "onnx": {
        "library": "register_custom_op_symbolic",
        "backends.others": "is_in_onnx_export=is_available",
    },
    "onnx.symbolic_helper": {"library": "parse_args"},
    **{f"onnx.symbolic_opset{version}": {} for version in range(9, 19)},
    "distributed._tensor": {"utils.placements": "Partial Placement Replicate Shard"},
    "distributed.autograd": {"backends.others": "is_available"},
    "distributed.rpc": {"backends.others": "is_available"},
    "distributed.tensor": {"utils.placements": "Partial Placement Replicate Shard"},
    "distributed.tensor.placement_types": {
        "utils.placements": "Partial Placement Replicate Shard _StridedShard"
    },
    "jit.frontend": {"jit": "NotSupportedError UnsupportedNodeError"},
    "multiprocessing.pool": {"multiprocessing": "Pool SimpleQueue"},
    "multiprocessing.queue": {"multiprocessing": "Queue SimpleQueue"},
    "multiprocessing.spawn": {
        "multiprocessing": (
            "ProcessContext ProcessException ProcessExitedException ProcessRaisedException "
            "SpawnContext spawn start_processes"
        )
    },
    "multiprocessing.reductions": {"multiprocessing": "init_reductions"},
    "nn.attention.bias": {
        "nn.attention": "CausalBias CausalVariant causal_lower_right causal_upper_left"
    },
    "nn.modules.activation": {
        "nn": (
            "CELU ELU GELU GLU Hardsigmoid Hardswish Hardtanh LeakyReLU LogSoftmax Mish "
            "MultiheadAttention PReLU RReLU ReLU ReLU6 SELU SiLU Softmax Softmax2d Softmin "
            "Threshold"
        )
    },
    "nn.modules.batchnorm": {"nn": "LazyBatchNorm1d LazyBatchNorm2d LazyBatchNorm3d"},
    "nn.modules.channelshuffle": {"nn": "ChannelShuffle"},
    "nn.modules.container": {"nn": "ParameterDict ParameterList"},
    "nn.modules.conv": {
        "nn": (
            "LazyConv1d LazyConv2d LazyConv3d LazyConvTranspose1d LazyConvTranspose2d "
            "LazyConvTranspose3d"
        )
    },
    "nn.modules.instancenorm": {"nn": "LazyInstanceNorm1d LazyInstanceNorm2d LazyInstanceNorm3d"},
    "nn.modules.linear": {"nn": "LazyLinear"},
    "nn.modules.loss": {
        "nn": (
            "CosineEmbeddingLoss HingeEmbeddingLoss LinearCrossEntropyLoss MarginRankingLoss "
            "MultiLabelMarginLoss MultiLabelSoftMarginLoss MultiMarginLoss NLLLoss2d=NLLLoss "
            "SoftMarginLoss TripletMarginLoss TripletMarginWithDistanceLoss"
        )
    },
    "nn.modules.module": {
        "nn.modules.registering": "_global_parameter_registration_hooks=_PARAMETERS",
        "nn.modules.state": "_EXTRA_STATE_KEY_SUFFIX=_EXTRA",
    },
    "nn.modules.normalization": {
        "nn": "CrossMapLRN2d GroupNorm LayerNorm LocalResponseNorm RMSNorm"
    },
    "nn.modules.pooling": {
        "nn": (
            "AdaptiveAvgPool1d AdaptiveAvgPool2d AdaptiveAvgPool3d AdaptiveMaxPool1d "
            "AdaptiveMaxPool2d AdaptiveMaxPool3d FractionalMaxPool2d FractionalMaxPool3d"
        )
    },
    "nn.modules.rnn": {"nn": "GRUCell LSTMCell RNNCell RNNCellBase"},
    "nn.modules.transformer": {
        "nn": "TransformerDecoderLayer TransformerEncoderLayer",
        "nn.modules.transformer": "_get_clones=_copies",
        "nn.modules.transformer_layers": "_get_activation_fn=_function",
    },
    "nn.parallel.data_parallel": {"nn.parallel": "DataParallel data_parallel"},
    "nn.parallel.distributed": {"nn.parallel": "DistributedDataParallel"},
    "nn.parallel.parallel_apply": {"nn.parallel": "parallel_apply"},
    "nn.parallel.replicate": {"nn.parallel": "replicate"},
    "nn.parallel.scatter_gather": {"nn.parallel": "gather scatter scatter_kwargs"},
    "nn": {"nn": "NLLLoss2d=NLLLoss"},
    "nn.utils.spectral_norm": {"nn.utils": "remove_spectral_norm spectral_norm"},
    "nn.utils.weight_norm": {"nn.utils": "remove_weight_norm weight_norm"},
    "nn.utils.init": {"nn.utils": "skip_init"},
    "_utils": {
        "accelerator": (
            "_get_available_device_type=current_accelerator _get_device_module=get_device_module"
        )
    },
    "nn.utils._named_member_accessor": {"nn.utils.stateless": "swap_tensor"},
    "optim._multi_tensor": {
        "optim": "ASGD Adadelta Adagrad Adam AdamW Adamax NAdam RAdam RMSprop Rprop SGD"
    },
    "optim.adamw": {"optim": "AdamW"},
    "optim.lr_scheduler": {
        "optim.lr_scheduler": "_LRScheduler=LRScheduler",
        "optim.lr_scheduler.base": "EPOCH_DEPRECATION_WARNING",
    },
    "profiler.itt": {"backends.others": "is_available"},
    "profiler.profiler": {
        "profiler": "ProfilerAction profile schedule supported_activities tensorboard_trace_handler"
    },
    "nn.functional": {
        "overrides": (
            "handle_torch_function has_torch_function has_torch_function_unary "
            "has_torch_function_variadic"
        ),
        "nn": "grad",
    },
    "nn.modules": {"nn": "NLLLoss2d=NLLLoss"},
    "storage": {
        "tensor.storage": "TypedStorage UntypedStorage _LegacyStorage=TypedStorage "
        "_StorageBase=UntypedStorage _dtype_to_storage_type_map"
    },
    "utils._contextlib": {"tape.modes": "_DecoratorContextManager=Switch"},
    "utils._triton": {"backends.others": "has_triton=is_available"},
    "utils.data.dataloader": {
        "utils.data": "DataLoader default_collate default_convert get_worker_info",
        "utils.data.loader": (
            "_BaseDataLoaderIter _MultiProcessingDataLoaderIter _SingleProcessDataLoaderIter "
            "_collate_fn_t=Collate"
        ),
    },
    "xpu": {"backends.others": "is_available is_initialized=is_available"},
    "mps": {"backends.others": "is_available"},
    "mtia": {"backends.others": "is_available is_initialized=is_available"},
    "utils.model_zoo": {"hub": "load_url=load_state_dict_from_url tqdm"},
    "utils.tensorboard": {"utils.event_files": "FileWriter SummaryWriter"},
    "utils.tensorboard.writer": {"utils.event_files": "FileWriter SummaryWriter"},
    "utils.data._utils": {},
    "utils.data._utils.collate": {
        "utils.data": "default_collate default_convert",
        "utils.data.loader": "default_collate_fn_map",
    },
    "utils.data._utils.worker": {
        "utils.data": "get_worker_info",
        "utils.data.workers": "_generate_state",
    },
    "utils.data": {"utils.data.dataset": "functional_datapipe"},
    "utils.data.distributed": {"utils.data": "DistributedSampler"},
}

_REASONS = {
    **REASONS,
    "kernels": (
        "it is a kernel of PyTorch's own build. Use the function of nn.functional that it is for"
    ),
    "sized": "numbers and shapes are those of each call; there are none that stand for any",
}
_SINGLE: dict[str, tuple[tuple[str, str], ...]] = {
    "": (
        (
            "quantized",
            "choose_qparams_optimized dequantize empty_quantized fake_quantize_per_channel_affine "
            "fake_quantize_per_tensor_affine fused_moving_avg_obs_fake_quant int_repr "
            "q_per_channel_axis q_per_channel_scales q_per_channel_zero_points q_scale "
            "q_zero_point quantize_per_channel quantize_per_tensor quantize_per_tensor_dynamic "
            "quantized_batch_norm quantized_gru_cell quantized_lstm_cell quantized_max_pool1d "
            "quantized_max_pool2d quantized_max_pool3d quantized_rnn_relu_cell "
            "quantized_rnn_tanh_cell",
        ),
        ("package", "PyTorchFileReader PyTorchFileWriter"),
        ("sized", "SymBool SymFloat SymInt sym_fresh_size"),
        (
            "script",
            "CompilationUnit ScriptDict ScriptList ScriptObject import_ir_module parse_ir "
            "parse_schema",
        ),
        ("gpu", "Event Stream"),
        (
            "kernels",
            "batch_norm_backward_elemt batch_norm_backward_reduce batch_norm_elemt "
            "batch_norm_gather_stats batch_norm_gather_stats_with_counts batch_norm_stats "
            "batch_norm_update_stats cudnn_affine_grid_generator cudnn_batch_norm "
            "cudnn_convolution cudnn_convolution_add_relu cudnn_convolution_relu "
            "cudnn_convolution_transpose cudnn_grid_sampler cudnn_is_acceptable "
            "fbgemm_linear_fp16_weight fbgemm_linear_fp16_weight_fp32_activation "
            "fbgemm_linear_int8_weight fbgemm_linear_int8_weight_fp32_activation "
            "fbgemm_linear_quantize_weight fbgemm_pack_gemm_matrix_fp16 "
            "fbgemm_pack_quantized_matrix miopen_batch_norm miopen_convolution "
            "miopen_convolution_add_relu miopen_convolution_relu miopen_convolution_transpose "
            "miopen_ctc_loss miopen_depthwise_convolution miopen_rnn mkldnn_adaptive_avg_pool2d "
            "mkldnn_convolution mkldnn_linear_backward_weights mkldnn_max_pool2d "
            "mkldnn_max_pool3d mkldnn_rnn_layer",
        ),
    ),
    "distributed": (
        (
            "cluster",
            "DeviceMesh FileStore PrefixStore TCPStore Store batch_isend_irecv init_device_mesh "
            "new_subgroups_by_enumeration recv_object_list send_object_list split_group",
        ),
    ),
    "_C._functorch": (("passes", "_add_batch_dim _remove_batch_dim get_unwrapped"),),
    "_functorch.vmap": (
        ("passes", "_add_batch_dim _broadcast_to_and_flatten _get_name _maybe_remove_batch_dim"),
    ),
    "_C": (("script", "Block Graph Type Value"),),
    "jit": (("script", "CompilationUnit _get_trace_graph export_opnames"),),
    "utils.data": (("pipes", "DFIterDataPipe IterDataPipe MapDataPipe"),),
}

_ABOUT = "Names of PyTorch's module, from where they stand here."
_ABOUT_REFUSED = "Names of PyTorch that are not offered here, and say why when they are used."


def _tables() -> tuple[dict[str, dict[str, tuple[str, str]]], dict[str, dict[str, str]]]:
    names: dict[str, dict[str, tuple[str, str]]] = {}
    refused: dict[str, dict[str, str]] = {}
    for path, sources in _SHOWN.items():
        for source, words in sources.items():
            for word in words.split():
                new, _, old = word.partition("=")
                names.setdefault(path, {})[new] = source, old or new
    for path, (kind, found) in ROWS.items():
        refused[path] = dict.fromkeys(found, _REASONS[kind])
    for path, rows in _SINGLE.items():
        for kind, words in rows:
            refused.setdefault(path, {}).update(dict.fromkeys(words.split(), _REASONS[kind]))
    # a name that exists here is not refused
    for path, shown in names.items():
        refused[path] = {n: why for n, why in refused.get(path, {}).items() if n not in shown}
    return names, refused


NAMES, REFUSED = _tables()
"""The re-exported names of each module, with their source; and its refused names."""
MODULES = {
    **dict.fromkeys(
        # the parent packages of rows, too
        [path[:at] for path in (*ROWS, *_SHOWN) for at, c in enumerate(path) if c == "."],
        _ABOUT,
    ),
    **dict.fromkeys([path for path in (*ROWS, *_SINGLE) if path], _ABOUT_REFUSED),
    **dict.fromkeys(_SHOWN, _ABOUT),
}
"""The modules made from rows, unless they have a file, with their docstrings."""
