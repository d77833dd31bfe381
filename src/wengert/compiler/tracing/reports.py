"""Layer 8 · compiler: reporting calls: ``print``, warnings and logging.

NOTE [reports]
A reporting call is not a graph break: it is made after all computation (NOTE [printed output] in
`prints`). While a thread traces, stand-ins replace Python's functions, and attribute lookup on
loggers, whose other methods would return state that the trace does not know. Each call is made as
if from its line in the function, by which warnings are filtered and which log records name.

Streams and handlers must be Python's own, since others may notice that the text is late.
"""

from __future__ import annotations

import builtins
import contextlib
import functools
import io
import logging
import logging.handlers
import sys
import threading
import warnings
from _thread import get_ident
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

from wengert.compiler.objects.flows import LEVELS, LOGGERS
from wengert.compiler.objects.libraries import is_of_library, of_library_name
from wengert.tape.modes import current_mode
from wengert.tape.sites import TAKING

PRINT = builtins.print
"""Python's own ``print``."""


class Report:
    """A call of ``print``, ``warnings.warn`` or a method of a logger.

    Attributes
    ----------
    name: The name of the function.
    call: Makes the call at once.
    logger, level: The logger and the level, for logging.
    is_own: Whether the package makes the call, and `call` names the line of the user's program.
    """

    def __init__(
        self,
        name: str,
        call: Callable[..., Any],
        logger: Any = None,
        level: int = 0,
        is_own: bool = False,
    ) -> None:
        self.name, self.call, self.logger, self.level = name, call, logger, level
        self.is_own = is_own

    def later(self, args: Any, kwargs: Any) -> tuple[str, Callable[..., Any]] | str:
        """Return the target and the function that makes the call later, or why there is none."""
        if self.is_own:
            return "warnings", self.call
        if kwargs:
            return f"it calls {self.name}() with {min(kwargs)}="
        frame = _caller()[0]
        code, line, space = frame.f_code, frame.f_lineno, frame.f_globals
        logger = self.logger
        if logger is not None:
            if (
                logger is not logging.root
                and logging.Logger.manager.loggerDict.get(object.__getattribute__(logger, "name"))
                is not logger
            ):
                return "it uses a logger that logging does not know"
            place = (code.co_filename, line), code.co_name
            how = functools.partial(_log, logger, self.level, place)
            return f"{self.level} {object.__getattribute__(logger, 'name')}", how
        kind = args[1] if len(args) == 2 and args[1] is not None else UserWarning
        if not 1 <= len(args) <= 2 or not _is_plain_warning(kind):
            return "it warns otherwise than by a text and a class"
        registry = space.setdefault("__warningregistry__", {})
        where = (code.co_filename, line), (space.get("__name__", "<string>"), registry)
        return "warnings", functools.partial(_warn, kind, where)


def _log(logger: Any, level: int, place: Any, message: Any, *args: Any) -> None:
    with _plainly():
        if logger is logging.root and not logger.handlers:
            logging.basicConfig()
        if logger.isEnabledFor(level):
            where, function = place
            record = logger.makeRecord(logger.name, level, *where, message, args, None, function)
            logger.handle(record)


def _warn(kind: type, place: Any, message: str) -> None:
    where, known = place
    warnings.warn_explicit(message, kind, *where, *known)


def _is_plain_warning(kind: Any) -> bool:
    """Return whether creating a warning of a class runs no user code."""
    return (
        isinstance(kind, type)
        and issubclass(kind, Warning)
        and all(
            is_of_library(base) or not {"__init__", "__new__", "__str__"} & vars(base).keys()
            for base in kind.__mro__
        )
    )


# -- interception ----------------------------------------------------------------------------------

Handler = Callable[[Any, Any, dict[str, Any]], None]
_HANDLERS: dict[int, list[Any]] = {}
"""The handlers of each thread, as pairs with what was there before; None makes calls at once."""
_BUSY: set[int] = set()
"""The threads that run Python's own functions, without stand-ins."""
_CHANGING = threading.Lock()


@contextlib.contextmanager
def _plainly() -> Iterator[None]:
    """Disable the stand-ins for loggers in this thread."""
    thread = get_ident()
    outermost = thread not in _BUSY
    _BUSY.add(thread)
    try:
        yield
    finally:
        if outermost:
            _BUSY.discard(thread)


def tell(report: Any, args: Sequence[Any], kwargs: dict[str, Any]) -> None:
    """Pass a reporting call to the handler of this thread, or make it if there is none.

    `report` has a ``call``. What a handler tells goes to the handler that was there before it.
    """
    handlers = None if get_ident() in _BUSY else _HANDLERS.get(get_ident())
    if not handlers or handlers[-1] is None:
        report.call(*args, **kwargs)
        return
    handler, before = handlers[-1]
    handlers.append(before)
    try:
        handler(report, args, kwargs)
    finally:
        handlers.pop()


