"""Layer 9 · compat: `trace`, which records calls of functions in user-defined nodes.

NOTE [noting calls]
A program may define a subclass of `Node` and have `trace` make one for each call of a function of
``autograd.numpy``, ``autograd.scipy`` or of a primitive: to print or draw a graph, to count calls,
or to replay a computation. Nothing is differentiated: values are NumPy's, in boxes of a separate
class, whose operators and functions dispatch to `noted_call`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from contextvars import ContextVar
from typing import Any, ClassVar

import numpy as np

from wengert.base.containers import flatten
from wengert.compat.autograd.boxes import ArrayBox, getval, plain
from wengert.tape.base import TensorBase
from wengert.tape.sites import warn

NOTING: ContextVar[bool] = ContextVar("NOTING", default=False)
"""Whether calls are being recorded."""
_WARNING = "Output seems independent of input."


class Node:
    """A recorded call; subclass it.

    A subclass defines ``__init__(self, value, fun, args, kwargs, parent_argnums, parents)``, which
    takes the result of a call, the function, its arguments as values, and the nodes of the
    arguments that have one; and ``initialize_root``, for the argument of the traced function.
    """

    __slots__: ClassVar[Any] = ()

    def __init__(self, *call) -> None:
        raise NotImplementedError(f"{type(self).__name__} defines no __init__")

    def initialize_root(self, *args, **kwargs) -> None:
        """Initialize the node of the argument."""
        raise NotImplementedError(f"{type(self).__name__} defines no initialize_root")

    @classmethod
    def new_root(cls, *args, **kwargs) -> Any:
        """Return the node of the argument of the traced function."""
        root = cls.__new__(cls)
        root.initialize_root(*args, **kwargs)
        return root


class NotedBox(ArrayBox):
    """A value inside a traced function, with the node that it came from."""

    __slots__ = ("_came_from",)
    __hash__ = TensorBase.__hash__

    @property
    def _node(self) -> Any:
        return self._came_from

    def __getattr__(self, name: str) -> Any:
        raise AttributeError(f"'ArrayBox' object has no attribute {name!r}")


def _noted(value, node) -> Any:
    """Return a value with its node: a box, or a container of boxes whose elements are taken from
    it.
    """
    if isinstance(value, list | tuple):
        kind: Any = type(value)
        parts = [_taken(value, i, node) for i in range(len(value))]
        return kind(*parts) if hasattr(kind, "_fields") else kind(parts)
    if isinstance(value, dict):
        return {key: _taken(value, key, node) for key in value}
    box: Any = TensorBase.__new__(NotedBox)
    box._payload = np.asarray(value)
    box._edge = box._ext = box._vc = None
    box._came_from = node
    return box


def container_take(A, idx) -> Any:
    """Return ``A[idx]``, an item of a container."""
    return A[idx]


def _taken(container, place, node) -> Any:
    value = container[place]
    made = type(node)(value, container_take, (container, place), {}, (0,), (node,))
    return _noted(value, made)


def getitem(A, idx) -> Any:
    """Return ``A[idx]``, elements of an array."""
    return A[idx]


getitem.__name__ = "__getitem__"


def _spread(fun: Callable[..., Any], args: tuple[Any, ...]) -> tuple[Any, tuple[Any, ...]]:
    """Return a function and its arguments with those in containers spread out."""
    parts = []
    for arg in args:
        leaves, again = flatten(arg) if isinstance(arg, list | tuple | dict) else ([], _alone)
        inside = any(isinstance(leaf, NotedBox) for leaf in leaves)
        parts.append((leaves, again) if inside else ([arg], _alone))
    if all(again is _alone for _, again in parts):
        return fun, args

    def of_parts(*given, **kwargs) -> Any:
        source = iter(given)
        made = [again([next(source) for _ in leaves]) for leaves, again in parts]
        return fun(*made, **kwargs)

    of_parts.__name__ = getattr(fun, "__name__", "function")
    return of_parts, tuple(leaf for leaves, _ in parts for leaf in leaves)


def _alone(values: list[Any]) -> Any:
    return values[0]


def is_noted(args: Iterable[Any]) -> bool:
    """Return whether to record a call with these arguments."""
    if not NOTING.get():
        return False
    return any(
        isinstance(leaf, NotedBox)
        for arg in args
        for leaf in (flatten(arg)[0] if isinstance(arg, list | tuple | dict) else (arg,))
    )


def noted_call(fun: Callable[..., Any], args: Iterable[Any], kwargs: dict[str, Any]) -> Any:
    """Call a function and record a node for the call."""
    fun, args = _spread(fun, tuple(args))
    found = [(i, arg) for i, arg in enumerate(args) if isinstance(arg, NotedBox)]
    values = tuple(plain(arg) for arg in args)
    # calls that the function makes itself are not recorded
    noting = NOTING.set(False)
    try:
        answer = fun(*values, **plain(kwargs))
    finally:
        NOTING.reset(noting)
    if not found:
        return answer
    parents = tuple(box._came_from for _, box in found)
    argnums = tuple(i for i, _ in found)
    node = type(parents[0])(answer, fun, values, kwargs, argnums, parents)
    return _noted(answer, node)


def trace(start_node, fun: Callable[[Any], Any], x) -> tuple[Any, Any]:
    """Return the value of ``fun(x)``, and the node of the call that computed it.

    Parameters
    ----------
    start_node : Node. The node of `x`, made by `Node.new_root`; the others will be of its class.
    fun : callable. Takes one argument.
    x : array, number, or nested containers of them

    Returns
    -------
    value: The result, as NumPy's own.
    node : Node or None. None, with a warning, if the value does not depend on `x`.

    Examples
    --------
    >>> from wengert.compat.autograd.tracer import Node, trace
    >>> class Line(Node):
    ...     def __init__(self, value, fun, args, kwargs, parent_argnums, parents):
    ...         self.text = f"{fun.__name__}({', '.join(p.text for p in parents)})"
    ...     def initialize_root(self):
    ...         self.text = "x"
    >>> value, node = trace(Line.new_root(), lambda x: np.sin(x) * x, 0.5)
    >>> node.text
    'multiply(sin(x), x)'
    """
    token = NOTING.set(True)
    try:
        end = fun(_noted(x, start_node))
    finally:
        NOTING.reset(token)
    if isinstance(end, NotedBox):
        return getval(end), end._came_from
    warn(_WARNING, UserWarning)
    return plain(end), None
