"""Layer 9 · compat: ``tf.Module``: an object that tracks the variables in its attributes."""

from __future__ import annotations

import functools
import re
from collections.abc import Callable, Iterator
from typing import Any

from wengert.compat.kit.namespaces import defined
from wengert.compat.tensorflow import nest
from wengert.compat.tensorflow.archive import Resuming
from wengert.compat.tensorflow.environment import name_scope as scope_of
from wengert.compat.tensorflow.environment import qualified
from wengert.compat.tensorflow.variable import Variable
from wengert.compat.tensorflow.words import refusal

_IGNORED = frozenset({"_name", "_name_scope", "_scope_name"})


def _snake_case(name: str) -> str:
    return re.sub(r"((?<=[a-z0-9])[A-Z]|(?!^)(?<!_)[A-Z](?=[a-z]))", r"_\1", name).lower()


class Module(Resuming):
    """Base class for objects that track the variables and modules in their attributes.

    Parameters
    ----------
    name : str, optional. The name; by default the name of the class in snake case.

    Examples
    --------
    >>> class Dense(tf.Module):
    ...     def __init__(self):
    ...         super().__init__()
    ...         self.w = tf.Variable(2.0, name="w")
    ...
    ...     def __call__(self, x):
    ...         return self.w * x
    >>> Dense().trainable_variables
    (<tf.Variable 'w:0' shape=() dtype=float32, numpy=2.0>,)
    """

    def __init__(self, name: str | None = None) -> None:
        if name is None:
            name = _snake_case(type(self).__name__)
        elif not re.match(r"^[a-zA-Z_]([a-zA-Z0-9_])*$", name):
            raise refusal(ValueError, "{!r} is not", name)
        self._name = name
        self._scope_name = qualified(name) + "/"

    @property
    def name(self) -> str:
        """The name of the module."""
        return self._name

    @property
    def name_scope(self) -> Any:
        """A context in which variable names begin with the module's name."""
        return scope_of(self._scope_name)

    @property
    def variables(self) -> tuple[Any, ...]:
        """The variables of the module and its submodules, in the order of attribute names."""
        return tuple(self._flatten(predicate=lambda value: isinstance(value, Variable)))

    @property
    def trainable_variables(self) -> tuple[Any, ...]:
        """The variables that are trainable."""
        return tuple(variable for variable in self.variables if variable.trainable)

    @property
    def non_trainable_variables(self) -> tuple[Any, ...]:
        """The variables that are not trainable."""
        return tuple(variable for variable in self.variables if not variable.trainable)

    @property
    def submodules(self) -> tuple[Any, ...]:
        """The modules inside this one."""
        return tuple(self._flatten(predicate=lambda value: isinstance(value, Module)))

    def _flatten(
        self, recursive=True, predicate: Callable[[Any], bool] | None = None, with_path=False
    ) -> Iterator[Any]:
        """Yield the contents of the attributes, including nested containers and modules."""
        yield from _walk(
            self, recursive, predicate or (lambda value: True), with_path, (), {id(self)}
        )

    @classmethod
    def with_name_scope(cls, method: Callable[..., Any]) -> Callable[..., Any]:
        """Decorate a method to run in `name_scope`."""

        @functools.wraps(method)
        def scoped(self, *args, **kwargs) -> Any:
            with self.name_scope:
                return method(self, *args, **kwargs)

        return scoped


def _leaves(value, path: tuple[Any, ...]) -> Iterator[tuple[tuple[Any, ...], Any]]:
    if isinstance(value, dict):
        for key in nest._keys(value):
            yield from _leaves(value[key], (*path, key))
    elif isinstance(value, list | tuple):
        for i, part in enumerate(value):
            yield from _leaves(part, (*path, i))
    else:
        yield path, value


def _walk(
    module,
    recursive: bool,
    predicate: Callable[[Any], bool],
    with_path: bool,
    path: tuple[Any, ...],
    seen: set[int],
) -> Iterator[Any]:
    inner: list[tuple[tuple[Any, ...], Any]] = []
    for key in sorted(vars(module)):
        if key in _IGNORED:
            continue
        for place, leaf in _leaves(vars(module)[key], (*path, key)):
            if id(leaf) in seen and not with_path:
                continue
            seen.add(id(leaf))
            if predicate(leaf):
                yield (place, leaf) if with_path else leaf
            if recursive and isinstance(leaf, Module):
                inner.append((place, leaf))
    for place, leaf in inner:
        yield from _walk(leaf, recursive, predicate, with_path, place, seen)


__all__ = defined(globals())
