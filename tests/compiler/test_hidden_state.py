"""Test what a decision hides: values on the interpreter's stack, in C code, and where Python is."""

from __future__ import annotations

import bisect
import contextlib
import functools
import importlib.util
import sys
import types
from collections import defaultdict
from collections.abc import Callable, Iterator
from operator import add, eq  # noqa: F401  # for `OF_PARTS`
from typing import Any

import numpy as np
import pytest

import wengert as wg
from wengert.compiler.ir.programs import Value
from wengert.compiler.objects.bytecode import instructions_of
from wengert.compiler.objects.closures import is_settled
from wengert.compiler.objects.frames import first_alike
from wengert.compiler.tracing.names import Names

BACKENDS = ["numpy", "llvm"] if importlib.util.find_spec("llvmlite") else ["numpy"]


def pick(x: Any) -> float:
    return 2.0 if x.sum() > 0 else 3.0


def grow(x: Any) -> Any:
    """A loop, whose states are met again by other calls."""
    while x.sum() < 5:
        x = x.abs() * 2 + 0.1
    return x


class Held:
    """Hands out what it holds when a ``with`` statement ends."""

    def __init__(self, value: Any, out: list[Any]) -> None:
        self.value, self.out = value, out

    def __enter__(self) -> None:
        return None

    def __exit__(self, *_: Any) -> None:
        self.out.append(self.value)


class Turns:
    def __init__(self, *calls: Callable[[], Any]) -> None:
        self.calls, self.done = calls, 0

    def __iter__(self) -> Turns:
        return self

    def __next__(self) -> Any:
        self.done += 1
        if self.done > len(self.calls):
            raise StopIteration
        return self.calls[self.done - 1]()


class Ordered:
    def __init__(self, x: Any, name: int) -> None:
        self.x, self.name = x, name

    def __lt__(self, other: Ordered) -> bool:
        return bool(self.x.sum() < other.x.sum())


class Alike:
    def __init__(self, x: Any) -> None:
        self.x = x

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Alike) and bool(grow(self.x).sum() > grow(other.x).sum() - 7)

    __hash__ = None  # type: ignore[assignment]


def listed(*parts: Any) -> list[Alike]:
    return [Alike(part) for part in parts]


class Carried(Exception):
    pass


def both(x: Any, y: Any) -> Iterator[Any]:
    yield pick(x)
    yield grow(y)


def in_a_list(x: Any, y: Any) -> Any:
    return [pick(x), grow(y)], [(2.0 if y.sum() > 0 else 3.0), grow(wg.where(y > 0, 2.0, y))]


def in_a_dictionary(x: Any, y: Any) -> Any:
    return {("a" if x.sum() > 0 else "b"): grow(y), **{"c": pick(y)}, "d": grow(x)}


def in_a_text(x: Any, y: Any) -> Any:
    return f"{1 if x.sum() > 0 else 2}{grow(y).sum():.1f}"


def before_a_walrus(x: Any, y: Any) -> Any:
    k = pick(x)
    return [k, (k := 1.0), grow(y)]


def as_a_default(x: Any, y: Any) -> Any:
    def inner(k: Any = pick(x), z: Any = grow(y)) -> Any:  # noqa: B008  # evaluated in each call
        return k, z

    return inner()


def as_an_operand(x: Any, y: Any) -> Any:
    return x.new_tensor([pick(x)]), grow(y), max(pick(y), pick(x)) * grow(x)


def returned_before_finally(x: Any, y: Any) -> Any:
    out: list[Any] = []

    def inner() -> float:
        try:
            return pick(x)
        finally:
            out.append(grow(y))

    return inner(), out[0]


def of_a_generator(x: Any, y: Any) -> Any:
    return list(both(x, y)), [*both(y, x)], dict(zip("ab", both(x, x), strict=True))


def of_an_iterator(x: Any, y: Any) -> Any:
    turns = Turns(lambda: pick(x), lambda: grow(y))
    return list(turns)


def of_a_factory(x: Any, y: Any) -> Any:
    made: Any = defaultdict(functools.partial(grow, y))
    _ = made[pick(x)]
    return list(made), list(made.values())


