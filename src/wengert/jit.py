"""Layer 8 · nn: jit: what programs that are written for TorchScript use; they run as they are.

There is no script: `script` and `trace` give back what they are given, decorators the function, and
`is_scripting` is False. `wengert.compile` makes functions faster. What would write a program to a
file, or read one, says so.
"""

from __future__ import annotations

import builtins
import typing
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from typing import Any, Final, NoReturn

from wengert.base.elsewhere import elsewhere, refusal
from wengert.base.sections import fill_sections
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
    """What TorchScript raises; nothing here does."""


class TracerWarning(Warning):
    """What TorchScript's tracer warns of; nothing here does."""


class ScriptWarning(Warning):
    """What TorchScript warns of; nothing here does."""


class NotSupportedError(RuntimeError):
    """What TorchScript raises of Python that it cannot read; nothing here does."""


class UnsupportedNodeError(NotSupportedError):
    """What TorchScript raises of syntax that it cannot read; nothing here does."""


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
    """`obj` itself: a function, class or module, which runs as the Python that it is.

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
    """`func` itself; it is not run.

    A trace of TorchScript would keep the decisions that the example led to; the function itself
    takes them again in each call.

    Examples
    --------
    >>> wg.jit.trace(wg.nn.Identity(), wg.ones(1))(wg.zeros(1))
    tensor([0.])
    """
    return func


def trace_module(mod: Any, inputs: Any, *args: Any, **kwargs: Any) -> Any:
    """`mod` itself, as `trace`."""
    return mod


def script_method(fn: Any) -> Any:
    """`fn` itself."""
    return fn


def export(fn: Any) -> Any:
    """`fn` itself: every method can be called."""
    return fn


def unused(fn: Any) -> Any:
    """`fn` itself."""
    return fn


def interface(obj: Any) -> Any:
    """`obj` itself."""
    return obj


def ignore(drop: Any = False, **kwargs: Any) -> Any:
    """The decorated function itself, with brackets or without."""
    if callable(drop):
        return drop
    return lambda fn: fn


def script_if_tracing(fn: Any) -> Any:
    """`fn` itself, as nothing is traced."""
    return fn


_script_if_tracing = script_if_tracing
_overload = _overload_method = script_method


def annotate(the_type: Any, the_value: Any) -> Any:
    """`the_value` itself.

    Examples
    --------
    >>> wg.jit.annotate(list[int], [])
    []
    """
    return the_value


class Attribute(typing.NamedTuple):
    """A value with its type, which TorchScript would want to know."""

    value: Any
    type: Any


def isinstance(obj: Any, target_type: Any) -> bool:
    """Whether `obj` is of a type, which may have parameters: its parts are looked at, too.

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
    # a union, or what an optional value is
    return any(isinstance(obj, part) for part in parts)


def is_scripting() -> bool:
    """False: no function is run as script.

    Examples
    --------
    >>> wg.jit.is_scripting() or wg.jit.is_tracing()
    False
    """
    return False


def is_tracing() -> bool:
    """False: nothing is traced for TorchScript."""
    return False


class _BroadcastingList:
    """In annotations: numbers that one may stand for."""

    def __getitem__(self, kind: Any) -> None:
        return None


Dict, List, Optional, Tuple = dict, list, typing.Optional, tuple
BroadcastingList1 = BroadcastingList2 = BroadcastingList3 = _BroadcastingList()
BroadcastingList4 = BroadcastingList5 = BroadcastingList6 = BroadcastingList1


def fork(func: Callable[..., Any], *args: Any, **kwargs: Any) -> Future:
    """A future of ``func(*args, **kwargs)``, which is called at once, in this thread.

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
    """The result of a future."""
    return future.wait()


_fork, _wait = fork, wait


def freeze(mod: Any, preserved_attrs: Any = None, *args: Any, **kwargs: Any) -> Any:
    """`mod` itself, which must be in evaluation mode.

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
    """`mod` itself, in evaluation mode."""
    return mod.eval()


def set_fusion_strategy(strategy: Any) -> Any:
    """Nothing is fused here, so there is no strategy: the former one is the empty list."""
    return []


def enable_onednn_fusion(enabled: bool) -> None:
    """Has no effect: nothing is fused here."""


def onednn_fusion_enabled() -> bool:
    """False: nothing is fused here."""
    return False


def strict_fusion() -> AbstractContextManager[None]:
    """A context in which what is not fused would be an error; it has no effect."""
    return nullcontext()


def optimized_execution(should_optimize: bool) -> AbstractContextManager[None]:
    """A context that would say whether script is optimised."""
    return nullcontext()


def fuser(name: str) -> AbstractContextManager[None]:
    """A context without effect."""
    return nullcontext()


def save(m: Any, f: Any, _extra_files: Any = None) -> NoReturn:
    """Refused: there is no script that could be saved.

    It raises a NotImplementedError that says what to do instead.
    """
    raise NotImplementedError(f"torch.jit.save is not offered: {_NO_FILES}")


def load(f: Any, map_location: Any = None, *args: Any, **kwargs: Any) -> NoReturn:
    """Refused: files of TorchScript hold programs that cannot be run here.

    The NotImplementedError says what to do instead.
    """
    raise NotImplementedError(f"torch.jit.load is not offered: {_NO_FILES}")


fill_sections(globals())
del annotations  # a module of this name is a row of a table
