"""Layer 9 · compat: `jax.interpreters.ad`: rules of primitives, which nothing asks for."""

from __future__ import annotations

from typing import Any

__all__ = ["primitive_jvps", "primitive_transposes"]

primitive_jvps: dict[Any, Any] = {}
primitive_transposes: dict[Any, Any] = {}
