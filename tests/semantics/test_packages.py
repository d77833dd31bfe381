"""Test what packages built on PyTorch do at import and in their classes."""

import collections
import copy
import importlib
import math
import pickle
import time
import types

import pytest


def test_tensors_say_where_they_are_not(t):
    x = t.ones(2)
    for kind in ("mps", "xpu", "xla", "ipu", "maia", "mtia", "vulkan", "mkldnn", "nested"):
        assert getattr(x, f"is_{kind}") is False
    with pytest.raises(RuntimeError, match="Cannot access accelerator device"):
        x.pin_memory()


def test_optimizers_need_not_call_the_constructor_of_their_base(t):
    class Outer(t.optim.Optimizer):
        def __init__(self, inner):
            self.inner, self.param_groups = inner, inner.param_groups

        def step(self, closure=None):
            return self.inner.step(closure)

    w = t.ones(1, requires_grad=True)
    outer = Outer(t.optim.SGD([w], lr=1.0))
    (2 * w).sum().backward()
    outer.step()
    assert w.tolist() == [-1.0]
    outer._patch_step_function()


def test_distributions_may_show_events_of_another_shape(t):
    class Tasks(t.distributions.MultivariateNormal):
        @property
        def event_shape(self):
            return (*self._event_shape[:1], 1)

        def _extended_shape(self, sample_shape=()):
            return t.Size(sample_shape) + self._batch_shape + self.event_shape

    d = Tasks(t.zeros(2, 3), t.eye(3))
    assert d.variance.tolist() == [[1.0] * 3] * 2
    assert d.covariance_matrix.tolist() == [t.eye(3).tolist()] * 2


def test_handles_number_hooks_that_packages_keep(t):
    hooks = collections.OrderedDict()
    handle = t.utils.hooks.RemovableHandle(hooks)
    hooks[handle.id] = print
    handle.remove()
    assert not hooks


def test_the_class_of_a_parameter_without_values_makes_parameters(t):
    p = t.nn.Parameter(t.empty(2, device="meta"))
    q = type(p)(t.ones(2), requires_grad=p.requires_grad)
    assert isinstance(q, t.nn.Parameter) and q.is_leaf and q.requires_grad and q.sum() == 2
    assert type(t.empty(1, device="meta"))([1.0]).tolist() == [1.0]


def test_tensors_have_identities_and_contents_that_wrappers_name(t):
    x, y = t.ones(1), t.ones(1)
    assert x._cdata == x._cdata != y._cdata
    dispatch = importlib.import_module(f"{t.__name__}.utils._python_dispatch")

    class Pair(t.Tensor):
        def __tensor_flatten__(self):
            return [], None

        @staticmethod
        def __tensor_unflatten__(*parts):
            return parts

    assert not dispatch.is_traceable_wrapper_subclass(x)
    assert dispatch.is_traceable_wrapper_subclass(x.as_subclass(Pair))


def test_a_compiled_module_is_a_module_around_the_original(t):
    class Outer(t.nn.Module):
        def __init__(self):
            super().__init__()
            self.inner = t.nn.Linear(2, 1)
            self.inner = t.compile(self.inner, backend="eager")

    outer = Outer()
    c = outer.inner
    assert isinstance(c, t.nn.Module) and list(outer.children()) == [c]
    assert list(outer.state_dict()) == ["inner._orig_mod.weight", "inner._orig_mod.bias"]
    outer.load_state_dict(outer.state_dict())
    outer.eval()
    assert not c.training and not c._orig_mod.training
    c.kept = 3
    assert {*dir(c._orig_mod), "_orig_mod", "kept"} <= {*dir(c)}
    assert c._orig_mod.kept == 3 and c.weight is c._orig_mod.weight
    del c.kept
    assert not hasattr(c._orig_mod, "kept")
    seen = []
    c.register_forward_hook(lambda *given: seen.append(len(given)))
    assert c(t.ones(1, 2)).shape == (1, 1) and seen == [3]
    again = copy.deepcopy(outer)
    assert again.inner.weight is not c.weight and t.equal(again.inner.weight, c.weight)
    with pytest.raises(TypeError):
        t.compile(t.nn.Sequential(c), backend="eager")[0]


