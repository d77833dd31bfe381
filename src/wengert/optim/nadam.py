"""Layer 9 · optim: `NAdam`, Adam with Nesterov's momentum."""

from __future__ import annotations

from typing import Any

from wengert.optim.elementwise import Elementwise, as_function, decays, directed
from wengert.optim.optimizer import ParamsT, arguments, check_adam, check_numbers
from wengert.optim.parameters import number
from wengert.types import Tensor

__all__ = ["NAdam"]


class NAdam(Elementwise):
    """Adam with Nesterov's momentum (Dozat 2016).

    Parameters
    ----------
    %(params, lr, two_betas, eps, weight_decay)s
    momentum_decay : float. The rate at which the momentum approaches ``betas[0]``.
    %(decoupled, maximize, differentiable, unused_foreach, raises_rates)s

    Examples
    --------
    >>> x = wg.tensor([1.0, 2.0], requires_grad=True)
    >>> optimizer = wg.optim.NAdam([x], lr=0.1)
    >>> for _ in range(30):
    %(steps_in_a_loop)s
    >>> bool((x < 1).all())
    True
    """

    _numbers = ("step", "mu_product")

    def __init__(
        self,
        params: ParamsT,
        lr: float | Tensor = 2e-3,
        betas: tuple[float, float] = (0.9, 0.999),
        eps: float = 1e-8,
        weight_decay: float = 0,
        momentum_decay: float = 4e-3,
        decoupled_weight_decay: bool = False,
        *,
        foreach: bool | None = None,
        maximize: bool = False,
        capturable: bool = False,
        differentiable: bool = False,
    ) -> None:
        defaults = arguments(
            locals(), "lr betas eps weight_decay momentum_decay decoupled_weight_decay maximize"
        )
        check_adam(lr, betas, eps, weight_decay)
        check_numbers(momentum_decay=momentum_decay)
        super().__init__(params, defaults)

    def _arrays(self, options: dict[str, Any]) -> tuple[str, ...]:
        return "exp_avg", "exp_avg_sq"

    def _initial_number(self, name: str, options: dict[str, Any]) -> float:
        return 1.0 if name == "mu_product" else 0.0

    def _coefficients(self, options: dict[str, Any], first: bool, step: Any, product: Any) -> Any:
        step = number(step) + 1
        lr, (beta1, beta2) = options["lr"], options["betas"]
        shrink, added = decays(options)
        now, then = (
            beta1 * (1 - 0.5 * 0.96 ** (t * options["momentum_decay"])) for t in (step, step + 1)
        )
        # rounded to the dtype of the state
        product = product * now
        kept = number(product)
        along_gradient = -lr * (1 - now) / (1 - kept)
        along_mean = -lr * then / (1 - kept * then)
        root = (1 - beta2**step) ** 0.5
        return (step, product), (
            *(along_gradient * root, along_mean * root, beta1, 1 - beta1, beta2, 1 - beta2),
            *(options["eps"] * root, shrink, added),
        )

    @staticmethod
    def _rule(U: Any, options: Any, c: Any, p: Any, g: Any, mean: Any, square: Any) -> Any:
        along_gradient, along_mean, beta1, fresh1, beta2, fresh2, eps, shrink, added = c
        if shrink is not None:
            p = U.mul_(p, shrink)
        g = directed(U, options, p, g, added)
        mean = U.add_(U.mul_(mean, beta1), g, fresh1)
        square = U.addcmul_(U.mul_(square, beta2), g, g, fresh2)
        move = U.add_(U.mul(g, along_gradient), mean, along_mean)
        return U.addcdiv_(p, move, U.add_(U.sqrt(square), eps)), mean, square


nadam = as_function("nadam", NAdam, "exp_avgs exp_avg_sqs mu_products state_steps")
