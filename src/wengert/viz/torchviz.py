"""Layer 9 · viz: `make_dot`, the picture that torchviz draws of a recorded graph."""

from __future__ import annotations

import importlib
from collections.abc import Iterator, Mapping
from typing import Any

from wengert.base.containers import by_name
from wengert.tape.base import TensorBase
from wengert.viz.reading import attributes, saved_tensors_of

_NODES = {
    "style": "filled",
    "shape": "box",
    "align": "left",
    "fontsize": "10",
    "ranksep": "0.1",
    "height": "0.2",
    "fontname": "monospace",
}
_LEAF, _SAVED, _OUTPUT, _BASE = "lightblue", "orange", "darkolivegreen1", "darkolivegreen3"


def make_dot(
    var: Any,
    params: Mapping[str, Any] | None = None,
    show_attrs: bool = False,
    show_saved: bool = False,
    max_attr_chars: int = 50,
) -> Any:
    """Return the recorded graph of `var` in Graphviz's language, as torchviz draws it.

    Nodes of the backward pass are grey, the leaves whose gradients it adds to blue, saved tensors
    orange. Outputs are light green, and the tensors that they are views of dark green.

    Parameters
    ----------
    var : Tensor or tuple of Tensor. The results whose graph to show.
    params : dict of str to Tensor, optional. Names for tensors.
    show_attrs : bool. Whether nodes show their other attributes, such as the dimension of a sum.
    show_saved : bool. Whether to draw tensors saved by built-in operations. Tensors saved by
        custom Functions are always drawn.
    max_attr_chars : int. The maximum length of an attribute.

    Returns
    -------
    graphviz.Digraph: A graph that notebooks show if the Graphviz program is installed; its text is
        ``.source``. `wengert.viz.draw` needs neither.

    Raises
    ------
    ImportError: If the package graphviz is not installed.
    TypeError: If `var` or a value of `params` is not a tensor, or `params` is not a dictionary.

    Notes
    -----
    Graphs may have any depth. Tensors that a backward pass has freed are left out; torchviz raises.

    Examples
    --------
    >>> from wengert.viz import make_dot
    >>> x = wg.ones(2, requires_grad=True)
    >>> dot = make_dot((x * x).sum(), params={"x": x})
    >>> [name for name in ("SumBackward0", "MulBackward0", "x") if name in dot.source]
    ['SumBackward0', 'MulBackward0', 'x']
    """
    outputs = var if isinstance(var, tuple | list) else (var,)
    for i, output in enumerate(outputs):
        if not isinstance(output, TensorBase):
            place = "" if output is var else f"[{i}]"
            raise TypeError(
                f"make_dot(): var{place} must be a Tensor or a tuple of Tensors, not "
                f"{type(output).__name__}"
            )
    names = _checked_names(params)
    dot = _digraph()
    graph = _Dot(dot, names, show_attrs, show_saved, max(max_attr_chars, 3))
    for output in outputs:
        graph.add_output(output)
    resize_graph(dot)
    return dot


def _checked_names(params: Any) -> dict[int, str]:
    if params is None:
        return {}
    params = by_name(params)
    if not isinstance(params, Mapping):
        raise TypeError(
            "make_dot(): params must be a dict from names to Tensors, as in "
            f"dict(model.named_parameters()), not {type(params).__name__}"
        )
    for name, value in params.items():
        if not isinstance(value, TensorBase):
            raise TypeError(
                f"make_dot(): params[{name!r}] must be a Tensor, not {type(value).__name__}"
            )
    return {id(value): name for name, value in params.items()}


def _digraph() -> Any:
    try:
        graphviz = importlib.import_module("graphviz")
    except ImportError as error:
        raise ImportError(
            "make_dot() needs the Python package graphviz, which is not installed: "
            "pip install 'wengert[viz]'. wengert.viz.draw() needs no other software."
        ) from error
    return graphviz.Digraph(node_attr=dict(_NODES), graph_attr={"size": "12,12"})


