"""Test gradients over partitions, in this process."""

import functools
import operator
import os
import pickle
import re

import numpy as np
import pytest

import wengert as wg

pytest.importorskip("dask")

from wengert import distributed
from wengert.base.extras import dask_module
from wengert.distributed import PartitionError, partitions, value_and_grad, work

RNG = np.random.default_rng(0)
X, Y = RNG.normal(size=(50, 3)), RNG.normal(size=50)
PARAMS = {"w": RNG.normal(size=(3, 4)), "v": [RNG.normal(size=4), 0.5]}
BATCHES = [(X[i : i + 7], Y[i : i + 7]) for i in range(0, 50, 7)]


def loss(params, batch):
    x, y = batch
    return ((wg.tanh(x @ params["w"]) @ params["v"][0] + params["v"][1] - y) ** 2).mean()


def total(params, batch):
    return loss(params, batch) * len(batch[1])


def on_one_machine(function=loss):
    params = {"w": wg.tensor(PARAMS["w"]), "v": [wg.tensor(v) for v in map(np.array, PARAMS["v"])]}
    return wg.func.value_and_grad(function)(params, (wg.tensor(X), wg.tensor(Y)))


def equal(found, expected):
    """Whether values and gradients agree, which are nested as PARAMS is, to 1e-12."""
    (value, grads), (right, rights) = found, expected
    pairs = [(grads["w"], rights["w"]), *zip(grads["v"], rights["v"], strict=True), (value, right)]
    return all(np.allclose(a, np.asarray(b), rtol=1e-12, atol=1e-13) for a, b in pairs)


def bits(found):
    value, grads = found
    return [np.asarray(x).tobytes() for x in (value, grads["w"], *grads["v"])]


@pytest.mark.parametrize("scheduler", [None, "synchronous", "threads"])
@pytest.mark.parametrize(("function", "reduction"), [(loss, "mean"), (total, "sum")])
def test_the_gradient_over_partitions_is_that_of_all_data(function, reduction, scheduler):
    found = value_and_grad(function, reduction=reduction, scheduler=scheduler)(PARAMS, BATCHES)
    assert equal(found, on_one_machine(function))


def test_threads_change_no_bit():
    many = [(X[i : i + 1], Y[i : i + 1]) for i in range(50)]  # a tree of three levels
    one = value_and_grad(loss)(PARAMS, many)
    assert bits(value_and_grad(loss, scheduler="threads")(PARAMS, many)) == bits(one)
    assert equal(one, on_one_machine())


def summed(terms, together):
    """The sum as a tree, in which each node adds so many from left to right."""
    while len(terms) > 1:
        groups = [terms[i : i + together] for i in range(0, len(terms), together)]
        # not by sum(), which rounds less from Python 3.12 on
        terms = [functools.reduce(operator.add, group) for group in groups]
    return terms[0]


def test_eight_results_are_added_at_once_from_left_to_right():
    # the last place of the sum tells which were added with which
    terms = np.random.default_rng(8).normal(size=300).tolist()
    made = value_and_grad(lambda w, x: (w * x).sum(), reduction="sum")
    value, grad = made(np.ones(1), [np.array([term]) for term in terms])
    assert value.item() == grad[0] == summed(terms, 8)
    assert all(value.item() != summed(terms, n) for n in (2, 3, 4, 7, 9, 16, 300))


def test_gradients_are_of_the_kinds_and_the_structure_of_the_parameters():
    params = {"w": wg.tensor(PARAMS["w"], dtype=wg.float32), "v": (PARAMS["v"][0], 0.5)}

    def mixed(p, batch):
        return ((batch[0] @ p["w"].double()).mean(0) * p["v"][0] * p["v"][1]).sum()

    value, grads = value_and_grad(mixed)(params, BATCHES)
    assert isinstance(value, wg.Tensor) and value.shape == () and value.grad_fn is None
    assert isinstance(grads["w"], wg.Tensor) and grads["w"].dtype == wg.float32
    assert type(grads["v"]) is tuple and isinstance(grads["v"][0], np.ndarray)
    assert isinstance(grads["v"][1], np.float64)
    # the loss is linear in each of them
    linear = [float((grads["w"] * params["w"]).sum()), grads["v"][0] @ PARAMS["v"][0]]
    assert [*linear, grads["v"][1] * 0.5] == pytest.approx([float(value)] * 3, rel=1e-5)


def test_a_gradient_may_be_written_to():
    data = [np.ones(3)]
    _, grad = value_and_grad(lambda w, x: (w * x).sum())(np.ones(3), data)
    grad += 1
    assert data[0].tolist() == [1, 1, 1]


