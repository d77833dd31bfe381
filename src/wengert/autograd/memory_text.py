"""Layer 7 · autograd: the rows of a memory report, and its text."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

_ROWS = 10


class RoleRow(NamedTuple):
    """The memory held for one reason."""

    role: str
    arrays: int
    bytes: int


class OperationRow(NamedTuple):
    """The memory saved by nodes of one kind."""

    operation: str
    nodes: int
    arrays: int
    bytes: int


class ArrayRow(NamedTuple):
    """The arrays of one shape and dtype."""

    shape: tuple[int, ...]
    dtype: str
    arrays: int
    bytes: int


class GraphRow(NamedTuple):
    """The memory held by the graph of one output."""

    output: str
    nodes: int
    bytes: int
    recorded_at: str


def readable(size: int) -> str:
    """Format a number of bytes for people."""
    if size < 1000:
        return f"{size} B"
    scaled = float(size)
    for unit in ("kB", "MB", "GB"):
        scaled /= 1000
        if scaled < 999.95:
            return f"{scaled:.1f} {unit}"
    return f"{scaled / 1000:.1f} TB"


def _table(heads: tuple[str, ...], rows: Sequence[tuple[str, ...]], wide: int) -> list[str]:
    """Return the lines of a table, or none without rows; rows beyond the limit are counted."""
    lines = []
    for row in [heads, *rows[:_ROWS]]:
        cells = "".join(
            f"  {cell:>{8 if head in ('bytes', 'saved') else len(head)}}"
            for cell, head in zip(row[1:], heads[1:], strict=False)
        )
        lines.append(f"{row[0]:{wide}}{cells}{'  ' + row[-1] if len(row) > len(heads) else ''}")
    if len(rows) > _ROWS:
        lines.append(f"and {len(rows) - _ROWS} more")
    return ["", *(line.rstrip() for line in lines)] if rows else []


def text_of(report: Any) -> str:
    """Return the text of a `MemoryReport`."""
    count = sum(row.arrays for row in report.roles)
    first = (
        f"{report.nodes} nodes and {report.tensors} tensors hold {readable(report.total)} "
        f"in {count} arrays"
    )
    roles = [(row.role, str(row.arrays), readable(row.bytes)) for row in report.roles]
    operations = [
        (row.operation, str(row.nodes), str(row.arrays), readable(row.bytes))
        for row in report.operations
    ]
    arrays = [
        (f"{row.dtype}{list(row.shape)}", str(row.arrays), readable(row.bytes))
        for row in report.arrays
    ]
    graphs = [
        (row.output, str(row.nodes), readable(row.bytes), row.recorded_at) for row in report.graphs
    ]
    tables = (operations, arrays, graphs)
    wide = max([14, *(len(row[0]) for rows in tables for row in rows[:_ROWS])])
    lines = [
        first,
        *([f"free, and kept for the next: {readable(report.kept)}"] if report.kept else []),
        *_table(("held as", "arrays", "bytes"), roles, wide),
        *_table(("saved by", "nodes", "arrays", "bytes"), operations, wide),
        *_table(("array", "arrays", "bytes"), arrays, wide),
        *_table(("graph of", "nodes", "saved"), graphs, wide),
    ]
    return "\n".join(lines)
