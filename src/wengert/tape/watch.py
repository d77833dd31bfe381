"""Layer 4 · tape: watched walks: hooks, retained gradients, and leaves as they are completed.

NOTE [leaves during a watched walk]
A leaf's gradient is complete when the last node that adds to it has run. Nodes run from the
youngest to the oldest, so that is the oldest reachable node with an edge to the leaf. It is known
before the walk, and the engine still needs no counts. The leaf's hooks then run at once, and its
``.grad`` is updated, so that later hooks see it, as in PyTorch. If the walk raises, every ``.grad``
is restored.

NOTE [gradients that users hold]
Hooks and custom Functions may write to the gradients that they receive. Such a gradient may share
memory with a tensor of the user's: one that was passed to `backward`, or that a hook or a Function
returned. So the gradient is shown with the version cell of that tensor (`Lent`), and a node that
saved the tensor detects the write.
"""

from __future__ import annotations

import sys
import weakref
from collections.abc import Callable, Iterable
from contextvars import ContextVar
from typing import Any

import numpy as np

from wengert.base import errors
from wengert.base.ports import PORTS
from wengert.kernels.strided import owner_of
from wengert.tape.accumulate import add_gradients, add_retained, counted, private
from wengert.tape.base import OWN, SparseValue, TensorBase, new_tensor
from wengert.tape.handles import flags_of
from wengert.tape.hooks import call_hook, call_leaf_hook, call_node_hook
from wengert.tape.modes import current_mode
from wengert.tape.record import T
from wengert.tape.saving import RUNNING

CURRENT: ContextVar[Any] = ContextVar("wengert_walk", default=None)
"""The current walk, set where user code may ask for it: a `Watch` if the walk is watched.

Otherwise it is an object with the same `targets`, `accumulate`, `lent`, `queue` and `executes`.
"""


def _count(tensor: Any) -> int:
    return sys.getrefcount(tensor)


def _references() -> int:
    tensor = object()
    return _count(tensor)


# measured, since interpreters count differently
_ALONE = _references()


def arrived(g: Any) -> Any:
    """Return the gradient of a tensor that the walk has reached (see NOTE [sides of a level])."""
    mode = current_mode()
    return g if mode is None or mode.sides is None else PORTS.arrived(g)


class Lent:
    """The memory of tensors that users passed to a walk, with their version cells."""

    __slots__ = ("_cells",)

    def __init__(self, tensors: Iterable[Any] = ()) -> None:
        self._cells: dict[int, tuple[Any, Any]] = {}
        for tensor in tensors:
            self.add(tensor)

    def add(self, tensor: Any) -> None:
        """Add a tensor; ignore None."""
        array = getattr(tensor, "_payload", None)
        if array.__class__ is np.ndarray:
            memory = owner_of(array)
            self._cells[id(memory)] = (weakref.ref(memory), tensor._share_version())

    def shown(self, part: Any) -> Any:
        """Return a cotangent as users see it: a tensor with the version cell of its memory."""
        cell = None
        if self._cells and part.__class__ is np.ndarray:
            memory = owner_of(part)
            known, version = self._cells.get(id(memory), (None, None))
            if known is not None and known() is memory:
                cell = version
        return new_tensor(part, None, cell)


def shown(part: Any) -> Any:
    """Return a cotangent as users see it (see NOTE [gradients that users hold])."""
    current = CURRENT.get()
    return new_tensor(part) if current is None else current.lent.shown(part)


