"""Layer 4 · tape: in-place operations, which write into their first argument.

NOTE [writing in place]
All checks come before the first byte changes. Then the old value is copied aside if a rule needs
it, the new value is computed and written, the version is raised, and the operation's node becomes
the tensor's history; for a view, it becomes part of the base's (see NOTE [views and history]).
"""

from __future__ import annotations

import weakref
from sys import _getframe
from typing import Any, ClassVar

import numpy as np

from wengert.base import errors
from wengert.base.dtypes import is_differentiable
from wengert.base.ports import PORTS
from wengert.interp.eager import K
from wengert.interp.levels import Lifted, namespace_of
from wengert.prims.facet import Facet
from wengert.prims.record import Primitive
from wengert.prims.table import TABLE
from wengert.tape.base import TensorBase, new_tensor
from wengert.tape.modes import NO_GRAD, current_mode
from wengert.tape.node import Node, edge_of, next_sequence
from wengert.tape.operands import are_wider, check_dtypes, fitting, is_number, plain
from wengert.tape.record import T, half_of, make_node, save_result, widened
from wengert.tape.saving import keeps_aside
from wengert.tape.sites import OURS, mark, place
from wengert.tape.specialise import node_factory
from wengert.tape.versions import InferenceCell
from wengert.tape.views import (
    Chain,
    invalidate_elsewhere,
    invalidate_views,
    move_edge,
    push,
    refresh_views,
    replayed,
)
from wengert.tape.write_checks import (
    check_cast,
    check_sources,
    check_writable,
    may_repeat,
    other_operands,
)


def write(
    prim: Primitive, tensor: Any, others: tuple[Any, ...], params: dict[str, Any], name: str
) -> Any:
    """Compute `prim` on `tensor` and `others` and put the result into `tensor`.

    Parameters
    ----------
    name: The name of the operation that users see (``add_``), for messages.
    """
    payload, dtypes = tensor._payload, _QUICK[prim]
    if not dtypes or not is_plain(tensor) or payload.dtype.char not in dtypes:
        return _write(prim, tensor, others, params, name)
    # the quick path: only arithmetic on arrays of one shape and dtype, and writes by position
    form, given = prim, others
    if others:
        if len(others) == 1 and others[0].__class__ in _NUMBERS:
            (number,) = others
            if prim.scalar is None or not -_SMALL < number < _SMALL:
                return _write(prim, tensor, others, params, name)
            if number.__class__ is float and payload.dtype.kind != "f":
                return _write(prim, tensor, others, params, name)
            if prim.kernel.__class__ is not np.ufunc:
                form, given = TABLE[prim.scalar], ()
                params = {form.params[0]: number}
        elif not (_are_alike(prim, tensor, others) or _are_direct(prim, tensor, others)):
            return _write(prim, tensor, others, params, name)
        else:
            given = tuple([other._payload for other in others])
    try:
        if form.into is not None:
            form.into(payload, *given, **params)
        elif form.kernel.__class__ is np.ufunc:
            form.kernel(payload, *given, out=payload)
        else:
            np.copyto(payload, getattr(K, form.name)(payload, *given, **params))
    except (FloatingPointError, KeyboardInterrupt):
        bump(tensor, name)
        raise
    written(tensor, name)
    return tensor


