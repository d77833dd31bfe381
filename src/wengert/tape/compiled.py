"""Layer 4 · tape: which primitives have compiled nodes and recorders.

NOTE [compiled modules]
The package is complete in Python. Where it was built with a compiler, the folder ``native`` holds
extension modules named after some modules of this package. Cython compiles them from the same
files, and `wengert.tape` finds them first (`wengert.base.native`). One of them, ``recorded``, has
no file here: it contains the steps that `wengert.tape.steps` generates for the most used
primitives, with fields of C structs in place of attributes. ``WENGERT_NATIVE=0`` in the environment
disables all of them; ``WENGERT_NATIVE=1`` requires them. In a source checkout, modules that are
older than their source are ignored, too.
"""

from __future__ import annotations

import importlib
import types
from collections.abc import Sequence
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
"""The types of functions: Python's and Cython's."""


def signature_of(prim: Primitive) -> tuple[Any, ...]:
    """Return the fields that compiled code depends on, to detect a stale build."""
    steps = (prim.args, prim.params, prim.saved, prim.infix, prim.view, prim.broadcasts, prim.masks)
    return (*steps, prim.fixed, prim.outputs, prim.variadic, prim.scalar, prim.rscalar)


def _is_current(prim: Primitive) -> bool:
    return bool(_recorded.RECORDS.get(prim.name) == signature_of(prim))


def compiled_node(prim: Primitive, rules: Sequence[Any]) -> Any:
    """Return the extension type of the nodes of `prim`, or None.

    It gets `rules` for large arrays, unless these are empty.
    """
    if not _is_current(prim):
        return None
    hold = _recorded.HOLDERS.get(prim.name)
    if hold is not None and rules:
        hold(prim.rules, rules)
    return _recorded.NODES.get(prim.name)


def compiled_maker(prim: Primitive, kind: str = "recorder") -> Any:
    """Return the maker of the compiled recorder, or operator, of `prim`; or None."""
    return _recorded.RECORDERS.get((prim.name, kind)) if _is_current(prim) else None
