"""Layer 4 · tape: records of where values left the graph: the most recent ones in each thread.

NOTE [detachments]
A graph does not show where it was cut: the tensor after the cut has no history. So every function
that takes a value that needs a gradient out of its graph (``detach()``, ``.data``, ``item()``, a
conversion to integers, ...), or that switches recording off, notes the line of the user's program
that called it. The errors about missing graphs, and `wengert.autograd.explain`, show these lines.
A training loop that logs passes here at every step, so a note is cheap: a tuple and two weak
references. Lines are looked up when they are shown, and a note keeps no graph or array alive.
A value computed without recording keeps no reference to its arguments. So only memory can prove
that a cut is on a path: the cut values are still those of the output, or of a tensor that its graph
holds.
"""

from __future__ import annotations

import os
from _thread import _local
from collections import deque
from sys import _getframe
from typing import Any
from weakref import ref

from numpy import ndarray

from wengert.interp.levels import Lifted
from wengert.tape.base import LEAF
from wengert.tape.sites import OURS, Site, outside, shown

_MOST = 16
_MODES = os.path.join(os.path.dirname(__file__), "modes.py")
"""The file of the wrappers that run decorated functions."""

SCALARS = frozenset({".item()", ".tolist()", "float()", "int()", "complex()"})
"""The cuts that make Python numbers, usually to print them."""

DETACHING = SCALARS | {
    ".data",
    ".detach()",
    ".detach_()",
    ".new_tensor(t)",
    ".numpy()",
    "Variable(t)",
    "asarray(t)",
    "np.asarray()",
    "tensor([t])",
    "tensor(t)",
    "view(dtype)",
}
"""The cuts that keep the values; the others make integers or booleans of them."""


SHARING = frozenset(
    {
        ".data",
        ".detach()",
        ".detach_()",
        ".numpy()",
        "Variable(t)",
        "asarray(t)",
        "np.asarray()",
        "view(dtype)",
    }
)
"""The cuts whose result usually shares memory with its source."""


class _Notes(_local):
    """The notes of one thread, the last one at the end."""

    def __init__(self) -> None:
        self.notes: deque[tuple[Any, ...]] = deque(maxlen=_MOST)
        self.add = self.notes.append


_HERE = _Notes()


def note(kind: str, tensor: Any) -> None:
    """Note that `tensor`, which requires a gradient, leaves its graph by the operation `kind`.

    Call this directly from the function that the user called.
    """
    edge = tensor._edge
    try:
        frame = _getframe(2)
    except ValueError:  # called by the interpreter itself: there is no line to show
        return
    code = frame.f_code
    if OURS[code.co_filename]:
        frame = outside(frame)
        code = frame.f_code
    memory = tensor._array() if kind in SHARING else None
    if memory is not None:
        memory = ref(memory) if memory.__class__ is ndarray else None
    _HERE.add((kind, code, frame.f_lasti, ref(tensor if edge is LEAF else edge), memory))


def without_tangents(tensor: Any) -> Any:
    """Return the memory of a tensor that leaves its graph, and forward mode with it."""
    payload = tensor._array()
    return payload.constant() if has_tangents(payload) else payload


def has_tangents(payload: Any) -> bool:
    """Return whether a payload carries tangents in forward mode."""
    return isinstance(payload, Lifted) and not payload.traced and payload.tensor() is None


def note_switch(kind: str) -> None:
    """Note, like `note`, that `kind` switches recording off.

    Switches by the library itself are not noted, except in functions that users decorated.
    """
    try:
        frame: Any = _getframe(2)
        code = frame.f_code
        if code.co_filename == _MODES:
            frame = _getframe(3)
            code = frame.f_code
    except ValueError:  # as above
        return
    if OURS[code.co_filename]:
        return
    _HERE.add((kind, code, frame.f_lasti, None, None))


def forget(*tensors: Any) -> None:
    """Drop this thread's notes of some leaves, which become other tensors."""
    kept = [n for n in _HERE.notes if n[3] is None or all(n[3]() is not t for t in tensors)]
    _HERE.notes.clear()
    _HERE.notes.extend(kept)


class Detachment:
    """A place where values left the graph, or where recording was switched off.

    Attributes
    ----------
    kind: The operation, as the user wrote it: ``.detach()``, ``no_grad()``.
    site: The line of the user's program.
    switch: Whether it switched recording off, rather than cut one tensor.
    """

    __slots__ = ("_cut", "_memory", "kind", "site", "switch")

    def __init__(self, kind: str, site: Site, edge: Any, memory: Any) -> None:
        self.kind = kind
        self.site = site
        self.switch = edge is None
        self._cut = edge
        self._memory = memory

    @property
    def _edge(self) -> Any:
        """The edge of the tensor that was cut (a leaf is its own); None once that has died."""
        return None if self._cut is None else self._cut()

    @property
    def memory(self) -> Any:
        """The array that was cut; None once it has died."""
        return None if self._memory is None else self._memory()


def recent() -> list[Detachment]:
    """Return the cuts noted in this thread, the latest first."""
    return [
        Detachment(kind, ([code, offset], None), edge, memory)
        for kind, code, offset, edge, memory in reversed(list(_HERE.notes))
    ]


def told(cuts: list[Detachment]) -> list[str]:
    """Format cuts as lines, one for each position."""
    places: dict[tuple[str, str], int] = {}
    for cut in cuts:
        place = cut.kind, shown(cut.site)
        places[place] = places.get(place, 0) + 1
    width = max((len(kind) for kind, _ in places), default=0)
    return [
        f"{kind:<{width}}  {where}" + (f"  ({count} times)" if count > 1 else "")
        for (kind, where), count in places.items()
    ]
