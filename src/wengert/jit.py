"""Layer 8 · nn: jit: functions of TorchScript; programs run unchanged.

There is no TorchScript: `script`, `trace` and the decorators return their argument, and
`is_scripting` is False. `wengert.compile` makes functions faster. Functions that would write a
program to a file, or read one, raise an error.
"""

from __future__ import annotations

import builtins
import typing
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from typing import Any, Final, NoReturn

from wengert.base.elsewhere import elsewhere, refusal
from wengert.futures import Future
from wengert.nn.modules.module import Module

__all__ = [
    "Attribute",
    "Error",
    "Final",
    "Future",
    "ScriptFunction",
    "ScriptModule",
    "annotate",
    "enable_onednn_fusion",
    "export",
    "fork",
    "freeze",
    "fuser",
    "ignore",
    "interface",
    "is_scripting",
    "is_tracing",
    "isinstance",
    "load",
    "onednn_fusion_enabled",
    "optimize_for_inference",
    "optimized_execution",
    "save",
    "script",
    "script_if_tracing",
    "script_method",
    "set_fusion_strategy",
    "strict_fusion",
    "trace",
    "trace_module",
    "unused",
    "wait",
]
__path__: list[str] = []  # `jit.annotations` and others are rows of a table
__getattr__ = elsewhere(__name__)

_NO_FILES = (
    "there is no TorchScript: models are Python here. Save model.state_dict() by wengert.save, and "
    "load it into the model that the code makes"
)


class Error(RuntimeError):
    """TorchScript's error; never raised here."""


class TracerWarning(Warning):
    """A warning of TorchScript's tracer; never issued here."""

    @staticmethod
    def ignore_lib_warnings() -> None:
        """Do nothing."""


class ScriptWarning(Warning):
    """A warning of TorchScript; never issued here."""


class NotSupportedError(RuntimeError):
    """TorchScript's error for unsupported Python; never raised here."""


class UnsupportedNodeError(NotSupportedError):
    """TorchScript's error for unsupported syntax; never raised here."""


ScriptFunction = refusal("jit", "ScriptFunction", "there is no TorchScript: functions are Python's")
"""The class of scripted functions, of which there are none."""


class ScriptModule(Module):
    """A module like any other, for programs that subclass it.

    Examples
    --------
    >>> class Threefold(wg.jit.ScriptModule):
    ...     @wg.jit.script_method
    ...     def forward(self, y):
    ...         return 3 * y
    >>> Threefold()(wg.full((1,), 7.0))
    tensor([21.])
    """


RecursiveScriptModule = ScriptModule
TopLevelTracedModule = TracedModule = ScriptModule


def script(
    obj: Any,
    optimize: Any = None,
    _frames_up: int = 0,
    _rcb: Any = None,
    example_inputs: Any = None,
) -> Any:
    """Return `obj` unchanged: a function, class or module, which runs as Python.

    Examples
    --------
    >>> @wg.jit.script
    ... def fivefold(y):
    ...     return 5 * y
    >>> fivefold(wg.full((1,), 7.0))
    tensor([35.])
    """
    return obj


def trace(func: Any, example_inputs: Any = None, *args: Any, **kwargs: Any) -> Any:
    """Return `func` unchanged, without running it.

    A TorchScript trace would freeze the branches taken for the example; the function itself
    branches again in each call.

    Examples
    --------
    >>> wg.jit.trace(wg.nn.Identity(), wg.ones(1))(wg.zeros(1))
    tensor([0.])
    """
    return func


def trace_module(mod: Any, inputs: Any, *args: Any, **kwargs: Any) -> Any:
    """Return `mod` unchanged, like `trace`."""
    return mod


def script_method(fn: Any) -> Any:
    """Return `fn` unchanged: it can be called, and runs as Python."""
    return fn


export = interface = unused = script_if_tracing = script_method
_script_if_tracing = _overload = _overload_method = script_method


def ignore(drop: Any = False, **kwargs: Any) -> Any:
    """Return the decorated function unchanged, with or without parentheses."""
    if callable(drop):
        return drop
    return lambda fn: fn


def annotate(the_type: Any, the_value: Any) -> Any:
    """Return `the_value` unchanged.

    Examples
    --------
    >>> wg.jit.annotate(list[int], [])
    []
    """
    return the_value


def _unwrap_optional(x: Any) -> Any:
    """Return `x`, which is not None."""
    if x is None:
        raise AssertionError("Unwrapping null optional")
    return x


class Attribute(typing.NamedTuple):
    """A value with its type, which TorchScript needs."""

    value: Any
    type: Any


