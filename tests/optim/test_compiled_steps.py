"""Test optimiser steps in compiled functions."""

import numpy as np
import pytest

import wengert as wg

CASES = {
    "SGD": {"lr": 0.1},
    "SGD momentum": {"lr": 0.1, "momentum": 0.9, "nesterov": True, "weight_decay": 0.1},
    "Adam": {"lr": 0.1, "amsgrad": True},
    "AdamW": {"lr": 0.1},
    "RMSprop": {"centered": True, "momentum": 0.5},
    "Rprop": {},
    "ASGD": {"t0": 3},
}


def training(name, options):
    wg.manual_seed(0)
    weight = wg.randn(3, 2).requires_grad_()
    bias = wg.zeros(3, requires_grad=True)
    optimizer = getattr(wg.optim, name.split()[0])([weight, bias], **options)
    x, y = wg.randn(5, 2), wg.randn(5, 3)

    def step():
        optimizer.zero_grad()
        loss = ((wg.tanh(x @ weight.T + bias) - y) ** 2).mean()
        loss.backward()
        optimizer.step()
        return loss

    return step, optimizer, [weight, bias]


def compiled(step):
    return wg.compile(step, backend="numpy", fullgraph=True, options={"measure": False})


@pytest.mark.sampled(4)
@pytest.mark.parametrize("name", CASES)
def test_a_compiled_training_step_is_what_it_is_uncompiled(name):
    plain, _, params = training(name, CASES[name])
    step, optimizer, others = training(name, CASES[name])
    quick = compiled(step)
    for _ in range(6):
        assert np.isclose(quick().item(), plain().item(), rtol=1e-5)
    for one, other in zip(params, others, strict=True):
        assert np.allclose(one.detach().numpy(), other.detach().numpy(), rtol=1e-5, atol=1e-6)
        assert one._version == other._version
    assert quick.entries and quick.reason is None
    for kept in optimizer.state.values():
        assert kept.get("step", wg.tensor(6.0)).item() == 6


def test_a_schedule_writes_to_the_learning_rate_of_a_compiled_step():
    found = []
    for make in (compiled, lambda step: step):
        step, optimizer, params = training("AdamW", {"lr": wg.tensor(0.1)})
        schedule = wg.optim.lr_scheduler.ExponentialLR(optimizer, gamma=0.5)
        run = make(step)
        for _ in range(5):
            run()
            schedule.step()
        found.append(params[0].detach().numpy())
        if make is compiled:
            assert len(run.entries) == 1
    assert np.allclose(*found, rtol=1e-5, atol=1e-6)


def test_a_compiled_step_goes_on_from_a_loaded_state():
    step, optimizer, params = training("Adam", {"lr": 0.1})
    quick = compiled(step)
    for _ in range(3):
        quick()
    kept = optimizer.state_dict(), [p.detach().clone() for p in params]
    optimizer.load_state_dict(kept[0])
    found = []
    for run in (quick, step):
        optimizer.load_state_dict(kept[0])
        with wg.no_grad():
            for param, value in zip(params, kept[1], strict=True):
                param.copy_(value)
        run()
        found.append(params[0].detach().numpy().copy())
    assert np.allclose(*found, rtol=1e-5, atol=1e-6)


def test_a_function_that_makes_an_optimizer_each_time_runs_as_it_is():
    x = wg.ones(2, requires_grad=True)

    def step():
        optimizer = wg.optim.SGD([x], lr=0.5)
        optimizer.zero_grad()
        (x * x).sum().backward()
        optimizer.step()

    quick = wg.compile(step, backend="numpy", limit=2)
    with pytest.warns(UserWarning, match="step\\(\\) is not compiled"):
        for _ in range(4):
            quick()
    assert (x == 0).all()
