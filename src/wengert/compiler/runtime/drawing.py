"""Layer 8 · compiler: native loops that draw random numbers sequentially.

NOTE [native draws]
A rejection sampler is a Python function that draws uniform numbers and returns a sample
(`wengert.kernels.samplers`). Its source is translated here, statement by statement, into an LLVM
function of doubles, with a loop around it that draws from the same Mersenne Twister through NumPy's
own C function. Both versions call the C library's mathematical functions, so a sample has the same
bits either way, and the stream continues from the same state. An unsupported statement raises
during translation: the samplers are all the library's own.
"""

from __future__ import annotations

import ast
import ctypes
import inspect
import math
import textwrap
from collections.abc import Callable, Sequence
from functools import cache
from typing import Any

import numpy as np

from wengert.base.ports import provides
from wengert.compiler.control import FUSING

try:
    from wengert.compiler.backends.machine import Machine
    from wengert.compiler.codegen.code import Cell, Code, Module, literal
    from wengert.compiler.codegen.library import setup
    from wengert.compiler.codegen.scalars.lane import Lane
except ImportError:
    Machine = None  # type: ignore[assignment,misc]

_DOUBLE, _INT64 = np.dtype(np.float64), np.dtype(np.int64)
_OPERATIONS = {ast.Add: "fadd", ast.Sub: "fsub", ast.Mult: "fmul", ast.Div: "fdiv"}
_ORDERS = {
    ast.Lt: "olt", ast.LtE: "ole", ast.Gt: "ogt", ast.GtE: "oge", ast.Eq: "oeq", ast.NotEq: "une",
}  # fmt: skip
_INSTRUCTIONS = ("fabs", "floor", "ceil")
"""Functions that most processors have an instruction for."""


class _Context(ctypes.Structure):
    """The source of random numbers: the twister, and a cached normal number, if any."""

    _fields_ = (
        ("next", ctypes.c_void_p),
        ("state", ctypes.c_void_p),
        ("ahead", ctypes.c_double),
        ("has", ctypes.c_double),
    )


_BASE = """
define internal double @unit(ptr %c) alwaysinline {
  %at = getelementptr ptr, ptr %c, i64 1
  %next = load ptr, ptr %c
  %state = load ptr, ptr %at
  %high = call i32 %next(ptr %state)
  %low = call i32 %next(ptr %state)
  %top = zext i32 %high to i64
  %rest = zext i32 %low to i64
  %raised = shl i64 %top, 32
  %all = or i64 %raised, %rest
  %bits = and i64 %all, 9007199254740991
  %whole = uitofp i64 %bits to double
  %unit = fmul double %whole, 0x3CA0000000000000
  ret double %unit
}
"""


def _normal(draws: Any) -> float:
    """Return a normal number, by the algorithm of `_Draws.normal` of the samplers."""
    if draws.has:
        draws.has = 0.0
        return draws.ahead
    angle = 2.0 * math.pi * draws.next()
    radius = math.sqrt(-2.0 * math.log1p(-draws.next()))
    draws.ahead = radius * math.sin(angle)
    draws.has = 1.0
    return radius * math.cos(angle)


