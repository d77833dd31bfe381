"""Layer 9 · compat: linear algebra under the names of ``jax.scipy.linalg``."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

import wengert.compat.jax.numpy as jnp
from wengert.base.extras import scipy_module
from wengert.compat.jax.array import asarray, made, promote
from wengert.compat.jax.numpy import linalg
from wengert.compat.jax.numpy.calling import (
    as_operands,
    finished,
    of_row,
    operands,
    plain,
    static,
)
from wengert.compat.jax.typing import Array
from wengert.compat.jax.words import refusal
from wengert.compat.kit.namespaces import closed, defined
from wengert.compat.kit.rows import of_rows
from wengert.compat.kit.signatures import signed
from wengert.scipy import linalg as _scipy
from wengert.scipy.matrices import matrix_function


def _matrix(name: str, a) -> Array:
    (x,) = as_operands(name, a, inexact=True)
    return x


def cholesky(a, lower: bool = False, overwrite_a: bool = False, check_finite: bool = True) -> Array:
    """Return the Cholesky factor of positive definite matrices: the upper one, unless `lower`."""
    return linalg.cholesky(_matrix("cholesky", a), upper=not lower)


def cho_factor(
    a, lower: bool = False, overwrite_a: bool = False, check_finite: bool = True
) -> tuple[Array, bool]:
    """Factorize like `cholesky`, and also return `lower`, as `cho_solve` expects."""
    return cholesky(a, lower), lower


def det(a, overwrite_a: bool = False, check_finite: bool = True) -> Array:
    """Return the determinants of matrices."""
    return linalg.det(a)


def inv(a, overwrite_a: bool = False, check_finite: bool = True) -> Array:
    """Return the inverses of matrices; NaN for a singular matrix."""
    return linalg.inv(a)


def cho_solve(c_and_lower, b, overwrite_b: bool = False, check_finite: bool = True) -> Array:
    """Solve a system given the Cholesky factor of its matrix."""
    factor, lower = c_and_lower
    first = solve_triangular(factor, b, trans=0 if lower else 2, lower=lower)
    return solve_triangular(factor, first, trans=2 if lower else 0, lower=lower)


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
    """Solve ``a @ x = b``.

    Parameters
    ----------
    assume_a : str. ``"gen"``, ``"sym"``, ``"her"``, or ``"pos"`` for a positive definite matrix.
    """
    if assume_a not in ("gen", "sym", "her", "pos"):
        raise refusal(ValueError, "Expected assume_a to be", assume_a)
    if assume_a != "pos":
        return linalg.solve(a, b)
    return cho_solve(cho_factor(a, lower), b)


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
    """Solve a triangular system.

    Parameters
    ----------
    trans : int or str. The system to solve: 0 or ``"N"`` for the matrix itself, 1 or ``"T"`` for
        its transpose, 2 or ``"C"`` for its conjugate transpose.
    """
    x, y = as_operands("solve_triangular", a, b, inexact=True)
    # a vector for each matrix
    vectors = 1 < y.ndim == x.ndim - 1
    right = plain(y[..., None] if vectors else y)
    found = made(_scipy.solve_triangular(plain(x), right, trans, lower, unit_diagonal))
    return found[..., 0] if vectors else found


def lu_solve(
    lu_and_piv, b, trans: int = 0, overwrite_b: bool = False, check_finite: bool = True
) -> Array:
    """Solve a system given the result of `lu_factor`."""
    both, pivots = lu_and_piv
    x, y = promote(both, b)
    return made(_scipy.lu_solve((plain(x), plain(asarray(pivots))), plain(y), trans))


def block_diag(*arrs) -> Array:
    """Place matrices along the diagonal of a large one."""
    given = promote(*operands("block_diag", *arrs)) if arrs else [jnp.zeros((1, 0))]
    if any(x.ndim > 2 for x in given):
        raise ValueError("Arguments to jax.scipy.linalg.block_diag must have at most 2 dimensions")
    return made(_scipy.block_diag(*map(plain, given)))


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
    """Return the eigenvalues and eigenvectors of Hermitian matrices."""
    if b is not None:
        raise NotImplementedError("Only the b=None case of eigh is implemented")
    if type != 1 or eigvals is not None:
        raise NotImplementedError("Only the type=1, eigvals=None case of eigh is implemented.")
    half = "L" if lower else "U"
    x = _matrix("eigh", a)
    if eigvals_only:
        return linalg.eigvalsh(x, half, symmetrize_input=False)
    return tuple(linalg.eigh(x, half, symmetrize_input=False))


def sqrtm(A, blocksize: int = 1) -> Array:
    """Return the square root of a matrix, which is complex."""
    return made(_scipy.sqrtm(plain(_matrix("sqrtm", A)))).astype(complex)


def funm(A, func: Callable[[Any], Any], disp: bool = True) -> Array:
    """Return the function of a matrix that `func` computes of its eigenvalues, as a complex matrix.

    An estimate of the error, for `disp` not set, is not there.
    """
    if not disp:
        raise NotImplementedError("jax.scipy.linalg.funm with disp=False: there is no estimate")
    scipys = scipy_module("linalg", "jax.scipy.linalg.funm").funm

    def of_values(array) -> Any:
        return scipys(array, lambda values: np.asarray(func(asarray(values))))

    return made(matrix_function(of_values, plain(_matrix("funm", A)))).astype(complex)


_UNSEEN = frozenset(
    {
        "blocksize",
        "debug",
        "eps",
        "max_iterations",
        "max_squarings",
        "method",
        "tol",
        "turbo",
        "upper_triangular",
    }
)
"""Options of JAX's implementation that have no effect here."""


