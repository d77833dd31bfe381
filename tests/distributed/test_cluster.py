"""Test bitwise equal results on a cluster, for any number of workers, even if some die.

Test functions are nested, so that they are pickled by value: the workers cannot import a test.
"""

import logging
import os
import signal
import sys
import threading
import time
import types

import numpy as np
import pytest

import wengert as wg

dask = pytest.importorskip("dask")
dd = pytest.importorskip("distributed")
KilledWorker = pytest.importorskip("distributed.scheduler").KilledWorker

from wengert.distributed import (  # noqa: E402  it needs Dask
    PartitionError,
    current,
    fit,
    jacobian,
    partitions,
    schedulers,
    value_and_grad,
    vmap,
)

RNG = np.random.default_rng(0)
X, Y = RNG.normal(size=(90, 3)), RNG.normal(size=90)
PARAMS = {"w": RNG.normal(size=(3, 4)), "v": RNG.normal(size=4)}
BATCHES = [(X[i : i + 8], Y[i : i + 8]) for i in range(0, 90, 8)]


def make_loss(pause=0.0):
    def loss(params, batch):
        x, y = batch
        time.sleep(pause)
        return ((wg.tanh(x @ params["w"]) @ params["v"] - y) ** 2).mean()

    return loss


def bits(found):
    value, grads = found
    return [np.asarray(x).tobytes() for x in (value, *grads.values())]


@pytest.fixture(scope="module")
def cluster():
    settings = {
        # how long the survivors look for a worker that is dead
        "distributed.comm.timeouts.connect": "2s",
        "distributed.worker.daemon": True,
        # from a process that has imported Dask: each worker would
        "distributed.worker.multiprocessing-method": "forkserver",
    }
    with (
        dask.config.set(settings),
        dd.LocalCluster(
            n_workers=3,
            threads_per_worker=1,
            processes=True,
            dashboard_address=":0",
            silence_logs=logging.CRITICAL,
        ) as made,
    ):
        yield made


@pytest.fixture(scope="module")
def client(cluster):
    with dd.Client(cluster, set_as_default=False) as made:
        made.wait_for_workers(3)
        yield made


@pytest.fixture(scope="module")
def expected():
    return value_and_grad(make_loss())(PARAMS, BATCHES)


def test_a_cluster_gives_the_bits_of_one_process(client, expected):
    run = value_and_grad(make_loss(), scheduler=client)
    assert bits(run(PARAMS, BATCHES)) == bits(expected)
    params = {name: wg.tensor(value) for name, value in PARAMS.items()}
    right = wg.func.value_and_grad(make_loss())(params, (wg.tensor(X), wg.tensor(Y)))
    assert abs(right[0].item() - expected[0].item()) < 1e-12
    assert all(np.allclose(expected[1][k], right[1][k], rtol=1e-12, atol=1e-14) for k in params)


@pytest.mark.parametrize("loaded", [False, True], ids=["sent", "loaded"])
def test_a_worker_that_dies_changes_nothing(client, expected, loaded):
    def load(i):
        return BATCHES[i]

    loaders = [dask.delayed(load)(i) for i in range(len(BATCHES))]
    data = partitions(loaders if loaded else BATCHES, scheduler=client)
    run = value_and_grad(make_loss(pause=0.1), scheduler=client)
    run(PARAMS, data[:4])  # everybody has begun
    processes = client.run(os.getpid)
    victim = next(iter(sorted(processes)))
    dies = threading.Timer(0.15, os.kill, (processes[victim], signal.SIGKILL))
    dies.start()
    found = run(PARAMS, data)
    dies.join()
    assert victim not in client.nthreads()
    assert bits(found) == bits(expected)
    assert bits(run(PARAMS, data)) == bits(expected)


