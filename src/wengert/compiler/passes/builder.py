"""Layer 8 · compiler: the builder of programs: constant folding and value numbering.

NOTE [rewriting]
A program is rewritten in one pass: `Builder.emit` puts each step into a new program, with its
operands replaced by their new values. A rewrite rule for its primitive may return another value for
its result. Otherwise the step is shared with an equal one (common subexpressions), or folded if its
operands are constants. Rules match the steps that computed the operands (`Builder.maker`), which
are already simplified.

NOTE [uniform values]
A uniform value, whose elements are all one number, is a constant, a step `zeros`, or an `expand` of
a zero-dimensional constant. Backends inline the number into loops, so that the array need not
exist. `Builder.uniform` recognises them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from wengert.compiler.ir.facets import COMMUTES, MAPS
from wengert.compiler.ir.programs import (
    Loop,
    Number,
    Program,
    Step,
    Value,
    mapped,
    parts,
    substitute,
    uses,
)
from wengert.compiler.ir.raising import is_within, may_raise
from wengert.compiler.passes.value_numbering import constant_key, params_key
from wengert.prims.record import TABLE, Primitive

Rule = Callable[..., Value | None]
"""``rule(builder, name, args, params, out)`` returns a value to use instead of `out`, or None."""


class Rules:
    """The rewrite rules of a primitive.

    Attributes
    ----------
    triggers
        The primitives whose result as an operand triggers the rules `triggered` (``"number"`` for a
        uniform constant); most steps have no such operand.
    always: The rules that are tried for every step, after the triggered ones.
    """

    __slots__ = ("always", "triggered", "triggers")

    def __init__(self) -> None:
        self.triggers: frozenset[str] = frozenset()
        self.triggered: tuple[Rule, ...] = ()
        self.always: tuple[Rule, ...] = ()

    def add(self, rule: Rule, on: Sequence[str]) -> None:
        """Append a rule."""
        if on:
            self.triggers |= set(on)
            self.triggered += (rule,)
        else:
            self.always += (rule,)


class Book(dict[str, Rules]):
    """Rewrite rules by the name of the primitive."""

    def rule(self, *prims: Primitive, on: Sequence[Primitive | str] = ()) -> Callable[[Rule], Rule]:
        """Register a rule for primitives, for arguments made by one of `on` if these are given."""
        triggers = [by if isinstance(by, str) else by.name for by in on]

        def register(rule: Rule) -> Rule:
            for prim in prims:
                self.setdefault(prim.name, Rules()).add(rule, triggers)
            return rule

        return register


RULES = Book()
"""All rules. Those of a primitive are tried in order until one returns a value."""

_SMALL = 1024
"""Constants up to this many elements are folded and compared."""


class Builder:
    """A program under construction (see NOTE [rewriting]).

    Parameters
    ----------
    counts: The number of uses of each value of the old program.
    rules: The rewrite rules to apply, by the name of the primitive.

    Attributes
    ----------
    several: The values with more than one use that a rule asked about (`once`).
    """

    def __init__(self, counts: dict[Value, int], rules: Mapping[str, Rules]) -> None:
        self.counts = counts
        self._rules = rules
        self.several: set[Value] = set()
        self.steps: list[Step | Loop] = []
        self.now: dict[Value, Value] = {}
        self.site: tuple[str, int] | None = None
        self._makers: dict[Value, Step] = {}
        self._kinds: dict[Value, str] = {}
        self._known: dict[Any, tuple[Value, ...]] = {}
        self._constants: dict[Any, Value] = {}
        self._uniforms: dict[Value, Any] = {}
        self._zeros: set[Value] = set()

    # -- queries for rules -------------------------------------------------------------------------

    def maker(self, value: Value, *names: str) -> Step | None:
        """Return the step that computes `value`, if its primitive is one of `names` (or any)."""
        step = self._makers.get(value)
        return step if step is not None and (not names or step.prim.name in names) else None

    def known(self, name: str, args: tuple[Value, ...], params: Mapping[str, Any]) -> Value | None:
        """Return the result of an equal step, or None."""
        found = self._known.get((name, args, params_key(params)) if params else (name, args))
        return None if found is None else found[0]

    def uniform(self, value: Value) -> Any:
        """Return the scalar that all elements of `value` equal, or None."""
        return self._uniforms.get(value)

    def is_zero(self, value: Value) -> bool:
        """Return whether a value is the result of a step that fills with zeros."""
        return value in self._zeros

    def once(self, value: Value) -> bool:
        """Return whether `value` has one use, as far as is known."""
        count = self.counts.get(value, 0)
        if count > 1:
            self.several.add(value)
        return count == 1

    # -- results for rules -------------------------------------------------------------------------

    def constant(self, array: Any) -> Value:
        """Return the value of a constant, shared by equal constants."""
        array = np.asarray(array, order="C")  # backends read constants in C order
        if array.size > _SMALL:
            return Value(array.dtype, array.shape, array)
        key = constant_key(array)
        value = self._constants.get(key)
        if value is None:
            array = np.array(array, order="C")
            array.flags.writeable = False
            value = self._constants[key] = Value(array.dtype, array.shape, array)
            self._note_uniform(value)
        return value

    def filled(self, number: Any, dtype: np.dtype[Any], shape: tuple[int, ...]) -> Value:
        """Return a value whose elements are all one number."""
        array = np.asarray(number, dtype)
        nothing = not array.tobytes().strip(b"\0")
        if not shape and not nothing:
            return self.constant(array)
        if not shape:
            # distinct from a user's number of this value (see NOTE [identities])
            value = self._constants.setdefault(("zeros", dtype), Value(dtype, (), array))
            self._kinds[value] = "zeros"
        elif nothing:
            value = self.put("zeros", (), {"shape": shape, "dtype": dtype}, dtype, shape)
        else:
            value = self.put("expand", (self.constant(array),), {"shape": shape}, dtype, shape)
        if nothing:
            self._zeros.add(value)
        self._uniforms[value] = array[()]
        return value

    def emit(
        self, name: str, args: Sequence[Value], params: Mapping[str, Any], like: Value
    ) -> Value:
        """Emit a step with the dtype and shape of `like`, applying rewrite rules."""
        return self._emit(TABLE[name], tuple(args), params, like, None)

    def put(
        self,
        name: str,
        args: tuple[Value, ...],
        params: Mapping[str, Any],
        dtype: np.dtype[Any],
        shape: tuple[int, ...],
    ) -> Value:
        """Emit a step without rewrite rules, sharing equal steps."""
        return self._place(TABLE[name], args, params, (Value(dtype, shape),), None)[0]

    def shaped(self, value: Value, shape: tuple[int, ...]) -> Value:
        """Emit a reshape."""
        if value.shape == shape:
            return value
        return self.emit("view", (value,), {"shape": shape}, Value(value.dtype, shape))

    def expanded(self, value: Value, shape: tuple[int, ...]) -> Value:
        """Emit an expansion."""
        if value.shape == shape:
            return value
        return self.emit("expand", (value,), {"shape": shape}, Value(value.dtype, shape))

    # -- adding programs ---------------------------------------------------------------------------

    def current(self, value: Value) -> Value:
        """Return the new value of a value of the old program."""
        found = self.now.get(value)
        if found is not None:
            return found
        if value.constant is None:
            return value
        found = self.now[value] = self.constant(value.constant)
        return found

    def take(self, step: Step | Loop) -> None:
        """Add a step of the old program."""
        if isinstance(step, Loop):
            self.steps.append(step.reading(self.current))
            return
        now = self.now
        args = step.args
        for arg in args:
            if arg.constant is not None or arg in now:
                args = tuple([self.current(arg) for arg in args])
                break
        params = step.params
        if params and len(uses(step)) > len(args):
            params = self._params(params)
        self.site = step.site
        outs = step.outs
        if len(outs) == 1:
            (out,) = outs
            met = self._emit(step.prim, args, params, out, step)
            if met is not out:
                now[out] = met
                counts = self.counts
                counts[met] = counts.get(met, 0) + counts.get(out, 0)
            return
        for out, met in zip(outs, self._place(step.prim, args, params, outs, step), strict=True):
            if met is not out:
                now[out] = met

    def finished(self, old: Program) -> tuple[Program, dict[Value, int]]:
        """Return the new program for the steps of `old`, and the number of uses of each value."""
        outputs = [self.current(value) for value in old.outputs]
        writes = [(self.current(made), over) for made, over in old.writes]
        steps, counts = live(self.steps, outputs)
        # an output may turn out to be an input, which must not be overwritten
        kept = [(made, over) for made, over in writes if over not in outputs]
        return Program(old.inputs, steps, outputs, kept), counts

    def _params(self, params: dict[str, Any]) -> dict[str, Any]:
        """Return parameters with their values replaced; constant numbers become literals."""

        def each(part: Any) -> Any:
            new = substitute(part, self.current)
            known = new.__class__ is Number and new.value.constant is not None
            return new.value.constant.item() if known else new

        return {name: mapped(param, each) for name, param in params.items()}

    def _emit(
        self,
        prim: Primitive,
        args: tuple[Value, ...],
        params: Mapping[str, Any],
        out: Value,
        step: Step | None,
    ) -> Value:
        name = prim.name
        if not args or args[0].constant is not None or args[0] in self._uniforms:
            known = self._folded(prim, args, params, out)
            if known is not None:
                return known
        rules = self._rules.get(name)
        if rules is not None:
            kinds, triggers = self._kinds, rules.triggers
            for arg in args:
                if kinds.get(arg) in triggers:
                    for rule in rules.triggered:
                        value = rule(self, name, args, params, out)
                        if value is not None:
                            return value
                    break
            for rule in rules.always:
                value = rule(self, name, args, params, out)
                if value is not None:
                    return value
        outs = (Value(out.dtype, out.shape),) if step is None else step.outs
        return self._place(prim, args, params, outs, step)[0]

    def _place(
        self,
        prim: Primitive,
        args: tuple[Value, ...],
        params: Mapping[str, Any],
        outs: tuple[Value, ...],
        step: Step | None,
    ) -> tuple[Value, ...]:
        name = prim.name
        of = args
        if len(args) == 2 and id(args[1]) < id(args[0]) and COMMUTES[prim]:
            of = (args[1], args[0])
        key = (name, of, params_key(params)) if params else (name, of)
        found = self._known.get(key)
        if found is not None:
            return found
        if step is None or step.args is not args or step.params is not params:
            step = Step(prim, args, params, outs, self.site)
        self._known[key] = outs
        self.steps.append(step)
        if len(outs) == 1:
            out = outs[0]
            self._makers[out] = step
            self._kinds[out] = name
        return outs

    # -- constants and common subexpressions -------------------------------------------------------

    def _note_uniform(self, value: Value) -> None:
        array = value.constant
        if array.size == 0:
            return
        first = array.reshape(-1)[:1]
        if array.size == 1 or array.tobytes() == first.tobytes() * array.size:
            self._uniforms[value] = first[0]
            self._kinds[value] = "number"

    def _folded(
        self,
        prim: Primitive,
        args: tuple[Value, ...],
        params: Mapping[str, Any],
        out: Value,
    ) -> Value | None:
        """Fold a step whose operands are constants or uniform."""
        uniforms = self._uniforms
        for arg in args:
            if arg not in uniforms and arg.constant is None:
                return None
        if prim.outputs != 1 or not all(map(_is_plain, params.values())):
            return None
        if not args:
            if prim.name == "zeros":
                return self.filled(0, out.dtype, out.shape)
            return None
        if MAPS[prim] and all(arg in uniforms for arg in args):
            found = _computed(prim, [np.asarray(uniforms[arg]) for arg in args], params)
            if found is not None and not found.shape and found.dtype == out.dtype:
                return self.filled(found, out.dtype, out.shape)
        if out.size <= _SMALL and all(arg.constant is not None for arg in args):
            found = _computed(prim, [arg.constant for arg in args], params)
            if found is not None and found.dtype == out.dtype and found.shape == out.shape:
                value = self.constant(found)
                number = uniforms.get(value)
                return value if number is None else self.filled(number, out.dtype, out.shape)
        return None


def _is_plain(param: Any) -> bool:
    """Return whether a parameter is constant: the same in each run and each iteration."""
    return all(isinstance(part, np.dtype | np.generic | np.ndarray) for part in parts(param))


def _computed(prim: Primitive, arrays: list[Any], params: Mapping[str, Any]) -> Any:
    """Return the result of a kernel, or None if it raises: then the step raises at run time."""
    try:
        with np.errstate(all="ignore"):
            return np.asarray(prim.kernel(*arrays, **params))
    except (ArithmeticError, IndexError, RuntimeError, TypeError, ValueError):
        return None


def live(
    steps: Sequence[Step | Loop], outputs: Sequence[Value]
) -> tuple[list[Step | Loop], dict[Value, int]]:
    """Eliminate dead steps; return the live ones, and the number of uses of each value.

    Steps that may raise are live (NOTE [raising steps] in `raising`).
    """
    counts: dict[Value, int] = {}
    for value in outputs:
        counts[value] = counts.get(value, 0) + 1
    kept: list[Step | Loop] = []
    makers: dict[Value, Step | Loop] = {}
    known = counts.get
    for step in reversed(steps):
        outs = step.outs
        unread = outs[0] not in counts if len(outs) == 1 else counts.keys().isdisjoint(outs)
        if unread:
            if not may_raise(step):
                continue
            makers = makers or {out: each for each in steps for out in each.outs}
            if is_within(step, makers):
                continue
        kept.append(step)
        for value in uses(step):
            counts[value] = known(value, 0) + 1
    kept.reverse()
    return kept, counts
