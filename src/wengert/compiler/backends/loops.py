"""Layer 8 · compiler: trees of loops, and how nests of loops are put into one another.

NOTE [trees of loops]
Each value that must be computed in one place is first a nest of loops of its own (`Nest`). Nests
are then placed into the loops that are there already: as many of its outer loops as possible
become those of an earlier nest. A loop may be shared if what the nest reads of values that are
computed in that loop, it reads at the same index: then everything it needs has been computed when
its own part of the loop's body runs. So a chain of element-wise operations becomes one loop, and a
softmax becomes one loop over rows whose body holds three over columns.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from wengert.compiler.backends.affine import Counter, Place, of
from wengert.compiler.backends.nodes import Load, Node, walk
from wengert.compiler.ir.programs import Value

__all__ = [
    "Accumulate",
    "Block",
    "LoopTree",
    "Nest",
    "Part",
    "Product",
    "Statement",
    "Store",
    "place_nest",
    "statements_of",
]

# a loop's body grows no further than this number of statements
_LARGEST = 64
# how many items a nest looks at for company
_WINDOW = 24


@dataclass(eq=False, slots=True)
class Store:
    """An element of a value is computed and written to memory."""

    value: Value
    place: Place
    node: Node
    step: Any = None

    @property
    def nodes(self) -> tuple[Node, ...]:
        """What is computed for it."""
        return (self.node,)


@dataclass(eq=False, slots=True)
class Accumulate:
    """An element of a value is combined with one more element.

    Attributes
    ----------
    kind: How: the kind of a `Reduction`.
    """

    value: Value
    place: Place
    node: Node
    kind: str
    step: Any

    @property
    def nodes(self) -> tuple[Node, ...]:
        """What is computed for it."""
        return (self.node,)


@dataclass(eq=False, slots=True)
class Product:
    """A matrix of a value is computed from matrices of two others.

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


Statement = Store | Accumulate | Product
Block = list[Any]
"""The items of a sequence: statements, loop trees and, outside of all loops, calls."""


@dataclass(eq=False, slots=True)
class LoopTree:
    """A loop, with a body of statements and loops.

    Attributes
    ----------
    counter: Its counter.
    before, body, after: What runs before the loop, in each repetition, and behind it.
    count: The number of statements.
    inputs: The values that are read in it, by the memory that they lie in.
    writes: The values that are computed in it, and at which places.
    """

    counter: Counter
    before: Block = field(default_factory=list)
    body: Block = field(default_factory=list)
    after: Block = field(default_factory=list)
    count: int = 0
    inputs: set[Value] = field(default_factory=set)
    writes: dict[Value, list[Place]] = field(default_factory=dict)

    def of(self, counter: Counter, before: Block, body: Block, after: Block) -> LoopTree:
        """A loop of other parts that reads and writes the same."""
        return LoopTree(counter, before, body, after, self.count, self.inputs, self.writes)


def statements_of(*items: Any) -> Iterator[Any]:
    """Everything that is computed by statements and trees of loops.

    Within a loop what its body does comes first: what runs before it begins a sum within it.
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
    statement: What is computed.
    when: 0: in the innermost loop; -1 and 1: before and behind the loop at `depth`.
    depth: The position of that loop.
    inner: Further loops that it stands in, which are its own.
    """

    statement: Statement
    when: int = 0
    depth: int = 0
    inner: tuple[Counter, ...] = ()


class Nest:
    """One value's loops, before they are placed.

    Parameters
    ----------
    counters: Its loops, the outermost first.
    build: ``build(counters)`` gives its statements for these loops.
    base: ``base(value)`` is the value whose memory a value shares, or the value itself.
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
        """Everything it touches, with the place."""
        for node in self.reads:
            yield node.value, node.place
        for value, places in self.writes.items():
            for place in places:
                yield value, place

    def needs(self, item: Any) -> bool:
        """Whether an item of a block computes something that it touches."""
        if isinstance(item, LoopTree):
            touched = item.writes
            return not self.inputs.isdisjoint(touched) or not self.writes.keys().isdisjoint(touched)
        if isinstance(item, Statement):
            return item.value in self.inputs or item.value in self.writes
        return False


def place_nest(block: Block, nest: Nest, first: int) -> int:
    """Put a nest into the loops of a block, or behind them; the position where it went.

    Parameters
    ----------
    block: The items that are there.
    nest: What is to be placed.
    first: The position of the last item that computes what the nest needs, or -1.
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
    """The position of a loop of `body` that the nest's next loop may become, or -1."""
    extent = nest.counters[depth].extent
    first = max(start, 0)
    for at in range(first, min(len(body), first + _WINDOW)):
        tree = body[at]
        if not isinstance(tree, LoopTree) or tree.counter.extent != extent:
            continue
        if tree.count + len(nest.parts) > _LARGEST:
            continue
        if outermost and at > start and nest.inputs.isdisjoint(tree.inputs):
            # nothing in common: loops of their own keep registers and caches free
            continue
        if _may_share(tree, nest, {**known, nest.counters[depth]: tree.counter}):
            return at
    return -1


def _may_share(tree: LoopTree, nest: Nest, known: dict[Counter, Counter]) -> bool:
    """Whether what the nest touches of the tree's values has the loop's counter as an index."""
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
    """A statement within the loops that are its own."""
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
