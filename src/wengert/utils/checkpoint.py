"""Layer 8 · utils: `checkpoint`, which trades computation for memory, under PyTorch's names."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterable, Iterator
from contextvars import ContextVar
from typing import Any, NoReturn, TypeVar

from wengert.autograd.graph import saved_tensors_hooks
from wengert.base.names import shows
from wengert.tape.modes import is_grad_enabled
from wengert.tape.sites import warn
from wengert.utils.dispatch import OperationLog
from wengert.utils.recompute import CheckpointError, GraphExecGroup, Region
from wengert.utils.reentrant import CheckpointFunction, check_backward_validity, detach_variable
from wengert.utils.selective import (
    SAC_IGNORED_OPS,
    CheckpointPolicy,
    SelectiveCheckpointContext,
    create_selective_checkpoint_contexts,
)

__all__ = [
    "checkpoint",
    "checkpoint_sequential",
    "CheckpointError",
    "CheckpointFunction",
    "check_backward_validity",
    "detach_variable",
    "get_device_states",
    "set_device_states",
    "noop_context_fn",
    "set_checkpoint_early_stop",
    "DefaultDeviceType",
    "set_checkpoint_debug_enabled",
    "CheckpointPolicy",
    "SelectiveCheckpointContext",
    "create_selective_checkpoint_contexts",
    "SAC_IGNORED_OPS",
    "GraphExecGroup",
]
__dir__ = shows(__all__)

R = TypeVar("R")

_DEBUG: ContextVar[bool | None] = ContextVar("wengert_checkpoint_debug", default=None)
_EARLY_STOP: ContextVar[bool | None] = ContextVar("wengert_checkpoint_early_stop", default=None)
_CHECKS = {"default": True, "none": False}

_PASS_IT = (
    "the use_reentrant parameter should be passed explicitly. use_reentrant=False is recommended: "
    "it works with autograd.grad, with keyword arguments and with tensors in containers. "
    "use_reentrant=True is what you get now."
)


@contextlib.contextmanager
def set_checkpoint_debug_enabled(enabled: bool | None) -> Iterator[None]:
    """Set ``debug=`` for all checkpoints in this context; None leaves it to the calls.

    Parameters
    ----------
    enabled : bool or None

    Examples
    --------
    >>> from wengert.utils.checkpoint import checkpoint, set_checkpoint_debug_enabled
    >>> x = wg.ones(2, requires_grad=True)
    >>> with set_checkpoint_debug_enabled(True):
    ...     y = checkpoint(wg.exp, x, use_reentrant=False)
    """
    before = _DEBUG.get()
    _DEBUG.set(enabled)
    try:
        yield
    finally:
        _DEBUG.set(before)


@contextlib.contextmanager
def set_checkpoint_early_stop(enable: bool | None) -> Iterator[None]:
    """Set ``early_stop=`` for all checkpoints in this context; None leaves it to the calls.

    It takes effect where the function is called, not where the backward pass runs.

    Parameters
    ----------
    enable : bool or None

    Examples
    --------
    >>> from wengert.utils.checkpoint import checkpoint, set_checkpoint_early_stop
    >>> def f(x):
    ...     y = x.exp()
    ...     print("done")
    ...     return y
    >>> x = wg.ones(1, requires_grad=True)
    >>> checkpoint(f, x, use_reentrant=False).backward()
    done
    >>> with set_checkpoint_early_stop(False):
    ...     y = checkpoint(f, x, use_reentrant=False)
    done
    >>> y.backward()
    done
    """
    before = _EARLY_STOP.get()
    _EARLY_STOP.set(enable)
    try:
        yield
    finally:
        _EARLY_STOP.set(before)


def noop_context_fn() -> tuple[Any, Any]:
    """Return two contexts that do nothing; the default of ``context_fn=``.

    Examples
    --------
    >>> from wengert.utils.checkpoint import noop_context_fn
    >>> len(noop_context_fn())
    2
    """
    return contextlib.nullcontext(), contextlib.nullcontext()


def checkpoint(
    function: Callable[..., R],
    *args: Any,
    use_reentrant: bool | None = None,
    context_fn: Callable[[], tuple[Any, Any]] = noop_context_fn,
    determinism_check: str = "default",
    debug: bool = False,
    early_stop: bool = True,
    preserve_rng_state: bool = True,
    **kwargs: Any,
) -> R:
    """Call a function without keeping its saved tensors; recompute them in the backward pass.

    The backward pass then calls the function again, so the memory of a chain of checkpoints is that
    of their inputs and of one of them at a time. The function must do the same each time. Gradients
    flow to all tensors that it uses, not only to its arguments.

    With ``use_reentrant=False`` the graph is recorded as usual, and only its saved tensors are
    replaced: every kind of backward pass works, any number of times if the graph is kept, and
    regions may be nested. ``use_reentrant=True`` records one node whose backward runs a backward
    pass itself. It supports only ``backward()`` to all leaves, only first derivatives, and tensors
    only as direct arguments and outputs. At least one of each must require a gradient.

    Parameters
    ----------
    function : callable. The function to call. It may return anything; with ``use_reentrant=True`` a
        tensor or a tuple.
    *args: Its arguments. Tensors among these and `kwargs` must not be written to until the backward
        pass.
    use_reentrant : bool. The variant to use; pass it explicitly. None warns and means True.
    context_fn : callable, optional. Returns two context managers, for the forward pass and for the
        recomputation. Not with ``use_reentrant=True``.
    determinism_check : {"default", "none"}. Whether to check that the recomputation saves the same
        tensors: their shapes and dtypes, and that tensors from outside the function have not been
        written to in between.
    debug : bool. Whether a `CheckpointError` shows the operations of both calls. Not with
        ``use_reentrant=True``.
    early_stop : bool. Whether the recomputation ends as soon as every saved tensor is recomputed.
        Ignored with ``use_reentrant=True``.
    preserve_rng_state : bool. Whether both calls draw the same random numbers.
    **kwargs: Its keyword arguments; not with ``use_reentrant=True``.

    Returns
    -------
    object: What the function returns.

    Raises
    ------
    ValueError: If arguments are incompatible.
    CheckpointError: In the backward pass, if the recomputation does not save the same tensors.
    RuntimeError: In the backward pass, if an input was written to in between, or, with
        ``use_reentrant=True``, if only some gradients are requested.

    Examples
    --------
    >>> from wengert.utils.checkpoint import checkpoint
    >>> def layer(x, w):
    ...     return (x @ w).sigmoid()
    >>> x, w = wg.ones(2, 3), wg.zeros(3, 1, requires_grad=True)
    >>> y = checkpoint(layer, x, w, use_reentrant=False)
    >>> y.sum().backward()
    >>> w.grad.T
    tensor([[0.5000, 0.5000, 0.5000]])
    """
    if use_reentrant is None:
        warn(f"torch.utils.checkpoint: {_PASS_IT}")
        use_reentrant = True
    if use_reentrant:
        if kwargs:
            raise ValueError(
                f"Unexpected keyword arguments: {','.join(kwargs)}: pass use_reentrant=False, or "
                "pass them by position"
            )
        if context_fn is not noop_context_fn or debug is not False:
            raise ValueError(
                "Passing `context_fn` or `debug` is only supported when use_reentrant=False."
            )
        return CheckpointFunction.apply(function, preserve_rng_state, *args)
    explain: Callable[[CheckpointError], NoReturn] | None = None
    enabled = _DEBUG.get()
    if debug if enabled is None else enabled:
        if context_fn is not noop_context_fn:
            raise ValueError("debug=True is incompatible with non-default context_fn")
        context_fn, explain = _debugging()
    if determinism_check not in _CHECKS:
        raise ValueError(
            f"determinism_check should be one of {list(_CHECKS)}, but got {determinism_check}"
        )
    forward_context, recompute_context = context_fn()
    if not is_grad_enabled():
        return function(*args, **kwargs)
    always = _EARLY_STOP.get()
    region = Region(
        function,
        args,
        kwargs,
        preserve_rng_state=preserve_rng_state,
        context=recompute_context,
        checked=_CHECKS[determinism_check],
        early_stop=early_stop if always is None else always,
        explain=explain,
    )
    with saved_tensors_hooks(region.pack, region.unpack), forward_context:
        result = function(*args, **kwargs)
        region.complete = True
    if not region.complete:
        raise RuntimeError(
            "torch.utils.checkpoint: the forward context provided by context_fn suppressed an "
            "exception raised during the checkpointed forward. This is not supported because "
            "checkpoint cannot return a value for a failed forward."
        )
    return result


def checkpoint_sequential(
    functions: Any,
    segments: int,
    input: Any,
    use_reentrant: bool | None = None,
    **kwargs: Any,
) -> Any:
    """Call functions in sequence, in segments that are checkpointed, except the last.

    Parameters
    ----------
    functions : sequence of callables, or a module with ``children()``. Each is called with the
        result of the previous one.
    segments : int. The number of segments of equal length; the last also gets the remainder.
    input : Tensor. The argument of the first function.
    use_reentrant : bool. See `checkpoint`; pass it explicitly. None warns and means True.
    preserve_rng_state : bool. See `checkpoint`.

    Returns
    -------
    object: The result of the last function.

    Raises
    ------
    ValueError: For other keyword arguments, or if there are fewer functions than segments.

    Examples
    --------
    >>> from wengert.utils.checkpoint import checkpoint_sequential
    >>> x = wg.ones(2, requires_grad=True)
    >>> y = checkpoint_sequential([wg.square, wg.neg, wg.square], 3, x, use_reentrant=False)
    >>> y.sum().backward()
    >>> x.grad
    tensor([4., 4.])
    """
    if use_reentrant is None:
        warn(f"torch.utils.checkpoint.checkpoint_sequential: {_PASS_IT}")
        use_reentrant = True
    preserve = kwargs.pop("preserve_rng_state", True)
    if kwargs:
        raise ValueError(f"Unexpected keyword arguments: {','.join(kwargs)}")
    children = getattr(functions, "children", None)
    steps = list(functions if children is None else children())
    if not 1 <= segments <= len(steps):
        raise ValueError(
            f"checkpoint_sequential(): segments must be from 1 to the number of functions, "
            f"{len(steps)}, but got {segments}"
        )
    size = len(steps) // segments
    last = size * (segments - 1)
    for start in range(0, last, size):
        input = checkpoint(
            _Chain(steps[start : start + size]),
            input,
            use_reentrant=use_reentrant,
            preserve_rng_state=preserve,
        )
    return _Chain(steps[last:])(input)


class _Chain:
    """Functions called in sequence."""

    def __init__(self, steps: Iterable[Callable[[Any], Any]]) -> None:
        self._steps = tuple(steps)

    def __call__(self, value: Any) -> Any:
        for step in self._steps:
            value = step(value)
        return value


def _debugging() -> tuple[Callable[[], tuple[Any, Any]], Callable[[CheckpointError], NoReturn]]:
    """Return the contexts that log operations for ``debug=True``, and the error handler."""
    first, second = OperationLog(), OperationLog()

    def explain(error: CheckpointError) -> NoReturn:
        raise CheckpointError(
            "An error happened while unpacking tensors; dumping logs of latest computation because "
            "you passed `debug=True` to `torch.utils.checkpoint.checkpoint()`.\n\n"
            "1. Stack traces of the operators that ran in the original forward\n\n"
            f"{first.traces()}\n"
            "2. Stack traces of the operators that ran during recomputation\n\n"
            f"{second.traces()}\n"
            "3. Log of operators in the original forward and recomputation\n\n"
            f"Operations executed during the original forward:\n\n{first.operations()}\n\n"
            f"Operations executed during recomputation:\n\n{second.operations()}\n\n"
            "ERROR: Detected non-determinism while running activation checkpointing.\n"
            "You are seeing this error because you passed `debug=True` to checkpoint and the two "
            f"differ in what they save for the backward pass. {error}"
        ) from error

    return lambda: (first, second), explain


# -- devices, of which there is one ---------------------------------------------------------------


class DefaultDeviceType:
    """The device type whose random state checkpoints preserve in PyTorch.

    Here it is stored and returned, and has no effect: there is one device.
    """

    _type = "cpu"

    @staticmethod
    def set_device_type(device: str = "cuda") -> None:
        """Set the type.

        Examples
        --------
        >>> from wengert.utils.checkpoint import DefaultDeviceType
        >>> DefaultDeviceType.set_device_type("cpu")
        """
        DefaultDeviceType._type = device

    @staticmethod
    def get_device_type() -> str:
        """Return the type that was set last.

        Examples
        --------
        >>> from wengert.utils.checkpoint import DefaultDeviceType
        >>> DefaultDeviceType.get_device_type()
        'cpu'
        """
        return DefaultDeviceType._type


def get_device_states(*args: Any) -> tuple[list[int], list[Any]]:
    """Return the devices of tensors other than the CPU, and their random states: none.

    There are none.

    Examples
    --------
    >>> from wengert.utils.checkpoint import get_device_states
    >>> get_device_states(wg.ones(2))
    ([], [])
    """
    return [], []


def set_device_states(
    devices: Iterable[int], states: Iterable[Any], *, device_type: str | None = None
) -> None:
    """Restore the result of `get_device_states`; there is nothing to restore.

    Examples
    --------
    >>> from wengert.utils.checkpoint import get_device_states, set_device_states
    >>> set_device_states(*get_device_states())
    """
