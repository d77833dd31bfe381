"""Layer 8 · compiler: machine code kept in a folder, for processes that come later.

Only where the variable ``WENGERT_COMPILE_CACHE`` names a folder. What is found there is run: it
should be a folder that nobody else can write to. A file's name is a digest of the text that it was
made from, of the processor, and of the versions that made it, so that what no longer fits is not
found; a file that was cut off is not used.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import tempfile
from collections.abc import Iterable
from pathlib import Path

__all__ = ["file_for", "kept", "keep"]

_VARIABLE = "WENGERT_COMPILE_CACHE"
_MARK = b"wengert object code\n"


def file_for(parts: Iterable[str]) -> Path | None:
    """Where the machine code made from `parts` is kept, if it is to be kept at all."""
    folder = os.environ.get(_VARIABLE)
    if not folder:
        return None
    digest = hashlib.sha256()
    for part in parts:
        digest.update(part.encode())
        digest.update(b"\0")
    return Path(folder) / f"{digest.hexdigest()}.code"


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
        file.parent.mkdir(parents=True, exist_ok=True)
        handle, name = tempfile.mkstemp(dir=file.parent)
        with os.fdopen(handle, "wb") as target:
            target.write(_MARK + hashlib.sha256(code).digest() + code)
        os.replace(name, file)
