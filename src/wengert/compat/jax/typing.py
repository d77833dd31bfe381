"""Layer 9 · compat: `jax.typing`: types of arguments."""

from __future__ import annotations

from typing import TypeAlias

import numpy as np

from wengert.compat.jax.classes import AnyArray as Array

__all__ = ["ArrayLike", "DTypeLike"]

ArrayLike: TypeAlias = Array | np.ndarray | np.bool_ | np.number | bool | int | float | complex
DTypeLike: TypeAlias = str | type | np.dtype
