"""Layer 8 · compiler: loops of native code that several threads share.

NOTE [shared loops]
A long loop whose repetitions write to different places is a function of its own, of an environment
(a table of addresses), a start and a stop. Native code asks the library's threads (NOTE [threads]
in `wengert.base.threads`) to run it in pieces, by a call back into Python: some microseconds, so
that only loops of much work are shared. Sums over all repetitions stay with one thread, and pieces
begin where vectors do, hence no result depends on the number of threads. What each repetition
writes for itself alone, such as a row of exponentials, lies on the stack of the thread.
"""

from __future__ import annotations

import ctypes
from _thread import get_ident
from functools import cache
from typing import Any

import llvmlite.binding as llvm

from wengert.base.threads import share
from wengert.compiler.backends.affine import Counter, Index
from wengert.compiler.backends.loops import LoopTree, Product, statements_of
from wengert.compiler.backends.storage import Storage
from wengert.compiler.backends.trees import work
from wengert.compiler.ir.programs import Value, open_ended

__all__ = [
    "SHARE",
    "addresses_of",
    "interruption",
    "is_wide",
    "own_of",
    "piece_of",
    "register_sharing",
]

SHARE = "wengert.share"
"""The symbol of the function that native code calls: function, environment, size, piece."""

# rough cycles of a loop that is worth it, and of a piece
_WIDE = 400_000
_PIECE = 100_000
# bytes on a thread's stack, of which there are 512 kB at least
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
        # an interrupt, which cannot pass through native code
        _interrupted[get_ident()] = error
        return 1
    return 0


_callback = _Share(_shared)


@cache
def register_sharing() -> None:
    """Make the function known to LLVM."""
    llvm.add_symbol(SHARE, ctypes.cast(_callback, ctypes.c_void_p).value)


def interruption() -> BaseException | None:
    """The exception that interrupted this thread's last parallel loop, or None."""
    return _interrupted.pop(get_ident(), None)


def piece_of(tree: LoopTree, extent: int, step: int) -> int:
    """The number of iterations in a chunk of a loop, a multiple of the vector width `step`."""
    count = max(1, extent * _PIECE // work(tree))
    return -(-count // step) * step


def is_wide(tree: LoopTree, storage: Storage) -> bool:
    """Whether a loop is worth sharing, and its repetitions write to places of their own."""
    if tree.before or tree.after or work(tree) < _WIDE:
        return False
    for item in statements_of(tree):
        if isinstance(item, Product) or not any(_is_of(i, tree.counter) for i in item.place):
            return False
    own = own_of(tree, storage)
    sizes = [storage.slots[value].size for value in own]
    return all(own.values()) and not any(map(open_ended, sizes)) and sum(sizes) <= _OWN


def own_of(tree: LoopTree, storage: Storage) -> dict[Value, bool]:
    """The values used only in a loop, and whether each iteration writes its own."""
    own: dict[Value, bool] = {}
    for item in statements_of(tree):
        slot = storage.slots[item.value]
        if item.value in storage.private and slot.kind == "arena":
            places = zip(item.place, slot.strides, strict=True)
            within = any(i.is_counter(tree.counter) and not stride for i, stride in places)
            own[item.value] = own.get(item.value, True) and within
    return own


def _is_of(index: Index, counter: Counter) -> bool:
    """Whether an index is another one in each repetition, by this counter alone."""
    return len(index.terms) == 1 and index.terms[0][0] is counter


def addresses_of(tree: LoopTree, storage: Storage) -> list[Any]:
    """The values that a loop finds in memory, but for those that are its own."""
    values = dict.fromkeys([*tree.writes, *map(storage.plan.base, tree.inputs)])
    return [value for value in values if value not in storage.private]
