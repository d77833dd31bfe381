"""Layer 8 · compiler: a readable report on a compiled function."""

from __future__ import annotations

import linecache
from collections.abc import Iterable, Iterator
from typing import Any

from wengert.compiler.ir.executable import counted


class Explanation:
    """A report on a compiled function.

    Attributes
    ----------
    name: The function's name.
    reason: Why it runs uncompiled, or None.
    traces: The total number of traces.
    decisions: For each decision on values: its source line, as (file, line), and the outcomes met.
    prints: The source lines that print, warn or log, as (file, line), each once.
    seconds: The time that tracing and compiling took.
    descriptions: The backend's description of each program.
    """

    def __init__(self, compiled: Any) -> None:
        self.name = getattr(compiled.function, "__qualname__", repr(compiled.function))
        self.reason = compiled.reason
        self.seconds = self._seconds = compiled.seconds
        self._where = compiled.where
        self._beneath = [Explanation(beneath) for beneath in compiled.under_transforms.values()]
        self._left = [entry for _, entry in compiled.entries if entry.left is not None]
        self._entries = [entry for _, entry in compiled.entries if entry.tree.root is not None]
        for entry in self._entries:
            # building is deferred to the first run
            entry.tree.prepare()
        self._own = sum(entry.tree.traces for entry in self._entries)
        self.traces = self._own
        self.decisions = [
            (block.guard.site, [child.outcome for child in block.children.values()])
            for entry in self._entries
            for block in entry.tree.blocks()
            if block.guard is not None
        ]
        self.prints = [site for _, site in _reports(self._entries)]
        self.descriptions = [
            block.executable.describe()
            for entry in self._entries
            for block in entry.tree.blocks()
            if block.executable is not None
        ]
        for beneath in self._beneath:
            self.traces += beneath.traces
            self.seconds += beneath.seconds
            self.decisions += beneath.decisions
            self.descriptions += beneath.descriptions

    def __str__(self) -> str:
        return "\n".join(self._lines())

    __repr__ = __str__

    @property
    def graph_count(self) -> int:
        """The number of compiled programs, as PyTorch's ``_dynamo.explain`` counts them."""
        return len(self.descriptions)

    @property
    def graph_break_count(self) -> int:
        """The number of times that one program ended and the next began."""
        return max(self.graph_count - 1, 0)

    @property
    def break_reasons(self) -> list[Any]:
        """Why the function runs uncompiled, and where its programs end."""
        return [self.reason] * (self.reason is not None) + self.decisions

    def programs(self) -> str:
        """Return the programs of all traces, as text."""
        parts = []
        for entry in self._entries:
            for block in entry.tree.blocks():
                if block.program is not None:
                    parts.append(str(block.program))
                if block.guard is not None:
                    parts.append(f"decide {block.guard.kind} at {_where(block.guard.site)}")
        parts += [text for beneath in self._beneath if (text := beneath.programs())]
        return "\n".join(parts)

    def _lines(self) -> Iterator[str]:
        if self.reason is not None:
            yield f"{self.name}{self._where} runs as it is: {self.reason}"
            if self.reason.where is not None:
                yield f"    {_source(self.reason.where)}"
        kinds = len(self._entries)
        if kinds or not (self._beneath or self._where):
            yield (
                f"{self.name}{self._where}: {self._own} trace{'s' * (self._own != 1)} for {kinds} "
                f"kind{'s' * (kinds != 1)} of arguments, made in {1000 * self._seconds:.0f} ms"
            )
        for entry in self._left:
            shapes = counted(entry.environment.shapes)
            yield f"  with {shapes} that share memory it runs as it is: {entry.left}"
        for entry in self._entries:
            shapes = counted(entry.environment.shapes)
            gain = (
                ""
                if entry.gain is None
                else f": estimated {entry.gain:.1f} times as quick as uncompiled"
            )
            yield f"  with {shapes or 'no tensors'}{gain}"
            if getattr(entry.tree, "native", None) is not None:
                yield "    native code goes from block to block by itself"
            for block in entry.tree.blocks():
                if block.executable is not None:
                    yield from (
                        f"    {line}" for line in str(block.executable.describe()).splitlines()
                    )
                if block.guard is not None:
                    outcomes = ", ".join(repr(c.outcome) for c in block.children.values())
                    yield f"    decision at {_where(block.guard.site)}: {outcomes} so far"
                    yield f"        {_source(block.guard.site)}"
            for name, site in _reports([entry]):
                yield f"    {name}() at {_where(site)}: Python calls it when all is computed"
                yield f"        {_source(site)}"
        for beneath in self._beneath:
            yield from beneath._lines()


def _reports(entries: Iterable[Any]) -> list[tuple[str, Any]]:
    """Return the calls in traces that print, warn or log, with their lines, each once."""
    blocks = [block for entry in entries for block in entry.tree.blocks()]
    ends = [block.exit for block in blocks if block.exit is not None]
    return list(dict.fromkeys((said.name, said.site) for exit in ends for said in exit.said))


def _where(site: tuple[str, int] | None) -> str:
    return "an unknown place" if site is None else f"{site[0].rsplit('/', 1)[-1]}:{site[1]}"


def _source(site: tuple[str, int] | None) -> str:
    return "" if site is None else linecache.getline(*site).strip()
