"""Layer 8 · compiler: expressions of single elements, in the bodies of loops.

Values that a loop computes inline are nodes of these kinds. Nodes are shared: a node is computed
once per iteration.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from wengert.compiler.backends.affine import Index, Looked, Place
from wengert.compiler.ir.programs import Step, Value
from wengert.prims.record import Primitive


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
    """A constant."""

    number: Any
    dtype: np.dtype[Any]


@dataclass(eq=False, slots=True)
class Position:
    """The value of an index."""

    index: Index
    dtype: np.dtype[Any] = np.dtype(np.int64)  # noqa: RUF009  # nobody changes it


@dataclass(eq=False, slots=True)
class Apply:
    """A scalar primitive applied to elements.

    Attributes
    ----------
    prim, params, dtype: The primitive, its parameters and the dtype of the result.
    operands: The nodes of its arguments.
    numbers: The nodes of parameters that are values, by name.
    step: The step that it comes from, if any.
    """

    prim: Primitive
    operands: Sequence[Node]
    dtype: np.dtype[Any]
    params: Mapping[str, Any] = field(default_factory=dict)
    numbers: Mapping[str, Node] = field(default_factory=dict)
    step: Step | None = None


@dataclass(eq=False, slots=True)
class Choice:
    """One of two elements, selected by tests of indices.

    Attributes
    ----------
    tests: Triples ``(index, low, high)``, all of which must hold: ``low <= index < high``.
    inside, outside
        The element if they hold, and otherwise. `inside` is computed only if they hold, since it
        may read out of bounds elsewhere.
    """

    tests: Sequence[tuple[Index, int, int]]
    inside: Node
    outside: Node
    dtype: np.dtype[Any] = field(init=False)

    def __post_init__(self) -> None:
        self.dtype = self.inside.dtype


Node = Load | Literal | Position | Apply | Choice


def looked(place: Iterable[Index]) -> list[Node]:
    """Return the nodes of the positions that indices look up."""
    return [v.node for index in place for v, _ in index.terms if isinstance(v, Looked)]


def walk(roots: Sequence[Node]) -> list[Node]:
    """Return all nodes that the roots need, each once, in topological order."""
    done: set[int] = set()
    found: list[Node] = []

    def visit_all(nodes: Iterable[Node]) -> None:
        for node in nodes:
            visit(node)

    def visit(node: Node) -> None:
        if id(node) in done:
            return
        done.add(id(node))
        if isinstance(node, Load):
            visit_all(looked(node.place))
        elif isinstance(node, Apply):
            visit_all(reversed((*node.operands, *node.numbers.values())))
        elif isinstance(node, Choice):
            visit_all(looked([index for index, _, _ in node.tests]))
            visit(node.outside)
            visit(node.inside)
        elif isinstance(node, Position):
            visit_all(looked((node.index,)))
        found.append(node)

    visit_all(roots)
    return found


def leaves(node: Node) -> list[Load]:
    """Return the loads that a node needs."""
    return [part for part in walk([node]) if isinstance(part, Load)]
