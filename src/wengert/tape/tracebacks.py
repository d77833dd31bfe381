"""Layer 4 · tape: tracebacks that end at the user's line.

NOTE [folded tracebacks]
An error is raised several calls below the line that its reader can change. So when Python or
IPython prints it, the library's frames are folded: they are left out, and a last line gives their
number. The exception itself keeps all frames, for debuggers, loggers and test tools.
"""

from __future__ import annotations

import importlib
import os
import sys
import threading
import traceback
from collections.abc import Iterator
from contextlib import contextmanager
from types import TracebackType
from typing import Any

import numpy as np

from wengert.tape.sites import OURS

_VARIABLE = "WENGERT_TRACEBACKS"
_INSTALLED = tuple(
    os.path.join(folder, "")
    for folder in (os.path.dirname(os.__file__), os.path.dirname(os.path.dirname(np.__file__)))
)

_full = os.environ.get(_VARIABLE) == "full"
_previous: dict[str, Any] = {}
"""What printed tracebacks before, of the program and of threads, and made those of IPython.

In a dictionary, since a function in a module's namespace counts as a definition of the module.
"""


def set_full_tracebacks(full: bool) -> None:
    """Choose whether printed tracebacks show the library's own frames.

    By default they end at your line. The environment variable ``WENGERT_TRACEBACKS=full`` shows all
    frames from the start.

    Parameters
    ----------
    full : bool. Whether to show all frames.

    Examples
    --------
    >>> from wengert.utils import set_full_tracebacks
    >>> set_full_tracebacks(True)
    >>> set_full_tracebacks(False)
    """
    global _full
    _full = bool(full)


def install() -> None:
    """Fold the tracebacks that Python prints, in any thread, and those of IPython where it runs."""
    if not _previous:
        _previous["program"], sys.excepthook = sys.excepthook, _print
        _previous["threads"], threading.excepthook = threading.excepthook, _print_of_threads
    shell: Any = getattr(sys.modules.get("IPython"), "get_ipython", bool)()
    if shell and "shell" not in _previous:
        # all that IPython prints is made here: of cells, of ``%run``, and of scripts
        made = shell.InteractiveTB
        _previous["shell"], made.structured_traceback = made.structured_traceback, _lines_of


def _print(kind: Any, error: BaseException, trace: Any) -> None:
    with _folded(error):
        _previous["program"](kind, error, error.__traceback__)


def _print_of_threads(given: Any) -> None:
    error = given.exc_value
    with _folded(error):
        parts = given.exc_type, error, getattr(error, "__traceback__", None), given.thread
        _previous["threads"](threading.ExceptHookArgs(parts))


def _lines_of(kind: Any, error: Any, trace: Any, *more: Any, **options: Any) -> Any:
    if trace is None or trace is not getattr(error, "__traceback__", None):
        return _previous["shell"](kind, error, trace, *more, **options)
    with _folded(error):
        lines = _previous["shell"](kind, error, error.__traceback__, *more, **options)
    _previous["shell"].__self__.tb = trace  # for %debug
    return lines


def print_users(error: BaseException) -> bool:
    """Print an error's traceback as Python would if user code is in it; return whether it is."""
    if not _full and _users_part(error.__traceback__)[0] is None:
        return False
    sys.excepthook(type(error), error, error.__traceback__)
    return True


def folded_text(error: BaseException) -> str:
    """Return the text of an error's traceback as Python would print it here."""
    with _folded(error):
        return "".join(traceback.format_exception(error))


@contextmanager
def _folded(error: BaseException) -> Iterator[None]:
    """Remove the library's frames from an exception and its causes, within the context."""
    whole: list[tuple[BaseException, Any]] = []
    count, met = 0, set()
    waiting: list[BaseException | None] = [error]
    while waiting and not _full:
        found = waiting.pop()
        if not isinstance(found, Exception) or id(found) in met:
            continue
        met.add(id(found))
        waiting += [found.__cause__, found.__context__, *getattr(found, "exceptions", ())]
        trace, left_out = _users_part(found.__traceback__)
        if trace and left_out:
            count += left_out
            whole.append((found, found.__traceback__))
            found.__traceback__ = trace
    notes = getattr(error, "__notes__", None)
    try:
        if count:
            frames = "1 frame" if count == 1 else f"{count} frames"
            error.__notes__ = [
                *(notes or ()),
                f"({frames} of wengert left out; {_VARIABLE}=full shows all)",
            ]
        yield
    finally:
        for found, trace in whole:
            found.__traceback__ = trace
        if count:
            if notes is None:
                del error.__notes__
            else:
                error.__notes__ = notes


def _users_part(trace: TracebackType | None) -> tuple[TracebackType | None, int]:
    """Return a traceback without the library's frames, and the number of these.

    Frames of other packages that the library called are removed, too, unless user code follows
    them, as in a function that SciPy calls. So are frames of Python's import system. The traceback
    is None if no frame is left.
    """
    kept: list[TracebackType] = []
    called: list[TracebackType] = []
    count, inside, here = 0, False, trace
    while here is not None:
        name = here.tb_frame.f_code.co_filename
        if name.startswith("<frozen ") or name == importlib.__file__:
            here = here.tb_next
            continue
        count += 1
        if OURS[name] or _module_of(here) == "wengert":
            inside = True
        elif inside and name.startswith(_INSTALLED):
            called.append(here)
        else:
            kept += [*called, here]
            called, inside = [], False
        here = here.tb_next
    if len(kept) == count:
        return trace, 0
    result: TracebackType | None = None
    for here in reversed(kept):
        result = TracebackType(result, here.tb_frame, here.tb_lasti, here.tb_lineno)
    return result, count - len(kept)


def _module_of(trace: TracebackType) -> str:
    # compiled modules have the file names from when they were compiled
    return str(trace.tb_frame.f_globals.get("__name__")).partition(".")[0]
