"""Test PyTorch's private and former names that programs and tests use."""

import importlib
import weakref
from collections import OrderedDict
from unittest import mock

import pytest


def test_hooks_of_a_constant_do_not_run(t):
    x, z = t.ones(2), t.ones(2, requires_grad=True)
    a = x + x
    for tensor in (x, a):
        tensor._backward_hooks = OrderedDict()
        tensor._backward_hooks["test"] = None
    (a + z).sum().backward()
    assert z.grad.tolist() == [1.0, 1.0]


def test_hooks_that_are_set_run(t):
    x = t.ones(2, requires_grad=True)
    assert x._backward_hooks is None
    x._backward_hooks = OrderedDict()
    x.register_hook(lambda grad: 10 * grad)
    assert len(x._backward_hooks) == 1
    x.sum().backward()
    assert x.grad.tolist() == [10.0, 10.0]


def test_the_graph_is_not_deleted_by_name(t):
    x = t.ones(2, requires_grad=True)
    with pytest.raises(RuntimeError):
        del x._grad_fn
    with pytest.raises(RuntimeError):
        del x._backward_hooks


def test_nodes_are_instances_of_a_class_that_none_inherits(t):
    Node, functions = t.autograd.graph.Node, t._C._functions
    y = t.ones(2, requires_grad=True).exp()
    assert isinstance(y.grad_fn, Node) and issubclass(type(y.grad_fn), Node)
    assert Node not in type(y.grad_fn).mro()
    assert issubclass(functions.AccumulateGrad, Node)
    assert issubclass(functions.DelayedError, Node)
    assert issubclass(t.autograd.function.BackwardCFunction, Node) and issubclass(Node, Node)
    assert not any(isinstance(other, Node) for other in (None, 1, Node, functions.AccumulateGrad))

    class Double(t.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x * 2

        @staticmethod
        def backward(ctx, g):
            seen.append(isinstance(ctx, Node) and issubclass(type(ctx), Node))
            return g * 2

    seen = []
    Double.apply(y).sum().backward()
    assert seen == [True]


def test_tensors_tell_what_they_are_not(t):
    for x in (t.ones(2), t.eye(2).to_sparse()):
        assert not (x.is_nested or x.is_mkldnn or x.is_mps or x.is_xpu or x.is_quantized)


def test_a_setting_is_replaced_for_a_test(t):
    settings = importlib.import_module(f"{t.__name__}._dynamo").config
    with mock.patch.object(settings, "suppress_errors", True):
        assert settings.suppress_errors
    assert not settings.suppress_errors


def test_resize_is_a_function_of_the_graph(t):
    x = t.ones(4, requires_grad=True)
    Resize = importlib.import_module(f"{t.__name__}.autograd._functions").Resize
    y = Resize.apply(x, (2, 2))
    (y * t.arange(4.0).reshape(2, 2)).sum().backward()
    assert x.grad.tolist() == [0.0, 1.0, 2.0, 3.0]
    with pytest.raises(RuntimeError, match="requested resize to 3 "):
        Resize.apply(x, (3,))


def test_a_standard_basis_is_given_in_parts(t):
    parts = t.autograd.functional._construct_standard_basis_for(
        (t.ones(2), t.ones(1, dtype=t.float64)), (2, 1)
    )
    assert [part.tolist() for part in parts] == [[[1, 0], [0, 1], [0, 0]], [[0], [0], [1]]]
    assert parts[1].dtype is t.float64


def test_results_of_functional_derivatives_are_unpacked(t):
    functional = t.autograd.functional
    x = t.ones(2, requires_grad=True)
    (alone,) = functional._as_tuple(x)
    assert alone is x and functional._as_tuple([1, 2]) == (1, 2)
    several, pair = functional._as_tuple((x, x), "inputs", "f")
    assert several is True and len(pair) == 2
    with pytest.raises(TypeError, match="inputs given to f must be either a Tensor or a tuple"):
        functional._as_tuple(3, "inputs", "f")
    for create_graph in (False, True):
        (a,) = functional._grad_postprocess((x * 2,), create_graph)
        ((b,),) = functional._grad_postprocess(((x * 2,),), create_graph)
        assert a.requires_grad is b.requires_grad is create_graph
    unpacked = functional._tuple_postprocess
    assert unpacked((1,), False) == 1 and unpacked((1,), True) == (1,)
    assert unpacked(((1,),), (False, False)) == 1
    assert unpacked(((1, 2),), (False, True)) == (1, 2)
    assert unpacked(((1,), (2,)), (True, False)) == (1, 2)


def test_the_minimum_of_a_cubic_lies_within_bounds(t):
    cubic = importlib.import_module(f"{t.__name__}.optim.lbfgs")._cubic_interpolate
    # x ** 3 / 3 - x, whose minimum is at 1
    low, high = ([t.tensor(v) for v in at] for at in ((0.0, 0.0, -1.0), (3.0, 6.0, 8.0)))
    assert float(cubic(*low, *high)) == pytest.approx(1.0)
    assert float(cubic(*high, *low, bounds=(2.0, 3.0))) == 2.0


def test_lists_of_tensors_are_computed_one_by_one(t):
    xs = [t.ones(2, requires_grad=True), t.full((1,), 2.0)]
    made = t._foreach_add(t._foreach_mul(xs, [3.0, 4.0]), 1)
    assert [m.tolist() for m in made] == [[4.0, 4.0], [9.0]]
    t._foreach_neg_(made)
    assert [m.tolist() for m in made] == [[-4.0, -4.0], [-9.0]]
    assert [m.tolist() for m in t._foreach_add(xs, xs)] == [[2.0, 2.0], [4.0]]
    made[0].sum().backward()
    assert xs[0].grad.tolist() == [-3.0, -3.0]
    with pytest.raises(RuntimeError, match="must have the same number of tensors"):
        t._foreach_add(xs, xs[:1])
    assert not hasattr(t, "_foreach_nothing")
    assert [n.item() for n in t._foreach_norm(t._foreach_neg(xs), ord=1)] == [2.0, 2.0]
    xs = [x.detach() for x in xs]
    t._foreach_maximum_(xs, [t.tensor([0.5, 3.0]), t.tensor([5.0])])
    assert [x.tolist() for x in xs] == [[1.0, 3.0], [5.0]]
    t._foreach_mul_(xs, scalar=2.0)
    t._foreach_clamp_max_(xs, other=[t.tensor([1.5, 7.0]), t.tensor([9.0])])
    t._foreach_lerp_(xs, tensors1=[x + 1 for x in xs], weight=0.5)
    t._foreach_pow_(xs, exponent=2)
    assert [x.tolist() for x in xs] == [[4.0, 42.25], [90.25]]
    with pytest.raises(RuntimeError, match="result type Float can't be cast"):
        t._foreach_minimum_([t.tensor([1, 2])], [t.tensor([1.5, 1.5])])


def test_volatile_is_false_with_a_warning(t):
    with pytest.warns(UserWarning, match="volatile was removed"):
        assert not t.ones(1).volatile


def test_jacobians_of_one_call_are_deprecated(t):
    module = importlib.import_module(f"{t.__name__}.autograd.gradcheck")
    a, b = (t.rand(2, 2, dtype=t.float64, requires_grad=True) for _ in range(2))

    def fn(inputs):
        x, y = inputs
        return 2 * x + y, x + 2 * y

    with pytest.warns(FutureWarning, match="was part of PyTorch's private API"):
        found = module.get_numerical_jacobian(fn, (a, b), eps=1e-6)
    eye = t.eye(4, dtype=t.float64)
    assert t.allclose(found[0], 2 * eye) and t.allclose(found[1], eye)
    with pytest.warns(FutureWarning, match="was part of PyTorch's private API"):
        found = module.get_numerical_jacobian(fn, (a, b), target=b, eps=1e-6)
    assert len(found) == 1 and t.allclose(found[0], eye)
    with pytest.warns(FutureWarning, match="was part of PyTorch's private API"):
        found, *rest = module.get_analytical_jacobian((a, b), fn((a, b))[0])
    assert t.equal(found[0], 2 * eye) and t.equal(found[1], eye) and all(rest)
    with pytest.warns(FutureWarning), pytest.raises(ValueError, match=r"grad_out to be 1\.0"):
        module.get_numerical_jacobian(fn, (a, b), grad_out=2.0)


def test_gradients_that_differ_from_pass_to_pass_are_told(t):
    class Shaky(t.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x.clone()

        @staticmethod
        def backward(ctx, g):
            return g * (1 + t.rand_like(g))

    module = importlib.import_module(f"{t.__name__}.autograd.gradcheck")
    x = t.rand(2, dtype=t.float64, requires_grad=True)
    with pytest.warns(FutureWarning):
        _, reentrant, *_ = module.get_analytical_jacobian((x,), Shaky.apply(x))
    assert not reentrant


def views(t):
    return {
        "as_strided": lambda x: x.as_strided((2, 2), (1, 2), 1),
        "chunk": lambda x: x.chunk(2, -1)[1],
        "diagonal": lambda x: x.diagonal(),
        "narrow": lambda x: x.narrow(0, 1, 1),
        "permute": lambda x: x.permute(1, 0),
        "select": lambda x: x.select(1, 0),
        "split": lambda x: x.split(1)[1],
        "unbind": lambda x: x.unbind()[0],
        "unsqueeze": lambda x: x.unsqueeze(-2),
        "parts": lambda x: t.view_as_real(t.view_as_complex(x[:, :2].reshape(2, 2))),
        "chain": lambda x: x.chunk(2, -1)[0].transpose(0, 1).unsqueeze(-1),
    }


@pytest.mark.parametrize("name", [*views(None)])
def test_a_view_is_taken_of_another_base(t, name):
    with t.autograd._force_original_view_tracking(True):
        x = t.arange(8.0).reshape(2, 4)
        x = x * 1
        view = views(t)[name](x)
        if not view._is_view():
            return
        for function in (view._view_func, view._view_func_unsafe):
            base = (view._base * 10).requires_grad_()
            other = function(base)
            assert other._base is base
            assert other.tolist() == (view * 10).tolist()
            assert other.stride() == view.stride()
            assert other.storage_offset() == view.storage_offset()
            other.sum().backward()
            assert base.grad.sum().item() == view.numel()


def test_only_views_of_alike_bases_are_taken_again(t):
    x = t.ones(2, 3)
    with t.autograd._force_original_view_tracking(True):
        view = x.t()
    assert x._view_func(x) is None
    assert x._rev_view_func_unsafe(x) is None
    assert view._view_func(t.ones(3, 2)) is None
    assert view._view_func_unsafe(t.ones(4, 5)).shape == (5, 4)
    with pytest.raises(TypeError, match=r"argument 'new_base' \(position 1\) must be Tensor"):
        view._view_func(3)


def test_places_of_a_view_may_be_visited(t):
    x = t.arange(60.0).reshape(3, 4, 5)
    y = x * 2
    with t.autograd._force_original_view_tracking(True):
        base = x * 1
        one, part = base.select(1, 2), base[1:2]
    assert one._view_func(y, symint_visitor_fn=lambda i: i + 1).tolist() == y[:, 3].tolist()
    assert one._view_func(y).tolist() == y[:, 2].tolist()
    seen = []
    part._view_func(y, symint_visitor_fn=lambda i: seen.append(i) or i)
    assert seen == [1, 2, 1]


def test_a_base_is_made_of_another_view(t):
    with t.autograd._force_original_view_tracking(True):
        base = t.arange(8.0).reshape(2, 4) * 1
        view = base.transpose(0, 1)
        again = view.detach()
        made = view._rev_view_func_unsafe(again)
    assert made.tolist() == base.tolist()
    assert made.stride() == base.stride()
    assert made._is_view() and made._base is again


def test_distinct_elements_have_inner_functions(t):
    x = t.tensor([3.0, 1.0, 3.0], requires_grad=True)
    values, inverse = t._unique(x, sorted=True, return_inverse=True)
    assert (values.tolist(), inverse.tolist()) == ([1.0, 3.0], [1, 0, 1])
    assert values.requires_grad and not inverse.requires_grad
    assert t._unique(x)[1].shape == (0,)
    values, inverse, counts = t._unique2(x, sorted=True, return_counts=True)
    assert (inverse.tolist(), counts.tolist()) == ([], [1, 2])
    values, inverse, counts = t._VF.unique_dim(x.reshape(1, 3), 1)
    assert values.tolist() == [[1.0, 3.0]]
    assert (inverse.tolist(), counts.tolist()) == ([1, 0, 1], [1, 2])


def test_the_former_vmap_maps(t):
    x = t.arange(6.0).reshape(2, 3)
    mapped = t._vmap_internals._vmap(lambda row: (row.sum(), row * 2), (0,), (0, 0))(x)
    assert [one.tolist() for one in mapped] == [[3.0, 12.0], (x * 2).tolist()]
    one, none = t._vmap_internals._vmap(
        lambda row: (row.sum(), None), 0, 0, allow_none_pass_through=True
    )(x)
    assert one.tolist() == [3.0, 12.0] and none is None
    with pytest.warns(FutureWarning, match=r"Please use `torch\.vmap`"):
        assert t._vmap_internals.vmap(lambda row: row * 2)(x).tolist() == (x * 2).tolist()


def test_warnings_of_the_backward_pass_come_through(t):
    x = t.zeros((), requires_grad=True)
    y = t._C._nn._test_warn_in_autograd(x)
    assert y.grad_fn.name() == "TestWarnInAutogradBackward0"
    with pytest.warns(UserWarning, match="Warn from backward"):
        y.backward()
    assert x.grad.item() == 1.0


def test_tensors_may_be_noted_as_cached(t):
    core, x = t._C, t.ones(2)
    with pytest.raises(RuntimeError, match="cached_tensorimpls_enabled"):
        core._add_cached_tensor(x)
    core._set_cached_tensors_enabled(True)
    try:
        core._add_cached_tensor(x)
        core._add_cached_tensor(x)
        assert core._is_cached_tensor(x)
        assert not core._is_cached_tensor(t.ones(2))
        core._remove_cached_tensor(x)
        assert not core._is_cached_tensor(x)
    finally:
        core._set_cached_tensors_enabled(False)


def test_types_without_numbers_can_be_named(t):
    kinds = [t.complex32, t.qint8, t.quint8, t.float8_e4m3fn, t.uint4]
    assert all(isinstance(kind, t.dtype) for kind in kinds)
    assert [str(kind) for kind in kinds[:2]] == ["torch.complex32", "torch.qint8"]
    assert t.chalf is t.complex32 and t.complex32.is_complex
    assert t.complex32.itemsize == 4 and not t.qint8.is_floating_point
    assert t.float8_e5m2.is_floating_point and t.ones(1).dtype != t.float8_e5m2


def test_flat_tensors_are_taken_apart_again(t):
    parts = [t.arange(3.0), t.ones(2, 1)]
    flat = t._utils._flatten_dense_tensors(parts)
    assert flat.tolist() == [0, 1, 2, 1, 1]
    again = t._utils._unflatten_dense_tensors(flat, parts)
    assert [one.shape for one in again] == [one.shape for one in parts]
    assert t._utils._element_size(t.int16) == 2


def test_reductions_have_numbers(t):
    _reduction = importlib.import_module(f"{t.__name__}.nn._reduction")

    assert _reduction.get_enum("mean") == 1
    assert _reduction.legacy_get_string(False, True, emit_warning=False) == "sum"


def test_the_build_and_the_future_say_how_it_is(t):
    assert isinstance(t.__config__.show(), str) and isinstance(t.__config__.parallel_info(), str)
    assert not t.__future__.get_overwrite_module_params_on_conversion()
    t.__future__.set_overwrite_module_params_on_conversion(False)


def test_modules_swap_their_parameters_on_conversion(t):
    module = t.nn.Linear(2, 1)
    weight, place = module.weight, module.weight._cdata
    weight.grad = grad = t.ones(1, 2)
    t.__future__.set_swap_module_params_on_conversion(True)
    try:
        module.to(t.float64)
    finally:
        t.__future__.set_swap_module_params_on_conversion(False)
    assert module.weight is weight and weight._cdata != place and weight.dtype == t.float64
    assert weight.grad is grad and grad.dtype == t.float64 and weight.requires_grad
    module(t.ones(1, 2, dtype=t.float64)).sum().backward()
    assert grad.tolist() == [[2.0, 2.0]]


@pytest.mark.parametrize("requires_grad", [False, True])
def test_a_graph_does_not_take_one_tensor_for_another(t, requires_grad):
    x, other = t.ones(3, requires_grad=True), t.zeros(3, requires_grad=requires_grad)
    y, z = (x * 2).sum(), x.sin().sum()
    with pytest.raises(RuntimeError, match=r"Cannot swap|Expected use_count"):
        t.utils.swap_tensors(x, other)
    z.backward()
    del z
    t.utils.swap_tensors(x, other)
    with pytest.raises(RuntimeError, match="AccumulateGrad node that was poisoned by swap_tensors"):
        y.backward()
    assert other.grad.equal(t.ones(3).cos()) and x.grad is None


def test_tensors_are_swapped_with_all_that_they_have(t):
    a, b = t.zeros(2), t.nn.Parameter(t.ones(3))
    b.mark = 1
    one, two = a._cdata, b._cdata
    assert one != two == b._cdata
    t.utils.swap_tensors(a, b)
    assert (a._cdata, b._cdata) == (two, one)
    assert type(a) is t.nn.Parameter and type(b) is t.Tensor
    assert a.mark == 1 and not hasattr(b, "mark")
    (a * 2).sum().backward()
    assert a.grad.tolist() == [2, 2, 2] and b.grad is None and b.tolist() == [0, 0]
    held = weakref.ref(a)
    with pytest.raises(RuntimeError, match="Cannot swap t1 because it has weakref"):
        t.utils.swap_tensors(a, b)
    assert held() is a
    whole = t.zeros(3, requires_grad=True)
    view = whole[1:]
    with pytest.raises(RuntimeError):
        t.utils.swap_tensors(whole, b)
    assert view._base is whole


def test_a_tensor_that_was_detached_can_be_swapped(t):
    a, b = t.zeros(2, requires_grad=True), t.ones(2)
    before = a.detach(), a.data, a.sum().item()
    t.utils.swap_tensors(a, b)
    assert a.tolist() == [1, 1] and b.tolist() == before[0].tolist() == [0, 0]


def test_a_class_decides_what_replaces_its_tensors_when_a_state_is_loaded(t):
    class Counted(t.Tensor):
        calls = 0

        @classmethod
        def __torch_function__(cls, func, types, args=(), kwargs=None):
            if func is not t.Tensor.module_load:
                return super().__torch_function__(func, types, args, kwargs)
            Counted.calls += 1
            held, value = args
            return value if keep else (t.full(held.shape, 7.0) + 0 * value).as_subclass(t.Tensor)

    a, b = t.zeros(2), t.ones(2)
    assert a.module_load(b).tolist() == a.tolist() == [1, 1]
    assert a.module_load(b, assign=True) is not b
    model, keep = t.nn.Linear(2, 1), False
    weight, state = model.weight, {"weight": t.ones(1, 2), "bias": t.zeros(1)}
    state["weight"] = state["weight"].as_subclass(Counted)
    t.__future__.set_swap_module_params_on_conversion(True)
    try:
        model.load_state_dict(state)
        keep = True
        with pytest.raises(RuntimeError, match="returned one of self or other"):
            model.load_state_dict(state)
    finally:
        t.__future__.set_swap_module_params_on_conversion(False)
    assert model.weight is weight and weight.tolist() == [[7, 7]] and weight.requires_grad
    assert Counted.calls == 2


def test_modules_may_keep_their_parameters_when_they_are_assigned(t):
    model = t.nn.Linear(2, 1)
    weight, bias = model.weight, model.bias
    state = {"weight": t.ones(1, 2), "bias": t.zeros(1)}
    t.__future__.set_swap_module_params_on_conversion(True)
    try:
        with pytest.raises(RuntimeError, match="Missing key"):
            model.load_state_dict({"weight": t.zeros(1, 2)}, assign=True)
        model.load_state_dict(state, assign=True)
    finally:
        t.__future__.set_swap_module_params_on_conversion(False)
    assert model.weight is weight and model.bias is bias and weight.tolist() == [[1, 1]]
    assert weight.requires_grad and not state["weight"].requires_grad


def test_a_subclass_may_give_plain_tensors(t):
    class Plain(t.Tensor):
        __torch_function__ = t._C._disabled_torch_function_impl

    x = t.ones(2).as_subclass(Plain)
    assert type(x) is Plain and type(x + 1) is type(t.exp(x)) is t.Tensor


def test_a_library_without_its_compiled_operations_is_described(t):
    with pytest.raises(OSError):
        t.ops.load_library("operations.so")
    keys = t._C.DispatchKeySet(t._C.DispatchKey.AutocastCPU)
    keys |= t._C.DispatchKeySet(t._C.DispatchKey.AutocastXPU)
    with t._C._ExcludeDispatchKeyGuard(keys):
        assert t.ones(2).sum() == 2


def test_what_packages_list_of_exporters_and_machines_is_there(t):
    for path in ("onnx.symbolic_helper", "jit.annotations", "_dynamo.utils", "xpu"):
        importlib.import_module(f"{t.__name__}.{path}")
    assert t.jit.annotations.BroadcastingList2[int] is None
    assert not t.xpu.is_available() and not t._dynamo.utils.is_compile_supported("mps")
    assert t._C._nn._parse_to("cpu", t.float64)[:2] == (t.device("cpu"), t.float64)
    assert t._C._nn._parse_to("meta")[0] == t.device("meta")
    padding = t.nn.modules.conv._ConvTransposeNd._output_padding
    assert padding(None, t.ones(1, 2, 4), [10], [2], [0], [3], 1, dilation=[1]) == [1]
    assert t.cuda.set_rng_state_all([]) is None


def test_placements_are_values(t):
    placed = importlib.import_module(f"{t.__name__}.distributed.tensor.placement_types")
    assert placed.Shard(1) == placed.Shard(dim=1) != placed.Replicate()
    assert placed.Shard(1).is_shard() and not placed.Shard(1).is_shard(0)
    assert placed.Partial().is_partial() and placed.Replicate().is_replicate()


def test_a_pass_over_a_loader_has_a_length(t):
    loader = t.utils.data.DataLoader(list(range(5)), batch_size=2)
    batches = iter(loader)
    assert isinstance(batches, t.utils.data.dataloader._BaseDataLoaderIter) and len(batches) == 3
    assert [batch.tolist() for batch in batches] == [[0, 1], [2, 3], [4]]


def test_the_fan_of_a_mode_is_counted(t):
    assert t.nn.init._calculate_correct_fan(t.ones(2, 3, 4), "fan_out") == 8


def test_the_numbers_of_lists_come_by_place_in_a_tensor_or_by_name(t):
    ones, twos = [t.ones(2), t.ones(1)], [t.full((2,), 2.0), t.full((1,), 2.0)]
    made = [
        t._foreach_addcmul(ones, twos, twos, [1.0, 2.0]),
        t._foreach_addcmul(ones, twos, twos, t.tensor([1.0, 2.0])),
        t._foreach_addcmul(ones, twos, twos, scalars=[1.0, 2.0]),
    ]
    assert all([one.tolist() for one in each] == [[5.0, 5.0], [9.0]] for each in made)
    assert [one.tolist() for one in t._foreach_addcdiv(ones, twos, twos, 3)] == [[4.0, 4.0], [4.0]]
    assert t._foreach_pow(3.0, twos)[0].tolist() == [9.0, 9.0]
    assert t._foreach_norm(twos, 1, t.float64)[0].dtype == t.float64
    assert t._foreach_add_(ones, 1) is ones and ones[1].item() == 2.0
    for wrong, message in [
        (lambda: t._foreach_add(ones, [1.0]), "same number of elements as scalar list"),
        (lambda: t._foreach_add(ones, twos[:1]), "got 2 and 1"),
        (lambda: t._foreach_add(ones, t.ones(2)), "expected to be 0 dim"),
        (lambda: t._foreach_addcmul(ones, twos, twos, t.tensor(1.0)), "dimension 1. Got 0"),
    ]:
        with pytest.raises(RuntimeError, match=message):
            wrong()


def test_settings_without_effect_are_kept(t):
    functorch = t._C._functorch
    t._C._debug_only_display_vmap_fallback_warnings(True)
    functorch._set_vmap_fallback_enabled(False)
    try:
        assert t._C._debug_only_are_vmap_fallback_warnings_enabled() is True
        assert functorch._is_vmap_fallback_enabled() is False
    finally:
        t._C._debug_only_display_vmap_fallback_warnings(False)
        functorch._set_vmap_fallback_enabled(True)
    assert functorch._is_vmap_fallback_enabled() is True
    assert t._nnpack_available() in (True, False) and t.version.xpu is None


def test_checks_of_sparse_indices_can_be_asked_for(t):
    setting = t.sparse.check_sparse_tensor_invariants
    assert not setting.is_enabled()
    with setting():
        with setting(enable=False):
            assert not setting.is_enabled()
        assert setting.is_enabled()
    assert setting(True)(setting.is_enabled)() is True
    setting.enable()
    assert setting.is_enabled()
    setting.disable()
    assert not setting.is_enabled()


def test_storage_is_told_apart_and_shared(t):
    x = t.ones(3)
    assert isinstance(x.untyped_storage(), t.StorageBase)
    assert t._C._is_alias_of(x, x[1:])
    assert not t._C._is_alias_of(x, x.clone())


def test_tables_of_hooks_do_not_need_getattr(t):
    class Fails(t.nn.Module):
        def __getattr__(self, name):
            raise AttributeError(name)

    module = Fails()
    assert not module._forward_hooks
    assert not module._forward_hooks_with_kwargs
    seen = []
    handle = module.register_forward_hook(lambda *_: seen.append(1))
    assert len(module._forward_hooks) == 1
    handle.remove()
    assert not hasattr(t.nn.Module.__new__(t.nn.Module), "_forward_hooks")


def test_named_results_are_struct_sequences(t):
    pytree = importlib.import_module(f"{t.__name__}.utils._pytree")
    assert pytree.is_structseq_instance(t.ones(2, 2).max(0))
    assert not pytree.is_structseq_instance((1, 2))


def test_a_context_manager_of_ones_own_decorates(t):
    class Loud(importlib.import_module(f"{t.__name__}.utils._contextlib")._DecoratorContextManager):
        def __init__(self):
            super().__init__()
            self.entered = 0

        def __enter__(self):
            heard.append("in")

        def __exit__(self, *_):
            heard.append("out")

    heard = []

    @Loud()
    def speak():
        heard.append("word")

    speak()
    assert heard == ["in", "word", "out"]


@pytest.mark.parametrize("workers", [0, 2])
def test_batches_are_fetched_for_objects_that_are_like_a_loader(t, workers):
    data = importlib.import_module(f"{t.__name__}.utils.data.dataloader")
    worker_info = importlib.import_module(f"{t.__name__}.utils.data").get_worker_info

    class Share:
        number, count = 0, 1

    class Source:
        _IterableDataset_len_called = multiprocessing_context = generator = None
        _auto_collation = drop_last = pin_memory = persistent_workers = False
        _dataset_kind = data._DatasetKind.Iterable
        _index_sampler = range(9)
        num_workers, prefetch_factor, timeout, in_order, pin_memory_device = workers, 2, 0, True, ""
        _get_shared_seed = collate_fn = staticmethod(lambda x: x)

        def __init__(self):
            self.dataset, self.share = self, Share()

        def __iter__(self):
            share = self.share
            return (i for i in range(5) if i % share.count == share.number)

        @staticmethod
        def worker_init_fn(_):
            info = worker_info()
            info.dataset.share.number, info.dataset.share.count = info.id, info.num_workers

    kinds = data._SingleProcessDataLoaderIter, data._MultiProcessingDataLoaderIter
    source = Source()
    assert list(kinds[workers > 0](source)) == [0, 1, 2, 3, 4]
    assert source.share.count == 1


def test_no_mode_of_a_compiler_is_active(t):
    for module, name in (
        ("_guards", "active_fake_mode"),
        ("_guards", "detect_fake_mode"),
        ("fx.experimental.proxy_tensor", "get_proxy_mode"),
    ):
        assert getattr(importlib.import_module(f"{t.__name__}.{module}"), name)() is None


def test_a_function_may_ask_whether_all_leaves_get_gradients(t):
    valid = t.autograd._is_checkpoint_valid
    seen = []

    class Asks(t.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x.clone()

        @staticmethod
        def backward(ctx, g):
            seen.append(valid())
            return g

    x = t.ones(2, requires_grad=True)
    Asks.apply(x).sum().backward()
    t.autograd.grad(Asks.apply(x).sum(), x)
    Asks.apply(x).sum().backward(inputs=x)
    assert valid() and seen == [True, False, False]


def test_values_are_unwrapped_from_optional_types(t):
    assert t.jit._unwrap_optional(0) == 0
    with pytest.raises(AssertionError, match="Unwrapping null optional"):
        t.jit._unwrap_optional(None)


def test_the_core_says_whether_any_device_casts(t):
    asked = t._C._is_any_autocast_enabled
    assert not asked()
    with t.autocast("cpu", dtype=t.bfloat16):
        assert asked()


def test_the_basic_mode_runs_what_it_sees(t):
    class Doubles(t.overrides.BaseTorchFunctionMode):
        def __torch_function__(self, func, types, args=(), kwargs=None):
            return 2 * super().__torch_function__(func, types, args, kwargs)

    with t.overrides.BaseTorchFunctionMode():
        x = t.full((2,), fill_value=3.0)
        with Doubles():
            y = x.exp()
    assert x.tolist() == [3.0, 3.0] and y.tolist() == (2 * x.exp()).tolist()
    assert t._C._is_torch_function_enabled()
    with t._C.DisableTorchFunction():
        assert not t._C._is_torch_function_enabled()


def test_modules_run_on_other_parameters_under_a_former_name(t):
    call = importlib.import_module(f"{t.__name__}.nn.utils.stateless")._functional_call
    layer = t.nn.Linear(2, 1)
    values = {"weight": t.ones(1, 2), "bias": t.zeros(1)}
    assert call(layer, values, t.ones(2)).tolist() == [2.0]


def test_what_acts_like_a_tensor_is_broadcast(t):
    class Like:
        @classmethod
        def __torch_function__(cls, func, types, args=(), kwargs=None):
            return [func.__name__, *args]

    like = Like()
    made = t.distributions.utils.broadcast_all(like, 2.0)
    assert made[0] == "broadcast_tensors" and made[1] is like and made[2].dtype == t.float32
