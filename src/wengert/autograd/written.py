"""Layer 7 · autograd: arguments with tangents that the `forward` of a Function writes to."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from wengert.interp.dual import Dual
from wengert.interp.levels import Level
from wengert.tape.base import TensorBase
from wengert.tape.given import note_tangent
from wengert.tape.levels import move
from wengert.tape.views import move_edge, refresh_views


def written(given: Iterable[Any], outputs: Any) -> list[tuple[int, int]]:
    """Return the pairs of output and argument numbers for arguments that `forward` wrote to."""
    made = outputs if isinstance(outputs, tuple) else (outputs,)
    return [
        (i, k)
        for i, out in enumerate(made)
        for k, argument in enumerate(given)
        if out is argument and isinstance(out, TensorBase)
    ]


def with_written(
    args: tuple[Any, ...], written: list[tuple[int, int]], result: Any, slopes: Any, level: Level
) -> Any:
    """Return `result` with the arguments that `forward` wrote to in place of their stand-ins."""
    if not isinstance(result, tuple):
        return with_written(args, written, (result,), slopes, level)[0]
    results = list(result)
    for i, k in written:
        _overwrite(args[k], results[i], slopes[i], level)
        results[i] = args[k]
    return tuple(results)


def shows(tensor: Any, tangent: Any) -> bool:
    """Return whether the tangent of a tensor has the memory of `tangent`."""
    payload = tensor._payload
    return isinstance(payload, Dual) and payload.own and payload.tangent is tangent._payload


def _overwrite(tensor: Any, result: Any, slope: Any, level: Level) -> None:
    """Turn a tensor that `forward` wrote to into the result."""
    if slope is not None and shows(tensor, slope):
        # both values have been written to; now move their history
        if tensor._edge is not result._edge:
            move_edge(tensor, result._edge)
            if tensor._ext is not None:
                refresh_views(tensor, result._edge)
            slope._edge = move("tangent_of", tensor, level)._edge
        note_tangent(tensor, slope)
        return
    if tensor._ext is not None and (tensor._ext.base is not None or tensor._ext.views):
        raise NotImplementedError(
            "a Function that writes to a view, or to a tensor with views, that carries a tangent: "
            "let it write to a clone()"
        )
    tensor._payload = result._payload
    move_edge(tensor, result._edge)
