"""Random programs that decide everywhere: in operands, containers, generators, contexts, handlers.

Each is a `world` as in `random_programs`. A program has a few decisions and one or two loops, which
later calls meet again by other ways; what was chosen on the way is held where Python does not show
it: on the stack, in C code, in a suspended generator, in an object on its way out of a statement.

``python tests/compiler/random_decisions.py 17 llvm`` runs the program of seed 17 and prints it.
"""

from __future__ import annotations

import random
import sys
import textwrap

from random_runs import check

__all__ = ["drawn"]

HEAD = """
import collections
import contextlib
import dataclasses
import functools
import itertools
import operator
import typing


def pick(x, a=2.0, b=3.0):
    return a if x.sum() > 0 else b


def grow(x):
    while x.sum() < 5:
        x = x.abs() * 2 + 0.1
    return x


def shrink(x, most=4.0):
    count = 0
    while x.abs().max() > most:
        x = x * 0.5
        count = count + 1 if count < 2 else 0
    return x if count == 0 else x + count


def walk(x):
    yield x
    while x.abs().sum() < 6:
        x = x * 1.5 + 0.1
        yield x


class Held:
    def __init__(self, value, out):
        self.value, self.out = value, out

    def __enter__(self):
        return self.out

    def __exit__(self, kind, *_):
        self.out.append(self.value)
        return kind is KeyError


@contextlib.contextmanager
def lent(value, out):
    try:
        yield out
    finally:
        out.append(value)


@dataclasses.dataclass
class Point:
    at: typing.Any
    by: float = 1.0

    def __call__(self, u):
        return u * self.by

    def __getitem__(self, k):
        return self.at * k

    def __lt__(self, other):
        return bool((self.at < other.at).all())

    def __add__(self, k):
        return Point(self.at + k, self.by)

    @property
    def size(self):
        return pick(self.at)


class Shrinks:
    # is another one when it is asked again

    def __init__(self, at):
        self.at = at * 1

    def __bool__(self):
        self.at.mul_(0.8)
        return bool(self.at.abs().sum() > 1)

    def __eq__(self, other):
        return bool(self)

    def __lt__(self, other):
        return bool(other) if isinstance(other, Shrinks) else NotImplemented

    def __repr__(self):
        return "large" if self else "small"

    def __iter__(self):
        while self:
            yield self.at * 1


class Turns:
    def __init__(self, *calls):
        self.calls, self.done = calls, 0

    def __iter__(self):
        return self

    def __next__(self):
        self.done += 1
        if self.done > len(self.calls):
            raise StopIteration
        return self.calls[self.done - 1]()


def both(*calls):
    for call in calls[:-1]:
        yield call()
    yield calls[-1]()


def listed(*parts):
    return list(parts)


def last(*calls):
    yield calls[0]()
    yield calls[-1]()
"""
NUMBERS = (
    """
pick({t})|(2.0 if {t}.sum() > 0 else 3.0)|pick({t}, {n}, 1.0)|({n} if {t}.max() > 0.3 else 4.0)
(1.0 if 0 < {t}.sum() < 4 else {n})|float(bool({t}.sum() > 0) and {n})|max({n}, 1.0)|Point({t}).size
({n} + {n})|({n} - pick({t}))|sum(n for n in ({n}, {n}))|len([t for t in (x, y) if t.sum() > 0])
[{n}, 7.0][0]|(lambda k={n}: k)()|next(iter([{n}]))|min(({n}, pick({t})))|int({t}.sum() > 0)
""".replace("\n", "|")
    .strip("|")
    .split("|")
)
"""What gives a number, of tensors ``{t}`` and numbers ``{n}``."""
TENSORS = (
    """
grow({t})|shrink({t} * 3)|{t} * {n}|{t} + {n}|({t} if {t}.sum() > 0 else {t} - 1)|{t}|-{t}|x|y
Point({t}, {n})({t})|Point({t})[{n}]|(Point({t}) + {n}).at|functools.partial(operator.mul, {n})({t})
functools.reduce(lambda u, v: u * 0.5 + v, [{t}, {t}])|wg.where({t} > 0, {n}, {t})|{t}.abs() * {n}
(lambda u, *, k={n}: u * k)({t})|{t}[: (1 if {t}.sum() > 0 else 3)].sum() + {t}|sum(walk({t}))
""".replace("\n", "|")
    .strip("|")
    .split("|")
)
"""What gives a tensor of three elements."""
LINES = (
    """
out = [{n}, {t}]
out = ({n}, *[{n}, {t}], {t})
out = {"a": {n}, **{"b": {n}}, "c": {t}}
out = dict(a={n}, b={t})
out = f"{{n}}{{t}.sum():.1f}"
out = list(both(lambda: {n}, lambda: {t}))
out = [*last(lambda: {n}, lambda: {t}), {n}]
one, two = both(lambda: {n}, lambda: {t})@out = one * two
out = tuple(Turns(lambda: {n}, lambda: {t}))
out = dict(zip("ab", last(lambda: {n}, lambda: {t})))
table = collections.defaultdict(lambda: {t})@table[{n}]@out = list(table), list(table.values())
out = sorted([{n}, {n}], key=lambda k: k * (1 if {t}.sum() > 0 else -1)), {t}
out = [p.by for p in sorted([Point(x, 0), Point(y, 1), Point({t}, {n})])], {t}
out = list(map(lambda u: grow(u) if u.sum() > 0 else {n}, ({t}, {t})))
out = [(k := {n}), {t}, (k := k + 1), k]
held = []@with Held({n}, held):@    out = {t}@out = out, held
held = []@with lent({n}, held) as q:@    out = {t}@    q.append({n})@out = out, held
held = []@with Held({n}, held):@    out = {t}@    raise KeyError(1)@out = held, {t}
with wg.set_grad_enabled(bool({t}.sum() > 0)):@    with wg.no_grad():@        k = {t}@\
    out = k, x.detach().requires_grad_().sin().requires_grad
try:@    raise ValueError({n})@except ValueError as error:@    out = {t}, error.args[0]
def inner():@    try:@        return {n}@    finally:@        kept.append({t})@\
kept = []@out = inner(), kept
def inner(k={n}, u={t}):@    return u * k@out = inner(), inner({n})
match {n}:@    case 2.0 if {t}.sum() > 5.2:@        out = {t}@    case k if k > 2.5:@\
        out = {t} * k@    case _:@        out = {t} - 1
out = {t}@for k in ([1.0, 2.0] if {t}.sum() > 0 else [3.0]):@    out = out * k + {n}
out = 0@for u in walk({t}):@    out = out + u * {n}@    if out.max() > 9:@        break
v = {t}@while v.sum() < 9:@    try:@        v = v.abs() * 2 + 0.1@        if v.max() > 6:@\
            continue@    finally:@        v = v + (0.5 if {t}.sum() > 0 else 0.25)@\
    v = v + 1@out = v
v, w = {t}, {t}@while v.sum() < 9 and w.sum() < 30 or v.max() < 2:@\
    v, w = w, v.abs() * 2 + (0.1 if {t}.sum() > 0 else 0.2)@out = v, w
v = {t}@with wg.no_grad():@    while v.sum() < 9:@        v = v.abs() * 2 + 0.1@out = v * {n}
v = {t}@while (s := v.sum()) < 9:@    with contextlib.suppress(KeyError):@\
        v = v.abs() * 2 + 0.1@\
        if v.max() > 4:@            raise KeyError(1)@        v = v + 1@out = v, s, {n}
z = {t}.expand(3, 3).clone()@z = z.t() if {t}.sum() > 0 else z[:, :]@out = {t}, z, z.stride()
a = [{t}]@b = a if {t}.sum() > 0 else [x]@a[0] = {t}@out = b[0]
a = {t}.clone()@b = a[:2] if {t}.sum() > 0 else a[1:]@k = {t}@b.mul_({n})@out = a, k
p, q = Shrinks({t}), Shrinks({t})@same = listed(p, q, p) == listed(q, p, q)@\
out = same, p.at, {n}
p, q = Shrinks({t}), Shrinks({t})@text = repr(listed(p, q, p))@out = {t}, text, q.at
p, q = Shrinks({t}), Shrinks({t})@less = listed(p, q, p) < listed(q, p, q)@\
out = less, [u.at for u in sorted([p, q, p])], {n}
p, q = Shrinks({t}), Shrinks({t})@out = len([*filter(None, [p, q, p])]), all([p, q]), q.at * {n}
p = Shrinks({t})@out = sum(p) * {n}, sum(1 for u in p if u.sum() > 0), [*p], p.at
v = {t}@try:@    while True:@        v = v.abs() * 1.5 + 0.1@        if v.max() > 5:@\
            raise KeyError({n})@except KeyError as error:@    out = v, error.args
count = 0@def inner(u):@    nonlocal count@    while u.sum() < 5:@        u = u.abs() * 2 + 0.1@\
        count += 1@    return u * count@out = inner({t}), count, inner({t}), {n}
p = Point({t})@while p.at.sum() < 9:@    p.at = p.at.abs() * 2 + 0.1@    p.by += {n}@\
out = p.at, p.by
kept = {0: {t}}@while kept[0].sum() < 9:@    kept[0] = kept[0].abs() * 2 + 0.1@\
    kept[1] = kept.get(1, 0) + {n}@out = kept.pop(0), kept
kept = [{t}]@while kept[-1].sum() < 9:@    kept.append(kept[-1].abs() * 2 + 0.1)@\
    del kept[:-2]@    kept[0] *= {n}@out = kept
turns = both(lambda: {n}, lambda: {n}, lambda: {t})@next(turns)@out = {t} * next(turns), next(turns)
out = [u * {n} for u in ({t}, {t}) if u.sum() > 0] or {t}
out = [{n}, {n}] < [{n}, {n}], {n} in [{n}, 2.0], {t}
""".replace("\\\n", "")
    .strip()
    .splitlines()
)
"""Lines of a function; ``@`` begins a new line."""
SIGNS = [(1, 1), (-1, 0.1), (1, -1), (-1, -1), (-1, 1), (0.01, 1), (0.5, 3), (3, -0.5)]


