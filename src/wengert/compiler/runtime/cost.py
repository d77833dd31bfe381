"""Layer 8 · compiler: estimate whether compiling a function pays.

NOTE [what is gained]
Compiled code saves what an operation of eager code costs besides its elements, and the memory
between operations. It costs a call: its conditions, its results, and each kernel that NumPy
computes still. All of this is known from the trace, so the same program on the same shapes always
runs the same way. What one element takes is left out: native loops are no slower than NumPy's.

Microseconds of CPython 3.12 on one core at 3 GHz: ``x * 2`` of four elements takes 1.1 as it is,
0.8 compiled; beyond that, 354 conditions more took 7.3, a view that is returned 6.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from wengert.compiler.ir.decisions import Draw
from wengert.compiler.ir.facets import MAPS
from wengert.compiler.ir.programs import Step

__all__ = ["gain"]

_OPERATION = 1.5
"""The overhead of an eager operation: 0.7 (``exp``) to 5 (``linear``)."""
_BYTE = 4e-5
"""The time to write a byte."""
_CALL = 0.6
_CONDITION = 0.02
_GENERAL = 6.0
"""The extra time of the general path of a call over the quick one."""
_KERNELS = 1.5
"""The extra time of a program with NumPy kernels; backends know the cost of each kernel."""
_LOOKED = 200
"""So many steps say what a program gains; what comes after them gains, too."""
_PLAIN = frozenset({"tensor", "constant", "given"})


def gain(captured: Any, call: Callable[[Step], float], conditions: int) -> float:
    """Estimate the speedup of a function by compilation.

    `call` says what calling the kernel of a step takes, or 0 where there is native code for it.
    """
    trace, exit = captured.trace, captured.exit
    steps = [item for item in trace.items if isinstance(item, Step)][:_LOOKED]
    plain = _OPERATION * (len(steps) + trace.turns.skipped)
    compiled = _CALL + _CONDITION * conditions
    general = exit.effects or exit.put or any(leaf.kind not in _PLAIN for leaf in exit.leaves)
    if general or any(isinstance(item, Draw) for item in trace.items):
        compiled += _GENERAL
    results = {leaf.what for leaf in exit.leaves if leaf.kind == "tensor"}
    called = 0.0
    for step in steps:
        written = 0 if step.prim.view else sum(out.size * out.dtype.itemsize for out in step.outs)
        own = call(step)
        called += own
        plain += _BYTE * written
        if any(out in results for out in step.outs) or not (own == 0 or MAPS[step.prim]):
            # others go from loop to loop in registers, or into memory that is used again
            compiled += _BYTE * written
    return plain / (compiled + (called and _KERNELS + called))
