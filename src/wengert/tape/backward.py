"""Layer 4 · tape: `backward` and `grad`: argument checks, the walk, and delivery of the results.

All checks come before the walk, and gradients are written to ``.grad`` only after it: if anything
raises, no gradient has changed.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Iterable, Sequence
from operator import attrgetter
from typing import Any

import numpy as np

from wengert.base import errors
from wengert.base.device import different_devices
from wengert.base.dtypes import is_differentiable
from wengert.base.error_states import errstate
from wengert.base.ports import PORTS
from wengert.interp.levels import Lifted, device_of, is_elsewhere
from wengert.tape.accumulate import add_gradients, owned, private
from wengert.tape.base import (
    LEAF,
    OutputEdge,
    SparseValue,
    TensorBase,
    new_tensor,
    node_of,
    tensor_over,
)
from wengert.tape.detachments import recent, told
from wengert.tape.engine import ends_at, walk
from wengert.tape.handles import WATCHED
from wengert.tape.hooks import retain_grad
from wengert.tape.masked import REPORT, begin_search, end_search
from wengert.tape.modes import (
    MODE,
    NO_GRAD,
    current_mode,
    is_recording,
    mode_for_walk,
    sees_rules,
    traced,
)
from wengert.tape.nested import elsewhere, is_deep
from wengert.tape.node import USER_CODE, AccumulateGrad, GradientEdge, Unrecorded, edge_of
from wengert.tape.operands import cast
from wengert.tape.ordering import REORDERED, in_order
from wengert.tape.sites import warn_once
from wengert.tape.watch import CURRENT, Lent, Watch

_UNITS = {np.float32: np.float32(1), np.float64: np.float64(1)}
_ONES = {np.dtype(kind): one for kind, one in _UNITS.items()}


def _seeds(
    outputs: Sequence[Any], grads: Sequence[Any], create_graph: bool
) -> tuple[list[tuple[Any, Any]], bool]:
    """Return each output's edge with its checked cotangent, brought to the output's levels.

    The second result says whether any cotangent belongs to a level.
    """
    if len(outputs) != len(grads):
        raise RuntimeError(
            f"got {len(outputs)} tensors and {len(grads)} gradients: they must be as many"
        )
    seeds: list[tuple[Any, Any]] = []
    lifted = False
    for i, (output, grad) in enumerate(zip(outputs, grads, strict=True)):
        levels = None
        if isinstance(output, GradientEdge):
            shape, dtype, edge = output.shape, output.np_dtype, _edge_of(output)
        else:
            payload = output._payload
            if isinstance(payload, Lifted):
                output = PORTS.settled(output)
                payload = output._payload
                levels = payload if isinstance(payload, Lifted) else None
            shape, dtype, edge = payload.shape, payload.dtype, output._edge
            if edge is LEAF:
                edge = output
            elif (edge is None or edge.__class__ is Unrecorded) and (
                grad is None or isinstance(grad, TensorBase)
            ):
                raise errors.no_gradient(i, payload, is_recording(), told(recent()))
        if grad is None:
            g = _implicit_seed(i, shape, dtype)
            if current_mode() is not None:
                g = traced("constant", g)
            grad = new_tensor(g) if create_graph else g
        else:
            if isinstance(grad, SparseValue):
                grad = grad.to_dense()
            _check_seed(i, shape, dtype, grad)
            if dtype is not None:
                grad = cast(grad, dtype)
            if not create_graph:
                grad = grad._payload
        if levels is not None:
            if is_elsewhere(levels) or (levels.computes and grads[i] is None):
                grad = _placed(grad, levels, grads[i] is None)
            grad = PORTS.seeded(grad, levels)
        if isinstance(grad._payload if create_graph else grad, Lifted):
            lifted = True
        seeds.append((edge, grad))
    return seeds, lifted


def _placed(grad: Any, payload: Any, implicit: bool) -> Any:
    """Return a cotangent of the output's kind: an implicit one is sent, others must be there."""
    if implicit:
        recorded = isinstance(grad, TensorBase)
        made = grad._payload if recorded else grad
        if is_elsewhere(payload):
            made = PORTS.sent(made, payload.device)
        else:
            made = payload._namespace.zeros_like(payload) + made
        return tensor_over(made) if recorded else made
    place = device_of(getattr(grad, "_payload", grad))
    if place != payload.device:
        raise different_devices(payload.device, place)
    return grad


