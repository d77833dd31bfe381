"""Random programs with shared state and memory (grammar: `random_memory`).

Each is a `world` as in `random_programs`: what a function closes over, the function, its calls, and
what is compared after each. Here functions read and write objects of Python and NumPy in all kinds
of places; arguments share memory, differently from call to call; snapshots are read after writes;
some values raise; results are written to after the call; the first calls may come from threads.
One program in three is wild: it may also do what always ends a trace, such as write to objects.

``python tests/compiler/random_worlds.py 17 llvm`` runs the program of seed 17 and prints it.
"""

from __future__ import annotations

import re
import sys
import textwrap
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
from random_grammar import LINES
from random_memory import (
    ARRAY_WRITES,
    ARRAYS,
    ENDS,
    FAILS,
    HELD,
    LIBRARIES,
    REFUSED,
    SHARED,
    SNAPSHOTS,
    WRITES,
)
from random_runs import check

__all__ = ["PLACES", "Drawer", "check", "draw_world", "smaller_text"]

PLACES = {
    # where an object lies: what makes the place, and how the function gets there
    "closure": ("{name} = {make}", "{name}"),
    "global": ("{name} = {make}", "{name}"),
    "attribute": ("{name} = types.SimpleNamespace(c={make})", "{name}.c"),
    "slot": ("{name} = Slots({make}, 0)", "{name}.a"),
    "element": ("{name} = [0, {make}]", "{name}[1]"),
    "value": ("{name} = {{'c': {make}}}", "{name}['c']"),
    "of an object": ("{name} = Plain({make})", "{name}.a"),
    "of a class": ("{name} = type('Holder', (), {{'c': [{make}]}})", "{name}.c[0]"),
    "of a deque": ("{name} = collections.deque([{make}])", "{name}[0]"),
    "of a record": ("{name} = Record({make})", "{name}.a"),
    "of a module": ("{name} = types.ModuleType('one')\n{name}.c = {make}", "{name}.c"),
    "default": ("{name} = [{make}]", "{name}d[0]"),
    "of a module of ours": ("{name} = nn.Module()\n{name}.c = {make}", "{name}.c"),
}
OTHERS = [
    *("W.detach()", "wg.ones(3)", "W.data[:2]", "wg.ones(2, 3)", "wg.from_numpy(A)"),
    *("wg.arange(12.0).reshape(3, 4).T[1]", "W.detach().view(3, 1)"),
]
BETWEEN = [
    *("W.data.mul_(0.9)", "A[0] = turn", "A[:] += 0.5", "V[:1] = turn", "W.grad = None"),
    *("W.data = W.data + 1", "A[:] = turn"),
]
USES = [
    "out = a * {r}",
    "out = a + {r}",
    "out = a * 2 if {r} > 2 else a - 1",
    "out = a\nfor n in range(int({r}) % 4):\n    out = out * 1.5 + n",
    "out = a\nk = 0\nwhile k < {r} and k < 4:\n    out = out * 0.5 + 1\n    k += 1",
    "out = wg.full((2,), float({r})) * a.sum()",
    "out = a.clamp(max=float({r}))",
    "out = [a, a * 2, a * 3][int({r}) % 3]",
    "out = a.sum() * wg.tensor(float({r}))",
    "out = inner(lambda: {r}, a)",
    "out = a * sum({r} for _ in range(2))",
]
LOOPS = [
    "out = a\nfor _ in range(3):\n    out = out * 1.1 + {r}\n    {w}",
    "out = a\nfor _ in range(20):\n    if not out.abs().sum() < 40:\n        break\n"
    "    out = out + (1.0 if {r} < 3 else 5.0)\n    {w}",
    "out = a\nturns = 0\nwhile out.abs().sum() < 30 and turns < 12:\n    out = out * 1.2 + 1\n"
    "    turns += 1\n    {w}\nout = out * {r}",
    "out = a\nif a.sum() > 0:\n    {w}\nout = out + {r}",
]
INNER = """
def inner(read, a):
    return a * read()


def check(bad):
    if bad:
        raise ValueError("bad")
    return 1.0
"""


def _indented(text: str, by: int) -> str:
    return textwrap.indent(text, " " * by)