def test_tensor_split_takes_the_names_of_its_forms(t):
    found = [t.tensor_split(t.arange(5), indices=[1, 3]), t.arange(5).tensor_split(sections=3)]
    assert [[part.tolist() for part in parts] for parts in found] == [
        [[0], [1, 2], [3, 4]],
        [[0, 1], [2, 3], [4]],
    ]


def test_names_that_packages_import_from_private_modules(t):
    worker = importlib.import_module(f"{t.__name__}.utils.data._utils.worker")
    assert worker._generate_state(5, 1) == [3025039489, 3528014902, 3507927383, 2601490367]
    named = importlib.import_module(f"{t.__name__}.nn.utils._named_member_accessor")
    module, w = t.nn.Linear(2, 1), t.zeros(1, 2)
    first = named.swap_tensor(module, "weight", w)
    assert module.weight is w and named.swap_tensor(module, "weight", first) is w
    with pytest.raises(AttributeError):
        named.swap_tensor(module, "absent", w)
    assert t.get_device_module("cuda:1") is t.cuda and t.get_device_module() is t.cpu
    assert t._utils._get_device_module("cpu") is t.cpu and t.Future is not None
    tree = importlib.import_module(f"{t.__name__}.utils._pytree")
    assert tree.is_structseq_instance(time.localtime())
    assert not tree.is_structseq_instance(t.Size([1])) and tree.tree_is_leaf(1)
    assert not tree.tree_is_leaf([1]) and tree.tree_is_leaf([1], lambda x: True)
    normal = importlib.import_module(f"{t.__name__}.distributions.multivariate_normal")
    assert normal.Distribution is t.distributions.Distribution


def test_structures_are_written_as_json(t):
    pytree = importlib.import_module(f"{t.__name__}.utils._pytree")

    class Pair:
        def __init__(self, parts, scale):
            self.parts, self.scale = parts, scale

    flat, made = lambda p: (p.parts, p.scale), lambda parts, scale: Pair(list(parts), scale)
    pytree.register_pytree_node(
        Pair,
        flat,
        made,
        serialized_type_name="tests.Pair",
        to_dumpable_context=lambda scale: {"scale": scale},
        from_dumpable_context=lambda found: found["scale"],
    )
    tree = [1, {"a": (2, None)}, collections.OrderedDict(b=3), t.Size([4]), Pair([5], 2.0)]
    spec = pytree.tree_structure(tree)
    text = pytree.treespec_dumps(spec)
    ends = '"children_spec": [{"type": null, "context": null, "children_spec": []}]}'
    assert text.startswith('[1, {"type": "builtins.list", "context": "null", "children_spec": [')
    assert f'{{"type": "torch.Size", "context": "null", {ends}' in text
    assert f'{{"type": "tests.Pair", "context": {{"scale": 2.0}}, {ends}' in text
    assert pytree.treespec_loads(text) == spec
    named = collections.namedtuple("Named", "a")(1)
    with pytest.raises(NotImplementedError):
        pytree.treespec_dumps(pytree.tree_structure(named))
    with pytest.raises(NotImplementedError, match="Deserializing tests"):
        pytree.treespec_loads(text.replace("tests.Pair", "tests.Other"))
    with pytest.raises(ValueError, match="Unknown protocol 2"):
        pytree.treespec_dumps(spec, 2)
    pytree._deregister_pytree_node(Pair)


