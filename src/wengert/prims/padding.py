"""Layer 2 · prims: padding of tensors."""

from __future__ import annotations

from typing import Any

from wengert.kernels import padding as kernels
from wengert.prims.families import linear
from wengert.prims.record import case


def _from_the_last(pads: Any) -> tuple[int, ...]:
    """Return the padding of each dimension, from the last to the first that has any."""
    flat = [number for pair in reversed(pads) for number in pair]
    while len(flat) > 2 and flat[-2:] == [0, 0]:
        del flat[-2:]
    return tuple(flat)


linear(
    "constant_pad_nd",
    kernels.constant_pad,
    vjp=lambda F, g, pads: F.constant_pad_nd(
        g, pads=tuple([(-before, -after) for before, after in pads]), value=0
    ),
    cases=(
        case((3,), pads=((1, 2),), value=0),
        case((2, 3), pads=((0, 0), (1, 0)), value=0),
        case((4, 3), pads=((-1, 2), (1, -2)), value=0),
        case((0, 2), pads=((1, 1), (0, 0)), value=0),
    ),
    layout="suggested",
    shows={
        "pads": None,
        "pad": lambda pads: _from_the_last(pads),
    },
    doc="self with a number before and after it in each dimension",
)
for _mode, _name in (
    ("reflect", "reflection_pad"),
    ("replicate", "replication_pad"),
    ("circular", "circular_pad"),
):
    linear(
        _name,
        kernels.framed,
        vjp=lambda F, g, pads, mode: F.unframed(g, pads=pads, mode=mode),
        layout=None if _mode == "circular" else "suggested",
        cases=(
            case((2, 4), pads=((0, 0), (2, 1)), mode=_mode),
            case((2, 3, 4), pads=((0, 0), (1, 2), (3, 0)), mode=_mode),
        ),
        autocast="" if _mode == "circular" else "float32",
        flat=_mode != "circular",
        doc="self continued by its own elements",
    )
linear(
    "unframed",
    kernels.unframed,
    vjp=lambda F, g, pads, mode: F.reflection_pad(g, pads=pads, mode=mode),
    cases=(
        case((2, 7), pads=((0, 0), (2, 1)), mode="reflect"),
        case((5, 4), pads=((1, 2), (0, 0)), mode="replicate"),
        case((2, 5), pads=((0, 0), (1, 1)), mode="circular"),
    ),
    doc="self without its frame, which is added to where its elements came from",
)
