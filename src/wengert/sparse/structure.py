"""Layer 8 · sparse: the structure of each operation, from its node on the tape.

NOTE [structure]
A structural rule says which elements of the arguments an element of the result may depend on, for
all values that the arguments may take. Choices between values (comparisons, maxima, masks of
activations) count as if every choice were possible. Only values that are constant to the graph,
since no gradient flows into them, are taken as they are: indices, masks, and the zeros of a
constant matrix in a product. Records name their rule by `SPARSITY` where their family does not
imply it; an operation about which nothing is known is dense: everything depends on everything.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import lru_cache
from typing import Any

import numpy as np

from wengert.prims.families import zero
from wengert.sparse import products, windows
from wengert.sparse.links import Link, along, broadcast, collected, dense, moved
from wengert.sparse.probe import applied, probed
from wengert.sparse.rules import Found, Shape, rule_of, structural
from wengert.tape.views import ReplayedView

# the modules whose rules are registered on import
ENTERED = (products, windows)


def links_of(node: Any, results: Sequence[Shape | None]) -> Found:
    """Return the shape of each argument of a node, and its links from outputs of the given shapes.

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
    return rule_of(prim)(node, shapes)


@structural
def _moved(node: Any, shapes: list[Shape]) -> Found:
    """Return the links of an operation that only moves elements."""
    # values that decide where elements go must not be among the differentiable arguments
    prim = node.prim
    return (probed if set(prim.saved_args) <= set(prim.fixed) else _dense)(node, shapes)


@structural
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


@structural
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


@structural
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


@structural
def _per_matrix(node: Any, shapes: list[Shape]) -> Found:
    """Handle each matrix of a batch separately, if all arguments have the batch."""
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


@structural
def _normalised(node: Any, shapes: list[Shape]) -> Found:
    """Return the links of normalisation along dimensions, with weights that broadcast."""
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


@structural
def _loss(node: Any, shapes: list[Shape]) -> Found:
    if node.p_reduction != "none":
        return _dense(node, shapes)
    shape = shapes[0]
    return [None if edge is None else (shape, [Link(None)]) for edge in node.edges]


@structural
def _viewed(node: Any, shapes: list[Shape]) -> Found:
    return _shown(node, shapes) or _moved(node, shapes)


def _shown(node: Any, shapes: list[Shape]) -> Found | None:
    """Return the links of a fully recorded view, found by applying it to element numbers."""
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


@structural
def _planes(node: Any, shapes: list[Shape]) -> Found:
    """Return the links of pooling, which stays within each plane of each channel."""
    shape = tuple(node.self_shape)
    several = getattr(node, "p_dims", None)
    if several is None:
        several = int(next(c for c in node.prim.name if c.isdigit()))
    dims = range(len(shape) - several, len(shape))
    return [
        (shape, [along(shape, result, tuple(dims)) for result in shapes]),
        *[None] * (len(node.edges) - 1),
    ]


@structural
def _total(node: Any, shapes: list[Shape]) -> Found:
    shape = tuple(node.self_shape)
    return [(shape, [collected(np.zeros(math.prod(shape), np.int64), 1)])]


@structural
def _as_complex(node: Any, shapes: list[Shape]) -> Found:
    """Return the links of a complex view: two real numbers per complex one."""
    (result,) = shapes
    shape = (*result, 2)
    return [(shape, [along(shape, result, (len(result),))])]


@structural
def _as_real(node: Any, shapes: list[Shape]) -> Found:
    """Return the links of a real view: two real numbers of each complex one."""
    (result,) = shapes
    shape = result[:-1]
    link = broadcast((*shape, 1), result)
    return [(shape, [link])]


@structural
def _written_over(node: Any, shapes: list[Shape]) -> Found:
    """Return the links of an overwrite, which leaves nothing of the previous values."""
    found = _by_element(node, shapes)
    found[0] = None
    return found
