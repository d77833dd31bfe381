"""Layer 9 · compat: ``tf.losses``, which is ``tf.keras.losses``."""

from __future__ import annotations

from typing import Any

from wengert.compat.tensorflow.keras import losses as _keras
from wengert.compat.tensorflow.keras.losses import *  # noqa: F403  its `__all__` is this module's

__all__ = _keras.__all__


def __getattr__(name: str) -> Any:
    return getattr(_keras, name)
