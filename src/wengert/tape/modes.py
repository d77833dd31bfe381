"""Layer 4 · tape: whether and how operations are recorded, per thread and per context.

The mode is one immutable object in a context variable. None is the default (record, nothing else)
and `NO_GRAD` is the default without recording, so that an operation tests its mode with one or two
identity comparisons. Any other setting (see `Mode`) is a new object, and operations take the
general path.
"""

from __future__ import annotations

import contextlib
import functools
import inspect
from collections.abc import Callable, Iterator
from contextvars import ContextVar
from typing import Any, TypeVar

from wengert.base.errors import wrong_type
from wengert.base.ports import provides
from wengert.interp.levels import Level
from wengert.tape.detachments import note_switch
from wengert.tape.sites import warn

F = TypeVar("F", bound=Callable[..., Any])


class Mode:
    """The settings that may differ from the default.

    Attributes
    ----------
    grad: Whether operations are recorded.
    inference: The object that computes operations in inference mode, or None (see
        `wengert.tape.inference`).
    anomaly: The object that computes and checks operations in anomaly mode, or None (see
        `wengert.tape.anomaly`).
    hooks: Pairs of hooks that pack and unpack saved tensors; the last pair is used.
    refusal: The reason why saved-tensor hooks are forbidden, or None.
    mutation: The object that copies saved tensors before they are written to, or None (see
        `wengert.tape.saving`).
    multithreading: Stored and reported; it has no effect.
    dispatch: Interpreters that compute operations in place of their kernels. The last is used, and
        may delegate to the others (see `wengert.tape.record.run`).
    levels: The active transforms (see NOTE [levels] in `wengert.interp.levels`).
    sides: The sides of levels that the current backward pass works on, or None (see NOTE [sides of
        a level] in `wengert.tape.levels`).
    tracing: The current trace, or None (see `wengert.compiler.tracing.trace`). Functions that make
        tensors see it only through `traced` and `untraced`.
    meta: Whether tensors are made without values, unless a device is given.
    tangents: Whether operations propagate tangents.
    records: Derived: whether operations are recorded.
    lifts: Derived: whether operations may compute on values other than arrays.
    observed: Derived: whether operations take the common path and are checked afterwards.
    traces: Derived: whether operations are traced, and nothing besides changes them.
    special: Derived: the object that computes operations if they do not take the common path.
    inner: Derived: the mode in which `special` runs them.
    below: Derived: the mode in which the last of `dispatch` runs them.
    """

    __slots__ = (
        "anomaly",
        "below",
        "dispatch",
        "grad",
        "hooks",
        "inference",
        "inner",
        "levels",
        "lifts",
        "meta",
        "multithreading",
        "mutation",
        "observed",
        "records",
        "refusal",
        "sides",
        "special",
        "tangents",
        "traces",
        "tracing",
    )

    def __init__(
        self,
        grad: bool = True,
        inference: Any = None,
        anomaly: Any = None,
        hooks: tuple[tuple[Any, Any], ...] = (),
        refusal: str | None = None,
        mutation: Any = None,
        multithreading: bool = True,
        dispatch: tuple[Any, ...] = (),
        levels: tuple[Level, ...] = (),
        tracing: Any = None,
        sides: Any = None,
        meta: bool = False,
        tangents: bool = True,
    ) -> None:
        self.grad = grad
        self.inference = inference
        self.anomaly = anomaly
        self.hooks = hooks
        self.refusal = refusal
        self.mutation = mutation
        self.multithreading = multithreading
        self.dispatch = dispatch
        self.levels = levels
        self.tracing = tracing
        self.sides = sides
        self.meta = meta
        self.tangents = tangents
        self.records = grad and inference is None
        self.lifts = bool(levels) or tracing is not None
        self.special = inference if anomaly is None else anomaly
        changes = self.special or levels or hooks or mutation or dispatch or sides
        self.traces = tracing is not None and not changes
        self.observed = (
            anomaly is not None
            and inference is None
            and mutation is None
            and not hooks
            and not dispatch
            and not self.lifts
        )
        self.below = changed(self, dispatch=dispatch[:-1]) if dispatch else None
        self.inner: Mode | None = None
        if anomaly is not None:
            self.inner = changed(self, anomaly=None)
        elif inference is not None:
            self.inner = changed(self, inference=None, grad=False)

    def fields(self) -> dict[str, Any]:
        """Return the arguments that make an equal mode."""
        return {name: getattr(self, name) for name in _FIELDS}


