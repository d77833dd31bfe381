"""Layer 9 · compat: TensorFlow's tensors and variables, as type checkers see them."""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np

from wengert.compat.tensorflow.eager import Tensor
from wengert.compat.tensorflow.variable import Variable

__all__ = ["Tensor", "TensorLike", "Variable"]

TensorLike: TypeAlias = (
    Tensor | Variable | np.ndarray | np.bool_ | np.number | bool | int | float | complex | list[Any]
)
