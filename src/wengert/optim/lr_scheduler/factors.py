"""Layer 9 · optim: schedules with factors given by a function."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from wengert.optim.lr_scheduler.base import LRScheduler, loaded_functions, saved_functions
from wengert.optim.optimizer import Optimizer


class _ByFunction(LRScheduler):
    """A schedule with one function, or one function per group."""

    lr_lambdas: list[Any]

    def __init__(self, optimizer: Optimizer, lr_lambda: Any, last_epoch: int = -1) -> None:
        self.optimizer = optimizer
        count = len(optimizer.param_groups)
        if not isinstance(lr_lambda, list | tuple):
            lr_lambda = [lr_lambda] * count
        elif len(lr_lambda) != count:
            raise ValueError(f"Expected {count} lr_lambdas, but got {len(lr_lambda)}")
        for function in lr_lambda:
            if not callable(function):
                raise TypeError(
                    f"lr_lambda should be a function, but got {type(function).__name__}"
                )
        self.lr_lambdas = list(lr_lambda)
        super().__init__(optimizer, last_epoch)

    def state_dict(self) -> dict[str, Any]:
        """Return the state; of functions, only the attributes of callable objects."""
        state = super().state_dict()
        state["lr_lambdas"] = saved_functions(self.lr_lambdas)
        return state

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        others = {name: value for name, value in state_dict.items() if name != "lr_lambdas"}
        loaded_functions(self.lr_lambdas, state_dict["lr_lambdas"])
        self.__dict__.update(others)


class LambdaLR(_ByFunction):
    """Set the learning rate to the initial one times a function of the number of steps.

    Parameters
    ----------
    %(optimizer, rate_lambda)s

    Examples
    --------
    >>> schedule = wg.optim.lr_scheduler.LambdaLR(optimizer, lambda epoch: 1 / (1 + epoch))
    %(a_scheduled_step)s
    [0.5]
    """

    def __init__(
        self,
        optimizer: Optimizer,
        lr_lambda: Callable[[int], float] | list[Callable[[int], float]],
        last_epoch: int = -1,
    ) -> None:
        super().__init__(optimizer, lr_lambda, last_epoch)

    def get_lr(self) -> list[Any]:
        self._warn_outside_step()
        return [
            rate * function(self.last_epoch)
            for function, rate in zip(self.lr_lambdas, self.base_lrs, strict=True)
        ]


class MultiplicativeLR(_ByFunction):
    """Multiply the learning rate by a function of the number of steps.

    Parameters
    ----------
    %(optimizer, rate_lambda)s

    Examples
    --------
    >>> schedule = wg.optim.lr_scheduler.MultiplicativeLR(optimizer, lambda epoch: 0.5)
    %(a_scheduled_step)s
    [0.5]
    """

    def __init__(
        self,
        optimizer: Optimizer,
        lr_lambda: Callable[[int], float] | list[Callable[[int], float]],
        last_epoch: int = -1,
    ) -> None:
        super().__init__(optimizer, lr_lambda, last_epoch)

    def get_lr(self) -> list[Any]:
        self._warn_outside_step()
        if self._is_initial:
            return self._rates()
        return [
            group["lr"] * function(self.last_epoch)
            for function, group in zip(self.lr_lambdas, self.optimizer.param_groups, strict=True)
        ]
