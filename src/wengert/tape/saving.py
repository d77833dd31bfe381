"""Layer 4 · tape: what stands in a node for a saved tensor that hooks packed or that may change.

NOTE [packed saved tensors]
A `Packed` has the attributes that nodes read of a saved tensor: its payload is unpacked when it is
read, its version never changes, and its edge is that of no tensor, so that whoever needs one ties
the payload to the node's own edge.
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
"""The node or leaf whose turn it is, where a user's code may ask."""


class Packed:
    """A saved tensor in the form that a hook gave it."""

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
        """The values of what the hook makes of the packed form."""
        return self.values_of(self.tensor())

    def values_of(self, tensor: Any) -> Any:
        """The values of `tensor` in the dtype of what was packed."""
        payload = tensor._payload
        # hooks that save at a lower precision may leave the way back to us
        return payload if payload.dtype == self.dtype else payload.astype(self.dtype)

    def tensor(self) -> Any:
        """What the hook makes of the packed form."""
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
    """A saved tensor whose memory may be written to: the values are copied aside before.

    Once they are, `cell` is None. Until then it shows writes that nobody announced.
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
        """The values as they were when the tensor was saved."""
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
    """A saved tensor whose tangents lie in memory of others; `lent` has its cells and counts."""

    __slots__ = ("lent",)

    def __init__(self, tensor: Any, lent: list[Any]) -> None:
        super().__init__(tensor, tensor._share_version())
        self.lent = [(cell, cell[0]) for cell in lent]

    @property
    def _payload(self) -> Any:
        """The values, which nothing was written to since the tensor was saved."""
        for cell, at in ((self.cell, self.at), *self.lent):
            if cell[0] != at:
                raise errors.modified_in_place(
                    self.values, "", cell, at, "an operation on a dual tensor", "saved tensor"
                )
        return self.values


def watched(tensor: Any) -> Any:
    """What is saved of `tensor`: itself, if no tangent of it lies in memory of another tensor."""
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
    """The saved tensors that are kept as they were, by the version cell of their memory.

    Attributes
    ----------
    tid_to_weakhandle
        What stands for tensors whose memory was not written to since they were saved.
    cloned: What stands for those that were copied aside, with the copies, while a graph needs them.
    """

    def __init__(self) -> None:
        self._saved: dict[int, weakref.WeakSet[Guarded]] = {}
        self.tid_to_weakhandle: weakref.WeakValueDictionary[tuple[int, int], Guarded] = (
            weakref.WeakValueDictionary()
        )
        self.cloned: weakref.WeakKeyDictionary[Guarded, Any] = weakref.WeakKeyDictionary()

    def guard(self, tensor: Any) -> Guarded:
        """What stands for `tensor` in a node: one object for all nodes, until it is written to."""
        cell = tensor._share_version()
        # a cell and a payload live as long as something guarded names them, so ids are their own
        key = (id(cell), id(tensor._payload))
        guarded = self.tid_to_weakhandle.get(key)
        if guarded is None or guarded.at != cell[0]:
            guarded = self.tid_to_weakhandle[key] = Guarded(tensor, cell)
            self._saved.setdefault(id(cell), weakref.WeakSet()).add(guarded)
        return guarded

    def before_write(self, tensor: Any) -> None:
        """Copy what is saved of the memory of `tensor`, which is about to be written to."""
        for guarded in self._saved.pop(id(tensor._vc), ()):
            self.tid_to_weakhandle.pop((id(guarded.cell), id(guarded.values)), None)
            if isinstance(guarded.values, np.ndarray):
                guarded.values = guarded.values.copy()
            guarded.cell = None
            self.cloned[guarded] = new_tensor(guarded.values)

    def clear(self) -> None:
        """Forget what is saved: a write to it makes the backward pass raise from now on."""
        self._saved.clear()
        self.tid_to_weakhandle.clear()
        self.cloned.clear()


def keeps_aside(mode: Mode | None) -> bool:
    """Whether saved tensors are not to be kept as they are."""
    return mode is not None and (bool(mode.hooks) or mode.mutation is not None)


def stand_in(mode: Any, tensor: Any) -> Packed | Guarded:
    """What is saved of `tensor` in a mode that keeps saved tensors aside."""
    if mode.hooks:
        packed = Packed(tensor, *mode.hooks[-1])
        # what unpacks it may register hooks during a walk
        WATCHED.add(packed)
        return packed
    guarded: Guarded = mode.mutation.guard(tensor)
    return guarded


def unpacked(node: Any, saved: Packed | Guarded, edge: Any) -> Any:
    """The saved tensor of `node`, tied to the graph by `edge`."""
    token = RUNNING.set(node)
    try:
        if edge is None and saved.__class__ is Packed:
            # a constant is handed out as the object that the hook gave
            tensor = saved.tensor()
            values = saved.values_of(tensor)
            same = tensor._edge is None and values is tensor._payload
            return tensor if same else new_tensor(values)
        return new_tensor(saved._payload, edge)
    finally:
        RUNNING.reset(token)


def stood_in(node: Any, saved: Packed | Guarded) -> Any:
    """A tensor with the values of what stands in `node` for a saved one."""
    return unpacked(node, saved, saved._edge)
