"""Layer 9 · compat: `jax.lax`: elementary functions, products, control flow.

Names of JAX's that are missing here raise an AttributeError that says what to use instead.
"""

from __future__ import annotations

import importlib
from typing import Any

from wengert.compat.jax.lax_arrays import ARRAYS as _ARRAYS
from wengert.compat.jax.lax_control import CONTROL as _CONTROL
from wengert.compat.jax.lax_control import SOLVERS as _SOLVERS
from wengert.compat.jax.lax_elementwise import ELEMENTWISE as _ELEMENTWISE
from wengert.compat.jax.lax_parallel import PARALLEL as _PARALLEL
from wengert.compat.jax.lax_products import PRODUCTS as _PRODUCTS
from wengert.compat.jax.lax_reductions import REDUCTIONS as _REDUCTIONS

PrecisionLike = Any
_FUNCTIONS = {
    **_ARRAYS,
    **_CONTROL,
    **_ELEMENTWISE,
    **_PARALLEL,
    **_PRODUCTS,
    **_REDUCTIONS,
    **_SOLVERS,
}
_ABSENT = {
    "fft": "write jnp.fft",
    "pshuffle": "write lax.ppermute",
    "ragged_dot": "write lax.dot for each group",
    "random_gamma_grad": "jax.random.gamma is differentiable",
    "rng_bit_generator": "write jax.random.bits",
}


def __getattr__(name: str) -> Any:
    if name == "linalg":
        return importlib.import_module(f"{__name__}.linalg")
    if name.endswith("_p"):  # the `Primitive` behind a function
        function = _FUNCTIONS.get(name[:-2])
        if function is not None:
            made = importlib.import_module("wengert.compat.jax.primitives").of_function
            return globals().setdefault(name, made(name[:-2], function))
    why = _ABSENT.get(name, "")
    raise AttributeError(f"module 'jax.lax' has no attribute {name!r}{': ' if why else ''}{why}")


def __dir__() -> list[str]:
    return sorted(_FUNCTIONS)


globals().update(_FUNCTIONS)