def test_an_error_comes_back_with_its_partition_and_its_traceback(client):
    class Unsendable(Exception):
        def __init__(self, one, two):
            super().__init__(one)

    def fails(params, batch):
        if current().partition == 5:
            raise ValueError("a bad row")
        return make_loss()(params, batch)

    def fails_oddly(params, batch):
        raise Unsendable("lost", 1)

    data = partitions(BATCHES, scheduler=client)
    with pytest.raises(
        PartitionError, match=r"partition 5 \(8 rows\): fails.* a bad row, on the"
    ) as e:
        value_and_grad(fails, scheduler=client)(PARAMS, data)
    assert isinstance(e.value.__cause__, ValueError)
    assert "line" in e.value.remote_traceback and "in fails" in e.value.remote_traceback
    assert e.value.worker in client.nthreads()
    with pytest.raises(PartitionError) as e:
        value_and_grad(fails_oddly, scheduler=client)(PARAMS, data[:1])
    assert "lost" in str(e.value.__cause__)

    def broken(i):
        if i == 2:
            raise OSError("no such file")
        return BATCHES[i]

    loaders = [dask.delayed(broken)(i) for i in range(4)]
    with pytest.raises(
        PartitionError, match="partition 2: loading it raised OSError: no such file"
    ):
        value_and_grad(make_loss(), scheduler=client)(PARAMS, loaders)


def test_a_partition_that_kills_its_workers_is_named(client):
    cluster = schedulers.Cluster(client)
    last = types.SimpleNamespace(address="tcp://last")
    killed = KilledWorker(("wengert_gradient-1", 4), last, 3)
    made = cluster._explained(killed, [])
    assert made.partition == 4
    assert "every worker that worked on it died, the last being tcp://last" in str(made)
    assert cluster._explained(KilledWorker(("wengert_add-0-1", 4), last, 3), []) is None
    assert cluster._explained(ValueError("other"), []) is None


def test_functions_travel_once_and_stay_compiled(client):
    def loss(w, x):
        return ((w * x).sin() ** 2).mean()

    compiled = wg.compile(loss, backend="numpy", options={"measure": False})
    data = partitions([X[:9], X[9:18]], scheduler=client)
    run = value_and_grad(compiled, scheduler=client)
    for _ in range(3):
        run(X[0], data)

    def counts():
        from wengert.distributed import programs

        return [
            len(getattr(program._copies, "made", ((),))[0].entries)
            for program in programs._kept.values()
            if hasattr(getattr(program._copies, "made", (None,))[0], "entries")
        ]

    # in the very threads that the tasks ran in: one program, traced once
    found = [client.submit(counts, workers=[w], pure=False).result() for w in client.nthreads()]
    assert [1] in found
    assert all(count in ([], [1]) for count in found)


class Abort(BaseException):
    """Not an Exception: Dask lets it end the worker."""


class Wordless(Exception):
    def __str__(self):
        raise ValueError("no text")


class Leaving(Exception):
    def __str__(self):
        sys.exit("while its text is made")

    def __reduce__(self):
        return sys.exit, ("while it is read",)


@pytest.mark.parametrize(
    ("leave", "words"),
    [
        (lambda: sys.exit("out of here"), "SystemExit: out of here"),
        (lambda: signal.default_int_handler(2, None), "KeyboardInterrupt: "),
        (lambda: (_ for _ in ()).throw(Abort("now")), "Abort: now"),
        (lambda: (_ for _ in ()).throw(Wordless()), "Wordless, whose text cannot be made"),
        (lambda: (_ for _ in ()).throw(Leaving()), "Leaving, whose text cannot be made"),
    ],
)
def test_whatever_leaves_a_loss_is_an_error_and_the_workers_stay(leave, words, client):
    def leaves(params, batch):
        leave()

    before = set(client.scheduler_info()["workers"])
    with pytest.raises(PartitionError, match=rf"partition 0 .*{words}"):
        value_and_grad(leaves, scheduler=client)(PARAMS, partitions(BATCHES[:1], scheduler=client))
    assert set(client.scheduler_info()["workers"]) == before


def test_an_interrupt_in_this_process_stays_one():
    def interrupted(params, batch):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        value_and_grad(interrupted, scheduler="synchronous")(PARAMS, BATCHES[:1])


