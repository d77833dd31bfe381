"""Test programs for many processes on one process."""

import pytest

import wengert as wg
import wengert.distributed as dist


@pytest.fixture
def process():
    dist.init_process_group("gloo")
    yield
    dist.destroy_process_group()


def test_a_group_has_one_member(process):
    assert dist.is_initialized() and dist.is_available()
    assert (dist.get_rank(), dist.get_world_size(), dist.get_backend()) == (0, 1, "gloo")
    assert dist.group.WORLD is dist.GroupMember.WORLD and dist.group.WORLD.size() == 1
    with pytest.raises(ValueError, match="twice"):
        dist.init_process_group()


def test_without_a_group_the_error_is_the_known_one():
    assert not dist.is_initialized() and dist.group.WORLD is None
    for call in (dist.get_rank, dist.get_world_size, dist.barrier, dist.destroy_process_group):
        with pytest.raises(ValueError, match="Default process group has not been initialized"):
            call()


@pytest.mark.parametrize(("size", "rank"), [(2, 0), (4, 3)])
def test_more_processes_are_refused(size, rank):
    with pytest.raises(NotImplementedError, match=r"wengert\.distributed\.fit"):
        dist.init_process_group(world_size=size, rank=rank)
    assert not dist.is_initialized()


def test_the_environment_says_how_many_there_are(monkeypatch):
    monkeypatch.setenv("WORLD_SIZE", "3")
    with pytest.raises(NotImplementedError, match="3 processes"):
        dist.init_process_group(init_method="env://")


def test_what_is_sent_arrives(process):
    x = wg.arange(4.0)
    out = [wg.zeros(4)]
    for call in (
        lambda: dist.all_gather(out, x),
        lambda: dist.gather(x, out),
        lambda: dist.scatter(out[0], [x], src=0),
        lambda: dist.reduce_scatter(out[0], [x]),
        lambda: dist.reduce_scatter_tensor(out[0], x.reshape(1, 4)),
        lambda: dist.all_gather_into_tensor(out[0], x.reshape(2, 2)),
        lambda: dist.all_to_all(out, [x]),
        lambda: dist.all_to_all_single(out[0], x),
    ):
        out[0].zero_()
        assert call() is None
        assert wg.equal(out[0], x)
    for op in dist.ReduceOp:
        work = dist.all_reduce(x, op, async_op=True)
        assert work.wait() and work.is_completed()
    dist.broadcast(x, src=0)
    dist.reduce(x, 0)
    assert wg.equal(x, wg.arange(4.0))


def test_objects_arrive_as_copies(process):
    there, held = [None], {"a": [1]}
    for call in (
        lambda: dist.all_gather_object(there, held),
        lambda: dist.gather_object(held, there),
        lambda: dist.scatter_object_list(there, [held]),
    ):
        there[0] = None
        call()
        assert there[0] == held and there[0] is not held


def test_other_processes_are_nobody(process):
    for call in (lambda: dist.send(wg.ones(1), 1), lambda: dist.broadcast(wg.ones(1), src=1)):
        with pytest.raises(ValueError, match="one process"):
            call()
    with pytest.raises(ValueError, match="list of 1"):
        dist.all_gather([wg.ones(1), wg.ones(1)], wg.ones(1))
    assert dist.new_group([]) is dist.GroupMember.NON_GROUP_MEMBER
    assert dist.get_rank(dist.new_group([0])) == 0


def test_a_model_is_wrapped(process):
    inner = wg.nn.Linear(2, 1)
    model = wg.nn.parallel.DistributedDataParallel(inner)
    with model.no_sync():
        model(wg.ones(3, 2)).sum().backward()
    assert wg.equal(inner.weight.grad, wg.full((1, 2), 3.0))
    assert list(model.state_dict()) == ["module.weight", "module.bias"]
    with pytest.raises(RuntimeError, match="doesn't have any parameter"):
        wg.nn.parallel.DistributedDataParallel(wg.nn.ReLU())


def test_a_model_is_not_wrapped_without_a_group():
    with pytest.raises(ValueError, match="init_process_group"):
        wg.nn.parallel.DistributedDataParallel(wg.nn.Linear(1, 1))