def _implicit_seed(i: int, shape: tuple[int, ...] | None, dtype: Any) -> Any:
    if shape is None:
        raise RuntimeError(
            f"output {i} is a GradientEdge whose shape is not known: pass its gradient, or make "
            "the edge with get_gradient_edge(tensor)"
        )
    if shape and any(size != 1 for size in shape):
        raise errors.not_a_scalar(shape)
    if dtype in _ONES and not shape:
        return _ONES[dtype]
    if not is_differentiable(dtype) or dtype.kind == "c":
        raise RuntimeError(
            f"grad can be implicitly created only for real scalar outputs but got {dtype}"
        )
    return np.ones(shape, dtype) if shape else dtype.type(1)


def _check_seed(i: int, shape: tuple[int, ...] | None, dtype: Any, grad: Any) -> None:
    if not isinstance(grad, TensorBase):
        raise TypeError(
            f"gradients can be either Tensors or None, but got {type(grad).__name__} for output {i}"
        )
    if shape is None:
        return
    if grad._payload.shape != shape:
        raise RuntimeError(
            f"Mismatch in shape: grad_output[{i}] has a shape of "
            f"torch.Size({list(grad._payload.shape)}) and output[{i}] has a shape of "
            f"torch.Size({list(shape)})."
        )
    if (grad._payload.dtype.kind == "c") != (dtype.kind == "c"):
        raise RuntimeError(
            "For complex Tensors, both grad_output and output are required to have the same "
            f"dtype. Mismatch in dtype: grad_output[{i}] has a dtype of {grad._payload.dtype} and "
            f"output[{i}] has a dtype of {dtype}."
        )


_NUMBER = attrgetter("_seq")


def _reachable(
    seeds: Sequence[tuple[Any, Any]],
    targets: set[Any] | None = None,
    through: Container[Any] | None = None,
) -> set[Any]:
    """Return every node that a walk from `seeds` may reach, only via `through` if given.

    With `targets`, leave out nodes that are too old to lead to one: a node leads only to older
    nodes, so a gradient with respect to a late value does not walk back to the beginning.
    """
    oldest = -1
    if targets and all(target._seq < 0 for target in targets):
        oldest = max([target._seq for target in targets])
    reached: set[Any] = set()
    stack = [node_of(edge) for edge, _ in seeds]
    while stack:
        node = stack.pop()
        if node in reached or node._seq > oldest or (through is not None and node not in through):
            continue
        reached.add(node)
        # leaves have positive numbers, an `OutputEdge` has 0
        stack += [
            edge if edge._seq else edge.node
            for edge in node.edges
            if edge is not None and edge._seq <= 0
        ]
    return reached


def _restricted(
    seeds: Sequence[tuple[Any, Any]], targets: set[Any], through: Container[Any] | None
) -> dict[Any, tuple[Any, ...]]:
    """Return the nodes between the outputs and `targets`, each with its edges that lead there."""
    wanted: dict[Any, tuple[Any, ...]] = {}
    for node in sorted(_reachable(seeds, targets, through), key=_NUMBER, reverse=True):
        edges = []
        leads = False
        for edge in node.edges:
            if edge is not None:
                below = edge if edge._seq else edge.node
                if below in wanted or below in targets:
                    leads = True
                else:
                    edge = None
            edges.append(edge)
        if leads:
            wanted[node] = tuple(edges)
    return wanted


def _edge_of(source: Any) -> Any:
    """Return the edge of a tensor, or the one that a `GradientEdge` stands for."""
    if not isinstance(source, GradientEdge):
        # no gradient arrives at a view made without recording: return an edge without predecessors
        return Unrecorded() if source._edge.__class__ is Unrecorded else edge_of(source)
    node, index = source.node, source.output_nr
    if isinstance(node, AccumulateGrad):
        return node.variable
    if not 0 <= index < (node.width() if node.several else 1):
        raise RuntimeError(f"a GradientEdge names output {index} of {node.name()}, which has fewer")
    return OutputEdge(node, index) if node.several else node


def _arrived(pending: dict[Any, Any]) -> dict[Any, Any]:
    """Return the gradients of leaves, seen from the sides of levels that the walk was on."""
    mode = current_mode()
    if mode is None or mode.sides is None:
        return pending
    return {leaf: None if g is None else PORTS.arrived(g) for leaf, g in pending.items()}


