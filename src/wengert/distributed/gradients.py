"""Layer 10 · distributed: the value and gradient of a loss over all partitions."""

from __future__ import annotations

import uuid
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from wengert.distributed.batches import Held
from wengert.distributed.checks import check_function
from wengert.distributed.parameters import Carried, Nested, OfModule, parameters_of
from wengert.distributed.partitions import Partitions, partitions
from wengert.distributed.programs import Program, name_of
from wengert.distributed.schedulers import Cluster, Graph, Handle, Local, scheduler_of
from wengert.distributed.work import Partial, Task, add, differentiate, partition_key, run_on
from wengert.tape.base import new_tensor

_FAN_IN = 8
"""The number of results that one task adds: enough to keep tasks that only add rare."""


def seed_of(seed: int, step: int, partition: int) -> int:
    """Return the seed of a partition in a step, independent of all others."""
    words = np.random.SeedSequence([seed, step, partition]).generate_state(1, np.uint64)
    return int(words[0])


def tasks_of(seed: int, step: int, numbers: Any) -> Iterator[Held]:
    """Return the `Task` of each partition."""
    for number in numbers:
        yield Held(Task(number, step, seed_of(seed, step, number)))


class Shipped:
    """A program that is sent to the workers only once.

    Parameters
    ----------
    function: What the workers call.
    """

    def __init__(self, function: Callable[..., Any]) -> None:
        self.function = function
        self._program: Program | None = None
        self._handles: list[tuple[Local | Cluster, Program, Handle]] = []

    def on(self, place: Local | Cluster, params: Nested | OfModule | Carried) -> Handle:
        """Return the handle of the program with the structure of these parameters."""
        program = self._program = params.program(self.function, self._program)
        for known, shipped, handle in self._handles:
            if known is place and shipped is program:
                return handle
        handle = place.keep(program)
        self._handles = [*self._handles[-3:], (place, program, handle)]
        return handle


class ValueAndGrad:
    """The function that `value_and_grad` returns.

    Parameters
    ----------
    loss, reduction, scheduler, seed: As in `value_and_grad`.
    """

    def __init__(self, loss: Callable[..., Any], reduction: str, scheduler: Any, seed: int) -> None:
        check_function(loss, "value_and_grad")
        if reduction not in ("mean", "sum"):
            raise ValueError(
                f"value_and_grad(): reduction must be 'mean' or 'sum', not {reduction!r}"
            )
        self.reduction = reduction
        self.seed = seed
        self.name = name_of(loss)
        self._scheduler = None if scheduler is None else scheduler_of(scheduler)
        self._shipped = Shipped(loss)

    def __repr__(self) -> str:
        return f"value_and_grad({self.name}, reduction={self.reduction!r})"

    def __call__(self, params: Any, data: Any, *, step: int = 0) -> tuple[Any, Any]:
        """Compute the value and the gradients (see `value_and_grad`)."""
        known = parameters_of(params, f"value_and_grad({self.name})")
        whole, gradients = self.summed(known, self.placed(data), step)
        return new_tensor(np.asarray(whole.value)), gradients

    def placed(self, data: Any) -> Partitions:
        """Return the data in partitions, placed where they will be processed."""
        return partitions(data, scheduler=self._scheduler)

    def summed(
        self, params: Nested | OfModule, data: Partitions, step: int, numbers: Any = None
    ) -> tuple[Partial, Any]:
        """Return the reduced value over all partitions, and gradients in the structure of the
        parameters.

        Parameters
        ----------
        params, data: The parameters and the data.
        step: The number of the optimization step.
        numbers: The partitions to use; all by default.
        """
        numbers = range(len(data)) if numbers is None else numbers
        parts = [data.parts[number] for number in numbers]
        place = data.scheduler
        if parts:
            program = self._shipped.on(place, params)
            sent = place.ship(Held(params.sent()))
            tasks = list(tasks_of(self.seed, step, numbers))

            def build() -> tuple[Graph, Any]:
                return _graph(program, sent, parts, tasks, self.reduction == "mean")

            whole = place.run(build, parts)
        else:
            whole = Partial(None, [], 0, [], None)
        if whole.rows == 0:
            return self._of_nothing(params, len(parts))
        params.accept(whole.buffers)
        return whole, params.gradients([_own(grad) for grad in whole.gradients])

    def _of_nothing(self, params: Nested | OfModule, count: int) -> tuple[Partial, Any]:
        """Return the result for no rows: zero for a sum; raise for a mean."""
        if self.reduction == "mean":
            what = (
                "there are no partitions" if count == 0 else f"none of {count} partitions has any"
            )
            raise ValueError(
                f"value_and_grad({self.name}): the mean over no rows is not defined: {what}"
            )
        zeros = [np.zeros(array.shape, array.dtype) for array in params.wanted()]
        kind = np.result_type(*zeros) if zeros else np.dtype(np.float64)
        value = np.zeros((), kind).real
        return Partial(value, zeros, 0, [], None), params.gradients(list(zeros))


