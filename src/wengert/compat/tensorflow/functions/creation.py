"""Layer 9 · compat: TensorFlow's functions that create tensors, casts, and shapes as tensors."""

from __future__ import annotations

from typing import Any

import numpy as np

import wengert as wg
from wengert.compat.kit.namespaces import completed
from wengert.compat.tensorflow.functions import values as V
from wengert.compat.tensorflow.tensor import Tensor


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


def saturate_cast(value, dtype, name=None) -> Any:
    """Convert a tensor to another dtype, clamped to the range of that dtype.

    Examples
    --------
    >>> print(tf.saturate_cast([-5.0, 300.0], tf.uint8).numpy())
    [  0 255]
    """
    x = V.tensor_of(value)
    kind = V.dtype_of(dtype)
    if kind.kind in "iu" and not V.is_complex(x):
        limits = np.iinfo(kind)
        least, most = limits.min, limits.max
        if x._payload.dtype.kind in "iu":
            own = np.iinfo(x._payload.dtype)
            least, most = max(least, own.min), min(most, own.max)
        x = V.computed("ClipByValue", wg.clamp, x, least, most)
    return cast(x, kind)


@V.operation("Bitcast")
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
    x = V.tensor_of(input)
    kind = V.dtype_of(type)
    if x._payload.dtype.itemsize != kind.itemsize:
        raise V.invalid(
            "Bitcast",
            f"Cannot bitcast from {V.cxx_name(x._payload.dtype)} to {V.cxx_name(kind)}: elements "
            f"of {x._payload.dtype.itemsize} and {kind.itemsize} bytes",
        )
    return wg.as_tensor(np.array(V.numbers_of(x).view(kind)))


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
    a, b = V.tensor_of(real), V.tensor_of(imag)
    if (
        a._payload.dtype != b._payload.dtype
        or not V.is_floating(a)
        or a._payload.dtype.itemsize < 4
    ):
        raise TypeError(
            "The `real` and `imag` components have incorrect types: "
            f"{a._payload.dtype} {b._payload.dtype}. They must be consistent, and one of "
            "[tf.float32, tf.float64]"
        )
    a, b = V.aligned("Complex", a, b)
    return V.computed("Complex", wg.complex, *wg.broadcast_tensors(a, b))


_FLOAT32 = np.dtype(np.float32)
_FLOAT64 = np.dtype(np.float64)
_INT32 = np.dtype(np.int32)


def _filled(shape, value, dtype) -> Any:
    return wg.as_tensor(np.full(V.shape_of("Fill", shape), value, V.dtype_of(dtype, _FLOAT32)))


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
    """Return a tensor of ones; takes the arguments of `zeros`.

    Examples
    --------
    >>> print(tf.ones([2]).numpy())
    [1. 1.]
    """
    return _filled(shape, 1, dtype)


@V.operation("Fill")
def fill(dims, value, name=None, layout=None) -> Any:
    """Return a tensor filled with one value, in the dtype of the value.

    Examples
    --------
    >>> print(tf.fill([2], 7).numpy())
    [7 7]
    """
    sizes = V.shape_of("Fill", dims)
    number = V.tensor_of(value)
    if number._payload.ndim:
        raise V.invalid("Fill", f"value must be a scalar, not of shape {number._payload.shape}")
    return wg.broadcast_to(number, sizes)


def _like(input, value: int, dtype) -> Any:
    x = V.tensor_of(input)
    return wg.as_tensor(np.full(x._payload.shape, value, V.dtype_of(dtype, x._payload.dtype)))


@V.operation("ZerosLike")
def zeros_like(input, dtype=None, name=None, layout=None) -> Any:
    """Return zeros of the shape and, by default, the dtype of `input`.

    Examples
    --------
    >>> print(tf.zeros_like([1.0, 2.0]).numpy())
    [0. 0.]
    """
    return _like(input, 0, dtype)


@V.operation("OnesLike")
def ones_like(input, dtype=None, name=None, layout=None) -> Any:
    """Return ones of the shape and, by default, the dtype of `input`.

    Examples
    --------
    >>> print(tf.ones_like([5, 6]).numpy())
    [1 1]
    """
    return _like(input, 1, dtype)


