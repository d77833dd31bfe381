"""Layer 4 · tape: where in the user's program something happened.

A `Site` is cheap to take; lines are looked up when it is shown.
"""

from __future__ import annotations

import linecache
import os
import sys
import warnings
from collections.abc import Iterator
from itertools import islice
from types import CodeType
from typing import Any

__all__ = ["OURS", "Site", "prepare", "shown", "site_here", "traceback_of", "warn_at"]

_PACKAGE = os.path.dirname(os.path.dirname(__file__))
_DEPTH = 8
OURS: set[str] = set()
"""The names of the library's files, and of the code that it generates."""


Site = tuple[list[Any], Any]
"""The user's innermost frames, and what led there.

The frames are a code object and the offset of an instruction for each, innermost first, in one flat
list. What led there is, for what a backward pass recorded, the name of the node that it ran and
that node's site; None otherwise.
"""


def site_here(cause: Any = None, above: int = 1) -> Site:
    """Where the user's program is; the `above` innermost frames are known not to be the user's."""
    frames: list[Any] = []
    frame: Any = sys._getframe(above)
    left = _DEPTH
    ours = OURS
    while frame is not None:
        code = frame.f_code
        if code.co_filename not in ours:
            frames += code, frame.f_lasti
            left -= 1
            if not left:
                break
        frame = frame.f_back
    return frames, cause


def prepare() -> None:
    """Learn which files are the library's own, to tell them from the user's at little cost."""
    for folder, _, names in os.walk(_PACKAGE):
        OURS.update(os.path.join(folder, name) for name in names)


def _pairs(site: Site) -> Iterator[tuple[CodeType, int]]:
    frames = site[0]
    return zip(frames[::2], frames[1::2], strict=True)


def _line(code: CodeType, offset: int) -> int:
    position = next(islice(code.co_positions(), offset // 2, None), (None,))
    return position[0] or code.co_firstlineno


def shown(site: Site | None) -> str:
    """The innermost line of a site, as ``fit.py:12  y = x.exp()``; empty if it is not known."""
    if site is None or not site[0]:
        return ""
    code, offset = site[0][:2]
    line = _line(code, offset)
    source = linecache.getline(code.co_filename, line).strip()
    name = code.co_filename.replace("\\", "/").rsplit("/", 1)[-1]
    return f"{name}:{line}  {source}".rstrip()


def warn_at(site: Site, message: str) -> None:
    """Warn the user of something that happened at `site`."""
    if not site[0]:
        warnings.warn(message, UserWarning, stacklevel=2)
        return
    code, offset = site[0][:2]
    warnings.warn_explicit(message, UserWarning, code.co_filename, _line(code, offset))


def traceback_of(site: Site) -> str:
    """All frames of a site, outermost first, as tracebacks show them."""
    lines = []
    for code, offset in reversed(list(_pairs(site))):
        line = _line(code, offset)
        lines.append(f'  File "{code.co_filename}", line {line}, in {code.co_name}\n')
        source = linecache.getline(code.co_filename, line).strip()
        if source:
            lines.append(f"    {source}\n")
    if site[1] is not None:
        name, above = site[1]
        lines.append(f"Previous calculation was induced by {name}.")
        if above is None:
            lines.append(" No forward pass information is available for it.\n")
        else:
            lines.append(f" Traceback of forward call that induced it:\n{traceback_of(above)}")
    return "".join(lines)
