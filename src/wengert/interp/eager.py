"""Layer 3 · interp: K, the namespace of raw arrays: the kernels, with threads for large arrays."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np

from wengert.kernels.pieces import least_of, split
from wengert.prims.record import Primitive
from wengert.prims.table import TABLE

__all__ = ["K"]

# element by element, but of the array's memory rather than its values, or of its last dimension
_WHOLE = frozenset(
    {"assign", "clone", "conj", "fill_scalar", "grid_position", "imag", "real", "zero"}
)


def _kernel(prim: Primitive) -> Any:
    """The kernel of `prim` as K has it.

    What works element by element, and takes longer than to read the array (which operators do
    not), is shared between threads where the array is large.
    """
    kernel = prim.kernel
    if prim.family != "elementwise" or prim.infix is not None or prim.name in _WHOLE:
        return kernel
    args, params = ", ".join(prim.args), "".join(f", {name}={name}" for name in prim.params)
    named = "{" + ", ".join(f"{name!r}: {name}" for name in prim.params) + "}"
    # written out, since arguments that are passed on by stars would slow small arrays down
    source = (
        f"lambda {', '.join([*prim.args, *(['*', *prim.params] if prim.params else [])])}: "
        f"_split(_kernel, ({args},), {named}) "
        f"if {prim.args[0]}.__class__ is _array and {prim.args[0]}.size >= _least "
        f"else _kernel({args}{params})"
    )
    scope = {"_array": np.ndarray, "_kernel": kernel, "_least": least_of(kernel), "_split": split}
    return eval(source, scope)


class _Kernels(SimpleNamespace):
    """Kernels by name, made when they are first named."""

    def __getattr__(self, name: str) -> Any:
        prim = TABLE.get(name)
        if prim is None:
            raise AttributeError(f"there is no primitive {name!r}")
        made = _kernel(prim)
        setattr(self, name, made)
        return made


K: Any = _Kernels()
"""Every primitive's kernel by name."""