def _standing_in(original: Any, report: Report) -> Any:
    @functools.wraps(original)
    def stand_in(*args: Any, **kwargs: Any) -> None:
        caller = sys._getframe(1).f_globals.get("__name__")
        if original is not PRINT and of_library_name(caller):
            report.call(*args, **kwargs)
        else:
            tell(report, args, kwargs)

    return stand_in


def _takes(message: str, kind: type, place: Any) -> bool:
    """Report a warning of the package, if this thread traces (see `wengert.tape.sites.warn`)."""
    handlers = None if get_ident() in _BUSY else _HANDLERS.get(get_ident())
    if handlers is not None:
        report = Report("warnings.warn", functools.partial(_warn, kind, place), is_own=True)
        tell(report, (message,), {})
        return True
    mode = current_mode()
    if mode is None or mode.tracing is None:
        return False
    # nobody may ask for the backward pass that is being traced
    mode.tracing.give_up("its backward pass warns")
    return True


TAKING.append(_takes)


def _caller() -> tuple[Any, int]:
    """Return the frame that called the stand-in, and the number of frames from it to this one."""
    frame: Any = sys._getframe(1)
    depth = 1
    while frame.f_code is not _STAND_IN:
        frame, depth = frame.f_back, depth + 1
    return frame.f_back, depth


def _from_outside(original: Any) -> Any:
    """Wrap a function that reports its caller's line, so that its stand-in can call it."""

    def call(*args: Any, **kwargs: Any) -> None:
        if original is _WARN and len(args) > 2:
            args, kwargs = (*args[:2], *args[3:]), {"stacklevel": args[2], **kwargs}
        kwargs["stacklevel"] = kwargs.get("stacklevel", 1) + _caller()[1]
        with _plainly():
            original(*args, **kwargs)

    return call


_WARN = vars(warnings)["warn"]
_OWN: dict[str, tuple[Any, Any, Report]] = {
    "builtins.print": (builtins, PRINT, Report("print", PRINT)),
    "warnings.warn": (warnings, _WARN, Report("warnings.warn", _from_outside(_WARN))),
}
for _name, _level in LEVELS.items():
    _made = getattr(logging, _name)
    _report = Report(f"logging.{_name}", _from_outside(_made), logging.root, _level)
    _OWN[_report.name] = logging, _made, _report
_PATCHED = {
    name: (owner, name.split(".")[1], own, _standing_in(own, report))
    for name, (owner, own, report) in _OWN.items()
}
"""The functions that are replaced, with their stand-ins."""
_STAND_IN = _PATCHED["builtins.print"][3].__code__


def _is_traced(name: str) -> bool:
    """Return whether a traced function is looking up this attribute of a logger."""
    thread = get_ident()
    if thread not in _HANDLERS or thread in _BUSY or name == "__class__":
        return False
    frame: Any = sys._getframe(2)
    # modules of libraries make their loggers while they are imported
    while frame.f_globals.get("__name__") == "logging":
        frame = frame.f_back
    return not of_library_name(frame.f_globals.get("__name__"))


def _give_up(what: str) -> None:
    mode = current_mode()
    if mode is not None and mode.tracing is not None:
        mode.tracing.give_up(what)


def _attribute(logger: Any, name: str) -> Any:
    """Look up an attribute of a logger; in a traced function, return its stand-in."""
    if not _is_traced(name):
        return object.__getattribute__(logger, name)
    if name in LEVELS and type(logger) in LOGGERS:
        found = object.__getattribute__(logger, name)
        report = Report(f"logging.{name}", _from_outside(found), logger, LEVELS[name])
        return _standing_in(found, report)
    _give_up(f"it asks a logger for its {name}")
    return object.__getattribute__(logger, name)


def _assign(logger: Any, name: str, value: Any) -> None:
    if _is_traced(name):
        _give_up(f"it sets {name} of a logger")
    object.__setattr__(logger, name, value)


def _delete(logger: Any, name: str) -> None:
    if _is_traced(name):
        _give_up(f"it deletes {name} of a logger")
    object.__delattr__(logger, name)


_OF_LOGGERS = {"__getattribute__": _attribute, "__setattr__": _assign, "__delattr__": _delete}


