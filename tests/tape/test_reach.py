import cProfile

import pytest

import wengert as wg


def visits(f):
    profile = cProfile.Profile()
    profile.runcall(f)
    return sum(entry.callcount for entry in profile.getstats())


def gradient_behind(length, differentiable):
    """The gradient of the end of a chain, of something that is made of it."""
    x = wg.tensor(1.5, requires_grad=True)
    for _ in range(length):
        x = x * 1.0
    y = x * x + x.sin()

    def gradient():
        return wg.autograd.grad(y, x, create_graph=differentiable, retain_graph=True)[0]

    return gradient


@pytest.mark.parametrize("differentiable", [False, True])
def test_a_gradient_by_what_was_computed_late_does_not_visit_what_is_older(differentiable):
    short, long = (gradient_behind(n, differentiable) for n in (10, 1000))
    assert short().item() == long().item() == pytest.approx(3.0707372)
    assert visits(short) == visits(long)


def test_a_gradient_by_an_old_and_a_late_tensor_finds_both():
    x = wg.tensor(1.5, requires_grad=True)
    old = x * 2.0
    late = old * old
    by_late, by_old, by_leaf = wg.autograd.grad(late * old, (late, old, x))
    assert (by_late.item(), by_old.item(), by_leaf.item()) == (3.0, 27.0, 54.0)


def test_gradients_of_gradients_along_a_trajectory_are_right():
    def energy(x, w):
        return (x * x * w).sin()

    def last(w):
        x = wg.tensor(0.5, dtype=wg.float64)
        for _ in range(20):
            x = x - 0.1 * wg.func.grad(energy)(x, w)
        return x

    w, h = wg.tensor(0.7, dtype=wg.float64), 1e-6
    numeric = (last(w + h) - last(w - h)) / (2 * h)
    assert wg.func.grad(last)(w).item() == pytest.approx(numeric.item(), rel=1e-7)
