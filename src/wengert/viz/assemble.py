"""Layer 9 · viz: convert a grouped graph to the boxes and arrows of a picture."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from wengert.autograd.function import FunctionNode
from wengert.tape.sites import line_of
from wengert.viz.collapse import Group
from wengert.viz.collect import Facts, Graph, Key, bytes_held, constants_held
from wengert.viz.picture import Arrow, Box, Picture
from wengert.viz.reading import has_hooks, held_values, operation_of
from wengert.viz.scopes import Scopes
from wengert.viz.sweep import Reverse, local_derivative
from wengert.viz.wording import (
    TIMES,
    brief,
    bytes_text,
    count_text,
    full,
    listed,
    shape_text,
    subscript,
)

_LEAVES = 10
"""The number of leaves that are always drawn one by one."""


@dataclass(slots=True)
class Subject:
    """The graph to draw, with everything known about it.

    Attributes
    ----------
    show: The words of `draw`'s argument `show`.
    limit: The maximum number of boxes.
    names: The names of values.
    formulas: The formulas of vertices, where the operation has one. Their boxes show values, the
        others' operations.
    lines: Source lines by node, for nodes that do not record their own.
    seeds: The initial cotangent of each output that has a graph.
    partials: Formulas of local derivatives, by node and position of the argument.
    backward_part: The number of the first node that the backward pass recorded, or
        None.
    """

    graph: Graph
    mode: str
    show: frozenset[str]
    groups: list[Group]
    facts: Facts
    scopes: Scopes
    limit: int
    names: dict[Key, str] = field(default_factory=dict)
    formulas: dict[int, str] = field(default_factory=dict)
    partials: dict[tuple[int, int], str] = field(default_factory=dict)
    lines: dict[int, str] = field(default_factory=dict)
    seeds: list[Any] = field(default_factory=list)
    reverse: Reverse | None = None
    tangents: dict[Key, Any] | None = None
    backward_part: int | None = None


class Assembler:
    """Builds the picture of a `Subject`.

    Attributes
    ----------
    box_of: The box of each vertex that has its own.
    arrow_of: The arrow between two boxes.
    """

    def __init__(self, subject: Subject, title: str) -> None:
        self.subject = subject
        self.graph = subject.graph
        self.picture = Picture(title, subject.mode)
        self.box_of: dict[int, int] = {}
        self.group_box: list[int] = []
        self.arrow_of: dict[tuple[int, int], int] = {}
        self.short: dict[int, str] = {}
        self._failed: dict[str, str] = {}
        self._label_vertices()

    def build(self) -> Picture:
        """Build the boxes and arrows; the caller, which knows the sweep, adds the steps."""
        together = self._leaves_together()
        for number, group in enumerate(self.subject.groups):
            for vertex in self._by_group.get(number, ()):
                if vertex not in self.box_of:
                    self._add_leaves(together.get(vertex, [vertex]))
            self._add_group(group)
        for root in self.graph.roots:
            if root is not None and self.graph.is_leaf(root[0]) and root[0] not in self.box_of:
                self._add_leaves([root[0]])
        self._add_results()
        self._connect()
        if "saved" in self.subject.show:
            self._add_constants()
        for operation, reason in self._failed.items():
            self.picture.notes.append(
                f"The local derivatives of {operation} could not be computed: {reason}"
            )
        return self.picture

    # -- names ------------------------------------------------------------------------------------

    def _label_vertices(self) -> None:
        """Return short names: the given ones, or the operation's, numbered if it occurs again."""
        subject = self.subject
        single = [g.stop - 1 for g in subject.groups if g.kind in ("node", "fused")]
        counts: dict[str, int] = {}
        for i in single:
            name = operation_of(self.graph.nodes[i])
            counts[name] = counts.get(name, 0) + 1
        met: dict[str, int] = {}
        for i in single:
            name = operation_of(self.graph.nodes[i])
            met[name] = met.get(name, 0) + 1
            own = name if counts[name] == 1 else f"{name}{subscript(met[name])}"
            self.short[i] = subject.names.get((i, 0), own)
        for place in range(len(self.graph.leaves)):
            vertex = len(self.graph.nodes) + place
            given = subject.names.get((vertex, 0))
            lone = "leaf" if len(self.graph.leaves) == 1 else f"leaf{subscript(place + 1)}"
            self.short[vertex] = given or lone

    def name_of(self, vertex: int, out: int = 0) -> str:
        """Return the name of an output of a vertex, for texts."""
        given = self.subject.names.get((vertex, out))
        name = given or self.short.get(vertex, f"#{vertex}")
        several = not self.graph.is_leaf(vertex) and self.graph.nodes[vertex].several
        return f"{name}[{out}]" if several and given is None else name

    # -- leaves -----------------------------------------------------------------------------------

    def _leaves_together(self) -> dict[int, list[int]]:
        """Map each leaf that is drawn together with others to all leaves of its box."""
        graph, groups = self.graph, self.subject.groups
        room = max(_LEAVES, self.subject.limit - len(groups) - len(graph.outputs))
        users = self._groups_using()
        if len(graph.leaves) <= room:
            return {}
        alike: dict[tuple[int, ...], list[int]] = {}
        for vertex, using in users.items():
            alike.setdefault(tuple(using), []).append(vertex)
        if len(alike) > room:
            alike = {(): list(users)}
        return {vertex: members for members in alike.values() for vertex in members}

    def _groups_using(self) -> dict[int, list[int]]:
        """Return, for each leaf, the groups that use it."""
        graph = self.graph
        first = len(graph.nodes)
        starts = np.array([group.start for group in self.subject.groups], np.int64)
        sources = np.array(graph.sources, np.int64)
        places = np.flatnonzero(sources >= first)
        nodes = np.searchsorted(np.array(graph.starts, np.int64), places, "right") - 1
        users = np.searchsorted(starts, nodes, "right") - 1
        found: dict[int, list[int]] = {}
        total = len(self.subject.groups)
        for pair in np.unique(sources[places] * total + users).tolist() if total else ():
            found.setdefault(pair // total, []).append(pair % total)
        self._by_group: dict[int, list[int]] = {}
        for leaf, using in found.items():
            for user in using:
                self._by_group.setdefault(user, []).append(leaf)
        return found

    def _add_leaves(self, members: list[int]) -> None:
        if len(members) > 1:
            names = [self.subject.names[v, 0] for v in members if (v, 0) in self.subject.names]
            shapes = [shape_text(self.graph.leaf(v).shape) for v in members]
            held = sum(_bytes_of(self.graph.leaf(v)) for v in members)
            box = Box("group", f"{count_text(len(members))} leaves", count=len(members))
            if "shape" in self.subject.show:
                box.lines.append(listed(shapes))
            box.details["leaves"] = listed(names or ["without names"], 40)
            box.details["shapes"] = listed(shapes, 40)
            box.details["bytes"] = bytes_text(held)
        else:
            box = Box("leaf", self.short[members[0]])
            self._describe(box, members[0], [0])
        number = len(self.picture.boxes)
        self.picture.boxes.append(box)
        for member in members:
            self.box_of[member] = number

    # -- operations -------------------------------------------------------------------------------

    def _add_group(self, group: Group) -> None:
        number = len(self.picture.boxes)
        self.group_box.append(number)
        if group.kind in ("node", "fused"):
            box = self._operation(group.stop - 1)
            self.box_of[group.stop - 1] = number
        else:
            box = self._several(group)
        if self.subject.backward_part is not None:
            box.lines.insert(0, f"{self._scope(group.start)[0]} part")
        self.picture.boxes.append(box)

    def _operation(self, i: int) -> Box:
        subject, node = self.subject, self.graph.nodes[i]
        formula = subject.formulas.get(i)
        if formula is not None:
            outs = sorted(self._outs.get(i, {0}))
            called = ", ".join(self.name_of(i, out) for out in outs)
            box = Box("value", f"{called} = {formula}")
        else:
            given, operation = subject.names.get((i, 0)), operation_of(node)
            title = self.short[i] if given is None else f"{given} = {operation}"
            box = Box("operation", title)
        box.scope = self._scope(i)
        self._describe(box, i, sorted(self._outs.get(i, {0})))
        return box

    @property
    def _outs(self) -> dict[int, set[int]]:
        """Return the outputs in use of nodes with several outputs."""
        if not hasattr(self, "_used"):
            self._used: dict[int, set[int]] = {}
            for group in self.subject.groups:
                for vertex, out, _ in self.graph.inputs(group.start):
                    self._used.setdefault(vertex, set()).add(out)
            for root in self.graph.roots:
                if root is not None:
                    self._used.setdefault(root[0], set()).add(root[1])
        return self._used

    def _scope(self, i: int) -> tuple[str, ...]:
        return self._side(i) + self.subject.scopes.names(i)

    def _side(self, i: int) -> tuple[str, ...]:
        part = self.subject.backward_part
        return () if part is None else ("backward" if i >= part else "forward",)

    def _several(self, group: Group) -> Box:
        nodes = self.graph.nodes[group.start : group.stop]
        pattern = [operation_of(node) for node in nodes[: group.block]]
        what = listed(pattern)
        total = f"{count_text(len(nodes))} operations"
        box = Box("group", what, [total], count=group.count)
        first, last = group.start, group.stop - 1
        if group.kind == "repetition":
            box.title = _times(what, group)
            box.details["one round"] = listed(pattern, 40)
        elif group.kind == "call":
            box.title = f"{self.subject.scopes.group_name(first, last)}()"
            box.lines.append(_times(what, group))
        elif group.kind == "stretch":
            box.title = total
            box.lines = [listed([operation_of(node) for node in nodes], 3)]
        box.scope = self._side(first) + self.subject.scopes.shared(first, last)
        box.details["operations"] = listed([operation_of(node) for node in nodes], 40)
        lines = [self.subject.lines.get(i) or line_of(self.graph.nodes[i]) for i in (first, last)]
        if lines[0]:
            box.details["line"] = "\nto ".join(dict.fromkeys(lines))
        if "bytes" in self.subject.show:
            box.lines.append(f"keeps {bytes_text(sum(map(bytes_held, nodes)))}")
        return box

    # -- descriptions of values --------------------------------------------------------------------

    def _describe(self, box: Box, vertex: int, outs: list[int]) -> None:
        subject, known = self.subject, self.subject.facts
        lines, details = box.lines, box.details
        leaf = self.graph.is_leaf(vertex)
        node = None if leaf else self.graph.nodes[vertex]
        if node is not None:
            details["operation"] = operation_of(node)
            details["node"] = node.label
        adjoints = {} if subject.reverse is None else subject.reverse.adjoints
        for out in outs:
            key = (vertex, out)
            prefix = ""
            if len(outs) > 1:
                given = subject.names.get(key)
                prefix = f"output {out}: " if given is None else f"{given}: "
            shape = known.shapes.get(key)
            if "shape" in subject.show:
                lines.append(f"{prefix}{shape_text(shape)}")
            details[f"{prefix}shape"] = shape_text(shape)
            if key in known.dtypes:
                details[f"{prefix}dtype"] = str(np.dtype(known.dtypes[key]))
            if key in known.values:
                self._quantity(box, "value", prefix, known.values[key])
            if key in adjoints:
                self._quantity(box, "adjoint", prefix, adjoints[key])
            if subject.tangents is not None:
                tangent = subject.tangents.get(key)
                if tangent is None:
                    tangent = np.zeros((), known.dtypes.get(key, np.float64))
                self._quantity(box, "tangent", prefix, tangent)
            tensor = known.tensors.get(key)
            grad = None if tensor is None or tensor._ext is None else tensor._ext.grad
            if grad is not None and isinstance(grad._payload, np.ndarray | np.generic):
                details[f"{prefix}.grad"] = full(grad._payload)
                if "grad" in subject.show and key not in adjoints and subject.tangents is None:
                    lines.append(f"{prefix}.grad {brief(grad._payload)}")
            if leaf and "bytes" in subject.show:
                lines.append(bytes_text(_bytes_of(self.graph.leaf(vertex))))
        if node is not None:
            self._describe_node(box, vertex, node)

    def _quantity(self, box: Box, word: str, prefix: str, value: Any) -> None:
        box.details[f"{prefix}{word}"] = full(value)
        if (word if word == "value" else "grad") in self.subject.show:
            box.lines.append(f"{prefix}{word} {brief(value)}")

    def _describe_node(self, box: Box, vertex: int, node: Any) -> None:
        kept = [f"{name} {shape_text(payload.shape)}" for name, payload, _, _ in held_values(node)]
        if kept:
            box.details["saved"] = ", ".join(kept)
            box.details["bytes"] = bytes_text(bytes_held(node))
            if "saved" in self.subject.show:
                box.lines.append(f"keeps {', '.join(kept)}")
            if "bytes" in self.subject.show:
                box.lines.append(f"keeps {bytes_text(bytes_held(node))}")
        line = self.subject.lines.get(vertex) or line_of(node)
        if line:
            box.details["line"] = line
        if has_hooks(node):
            box.details["hooks"] = "run in a backward pass; the sweep drawn here leaves them out"
        if isinstance(node, FunctionNode):
            box.details["function"] = f"{node.function.__module__}.{node.function.__qualname__}"
        if self.subject.backward_part is not None:
            box.details["part"] = self._scope(vertex)[0]

    # -- results, arrows --------------------------------------------------------------------------

    def _add_results(self) -> None:
        subject = self.subject
        self.result_box: list[int] = []
        for place, (tensor, root) in enumerate(
            zip(self.graph.outputs, self.graph.roots, strict=True)
        ):
            name = subject.names.get((-1 - place, 0), "y")
            own = None if root is None else self.box_of.get(root[0])
            if own is not None and root is not None and root[0] in subject.formulas:
                self.picture.boxes[own].kind = "result"
                self.result_box.append(own)
                continue
            box = Box("result", name)
            if "shape" in subject.show:
                box.lines.append(shape_text(tensor._payload.shape))
            box.details["shape"] = shape_text(tensor._payload.shape)
            box.details["dtype"] = str(tensor._payload.dtype)
            if isinstance(tensor._payload, np.ndarray | np.generic):
                self._quantity(box, "value", "", tensor._payload)
            if subject.backward_part is not None:
                box.scope = ("backward" if name.startswith("gradient") else "forward",)
            self.result_box.append(len(self.picture.boxes))
            self.picture.boxes.append(box)

    def box_at(self, vertex: int) -> int:
        """Return the box that shows a vertex, its own or its group's."""
        own = self.box_of.get(vertex)
        if own is not None:
            return own
        place = int(np.searchsorted(self._starts, vertex, "right")) - 1
        return self.group_box[place]

    def _connect(self) -> None:
        groups = self.subject.groups
        self._starts = np.array([group.start for group in groups], np.int64)
        for number, group in enumerate(groups):
            head = self.group_box[number]
            if group.kind in ("node", "fused"):
                labels = self._labels(group)
                for vertex, _, place in self.graph.inputs(group.start):
                    self.arrow(self.box_at(vertex), head, labels.get(place, ""))
            else:
                part = slice(self.graph.starts[group.start], self.graph.starts[group.stop])
                for vertex in dict.fromkeys(self.graph.sources[part]):
                    if not group.start <= vertex < group.stop:
                        self.arrow(self.box_at(vertex), head)
        for root, number in zip(self.graph.roots, self.result_box, strict=True):
            if root is not None and self.box_at(root[0]) != number:
                self.arrow(self.box_at(root[0]), number)

    def arrow(self, tail: int, head: int, label: str = "", kind: str = "data") -> int:
        """Draw an arrow, or extend the label of the existing one."""
        number = self.arrow_of.get((tail, head))
        if number is None:
            number = self.arrow_of[tail, head] = len(self.picture.arrows)
            self.picture.arrows.append(Arrow(tail, head, label, kind))
        elif label:
            before = self.picture.arrows[number].label
            both = f"{label} (twice)" if before == label else f"{before}, {label}"
            self.picture.arrows[number].label = both if before else label
        return number

    def _labels(self, group: Group) -> dict[int, str]:
        """Return the local derivatives of an operation, by the positions of its arguments."""
        if "local" not in self.subject.show:
            return {}
        labels: dict[int, str] = {}
        for _, _, place in self.graph.inputs(group.start):
            number = self.local(group, place)
            formula = self.subject.partials.get((group.stop - 1, place))
            text = "" if number is None else number
            if formula is not None and formula != text:
                plain = text.removeprefix("diag ")
                whole = not text or formula in ("1", "-1")
                text = formula if whole else f"{formula} = {plain}"
            labels[place] = text
        return labels

    def local(self, group: Group, place: int) -> str | None:
        """Return the local derivative of an operation by one argument, as text."""
        found: Any = None
        for i in range(group.start, group.stop):
            given = self._local_of(i)
            if given is None:
                return None
            kind, value = given[place if i == group.start else 0]
            if value is None:
                return None
            found = value if found is None else found * value
        if kind == "matrix" and found.size > 6:
            return f"matrix {' '.join((str(found.shape[0]), TIMES, str(found.shape[1])))}"
        return f"diag {brief(found)}" if kind == "diagonal" else brief(found)

    def _local_of(self, i: int) -> Any:
        known, node = self.subject.facts, self.graph.nodes[i]
        outs = self._outs.get(i, {0})
        if len(outs) != 1:
            return None
        (out,) = outs
        shape = known.shapes.get((i, out))
        reverse = self.subject.reverse
        if shape is None and reverse is not None and (i, out) in reverse.adjoints:
            shape = np.shape(reverse.adjoints[i, out])
        if shape is None:
            return None
        dtype = known.dtypes.get((i, out), self.graph.outputs[0]._payload.dtype)
        try:
            return local_derivative(node, shape, dtype, out)
        except Exception as error:  # also of a custom Function's backward
            self._failed.setdefault(operation_of(node), str(error).split("\n")[0])
            return None

    def _add_constants(self) -> None:
        """Add boxes for saved arrays that are not vertices: data, masks, statistics."""
        boxes: dict[int, int] = {}
        for number, group in zip(self.group_box, self.subject.groups, strict=True):
            if group.kind != "node" or len(self.picture.boxes) >= self.subject.limit:
                continue
            for name, payload in constants_held(self.graph, group.start):
                own = boxes.get(id(payload))
                if own is None:
                    own = boxes[id(payload)] = len(self.picture.boxes)
                    box = Box("saved", name, scope=self._scope(group.start))
                    if "shape" in self.subject.show:
                        box.lines.append(shape_text(payload.shape))
                    box.details["shape"] = shape_text(payload.shape)
                    box.details["dtype"] = str(payload.dtype)
                    box.details["bytes"] = bytes_text(payload.nbytes)
                    self._quantity(box, "value", "", payload)
                    self.picture.boxes.append(box)
                self.arrow(own, number, kind="saved")


def _times(pattern: str, group: Group) -> str:
    """Return the operations of one iteration, with the number of iterations."""
    if group.count == 1:
        return pattern
    inner = pattern if group.block == 1 else f"({pattern})"
    return f"{inner} {TIMES} {count_text(group.count)}"


def _bytes_of(tensor: Any) -> int:
    # values of transforms do not have their own
    return int(getattr(tensor._payload, "nbytes", 0))