def _accumulate(pending: dict[Any, Any], targets: set[Any] | None, graph: bool) -> None:
    """Add the gradients of leaves, or of `targets` only, to their ``.grad``."""
    leaves: list[tuple[Any, Any]] = []
    while pending:
        leaf, g = pending.popitem()
        if g is not None and (targets is None or leaf in targets):
            # a leaf that has left the graph meanwhile may have another shape
            if g.shape != leaf._payload.shape and leaf._edge is not None:
                raise errors.gradient_shape(leaf._payload, g)
            leaves.append((leaf, g))
    leaf = g = None
    add_gradients(leaves, graph)


def is_plain() -> bool:
    """Return whether a walk that begins now is ordinary: no mode, hook or user code observes it."""
    mode = current_mode()
    return (
        (mode is None or mode is NO_GRAD)
        and not WATCHED.data  # type: ignore[attr-defined]
        and not USER_CODE.data  # type: ignore[attr-defined]
        and not REORDERED.data  # type: ignore[attr-defined]
        and CURRENT.get() is None
    )


def plain_walk(
    edge: Any, g: Any, keep: bool, wanted: Any = None, accumulate: bool = False
) -> dict[Any, Any]:
    """Walk raw cotangents from one edge by the short path, where `is_plain` holds.

    Return the gradients of the leaves, or nothing if they were added to ``.grad``.
    """
    before = current_mode()
    searching = begin_search(edge)
    MODE.set(NO_GRAD)
    try:
        return _walked(edge, g, keep, wanted, accumulate)
    finally:
        MODE.set(before)
        end_search(searching)


_quiet = errstate(all="ignore", invalid="log", call=REPORT)


@_quiet
def _quietly(function: Callable[..., Any], *args: Any) -> Any:
    return function(*args)


@_quiet
def _walked(edge: Any, g: Any, keep: bool, wanted: Any, accumulate: bool) -> dict[Any, Any]:
    pending = walk(((edge, g),), keep, True, wanted)
    if current_mode() is not NO_GRAD:
        pending = _arrived(pending)
    if accumulate:
        _accumulate(pending, None, False)
    return pending


_ARRAYS: Any = frozenset({np.ndarray, *_UNITS})


def _plain_seed(output: Any, grad: Any) -> Any:
    """Return the raw cotangent of a recorded array; None where it needs the full checks.

    Parameters
    ----------
    grad: The cotangent that the caller passed, a tensor; None for 1.
    """
    edge = output._edge if isinstance(output, TensorBase) else None
    if edge is None or edge is LEAF or edge.__class__ is Unrecorded:
        return None
    payload = output._payload
    if grad is None:
        return _UNITS.get(payload.__class__)
    g: Any = grad._payload if isinstance(grad, TensorBase) else None
    if g.__class__ not in _ARRAYS or payload.__class__ not in _ARRAYS:
        return None
    return g if g.dtype is payload.dtype and g.shape == payload.shape else None


