"""Layer 4 · tape: the general path of applying a node's rules: any payload, dtype and arity."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache, lru_cache
from typing import Any

import numpy as np

from wengert.base.dtypes import is_half
from wengert.base.ports import PORTS
from wengert.interp.levels import Lifted, namespace_of
from wengert.prims.facet import Facet
from wengert.prims.record import Primitive
from wengert.tape.base import TensorBase, new_tensor
from wengert.tape.masked import INVALID, mark, unmasked
from wengert.tape.node import Node
from wengert.tape.saved import unpack

FLAT: Facet[bool] = Facet("flat", lambda prim: False)
"""Whether gradients by an argument have a history in it, with a derivative of 0, although
the rule does not compute with it: in PyTorch they come from an operation on it, which may only
have compared it or taken its shape. So second derivatives are zeros there, not None."""

PARTIAL: Facet[bool] = Facet("partial", lambda prim: False)
"""Whether its rules take None for the cotangents of outputs that have none; others get zeros."""


def is_diagonal(prim: Primitive) -> bool:
    """Return whether each element of a gradient depends only on that element of the cotangent."""
    # vector products broadcast, too, along all dimensions but one, which is a parameter
    product = prim.family == "bilinear" and prim.broadcasts and not prim.params
    return prim.is_differentiable and (prim.family == "elementwise" or product)


def apply_rules(
    node: Any, g: Any, keep: bool, edges: tuple[Any, ...], read: Callable[..., Any] = unpack
) -> tuple[Any, ...]:
    """Apply a node's rules in the namespace of its values: for any payload, dtype and arity.

    `read` returns what rules need, as `unpack` does.
    """
    prim: Primitive = node.prim
    several = prim.differentiable != 1
    parts = [part for part in g if part is not None] if several else [g]
    if not parts:
        return Node.step(node, None, keep, edges, True)
    raw = not any(isinstance(part, TensorBase) for part in parts)
    wanted = tuple([e is not None for e in edges])
    if not any(wanted):
        return Node.step(node, None, keep, edges, True)
    needed = _needed(prim, wanted)
    # every saved value must be unchanged, including those that no wanted rule reads
    saved = {name: read(node, name, raw) for name in prim.saved}
    values = {name: saved[name] for name in needed}
    # compute at the levels of lifted values among the parameters, which tensors do not show
    F: Any = namespace_of(*parts, *_flat(values.values())) if raw else PORTS.namespace
    if several and not PARTIAL[prim]:
        g = tuple(
            F.zeros(shape=shape, dtype=dtype) if part is None else part
            for part, (shape, dtype) in zip(g, node.outputs_meta, strict=True)
        )
    halves = getattr(node, "halves", None)
    if halves is not None:
        g = _widened(F, g)
        values = {name: _widened(F, value) for name, value in values.items()}
    complexes = getattr(node, "complexes", None)
    sandwich = complexes is not None and prim.conj == "engine"
    if sandwich:
        g = tuple(map(F.conj, g)) if several else F.conj(g)
    if not keep:
        node.release()
    if prim.masks:
        mark(prim.hides, saved.get("indices", ()))
    if prim.variadic:
        rule = prim.rules[0]
        assert rule is not None
        grads = list(rule.call(F, g, *[values[n] for n in rule.names]))
    else:
        first = [F, g]
        if prim.shared is not None and needed:
            first.append(prim.shared.call(F, g, *[values[n] for n in prim.shared.names]))
        grads = [
            rule.part(*first, *[values[n] for n in rule.own]) if want and rule else None
            for rule, want in zip(prim.rules, wanted, strict=True)
        ]
    shapes = node.shapes if prim.broadcasts else None
    flat = FLAT[prim] and not raw
    for i, grad in enumerate(grads):
        if grad is None or not wanted[i]:
            grads[i] = None
            continue
        if INVALID and is_diagonal(prim):
            grad = unmasked(F, g, grad)
        if sandwich:
            grad = F.conj(grad)
        if (
            complexes is not None
            and not complexes[i]
            and getattr(grad, "_payload", grad).dtype.kind == "c"
        ):
            grad = F.real(grad)
        grad = grad if shapes is None else F.sum_to(grad, shape=shapes[i])
        if halves is not None and halves[i] is not None:
            grad = F.to_copy(grad, dtype=halves[i])
        if flat:
            grad = _flattened(F, grad, node.edges[i], prim)
        grads[i] = grad
    return tuple(grads)


@lru_cache(maxsize=1024)
def _needed(prim: Primitive, wanted: tuple[bool, ...]) -> tuple[str, ...]:
    """Return what the wanted rules need, of what is saved."""
    rules = prim.rules * len(wanted) if prim.variadic else prim.rules
    pairs = zip(rules, wanted, strict=True)
    names = {name for rule, want in pairs if want and rule for name in rule.names}
    return tuple([name for name in prim.saved if name in names])


def _flattened(F: Any, grad: Any, edge: Any, prim: Primitive) -> Any:
    """Return `grad` with a history in an argument of `prim`, by its edge, too (see `FLAT`)."""
    payload = grad._payload
    if isinstance(payload, Lifted) and not payload.traced:
        # the argument may belong to fewer levels, and its derivative is 0
        return grad
    made = F.constant_in(grad, edge if edge._seq > 0 else new_tensor(payload, edge))
    if made._edge is not None:
        kind: Any = type(made._edge)
        made._edge.__class__ = _named_after(kind, prim)
    return made


@cache
def _named_after(kind: type[Node], prim: Primitive) -> type[Node]:
    """Return a class of nodes with PyTorch's name of the operation that computes the gradient."""
    name = prim.node.replace("Backward", "BackwardBackward")
    body = {"__slots__": (), "__module__": kind.__module__, "label": name, "full_name": name}
    return type(name, (kind,), body)


def _widened(F: Any, value: Any) -> Any:
    """Return `value` in float32 if it is in half precision (see NOTE [half precision])."""
    if isinstance(value, tuple):
        return tuple([_widened(F, part) for part in value])
    array = getattr(value, "_payload", value)
    if hasattr(array, "astype") and is_half(array.dtype):
        return F.to_copy(value, dtype=np.dtype(np.float32))
    return value


def _flat(values: Any) -> list[Any]:
    flat: list[Any] = []
    for value in values:
        if value.__class__ is tuple:
            flat += value
        elif value.__class__ is not np.ndarray:
            flat.append(value)
    return flat
