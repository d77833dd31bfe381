"""Layer 5 · ops: the names of operations, as programs for PyTorch write them: ``aten.mm.default``.

There are no overloads here, and no dispatcher: what contexts and policies are told of an operation
is its name, a string such as "mm". These objects are such strings.
"""

from __future__ import annotations

from wengert.ops.exports import EXPORTS
from wengert.prims.table import TABLE


class OpOverload(str):
    """The name of an operation: ``wg.ops.aten.mm.default == "mm"``."""

    __slots__ = ()


class OpOverloadPacket:
    """All overloads of an operation, such as ``wg.ops.aten.mm``; each is the same here."""

    __slots__ = ("_name",)

    def __init__(self, name: str) -> None:
        self._name = name

    def __getattr__(self, overload: str) -> OpOverload:
        if overload.startswith("_"):
            raise AttributeError(f"{self!r} has no attribute {overload!r}")
        return OpOverload(self._name)

    def __repr__(self) -> str:
        return f"aten.{self._name}"


def __getattr__(name: str) -> OpOverloadPacket:
    if name not in TABLE and name not in EXPORTS["wengert"]:
        raise AttributeError(f"there is no operation {name!r}")
    return OpOverloadPacket(name)
