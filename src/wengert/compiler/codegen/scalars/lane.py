"""Layer 8 · compiler: one element in LLVM's text: types, literals, casts, arithmetic of one dtype.

All is written without branches, so that most of it can be done for several elements at a time (see
NOTE [elements in registers] in `wengert.compiler.codegen.code`).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from wengert.compiler.codegen.code import Code, Operand, literal, llvm_type, several
from wengert.compiler.ir.programs import open_ended

__all__ = ["Lane", "cast"]


def cast(
    code: Code, value: str, source: np.dtype[Any], target: np.dtype[Any], count: int = 1
) -> str:
    """An element, or a vector of so many, converted to another dtype, as ``astype`` does."""
    if source == target:
        return value
    old, new = (several(llvm_type(dtype), count) for dtype in (source, target))
    if target.kind == "b":
        if source.kind == "f":
            return code.let(f"fcmp une {old} {value}, {_none('0.0', count)}")
        return code.let(f"icmp ne {old} {value}, {_none('0', count)}")
    if source.kind == "f":
        if target.kind == "f":
            longer = target.itemsize > source.itemsize
            return code.let(f"{'fpext' if longer else 'fptrunc'} {old} {value} to {new}")
        return _whole(code, value, old, target, count)
    if target.kind == "f":
        return code.let(f"{'sitofp' if source.kind == 'i' else 'uitofp'} {old} {value} to {new}")
    if source.kind != "b" and source.itemsize == target.itemsize:
        return value
    if source.itemsize > target.itemsize:
        return code.let(f"trunc {old} {value} to {new}")
    return code.let(f"{'sext' if source.kind == 'i' else 'zext'} {old} {value} to {new}")


def _none(zero: str, count: int) -> str:
    return zero if count == 1 else "zeroinitializer"


def _whole(code: Code, value: str, old: str, target: np.dtype[Any], count: int) -> str:
    """A float cut to an integer.

    What an integer cannot hold becomes what the processor makes of it, as in NumPy; `freeze` makes
    of LLVM's undefined value just that.
    """
    new = several(llvm_type(target), count)
    if target == np.dtype(np.uint64):
        return code.let(f"freeze {new} {code.let(f'fptoui {old} {value} to {new}')}")
    wide = "i32" if target.itemsize < 4 or target == np.dtype(np.int32) else "i64"
    wide = several(wide, count)
    whole = code.let(f"freeze {wide} {code.let(f'fptosi {old} {value} to {wide}')}")
    return whole if wide == new else code.let(f"trunc {wide} {whole} to {new}")


class Lane:
    """Instructions on elements of one dtype, appended to an emitter.

    Operands and results are SSA names or literals.

    Parameters
    ----------
    exact: Whether the module's fast-math flags do not hold.
    count
        How many elements there are in a register; not everything here is defined for several.

    Attributes
    ----------
    type, flag, integer: The types of numbers, of conditions, and of the bits of numbers.
    """

    __slots__ = ("bits", "code", "count", "dtype", "flag", "flags", "integer", "kind", "type")

    def __init__(
        self, code: Code, dtype: np.dtype[Any], exact: bool = False, count: int = 1
    ) -> None:
        self.code = code
        self.flags = "" if exact else code.module.flags
        self.dtype = dtype
        self.kind = dtype.kind
        self.bits = 1 if dtype.kind == "b" else 8 * dtype.itemsize
        self.count = count
        self.type, self.flag, self.integer = (
            several(element, count) for element in (llvm_type(dtype), "i1", f"i{self.bits}")
        )

    def number(self, value: Any) -> str:
        """A constant."""
        constant = self.code.plain(literal(value, self.dtype))
        if constant[0] == "%":
            return self.spread(constant)
        return self._spread(constant, llvm_type(self.dtype))

    def _spread(self, value: str, kind: str) -> str:
        """A constant of each element."""
        if self.count == 1:
            return value
        return f"<{', '.join([f'{kind} {value}'] * self.count)}>"

    def value(self, param: Any) -> str:
        """A number among the parameters: known now, or an operand known when it runs."""
        if isinstance(param, Operand):
            return cast(self.code, param.name, param.dtype, self.dtype, self.count)
        return self.number(param)

    # -- arithmetic -------------------------------------------------------------------------------

    def _binary(self, name: str, a: str, b: str) -> str:
        if self.kind == "f":
            return self.code.let(f"f{name} {self.flags}{self.type} {a}, {b}")
        operation = {"add": "or", "mul": "and"}[name] if self.kind == "b" else name
        return self.code.let(f"{operation} {self.type} {a}, {b}")

    def add(self, a: str, b: str) -> str:
        """a + b; of bools, a or b."""
        return self._binary("add", a, b)

    def sub(self, a: str, b: str) -> str:
        """a - b."""
        return self._binary("sub", a, b)

    def mul(self, a: str, b: str) -> str:
        """a * b; of bools, a and b."""
        return self._binary("mul", a, b)

    def div(self, a: str, b: str) -> str:
        """a / b, of floats."""
        return self.code.let(f"fdiv {self.flags}{self.type} {a}, {b}")

    def neg(self, a: str) -> str:
        """-a."""
        if self.kind == "f":
            return self.code.let(f"fneg {self.flags}{self.type} {a}")
        return self.sub("0", a)

    def exact(self, operation: str, a: str, b: str) -> str:
        """An operation without fast-math flags, where these would take its sense away."""
        return self.code.let(f"{operation} {self.type} {a}, {b}")

    def mask(self, a: str) -> str:
        """Return an integer modulo the number of its bits."""
        return self.exact("and", a, str(self.bits - 1))

    # -- choices ----------------------------------------------------------------------------------

    def compare(self, name: str, a: str, b: str) -> str:
        """A comparison, which NaN makes false but for "ne"."""
        if self.kind == "f":
            # ordered, but for "ne"
            return self.code.let(f"fcmp {'u' if name == 'ne' else 'o'}{name} {self.type} {a}, {b}")
        sign = "" if name in ("eq", "ne") else "s" if self.kind == "i" else "u"
        return self.code.let(f"icmp {sign}{name} {self.type} {a}, {b}")

    def select(self, condition: str, a: str, b: str) -> str:
        """a where the condition holds, else b."""
        return self.code.let(f"select {self.flag} {condition}, {self.type} {a}, {self.type} {b}")

    def is_nan(self, a: str) -> str:
        """Whether a float is NaN."""
        return self.code.let(f"fcmp uno {self.type} {a}, {a}")

    def both(self, a: str, b: str) -> str:
        """Whether two conditions hold."""
        return self.code.let(f"and {self.flag} {a}, {b}")

    def either(self, a: str, b: str) -> str:
        """Whether one of two conditions holds."""
        return self.code.let(f"or {self.flag} {a}, {b}")

    def maximum(self, a: str, b: str) -> str:
        """The larger of two, NaN if either is."""
        return self._extreme("ge", a, b)

    def minimum(self, a: str, b: str) -> str:
        """The smaller of two, NaN if either is."""
        return self._extreme("le", a, b)

    def _extreme(self, name: str, a: str, b: str) -> str:
        if self.kind == "b":
            return self.add(a, b) if name == "ge" else self.mul(a, b)
        chosen = self.select(self.compare(name, a, b), a, b)
        # where b is NaN, it was chosen already
        return chosen if self.kind != "f" else self.select(self.is_nan(a), a, chosen)

    def at_least(self, a: str, least: str) -> str:
        """a, or a number that is not NaN if a is below it: one instruction."""
        return self.select(self.compare("lt", a, least), least, a)

    def at_most(self, a: str, most: str) -> str:
        """a, or a number that is not NaN if a is above it."""
        return self.select(self.compare("gt", a, most), most, a)

    # -- functions --------------------------------------------------------------------------------

    def _call(self, symbol: str, result: str, *given: tuple[str, str], flags: str = "") -> str:
        """The call of a function of LLVM's, for operands with their types."""
        types = ", ".join([kind for kind, _ in given])
        self.code.module.declare(symbol, f"declare {result} @{symbol}({types})")
        operands = ", ".join([f"{kind} {operand}" for kind, operand in given])
        return f"call {flags}{result} @{symbol}({operands})"

    def _suffix(self) -> str:
        """The suffix of LLVM's intrinsics for these elements."""
        several = f"v{self.count}" if self.count > 1 else ""
        return f"{several}{'f' if self.kind == 'f' else 'i'}{self.bits}"

    def intrinsic(self, name: str, *operands: str) -> str:
        """A function that LLVM itself knows."""
        symbol = f"llvm.{name}.{self._suffix()}"
        given = [(self.type, operand) for operand in operands]
        return self.code.let(self._call(symbol, self.type, *given))

    def fma(self, a: str, b: str, c: str) -> str:
        """a * b + c, of floats rounded once where the processor can."""
        if self.kind != "f":
            return self.add(self.mul(a, b), c)
        return self.intrinsic("fmuladd", a, b, c)

    def polynomial(self, x: str, coefficients: Sequence[float]) -> str:
        """A polynomial by Horner's rule, its coefficients with the highest power first."""
        total = self.number(coefficients[0])
        for coefficient in coefficients[1:]:
            total = self.fma(total, x, self.number(coefficient))
        return total

    def to_bits(self, a: str) -> str:
        """The bits of a float, as an integer."""
        return self.code.let(f"bitcast {self.type} {a} to {self.integer}")

    def from_bits(self, a: str) -> str:
        """The float of some bits."""
        return self.code.let(f"bitcast {self.integer} {a} to {self.type}")

    def whole(self, value: int) -> str:
        """A constant integer of as many bits as a number."""
        return self._spread(str(value), f"i{self.bits}")

    def on_bits(self, operation: str, a: str, b: str) -> str:
        """An instruction on integers of as many bits as a number."""
        return self.code.let(f"{operation} {self.integer} {a}, {b}")

    def bits_of(self, value: float) -> int:
        """The bits of a constant."""
        return int(np.array(value, self.dtype).view(f"i{self.dtype.itemsize}"))

    def size(self, a: str) -> str:
        """The absolute value."""
        if self.kind == "f":
            return self.intrinsic("fabs", a)
        if self.kind == "u":
            return a
        return self.select(self.compare("lt", a, "0"), self.neg(a), a)

    # -- several elements -------------------------------------------------------------------------

    def spread(self, value: str) -> str:
        """One element in all places."""
        return self.code.spread(value, llvm_type(self.dtype), self.count)

    def numbers(self, values: Sequence[int]) -> str:
        """A constant whole number for each place."""
        if self.count == 1:
            return str(values[0])
        if not any(map(open_ended, values)):
            return f"<{', '.join([f'{llvm_type(self.dtype)} {value}' for value in values])}>"
        made = "poison"
        for k, value in enumerate(values):
            one = literal(value, self.dtype)
            given = f"{self.type} {made}, {llvm_type(self.dtype)} {one}, i64 {k}"
            made = self.code.let(f"insertelement {given}")
        return made

    def combined(self, kind: str, a: str, b: str) -> str:
        """Elements combined as a reduction of some kind does, in any order."""
        if kind in ("max", "min"):
            return self.intrinsic(self._extreme_of(kind), a, b)
        how = f"f{kind} reassoc {self.flags}" if self.kind == "f" else f"{kind} "
        return self.code.let(f"{how}{self.type} {a}, {b}")

    def reduced(self, kind: str, vector: str) -> str:
        """All places combined into one element."""
        if self.count == 1:
            return vector
        element, extreme = llvm_type(self.dtype), kind in ("max", "min")
        word = self._extreme_of(kind) if extreme else kind
        given, flags = [(self.type, vector)], ""
        if self.kind == "f":
            word = f"f{word}"
            if not extreme:
                given.insert(0, (element, "-0.0" if kind == "add" else "1.0"))
                flags = f"reassoc {self.flags}"
        symbol = f"llvm.vector.reduce.{word}.{self._suffix()}"
        return self.code.let(self._call(symbol, element, *given, flags=flags))

    def _extreme_of(self, kind: str) -> str:
        if self.kind == "f":
            return f"{kind}imum"
        return f"{'s' if self.kind == 'i' else 'u'}{kind}"

    # -- memory -----------------------------------------------------------------------------------

    def load(self, pointer: str) -> str:
        """The elements from an address on."""
        return self.code.load(pointer, self.dtype, self.count)

    def store(self, value: str, pointer: str) -> None:
        """Write all elements to an address."""
        self.code.store(value, pointer, self.dtype, self.count)

    def load_some(self, pointer: str, used: int) -> str:
        """The first `used` elements, and zeros; what lies behind them is not read."""
        if used == self.count:
            return self.load(pointer)
        symbol, width = f"llvm.masked.load.{self._suffix()}.p0", str(self.dtype.itemsize)
        given = [("ptr", pointer), ("i32", width), (self.flag, self._first(used))]
        zeros = (self.type, "zeroinitializer")
        return self.code.let(self._call(symbol, self.type, *given, zeros))

    def store_some(self, value: str, pointer: str, used: int) -> None:
        """Write the first `used` elements only."""
        if used == self.count:
            self.store(value, pointer)
            return
        symbol, width = f"llvm.masked.store.{self._suffix()}.p0", str(self.dtype.itemsize)
        given = [(self.type, value), ("ptr", pointer), ("i32", width)]
        self.code.do(self._call(symbol, "void", *given, (self.flag, self._first(used))))

    def keep(self, value: str, used: int) -> str:
        """The first `used` elements, and zeros."""
        if used == self.count:
            return value
        return self.select(self._first(used), value, "zeroinitializer")

    def _first(self, used: int) -> str:
        flags = [f"i1 {'true' if k < used else 'false'}" for k in range(self.count)]
        return f"<{', '.join(flags)}>"
