"""Layer 9 · compat: random numbers under the names of ``jax.random``.

Functions take a key, and the same key gives the same numbers, which are JAX's own: bit by bit where
float32 is asked for and logarithms are all that they need, up to rounding elsewhere (see
`wengert.compat.jax.threefry`). They are differentiable by their parameters.

>>> key = jax.random.PRNGKey(0)
>>> jax.random.normal(key, (3,))
Array([ 1.6226422 ,  2.0252647 , -0.43359444], dtype=float32)
"""

from __future__ import annotations

from typing import Any

from wengert.base.sections import fill_sections
from wengert.compat.jax import choices as _choices
from wengert.compat.jax import distributions as _distributions
from wengert.compat.jax import keys as _keys
from wengert.compat.jax import sampling as _sampling
from wengert.compat.kit.namespaces import functions_of as _functions_of

_NAMES = {
    **_functions_of(vars(_sampling), "kind_of sample shape_for"),
    **_functions_of(vars(_choices)),
    **_functions_of(vars(_distributions)),
    **_functions_of(vars(_keys), "PRNGKeyArray PRNGSpec Sampler aligned drawn sampler words_of"),
}
globals().update(_NAMES)
_CURES = {
    "default_prng_impl": "threefry2x32 is the one that is there",
    "rand": "write jax.random.uniform(key, shape)",
    "randn": "write jax.random.normal(key, shape)",
    "seed": "there is no state: write key = jax.random.key(seed), and pass keys",
    "shuffle": "write jax.random.permutation(key, x)",
    "threefry_2x32": "write jax.random.bits(key, shape)",
}


def __getattr__(name: str) -> Any:
    why = f": {_CURES[name]}" if name in _CURES else ""
    raise AttributeError(f"module 'jax.random' has no attribute {name!r}{why}")


def __dir__() -> list[str]:
    return sorted(_NAMES)


fill_sections(globals())
