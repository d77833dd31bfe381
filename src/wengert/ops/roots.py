"""Layer 5 · ops: roots that NumPy has and PyTorch has not."""

from __future__ import annotations

from typing import Any

from wengert.prims import roots as _records
from wengert.tape.record import T

__all__ = ["cbrt"]

REQUIRES = (_records,)


def cbrt(input: Any) -> Any:
    """The real cube root, of each element.

    Parameters
    ----------
    input : Tensor
        Of real numbers.

    Returns
    -------
    Tensor
        Differentiable; the derivative is infinite at 0.

    Examples
    --------
    >>> import numpy as np
    >>> import wengert as wg
    >>> np.cbrt(wg.tensor([8.0, -27.0]))
    tensor([ 2., -3.])
    """
    return T.cbrt(input)
