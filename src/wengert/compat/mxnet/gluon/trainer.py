"""Layer 9 · compat: ``gluon.Trainer``."""

from __future__ import annotations

from typing import Any

from wengert.compat.kit.namespaces import defined
from wengert.compat.mxnet import optimizer as optimizers
from wengert.compat.mxnet.base import refusal, shown
from wengert.compat.mxnet.gluon.parameter import DeferredInitializationError, Parameter


class Trainer:
    """Updates parameters by their gradients.

    Parameters
    ----------
    params : ParameterDict, dict or list of Parameter
    optimizer : str or Optimizer. ``"sgd"``, ``"adam"``, ... (see `wengert.compat.mxnet.optimizer`).
    optimizer_params : dict, optional. The arguments of the optimizer, such as
        ``{"learning_rate": 0.1}``.

    Raises
    ------
    ValueError: If an element of `params` is not a parameter.
    """

    def __init__(
        self,
        params,
        optimizer,
        optimizer_params: dict[str, Any] | None = None,
        kvstore="device",
        **distribution,
    ) -> None:
        named = hasattr(params, "keys")  # whose order some optimizers depend on
        values = [params[key] for key in sorted(params.keys())] if named else list(params)
        for value in values:
            if not isinstance(value, Parameter):
                raise refusal(ValueError, "First argument must", shown(value))
        self._params = values
        given = dict(optimizer_params or {})
        self._optimizer = optimizers.create(optimizer, **given)
        self._scale = self._optimizer.rescale_grad
        self._states: dict[int, Any] = {}

    @property
    def learning_rate(self) -> float:
        """The learning rate of the next step."""
        return self._optimizer.learning_rate

    @property
    def optimizer(self) -> Any:
        """The optimizer."""
        return self._optimizer

    def set_learning_rate(self, lr: float) -> None:
        """Change the learning rate."""
        self._optimizer.set_learning_rate(lr)

    def allreduce_grads(self) -> None:
        """Do nothing: there is one device."""

    def step(self, batch_size: float, ignore_stale_grad=False) -> None:
        """Update all parameters by their gradients, divided by `batch_size`.

        Raises
        ------
        UserWarning: If a gradient has not been computed since the last step, unless
            `ignore_stale_grad` is true; nothing is updated.
        """
        self.update(batch_size, ignore_stale_grad)

    def update(self, batch_size: float, ignore_stale_grad=False) -> None:
        """Apply an optimizer step to each parameter."""
        trained = [(i, p) for i, p in enumerate(self._params) if p.grad_req != "null"]
        ready = []
        for i, param in trained:
            try:
                data = param.data()
            except DeferredInitializationError:
                if ignore_stale_grad:
                    continue
                raise
            if data._fresh_grad:
                ready.append((i, param, data))
            elif not ignore_stale_grad:
                raise refusal(UserWarning, "Gradient of Parameter", param.name, data.ctx)
        rule = self._optimizer
        rule.rescale_grad = self._scale / batch_size
        for i, param, data in ready:
            if i not in self._states:
                self._states[i] = rule.create_state(i, data)
            state = self._states[i]
            rule.update(i, data, data.grad, state, param.lr_mult, param.wd_mult)
            data._fresh_grad = False


__all__ = defined(globals())
