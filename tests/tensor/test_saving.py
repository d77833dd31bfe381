"""Test `save` and `load`: round trips, other readers, and failures."""

import io
import json
import os
import pickle
import random
from collections import OrderedDict, defaultdict

import numpy as np
import pytest

import wengert as wg
from support.alone import said

safetensors_numpy = pytest.importorskip("safetensors.numpy")


FORMAT = ["safetensors"]


@pytest.fixture(params=["safetensors", "torch"])
def form(request):
    """Both formats, for the tests that ask for it; all others are about safetensors."""
    FORMAT.append(request.param)
    yield request.param
    FORMAT.pop()


def save(state, f):
    wg.save(state, f, format=FORMAT[-1])


def roundtrip(state):
    file = io.BytesIO()
    save(state, file)
    return wg.load(io.BytesIO(file.getvalue()))


def same(a, b):
    assert type(a) is type(b)
    if isinstance(a, wg.Tensor):
        assert a.dtype == b.dtype and a.shape == b.shape and a.requires_grad == b.requires_grad
        assert a.stride() == b.stride() or not a.numel()
        assert a.tolist() == b.tolist()
    elif isinstance(a, dict):
        assert list(a) == list(b)
        for key in a:
            same(a[key], b[key])
    elif isinstance(a, list | tuple):
        assert len(a) == len(b)
        for left, right in zip(a, b, strict=True):
            same(left, right)
    else:
        assert a == b or (a != a and b != b)


def numbered(values):
    return {f"t{i}": value for i, value in enumerate(values)}


# -- what comes back -------------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", [str(np.dtype(d.dtype)) for d in wg.base.dtypes.DTYPES.values()])
@pytest.mark.parametrize("shape", [(), (1,), (0,), (2, 0, 3), (2, 3)])
def test_every_dtype_and_shape_comes_back(dtype, shape, form):
    if dtype == "bfloat16":
        pytest.skip("an optional type")
    x = wg.ones(shape, dtype=getattr(wg, dtype))
    if x.is_complex():
        x = x * (1 + 2j)
    same(roundtrip(x), x)


@pytest.mark.parametrize(
    "x",
    [
        wg.arange(6.0).reshape(2, 3).t(),
        wg.arange(24.0).reshape(2, 3, 4).permute(2, 0, 1),
        wg.arange(120.0).reshape(2, 3, 4, 5).clone(memory_format=wg.channels_last),
    ],
    ids=["transposed", "permuted", "channels last"],
)
def test_the_order_of_memory_comes_back(x, form):
    same(roundtrip(x), x)


@pytest.mark.parametrize(
    "x", [wg.arange(6.0).reshape(2, 3)[:, ::2], wg.arange(3.0).expand(2, 3), wg.arange(9.0)[4:]]
)
def test_a_part_of_a_tensor_comes_back_dense(x):
    y = roundtrip(x)
    assert y.tolist() == x.tolist() and y.is_contiguous()


def test_a_state_comes_back_as_it_was(form):
    state = OrderedDict(
        model={"layer.weight": wg.nn.Parameter(wg.ones(2, 3)), "layer.bias": wg.zeros(2)},
        opt=[
            {"lr": 1e-3, "betas": (0.9, 0.999), "nesterov": False, "foreach": None},
            {0: {"step": wg.tensor(3), "exp_avg": wg.ones(2, 3)}, 1: {}, (2, "a"): []},
        ],
        epoch=7,
        name="Zürich \N{SNOWMAN}",
        size=wg.Size([2, 3]),
        dtype=wg.float64,
        numbers=[0.1, float("inf"), -float("inf"), float("nan"), -0.0, 1 + 2j, 10**30, True],
        nothing=[(), {}, [], ""],
    )
    same(roundtrip(state), state)


@pytest.mark.parametrize("value", [None, 3, 2.5, "text", True, [], {}, (1, 2), wg.float32])
def test_a_state_without_tensors_comes_back(value, form):
    same(roundtrip(value), value)


def test_whether_a_gradient_is_required_and_parameters_come_back(form):
    p = wg.nn.Parameter(wg.ones(2))
    frozen = wg.nn.Parameter(wg.ones(2), requires_grad=False)
    x = wg.ones(2, requires_grad=True)
    loaded = roundtrip([p, frozen, x, wg.ones(2)])
    assert [type(y) for y in loaded] == [wg.nn.Parameter, wg.nn.Parameter, wg.Tensor, wg.Tensor]
    assert [y.requires_grad for y in loaded] == [True, False, True, False]
    (loaded[0] * loaded[2]).sum().backward()
    assert loaded[0].grad.tolist() == [1.0, 1.0]


