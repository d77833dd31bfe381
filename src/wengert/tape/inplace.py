"""Layer 4 · tape: operations that write into their first argument.

NOTE [writing in place]
Everything is checked before the first byte changes. Then: what the rule needs of the old value is
copied aside, the new value is computed and written, the version is raised, and the tensor's history
becomes the operation's node; through a view, the history of the base (see NOTE [views and
history]).
"""

from __future__ import annotations

import weakref
from typing import Any, ClassVar

import numpy as np

from wengert.base import errors
from wengert.base.dtypes import is_differentiable
from wengert.interp.eager import K
from wengert.interp.levels import Lifted, Transforms, namespace_of
from wengert.prims.record import Primitive
from wengert.prims.table import TABLE
from wengert.tape.base import TensorBase, new_tensor
from wengert.tape.lift import are_wider, check_dtypes, is_number
from wengert.tape.modes import current_mode
from wengert.tape.node import Node, edge_of, next_sequence
from wengert.tape.record import T, make_node, save_result
from wengert.tape.saving import keeps_aside
from wengert.tape.sites import mark, place
from wengert.tape.specialise import noter
from wengert.tape.versions import InferenceCell
from wengert.tape.views import (
    Step,
    move_edge,
    push,
    refresh_views,
    replayed,
)
from wengert.tape.write_checks import (
    check_apart,
    check_cast,
    check_overlap,
    check_shape,
    check_writable,
    lift_others,
)

__all__ = [
    "FROM_ONE_VALUE",
    "MAY_OVERLAP",
    "PLACES",
    "CopySlices",
    "base_requires_grad",
    "bump",
    "old_value_needed",
    "set_history",
    "write",
    "write_result",
    "write_through_view",
]

MAY_OVERLAP = frozenset({"fill_scalar", "index_put", "masked_fill", "masked_fill_tensor", "zero"})
"""The operations that PyTorch lets write to memory that a tensor shows several times."""
FROM_ONE_VALUE = frozenset({"fill_tensor", "masked_fill_tensor"})
"""The operations whose value may lie in the memory that they write to."""
PLACES = frozenset({"index_copy", "index_put", "masked_scatter", "put"})
"""The operations whose values must not: they read and write in an order of their own."""
YIELD_BOOLS = frozenset(
    {
        *("eq", "ne", "lt", "le", "gt", "ge"),
        *("logical_and", "logical_or", "logical_xor", "logical_not"),
    }
)
"""The operations whose result is a bool, which fits into every dtype."""


def write(
    prim: Primitive, tensor: Any, others: tuple[Any, ...], params: dict[str, Any], name: str
) -> Any:
    """Compute `prim` on `tensor` and `others` and put the result into `tensor`.

    Parameters
    ----------
    name
        The name of the operation as users know it (``add_``), for messages.
    """
    number = None
    form = prim
    if prim.name in YIELD_BOOLS:
        return _write_converted(prim, tensor, others, params, name)
    if prim.refuses:
        check_dtypes(prim, (tensor, *others), params)
    others = tuple(other.item() if isinstance(other, np.generic) else other for other in others)
    if prim.scalar is not None and len(others) == 1 and is_number(others[0]):
        form = TABLE[prim.scalar]
        number = others[0]
        if isinstance(number, bool) and tensor.payload.dtype.kind != "b":
            number = int(number)
        params = {form.params[0]: number}
        check_cast(form, tensor, [number])
        lifted = [tensor]
    else:
        if not others and tensor.payload.dtype.kind in "biu" and prim.promote is not None:
            check_cast(prim, tensor, [])
        lifted = [tensor, *lift_others(form, tensor, others)]
    mode = current_mode()
    if (mode is not None and (mode.levels or mode.tracing is not None)) or isinstance(
        tensor.payload, Lifted
    ):
        return Transforms.write(form, tensor, lifted, params, name, mode)
    payload = tensor.array()
    payloads = [payload, *[other.payload for other in lifted[1:]]]
    if form.broadcasts:
        check_shape(payload, payloads[1:])
        if form.name not in FROM_ONE_VALUE:
            for other in payloads[1:]:
                check_overlap(payload, other)
        if payload.dtype.kind in "iu" and are_wider(prim, payload, others):
            return _write_converted(prim, tensor, others, params, name)
    elif form.name in PLACES:
        for other in payloads[1:]:
            check_apart(payload, other)
    recording = (mode is None or mode.records) and (
        any(t.edge is not None for t in lifted) or base_requires_grad(tensor)
    )
    recording = recording and is_differentiable(payload.dtype)
    check_writable(tensor, recording, form.name in MAY_OVERLAP)
    if recording and not form.is_differentiable:
        # what is written depends on nothing, and the history ends here
        value = form.kernel(*payloads, *(() if number is None else (number,)), **params)
        constant = new_tensor(np.asarray(value, dtype=payload.dtype))
        return write(TABLE["assign"], tensor, (constant,), {}, name)
    node = None
    if mode is not None and mode.mutation is not None:
        mode.mutation.before_write(tensor)
    if recording:
        old = tensor
        if old_value_needed(form, lifted):
            old = new_tensor(payload.copy(), tensor.edge)
        sources = [old if other is tensor else other for other in lifted]
        if mode is None or mode.observed:
            node = noter(form)(*sources, **params)
            if node is not None:
                mark(node)
        if node is None:
            node = make_node(form, sources, payloads, params, payload)
        if node.edges[0] is not None:
            node.edges = (edge_of(tensor), *node.edges[1:])
    saves_result = node is not None and "result" in form.saved
    before = payload.copy() if saves_result and keeps_aside(mode) else None
    try:
        _compute(prim, form, payloads, number, params)
    except (FloatingPointError, KeyboardInterrupt):
        # raised when something has been written
        bump(tensor, name)
        raise
    bump(tensor, name)
    if node is None:
        if tensor.ext is not None:
            refresh_views(tensor, None)
    else:
        if mode is not None and mode.anomaly is not None:
            node.site = mode.anomaly.site()
        try:
            set_history(tensor, node, saves_result)
        except BaseException:
            if before is not None:
                # a hook refused the result
                np.copyto(payload, before)
                tensor.vc[0] -= 1
            raise
    return tensor


