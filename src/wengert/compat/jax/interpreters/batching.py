"""Layer 9 · compat: `jax.interpreters.batching`: rules of primitives, which nothing asks for."""

from __future__ import annotations

from typing import Any

__all__ = ["fancy_primitive_batchers", "primitive_batchers"]

primitive_batchers: dict[Any, Any] = {}
fancy_primitive_batchers: dict[Any, Any] = {}
