"""Layer 4 · tape: adding to ``.grad``."""

from __future__ import annotations

import sys
import weakref
from _thread import RLock  # not `threading`, which takes long to import
from typing import Any

import numpy as np

from wengert.base.ports import PORTS
from wengert.interp.eager import K
from wengert.interp.levels import Lifted, levels_of
from wengert.kernels.layout import is_dense, laid_as
from wengert.tape.base import LEAF, OWN, SparseValue, new_tensor, tensor_of, tensor_over, version_of
from wengert.tape.modes import MODE, changed, current_mode, is_recording
from wengert.tape.node import is_leaf_edge
from wengert.tape.record import T
from wengert.tape.versions import InferenceCell
from wengert.tape.write_checks import check_shape

# reentrant: a finalizer, which may run at any point, may itself run a backward pass
_accumulating = RLock()


def add_gradients(leaves: list[tuple[Any, Any]], graph: bool) -> None:
    """Add each leaf's gradient, a raw array or with `graph` a tensor, to its ``.grad``.

    The call empties `leaves`, and the caller keeps no other reference to a gradient: a gradient
    that nobody else holds becomes ``.grad`` itself, any other is copied.
    """
    for leaf, _ in leaves:
        if leaf._edge is not LEAF and leaf._edge is not None and not is_leaf_edge(leaf._edge):
            raise RuntimeError(
                "leaf variable has been moved into the graph interior: a leaf was written to after "
                "it had been used and had ceased to require a gradient; write to its clone()"
            )
    # drop these names: they would hold the gradient, and it would be copied
    leaf = _ = g = None
    if graph and not is_recording():
        # a context sees the operations of the pass, which has no graph itself
        leaves[:] = [(leaf, g._payload) for leaf, g in leaves]
        graph = False
    with _accumulating:
        if graph:
            # compute all before setting any: an operation may raise
            made = [(leaf, _sum(leaf, g)) for leaf, g in leaves if leaf._edge is not None]
            for leaf, g in made:
                leaf._extra().grad = g
                if isinstance(g._payload, Lifted):
                    _note(leaf, g._payload)
            return
        while leaves:
            leaf, g = leaves.pop()
            if leaf._edge is None:
                # it has left the graph in the meantime
                continue
            # nobody else may hold the memory of a gradient
            if g.__class__ is np.ndarray:
                if (
                    sys.getrefcount(g) > _ALONE
                    or not g.flags.writeable
                    or (g.base is not None and not is_whole(g))
                ):
                    g = private(g)
            elif g.__class__ in _NUMBERS:
                pass
            elif isinstance(g, Lifted):
                g = private(g)
                _note(leaf, g)
                _add(leaf, g, lifted=True)
                continue
            elif isinstance(g, SparseValue):
                _add_sparse(leaf, g)
                continue
            _add(leaf, g)


def add_retained(tensor: Any, g: Any, graph: bool) -> None:
    """Add a gradient to the ``.grad`` of a non-leaf that retains it."""
    with _accumulating:
        ext = tensor._extra()
        if graph:
            ext.grad = _sum(tensor, g)
        elif ext.grad is None:
            F: Any = g._namespace if isinstance(g, Lifted) else K
            ext.grad = tensor_over(F.contiguous(g))
        else:
            # a new tensor, as in PyTorch: somebody may hold the old one
            ext.grad = tensor_over(ext.grad._payload + g)


def owned(held: list[Any]) -> Any:
    """Return the gradient in the one-element list `held`, copied if its memory is shared."""
    g = held.pop()
    if (
        g.__class__ is np.ndarray
        and sys.getrefcount(g) <= _ALONE
        and g.flags.writeable
        and (g.base is None or is_whole(g))
    ):
        return g
    return private(g)


def is_whole(g: Any) -> bool:
    """Return whether a view spans the whole memory of an array that only the view holds.

    A sum of products is often such a view: the computed array, reshaped or transposed.
    """
    return is_sole(g) and g.base.nbytes == g.nbytes


def is_sole(g: Any) -> bool:
    """Return whether a view shows the memory of an array that only the view holds."""
    base = g.base
    return (
        base.__class__ is np.ndarray
        and base.flags.owndata
        and sys.getrefcount(base) <= _ALONE_BELOW
    )


def _references(pairs: list[tuple[Any, Any]]) -> int:
    _, g = pairs.pop()
    return sys.getrefcount(g)


def _references_below(g: Any) -> int:
    base = g.base
    return sys.getrefcount(base)