class _Translation:
    """Translates a Python function into an LLVM function of the context and of doubles."""

    def __init__(self, function: Callable[..., float], module: Any, known: dict[Any, str]) -> None:
        self._scope = function.__globals__
        self._module, self._known, self._code = module, known, Code(module)
        (tree,) = ast.parse(textwrap.dedent(inspect.getsource(function))).body
        assert isinstance(tree, ast.FunctionDef)
        names = [arg.arg for arg in tree.args.args]
        # the source of draws, if any, is the first argument
        self._draws = names.pop(0) if names[0] in ("draw", "draws") else ""
        self._cells: dict[str, Cell] = {}
        self._loops: list[str] = []
        for i, name in enumerate(names):
            self._assign(name, f"%p{i}")
        self._block(tree.body)
        self._code.do("unreachable")
        head = f"internal double @@(ptr %c{''.join(f', double %p{i}' for i in range(len(names)))})"
        name = function.__name__.strip("_")
        known[function] = module.function(name, self._code.function(head, ""))

    def _assign(self, name: str, value: str) -> None:
        if name not in self._cells:
            self._cells[name] = self._code.cell("double")
        self._cells[name].set(value)

    # -- statements --------------------------------------------------------------------------------

    def _block(self, body: Sequence[ast.stmt]) -> None:
        for statement in body:
            getattr(self, f"_{type(statement).__name__}")(statement)

    def _Expr(self, node: ast.Expr) -> None:
        assert isinstance(node.value, ast.Constant)  # the docstring

    def _Assign(self, node: ast.Assign) -> None:
        (target,) = node.targets
        if isinstance(target, ast.Tuple):
            assert isinstance(node.value, ast.Tuple)
            values = [self._value(part) for part in node.value.elts]
            for part, value in zip(target.elts, values, strict=True):
                self._assign(part.id, value)  # type: ignore[attr-defined]
        elif isinstance(target, ast.Attribute):
            self._code.do(f"store double {self._value(node.value)}, ptr {self._field(target)}")
        else:
            self._assign(target.id, self._value(node.value))  # type: ignore[attr-defined]

    def _AugAssign(self, node: ast.AugAssign) -> None:
        name = node.target.id  # type: ignore[union-attr]
        before = self._cells[name].get()
        value = self._value(node.value)
        operation = _OPERATIONS[type(node.op)]
        self._assign(name, self._code.let(f"{operation} double {before}, {value}"))

    def _If(self, node: ast.If) -> None:
        self._either(node.test, lambda: self._block(node.body), lambda: self._block(node.orelse))

    def _While(self, node: ast.While) -> None:
        code, begin, done = self._code, self._code.fresh("again"), self._code.fresh("done")
        self._loops.append(begin)
        code.jump(begin)
        code.label(begin)
        inside = code.fresh("inside")
        code.branch(self._condition(node.test), inside, done)
        code.label(inside)
        self._block(node.body)
        code.jump(begin)
        code.label(done)
        self._loops.pop()

    def _Continue(self, node: ast.Continue) -> None:
        self._code.jump(self._loops[-1])
        self._code.label(self._code.fresh("behind"))

    def _Return(self, node: ast.Return) -> None:
        assert node.value is not None
        self._code.do(f"ret double {self._value(node.value)}")
        self._code.label(self._code.fresh("behind"))

    def _either(self, test: ast.expr, one: Callable[[], None], other: Callable[[], None]) -> None:
        code = self._code
        then, otherwise, done = (code.fresh(name) for name in ("then", "else", "done"))
        code.branch(self._condition(test), then, otherwise)
        for label, write in ((then, one), (otherwise, other)):
            code.label(label)
            write()
            code.jump(done)
        code.label(done)

    # -- expressions -------------------------------------------------------------------------------

    def _condition(self, node: ast.expr) -> str:
        code = self._code
        if isinstance(node, ast.BoolOp):
            first, *others = map(self._condition, node.values)
            for other in others:
                name = "and" if isinstance(node.op, ast.And) else "or"
                first = code.let(f"{name} i1 {first}, {other}")
            return first
        if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
            return code.let(f"xor i1 {self._condition(node.operand)}, true")
        if isinstance(node, ast.Compare):
            values = [self._value(part) for part in (node.left, *node.comparators)]
            found = "true"
            for op, a, b in zip(node.ops, values, values[1:], strict=False):
                one = code.let(f"fcmp {_ORDERS[type(op)]} double {a}, {b}")
                found = one if found == "true" else code.let(f"and i1 {found}, {one}")
            return found
        if isinstance(node, ast.Constant) and node.value is True:
            return "true"
        return code.let(f"fcmp une double {self._value(node)}, 0.0")

    def _value(self, node: ast.expr) -> str:
        code = self._code
        if isinstance(node, ast.Constant):
            return literal(node.value, _DOUBLE)
        if isinstance(node, ast.Name):
            if node.id in self._cells:
                return self._cells[node.id].get()
            return literal(self._scope[node.id], _DOUBLE)
        if isinstance(node, ast.Attribute):
            assert isinstance(node.value, ast.Name)
            if node.value.id == "math":
                return literal(getattr(math, node.attr), _DOUBLE)
            return code.let(f"load double, ptr {self._field(node)}")
        if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
            return code.let(f"fneg double {self._value(node.operand)}")
        if isinstance(node, ast.BinOp):
            a, b = self._value(node.left), self._value(node.right)
            if isinstance(node.op, ast.Pow):
                return self._call("pow", [a, b])
            return code.let(f"{_OPERATIONS[type(node.op)]} double {a}, {b}")
        if isinstance(node, ast.IfExp):
            cell = code.cell("double")

            def write(part: ast.expr) -> Callable[[], None]:
                return lambda: cell.set(self._value(part))

            self._either(node.test, write(node.body), write(node.orelse))
            return cell.get()
        if isinstance(node, ast.Subscript):
            return self._listed(node)
        assert isinstance(node, ast.Call), ast.dump(node)
        return self._called(node.func, [self._value(arg) for arg in node.args if not self._is(arg)])

    def _listed(self, node: ast.Subscript) -> str:
        """Return a number from one of the library's tuples of constants."""
        assert isinstance(node.value, ast.Name)
        place, found = self._value(node.slice), literal(math.nan, _DOUBLE)
        for i, number in enumerate(self._scope[node.value.id]):
            here = self._code.let(f"fcmp oeq double {place}, {literal(i, _DOUBLE)}")
            one = literal(number, _DOUBLE)
            found = self._code.let(f"select i1 {here}, double {one}, double {found}")
        return found

    def _is(self, node: ast.expr) -> bool:
        """Return whether an expression is the source of random numbers."""
        return isinstance(node, ast.Name) and node.id == self._draws

    def _field(self, node: ast.Attribute) -> str:
        place = 2 if node.attr == "ahead" else 3
        return self._code.let(f"getelementptr double, ptr %c, i64 {place}")

    def _called(self, function: ast.expr, given: list[str]) -> str:
        if self._is(function):
            return self._code.let("call double @unit(ptr %c)")
        if isinstance(function, ast.Attribute):
            assert isinstance(function.value, ast.Name)
            if function.value.id == "math":
                return self._call(function.attr, given)
            if function.attr == "next":
                return self._code.let("call double @unit(ptr %c)")
            return self._translated(_normal, given)
        assert isinstance(function, ast.Name)
        if function.id in ("abs", "int"):
            # the operand is not negative, so truncation is floor
            return self._call("fabs" if function.id == "abs" else "floor", given)
        return self._translated(self._scope[function.id], given)

    def _translated(self, function: Callable[..., float], given: list[str]) -> str:
        if function not in self._known:
            _Translation(function, self._module, self._known)
        operands = "".join(f", double {value}" for value in given)
        return self._code.let(f"call double @{self._known[function]}(ptr %c{operands})")

    def _call(self, name: str, given: list[str]) -> str:
        """Emit a call of a C library function, the one that `math` calls, too."""
        symbol = f"llvm.{name}.f64" if name in _INSTRUCTIONS else name
        return self._code.call(symbol, "double", *[("double", value) for value in given])


