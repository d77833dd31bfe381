"""Layer 4 · tape: views: tensors that share memory, and how their history follows their base's.

NOTE [views and history]
A view holds its base and the chain of view operations that leads from the base to it; a base holds
weak references to its live views. A write through any of them changes the history of all: the
base's becomes a node over the write (`CopySlices`), and each view's is rebuilt from the base's by
its chain. PyTorch rebuilds a view's history when it is next read. Here it is rebuilt at the write,
so that reading an edge remains a plain attribute access in every operation.
"""

from __future__ import annotations

import weakref
from collections.abc import Sequence
from contextvars import ContextVar
from itertools import chain as chained
from typing import Any, ClassVar, NamedTuple, TypeVar

from wengert.base import errors
from wengert.base.ports import PORTS
from wengert.interp.levels import namespace_of
from wengert.prims.record import Primitive
from wengert.prims.table import TABLE
from wengert.tape.base import LEAF, Extra, OutputEdge, TensorBase, new_tensor
from wengert.tape.invalidated import Invalidated, invalidate
from wengert.tape.node import Node, Unrecorded, edge_of, is_leaf_edge, next_sequence, target_of
from wengert.tape.sites import mark
from wengert.tape.versions import InferenceCell

_new_tuple, _new_tensor, _new_edge = tuple.__new__, TensorBase.__new__, OutputEdge.__new__
_reference = weakref.ref
V = TypeVar("V", bound=TensorBase)

MADE_UNRECORDED = "no_grad"
MADE_IN_INFERENCE = "inference"
MADE_IN_FUNCTION = "function"
ONE_OF_SEVERAL = "several"
PART = "part"


class Step(NamedTuple):
    """One view operation of a chain, with the shape that it was applied to."""

    prim: Primitive
    params: dict[str, Any]
    shape: tuple[int, ...]
    output: int | None = None
    """The number of the output, for an operation with several."""


Chain = tuple[Any, ...]
"""The views that lead from a base to a view: those to the view before, with the last `Step`; () for
none. So views of views share their chains."""


def view_steps(chain: Chain) -> list[Step]:
    """Return the steps of a chain, beginning at the base."""
    steps = []
    while chain:
        chain, step = chain
        steps.append(step)
    steps.reverse()
    return steps


def attach_view(
    source: Any,
    out: Any,
    prim: Primitive,
    params: dict[str, Any],
    index: int | None,
    recording: bool,
) -> None:
    """Note that `out` shares the memory of `source`, as `prim`'s output number `index`."""
    vc = source._vc
    if vc is None:
        vc = source._vc = [0, None]
    out._vc = vc
    ext = out._ext = Extra()
    # bypass the class, whose constructor is Python code
    step = _new_tuple(Step, (prim, params, source._payload.shape, index))
    above = source._ext
    if above is None:
        above = source._extra()
    base = above.base
    if base is None:
        base, known = source, above
        ext.chain = ((), step)
    else:
        known = base._ext
        ext.chain = (above.chain, step)
        if above.no_write is not None:
            ext.no_write = above.no_write
        if recording and source._edge.__class__ is Invalidated:
            raise RuntimeError(source._edge.message)
    ext.base = base
    views = known.views
    if views is None:
        views = known.views = []
    if not recording:
        ext.no_write = MADE_UNRECORDED
        # a view of an inference tensor requires no gradient
        if base._edge is not None and vc.__class__ is not InferenceCell:
            out._edge = Unrecorded(base=base)
            mark(out._edge)
            _watch(vc, views)
    elif index is not None:
        ext.no_write = ONE_OF_SEVERAL
        if base._edge is not None:
            _watch(vc, views)
    if not views:
        views.append(_reference(out))
    else:
        count = len(views)
        if count > 8 and not count & (count - 1):
            _prune(views)
        views.append(_reference(out))


