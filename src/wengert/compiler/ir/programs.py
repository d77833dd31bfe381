"""Layer 8 · compiler: the intermediate representation: programs of primitives in SSA form.

NOTE [programs]
A `Program` is straight-line code in static single assignment form. Each step applies a primitive to
earlier values; ``prim.kernel`` defines its semantics for every backend. Values are immutable:
tracing makes in-place writes functional, and side effects happen after the program. A `Loop` is a
step with a body of its own. Branches on values are not part of programs, but of the graph of basic
blocks that holds them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from wengert.prims.record import Primitive


def _keeping(name: str) -> Callable[[Any, Any], Any]:
    """Return the method of `int` with its results as `Varying`."""
    operation = getattr(int, name)

    def kept(self: Any, other: Any) -> Any:
        made = operation(self, other)
        if isinstance(made, tuple):
            return tuple(map(Varying, made))
        return made if made is NotImplemented else Varying(made)

    return kept


class Varying(int):
    """A number that differs between the programs that share native code, such as a batch size.

    Results of arithmetic are `Varying`, too. Its text is a placeholder for a number that native
    code reads from a table (NOTE [sizes that vary] in `wengert.compiler.backends.sizes`).
    """

    __slots__ = ()

    __add__, __radd__ = _keeping("__add__"), _keeping("__radd__")
    __sub__, __rsub__ = _keeping("__sub__"), _keeping("__rsub__")
    __mul__, __rmul__ = _keeping("__mul__"), _keeping("__rmul__")
    __mod__, __rmod__ = _keeping("__mod__"), _keeping("__rmod__")
    __floordiv__, __rfloordiv__ = _keeping("__floordiv__"), _keeping("__rfloordiv__")
    __divmod__, __rdivmod__ = _keeping("__divmod__"), _keeping("__rdivmod__")

    def __neg__(self) -> Any:
        return Varying(-int(self))

    def __str__(self) -> str:
        return f"\x01i64 {int(self) & (1 << 64) - 1}\x02"


class VaryingFloat(float):
    """A float that differs between the programs that share native code; without arithmetic."""

    __slots__ = ()


def open_ended(size: Any) -> bool:
    """Return whether code for a size must be valid for others, too."""
    return size.__class__ is Varying


@dataclass(eq=False, repr=False, slots=True)
class Value:
    """An array of a program, which one step computes.

    Attributes
    ----------
    dtype, shape: The dtype and shape of the array.
    constant: The array itself if it is a constant, else None; it is never written to.
    """

    dtype: np.dtype[Any]
    shape: tuple[int, ...]
    constant: Any = None

    @property
    def size(self) -> int:
        """The number of elements."""
        size = 1
        for count in self.shape:
            size *= count
        return size

    def __repr__(self) -> str:
        return f"<value {self.dtype}{list(self.shape)}>"


@dataclass(eq=False, slots=True)
class Number:
    """A Python number among parameters that is read from a value with one element."""

    value: Value


@dataclass(frozen=True, repr=False, slots=True)
class Affine:
    """An integer parameter in the body of a loop: ``start + step * i`` in iteration `i`."""

    start: int
    step: int

    def __repr__(self) -> str:
        return f"{self.start}{self.step:+}i"


class Step:
    """One application of a primitive.

    Attributes
    ----------
    prim: The record.
    args: The array arguments, by position.
    params
        The parameters. They may contain values, also inside tuples (index arrays), `Number`s, and
        in the body of a loop `Affine`s.
    outs: The results, one for each output of the primitive.
    site: The user's source line, as (file, line), if known.
    kind: How the native backend lowers it, cached.
    """

    __slots__ = ("args", "kind", "outs", "params", "prim", "site")

    kind: str

    def __init__(
        self,
        prim: Primitive,
        args: Sequence[Value],
        params: Mapping[str, Any],
        outs: Sequence[Value],
        site: tuple[str, int] | None = None,
    ) -> None:
        self.prim = prim
        self.args = tuple(args)
        self.params = dict(params)
        self.outs = tuple(outs)
        self.site = site

    def reading(
        self, replaced: Callable[[Value], Value], outs: Sequence[Value] | None = None
    ) -> Step:
        """Return the step with its operands replaced, in the order of `uses`, and its results."""
        args = [replaced(value) for value in self.args]
        params = {name: substitute(param, replaced) for name, param in self.params.items()}
        return Step(self.prim, args, params, self.outs if outs is None else outs, self.site)


class Loop:
    """A loop with a known trip count, like `jax.lax.scan`.

    Attributes
    ----------
    count: The trip count.
    body
        The program of one iteration. Its inputs are, in this order, the carried values, the slices
        of iteration `i`, and the loop invariants. Its outputs are the carried values of the next
        iteration, and the values to stack.
    carried: The initial carried values.
    sliced: Triples ``(value, start, step)``: iteration `i` gets ``value[start + step * i]``.
    fixed: The loop invariants.
    outs
        The final carried values, then for each further output of the body the stack of its values,
        of shape ``(count, *shape)``.
    """

    __slots__ = ("body", "carried", "count", "fixed", "outs", "sliced")

    def __init__(
        self,
        count: int,
        body: Program,
        carried: Sequence[Value],
        sliced: Sequence[tuple[Value, int, int]],
        fixed: Sequence[Value],
        outs: Sequence[Value],
    ) -> None:
        self.count = count
        self.body = body
        self.carried = tuple(carried)
        self.sliced = tuple(sliced)
        self.fixed = tuple(fixed)
        self.outs = tuple(outs)

    def reading(
        self, replaced: Callable[[Value], Value], outs: Sequence[Value] | None = None
    ) -> Loop:
        """Return the loop with its operands replaced, in the order of `uses`, and its results."""
        carried = [replaced(value) for value in self.carried]
        sliced = [(replaced(value), start, step) for value, start, step in self.sliced]
        fixed = [replaced(value) for value in self.fixed]
        outs = self.outs if outs is None else outs
        return Loop(self.count, self.body, carried, sliced, fixed, outs)

    def running(self, body: Program) -> Loop:
        """Return the loop with another body."""
        parts = self.carried, self.sliced, self.fixed, self.outs
        return self if body is self.body else Loop(self.count, body, *parts)


class Program:
    """A list of steps with inputs and outputs.

    Attributes
    ----------
    inputs: The values that the caller provides.
    steps: Instances of `Step` and `Loop`, in order.
    outputs: Results of steps, inputs or constants; a value may occur several times.
    writes
        Pairs of an output and an input that the output will overwrite at the end of the run; a
        backend may compute the output in place if nothing reads the input afterwards.
    """

    __slots__ = ("inputs", "outputs", "steps", "writes")

    def __init__(
        self,
        inputs: Sequence[Value],
        steps: Sequence[Step | Loop],
        outputs: Sequence[Value],
        writes: Sequence[tuple[Value, Value]] = (),
    ) -> None:
        self.inputs = tuple(inputs)
        self.steps = list(steps)
        self.outputs = tuple(outputs)
        self.writes = tuple(writes)

    def check(self) -> None:
        """Raise ValueError unless every value is defined before it is used, and once."""
        known = set(self.inputs)
        if len(known) != len(self.inputs):
            raise ValueError("a value is an input twice")

        def need(value: Value, what: str) -> None:
            if value.constant is None and value not in known:
                raise ValueError(f"{what} uses a value that nothing has computed")

        for i, step in enumerate(self.steps):
            name = step.prim.name if isinstance(step, Step) else "loop"
            for value in uses(step):
                need(value, f"step {i} ({name})")
            if isinstance(step, Loop):
                step.body.check()
                _check_loop(step)
            for out in step.outs:
                if out in known:
                    raise ValueError(f"step {i} ({name}) computes a value that is known already")
                known.add(out)
        for output in self.outputs:
            need(output, "the list of outputs")

    def __str__(self) -> str:
        return "\n".join(_Printer().program(self, ""))


def _check_loop(loop: Loop) -> None:
    kept = len(loop.carried)
    rows = [Value(value.dtype, value.shape[1:]) for value, _, _ in loop.sliced]
    if types_of([*loop.carried, *rows, *loop.fixed]) != types_of(loop.body.inputs):
        raise ValueError("what a loop gives to its body has other types than the body's inputs")
    for value, start, step in loop.sliced:
        last = start + step * (loop.count - 1)
        if not (0 <= start < value.shape[0] and 0 <= last < value.shape[0]):
            raise ValueError("a loop reads slices outside of a value")
    made = loop.body.outputs
    stacks = [Value(value.dtype, (loop.count, *value.shape)) for value in made[kept:]]
    if types_of([*made[:kept], *stacks]) != types_of(loop.outs):
        raise ValueError("what a loop computes has other types than its body's outputs")


def types_of(values: Iterable[Value]) -> list[Any]:
    """Return the dtypes and shapes of values."""
    return [(value.dtype, value.shape) for value in values]


_PLAIN = frozenset({int, float, bool, complex, str, type(None)})
"""The classes of parameters that contain no values."""


def parts(param: Any) -> Iterator[Any]:
    """Yield what a parameter and its tuples and lists hold, without plain numbers and words."""
    if isinstance(param, tuple | list):
        for part in param:
            if part.__class__ not in _PLAIN:
                yield from parts(part)
    elif param.__class__ not in _PLAIN:
        yield param


def mapped(param: Any, each: Callable[[Any], Any]) -> Any:
    """Return a parameter with `each` applied to all that it and its tuples and lists hold."""
    if isinstance(param, tuple | list):
        made = [mapped(part, each) for part in param]
        return type(param)(*made) if hasattr(param, "_fields") else type(param)(made)
    return each(param)


def is_counted(step: Step | Loop) -> bool:
    """Return whether a step depends on the counter of the loop that it is in."""
    if isinstance(step, Loop):
        return False
    return any(isinstance(part, Affine) for p in step.params.values() for part in parts(p))


def uses(step: Step | Loop) -> Sequence[Value]:
    """Return the operands of a step, also those among its parameters, with repeats."""
    if isinstance(step, Loop):
        return *step.carried, *[value for value, _, _ in step.sliced], *step.fixed
    if not step.params:
        return step.args
    found: list[Value] = []
    for param in step.params.values():
        if param.__class__ not in _PLAIN:
            for part in parts(param):
                if isinstance(part, Value | Number):
                    found.append(part.value if isinstance(part, Number) else part)
    return (*step.args, *found) if found else step.args


def substitute(param: Any, replaced: Callable[[Value], Any]) -> Any:
    """Return a parameter with its values replaced, by other values or by arrays."""

    def each(part: Any) -> Any:
        if isinstance(part, Value):
            return replaced(part)
        if not isinstance(part, Number):
            return part
        value = replaced(part.value)
        return Number(value) if isinstance(value, Value) else _number(value)

    return mapped(param, each)


def _number(value: Any) -> Any:
    return value.item() if hasattr(value, "item") else value


def in_iteration(param: Any, i: int) -> Any:
    """Return a parameter of a loop's body in iteration `i`."""
    return mapped(param, lambda p: p.start + p.step * i if isinstance(p, Affine) else p)


