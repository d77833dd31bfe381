"""A gradient over partitioned data: in this process, and on workers, one of which is killed.

A loss over much data is a mean over partitions, and so is its gradient. `wengert.distributed` sends
the parameters to the partitions, and adds up the gradients in a tree, in an order that depends only
on the partition numbers. So the result has the same bits in one process, on any number of workers,
and if a worker dies on the way. Without Dask, the program says how to install it.

With --workers, the second part runs on three processes.
"""

import argparse
import importlib.util
import os
import signal
import sys
import threading

import numpy as np

import wengert as wg

ROWS, PARTITIONS = 2000, 8


def make_data():
    """Return points of two classes, in partitions of different sizes."""
    rng = np.random.default_rng(0)
    points = rng.normal(size=(ROWS, 5))
    labels = (points @ np.array([1.0, -2.0, 0.5, 0.0, 3.0]) + rng.normal(size=ROWS) > 0).astype(
        float
    )
    cuts = np.sort(rng.choice(ROWS, PARTITIONS - 1, replace=False))
    return list(zip(np.split(points, cuts), np.split(labels, cuts), strict=True))


def loss(weights, batch):
    """The mean cross-entropy of a logistic regression on one partition."""
    points, labels = batch
    scores = points @ weights
    return (wg.nn.functional.softplus(scores) - labels * scores).mean()


def in_this_process(data):
    """Compare value and gradient over partitions with those over all data; then fit."""
    value, gradient = wg.distributed.value_and_grad(loss)(np.zeros(5), data)
    points, labels = (wg.from_numpy(np.concatenate(part)) for part in zip(*data, strict=True))
    w = wg.zeros(5, dtype=wg.float64, requires_grad=True)
    loss(w, (points, labels)).backward()
    print(f"{len(data)} partitions of {min(len(b[1]) for b in data)} rows and more")
    print("loss:", round(value.item(), 6))
    print("the gradient is that of all data at once:", np.allclose(gradient, w.grad, rtol=1e-12))
    optimizer = wg.optim.LBFGS([w], line_search_fn="strong_wolfe")
    found = wg.distributed.fit(loss, w, data, optimizer, steps=3)
    print("fitted:", w.detach().numpy().round(2), "with a loss of", round(found.history[-1], 4))
    return value, gradient


def on_workers(data, expected):
    """Do the same on three processes, and kill one of them in the middle."""
    from distributed import Client, LocalCluster

    def slow(weights, batch):
        threading.Event().wait(0.2)
        return loss(weights, batch)

    with (
        LocalCluster(n_workers=3, threads_per_worker=1, dashboard_address=":0") as cluster,
        Client(cluster) as client,
    ):
        held = wg.distributed.partitions(data, scheduler=client)  # they travel once
        gradient = wg.distributed.value_and_grad(slow, scheduler=client)
        victim = next(iter(client.run(os.getpid).values()))
        threading.Timer(0.5, os.kill, (victim, signal.SIGKILL)).start()
        value, found = gradient(np.zeros(5), held)
    same = value.item() == expected[0].item() and np.array_equal(found, expected[1])
    print("with a worker killed, the same bits:", same)


def main(arguments=()):
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--workers", action="store_true", help="run on three processes, too")
    options = parser.parse_args(arguments)
    if importlib.util.find_spec("dask") is None:
        print("This example needs Dask: pip install 'wengert[distributed]'")
        return
    data = make_data()
    expected = in_this_process(data)
    if options.workers:
        on_workers(data, expected)


if __name__ == "__main__":
    main(sys.argv[1:])