def _write(
    prim: Primitive, tensor: Any, others: tuple[Any, ...], params: dict[str, Any], name: str
) -> Any:
    """Compute an in-place operation for any arguments and mode."""
    mode = current_mode()
    if mode is not None and mode.dispatch:
        return mode.dispatch[-1].write(mode, prim, tensor, others, params, name)
    if prim.predicate:
        return _write_converted(prim, tensor, others, params, name)
    if prim.refuses:
        check_dtypes(prim, (tensor, *others), params)
    others = tuple(map(plain, others))
    form, number, params, operands = _bound(prim, tensor, others, params)
    if (mode is not None and mode.lifts) or isinstance(tensor._payload, Lifted):
        return PORTS.write(form, tensor, operands, params, name, mode)
    payload = tensor._array()
    payloads = [payload, *[other._payload for other in operands[1:]]]
    recording = is_recorded(mode, tensor, operands)
    check_writable(tensor, recording, may_repeat(form, recording))
    check_sources(form, payload, payloads)
    if form.broadcasts and payload.dtype.kind in "iu" and are_wider(prim, payload, others):
        return _write_converted(prim, tensor, others, params, name)
    if recording and not form.is_differentiable:
        # the value written is a constant, and the history ends here
        value = form.kernel(*payloads, *(() if number is None else (number,)), **params)
        constant = new_tensor(np.asarray(value, dtype=payload.dtype))
        return _write(TABLE["assign"], tensor, (constant,), {}, name)
    if mode is not None and mode.mutation is not None:
        mode.mutation.before_write(tensor)
    node = None
    if recording:
        observed = mode is None or mode.observed
        node = node_of_write(form, tensor, operands, payloads, params, observed)
    saves_result = node is not None and "result" in form.saved
    before = payload.copy() if saves_result and keeps_aside(mode) else None
    try:
        _compute(prim, form, payloads, number, params)
    except (FloatingPointError, KeyboardInterrupt):
        # raised after a part has been written
        bump(tensor, name)
        raise
    bump(tensor, name)
    if node is None:
        if tensor._ext is not None:
            refresh_views(tensor, None)
        return tensor
    if mode is not None and mode.anomaly is not None:
        node.site = mode.anomaly.site()
    try:
        set_history(tensor, node, saves_result)
    except BaseException:
        if before is not None:
            # a hook refused the result
            np.copyto(payload, before)
            tensor._vc[0] -= 1
        raise
    return tensor


_WRITTEN = "fdileE?"
"""The characters of the dtypes that most arrays have."""


def _quick_dtypes(prim: Primitive) -> str:
    if prim.writes and prim.into is not None:
        return _WRITTEN
    refused = set().union(*prim.refuses)
    if prim.promote is None or prim.predicate or prim.outputs != 1 or "f" in refused:
        return ""
    whole = prim.promote == "same" and "i" not in refused and isinstance(prim.kernel, np.ufunc)
    return "fdil" if whole else "fd"


QUICK: Facet[str] = Facet("quick", _quick_dtypes)
"""The dtypes of arrays of one shape to which the in-place form can write without conversions."""


class _Quick(dict[Primitive, str]):
    """The facet's values, cached per primitive."""

    def __missing__(self, prim: Primitive) -> str:
        self[prim] = QUICK[prim]
        return self[prim]


_QUICK = _Quick()
_NUMBERS = frozenset({int, float})
_SMALL = 2**31
"""The bound on the magnitude of numbers that every dtype of the fast path holds."""


def is_plain(tensor: Any) -> bool:
    """Return whether a write to `tensor` is an unrecorded write to an ordinary array."""
    payload, mode = tensor._payload, current_mode()
    if (
        payload.__class__ is not np.ndarray
        or payload.dtype.char not in _WRITTEN
        or not payload.flags.carray
        or tensor._vc.__class__ is InferenceCell
    ):
        return False
    return mode is NO_GRAD or (
        mode is None
        and tensor._edge is None
        and (tensor._ext is None or not base_requires_grad(tensor))
    )


def holds(tensor: Any, value: Any) -> bool:
    """Return whether `value` can be written to the plain tensor `tensor` directly, unrecorded."""
    array, target = value._payload, tensor._payload
    if value._edge is not None and current_mode() is None:
        return False
    if array.__class__ is not np.ndarray:
        return isinstance(array, np.generic) and array.dtype is target.dtype
    if array.dtype is not target.dtype:
        return False
    # a single element is read before it is written
    apart = not array.ndim or (array.flags.owndata and target.flags.owndata)
    return apart or not np.may_share_memory(array, target)


