"""Layer 9 · compat: ``jax.example_libraries``: the optimisers and layers of JAX's examples."""

from __future__ import annotations

from wengert.compat.kit.namespaces import closed as _closed

__getattr__ = _closed(globals(), "optimizers stax")


def __dir__() -> list[str]:
    return ["optimizers", "stax"]
