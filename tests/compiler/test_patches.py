"""Test library definitions that users replace before or after a trace."""

from __future__ import annotations

import pickle
import sys
from unittest import mock

import pytest

import wengert as wg
from wengert import nn
from wengert.base.patches import PATCHES, Members

F = nn.functional
COUNTED = [0]


def counting(own):
    def counted(*args, **kwargs):
        COUNTED[0] += 1
        return own(*args, **kwargs)

    return counted


def negative(x):
    return -x


def doubling(own):
    return lambda *args, **kwargs: 2 * own(*args, **kwargs)


MODEL = nn.Sequential(nn.Linear(2, 2), nn.GELU(), nn.LayerNorm(2)).double()
WEIGHT = wg.ones(2, dtype=wg.float64, requires_grad=True)
SGD = wg.optim.SGD([WEIGHT], lr=0.1)


def trained(x):
    SGD.zero_grad()
    (x * WEIGHT).sum().backward()
    SGD.step()
    return WEIGHT.sum()


CASES = {
    "function": (lambda x: MODEL(x), F, "linear"),
    "function of another layer": (lambda x: MODEL(x), F, "layer_norm"),
    "method": (lambda x: x.relu(), wg.Tensor, "relu"),
    "operator": (lambda x: x * 2, wg.Tensor, "__mul__"),
    "call of modules": (lambda x: MODEL(x), nn.Module, "__call__"),
    "forward": (lambda x: MODEL(x), nn.GELU, "forward"),
    "update": (trained, wg.optim.SGD, "step"),
    "function of a base class": (trained, wg.optim.Optimizer, "zero_grad"),
}


@pytest.mark.filterwarnings("ignore:.* is not compiled:UserWarning")
@pytest.mark.parametrize("name", CASES)
def test_replaced_definitions_are_called(name):
    function, owner, attribute = CASES[name]
    x = wg.tensor([1.0, 3.0], dtype=wg.float64)
    own = getattr(owner, attribute)
    found = []
    for backend in (None, "numpy"):
        WEIGHT.data.fill_(1.0)
        WEIGHT.grad = None
        COUNTED[0] = 0
        used = function
        if backend:
            used = wg.compile(function, backend=backend, options={"measure": False})
        story = []
        for change in (None, None, doubling, None, counting, counting, None, "deleted"):
            with (
                mock.patch.object(owner, attribute, change(own))
                if callable(change)
                else (mock.patch.object(owner, "of_nobody", 1, create=True))
            ):
                try:
                    story.append(used(x).tolist())
                except TypeError as error:
                    # twice what returns nothing
                    story.append(str(error))
        found.append((story, COUNTED[0]))
    assert found[1][1] == found[0][1]
    for one, other in zip(found[1][0], found[0][0], strict=True):
        assert one == (other if isinstance(other, str) else pytest.approx(other, rel=1e-9))
    assert not PATCHES.found


def test_what_is_restored_is_traced_once():
    f = wg.compile(lambda x: F.relu(x) * 2, backend="numpy", options={"measure": False})
    for _ in range(12):
        assert f(-wg.ones(2)).tolist() == [0, 0]
        with mock.patch.object(F, "relu", negative):
            assert f(-wg.ones(2)).tolist() == [2, 2]
    assert f.reason is None
    assert len(f.entries) == 2


def test_the_package_replaces_its_own_definitions_unseen():
    wg.compile(lambda x: x * 2, backend="numpy")(wg.ones(2))
    key = PATCHES.key
    for name in dir(wg.Tensor):
        getattr(wg.Tensor, name, None)
    for module in (wg, nn, F, wg.linalg):
        for name in dir(module):
            getattr(module, name, None)
    x = wg.ones(2)
    _ = (-x, abs(x), x @ x, x // 2, x**2, 1 - x, x < 2)
    PATCHES.watch()
    assert PATCHES.key is key
    assert not PATCHES.found


def test_members_of_a_class_tell_changes_of_its_bases():
    class Base(nn.Module):
        pass

    members = Members(nn.Linear)
    assert members.tag.value == members.seen or not members.have_changed()
    with mock.patch.object(nn.Module, "of_nobody", 1, create=True):
        assert members.tag.value != members.seen
        assert members.have_changed()
    assert not members.have_changed()
    assert members.tag.value in (members.seen, 0)
    assert not list(members.foreign())


def test_a_key_outlives_many_others(monkeypatch):
    before = PATCHES.key
    for _ in range(100):
        with monkeypatch.context() as patch:
            patch.setattr(F, "linear", lambda *args: args)
            assert PATCHES.key is not before
        assert PATCHES.key is before


def test_what_the_hub_keeps_for_packages_is_no_definition(monkeypatch):
    before = PATCHES.key
    monkeypatch.setattr(wg.hub, "tqdm", type("tqdm", (), {"__module__": "tqdm"}))
    PATCHES.watch()
    assert PATCHES.key is before


def test_the_importers_of_modules_are_no_definitions(monkeypatch):
    """Those of test runners and type checkers load the package, and are on its modules."""

    class Importer:
        settings = mock.Mock()

    double = wg.compile(lambda x: F.relu(x) * 2)
    before = PATCHES.key
    monkeypatch.setattr(sys.modules["wengert.ops.neural"], "__loader__", Importer())
    assert double(wg.ones(2)).tolist() == [2, 2] and double.reason is None
    assert PATCHES.key is before


def test_modes_and_lazy_operators_are_not_patches():
    class Passing(wg.overrides.TorchFunctionMode):
        def __torch_function__(self, func, types, args=(), kwargs=None):
            return func(*args, **(kwargs or {}))

    wg.compile(lambda x: x * 2)(wg.ones(2))
    before = dict(PATCHES.found)
    for _ in range(2):
        with Passing():
            -(wg.ones(2) + 1).exp()
        assert before == PATCHES.found
    assert pickle.loads(pickle.dumps(wg.nn.functional)) is wg.nn.functional


@pytest.mark.parametrize(
    ("name", "other"), [("__add__", "__sub__"), ("T", "mT"), ("exp", "log")], ids=str
)
def test_definitions_of_the_package_in_the_place_of_others_are_patches(monkeypatch, name, other):
    x = wg.full((2, 2), 3.0)
    getattr(x, name), x + x, x - x, getattr(x, other)  # some are loaded on first use
    wg.compile(lambda x: x * 2)(x)
    before = PATCHES.key
    with monkeypatch.context() as patch:
        patch.setattr(wg.Tensor, name, getattr(wg.Tensor, other))
        assert PATCHES.key is not before
    assert PATCHES.key is before
