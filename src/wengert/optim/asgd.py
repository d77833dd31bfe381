"""Layer 9 · optim: `ASGD`, stochastic gradient descent with averaging."""

from __future__ import annotations

from typing import Any

from wengert.optim.elementwise import Elementwise, as_function, decays, directed
from wengert.optim.optimizer import ParamsT, arguments, check_numbers, check_rate
from wengert.optim.parameters import as_kept, number
from wengert.types import Tensor

__all__ = ["ASGD"]


class ASGD(Elementwise):
    """Averaged stochastic gradient descent (Polyak and Juditsky 1992).

    The mean of the parameters from step `t0` on is kept under ``state[p]["ax"]``.

    Parameters
    ----------
    %(params)s
    lr : float or Tensor. The learning rate; step ``t`` has ``lr / (1 + lambd * lr * t)**alpha``.
    lambd : float. The shrinkage of the parameters in each step, relative to the learning rate.
    alpha : float. The exponent of the decay of the learning rate.
    t0 : float. The step at which averaging starts.
    %(weight_decay, maximize, differentiable, unused_foreach)s

    Raises
    ------
    ValueError: If `lr` or `weight_decay` is negative.

    Examples
    --------
    >>> x = wg.tensor([1.0, 2.0], requires_grad=True)
    >>> optimizer = wg.optim.ASGD([x], lr=0.25)
    >>> (x**2).sum().backward()
    >>> optimizer.step()
    >>> optimizer.state[x]["ax"]
    tensor([0.5000, 1.0000])
    """

    _numbers = ("step", "eta", "mu")

    def __init__(
        self,
        params: ParamsT,
        lr: float | Tensor = 1e-2,
        lambd: float = 1e-4,
        alpha: float = 0.75,
        t0: float = 1e6,
        weight_decay: float = 0,
        foreach: bool | None = None,
        maximize: bool = False,
        differentiable: bool = False,
        capturable: bool = False,
    ) -> None:
        defaults = arguments(locals())
        check_rate(lr)
        check_numbers(weight_decay=weight_decay)
        super().__init__(params, defaults)

    def _arrays(self, options: dict[str, Any]) -> tuple[str, ...]:
        return ("ax",)

    def _initial_number(self, name: str, options: dict[str, Any]) -> float:
        return {"step": 0.0, "eta": float(options["lr"]), "mu": 1.0}[name]

    def _coefficients(
        self, options: dict[str, Any], first: bool, step: Any, eta: Any, mu: Any
    ) -> Any:
        step, eta, mu = number(step) + 1, number(eta), number(mu)
        lr, lambd = options["lr"], options["lambd"]
        _, added = decays(options)
        late = step - options["t0"]
        new_eta = as_kept(lr / (1 + lambd * lr * step) ** options["alpha"])
        new_mu = as_kept(1 / late if late > 1 else 1.0)
        weight = mu if mu != 1 else None
        return (step, new_eta, new_mu), (1 - lambd * eta, -eta, weight, added)

    @staticmethod
    def _rule(U: Any, options: Any, c: Any, p: Any, g: Any, mean: Any) -> Any:
        shrink, rate, weight, added = c
        g = directed(U, options, p, g, added)
        p = U.add_(U.mul_(p, shrink), g, rate)
        if weight is None:
            return p, U.copy_(mean, p)
        return p, U.add_(mean, U.sub(p, mean), weight)


asgd = as_function("asgd", ASGD, "axs mus etas state_steps")
