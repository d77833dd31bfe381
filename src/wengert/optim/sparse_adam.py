"""Layer 9 · optim: `SparseAdam`, Adam that updates only elements with a gradient."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from wengert.optim.optimizer import Optimizer, ParamsT, check_betas
from wengert.optim.parameters import filled, making_state, options_of, with_gradients, with_sparse
from wengert.tape.base import TensorBase
from wengert.tape.modes import no_grad
from wengert.types import Tensor

__all__ = ["SparseAdam"]


class SparseAdam(Optimizer):
    """Adam for sparse gradients, which updates only elements stored in them, and their means.

    ``nn.Embedding(sparse=True)`` has sparse gradients.

    Parameters
    ----------
    %(params, lr)s
    betas : tuple of float. The decay rates of the means.
    %(eps, maximize)s

    Raises
    ------
    ValueError: If a number is out of range, or a parameter is complex.

    Examples
    --------
    >>> table = wg.nn.Embedding.from_pretrained(wg.ones(3, 2), freeze=False, sparse=True)
    >>> optimizer = wg.optim.SparseAdam(table.parameters(), lr=0.1)
    >>> table(wg.tensor([0, 2])).sum().backward()
    >>> optimizer.step()
    >>> table.weight.detach()
    tensor([[0.9000, 0.9000],
            [1.0000, 1.0000],
            [0.9000, 0.9000]])
    """

    def __init__(
        self,
        params: ParamsT,
        lr: float | Tensor = 1e-3,
        betas: tuple[float, float] = (0.9, 0.999),
        eps: float = 1e-8,
        maximize: bool = False,
    ) -> None:
        if isinstance(lr, TensorBase) and lr._payload.size != 1:
            raise ValueError("Tensor lr must be 1-element")
        if not lr > 0.0:
            raise ValueError(f"Invalid learning rate: {lr}")
        if not eps > 0.0:
            raise ValueError(f"Invalid epsilon value: {eps}")
        check_betas(betas)
        super().__init__(params, {"lr": lr, "betas": betas, "eps": eps, "maximize": maximize})
        found = [
            [i, j]
            for i, group in enumerate(self.param_groups)
            for j, param in enumerate(group["params"])
            if param.is_complex()
        ]
        if found:
            raise ValueError(
                f"Complex params at indices {found}: SparseAdam does not support complex parameters"
            )

    def step(self, closure: Callable[[], Any] | None = None) -> Any:
        """Update the parameters once, from their gradients.

        Parameters
        ----------
        %(closure, returns_closure)s

        Raises
        ------
        RuntimeError: If a gradient is dense; then nothing has changed.
        """
        loss = self._loss(closure)
        for group in self.param_groups:
            if with_gradients(group["params"]):
                raise RuntimeError(
                    "SparseAdam does not support dense gradients, please consider Adam instead"
                )
        with no_grad():
            for group in self.param_groups:
                options = options_of(group, True)
                for param in with_sparse(group["params"]):
                    self._move(options, param, param._ext.grad)
        return loss

    def _move(self, options: dict[str, Any], param: Any, grad: Any) -> None:
        state = self.state[param]
        if not state:
            making_state()
            state.update(step=0, exp_avg=filled(param, 0), exp_avg_sq=filled(param, 0))
        state["step"] += 1
        (beta1, beta2), step = options["betas"], state["step"]
        grad = (-grad if options["maximize"] else grad).coalesce()
        places, values = tuple(grad.indices()), grad.values()
        if not values.numel():
            return
        means = []
        for name, new, beta in (
            ("exp_avg", values, beta1),
            ("exp_avg_sq", values * values, beta2),
        ):
            old = state[name][places]
            change = (new - old) * (1 - beta)
            state[name].index_put_(places, change, accumulate=True)
            means.append(change + old)
        size = options["lr"] * math.sqrt(1 - beta2**step) / (1 - beta1**step)
        move = means[0] / (means[1].sqrt() + options["eps"])
        param.index_put_(places, move * -size, accumulate=True)
