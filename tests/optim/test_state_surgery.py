"""Test that changes to an optimiser's state and groups take effect in the next step."""

import importlib

import pytest

import wengert as wg


def leaf():
    param = wg.ones(3, requires_grad=True)
    param.grad = wg.ones(3)
    return param


def settled(make, steps=4):
    """A parameter and its optimiser, after so many steps that the next goes the quick way."""
    param = leaf()
    optimizer = make([param])
    for _ in range(steps):
        optimizer.step()
    return param, optimizer


def test_a_step_count_that_takes_the_place_of_another_counts():
    param, optimizer = settled(lambda params: wg.optim.Adam(params, lr=0.1))
    optimizer.state[param]["step"] = wg.tensor(50.0)
    optimizer.step()
    assert optimizer.state[param]["step"].item() == 51.0


def test_a_rate_of_averaged_descent_that_takes_the_place_of_another_counts():
    param, optimizer = settled(lambda params: wg.optim.ASGD(params, lr=0.1))
    before = param.detach().clone()
    optimizer.state[param]["eta"] = wg.tensor(50.0)
    optimizer.step()
    assert (param - before).abs().max().item() > 49.0


def test_a_step_count_that_is_written_to_counts():
    param, optimizer = settled(lambda params: wg.optim.Adam(params, lr=0.1))
    optimizer.state[param]["step"] += 5
    optimizer.step()
    assert optimizer.state[param]["step"].item() == 10.0


@pytest.mark.parametrize(
    "forget",
    [
        lambda state, param: state.clear(),
        lambda state, param: state.pop(param),
        lambda state, param: state[param].clear(),
        lambda state, param: state[param].update(momentum_buffer=wg.zeros(3)),
    ],
    ids=["all", "one", "its entries", "with zeros"],
)
def test_momentum_that_was_forgotten_begins_anew(forget):
    param, optimizer = settled(lambda params: wg.optim.SGD(params, lr=0.1, momentum=0.9))
    forget(optimizer.state, param)
    optimizer.step()
    assert wg.equal(optimizer.state[param]["momentum_buffer"], wg.ones(3))


def test_options_that_change_between_steps_count():
    param, optimizer = settled(lambda params: wg.optim.SGD(params, lr=0.1))
    optimizer.param_groups[0].update(lr=0.5, maximize=True)
    before = param.detach().clone()
    optimizer.step()
    assert wg.allclose(param, before + 0.5)
    optimizer.param_groups[0].update(momentum=0.9, maximize=False)
    optimizer.step()
    assert wg.equal(optimizer.state[param]["momentum_buffer"], wg.ones(3))


def test_a_parameter_that_takes_the_place_of_another_is_optimised():
    param, optimizer = settled(lambda params: wg.optim.SGD(params, lr=0.1, momentum=0.9))
    before = param.detach().clone()
    optimizer.param_groups[0]["params"][0] = other = leaf()
    optimizer.step()
    assert wg.equal(param, before)
    assert wg.allclose(other, wg.full((3,), 0.9))


def test_several_groups_are_printed_with_lines_between():
    text = repr(wg.optim.SGD([{"params": [leaf()]}, {"params": [leaf()], "lr": 1}], lr=0.1))
    assert text.startswith("SGD (\nParameter Group 0\n    dampening: 0\n")
    assert "    weight_decay: 0\n\nParameter Group 1\n    dampening: 0\n" in text
    assert text.endswith("    weight_decay: 0\n)")


def test_a_state_without_an_option_that_came_later_takes_its_default():
    param, optimizer = settled(lambda params: wg.optim.SGD(params, lr=0.1, momentum=0.5))
    state = optimizer.state_dict()
    del state["param_groups"][0]["nesterov"]
    other = wg.optim.SGD([param], lr=0.3)
    other.load_state_dict(state)
    (group,) = other.param_groups
    assert (group["lr"], group["momentum"], group["nesterov"]) == (0.1, 0.5, False)
    other.step()


@pytest.mark.parametrize("late", range(3))
def test_parameters_that_begin_later_count_their_own_steps(late):
    params = [leaf() for _ in range(3)]
    grad, params[late].grad = params[late].grad, None
    optimizer = wg.optim.Adam(params, lr=0.1)
    alone = leaf()
    for param in (*params, alone):
        with wg.no_grad():
            param.copy_(wg.tensor([1.0, 2.0, 3.0]))
    for _ in range(3):
        optimizer.step()
    params[late].grad = grad
    other = wg.optim.Adam([alone], lr=0.1)
    for i in range(4):
        for param in (*params, alone):
            param.grad.fill_(i + 1.0)
        optimizer.step()
        other.step()
    assert optimizer.state[params[late]]["step"].item() == 4
    assert wg.equal(params[late], alone)
    assert {optimizer.state[param]["step"].item() for param in params} == {4, 7}


def test_lists_of_tensors_are_grouped_by_device_and_dtype():
    group = importlib.import_module("wengert.utils._foreach_utils")
    a, b, c = wg.ones(1), wg.ones(2, dtype=wg.float64), wg.ones(3)
    lists = [[a, b, c], [1, None, 2], []]
    for with_indices, indices in ((False, [[], []]), (True, [[0, 2], [1]])):
        found = group._group_tensors_by_device_and_dtype(lists, with_indices)
        assert list(found) == [(a.device, wg.float32), (a.device, wg.float64)]
        ((one, of_one), (two, of_two)) = found.values()
        assert [of_one, of_two] == indices
        assert (one[1:], two[1:]) == ([[1, 2], []], [[None], []])
        assert one[0][0] is a and one[0][1] is c and two[0][0] is b
