"""Test learning-rate schedules and averages of models."""

import pickle

import numpy as np
import pytest

import wengert as wg
from wengert.optim import lr_scheduler as schedules


def sgd(lr=1.0, **options):
    return wg.optim.SGD([wg.ones(2, requires_grad=True)], lr=lr, **options)


def rates(schedule, count):
    seen = []
    for _ in range(count):
        seen.append(schedule.get_last_lr()[0])
        schedule.optimizer.step()
        schedule.step()
    return seen


SEQUENCES = {
    "steps": (lambda o: schedules.StepLR(o, 2, 0.5), [1, 1, 0.5, 0.5, 0.25]),
    "to averages": (
        lambda o: wg.optim.swa_utils.SWALR(o, 0.2, 4),
        [1 - 0.4 * (1 - np.cos(np.pi * k / 4)) for k in range(5)] + [0.2],
    ),
    "straight to averages": (
        lambda o: wg.optim.swa_utils.SWALR(o, 0.2, 4, "linear"),
        [1, 0.8, 0.6, 0.4, 0.2, 0.2],
    ),
    "to averages in a step": (lambda o: wg.optim.swa_utils.SWALR(o, 0.2, 1), [1, 0.2, 0.2]),
    "to averages at once": (lambda o: wg.optim.swa_utils.SWALR(o, 0.2, 0), [0.2, 0.2, 0.2]),
    "milestones": (lambda o: schedules.MultiStepLR(o, [1, 3], 0.5), [1, 0.5, 0.5, 0.25]),
    "lambda": (lambda o: schedules.LambdaLR(o, lambda n: 1 / (n + 1)), [1, 1 / 2, 1 / 3]),
    "constant": (lambda o: schedules.ConstantLR(o, 0.5, 2), [0.5, 0.5, 1, 1]),
    "linear": (lambda o: schedules.LinearLR(o, 0.5, total_iters=2), [0.5, 0.75, 1, 1]),
    "polynomial": (lambda o: schedules.PolynomialLR(o, 4), [1, 0.75, 0.5, 0.25, 0, 0]),
    "cosine": (lambda o: schedules.CosineAnnealingLR(o, 2), [1, 0.5, 0, 0.5, 1]),
    "restarts": (lambda o: schedules.CosineAnnealingWarmRestarts(o, 2), [1, 0.5, 1, 0.5]),
    "cyclic": (
        lambda o: schedules.CyclicLR(o, 0, 1, 2, cycle_momentum=False),
        [0, 0.5, 1, 0.5, 0],
    ),
    "one cycle": (
        lambda o: schedules.OneCycleLR(
            o, 1.0, 5, pct_start=0.6, anneal_strategy="linear", cycle_momentum=False, div_factor=2
        ),
        [0.5, 0.75, 1],
    ),
}


@pytest.mark.parametrize("name", SEQUENCES)
def test_a_schedule_gives_its_sequence(name):
    make, expected = SEQUENCES[name]
    assert np.allclose(rates(make(sgd()), len(expected)), expected)


@pytest.mark.parametrize("name", SEQUENCES)
def test_a_saved_schedule_goes_on(name):
    make, _ = SEQUENCES[name]
    schedule = make(sgd())
    rates(schedule, 2)
    state = pickle.loads(
        pickle.dumps({"schedule": schedule.state_dict(), "sgd": schedule.optimizer.state_dict()})
    )
    other = make(sgd(lr=7.0))
    other.optimizer.load_state_dict(state["sgd"])
    other.load_state_dict(state["schedule"])
    assert rates(other, 3) == rates(schedule, 3)


def test_the_state_of_composed_schedules_holds_their_parts():
    def make():
        optimizer = sgd()
        parts = [schedules.ConstantLR(optimizer, 0.5, 2), schedules.ExponentialLR(optimizer, 0.9)]
        return schedules.SequentialLR(optimizer, parts, [3])

    schedule, other = make(), make()
    rates(schedule, 5)
    other.optimizer.load_state_dict(schedule.optimizer.state_dict())
    other.load_state_dict(schedule.state_dict())
    other.optimizer.step()
    assert rates(other, 3) == rates(schedule, 3)


def test_a_tensor_stays_the_one_that_the_optimizer_was_given():
    rate = wg.tensor(1.0)
    optimizer = sgd(lr=rate)
    schedule = schedules.ExponentialLR(optimizer, 0.5)
    optimizer.step()
    schedule.step()
    assert optimizer.param_groups[0]["lr"] is rate and rate.item() == 0.5
    schedule.get_last_lr()[0].fill_(3.0)
    assert rate.item() == 0.5


def test_momentum_goes_down_where_the_rate_goes_up():
    optimizer = sgd(momentum=0.5)
    schedule = schedules.CyclicLR(optimizer, 0, 1, 2, base_momentum=0.6, max_momentum=0.8)
    seen = []
    for _ in range(3):
        seen.append(optimizer.param_groups[0]["momentum"])
        optimizer.step()
        schedule.step()
    assert np.allclose(seen, [0.8, 0.7, 0.6])
    assert optimizer.defaults["momentum"] == 0.5


