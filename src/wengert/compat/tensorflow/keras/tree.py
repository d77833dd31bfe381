"""Layer 9 · compat: ``tf.keras.tree``: functions of nested containers.

>>> tf.keras.tree.flatten({"a": [1, 2], "b": 3})
[1, 2, 3]
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from wengert.compat.kit.namespaces import gathered
from wengert.compat.tensorflow.nest import is_nested
from wengert.compat.tensorflow.words import public

_NAMES = "assert_same_structure flatten is_nested map_structure pack_sequence_as"
gathered(globals(), "wengert.compat.tensorflow", f"nest: {_NAMES}")


def traverse(func: Callable[[Any], Any], structure, top_down=True) -> Any:
    """Replace each container and leaf for which a function returns something that is not None.

    Examples
    --------
    >>> tf.keras.tree.traverse(lambda x: x + 1 if isinstance(x, int) else None, [1, (2, "a")])
    [2, (3, 'a')]
    """
    found = func(structure) if top_down or not is_nested(structure) else None
    if found is not None or not is_nested(structure):
        return structure if found is None else found
    if isinstance(structure, dict):
        made = {key: traverse(func, part, top_down) for key, part in structure.items()}
    else:
        parts = [traverse(func, part, top_down) for part in structure]
        made = type(structure)(*parts) if hasattr(structure, "_fields") else type(structure)(parts)
    found = None if top_down else func(made)
    return made if found is None else found


def flatten_with_path(structure) -> list[tuple[tuple[Any, ...], Any]]:
    """Return the leaves with the keys and indices that lead to them.

    Examples
    --------
    >>> tf.keras.tree.flatten_with_path({"a": [5, 6]})
    [(('a', 0), 5), (('a', 1), 6)]
    """
    if not is_nested(structure):
        return [((), structure)]
    mapping = isinstance(structure, dict)
    pairs = sorted(structure.items()) if mapping else enumerate(structure)
    return [((key, *path), leaf) for key, part in pairs for path, leaf in flatten_with_path(part)]


def lists_to_tuples(structure) -> Any:
    """Return the containers with tuples for lists.

    Examples
    --------
    >>> tf.keras.tree.lists_to_tuples([1, [2, 3]])
    (1, (2, 3))
    """

    def swap(part) -> Any:
        return tuple(part) if isinstance(part, list) else None

    return traverse(swap, structure, top_down=False)


__all__ = public(globals(), _NAMES)
