"""The random programs of the parity tests (NOTE [programs in lockstep]), for compilation.

The leaves of a program become the arguments of a function, and its lines the body. Lines that
raise, or that need hooks from outside, are left out.

``python tests/compiler/random_lines.py 17 llvm`` runs the program of seed 17 and prints it.
"""

from __future__ import annotations

import random
import re
import sys
from collections.abc import Callable
from typing import Any, NamedTuple

from random_runs import array_of, check, nudged

import wengert as wg
from support.lines import Side, draw, is_tensor, sound

__all__ = ["NAMED", "Program", "drawn", "moved", "smaller"]


def dense(value: Any) -> Any:
    """Copies that lie row by row."""
    if isinstance(value, tuple | list):
        return tuple(map(dense, value))
    if not isinstance(value, wg.Tensor):
        return value
    return value.clone(memory_format=wg.contiguous_format)


NAMED = Side(wg).names | {"dense": dense}
"""What the lines of programs find."""
HEARD = re.compile(r"watch|hook|anomaly|inference")
"""Lines whose effects the comparison does not see, or that make what it cannot look at."""
NAMES = re.compile(r"\bx\d+\b")


class Program(NamedTuple):
    """A program: the lines of its leaves, of its body, and the names that it returns."""

    leaves: tuple[str, ...]
    body: tuple[str, ...]
    returned: tuple[str, ...]
    outside: str

    @property
    def text(self) -> str:
        given = ", ".join(line.partition(" = ")[0] for line in self.leaves)
        made = "".join(
            f"                moved(turn, {line.partition(' = ')[2]}),\n" for line in self.leaves
        )
        body = "".join(f"        {line}\n" for line in self.body)
        return (
            "from random_lines import NAMED, moved\n"
            "globals().update(NAMED)\n"
            f"DTYPE, OUTSIDE = wg.float32, {self.outside!r}\n\n"
            "def world():\n"
            f"    def f({given}):\n{body}"
            f"        return [{', '.join(self.returned)}]\n"
            "    def calls():\n"
            "        for turn in (0, 0, 1, 2):\n"
            f"            yield (\n{made}            )\n"
            "    return f, calls, []\n"
        )


def moved(turn: int, leaf: Any) -> Any:
    """A leaf for a call: the same numbers in other places."""
    values = nudged(array_of(leaf))
    if turn:
        values = values.reshape(-1)
        values = values[[(n + turn) % values.size for n in range(values.size)]]
        values = values.reshape(leaf.shape)
    return wg.tensor(values, dtype=leaf.dtype).requires_grad_(leaf.requires_grad)


def drawn(seed: int, wide: bool = False) -> Program | None:
    """The program of a seed, unless nothing is left of it."""
    side = Side(wg)
    leaves: list[str] = []
    body: list[str] = []
    for line in draw(wg, seed, wide):
        made = re.match(r"x\d+ = t\.tensor\([^x]*$", line)
        if made is not None and not body:
            side.run(line)
            leaves.append(line)
        elif not HEARD.search(line) and side.run(line) is None:
            body.append(line)
    names = {name for line in leaves for name in NAMES.findall(line)}
    found = [
        name
        for name, x in side.names.items()
        if name not in names and name[0] == "x" and is_tensor(x) and sound(x)
    ]
    if not found:
        return None
    chance = random.Random(seed)
    if chance.random() < 0.5:
        found = [name for name in found[:-1] if chance.random() < 0.5] + found[-1:]
    outside = chance.choice(["none", "backward", "grad", "twice", "twice"])
    return Program(tuple(leaves), tuple(body), tuple(found), outside)


def smaller(program: Program, fails: Callable[[str], bool]) -> Program:
    """A program with as few lines, and results, as still fail."""

    def still(other: Program) -> bool:
        try:
            return fails(other.text)
        except Exception:  # what was left out is needed
            return False

    for n in reversed(range(len(program.body))):
        gone = re.match(r"(x\d+) = ", program.body[n])
        other = program._replace(
            body=program.body[:n] + program.body[n + 1 :],
            returned=tuple(x for x in program.returned if gone is None or x != gone[1]),
        )
        if still(other):
            program = other
    for name in program.returned:
        other = program._replace(returned=tuple(x for x in program.returned if x != name))
        if still(other):
            program = other
    for outside in ("none", "grad"):
        if still(program._replace(outside=outside)):
            return program._replace(outside=outside)
    return program


if __name__ == "__main__":
    one = drawn(int(sys.argv[1]), int(sys.argv[1]) % 2 == 1)
    assert one is not None, "nothing is left of this program"
    print(one.text)
    print(check(one.text, sys.argv[2]))
