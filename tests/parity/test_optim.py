"""Test optimisers and schedules: trajectories, states, learning rates, errors."""

import warnings

import numpy as np
import pytest

import wengert
from support.parity import Failure, outcome

torch = pytest.importorskip("torch")
pytestmark = pytest.mark.torch

STEPS = 40
SHAPES = ((3, 4), ())
CASES = {
    "SGD": [
        {},
        {"momentum": 0.9, "dampening": 0.1, "weight_decay": 0.1, "lr": 0.01},
        {"momentum": 0.9, "nesterov": True, "lr": 0.01},
        {"momentum": 0.9, "maximize": True, "lr": 1e-3, "weight_decay": 0.1},
    ],
    "Adam": [
        {"lr": 0.01},
        {"lr": 0.01, "amsgrad": True, "weight_decay": 0.1, "betas": (0.5, 0.7)},
        {"lr": 0.01, "maximize": True, "eps": 1e-3},
        {"lr": 0.01, "weight_decay": 0.1, "decoupled_weight_decay": True},
        {"lr": 0.0},
    ],
    "AdamW": [{"lr": 0.01}, {"lr": 0.01, "amsgrad": True, "maximize": True}],
    "Adamax": [{}, {"weight_decay": 0.1, "maximize": True, "lr": 0.1}],
    "NAdam": [
        {},
        {"weight_decay": 0.1, "momentum_decay": 0.1},
        {"weight_decay": 0.1, "decoupled_weight_decay": True, "maximize": True},
    ],
    "RAdam": [
        {"lr": 0.01},
        {"weight_decay": 0.1, "betas": (0.9, 0.9)},
        {"weight_decay": 0.1, "decoupled_weight_decay": True, "maximize": True},
    ],
    "RMSprop": [
        {},
        {"centered": True},
        {"momentum": 0.9, "weight_decay": 0.1, "lr": 1e-3},
        {"momentum": 0.5, "centered": True, "maximize": True, "alpha": 0.8, "lr": 1e-3},
    ],
    "Rprop": [{}, {"maximize": True, "etas": (0.3, 1.5), "step_sizes": (1e-3, 0.1)}],
    "Adagrad": [
        {},
        {"lr_decay": 0.1, "initial_accumulator_value": 0.3, "weight_decay": 0.1},
        {"maximize": True, "eps": 1e-3},
    ],
    "Adadelta": [{}, {"weight_decay": 0.1, "maximize": True, "lr": 0.5, "rho": 0.5}],
    "ASGD": [{}, {"t0": 20, "weight_decay": 0.1, "lambd": 0.1}, {"maximize": True, "lr": 1e-3}],
    "Adafactor": [
        {},
        {"weight_decay": 0.1, "maximize": True, "lr": 0.1, "d": 2.0},
        {"eps": (1e-4, 1e-2), "beta2_decay": -0.5},
    ],
}
ALL = [(name, options) for name, several in CASES.items() for options in several]
IDS = [f"{name}-{'-'.join(options) or 'defaults'}" for name, options in ALL]


def started(module, name, options, dtype, complex_too=False):
    """An optimiser, and the parameters that it is for."""
    rng = np.random.default_rng(0)
    params = []
    for shape in SHAPES:
        value = np.asarray(rng.standard_normal(shape))
        if complex_too:
            value = value + 1j * rng.standard_normal(shape)
        params.append(module.tensor(value, dtype=getattr(module, dtype)).requires_grad_())
    return getattr(module.optim, name)(params, **options), params


def steps(module, optimizer, params, count, seed=1):
    """Let the parameters be drawn to noisy targets."""
    rng = np.random.default_rng(seed)
    for _ in range(count):
        for param in params:
            here = param.detach().numpy()
            grad = 2 * (here - rng.standard_normal(here.shape)) + np.sin(3 * here.real)
            param.grad = module.tensor(grad.astype(here.dtype), dtype=param.dtype)
        optimizer.step()
    return [param.detach().numpy() for param in params]


