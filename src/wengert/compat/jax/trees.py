"""Layer 9 · compat: JAX's pytrees: flattening and unflattening of nested containers.

NOTE [pytrees]
Containers are lists, tuples, named tuples, dicts (by their sorted keys), OrderedDicts,
defaultdicts, None (which has no children), and registered classes; everything else is a leaf. A
`PyTreeDef` is the structure without the leaves. For every container it stores the type, the
*metadata* (the keys of a dict, the auxiliary data of a registered class) and the structures of the
children.
"""

from __future__ import annotations

import dataclasses
from collections import OrderedDict, defaultdict
from collections.abc import Callable, Hashable, Iterable, Iterator
from typing import Any, NamedTuple

from wengert.base.containers import Structure
from wengert.base.patches import PATCHES
from wengert.compat.jax.words import refusal


@dataclasses.dataclass(frozen=True)
class SequenceKey:
    """The key of an element of a list or tuple."""

    idx: int

    def __str__(self) -> str:
        return f"[{self.idx!r}]"


@dataclasses.dataclass(frozen=True)
class DictKey:
    """The key of an entry of a dict."""

    key: Hashable

    def __str__(self) -> str:
        return f"[{self.key!r}]"


@dataclasses.dataclass(frozen=True)
class GetAttrKey:
    """The key of an attribute."""

    name: str

    def __str__(self) -> str:
        return f".{self.name}"


@dataclasses.dataclass(frozen=True)
class FlattenedIndexKey:
    """The key of a child of a container without keys."""

    key: int

    def __str__(self) -> str:
        return f"[<flat index {self.key}>]"

    def __hash__(self) -> int:
        return hash(str(self))


class Kind(NamedTuple):
    """The functions that flatten and unflatten the containers of one type.

    Attributes
    ----------
    apart: Returns the children and the metadata.
    together: Rebuilds a container from the metadata and the children.
    keys: Returns the keys of the children, from the container and their number.
    """

    apart: Callable[[Any], tuple[Iterable[Any], Any]]
    together: Callable[[Any, Any], Any]
    keys: Callable[[Any, int], list[Any]]


def _indices(value, count: int) -> list[Any]:
    return [SequenceKey(i) for i in range(count)]


def _flat_indices(value, count: int) -> list[Any]:
    return [FlattenedIndexKey(i) for i in range(count)]


def _sorted_keys(value) -> list[Any]:
    try:
        return sorted(value)
    except TypeError as error:
        raise refusal(ValueError, "Comparator raised exception", list(value)) from error


def _dict_apart(value) -> tuple[Iterable[Any], Any]:
    keys = tuple(_sorted_keys(value))
    return [value[key] for key in keys], keys


def _default_apart(value) -> tuple[Iterable[Any], Any]:
    children, keys = _dict_apart(value)
    return children, (value.default_factory, keys)


def _dict_keys(value, count: int) -> list[Any]:
    keys = list(value) if isinstance(value, OrderedDict) else _sorted_keys(value)
    return [DictKey(key) for key in keys]


def _attributes(value, count: int) -> list[Any]:
    return [GetAttrKey(name) for name in value._fields]


_KINDS: dict[type, Kind] = {
    type(None): Kind(lambda value: ((), None), lambda data, parts: None, _indices),
    list: Kind(lambda value: (value, None), lambda data, parts: list(parts), _indices),
    tuple: Kind(lambda value: (value, None), lambda data, parts: tuple(parts), _indices),
    dict: Kind(_dict_apart, lambda data, parts: dict(zip(data, parts, strict=True)), _dict_keys),
    OrderedDict: Kind(
        lambda value: (list(value.values()), tuple(value)),
        lambda data, parts: OrderedDict(zip(data, parts, strict=True)),
        _dict_keys,
    ),
    defaultdict: Kind(
        _default_apart,
        lambda data, parts: defaultdict(data[0], zip(data[1], parts, strict=True)),
        _dict_keys,
    ),
}
_registry = _KINDS
OPAQUE: set[type] = set()
"""Containers that programs see as leaves: random keys, whose words transforms follow."""
_PLAIN = frozenset({type(None), list, tuple, dict})
_NAMED = Kind(lambda value: (value, type(value)), lambda data, parts: data(*parts), _attributes)