def test_gradients_stay_behind_and_attributes_too_where_the_format_has_none(form):
    x = wg.ones(2, requires_grad=True)
    x.note = "a"
    x.sum().backward()
    y = roundtrip(x)
    assert y.grad is None and hasattr(y, "note") == (form == "torch")


@pytest.mark.parametrize("build", [lambda x: {"a": x, "b": x}, lambda x: [{"a": x}, [x]]])
def test_one_tensor_under_two_names_is_one_tensor(build, form):
    x = wg.nn.Parameter(wg.arange(3.0))
    loaded = roundtrip(build(x))
    first, second = loaded.values() if isinstance(loaded, dict) else (loaded[0]["a"], loaded[1][0])
    assert first is second and type(first) is wg.nn.Parameter
    assert first.tolist() == [0.0, 1.0, 2.0]


@pytest.mark.parametrize("flat", [True, False])
def test_tensors_that_share_memory_share_it_again(flat, form):
    x = wg.arange(12.0).reshape(3, 4)
    alone = wg.arange(12.0)
    views = [x[1], x.t(), x, x[:, 1::2], x.detach(), x.flip(0), alone[:2]]
    loaded = list(roundtrip(numbered(views)).values()) if flat else roundtrip(views)
    same(loaded, views)
    loaded[2][1, 1] = 99
    assert loaded[0][1].item() == loaded[1][1, 1].item() == loaded[3][1, 0].item() == 99
    assert loaded[4][1, 1].item() == 99
    assert loaded[5][1, 1].item() == 5 and loaded[6].tolist() == [0.0, 1.0]


def test_the_parts_of_a_complex_tensor_share_its_memory_again(form):
    z = wg.tensor([1 + 2j, 3 + 4j])
    whole, real, imag = roundtrip([z, z.real, z.imag])
    real[0] = 9
    imag[1] = 7
    assert whole.tolist() == [9 + 2j, 3 + 7j]


def test_a_write_through_a_loaded_view_is_noticed_by_a_graph_over_the_other(form):
    x = wg.arange(4.0)
    base, part = roundtrip([x, x[:2]])
    y = (wg.ones(4, requires_grad=True) * base).sum()
    part.zero_()
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        y.backward()


def test_a_small_part_of_a_large_tensor_is_a_small_file(form):
    file = io.BytesIO()
    save(wg.arange(100_000.0)[3:6], file)
    assert len(file.getvalue()) < 3000
    file.seek(0)
    assert wg.load(file).tolist() == [3, 4, 5]


def test_what_is_loaded_can_be_written_to(form):
    x = roundtrip({"a": wg.zeros(2)})["a"]
    x += 1
    assert x.tolist() == [1.0, 1.0]


@pytest.mark.parametrize("name", ["state.safetensors", "no extension"])
def test_paths_and_files(tmp_path, name, form):
    path = tmp_path / name
    save({"a": wg.ones(2)}, path)
    assert wg.load(str(path))["a"].tolist() == [1.0, 1.0]
    with path.open("rb") as file:
        assert wg.load(file, map_location="cpu", weights_only=True)["a"].tolist() == [1.0, 1.0]
    with path.open("wb") as file:
        save([wg.zeros(1)], file)
    assert wg.load(path)[0].tolist() == [0.0]


def test_a_file_read_to_the_device_meta_gives_shapes_alone(form):
    file = io.BytesIO()
    x = wg.arange(6.0).reshape(2, 3).t()
    save({"w": wg.nn.Parameter(x), "x": [x], "step": 3}, file)
    made = wg.load(io.BytesIO(file.getvalue()), map_location="meta")
    assert made["w"].is_meta and isinstance(made["w"], wg.nn.Parameter) and made["w"].requires_grad
    assert made["x"][0].is_meta and made["x"][0].stride() == (1, 3)
    assert made["x"][0].shape == (3, 2) and not made["x"][0].requires_grad and made["step"] == 3


