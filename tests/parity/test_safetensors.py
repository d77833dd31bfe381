"""Test that safetensors files of PyTorch and of wengert are read by the other."""

import io

import numpy as np
import pytest

import wengert as wg
from wengert import nn

torch = pytest.importorskip("torch")
safetensors = pytest.importorskip("safetensors.torch")
pytestmark = pytest.mark.torch


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


def written(path, tensors, **metadata):
    """A file as other programs write it."""
    safetensors.save_file(tensors, path, metadata)
    return path


@pytest.mark.parametrize("by_path", [True, False])
def test_a_file_of_pytorchs_has_equal_names_and_values(tmp_path, by_path):
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


@pytest.mark.parametrize("by_path", [True, False])
@pytest.mark.filterwarnings("ignore:.*holds bfloat16 tensors:UserWarning")
def test_bfloat16_has_its_values_whether_its_package_is_there_or_not(tmp_path, by_path):
    tensor = torch.tensor([[1.5, -2.25], [1e30, 0.1]]).bfloat16()
    path = written(tmp_path / "x", {"a": torch.ones(1), "w": tensor, "z": torch.ones(2)})
    found = wg.load(path if by_path else io.BytesIO(path.read_bytes()))
    assert found["w"].float().tolist() == tensor.float().tolist()
    assert (found["a"].tolist(), found["z"].tolist()) == ([1.0], [1.0, 1.0])
    linear = nn.Linear(2, 2)
    linear.load_state_dict({"weight": found["w"], "bias": found["z"]})
    assert linear.weight[0, 1].item() == -2.25


def test_bfloat16_without_its_package_comes_with_a_warning(tmp_path, monkeypatch):

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


def test_checkpoints_of_pytorchs_models_load_with_tied_parameters(tmp_path):
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


def test_checkpoints_of_our_models_load_in_pytorch(tmp_path):
    ours, theirs = changed(tied()), tied(torch)
    wg.save(ours.state_dict(), tmp_path / "x.safetensors")
    theirs.load_state_dict(safetensors.load_file(tmp_path / "x.safetensors"))
    assert values(theirs) == values(ours)
    linear = nn.Linear(2, 3)
    wg.save(linear.state_dict(), tmp_path / "y.safetensors")
    twin = torch.nn.Linear(2, 3)
    safetensors.load_model(twin, tmp_path / "y.safetensors")
    assert values(twin) == values(linear)


def test_pytorch_and_wengert_read_each_others_files(tmp_path):
    wg.save(
        {"a": wg.arange(3.0), "h": wg.ones(2, dtype=wg.float16)},
        tmp_path / "f",
        format="safetensors",
    )
    theirs = safetensors.load_file(tmp_path / "f")
    assert theirs["a"].tolist() == [0.0, 1.0, 2.0] and theirs["h"].dtype == torch.float16
    safetensors.save_file({"w": torch.arange(4).reshape(2, 2)}, tmp_path / "g")
    assert wg.load(tmp_path / "g")["w"].tolist() == [[0, 1], [2, 3]]


@pytest.mark.parametrize("dtype", ["float8_e5m2", "float8_e4m3fn"])
@pytest.mark.parametrize("by_path", [True, False])
def test_a_tensor_of_an_unknown_type_is_named(tmp_path, dtype, by_path):
    path = tmp_path / "f"
    safetensors.save_file({"w": torch.ones(2).to(getattr(torch, dtype))}, path)
    with pytest.raises(TypeError, match=r"holds a tensor.* of a type that does not exist here"):
        wg.load(path if by_path else io.BytesIO(path.read_bytes()))
