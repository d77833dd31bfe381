"""Layer 8 · compiler: instructions on elements of one dtype: literals, casts, arithmetic.

All code is branch-free, so that most of it vectorises (see NOTE [elements in registers] in
`wengert.compiler.codegen.code`).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from wengert.compiler.codegen.code import Code, Operand, literal, llvm_type, several
from wengert.compiler.ir.programs import open_ended


def cast(
    code: Code, value: str, source: np.dtype[Any], target: np.dtype[Any], count: int = 1
) -> str:
    """Convert an element, or a vector of `count`, to another dtype, as ``astype`` does."""
    if source == target:
        return value
    old, new = (several(llvm_type(dtype), count) for dtype in (source, target))
    if target.kind == "b":
        if source.kind == "f":
            return code.let(f"fcmp une {old} {value}, {_zero('0.0', count)}")
        return code.let(f"icmp ne {old} {value}, {_zero('0', count)}")
    if source.kind == "f":
        if target.kind == "f":
            longer = target.itemsize > source.itemsize
            return code.let(f"{'fpext' if longer else 'fptrunc'} {old} {value} to {new}")
        return _truncate(code, value, old, target, count)
    if target.kind == "f":
        return code.let(f"{'sitofp' if source.kind == 'i' else 'uitofp'} {old} {value} to {new}")
    if source.kind != "b" and source.itemsize == target.itemsize:
        return value
    if source.itemsize > target.itemsize:
        return code.let(f"trunc {old} {value} to {new}")
    return code.let(f"{'sext' if source.kind == 'i' else 'zext'} {old} {value} to {new}")


def _zero(zero: str, count: int) -> str:
    return zero if count == 1 else "zeroinitializer"


def _truncate(code: Code, value: str, old: str, target: np.dtype[Any], count: int) -> str:
    """Truncate a float to an integer.

    Out of range, the result is whatever the processor's conversion gives, as in NumPy; `freeze`
    keeps LLVM from treating it as poison.
    """
    new = several(llvm_type(target), count)
    if target == np.dtype(np.uint64):
        return code.let(f"freeze {new} {code.let(f'fptoui {old} {value} to {new}')}")
    wide = "i32" if target.itemsize < 4 or target == np.dtype(np.int32) else "i64"
    wide = several(wide, count)
    integer = code.let(f"freeze {wide} {code.let(f'fptosi {old} {value} to {wide}')}")
    return integer if wide == new else code.let(f"trunc {wide} {integer} to {new}")


class Lane:
    """Emitter of instructions on elements of one dtype.

    Operands and results are SSA names or literals.

    Parameters
    ----------
    exact: Whether to omit the module's fast-math flags.
    count
        The number of elements in a register; some methods are defined for one only.

    Attributes
    ----------
    type, flag, integer: The LLVM types of numbers, of conditions, and of the bits of numbers.
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
        # the text of a number that varies is read at run time, and that of a type is not
        self.count = count = int(count)
        self.type, self.flag, self.integer = (
            several(element, count) for element in (llvm_type(dtype), "i1", f"i{self.bits}")
        )

    def number(self, value: Any) -> str:
        """Return a constant."""
        constant = self.code.plain(literal(value, self.dtype))
        if constant[0] == "%":
            return self.spread(constant)
        return self._splat(constant, llvm_type(self.dtype))

    def _splat(self, value: str, kind: str) -> str:
        """Return a constant, repeated for each lane."""
        if self.count == 1:
            return value
        return f"<{', '.join([f'{kind} {value}'] * self.count)}>"

    def value(self, param: Any) -> str:
        """Return a number among the parameters: a constant, or an operand known at run time."""
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
        """Emit a + b; of bools, a or b."""
        return self._binary("add", a, b)

    def sub(self, a: str, b: str) -> str:
        """Emit a - b."""
        return self._binary("sub", a, b)

    def mul(self, a: str, b: str) -> str:
        """Emit a * b; of bools, a and b."""
        return self._binary("mul", a, b)

    def div(self, a: str, b: str) -> str:
        """Emit a / b, of floats."""
        return self.code.let(f"fdiv {self.flags}{self.type} {a}, {b}")

    def neg(self, a: str) -> str:
        """Emit -a."""
        if self.kind == "f":
            return self.code.let(f"fneg {self.flags}{self.type} {a}")
        return self.sub("0", a)

    def exact(self, operation: str, a: str, b: str) -> str:
        """Emit an operation without the fast-math flags, which would defeat its purpose."""
        return self.code.let(f"{operation} {self.type} {a}, {b}")

    # -- selection --------------------------------------------------------------------------------

    def compare(self, name: str, a: str, b: str) -> str:
        """Emit a comparison, false for NaN except "ne"."""
        if self.kind == "f":
            # ordered, except "ne"
            return self.code.let(f"fcmp {'u' if name == 'ne' else 'o'}{name} {self.type} {a}, {b}")
        sign = "" if name in ("eq", "ne") else "s" if self.kind == "i" else "u"
        return self.code.let(f"icmp {sign}{name} {self.type} {a}, {b}")

    def select(self, condition: str, a: str, b: str) -> str:
        """Emit a where the condition holds, else b."""
        return self.code.let(f"select {self.flag} {condition}, {self.type} {a}, {self.type} {b}")

    def is_nan(self, a: str) -> str:
        """Emit whether a float is NaN."""
        return self.code.let(f"fcmp uno {self.type} {a}, {a}")

    def both(self, a: str, b: str) -> str:
        """Emit whether both conditions hold."""
        return self.code.let(f"and {self.flag} {a}, {b}")

    def either(self, a: str, b: str) -> str:
        """Emit whether either condition holds."""
        return self.code.let(f"or {self.flag} {a}, {b}")

    def maximum(self, a: str, b: str) -> str:
        """Emit the larger of two, the second of equal ones, NaN if either is."""
        return self._extreme("gt", a, b)

    def minimum(self, a: str, b: str) -> str:
        """Emit the smaller of two, the second of equal ones, NaN if either is."""
        return self._extreme("lt", a, b)

    def _extreme(self, name: str, a: str, b: str) -> str:
        if self.kind == "b":
            return self.add(a, b) if name == "gt" else self.mul(a, b)
        chosen = self.select(self.compare(name, a, b), a, b)
        # a NaN b was chosen by the comparison
        return chosen if self.kind != "f" else self.select(self.is_nan(a), a, chosen)

    def at_least(self, a: str, least: str) -> str:
        """Emit a, or `least`, which is not NaN, if a is below it: one instruction."""
        return self.select(self.compare("lt", a, least), least, a)

    def at_most(self, a: str, most: str) -> str:
        """Emit a, or `most`, which is not NaN, if a is above it: one instruction."""
        return self.select(self.compare("gt", a, most), most, a)

    # -- functions --------------------------------------------------------------------------------

    def _suffix(self) -> str:
        """Return the type suffix of LLVM's intrinsics."""
        several = f"v{self.count}" if self.count > 1 else ""
        return f"{several}{'f' if self.kind == 'f' else 'i'}{self.bits}"

    def intrinsic(self, name: str, *operands: str) -> str:
        """Emit a call of an LLVM intrinsic."""
        symbol = f"llvm.{name}.{self._suffix()}"
        arguments = [(self.type, operand) for operand in operands]
        return self.code.call(symbol, self.type, *arguments)

    def fma(self, a: str, b: str, c: str) -> str:
        """Emit a * b + c; floats are rounded once where the processor has fma."""
        if self.kind != "f":
            return self.add(self.mul(a, b), c)
        return self.intrinsic("fmuladd", a, b, c)

    def polynomial(self, x: str, coefficients: Sequence[float]) -> str:
        """Emit a polynomial by Horner's rule, its coefficients with the highest power first."""
        total = self.number(coefficients[0])
        for coefficient in coefficients[1:]:
            total = self.fma(total, x, self.number(coefficient))
        return total

    def to_bits(self, a: str) -> str:
        """Reinterpret the bits of a float as an integer."""
        return self.code.let(f"bitcast {self.type} {a} to {self.integer}")

    def from_bits(self, a: str) -> str:
        """Reinterpret the bits of an integer as a float."""
        return self.code.let(f"bitcast {self.integer} {a} to {self.type}")

    def whole(self, value: int) -> str:
        """Return an integer constant as wide as a number."""
        return self._splat(str(value), f"i{self.bits}")

    def on_bits(self, operation: str, a: str, b: str) -> str:
        """Emit an instruction on integers as wide as a number."""
        return self.code.let(f"{operation} {self.integer} {a}, {b}")

    def bits_of(self, value: float) -> int:
        """Return the bits of a constant, as an integer."""
        return int(np.array(value, self.dtype).view(f"i{self.dtype.itemsize}"))

    def size(self, a: str) -> str:
        """Emit the absolute value."""
        if self.kind == "f":
            return self.intrinsic("fabs", a)
        if self.kind == "u":
            return a
        return self.select(self.compare("lt", a, "0"), self.neg(a), a)

    # -- vectors ----------------------------------------------------------------------------------

    def spread(self, value: str) -> str:
        """Broadcast one element to all lanes."""
        return self.code.spread(value, llvm_type(self.dtype), self.count)

    def numbers(self, values: Sequence[int]) -> str:
        """Return an integer constant for each lane."""
        if self.count == 1:
            return str(values[0])
        if not any(map(open_ended, values)):
            return f"<{', '.join([f'{llvm_type(self.dtype)} {value}' for value in values])}>"
        vector = "poison"
        for k, value in enumerate(values):
            element = literal(value, self.dtype)
            insertion = f"{self.type} {vector}, {llvm_type(self.dtype)} {element}, i64 {k}"
            vector = self.code.let(f"insertelement {insertion}")
        return vector

    def combined(self, kind: str, a: str, b: str) -> str:
        """Combine elements by a kind of reduction, in any order."""
        if kind in ("max", "min"):
            return self.intrinsic(self._extreme_name(kind), a, b)
        how = f"f{kind} reassoc {self.flags}" if self.kind == "f" else f"{kind} "
        return self.code.let(f"{how}{self.type} {a}, {b}")

    def reduced(self, kind: str, vector: str) -> str:
        """Reduce all lanes to one element."""
        if self.count == 1:
            return vector
        element, extreme = llvm_type(self.dtype), kind in ("max", "min")
        word = self._extreme_name(kind) if extreme else kind
        arguments, flags = [(self.type, vector)], ""
        if self.kind == "f":
            word = f"f{word}"
            if not extreme:
                arguments.insert(0, (element, "-0.0" if kind == "add" else "1.0"))
                flags = f"reassoc {self.flags}"
        symbol = f"llvm.vector.reduce.{word}.{self._suffix()}"
        return self.code.call(symbol, element, *arguments, flags=flags)

    def _extreme_name(self, kind: str) -> str:
        if self.kind == "f":
            return f"{kind}imum"
        return f"{'s' if self.kind == 'i' else 'u'}{kind}"

    # -- memory -----------------------------------------------------------------------------------

    def load(self, pointer: str) -> str:
        """Load the elements from an address on."""
        return self.code.load(pointer, self.dtype, self.count)

    def store(self, value: str, pointer: str) -> None:
        """Store all elements at an address."""
        self.code.store(value, pointer, self.dtype, self.count)

    def load_some(self, pointer: str, used: int) -> str:
        """Load the first `used` elements, and zeros for the rest, which is not read."""
        if used == self.count:
            return self.load(pointer)
        symbol, width = f"llvm.masked.load.{self._suffix()}.p0", str(self.dtype.itemsize)
        arguments = [("ptr", pointer), ("i32", width), (self.flag, self._first_mask(used))]
        zeros = (self.type, "zeroinitializer")
        return self.code.call(symbol, self.type, *arguments, zeros)

    def store_some(self, value: str, pointer: str, used: int) -> None:
        """Store the first `used` elements only."""
        if used == self.count:
            self.store(value, pointer)
            return
        symbol, width = f"llvm.masked.store.{self._suffix()}.p0", str(self.dtype.itemsize)
        arguments = [(self.type, value), ("ptr", pointer), ("i32", width)]
        self.code.call(symbol, "void", *arguments, (self.flag, self._first_mask(used)))

    def keep(self, value: str, used: int) -> str:
        """Keep the first `used` elements, and zero the rest."""
        if used == self.count:
            return value
        return self.select(self._first_mask(used), value, "zeroinitializer")

    def _first_mask(self, used: int) -> str:
        flags = [f"i1 {'true' if k < used else 'false'}" for k in range(self.count)]
        return f"<{', '.join(flags)}>"
