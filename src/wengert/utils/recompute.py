"""Layer 8 · utils: checkpointed regions of the graph, which recompute their saved tensors.

NOTE [checkpoints]
While a region is computed, a hook replaces every saved tensor by a `_Holder`, and the tensor is
freed. When a walk needs the first of them, the region is recomputed from its inputs, in the modes
and the random state that it had, and another hook collects the saved tensors: the same ones, in the
same order. Each is returned once and then dropped, so another walk over the same graph recomputes
the region. Tensors that belong to a transform within the region are kept: recomputed, they would
belong to another.

The inputs of a region are saved as an operation would save them, so a nested region's inputs are
among the tensors that the outer one drops. Nested regions are recomputed as regions: when the walk
needs their tensors, they ask the outer one for their inputs first.
"""

from __future__ import annotations

import contextlib
import weakref
from collections.abc import Callable
from contextvars import ContextVar
from typing import Any

from wengert.base import errors
from wengert.interp.levels import levels_of
from wengert.ops.generator import default_generator, fork_rng
from wengert.tape.base import TensorBase, new_tensor, version_of
from wengert.tape.masked import apart
from wengert.tape.modes import MODE, changed, current_mode, full_mode
from wengert.tape.node import USER_CODE, edge_of
from wengert.tape.saving import keeps_aside, stand_in, unpacked
from wengert.tape.watch import CURRENT
from wengert.utils.dispatch import fresh_casts


class CheckpointError(RuntimeError):
    """A checkpointed function did not compute the same when it was recomputed."""


class Enough(BaseException):
    """Ends a recomputation that has produced all that is needed.

    Not an `Exception`, so that a function that catches these does not continue.
    """


class _Holder:
    """The placeholder that a node keeps instead of a saved tensor."""

    __slots__ = ("__weakref__",)


class _Input:
    """A tensor that a region was called with, saved as an operation would save it."""

    __slots__ = ("_edge", "name", "saved", "version")

    def __init__(self, tensor: Any, name: str) -> None:
        mode = current_mode()
        self.name = name
        self._edge = edge_of(tensor)
        aside = keeps_aside(mode)
        self.saved: Any = stand_in(mode, tensor) if aside else tensor
        self.version = None if aside else version_of(tensor)

    def tensor(self, function: str) -> Any:
        """Return the tensor unmodified, or raise if it was written to since."""
        saved = self.saved
        if self.version is None:
            return unpacked(None, saved, self._edge)
        if version_of(saved) != self.version:
            raise errors.modified_in_place(
                saved._payload, "", saved._vc, self.version, f"checkpoint({function})", self.name
            )
        # the tensor may have left the graph since: the edge knows its node
        if edge_of(saved) is self._edge:
            return saved
        return new_tensor(saved._payload, self._edge, saved._vc)


class _Kept:
    """A tensor that a recomputation saved."""

    __slots__ = ("_payload", "cell", "constant", "version")

    def __init__(self, tensor: Any, alone: bool) -> None:
        # a tensor that is not part of the graph is returned as the same object
        self.constant = tensor if tensor._edge is None else None
        self._payload = tensor._payload
        self.cell = tensor._share_version()
        self.version = self.cell[0]
        if alone and self.version:
            # a write whose result cannot be saved is undone
            self._payload, self.cell, self.version = self._payload.copy(), [0, None], 0
            self.constant = None

    def tensor(self) -> Any:
        """Return the tensor, or raise if the recomputation itself has overwritten it."""
        if self.cell[0] != self.version:
            raise errors.modified_in_place(
                self._payload,
                "",
                self.cell,
                self.version,
                "an operation in a checkpointed function",
                "saved tensor",
            )
        if self.constant is not None:
            return self.constant
        return new_tensor(self._payload, None, self.cell)


class _Note:
    """The facts about a saved tensor to compare with when it is saved again."""

    __slots__ = ("_where", "dtype", "shape", "version")

    def __init__(self, tensor: Any) -> None:
        self.shape = tensor._payload.shape
        self.dtype = tensor._payload.dtype
        self.version = version_of(tensor)
        # the memory is identified by the version cell that its tensors share, or by its only tensor
        self._where = weakref.ref(tensor) if tensor._vc is None else tensor._vc

    def now(self) -> int | None:
        """Return the current version of the memory; None if it has been freed."""
        where = self._where
        if where.__class__ is list:
            return int(where[0])
        tensor = where()
        return None if tensor is None else version_of(tensor)

    def same_memory(self, tensor: Any) -> bool:
        """Return whether `tensor` is the memory that was saved, and not recomputed."""
        where = self._where
        return (tensor._vc if where.__class__ is list else tensor) is (
            where if where.__class__ is list else where()
        )


