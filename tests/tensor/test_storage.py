"""Test the storages of tensors, and the attributes that locate them."""

import copy

import pytest

import wengert as wg
import wengert.backends.cudnn as cudnn


def test_views_have_the_storage_of_their_base():
    x = wg.tensor([[4.0, 1.0], [5.0, 3.0], [2.0, 1.0]])
    for view in (x[1], x.T, x[1:, 1], x.reshape(-1)):
        assert view.untyped_storage() == x.untyped_storage()
        assert view.storage().tolist() == [4.0, 1.0, 5.0, 3.0, 2.0, 1.0]
    assert x.clone().untyped_storage() != x.untyped_storage()
    assert x.T.contiguous().storage().tolist() == [4.0, 5.0, 2.0, 1.0, 3.0, 1.0]


@pytest.mark.parametrize(
    "make",
    [
        lambda x: x.t() * 2,
        lambda x: x[:, ::2].t().sin(),
        lambda x: x.expand(2, 2, 3).transpose(0, 2) * x.t()[..., None],
        lambda x: x[:0].t() * 2,
        lambda x: x.sum(),
    ],
)
def test_whatever_the_order_of_memory_it_has_a_storage(make):
    y = make(wg.arange(6.0).reshape(2, 3))
    storage = y.untyped_storage()
    assert storage.nbytes() == y.numel() * 4
    assert sorted(y.storage()) == sorted(y.flatten().tolist())
    assert storage.data_ptr() == y.data_ptr()


def test_sizes_of_a_storage():
    storage = wg.zeros(2, 3, dtype=wg.int16).storage()
    assert (len(storage), storage.nbytes(), storage.element_size()) == (6, 12, 2)
    assert storage.dtype is wg.int16
    assert len(wg.zeros(2, 3, dtype=wg.int16).untyped_storage()) == 12
    assert wg.zeros(0, 3).untyped_storage().nbytes() == 0
    assert wg.tensor(2.0).storage().tolist() == [2.0]


def test_a_storage_is_written_to():
    x = wg.arange(4)
    x.storage()[1] = 9
    x[2:].storage()[0:1] = 5
    assert x.tolist() == [5, 9, 2, 3]
    assert x.storage()[1] == 9


def test_a_storage_prints_as_in_pytorch():
    storage = wg.ones(2).storage()
    assert repr(storage) == (
        " 1.0\n 1.0\n[torch.storage.TypedStorage(dtype=torch.float32, device=cpu) of size 2]"
    )
    assert wg.is_storage(storage)
    assert not wg.is_storage(wg.ones(2))


def test_under_a_transform_there_is_no_storage():
    with pytest.raises(RuntimeError, match="doesn't have storage"):
        wg.vmap(lambda x: x.untyped_storage().nbytes())(wg.ones(2, 2))


def test_where_tensors_are():
    x = wg.ones(2)
    assert (x.is_cpu, x.is_cuda, x.get_device(), wg.get_device(x)) == (True, False, -1, -1)
    assert (x.layout, x.is_pinned(), x.is_shared()) == (wg.strided, False, False)
    assert wg.is_same_size(x, x)
    assert not x.is_same_size(wg.ones(3))
    assert wg.typename(x) == "torch.FloatTensor"
    assert wg.typename(wg.nn.Linear) == "wengert.nn.modules.linear.Linear"


def test_the_device_is_the_cpu_whoever_asks():
    wg.set_default_device("cpu")
    wg.set_default_device(None)
    with wg.device("cpu") as device:
        assert wg.ones(1).device == device == wg.get_default_device()
    with pytest.raises(RuntimeError, match="device 'cuda' is not available"):
        wg.set_default_device("cuda")
    with pytest.raises(RuntimeError, match="Expected one of cpu"):
        wg.set_default_device("foo")
    assert not wg.accelerator.is_available()
    assert wg.accelerator.current_accelerator() is None


def test_without_a_gpu_its_functions_do_nothing_or_raise():
    wg.cuda.manual_seed(1)
    wg.cuda.manual_seed_all(1)
    wg.cuda.empty_cache()
    assert wg.cuda.memory_allocated() == wg.cuda.max_memory_allocated() == 0
    assert wg.version.cuda is None
    for call in (wg.cuda.synchronize, wg.cuda.current_device, wg.cuda.get_device_name):
        with pytest.raises(AssertionError, match="Torch not compiled with CUDA enabled"):
            call()


