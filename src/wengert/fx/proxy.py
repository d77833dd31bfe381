"""Layer 9 · fx: `Proxy`, which stands for a value while a program is traced, and its tracers."""

from __future__ import annotations

import dataclasses
import dis
import inspect
import operator
import re
import sys
from typing import Any

from wengert.base.elsewhere import elsewhere
from wengert.fx.graph import Graph
from wengert.fx.node import BINARY, Node, map_aggregate
from wengert.nn import functional
from wengert.tape.base import TensorBase
from wengert.tensor.overrides import prepare

__all__ = ["Attribute", "GraphAppendingTracer", "Proxy", "TraceError", "TracerBase"]

_BUILT_IN = re.compile(
    r"conv\w*|avg_pool\dd|adaptive_avg_pool1d|pixel_\w+|p(airwise_)?dist(ance)?|bilinear|gelu|prelu|"
    r"channel_shuffle|cosine_similarity|(hard|soft)shrink|linear|logsigmoid|one_hot|sigmoid|softplus|"
    r"scaled_dot_product_attention|tanh"
)
"""Functions of `nn.functional` whose nodes have the arguments of the call: PyTorch's built-ins."""


class TraceError(ValueError):
    """A program cannot be traced: it depends on a value that is not known yet."""


class TracerBase:
    """Turns operations on proxies into nodes of its `graph`."""

    graph: Graph
    root: Any = None
    check_mutable_operations = False
    """Has no effect: it exists for programs that set it."""

    def create_node(
        self,
        kind: str,
        target: Any,
        args: Any,
        kwargs: Any,
        name: Any = None,
        type_expr: Any = None,
    ) -> Node:
        """Make a node of the graph."""
        return self.graph.create_node(kind, target, args, kwargs, name, type_expr)

    def proxy(self, node: Node) -> Proxy:
        """Return a proxy for the result of a node."""
        return Proxy(node, self)

    def create_proxy(
        self,
        kind: str,
        target: Any,
        args: Any,
        kwargs: Any,
        name: Any = None,
        type_expr: Any = None,
        proxy_factory_fn: Any = None,
    ) -> Any:
        """Make a node from arguments that may hold proxies, and return a proxy for its result."""
        given = self.create_arg(args), self.create_arg(kwargs)
        node = self.create_node(kind, target, *given, name, type_expr)
        return (proxy_factory_fn or self.proxy)(node)

    def create_arg(self, a: Any) -> Any:
        """Convert a value to a node's argument: proxies, also in containers, become their nodes.

        A named tuple or an instance of a dataclass becomes a call of its class.

        Raises
        ------
        NotImplementedError: If a graph cannot hold such a value.
        """
        if isinstance(a, Proxy):
            return a.node
        if isinstance(a, TensorBase):
            raise NotImplementedError(f"argument of type: {type(a)}")
        if hasattr(a, "__fx_create_arg__"):
            return a.__fx_create_arg__(self)
        if isinstance(a, tuple) and hasattr(a, "_fields"):
            return self.create_node("call_function", type(a), tuple(map(self.create_arg, a)), {})
        if dataclasses.is_dataclass(a) and not isinstance(a, type):
            named = {field.name: getattr(a, field.name) for field in dataclasses.fields(a)}
            return self.create_node("call_function", type(a), (), self.create_arg(named))
        if isinstance(a, tuple | list):
            return (tuple if isinstance(a, tuple) else list)(map(self.create_arg, a))
        if isinstance(a, dict):
            for key in a:
                if isinstance(key, Proxy):
                    raise RuntimeError(
                        "Keys for dictionaries used as an argument cannot contain a Node. Got key: "
                        f"{key}"
                    )
            return {key: self.create_arg(value) for key, value in a.items()}
        return map_aggregate(a, self.create_arg) if isinstance(a, slice) else a

    def to_bool(self, obj: Proxy) -> bool:
        """Refuse a branch on a proxy.

        Raises
        ------
        TraceError: Always, unless a subclass overrides this.
        """
        raise TraceError("symbolically traced variables cannot be used as inputs to control flow")

    def iter(self, obj: Proxy) -> Any:
        """Iterate over a proxy: only unpacking has a known length.

        Raises
        ------
        TraceError: For any other loop.
        """
        # the loop is in the frame that called the proxy's method
        frame = sys._getframe(2)
        step = next(i for i in dis.get_instructions(frame.f_code) if i.offset == frame.f_lasti)
        if step.opname == "UNPACK_SEQUENCE":
            return (operator.getitem(obj, i) for i in range(step.argval))
        raise TraceError(
            "Proxy object cannot be iterated. This can be attempted when the Proxy is used in a "
            "loop or as a *args or **kwargs function argument: loop over numbers that are known, "
            "or call what loops by a function under torch.fx.wrap"
        )

    def keys(self, obj: Proxy) -> Any:
        """Return the keys of ``**proxy``: a proxy itself."""
        return Attribute(obj, "keys")()


class GraphAppendingTracer(TracerBase):
    """Appends nodes to an existing graph."""

    def __init__(self, graph: Graph) -> None:
        self.graph = graph