def test_examples_of_one_kind_are_collated_by_functions_of_a_map(t):
    found = importlib.import_module(f"{t.__name__}.utils.data._utils.collate")

    def doubled(batch, *, collate_fn_map=None):
        return 2 * found.collate_tensor_fn(batch, collate_fn_map=collate_fn_map)

    rules = {t.Tensor: doubled, float: found.collate_float_fn, str: found.collate_str_fn}
    batch = [(t.ones(2), 0.5, "a"), (t.zeros(2), 1.5, "b")]
    x, y, z = found.collate(batch, collate_fn_map=rules)
    assert x.tolist() == [[2.0, 2.0], [0.0, 0.0]] and list(z) == ["a", "b"]
    assert y.dtype == t.float64 and y.tolist() == [0.5, 1.5]


def test_an_exception_is_kept_and_raised_with_its_traceback(t):
    class Two(Exception):
        def __init__(self, first, second):
            super().__init__(first, second)

    for kind, raised in [(KeyError("k"), KeyError), (Two(1, 2), RuntimeError)]:
        try:
            raise kind
        except Exception:
            kept = t._utils.ExceptionWrapper(where="in a worker")
        with pytest.raises(raised, match=f"Caught {type(kind).__name__} in a worker.\\nOriginal"):
            kept.reraise()


def test_the_names_that_loaders_of_packages_are_made_of_are_importable(t):
    for module, names in [
        ("utils.data.dataloader", "_InfiniteConstantSampler _worker_init_fn_t"),
        ("utils.data._utils", "HAS_NUMPY MP_STATUS_CHECK_INTERVAL signal_handling"),
        ("utils.data._utils.worker", "ManagerWatchdog WorkerInfo _ResumeIteration"),
        ("utils.data.datapipes.datapipe", "_MapDataPipeSerializationWrapper"),
    ]:
        found = importlib.import_module(f"{t.__name__}.{module}")
        assert all(hasattr(found, name) for name in names.split())


def test_weights_of_recurrent_layers_are_listed(t):
    m = t.nn.LSTM(2, 3, bias=False)
    assert m._flat_weights_names == ["weight_ih_l0", "weight_hh_l0"]
    m._flat_weights = [getattr(m, name) for name in m._flat_weights_names]
    assert m._flat_weights[1] is m.weight_hh_l0


def test_operands_of_einsum_are_handed_over_one_by_one(t):
    seen = []

    class Seen(t.Tensor):
        @classmethod
        def __torch_function__(cls, func, types, args=(), kwargs=None):
            seen.append((getattr(func, "__name__", None), len(args)))
            return super().__torch_function__(func, types, args, kwargs)

    x = t.ones(2, 2).as_subclass(Seen)
    assert t.einsum("ij,jk->ik", [x, x]).tolist() == [[2.0, 2.0], [2.0, 2.0]]
    assert ("einsum", 3) in seen and ("einsum", 2) not in seen


def test_files_are_mapped_into_storages(t, tmp_path):
    path = str(tmp_path / "bytes")
    with open(path, "wb") as file:
        file.write(bytes(range(8)))
    private = t.UntypedStorage.from_file(path, shared=False, nbytes=6)
    private[0] = 9
    assert private.tolist() == [9, 1, 2, 3, 4, 5]
    part = t.asarray(private[2:6], dtype=t.uint8).view(t.int16)
    assert part.tolist() == [770, 1284]
    shared = t.UntypedStorage.from_file(path, shared=True, nbytes=8)
    assert shared[0] == 0
    shared[1] = 7
    del shared
    with open(path, "rb") as file:
        assert file.read()[:3] == bytes([0, 7, 2])


def test_the_loader_keeps_its_options(t):
    loader = t.utils.data.DataLoader([1, 2], pin_memory_device="cpu", in_order=False)
    assert (loader.pin_memory_device, loader.in_order) == ("cpu", False)
    assert [int(x) for x in loader] == [1, 2]


