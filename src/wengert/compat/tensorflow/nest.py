"""Layer 9 · compat: ``tf.nest``: lists, tuples, and dicts in the order of their sorted keys."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from wengert.compat.kit.namespaces import defined
from wengert.compat.tensorflow.words import refusal


def is_nested(structure) -> bool:
    """Return whether a value is a list, a tuple or a dict.

    Examples
    --------
    >>> tf.nest.is_nested([1]), tf.nest.is_nested(1)
    (True, False)
    """
    return isinstance(structure, list | tuple | Mapping)


def _keys(structure) -> Any:
    try:
        return sorted(structure)
    except TypeError:
        raise TypeError("nest only supports dicts with sortable keys.") from None


def flatten(structure, expand_composites=False) -> list[Any]:
    """Return the leaves of a nested structure, in order; None is a leaf.

    Examples
    --------
    >>> tf.nest.flatten({"b": 1, "a": [2, (3,)]})
    [2, 3, 1]
    """
    return list(_leaves(structure))


def _leaves(structure) -> Iterator[Any]:
    if isinstance(structure, Mapping):
        for key in _keys(structure):
            yield from _leaves(structure[key])
    elif isinstance(structure, list | tuple):
        for part in structure:
            yield from _leaves(part)
    else:
        yield structure


def _packed(structure, leaves: Iterator[Any]) -> Any:
    if isinstance(structure, Mapping):
        found = {key: _packed(structure[key], leaves) for key in _keys(structure)}
        kind: Any = type(structure)
        return kind((key, found[key]) for key in structure)
    if isinstance(structure, list | tuple):
        parts = [_packed(part, leaves) for part in structure]
        kind = type(structure)
        return kind._make(parts) if hasattr(kind, "_make") else kind(parts)
    return next(leaves)


def pack_sequence_as(structure, flat_sequence, expand_composites=False) -> Any:
    """Pack leaves into a structure like `structure`.

    Raises
    ------
    ValueError: If the number of leaves differs from that of `structure`.

    Examples
    --------
    >>> tf.nest.pack_sequence_as({"b": 1, "a": [2, (3,)]}, [10, 20, 30])
    {'b': 30, 'a': [10, (20,)]}
    """
    flat = list(flat_sequence)
    count = len(flatten(structure))
    if not is_nested(structure) and len(flat) != 1:
        raise refusal(ValueError, "The target structure", type(structure), len(flat))
    if count != len(flat):
        raise refusal(ValueError, "Could not pack", count, len(flat), structure, flat_sequence)
    return _packed(structure, iter(flat))


def assert_same_structure(nest1, nest2, check_types=True, expand_composites=False) -> None:
    """Raise an error unless two values have the same nested structure.

    Raises
    ------
    ValueError: If they differ in keys, in the number of elements, or in the positions of leaves.
    TypeError: If only the types of sequences differ, and `check_types` is true.
    """
    mismatch = _difference(nest1, nest2, check_types)
    if mismatch is not None:
        error, text = mismatch
        raise error(
            "The two structures don't have the same nested structure.\n\n"
            f"First structure: {_described(nest1)}\n\nSecond structure: {_described(nest2)}\n\n"
            f"More specifically: {text}"
        )


def _described(value) -> str:
    return f"type={type(value).__name__} str={value}"


def _difference(a, b, check_types: bool) -> tuple[type[Exception], str] | None:
    if is_nested(a) != is_nested(b):
        one, other = (a, b) if is_nested(a) else (b, a)
        return ValueError, (
            f'Substructure "{_described(one)}" is a sequence, while substructure '
            f'"{_described(other)}" is not'
        )
    if not is_nested(a):
        return None
    if isinstance(a, Mapping) != isinstance(b, Mapping) or (
        check_types and type(a) is not type(b) and not isinstance(a, Mapping)
    ):
        return TypeError, (
            "The two structures don't have the same sequence type. First structure "
            f"{_described(a)}, while second structure {_described(b)}"
        )
    if isinstance(a, Mapping):
        if set(a) != set(b):
            return ValueError, (
                "The two dictionaries don't have the same set of keys. First structure has keys "
                f"{list(a)}, while second structure has keys {list(b)}"
            )
        pairs = [(a[key], b[key]) for key in a]
    else:
        if len(a) != len(b):
            return ValueError, (
                "The two structures don't have the same number of elements. First structure: "
                f"{_described(a)}. Second structure: {_described(b)}"
            )
        pairs = list(zip(a, b, strict=True))
    for one, other in pairs:
        found = _difference(one, other, check_types)
        if found is not None:
            return found
    return None


def map_structure(func: Callable[..., Any], *structure, **kwargs) -> Any:
    """Apply `func` to corresponding leaves of one or more structures.

    Raises
    ------
    ValueError, TypeError: If the structures differ (see `assert_same_structure`), or none is given.

    Examples
    --------
    >>> tf.nest.map_structure(lambda a, b: a + b, {"x": 1, "y": (2,)}, {"x": 10, "y": (20,)})
    {'x': 11, 'y': (22,)}
    """
    check_types = kwargs.pop("check_types", True)
    kwargs.pop("expand_composites", None)
    if kwargs:
        raise refusal(ValueError, "Only valid keyword", "`, `".join(kwargs))
    if not callable(func):
        raise TypeError(f"func must be callable, got: {func}")
    if not structure:
        raise ValueError("Must provide at least one structure")
    for other in structure[1:]:
        assert_same_structure(structure[0], other, check_types)
    flat = zip(*map(flatten, structure), strict=True)
    return pack_sequence_as(structure[0], [func(*leaves) for leaves in flat])


__all__ = defined(globals())
