"""Test containers of modules and parameters: in sequence, in lists and by name."""

from collections import OrderedDict

import pytest

import wengert as wg
from wengert import nn


class Add(nn.Module):
    def __init__(self, value):
        super().__init__()
        self.value = value

    def forward(self, x):
        return x + self.value

    def extra_repr(self):
        return str(self.value)


def held(modules):
    return [module.value for module in modules]


def adds(*values):
    return [Add(value) for value in values]


@pytest.mark.parametrize("kind", [lambda *m: nn.Sequential(*m), lambda *m: nn.ModuleList(m)])
def test_rows_and_lists_are_lists(kind):
    row = kind(*adds(0, 1, 2, 3))
    assert len(row) == 4 and held(row) == [0, 1, 2, 3]
    assert row[-1].value == 3 and held(row[1:3]) == [1, 2] and type(row[:1]) is type(row)
    assert row.append(Add(4)) is row and row.extend(adds(5, 6)) is row
    row.insert(-1, Add(7))
    row[0] = Add(8)
    assert held(row) == [8, 1, 2, 3, 4, 5, 7, 6]
    assert row.pop(1).value == 1 and held(row) == [8, 2, 3, 4, 5, 7, 6]
    del row[::2]
    assert held(row) == [2, 4, 7] and list(row._modules) == ["0", "1", "2"]
    row += kind(Add(9))
    assert held(row) == [2, 4, 7, 9] and held(row + kind(Add(1))) == [2, 4, 7, 9, 1]
    assert [name for name, _ in row.named_children()] == ["0", "1", "2", "3"]


@pytest.mark.parametrize("row", [nn.Sequential(*adds(1, 2)), nn.ModuleList(adds(1, 2))])
def test_what_a_row_or_list_refuses_leaves_it_as_it_was(row):
    refused = [
        (lambda: row[2], IndexError, "index 2 is out of range"),
        (lambda: row.__setitem__(-3, Add(1)), IndexError, "index -3 is out of range"),
        (lambda: row.insert(3, Add(1)), IndexError, "Index out of range: 3"),
        (lambda: row.insert(0, 1), AssertionError, "module should be of type"),
        (lambda: row.append(1), TypeError, "int is not a Module subclass"),
        (lambda: row.extend([Add(3), 4]), TypeError, "int is not a Module subclass"),
    ]
    for action, error, message in refused:
        with pytest.raises(error, match=message):
            action()
        assert held(row) == [1, 2]


def test_a_row_calls_its_modules_one_after_another():
    assert nn.Sequential(*adds(1, 2, 3))(10) == 16
    assert nn.Sequential()(10) == 10


def test_a_row_takes_names_and_is_repeated():
    row = nn.Sequential(OrderedDict(left=Add(1), right=Add(2)))
    assert row.left.value == 1 and list(row[1:]._modules) == ["right"]
    assert held(row * 2) == held(2 * row) == [1, 2, 1, 2]
    row *= 2
    assert held(row) == [1, 2, 1, 2] and row[0] is row[2]
    with pytest.raises(TypeError, match=r"unsupported operand type\(s\) for \*"):
        row * "a"
    with pytest.raises(ValueError, match="Non-positive multiplication factor 0"):
        row * 0
    with pytest.raises(ValueError, match="add operator supports only objects of Sequential class"):
        row + [Add(1)]  # noqa: RUF005  the operator is meant


def test_a_list_prints_neighbours_that_are_alike_once():
    assert repr(nn.ModuleList(adds(1, 1, 2))) == (
        "ModuleList(\n  (0-1): 2 x Add(1)\n  (2): Add(2)\n)"
    )
    assert repr(nn.ModuleList()) == "ModuleList()"


