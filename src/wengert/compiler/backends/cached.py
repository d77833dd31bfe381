"""Layer 8 · compiler: machine code kept in a folder, for processes that come later.

Only where the variable ``WENGERT_COMPILE_CACHE`` names a folder. What is found there is run, so a
folder that others can write to is not used, with a warning. A file's name is a digest of the text
that it was made from, of the processor, and of the versions that made it, so that what no longer
fits is not found; a file that was cut off is not used.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import stat
import tempfile
from collections.abc import Iterable
from pathlib import Path

from wengert.tape.sites import warn_once

__all__ = ["file_for", "kept", "keep"]

_VARIABLE = "WENGERT_COMPILE_CACHE"
_MARK = b"wengert object code\n"


def file_for(parts: Iterable[str]) -> Path | None:
    """The file in the cache for the machine code made from `parts`, or None."""
    folder = os.environ.get(_VARIABLE)
    if not folder or not _is_ours(folder):
        return None
    digest = hashlib.sha256()
    for part in parts:
        digest.update(part.encode())
        digest.update(b"\0")
    return Path(folder) / f"{digest.hexdigest()}.code"


def _is_ours(folder: str) -> bool:
    """Whether nobody else can write to a folder, as far as its owner and its mode tell."""
    if not hasattr(os, "geteuid"):
        return True
    try:
        found = os.stat(folder)
    except OSError:
        return True  # it is made when something is kept, for its owner alone
    trusted = found.st_uid in (0, os.geteuid())
    if trusted and not found.st_mode & (stat.S_IWGRP | stat.S_IWOTH):
        return True
    warn_once(
        f"{_VARIABLE}={folder!r} is not used: others can write to this folder, and what is found "
        "there is run. Make it yours alone: chmod 700"
    )
    return False


def kept(file: Path | None) -> bytes | None:
    """The code in a file, or None."""
    if file is None:
        return None
    try:
        content = file.read_bytes()
    except OSError:
        return None
    head, code = content[: len(_MARK) + 32], content[len(_MARK) + 32 :]
    whole = head == _MARK + hashlib.sha256(code).digest()
    return code if whole else None


def keep(file: Path, code: bytes) -> None:
    """Write code to a file, all at once; where that cannot be done, it is not kept."""
    with contextlib.suppress(OSError):
        file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        handle, name = tempfile.mkstemp(dir=file.parent)
        with os.fdopen(handle, "wb") as target:
            target.write(_MARK + hashlib.sha256(code).digest() + code)
        os.replace(name, file)