def test_the_versions_of_modules_survive_a_reading_to_the_device_meta(form):
    file = io.BytesIO()
    save(wg.nn.BatchNorm1d(2).state_dict(), file)
    state = wg.load(io.BytesIO(file.getvalue()), map_location="meta")
    whole = wg.load(io.BytesIO(file.getvalue()))
    assert getattr(state, "_metadata", None) == getattr(whole, "_metadata", None)
    model = wg.nn.BatchNorm1d(2, device="meta")
    model.load_state_dict(state, assign=True)
    assert model.weight.is_meta and model.weight.shape == (2,)


# -- other programs --------------------------------------------------------------------------------


def test_others_read_a_dictionary_of_tensors_under_its_keys(tmp_path):
    x = wg.arange(6.0).reshape(2, 3)
    save({"layer.weight": wg.nn.Parameter(x), "t": x.t(), "again": x, "row": x[1]}, tmp_path / "f")
    arrays = safetensors_numpy.load_file(tmp_path / "f")
    assert sorted(arrays) == ["again", "layer.weight", "row", "t"]
    assert arrays["layer.weight"].tolist() == x.tolist() == arrays["again"].tolist()
    assert arrays["t"].tolist() == x.t().tolist() and arrays["row"].tolist() == [3.0, 4.0, 5.0]


def test_others_find_nested_tensors_by_their_place(tmp_path):
    x = wg.ones(1)
    save({"a": {"b": [x, wg.zeros(1)]}, "a.b.1": wg.zeros(2), "c": x}, tmp_path / "f")
    assert sorted(safetensors_numpy.load_file(tmp_path / "f")) == ["a.b.0", "a.b.1", "a.b.1#2"]


def test_a_file_written_by_others_is_a_dictionary_of_tensors(tmp_path):
    arrays = {"a": np.arange(3, dtype=np.int16), "b": np.float32([[1, 2]]), "c": np.zeros((0, 2))}
    safetensors_numpy.save_file(arrays, tmp_path / "f", {"format": "np"})
    loaded = wg.load(tmp_path / "f")
    assert sorted(loaded) == ["a", "b", "c"]
    for name, array in arrays.items():
        assert loaded[name].tolist() == array.tolist() and loaded[name].dtype.numpy == array.dtype
    loaded["a"][0] = 5


# -- what goes wrong -------------------------------------------------------------------------------


class Opaque:
    pass


@pytest.mark.parametrize(
    ("state", "place", "error"),
    [
        ({"opt": [Opaque()]}, r"state\['opt'\]\[0\], which is a .*Opaque", TypeError),
        ([{"a": {1: range(2)}}], r"state\[0\]\['a'\]\[1\], which is a builtins.range", TypeError),
        (np.ones(2), r"state, which is a numpy.ndarray", TypeError),
        ([np.float64(1.0)], r"state\[0\], which is a numpy.float64", TypeError),
        ((defaultdict(list),), r"state\[0\], which is a collections.defaultdict", TypeError),
        ({"f": lambda x: x}, r"state\['f'\], which is a builtins.function", TypeError),
        ({Opaque(): 1}, r"state: its key .* is of type Opaque", TypeError),
        (
            {"a": {wg.float32: 1}},
            r"state\['a'\]: its key torch.float32 is of type dtype",
            TypeError,
        ),
    ],
)
def test_what_cannot_be_saved_is_named_by_its_place(tmp_path, state, place, error):
    with pytest.raises(error, match=f"cannot save {place}"):
        save(state, tmp_path / "f")
    assert os.listdir(tmp_path) == []


def test_an_instance_of_a_subclass_is_refused(form):
    class Tagged(wg.Tensor):
        pass

    # a file of torch.save names the class, which must be found again under its name
    with pytest.raises((TypeError, pickle.PicklingError), match=r"state\[0\]|Tagged"):
        roundtrip([Tagged([1.0])])
    assert roundtrip([Tagged([1.0]).as_subclass(wg.Tensor)])[0].tolist() == [1.0]


def test_a_state_that_contains_itself_is_refused():
    state = {"a": []}
    state["a"].append(state)
    with pytest.raises(ValueError, match=r"cannot save state\['a'\]\[0\], which contains itself"):
        roundtrip(state)
    shared = [wg.ones(1)]
    assert len(roundtrip([shared, shared])) == 2


