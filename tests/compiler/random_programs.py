"""Random programs as source text: seeded, run compiled and uncompiled, compared, shrunk.

A program is Python as users write it: a `world` that defines what the function closes over, the
function, and the calls. `random_grammar` defines its lines. Each line is run as it is drawn, so
that nearly all of them compute something.

``python tests/compiler/random_programs.py 17 llvm`` runs the program of seed 17 and prints it;
with the name of a file, it runs the program in that file.
"""

from __future__ import annotations

import contextlib
import dataclasses
import io
import re
import sys
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from random_grammar import CONDITIONS, LINES, MADE, POINTWISE, SETUPS, STEPS
from random_runs import Maker, array_of, check, space

import wengert as wg

__all__ = ["Program", "Step", "check", "draw", "smaller", "space"]

ERRORS = (RuntimeError, IndexError, ValueError, TypeError, ZeroDivisionError)
_LETTERS = re.compile(r"(?<![.\w\"'])(a|b|c|i|j|m|z|s|out)(?![\w\"'])")
_OUT = re.compile(r"(?<![.\w])out\b")
_NAMES = re.compile(r"(?<![.\w])([xv]\d+)\b")


class Step(NamedTuple):
    """Lines of a program that give one variable a value."""

    text: str
    out: str

    def uses(self) -> list[str]:
        return [n for n in dict.fromkeys(_NAMES.findall(self.text)) if n != self.out]


@dataclasses.dataclass(frozen=True)
class Program:
    """What `text` writes down.

    Attributes
    ----------
    setup
        Lines that make what the function closes over.
    between
        What changes there before each call but the first.
    given
        How each argument is made, by name.
    steps, returned
        The body of the function.
    dtype
        The default dtype.
    outside
        How its results are differentiated: ``"grad"``, ``"backward"``, ``"second"`` or ``"none"``.
    """

    seed: int
    setup: tuple[str, ...]
    between: tuple[str, ...]
    given: tuple[tuple[str, str], ...]
    steps: tuple[Step, ...]
    returned: str
    dtype: str
    outside: str

    @property
    def text(self) -> str:
        """The program as source."""
        lines = [f"# seed {self.seed}", f"DTYPE, OUTSIDE = wg.{self.dtype}, {self.outside!r}"]
        lines += ["", "def world():"]
        lines += [f"    {line}" for text in self.setup for line in text.splitlines()]
        lines += [f"    def f({', '.join(name for name, _ in self.given)}):"]
        steps = [line for step in self.steps for line in step.text.splitlines()]
        known = [line.split(" = ")[0] for line in self.setup if re.match(r"\w+ = ", line)]
        lines += [f"        {line}" for line in steps]
        lines += [f"        return {self.returned}", "    def calls():"]
        changed = [n for n in ("k", "held") if any(t.startswith(f"{n} ") for t in self.between)]
        if changed:
            lines += [f"        nonlocal {', '.join(changed)}"]
        lines += ["        for turn, seed in enumerate((0, 1, 2, 0, 1, 3)):"]
        lines += ["            make = Maker(seed)", "            if turn:"]
        changes = [line for text in self.between for line in text.splitlines()]
        lines += [f"                {line}" for line in changes or ["pass"]]
        made = ", ".join(code for _, code in self.given)
        lines += [f"            yield ({made},)"]
        state = [name for name in known if name not in ("k", "opt")]
        lines += [f"    return f, calls, [{', '.join(state)}]", ""]
        return "\n".join(lines)


# -- drawing ---------------------------------------------------------------------------------------

_SHAPES = ("", "3", "2, 3", "3, 1", "1, 3", "2, 2, 3", "0, 3", "3, 3", "4", "2, 3", "3", "3, 3")


