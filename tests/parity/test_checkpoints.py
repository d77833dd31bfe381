"""Test that checkpoints move between PyTorch and wengert, both ways and in every form."""

import io
import pickle
from collections import Counter, OrderedDict

import numpy as np
import pytest

import wengert as wg

torch = pytest.importorskip("torch")
pytestmark = [
    pytest.mark.torch,
    pytest.mark.filterwarnings("ignore:TypedStorage is deprecated", "ignore:.*quantiz"),
]

_FLOATING = ["float16", "float32", "float64", "bfloat16", "complex64", "complex128"]
_WHOLE = ["bool", "uint8", "uint16", "uint32", "uint64", "int8", "int16", "int32", "int64"]
DTYPES = (*_FLOATING, *_WHOLE)


def theirs(state, **how):
    """What wengert loads of what PyTorch saves."""
    file = io.BytesIO()
    torch.save(state, file, **how)
    file.seek(0)
    return wg.load(file)


def ours(state):
    """What PyTorch loads of what wengert saves."""
    file = io.BytesIO()
    wg.save(state, file)
    file.seek(0)
    return torch.load(file)


def same(a, b):
    assert tuple(a.shape) == tuple(b.shape)
    assert str(a.dtype) == str(b.dtype)
    assert a.stride() == b.stride() or not a.numel()
    assert a.requires_grad == b.requires_grad
    assert a.tolist() == b.tolist()


@pytest.mark.parametrize("older", [False, True])
@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("shape", [(), (1,), (0, 3), (2, 3)])
def test_tensors_of_pytorch_load(dtype, shape, older):
    x = torch.ones(shape, dtype=getattr(torch, dtype))
    if older and dtype in ("uint16", "uint32", "uint64"):
        pytest.skip("PyTorch does not read these itself")
    same(theirs(x, _use_new_zipfile_serialization=not older), x)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("shape", [(), (1,), (0, 3), (2, 3)])
def test_tensors_load_in_pytorch(dtype, shape):
    x = wg.ones(shape, dtype=getattr(wg, dtype))
    same(x, ours(x))


@pytest.mark.parametrize("older", [False, True])
def test_views_share_memory_again(older):
    x = torch.arange(12.0).reshape(3, 4)
    views = [x, x[1], x.t(), x[:, 1::2], x.detach(), x[0].expand(2, 4)]
    loaded = theirs(views, _use_new_zipfile_serialization=not older)
    for mine, given in zip(loaded, views, strict=True):
        same(mine, given)
    loaded[0][1, 1] = 99
    assert loaded[1][1].item() == loaded[2][1, 1].item() == loaded[3][1, 0].item() == 99


def test_views_share_memory_again_in_pytorch():
    x = wg.arange(12.0).reshape(3, 4)
    views = [x, x[1], x.t(), x[:, 1::2], x.detach(), x[0].expand(2, 4)]
    loaded = ours(views)
    for mine, given in zip(views, loaded, strict=True):
        same(mine, given)
    loaded[0][1, 1] = 99
    assert loaded[1][1].item() == loaded[2][1, 1].item() == loaded[3][1, 0].item() == 99
    z = wg.tensor([1 + 2j, 3 + 4j, 5 + 6j])
    whole, imag, tail = ours([z, z.imag, z[1:]])
    imag[2] = 9
    assert whole[2].item() == tail[1].item() == 5 + 9j


def test_bits_of_conjugation_and_negation_are_carried_out():
    z = torch.tensor([1 + 2j])
    assert theirs(z.conj()).tolist() == [1 - 2j]
    assert theirs(z.conj().imag).tolist() == [-2.0]


CONTAINERS = [
    OrderedDict(a=1, b=[1.5, None, True]),
    Counter("abca"),
    {1, 2},
    b"a\xff",
    bytearray(b"abc"),
    1 + 2j,
    2**70,
    -(2**40),
    "Zürich",
    {(1, "a"): ()},
]


@pytest.mark.parametrize("older", [False, True])
@pytest.mark.parametrize("value", CONTAINERS, ids=lambda value: type(value).__name__)
def test_containers_move_both_ways(value, older):
    found = theirs(value, _use_new_zipfile_serialization=not older)
    assert found == value
    assert type(found) is type(value)
    found = ours(value)
    assert found == value
    assert type(found) is type(value)


def test_facts_of_tensors_move_both_ways():
    facts = [torch.Size([2, 3]), torch.float32, torch.device("cpu"), torch.strided]
    assert list(map(str, theirs(facts))) == list(map(str, facts))
    assert ours([wg.Size([2, 3]), wg.float32, wg.device("cpu"), wg.strided]) == facts


