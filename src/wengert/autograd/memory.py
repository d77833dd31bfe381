"""Layer 7 · autograd: `memory_report` shows what holds memory: graphs, gradients, parameters."""

from __future__ import annotations

import gc
import sys
from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

import numpy as np

from wengert.autograd.memory_text import ArrayRow, GraphRow, OperationRow, RoleRow, text_of
from wengert.base.kept import memory_kept
from wengert.interp.levels import Lifted
from wengert.tape.base import LEAF, NodeBase, OutputEdge, TensorBase
from wengert.tape.node import Node, edge_of
from wengert.tape.saving import Guarded, Packed
from wengert.tape.sites import line_of

_ROLES = ("parameters", "gradients", "saved", "tensors")
# attributes of every node, or covered by edges and shapes
_OWN = frozenset({*NodeBase.__slots__, "__dict__", "shapes"})


class _Memory(NamedTuple):
    """The memory that an array owns; memory shared by several arrays is counted once."""

    array: Any
    role: str
    holder: Any


class MemoryReport:
    """A report on what holds memory, as data; it prints as a table.

    Attributes
    ----------
    nodes, tensors: The numbers of nodes and tensors.
    total: Bytes of all arrays. Arrays that share memory count once, with all the memory that they
        keep alive, even if a view shows only a part of it.
    node_bytes: Bytes of the nodes themselves, without the arrays that they saved.
    kept: Free bytes that the process keeps for the next arrays (`cpu.keep_memory`).
        They are counted if the report is on all live tensors.
    roles: A row for each reason why an array is held: ``"parameters"`` (leaves that require a
        gradient), ``"gradients"`` (the ``.grad`` of some tensor), ``"saved"`` (for a backward
        pass) and ``"tensors"`` (all others). An array with several reasons counts for the first.
    operations: A row for each kind of node: their number, and the memory that only they hold. An
        array that several nodes saved counts for the oldest.
    arrays: A row for each shape and dtype.
    graphs: A row for each output, or for each node without users: the number of nodes that it
        keeps, and their saved bytes; nodes that several keep count for the first.

    See Also
    --------
    memory_report : makes one.
    """

    def __init__(
        self,
        memories: list[_Memory],
        nodes: list[Any],
        tensors: int,
        reached: dict[Any, list[Any]],
        kept: int,
    ) -> None:
        self.nodes = len(nodes)
        self.tensors = tensors
        self.total = sum(memory.array.nbytes for memory in memories)
        self.node_bytes = sum(sys.getsizeof(n) + sys.getsizeof(n.edges) for n in nodes)
        self.kept = kept
        self.roles = tuple(
            RoleRow(role, *_counted(m for m in memories if m.role == role)) for role in _ROLES
        )
        saved: dict[Any, list[_Memory]] = {}
        for memory in memories:
            if memory.role == "saved":
                saved.setdefault(memory.holder, []).append(memory)
        self.operations = _by_operation(nodes, saved)
        self.arrays = _by_shape(memories)
        self.graphs = tuple(
            GraphRow(
                root.label,
                len(found),
                sum(memory.array.nbytes for node in found for memory in saved.get(node, ())),
                line_of(root),
            )
            for root, found in reached.items()
        )

    def as_dict(self) -> dict[str, Any]:
        """Return the report as dictionaries, lists, strings and numbers, for JSON.

        Examples
        --------
        >>> x = wg.ones(4, requires_grad=True)
        >>> wg.memory_report(x * 2).as_dict()["graphs"]
        [{'output': 'MulBackward0', 'nodes': 1, 'bytes': 0, 'recorded_at': ''}]
        """
        rows: dict[str, Any] = {
            name: [row._asdict() for row in getattr(self, name)]
            for name in ("roles", "operations", "arrays", "graphs")
        }
        for row in rows["arrays"]:
            row["shape"] = list(row["shape"])
        counts = ("nodes", "tensors", "total", "node_bytes", "kept")
        return {**{name: getattr(self, name) for name in counts}, **rows}

    def __str__(self) -> str:
        return text_of(self)

    def __repr__(self) -> str:
        return f"<{str(self).partition(chr(10))[0]}>"


