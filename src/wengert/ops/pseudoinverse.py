"""Layer 5 · ops · matrices: ranks and pseudoinverses of matrices."""

from __future__ import annotations

from typing import Any

import numpy as np

from wengert.base.errors import wrong_type
from wengert.base.shapes import broadcast
from wengert.interp.levels import Lifted
from wengert.ops.checks import flag
from wengert.ops.coerce import dtype_name, wide
from wengert.ops.linear_checks import LAPACK, square_of
from wengert.ops.out import into
from wengert.prims import spectral as spectral
from wengert.tape.base import TensorBase, new_tensor
from wengert.tape.modes import no_grad
from wengert.tape.record import T

__all__ = ["matrix_rank", "pinv"]


def _tolerances(
    op: str, x: Any, rcond: Any, atol: Any, rtol: Any, absolute: bool
) -> tuple[Any, Any]:
    """Return the absolute tolerance, and the one relative to the largest value, as arrays.

    Parameters
    ----------
    rcond, absolute: A tolerance given by position, and whether it is absolute.
    """
    if rcond is not None:
        if atol is not None or rtol is not None:
            raise TypeError(
                f"linalg_{op}() received an invalid combination of arguments - give atol and rtol, "
                f"or {'tol' if absolute else 'rcond'}, not both"
            )
        atol, rtol = (rcond, 0.0) if absolute else (0.0, rcond)
    given_atol, given_rtol = (
        None if value is None else _tolerance(value, op, name)
        for name, value in (("atol", atol), ("rtol", rtol))
    )
    a = np.zeros(()) if given_atol is None else given_atol
    if given_rtol is not None:
        return a, given_rtol
    size, dtype = max(x._payload.shape[-2:]), x._payload.dtype
    usual = size * float(np.finfo(dtype).eps)
    if isinstance(a, Lifted):
        none = T.logical_not(T.gt(new_tensor(a), 0))
        return a, T.mul(T.to_copy(none, dtype=np.dtype(float)), usual)._payload
    return a, np.where(a > 0, 0.0, usual)


def _tolerance(value: Any, op: str, name: str) -> Any:
    array = value._payload if isinstance(value, TensorBase) else np.asarray(value)
    if array.dtype.kind == "c":
        raise RuntimeError(
            f"torch.linalg.{op}: {name} tensor of complex type is not supported. Got "
            f"{dtype_name(array)}"
        )
    if array.dtype.kind not in "biuf":
        raise wrong_type(f"linalg_{op}", name, "Tensor or float", value)
    # a tolerance has no derivative
    return array.constant() if isinstance(array, Lifted) else array


def _column(tolerance: Any, dtype: Any) -> Any:
    """Return a tolerance in a shape that broadcasts with values along a last dimension."""
    tensor = new_tensor(tolerance if isinstance(tolerance, Lifted) else np.asarray(tolerance))
    if nd := tensor._payload.ndim:
        tensor = T.unsqueeze(tensor, dim=nd)
    return T.to_copy(tensor, dtype=dtype)


def _overloaded(value: Any, op: str) -> Any:
    """Return `wide`, for functions with several signatures, and another message, in PyTorch."""
    if not isinstance(value, TensorBase | np.ndarray | np.generic):
        raise TypeError(
            f"linalg_{op}() received an invalid combination of arguments - got "
            f"({type(value).__name__}), but expected a Tensor first"
        )
    return wide(value, f"linalg_{op}")


