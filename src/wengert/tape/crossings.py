"""Layer 4 · tape: how payloads cross the border of a level (see `wengert.tape.levels`)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from wengert.interp.batched import Batched
from wengert.interp.dual import Dual
from wengert.interp.levels import Level, Lifted, namespace_of


def _at(payload: Any, level: Level, function: Callable[[Any], Any]) -> Any:
    """Apply `function` to the part of `payload` where values of `level` belong."""
    if not isinstance(payload, Lifted) or payload.owner.number <= level.number:
        return function(payload)
    if isinstance(payload, Batched):
        return Batched(_at(payload.value, level, function), payload.owner)
    return _parts(payload, lambda part: _at(part, level, function))


def _belongs(payload: Any, level: Level) -> bool:
    return isinstance(payload, Lifted) and payload.owner.number == level.number


def _repeated(payload: Any, level: Level) -> Any:
    """Return `payload` repeated along a new first dimension of the size of the batch."""
    F: Any = namespace_of(payload)
    if not isinstance(payload, Lifted):
        payload = np.asarray(payload)
    return F.expand(F.unsqueeze(payload, dim=0), shape=(level.size, *payload.shape))


def is_flat(payload: Any, level: Level) -> bool:
    """Return whether a payload has no tangent at `level`."""
    if not isinstance(payload, Lifted) or payload.owner.number < level.number:
        return True
    if payload.owner.number == level.number:
        return payload.tangent is None  # type: ignore[attr-defined]  # a Dual
    return all(is_flat(part, level) for part in payload.contents())


def _moved(payload: Any, source: int, target: int) -> Any:
    """Return `payload` with the dimension `source` moved to `target`."""
    if source == target:
        return payload
    order = [d for d in range(payload.ndim) if d != source]
    order.insert(target, source)
    F: Any = namespace_of(payload)
    return F.permute(payload, dims=tuple(order))


def _wrap(payload: Any, level: Level, dim: int = 0) -> Any:
    # inside a batch of a higher level, which puts its own dimension first
    if isinstance(payload, Lifted) and payload.owner.number > level.number:
        if isinstance(payload, Batched):
            return Batched(_wrap(payload.value, level, dim + 1), payload.owner)
        return _parts(payload, lambda part: _wrap(part, level, dim))
    payload = payload if isinstance(payload, Lifted) else np.asarray(payload)
    return Batched(_moved(payload, dim, 0), level)


def _unwrap(payload: Any, level: Level, dim: int = 0) -> Any:
    if isinstance(payload, Lifted) and payload.owner.number > level.number:
        if isinstance(payload, Batched):
            return Batched(_unwrap(payload.value, level, dim + 1), payload.owner)
        return _parts(payload, lambda part: _unwrap(part, level, dim))
    whole = payload.value if _belongs(payload, level) else _repeated(payload, level)
    return _moved(whole, 0, dim)


def _parts(payload: Any, function: Callable[[Any], Any]) -> Any:
    assert isinstance(payload, Dual)
    tangent = None if payload.tangent is None else function(payload.tangent)
    return Dual(function(payload.primal), tangent, payload.owner)


def _spread(payload: Any, level: Level) -> Any:
    return _at(
        payload, level, lambda p: p if _belongs(p, level) else Batched(_repeated(p, level), level)
    )


def _gathered(payload: Any, level: Level) -> Any:
    def total(p: Any) -> Any:
        if not _belongs(p, level):
            return p * level.size
        F: Any = namespace_of(p.value)
        return F.sum_dim(p.value, dim=(0,), keepdim=False)

    return _at(payload, level, total)


def _zeros(payload: Any) -> Any:
    F: Any = namespace_of(payload)
    return F.zero_tangent(payload)


def _constant(payload: Any, level: Level) -> Any:
    return _at(payload, level, lambda p: p if _belongs(p, level) else Dual(p, None, level))


def _infinitesimal(payload: Any, level: Level) -> Any:
    return _at(payload, level, lambda p: Dual(_zeros(p), p, level))


def _primal_of(payload: Any, level: Level) -> Any:
    return _at(payload, level, lambda p: p.primal if _belongs(p, level) else p)


def _tangent_of(payload: Any, level: Level) -> Any:
    def tangent(p: Any) -> Any:
        if not _belongs(p, level):
            return _zeros(p)
        return _zeros(p.primal) if p.tangent is None else p.tangent

    return _at(payload, level, tangent)


WAYS: dict[str, tuple[Callable[[Any, Level], Any], str]] = {
    "wrap": (_wrap, "unwrap"),
    "unwrap": (_unwrap, "wrap"),
    "spread": (_spread, "gather"),
    "gather": (_gathered, "spread"),
    "constant": (_constant, "tangent_of"),
    "tangent_of": (_tangent_of, "constant"),
    "infinitesimal": (_infinitesimal, "primal_of"),
    "primal_of": (_primal_of, "infinitesimal"),
}
"""The operations at a border, each with its transpose."""
INTO = frozenset({"wrap", "spread", "constant", "infinitesimal"})
"""The operations that make values of the level."""