def _are_alike(prim: Primitive, tensor: Any, others: tuple[Any, ...]) -> bool:
    """Return whether the other arguments are plain tensors of the shape and dtype of `tensor`."""
    shape = tensor._payload.shape
    for other in others:
        if not (
            isinstance(other, TensorBase)
            and (not prim.writes if other is tensor else holds(tensor, other))
            and other._payload.shape == shape
        ):
            return False
    return True


def _are_direct(prim: Primitive, tensor: Any, others: tuple[Any, ...]) -> bool:
    """Return whether a plain tensor's write uses the other arguments without a conversion.

    They are numbers of no dimension, or masks and positions, or of any shape for a write by
    position.
    """
    target = tensor._payload
    for arg, other in zip(prim.args[1:], others, strict=True):
        if not isinstance(other, TensorBase) or other is tensor:
            return False
        array = other._payload
        fits = not (prim.broadcasts and array.ndim) or array.shape == target.shape
        known = array.__class__ is np.ndarray if arg in prim.fixed else holds(tensor, other)
        apart = fits and known and not np.may_share_memory(array, target)
        if not (apart or (fits and known and "aliased" in prim.writes)):
            return False
    return True


def written(tensor: Any, name: str) -> None:
    """Note a write that was not recorded."""
    frame: Any = _getframe(2)
    while OURS[frame.f_code.co_filename] and frame.f_back is not None:
        frame = frame.f_back
    cell = tensor._vc
    if cell is None:
        tensor._vc = [1, name, (frame.f_code, frame.f_lasti)]
    else:
        cell[0] += 1
        cell[1:3] = name, (frame.f_code, frame.f_lasti)
        if len(cell) > 4:
            invalidate_views(cell)
    if tensor._ext is not None:
        refresh_views(tensor, None)


def _bound(
    prim: Primitive, tensor: Any, others: tuple[Any, ...], params: dict[str, Any]
) -> tuple[Primitive, Any, dict[str, Any], list[Any]]:
    """Return the form that computes, its number or None, its parameters and its tensors."""
    if prim.scalar is not None and len(others) == 1 and is_number(others[0]):
        form, number = TABLE[prim.scalar], others[0]
        if isinstance(number, bool) and tensor._payload.dtype.kind != "b":
            number = int(number)
        check_cast(form, tensor, [number])
        number = fitting(form, number, tensor._payload.dtype)
        return form, number, {form.params[0]: number}, [tensor]
    if not others and tensor._payload.dtype.kind in "biu" and prim.promote is not None:
        check_cast(prim, tensor, [])
    return prim, None, params, [tensor, *other_operands(prim, tensor, others)]


def is_recorded(mode: Any, tensor: Any, operands: list[Any]) -> bool:
    """Return whether a write of `operands`, whose first is `tensor`, becomes part of a graph."""
    return (
        (mode is None or mode.records)
        and (any(t._edge is not None for t in operands) or base_requires_grad(tensor))
        and is_differentiable(tensor._payload.dtype)
    )


def node_of_write(
    prim: Primitive,
    tensor: Any,
    operands: list[Any],
    payloads: list[Any],
    params: dict[str, Any],
    quick: bool,
) -> Any:
    """Make the node of a write that follows, copying the old value if its rules need it.

    Parameters
    ----------
    quick: Whether the generated node factory may make it.
    """
    old = tensor
    if _is_old_value_needed(prim, operands):
        old = new_tensor(payloads[0].copy(), tensor._edge)
    sources = [old if other is tensor else other for other in operands]
    node = None
    if quick:
        node = node_factory(prim)(*sources, **params)
        if node is not None:
            mark(node)
    if node is None:
        node = make_node(prim, sources, payloads, params, payloads[0])
    if node.edges[0] is not None:
        node.edges = (edge_of(tensor), *node.edges[1:])
    return node