def test_private_names_are_found_where_packages_import_them(t):
    root = t.__name__
    normal = importlib.import_module(f"{root}.distributions.multivariate_normal")
    made = normal._precision_to_scale_tril(16 * t.eye(2))
    assert t.allclose(made, t.eye(2) / 4)
    for name in ("_to_copy", "_local_scalar_dense", "add_", "detach_", "_foreach_add_"):
        assert getattr(t.ops.aten, name) is not None
    importlib.import_module(f"{root}.distributed._tensor.experimental")
    assert issubclass(t._C.Graph, object)
    assert importlib.import_module(f"{root}._dynamo.eval_frame") is t._dynamo.eval_frame
    options = importlib.import_module(f"{root}._tensor_str").PRINT_OPTS
    assert options.threshold == t._tensor_str.PRINT_OPTS.threshold == 1000


def test_containers_of_examples_keep_their_classes(t):
    class Named(collections.UserDict):
        extra = None

    class Many(list):
        pass

    example = Named(a=1)
    example.extra = "kept"
    made = t.utils.data.default_collate([example, Named(a=2)])
    assert type(made) is Named and made.extra == "kept" and made["a"].tolist() == [1, 2]
    assert example["a"] == 1
    for kind in (collections.OrderedDict, types.MappingProxyType):
        one = kind({"a": 1})
        assert type(t.utils.data.default_collate([one, one])) is kind
        assert type(t.utils.data.default_convert(one)) is kind
    made = t.utils.data.default_collate([Many([1, 2]), Many([3, 4])])
    assert type(made) is Many and [part.tolist() for part in made] == [[1, 3], [2, 4]]
    assert type(t.utils.data.default_collate([(1, 2), (3, 4)])) is list


def test_classes_of_ones_own_are_collated_by_functions_of_ones_own(t):
    class Point:
        pass

    table = importlib.import_module(f"{t.__name__}.utils.data._utils.collate")
    table.default_collate_fn_map[Point] = lambda batch, *, collate_fn_map: len(batch)
    try:
        assert t.utils.data.default_collate([{"p": Point()}] * 3) == {"p": 3}
    finally:
        del table.default_collate_fn_map[Point]


def test_what_is_drawn_around_a_tensor_has_a_gradient_of_zeros(t):
    mean, std = t.zeros(3, requires_grad=True), t.ones(2, 3, requires_grad=True)
    t.manual_seed(0)
    drawn = t.normal(mean, std)
    t.manual_seed(0)
    assert drawn.tolist() == t.normal(mean.detach(), std.detach()).tolist()
    drawn.sum().backward()
    assert mean.grad.tolist() == [0.0] * 3 and std.grad.tolist() == [[0.0] * 3] * 2
    assert not t.normal(mean.detach(), 1.0).requires_grad


def test_assertions_about_traced_values_are_part_of_the_graph(t):
    def first(x):
        t._assert(x.shape[0] == 2, "two rows")
        return x + 1

    fx = importlib.import_module(f"{t.__name__}.fx")
    module = fx.symbolic_trace(first)
    assert module(t.zeros(2)).tolist() == [1.0, 1.0]
    with pytest.raises(AssertionError, match="two rows"):
        module(t.zeros(3))


def test_a_convolution_by_its_inner_name(t):
    x, w = t.rand(2, 3, 6, requires_grad=True), t.rand(3, 3, 3)
    sizes = (2,), (1,), (1,)
    made = t.convolution(x, w, None, *sizes, False, (0,), 1)
    assert t.equal(made, t.nn.functional.conv1d(x, w, None, *sizes))
    back = t.ops.aten.convolution(x, w, None, *sizes, True, (1,), 1)
    assert back.shape == (2, 3, 12) and back.requires_grad
    with pytest.raises(RuntimeError, match="weight should have at least three dimensions"):
        t.convolution(x, w[0, 0], None, *sizes, False, (0,), 1)


def test_names_of_layouts_and_of_inner_functions(t):
    assert len({t.sparse_csc, t.sparse_bsr, t.sparse_bsc, t._mkldnn, t.strided}) == 5
    x = t.rand(3)
    assert t.equal(t._C._nn.gelu(x), t.nn.functional.gelu(x))
    for name in ("logsigmoid", "softplus", "softshrink"):
        function, out = getattr(t.nn.functional, name), t.empty(0)
        assert function(x, out=out) is out and t.equal(out, function(x))
        with pytest.raises(RuntimeError, match="unsupported operation"):
            function(t.rand(1, 3).expand(2, 3), out=t.rand(1, 3).expand(2, 3))


