"""What programs do to an optimiser's state and groups between steps counts in the next step."""

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
