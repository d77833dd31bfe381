"""Test `Module`: contents, traversal, printing and copying."""

import copy
import pickle

import pytest

import wengert as wg
from wengert import nn


class Scale(nn.Module):
    def __init__(self, value=2.0):
        super().__init__()
        self.weight = nn.Parameter(wg.full((2,), value))
        self.register_buffer("count", wg.zeros(2))
        self.register_buffer("hidden", wg.ones(1), persistent=False)
        self.note = "plain"

    def forward(self, x):
        return x * self.weight

    def extra_repr(self):
        return "of two"


class Pair(nn.Module):
    def __init__(self):
        super().__init__()
        self.first = Scale()
        self.second = Scale(3.0)
        self.again = self.first

    def forward(self, x):
        return self.second(self.first(x))


# -- attributes ------------------------------------------------------------------------------------


def test_parameters_buffers_and_modules_are_found_by_the_paths_that_lead_to_them():
    pair = Pair()
    assert [name for name, _ in pair.named_parameters()] == ["first.weight", "second.weight"]
    assert [name for name, _ in pair.named_modules()] == ["", "first", "second"]
    assert [name for name, _ in pair.named_buffers(prefix="p", remove_duplicate=False)] == [
        f"p.{part}.{name}" for part in ("first", "second", "again") for name in ("count", "hidden")
    ]
    assert list(pair.named_children()) == [("first", pair.first), ("second", pair.second)]
    assert pair.get_submodule("second") is pair.second
    assert pair.get_parameter("again.weight") is pair.first.weight
    assert pair.get_buffer("second.count") is pair.second.count


def test_an_attribute_that_becomes_of_another_kind_leaves_the_table_of_the_old_one():
    module = Scale()
    module.count = nn.Parameter(wg.ones(1))
    assert "count" not in module._buffers and "count" in module._parameters
    del module.count
    module.count = nn.Module()
    assert not hasattr(Scale, "count") and list(module.children()) == [module.count]
    del module.count
    module.count = 3
    assert module.__dict__["count"] == 3 and not list(module.children())


def test_what_is_refused_changes_nothing():
    module = Pair()
    before = copy.copy(module.__dict__)
    tables = [dict(before[name]) for name in ("_parameters", "_buffers", "_modules")]
    refused = [
        lambda: setattr(module, "first", 3),
        lambda: module.register_buffer("first", None),
        lambda: module.register_parameter("p", wg.ones(1)),
        lambda: module.register_parameter("p", nn.Parameter(wg.ones(1)) * 2),
        lambda: module.add_module("a.b", nn.Module()),
        lambda: module.set_submodule("first.note", nn.Module()),
        lambda: module.train("yes"),
        lambda: module.to(wg.int64),
        lambda: module.to("cuda"),
        lambda: module.cuda(),
    ]
    for action in refused:
        with pytest.raises((TypeError, KeyError, ValueError, AttributeError, RuntimeError)):
            action()
    assert module.__dict__ == before
    assert [before[name] for name in ("_parameters", "_buffers", "_modules")] == tables


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: nn.Parameter(wg.ones(1)), "cannot assign parameters before"),
        (lambda: nn.Module(), "cannot assign module before"),
        (lambda: nn.Buffer(wg.ones(1)), "cannot assign buffer before"),
    ],
)
def test_a_module_without_its_init_says_what_to_call(make, message):
    class Early(nn.Module):
        def __init__(self):
            self.part = make()

    with pytest.raises(AttributeError, match=rf"{message}.*super\(\).__init__\(\)"):
        Early()


def test_a_buffer_is_held_by_assignment_and_says_whether_it_persists():
    module = nn.Module()
    module.kept = nn.Buffer(wg.ones(2))
    module.lost = nn.Buffer(wg.ones(2), persistent=False)
    assert [name for name, _ in module.named_buffers()] == ["kept", "lost"]
    assert list(module.state_dict()) == ["kept"]
    assert isinstance(module.kept, nn.Buffer) and not isinstance(wg.ones(1), nn.Buffer)
    assert not isinstance(nn.Parameter(wg.ones(1)), nn.Buffer)
    with pytest.raises(TypeError, match=r"data must be a Tensor, not list"):
        nn.Buffer([1.0])


