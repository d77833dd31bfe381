"""Layer 9 · optim: `RMSprop`, steps divided by the root of a running mean of squares."""

from __future__ import annotations

from typing import Any

from wengert.optim.elementwise import Elementwise, as_function, decays, directed
from wengert.optim.optimizer import ParamsT, arguments, check_numbers, check_rate
from wengert.optim.parameters import number
from wengert.types import Tensor

__all__ = ["RMSprop"]


class RMSprop(Elementwise):
    """RMSprop (Hinton's lectures), as in PyTorch: `eps` is added to the root, not under it.

    ``v = alpha * v + (1 - alpha) * g**2``, ``p -= lr * g / (sqrt(v) + eps)``; with `momentum`, that
    step is added to ``momentum`` times the one before.

    Parameters
    ----------
    %(params, lr)s
    alpha : float. The decay rate of the mean.
    %(eps, weight_decay)s
    momentum : float. The fraction of the previous step that is kept.
    centered : bool. Whether to divide by an estimate of the standard deviation.
    %(maximize, differentiable)s
    capturable, foreach : bool, optional. Accepted for compatibility with PyTorch; have no effect.

    Raises
    ------
    ValueError: If a number is negative.

    Examples
    --------
    >>> x = wg.tensor([1.0, 2.0], requires_grad=True)
    >>> optimizer = wg.optim.RMSprop([x], lr=0.01)
    %(a_step_down)s
    tensor([0.9000, 1.9000], requires_grad=True)
    """

    def __init__(
        self,
        params: ParamsT,
        lr: float | Tensor = 1e-2,
        alpha: float = 0.99,
        eps: float = 1e-8,
        weight_decay: float = 0,
        momentum: float = 0,
        centered: bool = False,
        capturable: bool = False,
        foreach: bool | None = None,
        maximize: bool = False,
        differentiable: bool = False,
    ) -> None:
        defaults = arguments(locals(), "lr momentum alpha eps centered")
        check_rate(lr)
        check_numbers(epsilon=eps, momentum=momentum, weight_decay=weight_decay, alpha=alpha)
        super().__init__(params, defaults)

    def _arrays(self, options: dict[str, Any]) -> tuple[str, ...]:
        names = ["square_avg"]
        names += ["momentum_buffer"] * (options["momentum"] > 0)
        names += ["grad_avg"] * options["centered"]
        return tuple(names)

    def _coefficients(self, options: dict[str, Any], first: bool, step: Any) -> Any:
        alpha = options["alpha"]
        momentum = options["momentum"] if options["momentum"] > 0 else None
        _, added = decays(options)
        numbers = (-options["lr"], alpha, 1 - alpha, options["eps"], momentum, added)
        return (number(step) + 1,), numbers

    @staticmethod
    def _rule(U: Any, options: Any, c: Any, p: Any, g: Any, square: Any, *more: Any) -> Any:
        rate, alpha, fresh, eps, momentum, added = c
        kept = list(more)
        g = directed(U, options, p, g, added)
        square = U.addcmul_(U.mul_(square, alpha), g, g, fresh)
        if options["centered"]:
            mean = kept[-1] = U.add_(U.mul_(kept[-1], alpha), g, fresh)
            scale = U.add_(U.sqrt(U.sub(square, U.mul(mean, mean))), eps)
        else:
            scale = U.add_(U.sqrt(square), eps)
        if momentum is None:
            return U.addcdiv_(p, g, scale, rate), square, *kept
        kept[0] = U.addcdiv_(U.mul_(kept[0], momentum), g, scale)
        return U.add_(p, kept[0], rate), square, *kept


rmsprop = as_function("rmsprop", RMSprop, "square_avgs grad_avgs momentum_buffer_list state_steps")
