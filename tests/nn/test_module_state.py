"""Test `state_dict` and `load_state_dict`."""

import pickle
from collections import OrderedDict

import pytest

import wengert as wg
from wengert import nn


def model():
    wg.manual_seed(0)
    return nn.Sequential(nn.Linear(2, 3), nn.BatchNorm1d(3), nn.Linear(3, 1))


def values(module):
    return {name: t.tolist() for name, t in module.state_dict().items()}


def test_state_is_detached_over_the_same_memory_and_keeps_the_order():
    module = model()
    state = module.state_dict()
    assert isinstance(state, OrderedDict)
    assert list(state)[:3] == ["0.weight", "0.bias", "1.weight"]
    assert not any(t.requires_grad for t in state.values())
    assert state["0.weight"].data_ptr() == module[0].weight.data_ptr()
    assert module.state_dict(keep_vars=True)["0.weight"] is module[0].weight
    assert list(module[0].state_dict(prefix="p.")) == ["p.weight", "p.bias"]
    assert state._metadata[""] == {"version": 1}
    given = {}
    assert module.state_dict(destination=given) is given and list(given) == list(state)


def test_state_comes_back_and_the_parameters_stay_the_same_objects():
    module, other = model(), model()
    with wg.no_grad():
        for p in other.parameters():
            p.add_(1.0)
    kept = list(module.parameters())
    result = module.load_state_dict(other.state_dict())
    assert str(result) == "<All keys matched successfully>"
    assert result.missing_keys == [] and result.unexpected_keys == []
    assert values(module) == values(other)
    assert all(a is b for a, b in zip(module.parameters(), kept, strict=True))


def test_state_of_another_dtype_is_converted_or_with_assign_taken():
    module = model()
    wide = {
        name: t.double() if t.is_floating_point() else t for name, t in model().state_dict().items()
    }
    module.load_state_dict(wide)
    assert module[0].weight.dtype == wg.float32
    module[0].weight.requires_grad_(False)
    module.load_state_dict(wide, assign=True)
    assert module[0].weight.dtype == wg.float64 and isinstance(module[0].weight, nn.Parameter)
    assert not module[0].weight.requires_grad and module[0].bias.requires_grad
    assert module[1].running_mean is wide["1.running_mean"]


def ordinary():
    return model()


def hooked():
    module = model()
    module.register_load_state_dict_post_hook(lambda module, keys: None)
    return module


def overriding():
    class Own(nn.Linear):
        def _load_from_state_dict(self, *args):
            super()._load_from_state_dict(*args)

    module = model()
    module[0] = Own(2, 3)
    return module


@pytest.mark.parametrize("make", [ordinary, hooked, overriding])
@pytest.mark.parametrize("assign", [False, True])
@pytest.mark.parametrize(
    "change",
    [
        lambda state: state.pop("2.bias"),
        lambda state: state.update(more=wg.ones(1)),
        lambda state: state.update({"2.weight": wg.ones(7, 7)}),
        lambda state: state.update({"2.weight": "text"}),
    ],
    ids=["missing", "unexpected", "another shape", "no tensor"],
)
def test_state_that_does_not_fit_changes_nothing(make, assign, change):
    module = make()
    before, kept = values(module), list(module.parameters())
    state = OrderedDict((n, t + 1) for n, t in module.state_dict().items())
    change(state)
    with pytest.raises(RuntimeError, match=r"Error\(s\) in loading state_dict for Sequential:\n\t"):
        module.load_state_dict(state, assign=assign)
    assert values(module) == before
    assert all(a is b for a, b in zip(module.parameters(), kept, strict=True))


def test_errors_are_listed_together_in_words_that_name_each_key():
    with pytest.raises(RuntimeError) as caught:
        nn.Linear(2, 3).load_state_dict({"weight": wg.ones(3, 3), "more": wg.ones(1)})
    assert str(caught.value).splitlines() == [
        "Error(s) in loading state_dict for Linear:",
        '\tMissing key(s) in state_dict: "bias". ',
        '\tUnexpected key(s) in state_dict: "more". ',
        "\tsize mismatch for weight: copying a param with shape torch.Size([3, 3]) from "
        "checkpoint, the shape in current model is torch.Size([3, 2]).",
    ]
    with pytest.raises(TypeError, match="Expected state_dict to be dict-like, got <class 'list'>"):
        nn.Linear(2, 3).load_state_dict([])


