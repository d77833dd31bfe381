"""Layer 8 · utils: profiler: the operations that a program runs, their number and durations.

Operations are timed where they are computed, functions that consist of several where the program
calls them, and nodes of the graph when a backward pass executes them, by hooks. Operations of a
compiled function are not recorded separately; their time belongs to the enclosing `record_function`
or program. Nothing is timed while no profiler runs.
"""

from __future__ import annotations

import enum
import functools
import json
import os
import socket
import threading
import time
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

from wengert.base.elsewhere import elsewhere, refusal
from wengert.base.names import defined
from wengert.ops.aten import overload_of
from wengert.ops.exports import EXPORTS
from wengert.prims.record import Primitive
from wengert.prims.table import TABLE
from wengert.tape.base import TensorBase
from wengert.tape.modes import Mode
from wengert.tape.node import Node
from wengert.tensor.overrides import TorchFunctionMode
from wengert.utils.dispatch import Dispatch, operation_name

__path__: list[str] = []  # `profiler.profiler` is a row of a table
__getattr__ = elsewhere(__name__)

_GPU = "there is no GPU whose tools could see it. Use profiler.profile"
emit_nvtx = refusal("autograd.profiler", "emit_nvtx", _GPU)
emit_itt = refusal("autograd.profiler", "emit_itt", _GPU)
load_nvprof = refusal("autograd.profiler", "load_nvprof", _GPU)


class ProfilerActivity(enum.Enum):
    """The hardware that is profiled; here the CPU."""

    CPU = 0
    XPU = 1
    MTIA = 2
    CUDA = 3


class ProfilerAction(enum.Enum):
    """The action of a profiler in a step."""

    NONE = 0
    WARMUP = 1
    RECORD = 2
    RECORD_AND_SAVE = 3


def supported_activities() -> set[ProfilerActivity]:
    """Return the activities that can be profiled: the CPU.

    Examples
    --------
    >>> wg.profiler.supported_activities()
    {<ProfilerActivity.CPU: 0>}
    """
    return {ProfilerActivity.CPU}


def kineto_available() -> bool:
    """Return False: PyTorch's profiling library is not used."""
    return False


class FunctionEvent:
    """One call of an operation, a node or a `record_function`.

    Attributes
    ----------
    name : str.
    start, end : int. Nanoseconds of a monotonic clock.
    cpu_time_total, self_cpu_time_total : float. Microseconds, with and without nested calls.
    input_shapes : list. The shapes of an operation's arguments, if requested.
    """

    def __init__(self, name: str, shapes: Any, depth: int) -> None:
        self.name = self.key = name
        self.input_shapes = shapes
        self.depth = depth
        self.thread = threading.get_ident()
        self.inside = 0
        self.end = 0
        self.start = time.perf_counter_ns()

    count = 1

    @property
    def cpu_time_total(self) -> float:
        """Microseconds from start to end."""
        return (self.end - self.start) / 1000

    @property
    def self_cpu_time_total(self) -> float:
        """Microseconds without the calls inside."""
        return (self.end - self.start - self.inside) / 1000

    def __repr__(self) -> str:
        return (
            f"<FunctionEvent name={self.name} cpu_time={_time(self.cpu_time_total)} "
            f"self_cpu_time={_time(self.self_cpu_time_total)} input_shapes={self.input_shapes}>"
        )


class FunctionEventAvg:
    """The calls with one name.

    Attributes
    ----------
    key : str. The name.
    count : int. The number of calls.
    cpu_time_total, self_cpu_time_total : float. Microseconds, with and without nested calls.
    cpu_time : float. Mean microseconds per call.
    """

    device_time = device_time_total = self_device_time_total = 0.0
    cpu_memory_usage = self_cpu_memory_usage = flops = depth = 0

    def __init__(self, key: str, shapes: Any = None) -> None:
        self.key, self.input_shapes = key, shapes
        self.count = 0
        self.cpu_time_total = self.self_cpu_time_total = 0.0

    def add(self, event: Any) -> None:
        """Add a call, or several."""
        self.count += event.count
        self.cpu_time_total += event.cpu_time_total
        self.self_cpu_time_total += event.self_cpu_time_total

    @property
    def cpu_time(self) -> float:
        """Mean microseconds per call."""
        return self.cpu_time_total / self.count if self.count else 0.0

    cpu_time_str = property(lambda self: _time(self.cpu_time))
    cpu_time_total_str = property(lambda self: _time(self.cpu_time_total))
    self_cpu_time_total_str = property(lambda self: _time(self.self_cpu_time_total))

    def __repr__(self) -> str:
        return (
            f"<FunctionEventAvg key={self.key} self_cpu_time={self.self_cpu_time_total_str} "
            f"cpu_time={self.cpu_time_str} input_shapes={self.input_shapes}>"
        )