def register(
    cls: type,
    apart: Callable[[Any], tuple[Iterable[Any], Any]],
    together: Callable[[Any, Any], Any],
    keys: Callable[[Any, int], list[Any]] = _flat_indices,
) -> None:
    """Register a class as a pytree container.

    Raises
    ------
    ValueError: If the class is registered already.
    """
    if cls in _KINDS:
        raise ValueError(f"Duplicate custom PyTreeDef type registration for {cls}.")
    _KINDS[cls] = Kind(apart, together, keys)
    PATCHES.registered(apart)


def kind_of(value) -> Kind | None:
    """Return the `Kind` that flattens `value`, or None for a leaf."""
    return kind_of_class(value.__class__)


def kind_of_class(cls: type) -> Kind | None:
    """Return the `Kind` that flattens objects of exactly one class, or None for leaves."""
    found = _KINDS.get(cls)
    if found is None and issubclass(cls, tuple) and hasattr(cls, "_fields"):
        return _NAMED
    return found


def children_of(value) -> tuple[list[Any], Any, Kind] | None:
    """Return the children of a container, its metadata and its kind; None for a leaf."""
    kind = kind_of(value)
    if kind is None:
        return None
    both: Any = kind.apart(value)
    wanted = ""
    if isinstance(both, tuple) and len(both) == 2:
        if hasattr(both[0], "__iter__"):
            return list(both[0]), both[1], kind
        wanted = " where 'children' is iterable"
    raise refusal(ValueError, "The to_iterable function", wanted, both)


