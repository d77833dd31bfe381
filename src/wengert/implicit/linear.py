"""Layer 8 · implicit: a Jacobian as a linear map, and systems of linear equations with it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from wengert.base.extras import scipy_module
from wengert.kernels.spectral import LinAlgError

SOLVERS = ("dense", "cg", "bicgstab", "gmres")


class LinearMap:
    """A square matrix known by its products with vectors: ``A(v)``, and ``A.T(v)``.

    Vectors are one-dimensional NumPy arrays of doubles.

    Parameters
    ----------
    matvec, rmatvec : callable. Return the product of the matrix, and of its transpose, with a
        vector.
    size : int. The number of rows and columns.

    Attributes
    ----------
    shape, dtype: As of the matrix.

    Examples
    --------
    >>> from wengert.implicit import LinearMap
    >>> A = LinearMap(lambda v: 2 * v[::-1], lambda v: 2 * v[::-1], 2)
    >>> A(np.array([1.0, 3.0])), A.T.to_dense()
    (array([6., 2.]), array([[0., 2.],
           [2., 0.]]))
    """

    dtype = np.dtype(np.float64)

    def __init__(
        self, matvec: Callable[[Any], Any], rmatvec: Callable[[Any], Any], size: int
    ) -> None:
        self.matvec = matvec
        self.rmatvec = rmatvec
        self.shape = (size, size)

    def __call__(self, vector: Any) -> Any:
        """Return the product with a vector."""
        return self.matvec(np.asarray(vector, dtype=np.float64))

    @property
    def T(self) -> LinearMap:
        """The transposed matrix."""
        return LinearMap(self.rmatvec, self.matvec, self.shape[0])

    def to_dense(self) -> Any:
        """Return the matrix itself, computed with one product per column."""
        size = self.shape[0]
        columns = [self.matvec(unit) for unit in np.eye(size)]
        return np.stack(columns, axis=-1) if columns else np.zeros((0, 0))

    def to_scipy(self) -> Any:
        """Return the map as a ``scipy.sparse.linalg.LinearOperator``."""
        linalg = scipy_module("sparse.linalg", "to_scipy")
        return linalg.LinearOperator(
            self.shape, matvec=self.matvec, rmatvec=self.rmatvec, dtype=self.dtype
        )


def solution(solve: Any, matrix: LinearMap, b: Any, rtol: float, what: str) -> Any:
    """Return the x with ``matrix(x) == b``, by one of SciPy's solvers or the user's.

    Parameters
    ----------
    solve: One of `SOLVERS` without "dense", or a callable that takes the map and the vector.
    rtol: The relative tolerance of SciPy's solvers.
    what: The function whose Jacobian it is, for errors.

    Raises
    ------
    LinAlgError: If the solver does not converge, or returns values that are not finite.
    ValueError: If a callable returns a vector of another size.
    """
    if not callable(solve):
        return _by_scipy(solve, matrix, b, rtol, what)
    x = np.asarray(solve(matrix, b), dtype=np.float64)
    if x.shape != b.shape:
        raise ValueError(
            f"{what}: the linear solver given as `solve` must return a vector of the shape of its "
            f"right-hand side, {b.shape}, but returned one of shape {x.shape}"
        )
    if not np.isfinite(x).all():
        raise LinAlgError(
            f"{what}: the linear solver given as `solve` returned values that are not finite"
        )
    return x


def _by_scipy(name: str, matrix: LinearMap, b: Any, rtol: float, what: str) -> Any:
    if not b.any():
        return np.zeros_like(b)
    linalg = scipy_module("sparse.linalg", f"{what} with solve={name!r}")
    options: dict[str, Any] = {"rtol": rtol, "atol": 0.0}
    if name == "gmres":
        options["restart"] = min(len(b), 100)
    x, info = getattr(linalg, name)(matrix.to_scipy(), b, **options)
    if info != 0 or not np.isfinite(x).all():
        left = np.linalg.norm(matrix(x) - b) / np.linalg.norm(b)
        hint = ' "cg" needs a symmetric positive definite Jacobian.' if name == "cg" else ""
        raise LinAlgError(
            f"{what}: {name} did not solve the linear system with the Jacobian: the "
            f"residual is {left:.1e} of the right-hand side, not {rtol:.0e}. "
            f'The Jacobian is singular or badly conditioned.{hint} Give solve="dense", or a '
            "callable (matvec, b) -> x with a preconditioner."
        )
    return x