def _time(microseconds: float) -> str:
    for size, unit in ((1e6, "s"), (1e3, "ms")):
        if microseconds >= size:
            return f"{microseconds / size:.3f}{unit}"
    return f"{microseconds:.3f}us"


class EventList(list[Any]):
    """Events, or averages of them, which print as a table."""

    @property
    def self_cpu_time_total(self) -> float:
        """The microseconds of all events, nested ones counted once."""
        return sum(event.self_cpu_time_total for event in self)

    def key_averages(
        self, group_by_input_shape: bool = False, group_by_stack_n: int = 0
    ) -> EventList:
        """Return the averages of events by name, or by name and argument shapes."""
        found: dict[Any, FunctionEventAvg] = {}
        for event in self:
            shapes = event.input_shapes if group_by_input_shape else None
            key = event.key, repr(shapes)
            found.setdefault(key, FunctionEventAvg(event.key, shapes)).add(event)
        return EventList(found.values())

    def total_average(self) -> FunctionEventAvg:
        """Return the average over all events."""
        total = FunctionEventAvg("Total")
        for event in self:
            total.add(event)
        return total

    def table(
        self,
        sort_by: str | None = None,
        row_limit: int = 100,
        max_src_column_width: int = 75,
        max_name_column_width: int = 55,
        max_shapes_column_width: int = 80,
        header: str | None = None,
        top_level_events_only: bool = False,
        **options: Any,
    ) -> str:
        """Format the events as a table.

        Parameters
        ----------
        sort_by : str, optional. The attribute to sort by in descending order, such as
            ``"cpu_time_total"``, ``"self_cpu_time_total"`` or ``"count"``.
        row_limit : int. The maximum number of rows; -1 for all.
        header : str, optional. A line above the table.
        top_level_events_only : bool. Whether to leave out nested events.
        """
        rows = [e for e in self if not (top_level_events_only and e.depth)]
        if sort_by is not None:
            key = sort_by.replace("cuda_", "device_")
            rows.sort(key=lambda event: getattr(event, key), reverse=True)
        whole = self.self_cpu_time_total
        titles = ["Name", "Self CPU %", "Self CPU", "CPU total %", "CPU total", "CPU time avg"]
        titles.append("# of Calls")
        shown = any(event.input_shapes for event in rows)
        lines = [[*titles, *(["Input Shapes"] if shown else [])]]
        for event in rows if row_limit < 0 else rows[:row_limit]:
            name = event.key
            if len(name) > max_name_column_width > 3:
                name = name[: max_name_column_width - 3] + "..."
            line = [
                name,
                _percent(event.self_cpu_time_total, whole),
                _time(event.self_cpu_time_total),
                _percent(event.cpu_time_total, whole),
                _time(event.cpu_time_total),
                _time(event.cpu_time_total / event.count),
                str(event.count),
            ]
            shapes = str(event.input_shapes or "")[:max_shapes_column_width]
            lines.append([*line, *([shapes] if shown else [])])
        widths = [max(len(line[i]) for line in lines) for i in range(len(lines[0]))]
        rule = "  ".join("-" * width for width in widths)
        text = ["  ".join(w.rjust(n) for w, n in zip(line, widths, strict=True)) for line in lines]
        head = [header] if header else []
        body = [*head, rule, text[0], rule, *text[1:], rule]
        return "\n".join([*body, f"Self CPU time total: {_time(whole)}", ""])

    def export_chrome_trace(self, path: Any) -> None:
        """Write the events for a trace viewer, such as ``chrome://tracing``."""
        process = os.getpid()
        events = [
            {
                "ph": "X",
                "cat": "cpu_op",
                "name": event.name,
                "pid": process,
                "tid": event.thread,
                "ts": event.start / 1000,
                "dur": event.cpu_time_total,
                "args": {"Input Dims": event.input_shapes} if event.input_shapes else {},
            }
            for event in self
        ]
        Path(path).write_text(json.dumps({"traceEvents": events}), encoding="utf-8")

    def __str__(self) -> str:
        return self.table()


def _percent(part: float, whole: float) -> str:
    return f"{100 * part / whole if whole else 0:.2f}%"


