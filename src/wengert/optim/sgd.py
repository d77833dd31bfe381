"""Layer 9 · optim: `SGD`, steps along the gradient, with momentum."""

from __future__ import annotations

from typing import Any

from wengert.optim.elementwise import Elementwise, as_function, decays, directed
from wengert.optim.optimizer import ParamsT, arguments, check_fused, check_numbers, check_rate
from wengert.optim.parameters import options_of
from wengert.types import Tensor

__all__ = ["SGD"]


class SGD(Elementwise):
    """Stochastic gradient descent, optionally with momentum or Nesterov's momentum.

    ``b = momentum * b + (1 - dampening) * g``, initialised with the first gradient, and
    ``p -= lr * b``; with `nesterov` the step is along ``g + momentum * b``.

    Parameters
    ----------
    params : iterable. Tensors, named tensors, or groups (see `Optimizer`).
    lr : float or Tensor. The learning rate.
    momentum, dampening : float. The fraction of `b` that is kept, and of the gradient left out.
    weight_decay : float. Adds ``weight_decay * p`` to the gradient.
    nesterov : bool. Whether to use Nesterov's momentum.
    maximize : bool. Maximise rather than minimise.
    differentiable : bool. Record the steps, so that gradients flow through them; the parameters
        must not be leaves that require a gradient.
    foreach, fused : bool, optional. Accepted for compatibility with PyTorch; have no effect, since
        a group is always updated at once.

    Raises
    ------
    ValueError: If a number is negative, or `nesterov` is used without momentum or with dampening.

    Examples
    --------
    >>> x = wg.tensor([1.0, 2.0], requires_grad=True)
    >>> optimizer = wg.optim.SGD([x], lr=0.1, momentum=0.9)
    >>> for _ in range(2):
    %(steps_in_a_loop)s
    >>> x
    tensor([0.4600, 0.9200], requires_grad=True)
    """

    _numbers = ()

    def __init__(
        self,
        params: ParamsT,
        lr: float | Tensor = 1e-3,
        momentum: float = 0,
        dampening: float = 0,
        weight_decay: float | Tensor = 0,
        nesterov: bool = False,
        *,
        maximize: bool = False,
        foreach: bool | None = None,
        differentiable: bool = False,
        fused: bool | None = None,
    ) -> None:
        defaults = arguments(locals())
        check_rate(lr)
        check_numbers(momentum=momentum, weight_decay=weight_decay)
        if nesterov and (momentum <= 0 or dampening != 0):
            raise ValueError("Nesterov momentum requires a momentum and zero dampening")
        check_fused(fused, foreach, differentiable)
        super().__init__(params, defaults)

    def _arrays(self, options: dict[str, Any]) -> tuple[str, ...]:
        return ("momentum_buffer",) if options["momentum"] != 0 else ()

    def _coefficients(self, options: dict[str, Any], first: bool) -> Any:
        momentum = options["momentum"] if options["momentum"] != 0 else None
        fresh = None if first or options["dampening"] == 0 else 1 - options["dampening"]
        _, added = decays(options)
        return (), (-options["lr"], momentum, fresh, added)

    def _on_sparse(self, options: dict[str, Any], param: Any, grad: Any) -> None:
        if options["weight_decay"] != 0:
            grad = grad.add(param, alpha=options["weight_decay"])
        grad = -grad if options["maximize"] else grad
        momentum = options["momentum"]
        if momentum != 0:
            state = self.state[param]
            buffer = state.get("momentum_buffer")
            if buffer is None:
                buffer = state["momentum_buffer"] = grad.detach().clone()
            else:
                buffer.mul_(momentum).add_(grad, alpha=1 - options["dampening"])
            grad = grad.add(buffer, alpha=momentum) if options["nesterov"] else buffer
        grad.write_to(param, "add", -options_of(options, True)["lr"])

    @staticmethod
    def _rule(U: Any, options: Any, c: Any, p: Any, g: Any, buffer: Any = None) -> Any:
        rate, momentum, fresh, added = c
        g = directed(U, options, p, g, added)
        if momentum is None:
            return (U.add_(p, g, rate),)
        buffer = U.add_(U.mul_(buffer, momentum), g, fresh)
        move = U.add_(U.mul(buffer, momentum), g) if options["nesterov"] else buffer
        return U.add_(p, move, rate), buffer


sgd = as_function("sgd", SGD, "momentum_buffer_list")
