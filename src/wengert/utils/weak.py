"""Layer 8 · utils: weak references to tensors, under ``torch.utils.weak``'s names."""

from __future__ import annotations

import weakref
from collections.abc import Iterator, MutableMapping
from typing import Any, Self

from wengert.base.names import shows
from wengert.base.sections import fill_sections

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


class TensorWeakRef:
    """A weak reference to a tensor; calling it returns the tensor, or None if it has been freed."""

    def __init__(self, tensor: Any) -> None:
        self.ref = weakref.ref(tensor)

    def __call__(self) -> Any:
        return self.ref()


WeakTensorKeyDictionary = WeakIdKeyDictionary


fill_sections(globals())
