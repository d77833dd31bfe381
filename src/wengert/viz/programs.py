"""Layer 9 · viz: pictures of the programs of `wengert.compile`."""

from __future__ import annotations

from typing import Any

from wengert.base.errors import wrong_type
from wengert.compiler.api import Compiled
from wengert.compiler.ir.programs import Loop, Program, Value, uses
from wengert.compiler.tracing.blocks import Block
from wengert.viz.drawing import Drawing
from wengert.viz.picture import Arrow, Box, Picture


def draw_program(compiled: Any, title: str | None = None) -> Drawing:
    """Draw the programs of a compiled function: the steps of its traces, and where they branch.

    Boxes are inputs, simplified steps, loops with their counts, decisions and results.

    Parameters
    ----------
    compiled : Compiled. The result of `wengert.compile`. Before its first call the picture is
        empty, and says so.
    title : str, optional. The heading.

    Returns
    -------
    Drawing: The picture, as from `draw`.

    Raises
    ------
    TypeError: If `compiled` is not a compiled function.

    Examples
    --------
    >>> f = wg.compile(lambda x: x.sin() * 2, backend="numpy")
    >>> y = f(wg.ones(3))
    >>> [box.title for box in wg.viz.draw_program(f).picture.boxes]
    ['input', 'sin', 'mul_scalar', 'result']
    """
    compiled = getattr(compiled, "forward", compiled)  # of a module
    if not isinstance(compiled, Compiled):
        raise wrong_type("draw_program", "compiled", "what wengert.compile returned", compiled)
    name = getattr(compiled.function, "__name__", "f")
    picture = Picture(title or f"programs of {name}()", "backward")
    for _, entry in compiled.entries:
        # otherwise delayed to the first run
        entry.tree.prepare()
        drawn = _Drawn(picture)
        for block in entry.tree.blocks():
            drawn.block(block)
    if compiled.reason is not None:
        picture.notes.append(f"runs as it is: {compiled.reason}")
    elif not compiled.entries:
        picture.notes.append(f"Nothing is compiled yet: call {name}() once, then draw it again.")
    return Drawing(picture)


class _Drawn:
    """Adds the blocks of one cache entry to a picture."""

    def __init__(self, picture: Picture) -> None:
        self.picture = picture
        self._boxes: dict[Value, int] = {}

    def block(self, block: Block) -> None:
        """Add the program of a block, its decision and its results."""
        if block.program is not None:
            # blocks may share the program, whose values are not those of the block
            outside = self._boxes
            given = [self._input(value) for value in block.inputs]
            self._boxes = dict(zip(block.program.inputs, given, strict=True))
            self._steps(block.program)
            inside, self._boxes = self._boxes, outside
            for outer, inner in zip(block.outputs, block.program.outputs, strict=True):
                if inner in inside:
                    outside[outer] = inside[inner]
        if block.guard is not None:
            outcomes = ", ".join(repr(child.outcome) for child in block.children.values())
            self._box(Box("operation", "decide", [f"met: {outcomes}"]), [block.guard.value])
        if block.exit is not None:
            for leaf in block.exit.leaves:
                if isinstance(leaf.what, Value):
                    self._box(Box("result", "result", [_shape(leaf.what)]), [leaf.what])

    def _input(self, value: Value) -> int:
        found = self._boxes.get(value)
        if found is None:
            found = self._boxes[value] = self._box(Box("leaf", "input", [_shape(value)]), [])
        return found

    def _steps(self, program: Program) -> None:
        for step in program.steps:
            if isinstance(step, Loop):
                inside = [
                    s.prim.name if not isinstance(s, Loop) else "loop" for s in step.body.steps
                ]
                box = Box("group", "loop", [", ".join(inside[:6])], count=step.count)
            else:
                lines = [_shape(step.outs[0])] if step.outs else []
                box = Box("operation", step.prim.name, lines)
                if step.site is not None:
                    box.details["line"] = f"{step.site[0].rsplit('/', 1)[-1]}:{step.site[1]}"
            number = self._box(box, list(uses(step)))
            for out in step.outs:
                self._boxes[out] = number

    def _box(self, box: Box, values: list[Value]) -> int:
        number = len(self.picture.boxes)
        self.picture.boxes.append(box)
        for tail in dict.fromkeys(self._boxes[v] for v in values if v in self._boxes):
            self.picture.arrows.append(Arrow(tail, number))
        return number


def _shape(value: Value) -> str:
    return f"{value.dtype} {list(value.shape)}"
