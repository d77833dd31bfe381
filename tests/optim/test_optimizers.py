"""Test optimisers: groups, state, hooks, and writes of steps."""

import copy
import pickle

import numpy as np
import pytest

import wengert as wg
from wengert.optim import blocks
from wengert.optim.optimizer import (
    register_optimizer_step_post_hook,
    register_optimizer_step_pre_hook,
)

KINDS = {
    "SGD": [{"lr": 0.1}, {"lr": 0.05, "momentum": 0.9, "dampening": 0.1, "weight_decay": 0.1}],
    "Adam": [{"lr": 0.1}, {"lr": 0.1, "amsgrad": True, "weight_decay": 0.1}],
    "AdamW": [{"lr": 0.1}],
    "Adamax": [{"lr": 0.1}],
    "NAdam": [{"lr": 0.1}],
    "RAdam": [{"lr": 0.1}],
    "RMSprop": [{"lr": 0.01}, {"lr": 0.01, "centered": True, "momentum": 0.5}],
    "Rprop": [{"lr": 0.1}],
    "Adagrad": [{"lr": 0.3}],
    "Adadelta": [{"lr": 10.0, "rho": 0.5}],
    "ASGD": [{"lr": 0.1, "t0": 3}],
    "Adafactor": [{"lr": 0.1}],
}
CASES = [(name, options) for name, several in KINDS.items() for options in several]
ELEMENTWISE = set(KINDS) - {"Adafactor"}
IDS = [f"{name}-{'-'.join(options)}" for name, options in CASES]


def leaves(*shapes, dtype=wg.float32, seed=0):
    rng = np.random.default_rng(seed)
    made = [wg.tensor(np.asarray(rng.standard_normal(shape)), dtype=dtype) for shape in shapes]
    return [tensor.requires_grad_() for tensor in made]


def quadratic(params):
    return sum(((p - 1) * (p - 1)).sum() for p in params)


def train(optimizer, params, steps, loss=quadratic):
    for _ in range(steps):
        optimizer.zero_grad()
        loss(params).backward()
        optimizer.step()


def values(params):
    return [p.detach().numpy().copy() for p in params]


def equal(one, other):
    return all(np.array_equal(a, b) for a, b in zip(one, other, strict=True))


# -- steps -----------------------------------------------------------------------------------------


@pytest.mark.parametrize(("name", "options"), CASES, ids=IDS)
def test_steps_lead_downhill(name, options):
    params = leaves((3, 2), (4,), ())
    optimizer = getattr(wg.optim, name)(params, **options)
    before = quadratic(params).item()
    train(optimizer, params, 60)
    assert quadratic(params).item() < 0.3 * before


@pytest.mark.parametrize(("name", "options"), CASES, ids=IDS)
def test_maximize_leads_uphill(name, options):
    params = leaves((3,), seed=1)
    optimizer = getattr(wg.optim, name)(params, **{**options, "lr": 0.01}, maximize=True)
    before = quadratic(params).item()
    train(optimizer, params, 5)
    assert quadratic(params).item() > before


def test_muon_leads_matrices_downhill_and_refuses_others():
    params = leaves((3, 2), (4, 5))
    optimizer = wg.optim.Muon(params, lr=0.1, weight_decay=0.0)
    before = quadratic(params).item()
    train(optimizer, params, 40)
    assert quadratic(params).item() < 0.3 * before
    with pytest.raises(ValueError, match="Muon only supports 2D parameters"):
        wg.optim.Muon(leaves((3,)))


@pytest.mark.parametrize("name", ["SGD", "Adam"])
def test_the_valley_of_rosenbrock_is_gone_down(name):
    x = wg.tensor([-1.2, 1.0], dtype=wg.float64, requires_grad=True)
    options = {"SGD": {"lr": 5e-4, "momentum": 0.95}, "Adam": {"lr": 0.05}}[name]
    optimizer = getattr(wg.optim, name)([x], **options)
    train(
        optimizer,
        [x],
        1500,
        lambda params: 100 * (params[0][1] - params[0][0] ** 2) ** 2 + (1 - params[0][0]) ** 2,
    )
    assert np.allclose(x.detach().numpy(), 1.0, atol=0.05)


def test_a_network_learns_exclusive_or():
    wg.manual_seed(0)
    model = wg.nn.Sequential(wg.nn.Linear(2, 8), wg.nn.Tanh(), wg.nn.Linear(8, 1))
    x = wg.tensor([[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 1.0]])
    y = wg.tensor([[0.0], [1.0], [1.0], [0.0]])
    optimizer = wg.optim.Adam(model.parameters(), lr=0.05)
    for _ in range(150):
        optimizer.zero_grad()
        ((model(x) - y) ** 2).mean().backward()
        optimizer.step()
    assert ((model(x) - y).abs() < 0.1).all()


