"""Test copies in which wengert keeps more than PyTorch does."""

import copy
import pickle

import numpy as np
import pytest

import wengert as wg


def test_a_copy_of_a_computed_tensor_stays_in_the_graph():
    # PyTorch makes a leaf of it, and the gradient is lost without a word
    x = wg.ones(2, requires_grad=True)
    y = x * 3
    twin = copy.copy(y)
    assert twin.data_ptr() == y.data_ptr()
    twin.sum().backward()
    assert x.grad.tolist() == [3.0, 3.0]
    with wg.no_grad():
        assert copy.copy(x * 1).is_leaf
        assert not copy.copy(y).is_leaf


def test_a_computed_tensor_comes_back_as_a_leaf():
    y = wg.ones(2, requires_grad=True) * 2
    twin = pickle.loads(pickle.dumps(y))
    assert twin.tolist() == [2.0, 2.0]
    assert (twin.is_leaf, twin.requires_grad) == (True, True)


@pytest.mark.parametrize("protocol", [0, 2, 4, 5])
@pytest.mark.parametrize(
    "make",
    [
        lambda: wg.arange(6.0),
        lambda: wg.arange(6.0).reshape(3, 2).t().clone(),
        lambda: wg.arange(24.0).reshape(2, 3, 4).permute(2, 0, 1).clone(),
        lambda: wg.from_numpy(np.asfortranarray(np.arange(6.0).reshape(2, 3))),
    ],
    ids=["flat", "transposed", "permuted", "fortran"],
)
def test_tensors_that_share_memory_share_it_in_a_pickle(make, protocol):
    base = make()
    twin, part, whole = pickle.loads(pickle.dumps([base, base[1:], base.detach()], protocol))
    assert twin.tolist() == base.tolist() and twin.stride() == base.stride()
    assert part.tolist() == base[1:].tolist()
    part.zero_()
    assert twin[1:].tolist() == part.tolist() == whole[1:].tolist()
    assert twin[0].tolist() == base[0].tolist()


def test_a_pickle_holds_shared_memory_once():
    base = wg.zeros(10_000)
    held = pickle.dumps([base, base.view(100, 100), base[5:]])
    assert len(held) < 41_000
    one, square, rest = pickle.loads(held)
    one[5] = 1.0
    assert (square[0, 5].item(), rest[0].item(), base[5].item()) == (1, 1, 0)


def test_a_write_through_a_copied_view_is_noticed_by_a_graph_over_the_other():
    base = wg.arange(4.0)
    for again in (copy.deepcopy, lambda both: pickle.loads(pickle.dumps(both))):
        twin, part = again([base, base[:2]])
        w = wg.ones(4, requires_grad=True)
        y = (w * twin).sum()
        part.zero_()
        with pytest.raises(RuntimeError, match="modified by an inplace operation"):
            y.backward()


def test_a_deep_copy_shares_memory_with_the_copied_array_as_before():
    array = np.zeros(3)
    twin, tensor = copy.deepcopy([array, wg.from_numpy(array)])
    tensor[0] = 5
    assert twin[0] == 5 and array[0] == 0


def test_memory_with_gaps_is_copied_by_value():
    array = np.ndarray((2, 2), np.float32, bytearray(32), strides=(16, 4))
    array[:] = [[1, 2], [3, 4]]
    x = wg.from_numpy(array)
    for twin in (copy.deepcopy(x), copy.deepcopy(x[1:]), pickle.loads(pickle.dumps(x))):
        assert twin[-1].tolist() == [3.0, 4.0]


def test_a_read_only_array_is_pickled():
    x = wg.from_numpy(np.arange(3.0))
    x._payload.flags.writeable = False
    assert pickle.loads(pickle.dumps(x)).tolist() == [0.0, 1.0, 2.0]


def test_a_tensor_that_names_itself_is_copied():
    x = wg.ones(2)
    x.me = x
    for twin in (copy.deepcopy(x), pickle.loads(pickle.dumps(x))):
        assert twin.me is twin


def test_a_pickle_leaves_nothing_behind():
    from wengert.tensor.copying import _MEMORIES

    x = wg.ones(3)
    pickle.dumps([x, x[1:]])
    assert not _MEMORIES


def test_a_tensor_that_was_written_to_is_pickled():
    x = wg.ones(3)
    x.add_(1)
    x[0] = 5.0
    twin = pickle.loads(pickle.dumps([x, x.view(3, 1)]))
    assert twin[0].tolist() == [5, 2, 2]
    assert twin[0]._version == x._version
    twin[1].zero_()
    assert twin[0].tolist() == [0, 0, 0]
    assert twin[0]._version == twin[1]._version


def test_a_class_that_computes_itself_is_not_made_over_memory():
    class Computing(wg.Tensor):
        @classmethod
        def __torch_dispatch__(cls, func, types, args=(), kwargs=None):
            raise AssertionError

    x = wg.ones(2)
    for make in (lambda: wg.Tensor._make_subclass(Computing, x), lambda: x.as_subclass(Computing)):
        with pytest.raises(NotImplementedError, match=r"_make_wrapper_subclass\(cls"):
            make()
