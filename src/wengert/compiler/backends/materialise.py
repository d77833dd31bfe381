"""Layer 8 · compiler: which values of a program are materialised, and which are computed inline.

NOTE [stored values]
Most values of a program never exist in memory: they are nodes in the bodies of the loops that use
them. A value is stored if something other than a loop reads it (an output, a call, a repeated
body), if it is the result of a reduction, or if computing it again for each use would cost more
than memory. Whether a stored value needs a buffer is known only once all loops are: a value that is
used only in the iteration that computes it becomes a register (NOTE [buffers] in `buffers`).
"""

from __future__ import annotations

import math

from wengert.compiler.backends.affine import ZERO, Counter, Place
from wengert.compiler.backends.gather_maps import SCATTERS
from wengert.compiler.backends.index_maps import INDEX_MAPS, aligned
from wengert.compiler.backends.kinds import kind_of, with_values
from wengert.compiler.backends.nodes import Apply, Literal, Load, Node
from wengert.compiler.backends.schedule import ordered_steps
from wengert.compiler.codegen.code import is_native
from wengert.compiler.codegen.native.forms import NATIVE
from wengert.compiler.codegen.scalars.table import cost
from wengert.compiler.ir.programs import Loop, Number, Program, Step, Value, open_ended, uses
from wengert.compiler.ir.raising import may_raise

# to recompute an element that costs no more cycles than this is cheaper than to store it
_CHEAP = 6
# the same for values whose elements several loops use at different places, so not from registers
_APART = 16
# the depth of the deepest expression
_DEEPEST = 40
# tall products: the most terms, the most bytes of the second factor, the fewest of the result
_FEW = 16
_NEAR = 2**15
_FAR = 2**19


def is_tall(step: Step) -> bool:
    """Return whether a matrix product is better fused with its uses row by row, while rows are in
    cache: its result is large, and each row is cheap to compute."""
    if step.prim.name != "mm":
        return False
    a, b = step.args
    out = step.outs[0]
    few = 0 < a.shape[1] <= _FEW and b.size * b.dtype.itemsize <= _NEAR
    return few and out.shape[1] > 1 and out.size * out.dtype.itemsize >= _FAR


