"""Layer 8 · compiler: arithmetic on several elements at a time, in native forms of products."""

from __future__ import annotations

from typing import Any

import numpy as np

from wengert.compiler.codegen.code import Code, llvm_type

__all__ = ["Vector"]


class Vector:
    """Arithmetic on so many elements at a time."""

    def __init__(self, code: Code, dtype: np.dtype[Any], count: int) -> None:
        self.code = code
        self.dtype = dtype
        self.count = count
        self.element = llvm_type(dtype)
        self.type = f"<{count} x {self.element}>"
        self._letter = "f" if dtype.kind == "f" else "i"

    def load(self, pointer: str) -> str:
        """The elements from an address on."""
        return self.code.let(f"load {self.type}, ptr {pointer}, align {self.dtype.itemsize}")

    def store(self, value: str, pointer: str) -> None:
        """Write all elements to an address."""
        self.code.do(f"store {self.type} {value}, ptr {pointer}, align {self.dtype.itemsize}")

    def spread(self, value: str) -> str:
        """One element in all places."""
        return self.code.spread(value, self.element, self.count)

    def multiply_add(self, a: str, b: str, c: str) -> str:
        """a * b + c."""
        if self.dtype.kind == "f":
            symbol = f"llvm.fmuladd.v{self.count}f{8 * self.dtype.itemsize}"
            self.code.module.declare(
                symbol, f"declare {self.type} @{symbol}({self.type}, {self.type}, {self.type})"
            )
            given = ", ".join([f"{self.type} {value}" for value in (a, b, c)])
            return self.code.let(f"call {self.type} @{symbol}({given})")
        return self.code.let(f"add {self.type} {self.code.let(f'mul {self.type} {a}, {b}')}, {c}")

    def sum(self, value: str) -> str:
        """The sum of all places."""
        floats = self.dtype.kind == "f"
        suffix = f"v{self.count}{self._letter}{8 * self.dtype.itemsize}"
        symbol = f"llvm.vector.reduce.{'fadd' if floats else 'add'}.{suffix}"
        start, flags = (f"{self.element} -0.0, ", "reassoc ") if floats else ("", "")
        types = f"{self.element}, {self.type}" if floats else self.type
        self.code.module.declare(symbol, f"declare {self.element} @{symbol}({types})")
        given = f"{start}{self.type} {value}"
        return self.code.let(f"call {flags}{self.element} @{symbol}({given})")

    def load_some(self, pointer: str, used: int) -> str:
        """The first `used` elements, and zeros; what lies behind them is not read."""
        if used == self.count:
            return self.load(pointer)
        suffix = f"v{self.count}{self._letter}{8 * self.dtype.itemsize}.p0"
        symbol = f"llvm.masked.load.{suffix}"
        flags = f"<{self.count} x i1>"
        self.code.module.declare(
            symbol, f"declare {self.type} @{symbol}(ptr, i32 immarg, {flags}, {self.type})"
        )
        given = f"ptr {pointer}, i32 {self.dtype.itemsize}, {self._first(used)}"
        return self.code.let(f"call {self.type} @{symbol}({given}, {self.type} zeroinitializer)")

    def store_some(self, value: str, pointer: str, used: int) -> None:
        """Write the first `used` elements only."""
        if used == self.count:
            self.store(value, pointer)
            return
        suffix = f"v{self.count}{self._letter}{8 * self.dtype.itemsize}.p0"
        symbol = f"llvm.masked.store.{suffix}"
        flags = f"<{self.count} x i1>"
        self.code.module.declare(
            symbol, f"declare void @{symbol}({self.type}, ptr, i32 immarg, {flags})"
        )
        given = f"{self.type} {value}, ptr {pointer}, i32 {self.dtype.itemsize}"
        self.code.do(f"call void @{symbol}({given}, {self._first(used)})")

    def keep(self, value: str, used: int) -> str:
        """The first `used` elements of a vector, and zeros."""
        if used == self.count:
            return value
        return self.code.let(
            f"select {self._first(used)}, {self.type} {value}, {self.type} zeroinitializer"
        )

    def _first(self, used: int) -> str:
        flags = ", ".join([f"i1 {'true' if k < used else 'false'}" for k in range(self.count)])
        return f"<{self.count} x i1> <{flags}>"
