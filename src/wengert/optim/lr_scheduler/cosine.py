"""Layer 9 · optim: schedules that follow a cosine."""

from __future__ import annotations

import math
from typing import Any

from wengert.optim.lr_scheduler.base import LRScheduler, set_option
from wengert.optim.optimizer import Optimizer


class CosineAnnealingLR(LRScheduler):
    """Anneal the learning rate to `eta_min` along half a cosine, and raise it again.

    At step t it is ``eta_min + (lr - eta_min) * (1 + cos(pi * t / T_max)) / 2``; I. Loshchilov and
    F. Hutter, "SGDR: Stochastic gradient descent with warm restarts", ICLR 2017.

    Parameters
    ----------
    %(optimizer)s
    T_max : int. The number of steps to the lowest learning rate.
    eta_min : float. The lowest learning rate.

    Examples
    --------
    >>> schedule = wg.optim.lr_scheduler.CosineAnnealingLR(optimizer, T_max=4)
    >>> for _ in range(2):
    ...     optimizer.step()
    ...     schedule.step()
    >>> round(schedule.get_last_lr()[0], 6)
    0.5
    """

    def __init__(
        self, optimizer: Optimizer, T_max: int, eta_min: float = 0.0, last_epoch: int = -1
    ) -> None:
        self.T_max = T_max
        self.eta_min = eta_min
        super().__init__(optimizer, last_epoch)

    def get_lr(self) -> list[Any]:
        self._warn_outside_step()
        if self._is_initial:
            return self._rates()
        if self._step_count == 1 and self.last_epoch > 0:
            return self._get_closed_form_lr()
        groups = self.optimizer.param_groups
        if (self.last_epoch - 1 - self.T_max) % (2 * self.T_max) == 0:
            # the quotient below would be 0 / 0
            rise = (1 - math.cos(math.pi / self.T_max)) / 2
            return [
                group["lr"] + (rate - self.eta_min) * rise
                for rate, group in zip(self.base_lrs, groups, strict=True)
            ]
        now, before = (
            1 + math.cos(math.pi * epoch / self.T_max)
            for epoch in (self.last_epoch, self.last_epoch - 1)
        )
        return [now / before * (group["lr"] - self.eta_min) + self.eta_min for group in groups]

    def _get_closed_form_lr(self) -> list[Any]:
        height = (1 + math.cos(math.pi * self.last_epoch / self.T_max)) / 2
        return [self.eta_min + (rate - self.eta_min) * height for rate in self.base_lrs]


class CosineAnnealingWarmRestarts(LRScheduler):
    """Anneal the learning rate along half a cosine, restarting from the top after each cycle.

    Parameters
    ----------
    %(optimizer)s
    T_0 : int. The number of steps to the first restart.
    T_mult : int. The factor by which each cycle is longer than the one before.
    eta_min : float. The lowest learning rate.

    Raises
    ------
    ValueError: If `T_0` or `T_mult` is not a positive integer.

    Examples
    --------
    >>> schedule = wg.optim.lr_scheduler.CosineAnnealingWarmRestarts(optimizer, T_0=2)
    >>> for _ in range(2):
    %(scheduled_steps)s
    [1.0]
    """

    def __init__(
        self,
        optimizer: Optimizer,
        T_0: int,
        T_mult: int = 1,
        eta_min: float = 0.0,
        last_epoch: int = -1,
    ) -> None:
        first: Any = T_0
        factor: Any = T_mult
        if not isinstance(first, int) or first <= 0:
            raise ValueError(f"Expected positive integer T_0, but got {T_0}")
        if not isinstance(factor, int) or factor < 1:
            raise ValueError(f"Expected integer T_mult >= 1, but got {T_mult}")
        if not isinstance(eta_min, float | int):
            raise ValueError(
                f"Expected float or int eta_min, but got {eta_min} of type {type(eta_min)}"
            )
        self.T_0 = T_0
        self.T_i = T_0
        self.T_mult = T_mult
        self.eta_min = eta_min
        self.T_cur: float = last_epoch
        super().__init__(optimizer, last_epoch)

    def get_lr(self) -> list[Any]:
        self._warn_outside_step()
        height = 1 + math.cos(math.pi * self.T_cur / self.T_i)
        return [self.eta_min + (rate - self.eta_min) * height / 2 for rate in self.base_lrs]

    def step(self, epoch: float | None = None) -> None:
        """Set the next learning rates.

        Parameters
        ----------
        epoch : float, optional. The position on the curve, which may lie between two steps.

        Raises
        ------
        ValueError: If `epoch` is negative.
        """
        if epoch is None and self.last_epoch < 0:
            epoch = 0
        if epoch is None:
            epoch = self.last_epoch + 1
            self.T_cur = self.T_cur + 1
            if self.T_cur >= self.T_i:
                self.T_cur = self.T_cur % self.T_i
                self.T_i = self.T_i * self.T_mult
        elif epoch < 0:
            raise ValueError(f"Expected non-negative epoch, but got {epoch}")
        else:
            self._place(epoch)
        self.last_epoch = math.floor(epoch)
        with self._asked():
            for group, rate in zip(self.optimizer.param_groups, self.get_lr(), strict=True):
                set_option(group, "lr", rate)
        self._last_lr = self._rates()

    def _place(self, epoch: float) -> None:
        """Find the cycle that contains `epoch`, and the position in it."""
        if epoch < self.T_0:
            self.T_i, self.T_cur = self.T_0, epoch
        elif self.T_mult == 1:
            self.T_cur = epoch % self.T_0
        else:
            falls = int(math.log(epoch / self.T_0 * (self.T_mult - 1) + 1, self.T_mult))
            start = self.T_0 * (self.T_mult**falls - 1) / (self.T_mult - 1)
            self.T_cur = epoch - start
            self.T_i = self.T_0 * self.T_mult**falls
