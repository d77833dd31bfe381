"""Layer 8 · utils: nested containers under torch.utils._pytree's names.

None is a leaf, and dictionaries keep their order. Instances of a user's class are flattened if the
class is registered.
"""

from __future__ import annotations

import json
from collections import OrderedDict, defaultdict, deque, namedtuple
from collections.abc import Callable, Iterable
from dataclasses import fields, is_dataclass
from typing import Any, NamedTuple

from wengert.base.containers import NODES
from wengert.base.elsewhere import elsewhere
from wengert.base.patches import PATCHES
from wengert.base.size import Size
from wengert.ops.return_types import Results

__all__ = [
    "GetAttrKey",
    "LeafSpec",
    "MappingKey",
    "SequenceKey",
    "TreeSpec",
    "is_namedtuple",
    "is_namedtuple_class",
    "key_get",
    "keystr",
    "register_constant",
    "register_dataclass",
    "register_pytree_node",
    "tree_all",
    "tree_any",
    "tree_flatten",
    "tree_flatten_with_path",
    "tree_iter",
    "tree_leaves",
    "tree_map",
    "tree_map_",
    "tree_map_only",
    "tree_map_with_path",
    "tree_structure",
    "tree_unflatten",
    "treespec_dumps",
    "treespec_loads",
    "treespec_pprint",
]

__getattr__ = elsewhere(__name__)  # PyTorch has more here


class MappingKey(NamedTuple):
    """The key of a dictionary entry."""

    key: Any

    def __str__(self) -> str:
        return f"[{self.key!r}]"

    def get(self, mapping: Any) -> Any:
        """Return the entry."""
        return mapping[self.key]


class SequenceKey(NamedTuple):
    """The index of an entry of a list or tuple."""

    idx: int

    def __str__(self) -> str:
        return f"[{self.idx!r}]"

    def get(self, sequence: Any) -> Any:
        """Return the entry."""
        return sequence[self.idx]


class GetAttrKey(NamedTuple):
    """The name of an attribute."""

    name: str

    def __str__(self) -> str:
        return f".{self.name}"

    def get(self, obj: Any) -> Any:
        """Return the attribute."""
        return getattr(obj, self.name)


class NodeDef(NamedTuple):
    """The functions that flatten and rebuild containers of one class."""

    type: Any
    flatten_fn: Callable[[Any], tuple[list[Any], Any]]
    unflatten_fn: Callable[[Iterable[Any], Any], Any]
    flatten_with_keys_fn: Callable[[Any], tuple[list[Any], Any]] | None


SUPPORTED_NODES: dict[Any, NodeDef] = {}
SUPPORTED_SERIALIZED_TYPES: dict[Any, tuple[str, Any, Any]] = {}
"""The names of classes in JSON, and the functions that write and read their contexts."""