def drawn(seed: int) -> str:
    """A program as source."""
    rng = random.Random(seed)

    def filled(text: str, depth: int) -> str:
        while (at := min((i for i in map(text.find, ("{n}", "{t}")) if i >= 0), default=-1)) >= 0:
            forms = NUMBERS if text[at + 1] == "n" else TENSORS
            form = rng.choice(["2.0"] if text[at + 1] == "n" else ["x", "y"])
            if depth and rng.random() < 0.6:
                form = filled(rng.choice(forms), depth - 1)
            form = f"({form})" if len(form) > 1 and text[at + 3 : at + 4] in (".", "[") else form
            text = text[:at] + form + text[at + 3 :]
        return text

    lines = ["made = []"]
    for _ in range(rng.choice((1, 1, 2))):
        lines += filled(rng.choice(LINES).replace("@", "\n"), 2).splitlines()
        lines += ["made.append(out)", *(rng.random() < 0.3) * ["x, y = y, x * 1"]]
    calls = rng.sample(SIGNS, 6) + rng.choices(SIGNS, k=6)
    grad = rng.random() < 0.3
    return "\n".join(
        [
            f"DTYPE, OUTSIDE = wg.float64, {'grad' if grad else 'none'!r}",
            HEAD,
            "def world():",
            "    def f(x, y):",
            textwrap.indent("\n".join(lines), " " * 8),
            "        return made",
            "    def calls():",
            f"        for mine, yours in {calls}:",
            "            x, y = wg.tensor([1.0, 2.0, 0.1]), wg.tensor([0.9, -0.2, 1.5])",
            f"            yield (x * mine).requires_grad_({grad}), y * yours",
            "    return f, calls, []",
            "",
        ]
    )


if __name__ == "__main__":
    program = drawn(int(sys.argv[1]))
    print(program[program.index("def world") :])
    print(check(program, sys.argv[2]))
