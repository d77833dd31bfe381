"""Layer 9 · fx: `Graph`, the steps of a program in order, and the code that runs them."""

from __future__ import annotations

import builtins
import copy
import keyword
import operator
import re
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from typing import Any, NamedTuple

import wengert
from wengert.base.dtypes import dtype
from wengert.base.elsewhere import elsewhere
from wengert.fx.node import BINARY, IN_PLACE, Node, map_arg, path_of, shown_type

__all__ = ["Graph", "PythonCode"]

_FORMS: dict[Any, str] = {
    **{func: f"{{}} {sign} {{}}" for func, sign in BINARY.items()},
    operator.neg: "-{}",
    operator.pos: "+{}",
    operator.invert: "~{}",
    operator.getitem: "{}[{}]",
}
"""Functions that the code writes as operators."""
_OPS = "placeholder", "get_attr", "call_function", "call_method", "call_module", "output"


class PythonCode(NamedTuple):
    """The code of a graph, and the globals that it uses."""

    src: str
    globals: dict[str, Any]


class _Names:
    """Allocates unique names for nodes."""

    def __init__(self) -> None:
        self.used: set[str] = set()
        self._counts: dict[str, int] = {}

    def new(self, wanted: str) -> str:
        """Return a unique name like the given one."""
        name = re.sub(r"\W+", "_", wanted, flags=re.ASCII) or "_unnamed"
        name = f"_{name}" if name[0].isdigit() else name
        base, digits = re.fullmatch(r"(.*?)(?:_(\d+))?", name).groups()  # type: ignore[union-attr]
        if not base:
            base, digits = name, None
        if digits is None or name in self.used:
            number = self._counts.get(name, 0)
            if name in _MEANT or keyword.iskeyword(name) or hasattr(builtins, name):
                number += 1
                name = f"{base}_{number}"
        else:
            number = int(digits)
        while name in self.used:
            number += 1
            name = f"{base}_{number}"
        self.used.add(name)
        self._counts[base] = number
        return name


_MEANT = {"inf", "nan", "NoneType", "torch", "device", "fx_pytree", "pytree"}


class _Nodes:
    """The nodes of a graph in order; nodes may be added and removed during iteration."""

    def __init__(self, graph: Graph, step: str = "_next") -> None:
        self._graph, self._step = graph, step

    def __len__(self) -> int:
        return sum(1 for _ in self)

    def __iter__(self) -> Iterator[Node]:
        root = self._graph._root
        node = getattr(root, self._step)
        while node is not root:
            if not node._erased:
                yield node
            node = getattr(node, self._step)

    def __reversed__(self) -> _Nodes:
        return _Nodes(self._graph, "_next" if self._step == "_prev" else "_prev")