class TreeSpec:
    """The structure of a tree without its leaves.

    Attributes
    ----------
    type, context : the class of the outermost container, and what rebuilds it from its parts.
    children_specs : list of TreeSpec. The structures of its parts.
    num_nodes, num_leaves, num_children : int.
    """

    __slots__ = ("children_specs", "context", "num_leaves", "num_nodes", "type")

    def __init__(self, type: Any, context: Any, children_specs: list[TreeSpec]) -> None:
        self.type, self.context, self.children_specs = type, context, children_specs
        leaf = type is None
        self.num_nodes: int = 1 + sum(spec.num_nodes for spec in children_specs)
        self.num_leaves: int = 1 if leaf else sum(spec.num_leaves for spec in children_specs)

    @property
    def num_children(self) -> int:
        """The number of parts of the outermost container."""
        return len(self.children_specs)

    def is_leaf(self) -> bool:
        """Return whether this is the structure of a leaf."""
        return self.type is None

    def children(self) -> list[TreeSpec]:
        """Return the structures of the parts."""
        return list(self.children_specs)

    def child(self, index: int) -> TreeSpec:
        """Return the structure of one part."""
        return self.children_specs[index]

    def unflatten(self, leaves: Iterable[Any]) -> Any:
        """Build the tree of this structure with these leaves."""
        leaves = list(leaves)
        if len(leaves) != self.num_leaves:
            raise ValueError(
                f"treespec.unflatten(leaves): `leaves` has length {len(leaves)} but the spec "
                f"refers to a pytree that holds {self.num_leaves} items ({self})."
            )
        return self._made(iter(leaves))

    def _made(self, leaves: Any) -> Any:
        if self.type is None:
            return next(leaves)
        parts = [spec._made(leaves) for spec in self.children_specs]
        return SUPPORTED_NODES[self.type].unflatten_fn(parts, self.context)

    def flatten_up_to(self, tree: Any) -> list[Any]:
        """Return the subtrees of `tree` at the leaves of this structure."""
        if self.type is None:
            return [tree]
        if _kind(tree) != self.type:
            raise ValueError(f"Type mismatch; expected {self.type!r}, but got {type(tree)!r}.")
        parts, context = SUPPORTED_NODES[self.type].flatten_fn(tree)
        if isinstance(tree, dict):
            if set(tree) != set(_keys_of(self.context)):
                raise ValueError(
                    f"Node keys mismatch; expected {list(_keys_of(self.context))!r}, but got "
                    f"{list(tree)!r}."
                )
            parts = [tree[key] for key in _keys_of(self.context)]
        elif len(parts) != self.num_children:
            raise ValueError(
                f"Node arity mismatch; expected {self.num_children}, but got {len(parts)}."
            )
        elif context != self.context and self.type not in (deque,):
            raise ValueError(f"Node context mismatch for custom node type {self.type!r}.")
        return [
            leaf
            for spec, part in zip(self.children_specs, parts, strict=True)
            for leaf in spec.flatten_up_to(part)
        ]

    def __eq__(self, other: object) -> bool:
        return isinstance(other, TreeSpec) and (self.type, self.context, self.children_specs) == (
            other.type,
            other.context,
            other.children_specs,
        )

    def __hash__(self) -> int:
        # contexts may be lists
        return hash((self.type, repr(self.context), tuple(self.children_specs)))

    def __repr__(self, indent: int = 0) -> str:
        if self.type is None:
            return "*"
        before = f"TreeSpec({self.type.__name__}, {self.context}, ["
        inner = indent + 2
        parts = [spec.__repr__(inner) for spec in self.children_specs]
        text = parts[0] if parts else ""
        text += "".join(f",\n{' ' * inner}{part}" for part in parts[1:])
        return f"{before}{text}])"


class LeafSpec(TreeSpec):
    """The structure of a leaf."""

    __slots__ = ()

    def __init__(self) -> None:
        super().__init__(None, None, [])


_LEAF = LeafSpec()


def _keys_of(context: Any) -> Any:
    """Return the keys in a dictionary's context."""
    return context[1] if isinstance(context, list) and context[:1] == [_FACTORY] else context


_FACTORY = "default_factory"


def register_pytree_node(
    cls: Any,
    flatten_fn: Callable[[Any], tuple[Any, Any]],
    unflatten_fn: Callable[[Any, Any], Any],
    *,
    serialized_type_name: str | None = None,
    to_dumpable_context: Any = None,
    from_dumpable_context: Any = None,
    flatten_with_keys_fn: Any = None,
) -> None:
    """Register a class as a container, whose instances are flattened.

    Parameters
    ----------
    cls : class.
    flatten_fn : callable. Returns the parts of an instance, and a context for rebuilding it.
    unflatten_fn : callable. Builds an instance from parts and context.
    flatten_with_keys_fn : callable, optional. Like `flatten_fn`, but returns ``(key, part)`` pairs.
    serialized_type_name : str, optional. The name of the class in JSON (see `treespec_dumps`).
    to_dumpable_context, from_dumpable_context : callable, optional. Make something that JSON can
        hold of a context, and a context of that; default: JSON's text for the context.
    """
    if cls in SUPPORTED_NODES:
        raise ValueError(f"{cls} is already registered as pytree node.")
    if serialized_type_name is not None:
        rules = to_dumpable_context or json.dumps, from_dumpable_context or json.loads
        SUPPORTED_SERIALIZED_TYPES[cls] = serialized_type_name, *rules
    SUPPORTED_NODES[cls] = NodeDef(cls, flatten_fn, unflatten_fn, flatten_with_keys_fn)
    NODES[cls] = flatten_fn, unflatten_fn
    PATCHES.registered(flatten_fn)


