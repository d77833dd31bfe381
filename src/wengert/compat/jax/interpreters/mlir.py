"""Layer 9 · compat: `jax.interpreters.mlir`: rules of primitives, which nothing asks for."""

from __future__ import annotations

from typing import Any

__all__ = ["lower_fun", "register_lowering"]


def register_lowering(prim: Any, rule: Any, platform: str | None = None, **options: Any) -> None:
    """Take a rule that nothing asks for: programs are made by calls."""


def lower_fun(fun: Any, multiple_results: bool = True) -> Any:
    """The function itself."""
    return fun
