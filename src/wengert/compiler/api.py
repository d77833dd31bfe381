"""Layer 8 · compiler: `compile`, and the function that it returns."""

from __future__ import annotations

import contextlib
import functools
import importlib
import importlib.util
import threading
from collections.abc import Callable
from time import perf_counter
from typing import Any, ClassVar, TypeVar, overload

import numpy as np

from wengert.base.containers import flatten
from wengert.base.dtypes import default_float
from wengert.base.ports import PORTS
from wengert.compiler.control import COMPILED, CONFIG, STANCES
from wengert.compiler.ir.decisions import Reason, crowded
from wengert.compiler.objects.guards import UNSEEN, error_state, shows_errors
from wengert.compiler.runtime.entry import Entry, Options
from wengert.compiler.runtime.explanation import Explanation
from wengert.compiler.runtime.modules import OptimizedModule
from wengert.compiler.runtime.quick import MISS, quick_call
from wengert.compiler.runtime.transformed import (
    TransformedEntry,
    TransformedEnvironment,
    capture_transformed,
    kinds_of,
)
from wengert.compiler.tracing.blocks import Elsewhere, Missing
from wengert.compiler.tracing.capture import Captured, Unseen, capture
from wengert.compiler.tracing.collector import seldom
from wengert.compiler.tracing.effects import Openings, Search
from wengert.compiler.tracing.environment import Environment
from wengert.compiler.tracing.graph import comes_back
from wengert.compiler.tracing.prints import told_before
from wengert.func.inputs import Transformed
from wengert.nn.modules.module import Module
from wengert.tape.base import TensorBase
from wengert.tape.modes import NO_GRAD, current_mode
from wengert.tape.sites import warn

F = TypeVar("F", bound=Callable[..., Any])

_DEFAULT = 8
_KINDS = 64
"""The default limit on the number of argument sizes that are traced."""
_MOST_MET = 1000
"""The largest number of untraced sizes that are remembered."""
_PATIENCE = 60.0
"""The number of seconds that a call waits for another thread that is tracing."""
_TRACING = threading.RLock()
"""Held while a thread traces: until it ends, the tensors that it reaches hold symbols."""
_MODES = ("default", "lite", "reduce-overhead", "max-autotune-no-cudagraphs", "max-autotune")
_INDUCTOR = (
    *("epilogue_fusion", "max_autotune", "max_autotune_gemm", "fallback_random", "shape_padding"),
    *("triton", "trace", "cpp", "guard_filter_fn", "freezing", "coordinate_descent_tuning"),
)
"""Options, and prefixes of options, of PyTorch's compiler that programs set."""


class CompileError(RuntimeError):
    """A function of ``compile(f, fullgraph=True)`` cannot be compiled."""