def test_storages_move_both_ways():
    untyped, typed = theirs([torch.UntypedStorage([1, 2]), torch.FloatStorage([1.5])])
    assert (untyped.tolist(), typed.tolist(), typed.dtype) == ([1, 2], [1.5], wg.float32)
    untyped, typed = ours([wg.UntypedStorage([1, 2]), wg.FloatStorage([1.5])])
    assert (untyped.tolist(), typed.tolist(), typed.dtype) == ([1, 2], [1.5], torch.float32)


@pytest.mark.filterwarnings("ignore:Sparse")
def test_sparse_tensors_move_both_ways():
    def made(lib):
        index, values = lib.tensor([[0, 1, 1], [2, 0, 2]]), lib.tensor([3.0, 4.0, 5.0])
        x = lib.sparse_coo_tensor(index, values, (2, 3))
        blocks = x.to_dense().to_sparse_bsr((2, 1))
        return [x, x.coalesce(), x.to_sparse_csr(), blocks, lib.sparse_coo_tensor((2, 3))]

    here, there = made(wg), made(torch)
    for found in (theirs(there), here):
        assert list(map(repr, found)) == list(map(repr, there))
        assert [x.is_coalesced() for x in (found[0], found[1])] == [False, True]
    found = ours(here)
    assert list(map(repr, found)) == list(map(repr, there))
    assert [x.is_coalesced() for x in (found[0], found[1])] == [False, True]


def test_a_tensor_with_attributes_keeps_them():
    x = torch.nn.Parameter(torch.ones(2))
    x.note = "a"
    y = torch.ones(1)
    y.note = [1]
    loaded = theirs([x, y])
    again = ours(loaded)
    for one in (loaded, again):
        assert [tensor.note for tensor in one] == ["a", [1]]
    assert type(loaded[0]) is wg.nn.Parameter and type(again[0]) is torch.nn.Parameter
    y.item = 3  # hides a method
    with pytest.raises(pickle.UnpicklingError, match="'item' cannot be set on a Tensor"):
        theirs(y)


def model(library):
    nn = library.nn
    return nn.Sequential(
        nn.Conv1d(2, 3, 2), nn.BatchNorm1d(3), nn.Flatten(), nn.Linear(9, 4), nn.LSTM(4, 2)
    )


@pytest.mark.parametrize("older", [False, True])
def test_states_of_modules_move_both_ways(older):
    first, second = model(torch), model(wg)
    state = theirs(first.state_dict(), _use_new_zipfile_serialization=not older)
    second.load_state_dict(state)
    assert state._metadata == first.state_dict()._metadata
    third = model(torch)
    third.load_state_dict(ours(second.state_dict()))
    for a, b in zip(first.state_dict().values(), third.state_dict().values(), strict=True):
        assert torch.equal(a, b)


@pytest.mark.parametrize("older", [False, True])
@pytest.mark.parametrize(
    "name", ["SGD", "Adam", "AdamW", "RMSprop", "Adagrad", "Adadelta", "Adamax"]
)
def test_training_goes_on_in_the_other_library(name, older):
    def made(library):
        linear = library.nn.Linear(3, 2).double()
        more = {"momentum": 0.9} if name == "SGD" else {}
        optimizer = getattr(library.optim, name)(linear.parameters(), lr=0.1, **more)
        return linear, optimizer, library.optim.lr_scheduler.StepLR(optimizer, 2)

    def step(library, linear, optimizer, schedule):
        optimizer.zero_grad()
        x = library.arange(12, dtype=library.float64).reshape(4, 3) / 12
        linear(x).square().sum().backward()
        optimizer.step()
        schedule.step()

    def states(parts):
        return [part.state_dict() for part in parts]

    start = made(torch)
    step(torch, *start)
    here, there = made(wg), made(torch)
    for part, state in zip(
        here, theirs(states(start), _use_new_zipfile_serialization=not older), strict=True
    ):
        part.load_state_dict(state)
    step(wg, *here)
    for part, state in zip(there, ours(states(here)), strict=True):
        part.load_state_dict(state)
    step(torch, *start)
    for _ in range(2):
        step(torch, *start)
        step(torch, *there)
    for a, b in zip(start[0].parameters(), there[0].parameters(), strict=True):
        np.testing.assert_allclose(a.detach().numpy(), b.detach().numpy(), rtol=1e-12)


def test_a_whole_module_is_refused_in_the_words_of_pytorch(tmp_path):
    torch.save(torch.nn.Linear(1, 1), tmp_path / "f")
    with pytest.raises(pickle.UnpicklingError) as mine:
        wg.load(tmp_path / "f")
    with pytest.raises(pickle.UnpicklingError) as given:
        torch.load(tmp_path / "f")
    words = "Unsupported global: GLOBAL torch.nn.modules.linear.Linear was not an allowed global"
    assert words in str(mine.value)
    assert words in str(given.value)
    names = wg.serialization.get_unsafe_globals_in_checkpoint(tmp_path / "f")
    assert names == torch.serialization.get_unsafe_globals_in_checkpoint(tmp_path / "f")


