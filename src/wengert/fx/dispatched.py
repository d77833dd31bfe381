"""Layer 9 · fx: graphs of the operations that a call dispatches, and compilers that take graphs."""

from __future__ import annotations

import inspect
import operator
from collections.abc import Callable, Iterator
from typing import Any

from wengert.base.containers import flatten
from wengert.base.ports import provides
from wengert.fx._symbolic_trace import symbolic_trace
from wengert.fx.graph import Graph
from wengert.fx.graph_module import GraphModule
from wengert.fx.node import Node, map_aggregate
from wengert.interp.levels import Lifted
from wengert.nn.modules.module import Module
from wengert.ops.compare import allclose
from wengert.tape.base import TensorBase
from wengert.utils.dispatch import TorchDispatchMode

__all__ = ["make_fx"]


class _Recorder(TorchDispatchMode):
    """Writes the operations that it sees to a graph; tensors that it has not seen are constants."""

    def __init__(self) -> None:
        self.graph = Graph()
        self.constants: dict[str, Any] = {}
        # by payloads, which transforms put in new tensors; with them, to keep their identity
        self._nodes: dict[int, tuple[Any, Node]] = {}

    def note(self, value: Any, node: Node) -> None:
        """Note that a node stands for a tensor, or for several."""
        if isinstance(value, TensorBase):
            self._nodes[id(value._payload)] = value._payload, node
        elif isinstance(value, tuple | list):
            for i, part in enumerate(value):
                self.note(part, self.graph.call_function(operator.getitem, (node, i)))

    def node_of(self, value: Any) -> Any:
        """Return the node of a tensor; other values as they are."""
        if not isinstance(value, TensorBase):
            return value
        if id(value._payload) not in self._nodes:
            if isinstance(value._payload, Lifted):
                raise NotImplementedError("make_fx: call it inside of vmap or jvp, not around")
            name = f"_tensor_constant{len(self.constants)}"
            self.constants[name] = value
            self.note(value, self.graph.get_attr(name))
        return self._nodes[id(value._payload)][1]

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        kwargs = kwargs or {}
        given = map_aggregate(args, self.node_of), map_aggregate(kwargs, self.node_of)
        made = func(*args, **kwargs)
        if func == "lift_fresh":  # a constant
            return made
        self.note(made, self.graph.call_function(func, *given))
        return made


def make_fx(f: Callable[..., Any], *_: Any, **options: Any) -> Callable[..., GraphModule]:
    """Return a function that runs `f` and returns the graph of the operations that it dispatched.

    The graph holds for arguments of the same shapes and the same outcomes of branches; tensors that
    are not arguments are constants in it. To check the graph, `f` is called again, with other
    values.

    Parameters
    ----------
    f : callable. Takes tensors and nested containers of them, and returns such.

    Returns
    -------
    callable: Takes the arguments of `f`, and returns a module that takes their tensors.

    Raises
    ------
    NotImplementedError: By that function, if the graph computes something else.

    Examples
    --------
    >>> from wengert.fx.dispatched import make_fx
    >>> print(make_fx(lambda x: x.sin() + 1)(wg.ones(2)).code.strip())
    def forward(self, x_1):
        sin = torch.ops.aten.sin.default(x_1);  x_1 = None
        add = torch.ops.aten.add.Tensor(sin, 1);  sin = None
        return add
    """

    def traced(*args: Any) -> GraphModule:
        recorder = _Recorder()
        names = [*inspect.signature(f).parameters, *["arg"] * len(args)]
        leaves, rebuild = flatten(args)
        for name, arg in zip(names, args, strict=False):
            for i, leaf in enumerate(flatten(arg)[0], 1):
                recorder.note(leaf, recorder.graph.placeholder(f"{name}_{i}"))
        with recorder:
            result = f(*args)
        recorder.graph.output(map_aggregate(result, recorder.node_of))
        recorder.graph.eliminate_dead_code()
        made = GraphModule(recorder.constants, recorder.graph, getattr(f, "__name__", "f"))
        changed = [_changed(leaf) for leaf in leaves]
        try:
            same = _are_close(made(*changed), f(*rebuild(changed)))
        except Exception as error:  # of any operation
            raise NotImplementedError(_UNSEEN) from error
        if not same:
            raise NotImplementedError(_UNSEEN)
        return made

    return traced


_UNSEEN = (
    "make_fx: the graph does not compute the function for other values: it draws random numbers, "
    "branches on values, or calls an operation that contexts see only in part. Use "
    "fx.symbolic_trace, which records the functions that are called"
)


def _changed(leaf: Any) -> Any:
    """Return a tensor with other values, if its values are not places or choices."""
    kind = leaf._payload.dtype.kind if isinstance(leaf, TensorBase) else ""
    return leaf.detach() * 1.25 + 0.125 if kind in ("f", "c") else leaf


def _are_close(one: Any, other: Any) -> bool:
    pairs = zip(flatten(one)[0], flatten(other)[0], strict=True)
    return all(
        a == b if not isinstance(a, TensorBase) else allclose(a, b, 1e-4, 1e-5, True)
        for a, b in pairs
    )


@provides("compiled_by")
def compiled_by(model: Any, backend: Callable[..., Any]) -> Callable[..., Any]:
    """Return `model` as what a program's own backend makes of its graph.

    The backend gets the graph, which returns a tuple, and the first call's tensors; it returns a
    function like the graph. Each call traces the model, and only a graph that is new goes to the
    backend: attributes and numbers may have changed. A model whose graph depends on values runs as
    it is.
    """
    found: dict[Any, Any] = {}
    takes = inspect.signature(model.forward if isinstance(model, Module) else model)

    def call(*args: Any, **kwargs: Any) -> Any:
        bound = takes.bind(*args, **kwargs)
        bound.apply_defaults()
        given = bound.args
        if bound.kwargs or not all(isinstance(arg, TensorBase) for arg in given):
            return model(*args, **kwargs)
        try:
            graph = symbolic_trace(model)
        except Exception:  # whatever a program does with a proxy that it cannot do
            return model(*args)
        kinds = tuple([(tuple(arg._payload.shape), arg._payload.dtype) for arg in given])
        key = kinds, graph.code, tuple([id(part) for part in _parts(graph)])
        if key not in found:
            # what is held keeps its identity
            held, output = [*_parts(graph)], graph.graph.output_node()
            single = not isinstance(output.args[0], tuple)
            if single:
                output.args = ((output.args[0],),)
                graph.recompile()
            found[key] = backend(graph, list(given)), single, held
        run, single, _ = found[key]
        made = run(*given)
        return made[0] if single else made

    return call


def _parts(graph: GraphModule) -> Iterator[Any]:
    """Yield the modules and tensors that a graph uses."""
    for node in graph.graph.nodes:
        if node.op in ("call_module", "get_attr"):
            yield operator.attrgetter(str(node.target))(graph)