def assert_close(ours, theirs, dtype):
    # roundings of single precision add up over the steps
    tolerance = 1e-9 if dtype in ("float64", "complex128") else 1e-4
    for one, other in zip(ours, theirs, strict=True):
        np.testing.assert_allclose(one, other, rtol=tolerance, atol=tolerance * 1e-2)


@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize(("name", "options"), ALL, ids=IDS)
def test_a_trajectory_is_pytorchs(name, options, dtype):
    found, states, texts = [], [], []
    for module in (wengert, torch):
        optimizer, params = started(module, name, options, dtype)
        found.append(steps(module, optimizer, params, STEPS))
        states.append(optimizer.state_dict())
        texts.append(repr(optimizer))
    assert_close(*found, dtype)
    assert texts[0] == texts[1]
    ours, theirs = states
    assert ours["param_groups"] == theirs["param_groups"]
    assert list(ours["state"]) == list(theirs["state"])
    for place, kept in theirs["state"].items():
        assert list(ours["state"][place]) == list(kept)
        for key, value in kept.items():
            mine = ours["state"][place][key]
            assert str(mine.dtype) == str(value.dtype) and tuple(mine.shape) == tuple(value.shape)


@pytest.mark.parametrize("name", [name for name in CASES if name != "Adafactor"])
def test_a_trajectory_of_complex_parameters_is_pytorchs(name):
    found = []
    for module in (wengert, torch):
        optimizer, params = started(module, name, CASES[name][-1], "complex128", True)
        found.append(steps(module, optimizer, params, 20))
    assert_close(*found, "complex128")


@pytest.mark.parametrize(("name", "options"), ALL, ids=IDS)
def test_a_state_of_pytorchs_is_gone_on_from(name, options):
    theirs, params = started(torch, name, options, "float64")
    steps(torch, theirs, params, 7)
    ours, others = started(wengert, name, options, "float64")
    with wengert.no_grad():
        for other, param in zip(others, params, strict=True):
            other.copy_(wengert.tensor(param.detach().numpy()))
    state = theirs.state_dict()
    converted = {
        place: {
            key: wengert.tensor(value.numpy()) if isinstance(value, torch.Tensor) else value
            for key, value in kept.items()
        }
        for place, kept in state["state"].items()
    }
    ours.load_state_dict({"state": converted, "param_groups": state["param_groups"]})
    found = [
        steps(module, optimizer, its, 20, seed=2)
        for module, optimizer, its in ((wengert, ours, others), (torch, theirs, params))
    ]
    assert_close(*found, "float64")


@pytest.mark.parametrize("name", ["SGD", "Adam", "RMSprop", "Adagrad"])
def test_a_trajectory_through_a_tensor_rate_and_groups_is_pytorchs(name):
    found = []
    for module in (wengert, torch):
        _, params = started(module, name, {}, "float64")
        groups = [
            {"params": params[:1], "lr": module.tensor(0.02, dtype=module.float64)},
            {"params": params[1:], "weight_decay": 0.1},
        ]
        optimizer = getattr(module.optim, name)(groups, lr=0.03)
        found.append(steps(module, optimizer, params, 20))
    assert_close(*found, "float64")


@pytest.mark.parametrize("name", ["SGD", "Adam", "AdamW", "RMSprop", "Adagrad", "Adadelta"])
def test_gradients_through_recorded_steps_are_pytorchs(name, request):
    found = []
    for module in (wengert, torch):
        # of numbers that are kept PyTorch computes in the default dtype here
        request.addfinalizer(lambda module=module: module.set_default_dtype(module.float32))
        module.set_default_dtype(module.float64)
        start = module.tensor([1.0, -2.0, 0.5], dtype=module.float64, requires_grad=True)
        x = start * 1
        options = {"weight_decay": 0.1}
        optimizer = getattr(module.optim, name)([x], lr=0.1, differentiable=True, **options)
        for scale in (1.0, -2.0, 0.5):
            x.grad = module.tensor([0.3, 0.2, -1.0], dtype=module.float64) * scale
            optimizer.step()
        (x**3).sum().backward()
        found.append([x.detach().numpy(), start.grad.numpy()])
    assert_close(*found, "float64")


