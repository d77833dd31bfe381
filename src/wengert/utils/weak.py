"""Layer 8 · utils: weak references to tensors, under ``torch.utils.weak``'s names."""

from __future__ import annotations

import copy
import weakref
from collections.abc import Iterator, MutableMapping
from typing import Any, Self

from wengert.base.names import shows

__all__ = ["TensorWeakRef", "WeakIdKeyDictionary", "WeakIdRef", "WeakTensorKeyDictionary"]
__dir__ = shows(__all__)


class WeakIdRef(weakref.ref[Any]):
    """A weak reference that compares by the identity of its object.

    Examples
    --------
    >>> x = wg.ones(2)
    >>> wg.utils.weak.WeakIdRef(x) == wg.utils.weak.WeakIdRef(x)
    True
    """

    __slots__ = ("_id",)
    _id: int

    def __new__(cls, key: Any, callback: Any = None) -> Self:
        """Make a reference to `key`; `callback` is called with it when `key` has been freed."""
        made = super().__new__(cls, key, callback)
        made._id = id(key)
        return made

    def __hash__(self) -> int:
        return self._id

    def __eq__(self, other: object) -> bool:
        mine = self()
        if mine is None or not isinstance(other, WeakIdRef):
            return self is other
        return mine is other()


class WeakIdKeyDictionary(MutableMapping[Any, Any]):
    """A dictionary keyed by object identity; entries disappear with their objects.

    Parameters
    ----------
    dict : mapping, optional. The first entries.

    Examples
    --------
    >>> x = wg.ones(2)
    >>> seen = wg.utils.weak.WeakTensorKeyDictionary({x: "ones"})
    >>> seen[x], wg.ones(2) in seen
    ('ones', False)
    >>> del x
    >>> len(seen)
    0
    """

    def __init__(self, dict: Any = None, ref_type: Any = WeakIdRef) -> None:
        self.data: dict[Any, Any] = {}
        self.ref_type = ref_type
        self.update(dict or {})

    def _gone(self, reference: Any) -> None:
        self.data.pop(reference, None)

    def __getitem__(self, key: Any) -> Any:
        return self.data[self.ref_type(key)]

    def __setitem__(self, key: Any, value: Any) -> None:
        self.data[self.ref_type(key, self._gone)] = value

    def __delitem__(self, key: Any) -> None:
        del self.data[self.ref_type(key)]

    def __iter__(self) -> Iterator[Any]:
        found = [reference() for reference in list(self.data)]
        return iter([key for key in found if key is not None])

    def __len__(self) -> int:
        return len(self.data)

    def __repr__(self) -> str:
        return f"<{type(self).__name__} at {id(self):#x}>"

    def copy(self) -> Self:
        """Return a dictionary of the same keys and values."""
        return type(self)(self, self.ref_type)

    __copy__ = copy

    def __deepcopy__(self, memo: Any) -> Self:
        made = self.copy()
        made.update({key: copy.deepcopy(value, memo) for key, value in made.items()})
        return made

    def __or__(self, other: Any) -> Any:
        made = self.copy()
        made.update(other)
        return made

    def __ror__(self, other: Any) -> Any:
        made = type(self)(other, self.ref_type)
        made.update(self)
        return made

    def __ior__(self, other: Any) -> Self:
        self.update(other)
        return self


class TensorWeakRef:
    """A weak reference to a tensor; calling it returns the tensor, or None if it has been freed."""

    def __init__(self, tensor: Any) -> None:
        self.ref = weakref.ref(tensor)

    def __call__(self) -> Any:
        return self.ref()


WeakTensorKeyDictionary = WeakIdKeyDictionary
_WeakHashRef = weakref.ref
