"""Layer 9 · viz: sweeps over a recorded graph that keep the intermediate cotangents.

A reverse sweep is the engine's own walk, observed, without hooks and without changes to ``.grad``.
A forward sweep carries tangents through recorded nodes. A node has only its vjp, u -> J^T u, which
is linear in u; the transpose of this map is the jvp.
"""

from __future__ import annotations

import contextlib
import math
from collections.abc import Iterator
from typing import Any

import numpy as np

from wengert.interp.levels import Lifted
from wengert.tape.backward import run_grad
from wengert.tape.base import LEAF, new_tensor
from wengert.tape.engine import walk
from wengert.tape.masked import REPORT, begin_search, end_search
from wengert.tape.modes import MODE, changed, current_mode
from wengert.tape.rules import apply_rules
from wengert.tape.saved import unpack
from wengert.tape.watch import CURRENT, Lent
from wengert.viz.collect import Graph, Key, outputs_meta, works_by_element

_MATRIX = 36
"""The number of elements up to which a Jacobian is computed row by row."""


class Reverse:
    """A reverse sweep: the cotangent of each output, and those that each node gave its arguments.

    Attributes
    ----------
    adjoints: The cotangent of each output of each vertex.
    given: The cotangents that each node gave its arguments, one for each edge, or None.
    order: The nodes in the order in which they ran.
    """

    targets: frozenset[Any] = frozenset()
    """Not None: a Function that adds to leaves of its own has to refuse."""

    def __init__(self, graph: Graph, wanted: set[int] | None) -> None:
        self.adjoints: dict[Key, Any] = {}
        self.given: dict[int, tuple[Any, ...]] = {}
        self.order: list[int] = []
        self.lent = Lent()
        self._number = graph.number
        self._wanted = wanted

    def begin(self, pending: dict[Any, Any]) -> None:
        """Do nothing: there is nothing to prepare before the first node."""

    def step(self, node: Any, g: Any, keep: bool, edges: Any) -> Any:
        """Run `node` backwards, and record its cotangents and those of its arguments."""
        grads = node.step(g, True, edges, True)
        i = self._number[node]
        if self._wanted is None or i in self._wanted:
            self.order.append(i)
            for index, part in enumerate(g if node.several else (g,)):
                if _is_plain(part):
                    self.adjoints[i, index] = part
            self.given[i] = tuple(grad if _is_plain(grad) else None for grad in grads)
        return grads

    def finished(self, node: Any, pending: dict[Any, Any]) -> None:
        """Do nothing after a node."""


def reverse_sweep(graph: Graph, gradients: list[Any], wanted: set[int] | None = None) -> Reverse:
    """Carry `gradients` (arrays, one for each output) back through the graph.

    Parameters
    ----------
    wanted: The vertices whose adjoints are kept; None: all.

    Raises
    ------
    RuntimeError: If the graph was freed, or a saved value was written to.
    """
    swept = Reverse(graph, wanted)
    seeds: list[tuple[Any, Any]] = []
    for tensor, g in zip(graph.outputs, gradients, strict=True):
        if graph.key_of(tensor) is not None:
            edge = tensor if tensor._edge is LEAF else tensor._edge
            seeds.append((edge, g))
    searching = begin_search(seeds)
    try:
        with _walking(swept, False), np.errstate(invalid="log", call=REPORT):
            pending = walk(seeds, True, True, None, swept)
    finally:
        end_search(searching)
    for leaf, g in pending.items():
        if _is_plain(g) and (wanted is None or graph.number[leaf] in wanted):
            swept.adjoints[graph.number[leaf], 0] = g
    return swept


class _Local:
    """A substitute for a walk while a single node runs."""

    targets = Reverse.targets
    raw = True  # as for nodes outside a walk

    def __init__(self) -> None:
        self.lent = Lent()


@contextlib.contextmanager
def _walking(walk: Any, record: bool) -> Iterator[None]:
    """Set the mode of a walk, and restore the previous one afterwards: nodes may change it."""
    before, above = current_mode(), CURRENT.get()
    try:
        CURRENT.set(walk)
        # hide the sweep from anomaly mode and from dispatch modes
        MODE.set(changed(before, grad=record, inference=None, anomaly=None, dispatch=()))
        with np.errstate(all="ignore"):
            yield
    finally:
        MODE.set(before)
        CURRENT.set(above)


def _is_plain(value: Any) -> bool:
    # values of transforms are opaque outside of them
    return isinstance(value, np.ndarray | np.generic)


def ones_like(payload: Any) -> Any:
    """Return the default cotangent that a sweep starts from."""
    return np.ones(payload.shape, payload.dtype) if payload.shape else payload.dtype.type(1)


# -- local derivatives -----------------------------------------------------------------------------


