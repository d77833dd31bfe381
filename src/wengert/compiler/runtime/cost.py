"""Layer 8 · compiler: estimate whether compiling a function pays.

NOTE [what is gained]
Compiled code saves the fixed cost of each eager operation, and the memory traffic between
operations. It adds the cost of a call: the guards, the results, and each kernel that NumPy still
computes. All of this is known from the trace, so the same program on the same shapes always runs
the same way. The time per element is left out: native loops are no slower than NumPy's.

In microseconds, with CPython 3.12 on one core at 3 GHz: ``x * 2`` of four elements takes 1.1 eager
and 0.8 compiled; another 354 conditions add 7.3, and a returned view adds 6.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from wengert.compiler.ir.decisions import Draw
from wengert.compiler.ir.facets import MAPS
from wengert.compiler.ir.programs import Step

_OPERATION = 1.5
"""The overhead of an eager operation: 0.7 (``exp``) to 5 (``linear``)."""
_BYTE = 4e-5
"""The time to write a byte."""
_CALL = 0.6
_CONDITION = 0.02
_GENERAL = 6.0
"""The extra time of the general path of a call over the quick one."""
_KERNELS = 1.5
"""The fixed time that NumPy kernels add to a program; backends give the time of each kernel."""
_LOOKED = 200
"""The number of steps to estimate from; later steps are assumed to gain as much."""
_PLAIN = frozenset({"tensor", "constant", "given"})


def gain(captured: Any, call: Callable[[Step], float], conditions: int) -> float:
    """Estimate the speedup of a function by compilation.

    `call` returns the time to call the kernel of a step, or 0 if the step has native code.
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
            # other results stay in registers between loops, or go into reused memory
            compiled += _BYTE * written
    return plain / (compiled + (called and _KERNELS + called))
