"""Test module states in safetensors files, ours and PyTorch's."""

import io
import pickle
from collections import OrderedDict, defaultdict

import numpy as np
import pytest

import wengert as wg
from wengert import nn

pytest.importorskip("safetensors")


def tied(t=wg):
    """A model with two names for one parameter, and integers among its buffers."""
    model = t.nn.Sequential(t.nn.Embedding(4, 3), t.nn.Linear(3, 4), t.nn.BatchNorm1d(4))
    model[1].weight = model[0].weight
    return model


def values(module):
    return {name: tensor.tolist() for name, tensor in module.state_dict().items()}


def changed(module):
    with wg.no_grad():
        for param in module.parameters():
            param += 1
    return module


def test_a_state_goes_into_a_file_and_comes_back(tmp_path):
    model, other = changed(tied()), tied()
    model(wg.tensor([0, 1]))
    wg.save(model.state_dict(), tmp_path / "x.safetensors")
    state = wg.load(tmp_path / "x.safetensors")
    assert str(other.load_state_dict(state)) == "<All keys matched successfully>"
    assert values(other) == values(model) and other[1].weight is other[0].weight
    assert state["2.num_batches_tracked"].dtype == wg.int64
    assert state["0.weight"].data_ptr() == state["1.weight"].data_ptr()


def test_states_nest_and_parameters_stay_parameters():
    model, file = nn.Linear(2, 1), io.BytesIO()
    wg.save({"model": model.state_dict(keep_vars=True), "epoch": 3, "loss": [0.5]}, file)
    file.seek(0)
    found = wg.load(file)
    assert isinstance(found["model"]["weight"], nn.Parameter) and found["epoch"] == 3
    nn.Linear(2, 1).load_state_dict(found["model"])


def test_extra_state_is_kept():
    class Counting(nn.Module):
        calls = 5

        def get_extra_state(self):
            return {"calls": self.calls, "rate": 0.5}

        def set_extra_state(self, state):
            self.calls = state["calls"]

    model, file = nn.Sequential(Counting(), nn.Linear(1, 1)), io.BytesIO()
    wg.save(model.state_dict(), file)
    file.seek(0)
    model[0].calls = 0
    model.load_state_dict(wg.load(file))
    assert model[0].calls == 5


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.a = nn.Sequential(nn.Linear(2, 3), nn.BatchNorm1d(3))
        self.tied, self.act = self.a[0].weight, wg.nn.functional.relu
        self.notes = {int: defaultdict(list, k=[1]), (1, "b"): np.arange(2)}
        self.notes["x"] = OrderedDict(y=self.a)

    def forward(self, x):
        return self.act(self.a(x))


def test_whole_modules_are_loaded_from_trusted_files():
    net, file = Net().eval(), io.BytesIO()
    wg.save({"net": net, "optim": wg.optim.SGD(net.parameters(), 0.1)}, file)
    for given in ({}, {"weights_only": True}):
        file.seek(0)
        with pytest.raises(pickle.UnpicklingError, match=r"Unsupported global.*weights_only"):
            wg.load(file, **given)
    file.seek(0)
    found = wg.load(file, weights_only=False)
    other, x = found["net"], wg.ones(2, 2)
    assert type(other) is Net and not other.training and other.tied is other.a[0].weight
    assert other(x).tolist() == net(x).tolist()
    assert found["optim"].param_groups[0]["params"][0] is other.tied
    assert other.notes[int]["k"] == [1] and other.notes[int]["new"] == []
    assert other.notes[1, "b"].tolist() == [0, 1] and other.notes["x"]["y"] is other.a
    with pytest.raises(pickle.PicklingError, match="Can't pickle"):
        wg.save([lambda x: x], io.BytesIO())


def test_a_lazy_module_is_not_saved():
    with pytest.raises(TypeError, match=r"cannot save state\['weight'\], which is a Uninit"):
        wg.save(nn.LazyLinear(1).state_dict(), io.BytesIO())


def written(path, tensors, **metadata):
    """A file as other programs write it."""
    torch = pytest.importorskip("safetensors.torch")
    torch.save_file(tensors, path, metadata)
    return path


