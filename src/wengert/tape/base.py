"""Layer 4 · tape: `TensorBase`, autograd metadata over a payload, without any operation.

NOTE [payload]
A tensor's payload is a NumPy array. For a tensor without dimensions it may be a NumPy scalar:
NumPy's arithmetic on scalars takes a sixth of the time of arithmetic on 0-d arrays. A scalar cannot
be written to or shared, so code that shares memory or writes calls `TensorBase._array` first, which
replaces the scalar by a 0-d array.

NOTE [edges]
`TensorBase._edge` says where the tensor's gradient goes:

* None: nowhere; the tensor does not require a gradient;
* `LEAF`: the tensor is a leaf that requires a gradient. Edges to a leaf are the tensor itself,
  which saves a node per leaf and the reference cycle that it would make;
* a `Node`: the tensor is that node's only differentiable output;
* an `OutputEdge`: the tensor is one of the node's several outputs.

NOTE [versions]
`TensorBase._vc` is the version cell, shared by all tensors over one memory. It is None until
something writes to the memory or shares it: while it is None, nothing can have changed since the
tensor was made, and a saved tensor needs no check. Its entries are

* the number of writes, and the name of the last writer;
* if there are more: the line of the last write, or None;
* the number of assignments to ``.data``;
* the lists of views that cannot follow a write (see `wengert.tape.views`).
"""

from __future__ import annotations

from _thread import RLock  # not `threading`, which takes long to import
from typing import Any, ClassVar

import numpy as np

from wengert.base import errors
from wengert.base.ports import PORTS
from wengert.interp.levels import Lifted

_making = RLock()


class Leaf:
    """The marker of a leaf that requires a gradient."""

    __slots__ = ()

    def __repr__(self) -> str:
        return "LEAF"


LEAF = Leaf()


OWN: Any = Leaf()
"""The marker of a gradient with its leaf's own dtype."""


class Extra:
    """The attributes that few tensors have: a gradient, hooks, a base that they view, a level.

    Attributes
    ----------
    grad: The accumulated gradient.
    hooks: Hooks of a leaf on its gradient, by handle id.
    retains: Whether a non-leaf keeps its gradient.
    base, chain
        For a view: the tensor that owns the memory, and the way from there, a
        `wengert.tape.views.Chain`.
    root: For a view that was detached: the array of the tensor that owned the memory.
    linked
        For a base: weak references to tensors over its memory on other sides of transforms.
    views: Weak references to the views of this base whose history follows its own.
    no_write
        Why a view refuses writes while recording (it was made without recording, or as one of
        several), or None.
    stale: Whether a view's memory has been written to while neither it nor its base had a history.
    level: The transform that the tensor belongs to.
    post_hooks: Hooks of a leaf to run once its gradient has been added to, by handle id.
    watchpoint: The object that stands for a leaf with hooks (see `wengert.tape.handles`).
    accumulator: Reference to the node that stands for the leaf, weak unless the node has hooks.
    grad_dtype
        The dtype set for a leaf's gradient: None for any, `OWN` for the dtype of the leaf.
    ended: Whether this is the input of a transform that has ended, so its gradient is not needed.
    """

    # defaults are class attributes: a view sets only three of these
    grad: TensorBase | None = None
    hooks: dict[int, Any] | None = None
    post_hooks: dict[int, Any] | None = None
    watchpoint: Any = None
    retains = False
    base: TensorBase | None = None
    chain: tuple[Any, ...] = ()
    root: Any = None
    linked: Any = ()
    views: list[Any] | None = None
    no_write: str | None = None
    stale = False
    level = 0
    accumulator: Any = None
    grad_dtype: Any = OWN
    ended = False

    def state(self, besides: frozenset[str]) -> tuple[tuple[str, Any], ...]:
        """Return the attributes that differ from those of a new tensor, except `besides`."""
        return tuple(
            (name, value)
            for name, value in vars(self).items()
            if name not in besides and value is not getattr(Extra, name) and value != {}
        )


