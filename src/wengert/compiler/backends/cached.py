"""Layer 8 · compiler: an on-disk cache of machine code.

The variable ``WENGERT_COMPILE_CACHE`` names its folder; without it nothing is cached. Since cached
code is run, a folder that others can write to is refused with a warning. A file's name is a digest
of the module's text, the processor and the versions of LLVM, so that stale code is not found;
truncated, changed or exchanged files are ignored.
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

_VARIABLE = "WENGERT_COMPILE_CACHE"
_MARK = b"wengert object code\n"


def file_for(parts: Iterable[str]) -> Path | None:
    """Return the cache file for machine code made from `parts`, or None without a cache."""
    folder = os.environ.get(_VARIABLE)
    if not folder or not _is_ours(folder):
        return None
    digest = hashlib.sha256()
    for part in parts:
        digest.update(part.encode())
        digest.update(b"\0")
    return Path(folder) / f"{digest.hexdigest()}.code"


def _is_ours(folder: str) -> bool:
    """Return whether only this user can write to a folder, by its owner and mode."""
    try:
        if _is_trusted(os.stat(folder)):
            return True
    except OSError:
        return True  # `keep` creates it, for its owner alone
    warn_once(
        f"{_VARIABLE}={folder!r} is not used: others can write to this folder, and what is found "
        f"there is run. Make it yours alone: chmod 700 {folder}"
    )
    return False


def _is_trusted(found: os.stat_result) -> bool:
    if not hasattr(os, "geteuid"):
        return True
    others = stat.S_IWGRP | stat.S_IWOTH
    return found.st_uid in (0, os.geteuid()) and not found.st_mode & others


def kept(file: Path | None) -> bytes | None:
    """Return the code in a file, or None if it is missing, damaged or somebody else's.

    Another user may have written it while others could write to the folder.
    """
    if file is None:
        return None
    try:
        with file.open("rb") as source:
            content = source.read() if _is_trusted(os.fstat(source.fileno())) else b""
    except OSError:
        return None
    head, code = content[: len(_MARK) + 32], content[len(_MARK) + 32 :]
    return code if head == _head(file, code) else None


def keep(file: Path, code: bytes) -> None:
    """Write code to a file atomically; on failure, keep nothing."""
    with contextlib.suppress(OSError):
        file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        handle, name = tempfile.mkstemp(dir=file.parent)
        with os.fdopen(handle, "wb") as target:
            target.write(_head(file, code) + code)
        os.replace(name, file)


def _head(file: Path, code: bytes) -> bytes:
    """Return what precedes code in its file; the file's name says which code it must be."""
    return _MARK + hashlib.sha256(file.name.encode() + code).digest()
