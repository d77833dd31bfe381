"""Layer 5 · ops: checks of values, and draws that depend on them, for whole batches.

Under `vmap` a check must hold for the whole batch, and samples whose parameters differ between
elements are drawn for the whole batch at once.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from wengert.base.ports import PORTS
from wengert.interp.batched import Batched
from wengert.interp.levels import Lifted, is_elsewhere
from wengert.ops.randomness import check_randomness
from wengert.tape.base import new_tensor
from wengert.tape.modes import NO_GRAD, current_mode
from wengert.tape.record import T


def holds(condition: Any) -> bool:
    """Return whether a tensor of bools is true everywhere, under `vmap` in the whole batch."""
    payload = condition._payload
    while isinstance(payload, Batched):
        payload = payload.value
    if payload.__class__ is np.ndarray:
        return bool(np.logical_and.reduce(payload, axis=None))
    return bool(T.all(new_tensor(payload), dim=tuple(range(payload.ndim)), keepdim=False))


def _on_device(payload: Any) -> bool:
    """Return whether a payload is an array of a device, not a transform's value of such arrays."""
    return is_elsewhere(payload) and hasattr(payload, "fetched")


def drawn_of(draw: Callable[..., Any], *payloads: Any) -> Any:
    """The array that `draw` makes of arrays, the values of `payloads`, which have one shape.

    Under `vmap` the arrays are whole batches, with their dimensions in front, and so is the result.
    """
    place = next((one.device for one in payloads if _on_device(one)), None)
    if place is not None:  # random numbers are drawn on the CPU
        here = [one.fetched() if _on_device(one) else one for one in payloads]
        return PORTS.sent(drawn_of(draw, *here), place)
    mode = current_mode()
    if mode is None or mode is NO_GRAD:
        return draw(*map(np.asarray, payloads))
    check_randomness()
    levels = [level for level in mode.levels if level.size is not None]
    found = [_opened(payload, levels) for payload in payloads]
    sizes = tuple(level.size or 0 for level in levels if level.randomness == "different")
    value = draw(*[np.broadcast_to(one, (*sizes, *one.shape[len(sizes) :])) for one in found])
    for level in levels:
        if level.randomness == "different":
            value = Batched(value, level)
    return value


def _opened(payload: Any, levels: list[Any]) -> Any:
    """Return the values of a payload, with a dimension for each level that draws per element."""
    missing: list[int] = []
    place = sum(level.randomness == "different" for level in levels)
    payload = payload.constant() if isinstance(payload, Lifted) else payload
    for level in reversed(levels):
        inside = isinstance(payload, Batched) and payload.owner.number == level.number
        if level.randomness == "different":
            place -= 1
            if not inside:
                missing.append(place)
        elif inside:
            raise RuntimeError(
                "Vmap does not currently support same randomness with a batched tensor input: all "
                "elements draw the same, whatever the parameters. Use the 'different' randomness "
                "flag."
            )
        if inside:
            payload = payload.value
    return np.expand_dims(np.asarray(payload), missing)