def test_a_register_buffer_that_knows_no_persistence_still_takes_persistent_ones():
    class Old(nn.Module):
        def register_buffer(self, name, tensor):
            super().register_buffer(name, tensor)

    old = Old()
    old.a = nn.Buffer(wg.ones(1))
    assert list(old.state_dict()) == ["a"]
    with pytest.raises(RuntimeError, match="Registering a non-persistent buffer"):
        old.b = nn.Buffer(wg.ones(1), persistent=False)


def test_names_that_are_held_are_listed():
    assert {"first", "forward", "training"} <= set(dir(Pair()))
    assert "0" not in dir(nn.Sequential(nn.Module()))


# -- all of it -------------------------------------------------------------------------------------


def test_conversions_keep_parameters_the_objects_that_they_are():
    module = Scale()
    module.register_buffer("steps", wg.tensor(3))
    module(wg.ones(2)).sum().backward()
    weight = module.weight
    for convert, dtype in [
        (lambda: module.double(), wg.float64),
        (lambda: module.half(), wg.float16),
        (lambda: module.to(wg.float64), wg.float64),
        (lambda: module.to("cpu", wg.float32), wg.float32),
        (lambda: module.to(wg.ones(1, dtype=wg.float64)), wg.float64),
        (lambda: module.to(device="cpu", dtype="float32"), wg.float32),
        (lambda: module.type(wg.float64), wg.float64),
        (lambda: module.float(), wg.float32),
    ]:
        assert convert() is module and module.weight is weight
        assert {weight.dtype, weight.grad.dtype, module.count.dtype} == {dtype}
        assert weight.requires_grad and weight.is_leaf
    assert module.steps.dtype == wg.float32
    assert weight.grad.tolist() == [1.0, 1.0]


def test_a_sparse_gradient_is_converted_with_its_parameter():
    table = nn.Embedding(4, 3, sparse=True)
    table(wg.tensor([1, 2])).sum().backward()
    for dtype in (wg.float64, wg.float16, wg.float32):
        grad = table.to(dtype).weight.grad
        assert grad.is_sparse and grad.dtype == table.weight.dtype == dtype
    assert table.double().half().weight.grad.to_dense()[:, 0].tolist() == [0, 1, 1, 0]


def test_integers_stay_integers_where_a_floating_dtype_is_asked_for():
    module = nn.Module()
    module.register_buffer("steps", wg.tensor(3))
    steps = module.to(wg.float64).double().half().steps
    assert steps.dtype == wg.int64 and steps.item() == 3


def test_a_complex_module_comes_with_a_warning():
    with pytest.warns(UserWarning, match="Complex modules are a new feature"):
        assert Scale().to(wg.complex64).weight.is_complex()


def test_parameters_that_share_memory_before_a_conversion_are_one_parameter_after():
    pair = Pair()
    pair.second.weight = pair.first.weight
    pair.double()
    assert pair.second.weight is pair.first.weight
    assert len(list(pair.parameters())) == 1


def test_modes_reach_every_module_and_evaluation_is_one():
    pair = Pair()
    assert [m.training for m in pair.eval().modules()] == [False] * 3
    assert [m.training for m in pair.train().modules()] == [True] * 3


def test_gradients_are_taken_away_or_filled_with_zeros():
    pair = Pair()
    pair(wg.ones(2)).sum().backward()
    grads = [p.grad for p in pair.parameters()]
    pair.zero_grad(set_to_none=False)
    assert all(p.grad is g for p, g in zip(pair.parameters(), grads, strict=True))
    assert [g.tolist() for g in grads] == [[0.0, 0.0]] * 2
    pair.zero_grad()
    assert [p.grad for p in pair.parameters()] == [None] * 2
    assert not any(p.requires_grad for p in pair.requires_grad_(False).parameters())


def test_memory_without_values_has_the_shapes_and_dtypes_of_before():
    module = Scale().to_empty(device="cpu")
    weight, before = module.weight, Scale().weight
    assert (weight.shape, weight.dtype) == (before.shape, before.dtype)
    assert weight.requires_grad and isinstance(weight, wg.nn.Parameter)


def test_a_module_is_printed_with_those_within():
    assert repr(Pair()) == (
        "Pair(\n  (first): Scale(of two)\n  (second): Scale(of two)\n  (again): Scale(of two)\n)"
    )
    assert repr(nn.Module()) == "Module()"

    class Lines(Pair):
        def extra_repr(self):
            return "one\ntwo"

    assert repr(nn.Sequential(Lines())).splitlines()[1:4] == ["  (0): Lines(", "    one", "    two"]