def attach_views(
    source: Any,
    results: tuple[Any, ...],
    prim: Primitive,
    params: dict[str, Any],
    node: Any,
    recording: bool,
) -> tuple[Any, ...]:
    """Return the results of `prim`, several views, as tensors, recorded by `node` if given."""
    above = source._ext
    own = above is None or above.base is None
    if not own or not (recording or source._edge is None):
        outs = []
        for index, result in enumerate(results):
            out = new_tensor(result, None if node is None else OutputEdge(node, index))
            attach_view(source, out, prim, params, index, recording)
            outs.append(out)
        return tuple(outs)
    # the fast path for a source that owns its memory: do the shared work once
    vc = source._vc
    if vc is None:
        vc = source._vc = [0, None]
    shape = source._payload.shape
    above = source._extra() if above is None else above
    views = above.views
    if views is None:
        views = above.views = []
    else:
        known = len(views)
        if known > 8 and (known - 1).bit_length() != (known + len(results) - 1).bit_length():
            _prune(views)
    if source._edge is not None:
        _watch(vc, views)
    outs, kind, edge = [], PORTS.tensor, None
    for index, result in enumerate(results):
        # bypass functions of Python, which would take a third of the time
        out = _new_tensor(kind)
        if node is not None:
            edge = _new_edge(OutputEdge)
            edge.node, edge.index = node, index
        out._payload, out._edge, out._vc = result, edge, vc
        ext = out._ext = Extra()
        ext.base = source
        ext.chain = ((), _new_tuple(Step, (prim, params, shape, index)))
        ext.no_write = ONE_OF_SEVERAL if recording else MADE_UNRECORDED
        views.append(_reference(out))
        outs.append(out)
    return tuple(outs)


class _Watched(list[Any]):
    """Lists of references to views that cannot follow a write, noted in their version cell.

    A detached tensor shares only the cell with the base of the views. Copies have no such views.
    """

    def __reduce__(self) -> Any:
        return _Watched, ()


def _watch(cell: Any, views: list[Any]) -> None:
    if len(cell) < 5:
        cell += [None, 0, _Watched()][len(cell) - 2 :]
    for known in cell[4]:
        if known is views:
            return
    cell[4].append(views)


def invalidate_views(cell: Any) -> None:
    """After a write that was counted in `cell`, invalidate the views that cannot follow it."""
    for reference in chained.from_iterable(cell[4]):
        view = reference()
        if (
            view is not None
            and view._vc is cell
            and view._edge is not None
            and view._ext.no_write is not None
        ):
            _follow(view, None)


def _prune(views: list[Any]) -> None:
    """Drop references to dead views; called each time their number has doubled."""
    views[:] = [reference for reference in views if reference() is not None]


def window(tensor: Any, steps: Sequence[tuple[str, dict[str, Any]]]) -> Any:
    """Return a view of `tensor` by `steps`, for a single write; its base has no reference to it.

    Parameters
    ----------
    steps: The names and parameters of view operations.
    """
    payload = tensor._array()
    own = tensor._ext
    chain = () if own is None or own.base is None else own.chain
    for name, params in steps:
        prim = TABLE[name]
        chain = (chain, Step(prim, params, payload.shape))
        payload = getattr(namespace_of(payload), prim.name)(payload, **params)
    view = new_tensor(payload, tensor._edge, tensor._share_version())
    ext = view._ext = Extra()
    if own is None or own.base is None:
        ext.base = tensor
    else:
        ext.base, ext.no_write = own.base, own.no_write
    ext.chain = chain
    return view


def attach_alias(source: Any, out: Any) -> None:
    """Note that a custom Function returned its argument `source` as `out`."""
    above = source._ext
    ext = out._extra()
    if above is not None and above.base is not None:
        ext.base, ext.chain = above.base, above.chain
    else:
        ext.base, ext.chain = source, ()
    ext.no_write = MADE_IN_FUNCTION
    base_ext = ext.base._extra()
    base_ext.views = [*(base_ext.views or ()), weakref.ref(out)]


def link(tensor: Any, other: Any) -> None:
    """Note that `other` shares the memory of `tensor` on another side of a transform.

    Neither history follows a recorded write to the other.
    """
    one, two = _base_of(tensor), _base_of(other)
    linked = [*one._extra().linked, *two._extra().linked]
    group = {id(base): base for base in (one, two)}
    group.update({id(base): base for reference in linked if (base := reference()) is not None})
    linked = [_reference(base) for base in group.values()]
    for base in group.values():
        _base_of(base)._extra().linked = linked


def _base_of(tensor: Any) -> Any:
    ext = tensor._ext
    return tensor if ext is None or ext.base is None else ext.base


def root_of(tensor: Any) -> Any:
    """Return the payload where the storage of a view begins, also of a detached one; or None."""
    base = _base_of(tensor)
    root = None if base._ext is None else base._ext.root
    return base._payload if root is None and base is not tensor else root


def unviewed(view: Any) -> Any:
    """Return a tensor like `view` that is not a view, for results whose bases no one else has."""
    return new_tensor(view._payload, view._edge, view._share_version())


