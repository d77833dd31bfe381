"""Layer 0 · base: names of PyTorch that have no meaning here, with the reasons; see `elsewhere`.

A row is a module, why its names are refused, and the names.
"""

from __future__ import annotations

__all__ = ["REASONS", "ROWS"]

REASONS = {
    "quantized": (
        "arrays of NumPy have no quantised types. Compute in float16, or quantise after training"
    ),
    "compiled": (
        "models are Python here. Use wengert.compile to make them faster, and save for their state"
    ),
    "package": (
        "models are Python here. Use save and load for their state, and ship the code as a package"
    ),
    "onnx": "models are Python here. Export with PyTorch, after loading the parameters there",
    "cluster": (
        "it shares one model out among machines. Use wengert.distributed, which shares data "
        "out on Dask"
    ),
    "gpu": "there is no such device: tensors are computed on the CPU. Ask is_available() first",
    "native": (
        "there is no C++ library to build against. Write an autograd.Function, or use "
        "wengert.compile"
    ),
    "pipes": "it has left PyTorch's own data sets, too. Use utils.data.Dataset and DataLoader",
    "nested": "arrays of NumPy have one shape. Pad, or use a list of tensors and nn.utils.rnn",
    "passes": (
        "it transforms programs for PyTorch's compilers. Write the change as a function of "
        "modules, or use hooks"
    ),
    "dispatch": "there is no dispatcher to register kernels with. Write an autograd.Function",
    "halves": "NumPy has no complex numbers of half precision. Use complex64",
    "script": "there is no TorchScript: functions run as the Python that they are",
    "events": "nothing is counted here. Use profiler.profile, or Python's logging",
    "flex": (
        "there is no compiled kernel for it. Use nn.functional.scaled_dot_product_attention "
        "with a mask"
    ),
}
"""What is said of each kind."""

