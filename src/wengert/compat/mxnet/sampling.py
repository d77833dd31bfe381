"""Layer 9 · compat: the random stream that MXNet's three random modules share.

There is one stream, which starts from seed 0 in each process, as MXNet's does; `seed` sets it and
the stream of dropout. The numbers differ from MXNet's.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from wengert.compat.kit.namespaces import defined
from wengert.compat.kit.signatures import named, signature_of
from wengert.compat.mxnet.context import checked
from wengert.compat.mxnet.results import computed, default_float, into
from wengert.numpy.random import RandomState
from wengert.ops.generator import manual_seed

STREAM = RandomState(0)


def seed(seed_state: int, ctx="all") -> None:
    """Restart the stream of random numbers.

    Examples
    --------
    >>> mx.random.seed(1)
    >>> x = mx.np.random.normal(size=2)
    >>> mx.random.seed(1)
    >>> (mx.np.random.normal(size=2) == x).all()
    array(True)
    """
    STREAM.seed(int(seed_state) % 2**32)
    manual_seed(int(seed_state))


def drawing(
    name: str, parameters: str, cls: Callable[[], type], size: str, kind=None
) -> Callable[..., Any]:
    """Return a function that draws from NumPy's distribution `name`.

    Parameters
    ----------
    parameters: MXNet's names of the distribution's parameters in NumPy's order, with defaults:
        ``"loc=0.0, scale=1.0"``.
    cls: A function that returns the class of results.
    size: The name of the shape parameter: ``"size"`` or ``"shape"``.
    kind: The default dtype of results; float32 if not given.
    """
    signature = signature_of(f"{parameters}, {size}=None, dtype=None, ctx=None, out=None")

    def draw(*args, **kwargs) -> Any:
        kwargs.pop("device", None)
        try:
            bound = signature.bind(*args, **kwargs)
        except TypeError as error:
            raise TypeError(f"{name}(): {error}") from None
        bound.apply_defaults()
        *values, shape, dtype, ctx, out = bound.arguments.values()
        checked(ctx)
        if shape is None and size == "shape" and not any(map(np.ndim, values)):
            shape = (1,)  # legacy arrays have at least one dimension
        result = computed(cls(), getattr(STREAM, name), (*values, shape), {})
        wanted = (None if dtype == "None" else dtype) or kind or default_float()
        result = result if result._payload.dtype == np.dtype(wanted) else result.astype(wanted)
        return into(out, result)

    draw.__signature__ = signature  # type: ignore[attr-defined]
    doc = (
        f"Numbers drawn as `numpy.random.{name}` draws them; the sample is differentiable with "
        "respect to parameters that only move or stretch it."
    )
    return named(draw, name, doc)


__all__ = defined(globals())
