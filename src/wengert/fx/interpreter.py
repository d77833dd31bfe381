"""Layer 9 · fx: `Interpreter`, which runs a graph node by node, and `Transformer`."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from wengert.base.elsewhere import elsewhere
from wengert.fx.graph import Graph
from wengert.fx.graph_module import GraphModule
from wengert.fx.node import Node, map_arg
from wengert.fx.proxy import GraphAppendingTracer, Proxy

__all__ = ["Interpreter", "Transformer"]


class Interpreter:
    """Runs a graph node by node; a subclass can override what nodes do.

    Parameters
    ----------
    module : Module. The module with the parameters and modules that the nodes name.
    garbage_collect_values : bool. Whether to free values after their last use.
    graph : Graph, optional. The graph; default: that of the module.

    Attributes
    ----------
    env : dict. The values of the nodes so far.

    Examples
    --------
    >>> class Doubled(wg.fx.Interpreter):
    ...     def call_function(self, target, args, kwargs):
    ...         return 2 * super().call_function(target, args, kwargs)
    >>> traced = wg.fx.symbolic_trace(lambda x: wg.relu(x))
    >>> Doubled(traced).run(wg.tensor([-1.0, 2.0]))
    tensor([0., 4.])
    """

    def __init__(
        self, module: Any, garbage_collect_values: bool = True, graph: Graph | None = None
    ) -> None:
        self.module = module
        self.submodules = dict(module.named_modules())
        self.graph = module.graph if graph is None else graph
        self.env: dict[Node, Any] = {}
        self.name = "Interpreter"
        self.garbage_collect_values = garbage_collect_values
        self.extra_traceback = True
        self.user_to_last_uses: dict[Node, list[Node]] = {}
        done: set[Node] = set()
        for node in reversed(self.graph.nodes):
            for arg in node.all_input_nodes:
                if arg not in done:
                    done.add(arg)
                    self.user_to_last_uses.setdefault(node, []).append(arg)

    def run(
        self,
        *args: Any,
        initial_env: dict[Node, Any] | None = None,
        enable_io_processing: bool = True,
    ) -> Any:
        """Run the graph on `args`; nodes in `initial_env` already have values.

        Examples
        --------
        >>> traced = wg.fx.symbolic_trace(lambda x: wg.relu(x))
        >>> wg.fx.Interpreter(traced).run(wg.tensor([-1.0, 2.0]))
        tensor([0., 2.])
        """
        self.env = dict(initial_env or {})
        self.args_iter: Iterator[Any] = iter(args)
        for node in self.graph.nodes:
            if node in self.env:
                continue
            self.env[node] = self.run_node(node)
            if node.op == "output":
                return self.env[node]
            if self.garbage_collect_values:
                for gone in self.user_to_last_uses.get(node, ()):
                    self.env.pop(gone, None)
        return None

    def boxed_run(self, args_list: list[Any]) -> Any:
        """Run like `run` on a list of arguments, and empty the list."""
        args = list(args_list)
        args_list.clear()
        return self.run(*args)

    def run_node(self, n: Node) -> Any:
        """Run a node and return its result."""
        args, kwargs = self.fetch_args_kwargs_from_env(n)
        return getattr(self, n.op)(n.target, args, kwargs)

    def fetch_args_kwargs_from_env(self, n: Node) -> tuple[tuple[Any, ...], dict[str, Any]]:
        """Return the arguments of a node, with values in place of nodes."""
        return self.map_nodes_to_values(n.args, n), self.map_nodes_to_values(n.kwargs, n)

    def map_nodes_to_values(self, args: Any, n: Node) -> Any:
        """Return `args` with values in place of nodes."""

        def value(node: Node) -> Any:
            if node not in self.env:
                raise RuntimeError(
                    f"Node {n} referenced nonexistent value {node}! Run Graph.lint() to diagnose "
                    "such issues"
                )
            return self.env[node]

        return map_arg(args, value)

    def fetch_attr(self, target: str) -> Any:
        """Return an attribute of the module by its dotted name."""
        held = self.module
        for part in target.split("."):
            if not hasattr(held, part):
                raise RuntimeError(f"Node referenced nonexistent target {target}")
            held = getattr(held, part)
        return held

    # -- for subclasses ----------------------------------------------------------------------------

    def placeholder(self, target: str, args: Any, kwargs: Any) -> Any:
        """Return the next argument."""
        if target.startswith("*"):
            return list(self.args_iter)
        try:
            return next(self.args_iter)
        except StopIteration:
            if args:
                return args[0]
            raise RuntimeError(
                f"Expected positional argument for parameter {target}, but one was not passed in!"
            ) from None

    def get_attr(self, target: str, args: Any, kwargs: Any) -> Any:
        """Return an attribute of the module."""
        return self.fetch_attr(target)

    def call_function(self, target: Any, args: Any, kwargs: Any) -> Any:
        """Call a function and return its result."""
        return target(*args, **kwargs)

    def call_method(self, target: str, args: Any, kwargs: Any) -> Any:
        """Call a method of the first argument and return its result."""
        owner, *rest = args
        return getattr(owner, target)(*rest, **kwargs)

    def call_module(self, target: str, args: Any, kwargs: Any) -> Any:
        """Call a submodule and return its result."""
        return self.fetch_attr(target)(*args, **kwargs)

    def output(self, target: str, args: Any, kwargs: Any) -> Any:
        """Return the result of the program."""
        return args[0]


class Transformer(Interpreter):
    """An interpreter on proxies: `transform` returns a module with a new graph.

    Examples
    --------
    >>> class Smooth(wg.fx.Transformer):
    ...     def call_function(self, target, args, kwargs):
    ...         target = wg.tanh if target is wg.relu else target
    ...         return super().call_function(target, args, kwargs)
    >>> traced = wg.fx.symbolic_trace(lambda x: wg.relu(x))
    >>> [node.name for node in Smooth(traced).transform().graph.nodes]
    ['x', 'tanh', 'output']
    """

    def __init__(self, module: Any) -> None:
        super().__init__(module)
        self.new_graph = Graph()
        self.tracer = GraphAppendingTracer(self.new_graph)

    def placeholder(self, target: str, args: Any, kwargs: Any) -> Any:
        """Make an input of the new graph."""
        default = args[0] if args else ...
        return Proxy(self.new_graph.placeholder(target, default_value=default), self.tracer)

    def get_attr(self, target: str, args: Any, kwargs: Any) -> Any:
        """Make a node for an attribute of the module, in the new graph."""
        return self.tracer.create_proxy("get_attr", target, args, kwargs)

    def call_function(self, target: Any, args: Any, kwargs: Any) -> Any:
        """Make a call of a function, in the new graph."""
        return self.tracer.create_proxy("call_function", target, args, kwargs)

    def call_method(self, target: str, args: Any, kwargs: Any) -> Any:
        """Make a call of a method, in the new graph."""
        return self.tracer.create_proxy("call_method", target, args, kwargs)

    def call_module(self, target: str, args: Any, kwargs: Any) -> Any:
        """Make a call of a module, in the new graph."""
        return self.tracer.create_proxy("call_module", target, args, kwargs)

    def transform(self) -> GraphModule:
        """Return the module with the new graph."""
        result = self.run(enable_io_processing=False)
        if result is not None:
            self.new_graph.output(self.tracer.create_arg(result))
        return GraphModule(self.module, self.new_graph)


__getattr__ = elsewhere(__name__)
