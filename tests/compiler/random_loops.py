"""Random programs with loops that depend on values, on counts, and on both.

Each loop that depends on values holds a tensor that grows (`{t}`), so all programs end. Numbers,
containers, objects, memory, and the values that the function reaches also change; and values are
left on the interpreter's stack while functions with loops are called.
"""

from __future__ import annotations

import random
import re

__all__ = ["drawn"]

HEAD = '''
from functools import reduce


class Box:
    def __init__(self, v, n=0):
        self.v, self.n = v, n


def grow(t, up=4.0):
    """A loop that depends on values."""
    while t.abs().sum() < up:
        t = t * 1.4 + 0.05
    return t


def counted(t, n=0):
    """A loop with a counter of Python."""
    while t.abs().sum() < 6 and n < 7:
        t, n = t * 1.3 + 0.02 * n, n + 1
    return t * (1 + n)


def descend(t, rate=0.4):
    """A descent that halves its rate."""
    value, taken = (t * t).sum(), 0
    while (t * t).sum() > 0.3:
        new = t - rate * 2 * t * (1 + 0.1 * taken)
        if taken == 3:
            rate, taken = rate * 1.5, 0
            continue
        if (new * new).sum() < value:
            t, value, taken = new, (new * new).sum(), taken + 1
        else:
            rate, taken = rate / 2, 0
        if rate < 1e-3:
            break
    return t


def picks(parts, t):
    """A loop over parts that ends where a value says."""
    for n, part in enumerate(parts):
        if (part * t).sum() > 0.8 - 0.1 * n:
            return part + t
        t = grow(t, 1.0 + n)
    return t


def both(parts, t):
    """Two loops in one, with jumps."""
    s = t.sum()
    for u, v in zip(parts, parts[1:]):
        if s > 9:
            break
        while s < 1:
            s = s.abs() * 1.5 + 0.3
        if u.sum() < v.sum():
            continue
        s = s + (u * v).sum().abs()
    return s


def kept(t):
    """Memory that a loop writes to."""
    m = t.clone()
    row = m[1:]
    while m.abs().sum() < 5:
        m[0] += 0.7
        row.mul_(1.1)
        m = m * 1.05
    return m + row.sum()


def nested(t):
    total = t.abs().sum() * 0
    while total < 9:
        u = t
        while u.abs().sum() < 3:
            u = u * 1.3 + 0.1
        total = total + u.abs().sum()
        t = t * 1.1
    return total


def sloped(t):
    """A descent along a gradient that it takes itself."""
    f = lambda u: (u * u * u * u).sum() + (u * u).sum()
    while 0.5 < f(t) < 1e30:
        t = t * 0.9 - 0.05 * wg.func.grad(f)(t).clamp(-2, 2)
    return t
'''

VALUES = [
    *("{t}.sin()", "{t} * 0.7 + {t}", "{t} - {t}", "{t} * {n}", "{t} / (1 + {n} * {n})"),
    *("grow({t})", "grow({t}, 2.0 + {n})", "counted({t})", "counted({t}, {i})", "descend({t})"),
    *("{t} * grow({t})", "({t} * 2) + counted({t} + 0.1)", "picks([{t}, {t}, {t}], {t})"),
    *("both([{t}, {t}, {t}], {t}) * {t}", "kept({t})", "nested({t}) * {t}", "sloped({t})"),
    *(
        "wg.stack([grow({t}), {t}]).sum(0)",
        "max([grow(u) for u in ({t}, {t})], key=lambda u: u[0])",
    ),
    *("sum([grow(u, 2.5) for u in [{t}, {t}]])", "reduce(lambda u, v: grow(u) - v, [{t}, {t}])"),
    *("(lambda u: grow(u + {t}))({t})", "wg.where({t} > 0, {t}, grow({t}))", "box.v * {t}"),
    *("held[0] + {t}", "{t} * STATE['w']", "descend({t}, 0.3 + {n})", "{t}.clamp(-3, 3)"),
    *("wg.rand(3) + {t}", "({t} * 2, grow({t}))[0]", "(grow({t}) + {t}) * grow({t} * 0.5)"),
    *("[{t}, {t} * 2][{t}.sum() > 1]", "{t} * float({t}.sum() > {n})", "{t} * {t}.sum().item()"),
    *("wg.func.grad(lambda u: (grow(u) * u).sum())({t})", "wg.vmap(lambda u: u * 2)({t})"),
]
CONDITIONS = [
    *("{t}.sum() > {n}", "{t}.sum() < {t}.sum()", "{i} > 2", "{t}.max().item() > 0.4"),
    *("{t}.abs().sum() > 3 and {i} < 4", "not ({t} > 0).any()", "int({t}.abs().sum()) % 2"),
    *("bool({t}[0] > 0)", "grow({t}).sum() > 4", "box.n > 1", "len(held) > 2", "{n} > 0.3"),
]
LINES = [
    *("{v} = {value}", "{v} = {value}", "{v} = {value}", "{k} += 1", "{r} = {r} / 2"),
    *("{r} = {r} * 1.25", "{k} = {k} + 2", "box.v = {t}", "box.n += 1", "held[0] = {t}"),
    # a list that grows in loops over it would have no end
    *(
        "held.append({t})\ndel held[5:]",
        "held = [{t}, *held[:1]]",
        "{v} = {v}.clone()\n{v}.add_({t})",
    ),
    *("{v} = {v}.clone()\n{v}[0] = {t}.sum()", "{v}, {v} = {t}, {value}", "{r} = {t}.sum().item()"),
    *(
        "with wg.no_grad():\n    {v} = {value}",
        "{v} = {v} + {i} * 0.1",
        "{k} = -{k}",
        "box = Box({t}, {k})",
    ),
    *("STATE['w'] = {t}.detach()", "STATE['n'] += 1", "x.data.mul_(0.9)", "held = held[-2:]"),
    *("f = lambda u: u * {v}\n{v} = f({t})", "{v} = {v}[1:].sum() + {v}", "LOG.append({i})"),
]
RARE = frozenset({"STATE['w'] = {t}.detach()", "STATE['n'] += 1", "LOG.append({i})"})


