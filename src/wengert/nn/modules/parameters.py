"""Layer 8 · nn: modules that hold parameters in a list, or by name."""

from __future__ import annotations

import operator
from collections import OrderedDict
from collections.abc import Iterable, Iterator, KeysView, Mapping
from typing import Any, Self

from wengert.nn.modules.container import pairs_of
from wengert.nn.modules.module import Module
from wengert.nn.modules.registration import type_name
from wengert.nn.parameter import Parameter
from wengert.types import Tensor


def _as_parameter(value: Any) -> Any:
    """Return a tensor as a parameter, and any other value unchanged."""
    return Parameter(value) if isinstance(value, Tensor) and not _is_parameter(value) else value


def _is_parameter(value: Any) -> bool:
    return isinstance(value, Parameter)


def _line(key: Any, value: Any, kind: str) -> str:
    if not isinstance(value, Tensor):
        return f"  ({key}): Object of type: {type(value).__name__}"
    what = "Parameter" if _is_parameter(value) else "Tensor"
    return f"  ({key}): {what} containing: [{kind} of size {'x'.join(map(str, value.shape))}]"


def _key(module: Any, idx: Any) -> str:
    idx = operator.index(idx)
    if not -module._size <= idx < module._size:
        raise IndexError(f"index {idx} is out of range")
    return str(idx % module._size)


def _checked(key: Any) -> str:
    if not isinstance(key, str):
        raise TypeError(
            "Index given to ParameterDict cannot be used as a key as it is not a string (type "
            f"is '{type(key).__name__}')."
        )
    return key