class _Drawer:
    """Draws one program."""

    def __init__(self, seed: int) -> None:
        self.seed = seed
        self.rng = np.random.default_rng(seed)
        self.space = space()
        self.names: list[str] = []
        self.count = 0

    def pick(self, things: Any) -> Any:
        return things[int(self.rng.integers(len(things)))]

    def chance(self, share: float) -> bool:
        return bool(self.rng.random() < share)

    def program(self) -> Program:
        dtype = self.pick(["float64", "float64", "float32"])
        wg.set_default_dtype(getattr(wg, dtype))
        wg.manual_seed(0)
        setup, between = [], []
        for name, code, change in SETUPS:
            if self.chance(0.25):
                try:
                    exec(f"{name} = {code}", self.space)
                except NameError:  # an optimiser of what is not there
                    continue
                setup.append(f"{name} = {code}")
                if change and self.chance(0.3):
                    between.append(change)
        given = []
        for n in range(int(self.rng.integers(1, 4))):
            name = f"x{n}"
            code = self.argument()
            given.append((name, code))
            self.space.update(make=Maker(0), turn=0, seed=0)
            self.space[name] = eval(code, self.space)
            self.names.append(name)
        steps: list[Step] = []
        for _ in range(int(self.rng.integers(1, 12))):
            step = self.step()
            if step is not None:
                steps.append(step)
                self.names.append(step.out)
        outside = self.pick(["grad", "grad", "backward", "second", "none"])
        returned = self.result()
        return Program(
            *(self.seed, tuple(setup), tuple(between), tuple(given), tuple(steps)),
            *(returned, dtype, outside),
        )

    def argument(self) -> str:
        shape = self.pick(_SHAPES)
        lead = f"{shape}, " if shape else ""
        kind = self.rng.random()
        if kind < 0.62:
            return f"make({shape})"
        if kind < 0.72:
            return f"make({lead}grad=False)"
        if kind < 0.8:
            return f"make({lead}dtype=np.float32)"
        if kind < 0.88:
            return f"make.whole({shape})"
        if kind < 0.92:
            return f"make.truth({shape})"
        if kind < 0.95:
            return f"make.complex({shape})"
        return self.pick(["1.5", "turn % 2 + 1", "seed * 0.5", "float(make.real())", "2"])

    # what a name of the grammar may stand for
    def kind(self, name: str) -> str:
        value = self.space[name]
        if isinstance(value, wg.Tensor):
            kind: str = value.numpy().dtype.kind if not value.requires_grad else "f"
            if value.is_complex():
                kind = "c"
            return {"f": "f", "c": "c", "b": "b"}.get(kind, "i")
        return "n" if isinstance(value, float | int) else "?"

    def operand(self, letter: str) -> str | None:
        wanted = {"i": "i", "j": "i", "m": "b", "z": "c", "s": "n"}.get(letter, "f")
        names = [name for name in self.names if self.kind(name) == wanted]
        if not names:
            if wanted == "i":
                return self.pick(MADE["i"])
            if wanted == "b":
                source = self.operand("a")
                return None if source is None else f"({source} > {self.pick(('0', '0.3', '-1'))})"
            return None
        recent = names[-4:] if self.chance(0.7) else names
        return str(self.pick(recent))

    def filled(self, template: str, out: str) -> str | None:
        """A template with names in place of its letters."""
        while "{" in template:
            place = re.search(r"\{(\?|\w+)\}", template)
            if place is None:
                break
            what = place[1]
            inner = self.pick(CONDITIONS if what == "?" else POINTWISE)
            if what != "?":
                inner = re.sub(r"(?<![.\w])u\b", what, inner)
            template = template[: place.start()] + f"({inner})" + template[place.end() :]
        chosen: dict[str, str | None] = {"out": out}

        def name(found: re.Match[str]) -> str:
            letter = found[1]
            if letter not in chosen:
                chosen[letter] = self.operand(letter)
            return str(chosen[letter])

        text = _LETTERS.sub(name, template)
        return None if None in chosen.values() else text

    def step(self) -> Step | None:
        """Lines that work on what is there."""
        for _ in range(12):
            out = f"v{self.count}"
            template = self.pick(LINES if self.chance(0.4) else self.pick(list(STEPS.values())))
            if not _OUT.search(template):
                template = f"out = {template}"
            text = self.filled(template, out)
            if text is None:
                continue
            if self.chance(0.04) and "\n" not in text:
                text = self.caught(text, out)
            if self.works(text, out):
                self.count += 1
                return Step(text, out)
        return None

    def caught(self, text: str, out: str) -> str:
        """The same, or what raises, in a function that goes on without it."""
        other, wrong = self.operand("a"), self.operand("b")
        if other is None:
            return text
        if self.chance(0.5):
            text = text.replace(" = ", f" = wg.add({wrong}.reshape(7, 1), 1) + ", 1)
        kinds = "(RuntimeError, IndexError, ValueError, TypeError)"
        return f"try:\n    {text}\nexcept {kinds}:\n    {out} = {other} * 2"

    def works(self, text: str, out: str) -> bool:
        heard = contextlib.redirect_stdout(io.StringIO())
        with warnings.catch_warnings(), np.errstate(all="ignore"), heard:
            warnings.simplefilter("ignore")
            try:
                exec(text, self.space)
                value = self.space[out]
                if isinstance(value, wg.Tensor):
                    array = array_of(value)
                    fine = array.size < 200 and bool(np.isfinite(array).all())
                    return fine and (array.size == 0 or np.abs(array).max() < 1e6)
                return isinstance(value, float | int)
            except (*ERRORS, AttributeError, NameError, AssertionError, np.linalg.LinAlgError):
                return False

    def result(self) -> str:
        names = self.names[-3:]
        last = names[-1]
        form = self.rng.random()
        if form < 0.4:
            return last
        if form < 0.6:
            return f"({', '.join(names)},)"
        if form < 0.7:
            return "{" + ", ".join(f"'{name}': {name}" for name in names) + "}"
        if form < 0.8:
            return f"[{last}, ({names[0]}, None)]"
        if form < 0.9:
            return f"Pair({last}, {names[0]})"
        if isinstance(self.space[last], wg.Tensor):
            return self.pick([f"{last}.sum().item()", f"float({last}.sum())", f"{last}.detach()"])
        return last


