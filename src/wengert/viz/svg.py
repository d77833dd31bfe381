"""Layer 9 · viz: a picture as SVG: scalable, self-contained, readable in light and dark themes.

Text widths come from a table, so neither a font nor a display is needed. The picture holds no
script and refers to nothing outside itself; what comes from programs is escaped.
"""

from __future__ import annotations

from hashlib import sha256

from wengert.viz.layout import Layout, Point, arrange
from wengert.viz.picture import Arrow, Box, Picture
from wengert.viz.svg_style import ARROW_WORDS, BOX_WORDS, both_rules
from wengert.viz.svg_text import FONT, cut, escaped, number, text_width, wrapped

_HEAD, _BODY, _LABEL = 13.0, 11.5, 11.0  # font sizes, as in the style sheet
_HEAD_LINE, _BODY_LINE = 18.0, 15.5
_SIDE, _ABOVE = 14.0, 8.0  # between a box and its text
_WIDEST = 280.0
_SPARE = 1.05  # for the wider fonts that replace a missing Helvetica
_STACK = 3.0  # the offset of the sheets of a group
_MARGIN = 24.0


def box_size(box: Box) -> tuple[float, float]:
    """Return the width and height of a box with all its text."""
    width = text_width(box.title, _HEAD, bold=True)
    for line in box.lines:
        width = max(width, text_width(line, _BODY))
    width = max(min(width, _WIDEST) * _SPARE + 2 * _SIDE, 46.0)
    height = 2 * _ABOVE + _HEAD_LINE + len(box.lines) * _BODY_LINE
    if box.count > 1 or box.kind == "group":
        return width + 4 * _STACK, height + 2 * _STACK  # the sheets show above and on the right
    return width, height


def lay_out(picture: Picture) -> Layout:
    """Return the layout of a picture."""
    labels = []
    for arrow in picture.arrows:
        width = text_width(cut(arrow.label, _WIDEST, _LABEL), _LABEL)
        labels.append((width * _SPARE + 8.0, 17.0) if arrow.label.strip() else (0.0, 0.0))
    return arrange(
        [box_size(box) for box in picture.boxes],
        [(arrow.tail, arrow.head) for arrow in picture.arrows],
        labels,
    )


def counted(number_of: int, word: str) -> str:
    """Return a count with its noun: ``"1 box"``, ``"2 boxes"``, ``"3\u202f000 arrows"``."""
    ending = "" if number_of == 1 else "es" if word.endswith("x") else "s"
    return f"{grouped(number_of)} {word}{ending}"


def grouped(number_of: int) -> str:
    """Format a number with narrow spaces between groups of three digits."""
    return f"{number_of:,}".replace(",", "\u202f")


def _curve(route: list[Point]) -> str:
    parts = [f"M{number(route[0][0])} {number(route[0][1])}"]
    for at in range(1, len(route), 3):
        one, two, end = route[at : at + 3]
        if one[0] == two[0] == end[0] == route[at - 1][0]:
            parts.append(f"V{number(end[1])}")
        else:
            parts.append("C" + " ".join(f"{number(x)} {number(y)}" for x, y in (one, two, end)))
    return "".join(parts)


def _arrow(index: int, arrow: Arrow, route: list[Point]) -> str:
    """Draw an arrow whose tip ends at the box, and whose line ends where the tip begins."""
    if not route:
        return ""
    (x, y), before = route[-1], route[-2]
    turn = 1.0 if y >= before[1] else -1.0  # reversed arrows of a cycle come from below
    line = [*route[:-1], (x, y - 6 * turn if abs(y - before[1]) > 6 else before[1])]
    tip = f"M{number(x)} {number(y)}l-3.8 {number(-8 * turn)}h7.6z"
    kind = arrow.kind if arrow.kind in ARROW_WORDS else "data"
    return (
        f'<g class="arrow {kind}" data-arrow="{index}" data-tail="{arrow.tail}" '
        f'data-head="{arrow.head}"><path class="line" d="{_curve(line)}"/>'
        f'<path class="tip" d="{tip}"/></g>'
    )


