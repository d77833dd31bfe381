"""Layer 8 · nn: global hooks on the registration of buffers, modules and parameters."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable
from typing import Any

from wengert.tape.handles import RemovableHandle, register

_Hooks = OrderedDict[Any, Callable[..., Any]]
_BUFFERS: _Hooks = OrderedDict()
_MODULES: _Hooks = OrderedDict()
_PARAMETERS: _Hooks = OrderedDict()


def _run(hooks: _Hooks, holder: Any, name: str, value: Any) -> Any:
    for hook in list(hooks.values()):
        result = hook(holder, name, value)
        if result is not None:
            value = result
    return value


def buffer(holder: Any, name: str, value: Any) -> Any:
    """Run the hooks on a buffer, and return the one to register."""
    return _run(_BUFFERS, holder, name, value) if _BUFFERS else value


def module(holder: Any, name: str, value: Any) -> Any:
    """Run the hooks on a module, and return the one to register."""
    return _run(_MODULES, holder, name, value) if _MODULES else value


def parameter(holder: Any, name: str, value: Any) -> Any:
    """Run the hooks on a parameter, and return the one to register."""
    return _run(_PARAMETERS, holder, name, value) if _PARAMETERS else value


def register_module_buffer_registration_hook(hook: Callable[..., Any]) -> RemovableHandle:
    """Call ``hook(module, name, buffer)`` whenever a module registers a buffer.

    If it returns something other than None, that is registered instead.
    """
    return register(_BUFFERS, hook, "register_module_buffer_registration_hook")


def register_module_module_registration_hook(hook: Callable[..., Any]) -> RemovableHandle:
    """Call ``hook(module, name, submodule)`` whenever a module registers a submodule.

    If it returns something other than None, that is registered instead.
    """
    return register(_MODULES, hook, "register_module_module_registration_hook")


def register_module_parameter_registration_hook(hook: Callable[..., Any]) -> RemovableHandle:
    """Call ``hook(module, name, parameter)`` whenever a module registers a parameter.

    If it returns something other than None, that is registered instead.
    """
    return register(_PARAMETERS, hook, "register_module_parameter_registration_hook")
