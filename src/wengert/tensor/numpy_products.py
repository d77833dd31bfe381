"""Layer 6 · tensor: counterparts of NumPy's products and of its mathematics along an axis.

See NOTE [counterparts].
"""

from __future__ import annotations

from typing import Any

import numpy as np

from wengert.ops import arrange, expand, join, matmul, permute, pointwise, reduce, select, shape
from wengert.tensor.numpy_common import (
    all_axes,
    as_dtype,
    common,
    counterpart,
    floating,
    late,
    normal_axis,
    tensor,
)

__all__: list[str] = []


@counterpart("matmul", "linalg.matmul")
def _matmul(x1: Any, x2: Any, /) -> Any:
    return matmul.matmul(*common(x1, x2))


@counterpart("dot")
def _dot(a: Any, b: Any, out: Any = None) -> Any:
    a, b = common(a, b)
    if not a.ndim or not b.ndim:
        return a * b
    if b.ndim <= 2:
        return matmul.matmul(a, b)
    return _tensordot(a, b, ((a.ndim - 1,), (b.ndim - 2,)))


@counterpart("vdot")
def _vdot(a: Any, b: Any, /) -> Any:
    a, b = common(a, b)
    return matmul.vdot(shape.reshape(a, (-1,)), shape.reshape(b, (-1,)))


@counterpart("vecdot", "linalg.vecdot")
def _vecdot(x1: Any, x2: Any, /, *, axis: int = -1) -> Any:
    x1, x2 = common(x1, x2)
    return reduce.sum(pointwise.conj(x1) * x2, axis)


@counterpart("matvec")
def _matvec(x1: Any, x2: Any, /) -> Any:
    x1, x2 = common(x1, x2)
    return shape.squeeze(matmul.matmul(x1, shape.unsqueeze(x2, -1)), -1)


@counterpart("vecmat")
def _vecmat(x1: Any, x2: Any, /) -> Any:
    x1, x2 = common(x1, x2)
    return shape.squeeze(matmul.matmul(shape.unsqueeze(pointwise.conj(x1), -2), x2), -2)


@counterpart("inner")
def _inner(a: Any, b: Any, /) -> Any:
    a, b = common(a, b)
    if not a.ndim or not b.ndim:
        return a * b
    return _tensordot(a, b, ((a.ndim - 1,), (b.ndim - 1,)))


@counterpart("outer", "linalg.outer")
def _outer(a: Any, b: Any, out: Any = None) -> Any:
    a, b = common(a, b)
    return shape.reshape(a, (-1, 1)) * shape.reshape(b, (1, -1))


@counterpart("tensordot", "linalg.tensordot")
def _tensordot(a: Any, b: Any, /, axes: Any = 2) -> Any:
    a, b = common(a, b)
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
    return shape.reshape(matmul.matmul(left, right), sizes)


@counterpart("kron")
def _kron(a: Any, b: Any) -> Any:
    a, b = common(a, b)
    ndim = max(a.ndim, b.ndim)
    sizes = [(1,) * (ndim - v.ndim) + tuple(v.shape) for v in (a, b)]
    left = shape.reshape(a, tuple(m for n in sizes[0] for m in (n, 1)))
    right = shape.reshape(b, tuple(m for n in sizes[1] for m in (1, n)))
    return shape.reshape(left * right, tuple(m * n for m, n in zip(*sizes, strict=True)))


@counterpart("einsum")
def _einsum(*operands: Any, out: Any = None, optimize: Any = False, **given: Any) -> Any:
    subscripts, *arrays = operands
    if not isinstance(subscripts, str):
        raise NotImplementedError(
            "numpy.einsum of tensors takes its subscripts as text: einsum('ij,jk->ik', a, b)"
        )
    return late("einsum")(subscripts, *common(*arrays))


@counterpart("cross", "linalg.cross")
def _cross(
    a: Any,
    b: Any,
    /,
    axisa: int = -1,
    axisb: int = -1,
    axisc: int = -1,
    axis: int | None = None,
) -> Any:
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
def _convolve(a: Any, v: Any, mode: str = "full") -> Any:
    a, v = common(a, v)
    if len(v) > len(a):
        a, v = v, a
    return _slid(a, arrange.flip(v, (0,)), mode)


@counterpart("correlate")
def _correlate(a: Any, v: Any, mode: str = "valid") -> Any:
    a, v = common(a, v)
    v = pointwise.conj(v)
    if len(v) <= len(a):
        return _slid(a, v, mode)
    return arrange.flip(_slid(v, a, mode), (0,))


