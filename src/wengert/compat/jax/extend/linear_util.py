"""Layer 9 · compat: `jax.extend.linear_util`: functions that would be traced."""

from __future__ import annotations

from typing import Any, NoReturn

__all__ = ["wrap_init"]


def wrap_init(f: Any, params: Any = None, *, debug_info: Any = None) -> NoReturn:
    """Refused: nothing is traced.

    Raises
    ------
    NotImplementedError: Always.
    """
    raise NotImplementedError("jax.extend.linear_util: nothing is traced, so there are no jaxprs")
