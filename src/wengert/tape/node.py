"""Layer 4 · tape: `Node`, one recorded operation, and what users can see of it."""

from __future__ import annotations

import weakref
from collections import namedtuple
from collections.abc import Callable
from types import CodeType
from typing import Any, ClassVar

from wengert.interp.levels import Lifted
from wengert.prims.record import Primitive
from wengert.tape.base import LEAF, NodeBase, OutputEdge, TensorBase, node_of
from wengert.tape.handles import WATCHED, RemovableHandle, register
from wengert.tape.modes import current_mode
from wengert.tape.ordering import number_of, set_number
from wengert.tape.sequence import next_sequence as next_sequence
from wengert.tape.sites import Site

USER_CODE: weakref.WeakSet[Any] = weakref.WeakSet()
"""Live nodes that run user code, which may raise in the middle of a walk.

As long as there are any, walks release saved values only when they have finished, so that a walk
that raised can be repeated.
"""


class NodeExtra:
    """The attributes that few nodes have: hooks, outputs that retain their gradient, metadata.

    Attributes
    ----------
    tensor_hooks: Hooks of the output tensors: ``(output index, handle id) -> hook``, in order.
    retained: Weak references to output tensors that keep their gradient, by output index.
    prehooks, posthooks: Hooks of the node itself, by handle id.
    metadata: A dictionary for users.
    number: The sequence number that the program has set (see `wengert.tape.ordering`).
    result_edge: For a node inside another (see `wengert.tape.inplace.CopySlices`): a function that
        returns the edge of its result, which does not lead to the node itself.
    leaf: A leaf that its history is known to lead to (see `wengert.tape.engine.ends_at`).
    """

    # defaults live on the class: most nodes have one or two of these
    tensor_hooks: dict[tuple[int, int], Any] | None = None
    retained: dict[int, weakref.ref[TensorBase]] | None = None
    prehooks: dict[int, Any] | None = None
    posthooks: dict[int, Any] | None = None
    metadata: dict[Any, Any] | None = None
    number: int | None = None
    result_edge: Callable[[], Any] | None = None
    leaf: Any = None


