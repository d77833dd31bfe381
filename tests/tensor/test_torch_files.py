"""Test files of `torch.save`: what is read or refused, and that no code in them runs."""

import enum
import io
import pickle
import pickletools
import struct
import sys
import zipfile
from collections import Counter, OrderedDict

import numpy as np
import pytest

import wengert as wg
from wengert import serialization

CALL = b"ctorch._utils\n_rebuild_tensor_v2\n"


def written(state):
    file = io.BytesIO()
    wg.save(state, file)
    return file.getvalue()


def roundtrip(state):
    return wg.load(io.BytesIO(written(state)))


def records(data):
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def packed(pickled, storages=(), **more):
    """An archive around a pickle, as hostile as may be."""
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as archive:
        archive.writestr("archive/data.pkl", pickled)
        for name, content in {**dict(storages), **more}.items():
            archive.writestr(f"archive/{name}", content)
    return io.BytesIO(file.getvalue())


def tensor(offset=b"K\x00", size=b"K\x03\x85", stride=b"K\x01\x85", kind=b"Float", count=b"K\x03"):
    """The instructions that make a tensor over storage 0."""
    storage = b"(X\x07\0\0\0storagectorch\n" + kind + b"Storage\nX\x01\0\0\x000X\x03\0\0\0cpu"
    return (
        CALL + b"(" + storage + count + b"tQ" + offset + size + stride
        + b"\x89ccollections\nOrderedDict\n)RtR"
    )  # fmt: skip


ONE = {"data/0": np.arange(3, dtype=np.float32).tobytes()}


class Sink:
    """What PyTorch asks of a file: to take bytes, and to hand them on."""

    def __init__(self):
        self.parts = []

    def write(self, part):
        self.parts.append(bytes(part))
        return len(part)

    def flush(self):
        pass


class Untold(Sink):
    def tell(self):
        raise NotImplementedError


@pytest.mark.parametrize("kind", [Sink, Untold])
def test_a_file_that_only_takes_bytes_is_written(kind):
    file, state = kind(), {"w": wg.arange(5.0), "n": [wg.ones(2, 3), "text"]}
    wg.save(state, file)
    data = b"".join(file.parts)
    assert str(wg.load(io.BytesIO(data))) == str(state)
    assert {name: records(data)[name] for name in records(written(state))} == records(
        written(state)
    )


def test_attributes_are_saved_with_the_tensors_that_they_hold():
    x, weight = wg.arange(3.0), wg.nn.Parameter(wg.ones(2))
    x.end = x[1:]
    weight.shown = {"by": x}
    weight_again, x_again = roundtrip([weight, x])
    assert weight_again.shown["by"] is x_again and type(weight_again) is wg.nn.Parameter
    x_again[2] = 7.0
    assert x_again.end.tolist() == [1.0, 7.0]


def test_instructions_of_a_tensor_make_one():
    assert wg.load(packed(b"\x80\x02" + tensor() + b".", ONE)).tolist() == [0.0, 1.0, 2.0]


# -- what comes back -------------------------------------------------------------------------------


def test_containers_of_pytorch_come_back():
    state = OrderedDict(
        counter=Counter("abca"),
        held={1, "a", (2, 3)},
        raw=b"a\xff",
        array=bytearray(b"xyz"),
        numbers=[0, 255, 256, -1, 2**31 - 1, 2**31, -(2**31), -(2**31) - 1, 2**70, -(2**70)],
        device=wg.device("cpu"),
        layout=wg.strided,
        text="half \ud800 pair",
    )
    state._metadata = OrderedDict(version=1)
    found = roundtrip(state)
    assert list(found.items()) == list(state.items())
    assert [type(value) for value in found.values()] == [type(value) for value in state.values()]
    assert found._metadata == state._metadata


def test_a_state_that_contains_itself_comes_back():
    state = {"a": []}
    state["a"].append(state)
    found = roundtrip(state)
    assert found["a"][0] is found
    shared = [1]
    left, right = roundtrip([shared, shared])
    assert left is right


