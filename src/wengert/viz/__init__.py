"""Layer 9 · viz: pictures of recorded graphs and of sweeps over them.

`draw` shows the graph recorded for a tensor, `dependency_graph` how a function computes its
value, `tree` prints a graph in a terminal, and `curve` plots numbers as a line. They need no other
software. `make_dot` is torchviz's function, which needs Graphviz.
"""

import importlib as _importlib
from typing import TYPE_CHECKING as _TYPE_CHECKING

from wengert.base.names import imported, shows
from wengert.viz.curve import curve as curve
from wengert.viz.dependency import dependency_graph as dependency_graph
from wengert.viz.draw import draw as draw
from wengert.viz.drawing import Drawing as Drawing
from wengert.viz.torchviz import make_dot as make_dot
from wengert.viz.torchviz import make_dot_from_trace as make_dot_from_trace
from wengert.viz.tree import tree as tree

__all__ = imported(globals(), "draw_program")
__dir__ = shows(__all__)


if _TYPE_CHECKING:
    from wengert.viz.programs import draw_program as draw_program
else:

    def __getattr__(name):
        """Import `draw_program`, which needs the compiler, on first access."""
        if name == "draw_program":
            return _importlib.import_module("wengert.viz.programs").draw_program
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