def test_what_is_missing_or_unexpected_is_reported_without_strict():
    module = nn.Linear(1, 1)
    result = module.load_state_dict({"weight": wg.ones(1, 1), "more.x": wg.ones(1)}, strict=False)
    assert result.missing_keys == ["bias"] and result.unexpected_keys == ["more.x"]
    assert repr(result) == "_IncompatibleKeys(missing_keys=['bias'], unexpected_keys=['more.x'])"
    assert module.weight.item() == 1.0


def test_a_number_that_was_saved_with_one_dimension_fits():
    module = nn.Module()
    module.register_buffer("n", wg.tensor(1.0))
    module.load_state_dict({"n": wg.tensor([5.0])})
    assert module.n.item() == 5.0


class Counting(nn.Module):
    _version = 3

    def __init__(self):
        super().__init__()
        self.calls = 5

    def get_extra_state(self):
        return {"calls": self.calls}

    def set_extra_state(self, state):
        self.calls = state["calls"]


def test_extra_state_goes_out_and_comes_back():
    outer = nn.Sequential(Counting())
    state = outer.state_dict()
    assert dict(state) == {"0._extra_state": {"calls": 5}}
    outer[0].calls = 0
    outer.load_state_dict(state)
    assert outer[0].calls == 5
    with pytest.raises(RuntimeError, match=r'Missing key\(s\) in state_dict: "0._extra_state"'):
        outer.load_state_dict({})
    with pytest.raises(RuntimeError, match=r'Unexpected key\(s\) in state_dict: "_extra_state"'):
        nn.Module().load_state_dict({"_extra_state": 3})
    with pytest.raises(RuntimeError, match="Module has no extra state: override get_extra_state"):
        nn.Module().get_extra_state()


def test_hooks_before_loading_see_versions_and_may_change_the_state():
    linear, seen = nn.Sequential(nn.Linear(1, 1)), []

    def rename(module, state, prefix, metadata, strict, missing, unexpected, errors):
        seen.append((type(module).__name__, prefix, metadata))
        state[prefix + "weight"] = state.pop(prefix + "w")

    linear[0].register_load_state_dict_pre_hook(rename)
    linear.load_state_dict({"0.w": wg.full((1, 1), 7.0), "0.bias": wg.zeros(1)}, strict=False)
    assert linear[0].weight.item() == 7.0 and seen == [("Linear", "0.", {})]


def test_hooks_after_loading_may_forgive():
    linear = nn.Linear(1, 1)
    linear.register_load_state_dict_post_hook(lambda module, keys: keys.missing_keys.clear())
    assert linear.load_state_dict({}).missing_keys == []
    linear.register_load_state_dict_post_hook(lambda module, keys: 3)
    with pytest.raises(AssertionError, match="not expected to return new values"):
        linear.load_state_dict({})


def test_hooks_of_state_run_before_and_after_it_is_made():
    linear, seen = nn.Linear(1, 1), []
    linear.register_state_dict_pre_hook(lambda m, prefix, keep: seen.append((prefix, keep)))
    linear.register_state_dict_post_hook(lambda m, state, prefix, meta: state.pop("x.bias"))
    with pytest.raises(RuntimeError, match="post-hook must return None"):
        linear.state_dict(prefix="x.")
    linear._state_dict_hooks.clear()
    linear._register_state_dict_hook(lambda m, state, prefix, meta: {"only": 1})
    assert linear.state_dict(prefix="x.") == {"only": 1}
    assert seen == [("x.", False)] * 2


def test_a_function_kept_from_before_it_could_be_overridden_is_pickled():
    model = wg.nn.Module()
    model.activation = wg.nn.functional.mish

    class Overriding(wg.Tensor):
        @classmethod
        def __torch_function__(cls, func, types, args=(), kwargs=None):
            return super().__torch_function__(func, types, args, kwargs or {})

    x = wg.ones(2)
    assert wg.equal(pickle.loads(pickle.dumps(model)).activation(x), model.activation(x))
