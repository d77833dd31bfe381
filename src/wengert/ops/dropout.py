"""Layer 5 · ops · random: `dropout`."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.lib.stride_tricks import as_strided

from wengert.base.dtypes import FLOATING, category
from wengert.base.errors import long_name, not_implemented
from wengert.base.export import export
from wengert.interp.levels import Lifted
from wengert.ops.checks import flag
from wengert.ops.coerce import number, operand
from wengert.ops.options import placed
from wengert.ops.randomness import drawn
from wengert.ops.sample import draw_bernoulli
from wengert.prims.table import TABLE
from wengert.tape.inplace import write
from wengert.tape.record import T


@export("nn.functional")
def dropout(input: Any, p: float = 0.5, training: bool = True, inplace: bool = False) -> Any:
    """Set random elements to 0, and scale the others so that the expected mean is unchanged.

    Parameters
    ----------
    input : Tensor. Of a floating dtype.
    p : float. The probability of each element to become 0.
    %(at_all)s
    inplace : bool. Whether to write the result into the input.

    Returns
    -------
    Tensor: The result, drawn from the default generator; the input itself if there is nothing to
        do. Differentiable.

    Raises
    ------
    ValueError: If `p` is not between 0 and 1.
    NotImplementedError: If the dtype is not a real floating dtype.

    Examples
    --------
    >>> _ = wg.manual_seed(0)
    >>> wg.nn.functional.dropout(wg.ones(6), 0.3)
    tensor([0.0000, 0.0000, 1.4286, 0.0000, 1.4286, 0.0000])
    """
    p = number(p, "dropout", "p")
    if not 0 <= p <= 1:
        raise ValueError(f"dropout probability has to be between 0 and 1, but got {p}")
    input = operand(input, "dropout")
    payload = input._payload
    if p == 0 or not flag(training, "training") or payload.size == 0:
        return input
    check_droppable(payload.dtype, "dropout")
    if p == 1:
        factors = np.zeros(payload.shape, payload.dtype)
    else:
        template = payload
        if isinstance(payload, Lifted) and payload.traced:
            # its memory layout, without its memory
            array = payload.array
            template = as_strided(np.empty((), array.dtype), array.shape, array.strides)
        if not isinstance(template, np.ndarray):
            template = np.empty(payload.shape, payload.dtype)
        # a factor of bfloat16 is float32 after the division
        factors = drawn(
            lambda: (draw_bernoulli(template, 1 - p) / (1 - p)).astype(template.dtype, copy=False)
        )
    noise = placed(input, factors)
    return write(TABLE["mul"], input, (noise,), {}, "dropout_") if inplace else T.mul(input, noise)


def check_droppable(dtype: np.dtype[Any], name: str) -> None:
    """Refuse to multiply what is not floating by factors that are."""
    takes = f"{name}() takes floating tensors; convert the input with .to(dtype)"
    if dtype.kind == "c":
        raise not_implemented("bernoulli_scalar_cpu_", dtype, takes)
    if category(dtype) < FLOATING:
        raise RuntimeError(
            f"result type Float can't be cast to the desired output type {long_name(dtype)}: "
            f"{takes}"
        )
