"""Layer 3 · interp: all batching rules, and the operations without one."""

from __future__ import annotations

from wengert.interp import batching_norms, batching_places, batching_products, batching_shapes
from wengert.interp.batched import BATCHING, RULES
from wengert.interp.batching import whole
from wengert.prims import records
from wengert.prims.table import TABLE

# the modules whose rules are registered on import
ENTERED = (batching_norms, batching_places, batching_products, batching_shapes)

RULES.of(records.sum)(whole("sum_dim"))
RULES.of(records.mean)(whole("mean_dim"))
RULES.of(records.prod)(whole("prod_dim"))
RULES.of(records.max)(whole("amax"))
RULES.of(records.min)(whole("amin"))


def fallbacks() -> list[str]:
    """Return the imported primitives that run once for each element of a batch."""
    return sorted(
        name
        for name, prim in TABLE.items()
        if RULES[prim] is None and BATCHING[prim] == "each" and prim.args
    )