class _Dot:
    """The drawing of one graph: what has been drawn, each under the id of its object.

    Whatever is drawn is held in `drawn`, so that no id is used twice.
    """

    def __init__(
        self, dot: Any, names: dict[int, str], show_attrs: bool, show_saved: bool, width: int
    ) -> None:
        self.dot = dot
        self.names = names
        self.show_attrs = show_attrs
        self.show_saved = show_saved
        self.width = width
        self.drawn: dict[int, Any] = {}

    def add_output(self, tensor: Any) -> None:
        """Draw an output with its graph, and the tensor that it is a view of."""
        color, view = _OUTPUT, None
        while id(tensor) not in self.drawn:
            self.drawn[id(tensor)] = tensor
            self.tensor(tensor, "", color)
            if tensor.grad_fn is not None and not _is_kept(tensor.grad_fn):
                self.add_nodes(tensor.grad_fn)
                self.edge(tensor.grad_fn, tensor)
            if view is not None:
                self.edge(tensor, view, style="dotted")
            if not tensor._is_view():
                return
            tensor, view, color = tensor._base, tensor, _BASE
        if view is not None:
            self.edge(tensor, view, style="dotted")

    def add_nodes(self, root: Any) -> None:
        """Draw all nodes that `root` leads to, in the order of a recursion, without recursion."""
        path: list[Iterator[Any]] = []
        following = root
        while True:
            if following is not None and id(following) not in self.drawn:
                self.drawn[id(following)] = following
                path.append(self._around(following))
            if not path:
                return
            following = next(path[-1], None)
            if following is None:
                path.pop()

    def _around(self, node: Any) -> Iterator[Any]:
        """Draw a node with its saved tensors, and yield the nodes to draw in between."""
        kept = attributes(node) if self.show_attrs or self.show_saved else {}
        if self.show_saved:
            for name, value in kept.items():
                for label, tensor in _tensors_in(name, value):
                    self.drawn.setdefault(id(tensor), tensor)
                    self.edge(node, tensor, dir="none")
                    self.tensor(tensor, label, _SAVED)
        variable = getattr(node, "variable", None)
        if isinstance(variable, TensorBase):
            self.drawn.setdefault(id(variable), variable)
            self.tensor(variable, "", _LEAF)
            self.edge(variable, node)
        self.dot.node(str(id(node)), self._label(node, kept))
        for below, _ in node.next_functions:
            if below is not None:
                self.edge(below, node)
                yield below
        for tensor in saved_tensors_of(node) or ():
            if tensor is not None:
                self.drawn.setdefault(id(tensor), tensor)
                self.edge(tensor, node, dir="none")
                self.tensor(tensor, "", _SAVED)

    def edge(self, tail: Any, head: Any, **style: str) -> None:
        """Draw an arrow."""
        self.dot.edge(str(id(tail)), str(id(head)), **style)

    def tensor(self, tensor: Any, name: str, color: str) -> None:
        """Draw a tensor by its name and shape."""
        sizes = ", ".join(str(size) for size in tensor.shape)
        label = f"{name or self.names.get(id(tensor), '')}\n ({sizes})"
        self.dot.node(str(id(tensor)), label, fillcolor=color)

    def _label(self, node: Any, kept: dict[str, Any]) -> str:
        name: str = type(node).__name__
        if not self.show_attrs or not kept:
            return name
        shown = {key: _attribute(value) for key, value in kept.items()}
        left = max(map(len, shown))
        right = min(max(map(len, shown.values())), self.width)
        rule = "-" * max(left + right + 2, len(name))
        rows = [f"{key:<{left}}: {_cut(value, right):>{right}}" for key, value in shown.items()]
        return "\n".join([name, rule, *rows])


def _tensors_in(name: str, value: Any) -> Iterator[tuple[str, Any]]:
    if isinstance(value, TensorBase):
        yield name, value
    elif isinstance(value, tuple):
        for i, part in enumerate(value):
            if isinstance(part, TensorBase):
                yield f"{name}[{i}]", part


def _attribute(value: Any) -> str:
    if isinstance(value, TensorBase):
        return "[saved tensor]"
    if isinstance(value, tuple) and any(isinstance(part, TensorBase) for part in value):
        return "[saved tensors]"
    return str(value)


def _cut(text: str, width: int) -> str:
    return text if len(text) <= width else f"{text[: width - 3]}..."


def resize_graph(dot: Any, size_per_element: float = 0.15, min_size: float = 12) -> None:
    """Set the size of a Graphviz graph, in place, in proportion to its number of lines.

    Parameters
    ----------
    dot : graphviz.Digraph. The graph.
    size_per_element : float. Inches for each line.
    min_size : float. The minimum size, in inches.
    """
    size = max(min_size, len(dot.body) * size_per_element)
    dot.graph_attr.update(size=f"{size},{size}")


def _is_kept(node: Any) -> bool:
    """Return whether `node` leads only to values that a Function kept, PyTorch's constants."""
    met: set[Any] = set()
    stack = [node]
    hidden = False
    while stack:
        one = stack.pop()
        if one in met:
            continue
        met.add(one)
        hidden = hidden or any(getattr(edge, "unseen", False) for edge in one.edges)
        below = [next_node for next_node, _ in one.next_functions if next_node is not None]
        if not one.edges or any(not next_node.edges for next_node in below):
            return False
        stack += below
    return hidden


def make_dot_from_trace(trace: Any) -> Any:
    """Raise an error: torchviz's function of this name has been empty for years.

    Raises
    ------
    NotImplementedError: Always; the message names the replacement.
    """
    raise NotImplementedError(
        "This function has been moved to pytorch core there and draws nothing. To draw what a "
        "function computes, use wengert.viz.dependency_graph(function, *inputs); for the graph of "
        "a result, wengert.viz.draw(y) or wengert.viz.make_dot(y)."
    )
