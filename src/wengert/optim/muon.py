"""Layer 9 · optim: `Muon`, steps along the orthogonal matrix nearest to the gradient."""

from __future__ import annotations

import math
from typing import Any

from wengert.base.dtypes import DTYPES
from wengert.base.extras import bfloat16
from wengert.optim.optimizer import ParamsT, arguments, check_rate
from wengert.optim.parameters import filled, making_state
from wengert.optim.whole import Whole
from wengert.types import Tensor


class Muon(Whole):
    """Muon (Jordan and others 2024), for matrices of hidden layers.

    A few Newton-Schulz iterations bring the mean of the gradients close to an orthogonal matrix.
    They run in ``bfloat16``, as in PyTorch, if ``ml_dtypes`` is installed, otherwise in single
    precision.

    Parameters
    ----------
    params : iterable. Matrices, named matrices, or groups (see `Optimizer`).
    %(lr, shrinking)s
    momentum : float. The decay rate of the mean.
    nesterov : bool. Whether to use Nesterov's momentum.
    ns_coefficients : tuple of float. The coefficients of the iteration's polynomial.
    eps : float. Keeps a denominator from zero.
    ns_steps : int. The number of iterations.
    adjust_lr_fn : {None, "original", "match_rms_adamw"}. The adjustment of the learning rate to the
        shape of a matrix.

    Raises
    ------
    ValueError: If a number is negative, a parameter is not a matrix, or the adjustment is unknown.

    Examples
    --------
    >>> x = wg.eye(2).requires_grad_()
    >>> optimizer = wg.optim.Muon([x], lr=0.1)
    >>> (x**2).sum().backward()
    >>> optimizer.step()
    >>> bool((x.diagonal() < 1).all())
    True
    """

    def __init__(
        self,
        params: ParamsT,
        lr: float | Tensor = 1e-3,
        weight_decay: float = 0.1,
        momentum: float = 0.95,
        nesterov: bool = True,
        ns_coefficients: tuple[float, float, float] = (3.4445, -4.7750, 2.0315),
        eps: float = 1e-7,
        ns_steps: int = 5,
        adjust_lr_fn: str | None = None,
    ) -> None:
        defaults = arguments(locals())
        check_rate(lr, "Learning rate should be >= 0 but is: {}")
        if not momentum >= 0.0:
            raise ValueError(f"momentum should be >= 0 but is: {momentum}")
        if not weight_decay >= 0.0:
            raise ValueError(f"weight decay should be >= 0 but is: {weight_decay}")
        if adjust_lr_fn not in (None, "original", "match_rms_adamw"):
            raise ValueError(f"Adjust learning rate function {adjust_lr_fn} is not supported")
        if ns_steps >= 100:
            raise ValueError("Number of steps must be less than 100 for computational efficiency")
        if len(ns_coefficients) != 3:
            raise ValueError("Coefficients must be a tuple of exactly 3 values")
        super().__init__(params, defaults)
        for group in self.param_groups:
            for param in group["params"]:
                if param.ndim != 2:
                    raise ValueError(
                        "Muon only supports 2D parameters whereas we found a parameter with size: "
                        f"{param.size()}"
                    )

    def _writes(self, options: dict[str, Any], param: Any) -> list[tuple[Any, Any]]:
        state = self.state[param]
        if "momentum_buffer" not in state:
            making_state()
            state["momentum_buffer"] = filled(param, 0.0)
        momentum, lr = options["momentum"], options["lr"]
        mean = state["momentum_buffer"].lerp(param.grad, 1 - momentum)
        update = param.grad.lerp(mean, momentum) if options["nesterov"] else mean
        update = _orthogonal(
            update, options["ns_coefficients"], options["ns_steps"], options["eps"]
        )
        factor = _factor(options["adjust_lr_fn"], *param.shape)
        moved = param * (1 - lr * options["weight_decay"]) - lr * factor * update.to(param.dtype)
        return [(state["momentum_buffer"], mean), (param, moved)]


def _orthogonal(
    matrix: Any, coefficients: tuple[float, float, float], steps: int, eps: float
) -> Any:
    """Return a matrix close to the orthogonal factor of the polar decomposition."""
    a, b, c = coefficients
    try:
        kind = bfloat16()
    except ImportError:
        kind = DTYPES["float32"]
    wide = matrix.shape[0] <= matrix.shape[1]
    x = matrix.to(kind) if wide else matrix.to(kind).T
    x = x / x.norm().clamp(min=eps)
    for _ in range(steps):
        gram = x @ x.T
        x = x.addmm(gram.addmm(gram, gram, beta=b, alpha=c), x, beta=a)
    return x if wide else x.T


def _factor(adjust: str | None, rows: int, columns: int) -> float:
    """Return the factor of the learning rate for a matrix of the given shape."""
    if adjust == "match_rms_adamw":
        return 0.2 * math.sqrt(max(rows, columns))
    return math.sqrt(max(1, rows / max(columns, 1)))
