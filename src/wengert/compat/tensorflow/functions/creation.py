"""Layer 9 · compat: TensorFlow's functions that create tensors, casts, and shapes as tensors."""

from __future__ import annotations

from typing import Any

import numpy as np

import wengert as wg
from wengert.base.dtypes import limits
from wengert.compat.kit.namespaces import defined
from wengert.compat.tensorflow.functions import values as V
from wengert.compat.tensorflow.tensor import Tensor
from wengert.compat.tensorflow.words import refusal


def cast(x, dtype, name=None) -> Any:
    """Convert a tensor to another dtype.

    Parameters
    ----------
    x : Tensor or tensor-like.
    dtype : DType. The dtype of the result. Casts to integers truncate; casts from complex to real
        dtypes drop the imaginary part.

    Returns
    -------
    Tensor: Differentiable, unless one of the dtypes is integer or bool.

    Examples
    --------
    >>> print(tf.cast([1.8, -1.8], tf.int32).numpy())
    [ 1 -1]
    """
    given, x = x, V.tensor_of(x)
    kind = V.dtype_of(dtype)
    if x._payload.dtype == kind:
        return given if isinstance(given, Tensor) else V.made(x)
    if V.is_complex(x) and kind.kind != "c":
        x = V.computed("Cast", wg.real, x)
    return V.computed("Cast", V.converted, x, kind)


@V.operation("ClipByValue", value=V.ANY)
def saturate_cast(value, dtype, name=None) -> Any:
    """Convert a tensor to another dtype, clamped to the range of that dtype.

    Examples
    --------
    >>> print(tf.saturate_cast([-5.0, 300.0], tf.uint8).numpy())
    [  0 255]
    """
    kind = V.dtype_of(dtype)
    if V.is_complex(value):
        real, imag = _saturated(wg.real(value), kind), _saturated(wg.imag(value), kind)
        return cast(wg.complex(real, imag) if kind.kind == "c" else real, kind)
    return cast(_saturated(value, kind), kind)


def _saturated(value, kind) -> Any:
    """Clamp real numbers to the numbers that both their own and another dtype have."""
    kinds = (value._payload.dtype, kind)
    if any(one.kind == "b" for one in kinds):
        return value
    own, new = map(limits, kinds)
    return wg.clamp(
        value, _inside(max(new.min, own.min), value), _inside(min(new.max, own.max), value)
    )


def _inside(bound, value) -> Any:
    """Return a bound in the dtype of `value`, rounded towards 0: 2**63 - 1 is no float32."""
    found = np.asarray(bound).astype(value._payload.dtype)
    past = found.dtype.kind == "f" and abs(float(found)) > abs(bound)
    return (np.nextafter(found, found.dtype.type(0)) if past else found).item()


@V.operation("Bitcast", input=V.ANY)
def bitcast(input, type, name=None) -> Any:
    """Reinterpret the bits as another dtype of the same size, without a gradient.

    Raises
    ------
    InvalidArgumentError: If the sizes differ.

    Examples
    --------
    >>> print(tf.bitcast(1.0, tf.int32).numpy())
    1065353216
    """
    kind = V.dtype_of(type)
    if input._payload.dtype.itemsize != kind.itemsize:
        raise V.invalid(
            f"Cannot bitcast from {V.cxx_name(input._payload.dtype)} to {V.cxx_name(kind)}: "
            f"elements of {input._payload.dtype.itemsize} and {kind.itemsize} bytes"
        )
    return wg.as_tensor(np.array(V.numbers_of(input).view(kind)))


@V.operation("Complex", real=V.ANY, imag=V.ANY)
def complex(real, imag, name=None) -> Any:
    """Build complex numbers from real and imaginary parts.

    Raises
    ------
    TypeError: If the parts are not both float32 or both float64.

    Examples
    --------
    >>> print(tf.complex([1.0], [2.0]).numpy())
    [1.+2.j]
    """
    kinds = real._payload.dtype, imag._payload.dtype
    if kinds[0] != kinds[1] or kinds[0] not in (_FLOAT32, _FLOAT64):
        raise refusal(TypeError, "The `real` and", kinds[0], kinds[1])
    return wg.complex(*wg.broadcast_tensors(*V.aligned("Complex", real, imag)))


_FLOAT32 = np.dtype(np.float32)
_FLOAT64 = np.dtype(np.float64)
_INT32 = np.dtype(np.int32)


def _filled(shape, value, dtype) -> Any:
    return wg.as_tensor(np.full(V.shape_of(shape, "Fill"), value, V.dtype_of(dtype, _FLOAT32)))


@V.operation("Fill")
def zeros(shape, dtype=None, name=None, layout=None) -> Any:
    """Return a tensor of zeros.

    Parameters
    ----------
    shape : sequence of int, or Tensor. The shape of the result.
    dtype : DType, optional. float32 by default.
    name, layout : optional. Accepted, and of no effect.

    Returns
    -------
    Tensor: The zeros, of that shape and dtype.

    Raises
    ------
    InvalidArgumentError: If a size is negative.

    Examples
    --------
    >>> print(tf.zeros([2], tf.int32).numpy())
    [0 0]
    """
    return _filled(shape, 0, dtype)