def test_storages_come_back_and_share_memory_with_tensors():
    storage, typed = roundtrip([wg.UntypedStorage([1, 2]), wg.FloatStorage([1.5])])
    assert storage.tolist() == [1, 2]
    assert typed.tolist() == [1.5]
    assert typed.dtype is wg.float32


def test_real_parts_that_begin_inside_of_an_element_are_laid_out():
    z = wg.tensor([1 + 2j, 3 + 4j, 5 + 6j])
    imag, tail = roundtrip([z.imag, z[1:]])
    tail[0] = 9 + 8j
    assert imag.tolist() == [2.0, 8.0, 6.0]


def test_sparse_tensors_come_back_and_are_checked():
    x = wg.sparse_coo_tensor([[0, 1, 1], [2, 0, 2]], [3.0, 4.0, 5.0], (2, 3))
    found = roundtrip([x, x, x.to_sparse_csr()])
    assert found[0] is found[1]
    assert list(map(repr, found[::2])) == list(map(repr, [x, x.to_sparse_csr()]))
    data = records(written(x))["archive/data.pkl"]
    indices = np.array([0, 1, 1, 2, 0, 9]).tobytes()
    storages = {"data/0": indices, "data/1": bytes(12)}
    with pytest.raises(RuntimeError, match="size is inconsistent with indices"):
        wg.load(packed(data, storages))


def test_a_file_is_the_same_every_time():
    state = {"a": wg.arange(3.0), "b": [wg.ones(2, 2).t()]}
    assert written(state) == written(state)


def test_data_lie_at_multiples_of_64_bytes_and_are_mapped(tmp_path):
    path = tmp_path / "f.pt"
    wg.save([wg.arange(3.0), wg.arange(5)], path)
    loaded = wg.load(path, mmap=True)
    assert all(x.data_ptr() % 64 == 0 for x in loaded)
    assert [x.untyped_storage().nbytes() for x in loaded] == [12, 40]
    loaded[0] += 1
    assert loaded[0].tolist() == [1.0, 2.0, 3.0]
    assert wg.load(path)[0].tolist() == [0.0, 1.0, 2.0]
    with pytest.raises(ValueError, match="f must be a file path"):
        wg.load(io.BytesIO(path.read_bytes()), mmap=True)


def test_a_file_that_cannot_seek_is_read_to_its_end():
    class Stream:
        def __init__(self, data):
            self.file = io.BytesIO(data)

        def read(self, size=-1):
            return self.file.read(size)

    assert wg.load(Stream(written(wg.ones(2)))).tolist() == [1.0, 1.0]


def test_large_byte_order_is_turned_round():
    data = {"data/0": np.arange(3, dtype=">f4").tobytes(), "byteorder": b"big"}
    assert wg.load(packed(b"\x80\x02" + tensor() + b".", data)).tolist() == [0.0, 1.0, 2.0]
    data = {"data/0": np.array([1 + 2j], dtype=">c8").tobytes(), "byteorder": b"big"}
    one = tensor(size=b"K\x01\x85", kind=b"ComplexFloat", count=b"K\x01")
    assert wg.load(packed(b"\x80\x02" + one + b".", data)).tolist() == [1 + 2j]


def test_optimizers_schedules_and_modules_go_on_where_they_were():
    def made():
        wg.manual_seed(3)
        model = wg.nn.Sequential(wg.nn.Linear(3, 4), wg.nn.BatchNorm1d(4), wg.nn.Linear(4, 1))
        optimizer = wg.optim.AdamW(model.parameters(), lr=0.1)
        return model, optimizer, wg.optim.lr_scheduler.CosineAnnealingLR(optimizer, 5)

    def step(model, optimizer, schedule):
        optimizer.zero_grad()
        model(wg.arange(12.0).reshape(4, 3)).square().sum().backward()
        optimizer.step()
        schedule.step()

    first = made()
    step(*first)
    found = roundtrip([part.state_dict() for part in first])
    second = made()
    for part, state in zip(second, found, strict=True):
        part.load_state_dict(state)
    step(*first)
    step(*second)
    for ours, theirs in zip(first[0].parameters(), second[0].parameters(), strict=True):
        assert wg.equal(ours, theirs)