class PyTreeDef(Structure):
    """The structure of a tree, without its leaves.

    Examples
    --------
    >>> structure = jax.tree.structure([1, {"b": 2, "a": (3,)}, None])
    >>> structure
    PyTreeDef([*, {'a': (*,), 'b': *}, None])
    >>> jax.tree.unflatten(structure, "xyz")
    ['x', {'a': ('y',), 'b': 'z'}, None]
    """

    __slots__ = ("_children", "_data", "_kind", "_type", "num_leaves", "num_nodes")

    def __init__(self, type_, kind: Kind | None, data, children: tuple[PyTreeDef, ...]) -> None:
        self._type = type_
        self._kind = kind
        self._data = data
        self._children = children
        self.num_leaves: int = sum(c.num_leaves for c in children) if kind is not None else 1
        self.num_nodes: int = 1 + sum(c.num_nodes for c in children)

    @property
    def is_plain(self) -> bool:
        """Whether the tree consists only of lists, tuples, dicts and None."""
        own = self._kind in (None, _NAMED) or self._type in _PLAIN
        return own and all(child.is_plain for child in self._children)

    def metadata(self) -> Iterator[Any]:
        """Yield the metadata of each container."""
        yield self._data
        for child in self._children:
            yield from child.metadata()

    def unflatten(self, leaves: Iterable[Any]) -> Any:
        """Return the tree of this structure with these leaves.

        Raises
        ------
        ValueError: If the number of leaves does not match the structure.
        """
        given = list(leaves)
        if len(given) < self.num_leaves:
            raise refusal(ValueError, "Too few leaves for PyTreeDef", self, len(given))
        if len(given) > self.num_leaves:
            raise ValueError(f"Too many leaves for PyTreeDef; expected {self.num_leaves}.")
        return self._made(iter(given))

    def _made(self, leaves: Iterator[Any]) -> Any:
        if self._kind is None:
            return next(leaves)
        return self._kind.together(self._data, [child._made(leaves) for child in self._children])

    def flatten_up_to(self, tree, name: str | None = None) -> list[Any]:
        """Return the subtrees of `tree` at the leaves of this structure, which must be a prefix of
        it.

        Parameters
        ----------
        name : str, optional. The name of the tree, for errors that say where it differs.

        Raises
        ------
        ValueError: If `tree` has another structure.
        """
        found: list[Any] = []
        self._matched(tree, name, found)
        return found

    def _matched(self, tree, path: str | None, found: list[Any]) -> None:
        if self._kind is None:
            found.append(tree)
            return
        there = children_of(tree) if tree.__class__ is self._type else None
        fits = there is not None and self._is_data(there[1])
        if there is None or not fits or len(there[0]) != len(self._children):
            if path is None:
                raise ValueError(self._difference(tree))
            raise self._difference_at(path, tree, there)
        children, _, kind = there
        steps = kind.keys(tree, len(children)) if path is not None else children
        for child, part, step in zip(self._children, children, steps, strict=True):
            child._matched(part, path if path is None else f"{path}{step}", found)

    def _difference(self, tree) -> str:
        """Describe how a container differs from this one."""
        cls, wanted = self._type, self._type.__name__
        if self._kind is _NAMED:
            if not hasattr(tree, "_fields"):
                return f"Expected named tuple, got {tree!r}."
            return (
                f"Named tuple type mismatch: expected type: {cls}, tree is of type: {type(tree)}."
            )
        if cls not in _PLAIN:
            if type(tree) is not cls:
                return f"Custom node type mismatch: expected type: {cls}, value: {tree!r}."
            return f"Mismatch custom node data: {self._data} expected; value: {tree!r}."
        if type(tree) is not cls:
            return f"Expected {'None' if cls is type(None) else wanted}, got {tree!r}."
        if cls is dict:
            return f"Dict key mismatch; expected keys: {list(self._data)}; dict: {tree!r}."
        lengths = f"{len(tree)} != {len(self._children)}"
        return f"{wanted.title()} arity mismatch: {lengths}; {wanted}: {tree!r}."

    def _difference_at(self, path: str, tree, there) -> Exception:
        """Like `_difference`, but with the key path of the container."""
        cls = self._type
        if there is None:
            return refusal(
                ValueError, "pytree structure error: different types", path, cls, type(tree)
            )
        sizes = len(self._children), len(there[0])
        if cls in (list, tuple):
            name = cls.__name__
            return refusal(
                ValueError, "pytree structure error: different lengths", path, name, *sizes
            )
        if sizes[0] == sizes[1]:
            both = self._data, there[1]
            return refusal(ValueError, "pytree structure error: different pytree", path, cls, *both)
        keys = {*self._data} ^ {*tree} if cls is dict else ()
        shown = "".join(f"\n    {key}" for key in keys)
        why = f", so the symmetric difference on key sets is{shown}" if keys else ""
        return refusal(
            ValueError, "pytree structure error: different numbers", path, cls, *sizes, why
        )

    def walk(
        self,
        f_node: Callable[[Any, Any], Any],
        f_leaf: Callable[[Any], Any] | None,
        leaves: Iterable[Any],
    ) -> Any:
        """Call a function on each leaf, and another on each container of results.

        Parameters
        ----------
        f_node : callable. Takes a tuple of the results for the children, and the metadata.
        f_leaf : callable, optional. Takes a leaf; default: return the leaf itself.
        """
        given = iter(leaves)

        def walked(part: PyTreeDef) -> Any:
            if part._kind is None:
                return next(given) if f_leaf is None else f_leaf(next(given))
            parts = tuple([walked(child) for child in part._children])
            return f_node(parts, list(part._data) if part._type is dict else part._data)

        return walked(self)

    def children(self) -> list[PyTreeDef]:
        """Return the structures of the children."""
        return list(self._children)

    def node_data(self) -> Any:
        """Return the type and metadata of the container; None for a leaf."""
        if self._kind is None:
            return None
        data = list(self._data) if self._type is dict else self._data
        return self._type, data

    def compose(self, inner: PyTreeDef) -> PyTreeDef:
        """Return this structure with another one in place of every leaf."""
        if self._kind is None:
            return inner
        parts = tuple(child.compose(inner) for child in self._children)
        return PyTreeDef(self._type, self._kind, self._data, parts)

    def __reduce__(self) -> Any:
        return _structure, (self._type, self._data, self._children)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, PyTreeDef):
            return NotImplemented
        if self._type is not other._type or len(self._children) != len(other._children):
            return False
        return self._is_data(other._data) and self._children == other._children

    def _is_data(self, other) -> bool:
        """Return whether `other` is the metadata of this container."""
        try:
            return self._data is other or bool(self._data == other)
        except Exception as error:
            raise refusal(ValueError, "Exception raised while") from error

    def __hash__(self) -> int:
        return hash((self._type, len(self._children), self._children))

    def _text(self) -> str:
        if self._kind is None:
            return "*"
        parts = [child._text() for child in self._children]
        if self._type is type(None):
            return "None"
        if self._type is list:
            return f"[{', '.join(parts)}]"
        if self._type is tuple:
            return f"({', '.join(parts)}{',' if len(parts) == 1 else ''})"
        if self._type is dict:
            pairs = zip(self._data, parts, strict=True)
            return f"{{{', '.join(f'{key!r}: {part}' for key, part in pairs)}}}"
        name, data = self._type.__name__, self._data
        if self._kind is _NAMED:
            name, data = "namedtuple", self._type.__name__
        return f"CustomNode({name}[{data}], [{', '.join(parts)}])"

    def __repr__(self) -> str:
        return f"PyTreeDef({self._text()})"


