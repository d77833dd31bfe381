"""Layer 9 · compat: the payloads of arrays under transforms and traces.

The value of a trace (`wengert.compiler.tracing.sym`) counts as an array here: it has an array's
interface, and records its use. Values of `vmap` and of forward mode wrap another payload.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from wengert.interp.levels import Lifted


def layers(payload) -> Iterator[Any]:
    """Yield a transform's value and what it wraps, down to the array or the value of a trace."""
    while is_lifted(payload):
        yield payload
        payload = next(iter(payload.contents()))
    yield payload


def is_lifted(payload) -> bool:
    """Return whether a payload is a value of a transform; a traced value counts as an array."""
    return isinstance(payload, Lifted) and not payload.traced


def innermost(x) -> Any:
    """Return the values of `x` (of the whole batch under `vmap`), or the traced value."""
    *_, payload = layers(x._payload)
    return payload


def differs(payload) -> bool:
    """Return whether a value of a transform stands for a whole batch."""
    return is_lifted(payload) and any(
        is_lifted(part) and part.owner.size is not None for part in layers(payload)
    )