def _label(index: int, arrow: Arrow, place: Point) -> str:
    text = cut(arrow.label, _WIDEST, _LABEL)
    width = text_width(text, _LABEL) * _SPARE + 8.0
    x, y = place
    full = f"<title>{escaped(arrow.label)}</title>" if text != arrow.label else ""
    return (
        f'<g class="label" data-arrow="{index}">{full}'
        f'<rect x="{number(x - width / 2)}" y="{number(y - 8)}" width="{number(width)}" '
        f'height="16" rx="4"/><text x="{number(x)}" y="{number(y + 4)}">{escaped(text)}</text></g>'
    )


def _rectangle(x: float, y: float, width: float, height: float, radius: float) -> str:
    return (
        f'<rect class="form" x="{number(x)}" y="{number(y)}" width="{number(width)}" '
        f'height="{number(height)}" rx="{number(radius)}"/>'
    )


def _tip_text(box: Box) -> str:
    lines = [box.title, *box.lines]
    lines += [f"{name}: {text}" for name, text in box.details.items()]
    return "\n".join(line if len(line) < 400 else line[:399] + "…" for line in lines)


def _box(index: int, box: Box, place: Point) -> str:
    kind = box.kind if box.kind in BOX_WORDS else "operation"
    width, height = box_size(box)
    x, y = place
    parts = [f'<g class="box {kind}" data-box="{index}"><title>{escaped(_tip_text(box))}</title>']
    radius = height / 2 if kind == "leaf" and not box.lines else 12 if kind == "leaf" else 5
    if box.count > 1 or kind == "group":
        width, height, y = width - 4 * _STACK, height - 2 * _STACK, y + _STACK
        for sheet in (2, 1):
            aside = sheet * _STACK
            parts.append(
                _rectangle(x - width / 2 + aside, y - height / 2 - aside, width, height, radius)
            )
    parts.append(_rectangle(x - width / 2, y - height / 2, width, height, radius))
    line = y - height / 2 + _ABOVE + 13
    title = escaped(cut(box.title, _WIDEST, _HEAD, bold=True))
    parts.append(f'<text class="head" x="{number(x)}" y="{number(line)}">{title}</text>')
    for text in box.lines:
        line += _BODY_LINE
        parts.append(
            f'<text x="{number(x)}" y="{number(line)}">{escaped(cut(text, _WIDEST, _BODY))}</text>'
        )
    if box.count > 1:
        times = f"\N{MULTIPLICATION SIGN}{grouped(box.count)}"
        wide = text_width(times, _LABEL) + 10
        left, top = x + width / 2 - wide + 10, y + height / 2 - 7  # a position where no arrow ends
        parts.append(
            f'<g class="count"><rect x="{number(left)}" y="{number(top)}" width="{number(wide)}" '
            f'height="16" rx="8"/><text x="{number(left + wide / 2)}" y="{number(top + 12)}">'
            f"{times}</text></g>"
        )
    parts.append("</g>")
    return "".join(parts)


def drawing_part(picture: Picture, laid: Layout, left: float, top: float) -> str:
    """Draw arrows, boxes and labels, with an offset to the right and down."""
    arrows = "\n".join(
        _arrow(index, arrow, laid.routes[index]) for index, arrow in enumerate(picture.arrows)
    )
    boxes = "\n".join(
        _box(index, box, laid.places[index]) for index, box in enumerate(picture.boxes)
    )
    labels = "\n".join(
        _label(index, arrow, place)
        for index, arrow in enumerate(picture.arrows)
        if (place := laid.labels[index]) is not None
    )
    return (
        f'<g class="all" transform="translate({number(left)} {number(top)})">\n'
        f'<g class="arrows">\n{arrows}\n</g>\n<g class="boxes">\n{boxes}\n</g>\n'
        f'<g class="labels">\n{labels}\n</g>\n</g>'
    )