def test_settings_are_kept_and_read_back():
    assert not wg.backends.mps.is_available()
    assert wg.backends.cudnn is cudnn
    before = cudnn.deterministic
    cudnn.deterministic = True
    assert wg.backends.cudnn.deterministic
    cudnn.deterministic = before
    wg.use_deterministic_algorithms(True, warn_only=True)
    assert wg.are_deterministic_algorithms_enabled()
    assert wg.is_deterministic_algorithms_warn_only_enabled()
    wg.use_deterministic_algorithms(False)
    assert not wg.are_deterministic_algorithms_enabled()
    wg.set_float32_matmul_precision("high")
    assert wg.get_float32_matmul_precision() == "high"
    wg.set_float32_matmul_precision("highest")
    with pytest.raises(RuntimeError, match="must be one of highest, high, medium"):
        wg.set_float32_matmul_precision("low")
    with pytest.raises(RuntimeError, match="expects a positive number"):
        wg.set_num_interop_threads(0)


def test_a_dual_tensor_lies_where_its_primal_lies():
    forward = wg.autograd.forward_ad
    x = wg.ones(2)
    with forward.dual_level():
        dual = forward.make_dual(x, wg.ones(2))
        assert dual.storage().data_ptr() == x.storage().data_ptr()
        assert dual.untyped_storage() == x.untyped_storage()


def test_storages_are_made_of_sizes_and_of_values():
    assert wg.UntypedStorage(3).tolist() == [0, 0, 0]
    assert wg.UntypedStorage([1, 255]).tolist() == [1, 255]
    assert wg.TypedStorage([1, 2], dtype=wg.int16).nbytes() == 4
    typed = wg.FloatStorage([1, 2.5])
    assert type(typed) is wg.TypedStorage
    assert isinstance(typed, wg.FloatStorage)
    assert not isinstance(typed, wg.DoubleStorage)
    assert wg.TypedStorage(wrap_storage=typed.untyped(), dtype=wg.int32).size() == 2
    assert (wg.FloatStorage.dtype, wg.BoolStorage.dtype) == (wg.float32, wg.bool)
    assert wg.ones(1).storage_type() is wg.FloatStorage
    assert (typed.type(), wg.UntypedStorage().type()) == (
        "torch.FloatStorage",
        "torch.storage.UntypedStorage",
    )
    with pytest.raises(RuntimeError, match="one of the items was of type float instead of int"):
        wg.UntypedStorage([1.5])
    with pytest.raises(TypeError, match="a storage is made of a size or of a sequence"):
        wg.FloatStorage(wg.ones(2))
    with pytest.raises(TypeError, match="Argument 'wrap_storage' must be UntypedStorage"):
        wg.TypedStorage(wrap_storage=typed)
    with pytest.raises(RuntimeError, match="device 'cuda' is not available"):
        wg.UntypedStorage(3, device="cuda")


def test_storages_are_copied_filled_and_converted():
    x = wg.arange(3.0)
    storage = x.storage()
    apart = storage.clone()
    storage.fill_(2)
    assert (x.tolist(), apart.tolist()) == ([2.0, 2.0, 2.0], [0.0, 1.0, 2.0])
    storage.copy_(apart)
    assert x.tolist() == [0.0, 1.0, 2.0]
    assert storage.double().dtype is wg.float64
    assert storage.long().tolist() == [0, 1, 2]
    with pytest.raises(RuntimeError, match="size mismatch"):
        storage.copy_(wg.FloatStorage(2))
    raw = x.untyped_storage()
    part = raw[4:8]
    part.fill_(0)
    assert x.tolist() == [0.0, 0.0, 2.0]
    raw.byteswap(wg.float32)
    raw.byteswap(wg.float32)
    assert x.tolist() == [0.0, 0.0, 2.0]
    assert raw.resize_(12) is raw
    with pytest.raises(RuntimeError, match="Trying to resize storage that is not resizable"):
        raw.resize_(13)
    for index in (3, -4):
        with pytest.raises(IndexError, match=f"index {index} out of range for storage of size 3"):
            storage[index]
    with pytest.raises(NotImplementedError, match="slices are only supported in UntypedStorage"):
        storage[0:1]


def test_a_write_through_a_storage_counts_as_one_to_the_tensors():
    x = wg.ones(2)
    loss = (wg.ones(2, requires_grad=True) * x).sum()
    x.storage()[0] = 5
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        loss.backward()


def test_a_tensor_shows_the_memory_of_a_storage():
    x = wg.arange(6.0)
    y = wg.empty(0).set_(x.untyped_storage())
    assert y.tolist() == x.tolist()
    y.set_(x.storage(), 1, (2, 2), (1, 2))
    assert y.tolist() == [[1.0, 3.0], [2.0, 4.0]]
    y.set_(x.untyped_storage(), 0, (2, 2))
    y.zero_()
    assert x.tolist() == [0.0, 0.0, 0.0, 0.0, 4.0, 5.0]
    assert y._version == x._version
    assert wg.empty(0, dtype=wg.int32).set_(x.untyped_storage()).shape == (6,)
    y.set_(x, 4, (2,), (1,))
    assert y.tolist() == [4.0, 5.0]
    assert y.set_().shape == (0,)
    assert y.set_(x.storage(), 0, (0, 3)).shape == (0, 3)


