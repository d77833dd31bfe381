"""Layer 8 · compiler: what a compiled function prints.

NOTE [what is printed]
While a function is traced, what it gives to ``print`` is noted: text, and in it the places of
numbers and tensors, which are values of the program. A run computes them with everything else, so
that a ``print`` in the middle parts no program in two, and calls ``print`` for each in their order
when all decisions have been taken and no step has raised. Until then nothing has happened, and the
function can be traced again. If ``print`` itself raises, the function is run again to raise it at
its place: what has been printed is not printed again (`Missing.said`).

Nothing may see that the text comes later than it would. So streams are Python's own (`are_known`);
what others do when they are written to is unknown, and meanwhile the function runs as it is.
"""

from __future__ import annotations

import builtins
import contextlib
import functools
import io
import re
import sys
import threading
from _thread import get_ident
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np

from wengert.base.dtypes import dtype
from wengert.compiler.ir.programs import Value
from wengert.compiler.objects.libraries import is_of_library
from wengert.compiler.objects.walker import VALUES
from wengert.compiler.tracing.scalar import Scalar
from wengert.tape.base import TensorBase
from wengert.tape.modes import current_mode
from wengert.tensor.printing import array_text, history_of

__all__ = [
    "PRINT",
    "Marks",
    "Piece",
    "Said",
    "Shown",
    "are_known",
    "intercepted",
    "is_print",
    "is_unchanged",
    "number_text",
    "said_of",
    "silent",
    "tensor_text",
    "text_of_int",
    "told_before",
]

PRINT = builtins.print
"""Python's own."""
Handler = Callable[[tuple[Any, ...], dict[str, Any]], None]


# -- who hears what is printed ---------------------------------------------------------------------

_HANDLERS: dict[int, list[Handler]] = {}
_CHANGING = threading.Lock()


@functools.wraps(PRINT)
def _stand_in(*args: Any, **kwargs: Any) -> None:
    """``print``, or what a thread has in its place."""
    handlers = _HANDLERS.get(get_ident())
    if handlers is None:
        PRINT(*args, **kwargs)
    else:
        handlers[-1](args, kwargs)


@contextlib.contextmanager
def intercepted(handler: Handler) -> Iterator[None]:
    """Let `handler` get what this thread gives to ``print``."""
    thread = get_ident()
    with _CHANGING:
        _HANDLERS.setdefault(thread, []).append(handler)
        if builtins.print is PRINT:
            builtins.print = _stand_in
    try:
        yield
    finally:
        with _CHANGING:
            _HANDLERS[thread].pop()
            if not _HANDLERS[thread]:
                del _HANDLERS[thread]
            if not _HANDLERS and builtins.print is _stand_in:
                builtins.print = PRINT


def is_print(function: Any) -> bool:
    """Whether a function is Python's ``print``."""
    return function is PRINT or function is _stand_in


def is_unchanged() -> bool:
    """Whether ``print`` is Python's, and not some other function that was put in its place."""
    return is_print(builtins.print)


def silent() -> contextlib.AbstractContextManager[None]:
    """Print nothing."""
    return intercepted(lambda args, kwargs: None)