class ParameterList(Module):
    """A list of registered parameters.

    Tensors become parameters; other objects are kept as they are.

    Parameters
    ----------
    values : iterable, optional. The initial values.

    Examples
    --------
    >>> weights = wg.nn.ParameterList([wg.ones(2), wg.ones(3, 1)])
    >>> weights
    ParameterList(
        (0): Parameter containing: [torch.float32 of size 2]
        (1): Parameter containing: [torch.float32 of size 3x1]
    )
    """

    def __init__(self, values: Iterable[Any] | None = None) -> None:
        super().__init__()
        self._size = 0
        if values is not None:
            self.extend(values)

    def __getitem__(self, idx: int | slice) -> Any:
        if isinstance(idx, slice):
            return type(self)(self[i] for i in range(self._size)[idx])
        return getattr(self, _key(self, idx))

    def __setitem__(self, idx: int, param: Any) -> None:
        setattr(self, _key(self, idx), _as_parameter(param))

    def __len__(self) -> int:
        return self._size

    def __iter__(self) -> Iterator[Any]:
        return (self[i] for i in range(self._size))

    def __iadd__(self, parameters: Iterable[Any]) -> Self:
        return self.extend(parameters)

    def append(self, value: Any) -> Self:
        """Add a value at the end.

        Examples
        --------
        >>> nn.ParameterList().append(wg.zeros(2))
        ParameterList(  (0): Parameter containing: [torch.float32 of size 2])
        """
        setattr(self, str(self._size), _as_parameter(value))
        self._size += 1
        return self

    def extend(self, values: Any) -> Self:
        """Append all values of an iterable.

        Raises
        ------
        TypeError: If `values` is a tensor, or not iterable.

        Examples
        --------
        >>> len(nn.ParameterList([wg.zeros(2)]).extend([wg.ones(3), wg.ones(4)]))
        3
        """
        if not isinstance(values, Iterable) or isinstance(values, Tensor):
            raise TypeError(
                "ParameterList.extend should be called with an iterable, but got "
                f"{type(values).__name__}"
            )
        for value in list(values):
            self.append(value)
        return self

    def extra_repr(self) -> str:
        return "\n".join(
            _line(i, value, repr(getattr(value, "dtype", ""))) for i, value in enumerate(self)
        )

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Raise an error: a list of parameters computes nothing."""
        raise RuntimeError("ParameterList should not be called.")


class ParameterDict(Module):
    """A dictionary of registered parameters.

    Tensors become parameters; other objects are kept as they are.

    Parameters
    ----------
    parameters : mapping or iterable of pairs, optional. The initial values by name.

    Examples
    --------
    >>> weights = wg.nn.ParameterDict({"left": wg.ones(2), "right": wg.ones(2)})
    >>> list(weights), weights["left"].requires_grad
    (['left', 'right'], True)
    """

    def __init__(self, parameters: Any = None) -> None:
        super().__init__()
        self._keys: dict[str, None] = {}
        if parameters is not None:
            self.update(parameters)

    def __getitem__(self, key: str) -> Any:
        return getattr(self, _checked(key))

    def __setitem__(self, key: str, value: Any) -> None:
        setattr(self, _checked(key), _as_parameter(value))
        self._keys[key] = None

    def __delitem__(self, key: str) -> None:
        del self._keys[key]
        delattr(self, key)

    def __len__(self) -> int:
        return len(self._keys)

    def __iter__(self) -> Iterator[str]:
        return iter(self._keys)

    def __reversed__(self) -> Iterator[str]:
        return reversed(self._keys)

    def __contains__(self, key: object) -> bool:
        return key in self._keys

    def copy(self) -> ParameterDict:
        """Return another dictionary of the same parameters.

        Examples
        --------
        >>> one = nn.ParameterDict({"w": wg.ones(2)})
        >>> one.copy()["w"] is one["w"]
        True
        """
        return ParameterDict(OrderedDict(self.items()))

    def setdefault(self, key: str, default: Any = None) -> Any:
        """Return the value of a name, after setting it to `default` if there is none.

        Examples
        --------
        >>> nn.ParameterDict({"w": 1.5}).setdefault("w", 2.5)
        1.5
        """
        if key not in self:
            self[key] = default
        return self[key]

    def clear(self) -> None:
        """Remove all values.

        Examples
        --------
        >>> held = nn.ParameterDict({"w": 1.5})
        >>> held.clear()
        >>> len(held)
        0
        """
        for key in list(self._keys):
            del self[key]

    def pop(self, key: str) -> Any:
        """Remove the value of a name, and return it.

        Examples
        --------
        >>> held = nn.ParameterDict({"w": 1.5})
        >>> held.pop("w"), len(held)
        (1.5, 0)
        """
        value = self[key]
        del self[key]
        return value

    def popitem(self) -> tuple[str, Any]:
        """Remove the pair of name and value that was added last, and return it.

        Examples
        --------
        >>> nn.ParameterDict({"w": 1.5, "b": 0.5}).popitem()
        ('w', 1.5)
        """
        if not self._keys:
            raise KeyError("popitem(): dictionary is empty")
        key = next(reversed(self._keys))
        return key, self.pop(key)

    def get(self, key: str, default: Any = None) -> Any:
        """Return the value of a name, or `default` if there is none.

        Examples
        --------
        >>> nn.ParameterDict({"w": 1.5}).get("b", 0.0)
        0.0
        """
        return self[key] if key in self._keys else default

    def fromkeys(self, keys: Iterable[str], default: Any = None) -> ParameterDict:
        """Return a dictionary of the names `keys`, each with the value `default`.

        Examples
        --------
        >>> dict(nn.ParameterDict().fromkeys(["w", "b"], 0.5).items())
        {'w': 0.5, 'b': 0.5}
        """
        return ParameterDict([(key, default) for key in keys])

    def keys(self) -> KeysView[str]:
        """Return the names.

        Examples
        --------
        >>> list(nn.ParameterDict({"w": wg.ones(2), "b": wg.zeros(1)}).keys())
        ['b', 'w']
        """
        return self._keys.keys()

    def items(self) -> Iterable[tuple[str, Any]]:
        """Return the pairs of name and value.

        Examples
        --------
        >>> [(name, w.shape) for name, w in nn.ParameterDict({"w": wg.ones(2)}).items()]
        [('w', torch.Size([2]))]
        """
        return ((key, self[key]) for key in self._keys)

    def values(self) -> Iterable[Any]:
        """Return the values.

        Examples
        --------
        >>> [w.numel() for w in nn.ParameterDict({"w": wg.ones(2), "b": wg.zeros(1)}).values()]
        [1, 2]
        """
        return (self[key] for key in self._keys)

    def update(self, parameters: Any) -> None:
        """Add values from a mapping, or from an iterable of (name, value) pairs.

        The names of a mapping that is neither an `OrderedDict` nor a `ParameterDict` are sorted.

        Raises
        ------
        TypeError: If `parameters` is neither.
        ValueError: If it holds something that is not a pair.

        Examples
        --------
        >>> held = nn.ParameterDict({"w": 1.5})
        >>> held.update({"w": 2.5, "b": 0.0})
        >>> dict(held.items())
        {'w': 2.5, 'b': 0.0}
        """
        pairs = pairs_of(parameters, "ParameterDict", "ParametersDict")
        if isinstance(parameters, Mapping) and not isinstance(parameters, OrderedDict):
            pairs.sort(key=operator.itemgetter(0))
        for key, value in pairs:
            self[key] = value

    def extra_repr(self) -> str:
        return "\n".join(_line(key, value, type_name(value)) for key, value in self.items())

    def __call__(self, input: Any) -> Any:
        """Raise an error: a dictionary of parameters computes nothing."""
        raise RuntimeError("ParameterDict should not be called.")

    def __or__(self, other: Any) -> ParameterDict:
        made = self.copy()
        made.update(other)
        return made

    def __ror__(self, other: Any) -> Any:
        made = other.copy()
        made.update(self)
        return made

    def __ior__(self, other: Any) -> Self:
        self.update(other)
        return self