def placed_as(view: Any, made: V) -> V:
    """Note that `made`, which is over the memory of `view`, begins where that does; return it."""
    if view._ext is not None and (root := root_of(view)) is not None:
        made._extra().root = root
    return made


def placed_in(memory: Any, made: V) -> V:
    """Note that `memory` is the storage of `made`, which begins somewhere in it; return `made`."""
    made._extra().root = memory
    return made


def elsewhere(tensor: Any) -> list[Any]:
    """Return the tensors, and views, over the memory of `tensor` on other sides of transforms."""
    base = _base_of(tensor)
    if base._ext is None or not base._ext.linked:
        return []
    cells = _cells(base)
    known = {id(one) for one in _family(base)}
    found = []
    for reference in base._ext.linked:
        shown = reference()
        if shown is not None and cells & _cells(shown):
            for one in _family(_base_of(shown)):
                if id(one) not in known:
                    known.add(id(one))
                    found.append(one)
    return found


def invalidate_elsewhere(tensor: Any) -> None:
    """After a recorded write to `tensor`, invalidate the tensors that `elsewhere` returns."""
    for one in elsewhere(tensor):
        if one._edge.__class__ is not Invalidated:
            invalidate(one, errors.WRITTEN_ELSEWHERE, recorded_as(one))


def _cells(tensor: Any) -> set[int]:
    """Return the ids of the version cells of a tensor's memory and its tangent's."""
    return {id(tensor._share_version()), id(getattr(tensor._payload, "given", None) or tensor._vc)}


def _family(base: Any) -> list[Any]:
    views = () if base._ext is None or base._ext.views is None else base._ext.views
    return [base, *[view for reference in views if (view := reference()) is not None]]


def keep_views(tensor: Any, step: Step) -> None:
    """After `step` changed the shape of a base in place, keep its views as they are."""
    undo = step.prim if step.prim.name in ("t", "transpose") else TABLE["view"]
    params = step.params if undo is step.prim else {"shape": step.shape}
    back = Step(undo, params, tensor._payload.shape)
    for view in _family(tensor)[1:]:
        if view._ext is not None and view._ext.base is tensor:
            chain: Chain = ((), back)
            for known in view_steps(view._ext.chain):
                chain = (chain, known)
            view._ext.chain = chain
    refresh_views(tensor, None)


def has_views(tensor: Any) -> bool:
    """Return whether `tensor` has live views."""
    return any(view._ext is not None and view._ext.base is tensor for view in _family(tensor)[1:])


def single_step(
    prim: Primitive, params: dict[str, Any], index: int | None, shape: tuple[int, ...]
) -> Step:
    """Return one output of a view operation as a step that returns only this output."""
    if index is None:
        return Step(prim, params, shape)
    dim = params["dim"]
    if prim.name == "unbind":
        return Step(TABLE["select"], {"dim": dim, "index": index}, shape)
    sizes = params["sizes"]
    start = sum(sizes[:index])
    bounds = {"dim": dim, "start": start, "end": start + sizes[index], "step": 1}
    return Step(TABLE["slice"], bounds, shape)


def _alone(step: Step) -> Step:
    # made on demand, since it is rarely needed
    prim, params, shape, index = step
    return step if index is None else single_step(prim, params, index, shape)


def push(F: Any, chain: Chain, value: Any) -> Any:
    """Apply a chain of views to `value`, of the base's shape."""
    for step in view_steps(chain):
        prim, params, _, _ = _alone(step)
        value = getattr(F, prim.name)(value, **params)
    return value


def pull(F: Any, chain: Chain, g: Any) -> Any:
    """Return the base's cotangent from a view's: the transposes of the chain in reverse order."""
    for step in reversed(view_steps(chain)):
        prim, params, _, _ = _alone(step)
        rule = prim.rules[0]
        assert rule is not None
        known = {"self_shape": step.shape, **params}
        g = rule.call(F, g, *[known[name] for name in rule.names])
    return g


class ReplayedView(Node):
    """The history of a view whose base was written to: the base's, followed by the chain."""

    __slots__ = ("chain",)
    label: ClassVar[str] = "AsStridedBackward0"
    chain: Chain

    def apply(self, g: Any, keep: bool, edges: tuple[Any, ...]) -> tuple[Any, ...]:
        return (pull(namespace_of(g), self.chain, g),)

    apply_in = apply


# PyTorch's name
ReplayedView.__name__ = ReplayedView.label


