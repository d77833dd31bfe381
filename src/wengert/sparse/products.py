"""Layer 8 · sparse: the structure of matrix products.

An element of a product depends on a row of one factor and a column of the other. Where a factor
is constant, its zeros are structure: a banded matrix times a vector has a banded Jacobian.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from wengert.sparse.links import Link, along, broadcast, dense
from wengert.sparse.probe import shape_of
from wengert.sparse.rules import Found, Shape, structural

_SMALL = 4096


def _constant(node: Any, i: int) -> Any:
    """Return the payload of a factor that is constant and has many zeros, else None."""
    saved = getattr(node, f"s_{node.prim.args[i]}", None)
    if node.edges[i] is not None or saved is None or saved._payload is None:
        return None
    value = np.asarray(saved._payload)
    count = np.count_nonzero(value)
    # lists of nonzeros take more memory than rows and columns do
    worth = count < value.size and (value.size <= _SMALL or 4 * count <= value.size)
    return value if worth else None


def rows_times(row: Any, column: Any, shape: Shape, columns: int) -> Link | None:
    """Link ``matrix @ x`` to ``x``, which has a number of columns, by the matrix's entries."""
    # result (i, j) <- x (k, j) where matrix (i, k) is not zero
    order = np.argsort(row, kind="stable")
    start = np.concatenate([[0], np.cumsum(np.bincount(row, minlength=shape[0]))])
    return _interleaved(start, np.asarray(column, np.int64)[order], columns)


def _times_columns(matrix: Any, rows: int) -> Link | None:
    """Link ``x @ matrix`` to ``x``, which has a number of rows."""
    # result (i, j) <- x (i, k) where matrix (k, j) is not zero
    column, inner = np.nonzero(matrix.T)
    start = np.concatenate([[0], np.cumsum(np.bincount(column, minlength=matrix.shape[1]))])
    height = matrix.shape[0]
    lists = [inner + row * height for row in range(rows)]
    if not rows or not inner.size:
        return None
    first = np.arange(rows * matrix.shape[1])
    begins = [start[:-1] + row * inner.size for row in range(rows)]
    ends = np.concatenate([*begins, [rows * inner.size]])
    return Link(first, ends, np.concatenate(lists))


def _interleaved(start: Any, inner: Any, columns: int) -> Link | None:
    if not columns or not inner.size:
        return None
    counts = np.diff(start)
    # the lists of each row, once for each column
    begins = np.repeat(start[:-1], columns)
    sizes = np.repeat(counts, columns)
    ends = np.concatenate([[0], np.cumsum(sizes)])
    places = np.arange(ends[-1]) + np.repeat(begins - ends[:-1], sizes)
    offsets = np.repeat(np.tile(np.arange(columns), counts.size), sizes)
    return Link(None, ends, inner[places] * columns + offsets)


def _left(shape: Shape, result: Shape, other: Any) -> Link | None:
    """Link ``(..., n, k) @ (..., k, m)`` to its first factor: by rows."""
    if other is not None and len(shape) == 2 and other.ndim == 2:
        return _times_columns(other, shape[0])
    return along(shape, result, (len(shape) - 1,), like=tuple(range(len(shape) - 1)))


def _right(shape: Shape, result: Shape, other: Any) -> Link | None:
    """Link the product to its second factor: by columns."""
    if other is not None and len(shape) == 2 and other.ndim == 2:
        row, column = np.nonzero(other)
        return rows_times(row, column, other.shape, shape[1])
    batch = tuple(range(len(shape) - 2))
    return along(shape, result, (len(shape) - 2,), like=(*batch, len(result) - 1))


@structural
def _matrix_product(node: Any, shapes: list[Shape]) -> Found:
    """Return the links of a matrix product, from the last two arguments."""
    first = len(node.prim.args) - 2
    (result,) = shapes
    found = _added(node, result, first)
    inner = _inner(node, first)
    if node.edges[first] is not None:
        shape = (*result[:-1], inner)
        link = _left(shape, result, _constant(node, first + 1))
        found.append((shape, [link]))
    else:
        found.append(None)
    if node.edges[first + 1] is not None:
        shape = (*result[:-2], inner, result[-1])
        link = _right(shape, result, _constant(node, first))
        found.append((shape, [link]))
    else:
        found.append(None)
    return found


def _inner(node: Any, first: int) -> int:
    """Return the size of the dimension that is summed over."""
    names = node.prim.args
    left = getattr(node, f"s_{names[first]}")
    if left is not None:
        return int(left._payload.shape[-1])
    right = getattr(node, f"s_{names[first + 1]}")._payload
    return int(right.shape[-2] if right.ndim > 1 else right.shape[0])


def _added(node: Any, result: Shape, first: int) -> Found:
    """Return the links of the summand of addmm and its like."""
    if not first:
        return []
    if node.edges[0] is None:
        return [None]
    shape = result if node.shapes is None else node.shapes[0]
    return [(shape, [broadcast(shape, result)])]


@structural
def _matrix_vector(node: Any, shapes: list[Shape]) -> Found:
    first = len(node.prim.args) - 2
    (result,) = shapes
    inner = _inner(node, first)
    found = _added(node, result, first)
    matrix = (result[0], inner)
    left = None if node.edges[first] is None else (matrix, [along(matrix, result, (1,))])
    right: Any = None
    if node.edges[first + 1] is not None:
        constant = _constant(node, first)
        link = dense((inner,), result)
        if constant is not None:
            row, column = np.nonzero(constant)
            link = rows_times(row, column, constant.shape, 1)
        right = ((inner,), [link])
    return [*found, left, right]


@structural
def _contraction(node: Any, shapes: list[Shape]) -> Found:
    (result,) = shapes
    out = node.p_out
    found: Found = []
    for i, labels in enumerate((node.p_a, node.p_b)):
        shape = shape_of(node, i, shapes)
        if node.edges[i] is None or shape is None:
            found.append(None)
            continue
        summed = tuple(d for d, label in enumerate(labels) if label not in out)
        places = tuple(out.index(label) for label in labels if label in out)
        link = along(shape, result, summed, places) if places else dense(shape, result)
        found.append((shape, [link]))
    return found


@structural
def _outer(node: Any, shapes: list[Shape]) -> Found:
    (result,) = shapes
    shape = tuple(node.self_shape)
    found: Found = [None if node.edges[0] is None else (shape, [broadcast(shape, result)])]
    for i, (edge, size) in enumerate(zip(node.edges[1:], result, strict=True)):
        link = None if edge is None else along((size,), result, (), like=(i,))
        found.append(None if edge is None else ((size,), [link]))
    return found


@structural
def _distances(node: Any, shapes: list[Shape]) -> Found:
    """Return the links of distances between the rows of two matrices."""
    (result,) = shapes
    last = len(result) - 1
    found: Found = []
    for i, (edge, place) in enumerate(zip(node.edges, (last - 1, last), strict=True)):
        shape = shape_of(node, i, shapes)
        if edge is None or shape is None:
            found.append(None)
            continue
        like = (*range(last - 1), place)
        found.append((shape, [along(shape, result, (last,), like=like)]))
    return found
