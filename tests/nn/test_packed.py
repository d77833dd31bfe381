"""Test packed and padded sequences."""

import copy
import pickle

import numpy as np
import pytest

import wengert as wg
from wengert.nn.utils import rnn


def sequences(*lengths, features=(2,)):
    rng = np.random.default_rng(0)
    return [wg.tensor(rng.standard_normal((n, *features))) for n in lengths]


def equal(a, b):
    np.testing.assert_array_equal(a.detach().numpy(), b.detach().numpy())


@pytest.mark.parametrize("lengths", [(3, 2, 2, 1), (2, 4, 1), (1,), (2, 2)])
@pytest.mark.parametrize("features", [(), (2,), (2, 3)])
def test_unpacking_undoes_packing(lengths, features):
    given = sequences(*lengths, features=features)
    packed = rnn.pack_sequence(given, enforce_sorted=False)
    assert packed.data.shape == (sum(lengths), *features)
    for a, b in zip(given, rnn.unpack_sequence(packed), strict=True):
        equal(a, b)


@pytest.mark.parametrize("batch_first", [False, True])
def test_padding_is_undone(batch_first):
    given = sequences(2, 4, 1)
    padded = rnn.pad_sequence(given, batch_first, 7.0)
    assert padded.shape == ((3, 4, 2) if batch_first else (4, 3, 2))
    for a, b in zip(
        given, rnn.unpad_sequence(padded, wg.tensor([2, 4, 1]), batch_first), strict=True
    ):
        equal(a, b)


def test_unpadding_leaves_what_it_takes_apart():
    padded = rnn.pad_sequence(sequences(2, 3))
    before = padded.clone()
    parts = rnn.unpad_sequence(padded, wg.tensor([2, 3]))
    parts[0].zero_()
    assert padded.shape == before.shape
    equal(padded, before)


def test_an_empty_batch_is_refused_before_its_lengths_are_read():
    with pytest.raises(RuntimeError, match="Cannot pack empty tensors"):
        rnn.pack_padded_sequence(wg.ones(0, 1, 10), wg.ones(3, 3))


def test_packing_keeps_the_order_to_undo_it():
    packed = rnn.pack_sequence(sequences(2, 3, 1), enforce_sorted=False)
    assert packed.sorted_indices.tolist() == [1, 0, 2]
    assert packed.unsorted_indices.tolist() == [1, 0, 2]
    assert packed.batch_sizes.tolist() == [3, 2, 1]
    again = rnn.PackedSequence(packed.data, packed.batch_sizes, packed.sorted_indices)
    equal(again.unsorted_indices, packed.unsorted_indices)


def test_a_packed_batch_of_equal_lengths_copies_nothing():
    padded = wg.arange(6).reshape(3, 2)
    packed = rnn.pack_padded_sequence(padded, [3, 3])
    assert packed.data.tolist() == [0, 1, 2, 3, 4, 5]
    assert packed.data.data_ptr() == padded.data_ptr()


@pytest.mark.parametrize(
    "function",
    [
        lambda x: rnn.pack_padded_sequence(x, [1, 3], enforce_sorted=False).data,
        lambda x: rnn.pad_packed_sequence(rnn.pack_padded_sequence(x, [3, 2]), True, 5.0, 4)[0],
        lambda x: rnn.pad_sequence([x[:, 0], x[1:, 1]], padding_side="left"),
        lambda x: wg.cat(rnn.unpad_sequence(x, wg.tensor([3, 1]))),
    ],
)
def test_gradients_are_those_of_differences(function):
    x = wg.tensor(np.random.default_rng(1).standard_normal((3, 2, 2))).requires_grad_()
    assert wg.autograd.gradcheck(function, x)
    assert wg.autograd.gradgradcheck(function, x)


def test_packing_maps_over_batches():
    xs = wg.tensor(np.random.default_rng(1).standard_normal((4, 3, 2, 2)))
    mapped = wg.func.vmap(lambda x: rnn.pack_padded_sequence(x, [3, 1]).data)(xs)
    for one, x in zip(mapped, xs, strict=True):
        equal(one, rnn.pack_padded_sequence(x, [3, 1]).data)


def test_lengths_beyond_the_padding_are_refused():
    with pytest.raises(RuntimeError, match="no length above the number of steps of the input, 3"):
        rnn.pack_padded_sequence(wg.zeros(3, 2), [4, 1])


def test_sequences_without_dimensions_are_refused():
    with pytest.raises(RuntimeError, match="sequences of shape"):
        rnn.pad_sequence([wg.zeros(1), wg.tensor(1.0)])


@pytest.mark.parametrize("copied", [copy.deepcopy, lambda p: pickle.loads(pickle.dumps(p))])
def test_packed_sequences_are_copied_as_such(copied):
    packed = rnn.pack_sequence(sequences(2, 3), enforce_sorted=False)
    other = copied(packed)
    assert type(other) is rnn.PackedSequence
    for a, b in zip(packed, other, strict=True):
        assert a is not b
        equal(a, b)