_register_pytree_node = _private_register_pytree_node = register_pytree_node


def _deregister_pytree_node(cls: Any) -> None:
    """Unregister a class: its instances become leaves again."""
    del NODES[cls]
    SUPPORTED_SERIALIZED_TYPES.pop(cls, None)
    PATCHES.registered(SUPPORTED_NODES.pop(cls).flatten_fn)


def register_dataclass(
    cls: Any,
    *,
    field_names: list[str] | None = None,
    drop_field_names: list[str] | None = None,
    serialized_type_name: str | None = None,
) -> None:
    """Register a dataclass as a container of its fields."""
    if field_names is None:
        if not is_dataclass(cls):
            raise ValueError(f"field_names must be specified with a list of all fields of {cls}")
        dropped = set(drop_field_names or ())
        field_names = [f.name for f in fields(cls) if f.init and f.name not in dropped]
    names = list(field_names)

    def taken(obj: Any) -> Any:
        return [getattr(obj, name) for name in names], list(names)

    def keyed(obj: Any) -> Any:
        return [(GetAttrKey(name), getattr(obj, name)) for name in names], list(names)

    def made(parts: Any, context: Any) -> Any:
        return cls(**dict(zip(context, parts, strict=True)))

    register_pytree_node(
        cls, taken, made, flatten_with_keys_fn=keyed, serialized_type_name=serialized_type_name
    )


def register_constant(cls: Any) -> None:
    """Register a class whose instances belong to the structure instead of being leaves."""
    register_pytree_node(
        cls, lambda value: ([], value), lambda _, value: value, flatten_with_keys_fn=None
    )


def is_namedtuple_class(cls: Any) -> bool:
    """Return whether a class is a named tuple."""
    return isinstance(cls, type) and issubclass(cls, tuple) and hasattr(cls, "_fields")


def is_namedtuple(obj: Any) -> bool:
    """Return whether a value, or a class, is a named tuple."""
    return is_namedtuple_class(obj if isinstance(obj, type) else type(obj))


def is_structseq_instance(obj: Any) -> bool:
    """Return whether a value is a named result of ours or of Python, as `time.localtime()` is."""
    return isinstance(obj, Results) or (
        type(obj).__bases__ == (tuple,) and isinstance(getattr(obj, "n_unnamed_fields", None), int)
    )


def _of_dictionary(kind: Any) -> Callable[[Any, Any], Any]:
    return lambda parts, context: kind(zip(context, parts, strict=True))


def _sequence_keys(value: Any) -> Any:
    parts, context = SUPPORTED_NODES[_kind(value)].flatten_fn(value)
    return [(SequenceKey(i), part) for i, part in enumerate(parts)], context


def _mapping_keys(value: Any) -> Any:
    parts, context = SUPPORTED_NODES[_kind(value)].flatten_fn(value)
    return list(zip(map(MappingKey, value), parts, strict=True)), context


def _entry_keys(value: Any) -> Any:
    return list(zip(map(GetAttrKey, value.__match_args__), value, strict=True)), type(value)


