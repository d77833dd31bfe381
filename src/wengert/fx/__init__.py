"""Layer 9 · fx: programs of modules as graphs that can be edited, under PyTorch's names.

`symbolic_trace` calls a module or a function with proxies for its arguments, which record the
operations on them; a `GraphModule` is a module that runs such a graph, as Python code generated
from it. A branch on the value of a proxy cannot be traced. `wengert.compile` does not use any of
this: it is for programs that read and rewrite others.
"""

from wengert.base.elsewhere import elsewhere
from wengert.base.names import imported, shows
from wengert.fx._symbolic_trace import Tracer as Tracer
from wengert.fx._symbolic_trace import symbolic_trace as symbolic_trace
from wengert.fx._symbolic_trace import wrap as wrap
from wengert.fx.graph import Graph as Graph
from wengert.fx.graph_module import GraphModule as GraphModule
from wengert.fx.interpreter import Interpreter as Interpreter
from wengert.fx.interpreter import Transformer as Transformer
from wengert.fx.node import Node as Node
from wengert.fx.node import has_side_effect as has_side_effect
from wengert.fx.node import map_arg as map_arg
from wengert.fx.proxy import Proxy as Proxy
from wengert.fx.subgraph_rewriter import replace_pattern as replace_pattern

__all__ = imported(globals())
__getattr__ = elsewhere(__name__)
__dir__ = shows(__all__)
