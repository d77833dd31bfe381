"""Test the identity of containers that compiled functions return."""

from __future__ import annotations

import collections
import warnings

import pytest

import wengert as wg

BACKENDS = ["numpy", "llvm"]


class Pair(tuple):
    """A tuple whose constructor takes something else than its parts."""

    __slots__ = ()

    def __new__(cls, first, second):
        return super().__new__(cls, (first, second))


class Noted(list):
    """A list with a state of its own."""

    note = None


class Settings(dict):
    def __init__(self, **entries):
        super().__init__(**entries)
        self.seen = len(entries)


Named = collections.namedtuple("Named", "x y")
KEPT = [wg.ones(2)]


def noted(a):
    made = Noted([a * 2])
    made.note = "written"
    return made


def one_list_twice(a):
    made = [a * 2]
    return made, made


OWN = {
    "a tuple of a class of its own": lambda a: Pair(a * 2, 1),
    "a list with a state": noted,
    "a dictionary with a constructor": lambda a: Settings(x=a * 2),
    "a dictionary with defaults": lambda a: collections.defaultdict(list, x=a * 2),
    "a counter": lambda a: (collections.Counter("aab"), a * 2),
    "one list twice": one_list_twice,
}
PLAIN = {
    "an ordered dictionary": lambda a: collections.OrderedDict(x=a * 2, y=[a]),
    "a named tuple": lambda a: Named(a * 2, (a, None)),
    "a size": lambda a: (a.shape, a * 2),
    "a part of a size": lambda a: {"size": [a.shape[:1]], "x": (a * 2, "text")},
    "a size alone": lambda a: a.shape,
    "several results of an operation": lambda a: a.topk(2),
}


def seen(value):
    """What can be told of a container."""
    if isinstance(value, wg.Tensor):
        return value.tolist()
    state = {**getattr(value, "__dict__", {}), "default": getattr(value, "default_factory", None)}
    if isinstance(value, dict):
        return type(value), [(key, seen(part)) for key, part in value.items()], state
    if isinstance(value, list | tuple):
        return type(value), [seen(part) for part in value], state
    return value


@pytest.mark.sampled(3)
@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("what", [*OWN, *PLAIN])
def test_what_is_returned_is_of_its_class_and_has_its_state(what, backend):
    function = {**OWN, **PLAIN}[what]
    compiled = wg.compile(function, backend=backend, options={"measure": False})
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for k in range(4):
            x = wg.arange(3.0) + k
            assert seen(compiled(x)) == seen(function(x))
            # whose conditions are others
            assert seen(compiled(x.requires_grad_())) == seen(function(x))
    assert (compiled.reason is None) == (what in PLAIN), compiled.reason


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize(
    "function",
    [
        lambda parts: (parts, parts[0] * 2),
        lambda parts: parts,
        lambda parts: {"rest": parts[1], "x": parts[0] * 2},
        lambda parts: (KEPT, parts[0] * 2),
        one_list_twice,
    ],
)
def test_who_changes_a_list_changes_it_for_all_who_hold_it(function, backend):
    compiled = wg.compile(function, backend=backend, options={"measure": False})

    def held(call):
        parts = [wg.arange(3.0), [wg.ones(1)]]
        result = call(parts if function is not one_list_twice else parts[0])
        known = [parts, parts[1], KEPT]

        def places(value):
            if isinstance(value, list):
                known.append(value)
                return [i for i, other in enumerate(known) if other is value][:1]
            inner = value.values() if isinstance(value, dict) else value
            return [places(part) for part in inner] if isinstance(value, tuple | dict) else None

        return places(result)

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for _ in range(3):
            assert held(compiled) == held(function)


def test_tuples_of_what_is_given_are_compiled():
    compiled = wg.compile(
        lambda parts, k: ((parts, k), parts[0] * 2), backend="numpy", options={"measure": False}
    )
    for _ in range(3):
        (parts, k), double = compiled((wg.ones(2), None), 3)
        assert type(parts) is tuple
        assert k == 3
        assert double.tolist() == [2, 2]
    assert compiled.reason is None


def test_transforms_make_containers_of_classes_of_their_own_again():
    def make(a):
        return [Pair(a * 2, a), noted(a), Settings(x=a), collections.defaultdict(list, x=a)]

    x = wg.arange(6.0).reshape(2, 3)
    for made, expected in zip(wg.func.vmap(make)(x), make(x), strict=True):
        assert seen(made) == seen(expected)