# -- what the user allows --------------------------------------------------------------------------


class Mode(enum.Enum):
    FAST = 1


class Settings:
    def __init__(self, rate):
        self.rate = rate
        self.weights = wg.ones(2)


class Slotted:
    __slots__ = ("a",)


def test_what_the_user_allows_is_saved_and_loaded():
    settings = Settings(0.5)
    slotted = Slotted()
    slotted.a = 3
    with pytest.raises(pickle.UnpicklingError, match=r"Unsupported global: GLOBAL .*Settings"):
        wg.load(io.BytesIO(written([settings])))
    with serialization.safe_globals([Mode, Settings, Slotted]):
        data = written([settings, Mode.FAST, slotted, Settings, settings])
        found = wg.load(io.BytesIO(data))
    assert found[0].rate == 0.5
    assert found[0].weights.tolist() == [1.0, 1.0]
    assert found[1] is Mode.FAST
    assert found[2].a == 3
    assert found[3] is Settings
    assert found[4] is found[0]
    with pytest.raises(pickle.UnpicklingError, match=r"Unsupported global: GLOBAL .*Settings"):
        wg.load(io.BytesIO(data))
    names = serialization.get_unsafe_globals_in_checkpoint(io.BytesIO(data))
    assert sorted(name.rpartition(".")[2] for name in names) == ["Mode", "Settings", "Slotted"]


class Tagged(wg.Tensor):
    pass


class Counted(wg.Tensor):
    def __getstate__(self):
        return {"count": 5}

    def __setstate__(self, state):
        self.count = state["count"] + 1


class Reduced(wg.Tensor):
    def __reduce_ex__(self, protocol):
        return _reduced, (self.as_subclass(wg.Tensor), 7)


def _reduced(tensor, mark):
    made = tensor.as_subclass(Reduced)
    made.mark = mark
    return made


class Paired(wg.Tensor):
    """Two tensors in one, which computes on both."""

    def __new__(cls, one, two):
        made = wg.Tensor._make_wrapper_subclass(cls, one.shape, one.stride(), dtype=one.dtype)
        made.one, made.two = one, two
        return made

    @classmethod
    def __torch_dispatch__(cls, func, types, args, kwargs):
        raise NotImplementedError(func)


def test_instances_of_allowed_subclasses_are_loaded():
    x = wg.arange(6.0).reshape(2, 3)
    tagged = x.t().as_subclass(Tagged)
    tagged.note = [1, wg.ones(1)]
    state = [x, tagged, wg.nn.Parameter(x.as_subclass(Tagged)), x.as_subclass(Counted)]
    data = written([*state, x.as_subclass(Reduced), Paired(x.t(), x.t() + 1)])
    with pytest.raises(pickle.UnpicklingError, match=r"Unsupported global: GLOBAL .*Tagged"):
        wg.load(io.BytesIO(data))
    with serialization.safe_globals([Tagged, Counted, Reduced, Paired, _reduced]):
        found = [wg.load(io.BytesIO(data))]
    found.append(wg.load(io.BytesIO(data), weights_only=False))
    for plain, tag, param, count, reduced, paired in found:
        assert [type(one) for one in (tag, param, count)] == [Tagged, Tagged, Counted]
        assert tag.stride() == (1, 3) and tag.note[0] == 1 and tag.note[1].tolist() == [1.0]
        assert isinstance(param, wg.nn.Parameter) and param.requires_grad and param.is_leaf
        assert count.count == 6 and reduced.mark == 7 and type(reduced) is Reduced
        assert type(paired) is Paired and paired.stride() == (1, 3) and paired.shape == (3, 2)
        assert wg.equal(paired.two, x.t() + 1)
        plain[0, 0] = 9.0
        assert float(tag[0, 0]) == float(count[0, 0]) == float(param[0, 0]) == 9.0


