"""Layer 4 · tape: stand-ins in nodes for saved tensors that are packed or may be written to.

NOTE [packed saved tensors]
A `Packed` has the attributes of a saved tensor that nodes read. Its payload is unpacked at each
read, and its version never changes. Its edge matches no tensor's, so code that needs a tensor in
the graph attaches the payload to the node's own edge.
"""

from __future__ import annotations

import weakref
from collections.abc import Iterator
from contextvars import ContextVar
from typing import Any

import numpy as np

from wengert.base import errors
from wengert.interp.levels import Lifted
from wengert.tape.base import TensorBase, new_tensor, version_of
from wengert.tape.handles import WATCHED
from wengert.tape.modes import Mode, no_grad

RUNNING: ContextVar[Any] = ContextVar("wengert_node", default=None)
"""The node or leaf that is running, set where user code may ask for it."""


class Packed:
    """A saved tensor in the form that a pack hook returned."""

    __slots__ = ("__weakref__", "dtype", "packed", "shape", "unpack")
    _vc = None
    _edge: Any = object()

    def __init__(self, tensor: Any, pack: Any, unpack: Any) -> None:
        self.shape = tensor._payload.shape
        self.dtype = tensor._payload.dtype
        self.unpack = unpack
        before = version_of(tensor)
        with no_grad():
            self.packed = pack(tensor)
        if version_of(tensor) != before:
            raise RuntimeError(
                "A saved tensor pack hook is modifying its input in place. Tensors provided as "
                "input to pack hook cannot be modified by in-place operations as this can lead to "
                "unexpected side-effects: let the hook work on a clone."
            )

    @property
    def _payload(self) -> Any:
        """The unpacked values."""
        return self.values_of(self.tensor())

    def values_of(self, tensor: Any) -> Any:
        """Return the values of `tensor` in the dtype that was packed."""
        payload = tensor._payload
        # hooks that save at a lower precision may leave the conversion back to us
        return payload if payload.dtype == self.dtype else payload.astype(self.dtype)

    def tensor(self) -> Any:
        """Return the result of the unpack hook, checked."""
        tensor = self.unpack(self.packed)
        if not isinstance(tensor, TensorBase):
            raise TypeError(
                "Output of saved tensor unpack_hook expected to be a Tensor but got result of type "
                f"{type(tensor).__name__}"
            )
        payload = tensor._payload
        if payload.shape != self.shape:
            raise RuntimeError(
                f"a saved tensor unpack_hook returned {errors.describe(payload)} for a tensor that "
                f"was {errors.describe(self)} when it was packed"
            )
        return tensor


class Guarded:
    """A saved tensor whose memory may be written to: its values are copied aside before a write.

    After the copy, `cell` is None. Until then it detects writes that bypassed the copy.
    """

    __slots__ = ("__weakref__", "at", "cell", "values")
    _vc = None
    _edge: Any = Packed._edge

    def __init__(self, tensor: Any, cell: Any) -> None:
        self.values = tensor._payload
        self.cell = cell
        self.at = cell[0]

    @property
    def _payload(self) -> Any:
        """The values from when the tensor was saved."""
        if self.cell is not None and self.cell[0] != self.at:
            raise errors.modified_in_place(
                self.values,
                "",
                self.cell,
                self.at,
                "an operation under allow_mutation_on_saved_tensors, which was left before the "
                "write",
                "saved tensor",
            )
        return self.values


class Watched(Guarded):
    """A saved tensor whose tangents share memory; `lent` has the version cells and counts."""

    __slots__ = ("lent",)

    def __init__(self, tensor: Any, lent: list[Any]) -> None:
        super().__init__(tensor, tensor._share_version())
        self.lent = [(cell, cell[0]) for cell in lent]

    @property
    def _payload(self) -> Any:
        """The values, checked to be unchanged since the tensor was saved."""
        for cell, at in ((self.cell, self.at), *self.lent):
            if cell[0] != at:
                raise errors.modified_in_place(
                    self.values, "", cell, at, "an operation on a dual tensor", "saved tensor"
                )
        return self.values


