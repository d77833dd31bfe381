"""Layer 4 · tape: tangents from reverse rules (see NOTE [tangents] in `wengert.interp.dual`)."""

from __future__ import annotations

from typing import Any

from wengert.base.ports import provides
from wengert.interp.levels import levels_of, namespace_of
from wengert.prims.record import Primitive
from wengert.tape.backward import run_grad
from wengert.tape.base import LEAF, UNCHANGED, new_tensor
from wengert.tape.levels import brought
from wengert.tape.modes import MODE, changed, current_mode
from wengert.tape.record import make_node


@provides("transposed")
def transposed_twice(
    prim: Primitive, primals: list[Any], tangents: list[Any], result: Any, params: dict[str, Any]
) -> Any:
    """Return the output tangents of `prim`, by transposing its reverse rule."""
    several = isinstance(result, tuple)
    outs = list(result) if several else [result]
    mode = current_mode()
    levels = levels_of(*primals, *tangents, *outs)
    under_way = {level.number: level for level in (() if mode is None else mode.levels)}
    order = sorted({**under_way, **levels}.items())
    MODE.set(changed(None, levels=tuple(level for _, level in order)))
    try:
        tensors = [
            new_tensor(p, None if t is None else LEAF)
            for p, t in zip(primals, tangents, strict=True)
        ]
        node = make_node(prim, tensors, primals, params, outs[0])
        count = len(outs) if prim.differentiable is None else prim.differentiable
        if all(edge is None for edge in node.edges):
            # no argument with a tangent is differentiable
            return (None,) * count if several else None
        F: Any = namespace_of(*outs)
        have = [level for _, level in sorted(levels_of(*primals, *outs).items())]
        zeros = [brought(new_tensor(F.zeros_like(out)), have) for out in outs[:count]]
        cotangents = [new_tensor(zero._payload, LEAF) for zero in zeros]
        if prim.differentiable != 1:
            node.outputs_meta = tuple((out.shape, out.dtype) for out in outs[:count])
        if "result" in prim.saved:
            node.result, node.result_vc, node.result_at = outs[0], UNCHANGED, 0
        g: Any = tuple(cotangents) if prim.differentiable != 1 else cotangents[0]
        grads = node.step(g, True, node.edges, False)
        pairs = [
            (grad, new_tensor(t))
            for grad, t in zip(grads, tangents, strict=True)
            if grad is not None and t is not None and grad._edge is not None
        ]
        if not pairs:
            return (None,) * count if several else None
        outputs, seeds = zip(*pairs, strict=True)
        found = run_grad(outputs, cotangents, seeds, False, False)
    finally:
        MODE.set(mode)
    made = [None if tensor is None else tensor._payload for tensor in found]
    return tuple(made) if several else made[0]