class _Clock(Dispatch):
    """Records the computations in this context, in order of their start."""

    def __init__(self, shapes: bool) -> None:
        self.events: list[FunctionEvent] = []
        self.running = True
        self.shapes = shapes
        self._open: list[FunctionEvent] = []
        self._thread = threading.get_ident()

    def begin(self, name: str, shapes: Any = None) -> FunctionEvent | None:
        """Record the start of an event; return None in another thread."""
        if not self.running or threading.get_ident() != self._thread:
            return None
        event = FunctionEvent(name, shapes, len(self._open))
        self.events.append(event)
        self._open.append(event)
        return event

    def finish(self, event: FunctionEvent | None) -> None:
        """Record the end of an event, and of unfinished ones inside it."""
        now = time.perf_counter_ns()
        if event is None or event not in self._open:
            return
        while self._open:
            last = self._open.pop()
            last.end = now
            if self._open:
                self._open[-1].inside += now - last.start
            if last is event:
                break

    def stop(self) -> None:
        """Stop recording."""
        for event in self._open[:1]:
            self.finish(event)
        self.running = False

    def run(self, mode: Mode, prim: Primitive, tensors: list[Any], params: Any, outs: Any) -> Any:
        shapes = [list(tensor._payload.shape) for tensor in tensors] if self.shapes else None
        event = self.begin(f"aten::{overload_of(operation_name(prim)).packet}", shapes)
        try:
            made = self.compute(mode, prim, tensors, params, outs)
        finally:
            self.finish(event)
        if event is not None:
            node = (made[0] if isinstance(made, tuple) else made)._edge
            node = getattr(node, "node", node)
            if isinstance(node, Node):
                self._watch(node)
        return made

    def write(
        self, mode: Mode, prim: Primitive, tensor: Any, others: Any, params: Any, name: str
    ) -> Any:
        event = self.begin(f"aten::{name}", [list(tensor.shape)] if self.shapes else None)
        try:
            return super().write(mode, prim, tensor, others, params, name)
        finally:
            self.finish(event)

    def _watch(self, node: Any) -> None:
        """Record the node when a backward pass executes it."""
        begun: list[Any] = []
        label = node.name()

        def before(gradients: Any) -> None:
            begun.append(self.begin(label))

        def after(inputs: Any, outputs: Any) -> None:
            if begun:
                self.finish(begun.pop())

        node.register_prehook(before)
        node.register_hook(after)


class _Calls(TorchFunctionMode):
    """Records the program's calls of functions that consist of several operations."""

    def __init__(self, clock: _Clock) -> None:
        self._clock = clock

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        name = getattr(func, "__name__", "")
        composed = name not in TABLE or overload_of(name).packet != name
        composed = composed and any(name in EXPORTS[home] for home in _HOMES)
        event = None
        if composed:
            given = [list(one._payload.shape) for one in args if isinstance(one, TensorBase)]
            event = self._clock.begin(f"aten::{name}", given if self._clock.shapes else None)
        try:
            return func(*args, **(kwargs or {}))
        finally:
            self._clock.finish(event)


_HOMES = "wengert", "nn.functional", "Tensor"
_CLOCKS: list[_Clock] = []
"""The active clocks."""


def _profiler_enabled() -> bool:
    return bool(_CLOCKS)


