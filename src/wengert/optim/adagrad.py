"""Layer 9 · optim: `Adagrad`, steps divided by the root of the sum of all squares."""

from __future__ import annotations

from typing import Any

from wengert.optim.elementwise import Elementwise, as_function, decays, directed
from wengert.optim.optimizer import ParamsT, arguments, check_fused, check_numbers, check_rate
from wengert.optim.parameters import number, options_of
from wengert.types import Tensor

__all__ = ["Adagrad"]


class Adagrad(Elementwise):
    """Adagrad (Duchi, Hazan and Singer 2011).

    ``s += g**2``, ``p -= lr / (1 + (t - 1) * lr_decay) * g / (sqrt(s) + eps)``.

    Parameters
    ----------
    %(params, lr)s
    lr_decay : float. The decay of the learning rate.
    %(weight_decay)s
    initial_accumulator_value : float. The initial value of the sum.
    %(eps, maximize, differentiable)s
    foreach, fused : bool, optional. Accepted for compatibility with PyTorch; have no effect.

    Raises
    ------
    ValueError: If a number is negative.

    Examples
    --------
    >>> x = wg.tensor([1.0, 2.0], requires_grad=True)
    >>> optimizer = wg.optim.Adagrad([x], lr=0.5)
    %(a_step_down)s
    tensor([0.5000, 1.5000], requires_grad=True)
    """

    def __init__(
        self,
        params: ParamsT,
        lr: float | Tensor = 1e-2,
        lr_decay: float = 0,
        weight_decay: float = 0,
        initial_accumulator_value: float = 0,
        eps: float = 1e-10,
        foreach: bool | None = None,
        *,
        maximize: bool = False,
        differentiable: bool = False,
        fused: bool | None = None,
    ) -> None:
        defaults = arguments(locals(), "lr lr_decay eps weight_decay")
        check_rate(lr)
        check_numbers(
            lr_decay=lr_decay,
            weight_decay=weight_decay,
            initial_accumulator_value=initial_accumulator_value,
            epsilon=eps,
        )
        check_fused(fused, foreach, differentiable)
        super().__init__(params, defaults)
        for group in self.param_groups:
            for param in group["params"]:
                self._make_state(group, param, self._arrays(group))

    def _arrays(self, options: dict[str, Any]) -> tuple[str, ...]:
        return ("sum",)

    def _initial_array(self, name: str, options: dict[str, Any]) -> complex:
        value = options["initial_accumulator_value"]
        return complex(value, value)

    def _coefficients(self, options: dict[str, Any], first: bool, step: Any) -> Any:
        before = number(step)
        rate = -options["lr"] / (1 + before * options["lr_decay"])
        _, added = decays(options)
        return (before + 1,), (rate, options["eps"], added)

    def _on_sparse(self, options: dict[str, Any], param: Any, grad: Any) -> None:
        if options["weight_decay"] != 0:
            raise RuntimeError("weight_decay option is not compatible with sparse gradients")
        state, options = self.state[param], options_of(options, True)
        (step,), (rate, eps, _) = self._coefficients(options, False, state["step"].item())
        state["step"].fill_(step)
        grad = (-grad if options["maximize"] else grad).coalesce()
        places, values = tuple(grad.indices()), grad.values()
        state["sum"].index_put_(places, values * values, accumulate=True)
        move = values / (state["sum"][places].sqrt() + eps)
        param.index_put_(places, move * rate, accumulate=True)

    @staticmethod
    def _rule(U: Any, options: Any, c: Any, p: Any, g: Any, total: Any) -> Any:
        rate, eps, added = c
        g = directed(U, options, p, g, added)
        total = U.addcmul_(total, g, g)
        return U.addcdiv_(p, g, U.add_(U.sqrt(total), eps), rate), total


adagrad = as_function("adagrad", Adagrad, "state_sums state_steps")