def write_result(tensor: Any, result: Any, before: Any, name: str) -> Any:
    """Put `result`, that of an operation on a copy of `tensor`, into it, as that operation's write.

    Parameters
    ----------
    before
        The copy, with the history that `tensor` has.
    """
    node = result.edge
    fits = (result.payload.shape, result.payload.dtype) == (
        tensor.payload.shape,
        tensor.payload.dtype,
    )
    alone = isinstance(node, Node) and node.edges[0] is edge_of(before)
    mode = current_mode()
    if mode is not None and (mode.levels or mode.mutation is not None or mode.tracing is not None):
        return write(TABLE["assign"], tensor, (result,), {}, name)
    check_writable(tensor, node is not None)
    if not fits or not alone:
        return write(TABLE["assign"], tensor, (result,), {}, name)
    np.copyto(tensor.payload, result.payload)
    bump(tensor, name)
    set_history(tensor, node, False)
    return tensor


def _write_converted(
    prim: Primitive, tensor: Any, others: tuple[Any, ...], params: dict[str, Any], name: str
) -> Any:
    """Write a result that has no history, made in the common dtype, over its first argument."""
    values = [new_tensor(v.payload) if isinstance(v, TensorBase) else v for v in others]
    result = getattr(T, prim.name)(new_tensor(tensor.array()), *values, **params)
    dtype = tensor.payload.dtype
    if isinstance(result.payload, Lifted):
        constant = new_tensor(result.payload.astype(dtype))
    else:
        constant = new_tensor(np.asarray(result.payload).astype(dtype))
    return write(TABLE["assign"], tensor, (constant,), {}, name)


def _compute(
    prim: Primitive, form: Primitive, payloads: list[Any], number: Any, params: dict[str, Any]
) -> None:
    """Write the result of an operation over the first of its arguments."""
    payload = payloads[0]
    ufunc = prim.kernel if isinstance(prim.kernel, np.ufunc) else None
    if ufunc is not None and number is not None:
        ufunc(payload, number, out=payload, casting="same_kind")
    elif ufunc is not None:
        ufunc(*payloads, out=payload, casting="same_kind")
    elif form.into is not None:
        form.into(*payloads, **params)
    else:
        np.copyto(payload, form.kernel(*payloads, **params), casting="same_kind")


def old_value_needed(prim: Primitive, tensors: list[Any]) -> bool:
    """Whether a rule that will run names what is about to be overwritten."""
    return any(
        rule is not None and "self" in rule.names and tensor.edge is not None
        for rule, tensor in zip(prim.rules, tensors, strict=True)
    )


def base_requires_grad(tensor: Any) -> bool:
    """Whether a view that was made while nothing was recorded hides a base with a history."""
    ext = tensor.ext
    return ext is not None and ext.base is not None and ext.base.edge is not None


