"""Layer 9 · compat: MXNet's modes, and the graphs that have been used up.

NOTE [MXNet records on request]
Outside ``autograd.record()`` nothing is recorded, even for arrays with an attached gradient. An
operation there receives detached aliases of the arrays that have a history. The mode of the tape
does not change, so other idioms in the same thread record as usual.

NOTE [graphs that are used up]
In MXNet a backward pass without ``retain_graph`` frees its graph: the arrays in it become
constants, and another backward pass from one of them raises an error. `CLEARED` holds weak
references to the nodes of these graphs.
"""

from __future__ import annotations

from contextvars import ContextVar, Token
from typing import Any
from weakref import WeakSet

from wengert.base.patches import CONTEXTS
from wengert.tape.base import LEAF

__all__ = ["CLEARED", "NUMPY", "RECORDING", "TRAINING", "Modes", "cleared", "node_of"]

RECORDING: ContextVar[bool] = ContextVar("wengert_mxnet_recording", default=False)
TRAINING: ContextVar[bool] = ContextVar("wengert_mxnet_training", default=False)
NUMPY: ContextVar[tuple[bool, bool, bool]] = ContextVar(
    "wengert_mxnet_numpy", default=(False, False, False)
)
"""The settings of ``npx.set_np``: shape, array, dtype."""
CONTEXTS.extend([RECORDING.get, TRAINING.get, NUMPY.get])
CLEARED: WeakSet[Any] = WeakSet()


class Modes:
    """Sets recording and training inside a ``with`` block; None leaves a mode unchanged."""

    def __init__(self, recording: bool | None, training: bool | None) -> None:
        wanted = ((RECORDING, recording), (TRAINING, training))
        self._wanted = [(mode, value) for mode, value in wanted if value is not None]
        self._entered: list[list[tuple[ContextVar[bool], Token[bool]]]] = []

    def __enter__(self) -> None:
        self._entered.append([(mode, mode.set(value)) for mode, value in self._wanted])

    def __exit__(self, *exc: object) -> None:
        for mode, token in self._entered.pop():
            mode.reset(token)


def node_of(edge) -> Any:
    """Return the node or the leaf that an edge leads to."""
    return edge.node if edge._seq == 0 else edge


def cleared(edge) -> bool:
    """Return whether a backward pass has used up the graph that `edge` leads to."""
    return bool(CLEARED) and edge is not LEAF and node_of(edge) in CLEARED
