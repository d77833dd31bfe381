"""Test optimiser steps against their formulas, in plain Python on one number."""

import itertools
import math

import numpy as np
import pytest

import wengert as wg

GRADIENTS = [0.5, -0.25, 0.75, 0.0, 1e-3, -2.0, 0.125]
"""What each step is given: of both signs, small and none."""


def sgd(p, lr=1e-3, momentum=0.0, dampening=0.0, weight_decay=0.0, nesterov=False, maximize=False):
    buffer = None
    while True:
        g = (yield p) * (-1 if maximize else 1) + weight_decay * p
        if momentum:
            # the first gradient is the buffer as it is: it is not dampened
            buffer = g if buffer is None else momentum * buffer + (1 - dampening) * g
            g = g + momentum * buffer if nesterov else buffer
        p -= lr * g


def adam(
    p, lr=1e-3, betas=(0.9, 0.999), eps=1e-8, weight_decay=0.0, amsgrad=False, maximize=False,
    decoupled_weight_decay=False,
):  # fmt: skip
    m = v = top = 0.0
    for t in itertools.count(1):
        g = (yield p) * (-1 if maximize else 1)
        if decoupled_weight_decay:
            p *= 1 - lr * weight_decay
        else:
            g += weight_decay * p
        m = betas[0] * m + (1 - betas[0]) * g
        v = betas[1] * v + (1 - betas[1]) * g * g
        top = max(top, v)
        scale = math.sqrt((top if amsgrad else v) / (1 - betas[1] ** t)) + eps
        p -= lr * m / (1 - betas[0] ** t) / scale


def adamax(p, lr=2e-3, betas=(0.9, 0.999), eps=1e-8, weight_decay=0.0):
    m = u = 0.0
    for t in itertools.count(1):
        g = (yield p) + weight_decay * p
        m = betas[0] * m + (1 - betas[0]) * g
        u = max(betas[1] * u, abs(g) + eps)
        p -= lr / (1 - betas[0] ** t) * m / u


def nadam(
    p, lr=2e-3, betas=(0.9, 0.999), eps=1e-8, weight_decay=0.0, momentum_decay=4e-3,
    decoupled_weight_decay=False,
):  # fmt: skip
    m = v = 0.0
    product = 1.0
    for t in itertools.count(1):
        g = yield p
        if decoupled_weight_decay:
            p *= 1 - lr * weight_decay
        else:
            g += weight_decay * p
        mu = betas[0] * (1 - 0.5 * 0.96 ** (t * momentum_decay))
        after = betas[0] * (1 - 0.5 * 0.96 ** ((t + 1) * momentum_decay))
        product *= mu
        m = betas[0] * m + (1 - betas[0]) * g
        v = betas[1] * v + (1 - betas[1]) * g * g
        scale = math.sqrt(v / (1 - betas[1] ** t)) + eps
        p -= lr * ((1 - mu) / (1 - product) * g + after / (1 - product * after) * m) / scale


def radam(p, lr=1e-3, betas=(0.9, 0.999), eps=1e-8, weight_decay=0.0, decoupled_weight_decay=False):
    m = v = 0.0
    longest = 2 / (1 - betas[1]) - 1
    for t in itertools.count(1):
        g = yield p
        if decoupled_weight_decay:
            p *= 1 - lr * weight_decay
        else:
            g += weight_decay * p
        m = betas[0] * m + (1 - betas[0]) * g
        v = betas[1] * v + (1 - betas[1]) * g * g
        fresh = 1 - betas[1] ** t
        length = longest - 2 * t * betas[1] ** t / fresh
        step = m / (1 - betas[0] ** t)
        if length > 5:
            above = (length - 4) * (length - 2) * longest
            below = (longest - 4) * (longest - 2) * length
            step *= math.sqrt(above / below) * math.sqrt(fresh) / (math.sqrt(v) + eps)
        p -= lr * step


def rmsprop(p, lr=1e-2, alpha=0.99, eps=1e-8, weight_decay=0.0, momentum=0.0, centered=False):
    v = mean = buffer = 0.0
    while True:
        g = (yield p) + weight_decay * p
        v = alpha * v + (1 - alpha) * g * g
        mean = alpha * mean + (1 - alpha) * g
        step = g / (math.sqrt(v - mean * mean if centered else v) + eps)
        buffer = momentum * buffer + step
        p -= lr * (buffer if momentum else step)