@V.operation("Fill")
def ones(shape, dtype=None, name=None, layout=None) -> Any:
    """Return a tensor of ones; arguments as for `zeros`.

    Examples
    --------
    >>> print(tf.ones([2]).numpy())
    [1. 1.]
    """
    return _filled(shape, 1, dtype)


@V.operation("Fill", dims=V.shape_of, value=V.ANY)
def fill(dims, value, name=None, layout=None) -> Any:
    """Return a tensor filled with one value, in the dtype of the value.

    Examples
    --------
    >>> print(tf.fill([2], 7).numpy())
    [7 7]
    """
    if value._payload.ndim:
        raise V.invalid(f"value must be a scalar, not of shape {value._payload.shape}")
    return wg.broadcast_to(value, dims)


def _like(x, value: int, dtype) -> Any:
    return wg.as_tensor(np.full(x._payload.shape, value, V.dtype_of(dtype, x._payload.dtype)))


@V.operation("ZerosLike", input=V.ANY)
def zeros_like(input, dtype=None, name=None, layout=None) -> Any:
    """Return zeros of the shape and, by default, the dtype of `input`.

    Examples
    --------
    >>> print(tf.zeros_like([1.0, 2.0]).numpy())
    [0. 0.]
    """
    return _like(input, 0, dtype)


@V.operation("OnesLike", input=V.ANY)
def ones_like(input, dtype=None, name=None, layout=None) -> Any:
    """Return ones of the shape and, by default, the dtype of `input`.

    Examples
    --------
    >>> print(tf.ones_like([5, 6]).numpy())
    [1 1]
    """
    return _like(input, 1, dtype)


@V.operation("MatrixDiag", num_rows=int)
def eye(num_rows, num_columns=None, batch_shape=None, dtype=None, name=None) -> Any:
    """Return the identity matrix, or a batch of them.

    Examples
    --------
    >>> print(tf.eye(2).numpy())
    [[1. 0.]
     [0. 1.]]
    """
    columns = num_rows if num_columns is None else V.integers(num_columns, "num_columns")[0]
    matrix = np.eye(num_rows, columns, dtype=V.dtype_of(dtype, _FLOAT32))
    batch = () if batch_shape is None else V.integers(batch_shape)
    return wg.as_tensor(np.array(np.broadcast_to(matrix, (*batch, *matrix.shape))))


_RANKS = ["i4", "i8", "f4", "f8"]


@V.operation("Range")
def range(start, limit=None, delta=1, dtype=None, name="range") -> Any:
    """Return the numbers in ``[start, limit)`` in steps of `delta`.

    Parameters
    ----------
    start, limit : number. The bounds. A single one is `limit`, and `start` is then 0.
    delta : number. The step.
    dtype : DType, optional. The dtype; by default int32, or the common dtype of the numbers.

    Returns
    -------
    Tensor: The numbers, in one dimension.

    Raises
    ------
    InvalidArgumentError: If `delta` is 0, or has the wrong sign.

    Examples
    --------
    >>> print(tf.range(3).numpy(), tf.range(1.0, 2.0, 0.5).numpy())
    [0 1 2] [1.  1.5]
    """
    if limit is None:
        start, limit = 0, start
    bounds = [V.numbers_of(value) for value in (start, limit, delta)]
    kind = V.dtype_of(dtype)
    if kind is None:
        kinds = [bound.dtype for bound in bounds]
        order = [k.str[1:] if k.str[1:] in _RANKS else "i4" for k in kinds]
        kind = np.dtype(max(order, key=_RANKS.index))
    low, high, step = (bound.astype(kind)[()] for bound in bounds)
    if step == 0:
        raise V.invalid(f"Requires delta != 0: {step}")
    if (step > 0 and low > high) or (step < 0 and low < high):
        raise V.invalid(
            f"Requires start {'<=' if step > 0 else '>='} limit when delta "
            f"{'>' if step > 0 else '<'} 0: {low}/{high}"
        )
    return wg.as_tensor(np.arange(low, high, step, dtype=kind))


@V.operation("LinSpace", "start", "stop", num=int)
def linspace(start, stop, num, name=None, axis=0) -> Any:
    """Return `num` evenly spaced numbers from `start` to `stop`, both included.

    Parameters
    ----------
    start, stop : Tensor. The bounds, numbers or tensors of one shape.
    num : int. The number of values.
    axis : int. The position of the new dimension, if the bounds are tensors.

    Returns
    -------
    Tensor: Differentiable; float64 for integers.

    Raises
    ------
    InvalidArgumentError: If `num` is not positive.

    Examples
    --------
    >>> print(tf.linspace(0.0, 1.0, 3).numpy())
    [0.  0.5 1. ]
    """
    if V.kind_of(start) in "iu":
        start, stop = V.converted(start, _FLOAT64), V.converted(stop, _FLOAT64)
    if num < 1:
        raise V.invalid(f"Requires num > 0: {num}")
    place = V.axis_of(axis, start._payload.ndim + 1)
    steps = np.arange(num) / max(num - 1, 1)
    steps = steps.astype(start._payload.dtype)
    share = wg.as_tensor(steps.reshape((-1,) + (1,) * (start._payload.ndim - place)))
    start, stop = wg.unsqueeze(start, place), wg.unsqueeze(stop, place)
    return start + (stop - start) * share