class Graph:
    """The steps of a program: a list of `Node`, to which steps can be added and removed.

    Attributes
    ----------
    nodes : iterable of Node. The nodes in their order.
    owning_module : GraphModule or None. The module that runs it.

    Examples
    --------
    >>> graph = wg.fx.Graph()
    >>> x = graph.placeholder("x")
    >>> y = graph.call_function(wg.relu, (x,))
    >>> _ = graph.output(y)
    >>> print(graph)
    graph():
        %x : [num_users=1] = placeholder[target=x]
        %relu : [num_users=1] = call_function[target=torch.relu](args = (%x,), kwargs = {})
        return relu
    """

    def __init__(
        self, owning_module: Any = None, tracer_cls: Any = None, tracer_extras: Any = None
    ) -> None:
        self._root = Node(self, "", "root", "", (), {})
        self._names = _Names()
        # new nodes are inserted before this one
        self._insert: Callable[[Node], None] = self._root.prepend
        self.owning_module = owning_module
        self._tracer_cls = tracer_cls

    @property
    def nodes(self) -> _Nodes:
        """The nodes in order.

        Examples
        --------
        >>> traced = wg.fx.symbolic_trace(lambda x: wg.relu(x) + 1)
        >>> [node.name for node in traced.graph.nodes]
        ['x', 'relu', 'add', 'output']
        """
        return _Nodes(self)

    def find_nodes(self, *, op: str, target: Any = None, sort: bool = True) -> list[Node]:
        """Return the nodes of one kind, and with one target if it is given.

        Examples
        --------
        >>> traced = wg.fx.symbolic_trace(lambda x: wg.relu(x) + 1)
        >>> traced.graph.find_nodes(op="call_function", target=wg.relu)
        [relu]
        """
        return [n for n in self.nodes if n.op == op and (target is None or n.target == target)]

    # -- making nodes ------------------------------------------------------------------------------

    def create_node(
        self,
        op: str,
        target: Any,
        args: tuple[Any, ...] | None = None,
        kwargs: dict[str, Any] | None = None,
        name: str | None = None,
        type_expr: Any = None,
    ) -> Node:
        """Make a node at the insertion point: the end, unless `inserting_before` moved it.

        Parameters
        ----------
        op, target, args, kwargs, name : See the attributes of `Node`.
        type_expr : optional. The annotated type of the result.
        """
        if op not in _OPS:
            raise AssertionError(f"op {op!r} is not in {', '.join(_OPS)}")
        if not (callable(target) if op == "call_function" else isinstance(target, str)):
            raise ValueError(
                f"Node [name = {name!r}] target {target} has type {type(target).__name__} but a "
                f"{'Callable' if op == 'call_function' else 'str'} is expected"
            )
        wanted = name if name is not None else _candidate(target)
        node = Node(self, self._names.new(wanted), op, target, args or (), kwargs or {}, type_expr)
        self._insert(node)
        return node

    def placeholder(self, name: str, type_expr: Any = None, default_value: Any = ...) -> Node:
        """Make an input of the program.

        Examples
        --------
        >>> wg.fx.Graph().placeholder("x")
        x
        """
        args = () if default_value is ... else (default_value,)
        return self.create_node("placeholder", name, args, type_expr=type_expr)

    def get_attr(self, qualified_name: str, type_expr: Any = None) -> Node:
        """Make a node for a parameter or another attribute of the module."""
        return self.create_node("get_attr", qualified_name, type_expr=type_expr)

    def call_function(
        self,
        the_function: Callable[..., Any],
        args: Any = None,
        kwargs: Any = None,
        type_expr: Any = None,
        name: str | None = None,
    ) -> Node:
        """Make a call of a function.

        Examples
        --------
        >>> graph = wg.fx.Graph()
        >>> graph.call_function(wg.relu, (graph.placeholder("x"),))
        relu
        """
        return self.create_node("call_function", the_function, args, kwargs, name, type_expr)

    def call_method(
        self, method_name: str, args: Any = None, kwargs: Any = None, type_expr: Any = None
    ) -> Node:
        """Make a call of a method of the first argument.

        Examples
        --------
        >>> graph = wg.fx.Graph()
        >>> graph.call_method("sum", (graph.placeholder("x"),), {"dim": 0}).format_node()
        '%sum_1 : [num_users=0] = call_method[target=sum](args = (%x,), kwargs = {dim: 0})'
        """
        return self.create_node("call_method", method_name, args, kwargs, type_expr=type_expr)

    def call_module(
        self, module_name: str, args: Any = None, kwargs: Any = None, type_expr: Any = None
    ) -> Node:
        """Make a call of a submodule."""
        return self.create_node("call_module", module_name, args, kwargs, type_expr=type_expr)

    def output(self, result: Any, type_expr: Any = None) -> Node:
        """Make the node of the program's result."""
        return self.create_node("output", "output", (result,), type_expr=type_expr)

    def output_node(self) -> Node:
        """Return the node of the program's result."""
        return next(node for node in reversed(self.nodes) if node.op == "output")

    def node_copy(self, node: Node, arg_transform: Callable[[Node], Any] = lambda x: x) -> Node:
        """Copy a node of another graph; `arg_transform` maps the nodes in its arguments."""
        made = self.create_node(
            node.op,
            node.target,
            map_arg(node.args, arg_transform),
            map_arg(node.kwargs, arg_transform),
            node.name,
            node.type,
        )
        made.meta = copy.copy(node.meta)
        return made

    def graph_copy(
        self, g: Graph, val_map: dict[Node, Node], return_output_node: bool = False
    ) -> Any:
        """Copy all nodes of `g`, and record them in `val_map`, which may already map inputs.

        Returns
        -------
        The copy of the output of `g`; with `return_output_node` also the output node of `g`.
        """
        for node in g.nodes:
            if node in val_map:
                continue
            if node.op == "output":
                made = map_arg(node.args[0], lambda n: val_map[n])
                return (made, node) if return_output_node else made
            val_map[node] = self.node_copy(node, lambda n: val_map[n])
        return None

    def _inserting(self, insert: Callable[[Node], None]) -> Any:
        # the point moves at once: programs also call this without `with`
        back = ExitStack()
        back.callback(setattr, self, "_insert", self._insert)
        self._insert = insert
        return back

    def inserting_before(self, n: Node | None = None) -> Any:
        """Return a context in which new nodes go before `n`; without `n`, to the beginning."""
        return self._inserting(self._root.append if n is None else n.prepend)

    def inserting_after(self, n: Node | None = None) -> Any:
        """Return a context in which new nodes go right after `n`; without `n`, to the end.

        Examples
        --------
        >>> traced = wg.fx.symbolic_trace(lambda x: wg.relu(x))
        >>> node = traced.graph.find_nodes(op="call_function")[0]
        >>> with traced.graph.inserting_after(node):
        ...     doubled = traced.graph.call_function(wg.mul, (node, 2))
        >>> [node.name for node in traced.graph.nodes]
        ['x', 'relu', 'mul', 'output']
        """
        return self._inserting(self._root.prepend if n is None else n.append)

    # -- removing nodes
    # --------------------------------------------------------------------------------

    def erase_node(self, to_erase: Node) -> None:
        """Remove an unused node.

        Raises
        ------
        RuntimeError: If it is used.

        Examples
        --------
        >>> traced = wg.fx.symbolic_trace(lambda x: wg.relu(x))
        >>> node = traced.graph.find_nodes(op="call_function")[0]
        >>> node.replace_all_uses_with(node.args[0])
        [output]
        >>> traced.graph.erase_node(node)
        >>> print(traced.graph)
        graph():
            %x : [num_users=1] = placeholder[target=x]
            return x
        """
        if to_erase.users:
            raise RuntimeError(
                f"Tried to erase Node {to_erase} but it still had {len(to_erase.users)} users in "
                f"the graph: {to_erase.users}!"
            )
        if to_erase.graph is not self:
            raise RuntimeError(f"Attempting to remove {to_erase} from wrong graph!")
        if to_erase._erased:
            return
        if self._insert in (to_erase.prepend, to_erase.append):
            self._insert = to_erase._next.prepend
        # the node keeps its own links, so that a running iteration can continue
        to_erase._unlink()
        to_erase._erased = True
        to_erase._set((), {})

    def eliminate_dead_code(self, is_impure_node: Callable[[Node], bool] | None = None) -> bool:
        """Remove unused nodes without side effects; return whether there were any.

        Examples
        --------
        >>> traced = wg.fx.symbolic_trace(lambda x: (wg.exp(x), wg.relu(x))[1])
        >>> traced.graph.eliminate_dead_code()
        True
        >>> [node.name for node in traced.graph.nodes]
        ['x', 'relu', 'output']
        """
        self.lint()
        impure = is_impure_node or Node.is_impure
        before = len(self.nodes)
        for node in reversed(self.nodes):
            if not node.users and not impure(node):
                self.erase_node(node)
        return len(self.nodes) < before

    def lint(self) -> None:
        """Check the names, the order of the nodes, and that the module has their targets.

        Raises
        ------
        RuntimeError: If something is wrong.
        """
        seen: set[Node] = set()
        names: set[str] = set()
        for node in self.nodes:
            if node.graph is not self:
                raise RuntimeError(f"Node '{node}' does not belong to this Graph!")
            for arg in node.all_input_nodes:
                if arg.graph is not self:
                    raise RuntimeError(
                        f"Argument '{arg}' of Node '{node}' does not belong to this Graph, but was "
                        "used as an argument! To copy nodes from another graph, map them by the "
                        f"``arg_transform`` of node_copy()\n{self}"
                    )
                if arg not in seen:
                    raise RuntimeError(
                        f"Argument '{arg}' of Node '{node}' was used before it has been defined! "
                        f"Please check that Nodes in the graph are topologically ordered\n{self}"
                    )
            if node.name in names:
                raise RuntimeError(f"Node redefined name {node.name}!")
            seen.add(node)
            names.add(node.name)
            if self.owning_module is not None and node.op in ("call_module", "get_attr"):
                held = self.owning_module
                for part in node.target.split("."):
                    if not hasattr(held, part):
                        raise RuntimeError(
                            f"Node {node} target {node.target} references nonexistent attribute "
                            f"{part} of {type(held).__name__}"
                        )
                    held = getattr(held, part)

    # -- code --------------------------------------------------------------------------------------

    def python_code(self, root_module: str, **kwargs: Any) -> PythonCode:
        """Return the graph as the code of a method.

        Parameters
        ----------
        root_module : str. The name of the module in the code, such as ``"self"``.

        Examples
        --------
        >>> print(wg.fx.symbolic_trace(lambda x: wg.relu(x)).graph.python_code("self").src.strip())
        def forward(self, x):
            relu = torch.relu(x);  x = None
            return relu
        """
        return _Code(self, root_module).made()

    def print_tabular(self) -> None:
        """Print a table of the nodes."""
        rows = [["opcode", "name", "target", "args", "kwargs"]]
        rows += [
            [str(part) for part in (n.op, n.name, n.target, n.args, n.kwargs)] for n in self.nodes
        ]
        widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
        rows.insert(1, ["-" * width for width in widths])
        for row in rows:
            padded = (text.ljust(width) for text, width in zip(row, widths, strict=True))
            print("  ".join(padded).rstrip())

    def __str__(self) -> str:
        return "graph():" + "".join(f"\n    {node.format_node()}" for node in self.nodes)

    def __deepcopy__(self, memo: Any = None) -> Graph:
        made = Graph(tracer_cls=self._tracer_cls)
        copied: dict[Node, Node] = {}
        for node in self.nodes:
            copied[node] = made.node_copy(node, lambda n: copied[n])
        return made


