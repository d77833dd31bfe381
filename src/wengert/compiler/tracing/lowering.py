"""Layer 8 · compiler: lower tensors of transforms to their arrays, and raise them again.

See NOTE [calls under transforms] in `wengert.compiler.runtime.transformed`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import numpy as np

from wengert.compiler.tracing.payloads import Form, is_of_transform, mapped
from wengert.interp.batched import Batched
from wengert.interp.dual import Dual
from wengert.interp.levels import Level, levels_of
from wengert.tape.base import new_tensor
from wengert.tape.crossings import is_flat
from wengert.tape.levels import brought, move
from wengert.tape.modes import is_recording
from wengert.tape.record import T


def lowered(tensor: Any, levels: Sequence[Level], parts: list[Any]) -> Form | None:
    """Append to `parts` tensors of the arrays that `tensor` consists of; return its form.

    If it has a history, zeros stand for missing tangents (NOTE [cotangents of duals]).
    """
    payload = tensor._payload
    if not is_of_transform(payload):
        parts.append(tensor)
        return None
    level = payload.owner
    place = levels.index(level)
    if isinstance(payload, Batched):
        return Form(place, (lowered(move("unwrap", tensor, level, True), levels, parts),), True)
    primal = lowered(move("primal_of", tensor, level, "joined"), levels, parts)
    flat = payload.tangent is None
    if flat and tensor._edge is None:
        return Form(place, (primal,), False)
    slope = move("tangent_of", tensor, level, "joined")
    return Form(place, (primal, lowered(slope, levels, parts)), False, flat)


def raised(form: Form | None, parts: Iterator[Any], levels: Sequence[Level]) -> Any:
    """Return a tensor of the given form, built from `parts`."""
    if form is None:
        return next(parts)
    level = levels[form.level]
    first = raised(form.parts[0], parts, levels)
    if form.batch:
        return move("wrap", first, level, True)
    if len(form.parts) == 1:
        return move("constant", first, level, "joined")
    tangent = raised(form.parts[1], parts, levels)
    if is_recording() and (first._edge is not None or tangent._edge is not None):
        slope = move("infinitesimal", tangent, level, "joined")
        made = T.add(move("constant", first, level, "joined"), slope)
        # the tape may have saved either part
        made._vc = tangent._vc if first._vc is None else first._vc
    else:
        value, slope = first._payload, tangent._payload
        own = value.__class__ is slope.__class__ is np.ndarray and value.strides == slope.strides
        made = new_tensor(Dual(value, slope, level, own), None, first._share_version())
    if form.flat:
        made._payload = Dual(made._payload.primal, None, level)
    return made


def _cotangents(
    cotangent: Any, form: Form | None, levels: Sequence[Level], have: list[Level], parts: list[Any]
) -> None:
    """Append to `parts` the cotangents of the `lowered` parts of a tensor of the levels `have`.

    Those of values are None where the cotangent has no tangent and no history: no gradient flows
    there.
    """
    cotangent = None if cotangent is None else brought(cotangent, have, True)
    if form is None:
        parts.append(cotangent)
        return
    level = levels[form.level]
    below = [one for one in have if one is not level]
    # see NOTE [cotangents of duals]
    ways = ("unwrap",) if form.batch else ("tangent_of", "primal_of")
    for part, way in zip(form.parts, ways, strict=False):
        inner = cotangent
        if way == "tangent_of" and cotangent is not None and cotangent._edge is None:
            inner = None if is_flat(cotangent._payload, level) else cotangent
        inner = None if inner is None else move(way, inner, level, "joined")
        _cotangents(inner, part, levels, below, parts)


def split(cotangent: Any, tensor: Any, levels: Sequence[Level]) -> list[Any]:
    """Split the cotangent of a tensor into the cotangents of its arrays, which may be None."""
    parts: list[Any] = []
    found = levels_of(tensor._payload)
    form = lowered(tensor, levels, [])
    _cotangents(cotangent, form, levels, [found[number] for number in sorted(found)], parts)
    return parts


def whole(tensor: Any) -> Any:
    """Return the payload of a tensor, with zeros for missing tangents if it has a history."""
    payload = tensor._payload
    return payload if tensor._edge is None else _with_tangents(payload)


def filled(payload: Any, arrays: Iterable[Any]) -> Any:
    """Return a payload of the same structure, built from `arrays`."""
    following = iter(arrays)
    return mapped(payload, lambda _: next(following))


def _with_tangents(payload: Any) -> Any:
    if isinstance(payload, Batched):
        value = _with_tangents(payload.value)
        return payload if value is payload.value else Batched(value, payload.owner)
    if isinstance(payload, Dual):
        primal, tangent = _with_tangents(payload.primal), payload.tangent
        tangent = mapped(primal, np.zeros_like) if tangent is None else _with_tangents(tangent)
        if primal is not payload.primal or tangent is not payload.tangent:
            return Dual(primal, tangent, payload.owner)
    return payload
