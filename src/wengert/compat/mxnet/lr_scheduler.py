"""Layer 9 · compat: ``mxnet.lr_scheduler``: learning rates by the number of updates.

>>> from wengert.compat.mxnet import lr_scheduler
>>> schedule = lr_scheduler.FactorScheduler(step=10, factor=0.5, base_lr=1.0)
>>> schedule(5), schedule(11), schedule(21)
(1.0, 0.5, 0.25)
"""

from __future__ import annotations

import itertools
import math
from typing import Any

from wengert.compat.kit.arguments import Given, arguments
from wengert.compat.kit.namespaces import defined


@arguments("base_lr=0.01, warmup_steps=0, warmup_begin_lr=0.0, warmup_mode='linear'")
class LRScheduler(Given):
    """Base class for schedules, which map the number of updates to a learning rate.

    Parameters
    ----------
    base_lr : float. The initial rate; an optimizer sets it to its own learning rate.
    warmup_steps : int. The number of updates of the warmup from `warmup_begin_lr` to `base_lr`.
    warmup_mode : {'linear', 'constant'}
    """

    def _prepare(self: Any) -> None:
        if self.warmup_mode not in ("linear", "constant"):
            raise ValueError("Supports only linear and constant modes of warmup")

    def __call__(self, num_update: int) -> float:
        """Return the learning rate of update number `num_update`."""
        if num_update >= self.warmup_steps:
            return self.after(num_update)
        if self.warmup_mode == "constant":
            return self.warmup_begin_lr
        share = num_update / self.warmup_steps
        return self.warmup_begin_lr + (self.base_lr - self.warmup_begin_lr) * share

    def after(self, num_update: int) -> float:
        """Return the learning rate after the warmup; a subclass defines it."""
        raise NotImplementedError


@arguments("step, factor=1.0, stop_factor_lr=1e-8")
class FactorScheduler(LRScheduler):
    """Multiplies the rate by `factor` every `step` updates."""

    def _prepare(self: Any) -> None:
        super()._prepare()
        if self.step < 1:
            raise ValueError("Schedule step must be greater or equal than 1 round")
        if self.factor > 1.0:
            raise ValueError("Factor must be no more than 1 to make lr reduce")

    def after(self, num_update: int) -> float:
        times = max(0, math.ceil(num_update / self.step) - 1)
        return max(self.base_lr * self.factor**times, self.stop_factor_lr)


@arguments("step, factor=1.0")
class MultiFactorScheduler(LRScheduler):
    """Multiplies the rate by `factor` after each number of updates in `step`."""

    def _prepare(self: Any) -> None:
        super()._prepare()
        if any(before >= at for before, at in itertools.pairwise([0, *self.step])):
            raise ValueError("Schedule step must be an increasing integer list")
        if self.factor > 1.0:
            raise ValueError("Factor must be no more than 1 to make lr reduce")

    def after(self, num_update: int) -> float:
        return self.base_lr * self.factor ** sum(num_update > at for at in self.step)


@arguments("max_update, base_lr=0.01, pwr=2, final_lr=0.0")
class PolyScheduler(LRScheduler):
    """Decays the rate along a power of the number of updates left until `max_update`."""

    def _prepare(self: Any) -> None:
        super()._prepare()
        if self.max_update < 1:
            raise ValueError("maximum number of updates must be strictly positive")

    def _left(self, share: float) -> float:
        return float((1 - share) ** self.pwr)

    def after(self, num_update: int) -> float:
        share = (num_update - self.warmup_steps) / (self.max_update - self.warmup_steps)
        return self.final_lr + (self.base_lr - self.final_lr) * self._left(min(share, 1.0))


@arguments("max_update, base_lr=0.01, final_lr=0.0")
class CosineScheduler(PolyScheduler):
    """Decays the rate along half a cosine period until `max_update`."""

    without = ("pwr",)

    def _left(self, share: float) -> float:
        return (1 + math.cos(math.pi * share)) / 2


__all__ = defined(globals())
