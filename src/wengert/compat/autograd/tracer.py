"""Layer 9 · compat: the public names for boxes: `getval`, `isbox`, `trace`, and primitives."""

from wengert.compat.autograd.internals import internals
from wengert.compat.autograd.numpy import noted_boxes as noted_boxes
from wengert.compat.kit.namespaces import gathered

__all__ = gathered(
    globals(),
    "wengert.compat.autograd",
    """
    boxes: Box getval isbox=is_any_box
    noted: Node trace
    primitives: notrace_primitive primitive register_notrace
    util: subval subvals toposort
    """,
)
__getattr__ = internals(
    globals(),
    "TraceStack new_box primitives trace_primitives_map trace_stack",
    "trace with a subclass of Node",
)
