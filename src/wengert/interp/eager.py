"""Layer 3 · interp: K, the namespace of raw arrays: the kernels, with threads for large arrays."""

from __future__ import annotations

from typing import Any

import numpy as np

from wengert.base.ports import PORTS
from wengert.kernels.chunks import least_of, split
from wengert.kernels.layout import LAYOUTS
from wengert.prims.facet import Facet
from wengert.prims.namespace import Namespace
from wengert.prims.record import Primitive

POINTWISE: Facet[bool] = Facet("pointwise", lambda prim: prim.family == "elementwise")
"""Whether the kernel computes each element only from the arguments' elements at its position."""
FUSED: Facet[str] = Facet("fused", lambda prim: "")
"""How native code computes large arrays where it is much faster than the kernel: ``"elements"`` (in
chunks), ``"whole"``, ``"rows"`` (whole, unless short rows are reduced), or ``"kernel"`` (whole, but
without the derivative's rules, which are fused kernels themselves) (NOTE [fused kernels] in
`wengert.compiler.runtime.fused`).
"""
LARGE = 8192
"""The number of elements from which native code is considered."""


def has_fused_rules(prim: Primitive) -> bool:
    """Return whether native code may compute the derivatives of `prim`."""
    return FUSED[prim] in ("elements", "whole", "rows")


def _kernel(prim: Primitive) -> Any:
    """Return the kernel of `prim` for K.

    Element-wise kernels that are compute-bound (unlike operators) run in several threads for large
    arrays. Results get the memory layout that the record defines.
    """
    shared = POINTWISE[prim] and prim.infix is None
    if not shared and prim.layout is None and not FUSED[prim]:
        return prim.kernel
    arrays = [f"*{prim.args[0]}"] if prim.variadic else list(prim.args)
    args, params = ", ".join(arrays), "".join(f", {name}={name}" for name in prim.params)
    called = f"_kernel({args}{params})"
    # written out, since starred arguments would slow small arrays down
    named = "{" + ", ".join(f"{name!r}: {name}" for name in prim.params) + "}"
    if shared:
        called = (
            f"(_split(_kernel, ({args},), {named}) "
            f"if {prim.args[0]}.__class__ is _array and {prim.args[0]}.size >= _least "
            f"else {called})"
        )
    if prim.layout is not None and prim.outputs == 1:
        called = f"_r if (_r := {called}).ndim < 2{_lies(prim)} else _settle(_r, ({args},))"
    elif prim.layout is not None:
        called = f"tuple([_settle(_r, ({args},)) if _r.ndim > 1 else _r for _r in {called}])"
    if FUSED[prim]:
        called = (
            f"_r if {prim.args[0]}.__class__ is _array and {prim.args[0]}.size >= _large "
            f"and (_r := _ports.fused(_prim, {FUSED[prim]!r}, ({args},), {named})) is not None "
            f"else {called}"
        )
    keywords = [*([] if prim.variadic else ["*"]), *prim.params] if prim.params else []
    scope = {
        "__name__": __name__,
        "_array": np.ndarray,
        "_kernel": prim.kernel,
        "_large": LARGE,
        "_least": least_of(prim.kernel),
        "_ports": PORTS,
        "_prim": prim,
        "_settle": LAYOUTS.get(prim.layout or ""),
        "_split": split,
    }
    return eval(f"lambda {', '.join([*arrays, *keywords])}: {called}", scope)


def _lies(prim: Primitive) -> str:
    """Return the rest of a condition under which a result ``_r`` already has its layout."""
    if prim.layout == "columns":
        return ""
    arrays = [] if prim.layout == "contiguous" or prim.variadic else list(prim.args)
    if prim.layout == "same":
        arrays = arrays[:1]
    # rules pass numbers, too
    plain = [f"({a}.__class__ is not _array or {a}.flags.c_contiguous)" for a in arrays]
    return f" or {' and '.join(['_r.flags.c_contiguous', *plain])}"


K: Any = Namespace(_kernel)
"""Every primitive's kernel by name."""
