"""Test weak references, and names that programs import from several places."""

from __future__ import annotations

import copy
import importlib


def test_entries_go_with_their_tensors(t):
    weak = importlib.import_module(f"{t.__name__}.utils.weak")
    entries = weak.WeakTensorKeyDictionary()
    x, y = t.ones(2), t.ones(2)
    entries[x], entries[y] = 1, 2
    assert entries[x] == 1 and entries[y] == 2 and t.ones(2) not in entries
    del y
    assert len(entries) == 1 and next(iter(entries)) is x
    del entries[x]
    assert not entries
    reference = weak.TensorWeakRef(x)
    assert reference() is x
    del x
    assert reference() is None


def test_dictionaries_are_copied_and_merged(t):
    weak = importlib.import_module(f"{t.__name__}.utils.weak")
    x, y = t.ones(2), t.ones(2)
    one, two = weak.WeakIdKeyDictionary({x: [1]}), weak.WeakIdKeyDictionary({y: [2]})
    shallow, deep = one.copy(), copy.deepcopy(one)
    assert shallow[x] is one[x] and deep[x] == one[x] and deep[x] is not one[x]
    both = one | two
    assert both[x] is one[x] and both[y] is two[y] and len(one) == 1
    assert ({y: 3} | one)[y] == 3
    one |= {y: 4}
    assert one[y] == 4 and len(shallow) == 1
    assert repr(one).startswith("<WeakIdKeyDictionary at 0x")


def test_names_in_several_places(t):
    assert t.nn.functional.has_torch_function((t.ones(1),)) is False
    assert t.is_autocast_cache_enabled() and t.clear_autocast_cache() is None
    x = t.tensor([float("nan"), 1.0])
    assert t.nan_to_num_(x) is x and x.tolist() == [0, 1]