def test_a_closure_is_called_with_recording_and_its_loss_returned():
    (x,) = leaves((3,))
    optimizer = wg.optim.SGD([x], lr=0.1)

    def closure():
        assert wg.is_grad_enabled()
        optimizer.zero_grad()
        loss = quadratic([x])
        loss.backward()
        return loss

    with wg.no_grad():
        before = quadratic([x])
        assert optimizer.step(closure).item() == before.item()
    assert quadratic([x]) < before


def test_parameters_without_a_gradient_stay_and_have_no_state():
    a, b = leaves((3,), (3,))
    optimizer = wg.optim.Adam([a, b], lr=0.1)
    before = values([b])
    quadratic([a]).backward()
    optimizer.step()
    assert equal(values([b]), before)
    assert list(optimizer.state) == [a] and list(optimizer.state_dict()["state"]) == [0]


def test_each_group_has_options_of_its_own():
    a, b = leaves((2,), (2,))
    optimizer = wg.optim.SGD([{"params": [a]}, {"params": [b], "lr": 0.0}], lr=0.1)
    before = values([a, b])
    train(optimizer, [a, b], 1)
    after = values([a, b])
    assert not equal(before[:1], after[:1]) and equal(before[1:], after[1:])


def test_a_parameter_that_is_there_twice_moves_twice():
    (a,) = leaves((2,))
    with pytest.warns(UserWarning, match="duplicate parameters"):
        optimizer = wg.optim.SGD([a, a], lr=0.25)
    a.grad = wg.ones(2)
    before = values([a])[0]
    optimizer.step()
    assert np.allclose(values([a])[0], before - 0.5)


# -- memory ----------------------------------------------------------------------------------------


def test_a_step_writes_where_parameters_lie():
    array = np.ones((4, 3), np.float32)
    weight = wg.from_numpy(array).requires_grad_()
    view = array[1:]
    optimizer = wg.optim.AdamW([weight], lr=0.1)
    train(optimizer, [weight], 2, lambda params: (params[0] ** 2).sum())
    assert np.shares_memory(weight.detach().numpy(), array)
    assert (view < 1).all()


@pytest.mark.parametrize(("name", "options"), CASES, ids=IDS)
def test_what_was_saved_before_a_step_is_known_to_have_changed(name, options):
    (x,) = leaves((3,))
    optimizer = getattr(wg.optim, name)([x], **options)
    y = (x * x).sum()
    version = x._version
    x.grad = wg.ones(3)
    optimizer.step()
    assert x._version > version
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        y.backward()


def test_views_of_a_parameter_show_what_a_step_wrote():
    (x,) = leaves((4,))
    row = x.detach()[:2]
    optimizer = wg.optim.SGD([x], lr=1.0)
    x.grad = wg.ones(4)
    before = row.numpy().copy()
    optimizer.step()
    assert np.array_equal(row.numpy(), before - 1)


LAYOUTS = {
    "rows": lambda a: a,
    "columns": lambda a: np.asfortranarray(a),
    "every other": lambda a: np.repeat(a, 2, axis=1)[:, ::2],
    "reversed": lambda a: a[::-1].copy()[::-1],
}


@pytest.mark.parametrize("dtype", ["float32", "float64", "complex64"])
@pytest.mark.parametrize("of_param", LAYOUTS)
@pytest.mark.parametrize("of_grad", LAYOUTS)
def test_the_layout_of_memory_makes_no_difference(dtype, of_param, of_grad):
    rng = np.random.default_rng(0)
    start = rng.standard_normal((5, 7)).astype(dtype)
    grads = [rng.standard_normal((5, 7)).astype(dtype) for _ in range(3)]
    if dtype == "complex64":
        start = start + 1j * start.T[:5, :5].sum().astype(dtype)
    found = []
    for place in (LAYOUTS[of_param], np.array):
        x = wg.from_numpy(place(start.copy())).requires_grad_()
        optimizer = wg.optim.AdamW([x], lr=0.1, amsgrad=True)
        for grad in grads:
            x.grad = wg.from_numpy(LAYOUTS[of_grad](grad))
            optimizer.step()
        found.append(x.detach().numpy())
    assert np.array_equal(*found)


