"""Layer 4 · tape: the paths of a graph from an output to a tensor that it was computed from.

Nothing here recurses: graphs may be a million nodes deep.
"""

from __future__ import annotations

from typing import Any

from wengert.base import errors
from wengert.prims.families import zero
from wengert.tape.base import FREED, node_of
from wengert.tape.inplace import CopySlices
from wengert.tape.invalidated import Invalidated
from wengert.tape.saved import check_result, check_saved
from wengert.tape.sites import line_of


def same_edge(edge: Any, target: Any) -> bool:
    """Return whether `edge` and `target`, two edges, lead to the same output or leaf."""
    return edge is target or (
        edge._seq == 0
        and target._seq == 0
        and edge.node is target.node
        and edge.index == target.index
    )


class Reach:
    """The nodes and leaves that a walk from an edge reaches.

    Attributes
    ----------
    nodes: The nodes, the youngest first: each before those that its edges lead to.
    leaves: The leaves, in the order of the walk.
    """

    def __init__(self, edge: Any) -> None:
        met: dict[Any, None] = {}
        stack = [node_of(edge)]
        while stack:
            node = stack.pop()
            if node in met:
                continue
            met[node] = None
            if node._seq < 0:
                stack += [node_of(e) for e in node.edges if e is not None]
        self.leaves: list[Any] = [leaf for leaf in met if leaf._seq > 0]
        self.nodes: list[Any] = sorted(
            (node for node in met if node._seq < 0), key=lambda node: int(node._seq)
        )


def leads_to(edge: Any, target: Any, not_leading: set[Any]) -> bool:
    """Return whether there is a path from `edge` to `target`.

    `not_leading` holds nodes from which there is none; the call adds those that it finds.
    """
    if same_edge(edge, target):
        return True
    met: set[Any] = set()
    stack = [node_of(edge)]
    while stack:
        node = stack.pop()
        if node._seq > 0 or node in met or node in not_leading:
            continue
        met.add(node)
        for below in node.edges:
            if below is not None:
                if same_edge(below, target):
                    return True
                stack.append(node_of(below))
    not_leading |= met
    return False


_FAR = 1 << 62


class Paths:
    """The paths from an edge to `target`, another edge.

    Attributes
    ----------
    between: The nodes on any path, each with its distance to the target.
    passing: The nodes, likewise, of paths without an operation whose derivative is zero everywhere.
    """

    def __init__(self, reach: Reach, target: Any) -> None:
        self._target = target
        between: dict[Any, int] = {}
        passing: dict[Any, int] = {}
        self.between, self.passing = between, passing
        constant_in: dict[type, tuple[int, ...]] = {}
        for node in reversed(reach.nodes):
            kind = type(node)
            flat = constant_in.get(kind)
            if flat is None:
                flat = constant_in[kind] = _flat(node)
            any_way = passing_way = _FAR
            for i, edge in enumerate(node.edges):
                if edge is None:
                    continue
                if edge is target or (edge._seq == 0 and same_edge(edge, target)):
                    left, through = 0, 0
                else:
                    below = edge if edge._seq else edge.node
                    left, through = between.get(below, _FAR), passing.get(below, _FAR)
                if left < any_way:
                    any_way = left
                if through < passing_way and i not in flat:
                    passing_way = through
            if any_way < _FAR:
                between[node] = any_way + 1
            if passing_way < _FAR:
                passing[node] = passing_way + 1

    def _left(self, edge: Any, steps: dict[Any, int]) -> int:
        return 0 if same_edge(edge, self._target) else steps.get(node_of(edge), _FAR)

    def shortest(self, edge: Any) -> list[Any]:
        """Return the nodes of the shortest path from `edge`, without the target.

        Paths that pass a gradient are preferred, if there are any.
        """
        path: list[Any] = []
        steps = self.passing if node_of(edge) in self.passing else self.between
        while not same_edge(edge, self._target):
            node = node_of(edge)
            path.append(node)
            flat = _flat(node) if steps is self.passing else ()
            ways = [e for i, e in enumerate(node.edges) if e is not None and i not in flat]
            edge = min(ways, key=lambda way: self._left(way, steps))
        return path


def _flat(node: Any) -> tuple[int, ...]:
    """Return the positions of the arguments in which the operation is piecewise constant."""
    prim = getattr(type(node), "prim", None)
    if prim is None or prim.variadic:
        return ()
    return tuple(i for i, rule in enumerate(prim.rules) if rule is not None and rule.call is zero)


def flat_nodes(path: list[Any]) -> list[Any]:
    """Return the nodes of a path that are piecewise constant in some argument."""
    return [node for node in path if _flat(node)]


def why_broken(node: Any) -> tuple[str, str] | None:
    """Return why `node` cannot be run backwards: a short name of the reason, and a message."""
    if isinstance(node, Invalidated):
        return "modified_in_place", node.message
    if isinstance(node, CopySlices):
        if node.inner is None:
            return "freed", str(errors.backward_twice(node.label, line_of(node)))
        node = node.inner
    prim = getattr(type(node), "prim", None)
    if prim is None:
        return None
    held = [getattr(node, f"s_{name}") for name in prim.saved_args]
    if "result" in prim.saved:
        held.append(node.result)
    if any(saved is FREED for saved in held):
        return "freed", str(errors.backward_twice(node.label, line_of(node)))
    try:
        for name, saved in zip(prim.saved_args, held, strict=False):
            for i, one in enumerate(saved if prim.variadic else (saved,)):
                if one is not None and one._vc is not None:
                    check_saved(node, name, one, i if prim.variadic else None)
        if "result" in prim.saved and node.result_vc[0] != node.result_at:
            check_result(node)
    except RuntimeError as error:
        return "modified_in_place", str(error)
    return None
