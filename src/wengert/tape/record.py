"""Layer 4 · tape: T, the namespace that computes on tensors and records, and its general path.

NOTE [half precision]
float16 and bfloat16 are storage dtypes. Every primitive and every rule computes in float32 and
rounds its results: products and sums of several steps would otherwise overflow or lose their few
digits, and NumPy promotes bfloat16 with a number to a different dtype.
"""

from __future__ import annotations

from collections.abc import Sequence
from operator import is_
from typing import Any

import numpy as np

from wengert.base.arrays import plain_array
from wengert.base.dtypes import is_differentiable, is_half
from wengert.base.ports import PORTS, provides
from wengert.base.shapes import broadcast
from wengert.interp.eager import K
from wengert.interp.levels import Lifted, namespace_of
from wengert.kernels.create import to_copy
from wengert.prims.namespace import Namespace
from wengert.prims.record import Primitive
from wengert.prims.table import TABLE
from wengert.tape.base import UNCHANGED, OutputEdge, TensorBase, new_tensor, tensor_over, version_of
from wengert.tape.forms import is_common, saves_tensors
from wengert.tape.invalidated import Invalidated
from wengert.tape.modes import NO_GRAD, current_mode, untraced
from wengert.tape.node import Node, edge_of, next_sequence
from wengert.tape.operands import (
    are_uniform,
    as_operands,
    cast_for_number,
    check_dtypes,
    fitting,
    is_number,
    plain,
)
from wengert.tape.saving import keeps_aside, stand_in, watched
from wengert.tape.sites import mark
from wengert.tape.specialise import (
    level_class,
    node_class,
    other_recorder,
    recorder,
    traced_recorder,
)
from wengert.tape.views import attach_view


def record(prim: Primitive, args: tuple[Any, ...], params: dict[str, Any]) -> Any:
    """Compute `prim` on any arguments and record it: the general path of every operation.

    Numbers, arrays and mixed dtypes are first converted to tensors of one dtype (see
    `wengert.tape.operands`); a binary operation with a Python number uses its form for numbers.
    """
    mode = current_mode()
    if mode is not None:
        if mode.special is not None:
            return mode.special.record(mode, prim, args, params)
        if mode.traces and is_common(prim) and not prim.variadic:
            made = traced_recorder(prim, _promoted, mode.tracing.payload_class)
            return made(*args, **params)
    return _promoted(prim, args, params)


def _promoted(prim: Primitive, args: tuple[Any, ...], params: dict[str, Any]) -> Any:
    """Like `record`, for arguments that may need a conversion."""
    if prim.refuses:
        check_dtypes(prim, args, params)
    if not prim.of_number and are_uniform(prim, args):
        return _recorded(prim, args, params)
    if prim.promote is not None:
        # as in PyTorch
        args = tuple(map(plain, args))
    if prim.scalar is not None and len(args) == 2:
        self, other = args
        if is_number(other) and isinstance(self, TensorBase | np.ndarray):
            return _with_number(TABLE[prim.scalar], self, other)
        if is_number(self) and isinstance(other, TensorBase | np.ndarray) and prim.rscalar:
            return _with_number(TABLE[prim.rscalar], other, self)
    if prim.of_number:
        # not by its generated code, which may have called this function
        return _recorded(prim, *_of_form(prim, args[0], params[prim.params[0]]))
    operands = as_operands(prim, args)
    if _is_generated(current_mode()) and not all(map(is_, operands, args)):
        # now the common case: generated code records it
        return getattr(T, prim.name)(*operands, **params)
    return _recorded(prim, operands, params)


_OTHERS: dict[str, Any] = {}
"""The recorders for other dtypes, made on first use: by the primitive's name and the dtype's."""


def _recorded(prim: Primitive, tensors: Sequence[Any], params: dict[str, Any]) -> Any:
    """Call the generated recorder for complex tensors or half precision, or `run`."""
    mode = current_mode()
    if mode is None or mode is NO_GRAD:
        for tensor in tensors:
            payload = tensor._payload
            dtype = payload.dtype
            if dtype.kind == "c" or (is_half(dtype) and not isinstance(payload, Lifted)):
                made = _OTHERS.get(prim.name + dtype.char)
                if made is None:
                    made = _OTHERS[prim.name + dtype.char] = _other(prim, dtype)
                return made(*tensors, **params)
    return run(prim, tensors, params)


def _other(prim: Primitive, dtype: np.dtype[Any]) -> Any:
    if not is_common(prim) or prim.variadic:
        return lambda *tensors, **params: run(prim, tensors, params)
    wide = None if dtype.kind == "c" or _computes_in_half(prim) else widened
    return other_recorder(prim, run, dtype, wide)


def _is_generated(mode: Any) -> bool:
    """Return whether generated code records common operations in this mode."""
    return mode is None or mode is NO_GRAD or mode.traces