@pytest.mark.torch
@pytest.mark.parametrize("by_path", [True, False])
def test_a_file_of_pytorchs_has_equal_names_and_values(tmp_path, by_path):
    torch = pytest.importorskip("torch")
    kinds = "float16 float32 float64 int8 int16 int32 int64 uint8 uint16 uint32 uint64 bool"
    tensors = {
        kind: torch.arange(6).reshape(2, 3).to(getattr(torch, kind))
        for kind in [*kinds.split(), "complex64"]
    }
    tensors |= {"number": torch.tensor(3.5), "empty": torch.zeros(0, 3)}
    path = written(tmp_path / "x", tensors, format="pt", note="text")
    found = wg.load(path if by_path else io.BytesIO(path.read_bytes()))
    assert sorted(found) == sorted(tensors)
    for name, tensor in tensors.items():
        assert str(found[name].dtype) == str(tensor.dtype)
        assert found[name].tolist() == tensor.tolist()
        assert not found[name].requires_grad


@pytest.mark.torch
@pytest.mark.parametrize("by_path", [True, False])
@pytest.mark.filterwarnings("ignore:.*holds bfloat16 tensors:UserWarning")
def test_bfloat16_has_its_values_whether_its_package_is_there_or_not(tmp_path, by_path):
    torch = pytest.importorskip("torch")
    tensor = torch.tensor([[1.5, -2.25], [1e30, 0.1]]).bfloat16()
    path = written(tmp_path / "x", {"a": torch.ones(1), "w": tensor, "z": torch.ones(2)})
    found = wg.load(path if by_path else io.BytesIO(path.read_bytes()))
    assert found["w"].float().tolist() == tensor.float().tolist()
    assert (found["a"].tolist(), found["z"].tolist()) == ([1.0], [1.0, 1.0])
    linear = nn.Linear(2, 2)
    linear.load_state_dict({"weight": found["w"], "bias": found["z"]})
    assert linear.weight[0, 1].item() == -2.25


@pytest.mark.torch
def test_bfloat16_without_its_package_comes_with_a_warning(tmp_path, monkeypatch):
    torch = pytest.importorskip("torch")

    def missing():
        raise ImportError

    monkeypatch.setattr("wengert.serialization.reading.bfloat16", missing)
    path = written(tmp_path / "x", {"w": torch.ones(2).bfloat16()})
    with pytest.warns(
        UserWarning, match=r"holds bfloat16 tensors, which need the package ml_dtype"
    ):
        found = wg.load(path)
    assert found["w"].dtype == wg.float32 and found["w"].tolist() == [1.0, 1.0]
    found["w"] += 1


@pytest.mark.torch
def test_checkpoints_of_pytorchs_models_load_with_tied_parameters(tmp_path):
    torch = pytest.importorskip("torch")
    safetensors = pytest.importorskip("safetensors.torch")
    torch.manual_seed(0)
    theirs = tied(torch)
    # tied parameters are written once, and the other name into the metadata
    safetensors.save_model(theirs, tmp_path / "x")
    state = wg.load(tmp_path / "x")
    assert state["1.weight"] is state["0.weight"]
    ours = tied()
    assert str(ours.load_state_dict(state)) == "<All keys matched successfully>"
    assert values(ours) == values(theirs)
    index = [0, 3, 1]
    out = theirs(torch.tensor(index)).tolist()
    np.testing.assert_allclose(ours(wg.tensor(index)).tolist(), out, rtol=1e-4, atol=1e-5)


@pytest.mark.torch
def test_checkpoints_of_our_models_load_in_pytorch(tmp_path):
    torch = pytest.importorskip("torch")
    safetensors = pytest.importorskip("safetensors.torch")
    ours, theirs = changed(tied()), tied(torch)
    wg.save(ours.state_dict(), tmp_path / "x.safetensors")
    theirs.load_state_dict(safetensors.load_file(tmp_path / "x.safetensors"))
    assert values(theirs) == values(ours)
    linear = nn.Linear(2, 3)
    wg.save(linear.state_dict(), tmp_path / "y.safetensors")
    twin = torch.nn.Linear(2, 3)
    safetensors.load_model(twin, tmp_path / "y.safetensors")
    assert values(twin) == values(linear)