def apply(program: Program, F: Any, arrays: Iterable[Any], i: int = 0) -> list[Any]:
    """Interpret a program in the namespace `F`, and return its outputs.

    With K this defines the semantics of programs; other namespaces record, batch or differentiate
    it.
    """
    known: dict[Value, Any] = dict(zip(program.inputs, arrays, strict=True))

    def value_of(value: Value) -> Any:
        return known[value] if value.constant is None else value.constant

    for step in program.steps:
        if isinstance(step, Loop):
            results: Any = _repeated(step, F, value_of)
        else:
            results = stepped(step, F, value_of, i)
        known.update(zip(step.outs, results, strict=True))
    return [value_of(value) for value in program.outputs]


def stepped(step: Step, F: Any, value_of: Callable[[Value], Any], i: int = 0) -> tuple[Any, ...]:
    """Interpret one step in the namespace `F`, and return its results."""
    params = {n: in_iteration(substitute(p, value_of), i) for n, p in step.params.items()}
    results = getattr(F, step.prim.name)(*[value_of(v) for v in step.args], **params)
    return (results,) if step.prim.outputs == 1 else results


def _repeated(loop: Loop, F: Any, value_of: Callable[[Value], Any]) -> list[Any]:
    kept = len(loop.carried)
    carried = [value_of(value) for value in loop.carried]
    fixed = [value_of(value) for value in loop.fixed]
    sources = [(value_of(value), start, step) for value, start, step in loop.sliced]
    stacked: list[list[Any]] = [[] for _ in loop.body.outputs[kept:]]
    for i in range(loop.count):
        slices = [F.select(v, dim=0, index=start + step * i) for v, start, step in sources]
        results = apply(loop.body, F, [*carried, *slices, *fixed], i)
        carried = results[:kept]
        for parts, part in zip(stacked, results[kept:], strict=True):
            parts.append(part)
    return [*carried, *(F.stack(*parts, dim=0) for parts in stacked)]


