"""Test tensors of PyTorch and of wengert over shared memory."""

import numpy as np
import pytest

import wengert as wg

torch = pytest.importorskip("torch")
pytestmark = pytest.mark.torch

DTYPES = sorted(set(wg.base.dtypes.DTYPES) - {"bfloat16"})


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("shape", [(), (3,), (0, 2), (2, 3)])
def test_memory_is_shared_both_ways(dtype, shape):
    ours = wg.ones(shape, dtype=getattr(wg, dtype))
    theirs = torch.from_dlpack(ours)
    assert (tuple(theirs.shape), str(theirs.dtype)) == (shape, f"torch.{dtype}")
    theirs.zero_()
    assert ours.tolist() == theirs.tolist()
    theirs = torch.ones(shape, dtype=getattr(torch, dtype))
    ours = wg.from_dlpack(theirs)
    assert (tuple(ours.shape), str(ours.dtype)) == (shape, f"torch.{dtype}")
    ours.zero_()
    assert ours.tolist() == theirs.tolist()


def test_strides_go_along_both_ways():
    assert torch.from_dlpack(wg.arange(6.0).reshape(2, 3).t()).stride() == (1, 3)
    assert wg.from_dlpack(torch.arange(6.0).reshape(2, 3).t()).stride() == (1, 3)


def test_capsules_go_both_ways():
    x = torch.arange(3)
    assert wg.from_dlpack(torch.utils.dlpack.to_dlpack(x)).data_ptr() == x.data_ptr()
    y = wg.arange(3)
    assert torch.from_dlpack(wg.utils.dlpack.to_dlpack(y)).data_ptr() == y.data_ptr()


@pytest.mark.parametrize(
    "call",
    [
        lambda lib: lib.ones(1, requires_grad=True).__dlpack__(),
        lambda lib: lib.from_dlpack(lib.ones(1, requires_grad=True)),
        lambda lib: lib.utils.dlpack.from_dlpack(lib.ones(1, requires_grad=True)),
        lambda lib: lib.ones(1).__dlpack__(stream=1),
        lambda lib: lib.from_dlpack(np.array(["a"])),
        lambda lib: lib.from_dlpack(np.ones(2, ">f4")),
    ],
)
def test_both_refuse_with_the_same_error(call):
    with pytest.raises((BufferError, AssertionError)) as theirs:
        call(torch)
    with pytest.raises((BufferError, AssertionError)) as ours:
        call(wg)
    assert type(ours.value) is type(theirs.value)
    assert str(ours.value) == str(theirs.value)


def test_bfloat16_goes_both_ways_over_the_same_memory():
    theirs = torch.ones(2, dtype=torch.bfloat16)
    ours = wg.from_dlpack(theirs)
    ours.mul_(3)
    assert theirs.tolist() == [3.0, 3.0]
    back = torch.from_dlpack(ours)
    assert (back.dtype, back.data_ptr()) == (torch.bfloat16, theirs.data_ptr())