def _ready(text: str, pointers: int) -> tuple[Any, Any]:
    """Return the function ``each`` of a module, of some pointers and a count, and its machine."""
    machine = Machine(text)
    # a PYFUNCTYPE keeps the interpreter's lock: other threads that draw wait
    kind = ctypes.PYFUNCTYPE(None, *[ctypes.c_void_p] * pointers, ctypes.c_int64)
    return kind(machine.address("each")), machine


@cache
def _exchanges() -> tuple[Any, Any]:
    """Return native code for a Fisher-Yates shuffle of `n` integers, and its machine."""
    code = Code(Module())
    next_, state = code.entry("%c", 0), code.entry("%c", 1)
    last = code.let("sub i64 %n, 1")
    with code.loop(last) as i:
        word = code.let(f"call i32 {next_}(ptr {state})")
        left = code.let(f"trunc i64 {code.let(f'sub i64 %n, {i}')} to i32")
        pick = code.let(f"zext i32 {code.let(f'urem i32 {word}, {left}')} to i64")
        here, there = (code.at("%out", _INT64, at) for at in (i, code.added(pick, i)))
        one, other = code.load(here, _INT64), code.load(there, _INT64)
        code.store(other, here, _INT64)
        code.store(one, there, _INT64)
    return _ready(code.function("void @each(ptr %c, ptr %out, i64 %n)"), 2)


