"""Layer 8 · compiler: the printed output of a compiled function.

NOTE [printed output]
Tracing records the arguments of ``print``: text, with placeholders for numbers and tensors, which
are values of the program. A run computes these with everything else, so ``print`` is not a graph
break. The run makes the calls in order, once all decisions have been taken and no step has raised.
Until then it has no effect, and the function can be traced again. If ``print`` itself raises, the
function runs again to raise the error in its place, without the calls already made
(`Missing.said`).

No code may notice that the text is printed late. So streams must be Python's own (`are_known`):
with any other, which may run arbitrary code, the function runs uncompiled. Warnings and log records
work the same way (NOTE [reports] in `reports`).
"""

from __future__ import annotations

import contextlib
import re
import sys
from collections.abc import Callable, Iterator, Sequence
from pathlib import PureWindowsPath
from typing import Any, NamedTuple

import numpy as np

from wengert.base.dtypes import dtype
from wengert.compiler.ir.programs import Value
from wengert.compiler.objects.libraries import is_of_library
from wengert.compiler.objects.walker import VALUES
from wengert.compiler.tracing.reports import PRINT, Report, are_known, intercepted, tell
from wengert.compiler.tracing.scalar import Scalar
from wengert.tape.base import TensorBase
from wengert.tape.modes import current_mode
from wengert.tensor.printing import array_text, history_of

# -- handlers of printed text ----------------------------------------------------------------------


def silent() -> contextlib.AbstractContextManager[None]:
    """Suppress printing."""
    return intercepted(lambda report, args, kwargs: None)


