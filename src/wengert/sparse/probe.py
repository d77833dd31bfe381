"""Layer 8 · sparse: the structure of data-moving operations, found by applying their rules.

Indexing, slices, views, concatenation, gathering and scattering are linear, with ones and zeros for
coefficients that do not depend on values. Applying the rule to element numbers shows where each
element goes; applying it to other values shows whether it only moves them or computes with them.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from wengert.sparse.links import Link, collected, dense, moved
from wengert.tape.backward import run_grad
from wengert.tape.base import LEAF, new_tensor
from wengert.tape.modes import MODE, NO_GRAD

Shape = tuple[int, ...]
_MOST = 2**24
"""Integers up to here are exact in float32."""


def applied(node: Any, cotangents: list[Any]) -> tuple[Any, ...]:
    """Return the raw gradients of a node's arguments, from raw cotangents of all its outputs."""
    before = MODE.get()
    MODE.set(NO_GRAD)
    try:
        with np.errstate(all="ignore"):
            grads: tuple[Any, ...] = node.apply(_given(node, cotangents), True, node.edges)
    except (TypeError, ValueError):
        if any(np.iscomplexobj(cotangent) for cotangent in cotangents):
            raise
        # it is not known which part of a complex gradient a real result needs
        return applied(node, [None if g is None else g.astype(complex) for g in cotangents])
    finally:
        MODE.set(before)
    return grads


def shape_of(node: Any, i: int, shapes: list[Shape]) -> Shape | None:
    """Return the shape of argument `i` of a node, if it is stored; else from the node's rules."""
    name = node.prim.args[i]
    known = getattr(node, f"{name}_shape", None)
    if known is not None:
        return tuple(known)
    saved = getattr(node, f"s_{name}", None)
    if saved is not None and saved._payload is not None:
        return tuple(saved._payload.shape)
    grad = applied(node, [np.zeros(shape) for shape in shapes])[i]
    return None if grad is None else np.shape(grad)


def _given(node: Any, cotangents: list[Any]) -> Any:
    return list(cotangents) if node.several else cotangents[0]


def probed(node: Any, shapes: list[Shape]) -> list[tuple[Shape, list[Link | None]] | None]:
    """Return, for each argument of a linear operation, its shape and the links of the outputs.

    Parameters
    ----------
    shapes: The shapes of the node's outputs.
    """
    found: list[tuple[Shape, list[Link | None]] | None] = [None] * len(node.edges)
    for k in range(len(shapes)):
        numbers, values = _numbers(shapes[k]), _values(shapes[k])
        at = applied(node, [_or_zeros(numbers, i == k, s) for i, s in enumerate(shapes)])
        seen = applied(node, [_or_zeros(values, i == k, s) for i, s in enumerate(shapes)])
        for i, (where, what) in enumerate(zip(at, seen, strict=True)):
            if where is None or node.edges[i] is None:
                continue
            shape = np.shape(where)
            if found[i] is None:
                found[i] = (shape, [None] * len(shapes))
            target = _copied(where, what, values)
            if target is not None:
                link = collected(target, math.prod(shapes[k]))
            else:
                link = _forward(node, i, k, shape, shapes)
            found[i][1][k] = link  # type: ignore[index]
    return found


def _or_zeros(array: Any, chosen: bool, shape: Shape) -> Any:
    return array if chosen else np.zeros(shape)


def _numbers(shape: Shape) -> Any:
    return np.arange(1.0, 1 + math.prod(shape)).reshape(shape)


def _values(shape: Shape) -> Any:
    """Return values that are exact in float32, and unlikely to be sums or means of others."""
    rng = np.random.default_rng(0)
    return (rng.random(math.prod(shape), np.float32) + 1).astype(np.float64).reshape(shape)


def _copied(where: Any, what: Any, values: Any) -> Any:
    """Return which value each element copies, or -1; None if some are not copies."""
    if np.iscomplexobj(where) or not np.isfinite(where).all():
        return None
    where = np.asarray(where, np.float64).reshape(-1)
    what = np.asarray(what, np.float64).reshape(-1)
    values = values.reshape(-1)
    zero = where == 0
    numbers = where.astype(np.int64) - 1
    if values.size >= _MOST or np.any((numbers < -1) | (numbers >= values.size)):
        return None
    copies = values[numbers] if values.size else np.zeros_like(what)
    if not np.array_equal(np.where(zero, 0, copies), what):
        return None
    return np.where(zero, -1, numbers)


def _forward(node: Any, i: int, k: int, shape: Shape, shapes: list[Shape]) -> Link | None:
    """Return the link of output `k` to argument `i`, if its elements may be copied several times.

    The operation itself is the transpose of its rule, so the rule is differentiated.
    """
    dtype = getattr(node, f"{_argument(node, i)}_dtype", np.float64)
    before = MODE.get()
    MODE.set(None)
    try:
        u = [new_tensor(np.zeros(s, dtype), LEAF) for s in shapes]
        with np.errstate(all="ignore"):
            grad = node.apply_in(_given(node, u), True, node.edges)[i]
            if grad is None or grad._edge is None:
                return None
            numbers, values = _numbers(shape), _values(shape)
            where, what = (
                run_grad([grad], [u[k]], [new_tensor(seed)], True, False)[0]
                for seed in (numbers, values)
            )
    except RuntimeError:
        return dense(shape, shapes[k])
    finally:
        MODE.set(before)
    if where is None:
        return None
    source = _copied(where._payload, what._payload, values)
    return dense(shape, shapes[k]) if source is None else moved(source)


def _argument(node: Any, i: int) -> str:
    prim = getattr(node, "prim", None)
    if prim is None:
        return ""
    return str(prim.args[0] if prim.variadic else prim.args[i])
