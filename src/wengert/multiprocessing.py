"""Layer 8 · nn: multiprocessing: the standard library's, extended to send tensors.

A tensor in shared memory (`Tensor.share_memory_`) is sent as that memory, so processes see each
other's writes; any other tensor is sent as a copy.
"""

from __future__ import annotations

import multiprocessing as _standard
import signal
import traceback
from multiprocessing import *  # noqa: F403 the module is the standard one, with more
from multiprocessing import connection as _connection
from multiprocessing.reduction import DupFd, ForkingPickler
from typing import Any

import numpy as np

from wengert.base.elsewhere import elsewhere
from wengert.kernels.shared import SharedMemory, shared_memory_of
from wengert.nn.parameter import Buffer, Parameter
from wengert.tape.base import LEAF
from wengert.tensor.copying import make
from wengert.tensor.tensor import Tensor

__all__ = [
    *_standard.__all__,
    "ProcessContext",
    "ProcessException",
    "ProcessExitedException",
    "ProcessRaisedException",
    "SpawnContext",
    "get_all_sharing_strategies",
    "get_sharing_strategy",
    "init_reductions",
    "set_sharing_strategy",
    "spawn",
    "start_processes",
]
__path__: list[str] = []  # `multiprocessing.spawn` and others are rows of a table
_rows = elsewhere(__name__)


def __getattr__(name: str) -> Any:
    if name[:2] != "__" and hasattr(_standard, name):
        return getattr(_standard, name)
    return _rows(name)


_STRATEGIES = ("file_descriptor",)


def get_all_sharing_strategies() -> set[str]:
    """Return the available sharing strategies: file descriptors."""
    return set(_STRATEGIES)


def get_sharing_strategy() -> str:
    """Return the sharing strategy."""
    return _STRATEGIES[0]


def set_sharing_strategy(new_strategy: str) -> None:
    """Set the sharing strategy; all have the same effect here.

    Raises
    ------
    AssertionError: If PyTorch has no such strategy either.
    """
    if new_strategy not in ("file_descriptor", "file_system"):
        raise AssertionError(f"there is no strategy {new_strategy!r}")


# -- pickling of tensors --------------------------------------------------------------------------


def _reduced(tensor: Any) -> Any:
    if tensor.requires_grad and not tensor.is_leaf:
        raise RuntimeError(
            "Cowardly refusing to serialize non-leaf tensor which requires_grad, since autograd "
            "does not support crossing process boundaries. If you just want to transfer the data, "
            "call detach() on the tensor before serializing (e.g., putting it on the queue)."
        )
    array = tensor._payload
    memory = shared_memory_of(array) if isinstance(array, np.ndarray) else None
    if memory is None or memory.descriptor is None:
        return tensor.__reduce_ex__(4)
    start = np.frombuffer(memory, np.uint8).ctypes.data
    where = (array.shape, array.dtype, array.ctypes.data - start, array.strides)
    kind = None if type(tensor) is Tensor else type(tensor)
    sent = DupFd(memory.descriptor)
    return _rebuilt, (kind, sent, len(memory), where, tensor.requires_grad)


def _rebuilt(kind: Any, sent: Any, size: int, where: Any, requires_grad: bool) -> Any:
    """Rebuild the tensor in the other process, over the same memory."""
    shape, dtype, offset, strides = where
    memory = SharedMemory.opened(sent.detach(), size)
    array: Any = np.ndarray(shape, dtype, memory, offset, strides)
    return make(kind or Tensor, array, LEAF if requires_grad else None)


def init_reductions() -> None:
    """Register the reductions that send tensors; done when this module is imported."""
    for kind in (Tensor, Parameter, Buffer):
        ForkingPickler.register(kind, _reduced)


init_reductions()


# -- many processes of one function ------------------------------------------------------------


class ProcessException(Exception):
    """A process of `spawn` failed."""

    def __init__(self, msg: str, error_index: int, pid: int) -> None:
        super().__init__(msg)
        self.msg, self.error_index, self.pid = msg, error_index, pid

    def __reduce__(self) -> Any:
        return type(self), (self.msg, self.error_index, self.pid)