def rprop(p, lr=1e-2, etas=(0.5, 1.2), step_sizes=(1e-6, 50)):
    before, size = 0.0, lr
    while True:
        g = yield p
        if g * before > 0:
            size = min(size * etas[1], step_sizes[1])
        elif g * before < 0:
            size = max(size * etas[0], step_sizes[0])
            g = 0.0
        p -= math.copysign(size, g) if g else 0.0
        before = g


def adagrad(p, lr=1e-2, lr_decay=0.0, weight_decay=0.0, initial_accumulator_value=0.0, eps=1e-10):
    total = initial_accumulator_value
    for t in itertools.count():
        g = (yield p) + weight_decay * p
        total += g * g
        p -= lr / (1 + t * lr_decay) * g / (math.sqrt(total) + eps)


def adadelta(p, lr=1.0, rho=0.9, eps=1e-6, weight_decay=0.0):
    v = moved = 0.0
    while True:
        g = (yield p) + weight_decay * p
        v = rho * v + (1 - rho) * g * g
        step = math.sqrt(moved + eps) / math.sqrt(v + eps) * g
        moved = rho * moved + (1 - rho) * step * step
        p -= lr * step


def asgd(p, lr=1e-2, lambd=1e-4, alpha=0.75, t0=1e6, weight_decay=0.0):
    eta = lr
    for t in itertools.count(1):
        g = (yield p) + weight_decay * p
        p = p * (1 - lambd * eta) - eta * g
        eta = lr / (1 + lambd * lr * t) ** alpha


CASES = [
    (sgd, {"lr": 0.1}),
    (sgd, {"lr": 0.1, "weight_decay": 0.3, "maximize": True}),
    (sgd, {"lr": 0.1, "momentum": 0.9}),
    (sgd, {"lr": 0.1, "momentum": 0.9, "dampening": 0.4}),
    (sgd, {"lr": 0.1, "momentum": 0.5, "dampening": 0.4, "weight_decay": 0.2, "maximize": True}),
    (sgd, {"lr": 0.1, "momentum": 0.9, "nesterov": True, "weight_decay": 0.2}),
    (adam, {"lr": 0.1}),
    (adam, {"lr": 0.1, "eps": 0.5}),
    (adam, {"lr": 0.1, "eps": 0.5, "amsgrad": True, "betas": (0.5, 0.6)}),
    (adam, {"lr": 0.1, "weight_decay": 0.3, "maximize": True, "betas": (0.8, 0.7)}),
    (adam, {"lr": 0.1, "weight_decay": 0.3, "decoupled_weight_decay": True, "eps": 0.1}),
    (adamax, {"lr": 0.1, "eps": 0.2, "betas": (0.7, 0.6), "weight_decay": 0.2}),
    (nadam, {"lr": 0.1, "eps": 0.3, "weight_decay": 0.2, "betas": (0.7, 0.8)}),
    (nadam, {"lr": 0.1, "weight_decay": 0.2, "decoupled_weight_decay": True}),
    (nadam, {"lr": 0.1, "momentum_decay": 0.9}),
    (radam, {"lr": 0.1, "eps": 0.3, "weight_decay": 0.2}),
    (radam, {"lr": 0.1, "eps": 0.3, "betas": (0.6, 0.9)}),
    (radam, {"lr": 0.1, "weight_decay": 0.2, "decoupled_weight_decay": True}),
    (rmsprop, {"lr": 0.1}),
    (rmsprop, {"lr": 0.1, "alpha": 0.6, "eps": 0.4, "weight_decay": 0.2}),
    (rmsprop, {"lr": 0.1, "alpha": 0.6, "eps": 0.4, "momentum": 0.5}),
    (rmsprop, {"lr": 0.1, "alpha": 0.6, "eps": 0.4, "centered": True}),
    (rmsprop, {"lr": 0.1, "alpha": 0.6, "eps": 0.4, "centered": True, "momentum": 0.5}),
    (rprop, {"lr": 0.1}),
    (rprop, {"lr": 0.1, "etas": (0.3, 2.0), "step_sizes": (0.08, 0.15)}),
    (adagrad, {"lr": 0.1, "eps": 0.3}),
    (adagrad, {"lr": 0.1, "lr_decay": 0.5, "weight_decay": 0.2, "initial_accumulator_value": 2.0}),
    (adadelta, {"lr": 0.5, "eps": 0.2, "rho": 0.6, "weight_decay": 0.2}),
    (asgd, {"lr": 0.1, "lambd": 0.3, "alpha": 0.6, "weight_decay": 0.2}),
]
CLASSES = {
    formula.__name__: getattr(wg.optim, name)
    for formula, name in (
        *((sgd, "SGD"), (adam, "Adam"), (adamax, "Adamax"), (nadam, "NAdam"), (radam, "RAdam")),
        *((rmsprop, "RMSprop"), (rprop, "Rprop"), (adagrad, "Adagrad"), (adadelta, "Adadelta")),
        (asgd, "ASGD"),
    )
}
IDS = [f"{formula.__name__}-{'-'.join(options)}" for formula, options in CASES]


