"""Layer 8 · compiler: `wengert.compile`, and what belongs to it under PyTorch's names.

Functions of tensors become programs (`wengert.compiler.ir`) by being run once on values that note
what is computed with them (`trace`); programs are made simpler (`passes`) and run by a backend.
"""

from wengert.base.names import shows
from wengert.compiler.api import Compiled, CompileError, compile
from wengert.compiler.control import (
    allow_in_graph,
    assume_constant_result,
    cudagraph_mark_step_begin,
    disable,
    is_compiling,
    is_dynamo_compiling,
    is_exporting,
    list_backends,
    reset,
    set_stance,
    substitute_in_graph,
)

__all__ = [
    "CompileError",
    "Compiled",
    "allow_in_graph",
    "assume_constant_result",
    "compile",
    "cudagraph_mark_step_begin",
    "disable",
    "is_compiling",
    "is_dynamo_compiling",
    "is_exporting",
    "list_backends",
    "reset",
    "set_stance",
    "substitute_in_graph",
]
__dir__ = shows(__all__)
