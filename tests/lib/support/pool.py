"""The text of a random program under construction, and the facts about its names.

Shapes, memory and (roughly) the need for gradients are tracked on empty arrays along with the text.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

__all__ = ["Picker", "Value", "Writer"]


class Value(NamedTuple):
    """A name of the program, as far as it is known without running it."""

    name: str
    like: Any
    """An array of the same shape and strides, and of its kind of dtype."""
    memory: int
    needs: bool
    """Whether it will likely require a gradient."""
    rooted: bool
    """Whether it is a leaf that requires a gradient or a view of one: it refuses writes."""
    view: bool = False
    joined: bool = False
    """Whether ``cat`` or ``stack`` made it."""
    several: bool = False
    """Whether it is one of several outputs of a Function, or a view which no write may follow."""

    @property
    def repeats(self) -> bool:
        """Whether it shows elements of its memory more than once."""
        return 0 in self.like.strides


class Picker:
    """Hands out the numbers of a step, one choice after the other."""

    def __init__(self, numbers: Sequence[int]) -> None:
        self._numbers = iter(numbers)

    def below(self, count: int) -> int:
        """A number from 0 to `count` - 1."""
        return next(self._numbers, 0) % count

    def one(self, options: Sequence[Any]) -> Any:
        """One of `options`."""
        return options[next(self._numbers, 0) % len(options)]


class Writer:
    """The program that is being written."""

    def __init__(self) -> None:
        self.lines: list[str] = []
        self.dtype = "float64"
        self.values: list[Value] = []
        self.handles: list[str] = []
        self.on_views: set[str] = set()
        self._count = 0
        self._memories = 0

    def fresh(self, letter: str) -> str:
        """A name that nothing has yet."""
        self._count += 1
        return f"{letter}{self._count - 1}"

    def new(self, text: str, like: Any, of: Value | None = None, needs: bool = True) -> None:
        """Add the line that gives ``text`` a name; it shares the memory of `of`, if given."""
        if of is None:
            self._memories += 1
        memory = self._memories if of is None else of.memory
        rooted = of is not None and of.rooted and needs
        needs = needs and like.dtype.kind == "f"
        value = Value(self.fresh("x"), like, memory, needs, rooted, of is not None)
        if of is not None and of.several:
            value = value._replace(several=True)
        self.lines.append(f"{value.name} = {text}")
        self.values.insert(0, value)

    def leaf(self, shape: tuple[int, ...], dtype: str, needs: bool, seed: int) -> None:
        """Add a leaf."""
        size = int(np.prod(shape))
        numbers = np.round(1.5 * np.sin(1.7 * np.arange(size) + seed), 2).reshape(shape)
        kind = {"bool": "?", "int64": "i"}.get(dtype, "f")
        text = f"dtype=t.{dtype}" + (", requires_grad=True" if needs else "")
        if size == 0:
            line = f"t.zeros({shape}, {text})"
        else:
            line = f"t.tensor({(numbers if kind == 'f' else numbers > 0).tolist()}, {text})"
        self.new(line, np.zeros(shape, kind), None, needs)
        if needs:
            self.values[0] = self.values[0]._replace(rooted=True)

    def hooked(self, line: str, *values: Value) -> None:
        """Add a line that hooks something to `values`."""
        self.lines.append(line)
        if any(value.view for value in values):
            self.on_views.add(line)

    # -- choices ----------------------------------------------------------------------------------

    def number(self, pick: Picker) -> Value:
        """A floating-point tensor, the newest first."""
        return pick.one([v for v in self.values if v.like.dtype.kind == "f"])

    def recorded(self, pick: Picker) -> Value:
        """A tensor that will likely require a gradient."""
        found = [v for v in self.values if v.needs]
        return pick.one(found or self.values)

    def target(self, pick: Picker) -> Value:
        """A tensor to write to: seldom one that will refuse."""
        free = [
            v
            for v in self.values
            if v.like.dtype.kind == "f" and not v.rooted and not (v.needs and v.repeats)
        ]
        if pick.below(8) == 7:
            free = [v for v in self.values if v.like.dtype.kind == "f" and v.rooted] or free
        if not free:
            of = self.number(pick)
            self.new(f"{of.name}.clone()", np.zeros(of.like.shape), None, of.needs)
            free = self.values[:1]
        return pick.one(free)

    def source(self, pick: Picker, shape: tuple[int, ...], target: Value) -> str:
        """Something that broadcasts to `shape` and does not share the memory of `target`."""
        found = [
            v.name
            for v in self.values
            if v.memory != target.memory
            and _fits(v.like.shape, shape)
            and not (v.needs and target.repeats)
        ]
        return pick.one([*found, "0.5", "2"])

    def mask(self, pick: Picker, like: Any) -> tuple[str, int]:
        """A mask for `like` and the number of its memory: a tensor, or one written out."""
        found = [
            (v.name, v.memory)
            for v in self.values
            if v.like.dtype.kind == "?" and v.like.shape == like.shape
        ]
        size = like.size
        bits = (np.arange(size) * 7 % 3 == 0).reshape(like.shape).tolist()
        text = f"t.tensor({bits})" if size else f"t.ones({like.shape}, dtype=t.bool)"
        return pick.one([(text, -1), *found])


def _fits(shape: tuple[int, ...], into: tuple[int, ...]) -> bool:
    return len(shape) <= len(into) and all(
        m in (1, n) for m, n in zip(shape[::-1], into[::-1], strict=False)
    )