@pytest.mark.parametrize("differentiable", [False, True])
@pytest.mark.parametrize(("formula", "options"), CASES, ids=IDS)
def test_steps_are_those_of_the_formula(formula, options, differentiable):
    starts = [0.7, -0.3]
    # one that is a leaf is written to, one that is not is recorded
    params = [wg.tensor([start], dtype=wg.float64, requires_grad=True) for start in starts]
    if differentiable:
        params = [param.clone() for param in params]
    optimizer = CLASSES[formula.__name__](params, **options, differentiable=differentiable)
    expected = [formula(start, **options) for start in starts]
    for one in expected:
        next(one)
    # these keep numbers of their own in single precision, as PyTorch does
    close = 1e-6 if formula in (nadam, asgd) else 1e-12
    for i, g in enumerate(GRADIENTS):
        # the second parameter gets no gradient at first, and others from then on
        given = [g, None if i == 0 else -1.5 * g]
        for param, value in zip(params, given, strict=True):
            param.grad = None if value is None else wg.tensor([value], dtype=wg.float64)
        optimizer.step()
        for n, (param, value) in enumerate(zip(params, given, strict=True)):
            if value is not None:
                wanted = expected[n].send(value)
                assert param.item() == pytest.approx(wanted, rel=close), (i, n)


def adafactor(p, gradients, lr, beta2_decay, eps, d, weight_decay):
    rows, columns, flat = np.zeros((p.shape[0], 1)), np.zeros((1, p.shape[-1])), np.zeros(p.shape)
    for t, g in enumerate(gradients, 1):
        keep = 1 - t**beta2_decay
        alpha = max(eps[1], np.sqrt((p * p).mean())) * min(lr, 1 / math.sqrt(t))
        p = p * (1 - lr * weight_decay)
        if p.ndim > 1:
            rows = keep * rows + (1 - keep) * (g * g).mean(1, keepdims=True)
            columns = keep * columns + (1 - keep) * (g * g).mean(0, keepdims=True)
            flat = rows @ columns / max(rows.mean(), eps[0])
        else:
            flat = keep * flat + (1 - keep) * g * g
        step = g / np.sqrt(np.maximum(flat, eps[0] ** 2))
        p = p - alpha / max(1, np.sqrt((step * step).mean()) / d) * step
    return p


@pytest.mark.parametrize("shape", [(2, 3), (3, 2), (4,)])
@pytest.mark.parametrize(
    "options",
    [
        {"lr": 0.1, "beta2_decay": -0.8, "eps": (1e-9, 1e-3), "d": 1.0, "weight_decay": 0.0},
        {"lr": 0.9, "beta2_decay": -0.5, "eps": (0.3, 2.0), "d": 1.2, "weight_decay": 0.3},
        {"lr": 0.3, "beta2_decay": -0.9, "eps": (1e-9, 0.9), "d": 9.0, "weight_decay": 0.1},
    ],
)
def test_adafactor_is_its_formula(shape, options):
    rng = np.random.default_rng(0)
    start, *gradients = rng.standard_normal((5, *shape))
    param = wg.tensor(start, requires_grad=True)
    optimizer = wg.optim.Adafactor([param], **options)
    for g in gradients:
        param.grad = wg.tensor(g)
        optimizer.step()
    found = param.detach().numpy()
    # the number of steps is kept in single precision, as PyTorch does
    np.testing.assert_allclose(found, adafactor(start, gradients, **options), rtol=1e-5)


