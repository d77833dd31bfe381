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
    assert isinstance(found["model"]["weight"], nn.Parameter)
    assert (found["epoch"], found["loss"]) == (3, [0.5])
    other = nn.Linear(2, 1)
    other.load_state_dict(found["model"])
    assert wg.equal(other(x := wg.rand(3, 2)), model(x))


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
