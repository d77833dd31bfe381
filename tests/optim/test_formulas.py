"""Steps beside their formulas, written out for one number in plain Python."""

import itertools
import math

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