def muon(p, gradients, lr, weight_decay, momentum, nesterov, ns_steps):
    buffer = np.zeros_like(p)
    for g in gradients:
        buffer = momentum * buffer + (1 - momentum) * g
        update = (1 - momentum) * g + momentum * buffer if nesterov else buffer
        x = update.T if p.shape[0] > p.shape[1] else update
        x = x / max(np.linalg.norm(x), 1e-7)
        for _ in range(ns_steps):
            gram = x @ x.T
            x = 3.4445 * x + (-4.775 * gram + 2.0315 * gram @ gram) @ x
        x = x.T if p.shape[0] > p.shape[1] else x
        rate = lr * math.sqrt(max(1, p.shape[0] / p.shape[1]))
        p = p * (1 - lr * weight_decay) - rate * x
    return p


@pytest.mark.parametrize("shape", [(2, 4), (4, 2)])
@pytest.mark.parametrize("nesterov", [False, True])
def test_muon_is_its_formula(shape, nesterov):
    options = {"lr": 0.1, "weight_decay": 0.3, "momentum": 0.8, "ns_steps": 3}
    start, *gradients = np.random.default_rng(1).standard_normal((4, *shape))
    param = wg.tensor(start, requires_grad=True)
    optimizer = wg.optim.Muon([param], nesterov=nesterov, **options)
    for g in gradients:
        param.grad = wg.tensor(g)
        optimizer.step()
    expected = muon(start, gradients, nesterov=nesterov, **options)
    # the iteration runs in half precision, whose steps are 2**-8
    np.testing.assert_allclose(param.detach().numpy(), expected, atol=0.02)


def test_averages_of_weights_are_what_they_say():
    swa_utils = wg.optim.swa_utils
    start, now = [1.0, 3.0], [2.0, -1.0]
    for kind, scale in ((wg.float64, 1), (wg.complex128, 1j), (wg.int64, 1)):
        expected = [(0.75 * a + 0.25 * b) * scale for a, b in zip(start, now, strict=True)]
        means = [(a + (b - a) / 4) * scale for a, b in zip(start, now, strict=True)]
        if kind is wg.int64:
            expected, means = [1, 2], [1, 2]
        average, current = (
            wg.tensor([v * scale for v in values], dtype=wg.complex128 if scale == 1j else kind)
            for values in (start, now)
        )
        several = [average.clone()]
        swa_utils.get_ema_multi_avg_fn(0.75)(several, [current], 1)
        assert several[0].tolist() == expected
        if kind is not wg.int64:
            assert swa_utils.get_ema_avg_fn(0.75)(average, current, 1).tolist() == expected
            assert swa_utils.get_swa_avg_fn()(average, current, 3).tolist() == means
            several = [average.clone()]
            swa_utils.get_swa_multi_avg_fn()(several, [current], 3)
            assert several[0].tolist() == means


def test_hooks_of_states_run_in_the_order_in_which_they_were_registered():
    x = wg.ones(2, requires_grad=True)
    for name, run in (
        ("register_state_dict_pre_hook", lambda o: o.state_dict()),
        ("register_state_dict_post_hook", lambda o: o.state_dict()),
        ("register_load_state_dict_pre_hook", lambda o: o.load_state_dict(o.state_dict())),
        ("register_load_state_dict_post_hook", lambda o: o.load_state_dict(o.state_dict())),
    ):
        optimizer = wg.optim.SGD([x], lr=0.1)
        ran = []
        getattr(optimizer, name)(lambda *args, ran=ran: ran.append("first"))
        getattr(optimizer, name)(lambda *args, ran=ran: ran.append("second"))
        getattr(optimizer, name)(lambda *args, ran=ran: ran.append("ahead"), prepend=True)
        run(optimizer)
        assert ran == ["ahead", "first", "second"], name