class _Walk:
    """One walk with its modes: recording on for ``create_graph``, off otherwise.

    It computes with tensors if it is recorded, or a context sees its operations.
    """

    targets: set[Any] | None = None
    through: Container[Any] | None = None
    accumulate = False
    lent = Lent()
    _prepared = False
    _callbacks: tuple[Callable[[], Any], ...] = ()

    def __init__(
        self,
        seeds: list[tuple[Any, Any]],
        keep: bool,
        create_graph: bool,
        given: Sequence[Any],
        lifted: bool,
        seen: bool,
    ) -> None:
        self.seeds = seeds
        self.keep = keep
        self.raw = not seen
        self.graph = create_graph
        self.given = given
        self.lifted = lifted
        # nodes have faster rules for arrays
        self.direct = self.raw and not self.lifted
        self.captured: dict[tuple[Any, int], Any] = {}

    def run(self, targets: set[Any] | None, accumulate: bool) -> None:
        """Walk to all leaves, or to `targets` only, and add to ``.grad`` or capture gradients."""
        # its set is tested directly, since a call would cost every walk
        reordered: set[Any] = REORDERED.data  # type: ignore[attr-defined]
        if (CURRENT.get() is not None or reordered) and not self._prepared:
            self._prepared = True
            self._run_inside(targets, accumulate)
            return
        before = current_mode()
        anomaly = tracing = sides = line = None
        if before is not None:
            anomaly, tracing, sides = before.anomaly, before.tracing, before.sides
        watched, wanted = bool(WATCHED.data), None  # type: ignore[attr-defined]
        if targets is not None:
            watched = watched or any(target._seq < 0 for target in targets)
            wanted = _restricted(self.seeds, targets, self.through)
            # as in PyTorch, the nodes of tensors that accumulate into .grad run, too
            for target in targets if accumulate else ():
                if target._seq < 0:
                    wanted.setdefault(target, (None,) * len(target.edges))
        searching = begin_search(self.seeds, tracing is not None)
        if tracing is not None:
            line = tracing.stay()
            tracing.walks([edge for edge, _ in self.seeds], wanted)
            if self.through is None:
                tracing.passes([edge for edge, _ in self.seeds], wanted)
        try:
            mode = mode_for_walk(before, self.graph)
            if self.lifted or sides is not None:
                given = [g for g in self.given if g is not None]
                seeds = [g for _, g in self.seeds]
                mode = PORTS.sided(mode, seeds, given, not accumulate, wanted)
            MODE.set(mode)
            go = self._watched if watched else self._unwatched
            if anomaly is None:
                _quietly(go, wanted, targets, accumulate, None)
            else:
                with anomaly.walk():
                    _quietly(go, wanted, targets, accumulate, anomaly.watch(self.raw))
        finally:
            MODE.set(before)
            end_search(searching)
            if tracing is not None:
                tracing.where = line
        if self._callbacks:
            self._finish()

    def _run_inside(self, targets: set[Any] | None, accumulate: bool) -> None:
        """Run inside another walk, or in an order that the program has set."""
        if CURRENT.get() is not None and is_deep():
            elsewhere(self.run, targets, accumulate)
        elif REORDERED:
            with in_order(_reachable(self.seeds)):
                self.run(targets, accumulate)
        else:
            self.run(targets, accumulate)

    def queue(self, callback: Callable[[], Any]) -> None:
        """Call `callback` when the walk has ended."""
        self._callbacks = (*self._callbacks, callback)

    def _finish(self) -> None:
        """Call the queued callbacks, which may queue more."""
        above = CURRENT.get()
        CURRENT.set(self)
        try:
            while self._callbacks:
                callback, *rest = self._callbacks
                self._callbacks = tuple(rest)
                callback()
        finally:
            CURRENT.set(above)

    def executes(self, target: Any) -> bool:
        """Return whether the walk may reach a node, or a leaf."""
        met = _reachable(self.seeds, None, self.through)
        if target._seq < 0:
            return target in met
        return any(target is edge for node in met for edge in node.edges)

    def _unwatched(
        self, wanted: Any, targets: set[Any] | None, accumulate: bool, look: Any
    ) -> None:
        if USER_CODE.data or look is not None:  # type: ignore[attr-defined]
            pending = self._postponing(wanted, targets, accumulate, look)
        else:
            pending = walk(self.seeds, self.keep, self.direct, wanted)
        if current_mode() is not NO_GRAD:
            pending = _arrived(pending)
        if not accumulate:
            self.captured = {(leaf, 0): g for leaf, g in pending.items()}
            return
        _accumulate(pending, targets, not self.raw)

    def _postponing(
        self, wanted: Any, targets: set[Any] | None, accumulate: bool, look: Any
    ) -> dict[Any, Any]:
        """Walk where user code may raise midway: release saved values only at the end."""
        seen = bool(USER_CODE)
        above = CURRENT.get()
        try:
            if seen:
                self.targets, self.accumulate = targets, accumulate
                self.lent = Lent(self.given)
                CURRENT.set(self)
            pending = walk(self.seeds, True, self.direct, wanted, look)
        finally:
            if seen:
                CURRENT.set(above)
        if self.keep:
            return pending
        if look is not None:
            _release(look.met)
        else:
            _release(_reachable(self.seeds) if wanted is None else wanted)
        return pending

    def _watched(self, wanted: Any, targets: set[Any] | None, accumulate: bool, look: Any) -> None:
        reachable = _reachable(self.seeds, targets)
        arriving = reachable if targets is None else reachable & targets
        if wanted is None:
            nodes = {node: node.edges for node in reachable}
        else:
            lost = () if targets is None else targets - arriving
            nodes = {node: edges for node, edges in wanted.items() if node not in lost}
        alone = len(self.seeds) == 1
        lent = Lent(self.given)
        watch = Watch(self.raw, nodes, arriving, targets, accumulate, look, alone, self.queue, lent)
        watch.keep = self.keep
        above = CURRENT.get()
        try:
            CURRENT.set(watch)
            # saved values are released only at the end, so that a walk interrupted by a hook can be
            # repeated
            watch.end(walk(self.seeds, True, self.direct, wanted, watch))
        except BaseException:
            watch.undo()
            raise
        finally:
            CURRENT.set(above)
        if not self.keep:
            _release(nodes)
        self.captured = watch.captured


