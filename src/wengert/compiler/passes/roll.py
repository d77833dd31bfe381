"""Layer 8 · compiler: repeated steps as loops."""

from __future__ import annotations

from wengert.compiler.ir import Program

__all__ = ["roll"]


def roll(program: Program) -> Program:
    """A program in which repeated steps are loops."""
    return program