@contextlib.contextmanager
def intercepted(handler: Handler) -> Iterator[None]:
    """Pass the reports of this thread to `handler`."""
    thread = get_ident()
    with _CHANGING:
        handlers = _HANDLERS.setdefault(thread, [])
        handlers.append((handler, handlers[-1] if handlers else None))
        for owner, name, own, stand_in in _PATCHED.values():
            if getattr(owner, name) is own:
                setattr(owner, name, stand_in)
        for name, stand_in in _OF_LOGGERS.items():
            setattr(logging.Logger, name, stand_in)
    try:
        yield
    finally:
        with _CHANGING:
            _HANDLERS[thread].pop()
            if not _HANDLERS[thread]:
                del _HANDLERS[thread]
            if not _HANDLERS:
                for name in _OF_LOGGERS:
                    delattr(logging.Logger, name)
                for owner, name, own, stand_in in _PATCHED.values():
                    if getattr(owner, name) is stand_in:
                        setattr(owner, name, own)


def is_unchanged(name: str = "builtins.print") -> bool:
    """Return whether a reporting function is still Python's own."""
    owner, key, own, stand_in = _PATCHED[name]
    return getattr(owner, key) in (own, stand_in)


def is_report(name: str) -> bool:
    """Return whether a qualified name is that of a reporting function."""
    return name in _PATCHED


# -- targets ---------------------------------------------------------------------------------------

_OWN_STREAMS = frozenset({"_io", "io"})
_NOTEBOOKS = "ipykernel.iostream"
_HANDLERS_OF_LOGGING = frozenset(
    {
        *(logging.StreamHandler, logging.FileHandler, logging.NullHandler),
        *(type(logging.lastResort), logging.handlers.RotatingFileHandler),
        *(logging.handlers.TimedRotatingFileHandler, logging.handlers.WatchedFileHandler),
    }
)


def are_known(targets: Iterable[str]) -> bool:
    """Return whether reports to these targets do nothing but write."""
    return all(map(_is_known, targets))


def _is_known(target: str) -> bool:
    if target in ("stdout", "stderr"):
        return _is_stream(getattr(sys, target, None))
    if target == "warnings":
        return _shows_plainly()
    level, _, name = target.partition(" ")
    with _plainly():
        known = logging.root if name == "root" else logging.Logger.manager.loggerDict.get(name)
        return _is_logger(known, int(level))


def _shows_plainly() -> bool:
    module: Any = warnings
    shown = module._showwarnmsg_impl
    return (
        module.showwarning is module._showwarning_orig
        and module.formatwarning is module._formatwarning_orig
        and (
            # `catch_warnings` records them in a list
            type(getattr(shown, "__self__", None)) is list
            or (getattr(shown, "__module__", "") == "warnings" and _is_stream(sys.stderr))
        )
    )


def _is_logger(logger: Any, level: int) -> bool:
    """Return whether log records of a level go only to Python's own handlers, if anywhere."""
    if type(logger) not in LOGGERS or _has(logger, "handle", "isEnabledFor", "makeRecord"):
        return False
    if not logger.isEnabledFor(level):
        return True
    if logging.getLogRecordFactory() is not logging.LogRecord:
        return False
    found = []
    while logger is not None:
        if type(logger) not in LOGGERS or logger.filters:
            return False
        found += logger.handlers
        logger = logger.parent if logger.propagate else None
    return all(map(_is_handler, found or [logging.lastResort]))


def _is_handler(handler: Any) -> bool:
    if type(handler) not in _HANDLERS_OF_LOGGING or handler.filters:
        return False
    made = handler.formatter
    if type(made) not in (logging.Formatter, type(None)) or (made and _has(made, "format")):
        return False
    named = isinstance(handler, logging.FileHandler | logging.NullHandler)
    return not _has(handler, "emit", "handle", "format") and (
        named or _is_stream(getattr(handler, "stream", None))
    )


def _has(thing: Any, *names: str) -> bool:
    """Return whether an object overrides attributes of its class."""
    return not vars(thing).keys().isdisjoint(names)


def _is_stream(stream: Any) -> bool:
    if stream is None or type(stream).__module__ == _NOTEBOOKS:
        return True
    base = io.TextIOWrapper if isinstance(stream, io.TextIOWrapper) else io.StringIO
    if not isinstance(stream, base) or {"write", "flush"} & getattr(stream, "__dict__", {}).keys():
        return False
    kind: Any = type(stream)
    if kind.write is not base.write or kind.flush is not base.flush:
        return False
    # the stream underneath
    below = stream.buffer if base is io.TextIOWrapper else None
    while below is not None:
        if type(below).__module__ not in _OWN_STREAMS:
            return False
        below = getattr(below, "raw", None)
    return True
