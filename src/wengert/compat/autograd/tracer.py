"""Layer 9 · compat: the public names for boxes: `getval`, `isbox`, `trace`, and primitives."""

from __future__ import annotations

from wengert.compat.autograd.boxes import Box, Opaque, getval
from wengert.compat.autograd.internals import internals
from wengert.compat.autograd.noted import Node, trace
from wengert.compat.autograd.numpy import noted_boxes
from wengert.compat.autograd.primitives import notrace_primitive, primitive, register_notrace
from wengert.compat.autograd.util import subval, subvals, toposort
from wengert.tape.base import TensorBase

__all__ = [
    "Box",
    "Node",
    "getval",
    "isbox",
    "notrace_primitive",
    "primitive",
    "register_notrace",
    "subval",
    "subvals",
    "toposort",
    "trace",
]

REQUIRES = (noted_boxes,)


def isbox(x) -> bool:
    """Return whether a value belongs to a function being differentiated."""
    return isinstance(x, TensorBase | Opaque)


__getattr__ = internals(
    globals(),
    "TraceStack new_box primitives trace_primitives_map trace_stack",
    "trace with a subclass of Node",
)
