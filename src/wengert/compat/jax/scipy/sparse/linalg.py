"""Layer 9 · compat: `jax.scipy.sparse.linalg`: iterative solvers for matrices given as functions.

Solutions are differentiated implicitly, by a system with the transposed matrix, not through the
iterations.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import wengert.compat.jax.numpy as jnp
from wengert.compat.jax.flatten_util import ravel_pytree
from wengert.compat.jax.lax_control import NAMES as LAX
from wengert.compat.jax.trees import tree_structure
from wengert.compat.jax.words import refusal
from wengert.compat.kit.namespaces import defined

_while = LAX["while_loop"]


def _system(A, like) -> Callable[[Any], Any]:
    """Return the matrix as a function of flat vectors."""
    if not callable(A):
        return lambda x: A @ x
    _, back = ravel_pytree(like)
    return lambda x: ravel_pytree(A(back(x)))[0]


def _norm2(x) -> Any:
    return jnp.vdot(x, x).real


def _conjugate_gradients(A, b, x, M, least, maxiter: int) -> Any:
    def going(state) -> Any:
        _, r, _, gamma, k = state
        return ((_norm2(r) if M is not None else gamma.real) > least) & (k < maxiter)

    def step(state) -> Any:
        x, r, p, gamma, k = state
        moved = A(p)
        alpha = gamma / jnp.vdot(p, moved)
        x, r = x + alpha * p, r - alpha * moved
        z = r if M is None else M(r)
        after = jnp.vdot(r, z)
        return x, r, z + after / gamma * p, after, k + 1

    r = b - A(x)
    z = r if M is None else M(r)
    return _while(going, step, (x, r, z, jnp.vdot(r, z), 0))[0]


def _bicgstab(A, b, x, M, least, maxiter: int) -> Any:
    M = M or (lambda r: r)

    def going(state) -> Any:
        _, r, *_, k = state
        return (_norm2(r) > least) & (k < maxiter) & (k >= 0)

    def step(state) -> Any:
        x, r, shadow, alpha, omega, rho, p, q, k = state
        after = jnp.vdot(shadow, r)
        beta = after / rho * alpha / omega
        p = r + beta * (p - omega * q)
        toward = M(p)
        q = A(toward)
        alpha = after / jnp.vdot(shadow, q)
        s = r - alpha * q
        early = _norm2(s) < least
        other = M(s)
        t = A(other)
        omega = jnp.vdot(t, s) / jnp.vdot(t, t)
        x = jnp.where(early, x + alpha * toward, x + alpha * toward + omega * other)
        r = jnp.where(early, s, s - omega * t)
        broken = (omega == 0) | (alpha == 0)
        k = jnp.where(broken & ~early, -11, jnp.where(after == 0, -10, k + 1))
        return x, r, shadow, alpha, omega, after, p, q, k

    r = b - A(x)
    one = jnp.ones((), b.dtype)
    state = (x, r, r, one, one, one, r * 0, r * 0, jnp.zeros((), int))
    return _while(going, step, state)[0]


def _gmres(A, b, x, M, least, maxiter: int, restart: int) -> Any:
    M = M or (lambda r: r)
    size = min(restart, b.shape[0])

    def going(state) -> Any:
        _, r, k = state
        return (_norm2(r) > least) & (k < maxiter)

    def step(state) -> Any:
        x, r, k = state
        beta = jnp.sqrt(_norm2(r))
        basis = [r / jnp.where(beta == 0, 1, beta)]
        columns = []
        for j in range(size):
            w = M(A(basis[-1]))
            V = jnp.stack(basis)
            h = jnp.conj(V) @ w
            w = w - h @ V
            again = jnp.conj(V) @ w  # again, to correct for rounding
            w = w - again @ V
            length = jnp.sqrt(_norm2(w))
            found = length > jnp.finfo(b.dtype).eps * beta
            length = jnp.where(found, length, 0)
            basis.append(jnp.where(found, w / jnp.where(found, length, 1), 0))
            column = jnp.concatenate([h + again, length[None].astype(b.dtype)])
            columns.append(jnp.pad(column, (0, size - 1 - j)))
        H = jnp.stack(columns, 1)
        right = jnp.zeros(size + 1, b.dtype).at[0].set(beta)
        y = jnp.linalg.lstsq(H, right)[0]
        x = x + y @ jnp.stack(basis[:-1])
        return x, M(b - A(x)), k + 1

    return _while(going, step, (x, M(b - A(x)), 0))[0]


def _solved(
    method: Callable[..., Any],
    A,
    b,
    x0,
    tol: float,
    atol: float,
    maxiter: int | None,
    M,
    symmetric: bool,
    **options,
) -> tuple[Any, None]:
    if x0 is None:
        x0 = b * 0 if not tree_structure(b).children() else None
    flat, back = ravel_pytree(b)
    start = jnp.zeros_like(flat) if x0 is None else ravel_pytree(x0)[0]
    if x0 is not None and tree_structure(x0) != tree_structure(b):
        raise refusal(ValueError, "x0 and b must", tree_structure(x0), tree_structure(b))
    if start.shape != flat.shape:
        raise refusal(ValueError, "arrays in x0 and b must", start, flat)
    limit = 10 * flat.shape[0] if maxiter is None else maxiter
    before = None if M is None else _system(M, b)

    def solve(matvec, right) -> Any:
        least = jnp.maximum(tol**2 * _norm2(right), atol**2)
        return method(matvec, right, start, before, least, limit, **options)

    x = LAX["custom_linear_solve"](
        _system(A, b), flat, solve=solve, transpose_solve=solve, symmetric=symmetric
    )
    return back(x), None


def cg(
    A, b, x0=None, *, tol=1e-5, atol=0.0, maxiter: int | None = None, M=None
) -> tuple[Any, None]:
    """Solve a positive definite system by conjugate gradients.

    Parameters
    ----------
    A : callable or Array. The matrix, or a function that multiplies a vector by it.
    b : pytree of Array. The right side.
    x0 : pytree of Array, optional. The initial guess.
    tol, atol : float. The tolerances on the residual: ``norm(r) <= max(tol * norm(b), atol)``.
    maxiter : int, optional. The maximum number of iterations.
    M : callable or Array, optional. An approximate inverse of the matrix.

    Examples
    --------
    >>> A = jax.numpy.array([[2.0, 0.0], [0.0, 4.0]])
    >>> jax.scipy.sparse.linalg.cg(A, jax.numpy.ones(2))[0]
    Array([0.5 , 0.25], dtype=float32)
    """
    return _solved(_conjugate_gradients, A, b, x0, tol, atol, maxiter, M, True)


def bicgstab(
    A, b, x0=None, *, tol=1e-5, atol=0.0, maxiter: int | None = None, M=None
) -> tuple[Any, None]:
    """Solve a system by stabilized biconjugate gradients (see `cg`)."""
    return _solved(_bicgstab, A, b, x0, tol, atol, maxiter, M, False)


def gmres(
    A,
    b,
    x0=None,
    *,
    tol=1e-5,
    atol=0.0,
    restart=20,
    maxiter: int | None = None,
    M=None,
    solve_method="batched",
) -> tuple[Any, None]:
    """Solve a system by GMRES, restarted every `restart` vectors (see `cg`)."""
    if solve_method not in ("batched", "incremental"):
        raise refusal(ValueError, "invalid solve_method {}", solve_method)
    return _solved(_gmres, A, b, x0, tol, atol, maxiter, M, False, restart=restart)


__all__ = defined(globals())
