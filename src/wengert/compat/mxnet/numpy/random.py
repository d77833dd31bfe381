"""Layer 9 · compat: ``mxnet.np.random``.

>>> from wengert.compat.mxnet import np
>>> np.random.seed(0)
>>> np.random.normal(size=(2, 3)).dtype
dtype('float32')
"""

from __future__ import annotations

from typing import Any

import numpy as np

from wengert.compat.mxnet.base import public
from wengert.compat.mxnet.context import checked
from wengert.compat.mxnet.numpy.creation import made
from wengert.compat.mxnet.results import CLASSES, computed
from wengert.compat.mxnet.sampling import STREAM, drawing
from wengert.compat.mxnet.sampling import seed as seed
from wengert.tape.base import TensorBase

_DISTRIBUTIONS = {
    "beta": "a, b",
    "chisquare": "df",
    "exponential": "scale=1.0",
    "gamma": "shape, scale=1.0",
    "gumbel": "loc=0.0, scale=1.0",
    "laplace": "loc=0.0, scale=1.0",
    "logistic": "loc=0.0, scale=1.0",
    "lognormal": "mean=0.0, sigma=1.0",
    "multivariate_normal": "mean, cov",
    "normal": "loc=0.0, scale=1.0",
    "pareto": "a",
    "power": "a",
    "rayleigh": "scale=1.0",
    "uniform": "low=0.0, high=1.0",
    "weibull": "a",
}


def randint(low: int, high: int | None = None, size=None, dtype=None, ctx=None) -> Any:
    """Draw integers from ``[low, high)``, or from ``[0, low)`` without `high`."""
    checked(ctx)
    return made(np.asarray(STREAM.randint(low, high, size)._payload, dtype or np.int64))


def rand(*size: int) -> Any:
    """Draw uniform numbers from ``[0, 1)``, of the shape of the arguments."""
    return globals()["uniform"](size=size)


def randn(*size: int) -> Any:
    """Draw standard normal numbers of the shape of the arguments."""
    return globals()["normal"](size=size)


def choice(a, size=None, replace=True, p=None, ctx=None) -> Any:
    """Draw elements of `a`, or integers below it."""
    checked(ctx)
    return computed(CLASSES["np"], STREAM.choice, (a, size, replace, p), {})


def permutation(x) -> Any:
    """Return the rows of an array, or the integers below `x`, in random order."""
    return computed(CLASSES["np"], STREAM.permutation, (x,), {})


def multinomial(n: int, pvals, size=None) -> Any:
    """Draw the number of occurrences of each outcome in `n` trials."""
    chances = np.asarray(pvals._payload) if isinstance(pvals, TensorBase) else pvals
    return made(STREAM.multinomial(n, chances, size)._payload)


def shuffle(x) -> None:
    """Shuffle the rows of an array in place."""
    order = STREAM.permutation(len(x))._payload
    x[...] = x[order]


for _name, _parameters in _DISTRIBUTIONS.items():
    globals()[_name] = drawing(_name, _parameters, lambda: CLASSES["np"], "size")
__all__ = public(globals(), " ".join(["seed", *_DISTRIBUTIONS]))
