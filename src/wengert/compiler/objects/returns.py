"""Layer 8 · compiler: whether what a function reads off a tensor is only handed back.

``return float(loss)`` and ``return loss.numpy()`` take values out of tensors, but nothing is done
with these but to return them. That can be seen in the bytecode: from the call on, the value lies on
the stack until a container or the function's end takes it. Then it is a result like others, and no
decision.
"""

from __future__ import annotations

import sys
from types import CodeType
from typing import Any

from wengert.compiler.objects.bytecode import consumer, instructions_of, place_of
from wengert.tape.sites import OURS

__all__ = ["is_returned"]

_READS = frozenset({"numpy", "item", "__float__", "__array__"})
"""What gives the values themselves; other functions compute with them."""
_BUILD = frozenset({"BUILD_TUPLE", "BUILD_LIST", "BUILD_MAP", "BUILD_CONST_KEY_MAP"})


def is_returned(code: CodeType, until: CodeType | None) -> bool:
    """Whether the call that the function of `code` is in the middle of gives a result of its own.

    Only where the function itself calls, not one that it called; it was called by `until`.
    """
    frame: Any = sys._getframe(1)
    asked = ""
    while frame is not None and OURS[frame.f_code.co_filename]:
        asked, frame = frame.f_code.co_name, frame.f_back
    if (
        asked not in _READS
        or frame is None
        or frame.f_code is not code
        or frame.f_back is None
        or frame.f_back.f_code is not until
    ):
        return False
    return _is_handed_back(instructions_of(code)[0], place_of(frame))


def _is_handed_back(steps: list[Any], k: int) -> bool:
    """Whether what instruction `k` leaves on the stack reaches the end, in containers or alone."""
    taken = consumer(steps, k)
    if taken is None:
        return False
    name = steps[taken].opname
    return name == "RETURN_VALUE" or (name in _BUILD and _is_handed_back(steps, taken))