for _cls, _node in {
    tuple: (lambda t: (list(t), None), lambda parts, _: tuple(parts), _sequence_keys),
    list: (lambda x: (x, None), lambda parts, _: list(parts), _sequence_keys),
    Size: (lambda t: (list(t), None), lambda parts, _: tuple(parts), _sequence_keys),
    dict: (lambda d: (list(d.values()), list(d)), _of_dictionary(dict), _mapping_keys),
    OrderedDict: (
        lambda d: (list(d.values()), list(d)),
        _of_dictionary(OrderedDict),
        _mapping_keys,
    ),
    defaultdict: (
        lambda d: (list(d.values()), [d.default_factory, list(d)]),
        lambda parts, context: defaultdict(context[0], zip(context[1], parts, strict=True)),
        _mapping_keys,
    ),
    deque: (
        lambda d: (list(d), d.maxlen),
        lambda parts, maxlen: deque(parts, maxlen=maxlen),
        _sequence_keys,
    ),
    namedtuple: (lambda t: (list(t), type(t)), lambda parts, kind: kind(*parts), _entry_keys),
    Results: (lambda t: (list(t), type(t)), lambda parts, kind: kind(parts), _entry_keys),
}.items():
    SUPPORTED_NODES[_cls] = NodeDef(_cls, *_node)
for _cls in (tuple, list, Size, dict, OrderedDict, deque):
    _name = "torch.Size" if _cls is Size else f"{_cls.__module__}.{_cls.__qualname__}"
    SUPPORTED_SERIALIZED_TYPES[_cls] = _name, json.dumps, json.loads


PyTree = Context = Any
_, _dict_flatten, _dict_unflatten, _dict_flatten_with_keys = SUPPORTED_NODES[dict]
_, _list_flatten, _list_unflatten, _list_flatten_with_keys = SUPPORTED_NODES[list]
_, _tuple_flatten, _tuple_unflatten, _tuple_flatten_with_keys = SUPPORTED_NODES[tuple]
_, _namedtuple_flatten, _namedtuple_unflatten, _ = SUPPORTED_NODES[namedtuple]


def _kind(tree: Any) -> Any:
    """Return the key under which a tree is registered; its class if it is not."""
    kind = type(tree)
    if kind in SUPPORTED_NODES or not issubclass(kind, tuple):
        return kind
    return (
        Results if issubclass(kind, Results) else namedtuple if hasattr(kind, "_fields") else kind
    )


IsLeaf = Callable[[Any], bool] | None


_get_node_type = _kind


def _walk(tree: Any, leaves: list[Any], is_leaf: IsLeaf) -> TreeSpec:
    kind = _kind(tree)
    if kind not in SUPPORTED_NODES or (is_leaf is not None and is_leaf(tree)):
        leaves.append(tree)
        return _LEAF
    parts, context = SUPPORTED_NODES[kind].flatten_fn(tree)
    return TreeSpec(kind, context, [_walk(part, leaves, is_leaf) for part in parts])


def tree_is_leaf(tree: Any, is_leaf: IsLeaf = None) -> bool:
    """Return whether a value is a leaf."""
    return _kind(tree) not in SUPPORTED_NODES or (is_leaf is not None and bool(is_leaf(tree)))


def tree_flatten(tree: Any, is_leaf: IsLeaf = None) -> tuple[list[Any], TreeSpec]:
    """Flatten nested containers into their leaves and their structure.

    Examples
    --------
    >>> from wengert.utils import _pytree as pytree
    >>> leaves, structure = pytree.tree_flatten({"a": (1, 2), "b": None})
    >>> leaves
    [1, 2, None]
    >>> pytree.tree_unflatten([3, 4, 5], structure)
    {'a': (3, 4), 'b': 5}
    """
    leaves: list[Any] = []
    return leaves, _walk(tree, leaves, is_leaf)


def tree_unflatten(leaves: Iterable[Any], treespec: TreeSpec) -> Any:
    """Build the tree of a structure with other leaves."""
    if not isinstance(treespec, TreeSpec):
        raise TypeError(
            "Expected `treespec` to be an instance of TreeSpec but got item of type "
            f"{type(treespec)}"
        )
    return treespec.unflatten(leaves)


def tree_leaves(tree: Any, is_leaf: IsLeaf = None) -> list[Any]:
    """Return the leaves."""
    return tree_flatten(tree, is_leaf)[0]


