"""Layer 9 · optim: `Adadelta`, steps in the units of the parameter."""

from __future__ import annotations

from typing import Any

from wengert.optim.elementwise import Elementwise, as_function, decays, directed
from wengert.optim.optimizer import ParamsT, arguments, check_numbers, check_rate
from wengert.optim.parameters import number
from wengert.types import Tensor

__all__ = ["Adadelta"]


class Adadelta(Elementwise):
    """Adadelta (Zeiler 2012): steps scale with the root mean square of earlier steps.

    ``v = rho * v + (1 - rho) * g**2``, ``d = sqrt(u + eps) / sqrt(v + eps) * g``,
    ``u = rho * u + (1 - rho) * d**2``, ``p -= lr * d``.

    Parameters
    ----------
    %(params)s
    lr : float or Tensor. The factor of the steps.
    rho : float. The decay rate of the means of squares.
    eps : float. Keeps the denominator from zero, and starts the motion.
    %(weight_decay, maximize, differentiable, unused_foreach)s

    Raises
    ------
    ValueError: If a number is negative, or `rho` is not in [0, 1].

    Examples
    --------
    >>> x = wg.tensor([1.0, 2.0], requires_grad=True)
    >>> optimizer = wg.optim.Adadelta([x], lr=10.0)
    %(a_step_down)s
    tensor([0.9684, 1.9684], requires_grad=True)
    """

    def __init__(
        self,
        params: ParamsT,
        lr: float | Tensor = 1.0,
        rho: float = 0.9,
        eps: float = 1e-6,
        weight_decay: float = 0,
        foreach: bool | None = None,
        *,
        capturable: bool = False,
        maximize: bool = False,
        differentiable: bool = False,
    ) -> None:
        defaults = arguments(locals(), "lr rho eps weight_decay maximize capturable")
        check_rate(lr)
        if not 0.0 <= rho <= 1.0:
            raise ValueError(f"Invalid rho value: {rho}")
        check_numbers(epsilon=eps, weight_decay=weight_decay)
        super().__init__(params, defaults)

    def _arrays(self, options: dict[str, Any]) -> tuple[str, ...]:
        return "square_avg", "acc_delta"

    def _coefficients(self, options: dict[str, Any], first: bool, step: Any) -> Any:
        rho = options["rho"]
        _, added = decays(options)
        return (number(step) + 1,), (-options["lr"], rho, 1 - rho, options["eps"], added)

    @staticmethod
    def _rule(U: Any, options: Any, c: Any, p: Any, g: Any, square: Any, moved: Any) -> Any:
        rate, rho, fresh, eps, added = c
        g = directed(U, options, p, g, added)
        square = U.addcmul_(U.mul_(square, rho), g, g, fresh)
        ratio = U.div_(U.sqrt(U.add(moved, eps)), U.sqrt(U.add(square, eps)))
        move = U.mul_(ratio, g)
        moved = U.addcmul_(U.mul_(moved, rho), move, move, fresh)
        return U.add_(p, move, rate), square, moved


adadelta = as_function("adadelta", Adadelta, "square_avgs acc_deltas state_steps")
