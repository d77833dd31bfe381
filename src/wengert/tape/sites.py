"""Layer 4 · tape: positions in the user's program.

NOTE [sites]
A site is noted as a code object and the offset of an instruction; the line is looked up when it is
shown. A node that saves tensors always notes where it was recorded: it keeps the code object as its
`site`, and the offset as its `versions` or at their end, so that no further object is needed. In
anomaly mode, `site` holds a `Site` instead, which includes the enclosing frames.
"""

from __future__ import annotations

import linecache
import os
import warnings
from collections.abc import Callable, Iterator
from inspect import CO_ASYNC_GENERATOR, CO_COROUTINE, CO_GENERATOR
from itertools import islice
from sys import _getframe
from types import CodeType, FunctionType
from typing import Any

from wengert.base import __file__ as _BASE
from wengert.base.patches import Setting

# not found from this file's path, since this module may be compiled
_PACKAGE = os.path.join(os.path.dirname(os.path.dirname(_BASE)), "")
_RULES = os.path.join(_PACKAGE, "prims", "")
"""The folder of the rules: operations recorded in one were recorded by a backward pass."""
_DEPTH = 8


class _Ours(dict[str, bool]):
    """Whether a file, by name, is the library's own or code that it generates."""

    def __missing__(self, name: str) -> bool:
        ours = self[name] = name.startswith((_PACKAGE, "<wengert "))
        return ours


class _Leads(dict[str, bool]):
    """Whether a file is the library's and its frames lead to the user's, by name."""

    def __missing__(self, name: str) -> bool:
        leads = self[name] = OURS[name] and not name.startswith((_RULES, "<wengert "))
        return leads


OURS = _Ours()
LEADS = _Leads()

Site = tuple[list[Any], Any]
"""The user's innermost frames, and their cause.

The frames are one flat list of a code object and an instruction offset for each, innermost first.
The cause of an operation recorded by a backward pass is the name and the site of the node that the
pass was running; otherwise it is None.
"""


def outside(frame: Any) -> Any:
    """Return the user's innermost frame, from `frame` outwards; `frame` if there is none."""
    ours = OURS
    outer = frame
    while ours[outer.f_code.co_filename]:
        outer = outer.f_back
        if outer is None:
            return frame
    return outer


def place() -> tuple[CodeType, int]:
    """Return the user's innermost frame, as a code object and an offset."""
    frame = outside(_getframe())
    return frame.f_code, frame.f_lasti


def mark(node: Any) -> None:
    """Note the program's position on a new node that saves tensors."""
    frame = outside(_getframe())
    node.site = frame.f_code
    versions = getattr(node, "versions", None)
    node.versions = frame.f_lasti if versions is None else (*versions, frame.f_lasti)


def site_here(cause: Any = None) -> Site:
    """Return the program's position, with `cause`."""
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
"""The number of Python frames between the user and `Frames.take`: compiled functions have none."""
_RESUMED = CO_GENERATOR | CO_COROUTINE | CO_ASYNC_GENERATOR


class Frames:
    """Takes the frames of the user's program repeatedly, in the form of a `Site`.

    The frames outside of the innermost one are cached with the caller's frame: while the caller is
    at one instruction, they cannot change, unless one of them is a generator.
    """

    __slots__ = ("_at", "_caller", "_rest")

    def __init__(self) -> None:
        self._caller: Any = None
        self._at = 0
        self._rest: list[Any] = []

    def take(self) -> list[Any]:
        """Return the current frames."""
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
                # may be resumed from elsewhere
                self._caller = self
            frame = frame.f_back


def site_of(node: Any) -> Site | None:
    """Return the `Site` of `node`; None if it was not recorded in anomaly mode."""
    site = getattr(node, "site", None)
    return site if site.__class__ is tuple else None


def line_of(node: Any) -> str:
    """Return the line that recorded `node`, in the form of `shown`; empty if not noted."""
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


def _source(code: CodeType, line: int) -> str:
    """Return a line of the source, if it is known."""
    # all code compiled from strings has this name, and Python 3.13 caches the lines of only one
    known = code.co_filename != "<string>"
    return linecache.getline(code.co_filename, line).strip() if known else ""


def shown(site: Site | None) -> str:
    """Return the innermost line of a site, as ``fit.py:12  y = x.exp()``; empty if unknown."""
    if site is None or not site[0]:
        return ""
    code, offset = site[0][:2]
    line = _line(code, offset)
    source = _source(code, line)
    name = code.co_filename.replace("\\", "/").rsplit("/", 1)[-1]
    return f"{name}:{line}  {source}".rstrip()


def warn(message: str, category: type[Warning] = UserWarning) -> None:
    """Warn at the current line of the user's program, at any depth inside the library."""
    frame = outside(_getframe())
    names = frame.f_globals
    place = frame.f_code.co_filename, frame.f_lineno
    known = names.get("__name__"), names.setdefault("__warningregistry__", {})
    if not any(takes(message, category, (place, known)) for takes in TAKING):
        warnings.warn_explicit(message, category, *place, *known)


TAKING: list[Callable[..., bool]] = []
"""Functions that are given each warning of the package, and return whether they show it."""


_WARNED: set[str] = set()
_WARNS_ALWAYS = Setting(False)


def set_warn_always(b: bool, /) -> None:
    """Set whether warnings that are normally given once are given each time.

    Examples
    --------
    >>> wg.set_warn_always(True)
    >>> wg.is_warn_always_enabled()
    True
    >>> wg.set_warn_always(False)
    """
    _WARNS_ALWAYS.set(bool(b))


def is_warn_always_enabled() -> bool:
    """Return the value last given to `set_warn_always`.

    Examples
    --------
    >>> wg.is_warn_always_enabled()
    False
    """
    return bool(_WARNS_ALWAYS.value)


def warn_once(message: str) -> None:
    """Call `warn` the first time only, or each time after ``set_warn_always(True)``."""
    if not _WARNS_ALWAYS.value:
        if message in _WARNED:
            return
        _WARNED.add(message)
    warn(message)


def warn_outdated(name: str, instead: str) -> None:
    """Warn once that a function has a newer form."""
    warn_once(
        f"torch.{name} is deprecated in favor of torch.{instead} and will be removed in a future "
        "PyTorch release."
    )


def warn_at(site: Site, message: str) -> None:
    """Warn about an event at `site`."""
    if not site[0]:
        warn(message)
        return
    code, offset = site[0][:2]
    warnings.warn_explicit(message, UserWarning, code.co_filename, _line(code, offset))


def traceback_of(site: Site) -> str:
    """Return all frames of a site as a traceback, outermost first, without its cause."""
    lines = []
    for code, offset in reversed(list(_pairs(site))):
        line = _line(code, offset)
        lines.append(f'  File "{code.co_filename}", line {line}, in {code.co_name}\n')
        source = _source(code, line)
        if source:
            lines.append(f"    {source}\n")
    return "".join(lines)
