"""Layer 9 · viz: a picture as an interactive HTML page, in one file that needs no network.

The page's markup, style and script are the files in `assets`. Text from programs enters the
page escaped, or as JSON that the script shows as text, never as markup. The page's content security
policy runs only that script and loads nothing.
"""

from __future__ import annotations

import base64
import json
from hashlib import sha256
from html import escape
from importlib import resources
from string import Template
from typing import Any

from wengert.viz.layout import Layout
from wengert.viz.picture import Picture
from wengert.viz.svg import box_size, counted, described, drawing_part, lay_out
from wengert.viz.svg_style import ARROW_WORDS, BOX_WORDS, both_rules
from wengert.viz.svg_text import escaped, number

_MARGIN = 24.0


def _asset(name: str) -> str:
    return resources.files("wengert.viz").joinpath("assets", name).read_text(encoding="utf-8")


def _json(value: Any) -> str:
    """Return JSON that is safe in a page: it neither ends the element nor opens a comment."""
    text = json.dumps(value, separators=(",", ":"))
    return text.replace("&", "\\u0026").replace("<", "\\u003c").replace(">", "\\u003e")


def _data(picture: Picture, laid: Layout) -> dict[str, Any]:
    places = []
    for box, (x, y) in zip(picture.boxes, laid.places, strict=True):
        width, height = box_size(box)
        places.append([round(value, 1) for value in (x + _MARGIN, y + _MARGIN, width, height)])
    order = sorted(range(len(places)), key=lambda index: (places[index][1], places[index][0]))
    return {
        "width": round(laid.width + 2 * _MARGIN, 1),
        "height": round(laid.height + 2 * _MARGIN, 1),
        "places": places,
        "order": order,
        "boxes": [
            {
                "title": box.title,
                "words": BOX_WORDS.get(box.kind, box.kind),
                "lines": box.lines,
                "details": list(box.details.items()),
                "scope": box.scope,
                "count": box.count,
            }
            for box in picture.boxes
        ],
        "arrows": [
            {"tail": arrow.tail, "head": arrow.head, "label": arrow.label}
            for arrow in picture.arrows
        ],
        "steps": [
            {"boxes": step.boxes, "arrows": step.arrows, "text": step.text}
            for step in picture.steps
        ],
    }


def _legend(picture: Picture) -> str:
    boxes = {box.kind for box in picture.boxes}
    arrows = {arrow.kind for arrow in picture.arrows}
    shapes = []
    for kind, words in BOX_WORDS.items():
        if kind in boxes:
            shape = (
                f'<g class="box {kind}"><rect class="form" x="1" y="1" width="26" height="14" '
                f'rx="{7 if kind == "leaf" else 3}"/></g>'
            )
            shapes.append((shape, words))
    for kind, words in ARROW_WORDS.items():
        if kind in arrows:
            line = f'<g class="arrow {kind}"><path class="line" d="M1 8h26"/></g>'
            shapes.append((line, words))
    return "\n".join(
        f'<p class="legend"><svg class="wengert-picture" width="28" height="16" '
        f'aria-hidden="true">{shape}</svg>{escaped(words)}</p>'
        for shape, words in shapes
    )


_REST = {
    "backward": "The backward pass, in the order in which it is computed: step on or play.",
    "double": "The forward pass and the gradient's own operations, as computed: step on or play.",
    "forward": "The forward pass, in the order in which it is computed: step on or play.",
}


def page_text(picture: Picture, laid: Layout | None = None) -> str:
    """Return a picture as the text of a self-contained HTML page.

    Parameters
    ----------
    laid: The layout, if it is already known.
    """
    laid = lay_out(picture) if laid is None else laid
    script = _asset("page.js")
    digest = base64.b64encode(sha256(script.encode()).digest()).decode()
    counts = f"{counted(len(picture.boxes), 'box')}, {counted(len(picture.arrows), 'arrow')}"
    if picture.steps:
        counts += f", {counted(len(picture.steps), 'step')}"
    return Template(_asset("page.html")).substitute(
        title=escaped(picture.title or "Graph"),
        hash=f"sha256-{digest}",
        style=_asset("page.css") + both_rules(".wengert-picture", switch=True),
        description=escaped(described(picture)),
        width=number(laid.width + 2 * _MARGIN),
        height=number(laid.height + 2 * _MARGIN),
        drawing=drawing_part(picture, laid, _MARGIN, _MARGIN),
        rest=escaped(_REST.get(picture.mode, "Step on or play.")),
        counts=counts,
        notes="\n".join(f"<p>{escaped(note)}</p>" for note in picture.notes),
        legend=_legend(picture),
        data=_json(_data(picture, laid)),
        script=script,
    )


def frame_text(page: str, title: str, height: float) -> str:
    """Return HTML that shows a page inside another, such as a notebook, without affecting it."""
    name = escaped(title or "Graph")
    return (
        f'<iframe title="{name}" sandbox="allow-scripts" srcdoc="{escape(page)}" '
        f'style="width: 100%; height: {height:.0f}px; border: 1px solid #8886; '
        f'border-radius: 8px"></iframe>'
    )
