"""Layer 5 · ops: `dropout`."""

from __future__ import annotations

from typing import Any

import numpy as np

from wengert.ops.checks import real_input
from wengert.ops.sample import draw_bernoulli
from wengert.prims.table import TABLE
from wengert.tape.base import new_tensor
from wengert.tape.inplace import write
from wengert.tape.record import T

__all__ = ["dropout"]


def dropout(input: Any, p: float = 0.5, training: bool = True, inplace: bool = False) -> Any:
    """Elements set to 0 at random, and the others scaled so that the mean stays as it is.

    Parameters
    ----------
    input : Tensor
        Of a floating dtype.
    p : float
        The probability of each element to become 0.
    training : bool
        Whether to do anything at all.
    inplace : bool
        Whether to write the result into the input.

    Returns
    -------
    Tensor
        The result, drawn from the default generator; the input itself if there is nothing to do.
        Differentiable.

    Raises
    ------
    ValueError
        If `p` is not between 0 and 1.
    NotImplementedError
        If the dtype is no real floating dtype.

    Examples
    --------
    >>> import wengert as wg
    >>> _ = wg.manual_seed(0)
    >>> wg.nn.functional.dropout(wg.ones(6), 0.3)
    tensor([0.0000, 0.0000, 1.4286, 0.0000, 1.4286, 0.0000])
    """
    if not 0 <= p <= 1:
        raise ValueError(f"dropout probability has to be between 0 and 1, but got {p}")
    input = real_input(input, "dropout", "bernoulli_scalar_cpu_", floating=True)
    payload = input.payload
    if p == 0 or not training or payload.size == 0:
        return input
    if p == 1:
        factors = np.zeros_like(payload)
    else:
        factors = draw_bernoulli(np.asarray(payload), 1 - p) / (1 - p)
    noise = new_tensor(factors)
    return write(TABLE["mul"], input, (noise,), {}, "dropout_") if inplace else T.mul(input, noise)
