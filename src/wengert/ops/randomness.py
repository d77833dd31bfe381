"""Layer 5 · ops: random numbers under `vmap`.

The argument ``randomness`` decides whether drawing random numbers in a function under `vmap` is an
error, gives the same numbers to all elements of the batch, or draws for each of them.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable
from typing import Any

import numpy as np

from wengert.base.ports import PORTS
from wengert.tape.modes import NO_GRAD, current_mode, traced


def check_randomness() -> None:
    """Refuse to draw under a `vmap` whose ``randomness`` does not allow it."""
    mode = current_mode()
    if mode is None or not mode.levels:
        return
    kinds = {level.randomness for level in mode.levels if level.size is not None}
    if "never" in kinds:
        raise RuntimeError(
            "vmap: We do not yet support calling random operations inside of vmap. Please perform "
            "random operations outside of vmap as a workaround: this pass computes for a batch of "
            "vectors at once"
        )
    if "error" in kinds:
        raise RuntimeError(
            "vmap: called random operation while in randomness error mode. Please either use the "
            "'same' or 'different' randomness flags on vmap or perform the randomness operation "
            "out of vmap"
        )


def drawn(draw: Callable[[], Any]) -> Any:
    """The array that `draw` gives, or a batch of as many as `vmap` asks for."""
    mode = current_mode()
    if mode is None or mode is NO_GRAD:
        return draw()
    check_randomness()
    levels = [level for level in mode.levels if level.size is not None]
    levels = [level for level in levels if level.randomness == "different"]
    if levels:
        draw = functools.partial(_rows, draw, tuple(level.size or 0 for level in levels))
    value: Any = traced("drawn", draw)
    if value is draw:
        value = draw()
    for level in levels:
        value = PORTS.batched(value, level)
    return value


def _rows(draw: Callable[[], Any], sizes: tuple[int, ...]) -> Any:
    """Return draws stacked along leading dimensions of `sizes`."""
    count = math.prod(sizes)
    rows = [np.asarray(draw()) for _ in range(max(count, 1))]
    return np.stack(rows)[:count].reshape(*sizes, *rows[0].shape)
