"""Layer 4 · tape: sparse gradients, which store only some of their elements.

NOTE [sparse gradients]
The gradient of a table is mostly zeros if only few of its rows were read. On request, an
operation on a leaf puts a `SparseNode` in front of its own node. It passes its cotangent on to the
leaf as a sparse tensor of `wengert.sparse`, together with the positions in the leaf. The engine
adds this value like any other, and it becomes ``.grad``, in walks on arrays and on tensors alike.
Other nodes would have to handle sparse cotangents, so only leaves get them: a non-leaf gets a dense
gradient, and so does every tensor at a level of `vmap` or `jvp`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar

from wengert.base.ports import PORTS
from wengert.interp.levels import Lifted
from wengert.tape.base import LEAF, new_tensor, tensor_of
from wengert.tape.modes import current_mode, untraced
from wengert.tape.node import Node, next_sequence
from wengert.tape.record import T


class SparseNode(Node):
    """An operation that reads elements of a leaf and gives it a sparse gradient."""

    __slots__ = ("inner", "places", "shape")
    inner: Any
    places: Callable[[Any], tuple[Any, tuple[int, ...], Any]]
    shape: tuple[int, ...]
    label: ClassVar[str]

    def apply(self, g: Any, keep: bool, edges: tuple[Any, ...]) -> tuple[Any, ...]:
        """Return the leaf's cotangent: `g` with its positions in the leaf."""
        values = tensor_of(g)
        if isinstance(values._payload, Lifted):
            if not values._payload.traced:
                return self.inner.apply_in(g, keep, self.inner.edges)[:1]
            # the example value of an abandoned trace
            values = new_tensor(values._payload.array)
        where, shape, kept = self.places(self.inner)
        values = T.unsafe_view(values, shape=shape)
        if kept is not None:
            values = T.index_select(values, new_tensor(kept), dim=0)
        if not keep:
            self.inner.release()
        return (PORTS.sparse_gradient(where, values, self.shape),)

    apply_in = apply

    def release(self) -> None:
        self.inner.release()

    def __getattr__(self, name: str) -> Any:
        if name == "_saved_sparse":
            return True
        if name.startswith(("_saved_", "_raw_saved_")):
            return getattr(self.inner, name)
        raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")


def give_sparse(leaf: Any, out: Any, places: Callable[..., Any]) -> Any:
    """Give `leaf` a sparse gradient from `out`, which an operation read from it.

    Parameters
    ----------
    leaf: The first argument of the operation. Its gradient stays dense if it is not a leaf, or at a
        level of `vmap` or `jvp`.
    places
        Called as ``places(node)``. It returns the positions in the leaf, of shape
        ``(sparse dimensions, n)``, the shape of the cotangent as values for them, and the indices
        of the positions to keep, or None for all.
    """
    mode = current_mode()
    node = out._edge
    if leaf._edge is not LEAF or node is None or leaf._level or (mode is not None and mode.levels):
        return out
    untraced("it makes a sparse gradient")
    outer: Any = _kind(node.label).__new__(_kind(node.label))
    outer.inner = node
    outer.places = places
    outer.shape = tuple(leaf._payload.shape)
    outer.edges = (leaf,)
    outer._seq = next_sequence()
    outer._ext = None
    out._edge = outer
    return out


_KINDS: dict[str, type[SparseNode]] = {}


def _kind(label: str) -> type[SparseNode]:
    """Return the node class named like PyTorch's."""
    kind = _KINDS.get(label)
    if kind is None:
        kind = _KINDS[label] = type(label, (SparseNode,), {"label": label, "__slots__": ()})
    return kind
