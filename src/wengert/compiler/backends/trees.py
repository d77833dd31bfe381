"""Layer 8 · compiler: questions about trees of loops."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from wengert.compiler.backends.loops import Accumulate, Block, LoopTree, Product, Statement, Store
from wengert.compiler.backends.nodes import Apply, walk
from wengert.compiler.backends.plan import Plan
from wengert.compiler.ir import Step, Value
from wengert.compiler.scalars import cost

__all__ = [
    "UNROLLED",
    "extents_of",
    "is_slight",
    "statements_of",
    "steps_of",
    "trees_of",
    "turns",
    "written_once",
]

# loops that run no more often than this may become straight code
UNROLLED = 16
# loops of little work are translated as they are in long plans
_SLIGHT = 4096
_QUICK = 4


def trees_of(block: Block) -> Iterator[LoopTree]:
    """The outermost loops of a block."""
    return (item for item in block if isinstance(item, LoopTree))


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


def is_slight(tree: LoopTree) -> bool:
    """Whether a loop's work is so little that making it quick takes longer than it saves."""
    if turns(tree) * tree.count > _SLIGHT:
        return False
    nodes = walk([node for item in statements_of(tree) for node in item.nodes])
    return all(cost(node.name, node.dtype) <= _QUICK for node in nodes if isinstance(node, Apply))


def turns(tree: LoopTree) -> int:
    """How often the innermost loops of a tree run; products count as long ones."""
    inner = [
        turns(part) if isinstance(part, LoopTree) else UNROLLED
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
