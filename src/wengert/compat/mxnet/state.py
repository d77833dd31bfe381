"""Layer 9 · compat: MXNet's modes, and which graphs are used up.

NOTE [MXNet records on request]
Outside of ``autograd.record()`` nothing is recorded, also of arrays with a gradient attached. An
operation there gets stand-ins for the arrays that have a history: over the same memory, and without
one. The mode of the tape is left alone, so other idioms in the same thread record as they do.

NOTE [graphs that are used up]
A backward pass without ``retain_graph`` ends the life of its graph in MXNet: arrays in it are
constants from then on, and asking one of them for another backward pass raises. The nodes of such
graphs are held weakly in `CLEARED`.
"""

from __future__ import annotations

from contextvars import ContextVar
from typing import Any
from weakref import WeakSet

from wengert.tape.base import LEAF

__all__ = ["CLEARED", "NUMPY", "RECORDING", "TRAINING", "cleared", "node_of"]

RECORDING: ContextVar[bool] = ContextVar("wengert_mxnet_recording", default=False)
TRAINING: ContextVar[bool] = ContextVar("wengert_mxnet_training", default=False)
NUMPY: ContextVar[tuple[bool, bool, bool]] = ContextVar(
    "wengert_mxnet_numpy", default=(False, False, False)
)
"""The settings of ``npx.set_np``: shape, array, dtype."""
CLEARED: WeakSet[Any] = WeakSet()


def node_of(edge) -> Any:
    """The node, or the leaf, that an edge leads to."""
    return edge.node if edge._seq == 0 else edge


def cleared(edge) -> bool:
    """Whether a backward pass has used up the graph that `edge` leads into."""
    return bool(CLEARED) and edge is not LEAF and node_of(edge) in CLEARED