def _release(nodes: Iterable[Any]) -> None:
    for node in nodes:
        node.release()


_CYCLE = (
    "Using backward() with create_graph=True will create a reference cycle between the parameter "
    "and its gradient which can cause a memory leak. We recommend using autograd.grad when "
    "creating the graph to avoid this. If you have to use this function, make sure to reset the "
    ".grad fields of your parameters to None after use to break the cycle and avoid the leak."
)


def run_backward(
    outputs: Sequence[Any],
    grads: Sequence[Any],
    keep: bool,
    create_graph: bool,
    inputs: Sequence[Any] | None,
) -> None:
    """Walk from `outputs` and add to ``.grad`` of the leaves, or of `inputs`."""
    if create_graph:
        warn_once(_CYCLE)
    elif inputs is None and len(outputs) == len(grads) == 1 and is_plain():
        seed = _plain_seed(outputs[0], grads[0])
        if seed is not None:
            plain_walk(outputs[0]._edge, seed, keep, accumulate=True)
            return
    seen = create_graph or sees_rules()
    seeds, lifted = _seeds(outputs, grads, seen)
    targets: set[Any] | None = None
    if inputs is not None:
        for i, source in enumerate(inputs):
            # an edge may lead to a leaf; for a non-leaf it holds no tensor that could have a .grad
            if isinstance(source, GradientEdge):
                continue
            if source._edge is None:
                raise RuntimeError(
                    f"One of the differentiated Tensors does not require grad: inputs[{i}]"
                )
            retain_grad(source)
        targets = {node_of(_edge_of(source)) for source in inputs}
    _Walk(seeds, keep, create_graph, grads, lifted, seen).run(targets, accumulate=True)


def run_grad(
    outputs: Sequence[Any],
    inputs: Sequence[Any],
    grads: Sequence[Any],
    keep: bool,
    create_graph: bool,
    through: Container[Any] | None = None,
    closed: bool = False,
) -> list[Any]:
    """Return the gradients of `outputs` with respect to `inputs`; None where there is no path.

    With `through`, a set of nodes, only paths via these count. `closed` says that all paths are
    known to end at `inputs`.
    """
    if not create_graph and through is None and len(outputs) == len(grads) == 1 and is_plain():
        seed = _plain_seed(outputs[0], grads[0])
        if seed is not None and all(getattr(i, "_edge", None) is LEAF for i in inputs):
            edge = outputs[0]._edge
            wanted = None
            if not (closed or ends_at((edge,), inputs)):
                wanted = _restricted(((edge, seed),), set(inputs), None)
            return _handed(plain_walk(edge, seed, keep, wanted), inputs)
    seen = create_graph or sees_rules()
    seeds, lifted = _seeds(outputs, grads, seen)
    for i, source in enumerate(inputs):
        if not isinstance(source, GradientEdge) and source._edge is None:
            raise RuntimeError(
                f"One of the differentiated Tensors does not require grad\n  inputs[{i}], "
                f"{errors.describe(source._payload)}"
            )
    edges = [_edge_of(source) for source in inputs]
    walked = _Walk(seeds, keep, create_graph, grads, lifted, seen)
    walked.through = through
    walked.run({node_of(edge) for edge in edges}, accumulate=False)
    keys = [(node_of(edge), edge.index if isinstance(edge, OutputEdge) else 0) for edge in edges]
    if seen:
        return [walked.captured.get(key) for key in keys]
    return _handed(walked.captured, keys)


def _handed(captured: dict[Any, Any], keys: Sequence[Any]) -> list[Any]:
    """Return the gradients under `keys` as tensors with memory of their own; None where missing."""
    results: list[Any] = []
    made: dict[Any, Any] = {}
    for key in keys:
        g: Any = captured.get(key)
        if g is None:
            # the same input again
            first = made.get(key)
            results.append(None if first is None else tensor_over(private(first._payload)))
        elif isinstance(g, SparseValue):
            results.append(captured[key].clone())
        else:
            g = None
            made[key] = tensor_over(owned([captured.pop(key)]))
            results.append(made[key])
    return results
