"""Layer 9 · optim: `Adam` and `AdamW`, steps scaled by the size of recent gradients."""

from __future__ import annotations

from typing import Any

from wengert.optim.elementwise import Elementwise, as_function, decays, directed
from wengert.optim.optimizer import ParamsT, arguments, check_adam, check_fused
from wengert.optim.parameters import number
from wengert.tape.base import TensorBase
from wengert.types import Tensor

__all__ = ["Adam"]


class Adam(Elementwise):
    """Adam (Kingma and Ba 2014): running means of the gradient and of its square.

    ``m = beta1 * m + (1 - beta1) * g``, ``v = beta2 * v + (1 - beta2) * g**2``, both corrected for
    their bias towards the initial zeros, and ``p -= lr * m / (sqrt(v) + eps)``.

    Parameters
    ----------
    %(params, lr)s
    betas : tuple of float, or of Tensor. The decay rates of the means.
    %(eps, weight_decay)s
    amsgrad : bool. Divide by the largest mean of squares so far (Reddi and others 2018).
    %(maximize)s
    differentiable : bool. Record the steps, so that gradients flow through them; the parameters
        must not be leaves that require a gradient.
    %(decoupled)s
    foreach, capturable, fused : bool, optional. Accepted for compatibility with PyTorch; have no
        effect, since a group is always updated at once and any step can be compiled.

    %(raises_rates)s

    Examples
    --------
    >>> x = wg.tensor([1.0, 2.0], requires_grad=True)
    >>> optimizer = wg.optim.Adam([x], lr=0.1)
    %(a_step_down)s
    tensor([0.9000, 1.9000], requires_grad=True)
    """

    def __init__(
        self,
        params: ParamsT,
        lr: float | Tensor = 1e-3,
        betas: tuple[float | Tensor, float | Tensor] = (0.9, 0.999),
        eps: float = 1e-8,
        weight_decay: float = 0,
        amsgrad: bool = False,
        *,
        foreach: bool | None = None,
        maximize: bool = False,
        capturable: bool = False,
        differentiable: bool = False,
        fused: bool | None = None,
        decoupled_weight_decay: bool = False,
    ) -> None:
        defaults = arguments(locals(), "lr betas eps weight_decay amsgrad maximize")
        if isinstance(lr, TensorBase) and foreach and not capturable:
            raise ValueError(
                "lr as a Tensor is not supported for capturable=False and foreach=True"
            )
        tensors = [isinstance(beta, TensorBase) for beta in betas]
        if tensors[0] != tensors[1] or not all(
            isinstance(beta, float | TensorBase) for beta in betas
        ):
            raise ValueError("betas must be either both floats or both Tensors")
        given: Any = betas
        for i, beta in enumerate(given):
            if tensors[i] and foreach and not capturable:
                raise ValueError(
                    f"betas[{i}] as a Tensor is not supported for capturable=False and foreach=True"
                )
            if tensors[i] and beta._payload.size != 1:
                raise ValueError(f"Tensor betas[{i}] must be 1-element")
        check_adam(lr, betas, eps, weight_decay)
        check_fused(fused, foreach, differentiable)
        if tensors[0]:
            defaults["betas"] = (given[0].reshape(()), given[1].reshape(()))
        super().__init__(params, defaults)

    def _refusal(self) -> str:
        return "Adam does not support sparse gradients, please consider SparseAdam instead"

    def _arrays(self, options: dict[str, Any]) -> tuple[str, ...]:
        names = ("exp_avg", "exp_avg_sq")
        return (*names, "max_exp_avg_sq") if options["amsgrad"] else names

    def _coefficients(self, options: dict[str, Any], first: bool, step: Any) -> Any:
        step = number(step) + 1
        lr, (beta1, beta2) = options["lr"], options["betas"]
        shrink, added = decays(options)
        # moving the correction of the squares out of the denominator saves a pass
        root = (1 - beta2**step) ** 0.5
        rate = -lr / (1 - beta1**step) * root
        eps = options["eps"] * root
        return (step,), (rate, beta1, 1 - beta1, beta2, 1 - beta2, eps, shrink, added)

    @staticmethod
    def _rule(
        U: Any, options: Any, c: Any, p: Any, g: Any, mean: Any, square: Any, largest: Any = None
    ) -> Any:
        rate, beta1, fresh1, beta2, fresh2, eps, shrink, added = c
        if shrink is not None:
            p = U.mul_(p, shrink)
        g = directed(U, options, p, g, added)
        mean = U.add_(U.mul_(mean, beta1), g, fresh1)
        square = U.addcmul_(U.mul_(square, beta2), g, g, fresh2)
        if largest is None:
            scale = U.add_(U.sqrt(square), eps)
            return U.addcdiv_(p, mean, scale, rate), mean, square
        largest = U.maximum_(largest, square)
        scale = U.add_(U.sqrt(largest), eps)
        return U.addcdiv_(p, mean, scale, rate), mean, square, largest


class AdamW(Adam):
    """Adam with decoupled weight decay (Loshchilov and Hutter 2017).

    Each step begins with ``p *= 1 - lr * weight_decay``.

    Parameters
    ----------
    %(params)s
    lr, betas, eps, amsgrad, maximize, foreach, capturable, differentiable, fused: As for `Adam`.
    %(shrinking, raises_rates)s

    Examples
    --------
    >>> x = wg.tensor([1.0, 2.0], requires_grad=True)
    >>> optimizer = wg.optim.AdamW([x], lr=0.1, weight_decay=0.5)
    %(a_step_down)s
    tensor([0.8500, 1.8000], requires_grad=True)
    """

    def __init__(
        self,
        params: ParamsT,
        lr: float | Tensor = 1e-3,
        betas: tuple[float | Tensor, float | Tensor] = (0.9, 0.999),
        eps: float = 1e-8,
        weight_decay: float = 1e-2,
        amsgrad: bool = False,
        *,
        maximize: bool = False,
        foreach: bool | None = None,
        capturable: bool = False,
        differentiable: bool = False,
        fused: bool | None = None,
    ) -> None:
        super().__init__(params, **arguments(locals()), decoupled_weight_decay=True)

    def __setstate__(self, state: dict[str, Any]) -> None:
        super().__setstate__(state)
        for group in self.param_groups:
            # the state may have been saved by `Adam`
            group["decoupled_weight_decay"] = True


adam = as_function("adam", Adam, "exp_avgs exp_avg_sqs max_exp_avg_sqs state_steps")
adamw = as_function(
    "adamw", AdamW, "exp_avgs exp_avg_sqs max_exp_avg_sqs state_steps", decoupled_weight_decay=True
)
