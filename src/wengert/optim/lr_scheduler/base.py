"""Layer 9 · optim: `LRScheduler`, the base class of learning-rate schedules."""

from __future__ import annotations

import contextlib
import types
from collections.abc import Iterator
from typing import Any

from wengert.optim.optimizer import Optimizer
from wengert.tape.base import TensorBase
from wengert.tape.sites import warn


class LRScheduler:
    """The base class of learning-rate schedules.

    A subclass defines `get_lr`, which returns the next learning rates. Call `step` after the
    optimiser's `step`.

    Parameters
    ----------
    optimizer : Optimizer. The optimiser whose learning rates it sets, now and in each step.

    Attributes
    ----------
    base_lrs : list. The initial learning rates of the groups.
    last_epoch : int. The number of steps so far.

    Raises
    ------
    TypeError: If `optimizer` is not an optimiser.
    KeyError: If the schedule resumes, but the groups have no ``"initial_lr"``.

    Notes
    -----
    Under `wengert.compile`, a learning rate that is a number is guarded on, so that each change
    recompiles the step: pass a tensor, ``lr=wg.tensor(0.1)``, which schedules write to.

    Examples
    --------
    >>> class Halving(wg.optim.lr_scheduler.LRScheduler):
    ...     def get_lr(self):
    ...         return [rate / 2**self.last_epoch for rate in self.base_lrs]
    >>> optimizer = wg.optim.SGD([wg.ones(1, requires_grad=True)], lr=1.0)
    >>> schedule = Halving(optimizer)
    >>> for _ in range(3):
    %(scheduled_steps)s
    [0.125]
    """

    _get_lr_called_within_step = False
    _is_initial = False
    base_lrs: list[Any]
    last_epoch: int
    optimizer: Any
    _last_lr: list[Any]
    _step_count: int

    def __init__(self, optimizer: Optimizer, last_epoch: int = -1) -> None:
        check_optimizer(optimizer)
        self.optimizer = optimizer
        for i, group in enumerate(optimizer.param_groups):
            if last_epoch == -1:
                group.setdefault("initial_lr", copied(group["lr"]))
            elif "initial_lr" not in group:
                raise KeyError(
                    f"param 'initial_lr' is not specified in param_groups[{i}] when resuming "
                    "scheduler with last_epoch >= 0: load the optimizer's state first, or start "
                    "with last_epoch=-1"
                )
        self.base_lrs = [copied(group["initial_lr"]) for group in optimizer.param_groups]
        self.last_epoch = last_epoch
        self._initial_step()

    def _initial_step(self) -> None:
        """Set the first learning rates."""
        self._step_count = 0
        self._is_initial = True
        try:
            self.step()
        finally:
            self._is_initial = False

    def state_dict(self) -> dict[str, Any]:
        """Return the state of the schedule: all its attributes but the optimiser.

        Examples
        --------
        >>> optimizer = wg.optim.SGD([wg.ones(1)], lr=1.0)
        >>> wg.optim.lr_scheduler.StepLR(optimizer, 2).state_dict()["step_size"]
        2
        """
        return {name: value for name, value in self.__dict__.items() if name != "optimizer"}

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Restore a state that `state_dict` returned.

        Examples
        --------
        >>> optimizer = wg.optim.SGD([wg.ones(1)], lr=1.0)
        >>> schedule = wg.optim.lr_scheduler.StepLR(optimizer, 2)
        >>> schedule.load_state_dict({"last_epoch": 7})
        >>> schedule.last_epoch
        7
        """
        self.__dict__.update(state_dict)

    def get_last_lr(self) -> list[Any]:
        """Return the learning rates that the last step set, one for each group.

        Examples
        --------
        >>> optimizer = wg.optim.SGD([wg.ones(1)], lr=1.0)
        >>> wg.optim.lr_scheduler.StepLR(optimizer, 2).get_last_lr()
        [1.0]
        """
        return self._last_lr

    def get_lr(self) -> list[Any]:
        """Return the next learning rates, one for each group; called by `step`."""
        raise NotImplementedError(f"{type(self).__name__} has no method get_lr()")

    def step(self, epoch: int | None = None) -> None:
        """Set the next learning rates.

        Parameters
        ----------
        epoch : int, optional. The number of the step; deprecated, as in PyTorch.

        Examples
        --------
        >>> schedule, rates = wg.optim.lr_scheduler.StepLR(optimizer, 2, gamma=0.1), []
        >>> for epoch in range(4):
        ...     rates += schedule.get_last_lr()
        ...     optimizer.step()
        ...     schedule.step()
        >>> rates
        [1.0, 1.0, 0.1, 0.1]
        """
        if self._step_count == 1:
            self._check_order()
        self._step_count += 1
        if epoch is not None:
            warn_of_epoch()
        self._update_lr(epoch)

    def _check_order(self) -> None:
        if not getattr(self.optimizer.step, "hooked", False):
            warn(
                "Seems like `optimizer.step()` has been overridden after learning rate scheduler "
                "initialization. Please, make sure to call `optimizer.step()` before "
                f"`lr_scheduler.step()`. {_ABOUT_ORDER}",
                UserWarning,
            )
        elif not self.optimizer._opt_called:
            warn(
                "Detected call of `lr_scheduler.step()` before `optimizer.step()`. You should call "
                "them in the opposite order: `optimizer.step()` before `lr_scheduler.step()`. "
                "Otherwise the first value of the learning rate schedule is skipped. "
                f"{_ABOUT_ORDER}",
                UserWarning,
            )

    def _update_lr(self, epoch: int | None = None) -> None:
        with self._asked():
            if epoch is None:
                self.last_epoch += 1
                rates = self.get_lr()
            else:
                self.last_epoch = epoch
                closed = getattr(self, "_get_closed_form_lr", self.get_lr)
                rates = closed()
        for group, rate in zip(self.optimizer.param_groups, rates, strict=True):
            set_option(group, "lr", rate)
        self._last_lr = self._rates()

    @contextlib.contextmanager
    def _asked(self) -> Iterator[None]:
        """Return a context that marks calls of `get_lr` by `step`."""
        self._get_lr_called_within_step = True
        try:
            yield
        finally:
            self._get_lr_called_within_step = False

    def _warn_outside_step(self) -> None:
        if not self._get_lr_called_within_step:
            warn(
                "To get the last learning rate computed by the scheduler, please use "
                "`get_last_lr()`.",
                UserWarning,
            )

    def _rates(self) -> list[Any]:
        """Return the current learning rates of the groups."""
        return [copied(group["lr"]) for group in self.optimizer.param_groups]

    def _scaled(self, factor: float) -> list[Any]:
        """Return the current learning rates of the groups times a number."""
        return [group["lr"] * factor for group in self.optimizer.param_groups]


def check_optimizer(optimizer: Any) -> None:
    """Raise an error if `optimizer` is not an optimiser."""
    if not isinstance(optimizer, Optimizer):
        raise TypeError(f"{type(optimizer).__name__} is not an Optimizer")


def copied(value: Any) -> Any:
    """Return a number as it is, and a tensor as a copy."""
    return value.clone() if isinstance(value, TensorBase) else value  # type: ignore[attr-defined]


def check_annealing(strategy: Any) -> None:
    """Refuse an unknown way in which rates change over a phase."""
    if strategy not in ("cos", "linear"):
        raise ValueError(
            f"anneal_strategy must be one of 'cos' or 'linear', instead got {strategy}"
        )


def for_each_group(name: str, optimizer: Any, value: Any) -> list[Any]:
    """Return one value per group, from one value for all or a list."""
    count = len(optimizer.param_groups)
    if not isinstance(value, list | tuple):
        value = [value] * count
    elif len(value) != count:
        raise ValueError(
            f"{name} must have the same length as optimizer.param_groups. {name} has {len(value)} "
            f"values, param_groups has {count}."
        )
    return list(map(copied, value))


def set_option(group: dict[str, Any], name: str, value: Any) -> None:
    """Set an option of a group, writing in place if it is a tensor."""
    held = group[name]
    if isinstance(held, TensorBase):
        held.fill_(value.reshape(()) if isinstance(value, TensorBase) else value)  # type: ignore[attr-defined]
    else:
        group[name] = value


_ABOUT_ORDER = (
    "See https://pytorch.org/docs/stable/optim.html#how-to-adjust-learning-rate for more details."
)
EPOCH_DEPRECATION_WARNING = (
    "The epoch parameter in `scheduler.step()` was not necessary and is being deprecated where "
    "possible. Please use `scheduler.step()` to step the scheduler. Where there is one, the "
    "closed form is used instead of the chainable form."
)


def warn_of_epoch() -> None:
    """Warn that the argument `epoch` is deprecated."""
    warn(EPOCH_DEPRECATION_WARNING, UserWarning)


def saved_functions(functions: list[Any]) -> list[Any]:
    """Return the attributes of callable objects, and None for functions."""
    return [
        None if isinstance(function, types.FunctionType) else function.__dict__.copy()
        for function in functions
    ]


def loaded_functions(functions: list[Any], saved: list[Any]) -> None:
    """Restore the attributes that `saved_functions` returned."""
    for function, attributes in zip(functions, saved, strict=True):
        if attributes is not None:
            function.__dict__.update(attributes)
