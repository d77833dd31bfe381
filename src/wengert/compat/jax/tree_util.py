"""Layer 9 · compat: `jax.tree_util`: functions of pytrees, and registration of containers."""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from wengert.compat.jax import trees
from wengert.compat.jax.trees import (  # noqa: F401  names of this module
    DictKey,
    FlattenedIndexKey,
    GetAttrKey,
    PyTreeDef,
    SequenceKey,
    children_of,
    is_opaque,
    kind_of,
    leaves_with_paths,
    opaque,
    register,
)
from wengert.compat.jax.words import refusal
from wengert.compat.kit.namespaces import defined

KeyEntry = Any
KeyPath = tuple[Any, ...]
_NONE: Any = object()


def tree_flatten(tree, is_leaf: Callable[[Any], bool] | None = None) -> tuple[list[Any], PyTreeDef]:
    """Return the leaves of a tree and its structure; random keys are leaves too."""
    return trees.tree_flatten(tree, opaque(is_leaf))


def tree_leaves(tree, is_leaf: Callable[[Any], bool] | None = None) -> list[Any]:
    """Return the leaves of a tree."""
    return tree_flatten(tree, is_leaf)[0]


def tree_structure(tree, is_leaf: Callable[[Any], bool] | None = None) -> PyTreeDef:
    """Return the structure of a tree."""
    return tree_flatten(tree, is_leaf)[1]


def tree_map(
    f: Callable[..., Any], tree, *rest, is_leaf: Callable[[Any], bool] | None = None
) -> Any:
    """Apply a function to the leaves of a tree, and of others with the same structure."""
    return trees.tree_map(f, tree, *rest, is_leaf=opaque(is_leaf))


for _function in (tree_flatten, tree_leaves, tree_map, tree_structure):
    _function.__doc__ = getattr(trees, _function.__name__).__doc__


def tree_unflatten(treedef: PyTreeDef, leaves: Iterable[Any]) -> Any:
    """Rebuild a tree from a structure and its leaves (see `PyTreeDef.unflatten`).

    Examples
    --------
    >>> from wengert.compat.jax.tree_util import tree_structure, tree_unflatten
    >>> tree_unflatten(tree_structure([0, (0,)]), [1, 2])
    [1, (2,)]
    """
    return treedef.unflatten(leaves)


def tree_reduce(
    function: Callable[[Any, Any], Any],
    tree,
    initializer=_NONE,
    is_leaf: Callable[[Any], bool] | None = None,
) -> Any:
    """Reduce the leaves of a pytree with a function of two leaves, from the left.

    Examples
    --------
    >>> jax.tree.reduce(lambda a, b: a + b, [1, (2, 3)])
    6
    """
    leaves = tree_leaves(tree, is_leaf)
    if initializer is _NONE:
        return functools.reduce(function, leaves)
    return functools.reduce(function, leaves, initializer)


def tree_reduce_associative(
    operation: Callable[[Any, Any], Any],
    tree,
    *,
    identity=_NONE,
    is_leaf: Callable[[Any], bool] | None = None,
) -> Any:
    """Like `tree_reduce`, but for an associative operation."""
    return tree_reduce(operation, tree, identity, is_leaf)


def tree_all(tree, is_leaf: Callable[[Any], bool] | None = None) -> bool:
    """Return whether all leaves are true.

    Examples
    --------
    >>> jax.tree.all([True, {"a": False}])
    False
    """
    return all(tree_leaves(tree, is_leaf))


def tree_transpose(
    outer_treedef: PyTreeDef, inner_treedef: PyTreeDef | None, pytree_to_transpose
) -> Any:
    """Transpose a tree of trees, making the inner structure the outer one.

    Examples
    --------
    >>> jax.tree.transpose(
    ...     jax.tree.structure([0, 0]), jax.tree.structure({"a": 0}), [{"a": 1}, {"a": 2}]
    ... )
    {'a': [1, 2]}
    """
    flat, whole = tree_flatten(pytree_to_transpose)
    try:
        parts = outer_treedef.flatten_up_to(pytree_to_transpose)
        inner_treedef = inner_treedef or tree_structure(parts[0])
        rows, structures = [tree_leaves(part) for part in parts], set(map(tree_structure, parts))
        fits = structures <= {inner_treedef}
    except ValueError:  # classes whose metadata says what their children are differ by that
        size = 0 if inner_treedef is None else inner_treedef.num_leaves
        fits = not whole.is_plain and outer_treedef.num_leaves * size == len(flat)
        rows = [flat[i : i + size] for i in range(0, len(flat), max(size, 1))]
    if inner_treedef is None or not fits:
        wanted = outer_treedef if inner_treedef is None else outer_treedef.compose(inner_treedef)
        raise TypeError(f"Mismatch\n{whole}\n != \n{wanted}")
    columns = zip(*rows, strict=True) if rows else [()] * inner_treedef.num_leaves
    return inner_treedef.unflatten([outer_treedef.unflatten(column) for column in columns])


