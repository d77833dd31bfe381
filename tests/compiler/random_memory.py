"""The grammar of random worlds: state outside of functions, and shared memory.

In a `Held`, ``{s}`` is an expression for the object, and ``{n}`` a small integer. `reads` are
expressions for numbers, `writes` statements that change the object in a call, `changes` statements
between calls, and `look` is compared after each call. A write that rebinds the name itself declares
this by ``rebinds``.
"""

from __future__ import annotations

import re
from typing import NamedTuple

__all__ = [
    *(
        "ARRAYS",
        "ARRAY_WRITES",
        "ENDS",
        "FAILS",
        "HELD",
        "LIBRARIES",
        "REFUSED",
        "SHARED",
        "SNAPSHOTS",
    ),
    *("WRITES", "Held"),
]

LIBRARIES = """
import array, collections, contextvars, copy, ctypes, dataclasses, datetime, decimal, enum
import fractions, functools, inspect, itertools, logging, math, operator, pathlib, random, re
import threading, types, uuid, weakref


class Slots:
    __slots__ = ("a", "b")

    def __init__(self, a, b):
        self.a, self.b = a, b


class Plain:
    shared = 1.0

    def __init__(self, a):
        self.a = a

    @property
    def twice(self):
        return self.a * 2

    @functools.cached_property
    def kept(self):
        return self.a * 3

    def step(self):
        self.a += 1


class Ticking:
    def __init__(self):
        self.n = 0

    def __call__(self):
        self.n += 1
        return float(self.n)

    def __getitem__(self, key):
        return self.n + key

    def __len__(self):
        return self.n


class Mine(dict):
    def __missing__(self, key):
        return 0.5


class Row(list):
    extra = 1.0


@dataclasses.dataclass
class Record:
    a: float = 1.0
    b: list = dataclasses.field(default_factory=list)


class Level(enum.Enum):
    LOW = 1.0
    HIGH = 2.0


def counter(start):
    count = start

    def tell():
        return count

    def step():
        nonlocal count
        count += 1

    return tell, step


def generator(n):
    while True:
        yield n
        n += 1
"""


class Held(NamedTuple):
    """A kind of object with a state (see above)."""

    make: str
    reads: tuple[str, ...]
    writes: tuple[str, ...] = ()
    changes: tuple[str, ...] = ()
    look: str = "repr({s})"
    rebinds: bool = False


