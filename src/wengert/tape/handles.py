"""Layer 4 · tape: what a hook is registered in, and the handle that takes it out again.

NOTE [watched walks]
As long as no hook is registered and no tensor retains its gradient, nobody can see a backward pass
at work, and the engine takes its short way. `WATCHED` holds, weakly, all that can make one
visible; see `wengert.tape.watch`.
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
    """What stands for a leaf among `WATCHED`, since tensors compare by their elements."""

    __slots__ = ("__weakref__",)


class RemovableHandle:
    """What registering a hook returns: `remove` takes the hook away; also a context manager."""

    def __init__(self, hooks: dict[Any, Any], key: Any) -> None:
        self._hooks = hooks
        self._key = key
        self.id = key[-1] if isinstance(key, tuple) else key

    def remove(self) -> None:
        """Take the hook away; doing so twice does no harm."""
        self._hooks.pop(self._key, None)

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
        The name of the registering method, for the error if `hook` cannot be called. Without it
        the error comes when the hook's turn does: as in PyTorch, a node keeps any object.
    index: The number of the output that the hook is for, if the key is to tell it.
    """
    if what and not callable(hook):
        raise TypeError(f"{what}(): hook must be callable, not {type(hook).__name__}")
    # a trace would run it again, or forget that it is there
    untraced("it registers a hook")
    number = next(_ids)
    key = number if index is None else (index, number)
    hooks[key] = hook
    return RemovableHandle(hooks, key)
