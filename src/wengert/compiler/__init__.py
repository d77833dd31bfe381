"""Layer 8 · compiler: `wengert.compile`, and what belongs to it under PyTorch's names.

Functions of tensors become programs (`wengert.compiler.ir`) by being run once on values that note
what is computed with them (`trace`); programs are made simpler (`passes`) and run by a backend.
"""

from wengert.base.names import shows
from wengert.compiler.api import Compiled, CompileError, compile
from wengert.compiler.control import disable, is_compiling, reset

__all__ = ["CompileError", "Compiled", "compile", "disable", "is_compiling", "reset"]
__dir__ = shows(__all__)
