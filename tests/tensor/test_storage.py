"""The memory under tensors, and what tensors say of where they are."""

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


@pytest.mark.parametrize("name", ["cuda", "cuda:1", "meta", "mps"])
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
    x = wg.ones(2, dtype=wg.float64)
    assert x.type(wg.Tensor).dtype is wg.float32
    assert x.type(wg.LongTensor).dtype is wg.int64
