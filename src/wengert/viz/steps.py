"""Layer 9 · viz: the steps of a sweep over a picture, in order of execution."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from wengert.viz.assemble import Assembler
from wengert.viz.collapse import Group
from wengert.viz.picture import Step
from wengert.viz.wording import listed, step_text


def backward_steps(picture: Assembler, titles: Sequence[str]) -> list[Step]:
    """Return the steps of a reverse sweep: the results, then the operations, youngest first."""
    steps = list(_seeded(picture, titles))
    groups = picture.subject.groups
    for number in range(len(groups) - 1, -1, -1):
        group, box = groups[number], picture.group_box[number]
        tails, arrows = _arguments(picture, group, box)
        if not tails:
            continue
        if group.kind != "node":
            text = f"{picture.picture.boxes[box].title}: adjoints of {_names(picture, tails)}"
        else:
            text = f"{picture.short[group.start]}: {_given(picture, group.start)}"
        steps.append(Step([box, *tails], arrows, text))
    return steps


def _seeded(picture: Assembler, titles: Sequence[str]) -> Iterator[Step]:
    reverse = picture.subject.reverse
    for place, (box, root) in enumerate(zip(picture.result_box, picture.graph.roots, strict=True)):
        if root is None:
            continue
        name = titles[place]
        seed = None if reverse is None else _seed_of(picture, place)
        start = "starts the sweep" if seed is None else f"= {step_text(seed)}"
        source = picture.box_at(root[0])
        arrow = picture.arrow_of.get((source, box))
        boxes = [box] if arrow is None else [box, source]
        yield Step(boxes, [] if arrow is None else [arrow], f"adjoint of {name} {start}")


def _seed_of(picture: Assembler, place: int) -> Any:
    root: Any = picture.graph.roots[place]
    alone = sum(other == root for other in picture.graph.roots) == 1
    reverse = picture.subject.reverse
    used = any(
        root in [(v, out) for v, out, _ in picture.graph.inputs(g.start)]
        for g in picture.subject.groups
    )
    # the other uses of the output have added to its adjoint
    return reverse.adjoints.get(root) if alone and not used and reverse is not None else None


def _arguments(picture: Assembler, group: Group, box: int) -> tuple[list[int], list[int]]:
    """Return the boxes of the arguments of a group, and the arrows from them."""
    part = slice(picture.graph.starts[group.start], picture.graph.starts[group.stop])
    tails = dict.fromkeys(
        picture.box_at(vertex)
        for vertex in dict.fromkeys(picture.graph.sources[part])
        if not group.start <= vertex < group.stop
    )
    return list(tails), [picture.arrow_of[tail, box] for tail in tails]


def _names(picture: Assembler, boxes: list[int]) -> str:
    return listed([picture.picture.boxes[box].title for box in boxes], 4)


def _given(picture: Assembler, i: int) -> str:
    reverse = picture.subject.reverse
    grads: Any = None if reverse is None else reverse.given.get(i)
    parts = []
    for vertex, out, place in picture.graph.inputs(i):
        name = picture.name_of(vertex, out)
        grad = None if grads is None else grads[place]
        parts.append(name if grad is None else f"{name} += {step_text(grad)}")
    word = "adjoint" if len(parts) == 1 else "adjoints"
    return f"{word} of {', '.join(parts)}"


def forward_steps(picture: Assembler, titles: Sequence[str]) -> list[Step]:
    """Return the steps of a forward sweep: the leaves, then the operations, oldest first."""
    tangents = picture.subject.tangents
    steps: list[Step] = []
    first = len(picture.graph.nodes)
    seeded = {picture.box_at(vertex): vertex for vertex in range(first, picture.graph.size())}
    for box, vertex in sorted(seeded.items()):
        shown = picture.picture.boxes[box]
        if shown.kind != "leaf":
            text = f"tangents of {shown.title}"
        else:
            text = f"tangent of {picture.name_of(vertex)}{_equals(tangents, (vertex, 0))}"
        steps.append(Step([box], [], text))
    for number, group in enumerate(picture.subject.groups):
        box = picture.group_box[number]
        tails, arrows = _arguments(picture, group, box)
        if group.kind != "node":
            title = picture.picture.boxes[box].title
            text = f"{title}: tangents, from those of {_names(picture, tails)}"
        else:
            key = (group.start, 0)
            text = f"tangent of {picture.name_of(group.start)}{_equals(tangents, key)}"
        steps.append(Step([box, *tails], arrows, text))
    for box, root, title in zip(picture.result_box, picture.graph.roots, titles, strict=True):
        if root is not None and (picture.box_at(root[0]), box) in picture.arrow_of:
            source = picture.box_at(root[0])
            arrow = picture.arrow_of[source, box]
            text = f"tangent of {title}{_equals(tangents, root)}"
            steps.append(Step([box, source], [arrow], text))
    return steps


def _equals(tangents: Any, key: Any) -> str:
    if tangents is None:
        return ""
    found = tangents.get(key)
    if found is None:
        return " = 0"
    return f" = {step_text(np.asarray(found))}"


def computing_steps(picture: Assembler, titles: Sequence[str]) -> list[Step]:
    """Return the operations in the order of computation, forward and backward."""
    steps: list[Step] = []
    part = picture.subject.backward_part
    for number, group in enumerate(picture.subject.groups):
        box = picture.group_box[number]
        tails, arrows = _arguments(picture, group, box)
        side = "" if part is None else "backward: " if group.start >= part else "forward: "
        shown = picture.picture.boxes[box].title
        value = picture.subject.facts.values.get((group.start, 0))
        if group.kind == "node":
            shown = picture.name_of(group.start)
        text = f" = {step_text(value)}" if value is not None and group.kind == "node" else ""
        steps.append(Step([box, *tails], arrows, f"{side}{shown}{text}"))
    return steps