def bump(tensor: Any, name: str) -> None:
    """Note a write to the memory of `tensor` by the operation `name`."""
    vc = tensor.share_version()
    if vc.__class__ is InferenceCell:
        return
    vc[0] += 1
    vc[1:] = name, place()


def set_history(tensor: Any, node: Any, saves_result: bool) -> None:
    """Let the history of `tensor` be `node`, which has just written to it."""
    ext = tensor.ext
    base = None if ext is None else ext.base
    if base is None:
        if saves_result:
            save_result(node, tensor)
        move_edge(tensor, node)
        if ext is not None:
            refresh_views(tensor, node)
        return
    if saves_result:
        save_result(node, tensor)
    write_through_view(tensor, node, 0)


def write_through_view(view: Any, node: Any, place: int) -> None:
    """Make `node`, which has just written to `view`, part of the history of the view's base.

    Parameters
    ----------
    place
        Which of the node's edges is that of the view before the write.
    """
    ext = view.ext
    outer: Any = CopySlices.__new__(CopySlices)
    chain = ext.chain
    outer.edges = (*node.edges[:place], edge_of(ext.base), *node.edges[place + 1 :])
    outer.seq = next_sequence()
    outer.ext = None
    outer.inner = node
    outer.place = place
    outer.chain = chain
    before = view.edge
    move_edge(ext.base, outer)
    refresh_views(view, outer)
    # what the node saved of its result is the view as it is after the write; weakly, since `outer`
    # holds the node, and the view's own node holds `outer`
    below = weakref.ref(outer)
    own = weakref.ref(view.edge if view.edge is not before else outer)
    node.extra().result_edge = lambda: (
        replayed(below(), chain) if own() in (None, below()) else own()
    )


class CopySlices(Node):
    """A write through a view, seen from the view's base."""

    __slots__ = ("chain", "inner", "place")
    label: ClassVar[str] = "CopySlices"
    full_name: ClassVar[str] = "torch::autograd::CopySlices"
    inner: Any
    place: int
    chain: tuple[Step, ...]

    @property
    def blanks(self) -> int:  # type: ignore[override]  # as many as the node within has
        """The number of arguments without a gradient that PyTorch's node shows."""
        blanks: int = 0 if self.inner is None else self.inner.blanks
        return blanks

    def release(self) -> None:
        """Let go of what was saved."""
        if self.inner is not None:
            self.inner.release()
            self.inner = None

    def apply(self, g: Any, keep: bool, edges: tuple[Any, ...]) -> tuple[Any, ...]:
        """The inner node's gradients; for the base, all but what the view showed passes through."""
        if isinstance(g, Lifted):
            return self.apply_in(g, keep, edges)
        inner = self._inner()
        if g.__class__ is not np.ndarray:
            g = np.asarray(g)
        grads = inner.apply(push(K, self.chain, g), keep, edges)
        if not keep:
            self.inner = None
        part = grads[self.place]
        if edges[self.place] is None:
            return grads
        below = np.array(g, order="C")
        if part is None:
            part = np.zeros_like(push(K, self.chain, g))
        window = push(K, self.chain, below)
        if np.may_share_memory(window, below):
            window[...] = part
        else:
            below = self._placed(K, below, part)
        return (*grads[: self.place], below, *grads[self.place + 1 :])

    def apply_in(self, g: Any, keep: bool, edges: tuple[Any, ...]) -> tuple[Any, ...]:
        """As `apply`, in the namespace of the values."""
        F: Any = namespace_of(g)
        grads = self._inner().apply_in(push(F, self.chain, g), keep, edges)
        if not keep:
            self.inner = None
        part = grads[self.place]
        if edges[self.place] is None:
            return grads
        if part is None:
            part = F.zeros_like(push(F, self.chain, g))
        F = namespace_of(g, part)
        below = self._placed(F, g, part)
        return (*grads[: self.place], below, *grads[self.place + 1 :])

    def _inner(self) -> Any:
        if self.inner is None:
            raise errors.backward_twice(self.label)
        return self.inner

    def _placed(self, F: Any, g: Any, part: Any) -> Any:
        """`g` with `part` in place of what the view shows of it, without writing."""
        shape = tuple(g.shape)
        size = int(np.prod(shape, dtype=np.int64))
        positions = push(K, self.chain, np.arange(size).reshape(shape)).reshape(-1)
        flat = F.view(g, shape=(size,))
        values = F.view(part, shape=(positions.size,))
        placed = F.index_put(flat, values, indices=(positions,), accumulate=False)
        return F.view(placed, shape=shape)