class Drawer:
    """Draws one program; notes what it has `picked` of all that there is."""

    def __init__(self, seed: int) -> None:
        self.seed = seed
        self.rng = np.random.default_rng([seed, 1])
        self.picked: list[Any] = []
        self.wild = self.chance(1 / 3)
        self.kinds = [kind for kind in HELD if self.wild or kind not in REFUSED]

    def pick(self, things: Any) -> Any:
        self.picked.append(things[int(self.rng.integers(len(things)))])
        return self.picked[-1]

    def line(self, lines: Any) -> str:
        """One of some lines; such that a trace may survive, unless all is allowed."""
        return str(self.pick([line for line in lines if self.wild or not ENDS.search(line)]))

    def chance(self, share: float) -> bool:
        return bool(self.rng.random() < share)

    def text(self) -> str:
        setup = ["W = wg.tensor([0.5, -1.0, 2.0], requires_grad=True)"]
        setup.append(f"V = {self.pick(OTHERS)}")
        setup.insert(0, "A = np.array([1.0, 2.0, 0.5])")
        if self.chance(0.2):
            setup[1] = "W = wg.tensor([0.5, -1.0, 2.0])"
        looks = ["W", "V", "lambda: A.copy()", "lambda: W.grad is None"]
        at_top: list[str] = []
        bound: list[str] = []
        defaults: list[str] = []
        changes: list[str] = []
        held: list[tuple[Any, str]] = []
        for n in range(int(self.rng.integers(0, 3))):
            name = f"s{n}"
            kind = self.pick(self.kinds)
            thing = HELD[kind]
            # threads would race for what changes as it is read
            self.writes = self.writes or kind in (*REFUSED, "generator of ours")
            place = self.pick(list(PLACES))
            if place == "of a module of ours" and "wg." in thing.make:
                place = "closure"
            make, path = PLACES[place]
            made = thing.make.format(n=int(self.rng.integers(1, 4)))
            lines = make.format(name=name, make=made)
            outside = path.format(name=name)
            path = outside
            if place == "default":
                defaults.append(f"{name}d={name}")
                outside = f"{name}[0]"
            (at_top if place == "global" else setup).append(lines)
            if thing.rebinds and place in ("closure", "global"):
                bound.append(("global " if place == "global" else "nonlocal ") + name)
            held.append((thing, path))
            looks.append(f"lambda: {thing.look.format(s=outside)}")
            if thing.changes and self.chance(0.6):
                changes.append(self.pick(thing.changes).format(s=outside))
        steps: list[str] = []
        names = ["x0", "x1"]
        kept: list[str] = []
        for n in range(int(self.rng.integers(1, 7))):
            steps.append(self.step(f"v{n}", names, held, kept))
            if re.search(rf"\bv{n} = ", steps[-1]):
                names.append(f"v{n}")
        kept = [name for name in kept if name not in names]
        returned = [*dict.fromkeys(names[-2:]), *kept[-2:]]
        how = self.rng.random()
        if how < 0.3:
            returned = returned[-1:]
        elif how < 0.4:
            returned += self.pick([["x0"], ["W"], ["V"], ["W.detach()"], ["V.view(-1)"], ["A"]])
        elif how < 0.5 and held:
            thing, path = self.pick(held)
            returned.append(self.pick(thing.reads).format(s=path))
        outside = self.pick(["grad", "grad", "backward", "none"])
        shared = [self.pick(SHARED) for _ in range(int(self.rng.integers(1, 4)))]
        if self.chance(0.3):
            shared = [SHARED[0]]
        if self.chance(0.2):
            changes.append(self.pick(BETWEEN))
        after = self.pick(["none", "none", "write", "data"])
        threads = self.chance(0.15) and not self.writes
        lines = [f"# world {self.seed}", f"DTYPE, OUTSIDE = wg.float64, {outside!r}"]
        lines += [f"AFTER, THREADS = {after!r}, {4 if threads else 0}", *LIBRARIES.splitlines()]
        lines += [*INNER.splitlines(), *at_top, "def world():"]
        lines += [_indented(text, 4) for text in setup]
        lines.append(f"    def f({', '.join(['x0', 'x1', *defaults])}):")
        lines += [_indented(text, 8) for text in dict.fromkeys(bound)]
        lines += [_indented(text, 8) for text in steps]
        lines.append(f"        return {', '.join(returned)}")
        lines.append("    def calls():")
        lines += [_indented(text, 8) for text in dict.fromkeys(bound)]
        lines += [f"        shared = [{', '.join(f'lambda make: ({a}, {b})' for a, b in shared)}]"]
        lines.append("        for turn, seed in enumerate((0, 1, 2, 0, 1, 3, 4)):")
        lines += ["            make = Maker(seed)", "            if turn:"]
        lines += [_indented(text, 16) for text in changes or ["pass"]]
        lines.append("            yield shared[turn * 2 // 3 % len(shared)](make)")
        lines += [f"    return f, calls, [{', '.join(looks)}]", ""]
        return "\n".join(lines)

    writes = False

    def step(self, out: str, names: list[str], held: list[Any], kept: list[str]) -> str:
        a = self.pick(names)
        kind = self.rng.random()
        if held and kind < 0.45:
            thing, path = self.pick(held)
            read = self.pick(thing.reads).format(s=path)
            writes = [w for w in thing.writes if self.wild or re.search(r"\w_\(", w)]
            if writes and self.chance(0.35):
                self.writes = True
                write = self.pick(writes).format(s=path)
                form = self.rng.random()
                if form < 0.4:
                    return write
                template = self.pick(LOOPS)
                if "\n" in write:
                    return write
                return self.filled(template, out, a).replace("{r}", read).replace("{w}", write)
            return self.filled(self.pick(USES), out, a).replace("{r}", read)
        if kind < 0.6:
            text = self.line([*WRITES, *ARRAY_WRITES] if self.wild else WRITES)
            self.writes = True
            return re.sub(r"\ba\b", a, text)
        if kind < 0.72:
            kept.append(out + "k")
            return f"{out}k = {self.line(SNAPSHOTS)}"
        if kind < 0.82:
            return self.filled(self.line(ARRAYS), out, a)
        if kind < 0.9:
            fail = re.sub(r"\ba\b", a, self.line(FAILS))
            fail = fail.format(c=self.pick(["0", "1", "-1", "5"]))
            form = self.rng.random()
            if form < 0.4:
                return fail
            if form < 0.6:
                return f"{out}u = {fail}"
            if form < 0.8:
                return f"{out} = {a}.sum() * 1\n{out} = {out} + ({fail}) * 0.5"
            return f"try:\n    {out} = {a} * ({fail})\nexcept Exception:\n    {out} = {a} * 3"
        return self.filled(self.pick(LINES), out, a, self.pick(names))

    def filled(self, template: str, out: str, a: str, b: str = "x0") -> str:
        if not re.search(r"(?<![.\w])out\b", template):
            template = f"out = {template}"
        names = {"out": out, "a": a, "b": b, "turns": f"{out}t", "k": f"{out}c", "B": f"{out}b"}
        return re.sub(
            r"(?<![.\w\"'{])(out|a|b|turns|k|B)(?![\w\"'}])", lambda m: names[m[1]], template
        )


