"""Layer 4 · tape: where values left the graph: the last few places in each thread.

NOTE [cuts]
Nothing in a graph says where it was cut: the tensor behind the cut has no history. So whatever
takes a value that needs a gradient out of its graph (``detach()``, ``.data``, ``item()``, a
conversion to integers, ...), and whatever switches recording off, notes the line of the user's
program that did it; the errors about missing graphs, and `wengert.autograd.explain`, show them.
Loops that log go through here at every step, so a note is a tuple and a weak reference: the lines
are looked up when they are shown, and no graph lives longer for having been cut.
"""

from __future__ import annotations

import os
from _thread import _local
from collections import deque
from sys import _getframe
from typing import Any
from weakref import ref

from wengert.tape.base import LEAF
from wengert.tape.sites import OURS, Site, outside, shown

__all__ = ["DETACHING", "SCALARS", "Cut", "note", "note_switch", "recent", "told"]

_MOST = 16
_MODES = os.path.join(os.path.dirname(__file__), "modes.py")
"""Where the functions are that run those that users decorated."""

SCALARS = frozenset({".item()", ".tolist()", "float()", "int()", "complex()"})
"""The cuts that make Python numbers: as a rule to print them."""

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


class _Notes(_local):
    """The notes of one thread, the last one at the end."""

    def __init__(self) -> None:
        self.notes: deque[tuple[Any, ...]] = deque(maxlen=_MOST)
        self.add = self.notes.append


_HERE = _Notes()


def note(kind: str, tensor: Any) -> None:
    """Note that `tensor`, which requires a gradient, leaves its graph by the operation `kind`.

    It is to be called by the very function that the user called.
    """
    edge = tensor.edge
    try:
        frame = _getframe(2)
    except ValueError:  # called by the interpreter itself: there is no line to show
        return
    code = frame.f_code
    if OURS[code.co_filename]:
        frame = outside(frame)
        code = frame.f_code
    _HERE.add((kind, code, frame.f_lasti, ref(tensor if edge is LEAF else edge)))


def note_switch(kind: str) -> None:
    """Note that `kind` switches recording off; as `note`.

    What the library itself switches off is not noted, except for functions that users decorated.
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
    _HERE.add((kind, code, frame.f_lasti, None))


class Cut:
    """A place where values left the graph, or where recording was switched off.

    Attributes
    ----------
    kind
        What did it, as the user wrote it: ``.detach()``, ``no_grad()``.
    site
        Where.
    switch
        Whether it switched recording off, and cut no tensor itself.
    """

    __slots__ = ("_edge", "kind", "site", "switch")

    def __init__(self, kind: str, site: Site, edge: Any) -> None:
        self.kind = kind
        self.site = site
        self.switch = edge is None
        self._edge = edge

    @property
    def edge(self) -> Any:
        """The edge of the tensor that was cut (a leaf is its own); None if it is gone."""
        return None if self._edge is None else self._edge()


def recent() -> list[Cut]:
    """The cuts noted in this thread, the last first."""
    return [
        Cut(kind, ([code, offset], None), edge)
        for kind, code, offset, edge in reversed(list(_HERE.notes))
    ]


def told(cuts: list[Cut]) -> list[str]:
    """Lines that show cuts, one for each place."""
    places: dict[tuple[str, str], int] = {}
    for cut in cuts:
        place = cut.kind, shown(cut.site)
        places[place] = places.get(place, 0) + 1
    width = max((len(kind) for kind, _ in places), default=0)
    return [
        f"{kind:<{width}}  {where}" + (f"  ({count} times)" if count > 1 else "")
        for (kind, where), count in places.items()
    ]
