"""Layer 8 · sparse: the structure of each operation, from its node on the tape.

NOTE [structure]
A structural rule says which elements of the arguments an element of the result may depend on, for
all values that the arguments may take. What decides on values (comparisons, maxima, masks of
activations) counts as if every choice were possible. Only what the graph takes as given, since no
gradient flows into it, is taken as it is: indices, masks, and the zeros of a constant matrix in a
product. An operation that has no rule here is dense: everything depends on everything.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import Any

import numpy as np

from wengert.prims.families import zero
from wengert.sparse.links import Link, along, broadcast, collected, dense, moved
from wengert.sparse.probe import applied, probed
from wengert.sparse.products import PRODUCTS
from wengert.sparse.windows import WINDOWED
from wengert.tape.views import ReplayedView

__all__ = ["links_of"]

Shape = tuple[int, ...]
Found = list[tuple[Shape, list[Link | None]] | None]
"""For each argument None, or its shape and the link of each output."""

_words = str.split
_BY_ELEMENT = frozenset(
    _words("""
    add rsub add_scaled sub_scaled sub where masked_fill to_copy contiguous threshold_backward clamp
    clamp_min clamp_max clamp_min_tensor clamp_max_tensor clamp_tensor
    """)
)
"""What computes element by element, besides the family."""
_ALONG = frozenset(
    _words("""
    sum_dim mean_dim prod_dim amax amin var std var_mean std_mean vector_norm logsumexp nansum
    max_dim min_dim cumsum cumprod logcumsumexp softmax log_softmax sort topk kthvalue median_dim
    nanmedian_dim mode cummax cummin taken placed linear_recurrence
    linalg_cross
    """)
)
"""What combines elements along ``dim``."""
_BATCHED = frozenset(
    _words("""
    linalg_solve linalg_solve_ex linalg_inv linalg_inv_ex linalg_det linalg_slogdet linalg_cholesky
    linalg_cholesky_ex linalg_lu_factor_ex linalg_lu_solve linalg_solve_triangular linalg_eigh
    linalg_eigvalsh linalg_eig linalg_eigvals linalg_svd linalg_svdvals linalg_qr linalg_matrix_exp
    linalg_lstsq cholesky_inverse cofactor solve_factor
    """)
)
"""What works on matrices, each of a batch by itself."""
_LIKE_VIEWS = frozenset({"index", "unsafe_view"})
_LOSSES = frozenset(
    _words("""
    mse_loss smooth_l1_loss huber_loss binary_cross_entropy binary_cross_entropy_with_logits
    """)
)
_NORMS = frozenset({"batch_norm", "batch_norm_fixed", "layer_norm", "rms_norm", "standardise"})
_POOLS = frozenset(
    f"{kind}{dims}d{suffix}"
    for kind in ("max_pool", "adaptive_max_pool", "fractional_max_pool", "adaptive_avg_pool")
    for dims in (1, 2, 3)
    for suffix in ("", "_with_indices")
)


def links_of(node: Any, results: Sequence[Shape | None]) -> Found:
    """The shape of each argument of a node and its links from the outputs, of the given shapes.

    The shapes of outputs that nothing depends on may be None for nodes of custom Functions.
    """
    prim = getattr(node, "prim", None)
    if prim is None:
        if isinstance(node, ReplayedView):
            return probed(node, [shape for shape in results if shape is not None])
        known = getattr(getattr(node, "function", None), "links", None)
        if known is not None:
            return known(node, results[0])
        return _dense(node, results)
    shapes = [shape for shape in results if shape is not None]
    name = prim.name
    if prim.family == "elementwise" or name in _BY_ELEMENT or (prim.broadcasts and name == "mul"):
        return _by_element(node, shapes)
    rule = _RULES.get(name)
    if rule is not None:
        return rule(node, shapes)
    if name in PRODUCTS:
        return PRODUCTS[name](node, shapes, _shape_of(node, shapes))
    if (prim.family == "view" or name in _LIKE_VIEWS) and prim.args == ("self",):
        found = _viewed(node, shapes)
        if found is not None:
            return found
    linear = prim.family in ("linear", "view") or name == "shift"
    # what decides where elements go must not be among them
    moves = linear and set(prim.saved_args) <= set(prim.fixed)
    return probed(node, shapes) if moves else _dense(node, shapes)


def _shape_of(node: Any, shapes: list[Shape]) -> Callable[[int], Shape | None]:
    """The shapes of a node's arguments by number, as far as they are noted; else by its rules."""

    def shape(i: int) -> Shape | None:
        name = node.prim.args[i]
        known = getattr(node, f"{name}_shape", None)
        if known is not None:
            return tuple(known)
        saved = getattr(node, f"s_{name}", None)
        if saved is not None and saved.payload is not None:
            return tuple(saved.payload.shape)
        grad = applied(node, [np.zeros(shape) for shape in shapes])[i]
        return None if grad is None else np.shape(grad)

    return shape


def _dense(node: Any, shapes: Sequence[Shape | None]) -> Found:
    found: Found = []
    grads = applied(node, [None if shape is None else np.zeros(shape) for shape in shapes])
    for edge, grad in zip(node.edges, grads, strict=True):
        if edge is None or grad is None:
            found.append(None)
            continue
        shape = np.shape(grad)
        links = [None if result is None else dense(shape, result) for result in shapes]
        found.append((shape, links))
    return found


