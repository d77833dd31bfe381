"""Layer 8 · nn: the scale of initial weights for each layer and nonlinearity."""

from __future__ import annotations

import math
from typing import Any

_GAINS = {
    **dict.fromkeys(("linear", "sigmoid"), 1),
    **{f"conv{dims}d": 1 for dims in (1, 2, 3)},
    **{f"conv_transpose{dims}d": 1 for dims in (1, 2, 3)},
    "tanh": 5 / 3,
    "relu": math.sqrt(2),
    "selu": 3 / 4,
}
_FANS = ["fan_in", "fan_out"]


def calculate_gain(nonlinearity: str, param: float | None = None) -> float:
    """Return the factor by which to scale weights so that a nonlinearity preserves variances.

    Parameters
    ----------
    nonlinearity : str. Its name as in `wengert.nn.functional`, or ``"linear"``.
    param : float, optional. The slope below zero of ``"leaky_relu"``; default: 0.01.

    Returns
    -------
    float

    Raises
    ------
    ValueError: For a nonlinearity without a known gain, or a slope that is not a number.

    Examples
    --------
    >>> round(wg.nn.init.calculate_gain("leaky_relu", 0.2), 4)
    1.3868
    """
    if nonlinearity in _GAINS:
        return _GAINS[nonlinearity]
    if nonlinearity != "leaky_relu":
        raise ValueError(
            f"Unsupported nonlinearity {nonlinearity}: expected one of "
            f"{', '.join([*_GAINS, 'leaky_relu'])}"
        )
    if param is None:
        param = 0.01
    elif isinstance(param, bool) or not isinstance(param, int | float):
        raise ValueError(f"negative_slope {param} not a valid number")
    return math.sqrt(2.0 / (1 + param**2))


def xavier_std(tensor: Any, gain: float) -> float:
    """Return the standard deviation of Glorot and Bengio."""
    fan_in, fan_out = fans_of(tensor)
    return gain * math.sqrt(2.0 / float(fan_in + fan_out))


def kaiming_std(tensor: Any, a: float, mode: str, nonlinearity: str) -> float:
    """Return the standard deviation of He et al."""
    return calculate_gain(nonlinearity, a) / math.sqrt(fan_of(tensor, mode))


def fan_of(tensor: Any, mode: str) -> int:
    """Return the number of inputs or outputs, by `mode`."""
    mode = mode.lower()
    if mode not in _FANS:
        raise ValueError(f"Mode {mode} not supported, please use one of {_FANS}")
    return fans_of(tensor)[_FANS.index(mode)]


def fans_of(tensor: Any) -> tuple[int, int]:
    """Return the fan-in and the fan-out of a layer's weight."""
    if tensor.ndim < 2:
        raise ValueError(
            "Fan in and fan out can not be computed for tensor with fewer than 2 dimensions, but "
            f"got shape {tensor.shape}"
        )
    outputs, inputs, *sizes = tensor.shape
    field = math.prod(sizes)
    return inputs * field, outputs * field