@pytest.fixture
def interrupts():
    """A shell ignores interrupts of what it starts in the background."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.mark.usefixtures("interrupts")
def test_an_interrupt_cancels_what_is_under_way(client, tmp_path):
    begun = tmp_path / "begun"

    def slow(params, batch):
        begun.touch()
        time.sleep(1)
        return make_loss()(params, batch)

    def interrupt():
        while not begun.exists():
            time.sleep(0.05)
        os.kill(os.getpid(), signal.SIGINT)

    data = partitions(BATCHES, scheduler=client)
    run = value_and_grad(slow, scheduler=client)
    threading.Thread(target=interrupt, daemon=True).start()
    with pytest.raises(KeyboardInterrupt):
        run(PARAMS, data)
    for _ in range(600):
        if not any(client.processing().values()):
            break
        time.sleep(0.05)
    assert not any(client.processing().values())


def test_fits_jacobians_and_maps_run_on_a_cluster(client):
    def loss(w, x):
        return ((w - x) ** 2).mean()

    def descend(w, grad):
        return w - 0.25 * grad

    data = partitions([X[:50], X[50:]], scheduler=client)
    found = fit(loss, np.zeros(3), data, descend, steps=4, per_step=1)
    here = fit(loss, np.zeros(3), [X[:50], X[50:]], descend, steps=4, per_step=1)
    assert found.history == here.history and (found.params == here.params).all()

    def residuals(w, x):
        return (x @ w).sin()

    rows = jacobian(residuals, scheduler=client)(X[0], data)
    assert np.allclose(rows, np.cos(X @ X[0])[:, None] * X, rtol=1e-12)
    square = jacobian(lambda w: w**2, chunk_size=2, scheduler=client)(X[0])
    assert np.allclose(square, np.diag(2 * X[0]), rtol=1e-12)
    mapped = vmap(lambda x: (x**2).sum(), chunk_size=40, scheduler=client)(X)
    assert np.allclose(mapped, (X**2).sum(1), rtol=1e-12)


def test_modules_and_random_numbers_are_the_same_on_a_cluster(client):
    def loss(model, x):
        return (model(x) ** 2).mean()

    def make():
        wg.manual_seed(0)
        return wg.nn.Sequential(
            wg.nn.Linear(3, 4), wg.nn.BatchNorm1d(4), wg.nn.Dropout(0.5), wg.nn.Linear(4, 1)
        ).double()

    there, here = make(), make()
    data = [X[:30], X[30:60], X[60:]]
    run = value_and_grad(loss, scheduler=client)
    for step in range(2):
        found, right = run(there, data, step=step), value_and_grad(loss)(here, data, step=step)
        assert np.allclose(found[0], right[0], rtol=1e-13)
        assert all(np.allclose(found[1][k], right[1][k], rtol=1e-12) for k in found[1])
    assert np.allclose(there[1].running_var, here[1].running_var, rtol=1e-13)


def test_a_scheduler_may_be_named_in_many_ways(cluster, client, expected):
    try:
        for scheduler in (cluster, cluster.scheduler_address):
            run = value_and_grad(make_loss(), scheduler=scheduler)
            assert bits(run(PARAMS, BATCHES)) == bits(expected)
        held = partitions(BATCHES, scheduler=client)
        with pytest.raises(ValueError, match="the partitions are in"):
            partitions(held, scheduler="threads")
        with client.as_current():
            assert bits(value_and_grad(make_loss())(PARAMS, held)) == bits(expected)
    finally:
        schedulers._close_all()


@pytest.mark.parametrize("number", [2, 1])
def test_fewer_workers_change_no_bit(cluster, client, expected, number):
    data = partitions(BATCHES, scheduler=client)
    run = value_and_grad(make_loss(), scheduler=client)
    assert bits(run(PARAMS, data)) == bits(expected)
    cluster.scale(number)
    for _ in range(1200):
        if len(client.nthreads()) == number:
            break
        time.sleep(0.05)
    assert len(client.nthreads()) == number
    assert bits(run(PARAMS, data)) == bits(expected)