ROWS: dict[str, tuple[str, str]] = {
    "_subclasses": ("passes", ""),
    "_subclasses.fake_tensor": (
        "passes",
        "FakeTensor FakeTensorMode is_fake unset_fake_temporarily",
    ),
    "utils._python_dispatch": (
        "passes",
        "TorchDispatchMode is_traceable_wrapper_subclass return_and_correct_aliasing",
    ),
    "ao": ("quantized", ""),
    "ao.nn": ("quantized", ""),
    "ao.nn.intrinsic": (
        "quantized",
        "BNReLU2d BNReLU3d ConvAdd2d ConvAddReLU2d ConvBn1d ConvBn2d ConvBn3d ConvBnReLU1d "
        "ConvBnReLU2d ConvBnReLU3d ConvReLU1d ConvReLU2d ConvReLU3d LinearBn1d LinearLeakyReLU "
        "LinearReLU LinearTanh",
    ),
    "ao.nn.intrinsic.qat": (
        "quantized",
        "ConvBn1d ConvBn2d ConvBn3d ConvBnReLU1d ConvBnReLU2d ConvBnReLU3d ConvReLU1d "
        "ConvReLU2d ConvReLU3d LinearBn1d LinearReLU freeze_bn_stats update_bn_stats",
    ),
    "ao.nn.intrinsic.quantized": (
        "quantized",
        "BNReLU2d BNReLU3d ConvAdd2d ConvAddReLU2d ConvReLU1d ConvReLU2d ConvReLU3d "
        "LinearLeakyReLU LinearReLU LinearTanh",
    ),
    "ao.nn.qat": ("quantized", "Conv1d Conv2d Conv3d Embedding EmbeddingBag Linear"),
    "ao.nn.quantizable": ("quantized", "LSTM LSTMCell MultiheadAttention"),
    "ao.nn.quantized": (
        "quantized",
        "BatchNorm2d BatchNorm3d Conv1d Conv2d Conv3d ConvTranspose1d ConvTranspose2d "
        "ConvTranspose3d DeQuantize Dropout ELU Embedding EmbeddingBag FXFloatFunctional "
        "FloatFunctional GroupNorm Hardswish InstanceNorm1d InstanceNorm2d InstanceNorm3d LSTM "
        "LayerNorm LeakyReLU Linear MultiheadAttention PReLU QFunctional Quantize ReLU6 Sigmoid "
        "Softmax",
    ),
    "ao.nn.quantized.dynamic": (
        "quantized",
        "Conv1d Conv2d Conv3d ConvTranspose1d ConvTranspose2d ConvTranspose3d GRU GRUCell LSTM "
        "LSTMCell Linear RNNCell",
    ),
    "ao.nn.quantized.functional": (
        "quantized",
        "adaptive_avg_pool2d adaptive_avg_pool3d avg_pool2d avg_pool3d celu clamp conv1d conv2d "
        "conv3d elu hardsigmoid hardswish hardtanh interpolate leaky_relu linear max_pool1d "
        "max_pool2d threshold upsample upsample_bilinear upsample_nearest",
    ),
    "ao.nn.sparse": ("quantized", ""),
    "ao.ns": ("quantized", ""),
    "ao.pruning": (
        "quantized",
        "BaseScheduler BaseSparsifier CubicSL FakeSparsity LambdaSL NearlyDiagonalSparsifier "
        "WeightNormSparsifier fqn_to_module get_arg_info_from_tensor_fqn "
        "get_dynamic_sparse_quantized_mapping get_static_sparse_quantized_mapping module_to_fqn",
    ),
    "ao.quantization": (
        "quantized",
        "AffineQuantizedObserverBase DeQuantStub FakeQuantize FakeQuantizeBase "
        "FixedQParamsFakeQuantize FixedQParamsObserver FusedMovingAvgObsFakeQuantize "
        "Granularity HistogramObserver MappingType MatchAllNode MinMaxObserver "
        "MovingAverageMinMaxObserver MovingAveragePerChannelMinMaxObserver NoopObserver "
        "ObserverBase ObserverOrFakeQuantize Pattern PerAxis PerBlock PerChannelMinMaxObserver "
        "PerGroup PerRow PerTensor PerToken PlaceholderObserver QConfig QConfigAny "
        "QConfigDynamic QConfigMapping QuantStub QuantType QuantWrapper RecordingObserver "
        "ReuseInputObserver TorchAODType UniformQuantizationObserverBase ZeroPointDomain "
        "add_quant_dequant convert convert_dynamic_jit convert_jit "
        "default_affine_fixed_qparams_fake_quant default_affine_fixed_qparams_observer "
        "default_debug_observer default_dynamic_fake_quant default_dynamic_quant_observer "
        "default_embedding_fake_quant default_embedding_fake_quant_4bit default_eval_fn "
        "default_fake_quant default_fixed_qparams_range_0to1_fake_quant "
        "default_fixed_qparams_range_0to1_observer "
        "default_fixed_qparams_range_neg1to1_fake_quant "
        "default_fixed_qparams_range_neg1to1_observer default_float_qparams_observer "
        "default_float_qparams_observer_4bit default_fused_act_fake_quant "
        "default_fused_per_channel_wt_fake_quant default_fused_wt_fake_quant "
        "default_histogram_fake_quant default_histogram_observer default_observer "
        "default_per_channel_weight_fake_quant default_per_channel_weight_observer "
        "default_placeholder_observer default_reuse_input_observer "
        "default_symmetric_fixed_qparams_fake_quant default_symmetric_fixed_qparams_observer "
        "default_weight_fake_quant default_weight_observer disable_fake_quant disable_observer "
        "enable_fake_quant enable_observer fuse_conv_bn fuse_conv_bn_jit fuse_conv_bn_relu "
        "fuse_convtranspose_bn fuse_linear_bn fuse_modules fuse_modules_qat "
        "fused_per_channel_wt_fake_quant_range_neg_127_to_127 "
        "fused_wt_fake_quant_range_neg_127_to_127 get_block_size get_combined_dict "
        "get_default_compare_output_module_list get_default_custom_config_dict "
        "get_default_dynamic_quant_module_mappings "
        "get_default_dynamic_sparse_quant_module_mappings "
        "get_default_float_to_quantized_operator_mappings get_default_qat_module_mappings "
        "get_default_qat_qconfig get_default_qat_qconfig_dict get_default_qat_qconfig_mapping "
        "get_default_qconfig get_default_qconfig_dict get_default_qconfig_mapping "
        "get_default_qconfig_propagation_list get_default_static_quant_module_mappings "
        "get_default_static_quant_reference_module_mappings "
        "get_default_static_sparse_quant_module_mappings get_dynamic_quant_module_class "
        "get_embedding_qat_module_mappings get_embedding_static_quant_module_mappings "
        "get_fuser_method get_fuser_method_new get_observer_state_dict get_quantized_operator "
        "get_static_quant_module_class load_observer_state_dict no_observer_set "
        "per_channel_weight_observer_range_neg_127_to_127 prepare prepare_dynamic_jit "
        "prepare_jit prepare_qat propagate_qconfig_ qconfig_equals quantize quantize_dynamic "
        "quantize_dynamic_jit quantize_jit quantize_qat script_qconfig script_qconfig_dict "
        "swap_module weight_observer_range_neg_127_to_127",
    ),
    "ao.quantization.fake_quantize": (
        "quantized",
        "FakeQuantize FakeQuantizeBase FixedQParamsFakeQuantize FusedMovingAvgObsFakeQuantize "
        "default_affine_fixed_qparams_fake_quant default_dynamic_fake_quant "
        "default_embedding_fake_quant default_embedding_fake_quant_4bit default_fake_quant "
        "default_fixed_qparams_range_0to1_fake_quant "
        "default_fixed_qparams_range_neg1to1_fake_quant default_fused_act_fake_quant "
        "default_fused_per_channel_wt_fake_quant default_fused_wt_fake_quant "
        "default_histogram_fake_quant default_per_channel_weight_fake_quant "
        "default_symmetric_fixed_qparams_fake_quant default_weight_fake_quant "
        "disable_fake_quant disable_observer enable_fake_quant enable_observer "
        "fused_per_channel_wt_fake_quant_range_neg_127_to_127 "
        "fused_wt_fake_quant_range_neg_127_to_127",
    ),
    "ao.quantization.fuse_modules": (
        "quantized",
        "fuse_known_modules fuse_modules fuse_modules_qat",
    ),
    "ao.quantization.observer": (
        "quantized",
        "AffineQuantizedObserverBase FixedQParamsObserver Granularity HistogramObserver "
        "MappingType MinMaxObserver MovingAverageMinMaxObserver "
        "MovingAveragePerChannelMinMaxObserver NoopObserver ObserverBase PerAxis PerBlock "
        "PerChannelMinMaxObserver PerGroup PerRow PerTensor PerToken PlaceholderObserver "
        "RecordingObserver ReuseInputObserver TorchAODType UniformQuantizationObserverBase "
        "ZeroPointDomain default_affine_fixed_qparams_observer default_debug_observer "
        "default_dynamic_quant_observer default_fixed_qparams_range_0to1_observer "
        "default_fixed_qparams_range_neg1to1_observer default_float_qparams_observer "
        "default_float_qparams_observer_4bit default_histogram_observer default_observer "
        "default_per_channel_weight_observer default_placeholder_observer "
        "default_reuse_input_observer default_symmetric_fixed_qparams_observer "
        "default_weight_observer get_block_size get_observer_state_dict "
        "load_observer_state_dict per_channel_weight_observer_range_neg_127_to_127 "
        "weight_observer_range_neg_127_to_127",
    ),
    "ao.quantization.qconfig": (
        "quantized",
        "QConfig QConfigAny QConfigDynamic default_activation_only_qconfig "
        "default_debug_qconfig default_dynamic_qat_qconfig default_dynamic_qconfig "
        "default_embedding_qat_qconfig default_embedding_qat_qconfig_4bit "
        "default_per_channel_qconfig default_per_channel_symmetric_qnnpack_qat_qconfig "
        "default_per_channel_symmetric_qnnpack_qconfig default_qat_qconfig "
        "default_qat_qconfig_v2 default_qconfig default_quint8_weight_qconfig "
        "default_reuse_input_qconfig default_symmetric_qnnpack_qat_qconfig "
        "default_symmetric_qnnpack_qconfig default_weight_only_qconfig float16_dynamic_qconfig "
        "float16_static_qconfig float_qparams_weight_only_qconfig "
        "float_qparams_weight_only_qconfig_4bit get_default_qat_qconfig "
        "get_default_qat_qconfig_dict get_default_qconfig get_default_qconfig_dict "
        "per_channel_dynamic_qconfig qconfig_equals",
    ),
    "ao.quantization.qconfig_mapping": (
        "quantized",
        "QConfigMapping get_default_qat_qconfig_mapping get_default_qconfig_mapping",
    ),
    "ao.quantization.quantize": (
        "quantized",
        "add_quant_dequant convert get_default_custom_config_dict prepare prepare_qat "
        "propagate_qconfig_ quantize quantize_dynamic quantize_qat swap_module",
    ),
    "ao.quantization.quantize_fx": (
        "quantized",
        "BackendConfig ConvertCustomConfig DEPRECATION_WARNING FuseCustomConfig GraphModule "
        "ObservedGraphModule PrepareCustomConfig QConfigMapping QuantizationTracer Scope "
        "ScopeContextManager attach_preserved_attrs_to_model convert convert_fx "
        "convert_to_reference_fx fuse fuse_fx get_custom_module_class_keys "
        "get_skipped_module_name_and_classes get_tensorrt_backend_config prepare prepare_fx "
        "prepare_qat_fx",
    ),
    "ao.quantization.stubs": ("quantized", "DeQuantStub QuantStub QuantWrapper"),
    "cuda.comm": (
        "gpu",
        "broadcast broadcast_coalesced gather reduce_add reduce_add_coalesced scatter",
    ),
    "cuda.gds": ("gpu", "GdsFile gds_deregister_buffer gds_register_buffer"),
    "cuda.graphs": (
        "gpu",
        "CUDAGraph graph graph_pool_handle is_current_stream_capturing make_graphed_callables",
    ),
    "cuda.jiterator": ("gpu", ""),
    "cuda.nccl": ("gpu", "all_gather all_reduce broadcast reduce reduce_scatter"),
    "cuda.nvtx": ("gpu", "mark range range_end range_pop range_push range_start"),
    "cuda.profiler": ("gpu", "profile start stop"),
    "cuda.tunable": (
        "gpu",
        "enable get_filename get_max_tuning_duration get_max_tuning_iterations get_results "
        "get_rotating_buffer_size get_validators is_enabled mgpu_tune_gemm_in_file read_file "
        "record_untuned_enable record_untuned_is_enabled set_filename set_max_tuning_duration "
        "set_max_tuning_iterations set_numerical_check_tolerances set_rotating_buffer_size "
        "tune_gemm_in_file tuning_enable tuning_is_enabled",
    ),
    "distributed.algorithms": ("cluster", "Join JoinHook Joinable"),
    "distributed.algorithms.ddp_comm_hooks": ("cluster", "DDPCommHookType register_ddp_comm_hook"),
    "distributed.algorithms.ddp_comm_hooks.default_hooks": (
        "cluster",
        "allreduce_hook bf16_compress_hook bf16_compress_wrapper fp16_compress_hook "
        "fp16_compress_wrapper",
    ),
    "distributed.algorithms.ddp_comm_hooks.powerSGD_hook": (
        "cluster",
        "PowerSGDState batched_powerSGD_hook powerSGD_hook",
    ),
    "distributed.algorithms.join": ("cluster", "Join JoinHook Joinable"),
    "distributed.algorithms.model_averaging.averagers": (
        "cluster",
        "ModelAverager PeriodicModelAverager",
    ),
    "distributed.algorithms.model_averaging.utils": (
        "cluster",
        "average_parameters average_parameters_or_parameter_groups get_params_to_average",
    ),
    "distributed.autograd": ("cluster", "context is_available"),
    "distributed.checkpoint": (
        "cluster",
        "BytesStorageMetadata CheckpointException ChunkStorageMetadata DefaultLoadPlanner "
        "DefaultSavePlanner FileSystemReader FileSystemWriter HuggingFaceStorageReader "
        "HuggingFaceStorageWriter LoadPlan LoadPlanner Metadata "
        "QuantizedHuggingFaceStorageReader ReadItem SavePlan SavePlanner StorageReader "
        "StorageWriter TensorStorageMetadata WriteItem async_save load "
        "load_sharded_optimizer_state_dict load_state_dict save save_state_dict",
    ),
    "distributed.checkpoint.filesystem": (
        "cluster",
        "FileSystem FileSystemBase FileSystemReader FileSystemWriter SerializationFormat",
    ),
    "distributed.checkpoint.metadata": (
        "cluster",
        "BytesStorageMetadata ChunkStorageMetadata Metadata MetadataIndex StorageMeta "
        "TensorProperties TensorStorageMetadata",
    ),
    "distributed.checkpoint.planner": (
        "cluster",
        "BytesIOWriteData LoadItemType LoadPlan LoadPlanner ReadItem SavePlan SavePlanner "
        "TensorWriteData WriteItem WriteItemType",
    ),
    "distributed.checkpoint.state_dict": (
        "cluster",
        "DictValueType FQNS_T ListDictValueType OptimizerStateType PrimitiveType "
        "StateDictOptions ValueType get_model_state_dict get_optimizer_state_dict "
        "get_state_dict set_model_state_dict set_optimizer_state_dict set_state_dict",
    ),
    "distributed.checkpoint.stateful": ("cluster", "Stateful StatefulT"),
    "distributed.device_mesh": ("cluster", "DeviceMesh init_device_mesh"),
    "distributed.elastic": ("cluster", ""),
    "distributed.elastic.multiprocessing": (
        "cluster",
        "DefaultLogsSpecs LogsDest LogsSpecs MultiprocessContext PContext ProcessFailure "
        "RunProcsResult SignalException Std SubprocessContext start_processes to_map",
    ),
    "distributed.elastic.rendezvous": (
        "cluster",
        "RendezvousClosedError RendezvousConnectionError RendezvousError "
        "RendezvousGracefulExitError RendezvousHandler RendezvousHandlerCreator "
        "RendezvousHandlerRegistry RendezvousInfo RendezvousParameters RendezvousStateError "
        "RendezvousStoreInfo RendezvousTimeoutError rendezvous_handler_registry",
    ),
    "distributed.fsdp": (
        "cluster",
        "BackwardPrefetch CPUOffload CPUOffloadPolicy DataParallelMeshDims FSDPModule "
        "FullOptimStateDictConfig FullStateDictConfig FullyShardedDataParallel "
        "LocalOptimStateDictConfig LocalStateDictConfig MixedPrecision MixedPrecisionPolicy "
        "OffloadPolicy OptimStateDictConfig OptimStateKeyType ShardedOptimStateDictConfig "
        "ShardedStateDictConfig ShardingStrategy StateDictConfig StateDictSettings "
        "StateDictType UnshardHandle fully_shard register_fsdp_forward_method share_comm_ctx",
    ),
    "distributed.fsdp.api": (
        "cluster",
        "BackwardPrefetch CPUOffload FullOptimStateDictConfig FullStateDictConfig "
        "LocalOptimStateDictConfig LocalStateDictConfig MixedPrecision OptimStateDictConfig "
        "ShardedOptimStateDictConfig ShardedStateDictConfig ShardingStrategy StateDictConfig "
        "StateDictSettings StateDictType",
    ),
    "distributed.fsdp.fully_sharded_data_parallel": (
        "cluster",
        "FullyShardedDataParallel OptimStateKeyType",
    ),
    "distributed.fsdp.sharded_grad_scaler": (
        "cluster",
        "GradScaler OptState ProcessGroup ShardedGradScaler",
    ),
    "distributed.fsdp.wrap": (
        "cluster",
        "CustomPolicy ModuleWrapPolicy always_wrap_policy enable_wrap lambda_auto_wrap_policy "
        "size_based_auto_wrap_policy transformer_auto_wrap_policy wrap",
    ),
    "distributed.launch": ("cluster", "get_args_parser launch main parse_args run"),
    "distributed.launcher": ("cluster", "LaunchConfig elastic_launch launch_agent"),
    "distributed.launcher.api": ("cluster", "LaunchConfig elastic_launch launch_agent"),
    "distributed.nn": (
        "cluster",
        "Function ReduceOp RemoteModule all_gather all_reduce all_to_all all_to_all_single "
        "broadcast gather group reduce reduce_scatter scatter",
    ),
    "distributed.nn.functional": (
        "cluster",
        "Function ReduceOp all_gather all_reduce all_to_all all_to_all_single broadcast gather "
        "group reduce reduce_scatter scatter",
    ),
    "distributed.optim": (
        "cluster",
        "DistributedOptimizer PostLocalSGDOptimizer ZeroRedundancyOptimizer as_functional_optim",
    ),
    "distributed.pipelining": (
        "cluster",
        "Pipe PipelineStage Schedule1F1B ScheduleDualPipeV ScheduleGPipe "
        "ScheduleInterleaved1F1B ScheduleInterleavedZeroBubble ScheduleLoopedBFS "
        "ScheduleZBVZeroBubble SplitPoint build_stage pipe_split pipeline",
    ),
    "distributed.rpc": (
        "cluster",
        "AllGatherStates BackendType BackendType BackendValue RRef TensorPipeRpcBackendOptions "
        "backend_registered construct_rpc_backend_options get_worker_info init_backend init_rpc "
        "is_available method_factory new_method register_backend remote rpc_async rpc_sync "
        "shutdown",
    ),
    "distributed.run": (
        "cluster",
        "DefaultLogsSpecs LaunchConfig LogsSpecs REMAINDER Std check_env config_from_args "
        "determine_local_world_size elastic_launch env get_args_parser get_logger "
        "get_rdzv_endpoint get_use_env macros main parse_args parse_min_max_nnodes record run "
        "run_script_path",
    ),
    "distributed.tensor": (
        "cluster",
        "DTensor Partial Placement Replicate Shard distribute_module distribute_tensor empty "
        "full ones rand randn zeros",
    ),
    "distributed.tensor.experimental": (
        "cluster",
        "context_parallel implicit_replication local_map register_sharding",
    ),
    "distributed.tensor.parallel": (
        "cluster",
        "ColwiseParallel ParallelStyle PrepareModuleInput PrepareModuleInputOutput "
        "PrepareModuleOutput RowwiseParallel SequenceParallel loss_parallel parallelize_module",
    ),
    "export": (
        "compiled",
        "AdditionalInputs Constraint CustomDecompTable Dim ExportBackwardSignature "
        "ExportGraphSignature ExportedProgram FlatArgsAdapter ModuleCallEntry "
        "ModuleCallSignature ShapesCollection UnflattenedModule default_decompositions dims "
        "draft_export export load register_dataclass save unflatten",
    ),
    "export.dynamic_shapes": (
        "compiled",
        "AdditionalInputs Constraint Dim dims refine_dynamic_shapes_from_suggested_fixes",
    ),
    "export.exported_program": (
        "compiled",
        "ExportedProgram ModuleCallEntry ModuleCallSignature default_decompositions",
    ),
    "export.graph_signature": (
        "compiled",
        "ConstantArgument CustomObjArgument ExportBackwardSignature ExportGraphSignature "
        "InputKind InputSpec OutputKind OutputSpec SymBoolArgument SymFloatArgument "
        "SymIntArgument TensorArgument",
    ),
    "export.passes": ("compiled", "move_to_device_pass"),
    "export.pt2_archive": ("compiled", "PT2ArchiveReader PT2ArchiveWriter is_pt2_package"),
    "fx": (
        "passes",
        "Graph GraphModule Interpreter Node Proxy Tracer Transformer has_side_effect map_arg "
        "replace_pattern symbolic_trace ",
    ),
    "fx.annotate": ("passes", "annotate"),
    "fx.config": ("passes", "disable_progress do_not_emit_stack_traces verbose_progress"),
    "fx.experimental": ("passes", ""),
    "fx.experimental.const_fold": (
        "passes",
        "FoldedGraphModule get_unique_attr_name_in_module split_const_subgraphs",
    ),
    "fx.experimental.meta_tracer": (
        "passes",
        "MetaAttribute MetaDeviceAttribute MetaProxy MetaTracer embedding_override "
        "functional_relu_override gen_constructor_wrapper manual_meta_overrides "
        "nn_layernorm_override proxys_to_metas symbolic_trace torch_abs_override "
        "torch_nn_relu_override torch_relu_override torch_where_override",
    ),
    "fx.experimental.optimization": (
        "passes",
        "MklSubgraph UnionFind extract_subgraph fuse gen_mkl_autotuner matches_module_pattern "
        "modules_to_mkldnn optimize_for_inference remove_dropout replace_node_module "
        "reset_modules use_mkl_length",
    ),
    "fx.experimental.proxy_tensor": (
        "passes",
        "DecompositionInterpreter PythonKeyTracer dispatch_trace get_innermost_proxy_mode "
        "get_proxy_mode handle_sym_dispatch make_fx maybe_disable_thunkify "
        "maybe_enable_thunkify py_sym_types selective_decompose",
    ),
    "fx.experimental.rewriter": (
        "passes",
        "AST_Rewriter Graph RewritingTracer Tracer normalize_source_lines",
    ),
    "fx.experimental.symbolic_shapes": (
        "passes",
        "CURRENT_NODE_KEY ConvertIntKey SHAPEENV_EVENT_KEY SYMPY_INTERP ShapeEnv Specialization "
        "StatefulSymbolicContext StatelessSymbolicContext SubclassSymbolicContext "
        "SymIntEqByExpr SymIntSymbolicContext SymbolicContext TrackedFake ValueRangesSLoc "
        "canonicalize_bool_expr check_consistent compute_unbacked_bindings create_contiguous "
        "free_symbols guard_float guard_int guard_or_false guard_or_true guard_scalar "
        "guard_size_oblivious guarding_hint_or_throw has_free_symbols has_free_unbacked_symbols "
        "has_static_value has_symbolic_sizes_strides is_accessor_node is_concrete_bool "
        "is_concrete_float is_concrete_int is_nested_int is_symbol_binding_fx_node "
        "optimization_hint rebind_unbacked resolve_unbacked_bindings statically_known_false "
        "statically_known_true sym_and sym_eq sym_or",
    ),
    "fx.graph": ("passes", "CodeGen Graph PythonCode"),
    "fx.graph_module": ("passes", "GraphModule reduce_graph_module reduce_package_graph_module"),
    "fx.immutable_collections": ("passes", "immutable_dict immutable_list"),
    "fx.interpreter": ("passes", "Interpreter Transformer"),
    "fx.node": ("passes", "Node has_side_effect map_aggregate map_arg"),
    "fx.operator_schemas": (
        "passes",
        "ArgsKwargsPair check_for_mutable_operation create_type_hint get_signature_for_torch_op "
        "normalize_function normalize_module type_matches",
    ),
    "fx.passes": ("passes", ""),
    "fx.passes.graph_drawer": ("passes", "FxGraphDrawer"),
    "fx.passes.graph_manipulation": (
        "passes",
        "get_size_of_all_nodes get_size_of_node get_tensor_meta replace_target_nodes_with "
        "size_bytes",
    ),
    "fx.passes.net_min_base": (
        "passes",
        "FxNetMinimizerBadModuleError FxNetMinimizerResultMismatchError FxNetMinimizerRunFuncError",
    ),
    "fx.passes.operator_support": (
        "passes",
        "OpSupports OperatorSupport OperatorSupportBase any_chain chain create_op_support",
    ),
    "fx.passes.param_fetch": (
        "passes",
        "default_matching extract_attrs_for_lowering lift_lowering_attrs_to_nodes",
    ),
    "fx.passes.shape_prop": ("passes", "ShapeProp TensorMetadata"),
    "fx.passes.split_module": ("passes", "Partition split_module split_module_simple"),
    "fx.passes.splitter_base": (
        "passes",
        "FxNetAccNodesFinder FxNetSplitterInternalError NodeEvent NodeEventTracker SplitResult "
        "Subgraph generate_inputs_for_submodules",
    ),
    "fx.passes.tools_common": (
        "passes",
        "FxNetAccFusionsFinder get_acc_ops_name get_node_target is_node_output_tensor "
        "legalize_graph stable_topological_sort",
    ),
    "fx.proxy": (
        "passes",
        "Attribute GraphAppendingTracer MetaProxy ParameterProxy Proxy Scope "
        "ScopeContextManager TraceError TracerBase",
    ),
    "fx.subgraph_rewriter": (
        "passes",
        "Match ReplacedPatterns replace_pattern replace_pattern_with_filters",
    ),
    "fx.tensor_type": ("passes", "Dyn TensorType is_consistent is_more_precise"),
    "fx.traceback": (
        "passes",
        "NodeSource NodeSourceAction annotate annotate_fn format_stack get_current_meta "
        "get_current_replay_node get_graph_provenance_json has_preserved_node_meta "
        "preserve_node_meta reset_grad_fn_seq_nr set_current_meta set_current_replay_node "
        "set_grad_fn_seq_nr set_stack_trace",
    ),
    "jit.mobile": ("package", "LiteScriptModule validate_map_location"),
    "monitor": (
        "events",
        "Aggregation COUNT Event EventHandlerHandle MAX MEAN MIN STAT_EVENT SUM Stat "
        "TensorboardEventHandler VALUE data_value_t log_event register_event_handler "
        "unregister_event_handler",
    ),
    "mps": (
        "gpu",
        "Event compile_shader current_allocated_memory device_count driver_allocated_memory "
        "empty_cache get_rng_state is_available load_metallib manual_seed "
        "recommended_max_memory seed set_per_process_memory_fraction set_rng_state synchronize",
    ),
    "mps.event": ("gpu", "Event"),
    "mps.profiler": (
        "gpu",
        "is_capturing_metal is_metal_capture_enabled metal_capture profile start stop",
    ),
    "mtia": (
        "gpu",
        "MTIAGraph attach_out_of_memory_observer current_device current_stream default_stream "
        "device device_count empty_cache get_device_capability get_device_properties "
        "get_rng_state get_rng_state_all graph graph_pool_handle init initial_seed is_available "
        "is_bf16_supported is_initialized manual_seed manual_seed_all max_memory_allocated "
        "memory_allocated memory_stats record_memory_history reset_peak_memory_stats seed "
        "seed_all set_device set_rng_state set_rng_state_all set_stream snapshot stream "
        "synchronize",
    ),
    "mtia.memory": (
        "gpu",
        "max_memory_allocated memory_allocated memory_stats reset_peak_memory_stats",
    ),
    "nativert": ("compiled", ""),
    "nested": (
        "nested",
        "as_nested_tensor masked_select narrow nested_tensor nested_tensor_from_jagged "
        "to_padded_tensor",
    ),
    "nn.attention.flex_attention": (
        "flex",
        "AuxOutput AuxRequest BlockMask FlexKernelOptions and_masks create_block_mask "
        "create_mask flex_attention noop_mask or_masks",
    ),
    "nn.attention.varlen": ("flex", "AuxRequest varlen_attn varlen_attn_out"),
    "nn.intrinsic": (
        "quantized",
        "BNReLU2d BNReLU3d ConvBn1d ConvBn2d ConvBn3d ConvBnReLU1d ConvBnReLU2d ConvBnReLU3d "
        "ConvReLU1d ConvReLU2d ConvReLU3d LinearBn1d LinearReLU",
    ),
    "nn.intrinsic.qat": (
        "quantized",
        "ConvBn1d ConvBn2d ConvBn3d ConvBnReLU1d ConvBnReLU2d ConvBnReLU3d ConvReLU1d "
        "ConvReLU2d ConvReLU3d LinearBn1d LinearReLU freeze_bn_stats update_bn_stats",
    ),
    "nn.intrinsic.quantized": (
        "quantized",
        "BNReLU2d BNReLU3d ConvReLU1d ConvReLU2d ConvReLU3d LinearReLU",
    ),
    "nn.qat": ("quantized", "Conv1d Conv2d Conv3d Embedding EmbeddingBag Linear"),
    "nn.quantizable": ("quantized", "LSTM LSTMCell MultiheadAttention"),
    "nn.quantized": (
        "quantized",
        "BatchNorm2d BatchNorm3d Conv1d Conv2d Conv3d ConvTranspose1d ConvTranspose2d "
        "ConvTranspose3d DeQuantize Dropout ELU Embedding EmbeddingBag FXFloatFunctional "
        "FloatFunctional GroupNorm Hardswish InstanceNorm1d InstanceNorm2d InstanceNorm3d LSTM "
        "LayerNorm LeakyReLU Linear MultiheadAttention PReLU QFunctional Quantize ReLU6 Sigmoid "
        "Softmax",
    ),
    "nn.quantized.dynamic": (
        "quantized",
        "Conv1d Conv2d Conv3d ConvTranspose1d ConvTranspose2d ConvTranspose3d GRU GRUCell LSTM "
        "LSTMCell Linear RNNCell",
    ),
    "nn.quantized.functional": (
        "quantized",
        "adaptive_avg_pool2d adaptive_avg_pool3d avg_pool2d avg_pool3d celu clamp conv1d conv2d "
        "conv3d elu hardsigmoid hardswish hardtanh interpolate leaky_relu linear max_pool1d "
        "max_pool2d threshold upsample upsample_bilinear upsample_nearest",
    ),
    "nn.quantized.modules": (
        "quantized",
        "BatchNorm2d BatchNorm3d Conv1d Conv2d Conv3d ConvTranspose1d ConvTranspose2d "
        "ConvTranspose3d DeQuantize Dropout ELU Embedding EmbeddingBag FXFloatFunctional "
        "FloatFunctional GroupNorm Hardswish InstanceNorm1d InstanceNorm2d InstanceNorm3d LSTM "
        "LayerNorm LeakyReLU Linear MultiheadAttention PReLU QFunctional Quantize ReLU6 Sigmoid "
        "Softmax",
    ),
    "onnx": (
        "onnx",
        "ExportableModule InputObserver ONNXProgram OnnxExporterError export is_in_onnx_export",
    ),
    "onnx.errors": ("onnx", "OnnxExporterWarning SymbolicValueError UnsupportedOperatorError"),
    "onnx.operators": ("onnx", ""),
    "onnx.ops": (
        "onnx",
        "aten_decompositions attention rotary_embedding symbolic symbolic_multi_out",
    ),
    "onnx.symbolic_helper": ("onnx", ""),
    "onnx.utils": ("onnx", ""),
    "onnx.verification": ("onnx", "VerificationInfo verify_onnx_program"),
    "package": (
        "package",
        "Directory EmptyMatchError GlobGroup Importer ObjMismatchError ObjNotFoundError "
        "OrderedImporter PackageExporter PackageImporter PackagingError is_from_package "
        "sys_importer",
    ),
    "package.package_exporter": (
        "package",
        "EmptyMatchError PackageExporter PackagingError PackagingErrorReason",
    ),
    "package.package_importer": ("package", "PackageImporter"),
    "quantization": (
        "quantized",
        "DeQuantStub HistogramObserver ObserverBase QConfig QuantStub QuantType QuantWrapper "
        "WeightObserver add_quant_dequant convert default_dynamic_qconfig default_eval_fn "
        "default_fake_quant default_fixed_qparams_range_0to1_fake_quant "
        "default_fixed_qparams_range_neg1to1_fake_quant default_histogram_fake_quant "
        "default_observer default_per_channel_weight_fake_quant "
        "default_per_channel_weight_observer default_placeholder_observer default_qat_qconfig "
        "default_qconfig default_weight_fake_quant default_weight_observer "
        "float16_dynamic_qconfig float_qparams_weight_only_qconfig fuse_modules "
        "get_default_compare_output_module_list get_default_dynamic_quant_module_mappings "
        "get_default_qat_module_mappings get_default_qconfig_propagation_list "
        "get_default_static_quant_module_mappings get_fuser_method get_quantized_operator "
        "get_static_quant_module_class prepare prepare_qat prepare_qat propagate_qconfig_ "
        "quantize quantize_dynamic quantize_dynamic_jit quantize_jit quantize_qat quantize_qat "
        "swap_module",
    ),
    "quantization.fake_quantize": (
        "quantized",
        "FakeQuantize FakeQuantizeBase FixedQParamsFakeQuantize FusedMovingAvgObsFakeQuantize "
        "default_fake_quant default_fixed_qparams_range_0to1_fake_quant "
        "default_fixed_qparams_range_neg1to1_fake_quant default_fused_act_fake_quant "
        "default_fused_per_channel_wt_fake_quant default_fused_wt_fake_quant "
        "default_histogram_fake_quant default_per_channel_weight_fake_quant "
        "default_weight_fake_quant disable_fake_quant disable_observer enable_fake_quant "
        "enable_observer",
    ),
    "quantization.fuse_modules": (
        "quantized",
        "fuse_conv_bn fuse_conv_bn_relu fuse_known_modules fuse_modules get_fuser_method",
    ),
    "quantization.observer": (
        "quantized",
        "HistogramObserver MinMaxObserver MovingAverageMinMaxObserver "
        "MovingAveragePerChannelMinMaxObserver NoopObserver ObserverBase "
        "PerChannelMinMaxObserver PlaceholderObserver RecordingObserver default_debug_observer "
        "default_dynamic_quant_observer default_float_qparams_observer "
        "default_histogram_observer default_observer default_per_channel_weight_observer "
        "default_placeholder_observer default_weight_observer get_observer_state_dict "
        "load_observer_state_dict",
    ),
    "quantization.qconfig": (
        "quantized",
        "QConfig QConfigAny QConfigDynamic default_activation_only_qconfig "
        "default_debug_qconfig default_dynamic_qconfig default_per_channel_qconfig "
        "default_qat_qconfig default_qat_qconfig_v2 default_qconfig default_weight_only_qconfig "
        "float16_dynamic_qconfig float16_static_qconfig float_qparams_weight_only_qconfig "
        "get_default_qat_qconfig get_default_qconfig per_channel_dynamic_qconfig qconfig_equals",
    ),
    "quantization.quantize": (
        "quantized",
        "add_quant_dequant convert prepare prepare_qat propagate_qconfig_ quantize "
        "quantize_dynamic quantize_qat swap_module",
    ),
    "quantization.quantize_fx": (
        "quantized",
        "ObservedGraphModule QuantizationTracer Scope ScopeContextManager convert_fx fuse_fx "
        "prepare_fx prepare_qat_fx",
    ),
    "quantization.stubs": ("quantized", "DeQuantStub QuantStub QuantWrapper"),
    "utils.backend_registration": (
        "native",
        "generate_methods_for_privateuse1_backend rename_privateuse1_backend",
    ),
    "utils.bundled_inputs": (
        "package",
        "InflatableArg ListType MAX_RAW_TENSOR_SIZE TupleType "
        "augment_many_model_functions_with_bundled_inputs augment_model_with_bundled_inputs "
        "bundle_inputs bundle_large_tensor bundle_randn wrap_cpp_module",
    ),
    "utils.cpp_extension": (
        "native",
        "BuildExtension CUDAExtension CppExtension SyclExtension check_compiler_is_gcc "
        "check_compiler_ok_for_platform get_compiler_abi_compatibility_and_version "
        "get_cxx_compiler get_default_build_root include_paths is_ninja_available library_paths "
        "load load_inline remove_extension_h_precompiler_headers verify_ninja_availability",
    ),
    "utils.data.datapipes": ("pipes", ""),
    "utils.data.datapipes.dataframe": (
        "pipes",
        "CaptureDataFrame DFIterDataPipe DataFramesAsTuplesPipe",
    ),
    "utils.data.datapipes.datapipe": ("pipes", "DFIterDataPipe DataChunk IterDataPipe MapDataPipe"),
    "utils.data.datapipes.iter": (
        "pipes",
        "Batcher Collator Concater Demultiplexer FileLister FileOpener Filter Forker Grouper "
        "IterableWrapper Mapper Multiplexer RoutedDecoder Sampler ShardingFilter Shuffler "
        "StreamReader UnBatcher Zipper",
    ),
    "utils.data.datapipes.map": (
        "pipes",
        "Batcher Concater Mapper SequenceWrapper Shuffler Zipper",
    ),
    "utils.data.graph": ("pipes", "traverse traverse_dps"),
    "utils.data.graph_settings": (
        "pipes",
        "apply_random_seed apply_sharding apply_shuffle_seed apply_shuffle_settings "
        "get_all_graph_pipes",
    ),
    "utils.hipify": ("native", ""),
    "utils.mkldnn": (
        "native",
        "MkldnnBatchNorm MkldnnConv1d MkldnnConv2d MkldnnConv3d MkldnnLinear MkldnnPrelu to_mkldnn",
    ),
    "utils.mobile_optimizer": (
        "package",
        "LintCode MobileOptimizerType generate_mobile_module_lints optimize_for_mobile",
    ),
    "utils.model_dump": (
        "package",
        "burn_in_info get_info_and_burn_skeleton get_inline_skeleton get_model_info "
        "get_storage_info hierarchical_pickle",
    ),
    "utils.show_pickle": ("package", "DumpUnpickler FakeClass FakeObject main"),
    "xpu": (
        "gpu",
        "Event MemPool Stream StreamContext XPUGraph XPUPluggableAllocator "
        "can_device_access_peer change_current_allocator clock_rate current_device "
        "current_stream default_generators device device_count device_memory_used device_of "
        "empty_cache get_arch_list get_device_capability get_device_name get_device_properties "
        "get_gencode_flags get_per_process_memory_fraction get_rng_state get_rng_state_all "
        "get_stream_from_external graph graph_pool_handle init initial_seed is_available "
        "is_bf16_supported is_current_stream_capturing is_initialized is_tf32_supported "
        "make_graphed_callables manual_seed manual_seed_all max_memory_allocated "
        "max_memory_reserved mem_get_info memory_allocated memory_reserved memory_snapshot "
        "memory_stats memory_stats_as_nested_dict memory_usage power_draw "
        "reset_accumulated_memory_stats reset_peak_memory_stats seed seed_all set_device "
        "set_per_process_memory_fraction set_rng_state set_rng_state_all set_stream stream "
        "synchronize temperature use_mem_pool utilization",
    ),
    "xpu.memory": (
        "gpu",
        "MemPool XPUPluggableAllocator change_current_allocator empty_cache "
        "get_per_process_memory_fraction max_memory_allocated max_memory_reserved mem_get_info "
        "memory_allocated memory_reserved memory_snapshot memory_stats "
        "memory_stats_as_nested_dict reset_accumulated_memory_stats reset_peak_memory_stats "
        "set_per_process_memory_fraction use_mem_pool",
    ),
    "xpu.random": (
        "gpu",
        "get_rng_state get_rng_state_all initial_seed manual_seed manual_seed_all seed seed_all "
        "set_rng_state set_rng_state_all",
    ),
    "xpu.streams": ("gpu", "Event Stream"),
}
"""By the module within the package: the kind, and the names."""