def test_an_instance_of_a_class_that_is_no_tensor_is_not_made():
    data = written([wg.ones(2).as_subclass(Tagged)])
    name = f"{Tagged.__module__}\nTagged".encode()
    pickled = records(data)["archive/data.pkl"].replace(name, b"collections\nOrderedDict")
    with pytest.raises(pickle.UnpicklingError, match="instances of Tensor's subclasses"):
        wg.load(packed(pickled, {"data/0": wg.ones(2).numpy().tobytes()}))


def test_the_byte_order_of_files_that_do_not_say_theirs():
    Order = serialization.LoadEndianness
    data = written(wg.tensor([1, 256], dtype=wg.int16))
    with zipfile.ZipFile(io.BytesIO(data)) as source:
        bare = io.BytesIO()
        with zipfile.ZipFile(bare, "w") as target:
            for name in source.namelist():
                if not name.endswith("byteorder"):
                    target.writestr(name, source.read(name))
    orders = {None: [1, 256], Order.NATIVE: [1, 256], Order.BIG: [256, 1], Order.LITTLE: [1, 256]}
    assert sys.byteorder == "little" and serialization.get_default_load_endianness() is None
    for order, expected in orders.items():
        serialization.set_default_load_endianness(order)
        try:
            assert wg.load(io.BytesIO(bare.getvalue())).tolist() == expected
            assert wg.load(io.BytesIO(data)).tolist() == [1, 256]
        finally:
            serialization.set_default_load_endianness(None)
    with pytest.raises(TypeError, match="Invalid argument type"):
        serialization.set_default_load_endianness("big")


def test_the_list_of_what_is_allowed():
    serialization.add_safe_globals([Mode])
    with serialization.safe_globals([Mode, (Settings, "old.place.Settings")]):
        assert serialization.get_safe_globals() == [Mode, (Settings, "old.place.Settings")]
        state = b"\x80\x02cold.place\nSettings\n)\x81}X\x04\0\0\0rateK\x07sb."
        assert wg.load(packed(state)).rate == 7
    assert serialization.get_safe_globals() == [Mode]
    serialization.clear_safe_globals()
    assert serialization.get_safe_globals() == []
    with pytest.raises(ValueError, match="Expected tuple of length 2"):
        serialization.add_safe_globals([(Mode,)])
    with pytest.raises(TypeError, match="Expected second item in tuple to be str"):
        serialization.add_safe_globals([(Mode, 3)])
    assert serialization.get_safe_globals() == []


# -- what runs nothing -----------------------------------------------------------------------------


class Evil:
    def __reduce__(self):
        return print, ("this ran",)


@pytest.mark.parametrize("protocol", range(6))
def test_the_pickle_of_another_library_is_refused(protocol, capsys):
    pickled = pickle.dumps(Evil(), protocol)
    with pytest.raises(pickle.UnpicklingError, match="Weights only load failed"):
        wg.load(packed(pickled))
    with pytest.raises((RuntimeError, pickle.UnpicklingError)):
        wg.load(io.BytesIO(pickled))
    assert capsys.readouterr().out == ""


