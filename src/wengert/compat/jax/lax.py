"""Layer 9 · compat: `jax.lax`: elementary functions, products, control flow.

What JAX has and is not here raises an AttributeError that says what to write.
"""

from __future__ import annotations

from typing import Any

from wengert.compat.jax.lax_arrays import ARRAYS as _ARRAYS
from wengert.compat.jax.lax_control import CONTROL as _CONTROL
from wengert.compat.jax.lax_elementwise import ELEMENTWISE as _ELEMENTWISE
from wengert.compat.jax.lax_elementwise import RoundingMethod as RoundingMethod
from wengert.compat.jax.lax_parallel import PARALLEL as _PARALLEL
from wengert.compat.jax.lax_products import PRODUCTS as _PRODUCTS
from wengert.compat.jax.lax_products import ConvDimensionNumbers as ConvDimensionNumbers
from wengert.compat.jax.lax_products import Precision as Precision
from wengert.compat.jax.lax_reductions import REDUCTIONS as _REDUCTIONS
from wengert.compat.jax.lax_solvers import SOLVERS as _SOLVERS

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
_INDEX = "write x[...], or x.at[...].set, add, multiply, min and max"
_DEVICES = "there is one device: write jax.vmap with an axis_name"
_JAXPR = "nothing is traced, so there are no jaxprs and no primitives"
_ABSENT = {
    **dict.fromkeys(("GatherDimensionNumbers", "GatherScatterMode", "gather"), _INDEX),
    **dict.fromkeys(("ScatterDimensionNumbers", "scatter", "scatter_add", "scatter_apply"), _INDEX),
    **dict.fromkeys(("scatter_max", "scatter_min", "scatter_mul", "scatter_sub"), _INDEX),
    **dict.fromkeys(("all_to_all", "pbroadcast", "psum_scatter", "pswapaxes"), _DEVICES),
    **dict.fromkeys(("pcast", "pshuffle", "with_sharding_constraint"), _DEVICES),
    "approx_max_k": "write lax.top_k",
    "approx_min_k": "write lax.top_k of -x",
    "conv_general_dilated_local": "write lax.conv_general_dilated for each place",
    "conv_general_dilated_patches": "write lax.conv_general_dilated",
    "fft": "write jnp.fft",
    "linalg": "write jnp.linalg and jax.scipy.linalg",
    "platform_dependent": "there is one platform: call the function for the CPU",
    "ragged_dot": "write lax.dot for each group",
    "random_gamma_grad": "jax.random.gamma is differentiable",
    "reduce_xor": "write lax.reduce(x, 0, lax.bitwise_xor, axes)",
    "rng_bit_generator": "write jax.random.bits",
    "rng_uniform": "write jax.random.uniform",
}


def __getattr__(name: str) -> Any:
    why = _ABSENT.get(name, "")
    if name.endswith("_p"):
        why = _JAXPR
    raise AttributeError(f"module 'jax.lax' has no attribute {name!r}{': ' if why else ''}{why}")


def __dir__() -> list[str]:
    return sorted({*_FUNCTIONS, "ConvDimensionNumbers", "Precision", "RoundingMethod"})


globals().update(_FUNCTIONS)