def test_a_dictionary_of_modules_is_a_dictionary():
    named = nn.ModuleDict({"a": Add(1), "b": Add(2)})
    named["c"] = Add(3)
    named.update([("d", Add(4))])
    named.update(nn.ModuleDict({"a": Add(5)}))
    assert list(named) == list(named.keys()) == ["a", "b", "c", "d"] and len(named) == 4
    assert held(named.values()) == [5, 2, 3, 4] and "d" in named and "x" not in named
    assert named.pop("b").value == 2 and dict(named.items())["c"] is named["c"]
    del named["c"]
    assert list(named) == ["a", "d"]
    named.clear()
    assert not len(named)


@pytest.mark.parametrize("kind", [nn.ModuleDict, nn.ParameterDict])
@pytest.mark.parametrize(
    ("content", "error", "message"),
    [
        (3, TypeError, "update should be called with an iterable of key/value pairs, but got int"),
        ([3], TypeError, "update sequence element #0 should be Iterable; is int"),
        ([("a", None), ("b",)], ValueError, "update sequence element #1 has length 1; 2 is requi"),
    ],
)
def test_what_is_no_mapping_adds_nothing_to_a_dictionary(kind, content, error, message):
    named = kind()
    with pytest.raises(error, match=message):
        named.update(content)
    assert list(named) == []


def test_a_list_of_parameters_makes_parameters_of_tensors_and_keeps_the_rest():
    weights = nn.ParameterList([wg.ones(1), "text"])
    weights.append(wg.ones(2)).extend([wg.ones(3)])
    weights[0] = wg.zeros(4)
    weights += (wg.ones(5),)
    assert [len(w) for w in weights] == [4, 4, 2, 3, 5] and weights[-1] is weights[4]
    assert [tuple(p.shape) for p in weights.parameters()] == [(4,), (2,), (3,), (5,)]
    assert list(weights.state_dict()) == ["0", "2", "3", "4"]
    assert [len(w) for w in weights[1:3]] == [4, 2] and type(weights[1:3]) is nn.ParameterList
    assert repr(weights).splitlines()[1:3] == [
        "    (0): Parameter containing: [torch.float32 of size 4]",
        "    (1): Object of type: str",
    ]
    for action, error, message in [
        (lambda: weights[5], IndexError, "index 5 is out of range"),
        (lambda: weights(1), RuntimeError, "ParameterList should not be called"),
        (lambda: weights.extend(wg.ones(2)), TypeError, "ParameterList.extend should be called"),
    ]:
        with pytest.raises(error, match=message):
            action()
    assert len(weights) == 5


def test_a_dictionary_of_parameters_is_a_dictionary():
    weights = nn.ParameterDict({"b": wg.ones(1), "a": wg.ones(2)})
    weights["c"] = wg.ones(3)
    weights["text"] = "plain"
    assert list(weights) == ["a", "b", "c", "text"] and next(reversed(weights)) == "text"
    assert len(list(weights.parameters())) == 3 and weights.get("none", 5) == 5
    assert weights.setdefault("c", None) is weights["c"] and weights.pop("text") == "plain"
    assert list(weights | {"z": wg.ones(1)}) == ["a", "b", "c", "z"]
    weights |= nn.ParameterDict({"z": wg.ones(1)})
    assert weights.popitem()[0] == "z" and list(weights.copy()) == ["a", "b", "c"]
    assert list(weights.fromkeys(["k"], 1).items()) == [("k", 1)]
    with pytest.raises(TypeError, match="cannot be used as a key as it is not a string"):
        weights[3] = wg.ones(1)
    with pytest.raises(RuntimeError, match="ParameterDict should not be called"):
        weights(1)
    with pytest.raises(KeyError, match="dictionary is empty"):
        nn.ParameterDict().popitem()
    assert list(weights) == ["a", "b", "c"]
    weights.clear()
    assert not len(weights) and not list(weights.parameters())


def test_the_oldest_container_says_what_to_use():
    with pytest.warns(FutureWarning, match="`nn.Container` is deprecated"):
        assert nn.Container(a=Add(1)).a.value == 1