def tree_broadcast(prefix_tree, full_tree, is_leaf: Callable[[Any], bool] | None = None) -> Any:
    """Broadcast a tree prefix to the structure of `full_tree`, repeating leaves as needed.

    Examples
    --------
    >>> jax.tree.broadcast([0, 1], ["a", ("b", "c")])
    [0, (1, 1)]
    """
    leaves, structure = tree_flatten(prefix_tree, is_leaf)
    parts = structure.flatten_up_to(full_tree, "full_tree")
    wide = [
        tree_structure(part, is_leaf).unflatten([leaf] * tree_structure(part, is_leaf).num_leaves)
        for leaf, part in zip(leaves, parts, strict=True)
    ]
    return structure.unflatten(wide)


def tree_flatten_with_path(
    tree, is_leaf: Callable[..., bool] | None = None, is_leaf_takes_path=False
) -> tuple[list[tuple[KeyPath, Any]], PyTreeDef]:
    """Return the leaves of a tree with their key paths, and its structure.

    Examples
    --------
    >>> leaves, _ = jax.tree.flatten_with_path({"a": [5]})
    >>> leaves
    [((DictKey(key='a'), SequenceKey(idx=0)), 5)]
    """
    return leaves_with_paths(tree, opaque(is_leaf, is_leaf_takes_path), is_leaf_takes_path)


def tree_leaves_with_path(
    tree, is_leaf: Callable[..., bool] | None = None, is_leaf_takes_path=False
) -> list[tuple[KeyPath, Any]]:
    """Return the leaves of a tree with their key paths."""
    return tree_flatten_with_path(tree, is_leaf, is_leaf_takes_path)[0]


def tree_map_with_path(
    f: Callable[..., Any],
    tree,
    *rest,
    is_leaf: Callable[..., bool] | None = None,
    is_leaf_takes_path=False,
) -> Any:
    """Like `tree_map`, but with a function whose first argument is the key path.

    Examples
    --------
    >>> jax.tree.map_with_path(lambda path, x: jax.tree_util.keystr(path), {"a": [5, 6]})
    {'a': ["['a'][0]", "['a'][1]"]}
    """
    found, structure = tree_flatten_with_path(tree, is_leaf, is_leaf_takes_path)
    others = [structure.flatten_up_to(other) for other in rest]
    return structure.unflatten(
        [f(path, leaf, *parts) for (path, leaf), *parts in zip(found, *others, strict=True)]
    )


def keystr(keys: KeyPath, *, simple=False, separator="") -> str:
    """Format a key path as text: ``"[0]['a'].x"``.

    Parameters
    ----------
    simple : bool. Whether to format only the names and numbers.
    separator : str. The text between the keys.
    """
    return separator.join(_simple(key) if simple else str(key) for key in keys)


def _simple(key) -> str:
    return str(next(iter(vars(key).values())) if dataclasses.is_dataclass(key) else key)


def all_leaves(iterable: Iterable[Any], is_leaf: Callable[[Any], bool] | None = None) -> bool:
    """Return whether all of these are leaves."""
    leaf = opaque(is_leaf)
    return all(kind_of(value) is None or (leaf and leaf(value)) for value in iterable)


def is_tree_node(value) -> bool:
    """Return whether `value` is a container."""
    return kind_of(value) is not None and not is_opaque(value)


