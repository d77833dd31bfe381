"""Layer 9 · viz: the content of a picture, before layout, colours and file format."""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass(slots=True)
class Box:
    """One box of a picture.

    Attributes
    ----------
    kind: ``"leaf"`` (a tensor that accumulates gradients), ``"result"`` (the tensor
        differentiated), ``"operation"``, ``"value"`` (an intermediate tensor), ``"saved"`` (a value
        kept for the backward pass) or ``"group"`` (several boxes drawn as one).
    title: The first line, set in bold.
    lines: Further lines.
    details: Details shown on request, by name: value, shape, gradient, source line, ...
    scope: The functions and loops that the box belongs to, outermost first.
    count: The number of boxes of the same form that this one represents.
    """

    kind: str
    title: str
    lines: list[str] = field(default_factory=list)
    details: dict[str, str] = field(default_factory=dict)
    scope: tuple[str, ...] = ()
    count: int = 1


@dataclass(slots=True)
class Arrow:
    """An arrow from the box number `tail` to the box number `head`.

    Attributes
    ----------
    label: A text beside the arrow, such as a local derivative.
    kind: ``"data"`` (what is computed from what), ``"saved"`` (kept for the backward pass) or
        ``"view"`` (shares memory with).
    """

    tail: int
    head: int
    label: str = ""
    kind: str = "data"


@dataclass(slots=True)
class Step:
    """One step of a sweep over the graph: the boxes and arrows at work, and what happens there."""

    boxes: list[int]
    arrows: list[int]
    text: str


@dataclass(slots=True)
class Picture:
    """Boxes, arrows between them, and the sweep that passes over them.

    Attributes
    ----------
    mode: ``"backward"``, ``"double"`` or ``"forward"``.
    steps: The sweep, in the order in which it is computed.
    notes: Notes about the whole picture: omitted and collapsed parts.
    """

    title: str
    mode: str
    boxes: list[Box] = field(default_factory=list)
    arrows: list[Arrow] = field(default_factory=list)
    steps: list[Step] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