def _slid(a: Any, v: Any, mode: str) -> Any:
    """The products of `v` with each window of `a`, which is at least as long."""
    n, m = len(a), len(v)
    if not m:
        raise ValueError("v cannot be empty")
    before = {"full": m - 1, "same": m // 2, "valid": 0}.get(mode)
    if before is None:
        raise ValueError(f"mode must be one of 'valid', 'same', or 'full', not {mode!r}")
    count = {"full": n + m - 1, "same": n, "valid": n - m + 1}[mode]
    if mode == "same":
        before = (m - 1) - (m - 1) // 2
    zeros = tensor(np.zeros(m, a.payload.dtype))
    wide = join.cat([zeros[:before], a, zeros], 0)
    windows = np.arange(count)[:, None] + np.arange(m)[None, :]
    return matmul.matmul(wide[windows], v)


# -- along an axis ---------------------------------------------------------------------------------


@counterpart("diff")
def _diff(
    a: Any, n: int = 1, axis: int = -1, prepend: Any = np._NoValue, append: Any = np._NoValue
) -> Any:
    a = tensor(a)
    dim = normal_axis(axis, a.ndim)
    ends = []
    for end in (prepend, append):
        if end is not np._NoValue:
            end = tensor(end)
            if not end.ndim:
                end = expand.broadcast_to(
                    end, tuple(1 if i == dim else s for i, s in enumerate(a.shape))
                )
        ends.append(end)
    parts = [part for part in (ends[0], a, ends[1]) if part is not np._NoValue]
    a = join.cat(common(*parts), dim) if len(parts) > 1 else a
    for _ in range(n):
        count = a.shape[dim]
        lead = (slice(None),) * dim
        later, earlier = a[(*lead, slice(1, None))], a[(*lead, slice(0, max(count - 1, 0)))]
        a = pointwise.ne(later, earlier) if a.payload.dtype.kind == "b" else later - earlier
    return a


@counterpart("ediff1d")
def _ediff1d(ary: Any, to_end: Any = None, to_begin: Any = None) -> Any:
    flat = shape.reshape(tensor(ary), (-1,))
    parts = [flat[1:] - flat[:-1]]
    if to_begin is not None:
        parts.insert(0, shape.reshape(tensor(to_begin), (-1,)))
    if to_end is not None:
        parts.append(shape.reshape(tensor(to_end), (-1,)))
    return join.cat(common(*parts), 0)


@counterpart("gradient")
def _gradient(f: Any, *varargs: Any, axis: Any = None, edge_order: int = 1) -> Any:
    (f,) = floating(f)
    dims = all_axes(axis, f.ndim)
    if any(np.ndim(v.payload if hasattr(v, "payload") else v) for v in varargs):
        spacing: Any = [as_dtype(v, f.payload.dtype) for v in varargs]
        if len(spacing) != len(dims):
            raise TypeError("invalid number of arguments")
    else:
        spacing = [float(v) for v in varargs] or [1.0]
        if len(spacing) not in (1, len(dims)):
            raise TypeError("invalid number of arguments")
        spacing = spacing * len(dims) if len(spacing) == 1 else spacing
    made = late("gradient")(f, spacing=spacing, dim=dims, edge_order=edge_order)
    return made[0] if len(dims) == 1 else tuple(made)


@counterpart("trapezoid")
def _trapezoid(y: Any, x: Any = None, dx: Any = 1.0, axis: int = -1) -> Any:
    (y,) = floating(y)
    dim = normal_axis(axis, y.ndim)
    lead = (slice(None),) * dim
    if x is None:
        steps = dx
    else:
        (x,) = floating(x)
        steps = x[1:] - x[:-1] if x.ndim == 1 else _diff(x, axis=axis)
        if x.ndim == 1:
            steps = shape.reshape(steps, (-1, *[1] * (y.ndim - dim - 1)))
    halves = (y[(*lead, slice(1, None))] + y[(*lead, slice(0, -1))]) / 2.0
    return reduce.sum(halves * steps, dim)


@counterpart("interp")
def _interp(
    x: Any, xp: Any, fp: Any, left: Any = None, right: Any = None, period: Any = None
) -> Any:
    x, xp, fp = floating(x, xp, fp)
    if period is not None:
        period = abs(period)
        x, xp = x % period, xp % period
        order = np.argsort(xp.payload)
        xp, fp = xp[order], fp[order]
        xp = join.cat([xp[-1:] - period, xp, xp[:1] + period], 0)
        fp = join.cat([fp[-1:], fp, fp[:1]], 0)
    n = xp.shape[0]
    if n == 1:
        made = fp[0] + 0 * x
    else:
        at = np.clip(np.searchsorted(xp.payload, x.payload, side="right") - 1, 0, n - 2)
        x0, x1, f0, f1 = xp[at], xp[at + 1], fp[at], fp[at + 1]
        made = f0 + (f1 - f0) / (x1 - x0) * (x - x0)
    low, high = fp[0] if left is None else left, fp[-1] if right is None else right
    made = select.where(pointwise.lt(x, xp[0]), low, made)
    return select.where(pointwise.gt(x, xp[-1]), high, made)


@counterpart("unwrap")
def _unwrap(p: Any, discont: Any = None, axis: int = -1, *, period: float = 2 * np.pi) -> Any:
    (p,) = floating(p)
    turned = np.unwrap(p.payload, discont, axis, period=period)
    # whole turns are added, which depend on nothing
    return p + tensor(turned - p.payload)


@counterpart("apply_along_axis")
def _apply_along_axis(func1d: Any, axis: int, arr: Any, *args: Any, **kwargs: Any) -> Any:
    arr = tensor(arr)
    dim = normal_axis(axis, arr.ndim)
    front = permute.movedim(arr, dim, -1)
    rows = shape.reshape(front, (-1, front.shape[-1]))
    made = [tensor(func1d(row, *args, **kwargs)) for row in rows]
    result = join.stack(common(*made), 0)
    sizes = (*front.shape[:-1], *result.shape[1:])
    result = shape.reshape(result, sizes)
    extra = len(result.shape) - (arr.ndim - 1)
    ends = tuple(range(arr.ndim - 1, arr.ndim - 1 + extra))
    return permute.movedim(result, ends, tuple(range(dim, dim + extra))) if extra else result


@counterpart("apply_over_axes")
def _apply_over_axes(func: Any, a: Any, axes: Any) -> Any:
    a = tensor(a)
    for axis in all_axes(axes, a.ndim):
        made = func(a, axis)
        a = made if made.ndim == a.ndim else shape.unsqueeze(made, axis)
    return a


@counterpart("cov")
def _cov(
    m: Any,
    y: Any = None,
    rowvar: bool = True,
    bias: bool = False,
    ddof: Any = None,
    fweights: Any = None,
    aweights: Any = None,
    *,
    dtype: Any = None,
) -> Any:
    (m,) = floating(m)
    if m.ndim > 2:
        raise ValueError("m has more than 2 dimensions")
    m = shape.reshape(m, (1, -1)) if m.ndim < 2 else m
    if not rowvar and m.shape[0] != 1:
        m = permute.transpose(m, 0, 1)
    if y is not None:
        (y,) = floating(y)
        y = shape.reshape(y, (1, -1)) if y.ndim < 2 else y
        if not rowvar and y.shape[0] != 1:
            y = permute.transpose(y, 0, 1)
        m = join.cat(common(m, y), 0)
    correction = (0 if bias else 1) if ddof is None else ddof
    weights = [None if w is None else tensor(w) for w in (fweights, aweights)]
    return late("cov")(m, correction=correction, fweights=weights[0], aweights=weights[1])


@counterpart("corrcoef")
def _corrcoef(x: Any, y: Any = None, rowvar: bool = True, *, dtype: Any = None) -> Any:
    c = _cov(x, y, rowvar)
    if not c.ndim:
        return c / c
    deviation = pointwise.sqrt(pointwise.real(arrange.diag(c)))
    return c / deviation[:, None] / deviation[None, :]


@counterpart("vander")
def _vander(x: Any, N: int | None = None, increasing: bool = False) -> Any:
    x = tensor(x)
    count = len(x) if N is None else N
    powers = [x**n for n in range(count)]
    made = join.stack(powers if increasing else powers[::-1], 1) if powers else x[:, None][:, :0]
    return made


@counterpart("polyval")
def _polyval(p: Any, x: Any) -> Any:
    p, x = common(p, x)
    made = x * 0
    for coefficient in p:
        made = made * x + coefficient
    return made


@counterpart("polyadd")
def _polyadd(a1: Any, a2: Any) -> Any:
    return _polysum(a1, a2, 1)


@counterpart("polysub")
def _polysub(a1: Any, a2: Any) -> Any:
    return _polysum(a1, a2, -1)


def _polysum(a1: Any, a2: Any, sign: int) -> Any:
    parts = [shape.reshape(a, (-1,)) for a in common(a1, a2)]
    count = max(len(part) for part in parts)
    wide = [
        join.cat([tensor(np.zeros(count - len(part), part.payload.dtype)), part], 0)
        for part in parts
    ]
    return wide[0] + sign * wide[1]


@counterpart("polymul")
def _polymul(a1: Any, a2: Any) -> Any:
    return _convolve(*[shape.reshape(a, (-1,)) for a in common(a1, a2)])


@counterpart("polyder")
def _polyder(p: Any, m: int = 1) -> Any:
    p = tensor(p)
    for _ in range(m):
        p = p[:-1] * tensor(np.arange(len(p) - 1, 0, -1))
    return p


@counterpart("polyint")
def _polyint(p: Any, m: int = 1, k: Any = None) -> Any:
    (p,) = floating(p)
    constants = np.broadcast_to(np.atleast_1d(0.0 if k is None else k), (m,))
    for i in range(m):
        p = join.cat([p / tensor(np.arange(len(p), 0, -1)), tensor(constants[i : i + 1])], 0)
    return p
