"""Layer 9 · compat: random numbers under the names of ``jax.random``.

Functions take a key, and the same key gives the same numbers. They are JAX's own numbers: bit for
bit in float32 if the sampler needs no functions other than logarithms, and up to rounding otherwise
(see `wengert.compat.jax.threefry`). Samples are differentiable in their parameters.

>>> key = jax.random.PRNGKey(0)
>>> jax.random.normal(key, (3,))
Array([ 1.6226422 ,  2.0252647 , -0.43359444], dtype=float32)
"""

from __future__ import annotations

from wengert.compat.jax import distributions as _distributions
from wengert.compat.jax import keys as _keys
from wengert.compat.jax import sampling as _sampling
from wengert.compat.kit.namespaces import closed as _closed
from wengert.compat.kit.namespaces import functions_of as _functions_of

_NAMES = {
    **_functions_of(vars(_sampling), "kind_of sample shape_for"),
    **_functions_of(vars(_distributions)),
    **_functions_of(vars(_keys), "PRNGKeyArray PRNGSpec Sampler aligned drawn sampler words_of"),
}
globals().update(_NAMES)


__getattr__ = _closed(globals())


def __dir__() -> list[str]:
    return sorted(_NAMES)
