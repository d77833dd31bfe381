"""Layer 0 · base: threads that share the work on large arrays.

NOTE [threads]
NumPy computes with one thread, and releases the interpreter's lock meanwhile. So large work is cut
into chunks, and helper threads take some of them. Helpers start when work is first shared, and
sleep between jobs. The calling thread takes chunks like the helpers, and waits only for helpers
that are working on a chunk: one that does not get a processor, was lost in a ``fork`` or was
stopped at exit delays nothing. There is one team; while it is busy, any other caller, be it another
thread, a signal handler or a chunk itself, does all its work alone. So there are no deadlocks.

Every element is computed as by one thread: the number of threads changes no result.
"""

from __future__ import annotations

import os
from _thread import allocate_lock, start_new_thread  # not `threading`, which takes long to import
from collections.abc import Callable
from typing import Any

_VARIABLES = ("WENGERT_NUM_THREADS", "OMP_NUM_THREADS")

Work = Callable[[int, int], None]
"""The work on the elements from a start up to a stop."""


class _Job:
    """One piece of work, from which threads take chunks."""

    __slots__ = ("error", "idle", "lock", "next", "running", "size", "step", "waiting", "work")

    def __init__(self, work: Work, size: int, step: int) -> None:
        self.work = work
        self.size = size
        self.step = step
        self.next = 0
        self.running = 0
        self.waiting = False
        self.error: BaseException | None = None
        self.lock = allocate_lock()
        self.idle = allocate_lock()
        self.idle.acquire()

    def take(self) -> tuple[int, int] | None:
        """Return the next chunk; a remainder too small for a chunk belongs to the last one."""
        start = self.next
        if start >= self.size:
            return None
        stop = start + self.step
        if self.size - stop < self.step:
            stop = self.size
        self.next = stop
        return start, stop

    def help(self) -> None:
        """Process chunks for another thread while there are any."""
        while True:
            with self.lock:
                chunk = self.take()
                if chunk is None:
                    return
                self.running += 1
            try:
                self.work(*chunk)
            except BaseException as error:
                self.error = error
                self.next = self.size
            with self.lock:
                self.running -= 1
                if self.waiting and not self.running:
                    self.waiting = False
                    self.idle.release()

    def lead(self) -> None:
        """Process chunks, and return when all are done. An error in any thread ends it early."""
        try:
            while True:
                with self.lock:
                    chunk = self.take()
                if chunk is None:
                    break
                self.work(*chunk)
        finally:
            with self.lock:
                self.next = self.size
                self.waiting = self.running > 0
                waiting = self.waiting
            if waiting:
                self.idle.acquire()
        if self.error is not None:
            raise self.error


class _Team:
    """The helper threads of this process, and their current job."""

    def __init__(self) -> None:
        self.busy = allocate_lock()
        self.calls: list[Any] = []
        self.job: _Job | None = None

    def call(self, count: int) -> None:
        """Wake `count` helpers, starting those that do not exist yet."""
        while len(self.calls) < count:
            called = allocate_lock()
            # before the helper starts: an open lock would wake it
            called.acquire()
            try:
                start_new_thread(self.serve, (called,))
            except RuntimeError:
                # no more threads can be started: the existing ones do the work
                break
            self.calls.append(called)
        for called in self.calls[:count]:
            # unless its helper has not yet seen the last call
            if called.locked():
                called.release()

    def serve(self, called: Any) -> None:
        """Run a helper's loop; while asleep it holds no array."""
        while True:
            called.acquire()
            job = self.job
            if job is not None:
                job.help()
            del job


_team = _Team()
_wanted: int | None = None


def _renew() -> None:
    """Replace the team after ``fork``: its helpers do not exist, and a lock may be held."""
    global _team
    _team = _Team()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_renew)


def share(work: Work, size: int, step: int) -> None:
    """Run `work` on `size` elements, in chunks of at least `step`, in several threads.

    Parameters
    ----------
    work: ``work(start, stop)``, which may run in any thread, on several chunks at once. It must
        write only to memory that is not read before the end: after an error or an interrupt, a
        chunk may still be running.
    size: The number of elements.
    step: The minimum size of a chunk. Each starts at a multiple of it.
    """
    team = _team
    chunks = size // step
    count = min(get_num_threads(), chunks)
    if count < 2 or not team.busy.acquire(blocking=False):
        work(0, size)
        return
    try:
        # more chunks than threads: some threads may not get a processor of their own
        team.job = _Job(work, size, step * max(1, chunks // (4 * count)))
        team.call(count - 1)
        team.job.lead()
    finally:
        team.job = None
        team.busy.release()


def _processors() -> int:
    """Return how many processors this process may use: by affinity and by control group."""
    if hasattr(os, "sched_getaffinity"):
        count = len(os.sched_getaffinity(0))
    else:
        count = os.cpu_count() or 1
    group = "/sys/fs/cgroup/"
    for files in (["cpu.max"], ["cpu/cpu.cfs_quota_us", "cpu/cpu.cfs_period_us"]):
        try:
            quota, period = " ".join(map(_read, (group + file for file in files))).split()
            if int(quota) > 0:
                return max(1, min(count, int(quota) // int(period)))
        except (OSError, ValueError):
            # no such limit
            continue
    return count


def _read(path: str) -> str:
    with open(path, encoding="ascii") as file:
        return file.read()


def _default() -> int:
    for variable in _VARIABLES:
        # OpenMP's variable may list a number for each level of nesting
        first = os.environ.get(variable, "").partition(",")[0].strip()
        if first.isdecimal() and int(first) > 0:
            return int(first)
    return _processors()


def get_num_threads() -> int:
    """Return the number of threads that share the work on large arrays.

    The default is the environment variable ``WENGERT_NUM_THREADS``, else ``OMP_NUM_THREADS``, else
    the number of processors that this process may use.

    Returns
    -------
    int

    Examples
    --------
    >>> before = wg.get_num_threads()
    >>> wg.set_num_threads(2)
    >>> wg.get_num_threads()
    2
    >>> wg.set_num_threads(before)
    """
    global _wanted
    if _wanted is None:
        _wanted = _default()
    return _wanted


def set_num_threads(number: Any) -> None:
    """Set the number of threads that share the work on large arrays; 1 turns sharing off.

    Threads share element-wise operations on arrays of 100,000 elements and more. They are started
    when they are first needed. The number changes no result. Matrix products are computed by the
    library that NumPy was built with, which has threads and settings of its own.

    Parameters
    ----------
    number : int. At least 1.

    Raises
    ------
    RuntimeError: If `number` is not a positive integer.

    Examples
    --------
    >>> before = wg.get_num_threads()
    >>> wg.set_num_threads(1)
    >>> wg.get_num_threads()
    1
    >>> wg.set_num_threads(before)
    """
    global _wanted
    if not isinstance(number, int) or isinstance(number, bool):
        raise RuntimeError(f"set_num_threads expects an int, but got {type(number).__name__}")
    if not 1 <= number < 2**31:
        raise RuntimeError(
            f"set_num_threads expects a positive integer below 2**31, but got {number}"
        )
    _wanted = number