def test_unused_parameters_have_gradients_of_zero():
    _, grads = value_and_grad(lambda p, b: (p[0] * b).sum())((np.ones(2), np.ones(3)), [np.ones(2)])
    assert grads[1].tolist() == [0, 0, 0]


def test_a_loss_that_does_not_depend_on_the_parameters_has_gradients_of_zero():
    value, grad = value_and_grad(lambda p, b: b.sum())(np.ones(2), [np.ones(2), np.ones(2)])
    assert value == 2
    assert grad.tolist() == [0, 0]


def test_complex_parameters_have_the_gradient_of_one_machine():
    z = np.array([1 + 2j, -1j])
    found = value_and_grad(lambda z, b: (b * z).abs().square().mean())(z, [X[:1, :2], X[1:3, :2]])
    w = wg.tensor(z, requires_grad=True)
    (wg.tensor(X[:3, :2]) * w).abs().square().mean().backward()
    assert np.allclose(found[1], w.grad, rtol=1e-14)


def test_means_are_taken_without_leaving_the_range_of_a_narrow_type():
    data = [np.full((100, 1), 2.0, np.float16) for _ in range(2)]
    value, grad = value_and_grad(lambda w, x: (w * x * 1000).mean())(wg.ones(1).half(), data)
    assert value == 2000
    assert grad.tolist() == [2000]


def test_a_partition_without_rows_contributes_nothing():
    batches = [(X[:0], Y[:0]), *BATCHES, (X[:0], Y[:0])]
    assert equal(value_and_grad(loss)(PARAMS, batches), on_one_machine())


@pytest.mark.parametrize("data", [[], [np.ones(0)]])
def test_the_sum_over_no_rows_is_zero_and_the_mean_is_refused(data):
    function = lambda w, x: (w * x.sum()).sum()  # noqa: E731
    value, grad = value_and_grad(function, reduction="sum")(np.ones(2, np.float32), data)
    assert value == 0 and value.dtype == wg.float32
    assert grad.tolist() == [0, 0]
    with pytest.raises(ValueError, match=r"the mean over no rows is not defined: (there are|none)"):
        value_and_grad(function)(np.ones(2), data)


def test_a_value_that_is_not_finite_comes_out_as_it_is():
    data = [np.ones(1), np.array([np.nan])]
    value, grad = value_and_grad(lambda w, x: (w * x).sum())(np.ones(1), data)
    assert np.isnan(value.item())
    assert np.isnan(grad).tolist() == [True]


def test_batches_are_tensors_that_cannot_be_written_to():
    def writes(w, batch):
        batch["x"] += 1
        return (w * batch["x"]).sum()

    data = [{"x": np.ones(2)}]
    with pytest.raises(PartitionError, match="read-only: clone"):
        value_and_grad(writes)(np.ones(2), data)
    assert data[0]["x"].tolist() == [1, 1]


def test_recording_is_on_whatever_the_mode_outside():
    with wg.no_grad():
        found = value_and_grad(loss)(PARAMS, BATCHES)
    assert equal(found, on_one_machine())


@pytest.mark.parametrize("scheduler", ["synchronous", "threads"])
def test_an_error_names_the_partition_and_its_rows(scheduler):
    def fails(params, batch):
        if len(batch[1]) == 1:
            raise KeyError("label")
        return loss(params, batch)

    with pytest.raises(
        PartitionError, match=r"partition 7 \(1 row\): fails\(\) raised KeyError"
    ) as e:
        value_and_grad(fails, scheduler=scheduler)(PARAMS, BATCHES)
    assert isinstance(e.value.__cause__, KeyError)
    assert (e.value.partition, e.value.rows, e.value.worker) == (7, 1, None)


class Unsendable(Exception):
    def __reduce__(self):
        raise TypeError("holds a lock")


@pytest.mark.parametrize(
    ("error", "kind", "text"),
    [
        (OSError("disk"), OSError, "disk"),
        (Unsendable("busy"), RuntimeError, "Unsendable: busy"),
    ],
)
def test_an_error_travels_with_its_cause(error, kind, text):
    made = PartitionError.of(error, "f()", 3, 10, "tcp://there", "Do this.")
    back = pickle.loads(pickle.dumps(made))
    assert str(back) == str(made)
    assert (back.partition, back.rows, back.worker) == (3, 10, "tcp://there")
    assert type(back.__cause__) is kind
    assert str(back.__cause__) == text


def test_the_traceback_of_a_worker_ends_at_the_users_line(monkeypatch):
    monkeypatch.setattr(work, "worker_address", lambda: "tcp://there")

    def mismatched(params, batch):
        return (params["w"] @ wg.ones(77)).sum()

    with pytest.raises(PartitionError) as e:
        value_and_grad(mismatched)(PARAMS, BATCHES)
    text = str(e.value)
    library = os.path.dirname(wg.__file__)
    assert library in e.value.remote_traceback and library not in text
    there = text[text.index("the traceback there:") :].splitlines()
    assert there[1] == "    Traceback (most recent call last):"
    assert there[2].endswith(", in mismatched") and "wg.ones(77)" in there[3]
    assert re.search(r"\(\d+ frames of wengert left out; WENGERT_TRACEBACKS=full shows all\)", text)


