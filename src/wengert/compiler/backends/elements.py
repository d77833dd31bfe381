"""Layer 8 · compiler: elements in LLVM's text: where they stand in memory, and what they are."""

from __future__ import annotations

from collections.abc import Sequence

from wengert.compiler.backends.affine import Counter, Index, Looked, Place, strides_of
from wengert.compiler.backends.nodes import Apply, Choice, Literal, Load, Node, Position
from wengert.compiler.backends.plan import Plan
from wengert.compiler.backends.scope import Scope
from wengert.compiler.backends.storage import Slot, Storage
from wengert.compiler.code import Array, Code, Operand, literal, llvm_type, memory_type
from wengert.compiler.ir import Value
from wengert.compiler.scalars import emit

__all__ = ["Elements"]


class Elements:
    """Writes instructions that compute elements of a plan's values.

    Parameters
    ----------
    code
        The function.
    storage
        Where values lie.
    inputs, outputs
        The addresses of the plan's inputs and outputs.
    arena, constants
        The address of the arena, and those of constants.
    outer
        What writes the loop whose body this is, if it is one.
    wide
        Whether threads may share long loops.
    """

    def __init__(
        self,
        code: Code,
        storage: Storage,
        inputs: Sequence[str],
        outputs: Sequence[str],
        arena: str,
        constants: dict[int, str],
        outer: Elements | None = None,
        *,
        wide: bool = False,
    ) -> None:
        self.code = code
        self.storage = storage
        self.plan: Plan = storage.plan
        self.inputs = inputs
        self.outputs = outputs
        self.arena = arena
        self.constants = constants
        self.scope = Scope()
        self._pointers: dict[Value, str] = {}
        self._aliasing: dict[str, str] = {}
        self._once: set[Value] = set()
        self._plain = False
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
                name = self._address(self.storage.slots[base], base)
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
        self.code.allocations.append(
            f"  {name} = getelementptr inbounds i8, ptr {self.arena}, i64 {offset}"
        )
        return name

    def strides(self, value: Value) -> tuple[int, ...]:
        """By how many elements a step along each dimension of a stored value moves."""
        slot = self.storage.slots.get(value)
        return strides_of(value.shape) if slot is None else slot.strides

    def array(self, value: Value) -> Array:
        """A stored value as calls see it."""
        return Array(self.pointer(value), value.dtype, value.shape, self.strides(value))

    def _note(self, pointer: str) -> str:
        return self._aliasing.get(pointer, "")

    def _load(self, value: Value, place: Place) -> str:
        pointer, dtype = self._element(value, place), value.dtype
        note = self._note(self.pointer(value))
        kind = memory_type(dtype)
        loaded = self.code.let(f"load {kind}, ptr {pointer}, align {dtype.itemsize}{note}")
        return self.code.let(f"trunc i8 {loaded} to i1") if dtype.kind == "b" else loaded

    def _store(self, value: Value, place: Place, element: str) -> None:
        pointer, dtype = self._element(value, place), value.dtype
        note = self._note(self.pointer(value))
        if dtype.kind == "b":
            element = self.code.let(f"zext i1 {element} to i8")
        self.code.do(
            f"store {memory_type(dtype)} {element}, ptr {pointer}, align {dtype.itemsize}{note}"
        )

    def _offset(self, value: Value, place: Place) -> Index:
        """Where an element stands, counted from the first."""
        total = Index(0)
        for index, stride in zip(place, self.strides(value), strict=True):
            total = total.plus(index.times(stride))
        return total

    def _element(self, value: Value, place: Place) -> str:
        total = self._offset(value, place)
        pointer = self.pointer(value)
        if not total.terms and not total.constant:
            return pointer
        key = pointer, total
        name = self.scope.find(key)
        if name is None:
            name = self.code.let(
                f"getelementptr inbounds {memory_type(value.dtype)}, ptr {pointer}, "
                f"i64 {self.index(total)}"
            )
            self.scope.known[key] = name
        return name

    def index(self, index: Index) -> str:
        """An index as an ``i64``."""
        if not index.terms:
            return str(index.constant)
        name = self.scope.find(index)
        if name is not None:
            return name
        total = str(index.constant) if index.constant else ""
        for variable, factor in index.terms:
            term = self._variable(variable)
            if not term:
                # the counter of a loop that is part of the one within it
                continue
            if factor != 1:
                term = self.code.let(f"mul nsw i64 {term}, {factor}")
            total = term if not total else self.code.let(f"add nsw i64 {term}, {total}")
        self.scope.known[index] = total = total or "0"
        return total

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

    def node(self, node: Node) -> str:
        """The register of an expression."""
        if isinstance(node, Literal):
            return literal(node.number, node.dtype)
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
        params = dict(node.params)
        for name, number in node.numbers.items():
            params[name] = Operand(self.node(number), number.dtype)
        operands = [Operand(self.node(operand), operand.dtype) for operand in node.operands]
        return emit(self.code, node.name, operands, node.dtype, params)

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
        then, other, done = code.fresh("then"), code.fresh("other"), code.fresh("joined")
        code.branch(held, then, other)
        edges = []
        for label, part in ((then, node.inside), (other, node.outside)):
            code.label(label)
            self.scope = Scope(self.scope)
            found = self.node(part)
            assert self.scope.outer is not None
            self.scope = self.scope.outer
            edges.append(f"[ {found}, %{code.current} ]")
            code.jump(done)
        code.label(done)
        return code.let(f"phi {llvm_type(node.dtype)} {', '.join(edges)}")