def told_before(said: Sequence[Any]) -> contextlib.AbstractContextManager[None]:
    """Print what comes after that which has been printed (see `Missing.said`)."""
    left = iter(said)

    def handler(args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        found = next(left, None)
        if isinstance(found, BaseException):
            raise found
        if found is None:
            PRINT(*args, **kwargs)

    return intercepted(handler) if said else contextlib.nullcontext()


# -- streams ---------------------------------------------------------------------------------------

_OWN = frozenset({"_io", "io"})
_NOTEBOOKS = "ipykernel.iostream"


def are_known(streams: Iterable[str]) -> bool:
    """Whether nothing but writing happens when standard streams are written to."""
    return all(_is_known(getattr(sys, name, None)) for name in streams)


def _is_known(stream: Any) -> bool:
    if stream is None or type(stream).__module__ == _NOTEBOOKS:
        return True
    base = io.TextIOWrapper if isinstance(stream, io.TextIOWrapper) else io.StringIO
    if not isinstance(stream, base) or {"write", "flush"} & getattr(stream, "__dict__", {}).keys():
        return False
    kind: Any = type(stream)
    if kind.write is not base.write or kind.flush is not base.flush:
        return False
    # what it writes to in turn
    below = stream.buffer if base is io.TextIOWrapper else None
    while below is not None:
        if type(below).__module__ not in _OWN:
            return False
        below = getattr(below, "raw", None)
    return True


# -- text ------------------------------------------------------------------------------------------


class Piece(NamedTuple):
    """A part of a text that follows from a value of the program.

    Attributes
    ----------
    value: The value.
    text: Gives the text of an array; and of the tensor that `source` says, if it says one.
    now: The text in the run that was traced.
    source: The place of a tensor of the environment, whose own history shows.
    key: The place of an argument, by number or name, that shows in place of a value.
    """

    value: Value | None
    text: Callable[..., str]
    now: str
    source: int | None = None
    key: int | str | None = None


Text = str | tuple[str | Piece, ...]


class Said(NamedTuple):
    """One call of ``print``.

    Attributes
    ----------
    texts: What is printed.
    options: The arguments by keyword, as texts or values; ``file`` as the name of a stream.
    decisions: How many decisions came before it.
    site: Where it is.
    """

    texts: tuple[Text, ...]
    options: dict[str, Any]
    decisions: int
    site: tuple[str, int] | None

    @property
    def stream(self) -> str:
        """The name of the stream that it is printed to."""
        return str(self.options.get("file", "stdout"))

    def values(self) -> Iterator[Value]:
        """The values that it shows."""
        for text in (*self.texts, *self.options.values()):
            if isinstance(text, tuple):
                parts = [part for part in text if isinstance(part, Piece)]
                yield from [part.value for part in parts if part.value is not None]

    def constants(self) -> Iterator[str]:
        """The texts that are the same in each run."""
        for text in (*self.texts, *self.options.values()):
            parts = text if isinstance(text, tuple) else (text,)
            yield from [part for part in parts if isinstance(part, str)]

    def renamed(self, rename: Callable[[Value], Value]) -> Said:
        """The same in other values."""

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
        """Print it, with the values of a run, or as it was in the one that was traced."""
        texts = [text if text.__class__ is str else _joined(text, run) for text in self.texts]
        if not self.options:
            PRINT(*texts)
            return
        options: dict[str, Any] = {
            name: _joined(option, run) if isinstance(option, tuple) else option
            for name, option in self.options.items()
        }
        if "file" in options:
            options["file"] = getattr(sys, options["file"])
        PRINT(*texts, **options)


Run = tuple[dict[Value, Any], Sequence[Any], Any]
"""What a run knows: values, the tensors of the environment, and the arguments of the call."""


def _joined(text: Any, run: Run | None) -> str:
    return "".join([part if part.__class__ is str else _shown(part, run) for part in text])


def _shown(piece: Piece, run: Run | None) -> str:
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
    """An argument of a function that is traced, which is a whole number, and only printed.

    Questions that are asked of it are conditions (see
    `wengert.compiler.objects.flows.questions_of`).
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
    """The text of an argument."""
    return repr(number) if spec is None else format(number, spec)


def said_of(
    args: tuple[Any, ...],
    kwargs: dict[str, Any],
    text_of: Callable[[Any], Text],
    decisions: int,
    site: tuple[str, int] | None,
) -> Said | str:
    """A call of ``print``, or why it cannot be made in later runs.

    `text_of` gives the text of an argument.
    """
    for arg in args:
        if not _is_plain(arg):
            return f"it prints an object ({type(arg).__name__})"
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
    said = Said(tuple(map(text_of, args)), options, decisions, site)
    if any(_ADDRESS.search(part) for part in said.constants()):
        return "it prints where an object lies in memory"
    if not are_known([said.stream]):
        return "what it prints goes to a stream that is not Python's own"
    return said


_ADDRESS = re.compile("0x[0-9a-f]{6}")
"""How objects show that have no text of their own: another one in each call, maybe."""
_TEXTS = VALUES | {dtype, slice}
_HELD = frozenset({list, tuple, dict, set, frozenset})
_DEPTH = 20


def _is_plain(thing: Any, depth: int = 0) -> bool:
    """Whether the text of a thing follows from what it is, and nobody but us makes it."""
    kind = type(thing)
    if kind in _TEXTS or kind is Scalar or kind is Shown:
        return True
    if kind in _HELD and depth < _DEPTH:
        parts = [*thing.keys(), *thing.values()] if kind is dict else thing
        return all(_is_plain(part, depth + 1) for part in parts)
    return isinstance(thing, TensorBase) and is_of_library(kind)


class Marks:
    """The texts of one trace that stand for pieces."""

    def __init__(self) -> None:
        self._name = f"\u27e6{id(self):x}."
        self._pieces: list[Piece] = []

    def mark(self, piece: Piece) -> str:
        """What stands for a piece."""
        self._pieces.append(piece)
        return f"{self._name}{len(self._pieces) - 1}\u27e7"

    def text(self, written: str) -> Text:
        """A text with its pieces."""
        # every second part is a number
        if self._name not in written:
            return written
        parts = re.split(re.escape(self._name) + "([0-9]+)\u27e7", written)
        found = [self._pieces[int(part)] if i % 2 else part for i, part in enumerate(parts)]
        return tuple([part for part in found if part != ""])


def tensor_text(name: str, history: str | None, array: Any, tensor: Any = None) -> str:
    """A tensor as ``repr`` shows it, with the history of `tensor` if there is one."""
    told = history if tensor is None else history_of(tensor.edge)
    return array_text(np.asarray(array), name, told)


def number_text(spec: str | None, array: Any) -> str:
    """A number as ``format`` or, without a format, ``repr`` shows it."""
    number = array.item()
    return repr(number) if spec is None else format(number, spec)
