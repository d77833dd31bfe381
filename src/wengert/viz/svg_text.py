"""Layer 9 · viz: text in pictures: its width without a font, truncation, and escaping."""

from __future__ import annotations

import re
import unicodedata
from html import escape
from textwrap import wrap

FONT = "'Helvetica Neue', Helvetica, Arial, 'Liberation Sans', 'Noto Sans', sans-serif"

# in thousandths of the size, from the metrics that Helvetica, Arial and Liberation Sans share
_CLASSES = {
    191: "'",
    222: "ijl",
    260: "|",
    278: " !,./:;I[\\]ft·",
    333: "()-`r{}",
    355: '"',
    389: "*",
    469: "^",
    500: "Jcksvxyz",
    556: "#$?L_abdeghnopqu0123456789",
    584: "+<=>~÷±\N{MULTIPLICATION SIGN}\N{MINUS SIGN}",
    611: "FTZ",
    667: "&ABEKPSVXY",
    722: "CDHNRUw",
    778: "GOQ",
    833: "Mm",
    889: "%",
    944: "W",
    1015: "@",
}
_WIDTHS = {character: width for width, several in _CLASSES.items() for character in several}
_FORBIDDEN = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def text_width(text: str, size: float, bold: bool = False) -> float:
    """Estimate how wide a line of text is.

    Examples
    --------
    >>> round(text_width("MulBackward0", 10), 2)
    65.57
    """
    total = 0
    for character in text:
        width = _WIDTHS.get(character)
        total += _other_width(character) if width is None else width
    return total * size / 1000 * (1.06 if bold else 1.0)


def _other_width(character: str) -> int:
    if unicodedata.combining(character):
        return 0
    if unicodedata.east_asian_width(character) in "WF":
        return 1000
    return _WIDTHS.get(unicodedata.normalize("NFD", character)[0], 620)  # no accent


def cut(text: str, width: float, size: float, bold: bool = False) -> str:
    """Truncate a line to a width; an ellipsis marks the cut."""
    text = " ".join(text.split())
    if text_width(text, size, bold) <= width:
        return text
    low, high = 0, len(text)
    while low < high:
        middle = (low + high + 1) // 2
        if text_width(text[:middle] + "…", size, bold) <= width:
            low = middle
        else:
            high = middle - 1
    return text[:low].rstrip() + "…"


def wrapped(text: str, width: float, size: float) -> list[str]:
    """Break text into lines of at most a width."""
    return wrap(text, max(20, int(width / (0.52 * size)))) or [""]


def escaped(text: str) -> str:
    """Escape text for the elements and the attributes of XML and HTML.

    Characters that XML does not allow are replaced.
    """
    return escape(_FORBIDDEN.sub("\N{REPLACEMENT CHARACTER}", text), quote=True)


def number(value: float) -> str:
    """Format a coordinate with at most one decimal."""
    text = f"{value:.1f}"
    if text.endswith(".0"):
        text = text[:-2]
    return "0" if text == "-0" else text