class ProcessRaisedException(ProcessException):
    """A process of `spawn` raised; the message has its traceback."""


class ProcessExitedException(ProcessException):
    """A process of `spawn` was ended by a signal, or exited with a code."""

    def __init__(
        self,
        msg: str,
        error_index: int,
        error_pid: int,
        exit_code: int,
        signal_name: str | None = None,
    ) -> None:
        super().__init__(msg, error_index, error_pid)
        self.exit_code, self.signal_name = exit_code, signal_name

    def __reduce__(self) -> Any:
        return type(self), (self.msg, self.error_index, self.pid, self.exit_code, self.signal_name)


def _one(fn: Any, index: int, args: tuple[Any, ...], errors: Any) -> None:
    """Run one process."""
    try:
        fn(index, *args)
    except KeyboardInterrupt:
        pass
    except Exception:
        errors.put(traceback.format_exc())
        raise SystemExit(1) from None


class ProcessContext:
    """Processes that run one function."""

    def __init__(self, processes: list[Any], error_queues: list[Any]) -> None:
        self.processes, self.error_queues = processes, error_queues
        self._left = {process.sentinel: index for index, process in enumerate(processes)}

    def pids(self) -> list[int]:
        """Return the process ids."""
        return [process.pid for process in self.processes]

    def join(self, timeout: float | None = None, grace_period: float | None = None) -> bool:
        """Wait until a process ends; return whether all have ended successfully.

        Raises
        ------
        ProcessRaisedException: If one raised; the others are terminated.
        ProcessExitedException: If one was ended by a signal, or has a nonzero exit code.
        """
        ended = _connection.wait(list(self._left), timeout=timeout)
        bad = None
        for sentinel in ended:
            index = self._left.pop(sentinel)
            self.processes[index].join()
            if self.processes[index].exitcode != 0:
                bad = index
                break
        if bad is None:
            return not self._left
        for process in self.processes:
            if process.is_alive():
                process.terminate()
        for process in self.processes:
            process.join(grace_period)
        raise self._error(bad)

    def _error(self, index: int) -> ProcessException:
        process = self.processes[index]
        if not self.error_queues[index].empty():
            text = self.error_queues[index].get()
            return ProcessRaisedException(
                f"\n\n-- Process {index} terminated with the following error:\n{text}",
                index,
                process.pid,
            )
        code = process.exitcode
        if code < 0:
            name = signal.Signals(-code).name
            message = f"process {index} terminated with signal {name}"
            return ProcessExitedException(message, index, process.pid, code, name)
        message = f"process {index} terminated with exit code {code}"
        return ProcessExitedException(message, index, process.pid, code)


SpawnContext = ProcessContext


def start_processes(
    fn: Any,
    args: tuple[Any, ...] = (),
    nprocs: int = 1,
    join: bool = True,
    daemon: bool = False,
    start_method: str = "spawn",
) -> ProcessContext | None:
    """Call ``fn(i, *args)`` in a process for each `i` below `nprocs`.

    Parameters
    ----------
    fn : callable. The function; for spawned processes it must be at module level.
    args : tuple. Its other arguments; tensors in shared memory stay there.
    nprocs : int. The number of processes.
    join : bool. Whether to wait for all; otherwise the context is returned.
    daemon : bool. Whether the processes end with this one.
    start_method : str. How they start; see `multiprocessing.get_context`.

    Raises
    ------
    ProcessRaisedException, ProcessExitedException: See `ProcessContext.join`.
    """
    context: Any = _standard.get_context(start_method)
    processes, queues = [], []
    for index in range(nprocs):
        queue = context.SimpleQueue()
        process = context.Process(target=_one, args=(fn, index, args, queue), daemon=daemon)
        process.start()
        processes.append(process)
        queues.append(queue)
    made = ProcessContext(processes, queues)
    if not join:
        return made
    while not made.join():
        pass
    return None


def spawn(
    fn: Any,
    args: tuple[Any, ...] = (),
    nprocs: int = 1,
    join: bool = True,
    daemon: bool = False,
    start_method: str = "spawn",
) -> ProcessContext | None:
    """Call `start_processes` with the start method "spawn"."""
    return start_processes(fn, args, nprocs, join, daemon, "spawn")
