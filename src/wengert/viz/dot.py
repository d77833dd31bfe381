"""Layer 9 · viz: a picture in Graphviz's language, written without Graphviz."""

from __future__ import annotations

from wengert.viz.picture import Picture
from wengert.viz.svg import grouped
from wengert.viz.svg_style import LIGHT

_STYLES = {"saved": "dashed", "view": "dotted"}


def _quoted(text: str) -> str:
    clean = text.encode("utf-8", "replace").decode().replace("\0", "\N{REPLACEMENT CHARACTER}")
    return '"' + clean.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n") + '"'


def dot_text(picture: Picture) -> str:
    """Return a picture in Graphviz's language.

    Examples
    --------
    >>> from wengert.viz.picture import Arrow, Box
    >>> print(dot_text(Picture("f", "backward", [Box("leaf", "x"), Box("result", "y")],
    ...                        [Arrow(0, 1, "2x")])))
    digraph "f" {
      graph [label="f", labelloc=t, fontname="Helvetica"]
      node [shape=box, fontname="Helvetica", fontsize=11, style="filled,rounded"]
      edge [fontname="Helvetica", fontsize=10, color="#8592a0"]
      0 [label="x", color="#4a84c4", fillcolor="#e2eefc"]
      1 [label="y", color="#45945a", fillcolor="#e0f3e3"]
      0 -> 1 [label="2x"]
    }
    """
    title = _quoted(picture.title)
    lines = [
        f"digraph {title} {{",
        f'  graph [label={title}, labelloc=t, fontname="Helvetica"]',
        '  node [shape=box, fontname="Helvetica", fontsize=11, style="filled,rounded"]',
        f'  edge [fontname="Helvetica", fontsize=10, color="{LIGHT["line"]}"]',
    ]
    for index, box in enumerate(picture.boxes):
        fill, stroke = LIGHT[box.kind if box.kind in LIGHT else "operation"].split()
        times = f" \N{MULTIPLICATION SIGN}{grouped(box.count)}" if box.count > 1 else ""
        label = "\n".join([box.title + times, *box.lines])
        tip = "\n".join(f"{name}: {text}" for name, text in box.details.items())
        more = f", tooltip={_quoted(tip)}" if tip else ""
        lines.append(
            f'  {index} [label={_quoted(label)}, color="{stroke}", fillcolor="{fill}"{more}]'
        )
    for arrow in picture.arrows:
        words = []
        if arrow.label:
            words.append(f"label={_quoted(arrow.label)}")
        if arrow.kind in _STYLES:
            words.append(f"style={_STYLES[arrow.kind]}")
        more = f" [{', '.join(words)}]" if words else ""
        lines.append(f"  {arrow.tail} -> {arrow.head}{more}")
    return "\n".join([*lines, "}"])
