"""Layer 0 · base: find the compiled modules of the package, and decide whether to use them."""

from __future__ import annotations

import functools
import os

_WANTED = os.environ.get("WENGERT_NATIVE")
_SOURCES = ("native", "src/wengert/tape", "src/wengert/prims")
"""The inputs of native/build.py, in a source checkout."""


def prefer_compiled(path: list[str]) -> None:
    """Make the package with this ``__path__`` find its compiled modules first.

    See NOTE [compiled modules], in `wengert.tape.compiled`.

    Raises
    ------
    ImportError
        If ``WENGERT_NATIVE=1`` requires compiled modules and there are none, or they are older than
        the source.
    """
    if _WANTED == "0":
        return
    root, package = os.path.split(path[0])
    folder = os.path.join(root, "native", package)
    if os.path.isdir(folder) and not _is_outdated(root):
        path.insert(0, folder)
    elif _WANTED == "1":
        raise ImportError(
            "WENGERT_NATIVE=1 asks for compiled modules, which are not there or older than their "
            "source: run native/build.py in a source checkout, or install a wheel that has them"
        )


@functools.cache
def _is_outdated(root: str) -> bool:
    """Return whether this source checkout has changed since its modules were compiled."""
    checkout = os.path.dirname(os.path.dirname(root))
    if not os.path.exists(os.path.join(checkout, "native", "build.py")):
        return False
    compiled = (_times(folder.path) for folder in os.scandir(os.path.join(root, "native")))
    sources = (_times(os.path.join(checkout, folder)) for folder in _SOURCES)
    return min(map(min, compiled)) < max(map(max, sources))


def _times(folder: str) -> list[float]:
    return [file.stat().st_mtime for file in os.scandir(folder) if file.is_file()]
