"""Test LBFGS: convergence, closures, state."""

import copy

import numpy as np
import pytest

import wengert as wg


def rosenbrock(x):
    return (100 * (x[1:] - x[:-1] ** 2) ** 2 + (1 - x[:-1]) ** 2).sum()


def problem(**options):
    x = wg.tensor([-1.2, 1.0], dtype=wg.float64, requires_grad=True)
    optimizer = wg.optim.LBFGS([x], **options)

    def closure():
        optimizer.zero_grad()
        loss = rosenbrock(x)
        loss.backward()
        return loss

    return x, optimizer, closure


def test_the_minimum_of_rosenbrock_is_found():
    x, optimizer, closure = problem(max_iter=100, line_search_fn="strong_wolfe")
    first = optimizer.step(closure)
    assert first.item() == pytest.approx(24.2)
    assert np.allclose(x.detach().numpy(), 1.0, atol=1e-4)


def test_several_parameters_are_one_vector():
    a, b = (wg.tensor(v, dtype=wg.float64, requires_grad=True) for v in ([-1.2], 1.0))
    unused = wg.ones((2, 2), dtype=wg.float64, requires_grad=True)
    optimizer = wg.optim.LBFGS([a, b, unused], max_iter=100, line_search_fn="strong_wolfe")

    def closure():
        optimizer.zero_grad()
        loss = rosenbrock(wg.cat([a, b.reshape(1)]))
        loss.backward()
        return loss

    optimizer.step(closure)
    assert np.allclose([a.item(), b.item()], 1.0, atol=1e-4)
    assert (unused == 1).all()


def test_complex_parameters_are_pairs_of_real_ones():
    z = wg.tensor([1 + 1j, 2 - 1j], dtype=wg.complex128, requires_grad=True)
    optimizer = wg.optim.LBFGS([z], line_search_fn="strong_wolfe")

    def closure():
        optimizer.zero_grad()
        loss = ((z - (3 - 2j)).abs() ** 2).sum()
        loss.backward()
        return loss

    optimizer.step(closure)
    assert np.allclose(z.detach().numpy(), 3 - 2j)


def test_a_saved_state_goes_on_to_the_bit():
    options = {"max_iter": 4, "line_search_fn": "strong_wolfe"}
    x, optimizer, closure = problem(**options)
    optimizer.step(closure)
    y, other, other_closure = problem(**options)
    with wg.no_grad():
        y.copy_(x)
    other.load_state_dict(copy.deepcopy(optimizer.state_dict()))
    optimizer.step(closure)
    other.step(other_closure)
    assert wg.equal(x, y)


def test_at_a_minimum_nothing_moves():
    x, optimizer, closure = problem()
    with wg.no_grad():
        x.fill_(1.0)
    optimizer.step(closure)
    assert (x == 1).all() and optimizer.state[x]["n_iter"] == 0


def test_where_the_closure_raises_parameters_are_back():
    x, optimizer, closure = problem(line_search_fn="strong_wolfe")
    before = x.detach().clone()
    calls = []

    def failing():
        calls.append(1)
        if len(calls) == 2:
            raise ValueError("no")
        return closure()

    with pytest.raises(ValueError, match="no"):
        optimizer.step(failing)
    assert wg.equal(x.detach(), before)


def test_one_group_and_one_line_search_are_all_there_is():
    x, optimizer, closure = problem(line_search_fn="armijo")
    with pytest.raises(RuntimeError, match="only 'strong_wolfe' is supported"):
        optimizer.step(closure)
    with pytest.raises(ValueError, match="LBFGS doesn't support per-parameter options"):
        wg.optim.LBFGS([{"params": [x]}, {"params": [wg.ones(1)]}])


def test_a_group_that_is_added_later_is_refused():
    first, second = wg.ones(2, requires_grad=True), wg.ones(2, requires_grad=True)
    optimizer = wg.optim.LBFGS([first])
    optimizer.add_param_group({"params": [second]})
    with pytest.raises(ValueError, match="doesn't support per-parameter options"):
        optimizer.step(lambda: first.sum() + second.sum())


def test_a_straight_line_is_followed_ten_times_as_far_each_time():
    x = wg.ones(1, requires_grad=True)
    optimizer = wg.optim.LBFGS([x], max_iter=1, max_eval=3, line_search_fn="strong_wolfe")
    met = []

    def closure():
        optimizer.zero_grad()
        loss = x.sum()
        loss.backward()
        met.append(loss.item())
        return loss

    optimizer.step(closure)
    # from 1 by 1, by 10, by 100, ...
    assert met[:4] == [1.0, 0.0, -9.0, -99.0]


def test_a_step_evaluates_a_quarter_more_often_than_it_moves():
    for count, most in ((20, 25), (4, 5), (3, 3)):
        optimizer = wg.optim.LBFGS([wg.ones(1, requires_grad=True)], max_iter=count)
        assert optimizer.param_groups[0]["max_eval"] == most
