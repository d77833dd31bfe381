"""Layer 9 · serialization: the user's classes and functions that a file may name.

NOTE [what a checkpoint may name]
A checkpoint of PyTorch is a pickle, whose instructions name classes and functions and call them.
Here they are looked up in a closed list: the containers, the functions that rebuild tensors,
element types and storages (`wengert.serialization.rebuilt`), and the globals that the user has
allowed with `add_safe_globals`. No module is ever imported for a name in a file, and attributes are
set only on objects of allowed classes.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

_marked: dict[Any, None] = {}


def add_safe_globals(safe_globals: list[Any]) -> None:
    """Allow classes and functions in the checkpoints that `load` reads and `save` writes.

    The author of a file can then call them with any arguments, so allow only harmless ones.

    Parameters
    ----------
    safe_globals : list. Classes and functions; or pairs of one and the path under which files name
        it, if that is not ``module.qualname``.

    Examples
    --------
    >>> import enum
    >>> class Mode(enum.Enum):
    ...     FAST = 1
    >>> wg.serialization.add_safe_globals([Mode])
    >>> wg.serialization.get_safe_globals()
    [<enum 'Mode'>]
    >>> wg.serialization.clear_safe_globals()
    """
    paths = {one: path_of(one) for one in safe_globals}
    _marked.update(dict.fromkeys(paths))


def get_safe_globals() -> list[Any]:
    """Return the allowed classes and functions, in the order in which they were added.

    Examples
    --------
    >>> len(wg.serialization.get_safe_globals())
    0
    """
    return list(_marked)


def clear_safe_globals() -> None:
    """Remove everything that `add_safe_globals` allowed.

    Examples
    --------
    >>> wg.serialization.clear_safe_globals()
    """
    _marked.clear()


class safe_globals:
    """A context in which classes and functions are allowed, as by `add_safe_globals`.

    Parameters
    ----------
    safe_globals : list. As in `add_safe_globals`.

    Examples
    --------
    >>> with wg.serialization.safe_globals([frozenset]):
    ...     print(wg.serialization.get_safe_globals())
    [<class 'frozenset'>]
    """

    def __init__(self, safe_globals: list[Any]) -> None:
        self.safe_globals = safe_globals
        self._added: list[list[Any]] = []

    def __enter__(self) -> None:
        # globals allowed before stay allowed afterwards
        self._added.append([one for one in self.safe_globals if one not in _marked])
        add_safe_globals(self.safe_globals)

    def __exit__(self, *exc: object) -> None:
        for one in self._added.pop():
            _marked.pop(one, None)


def path_of(marked: Any) -> str:
    """Return the path under which files name an allowed class or function."""
    if not isinstance(marked, tuple):
        return f"{marked.__module__}.{marked.__qualname__}"
    if len(marked) != 2:
        raise ValueError(
            "Expected tuple of length 2 (global, str of callable full path), but got tuple of "
            f"length: {len(marked)}"
        )
    if type(marked[1]) is not str:
        raise TypeError(
            "Expected second item in tuple to be str of callable full path, but got: "
            f"{type(marked[1])}"
        )
    return marked[1]


def allowed() -> dict[str, Any]:
    """Return the allowed classes and functions by their paths."""
    pairs: Iterable[Any] = ((path_of(one), one) for one in _marked)
    return {path: one[0] if isinstance(one, tuple) else one for path, one in pairs}