def _candidate(target: Any) -> str:
    target = getattr(target, "packet", target)
    if isinstance(target, str):
        name = target.strip("_") if target.startswith("__") else target
    else:
        name = target.__name__
    return re.sub(r"(?<=[a-z])([A-Z])", r"_\1", name).lower()


class _Code:
    """Generates the code of a graph."""

    def __init__(self, graph: Graph, root: str) -> None:
        self.graph, self.root = graph, root
        self.globals: dict[str, Any] = {
            "torch": wengert,
            "inf": float("inf"),
            "nan": float("nan"),
            "NoneType": type(None),
        }

    def made(self) -> PythonCode:
        params, lines = [self.root], []
        renamed: list[str] = []
        returned = ""
        last: dict[Node, list[Node]] = {}
        done: set[Node] = set()
        for node in reversed(self.graph.nodes):
            for arg in reversed(node.all_input_nodes):
                if arg not in done:
                    done.add(arg)
                    last.setdefault(node, []).append(arg)
        for node in self.graph.nodes:
            if node.op == "placeholder":
                name = node.target.lstrip("*")
                stars = node.target[: len(node.target) - len(name)]
                # callers may give it by its name, which the node's is not if that is a builtin's
                renamed += [f"    {node.name} = {name}"] if node.name != name else []
                default = f" = {self.text(node.args[0])}" if node.args and not stars else ""
                kind = "" if node.type is None or stars else f" : {self.annotation(node.type)}"
                params.append(f"{node.target}{kind}{default}")
                continue
            if node.op == "output":
                lines.append(f"    return {self.text(node.args[0])}")
                returned = "" if node.type is None else f" -> {self.annotation(node.type)}"
                continue
            names = [n.name for n in reversed(last.get(node, []))]
            # unused values are freed at once
            names += [] if node.users else [node.name]
            end = f";  {' = '.join(names)} = None" if names else ""
            lines.append(f"    {self.line(node)}{end}")
        body = renamed + lines
        source = (
            f"\n\n\ndef forward({', '.join(params)}){returned}:\n"
            + "\n".join(body or ["    pass"])
            + "\n    "
        )
        return PythonCode(source, self.globals)

    def line(self, node: Node) -> str:
        args = [self.text(arg) for arg in node.args]
        words = [f"{name} = {self.text(value)}" for name, value in node.kwargs.items()]
        if node.op == "get_attr":
            return f"{node.name} = {self.path(node.target)}"
        if node.op == "call_module":
            return f"{node.name} = {self.path(node.target)}({', '.join(args + words)})"
        if node.op == "call_method":
            return f"{node.name} = {args[0]}.{node.target}({', '.join(args[1:] + words)})"
        form = _FORMS.get(node.target)
        if form is not None and not words and len(args) == form.count("{}"):
            return f"{node.name} = " + form.format(*args)
        if node.target in IN_PLACE and len(args) == 2:
            return f"{args[0]} {IN_PLACE[node.target]} {args[1]};  {node.name} = {args[0]}"
        if node.target is getattr and len(args) == 2 and str(node.args[1]).isidentifier():
            return f"{node.name} = {args[0]}.{node.args[1]}"
        return f"{node.name} = {self.function(node.target)}({', '.join(args + words)})"

    def path(self, target: str) -> str:
        text = self.root
        for part in target.split("."):
            text = f"{text}.{part}" if part.isidentifier() else f'getattr({text}, "{part}")'
        return text

    def function(self, func: Any) -> str:
        path = path_of(func)
        module, _, name = path.rpartition(".")
        if module == "builtins":
            # among the globals, where a tracer finds it
            self.globals[name] = func
            return name
        if module.split(".")[0] == "torch":
            held: Any = wengert
            for part in path.split(".")[1:]:
                held = getattr(held, part, None)
            if held is func:
                return path
        return self.known(path, func)

    def annotation(self, kind: Any) -> str:
        return self.function(kind) if isinstance(kind, type) else self.known(shown_type(kind), kind)

    def known(self, path: str, value: Any) -> str:
        """Return a name in the code for a value that has no literal."""
        name = re.sub(r"\W", "_", path)
        while self.globals.setdefault(name, value) is not value:
            name += "_"
        return name

    def text(self, value: Any) -> str:
        if isinstance(value, Node):
            return value.name
        if isinstance(value, tuple) and hasattr(value, "_fields"):
            name = self.known(type(value).__name__, type(value))
            return f"{name}({', '.join(map(self.text, value))})"
        if isinstance(value, tuple):
            return f"({', '.join(map(self.text, value))}{',' if len(value) == 1 else ''})"
        if isinstance(value, list):
            return f"[{', '.join(map(self.text, value))}]"
        if isinstance(value, dict):
            return "{" + ", ".join(f"{k!r}: {self.text(v)}" for k, v in value.items()) + "}"
        if isinstance(value, slice):
            return f"slice({', '.join(map(self.text, (value.start, value.stop, value.step)))})"
        if value is None or isinstance(value, bool | int | float | complex | str | bytes | dtype):
            return repr(value)
        if value is ...:
            return "Ellipsis"
        if callable(value) and hasattr(value, "__name__"):
            return self.function(value)
        return self.known(f"_{type(value).__name__}", value)


__getattr__ = elsewhere(__name__)