@provides("permuted")
def permuted(stream: Any, n: int) -> Any:
    """Return the integers below `n` < 2**32 in random order; None without a compiler."""
    if Machine is None:
        return None
    order = np.arange(n)
    context = _Context(*stream.source())
    _exchanges()[0](ctypes.byref(context), order.ctypes.data, n)
    return order


_WIDTH = 16
"""The number of words computed at a time."""
_LENGTH, _REACH = 624, 397
"""The twister's parameters: n, the words of its state, and m, the offset of the recurrence.

M. Matsumoto and T. Nishimura, "Mersenne Twister", ACM TOMACS 8 (1998), 3-30."""
_WORD = np.dtype(np.uint32)


def _twisted(lane: Any, word: str, following: str, far: str) -> str:
    """Emit the next value of a word of the state, or of a vector of words."""
    do, number = lane.exact, lane.number
    both = do("or", do("and", word, number(0x80000000)), do("and", following, number(0x7FFFFFFF)))
    # all ones if the lowest bit is 1
    odd = do("ashr", do("shl", both, number(31)), number(31))
    half = do("lshr", both, number(1))
    return str(do("xor", do("xor", far, half), do("and", odd, number(0x9908B0DF))))


def _tempered(lane: Any, word: str) -> str:
    """Emit the output for a word of the state, or for a vector of words."""
    do, number = lane.exact, lane.number
    word = do("xor", word, do("lshr", word, number(11)))
    word = do("xor", word, do("and", do("shl", word, number(7)), number(0x9D2C5680)))
    word = do("xor", word, do("and", do("shl", word, number(15)), number(0xEFC60000)))
    return str(do("xor", word, do("lshr", word, number(18))))


def _renewed(code: Any) -> None:
    """Emit the code that computes the next state, word by word, in place."""
    near = _LENGTH - _REACH
    for start, stop, far in ((0, near, _REACH), (near, _LENGTH - 1, -near)):
        whole = stop - (stop - start) % _WIDTH
        for width, first, last in ((_WIDTH, start, whole), (1, whole, stop)):
            lane = Lane(code, _WORD, count=width)
            with code.loop(last, str(first), step=width) as i:
                places = [code.at("%state", _WORD, code.added(i, str(k))) for k in (0, 1, far)]
                lane.store(_twisted(lane, *map(lane.load, places)), places[0])
    lane, end = Lane(code, _WORD), code.at("%state", _WORD, _LENGTH - 1)
    others = [code.at("%state", _WORD, k) for k in (0, _REACH - 1)]
    lane.store(_twisted(lane, *map(lane.load, (end, *others))), end)


