"""Test minimisation over partitions, in this process."""

import io
import math
import sys
from types import SimpleNamespace

import numpy as np
import pytest

import wengert as wg
from wengert.base import progress

pytest.importorskip("dask")

from wengert.distributed import PartitionError, fit, partitions, value_and_grad

RNG = np.random.default_rng(0)
X = RNG.normal(size=(60, 3))
Y = X @ np.array([1.0, -2.0, 0.5]) + 0.3
DATA = [(X[i : i + 10], Y[i : i + 10]) for i in range(0, 60, 10)]


def loss(params, batch):
    x, y = batch
    return ((x @ params["w"] + params["b"] - y) ** 2).mean()


def descend(params, grads):
    return {name: params[name] - 0.1 * grads[name] for name in params}


START = {"w": np.zeros(3), "b": 0.0}


def tensors():
    return {
        "w": wg.zeros(3, dtype=wg.float64, requires_grad=True),
        "b": wg.zeros((), dtype=wg.float64, requires_grad=True),
    }


def test_a_function_as_optimizer_takes_the_steps_that_one_machine_takes():
    found = fit(loss, START, DATA, descend, steps=30)
    params = dict(START)
    history = []
    for _ in range(30):
        value, grads = value_and_grad(loss)(params, [(X, Y)])
        params = descend(params, grads)
        history.append(value.item())
    assert np.allclose(found.history, history, rtol=1e-12)
    assert np.allclose(found.params["w"], params["w"], rtol=1e-12)
    assert (found.value, found.reason) == (found.history[-1], "steps")
    assert START["b"] == 0.0 and not START["w"].any()


def test_a_function_may_write_to_the_parameters():
    params = tensors()

    def write(params, grads):
        with wg.no_grad():
            for name in params:
                params[name] -= 0.1 * grads[name]

    found = fit(loss, params, DATA, write, steps=5)
    assert found.params is params
    assert np.array_equal(
        params["w"].detach(), fit(loss, START, DATA, descend, steps=5).params["w"]
    )


@pytest.mark.parametrize(
    ("make", "steps"),
    [
        (lambda p: wg.optim.SGD(p, lr=0.1, momentum=0.5), 60),
        (lambda p: wg.optim.Adam(p, lr=0.1), 150),
        (lambda p: wg.optim.LBFGS(p, line_search_fn="strong_wolfe"), 2),
    ],
    ids=["SGD", "Adam", "LBFGS"],
)
def test_an_optimizer_finds_the_minimum(make, steps):
    params = tensors()
    found = fit(loss, params, DATA, make(list(params.values())), steps=steps)
    assert found.params is params
    assert np.allclose(params["w"].detach(), [1, -2, 0.5], atol=0.01)
    assert abs(params["b"].item() - 0.3) < 0.01
    assert len(found.history) == steps


def module():
    wg.manual_seed(0)
    return wg.nn.Sequential(
        wg.nn.Linear(3, 4), wg.nn.BatchNorm1d(4), wg.nn.Tanh(), wg.nn.Linear(4, 1)
    ).double()


def of_module(model, batch):
    x, y = batch
    return ((model(x).squeeze(1) - y) ** 2).mean()


def test_a_module_is_trained_as_on_one_machine():
    model, alone = module(), module()
    model[1].eval(), alone[1].eval()  # statistics of batches would not be those of all data
    fit(of_module, model, DATA, wg.optim.SGD(model.parameters(), lr=0.1), steps=10)
    optimizer = wg.optim.SGD(alone.parameters(), lr=0.1)
    for _ in range(10):
        optimizer.zero_grad()
        of_module(alone, (wg.tensor(X), wg.tensor(Y))).backward()
        optimizer.step()
    for mine, right in zip(model.parameters(), alone.parameters(), strict=True):
        assert np.allclose(mine.detach(), right.detach(), rtol=1e-12, atol=1e-14)


@pytest.mark.parametrize("scheduler", ["synchronous", "threads"])
def test_the_buffers_of_a_module_are_the_mean_of_those_of_the_partitions(scheduler):
    model = module()
    expected = []
    for batch in DATA:
        one = module()
        of_module(one, tuple(map(wg.tensor, batch)))
        expected.append(one[1].running_mean.numpy())
    value_and_grad(of_module, scheduler=scheduler)(model, DATA)
    assert np.allclose(model[1].running_mean, np.mean(expected, axis=0), rtol=1e-12)
    assert model[1].num_batches_tracked == 1
    before = model[1].running_mean.tolist()
    value_and_grad(of_module)(model.eval(), DATA)
    assert model[1].running_mean.tolist() == before


def test_the_gradients_of_a_module_go_by_name():
    model = module()
    model[0].bias.requires_grad_(False)
    model.register_parameter("unused", wg.nn.Parameter(wg.ones(1)))
    _, grads = value_and_grad(of_module)(model, DATA)
    assert list(grads) == [n for n, p in model.named_parameters() if p.requires_grad]
    assert grads["unused"] is None
    assert grads["3.weight"].shape == (1, 4)
    assert all(p.grad is None for p in model.parameters())


def test_steps_take_some_partitions_and_each_epoch_takes_all():
    seen = []

    def noted(params, batch):
        seen.append(batch[1][0].item())
        return loss(params, batch)

    run = lambda seed: fit(noted, START, DATA, descend, steps=6, per_step=2, seed=seed)  # noqa: E731
    first = run(0)
    firsts = [float(y[0]) for _, y in DATA]
    assert sorted(seen[:6]) == sorted(seen[6:]) == sorted(firsts)
    assert seen[:6] != seen[6:]
    assert run(0).history == first.history != run(1).history


