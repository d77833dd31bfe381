"""Test modules as functions of their parameters, in batches, and compiled."""

import pytest

import wengert as wg
from wengert import nn
from wengert.func import functional_call, grad, grad_and_value, stack_module_state, vmap


def model():
    wg.manual_seed(0)
    return nn.Sequential(nn.Linear(3, 4), nn.Tanh(), nn.Linear(4, 1)).double()


X = wg.linspace(-1, 1, 15, dtype=wg.float64).reshape(5, 3)
Y = wg.linspace(1, 2, 5, dtype=wg.float64).reshape(5, 1)


def detached(module):
    return {name: param.detach().clone() for name, param in module.named_parameters()}


# -- functional calls ------------------------------------------------------------------------------


def test_a_call_with_other_parameters_leaves_the_modules_own():
    module = model()
    own, before = list(module.parameters()), module(X)
    zeros = {name: wg.zeros_like(param) for name, param in module.named_parameters()}
    assert functional_call(module, zeros, X).tolist() == [[0.0]] * 5
    assert functional_call(module, ({}, zeros), (X,), strict=True).tolist() == [[0.0]] * 5
    assert all(a is b for a, b in zip(module.parameters(), own, strict=True))
    assert wg.equal(module(X), before)


def test_gradients_are_those_of_the_module():
    module = model()
    loss = ((module(X) - Y) ** 2).mean()
    loss.backward()
    grads = grad(lambda p: ((functional_call(module, p, X) - Y) ** 2).mean())(detached(module))
    for name, param in module.named_parameters():
        assert wg.allclose(grads[name], param.grad)


def test_gradients_for_each_sample_are_those_of_a_loop():
    module, parameters = model(), detached(model())

    def loss(p, x, y):
        return ((functional_call(module, p, (x,)) - y) ** 2).sum()

    each = vmap(grad(loss), in_dims=(None, 0, 0))(parameters, X, Y)
    for i in range(len(X)):
        alone = grad(loss)(parameters, X[i], Y[i])
        assert all(wg.allclose(each[name][i], alone[name]) for name in alone)


def test_an_ensemble_is_called_as_one():
    members = [model() for _ in range(3)]
    with wg.no_grad():
        for i, member in enumerate(members):
            member[0].weight.mul_(i + 1)
    parameters, buffers = stack_module_state(nn.ModuleList(members))
    assert parameters["0.weight"].shape == (3, 4, 3) and parameters["0.weight"].requires_grad
    call = vmap(lambda p, b, x: functional_call(members[0], (p, b), (x,)), in_dims=(0, 0, None))
    out = call(parameters, buffers, X)
    assert wg.allclose(out, wg.stack([member(X) for member in members]))
    out.sum().backward()
    members[1](X).sum().backward()
    assert wg.allclose(parameters["2.weight"].grad[1], members[1][2].weight.grad)


def test_batches_of_calls_normalise_once_running_statistics_are_given_up():
    module = wg.func.replace_all_batch_norm_modules_(nn.Sequential(nn.BatchNorm1d(3)).double())
    assert not list(module.buffers()) and list(module.state_dict()) == ["0.weight", "0.bias"]
    batches = wg.stack([X, 2 * X**2])
    out = vmap(lambda x: functional_call(module, detached(module), (x,)))(batches)
    assert wg.allclose(out[1], module(batches[1]))


def test_what_a_call_writes_to_is_what_was_given_for_a_buffer():
    class Counter(nn.Module):
        def __init__(self):
            super().__init__()
            self.register_buffer("seen", wg.zeros(1))
            self.register_buffer("last", wg.zeros(1))

        def forward(self, x):
            self.seen.add_(1)
            self.last = x
            return x + self.seen

    counter = Counter()
    given = {"seen": wg.full((1,), 5.0), "last": wg.zeros(1)}
    assert functional_call(counter, given, (wg.ones(1),)).item() == 7.0
    assert (given["seen"].item(), given["last"].item()) == (6.0, 1.0)
    assert not counter.seen.any() and not counter.last.any()