@pytest.mark.parametrize(
    ("instructions", "message"),
    [
        (b"cos\nsystem\nX\x02\0\0\0ls\x85R", "unsupported GLOBAL os.system whose module os is"),
        (b"cbuiltins\neval\nX\x03\0\0\x001+1\x85R", r"GLOBAL eval was not .*_globals\(\[eval\]\)"),
        (b"c__builtin__\neval\n", "GLOBAL eval was not an allowed global"),
        (b"ctorch\nload\n", "GLOBAL torch.load was not"),
        (b"ctorch\ncompile\n", "GLOBAL torch.compile was not"),
        (b"cwengert\nsave\n", "GLOBAL wengert.save was not"),
        (b"ctorch.nn.parameter\nParameter\n)R", "Trying to call reduce for unrecognized function"),
        (b"ctorch.nn.parameter\nParameter\n)\x81", "Can only create new object for"),
        (b"ctorch\nTensor\nK\x01\x85R", "Trying to call reduce for unrecognized"),
        (b"]K\x01\x85R", "Trying to call reduce for unrecognized"),
        (b"ctorch\nTensor\n}X\x04\0\0\0itemK\x01sb", "Can only build Tensor, Parameter, Ordered"),
        (b"ccollections\nOrderedDict\n)R}X\x05\0\0\0itemsK\x01sb", "'items' cannot be set on"),
        (b"ccollections\nOrderedDict\n)R}X\x09\0\0\0__class__K\x01sb", "'__class__' cannot be"),
        (b"(X\x06\0\0\0moduleK\x01tQ", "Only persistent_load of storage is allowed"),
        (b"K\x01Q", "Only persistent_load of storage is allowed"),
        (b"}(K\x01K\x02\x86\x85K\x01u", "A key of type tuple cannot be loaded"),
        (b"}]K\x01s", "A key of type list"),
        (b"c__builtin__\nset\n]]a\x85R", "A key of type list"),
        (b"K\x01K\x02a", "Can only append to lists"),
        (b"]K\x01K\x02s", "Can only set items of dictionaries"),
        (b"\x8c\x01a", "Unsupported operand .*SHORT_BINUNICODE"),
        (b"I1\n", "Unsupported operand .*INT"),
        (b"(cos\nsystem\no", "unsupported GLOBAL os.system"),
        (b"(X\x02\0\0\0lsios\nsystem\n", "Unsupported operand .*INST"),
        (b"\x82\x01", "Unsupported operand .*EXT1"),
        (b"\xff", "Unsupported operand .*unknown"),
        (b"X\xff\xff\xff\xff", "The pickle is damaged"),
        (b"X\x01\0\0\0\xff", "The pickle is damaged"),
    ],
)
def test_what_is_not_in_the_list_is_refused(instructions, message):
    with pytest.raises(pickle.UnpicklingError, match=f"Weights only load failed.*{message}"):
        wg.load(packed(b"\x80\x02" + instructions + b"."))


@pytest.mark.parametrize(
    "instructions",
    [
        b"",
        b"t",
        b"(",
        b"R",
        b"K\x01b",
        b"\x85",
        b"K\x01\x86",
        b"h\x07",
        b"q\x01",
        b"e",
        b"}(K\x01u",
        b"c__builtin__\nbytearray\n\x8a\x06\0\0\0\0\0\x01\x85R",
        b"c_codecs\nencode\nX\x01\0\0\0aX\x05\0\0\0utf-7\x86R",
        b"ctorch\nSize\nJ\xff\xff\xff\xff\x85\x85R",
        b"ctorch\ndevice\nX\x03\0\0\0cpuX\x01\0\0\0x\x86R",
        tensor(size=b"K\x04\x85"),
        tensor(offset=b"K\x01"),
        tensor(offset=b"J\xff\xff\xff\xff"),
        tensor(size=b"J\xff\xff\xff\xff\x85"),
        tensor(stride=b"J\xff\xff\xff\xff\x85"),
        tensor(stride=b"K\x02\x85"),
        tensor(stride=b")"),
        tensor(size=b"\x8a\x08\xff\xff\xff\xff\xff\xff\xff\x7f\x85"),
        tensor(size=b"(" + b"\x8a\x05\0\0\0\0\1" * 4 + b"t", stride=b"(" + b"K\0" * 4 + b"t"),
        tensor(offset=b"\x8a\x09\0\0\0\0\0\0\0\0\1"),
        tensor(count=b"\x8a\x06\0\0\0\0\0\1"),
        tensor(count=b"K\x04"),
        tensor(count=b"J\xff\xff\xff\xff"),
        tensor(kind=b"Double"),
        CALL + b"(NK\0))\x89NtR",
        CALL + b")R",
    ],
)
def test_what_makes_no_sense_is_an_error(instructions):
    with pytest.raises(RuntimeError, match=r"looks like a file of torch\.save, but it is damaged"):
        wg.load(packed(b"\x80\x02" + instructions + b".", ONE))