@V.operation("OneHot", indices=V.ANY, depth=int)
def one_hot(indices, depth, on_value=None, off_value=None, axis=None, dtype=None, name=None) -> Any:
    """Return a tensor that is 1 at the positions in `indices` along a new dimension, else 0.

    Parameters
    ----------
    indices : Tensor. The integer positions; for one outside ``range(depth)`` all elements are
        `off_value`.
    depth : int. The size of the new dimension.
    on_value, off_value : number, optional. The values to use instead of 1 and 0.
    axis : int, optional. The position of the new dimension; last by default.
    dtype : DType, optional. The dtype; by default that of the given values, else float32.

    Returns
    -------
    Tensor: The result, with one more dimension than `indices`.

    Raises
    ------
    InvalidArgumentError: If `indices` are not integers.

    Examples
    --------
    >>> print(tf.one_hot([1, 0], 3).numpy())
    [[0. 1. 0.]
     [1. 0. 0.]]
    """
    V.check(indices, V.INTEGERS, "TI")
    kind = V.dtype_of(dtype)
    if on_value is None and off_value is None:
        one = V.tensor_of(True if kind == np.dtype(bool) else 1, V.dtype_of(kind, _FLOAT32))
        zero = wg.zeros_like(one)
    else:
        given = [value for value in (on_value, off_value) if value is not None]
        kind = kind or V.tensor_of(given[0])._payload.dtype
        one, zero = (
            V.tensor_of(usual if value is None else value, kind)
            for usual, value in ((1, on_value), (0, off_value))
        )
        if one._payload.dtype != kind or zero._payload.dtype != kind:
            raise TypeError(f"on_value and off_value must have one dtype, which is {kind} here")
    ndim = indices._payload.ndim + 1
    place = V.axis_of(-1 if axis is None else axis, ndim)
    sizes = [1] * ndim
    sizes[place] = depth
    same = wg.unsqueeze(indices, place) == wg.as_tensor(np.arange(depth).reshape(sizes))
    return wg.where(same, one, zero)


@V.operation("SequenceMask")
def sequence_mask(lengths, maxlen=None, dtype=None, name=None) -> Any:
    """Return masks that are true up to each length, then false up to `maxlen`.

    Examples
    --------
    >>> print(tf.sequence_mask([1, 2], 3).numpy())
    [[ True False False]
     [ True  True False]]
    """
    sizes = V.numbers_of(lengths)
    longest = int(sizes.max(initial=0)) if maxlen is None else V.integers(maxlen, "maxlen")[0]
    mask = np.arange(longest) < sizes[..., None]
    return wg.as_tensor(mask.astype(V.dtype_of(dtype, np.dtype(bool))))


# -- shapes as tensors -----------------------------------------------------------------------------


@V.operation("Shape", input=V.ANY)
def shape(input, out_type=None, name=None) -> Any:
    """Return the shape of a tensor as a tensor of int32.

    Examples
    --------
    >>> print(tf.shape([[1, 2, 3]]).numpy())
    [1 3]
    """
    return wg.as_tensor(np.array(input._payload.shape, V.dtype_of(out_type, _INT32)))


@V.operation("Size", input=V.ANY)
def size(input, out_type=None, name=None) -> Any:
    """Return the number of elements of a tensor as a tensor of int32.

    Examples
    --------
    >>> print(tf.size([[1, 2, 3]]).numpy())
    3
    """
    return wg.as_tensor(np.array(input._payload.size, V.dtype_of(out_type, _INT32)))


@V.operation("Rank", input=V.ANY)
def rank(input, name=None) -> Any:
    """Return the number of dimensions of a tensor as a tensor of int32.

    Examples
    --------
    >>> print(tf.rank([[1, 2, 3]]).numpy())
    2
    """
    return wg.as_tensor(np.array(input._payload.ndim, _INT32))


def shape_n(input, out_type=None, name=None) -> list[Any]:
    """Return the shape of each of several tensors.

    Examples
    --------
    >>> [x.numpy().tolist() for x in tf.shape_n([[1, 2], [[1]]])]
    [[2], [1, 1]]
    """
    return [shape(part, out_type) for part in input]


@V.operation("IdentityN")
def identity_n(input, name=None) -> list[Any]:
    """Return several tensors unchanged.

    Examples
    --------
    >>> [float(x) for x in tf.identity_n([tf.constant(1.0), tf.constant(2.0)])]
    [1.0, 2.0]
    """
    return [wg.clone(V.tensor_of(part)) for part in input]


__all__ = defined(globals())
