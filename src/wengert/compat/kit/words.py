"""Layer 9 · compat: the words of an idiom's errors, which a file beside its modules has.

NOTE [words of errors]
A message that does not fit the line of its ``raise`` is in ``messages.txt`` of the idiom's package:
one paragraph each, with ``{}`` for what the error is about. The ``raise`` gives its first words, so
that what a user reads can be searched for.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from importlib.resources import files
from typing import Any

__all__ = ["absence", "cure_of", "cures", "messages", "refusals"]


@functools.cache
def messages(package: str) -> tuple[str, ...]:
    """Return the messages of a package."""
    text = files(package).joinpath("messages.txt").read_text(encoding="utf-8")
    parts = text.strip().split("\n\n")[1:]  # the first one describes the file
    return tuple([part.replace("\n", " ").replace("\\n", "\n") for part in parts])


@functools.cache
def cures(package: str) -> dict[str, str]:
    """Return what to write instead of the names of an original that a package does not offer.

    The file ``cures.txt`` has a row for each cure: the names, a colon, and the cure.
    """
    text = files(package).joinpath("cures.txt").read_text(encoding="utf-8")
    rows = [line.partition(": ") for line in text.splitlines()[2:]]
    return {name: cure for names, _, cure in rows for name in names.split()}


def cure_of(path: str) -> str:
    """Return ``": "`` and the cure for a name of an idiom's module, by its full path, if any."""
    idiom = ".".join(path.split(".")[:3])
    known, name = cures(idiom), path.removeprefix(f"{idiom}.")
    found = known.get(name, known.get(f"{name.rpartition('.')[0]}.*"))
    return f": {found}" if found else ""


def absence(module: str, name: str) -> str:
    """Return the words of the error about a name that a module of an idiom does not have."""
    shown = module.removeprefix("wengert.compat.")
    return f"module {shown!r} has no attribute {name!r}{cure_of(f'{module}.{name}')}"


def refusals(package: str) -> Callable[..., Any]:
    """Return the function that makes the errors of a package.

    It takes the class of the error, or what makes it, the first words of its message, what to fill
    in, and further arguments of the class by keyword.
    """

    def refusal(kind: Callable[..., Exception], start: str, *given: Any, **more: Any) -> Exception:
        (text,) = [text for text in messages(package) if text.startswith(start)]
        return kind(text.format(*given), **more)

    return refusal
