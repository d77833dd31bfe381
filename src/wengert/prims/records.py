"""Layer 2 · prims: every record by its name: ``records.scatter_add``.

Modules that are not imported with `wengert` name in this way the records whose facets they set (see
`wengert.prims.facet`).
"""

from __future__ import annotations

from wengert.prims.record import Primitive
from wengert.prims.whole import TABLE


def __getattr__(name: str) -> Primitive:
    try:
        return TABLE[name]
    except KeyError:
        raise AttributeError(f"there is no primitive {name!r}") from None
