"""Layer 9 · fx: `GraphModule`, a module that runs a graph."""

from __future__ import annotations

import copy
import functools
import linecache
from collections.abc import Mapping
from typing import Any

from wengert.base.elsewhere import elsewhere
from wengert.fx.graph import Graph
from wengert.fx.node import Node, map_aggregate, map_arg
from wengert.nn.modules.module import Module
from wengert.nn.parameter import Parameter
from wengert.tape.base import TensorBase

__all__ = ["GraphModule"]

_COUNT = [0]


_USER_PRESERVED_ATTRIBUTES_KEY = "_user_preserved_attributes"
"""The key of `GraphModule.meta` for attributes that copies keep."""


class _CodeOnlyModule(Module):
    """A module with the given attributes, and nothing else."""

    def __init__(self, body: dict[str, Any]) -> None:
        super().__init__()
        self.__dict__ = body


def _copy_attr(from_module: Any, to_module: Any, target: str) -> None:
    """Give a module another one's attribute, under the same dotted name."""
    _put(to_module, target, functools.reduce(getattr, target.split("."), from_module))


def _put(module: Any, path: str, value: Any) -> None:
    """Set an attribute of a module, creating the modules in between."""
    *between, name = path.split(".")
    for part in between:
        if getattr(module, part, None) is None:
            setattr(module, part, Module())
        module = getattr(module, part)
    if isinstance(value, TensorBase) and not isinstance(value, Parameter):
        module.register_buffer(name, value)
    else:
        setattr(module, name, value)