def told_before(said: Sequence[Any]) -> contextlib.AbstractContextManager[None]:
    """Skip the calls of ``print`` in `said`, which have been made (see `Missing.said`)."""
    left = iter(said)

    def handler(report: Report, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        found = next(left, None)
        if isinstance(found, BaseException):
            raise found
        if found is None:
            tell(report, args, kwargs)

    return intercepted(handler) if said else contextlib.nullcontext()


# -- text ------------------------------------------------------------------------------------------


class Piece(NamedTuple):
    """A part of a text, or an argument, that depends on a value of the program.

    Attributes
    ----------
    value: The value.
    text: Formats an array; takes the tensor at `source`, too, if that is set.
    now: The text in the traced run.
    source: The place of a tensor of the environment whose own history is shown.
    key: The place of an argument, by number or name, that is shown instead of a value.
    """

    value: Value | None
    text: Callable[..., Any]
    now: Any
    source: int | None = None
    key: int | str | None = None


Text = str | tuple[str | Piece, ...]


class Said(NamedTuple):
    """One call of ``print``, or of another function that reports (NOTE [reports]).

    Attributes
    ----------
    name: The name of the function.
    texts: The printed texts; for other functions the arguments, which need not be texts.
    options: The keyword arguments, as texts or values; ``file`` as the name of a stream.
    decisions: The number of decisions before it.
    site: The file and line of the call.
    stream: Its target (see `wengert.compiler.tracing.reports.are_known`).
    call: Makes the call as if from that line.
    """

    name: str
    texts: tuple[Any, ...]
    options: dict[str, Any]
    decisions: int
    site: tuple[str, int] | None
    stream: str = "stdout"
    call: Callable[..., Any] = PRINT

    def values(self) -> Iterator[Value]:
        """Yield the values that the text shows."""
        for text in (*self.texts, *self.options.values()):
            if isinstance(text, tuple):
                parts = [part for part in text if isinstance(part, Piece)]
                yield from [part.value for part in parts if part.value is not None]

    def constants(self) -> Iterator[str]:
        """Yield the texts that are the same in every run."""
        for text in (*self.texts, *self.options.values()):
            parts = text if isinstance(text, tuple) else (text,)
            yield from [part for part in parts if isinstance(part, str)]

    def renamed(self, rename: Callable[[Value], Value]) -> Said:
        """Return this call with its values renamed."""

        def of(text: Any) -> Any:
            if not isinstance(text, tuple):
                return text
            return tuple(
                [
                    part._replace(value=rename(part.value))
                    if isinstance(part, Piece) and part.value is not None
                    else part
                    for part in text
                ]
            )

        options = {name: of(option) for name, option in self.options.items()}
        return self._replace(texts=tuple(map(of, self.texts)), options=options)

    def say(self, run: Run | None = None) -> None:
        """Make the call with the values of a run, or with those of the traced run."""
        texts = [_joined(text, run) if text.__class__ is tuple else text for text in self.texts]
        options: dict[str, Any] = {
            name: _joined(option, run) if isinstance(option, tuple) else option
            for name, option in self.options.items()
        }
        if "file" in options:
            options["file"] = getattr(sys, options["file"])
        tell(self, texts, options)


Run = tuple[dict[Value, Any], Sequence[Any], Any]
"""The data of a run: values, the tensors of the environment, and the arguments of the call."""


def _joined(text: Any, run: Run | None) -> Any:
    parts = [part if part.__class__ is str else _shown(part, run) for part in text]
    return parts[0] if len(parts) == 1 else "".join(parts)


def _shown(piece: Piece, run: Run | None) -> Any:
    if run is None:
        return piece.now
    known, tensors, given = run
    value = piece.value
    if value is None:
        args, kwargs = given
        return piece.text(args[piece.key] if piece.key.__class__ is int else kwargs[piece.key])
    array = known[value] if value.constant is None else value.constant
    return piece.text(array) if piece.source is None else piece.text(array, tensors[piece.source])


class Shown(int):
    """An integer argument of a traced function that is only printed.

    Tests of it are guarded (see `wengert.compiler.objects.flows.questions_of`).
    """

    __slots__ = ()

    def __repr__(self) -> str:
        return self._written(None)

    def __format__(self, spec: str) -> str:
        return self._written(spec)

    def _written(self, spec: str | None) -> str:
        mode = current_mode()
        text = text_of_int(spec, int(self))
        if mode is None or mode.tracing is None:
            return text
        return str(mode.tracing.argument_written(self, text, spec))


def text_of_int(spec: str | None, number: int) -> str:
    """Format an integer argument."""
    return repr(number) if spec is None else format(number, spec)


def said_of(
    report: Report,
    args: tuple[Any, ...],
    kwargs: dict[str, Any],
    text_of: Callable[[Any], Text],
    argument_of: Callable[[Any], Any],
    decisions: int,
    site: tuple[str, int] | None,
) -> Said | str:
    """Return a reporting call, or the reason why later runs cannot make it.

    `text_of` formats an argument, and `argument_of` converts one that is formatted later.
    """
    for arg in args:
        if not _is_plain(arg) and not isinstance(arg, type):
            return f"it prints an object ({type(arg).__name__})"
    if report.call is PRINT:
        said = _printed(args, kwargs, text_of, decisions, site)
    else:
        how = report.later(args, kwargs)
        if isinstance(how, str):
            return how
        given = args if report.logger is not None else args[:1]
        texts = tuple([text_of(a) if type(a) is str else argument_of(a) for a in given])
        if None in [text for text, a in zip(texts, given, strict=True) if a is not None]:
            return "it hands a tensor or a container to a logger or a warning"
        said = Said(report.name, texts, {}, decisions, site, *how)
    if isinstance(said, str):
        return said
    if any(ADDRESS.search(part) for part in said.constants()):
        return "it prints where an object lies in memory"
    if not are_known([said.stream]):
        return "what it prints goes to a stream that is not Python's own"
    return said


def _printed(
    args: tuple[Any, ...],
    kwargs: dict[str, Any],
    text_of: Callable[[Any], Text],
    decisions: int,
    site: tuple[str, int] | None,
) -> Said | str:
    options: dict[str, Any] = {}
    for name, option in kwargs.items():
        if name in ("sep", "end") and (option is None or type(option) is str):
            options[name] = option if option is None else text_of(option)
        elif name == "flush" and type(option) is bool:
            options[name] = option
        elif name == "file" and option is not None and option is sys.stderr:
            if option is sys.stdout:
                return "standard output and standard error are one stream"
            options[name] = "stderr"
        elif name != "file" or (option is not None and option is not sys.stdout):
            return f"it calls print() with {name}={type(option).__name__}"
    stream = options.get("file", "stdout")
    return Said("print", tuple(map(text_of, args)), options, decisions, site, stream)


ADDRESS = re.compile("0x[0-9a-f]{6}")
"""An address in the default ``repr`` of an object, which may differ in each call."""
_TEXTS = VALUES | {dtype, slice, range, PureWindowsPath}
_HELD = frozenset({list, tuple, dict, set, frozenset})
_DEPTH = 20


def _is_plain(thing: Any, depth: int = 0) -> bool:
    """Return whether the text of an object depends on its value alone, and runs no user code."""
    kind = type(thing)
    if kind in _TEXTS or kind is Scalar or kind is Shown:
        return True
    if kind in _HELD and depth < _DEPTH:
        parts = [*thing.keys(), *thing.values()] if kind is dict else thing
        return all(_is_plain(part, depth + 1) for part in parts)
    return isinstance(thing, TensorBase) and is_of_library(kind)


class Marks:
    """The placeholder texts of one trace, which stand for pieces."""

    def __init__(self) -> None:
        self._name = f"\u27e6{id(self):x}."
        self._pieces: list[Piece] = []

    def mark(self, piece: Piece) -> str:
        """Return a new placeholder for a piece."""
        self._pieces.append(piece)
        return f"{self._name}{len(self._pieces) - 1}\u27e7"

    def text(self, written: str) -> Text:
        """Split a text at its placeholders, and return it with the pieces."""
        if self._name not in written:
            return written
        # every second part is the index of a piece
        parts = re.split(re.escape(self._name) + "([0-9]+)\u27e7", written)
        found = [self._pieces[int(part)] if i % 2 else part for i, part in enumerate(parts)]
        return tuple([part for part in found if part != ""])

    def plain(self, written: str) -> str:
        """Return a text with its pieces as in the traced run."""
        text = self.text(written)
        return text if isinstance(text, str) else str(_joined(text, None))


def tensor_text(name: str, history: str | None, array: Any, tensor: Any = None) -> str:
    """Format a tensor like ``repr``, with the history of `tensor` if given."""
    told = history if tensor is None else history_of(tensor._edge)
    return array_text(np.asarray(array), name, told)


def number_text(spec: str | None, array: Any) -> str:
    """Format a number with ``format``, or with ``repr`` if there is no format."""
    number = array.item()
    return repr(number) if spec is None else format(number, spec)