def of_a_context(x: Any, y: Any) -> Any:
    out: list[Any] = []
    with Held(pick(x), out):
        while y.sum() < 5:
            y = y.abs() * 2 + 0.1
    return y * out[0]


def of_a_mode(x: Any, y: Any) -> Any:
    with wg.set_grad_enabled(bool(x.sum() > 0)):
        with wg.no_grad():
            y = grow(y)
        z = x.detach().requires_grad_() * 2
    return y, z.requires_grad


def of_an_exception(x: Any, y: Any) -> Any:
    try:
        with contextlib.suppress(KeyError):
            try:
                raise Carried(pick(x))
            except Carried:
                y = grow(y)
                raise
    except Carried as error:
        return y * error.args[0]


def of_sorted(x: Any, y: Any) -> Any:
    parts = [Ordered(x, 0), Ordered(y, 1), Ordered(x - y, 2), Ordered(y * 2, 3)]
    return grow(x), [part.name for part in sorted(parts)]


def of_comparisons(x: Any, y: Any) -> Any:
    x = grow(x)
    mine, yours = [x.sum() > 7, y.sum() > 1], [x.max() > 4, y.sum() < 1]
    return x, mine == yours, mine < yours, yours[1] in mine, bisect.bisect([1.0, 6.0], x.sum())


def of_compared_results(x: Any, y: Any) -> Any:
    same = listed(x + 1, y + 1, x * 3) == listed(y * 2, x * 2, y * 3)
    return same, listed(x * 2, x * 0.5) == listed(y - 1, y - 0.5)


def in_copies_of_finally(x: Any, y: Any) -> Any:
    n = 0
    while x.sum() < 40:
        try:
            x = x.abs() * 2 + 0.1
            n += x.shape[0]
            if x.max() > 8:
                return x, y, n
            if x.max() > 3 and y.sum() > 0:
                continue
        finally:
            if x.max() > y.sum():
                y = y + 1
            n = 0
        x = x + 1
    return x, y, -1


def in_a_context_in_a_loop(x: Any, y: Any) -> Any:
    while x.sum() < 20:
        with wg.no_grad():
            x = x.abs() * 2 + 0.1
            if x.max() > 8:
                break
            while y.sum() < x.sum():
                y = y.abs() + 1
            if y.sum() > 9:
                continue
        x = x + 1
    return x, y


def in_how_memory_lies(x: Any, y: Any) -> Any:
    z = x.expand(3, 3).clone()
    z = z.t() if x.sum() > 0 else z[:, :]
    return grow(y), z, z.stride(), z.is_contiguous()


PROGRAMS = [
    *(in_a_list, in_a_dictionary, in_a_text, before_a_walrus, as_a_default, as_an_operand),
    *(returned_before_finally, of_a_generator, of_an_iterator, of_a_factory, of_a_context),
    *(of_a_mode, of_an_exception, of_sorted, of_comparisons, of_compared_results),
    *(in_copies_of_finally, in_a_context_in_a_loop, in_how_memory_lies),
]
SIGNS = [(1, 1), (-1, 0.1), (1, -1), (-1, -1), (-1, 1), (1, -1), (1, 0.01), (0.5, 3), (3, -0.5)]


@pytest.mark.sampled(4)
@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("program", PROGRAMS)
@pytest.mark.filterwarnings("ignore:.*is not compiled")
def test_what_is_hidden_belongs_to_the_state(program, backend):
    x = wg.tensor([1.0, 2.0, 0.1])
    compiled = wg.compile(program, backend=backend)
    for mine, yours in SIGNS * 2:
        found, expected = compiled(x * mine, x * yours), program(x * mine, x * yours)
        assert str(found) == str(expected)


class Shrinks:
    """Shrinks with each use: the same part is another one when it is met again."""

    def __init__(self, x: Any) -> None:
        self.x = x

    def __repr__(self) -> str:
        self.x.mul_(0.8)
        return "large" if self.x.sum() > 1 else "small"


def shrunk(self: Any, *_: Any) -> int:
    self.x.mul_(0.8)
    return 1 if self.x.sum() > 1 else 0


