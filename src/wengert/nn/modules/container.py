"""Layer 8 · nn: modules that hold modules in sequence, in a list, or by name."""

from __future__ import annotations

import operator
from collections import OrderedDict
from collections.abc import ItemsView, Iterable, Iterator, KeysView, Mapping, ValuesView
from itertools import chain
from typing import Any, Self, cast, overload

from wengert.base.elsewhere import elsewhere
from wengert.nn.modules.module import Module
from wengert.nn.modules.registration import type_name
from wengert.tape.sites import warn
from wengert.types import Tensor

__all__ = ["Container", "ModuleDict", "ModuleList", "Sequential", "pairs_of"]

__getattr__ = elsewhere(__name__)  # PyTorch has more here


class _Row(Module):
    """The common base of `Sequential` and `ModuleList`: modules in order, keyed by number."""

    def __len__(self) -> int:
        return len(self._modules)

    def __iter__(self) -> Iterator[Module]:
        return iter(self._modules.values())

    def __setitem__(self, idx: int, module: Module) -> None:
        setattr(self, _key(self, idx), module)

    def __delitem__(self, idx: int | slice) -> None:
        keys = list(self._modules)[idx] if isinstance(idx, slice) else [_key(self, idx)]
        for key in keys:
            delattr(self, key)
        _number(self, list(self))

    def append(self, module: Module) -> Self:
        """Add a module at the end."""
        self.add_module(str(len(self)), module)
        return self

    def insert(self, index: int, module: Module) -> Any:
        """Insert a module before the one at `index`.

        Raises
        ------
        AssertionError: If `module` is not a module.
        IndexError: If the index is out of range.
        """
        if not isinstance(module, Module):
            raise AssertionError(
                f"module should be of type: {Module}, but got {type(module).__name__}"
            )
        if not -len(self) <= index <= len(self):
            raise IndexError(f"Index out of range: {index}")
        modules = list(self)
        modules.insert(index, module)
        _number(self, modules)
        return self

    def pop(self, key: int | slice) -> Any:
        """Remove the module at an index, and return it."""
        found = cast("Any", self)[key]
        del self[key]
        return found

    def extend(self, modules: Iterable[Module]) -> Self:
        added: list[Any] = list(modules)
        for module in added:
            if module is not None and not isinstance(module, Module):
                raise TypeError(f"{type_name(module)} is not a Module subclass")
        for module in added:
            self.append(module)
        return self


def _key(module: Any, idx: Any) -> str:
    """Return the name of the module at an index, which may be negative."""
    idx = operator.index(idx)
    if not -len(module) <= idx < len(module):
        raise IndexError(f"index {idx} is out of range")
    return list(module._modules)[idx]


def _number(module: Any, modules: list[Any]) -> None:
    # keep the same table object: others may hold a reference to it
    module._modules.clear()
    module._modules.update((str(i), module) for i, module in enumerate(modules))


def _factor(module: Any, other: Any) -> int:
    if not isinstance(other, int):
        raise TypeError(f"unsupported operand type(s) for *: {type(module)} and {type(other)}")
    if other <= 0:
        raise ValueError(f"Non-positive multiplication factor {other} for {type(module)}")
    return other


