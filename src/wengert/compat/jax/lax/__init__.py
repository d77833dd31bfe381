"""Layer 9 · compat: `jax.lax`: elementary functions, products, control flow.

Names of JAX's that are missing here raise an AttributeError that says what to use instead.
"""

from __future__ import annotations

import importlib
from typing import Any

from wengert.compat.jax.numpy.keyed import LAX as _MOVING
from wengert.compat.jax.numpy.keyed import with_keys as _with_keys
from wengert.compat.kit.namespaces import tables as _tables
from wengert.compat.kit.words import absence as _absence

PrecisionLike = Any
_HOMES = "lax_arrays lax_control lax_elementwise lax_parallel lax_products lax_reductions"
_FUNCTIONS = _with_keys(_tables("wengert.compat.jax", _HOMES), _MOVING)


def __getattr__(name: str) -> Any:
    if name == "linalg":
        return importlib.import_module(f"{__name__}.linalg")
    if name.endswith("_p"):  # the `Primitive` behind a function
        function = _FUNCTIONS.get(name[:-2])
        if function is not None:
            made = importlib.import_module("wengert.compat.jax.primitives").of_function
            return globals().setdefault(name, made(name[:-2], function))
    raise AttributeError(_absence(__name__, name))


def __dir__() -> list[str]:
    return sorted(_FUNCTIONS)


globals().update(_FUNCTIONS)
