"""Layer 8 · compiler: `wengert.compile`, and what belongs to it under PyTorch's names.

Functions of tensors become programs (`wengert.compiler.ir.programs`) by being run once on values
that note what is computed with them (`trace`); programs are made simpler (`passes`) and run by a
backend.
"""

from wengert.base.names import shows
from wengert.compiler import control
from wengert.compiler.api import Compiled, CompileError, compile
from wengert.compiler.control import *  # noqa: F403  what PyTorch's module has, too

__all__ = ["CompileError", "Compiled", "compile"]
# what is in capitals is for the compiler itself
__all__ += [name for name in control.__all__ if not name.isupper()]
__dir__ = shows(__all__)