def draw(seed: int) -> Program:
    """The program of a seed."""
    before = wg.get_default_dtype()
    try:
        return _Drawer(seed).program()
    finally:
        wg.set_default_dtype(before)


def smaller(program: Program, fails: Callable[[str], bool]) -> Program:
    """A program with as few lines as still fail."""
    best, tried = program, True
    while tried:
        tried = False
        for other in _fewer(best):
            try:
                bad = fails(other.text)
            except Exception:  # what was left out is needed
                bad = False
            if bad:
                best, tried = other, True
                break
    return best


def _fewer(program: Program) -> Iterator[Program]:
    for n in reversed(range(len(program.steps))):
        step = program.steps[n]
        rest = (*program.steps[:n], *program.steps[n + 1 :])
        for instead in (None, *step.uses()):
            if instead is None:
                yield dataclasses.replace(program, steps=rest)
                continue
            swap = re.compile(rf"(?<![.\w]){step.out}\b")
            later = tuple(Step(swap.sub(instead, s.text), s.out) for s in rest)
            yield dataclasses.replace(
                program, steps=later, returned=swap.sub(instead, program.returned)
            )
    for n in range(len(program.setup)):
        yield dataclasses.replace(program, setup=program.setup[:n] + program.setup[n + 1 :])
    for n in range(len(program.between)):
        yield dataclasses.replace(program, between=program.between[:n] + program.between[n + 1 :])
    for n in range(1, len(program.given)):
        yield dataclasses.replace(program, given=program.given[:n] + program.given[n + 1 :])
    if program.outside != "none":
        yield dataclasses.replace(program, outside="none")
    for name in dict.fromkeys(re.findall(r"[xv]\d+", program.returned)):
        if program.returned != name:
            yield dataclasses.replace(program, returned=name)


if __name__ == "__main__":
    source = sys.argv[1]
    written = draw(int(source)).text if source.isdigit() else Path(source).read_text()
    print(written)
    print(check(written, sys.argv[2] if len(sys.argv) > 2 else "numpy"))