class Region:
    """One call of a function whose saved tensors are recomputed when they are needed.

    Parameters
    ----------
    function, args, kwargs: The call.
    preserve_rng_state: Whether the recomputation draws the same random numbers.
    context: The context manager for the recomputation.
    checked: Whether recomputed tensors are compared with the original ones.
    early_stop: Whether the recomputation ends as soon as every saved tensor is recomputed.
    explain: Called with a `CheckpointError`, to raise a longer one; or None.
    keeps: A predicate for tensors to keep instead of recomputing them; or None.
    """

    def __init__(
        self,
        function: Callable[..., Any],
        args: tuple[Any, ...],
        kwargs: dict[str, Any],
        *,
        preserve_rng_state: bool = True,
        context: Any = None,
        checked: bool = True,
        early_stop: bool = True,
        explain: Callable[[CheckpointError], None] | None = None,
        keeps: Callable[[Any], bool] | None = None,
    ) -> None:
        self.function = function
        self.args = [_saved(value, f"argument {i}") for i, value in enumerate(args)]
        self.kwargs = {name: _saved(value, name) for name, value in kwargs.items()}
        self.rng = default_generator.stream.pack() if preserve_rng_state else None
        self.casts = fresh_casts(full_mode().dispatch)
        self.context = contextlib.nullcontext() if context is None else context
        self.checked = checked
        self.early_stop = early_stop
        self.explain = explain
        self._keeps = keeps
        self.complete = False
        self._levels = {level.number for level in full_mode().levels}
        # what is kept is decided once: None stands for it when the region is recomputed
        self.holders: list[weakref.ref[_Holder] | None] = []
        self.notes: list[_Note | None] = []
        self._kept: weakref.WeakKeyDictionary[Any, _Collected] = weakref.WeakKeyDictionary()
        # a walk that fails during the recomputation can be repeated
        USER_CODE.add(self)

    @property
    def name(self) -> str:
        """The name of the function."""
        return getattr(self.function, "__qualname__", type(self.function).__name__)

    def pack(self, tensor: Any) -> Any:
        """Return the placeholder to save instead of `tensor`."""
        if self.stays(tensor):
            self.holders.append(None)
            self.notes.append(None)
            return tensor
        holder = _Holder()
        self.holders.append(weakref.ref(holder))
        self.notes.append(_Note(tensor) if self.checked else None)
        return holder

    def stays(self, tensor: Any) -> bool:
        """Return whether `tensor` is kept: always if it belongs to a transform in the region."""
        if not levels_of(tensor._payload).keys() <= self._levels:
            return True
        return self._keeps is not None and self._keeps(tensor)

    def unpack(self, holder: Any) -> Any:
        """Return the tensor that `holder` replaces."""
        if holder.__class__ is not _Holder:
            return holder
        if self.explain is None:
            return self._unpack(holder)
        try:
            return self._unpack(holder)
        except CheckpointError as error:
            self.explain(error)
            raise

    def _unpack(self, holder: _Holder) -> Any:
        group = _GROUP.get()
        walk = CURRENT.get() if group is None else group
        # outside a walk the user looks at one saved tensor
        kept = None if walk is None else self._kept.get(walk)
        if kept is None:
            kept = self._recompute()
            if walk is not None:
                self._kept[walk] = kept
        found = kept.pop(holder, None)
        if found is None:
            advice = (
                "Performing two backward calls that overlap (that need the same saved tensor) is "
                "not allowed in one GraphExecGroup."
                if group is not None
                else "If you are calling ctx.saved_tensors in backward, do so only once."
            )
            raise CheckpointError(
                "torch.utils.checkpoint: Unpack is being triggered for a tensor that was already "
                f"unpacked once. {advice}"
            )
        return found.tensor()

    @apart()
    def _recompute(self) -> _Collected:
        args = [_restored(value, self.name) for value in self.args]
        kwargs = {name: _restored(value, self.name) for name, value in self.kwargs.items()}
        recomputation = _Recomputation(self)
        before = current_mode()
        mode = full_mode()
        if mode.refusal is not None:
            raise RuntimeError(mode.refusal)
        with fork_rng(enabled=self.rng is not None):
            if self.rng is not None:
                default_generator.stream.unpack(self.rng)
            hooks = (*mode.hooks, (recomputation.pack, _Kept.tensor))
            try:
                MODE.set(
                    changed(
                        mode,
                        grad=True,
                        inference=None,
                        mutation=None,
                        hooks=hooks,
                        dispatch=fresh_casts(self.casts),
                    )
                )
                with self.context:
                    self.function(*args, **kwargs)
            except Enough:
                pass
            finally:
                MODE.set(before)
        recomputation.check()
        return recomputation.kept