def _own(array: Any) -> Any:
    """Return a writable array: copy read-only ones and views of data."""
    if array is None or (array.flags.writeable and array.base is None):
        return array
    return array.copy()


def _graph(
    program: Handle, sent: Handle, parts: list[Handle], tasks: list[Held], mean: bool
) -> tuple[Graph, Any]:
    """Build tasks that differentiate on each partition, and sum the results as a tree."""
    graph: Graph = {}
    name = uuid.uuid4().hex
    first, values = program.argument(graph), sent.argument(graph)
    level = []
    for part, task in zip(parts, tasks, strict=True):
        key = partition_key("gradient", name, task.value.partition)
        graph[key] = (run_on, differentiate, first, values, part.argument(graph), task)
        level.append(key)
    height = 0
    while len(level) > 1:
        groups = [level[i : i + _FAN_IN] for i in range(0, len(level), _FAN_IN)]
        level = [partition_key(f"add-{height}", name, i) for i in range(len(groups))]
        graph |= {key: (add, group, mean) for key, group in zip(level, groups, strict=True)}
        height += 1
    return graph, level[0]


def value_and_grad(
    loss: Callable[..., Any],
    *,
    reduction: str = "mean",
    scheduler: Any = None,
    seed: int = 0,
) -> ValueAndGrad:
    """Return a function that computes a loss and its gradient over data in partitions.

    Each partition is one task, on whichever worker has it; results are summed as a tree. The order
    of summation depends only on the numbers of the partitions: the result is bitwise identical for
    any number of workers and threads, even if workers die on the way.

    Parameters
    ----------
    loss : callable. ``loss(params, batch)`` returns one number for a partition, as a tensor. Arrays
        of the batch are passed as tensors that must not be written to. With ``reduction="mean"`` it
        should be a mean over the batch's rows, with ``"sum"`` a sum. It may be compiled by
        `wengert.compile`: workers keep the compiled programs.
    reduction : {"mean", "sum"}. The mean of the partitions' losses, weighted by their rows, or the
        sum. Rows are the length of the first array in a batch; partitions without rows contribute
        nothing, and the loss is not called for them.
    scheduler : optional. Where to run, as in `partitions`.
    seed : int. The seed of random numbers in the loss, combined with the partition's number and the
        step.

    Returns
    -------
    callable: Takes ``(params, data, step=0)``. `params` are tensors, arrays and numbers in nested
        containers, or a module; `data` is the result or the first argument of `partitions`. Returns
        the value, a tensor, and the gradients: in the structure and the kinds of `params`, or for a
        module a dict by the names of the parameters that require a gradient, with None for those
        that the loss does not use. A module in training mode gets its buffers (running means) from
        the passes: their mean over the partitions.

    Raises
    ------
    PartitionError: From the returned function: if the loss raises on a partition, or the partition
        cannot be loaded. It says which one, and is chained to the original error.
    ValueError, TypeError, RuntimeError: If an argument is invalid; if a mean is taken over no rows.

    Examples
    --------
    >>> def loss(params, batch):
    ...     x, y = batch
    ...     return ((x @ params["w"] + params["b"] - y) ** 2).mean()
    >>> x, y = np.arange(12.0).reshape(6, 2), np.arange(6.0)
    >>> data = [(x[:4], y[:4]), (x[4:], y[4:])]
    >>> value, grads = distributed.value_and_grad(loss)({"w": np.ones(2), "b": 0.5}, data)
    >>> value
    tensor(107.2500, dtype=torch.float64)
    >>> grads
    {'w': array([125., 143.]), 'b': np.float64(18.0)}
    """
    return ValueAndGrad(loss, reduction, scheduler, seed)
