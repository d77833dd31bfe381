"""Test pytrees: leaves, structures, registration, paths; derivatives of registered classes."""

import collections
import dataclasses
import functools
import pickle

import numpy as np
import pytest

import wengert.compat.jax.numpy as jnp
from wengert.compat import jax
from wengert.compat.jax import tree_util as tu
from wengert.compat.jax.flatten_util import ravel_pytree

Point = collections.namedtuple("Point", ["x", "y"])


class Pair:
    def __init__(self, a, b):
        self.a, self.b = a, b


@tu.register_pytree_node_class
class Named:
    def __init__(self, value, name):
        self.value, self.name = value, name

    def tree_flatten(self):
        return (self.value,), self.name

    @classmethod
    def tree_unflatten(cls, name, children):
        return cls(*children, name)


@tu.register_pytree_with_keys_class
class Keyed:
    def __init__(self, a, b):
        self.a, self.b = a, b

    def tree_flatten_with_keys(self):
        return ((tu.GetAttrKey("a"), self.a), (tu.GetAttrKey("b"), self.b)), None

    @classmethod
    def tree_unflatten(cls, _, children):
        return cls(*children)


@tu.register_dataclass
@dataclasses.dataclass
class Model:
    w: object
    b: object
    name: str = dataclasses.field(default="linear", metadata={"static": True})


tu.register_pytree_node(Pair, lambda p: ((p.a, p.b), None), lambda _, parts: Pair(*parts))


@pytest.mark.parametrize(
    ("tree", "text"),
    [
        (1, "*"),
        (None, "None"),
        ([1, {"b": 2, "a": (3,)}, None, ()], "[*, {'a': (*,), 'b': *}, None, ()]"),
        (Point(1, [2]), "CustomNode(namedtuple[Point], [*, [*]])"),
        (Pair(1, 2), "CustomNode(Pair[None], [*, *])"),
        (Named(1, "k"), "CustomNode(Named[k], [*])"),
        (
            collections.OrderedDict([("b", 1), ("a", 2)]),
            "CustomNode(OrderedDict[('b', 'a')], [*, *])",
        ),
        (tu.Partial(max, 1, key=2), f"CustomNode(Partial[{max}], [(*,), {{'key': *}}])"),
    ],
)
def test_structures_print_as_jaxs_do(tree, text):
    assert repr(jax.tree.structure(tree)) == f"PyTreeDef({text})"


def test_leaves_stand_in_the_order_of_sorted_keys():
    assert jax.tree.leaves({"b": 1, "a": [2, None, 3]}) == [2, 3, 1]
    assert list(jax.tree.map(lambda x: x, {"b": 1, "a": 2})) == ["a", "b"]
    ordered = collections.OrderedDict([("b", 1), ("a", 2)])
    assert list(jax.tree.map(lambda x: x, ordered)) == ["b", "a"]
    filled = jax.tree.map(lambda x: x + 1, collections.defaultdict(list, {"a": 1}))
    assert filled == {"a": 2}
    assert filled.default_factory is list
    with pytest.raises(ValueError, match="Comparator raised exception while sorting"):
        jax.tree.leaves({1: 1, "a": 2})


def test_trees_are_taken_apart_and_put_together():
    tree = [1, {"b": 2, "a": (3, Point(4, Pair(5, None)))}]
    leaves, structure = jax.tree.flatten(tree)
    assert leaves == [1, 3, 4, 5, 2]
    again = jax.tree.unflatten(structure, "vwxyz")
    assert again[1]["a"][1].y.a == "y"
    assert structure == jax.tree.structure(again)
    assert hash(structure) == hash(jax.tree.structure(again))
    assert (structure.num_leaves, structure.num_nodes) == (5, 11)
    with pytest.raises(ValueError, match="Too few leaves for PyTreeDef; expected 5, got 1"):
        structure.unflatten([1])
    with pytest.raises(ValueError, match="Too many leaves for PyTreeDef; expected 5"):
        structure.unflatten(range(6))


def test_structures_tell_of_their_parts():
    structure = jax.tree.structure([1, {"a": 2}])
    assert [repr(child) for child in structure.children()] == [
        "PyTreeDef(*)",
        "PyTreeDef({'a': *})",
    ]
    assert structure.node_data() == (list, None)
    assert structure.children()[1].node_data() == (dict, ["a"])
    assert repr(jax.tree.structure([0, 0]).compose(jax.tree.structure((0,)))) == (
        "PyTreeDef([(*,), (*,)])"
    )
    assert repr(tu.treedef_tuple([structure])) == "PyTreeDef(([*, {'a': *}],))"
    assert tu.treedef_is_leaf(jax.tree.structure(1))
    assert not tu.treedef_is_leaf(structure)
    assert tu.all_leaves([1, 2]) and not tu.all_leaves([1, [2]])


def test_maps_of_several_trees():
    assert jax.tree.map(lambda a, b: (a, b), [1, 2], [[5], {"k": 6}]) == [(1, [5]), (2, {"k": 6})]
    assert jax.tree.map(lambda x: x is None, [1, None], is_leaf=lambda x: x is None) == [
        False,
        True,
    ]


