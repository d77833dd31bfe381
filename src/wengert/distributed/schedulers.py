"""Layer 10 · distributed: where tasks run: in this process, or on the workers of a cluster.

NOTE [what lives where]
A handle stands for a value that tasks use. In this process it is the value itself. On a cluster
there are three kinds. Data that workers loaded are a future that Dask can recompute. Data sent from
here cannot be recomputed by Dask, so the handle keeps them, and sends them again if they are lost.
Parameters and programs are sent inside the tasks: the scheduler keeps them while the tasks run,
gives them to one worker, and the workers pass them on; nothing waits for a worker that may be
dying, as Dask's own broadcast does.
"""

from __future__ import annotations

import asyncio
import atexit
import concurrent.futures
import itertools
import sys
import threading
import time
import uuid
from collections.abc import Callable, Sequence
from typing import Any

from wengert.base.extras import dask_module
from wengert.distributed.batches import Held
from wengert.distributed.errors import PartitionError
from wengert.distributed.programs import Program

_CANCELLED = (concurrent.futures.CancelledError, asyncio.CancelledError)
_PATIENCE = 60.0
_ATTEMPTS = 20
_PAUSE = 0.05

Graph = dict[Any, Any]


class Handle:
    """A value in this process.

    Parameters
    ----------
    value: The value that tasks get, as `Held`.
    """

    def __init__(self, value: Any) -> None:
        self._value = value

    def argument(self, graph: Graph) -> Any:
        """Return the argument for the value in a task of `graph`, to which it may add tasks."""
        return self._value

    def error(self) -> Exception | None:
        """Return the error that prevented the value, or None."""
        return None


class Lazy(Handle):
    """A value that is computed at each use.

    Parameters
    ----------
    key: The task that computes it.
    tasks: A graph with this task and those that it needs, possibly with others.
    """

    def __init__(self, key: Any, tasks: Graph) -> None:
        super().__init__(key)
        self.key = key
        self.tasks = tasks

    @classmethod
    def of(cls, delayed: Sequence[Any]) -> list[Handle]:
        """Return the values of ``dask.delayed`` objects, whose tasks are in one graph."""
        tasks: Graph = {}
        layers: set[int] = set()
        for each in delayed:
            graph = each.__dask_graph__()
            # the blocks of an array share all of its layers
            for layer in getattr(graph, "layers", {"": graph}).values():
                if id(layer) not in layers:
                    layers.add(id(layer))
                    tasks.update(layer)
        return [cls(each.key, tasks) for each in delayed]

    def argument(self, graph: Graph) -> Any:
        """Return the name of the task that computes the value."""
        if self.key not in graph:
            graph.update(self.tasks)
        return self.key


def _culled(graph: Graph, keys: Any) -> tuple[Graph, Any]:
    """Return the tasks that `keys` need: Dask's collections include those of other partitions."""
    needed, _ = dask_module("dask.optimization", "wengert.distributed").cull(graph, keys)
    return needed, keys


class _Computed(Handle):
    """A value that the workers computed, and can recompute."""

    def error(self) -> Exception | None:
        """Return the error of the computation."""
        return self._value.exception() if self._value.status == "error" else None


class _Placed(Handle):
    """A value that was sent to a worker.

    Parameters
    ----------
    value: The value that was sent.
    future: Its future.
    """

    def __init__(self, value: Any, future: Any) -> None:
        super().__init__(value)
        self.future = future

    @property
    def sent(self) -> Any:
        """The value that was sent."""
        return self._value

    @property
    def lost(self) -> bool:
        """Whether no worker has the value any more."""
        return self.future.status in ("cancelled", "lost", "error")

    def argument(self, graph: Graph) -> Any:
        """Return the future."""
        return self.future


class _Enclosed(Handle):
    """A value that is sent with the tasks: if a worker dies, the scheduler still has it."""

    def __init__(self, value: Any) -> None:
        super().__init__(value)
        self._key = f"wengert_parameters-{uuid.uuid4().hex}"

    def argument(self, graph: Graph) -> Any:
        """Return the name of a task that returns the value, shared by all."""
        graph[self._key] = (_itself, self._value)
        return self._key


def _itself(value: Any) -> Any:
    return value