# -- calls -----------------------------------------------------------------------------------------


def test_a_call_gives_what_forward_gives_with_all_its_arguments():
    class Sum(nn.Module):
        def forward(self, a, b=1, *, c=0):
            return a + b + c

    assert (Sum()(1), Sum()(1, 2), Sum()(1, 2, c=3), Sum()(1, b=5)) == (2, 3, 6, 6)


def test_a_module_without_forward_says_so():
    with pytest.raises(
        NotImplementedError, match=r'Module \[Module\] is missing the required "for'
    ):
        nn.Module()(3)


def test_arguments_that_init_does_not_take_are_named():
    with pytest.raises(TypeError, match=r"unexpected keyword argument 'size'"):
        Scale.__mro__[1](size=3)
    with pytest.raises(TypeError, match=r"takes 1 positional argument but 3 were given"):
        nn.Module(1, 2)
    # the class that was called, where a base has its `__init__`
    with pytest.raises(TypeError, match=r"^Conv2d.__init__\(\) missing .* 'kernel_size'"):
        nn.Conv2d(3, 4)


def test_a_loss_that_is_made_with_the_tensors_says_to_call_it():
    with pytest.raises(RuntimeError, match=r"^Boolean value of .* MSELoss\(\)\(input, target"):
        nn.MSELoss(wg.ones(3), wg.ones(3))
    with pytest.raises(RuntimeError, match=r"CrossEntropyLoss\(\)\(input, target\)"):
        nn.CrossEntropyLoss(wg.ones(3, 4), wg.tensor([0, 1, 2]))


def test_further_bases_are_initialised_where_a_class_asks_for_it():
    class Named:
        def __init__(self, name):
            self.name = name

    class Both(nn.Module, Named):
        call_super_init = True

    assert Both("x").name == "x"


def test_an_error_in_forward_leaves_the_module_as_it_was():
    class Failing(Pair):
        def forward(self, x):
            super().forward(x)
            raise ValueError("no")

    failing = Failing()
    before = {name: (id(t), t._version) for name, t in failing.state_dict(keep_vars=True).items()}
    with pytest.raises(ValueError, match="no"):
        failing(wg.ones(2))
    with pytest.raises(ValueError, match="no"):
        wg.func.functional_call(failing, {"first.weight": wg.zeros(2)}, wg.ones(2))
    after = {name: (id(t), t._version) for name, t in failing.state_dict(keep_vars=True).items()}
    assert after == before


# -- copies ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("twin_of", [copy.deepcopy, lambda m: pickle.loads(pickle.dumps(m))])
def test_a_copy_has_tensors_of_its_own_and_the_same_ties(twin_of):
    pair = Pair()
    pair.second.weight = pair.first.weight
    twin = twin_of(pair)
    with wg.no_grad():
        twin.first.weight.fill_(7.0)
    assert twin.again is twin.first and twin.second.weight is twin.first.weight
    assert pair.first.weight.tolist() == [2.0, 2.0]
    assert isinstance(twin.first.weight, nn.Parameter)
    assert sorted(twin.state_dict()) == sorted(pair.state_dict())


def test_hooks_of_a_copy_are_its_own():
    scale, seen = Scale(), []
    handle = scale.register_forward_hook(lambda *_: seen.append("called"))
    twin = copy.deepcopy(scale)
    other = twin.register_forward_hook(lambda *_: seen.append("other"))
    handle.remove()
    scale(wg.ones(2))
    assert seen == []
    twin(wg.ones(2))
    other.remove()
    twin(wg.ones(2))
    assert seen == ["called", "other", "called"]


def test_a_pickle_takes_hooks_along_and_leaves_compiled_code_behind():
    scale = Scale()
    scale.register_forward_hook(double_output)
    scale.compile(backend="numpy")
    twin = pickle.loads(pickle.dumps(scale))
    assert twin._compiled_call_impl is None
    assert twin(wg.ones(2)).tolist() == scale(wg.ones(2)).tolist() == [4.0, 4.0]


def double_output(module, args, output):
    return 2 * output


# -- modules that wait for their first input -------------------------------------------------------