HELD: dict[str, Held] = {
    "int": Held("{n}", ("{s}", "-{s}"), ("{s} += 1",), ("{s} = {s} + turn",), rebinds=True),
    "float": Held("{n}.5", ("{s}",), ("{s} = {s} * 0.5 + 1",), ("{s} += 0.25",), rebinds=True),
    "bool": Held(
        "True", ("(1.0 if {s} else 2.0)",), ("{s} = not {s}",), ("{s} = not {s}",), rebinds=True
    ),
    "str": Held(
        "'ab'",
        ("len({s})", "(1.0 if {s}[0] == 'a' else 3.0)"),
        ("{s} += 'c'",),
        ("{s} = 'b' + {s}",),
        rebinds=True,
    ),
    "none": Held(
        "None",
        ("(1.0 if {s} is None else 2.0)",),
        ("{s} = 1 if {s} is None else None",),
        ("{s} = None if {s} else 2",),
        rebinds=True,
    ),
    "tuple": Held(
        "({n}, 2.0)",
        ("{s}[0]", "len({s})"),
        ("{s} = ({s}[0] + 1, 2.0)",),
        ("{s} += (1.5,)",),
        rebinds=True,
    ),
    "list": Held(
        "[{n}, 2.0]",
        ("{s}[0]", "len({s})", "sum({s})", "{s}[-1]", "max({s})"),
        ("{s}.append(0.5)", "{s}[0] += 1", "{s}.reverse()", "{s}.pop() if len({s}) > 1 else None"),
        ("{s}[0] = turn + 0.5", "{s}.insert(0, turn)", "{s}[:] = [1.0, turn]"),
    ),
    "logger": Held(
        "logging.Logger('held', {n})",
        ("{s}.level", "(1.0 if {s}.isEnabledFor(2) else 0.5)", "len({s}.name)"),
        ("{s}.setLevel({s}.level + 1)", "{s}.name += 'n'"),
        ("{s}.setLevel(turn)",),
    ),
    "nested": Held(
        "{{'a': [{{'b': {n}}}]}}",
        ("{s}['a'][0]['b']", "len({s}['a'])"),
        ("{s}['a'][0]['b'] += 1", "{s}['a'].append({{'b': 1}})"),
        ("{s}['a'][0]['b'] = turn",),
    ),
    "dict": Held(
        "{{'a': {n}, 2: 1.5}}",
        ("{s}['a']", "len({s})", "{s}.get('b', 0.5)", "sum({s}.values())"),
        ("{s}['a'] += 1", "{s}['b'] = 2.0", "{s}.pop('b', None)", "{s}.update(a=0.5)"),
        ("{s}['a'] = turn", "{s}[turn] = 1.0"),
    ),
    "set": Held(
        "{{1, {n}}}",
        ("len({s})", "(1.0 if 2 in {s} else 0.5)"),
        ("{s}.add(2)", "{s}.discard(1)", "{s}.symmetric_difference_update({{2}})"),
        ("{s}.add(turn + 5)",),
        "sorted({s})",
    ),
    "two names of one object": Held(
        "[Plain({n}), Plain({n})]",
        (
            *("(2.0 if {s}[0] is {s}[1] else 1.0)", "(2.0 if {s}[0] == {s}[-1] else 1.0)"),
            *("{{{s}[0]: 0.5}}.get({s}[1], 1.5)", "len({{*{s}}})", "{s}.index({s}[-1])"),
            "(2.0 if {s}[-1] in {s}[:1] else 1.0)",
        ),
        ("{s}[1] = {s}[0]", "{s}.append({s}[0])", "{s}[0] = Plain({s}[0].a)"),
        ("{s}[1] = {s}[0]", "{s}[0] = Plain({s}[0].a)", "{s}[-1] = {s}[0]"),
        "[(one.a, {s}.index(one)) for one in {s}]",
    ),
    "two names of one list": Held(
        "[[{n}], [{n}], []]",
        (
            *("(2.0 if {s}[0] is {s}[1] else 1.0)", "(2.0 if {s}[-1] is {s}[1] else 1.0)"),
            "operator.is_(*copy.deepcopy({s}[:2])) + 1.0",
        ),
        ("{s}[1] = {s}[0]", "{s}[0] = list({s}[0])"),
        ("{s}[1] = {s}[0]", "{s}[0] = [*{s}[0]]", "{s}[-1] = {s}[1] = []"),
        "[(one, [one is other for other in {s}]) for one in {s}]",
    ),
    "deque": Held(
        "collections.deque([{n}, 1.5, 2.0])",
        ("{s}[0]", "len({s})", "sum({s})"),
        ("{s}.append(0.5)", "{s}.rotate(1)", "{s}[0] += 1", "{s}.appendleft({s}.pop())"),
        ("{s}.append(turn)", "{s}.rotate(1)"),
    ),
    "bounded deque": Held(
        "collections.deque([{n}, 1.5], maxlen=2)",
        ("{s}[0]", "sum({s})"),
        ("{s}.append(0.5)",),
        ("{s}.append(turn)",),
    ),
    "namespace": Held(
        "types.SimpleNamespace(a={n}, b=1.0)",
        ("{s}.a", "{s}.a + {s}.b"),
        ("{s}.a += 1", "{s}.b = {s}.b * 0.5"),
        ("{s}.a = turn",),
    ),
    "chain map": Held(
        "collections.ChainMap({{'a': {n}}}, {{'b': 2.0}})",
        ("{s}['a']", "{s}['b']", "len({s})"),
        ("{s}['a'] += 1", "{s}.maps[1]['b'] += 1", "{s}['c'] = 1"),
        ("{s}.maps[1]['b'] = turn",),
    ),
    "user dict": Held(
        "collections.UserDict(a={n})",
        ("{s}['a']", "len({s})"),
        ("{s}['a'] += 1",),
        ("{s}['a'] = turn",),
    ),
    "user list": Held(
        "collections.UserList([{n}, 1.0])",
        ("{s}[0]", "len({s})"),
        ("{s}.append(1)", "{s}[0] += 1"),
        ("{s}[0] = turn",),
    ),
    "ordered dict": Held(
        "collections.OrderedDict(a={n}, b=1.0)",
        ("{s}['a']", "next(iter({s}.values()))", "(1.0 if list({s})[0] == 'a' else 2.0)"),
        ("{s}['a'] += 1", "{s}.move_to_end('a')"),
        ("{s}.move_to_end('a')",),
    ),
    "default dict": Held(
        "collections.defaultdict(float, a={n})",
        ("{s}['a']", "{s}['z']", "len({s})"),
        ("{s}['a'] += 1", "{s}['q'] += 0.5"),
        ("{s}['a'] = turn",),
    ),
    "counter": Held(
        "collections.Counter('aab')",
        ("{s}['a']", "{s}['z']", "len({s})"),
        ("{s}['a'] += 1", "{s}.update('b')"),
        ("{s}.update('aa')",),
    ),
    "context variable": Held(
        "contextvars.ContextVar('v', default={n}.0)",
        ("{s}.get()", "{s}.get(0.5)"),
        ("{s}.set({s}.get() + 1)",),
        ("{s}.set(float(turn))",),
        "{s}.get()",
    ),
    "token": Held(
        "contextvars.ContextVar('v').set({n}.0)",
        ("{s}.var.get()", "{s}.old_value is {s}.MISSING"),
        ("{s}.var.set({s}.var.get() + 1)",),
        ("{s}.var.set(float(turn))",),
        "{s}.var.get()",
    ),
    "array": Held(
        "array.array('d', [{n}, 1.0])",
        ("{s}[0]", "len({s})", "sum({s})"),
        ("{s}[0] += 1", "{s}.append(0.5)"),
        ("{s}[1] = turn",),
    ),
    "bytearray": Held(
        "bytearray([{n}, 2])",
        ("{s}[0]", "len({s})", "sum({s})"),
        ("{s}[0] += 1", "{s}.append(1)"),
        ("{s}[1] = turn",),
    ),
    "memoryview": Held(
        "memoryview(bytearray([{n}, 2]))",
        ("{s}[0]", "len({s})"),
        ("{s}[0] += 1",),
        ("{s}[1] = turn",),
        "bytes({s})",
    ),
    "slots": Held(
        "Slots({n}, 1.5)",
        ("{s}.a", "{s}.a * {s}.b"),
        ("{s}.a += 1", "{s}.b = 2.0"),
        ("{s}.a = turn",),
        "({s}.a, {s}.b)",
    ),
    "object": Held(
        "Plain({n})",
        ("{s}.a", "{s}.twice", "{s}.shared", "getattr({s}, 'a')", "{s}.kept"),
        ("{s}.a += 1", "{s}.step()", "setattr({s}, 'a', 0.5)", "{s}.__dict__['a'] = 2.5"),
        ("{s}.a = turn", "{s}.shared = turn", "vars({s})['a'] = turn"),
        "vars({s})",
    ),
    "class": Held(
        "type('Kind', (), {{'a': {n}, 'b': [1.0]}})",
        ("{s}.a", "{s}.b[0]"),
        ("{s}.a += 1", "{s}.b[0] += 1"),
        ("{s}.a = turn",),
        "({s}.a, {s}.b)",
    ),
    "callable object": Held(
        "Ticking()", ("{s}()", "{s}[1]", "len({s})"), ("{s}()",), ("{s}()",), "{s}.n"
    ),
    "subclass of dict": Held(
        "Mine(a={n})",
        ("{s}['a']", "{s}['none']"),
        ("{s}['a'] += 1", "{s}['none'] = 1"),
        ("{s}['a'] = turn",),
    ),
    "subclass of list": Held(
        "Row([{n}, 1.0])",
        ("{s}[0]", "len({s})", "{s}.extra"),
        ("{s}.append(1)", "{s}.extra = 2.0"),
        ("{s}.extra = turn", "{s}[0] = turn"),
        "(list({s}), {s}.extra)",
    ),
    "dataclass": Held(
        "Record({n}.0, [1.0])",
        ("{s}.a", "{s}.b[0]", "len({s}.b)"),
        ("{s}.a += 1", "{s}.b.append(2.0)"),
        ("{s}.a = float(turn)",),
    ),
    "enum": Held(
        "Level.LOW",
        ("{s}.value",),
        ("{s} = Level.HIGH if {s} is Level.LOW else Level.LOW",),
        ("{s} = Level.HIGH",),
        rebinds=True,
    ),
    "factory closure": Held(
        "counter({n})", ("{s}[0]()",), ("{s}[1]()",), ("{s}[1]()",), "{s}[0]()"
    ),
    "lru cache": Held(
        "(lambda table: (functools.lru_cache(lambda k: table[k]), table))([{n}, 1.0])",
        ("{s}[0](0)", "{s}[0](1)", "{s}[1][0]"),
        ("{s}[1][0] += 1", "{s}[0].cache_clear()"),
        ("{s}[1][0] = turn\n{s}[0].cache_clear()", "{s}[1][1] = turn"),
        "({s}[1], {s}[0].cache_info().currsize)",
    ),
    "iterator": Held(
        "iter(range({n}, 9999))",
        ("next({s})",),
        ("next({s})",),
        ("next({s})",),
        "{s}.__reduce__()[1:]",
    ),
    "generator": Held(
        "generator({n})",
        ("next({s})",),
        ("next({s})",),
        ("next({s})",),
        "{s}.gi_frame.f_locals['n']",
    ),
    "count": Held("itertools.count({n})", ("next({s})",), ("next({s})",), ("next({s})",)),
    "random": Held(
        "random.Random({n})",
        ("{s}.random()",),
        ("{s}.random()",),
        ("{s}.seed(turn)",),
        "hash({s}.getstate())",
    ),
    "numpy generator": Held(
        "np.random.default_rng({n})",
        ("{s}.random()", "float({s}.standard_normal())"),
        ("{s}.random()",),
        ("{s}.random()",),
        "str({s}.bit_generator.state)",
    ),
    "partial": Held(
        "functools.partial(lambda box, k: box[0] + k, [{n}], k=1)",
        ("{s}()",),
        ("{s}.args[0][0] += 1", "{s}.keywords['k'] = 2"),
        ("{s}.args[0][0] = turn",),
        "({s}.args, {s}.keywords)",
    ),
    "bound method": Held(
        "[{n}, 1.0].copy",
        ("{s}()[0]",),
        ("{s}.__self__[0] += 1",),
        ("{s}.__self__[0] = turn",),
        "{s}()",
    ),
    "function attribute": Held(
        "types.FunctionType(counter.__code__, {{}}, 'g')",
        ("getattr({s}, 'n', 0.5)",),
        ("{s}.n = getattr({s}, 'n', 0.5) + 1",),
        ("{s}.n = turn",),
        "vars({s})",
    ),
    "function code": Held(
        "eval('lambda: 1.0')",
        ("{s}()",),
        ("{s}.__code__ = (lambda: 2.0).__code__",),
        ("{s}.__code__ = [(lambda: 3.0), (lambda: 4.0)][turn % 2].__code__",),
        "{s}()",
    ),
    "function default": Held(
        "eval('lambda q=1.0: q')",
        ("{s}()",),
        ("{s}.__defaults__ = (2.0,)",),
        ("{s}.__defaults__ = (turn + 0.5,)",),
        "{s}()",
    ),
    "module": Held(
        "types.ModuleType('some')",
        ("getattr({s}, 'v', 0.5)",),
        ("{s}.v = getattr({s}, 'v', 0.5) + 1",),
        ("{s}.v = turn",),
        "vars({s}).get('v')",
    ),
    "weak reference": Held(
        "(lambda o: (weakref.ref(o), o))(Plain({n}))",
        ("{s}[0]().a",),
        ("{s}[0]().a += 1",),
        ("{s}[1].a = turn",),
        "{s}[1].a",
    ),
    "ctypes": Held(
        "ctypes.c_double({n})",
        ("{s}.value",),
        ("{s}.value += 1",),
        ("{s}.value = turn",),
        "{s}.value",
    ),
    "ctypes array": Held(
        "(ctypes.c_int * 2)({n}, 1)",
        ("{s}[0]",),
        ("{s}[0] += 1",),
        ("{s}[1] = turn\n{s}[0] = turn",),
        "list({s})",
    ),
    "decimal": Held(
        "decimal.Decimal({n})",
        ("float({s})",),
        ("{s} += 1",),
        ("{s} = decimal.Decimal(turn)",),
        rebinds=True,
    ),
    "fraction": Held(
        "fractions.Fraction({n}, 3)",
        ("float({s})",),
        ("{s} += 1",),
        ("{s} = fractions.Fraction(turn, 2)",),
        rebinds=True,
    ),
    "thread local": Held(
        "(lambda t: (setattr(t, 'a', {n}), t)[1])(threading.local())",
        ("{s}.a",),
        ("{s}.a += 1",),
        ("{s}.a = turn",),
        "{s}.a",
    ),
    "mapping proxy": Held(
        "(lambda d: (types.MappingProxyType(d), d))({{'a': {n}}})",
        ("{s}[0]['a']", "len({s}[0])"),
        ("{s}[1]['a'] += 1",),
        ("{s}[1]['a'] = turn",),
        "{s}[1]",
    ),
    "dict view": Held(
        "(lambda d: (d.values(), d))({{'a': {n}}})",
        ("sum({s}[0])", "len({s}[0])"),
        ("{s}[1]['a'] += 1", "{s}[1]['b'] = 1"),
        ("{s}[1]['a'] = turn",),
        "{s}[1]",
    ),
    "exception": Held(
        "ValueError({n}, 1.0)",
        ("{s}.args[0]",),
        ("{s}.args = ({s}.args[0] + 1,)",),
        ("{s}.args = (turn,)",),
    ),
    "named tuple": Held(
        "Pair({n}, [1.0])",
        ("{s}.first", "{s}.second[0]"),
        ("{s}.second[0] += 1",),
        ("{s}.second[0] = turn",),
    ),
    "cell": Held(
        "types.CellType({n})",
        ("{s}.cell_contents",),
        ("{s}.cell_contents += 1",),
        ("{s}.cell_contents = turn",),
        "{s}.cell_contents",
    ),
    "numpy scalar": Held(
        "np.float64({n})",
        ("{s}", "float({s})", "{s}.item()"),
        ("{s} = {s} + 1",),
        ("{s} = np.float64(turn)",),
        rebinds=True,
    ),
    "dtype": Held(
        "wg.float32",
        ("{s}.itemsize", "(1.0 if {s} is wg.float32 else 2.0)"),
        ("{s} = wg.float64 if {s} is wg.float32 else wg.float32",),
        ("{s} = wg.float16 if turn % 2 else wg.float64",),
        rebinds=True,
    ),
    "numpy array": Held(
        "np.array([{n}, 1.0, 2.0])",
        (
            "{s}[0]",
            "{s}.sum()",
            "float({s}.max())",
            "{s}.item(0)",
            "len({s})",
            "int({s}[0])",
            "{s} @ {s}",
            "np.dot({s}, {s})",
            "{s}.mean()",
            "{s}.tolist()[0]",
            "np.sum({s})",
        ),
        (
            "{s}[0] += 1",
            "{s}.sort()",
            "{s}.fill(0.5)",
            "np.add({s}, 1, out={s})",
            "{s} += 1",
            "{s}[:] = {s}[::-1].copy()",
            "{s}[{s} > 1] = 0.5",
            "np.copyto({s}, 1.5)",
            "wg.from_numpy({s}).add_(1)",
            "np.random.default_rng(0).shuffle({s})",
        ),
        ("{s}[0] = turn", "{s}[:] *= 1.5", "{s}[:] = turn", "{s}[-1] += 1"),
        "{s}.copy()",
    ),
    "integer array": Held(
        "np.array([{n}, 1, 2])",
        ("{s}[0]", "{s}.max()", "int({s}.sum())"),
        ("{s}[0] += 1", "{s}.sort()"),
        ("{s}[0] = turn",),
        "{s}.copy()",
    ),
    "object array": Held(
        "np.array([{n}, [1.0]], dtype=object)",
        ("{s}[0]", "{s}[1][0]"),
        ("{s}[0] += 1", "{s}[1][0] += 1"),
        ("{s}[0] = turn",),
        "{s}.tolist()",
    ),
    "structured array": Held(
        "np.array([({n}, 1.5)], dtype=[('a', 'f8'), ('b', 'f8')])",
        ("{s}['a'][0]", "{s}[0]['b']"),
        ("{s}['a'] += 1",),
        ("{s}['b'] = turn",),
        "{s}.tolist()",
    ),
    "zero-dimensional array": Held(
        "np.array({n}.0)",
        ("{s}.item()", "float({s})", "{s}[()]"),
        ("{s}[...] += 1", "{s} += 1"),
        ("{s}[...] = turn",),
        "{s}.copy()",
    ),
    "large array": Held(
        "np.full(20_000, {n}.0)",
        ("{s}[0]", "{s}[-1]"),
        ("{s}[0] += 1",),
        ("{s}[-1] = turn",),
        "{s}[[0, -1]]",
    ),
    "array view": Held(
        "(lambda a: (a[1:], a))(np.array([{n}, 1.0, 2.0]))",
        ("{s}[0][0]", "{s}[0].sum()"),
        ("{s}[1][1] += 1", "{s}[0][0] += 1"),
        ("{s}[1][1] = turn",),
        "{s}[1].copy()",
    ),
    "tensor in a deque": Held(
        "collections.deque([wg.ones(2), wg.tensor({n}.0)])",
        ("{s}[0].sum()", "{s}[1].item()"),
        ("{s}.rotate(1)", "{s}[0].add_(1)", "{s}.append(wg.ones(2))\n{s}.popleft()"),
        ("{s}[0] = wg.full((2,), turn + 0.5)",),
        "[t.tolist() for t in {s}]",
    ),
    "tensor in a namespace": Held(
        "types.SimpleNamespace(w=wg.tensor([{n}.0, 1.0]))",
        ("{s}.w.sum()", "{s}.w[0]"),
        ("{s}.w.mul_(0.5)", "{s}.w = {s}.w + 1", "{s}.w[0] = 2.0"),
        ("{s}.w = wg.ones(2) * turn",),
        "{s}.w.tolist()",
    ),
    "tensor in slots": Held(
        "Slots(wg.tensor([{n}.0, 1.0]), 0)",
        ("{s}.a.sum()",),
        ("{s}.a.mul_(0.5)", "{s}.a = {s}.a + 1"),
        ("{s}.a = wg.ones(2) * turn",),
        "{s}.a.tolist()",
    ),
    "tensor in an object array": Held(
        "np.array([wg.tensor({n}.0), None], dtype=object)",
        ("{s}[0].item()", "{s}[0] * 1"),
        ("{s}[0] = {s}[0] + 1",),
        ("{s}[0] = wg.tensor(float(turn))",),
        "{s}[0].item()",
    ),
    "getters": Held(
        "(lambda o, n: (o.itemgetter(0), o.attrgetter('real'), o.methodcaller('copy'), [n]))"
        "(operator, {n})",
        ("{s}[0]({s}[3])", "{s}[2]({s}[3])[0]", "{s}[1]({s}[3][0])"),
        ("{s}[3][0] += 1",),
        ("{s}[3][0] = turn",),
        "{s}[3]",
    ),
    "dict keys": Held(
        "(lambda d: (d.keys(), d))({{'a': {n}}})",
        ("len({s}[0])", "(1.0 if 'b' in {s}[0] else 2.0)"),
        ("{s}[1]['b'] = 1",),
        ("{s}[1][turn] = 1",),
        "{s}[1]",
    ),
    "dict items": Held(
        "(lambda d: (d.items(), d))({{'a': {n}}})",
        ("sum(v for _, v in {s}[0])", "len({s}[0])"),
        ("{s}[1]['a'] += 1",),
        ("{s}[1]['a'] = turn",),
        "{s}[1]",
    ),
    **{
        f"iterator of {what}": Held(
            made,
            (read.format(),),
            ("next({s}, 0)",),
            ("next({s}, 0)",),
            # how far the list has come that pairs are taken from
            "{s}.__reduce__()[1][0].__reduce__()[1:]"
            if what in ("pairs", "two lists")
            else "{s}.__reduce__()[1:]",
        )
        for what, made, read in (
            ("a list", "iter([{n}] * 30 + [2.0] * 30)", "next({{s}}, 0.5)"),
            ("a list backwards", "reversed([1.0, {n}] * 30)", "next({{s}}, 0.5)"),
            ("a tuple", "iter((1.0, {n}) * 30)", "next({{s}}, 0.5)"),
            ("a long range", "iter(range(1 << 70, (1 << 70) + 60))", "float(next({{s}}) % 7)"),
            ("a text", "iter('abcdef' * 9)", "ord(next({{s}})) % 5"),
            ("pairs", "enumerate(iter([{n}] * 60))", "next({{s}})[0]"),
            ("two lists", "zip([{n}] * 60, range(60))", "next({{s}})[1]"),
        )
    },
    **{
        f"value of {what}": Held(made, (read,), (f"{{s}} = {other}",), (change,), rebinds=True)
        for what, made, read, other, change in (
            (
                "a date",
                "datetime.date(2020, 1, {n})",
                "{s}.day",
                "datetime.date(2020, 1, 9)",
                "{s} = datetime.date(2020, 1, turn)",
            ),
            (
                "a moment",
                "datetime.datetime(2020, 1, {n})",
                "{s}.day",
                "datetime.datetime(2020, 1, 9)",
                "{s} = datetime.datetime(2020, 1, turn)",
            ),
            (
                "a time of day",
                "datetime.time({n})",
                "{s}.hour",
                "datetime.time(5)",
                "{s} = datetime.time(turn)",
            ),
            (
                "a span",
                "datetime.timedelta({n})",
                "{s}.days",
                "datetime.timedelta(5)",
                "{s} = datetime.timedelta(turn)",
            ),
            (
                "a time zone",
                "datetime.timezone(datetime.timedelta(hours={n}))",
                "{s}.utcoffset(None).seconds / 3600",
                "datetime.timezone.utc",
                "{s} = datetime.timezone(datetime.timedelta(hours=turn))",
            ),
            (
                "a path",
                "pathlib.PurePosixPath('a' * {n})",
                "len({s}.name)",
                "pathlib.PureWindowsPath('bbbb')",
                "{s} = pathlib.PurePosixPath('c' * turn)",
            ),
            (
                "a Windows path",
                "pathlib.PureWindowsPath('a' * {n})",
                "len(str({s}))",
                "pathlib.PureWindowsPath('bbbb')",
                "{s} = pathlib.PureWindowsPath('c' * turn)",
            ),
            (
                "a pattern",
                "re.compile('a' * {n})",
                "len({s}.pattern)",
                "re.compile('bbbb')",
                "{s} = re.compile('c' * turn)",
            ),
            (
                "an identifier",
                "uuid.UUID(int={n})",
                "{s}.int",
                "uuid.UUID(int=5)",
                "{s} = uuid.UUID(int=turn)",
            ),
            (
                "a size",
                "wg.Size([{n}, 2])",
                "{s}.numel()",
                "wg.Size([5])",
                "{s} = wg.Size([turn])",
            ),
            (
                "a generic type",
                "list[int]",
                "(1.0 if {s} == list[int] else 2.0)",
                "dict[str, int]",
                "{s} = [list[int], list[str]][turn % 2]",
            ),
            (
                "a union",
                "int | str",
                "(1.0 if {s} == int | str else 2.0)",
                "int | None",
                "{s} = [int | str, int | float][turn % 2]",
            ),
            (
                "a signature",
                "inspect.signature(eval('lambda a={n}: a'))",
                "{s}.parameters['a'].default",
                "inspect.signature(eval('lambda a=[2.0]: a'))",
                "{s} = inspect.signature(eval('lambda a=turn: a', {{'turn': turn}}))",
            ),
            (
                "a function of NumPy",
                "np.sum",
                "{s}([1.0, 2.0])",
                "np.prod",
                "{s} = [np.sum, np.max][turn % 2]",
            ),
            (
                "a ufunc",
                "np.add",
                "{s}(1.0, 2.0)",
                "np.multiply",
                "{s} = [np.add, np.subtract][turn % 2]",
            ),
            (
                "a function",
                "math.sqrt",
                "{s}(2.0)",
                "math.exp",
                "{s} = [math.sqrt, math.cos][turn % 2]",
            ),
            (
                "bytes",
                "b'ab'",
                "{s}[0]",
                "b'xyz'",
                "{s} = bytes([turn])",
            ),
            (
                "a complex number",
                "({n} + 1j)",
                "{s}.real",
                "(2 + 2j)",
                "{s} = turn * 1j + turn",
            ),
            (
                "a range",
                "range({n}, 9)",
                "len({s})",
                "range(5)",
                "{s} = range(turn)",
            ),
            (
                "a slice",
                "slice(0, {n})",
                "len([1.0, 2.0, 3.0][{s}])",
                "slice(1)",
                "{s} = slice(turn)",
            ),
            (
                "a frozen set",
                "frozenset([1, {n}])",
                "len({s})",
                "frozenset()",
                "{s} = frozenset(range(turn))",
            ),
        )
    },
    "generator of ours": Held(
        "wg.Generator().manual_seed({n})",
        ("wg.rand((), generator={s})",),
        ("wg.rand(2, generator={s})",),
        ("{s}.manual_seed(turn)",),
        "{s}.initial_seed()",
    ),
}
"""Python's and NumPy's objects with a state."""