@pytest.mark.parametrize(
    ("shape", "options"),
    [
        ((4, 6), {}),
        ((6, 3), {"nesterov": False, "adjust_lr_fn": "match_rms_adamw"}),
        ((5, 5), {"weight_decay": 0.0, "momentum": 0.5}),
    ],
    ids=["wide", "tall", "square"],
)
def test_muon_goes_pytorchs_way_to_half_precision(shape, options):
    pytest.importorskip("ml_dtypes")
    found, count, lr = [], 50, 0.01
    for module in (wengert, torch):
        rng = np.random.default_rng(0)
        x = module.tensor(rng.standard_normal(shape).astype(np.float32)).requires_grad_()
        optimizer = module.optim.Muon([x], lr=lr, **options)
        for _ in range(count):
            x.grad = module.tensor(rng.standard_normal(shape).astype(np.float32))
            optimizer.step()
        found.append(x.detach().numpy())
    # each step is of elements of up to 1, rounded to eight bits
    assert np.abs(found[0] - found[1]).max() < count * lr * 2**-8


# -- LBFGS -----------------------------------------------------------------------------------------

ROWS = np.random.default_rng(3).standard_normal((20, 4))
SIDES = np.sign(np.random.default_rng(4).standard_normal(20))


def rosenbrock(module, x):
    return (100 * (x[1:] - x[:-1] ** 2) ** 2 + (1 - x[:-1]) ** 2).sum()


def logistic(module, x):
    margins = module.tensor(ROWS) @ x * module.tensor(SIDES)
    return module.nn.functional.softplus(-margins).mean() + 0.01 * (x**2).sum()


@pytest.mark.parametrize("problem", [rosenbrock, logistic])
@pytest.mark.parametrize(
    "options",
    [
        {"line_search_fn": "strong_wolfe"},
        {"line_search_fn": "strong_wolfe", "history_size": 3, "max_iter": 30},
        {"line_search_fn": "strong_wolfe", "max_iter": 5, "lr": 0.5},
        {"lr": 0.01},
    ],
    ids=["strong Wolfe", "short memory", "few iterations", "fixed steps"],
)
def test_lbfgs_goes_pytorchs_way(problem, options):
    found, counts = [], []
    for module in (wengert, torch):
        x = module.tensor([-1.2, 1.0, 0.7, 2.0], dtype=module.float64, requires_grad=True)
        optimizer = module.optim.LBFGS([x], **options)

        def closure(module=module, x=x, optimizer=optimizer):
            optimizer.zero_grad()
            loss = problem(module, x)
            loss.backward()
            return loss

        path = []
        for _ in range(4):
            optimizer.step(closure)
            path.append(x.detach().numpy().copy())
        found.append(path)
        state = optimizer.state[x]
        counts.append((state["func_evals"], state["n_iter"], sorted(state)))
    # each point follows from differences of the ones before
    for one, other in zip(*found, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-7)
    assert counts[0] == counts[1]


# -- schedules -------------------------------------------------------------------------------------