def test_a_plateau_lowers_the_rate_of_every_group_to_its_bound():
    params = [wg.ones(2, requires_grad=True) for _ in range(2)]
    optimizer = wg.optim.SGD([{"params": [p]} for p in params], lr=1.0)
    schedule = schedules.ReduceLROnPlateau(optimizer, factor=0.1, patience=0, min_lr=[0.5, 0.01])
    for _ in range(4):
        schedule.step(wg.tensor(1.0))
    assert np.allclose(schedule.get_last_lr(), [0.5, 0.01])


def test_the_wrong_order_of_steps_is_warned_of():
    schedule = schedules.StepLR(sgd(), 2)
    with pytest.warns(UserWarning, match="Detected call of `lr_scheduler.step\\(\\)` before"):
        schedule.step()


def test_a_step_that_was_put_in_place_is_warned_of():
    optimizer = sgd()
    schedule = schedules.StepLR(optimizer, 2)
    optimizer.step = lambda: None
    with pytest.warns(UserWarning, match="has been overridden"):
        schedule.step()


def test_asking_for_the_next_rates_is_warned_of():
    schedule = schedules.StepLR(sgd(), 2)
    with pytest.warns(UserWarning, match="please use `get_last_lr"):
        schedule.get_lr()


def test_a_numbered_step_is_warned_of():
    schedule = schedules.StepLR(sgd(), 2, 0.5)
    schedule.optimizer.step()
    with pytest.warns(UserWarning, match="The epoch parameter"):
        schedule.step(5)
    assert schedule.get_last_lr() == [0.25]


def test_a_cycle_has_an_end():
    schedule = schedules.OneCycleLR(sgd(momentum=0.9), 1.0, total_steps=2)
    rates(schedule, 2)
    with pytest.raises(ValueError, match="Tried to step 3 times"):
        schedule.step()


def test_a_schedule_of_another_optimizer_is_refused():
    one, other = sgd(), sgd()
    with pytest.raises(ValueError, match="to belong to the same optimizer"):
        schedules.ChainedScheduler([schedules.StepLR(one, 2), schedules.StepLR(other, 2)])


# -- averages --------------------------------------------------------------------------------------


def test_an_average_is_the_mean_of_parameters_and_leaves_the_model_alone():
    model = wg.nn.Linear(2, 1)
    average = wg.optim.swa_utils.AveragedModel(model)
    for value in (1.0, 3.0, 8.0):
        wg.nn.init.constant_(model.weight, value)
        average.update_parameters(model)
    assert average.module.weight.tolist() == [[4.0, 4.0]]
    assert model.weight.tolist() == [[8.0, 8.0]]
    assert average.n_averaged.item() == 3
    x = wg.ones(1, 2)
    assert wg.equal(average(x), average.module(x))


def test_norms_keep_their_momentum_when_statistics_are_found_anew():
    model = wg.nn.Sequential(wg.nn.BatchNorm1d(1, momentum=0.3)).eval()

    def batches():
        yield wg.tensor([[1.0], [3.0]])
        raise ValueError("no more")

    with pytest.raises(ValueError, match="no more"):
        wg.optim.swa_utils.update_bn(batches(), model)
    assert model[0].momentum == 0.3 and not model.training


def test_decays_lie_between_zero_and_one():
    for make in (wg.optim.swa_utils.get_ema_avg_fn, wg.optim.swa_utils.get_ema_multi_avg_fn):
        with pytest.raises(ValueError, match="Invalid decay value"):
            make(1.5)


def test_statistics_are_found_by_the_first_part_of_each_batch():
    model = wg.nn.BatchNorm1d(1)
    x, label = wg.tensor([[1.0], [3.0]]), wg.tensor([[5.0], [5.0]])
    for batch in (x, [x, label], (x, label)):
        model.running_mean.fill_(7.0)
        wg.optim.swa_utils.update_bn([batch], model)
        assert model.running_mean.tolist() == [2.0]


def test_an_average_is_told_by_one_function_how_it_is_made():
    model = wg.nn.Linear(1, 1, bias=False)
    one, several = (
        wg.optim.swa_utils.get_ema_avg_fn(0.5),
        wg.optim.swa_utils.get_ema_multi_avg_fn(0.5),
    )
    for given in ({"avg_fn": one}, {"multi_avg_fn": several}):
        average = wg.optim.swa_utils.AveragedModel(model, **given)
        for value in (1.0, 3.0):
            wg.nn.init.constant_(model.weight, value)
            average.update_parameters(model)
        assert average.module.weight.item() == 2.0
    with pytest.raises(AssertionError, match="Only one of avg_fn and multi_avg_fn"):
        wg.optim.swa_utils.AveragedModel(model, avg_fn=one, multi_avg_fn=several)


def test_a_state_of_one_cycle_may_hold_the_function_of_its_curve():
    schedule = schedules.OneCycleLR(sgd(momentum=0.9), 1.0, total_steps=4)
    del schedule._anneal_func_type
    state = schedule.state_dict()
    state["anneal_func"] = schedules.OneCycleLR._annealing_linear
    schedule.load_state_dict(state)
    expected = schedules.OneCycleLR(sgd(momentum=0.9), 1.0, total_steps=4, anneal_strategy="linear")
    for each in (schedule, expected):
        each.optimizer.step()
        each.step()
    assert schedule.get_last_lr() == expected.get_last_lr()