def write_result(tensor: Any, result: Any, before: Any, name: str) -> Any:
    """Write `result`, of an operation on a copy of `tensor`, to it, as if it had been in place.

    Parameters
    ----------
    before: The copy, with the history of `tensor`.
    """
    node = result._edge
    fits = (result._payload.shape, result._payload.dtype) == (
        tensor._payload.shape,
        tensor._payload.dtype,
    )
    alone = isinstance(node, Node) and node.edges[0] is edge_of(before)
    mode = current_mode()
    if mode is not None and (mode.lifts or mode.mutation is not None):
        return write(TABLE["assign"], tensor, (result,), {}, name)
    check_writable(tensor, node is not None)
    if not fits or not alone:
        return write(TABLE["assign"], tensor, (result,), {}, name)
    np.copyto(tensor._payload, result._payload)
    bump(tensor, name)
    set_history(tensor, node, False)
    return tensor


def _write_converted(
    prim: Primitive, tensor: Any, others: tuple[Any, ...], params: dict[str, Any], name: str
) -> Any:
    """Compute in the common dtype, without a history, and write the result to `tensor`."""
    values = [new_tensor(v._payload) if isinstance(v, TensorBase) else v for v in others]
    result = getattr(T, prim.name)(new_tensor(tensor._array()), *values, **params)
    dtype = tensor._payload.dtype
    if isinstance(result._payload, Lifted):
        constant = new_tensor(result._payload.astype(dtype))
    else:
        constant = new_tensor(np.asarray(result._payload).astype(dtype))
    return write(TABLE["assign"], tensor, (constant,), {}, name)


def _compute(
    prim: Primitive, form: Primitive, payloads: list[Any], number: Any, params: dict[str, Any]
) -> None:
    """Write the result of an operation to its first argument."""
    payload = payloads[0]
    ufunc = prim.kernel if isinstance(prim.kernel, np.ufunc) else None
    # NumPy rounds the results of its own functions, but also the number that one takes
    half = None if ufunc is not None and number is None else half_of(form, payloads)
    if half is not None and not form.writes:
        made = widened(getattr(K, form.name), half)(*payloads, **params)
        np.copyto(payload, made, casting="same_kind")
    elif ufunc is not None and number is not None:
        ufunc(payload, number, out=payload, casting="same_kind")
    elif ufunc is not None:
        ufunc(*payloads, out=payload, casting="same_kind")
    elif form.into is not None:
        form.into(*payloads, **params)
    else:
        np.copyto(payload, getattr(K, form.name)(*payloads, **params), casting="same_kind")


def _is_old_value_needed(prim: Primitive, tensors: list[Any]) -> bool:
    """Return whether a rule that may run needs the value that is about to be overwritten."""
    return any(
        rule is not None and "self" in rule.names and tensor._edge is not None
        for rule, tensor in zip(prim.rules, tensors, strict=True)
    )


def base_requires_grad(tensor: Any) -> bool:
    """Return whether a tensor is a view, perhaps an unrecorded one, of a base with a history."""
    ext = tensor._ext
    return ext is not None and ext.base is not None and ext.base._edge is not None


def bump(tensor: Any, name: str) -> None:
    """Note a write to the memory of `tensor` by the operation `name`."""
    count(tensor._share_version(), name)


def count(vc: Any, name: str, where: Any = None, writes: int = 1) -> None:
    """Count writes, the last by the operation `name` on the line `where`, in a version cell."""
    if vc.__class__ is InferenceCell:
        return
    vc[0] += writes
    vc[1:3] = name, place() if where is None else where
    if len(vc) > 4:
        invalidate_views(vc)