class Proxy:
    """Stands for a value while a program is traced; operations on it become nodes.

    Parameters
    ----------
    node : Node. The node whose result it stands for.
    tracer : TracerBase, optional. The tracer that makes nodes; default: one that appends to the
        node's graph.

    Examples
    --------
    >>> graph = wg.fx.Graph()
    >>> x = wg.fx.Proxy(graph.placeholder("x"))
    >>> _ = graph.output((wg.relu(x) + 1).node)
    >>> print(graph)
    graph():
        %x : [num_users=1] = placeholder[target=x]
        %relu : [num_users=1] = call_function[target=torch.relu](args = (%x,), kwargs = {})
        %add : [num_users=1] = call_function[target=operator.add](args = (%relu, 1), kwargs = {})
        return add
    """

    node: Node

    def __init__(self, node: Node, tracer: TracerBase | None = None) -> None:
        # from the first proxy on, functions check for classes that override them
        prepare()
        self.tracer = GraphAppendingTracer(node.graph) if tracer is None else tracer
        self.node = node

    def __repr__(self) -> str:
        return f"Proxy({self.node.name})"

    def __getattr__(self, k: str) -> Any:
        if k.startswith("__") and k.endswith("__"):
            # attributes that the interpreter and libraries read from any object
            raise AttributeError(k)
        return Attribute(self, k)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return self.tracer.create_proxy("call_method", "__call__", (self, *args), kwargs)

    def __iter__(self) -> Any:
        return self.tracer.iter(self)

    def __bool__(self) -> bool:
        return self.tracer.to_bool(self)

    def __len__(self) -> int:
        raise RuntimeError(
            "'len' is not supported in symbolic tracing by default. If you want this call to be "
            "recorded, please call torch.fx.wrap('len') at module scope"
        )

    def __contains__(self, item: Any) -> bool:
        raise RuntimeError("'in' is not supported in symbolic tracing: it needs the values")

    def keys(self) -> Any:
        """Return the keys of ``**proxy``."""
        return self.tracer.keys(self)

    __hash__ = object.__hash__

    @classmethod
    def __torch_function__(cls, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        kwargs = kwargs or {}
        tracers: dict[TracerBase, None] = {}

        def find(value: Any) -> Any:
            if isinstance(value, Proxy):
                tracers[value.tracer] = None
            return value

        map_aggregate((args, kwargs), find)
        if len(tracers) > 1:
            raise RuntimeError(f"Found multiple different tracers {list(tracers)}")
        (tracer,) = tracers
        name = getattr(func, "__name__", "")
        if getattr(func, "__qualname__", "").startswith("Tensor."):
            return tracer.create_proxy("call_method", name, args, kwargs)
        found: Any = getattr(functional, name, None)
        if found is func and not _BUILT_IN.fullmatch(name):
            # functions in Python pass on all arguments, those that have defaults by name
            bound = inspect.signature(found).bind(*args, **kwargs)
            bound.apply_defaults()
            params = bound.signature.parameters.values()
            named = {p.name for p in params if p.default is not p.empty}
            args = tuple([v for key, v in bound.arguments.items() if key not in named])
            kwargs = {key: v for key, v in bound.arguments.items() if key in named}
        return tracer.create_proxy("call_function", func, args, kwargs)


class ParameterProxy(Proxy):
    """Stands for a parameter, whose shape is known while a program is traced."""

    def __init__(self, node: Node, name: str, param: Any, tracer: TracerBase) -> None:
        super().__init__(node, tracer)
        self.param, self.name = param, name

    def __repr__(self) -> str:
        return f"ParameterProxy({self.name})"

    shape = property(lambda self: self.param.shape)
    ndim = property(lambda self: self.param.ndim)

    def size(self) -> Any:
        """Return the shape."""
        return self.param.size()

    def dim(self) -> int:
        """Return the number of dimensions."""
        return int(self.param.dim())

    def numel(self) -> int:
        """Return the number of elements."""
        return int(self.param.numel())

    nelement = numel


class Attribute(Proxy):
    """An attribute of a proxy's value: a method if it is called, otherwise a node."""

    def __init__(self, root: Proxy, attr: str) -> None:
        self.root, self.attr, self.tracer = root, attr, root.tracer
        self._node: Node | None = None

    @property
    def node(self) -> Node:  # type: ignore[override]
        """The node, made when the attribute itself is first used."""
        if self._node is None:
            made = self.tracer.create_proxy("call_function", getattr, (self.root, self.attr), {})
            self._node = made.node
        return self._node

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return self.tracer.create_proxy("call_method", self.attr, (self.root, *args), kwargs)


def _operator(func: Any, swapped: bool = False) -> Any:
    def method(self: Proxy, *others: Any) -> Any:
        args = (*reversed(others), self) if swapped else (self, *others)
        return self.tracer.create_proxy("call_function", func, args, {})

    return method


def _install() -> None:
    for func in (*BINARY, operator.neg, operator.pos, operator.invert, operator.getitem, abs):
        name = func.__name__.rstrip("_")
        setattr(Proxy, f"__{name}__", _operator(func))
        if hasattr(int, f"__r{name}__") or func is operator.matmul:
            setattr(Proxy, f"__r{name}__", _operator(func, True))


_install()
__getattr__ = elsewhere(__name__)
