"""Layer 6 · tensor: counterparts of NumPy's products of vectors, matrices and sequences.

See NOTE [counterparts].
"""

from __future__ import annotations

from typing import Any

import numpy as np

from wengert.ops import arrange, cast, join, matmul, permute, pointwise, reduce, shape
from wengert.tensor.numpy.counterparts import (
    all_axes,
    common,
    counterpart,
    late,
    normal_axis,
    tensor,
)


def _matmul(a: Any, b: Any) -> Any:
    """Return a product of matrices; of truth values it says whether any pair is true."""
    if a._payload.dtype.kind != "b":
        return matmul.matmul(a, b)
    return pointwise.ne(matmul.matmul(cast.to(a, np.int64), cast.to(b, np.int64)), 0)


@counterpart("matmul", "linalg.matmul")
def matmul_of(x1: Any, x2: Any, /, *, axes: Any = None) -> Any:
    """Compute ``numpy.matmul``."""
    x1, x2 = common(x1, x2)
    if axes is None:
        return _matmul(x1, x2)
    places = [(at,) if isinstance(at, int) else tuple(at) for at in axes]
    last = [tuple(range(-len(at), 0)) for at in places]
    x1, x2 = (permute.movedim(v, at, to) for v, at, to in zip((x1, x2), places, last, strict=False))
    result = _matmul(x1, x2)
    return permute.movedim(result, last[2], places[2]) if len(places) > 2 else result


@counterpart("dot")
def _dot(a: Any, b: Any, out: Any = None) -> Any:
    a, b = common(a, b)
    if not a.ndim or not b.ndim:
        return a * b
    if b.ndim <= 2:
        return _matmul(a, b)
    return _tensordot(a, b, ((a.ndim - 1,), (b.ndim - 2,)))


@counterpart("vdot")
def _vdot(a: Any, b: Any, /) -> Any:
    a, b = common(a, b)
    a, b = shape.reshape(a, (-1,)), shape.reshape(b, (-1,))
    return _matmul(a, b) if a._payload.dtype.kind == "b" else matmul.vdot(a, b)


@counterpart("vecdot", "linalg.vecdot")
def vecdot(x1: Any, x2: Any, /, *, axis: int = -1) -> Any:
    """Compute ``numpy.vecdot``: the sum of ``conj(x1) * x2`` along an axis."""
    pair = common(x1, x2)
    for i, x in enumerate(pair):
        if not x._payload.ndim:
            raise ValueError(
                f"vecdot: Input operand {i} does not have enough dimensions (has 0, gufunc core "
                "with signature (n),(n)->() requires 1)"
            )
    x1, x2 = pair if axis == -1 else (permute.movedim(x, axis, -1) for x in pair)
    kind, n, m = x1._payload.dtype, x1._payload.shape[-1], x2._payload.shape[-1]
    if n != m:
        raise ValueError(
            "vecdot: Input operand 1 has a mismatch in its core dimension 0, with gufunc signature "
            f"(n),(n)->() (size {m} is different from {n})"
        )
    return reduce.sum(pointwise.conj(x1) * x2, -1, dtype=None if kind.kind in "fc" else kind)


@counterpart("matvec")
def matvec(x1: Any, x2: Any, /) -> Any:
    """Compute ``numpy.matvec``."""
    x1, x2 = common(x1, x2)
    return shape.squeeze(_matmul(x1, shape.unsqueeze(x2, -1)), -1)


@counterpart("vecmat")
def vecmat(x1: Any, x2: Any, /) -> Any:
    """Compute ``numpy.vecmat``."""
    x1, x2 = common(x1, x2)
    return shape.squeeze(_matmul(shape.unsqueeze(pointwise.conj(x1), -2), x2), -2)


@counterpart("inner")
def _inner(a: Any, b: Any, /) -> Any:
    a, b = common(a, b)
    if not a.ndim or not b.ndim:
        return a * b
    return _tensordot(a, b, ((a.ndim - 1,), (b.ndim - 1,)))


@counterpart("outer")
def outer(a: Any, b: Any, out: Any = None) -> Any:
    """Compute ``numpy.outer``."""
    a, b = common(a, b)
    return shape.reshape(a, (-1, 1)) * shape.reshape(b, (1, -1))