class Sequential(_Row):
    """A chain of modules, each called on the result of the one before.

    Parameters
    ----------
    *args : Module. The modules; or one `OrderedDict` of them by name.

    Examples
    --------
    >>> class Double(nn.Module):
    ...     def forward(self, x):
    ...         return 2 * x
    >>> twice = nn.Sequential(Double(), Double())
    >>> twice(wg.tensor(3.0))
    tensor(12.)
    >>> twice
    Sequential(
      (0): Double()
      (1): Double()
    )
    """

    @overload
    def __init__(self, *args: Module) -> None: ...
    @overload
    def __init__(self, arg: OrderedDict[str, Module], /) -> None: ...
    def __init__(self, *args: Any) -> None:
        super().__init__()
        if len(args) == 1 and isinstance(args[0], OrderedDict):
            named: Iterable[tuple[str, Any]] = args[0].items()
        else:
            named = ((str(i), module) for i, module in enumerate(args))
        for name, module in named:
            self.add_module(name, module)

    def forward(self, input: Tensor) -> Tensor:
        """Return the result of the last module."""
        for module in self._modules.values():
            input = module(input)
        return input

    @overload
    def __getitem__(self, idx: slice) -> Self: ...
    @overload
    def __getitem__(self, idx: int) -> Module: ...
    def __getitem__(self, idx: int | slice) -> Any:
        if isinstance(idx, slice):
            return type(self)(OrderedDict(list(self._modules.items())[idx]))
        return self._modules[_key(self, idx)]

    def __add__(self, other: Any) -> Sequential:
        _check_sequential(other)
        return Sequential(*self, *other)

    def __iadd__(self, other: Any) -> Self:
        _check_sequential(other)
        return self.extend(other)

    def __mul__(self, other: int) -> Sequential:
        return Sequential(*list(self) * _factor(self, other))

    __rmul__ = __mul__

    def __imul__(self, other: int) -> Self:
        return self.extend(list(self) * (_factor(self, other) - 1))


def _check_sequential(other: Any) -> None:
    if not isinstance(other, Sequential):
        raise ValueError(
            f"add operator supports only objects of Sequential class, but {type(other)} is given."
        )


class ModuleList(_Row):
    """A list of modules that are registered, so that their parameters are found.

    Parameters
    ----------
    modules : iterable of Module, optional. The initial modules.

    Examples
    --------
    >>> layers = nn.ModuleList([nn.Module() for _ in range(3)])
    >>> len(layers), len(layers[1:])
    (3, 2)
    """

    def __init__(self, modules: Iterable[Module] | None = None) -> None:
        super().__init__()
        if modules is not None:
            self.extend(modules)

    @overload
    def __getitem__(self, idx: slice) -> Self: ...
    @overload
    def __getitem__(self, idx: int) -> Module: ...
    def __getitem__(self, idx: int | slice) -> Any:
        if isinstance(idx, slice):
            return type(self)(list(self)[idx])
        return self._modules[_key(self, idx)]

    def __iadd__(self, modules: Iterable[Module]) -> Self:
        return self.extend(modules)

    def __add__(self, other: Iterable[Module]) -> ModuleList:
        return ModuleList(chain(self, other))

    def extend(self, modules: Iterable[Module]) -> Self:
        """Append all modules of an iterable.

        Raises
        ------
        TypeError: If `modules` is not iterable, or holds something that is not a module.
        """
        if not isinstance(modules, Iterable):
            raise TypeError(
                "ModuleList.extend should be called with an iterable, but got "
                f"{type(modules).__name__}"
            )
        return super().extend(modules)

    def __repr__(self) -> str:
        # equal neighbours share a line
        runs: list[tuple[int, int, str]] = []
        for i, text in enumerate(map(repr, self)):
            if runs and runs[-1][2] == text:
                runs[-1] = (runs[-1][0], i, text)
            else:
                runs.append((i, i, text))
        lines = [
            f"({first}): {text}"
            if first == last
            else f"({first}-{last}): {last - first + 1} x {text}"
            for first, last, text in runs
        ]
        inner = "".join("\n  " + line.replace("\n", "\n  ") for line in lines)
        return f"{self._get_name()}({inner}\n)" if inner else f"{self._get_name()}()"