def test_tied_parameters_are_replaced_together():
    module = nn.Sequential(nn.Linear(2, 2, bias=False), nn.Linear(2, 2, bias=False))
    module[1].weight = module[0].weight
    module.again = module[0]
    given = {"0.weight": 2 * wg.eye(2)}
    assert functional_call(module, given, wg.ones(2)).tolist() == [8.0, 8.0]
    assert given["0.weight"].tolist() == [[2.0, 0.0], [0.0, 2.0]]
    assert module[0].weight is module[1].weight and isinstance(module[0].weight, nn.Parameter)
    untied = {"0.weight": wg.eye(2), "1.weight": wg.zeros(2, 2)}
    with pytest.raises(ValueError, match=r"multiple values for keys .* which are tied"):
        functional_call(module, untied, wg.ones(2))
    del module.again
    assert not functional_call(module, untied, wg.ones(2), tie_weights=False).any()


@pytest.mark.parametrize(
    ("given", "error", "message"),
    [
        (3, ValueError, "to be a dict, or a list/tuple of dicts, but got <class 'int'>"),
        ((3,), ValueError, "Expected all elements of parameter_and_buffer_dicts to be dict"),
        (({"0.bias": 1}, {"0.bias": 2}), ValueError, "appeared in multiple dictionaries"),
        ({"0.more": wg.ones(1)}, RuntimeError, r"Unexpected key\(s\): '0.more'.\n\tMissing key"),
        ({"9.weight": wg.ones(1)}, RuntimeError, r"Error\(s\) in reparametrizing for Sequential"),
    ],
)
def test_what_does_not_fit_leaves_the_module_as_it_was(given, error, message):
    module = model()
    own = list(module.parameters())
    with pytest.raises(error, match=message):
        functional_call(module, given, X, strict=True)
    assert all(a is b for a, b in zip(module.parameters(), own, strict=True))


def test_paths_that_lead_nowhere_or_to_no_tensor_are_refused():
    with pytest.raises(AttributeError, match="Sequential has no attribute `9`"):
        functional_call(model(), {"9.weight": wg.ones(1)}, X)
    with pytest.raises(TypeError, match="attribute `training`: True is not an instance"):
        functional_call(model(), {"0.training": wg.ones(1)}, X)


def test_models_that_are_not_alike_are_not_stacked():
    for models, message in [
        ([], "Expected at least one model, got 0"),
        ([model(), model().eval()], "the same training/eval mode"),
        ([model(), nn.Linear(1, 1)], "all models to be of the same class"),
        ([model(), model().requires_grad_(False)], r"to have the same .requires_grad"),
    ]:
        with pytest.raises(RuntimeError, match=message):
            stack_module_state(models)


def test_the_older_name_of_functional_call_says_the_new_one():
    with pytest.warns(FutureWarning, match=r"Please use `wengert.func.functional_call`"):
        out = nn.utils.stateless.functional_call(nn.Identity(), {}, wg.ones(1))
    assert out.item() == 1.0


# -- compiled --------------------------------------------------------------------------------------


def normalised():
    wg.manual_seed(0)
    module = nn.Sequential(nn.Linear(3, 4), nn.BatchNorm1d(4), nn.Dropout(0.5), nn.Linear(4, 1))
    module[0].register_forward_hook(lambda m, args, out: 2 * out)
    nn.utils.parametrizations.weight_norm(module[0])
    return module.double()


def update(module):
    with wg.no_grad():
        for param in module.parameters():
            param -= 0.05 * param.grad


def outside(module, compiled):
    call = wg.compile(module, backend="numpy", fullgraph=True) if compiled else module

    def step(x, y):
        module.zero_grad()
        loss = ((call(x) - y) ** 2).mean()
        loss.backward()
        update(module)
        return loss

    return step


def method(module, compiled):
    if compiled:
        module.compile(backend="numpy", fullgraph=True)
    return outside(module, False)


def inside(module, compiled):
    step = outside(module, False)
    return wg.compile(step, backend="numpy", fullgraph=True) if compiled else step


def functional(module, compiled):
    parameters = dict(module.named_parameters())

    def step(x, y):
        def loss(p):
            return ((functional_call(module, p, (x,)) - y) ** 2).mean()

        grads, value = grad_and_value(loss)(parameters)
        with wg.no_grad():
            for name, param in parameters.items():
                param -= 0.05 * grads[name]
        return value

    return wg.compile(step, backend="numpy", fullgraph=True) if compiled else step


