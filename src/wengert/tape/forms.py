"""Layer 4 · tape: the kinds of generated code of primitives, and the slots of their nodes."""

from __future__ import annotations

from wengert.prims.record import Primitive
from wengert.prims.table import TABLE


def parts(prim: Primitive) -> bool:
    """Return whether `prim` returns any number of views, all with a gradient."""
    return prim.view and prim.outputs is None and prim.differentiable is None


def joins(prim: Primitive) -> bool:
    """Return whether `prim` takes any number of tensors, and saves none of them."""
    simple = not saves_tensors(prim) and not prim.masks
    return prim.variadic and prim.outputs == 1 and prim.is_differentiable and simple


def is_common(prim: Primitive) -> bool:
    """Return whether `prim` has a generated recorder.

    It has none if no argument determines its dtype.
    """
    plain = prim.outputs is not None and not prim.variadic and len(prim.fixed) < len(prim.args)
    return plain or parts(prim) or joins(prim)


def applies_directly(prim: Primitive) -> bool:
    """Return whether generated code applies the rules of `prim`."""
    plain = prim.differentiable is not None and not prim.variadic
    return plain or parts(prim) or joins(prim)


def saves_tensors(prim: Primitive) -> bool:
    """Return whether nodes of `prim` save tensors; these note their site, for write errors."""
    return bool(prim.saved_args) or "result" in prim.saved


def saved_slots(prim: Primitive) -> list[str]:
    """Return the slots that a node of `prim` has beyond those of every node."""
    slots: list[str] = []
    for name in prim.saved:
        if name in prim.args:
            slots.append(f"s_{name}")
        elif name == "result":
            slots += ["result", "result_vc", "result_at"]
        elif name in prim.params:
            slots.append(f"p_{name}")
        else:
            slots.append(name)
    if prim.broadcasts:
        slots.append("shapes")
    if prim.differentiable != 1:
        slots.append("outputs_meta")
    return slots


def freed_numbers(prim: Primitive) -> tuple[str, ...]:
    """Return the names of the numbers and indices that a node of `prim` frees with its graph.

    In PyTorch these are tensors, so a second walk through ``x * 2`` or ``x[[0, 1]]`` raises, and so
    it does here. A node that saves tensors raises because of those.
    """
    if saves_tensors(prim):
        return ()
    freed = prim.params if prim.of_number else ("indices",)
    return tuple(name for name in freed if name in prim.params and name in prim.saved)


def number_form(prim: Primitive, reflected: bool) -> Primitive | None:
    """Return a binary primitive's form for a number on the right, or `reflected` on the left."""
    name = prim.rscalar if reflected else prim.scalar
    return None if name is None else TABLE[name]