REPLAYS: ContextVar[bool] = ContextVar("wengert_view_replay", default=False)
"""Whether a view's history is rebuilt with one node for each of its view operations."""
_STEP_NODES: dict[str, type] = {}


def _node_of_step(prim: Primitive) -> type:
    """Return the node class for one rebuilt view operation."""
    known = _STEP_NODES.get(prim.node)
    if known is None:
        body = {"__slots__": (), "__module__": __name__, "label": prim.node}
        known = _STEP_NODES[prim.node] = type(prim.node, (ReplayedView,), body)
    return known


def replayed(edge: Any, chain: Chain) -> Any:
    """Return a node for the view of the target of `edge` by `chain`."""
    if REPLAYS.get():
        for step in view_steps(chain):
            prim, params, shape, _ = _alone(step)
            edge = _replayed(_node_of_step(prim), edge, ((), Step(prim, params, shape)))
        return edge
    return _replayed(ReplayedView, edge, chain)


def _replayed(kind: Any, edge: Any, chain: Chain) -> Any:
    node: Any = kind.__new__(kind)
    node.edges = (edge,)
    node._seq = next_sequence()
    node._ext = None
    node.chain = chain
    return node


def renew_views(base: Any) -> Any:
    """Rebuild all views of `base` over its current memory, and return references to them."""
    references = () if base._ext is None or base._ext.views is None else base._ext.views
    for reference in references:
        view = reference()
        if view is not None and view._ext is not None and view._ext.base is base:
            view._payload = push(namespace_of(base._payload), view._ext.chain, base._payload)
    return references


def refresh_views(tensor: Any, node: Any) -> None:
    """After a write to the memory of `tensor`, bring the views of its base up to date.

    Parameters
    ----------
    node
        The new history of the base, from which those of its views are rebuilt; None if nothing was
        recorded, which leaves the base's history as it is. Views that cannot follow the write are
        invalidated.
    """
    ext = tensor._ext
    base = tensor if ext.base is None else ext.base
    if base._ext is None or base._ext.views is None:
        return
    source = edge_of(base) if node is None else node
    # the written view first, then the newest: PyTorch makes the others' nodes on their next use
    views = [reference() for reference in reversed(base._ext.views)]
    if tensor is not base and views[0] is not tensor:
        views = [tensor, *[view for view in views if view is not tensor]]
    for view in views:
        if view is None or view._ext is None or view._ext.base is not base:
            continue
        if source is None and is_leaf_edge(view._edge):
            view._ext.stale = True
        else:
            _follow(view, source)


def _follow(view: Any, source: Any) -> None:
    """After a write, give `view` a history that leads to its base's `source`, or invalidate it."""
    kind = view._ext.no_write
    if kind is None:
        move_edge(view, replayed(source, view._ext.chain))
    elif view._edge.__class__ is not Invalidated:
        was = recorded_as(view)
        invalidate(view, str(errors.view_refused(kind, *was, changed=True)), was)


def require_grad_of_views(base: Any, value: bool) -> None:
    """Set whether the unrecorded views of a leaf require a gradient, to match the leaf."""
    for reference in base._ext.views:
        view = reference()
        if view is None or view._ext.base is not base or not is_leaf_edge(view._edge):
            continue
        if value and view._ext.stale:
            _follow(view, base)
        else:
            view._edge = Unrecorded(base=base) if value else None


def write_refused(view: Any) -> RuntimeError:
    """Return the error for a write to a view that cannot follow it."""
    return errors.view_refused(view._ext.no_write, *recorded_as(view), changed=False)


def recorded_as(view: Any) -> tuple[str | None, int]:
    """Return the name of the node that recorded `view`, or None, and its output number."""
    edge = view._edge
    if edge.__class__ is Unrecorded:
        return edge.was
    if is_leaf_edge(edge):
        return None, 0
    node, index = target_of(edge)
    return node.was if isinstance(node, Invalidated) else (node.label, index)


def move_edge(tensor: Any, edge: Any) -> None:
    """Give `tensor` a new history, and move the retained gradient, if any, to the new node."""
    before = tensor._edge
    tensor._edge = edge
    if (
        tensor._ext is not None
        and tensor._ext.retains
        and before is not None
        and before is not LEAF
    ):
        old, index = target_of(before)
        kept = old._extra().retained
        if kept and index in kept and kept[index]() is tensor:
            del kept[index]
        node, index = target_of(edge)
        node.retain(index, tensor)
