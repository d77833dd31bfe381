"""Layer 9 · compat: TensorFlow's products of matrices and tensors, and sums of tensors."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

import wengert as wg
from wengert.compat.kit.namespaces import defined
from wengert.compat.tensorflow.functions import values as V
from wengert.compat.tensorflow.words import refusal


def turned(x, transpose: bool, adjoint: bool) -> Any:
    """Return matrices, transposed or conjugate-transposed if requested."""
    if not (transpose or adjoint):
        return x
    x = wg.transpose(x, -1, -2)
    return wg.conj_physical(x) if adjoint and V.is_complex(x) else x


@V.operation("MatMul")
def matmul(
    a,
    b,
    transpose_a=False,
    transpose_b=False,
    adjoint_a=False,
    adjoint_b=False,
    a_is_sparse=False,
    b_is_sparse=False,
    output_type=None,
    grad_a=False,
    grad_b=False,
    name=None,
) -> Any:
    """Multiply two matrices, or two batches of them.

    Parameters
    ----------
    a, b : Tensor. The matrices, of one numeric dtype; dimensions before the last two broadcast.
    transpose_a, transpose_b : bool. Whether to transpose `a` or `b`.
    adjoint_a, adjoint_b : bool. Whether to transpose and conjugate `a` or `b`.
    output_type : DType, optional. The dtype of the result and of the accumulation.
    a_is_sparse, b_is_sparse, grad_a, grad_b, name : optional. Accepted, and of no effect.

    %(returns_differentiable)s

    Raises
    ------
    InvalidArgumentError: If the shapes do not match, or the dtypes differ.
    ValueError: If both flags are set for one matrix.

    Examples
    --------
    >>> print(tf.matmul([[1.0, 2.0]], [[3.0], [4.0]]).numpy())
    [[11.]]
    """
    if (transpose_a and adjoint_a) or (transpose_b and adjoint_b):
        which = "a" if transpose_a and adjoint_a else "b"
        raise refusal(ValueError, "Only one of `transpose_{}`", which, which, which, which)
    if output_type is None:
        x, y = V.aligned("MatMul", a, b)
    else:
        kind = V.dtype_of(output_type)
        x, y = (V.converted(V.tensor_of(value), kind) for value in (a, b))
    V.check(x, V.NUMBERS)
    if x._payload.ndim < 2 or y._payload.ndim < 2:
        few = min(x._payload.ndim, y._payload.ndim)
        raise refusal(V.invalid, "In[0] and In[1]", few)
    here, there = x._payload.shape, y._payload.shape
    x, y = turned(x, transpose_a, adjoint_a), turned(y, transpose_b, adjoint_b)
    if x._payload.shape[-1] != y._payload.shape[-2]:
        raise refusal(V.invalid, "Matrix size-incompatible: In[0]:", V.shown(here), V.shown(there))
    return wg.matmul(x, y)


@V.operation("MatMul", "a", "b")
def matvec(
    a, b, transpose_a=False, adjoint_a=False, a_is_sparse=False, b_is_sparse=False, name=None
) -> Any:
    """Multiply a matrix and a vector, or batches of them; see `matmul`.

    Examples
    --------
    >>> print(tf.linalg.matvec([[1.0, 2.0]], [3.0, 4.0]).numpy())
    [11.]
    """
    column = wg.unsqueeze(b, -1)
    product = matmul(a, column, transpose_a=transpose_a, adjoint_a=adjoint_a)
    return wg.squeeze(V.tensor_of(product), -1)


@V.operation("Transpose", a=V.ANY)
def matrix_transpose(a, name="matrix_transpose", conjugate=False) -> Any:
    """Swap the last two dimensions.

    Raises
    ------
    ValueError: If there are fewer than two dimensions.

    Examples
    --------
    >>> print(tf.linalg.matrix_transpose([[1, 2]]).numpy())
    [[1]
     [2]]
    """
    if a._payload.ndim < 2:
        raise refusal(ValueError, "Argument `a` should", a._payload.shape)
    return turned(a, True, conjugate)


def adjoint(matrix, name=None) -> Any:
    """Swap the last two dimensions, and conjugate complex numbers.

    Examples
    --------
    >>> print(tf.linalg.adjoint([[1j]]).numpy())
    [[0.-1.j]]
    """
    return matrix_transpose(matrix, conjugate=True)


@V.operation("MatMul", "a", "b", a=V.NUMBERS)
def tensordot(a, b, axes, name=None) -> Any:
    """Sum products over some dimensions of both tensors.

    Parameters
    ----------
    a, b : Tensor. The factors, of one numeric dtype.
    axes : int, or pair of int or of sequences of int. The number of last dimensions of `a` and
        first dimensions of `b` to contract, or the dimensions of each.

    %(returns_differentiable)s

    Raises
    ------
    InvalidArgumentError: If the sizes differ, or a dimension is out of range.
    ValueError: If the numbers of dimensions differ, or `axes` is negative.

    Examples
    --------
    >>> print(tf.tensordot([1.0, 2.0], [3.0, 4.0], axes=1).numpy())
    11.0
    """
    if isinstance(axes, Sequence) or np.ndim(axes):
        first, second = list(axes)
        dims = [list(V.integers(first, "axes")), list(V.integers(second, "axes"))]
        if len(dims[0]) != len(dims[1]):
            raise refusal(ValueError, "Different number of", len(dims[0]), len(dims[1]))
        pairs = [
            (V.axis_of(i, a._payload.ndim), V.axis_of(j, b._payload.ndim))
            for i, j in zip(*dims, strict=True)
        ]
    else:
        (count,) = V.integers(axes, "axes")
        if count < 0:
            raise ValueError(f"`axes` must be at least 0. Received: {count}.")
        pairs = [(a._payload.ndim - count + i, i) for i in range(count)]
    for i, j in pairs:
        if a._payload.shape[i] != b._payload.shape[j]:
            raise V.invalid(
                f"Matrix size-incompatible: In[0]: {V.shown(a._payload.shape)}, "
                f"In[1]: {V.shown(b._payload.shape)}"
            )
    return wg.tensordot(a, b, ([i for i, _ in pairs], [j for _, j in pairs]))


@V.operation("Einsum")
def einsum(equation: str, *inputs, **kwargs) -> Any:
    """Evaluate an Einstein summation: ``"ij,jk->ik"`` multiplies matrices.

    Parameters
    ----------
    equation : str. The indices of each input and of the result.
    *inputs : Tensor. The factors, of one dtype.
    **kwargs: ``optimize`` and ``name``, which are ignored.

    %(returns_differentiable)s

    Raises
    ------
    InvalidArgumentError: If the equation does not match the shapes.
    TypeError: If there is an unknown keyword.

    Examples
    --------
    >>> print(tf.einsum("ij,j->i", [[1.0, 2.0], [3.0, 4.0]], [1.0, 1.0]).numpy())
    [3. 7.]
    """
    for keyword in kwargs:
        if keyword not in ("optimize", "name"):
            raise refusal(TypeError, "Invalid keyword arguments", keyword)
    parts = V.aligned("Einsum", *inputs)
    _check_sizes(equation, parts)
    return wg.einsum(equation, *parts)


def _check_sizes(equation: str, parts: list[Any]) -> None:
    """Raise an error if a letter has two sizes; the operation checks equations with ``...``."""
    terms = equation.replace(" ", "").partition("->")[0].split(",")
    if "." in equation or [len(term) for term in terms] != [x._payload.ndim for x in parts]:
        return
    known: dict[str, int] = {}
    for term, x in zip(terms, parts, strict=True):
        for place, (letter, size) in enumerate(zip(term, x._payload.shape, strict=True)):
            if known.setdefault(letter, size) != size:
                raise V.invalid(
                    f"Expected dimension {known[letter]} at axis {place} of the input shaped "
                    f"{V.shown(x._payload.shape)} but got dimension {size}",
                    "Einsum",
                )


@V.operation("AddN")
def add_n(inputs, name=None) -> Any:
    """Add tensors of one shape.

    Raises
    ------
    ValueError: If the list is empty.
    InvalidArgumentError: If the shapes differ.

    Examples
    --------
    >>> print(tf.add_n([[1, 2], [3, 4], [5, 6]]).numpy())
    [ 9 12]
    """
    if isinstance(inputs, np.ndarray):
        inputs = list(inputs)
    if not isinstance(inputs, list | tuple):
        inputs = [inputs]
    if not inputs:
        raise refusal(ValueError, "Inputs must be")
    parts = V.aligned("AddN", *inputs)
    total = parts[0]
    for number, part in enumerate(parts[1:], 1):
        if part._payload.shape != total._payload.shape:
            raise V.invalid(
                "Inputs to operation AddN of type AddN must have the same size and shape.  Input "
                f"0: {V.shown(total._payload.shape)} != input {number}: "
                f"{V.shown(part._payload.shape)}"
            )
        total = total + part
    return wg.clone(total) if len(parts) == 1 else total


def accumulate_n(inputs, shape=None, tensor_dtype=None, name=None) -> Any:
    """Add tensors of one shape; same as `add_n`.

    Examples
    --------
    >>> print(tf.math.accumulate_n([[1, 2], [3, 4]]).numpy())
    [4 6]
    """
    return add_n(inputs)


@V.operation("AddV2")
def polyval(coeffs, x, name=None) -> Any:
    """Evaluate a polynomial, given coefficients from the highest power down.

    Raises
    ------
    ValueError: If `coeffs` is not a list.

    Examples
    --------
    >>> print(tf.math.polyval([1.0, 2.0, 3.0], 2.0).numpy())
    11.0
    """
    if not isinstance(coeffs, list):
        raise ValueError(f"Argument coeffs must be list type. Received type {type(coeffs)}.")
    x = V.tensor_of(x)
    if not coeffs:
        return wg.zeros_like(x)
    value, *others = [V.tensor_of(c, dtype_hint=x._payload.dtype) for c in coeffs]
    for coefficient in others:
        value = coefficient + value * x
    return value


__all__ = defined(globals())