def flatten_one_level(tree) -> tuple[Iterable[Any], Any]:
    """Return the children and the metadata of a container.

    Raises
    ------
    ValueError: If it is a leaf.
    """
    there = children_of(tree)
    if there is None:
        raise ValueError(f"can't tree-flatten type: {type(tree)}")
    return there[0], there[1]


def treedef_children(treedef: PyTreeDef) -> list[PyTreeDef]:
    """Return the structures of the children."""
    return treedef.children()


def treedef_is_leaf(treedef: PyTreeDef) -> bool:
    """Return whether a structure is that of a leaf."""
    return treedef.num_nodes == 1 and treedef.num_leaves == 1


def treedef_tuple(treedefs: Iterable[PyTreeDef]) -> PyTreeDef:
    """Return the structure of a tuple of trees of these structures."""
    parts = tuple(treedefs)
    return PyTreeDef(tuple, kind_of(()), None, parts)


# -- registration ----------------------------------------------------------------------------------


def register_pytree_node(
    nodetype: type,
    flatten_func: Callable[[Any], tuple[Iterable[Any], Any]],
    unflatten_func: Callable[[Any, Any], Any],
    flatten_with_keys_func: Callable[[Any], Any] | None = None,
) -> None:
    """Register a class as a pytree container.

    Parameters
    ----------
    nodetype : type. The class.
    flatten_func : callable. Returns the children of an instance, and its metadata, which must be
        hashable and comparable.
    unflatten_func : callable. Takes the metadata and the children, and returns an instance.
    flatten_with_keys_func : callable, optional. Like `flatten_func`, but returns pairs of a key and
        a child.

    Raises
    ------
    TypeError: If a function is not callable.
    ValueError: If the class is registered already.

    Examples
    --------
    >>> class Pair:
    ...     def __init__(self, a, b):
    ...         self.a, self.b = a, b
    >>> jax.tree_util.register_pytree_node(
    ...     Pair, lambda pair: ((pair.a, pair.b), None), lambda _, parts: Pair(*parts)
    ... )
    >>> jax.tree.leaves(Pair(1, [2, 3]))
    [1, 2, 3]
    """
    for name, function in (("flatten_func", flatten_func), ("unflatten_func", unflatten_func)):
        if not callable(function):
            raise refusal(TypeError, "register_node(): incompatible", name, function)
    if flatten_with_keys_func is None:
        register(nodetype, flatten_func, unflatten_func)
    else:
        register_pytree_with_keys(nodetype, flatten_with_keys_func, unflatten_func, flatten_func)


def register_pytree_node_class(cls) -> Any:
    """Register a class with `tree_flatten` and the class method `tree_unflatten`; a decorator.

    Examples
    --------
    >>> @jax.tree_util.register_pytree_node_class
    ... class Scaled:
    ...     def __init__(self, x, name):
    ...         self.x, self.name = x, name
    ...     def tree_flatten(self):
    ...         return (self.x,), self.name
    ...     @classmethod
    ...     def tree_unflatten(cls, name, children):
    ...         return cls(*children, name)
    >>> jax.tree.structure(Scaled(1.0, "half"))
    PyTreeDef(CustomNode(Scaled[half], [*]))
    """
    register(cls, lambda value: value.tree_flatten(), cls.tree_unflatten)
    return cls


def register_pytree_with_keys(
    nodetype: type,
    flatten_with_keys: Callable[[Any], Any],
    unflatten_func: Callable[[Any, Any], Any],
    flatten_func: Callable[[Any], Any] | None = None,
) -> None:
    """Like `register_pytree_node`, but with a function that returns pairs of a key and a child."""

    def apart(value) -> tuple[Iterable[Any], Any]:
        pairs, data = flatten_with_keys(value)
        return [child for _, child in pairs], data

    register(
        nodetype,
        apart if flatten_func is None else flatten_func,
        unflatten_func,
        lambda value, count: [key for key, _ in flatten_with_keys(value)[0]],
    )


def register_pytree_with_keys_class(cls) -> Any:
    """Register a class with `tree_flatten_with_keys` and `tree_unflatten`; a decorator."""
    register_pytree_with_keys(
        cls,
        lambda value: value.tree_flatten_with_keys(),
        cls.tree_unflatten,
        (lambda value: value.tree_flatten()) if hasattr(cls, "tree_flatten") else None,
    )
    return cls


