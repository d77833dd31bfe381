"""Layer 4 · tape: registration of hooks, and the handles that remove them.

NOTE [watched walks]
As long as no hook is registered and no tensor retains its gradient, nothing observes a backward
pass, and the engine takes its short path. `WATCHED` holds weak references to everything that can
observe one; see `wengert.tape.watch`.
"""

from __future__ import annotations

import itertools
import weakref
from collections.abc import Callable
from typing import Any

from wengert.tape.modes import untraced

WATCHED: weakref.WeakSet[Any] = weakref.WeakSet()
"""Live nodes, and `Watchpoint`s of live leaves, that have hooks or retain gradients."""

_ids = itertools.count()


class Watchpoint:
    """The stand-in for a leaf in `WATCHED`, since tensors compare by their elements."""

    __slots__ = ("__weakref__",)


class _Key(int):
    """The id of a handle, as the key of a hook, with what its caller must know about the hook."""

    flags: int


def flags_of(key: int) -> int:
    """Return the flags that a hook with this key was registered with."""
    return getattr(key, "flags", 0)


class RemovableHandle:
    """The handle of a registered hook: `remove` removes the hook; also a context manager."""

    def __init__(self, hooks: dict[Any, Any], id: int | None = None) -> None:
        self._hooks = hooks
        self.id = next(_ids) if id is None else id

    def remove(self) -> None:
        """Remove the hook; a second call has no effect."""
        self._hooks.pop(self.id, None)

    def hooks_dict_ref(self) -> dict[Any, Any]:
        """Return the table that holds the hook."""
        return self._hooks

    def __enter__(self) -> RemovableHandle:
        return self

    def __exit__(self, *exc: object) -> None:
        self.remove()


def register(
    hooks: dict[Any, Any], hook: Callable[..., Any], what: str = "", flags: int = 0
) -> RemovableHandle:
    """Add `hook` to `hooks`, which run in the order of registration.

    Parameters
    ----------
    what
        The name of the registering method, for the error if `hook` is not callable. Without it the
        error is raised when the hook would run: as in PyTorch, a node accepts any object.
    flags: What the caller of the hook must know: how to call it, or for which output it is.
    """
    if what and not callable(hook):
        raise TypeError(f"{what}(): hook must be callable, not {type(hook).__name__}")
    # a trace would register it again in each run, or never
    untraced("it registers a hook")
    key = next(_ids)
    if flags:
        key = _Key(key)
        key.flags = flags
    hooks[key] = hook
    return RemovableHandle(hooks, key)