def draw_world(seed: int) -> str:
    """The program of a seed, as source."""
    return Drawer(seed).text()


def smaller_text(text: str, fails: Callable[[str], bool]) -> str:
    """The program with as few lines as still fail."""
    skipped, changed = 0, False
    while True:
        for n, other in enumerate(_fewer(text)):
            if n < skipped or other == text:
                continue
            try:
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore")
                    bad = fails(other)
            except BaseException:  # what was left out is needed
                bad = False
            if bad:
                # what was tried before need not be tried at once again
                text, skipped, changed = other, n, True
                break
        else:
            if not changed:
                return text
            skipped, changed = 0, False


def _fewer(text: str) -> Iterator[str]:
    lines = text.splitlines()
    start = next(i for i, line in enumerate(lines) if line.startswith("def world"))
    for i in reversed(range(start + 1, len(lines))):
        depth = len(lines[i]) - len(lines[i].lstrip())
        if not lines[i].strip() or lines[i].lstrip().startswith(("def ", "make = ", "yield ")):
            continue
        if re.search(r"\w+[ct] \+= 1|break|if not .* < 40", lines[i]):
            continue  # what ends a loop
        end = i + 1
        while end < len(lines) and len(lines[end]) - len(lines[end].lstrip()) > depth:
            end += 1
        yield "\n".join([*lines[:i], *lines[end:], ""])
        if end == i + 1:
            yield "\n".join([*lines[:i], " " * depth + "pass", *lines[end:], ""])
        elif lines[i].lstrip().startswith(("for ", "if ", "while ", "with ", "try")):
            block = textwrap.dedent("\n".join(lines[i + 1 : end]))
            yield "\n".join([*lines[:i], _indented(block, depth), *lines[end:], ""])
        found = re.match(r"(\s+return )(\w.*, .*)$", lines[i])
        if found and depth == 8:
            for part in found[2].split(", "):
                yield "\n".join([*lines[:i], found[1] + part, *lines[i + 1 :], ""])
    for before, after in (
        (r"OUTSIDE = wg.float64, '\w+'", "OUTSIDE = wg.float64, 'none'"),
        (r"AFTER, THREADS = '\w+', \d", "AFTER, THREADS = 'none', 0"),
        (r"enumerate\(\((.*), \d\)\)", r"enumerate((\1))"),
        (r"\[(lambda make: .*), lambda make: [^\]]*\]", r"[\1]"),
        (r"shared = \[.*\]", "shared = [lambda make: (make(3), make(3))]"),
    ):
        other = re.sub(before, after, text)
        if other != text:
            yield other


if __name__ == "__main__":
    source = sys.argv[1]
    written = draw_world(int(source)) if source.isdigit() else Path(source).read_text()
    print(written)
    print(check(written, sys.argv[2] if len(sys.argv) > 2 else "numpy"))