def in_array(parts: list[Any]) -> Any:
    made = np.empty(len(parts), object)
    made[:] = parts
    return made


OF_PARTS = {
    "mine == mine[::-1]": "__eq__",
    "[*mine] != [*yours]": "__eq__",
    "eq(mine, yours)": "__eq__",
    "mine.__eq__(yours)": "__eq__",
    "dict(enumerate(mine)) == dict(enumerate(yours))": "__eq__",
    "slice(*mine) == slice(*yours)": "__eq__",
    "types.SimpleNamespace(a=mine) == types.SimpleNamespace(a=yours)": "__eq__",
    "in_array(mine) == 1": "__eq__",
    "in_array(mine) > 1": "__gt__",
    "in_array(mine) + 1": "__add__",
    "add(in_array(mine), 1)": "__add__",
    "-in_array(mine)": "__neg__",
    "abs(in_array(mine))": "__abs__",
    "repr(mine)": "__str__",
    "'%d %d %d' % (*mine,)": "__int__",
}


@pytest.mark.parametrize("text", OF_PARTS)
def test_the_parts_of_an_operand_whose_methods_run_are_hidden(text):
    # while the method of a part runs, C code holds which part it is
    method = types.FunctionType(shrunk.__code__.replace(co_name=OF_PARTS[text]), globals())
    space = {**globals(), "kind": type("Shrinking", (Shrinks,), {OF_PARTS[text]: method})}
    for name, parts in (("mine", "a, b, a"), ("yours", "b, b, b")):
        text = text.replace(name, f"[*map(kind, ({parts}))]")
    exec(f"def f(x):\n    a, b = x * 1, x * 2\n    return str({text}), a + b", space)
    compiled = wg.compile(space["f"], backend="numpy", options={"quiet": True})
    for value in (0.1, 0.3, 0.5, 0.6, 0.62, 0.64, 1.0, 1.5, 2.0, 2.5, 3.0, 4.0, 0.7, 10.0):
        x = wg.tensor([value, value])
        assert str(compiled(x)) == str(space["f"](x))


def traces_of(function: Callable[..., Any], *calls: Any) -> int:
    compiled = wg.compile(function, backend="numpy")
    for args in calls:
        assert str(compiled(*args)) == str(function(*args))
    return compiled.explain().traces


def test_a_loop_in_a_context_is_one():
    def f(x):
        with wg.no_grad():
            while x.sum() < 500:
                x = x * 1.1
        return x

    assert traces_of(f, *[(wg.ones(2) * n,) for n in (1, 2, 3, 4, 5, 6)]) <= 2


def test_a_loop_in_a_function_that_an_operand_waits_for_is_one():
    def f(x):
        return [len(x.shape), grow(x)]

    assert traces_of(f, *[(wg.ones(2) * n,) for n in (1, 2, 0.5, 0.1, 0.01, 6)]) <= 2


def test_copies_of_instructions_are_known_by_what_they_do():
    def f(a, b, c):
        while a and b:
            c()
        while True:
            try:
                if c():
                    break
            finally:
                a()

    steps = instructions_of(f.__code__)[0]
    firsts: dict[Any, set[int]] = {}
    for k, step in enumerate(steps):
        if step.opname.startswith("LOAD_FAST"):
            firsts.setdefault(step.positions, set()).add(first_alike(f.__code__, k))
    counts = sorted(len(places) for places in firsts.values())
    # the test of the loop is one; the body of `finally` goes on in three ways
    assert counts[:-1] == [1] * (len(counts) - 1)
    assert counts[-1] == (3 if sys.version_info < (3, 12) else counts[-1]) > 1


def in_a_box(box: list[Any]) -> Any:
    while box[0].sum() < 10:
        if box[0].max() > 7:
            raise Carried
        box[0] = box[0] * 1.5
    return box[0]


def in_the_same_box(box: list[Any]) -> Any:
    if box[0].max() > 2:
        box[0].mul_(0.5)
        box[0] = box[0] * 1
    return in_a_box(box)


