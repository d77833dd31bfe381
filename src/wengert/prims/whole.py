"""Layer 2 · prims: the whole table, with the families that are imported only when first used.

Importing `wengert` brings in the records of `wengert.prims.table`. The other families follow when
the first of their functions is named, each with the module of `ops` that uses it. What must see
every record (tests, lists of operations) imports this module.
"""

from __future__ import annotations

import importlib
import pkgutil

import wengert.prims
from wengert.prims.record import TABLE

__all__ = ["TABLE"]

for _module in pkgutil.iter_modules(wengert.prims.__path__):
    importlib.import_module(f"wengert.prims.{_module.name}")
