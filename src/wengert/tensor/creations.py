"""Layer 6 · tensor: functions that make tensors, as ``__torch_dispatch__`` sees them.

NOTE [creations under __torch_dispatch__]
They are not primitives. When the first context or class with a ``__torch_dispatch__`` appears,
they are extended to ask: the innermost context of the thread, or the class of the tensor that the
new one resembles.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable
from functools import cache
from inspect import signature
from typing import Any

from wengert.base.device import as_device
from wengert.ops.aten import dispatched, overload
from wengert.ops.exports import EXPORTS
from wengert.tape.base import TensorBase
from wengert.tape.modes import MODE, changed, current_mode
from wengert.tensor.overrides import extend

_KINDS = {
    "arange": "default start start_step",
    "empty": "memory_format",
    "eye": "default m",
    "randint": "default default low",
    "randint_like": "default low_dtype",
}
"""The overloads of functions, by the number of their arguments."""
_PLAIN = "empty_strided full linspace logspace ones rand randn randperm scalar_tensor zeros"
_LIFTED = ("from_numpy", "tensor")
"""Functions that copy or take over memory, which ``lift_fresh`` hands over."""


@cache
def watch_creations() -> None:
    """Make the functions that make tensors ask contexts and classes."""
    like = [name for name in EXPORTS["wengert"] if name.endswith("_like")]
    like += ["new_empty", "new_full", "new_ones", "new_zeros"]
    for name in {*_KINDS, *_PLAIN.split(), *like, *_LIFTED}:
        home = EXPORTS["wengert"].get(name) or EXPORTS["Tensor"][name]
        function = getattr(importlib.import_module(f"wengert.ops.{home}"), name)
        extend(function, _lifting if name in _LIFTED else _asking(name))


def _handler(args: tuple[Any, ...]) -> tuple[Any, Any, Any]:
    """Return the ``__torch_dispatch__`` to ask, the classes that have it, and the mode inside."""
    mode = current_mode()
    contexts = () if mode is None else mode.dispatch
    for i in reversed(range(len(contexts))):
        if hasattr(contexts[i], "__torch_dispatch__"):
            inside = changed(mode, dispatch=contexts[:i], grad=False)
            return contexts[i].__torch_dispatch__, (), inside
    kind = type(args[0]) if args and isinstance(args[0], TensorBase) else None
    asked = getattr(kind, "__torch_dispatch__", None)
    return asked, (kind,), changed(mode, grad=False)


def _sent(
    name: str, kind: str, own: Any, args: tuple[Any, ...], kwargs: dict[str, Any], handler: Any
) -> Any:
    ask, kinds, inside = handler
    before = MODE.get()
    MODE.set(inside)
    try:
        found = dispatched(ask, overload(name, name, kind), own, kinds, args, kwargs)
        return own(*args, **kwargs) if found is NotImplemented else found
    finally:
        MODE.set(before)


def _lifting(own: Callable[..., Any]) -> Callable[..., Any]:
    def make(*args: Any, **kwargs: Any) -> Any:
        made = own(*args, **kwargs)
        handler = _handler(())
        if handler[0] is None:
            return made
        return _sent("lift_fresh", "default", lambda tensor: tensor, (made,), {}, handler)

    return make


def _asking(name: str) -> Callable[[Any], Any]:
    like = name.startswith("new_") or name.endswith("_like")

    def extended(own: Callable[..., Any]) -> Callable[..., Any]:
        # sizes one by one
        sized = any(p.kind is p.VAR_POSITIONAL for p in signature(own).parameters.values())

        def make(*args: Any, **kwargs: Any) -> Any:
            handler = _handler(args if like else ())
            if handler[0] is None:
                return own(*args, **kwargs)
            wanted = kwargs.pop("requires_grad", False)
            given = _as_listed(args, kwargs, sized, like)
            options = {key: value for key, value in kwargs.items() if value is not None}
            kind = _kind(len(given) - like, options)
            if "out" not in options:
                if not like or "device" in options:
                    options["device"] = as_device(options.pop("device", None) or "cpu")
                options["pin_memory"] = False
            found = _sent(name, kind, own, given, options, handler)
            return found.requires_grad_() if wanted else found

        return make

    def _kind(count: int, options: dict[str, Any]) -> str:
        kinds = _KINDS.get(name, "default").split()
        for key in ("out", "generator"):
            if key in options:
                return key
        return kinds[min(max(count - 1, 0), len(kinds) - 1)]

    return extended


def _as_listed(args: Any, kwargs: dict[str, Any], sized: bool, like: bool) -> tuple[Any, ...]:
    """Return the arguments with sizes as one list."""
    start, rest = args[:like], args[like:]
    if kwargs.get("size") is not None:
        rest = (*rest, kwargs.pop("size"))
    elif sized and not (rest and isinstance(rest[0], list | tuple)):
        rest = (rest,)
    return start + tuple([list(one) if isinstance(one, tuple) else one for one in rest])
