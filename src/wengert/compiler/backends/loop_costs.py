"""Layer 8 · compiler: estimates and queries on loop nests."""

from __future__ import annotations

from typing import Any

from wengert.compiler.backends.loops import LoopTree, Product, Store, statements_of
from wengert.compiler.backends.nodes import Apply, walk
from wengert.compiler.backends.plan import NativeCall, Plan, Repeat
from wengert.compiler.codegen.scalars.table import cost
from wengert.compiler.ir.programs import Step, Value

# the trip count that estimates assume for the innermost loop of a product
_PRODUCT_TRIPS = 16


def work(tree: LoopTree) -> int:
    """Estimate the cycles of a loop nest."""
    nodes = walk([node for item in statements_of(tree) for node in item.nodes])
    each = sum(cost(node.prim, node.dtype) for node in nodes if isinstance(node, Apply))
    return iterations(tree) * max(1, each // 4)


def cycles(plan: Plan) -> int:
    """Estimate the cycles of a run of a plan."""
    total = 0
    for item in plan.block:
        if isinstance(item, LoopTree):
            total += work(item)
        elif isinstance(item, NativeCall):
            total += item.native.cost(item.step)
        elif isinstance(item, Repeat):
            total += cycles(item.body) * item.loop.count
    return total


def iterations(tree: LoopTree) -> int:
    """Return the total trip count of the innermost loops; products count as long loops."""
    inner = [
        iterations(part) if isinstance(part, LoopTree) else _PRODUCT_TRIPS
        for part in tree.body
        if isinstance(part, LoopTree | Product)
    ]
    return tree.counter.extent * sum(inner or [1])


def written_once(plan: Plan) -> set[Value]:
    """Return the values that at most one statement of the plan writes."""
    counts: dict[Value, int] = {}
    kinds = LoopTree | Store
    for item in statements_of(*[item for item in plan.block if isinstance(item, kinds)]):
        if isinstance(item, Store):
            counts[item.value] = 2 if item.kind else counts.get(item.value, 0) + 1
    known = {value for value, n in counts.items() if n == 1}
    return known | set(plan.program.inputs) | {v for v in plan.stored if v not in counts}


def steps_of(item: Any) -> list[Step]:
    """Return the steps that a loop nest computes, each once."""
    steps = [part.step for part in statements_of(item) if part.step is not None]
    return list({id(step): step for step in steps}.values())


def extents_of(tree: LoopTree) -> list[int]:
    """The trip counts of the loops of a tree, following the first loop of each body."""
    extents = []
    inner: LoopTree | None = tree
    while inner is not None:
        extents.append(inner.counter.extent)
        inner = next((part for part in inner.body if isinstance(part, LoopTree)), None)
    return extents
