"""Layer 8 · compiler: instructions that compute, load and store single elements."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from wengert.compiler.backends.affine import Counter, Index, Looked, Place, weighted
from wengert.compiler.backends.buffers import Buffers, Slot
from wengert.compiler.backends.nodes import Apply, Choice, Literal, Load, Node, Position
from wengert.compiler.backends.plan import Plan
from wengert.compiler.backends.scope import Scope
from wengert.compiler.codegen.code import Array, Code, Operand, literal, llvm_type, strides_of
from wengert.compiler.codegen.scalars.table import emit
from wengert.compiler.ir.programs import Value


def applied(code: Code, node: Apply, name_of: Callable[[Node], str], count: int = 1) -> str:
    """Emit a primitive on one element, or on a vector of `count`; `name_of` names its operands."""
    operands = [Operand(name_of(operand), operand.dtype) for operand in node.operands]
    numbers = {key: Operand(name_of(number), number.dtype) for key, number in node.numbers.items()}
    return emit(code, node.prim, operands, node.dtype, {**node.params, **numbers}, count=count)


class Elements:
    """Writes instructions that compute elements of a plan's values.

    Parameters
    ----------
    code: The function.
    buffers: The buffers of the plan's values.
    inputs, outputs: The addresses of the plan's inputs and outputs.
    arena, constants: The addresses of the arena and of constants.
    outer: The writer of the loop whose body the plan is, if any.
    wide: Whether long loops may be parallel.
    """

    def __init__(
        self,
        code: Code,
        buffers: Buffers,
        inputs: Sequence[str],
        outputs: Sequence[str],
        arena: str,
        constants: dict[int, str],
        outer: Elements | None = None,
        *,
        wide: bool = False,
    ) -> None:
        self.code = code
        self.buffers = buffers
        self.plan: Plan = buffers.plan
        self.inputs = inputs
        self.outputs = outputs
        self.arena = arena
        self.constants = constants
        self.scope = Scope()
        self._pointers: dict[Value, str] = {}
        self._once: set[Value] = set()
        self._wide = wide
        self._range: tuple[str, str] | None = None
        self.counters: dict[Counter, str] = {} if outer is None else dict(outer.counters)

    # -- memory -----------------------------------------------------------------------------------

    def pointer(self, value: Value) -> str:
        """The address of a value's first element."""
        base = self.plan.base(value)
        name = self._pointers.get(base)
        if name is None:
            if base.constant is not None:
                name = self.constants[id(base.constant)]
            else:
                name = self._address(self.buffers.slots[base], base)
            self._pointers[base] = name
        return name

    def _address(self, slot: Slot, value: Value) -> str:
        if slot.kind == "input":
            return self.inputs[slot.number]
        if slot.kind == "output":
            return self.outputs[slot.number]
        if slot.kind == "stack":
            return self.code.stack(value.dtype, max(1, slot.size // value.dtype.itemsize))
        return self._in_arena(slot.number)

    def _in_arena(self, offset: int) -> str:
        # in the entry block, so that it may be used everywhere
        name = self.code.fresh("at")
        self.code.first(f"{name} = getelementptr inbounds i8, ptr {self.arena}, i64 {offset}")
        return name

    def strides(self, value: Value) -> tuple[int, ...]:
        """Return the strides of a stored value, in elements."""
        slot = self.buffers.slots.get(value)
        return strides_of(value.shape) if slot is None else slot.strides

    def array(self, value: Value) -> Array:
        """Return a stored value as a strided array, for calls."""
        return Array(self.pointer(value), value.dtype, value.shape, self.strides(value))

    def _load(self, value: Value, place: Place) -> str:
        return self.code.load(self._element(value, place), value.dtype)

    def _store(self, value: Value, place: Place, element: str) -> None:
        self.code.store(element, self._element(value, place), value.dtype)

    def _offset(self, value: Value, place: Place) -> Index:
        """The offset of an element from the first, in elements."""
        return weighted(place, self.strides(value))

    def _element(self, value: Value, place: Place) -> str:
        return self._behind(value, self._offset(value, place))

    def _behind(self, value: Value, total: Index) -> str:
        """Return the address of the element at an offset from a value's first."""
        pointer, code = self.pointer(value), self.code
        if total.terms:
            # elements at constant distances share the variable part of the address
            pointer = self._known(
                ("at", pointer, Index(0, total.terms)),
                lambda: code.at(pointer, value.dtype, self.index(Index(0, total.terms))),
            )
        if not total.constant:
            return pointer
        return self._known(
            ("at", pointer, total.constant), lambda: code.at(pointer, value.dtype, total.constant)
        )

    def _known(self, key: Any, compute: Callable[[], str]) -> str:
        """Return the register of `key`, computing it at its first use in scope."""
        name = self.scope.find(key)
        if name is None:
            name = self.scope.known[key] = compute()
        return name

    def index(self, index: Index) -> str:
        """An index as an ``i64``."""
        total = ""
        for k, (variable, factor) in enumerate(index.terms):
            # indices with a common prefix share its sum
            part = Index(0, index.terms[: k + 1])
            name = self.scope.find(part)
            if name is None:
                name = self._sum(total, variable, factor)
                if name:
                    self.scope.known[part] = name
            total = name
        if not total or not index.constant:
            return total or self.code.plain(index.constant)
        return self._known(index, lambda: self.code.let(f"add nsw i64 {total}, {index.constant}"))

    def _sum(self, total: str, variable: Counter | Looked, factor: int) -> str:
        """Return a sum plus a multiple of a variable; empty if both are."""
        term = self._variable(variable)
        if not term:
            # the counter of a loop that is collapsed into the inner one
            return total
        if factor != 1:
            term = self._known(
                ("times", term, factor), lambda: self.code.let(f"mul nsw i64 {term}, {factor}")
            )
        return term if not total else self.code.let(f"add nsw i64 {total}, {term}")

    def _variable(self, variable: Counter | Looked) -> str:
        if isinstance(variable, Counter):
            return self.counters[variable]
        key = "place", variable
        name = self.scope.find(key)
        if name is None:
            found = self.node(variable.node)
            if variable.node.dtype.itemsize < 8:
                kind = "sext" if variable.node.dtype.kind == "i" else "zext"
                found = self.code.let(f"{kind} {llvm_type(variable.node.dtype)} {found} to i64")
            wrapped = self.code.let(f"add nsw i64 {found}, {variable.extent}")
            below = self.code.let(f"icmp slt i64 {found}, 0")
            name = self.code.let(f"select i1 {below}, i64 {wrapped}, i64 {found}")
            self.scope.known[key] = name
        return name

    # -- elements ---------------------------------------------------------------------------------

    @contextmanager
    def inside(self) -> Iterator[None]:
        """Emit the ``with`` body in a scope of its own."""
        outer = self.scope
        self.scope = Scope(outer)
        yield
        self.scope = outer

    def node(self, node: Node) -> str:
        """The register of an expression."""
        if isinstance(node, Literal):
            return self.code.plain(literal(node.number, node.dtype))
        key = (node.value, node.place) if isinstance(node, Load) else id(node)
        name = self.scope.find(key)
        if name is None:
            name = self._compute(node)
            if not isinstance(node, Load) or node.value in self._once:
                self.scope.known[key] = name
        return name

    def _compute(self, node: Node) -> str:
        if isinstance(node, Load):
            return self._load(node.value, node.place)
        if isinstance(node, Position):
            return self.index(node.index)
        if isinstance(node, Choice):
            return self._choose(node)
        assert isinstance(node, Apply)
        return applied(self.code, node, self.node)

    def _choose(self, node: Choice) -> str:
        code = self.code
        held = ""
        for index, low, high in node.tests:
            away = self.index(index.moved(-low))
            test = code.let(f"icmp ult i64 {away}, {high - low}")
            held = test if not held else code.let(f"and i1 {held}, {test}")
        if isinstance(node.inside, Literal) and isinstance(node.outside, Literal):
            kind = llvm_type(node.dtype)
            inside, outside = self.node(node.inside), self.node(node.outside)
            return code.let(f"select i1 {held}, {kind} {inside}, {kind} {outside}")
        then, other, done = (code.fresh("then"), code.fresh("other"), code.fresh("joined"))
        code.branch(held, then, other)
        edges = []
        for label, part in ((then, node.inside), (other, node.outside)):
            code.label(label)
            with self.inside():
                found = self.node(part)
            edges.append(f"[ {found}, %{code.current} ]")
            code.jump(done)
        code.label(done)
        return code.let(f"phi {llvm_type(node.dtype)} {', '.join(edges)}")