def pinv(
    input: Any,
    rcond: Any = None,
    hermitian: bool = False,
    *,
    atol: Any = None,
    rtol: Any = None,
    out: Any = None,
) -> Any:
    """Return the pseudoinverse (Moore-Penrose inverse) of matrices.

    Parameters
    ----------
    input : Tensor. Of shape (..., m, n) and of a floating or complex dtype.
    rcond : number or Tensor, optional. An old name for `rtol`.
    hermitian : bool. Whether the matrices are Hermitian; then their lower triangles are read.
    atol, rtol : number or Tensor, optional. Singular values up to ``max(atol, rtol * largest)``
        count as 0. By default `rtol` is max(m, n) times the precision of the dtype, or 0 if `atol`
        is given and positive. Tensors broadcast with the shape of `input` without its last two
        dimensions.
    %(out)s

    Returns
    -------
    Tensor: Of shape (..., n, m). Differentiable, to any order, in directions that keep the rank.

    Raises
    ------
    RuntimeError: If the input is not a matrix of a floating or complex dtype.

    Examples
    --------
    >>> wg.linalg.pinv(wg.tensor([[2.0, 0.0], [0.0, 0.0]]))
    tensor([[0.5000, 0.0000],
            [0.0000, 0.0000]])
    """
    x = _overloaded(input, "pinv")
    array = x._payload
    if array.ndim < 2 or array.dtype.char not in LAPACK:
        raise RuntimeError(
            f"linalg.pinv({dtype_name(array)}{{{list(array.shape)}}}): expected a tensor with 2 or "
            "more dimensions of float, double, cfloat or cdouble types"
        )
    a, r = _tolerances("pinv", x, rcond, atol, rtol, absolute=False)
    if flag(hermitian, "hermitian"):
        square_of(x, "linalg_eigh", "linalg.eigh", "input")
    lead = array.shape[:-2]
    wide = broadcast(lead, a.shape, r.shape) if a.ndim or r.ndim else lead
    if wide != lead:
        x = T.expand(x, shape=(*wide, *array.shape[-2:]))
    result = T.linalg_pinv(x, new_tensor(a), new_tensor(r), hermitian=flag(hermitian, "hermitian"))
    return result if out is None else into(out, result, "linalg_pinv")


def matrix_rank(
    input: Any,
    tol: Any = None,
    hermitian: bool = False,
    *,
    atol: Any = None,
    rtol: Any = None,
    out: Any = None,
) -> Any:
    """Return the rank of matrices: the number of singular values that are not 0.

    Parameters
    ----------
    input : Tensor. Of shape (..., m, n) and of a floating or complex dtype.
    tol : number or Tensor, optional. What counts as 0, absolutely; an old form of `atol` with
        ``rtol=0``.
    hermitian : bool. Whether the matrices are Hermitian; then absolute eigenvalues are counted.
    atol, rtol : number or Tensor, optional. As for `pinv`.
    out : Tensor, optional. Where to write the result.

    Returns
    -------
    Tensor: Integers, of the shape of `input` without its last two dimensions; no gradient.

    Raises
    ------
    RuntimeError: If the input is not a matrix of a floating or complex dtype.

    Examples
    --------
    >>> wg.linalg.matrix_rank(wg.ones(3, 3))
    tensor(1)
    """
    x = _overloaded(input, "matrix_rank")
    array = x._payload
    if array.ndim < 2:
        raise RuntimeError(
            "torch.linalg.matrix_rank: The input tensor input must have at least 2 dimensions. Got "
            f"shape {list(array.shape)}"
        )
    if array.dtype.char not in LAPACK:
        raise RuntimeError(
            "This function doesn't handle types other than float and double, and the complex types "
            f"of them, but got {dtype_name(array)}"
        )
    a, r = _tolerances("matrix_rank", x, tol, atol, rtol, absolute=True)
    with no_grad():
        if hermitian:
            values = T.abs(
                T.linalg_eigvalsh(square_of(x, "linalg_eigh", "linalg.eigh", "input"), UPLO="L")
            )
        else:
            values = T.linalg_svdvals(x)
        found = values._payload
        if not found.shape[-1]:
            result = T.sum_dim(T.gt(values, 0), dim=(found.ndim - 1,), keepdim=False)
        else:
            largest = T.amax(values, dim=(found.ndim - 1,), keepdim=True)
            relative = T.mul(largest, _column(r, found.dtype))
            kept = T.gt(values, T.maximum(_column(a, found.dtype), relative))
            result = T.sum_dim(kept, dim=(kept._payload.ndim - 1,), keepdim=False)
    return result if out is None else into(out, result, "linalg_matrix_rank")