@pytest.mark.parametrize(
    ("a", "b", "message"),
    [
        ([1, 2], [1, 2, 3], r"different lengths of list at key path\s+tree_map tree\n"),
        ([1, 2], (1, 2), "different types at key path"),
        ([[1], 2], [5, 2], r"different types at key path\s+tree_map tree\[0\]"),
        ({"a": 1}, {"b": 2}, "different pytree metadata"),
        (Named(1, "a"), Named(1, "b"), "different pytree metadata"),
        ([1, None], [1, 2], "NoneType"),
    ],
)
def test_trees_of_different_structures_are_refused(a, b, message):
    with pytest.raises(ValueError, match=message):
        jax.tree.map(lambda x, y: x, a, b)


def test_reductions_and_transposition():
    assert jax.tree.reduce(lambda a, b: a + b, [1, 2, (3,)]) == 6
    assert jax.tree.reduce(lambda a, b: a + b, [1, 2], 10) == 13
    assert not jax.tree.all([True, [False]])
    assert jax.tree.all([])
    outer, inner = jax.tree.structure([0, 0]), jax.tree.structure({"a": 0, "b": 0})
    rows = [{"a": 1, "b": 2}, {"a": 3, "b": 4}]
    assert jax.tree.transpose(outer, inner, rows) == {"a": [1, 3], "b": [2, 4]}
    assert jax.tree.transpose(outer, None, rows) == {"a": [1, 3], "b": [2, 4]}
    assert jax.tree.broadcast([0, 1], ["a", ("b", "c")]) == [0, (1, 1)]


def test_paths_say_where_leaves_stand():
    tree = [1, {"a": 2, "b": (3, Point(4, 5))}, Pair(6, 7), Model(8, 9), Keyed(10, 11)]
    found, _ = jax.tree.flatten_with_path(tree)
    assert [tu.keystr(path) for path, _ in found] == [
        "[0]",
        "[1]['a']",
        "[1]['b'][0]",
        "[1]['b'][1].x",
        "[1]['b'][1].y",
        "[2][<flat index 0>]",
        "[2][<flat index 1>]",
        "[3].w",
        "[3].b",
        "[4].a",
        "[4].b",
    ]
    assert tu.keystr(found[3][0], simple=True, separator="/") == "1/b/1/x"
    assert repr(found[1][0]) == "(SequenceKey(idx=1), DictKey(key='a'))"
    named = jax.tree.map_with_path(lambda path, x: tu.keystr(path) + str(x), {"a": [1]})
    assert named == {"a": ["['a'][0]1"]}


def test_registration_is_checked():
    with pytest.raises(ValueError, match="Duplicate custom PyTreeDef type registration"):
        tu.register_pytree_node(Pair, lambda p: ((), None), lambda _, parts: None)

    class New:
        pass

    with pytest.raises(TypeError, match="flatten_func must be callable"):
        tu.register_pytree_node(New, None, None)
    with pytest.raises(TypeError, match="required when nodetype is not a dataclass"):
        tu.register_dataclass(New)
    with pytest.raises(ValueError, match=r"Missing fields: \{'b'\}"):

        @dataclasses.dataclass
        class Two:
            a: int
            b: int

        tu.register_dataclass(Two, ["a"], [])


def test_instances_of_classes_that_are_not_registered_are_leaves():
    class Other:
        pass

    other = Other()
    assert jax.tree.leaves([other]) == [other]


def test_transforms_go_through_registered_classes():
    gradient = jax.grad(lambda p: p.a**2 * p.b)(Pair(3.0, 2.0))
    assert (gradient.a, gradient.b) == (12.0, 9.0)
    model = Model(jnp.ones(2), 0.5)
    slopes = jax.grad(lambda m, x: ((x @ m.w + m.b) ** 2).sum())(model, jnp.eye(2))
    assert (slopes.w.tolist(), slopes.b, slopes.name) == ([3.0, 3.0], 6.0, "linear")
    mapped = jax.vmap(lambda p: p.a + p.b)(Pair(jnp.arange(2.0), jnp.ones(2)))
    assert mapped.tolist() == [1.0, 2.0]
    assert jax.jit(lambda n: n)(Named(1.0, "k")).name == "k"
    jacobian = jax.jacrev(lambda x: Pair(x**2, 3 * x))(2.0)
    assert (jacobian.a, jacobian.b) == (4.0, 3.0)
    _, tangent = jax.jvp(lambda p: Named(p.a * p.b, "out"), (Pair(2.0, 3.0),), (Pair(1.0, 0.0),))
    assert (tangent.value, tangent.name) == (3.0, "out")


def test_partials_are_containers_of_their_arguments():
    scale = tu.Partial(lambda a, b: a * b, 3.0)

    @jax.jit
    def call(f, x):
        return f(x)

    assert call(scale, 2.0) == 6.0
    assert jax.grad(call)(scale, 2.0).args[0] == 2.0


