"""Layer 9 · optim: `ReduceLROnPlateau`, a schedule that follows a metric."""

from __future__ import annotations

import math
from typing import Any, Literal

from wengert.optim.lr_scheduler.base import LRScheduler, check_optimizer, set_option, warn_of_epoch
from wengert.optim.optimizer import Optimizer


class ReduceLROnPlateau(LRScheduler):
    """Lower the learning rate when a metric has stopped improving.

    Parameters
    ----------
    %(optimizer)s
    mode : {"min", "max"}. Whether smaller or greater is better.
    factor : float. The factor of the learning rate; below 1.
    patience : int. The number of steps without improvement to tolerate.
    threshold : float. The smallest change that counts as an improvement.
    threshold_mode : {"rel", "abs"}. Whether the threshold is relative to the best value so far, or
        an absolute difference.
    cooldown : int. The number of steps to wait after a change.
    min_lr : float or list of float. The lowest learning rate, for all groups or for each.
    eps : float. Changes of the learning rate that are smaller are skipped.

    Raises
    ------
    ValueError: If `factor` is not below 1, the mode is unknown, or `min_lr` does not fit the
        groups.

    Examples
    --------
    >>> optimizer = wg.optim.SGD([wg.ones(1, requires_grad=True)], lr=1.0)
    >>> schedule = wg.optim.lr_scheduler.ReduceLROnPlateau(optimizer, factor=0.5, patience=1)
    >>> for loss in (3.0, 2.0, 2.0, 2.0):
    ...     schedule.step(loss)
    >>> schedule.get_last_lr()
    [0.5]
    """

    def __init__(
        self,
        optimizer: Optimizer,
        mode: Literal["min", "max"] = "min",
        factor: float = 0.1,
        patience: int = 10,
        threshold: float = 1e-4,
        threshold_mode: Literal["rel", "abs"] = "rel",
        cooldown: int = 0,
        min_lr: list[float] | float = 0,
        eps: float = 1e-8,
    ) -> None:
        if factor >= 1.0:
            raise ValueError(f"Factor should be < 1.0, but is {factor}.")
        check_optimizer(optimizer)
        count = len(optimizer.param_groups)
        self.factor = factor
        self.optimizer = optimizer
        if isinstance(min_lr, list | tuple):
            if len(min_lr) != count:
                raise ValueError(f"expected {count} min_lrs, got {len(min_lr)}")
            self.default_min_lr: float | None = None
            self.min_lrs = list(min_lr)
        else:
            self.default_min_lr = min_lr
            self.min_lrs = [min_lr] * count
        self.patience = patience
        self.cooldown = cooldown
        self.eps = eps
        self.last_epoch = 0
        self._last_lr = self._rates()
        self._init_is_better(mode, threshold, threshold_mode)
        self._reset()

    def _reset(self) -> None:
        """Reset the best value and the counters."""
        self.best = self.mode_worse
        self.cooldown_counter = 0
        self.num_bad_epochs = 0

    def step(self, metrics: Any, epoch: int | None = None) -> None:  # type: ignore[override]
        """Record the metric, and lower the learning rates if it has stopped improving.

        Parameters
        ----------
        metrics : float or Tensor. The metric.
        epoch : int, optional. The number of the step; deprecated, as in PyTorch.
        """
        current = float(metrics)
        if epoch is not None:
            warn_of_epoch()
        self.last_epoch = self.last_epoch + 1 if epoch is None else epoch
        if self._is_better(current, self.best):
            self.best = current
            self.num_bad_epochs = 0
        else:
            self.num_bad_epochs += 1
        if self.in_cooldown:
            self.cooldown_counter -= 1
            self.num_bad_epochs = 0
        if self.num_bad_epochs > self.patience:
            self._reduce_lr()
            self.cooldown_counter = self.cooldown
            self.num_bad_epochs = 0
        self._last_lr = self._rates()

    def _reduce_lr(self) -> None:
        groups = self.optimizer.param_groups
        if len(groups) != len(self.min_lrs):
            if self.default_min_lr is None:
                raise RuntimeError(
                    f"The number of param groups in the `optimizer` ({len(groups)}) differs from "
                    f"when `ReduceLROnPlateau` was initialized ({len(self.min_lrs)}), usually due "
                    "to a new param group being added to the optimizer. Please modify the "
                    "`min_lrs` field to match the length of the `optimizer` param groups."
                )
            self.min_lrs = [self.default_min_lr] * len(groups)
        for group, lowest in zip(groups, self.min_lrs, strict=True):
            before = float(group["lr"])
            after = max(before * self.factor, lowest)
            if before - after > self.eps:
                set_option(group, "lr", after)

    @property
    def in_cooldown(self) -> bool:
        """Whether the schedule is waiting after a change."""
        return self.cooldown_counter > 0

    def _is_better(self, a: float, best: float) -> bool:
        sign = 1 if self.mode == "max" else -1
        if self.threshold_mode == "rel":
            bound = best * (1.0 + sign * self.threshold)
        else:
            bound = best + sign * self.threshold
        return a > bound if self.mode == "max" else a < bound

    def _init_is_better(self, mode: Any, threshold: float, threshold_mode: Any) -> None:
        if mode not in ("min", "max"):
            raise ValueError(f"mode {mode} is unknown! It must be 'min' or 'max'")
        if threshold_mode not in ("rel", "abs"):
            raise ValueError(
                f"threshold mode {threshold_mode} is unknown! It must be 'rel' or 'abs'"
            )
        self.mode_worse = math.inf if mode == "min" else -math.inf
        self.mode = mode
        self.threshold = threshold
        self.threshold_mode = threshold_mode

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        self.__dict__.update(state_dict)
        self._init_is_better(self.mode, self.threshold, self.threshold_mode)