def tree_iter(tree: Any, is_leaf: IsLeaf = None) -> Any:
    """Iterate over the leaves."""
    return iter(tree_leaves(tree, is_leaf))


def tree_structure(tree: Any, is_leaf: IsLeaf = None) -> TreeSpec:
    """Return the structure."""
    return tree_flatten(tree, is_leaf)[1]


def tree_map(func: Callable[..., Any], tree: Any, *rests: Any, is_leaf: IsLeaf = None) -> Any:
    """Apply `func` to the leaves of `tree` and of `rests`; return the new tree."""
    leaves, spec = tree_flatten(tree, is_leaf)
    columns = [leaves, *(spec.flatten_up_to(rest) for rest in rests)]
    return spec.unflatten([func(*row) for row in zip(*columns, strict=True)])


def tree_map_(func: Callable[..., Any], tree: Any, *rests: Any, is_leaf: IsLeaf = None) -> Any:
    """Call `func` on the leaves and return the tree itself."""
    tree_map(func, tree, *rests, is_leaf=is_leaf)
    return tree


def map_only(kinds: Any, /) -> Callable[[Callable[[Any], Any]], Callable[[Any], Any]]:
    """Return a decorator of functions that should apply to leaves of some classes only."""
    chosen = kinds if not isinstance(kinds, type) and callable(kinds) else None

    def only(func: Callable[[Any], Any]) -> Callable[[Any], Any]:
        def applied(x: Any) -> Any:
            return func(x) if (chosen(x) if chosen else isinstance(x, kinds)) else x

        return applied

    return only


def tree_map_only(kinds: Any, func: Callable[[Any], Any], tree: Any, is_leaf: IsLeaf = None) -> Any:
    """Apply `tree_map` to the leaves of some classes; the others stay."""
    return tree_map(map_only(kinds)(func), tree, is_leaf=is_leaf)


def tree_map_only_(
    kinds: Any, func: Callable[[Any], Any], tree: Any, is_leaf: IsLeaf = None
) -> Any:
    """Apply `tree_map_` to the leaves of some classes."""
    return tree_map_(map_only(kinds)(func), tree, is_leaf=is_leaf)


def tree_all(pred: Callable[[Any], bool], tree: Any, is_leaf: IsLeaf = None) -> bool:
    """Return whether a predicate holds for all leaves."""
    return all(map(pred, tree_iter(tree, is_leaf)))


def tree_any(pred: Callable[[Any], bool], tree: Any, is_leaf: IsLeaf = None) -> bool:
    """Return whether a predicate holds for at least one leaf."""
    return any(map(pred, tree_iter(tree, is_leaf)))


def tree_all_only(kinds: Any, pred: Any, tree: Any, is_leaf: IsLeaf = None) -> bool:
    """Return whether a predicate holds for all leaves of some classes."""
    return all(pred(x) for x in tree_iter(tree, is_leaf) if isinstance(x, kinds))


def tree_any_only(kinds: Any, pred: Any, tree: Any, is_leaf: IsLeaf = None) -> bool:
    """Return whether a predicate holds for at least one leaf of some classes."""
    return any(pred(x) for x in tree_iter(tree, is_leaf) if isinstance(x, kinds))


def _paths(tree: Any, path: tuple[Any, ...], is_leaf: IsLeaf) -> Any:
    kind = _kind(tree)
    if kind not in SUPPORTED_NODES or (is_leaf is not None and is_leaf(tree)):
        yield path, tree
        return
    keyed = SUPPORTED_NODES[kind].flatten_with_keys_fn
    if keyed is None:
        raise ValueError(
            f"Did not find a flatten_with_keys_fn for type: {kind}. Please pass one to "
            "register_pytree_node."
        )
    for key, part in keyed(tree)[0]:
        yield from _paths(part, (*path, key), is_leaf)


