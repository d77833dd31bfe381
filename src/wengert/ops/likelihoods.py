"""Layer 5 · ops · losses: losses that are negative logarithms of likelihoods."""

# the arguments have PyTorch's names

from __future__ import annotations

import math
from typing import Any

import numpy as np

from wengert.base.export import export
from wengert.interp.levels import Lifted
from wengert.ops.checks import flag
from wengert.ops.coerce import in_full, operand
from wengert.ops.losses import reduced, reduction_of
from wengert.ops.options import placed
from wengert.ops.select import clamp, where
from wengert.tape.base import new_tensor
from wengert.tape.operands import is_number


@export("nn.functional")
def poisson_nll_loss(
    input: Any,
    target: Any,
    log_input: bool = True,
    full: bool = False,
    size_average: bool | None = None,
    eps: float = 1e-8,
    reduce: bool | None = None,
    reduction: str = "mean",
) -> Any:
    """Return the negative logarithm of the likelihood of counts, by Poisson distributions.

    Parameters
    ----------
    input : Tensor. The logarithms of the expected counts, or with ``log_input=False`` the counts.
    target : Tensor. The observed counts.
    log_input : bool. Whether `input` holds logarithms.
    full : bool. Whether to add the term that depends on the target alone, by Stirling's
        approximation.
    %(former_reduction)s
    eps : float. Added to the expected counts before their logarithm is taken.
    %(single_reduction)s

    Returns
    -------
    Tensor: The loss; differentiable with respect to `input`, and `target`, except for Stirling's
        term.

    %(raises_reduction)s

    Examples
    --------
    >>> wg.nn.functional.poisson_nll_loss(wg.tensor([0.0, 1.0]), wg.tensor([1.0, 2.0]))
    tensor(0.8591)
    """
    how = reduction_of(reduction, size_average, reduce)
    x = operand(input, "poisson_nll_loss")
    x, y = in_full(x, operand(target, "poisson_nll_loss", "target", 2))
    losses = x.exp() - y * x if flag(log_input, "log_input") else x - y * (x + eps).log()
    if flag(full, "full"):
        stirling = y * y.log() - y + 0.5 * (2 * math.pi * y).log()
        losses = losses + where(y <= 1, 0.0, stirling)
    return reduced(losses, how)


@export("nn.functional")
def gaussian_nll_loss(
    input: Any,
    target: Any,
    var: Any,
    full: bool = False,
    eps: float = 1e-6,
    reduction: str = "mean",
) -> Any:
    """Return the negative log-likelihood of values under normal distributions.

    Parameters
    ----------
    input : Tensor. The expected values.
    target : Tensor. The values that were met; broadcasts against `input`.
    var : Tensor or float. The variances: of the shape of `input`, or with its last dimension
        missing, or one dimension of size 1.
    full : bool. Whether to add the constant, half the logarithm of 2 pi.
    eps : float. The least variance; what is below it counts as `eps`, with the gradient of `var`.
    %(single_reduction)s

    Returns
    -------
    Tensor: The loss; differentiable with respect to `input`, `target` and `var`.

    Raises
    ------
    ValueError: For another reduction, for variances of another shape, or negative ones.

    Examples
    --------
    >>> wg.nn.functional.gaussian_nll_loss(wg.tensor([0.0]), wg.tensor([2.0]), wg.tensor([4.0]))
    tensor(1.1931)
    """
    x = operand(input, "gaussian_nll_loss")
    y = operand(target, "gaussian_nll_loss", "target", 2)
    if is_number(var):
        if var < 0:
            raise ValueError(f"var has negative entry/entries: it is {var}")
        var = placed(x, np.full(x._payload.shape, var, x._payload.dtype))
    v = operand(var, "gaussian_nll_loss", "var", 3)
    shape, given = x._payload.shape, v._payload.shape
    if given != shape:
        others = [size for size, own in zip(given, shape, strict=False) if size != own]
        if shape[:-1] == given:
            v = v.unsqueeze(-1)
        elif len(given) != len(shape) or others != [1]:
            raise ValueError(
                f"var is of incorrect size: {list(given)} for an input of {list(shape)}"
            )
    if reduction not in ("none", "mean", "sum"):
        raise ValueError(f"{reduction} is not valid: choose 'none', 'mean' or 'sum'")
    if (v._payload < 0).any():
        raise ValueError(f"var has negative entry/entries: the least is {v._payload.min()}")
    # the floor is not differentiated, as in PyTorch: the gradient goes to `var`
    held = new_tensor(v._payload.constant() if isinstance(v._payload, Lifted) else v._payload)
    v = v + clamp(eps - held, min=0)
    away = x - y
    losses = 0.5 * (v.log() + away * away / v)
    if flag(full, "full"):
        losses = losses + 0.5 * math.log(2 * math.pi)
    return reduced(losses, reduction)
