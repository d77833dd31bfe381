"""Layer 4 · tape: where in the user's program something happened.

NOTE [sites]
What is noted is a code object and the offset of an instruction; lines are looked up when they are
shown. A node that saves tensors always notes where it was recorded: the code object as its `site`,
and the offset as its `versions`, or behind these, so that no further object is kept. While
anomalies are looked for, `site` holds a `Site` instead, with the frames around that one.
"""

from __future__ import annotations

import linecache
import os
import warnings
from collections.abc import Iterator
from inspect import CO_ASYNC_GENERATOR, CO_COROUTINE, CO_GENERATOR
from itertools import islice
from sys import _getframe
from types import CodeType, FunctionType
from typing import Any

from wengert.base import __file__ as _BASE
from wengert.base.sections import fill_sections

# not by the place of this file, which may be compiled
_PACKAGE = os.path.join(os.path.dirname(os.path.dirname(_BASE)), "")
_RULES = os.path.join(_PACKAGE, "prims", "")
"""Where rules are: what a rule records, a backward pass has recorded."""
_DEPTH = 8


class _Ours(dict[str, bool]):
    """Whether the file of a name is the library's own, or code that it generates."""

    def __missing__(self, name: str) -> bool:
        ours = self[name] = name.startswith((_PACKAGE, "<wengert "))
        return ours


class _Leads(dict[str, bool]):
    """Whether the user's frame is outside of those of a file, the library's own."""

    def __missing__(self, name: str) -> bool:
        leads = self[name] = OURS[name] and not name.startswith((_RULES, "<wengert "))
        return leads


OURS = _Ours()
LEADS = _Leads()

Site = tuple[list[Any], Any]
"""The user's innermost frames, and what led there.

The frames are a code object and the offset of an instruction for each, innermost first, in one flat
list. What led there is, for what a backward pass recorded, the name of the node that it ran and
that node's site; None otherwise.
"""


def outside(frame: Any) -> Any:
    """The innermost frame that is the user's, from `frame` outwards; `frame` if none is."""
    ours = OURS
    outer = frame
    while ours[outer.f_code.co_filename]:
        outer = outer.f_back
        if outer is None:
            return frame
    return outer


def place() -> tuple[CodeType, int]:
    """The user's innermost frame, as a code object and an offset."""
    frame = outside(_getframe())
    return frame.f_code, frame.f_lasti


def mark(node: Any) -> None:
    """Note on a new node, which saves tensors, where the user's program is."""
    frame = outside(_getframe())
    node.site = frame.f_code
    versions = getattr(node, "versions", None)
    node.versions = frame.f_lasti if versions is None else (*versions, frame.f_lasti)


def site_here(cause: Any = None) -> Site:
    """Where the user's program is."""
    frames: list[Any] = []
    frame: Any = _getframe()
    ours = OURS
    while frame is not None:
        code = frame.f_code
        if not ours[code.co_filename]:
            frames += code, frame.f_lasti
            if len(frames) == 2 * _DEPTH:
                break
        frame = frame.f_back
    return frames, cause


_ABOVE = 2 if isinstance(outside, FunctionType) else 0
"""How many frames lie between the user and `Frames.take`; compiled functions have none."""
_RESUMED = CO_GENERATOR | CO_COROUTINE | CO_ASYNC_GENERATOR


class Frames:
    """Takes the frames of the user's program, as a `Site` has them, time and again.

    Those around the innermost one are remembered with the caller's frame: while that stands at one
    instruction nothing outside of it can change, unless something there is a generator.
    """

    __slots__ = ("_at", "_caller", "_rest")

    def __init__(self) -> None:
        self._caller: Any = None
        self._at = 0
        self._rest: list[Any] = []

    def take(self) -> list[Any]:
        """The frames as they are now."""
        frame: Any = _getframe(_ABOVE)
        ours = OURS
        while ours[frame.f_code.co_filename]:
            frame = frame.f_back
            if frame is None:
                return []
        caller = frame.f_back
        if caller is not self._caller or (caller is not None and caller.f_lasti != self._at):
            self._look_around(caller)
        return [frame.f_code, frame.f_lasti, *self._rest]

    def _look_around(self, caller: Any) -> None:
        self._caller, self._at = caller, 0 if caller is None else caller.f_lasti
        rest = self._rest = []
        frame = caller
        while frame is not None and len(rest) < 2 * _DEPTH - 2:
            code = frame.f_code
            if not OURS[code.co_filename]:
                rest += code, frame.f_lasti
            if code.co_flags & _RESUMED:
                # may be resumed elsewhere
                self._caller = self
            frame = frame.f_back


def site_of(node: Any) -> Site | None:
    """Where `node` was recorded, with what led there, if anomalies were looked for."""
    site = getattr(node, "site", None)
    return site if site.__class__ is tuple else None


def line_of(node: Any) -> str:
    """The line that recorded `node`, as `shown` gives it; empty if it was not noted."""
    site = getattr(node, "site", None)
    if not isinstance(site, CodeType):
        return shown(site)
    if site.co_filename.startswith("<wengert "):
        return ""
    if OURS[site.co_filename]:
        return "a backward pass that was recorded itself (create_graph=True)"
    noted = node.versions
    return shown(([site, noted[-1] if noted.__class__ is tuple else noted], None))


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


def warn(message: str, category: type[Warning] = UserWarning) -> None:
    """Warn at the line of the user's program that runs, however deep below it the library is."""
    frame = outside(_getframe())
    names = frame.f_globals
    warnings.warn_explicit(
        message,
        category,
        frame.f_code.co_filename,
        frame.f_lineno,
        names.get("__name__"),
        names.setdefault("__warningregistry__", {}),
    )


_WARNED: set[str] = set()
_warns_always = False


def set_warn_always(b: bool, /) -> None:
    """Say whether warnings that are given once are given each time.

    Examples
    --------
    >>> wg.set_warn_always(True)
    >>> wg.is_warn_always_enabled()
    True
    >>> wg.set_warn_always(False)
    """
    global _warns_always
    _warns_always = bool(b)


def is_warn_always_enabled() -> bool:
    """What `set_warn_always` was last told.

    Examples
    --------
    >>> wg.is_warn_always_enabled()
    False
    """
    return _warns_always


def warn_once(message: str) -> None:
    """Warn as `warn`, the first time, or each time after ``set_warn_always(True)``."""
    if not _warns_always:
        if message in _WARNED:
            return
        _WARNED.add(message)
    warn(message)


def warn_at(site: Site, message: str) -> None:
    """Warn the user of something that happened at `site`."""
    if not site[0]:
        warn(message)
        return
    code, offset = site[0][:2]
    warnings.warn_explicit(message, UserWarning, code.co_filename, _line(code, offset))


def traceback_of(site: Site) -> str:
    """All frames of a site, outermost first, as tracebacks show them; not what led there."""
    lines = []
    for code, offset in reversed(list(_pairs(site))):
        line = _line(code, offset)
        lines.append(f'  File "{code.co_filename}", line {line}, in {code.co_name}\n')
        source = linecache.getline(code.co_filename, line).strip()
        if source:
            lines.append(f"    {source}\n")
    return "".join(lines)


fill_sections(globals())