@pytest.mark.parametrize(("name", "options"), [case for case in CASES if case[0] in ELEMENTWISE])
def test_blocks_and_gathered_parameters_give_what_one_array_gives(monkeypatch, name, options):
    monkeypatch.setattr(blocks, "BLOCK", 64)
    monkeypatch.setattr(blocks, "SMALL", 20)
    shapes = [(5,), (), (3, 5), (21,), (64,), (13, 11), (0, 3), (20,), (20,), (20,), (20,)]
    rng = np.random.default_rng(1)
    arrays = [np.asarray(rng.standard_normal(shape)) for shape in shapes]
    grads = [[rng.standard_normal(shape) for shape in shapes] for _ in range(3)]
    many = [wg.tensor(array).requires_grad_() for array in arrays]
    one = wg.tensor(np.concatenate([array.ravel() for array in arrays])).requires_grad_()
    make = getattr(wg.optim, name)
    optimizers = make(many, **options), make([one], **options)
    for step in grads:
        for param, grad in zip(many, step, strict=True):
            param.grad = wg.tensor(grad)
        one.grad = wg.tensor(np.concatenate([np.ravel(grad) for grad in step]))
        for optimizer in optimizers:
            optimizer.step()
    joined = np.concatenate([value.ravel() for value in values(many)])
    assert np.allclose(joined, values([one])[0], rtol=1e-13)


@pytest.mark.parametrize(("name", "options"), [case for case in CASES if case[0] in ELEMENTWISE])
def test_steps_on_tensors_are_as_precise_as_those_on_arrays(name, options):
    rng = np.random.default_rng(2)
    start, grads = rng.standard_normal(7), rng.standard_normal((4, 7))
    found = []
    for more in ({}, {"differentiable": True}):
        x = wg.tensor(start)
        optimizer = getattr(wg.optim, name)([x], **options, **more)
        for grad in grads:
            x.grad = wg.tensor(grad)
            optimizer.step()
        found.append(x.numpy())
    assert np.allclose(*found, rtol=1e-13)


@pytest.mark.parametrize("name", ("SGD", "Adam", "Adafactor", "Muon"))
def test_a_step_that_cannot_write_a_parameter_changes_nothing(name):
    memory = np.ones((2, 2))
    params = [wg.ones(2, 2, dtype=wg.float64), wg.from_numpy(memory)]
    memory.flags.writeable = False
    params[1]._array().flags.writeable = False
    for param in params:
        param.requires_grad_()
        param.grad = wg.ones(2, 2, dtype=wg.float64)
    optimizer = getattr(wg.optim, name)(params, lr=0.1)
    with pytest.raises(RuntimeError):
        optimizer.step()
    assert all(wg.equal(param, wg.ones(2, 2, dtype=wg.float64)) for param in params)
    assert not any(state.get("step", wg.zeros(1)).item() for state in optimizer.state.values())


def test_parameters_that_share_memory_are_updated_one_after_the_other():
    memory = np.zeros(3)
    a, b = (wg.from_numpy(part).requires_grad_() for part in (memory[:2], memory[1:]))
    optimizer = wg.optim.SGD([a, b], lr=1.0)
    a.grad, b.grad = wg.ones(2, dtype=wg.float64), wg.ones(2, dtype=wg.float64)
    optimizer.step()
    assert memory.tolist() == [-1.0, -2.0, -1.0]


@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
def test_half_precision_is_rounded_once_a_step(dtype):
    if dtype == "bfloat16":
        pytest.importorskip("ml_dtypes")
    start = wg.tensor([1.0, -2.0, 3.0, 0.5]).to(getattr(wg, dtype))
    halves, whole = start.clone().requires_grad_(), start.float().requires_grad_()
    for x in (halves, whole):
        x.grad = (2 * start).to(x.dtype)
        wg.optim.AdamW([x], lr=0.125, eps=1e-3).step()
    assert halves.dtype == getattr(wg, dtype)
    assert wg.equal(halves.detach(), whole.detach().to(halves.dtype))


def test_complex_parameters_are_pairs_of_real_ones():
    start = np.array([1 + 2j, -3 + 0.5j])
    pairs = wg.tensor(start.view(float)).requires_grad_()
    whole = wg.tensor(start).requires_grad_()
    for name in ("SGD", "Adam", "Rprop", "Adagrad", "Adadelta"):
        optimizers = [getattr(wg.optim, name)([x]) for x in (pairs, whole)]
        for scale in (1.0, -2.0, 0.5):
            pairs.grad, whole.grad = wg.tensor(scale * start.view(float)), wg.tensor(scale * start)
            for optimizer in optimizers:
                optimizer.step()
    assert np.array_equal(whole.detach().numpy().view(float), pairs.detach().numpy())