def test_a_long_row_of_nested_containers_is_read_or_refused():
    deep = b"]" * 50_000 + b"a" * 49_999
    found = wg.load(packed(b"\x80\x02" + deep + b"."))
    while found:
        found = found[0]
    shared = b"K\x01" + b"q\x00h\x00\x86" * 60  # hashing it would never end
    with pytest.raises(pickle.UnpicklingError, match="A key of type tuple"):
        wg.load(packed(b"\x80\x02}" + shared + b"K\x01s."))


@pytest.mark.parametrize("name", ["QInt8Storage", "QUInt8Storage", "qint8"])
def test_quantised_tensors_are_refused_with_the_reason(name):
    state = b"\x80\x02" + tensor(kind=b"QInt8") + b"."
    with pytest.raises(
        TypeError, match=r"cannot load a tensor of torch\.QInt8Storage: it is quant"
    ):
        wg.load(packed(state, ONE))
    with pytest.raises(TypeError, match="cannot load a quantised tensor"):
        wg.load(
            packed(b"\x80\x02ctorch._utils\n_rebuild_qtensor\nctorch\n%s\n\x85R." % name.encode())
        )


def test_an_element_type_that_does_not_exist_here_is_named():
    call = tensor().replace(b"v2", b"v3").replace(b"torch\nFloatS", b"torch.storage\nUntypedS")
    call = call.removesuffix(b"tR") + b"ctorch\nfloat8_e5m2\ntR"
    with pytest.raises(TypeError, match=r"cannot load a tensor of torch\.float8_e5m2"):
        wg.load(packed(b"\x80\x02" + call + b".", {"data/0": b"abc"}))


# -- archives --------------------------------------------------------------------------------------


def test_a_damaged_archive_is_an_error():
    data = written({"a": wg.arange(100.0), "b": [1, 2]})
    for cut in range(4, len(data), 7):
        with pytest.raises(RuntimeError, match="PytorchStreamReader failed"):
            wg.load(io.BytesIO(data[:cut]))
    place = data.index(np.arange(100, dtype=np.float32).tobytes())
    changed = data[: place + 9] + b"\x55" + data[place + 10 :]
    with pytest.raises(RuntimeError, match="record 'data/0' is not as it was written"):
        wg.load(io.BytesIO(changed))


def test_a_zip_archive_of_something_else_is_refused():
    file = io.BytesIO()
    np.savez(file, a=np.ones(2))
    with pytest.raises(RuntimeError, match=r"locating file data\.pkl: file not found"):
        wg.load(io.BytesIO(file.getvalue()))
    with pytest.raises(RuntimeError, match="is a TorchScript archive"):
        wg.load(packed(b"\x80\x02N.", {"constants.pkl": b""}))


def test_an_archive_that_would_grow_is_refused():
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("archive/data.pkl", b"\x80\x02" + b"N0" * 10**6 + b"N.")
    with pytest.raises(RuntimeError, match="records are compressed or encrypted"):
        wg.load(io.BytesIO(file.getvalue()))


def test_records_that_lie_about_their_size_or_place_are_refused():
    data = written(wg.arange(100.0))
    entry = data.rindex(b"archive/data/0") - 46
    for field, value in ((20, 2**31), (42, 10**6), (42, 7)):
        changed = bytearray(data)
        changed[entry + field : entry + field + 4] = struct.pack("<I", value)
        if field == 20:
            changed[entry + 24 : entry + 28] = struct.pack("<I", value)
        with pytest.raises(RuntimeError, match="PytorchStreamReader failed"):
            wg.load(io.BytesIO(bytes(changed)))


