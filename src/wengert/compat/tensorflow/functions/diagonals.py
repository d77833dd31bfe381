"""Layer 9 · compat: TensorFlow's functions of the diagonals of matrices."""

from __future__ import annotations

from typing import Any

import numpy as np

import wengert as wg
from wengert.base.sections import fill_sections
from wengert.compat.kit.namespaces import defined
from wengert.compat.tensorflow.functions import values as V


@V.operation("MatrixTrace")
def trace(x, name=None) -> Any:
    """The sum of the elements on the diagonal of a matrix, or of each of a batch.

    Examples
    --------
    >>> print(tf.linalg.trace([[1, 2], [3, 4]]).numpy())
    5
    """
    x = V.tensor_of(x)
    V.check("Sum", x, V.NUMBERS)
    return wg.sum(wg.diagonal(x, dim1=-2, dim2=-1), -1, dtype=x.payload.dtype)


def _offset(k) -> int:
    offsets = V.integers(k, "k")
    if len(offsets) != 1:
        raise V.invalid("MatrixDiagV3", "one diagonal at a time is offered here: k is a number")
    return offsets[0]


@V.operation("MatrixDiagV3")
def diag(
    diagonal,
    name="diag",
    k=0,
    num_rows: int = -1,
    num_cols: int = -1,
    padding_value=0,
    align: str = "RIGHT_LEFT",
) -> Any:
    """A matrix with given elements on a diagonal, or a batch of such.

    Parameters
    ----------
    diagonal : Tensor. The elements.
    name, align : optional. Accepted, and of no effect.
    k : int. Which diagonal: 0 is the main one, positive ones are above it.
    num_rows, num_cols : int. The size of the matrix; what the diagonal needs by default.
    padding_value : number. What the other elements are.

    Returns
    -------
    Tensor: Differentiable.

    Examples
    --------
    >>> print(tf.linalg.diag([1, 2]).numpy())
    [[1 0]
     [0 2]]
    """
    x = V.tensor_of(diagonal)
    offset = _offset(k)
    result: Any = wg.diag_embed(x, offset)
    need = result.payload.shape[-1]
    rows = need if num_rows == -1 else num_rows
    columns = need if num_cols == -1 else num_cols
    count = x.payload.shape[-1]
    if rows < count + max(-offset, 0) or columns < count + max(offset, 0):
        if num_rows == num_cols == -1:
            rows = columns = need
        else:
            raise V.invalid(
                "MatrixDiagV3", f"a {rows} by {columns} matrix is too small for {count} elements"
            )
    if (rows, columns) != (need, need):
        result = wg.nn.functional.pad(result, (0, columns - need, 0, rows - need))
    if padding_value:
        place = np.eye(rows, columns, offset, dtype=bool)
        fill = wg.as_tensor(np.array(padding_value, x.payload.dtype))
        result = wg.where(wg.as_tensor(place), result, fill)
    return result


@V.operation("MatrixDiagPartV3")
def diag_part(input, name="diag_part", k=0, padding_value=0, align: str = "RIGHT_LEFT") -> Any:
    """The elements on a diagonal of a matrix, or of each of a batch.

    Examples
    --------
    >>> print(tf.linalg.diag_part([[1, 2], [3, 4]]).numpy())
    [1 4]
    """
    x = V.tensor_of(input)
    return wg.diagonal(x, _offset(k), -2, -1)


@V.operation("MatrixSetDiagV3")
def set_diag(input, diagonal, name="set_diag", k=0, align: str = "RIGHT_LEFT") -> Any:
    """A matrix with other elements on a diagonal.

    Raises
    ------
    InvalidArgumentError: If there are not as many elements as the diagonal has.

    Examples
    --------
    >>> print(tf.linalg.set_diag([[1, 2], [3, 4]], [9, 9]).numpy())
    [[9 2]
     [3 9]]
    """
    x, y = V.aligned("MatrixSetDiagV3", input, diagonal)
    return wg.diagonal_scatter(x, y, _offset(k), -2, -1)


@V.operation("MatrixBandPart")
def band_part(input, num_lower, num_upper, name=None) -> Any:
    """A matrix with zeros outside of some diagonals around the main one; -1 keeps all.

    Examples
    --------
    >>> print(tf.linalg.band_part([[1, 2], [3, 4]], -1, 0).numpy())
    [[1 0]
     [3 4]]
    """
    x = V.tensor_of(input)
    (lower,), (upper,) = V.integers(num_lower, "num_lower"), V.integers(num_upper, "num_upper")
    if lower >= 0:
        x = wg.triu(x, -lower)
    return wg.tril(x, upper) if upper >= 0 else wg.clone(x)


@V.operation("Diag")
def tensor_diag(diagonal, name=None) -> Any:
    """A tensor with given elements where the first half of the positions equals the second half.

    Examples
    --------
    >>> print(tf.linalg.tensor_diag([1, 2]).numpy())
    [[1 0]
     [0 2]]
    """
    x = V.tensor_of(diagonal)
    return wg.reshape(wg.diag(wg.reshape(x, (-1,))), (*x.payload.shape, *x.payload.shape))


@V.operation("DiagPart")
def tensor_diag_part(input, name=None) -> Any:
    """The elements where the first half of the positions equals the second half.

    Examples
    --------
    >>> print(tf.linalg.tensor_diag_part([[1, 2], [3, 4]]).numpy())
    [1 4]
    """
    x = V.tensor_of(input)
    half = x.payload.ndim // 2
    sizes = x.payload.shape[:half]
    if sizes != x.payload.shape[half:]:
        raise V.invalid("DiagPart", f"Received shape {V.shown(x.payload.shape)}: its halves differ")
    count = int(np.prod(sizes))
    return wg.reshape(wg.diagonal(wg.reshape(x, (count, count))), sizes)


__all__ = defined(globals())
fill_sections(globals())