def test_a_tuple_of_windows_has_one_for_each_dimension(t):
    for size in ((), (1,), (1, 1, 1)):
        with pytest.raises(RuntimeError, match="kernel_size must either be a single Int or tuple"):
            t.nn.functional.fractional_max_pool2d(t.rand(2, 7, 7), size, output_size=(3, 3))
    with pytest.raises(ValueError, match="requires output_ratio to either be a single Int"):
        t.nn.functional.fractional_max_pool2d(t.rand(2, 7, 7), 2, output_ratio=(0.5, 0.5, 0.5))
    for scale in (1e20, -1e20):
        with pytest.raises(RuntimeError, match="value cannot be converted to type int64_t"):
            t.nn.functional.interpolate(t.rand(1, 1, 4, 4), scale_factor=scale)
    with pytest.raises(RuntimeError, match="Invalid computed output size"):
        t.nn.functional.max_pool1d(t.rand(1, 1, 4), 5)


def test_arguments_of_a_conversion_of_a_module(t):
    module, cpu = t.nn.Linear(2, 2), t.device("cpu")
    for args in (
        (cpu, t.float64, True),
        (t.float64, True),
        (t.ones(1, dtype=t.float64), True),
        (None, t.float64),
        ("cpu", t.float64),
    ):
        assert module.float().to(*args).weight.dtype == t.float64
    assert module.to(None) is module.to() is module.to(tensor=t.ones(1)) is module
    for args in (
        (cpu, True),
        (None, True),
        ([],),
        (cpu, t.ones(1), True),
        (t.float32, cpu),
        ("cpu", True, True),
        (3, 4, 5, 6),
    ):
        with pytest.raises(TypeError, match="received an invalid combination of arguments"):
            module.to(*args)
    for named in ({"foo": 1}, {"dtype": "cpu"}):
        with pytest.raises(TypeError, match="received an invalid combination of arguments"):
            module.to(cpu, **named)
    with pytest.raises(RuntimeError, match="does not accept copy argument"):
        module.to("cpu", copy=True)
    with pytest.raises(NotImplementedError, match="no data! Please use"):
        t.nn.Linear(2, 2, device="meta").to("cpu")


def test_what_is_registered_replaces_no_attribute(t):
    module = t.nn.Module()
    module.a = 5
    with pytest.raises(KeyError, match="attribute 'a' already exists"):
        module.a = t.nn.Buffer(t.zeros(2))
    del module.a
    module.a = t.nn.Parameter(t.zeros(2))
    module.share_memory()
    assert module.a.untyped_storage().is_shared()
    replica = module._replicate_for_data_parallel()
    replica.a = module.a.view_as(module.a)
    assert replica.a.grad_fn is not None and type(module.a) is t.nn.Parameter


def test_the_number_of_channels_is_not_used_without_affine_maps(t):
    with pytest.warns(UserWarning, match="which is not used because affine=False"):
        t.nn.InstanceNorm1d(4)(t.rand(2, 3, 5))


def test_activations_are_found_among_the_variables_of_their_module(t):
    activations = vars(t.nn.modules.activation)
    found = {name for name in dir(t.nn) if activations.get(name) is getattr(t.nn, name)}
    assert found >= {"ELU", "GELU", "GLU", "LogSoftmax", "ReLU", "Sigmoid", "SiLU", "Softmax"}


def test_modes_over_functions_are_known_to_the_core(t):
    overrides = importlib.import_module(f"{t.__name__}.overrides")
    assert not t._C._is_torch_function_mode_enabled()
    with overrides.TorchFunctionMode():
        assert t._C._is_torch_function_mode_enabled()