class Node(NodeBase):
    """One operation on the tape; the type of ``tensor.grad_fn``.

    A node holds edges to the nodes that made its arguments, and no tensors but those that it saved.
    Each primitive has a subclass of its own, made when it is first recorded, with a slot for each
    name that its rules need (see NOTE [rule parameters are the saved set]).
    """

    __slots__ = ()

    edges: tuple[Any, ...]
    _ext: NodeExtra | None
    _seq: int
    site: CodeType | Site | None
    versions: tuple[int, ...] | int
    outputs_meta: tuple[Any, ...]
    prim: ClassVar[Primitive]
    several: ClassVar[bool] = False
    blanks: ClassVar[int] = 0
    hidden: ClassVar[tuple[int, ...]] = ()
    unseen: ClassVar[bool] = False
    """Whether the graph is shown as if the node were not there."""
    passed: int
    gives_all: ClassVar[bool] = False
    """Whether hooks also see gradients that were not asked for."""
    gives_none: ClassVar[bool] = True
    """Whether None for an edge is a gradient (see NOTE [gradients that are None])."""
    label: ClassVar[str]
    full_name: ClassVar[str] = ""

    # -- for the engine --------------------------------------------------------------------

    def apply(self, g: Any, keep: bool, edges: tuple[Any, ...]) -> tuple[Any, ...]:
        """Return the cotangents for `edges` (None where the edge is None) from the output's.

        Parameters
        ----------
        g: The cotangent of the output; a tuple with None for several outputs.
        keep: Whether the saved values are still needed afterwards.
        edges: The node's edges, with None for those not asked for.
        """
        raise NotImplementedError

    apply_in: Callable[..., tuple[Any, ...]]
    """Like `apply`, but in the namespace of the values: for cotangents other than raw arrays."""

    def step(self, g: Any, keep: bool, edges: tuple[Any, ...], raw: bool) -> tuple[Any, ...]:
        """Call `apply`, or with ``raw=False`` `apply_in`; also handle a missing cotangent."""
        if g is None:
            if not keep:
                self.release()
            return (None,) * len(edges)
        if raw and isinstance(g, Lifted | list | tuple):
            parts = [g] if isinstance(g, Lifted) else g
            raw = not any(isinstance(part, Lifted) for part in parts)
        return self.apply(g, keep, edges) if raw else self.apply_in(g, keep, edges)

    def closes_over(self) -> bool:
        """Return whether its rule uses tensors that require a gradient but have no edge here."""
        return False

    def release(self) -> None:
        """Release the saved values."""

    def width(self) -> int:
        """Return the number of differentiable outputs, for a node that may have several."""
        return len(self.outputs_meta)

    # -- for users ---------------------------------------------------------------------------

    def name(self) -> str:
        """Return the node's name, as in PyTorch.

        Examples
        --------
        >>> wg.ones(2, requires_grad=True).exp().grad_fn.name()
        'ExpBackward0'
        """
        return self.full_name or self.label

    @property
    def next_functions(self) -> tuple[tuple[Any, int], ...]:
        """The node and output number that made each argument, or ``(None, 0)``."""
        edges = self.edges
        if self.hidden:
            # masks and indices, which PyTorch does not show
            edges = tuple(edge for i, edge in enumerate(edges) if i not in self.hidden)
        return tuple(public_target(edge) for edge in edges) + ((None, 0),) * self.blanks

    def register_hook(self, fn: Callable[[Any, Any], Any]) -> RemovableHandle:
        """Register a hook to call as ``fn(grad_inputs, grad_outputs)`` after the node has run.

        Both are tuples of tensors or None: the gradients of the arguments, as in `next_functions`,
        and of the outputs. If `fn` returns something other than None, that replaces `grad_inputs`.

        Returns
        -------
        %(removable)s

        Examples
        --------
        >>> x = wg.ones(2, requires_grad=True)
        >>> y = x * 3
        >>> handle = y.grad_fn.register_hook(lambda inputs, outputs: (inputs[0] * 10, None))
        >>> y.sum().backward()
        >>> x.grad
        tensor([30., 30.])
        """
        ext = self._extra()
        if ext.posthooks is None:
            ext.posthooks = {}
        self._watch()
        return register(ext.posthooks, fn)

    def register_prehook(self, fn: Callable[[Any], Any]) -> RemovableHandle:
        """Register a hook to call as ``fn(grad_outputs)`` before the node runs.

        `grad_outputs` is a tuple of tensors or None. If `fn` returns something other than None,
        that replaces `grad_outputs`. Hooks of the output tensors run earlier.

        Returns
        -------
        %(removable)s
        """
        ext = self._extra()
        if ext.prehooks is None:
            ext.prehooks = {}
        self._watch()
        return register(ext.prehooks, fn)

    def retain(self, index: int, tensor: TensorBase) -> None:
        """Make `tensor`, output number `index`, retain its gradient."""
        ext = self._extra()
        if ext.retained is None:
            ext.retained = {}
        ext.retained[index] = weakref.ref(tensor)
        WATCHED.add(self)

    def _watch(self) -> None:
        WATCHED.add(self)

    @property
    def metadata(self) -> dict[Any, Any]:
        """A dictionary for the user's own data about the node."""
        ext = self._extra()
        if ext.metadata is None:
            ext.metadata = {}
        return ext.metadata

    def _extra(self) -> NodeExtra:
        """Return the node's rare attributes, made on first use."""
        ext = self._ext
        if ext is None:
            ext = self._ext = NodeExtra()
        return ext

    def _sequence_nr(self) -> int:
        return number_of(self)

    def _set_sequence_nr(self, sequence_nr: int) -> None:
        set_number(self, sequence_nr)

    def __call__(self, *grads: Any) -> Any:
        """Compute the gradients of the arguments from those of the outputs, recorded.

        Examples
        --------
        >>> y = wg.tensor(3.0, requires_grad=True) ** 2
        >>> y.grad_fn(wg.tensor(1.0))
        tensor(6., grad_fn=<MulBackward0>)
        """
        count = self.width() if self.several else 1
        if len(grads) != count:
            raise TypeError(f"expected {count} arguments, got {len(grads)} instead")
        given = list(grads) if self.several else grads[0]
        results = self.step(given, True, self.edges, False)
        shown = tuple(g for i, g in enumerate(results) if i not in self.hidden)
        shown += (None,) * self.blanks
        return shown[0] if len(shown) == 1 else shown

    # -- saved values ---------------------------------------------------------------------------

    def kept(self, name: str) -> Any:
        """Return the stored value of `name`: tensors, stand-ins, or a parameter with arrays."""
        return getattr(self, self._slot(name))

    def keep(self, name: str, value: Any) -> None:
        """Replace the saved value of `name` by `value`, a stand-in or a tuple with stand-ins."""
        if name == "result":
            setattr(self, name, value)
            # a version that no memory has, and a value that is not freed, so that rules unpack it
            name = "result_at"
            value = -2
        else:
            name = self._slot(name)
        setattr(self, name, value)

    def _slot(self, name: str) -> str:
        if name == "result":
            return name
        return f"p_{name}" if name in self.prim.params else f"s_{name}"

    def __repr__(self) -> str:
        return f"<{self.label} object at {id(self):#x}>"

    def __dir__(self) -> list[str]:
        prim = getattr(type(self), "prim", None)
        if prim is None:
            return [*super().__dir__()]
        nothing = {*prim.args, *prim.params, "result"} - {*prim.saved, *prim.shows}
        nothing.update(name for name, form in prim.shows.items() if form is None)
        nothing.update(form for form in prim.shows.values() if isinstance(form, str))
        return [n for n in super().__dir__() if n.removeprefix("_saved_") not in nothing]


