"""Layer 9 · compat: ``tf.keras``: the part that tutorials on differentiation and training use.

>>> layers = [tf.keras.layers.Dense(8, activation="relu"), tf.keras.layers.Dense(1)]
>>> model = tf.keras.Sequential(layers)
>>> model(tf.ones([4, 3])).shape
TensorShape([4, 1])
"""

from __future__ import annotations

import importlib as _importlib
from typing import Any as _Any

from wengert.base.names import shows as _shows
from wengert.compat.kit.namespaces import gathered as _gathered
from wengert.compat.tensorflow.words import missing as _missing

__version__ = "3.15.1"
_LATER = ("backend", "ops")
"""Modules with hundreds of functions, made when they are first used."""


def __getattr__(name: str) -> _Any:
    if name in _LATER:
        return _importlib.import_module(f"{__name__}.{name}")
    raise _missing("keras", name)


_NOW = _gathered(
    globals(),
    "wengert.compat.tensorflow",
    """
    keras.layers: Input Layer
    keras.losses: Loss
    keras.metrics: Metric
    keras.models: Model Sequential
    keras.policies: DTypePolicy
    keras.symbols: KerasTensor=Symbol
    environment: name_scope
    keras.optimizers: Optimizer
    keras.regularizers: Regularizer
    variable: Variable
    """,
    """
    initializers keras.activations keras.callbacks keras.config keras.constraints keras.layers
    keras.losses keras.metrics keras.mixed_precision keras.models keras.optimizers keras.random
    keras.regularizers keras.saving keras.tree keras.utils
    """,
)
__all__ = sorted([*_NOW, *_LATER])
__dir__ = _shows(__all__)