# measured as above, since interpreters differ in their counts
_ALONE = _references([(None, np.empty(1))])
_ALONE_BELOW = _references_below(np.empty((1, 1)).reshape(1))


_NUMBERS: Any = frozenset({np.float32, np.float64})


def private(g: Any) -> Any:
    """Return a copy of a payload, for a new tensor to own."""
    if isinstance(g, Lifted):
        F: Any = g._namespace
        return F.clone(g)
    return np.array(g, copy=True, order="K")


def _sum(tensor: Any, g: Any) -> Any:
    ext = tensor._extra()
    if isinstance(g, SparseValue) or isinstance(ext.grad, SparseValue):
        return _sum_sparse(ext.grad, g)
    if ext.grad is not None:
        return T.add(ext.grad, g)
    # a copy, recorded under its name in PyTorch's graph
    like = tensor._payload if ext.grad_dtype is OWN else g._payload
    made = T.assign(new_tensor(like), g)
    made._payload = _as_its_leaf(made._payload, tensor._payload)
    return made


def _sum_sparse(have: Any, g: Any) -> Any:
    """Return the sum of two gradients, at least one of them sparse."""
    if have is None:
        return g
    if isinstance(have, SparseValue) and not isinstance(g, SparseValue):
        return g + have
    return have + g


def _add_sparse(tensor: Any, g: Any) -> None:
    """Add a sparse gradient, or add to a sparse one."""
    ext = tensor._extra()
    have: Any = ext.grad
    if isinstance(g, SparseValue) and have is not None:
        have.add_(g)
    elif have is None:
        # its values may be arrays that the caller passed to the walk
        ext.grad = g.clone()
    else:
        ext.grad = _sum_sparse(have, tensor_of(g))


def _note(tensor: Any, payload: Any) -> None:
    """Note on each forward-mode level that the gradient of `tensor` has a tangent there."""
    own = levels_of(tensor._payload)
    for number, level in levels_of(payload).items():
        if level.size is None and number not in own:
            level.leaves.append(weakref.ref(tensor))


def _add(tensor: Any, g: Any, lifted: bool = False) -> None:
    ext = tensor._ext
    if ext is None:
        ext = tensor._extra()
    have = ext.grad
    if have is None:
        ext.grad = (tensor_over if lifted else new_tensor)(_as_its_leaf(g, tensor._payload))
    elif isinstance(have, SparseValue):
        _add_sparse(tensor, g)
    else:
        payload, cell = have._payload, have._vc
        # raise the version first: an interrupt in between must not hide a write
        if cell is None:
            have._vc = [1, "accumulation of gradients"]
        elif cell.__class__ is not InferenceCell:
            cell[0] += 1
            cell[1] = "accumulation of gradients"
        try:
            if payload.__class__ in _NUMBERS and payload.__class__ is g.__class__:
                have._payload = payload + g
            elif payload.__class__ is np.ndarray and not lifted:
                np.add(payload, g, payload)
            else:
                check_shape(payload, [g])
                if lifted and have._edge is not None:
                    # at the levels that it enters it is a constant, and has a constant's history
                    have._edge = _brought(have, levels_of(g))._edge
                total = payload + g
                if getattr(payload, "traced", False) and not levels_of(total):
                    # in place, so that everything that shares its memory sees the sum
                    payload.write(total)
                else:
                    have._payload = total
        except (RuntimeError, ValueError):
            # nothing has been written
            if have._vc is not None and have._vc.__class__ is not InferenceCell:
                have._vc[0] -= 1
            check_shape(payload, [g])
            raise


def _brought(have: Any, levels: Any) -> Any:
    mode = current_mode()
    MODE.set(changed(mode, grad=True))
    try:
        return PORTS.brought(have, [levels[number] for number in sorted(levels)])
    finally:
        MODE.set(mode)


def _as_its_leaf(g: Any, leaf: Any) -> Any:
    """Return a first gradient in the memory layout of its leaf, so that views of both agree.

    Where elements of the leaf overlap or have gaps between them, the gradient is in C order.
    """
    if g.__class__ is not np.ndarray:
        if isinstance(g, Lifted) and g.traced:
            # nobody else holds it
            g.array = _as_its_leaf(g.array, getattr(leaf, "array", leaf))
        return g
    if leaf.__class__ is not np.ndarray or g.strides == leaf.strides:
        return g
    return laid_as(g, leaf) if is_dense(leaf) else np.ascontiguousarray(g)


def counted(grad: Any) -> int:
    """Return the version of a gradient, as accumulation counts it."""
    return 0 if grad._vc.__class__ is InferenceCell else version_of(grad)
