"""Layer 9 · compat: what MXNet's three modules of random numbers share.

There is one stream, NumPy's of ``wengert.numpy.random``; `seed` sets it, and that of dropout. The
numbers are not those that MXNet draws.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from wengert.base.sections import fill_sections
from wengert.compat.mxnet.context import checked
from wengert.compat.mxnet.results import computed, default_float
from wengert.numpy import random as _random
from wengert.ops.generator import manual_seed

__all__ = ["drawing", "seed"]


def seed(seed_state: int, ctx="all") -> None:
    """Start the stream of random numbers again.

    Examples
    --------
    >>> mx.random.seed(1)
    >>> x = mx.np.random.normal(size=2)
    >>> mx.random.seed(1)
    >>> (mx.np.random.normal(size=2) == x).all()
    array(True)
    """
    _random.seed(int(seed_state) % 2**32)
    manual_seed(int(seed_state))


def drawing(
    name: str, parameters: tuple[str, ...], cls: Callable[[], type], size: str, kind=None
) -> Callable[..., Any]:
    """A function that draws from NumPy's distribution `name`.

    Parameters
    ----------
    parameters: The names of the distribution's parameters, as MXNet has them, in NumPy's order;
        each with its default, ``"loc=0.0"``, where there is one.
    cls: Gives the class of results.
    size: What the shape is called: ``"size"`` or ``"shape"``.
    kind: The dtype of results where none is asked for; default: float32.
    """
    names = [part.partition("=")[0] for part in parameters]
    defaults = {p.partition("=")[0]: float(p.partition("=")[2]) for p in parameters if "=" in p}
    order = [*names, size, "dtype", "ctx", "out"]

    def draw(*args, **kwargs) -> Any:
        if len(args) > len(order):
            raise TypeError(f"{name}() takes {len(order)} arguments, and {len(args)} were given")
        given = {**dict(zip(order, args, strict=False)), **kwargs}
        unknown = given.keys() - {*order, "device"}
        if unknown:
            raise TypeError(f"{name}() got an unexpected keyword argument {min(unknown)!r}")
        checked(given.get("ctx"))
        values = [given.get(n, defaults.get(n)) for n in names]
        if None in [v if v is None else 0 for v in values]:
            raise TypeError(f"{name}() needs its argument {names[values.index(None)]!r}")
        shape = given.get(size)
        if (
            shape is None
            and size == "shape"
            and not any(np.ndim(v) for v in values if v is not None)
        ):
            shape = (1,)  # the legacy arrays have a dimension at least
        result = computed(cls(), getattr(_random, name), (*values, shape), {})
        wanted = given.get("dtype") or kind or default_float()
        if wanted == "None":
            wanted = kind or default_float()
        result = result if result._payload.dtype == np.dtype(wanted) else result.astype(wanted)
        out = given.get("out")
        if out is None:
            return result
        out[...] = result
        return out

    draw.__name__ = draw.__qualname__ = name
    draw.__doc__ = (
        f"Numbers drawn as `numpy.random.{name}` draws them; the sample is differentiable by the "
        "parameters where it only moves and stretches with them."
    )
    return draw


fill_sections(globals())
