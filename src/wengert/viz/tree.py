"""Layer 9 · viz: a recorded graph as indented text, for terminals."""

from __future__ import annotations

from typing import Any

from wengert.viz.collapse import Group, groups_of
from wengert.viz.collect import Facts, Graph, facts_of, is_recorded, named, results_of
from wengert.viz.reading import operation_of
from wengert.viz.scopes import Scopes
from wengert.viz.wording import TIMES, count_text, listed, shape_text

_LIMIT = 60
_DEEPEST = 16
"""The number of nested branches beyond which a branch is written separately."""
_BRANCH, _BESIDE, _LAST, _AFTER_LAST = "├─ ", "│  ", "└─ ", "   "


class Tree(str):
    """A string whose `repr` is the text itself."""

    __slots__ = ()

    def __repr__(self) -> str:
        return str(self)


def tree(y: Any, params: Any = None, depth: int | None = None, *, limit: int = _LIMIT) -> Tree:
    """Return the graph of `y` as text: each operation above its arguments.

    The arguments of an operation branch off from it; an argument that is the only one with more
    below it follows without indentation, so that long chains stay at the margin. A value with
    several uses has a number, ``[1]``, is written once, and is referred to as ``see [1]``. A
    repeated pattern is one line, with the number of iterations.

    Parameters
    ----------
    y : Tensor or tuple of Tensor. The results whose graph to show.
    params : dict of str to Tensor, list of Tensor or object with named_parameters, optional. Names
        of leaves and intermediate values.
    depth : int, optional. The number of levels of function calls to write operation by operation,
        as for `draw`.
    limit : int. The number of operations above which each call or loop is one line.

    Returns
    -------
    Tree: A str, which prints as it is.

    Raises
    ------
    TypeError: If `y` is not a tensor, or `params` has another form.

    Examples
    --------
    >>> from wengert.viz import tree
    >>> x = wg.ones(3, requires_grad=True)
    >>> h = (x * 2).exp()
    >>> tree((h * h.sin()).sum(), params={"x": x, "h": h})
    y ()
    sum ()
    mul (3,)
    ├─ [1] h = exp (3,)
    │  mul (3,)  of leaf x (3,)
    └─ sin (3,)  of see [1]
    """
    outputs = results_of(y, "tree")
    if depth is not None and depth < 0:
        raise ValueError(f"tree(): depth must not be negative, but is {depth}")
    names = named(params, "tree")
    return Tree(_Writer(outputs, names, depth, limit).text(isinstance(y, tuple | list)))


