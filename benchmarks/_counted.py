"""What counts.py counts, in a process of its own that prints JSON.

``_counted.py python`` counts what the interpreter executes and what stays in memory; ``_counted.py
marks`` runs the cases with a call of `os.getppid` before and after each, for whoever counts from
outside, and says which they were.
"""

from __future__ import annotations

import gc
import json
import os
import sys
import tracemalloc
from collections.abc import Callable
from pathlib import Path
from types import CodeType, FrameType
from typing import Any

import numpy as np

import wengert as wg

SHORT, LONG = 40, 120
"""Operations in the two runs of a case: their difference is free of what a run costs once."""

NOT_OURS = (__file__, str(Path(np.__file__).parent))
"""Where instructions do not count: NumPy's change with its version."""

Work = Callable[[], Any]
"""Does what is counted, and returns what is to stay alive."""
Step = Callable[[Any, Any], Any]


def leaf(*shape: int) -> Any:
    """A leaf of float64 that requires a gradient."""
    return wg.tensor(np.linspace(0.5, 1.5, int(np.prod(shape))).reshape(shape), requires_grad=True)


def chain(step: Step, *shape: int) -> Callable[[int], Work]:
    """So many times ``y = step(y, w)``."""

    def case(count: int) -> Work:
        x, w = leaf(*shape), leaf(*shape)

        def work() -> Any:
            y = x
            for _ in range(count):
                y = step(y, w)
            return y

        return work

    return case


def unrecorded(count: int) -> Work:
    """Products that nothing records."""
    work = FORWARD["product"](count)

    def quiet() -> Any:
        with wg.no_grad():
            return work()

    return quiet


def walk(name: str, **how: Any) -> Callable[[int], Work]:
    """The backward pass over a chain of that name."""

    def case(count: int) -> Work:
        y = FORWARD[name](count)()
        seed = wg.ones_like(y)
        return lambda: y.backward(seed, **how)

    return case


def walks(count: int) -> Work:
    """Backward passes over one operation each, which add to the gradients of the same leaves."""
    x, w, seed = leaf(8), leaf(8), wg.ones(8, dtype=wg.float64)
    made = [x * w for _ in range(count)]

    def work() -> None:
        for y in made:
            y.backward(seed)

    return work


FORWARD: dict[str, Callable[[int], Work]] = {
    "product": chain(lambda y, w: y * w, 8),
    "product of numbers": chain(lambda y, w: y * w),
    "scalar operator": chain(lambda y, w: y * 0.5, 8),
    "sum of two": chain(lambda y, w: y + w, 8),
    "sine": chain(lambda y, w: y.sin(), 8),
    "reduction and sum": chain(lambda y, w: y + w.sum(), 8),
    "matmul": chain(lambda y, w: y @ w, 4, 4),
    "index and product": chain(lambda y, w: w[0] * y, 4, 4),
    "product, not recorded": unrecorded,
}
CHAINS: dict[str, Callable[[int], Work]] = {
    "backward of product": walk("product"),
    "backward of product of numbers": walk("product of numbers"),
    "backward of scalar operator": walk("scalar operator"),
    "backward of sum of two": walk("sum of two"),
    "backward of sine": walk("sine"),
    "backward of reduction and sum": walk("reduction and sum"),
    "backward of matmul": walk("matmul"),
    "backward of index and product": walk("index and product"),
    "backward of product, recorded": walk("product", create_graph=True),
}
CASES = {**FORWARD, **CHAINS, "backward pass into .grad": walks}


def traced_instructions(work: Work) -> int:
    """Instructions that the interpreter executes, before Python 3.12."""
    count = 0

    def inside(frame: FrameType, event: str, _argument: Any) -> Any:
        nonlocal count
        count += event == "opcode"
        return inside

    def called(frame: FrameType, _event: str, _argument: Any) -> Any:
        if frame.f_code.co_filename.startswith(NOT_OURS):
            return None
        frame.f_trace_opcodes, frame.f_trace_lines = True, False
        return inside

    sys.settrace(called)
    try:
        work()
    finally:
        sys.settrace(None)
    return count


def monitored_instructions(work: Work) -> int:
    """Instructions that the interpreter executes, from Python 3.12 on."""
    count, monitoring = 0, sys.monitoring
    tool, event = monitoring.PROFILER_ID, monitoring.events.INSTRUCTION

    def executed(code: CodeType, _offset: int) -> Any:
        nonlocal count
        if code.co_filename.startswith(NOT_OURS):
            return monitoring.DISABLE
        count += 1
        return None

    monitoring.use_tool_id(tool, "counts")
    try:
        monitoring.register_callback(tool, event, executed)
        monitoring.set_events(tool, event)
        work()
    finally:
        monitoring.set_events(tool, monitoring.events.NO_EVENTS)
        monitoring.free_tool_id(tool)
    return count


instructions = traced_instructions if sys.version_info < (3, 12) else monitored_instructions


def objects(work: Work) -> int:
    """Blocks of Python's allocator that `work` leaves behind."""
    gc.collect()  # empties the lists of objects for reuse, too
    before = sys.getallocatedblocks()
    made = work()
    after = sys.getallocatedblocks()
    del made
    return after - before


def traced(work: Work) -> tuple[int, int]:
    """Bytes that `work` leaves behind, and how many it holds at most."""
    gc.collect()
    tracemalloc.start()
    made = work()
    sizes = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    del made
    return sizes


def each(measure: Callable[[Work], int], cases: dict[str, Any]) -> dict[str, float]:
    """What one more operation adds to `measure`, by case."""
    return {
        name: (measure(case(LONG)) - measure(case(SHORT))) / (LONG - SHORT)
        for name, case in cases.items()
    }


def warm(case: Callable[[int], Work]) -> None:
    """Let generated code be generated, and the interpreter specialise what it executes."""
    for _ in range(3):
        case(LONG)()


def seen_from_python() -> dict[str, dict[str, float]]:
    """Instructions of the interpreter, and memory."""
    for case in CASES.values():
        warm(case)
    return {
        "bytecode": each(instructions, CASES),
        "objects kept": each(objects, FORWARD),
        "bytes kept": each(lambda work: traced(work)[0], FORWARD),
        "bytes at peak": each(lambda work: traced(work)[1], CHAINS),
    }


def marks() -> dict[str, Any]:
    """Run each case, short and long, between two marks; the cases, and by how much long is more."""
    for case in CASES.values():
        warm(case)
        for count in (SHORT, LONG):
            work = case(count)
            gc.collect()
            os.getppid()
            made = work()
            os.getppid()
            del made
    return {"cases": list(CASES), "more": LONG - SHORT}


if __name__ == "__main__":
    gc.disable()
    json.dump(marks() if sys.argv[1] == "marks" else seen_from_python(), sys.stdout)
