"""Layer 9 · compat: errors for functions of TensorFlow that are not offered."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

__all__ = ["missing", "refusing"]

_INSTEAD = {
    "math.sobol_sample": "scipy.stats.qmc.Sobol",
    "math.betainc": "scipy.special.betainc on arrays",
    "math.approx_max_k": "tf.math.top_k(x, k)",
    "math.approx_min_k": "tf.math.top_k(-x, k)",
    "nn.ctc_loss": "wengert.nn.functional.ctc_loss",
    "nn.scale_regularization_loss": "the loss itself: there is one replica",
    "nn.erosion2d": "-tf.nn.max_pool2d(-x, ...)",
    "linalg.logm": "scipy.linalg.logm on arrays",
    "linalg.sqrtm": "tf.linalg.eigh for symmetric matrices",
    "random.split": "seeds of your own: [seed, i]",
    "random.fold_in": "seeds of your own: [seed, i]",
    "keras.datasets": "arrays of your own; wengert.datasets has the digits",
    "keras.applications": "a model of your own: trained weights do not come with this library",
    "keras.preprocessing": "NumPy, or tf.data",
}


def missing(module: str, name: str) -> AttributeError:
    """Return the error for a name that ``tf.<module>`` does not have here."""
    full = f"{module}.{name}"
    instead = _INSTEAD.get(full)
    if instead is None and name.startswith("LinearOperator"):
        instead = "the matrix itself, and tf.linalg.matmul, solve, ..."
    if instead is None and "sparse" in name:
        instead = "tf.sparse, or dense tensors"
    hint = f"; use {instead}" if instead else ""
    return AttributeError(
        f"module 'tensorflow.{module}' has no attribute {name!r}: wengert.compat.tensorflow does "
        f"not offer tf.{full}{hint}"
    )


def refusing(module: str) -> Callable[[str], Any]:
    """Return the ``__getattr__`` of ``tf.<module>``, which suggests what to use instead."""

    def getattribute(name: str) -> Any:
        raise missing(module, name)

    return getattribute
