"""Layer 5 · ops: some eigenvalues and eigenvectors of symmetric matrices."""

from __future__ import annotations

from typing import Any

from wengert.base.export import export
from wengert.ops.factors import cholesky
from wengert.ops.linear_systems import solve_triangular
from wengert.ops.spectral import eigh


@export("wengert")
def lobpcg(
    A: Any,
    k: int | None = None,
    B: Any = None,
    X: Any = None,
    n: int | None = None,
    iK: Any = None,
    niter: int | None = None,
    tol: float | None = None,
    largest: bool | None = None,
    method: str | None = None,
) -> tuple[Any, Any]:
    """Return the largest or smallest eigenvalues of ``A x = λ B x``, and their eigenvectors.

    The symmetric part of `A` counts. Matrices are decomposed as a whole, so results are as exact as
    those of `wengert.linalg.eigh`. The arguments that steer PyTorch's iteration (`n`, `iK`,
    `niter`, `tol`, `method`, the values of `X`) have no effect.

    Parameters
    ----------
    A : Tensor. Of shape (..., m, m) and of a floating dtype.
    k : int, optional. The number of eigenvalues; default: the number of columns of `X`, or else 1.
    B : Tensor, optional. Symmetric and positive definite, of shape (..., m, m); default: the
        identity.
    X : Tensor, optional. Of shape (..., m, k).
    largest : bool, optional. Whether the largest are wanted, in descending order; the smallest come
        in ascending order.

    Returns
    -------
    tuple of Tensor: The eigenvalues, of shape (..., k), and the eigenvectors, of shape (..., m, k).
        Both are differentiable, to any order, where the eigenvalues of the whole matrix differ.

    Raises
    ------
    ValueError: If the matrix has fewer than `k` rows.

    Examples
    --------
    >>> values, vectors = wg.lobpcg(wg.diag(wg.tensor([3.0, 1.0, 2.0])), k=2)
    >>> values
    tensor([3., 2.])
    """
    count = k if k is not None else 1 if X is None else X.shape[-1]
    rows = A.shape[-1]
    if not 0 < count <= rows:
        raise ValueError(f"lobpcg: k = {count} eigenpairs are wanted of a matrix of {rows} rows")
    matrix = (A + A.mT) / 2
    if B is not None:
        factor = cholesky(B)
        half = solve_triangular(factor, matrix, upper=False)
        matrix = solve_triangular(factor, half.mT, upper=False)
    values, vectors = eigh(matrix)
    if B is not None:
        vectors = solve_triangular(factor.mT, vectors, upper=True)
    if largest is None or largest:
        values, vectors = values.flip(-1), vectors.flip(-1)
    return values[..., :count], vectors[..., :count]
