"""Layer 9 · fx: `Node`, one step of a graph, and functions that map over its arguments."""

from __future__ import annotations

import builtins
import inspect
import operator
import sys
from collections.abc import Callable
from typing import Any, TypeAlias

from wengert.base.elsewhere import elsewhere
from wengert.base.places import NAMES

Target: TypeAlias = Callable[..., Any] | str
"""What a node calls or reads."""

__all__ = ["Node", "map_aggregate", "map_arg", "path_of"]

BINARY = {
    operator.add: "+",
    operator.sub: "-",
    operator.mul: "*",
    operator.truediv: "/",
    operator.floordiv: "//",
    operator.mod: "%",
    operator.pow: "**",
    operator.matmul: "@",
    operator.lshift: "<<",
    operator.rshift: ">>",
    operator.and_: "&",
    operator.or_: "|",
    operator.xor: "^",
    operator.eq: "==",
    operator.ne: "!=",
    operator.lt: "<",
    operator.gt: ">",
    operator.le: "<=",
    operator.ge: ">=",
}
"""Functions of two values that are operators, and their signs."""
IN_PLACE = {
    getattr(operator, f"i{func.__name__.rstrip('_')}"): f"{sign}="
    for func, sign in BINARY.items()
    if hasattr(operator, f"i{func.__name__.rstrip('_')}")
}


_IMPURE = ("_assert", "_assert_is_none", "manual_seed", "setattr")
_DECLARED: list[Any] = [operator.setitem]


def has_side_effect(fn: Any) -> Any:
    """Keep calls of `fn` in graphs also if nothing uses their results; return `fn`."""
    _DECLARED.append(fn)
    return fn


def _draws(function: Any) -> bool:
    """Return whether a function takes random numbers, which those after it then do not get."""
    try:
        return "generator" in inspect.signature(function).parameters
    except (TypeError, ValueError):  # a function of C without a signature
        return False


def map_aggregate(a: Any, fn: Callable[[Any], Any]) -> Any:
    """Apply `fn` to each value in tuples, lists, dictionaries and slices, nested in any way."""
    if isinstance(a, tuple):
        parts = [map_aggregate(part, fn) for part in a]
        return type(a)(*parts) if hasattr(a, "_fields") else tuple(parts)
    if isinstance(a, list):
        return [map_aggregate(part, fn) for part in a]
    if isinstance(a, dict):
        return {key: map_aggregate(value, fn) for key, value in a.items()}
    if isinstance(a, slice):
        return slice(*[map_aggregate(part, fn) for part in (a.start, a.stop, a.step)])
    return fn(a)


def map_arg(a: Any, fn: Callable[[Node], Any]) -> Any:
    """Apply `fn` to each node in an argument; other values are unchanged.

    Examples
    --------
    >>> graph = wg.fx.Graph()
    >>> x = graph.placeholder("x")
    >>> wg.fx.map_arg([x, (1, x)], lambda node: node.name)
    ['x', (1, 'x')]
    """
    return map_aggregate(a, lambda value: fn(value) if isinstance(value, Node) else value)


def path_of(func: Any) -> str:
    """Return the path of a function, under PyTorch's names."""
    name = func.__name__
    if getattr(builtins, name, None) is func:
        return f"builtins.{name}"
    module = func.__module__ or ""
    if module == "_operator":
        module = "operator"
    if module.split(".")[0] == "wengert":
        root = getattr(sys.modules["wengert"], name, None)
        module = "torch" if root is func else "torch" + module.removeprefix("wengert")
        # PyTorch has these functions there, and shows them so
        home = {"torch": "functional", "torch.nn.functional": "_C._nn"}.get(module, "")
        if name in NAMES.get(home, {}):
            module = f"torch.{home}"
    return f"{module}.{name}"


def shown_type(annotation: Any) -> str:
    """Return an annotated type as text."""
    if isinstance(annotation, type):
        return path_of(annotation).removeprefix("builtins.")
    return repr(annotation)