def set_history(tensor: Any, node: Any, saves_result: bool) -> None:
    """Make `node`, which has just written to `tensor`, its history."""
    ext = tensor._ext
    base = None if ext is None else ext.base
    if base is None:
        if saves_result:
            save_result(node, tensor)
        move_edge(tensor, node)
        if ext is not None:
            refresh_views(tensor, node)
            if ext.linked:
                invalidate_elsewhere(tensor)
        return
    if saves_result:
        save_result(node, tensor)
    write_through_view(tensor, node, 0)


def write_through_view(view: Any, node: Any, place: int) -> None:
    """Make `node`, which has just written to `view`, part of the history of the view's base.

    Parameters
    ----------
    place: The position of the edge to the view's old value among the node's edges.
    """
    ext = view._ext
    outer: Any = CopySlices.__new__(CopySlices)
    chain = ext.chain
    outer.edges = (*node.edges[:place], edge_of(ext.base), *node.edges[place + 1 :])
    outer._seq = next_sequence()
    outer._ext = None
    outer.inner = node
    outer.place = place
    outer.chain = chain
    before = view._edge
    move_edge(ext.base, outer)
    refresh_views(view, outer)
    above = ext.base._ext
    if above is not None and above.linked:
        invalidate_elsewhere(view)
    # the result that the node saved is the view after the write; refer to it weakly, since `outer`
    # holds the node, and the view's node holds `outer`
    below = weakref.ref(outer)
    own = weakref.ref(view._edge if view._edge is not before else outer)
    node._extra().result_edge = lambda: (
        replayed(below(), chain) if own() in (None, below()) else own()
    )


class CopySlices(Node):
    """A write through a view, seen from the view's base."""

    __slots__ = ("chain", "inner", "place")
    label: ClassVar[str] = "CopySlices"
    full_name: ClassVar[str] = "torch::autograd::CopySlices"
    inner: Any
    place: int
    chain: Chain

    @property
    def blanks(self) -> int:  # type: ignore[override]  # those of the inner node
        """The number of non-differentiable arguments that PyTorch's node shows."""
        return 0 if self.inner is None else self.inner.blanks

    def release(self) -> None:
        if self.inner is not None:
            self.inner.release()
            self.inner = None

    def apply(self, g: Any, keep: bool, edges: tuple[Any, ...]) -> tuple[Any, ...]:
        """Return the inner node's gradients; the base's passes through outside of the view."""
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
        """Like `apply`, but in the namespace of the values."""
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
        """Return `g` with the elements in the view replaced by `part`."""
        mode = current_mode()
        if F is T and (mode is None or not mode.lifts):
            below = F.clone(g)
            window = push(F, self.chain, below)
            if all(map(_is_array, (below, window, part))) and np.may_share_memory(
                window._payload, below._payload
            ):
                # record it as the write through a view that it is, for second derivatives
                write(TABLE["assign"], window, (part,), {}, "copy_")
                return below
        shape, dtype = tuple(g.shape), np.dtype(g.dtype)
        numbers = np.arange(int(np.prod(shape, dtype=np.int64)))
        if dtype.kind == "c":
            # a view may show the real or imaginary parts alone, so number both parts
            numbers = 2.0 * numbers + (2.0 * numbers + 1.0) * 1j
        else:
            numbers = numbers.astype(np.float64)
        positions = _as_real(K, push(K, self.chain, numbers.reshape(shape))).astype(np.intp)
        flat, values = (F.view(x, shape=(-1,)) for x in (_as_real(F, g), _as_real(F, part)))
        placed = F.index_put(flat, values, indices=(positions.reshape(-1),), accumulate=False)
        if dtype.kind == "c":
            placed = F.view_as_complex(F.view(placed, shape=(*shape, 2)))
        return F.view(placed, shape=shape)


def _as_real(F: Any, value: Any) -> Any:
    """Return complex numbers as pairs of real ones, and others unchanged."""
    return F.view_as_real(value) if np.dtype(value.dtype).kind == "c" else value


def _is_array(tensor: Any) -> bool:
    return isinstance(tensor, TensorBase) and isinstance(tensor._payload, np.ndarray)