@pytest.mark.parametrize(
    ("function", "text"),
    [
        (lambda w, x: w * x, r"one number for a partition, but <lambda> returned float64 \[2\]"),
        (lambda w, x: 1.0, "a tensor of one number, .* returned 1.0, a float"),
        (lambda w, x: None, "returned None"),
    ],
)
def test_a_loss_that_is_not_one_number_is_refused(function, text):
    with pytest.raises(PartitionError, match=text):
        value_and_grad(function)(np.ones(2), [np.ones(2)])


@pytest.mark.parametrize(
    ("call", "error", "text"),
    [
        (lambda: value_and_grad(3), TypeError, "expected a function, but got int"),
        (lambda: value_and_grad(loss, reduction="max"), ValueError, "'mean' or 'sum', not 'max'"),
        (lambda: value_and_grad(loss, scheduler="processes"), ValueError, "give a .*LocalCluster"),
        (lambda: value_and_grad(loss, scheduler=3), TypeError, "not a int"),
        (
            lambda: value_and_grad(loss)({"w": "a"}, BATCHES),
            TypeError,
            r"params\['w'\] is of type str",
        ),
        (lambda: value_and_grad(loss)([1], BATCHES), RuntimeError, r"params\[0\] has dtype int64"),
        (lambda: value_and_grad(loss)(PARAMS, X), TypeError, "say by rows= how many"),
        (lambda: value_and_grad(loss)(PARAMS, iter(BATCHES)), TypeError, "must be a list of"),
        (
            lambda: value_and_grad(loss)(wg.nn.Linear(1, 1).requires_grad_(False), BATCHES),
            ValueError,
            "no parameter of the Linear",
        ),
        (lambda: partitions(X, rows=0), ValueError, "rows must be an integer from 1 on"),
        (lambda: partitions((X, Y[1:]), rows=5), ValueError, r"as many rows, but have \[50, 49\]"),
        (distributed.current, RuntimeError, "no partition is being worked on"),
    ],
)
def test_wrong_arguments_are_refused(call, error, text):
    with pytest.raises(error, match=text):
        call()


def test_the_error_without_dask_says_how_to_get_it():
    with pytest.raises(ImportError, match=r"needs Dask .* pip install 'wengert\[distributed\]'"):
        dask_module("dask.not_there", "wengert.distributed")


def noisy(params, batch):
    noise = wg.rand(len(batch[1])) + np.random.default_rng(distributed.current().seed).random()
    return loss(params, batch) * noise.mean()


def test_random_numbers_follow_from_seed_partition_and_step():
    wg.manual_seed(3)
    expected = wg.rand(2).tolist()
    wg.manual_seed(3)
    many = [(X[i : i + 5], Y[i : i + 5]) for i in range(0, 50, 5)]
    run = value_and_grad(noisy, scheduler="threads", seed=1)
    first = bits(run(PARAMS, many))
    assert bits(value_and_grad(noisy, seed=1)(PARAMS, many)) == first
    assert bits(run(PARAMS, many, step=1)) != first
    assert bits(value_and_grad(noisy, seed=2)(PARAMS, many)) != first
    # partitions draw different numbers, and nobody else's are used up
    draws = value_and_grad(lambda w, x: (w * wg.rand(())).sum(), reduction="sum")
    assert draws(1.0, [np.ones(1)])[0] * 2 != draws(1.0, [np.ones(1)] * 2)[0]
    assert wg.rand(2).tolist() == expected


def test_a_seed_set_in_a_loss_holds_for_its_thread_alone():
    def sets(w, batch):
        wg.manual_seed(5)
        return w * wg.rand(())

    wg.manual_seed(5)
    expected = wg.rand(()).item()
    wg.manual_seed(7)
    state = wg.get_rng_state()
    value, _ = value_and_grad(sets, scheduler="threads")(1.0, [np.ones(1)] * 4)
    assert value.item() == pytest.approx(expected)
    assert (wg.get_rng_state() == state).all()


def test_a_compiled_loss_is_compiled_once():
    compiled = wg.compile(loss, backend="numpy", options={"measure": False})
    data = partitions(BATCHES[:-1])
    run = value_and_grad(compiled)
    expected = value_and_grad(loss)(PARAMS, data)
    for _ in range(3):
        assert equal(run(PARAMS, data), expected)
    assert compiled.reason is None
    assert len(compiled.entries) == 1