def _with_number(form: Primitive, tensor: Any, number: Any) -> Any:
    (tensor,), params = _of_form(form, tensor, number)
    dtype = tensor._payload.dtype
    if _is_generated(current_mode()) and (dtype is _F32 or dtype is _F64) and is_common(form):
        return getattr(T, form.name)(tensor, **params)
    return _recorded(form, [tensor], params)


def _of_form(form: Primitive, tensor: Any, number: Any) -> tuple[list[Any], dict[str, Any]]:
    """Return the operands and the parameters of an operation's form for numbers."""
    if not isinstance(tensor, TensorBase):
        tensor = new_tensor(plain_array(tensor))
    tensor = cast_for_number(form, tensor, number)
    number = plain(number)
    if isinstance(number, bool) and tensor._payload.dtype.kind != "b":
        number = int(number)
    return [tensor], {form.params[0]: fitting(form, number, tensor._payload.dtype)}


_F32, _F64 = np.dtype(np.float32), np.dtype(np.float64)


def run(
    prim: Primitive, tensors: Sequence[Any], params: dict[str, Any], outs: list[Any] | None = None
) -> Any:
    """Compute `prim` on tensors that need no further promotion, and record it.

    Parameters
    ----------
    outs: New tensors for the results, if these are known and need not be computed.
    """
    mode = current_mode()
    if mode is not None and mode.dispatch:
        return mode.dispatch[-1].run(mode, prim, tensors, params, outs)
    carriers: list[Any] = []
    tracing = None if mode is None else mode.tracing
    if mode is not None and mode.lifts:
        tensors = PORTS.raised(tensors, params)
        carriers = [t._payload for t in tensors]
        carriers += [v for value in params.values() if isinstance(value, tuple) for v in value]
    else:
        for tensor in tensors:
            if isinstance(tensor._payload, Lifted):
                tensors = PORTS.raised(tensors, params)
                lifted = [t._payload for t in tensors if isinstance(t._payload, Lifted)]
                carriers = [payload for payload in lifted if payload.computes]
                if carriers and tracing is not None:
                    untraced("it computes on another device")
                break
    payloads = [tensors[0]._array()] if prim.view else [tensor._payload for tensor in tensors]
    single = prim.outputs == 1
    if outs is None:
        F = namespace_of(*[p for p in carriers if isinstance(p, Lifted)])
        if F is K and tracing is not None:
            F = tracing.namespace
        half = half_of(prim, payloads)
        try:
            if half is None:
                results = getattr(F, prim.name)(*payloads, **params)
            else:
                results = widened(getattr(F, prim.name), half)(*payloads, **params)
        except ValueError:
            if prim.broadcasts:
                broadcast(*[p.shape for p in payloads])  # raises, and says which sizes differ
            raise
        make = tensor_over if carriers else new_tensor
        outs = [make(r) for r in ((results,) if single else results)]
    recording = mode is None or mode.records
    if (
        recording
        and outs
        and is_differentiable(outs[0]._payload.dtype)
        and any(
            tensor._edge is not None and rule is not None
            for tensor, rule in zip(tensors, _rules(prim, len(tensors)), strict=True)
        )
    ):
        _attach_node(prim, tensors, payloads, params, outs)
    if prim.view:
        for i, out in enumerate(outs):
            attach_view(tensors[0], out, prim, params, None if single else i, recording)
    return outs[0] if single else tuple(outs)


_OF_BITS = frozenset({"nan_to_num", "nextafter"})
"""The primitives that depend on the representation of a dtype, not only on values."""


def _computes_in_half(prim: Primitive) -> bool:
    return prim.view or "dtype" in prim.params or prim.name in _OF_BITS


def half_of(prim: Primitive, payloads: list[Any]) -> Any:
    """Return the half-precision dtype of the arguments; None if there is none, or a wider float.

    See NOTE [half precision].
    """
    if _computes_in_half(prim):
        return None
    found = None
    for payload in payloads:
        dtype = payload.dtype
        if dtype.kind in "fVc":
            if not is_half(dtype):
                return None
            found = dtype
    return found


def _in(payload: Any, dtype: np.dtype[Any]) -> Any:
    # the result has the memory layout of the copy
    return to_copy(payload, dtype) if payload.__class__ is np.ndarray else payload.astype(dtype)


def widened(kernel: Any, half: Any) -> Any:
    """Return the kernel that computes in float32, and rounds its results."""

    def computed(*payloads: Any, **params: Any) -> Any:
        wide = [_in(p, _F32) if p.dtype == half else p for p in payloads]
        results = kernel(*wide, **params)
        if results.__class__ is not tuple:
            return _in(results, half) if results.dtype.kind == "f" else results
        return tuple([_in(r, half) if r.dtype.kind == "f" else r for r in results])

    return computed