def _saved(value: Any, name: str) -> Any:
    return _Input(value, name) if isinstance(value, TensorBase) else value


def _restored(value: Any, function: str) -> Any:
    return value.tensor(function) if value.__class__ is _Input else value


class _Recomputation:
    """Collects the tensors that a region saves when it is recomputed."""

    def __init__(self, region: Region) -> None:
        self.region = region
        self.kept: _Collected = weakref.WeakKeyDictionary()
        self._count = 0
        self._expected = len(region.holders)
        places = [i for i, holder in enumerate(region.holders) if holder is not None]
        self._last = places[-1] if region.early_stop else None
        self._partial = False
        self._before = [None if note is None else note.now() for note in region.notes]
        self._different: list[str] = []
        self._overwritten: RuntimeError | None = None

    def pack(self, tensor: Any) -> _Kept:
        """Keep `tensor` for the corresponding node of the original graph."""
        region, i = self.region, self._count
        self._count += 1
        if i >= self._expected:
            if region.complete:
                raise CheckpointError(
                    "torch.utils.checkpoint: trying to save more tensors during recomputation than "
                    f"during the original forward pass.\n  {region.name} saved {self._expected} "
                    f"of them then, and now a further one, "
                    f"{errors.describe(tensor._payload)}.\n{_TIP}"
                )
            # differentiated within the region, the rest of which was not computed then
            self._partial = True
            return _Kept(tensor, False)
        place, note = region.holders[i], region.notes[i]
        if place is None:
            return _Kept(tensor, False)
        if note is not None:
            self._compare(i, note, tensor)
        enough = i == self._last
        kept = _Kept(tensor, enough)
        # freed if a walk within the region has used it
        holder = place()
        if holder is not None:
            self.kept[holder] = kept
        if enough:
            self._partial = True
            raise Enough
        return kept

    def _compare(self, i: int, note: _Note, tensor: Any) -> None:
        payload = tensor._payload
        if payload.shape != note.shape or payload.dtype != note.dtype:
            self._different.append(
                f"tensor at position {i}:\nsaved metadata: {errors.describe(note)}\n"
                f"recomputed metadata: {errors.describe(payload)}\n"
            )
        elif self._overwritten is None and note.same_memory(tensor):
            version = version_of(tensor)
            # tensors that the function itself wrote before are unchanged
            if version != note.version and version == self._before[i]:
                self._overwritten = errors.modified_in_place(
                    payload,
                    "",
                    tensor._vc,
                    note.version,
                    f"checkpoint({self.region.name})",
                    f"saved tensor {i}",
                )

    def check(self) -> None:
        """Raise if the recomputation did not save the same tensors."""
        if not self._partial and self._count != self._expected:
            raise CheckpointError(
                "torch.utils.checkpoint: A different number of tensors was saved during the "
                "original forward and recomputation.\nNumber of tensors saved during forward: "
                f"{self._expected}\nNumber of tensors saved during recomputation: {self._count}.\n"
                f"  The function was {self.region.name}.\n{_TIP}"
            )
        if self._different:
            raise CheckpointError(
                "torch.utils.checkpoint: Recomputed values for the following tensors have "
                f"different metadata than during the forward pass.\n{''.join(self._different)}"
                f"  The function was {self.region.name}.\n{_TIP}"
            )
        if self._overwritten is not None:
            raise self._overwritten


_TIP = (
    "  A checkpointed function must do the same each time: it must not depend on what changes "
    "between the forward and the backward pass. Pass debug=True to checkpoint(), or use "
    "set_checkpoint_debug_enabled(True), to see the operations of both."
)

_Collected = weakref.WeakKeyDictionary[_Holder, _Kept]

_GROUP: ContextVar[Any] = ContextVar("wengert_checkpoint_group", default=None)


class GraphExecGroup:
    """A context in which several backward passes share the recomputation of checkpoints.

    Each region is then recomputed at most once, by the first pass that needs it. No two passes may
    need the same saved tensor.

    Raises
    ------
    RuntimeError: If such contexts are nested.

    Examples
    --------
    >>> from wengert.utils.checkpoint import GraphExecGroup, checkpoint
    >>> def f(x, y):
    ...     print("computed")
    ...     return x.exp(), y.exp()
    >>> x, y = (wg.zeros(1, requires_grad=True) for _ in range(2))
    >>> a, b = checkpoint(f, x, y, use_reentrant=False)
    computed
    >>> with GraphExecGroup():
    ...     a.backward()
    ...     b.backward()
    computed
    """

    def __enter__(self) -> GraphExecGroup:
        if _GROUP.get() is not None:
            raise RuntimeError("GraphExecGroup contexts cannot be nested")
        _GROUP.set(self)
        return self

    def __exit__(self, *exc: object) -> None:
        _GROUP.set(None)
