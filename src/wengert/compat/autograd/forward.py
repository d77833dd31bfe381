"""Layer 9 · compat: forward mode and one-pass Jacobians, which need wengert's transforms."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from wengert.base.containers import flatten
from wengert.compat.autograd.boxes import boxed, cannot, isbox, leaf_of, released
from wengert.compat.autograd.tracing import Pullback, call, warn_independent
from wengert.compat.autograd.words import refusal
from wengert.func.batch import vmap
from wengert.func.forward import cast_tangent, joined
from wengert.func.inputs import Entered
from wengert.func.jacobians import units_of
from wengert.ops.expand import expand
from wengert.ops.shape import reshape
from wengert.tape.base import TensorBase, new_tensor
from wengert.tape.levels import move
from wengert.tape.record import T

_ELEMENTS = 2**24
"""The number of elements of the Jacobian to compute at once."""


def rows(vjp: Pullback) -> Any:
    """Return the Jacobian of one array with respect to another, row by row."""
    out = vjp.answer()._payload
    if vjp.answer()._edge is None:
        return new_tensor(np.zeros((*out.shape, *vjp.shape())))
    if out.size == 1:
        made = vjp.row(new_tensor(np.ones(out.shape, out.dtype)))
        return reshape(made, (*out.shape, *made._payload.shape))
    if not out.size:
        return new_tensor(np.zeros((*out.shape, *vjp.shape()), out.dtype))
    (units,) = units_of([vjp.answer()])
    # limit the rows per batch to bound memory use
    rows_at_once = max(16, _ELEMENTS // max(out.size, math.prod(vjp.shape())))
    made = vmap(vjp.row, chunk_size=rows_at_once)(units)
    return reshape(made, (*out.shape, *made._payload.shape[1:]))


def pushforward(fun: Callable[..., Any], x) -> Callable[[Any], tuple[Any, Any]]:
    """See `wengert.compat.autograd.tracing.make_jvp`."""

    def jvp(g) -> tuple[Any, Any]:
        points, rebuild = flatten(x)
        given, _ = flatten(g)
        if len(given) != len(points):
            raise refusal(ValueError, "expected a tangent", len(points), len(given))
        primals = [_constant(point) for point in points]
        tangents = [_tangent(t, p) for t, p in zip(given, primals, strict=True)]
        with Entered() as level:
            pairs = [boxed(joined(p, t, level)) for p, t in zip(primals, tangents, strict=True)]
            output = call(fun, rebuild(pairs), pairs)
            outputs, again = flatten(output)
            outputs = [out if isbox(out) else _constant_output(out) for out in outputs]
            if not any(_depends(out, level) for out in outputs):
                warn_independent()
            made = [move("primal_of", out, level) for out in outputs]
            slopes = [move("tangent_of", out, level) for out in outputs]
        return again([released(m) for m in made]), again([released(s) for s in slopes])

    return jvp


def _constant(point) -> Any:
    """Return a point as a tensor that is not a leaf."""
    if isinstance(point, TensorBase):
        if point._payload.dtype.kind not in "fc":
            raise cannot(point, f" of dtype {point._payload.dtype}")
        return point
    box = leaf_of(point)
    return new_tensor(box._payload)


def _constant_output(out) -> Any:
    value = np.asarray(out)
    if value.dtype.kind not in "fc":
        value = value.astype(np.float64)
    return new_tensor(value)


def _tangent(tangent, primal) -> Any:
    made = tangent if isinstance(tangent, TensorBase) else new_tensor(np.asarray(tangent))
    if made._payload.dtype.kind == "c" and primal._payload.dtype.kind != "c":
        made = T.real(made)
    made = cast_tangent(made, primal)
    if made._payload.shape != primal._payload.shape:
        made = expand(made, tuple(primal._payload.shape))
    return made


def _depends(out, level) -> bool:
    payload = out._payload
    return getattr(payload, "owner", None) is level and payload.tangent is not None