_FIELDS = (
    "grad",
    "inference",
    "anomaly",
    "hooks",
    "refusal",
    "mutation",
    "multithreading",
    "dispatch",
    "levels",
    "tracing",
    "sides",
    "meta",
    "tangents",
)
_GRAD = {"grad"}
_DEFAULT = Mode()
_DEFAULT_FIELDS = _DEFAULT.fields()
NO_GRAD = Mode(grad=False)
"""The mode of ``no_grad``."""

MODE: ContextVar[Mode | None] = ContextVar("wengert_mode", default=None)
current_mode = MODE.get


@provides("levels")
def _under_way() -> tuple[Level, ...]:
    mode = current_mode()
    return () if mode is None else mode.levels


@provides("full_mode")
def full_mode() -> Mode:
    """Return the current mode as an object, even if it is the default."""
    mode = current_mode()
    return _DEFAULT if mode is None else mode


def changed(mode: Mode | None, **changes: Any) -> Mode | None:
    """Return `mode` with some of its fields changed."""
    if (mode is None or mode is NO_GRAD) and changes.keys() == _GRAD:
        return None if changes["grad"] else NO_GRAD
    fields = {**(_DEFAULT if mode is None else mode).fields(), **changes}
    if {**fields, "grad": True} == _DEFAULT_FIELDS:
        return None if fields["grad"] else NO_GRAD
    return Mode(**fields)


@contextlib.contextmanager
def outside_of(level: Any) -> Iterator[None]:
    """Return a context in which a level of a transform is not active."""
    before = current_mode()
    known = () if before is None else before.levels
    MODE.set(changed(before, levels=tuple(one for one in known if one is not level)))
    try:
        yield
    finally:
        MODE.set(before)


def change_mode(**changes: Any) -> None:
    """Set some fields of the current mode."""
    MODE.set(changed(current_mode(), **changes))


_OUTER: ContextVar[tuple[bool, ...]] = ContextVar("wengert_outer_devices", default=())


@provides("made_on")
def _made_on(device: Any, for_a_while: bool) -> None:
    """Make tensors on `device`; with `for_a_while`, until a call with None."""
    outer = _OUTER.get()
    if device is None:
        change_mode(meta=outer[-1])
        _OUTER.set(outer[:-1])
        return
    if for_a_while:
        _OUTER.set((*outer, full_mode().meta))
    change_mode(meta=device.type == "meta")


def mode_for_walk(mode: Mode | None, create_graph: bool) -> Mode | None:
    """Return the mode of a backward pass that starts in `mode`."""
    if mode is None or mode is NO_GRAD:
        return None if create_graph else NO_GRAD
    return changed(mode, grad=create_graph)


def is_grad_enabled() -> bool:
    """Return whether grad mode is on, so that operations are recorded.

    Examples
    --------
    >>> wg.is_grad_enabled()
    True
    """
    mode = current_mode()
    return mode is None or mode.grad


def is_recording() -> bool:
    """Return whether operations are recorded: grad mode is on, and inference mode is off."""
    mode = current_mode()
    return mode is None or mode.records


def mixes_dtypes() -> bool:
    """Return whether mixed dtypes are unified where a function would otherwise refuse them."""
    return any(context.mixes for context in full_mode().dispatch)


def sees_rules() -> bool:
    """Return whether a context sees the operations of backward passes, which then take tensors."""
    mode = current_mode()
    return mode is not None and any(context.sees_rules for context in mode.dispatch)


