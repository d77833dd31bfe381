"""Test memory shared by DLPack and by the buffer protocol."""

import array

import numpy as np
import pytest

import wengert as wg
import wengert.compat.jax.numpy as jnp
import wengert.numpy as wnp
from wengert.utils import dlpack


class Capsule:
    """Another library's array, which knows the first version of the protocol alone."""

    def __init__(self, capsule):
        self.capsule = capsule

    def __array__(self, *_, **__):
        raise TypeError("as PyTorch's bfloat16")

    def __dlpack__(self):
        return self.capsule

    def __dlpack_device__(self):
        return (1, 0)


DTYPES = sorted(set(wg.base.dtypes.DTYPES) - {"bfloat16"})

WRITES = np.lib.NumpyVersion(np.__version__) >= "2.1.0"
"""Whether this NumPy knows versions of DLPack: before, what it takes in is read-only."""
VERSIONED = pytest.mark.skipif(not WRITES, reason="this NumPy knows no versions")


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("shape", [(), (3,), (0, 2), (2, 3)])
def test_memory_is_shared_with_numpy_both_ways(dtype, shape):
    x = wg.ones(shape, dtype=getattr(wg, dtype))
    a = np.from_dlpack(x)
    assert (a.shape, a.dtype) == (shape, x.dtype.numpy)
    x.zero_()
    assert a.sum() == 0
    if WRITES:
        a[...] = 1
        assert x.sum().item() == x.numel()
    b = np.ones(shape, dtype)
    y = wg.from_dlpack(b)
    assert (y.shape, y.dtype) == (shape, x.dtype)
    b[...] = 0
    assert y.sum().item() == 0
    if WRITES:
        y.fill_(1)
        assert b.sum() == b.size


def test_a_number_has_memory_once_it_is_shared():
    x = wg.ones(3).sum()
    a = np.from_dlpack(x)
    x.fill_(5)
    assert a == 5


def test_strides_go_along():
    x = wg.arange(6.0).reshape(2, 3)
    assert np.from_dlpack(x.t()).strides == (4, 12)
    assert wg.from_dlpack(np.arange(6.0).reshape(2, 3).T).stride() == (1, 3)
    backwards = wg.from_numpy(np.arange(3.0)[::-1])
    with pytest.raises(BufferError, match="in the reverse order"):
        backwards.__dlpack__()
    assert np.from_dlpack(Capsule(backwards.__dlpack__(copy=True))).tolist() == [2.0, 1.0, 0.0]


@pytest.mark.parametrize("taken", [wg.from_dlpack, wnp.from_dlpack])
def test_a_tensor_over_a_tensors_memory_has_its_version(taken):
    x = wg.ones(2)
    w = wg.ones(2, requires_grad=True)
    loss = (w * x).sum()
    y = taken(x)
    y += 1
    assert x._version == 1
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        loss.backward()
    apart = taken(x, copy=True)
    apart[:] = 0
    assert (x.tolist(), x._version) == ([2.0, 2.0], 1)


def test_copies_are_made_on_request_alone():
    x = wg.ones(2)
    for given, shared in ((None, True), (False, True), (True, False)):
        a = wg.from_dlpack(x.__dlpack__(copy=given)).numpy()
        assert np.shares_memory(a, x.numpy()) is shared
        b = np.ones(2)
        assert np.shares_memory(wg.from_dlpack(b, copy=given).numpy(), b) is shared


def test_what_requires_a_gradient_is_not_exported():
    x = wg.ones(2, requires_grad=True)
    for call in (x.__dlpack__, lambda: dlpack.to_dlpack(x), lambda: wg.from_dlpack(x)):
        with pytest.raises(BufferError, match="Can't export tensors that require gradient"):
            call()
        with wg.no_grad(), pytest.raises(BufferError, match="Can't export"):
            call()
    a = np.from_dlpack(x.detach())
    x.detach()[0] = 7
    assert a[0] == 7


def test_a_capsule_is_taken_in_once():
    x = wg.arange(3)
    capsule = dlpack.to_dlpack(x)
    assert wg.from_dlpack(capsule).data_ptr() == x.data_ptr()
    with pytest.raises(RuntimeError, match="from_dlpack received an invalid capsule"):
        wg.from_dlpack(capsule)


def test_a_device_is_the_cpu():
    x = wg.ones(2)
    assert x.__dlpack_device__() == (dlpack.DLDeviceType.kDLCPU, 0) == (1, 0)
    x.__dlpack__(dl_device=(1, 0), stream=None)
    assert wg.from_dlpack(np.ones(1), device="cpu").tolist() == [1.0]
    with pytest.raises(BufferError, match=r"Can't export a tensor to device \(2, 0\)"):
        x.__dlpack__(dl_device=(2, 0))
    with pytest.raises(AssertionError, match=r"stream should be None on cpu\."):
        x.__dlpack__(stream=1)
    with pytest.raises(RuntimeError, match="device 'cuda' is not available"):
        wg.from_dlpack(np.ones(1), device="cuda")


@VERSIONED
def test_versions_of_the_protocol_are_told_by_the_capsule():
    x = wg.ones(2)
    assert '"dltensor"' in repr(x.__dlpack__())
    assert '"dltensor_versioned"' in repr(x.__dlpack__(max_version=(1, 0)))


@VERSIONED
def test_memory_that_must_not_be_written_to_is_not():
    a = np.ones(2)
    a.flags.writeable = False
    x = wg.from_dlpack(a)
    with pytest.raises(RuntimeError, match="read-only"):
        x.add_(1)
    assert a.tolist() == [1.0, 1.0]
    with pytest.raises(BufferError):
        x.__dlpack__()  # the first version of the protocol could not tell
    assert not np.from_dlpack(x).flags.writeable


