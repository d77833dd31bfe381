"""Layer 9 · compat: Keras's global settings, and unique names."""

from __future__ import annotations

from typing import Any

import numpy as np

from wengert.base.patches import Setting
from wengert.compat.kit.namespaces import defined
from wengert.compat.tensorflow.configs import snake_case
from wengert.compat.tensorflow.functions.values import dtype_of
from wengert.compat.tensorflow.words import refusal

_EPSILON, _FLOATX = Setting(1e-7), Setting("float32")
_COUNTS: dict[str, int] = {}


def backend() -> str:
    """Return the name of Keras's backend that the idiom follows.

    Examples
    --------
    >>> tf.keras.config.backend()
    'tensorflow'
    """
    return "tensorflow"


def epsilon() -> float:
    """Return the small constant that bounds logarithms and quotients.

    Examples
    --------
    >>> tf.keras.backend.epsilon()
    1e-07
    """
    return _EPSILON.value


def set_epsilon(value: float) -> None:
    """Set the value of `epsilon`."""
    _EPSILON.set(float(value))


def floatx() -> str:
    """Return the default dtype of weights.

    Examples
    --------
    >>> tf.keras.backend.floatx()
    'float32'
    """
    return _FLOATX.value


def set_floatx(value: str) -> None:
    """Set the value of `floatx`.

    Raises
    ------
    ValueError: If it is not a floating dtype.
    """
    if value not in ("bfloat16", "float16", "float32", "float64"):
        raise refusal(ValueError, "Unknown `floatx` value:", value)
    _FLOATX.set(value)


def float_type(dtype=None) -> np.dtype[Any]:
    """Return the NumPy dtype for `dtype`, or for `floatx`."""
    return dtype_of(floatx() if dtype is None else dtype)


def image_data_format() -> str:
    """Return the position of the channels of images: last."""
    return "channels_last"


def get_uid(prefix="") -> int:
    """Return the number of times a name has been requested, including this call."""
    _COUNTS[prefix] = _COUNTS.get(prefix, 0) + 1
    return _COUNTS[prefix]


def name_for(kind: str) -> str:
    """Return a unique name derived from the name of a class: ``dense``, ``dense_1``, ..."""
    base = snake_case(kind)
    count = get_uid(base)
    return base if count == 1 else f"{base}_{count - 1}"


def clear_session(free_memory=True) -> None:
    """Restart the numbering of names."""
    _COUNTS.clear()


__all__ = defined(globals(), without="float_type name_for")