class _Writer:
    def __init__(self, seed: int) -> None:
        self.rng = random.Random(seed)

    def filled(self, text: str) -> str:
        rng = self.rng
        makers = {
            "t": lambda: rng.choice("abcxy"),
            "v": lambda: rng.choice("abc"),
            "k": lambda: rng.choice("kn"),
            "r": lambda: rng.choice("rq"),
            "i": lambda: rng.choice("kn"),
            "n": lambda: rng.choice(["k", "n", "r", "q", "0.5", "1", "2.5"]),
            "value": lambda: self.filled(rng.choice(VALUES)),
            "condition": lambda: self.filled(rng.choice(CONDITIONS)),
        }
        return re.sub(r"\{(\w+)\}", lambda found: makers[found[1]](), text)

    def body(self, depth: int, loops: int, size: int) -> list[str]:
        lines: list[str] = []
        for _ in range(self.rng.randint(1, size)):
            lines += self.statement(depth, loops)
        return lines

    def statement(self, depth: int, loops: int) -> list[str]:
        rng = self.rng
        kind = rng.random()
        if depth < 3 and kind < 0.34:
            return self.loop(depth, loops)
        if depth < 3 and kind < 0.5:
            lines = [self.filled("if {condition}:"), *_in(self.body(depth + 1, loops, 2))]
            if rng.random() < 0.6:
                lines += ["else:", *_in(self.body(depth + 1, loops, 2))]
            return lines
        if loops and kind < 0.62:
            jump = rng.choice(["break", "continue", "break", "return {t}, {i}"])
            return [self.filled("if {condition}:"), f"    {self.filled(jump)}"]
        line = rng.choice(LINES)
        if line in RARE and rng.random() < 0.8:
            line = LINES[0]
        return self.filled(line).split("\n")

    def loop(self, depth: int, loops: int) -> list[str]:
        rng = self.rng
        goes = f"g{depth}"
        most = rng.choice([2.0, 5.0, 9.0])
        inner = self.body(depth + 1, loops + 1, 3)
        head = rng.choice(
            [
                f"while {goes} < {most}:",
                f"while {goes} < {most}:",
                f"while {goes} < {most} and " + self.filled("{condition}:"),
                f"for i in range({rng.randint(2, 6)}):",
                "for k, b in enumerate([a, b * 0.5, c]):",
                "for a, c in zip([a, b, c], (x, y, x)):",
                "for r in (0.5, 0.25, 1.0):",
                "for b in list(held):",
            ]
        )
        if head.startswith("while"):
            start = self.filled("{t}.detach().abs().sum() * 0.1")
            step = rng.choice([f"{goes} = {goes} * 1.4 + 0.6", f"{goes} = {goes} + 1.1"])
            return [f"{goes} = {start}", head, f"    {step}", *_in(inner)]
        return [head, *_in(inner)]


def _in(lines: list[str]) -> list[str]:
    return [f"    {line}" for line in lines]


def drawn(seed: int) -> str:
    """The source of a program: its world, as `random_runs` runs it."""
    writer = _Writer(seed)
    rng = writer.rng
    grad = rng.random() < 0.4
    body = []
    while not any(line.lstrip().startswith(("while", "for")) for line in body):
        body = writer.body(0, 0, 5)
    outside = rng.choice(["backward", "grad"]) if grad else "none"
    ends = rng.choice(["a, b, c", "a, k, r", "[a + b, box.v, held[0]], n, q", "a * k + b * r"])
    lines = [
        "STATE = {'w': wg.tensor(0.5), 'n': 0}",
        "LOG = []",
        "def f(x, y):",
        "    a, b, c = x * 1.0, y + 0.1, x - y",
        "    k, n, r, q = 0, 1, 0.5, 2.0",
        "    box, held = Box(a), [b, c]",
        *_in(body),
        f"    return {ends}",
        "def calls():",
        "    for seed in (0, 1, 0, 2, 3, 4):",
        "        make = Maker(seed)",
        f"        yield make(3, grad={grad}) * (0.3 + 0.2 * seed), make(3, grad=False)"
        if not grad
        else "        yield make(3), make(3, grad=False)",
        "return f, calls, [lambda: (STATE['n'], STATE['w'].tolist(), len(LOG), LOG[-3:])]",
    ]
    return "\n".join(
        [
            f'DTYPE, OUTSIDE = wg.{rng.choice(["float64", "float64", "float32"])}, "{outside}"',
            HEAD,
            "def world():",
            *_in(lines),
            "",
        ]
    )