def register_dataclass(
    nodetype,
    data_fields: Sequence[str] | None = None,
    meta_fields: Sequence[str] | None = None,
    drop_fields: Sequence[str] = (),
) -> Any:
    """Register a dataclass as a pytree container; also a decorator.

    Parameters
    ----------
    nodetype : type. The class.
    data_fields, meta_fields : sequence of str, optional. The fields that are children, and those
        that are metadata. By default, fields whose ``metadata`` has ``static=True`` are metadata.

    Raises
    ------
    ValueError: If the fields do not match the class.

    Examples
    --------
    >>> import dataclasses
    >>> @jax.tree_util.register_dataclass
    ... @dataclasses.dataclass
    ... class Layer:
    ...     w: float
    ...     name: str = dataclasses.field(default="", metadata={"static": True})
    >>> jax.tree.map(lambda x: 2 * x, Layer(1.0, "first"))
    Layer(w=2.0, name='first')
    """
    if (data_fields is None) != (meta_fields is None):
        raise refusal(TypeError, "register_dataclass: data_fields and", data_fields, meta_fields)
    if data_fields is None or meta_fields is None:
        if not dataclasses.is_dataclass(nodetype):
            raise TypeError(
                "register_dataclass: data_fields and meta_fields are required when nodetype is "
                f"not a dataclass. Got nodetype={nodetype}."
            )
        fields = [field for field in dataclasses.fields(nodetype) if field.init]
        data_fields = [f.name for f in fields if not f.metadata.get("static", False)]
        meta_fields = [f.name for f in fields if f.metadata.get("static", False)]
    data, meta = tuple(data_fields), tuple(meta_fields)
    if dataclasses.is_dataclass(nodetype):
        known = {field.name for field in dataclasses.fields(nodetype) if field.init}
        named = {*data, *meta}
        what = "data_fields and meta_fields must include all dataclass fields with init=True"
        if missing := known - named - set(drop_fields):
            raise ValueError(f"{what}. Missing fields: {missing}. Add them to drop_fields to drop.")
        if named - known:
            raise ValueError(f"{what} and only those. Unexpected fields: {named - known}.")

    def together(metadata, children) -> Any:
        return nodetype(
            **dict(zip(meta, metadata, strict=True)), **dict(zip(data, children, strict=True))
        )

    register(
        nodetype,
        lambda value: (
            [getattr(value, name) for name in data],
            tuple(getattr(value, name) for name in meta),
        ),
        together,
        lambda value, count: [GetAttrKey(name) for name in data],
    )
    return nodetype


def register_static(cls) -> Any:
    """Register a class whose instances are containers without children; a decorator."""
    register(cls, lambda value: ((), value), lambda data, parts: data)
    return cls


class _Whole:
    """A wrapper of a `functools.partial` that keeps its arguments; equal if the partials are."""

    def __init__(self, function: functools.partial) -> None:
        self.function = function

    def __call__(self, *args, **kwargs) -> Any:
        return self.function(*args, **kwargs)

    def __eq__(self, other: object) -> bool:
        return self.function == (other.function if isinstance(other, _Whole) else other)

    def __hash__(self) -> int:
        return hash(self.function)

    def __repr__(self) -> str:
        return repr(self.function)


class Partial(functools.partial):
    """A `functools.partial` that is a pytree container: its arguments are the children.

    Examples
    --------
    >>> jax.tree.leaves(jax.tree_util.Partial(max, 1, 2))
    [1, 2]
    """

    def __new__(cls, func, /, *args, **kwargs) -> Any:
        """Build one; if `func` is itself a `functools.partial`, its arguments are not children."""
        inside = isinstance(func, functools.partial) and not isinstance(func, cls)
        return super().__new__(cls, _Whole(func) if inside else func, *args, **kwargs)


register_pytree_with_keys(
    Partial,
    lambda value: (
        ((GetAttrKey("args"), value.args), (GetAttrKey("keywords"), value.keywords)),
        value.func,
    ),
    lambda func, parts: Partial(func, *parts[0], **parts[1]),
)

_OTHERS = "DictKey FlattenedIndexKey GetAttrKey KeyEntry KeyPath PyTreeDef SequenceKey"
__all__ = [*defined(globals()), *_OTHERS.split()]
