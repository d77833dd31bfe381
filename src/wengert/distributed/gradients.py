"""Layer 10 · distributed: the value and gradient of a loss over all partitions."""

from __future__ import annotations

import uuid
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from wengert.base.sections import fill_sections
from wengert.distributed.batches import Held
from wengert.distributed.checks import check_function
from wengert.distributed.parameters import Carried, Nested, OfModule, parameters_of
from wengert.distributed.partitions import Partitions, partitions
from wengert.distributed.programs import Program, name_of
from wengert.distributed.schedulers import Cluster, Graph, Handle, Local, scheduler_of
from wengert.distributed.work import Partial, Task, add, differentiate, partition_key, run_on
from wengert.tape.base import new_tensor

_FAN_IN = 8
"""How many results one task adds: enough that few tasks do nothing else."""


def seed_of(seed: int, step: int, partition: int) -> int:
    """The seed of one partition in one step: those of others have nothing in common with it."""
    words = np.random.SeedSequence([seed, step, partition]).generate_state(1, np.uint64)
    return int(words[0])


def tasks_of(seed: int, step: int, numbers: Any) -> Iterator[Held]:
    """What each partition's task knows of where it is."""
    for number in numbers:
        yield Held(Task(number, step, seed_of(seed, step, number)))


class Shipped:
    """A program on its way to the workers: it travels once.

    Parameters
    ----------
    function: What the workers call.
    """

    def __init__(self, function: Callable[..., Any]) -> None:
        self.function = function
        self._program: Program | None = None
        self._handles: list[tuple[Local | Cluster, Program, Handle]] = []

    def on(self, place: Local | Cluster, params: Nested | OfModule | Carried) -> Handle:
        """The handle of the program with the structure of these parameters."""
        program = self._program = params.program(self.function, self._program)
        for known, shipped, handle in self._handles:
            if known is place and shipped is program:
                return handle
        handle = place.keep(program)
        self._handles = [*self._handles[-3:], (place, program, handle)]
        return handle


class ValueAndGrad:
    """The function that `value_and_grad` makes.

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
        """The value and the gradients (see `value_and_grad`)."""
        known = parameters_of(params, f"value_and_grad({self.name})")
        whole, gradients = self.summed(known, self.placed(data), step)
        return new_tensor(np.asarray(whole.value)), gradients

    def placed(self, data: Any) -> Partitions:
        """The data in partitions, where they are to be worked on."""
        return partitions(data, scheduler=self._scheduler)

    def summed(
        self, params: Nested | OfModule, data: Partitions, step: int, numbers: Any = None
    ) -> tuple[Partial, Any]:
        """What all partitions come to, and the gradients in the structure of the parameters.

        Parameters
        ----------
        params, data: The parameters and the data.
        step: Which step of an optimisation this is.
        numbers: Which of the partitions to take; all by default.
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
        """What there is to say without any rows: a sum is zero, a mean is nothing."""
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
    """An array that may be written to: what came from elsewhere, or is a view of data, may not."""
    if array is None or (array.flags.writeable and array.base is None):
        return array
    return array.copy()


def _graph(
    program: Handle, sent: Handle, parts: list[Handle], tasks: list[Held], mean: bool
) -> tuple[Graph, Any]:
    """Tasks that differentiate on each partition, and sum the results as a tree."""
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
    """The function that computes a loss and its gradient over data in partitions.

    Each partition is one task, on whichever worker has it; results are summed as a tree. What is
    added to what depends on the numbers of the partitions only: the bits of the result are the same
    for any number of workers and threads, and if workers die on the way.

    Parameters
    ----------
    loss : callable. ``loss(params, batch)``, one number for a partition, as a tensor. Arrays of the
        batch come as tensors that must not be written to. With ``reduction="mean"`` it should be a
        mean over the batch's rows, with ``"sum"`` a sum. It may be made by `wengert.compile`:
        workers keep what they have compiled.
    reduction : {"mean", "sum"}. The mean of the partitions' losses, weighted by their rows, or the
        sum. Rows are the length of the first array in a batch; partitions without rows contribute
        nothing, and the loss is not called for them.
    scheduler : optional. Where to run, as in `partitions`.
    seed : int. What the random numbers that the loss draws follow from, together with the
        partition's number and the step.

    Returns
    -------
    callable: Takes ``(params, data, step=0)``. `params` are tensors, arrays and numbers in nested
        containers, or a module; `data` what `partitions` makes or takes. Returns the value, a
        tensor, and the gradients: in the structure and the kinds of `params`, or for a module a
        dict by the names of the parameters that require a gradient, with None for those that the
        loss does not use. A module in training mode gets its buffers (running means) from the
        passes: their mean over the partitions.

    Raises
    ------
    PartitionError: From the function that is returned: if the loss raises on a partition, or this
        one cannot be loaded. It says which, and is chained to the error itself.
    ValueError, TypeError, RuntimeError: If an argument is not what it should be; if a mean is taken
        over no rows.

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


fill_sections(globals())
