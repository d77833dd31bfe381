"""Layer 9 · fx: `replace_pattern`, which replaces subgraphs that match a pattern."""

from __future__ import annotations

from typing import Any, NamedTuple

from wengert.base.elsewhere import elsewhere
from wengert.fx._symbolic_trace import symbolic_trace
from wengert.fx.graph import Graph
from wengert.fx.graph_module import GraphModule, _copy_attr
from wengert.fx.node import Node, map_arg

__all__ = ["Match", "replace_pattern"]


class Match(NamedTuple):
    """A match of a pattern: its last node in the graph, and a node for each of the pattern's."""

    anchor: Node
    nodes_map: dict[Node, Node]


def _graph_of(pattern: Any) -> Graph:
    if isinstance(pattern, Graph):
        return pattern
    graph: Graph = (
        pattern.graph if isinstance(pattern, GraphModule) else symbolic_trace(pattern).graph
    )
    return graph


class _Search:
    """Searches for a match of a pattern that ends at a given node."""

    def __init__(self, module: Any, pattern: Graph) -> None:
        self.module, self.pattern = module, pattern
        self.result = pattern.output_node().args[0]
        if not isinstance(self.result, Node):
            raise NotImplementedError("replace_pattern(): the pattern returns one value")

    def at(self, anchor: Node) -> dict[Node, Node] | None:
        """Return the node for each node of the pattern, whose last one is `anchor`."""
        found: dict[Node, Node] = {}
        if not self._alike(self.result, anchor, found):
            return None
        inner = {n for p, n in found.items() if p.op not in ("placeholder", "get_attr")}
        for p, n in found.items():
            # intermediate values must not be used elsewhere
            if n in inner and n is not anchor and not set(n.users) <= inner and p.users:
                return None
        return found

    def _alike(self, p: Any, n: Any, found: dict[Node, Node]) -> bool:
        if not isinstance(p, Node):
            if isinstance(p, tuple | list):
                return (
                    isinstance(n, type(p))
                    and len(p) == len(n)
                    and all(self._alike(a, b, found) for a, b in zip(p, n, strict=True))
                )
            if isinstance(p, dict):
                return (
                    isinstance(n, dict)
                    and p.keys() == n.keys()
                    and all(self._alike(value, n[key], found) for key, value in p.items())
                )
            return bool(type(p) is type(n) and p == n)
        if p in found:
            return found[p] is n
        if p.op == "placeholder":
            found[p] = n
            return True
        if not isinstance(n, Node) or n.op != p.op or n.target != p.target:
            return False
        found[p] = n
        return self._alike(p.args, n.args, found) and self._alike(p.kwargs, n.kwargs, found)


def replace_pattern(gm: GraphModule, pattern: Any, replacement: Any) -> list[Match]:
    """Replace every match of `pattern` in a graph by `replacement`.

    Parameters
    ----------
    gm : GraphModule. The module whose graph is changed.
    pattern, replacement : callable or GraphModule. Functions with the same number of arguments;
        those of the pattern match any values. Intermediate values must not be used elsewhere.

    Returns
    -------
    list of Match: The matches.

    Examples
    --------
    >>> traced = wg.fx.symbolic_trace(lambda x, w: wg.relu(x * w) + 1)
    >>> found = wg.fx.replace_pattern(
    ...     traced, lambda a, b: wg.relu(a * b), lambda a, b: wg.tanh(a + b)
    ... )
    >>> len(found), [node.name for node in traced.graph.nodes]
    (1, ['x', 'w', 'add_1', 'tanh', 'add', 'output'])
    """
    search = _Search(gm, _graph_of(pattern))
    source = _graph_of(replacement)
    inputs = [[n for n in g.nodes if n.op == "placeholder"] for g in (search.pattern, source)]
    if len(inputs[0]) != len(inputs[1]):
        raise RuntimeError("the pattern and the replacement take as many arguments")
    owner = source.owning_module
    matches = []
    for anchor in list(gm.graph.nodes):
        if anchor._erased or anchor.op in ("placeholder", "output"):
            continue
        found = search.at(anchor)
        if found is None:
            continue
        known: dict[Node, Any] = {new: found.get(old) for old, new in zip(*inputs, strict=True)}
        result: Any = None
        with gm.graph.inserting_before(anchor):
            for node in source.nodes:
                if node.op == "output":
                    result = map_arg(node.args[0], known.__getitem__)
                elif node not in known:
                    known[node] = gm.graph.node_copy(node, known.__getitem__)
                    if owner is not None and node.op in ("call_module", "get_attr"):
                        _copy_attr(owner, gm, node.target)
        anchor.replace_all_uses_with(result)
        for node in reversed([n for n in gm.graph.nodes if n in set(found.values())]):
            if not node.users and node.op not in ("placeholder", "output"):
                gm.graph.erase_node(node)
        matches.append(Match(anchor, found))
    gm.recompile()
    return matches


__getattr__ = elsewhere(__name__)