def isinstance(obj: Any, target_type: Any) -> bool:
    """Return whether `obj` is of a type, which may have parameters: its parts are checked, too.

    Examples
    --------
    >>> wg.jit.isinstance([1, 2], list[int]), wg.jit.isinstance({"a": 1}, dict[str, float])
    (True, False)
    """
    if builtins.isinstance(target_type, tuple):
        return any(isinstance(obj, one) for one in target_type)
    origin, parts = typing.get_origin(target_type), typing.get_args(target_type)
    if target_type is None or target_type is Any:
        return target_type is Any or obj is None
    if origin is None:
        return builtins.isinstance(obj, target_type)
    if origin in (list, set):
        return builtins.isinstance(obj, origin) and all(isinstance(x, parts[0]) for x in obj)
    if origin is dict:
        return builtins.isinstance(obj, dict) and all(
            isinstance(key, parts[0]) and isinstance(value, parts[1]) for key, value in obj.items()
        )
    if origin is tuple:
        if len(parts) == 2 and parts[1] is ...:
            parts = (parts[0],) * len(obj) if builtins.isinstance(obj, tuple) else parts
        return (
            builtins.isinstance(obj, tuple)
            and len(obj) == len(parts)
            and all(map(isinstance, obj, parts))
        )
    # a union or an optional
    return any(isinstance(obj, part) for part in parts)


def is_scripting() -> bool:
    """Return False: no function is run as script.

    Examples
    --------
    >>> wg.jit.is_scripting() or wg.jit.is_tracing()
    False
    """
    return False


def is_tracing() -> bool:
    """Return False: nothing is traced for TorchScript."""
    return False


class _BroadcastingList:
    """In annotations: a list of numbers, or a single one."""

    def __getitem__(self, kind: Any) -> None:
        return None


Dict, List, Optional, Tuple = dict, list, typing.Optional, tuple
BroadcastingList1 = BroadcastingList2 = BroadcastingList3 = _BroadcastingList()
BroadcastingList4 = BroadcastingList5 = BroadcastingList6 = BroadcastingList1


def fork(func: Callable[..., Any], *args: Any, **kwargs: Any) -> Future:
    """Return a future of ``func(*args, **kwargs)``, which is called at once, in this thread.

    Examples
    --------
    >>> wg.jit.wait(wg.jit.fork(wg.sum, wg.ones(47)))
    tensor(47.)
    """
    made = Future()
    try:
        made.set_result(func(*args, **kwargs))
    except Exception as error:
        made.set_exception(error)
    return made


def wait(future: Future) -> Any:
    """Return the result of a future."""
    return future.wait()


_fork, _wait = fork, wait


def freeze(mod: Any, preserved_attrs: Any = None, *args: Any, **kwargs: Any) -> Any:
    """Return `mod` unchanged; it must be in evaluation mode.

    Raises
    ------
    RuntimeError: If it is in training mode.
    """
    if getattr(mod, "training", False):
        raise RuntimeError(
            "Freezing module in training mode is not yet supported: call module.eval() first."
        )
    return mod


def optimize_for_inference(mod: Any, other_methods: Any = None) -> Any:
    """Return `mod` unchanged, in evaluation mode."""
    return mod.eval()


def set_fusion_strategy(strategy: Any) -> Any:
    """Return the previous strategy, the empty list: nothing is fused here."""
    return []


def enable_onednn_fusion(enabled: bool) -> None:
    """Do nothing: nothing is fused here."""


def onednn_fusion_enabled() -> bool:
    """Return False: nothing is fused here."""
    return False


def strict_fusion() -> AbstractContextManager[None]:
    """Return a context without effect: nothing is fused here."""
    return nullcontext()


def optimized_execution(should_optimize: bool) -> AbstractContextManager[None]:
    """Return a context without effect: there is no script to optimise."""
    return nullcontext()


def fuser(name: str) -> AbstractContextManager[None]:
    """Return a context without effect."""
    return nullcontext()


def save(m: Any, f: Any, _extra_files: Any = None) -> NoReturn:
    """Refuse: there is no script to save.

    It raises a NotImplementedError that says what to do instead.
    """
    raise NotImplementedError(f"torch.jit.save is not offered: {_NO_FILES}")


def load(f: Any, map_location: Any = None, *args: Any, **kwargs: Any) -> NoReturn:
    """Refuse: TorchScript files hold programs that cannot be run here.

    The NotImplementedError says what to do instead.
    """
    raise NotImplementedError(f"torch.jit.load is not offered: {_NO_FILES}")


del annotations  # a module of this name is a row of a table
