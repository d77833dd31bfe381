"""Layer 9 · optim: `Rprop`, steps that depend only on the sign of the gradient."""

from __future__ import annotations

from typing import Any

from wengert.optim.elementwise import Elementwise, as_function
from wengert.optim.optimizer import ParamsT, arguments, check_rate
from wengert.optim.parameters import number
from wengert.types import Tensor

__all__ = ["Rprop"]


class Rprop(Elementwise):
    """Resilient backpropagation (Riedmiller and Braun 1993).

    Each element has a step size, which grows while the gradient keeps its sign, and shrinks when
    the sign changes; the element then skips one step.

    Parameters
    ----------
    params : iterable. Tensors, named tensors, or groups (see `Optimizer`).
    lr : float or Tensor. The first step size.
    etas : tuple of float. The factors by which step sizes shrink and grow.
    step_sizes : tuple of float. The smallest and the largest step size.
    maximize : bool. Maximise rather than minimise.
    differentiable : bool. Record the steps, so that gradients flow through them.
    capturable, foreach : bool, optional. Accepted for compatibility with PyTorch; have no effect.

    Raises
    ------
    ValueError: If `lr` is negative, or `etas` do not lie on both sides of 1.

    Examples
    --------
    >>> x = wg.tensor([1.0, 2.0], requires_grad=True)
    >>> optimizer = wg.optim.Rprop([x], lr=0.1)
    >>> for _ in range(2):
    %(steps_in_a_loop)s
    >>> x
    tensor([0.7800, 1.7800], requires_grad=True)
    """

    def __init__(
        self,
        params: ParamsT,
        lr: float | Tensor = 1e-2,
        etas: tuple[float, float] = (0.5, 1.2),
        step_sizes: tuple[float, float] = (1e-6, 50),
        *,
        capturable: bool = False,
        foreach: bool | None = None,
        maximize: bool = False,
        differentiable: bool = False,
    ) -> None:
        defaults = arguments(locals(), "lr etas step_sizes foreach maximize differentiable")
        check_rate(lr)
        if not 0.0 < etas[0] < 1.0 < etas[1]:
            raise ValueError(f"Invalid eta values: {etas[0]}, {etas[1]}")
        super().__init__(params, defaults)

    def _arrays(self, options: dict[str, Any]) -> tuple[str, ...]:
        return "prev", "step_size"

    def _initial_array(self, name: str, options: dict[str, Any]) -> complex:
        if name == "prev":
            return 0.0
        lr = float(options["lr"])
        return complex(lr, lr)

    def _coefficients(self, options: dict[str, Any], first: bool, step: Any) -> Any:
        return (number(step) + 1,), (*options["etas"], *options["step_sizes"], 0.0, -1.0)

    @staticmethod
    def _rule(U: Any, options: Any, c: Any, p: Any, g: Any, prev: Any, size: Any) -> Any:
        shrink, grow, smallest, largest, zero, minus = c
        if options["maximize"]:
            g = U.neg(g)
        same = U.mul(g, prev)
        turned = U.less(same, zero)
        g = U.where(turned, zero, g)
        # products, not factors: numbers alone would be chosen in the default dtype
        new = U.where(turned, U.mul(size, shrink), size)
        new = U.where(U.less(zero, same), U.mul(size, grow), new)
        size = U.copy_(size, U.clip_(new, smallest, largest))
        p = U.addcmul_(p, U.sign(g), size, minus)
        return p, U.copy_(prev, g), size


rprop = as_function("rprop", Rprop, "prevs step_sizes state_steps")
