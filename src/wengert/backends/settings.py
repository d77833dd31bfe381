"""Layer 9 · backends: stored settings, set together or for the duration of a context."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from wengert.base.patches import Setting

__all__ = ["disable_global_flags", "flags_frozen", "flags_of", "switch"]

_FROZEN = Setting(False)


def disable_global_flags() -> None:
    """Make `flags_frozen` return True; settings have no effect, so none is refused."""
    _FROZEN.set(True)


def flags_frozen() -> bool:
    """Return whether `disable_global_flags` was called."""
    return bool(_FROZEN.value)


def flags_of(module: str, **defaults: Any) -> tuple[Callable[..., Any], Callable[..., Any]]:
    """Return the functions `set_flags` and `flags` of a module, for the settings among its names.

    Parameters
    ----------
    module : str. The module's ``__name__``.
    **defaults : The settings, with their default values in the context.
    """

    def set_flags(**values: Any) -> tuple[Any, ...]:
        """Change settings, named with a leading underscore; return their previous values."""
        space = vars(sys.modules[module])
        # a module that is a row of a table finds its names when they are first read
        before = tuple(getattr(sys.modules[module], name) for name in defaults)
        for name, value in values.items():
            if name[1:] not in defaults:
                raise TypeError(f"set_flags() got an unexpected keyword argument {name!r}")
            if value is not None:
                space[name[1:]] = value
        return before

    @contextmanager
    def flags(**values: Any) -> Iterator[None]:
        """Return a context with other settings."""
        unknown = values.keys() - defaults
        if unknown:
            raise TypeError(f"flags() got an unexpected keyword argument {min(unknown)!r}")
        chosen = {f"_{name}": value for name, value in {**defaults, **values}.items()}
        before = set_flags(**chosen)
        try:
            yield
        finally:
            vars(sys.modules[module]).update(zip(defaults, before, strict=True))

    return set_flags, flags


def switch(value: Any, name: str) -> tuple[Callable[[Any], None], Callable[[], Any]]:
    """Return the setter and the getter of a setting."""
    held = Setting(value)

    def put(enabled: Any) -> None:
        held.set(enabled)

    def get() -> Any:
        return held.value

    put.__name__, get.__name__ = f"enable_{name}", f"{name}_enabled"
    put.__doc__ = f"Set whether {name} may be used; has no effect."
    get.__doc__ = f"Whether {name} may be used; has no effect."
    return put, get
