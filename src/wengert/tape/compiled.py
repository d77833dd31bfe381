"""Layer 4 · tape: which primitives have compiled nodes and recorders.

NOTE [compiled modules]
The package is complete in Python. Where it has been built with a compiler, the folder ``native``
holds extension modules under the names of some modules of this package, made from the very same
files by Cython, and `wengert.tape` finds them first (`wengert.base.native`). One has no file of its
own here: ``recorded``, the steps that `wengert.tape.steps` writes out, written again for the
primitives that are used most, with the fields of C structures for attributes.
``WENGERT_NATIVE=0`` in the environment leaves all of them alone; ``WENGERT_NATIVE=1`` insists on
them. In a source checkout those that are older than their source are left alone, too.
"""

from __future__ import annotations

import importlib
import types
from typing import Any

from wengert.prims.record import Primitive

try:
    _recorded: Any = importlib.import_module("wengert.tape.recorded")
except ImportError:
    _recorded = types.SimpleNamespace(NODES={}, HOLDERS={}, RECORDERS={}, RECORDS={})

IS_COMPILED = bool(_recorded.RECORDS)
"""Whether compiled modules are in use."""
FUNCTIONS: tuple[Any, ...] = (
    types.FunctionType,
    *{type(maker) for maker in _recorded.RECORDERS.values()},
)
"""The types of functions: Python's, and that of compiled ones."""


def signature_of(prim: Primitive) -> tuple[Any, ...]:
    """What compiled code depends on, to know code that was made from another record."""
    steps = (prim.args, prim.params, prim.saved, prim.infix, prim.view, prim.broadcasts, prim.masks)
    return (*steps, prim.fixed, prim.outputs, prim.variadic, prim.scalar, prim.rscalar)


def _is_current(prim: Primitive) -> bool:
    return bool(_recorded.RECORDS.get(prim.name) == signature_of(prim))


def compiled_node(prim: Primitive) -> Any:
    """The extension type of the nodes of `prim`, or None."""
    if not _is_current(prim):
        return None
    hold = _recorded.HOLDERS.get(prim.name)
    if hold is not None:
        hold(prim.rules)
    return _recorded.NODES.get(prim.name)


def compiled_maker(prim: Primitive, kind: str = "recorder") -> Any:
    """What makes the compiled recorder of `prim`, or operator, in its scope; or None."""
    return _recorded.RECORDERS.get((prim.name, kind)) if _is_current(prim) else None
