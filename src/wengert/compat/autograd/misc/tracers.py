"""Layer 9 · compat: graphs of calls: one to replay, and one to inspect."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from wengert.compat.autograd.tracer import Node, trace
from wengert.compat.autograd.util import subvals, toposort
from wengert.compat.autograd.wrap_util import wraps
from wengert.compat.kit.namespaces import defined


class ConstGraphNode(Node):
    """A call that can be replayed with other values of its inputs."""

    __slots__ = ("parents", "partial_fun")

    def __init__(self, *call) -> None:
        _, fun, args, kwargs, argnums, self.parents = call

        def partial_fun(partial_args) -> Any:
            return fun(*subvals(args, zip(argnums, partial_args, strict=True)), **kwargs)

        self.partial_fun = partial_fun

    def initialize_root(self) -> None:
        """Start at the argument, which has no parents."""
        self.parents = ()


def const_graph_unary(fun: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """Return a function of one argument that records its calls the first time and then replays
    them.

    Branches that depend on values are decided once, at the first call.

    Examples
    --------
    >>> from wengert.compat.autograd.misc.tracers import const_graph_unary
    >>> f = const_graph_unary(lambda x: np.sin(x) ** 2 if x > 0 else x)
    >>> f(0.5).round(4), f(-0.5).round(4)
    (np.float64(0.2298), np.float64(0.2298))
    """
    graph: list[Any] = []

    def maybe_cached_fun(x) -> Any:
        if not graph:
            value, node = trace(ConstGraphNode.new_root(), fun, x)
            if node is None:
                raise ValueError("Output is independent of input")
            graph.extend(list(toposort(node))[::-1])
            return value
        values = {graph[0]: x}
        for node in graph[1:]:
            values[node] = node.partial_fun([values[parent] for parent in node.parents])
        return values[graph[-1]]

    return maybe_cached_fun


def const_graph(fun: Callable[..., Any], *args, **kwargs) -> Callable[..., Any]:
    """Like `const_graph_unary`, but with some arguments of `fun` fixed."""
    unary = const_graph_unary(lambda rest: fun(*args, *rest, **kwargs))

    @wraps(fun)
    def again(*rest) -> Any:
        return unary(rest)

    return again


class FullGraphNode(Node):
    """A call with its value, its function, and its arguments.

    ``recipe`` is ``(fun, args, kwargs, [(position, node), ...])``.
    """

    __slots__ = ("recipe", "value")

    def __init__(self, *call) -> None:
        self.value, fun, args, kwargs, argnums, parents = call
        self.recipe: Any = (fun, args, kwargs, list(zip(argnums, parents, strict=True)))

    def initialize_root(self) -> None:
        """Start at the argument, which has no parents."""
        self.value = None
        self.recipe = (lambda x: x, (), {}, [])


def full_graph(fun: Callable[..., Any], *args, **kwargs) -> Any:
    """Return the node of the result of a call, from which the whole graph can be reached."""
    _, node = trace(FullGraphNode.new_root(), lambda args: fun(*args, **kwargs), args)
    return node


__all__ = defined(globals())