class AccumulateGrad(Node):
    """The node that stands for a leaf: the end of a path, which adds to ``.grad``.

    Edges to a leaf are the leaf itself; this node is made only when it is asked for.
    """

    __slots__ = ("variable",)
    label: ClassVar[str] = "AccumulateGrad"
    full_name: ClassVar[str] = "torch::autograd::AccumulateGrad"
    variable: TensorBase

    def __init__(self, variable: TensorBase) -> None:
        self.variable = variable
        self.edges = ()
        self._ext = None
        # its position in a walk: as soon as the gradient is complete
        self._seq = 1 - 2**64

    def _watch(self) -> None:
        WATCHED.add(self)
        # the hooks belong to the leaf, even if nobody else holds the node
        self.variable._extra().accumulator = lambda: self


def accumulator_of(leaf: TensorBase) -> AccumulateGrad:
    """Return the node that stands for `leaf`, the same one as long as somebody holds it."""
    ext = leaf._extra()
    node: AccumulateGrad | None = ext.accumulator() if ext.accumulator is not None else None
    if node is None:
        node = AccumulateGrad(leaf)
        ext.accumulator = weakref.ref(node)
    return node


_Edge = namedtuple("_Edge", ["node", "output_nr", "ownership_token"])


# not a NamedTuple, which cannot have further attributes
class GradientEdge(_Edge):
    """The edge that a tensor's gradient arrives at: a node and the number of one of its outputs.

    Pass it to `backward` and `grad` in place of the tensor; it does not keep the tensor's values
    alive.

    Parameters
    ----------
    node : Node. The node that recorded the tensor; for a leaf, the node that adds to its ``.grad``.
    output_nr : int. The number of the tensor among the node's outputs.
    ownership_token : object, optional. Accepted for compatibility with PyTorch: an edge keeps its
        graph alive through its node.
    """

    shape: tuple[int, ...] | None = None
    """The shape of the gradient, if known."""
    np_dtype: Any = None

    def __new__(cls, node: Any, output_nr: int, ownership_token: Any = None) -> GradientEdge:
        """Make an edge to output `output_nr` of `node`."""
        return super().__new__(cls, node, output_nr, ownership_token)


class Unrecorded(Node):
    """The history of a view that was made, without recording, of a tensor that has a history.

    As in PyTorch, such a view requires a gradient, but none arrives.
    """

    __slots__ = ("base", "was")
    label: ClassVar[str] = "Unrecorded"

    def __init__(self, was: tuple[str | None, int] = (None, 0), base: Any = None) -> None:
        # the name and output number of the node that recorded it before an unrecorded reshape
        self.was = was
        # the edge of the tensor that it views, held weakly
        self.base = None if base is None else weakref.ref(edge_of(base))
        self.edges = ()
        self._ext = None
        self._seq = next_sequence()

    def apply(self, g: Any, keep: bool, edges: tuple[Any, ...]) -> tuple[Any, ...]:
        """End the walk here."""
        return ()

    apply_in = apply


def is_leaf_edge(edge: Any) -> bool:
    """Return whether the edge is that of a tensor that no operation recorded.

    An edge may be the leaf itself if it was packed (see `wengert.tape.saving`).
    """
    return (
        edge is None or edge is LEAF or edge.__class__ is Unrecorded or isinstance(edge, TensorBase)
    )


def target_of(edge: Any) -> tuple[Any, int]:
    """Return an edge as users see it: the node and the number of its output."""
    if edge is None or edge.__class__ is Unrecorded:
        return None, 0
    if isinstance(edge, TensorBase):
        return accumulator_of(edge), 0
    if isinstance(edge, OutputEdge):
        return edge.node, edge.index
    if edge.unseen:
        # shown as its first edge, or as a constant
        return target_of(edge.edges[0]) if edge.passed else (None, 0)
    return edge, 0


def public_target(edge: Any) -> tuple[Any, int]:
    """Return `target_of` an edge to a program, which a trace notes: it depends on the history."""
    mode = current_mode()
    if mode is not None and mode.tracing is not None and edge is not None:
        mode.tracing.walks((edge,), (node_of(edge),))
    return target_of(edge)


def edge_of(tensor: TensorBase) -> Any:
    """Return the edge that the gradient of `tensor` flows to: None, a leaf, or a node's output."""
    edge = tensor._edge
    return tensor if edge is LEAF else edge
