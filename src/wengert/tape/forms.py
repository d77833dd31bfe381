"""Layer 4 · tape: what kind of code a primitive gets, and what its nodes hold."""

from __future__ import annotations

from wengert.prims.record import Primitive
from wengert.prims.table import TABLE


def parts(prim: Primitive) -> bool:
    """Whether `prim` gives any number of views, all with a gradient."""
    return prim.view and prim.outputs is None and prim.differentiable is None


def joins(prim: Primitive) -> bool:
    """Whether `prim` takes any number of tensors, and saves none of them."""
    simple = not saves_tensors(prim) and not prim.masks
    return prim.variadic and prim.outputs == 1 and prim.is_differentiable and simple


def is_common(prim: Primitive) -> bool:
    """Whether the recorder of `prim` is written out: not where it refuses floating dtypes,

    nor where nothing says of which dtype it is.
    """
    plain = prim.outputs is not None and not prim.variadic and len(prim.fixed) < len(prim.args)
    common = plain or parts(prim) or joins(prim)
    return common and "f" not in prim.refuses


def applies_directly(prim: Primitive) -> bool:
    """Whether the rules of `prim` are applied by code that is written out."""
    plain = prim.differentiable is not None and not prim.variadic
    return plain or parts(prim) or joins(prim)


def saves_tensors(prim: Primitive) -> bool:
    """Whether nodes of `prim` save tensors, which may be written to, and so note their site."""
    return bool(prim.saved_args) or "result" in prim.saved


def saved_slots(prim: Primitive) -> list[str]:
    """The slots that a node of `prim` has beside those of all nodes."""
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
    """The numbers and indices that a node of `prim` lets go of with its graph.

    As in PyTorch, where they are tensors, a second walk through ``x * 2`` or ``x[[0, 1]]`` is then
    refused. A node that keeps tensors refuses it because of these.
    """
    if saves_tensors(prim):
        return ()
    freed = prim.params if prim.of_number else ("indices",)
    return tuple(name for name in freed if name in prim.params and name in prim.saved)


def number_form(prim: Primitive, reflected: bool) -> Primitive | None:
    """The form of a binary primitive with a number to the right, or `reflected` to the left."""
    name = prim.rscalar if reflected else prim.scalar
    return None if name is None else TABLE[name]