REFUSED = frozenset(
    {
        *("callable object", "count", "generator", "iterator", "large array", "array view"),
        *("numpy generator", "random", "thread local"),
        *(kind for kind in HELD if kind.startswith("iterator of ")),
    }
)
"""The kinds that change as they are read, or whose state nobody knows: no trace survives them."""

ENDS = re.compile(
    r"\.numpy\(\)|\.tolist\(\)|np\.zeros|deepcopy|multinomial|repeat_interleave|bincount"
)
"""What always ends a trace: values that leave a tensor, or decide on the size of a result."""

ARRAYS = [
    *("wg.from_numpy(A)", "wg.as_tensor(A)", "wg.tensor(A)", "a.sum() * A.sum()", "a.sum() * A[0]"),
    *("a.sum() + A.max()", "wg.from_numpy(A[1:]).sum() * a", "a.sum() * float(A @ A)"),
    *(
        "a.sum() * (1 if A[0] > 1 else 2)",
        "a.detach().numpy().sum() * a",
        "wg.from_numpy(A) * a.sum()",
    ),
    *("a.sum() * len(A)", "a * np.float64(0.5)", "np.sin(A).sum() * a", "a * A.item(0)"),
    "out = a\nfor n in range(int(A[0]) % 4):\n    out = out * 1.5 + n",
    "out = a\nif A.sum() > 3:\n    out = out * 2",
    "out = wg.from_numpy(A.copy()) + a.sum()",
    "B = A.copy()\nB[0] = 9.0\nout = a.sum() * B.sum()",
    "out = wg.tensor(A.tolist()) * a.sum()",
    "B = a.detach().numpy()\nout = a.sum() * float(B.max() if B.size else 0)",
    "B = np.zeros(3)\nB[0] = a.sum().item()\nout = wg.from_numpy(B) * 2",
]
"""Steps that read the array ``A``, or arrays of tensors."""

