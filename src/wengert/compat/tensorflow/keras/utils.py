"""Layer 9 · compat: ``tf.keras.utils``: what programs need beside models."""

from __future__ import annotations

import random
from typing import Any

import numpy as np

from wengert.base.sections import fill_sections
from wengert.compat.tensorflow.functions.drawing import set_seed
from wengert.compat.tensorflow.functions.values import constant_of, numbers_of
from wengert.compat.tensorflow.keras.backend import clear_session as clear_session
from wengert.compat.tensorflow.refusal import refusing

__all__ = ["clear_session", "normalize", "set_random_seed", "to_categorical"]


def to_categorical(x, num_classes: int | None = None) -> Any:
    """One at the number of each class, zero elsewhere.

    Parameters
    ----------
    x : array. Of whole numbers.
    num_classes : int, optional. How many classes there are.

    Returns
    -------
    ndarray: Of one more dimension; of a tensor, a tensor.

    Examples
    --------
    >>> print(tf.keras.utils.to_categorical([0, 2], 3))
    [[1. 0. 0.]
     [0. 0. 1.]]
    """
    numbers = np.asarray(numbers_of(x)).astype(np.int64)
    if numbers.ndim > 1 and numbers.shape[-1] == 1:
        numbers = numbers[..., 0]
    count = num_classes or int(numbers.max()) + 1
    result = np.zeros((numbers.size, count))
    result[np.arange(numbers.size), numbers.reshape(-1)] = 1
    result = result.reshape(*numbers.shape, count)
    return constant_of(result.astype(np.float32)) if hasattr(x, "_payload") else result


def normalize(x, axis: int = -1, order: int = 2) -> Any:
    """An array, divided by the norms along a dimension.

    Examples
    --------
    >>> print(tf.keras.utils.normalize([[3.0, 4.0]]))
    [[0.6 0.8]]
    """
    array = np.asarray(x, np.float64) if isinstance(x, list | tuple) else numbers_of(x)
    length = np.linalg.norm(array, order, axis, keepdims=True)
    length[length == 0] = 1
    return array / length


def set_random_seed(seed: int) -> None:
    """Set the seeds of Python, NumPy and `tf.random`.

    Examples
    --------
    >>> tf.keras.utils.set_random_seed(1)
    """
    random.seed(seed)
    np.random.seed(seed)
    set_seed(seed)


__getattr__ = refusing("keras.utils")


fill_sections(globals())