class Compiled:
    """A function that is traced and compiled when it is called (see `compile`).

    Attributes
    ----------
    function: The original function.
    reason: Why calls run it uncompiled, or None.
    under_transforms
        The functions compiled for calls under transforms, by kinds of transforms, or that inside
        of the transform that this function is.
    """

    __slots__ = (
        *("__dict__", "__weakref__", "_options", "_passed", "_plain", "_quick", "_settings"),
        *("_kinds", "_met", "_numbers", "_open", "_shut", "_skips", "_writes", "entries"),
        *("function", "reason", "seconds", "under_transforms"),
    )
    _entry_class: type[Entry] = Entry
    _environment_class: type[Environment] = Environment
    _capture: ClassVar[Callable[..., Captured]] = staticmethod(capture)
    where = ""

    def __init__(self, function: Callable[..., Any], options: Options, settings: Any) -> None:
        functools.update_wrapper(self, function, updated=())
        self.function = function
        self._options = options
        self._settings = settings
        self._empty()
        COMPILED.add(self)

    def _empty(self) -> None:
        """Begin without traces."""
        self._plain = self.function
        self.reason: Reason | None = None
        self.entries: list[tuple[Any, Entry]] = []
        self.seconds = 0.0
        self._passed = 0
        self._skips = True
        self._numbers: dict[Any, int] = {}
        self._open: frozenset[str] = frozenset()
        self._shut: frozenset[str] = frozenset()
        self._writes = False
        self._met: dict[Any, dict[Any, bool]] = {}
        self._kinds = 0
        self._quick: list[tuple[Any, Any, Callable[..., Any]]] = []
        self.under_transforms: dict[tuple[str, ...], Compiled] = {}

    def __reduce__(self) -> Any:
        return functools.partial(compile, **self._settings), (self.function,)

    def __get__(self, instance: Any, owner: Any = None) -> Any:
        return self if instance is None else functools.partial(self, instance)

    def __getattr__(self, name: str) -> Any:
        if name == "function":
            raise AttributeError(name)
        return getattr(self.function, name)

    def __repr__(self) -> str:
        return f"<compiled {getattr(self.function, '__qualname__', self.function)}>"

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Call the function, compiled where possible."""
        if error_state() is not UNSEEN[0] and shows_errors():
            return self.function(*args, **kwargs)
        mode = current_mode()
        if mode is not None and mode is not NO_GRAD:
            return self._beneath(mode, args, kwargs)
        if STANCES and STANCES[0] == "force_eager":
            return self.function(*args, **kwargs)
        default = default_float()
        for quick_mode, quick_default, quick in self._quick:
            if quick_mode is mode and quick_default is default:
                try:
                    result = quick(args, kwargs)
                except Missing as found_missing:
                    # the output that it prints could not be printed
                    missing = found_missing
                    break
                if result is not MISS:
                    return result
        else:
            return self._run((mode, default), args, kwargs)
        return self._traced((mode, default), args, kwargs, missing)

    def _beneath(self, mode: Any, args: Any, kwargs: Any) -> Any:
        """Call the function in a special mode: transforms, another trace, or a dispatch mode."""
        kinds = kinds_of(mode)
        if kinds is None:
            return self.function(*args, **kwargs)
        inner = self.under_transforms.get(kinds)
        if inner is None:
            inner = self.under_transforms.setdefault(kinds, _UnderTransforms(self, kinds))
        return inner(*args, **kwargs)

    def _run(self, key: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """Run a call on the general path."""
        if self._open and _TRACING.acquire(timeout=_PATIENCE):
            # open places are read at the start of a call and written at its end
            try:
                return self._found(key, args, kwargs)
            finally:
                _TRACING.release()
        return self._found(key, args, kwargs)

    def _found(self, key: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """Run a trace that is valid for a call, or make one."""
        missing: Missing | None = None
        for entry_key, entry in self.entries:
            if entry_key != key:
                continue
            found = entry.match(args, kwargs)
            if found is not None and entry.verified:
                if (entry.strides or entry.layout is not None) and not entry.fits(*found):
                    continue
                try:
                    if not entry.ready:
                        if not self._gains():
                            return self.function(*args, **kwargs)
                        entry.ready = True
                        self._hasten()
                    return entry.run(*found, args, kwargs)
                except Elsewhere:
                    continue
                except Missing as found_missing:
                    missing = found_missing
                    break
        return self._traced(key, args, kwargs, missing)

    def _gains(self) -> bool:
        """Return whether compiled code pays; if it does not, give up compiling."""
        known = [entry.gain for _, entry in self.entries if entry.left is None]
        if self._options.fullgraph or any(one is None or one >= 1 for one in known):
            return True
        self._give_up(Reason("compiled, it is not quicker", None))
        return False

    def _hasten(self) -> None:
        """Generate the fast paths of calls."""
        self._quick = [
            (*key, quick)
            for key, entry in self.entries
            if entry.ready and (quick := quick_call(entry)) is not None
        ]

    def explain(self) -> Explanation:
        """Report on the function: its traces, decisions, loops, and why it was not compiled.

        Returns
        -------
        Explanation: Printable; its attributes hold the same as data.

        Examples
        --------
        >>> f = wg.compile(lambda x: (x.sin() * x).sum(), backend="numpy")
        >>> _ = f(wg.ones(3)), f(wg.ones(3))
        >>> print(str(f.explain()).partition(", made in")[0])
        <lambda>: 1 trace for 1 kind of arguments
        """
        return Explanation(self)

    @property
    def program(self) -> str:
        """The programs of all traces, as text."""
        return self.explain().programs()

    def llvm(self, optimised: bool = False) -> str:
        """Return the LLVM IR of all native programs, as generated or optimised."""
        # identical blocks share a machine
        machines = {
            machine: None
            for part in (self, *self.under_transforms.values())
            for _, entry in part.entries
            for machine in entry.tree.machines()
        }
        return "\n".join(m.optimised() if optimised else m.ir for m in machines)

    def forget(self) -> None:
        """Drop all traces."""
        with _TRACING:
            self._empty()
            self.__class__ = Compiled

    def _give_up(self, reason: Reason | None) -> None:
        """Run the function uncompiled from now on."""
        self.reason = reason
        self.__class__ = _Plain

    def _entry(self, key: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Entry | None:
        """Return the entry whose guards hold for a call, verified or not, or None."""
        for entry_key, entry in self.entries:
            if entry_key == key:
                found = entry.match(args, kwargs)
                if found is not None and entry.fits(*found):
                    return entry
        return None

    def _environment(
        self, args: Any, kwargs: Any, gradients: bool = True, openings: Any = None
    ) -> Environment:
        return self._environment_class(self.function, args, kwargs, gradients, openings)

    def _opened(self, args: Any, kwargs: Any) -> Environment:
        """Return the environment of a call, in which the places that calls change are open."""
        if self._open:
            found = self._environment(args, kwargs, openings=Openings(self._open))
            if not found.openings.clashes:
                return found
            self._shut |= self._open
            self._reopen(frozenset())
        return self._environment(args, kwargs)

    def _reopen(self, paths: frozenset[str]) -> None:
        """Open these places instead, and drop all traces, which do not know them."""
        self._open = paths
        self.entries, self._quick = [], []

    def _changed(self, captured: Captured, args: Any, kwargs: Any) -> bool:
        """Open the places that a call has changed; return False if there are no new ones."""
        search = Search(captured.before, self._open)
        exact = self._environment(args, kwargs, False, search).is_exact
        found = set() if exact else search.paths - self._open - self._shut
        if found:
            self._reopen(self._open | found)
        return bool(found)

    def _traced(
        self, key: Any, args: tuple[Any, ...], kwargs: dict[str, Any], missing: Missing | None
    ) -> Any:
        said = () if missing is None else missing.said
        if STANCES:
            if STANCES[0] == "fail_on_recompile":
                raise RuntimeError(
                    "Detected recompile when torch.compile stance is 'fail_on_recompile': no trace "
                    f"of {self!r} holds for this call"
                )
            with told_before(said):
                return self.function(*args, **kwargs)
        if not _TRACING.acquire(blocking=False):
            # another thread is tracing, and may have replaced this call's tensors by symbols
            if not _TRACING.acquire(timeout=_PATIENCE):
                with told_before(said):
                    return self.function(*args, **kwargs)
            if missing is None or not (missing.drawn or said):
                _TRACING.release()
                return self._run(key, args, kwargs)
        try:
            result = self._traced_alone(key, args, kwargs, missing)
        finally:
            _TRACING.release()
        if result is MISS:
            with told_before(said):
                return self.function(*args, **kwargs)
        return result

    def _traced_alone(
        self, key: Any, args: tuple[Any, ...], kwargs: dict[str, Any], missing: Missing | None
    ) -> Any:
        with seldom(), contextlib.ExitStack() as ends:
            environment = self._opened(args, kwargs)
            ends.callback(environment.close)
            entry = self._entry(key, args, kwargs)
            options = self._options
            if entry is None and options.kinds > options.limit and self._waits(key, args, kwargs):
                return MISS
            if environment.refusal is not None:
                self._stop(Reason(environment.refusal, environment.where))
                return MISS
            environment.skips = environment.skips and self._skips
            environment.numbers = self._numbers
            before = environment.apart
            started = perf_counter()
            error = None
            by_blocks = entry is not None and entry.by_blocks
            call: Any = self.function, args, kwargs, environment
            try:
                captured = self._capture(*call, by_blocks, missing)
            except Unseen as unseen:
                error = unseen.cause
            if error is not None:
                # outside of `except`, which would become the context of what is raised here
                return self._untraceable(error, environment, args, kwargs)
            ends.callback(captured.let_go)
            if captured.exit is None:
                self._note_broken(key, captured, environment)
                return captured.result
            if captured.trace.parted is not None and self._options.fullgraph:
                self._stop(captured.trace.parted)
            after = self._after(environment, args, kwargs)
            same = before.equals(after)
            if captured.left or not same:
                captured.trace.unmask()
                # later calls may find what this one has computed and cached
                self._passed += 1
                new = self._changed(captured, args, kwargs) or same
                new = new or before.caches() != after.caches()
                if self._passed > self._options.limit or not new:
                    self._stop(Reason("it changes objects other than tensors", None))
                return captured.result
            result = self._kept(key, entry, captured, (args, kwargs))
            self.seconds += perf_counter() - started
            return result

    def _after(
        self, environment: Environment, args: tuple[Any, ...], kwargs: dict[str, Any]
    ) -> Any:
        """Return the environment as a traced run has left it."""
        known = environment.openings and Openings(self._open, environment.openings)
        return self._environment(args, kwargs, False, known)

    def _untraceable(
        self,
        error: Exception,
        environment: Environment,
        args: tuple[Any, ...],
        kwargs: dict[str, Any],
    ) -> Any:
        """Run the function as it is, unless an error of its trace is its own: raise that."""
        after = self._after(environment, args, kwargs)
        if self._options.fullgraph or self._open or not environment.apart.equals(after):
            raise error
        result = self.function(*args, **kwargs)
        self._stop(Reason(f"tracing it raises {type(error).__name__}: {error}", None))
        return result

    def _note_broken(self, key: Any, captured: Captured, environment: Environment) -> None:
        """Note what a trace without an exit says about later ones."""
        trace = captured.trace
        broken = trace.broken
        self._skips = self._skips and not trace.turns.skipped
        self._passed += broken is None
        if trace.reads:
            self._shut |= environment.openings.lists()
            self._reopen(self._open - self._shut)
        elif broken is not None:
            self._stop(self._left(key, captured, broken) if broken.layout else broken)
        elif self._passed > self._options.limit:
            self._stop(Reason("each call rebuilds what the next one is to find", None))

    def _waits(self, key: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> bool:
        """Return whether to delay a trace for new sizes, which may not come again.

        The first two sizes are traced at once, since there may be no others.
        """
        form, sizes = _kind_of(args, kwargs)
        met = self._met.setdefault((key, form), {})
        traced = met.get(sizes)
        if traced or not met:
            # a new kind: the first of its sizes, or one that was traced and differs otherwise
            self._kinds += 1
        elif len(self.entries) >= self._options.kinds or (traced is None and len(met) > _MOST_MET):
            return True
        met[sizes] = self._options.fullgraph or traced is False or len(met) < 2
        return not met[sizes]

    def _kept(self, key: Any, entry: Entry | None, captured: Captured, given: Any) -> Any:
        """Add a trace to the existing ones; return the result of this call."""
        self._writes = self._writes or captured.writes
        if entry is None:
            name = getattr(self.function, "__name__", "f")
            kind = self._entry_class
            entry = kind(captured.environment, self.function, name, self._options)
        elif entry.environment.narrow(captured.environment):
            # its conditions have changed
            entry.matcher = None
        if self._writes:
            entry.lay_out(captured)
        entry.strides.update(captured.strides)
        known = entry.note_foreign(captured)
        added = known and entry.add(captured)
        if known and not (added or entry.by_blocks) and captured.trace.turns.skipped:
            # the next call records every iteration
            self._skips = False
            return captured.result
        if added:
            entry.weigh(captured)
        if added and all(one is not entry for _, one in self.entries):
            # only now, when it is complete, may other threads find it
            self.entries.insert(0, (key, entry))
        if not known:
            self._stop(Reason("arrays come from outside that are not the same in each call", None))
        elif not added:
            self._stop(Reason("two runs on equal values did not do the same", None))
        elif entry.tree.traces > self._options.limit:
            self._stop(crowded(entry.tree.blocks(), self._options.limit))
        elif len(self.entries) > self._options.kinds or self._kinds > self._options.limit:
            most = self._options.limit
            self._stop(Reason(f"it was called with more than {most} kinds of arguments", None))
        self._hasten()
        if captured.trace.walked_back and self.reason is None and comes_back(captured.trace.items):
            self._differentiate_loops()
        assert captured.exit is not None
        if captured.exit.backward is None:
            return captured.result
        return entry.with_history(captured, given, added)

    def _differentiate_loops(self) -> None:
        """Turn the compiled derivative of a loop into the derivative of a compiled loop.

        The traces of a backward pass through iterations form a tree. Blocks have passes of their
        own.
        """
        if isinstance(self.function, Transformed):
            inner = Compiled(self.function.func, self._options, self._settings)
            self._plain = self.function.of(inner)
            self.entries, self._quick, self.under_transforms = [], [], {("inside",): inner}
            self.__class__ = _Plain

    def _left(self, key: Any, captured: Captured, reason: Reason) -> Reason:
        """Run calls uncompiled if their inputs share memory as in this call."""
        entry = self._entry_class(captured.environment, self.function, "", self._options)
        entry.layout, entry.left, entry.ready = captured.layout, reason, True
        self.entries.insert(0, (key, entry))
        captured.environment.close()
        return reason._replace(layout=len(self.entries) <= self._options.limit)

    def _stop(self, reason: Reason | None) -> None:
        """Run uncompiled from now on, and warn once."""
        if self._options.fullgraph:
            raise CompileError(f"{self!r}: {reason}")
        if self.reason is None:
            if not (such := reason is not None and reason.layout):
                self._give_up(reason)
            if self._options.quiet:
                return
            name = getattr(self.function, "__name__", "the function")
            warn(
                f"{name}() is not compiled{self.where}{' for such inputs' * such}, but runs as it "
                f"is: {reason}",
                UserWarning,
            )


def _kind_of(args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[Any, Any]:
    """Return the key of a call by its arguments without their sizes, and the sizes."""
    leaves: list[Any] = flatten((args, kwargs))[0]
    arrays: Any = TensorBase | np.ndarray
    # payloads: a subclass could override the tensors' attributes
    held = [leaf._payload if isinstance(leaf, TensorBase) else leaf for leaf in leaves]
    form = [
        (array.dtype, array.ndim, getattr(leaf, "_edge", None) is not None)
        if isinstance(leaf, arrays)
        else (type(leaf), leaf if isinstance(leaf, bool | float | int | str) else None)
        for leaf, array in zip(leaves, held, strict=True)
    ]
    pairs = zip(leaves, held, strict=True)
    sizes = [tuple(array.shape) for leaf, array in pairs if isinstance(leaf, arrays)]
    return (*kwargs, *form), tuple(sizes)


class _UnderTransforms(Compiled):
    """The part of a compiled function that serves calls under certain kinds of transforms.

    See NOTE [calls under transforms] in `wengert.compiler.runtime.transformed`.
    """

    __slots__ = ()
    _entry_class = TransformedEntry
    _environment_class = TransformedEnvironment
    _capture = staticmethod(capture_transformed)

    def __init__(self, compiled: Compiled, kinds: tuple[str, ...]) -> None:
        super().__init__(compiled.function, compiled._options, compiled._settings)
        self.where = f" under {' and '.join(dict.fromkeys(kinds))}"
        # `reset` forgets it together with the function that it belongs to
        COMPILED.discard(self)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Call the function at the active levels."""
        mode = current_mode()
        if self.reason is not None or mode is None or "force_eager" in STANCES:
            return self.function(*args, **kwargs)
        levels = tuple([(level.size, level.randomness) for level in mode.levels])
        return self._run((levels, mode.grad, default_float()), args, kwargs)

    def _changed(self, captured: Captured, args: Any, kwargs: Any) -> bool:
        """Return False: no place is opened under transforms."""
        return False

    def _hasten(self) -> None:
        """Do nothing: calls under transforms have no fast path."""

    def _give_up(self, reason: Reason | None) -> None:
        self.reason = reason


