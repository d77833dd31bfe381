"""Differences from PyTorch that its sample inputs do not show: reasons, and operations."""

from __future__ import annotations

from pathlib import Path

__all__ = ["BEYOND"]


def _row(block: str) -> tuple[str, str]:
    """The reason, whose lines are indented, and the operations above it."""
    lines = block.splitlines()
    reason = " ".join(line.strip() for line in lines if line.startswith(" "))
    return reason, " ".join(line for line in lines if not line.startswith(" "))


_TEXT = Path(__file__).with_suffix(".txt").read_text(encoding="utf-8")
BEYOND = tuple(map(_row, _TEXT.strip().split("\n\n")[1:]))