def _by_element(node: Any, shapes: list[Shape]) -> Found:
    (result,) = shapes
    noted = getattr(node, "shapes", None)
    found: Found = []
    for i, (edge, rule) in enumerate(zip(node.edges, node.prim.rules, strict=True)):
        if edge is None or rule is None or rule.call is zero:
            found.append(None)
            continue
        shape = result if noted is None else noted[i]
        found.append((shape, [broadcast(shape, result)]))
    return found


def _along_dim(node: Any, shapes: list[Shape]) -> Found:
    found: Found = []
    dims = node.p_dim if isinstance(node.p_dim, tuple) else (node.p_dim,)
    at = applied(node, [np.zeros(shape) for shape in shapes])
    for edge, grad in zip(node.edges, at, strict=True):
        if edge is None or grad is None:
            found.append(None)
            continue
        shape = np.shape(grad)
        found.append((shape, [along(shape, result, dims) for result in shapes]))
    return found


def _per_matrix(node: Any, shapes: list[Shape]) -> Found:
    """Each matrix of a batch by itself, where all arguments have the batch."""
    found = _dense(node, shapes)
    arguments = [argument[0] for argument in found if argument is not None]
    batch = max(arguments, key=len, default=())[:-2]
    several = len(batch)
    vector = getattr(node, "p_vector", False)
    for i, argument in enumerate(found):
        if argument is None:
            continue
        shape = argument[0]
        alike = len(shape) - several in ((1, 2) if vector else (2,)) and shape[:several] == batch
        if not (several and alike):
            continue
        links = [
            along(shape, result, range(several, len(shape)), like=range(several))
            if result[:several] == batch
            else dense(shape, result)
            for result in shapes
        ]
        found[i] = (shape, links)
    return found


def _normalised(node: Any, shapes: list[Shape]) -> Found:
    """Normalisation: along dimensions, with weights that broadcast."""
    (result,) = shapes
    found = _dense(node, shapes)
    name = node.prim.name
    channels = name.startswith("batch_norm")
    dims = [d for d in range(len(result)) if d != 1] if channels else node.p_dim
    for i, argument in enumerate(found):
        if argument is None:
            continue
        shape = argument[0]
        if i == 0:
            link = Link(None) if name == "batch_norm_fixed" else along(shape, result, dims)
        elif channels and shape:
            link = along(shape, result, (), like=(1,))
        else:
            link = broadcast(shape, result)
        found[i] = (shape, [link])
    return found


def _loss(node: Any, shapes: list[Shape]) -> Found:
    if node.p_reduction != "none":
        return _dense(node, shapes)
    shape = shapes[0]
    return [None if edge is None else (shape, [Link(None)]) for edge in node.edges]


def _viewed(node: Any, shapes: list[Shape]) -> Found | None:
    """What only shows elements, where all is noted: by showing their numbers."""
    prim = node.prim
    shape = getattr(node, "self_shape", None)
    if shape is None or len(shapes) != 1:
        return None
    shape, (result,) = tuple(shape), shapes
    if prim.name == "expand":
        return [(shape, [broadcast(shape, result)])]
    if "layout" in prim.params:
        return None  # of memory, which the elements' numbers do not have
    if not all(param in prim.saved for param in prim.params):
        # a reshape
        return [(shape, [Link(None)])] if math.prod(shape) == math.prod(result) else None
    params = {param: getattr(node, f"p_{param}") for param in prim.params}
    shown = np.asarray(prim.kernel(_elements(shape), **params))
    return [(shape, [moved(shown.reshape(-1))])]


@lru_cache(maxsize=16)
def _elements(shape: Shape) -> Any:
    elements = np.arange(math.prod(shape)).reshape(shape)
    elements.flags.writeable = False
    return elements


def _planes(node: Any, shapes: list[Shape]) -> Found:
    """Pooling: within each plane of each channel."""
    shape = tuple(node.self_shape)
    several = getattr(node, "p_dims", None)
    if several is None:
        several = int(next(c for c in node.prim.name if c.isdigit()))
    dims = range(len(shape) - several, len(shape))
    return [
        (shape, [along(shape, result, tuple(dims)) for result in shapes]),
        *[None] * (len(node.edges) - 1),
    ]


def _mean(node: Any, shapes: list[Shape]) -> Found:
    shape = tuple(node.self_shape)
    return [(shape, [collected(np.zeros(math.prod(shape), np.int64), 1)])]


def _as_complex(node: Any, shapes: list[Shape]) -> Found:
    """Two real numbers to each complex one."""
    (result,) = shapes
    shape = (*result, 2)
    return [(shape, [along(shape, result, (len(result),))])]


def _as_real(node: Any, shapes: list[Shape]) -> Found:
    """Two real numbers of each complex one."""
    (result,) = shapes
    shape = result[:-1]
    link = broadcast((*shape, 1), result)
    return [(shape, [link])]


def _assign(node: Any, shapes: list[Shape]) -> Found:
    """Writing over: nothing is left of what was there."""
    found = _by_element(node, shapes)
    found[0] = None
    return found


_RULES: dict[str, Callable[[Any, list[Shape]], Found]] = {
    **dict.fromkeys(_ALONG, _along_dim),
    **dict.fromkeys(_BATCHED, _per_matrix),
    **dict.fromkeys(_LOSSES, _loss),
    **dict.fromkeys(_NORMS, _normalised),
    **dict.fromkeys(_POOLS, _planes),
    **dict.fromkeys(("sum", "mean"), _mean),
    "view_as_complex": _as_complex,
    "view_as_real": _as_real,
    "assign": _assign,
    "fill_tensor": _assign,
    **WINDOWED,
}