def _legend(picture: Picture, width: float) -> tuple[list[str], float]:
    """Return the legend of the kinds of boxes and arrows that occur, and its height."""
    boxes = {box.kind for box in picture.boxes}
    arrows = {arrow.kind for arrow in picture.arrows}
    entries = [(kind, words, True) for kind, words in BOX_WORDS.items() if kind in boxes]
    entries += [(kind, words, False) for kind, words in ARROW_WORDS.items() if kind in arrows]
    if len(entries) < 2:
        return [], 0.0
    parts: list[str] = []
    x = y = 0.0
    for kind, words, is_box in entries:
        wide = 28 + 1.15 * text_width(words, _BODY) + 18  # some systems have wider letters
        if x and x + wide > width:
            x, y = 0.0, y + 20
        if is_box:
            shape = _rectangle(x, y + 2, 22, 12, 6 if kind == "leaf" else 3)
            parts.append(f'<g class="box {kind}">{shape}</g>')
        else:
            line = f'<path class="line" d="M{number(x)} {number(y + 8)}h22"/>'
            parts.append(f'<g class="arrow {kind}">{line}</g>')
        parts.append(
            f'<text class="minor" x="{number(x + 28)}" y="{number(y + 12)}">{escaped(words)}</text>'
        )
        x += wide
    return parts, y + 16


def described(picture: Picture) -> str:
    """Describe a picture in words, for screen readers."""
    boxes = counted(len(picture.boxes), "box")
    parts = [f"A graph of {boxes} and {counted(len(picture.arrows), 'arrow')}."]
    for kind, words in (("leaf", "Leaves"), ("result", "Results")):
        titles = [box.title for box in picture.boxes if box.kind == kind]
        if titles:
            more = f" and {grouped(len(titles) - 12)} more" if len(titles) > 12 else ""
            parts.append(f"{words}: {', '.join(titles[:12])}{more}.")
    return " ".join([*parts, *picture.notes])


def svg_text(picture: Picture, theme: str = "auto", laid: Layout | None = None) -> str:
    """Return a picture as the text of an SVG file.

    Parameters
    ----------
    theme: ``"light"``, ``"dark"``, or ``"auto"`` for the preference of the reader's system.
    laid: The layout, if it is already known.
    """
    laid = lay_out(picture) if laid is None else laid
    heading = escaped(cut(picture.title, 900.0, 16.0, bold=True))
    title = 1.25 * text_width(picture.title, 16.0, True)  # the widths of bold fonts differ more
    inner = max(laid.width, title if heading else 0.0, 240.0)
    inner = max(min(inner, 900.0), laid.width)
    legend, tall = _legend(picture, inner)
    y = _MARGIN
    parts = []
    if heading:
        parts.append(f'<text class="heading" x="{number(_MARGIN)}" y="{y + 14:g}">{heading}</text>')
        y += 42
    parts.append(drawing_part(picture, laid, _MARGIN + (inner - laid.width) / 2, y))
    y += laid.height
    if legend:
        y += 26
        parts.append(f'<g class="legend" transform="translate({number(_MARGIN)} {number(y)})">')
        parts += [*legend, "</g>"]
        y += tall
    for note in picture.notes:
        y += 8
        for line in wrapped(note, inner, _BODY):
            y += _BODY_LINE
            parts.append(
                f'<text class="minor" x="{number(_MARGIN)}" y="{number(y)}">{escaped(line)}</text>'
            )
    width, height = number(inner + 2 * _MARGIN), number(y + _MARGIN)
    body = "\n".join(parts)
    name = "wengert-" + sha256((picture.title + body).encode("utf-8", "replace")).hexdigest()[:10]
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" class="wengert-picture" id="{name}" '
        f'viewBox="0 0 {width} {height}" width="{width}" height="{height}" role="img" '
        f'aria-labelledby="{name}-title {name}-desc" font-family="{FONT}">\n'
        f'<title id="{name}-title">{escaped(picture.title or "Graph")}</title>\n'
        f'<desc id="{name}-desc">{escaped(described(picture))}</desc>\n'
        f"<style>{both_rules(f'#{name}', theme)}</style>\n"
        f'<rect class="paper" width="{width}" height="{height}" rx="8"/>\n{body}\n</svg>\n'
    )
