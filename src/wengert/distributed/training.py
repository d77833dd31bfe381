"""Layer 10 · distributed: minimisation of a loss over data in partitions."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from wengert.base.containers import aligned, paths
from wengert.base.progress import Progress
from wengert.distributed.checks import check_count
from wengert.distributed.gradients import ValueAndGrad
from wengert.distributed.parameters import Nested, OfModule, parameters_of
from wengert.distributed.partitions import Partitions
from wengert.distributed.work import Partial
from wengert.tape.base import TensorBase, new_tensor


class Step(NamedTuple):
    """One step of an optimisation, as a callback sees it.

    Attributes
    ----------
    step : int. Its number, from 0.
    value : float. The loss before the step.
    gradients: The gradients before the step, as from `value_and_grad`.
    params: The parameters after the step.
    """

    step: int
    value: float
    gradients: Any
    params: Any


class Fit(NamedTuple):
    """The result of `fit`.

    Attributes
    ----------
    params: The parameters after the last step; the given ones, if an optimizer updated them in
        place.
    value : float. The loss before the last step; NaN without steps.
    history : list of float. The loss before each step.
    reason : str. Why it stopped: ``"steps"``, ``"tolerance"`` or ``"callback"``.
    """

    params: Any
    value: float
    history: list[float]
    reason: str


class _Order:
    """The partitions of each step: all, or some, in an order drawn again for each epoch."""

    def __init__(self, count: int, per_step: int | None, seed: int) -> None:
        self._count = count
        self._size = per_step
        self._seed = seed
        self._epoch = -1
        self._order: list[int] = []

    def of(self, step: int) -> list[int] | None:
        """Return the partitions of a step, in ascending order; None for all."""
        if self._size is None or self._size >= self._count:
            return None
        epoch, group = divmod(step, -(-self._count // self._size))
        if epoch != self._epoch:
            drawn = np.random.default_rng([self._seed, epoch]).permutation(self._count)
            self._epoch, self._order = epoch, drawn.tolist()
        return sorted(self._order[group * self._size : (group + 1) * self._size])


class _Loop:
    """The state of an optimization.

    Parameters
    ----------
    gradient: The function that computes the loss and its gradients.
    params, data, optimizer: As in `fit`, with the data in partitions.
    """

    def __init__(
        self, gradient: ValueAndGrad, params: Any, data: Partitions, optimizer: Any
    ) -> None:
        self.params = params
        self.gradients: Any = None
        self._gradient = gradient
        self._data = data
        self._optimizer = optimizer
        self._owner = f"fit({gradient.name})"
        if hasattr(optimizer, "param_groups"):
            self._check_groups()
        elif not callable(optimizer):
            raise TypeError(
                f"{self._owner}: optimizer must be an optimizer such as wengert.optim.Adam, or a "
                f"function of the parameters and their gradients, but got "
                f"{type(optimizer).__name__}"
            )

    def _check_groups(self) -> None:
        have = {id(t) for t in parameters_of(self.params, self._owner).tensors() if t is not None}
        groups = self._optimizer.param_groups
        strange = [p for group in groups for p in group["params"] if id(p) not in have]
        strange = [p for p in strange if p.requires_grad]
        if strange:
            raise ValueError(
                f"{self._owner}: the optimizer has {len(strange)} parameters that are not among "
                f"params, the first of shape {list(strange[0].shape)}: make it of these very "
                "tensors (arrays cannot be updated by an optimizer: make tensors of them, or give "
                "a function)"
            )

    def advance(self, step: int, numbers: list[int] | None) -> float:
        """Take one step, and return the loss before it."""
        if not hasattr(self._optimizer, "param_groups"):
            known, whole = self._evaluate(step, numbers)
            self._check_finite(step, whole, known)
            updated = self._optimizer(self.params, self.gradients)
            if updated is not None:
                self.params = self._checked(known, updated)
            return float(whole.value.real)
        values: list[float] = []
        first: list[Any] = []

        def closure() -> Any:
            known, whole = self._evaluate(step, numbers)
            if not values:
                # later calls are trials of a line search, which may go too far
                self._check_finite(step, whole, known)
                first.append(self.gradients)
            values.append(float(whole.value.real))
            for tensor, grad in zip(known.tensors(), known.flat(self.gradients), strict=True):
                if tensor is not None:
                    tensor.grad = grad
            return new_tensor(np.asarray(whole.value))

        self._optimizer.step(closure)
        if not values:
            raise TypeError(
                f"{self._owner}: {type(self._optimizer).__name__}.step(closure) did not call the "
                "closure, which computes the loss"
            )
        self.gradients = first[0]
        return values[0]

    def _evaluate(self, step: int, numbers: list[int] | None) -> tuple[Nested | OfModule, Partial]:
        known = parameters_of(self.params, self._owner)
        whole, self.gradients = self._gradient.summed(known, self._data, step, numbers)
        return known, whole

    def _check_finite(self, step: int, whole: Partial, known: Nested | OfModule) -> None:
        where = None
        if whole.odd is not None:
            where = f"the loss is not finite on partition {whole.odd}"
        elif not np.isfinite(whole.value):
            where = "the sum over the partitions is not finite, though each of its terms is"
        else:
            names = (
                [name for name, _ in known.named]
                if isinstance(known, OfModule)
                else paths(self.params, "params")
            )
            for name, grad in zip(names, whole.gradients, strict=False):
                if grad is not None and not np.isfinite(grad).all():
                    where = f"the gradient with respect to {name} is not finite, though the loss is"
                    break
        if where is not None:
            raise FloatingPointError(
                f"{self._owner}: step {step}: the loss is {float(whole.value.real)}: {where}. The "
                "parameters are as the step before left them. Smaller steps, or a look at the data "
                "of the partition, may help."
            )

    def _checked(self, known: Nested | OfModule, updated: Any) -> Any:
        """Return new parameters from a function, after checking their structure."""
        if isinstance(known, OfModule):
            raise TypeError(
                f"{self._owner}: for a module the optimizer function must write to the parameters "
                f"and return None, but it returned {type(updated).__name__}"
            )
        leaves = aligned(updated, known.rebuild(known.arrays))
        shapes = [tuple(np.shape(leaf)) for leaf in leaves or ()]
        before = [array.shape for array in known.arrays]
        if leaves is None or shapes != before:
            raise ValueError(
                f"{self._owner}: the optimizer function must return parameters of the structure "
                f"that it got, with shapes {before}, but returned {shapes}"
            )
        # its results may have a history, which would grow from step to step
        return known.rebuild(
            [new_tensor(x._array()) if isinstance(x, TensorBase) else x for x in leaves]
        )


def fit(
    loss: Callable[..., Any],
    params: Any,
    data: Any,
    optimizer: Any,
    *,
    steps: int = 100,
    per_step: int | None = None,
    tolerance: float | None = None,
    reduction: str = "mean",
    scheduler: Any = None,
    seed: int = 0,
    callback: Callable[[Step], Any] | None = None,
    progress: Any = False,
) -> Fit:
    """Minimise a loss over data in partitions.

    In each step the parameters are sent to the workers once, each partition's gradient is computed
    where the partition is, and the optimizer updates the parameters here.

    Parameters
    ----------
    loss : callable. ``loss(params, batch)``, as for `value_and_grad`.
    params: The initial parameters: tensors, arrays and numbers in nested containers, or a module.
    data: The result or the first argument of `partitions`.
    optimizer: An optimizer of `wengert.optim` for the tensors of `params`, which are updated in
        place; its ``step`` gets a closure, so `LBFGS` works, too. Or a function ``optimizer(params,
        gradients)`` that returns new parameters, or updates them and returns None.
    steps : int. The maximum number of steps.
    per_step : int, optional. The number of partitions per step, in an order that is drawn again for
        each epoch from `seed`. All by default.
    tolerance : float, optional. Stop once the relative change of the loss (absolute below 1) is at
        most this.
    reduction, scheduler, seed: As for `value_and_grad`.
    callback : callable, optional. Called after each step with a `Step`; the fit ends if it returns
        True, or raises StopIteration.
    progress : bool or text file. Whether to show a progress bar on standard error, or a file for
        it.

    Returns
    -------
    Fit: ``(params, value, history, reason)``.

    Raises
    ------
    FloatingPointError: If the loss or a gradient is not finite; it names the partition or the
        parameter.
    PartitionError: If the loss raises; it names the partition.
    ValueError, TypeError: If an argument is invalid.

    Examples
    --------
    >>> x = np.linspace(-1, 1, 30)
    >>> data = distributed.partitions((x, 3 * x + 1), rows=10)
    >>> def loss(params, batch):
    ...     x, y = batch
    ...     return ((params["slope"] * x + params["offset"] - y) ** 2).mean()
    >>> def descend(params, gradients):
    ...     return {name: params[name] - 0.5 * gradients[name] for name in params}
    >>> found = distributed.fit(loss, {"slope": 0.0, "offset": 0.0}, data, descend, steps=60)
    >>> {name: round(float(value), 6) for name, value in found.params.items()}
    {'slope': 3.0, 'offset': 1.0}
    """
    check_count(steps, 0, "fit(): steps")
    if per_step is not None:
        check_count(per_step, 1, "fit(): per_step")
    gradient = ValueAndGrad(loss, reduction, scheduler, seed)
    parts = gradient.placed(data)
    loop = _Loop(gradient, params, parts, optimizer)
    order = _Order(len(parts), per_step, seed)
    history: list[float] = []
    reason = "steps"
    with Progress(steps, progress) as bar:
        for step in range(steps):
            value = loop.advance(step, order.of(step))
            history.append(value)
            bar.show(step + 1, f"loss {value:.6g}")
            state = Step(step, value, loop.gradients, loop.params)
            if callback is not None and _ends(callback, state):
                reason = "callback"
                break
            if tolerance is not None and step and _settled(history, tolerance):
                reason = "tolerance"
                break
        bar.end(f"ended: {reason}")
    return Fit(loop.params, history[-1] if history else math.nan, history, reason)


def _ends(callback: Callable[[Step], Any], state: Step) -> bool:
    try:
        return callback(state) is True
    except StopIteration:
        return True


def _settled(history: list[float], tolerance: float) -> bool:
    before, now = history[-2:]
    return abs(now - before) <= tolerance * max(1.0, abs(now))