class ModuleDict(Module):
    """A dictionary of modules that are registered, so that their parameters are found.

    Parameters
    ----------
    modules : mapping or iterable of pairs, optional. The initial modules by name.

    Examples
    --------
    >>> heads = nn.ModuleDict({"left": nn.Module(), "right": nn.Module()})
    >>> list(heads), "left" in heads
    (['left', 'right'], True)
    """

    def __init__(
        self, modules: Mapping[str, Module] | Iterable[tuple[str, Module]] | None = None
    ) -> None:
        super().__init__()
        if modules is not None:
            self.update(modules)

    def __getitem__(self, key: str) -> Module:
        return self._modules[key]

    def __setitem__(self, key: str, module: Module) -> None:
        self.add_module(key, module)

    def __delitem__(self, key: str) -> None:
        del self._modules[key]

    def __len__(self) -> int:
        return len(self._modules)

    def __iter__(self) -> Iterator[str]:
        return iter(self._modules)

    def __contains__(self, key: object) -> bool:
        return key in self._modules

    def clear(self) -> None:
        """Remove all modules.

        Examples
        --------
        >>> heads = nn.ModuleDict({"a": nn.Identity()})
        >>> heads.clear()
        >>> len(heads)
        0
        """
        self._modules.clear()

    def pop(self, key: str) -> Module:
        """Remove the module of a name, and return it.

        Examples
        --------
        >>> heads = nn.ModuleDict({"a": nn.Identity()})
        >>> heads.pop("a"), len(heads)
        (Identity(), 0)
        """
        return self._modules.pop(key)

    def keys(self) -> KeysView[str]:
        """Return the names.

        Examples
        --------
        >>> list(nn.ModuleDict({"a": nn.Identity(), "b": nn.Tanh()}).keys())
        ['a', 'b']
        """
        return self._modules.keys()

    def items(self) -> ItemsView[str, Module]:
        """Return the pairs of name and module.

        Examples
        --------
        >>> dict(nn.ModuleDict({"a": nn.Identity(), "b": nn.Tanh()}).items())
        {'a': Identity(), 'b': Tanh()}
        """
        return self._modules.items()

    def values(self) -> ValuesView[Module]:
        """Return the modules.

        Examples
        --------
        >>> list(nn.ModuleDict({"a": nn.Identity(), "b": nn.Tanh()}).values())
        [Identity(), Tanh()]
        """
        return self._modules.values()

    def update(self, modules: Mapping[str, Module] | Iterable[tuple[str, Module]]) -> None:
        """Add modules from a mapping, or from an iterable of (name, module) pairs.

        Raises
        ------
        TypeError: If `modules` is neither.
        ValueError: If it holds something that is not a pair.

        Examples
        --------
        >>> heads = nn.ModuleDict({"a": nn.Identity()})
        >>> heads.update({"a": nn.ReLU(), "b": nn.Tanh()})
        >>> heads
        ModuleDict(
          (a): ReLU()
          (b): Tanh()
        )
        """
        for key, module in pairs_of(modules, "ModuleDict", "ModuleDict"):
            self[key] = module


def pairs_of(source: Any, name: str, called: str) -> list[tuple[str, Any]]:
    """Return the checked (name, value) pairs that a module dictionary is updated from.

    Parameters
    ----------
    source: A mapping, or an iterable of pairs.
    name, called: What error messages call the class of an element, and the container.
    """
    if not isinstance(source, Iterable):
        raise TypeError(
            f"{called}.update should be called with an iterable of key/value pairs, but got "
            f"{type(source).__name__}"
        )
    if isinstance(source, Mapping) or (isinstance(source, Module) and hasattr(source, "items")):
        return list(cast("Any", source).items())
    made: list[tuple[str, Any]] = []
    for i, pair in enumerate(source):
        if not isinstance(pair, Iterable):
            raise TypeError(
                f"{name} update sequence element #{i} should be Iterable; is {type(pair).__name__}"
            )
        pair = tuple(pair)
        if len(pair) != 2:
            raise ValueError(
                f"{name} update sequence element #{i} has length {len(pair)}; 2 is required"
            )
        made.append((pair[0], pair[1]))
    return made


class Container(Module):
    """The old name of a module that holds the modules given as keyword arguments."""

    def __init__(self, **kwargs: Any) -> None:
        warn(
            "`nn.Container` is deprecated. All of its functionality is now implemented in "
            "`nn.Module`. Subclass that instead.",
            FutureWarning,
        )
        super().__init__()
        for key, module in kwargs.items():
            self.add_module(key, module)