@counterpart("tensordot", "linalg.tensordot")
def _tensordot(a: Any, b: Any, /, axes: Any = 2) -> Any:
    a, b = common(a, b)
    first: Any
    second: Any
    if isinstance(axes, int):
        first, second = range(a.ndim - axes, a.ndim), range(axes)
    else:
        first, second = ([n] if isinstance(n, int) else n for n in axes)
    of_a, of_b = all_axes(tuple(first), a.ndim), all_axes(tuple(second), b.ndim)
    if [a.shape[n] for n in of_a] != [b.shape[n] for n in of_b]:
        raise ValueError("shape-mismatch for sum")
    free_a = [n for n in range(a.ndim) if n not in of_a]
    free_b = [n for n in range(b.ndim) if n not in of_b]
    rows = int(np.prod([a.shape[n] for n in free_a], dtype=int))
    columns = int(np.prod([b.shape[n] for n in free_b], dtype=int))
    inside = int(np.prod([a.shape[n] for n in of_a], dtype=int))
    left = shape.reshape(permute.permute(a, (*free_a, *of_a)), (rows, inside))
    right = shape.reshape(permute.permute(b, (*of_b, *free_b)), (inside, columns))
    sizes = (*[a.shape[n] for n in free_a], *[b.shape[n] for n in free_b])
    return shape.reshape(_matmul(left, right), sizes)


@counterpart("kron")
def _kron(a: Any, b: Any) -> Any:
    a, b = common(a, b)
    ndim = max(a.ndim, b.ndim)
    sizes = [(1,) * (ndim - v.ndim) + tuple(v.shape) for v in (a, b)]
    left = shape.reshape(a, tuple(m for n in sizes[0] for m in (n, 1)))
    right = shape.reshape(b, tuple(m for n in sizes[1] for m in (1, n)))
    return shape.reshape(left * right, tuple(m * n for m, n in zip(*sizes, strict=True)))


@counterpart("einsum")
def _einsum(*operands: Any, out: Any = None, optimize: Any = False, **kwargs: Any) -> Any:
    if isinstance(operands[0], str):
        return late("einsum")(operands[0], *common(*operands[1:]))
    # arrays alternate with their lists of subscripts; the result's list comes last
    count = len(operands) // 2
    mixed = [v for pair in zip(common(*operands[: 2 * count : 2]), operands[1::2]) for v in pair]  # noqa: B905
    return late("einsum")(*mixed, *operands[2 * count :])


@counterpart("cross")
def cross(
    a: Any,
    b: Any,
    /,
    axisa: int = -1,
    axisb: int = -1,
    axisc: int = -1,
    axis: int | None = None,
) -> Any:
    """Compute ``numpy.cross``."""
    a, b = common(a, b)
    if axis is not None:
        axisa = axisb = axisc = axis
    a, b = permute.movedim(a, axisa, 0), permute.movedim(b, axisb, 0)
    if {a.shape[0], b.shape[0]} != {3}:
        raise ValueError(
            "incompatible dimensions for cross product\n(dimension must be 3 for tensors)"
        )
    parts = [a[(i + 1) % 3] * b[(i + 2) % 3] - a[(i + 2) % 3] * b[(i + 1) % 3] for i in range(3)]
    return join.stack(parts, normal_axis(axisc, parts[0].ndim + 1))


@counterpart("convolve")
def convolve(a: Any, v: Any, mode: str = "full") -> Any:
    """Compute ``numpy.convolve``."""
    a, v = _lines(*[x if np.ndim(x) else tensor(x)[None] for x in (a, v)])
    if len(v) > len(a):
        a, v = v, a
    return _slid(a, arrange.flip(v, (0,)), mode)


@counterpart("correlate")
def _correlate(a: Any, v: Any, mode: str = "valid") -> Any:
    a, v = _lines(a, v)
    v = pointwise.conj(v)
    if len(v) <= len(a):
        return _slid(a, v, mode)
    return arrange.flip(_slid(v, a, mode), (0,))


def _lines(a: Any, v: Any) -> Any:
    """Return both operands in one dtype; refuse other shapes than lines, in NumPy's words."""
    a, v = common(a, v)
    for x in (a, v):
        if x.ndim != 1:
            how = "too deep" if x.ndim else "of too small depth"
            raise ValueError(f"object {how} for desired array: its shape is {tuple(x.shape)}")
    return a, v


def _slid(a: Any, v: Any, mode: str) -> Any:
    """Return the products of `v` with each window of `a`, which is at least as long."""
    n, m = len(a), len(v)
    if not m:
        raise ValueError("v cannot be empty")
    before = {"full": m - 1, "same": m // 2, "valid": 0}.get(mode)
    if before is None:
        raise ValueError(f"mode must be one of 'valid', 'same', or 'full', not {mode!r}")
    count = {"full": n + m - 1, "same": n, "valid": n - m + 1}[mode]
    if mode == "same":
        before = (m - 1) - (m - 1) // 2
    zeros = tensor(np.zeros(m, a._payload.dtype))
    wide = join.cat([zeros[:before], a, zeros], 0)
    windows = np.arange(count)[:, None] + np.arange(m)[None, :]
    return _matmul(wide[windows], v)
