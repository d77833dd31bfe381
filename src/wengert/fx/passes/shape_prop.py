"""Layer 9 · fx: `ShapeProp`, which records the shapes of all values of a graph."""

from __future__ import annotations

from typing import Any, NamedTuple

from wengert.fx.interpreter import Interpreter
from wengert.fx.node import Node, map_aggregate
from wengert.tape.base import TensorBase

__all__ = ["ShapeProp", "TensorMetadata"]


class TensorMetadata(NamedTuple):
    """The metadata of a tensor, without its values."""

    shape: Any
    dtype: Any
    requires_grad: bool
    stride: tuple[int, ...]
    memory_format: Any
    is_quantized: bool
    qparams: dict[str, Any]


def _described(value: Any) -> Any:
    if not isinstance(value, TensorBase):
        return value
    t: Any = value
    return TensorMetadata(t.shape, t.dtype, t.requires_grad, t.stride(), None, False, {})


class ShapeProp(Interpreter):
    """Runs a graph and stores the metadata of each result in ``node.meta["tensor_meta"]``.

    Examples
    --------
    >>> traced = wg.fx.symbolic_trace(lambda x: x.sum(0))
    >>> _ = wg.fx.passes.shape_prop.ShapeProp(traced).propagate(wg.ones(2, 3))
    >>> [tuple(node.meta["tensor_meta"].shape) for node in traced.graph.nodes]
    [(2, 3), (3,), (3,)]
    """

    def run_node(self, n: Node) -> Any:
        """Run a node, and store the metadata of its result."""
        result = super().run_node(n)
        found = False

        def note(value: Any) -> Any:
            nonlocal found
            found = found or isinstance(value, TensorBase)
            return _described(value)

        meta = map_aggregate(result, note)
        if found:
            n.meta["tensor_meta"] = meta
        n.meta["type"] = type(result)
        return result

    def propagate(self, *args: Any) -> Any:
        """Run the graph on `args`."""
        return self.run(*args)
