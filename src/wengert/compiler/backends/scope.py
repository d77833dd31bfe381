"""Layer 8 · compiler: the state of a writer: registers in scope, and scratch memory."""

from __future__ import annotations

from typing import Any

from wengert.compiler.codegen.code import Code


class Workspace:
    """Scratch memory at the end of the arena, which all calls share."""

    def __init__(self, code: Code, start: int) -> None:
        self.code = code
        self.start = start
        self.end = start
        self._next = start

    def __call__(self, size: int) -> str:
        """Allocate so many bytes, and return their address."""
        at = self._next
        self._next += -(-size // 64) * 64
        self.end = max(self.end, self._next)
        name = self.code.fresh("work")
        self.code.first(f"{name} = getelementptr inbounds i8, ptr %arena, i64 {at}")
        return name

    def clear(self) -> None:
        """Free everything that was allocated."""
        self._next = self.start


class Scope:
    """The values computed at the point of emission, and in the enclosing scopes."""

    __slots__ = ("known", "outer")

    def __init__(self, outer: Scope | None = None) -> None:
        self.outer = outer
        self.known: dict[Any, str] = {}

    def find(self, key: Any) -> str | None:
        """Return the register of a key, or None if it has not been computed."""
        scope: Scope | None = self
        while scope is not None:
            name = scope.known.get(key)
            if name is not None:
                return name
            scope = scope.outer
        return None
