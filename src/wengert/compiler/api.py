"""Layer 8 · compiler: `compile`, and the function that it returns."""

from __future__ import annotations

import functools
import threading
import warnings
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from wengert.base.dtypes import get_default_dtype
from wengert.compiler.capture import Captured, capture
from wengert.compiler.environment import Environment
from wengert.compiler.exit import Exit
from wengert.compiler.ir import Program, Value
from wengert.compiler.node import attach
try:
    from wengert.compiler.passes import roll, simplify
except ImportError:
    roll = lambda p: p
    simplify = lambda p, fastmath=False: p
from wengert.compiler.trace import Reason, prepare_sites
from wengert.compiler.tree import Missing, Tree
from wengert.tape.base import new_tensor
from wengert.tape.modes import NO_GRAD, current_mode

__all__ = ["Compiled", "Options", "compile"]


class Options:
    """How functions are compiled."""

    __slots__ = ("backend", "fastmath", "limit", "threads")

    def __init__(self, backend: Any, fastmath: bool, threads: int, limit: int) -> None:
        self.backend = backend
        self.fastmath = fastmath
        self.threads = threads
        self.limit = limit

    def finish(self, program: Program) -> tuple[Program, Any]:
        """A program made simpler, and what runs it."""
        simple = roll(simplify(program, fastmath=self.fastmath))
        return simple, self.backend.build(simple, threads=self.threads, fastmath=self.fastmath)


class Call:
    """What the nodes of one trace have in common: how to differentiate it.

    Attributes
    ----------
    name
        The function's name.
    exit
        The exit of the trace.
    """

    def __init__(self, name: str, entry: Entry, exit: Exit) -> None:
        self.name = name
        self.exit = exit
        self._entry = entry
        self._executable: Any = None
        self._program: Program | None = None

    @property
    def backward(self) -> Any:
        """The backward pass."""
        return self.exit.backward

    def gradients(self, values: Sequence[Any]) -> Any:
        """The gradients from what was saved and the cotangents."""
        if self._executable is None:
            self._program, self._executable = self._entry.options.finish(self.backward.program())
        return self._executable([_contiguous(np.asarray(value)) for value in values])

    def recorded(self, inputs: Any, edges: Any) -> tuple[Program, list[Any]]:
        """The program that computes what the backward pass reads, and its inputs as tensors."""
        tensors, arrays, drawn = inputs
        steps, draws = self._entry.tree.path_to(self.exit)
        program = Program([*self._entry.tree.inputs, *draws], steps, self.backward.saved)
        given = [new_tensor(tensor.payload) for tensor in tensors]
        for place, edge in zip(self.backward.sources, edges, strict=True):
            leaf = edge is not None and edge.seq > 0
            given[place] = edge if leaf else new_tensor(tensors[place].payload, edge)
        given += [new_tensor(array) for array in arrays]
        return program, [*given, *[new_tensor(drawn[value]) for value in draws]]


class Entry:
    """The traces of one environment.

    Attributes
    ----------
    environment
        What the function reached.
    match
        Whether a call reaches the same.
    tree
        The traces.
    """

    def __init__(self, environment: Environment, name: str, options: Options) -> None:
        self.environment = environment
        self.options = options
        self.name = name
        self.match = environment.matcher()
        self.tree: Tree
        self.foreign: list[Any] = []
        self.contents: list[Any] = []
        self.verified = True

    def holds(self, arrays: list[Any]) -> bool:
        """Whether the arrays are what constants of unknown origin may have been made from."""
        return all(map(np.array_equal, arrays, self.contents)) if self.contents else True

    def add(self, captured: Captured) -> bool:
        """Add a trace."""
        assert captured.exit is not None
        if not hasattr(self, "tree"):
            self.tree = Tree(captured.inputs, self.options.finish)
        return self.tree.add(captured.inputs, captured.trace.items, captured.exit)

    def run(
        self, tensors: list[Any], arrays: list[Any], drawn: dict[Value, Any] | None = None
    ) -> Any:
        """What the function returns, with its effects."""
        given = [_contiguous(tensor.array()) for tensor in tensors]
        given += [_contiguous(array) for array in arrays]
        exit, known = self.tree.run(given, drawn)
        return self.finished(exit, known, tensors, arrays)

    def finished(self, exit: Exit, known: Any, tensors: list[Any], arrays: list[Any]) -> Any:
        """The results of a run that came to `exit`."""
        backward = exit.backward
        leaves = exit.finish(known, tensors, arrays)
        if backward is not None:
            if exit.call is None:
                exit.call = Call(self.name, self, exit)
            saved = [known[value] for value in backward.saved]
            drawn = {v: known[v] for v in self.tree.path_to(exit)[1]}
            attach(
                exit.call,
                [tensors[place] for place in backward.sources],
                [leaves[i] for i in exit.outputs],
                saved,
                (tensors, arrays, drawn),
            )
        return exit.rebuild(leaves)


def _contiguous(array: Any) -> Any:
    return array if array.flags.c_contiguous else np.ascontiguousarray(array)