# -- what a step refuses ---------------------------------------------------------------------------


def test_a_gradient_of_another_shape_is_refused_before_anything_is_written():
    a, b = leaves((3,), (4,))
    optimizer = wg.optim.Adam([{"params": [a]}, {"params": [b]}], lr=0.1)
    quadratic([a, b]).backward()
    b._ext.grad = wg.ones(5)
    before = values([a, b])
    with pytest.raises(RuntimeError, match="the gradient of a parameter"):
        optimizer.step()
    assert equal(values([a, b]), before) and not optimizer.state


def test_a_state_of_another_shape_is_refused_before_anything_is_written():
    a, b = leaves((3,), (4,))
    optimizer = wg.optim.Adam([a, b], lr=0.1)
    train(optimizer, [a, b], 1)
    optimizer.state[b]["exp_avg"] = wg.ones(5)
    before = values([a, b])
    with pytest.raises(RuntimeError, match="it belongs to another parameter"):
        optimizer.step()
    assert equal(values([a, b]), before)
    assert optimizer.state[a]["step"].item() == 1


def test_memory_that_cannot_be_written_is_refused():
    array = np.ones(3)
    (a,) = leaves((3,), dtype=wg.float64)
    b = wg.from_numpy(array).requires_grad_()
    optimizer = wg.optim.SGD([a, b], lr=0.1)
    quadratic([a, b]).backward()
    optimizer.step()
    array.flags.writeable = False
    before = values([a, b])
    with pytest.raises(RuntimeError, match="read-only"):
        optimizer.step()
    assert equal(values([a, b]), before)


def test_overflow_raises_nothing_in_the_middle_of_a_step():
    a, b = leaves((3,), (3,))
    optimizer = wg.optim.Adam([a, b], lr=0.1)
    a.grad, b.grad = wg.full((3,), 1e30), wg.ones(3)
    with np.errstate(all="raise"):
        optimizer.step()
    assert optimizer.state[b]["step"].item() == 1