def with_the_first(box: list[Any]) -> Any:
    return box[0] + in_a_box(box)


def with_the_first_halved(box: list[Any]) -> Any:
    return box[0] + in_the_same_box(box)


def in_another_list(box: list[Any]) -> Any:
    if box[1][0].max() > 2:
        box[1].append(1.0)
    box[1] = [box[1][0] * 1]
    return [in_a_box(box[1])]


def with_the_list(box: list[Any]) -> Any:
    return box[1] + in_another_list(box)


@pytest.mark.parametrize("outer", [with_the_first, with_the_first_halved, with_the_list])
def test_a_variable_may_show_what_is_on_the_stack_at_first_and_another_value_later(outer):
    def f(x, count):
        while count < 3:
            count = count + 1
        box = [x * 2, [x * 2]]
        try:
            return outer(box)
        except Carried:
            return x

    starts = [
        (6, 0),
        (1.5, -1.45),
        (0.5, 0.25),
        (1.5, 0.75),
        (2, -1),
        (3.6, -3),
        (2, 1),
        (1, 1),
        (1, 0.3),
        (5, -9),
        (1.5, 0.6),
        (4, 0),
    ]
    traces_of(f, *[(wg.tensor([*map(float, start)]), wg.tensor(0.0)) for start in starts])


def sought_by_a_comprehension(x: Any) -> Any:
    return tuple([grow(part * part) for part in x.exp()])


def sought_in_turns(x: Any) -> Any:
    total = x * 0
    for part, step in zip(x.exp() - 1, (x + 1).square(), strict=True):
        total = total + grow(part * step) * step
    return total, x


def sought_by_an_operand(x: Any) -> Any:
    return (x.exp(), grow(x), x.sin() - grow(x * 0.1) * grow(x.cos()), x + 1)


def sought_by_nested_calls(x: Any) -> Any:
    def inner(y: Any) -> Any:
        return y.exp() + grow(y * x) * grow(y)

    return wg.stack([inner(part) - part for part in (x * 0.1).unbind()]).sum(), inner(x)


def slope(f: Callable[[Any], Any], x: Any) -> Any:
    return wg.stack([wg.func.jvp(f, (x,), (part,))[1] for part in wg.eye(2)])


def least(f: Callable[[Any], Any], x: Any) -> Any:
    while (found := slope(f, x)).square().sum() > 0.01:
        x = x - 0.2 * found
    return x


def sought_by_derivatives_of_loops(x: Any) -> Any:
    def outer(y: Any) -> Any:
        def inner(z: Any) -> Any:
            return (z - y).square().sum()

        return y.square().sum() + 0.1 * least(inner, y + 1).sum()

    return least(outer, x), outer(x)


SOUGHT = [
    *(sought_by_a_comprehension, sought_in_turns, sought_by_an_operand, sought_by_nested_calls),
    sought_by_derivatives_of_loops,
]


@pytest.mark.sampled(2)
@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("f", SOUGHT)
def test_what_is_on_the_stack_is_handed_on_from_loop_to_loop(f, backend):
    compiled = wg.compile(f, backend=backend)
    few = wg.tensor([0.7, 1.2])
    for start in (few, few * 0.3, few * 0.01, few * 1e-4, few * 1e-7, few * 2, few * 0.05):
        assert all(map(wg.allclose, compiled(start), f(start)))
    # each turn of a loop on its own would be a block
    ((_, entry),) = compiled.entries
    assert entry.tree.by_states
    assert len(entry.tree.blocks()) < 30
    if backend == "llvm":
        assert entry.tree.native


def test_memory_on_the_stack_that_is_written_to_meanwhile_is_not_handed_on():
    def halve(box):
        if box[1].sum() > 0:
            box[0].mul_(0.5)
            box[0] = box[0] * 1
        return grow(box[1])

    def f(x):
        box = [x * 2, x + 1]
        return box[0] + halve(box), box[0] - grow(x * 0.1)

    traces_of(f, *[(wg.tensor([a, 0.1]),) for a in (0.2, -3.0, 0.01, -2.0, 1.0, -1.05, -1.15, 9.0)])