class record_function:
    """A context, or a decorator of functions, that the profiler times under a name.

    Parameters
    ----------
    name : str. The name.
    args : str, optional. Has no effect.

    Examples
    --------
    >>> with wg.profiler.profile() as prof, wg.profiler.record_function("model"):
    ...     y = wg.ones(3).sin()
    >>> [event.key for event in prof.key_averages()]
    ['model', 'aten::ones', 'aten::sin']
    """

    def __init__(self, name: str, args: str | None = None) -> None:
        self.name = name
        self._begun: list[Any] = []

    def __enter__(self) -> record_function:
        self._begun.append([(clock, clock.begin(self.name)) for clock in _CLOCKS])
        return self

    def __exit__(self, *exc: object) -> None:
        for clock, event in self._begun.pop():
            clock.finish(event)

    def __call__(self, function: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(function)
        def timed(*args: Any, **kwargs: Any) -> Any:
            with record_function(self.name):
                return function(*args, **kwargs)

        return timed


def schedule(
    *, wait: int, warmup: int, active: int, repeat: int = 0, skip_first: int = 0
) -> Callable[[int], ProfilerAction]:
    """Return a schedule of steps: wait, warm up, and record, repeatedly.

    Parameters
    ----------
    wait, warmup, active : int. The number of steps of each phase.
    repeat : int. The number of cycles; 0 repeats forever.
    skip_first : int. The number of steps to skip at first.

    Examples
    --------
    >>> plan = wg.profiler.schedule(wait=1, warmup=0, active=2, repeat=1)
    >>> [plan(step).name for step in range(4)]
    ['NONE', 'RECORD', 'RECORD_AND_SAVE', 'NONE']
    """
    if min(wait, warmup, repeat, skip_first) < 0 or active < 1:
        raise AssertionError("a schedule has no negative numbers of steps, and records at least 1")
    cycle = wait + warmup + active

    def plan(step: int) -> ProfilerAction:
        at = step - skip_first
        if at < 0 or (repeat and at >= repeat * cycle):
            return ProfilerAction.NONE
        at %= cycle
        if at < wait:
            return ProfilerAction.NONE
        if at < wait + warmup:
            return ProfilerAction.WARMUP
        return ProfilerAction.RECORD_AND_SAVE if at == cycle - 1 else ProfilerAction.RECORD

    return plan


def _of_events(name: str) -> Any:
    """Return an attribute that is that of the events."""
    found = getattr(EventList, name)
    return property(lambda self: getattr(self.events(), name), doc=found.__doc__)


class profile:
    """A context that times the operations of its thread.

    Parameters
    ----------
    activities : iterable of ProfilerActivity, optional. The CPU is timed.
    schedule : callable, optional. The action for each step, see `schedule`; `step` ends a step.
    on_trace_ready : callable, optional. Called with the profiler when a recording is complete.
    record_shapes : bool. Whether to record the shapes of arguments.
    enabled : bool. Whether to profile at all.
    profile_memory, with_stack, with_flops, with_modules, ... : Have no effect.

    Examples
    --------
    >>> x = wg.ones(3, requires_grad=True)
    >>> with wg.profiler.profile() as prof:
    ...     (x * 2).sin().sum().backward()
    >>> [event.key for event in prof.key_averages()][:2]
    ['aten::mul', 'aten::sin']
    >>> "Self CPU time total" in prof.key_averages().table(sort_by="cpu_time_total")
    True
    """

    def __init__(
        self,
        activities: Iterable[ProfilerActivity] | bool | None = None,
        schedule: Callable[[int], ProfilerAction] | None = None,
        on_trace_ready: Callable[[Any], Any] | None = None,
        record_shapes: bool = False,
        enabled: bool = True,
        **options: Any,
    ) -> None:
        # in torch.autograd.profiler the first argument is `enabled`
        self._enabled = enabled and activities is not False
        self._schedule, self.on_trace_ready = schedule, on_trace_ready
        self._shapes = record_shapes
        self._clock: _Clock | None = None
        self._calls: Any = None
        self._kept = EventList()
        self.step_num = 0

    def _action(self) -> ProfilerAction:
        if self._schedule is None:
            return ProfilerAction.RECORD
        return self._schedule(self.step_num)

    def _begin(self) -> None:
        records = (ProfilerAction.RECORD, ProfilerAction.RECORD_AND_SAVE)
        if self._enabled and self._clock is None and self._action() in records:
            self._clock = _Clock(self._shapes)
            self._clock.__enter__()
            self._calls = _Calls(self._clock)
            self._calls.__enter__()
            _CLOCKS.append(self._clock)

    def _end(self) -> None:
        if self._clock is None:
            return
        self._clock.stop()
        _CLOCKS.remove(self._clock)
        self._calls.__exit__()
        self._clock.__exit__()
        self._kept = EventList(self._clock.events)
        self._clock = None
        if self.on_trace_ready is not None:
            self.on_trace_ready(self)

    def start(self) -> None:
        """Start, like the ``with`` statement."""
        self._begin()

    def stop(self) -> None:
        """Stop, like the ``with`` statement."""
        self._end()

    def step(self) -> None:
        """Start the next step."""
        done = self._action()
        self.step_num += 1
        records = (ProfilerAction.RECORD, ProfilerAction.RECORD_AND_SAVE)
        if self._schedule is not None and (
            done is ProfilerAction.RECORD_AND_SAVE or self._action() not in records
        ):
            self._end()
        self._begin()

    def __enter__(self) -> profile:
        self.start()
        return self

    def __exit__(self, *exc: object) -> None:
        self.stop()

    def events(self) -> EventList:
        """Return the recorded events, in order of their start."""
        return EventList(self._clock.events) if self._clock is not None else self._kept

    function_events = property(events)
    key_averages = _of_events("key_averages")
    total_average = _of_events("total_average")
    table = _of_events("table")
    self_cpu_time_total = _of_events("self_cpu_time_total")
    export_chrome_trace = _of_events("export_chrome_trace")

    def __str__(self) -> str:
        return str(self.events())


def tensorboard_trace_handler(
    dir_name: str, worker_name: str | None = None, use_gzip: bool = False
) -> Callable[[Any], None]:
    """Return a function that writes each recording into a folder, for ``on_trace_ready=``."""

    def write(prof: Any) -> None:
        folder = Path(dir_name)
        folder.mkdir(parents=True, exist_ok=True)
        worker = worker_name or f"{socket.gethostname()}_{os.getpid()}"
        prof.export_chrome_trace(folder / f"{worker}.{time.time_ns()}.pt.trace.json")

    return write


__all__ = defined(globals())