def test_hooks_are_left_out_with_a_warning(form):
    x = wg.ones(2, requires_grad=True)
    x.register_hook(lambda grad: grad * 2)
    with pytest.warns(UserWarning, match="backward hook .* on tensor will not be serialized"):
        y = roundtrip(x)
    y.sum().backward()
    assert y.grad.tolist() == [1.0, 1.0]


def test_a_failed_save_leaves_the_old_file_and_nothing_else(tmp_path, monkeypatch):
    path = tmp_path / "f"
    save({"a": wg.ones(2)}, path)
    before = path.read_bytes()

    def fails(*_):
        raise KeyboardInterrupt

    for name in ("save_file", "replace"):
        with monkeypatch.context() as patch:
            patch.setattr(safetensors_numpy if name == "save_file" else os, name, fails)
            with pytest.raises(KeyboardInterrupt):
                save({"a": wg.zeros(5)}, path)
        assert path.read_bytes() == before and os.listdir(tmp_path) == ["f"]


@pytest.mark.skipif(os.name == "nt", reason="modes and links of POSIX")
def test_a_file_that_is_replaced_keeps_its_mode_and_its_link(tmp_path, form):
    path, link = tmp_path / "f", tmp_path / "link"
    umask = os.umask(0o022)
    try:
        save(1, path)
    finally:
        os.umask(umask)
    assert path.stat().st_mode & 0o777 == 0o644
    path.chmod(0o600)
    link.symlink_to(path)
    save(2, link)
    assert path.stat().st_mode & 0o777 == 0o600
    assert link.is_symlink() and wg.load(path) == 2


def test_a_place_that_does_not_exist(tmp_path):
    with pytest.raises(RuntimeError, match=r"Parent directory .* does not exist\."):
        save(1, tmp_path / "no" / "f")
    with pytest.raises(FileNotFoundError):
        wg.load(tmp_path / "f")
    with pytest.raises(IsADirectoryError):
        wg.load(tmp_path)


@pytest.mark.parametrize("by_path", [True, False])
def test_a_damaged_file_is_an_error(tmp_path, by_path):
    file = io.BytesIO()
    save({"a": wg.ones(100), "b": [1, 2]}, file)
    data = file.getvalue()
    path = tmp_path / "f"
    for part in (*(data[:cut] for cut in (4, 8, 30, len(data) - 1)), b"no file of tensors"):
        path.write_bytes(part)
        with pytest.raises(RuntimeError, match="is not a safetensors file, or it is damaged"):
            wg.load(path if by_path else io.BytesIO(part))


@pytest.mark.parametrize("by_path", [True, False])
@pytest.mark.parametrize("kind", ["F32", "BF16"])
def test_a_shape_that_numpy_refuses_is_an_error_of_the_file(tmp_path, by_path, kind):
    entry = f'{{"a": {{"dtype": "{kind}", "shape": [0, {2**62}], "data_offsets": [0, 0]}}}}'
    data = len(entry).to_bytes(8, "little") + entry.encode()
    path = tmp_path / "f"
    path.write_bytes(data)
    with pytest.raises(RuntimeError, match="is not a safetensors file, or it is damaged"):
        wg.load(path if by_path else io.BytesIO(data))


def with_entry(entry, arrays):
    return io.BytesIO(safetensors_numpy.save(arrays, {"wengert": entry}))


@pytest.mark.parametrize(
    "entry",
    [
        "",
        "[]",
        "{}",
        '{"version": 1}',
        '{"version": 1, "state": {"tensor": "no"}, "tensors": {}}',
        '{"version": 1, "state": {"eval": "1"}, "tensors": {}}',
        '{"version": 1, "state": {"tuple": 3}, "tensors": {}}',
        '{"version": 1, "state": {"dict": [[[], 1]]}, "tensors": {}}',
        '{"version": 1, "state": {"dtype": "object"}, "tensors": {}}',
        '{"version": 1, "state": {"a": 1, "b": 2}, "tensors": {}}',
        '{"version": 1, "state": 1, "tensors": {"no": {"complex": true}}}',
        '{"version": 1, "state": 1, "tensors": {"a": {"complex": true}}}',
        '{"version": 1, "state": 1, "tensors": {"a": {"same": "a"}}}',
        '{"version": 1, "state": 1, "tensors": {"a": {"at": [0, -8, [8]]}}}',
        '{"version": 1, "state": 1, "tensors": {"a": {"at": [0, 0, [8, 8]]}}}',
        '{"version": 1, "state": 1, "tensors": {"a": {"at": [0, 0, [-8]]}}}',
        '{"version": 1, "state": 1, "tensors": {"a": {"at": [0, 1125899906842624, [8]]}}}',
        '{"version": 1, "state": 1, "tensors": {"a": {"at": [0, 1e300, [8]]}}}',
        '{"version": 1, "state": 1, "tensors": {"a": {"at": [0, 9223372036854775808, [8]]}}}',
        "[" * 100_000,
    ],
)
def test_an_entry_that_makes_no_sense_is_an_error(entry):
    with pytest.raises(RuntimeError, match="is damaged: its entry 'wengert' makes no sense"):
        wg.load(with_entry(entry, {"a": np.ones(3)}))


