"""Layer 9 · optim: schedules composed of others, in sequence or chained."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from typing import Any

from wengert.optim.lr_scheduler.base import LRScheduler, set_option
from wengert.optim.lr_scheduler.plateau import ReduceLROnPlateau
from wengert.optim.optimizer import Optimizer


class _Composed(LRScheduler):
    """A schedule composed of others."""

    _schedulers: Sequence[Any]

    def _check_parts(self, optimizer: Any, schedulers: Sequence[Any]) -> None:
        own = type(self).__name__
        for i, part in enumerate(schedulers):
            if not hasattr(part, "optimizer"):
                raise TypeError(f"{own} at index {i} should have `optimizer` as its attribute.")
            if isinstance(part, ReduceLROnPlateau):
                raise ValueError(
                    f"{own} does not support `ReduceLROnPlateau` scheduler as it requires "
                    "additional kwargs to be specified when calling `step`, but got one at index "
                    f"{i} in the given schedulers sequence."
                )
            if part.optimizer is not optimizer:
                raise ValueError(
                    f"{own} expects all schedulers to belong to the same optimizer, but got "
                    f"scheduler {type(part).__name__} at index {i} has {part.optimizer}, which is "
                    f"different from {type(optimizer).__name__}."
                )

    def state_dict(self) -> dict[str, Any]:
        """Return the state of the schedule, including the states of its parts."""
        state = super().state_dict()
        state["_schedulers"] = [part.state_dict() for part in self._schedulers]
        return state

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        others = {name: value for name, value in state_dict.items() if name != "_schedulers"}
        for part, state in zip(self._schedulers, state_dict["_schedulers"], strict=True):
            part.load_state_dict(state)
        self.__dict__.update(others)


class SequentialLR(_Composed):
    """Run several schedules in sequence.

    Parameters
    ----------
    optimizer : Optimizer. The optimiser whose learning rates they set.
    schedulers : list of LRScheduler. The schedules, of this optimiser.
    milestones : list of int. The steps at which the next schedule begins, one fewer than schedules.

    Raises
    ------
    ValueError: If a schedule belongs to another optimiser, or the number of milestones is wrong.

    Examples
    --------
    >>> from wengert.optim.lr_scheduler import ConstantLR, ExponentialLR, SequentialLR
    >>> optimizer = wg.optim.SGD([wg.ones(1, requires_grad=True)], lr=1.0)
    >>> parts = [ConstantLR(optimizer, factor=0.5), ExponentialLR(optimizer, gamma=0.5)]
    >>> schedule = SequentialLR(optimizer, parts, milestones=[2])
    >>> for _ in range(4):
    ...     print(schedule.get_last_lr(), end=" ")
    ...     optimizer.step()
    ...     schedule.step()
    [0.5] [0.5] [1.0] [0.5]
    """

    def __init__(
        self,
        optimizer: Optimizer,
        schedulers: list[Any],
        milestones: list[int],
        last_epoch: int = -1,
    ) -> None:
        if not schedulers:
            raise ValueError(
                f"{type(self).__name__} expects at least one scheduler, but got no scheduler."
            )
        self._check_parts(optimizer, schedulers)
        if len(milestones) != len(schedulers) - 1:
            raise ValueError(
                "Sequential Schedulers expects number of schedulers provided to be one more than "
                "the number of milestone points, but got number of schedulers "
                f"{len(schedulers)} and the number of milestones to be equal to {len(milestones)}"
            )
        self._schedulers = schedulers
        self._milestones = milestones
        self.last_epoch = last_epoch + 1
        self.optimizer = optimizer
        # each part has set its first learning rate when it was made
        for group in optimizer.param_groups:
            set_option(group, "lr", group["initial_lr"])
        self.recursive_undo()
        first = schedulers[bisect_right(milestones, 0)]
        first._initial_step()
        self._last_lr = first.get_last_lr()

    def recursive_undo(self, sched: Any = None) -> None:
        """Undo the first step of all parts, recursively."""
        whole = self if sched is None else sched
        if hasattr(whole, "_schedulers"):
            for part in whole._schedulers:
                self.recursive_undo(part)
        elif hasattr(whole, "last_epoch"):
            whole.last_epoch -= 1

    def step(self) -> None:  # type: ignore[override]  # which step it is decides on the part
        """Set the next learning rates, by the current schedule."""
        self.last_epoch += 1
        place = bisect_right(self._milestones, self.last_epoch)
        part = self._schedulers[place]
        if place > 0 and self._milestones[place - 1] == self.last_epoch:
            part._update_lr(0)
        else:
            part.step()
        self._last_lr = part.get_last_lr()


class ChainedScheduler(_Composed):
    """Chain several schedules: each modifies the learning rates set by the previous one.

    Parameters
    ----------
    schedulers : sequence of LRScheduler. The schedules, of one optimiser.
    optimizer : Optimizer, optional. That optimiser.

    Raises
    ------
    ValueError: If there is no schedule, or they belong to several optimisers.

    Examples
    --------
    >>> from wengert.optim.lr_scheduler import ChainedScheduler, ConstantLR, ExponentialLR
    >>> optimizer = wg.optim.SGD([wg.ones(1, requires_grad=True)], lr=1.0)
    >>> schedule = ChainedScheduler([ConstantLR(optimizer, 0.5), ExponentialLR(optimizer, 0.5)])
    %(a_scheduled_step)s
    [0.25]
    """

    def __init__(self, schedulers: Sequence[Any], optimizer: Optimizer | None = None) -> None:
        if not schedulers:
            raise ValueError(
                f"{type(self).__name__} expects at least one scheduler to be chained, but got no "
                "scheduler."
            )
        optimizer = schedulers[0].optimizer if optimizer is None else optimizer
        self._check_parts(optimizer, schedulers)
        self._schedulers = schedulers
        self.optimizer = optimizer
        self._last_lr = self._rates()

    def step(self) -> None:  # type: ignore[override]  # the parts may not agree on the number
        """Set the next learning rates by stepping each schedule in turn."""
        for part in self._schedulers:
            part.step()
        self._last_lr = self._rates()
