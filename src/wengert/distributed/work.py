"""Layer 10 · distributed: the code that runs on the workers."""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any, NamedTuple

import numpy as np

from wengert.base.errors import describe
from wengert.distributed.batches import Held, rows_of, seen
from wengert.distributed.errors import PartitionError
from wengert.distributed.parameters import opened
from wengert.distributed.programs import Program
from wengert.kernels.random import Stream
from wengert.ops.generator import drawing_from
from wengert.tape.backward import run_grad
from wengert.tape.base import TensorBase
from wengert.tape.modes import enable_grad


class Task(NamedTuple):
    """The context of a function that runs on a partition (see `current`).

    Attributes
    ----------
    partition : int. The number of the partition, or of the block or chunk.
    step : int. The step of an optimisation, from 0.
    seed : int. A seed for random numbers, different for each partition and step.
    """

    partition: int
    step: int
    seed: int


_CURRENT: ContextVar[Task | None] = ContextVar("wengert_distributed_task", default=None)
_streams = threading.local()


def current() -> Task:
    """Return the partition and the step on which the calling function runs.

    Returns
    -------
    Task: With the attributes ``partition``, ``step`` and ``seed``. Random functions of wengert use
        this seed automatically; pass it to other generators.

    Raises
    ------
    RuntimeError: Outside a function that `wengert.distributed` runs.

    Examples
    --------
    >>> def loss(w, batch):
    ...     noise = np.random.default_rng(distributed.current().seed)
    ...     return ((w - noise.normal()) ** 2).sum()
    >>> value, grad = distributed.value_and_grad(loss)(np.zeros(2), [np.ones(1), np.ones(1)])
    >>> grad.shape
    (2,)
    """
    task = _CURRENT.get()
    if task is None:
        raise RuntimeError(
            "current(): no partition is being worked on here: it is for functions that are given "
            "to wengert.distributed"
        )
    return task


@contextmanager
def _at(task: Task) -> Iterator[None]:
    """Run a task's code: the default generator starts from its seed, for this thread alone."""
    stream = getattr(_streams, "stream", None)
    if stream is None:
        stream = _streams.stream = Stream(task.seed)
    else:
        stream.reseed(task.seed)
    token = _CURRENT.set(task)
    try:
        with drawing_from(stream), enable_grad():
            yield
    finally:
        _CURRENT.reset(token)


def worker_address() -> str | None:
    """Return the address of the worker of this thread, or None."""
    module = sys.modules.get("distributed.worker")
    if module is None:
        return None
    try:
        return str(module.get_worker().address)
    except ValueError:
        return None


def run_on(
    work: Callable[..., Any],
    program: Program,
    sent: Held,
    batch: Any,
    task: Held,
    *options: Any,
) -> Any:
    """Call ``work(call, leaves..., batch, ...)`` on a partition, which its errors name."""
    data = batch.value if isinstance(batch, Held) else batch
    place: Task = task.value
    rows = None
    try:
        with _at(place):
            rows = None if isinstance(data, range) else rows_of(data)
            return work(program, sent.value, data, rows, *options)
    except BaseException as error:
        worker = worker_address()
        # exits and interrupts would end a worker, and leave the client waiting
        if worker is None and not isinstance(error, Exception | SystemExit):
            raise
        failed = PartitionError.of(
            error,
            f"{program.name}()",
            place.partition,
            rows,
            worker,
            "To look into it, call the function with this partition here: "
            f"{program.name}(params, batch).",
        )
    # outside the handler, so that the error's only context is its cause, which can be sent
    raise failed from failed.__cause__


class Partial(NamedTuple):
    """A partial result over some of the partitions.

    Attributes
    ----------
    value, gradients: The loss and its gradients over these rows, as arrays; None where nothing was
        computed.
    rows: The number of these rows.
    buffers: The module's buffers after the passes.
    odd: The first partition whose loss is not finite, or None.
    """

    value: Any
    gradients: list[Any]
    rows: int
    buffers: list[Any]
    odd: int | None


def partition_key(what: str, run: str, number: int) -> tuple[str, int]:
    """Return the name of a partition's task, which Dask's dashboard shows."""
    return (f"wengert_{what}-{run}", number)


def differentiate(program: Program, sent: Any, batch: Any, rows: int) -> Partial:
    """Return the loss on a partition, and its gradients; empty if it has no rows."""
    function = opened(program, sent)
    if rows == 0:
        return Partial(None, [None] * len(function.leaves), 0, [], None)
    value = function.call(seen(batch))
    if not isinstance(value, TensorBase):
        raise TypeError(
            f"the loss must be a tensor of one number, computed from the parameters, but "
            f"{program.name} returned {_kind(value)}"
        )
    payload = value._array()
    if payload.size != 1:
        raise ValueError(
            f"the loss must be one number for a partition, but {program.name} returned "
            f"{describe(payload)}: return its .mean() or .sum()"
        )
    found: list[Any] = [None] * len(function.leaves)
    if value._edge is not None:
        found = run_grad([value], function.leaves, [None], False, False)
    gradients = [None if grad is None else grad._array() for grad in found]
    odd = None if np.isfinite(payload).all() else _CURRENT.get().partition  # type: ignore[union-attr]
    buffers = [buffer._array() for buffer in function.buffers]
    return Partial(payload.reshape(()).copy(), gradients, rows, buffers, odd)


def _kind(value: Any) -> str:
    if isinstance(value, np.ndarray):
        return f"an array, {describe(value)}"
    return f"{value!r}, a {type(value).__name__}" if value is not None else "None"


def add(parts: list[Partial], mean: bool) -> Partial:
    """Sum partial results, or average them weighted by rows, from left to right.

    NOTE [order of reduction]
    The order of summation depends only on the numbers of the partitions. So the sum is bitwise
    identical, regardless of the worker and of retries. Means are averaged as means, since the
    sum of many rows' gradients may overflow a narrow type where its mean does not.
    """
    full = [part for part in parts if part.rows]
    if len(full) < 2:
        return full[0] if full else parts[0]
    rows = sum(part.rows for part in full)
    weights = [part.rows / rows for part in full]
    factors = weights if mean else [1.0] * len(full)
    count = len(full[0].gradients)
    odd = [part.odd for part in full if part.odd is not None]
    return Partial(
        _sum([part.value for part in full], factors),
        [_sum([part.gradients[i] for part in full], factors) for i in range(count)],
        rows,
        [_sum([part.buffers[i] for part in full], weights) for i in range(len(full[0].buffers))],
        min(odd) if odd else None,
    )


def _sum(arrays: list[Any], factors: list[float]) -> Any:
    """Return the sum of ``factor * array``; None is zero, integers are those of the first array."""
    total = None
    for array, factor in zip(arrays, factors, strict=True):
        if array is None:
            continue
        if total is None:
            if array.dtype.kind in "iub":
                return array
            # an array even without dimensions, for the sums that follow
            total = np.asarray(array.copy() if factor == 1.0 else array * factor)
        elif factor == 1.0:
            total += array
        else:
            total += array * factor
    return total
