"""Test tensors between processes, and shared memory."""

import os

import numpy as np
import pytest

import wengert as wg
import wengert.multiprocessing as mp

pytestmark = pytest.mark.skipif(not hasattr(os, "memfd_create"), reason="the system has no such")


def add(index, model, queue):
    with wg.no_grad():
        model.weight.add_(index + 1)
    queue.put((index, wg.full((2,), float(index))))


def fail(index):
    if index:
        raise ValueError("on purpose")


def leave(index):
    os._exit(3)


@pytest.mark.parametrize("way", ["fork", "spawn"])
def test_processes_write_to_shared_parameters(way):
    model = wg.nn.Linear(2, 1, bias=False)
    wg.nn.init.zeros_(model.weight)
    assert model.share_memory() is model and model.weight.is_shared()
    queue = mp.get_context(way).SimpleQueue()
    mp.start_processes(add, (model, queue), nprocs=2, start_method=way)
    assert wg.equal(model.weight, wg.full((1, 2), 3.0))
    got = dict(queue.get() for _ in range(2))
    assert [got[i].tolist() for i in range(2)] == [[0.0, 0.0], [1.0, 1.0]]


def test_errors_of_processes_come_with_their_traceback():
    with pytest.raises(mp.ProcessRaisedException, match="on purpose") as caught:
        mp.start_processes(fail, nprocs=2, start_method="fork")
    assert caught.value.error_index == 1 and caught.value.pid
    with pytest.raises(mp.ProcessExitedException, match="exit code 3") as caught:
        mp.start_processes(leave, start_method="fork")
    assert caught.value.exit_code == 3


def test_shared_memory_keeps_what_a_tensor_is():
    x = wg.arange(6.0).reshape(2, 3).t().clone().requires_grad_()
    before = x.detach().clone()
    assert not x.is_shared() and x.share_memory_() is x and x.share_memory_().is_shared()
    assert x.requires_grad and wg.equal(x, before) and x[0].is_shared()
    (x * x).sum().backward()
    assert wg.equal(x.grad, 2 * before)
    assert wg.zeros(0).share_memory_().is_shared() and wg.tensor(1.0).share_memory_().item() == 1


def test_what_has_a_graph_is_not_sent():
    queue = mp.get_context("fork").SimpleQueue()
    y = 2 * wg.ones(2, requires_grad=True)
    for tensor in (y, y.clone()):
        with pytest.raises(RuntimeError, match="Cowardly refusing to serialize non-leaf"):
            queue.put(tensor)
    queue.put(y.detach())
    assert queue.get().tolist() == [2, 2]


def test_views_are_not_moved():
    x = wg.ones(3)
    view = x[1:]
    for tensor in (x, view):
        with pytest.raises(RuntimeError, match="view"):
            tensor.share_memory_()
    assert not x.is_shared()


def test_the_module_is_the_standard_one_with_more():
    assert mp.get_context is not None and mp.cpu_count() >= 1 and mp.Pool
    assert mp.get_sharing_strategy() in mp.get_all_sharing_strategies()
    mp.set_sharing_strategy("file_system")
    with pytest.raises(AssertionError):
        mp.set_sharing_strategy("nothing")


def test_elements_are_handed_to_python():
    x = wg.tensor([[1, 2], [3, 4]])
    assert wg.equal(x.clone().t().apply_(lambda v: 2 * v), 2 * x.t())
    got = []
    assert wg.equal(
        wg.zeros(2, 2).map_(wg.tensor([1.0, 2.0]), lambda a, b: got.append(b) or b),
        wg.tensor([[1.0, 2.0], [1.0, 2.0]]),
    )
    assert got == [1.0, 2.0, 1.0, 2.0]
    assert wg.zeros(1).map2_(wg.ones(1), wg.ones(1), lambda a, b, c: a + b + c).item() == 2
    version = x._version
    x.apply_(lambda v: v)
    assert x._version > version
    for call in (lambda t: t.apply_(float), lambda t: wg.ones(1).map_(t, max)):
        with pytest.raises(RuntimeError, match="requires grad"):
            call(wg.ones(1, requires_grad=True))
    assert np.asarray(wg.zeros(0).apply_(abs)).shape == (0,)