def tree_flatten_with_path(tree: Any, is_leaf: IsLeaf = None) -> tuple[list[Any], TreeSpec]:
    """Return the leaves with their paths, and the structure.

    Examples
    --------
    >>> from wengert.utils import _pytree as pytree
    >>> pairs, _ = pytree.tree_flatten_with_path({"a": [1, 2]})
    >>> [(pytree.keystr(path), leaf) for path, leaf in pairs]
    [("['a'][0]", 1), ("['a'][1]", 2)]
    """
    return list(_paths(tree, (), is_leaf)), tree_structure(tree, is_leaf)


def tree_leaves_with_path(tree: Any, is_leaf: IsLeaf = None) -> list[Any]:
    """Return the leaves with their paths."""
    return list(_paths(tree, (), is_leaf))


def tree_map_with_path(
    func: Callable[..., Any], tree: Any, *rests: Any, is_leaf: IsLeaf = None
) -> Any:
    """Apply `tree_map` with a function that gets the path of the leaf as first argument."""
    pairs, spec = tree_flatten_with_path(tree, is_leaf)
    rows = zip(*(spec.flatten_up_to(rest) for rest in rests), strict=True)
    others = list(rows) if rests else [()] * len(pairs)
    return spec.unflatten(
        [func(path, leaf, *more) for (path, leaf), more in zip(pairs, others, strict=True)]
    )


def keystr(kp: Iterable[Any]) -> str:
    """Format a path as Python code."""
    return "".join(map(str, kp))


def key_get(obj: Any, kp: Iterable[Any]) -> Any:
    """Return the value at a path."""
    for key in kp:
        obj = key.get(obj)
    return obj


def treespec_pprint(treespec: TreeSpec) -> str:
    """Format the structure as a tree of stars."""
    return repr(treespec.unflatten([_Star()] * treespec.num_leaves))


def treespec_dumps(treespec: TreeSpec, protocol: int | None = None) -> str:
    """Write a structure as JSON, in the form that PyTorch reads.

    Raises
    ------
    NotImplementedError: If a class was registered without a ``serialized_type_name``.

    Examples
    --------
    >>> from wengert.utils import _pytree as pytree
    >>> text = pytree.treespec_dumps(pytree.tree_structure([1, (2,)]))
    >>> pytree.treespec_loads(text)
    TreeSpec(list, None, [*,
      TreeSpec(tuple, None, [*])])
    """
    _check_protocol(1 if protocol is None else protocol)
    return json.dumps([1, _schema_of(treespec)])


def _schema_of(spec: TreeSpec) -> dict[str, Any]:
    name = context = None
    if spec.type is not None:
        if spec.type not in SUPPORTED_SERIALIZED_TYPES:
            raise NotImplementedError(
                f"No registered serialization name for {spec.type} found. Please update your "
                "_register_pytree_node call with a `serialized_type_name` kwarg."
            )
        name, dump, _ = SUPPORTED_SERIALIZED_TYPES[spec.type]
        context = dump(spec.context)
    parts = [*map(_schema_of, spec.children_specs)]
    return {"type": name, "context": context, "children_spec": parts}


def _check_protocol(protocol: Any) -> None:
    if protocol != 1:
        raise ValueError(f"Unknown protocol {protocol}. Available protocols: [1]")


def treespec_loads(serialized: str) -> TreeSpec:
    """Return the structure that `treespec_dumps` wrote, here or in PyTorch."""
    protocol, schema = json.loads(serialized)
    _check_protocol(protocol)
    return _spec_of(schema)


def _spec_of(schema: dict[str, Any]) -> TreeSpec:
    if schema["type"] is None:
        return _LEAF
    parts = [*map(_spec_of, schema["children_spec"])]
    for cls, (name, _, load) in SUPPORTED_SERIALIZED_TYPES.items():
        if name == schema["type"]:
            return TreeSpec(cls, load(schema["context"]), parts)
    raise NotImplementedError(f"Deserializing {schema['type']} in pytree is not registered.")


class _Star:
    def __repr__(self) -> str:
        return "*"