class Local:
    """This process, by one of Dask's local schedulers.

    Parameters
    ----------
    threads: Whether several threads process partitions.
    """

    def __init__(self, threads: bool) -> None:
        if threads:
            self._get = dask_module("dask.threaded", "wengert.distributed").get
        else:
            self._get = dask_module("dask.local", "wengert.distributed").get_sync
        self.threads = threads

    def __repr__(self) -> str:
        return "threads of this process" if self.threads else "this process"

    def hold(self, values: Sequence[Any]) -> list[Handle]:
        """Return handles of local values."""
        return [Handle(Held(value)) for value in values]

    def load(self, delayed: Sequence[Any]) -> list[Handle]:
        """Return handles of values that are computed now."""
        parts = Lazy.of(delayed)
        graph: Graph = {}
        keys = [part.argument(graph) for part in parts]
        try:
            return self.hold(self._get(graph, keys))
        except Exception as error:
            culprit = self._culprit(parts)
            if culprit is None:
                raise
            raise _loading(error, culprit) from error

    def _culprit(self, parts: Sequence[Handle]) -> int | None:
        """Return the first value that cannot be computed."""
        for i, part in enumerate(parts):
            if isinstance(part, Lazy):
                try:
                    self._get(*_culled(part.tasks, part.key))
                except Exception:
                    return i
        return None

    def ship(self, value: Any) -> Handle:
        """Return a handle of a value that all tasks of one run use."""
        return Handle(value)

    def keep(self, value: Program) -> Handle:
        """Return a handle of a program."""
        return Handle(value)

    def run(self, build: Callable[[], tuple[Graph, Any]], parts: Sequence[Handle]) -> Any:
        """Run the graph that `build` makes, and return the values of the tasks that it names."""
        graph, keys = _culled(*build())
        try:
            return self._get(graph, keys)
        except PartitionError:
            raise
        except Exception as error:
            culprit = self._culprit(parts)
            if culprit is None:
                raise
            raise _loading(error, culprit) from error