LEAF = PyTreeDef(None, None, None, ())


def _structure(type_, data, children: tuple[PyTreeDef, ...]) -> PyTreeDef:
    """Unpickle a structure, in a process where the class is registered too."""
    if type_ is None:
        return LEAF
    kind = kind_of_class(type_)
    if kind is None:
        raise ValueError(f"{type_} is not registered as a pytree node in this process")
    return PyTreeDef(type_, kind, data, children)


def is_opaque(value) -> bool:
    """Return whether programs see a container as a leaf."""
    return type(value) in OPAQUE


def opaque(is_leaf: Callable[..., bool] | None, with_path=False) -> Any:
    """Return `is_leaf`, extended to treat opaque containers as leaves where programs need that."""
    if not OPAQUE:
        return is_leaf
    if is_leaf is None:
        return (lambda path, value: is_opaque(value)) if with_path else is_opaque
    return lambda *value: is_opaque(value[-1]) or is_leaf(*value)


def tree_flatten(tree, is_leaf: Callable[[Any], bool] | None = None) -> tuple[list[Any], PyTreeDef]:
    """Return the leaves of a tree, and its structure.

    Parameters
    ----------
    tree: Nested containers (see NOTE [pytrees]).
    is_leaf : callable, optional. Whether a container counts as a leaf.

    Examples
    --------
    >>> jax.tree.flatten([1, (2, None)])
    ([1, 2], PyTreeDef([*, (*, None)]))
    """
    leaves: list[Any] = []
    return leaves, _flattened(tree, is_leaf, leaves)


def _flattened(tree, is_leaf: Callable[[Any], bool] | None, leaves: list[Any]) -> PyTreeDef:
    there = None if is_leaf is not None and is_leaf(tree) else children_of(tree)
    if there is None:
        leaves.append(tree)
        return LEAF
    children, data, kind = there
    parts = tuple([_flattened(child, is_leaf, leaves) for child in children])
    return PyTreeDef(tree.__class__, kind, data, parts)


def tree_leaves(tree, is_leaf: Callable[[Any], bool] | None = None) -> list[Any]:
    """Return the leaves of a tree.

    Examples
    --------
    >>> jax.tree.leaves({"b": 1, "a": [2, 3]})
    [2, 3, 1]
    """
    return tree_flatten(tree, is_leaf)[0]


