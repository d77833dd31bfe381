"""Layer 4 · tape: `backward` and `grad`: their checks, the walk, and what becomes of the results.

Everything is checked before the walk, and gradients are written to ``.grad`` only after it: if
anything raises, no gradient has changed.
"""

from __future__ import annotations

import sys
from _thread import allocate_lock  # not `threading`, which takes long to import
from collections.abc import Sequence
from typing import Any

import numpy as np

from wengert.base import errors
from wengert.base.dtypes import is_differentiable
from wengert.tape.base import OutputEdge, TensorBase, new_tensor
from wengert.tape.engine import walk
from wengert.tape.hooks import retain_grad, run_leaf_hooks, visitor
from wengert.tape.lift import cast
from wengert.tape.modes import MODE, NO_GRAD, current_mode, no_grad
from wengert.tape.node import USER_CODE, edge_of
from wengert.tape.record import T

__all__ = ["run_backward", "run_grad"]

_accumulating = allocate_lock()


def _seeds(
    outputs: Sequence[Any], grads: Sequence[Any], create_graph: bool
) -> list[tuple[Any, Any]]:
    """Each output's edge with its cotangent, checked."""
    if len(outputs) != len(grads):
        raise RuntimeError(
            f"got {len(outputs)} tensors and {len(grads)} gradients: they must be as many"
        )
    seeds: list[tuple[Any, Any]] = []
    for i, (output, grad) in enumerate(zip(outputs, grads, strict=True)):
        payload = output.payload
        if grad is None:
            if output.edge is None:
                raise errors.no_gradient(i, errors.describe(payload))
            if payload.size != 1:
                raise errors.not_a_scalar(payload.shape)
            if not is_differentiable(payload.dtype) or payload.dtype.kind == "c":
                raise RuntimeError(
                    "grad can be implicitly created only for real scalar outputs but got "
                    f"{payload.dtype}"
                )
            g: Any = payload.dtype.type(1) if payload.ndim == 0 else np.ones_like(payload)
            grad = new_tensor(g) if create_graph else g
        else:
            _check_seed(i, payload, grad)
            if output.edge is None:
                raise errors.no_gradient(i, errors.describe(payload))
            grad = cast(grad, payload.dtype)
            if not create_graph:
                grad = grad.payload
        seeds.append((edge_of(output), grad))
    return seeds


def _check_seed(i: int, payload: Any, grad: Any) -> None:
    if not isinstance(grad, TensorBase):
        raise TypeError(
            f"gradients can be either Tensors or None, but got {type(grad).__name__} for output {i}"
        )
    if grad.payload.shape != payload.shape:
        raise RuntimeError(
            f"Mismatch in shape: grad_output[{i}] has a shape of "
            f"torch.Size({list(grad.payload.shape)}) and output[{i}] has a shape of "
            f"torch.Size({list(payload.shape)})."
        )
    if (grad.payload.dtype.kind == "c") != (payload.dtype.kind == "c"):
        raise RuntimeError(
            "For complex Tensors, both grad_output and output are required to have the same "
            f"dtype. Mismatch in dtype: grad_output[{i}] has a dtype of {grad.payload.dtype} and "
            f"output[{i}] has a dtype of {payload.dtype}."
        )


def _reachable(seeds: Sequence[tuple[Any, Any]]) -> set[Any]:
    """Every node that a walk from `seeds` may come to."""
    reached: set[Any] = set()
    stack = [_node_of(edge) for edge, _ in seeds]
    while stack:
        node = stack.pop()
        if node in reached or node.seq > 0:
            continue
        reached.add(node)
        stack += [_node_of(edge) for edge in node.edges if edge is not None]
    return reached


def _restricted(seeds: Sequence[tuple[Any, Any]], targets: set[Any]) -> dict[Any, tuple[Any, ...]]:
    """The nodes between the outputs and `targets`, each with its edges that lead there."""
    wanted: dict[Any, tuple[Any, ...]] = {}
    for node in sorted(_reachable(seeds), key=lambda node: -node.seq):
        edges = tuple(
            edge
            if edge is not None and (_node_of(edge) in targets or _node_of(edge) in wanted)
            else None
            for edge in node.edges
        )
        if any(edge is not None for edge in edges):
            wanted[node] = edges
    return wanted


def _node_of(edge: Any) -> Any:
    return edge.node if edge.seq == 0 else edge


class _Walk:
    """One walk with its modes: recording on for ``create_graph``, off otherwise."""

    def __init__(self, seeds: list[tuple[Any, Any]], keep: bool, create_graph: bool) -> None:
        self.seeds = seeds
        self.keep = keep
        self.raw = not create_graph
        self.retained: list[tuple[Any, Any]] = []
        self.captured: dict[tuple[Any, int], Any] = {}

    def run(self, targets: set[Any] | None) -> dict[Any, Any]:
        """Walk to all leaves, or to `targets` only, gathering what non-leaf targets get."""
        wanted = None if targets is None else _restricted(self.seeds, targets)
        inner = visitor(self.raw, lambda tensor, g: self.retained.append((tensor, g)))
        postponed = not self.keep and bool(USER_CODE)
        before = current_mode()
        MODE.set(NO_GRAD if self.raw else None)
        try:
            with np.errstate(all="ignore"):
                keep = self.keep or postponed
                if targets is None:
                    pending = walk(self.seeds, keep, self.raw, None, inner)
                else:
                    pending = self._capturing(wanted, targets, inner, keep)
        finally:
            MODE.set(before)
        if postponed:
            for node in _reachable(self.seeds) if wanted is None else wanted:
                node.release()
        return pending

    def _capturing(self, wanted: Any, targets: set[Any], inner: Any, keep: bool) -> dict[Any, Any]:
        def visit(node: Any, g: Any) -> Any:
            g = inner(node, g) if node.ext is not None else g
            if node in targets:
                for i, part in enumerate(g if node.several else (g,)):
                    if part is not None:
                        self.captured[node, i] = part
            return g

        for node in targets:
            if node.seq < 0:
                node.extra()
        return walk(self.seeds, keep, self.raw, wanted, visit)


