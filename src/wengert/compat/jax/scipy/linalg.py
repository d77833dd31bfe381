"""Layer 9 · compat: linear algebra under the names of ``jax.scipy.linalg``."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

import wengert.compat.jax.numpy as jnp
from wengert.base.sections import fill_sections
from wengert.compat.jax.array import Array, asarray, made, promote
from wengert.compat.jax.numpy import linalg
from wengert.compat.jax.numpy.calling import as_operands, operands, plain, static
from wengert.compat.kit.namespaces import closed, defined
from wengert.ops import linear_systems, matrix_functions
from wengert.scipy import linalg as _scipy

_CURES = {
    "companion": "write it by jnp.eye and x.at[...].set",
    "eigh_tridiagonal": "write jax.scipy.linalg.eigh of the whole matrix",
    "funm": "write by jnp.linalg.eigh or eig",
    "hessenberg": "its derivative is not there: write scipy.linalg.hessenberg on np.asarray(a)",
    "logm": "JAX has none either: write by jnp.linalg.eigh",
    "rsf2csf": "its derivative is not there: write scipy.linalg.rsf2csf on np.asarray(a)",
    "schur": "its derivative is not there: write scipy.linalg.schur on np.asarray(a)",
    "solve_sylvester": "write jnp.linalg.solve with jnp.kron",
    "sqrtm": "of a symmetric matrix: w, v = jnp.linalg.eigh(a); (v * jnp.sqrt(w)) @ v.T",
}


def _matrix(name: str, a) -> Array:
    (x,) = as_operands(name, a, inexact=True)
    return x


def cholesky(a, lower: bool = False, overwrite_a: bool = False, check_finite: bool = True) -> Array:
    """The triangular factor of positive definite matrices: the upper one, unless `lower`."""
    x = _matrix("cholesky", a)
    return linalg.cholesky(x, upper=not lower)


def cho_factor(
    a, lower: bool = False, overwrite_a: bool = False, check_finite: bool = True
) -> tuple[Array, bool]:
    """As `cholesky`, with `lower`, as `cho_solve` takes it."""
    return cholesky(a, lower), lower


def cho_solve(c_and_lower, b, overwrite_b: bool = False, check_finite: bool = True) -> Array:
    """The solution of a system, by the factor of its matrix."""
    factor, lower = c_and_lower
    first = solve_triangular(factor, b, trans=0 if lower else 2, lower=lower)
    return solve_triangular(factor, first, trans=2 if lower else 0, lower=lower)


def det(a, overwrite_a: bool = False, check_finite: bool = True) -> Array:
    """The determinants of matrices."""
    return linalg.det(a)


def inv(a, overwrite_a: bool = False, check_finite: bool = True) -> Array:
    """The inverses of matrices."""
    return linalg.inv(a)


def solve(
    a,
    b,
    lower: bool = False,
    overwrite_a: bool = False,
    overwrite_b: bool = False,
    debug: bool = False,
    check_finite: bool = True,
    assume_a: str = "gen",
) -> Array:
    """The solution x of ``a @ x = b``.

    Parameters
    ----------
    assume_a : str. ``"gen"``, ``"sym"``, ``"her"``, or ``"pos"`` for a positive definite matrix.
    """
    if assume_a not in ("gen", "sym", "her", "pos"):
        raise ValueError(
            f"Expected assume_a to be one of ['gen', 'her', 'pos', 'sym']; got {assume_a!r}"
        )
    if assume_a != "pos":
        return linalg.solve(a, b)
    return cho_solve(cho_factor(a, lower=lower), b)


def solve_triangular(
    a,
    b,
    trans=0,
    lower: bool = False,
    unit_diagonal: bool = False,
    overwrite_b: bool = False,
    debug=None,
    check_finite: bool = True,
) -> Array:
    """The solution of a system whose matrix is triangular.

    Parameters
    ----------
    trans : int or str. 0 or ``"N"``: the matrix itself, 1 or ``"T"``: transposed, 2 or ``"C"``: and
        conjugated.
    """
    x, y = as_operands("solve_triangular", a, b, inexact=True)
    if trans not in (0, 1, 2, "N", "T", "C"):
        raise ValueError(f"Invalid 'trans' value {trans}")
    transposed = trans not in (0, "N")
    if transposed:
        x = jnp.matrix_transpose(x)
    if trans in (2, "C"):
        x = jnp.conj(x)
    vector = y.ndim == 1 or (y.ndim == x.ndim - 1 and y.ndim != 1)
    right = y[..., None] if vector else y
    found = made(
        linear_systems.solve_triangular(
            plain(x), plain(right), upper=lower == transposed, unitriangular=unit_diagonal
        )
    )
    return found[..., 0] if vector else found


def lu(a, permute_l: bool = False, overwrite_a: bool = False, check_finite: bool = True) -> Any:
    """The factors of ``a = p @ l @ u``; of ``a = (p @ l) @ u`` for `permute_l`."""
    return made(_scipy.lu(plain(_matrix("lu", a)), permute_l))


def lu_factor(a, overwrite_a: bool = False, check_finite: bool = True) -> tuple[Array, Array]:
    """Both triangular factors in one matrix, and which rows changed places (see `lu_solve`)."""
    both, pivots = _scipy.lu_factor(plain(_matrix("lu_factor", a)))
    return made(both), asarray(made(pivots), np.int32)


def lu_solve(
    lu_and_piv, b, trans: int = 0, overwrite_b: bool = False, check_finite: bool = True
) -> Array:
    """The solution of a system by what `lu_factor` gave."""
    both, pivots = lu_and_piv
    x, y = promote(both, b)
    return made(_scipy.lu_solve((plain(x), plain(asarray(pivots))), plain(y), trans))


def qr(
    a,
    overwrite_a: bool = False,
    lwork=None,
    mode: str = "full",
    pivoting: bool = False,
    check_finite: bool = True,
) -> Any:
    """Orthogonal and triangular factors; ``mode`` is ``"full"``, ``"economic"`` or ``"r"``."""
    if pivoting:
        raise NotImplementedError("jax.scipy.linalg.qr with pivoting=True is not there")
    names = {"full": "complete", "economic": "reduced", "r": "r"}
    if mode not in names:
        raise ValueError(f"Unsupported QR decomposition mode '{mode}'")
    if mode == "r":
        return (linalg.qr(_matrix("qr", a), "complete")[1],)
    return tuple(linalg.qr(_matrix("qr", a), names[mode]))


def svd(
    a,
    full_matrices: bool = True,
    compute_uv: bool = True,
    overwrite_a: bool = False,
    check_finite: bool = True,
    lapack_driver: str = "gesdd",
) -> Any:
    """The singular value decomposition."""
    found = linalg.svd(a, full_matrices, compute_uv)
    return tuple(found) if compute_uv else found


def eigh(
    a,
    b=None,
    lower: bool = True,
    eigvals_only: bool = False,
    overwrite_a: bool = False,
    overwrite_b: bool = False,
    turbo: bool = True,
    eigvals=None,
    type: int = 1,
    check_finite: bool = True,
) -> Any:
    """The eigenvalues and eigenvectors of Hermitian matrices."""
    if b is not None:
        raise NotImplementedError("Only the b=None case of eigh is implemented")
    if type != 1 or eigvals is not None:
        raise NotImplementedError("Only the type=1, eigvals=None case of eigh is implemented.")
    half = "L" if lower else "U"
    x = _matrix("eigh", a)
    if eigvals_only:
        return linalg.eigvalsh(x, half, symmetrize_input=False)
    return tuple(linalg.eigh(x, half, symmetrize_input=False))


def expm(A, *, upper_triangular: bool = False, max_squarings: int = 16) -> Array:
    """The exponential of matrices.

    Examples
    --------
    >>> jax.scipy.linalg.expm(jax.numpy.zeros((2, 2)))
    Array([[1., 0.],
           [0., 1.]], dtype=float32)
    """
    x = _matrix("expm", A)
    if x.ndim < 2 or x.shape[-1] != x.shape[-2]:
        raise ValueError(
            f"Expected A to be a (batched) square matrix, got A.shape={tuple(x.shape)}."
        )
    return made(matrix_functions.matrix_exp(plain(x)))


def expm_frechet(A, E, *, method=None, compute_expm: bool = True) -> Any:
    """The exponential of a matrix and its derivative in a direction."""
    x, direction = as_operands("expm_frechet", A, E, inexact=True)
    return made(_scipy.expm_frechet(plain(x), plain(direction), None, compute_expm))


def polar(
    a, side: str = "right", *, method: str = "svd", eps=None, max_iterations=None
) -> tuple[Array, Array]:
    """A unitary factor and a positive one, on the `side` that is named."""
    return made(_scipy.polar(plain(_matrix("polar", a)), side))


# -- matrices of a form ----------------------------------------------------------------------------


def block_diag(*arrs) -> Array:
    """Matrices along the diagonal of a large one."""
    given = promote(*operands("block_diag", *arrs)) if arrs else [jnp.zeros((1, 0))]
    blocks = [jnp.atleast_2d(x) for x in given]
    if any(x.ndim > 2 for x in blocks):
        raise ValueError("Arguments to jax.scipy.linalg.block_diag must have at most 2 dimensions")
    width = sum(x.shape[1] for x in blocks)
    rows, at = [], 0
    for x in blocks:
        rows.append(jnp.pad(x, ((0, 0), (at, width - at - x.shape[1]))))
        at += x.shape[1]
    return jnp.concatenate(rows)


def toeplitz(c, r=None) -> Array:
    """The matrix of constant diagonals with a first column and a first row."""
    (column,) = operands("toeplitz", c)
    column = column.reshape(-1)
    row = jnp.conj(column) if r is None else operands("toeplitz", r)[0].reshape(-1)
    column, row = promote(column, row)
    m, n = column.size, row.size
    line = jnp.concatenate([column[::-1], row[1:]])
    places = (m - 1) - np.arange(m)[:, None] + np.arange(n)[None, :]
    return line[places]


def hankel(c, r=None) -> Array:
    """The matrix of constant diagonals from the left below, with a first column and a last row."""
    (column,) = operands("hankel", c)
    column = column.reshape(-1)
    row = jnp.zeros_like(column) if r is None else operands("hankel", r)[0].reshape(-1)
    column, row = promote(column, row)
    line = jnp.concatenate([column, row[1:]])
    return line[np.arange(column.size)[:, None] + np.arange(row.size)[None, :]]


def circulant(c) -> Array:
    """The matrix whose columns are one vector, moved on."""
    (x,) = operands("circulant", c)
    n = x.shape[-1]
    places = (np.arange(n)[:, None] - np.arange(n)[None, :]) % n
    return x[..., places]


def hilbert(n: int) -> Array:
    """The Hilbert matrix."""
    i = np.arange(1, static(n, "n") + 1)
    return asarray(1.0 / (i[:, None] + i - 1), float)


def hadamard(n: int, dtype=int) -> Array:
    """The Hadamard matrix of a size that is a power of 2."""
    if n < 1 or n & (n - 1):
        raise ValueError("n must be an positive integer, and n must be a power of 2")
    found = np.ones((1, 1))
    while len(found) < n:
        found = np.block([[found, found], [found, -found]])
    return asarray(found, dtype)


def pascal(n: int, kind: str | None = None) -> Array:
    """Pascal's triangle as a matrix: symmetric, ``"lower"`` or ``"upper"``."""
    triangle = np.array([[math.comb(i, j) for j in range(n)] for i in range(n)], float)
    if kind not in (None, "symmetric", "lower", "upper"):
        raise ValueError(f"Expected kind to be one of: 'lower', 'upper', 'symmetric'. Got {kind}")
    if kind == "lower":
        return asarray(triangle, float)
    if kind == "upper":
        return asarray(triangle.T, float)
    return asarray(triangle @ triangle.T, float)


def dft(n: int, scale: str | None = None, *, dtype=None) -> Array:
    """The matrix of the discrete Fourier transform."""
    factors_ = {None: 1.0, "sqrtn": 1 / math.sqrt(n), "n": 1 / n}
    if scale not in factors_:
        raise ValueError(f"scale must be None, 'sqrtn', or 'n'; {scale!r} is not valid.")
    i = np.arange(n)
    return asarray(np.exp(-2j * np.pi * i[:, None] * i / n) * factors_[scale], dtype or complex)


__getattr__ = closed(globals(), "jax.scipy.linalg", _CURES)

__all__ = defined(globals())

fill_sections(globals())
