"""Layer 8 · compiler: parallel loops: native loops whose iterations several threads share.

NOTE [parallel loops]
A long loop whose iterations write to disjoint places becomes a function of an environment (a table
of addresses), a start and a stop. Native code calls back into Python to run it in pieces on the
library's threads (NOTE [threads] in `wengert.base.threads`). The call takes microseconds, so only
loops with much work are parallel. Reductions over the loop stay on one thread, and pieces begin at
multiples of the vector width, hence no result depends on the number of threads. A buffer that each
iteration uses privately, such as a row of exponentials, lies on the thread's stack.
"""

from __future__ import annotations

import ctypes
from _thread import get_ident
from functools import cache
from typing import Any

import llvmlite.binding as llvm

from wengert.base.threads import share
from wengert.compiler.backends.affine import Counter, Index
from wengert.compiler.backends.buffers import Buffers
from wengert.compiler.backends.loop_costs import work
from wengert.compiler.backends.loops import LoopTree, Product, statements_of
from wengert.compiler.ir.programs import Value, open_ended

SHARE = "wengert.share"
"""The symbol of the callback: ``(function, environment, size, piece)``."""

# rough cycles of the smallest parallel loop, and of a piece
_WIDE = 400_000
_PIECE = 100_000
# the most bytes that a loop may use of a thread's stack, which has at least 512 kB
_OWN = 64 << 10

_Work = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_int64, ctypes.c_int64)
_Share = ctypes.CFUNCTYPE(
    ctypes.c_uint8, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_int64, ctypes.c_int64
)
_interrupted: dict[int, BaseException] = {}


def _shared(function: int, environment: int, size: int, piece: int) -> int:
    work = _Work(function)
    try:
        share(lambda start, stop: work(environment, start, stop), size, piece)
    except BaseException as error:
        # such as an interrupt; exceptions cannot pass through native code
        _interrupted[get_ident()] = error
        return 1
    return 0


_callback = _Share(_shared)


@cache
def register_sharing() -> None:
    """Register the callback with LLVM."""
    llvm.add_symbol(SHARE, ctypes.cast(_callback, ctypes.c_void_p).value)


def interruption() -> BaseException | None:
    """The exception that interrupted this thread's last parallel loop, or None."""
    return _interrupted.pop(get_ident(), None)


def piece_of(tree: LoopTree, extent: int, step: int) -> int:
    """The number of iterations in a chunk of a loop, a multiple of the vector width `step`."""
    count = max(1, extent * _PIECE // work(tree))
    return -(-count // step) * step


def is_wide(tree: LoopTree, buffers: Buffers) -> bool:
    """Return whether a loop has enough work, and its iterations write to disjoint places."""
    if tree.before or tree.after or work(tree) < _WIDE:
        return False
    for item in statements_of(tree):
        if isinstance(item, Product) or not any(_is_of(i, tree.counter) for i in item.place):
            return False
    own = own_of(tree, buffers)
    sizes = [buffers.slots[value].size for value in own]
    return all(own.values()) and not any(map(open_ended, sizes)) and sum(sizes) <= _OWN


def own_of(tree: LoopTree, buffers: Buffers) -> dict[Value, bool]:
    """Return the values used only in a loop, and whether each iteration writes its own."""
    own: dict[Value, bool] = {}
    for item in statements_of(tree):
        slot = buffers.slots[item.value]
        if item.value in buffers.private and slot.kind == "arena":
            places = zip(item.place, slot.strides, strict=True)
            within = any(i.is_counter(tree.counter) and not stride for i, stride in places)
            own[item.value] = own.get(item.value, True) and within
    return own


def _is_of(index: Index, counter: Counter) -> bool:
    """Return whether an index is a multiple of this counter plus a constant."""
    return len(index.terms) == 1 and index.terms[0][0] is counter


def addresses_of(tree: LoopTree, buffers: Buffers) -> list[Any]:
    """Return the values that a loop accesses in memory, without its private ones."""
    values = dict.fromkeys([*tree.writes, *map(buffers.plan.base, tree.inputs)])
    return [value for value in values if value not in buffers.private]
