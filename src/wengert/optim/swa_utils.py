"""Layer 9 · optim: averages of a model's parameters over training."""

from __future__ import annotations

import copy
import math
from collections.abc import Callable, Iterable, Sequence
from typing import Any, Literal

from wengert.base.names import defined, shows
from wengert.nn.modules.batchnorm import _BatchNorm
from wengert.nn.modules.module import Module
from wengert.ops.create import tensor
from wengert.optim.lr_scheduler.base import LRScheduler, check_annealing, for_each_group
from wengert.optim.optimizer import Optimizer
from wengert.tape.modes import no_grad
from wengert.types import Tensor

Tensors = Sequence[Any]


# -- ways to average -------------------------------------------------------------------------------


def _check_decay(decay: float) -> None:
    if not 0.0 <= decay <= 1.0:
        raise ValueError(
            f"Invalid decay value {decay} provided. Please provide a value in [0,1] range."
        )


def get_ema_multi_avg_fn(decay: float = 0.999) -> Callable[[Tensors, Tensors, Any], None]:
    """Return a function that updates exponential moving averages of lists of tensors in place.

    Parameters
    ----------
    decay : float. The fraction of the average that is kept, from 0 to 1.

    Returns
    -------
    callable: Called with the averages, the tensors, and the number of averaged models.

    Raises
    ------
    ValueError: If `decay` is not between 0 and 1.

    Examples
    --------
    >>> average = [wg.zeros(2)]
    >>> wg.optim.swa_utils.get_ema_multi_avg_fn(0.5)(average, [wg.ones(2)], 1)
    >>> average
    [tensor([0.5000, 0.5000])]
    """
    _check_decay(decay)

    @no_grad()
    def ema_update(averages: Tensors, currents: Tensors, _: Any) -> None:
        for average, current in zip(averages, currents, strict=True):
            if average.is_floating_point() or average.is_complex():
                average.lerp_(current, 1 - decay)
            else:
                average.copy_(average * decay + current * (1 - decay))

    return ema_update


def get_swa_multi_avg_fn() -> Callable[[Tensors, Tensors, Any], None]:
    """Return a function that updates running means of lists of tensors in place.

    Returns
    -------
    callable: Called with the averages, the tensors, and the number of averaged models.

    Examples
    --------
    >>> average = [wg.zeros(2)]
    >>> wg.optim.swa_utils.get_swa_multi_avg_fn()(average, [wg.ones(2)], 3)
    >>> average
    [tensor([0.2500, 0.2500])]
    """

    @no_grad()
    def swa_update(averages: Tensors, currents: Tensors, num_averaged: Any) -> None:
        part = 1.0 / (int(num_averaged) + 1)
        for average, current in zip(averages, currents, strict=True):
            if average.is_floating_point() or average.is_complex():
                average.lerp_(current, part)
            else:
                average.copy_(average + (current - average) * part)

    return swa_update


def get_ema_avg_fn(decay: float = 0.999) -> Callable[[Any, Any, Any], Any]:
    """Return a function that computes the exponential moving average of a tensor.

    Parameters
    ----------
    decay : float. The fraction of the average that is kept, from 0 to 1.

    Returns
    -------
    callable: Called with the average, the tensor, and the number of averaged models; returns the
        new average.

    Raises
    ------
    ValueError: If `decay` is not between 0 and 1.

    Examples
    --------
    >>> wg.optim.swa_utils.get_ema_avg_fn(0.5)(wg.zeros(2), wg.ones(2), 1)
    tensor([0.5000, 0.5000])
    """
    _check_decay(decay)

    @no_grad()
    def ema_update(average: Any, current: Any, num_averaged: Any) -> Any:
        return decay * average + (1 - decay) * current

    return ema_update


def get_swa_avg_fn() -> Callable[[Any, Any, Any], Any]:
    """Return a function that computes the running mean of a tensor.

    Returns
    -------
    callable: Called with the average, the tensor, and the number of averaged models; returns the
        new average.

    Examples
    --------
    >>> wg.optim.swa_utils.get_swa_avg_fn()(wg.zeros(2), wg.ones(2), 3)
    tensor([0.2500, 0.2500])
    """

    @no_grad()
    def swa_update(average: Any, current: Any, num_averaged: Any) -> Any:
        return average + (current - average) / (num_averaged + 1)

    return swa_update


# -- models ----------------------------------------------------------------------------------------