def test_trees_as_vectors():
    tree = {"w": jnp.ones((2, 2)), "n": jnp.arange(2)}
    flat, unravel = ravel_pytree(tree)
    assert flat.tolist() == [0.0, 1.0, 1.0, 1.0, 1.0, 1.0]
    again = unravel(2 * flat)
    assert again["w"].tolist() == [[2.0, 2.0], [2.0, 2.0]]
    assert again["n"].dtype == "int32"
    assert jax.grad(lambda v: unravel(v)["w"].sum())(flat).tolist() == [0, 0, 1, 1, 1, 1]
    with pytest.raises(ValueError, match="expected an input of size 6"):
        unravel(jnp.ones(2))
    assert ravel_pytree({})[0].shape == (0,)


def test_leaves_are_numpys_arrays_as_well():
    tree = [np.ones(2), {"a": np.float64(2)}]
    assert jax.tree.map(lambda x: x.shape, tree) == [(2,), {"a": ()}]
    assert jax.grad(lambda t: (t[0] * t[1]["a"]).sum())(tree)[1]["a"] == 2.0


def test_structures_are_pickled():
    tree = {"a": (1, [2, None]), "b": Named(3.0, "k")}
    structure = jax.tree.structure(tree)
    again = pickle.loads(pickle.dumps(structure))
    assert again == structure
    assert again.unflatten([1, 2, 3.0])["b"].name == "k"
    assert jax.tree.structure(1) is pickle.loads(pickle.dumps(jax.tree.structure(1)))


def test_trees_are_transposed_by_keyword():
    inner, outer = jax.tree.structure((0, 0)), jax.tree.structure([0, 0])
    for transpose in (jax.tree.transpose, jax.tree_util.tree_transpose):
        turned = transpose(
            outer_treedef=outer, inner_treedef=inner, pytree_to_transpose=[(1, 2), (3, 4)]
        )
        assert turned == ([1, 3], [2, 4])


@pytest.mark.parametrize(
    ("tree", "other", "message"),
    [
        ([1, 2], [7], r"List arity mismatch: 1 != 2; list: \[7\]\."),
        ({"a": 1}, {"b": 7}, r"Dict key mismatch; expected keys: \['a'\]; dict: \{'b': 7\}\."),
        (([1],), ((7,),), r"Expected list, got \(7,\)\."),
        (None, [2], r"Expected None, got \[2\]\."),
    ],
)
def test_structures_say_how_trees_differ(tree, other, message):
    with pytest.raises(ValueError, match=message):
        jax.tree.structure(tree).flatten_up_to(other)


def test_structures_are_walked():
    leaves, structure = jax.tree.flatten({"b": 2, "a": (1, 3)})
    assert structure.walk(lambda parts, data: (parts, data), None, leaves) == (
        (((1, 3), None), 2),
        ["a", "b"],
    )


def test_partials_of_partials_keep_their_arguments_apart():
    inner = functools.partial(max, 2)
    outer = jax.tree_util.Partial(inner, 3)
    assert outer.args == (3,)
    assert outer.func == inner
    assert outer() == 3


def test_keys_of_different_kinds_are_not_equal():
    keys = [tu.SequenceKey(1), tu.DictKey(1), tu.FlattenedIndexKey(1), tu.GetAttrKey("a")]
    assert [[a == b for b in keys] for a in keys] == np.eye(4, dtype=bool).tolist()
    assert pickle.loads(pickle.dumps(keys)) == keys
    assert tu.keystr(tuple(keys), simple=True, separator="/") == "1/1/1/a"
    match keys[0]:
        case tu.SequenceKey(idx=position):
            assert position == 1


@pytest.mark.parametrize(
    ("parts", "message"),
    [
        ("ab", r"return a \(children, aux_data\) tuple, got 'ab'"),
        ((1, 2, 3), r"tuple, got \(1, 2, 3\)"),
        ((7, 7), r"tuple where 'children' is iterable, got \(7, 7\)"),
    ],
)
def test_registered_classes_must_return_children_and_metadata(parts, message):
    class Bad:
        pass

    tu.register_pytree_node(Bad, lambda _: parts, lambda *_: Bad())
    with pytest.raises(ValueError, match=message):
        tu.tree_leaves(Bad())


def test_metadata_must_be_comparable():
    left, right = (jax.tree.structure(Named(1.0, np.arange(2))) for _ in range(2))
    with pytest.raises(ValueError, match="while checking equality of metadata"):
        assert left == right


def test_vectors_of_one_dtype_may_be_unraveled_to_another():
    flat, unravel = ravel_pytree({"a": jnp.arange(3.0)})
    assert unravel(flat < 1)["a"].dtype == bool
    assert unravel == ravel_pytree({"a": jnp.zeros(3)})[1]
    _, unravel = ravel_pytree([jnp.arange(3.0), jnp.arange(2)])
    with pytest.raises(TypeError, match="expected dtype float32"):
        unravel(jnp.arange(5) < 1)