def test_two_records_of_one_name_are_refused():
    with pytest.warns(UserWarning, match="Duplicate name"):
        data = packed(b"\x80\x02N.", {"data.pkl": b"\x80\x02K\x01."})
    with pytest.raises(RuntimeError, match="two records have the same name"):
        wg.load(data)


def test_storages_are_saved_with_the_tensors_over_them():
    a = wg.arange(6.0)
    found = roundtrip([a, a.storage(), a[1:3], a[1:].storage(), wg.ones(2).untyped_storage()])
    found[0].fill_(7)
    assert found[1].tolist() == found[3].tolist() == [7.0] * 6 and found[2].tolist() == [7.0] * 2
    assert found[0].storage()._cdata == found[1]._cdata == found[3]._cdata != a.storage()._cdata
    assert type(found[4]) is wg.UntypedStorage and len(found[4]) == 8
    with pytest.raises(RuntimeError, match="view the same data as different types"):
        roundtrip([a, a.view(wg.int32), a.storage()])


EXPANDED = {"size": b"\x8a\x06\0\0\0\0\0\1\x85", "stride": b"K\0\x85"}
SPARSE = b"ctorch._utils\n_rebuild_sparse_tensor\n(ctorch.serialization\n_get_layout\n"


@pytest.mark.parametrize(
    "instructions",
    [
        tensor(**EXPANDED)[:-2] + b"}X\x03\0\0\0neg\x88stR",
        SPARSE + b"X\x10\0\0\0torch.sparse_csr\x85R(" + tensor(**EXPANDED) * 3 + b"K\3K\3\x86ttR",
    ],
)
def test_few_bytes_that_are_shown_often_are_not_copied(instructions):
    shown = wg.load(packed(b"\x80\x02" + tensor(**EXPANDED) + b".", ONE))
    assert shown.shape == (2**40,) and shown[5] == 0
    with pytest.raises(RuntimeError, match="more elements than its storage"):
        wg.load(packed(b"\x80\x02" + instructions + b".", ONE))


def test_negative_tensors_come_back():
    call = tensor(size=b"K\2\x85")[:-2] + b"}X\x03\0\0\0neg\x88stR"
    assert wg.load(packed(b"\x80\x02" + call + b".", ONE)).tolist() == [0.0, -1.0]


def test_keys_of_storages_lead_nowhere_but_to_records():
    for key in (b"../data.pkl", b"/etc/passwd", b"\0"):
        call = tensor().replace(b"X\x01\0\0\x000", b"X" + struct.pack("<I", len(key)) + key)
        with pytest.raises(RuntimeError, match=r"there is no record|does not have the size"):
            wg.load(packed(b"\x80\x02" + call + b".", ONE))


def test_nothing_is_asked_for_memory_that_the_file_does_not_fill():
    pickled = b"\x80\x02N" + b"r\xff\xff\xff\xff" + b"."
    assert wg.load(packed(pickled)) is None
    legacy = legacy_file(tensor(count=b"\x8a\x06\0\0\0\0\0\1").replace(b"tQ", b"NtQ"), [b"0"], [])
    with pytest.raises(RuntimeError, match="its storages are larger than the file"):
        wg.load(io.BytesIO(legacy))


# -- the older form --------------------------------------------------------------------------------


def legacy_file(pickled, keys, contents):
    magic = pickle.dumps(0x1950A86A20F9469CFC6C, 2) + pickle.dumps(1001, 2)
    system = b"\x80\x02}X\x0d\0\0\0little_endian\x88s."
    names = b"\x80\x02](" + b"".join(b"X\x01\0\0\0" + key for key in keys) + b"e."
    return magic + system + b"\x80\x02" + pickled + b"." + names + b"".join(contents)


