"""Layer 5 · ops · matrices: `linalg`: least squares."""

from __future__ import annotations

from typing import Any

import numpy as np

from wengert.base.shapes import broadcast
from wengert.ops.coerce import wide
from wengert.ops.linear_checks import check_same_dtype, expand_batch
from wengert.ops.linear_types import linalg_lstsq
from wengert.ops.matmul import matmul
from wengert.prims import linear_systems as linear_systems
from wengert.tape.base import new_tensor
from wengert.tape.inference import made_in_inference
from wengert.tape.record import T

__all__ = ["lstsq"]

_DRIVERS = ("gels", "gelsy", "gelsd", "gelss")


def lstsq(input: Any, b: Any, rcond: float | None = None, *, driver: str | None = None) -> Any:
    """Return the solutions of least squares: the X for which ``input @ X - b`` is smallest.

    Where there are several, the shortest.

    Parameters
    ----------
    input : Tensor. Matrices of shape (..., m, n), of floating or complex dtype.
    b : Tensor. Right-hand sides of shape (..., m, k), or (..., m).
    rcond : float, optional. What counts as 0, relative to the largest singular value; by default
        the precision of the dtype times the larger one of m and n.
    driver : {"gelsy", "gels", "gelsd", "gelss"}, optional. LAPACK's routine: "gels" for matrices of
        full rank, the others for any; "gelsd" and "gelss" through singular values. Without SciPy,
        all are "gelsd".

    Returns
    -------
    solution : Tensor. X. Differentiable with respect to both, to any order, where the rank does not
        change.
    residuals : Tensor. The squared lengths of the columns of ``input @ X - b``, if m > n, all ranks
        are n and the driver is not "gelsy"; else empty. Differentiable.
    rank : Tensor. The ranks, of int64; empty for "gels".
    singular_values : Tensor. For "gelsd" and "gelss"; else empty. Not differentiable: see
        `svdvals`.

    Raises
    ------
    LinAlgError: For "gels", if a matrix does not have full rank.
    RuntimeError: If the shapes or dtypes do not fit, or for another driver.

    Examples
    --------
    >>> A = wg.tensor([[1.0, 0.0], [1.0, 1.0], [1.0, 2.0]])
    >>> wg.linalg.lstsq(A, wg.tensor([1.0, 3.0, 5.0])).solution.round(decimals=3)
    tensor([1., 2.])
    """
    name = "torch.linalg.lstsq"
    x, y = wide(input, "linalg_lstsq", "input"), wide(b, "linalg_lstsq", "b", 2)
    a, right = x._payload, y._payload
    if a.ndim < 2:
        raise RuntimeError(f"{name}: input must have at least 2 dimensions.")
    if right.ndim < 1:
        raise RuntimeError(f"{name}: other must have at least 1 dimension.")
    if a.ndim - right.ndim not in (0, 1):
        raise RuntimeError(
            f"{name}: input.dim() must be greater or equal to other.dim() and (input.dim() - "
            f"other.dim()) <= 1, but they are {a.ndim} and {right.ndim}"
        )
    vector = right.shape == a.shape[:-1]
    if not vector and (a.ndim != right.ndim or right.shape[-2] != a.shape[-2]):
        raise RuntimeError(
            f"{name}: input.size(-2) should match other.size({-1 if right.ndim == 1 else -2}), or "
            "other have the shape of input without its last dimension: the shapes are "
            f"{list(a.shape)} and {list(right.shape)}"
        )
    check_same_dtype(
        x,
        y,
        f"{name}: Expected input and other to have the same dtype, but got input's dtype {{}}"
        " and other's dtype {}",
    )
    if driver is not None and driver not in _DRIVERS:
        raise RuntimeError(
            f"{name}: parameter `driver` should be one of (gels, gelsy, gelsd, gelss)"
        )
    if a.dtype.char not in "fdFD":
        raise RuntimeError("This function doesn't handle types other than float and double")
    return _least_squares(x, y, rcond, driver or "gelsy", vector)


def _least_squares(x: Any, y: Any, rcond: float | None, driver: str, vector: bool) -> Any:
    if vector:
        y = T.unsqueeze(y, dim=y._payload.ndim)
    batch = broadcast(x._payload.shape[:-2], y._payload.shape[:-2])
    x, y = expand_batch(x, batch), expand_batch(y, batch)
    m, n = x._payload.shape[-2:]
    kind = np.empty(0, x._payload.dtype).real.dtype
    if rcond is None:
        rcond = float(np.finfo(kind).eps) * max(m, n)
    solution, rank, values = T.linalg_lstsq(x, y, rcond=float(rcond), driver=driver)
    residuals = made_in_inference(new_tensor(np.empty(0, kind)))
    if m > n and driver != "gelsy" and (driver == "gels" or (rank._payload == n).all()):
        apart = T.sub(matmul(x, solution), y)
        square = T.mul(apart, apart)
        if apart._payload.dtype.kind == "c":
            square = T.real(T.mul(apart, T.conj(apart)))
        residuals = T.sum_dim(square, dim=(len(batch),), keepdim=False)
    if vector:
        solution = T.squeeze_dim(solution, dim=len(batch) + 1)
    return linalg_lstsq(
        (
            solution,
            residuals,
            made_in_inference(new_tensor(np.empty(0, np.int64))) if driver == "gels" else rank,
            values
            if driver in ("gelsd", "gelss")
            else made_in_inference(new_tensor(np.empty(0, kind))),
        )
    )
