"""Layer 8 · compiler: sums and writes of parts, rewritten to concatenations.

NOTE [sums of parts]
The derivative of ``x[i]`` is the cotangent padded with zeros. If a loop reads all positions, the
engine adds as many arrays of full size, in quadratic time. This pass groups the terms of such sums
by the range that they cover: terms with the same range are added, and the results are concatenated
(`stack`, `cat`), with zeros in the gaps. A chain of writes of single positions becomes a
concatenation, too.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from wengert.compiler.ir.programs import Loop, Program, Step, Value
from wengert.compiler.passes.builder import live
from wengert.prims.record import TABLE

_PARTS = frozenset({"select_backward", "slice_backward"})
_WRITES = frozenset({"select_scatter", "slice_scatter"})
_SOURCES = _PARTS | _WRITES
_LAYERS = 4
"""Overlapping parts become at most this many concatenations, or stay as they are."""

Steps = list[Step | Loop]


class Piece:
    """Values that are added at the positions from `start` to `end` of a dimension."""

    __slots__ = ("end", "selected", "start", "values")

    def __init__(self, start: int, end: int, selected: bool, value: Value) -> None:
        self.start = start
        self.end = end
        self.selected = selected
        self.values = [value]


class _Gatherer:
    """The steps of the new program, and the steps of the old one that pad or write parts."""

    def __init__(self, program: Program) -> None:
        self.program = program
        self.makers: dict[Value, Step] = {}
        makers = self.makers
        for step in program.steps:
            if isinstance(step, Loop):
                continue
            name = step.prim.name
            if name in _SOURCES or (
                name == "add" and (step.args[0] in makers or step.args[1] in makers)
            ):
                makers[step.outs[0]] = step
        self.counts = live(program.steps, program.outputs)[1]
        self.steps: Steps = []
        self.site: tuple[str, int] | None = None

    def made(self, name: str, args: Sequence[Value], params: dict[str, Any], like: Any) -> Value:
        """Emit a step."""
        out = Value(*like)
        self.steps.append(Step(TABLE[name], args, params, (out,), self.site))
        return out

    # -- sums --------------------------------------------------------------------------------------

    def inner(self, value: Value) -> Step | None:
        """Return the addition that computes `value`, if that has no other use."""
        step = self.makers.get(value)
        if step is None or step.prim.name != "add" or self.counts.get(value) != 1:
            return None
        return step if _is_plain_sum(step) else None

    def terms(self, root: Step) -> list[Value]:
        """Return the terms of nested additions, in order."""
        found: list[Value] = []
        waiting = [*root.args[::-1]]
        while waiting:
            value = waiting.pop()
            step = self.inner(value)
            if step is None:
                found.append(value)
            else:
                waiting.extend(step.args[::-1])
        return found

    def part(self, value: Value) -> Step | None:
        """Return the step that pads a part with zeros to `value`, or None."""
        step = self.makers.get(value)
        if step is None or step.prim.name not in _PARTS:
            return None
        return step if _is_known(step, step.args[0], value) else None

    def summed(self, terms: Sequence[Value]) -> Value:
        """Emit the sum of values of one shape."""
        parts: dict[int, list[Step]] = {}
        rest: list[Value] = []
        for term in terms:
            step = self.part(term)
            if step is None:
                rest.append(term)
            else:
                parts.setdefault(step.params["dim"], []).append(step)
        for dim, steps in parts.items():
            rest += self.joined(dim, steps)
        total = rest[0]
        for term in rest[1:]:
            total = self.made("add", (total, term), {}, (total.dtype, total.shape))
        return total

    def joined(self, dim: int, steps: list[Step]) -> list[Value]:
        """Emit concatenations whose sum is that of parts along one dimension."""
        pieces: dict[tuple[int, int], Piece] = {}
        for step in steps:
            (value,) = step.args
            selected = "index" in step.params
            start, end = _covers(step)
            same = pieces.get((start, end))
            if same is None:
                pieces[start, end] = Piece(start, end, selected, value)
            elif same.selected == selected:
                same.values.append(value)
            else:
                return [step.outs[0] for step in steps]
        if len(pieces) == 1:
            return [self.alone(steps[0], next(iter(pieces.values())))]
        layers = _layered(list(pieces.values()))
        whole = steps[0].outs[0]
        if layers is None:
            return [step.outs[0] for step in steps]
        return [self.layer(layer, dim, whole, None) for layer in layers]

    def alone(self, step: Step, piece: Piece) -> Value:
        """Emit a single part, padded with zeros."""
        if len(piece.values) == 1:
            return step.outs[0]
        whole = step.outs[0]
        total = self.summed(piece.values)
        return self.made(step.prim.name, (total,), step.params, (whole.dtype, whole.shape))

    def layer(self, layer: list[Piece], dim: int, whole: Value, base: Value | None) -> Value:
        """Concatenate pieces without overlaps, filling gaps from `base` or with zeros."""
        dtype, shape = whole.dtype, whole.shape
        size, at = shape[dim], 0
        parts: list[Value] = []
        run: list[Value] = []

        def block(count: int) -> tuple[Any, tuple[int, ...]]:
            return dtype, (*shape[:dim], count, *shape[dim + 1 :])

        def finish_run() -> None:
            if run:
                parts.append(self.made("stack", run, {"dim": dim}, block(len(run))))
                run.clear()

        def between(start: int, end: int) -> None:
            if start == end:
                return
            finish_run()
            like = block(end - start)
            if base is None:
                parts.append(self.made("zeros", (), {"shape": like[1], "dtype": dtype}, like))
            else:
                params = {"dim": dim, "start": start, "end": end, "step": 1}
                parts.append(self.made("slice", (base,), params, like))

        for piece in layer:
            between(at, piece.start)
            total = self.summed(piece.values)
            if piece.selected:
                run.append(total)
            else:
                finish_run()
                parts.append(total)
            at = piece.end
        between(at, size)
        finish_run()
        return (
            parts[0] if len(parts) == 1 else self.made("cat", parts, {"dim": dim}, (dtype, shape))
        )

    # -- writes ------------------------------------------------------------------------------------

    def chain(self, root: Step) -> tuple[Value, list[Step]]:
        """Return a chain of writes along one dimension, the last first, and the value before it."""
        found = [root]
        value = root.args[0]
        while self.counts.get(value) == 1:
            step = self.makers.get(value)
            if step is None or not _is_write(step, root.params["dim"]):
                break
            found.append(step)
            value = step.args[0]
        return value, found

    def written(self, root: Step) -> Value | None:
        """Emit a chain of writes as a concatenation; None if they overlap."""
        base, writes = self.chain(root)
        dim, whole = root.params["dim"], root.outs[0]
        last: dict[tuple[int, int], Piece] = {}
        for step in writes:
            start, end = _covers(step)
            last.setdefault((start, end), Piece(start, end, "index" in step.params, step.args[1]))
        layers = _layered(list(last.values()))
        if len(writes) < 2 or (len(last) > 1 and (layers is None or len(layers) > 1)):
            return None
        return self.layer(sorted(last.values(), key=_place), dim, whole, base)

    # -- the program -------------------------------------------------------------------------------

    def run(self) -> Program:
        """Return the new program, or the old one if it has no sums or writes of parts."""
        old = self.program.steps
        changed = False
        inside: set[Value] = set()
        for step in old:
            if isinstance(step, Loop):
                continue
            if step.prim.name == "add" and _is_plain_sum(step):
                inside.update([arg for arg in step.args if self.inner(arg) is not None])
            elif _is_write(step):
                before = self.makers.get(step.args[0])
                single = self.counts.get(step.args[0]) == 1
                if before is not None and single and _is_write(before, step.params["dim"]):
                    inside.add(step.args[0])
        roots = self.makers.keys() - inside
        for step in old:
            made = None
            if isinstance(step, Step) and step.outs[0] in roots:
                self.site = step.site
                if step.prim.name == "add" and _is_plain_sum(step):
                    terms = self.terms(step)
                    if sum([self.part(term) is not None for term in terms]) > 1:
                        made = self.summed(terms)
                elif _is_write(step):
                    made = self.written(step)
            if made is None:
                self.steps.append(step)
            else:
                changed = True
                self.steps.append(Step(TABLE["alias"], (made,), {}, step.outs, self.site))
        if not changed:
            return self.program
        return Program(self.program.inputs, self.steps, self.program.outputs, self.program.writes)


def _is_plain_sum(step: Step) -> bool:
    out = step.outs[0]
    return all(arg.shape == out.shape and arg.dtype == out.dtype for arg in step.args)


def _covers(step: Step) -> tuple[int, int]:
    """Return the range of positions that a part covers."""
    params = step.params
    if "index" in params:
        return params["index"], params["index"] + 1
    return params["start"], params["end"]


def _is_known(step: Step, part: Value, whole: Value) -> bool:
    """Return whether a part covers a constant range of consecutive positions."""
    params = step.params
    names = ("dim", "index") if "index" in params else ("dim", "start", "end", "step")
    if any(params[name].__class__ is not int for name in names) or params.get("step", 1) != 1:
        return False
    start, end = _covers(step)
    dim = params["dim"]
    size = 1 if "index" in params else part.shape[dim]
    return 0 <= start < end <= whole.shape[dim] and size == end - start


def _is_write(step: Step, dim: int | None = None) -> bool:
    """Return whether a step writes consecutive positions, along `dim` if that is given."""
    if step.prim.name not in _WRITES or not _is_known(step, step.args[1], step.outs[0]):
        return False
    return step.args[0].dtype == step.args[1].dtype and dim in (
        None,
        step.params["dim"],
    )


def _layered(pieces: list[Piece]) -> list[list[Piece]] | None:
    """Distribute pieces over layers without overlaps, in order; None if too many overlap."""
    layers: list[list[Piece]] = []
    for piece in sorted(pieces, key=_place):
        for layer in layers:
            if layer[-1].end <= piece.start:
                layer.append(piece)
                break
        else:
            if len(layers) == _LAYERS:
                return None
            layers.append([piece])
    return layers if len(layers) < len(pieces) else None


def _place(piece: Piece) -> tuple[int, int]:
    return piece.start, piece.end


def gathered(program: Program) -> Program:
    """Rewrite sums of parts to concatenations (NOTE [sums of parts]), if there are any."""
    seen = {step.prim.name for step in program.steps if isinstance(step, Step)}
    if seen.isdisjoint(_SOURCES):
        return program
    return _Gatherer(program).run()
