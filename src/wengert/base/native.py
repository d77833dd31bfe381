"""Layer 0 · base: where compiled modules are, and whether they are wanted."""

from __future__ import annotations

import os

__all__ = ["prefer_compiled"]

_WANTED = os.environ.get("WENGERT_NATIVE")


def prefer_compiled(path: list[str]) -> None:
    """Let the package with this ``__path__`` find its compiled modules first.

    See NOTE [compiled modules], in `wengert.tape.compiled`.

    Raises
    ------
    ImportError
        If ``WENGERT_NATIVE=1`` asks for compiled modules and there are none.
    """
    root, package = os.path.split(path[0])
    folder = os.path.join(root, "native", package)
    if _WANTED != "0" and os.path.isdir(folder):
        path.insert(0, folder)
    elif _WANTED == "1":
        raise ImportError(
            "WENGERT_NATIVE=1 asks for compiled modules, which are not there: run native/build.py "
            "in a source checkout, or install a wheel that has them"
        )
