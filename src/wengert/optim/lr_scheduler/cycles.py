"""Layer 9 · optim: cyclical schedules, with the momentum cycling inversely."""

from __future__ import annotations

import math
import types
from collections.abc import Callable
from functools import partial
from typing import Any, Literal

from wengert.optim.lr_scheduler.base import (
    LRScheduler,
    check_annealing,
    check_optimizer,
    for_each_group,
    set_option,
)
from wengert.optim.optimizer import Optimizer


def _uses_beta(optimizer: Any) -> bool:
    """Return whether the momentum of an optimiser is the first of its betas."""
    if "momentum" not in optimizer.defaults and "betas" not in optimizer.defaults:
        raise ValueError(
            "optimizer must support momentum or beta1 with `cycle_momentum` option enabled"
        )
    return "betas" in optimizer.defaults


def _set_momentum(group: dict[str, Any], momentum: float, as_beta: bool) -> None:
    if as_beta:
        group["betas"] = (momentum, *group["betas"][1:])
    else:
        group["momentum"] = momentum


class CyclicLR(LRScheduler):
    """Cycle the learning rate between two bounds (Smith 2015).

    Parameters
    ----------
    %(optimizer)s
    base_lr, max_lr : float or list of float. The bounds, for all groups or for each.
    step_size_up, step_size_down : int. The numbers of steps up and down; by default, both are
        equal.
    mode : {"triangular", "triangular2", "exp_range"}. Whether the height of cycles is constant,
        halves with each cycle, or is multiplied by `gamma` in each step.
    gamma : float. For ``"exp_range"``.
    scale_fn : callable, optional. The function that gives the height of cycles, in place of `mode`.
    scale_mode : {"cycle", "iterations"}. Whether `scale_fn` takes the number of the cycle or of the
        step.
    %(cycled_momentum)s

    Raises
    ------
    ValueError: If the mode is unknown, or the optimiser has no momentum.

    Examples
    --------
    >>> optimizer = wg.optim.SGD([wg.ones(1, requires_grad=True)], lr=1.0, momentum=0.9)
    >>> schedule = wg.optim.lr_scheduler.CyclicLR(optimizer, 0.0, 1.0, step_size_up=4)
    >>> for _ in range(2):
    %(scheduled_steps)s
    [0.5]
    """

    def __init__(
        self,
        optimizer: Optimizer,
        base_lr: float | list[float],
        max_lr: float | list[float],
        step_size_up: int = 2000,
        step_size_down: int | None = None,
        mode: Literal["triangular", "triangular2", "exp_range"] = "triangular",
        gamma: float = 1.0,
        scale_fn: Callable[[float], float] | None = None,
        scale_mode: Literal["cycle", "iterations"] = "cycle",
        cycle_momentum: bool = True,
        base_momentum: float = 0.8,
        max_momentum: float = 0.9,
        last_epoch: int = -1,
    ) -> None:
        check_optimizer(optimizer)
        if mode not in ("triangular", "triangular2", "exp_range") and scale_fn is None:
            raise ValueError(
                f"mode is invalid and scale_fn is None: mode must be 'triangular', 'triangular2' "
                f"or 'exp_range', not {mode!r}"
            )
        self.optimizer = optimizer
        base_lrs = for_each_group("base_lr", optimizer, base_lr)
        self.max_lrs = for_each_group("max_lr", optimizer, max_lr)
        up = float(step_size_up)
        down = up if step_size_down is None else float(step_size_down)
        self.total_size = up + down
        self.step_ratio = up / self.total_size
        self.mode = mode
        self.gamma = gamma
        self._scale_fn_custom: Any = scale_fn
        self.scale_mode = scale_mode
        self._init_scale_fn()
        self.cycle_momentum = cycle_momentum
        if cycle_momentum:
            self.use_beta1 = _uses_beta(optimizer)
            self.base_momentums = for_each_group("base_momentum", optimizer, base_momentum)
            self.max_momentums = for_each_group("max_momentum", optimizer, max_momentum)
        for i, group in enumerate(optimizer.param_groups):
            if last_epoch != -1:
                break
            set_option(group, "lr", base_lrs[i])
            if cycle_momentum:
                _set_momentum(group, self.max_momentums[i], self.use_beta1)
                group["max_momentum"] = self.max_momentums[i]
                group["base_momentum"] = self.base_momentums[i]
        super().__init__(optimizer, last_epoch)
        self.base_lrs = base_lrs

    def _init_scale_fn(self) -> None:
        if self._scale_fn_custom is not None:
            return
        heights: dict[str, Callable[[float], float]] = {
            "triangular": _same_height,
            "triangular2": _half_the_height,
            "exp_range": partial(pow, self.gamma),
        }
        self._scale_fn_ref = heights[self.mode]
        self.scale_mode = "iterations" if self.mode == "exp_range" else "cycle"

    def scale_fn(self, x: float) -> float:
        """Return the height of a cycle, given its number or that of the step."""
        if self._scale_fn_custom is not None:
            return self._scale_fn_custom(x)
        return self._scale_fn_ref(x)

    def get_lr(self) -> list[Any]:
        """Return the next learning rates, one for each group, and set the momentum."""
        self._warn_outside_step()
        cycle = math.floor(1 + self.last_epoch / self.total_size)
        x = 1.0 + self.last_epoch / self.total_size - cycle
        part = x / self.step_ratio if x <= self.step_ratio else (x - 1) / (self.step_ratio - 1)
        scale = self.scale_fn(cycle if self.scale_mode == "cycle" else self.last_epoch)
        if self.cycle_momentum:
            for group, low, high in zip(
                self.optimizer.param_groups, self.base_momentums, self.max_momentums, strict=True
            ):
                _set_momentum(group, high - (high - low) * part * scale, self.use_beta1)
        return [
            low + (high - low) * part * scale
            for low, high in zip(self.base_lrs, self.max_lrs, strict=True)
        ]

    def state_dict(self) -> dict[str, Any]:
        """Return the state; of `scale_fn`, only the attributes of a callable object."""
        state = super().state_dict()
        state.pop("_scale_fn_ref", None)
        custom = self._scale_fn_custom
        plain = custom is None or isinstance(custom, types.FunctionType)
        state["_scale_fn_custom"] = None if plain else custom.__dict__.copy()
        return state

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        others = {name: value for name, value in state_dict.items() if name != "_scale_fn_custom"}
        super().load_state_dict(others)
        if state_dict["_scale_fn_custom"] is not None:
            self._scale_fn_custom.__dict__.update(state_dict["_scale_fn_custom"])
        self._init_scale_fn()