def tree_structure(tree, is_leaf: Callable[[Any], bool] | None = None) -> PyTreeDef:
    """Return the structure of a tree.

    Examples
    --------
    >>> jax.tree.structure([1, (2, None)])
    PyTreeDef([*, (*, None)])
    """
    return tree_flatten(tree, is_leaf)[1]


def tree_map(
    f: Callable[..., Any], tree, *rest, is_leaf: Callable[[Any], bool] | None = None
) -> Any:
    """Apply a function to the leaves of a tree.

    Parameters
    ----------
    f : callable. Takes a leaf of `tree`, and the subtree at its position in each of `rest`.
    tree, *rest: Trees; the structure of `tree` is a prefix of the structures of `rest`.
    is_leaf : callable, optional. Whether a container counts as a leaf.

    Raises
    ------
    ValueError: If one of `rest` has another structure.

    Examples
    --------
    >>> jax.tree.map(lambda x, y: x + y, {"a": 1, "b": [2]}, {"a": 10, "b": [20]})
    {'a': 11, 'b': [22]}
    """
    leaves, structure = tree_flatten(tree, is_leaf)
    others = [structure.flatten_up_to(other, "tree_map tree") for other in rest]
    return structure.unflatten([f(*parts) for parts in zip(leaves, *others, strict=True)])


def leaves_with_paths(
    tree, is_leaf: Callable[..., bool] | None, with_path: bool
) -> tuple[list[tuple[tuple[Any, ...], Any]], PyTreeDef]:
    """Return the leaves with their key paths, and the structure."""
    found: list[tuple[tuple[Any, ...], Any]] = []

    def walk(value, path: tuple[Any, ...]) -> PyTreeDef:
        stop = False
        if is_leaf is not None:
            stop = is_leaf(path, value) if with_path else is_leaf(value)
        there = None if stop else children_of(value)
        if there is None:
            found.append((path, value))
            return LEAF
        children, data, kind = there
        steps = kind.keys(value, len(children))
        parts = [walk(c, (*path, step)) for c, step in zip(children, steps, strict=True)]
        return PyTreeDef(value.__class__, kind, data, tuple(parts))

    return found, walk(tree, ())


def differences(one, other, path="") -> Iterator[tuple[str, ...]]:
    """Yield where two trees differ: the path, what is there in each, and why these do not match."""
    parts, others = children_of(one), children_of(other)
    names = [
        "pytree leaf" if part is None else f"{value.__class__}"
        for value, part in ((one, parts), (other, others))
    ]
    if parts is None or others is None or one.__class__ is not other.__class__:
        if names[0] != names[1]:
            yield path, *names, "their Python types differ"
        return
    counts = [len(parts[0]), len(others[0])]
    if counts[0] != counts[1] and type(one) in (list, tuple):
        texts = [f"{type(one).__name__} of length {count}" for count in counts]
        yield path, *texts, "the lengths do not match"
    elif counts[0] != counts[1]:
        texts = [f"{names[0]} with {count} child{'ren'[: 3 * (count != 1)]}" for count in counts]
        keys = f", with the symmetric difference of key sets: { {*one} ^ {*other} }"
        yield path, *texts, f"the numbers of children do not match{keys * (type(one) is dict)}"
    elif parts[1] != others[1]:
        texts = [f"{names[0]} with pytree metadata {part[1]}" for part in (parts, others)]
        yield path, *texts, "the pytree node metadata does not match"
    else:
        steps = parts[2].keys(one, counts[0])
        for step, child, of_other in zip(steps, parts[0], others[0], strict=True):
            yield from differences(child, of_other, f"{path}{step}")


def static_field(*, metadata: dict[str, Any] | None = None, **kwargs) -> Any:
    """Declare a field of a dataclass as metadata (see `jax.tree_util.register_dataclass`)."""
    return dataclasses.field(metadata={**(metadata or {}), "static": True}, **kwargs)