class Watch:
    """The observer of one walk.

    Parameters
    ----------
    raw: Whether cotangents are raw arrays.
    nodes: The nodes that the walk may run, each with its edges that count.
    arriving: The reachable nodes whose gradients are asked for.
    targets: The nodes and leaves whose gradients are asked for; None for all leaves.
    accumulate: Whether to add to the ``.grad`` of leaves; otherwise their gradients are captured.
    anomaly: The observer of anomaly mode (`wengert.tape.anomaly.AnomalyWatch`), or None.
    alone: Whether the walk starts from one output.
    queue: A function that takes callbacks to run when the walk has ended.
    lent: The tensors that users passed to the walk.
    """

    keep = False
    """Whether the graph may be walked again."""

    def __init__(
        self,
        raw: bool,
        nodes: dict[Any, tuple[Any, ...]],
        arriving: set[Any],
        targets: set[Any] | None,
        accumulate: bool,
        anomaly: Any,
        alone: bool,
        queue: Callable[[Callable[[], Any]], None],
        lent: Lent,
    ) -> None:
        self.raw = raw
        self.nodes = nodes
        self.arriving = arriving
        self.targets = targets
        self.accumulate = accumulate
        self.anomaly = anomaly
        self.alone = alone
        self.queue = queue
        self.lent = lent
        self.captured: dict[tuple[Any, int], Any] = {}
        # the tensors that hooks saw of unchanged cotangents, as long as somebody holds them
        self._shown: weakref.WeakValueDictionary[int, Any] = weakref.WeakValueDictionary()
        self._held: list[Any] = []
        self._journal: list[tuple[Any, Any, Any, int]] = []
        self._last: dict[Any, list[Any]] = {}
        self._leaves: set[Any] = set()
        self._plan()

    def _plan(self) -> None:
        """Find the node after which each leaf is complete."""
        oldest: dict[Any, Any] = {}
        for node, edges in self.nodes.items():
            for edge in edges:
                if edge is not None and edge._seq > 0:
                    known = oldest.get(edge)
                    if known is None or node._seq > known._seq:
                        oldest[edge] = node
        for node in set(oldest.values()):
            # each leaf once, in the order of the edges
            ends = {edge: None for edge in self.nodes[node] if oldest.get(edge) is node}
            self._last[node] = list(ends)
        self._leaves.update(oldest)

    def executes(self, target: Any) -> bool:
        """Return whether the walk will reach a node, or a leaf."""
        if target._seq > 0:
            return target in self._leaves and (self.targets is None or target in self.targets)
        return target in self.nodes or target in self.arriving

    def order(self) -> list[Any]:
        """Return the nodes and leaves that the walk will reach, in order."""
        found = []
        for node in sorted(self.nodes, key=lambda node: node._seq):
            found += [node, *self._last.get(node, ())]
        return found

    # -- what the engine calls --------------------------------------------------------------------

    def begin(self, pending: dict[Any, Any]) -> None:
        """Settle leaves that are roots of the walk and that no node adds to."""
        for leaf in [edge for edge in pending if edge._seq > 0]:
            if leaf not in self._leaves:
                self._leaves.add(leaf)
                self._settle(leaf, pending)

    def step(self, node: Any, g: Any, keep: bool, edges: Any) -> tuple[Any, ...] | None:
        """Run `node` backwards with its hooks; return None if no further gradient is needed."""
        token = RUNNING.set(node)
        try:
            return self._step(node, g, keep, edges)
        finally:
            RUNNING.reset(token)

    def _step(self, node: Any, g: Any, keep: bool, edges: Any) -> tuple[Any, ...] | None:
        self._held.clear()
        asked = self.targets is not None and node in self.targets
        if edges is None and not asked and not self.alone:
            # it leads to no target; as in PyTorch, its hooks run only if it is the single output
            return None
        ext = node._ext
        came = g
        if ext is not None and (ext.tensor_hooks or ext.retained):
            g = self._arrived(node, ext, g)
        if asked:
            # as in PyTorch: what tensor hooks return counts only where the walk ends at the node
            final = g if edges is None else came
            for i, part in enumerate(final if node.several else (final,)):
                if part is not None:
                    self.captured[node, i] = arrived(part)
        if edges is None:
            return None
        if ext is not None and ext.prehooks:
            g = self._before(node, ext, g)
        if self.anomaly is not None:
            grads = self.anomaly.step(node, g, keep, edges)
        else:
            grads = node.step(g, keep, edges, self.raw)
        if ext is not None and ext.posthooks:
            grads = self._after(node, ext, g, edges, grads)
        elif node._ext is not None and node._ext.posthooks:
            # an unpack hook of this node registered it: the incoming cotangent is not shown
            blank = [None] * node.width() if node.several else None
            grads = self._after(node, node._ext, blank, edges, grads)
        return grads

    def finished(self, node: Any, pending: dict[Any, Any]) -> None:
        """Settle the leaves that `node` completed."""
        leaves = self._last.get(node)
        if leaves is not None:
            for leaf in leaves:
                if leaf in pending:
                    self._settle(leaf, pending)

    def end(self, pending: dict[Any, Any]) -> None:
        """Settle leaves that more nodes have edges to, but which no path has reached."""
        for leaf in [*pending]:
            self._settle(leaf, pending)

    # -- nodes ------------------------------------------------------------------------------------

    def _wrap(self, part: Any) -> Any:
        """Return a cotangent as hooks see it: the same tensor for all of them."""
        if part is None:
            return None
        part = arrived(part)
        if not self.raw:
            return part
        if isinstance(part, SparseValue):
            return part
        tensor = self._shown.get(id(part))
        if tensor is None or tensor._payload is not part:
            tensor = self._shown[id(part)] = self.lent.shown(part)
        self._held.append(tensor)
        return tensor

    def _unwrap(self, part: Any, shown: Any, made: Any) -> Any:
        """Return the cotangent to pass on for `part`, where hooks turned `shown` into `made`."""
        if isinstance(part, SparseValue) or isinstance(made, SparseValue):
            return made._payload if self.raw and isinstance(made, TensorBase) else made
        # a write to a payload that is not an array, such as a number or a dual, replaces it
        if made is shown and (not self.raw or made is None or made._payload is arrived(part)):
            return part
        if self.raw:
            self.lent.add(made)
        payload = made._payload if self.raw and made is not None else made
        if made is None or (arrived(part) if self.raw else shown) is part:
            return payload
        # hooks saw only a part of it
        return PORTS.replaced(part, payload)

    def _arrived(self, node: Any, ext: Any, g: Any) -> Any:
        parts = list(g) if node.several else [g]
        hooks = ext.tensor_hooks or {}
        # output by output, in the order of their first registration
        for index in dict.fromkeys(map(flags_of, list(hooks))):
            for hook in [hook for key, hook in list(hooks.items()) if flags_of(key) == index]:
                part = parts[index]
                shown = self._wrap(part)
                parts[index] = self._unwrap(part, shown, call_hook(hook, shown))
        for index, reference in list((ext.retained or {}).items()):
            tensor = reference()
            if tensor is not None and parts[index] is not None:
                self._note(tensor)
                add_retained(tensor, arrived(parts[index]), not self.raw)
        return parts if node.several else parts[0]

    def _before(self, node: Any, ext: Any, g: Any) -> Any:
        given = g if node.several else (g,)
        shown = parts = tuple(map(self._wrap, given))
        for hook in list(ext.prehooks.values()):
            parts = call_node_hook(hook, parts)
        results = list(map(self._unwrap, given, shown, parts))
        return results if node.several else results[0]

    def _after(self, node: Any, ext: Any, g: Any, edges: Any, grads: Any) -> tuple[Any, ...]:
        outputs = tuple(map(self._wrap, g if node.several else (g,)))
        shown = [i for i in range(len(grads)) if i not in node.hidden]
        # a rule may return more than was asked for
        asked = [grads[i] if edges[i] is not None or node.gives_all else None for i in shown]
        first = inputs = tuple(map(self._wrap, asked)) + (None,) * node.blanks
        for hook in list(ext.posthooks.values()):
            inputs = call_node_hook(hook, inputs, outputs)
        results: list[Any] = [None] * len(grads)
        for i, part, seen, made in zip(shown, asked, first, inputs, strict=False):
            results[i] = self._unwrap(part, seen, made)
        return tuple(results)

    # -- leaves -----------------------------------------------------------------------------------

    def _settle(self, leaf: Any, pending: dict[Any, Any]) -> None:
        """Run the hooks of a leaf and add to its ``.grad``, or capture its gradient."""
        token = RUNNING.set(leaf)
        try:
            self._settle_leaf(leaf, pending)
        finally:
            RUNNING.reset(token)

    def _settle_leaf(self, leaf: Any, pending: dict[Any, Any]) -> None:
        self._held.clear()
        g = pending.pop(leaf)
        if self.targets is not None and leaf not in self.targets:
            if self.alone and not self.nodes and g is not None:
                # as in PyTorch, the hooks of a single output run
                self._hooked(leaf._extra().hooks, call_hook, arrived(g))
            return
        if g is not None:
            g = arrived(g)
        if g is not None and g.shape != leaf._payload.shape and leaf._edge is not None:
            raise errors.gradient_shape(leaf._payload, g)
        ext = leaf._extra()
        if ext.grad_dtype is not OWN:
            g = self._cast(g, ext.grad_dtype)
        g = self._hooked(ext.hooks, call_hook, g)
        if not self.accumulate:
            self.captured[leaf, 0] = g
            return
        accumulator = None if ext.accumulator is None else ext.accumulator()
        node_ext = None if accumulator is None else accumulator._ext
        if node_ext is not None:
            g = self._hooked(node_ext.prehooks, lambda hook, g: call_node_hook(hook, (g,))[0], g)
        posthooks = None if node_ext is None else node_ext.posthooks
        if ext.grad_dtype is not OWN and ext.grad is not None:
            # it will be added to the existing gradient
            g = self._cast(g, ext.grad._payload.dtype)
        shown: Any = self._wrap(g) if posthooks else None
        place = id(g)
        # drop our references: a gradient that nobody else holds becomes .grad uncopied
        self._held.clear()
        self._note(leaf)
        lent = ext.grad is None and shown is not None and shown is not g
        if lent and _count(shown) <= _ALONE:
            shown._payload = None
        # a prehook may have taken the gradient away
        leaves = [] if g is None else [(leaf, g)]
        g = None
        add_gradients(leaves, not self.raw)
        if lent and shown._payload is None:
            # the tensor that hooks saw shares memory with .grad, as in PyTorch
            have = ext.grad
            taken = id(have._payload) == place
            shown._payload = have._payload if taken else private(have._payload)
            shown._vc = have._share_version() if taken else shown._vc
        for hook in list((ext.post_hooks or {}).values()):
            call_leaf_hook(hook, leaf)
        if posthooks:
            for hook in list(posthooks.values()):
                call_node_hook(hook, (), (shown,))

    def _cast(self, g: Any, dtype: Any) -> Any:
        if g is None or dtype is None or g.dtype == dtype:
            return g
        shown = self._wrap(g)
        return self._unwrap(g, shown, T.to_copy(shown, dtype=dtype))

    def _hooked(self, hooks: dict[Any, Any] | None, call: Callable[[Any, Any], Any], g: Any) -> Any:
        if not hooks:
            return g
        shown = made = self._wrap(g)
        for hook in list(hooks.values()):
            made = call(hook, made)
        return self._unwrap(g, shown, made)

    # -- exceptions -------------------------------------------------------------------------------

    def _note(self, tensor: Any) -> None:
        """Remember the current gradient of `tensor`, to restore it if the walk raises."""
        have = tensor._extra().grad
        values: Any = None
        version = 0
        if isinstance(have, SparseValue):
            # its parts are replaced, never written to, so no copy is needed
            values = dict(vars(have))
        elif have is not None:
            values, version = have._payload, counted(have)
            if values.__class__ is np.ndarray or getattr(values, "traced", False):
                # others are replaced, never written to
                values = private(values)
        self._journal.append((tensor, have, values, version))

    def undo(self) -> None:
        """Restore every gradient from before the walk."""
        for tensor, have, values, version in reversed(self._journal):
            tensor._extra().grad = have
            if isinstance(have, SparseValue):
                vars(have).update(values)
                continue
            if values is None or counted(have) == version:
                continue
            if have._payload.__class__ is np.ndarray:
                np.copyto(have._payload, values)
            elif getattr(have._payload, "traced", False):
                have._payload.write(values)
            else:
                have._payload = values
