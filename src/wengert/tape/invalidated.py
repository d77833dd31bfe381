"""Layer 4 · tape: views whose history was lost when their memory was written to.

NOTE [invalidated views]
Some views cannot follow a write to their base: views made without recording, views that are one of
several outputs, and views returned by a custom Function. After such a write they may be read, but
no longer take part in a graph. To refuse that without a test in every operation, their payload
becomes an `InvalidatedArray`, which refuses NumPy's functions while operations are recorded, and
their edge leads to a node that refuses to run.
"""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from wengert.tape.modes import is_recording
from wengert.tape.node import Node, next_sequence


class InvalidatedArray(np.ndarray[Any, Any]):
    """The payload of a view that must no longer be recorded."""

    why = ""

    def __array_finalize__(self, obj: Any) -> None:
        if isinstance(obj, InvalidatedArray):
            self.why = obj.why
            self._refuse()

    def _refuse(self) -> None:
        if is_recording():
            raise RuntimeError(self.why)

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **kwargs: Any) -> Any:
        if ufunc not in _UNRECORDED:
            self._refuse()
        out = kwargs.get("out")
        if out is not None:
            kwargs["out"] = tuple(map(plain, out))
        return getattr(ufunc, method)(*map(plain, inputs), **kwargs)

    def __array_function__(self, func: Any, types: Any, args: Any, kwargs: Any) -> Any:
        self._refuse()
        return plain(super().__array_function__(func, types, args, kwargs))


_UNRECORDED = frozenset(
    {
        *(np.equal, np.not_equal, np.less, np.less_equal, np.greater, np.greater_equal),
        *(np.isnan, np.isinf, np.isfinite, np.logical_and, np.logical_or, np.logical_not),
    }
)
"""Functions without a derivative, which are never recorded."""


def plain(value: Any) -> Any:
    """Return an ordinary array over the same memory."""
    return value.view(np.ndarray) if isinstance(value, InvalidatedArray) else value


class Invalidated(Node):
    """The history of a view that lost its own."""

    __slots__ = ("message", "was")
    label: ClassVar[str] = "Invalid"
    message: str
    was: tuple[str | None, int]

    def apply(self, g: Any, keep: bool, edges: tuple[Any, ...]) -> tuple[Any, ...]:
        """Refuse."""
        raise RuntimeError(self.message)

    apply_in = apply


def invalidate(view: Any, message: str, was: tuple[str | None, int]) -> None:
    """Make `view` refuse to be recorded; `was` names its former node and output number."""
    payload = view._array()
    if isinstance(payload, np.ndarray):
        # payloads other than arrays have no fast path that ignores the edge
        invalid = payload.view(InvalidatedArray)
        invalid.why = message
        payload = invalid
    node: Any = Invalidated.__new__(Invalidated)
    node.edges = ()
    node._seq = next_sequence()
    node._ext = None
    node.message, node.was = message, was
    view._payload, view._edge = payload, node
