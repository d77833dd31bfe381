"""What is created in, counted in and written to tensors that exist; the same on PyTorch."""

from __future__ import annotations

import pytest


@pytest.mark.parametrize("make", ["zeros", "ones", "empty", "eye", "full"])
def test_creates_in_the_dtype_of_out(t, make):
    out = t.ones(2, 2, dtype=t.int64)
    arguments = {"eye": (2,), "full": ((2, 2), 2.5)}.get(make, (2, 2))
    assert getattr(t, make)(*arguments, out=out) is out
    expected = {"zeros": [[0, 0], [0, 0]], "eye": [[1, 0], [0, 1]], "full": [[2, 2], [2, 2]]}
    assert out.tolist() == expected.get(make, [[1, 1], [1, 1]])
    with pytest.raises(RuntimeError, match="dtype Float does not match dtype of out"):
        getattr(t, make)(*arguments, out=out, dtype=t.float32)


@pytest.mark.parametrize("make", ["arange", "linspace"])
def test_series_fill_what_has_as_many_elements(t, make):
    x = t.zeros(2, 3)
    count = (4,) if make == "linspace" else ()
    getattr(t, make)(0, 3 if count else 4, *count, out=x.narrow(1, 1, 2))
    assert x.tolist() == [[0, 0, 1], [0, 2, 3]]


def test_strides_of_empty_tensors(t):
    assert t.zeros(2, 0, 3).stride() == (3, 3, 1)
    assert t.zeros(0, 3, 5).stride() == (15, 5, 1)
    assert t.zeros(0).stride() == (1,)
    assert t.cat([t.tensor([]), t.tensor([])], 1).shape == (0,)


def test_indices_out_of_range_are_counted_by_their_place(t):
    with pytest.raises(IndexError, match="index 5 is out of bounds for dimension 1 with size 5"):
        t.zeros(5, 5)[0, 5]
    x = t.zeros(2, 3)
    x[t.tensor([1])] = t.ones(1, 1, 1, 3)
    assert x.tolist() == [[0, 0, 0], [1, 1, 1]]
    with pytest.raises(RuntimeError, match="dtype of indices should be Long but got Int"):
        t.take_along_dim(x, t.zeros(2, 3, dtype=t.int32), 0)
    with pytest.raises(RuntimeError, match=r"storage_offset\(\) must be divisible by 2"):
        t.zeros(6)[1:5].view(t.float64)
