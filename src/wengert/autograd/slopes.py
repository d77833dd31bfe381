"""Layer 7 · autograd: the check that tangents from a custom `jvp` share memory as primals do."""

from __future__ import annotations

from typing import Any

from wengert.tape.base import version_of


def check_view(
    out: Any,
    slope: Any,
    primals: list[Any],
    tangents: list[Any],
    versions: list[Any],
    args: tuple[Any, ...],
) -> None:
    """Refuse a tangent that does not share memory as its primal does."""
    for primal, tangent, version in zip(primals, tangents, versions, strict=True):
        if out is primal and (slope is not tangent or version_of(slope) == version):
            raise RuntimeError(
                "An inplace custom Function is not modifying the forward mode gradients inplace. "
                "If the forward is modifying an input inplace, then the jvp function must modify "
                "the corresponding gradient inplace."
            )
    base = None if out._ext is None else out._ext.base
    for primal, tangent, arg in zip(primals, tangents, args, strict=True):
        if base is None or tangent is None or base not in _roots(primal):
            continue
        lies = None if slope._ext is None else slope._ext.base
        if lies is None:
            raise RuntimeError(
                "A custom Function's forward is returning a view (or an input as-is) but the jvp "
                "is not returning a view."
            )
        if lies not in _roots(tangent):
            which = (
                "given" if arg._ext is None or arg._ext.base is None else "same base as the given"
            )
            raise RuntimeError(
                "A custom Function is returning a view but the jvp is not returning a view of the "
                f"{which} grad input."
            )


def _roots(tensor: Any) -> _Same:
    """Return the tensor itself and its base."""
    return _Same((tensor, None if tensor._ext is None else tensor._ext.base))


class _Same(tuple[Any, ...]):
    """A tuple whose `in` compares by identity."""

    __slots__ = ()

    def __contains__(self, value: object) -> bool:
        return any(value is one for one in self)