@pytest.mark.parametrize("make", [outside, method, inside, functional])
def test_training_a_compiled_module_is_training_the_module(make):
    found = []
    for compiled in (False, True):
        module = normalised()
        step = make(module, compiled)
        wg.manual_seed(1)
        losses = [step(X, Y).item() for _ in range(3)]
        found.append((losses, {n: t.tolist() for n, t in module.state_dict().items()}))
    (losses, state), (compiled_losses, compiled_state) = found
    assert compiled_losses == pytest.approx(losses, rel=1e-9)
    for name, value in state.items():
        assert wg.allclose(wg.tensor(compiled_state[name]), wg.tensor(value)), name


@pytest.mark.parametrize("way", ["register_full_backward_hook", "register_full_backward_pre_hook"])
def test_a_module_with_backward_hooks_is_not_compiled_but_right(way):
    def told(compiled):
        module, seen = nn.Linear(2, 1), []
        getattr(module, way)(lambda m, *grads: seen.append(grads[-1][0].tolist()))
        call = wg.compile(module, backend="numpy") if compiled else module
        for scale in (1.0, 2.0, 3.0):
            (scale * call(wg.ones(1, 2, requires_grad=True))).sum().backward()
        return seen

    with pytest.warns(UserWarning, match="it registers a hook"):
        assert told(True) == told(False) == [[[1.0]], [[2.0]], [[3.0]]]


def test_a_compiled_module_sees_parameters_and_modes_that_were_changed():
    module = nn.Sequential(nn.Linear(2, 2), nn.Dropout(1.0))
    call = wg.compile(module, backend="numpy")
    x = wg.ones(1, 2)
    for _ in range(2):
        assert not call(x).any()
        assert wg.equal(module.eval() and call(x), module(x))
        module.train()
    module[0].weight = nn.Parameter(wg.zeros(2, 2))
    module.eval()
    assert wg.equal(call(x)[0], module[0].bias)


def test_a_compiled_module_has_the_parameters_and_the_state_of_the_module():
    module = nn.Sequential(nn.Linear(2, 2), nn.Dropout(1.0))
    call = wg.compile(module, backend="numpy")
    assert [p is q for p, q in zip(call.parameters(), module.parameters(), strict=True)] == [
        True
    ] * 2
    assert list(call.state_dict()) == ["_orig_mod.0.weight", "_orig_mod.0.bias"]
    call.eval()
    assert not module.training and not call.training and call(wg.ones(1, 2)).any()
    with pytest.raises(AttributeError, match="'Sequential' object has no attribute 'absent'"):
        call.absent  # noqa: B018


def test_a_module_that_counts_its_calls_is_compiled():
    class Counting(nn.Module):
        def __init__(self):
            super().__init__()
            self.calls = 0

        def forward(self, x):
            self.calls += 1
            return x * self.calls

    counting = Counting()
    call = wg.compile(counting, backend="numpy", options={"measure": False})
    assert [call(wg.ones(1)).item() for _ in range(4)] == [1.0, 2.0, 3.0, 4.0]
    assert counting.calls == 4 and call.explain().reason is None


def test_a_compiled_step_may_switch_modes_of_a_module():
    module = nn.Sequential(nn.Linear(3, 3), nn.Dropout(0.5)).double()

    @wg.compile(backend="numpy", fullgraph=True)
    def step(x):
        module.eval()
        still = module(x).sum()
        module.train()
        return still

    for _ in range(2):
        assert step(X).item() == pytest.approx(module[0](X).sum().item())
    assert module.training


def test_a_lazy_module_is_compiled_once_it_has_been_called():
    lazy = nn.LazyLinear(2)
    call = wg.compile(lazy, backend="numpy", fullgraph=True)
    with pytest.raises(wg.compiler.CompileError, match="call the module once before compiling it"):
        call(wg.ones(1, 3))
    out = lazy(wg.ones(1, 3))
    assert wg.equal(call(wg.ones(1, 3)), out)
