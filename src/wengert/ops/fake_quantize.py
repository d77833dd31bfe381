"""Layer 5 · ops · pointwise: floats rounded to a grid, as integers of few bits would hold them."""

from __future__ import annotations

from typing import Any

import numpy as np

from wengert.base.export import export
from wengert.base.shapes import normal_dim
from wengert.ops.checks import refuse_gradients
from wengert.ops.coerce import integer, operand
from wengert.tape.base import new_tensor
from wengert.tape.operands import cast, is_number
from wengert.tape.record import T


def _on_grid(op: str, x: Any, scale: Any, zero_point: Any, low: Any, high: Any) -> Any:
    refuse_gradients(op, scale=scale, zero_point=zero_point)
    low, high = integer(low, op, "quant_min"), integer(high, op, "quant_max")
    if low > high:
        raise RuntimeError(
            "`quant_min` should be less than or equal to `quant_max`, "
            f"but they are {low} and {high}"
        )
    lies = T.logical_and(T.ge(zero_point, low), T.le(zero_point, high))
    if not lies._payload.all():
        raise RuntimeError(
            "`zero_point` must be between `quant_min` and `quant_max`, "
            f"{low} and {high}, but is {zero_point._payload.tolist()}"
        )
    point, steps = (cast(one, x._payload.dtype).detach() for one in (zero_point, scale))
    still = x.detach()
    place = T.add(T.round(T.mul(still, T.reciprocal(steps))), point)
    inside = T.logical_and(T.ge(place, low), T.le(place, high))
    held = T.mul(T.sub(T.clamp(place, min=low, max=high), point), steps)
    # the difference is 0 and only carries the gradient
    return T.where(inside, T.add(held, T.sub(x, still)), held)


@export("wengert")
def fake_quantize_per_tensor_affine(
    input: Any, scale: Any, zero_point: Any, quant_min: int, quant_max: int
) -> Any:
    """Round to the nearest multiples of a step, within a range.

    An integer ``q`` stands for ``(q - zero_point) * scale``.

    Parameters
    ----------
    input : Tensor. Of float32 or float64.
    scale : float or Tensor. The step.
    zero_point : int or Tensor. The integer that stands for 0.
    quant_min, quant_max : int. The range of the integers.

    Returns
    -------
    Tensor: Like `input`. The derivative is 1 within the range, and 0 outside.

    Raises
    ------
    RuntimeError: If the range is empty, if `zero_point` lies outside, or if it or `scale` requires
        a gradient.

    Examples
    --------
    >>> wg.fake_quantize_per_tensor_affine(wg.tensor([0.24, 0.26, 9.0]), 0.5, 0, -4, 3)
    tensor([0.0000, 0.5000, 1.5000])
    """
    op = "fake_quantize_per_tensor_affine"
    x = operand(input, op)
    step, point = (
        new_tensor(np.asarray(one)) if is_number(one) else operand(one, op, name, number)
        for one, name, number in ((scale, "scale", 2), (zero_point, "zero_point", 3))
    )
    return _on_grid(op, x, step, point, quant_min, quant_max)


@export("wengert")
def fake_quantize_per_channel_affine(
    input: Any, scale: Any, zero_point: Any, axis: int, quant_min: int, quant_max: int
) -> Any:
    """`fake_quantize_per_tensor_affine` with a step for each position of a dimension.

    Parameters
    ----------
    %(input)s
    scale, zero_point : Tensor. The steps, and the integers that stand for 0; vectors.
    axis : int. Their dimension.
    quant_min, quant_max : int. The range, which is the same for all.

    Returns
    -------
    Tensor: Like `input`.

    Examples
    --------
    >>> steps, zeros = wg.tensor([0.5, 1.0]), wg.tensor([0, 0], dtype=wg.int32)
    >>> wg.fake_quantize_per_channel_affine(wg.tensor([0.4, 0.4]), steps, zeros, 0, -4, 3)
    tensor([0.5000, 0.0000])
    """
    op = "fake_quantize_per_channel_affine"
    x = operand(input, op)
    at = normal_dim(integer(axis, op, "axis"), x._payload.ndim)
    shape = tuple(-1 if i == at else 1 for i in range(x._payload.ndim))
    steps, points = (
        operand(one, op, name, number).reshape(shape)
        for one, name, number in ((scale, "scale", 2), (zero_point, "zero_point", 3))
    )
    return _on_grid(op, x, steps, points, quant_min, quant_max)