class Cluster:
    """The workers of a Dask cluster.

    Parameters
    ----------
    client: The connection.
    """

    def __init__(self, client: Any) -> None:
        self.client = client

    def __repr__(self) -> str:
        return f"{len(self.client.nthreads())} workers at {self.client.scheduler.address}"

    def _workers(self) -> list[str]:
        """Return the workers' addresses, once there are any.

        Raises
        ------
        TimeoutError: If none connects within a minute.
        """
        found = sorted(self.client.nthreads())
        if not found:
            try:
                self.client.wait_for_workers(1, timeout=_PATIENCE)
            except TimeoutError as error:
                raise TimeoutError(
                    f"the scheduler {self.client.scheduler.address} has had no workers for "
                    f"{_PATIENCE:.0f} seconds: start some (`dask worker "
                    f"{self.client.scheduler.address}`)"
                ) from error
            found = sorted(self.client.nthreads())
        return found

    def _in_blocks(self, values: Sequence[Any]) -> list[tuple[str, Sequence[Any]]]:
        """Assign neighbouring partitions to each worker, so that most sums are computed locally."""
        workers = self._workers()
        cuts = [len(values) * i // len(workers) for i in range(len(workers) + 1)]
        parts = [values[cut:end] for cut, end in itertools.pairwise(cuts)]
        return [(worker, part) for worker, part in zip(workers, parts, strict=True) if part]

    def _scatter(self, values: list[Any], workers: list[str] | None) -> list[Any]:
        """Send values to workers, preferably `workers`, and return their futures."""
        for attempt in itertools.count(1):
            try:
                return self.client.scatter(values, hash=False, workers=workers)
            except (OSError, KeyError, ValueError):
                # a worker died between the query and the transfer
                if attempt == _ATTEMPTS:
                    raise
                workers = None
                self._workers()
        raise AssertionError("the loop ends by itself")

    def hold(self, values: Sequence[Any]) -> list[Handle]:
        """Return handles of local values, and send them to the workers."""
        made: list[Handle] = []
        for worker, block in self._in_blocks(values):
            held = [Held(value) for value in block]
            made += map(_Placed, held, self._scatter(held, [worker]))
        return made

    def _send_again(self, parts: Sequence[Handle]) -> None:
        """Resend values of this process that were lost."""
        lost = [part for part in parts if isinstance(part, _Placed) and part.lost]
        if lost:
            self._workers()
            futures = self._scatter([part.sent for part in lost], None)
            for part, future in zip(lost, futures, strict=True):
                part.future = future

    def load(self, delayed: Sequence[Any]) -> list[Handle]:
        """Return handles of values that the workers start to compute, and keep."""
        return [
            _Computed(future)
            for worker, block in self._in_blocks(delayed)
            for future in self.client.compute(
                list(block), workers=[worker], allow_other_workers=True
            )
        ]

    def ship(self, value: Any) -> Handle:
        """Return a handle of a value that all tasks of one run use."""
        self._workers()
        return _Enclosed(value)

    def keep(self, value: Program) -> Handle:
        """Return a handle of a program, which stays with the workers."""
        key = f"wengert_program-{value.digest}"
        return _Computed(self.client.submit(_itself, value, key=key, pure=True))

    def run(self, build: Callable[[], tuple[Graph, Any]], parts: Sequence[Handle]) -> Any:
        """Run the graph that `build` makes, and return the values of the tasks that it names.

        Values that were sent from here and lost with their worker are resent, and so are the tasks.
        """
        for attempt in itertools.count(1):
            self._send_again(parts)
            graph, keys = _culled(*build())
            several = isinstance(keys, list)
            with _unwarned():
                found = self.client.get(graph, keys if several else [keys], sync=False)
            try:
                values = self.client.gather(found)
                return values if several else values[0]
            except PartitionError:
                raise
            except _CANCELLED:
                if attempt == _ATTEMPTS:
                    raise
                time.sleep(_PAUSE * attempt)
            except (KeyboardInterrupt, SystemExit):
                self.client.cancel(found, force=True)
                raise
            except Exception as error:
                explained = self._explained(error, parts)
                if explained is None:
                    raise
                raise explained from error
        raise AssertionError("the loop ends by itself")

    def _explained(self, error: Exception, parts: Sequence[Handle]) -> PartitionError | None:
        """Return the error for a failure outside tasks' functions; None keeps the original."""
        for i, part in enumerate(parts):
            if part.error() is not None:
                return _loading(error, i)
        task = getattr(error, "task", None)
        if type(error).__name__ != "KilledWorker" or not isinstance(task, tuple):
            return None
        if str(task[0]).startswith("wengert_add"):
            return None
        last = getattr(getattr(error, "last_worker", None), "address", "unknown")
        return PartitionError(
            f"partition {task[1]}: every worker that worked on it died, the last being {last}: "
            "most often they had too little memory. Make partitions smaller, or give workers more "
            "memory; their logs say more.",
            task[1],
        )


def _loading(error: Exception, partition: int) -> PartitionError:
    """Return the error of a partition that could not be loaded."""
    return PartitionError.of(
        error,
        "loading it",
        partition,
        None,
        None,
        "Compute the Dask object that it comes from to look into it.",
    )


def _unwarned() -> Any:
    """Return a context in which Dask does not warn about large parameters."""
    limit = {"distributed.admin.large-graph-warning-threshold": "1 PB"}
    return dask_module("dask", "wengert.distributed").config.set(limit)


_clients: dict[str, Any] = {}
_lock = threading.Lock()


def _client_at(address: str) -> Any:
    """Return the connection to a scheduler, one for each address."""
    distributed = dask_module("distributed", "wengert.distributed")
    with _lock:
        client = _clients.get(address)
        if client is None or client.status != "running":
            client = distributed.Client(address, set_as_default=False)
            if not _clients:
                atexit.register(_close_all)
            _clients[address] = client
    return client


def _close_all() -> None:
    for client in _clients.values():
        client.close(timeout=2)


def scheduler_of(scheduler: Any) -> Local | Cluster:
    """Return the scheduler for a user's argument.

    Raises
    ------
    ValueError: If `scheduler` is an unknown name.
    TypeError: If it has another type.
    """
    if isinstance(scheduler, Local | Cluster):
        return scheduler
    if scheduler is None:
        module = sys.modules.get("distributed.client")
        try:
            return Local(threads=False) if module is None else Cluster(module.default_client())
        except ValueError:
            return Local(threads=False)
    if isinstance(scheduler, str):
        if scheduler in ("synchronous", "sync", "single-threaded"):
            return Local(threads=False)
        if scheduler in ("threads", "threading"):
            return Local(threads=True)
        if "://" in scheduler:
            return Cluster(_client_at(scheduler))
        hint = "; for processes give a distributed.LocalCluster()" if "process" in scheduler else ""
        raise ValueError(
            "scheduler must be 'synchronous', 'threads', an address such as 'tcp://host:8786', a "
            f"distributed.Client or a cluster, not {scheduler!r}{hint}"
        )
    if hasattr(scheduler, "scheduler_address"):
        return Cluster(_client_at(scheduler.scheduler_address))
    if hasattr(scheduler, "scatter") and hasattr(scheduler, "get"):
        if getattr(scheduler, "asynchronous", False):
            raise TypeError(
                "scheduler is an asynchronous distributed.Client: give one that was made with "
                "asynchronous=False"
            )
        return Cluster(scheduler)
    raise TypeError(
        "scheduler must be 'synchronous', 'threads', an address such as 'tcp://host:8786', a "
        f"distributed.Client or a cluster, not a {type(scheduler).__name__}"
    )
