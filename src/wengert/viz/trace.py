"""Layer 9 · viz: tracing a function, with all intermediate values and their names.

The names of values come from the bytecode of the user's program: the instruction after an operation
names the variable that the value is stored in.
"""

from __future__ import annotations

import dis
import sys
from functools import lru_cache
from types import CodeType
from typing import Any

import numpy as np

from wengert.prims.record import Primitive
from wengert.tape.base import LEAF, OutputEdge
from wengert.tape.modes import Mode
from wengert.tape.node import Node
from wengert.tape.sites import OURS, Site, site_here
from wengert.utils.dispatch import Dispatch

_COPIED = 10_000
"""The number of elements up to which values are copied, in case they are written to later."""


class Call:
    """One executed operation.

    Attributes
    ----------
    prim, tensors, params: The operation and its arguments.
    payloads: The values of the arguments at that time.
    site: The position in the program.
    last: Whether no further operation was computed by the same call of a function of the library.
    """

    __slots__ = ("last", "params", "payloads", "prim", "site", "tensors")

    def __init__(self, prim: Primitive, tensors: list[Any], params: Any, site: Site) -> None:
        self.prim = prim
        self.tensors = list(tensors)
        self.params = dict(params)
        self.payloads = [_kept(tensor) for tensor in tensors]
        self.site = site
        self.last = True


def variables_at(site: Site | None) -> tuple[str, ...]:
    """Return the variables that the result of the program's operation at `site` is stored in.

    Several if a tuple is unpacked; none if the result is not stored in a variable.
    """
    frames = () if site is None else site[0]
    for place in range(0, len(frames), 2):
        following = _after(frames[place]).get(frames[place + 1], ())
        if following != _RETURNED:
            return following
    return ()


def _kept(tensor: Any) -> Any:
    payload = tensor._payload
    if isinstance(payload, np.ndarray) and payload.size <= _COPIED:
        return payload.copy()
    return payload


class Trace(Dispatch):
    """A context manager that records the executed operations and their values.

    Attributes
    ----------
    calls: By node, the call that recorded it.
    values: The value of each output of a node that was recorded or used, by node and output number.
    """

    def __init__(self) -> None:
        self.calls: dict[Node, Call] = {}
        self.values: dict[tuple[Any, int], Any] = {}
        self._entered: Any = None
        self._last: Call | None = None

    def run(self, mode: Mode, prim: Primitive, tensors: list[Any], params: Any, outs: Any) -> Any:
        """Compute an operation and record it."""
        call = Call(prim, tensors, params, site_here())
        entered = _entered()
        if self._last is not None and entered is not None and entered is self._entered:
            self._last.last = False
        for tensor, payload in zip(tensors, call.payloads, strict=True):
            self._learn(tensor, payload)
        results = self.compute(mode, prim, tensors, params, outs)
        for out in results if isinstance(results, tuple) else (results,):
            node = self._learn(out, _kept(out))
            if node is not None:
                self.calls[node] = call
                self._entered, self._last = entered, call
        return results

    def _learn(self, tensor: Any, payload: Any) -> Any:
        edge = tensor._edge
        if edge is None or edge is LEAF:
            return None
        index = 0
        if edge.__class__ is OutputEdge:
            edge, index = edge.node, edge.index
        if isinstance(payload, np.ndarray | np.generic):
            self.values.setdefault((edge, index), payload)
        return edge

    def finish(self) -> None:
        """Release the frame that was held to distinguish calls."""
        self._entered = self._last = None


def _entered() -> Any:
    """Return the frame of the library's function that the user's program has called."""
    frame: Any = sys._getframe(2)
    while frame.f_back is not None and OURS[frame.f_back.f_code.co_filename]:
        frame = frame.f_back
    return frame if frame.f_back is not None else None


@lru_cache(maxsize=256)
def _after(code: CodeType) -> dict[int, tuple[str, ...]]:
    """Return, for each instruction, the variables that its result is stored in, or `_RETURNED`."""
    found: dict[int, tuple[str, ...]] = {}
    instructions = [i for i in dis.get_instructions(code) if i.opname not in _NOTHING]
    for place, instruction in enumerate(instructions[:-1]):
        following = instructions[place + 1]
        if following.opname == "RETURN_VALUE":
            names: tuple[str, ...] = _RETURNED
        elif following.opname == "UNPACK_SEQUENCE":
            count = following.arg or 0
            names = _stored(instructions[place + 2 : place + 2 + count])[:count]
            names = names if len(names) == count else ()
        else:
            names = _stored([following])[:1]
        # during a call, a frame may point past the instruction
        found.update(dict.fromkeys(range(instruction.offset, following.offset), names))
    return found


def _stored(instructions: list[dis.Instruction]) -> tuple[str, ...]:
    """Return the variables that instructions store into, up to the first other instruction."""
    names: list[str] = []
    for instruction in instructions:
        if not instruction.opname.startswith("STORE_") or instruction.opname in _NO_NAMES:
            break
        value = instruction.argval
        # two stores in one instruction since Python 3.13; or a store and a load
        both = isinstance(value, tuple) and instruction.opname == "STORE_FAST_STORE_FAST"
        names += value if both else value[:1] if isinstance(value, tuple) else [value]
    return tuple(names)


_RETURNED: tuple[str, ...] = ("return",)
"""Marks a returned result; not the name of a variable."""
_NOTHING = {"CACHE", "COPY", "EXTENDED_ARG", "NOP", "RESUME"}
_NO_NAMES = {"STORE_SUBSCR", "STORE_SLICE", "STORE_ATTR"}


def within(site: Site | None, outer: Site) -> Site | None:
    """Return the frames of `site` inside the program's operation at `outer`."""
    if site is None or not outer[0]:
        return site
    code, offset = outer[0][:2]
    frames = site[0]
    for place in range(0, len(frames), 2):
        if frames[place] is code and frames[place + 1] == offset:
            return frames[:place], site[1]
    return site


def numbered(name: str, used: set[str], digits: Any) -> str:
    """Return `name`, with the first subscript that distinguishes it from those `used`."""
    made, count = name, 1
    while made in used:
        count += 1
        made = f"{name}{digits(count)}"
    used.add(made)
    return made
