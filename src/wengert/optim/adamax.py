"""Layer 9 · optim: `Adamax`, Adam with the largest gradient in place of a mean of squares."""

from __future__ import annotations

from typing import Any

from wengert.optim.elementwise import Elementwise, as_function, decays, directed
from wengert.optim.optimizer import ParamsT, arguments, check_adam
from wengert.optim.parameters import number
from wengert.types import Tensor

__all__ = ["Adamax"]


class Adamax(Elementwise):
    """Adam with the infinity norm (Kingma and Ba 2014).

    ``m = beta1 * m + (1 - beta1) * g``, ``u = max(beta2 * u, abs(g) + eps)``, and
    ``p -= lr / (1 - beta1**t) * m / u``.

    Parameters
    ----------
    %(params, lr)s
    betas : tuple of float. The decay rates of the mean and of the largest gradient.
    %(eps, weight_decay, maximize, differentiable, unused_foreach, raises_rates)s

    Examples
    --------
    >>> x = wg.tensor([1.0, 2.0], requires_grad=True)
    >>> optimizer = wg.optim.Adamax([x], lr=0.5)
    %(a_step_down)s
    tensor([0.5000, 1.5000], requires_grad=True)
    """

    def __init__(
        self,
        params: ParamsT,
        lr: float | Tensor = 2e-3,
        betas: tuple[float, float] = (0.9, 0.999),
        eps: float = 1e-8,
        weight_decay: float = 0,
        foreach: bool | None = None,
        *,
        maximize: bool = False,
        differentiable: bool = False,
        capturable: bool = False,
    ) -> None:
        defaults = arguments(locals())
        check_adam(lr, betas, eps, weight_decay)
        super().__init__(params, defaults)

    def _arrays(self, options: dict[str, Any]) -> tuple[str, ...]:
        return "exp_avg", "exp_inf"

    def _coefficients(self, options: dict[str, Any], first: bool, step: Any) -> Any:
        step = number(step) + 1
        beta1, beta2 = options["betas"]
        rate = -options["lr"] / (1 - beta1**step)
        _, added = decays(options)
        return (step,), (rate, beta1, 1 - beta1, beta2, options["eps"], added)

    @staticmethod
    def _rule(U: Any, options: Any, c: Any, p: Any, g: Any, mean: Any, largest: Any) -> Any:
        rate, beta1, fresh, beta2, eps, added = c
        g = directed(U, options, p, g, added)
        mean = U.add_(U.mul_(mean, beta1), g, fresh)
        largest = U.maximum_(U.mul_(largest, beta2), U.add_(U.abs(g), eps))
        return U.addcdiv_(p, mean, largest, rate), mean, largest


adamax = as_function("adamax", Adamax, "exp_avgs exp_infs state_steps")