def _rules(prim: Primitive, count: int) -> tuple[Any, ...]:
    return prim.rules * count if prim.variadic else prim.rules


def _attach_node(
    prim: Primitive,
    tensors: Sequence[Any],
    payloads: list[Any],
    params: dict[str, Any],
    outs: list[Any],
) -> Node:
    node: Any = make_node(prim, tensors, payloads, params, outs[0]._payload)
    count = len(outs) if prim.differentiable is None else prim.differentiable
    if prim.differentiable == 1:
        outs[0]._edge = node
    else:
        for i, out in enumerate(outs[:count]):
            out._edge = OutputEdge(node, i)
        node.outputs_meta = tuple((out._payload.shape, out._payload.dtype) for out in outs[:count])
    if "result" in prim.saved:
        save_result(node, outs[0])
    return node


_REAL = (np.ndarray, np.generic)


def make_node(
    prim: Primitive,
    tensors: Sequence[Any],
    payloads: list[Any],
    params: dict[str, Any],
    result: Any,
) -> Any:
    """Make a node of `prim` with edges and saved arguments, but without its output."""
    for tensor in tensors:
        # arrays refuse this themselves (see NOTE [invalidated views])
        if tensor._edge.__class__ is Invalidated:
            raise RuntimeError(tensor._edge.message)
    complexes = tuple([p.dtype.kind == "c" for p in payloads])
    plain = True not in complexes and (prim.conj == "explicit" or result.dtype.kind != "c")
    halves = None
    if half_of(prim, payloads) is not None:
        halves = tuple([p.dtype if is_half(p.dtype) else None for p in payloads])
    lifted = not all(isinstance(p, _REAL) for p in payloads)
    mode = current_mode()
    aside = keeps_aside(mode)
    general = lifted or aside or not plain or halves is not None
    cls = level_class(prim) if general else node_class(prim)
    node: Any = cls.__new__(cls)
    rules = _rules(prim, len(tensors))
    node.edges = tuple(
        [
            edge_of(tensor) if rule is not None else None
            for tensor, rule in zip(tensors, rules, strict=True)
        ]
    )
    node._seq = next_sequence()
    node._ext = None
    if cls is not node_class(prim):
        node.complexes = None if plain else complexes
        node.halves = halves
    if prim.variadic:
        for name in prim.saved_args:
            saved = tuple(stand_in(mode, t) if aside else watched(t) for t in tensors)
            setattr(node, f"s_{name}", saved)
        if prim.saved_args:
            node.versions = tuple(map(version_of, tensors))
    else:
        by_name = dict(zip(prim.args, tensors, strict=True))
        wanted = {
            name
            for rule, edge in zip(rules, node.edges, strict=True)
            if rule is not None and edge is not None
            for name in rule.names
        }
        node.versions = tuple(
            [version_of(by_name[name]) if name in wanted else 0 for name in prim.saved_args]
        )
        order: Sequence[str] = prim.saved_args
        if aside:
            # saved in PyTorch's order, by name, since hooks see it
            order = sorted(prim.saved_args)
        for name in order:
            tensor = by_name[name] if name in wanted else None
            if tensor is not None:
                tensor = stand_in(mode, tensor) if aside else watched(tensor)
            setattr(node, f"s_{name}", tensor)
    for name in prim.saved:
        if name in prim.params:
            setattr(node, f"p_{name}", params[name])
        elif name != "result" and name not in prim.args:
            arg, what = name.rsplit("_", 1)
            if prim.variadic:
                setattr(node, name, tuple(getattr(p, what) for p in payloads))
            else:
                payload = payloads[prim.args.index(arg)]
                if what == "ordered":
                    flags = getattr(payload, "flags", None)
                    told = flags is None or flags.c_contiguous
                else:
                    told = getattr(payload, what)
                setattr(node, name, told)
    if prim.broadcasts:
        node.shapes = tuple(p.shape for p in payloads)
    if saves_tensors(prim):
        mark(node)
    return node


def save_result(node: Any, out: Any) -> None:
    """Save an output in its node as payload and version cell, which avoids a cycle."""
    mode = current_mode()
    kept: Any = stand_in(mode, out) if keeps_aside(mode) else watched(out)
    if kept is out:
        node.result = out._payload
        node.result_vc = out._share_version()
    else:
        node.result = kept
        node.result_vc = UNCHANGED
    node.result_at = node.result_vc[0]


def _recording(prim: Primitive) -> Any:
    return recorder(prim, record) if is_common(prim) else _general(prim)


def _general(prim: Primitive) -> Any:
    def call(*args: Any, **params: Any) -> Any:
        return record(prim, args, params)

    call.__name__ = prim.name
    return call


T: Any = provides("namespace")(Namespace(_recording))
"""Every primitive as a recording function of tensors."""