def memory_report(*tensors: TensorBase) -> MemoryReport:
    """Report what holds memory: some tensors and their graphs, or everything in this process.

    Parameters
    ----------
    *tensors : Tensor. The tensors to report on, with the saved values of their graphs, the leaves
        of these, and all gradients. Without any, all live tensors and nodes of this process.

    Returns
    -------
    MemoryReport: The report, which prints as a table; see there for its data.

    Raises
    ------
    TypeError: If an argument is not a tensor.

    Notes
    -----
    Nothing is changed, and no hook runs. Values packed by hooks are counted if they are arrays or
    tensors. Within `wengert.autograd.detect_anomaly`, nodes remember where they were recorded, and
    the table says so for each graph.

    Examples
    --------
    >>> x = wg.ones(1000, dtype=wg.float64, requires_grad=True)
    >>> y = (x * x).exp().sum()
    >>> print(wg.memory_report(y))
    3 nodes and 2 tensors hold 16.0 kB in 3 arrays
    <BLANKLINE>
    held as         arrays     bytes
    parameters           1    8.0 kB
    gradients            0       0 B
    saved                1    8.0 kB
    tensors              1       8 B
    <BLANKLINE>
    saved by        nodes  arrays     bytes
    ExpBackward0        1       1    8.0 kB
    MulBackward0        1       0       0 B
    SumBackward0        1       0       0 B
    <BLANKLINE>
    array           arrays     bytes
    float64[1000]        2   16.0 kB
    float64[]            1       8 B
    <BLANKLINE>
    graph of        nodes     saved
    SumBackward0        3    8.0 kB

    The backward pass frees the saved values, and leaves a gradient:

    >>> y.backward()
    >>> [(row.role, row.bytes) for row in wg.memory_report(y).roles]
    [('parameters', 8000), ('gradients', 8000), ('saved', 0), ('tensors', 8)]
    """
    for i, tensor in enumerate(tensors):
        if not isinstance(tensor, TensorBase):
            raise TypeError(
                f"memory_report(): argument {i + 1} must be a Tensor, not {type(tensor).__name__}"
            )
    found: list[Any] = list(dict.fromkeys(tensors))
    if tensors:
        roots = [_node_of(edge_of(tensor)) for tensor in found]
        reached = _reached(roots)
    else:
        # by type: reading `__class__` of a foreign object may run its code
        alive = gc.get_objects()
        found = [value for value in alive if issubclass(type(value), TensorBase)]
        nodes = [v for v in alive if issubclass(type(v), Node) and hasattr(v, "edges")]
        del alive
        inner = {_node_of(edge) for node in nodes for edge in node.edges}
        reached = _reached(node for node in nodes if node not in inner)
    nodes = sorted({node for kept in reached.values() for node in kept}, key=lambda n: -n._seq)
    leaves = [e for node in nodes for e in node.edges if isinstance(e, TensorBase)]
    found = list(dict.fromkeys([*found, *leaves]))
    grads = [t._ext.grad for t in found if t._ext is not None and t._ext.grad is not None]
    memories = list(_memories(found, grads, nodes).values())
    kept = 0 if tensors else memory_kept()
    return MemoryReport(memories, nodes, len({*found, *grads}), reached, kept)


def _node_of(edge: Any) -> Any:
    return edge.node if isinstance(edge, OutputEdge) else edge


def _reached(roots: Iterable[Any]) -> dict[Any, list[Any]]:
    """Return, for each root, the nodes that no root before it keeps; youngest root first."""
    seen: set[Any] = set()
    reached: dict[Any, list[Any]] = {}
    nodes = {root for root in roots if isinstance(root, Node)}
    for root in sorted(nodes, key=lambda node: node._seq):
        stack: list[Any] = [root]
        kept = []
        while stack:
            node = stack.pop()
            if isinstance(node, Node) and node not in seen:
                seen.add(node)
                kept.append(node)
                stack += [_node_of(edge) for edge in node.edges]
        reached[root] = kept
    return reached