def test_memory_of_a_capsule_is_written_to():
    x = wg.arange(4)
    y = wg.from_dlpack(wg.utils.dlpack.to_dlpack(x))
    y[0] = -9
    assert x.tolist() == [-9, 1, 2, 3]
    z = wg.from_dlpack(np.arange(6.0).reshape(2, 3).T.__dlpack__())
    z.mul_(2)
    assert z.tolist() == [[0, 6], [2, 8], [4, 10]]
    assert z.stride() == (1, 3)


@pytest.mark.parametrize("value", [3, "a", [1.0], None])
def test_what_does_not_know_the_protocol_is_refused(value):
    with pytest.raises(TypeError, match="takes a capsule or an object with __dlpack__"):
        wg.from_dlpack(value)


def test_under_transforms_there_is_no_memory_to_hand_over():
    with pytest.raises(RuntimeError, match="vmap"):
        wg.vmap(lambda x: wg.from_numpy(np.from_dlpack(x)))(wg.ones(2, 2))


def test_in_a_compiled_function_what_another_library_sees_is_up_to_date():
    seen = []

    @wg.compile
    def f(x):
        y = x * 2
        seen.append(np.from_dlpack(y).sum())
        return y + 1

    with pytest.warns(UserWarning, match="it hands its memory to another library"):
        f(wg.zeros(3))
    for k in range(1, 4):
        assert f(wg.full((3,), float(k))).tolist() == [2.0 * k + 1] * 3
    assert seen == [0.0, 6.0, 12.0, 18.0]


# -- buffers ---------------------------------------------------------------------------------------


def test_a_buffer_shares_its_memory():
    memory = bytearray(16)
    x = wg.frombuffer(memory, dtype=wg.float32, count=2, offset=4)
    x[0] = 1
    assert memory[4:8] == np.float32(1).tobytes()
    assert x.shape == (2,)
    given = array.array("i", [1, 2, 3])
    assert wg.frombuffer(given, dtype=wg.int32).tolist() == [1, 2, 3]
    assert wg.frombuffer(memory, dtype=wg.float64, requires_grad=True).requires_grad


def test_a_buffer_that_must_not_be_written_to_is_not():
    with pytest.warns(UserWarning, match="The given buffer is not writable"):
        x = wg.frombuffer(b"abcd", dtype=wg.int8)
    with pytest.raises(RuntimeError, match="read-only"):
        x.add_(1)


@pytest.mark.parametrize(
    ("length", "how", "message"),
    [
        (8, {"count": 3}, r"requested buffer length \(3 \* 4 bytes\) after offset \(0 bytes\)"),
        (7, {}, r"buffer length \(7 bytes\) after offset \(0 bytes\) must be a multiple of"),
        (8, {"offset": 2}, r"buffer length \(6 bytes\) after offset \(2 bytes\) must be a mult"),
        (0, {}, r"both buffer length \(0\) and count \(-1\) must not be 0"),
        (8, {"count": 0}, r"both buffer length \(8\) and count \(0\) must not be 0"),
        (8, {"offset": 8}, r"offset \(8 bytes\) must be non-negative and no greater than"),
        (8, {"offset": -1}, r"offset \(-1 bytes\) must be non-negative and no greater than"),
        (8, {"count": 2**61}, "requested buffer length"),
    ],
)
def test_a_buffer_of_the_wrong_size_is_refused(length, how, message):
    with pytest.raises(ValueError, match=message):
        wg.frombuffer(bytearray(length), dtype=wg.float32, **how)


def test_what_is_no_buffer_is_refused():
    with pytest.raises(ValueError, match="does not implement Python buffer protocol"):
        wg.frombuffer(3, dtype=wg.float32)


@pytest.mark.parametrize("version", [None, (1, 0)], ids=["unversioned", "versioned"])
def test_bfloat16_goes_out_and_comes_in_over_the_same_memory(version):
    x = wg.tensor([1.0, 2.0], dtype=wg.bfloat16)
    y = wg.from_dlpack(x.__dlpack__(max_version=version))
    x.mul_(3)
    assert y.dtype is wg.bfloat16
    assert y.tolist() == [3.0, 6.0]
    with pytest.raises((BufferError, RuntimeError, TypeError)):
        np.from_dlpack(x)  # NumPy does not know them, and must not take them for others
    capsule = dlpack.to_dlpack(x)
    wg.from_dlpack(capsule)
    with pytest.raises(RuntimeError, match="only once"):
        wg.from_dlpack(capsule)


@pytest.mark.parametrize("dtype", [wg.bfloat16, wg.float32])
def test_another_librarys_memory_is_taken_in_by_its_object(dtype):
    x = wg.tensor([1.0, 2.0], dtype=dtype)
    y = wg.from_dlpack(Capsule(x.__dlpack__()))
    assert y.data_ptr() == x.data_ptr()
    with pytest.raises(RuntimeError, match="read-only"):
        y.add_(1)  # the first version of the protocol cannot tell, as of JAX's arrays
    for read in (wg.tensor, wnp.from_dlpack, jnp.from_dlpack):
        made = read(Capsule(x.__dlpack__()))
        assert (made.dtype, made.tolist()) == (x.dtype, [1.0, 2.0])


def test_a_meta_tensor_has_no_memory_to_hand_over():
    with pytest.raises(BufferError, match="meta tensors"):
        np.from_dlpack(wg.ones(3, device="meta"))
