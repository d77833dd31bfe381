"""Test module hooks: around calls and backward passes, of one module and of all."""

import pickle
from collections import OrderedDict

import pytest

import wengert as wg
from wengert import nn

everywhere = nn.modules.module


class Double(nn.Module):
    def forward(self, x, add=0.0):
        return 2 * x + add


class Failing(nn.Module):
    def forward(self, x):
        raise ValueError("no")


def test_hooks_change_arguments_and_results_in_their_order():
    double, seen = Double(), []
    double.register_forward_pre_hook(lambda m, args: (args[0] + 1,))
    double.register_forward_pre_hook(lambda m, args: seen.append(args[0].item()), prepend=True)
    double.register_forward_pre_hook(
        lambda m, args, kwargs: (args, {"add": 100.0}), with_kwargs=True
    )
    double.register_forward_hook(lambda m, args, out: out * 10)
    double.register_forward_hook(lambda m, args, kwargs, out: out + kwargs["add"], with_kwargs=True)
    assert double(wg.tensor(1.0)).item() == (2 * 2 + 100) * 10 + 100
    assert seen == [1.0]


def test_a_removed_hook_runs_no_more_and_a_context_removes_it():
    double, seen = Double(), []
    handle = double.register_forward_hook(lambda *_: seen.append(1))
    double(1.0)
    handle.remove()
    handle.remove()
    with double.register_forward_pre_hook(lambda *_: seen.append(2)):
        double(1.0)
    double(1.0)
    assert seen == [1, 2]


def test_a_hook_may_remove_itself_while_it_runs():
    double, seen = Double(), []
    handles = []
    handles.append(double.register_forward_hook(lambda *_: handles[0].remove()))
    double.register_forward_hook(lambda *_: seen.append(1))
    double(1.0)
    double(1.0)
    assert seen == [1, 1]


def test_hooks_that_always_run_do_so_after_an_error_which_stays_the_error():
    failing, seen = Failing(), []
    failing.register_forward_hook(lambda m, a, out: seen.append(out), always_call=True)
    failing.register_forward_hook(lambda m, a, out: seen.append("never"))
    failing.register_forward_hook(lambda *_: 1 / 0, always_call=True)
    with (
        pytest.warns(UserWarning, match="silenced as another error was raised in forward: div"),
        pytest.raises(ValueError, match="no"),
    ):
        failing(1)
    assert seen == [None]


def test_what_is_no_hook_is_refused():
    with pytest.raises(TypeError, match=r"register_forward_hook\(\): hook must be callable"):
        Double().register_forward_hook(3)
    double = Double()
    double.register_forward_pre_hook(lambda *_: 3, with_kwargs=True)
    with pytest.raises(RuntimeError, match="forward pre-hook must return None or a tuple"):
        double(1.0)


def test_hooks_of_all_modules_run_before_a_modules_own_and_leave_no_trace():
    seen = []
    model = nn.Sequential(Double(), Double())
    model[0].register_forward_hook(lambda *_: seen.append("own"))
    with everywhere.register_module_forward_hook(lambda m, a, out: seen.append(type(m).__name__)):
        model(1.0)
    assert seen == ["Double", "own", "Double", "Sequential"]
    model(1.0)
    assert seen[4:] == ["own"]
    assert nn.Module._is_hooked is False


def test_hooks_of_all_modules_see_errors_and_backward_passes():
    seen = []
    x = wg.ones(1, requires_grad=True)
    with (
        everywhere.register_module_forward_hook(lambda *_: seen.append("f"), always_call=True),
        everywhere.register_module_forward_pre_hook(lambda *_: seen.append("p")),
        everywhere.register_module_full_backward_hook(lambda m, gi, go: (3 * gi[0],)),
        everywhere.register_module_full_backward_pre_hook(lambda m, go: seen.append("b")),
    ):
        with pytest.raises(ValueError, match="no"):
            Failing()(1)
        Double()(x).backward()
    assert seen == ["p", "f", "p", "f", "b"]
    assert x.grad.item() == 6.0


def test_hooks_of_registration_see_and_may_replace_what_is_held():
    seen = []
    with (
        everywhere.register_module_parameter_registration_hook(lambda m, n, p: seen.append(n)),
        everywhere.register_module_buffer_registration_hook(lambda m, n, b: b + 1),
        everywhere.register_module_module_registration_hook(lambda m, n, s: Double()),
    ):
        module = nn.Module()
        module.weight = nn.Parameter(wg.ones(1))
        module.register_buffer("count", wg.zeros(1))
        module.part = nn.Module()
        module.register_parameter("bias", None)
    assert seen == ["weight"] and module.count.item() == 1.0 and type(module.part) is Double


# -- backward --------------------------------------------------------------------------------------


def test_backward_hooks_see_and_change_gradients_of_outputs_and_inputs():
    double, seen = Double(), []
    double.register_full_backward_pre_hook(lambda m, go: (go[0] * 10,))
    double.register_full_backward_hook(lambda m, gi, go: seen.append((gi[0].item(), go[0].item())))
    double.register_full_backward_hook(lambda m, gi, go: (gi[0] + 1,))
    x = wg.tensor(3.0, requires_grad=True)
    double(x).backward()
    assert seen == [(20.0, 10.0)] and x.grad.item() == 21.0