def _constant(name: str, parameters: str, text: str) -> Callable[..., Any]:
    """Build the counterpart of SciPy's function for constants: no transform can follow it."""

    def compute(given: dict[str, Any]) -> Any:
        dtype = given.pop("dtype", None)
        numbers = {key: static(v, key) if key == "n" else v for key, v in given.items()}
        function = getattr(scipy_module("linalg", f"jax.scipy.linalg.{name}"), name)
        arrays = {key: np.asarray(_matrix(name, v)) for key, v in given.items() if key in "aTZ"}
        found = function(**(numbers | arrays))
        if arrays:
            return finished(found)
        return asarray(found, dtype or (float if found.dtype.kind in "iuf" else complex))

    return signed(name, parameters, compute, f"{text}\n\nSee `scipy.linalg.{name}`.")


def _row(name: str, parameters: str, meeting: str, text: str) -> Callable[..., Any]:
    """Build the counterpart of SciPy's function for arrays."""
    function = getattr(_scipy, name)

    def compute(*arrays, weak: bool, **options) -> Any:
        rest = {key: value for key, value in options.items() if key not in _UNSEEN}
        first, *others = arrays
        return linalg.or_nan(
            lambda x: finished(function(plain(x), *map(plain, others), **rest)), first
        )

    return of_row(name, parameters, meeting, text, compute, "scipy.linalg")


of_rows(
    globals(),
    _row,
    """
    circulant | c | own | Return the matrix whose columns are rotations of a vector.
    companion | a | inexact | Return the companion matrix of a polynomial.
    convolution_matrix | a, n, mode="full" | own | Return the matrix that convolves with a vector.
    eigh_tridiagonal | d, e, *, eigvals_only=False, tol=None | inexact
        | Return the eigenvalues and eigenvectors of a symmetric tridiagonal matrix.
    expm | A, *, upper_triangular=False, max_squarings=16 | inexact
        | Return the exponential of matrices.
    expm_frechet | A, E, *, method=None, compute_expm=True | inexact
        | Return the exponential of a matrix and its derivative in a direction.
    fiedler | a | own | Return the matrix of distances between the elements of a vector.
    hankel | c, r=None | same r
        | Return the matrix with constant antidiagonals, given its first column and last row.
    leslie | f, s | same | Return the Leslie matrix of fertility and survival rates.
    lu | a, permute_l=False, overwrite_a=False, check_finite=True | inexact
        | Return the factors of ``a = p @ l @ u``, or of ``a = (p @ l) @ u`` for `permute_l`.
    lu_factor | a, overwrite_a=False, check_finite=True | inexact
        | Return both triangular factors in one matrix, and the pivots (see `lu_solve`).
    polar | a, side="right", *, method="svd", eps=None, max_iterations=None | inexact
        | Return a unitary and a positive factor; the latter is on the given `side`.
    qr | a, overwrite_a=False, lwork=None, mode="full", pivoting=False, check_finite=True | inexact
        | Return orthogonal and triangular factors, by ``mode`` ``"full"``, ``"economic"``, ``"r"``.
    solve_sylvester | A, B, C, *, method="schur", tol=1e-8 | inexact
        | Return the solution X of ``A @ X + X @ B = C``.
    svd | a, full_matrices=True, compute_uv=True, overwrite_a=False, check_finite=True,
        lapack_driver="gesdd" | inexact | Return the singular value decomposition.
    toeplitz | c, r=None | same r
        | Return the matrix with constant diagonals, given its first column and first row.
    """,
)
of_rows(
    globals(),
    _constant,
    """
    dft | n, scale=None, *, dtype=None | Return the matrix of the discrete Fourier transform.
    hessenberg | a, *, calc_q=False, overwrite_a=False, check_finite=True
        | Return the Hessenberg form H of ``a = Q @ H @ Q^H``, and Q for `calc_q`.
    rsf2csf | T, Z, check_finite=True | Return the complex Schur form for the real one.
    schur | a, output="real" | Return T and Z of the Schur form ``a = Z @ T @ Z^H``.
    hadamard | n, dtype=int | Return the Hadamard matrix; its size is a power of 2.
    helmert | n, full=False | Return the Helmert matrix.
    hilbert | n | Return the Hilbert matrix.
    invhilbert | n | Return the inverse of the Hilbert matrix.
    invpascal | n, kind="symmetric" | Return the inverse of the Pascal matrix.
    pascal | n, kind="symmetric" | Return the Pascal matrix: symmetric, lower or upper.
    """,
)

__getattr__ = closed(globals())

__all__ = defined(globals())