class _Plain(Compiled):
    """A function that runs uncompiled from now on, as does the transform of a compiled function.

    A call costs one lookup more than a call of the function itself: ``__call__`` is a slot that
    holds the function, so there is no frame in between.
    """

    __slots__ = ()
    __call__ = Compiled.__dict__["_plain"]


def _backend(name: str) -> Any:
    """Return the module of a backend."""
    if name in ("auto", "inductor"):
        name = "llvm" if importlib.util.find_spec("llvmlite") else "numpy"
    elif name == "aot_eager":
        # it runs the traced program on the kernels of eager code
        name = "numpy"
    if name not in ("llvm", "numpy"):
        raise ValueError(
            f"compile(): backend must be 'auto', 'llvm', 'numpy' or 'eager', not {name!r}"
        )
    return importlib.import_module(f"wengert.compiler.backends.{name}")


@overload
def compile(
    model: F,
    *,
    fullgraph: bool = False,
    dynamic: bool | None = None,
    backend: str | Callable[..., Any] = "auto",
    mode: str | None = None,
    options: dict[str, Any] | None = None,
    disable: bool = False,
    fastmath: bool = False,
    threads: int | None = None,
    limit: int | None = None,
) -> F: ...
@overload
def compile(
    model: None = None,
    *,
    fullgraph: bool = False,
    dynamic: bool | None = None,
    backend: str | Callable[..., Any] = "auto",
    mode: str | None = None,
    options: dict[str, Any] | None = None,
    disable: bool = False,
    fastmath: bool = False,
    threads: int | None = None,
    limit: int | None = None,
) -> Callable[[F], F]: ...
def compile(
    model: Callable[..., Any] | None = None,
    *,
    fullgraph: bool = False,
    dynamic: bool | None = None,
    backend: str | Callable[..., Any] = "auto",
    mode: str | None = None,
    options: dict[str, Any] | None = None,
    disable: bool = False,
    fastmath: bool = False,
    threads: int | None = None,
    limit: int | None = None,
) -> Any:
    """Return `model` as a function that runs as native loops, where its calls allow it.

    The first call runs the function eagerly and records every operation: in the forward pass, in a
    backward pass inside of it, and in updates of parameters. Later calls with arguments of the same
    shapes and dtypes run native loops generated from this trace. Decisions on values (``if x.sum()
    > 0``) are checked in each call; a new outcome is traced. A function that cannot be compiled
    runs eagerly, after one warning that gives the reason.

    Parameters
    ----------
    model : callable, optional. Takes anything, and returns anything. Without it, a decorator is
        returned.
    fullgraph : bool. Raise `CompileError` instead of running the function eagerly.
    backend : {"auto", "llvm", "numpy", "eager"}, or callable. What runs the loops: native code,
        which needs llvmlite, or NumPy. ``"inductor"`` means ``"auto"``, ``"aot_eager"`` means
        ``"numpy"``, and with ``"eager"`` nothing is compiled. A callable gets a ``fx.GraphModule``,
        which returns a tuple, and a list of tensors to call it with; it returns what runs in its
        place.
    disable : bool. Return `model` unchanged.
    fastmath : bool. Allow rewrites that change rounding, and that assume finite numbers.
    threads : int, optional. 1 keeps large loops on one thread; otherwise, and by default, they use
        the number of threads that `get_num_threads` returns.
    limit : int, optional. The largest number of traces for one kind of arguments, and of kinds: 8,
        or the value of ``wengert._dynamo.config.recompile_limit``. If neither is set, kinds that
        differ only in sizes count as one, up to 64 sizes; from the third on, a size is traced when
        it is used for the second time.
    options : dict, optional. ``{"measure": False}`` runs compiled code even if a call is estimated
        to cost more than it saves, by the number of operations, their elements, and guards.
        ``{"quiet": True}`` omits the warning. Options of PyTorch's Inductor are accepted, without
        effect.
    dynamic : bool, optional. Accepted for compatibility with PyTorch: each shape has traces of its
        own, but shapes with the same loops share their native code.
    mode : str, optional. Accepted for compatibility with PyTorch: ``"default"``,
        ``"reduce-overhead"``, ``"max-autotune"``, ``"max-autotune-no-cudagraphs"`` or ``"lite"``,
        without effect.

    Returns
    -------
    Compiled: Called like `model`, also under transforms: ``vmap(compile(f))`` runs compiled code
        for the whole batch. ``compile(vmap(f))`` also saves the cost of the transform. For a module
        it returns a module, whose ``_orig_mod`` is the original.

    Raises
    ------
    ValueError: If there is no such backend.
    RuntimeError: If there is no such option or mode, or both are given.

    Notes
    -----
    A trace is valid for the objects that the function reached when it was traced. Each call checks
    numbers, strings and the structure of containers among its arguments, closed-over variables,
    globals and attributes, and reads tensors and arrays there again. After all computation, a call
    prints what the function prints, then sets the numbers and attributes that it sets and appends
    to the lists that it appends to. A function that reads files or clocks, draws random numbers
    outside of wengert or changes other objects is not compiled.

    Examples
    --------
    >>> @wg.compile
    ... def rosenbrock(x):
    ...     return (100 * (x[1:] - x[:-1] ** 2) ** 2 + (1 - x[:-1]) ** 2).sum()
    >>> x = wg.tensor([0.5, 1.5, 2.5], requires_grad=True)
    >>> for _ in range(2):
    ...     value = rosenbrock(x)
    >>> value
    tensor(163., grad_fn=<CompiledBackward>)
    >>> value.backward()
    >>> x.grad
    tensor([-251.,  101.,   50.])
    """
    if model is not None and not callable(model):
        raise AssertionError(f"A callable function is expected, but {type(model)} is provided.")
    if mode is not None and options is not None:
        raise RuntimeError(
            "Either mode or options can be specified, but both can't be specified at the same time."
        )
    if mode is not None and mode not in _MODES:
        raise RuntimeError(f"Unrecognized mode={mode}, should be one of: {', '.join(_MODES)}")
    asked = {"measure": True, "quiet": False, **(options or {})}
    for name in asked:
        if name not in ("measure", "quiet") and name.partition(".")[0] not in _INDUCTOR:
            known = ["measure", "quiet", *_INDUCTOR]
            raise RuntimeError(f"Unexpected optimization option {name}, known options are {known}")
    settings: dict[str, Any] = {
        "fullgraph": fullgraph,
        "options": options,
        "backend": backend,
        "fastmath": fastmath,
        "threads": threads,
        "limit": limit,
    }
    if model is None:
        return functools.partial(compile, **settings, disable=disable)
    if disable or CONFIG.disable:
        return model
    if backend == "eager":
        return OptimizedModule(model, model) if isinstance(model, Module) else model
    if callable(backend):
        made = PORTS.compiled_by(model, backend)
        return OptimizedModule(model, made) if isinstance(model, Module) else made
    most = CONFIG.recompile_limit if limit is None else limit
    chosen = Options(
        _backend(backend),
        fastmath,
        fullgraph,
        asked["measure"],
        threads=threads,
        limit=most,
        kinds=_KINDS if limit is None and most == _DEFAULT else most,
        quiet=asked["quiet"],
    )
    compiled = Compiled(model, chosen, settings)
    return OptimizedModule(model, compiled) if isinstance(model, Module) else compiled
