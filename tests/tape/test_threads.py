"""Several threads: graphs of their own, and one leaf that all add to."""

import threading

import wengert as wg

COUNT = 8


def run_all(target):
    failures = []

    def guarded(index):
        try:
            target(index)
        except BaseException as error:
            failures.append(error)

    threads = [threading.Thread(target=guarded, args=(i,)) for i in range(COUNT)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failures, failures


def test_each_thread_has_graphs_of_its_own():
    results = {}

    def work(index):
        for _ in range(50):
            x = wg.tensor([float(index), 1.0], dtype=wg.float64, requires_grad=True)
            (x * x * x).sum().backward()
            results[index] = x.grad.tolist()

    run_all(work)
    assert results == {i: [3.0 * i * i, 3.0] for i in range(COUNT)}


def test_all_threads_add_to_one_leaf():
    x = wg.zeros(100, dtype=wg.float64, requires_grad=True)

    def work(index):
        for _ in range(100):
            (x * 2).sum().backward()

    run_all(work)
    assert x.grad.tolist() == [2.0 * COUNT * 100] * 100


def test_modes_are_independent():
    x = wg.ones(3, requires_grad=True)

    def work(index):
        for k in range(100):
            if (index + k) % 2:
                with wg.no_grad():
                    assert not (x * 2).requires_grad
            else:
                assert (x * 2).requires_grad

    run_all(work)


def test_one_graph_is_walked_by_several_threads():
    x = wg.ones(10, dtype=wg.float64, requires_grad=True)
    y = x
    for _ in range(20):
        y = y * x
    y = y.sum()

    def work(index):
        for _ in range(10):
            assert wg.autograd.grad(y, x, retain_graph=True)[0].tolist() == [21.0] * 10

    run_all(work)