def watched(tensor: Any) -> Any:
    """Return what to save of `tensor`: itself, unless a tangent of it is in another's memory."""
    payload = tensor._payload
    lent = list(_lent(payload)) if isinstance(payload, Lifted) else None
    return Watched(tensor, lent) if lent else tensor


def _lent(payload: Lifted) -> Iterator[Any]:
    cell = getattr(payload, "given", None)
    if cell is not None:
        yield cell
    for part in payload.contents():
        if isinstance(part, Lifted):
            yield from _lent(part)


class Mutation:
    """The saved tensors that are copied before a write, by the version cell of their memory.

    Attributes
    ----------
    tid_to_weakhandle
        The stand-ins of tensors whose memory was not written to since they were saved.
    cloned: The stand-ins of tensors that were copied, with the copies, while a graph needs them.
    """

    def __init__(self) -> None:
        self._saved: dict[int, weakref.WeakSet[Guarded]] = {}
        self.tid_to_weakhandle: weakref.WeakValueDictionary[tuple[int, int], Guarded] = (
            weakref.WeakValueDictionary()
        )
        self.cloned: weakref.WeakKeyDictionary[Guarded, Any] = weakref.WeakKeyDictionary()

    def guard(self, tensor: Any) -> Guarded:
        """Return the stand-in for `tensor`: one object for all nodes, until it is written to."""
        cell = tensor._share_version()
        # a stand-in keeps its cell and payload alive, so their ids are unique
        key = (id(cell), id(tensor._payload))
        guarded = self.tid_to_weakhandle.get(key)
        if guarded is None or guarded.at != cell[0]:
            guarded = self.tid_to_weakhandle[key] = Guarded(tensor, cell)
            self._saved.setdefault(id(cell), weakref.WeakSet()).add(guarded)
        return guarded

    def before_write(self, tensor: Any) -> None:
        """Copy the saved values in the memory of `tensor`, which is about to be written to."""
        for guarded in self._saved.pop(id(tensor._vc), ()):
            self.tid_to_weakhandle.pop((id(guarded.cell), id(guarded.values)), None)
            if isinstance(guarded.values, np.ndarray):
                guarded.values = guarded.values.copy()
            guarded.cell = None
            self.cloned[guarded] = new_tensor(guarded.values)

    def clear(self) -> None:
        """Forget all saved tensors: from now on a write to one makes the backward pass raise."""
        self._saved.clear()
        self.tid_to_weakhandle.clear()
        self.cloned.clear()


def keeps_aside(mode: Mode | None) -> bool:
    """Return whether nodes keep stand-ins in place of saved tensors."""
    return mode is not None and (bool(mode.hooks) or mode.mutation is not None)


def stand_in(mode: Any, tensor: Any) -> Packed | Guarded:
    """Return the stand-in for `tensor` in a mode where `keeps_aside` holds."""
    if mode.hooks:
        packed = Packed(tensor, *mode.hooks[-1])
        # the unpack hook may register hooks during a walk
        WATCHED.add(packed)
        return packed
    return mode.mutation.guard(tensor)


def unpacked(node: Any, saved: Packed | Guarded, edge: Any) -> Any:
    """Return the saved tensor of `node`, tied to the graph by `edge`."""
    token = RUNNING.set(node)
    try:
        if edge is None and saved.__class__ is Packed:
            # return a constant as the same object that the hook returned
            tensor = saved.tensor()
            values = saved.values_of(tensor)
            same = tensor._edge is None and values is tensor._payload
            return tensor if same else new_tensor(values)
        return new_tensor(saved._payload, edge)
    finally:
        RUNNING.reset(token)


def stood_in(node: Any, saved: Packed | Guarded) -> Any:
    """Return a tensor with the values of a stand-in in `node`."""
    return unpacked(node, saved, saved._edge)
