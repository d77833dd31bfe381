"""Layer 8 · compiler: loop nests, and their fusion.

NOTE [trees of loops]
Each stored value starts as a loop nest of its own (`Nest`). Nests are then fused with earlier ones,
sharing as many outer loops as possible. A loop may be shared if the nest reads the values that the
loop computes at the loop's own index: these are then ready when its part of the body runs. So a
chain of element-wise operations becomes one loop, and a softmax becomes one loop over rows with
three loops over columns in its body.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from wengert.compiler.backends.affine import Counter, Place, of
from wengert.compiler.backends.nodes import Load, Node, looked, walk
from wengert.compiler.ir.programs import Value

# the most statements of a fused loop
_LARGEST = 64
# the number of items that are considered for fusion
_WINDOW = 24


@dataclass(eq=False, slots=True)
class Store:
    """A statement that computes an element of a value and writes it to memory.

    Attributes
    ----------
    kind: The kind of the `Reduction` that combines it with what is there; empty: it replaces that.
    """

    value: Value
    place: Place
    node: Node
    step: Any = None
    kind: str = ""

    @property
    def nodes(self) -> tuple[Node, ...]:
        """What is computed for it, and for its place."""
        return (self.node, *looked(self.place))


@dataclass(eq=False, slots=True)
class Product:
    """A statement that computes a matrix of a value as the product of two matrices.

    Attributes
    ----------
    place: The place of an element, whose last two indices are `rows` and `columns`.
    left, right
        The elements of the factors: their places depend on `rows` and `inner`, and on `inner` and
        `columns`.
    """

    value: Value
    place: Place
    left: Load
    right: Load
    rows: Counter
    inner: Counter
    columns: Counter
    step: Any

    @property
    def nodes(self) -> tuple[Node, ...]:
        """The nodes that it reads."""
        return (self.left, self.right)


Statement = Store | Product
Block = list[Any]
"""The items of a sequence: statements, loop trees and, outside of all loops, calls."""


@dataclass(eq=False, slots=True)
class LoopTree:
    """A loop, with a body of statements and loops.

    Attributes
    ----------
    counter: The loop counter.
    before, body, after: The items before the loop, in each iteration, and after the loop.
    count: The number of statements.
    inputs: The values that it reads, by the buffers that they lie in.
    writes: The values that it computes, each with the places written.
    """

    counter: Counter
    before: Block = field(default_factory=list)
    body: Block = field(default_factory=list)
    after: Block = field(default_factory=list)
    count: int = 0
    inputs: set[Value] = field(default_factory=set)
    writes: dict[Value, list[Place]] = field(default_factory=dict)

    def of(self, counter: Counter, before: Block, body: Block, after: Block) -> LoopTree:
        """Return a loop with other parts that reads and writes the same."""
        return LoopTree(counter, before, body, after, self.count, self.inputs, self.writes)


def statements_of(*items: Any) -> Iterator[Any]:
    """Yield all statements of items; those of a loop's body come before its prologue.

    The prologue initialises the reductions of the body.
    """
    for item in items:
        if isinstance(item, LoopTree):
            yield from statements_of(*item.body, *item.before, *item.after)
        else:
            yield item


class Part(NamedTuple):
    """A statement of a nest.

    Attributes
    ----------
    statement: The statement.
    when: 0 in the innermost loop; -1 before and 1 after the loop at `depth`.
    depth: The depth of that loop.
    inner: Further loops around the statement alone.
    """

    statement: Statement
    when: int = 0
    depth: int = 0
    inner: tuple[Counter, ...] = ()


class Nest:
    """The loop nest of one value, before fusion.

    Parameters
    ----------
    counters: The counters of its loops, the outermost first.
    build: ``build(counters)`` returns its statements for these counters.
    base: ``base(value)`` returns the value whose buffer a value shares, or the value itself.
    """

    __slots__ = ("base", "build", "counters", "inputs", "parts", "reads", "writes")

    def __init__(
        self,
        counters: Sequence[Counter],
        build: Callable[[Sequence[Counter]], list[Part]],
        base: Callable[[Value], Value],
    ) -> None:
        self.counters = tuple(counters)
        self.build = build
        self.base = base
        self.parts = build(self.counters)
        self.writes: dict[Value, list[Place]] = {}
        for part in self.parts:
            self.writes.setdefault(part.statement.value, []).append(part.statement.place)
        self.reads = [
            node
            for node in walk([node for part in self.parts for node in part.statement.nodes])
            if isinstance(node, Load) and node.value not in self.writes
        ]
        self.inputs = {base(node.value) for node in self.reads}

    def accesses(self) -> Iterator[tuple[Value, Place]]:
        """Yield all accesses: values with places."""
        for node in self.reads:
            yield node.value, node.place
        for value, places in self.writes.items():
            for place in places:
                yield value, place

    def needs(self, item: Any) -> bool:
        """Return whether an item of a block computes a value that the nest accesses."""
        if isinstance(item, LoopTree):
            touched = item.writes
            return not self.inputs.isdisjoint(touched) or not self.writes.keys().isdisjoint(touched)
        if isinstance(item, Statement):
            return item.value in self.inputs or item.value in self.writes
        return False


def place_nest(block: Block, nest: Nest, first: int) -> int:
    """Fuse a nest into the loops of a block, or append it; return its position.

    Parameters
    ----------
    block: The items so far.
    nest: The nest.
    first: The position of the last item that the nest depends on, or -1.
    """
    known: dict[Counter, Counter] = {}
    path: list[LoopTree] = []
    body, start, at = block, first, -1
    while len(path) < len(nest.counters):
        found = _company(body, nest, len(path), start, known, outermost=not path)
        if found < 0:
            break
        tree: LoopTree = body[found]
        if not path:
            at = found
        known[nest.counters[len(path)]] = tree.counter
        path.append(tree)
        body = tree.body
        start = max((k for k, item in enumerate(body) if nest.needs(item)), default=-1)
    counters = [known.get(counter, counter) for counter in nest.counters]
    parts = nest.build(counters) if known else nest.parts
    shared = len(path)
    for counter in counters[shared:]:
        path.append(LoopTree(counter))
    if not nest.counters:
        block += [_wrapped(part) for part in parts]
        return len(block) - 1
    for k in range(shared, len(path)):
        (path[k - 1].body if k else block).append(path[k])
    for part in parts:
        item = _wrapped(part)
        if part.when == 0:
            path[-1].body.append(item)
        elif part.when < 0:
            path[part.depth].before.append(item)
        else:
            path[part.depth].after.append(item)
    for tree in path:
        _note(tree, nest, [part.statement for part in parts])
    return at if at >= 0 else len(block) - 1


def _company(
    body: Block,
    nest: Nest,
    depth: int,
    start: int,
    known: dict[Counter, Counter],
    outermost: bool,
) -> int:
    """Return the position of a loop of `body` to fuse the nest's next loop with, or -1."""
    extent = nest.counters[depth].extent
    first = max(start, 0)
    for at in range(first, min(len(body), first + _WINDOW)):
        tree = body[at]
        if not isinstance(tree, LoopTree) or tree.counter.extent != extent:
            continue
        if tree.count + len(nest.parts) > _LARGEST:
            continue
        if outermost and at > start and nest.inputs.isdisjoint(tree.inputs):
            # no shared inputs: fusion would only add pressure on registers and caches
            continue
        if _may_share(tree, nest, {**known, nest.counters[depth]: tree.counter}):
            return at
    return -1


def _may_share(tree: LoopTree, nest: Nest, known: dict[Counter, Counter]) -> bool:
    """Return whether the nest accesses the loop's values at the loop's own index only."""
    renamed = {counter: of(new) for counter, new in known.items()}
    for value, place in nest.accesses():
        if nest.base(value) is not value:
            if nest.base(value) in tree.writes:
                return False
            continue
        places = tree.writes.get(value)
        if places is None:
            continue
        mine = [index.put(renamed) for index in place]
        if not any(
            mine[dim].is_counter(tree.counter)
            and all(other[dim].is_counter(tree.counter) for other in places)
            for dim in range(len(mine))
        ):
            return False
    return True


def _wrapped(part: Part) -> Any:
    """Return a statement inside its own loops."""
    item: Any = part.statement
    for counter in reversed(part.inner):
        tree = LoopTree(counter)
        tree.body.append(item)
        item = tree
    return item


def _note(tree: LoopTree, nest: Nest, statements: list[Statement]) -> None:
    tree.count += len(statements)
    tree.inputs |= nest.inputs
    for statement in statements:
        tree.writes.setdefault(statement.value, []).append(statement.place)