class _Writer:
    """The text of one graph, with groups written from the results down."""

    def __init__(
        self, outputs: list[Any], names: dict[str, Any], depth: int | None, limit: int
    ) -> None:
        self.graph = graph = Graph(outputs)
        self.scopes = Scopes(graph.nodes)
        self.groups = groups_of(graph, limit, depth, self.scopes)
        self.given = {id(tensor): name for name, tensor in names.items()}
        self.names: dict[int, str] = {}
        for name, tensor in names.items():
            key = graph.key_of(tensor)
            if key is not None:
                self.names.setdefault(key[0], name)
        single = [g.start for g in self.groups if g.stop - g.start == 1]
        self.facts: Facts = facts_of(graph, single, names.values())
        self.owner: dict[int, int] = {}
        self.below: list[list[int]] = []
        self._link()
        self.numbers: dict[int, int] = {}
        self.written: set[int] = set()
        self.lines: list[str] = []

    def _link(self) -> None:
        """Find the groups and leaves that each group uses: groups from 0 up, leaves below 0."""
        graph = self.graph
        starts = [group.start for group in self.groups]
        owner: list[int] = []
        for number, group in enumerate(self.groups):
            owner += [number] * (group.stop - group.start)
        uses = [0] * len(starts)
        for number, group in enumerate(self.groups):
            part = graph.sources[graph.starts[group.start] : graph.starts[group.stop]]
            found: dict[int, None] = {}
            for vertex in part:
                if graph.is_leaf(vertex):
                    found[-1 - vertex] = None
                elif owner[vertex] != number:
                    found[owner[vertex]] = None
            self.below.append(list(found))
            for below in found:
                if below >= 0:
                    uses[below] += 1
        self.roots = []
        for root in graph.roots:
            if root is None or graph.is_leaf(root[0]):
                self.roots.append(None if root is None else -1 - root[0])
            else:
                self.roots.append(owner[root[0]])
                uses[owner[root[0]]] += 1
        self.uses = uses

    def text(self, several: bool) -> str:
        """Return all lines."""
        for place, (tensor, root) in enumerate(zip(self.graph.outputs, self.roots, strict=True)):
            name = self.given.get(id(tensor), f"y[{place}]" if several else "y")
            line = f"{name} {shape_text(tensor._payload.shape)}"
            if not is_recorded(tensor):
                self.lines.append(f"{line}  a constant: nothing was recorded")
            elif root is not None and root < 0:
                self.lines.append(f"{line}  a leaf")
            elif root is not None:
                self.lines.append(line)
                self._write(root)
        return "\n".join(self.lines)

    def _write(self, root: int) -> None:
        later: list[tuple[int, str, str]] = [(root, "", "")]
        apart: list[int] = []
        while later or apart:
            if not later:
                later.append((apart.pop(0), "", ""))
            group, head, rest = later.pop()
            if group in self.written:
                self.lines.append(f"{head}see [{self.numbers[group]}]")
                continue
            if len(head) > _DEEPEST * len(_LAST):
                self.lines.append(f"{head}see [{self._number(group)}]")
                apart.append(group)
                continue
            self.written.add(group)
            branches = self._line(group, head)
            if len(branches) == 1:
                later.append((branches[0], rest, rest))
                continue
            for branch in reversed(branches):
                last = branch is branches[-1]
                own, below = (_LAST, _AFTER_LAST) if last else (_BRANCH, _BESIDE)
                later.append((branch, rest + own, rest + below))

    def _number(self, group: int) -> int:
        return self.numbers.setdefault(group, len(self.numbers) + 1)

    def _line(self, group: int, head: str) -> list[int]:
        """Write one group, and return those to write below it."""
        inline, branches = [], []
        for below in self.below[group]:
            if below < 0:
                inline.append(self._leaf(-1 - below))
            elif below in self.written:
                inline.append(f"see [{self.numbers[below]}]")
            else:
                branches.append(below)
        mark = ""
        if self.uses[group] > 1 or group in self.numbers:
            mark = f"[{self._number(group)}] "
        words = [f"{head}{mark}{self._title(self.groups[group])}"]
        if inline:
            shown = inline if len(inline) <= 4 else [*inline[:3], f"{len(inline) - 3} more"]
            words.append(("and " if branches else "of ") + ", ".join(shown))
        self.lines.append("  ".join(words))
        return branches

    def _leaf(self, vertex: int) -> str:
        name = self.names.get(vertex)
        shape = shape_text(self.graph.leaf(vertex).shape)
        return f"leaf {shape}" if name is None else f"leaf {name} {shape}"

    def _title(self, group: Group) -> str:
        nodes = self.graph.nodes[group.start : group.stop]
        if len(nodes) == 1:
            name = self.names.get(group.start)
            text = operation_of(nodes[0]) if name is None else f"{name} = {operation_of(nodes[0])}"
            if nodes[0].several:
                return text
            return f"{text} {shape_text(self.facts.shapes.get((group.start, 0)))}"
        what = listed([operation_of(node) for node in nodes[: group.block]])
        total = f"({count_text(len(nodes))} operations)"
        if group.kind == "repetition":
            inner = what if group.block == 1 else f"({what})"
            return f"{inner} {TIMES} {count_text(group.count)}  {total}"
        if group.kind == "call":
            return f"{self.scopes.group_name(group.start, group.stop - 1)}()  {total}"
        return f"{what}  {total}"
