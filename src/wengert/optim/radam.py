"""Layer 9 · optim: `RAdam`, Adam with a correction for the variance of early mean squares."""

from __future__ import annotations

from typing import Any

from wengert.optim.elementwise import Elementwise, as_function, decays, directed
from wengert.optim.optimizer import ParamsT, arguments, check_adam
from wengert.optim.parameters import number
from wengert.types import Tensor

__all__ = ["RAdam"]


class RAdam(Elementwise):
    """Rectified Adam (Liu and others 2019).

    While the mean of squares rests on too few gradients, steps follow the mean of the gradient
    alone; later they are Adam's steps times a factor that grows to 1.

    Parameters
    ----------
    %(params, lr, two_betas, eps, weight_decay, decoupled)s
    %(maximize, differentiable, unused_foreach, raises_rates)s

    Examples
    --------
    >>> x = wg.tensor([1.0, 2.0], requires_grad=True)
    >>> optimizer = wg.optim.RAdam([x], lr=0.1)
    %(a_step_down)s
    tensor([0.8000, 1.6000], requires_grad=True)
    """

    def __init__(
        self,
        params: ParamsT,
        lr: float | Tensor = 1e-3,
        betas: tuple[float, float] = (0.9, 0.999),
        eps: float = 1e-8,
        weight_decay: float = 0,
        decoupled_weight_decay: bool = False,
        *,
        foreach: bool | None = None,
        maximize: bool = False,
        capturable: bool = False,
        differentiable: bool = False,
    ) -> None:
        defaults = arguments(locals(), "lr betas eps weight_decay maximize foreach capturable")
        check_adam(lr, betas, eps, weight_decay)
        super().__init__(params, defaults)

    def _arrays(self, options: dict[str, Any]) -> tuple[str, ...]:
        return "exp_avg", "exp_avg_sq"

    def _coefficients(self, options: dict[str, Any], first: bool, step: Any) -> Any:
        step = number(step) + 1
        lr, (beta1, beta2) = options["lr"], options["betas"]
        shrink, added = decays(options)
        power = beta2**step
        most = 2 / (1 - beta2) - 1
        # the effective number of gradients in the mean of squares
        length = most - 2 * step * power / (1 - power)
        rate = -lr / (1 - beta1**step)
        eps = None
        if length > 5:
            eps = options["eps"]
            factor = (length - 4) * (length - 2) * most / ((most - 4) * (most - 2) * length)
            rate = rate * (factor * (1 - power)) ** 0.5
        return (step,), (rate, beta1, 1 - beta1, beta2, 1 - beta2, eps, shrink, added)

    @staticmethod
    def _rule(U: Any, options: Any, c: Any, p: Any, g: Any, mean: Any, square: Any) -> Any:
        rate, beta1, fresh1, beta2, fresh2, eps, shrink, added = c
        if shrink is not None:
            p = U.mul_(p, shrink)
        g = directed(U, options, p, g, added)
        mean = U.add_(U.mul_(mean, beta1), g, fresh1)
        square = U.addcmul_(U.mul_(square, beta2), g, g, fresh2)
        if eps is None:
            return U.add_(p, mean, rate), mean, square
        scale = U.add_(U.sqrt(square), eps)
        return U.addcdiv_(p, mean, scale, rate), mean, square


radam = as_function("radam", RAdam, "exp_avgs exp_avg_sqs state_steps")
