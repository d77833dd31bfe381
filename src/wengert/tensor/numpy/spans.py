"""Layer 6 · tensor: counterparts of NumPy's functions along an axis: differences, spans, samples.

See NOTE [counterparts].
"""

from __future__ import annotations

from typing import Any

import numpy as np

from wengert.base.device import check_device
from wengert.ops import arrange, expand, join, permute, pointwise, reduce, select, shape, strided
from wengert.tape.base import TensorBase
from wengert.tensor.numpy.counterparts import (
    all_axes,
    as_dtype,
    common,
    counterpart,
    floating,
    is_weak,
    late,
    normal_axis,
    tensor,
    values,
)


@counterpart("lib.stride_tricks.sliding_window_view")
def _sliding_window_view(
    x: Any, window_shape: Any, axis: Any = None, *, subok: bool = False, writeable: bool = False
) -> Any:
    x = tensor(x)
    sizes = (window_shape,) if isinstance(window_shape, int) else tuple(window_shape)
    dims = all_axes(axis, x.ndim)
    if len(dims) != len(sizes):
        raise ValueError(
            f"Must provide a window size for each axis, but there are {len(sizes)} for {len(dims)}"
        )
    for dim, size in zip(dims, sizes, strict=True):
        if not 0 <= size <= x.shape[dim]:
            raise ValueError("window shape cannot be larger than input array shape, nor negative")
        x = strided.unfold(x, dim, size, 1)
    return x


@counterpart("diff")
def _diff(
    a: Any, n: int = 1, axis: int = -1, prepend: Any = np._NoValue, append: Any = np._NoValue
) -> Any:
    a = tensor(a)
    if n == 0:
        return a
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
        a = pointwise.ne(later, earlier) if a._payload.dtype.kind == "b" else later - earlier
    return a


@counterpart("ediff1d")
def _ediff1d(ary: Any, to_end: Any = None, to_begin: Any = None) -> Any:
    flat = shape.reshape(tensor(ary), (-1,))
    kind = flat._payload.dtype
    parts = []
    for name, part in (("begin", to_begin), (None, flat[1:] - flat[:-1]), ("end", to_end)):
        if part is None:
            continue
        if name and not is_weak(part) and not np.can_cast(tensor(part)._payload, kind, "same_kind"):
            raise TypeError(
                f"dtype of `to_{name}` must be compatible with input `ary` under the `same_kind` "
                f"rule, got {tensor(part).dtype} for {flat.dtype}; convert it with .to(dtype)"
            )
        parts.append(shape.reshape(as_dtype(part, kind), (-1,)))
    return join.cat(parts, 0)


@counterpart("gradient")
def _gradient(f: Any, *varargs: Any, axis: Any = None, edge_order: int = 1) -> Any:
    (f,) = floating(f)
    dims = all_axes(axis, f.ndim)
    steps = list(varargs) or [1.0]
    steps = steps * len(dims) if len(steps) == 1 else steps
    if len(steps) != len(dims):
        raise TypeError("invalid number of arguments")
    kind = f._payload.dtype
    made = []
    for dim, step in zip(dims, steps, strict=True):
        step = step if is_weak(step) else as_dtype(step, kind)
        if isinstance(step, TensorBase) and not step._payload.ndim:
            # the step may have a gradient
            part = late("gradient")(f, spacing=1.0, dim=dim, edge_order=edge_order)[0] / step
        else:
            spacing = [step] if isinstance(step, TensorBase) else float(step)
            part = late("gradient")(f, spacing=spacing, dim=dim, edge_order=edge_order)[0]
        made.append(part)
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
    return reduce.sum(halves * steps, axis)


@counterpart("interp")
def _interp(
    x: Any, xp: Any, fp: Any, left: Any = None, right: Any = None, period: Any = None
) -> Any:
    x, xp, fp = floating(x, xp, fp)
    if period is not None:
        period = abs(period)
        x, xp = x % period, xp % period
        order = late("argsort")(xp)
        xp, fp = xp[order], fp[order]
        xp = join.cat([xp[-1:] - period, xp, xp[:1] + period], 0)
        fp = join.cat([fp[-1:], fp, fp[:1]], 0)
    n = xp.shape[0]
    if n == 1:
        made = fp[0] + 0 * x
    else:
        at = select.clamp(late("searchsorted")(xp, x, right=True) - 1, 0, n - 2)
        step = xp[at + 1] - xp[at]
        flat = pointwise.abs(step) <= np.spacing(np.finfo(x._payload.dtype).eps)
        slope = (fp[at + 1] - fp[at]) / select.where(flat, 1, step)
        made = fp[at] + select.where(flat, 0, slope * (x - xp[at]))
    for side, end, beyond in ((left, 0, pointwise.lt), (right, -1, pointwise.gt)):
        if not (isinstance(side, str) and side == "extrapolate"):  # an option of JAX
            made = select.where(beyond(x, xp[end]), fp[end] if side is None else side, made)
    return made


