"""Layer 9 · viz: a recorded graph as numbered vertices, with the known facts about their values.

Graphs may have millions of nodes. So nothing here recurses, and work beyond one step per node is
done only for the requested vertices.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from wengert.autograd.function import FunctionNode
from wengert.base.containers import by_name
from wengert.tape.base import FREED, LEAF, OutputEdge, TensorBase, version_of
from wengert.tape.node import Node, Unrecorded, edge_of
from wengert.tape.rules import is_diagonal
from wengert.viz.reading import held_values, shapes_of_arguments

Key = tuple[int, int]
"""One output of a vertex: the numbers of both."""


def is_recorded(tensor: Any) -> bool:
    """Return whether `tensor` has a history."""
    return tensor._edge is not None and tensor._edge.__class__ is not Unrecorded


def results_of(y: Any, function: str) -> list[Any]:
    """Return the requested tensors; a TypeError names `function` if `y` holds anything else."""
    outputs = list(y) if isinstance(y, tuple | list) else [y]
    for i, output in enumerate(outputs):
        if not isinstance(output, TensorBase):
            place = f"[{i}]" if isinstance(y, tuple | list) else ""
            raise TypeError(
                f"{function}(): y{place} must be a Tensor or a tuple of Tensors, not "
                f"{type(output).__name__}; for a function use dependency_graph(f, *args)"
            )
    if not outputs:
        raise TypeError(f"{function}(): y must be a Tensor or a tuple of Tensors, but is empty")
    return outputs


def named(params: Any, function: str) -> dict[str, Any]:
    """Return names for tensors, from any of the forms of `params`.

    Parameters
    ----------
    params: None, a mapping from names to tensors, a dataclass, an object with `named_parameters`,
        or a sequence of tensors, which are called ``param0``, ``param1``, ... .
    function: The calling function, for messages.

    Raises
    ------
    TypeError: For anything else.
    """
    if params is None:
        return {}
    params = by_name(params)
    listing = getattr(params, "named_parameters", None)
    if callable(listing):
        pairs = list(listing())
    elif isinstance(params, Mapping):
        pairs = list(params.items())
    elif isinstance(params, list | tuple):
        pairs = [(f"param{i}", tensor) for i, tensor in enumerate(params)]
    else:
        raise TypeError(
            f"{function}(): params must be a dict from names to Tensors, a list of Tensors or an "
            f"object with named_parameters(), not {type(params).__name__}"
        )
    for name, tensor in pairs:
        if not isinstance(tensor, TensorBase):
            raise TypeError(
                f"{function}(): params[{name!r}] must be a Tensor, not {type(tensor).__name__}"
            )
    return {str(name): tensor for name, tensor in pairs}


def works_by_element(prim: Any) -> bool:
    """Return whether each element of the result depends on one element of each argument."""
    linear = prim.family == "linear" and bool(prim.broadcasts)
    return not prim.variadic and (linear or is_diagonal(prim))


class Graph:
    """The graph that a backward pass from `outputs` walks, with vertices in recording order.

    Attributes
    ----------
    nodes: The nodes, the oldest first; their numbers are their places.
    leaves: The leaves, in the order in which nodes use them; their numbers follow.
    starts, sources: The arguments of node i are the vertices
        ``sources[starts[i] : starts[i + 1]]``.
    outputs: The tensors whose graph it is.
    roots: For each output, the vertex that made it and its output number; None if it was not
        recorded.
    """

    def __init__(self, outputs: Sequence[Any]) -> None:
        self.outputs = list(outputs)
        starts = [edge_of(t) if is_recorded(t) else None for t in outputs]
        met: set[Any] = set()
        stack = [_target(edge) for edge in starts if edge is not None]
        while stack:
            node = stack.pop()
            if node in met or node._seq > 0:
                continue
            met.add(node)
            stack += [
                _target(e) for e in node.edges if e is not None and e.__class__ is not Unrecorded
            ]
        self.nodes: list[Any] = sorted(met, key=_age)
        self.number: dict[Any, int] = {node: i for i, node in enumerate(self.nodes)}
        self.leaves: list[Any] = []
        # flat, since a million small lists would keep the garbage collector busy
        self.starts, self.sources = array("q", [0]), array("q")
        self._outs, self._places = array("q"), array("q")
        for node in self.nodes:
            self._add_inputs(node)
        self.roots = [None if edge is None else self._key(edge) for edge in starts]

    def _add_inputs(self, node: Any) -> None:
        number = self.number
        for place, edge in enumerate(node.edges):
            if edge is None:
                continue
            vertex = number.get(edge)
            if vertex is not None:
                out = 0
            elif edge.__class__ is Unrecorded:
                continue
            else:
                vertex, out = self._key(edge)
            self.sources.append(vertex)
            self._outs.append(out)
            self._places.append(place)
        self.starts.append(len(self.sources))

    def inputs(self, i: int) -> list[tuple[int, int, int]]:
        """Return the arguments of node `i`: vertex, its output number, and index of the edge."""
        if self.is_leaf(i):
            return []
        part = slice(self.starts[i], self.starts[i + 1])
        return list(zip(self.sources[part], self._outs[part], self._places[part], strict=True))

    def _key(self, edge: Any) -> Key:
        target = edge.node if edge._seq == 0 else edge
        number = self.number.get(target)
        if number is None:
            number = self.number[target] = len(self.nodes) + len(self.leaves)
            self.leaves.append(target)
        return number, edge.index if edge._seq == 0 else 0

    def key_of(self, tensor: Any) -> Key | None:
        """Return the vertex and output number of `tensor`, if it is in the graph."""
        edge = tensor if tensor._edge is None else edge_of(tensor)
        index = 0
        if edge.__class__ is OutputEdge:
            edge, index = edge.node, edge.index
        number = self.number.get(edge)
        return None if number is None else (number, index)

    def is_leaf(self, vertex: int) -> bool:
        """Return whether the vertex is a leaf."""
        return vertex >= len(self.nodes)

    def leaf(self, vertex: int) -> Any:
        """Return the tensor of a vertex that is a leaf."""
        return self.leaves[vertex - len(self.nodes)]

    def size(self) -> int:
        """The number of vertices."""
        return len(self.nodes) + len(self.leaves)


def _target(edge: Any) -> Any:
    return edge.node if edge._seq == 0 else edge


def _age(node: Any) -> int:
    return -int(node._seq)


class Facts:
    """The facts about the values of some vertices that need no computation.

    Attributes
    ----------
    values: Arrays that still exist and are unmodified.
    shapes, dtypes: Also those of freed values, where a node records them.
    tensors: The tensors that hold a known value.
    """

    def __init__(self) -> None:
        self.values: dict[Key, Any] = {}
        self.shapes: dict[Key, tuple[int, ...]] = {}
        self.dtypes: dict[Key, Any] = {}
        self.tensors: dict[Key, Any] = {}

    def learn(self, key: Key, payload: Any) -> None:
        """Learn the value of an output."""
        if not isinstance(payload, np.ndarray | np.generic):
            return  # a value of a transform that may have ended
        self.values.setdefault(key, payload)
        self.shapes.setdefault(key, tuple(payload.shape))
        self.dtypes.setdefault(key, payload.dtype)

    def was_written(self, vertex: int, out: int) -> bool:
        """Return whether the known tensor of an output may have been overwritten."""
        tensor = self.tensors.get((vertex, out))
        return tensor is not None and version_of(tensor) != 0

    def learn_tensor(self, key: Key, tensor: Any) -> None:
        """Learn the tensor of an output."""
        self.tensors.setdefault(key, tensor)
        self.learn(key, tensor._payload)


def facts_of(graph: Graph, wanted: Iterable[int], tensors: Iterable[Any] = ()) -> Facts:
    """Return the known facts about the vertices `wanted` and the `tensors` in the graph."""
    known = Facts()
    asked = set(wanted)
    for tensor, root in zip(graph.outputs, graph.roots, strict=True):
        if root is not None:
            known.learn_tensor(root, tensor)
    for tensor in tensors:
        key = graph.key_of(tensor)
        if key is not None:
            known.learn_tensor(key, tensor)
    for vertex in asked:
        if graph.is_leaf(vertex):
            known.learn_tensor((vertex, 0), graph.leaf(vertex))
    for i in sorted(asked | _users(graph, asked)):
        if graph.is_leaf(i):
            continue
        _learn_from(graph, i, known)
    inner = sorted(vertex for vertex in asked if not graph.is_leaf(vertex))
    for i in inner:
        _derive_result(graph, i, known)
    for i in reversed(inner):
        _derive_arguments(graph, i, known)
    for i in inner:
        _derive_result(graph, i, known)
    return known


def compute_values(graph: Graph, known: Facts, wanted: Iterable[int]) -> None:
    """Recompute unknown results of simple operations whose arguments are known."""
    for i in sorted(wanted):
        node = None if graph.is_leaf(i) or (i, 0) in known.values else graph.nodes[i]
        prim = getattr(type(node), "prim", None)
        if prim is None or not works_by_element(prim):
            continue
        held = {name: payload for name, payload, _, _ in held_values(node)}
        arguments = [held.get(name) for name in prim.args]
        for vertex, out, place in graph.inputs(i):
            if arguments[place] is None and not known.was_written(vertex, out):
                arguments[place] = known.values.get((vertex, out))
        parameters = all(name in prim.saved for name in prim.params)
        if parameters and not any(argument is None for argument in arguments):
            params = {name: getattr(node, f"p_{name}") for name in prim.params}
            if any(value is FREED for value in params.values()):
                continue
            with np.errstate(all="ignore"):
                known.learn((i, 0), prim.kernel(*arguments, **params))


def _users(graph: Graph, asked: set[int]) -> set[int]:
    """Return the nodes that use one of the vertices `asked`."""
    if not graph.nodes:
        return set()
    sources = np.frombuffer(graph.sources, np.int64)
    starts = np.frombuffer(graph.starts, np.int64)
    chosen = np.zeros(graph.size(), bool)
    chosen[list(asked)] = True
    places = np.flatnonzero(chosen[sources])
    return set((np.searchsorted(starts, places, "right") - 1).tolist())


def _learn_from(graph: Graph, i: int, known: Facts) -> None:
    """Learn the facts that node `i` holds about its outputs and its arguments."""
    node = graph.nodes[i]
    for _, payload, edge, own in held_values(node):
        if own is not None:
            known.learn((i, own), payload)
        elif edge is not None and edge is not LEAF and edge.__class__ is not Unrecorded:
            target = edge.node if edge._seq == 0 else edge
            vertex = graph.number.get(target)
            if vertex is not None:
                known.learn((vertex, edge.index if edge._seq == 0 else 0), payload)
    for index, meta in enumerate(outputs_meta(node)):
        if meta is None:
            continue
        known.shapes.setdefault((i, index), tuple(meta[0]))
        known.dtypes.setdefault((i, index), meta[1])
    ext = node._ext
    for index, reference in ((ext.retained if ext is not None else None) or {}).items():
        tensor = reference()
        if tensor is not None:
            known.learn_tensor((i, index), tensor)
    shapes = shapes_of_arguments(node)
    for vertex, out, place in graph.inputs(i):
        if place < len(shapes) and shapes[place] is not None:
            known.shapes.setdefault((vertex, out), tuple(shapes[place]))


def outputs_meta(node: Any) -> Sequence[tuple[Any, Any] | None]:
    """Return the shape and dtype of each output of a node with several; nothing for other nodes."""
    if isinstance(node, FunctionNode):
        return node._outputs_meta
    return getattr(node, "outputs_meta", ()) if node.several else ()


def _derive_result(graph: Graph, i: int, known: Facts) -> None:
    """Derive the shape of an elementwise operation's result from those of its arguments."""
    node = graph.nodes[i]
    if not _keeps_shape(node):
        return
    prim = node.prim
    if prim.broadcasts and node.shapes is not None:
        known.shapes.setdefault((i, 0), np.broadcast_shapes(*node.shapes))
    for vertex, out, _ in graph.inputs(i):
        if not prim.broadcasts or node.shapes is None:
            _pass_on(known.shapes, (vertex, out), (i, 0))
        _pass_on(known.dtypes, (vertex, out), (i, 0))


