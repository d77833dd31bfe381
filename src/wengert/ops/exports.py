"""Layer 5 · ops: the lazy exports: which names each module has for which surface.

See NOTE [lazy exports]. The index is ``exports.txt``, written by ``stubs/exports.py``.
"""

from __future__ import annotations

import os
from typing import Any

EXPORTS: dict[str, dict[str, str]] = {}
"""The module of each name, within `wengert.ops`, by surface."""


def _read() -> None:
    path = os.path.join(os.path.dirname(__file__), "exports.txt")
    loader: Any = __spec__.loader  # importlib.resources takes longer to import than all of base
    for line in loader.get_data(path).decode().splitlines():
        surfaces, module, names = line.split(" | ")
        homes = dict.fromkeys(names.split(), module)
        for surface in surfaces.split(", "):
            EXPORTS.setdefault(surface, {}).update(homes)


_read()
