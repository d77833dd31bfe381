"""Layer 9 · optim: monotonic schedules: stepwise, exponential, linear and polynomial."""

from __future__ import annotations

from bisect import bisect_right
from collections import Counter
from collections.abc import Iterable
from typing import Any

from wengert.optim.lr_scheduler.base import LRScheduler
from wengert.optim.optimizer import Optimizer


class StepLR(LRScheduler):
    """Multiply the learning rate by `gamma` every `step_size` steps.

    Parameters
    ----------
    %(optimizer)s
    step_size : int. The number of steps between changes.
    %(gamma)s

    Examples
    --------
    >>> schedule = wg.optim.lr_scheduler.StepLR(optimizer, step_size=2, gamma=0.5)
    >>> for _ in range(4):
    %(scheduled_steps)s
    [0.25]
    """

    def __init__(
        self, optimizer: Optimizer, step_size: int, gamma: float = 0.1, last_epoch: int = -1
    ) -> None:
        self.step_size = step_size
        self.gamma = gamma
        super().__init__(optimizer, last_epoch)

    def get_lr(self) -> list[Any]:
        self._warn_outside_step()
        if self.last_epoch == 0 or self.last_epoch % self.step_size != 0:
            return self._rates()
        return self._scaled(self.gamma)

    def _get_closed_form_lr(self) -> list[Any]:
        factor = self.gamma ** (self.last_epoch // self.step_size)
        return [rate * factor for rate in self.base_lrs]


class MultiStepLR(LRScheduler):
    """Multiply the learning rate by `gamma` at each of the given steps.

    Parameters
    ----------
    %(optimizer)s
    milestones : iterable of int. The steps; one that is listed twice counts twice.
    %(gamma)s

    Examples
    --------
    >>> schedule = wg.optim.lr_scheduler.MultiStepLR(optimizer, [1, 3], gamma=0.5)
    >>> for _ in range(2):
    %(scheduled_steps)s
    [0.5]
    """

    def __init__(
        self,
        optimizer: Optimizer,
        milestones: Iterable[int],
        gamma: float = 0.1,
        last_epoch: int = -1,
    ) -> None:
        self.milestones = Counter(milestones)
        self.gamma = gamma
        super().__init__(optimizer, last_epoch)

    def get_lr(self) -> list[Any]:
        self._warn_outside_step()
        if self.last_epoch not in self.milestones:
            return self._rates()
        return self._scaled(self.gamma ** self.milestones[self.last_epoch])

    def _get_closed_form_lr(self) -> list[Any]:
        passed = bisect_right(sorted(self.milestones.elements()), self.last_epoch)
        return [rate * self.gamma**passed for rate in self.base_lrs]


class ConstantLR(LRScheduler):
    """Multiply the learning rate by `factor` for the first steps.

    Parameters
    ----------
    %(optimizer)s
    factor : float. Between 0 and 1.
    total_iters : int. The number of steps with the factor.

    Raises
    ------
    ValueError: If `factor` is not between 0 and 1.

    Examples
    --------
    >>> schedule = wg.optim.lr_scheduler.ConstantLR(optimizer, factor=0.5, total_iters=2)
    >>> for _ in range(2):
    ...     print(schedule.get_last_lr())
    ...     optimizer.step()
    ...     schedule.step()
    [0.5]
    [0.5]
    >>> schedule.get_last_lr()
    [1.0]
    """

    def __init__(
        self,
        optimizer: Optimizer,
        factor: float = 1.0 / 3,
        total_iters: int = 5,
        last_epoch: int = -1,
    ) -> None:
        if not 0 <= factor <= 1.0:
            raise ValueError(
                f"Constant multiplicative factor expected to be between 0 and 1, but got {factor}."
            )
        self.factor = factor
        self.total_iters = total_iters
        super().__init__(optimizer, last_epoch)

    def get_lr(self) -> list[Any]:
        self._warn_outside_step()
        if self.last_epoch == 0:
            return self._scaled(self.factor)
        if self.last_epoch != self.total_iters:
            return self._rates()
        return self._scaled(1.0 / self.factor)

    def _get_closed_form_lr(self) -> list[Any]:
        factor = 1.0 if self.last_epoch >= self.total_iters else self.factor
        return [rate * factor for rate in self.base_lrs]


class LinearLR(LRScheduler):
    """Multiply the learning rate by a factor that changes linearly from one number to another.

    Parameters
    ----------
    %(optimizer)s
    start_factor, end_factor : float. The factors at the start and from step `total_iters` on.
    total_iters : int. The number of steps over which the factor changes.

    Raises
    ------
    ValueError: If a factor is not between 0 and 1, or the first is 0.

    Examples
    --------
    >>> schedule = wg.optim.lr_scheduler.LinearLR(optimizer, start_factor=0.5, total_iters=2)
    %(a_scheduled_step)s
    [0.75]
    """

    def __init__(
        self,
        optimizer: Optimizer,
        start_factor: float = 1.0 / 3,
        end_factor: float = 1.0,
        total_iters: int = 5,
        last_epoch: int = -1,
    ) -> None:
        if not 0 < start_factor <= 1.0:
            raise ValueError(
                "Starting multiplicative factor expected to be greater than 0 and less or equal to "
                f"1, but got {start_factor}."
            )
        if not 0 <= end_factor <= 1.0:
            raise ValueError(
                "Ending multiplicative factor expected to be between 0 and 1, but got "
                f"{end_factor}."
            )
        self.start_factor = start_factor
        self.end_factor = end_factor
        self.total_iters = total_iters
        super().__init__(optimizer, last_epoch)

    def get_lr(self) -> list[Any]:
        self._warn_outside_step()
        if self.last_epoch == 0:
            return self._scaled(self.start_factor)
        if self._is_initial or self.last_epoch > self.total_iters:
            return self._rates()
        rise = self.end_factor - self.start_factor
        before = self.total_iters * self.start_factor + (self.last_epoch - 1) * rise
        return self._scaled(1.0 + rise / before)

    def _get_closed_form_lr(self) -> list[Any]:
        part = min(self.total_iters, self.last_epoch) / self.total_iters
        factor = self.start_factor + (self.end_factor - self.start_factor) * part
        return [rate * factor for rate in self.base_lrs]


class ExponentialLR(LRScheduler):
    """Multiply the learning rate by `gamma` in each step.

    Parameters
    ----------
    %(optimizer, gamma)s

    Examples
    --------
    >>> schedule = wg.optim.lr_scheduler.ExponentialLR(optimizer, gamma=0.5)
    >>> for _ in range(3):
    %(scheduled_steps)s
    [0.125]
    """

    def __init__(self, optimizer: Optimizer, gamma: float, last_epoch: int = -1) -> None:
        self.gamma = gamma
        super().__init__(optimizer, last_epoch)

    def get_lr(self) -> list[Any]:
        self._warn_outside_step()
        return self._rates() if self._is_initial else self._scaled(self.gamma)

    def _get_closed_form_lr(self) -> list[Any]:
        return [rate * self.gamma**self.last_epoch for rate in self.base_lrs]


class PolynomialLR(LRScheduler):
    """Decay the learning rate to zero along a polynomial.

    Parameters
    ----------
    %(optimizer)s
    total_iters : int. The number of steps to zero.
    power : float. The exponent of the polynomial.

    Examples
    --------
    >>> schedule = wg.optim.lr_scheduler.PolynomialLR(optimizer, total_iters=4, power=1.0)
    %(a_scheduled_step)s
    [0.75]
    """

    def __init__(
        self,
        optimizer: Optimizer,
        total_iters: int = 5,
        power: float = 1.0,
        last_epoch: int = -1,
    ) -> None:
        self.total_iters = total_iters
        self.power = power
        super().__init__(optimizer, last_epoch)

    def get_lr(self) -> list[Any]:
        self._warn_outside_step()
        if self._is_initial or self.last_epoch > self.total_iters:
            return self._rates()
        now = 1.0 - self.last_epoch / self.total_iters
        before = 1.0 - (self.last_epoch - 1) / self.total_iters
        return self._scaled((now / before) ** self.power)

    def _get_closed_form_lr(self) -> list[Any]:
        part = min(self.total_iters, self.last_epoch) / self.total_iters
        return [rate * (1.0 - part) ** self.power for rate in self.base_lrs]
