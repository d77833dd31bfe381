"""Layer 9 · compat: `jax.lax.linalg`: factors of matrices under the names of `jax.lax`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import wengert.compat.jax.numpy as jnp
from wengert.compat.jax.numpy import linalg
from wengert.compat.jax.numpy.calling import as_operands, finished, plain
from wengert.compat.jax.scipy import linalg as scipy_linalg
from wengert.compat.jax.words import refusal
from wengert.compat.kit.namespaces import defined
from wengert.ops import factors


def _check_options(name: str, options: dict[str, Any]) -> None:
    """Refuse options that ask for another result; those of the implementation have no effect."""
    for option in ("pivoting", "subset_by_index"):
        if options.get(option):
            raise NotImplementedError(f"lax.linalg.{name} with {option}=: it is not there")


def cholesky(x, *, symmetrize_input=True) -> Any:
    """Return the lower Cholesky factor of positive definite matrices."""
    return linalg.cholesky(x, symmetrize_input=symmetrize_input)


def eig(x, *, compute_left_eigenvectors=True, compute_right_eigenvectors=True) -> Any:
    """Return the eigenvalues and eigenvectors of matrices."""
    if compute_left_eigenvectors:
        raise refusal(NotImplementedError, "lax.linalg.eig with left")
    found = linalg.eig(x)
    return list(found) if compute_right_eigenvectors else [found[0]]


def eigh(x, *, lower=True, symmetrize_input=True, sort_eigenvalues=True, **options) -> Any:
    """Return the eigenvectors and eigenvalues of symmetric matrices."""
    _check_options("eigh", options)
    half = "L" if lower else "U"
    w, v = linalg.eigh(x, half, symmetrize_input)
    return v, w


def _called(function: Callable[..., Any], *args, **options) -> Any:
    given = as_operands(f"lax.linalg.{function.__name__}", *args, inexact=True)
    return finished(function(*map(plain, given), **options))


def householder_product(a, taus) -> Any:
    """Return Q of the reflections of `geqrf`."""
    return _called(factors.householder_product, a, taus)


def ormqr(a, taus, c, *, left=True, transpose=False) -> Any:
    """Multiply `c` by Q of the reflections of `geqrf`, or by its adjoint."""
    return _called(factors.ormqr, a, taus, c, left=left, transpose=transpose)


def lu(x) -> Any:
    """Return the LU factors in one matrix, the pivots, and the permutation of rows."""
    packed, pivots = scipy_linalg.lu_factor(x)
    order, _, _ = scipy_linalg.lu(x)
    return packed, pivots, jnp.argmax(jnp.swapaxes(order.real, -1, -2), -1)


def qr(x, *, full_matrices=True, **options) -> Any:
    """Return the QR factors."""
    _check_options("qr", options)
    return tuple(linalg.qr(x, "complete" if full_matrices else "reduced"))


def schur(x, *, compute_schur_vectors=True, sort_eig_vals=False, select_callable=None) -> Any:
    """Return the Schur form of matrices, and its vectors."""
    if sort_eig_vals:
        raise NotImplementedError("schur: sort_eig_vals=True is not offered, as in JAX on CPUs")
    return list(scipy_linalg.schur(x))[: 1 + compute_schur_vectors]


def svd(x, *, full_matrices=True, compute_uv=True, **options) -> Any:
    """Return the singular value decomposition."""
    _check_options("svd", options)
    found = linalg.svd(x, full_matrices=full_matrices, compute_uv=compute_uv)
    return tuple(found) if compute_uv else (found,)


def tridiagonal_solve(dl, d, du, b, **options) -> Any:
    """Solve tridiagonal systems."""
    dl, d, du, b = map(jnp.asarray, (dl, d, du, b))
    matrix = jnp.apply_along_axis(jnp.diag, -1, d)
    matrix = matrix + jnp.apply_along_axis(lambda x: jnp.diag(x[1:], -1), -1, dl)
    matrix = matrix + jnp.apply_along_axis(lambda x: jnp.diag(x[:-1], 1), -1, du)
    return linalg.solve(matrix, b)


def triangular_solve(
    a, b, *, left_side=False, lower=False, transpose_a=False, conjugate_a=False, unit_diagonal=False
) -> Any:
    """Solve ``a @ x = b`` or ``x @ a = b`` for a triangular matrix."""
    a, b = jnp.asarray(a), jnp.asarray(b)
    if conjugate_a:
        a = jnp.conj(a)
    vector = b.ndim == a.ndim - 1
    if vector:
        b = b[..., None] if left_side else b[..., None, :]
    if not left_side:
        b, transpose_a = jnp.swapaxes(b, -1, -2), not transpose_a
    x = scipy_linalg.solve_triangular(
        a, b, trans=int(transpose_a), lower=lower, unit_diagonal=unit_diagonal
    )
    if not left_side:
        x = jnp.swapaxes(x, -1, -2)
    return (x[..., 0] if left_side else x[..., 0, :]) if vector else x


__all__ = defined(globals())