def test_without_gradients_of_inputs_a_backward_hook_runs_at_the_output():
    class Weighted(nn.Module):
        def __init__(self):
            super().__init__()
            self.weight = nn.Parameter(wg.ones(1))

        def forward(self, x):
            return x * self.weight

    weighted, seen = Weighted(), []
    weighted.register_full_backward_hook(lambda m, gi, go: seen.append((gi, go[0].item())))
    with pytest.warns(
        UserWarning, match="Full backward hook is firing when gradients are computed"
    ):
        weighted(wg.ones(1)).backward()
    assert seen == [((None,), 1.0)]


def test_inputs_and_outputs_that_are_no_tensors_have_no_gradients():
    class Mixed(nn.Module):
        def forward(self, a, n, b):
            return a * n, n, a + b

    mixed, seen = Mixed(), []
    mixed.register_full_backward_hook(
        lambda m, gi, go: seen.append([None if g is None else g.item() for g in (*gi, *go)])
    )
    a, b = wg.tensor(1.0, requires_grad=True), wg.tensor(1.0)
    first, _, second = mixed(a, 4, b)
    (first + 2 * second).backward()
    assert seen == [[6.0, None, 0.0, 1.0, None, 2.0]] and a.grad.item() == 6.0


def test_nothing_is_hooked_where_no_gradient_is_recorded():
    double = Double()
    double.register_full_backward_hook(lambda *_: 1 / 0)
    with wg.no_grad():
        assert double(wg.ones(1, requires_grad=True)).item() == 2.0


def test_a_backward_hook_keeps_second_derivatives():
    class Cube(nn.Module):
        def forward(self, x):
            return x**3

    cube = Cube()
    cube.register_full_backward_hook(lambda m, gi, go: (gi[0] * 2,))
    x = wg.tensor(3.0, requires_grad=True)
    (g,) = wg.autograd.grad(cube(x), x, create_graph=True)
    assert g.item() == 54.0
    (h,) = wg.autograd.grad(g, x)
    assert h.item() == 36.0


@pytest.mark.parametrize(
    ("register", "message"),
    [
        (
            lambda m: m.register_full_backward_hook(lambda *_: (None, None)),
            "Backward hook returned an invalid number of grad_input, got 2, but expected 1",
        ),
        (
            lambda m: m.register_full_backward_pre_hook(lambda *_: (None, None)),
            "Backward pre hook returned an invalid number of grad_output, got 2, but expected 1",
        ),
    ],
)
def test_a_hook_that_returns_another_number_of_gradients_is_refused(register, message):
    double = Double()
    register(double)
    x = wg.ones(1, requires_grad=True)
    with pytest.raises(RuntimeError, match=message):
        double(x).sum().backward()
    assert x.grad is None


def test_backward_hooks_of_the_older_kind_sit_on_the_last_node_and_do_not_mix():
    double, seen = Double(), []
    double.register_backward_hook(lambda m, gi, go: seen.append(go[0].item()))
    with pytest.warns(
        FutureWarning, match="Using a non-full backward hook when the forward contains"
    ):
        double((wg.ones(1, requires_grad=True) + 1) * 1).backward()
    assert seen == [1.0]
    with pytest.raises(RuntimeError, match="Cannot use both regular backward hooks and full"):
        double.register_full_backward_hook(lambda *_: None)


def test_the_keys_of_hooks_are_the_ids_of_their_handles():
    model = nn.Linear(2, 2)
    plain = model.register_forward_hook(lambda *_: None)
    with_kwargs = model.register_forward_hook(lambda *_: None, with_kwargs=True, always_call=True)
    assert list(model._forward_hooks) == [plain.id, with_kwargs.id]
    assert list(model._forward_hooks_with_kwargs) == [with_kwargs.id]
    assert list(model._forward_hooks_always_called) == [with_kwargs.id]
    assert not model._forward_pre_hooks_with_kwargs
    del model._forward_hooks[with_kwargs.id]
    assert not model._forward_hooks_always_called
    model._forward_hooks[12345] = lambda module, args, output: output + 1
    model.weight.data.zero_(), model.bias.data.zero_()
    assert model(wg.zeros(2)).tolist() == [1.0, 1.0]


def test_the_tables_of_hooks_of_all_modules_may_be_replaced(monkeypatch):
    module = nn.modules.module
    seen = []
    monkeypatch.setattr(module, "_global_forward_hooks", module._global_forward_hooks)
    with module.register_module_forward_hook(lambda *_: seen.append(1)):
        nn.Identity()(0)
        module._global_forward_hooks = OrderedDict()
        nn.Identity()(0)
        assert seen == [1] and not nn.Module._is_hooked


def test_tables_of_hooks_that_do_not_exist_may_be_deleted():
    model = nn.ParameterList([wg.zeros(2)])
    del model._forward_pre_hooks, model._state_dict_hooks, model._non_persistent_buffers_set
    again = pickle.loads(pickle.dumps(model))
    assert again._non_persistent_buffers_set == set() and not again._forward_pre_hooks
