"""Layer 9 · compat: neural network functions under the names of ``jax.nn``.

>>> jax.nn.softmax(jax.numpy.array([0.0, 0.0]))
Array([0.5, 0.5], dtype=float32)
"""

from __future__ import annotations

from wengert.base.sections import fill_sections
from wengert.compat.jax.nn import functions as _functions
from wengert.compat.kit.namespaces import closed as _closed
from wengert.compat.kit.namespaces import functions_of as _functions_of

_NAMES = _functions_of(vars(_functions))
globals().update(_NAMES)
_ABSENT = {
    "get_scaled_dot_general_config": "quantised products are not there: write x @ y",
    "scaled_dot_general": "quantised products are not there: write jax.lax.dot_general",
    "scaled_matmul": "quantised products are not there: write x @ y",
}


__getattr__ = _closed(globals(), "jax.nn", _ABSENT, "initializers")


def __dir__() -> list[str]:
    return sorted([*_NAMES, "initializers"])


fill_sections(globals())