@cache
def _twists() -> tuple[Any, Any]:
    """Return native code that writes the next `n` words of a state, and its machine."""
    code = Code(Module())
    place = code.at("%state", _WORD, _LENGTH)
    at, done = code.cell("i64"), code.cell("i64", "0")
    at.set(code.let(f"zext i32 {code.let(f'load i32, ptr {place}')} to i64"))
    begin, inside, renew, draw, end = map(code.fresh, ("begin", "inside", "renew", "draw", "end"))
    code.jump(begin)
    code.label(begin)
    code.branch(code.let(f"icmp slt i64 {done.get()}, %n"), inside, end)
    code.label(inside)
    code.branch(code.let(f"icmp eq i64 {at.get()}, {_LENGTH}"), renew, draw)
    code.label(renew)
    _renewed(code)
    at.set("0")
    code.jump(draw)
    code.label(draw)
    before, now = done.get(), at.get()
    wanted, there = code.let(f"sub i64 %n, {before}"), code.let(f"sub i64 {_LENGTH}, {now}")
    fewer = code.let(f"icmp slt i64 {wanted}, {there}")
    count = code.let(f"select i1 {fewer}, i64 {wanted}, i64 {there}")
    source, target = code.at("%state", _WORD, now), code.at("%out", _WORD, before)
    whole = code.let(f"and i64 {count}, {-_WIDTH}")
    for width, first, last in ((_WIDTH, "0", whole), (1, whole, count)):
        lane = Lane(code, _WORD, count=width)
        with code.loop(last, first, step=width) as i:
            word = _tempered(lane, lane.load(code.at(source, _WORD, i)))
            lane.store(word, code.at(target, _WORD, i))
    at.set(code.let(f"add i64 {now}, {count}"))
    done.set(code.let(f"add i64 {before}, {count}"))
    code.jump(begin)
    code.label(end)
    code.do(f"store i32 {code.let(f'trunc i64 {at.get()} to i32')}, ptr {place}")
    return _ready(code.function("void @each(ptr %state, ptr %out, i64 %n)"), 2)


def _made(bits: Any, count: int) -> Any:
    found = np.empty(count, _WORD)
    _twists()[0](bits.ctypes.state_address, found.ctypes.data, count)
    return found


@cache
def _is_known() -> bool:
    """Return whether this NumPy's twister has the state layout that the native code assumes."""
    ours, theirs = np.random.MT19937(5), np.random.MT19937(5)
    for count in (1, 700, 1300, 623):
        if not np.array_equal(_made(ours, count), theirs.random_raw(count)):
            return False
    one, other = (bits.state["state"] for bits in (ours, theirs))
    return one["pos"] == other["pos"] and np.array_equal(one["key"], other["key"])


@provides("twisted")
def twisted(bits: Any, count: int) -> Any:
    """Return the next words of a twister, whose lock is held; None without native code."""
    if Machine is None or not FUSING[0] or not _is_known():
        return None
    return _made(bits, count)


@cache
def _machine(function: Callable[..., float], count: int) -> tuple[Any, Any]:
    """Return the native loop around a sampler of `count` parameters, and its machine."""
    setup()
    module = Module()
    known: dict[Any, str] = {}
    _Translation(function, module, known)
    code = Code(module)
    given = [code.entry("%params", k) for k in range(count)]
    with code.loop("%n") as i:
        values = [code.load(code.at(array, _DOUBLE, i), _DOUBLE) for array in given]
        operands = "".join(f", double {value}" for value in values)
        made = code.let(f"call double @{known[function]}(ptr %c{operands})")
        code.store(made, code.at("%out", _DOUBLE, i), _DOUBLE)
    each = code.function("void @each(ptr %c, ptr %params, ptr %out, i64 %n)")
    return _ready(f"{module.text()}\n{_BASE}\n{each}\n", 3)


@provides("drawn")
def drawn(function: Callable[..., float], stream: Any, params: Sequence[Any]) -> Any:
    """Run a sampler on each element of its parameters; None without a compiler or the source.

    Parameters
    ----------
    function: The sampler: a function of the source of draws, and of a number from each parameter.
    stream: A `Stream`, whose lock is held.
    params: Flat arrays of one length.
    """
    if Machine is None:
        return None
    try:
        call, _ = _machine(function, len(params))
    except OSError:
        # the package is installed without its source
        return None
    ahead = stream.ahead
    context = _Context(*stream.source(), ahead or 0.0, ahead is not None)
    rows = np.array(params, _DOUBLE)
    start, step = rows.ctypes.data, rows.strides[0]
    table = (ctypes.c_void_p * len(rows))(*[start + k * step for k in range(len(rows))])
    found = np.empty(rows.shape[1])
    call(ctypes.byref(context), table, found.ctypes.data, found.size)
    stream.ahead = context.ahead if context.has else None
    return found