def traced(origin: str, value: Any) -> Any:
    """Return the symbol that the current trace, if any, uses in place of `value`.

    Parameters
    ----------
    origin
        "constant" for a value that is the same in each run, "made" for new memory, "shared" for the
        memory of an array, "unknown" for memory of either kind, "drawn" for a function that draws
        random numbers. Without a trace, `value` is returned unchanged.
    """
    mode = current_mode()
    return value if mode is None or mode.tracing is None else mode.tracing.enter(origin, value)


def untraced(what: str, event: str = "stop") -> None:
    """Notify the current trace, if any, of an effect that no symbol shows.

    Parameters
    ----------
    event
        "stop": later calls may behave differently, so the trace is not valid for them. "keep":
        later calls find what this call makes. "draw": the program is about to draw random numbers.
    """
    mode = current_mode()
    if mode is not None and mode.tracing is not None:
        mode.tracing.tell(event, what)


def decisions_taken() -> int | None:
    """Return the number of branches that the trace has met; None without one or in a transform."""
    mode = current_mode()
    return None if mode is None or mode.tracing is None or mode.levels else mode.tracing.decisions


def is_multithreading_enabled() -> bool:
    """Return the value last given to `set_multithreading_enabled`.

    Examples
    --------
    >>> wg.autograd.is_multithreading_enabled()
    True
    """
    return full_mode().multithreading


class Decorating:
    """A context manager that decorates functions, which then run in it."""

    def clone(self) -> Any:
        """Return one to enter; a decorated function enters a new one at each call."""
        return type(self)()

    def __call__(self, function: F) -> F:
        """Decorate `function` to run in this mode; a generator function runs each step in it.

        A class becomes a function that makes instances in this mode, with a warning, as in PyTorch.
        """
        clone = self.clone
        if inspect.isclass(function):
            warn(
                "Decorating classes is deprecated and will be disabled in future versions. You "
                "should only decorate functions or methods: only the making of an instance runs "
                "in the mode, so decorate __init__ instead.",
                FutureWarning,
            )
        elif inspect.isgeneratorfunction(function):

            @functools.wraps(function)
            def generate(*args: Any, **kwargs: Any) -> Any:
                # itself a generator function, for `inspect`
                return (yield from _stepwise(function(*args, **kwargs), clone))

            return generate  # type: ignore[return-value]  # keeps the signature of `function`

        @functools.wraps(function, updated=())
        def call(*args: Any, **kwargs: Any) -> Any:
            with clone():
                return function(*args, **kwargs)

        return call  # type: ignore[return-value]  # keeps the signature of `function`


class Switch(Decorating):
    """A context manager and decorator that changes one field of the mode.

    On exit it restores the value from entry and leaves other fields as they are. One object may be
    entered several times, also while it is active, as in PyTorch.
    """

    field = "grad"

    def __init__(self, value: Any) -> None:
        self._value = value
        self._before: list[Any] = []

    def __enter__(self) -> None:
        self._before.append(getattr(full_mode(), self.field))
        self._set(self._value)

    def __exit__(self, *exc: object) -> None:
        self._set(self._before.pop())

    def clone(self) -> Switch:
        return type(self)(self._value)

    def _set(self, value: Any) -> None:
        if getattr(full_mode(), self.field) is not value:
            change_mode(**{self.field: value})


def _stepwise(generator: Any, mode: Callable[[], contextlib.AbstractContextManager[None]]) -> Any:
    """Run each step of `generator` in `mode`, and its consumer outside it."""
    send: Any = functools.partial(next, generator)
    while True:
        try:
            with mode():
                value = send()
        except StopIteration as stop:
            return stop.value
        try:
            received = yield value
            send = functools.partial(generator.send, received)
        except GeneratorExit:
            with mode():
                generator.close()
            raise
        except BaseException as error:
            send = functools.partial(generator.throw, error)