WRITES = [
    "with wg.no_grad():\n    W.sub_(0.5)",
    "with wg.no_grad():\n    W.mul_(a.detach().mean() * 0.1 + 1)",
    "W.data.add_(1)",
    "W.detach().mul_(0.5)",
    "V.add_(0.5)",
    "V[0] = 1.5",
    "V.t().mul_(0.5) if V.dim() == 2 else V.mul_(0.5)",
    "V.view(-1)[:2].add_(1)",
    "V.copy_(W.detach().reshape(V.shape)) if V.numel() == W.numel() else V.zero_()",
    "x0.data.mul_(0.5)",
    "x0.detach().add_(0.25)",
    "x0.data.reshape(-1)[:1].add_(1)",
    "x1.data.mul_(2)",
    "x1.detach().sub_(x0.detach().sum() * 0.1)",
    "W.data, V.data = W.data * 1.5, V.data + 1",
    "W.data = V.detach().clone().reshape(V.shape)",
    "W.grad = None",
    "(W.sum() * 2).backward()",
]
"""Statements that write to the memory of tensors."""

ARRAY_WRITES = [
    "A[0] += 1",
    "A[:] *= 0.5",
    "np.add(A, 1, out=A)",
    "wg.from_numpy(A).add_(1)",
    "wg.from_numpy(A)[0] = 2.5",
    "A[:] = float(a.detach().sum())",
    "A[1:] = A[:-1].copy()",
    "wg.from_numpy(A).copy_(wg.arange(3.0))",
    "W.detach().numpy()[0] += 1",
    "x0.detach().numpy()[...] = 0.5",
]
"""Statements that write to NumPy's arrays, which ends a trace."""

