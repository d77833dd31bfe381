"""Layer 9 · optim: `Adafactor`, with a factored mean of squares."""

from __future__ import annotations

from typing import Any

from wengert.base.dtypes import finfo
from wengert.optim.optimizer import ParamsT, arguments, check_rate
from wengert.optim.parameters import kept_number, making_state, number
from wengert.optim.whole import Whole
from wengert.tape.base import TensorBase
from wengert.types import Tensor


class Adafactor(Whole):
    """Adafactor (Shazeer and Stern 2018), as in PyTorch.

    For a matrix, only the row and column means of the squared gradient are kept; steps are relative
    to the size of the parameter.

    Parameters
    ----------
    %(params)s
    lr : float or Tensor. The largest relative step; at step ``t``, ``1 / sqrt(t)`` if that is
        smaller.
    beta2_decay : float. The weight of the new squares at step ``t`` is ``t**beta2_decay``.
    eps : tuple of (float or None, float). The first keeps denominators from zero (None: the
        dtype's precision), the second keeps steps of small parameters from zero.
    d : float. The root mean square that steps are clipped to.
    %(shrinking, maximize)s
    foreach : bool, optional. Accepted for compatibility with PyTorch; has no effect.

    Raises
    ------
    ValueError: If a number is out of its range.

    Examples
    --------
    >>> x = wg.ones((2, 2), requires_grad=True)
    >>> optimizer = wg.optim.Adafactor([x], lr=0.1)
    %(a_step_down)s
    tensor([[0.9000, 0.9000],
            [0.9000, 0.9000]], requires_grad=True)
    """

    def __init__(
        self,
        params: ParamsT,
        lr: float | Tensor = 1e-2,
        beta2_decay: float = -0.8,
        eps: tuple[float | None, float] = (None, 1e-3),
        d: float = 1.0,
        weight_decay: float = 0.0,
        *,
        foreach: bool | None = None,
        maximize: bool = False,
    ) -> None:
        defaults = arguments(locals())
        check_rate(lr, "Learning rate should be >= 0 but is: {}")
        if not beta2_decay <= 0.0:
            raise ValueError(f"beta2_decay should be <= 0 but is: {beta2_decay}")
        for i, value in enumerate(eps):
            if value is not None and not value >= 0.0:
                raise ValueError(f"epsilon{i + 1} should be >= 0 but is: {value}")
        if not d >= 1.0:
            raise ValueError(f"Clipping threshold d should be >= 1 but is: {d}")
        if not weight_decay >= 0.0:
            raise ValueError(f"weight_decay should be >= 0 but is: {weight_decay}")
        super().__init__(params, defaults)

    def __setstate__(self, state: dict[str, Any]) -> None:
        super().__setstate__(state)
        for kept in self.state.values():
            if "step" in kept and not isinstance(kept["step"], TensorBase):
                kept["step"] = kept_number(kept["step"])

    def _kept(self, param: Any) -> dict[str, Any]:
        state: dict[str, Any] = self.state[param]
        if not state:
            making_state()
            x = param._payload
            state["step"] = kept_number(0.0)
            if x.ndim > 1:
                *batch, rows, columns = x.shape
                state["row_var"] = param.new_zeros((*batch, rows, 1))
                state["col_var"] = param.new_zeros((*batch, 1, columns))
            else:
                state["variance"] = param.new_zeros(x.shape)
        return state

    def _writes(self, options: dict[str, Any], param: Any) -> list[tuple[Any, Any]]:
        state = self._kept(param)
        grad = -param.grad if options["maximize"] else param.grad
        eps1, eps2 = options["eps"]
        eps1 = finfo(param.dtype).eps if eps1 is None else eps1
        lr = options["lr"]
        step = number(state["step"]) + 1
        fresh = step ** options["beta2_decay"]
        rate = (1 / step**0.5).clamp(max=lr)
        writes = [(state["step"], step)]
        size = max(param.numel(), 1) ** 0.5
        alpha = (param.norm(2) / size).clamp(min=eps2) * rate
        if "variance" in state:
            mean = state["variance"].lerp(grad * grad, fresh.to(grad))
            writes.append((state["variance"], mean))
            estimate = mean
        else:
            means = []
            for name, dim in (("row_var", -1), ("col_var", -2)):
                square = grad.norm(dim=dim, keepdim=True).square() / max(grad.shape[dim], 1)
                means.append(state[name].lerp(square, fresh.to(grad)))
                writes.append((state[name], means[-1]))
            rows, columns = means
            estimate = rows @ columns / rows.mean(dim=-2, keepdim=True).clamp(min=eps1)
        update = estimate.clamp(min=eps1 * eps1).rsqrt() * grad
        clipped = (update.norm(2) / (size * options["d"])).clamp(min=1.0)
        before = param * (1 - lr * options["weight_decay"]) if options["weight_decay"] else param
        writes.append((param, before - alpha / clipped * update))
        return writes