X = wg.ones(2, requires_grad=True)
REFUSED = {
    "a tensor": (lambda: wg.optim.SGD(X), TypeError, "params argument given to the optimizer"),
    "a module": (
        lambda: wg.optim.SGD(wg.nn.Linear(1, 1)),
        TypeError,
        r"but got Linear: give its parameters\(\)",
    ),
    "nothing": (lambda: wg.optim.SGD([]), ValueError, "optimizer got an empty parameter list"),
    "no leaf": (lambda: wg.optim.SGD([X * 2]), ValueError, "can't optimize a non-leaf Tensor"),
    "a number": (lambda: wg.optim.SGD([1.0]), TypeError, "optimizer can only optimize Tensors"),
    "a set": (
        lambda: wg.optim.SGD([{"params": {X}}]),
        TypeError,
        "optimizer parameters need to be organized in ordered collections",
    ),
    "twice": (
        lambda: wg.optim.SGD([{"params": [X]}, {"params": [X]}]),
        ValueError,
        "some parameters appear in more than one parameter group",
    ),
    "half named": (
        lambda: wg.optim.SGD([("x", X), wg.ones(1, requires_grad=True)]),
        ValueError,
        "all optimizer params should be with/without names",
    ),
    "mixed groups": (
        lambda: wg.optim.SGD([{"params": [("x", X)]}, {"params": [wg.ones(1)]}]),
        ValueError,
        "all optimizer param groups should be with/without names",
    ),
    "no group": (
        lambda: wg.optim.SGD([{"params": [X]}, X]),
        TypeError,
        "param_group must be a dict",
    ),
    "rate": (lambda: wg.optim.SGD([X], lr=-1), ValueError, "Invalid learning rate: -1"),
    "nan": (lambda: wg.optim.Adam([X], lr=float("nan")), ValueError, "Invalid learning rate: nan"),
    "rates": (
        lambda: wg.optim.Adam([X], lr=wg.ones(2)),
        ValueError,
        "Tensor lr must be 1-element",
    ),
    "betas of several elements": (
        lambda: wg.optim.Adam([X], betas=(wg.tensor([0.5]), wg.tensor([0.5, 0.5]))),
        ValueError,
        r"Tensor betas\[1\] must be 1-element",
    ),
    "betas of two kinds": (
        lambda: wg.optim.Adam([X], betas=(wg.tensor(0.9), 0.99)),
        ValueError,
        "betas must be either both floats or both Tensors",
    ),
    "betas of two other kinds": (
        lambda: wg.optim.Adam([X], betas=(0.9, wg.tensor(0.99))),
        ValueError,
        "betas must be either both floats or both Tensors",
    ),
    "betas": (
        lambda: wg.optim.Adam([X], betas=(0.9, 1.0)),
        ValueError,
        "Invalid beta parameter at index 1: 1.0",
    ),
    "eps": (lambda: wg.optim.Adam([X], eps=-1), ValueError, "Invalid epsilon value: -1"),
    "nesterov": (
        lambda: wg.optim.SGD([X], nesterov=True),
        ValueError,
        "Nesterov momentum requires a momentum and zero dampening",
    ),
    "fused": (
        lambda: wg.optim.Adam([X], fused=True, differentiable=True),
        RuntimeError,
        "`fused` does not support `differentiable`",
    ),
    "fused and foreach": (
        lambda: wg.optim.Adam([X], fused=True, foreach=True),
        RuntimeError,
        "`fused` and `foreach` cannot be `True` together",
    ),
    "etas": (lambda: wg.optim.Rprop([X], etas=(1.1, 1.2)), ValueError, "Invalid eta values"),
    "rho": (lambda: wg.optim.Adadelta([X], rho=2), ValueError, "Invalid rho value: 2"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_cannot_be_optimised_is_refused(name):
    make, kind, words = REFUSED[name]
    with pytest.raises(kind, match=words):
        make()


def test_a_refused_group_changes_nothing():
    (a,) = leaves((2,))
    optimizer = wg.optim.SGD([a], lr=0.1)
    group = {"params": [X, 3.0]}
    with pytest.raises(TypeError):
        optimizer.add_param_group(group)
    assert len(optimizer.param_groups) == 1 and list(group) == ["params"]


@pytest.mark.parametrize("option", ("fused", "foreach", "differentiable"))
def test_each_way_to_compute_a_step_may_be_asked_for(option):
    assert wg.optim.Adam([X], **{option: True}).param_groups[0][option] is True


DEFAULTS = {
    "ASGD": {"alpha": 0.75, "lambd": 0.0001, "lr": 0.01, "t0": 1000000.0, "weight_decay": 0},
    "Adadelta": {"eps": 1e-06, "lr": 1.0, "rho": 0.9, "weight_decay": 0},
    "Adafactor": {
        "beta2_decay": -0.8,
        "d": 1.0,
        "eps": (None, 0.001),
        "lr": 0.01,
        "weight_decay": 0.0,
    },
    "Adagrad": {
        "eps": 1e-10,
        "initial_accumulator_value": 0,
        "lr": 0.01,
        "lr_decay": 0,
        "weight_decay": 0,
    },
    "Adam": {"betas": (0.9, 0.999), "eps": 1e-08, "lr": 0.001, "weight_decay": 0},
    "AdamW": {
        "betas": (0.9, 0.999),
        "decoupled_weight_decay": True,
        "eps": 1e-08,
        "lr": 0.001,
        "weight_decay": 0.01,
    },
    "Adamax": {"betas": (0.9, 0.999), "eps": 1e-08, "lr": 0.002, "weight_decay": 0},
    "LBFGS": {
        "history_size": 100,
        "lr": 1,
        "max_eval": 25,
        "max_iter": 20,
        "tolerance_change": 1e-09,
        "tolerance_grad": 1e-07,
    },
    "Muon": {
        "eps": 1e-07,
        "lr": 0.001,
        "momentum": 0.95,
        "nesterov": True,
        "ns_coefficients": (3.4445, -4.775, 2.0315),
        "ns_steps": 5,
        "weight_decay": 0.1,
    },
    "NAdam": {
        "betas": (0.9, 0.999),
        "eps": 1e-08,
        "lr": 0.002,
        "momentum_decay": 0.004,
        "weight_decay": 0,
    },
    "RAdam": {"betas": (0.9, 0.999), "eps": 1e-08, "lr": 0.001, "weight_decay": 0},
    "RMSprop": {"alpha": 0.99, "eps": 1e-08, "lr": 0.01, "momentum": 0, "weight_decay": 0},
    "Rprop": {"etas": (0.5, 1.2), "lr": 0.01, "step_sizes": (1e-06, 50)},
    "SGD": {"dampening": 0, "lr": 0.001, "momentum": 0, "weight_decay": 0},
}


@pytest.mark.parametrize("name", DEFAULTS)
def test_options_have_pytorchs_defaults(name):
    found = getattr(wg.optim, name)([wg.ones(2, 2, requires_grad=True)]).defaults
    # what is off or left to others is not listed
    assert {k: v for k, v in found.items() if v is not None and v is not False} == DEFAULTS[name]


# -- state -----------------------------------------------------------------------------------------


@pytest.mark.parametrize(("name", "options"), CASES, ids=IDS)
def test_a_saved_state_goes_on_to_the_bit(name, options):
    params = leaves((3, 2), (2000,), ())
    optimizer = getattr(wg.optim, name)(params, **options)
    train(optimizer, params, 4)
    others = [p.detach().clone().requires_grad_() for p in params]
    other = getattr(wg.optim, name)(others, **{**options, "lr": 7.0})
    other.load_state_dict(copy.deepcopy(optimizer.state_dict()))
    for one, its in ((optimizer, params), (other, others)):
        train(one, its, 4)
    assert equal(values(params), values(others))


def test_a_loaded_state_is_a_copy():
    (a,) = leaves((3,))
    optimizer = wg.optim.SGD([a], lr=0.1, momentum=0.9)
    train(optimizer, [a], 1)
    state = optimizer.state_dict()
    kept = state["state"][0]["momentum_buffer"].clone()
    (b,) = leaves((3,))
    other = wg.optim.SGD([b], lr=0.1, momentum=0.9)
    other.load_state_dict(state)
    train(other, [b], 2)
    assert wg.equal(state["state"][0]["momentum_buffer"], kept)


def test_a_state_takes_the_dtype_of_parameters_but_for_the_step():
    (a,) = leaves((3,))
    optimizer = wg.optim.Adam([a])
    train(optimizer, [a], 1)
    b = a.detach().double().requires_grad_()
    other = wg.optim.Adam([b])
    other.load_state_dict(optimizer.state_dict())
    state, before = other.state[b], optimizer.state[a]
    assert state["exp_avg"].dtype == wg.float64
    assert state["exp_avg"].tolist() == before["exp_avg"].tolist() != [0.0] * 3
    assert (state["step"].dtype, state["step"].item()) == (wg.float32, 1)
    train(other, [b], 1)
    train(optimizer, [a], 1)
    assert b.dtype == wg.float64
    assert wg.allclose(b.float(), a)


def test_numbers_of_old_states_become_tensors():
    (a,) = leaves((3,))
    optimizer = wg.optim.Adam([a])
    train(optimizer, [a], 2)
    state = optimizer.state_dict()
    state["state"][0] = {**state["state"][0], "step": 2}
    del state["param_groups"][0]["decoupled_weight_decay"]
    optimizer.load_state_dict(state)
    train(optimizer, [a], 1)
    assert optimizer.state[a]["step"].item() == 3


@pytest.mark.parametrize(
    ("sizes", "words"),
    [([1], "a different number of parameter groups"), ([1, 1], "doesn't match the size")],
)
def test_a_state_of_other_groups_is_refused(sizes, words):
    a, b, c = leaves((2,), (2,), (2,))
    optimizer = wg.optim.SGD([{"params": [a, b]}, {"params": [c]}], lr=0.1)
    groups = [{"params": leaves(*[(2,)] * size)} for size in sizes]
    with pytest.raises(ValueError, match=words):
        optimizer.load_state_dict(wg.optim.SGD(groups, lr=7.0).state_dict())
    assert [group["lr"] for group in optimizer.param_groups] == [0.1, 0.1]


@pytest.mark.parametrize("way", [pickle.dumps, None], ids=["pickle", "deepcopy"])
def test_copies_go_on_with_parameters_of_their_own(way):
    (a,) = leaves((3,))
    optimizer = wg.optim.Adam([a], lr=0.1)
    train(optimizer, [a], 2)
    if way is None:
        other, b = copy.deepcopy((optimizer, a))
    else:
        other, b = pickle.loads(way((optimizer, a)))
    assert other.param_groups[0]["params"][0] is b and b is not a
    train(optimizer, [a], 2)
    train(other, [b], 2)
    assert equal(values([a]), values([b]))


def test_names_are_kept_with_the_groups():
    model = wg.nn.Linear(2, 1)
    optimizer = wg.optim.SGD(model.named_parameters(), lr=0.1)
    assert optimizer.param_groups[0]["param_names"] == ["weight", "bias"]
    state = optimizer.state_dict()
    assert state["param_groups"][0]["param_names"] == ["weight", "bias"]
    del state["param_groups"][0]["param_names"]
    optimizer.load_state_dict(state)
    assert optimizer.param_groups[0]["param_names"] == ["weight", "bias"]


def test_the_options_are_printed_in_their_order():
    optimizer = wg.optim.Rprop([X], lr=0.5)
    assert repr(optimizer) == (
        "Rprop (\nParameter Group 0\n    capturable: False\n    differentiable: False\n"
        "    etas: (0.5, 1.2)\n    foreach: None\n    lr: 0.5\n    maximize: False\n"
        "    step_sizes: (1e-06, 50)\n)"
    )


def test_gradients_are_forgotten_or_zeroed():
    (a,) = leaves((2,))
    optimizer = wg.optim.SGD([a])
    (a * a).sum().backward(create_graph=True)
    optimizer.zero_grad(set_to_none=False)
    assert a.grad.tolist() == [0.0, 0.0] and not a.grad.requires_grad
    optimizer.zero_grad()
    assert a.grad is None


# -- hooks -----------------------------------------------------------------------------------------


def test_hooks_run_around_steps_and_may_change_arguments():
    (a,) = leaves((2,))
    seen = []
    optimizer = wg.optim.SGD([a], lr=0.1)
    handles = [
        register_optimizer_step_pre_hook(lambda *args: seen.append("every pre")),
        register_optimizer_step_post_hook(lambda *args: seen.append("every post")),
        optimizer.register_step_pre_hook(
            lambda own, args, kwargs: (args, {"closure": lambda: seen.append("closure")})
        ),
        optimizer.register_step_post_hook(lambda *args: seen.append("post")),
    ]
    optimizer.step()
    assert seen == ["every pre", "closure", "post", "every post"]
    for handle in handles:
        handle.remove()
    optimizer.step()
    assert len(seen) == 4


def test_a_hook_that_returns_something_else_is_refused():
    optimizer = wg.optim.SGD(leaves((2,)), lr=0.1)
    optimizer.register_step_pre_hook(lambda *args: 3)
    with pytest.raises(RuntimeError, match="must return None or a tuple"):
        optimizer.step()


def test_hooks_see_the_state_when_it_is_saved_and_loaded():
    optimizer = wg.optim.SGD(leaves((2,)), lr=0.1)
    seen = []
    optimizer.register_state_dict_pre_hook(lambda own: seen.append("save"))
    optimizer.register_state_dict_post_hook(lambda own, state: {**state, "more": 1})
    optimizer.register_load_state_dict_pre_hook(lambda own, state: seen.append(state.pop("more")))
    optimizer.register_load_state_dict_post_hook(lambda own: seen.append("loaded"))
    optimizer.register_load_state_dict_post_hook(lambda own: seen.append("first"), prepend=True)
    state = optimizer.state_dict()
    optimizer.load_state_dict(state)
    assert seen == ["save", 1, "first", "loaded"] and state["more"] == 1


def test_an_optimizer_of_ones_own_has_hooks_too():
    class Sign(wg.optim.Optimizer):
        def __init__(self, params, lr=0.5):
            super().__init__(params, {"lr": lr})

        @wg.no_grad()
        def step(self, closure=None):
            for group in self.param_groups:
                for p in group["params"]:
                    p.add_(p.grad.sign(), alpha=-group["lr"])

    x = wg.tensor([1.0, -1.0], requires_grad=True)
    optimizer = Sign([x])
    seen = []
    optimizer.register_step_post_hook(lambda own, args, kwargs: seen.append(own))
    (x * x).sum().backward()
    optimizer.step()
    assert x.tolist() == [0.5, -0.5] and seen == [optimizer]


# -- options that are tensors, and steps that are recorded -----------------------------------------


def test_a_learning_rate_may_be_a_tensor():
    (a,) = leaves((3,), dtype=wg.float64)
    (b,) = leaves((3,), dtype=wg.float64)
    rate = wg.tensor([0.25], dtype=wg.float64)
    one = wg.optim.AdamW([a], lr=rate, betas=(wg.tensor(0.5), wg.tensor(0.75)))
    other = wg.optim.AdamW([b], lr=0.25, betas=(0.5, 0.75))
    train(one, [a], 2)
    train(other, [b], 2)
    rate.fill_(0.0)
    other.param_groups[0]["lr"] = 0.0
    train(one, [a], 2)
    train(other, [b], 2)
    assert np.allclose(values([a])[0], values([b])[0], rtol=1e-12)


@pytest.mark.parametrize("name", ["SGD", "Adam", "AdamW", "RMSprop", "Adagrad", "NAdam"])
def test_gradients_flow_through_steps_to_the_learning_rate(name):
    start = wg.tensor([1.0, -2.0], dtype=wg.float64)
    gradient = wg.tensor([0.5, 3.0], dtype=wg.float64)

    def after(rate):
        x = start.clone()
        optimizer = getattr(wg.optim, name)([x], lr=rate, differentiable=True)
        for scale in (1.0, 2.0, -0.5):
            x.grad = scale * gradient
            optimizer.step()
        return (x * x).sum()

    rate = wg.tensor(0.1, dtype=wg.float64, requires_grad=True)
    after(rate).backward()
    with wg.no_grad():
        slope = (after(rate + 1e-6) - after(rate - 1e-6)) / 2e-6
    assert np.isclose(rate.grad.item(), slope.item(), rtol=1e-6)


def test_another_optimizers_state_is_refused():
    param = wg.ones(1, requires_grad=True)
    param.sum().backward()
    other = wg.optim.SGD([param], 0.1, momentum=0.9)
    other.step()
    adam = wg.optim.Adam([param])
    with pytest.raises(KeyError, match="step"):
        adam.load_state_dict(other.state_dict())
    assert not adam.state
    other.load_state_dict(other.state_dict())


# -- as functions ----------------------------------------------------------------------------------

STEPS = {
    "adadelta": (wg.optim.Adadelta, {}, {}),
    "adagrad": (wg.optim.Adagrad, {}, {}),
    "adam": (wg.optim.Adam, {"amsgrad": True}, {"betas": ("beta1", "beta2")}),
    "adamw": (wg.optim.AdamW, {}, {"betas": ("beta1", "beta2")}),
    "adamax": (wg.optim.Adamax, {}, {"betas": ("beta1", "beta2")}),
    "asgd": (wg.optim.ASGD, {}, {}),
    "nadam": (wg.optim.NAdam, {}, {"betas": ("beta1", "beta2")}),
    "radam": (wg.optim.RAdam, {}, {"betas": ("beta1", "beta2")}),
    "rmsprop": (wg.optim.RMSprop, {"momentum": 0.5, "centered": True}, {}),
    "rprop": (
        wg.optim.Rprop,
        {},
        {"etas": ("etaminus", "etaplus"), "step_sizes": ("step_size_min", "step_size_max")},
    ),
    "sgd": (wg.optim.SGD, {"momentum": 0.5}, {}),
}
LISTS = {
    "adadelta": "square_avgs acc_deltas state_steps",
    "adagrad": "state_sums state_steps",
    "adam": "exp_avgs exp_avg_sqs max_exp_avg_sqs state_steps",
    "adamw": "exp_avgs exp_avg_sqs max_exp_avg_sqs state_steps",
    "adamax": "exp_avgs exp_infs state_steps",
    "asgd": "axs mus etas state_steps",
    "nadam": "exp_avgs exp_avg_sqs mu_products state_steps",
    "radam": "exp_avgs exp_avg_sqs state_steps",
    "rmsprop": "square_avgs grad_avgs momentum_buffer_list state_steps",
    "rprop": "prevs step_sizes state_steps",
    "sgd": "momentum_buffer_list",
}


@pytest.mark.parametrize("name", STEPS)
def test_the_step_of_an_optimiser_is_a_function_of_lists(name):
    import wengert.optim._functional as functions

    kind, given, pairs = STEPS[name]
    x = wg.tensor([1.0, -2.0], requires_grad=True)
    optimizer = kind([x], lr=0.1, **given)
    gradients = [wg.tensor([0.5, -1.0]), wg.tensor([-0.25, 2.0]), wg.tensor([1.0, 0.5])]
    for g in gradients[:2]:
        x.grad = g
        optimizer.step()
    options = {k: v for k, v in optimizer.param_groups[0].items() if k != "params"}
    for pair, parts in pairs.items():
        options |= dict(zip(parts, options.pop(pair), strict=True))
    if name == "adamw":
        del options["decoupled_weight_decay"]
    own = {k: v.clone() for k, v in optimizer.state[x].items()}
    lists = []
    for one in LISTS[name].split():
        key = one.removesuffix("_list").removeprefix("state_").removesuffix("s")
        lists.append([own[key]] if key in own else [])
    y = x.detach().clone()
    x.grad = gradients[2]
    optimizer.step()
    getattr(functions, name)([y], [gradients[2]], *lists, **options)
    wg.testing.assert_close(y, x.detach())
    for key, value in own.items():
        wg.testing.assert_close(value, optimizer.state[x][key])


def test_the_first_step_of_a_function_makes_the_buffer():
    from wengert.optim.sgd import sgd

    y, buffers = wg.ones(2), [None]
    options = {"weight_decay": 0.0, "lr": 0.1, "nesterov": False, "maximize": False}
    sgd([y], [wg.ones(2)], buffers, momentum=0.9, dampening=0.5, **options)
    assert y.tolist() == pytest.approx([0.9, 0.9])
    assert buffers[0].tolist() == [1.0, 1.0]
