"""Layer 8 · compiler: questions about trees of loops."""

from __future__ import annotations

from typing import Any

from wengert.compiler.backends.loops import Accumulate, LoopTree, Product, Statement, Store
from wengert.compiler.backends.nodes import Apply, walk
from wengert.compiler.backends.plan import Plan, Repeat
from wengert.compiler.codegen.scalars.table import cost
from wengert.compiler.ir.programs import Step, Value

__all__ = [
    "extents_of",
    "length",
    "statements_of",
    "steps_of",
    "turns",
    "work",
    "written_once",
]

# how often products count as running their innermost loop
_TURNS = 16


def statements_of(tree: LoopTree) -> list[Statement]:
    """Everything that a tree of loops computes."""
    statements: list[Any] = []
    pending: list[Any] = [tree]
    while pending:
        item = pending.pop()
        if isinstance(item, LoopTree):
            pending += [*item.before, *item.body, *item.after]
        else:
            statements.append(item)
    return statements


def work(tree: LoopTree) -> int:
    """Rough cycles of a loop."""
    nodes = walk([node for item in statements_of(tree) for node in item.nodes])
    each = sum(cost(node.prim, node.dtype) for node in nodes if isinstance(node, Apply))
    return turns(tree) * max(1, each // 4)


def length(plan: Plan) -> int:
    """How many elements the text of a plan computes, however often it runs."""
    total = 0
    for item in plan.block:
        if isinstance(item, Repeat):
            total += length(item.body)
        elif isinstance(item, LoopTree):
            total += len(walk([node for part in statements_of(item) for node in part.nodes]))
    return total


def turns(tree: LoopTree) -> int:
    """How often the innermost loops of a tree run; products count as long ones."""
    inner = [
        turns(part) if isinstance(part, LoopTree) else _TURNS
        for part in tree.body
        if isinstance(part, LoopTree | Product)
    ]
    return tree.counter.extent * sum(inner or [1])


def written_once(plan: Plan) -> set[Value]:
    """The values whose elements are written by one statement, or not at all in this plan."""
    counts: dict[Value, int] = {}

    def count(item: Any) -> None:
        if isinstance(item, LoopTree):
            for part in (*item.before, *item.body, *item.after):
                count(part)
        elif isinstance(item, Store):
            counts[item.value] = counts.get(item.value, 0) + 1
        elif isinstance(item, Accumulate):
            counts[item.value] = 2

    for item in plan.block:
        count(item)
    known = {value for value, n in counts.items() if n == 1}
    return known | set(plan.program.inputs) | {v for v in plan.stored if v not in counts}


def steps_of(item: Any) -> list[Step]:
    """The steps that a tree of loops computes, once each."""
    found: dict[int, Step] = {}

    def visit(part: Any) -> None:
        if isinstance(part, LoopTree):
            # what runs before a loop begins a sum within it
            for inner in (*part.body, *part.before, *part.after):
                visit(inner)
        elif part.step is not None:
            found[id(part.step)] = part.step

    visit(item)
    return list(found.values())


def extents_of(tree: LoopTree) -> list[int]:
    """How often the loops of a tree run, following the first loop of each body."""
    extents = []
    inner: LoopTree | None = tree
    while inner is not None:
        extents.append(inner.counter.extent)
        inner = next((part for part in inner.body if isinstance(part, LoopTree)), None)
    return extents