class GraphModule(Module):
    """A module that runs a graph, by code generated from it.

    Parameters
    ----------
    root : Module or dict. The source of the parameters and modules that the graph names; a
        dictionary holds them by those names.
    graph : Graph. The graph; assign to the attribute, or call `recompile`, after changes.
    class_name : str. The name of the class.

    Attributes
    ----------
    graph : Graph. The graph.
    code : str. The code of `forward`.

    Examples
    --------
    >>> graph = wg.fx.Graph()
    >>> x = graph.placeholder("x")
    >>> _ = graph.output(graph.call_module("act", (x,)))
    >>> module = wg.fx.GraphModule({"act": wg.nn.ReLU()}, graph)
    >>> module(wg.tensor([-1.0, 1.0]))
    tensor([0., 1.])
    """

    _code: str

    def __new__(cls, *args: Any, **kwargs: Any) -> Any:
        """Make an instance of a new class, which has the code as a method."""
        for base in cls.__mro__:
            if not base.__dict__.get("_is_generated"):
                cls = base
                break
        own: Any = type(cls.__name__, (cls,), {"_is_generated": True, "__module__": cls.__module__})
        return super().__new__(own)

    def __init__(
        self, root: Module | Mapping[str, Any], graph: Graph, class_name: str = "GraphModule"
    ) -> None:
        super().__init__()
        type(self).__name__ = class_name
        if isinstance(root, Module):
            self.training = root.training
        wanted = [n.target for n in graph.nodes if n.op in ("call_module", "get_attr")]
        for path in sorted(wanted, key=lambda path: path.count(".")):
            if isinstance(root, Module):
                _copy_attr(root, self, path)
            elif path in root:
                _put(self, path, root[path])
            else:
                raise RuntimeError(
                    f"graph refers to {path!r}, which was not provided in the root: a dictionary "
                    "must hold all that the graph names"
                )
        self.meta: dict[str, Any] = {}
        self.graph = graph

    @property
    def graph(self) -> Graph:
        """The graph."""
        return self._graph

    @graph.setter
    def graph(self, value: Graph) -> None:
        if not isinstance(value, Graph):
            raise AssertionError(f"Expected a Graph instance, but got {type(value)}")
        self._graph = value
        value.owning_module = self
        self.recompile()

    @property
    def code(self) -> str:
        """The code of `forward`.

        Examples
        --------
        >>> print(wg.fx.symbolic_trace(lambda x: wg.relu(x)).code.strip())
        def forward(self, x):
            relu = torch.relu(x);  x = None
            return relu
        """
        return self._code

    def recompile(self) -> Any:
        """Regenerate the code, after the graph was modified."""
        made = self._graph.python_code("self")
        self._code = made.src
        _COUNT[0] += 1
        file = f"<wengert.fx graph {_COUNT[0]}>"
        linecache.cache[file] = len(made.src), None, made.src.splitlines(True), file
        space = dict(made.globals)
        exec(compile(made.src, file, "exec"), space)
        type(self).forward = space["forward"]
        return made

    def add_submodule(self, target: str, m: Module) -> bool:
        """Add a submodule under a dotted name; return whether that was possible."""
        *between, _ = target.split(".")
        held: Any = self
        for part in between:
            held = getattr(held, part, Module())
            if not isinstance(held, Module):
                return False
        _put(self, target, m)
        return True

    def delete_submodule(self, target: str) -> bool:
        """Delete a submodule; return whether it existed."""
        path, _, name = target.rpartition(".")
        try:
            held = self.get_submodule(path)
            self.get_submodule(target)
        except AttributeError:
            return False
        delattr(held, name)
        return True

    def delete_all_unused_submodules(self) -> None:
        """Delete the submodules that no node of the graph uses."""
        used = [n.target for n in self.graph.nodes if n.op in ("call_module", "get_attr")]
        for name, _ in [*self.named_modules()][1:]:
            if not any(
                f"{path}.".startswith(f"{name}.") or f"{name}.".startswith(f"{path}.")
                for path in used
            ):
                self.delete_submodule(name)

    def print_readable(self, print_output: bool = True, **kwargs: Any) -> str:
        """Return the module as a class with its code, and print it."""
        lines = self._code.strip().splitlines()
        head = f"class {type(self).__name__}(torch.nn.Module):"
        text = "\n".join([head, *[f"    {line}".rstrip() for line in lines], ""])
        if print_output:
            print(text)
        return text

    def to_folder(self, folder: Any, module_name: str = "FxModule") -> None:
        """Refused: save the state, and keep the code of the module.

        %(raises_always)s
        """
        raise NotImplementedError(
            "GraphModule.to_folder(): save state_dict(), and print_readable() is the code"
        )

    def __deepcopy__(self, memo: Any) -> Any:
        made = type(self).__new__(type(self))
        memo[id(self)] = made
        Module.__init__(made)
        held = {k: v for k, v in vars(self).items() if k != "_graph"}
        vars(made).update(copy.deepcopy(held, memo))
        type(made).__name__ = type(self).__name__
        made.graph = copy.deepcopy(self._graph)
        return made

    def __copy__(self) -> Any:
        return GraphModule(self, copy.deepcopy(self._graph), type(self).__name__)

    def __reduce__(self) -> Any:
        held = {k: v for k, v in vars(self).items() if k not in ("_graph", "_code")}
        nodes = [
            (n.op, n.name, n.target, _packed(n.args), _packed(n.kwargs), n.type)
            for n in self._graph.nodes
        ]
        return _rebuilt, (type(self).__name__, held, nodes)

    def __str__(self) -> str:
        hint = "# To see more debug info, please use `graph_module.print_readable()`"
        return "\n".join([super().__repr__(), self._code, hint])


class _Name(str):
    """The stand-in for a node in a pickled graph."""

    __slots__ = ()


def _packed(value: Any) -> Any:
    return map_arg(value, lambda node: _Name(node.name))


def _rebuilt(name: str, held: dict[str, Any], nodes: list[Any]) -> GraphModule:
    graph = Graph()
    known: dict[str, Node] = {}
    for op, own, target, args, kwargs, kind in nodes:
        args, kwargs = map_aggregate(
            [args, kwargs], lambda value: known[value] if isinstance(value, _Name) else value
        )
        known[own] = graph.create_node(op, target, args, kwargs, own, kind)
    made = GraphModule.__new__(GraphModule)
    Module.__init__(made)
    vars(made).update(held)
    type(made).__name__ = name
    made.graph = graph
    return made


__getattr__ = elsewhere(__name__)
