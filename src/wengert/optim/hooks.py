"""Layer 9 · optim: hooks that run before and after steps and around the state of optimisers."""

from __future__ import annotations

import functools
from collections import OrderedDict
from collections.abc import Callable
from typing import Any

from wengert.optim.parameters import making_state
from wengert.tape.handles import RemovableHandle, register

_EVERY_PRE: OrderedDict[int, Callable[..., Any]] = OrderedDict()
_EVERY_POST: OrderedDict[int, Callable[..., Any]] = OrderedDict()
_TABLES = (
    "_optimizer_step_pre_hooks",
    "_optimizer_step_post_hooks",
    "_optimizer_state_dict_pre_hooks",
    "_optimizer_state_dict_post_hooks",
    "_optimizer_load_state_dict_pre_hooks",
    "_optimizer_load_state_dict_post_hooks",
)


def register_optimizer_step_pre_hook(hook: Callable[..., Any]) -> RemovableHandle:
    """Call ``hook(optimizer, args, kwargs)`` before each step of every optimiser.

    If it returns something other than None, that replaces ``(args, kwargs)``.

    %(returns_handle)s

    Examples
    --------
    >>> from wengert.optim.optimizer import register_optimizer_step_pre_hook
    >>> handle = register_optimizer_step_pre_hook(lambda optimizer, args, kwargs: print("step"))
    >>> wg.optim.SGD([wg.ones(1, requires_grad=True)]).step()
    step
    >>> handle.remove()
    """
    return register(_EVERY_PRE, hook, "register_optimizer_step_pre_hook")


def register_optimizer_step_post_hook(hook: Callable[..., None]) -> RemovableHandle:
    """Call ``hook(optimizer, args, kwargs)`` after each step of every optimiser.

    %(returns_handle)s

    Examples
    --------
    >>> from wengert.optim.optimizer import register_optimizer_step_post_hook
    >>> handle = register_optimizer_step_post_hook(lambda optimizer, args, kwargs: print("done"))
    >>> wg.optim.SGD([wg.ones(1, requires_grad=True)]).step()
    done
    >>> handle.remove()
    """
    return register(_EVERY_POST, hook, "register_optimizer_step_post_hook")


def hooked(step: Callable[..., Any]) -> Callable[..., Any]:
    """Wrap `step`, a method of an optimiser, in its hooks."""
    if getattr(step, "hooked", False):
        return step

    def call(self: Any, *args: Any, **kwargs: Any) -> Any:
        if not self._opt_called:
            # schedulers check for it; a trace must see the value that later steps will see
            self._opt_called = True
            self._make_tables()  # subclasses need not have called `__init__`
            making_state()
        before = self._optimizer_step_pre_hooks
        after = self._optimizer_step_post_hooks
        if not (before or after or _EVERY_PRE or _EVERY_POST):
            return step(self, *args, **kwargs)
        # a hook sees the optimiser among the arguments, as in PyTorch
        args = (self, *args)
        for hook in [*_EVERY_PRE.values(), *before.values()]:
            changed = hook(self, args, kwargs)
            if changed is None:
                continue
            if not isinstance(changed, tuple) or len(changed) != 2:
                raise RuntimeError(
                    f"{step} must return None or a tuple of (new_args, new_kwargs), but got "
                    f"{changed}."
                )
            args, kwargs = changed
        result = step(*args, **kwargs)
        for hook in [*after.values(), *_EVERY_POST.values()]:
            hook(self, args, kwargs)
        return result

    functools.update_wrapper(call, step)
    # code that unwraps decorators would walk everything that `step` reaches
    del call.__wrapped__  # type: ignore[attr-defined]  # set by `update_wrapper`
    call.hooked = True  # type: ignore[attr-defined]  # a mark for subclasses
    return call


class _Watch:
    """True while there are hooks of every optimiser; compiled functions ask it in each call."""

    def __bool__(self) -> bool:
        return bool(_EVERY_PRE or _EVERY_POST)


class Hooked:
    """The tables of hooks of one optimiser, and the methods that fill them."""

    _is_hooked = _Watch()
    _opt_called = False
    _optimizer_step_pre_hooks: OrderedDict[int, Callable[..., Any]]
    _optimizer_step_post_hooks: OrderedDict[int, Callable[..., Any]]
    _optimizer_state_dict_pre_hooks: OrderedDict[int, Callable[..., Any]]
    _optimizer_state_dict_post_hooks: OrderedDict[int, Callable[..., Any]]
    _optimizer_load_state_dict_pre_hooks: OrderedDict[int, Callable[..., Any]]
    _optimizer_load_state_dict_post_hooks: OrderedDict[int, Callable[..., Any]]

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        if "step" in cls.__dict__:
            cls.step = hooked(cls.__dict__["step"])  # type: ignore[attr-defined]

    def _make_tables(self) -> None:
        """Add missing tables, as after unpickling."""
        for name in _TABLES:
            self.__dict__.setdefault(name, OrderedDict())

    _patch_step_function = _make_tables
    """What subclasses call that do not call `__init__`: their steps are hooked as it is."""

    def register_step_pre_hook(self, hook: Callable[..., Any]) -> RemovableHandle:
        """Call ``hook(optimizer, args, kwargs)`` before each step.

        If it returns something other than None, that replaces ``(args, kwargs)``.

        %(returns_handle)s
        """
        return register(self._optimizer_step_pre_hooks, hook, "register_step_pre_hook")

    def register_step_post_hook(self, hook: Callable[..., None]) -> RemovableHandle:
        """Call ``hook(optimizer, args, kwargs)`` after each step.

        %(returns_handle)s
        """
        return register(self._optimizer_step_post_hooks, hook, "register_step_post_hook")

    def register_state_dict_pre_hook(
        self, hook: Callable[..., None], prepend: bool = False
    ) -> RemovableHandle:
        """Call ``hook(optimizer)`` before `state_dict`; with `prepend`, before other hooks."""
        return _registered(self._optimizer_state_dict_pre_hooks, hook, prepend)

    def register_state_dict_post_hook(
        self, hook: Callable[..., Any], prepend: bool = False
    ) -> RemovableHandle:
        """Call ``hook(optimizer, state_dict)`` after `state_dict`; it may return a replacement."""
        return _registered(self._optimizer_state_dict_post_hooks, hook, prepend)

    def register_load_state_dict_pre_hook(
        self, hook: Callable[..., Any], prepend: bool = False
    ) -> RemovableHandle:
        """Call ``hook(optimizer, state_dict)`` before loading; it may return a replacement.

        It receives a shallow copy of the argument of `load_state_dict`.
        """
        return _registered(self._optimizer_load_state_dict_pre_hooks, hook, prepend)

    def register_load_state_dict_post_hook(
        self, hook: Callable[..., None], prepend: bool = False
    ) -> RemovableHandle:
        """Call ``hook(optimizer)`` after loading; with `prepend`, before other hooks."""
        return _registered(self._optimizer_load_state_dict_post_hooks, hook, prepend)


def _registered(table: OrderedDict[int, Any], hook: Any, prepend: bool) -> RemovableHandle:
    handle = register(table, hook, "register_hook")
    if prepend:
        table.move_to_end(handle.id, last=False)
    return handle