def _same_height(x: float) -> float:
    return 1.0


def _half_the_height(x: float) -> float:
    return 1 / (2.0 ** (x - 1))


class OneCycleLR(LRScheduler):
    """Raise the learning rate once, then anneal it to almost zero (Smith and Topin 2017).

    Parameters
    ----------
    %(optimizer)s
    max_lr : float or list of float. The highest learning rate, for all groups or for each.
    total_steps : int, optional. The number of steps; default: ``epochs * steps_per_epoch``.
    epochs, steps_per_epoch : int, optional. Given in place of `total_steps`.
    pct_start : float. The fraction of the steps spent raising the learning rate.
    anneal_strategy : {"cos", "linear"}. The shape of the curve.
    %(cycled_momentum)s
    div_factor : float. The first learning rate is ``max_lr / div_factor``.
    final_div_factor : float. The last learning rate is the first one divided by it.
    three_phase : bool. Whether to descend symmetrically first, and then on to the last learning
        rate.

    Raises
    ------
    ValueError: If the number of steps is not given or exceeded, the curve is unknown, or the
        optimiser has no momentum.

    Examples
    --------
    >>> optimizer = wg.optim.SGD([wg.ones(1, requires_grad=True)], lr=1.0, momentum=0.9)
    >>> schedule = wg.optim.lr_scheduler.OneCycleLR(optimizer, max_lr=1.0, total_steps=10)
    >>> for _ in range(2):
    %(scheduled_steps)s
    [1.0]
    """

    def __init__(
        self,
        optimizer: Optimizer,
        max_lr: float | list[float],
        total_steps: int | None = None,
        epochs: int | None = None,
        steps_per_epoch: int | None = None,
        pct_start: float = 0.3,
        anneal_strategy: Literal["cos", "linear"] = "cos",
        cycle_momentum: bool = True,
        base_momentum: float | list[float] = 0.85,
        max_momentum: float | list[float] = 0.95,
        div_factor: float = 25.0,
        final_div_factor: float = 1e4,
        three_phase: bool = False,
        last_epoch: int = -1,
    ) -> None:
        check_optimizer(optimizer)
        self.optimizer = optimizer
        self.total_steps = _total(total_steps, epochs, steps_per_epoch)
        self._schedule_phases = self._phases(pct_start, three_phase)
        given: Any = pct_start
        if not isinstance(given, float) or not 0 <= given <= 1:
            raise ValueError(f"Expected float between 0 and 1 pct_start, but got {pct_start}")
        check_annealing(anneal_strategy)
        self._anneal_func_type = anneal_strategy
        max_lrs = for_each_group("max_lr", optimizer, max_lr)
        self.cycle_momentum = cycle_momentum
        if cycle_momentum:
            self.use_beta1 = _uses_beta(optimizer)
            max_momentums = for_each_group("max_momentum", optimizer, max_momentum)
            base_momentums = for_each_group("base_momentum", optimizer, base_momentum)
        for i, group in enumerate(optimizer.param_groups):
            if last_epoch != -1:
                break
            group["initial_lr"] = max_lrs[i] / div_factor
            group["max_lr"] = max_lrs[i]
            group["min_lr"] = group["initial_lr"] / final_div_factor
            if cycle_momentum:
                _set_momentum(group, max_momentums[i], self.use_beta1)
                group["max_momentum"] = max_momentums[i]
                group["base_momentum"] = base_momentums[i]
        super().__init__(optimizer, last_epoch)

    def _phases(self, pct_start: float, three_phase: bool) -> list[dict[str, Any]]:
        ends = [float(pct_start * self.total_steps) - 1]
        names = [("initial_lr", "max_lr", "max_momentum", "base_momentum")]
        if three_phase:
            ends.append(float(2 * pct_start * self.total_steps) - 2)
            names.append(("max_lr", "initial_lr", "base_momentum", "max_momentum"))
            names.append(("initial_lr", "min_lr", "max_momentum", "max_momentum"))
        else:
            names.append(("max_lr", "min_lr", "base_momentum", "max_momentum"))
        keys = ("start_lr", "end_lr", "start_momentum", "end_momentum")
        return [
            {"end_step": end, **dict(zip(keys, phase, strict=True))}
            for end, phase in zip([*ends, self.total_steps - 1], names, strict=True)
        ]

    @staticmethod
    def _annealing_linear(start: float, end: float, part: float) -> float:
        return (end - start) * part + start

    @staticmethod
    def _annealing_cos(start: float, end: float, part: float) -> float:
        return end + (start - end) / 2.0 * (math.cos(math.pi * part) + 1)

    def _anneal_func(self, start: float, end: float, part: float) -> Any:
        held = self.__dict__
        # old states hold the function itself
        kind = held.get("_anneal_func_type")
        of_kind = held["anneal_func"] if kind is None else getattr(self, f"_annealing_{kind}")
        return of_kind(start, end, part)

    def get_lr(self) -> list[Any]:
        """Return the next learning rates, one for each group, and set the momentum."""
        self._warn_outside_step()
        step = self.last_epoch
        if step > self.total_steps:
            raise ValueError(
                f"Tried to step {step} times. The specified number of total steps is "
                f"{self.total_steps}"
            )
        start = 0.0
        for phase in self._schedule_phases[:-1]:
            if step <= phase["end_step"]:
                break
            start = phase["end_step"]
        else:
            phase = self._schedule_phases[-1]
        part = (step - start) / (phase["end_step"] - start)
        rates = []
        for group in self.optimizer.param_groups:
            ends = group[phase["start_lr"]], group[phase["end_lr"]]
            rates.append(self._anneal_func(*ends, part))
            if self.cycle_momentum:
                ends = group[phase["start_momentum"]], group[phase["end_momentum"]]
                _set_momentum(group, self._anneal_func(*ends, part), self.use_beta1)
        return rates


def _total(total_steps: Any, epochs: Any, steps_per_epoch: Any) -> int:
    """Return the number of steps of the cycle."""
    if total_steps is None and (epochs is None or steps_per_epoch is None):
        raise ValueError("You must define either total_steps OR (epochs AND steps_per_epoch)")
    given = {"total_steps": total_steps}
    if total_steps is None:
        given = {"epochs": epochs, "steps_per_epoch": steps_per_epoch}
    for name, value in given.items():
        if not isinstance(value, int) or value <= 0:
            raise ValueError(f"Expected positive integer {name}, but got {value}")
    return math.prod(given.values())
