"""Layer 8 · compiler: expressions of single elements, which the bodies of loops compute.

Values that a loop nest computes on the way, without keeping them in memory, are nodes of these
kinds. Nodes are shared: one node is one computation for one place.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from wengert.compiler.backends.affine import Index, Looked, Place
from wengert.compiler.ir.programs import Step, Value
from wengert.prims.record import Primitive

__all__ = ["Apply", "Choice", "Literal", "Load", "Node", "Position", "leaves", "walk"]


@dataclass(eq=False, slots=True)
class Load:
    """An element of a value that lies in memory."""

    value: Value
    place: Place

    @property
    def dtype(self) -> np.dtype[Any]:
        """The dtype of the element."""
        return self.value.dtype


@dataclass(eq=False, slots=True)
class Literal:
    """A number that is known."""

    number: Any
    dtype: np.dtype[Any]


@dataclass(eq=False, slots=True)
class Position:
    """An index as an integer."""

    index: Index
    dtype: np.dtype[Any] = np.dtype(np.int64)  # noqa: RUF009  # nobody changes it


@dataclass(eq=False, slots=True)
class Apply:
    """A scalar primitive on elements.

    Attributes
    ----------
    prim, params, dtype: The primitive, its parameters and the dtype of the result.
    operands: Nodes of its arguments.
    numbers: Nodes of those parameters that are read off values, by name.
    step: Where it comes from, if it does.
    """

    prim: Primitive
    operands: Sequence[Node]
    dtype: np.dtype[Any]
    params: Mapping[str, Any] = field(default_factory=dict)
    numbers: Mapping[str, Node] = field(default_factory=dict)
    step: Step | None = None


@dataclass(eq=False, slots=True)
class Choice:
    """One of two elements, by where the indices lie.

    Attributes
    ----------
    tests: Triples ``(index, low, high)``, all of which must hold: ``low <= index < high``.
    inside, outside
        The element where they hold, and where not. What is needed for `inside` alone is computed
        only where they hold, since it may read what does not exist elsewhere.
    """

    tests: Sequence[tuple[Index, int, int]]
    inside: Node
    outside: Node
    dtype: np.dtype[Any] = field(init=False)

    def __post_init__(self) -> None:
        self.dtype = self.inside.dtype


Node = Load | Literal | Position | Apply | Choice


def walk(roots: Sequence[Node]) -> list[Node]:
    """Every node that these need, once, those needed before those that need them."""
    done: set[int] = set()
    found: list[Node] = []

    def looked(indices: Iterable[Index]) -> None:
        for index in indices:
            for variable, _ in index.terms:
                if isinstance(variable, Looked):
                    visit(variable.node)

    def visit(node: Node) -> None:
        if id(node) in done:
            return
        done.add(id(node))
        if isinstance(node, Load):
            looked(node.place)
        elif isinstance(node, Apply):
            for below in reversed((*node.operands, *node.numbers.values())):
                visit(below)
        elif isinstance(node, Choice):
            looked([index for index, _, _ in node.tests])
            visit(node.outside)
            visit(node.inside)
        elif isinstance(node, Position):
            looked((node.index,))
        found.append(node)

    for root in roots:
        visit(root)
    return found


def leaves(node: Node) -> list[Load]:
    """The reads of memory that a node needs."""
    return [part for part in walk([node]) if isinstance(part, Load)]