class Compiled:
    """A function that is compiled as it is called (see `compile`)."""

    def __init__(self, function: Callable[..., Any], options: Options) -> None:
        functools.update_wrapper(self, function)
        self.function = function
        self.options = options
        self.reason: Reason | None = None
        self._entries: list[tuple[Any, Entry]] = []
        self._lock = threading.RLock()

    def __get__(self, instance: Any, owner: Any = None) -> Any:
        return self if instance is None else functools.partial(self, instance)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """What the function returns, and does."""
        if self.reason is not None:
            return self.function(*args, **kwargs)
        mode = current_mode()
        if mode is not None and mode is not NO_GRAD:
            # a transform, another trace, or somebody who watches operations
            return self.function(*args, **kwargs)
        key = (mode, get_default_dtype())
        for entry_key, entry in self._entries:
            if entry_key != key:
                continue
            found = entry.match(args, kwargs)
            if found is not None and entry.verified and entry.holds(found[1]):
                try:
                    return entry.run(*found)
                except Missing:
                    break
        return self._traced(key, args, kwargs)

    def _traced(self, key: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        with self._lock:
            entry = None
            for entry_key, other in self._entries:
                if entry_key != key:
                    continue
                found = other.match(args, kwargs)
                if found is not None and other.holds(found[1]):
                    entry = other
                    break
            environment = Environment(self.function, args, kwargs)
            if environment.refusal is not None:
                self._stop(Reason(environment.refusal, None))
                return self.function(*args, **kwargs)
            unchanged = environment.matcher(gradients=False)
            name = getattr(self.function, "__name__", "f")
            captured = capture(self.function, args, kwargs, environment)
            if captured.exit is None:
                self._stop(captured.trace.broken)
                return captured.result
            if unchanged(args, kwargs) is None:
                captured.trace.unmask()
                self._stop(Reason("the function changes what it reaches besides tensors", None))
                return captured.result
            return self._kept(key, environment, entry, name, captured)

    def _kept(
        self,
        key: Any,
        environment: Environment,
        entry: Entry | None,
        name: str,
        captured: Captured,
    ) -> Any:
        """Add a trace to those that are there; gives the result of this call."""
        trace = captured.trace
        fresh = entry is None
        if entry is None:
            entry = Entry(environment, name, self.options)
            if trace.foreign:
                entry.foreign = trace.foreign
                entry.contents = [array.copy() for array in environment.arrays]
                entry.verified = False
        elif not entry.verified:
            same = len(trace.foreign) == len(entry.foreign) and all(
                np.array_equal(a, b, equal_nan=a.dtype.kind in "fc")
                for a, b in zip(trace.foreign, entry.foreign, strict=True)
            )
            if not same:
                self._stop(Reason("arrays that are not the same in each call come from outside", None))
                return captured.result
            entry.verified = True
        exit = captured.exit
        assert exit is not None
        if not entry.add(captured):
            self._stop(Reason("two runs on equal values did not do the same", None))
        elif fresh:
            self._entries.insert(0, (key, entry))
        elif entry.tree.traces > self.options.limit:
            self._stop(self._crowded(entry))
        if len(self._entries) > self.options.limit:
            self._stop(Reason("it was called with too many kinds of arguments", None))
        if exit.backward is None:
            return captured.result
        return self._with_history(entry, captured)

    def _with_history(self, entry: Entry, captured: Captured) -> Any:
        """The results of the call that was traced, made anew so that they have a node."""
        trace = captured.trace
        inputs = [trace.before.get(v, trace.arrays[v]) for v in captured.inputs]
        exit = captured.exit
        assert exit is not None
        tree = Tree(captured.inputs, self.options.finish)
        own = Entry.__new__(Entry)
        own.environment, own.options, own.name = entry.environment, entry.options, entry.name
        own.tree = tree
        tree.add(captured.inputs, trace.items, exit)
        drawn = {v: a for v, a in trace.arrays.items()}
        found, known = tree.run([_contiguous(array) for array in inputs], drawn)
        bare = found.without_effects()
        return own.finished(bare, known, list(entry.environment.tensors), list(entry.environment.arrays))

    def _crowded(self, entry: Entry) -> Reason:
        """Why there are too many traces."""
        widest = max(entry.tree.blocks(), key=lambda block: len(block.children))
        guard = widest.guard
        assert guard is not None
        return Reason(
            f"a decision on values had more than {self.options.limit} outcomes in all", guard.site
        )

    def _stop(self, reason: Reason | None) -> None:
        """Run without compiling from now on, and say so once."""
        if self.reason is None:
            self.reason = reason
            warnings.warn(
                f"{getattr(self.function, '__name__', 'the function')}() is not compiled and runs as "
                f"it is: {reason}",
                UserWarning,
                stacklevel=4,
            )


def compile(
    function: Callable[..., Any] | None = None,
    *,
    backend: str = "auto",
    fastmath: bool = False,
    threads: int = 1,
    limit: int = 8,
) -> Any:
    """`function` as a compiled one."""
    if function is None:
        return functools.partial(
            compile, backend=backend, fastmath=fastmath, threads=threads, limit=limit
        )
    prepare_sites()
    return Compiled(function, Options(_backend(backend), fastmath, threads, limit))


def _backend(name: str) -> Any:
    from wengert.compiler.backends import numpy

    return numpy

