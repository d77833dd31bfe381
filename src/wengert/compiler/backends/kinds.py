"""Layer 8 · compiler: which steps have a native form, and of what kind."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from wengert.compiler.backends import join_maps as join_maps
from wengert.compiler.backends import view_maps as view_maps
from wengert.compiler.backends.gather_maps import SCATTERS
from wengert.compiler.backends.index_maps import INDEX_MAPS
from wengert.compiler.codegen.code import is_native
from wengert.compiler.codegen.native import convolution as convolution
from wengert.compiler.codegen.native import factors as factors
from wengert.compiler.codegen.native import pooling as pooling
from wengert.compiler.codegen.native import products as products
from wengert.compiler.codegen.native import scans as scans
from wengert.compiler.codegen.native.forms import NATIVE
from wengert.compiler.codegen.scalars.table import supports
from wengert.compiler.ir.facets import COMBINES, REARRANGES
from wengert.compiler.ir.programs import Affine, Loop, Number, Step, Value, parts, uses
from wengert.prims import records

SEARCHES = {records.argmax: "max", records.argmin: "min"}
"""argmax and argmin, with the reduction that finds the extreme."""


class Reduction(NamedTuple):
    """The reduction of a step.

    Attributes
    ----------
    kind: The instruction: ``"add"``, ``"mul"``, ``"max"``, ``"min"``, ``"or"`` or ``"and"``.
    dims: The dimensions of the argument that it reduces.
    keepdim: Whether these stay, with size 1.
    truth: Whether it combines the truth values of elements.
    """

    kind: str
    dims: tuple[int, ...]
    keepdim: bool
    truth: bool = False


def reduction_of(step: Step) -> Reduction | None:
    """Return the reduction that a step computes, or None if loops cannot compute it."""
    kind = COMBINES[step.prim]
    if not kind or "shape" in step.params:
        return None
    dims = step.params.get("dim", tuple(range(len(step.args[0].shape))))
    truth = kind in ("or", "and", "count")
    kind = "add" if kind == "count" else kind
    found = Reduction(kind, dims, step.params.get("keepdim", False), truth)
    source, out = step.args[0].dtype, step.outs[0].dtype
    if not (is_native(source) and is_native(out)):
        return None
    if found.kind in ("max", "min") and (source.kind == "b" or not step.args[0].size):
        return None
    return found


def with_values(step: Step) -> Step:
    """Return the step with the index arrays among its parameters as values."""
    indices = step.params.get("indices")
    if not isinstance(indices, tuple) or not any(isinstance(i, np.ndarray) for i in indices):
        return step
    values = tuple(
        [
            Value(index.dtype, index.shape, np.ascontiguousarray(index).reshape(index.shape))
            if isinstance(index, np.ndarray)
            else index
            for index in indices
        ]
    )
    return Step(step.prim, step.args, {**step.params, "indices": values}, step.outs, step.site)


def kind_of(step: Step) -> str:
    """Return how to lower a step: ``"map"``, ``"scalar"``, ``"reduce"``, ``"search"``,
    ``"scatter"``, ``"call"``; ``"foreign"`` if it has no native form."""
    try:
        return step.kind
    except AttributeError:
        # cached, since it is asked for many times
        step.kind = _kind_of(step)
        return step.kind


def _kind_of(step: Step) -> str:
    prim = step.prim
    index_map = INDEX_MAPS[prim]
    counted = {
        name
        for name, param in step.params.items()
        if any(isinstance(part, Affine) for part in parts(param))
    }
    if counted and (index_map is None or not counted.issubset(index_map.counted)):
        return "foreign"
    if not all(is_native(value.dtype) for value in (*uses(step), *step.outs)):
        return "foreign"
    # only scalar code supports parameters that are read from tensors
    fixed = not any(isinstance(part, Number) for p in step.params.values() for part in parts(p))
    if fixed and index_map is not None and (index_map.accepts(step) or REARRANGES[prim]):
        return "map"
    if len(step.outs) == 1 and supports(
        prim, [arg.dtype for arg in step.args], step.outs[0].dtype, step.params
    ):
        return "scalar"
    if not fixed:
        return "foreign"
    if reduction_of(step) is not None:
        return "reduce"
    scatter = SCATTERS[prim]
    if scatter is not None:
        return "scatter" if scatter.takes(step) else "foreign"
    if prim in SEARCHES:
        return "search" if step.args[0].size and step.args[0].dtype.kind != "b" else "foreign"
    native = NATIVE[prim]
    if native is None:
        return "foreign"
    return "call" if native.accepts(step) else "foreign"


def is_native_step(step: Step | Loop) -> bool:
    """Return whether a step, or all of a loop, has a native form."""
    if isinstance(step, Loop):
        given = (*uses(step), *step.outs)
        native = all(is_native(value.dtype) for value in given)
        return native and all(map(is_native_step, step.body.steps))
    return kind_of(with_values(step)) != "foreign"
