"""Layer 9 · viz: a picture that notebooks show and that can be saved to files."""

from __future__ import annotations

import os
from collections import Counter
from pathlib import Path

from wengert.viz.dot import dot_text
from wengert.viz.layout import Layout
from wengert.viz.page import frame_text, page_text
from wengert.viz.picture import Picture
from wengert.viz.saving import save
from wengert.viz.svg import counted, grouped, lay_out, svg_text


class Drawing:
    """A picture of a graph, ready to be shown or saved.

    As the last expression of a notebook cell it shows an interactive page: click on a box, step
    through the sweep, zoom. Front ends without such pages, and exports to other formats, use the
    still picture instead.

    Parameters
    ----------
    picture: The picture to draw.

    Examples
    --------
    >>> from wengert.viz.picture import Arrow, Box, Picture
    >>> Drawing(Picture("y = 2 x", "backward", [Box("leaf", "x"), Box("result", "y")],
    ...                 [Arrow(0, 1, "2")]))
    Drawing('y = 2 x': 2 boxes, 1 arrow)
    """

    __slots__ = ("_laid", "picture")

    def __init__(self, picture: Picture):
        for number, arrow in enumerate(picture.arrows):
            for box in (arrow.tail, arrow.head):
                if not 0 <= box < len(picture.boxes):
                    raise ValueError(
                        f"arrow {number} joins box {box}, but the picture has "
                        f"{counted(len(picture.boxes), 'box')}"
                    )
        for number, step in enumerate(picture.steps):
            for name, used, there in (
                ("box", step.boxes, picture.boxes),
                ("arrow", step.arrows, picture.arrows),
            ):
                if used and not 0 <= min(used) <= max(used) < len(there):
                    raise ValueError(
                        f"step {number} works on {name} {max(used)}, but the picture has "
                        f"{counted(len(there), name)}"
                    )
        self.picture = picture
        self._laid: Layout | None = None

    @property
    def laid(self) -> Layout:
        """The layout, computed on first access."""
        if self._laid is None:
            self._laid = lay_out(self.picture)
        return self._laid

    def svg(self, theme: str = "auto") -> str:
        """Return the picture as SVG.

        Parameters
        ----------
        theme: ``"light"``, ``"dark"``, or ``"auto"`` for the preference of the reader's system.
        """
        if theme not in ("auto", "light", "dark"):
            raise ValueError(f"theme should be 'auto', 'light' or 'dark', but got {theme!r}")
        return svg_text(self.picture, theme, self.laid)

    def html(self) -> str:
        """Return an interactive page of the picture: one file, no network."""
        return page_text(self.picture, self.laid)

    def dot(self) -> str:
        """Return the picture in Graphviz's language; this needs no Graphviz."""
        return dot_text(self.picture)

    def save(self, path: str | os.PathLike[str]) -> Path:
        """Write the picture to a file.

        Parameters
        ----------
        path: The suffix determines the format: ``.svg``, ``.html``, ``.dot``, or ``.png``, which
            needs a converter: rsvg-convert, CairoSVG, Inkscape, Chromium or Graphviz.

        Returns
        -------
        Path: The file that was written. Without a converter, it is an SVG instead of a PNG, and a
            warning says so.

        Raises
        ------
        ValueError: If the suffix is none of these.
        FileNotFoundError: If the folder does not exist.
        """
        forms = {".svg": self.svg, ".html": self.html, ".htm": self.html}
        forms |= {".dot": self.dot, ".gv": self.dot}
        return save(path, forms, lambda: self.svg("light"))

    def _repr_svg_(self) -> str:
        return self.svg()

    def _repr_html_(self) -> str:
        height = min(max(self.laid.height + 190, 380), 640)
        return frame_text(self.html(), self.picture.title, height)

    def __repr__(self) -> str:
        picture = self.picture
        parts = [counted(len(picture.boxes), "box"), counted(len(picture.arrows), "arrow")]
        if picture.steps:
            parts.append(counted(len(picture.steps), "step"))
        return f"Drawing({picture.title!r}: {', '.join(parts)})"

    def __str__(self) -> str:
        kinds = Counter(box.kind for box in self.picture.boxes)
        words = ", ".join(f"{grouped(count)} {kind}" for kind, count in kinds.items())
        notes = "".join(f"\n{note}" for note in self.picture.notes)
        return f"{self!r}\n{words}{notes}" if words else f"{self!r}{notes}"