@V.operation("MatrixDiag")
def eye(num_rows, num_columns=None, batch_shape=None, dtype=None, name=None) -> Any:
    """Return the identity matrix, or a batch of them.

    Examples
    --------
    >>> print(tf.eye(2).numpy())
    [[1. 0.]
     [0. 1.]]
    """
    (rows,) = V.integers(num_rows, "num_rows")
    columns = rows if num_columns is None else V.integers(num_columns, "num_columns")[0]
    matrix = np.eye(rows, columns, dtype=V.dtype_of(dtype, _FLOAT32))
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
        raise V.invalid("Range", f"Requires delta != 0: {step}")
    if (step > 0 and low > high) or (step < 0 and low < high):
        raise V.invalid(
            "Range",
            f"Requires start {'<=' if step > 0 else '>='} limit when delta "
            f"{'>' if step > 0 else '<'} 0: {low}/{high}",
        )
    return wg.as_tensor(np.arange(low, high, step, dtype=kind))


@V.operation("LinSpace")
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
    low, high = V.aligned("LinSpace", start, stop)
    if V.kind_of(low) in "iu":
        low, high = V.converted(low, _FLOAT64), V.converted(high, _FLOAT64)
    (count,) = V.integers(num, "num")
    if count < 1:
        raise V.invalid("LinSpace", f"Requires num > 0: {count}")
    place = V.axis_of("LinSpace", axis, low._payload.ndim + 1)
    steps = np.arange(count) / max(count - 1, 1)
    steps = steps.astype(low._payload.dtype)
    share = wg.as_tensor(steps.reshape((-1,) + (1,) * (low._payload.ndim - place)))
    low, high = wg.unsqueeze(low, place), wg.unsqueeze(high, place)
    return low + (high - low) * share


@V.operation("OneHot")
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
    x = V.tensor_of(indices)
    V.check("OneHot", x, V.INTEGERS, "TI")
    (count,) = V.integers(depth, "depth")
    kind = V.dtype_of(dtype)
    if on_value is None and off_value is None:
        one = V.tensor_of(True if kind == np.dtype(bool) else 1, V.dtype_of(kind, _FLOAT32))
        zero = wg.zeros_like(one)
    else:
        given = [value for value in (on_value, off_value) if value is not None]
        kind = kind or V.tensor_of(given[0])._payload.dtype
        one = V.tensor_of(1 if on_value is None else on_value, kind)
        zero = V.tensor_of(0 if off_value is None else off_value, kind)
    ndim = x._payload.ndim + 1
    place = V.axis_of("OneHot", -1 if axis is None else axis, ndim)
    sizes = [1] * ndim
    sizes[place] = count
    same = wg.unsqueeze(x, place) == wg.as_tensor(np.arange(count).reshape(sizes))
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


@V.operation("Shape")
def shape(input, out_type=None, name=None) -> Any:
    """Return the shape of a tensor as a tensor of int32.

    Examples
    --------
    >>> print(tf.shape([[1, 2, 3]]).numpy())
    [1 3]
    """
    sizes = V.tensor_of(input)._payload.shape
    return wg.as_tensor(np.array(sizes, V.dtype_of(out_type, _INT32)))


@V.operation("Size")
def size(input, out_type=None, name=None) -> Any:
    """Return the number of elements of a tensor as a tensor of int32.

    Examples
    --------
    >>> print(tf.size([[1, 2, 3]]).numpy())
    3
    """
    return wg.as_tensor(np.array(V.tensor_of(input)._payload.size, V.dtype_of(out_type, _INT32)))


@V.operation("Rank")
def rank(input, name=None) -> Any:
    """Return the number of dimensions of a tensor as a tensor of int32.

    Examples
    --------
    >>> print(tf.rank([[1, 2, 3]]).numpy())
    2
    """
    return wg.as_tensor(np.array(V.tensor_of(input)._payload.ndim, _INT32))


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


__all__ = completed(globals())
