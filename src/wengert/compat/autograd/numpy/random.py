"""Layer 9 · compat: NumPy's own random numbers, with its own streams and state.

They have no derivative: a call with boxes raises, and the error says what to write instead.

>>> import wengert.compat.autograd.numpy.random as npr
>>> npr.RandomState(0).randn()
1.764052345967664
"""

from __future__ import annotations

import functools
from typing import Any

import numpy as _np

from wengert.compat.autograd.boxes import holds_box
from wengert.compat.autograd.numpy.dispatch import of_numpy as _of_numpy
from wengert.compat.autograd.words import refusal
from wengert.compat.kit.namespaces import lazy as _lazy

_CURES = {
    "normal": "write loc + scale * npr.randn(...)",
    "uniform": "write low + (high - low) * npr.rand(...)",
    "exponential": "write scale * npr.standard_exponential(...)",
    "gamma": "write scale * npr.standard_gamma(...), if it is the scale that counts",
}


def _drawn(name: str, function) -> Any:
    own = name.rpartition(".")[2]

    @functools.wraps(function)
    def draw(*args, **kwargs) -> Any:
        if holds_box((args, kwargs)):
            numbers = tuple(i for i, value in enumerate(args) if holds_box(value))
            cure = _CURES.get(own, "pass x._value for the box x, if no derivative is wanted")
            raise refusal(NotImplementedError, "VJP of {} wrt", own, numbers, cure)
        return function(*args, **kwargs)

    return draw


__getattr__, __dir__ = _lazy(
    globals(), _of_numpy(__name__, _np.random, "random.", _drawn), lambda: dir(_np.random)
)