class TensorBase:
    """Autograd metadata over a payload; the class that users touch is `wengert.Tensor`."""

    __slots__ = ("__weakref__", "_edge", "_ext", "_payload", "_vc")

    _payload: Any
    _edge: Any
    _vc: list[Any] | None
    _ext: Extra | None

    _seq: ClassVar[int] = 1
    """Marks a leaf among edges: nodes have negative sequence numbers."""
    _wraps: ClassVar[bool] = True
    _stays: ClassVar[bool] = False
    """Whether a tensor keeps its class under transforms: its methods have other meanings."""

    # identity, since `==` compares elements
    __hash__ = object.__hash__

    @property
    def _namespace(self) -> Any:
        """T, which computes on tensors."""
        return PORTS.namespace

    @property
    def _level(self) -> int:
        """The transform that the tensor belongs to; 0 outside of any."""
        ext = self._ext
        return 0 if ext is None else ext.level

    def _extra(self) -> Extra:
        """Return the tensor's rare attributes, made on first use."""
        ext = self._ext
        if ext is None:
            made = Extra()
            # another thread may be creating it, and have stored a gradient there
            with _making:
                ext = self._ext
                if ext is None:
                    ext = self._ext = made
        return ext

    def _array(self) -> Any:
        """Return the payload as memory that can be written to and shared."""
        payload = self._payload
        if payload.__class__ is not np.ndarray:
            if isinstance(payload, np.generic):
                scalar, payload = payload, np.asarray(payload)
                self._payload = payload
                node = self._edge
                if getattr(node, "result", None) is scalar:
                    # the node that made it saved it, and must see writes through `.data`
                    node.result = payload
            elif isinstance(payload, np.ndarray):
                # see NOTE [invalidated views]: the memory itself remains usable
                payload = payload.view(np.ndarray)
            elif isinstance(payload, Lifted):
                payload = self._payload = payload.placed()
        return payload

    def _share_version(self) -> list[Any]:
        """Return the version cell, made on first use."""
        vc = self._vc
        if vc is None:
            vc = self._vc = [0, None]
        return vc


class NodeBase:
    """The slots of every node (see `wengert.tape.node.Node`)."""

    __slots__ = ("__weakref__", "_ext", "_seq", "edges", "site", "versions")


class OutputEdge:
    """An edge to one of several outputs of a node."""

    __slots__ = ("__weakref__", "index", "node")
    _seq = 0

    def __init__(self, node: Any, index: int) -> None:
        self.node = node
        self.index = index


def node_of(edge: Any) -> Any:
    """Return the node that an edge leads to, or the leaf itself."""
    return edge.node if edge._seq == 0 else edge


class Freed:
    """The stand-in for a saved tensor once its graph has been freed."""

    __slots__ = ()
    _payload = None
    _vc = (-1, None)

    def _refuse(self, *args: Any, **kwargs: Any) -> Any:
        raise errors.backward_twice("an operation with a number or an index")

    # for saved numbers and indices, which rules use directly
    __array_ufunc__ = __rmul__ = __rtruediv__ = __iter__ = _refuse

    def __repr__(self) -> str:
        return "<freed>"


FREED = Freed()
UNCHANGED = (0, None)
"""The version cell of memory that nobody else can write to."""


def version_then(node: Any, at: int) -> int:
    """Return the memory version that a node noted for its saved argument number `at`.

    A node has no tuple of versions if nothing that it saved had been written to.
    """
    versions = getattr(node, "versions", None)
    return versions[at] if isinstance(versions, tuple) else 0


def version_of(tensor: TensorBase) -> int:
    """Return the number of writes to the tensor's memory."""
    vc = tensor._vc
    return 0 if vc is None else vc[0]


class SparseValue:
    """The base class of sparse tensors, which identifies sparse gradients to the tape.

    See NOTE [sparse gradients] in `wengert.tape.sparse`.
    """

    __slots__ = ()

    def write_to(self, dense: Any, name: str, alpha: Any = 1) -> Any:
        """Compute ``dense += alpha * self`` in place; with the `name` "sub", ``-=``."""
        raise NotImplementedError

    def stored(self) -> Any:
        """Return the values, which are recorded."""
        raise NotImplementedError

    def at_stored(self, other: Any) -> Any:
        """Return the elements of another tensor at the places of the values."""
        raise NotImplementedError

    def gradient(self, found: Any) -> Any:
        """Return the gradient of the elements from that of the values."""
        raise NotImplementedError

    def to_dense(self) -> Any:
        """Return a tensor with all elements."""
        raise NotImplementedError


def tensor_of(g: Any) -> Any:
    """Return a cotangent, which may be an array, as a tensor."""
    return g if isinstance(g, SparseValue | TensorBase) else new_tensor(g)


def tensor_over(payload: Any) -> Any:
    """Make a tensor without a history over a payload, or return the payload's own."""
    own = payload.tensor() if isinstance(payload, Lifted) else None
    return new_tensor(payload) if own is None else own


def alike(made: Any, given: Any) -> Any:
    """Return a new tensor, in the class of `given` if that one stays under transforms."""
    if given._stays:
        made.__class__ = given.__class__
    return made


def new_tensor(payload: Any, edge: Any = None, vc: list[Any] | None = None) -> Any:
    """Make a tensor over a payload, without any check."""
    tensor = TensorBase.__new__(PORTS.tensor)
    tensor._payload = payload
    tensor._edge = edge
    tensor._vc = vc
    tensor._ext = None
    return tensor