def local_derivative(
    node: Any, shape: tuple[int, ...], dtype: Any, index: int = 0
) -> list[tuple[str, Any]]:
    """Return the derivative of output `index` of a node with respect to each of its arguments.

    Returns
    -------
    list: For each edge, the kind of the array, and the array: ``"gradient"`` (of a 0-d output, in
        the argument's shape), ``"diagonal"`` (each element of the output depends on one of the
        argument), ``"matrix"`` (the flattened Jacobian), or ``""`` with None, where there is none
        or it would be large.

    Raises
    ------
    RuntimeError: If the graph was freed, or a saved value written to.
    """
    if not is_holomorphic(node, dtype):
        return [("", None)] * len(node.edges)
    prim = getattr(type(node), "prim", None)
    size = math.prod(shape)
    if size == 1:
        rows = _pulled(node, np.ones(shape, dtype), index)
        return [("gradient", None if r is None else np.conj(r)) for r in rows]
    if prim is not None and works_by_element(prim):
        rows = _pulled(node, np.ones(shape, dtype), index)
        return [
            ("diagonal", np.conj(r)) if r is not None and r.shape == shape else ("", None)
            for r in rows
        ]
    if not 0 < size <= _MATRIX:
        return [("", None)] * len(node.edges)
    basis = np.eye(size, dtype=dtype).reshape(size, *shape)
    found = [_pulled(node, row, index) for row in basis]
    result: list[tuple[str, Any]] = []
    for column in zip(*found, strict=True):
        if any(part is None or size * part.size > _MATRIX for part in column):
            result.append(("", None))
        else:
            result.append(("matrix", np.conj([np.reshape(part, -1) for part in column])))
    return result


def is_holomorphic(node: Any, dtype: Any) -> bool:
    """Return whether one number is the derivative of a result; always so for a real `dtype`."""
    prim = getattr(type(node), "prim", None)
    complexes = getattr(node, "complexes", None)
    if prim is None or complexes is None or not any(complexes):
        return np.dtype(dtype).kind != "c"
    return prim.conj == "engine" and np.dtype(dtype).kind == "c"


def _pulled(node: Any, g: Any, index: int) -> tuple[Any, ...]:
    parts: Any = g
    if node.several:
        parts = [None] * node.width()
        parts[index] = g
    with _walking(_Local(), False):
        return tuple(
            None if grad is None or isinstance(grad, Lifted) else np.asarray(grad)
            for grad in node.step(parts, True, node.edges, True)
        )


# -- tangents --------------------------------------------------------------------------------------


def tangents_of(graph: Graph, seeds: dict[int, Any], shapes: dict[Key, Any]) -> dict[Key, Any]:
    """Carry tangents of leaves forward through the graph.

    Parameters
    ----------
    seeds: Arrays by the numbers of leaves; the others have a tangent of zero.
    shapes: The shape and dtype of each output of a node, for which its rule runs.

    Returns
    -------
    dict: The tangents; those that no leaf reaches are missing, and zero.
    """
    found: dict[Key, Any] = {(leaf, 0): tangent for leaf, tangent in seeds.items()}
    for i, node in enumerate(graph.nodes):
        known = {
            place: found[vertex, out]
            for vertex, out, place in graph.inputs(i)
            if (vertex, out) in found
        }
        if not known:
            continue
        # None for an output that is not a tensor
        metas: list[Any] = list(outputs_meta(node)) or [shapes.get((i, 0))]
        if not any(metas):
            raise RuntimeError(
                f"{node.label} gave a value of a transform, or one whose shape is not known"
            )
        for index, tangent in enumerate(_pushed(node, known, metas)):
            if tangent is not None:
                found[i, index] = tangent
    return found


def _pushed(node: Any, known: dict[int, Any], metas: list[Any]) -> list[Any]:
    """Return the tangents of a node's outputs from those of its arguments, by index."""
    probes = [None if meta is None else new_tensor(np.zeros(*meta), LEAF) for meta in metas]
    edges = tuple(edge if place in known else None for place, edge in enumerate(node.edges))
    g = list(probes) if node.several else probes[0]
    with _walking(_Local(), True):
        ruled = getattr(type(node), "prim", None) is not None
        grads = (
            apply_rules(node, g, True, edges, _constant) if ruled else node.apply_in(g, True, edges)
        )
        outputs, vectors = [], []
        for place, tangent in known.items():
            grad = grads[place]
            if grad is not None and grad._edge is not None:
                outputs.append(grad)
                vectors.append(new_tensor(np.asarray(tangent, grad._payload.dtype)))
        if not outputs:
            return [None] * len(probes)
        made = iter(run_grad(outputs, [p for p in probes if p is not None], vectors, True, False))
    parts = [None if probe is None else next(made) for probe in probes]
    return [None if part is None else part._payload for part in parts]


def _constant(node: Any, name: str, raw: bool) -> Any:
    """Return what `unpack` does, with saved tensors as constants.

    They have their own histories, which each walk of the rules' graph would have to search.
    """
    value = unpack(node, name, True)
    if value is None or (name not in node.prim.args and name != "result"):
        return value
    return tuple(map(new_tensor, value)) if isinstance(value, tuple) else new_tensor(value)


def failure_note(what: str, error: Exception) -> str:
    """Return the note to show in a picture when a sweep has failed.

    Parameters
    ----------
    what: The part of the picture that is missing.
    """
    first = str(error).split("\n")[0]
    if first.startswith("Trying to backward through the graph a second time"):
        return (
            f"A backward pass has freed what this graph had saved: no {what} and no saved values "
            "are shown. Draw before backward(), or pass it retain_graph=True."
        )
    return f"No {what} are shown: {type(error).__name__}: {first}"


def has_lifted(graph: Graph) -> bool:
    """Return whether the outputs are values of a transform, which these sweeps cannot follow."""
    return any(isinstance(tensor._payload, Lifted) for tensor in graph.outputs)
