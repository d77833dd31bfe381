"""Layer 8 · compiler: in-place writes of a traced function, as new values of the memory."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from wengert.compiler.ir.facets import REARRANGES
from wengert.compiler.ir.programs import Value
from wengert.compiler.tracing.operations import S
from wengert.compiler.tracing.sym import Storage, Sym
from wengert.prims.record import Primitive
from wengert.prims.table import TABLE


def write(trace: Any, target: Sym, result: Any) -> None:
    """Write `result` to the memory of `target`: to its array, and as a new value of its storage."""
    made = trace.symbol(result)
    if target.array.__class__ is not np.ndarray:
        target.array = np.array(target.array)
    storage = target.storage
    # take the value before the write: `result` may share the memory
    value = made.value
    _keep(trace, storage)
    np.copyto(target.array, made.array, casting="same_kind")
    if value.shape != target.shape:
        value = S.expand(_seen(trace, value), shape=target.shape).value
    if value.dtype != target.dtype:
        value = S.to_copy(_seen(trace, value), dtype=target.dtype).value
    storage.touched = True
    names = trace.path.names
    if names is not None and storage.first in names:
        names.is_written = True
    whole = storage.whole
    trace.written.add((whole or storage).first)
    if whole is None:
        storage.value = _placed(trace, storage.value, target.chain, value)
        storage.writes += 1
    elif storage.window is None:
        trace.give_up(
            "a write to memory that others show as elements of another kind, or none shows whole",
            True,
        )
    else:
        whole.value = _placed(trace, whole.value, (*storage.window, *target.chain), value)
        whole.writes += 1


def _keep(trace: Any, storage: Storage) -> None:
    """Save the content of an input's memory before it is first written to."""
    origin = storage.origin
    if origin is None or origin in trace.before:
        return
    kept: list[Value | None] = [origin]
    if storage.whole is not None:
        # and that of all inputs, which may alias it
        kept += [given.storage.origin for given in trace.given]
        kept.append(storage.whole.origin)
    for value in kept:
        if value is not None and value not in trace.before:
            trace.before[value] = trace.arrays[value].copy()


def _placed(trace: Any, base: Value, chain: Sequence[tuple[Primitive, Any]], new: Value) -> Value:
    """Return the value of memory in which `new` replaces the view that `chain` describes."""
    if not chain:
        return new
    (prim, params), *rest = chain
    part = trace.view(prim, base, params) if rest else None
    if part is not None:
        new = _placed(trace, part, rest, new)
    made = Value(base.dtype, base.shape)
    if prim.name == "index":
        (places,) = params["indices"]
        if np.unique(places).size == places.size:
            into = {"indices": (trace.constant(places).value,), "accumulate": False}
            return trace.put(TABLE["index_put"], (base, new), into, made)
    scatter = TABLE.get(f"{prim.name}_scatter")
    if scatter is not None and prim.name not in ("as_strided", "index"):
        return trace.put(scatter, (base, new), params, made)
    rule = prim.rules[0]
    if REARRANGES[prim] and rule is not None:
        # every element appears once: the derivative puts a value back in its place
        known = {"self_shape": base.shape, **params}
        put_back = rule.call(S, _seen(trace, new), *[known[name] for name in rule.names])
        value: Value = put_back.value
        return value
    # an index is a window, some of whose elements share memory
    trace.give_up(f"a write through {prim.name}()", layout=prim.name == "index")
    return base


def _seen(trace: Any, value: Value) -> Sym:
    array = trace.arrays.get(value, value.constant)
    if array is None:
        array = np.zeros(value.shape, value.dtype)
    return Sym(array, trace, value)
