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


class RemovableHandle:
    """The handle of a registered hook: `remove` removes the hook; also a context manager."""

    def __init__(self, hooks: dict[Any, Any], key: Any = None) -> None:
        key = next(_ids) if key is None else key
        self._hooks = hooks
        self._key = key
        self.id = key[-1] if isinstance(key, tuple) else key

    def remove(self) -> None:
        """Remove the hook; a second call has no effect."""
        self._hooks.pop(self._key, None)

    def hooks_dict_ref(self) -> dict[Any, Any]:
        """Return the table that holds the hook; its keys differ from PyTorch's."""
        return self._hooks

    def __enter__(self) -> RemovableHandle:
        return self

    def __exit__(self, *exc: object) -> None:
        self.remove()


def register(
    hooks: dict[Any, Any], hook: Callable[..., Any], what: str = "", index: int | None = None
) -> RemovableHandle:
    """Add `hook` to `hooks`, which run in the order of registration.

    Parameters
    ----------
    what
        The name of the registering method, for the error if `hook` is not callable. Without it the
        error is raised when the hook would run: as in PyTorch, a node accepts any object.
    index: The number of the output that the hook is for, if the key should contain it.
    """
    if what and not callable(hook):
        raise TypeError(f"{what}(): hook must be callable, not {type(hook).__name__}")
    # a trace would register it again in each run, or never
    untraced("it registers a hook")
    number = next(_ids)
    key = number if index is None else (index, number)
    hooks[key] = hook
    return RemovableHandle(hooks, key)