class _Printer:
    """Numbers values in the order of their appearance."""

    def __init__(self) -> None:
        self.names: dict[Value, str] = {}

    def name(self, value: Value) -> str:
        if value.constant is not None and not value.shape:
            return f"{value.constant[()]!s}"
        return self.names.setdefault(value, f"%{len(self.names)}")

    def typed(self, value: Value) -> str:
        return f"{self.name(value)}: {value.dtype}[{', '.join(map(repr, value.shape))}]"

    def param(self, param: Any) -> str:
        if isinstance(param, Value):
            return self.name(param)
        if isinstance(param, Number):
            return f"number({self.name(param.value)})"
        if isinstance(param, tuple | list):
            return f"({', '.join(map(self.param, param))})"
        return repr(param)

    def program(self, program: Program, indent: str) -> Iterator[str]:
        yield f"{indent}inputs {', '.join(map(self.typed, program.inputs))}"
        for step in program.steps:
            outs = ", ".join(map(self.typed, step.outs))
            if isinstance(step, Loop):
                taken = [
                    *(f"carried {self.name(v)}" for v in step.carried),
                    *(f"slice {self.name(v)}[{Affine(a, b)}]" for v, a, b in step.sliced),
                    *map(self.name, step.fixed),
                ]
                yield f"{indent}{outs} = repeat {step.count} times with {', '.join(taken)}"
                yield from self.program(step.body, indent + "    ")
                continue
            given = [
                *map(self.name, step.args),
                *(f"{n}={self.param(p)}" for n, p in step.params.items()),
            ]
            yield f"{indent}{outs} = {step.prim.name}({', '.join(given)})"
        yield f"{indent}outputs {', '.join(map(self.name, program.outputs))}"