@pytest.mark.parametrize(
    ("how", "message"),
    [
        (
            (0, (7,)),
            r"setStorage: sizes \[7\], strides \[1\], storage offset 0, and itemsize 4 requ",
        ),
        ((3, (2, 2)), "requiring a storage size of 28 are out of bounds for storage of size 24"),
        ((-1, (2,)), "invalid storage offset -1"),
        ((0, (2,), (-1,)), "must not be negative"),
        ((0, (2,), (1, 1)), "unequal size length"),
        ((0, (2**40, 2**40), (0, 2**40)), "out of bounds"),
    ],
)
def test_a_tensor_does_not_reach_beyond_a_storage(how, message):
    x = wg.arange(6.0)
    with pytest.raises(RuntimeError, match=message):
        wg.empty(0).set_(x.storage(), *how)


def test_a_tensor_shows_a_storage_of_its_own_dtype():
    with pytest.raises(RuntimeError, match=r"Expected a Storage of type .* or an UntypedStorage"):
        wg.empty(0, dtype=wg.int64).set_(wg.FloatStorage(2))
    with pytest.raises(RuntimeError, match="a leaf Variable that requires grad"):
        wg.ones(1, requires_grad=True).set_(wg.FloatStorage(2))
    with pytest.raises(TypeError, match="'source' must be Tensor or a storage, not list"):
        wg.ones(1).set_([1])


@pytest.mark.parametrize("name", ["cuda", "cuda:1", "mps"])
def test_a_device_can_be_named_and_nothing_be_put_there(name):
    there = wg.device(name)
    assert str(there) == name and there == wg.device(name) != wg.device("cpu")
    assert wg.device(0) == wg.device("cuda:0")
    for put in (
        lambda: wg.ones(2, device=there),
        lambda: wg.ones(2).to(there),
        lambda: wg.nn.Linear(1, 1).to(there),
        lambda: wg.nn.Linear(1, 1, device=there),
        lambda: wg.tensor([1.0], device=name),
        lambda: wg.Generator(there),
        lambda: there.__enter__(),
    ):
        with pytest.raises(RuntimeError, match=f"device '{name}' is not available"):
            put()


def test_a_class_of_tensors_is_a_dtype():
    x = wg.tensor([1.5, -2.5], dtype=wg.float64)
    for kind, dtype, values in (
        (wg.Tensor, wg.float32, [1.5, -2.5]),
        (wg.LongTensor, wg.int64, [1, -2]),
    ):
        found = x.type(kind)
        assert (found.dtype, found.tolist()) == (dtype, values)


def test_storages_of_bytes_and_files(tmp_path):
    assert wg.ShortStorage.from_buffer(bytearray([1, 2, 3, 4]), "big").tolist() == [258, 772]
    assert wg.BoolStorage.from_buffer(bytearray([0, 1, 2])).tolist() == [False, True, True]
    path = str(tmp_path / "numbers")
    first = wg.FloatTensor(wg.FloatStorage.from_file(path, True, 3))
    first.copy_(wg.arange(3.0))
    again = wg.FloatStorage.from_file(path, True, 3)
    assert again.tolist() == [0, 1, 2] and again.filename == path
    assert again._untyped_storage.nbytes() == 12
    assert again.__sizeof__() - wg.FloatStorage().__sizeof__() == 12
    wg.from_file(path, True, 4).neg_()
    private = wg.from_file(path, size=4)
    assert private.tolist() == [0, -1, -2, 0]
    assert wg.from_file(path, True, 4)[1:].untyped_storage().filename == path
    for other in (private, again.__class__(2), wg.ones(2)):
        memory = other.untyped_storage() if isinstance(other, wg.Tensor) else other
        assert memory.filename is None
    private.fill_(9)
    assert wg.from_file(path, False, 1, dtype=wg.int32).tolist() == [-(2**31)]
    for make in (wg.from_file, wg.FloatStorage.from_file):
        with pytest.raises(RuntimeError, match=r"size <16> is smaller than the required .* <20>"):
            make(path, False, 5)


@pytest.mark.parametrize("of", [wg.Tensor.untyped_storage, wg.Tensor.storage])
def test_a_shallow_copy_of_a_storage_owns_its_memory(of):
    x = wg.zeros(2)
    made = copy.copy(of(x))
    made[0] = 1
    assert made.data_ptr() != x.data_ptr() and x.tolist() == [0, 0]