SCHEDULES = {
    "LambdaLR": [{"lr_lambda": lambda epoch: 0.95**epoch}],
    "MultiplicativeLR": [{"lr_lambda": lambda epoch: 0.9 + 0.01 * epoch}],
    "StepLR": [{"step_size": 4, "gamma": 0.3}],
    "MultiStepLR": [{"milestones": [3, 7, 7, 20], "gamma": 0.5}],
    "ConstantLR": [{}],
    "LinearLR": [{"start_factor": 0.2, "end_factor": 0.9, "total_iters": 10}],
    "ExponentialLR": [{"gamma": 0.9}],
    "PolynomialLR": [{"total_iters": 12, "power": 2.0}],
    "CosineAnnealingLR": [{"T_max": 7, "eta_min": 0.01}],
    "CosineAnnealingWarmRestarts": [{"T_0": 3, "T_mult": 2, "eta_min": 1e-3}, {"T_0": 4}],
    "CyclicLR": [
        {"base_lr": 0.01, "max_lr": 0.2, "step_size_up": 4},
        {
            "base_lr": 0.01,
            "max_lr": 0.2,
            "step_size_up": 4,
            "step_size_down": 7,
            "mode": "triangular2",
        },
        {"base_lr": 0.01, "max_lr": 0.2, "step_size_up": 4, "mode": "exp_range", "gamma": 0.95},
        {
            "base_lr": 0.01,
            "max_lr": 0.2,
            "scale_fn": lambda x: 0.9**x,
            "cycle_momentum": False,
        },
    ],
    "OneCycleLR": [
        {"max_lr": 0.3, "total_steps": 31},
        {
            "max_lr": 0.3,
            "epochs": 4,
            "steps_per_epoch": 8,
            "three_phase": True,
            "anneal_strategy": "linear",
        },
        {"max_lr": [0.3, 0.2], "total_steps": 40, "cycle_momentum": False},
    ],
    "SWALR": [
        {"swa_lr": 0.05},
        {"swa_lr": [0.05, 0.2], "anneal_epochs": 4, "anneal_strategy": "linear"},
    ],
}
EVERY = [(name, options) for name, several in SCHEDULES.items() for options in several]


def scheduled(module, name, options, optimizer_name="SGD", as_tensors=False):
    """What a schedule sets in 30 steps, the schedule, and what it is called with another number."""
    params = [module.ones(2).requires_grad_(), module.ones(3).requires_grad_()]
    rates = [module.tensor(rate) if as_tensors else rate for rate in (0.1, 0.05)]
    more = {"momentum": 0.9} if optimizer_name == "SGD" else {}
    optimizer = getattr(module.optim, optimizer_name)(
        [{"params": [params[0]]}, {"params": [params[1]], "lr": rates[1]}], lr=rates[0], **more
    )
    space = module.optim.swa_utils if name == "SWALR" else module.optim.lr_scheduler
    schedule = getattr(space, name)(optimizer, **options)
    seen = []
    for _ in range(30):
        momenta = [group.get("momentum", group.get("betas")) for group in optimizer.param_groups]
        rates = [float(group["lr"]) for group in optimizer.param_groups]
        seen.append([rates, momenta, [float(rate) for rate in schedule.get_last_lr()]])
        optimizer.step()
        schedule.step()
    keys = [sorted(group) for group in optimizer.param_groups]
    return seen, sorted(schedule.state_dict()), keys


@pytest.mark.parametrize("as_tensors", [False, True], ids=["numbers", "tensors"])
@pytest.mark.parametrize("optimizer", ["SGD", "Adam"])
@pytest.mark.parametrize(
    ("name", "options"), EVERY, ids=[f"{name}-{'-'.join(options)}" for name, options in EVERY]
)
def test_a_schedule_is_pytorchs(name, options, optimizer, as_tensors):
    ours, theirs = (
        scheduled(module, name, options, optimizer, as_tensors) for module in (wengert, torch)
    )
    assert ours == theirs