def _derive_arguments(graph: Graph, i: int, known: Facts) -> None:
    """Derive the shapes of an elementwise operation's arguments from that of its result."""
    node = graph.nodes[i]
    if not _keeps_shape(node) or (node.prim.broadcasts and node.shapes is not None):
        return
    for vertex, out, _ in graph.inputs(i):
        _pass_on(known.shapes, (i, 0), (vertex, out))


def _keeps_shape(node: Any) -> bool:
    prim = getattr(type(node), "prim", None)
    return prim is not None and works_by_element(prim)


def _pass_on(known: dict[Key, Any], source: Key, target: Key) -> None:
    if source in known:
        known.setdefault(target, known[source])


def bytes_held(node: Any) -> int:
    """Return the bytes of the arrays that `node` saves for the backward pass, each counted once."""
    arrays: dict[int, int] = {}
    for _, payload, _, _ in held_values(node):
        arrays[id(payload)] = payload.nbytes
    return sum(arrays.values())


def constants_held(graph: Graph, i: int) -> Iterator[tuple[str, Any]]:
    """Return the arrays that node `i` saves and that no vertex of the graph made."""
    for name, payload, edge, own in held_values(graph.nodes[i]):
        if own is None and (edge is None or not isinstance(edge, Node | OutputEdge | TensorBase)):
            yield name, payload
