"""Layer 9 · compat: ``mxnet.npx``: neural network functions beyond NumPy's.

>>> from wengert.compat.mxnet import np, npx
>>> npx.set_np()
>>> npx.relu(np.array([-1.0, 2.0]))
array([0., 2.])
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from wengert.compat.kit.namespaces import gathered
from wengert.compat.mxnet import storage
from wengert.compat.mxnet.base import public
from wengert.compat.mxnet.neural import FUNCTIONS, known
from wengert.compat.mxnet.numpy import random
from wengert.compat.mxnet.results import CLASSES, computed
from wengert.compat.mxnet.shaping import DROPPED, resolved
from wengert.compat.mxnet.signatures import showing

_SHARED = gathered(
    globals(),
    "wengert.compat.mxnet",
    """
    context: Context cpu cpu_pinned current_context gpu num_gpus
    util: is_np_array is_np_shape reset_np set_np use_np
    """,
)
seed = random.seed


def save(file: str, arr) -> None:
    """Write an array, or a list or dict of arrays, to a file in NumPy's ``.npz`` format."""
    storage.save(file, arr)


def load(file: str) -> Any:
    """Load arrays that `save` wrote."""
    return storage.load(file, CLASSES["np"])


def waitall() -> None:
    """Do nothing: results are ready when an operation returns."""


def cast(data, dtype) -> Any:
    """Convert `data` to another dtype; recorded."""
    return data.astype(dtype)


def reshape(a, newshape, reverse=False, order="C") -> Any:
    """Reshape `a`.

    -1 is inferred, -2 copies a size, -3 drops a size 1, -4 copies all that remain, -5 merges two
    sizes, and ``-6, a, b`` splits one.
    """
    sizes = (newshape,) if isinstance(newshape, int) else tuple(newshape)
    codes = {-2: 0, -3: DROPPED, -4: -2, -5: -3, -6: -4}
    wanted, have = [codes.get(size, size) for size in sizes], tuple(a.shape)
    if reverse:
        return a.reshape(resolved(have[::-1], wanted[::-1])[::-1])
    return a.reshape(resolved(have, wanted))


def nonzero(a) -> Any:
    """Return the indices of the nonzero elements, one per row."""
    result = np.argwhere(a.asnumpy())
    return computed(CLASSES["np"], lambda: result, (), {})


def _shown(name: str) -> Callable[..., Any]:
    below = FUNCTIONS[name]

    def function(*args, **kwargs) -> Any:
        return computed(CLASSES["np"], below, known(name, args, kwargs), kwargs)

    function.__name__ = function.__qualname__ = name
    function.__module__ = "wengert.compat.mxnet.npx"
    function.__doc__ = (below.__doc__ or "").partition("\n\n")[0]
    return showing(function, below)


globals().update({name: _shown(name) for name in FUNCTIONS})
__all__ = public(globals(), " ".join([*_SHARED, "random", "seed", *FUNCTIONS]))
