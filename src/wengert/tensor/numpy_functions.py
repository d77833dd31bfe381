"""Layer 6 · tensor: NumPy's functions on tensors: what stands for each, with NumPy's arguments.

A function that is not here still works on tensors without gradient; on others it raises an error
that names it (see `wengert.tensor.numpy_protocol.plain`).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from wengert.ops import (
    arrange,
    expand,
    extremes,
    join,
    like,
    matmul,
    moments,
    permute,
    pointwise,
    reduce,
    select,
    shape,
    split,
)
from wengert.ops.affine import inner, outer
from wengert.ops.create import clone
from wengert.tape.base import TensorBase, new_tensor
from wengert.tape.lift import is_number
from wengert.tensor.numpy_protocol import FUNCTIONS, implements

__all__: list[str] = []


def _tensor(value: Any) -> Any:
    """An array, number or tensor as a tensor."""
    if isinstance(value, TensorBase):
        return value
    return new_tensor(np.asarray(value))


def _tensors(values: Any) -> list[Any]:
    return [_tensor(value) for value in values]


def _reduction(ours: Callable[..., Any]) -> Callable[..., Any]:
    """One of our reductions with NumPy's ``axis`` and ``keepdims``."""

    def function(a: Any, axis: Any = None, *, keepdims: bool = False) -> Any:
        if axis is None:
            axis = tuple(range(a.ndim))
        return ours(a, axis, keepdim=keepdims)

    return function


def _one_by_one(ours: Callable[..., Any]) -> Callable[..., Any]:
    """A reduction of ours that takes a single dimension, with NumPy's ``axis`` and ``keepdims``."""

    def function(a: Any, axis: Any = None, *, keepdims: bool = False) -> Any:
        if axis is None:
            axis = tuple(range(a.ndim))
        for dim in sorted((axis,) if isinstance(axis, int) else axis, reverse=True):
            a = ours(a, dim, keepdim=keepdims)
        return a

    return function


def _moment(ours: Callable[..., Any]) -> Callable[..., Any]:
    def function(a: Any, axis: Any = None, *, ddof: int = 0, keepdims: bool = False) -> Any:
        return ours(a, axis, correction=ddof, keepdim=keepdims)

    return function


FUNCTIONS.update(
    {
        np.sum: _reduction(reduce.sum),
        np.mean: _reduction(reduce.mean),
        np.max: _reduction(extremes.amax),
        np.min: _reduction(extremes.amin),
        np.any: _reduction(reduce.any),
        np.all: _reduction(reduce.all),
        np.prod: _one_by_one(reduce.prod),
        np.var: _moment(moments.var),
        np.std: _moment(moments.std),
        np.argmax: lambda a, axis=None, *, keepdims=False: extremes.argmax(a, axis, keepdims),
        np.argmin: lambda a, axis=None, *, keepdims=False: extremes.argmin(a, axis, keepdims),
        np.stack: lambda arrays, axis=0: join.stack(_tensors(arrays), axis),
        np.concatenate: lambda arrays, axis=0: join.cat(_tensors(arrays), axis),
        np.hstack: lambda tup: join.hstack(_tensors(tup)),
        np.vstack: lambda tup: join.vstack(_tensors(tup)),
        np.outer: lambda a, b: outer(_tensor(a), _tensor(b)),
        np.inner: lambda a, b: inner(_tensor(a), _tensor(b)),
        np.clip: lambda a, a_min=None, a_max=None, *, min=None, max=None: select.clamp(
            a, a_min if min is None else min, a_max if max is None else max
        ),
        np.reshape: lambda a, shape, order="C": shape_in_order(a, shape, order),
        np.ravel: lambda a, order="C": shape_in_order(a, (-1,), order),
        np.transpose: lambda a, axes=None: permute.permute(
            a, tuple(reversed(range(a.ndim))) if axes is None else axes
        ),
        np.swapaxes: lambda a, axis1, axis2: permute.transpose(a, axis1, axis2),
        np.moveaxis: lambda a, source, destination: permute.movedim(a, source, destination),
        np.expand_dims: lambda a, axis: shape.unsqueeze(a, axis),
        np.squeeze: lambda a, axis=None: shape.squeeze(a, axis),
        np.broadcast_to: lambda array, shape: expand.broadcast_to(array, shape),
        np.flip: lambda m, axis=None: arrange.flip(
            m, tuple(range(m.ndim)) if axis is None else axis
        ),
        np.roll: lambda a, shift, axis=None: arrange.roll(a, shift, axis),
        np.tril: lambda m, k=0: arrange.tril(m, k),
        np.triu: lambda m, k=0: arrange.triu(m, k),
        np.split: lambda ary, indices_or_sections, axis=0: split.tensor_split(
            ary, indices_or_sections, axis
        ),
        np.real: pointwise.real,
        np.imag: pointwise.imag,
        np.copy: lambda a: clone(a),
        np.zeros_like: lambda a: like.zeros_like(a),
        np.ones_like: lambda a: like.ones_like(a),
        np.full_like: lambda a, fill_value: like.full_like(a, fill_value),
        np.shape: lambda a: a.shape,
        np.ndim: lambda a: a.ndim,
    }
)


def shape_in_order(a: Any, to: Any, order: str) -> Any:
    """``a.reshape(to)``; only in C order."""
    if order != "C":
        raise NotImplementedError(f"np.reshape of a tensor with order={order!r}: only 'C' is there")
    return shape.reshape(a, to)


@implements(np.cumsum)
def _cumsum(a: Any, axis: int | None = None) -> Any:
    return reduce.cumsum(shape.flatten(a), 0) if axis is None else reduce.cumsum(a, axis)


@implements(np.cumprod)
def _cumprod(a: Any, axis: int | None = None) -> Any:
    return reduce.cumprod(shape.flatten(a), 0) if axis is None else reduce.cumprod(a, axis)


@implements(np.where)
def _where(condition: Any, x: Any = None, y: Any = None) -> Any:
    if x is None and y is None:
        return select.where(condition)
    x, y = (value if is_number(value) else _tensor(value) for value in (x, y))
    return select.where(_tensor(condition), x, y)


@implements(np.dot)
def _dot(a: Any, b: Any) -> Any:
    a, b = _tensor(a), _tensor(b)
    if not a.ndim or not b.ndim:
        return a * b
    if b.ndim > 2:
        raise NotImplementedError("np.dot with more than two dimensions: write a @ b or np.einsum")
    return matmul.matmul(a, b)


@implements(np.matmul)
def _matmul(a: Any, b: Any) -> Any:
    return matmul.matmul(_tensor(a), _tensor(b))


@implements(np.square)
def _square(a: Any) -> Any:
    return pointwise.square(a)


@implements(np.linalg.norm)
def _norm(x: Any, ord: Any = None, axis: Any = None, keepdims: bool = False) -> Any:
    one_axis = axis is None or isinstance(axis, int)
    if ord is not None and not (one_axis and (axis is not None or x.ndim == 1)):
        raise NotImplementedError("np.linalg.norm of matrices: only ord=None is there")
    return moments.vector_norm(x, 2 if ord is None else ord, axis, keepdims)