def test_arrays_of_texts_are_told_by_their_dtype(t):
    collate = importlib.import_module(f"{t.__name__}.utils.data._utils.collate")
    assert [bool(collate.np_str_obj_array_pattern.search(k)) for k in ("<U3", "|S2", "<f8")] == [
        True,
        True,
        False,
    ]


def test_names_that_packages_import_from_where_they_stand(t):
    assert t.OutOfMemoryError is t.cuda.OutOfMemoryError
    assert len(t.cuda.default_generators) == t.cuda.device_count()
    assert t.legacy_contiguous_format == t.contiguous_format and t.jagged != t.strided
    assert importlib.import_module(f"{t.__name__}.serialization").DEFAULT_PROTOCOL == 2
    assert t.nn.init._no_grad_uniform_(t.zeros(2), 1.0, 1.0).tolist() == [1.0, 1.0]
    assert not hasattr(t.nn.init, "nothing")
    assert t._C._get_accelerator().type == "cpu"
    assert t._C._has_mps is t._C._has_xpu is t._C._is_tracing() is t.cuda._initialized is False
    assert t.serialization.pickle is pickle and issubclass(t.nn.parameter._ParameterMeta, type)
    assert t.TensorType.__name__ == "TensorType" and isinstance(t.DeviceObjType, type)
    assert bool(importlib.import_module(f"{t.__name__}.jit._state")._enabled) in (False, True)
    state = importlib.import_module(f"{t.__name__}.amp.grad_scaler").OptState
    assert [one.name for one in state] == ["READY", "UNSCALED", "STEPPED"]
    clipped = importlib.import_module(f"{t.__name__}.distributions.transforms")._clipped_sigmoid
    assert 0 < clipped(t.tensor(-999.0)) < clipped(t.tensor(999.0)) < 1
    pytree, pair = t.utils._pytree, collections.namedtuple("Pair", "a b")(1, 2)
    assert pytree._namedtuple_unflatten(*pytree._namedtuple_flatten(pair)) == pair


def test_an_object_that_takes_every_attribute_for_its_own_is_no_parameter(t):
    class Strict:
        def __getattr__(self, name):
            raise KeyError(name)

    assert not isinstance(Strict(), t.nn.Parameter)


def test_transforms_and_distributions_may_be_modules_too(t):
    class Scale(t.distributions.Transform, t.nn.Module):
        __hash__ = t.nn.Module.__hash__

        def __init__(self):
            super().__init__(cache_size=1)
            self.factor = t.nn.Parameter(t.ones(1))

    class Held(t.distributions.Distribution, t.nn.Module):
        def __init__(self):
            super().__init__(validate_args=False)
            self.loc = t.nn.Parameter(t.zeros(1))

    assert [name for name, _ in Scale().named_parameters()] == ["factor"]
    assert [name for name, _ in Held().named_parameters()] == ["loc"]


@pytest.mark.parametrize("differentiable", [False, True])
def test_optimizers_copied_from_the_package_use_its_helpers(t, differentiable):
    helpers = importlib.import_module(f"{t.__name__}.optim.optimizer")

    class Scaled(t.optim.Optimizer):
        def __init__(self, params: helpers.ParamsT, lr=0.5):
            super().__init__(params, {"lr": lr, "differentiable": differentiable})

        @helpers._use_grad_for_differentiable
        def step(self, closure=None):
            for group in self.param_groups:
                params = group["params"]
                assert helpers._default_to_fused_or_foreach(params, False) == (False, False)
                for p in params:
                    count = self.state[p].setdefault("step", t.tensor(3.0))
                    count += 1
                    rate = group["lr"] / math.sqrt(helpers._get_value(count))
                    p.add_(p.grad, alpha=-rate)

    leaf = t.ones(2, requires_grad=True)
    w = leaf.clone() if differentiable else leaf
    w.grad = t.ones(2)
    optimizer = Scaled([leaf])
    optimizer.param_groups[0]["params"] = [w]
    optimizer.step()
    assert w.tolist() == [0.75, 0.75] and (w.grad_fn is not None) == differentiable