class AveragedModel(Module):
    """A copy of a model that holds averages of its parameters.

    Parameters
    ----------
    model : Module. The model to copy; the copy is called in the same way.
    device : device, optional. The device of the copy.
    avg_fn, multi_avg_fn : callable, optional. The function that averages one tensor, or lists of
        them; default: the mean.
    use_buffers : bool. Whether to average buffers too, rather than copy them.

    Raises
    ------
    AssertionError: If both functions are given.

    Examples
    --------
    >>> model = wg.nn.Linear(1, 1)
    >>> average = wg.optim.swa_utils.AveragedModel(model)
    >>> for value in (1.0, 2.0):
    ...     _ = wg.nn.init.constant_(model.weight, value)
    ...     average.update_parameters(model)
    >>> average.module.weight.item(), average.n_averaged.item()
    (1.5, 2)
    """

    n_averaged: Tensor

    def __init__(
        self,
        model: Module,
        device: Any = None,
        avg_fn: Callable[[Any, Any, Any], Any] | None = None,
        multi_avg_fn: Callable[[Tensors, Tensors, Any], None] | None = None,
        use_buffers: bool = False,
    ) -> None:
        super().__init__()
        if avg_fn is not None and multi_avg_fn is not None:
            raise AssertionError("Only one of avg_fn and multi_avg_fn should be provided")
        self.module = copy.deepcopy(model)
        if device is not None:
            self.module = self.module.to(device)
        self.register_buffer("n_averaged", tensor(0, device=device))
        self.avg_fn = avg_fn
        self.multi_avg_fn = multi_avg_fn
        self.use_buffers = use_buffers

    def forward(self, *args: Any, **kwargs: Any) -> Any:
        """Return the result of the averaged model."""
        return self.module(*args, **kwargs)

    @no_grad()
    def update_parameters(self, model: Module) -> None:
        """Add the parameters of `model` to the averages; the first time, copy them."""
        averages: list[Tensor] = [*self.module.parameters()]
        currents: list[Tensor] = [*model.parameters()]
        if self.use_buffers:
            averages += self.module.buffers()
            currents += model.buffers()
        if len(averages) != len(currents):
            raise ValueError(
                f"the model has {len(currents)} tensors to average, but the averaged one "
                f"{len(averages)}: it must be the one that was averaged before"
            )
        if int(self.n_averaged) == 0:
            for average, current in zip(averages, currents, strict=True):
                average.copy_(current)
        elif self.multi_avg_fn is not None:
            pairs = list(zip(averages, currents, strict=True))
            # lists of one dtype, as functions on lists expect
            for kind in dict.fromkeys(average.dtype for average in averages):
                own = [(a.detach(), b.detach()) for a, b in pairs if a.dtype == kind]
                self.multi_avg_fn([a for a, _ in own], [b for _, b in own], self.n_averaged)
        else:
            average_of = self.avg_fn or get_swa_avg_fn()
            for average, current in zip(averages, currents, strict=True):
                average.copy_(average_of(average.detach(), current.detach(), self.n_averaged))
        if not self.use_buffers:
            for kept, buffer in zip(self.module.buffers(), model.buffers(), strict=True):
                kept.copy_(buffer)
        self.n_averaged += 1


@no_grad()
def update_bn(loader: Iterable[Any], model: Module, device: Any = None) -> None:
    """Recompute the running statistics of batch norms in one pass over data.

    Parameters
    ----------
    loader : iterable. Batches, or tuples or lists whose first element is one.
    model : Module. Called on each batch.
    device : device, optional. The device to move batches to.

    Examples
    --------
    >>> model = wg.nn.BatchNorm1d(1)
    >>> wg.optim.swa_utils.update_bn([wg.tensor([[1.0], [3.0]])], model)
    >>> model.running_mean
    tensor([2.])
    """
    norms = [module for module in model.modules() if isinstance(module, _BatchNorm)]
    if not norms:
        return
    momenta = [norm.momentum for norm in norms]
    was_training = model.training
    model.train()
    try:
        for norm in norms:
            norm.reset_running_stats()
            norm.momentum = None
        for batch in loader:
            data = batch[0] if isinstance(batch, list | tuple) else batch
            model(data if device is None else data.to(device))
    finally:
        for norm, momentum in zip(norms, momenta, strict=True):
            norm.momentum = momentum
        model.train(was_training)


# -- schedules -------------------------------------------------------------------------------------


class SWALR(LRScheduler):
    """Anneal the learning rate to a constant, for stochastic weight averaging.

    Parameters
    ----------
    %(optimizer)s
    swa_lr : float or list of float. The last learning rate, for all groups or for each.
    anneal_epochs : int. The number of annealing steps.
    anneal_strategy : {"cos", "linear"}. The shape of the curve.

    Raises
    ------
    ValueError: If the curve is unknown, or `anneal_epochs` is negative or not an integer.

    Examples
    --------
    >>> schedule = wg.optim.swa_utils.SWALR(optimizer, 0.5, 2, "linear")
    >>> for _ in range(3):
    %(scheduled_steps)s
    [0.5]
    """

    def __init__(
        self,
        optimizer: Optimizer,
        swa_lr: float | list[float],
        anneal_epochs: int = 10,
        anneal_strategy: Literal["cos", "linear"] = "cos",
        last_epoch: int = -1,
    ) -> None:
        rates = for_each_group("swa_lr", optimizer, swa_lr)
        check_annealing(anneal_strategy)
        given: Any = anneal_epochs
        if not isinstance(given, int) or given < 0:
            raise ValueError(f"anneal_epochs must be equal or greater than 0, got {anneal_epochs}")
        for rate, group in zip(rates, optimizer.param_groups, strict=True):
            group["swa_lr"] = rate
        self._anneal_strategy = anneal_strategy
        self.anneal_epochs = anneal_epochs
        super().__init__(optimizer, last_epoch)

    def _part(self, step: int) -> float:
        """Return the annealed fraction at a step."""
        t = max(0.0, min(1.0, step / max(1, self.anneal_epochs)))
        return t if self._anneal_strategy == "linear" else (1 - math.cos(math.pi * t)) / 2

    def get_lr(self) -> list[Any]:
        self._warn_outside_step()
        step = self._step_count - 1
        if self.anneal_epochs == 0:
            step = max(1, step)
        before, now = self._part(step - 1), self._part(step)
        rates = []
        for group in self.optimizer.param_groups:
            last = group["swa_lr"]
            # the learning rate at the start of annealing
            first = last if before == 1 else (group["lr"] - before * last) / (1 - before)
            rates.append(last * now + first * (1 - now))
        return rates


__all__ = defined(globals())
__dir__ = shows(__all__)
