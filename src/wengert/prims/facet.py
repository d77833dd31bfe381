"""Layer 2 · prims: facets: what higher layers know about an operation, stated in its record.

NOTE [facets]
A record states its kernel and its derivative. Anything else that the library knows about the
operation is a facet: the layer that owns this knowledge declares a `Facet`, and a record overrides
the default with a keyword of that name:

    elementwise("asin", np.arcsin, lin=..., aliases="arcsin", ...)

If the value is code of a higher layer, that layer registers it for the record:
``@BATCHING.of(records.scatter_add)``. No other table is keyed by names of operations.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, Generic, TypeVar

import numpy as np

from wengert.prims.record import TABLE, Primitive

V = TypeVar("V")

FACETS: dict[str, Facet[Any]] = {}
"""Every facet by name; records may state no others."""


class Facet(Generic[V]):
    """One kind of knowledge about operations.

    Parameters
    ----------
    name: The keyword by which records state it.
    derived: Computes the default from a record, if neither the record nor `of` gives a value.
    """

    __slots__ = ("_given", "derived", "name")

    def __init__(self, name: str, derived: Callable[[Primitive], V]) -> None:
        if name in FACETS:
            raise ValueError(f"the facet {name} is declared twice")
        self.name = name
        self.derived = derived
        self._given: dict[Primitive, V] = {}
        FACETS[name] = self

    def __getitem__(self, prim: Primitive) -> V:
        if self.name in prim.facets:
            return prim.facets[self.name]
        return self._given[prim] if prim in self._given else self.derived(prim)

    def of(self, *prims: Primitive) -> Callable[[V], V]:
        """Return a decorator that registers a value for `prims`."""

        def given(value: V) -> V:
            for prim in prims:
                if prim in self._given or self.name in prim.facets:
                    raise ValueError(f"{prim.name} has the facet {self.name} twice")
                self._given[prim] = value
            return value

        return given

    def items(self) -> Iterator[tuple[Primitive, V]]:
        """Iterate over the loaded records, each with its value."""
        # inlined for speed: importing the package passes here
        name, given, derived = self.name, self._given, self.derived
        for prim in TABLE.values():
            if name in prim.facets:
                yield prim, prim.facets[name]
            else:
                yield prim, given[prim] if prim in given else derived(prim)


def _ufunc(prim: Primitive) -> str:
    return prim.kernel.__name__ if isinstance(prim.kernel, np.ufunc) else ""


EXAMPLE: Facet[tuple[str, str] | None] = Facet("example", lambda prim: None)
"""The arguments and the result of an example, if the operation is itself a public function, of
tensors that broadcast and ``out=``. It then has a method and, by `IN_PLACE`, an in-place form."""
ALIASES: Facet[str] = Facet("aliases", lambda prim: "")
"""Other names of that function, separated by spaces."""
IN_PLACE: Facet[bool] = Facet("in_place", lambda prim: EXAMPLE[prim] is not None)
"""Whether that function has an in-place form."""
FORMULA: Facet[str | None] = Facet("formula", lambda prim: prim.infix)
"""The form in formulas, if it is neither a call nor an operator: ``"1 / F.sqrt({})"``, with
the other operations in `F`."""
OPERATOR: Facet[str] = Facet("operator", lambda prim: "")
"""The name of its operator in Python's data model, without underscores."""
NUMPY: Facet[str] = Facet("numpy", _ufunc)
"""The names of the ufuncs that it stands for, separated by blanks; on floating-point numbers of
one dtype it is the first one."""