SNAPSHOTS = [
    *("W.clone()", "W.detach()", "W.detach().clone()", "W.data", "copy.copy(W.detach())", "W * 1"),
    *(
        "copy.deepcopy(W.detach())",
        "W[0]",
        "W.view(-1)",
        "W.flatten()",
        "W.contiguous()",
        "V.clone()",
    ),
    *(
        "V * 1",
        "V.view(-1)",
        "V",
        "x0.clone()",
        "x0.detach()",
        "x0.data",
        "x0.reshape(-1)",
        "x0 + 0",
    ),
    *(
        "x0.detach().clone()",
        "wg.tensor(W.tolist())",
        "wg.from_numpy(A.copy())",
        "wg.from_numpy(A)",
    ),
    *("wg.tensor(A)", "wg.from_numpy(W.detach().numpy())", "wg.as_tensor(W)", "W.to(W.dtype)"),
    *(
        "W.to(W.dtype, copy=True)",
        "W.expand(2, *W.shape)[0]",
        "W.flip(0)",
        "W.T",
        "V.sum()",
        "W.sum()",
    ),
    *("wg.cat([W.flatten(), V.flatten()])", "wg.stack([V, V])[0]", "V.squeeze()", "V.unsqueeze(0)"),
    *("V.float()", "V.double()", "wg.zeros_like(W).copy_(W)", "wg.where(W > 0, W, W)", "V.mul(1)"),
]
"""What may be read again after a write."""