@counterpart("unwrap")
def _unwrap(p: Any, discont: Any = None, axis: int = -1, *, period: float = 2 * np.pi) -> Any:
    p = tensor(p)
    p = as_dtype(p, np.result_type(p._payload.dtype, values(period)))
    dim = normal_axis(axis, p.ndim)
    half, odd = divmod(period, 2) if p._payload.dtype.kind in "iu" else (period / 2, 0)
    steps = _steps(p.detach(), dim)
    turned = pointwise.remainder(steps + half, period) - half
    if not odd:
        turned = select.where(pointwise.eq(turned, -half) & pointwise.gt(steps, 0), half, turned)
    small = pointwise.lt(pointwise.abs(steps), period / 2 if discont is None else discont)
    turns = reduce.cumsum(select.where(small, 0, turned - steps), dim)
    # the added multiples of the period are constant
    none = pointwise.mul(p.detach()[(*(slice(None),) * dim, slice(0, 1))], 0)
    return p + as_dtype(join.cat([none, turns], dim), p._payload.dtype)


def _steps(x: Any, dim: int) -> Any:
    every = (slice(None),) * dim
    return x[(*every, slice(1, None))] - x[(*every, slice(0, -1))]


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
    m, *others = common(*([m] if y is None else [m, y]))
    kind = np.result_type(m._payload.dtype, np.float64) if dtype is None else dtype
    m, *others = [as_dtype(value, kind) for value in (m, *others)]
    if m.ndim > 2:
        raise ValueError("m has more than 2 dimensions")
    m = shape.reshape(m, (1, -1)) if m.ndim < 2 else m
    if not rowvar and m.shape[0] != 1:
        m = permute.transpose(m, 0, 1)
    for y in others:
        y = shape.reshape(y, (1, -1)) if y.ndim < 2 else y
        if not rowvar and y.shape[0] != 1:
            y = permute.transpose(y, 0, 1)
        m = join.cat([m, y], 0)
    correction = (0 if bias else 1) if ddof is None else ddof
    weights = [None if w is None else tensor(w) for w in (fweights, aweights)]
    return late("cov")(m, correction=correction, fweights=weights[0], aweights=weights[1])


@counterpart("corrcoef")
def _corrcoef(x: Any, y: Any = None, rowvar: bool = True, *, dtype: Any = None) -> Any:
    c = _cov(x, y, rowvar, dtype=dtype)
    if not c.ndim:
        return c / c
    deviation = pointwise.sqrt(pointwise.real(arrange.diag(c)))
    return c / deviation[:, None] / deviation[None, :]


@counterpart("linspace")
def _linspace(
    start: Any,
    stop: Any,
    num: int = 50,
    endpoint: bool = True,
    retstep: bool = False,
    dtype: Any = None,
    axis: int = 0,
    *,
    device: Any = None,
) -> Any:
    check_device(device)
    start, stop = expand.broadcast_tensors(*floating(start, stop))
    parts = num - 1 if endpoint else num
    step = (stop - start) / parts if parts > 0 else (stop - start) * float("nan")
    at = tensor(np.arange(num, dtype=start._payload.dtype))
    at = shape.reshape(at, (-1, *[1] * start.ndim))
    made = start + at * step if parts > 0 else start + at * 0
    if endpoint and num > 1:
        made = join.cat([made[:-1], shape.unsqueeze(stop, 0)], 0)
    made = as_dtype(permute.movedim(made, 0, axis), dtype)
    return (made, step) if retstep else made


@counterpart("logspace")
def _logspace(
    start: Any,
    stop: Any,
    num: int = 50,
    endpoint: bool = True,
    base: Any = 10.0,
    dtype: Any = None,
    axis: int = 0,
) -> Any:
    return as_dtype(pointwise.pow(base, _linspace(start, stop, num, endpoint, axis=axis)), dtype)


@counterpart("geomspace")
def _geomspace(
    start: Any, stop: Any, num: int = 50, endpoint: bool = True, dtype: Any = None, axis: int = 0
) -> Any:
    # NumPy computes in double precision at least
    start, stop, _ = expand.broadcast_tensors(*floating(start, stop, np.zeros(())))
    # a quotient has a logarithm for negative ends too, and turns complex ones the short way
    made = start * pointwise.exp(_linspace(0.0, pointwise.log(stop / start), num, endpoint))
    last = num - 1 if endpoint and num > 1 else num
    ends = [shape.unsqueeze(end, 0) for end in (start, stop)]
    made = join.cat([ends[0][:num], made[1:last], ends[1][: num - last]], 0)
    return as_dtype(permute.movedim(made, 0, axis), dtype)
