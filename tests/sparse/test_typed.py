"""Test the legacy constructors of sparse tensors."""

import wengert as wg


def test_they_make_sparse_tensors_of_their_dtype():
    index, values = wg.LongTensor([[0, 1], [2, 0]]), wg.FloatTensor([3, 4])
    x = wg.sparse.FloatTensor(index, values, wg.Size([2, 3]))
    assert x.to_dense().tolist() == [[0, 0, 3], [4, 0, 0]]
    assert isinstance(x, wg.sparse.FloatTensor) and not isinstance(x, wg.sparse.DoubleTensor)
    assert wg.sparse.DoubleTensor(2, 3).shape == (2, 3)
