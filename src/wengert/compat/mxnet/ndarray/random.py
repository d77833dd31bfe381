"""Layer 9 · compat: ``mxnet.nd.random``, and ``mxnet.random``, which adds `seed`.

>>> from wengert.compat.mxnet import nd
>>> nd.random.uniform(0, 1, shape=(2, 3)).shape
(2, 3)
"""

from __future__ import annotations

from typing import Any

import numpy as np

from wengert.compat.mxnet.arrays import NDArray
from wengert.compat.mxnet.base import public
from wengert.compat.mxnet.context import checked
from wengert.compat.mxnet.numpy.creation import made
from wengert.compat.mxnet.sampling import STREAM, drawing

_DISTRIBUTIONS = {
    "exponential": "scale=1.0",
    "gamma": "alpha=1.0, beta=1.0",
    "normal": "loc=0.0, scale=1.0",
    "poisson": "lam=1.0",
    "uniform": "low=0.0, high=1.0",
}


def randint(low: int, high: int, shape=(1,), dtype=None, ctx=None, out=None) -> Any:
    """Draw integers from ``[low, high)``."""
    checked(ctx)
    return made(np.asarray(STREAM.randint(low, high, shape)._payload, dtype or np.int32), NDArray)


def randn(*shape: int, loc=0.0, scale=1.0, **kwargs) -> Any:
    """Draw normal numbers of the shape of the arguments."""
    return globals()["normal"](loc, scale, shape or (1,), **kwargs)


def multinomial(data, shape=1, get_prob=False, dtype="int32") -> Any:
    """Draw outcomes with the probabilities in `data`, or in each row of it."""
    if get_prob:
        raise NotImplementedError("get_prob=True: write nd.log(nd.pick(data, sample))")
    chances = np.asarray(data._payload, np.float64)
    chances = chances / chances.sum(-1, keepdims=True)
    sizes = () if shape == 1 else tuple(np.ravel(shape).tolist())
    rows = chances.reshape(-1, chances.shape[-1])
    drawn = [STREAM.choice(rows.shape[1], sizes or None, True, row)._payload for row in rows]
    result = np.stack([np.asarray(row) for row in drawn]).reshape(chances.shape[:-1] + sizes)
    return made(result.astype(dtype), NDArray)


def shuffle(data, **kwargs) -> Any:
    """Return the rows of an array in random order."""
    order = STREAM.permutation(len(data))._payload
    return data[order]


for _name, _parameters in _DISTRIBUTIONS.items():
    globals()[_name] = drawing(_name, _parameters, lambda: NDArray, "shape")
__all__ = public(globals(), " ".join(_DISTRIBUTIONS))