class Node:
    """One step of a graph: an input, a parameter, a call, or the output.

    Attributes
    ----------
    op : str. "placeholder", "get_attr", "call_function", "call_method", "call_module" or "output".
    name : str. Its name in the code, unique in the graph.
    target : str or callable. The function, or the name of the method, module or attribute.
    args, kwargs : tuple and dict. The arguments, in which nodes stand for their results.
    users : dict. The nodes with this one among their arguments, as keys.
    meta : dict. Data stored by passes.
    graph : Graph. The graph.
    """

    def __init__(
        self,
        graph: Any,
        name: str,
        op: str,
        target: Any,
        args: tuple[Any, ...],
        kwargs: dict[str, Any],
        return_type: Any = None,
    ) -> None:
        self.graph, self.name, self.op, self.target, self.type = (
            graph,
            name,
            op,
            target,
            return_type,
        )
        self.users: dict[Node, None] = {}
        self.meta: dict[str, Any] = {}
        self._inputs: dict[Node, None] = {}
        self._prev: Node = self
        self._next: Node = self
        self._erased = False
        self._args: tuple[Any, ...] = ()
        self._kwargs: dict[str, Any] = {}
        self._set(args, kwargs)

    def _set(self, args: Any, kwargs: Any) -> None:
        for node in self._inputs:
            node.users.pop(self, None)
        self._inputs = {}

        def note(node: Node) -> Node:
            self._inputs.setdefault(node)
            node.users.setdefault(self)
            return node

        self._args, self._kwargs = map_arg(tuple(args), note), map_arg(dict(kwargs), note)

    @property
    def args(self) -> tuple[Any, ...]:
        """The arguments by position.

        Examples
        --------
        >>> graph = wg.fx.symbolic_trace(lambda x: wg.add(x, 1)).graph
        >>> graph.find_nodes(op="call_function")[0].args
        (x, 1)
        """
        return self._args

    @args.setter
    def args(self, value: tuple[Any, ...]) -> None:
        self._set(value, self._kwargs)

    @property
    def kwargs(self) -> dict[str, Any]:
        """The arguments by name.

        Examples
        --------
        >>> graph = wg.fx.symbolic_trace(lambda x: wg.sum(x, dim=0)).graph
        >>> graph.find_nodes(op="call_function")[0].kwargs
        {'dim': 0}
        """
        return self._kwargs

    @kwargs.setter
    def kwargs(self, value: dict[str, Any]) -> None:
        self._set(self._args, value)

    @property
    def next(self) -> Node:
        """The next node."""
        return self._next

    @property
    def prev(self) -> Node:
        """The previous node."""
        return self._prev

    @property
    def all_input_nodes(self) -> list[Node]:
        """The nodes among the arguments, without duplicates.

        Examples
        --------
        >>> graph = wg.fx.symbolic_trace(lambda x, y: wg.add(x, y)).graph
        >>> graph.find_nodes(op="call_function")[0].all_input_nodes
        [x, y]
        """
        return list(self._inputs)

    @property
    def stack_trace(self) -> str | None:
        """The stack trace that a pass has stored; none is stored by default."""
        return self.meta.get("stack_trace")

    def update_arg(self, idx: int, arg: Any) -> None:
        """Replace argument number `idx` by `arg`."""
        self.args = (*self._args[:idx], arg, *self._args[idx + 1 :])

    def insert_arg(self, idx: int, arg: Any) -> None:
        """Insert `arg` before argument number `idx`."""
        self.args = (*self._args[:idx], arg, *self._args[idx:])

    def update_kwarg(self, key: str, arg: Any) -> None:
        """Set the keyword argument `key` to `arg`."""
        self.kwargs = {**self._kwargs, key: arg}

    def _unlink(self) -> None:
        self._prev._next, self._next._prev = self._next, self._prev

    def prepend(self, x: Node) -> None:
        """Move `x` before this node."""
        if x is self:
            return
        if x.graph is not self.graph:
            raise AssertionError("Attempting to move a Node into a different Graph")
        x._unlink()
        before = self._prev
        before._next, x._prev, x._next, self._prev = x, before, self, x

    def append(self, x: Node) -> None:
        """Move `x` after this node."""
        if x is not self._next:
            self._next.prepend(x)

    def replace_input_with(self, old_input: Node, new_input: Node) -> None:
        """Replace one node by another among the arguments."""

        def swapped(node: Node) -> Node:
            return new_input if node is old_input else node

        self._set(map_arg(self._args, swapped), map_arg(self._kwargs, swapped))

    def replace_all_uses_with(
        self,
        replace_with: Node,
        delete_user_cb: Callable[[Node], bool] = lambda user: True,
        *,
        propagate_meta: bool = False,
    ) -> list[Node]:
        """Replace this node by `replace_with` wherever it is used.

        Returns
        -------
        list of Node: The nodes that used it and that `delete_user_cb` agreed to.

        Examples
        --------
        >>> traced = wg.fx.symbolic_trace(lambda x: wg.exp(wg.relu(x)))
        >>> first = traced.graph.find_nodes(op="call_function")[0]
        >>> first.replace_all_uses_with(first.args[0])
        [exp]
        >>> print(traced.graph)
        graph():
            %x : [num_users=2] = placeholder[target=x]
            %relu : [num_users=0] = call_function[target=torch.relu](args = (%x,), kwargs = {})
            %exp : [num_users=1] = call_function[target=torch.exp](args = (%x,), kwargs = {})
            return exp
        """
        if propagate_meta:
            replace_with.meta.update(self.meta)
        changed = [user for user in list(self.users) if delete_user_cb(user)]
        for user in changed:
            user.replace_input_with(self, replace_with)
        return changed

    def is_impure(self, impure_random: bool = True) -> bool:
        """Return whether the node must be kept even if its result is not used."""
        if self.op in ("placeholder", "output"):
            return True
        if self.op in ("call_module", "get_attr"):
            held = self.graph.owning_module
            module = self.op == "call_module" and held and held.get_submodule(self.target)
            return bool(getattr(module, "_is_impure", False))
        name = getattr(self.target, "__name__", self.target)
        # a trailing underscore marks an in-place operation
        written = name.endswith("_") and not name.endswith("__")
        written = written or "out" in self._kwargs or bool(self._kwargs.get("inplace"))
        if written or name in _IMPURE or self.target in (*_DECLARED, *IN_PLACE):
            return True
        return impure_random and self.op == "call_function" and _draws(self.target)

    def format_node(self, *args: Any, **kwargs: Any) -> str:
        """Format the node as a line of text.

        Examples
        --------
        >>> graph = wg.fx.symbolic_trace(lambda x: wg.relu(x)).graph
        >>> graph.find_nodes(op="call_function")[0].format_node()
        '%relu : [num_users=1] = call_function[target=torch.relu](args = (%x,), kwargs = {})'
        """
        kind = "" if self.type is None else f"{shown_type(self.type)} "
        users = f"%{self.name} : {kind}[num_users={len(self.users)}] = {self.op}"
        if self.op == "placeholder":
            default = f"(default={_shown(self._args[0])})" if self._args else ""
            return f"{users}[target={self.target}]{default}"
        if self.op == "get_attr":
            return f"{users}[target={self.target}]"
        if self.op == "output":
            return f"return {self._args[0]}"
        kwargs_text = ", ".join(f"{name}: {_shown(v)}" for name, v in self._kwargs.items())
        return (
            f"{users}[target={self._pretty_print_target(self.target)}]"
            f"(args = {_shown(self._args)}, kwargs = {{{kwargs_text}}})"
        )

    def _pretty_print_target(self, target: Any) -> str:
        return target if isinstance(target, str) else path_of(target)

    def __repr__(self) -> str:
        return self.name

    def __lt__(self, other: Node) -> bool:
        return self._place() < other._place()

    def __gt__(self, other: Node) -> bool:
        return self._place() > other._place()

    def _place(self) -> int:
        return next(i for i, node in enumerate(self.graph.nodes) if node is self)


def _shown(value: Any) -> str:
    """Format an argument in the text of a graph."""
    if isinstance(value, Node):
        return f"%{value.name}"
    if isinstance(value, tuple):
        return f"({', '.join(map(_shown, value))}{',' if len(value) == 1 else ''})"
    if isinstance(value, list):
        return f"[{', '.join(map(_shown, value))}]"
    if isinstance(value, dict):
        return "{" + ", ".join(f"{k}: {_shown(v)}" for k, v in value.items()) + "}"
    if isinstance(value, slice):
        return f"slice({_shown(value.start)}, {_shown(value.stop)}, {_shown(value.step)})"
    return str(value)


__getattr__ = elsewhere(__name__)