@pytest.mark.parametrize("older", [False, True])
@pytest.mark.filterwarnings("ignore:Couldn't retrieve source code")
def test_a_whole_module_loads_from_a_trusted_file(tmp_path, older):
    model = torch.nn.Sequential(torch.nn.Linear(2, 3), torch.nn.BatchNorm1d(3), torch.nn.GELU())
    torch.save(model, tmp_path / "f", _use_new_zipfile_serialization=not older)
    mine = wg.load(tmp_path / "f", weights_only=False)
    assert type(mine[1]) is wg.nn.BatchNorm1d and repr(mine) == repr(model)
    x = np.ones((2, 2), np.float32)
    found, want = mine.eval()(wg.tensor(x)), model.eval()(torch.tensor(x))
    np.testing.assert_allclose(found.detach().numpy(), want.detach().numpy(), rtol=1e-6)


def test_what_does_not_exist_here_is_named():
    with pytest.raises(TypeError, match=r"cannot load a tensor of torch\.float8_e5m2: it is of an"):
        theirs(torch.ones(2).to(torch.float8_e5m2))
    with pytest.raises(TypeError, match="quantised"):
        theirs(torch.quantize_per_tensor(torch.ones(2), 0.1, 0, torch.qint8))


def test_files_are_mapped_both_ways(tmp_path):
    wg.save([wg.arange(5.0), wg.arange(3)], tmp_path / "a")
    assert torch.load(tmp_path / "a", mmap=True)[1].tolist() == [0, 1, 2]
    torch.save([torch.arange(5.0), torch.arange(3)], tmp_path / "b")
    assert wg.load(tmp_path / "b", mmap=True)[1].tolist() == [0, 1, 2]


def test_files_without_checksums_load():
    torch.serialization.set_crc32_options(False)
    try:
        assert theirs(torch.arange(3)).tolist() == [0, 1, 2]
    finally:
        torch.serialization.set_crc32_options(True)


def test_numbers_of_numpy_load_once_they_are_allowed():
    scalar = (np._core.multiarray.scalar, "numpy._core.multiarray.scalar")
    with pytest.raises(pickle.UnpicklingError, match=r"GLOBAL numpy\._core\.multiarray\.scalar"):
        theirs(np.float64(1.5))
    with wg.serialization.safe_globals([np.dtype, scalar, np.dtypes.Float64DType]):
        assert theirs(np.float64(1.5)) == 1.5


def test_a_checkpoint_of_a_gpu_is_on_the_cpu():
    file = io.BytesIO()
    torch.save(torch.arange(3.0), file)
    data = file.getvalue().replace(b"X\x03\0\0\0cpu", b"X\x03\0\0\0mps")
    file = io.BytesIO()
    # the checksum of the pickle is another one now
    with torch.serialization._open_zipfile_writer(file) as writer:
        reader = torch._C.PyTorchFileReader(io.BytesIO(data))
        for name in reader.get_all_records():
            if name not in ("version", ".data/serialization_id"):
                content = reader.get_record(name)
                writer.write_record(name, content, len(content))
    file.seek(0)
    for where in (None, "cpu", wg.device("cpu"), {"mps": "cpu"}, lambda storage, place: storage):
        file.seek(0)
        assert wg.load(file, map_location=where).tolist() == [0.0, 1.0, 2.0]
    gpus = [(lib, where) for lib in (wg, torch) for where in ("cuda", lib.device("cuda"))]
    for lib, where in (*gpus, (wg, {"cpu": "cuda:1"})):
        file.seek(0)
        with pytest.raises(RuntimeError, match="Attempting to deserialize object on a CUDA"):
            lib.load(file, map_location=where)
    with pytest.raises(TypeError, match="map_location must be a device, a dict or callable"):
        wg.load(file, map_location=3)


def test_a_plain_pickle_of_tensors_loads():
    class Renaming(pickle.Unpickler):
        def find_class(self, module, name):
            return super().find_class(module.replace("torch", "wengert", 1), name)

    state = {
        "view": torch.arange(6.0).reshape(2, 3).t(),
        "leaf": torch.ones(2, dtype=torch.bfloat16, requires_grad=True),
        **torch.nn.Linear(2, 1).state_dict(),
    }
    loaded = Renaming(io.BytesIO(pickle.dumps(state))).load()
    for name, x in state.items():
        same(loaded[name], x)
    layer, sparse = torch.nn.Linear(2, 1), torch.eye(2).to_sparse()
    layer, sparse = Renaming(io.BytesIO(pickle.dumps((layer, sparse)))).load()
    assert type(layer) is wg.nn.Linear and type(layer.weight) is wg.nn.Parameter
    assert sparse.to_dense().tolist() == [[1.0, 0.0], [0.0, 1.0]]