def test_a_fit_ends_when_the_loss_changes_no_more():
    found = fit(loss, START, DATA, descend, steps=500, tolerance=1e-6)
    assert found.reason == "tolerance"
    assert 5 < len(found.history) < 500


@pytest.mark.parametrize("way", ["true", "raise"])
def test_a_callback_sees_the_steps_and_may_end_them(way):
    seen = []

    def callback(state):
        seen.append((state.step, state.value, state.params["b"], state.gradients["b"]))
        if state.step == 3:
            if way == "raise":
                raise StopIteration
            return True
        return None

    found = fit(loss, START, DATA, descend, callback=callback)
    assert (found.reason, len(found.history)) == ("callback", 4)
    assert [s[0] for s in seen] == [0, 1, 2, 3]
    assert [s[1] for s in seen] == found.history
    assert seen[0][2] == -0.1 * seen[0][3]
    assert seen[-1][2] == found.params["b"]


def test_no_steps_change_nothing():
    found = fit(loss, START, DATA, descend, steps=0)
    assert found.params is START and math.isnan(found.value) and found.history == []


class Terminal(io.StringIO):
    def isatty(self):
        return True


def test_progress_is_lines_in_a_file_and_a_bar_in_a_terminal(capsys, monkeypatch):
    monkeypatch.setattr(progress, "tqdm", lambda: None)
    file, terminal = io.StringIO(), Terminal()
    fit(loss, START, DATA, descend, steps=20, progress=file)
    lines = file.getvalue().splitlines()
    assert len(lines) == 12 and lines[-2].startswith("step 20/20  loss 0.")
    fit(loss, START, DATA, descend, steps=20, progress=terminal)
    assert (
        terminal.getvalue().rpartition("\r")[2].startswith("[" + "#" * 24 + "] step 20/20  loss ")
    )
    fit(loss, START, DATA, descend, steps=2)
    assert capsys.readouterr().err == ""
    fit(loss, START, DATA, descend, steps=2, progress=True)
    assert "step 2/2" in capsys.readouterr().err


class Bar:
    made = ()

    def __init__(self, **given):
        self.n, self.given, self.said = 0, given, []
        Bar.made = (*Bar.made, self)

    def set_postfix_str(self, text, refresh=True):
        self.said.append(text)

    def update(self, count):
        self.n += count

    def close(self):
        self.said.append("closed")


def test_the_bar_is_that_of_tqdm_in_terminals_and_notebooks(monkeypatch, capsys):
    monkeypatch.setattr(progress, "tqdm", lambda: Bar)
    fit(loss, START, DATA, descend, steps=3, progress=(terminal := Terminal()))
    fit(loss, START, DATA, descend, steps=3, progress=io.StringIO())  # lines, no bar
    shell = SimpleNamespace(kernel=None)
    monkeypatch.setitem(sys.modules, "IPython", SimpleNamespace(get_ipython=lambda: shell))
    fit(loss, START, DATA, descend, steps=3, progress=True, callback=lambda step: True)
    first, second = Bar.made
    assert first.given == {"total": 3, "unit": "step", "file": terminal} and first.n == 3
    assert first.said[-2].endswith(", ended: steps") and first.said[-1] == "closed"
    assert second.n == 1 and second.said[-2].endswith(", ended: callback")


def test_a_bar_ends_before_the_error_that_ends_a_fit(monkeypatch):
    monkeypatch.setattr(progress, "tqdm", lambda: None)

    def stops(step):
        raise OSError("disk full")

    with pytest.raises(OSError, match="disk full"):
        fit(loss, START, DATA, descend, steps=3, callback=stops, progress=(shown := Terminal()))
    assert shown.getvalue().endswith("  ended: OSError\n")


def test_a_loss_that_is_not_finite_names_its_partition_and_changes_nothing():
    params = tensors()
    data = [*DATA[:4], (X[:2], np.array([1.0, np.nan]))]
    with pytest.raises(FloatingPointError, match=r"step 0: .* not finite on partition 4"):
        fit(loss, params, data, wg.optim.SGD(list(params.values()), lr=0.1))
    assert not params["w"].any()


def test_a_gradient_that_is_not_finite_names_its_parameter():
    with pytest.raises(FloatingPointError, match=r"respect to params\['w'\] is not finite"):
        fit(lambda p, b: (p["w"].sqrt() * b).sum(), {"w": np.zeros(1)}, [np.ones(1)], descend)


@pytest.mark.parametrize(
    ("kwargs", "error", "text"),
    [
        ({"optimizer": 3}, TypeError, "or a function of the parameters and their gradients"),
        ({"steps": -1}, ValueError, "steps must be an integer from 0 on, but got -1"),
        ({"per_step": 0}, ValueError, "per_step must be an integer from 1 on, but got 0"),
        ({"optimizer": lambda p, g: {"w": p["w"]}}, ValueError, "parameters of the structure"),
        (
            {"optimizer": wg.optim.SGD([wg.ones(2, requires_grad=True)])},
            ValueError,
            "1 parameters that are not among",
        ),
        (
            {"params": tensors(), "data": [(1, 2)], "loss": lambda p, b: b[3]},
            PartitionError,
            "partition 0 .1 row.: <lambda>.. raised IndexError",
        ),
    ],
)
def test_wrong_arguments_are_refused(kwargs, error, text):
    given = {
        "loss": loss,
        "params": START,
        "data": partitions(DATA),
        "optimizer": descend,
        **kwargs,
    }
    with pytest.raises(error, match=text):
        fit(
            given.pop("loss"),
            given.pop("params"),
            given.pop("data"),
            given.pop("optimizer"),
            **given,
        )
