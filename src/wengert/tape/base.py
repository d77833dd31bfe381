"""Layer 4 · tape: `TensorBase`, autograd metadata over a payload, without any operation.

NOTE [payload]
A tensor's payload is a NumPy array or, for a tensor without dimensions, it may be a NumPy scalar:
NumPy's arithmetic on scalars takes a sixth of the time that it takes on 0-d arrays. A scalar cannot
be written to or shared, so whatever shares memory or writes calls `TensorBase.array` first, which
puts a 0-d array in its place.

NOTE [edges]
`TensorBase._edge` says where the gradient goes:

* None: nowhere, the tensor does not require a gradient;
* `LEAF`: the tensor is a leaf that requires one; edges to it are the tensor itself, which spares
  each leaf a node and the cycle that it would make;
* a `Node`: the tensor is that node's only differentiable output;
* an `OutputEdge`: it is one of several.

NOTE [versions]
`TensorBase._vc` is the version cell ``[count, name of the last writer]`` that all tensors over one
memory share. It is None until something writes to the memory or shares it: then nothing can have
changed since the tensor was made, and a saved tensor needs no check.
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
    """The mark of a leaf that requires a gradient."""

    __slots__ = ()

    def __repr__(self) -> str:
        return "LEAF"


LEAF = Leaf()


OWN: Any = Leaf()
"""The mark of a gradient that has its leaf's own dtype."""


class Extra:
    """What few tensors have: a gradient, hooks, a base that they are views of, a level.

    Attributes
    ----------
    grad: The accumulated gradient.
    hooks: Hooks of a leaf on its gradient, by handle id.
    retains: Whether a non-leaf keeps its gradient.
    base, chain
        For a view: the tensor that owns the memory, and the ``(primitive, params)`` steps from it.
    linked
        For a base: weak references to tensors that show its memory on other sides of transforms.
    views: Weak references to the views of this base whose history follows its own.
    no_write
        Why a view refuses writes while recording (it was made without recording, or as one of
        several), or None.
    stale: Whether a view's memory has been written to while neither it nor its base had a history.
    level: The transform that the tensor belongs to.
    post_hooks: Hooks of a leaf to run once its gradient has been added to, by handle id.
    watchpoint: What stands for a leaf with hooks (see `wengert.tape.handles`).
    accumulator: Reference to the node that stands for the leaf, weak unless the node has hooks.
    name: A name given by the user.
    grad_dtype
        The dtype of a leaf's gradient as it was set, None for any, `OWN` for that of the leaf.
    ended: Whether this is the input of a transform that has ended: nobody asks for its gradient.
    """

    # defaults on the class: a view sets three of these, and pays for no more
    grad: TensorBase | None = None
    hooks: dict[int, Any] | None = None
    post_hooks: dict[int, Any] | None = None
    watchpoint: Any = None
    retains = False
    base: TensorBase | None = None
    chain: tuple[Any, ...] = ()
    linked: Any = ()
    views: list[Any] | None = None
    no_write: str | None = None
    stale = False
    level = 0
    accumulator: Any = None
    name: str | None = None
    grad_dtype: Any = OWN
    ended = False


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

    # identity, since `==` compares elements
    __hash__ = object.__hash__

    @property
    def _namespace(self) -> Any:
        """T, which computes on tensors."""
        return PORTS.namespace

    @property
    def _level(self) -> int:
        """The transform that the tensor belongs to; 0 outside all."""
        ext = self._ext
        return 0 if ext is None else ext.level

    def _extra(self) -> Extra:
        """The tensor's rare attributes, made on first use."""
        ext = self._ext
        if ext is None:
            made = Extra()
            # another thread may be making one, and put a gradient there
            with _making:
                ext = self._ext
                if ext is None:
                    ext = self._ext = made
        return ext

    def _array(self) -> Any:
        """The payload, as memory that can be written and shared."""
        payload = self._payload
        if payload.__class__ is not np.ndarray:
            if isinstance(payload, np.generic):
                scalar, payload = payload, np.asarray(payload)
                self._payload = payload
                node = self._edge
                if getattr(node, "result", None) is scalar:
                    # the node that made it saved it, and is to see what is written by `.data`
                    node.result = payload
            elif isinstance(payload, np.ndarray):
                # see NOTE [invalidated views]: the memory itself may be used
                payload = payload.view(np.ndarray)
            elif isinstance(payload, Lifted):
                payload = self._payload = payload.placed()
        return payload

    def _share_version(self) -> list[Any]:
        """The version cell, made on first use."""
        vc = self._vc
        if vc is None:
            vc = self._vc = [0, None]
        return vc


class NodeBase:
    """What every node holds (see `wengert.tape.node.Node`)."""

    __slots__ = ("__weakref__", "_ext", "_seq", "edges", "site", "versions")


class OutputEdge:
    """An edge to one of several outputs of a node."""

    __slots__ = ("__weakref__", "index", "node")
    _seq = 0

    def __init__(self, node: Any, index: int) -> None:
        self.node = node
        self.index = index


def node_of(edge: Any) -> Any:
    """What an edge leads to: a node, or a leaf itself."""
    return edge.node if edge._seq == 0 else edge


class Freed:
    """What takes the place of a saved tensor once its graph has been walked."""

    __slots__ = ()
    _payload = None
    _vc = (-1, None)

    def _refuse(self, *args: Any, **kwargs: Any) -> Any:
        raise errors.backward_twice("an operation with a number or an index")

    # for numbers and indices, which rules use as they are
    __array_ufunc__ = __rmul__ = __rtruediv__ = __iter__ = _refuse

    def __repr__(self) -> str:
        return "<freed>"


FREED = Freed()
UNCHANGED = (0, None)
"""The version cell of memory that nobody else can write to."""


def version_then(node: Any, at: int) -> int:
    """The version of the memory of a node's saved argument number `at` when it was recorded.

    Nodes that saved only what nobody had written to have no tuple of these.
    """
    versions = getattr(node, "versions", None)
    return versions[at] if isinstance(versions, tuple) else 0


def version_of(tensor: TensorBase) -> int:
    """How often the tensor's memory has been written to."""
    vc = tensor._vc
    return 0 if vc is None else vc[0]


class SparseValue:
    """The base of sparse tensors, by which the tape knows a gradient that is one.

    See NOTE [sparse gradients] in `wengert.tape.sparse`.
    """

    __slots__ = ()

    def write_to(self, dense: Any, name: str, alpha: Any = 1) -> Any:
        """``dense += alpha * self`` in place for the `name` "add", for "sub" ``-=``."""
        raise NotImplementedError


def tensor_of(g: Any) -> Any:
    """A cotangent, which may be an array, as a tensor."""
    return g if isinstance(g, SparseValue | TensorBase) else new_tensor(g)


def new_tensor(payload: Any, edge: Any = None, vc: list[Any] | None = None) -> Any:
    """A tensor over a payload, without any check."""
    tensor = TensorBase.__new__(PORTS.tensor)
    tensor._payload = payload
    tensor._edge = edge
    tensor._vc = vc
    tensor._ext = None
    return tensor
