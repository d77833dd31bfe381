"""Test that exceptions in user code leave modes, levels, versions, values and gradients intact."""

import warnings

import pytest

import wengert as wg
from wengert import func
from wengert.autograd import Function, forward_ad, gradcheck
from wengert.autograd.functional import jacobian
from wengert.autograd.graph import saved_tensors_hooks
from wengert.nn.utils import parametrize
from wengert.tape.modes import current_mode
from wengert.tape.watch import CURRENT
from wengert.utils.checkpoint import checkpoint


class Boom(Exception):
    """What is raised everywhere."""


def boom(*args, **kwargs):
    raise Boom


def late(count, result):
    """A function that raises when it is called the `count`-th time."""
    calls = []

    def function(*args):
        calls.append(args)
        if len(calls) == count:
            raise Boom
        return result(*args)

    return function


def write_and_raise(a):
    total = wg.zeros(2)
    total[0] = a
    raise Boom


class Dirty(Function):
    @staticmethod
    def forward(ctx, a):
        ctx.mark_dirty(a)
        raise Boom

    @staticmethod
    def backward(ctx, grad):
        return grad


class Raising(wg.nn.Module):
    def forward(self, a):
        raise Boom


def within(context, do):
    def program(x, w):
        with context():
            do(x, w)

    return program


def hooked(name):
    def program(x, w):
        model = wg.nn.Linear(2, 2)
        getattr(model, name)(boom)
        model(x).sum().backward()

    return program


def looking(x, w):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        with wg.autograd.detect_anomaly():
            y = x * w
            y.register_hook(boom)
            y.sum().backward()


def of_double(function):
    return lambda x, w: gradcheck(function, wg.ones(2, dtype=wg.float64, requires_grad=True))


def unpacking(x, w):
    with saved_tensors_hooks(lambda t: t, boom):
        y = (x * w).sum()
    y.backward()


def prehook(x, w):
    optimiser = wg.optim.SGD([w], 0.1)
    optimiser.register_step_pre_hook(boom)
    optimiser.step()


def recomputed(x, w):
    again = late(2, lambda a: (a * a).sin())
    checkpoint(again, x, use_reentrant=False).sum().backward()


PROGRAMS = {
    "vmap": lambda x, w: wg.vmap(boom)(x),
    "vmap within vmap": lambda x, w: wg.vmap(lambda a: wg.vmap(boom)(x * a))(x),
    "grad within vmap": lambda x, w: wg.vmap(func.grad(boom))(x),
    "a write within vmap": lambda x, w: wg.vmap(write_and_raise)(x),
    "grad": lambda x, w: func.grad(boom)(x),
    "vjp": lambda x, w: func.vjp(boom, x),
    "jvp": lambda x, w: func.jvp(boom, (x,), (w.detach(),)),
    "jacrev": lambda x, w: func.jacrev(boom)(x),
    "jacfwd": lambda x, w: func.jacfwd(boom)(x),
    "hessian": lambda x, w: func.hessian(boom)(x),
    "functional.jacobian": lambda x, w: jacobian(boom, x),
    "dual_level": within(forward_ad.dual_level, lambda x, w: boom(forward_ad.make_dual(x, w))),
    "compile": lambda x, w: wg.compile(boom)(x),
    "a compiled function": lambda x, w: wg.compile(lambda a: boom(a * w))(x),
    "an optimiser's closure": lambda x, w: wg.optim.SGD([w], 0.1).step(boom),
    "Adam's closure": lambda x, w: wg.optim.Adam([w]).step(boom),
    "LBFGS's closure": lambda x, w: wg.optim.LBFGS([w]).step(boom),
    "a hook of an optimiser": prehook,
    "packing": within(lambda: saved_tensors_hooks(boom, boom), lambda x, w: x * w),
    "unpacking": unpacking,
    "checkpoint": lambda x, w: checkpoint(boom, x, use_reentrant=False),
    "checkpoint, recomputed": recomputed,
    "a forward hook": hooked("register_forward_hook"),
    "a backward hook": hooked("register_full_backward_hook"),
    "no_grad": within(wg.no_grad, boom),
    "inference_mode": within(wg.inference_mode, boom),
    "fork_rng": within(wg.random.fork_rng, boom),
    "detect_anomaly": looking,
    "gradcheck": of_double(boom),
    "gradcheck, half-way": of_double(late(4, lambda a: a * 2)),
    "a Function that writes": lambda x, w: Dirty.apply(x * 1),
    "a parametrization": lambda x, w: parametrize.register_parametrization(
        wg.nn.Linear(2, 2), "weight", Raising()
    ),
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_all_is_as_before(name):
    x = wg.tensor([1.0, 2.0], requires_grad=True)
    w = wg.tensor([3.0, 4.0], requires_grad=True)
    w.grad = wg.ones(2)
    state = wg.get_rng_state()
    with pytest.raises(Boom):
        PROGRAMS[name](x, w)
    assert current_mode() is None and CURRENT.get() is None
    assert wg.is_grad_enabled() and not wg.is_inference_mode_enabled()
    assert (x.tolist(), w.tolist(), w.grad.tolist()) == ([1.0, 2.0], [3.0, 4.0], [1.0, 1.0])
    assert (x._version, w._version) == (0, 0)
    assert x.is_leaf and w.is_leaf and x.grad is None
    if "parametrization" not in name and "hook" not in name:
        assert wg.equal(wg.get_rng_state(), state)
    (x * w).sum().backward()
    assert (x.grad.tolist(), w.grad.tolist()) == ([3.0, 4.0], [2.0, 3.0])
    assert wg.vmap(lambda a: a * 2)(wg.ones(3)).tolist() == [2.0, 2.0, 2.0]
