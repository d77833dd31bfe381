"""Test nested containers under PyTorch's private names."""

from collections import OrderedDict, defaultdict, deque, namedtuple
from dataclasses import dataclass

import pytest

import wengert as wg
from wengert.utils import _pytree as pytree

Point = namedtuple("Point", "x y")
TREES = (
    1,
    None,
    [],
    {"b": 1, "a": [2, None, (3,)]},
    OrderedDict([("z", 1), ("a", (2, 3))]),
    defaultdict(list, {"a": 1, "b": [2]}),
    deque([1, {"a": 2}], maxlen=4),
    Point(1, [2, 3]),
    ([1], Point((), {"k": None})),
)


@pytest.mark.parametrize("tree", TREES, ids=repr)
def test_a_tree_is_taken_apart_and_made_again(tree):
    leaves, spec = pytree.tree_flatten(tree)
    again = pytree.tree_unflatten(leaves, spec)
    assert again == tree and type(again) is type(tree)
    assert spec.num_leaves == len(leaves)
    assert pytree.tree_structure(again) == spec and hash(pytree.tree_structure(again)) == hash(spec)
    paths = pytree.tree_flatten_with_path(tree)[0]
    assert [leaf for _, leaf in paths] == leaves
    assert all(pytree.key_get(tree, path) is leaf for path, leaf in paths)
    if isinstance(tree, deque | defaultdict):
        assert again.__reduce__()[1] == tree.__reduce__()[1], "what else it holds"


def test_none_is_a_leaf_and_dictionaries_keep_their_order():
    assert pytree.tree_leaves({"b": 1, "a": [2, None]}) == [1, 2, None]


def test_structures_are_printed_as_ever():
    spec = pytree.tree_structure({"b": 1, "a": [2, None, (3,)]})
    lines = (
        "TreeSpec(dict, ['b', 'a'], [*,",
        "  TreeSpec(list, None, [*,",
        "    *,",
        "    TreeSpec(tuple, None, [*])])])",
    )
    assert repr(spec) == "\n".join(lines)
    assert pytree.treespec_pprint(spec) == "{'b': *, 'a': [*, *, (*,)]}"


def test_functions_get_the_leaves_of_several_trees():
    tree = {"a": [1, 2], "b": (3,)}
    assert pytree.tree_map(lambda x, y: x + y, tree, tree) == {"a": [2, 4], "b": (6,)}
    assert pytree.tree_map(lambda x, y: x + y, Point(1, 2), Point(3, 4)) == (4, 6)
    assert pytree.tree_map(lambda x, y: (x, y), tree, {"b": ([5],), "a": [0, None]}) == {
        "a": [(1, 0), (2, None)],
        "b": ((3, [5]),),
    }
    assert pytree.tree_map_only(int, str, [1, "x", 2.5]) == ["1", "x", 2.5]
    assert pytree.tree_map(len, [[1, 2], [3]], is_leaf=lambda x: x and x[0] in (1, 3)) == [2, 1]
    named = pytree.tree_map_with_path(lambda path, x, y: (pytree.keystr(path), x + y), [1], [2])
    assert named == [("[0]", 3)]
    assert pytree.tree_all(bool, [1, 2]) and not pytree.tree_all(bool, [1, 0])
    assert pytree.tree_any(bool, [1, 0]) and not pytree.tree_any(bool, [0])


@pytest.mark.parametrize(
    "other", [[1, 2], {"a": 1}, {"a": 1, "c": 2}, {"a": [1], "b": [2], "c": 3}], ids=repr
)
def test_trees_of_other_structures_are_refused(other):
    with pytest.raises(ValueError, match="mismatch"):
        pytree.tree_map(lambda x, y: x, {"a": 1, "b": 2}, other)


def test_the_number_of_leaves_must_fit():
    spec = pytree.tree_structure([1, 2])
    with pytest.raises(ValueError, match="length 1"):
        pytree.tree_unflatten([1], spec)
    with pytest.raises(TypeError, match="TreeSpec"):
        pytree.tree_unflatten([1], 5)


def test_transforms_go_into_registered_classes():
    class State:
        def __init__(self, a, b):
            self.a, self.b = a, b

    def norm(state):
        return (state.a**2).sum() + state.b

    state = State(wg.arange(6.0).view(2, 3), wg.ones(2))
    with pytest.raises(ValueError, match="non-Tensor"):
        wg.func.vmap(norm)(state)
    pytree.register_pytree_node(State, lambda s: ([s.a, s.b], None), lambda parts, _: State(*parts))
    try:
        for run in (lambda f: f, wg.compile):
            assert run(wg.func.vmap(norm))(state).tolist() == [6.0, 51.0]
            assert run(wg.func.grad(lambda s: norm(s).sum()))(state).b.tolist() == [1.0, 1.0]
            made = run(wg.func.vmap(lambda s: State(s.a.sum(), [s.b])))(state)
            assert made.a.tolist() == [3.0, 12.0] and made.b[0].tolist() == [1.0, 1.0]
        value, tangent = wg.func.jvp(lambda s: norm(s).sum(), (state,), (state,))
        assert (float(value), float(tangent)) == (112.0, 222.0)
    finally:
        pytree._deregister_pytree_node(State)


def test_classes_of_the_user_are_gone_into_when_registered():
    @dataclass
    class Pair:
        left: object
        right: object

    assert len(pytree.tree_leaves([Pair(1, 2)])) == 1
    pytree.register_dataclass(Pair)
    try:
        assert pytree.tree_map(lambda x: -x, [Pair(1, (2,))]) == [Pair(-1, (-2,))]
        assert pytree.keystr(pytree.tree_flatten_with_path(Pair(1, 2))[0][1][0]) == ".right"
        with pytest.raises(ValueError, match="already registered"):
            pytree.register_dataclass(Pair)
    finally:
        pytree._deregister_pytree_node(Pair)
    assert len(pytree.tree_leaves([Pair(1, 2)])) == 1


def test_shapes_are_containers_that_become_tuples():
    leaves, spec = pytree.tree_flatten([wg.ones(2, 3).shape, 1])
    assert leaves == [2, 3, 1]
    assert spec.children_specs[0].type is wg.Size
    grown = pytree.tree_map(lambda n: n + 1, wg.Size([1, 2]))
    assert type(grown) is tuple
    assert grown == (2, 3)