class _GradSwitch(Switch):
    """A switch of recording, with a fast path between the two default modes."""

    def __enter__(self) -> None:
        mode = current_mode()
        if mode is None or mode is NO_GRAD:
            self._before.append(mode is None)
            if self._value:
                MODE.set(None)
            elif mode is None:
                note_switch("no_grad()")
                MODE.set(NO_GRAD)
        else:
            self._before.append(mode.grad)
            if mode.grad and not self._value:
                note_switch("no_grad()")
            MODE.set(changed(mode, grad=self._value))

    def __exit__(self, *exc: object) -> None:
        enabled = self._before.pop()
        mode = current_mode()
        if mode is None or mode is NO_GRAD:
            MODE.set(None if enabled else NO_GRAD)
        else:
            MODE.set(changed(mode, grad=enabled))

    def clone(self) -> Switch:
        return _GradSwitch(self._value)


class no_grad(_GradSwitch):
    """Record nothing: a context manager, and a decorator with or without parentheses.

    The mode belongs to the thread and the context: other threads go on recording.

    Examples
    --------
    >>> x = wg.ones(2, requires_grad=True)
    >>> with wg.no_grad():
    ...     y = x * 2
    >>> y.requires_grad
    False
    """

    def __new__(cls, function: Callable[..., Any] | None = None) -> Any:
        """The context manager, or `function` decorated by it."""
        if function is None:
            return object.__new__(cls)
        return _GradSwitch(False)(function)

    def __init__(self) -> None:
        # the constructors of the base classes, inlined for speed
        self._value = False
        self._before = []


class enable_grad(_GradSwitch):
    """Record again, inside `no_grad`: a context manager and a decorator.

    Examples
    --------
    >>> x = wg.ones(2, requires_grad=True)
    >>> with wg.no_grad(), wg.enable_grad():
    ...     y = x * 2
    >>> y.requires_grad
    True
    """

    def __new__(cls, function: Callable[..., Any] | None = None) -> Any:
        """The context manager, or `function` decorated by it."""
        if function is None:
            return super().__new__(cls)
        return _GradSwitch(True)(function)

    def __init__(self) -> None:
        super().__init__(True)


class _AtOnce(Switch):
    """A switch that takes effect when it is made: called as a function, it stays in effect.

    As a context manager it restores the value from before it was made; as a decorator it leaves the
    current mode unchanged.
    """

    def __init__(self, value: Any) -> None:
        super().__init__(value)
        self._at_once = getattr(full_mode(), self.field)
        self._used = False
        change_mode(**{self.field: value})

    def __enter__(self) -> None:
        self._before.append(getattr(full_mode(), self.field) if self._used else self._at_once)
        self._used = True
        change_mode(**{self.field: self._value})

    def __call__(self, function: F) -> F:
        """Decorate `function`, and undo the switch that making the decorator caused."""
        change_mode(**{self.field: self._at_once})
        return super().__call__(function)

    def __repr__(self) -> str:
        return f"torch.autograd.grad_mode.{type(self).__name__}(mode={self._value})"


class set_grad_enabled(_AtOnce):
    """Switch recording on or off: at once as a function, or as a context manager or decorator.

    Parameters
    ----------
    mode : bool. Whether to record.

    Raises
    ------
    TypeError: If it is not a bool.

    Examples
    --------
    >>> with wg.set_grad_enabled(False):
    ...     wg.is_grad_enabled()
    False
    """

    def __init__(self, mode: bool) -> None:
        if not isinstance(mode, bool):
            raise wrong_type("set_grad_enabled", "enabled", "bool", mode, 1)
        if not mode and is_grad_enabled():
            note_switch("set_grad_enabled(False)")
        super().__init__(bool(mode))


class set_multithreading_enabled(_AtOnce):
    """Set the value of `is_multithreading_enabled`; backward passes use one thread regardless.

    Examples
    --------
    >>> with wg.autograd.set_multithreading_enabled(False):
    ...     wg.autograd.grad_mode.is_multithreading_enabled()
    False
    """

    field = "multithreading"

    def __init__(self, mode: bool) -> None:
        super().__init__(bool(mode))


class set_fwd_grad_enabled(Switch):
    """A context manager and decorator that sets whether operations propagate tangents."""

    field = "tangents"
