"""Layer 9 · compat: NumPy's own random numbers, with its own streams and state.

They are constants to derivatives: a function of boxes raises, and says what to write.

>>> import wengert.compat.autograd.numpy.random as npr
>>> npr.RandomState(0).randn()
1.764052345967664
"""

from __future__ import annotations

import functools
from typing import Any

import numpy as _np

from wengert.compat.autograd.boxes import holds_box

_CURES = {
    "normal": "write loc + scale * npr.randn(...)",
    "uniform": "write low + (high - low) * npr.rand(...)",
    "exponential": "write scale * npr.standard_exponential(...)",
    "gamma": "write scale * npr.standard_gamma(...), if it is the scale that counts",
}


def _drawn(name: str, function: Any) -> Any:
    @functools.wraps(function)
    def draw(*args: Any, **kwargs: Any) -> Any:
        if holds_box((args, kwargs)):
            numbers = tuple(i for i, value in enumerate(args) if holds_box(value))
            cure = _CURES.get(name, "pass x._value for the box x, if no derivative is wanted")
            raise NotImplementedError(
                f"VJP of {name} wrt argnums {numbers} not defined: random numbers are constants "
                f"to derivatives; {cure}"
            )
        return function(*args, **kwargs)

    return draw


def __getattr__(name: str) -> Any:
    value = None if name.startswith("_") else getattr(_np.random, name, None)
    if value is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}: NumPy has none")
    if callable(value) and not isinstance(value, type):
        value = _drawn(name, value)
    return globals().setdefault(name, value)


def __dir__() -> list[str]:
    return sorted(dir(_np.random))