def test_histories_on_the_stack_reach_their_gradients():
    def f(x):
        return (x.exp() * grow(x * 0.1) + wg.stack([grow(part * x) for part in x]).sum(0)).sum()

    compiled = wg.compile(f, backend="numpy")
    for scale in (1.0, 0.1, 2.0, 0.01, 1.5):
        x = (wg.tensor([0.7, 1.2]) * scale).requires_grad_()
        (mine,), (yours,) = wg.autograd.grad(compiled(x), x), wg.autograd.grad(f(x), x)
        assert wg.allclose(mine, yours)
        # of the graph without histories, too
        assert wg.allclose(compiled(x.detach()), f(x))


def of_functions_made_in_it(x: Any, y: Any) -> Any:
    def more(t: Any) -> Any:
        while t.sum() < 5:
            t = t.abs() * 1.5 + 0.1 if t.max() > y.min() else t + 1
        return t

    return more(x), more(y * 0.1), more(x * 0.01) + y


def of_functions_whose_variables_are_bound_again(x: Any, y: Any) -> Any:
    steps, made = 0, []
    for part in (x, y, x * y):
        made.append(lambda t, part=part: t + grow(part * steps))  # noqa: B023  # meant
        steps = steps + 1 + (part.sum() > 0) * 1.0
    inner = made[0] if x.sum() > 0 else made[1]
    z = grow(y)
    steps = steps + z

    def change() -> Any:
        nonlocal steps
        while steps.sum() < 30:
            steps = steps + inner(z)
        return steps

    return change() + inner(x), steps, made[2](y)


def of_functions_of_two_calls(x: Any, y: Any) -> Any:
    def made(z: Any, other: Any = None) -> Any:
        def inner() -> Any:
            return z * 2

        if other is None:
            return made(z, inner)
        told = inner if y.sum() > 0 else other
        t = grow(x)
        z = z + t
        return told() + grow(z * 0.1) * t

    return made(x), made(y)


@pytest.mark.parametrize(
    ("program", "is_graph"),
    [
        (of_functions_made_in_it, True),
        (of_functions_whose_variables_are_bound_again, False),
        (of_functions_of_two_calls, False),
    ],
)
@pytest.mark.filterwarnings("ignore:.*is not compiled")
def test_functions_made_in_another_run_are_the_same_if_their_variables_are_bound_once(
    program, is_graph
):
    x = wg.tensor([1.0, 2.0, 0.1])
    compiled = wg.compile(program, backend="numpy")
    for mine, yours in SIGNS * 2:
        assert str(compiled(x * mine, x * yours)) == str(program(x * mine, x * yours))
    assert compiled.entries[0][1].tree.by_states == is_graph


def test_a_variable_of_a_function_is_bound_once_or_not():
    def made(given):
        once = given * 2
        again = once

        def reads():
            return given, once

        def changes():
            nonlocal again
            again = again + 1

        def sees():
            return again

        looped = []
        for part in range(2):
            looped.append(lambda: part)  # noqa: B023  # meant
        return reads, sees, looped[0], changes

    reads, sees, looped, changes = made(1)
    settled = [is_settled(one, [made.__code__]) for one in (reads, sees, looped, changes)]
    assert settled == [True, False, False, False]
    # what made it is looked up by its name, or else unknown
    assert is_settled(reads, [])
    lost = types.FunctionType(reads.__code__, {}, closure=reads.__closure__)
    assert not is_settled(lost, [])


def test_a_name_that_is_given_again_means_the_newer_value():
    old, new, other = (Value(np.dtype(float), ()) for _ in range(3))
    names = Names()
    names.give(7, [old, other])
    before = names.now()
    names.give(7, [new, other])
    after = names.now()
    assert [before.find(v) for v in (old, new, other)] == [((7, 0), 0), None, ((7, 1), 0)]
    assert [after.find(v) for v in (old, new, other)] == [((7, 0), 1), ((7, 0), 0), ((7, 1), 0)]
    assert [after.value(((7, 0), later)) for later in range(3)] == [new, old, None]
    assert before.value(((7, 0), 0)) is old