def composed(module):
    schedules = module.optim.lr_scheduler
    param = module.ones(2).requires_grad_()

    def sgd():
        return module.optim.SGD([param], lr=0.1)

    def one_after_the_other(optimizer):
        parts = [
            schedules.ConstantLR(optimizer, factor=0.1, total_iters=20),
            schedules.ExponentialLR(optimizer, 0.9),
            schedules.CosineAnnealingLR(optimizer, 5),
        ]
        return schedules.SequentialLR(optimizer, parts, [5, 12])

    def nested(optimizer):
        first = [schedules.ConstantLR(optimizer), schedules.ExponentialLR(optimizer, 0.9)]
        inner = schedules.SequentialLR(optimizer, first, [3])
        return schedules.SequentialLR(optimizer, [inner, schedules.StepLR(optimizer, 2)], [9])

    def at_once(optimizer):
        parts = [
            schedules.ConstantLR(optimizer, factor=0.1, total_iters=20),
            schedules.ExponentialLR(optimizer, 0.9),
        ]
        return schedules.ChainedScheduler(parts, optimizer=optimizer)

    found = []
    for make in (one_after_the_other, nested, at_once):
        optimizer = sgd()
        schedule = make(optimizer)
        for _ in range(30):
            found.append(list(schedule.get_last_lr()))
            optimizer.step()
            schedule.step()
        found.append(sorted(schedule.state_dict()))
    for options in (
        {"patience": 2, "cooldown": 1, "factor": 0.5, "min_lr": 0.01},
        {"mode": "max", "patience": 0, "threshold_mode": "abs", "threshold": 0.1},
    ):
        schedule = schedules.ReduceLROnPlateau(sgd(), **options)
        for value in np.random.default_rng(0).random(30):
            schedule.step(module.tensor(value))
            found.append([*schedule.get_last_lr(), schedule.num_bad_epochs])
        found.append(sorted(schedule.state_dict()))
    return found


@pytest.mark.filterwarnings("ignore:Detected call of:UserWarning")
def test_composed_schedules_are_pytorchs():
    ours, theirs = composed(wengert), composed(torch)
    assert ours == theirs


@pytest.mark.parametrize(
    "name",
    [
        *("LambdaLR", "StepLR", "MultiStepLR", "ConstantLR", "LinearLR", "ExponentialLR"),
        *("PolynomialLR", "CosineAnnealingLR", "CosineAnnealingWarmRestarts"),
    ],
)
def test_a_numbered_step_is_pytorchs(name):
    found = []
    for module in (wengert, torch):
        optimizer = module.optim.SGD([module.ones(2).requires_grad_()], lr=0.1)
        schedule = getattr(module.optim.lr_scheduler, name)(optimizer, **SCHEDULES[name][0])
        optimizer.step()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)
            found.append([])
            for epoch in (9, 2, 11):
                schedule.step(epoch)
                found[-1] += schedule.get_last_lr()
    assert found[0] == found[1]


# -- errors ----------------------------------------------------------------------------------------


def param(module):
    return module.ones(2).requires_grad_()