class Elementwise:
    """A program as expressions for elements: loads of stored values, or their computation inline.

    Parameters
    ----------
    program: A program of native steps.
    counter: The counter of the loop whose body the program is, if any.

    Attributes
    ----------
    steps: The steps in the order in which they are scheduled.
    stored: The values that are materialised.
    aliases: Values that are reshaped views of others' buffers.
    varies: Whether some sizes differ between the programs that share this code.
    definitions: For each value the step that computes it.
    """

    def __init__(self, program: Program, counter: Counter | None = None) -> None:
        self.program = program
        self.counter = counter
        self.aliases: dict[Value, Value] = {}
        self.definitions: dict[Value, Step] = {}
        self.stored: set[Value] = set(program.inputs)
        self._costs: dict[Value, int] = dict.fromkeys(program.inputs, 1)
        self._depths: dict[Value, int] = {}
        self._nodes: dict[tuple[Value, Place], Node] = {}
        self.steps = [
            step if isinstance(step, Loop) else with_values(step) for step in ordered_steps(program)
        ]
        self.varies = any(
            open_ended(n)
            for step in self.steps
            for value in (*uses(step), *step.outs)
            for n in value.shape
        )
        self._decide()

    # -- which values are stored ------------------------------------------------------------------

    def _decide(self) -> None:
        counts: dict[Value, int] = dict.fromkeys(self.program.outputs, 1)
        for step in self.steps:
            for value in uses(step):
                counts[value] = counts.get(value, 0) + 1
        self._apart = self._wanted_apart(counts)
        for step in self.steps:
            if isinstance(step, Loop):
                for value in (*step.carried, *(v for v, _, _ in step.sliced), *step.fixed):
                    self._store(value)
                for value in step.outs:
                    self._costs[value] = 1
                    self.stored.add(value)
                continue
            self.definitions.update(dict.fromkeys(step.outs, step))
            self._decide_step(step, kind_of(step), counts)
        for value in self.program.outputs:
            self._store(value)

    def _wanted_apart(self, counts: dict[Value, int]) -> set[Value]:
        """Return the values that are only read as regions of joined and padded arrays.

        The loops that read them run over the whole array, not over the region, so their elements
        could not be kept in registers for other uses.
        """
        found = {value for value in counts if value.constant is None}
        stored = set(self.program.outputs)
        found -= stored
        for step in reversed(self.steps):
            if isinstance(step, Loop):
                found.difference_update(uses(step))
                stored.update(uses(step))
                continue
            out, kind = step.outs[0], kind_of(step)
            if kind == "scalar" and out in found:
                found.difference_update(v for v in uses(step) if v.shape != out.shape)
                continue
            index_map = INDEX_MAPS[step.prim] if kind == "map" else None
            if (
                index_map is None
                or out in stored
                or not (index_map.piecewise and index_map.inline(step))
            ):
                found.difference_update(uses(step))
            if kind == "call":
                stored.update(uses(step))
        return found

    def _decide_step(self, step: Step, kind: str, counts: dict[Value, int]) -> None:
        if kind in ("reduce", "search"):
            out = step.outs[0]
            self.stored.add(out)
            self._costs[out] = 1
            if kind == "search" and self._cost(step.args[0]) > _CHEAP:
                # it is read twice
                self._store(step.args[0])
            return
        if kind == "scatter":
            self._decide_scatter(step)
            return
        if kind == "call":
            self._decide_call(step)
            return
        if kind == "map":
            own = self._decide_pull(step, counts.get(step.outs[0], 0) > 1)
        else:
            own = cost(step.prim, step.outs[0].dtype)
            for arg in step.args:
                # a broadcast operand would be recomputed for each element of the result
                if arg.size < step.outs[0].size and self._cost(arg) > 2:
                    self._store(arg)
        for out in step.outs:
            total = own + sum(map(self._cost, dict.fromkeys(uses(step))))
            depth = 1 + max((self._depths.get(arg, 0) for arg in uses(step)), default=0)
            self._costs[out] = total
            self._depths[out] = depth
            often = counts.get(out, 0) > 1
            again = often and total > (1 if out.size == 1 else self._cheap(out))
            # computing only some elements would miss errors
            if again or depth > _DEEPEST or (kind == "scalar" and may_raise(step)):
                self._store(out)

    def _decide_scatter(self, step: Step) -> None:
        for index, _ in lookups(step):
            self._store(index)
        out, values = step.outs[0], step.args[-1]
        if values.size < out.size and self._cost(values) > 2:
            # it may be repeated
            self._store(values)
        self.stored.add(out)
        self._costs[out] = 1

    def _decide_call(self, step: Step) -> None:
        native = NATIVE[step.prim]
        assert native is not None
        strided = list(native.strided(step))
        if is_tall(step):
            # each row reads the whole second factor, which is better contiguous
            strided[1] = False
        for k, value in enumerate(uses(step)):
            viewed = self._viewed(value) if k < len(strided) and strided[k] else value
            # an expanded constant has no buffer
            self._store(viewed if viewed.constant is None else value)
        for out in step.outs:
            self.stored.add(out)
            self._costs[out] = 1

    def _viewed(self, value: Value) -> Value:
        """Return the value that a value is a strided view of."""
        while value in self.definitions and value not in self.stored and value not in self.aliases:
            step = self.definitions[value]
            index_map = INDEX_MAPS[step.prim]
            if index_map is None or not index_map.view or kind_of(step) != "map":
                break
            value = step.args[0]
        return value

    def _cheap(self, value: Value) -> int:
        """Return the most cycles at which an element is recomputed rather than stored."""
        return _APART if value in self._apart else _CHEAP

    def _decide_pull(self, step: Step, often: bool) -> int:
        """Store the arguments that an index map would recompute too often; return its own cost.

        Where its result is read `often`, the result itself may have to be stored.
        """
        index_map = INDEX_MAPS[step.prim]
        assert index_map is not None
        if not index_map.accepts(step):
            source = step.args[0]
            self._store(source)
            self.aliases[step.outs[0]] = source
            return 0
        for index, _ in lookups(step):
            self._store(index)
        grows = step.args and step.outs[0].size > step.args[0].size
        own = index_map.cost(step) + index_map.piecewise
        total = own + sum(map(self._cost, dict.fromkeys(uses(step))))
        lies = often and total > self._cheap(step.outs[0])
        for arg in step.args:
            again = index_map.inline(step) and (grows or index_map.piecewise)
            most = _APART if arg in self._apart and not lies else 2
            if self._cost(arg) > (1 if index_map.often(step) else most if again else math.inf):
                self._store(arg)
        if not index_map.inline(step):
            self._store(step.outs[0])
        return own

    def _cost(self, value: Value) -> int:
        return 1 if value in self.stored else self._costs.get(value, 0)

    def _store(self, value: Value) -> None:
        if value.constant is None and value not in self.aliases:
            self.stored.add(value)
            self._depths[value] = 0

    # -- the elements of values -------------------------------------------------------------------

    def source(self, value: Value, place: Place) -> Node:
        """Return the node of a value's element at a place."""
        if value.constant is not None and value.size == 1 and is_native(value.dtype):
            return Literal(value.constant.item(), value.dtype)
        key = value, place
        node = self._nodes.get(key)
        if node is None:
            held = value in self.stored or value in self.aliases or value.constant is not None
            node = Load(value, place) if held else self.element(value, place)
            self._nodes[key] = node
        return node

    def element(self, value: Value, place: Place) -> Node:
        """Return the node that computes a value's element at a place by its step."""
        step = self.definitions[value]
        index_map = INDEX_MAPS[step.prim]
        if index_map is not None and kind_of(step) == "map":
            return index_map.node(self.source, step, place, self.counter)
        numbers = {
            name: self.source(param.value, (ZERO,) * len(param.value.shape))
            for name, param in step.params.items()
            if isinstance(param, Number)
        }
        operands = [self.source(arg, aligned(place, arg.shape)) for arg in step.args]
        return Apply(step.prim, operands, value.dtype, step.params, numbers, step)

    def base(self, value: Value) -> Value:
        """Return the value whose buffer a value shares, or the value itself."""
        while value in self.aliases:
            value = self.aliases[value]
        return value


def lookups(step: Step) -> list[tuple[Value, int]]:
    """Return the index arrays of a step, each with the size of the dimension that it indexes."""
    by = INDEX_MAPS[step.prim] or SCATTERS[step.prim]
    return [] if by is None else by.looked(step)
