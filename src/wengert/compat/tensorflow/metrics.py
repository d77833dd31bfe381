"""Layer 9 · compat: ``tf.metrics``, which is ``tf.keras.metrics``."""

from __future__ import annotations

from typing import Any

from wengert.compat.tensorflow.keras import metrics as _keras
from wengert.compat.tensorflow.keras.metrics import *  # noqa: F403  its `__all__` is this module's

__all__ = _keras.__all__


def __getattr__(name: str) -> Any:
    return getattr(_keras, name)