SHARED = [
    ("make(3)", "make(3)"),
    ("(p := make(3, grad=False))", "p"),
    ("(p := make(3, grad=False))", "p.data"),
    ("(p := make(3, grad=False))", "p.detach()"),
    ("(p := make(3, grad=False))", "p.view(3)"),
    ("(p := make(3, grad=False))", "p.flip(0)"),
    ("(p := make(3))", "p"),
    ("(p := make(3))", "p.data"),
    ("(p := make(3))", "p.detach()"),
    ("(q := make(4, grad=False))[:3]", "q[1:]"),
    ("(q := make(6, grad=False))[:3]", "q[3:]"),
    ("(q := make(6, grad=False))[::2]", "q[1::2]"),
    ("(q := make(6, grad=False))[::2]", "q[:3]"),
    ("(q := make(3, 3, grad=False))[0]", "q[:, 0]"),
    ("(q := make(3, 3, grad=False))[0]", "q.T[0]"),
    ("wg.from_numpy(r := make.real(3))", "wg.from_numpy(r)"),
    ("wg.from_numpy(r := make.real(3))", "wg.from_numpy(r[::-1].copy())"),
    ("wg.from_numpy((r := make.real(4))[:3])", "wg.from_numpy(r[1:])"),
    ("W.detach()", "make(3, grad=False)"),
    ("W.data", "W.detach()"),
    ("V", "V"),
    ("V", "V.view(-1)[:3]"),
    ("wg.from_numpy(A)", "make(3, grad=False)"),
    ("wg.from_numpy(A)", "wg.from_numpy(A)"),
    ("V.view(-1)[:3]", "W.detach()"),
    ("make(3)", "W"),
    ("W", "W"),
    ("wg.ones(1).expand(3)", "make(3, grad=False)"),
]
"""How two arguments may share memory with one another, and with what functions close over."""

