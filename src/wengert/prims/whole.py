"""Layer 2 · prims: the whole table, with the families that are otherwise imported on first use.

Importing `wengert` brings in the records of `wengert.prims.table`. The other families are imported
when one of their functions is first used, each by the module of `ops` that uses it. Code that needs
every record (tests, lists of operations) imports this module.
"""

import importlib
import pkgutil

import wengert.prims
from wengert.prims.record import TABLE

__all__ = ["TABLE"]

for _module in pkgutil.iter_modules(wengert.prims.__path__):
    importlib.import_module(f"wengert.prims.{_module.name}")