def run_backward(
    outputs: Sequence[Any],
    grads: Sequence[Any],
    keep: bool,
    create_graph: bool,
    inputs: Sequence[Any] | None,
) -> None:
    """Walk from `outputs` and add to ``.grad`` of the leaves, or of `inputs`."""
    seeds = _seeds(outputs, grads, create_graph)
    targets: set[Any] | None = None
    if inputs is not None:
        for i, tensor in enumerate(inputs):
            if tensor.edge is None:
                raise RuntimeError(
                    f"One of the differentiated Tensors does not require grad: inputs[{i}]"
                )
            retain_grad(tensor)
        targets = {_node_of(edge_of(tensor)) for tensor in inputs}
    walked = _Walk(seeds, keep, create_graph)
    pending = walked.run(targets)
    leaves: list[tuple[Any, Any]] = []
    while pending:
        leaf, g = pending.popitem()
        if targets is None or leaf in targets:
            leaves.append((leaf, g))
    leaf = g = None
    _finish(leaves, walked.retained, create_graph)


def _finish(leaves: list[tuple[Any, Any]], retained: list[tuple[Any, Any]], graph: bool) -> None:
    """Add to ``.grad``; `leaves` is used up, so that nothing else holds its gradients."""
    for i, (leaf, g) in enumerate(leaves):
        if g.shape != leaf.payload.shape:
            raise errors.gradient_shape(leaf.payload, g)
        if leaf.ext is not None and leaf.ext.hooks:
            leaves[i] = (leaf, _hooked(leaf, g, graph))
    leaf = g = None
    with _accumulating:
        for tensor, kept in retained:
            _add_to_grad(tensor, kept if graph else _private(kept), graph)
        while leaves:
            leaf, g = leaves.pop()
            # nobody else may come to hold the memory of a gradient
            if (
                not graph
                and g.__class__ is np.ndarray
                and (sys.getrefcount(g) > _ALONE or g.base is not None or not g.flags.writeable)
            ):
                g = _private(g)
            _add_to_grad(leaf, g, graph)


def _references(pairs: list[tuple[Any, Any]]) -> int:
    _, g = pairs.pop()
    return sys.getrefcount(g)


# counted as `_finish` counts, since interpreters differ in what they count
_ALONE = _references([(None, np.empty(1))])


def _hooked(leaf: Any, g: Any, graph: bool) -> Any:
    if graph:
        return run_leaf_hooks(leaf, g)
    with no_grad():
        return run_leaf_hooks(leaf, new_tensor(g)).payload


def _private(g: Any) -> Any:
    return np.array(g, copy=True, order="K")


def _add_to_grad(tensor: Any, g: Any, graph: bool) -> None:
    ext = tensor.extra()
    have = ext.grad
    if graph:
        # a copy, under the name that PyTorch's graph gives it
        ext.grad = T.assign(new_tensor(tensor.payload), g) if have is None else T.add(have, g)
    elif have is None:
        ext.grad = new_tensor(g)
    elif have.edge is None and have.payload.__class__ is np.ndarray and have.payload.ndim:
        np.add(have.payload, g, have.payload)
        if have.vc is not None:
            have.vc[0] += 1
            have.vc[1] = "accumulation of gradients"
        else:
            have.vc = [1, "accumulation of gradients"]
    else:
        ext.grad = new_tensor(have.payload + g)


def run_grad(
    outputs: Sequence[Any],
    inputs: Sequence[Any],
    grads: Sequence[Any],
    keep: bool,
    create_graph: bool,
) -> list[Any]:
    """The gradients of `outputs` by `inputs`; None where there is no path."""
    seeds = _seeds(outputs, grads, create_graph)
    for i, tensor in enumerate(inputs):
        if tensor.edge is None:
            raise RuntimeError(
                f"One of the differentiated Tensors does not require grad\n  inputs[{i}], "
                f"{errors.describe(tensor.payload)}"
            )
    edges = [edge_of(tensor) for tensor in inputs]
    walked = _Walk(seeds, keep, create_graph)
    pending = walked.run({_node_of(edge) for edge in edges})
    hooked: dict[Any, Any] = {}
    results = []
    for edge in edges:
        if edge.seq > 0:
            g = pending.get(edge)
            if g is not None and edge.ext is not None and edge.ext.hooks:
                if edge not in hooked:
                    hooked[edge] = _hooked(edge, g, create_graph)
                g = hooked[edge]
        else:
            index = edge.index if isinstance(edge, OutputEdge) else 0
            g = walked.captured.get((_node_of(edge), index))
        results.append(g if g is None or create_graph else new_tensor(_private(g)))
    _finish([], walked.retained, create_graph)
    return results