def test_a_file_of_a_newer_version_is_refused():
    with pytest.raises(RuntimeError, match="written by a newer version of wengert"):
        wg.load(with_entry('{"version": 99}', {}))


def test_no_damage_to_an_entry_gives_another_error():
    x = wg.arange(6.0).reshape(2, 3)
    file = io.BytesIO()
    save({"x": x, "t": [x.t(), wg.nn.Parameter(x), 1 + 2j], "z": wg.tensor([1j])}, file)
    data = file.getvalue()
    header = json.loads(data[8 : 8 + int.from_bytes(data[:8], "little")])
    entry = header["__metadata__"]["wengert"]
    arrays = safetensors_numpy.load(data)
    rng = random.Random(0)
    for _ in range(500):
        position = rng.randrange(len(entry))
        damaged = entry[:position] + rng.choice('0123456789{}[]",:-aex') + entry[position + 1 :]
        try:
            wg.load(with_entry(damaged, arrays))
        except RuntimeError as error:
            assert "damaged" in str(error) or "newer version" in str(error)


def test_without_the_package_the_message_says_what_to_install(tmp_path):
    wg.save(1, tmp_path / "f.safetensors")
    code = (
        "import sys; sys.modules['safetensors'] = None\n"
        "import wengert as wg\n"
        "assert callable(wg.save) and 'load' in dir(wg)\n"
        "for call in (lambda: wg.save(1, 'g.safetensors'), lambda: wg.load('f.safetensors')):\n"
        "    try: call()\n"
        "    except ImportError as error: print(error)\n"
        "wg.save(wg.ones(2), 'f.pt'); print(wg.load('f.pt'))\n"
    )
    message = "safetensors files need the package safetensors: pip install 'wengert[safetensors]'"
    assert said(code, cwd=tmp_path).splitlines() == [message, message, "tensor([1., 1.])"]


def test_importing_wengert_imports_nothing_for_files():
    code = (
        "import sys, wengert; "
        "print({'safetensors', 'json', 'secrets', 'zipfile', 'pickletools'} & set(sys.modules))"
    )
    assert said(code).strip() == "set()"


def test_what_is_part_of_a_graph_comes_back_as_a_leaf(tmp_path, form):
    loss = (wg.ones(2, requires_grad=True) * 2).sum()
    save({"epoch": 3, "loss": loss}, tmp_path / "f")
    loaded = wg.load(tmp_path / "f")["loss"]
    assert loaded.is_leaf
    assert loaded.requires_grad
    assert loaded.item() == 4


def test_under_a_transform_there_is_nothing_to_save(form):
    for transform in (
        lambda f: wg.vmap(f)(wg.ones(2, 2)),
        lambda f: wg.func.jvp(f, (wg.ones(2),), (wg.ones(2),)),
    ):
        with pytest.raises(RuntimeError, match=r"cannot save state\['a'\]: under a transform"):
            transform(lambda x: (roundtrip({"a": x}), x)[1])


def test_a_compiled_function_writes_its_file_every_time(form):
    written = []

    @wg.compile
    def f(x):
        y = x * 2
        written.append(roundtrip(y).tolist())
        return y

    with pytest.warns(UserWarning, match=r"f\(\) is not compiled"):
        f(wg.ones(1))
    f(wg.ones(1) * 2)
    assert written == [[2.0], [4.0]]


def test_an_empty_file_is_at_its_end(tmp_path):
    (tmp_path / "empty.pt").touch()
    for place in (io.BytesIO(), tmp_path / "empty.pt"):
        with pytest.raises(EOFError, match="Ran out of input"):
            wg.load(place)
