"""Layer 9 · compat: TensorFlow's conversions of dtypes, and complex numbers made of their parts."""

from __future__ import annotations

from typing import Any

import numpy as np

import wengert as wg
from wengert.base.sections import fill_sections
from wengert.compat.tensorflow.functions import values as V
from wengert.compat.tensorflow.tensor import Tensor

__all__ = ["bitcast", "cast", "complex", "saturate_cast"]


def cast(x, dtype, name=None) -> Any:
    """The tensor in another dtype.

    Parameters
    ----------
    x : Tensor. Or what becomes one.
    dtype : DType. Fractions are cut off on the way to whole numbers, and imaginary parts on the way
        to real ones.

    Returns
    -------
    Tensor: Differentiable, unless one of the dtypes is of whole numbers or bools.

    Examples
    --------
    >>> print(tf.cast([1.8, -1.8], tf.int32).numpy())
    [ 1 -1]
    """
    given, x = x, V.tensor_of(x)
    kind = V.dtype_of(dtype)
    if x.payload.dtype == kind:
        return given if isinstance(given, Tensor) else V.made(x)
    if V.is_complex(x) and kind.kind != "c":
        x = V.computed("Cast", wg.real, x)
    return V.computed("Cast", V.converted, x, kind)


def saturate_cast(value, dtype, name=None) -> Any:
    """The tensor in another dtype; what lies outside of its range becomes its least or greatest.

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
        if x.payload.dtype.kind in "iu":
            own = np.iinfo(x.payload.dtype)
            least, most = max(least, own.min), min(most, own.max)
        x = V.computed("ClipByValue", wg.clamp, x, least, most)
    return cast(x, kind)


@V.operation("Bitcast")
def bitcast(input, type, name=None) -> Any:
    """The same bits, read as another dtype of the same size; without a gradient.

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
    if x.payload.dtype.itemsize != kind.itemsize:
        raise V.invalid(
            "Bitcast",
            f"Cannot bitcast from {V.cxx_name(x.payload.dtype)} to {V.cxx_name(kind)}: elements of "
            f"{x.payload.dtype.itemsize} and {kind.itemsize} bytes",
        )
    return wg.as_tensor(np.array(V.numbers_of(x).view(kind)))


def complex(real, imag, name=None) -> Any:
    """Complex numbers of real and imaginary parts.

    Raises
    ------
    TypeError: Unless both are float32, or both float64.

    Examples
    --------
    >>> print(tf.complex([1.0], [2.0]).numpy())
    [1.+2.j]
    """
    a, b = V.tensor_of(real), V.tensor_of(imag)
    if a.payload.dtype != b.payload.dtype or not V.is_floating(a) or a.payload.dtype.itemsize < 4:
        raise TypeError(
            "The `real` and `imag` components have incorrect types: "
            f"{a.payload.dtype} {b.payload.dtype}. They must be consistent, and one of "
            "[tf.float32, tf.float64]"
        )
    a, b = V.aligned("Complex", a, b)
    return V.computed("Complex", wg.complex, *wg.broadcast_tensors(a, b))


fill_sections(globals())