ERRORS = {
    "tensor": lambda m: m.optim.SGD(param(m)),
    "empty": lambda m: m.optim.SGD([]),
    "non-leaf": lambda m: m.optim.SGD([param(m) * 2]),
    "not a tensor": lambda m: m.optim.SGD([3]),
    "set": lambda m: m.optim.SGD([{"params": {param(m)}}]),
    "named and not": lambda m: m.optim.SGD([("a", param(m)), param(m)]),
    "lr": lambda m: m.optim.SGD([param(m)], lr=-1),
    "lr tensor": lambda m: m.optim.Adam([param(m)], lr=m.ones(2)),
    "momentum": lambda m: m.optim.SGD([param(m)], momentum=-1),
    "nesterov": lambda m: m.optim.SGD([param(m)], nesterov=True),
    "betas": lambda m: m.optim.Adam([param(m)], betas=(0.9, 1.5)),
    "betas kinds": lambda m: m.optim.Adam([param(m)], betas=(0.9, m.tensor(0.5))),
    "eps": lambda m: m.optim.RMSprop([param(m)], eps=-1),
    "decay": lambda m: m.optim.AdamW([param(m)], weight_decay=-1),
    "etas": lambda m: m.optim.Rprop([param(m)], etas=(1.1, 1.2)),
    "rho": lambda m: m.optim.Adadelta([param(m)], rho=1.5),
    "accumulator": lambda m: m.optim.Adagrad([param(m)], initial_accumulator_value=-1),
    "adafactor": lambda m: m.optim.Adafactor([param(m)], lr=-1.0),
    "fused": lambda m: m.optim.Adam([param(m)], fused=True, foreach=True),
    "groups of LBFGS": lambda m: m.optim.LBFGS([{"params": [param(m)]}, {"params": [param(m)]}]),
    "no optimizer": lambda m: m.optim.lr_scheduler.StepLR(3, 2),
    "resumed": lambda m: m.optim.lr_scheduler.StepLR(m.optim.SGD([param(m)]), 2, last_epoch=3),
    "lambdas": lambda m: m.optim.lr_scheduler.LambdaLR(m.optim.SGD([param(m)]), [abs, abs]),
    "factor": lambda m: m.optim.lr_scheduler.ConstantLR(m.optim.SGD([param(m)]), factor=2),
    "start": lambda m: m.optim.lr_scheduler.LinearLR(m.optim.SGD([param(m)]), start_factor=0),
    "milestones": lambda m: m.optim.lr_scheduler.SequentialLR(
        (optimizer := m.optim.SGD([param(m)])),
        [m.optim.lr_scheduler.ExponentialLR(optimizer, 0.5)],
        [3],
    ),
    "no momentum": lambda m: m.optim.lr_scheduler.CyclicLR(m.optim.Adagrad([param(m)]), 0.1, 0.2),
    "steps": lambda m: m.optim.lr_scheduler.OneCycleLR(
        m.optim.SGD([param(m)], momentum=0.9), max_lr=1
    ),
    "no steps": lambda m: m.optim.lr_scheduler.OneCycleLR(
        m.optim.SGD([param(m)], momentum=0.9), max_lr=1, total_steps=0
    ),
    "plateau": lambda m: m.optim.lr_scheduler.ReduceLROnPlateau(
        m.optim.SGD([param(m)]), mode="mean"
    ),
    "swa": lambda m: m.optim.swa_utils.SWALR(m.optim.SGD([param(m)]), 0.1, anneal_strategy="x"),
    "ema": lambda m: m.optim.swa_utils.get_ema_avg_fn(2.0),
}


@pytest.mark.parametrize("name", ERRORS)
def test_an_error_begins_as_pytorchs(name):
    ours, theirs = (outcome(ERRORS[name], module) for module in (wengert, torch))
    assert isinstance(theirs, Failure)
    assert isinstance(ours, Failure)
    assert ours.kind == theirs.kind
    assert ours.words(3) == theirs.words(3)


# -- averages --------------------------------------------------------------------------------------


@pytest.mark.parametrize("way", ["mean", "ema", "ema of lists", "buffers", "one of ones own"])
def test_averaged_models_are_pytorchs(way):
    found = []
    for module in (wengert, torch):
        rng = np.random.default_rng(5)
        tools = module.optim.swa_utils
        options = {
            "mean": {},
            "ema": {"avg_fn": tools.get_ema_avg_fn(0.8)},
            "ema of lists": {"multi_avg_fn": tools.get_ema_multi_avg_fn(0.8)},
            "buffers": {"use_buffers": True},
            "one of ones own": {"avg_fn": lambda mean, new, count: (mean * count + new) / 7},
        }[way]
        model = module.nn.Sequential(module.nn.Linear(3, 2), module.nn.BatchNorm1d(2)).double()
        average = tools.AveragedModel(model, **options)
        batches = []
        for _ in range(4):
            with module.no_grad():
                for tensor in model.parameters():
                    tensor.copy_(module.tensor(rng.standard_normal(tuple(tensor.shape))))
            batches.append(module.tensor(rng.standard_normal((5, 3))))
            model(batches[-1])
            average.update_parameters(model)
        state = {name: value.numpy() for name, value in average.state_dict().items()}
        tools.update_bn([(batch, None) for batch in batches], average)
        state["after"] = average.module[1].running_var.numpy()
        found.append(state)
    assert list(found[0]) == list(found[1])
    for name, value in found[1].items():
        np.testing.assert_allclose(found[0][name], value, rtol=1e-10)