def test_a_file_of_the_older_form_is_read():
    content = struct.pack("<q", 3) + np.arange(3, dtype=np.float32).tobytes()
    plain = tensor().replace(b"tQ", b"NtQ")
    part = tensor(size=b"K\x02\x85").replace(b"tQ", b"X\x01\0\0\x001K\x01K\x02\x87tQ")
    data = legacy_file(plain + part + b"\x86", [b"0"], [content])
    whole, end = wg.load(io.BytesIO(data))
    assert whole.tolist() == [0.0, 1.0, 2.0]
    assert end.tolist() == [1.0, 2.0]
    whole[1] = 7
    assert end[0].item() == 7
    for cut in range(3, len(data), 5):
        with pytest.raises((RuntimeError, pickle.UnpicklingError)):
            wg.load(io.BytesIO(data[:cut]))


def test_the_pickles_that_are_written_are_of_protocol_2_and_named_after_pytorch():
    pickled = records(written({"a": wg.nn.Parameter(wg.ones(2, 3)), 1: wg.Size([2])}))
    found = [
        (code.name, argument)
        for code, argument, _ in pickletools.genops(pickled["archive/data.pkl"])
    ]
    assert found[0] == ("PROTO", 2)
    assert {argument for name, argument in found if name == "GLOBAL"} == {
        "collections OrderedDict",
        "torch FloatStorage",
        "torch Size",
        "torch._utils _rebuild_parameter",
        "torch._utils _rebuild_tensor_v2",
    }
    assert pickled["archive/byteorder"] == sys.byteorder.encode()


def test_what_is_not_written_is_refused():
    with pytest.raises(ValueError, match="is one of 'safetensors', 'torch', not 'pickle'"):
        wg.save(1, io.BytesIO(), format="pickle")


def test_older_containers_are_written_as_the_usual_one():
    file = io.BytesIO()
    wg.save({"x": wg.ones(2)}, file, pickle_protocol=4, _use_new_zipfile_serialization=False)
    file.seek(0)
    assert wg.load(file)["x"].tolist() == [1.0, 1.0] and zipfile.is_zipfile(file)


def test_a_module_for_pickles_is_refused():
    with pytest.raises(RuntimeError, match="Can not safely load weights when explicit pickle_mod"):
        wg.load(io.BytesIO(written(1)), pickle_module=pickle)


class _Shouting(pickle.Unpickler):
    def find_class(self, module, name):
        return str.upper if name == "lower" else super().find_class(module, name)


def test_a_trusted_file_is_read_by_the_module_that_is_given():
    class Shouting:
        Unpickler = _Shouting

    data = packed(b"\x80\x02cbuiltins\nlower\nX\x01\0\0\0a\x85R.")
    assert wg.load(data, pickle_module=Shouting, weights_only=False) == "A"


def test_the_environment_may_forbid_files_that_run_code(monkeypatch):
    monkeypatch.setenv("TORCH_FORCE_WEIGHTS_ONLY_LOAD", "1")
    with pytest.raises(pickle.UnpicklingError, match="Weights only load failed"):
        wg.load(io.BytesIO(written(wg.nn.Linear(1, 1))), weights_only=False)
    monkeypatch.setenv("TORCH_FORCE_NO_WEIGHTS_ONLY_LOAD", "1")
    with pytest.raises(RuntimeError, match="both were set"):
        wg.load(io.BytesIO(written(1)))


def test_the_environment_may_allow_them_where_the_caller_does_not_say(monkeypatch):
    monkeypatch.setenv("TORCH_FORCE_NO_WEIGHTS_ONLY_LOAD", "1")
    data = written(wg.nn.Linear(1, 2))
    with pytest.warns(UserWarning, match="forcing weights_only=False"):
        assert wg.load(io.BytesIO(data)).out_features == 2
    with pytest.raises(pickle.UnpicklingError, match="Weights only load failed"):
        wg.load(io.BytesIO(data), weights_only=True)


@pytest.mark.parametrize(
    ("f", "error"), [(3, AttributeError), (None, AttributeError), (io.StringIO(), TypeError)]
)
def test_what_is_no_binary_file_is_refused(f, error):
    for use in (wg.load, lambda f: wg.save(1, f)):
        with pytest.raises(error, match=r"expected a path or a file opened for (read|writ)ing"):
            use(f)