def _memories(tensors: list[Any], grads: list[Any], nodes: list[Any]) -> dict[int, _Memory]:
    """Return all memory by the id of the array that owns it, with the first reason to hold it."""
    known: dict[int, _Memory] = {}

    def learn(arrays: Iterator[Any], role: str, holder: Any = None) -> None:
        for array in arrays:
            owner = array
            while isinstance(owner.base, np.ndarray):
                owner = owner.base
            # shown with the tensor's shape, if one tensor covers all of the memory
            whole = array if array.nbytes == owner.nbytes else owner
            known.setdefault(id(owner), _Memory(whole, role, holder))

    for tensor in tensors:
        if tensor._edge is LEAF:
            learn(_arrays(tensor), "parameters")
    for grad in grads:
        learn(_arrays(grad), "gradients")
    for node in nodes:
        learn(_saved(node), "saved", node)
    for tensor in tensors:
        learn(_arrays(tensor), "tensors")
    return known


def _saved(node: Any) -> Iterator[Any]:
    """Return the arrays that a node of any kind saved."""
    names = {
        name
        for cls in type(node).__mro__
        for name in _listed(cls.__dict__.get("__slots__", ()))
        if cls is not Node
    }
    # nodes of compiled modules have descriptors for attributes
    prim = getattr(type(node), "prim", None)
    if prim is not None:
        names |= {f"s_{name}" for name in prim.saved_args} | {"result"}
        names |= {f"p_{name}" for name in prim.params}
    values = [getattr(node, name, None) for name in names - _OWN]
    values += getattr(node, "__dict__", {}).values()
    return _arrays(*values)


def _listed(slots: Any) -> tuple[str, ...]:
    return (slots,) if isinstance(slots, str) else tuple(slots)


def _arrays(*values: Any) -> Iterator[Any]:
    """Yield the arrays in values, tensors, and containers of these."""
    stack = list(values)
    seen: set[int] = set()
    while stack:
        value = stack.pop()
        if isinstance(value, np.ndarray):
            yield value
        elif isinstance(value, np.generic):
            yield np.asarray(value)
        elif id(value) in seen:
            continue
        elif isinstance(value, TensorBase):
            stack.append(value._payload)
        elif isinstance(value, Packed):
            stack.append(value.packed)
        elif isinstance(value, Guarded):
            stack.append(value.values)
        elif isinstance(value, tuple | list | set | frozenset):
            stack += value
        elif isinstance(value, dict):
            stack += value.values()
        elif isinstance(value, Lifted):
            slots = [n for c in type(value).__mro__ for n in _listed(getattr(c, "__slots__", ()))]
            stack += [getattr(value, name, None) for name in slots if name != "owner"]
        elif isinstance(value, Node):
            stack += _saved(value)
        seen.add(id(value))


def _counted(memories: Iterable[_Memory]) -> tuple[int, int]:
    sizes = [memory.array.nbytes for memory in memories]
    return len(sizes), sum(sizes)


def _by_operation(nodes: list[Any], saved: dict[Any, list[_Memory]]) -> tuple[OperationRow, ...]:
    rows: dict[str, list[int]] = {}
    for node in nodes:
        row = rows.setdefault(node.label, [0, 0, 0])
        arrays, size = _counted(saved.get(node, ()))
        row[0] += 1
        row[1] += arrays
        row[2] += size
    made = [OperationRow(name, *row) for name, row in rows.items()]
    return tuple(sorted(made, key=lambda row: -row.bytes))


def _by_shape(memories: list[_Memory]) -> tuple[ArrayRow, ...]:
    rows: dict[tuple[Any, str], list[int]] = {}
    for memory in memories:
        key = memory.array.shape, str(memory.array.dtype)
        row = rows.setdefault(key, [0, 0])
        row[0] += 1
        row[1] += memory.array.nbytes
    made = [ArrayRow(*key, *row) for key, row in rows.items()]
    return tuple(sorted(made, key=lambda row: -row.bytes))