FAILS = [
    "wg.fmod(wg.tensor([1, 2]), (a.detach().sum() > {c}).long())",
    "wg.tensor([1, 2]) // (a.detach().sum() > {c}).long()",
    "a[int(a.detach().sum() > {c}) * 99 :][0] if a.dim() else a",
    "wg.arange(3)[(a.detach().sum() > {c}).long() * 7]",
    "wg.arange(3).gather(0, (a.detach().sum() > {c}).long().reshape(1) * 7)",
    "wg.linalg.cholesky(wg.eye(2) * (0.5 - (a.detach().sum() > {c}).double()))",
    "wg.linalg.inv(wg.eye(2) * (a.detach().sum() > {c}).double())",
    "F.one_hot((a.detach().sum() > {c}).long() * 5, 3)",
    "F.embedding((a.detach().sum() > {c}).long() * 5, wg.ones(3, 2))",
    "wg.bincount(-(a.detach().sum() > {c}).long().reshape(1))",
    "F.cross_entropy(wg.ones(1, 3), (a.detach().sum() > {c}).long().reshape(1) * 7)",
    "wg.multinomial(wg.ones(2) * (0.5 - (a.detach().sum() > {c}).double()), 1)",
    "wg.ones(3).index_select(0, (a.detach().sum() > {c}).long().reshape(1) * 7)",
    "a.reshape(-1).masked_select(a.reshape(-1) > {c})[0]",
    "wg.zeros(2).scatter(0, (a.detach().sum() > {c}).long().reshape(1) * 7, 1.0)",
    "wg.repeat_interleave(wg.ones(2), -(a.detach().sum() > {c}).long() + wg.tensor([1, 1]))",
    "check(a.detach().sum() > {c})",
    "[1.0, 2.0][int(a.detach().sum() > {c}) * 5]",
    "1 / int(a.detach().sum() <= {c})",
    "{{0: 1.0}}[int(a.detach().sum() > {c})]",
]
"""What raises for some values and not for others."""