def test_a_lazy_layer_has_its_shape_after_the_first_call():
    lazy = nn.LazyLinear(3)
    assert repr(lazy.weight) == "<UninitializedParameter>" and lazy.has_uninitialized_params()
    lazy(wg.ones(2, 4))
    assert type(lazy) is nn.Linear and lazy.weight.shape == (3, 4)
    assert not lazy._is_hooked


@pytest.mark.parametrize(
    "use",
    [
        lambda w: w + 1,
        lambda w: 1 * w,
        lambda w: wg.ones(2, 3) @ w,
        lambda w: w.sum(),
        lambda w: wg.exp(w),
        lambda w: w[0],
        lambda w: len(w),
        lambda w: nn.functional.linear(wg.ones(2, 3), w),
        lambda w: w.copy_(wg.ones(1)),
    ],
)
def test_whoever_computes_with_a_parameter_without_a_shape_hears_of_it(use):
    with pytest.raises(ValueError, match="Attempted to use an uninitialized parameter or buffer"):
        use(nn.UninitializedParameter())


def test_the_shape_of_a_parameter_without_one_is_an_error():
    with pytest.raises(RuntimeError, match="Can't access the shape of an uninitialized parameter"):
        nn.UninitializedBuffer().shape  # noqa: B018


def test_a_parameter_without_a_shape_has_no_memory_to_share():
    with pytest.raises(RuntimeError, match="Can't share memory on an uninitialized parameter"):
        nn.LazyLinear(3).share_memory()


def test_a_parameter_without_a_shape_keeps_what_is_known_of_it():
    weight = nn.UninitializedParameter(requires_grad=False, dtype=wg.float64)
    for twin in (copy.deepcopy(weight), pickle.loads(pickle.dumps(weight))):
        twin.materialize((2,))
        assert type(twin) is nn.Parameter and twin.dtype == wg.float64 and not twin.requires_grad
    lazy = nn.LazyLinear(2).double()
    assert repr(lazy.weight) == "<UninitializedParameter>"
    assert lazy(wg.ones(1, 3).double()).dtype == wg.float64


def test_state_tells_a_lazy_layer_its_shapes_and_a_lazy_state_tells_nothing():
    lazy, other = nn.LazyLinear(3), nn.LazyLinear(3)
    other.load_state_dict(lazy.state_dict())
    assert other.has_uninitialized_params()
    lazy.load_state_dict(nn.Linear(4, 3).state_dict())
    assert lazy.weight.shape == (3, 4)
    with pytest.raises(RuntimeError, match="Can't access the shape of an uninitialized"):
        nn.Linear(4, 3).load_state_dict(other.state_dict())


def test_a_first_call_that_leaves_a_shape_open_is_an_error():
    class Idle(nn.modules.lazy.LazyModuleMixin, nn.Module):
        def __init__(self):
            super().__init__()
            self.weight = nn.UninitializedParameter()

        def initialize_parameters(self, x):
            pass

        def forward(self, x):
            return x

    with pytest.raises(RuntimeError, match="module Idle has not been fully initialized"):
        Idle()(1)


# -- names -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("space", [nn, nn.utils, nn.init])
def test_every_name_that_is_listed_is_there(space):
    assert [name for name in dir(space) if not hasattr(space, name)] == []
    with pytest.raises(AttributeError, match="has no attribute 'absent'"):
        space.absent  # noqa: B018


def test_modules_are_found_by_their_files_and_by_their_names():
    assert nn.modules.container.Sequential is nn.modules.Sequential is nn.Sequential
    assert nn.parameter.UninitializedParameter is nn.UninitializedParameter
    for space in (nn.modules, nn.parameter):
        with pytest.raises(AttributeError, match="has no attribute 'absent'"):
            space.absent  # noqa: B018


def test_functions_in_the_body_of_a_class_bind_nothing():
    class Net(wg.nn.Module):
        act = wg.tanh
        join = wg.cat
        loss = wg.nn.functional.mse_loss

        def forward(self, x):
            return self.loss(self.act(self.join([x, x])), wg.zeros(2))

    class Other(Net):
        act = wg.sigmoid

        def again(self, x):
            return x

    x = wg.ones(1)
    assert wg.equal(Net()(x), wg.tanh(x).square().mean())
    assert wg.equal(Other()(x), wg.sigmoid(x).square().mean())
    assert Other().again(x) is x and Other.act is wg.sigmoid
