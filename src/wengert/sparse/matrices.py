"""Layer 8 · sparse: products with sparse matrices, and solutions of sparse linear systems."""

from __future__ import annotations

from typing import Any

import numpy as np

from wengert.autograd.function import Function
from wengert.base.extras import scipy_module
from wengert.ops.create import as_tensor
from wengert.sparse.links import Link
from wengert.sparse.products import rows_times


class _Linear(Function):
    """A linear function of one tensor, as a map of arrays and its transpose."""

    @staticmethod
    def forward(ctx: Any, x: Any, map: Any) -> Any:
        ctx.map, ctx.shape = map, tuple(x.shape)
        return as_tensor(map.of(x.detach().numpy()))

    @staticmethod
    def backward(ctx: Any, grad_output: Any) -> Any:
        return _Linear.apply(grad_output, ctx.map.transposed()), None

    @staticmethod
    def jvp(ctx: Any, tangent: Any, _: Any) -> Any:
        return _Linear.apply(tangent, ctx.map)

    @staticmethod
    def vmap(info: Any, in_dims: tuple[Any, ...], x: Any, map: Any) -> Any:
        # the batch as further columns
        x = x.movedim(in_dims[0], 1)
        several = tuple(x.shape[1:])
        made = _Linear.apply(x.reshape(x.shape[0], -1), map)
        return made.reshape(made.shape[0], *several), 1

    @staticmethod
    def links(node: Any, result: tuple[int, ...]) -> list[Any]:
        """Return the links of a node, for patterns."""
        shape = node.shape
        return [(shape, [node.map.link(1 if len(shape) == 1 else shape[1])])]


class _Product:
    """``matrix @ x``."""

    def __init__(self, matrix: Any) -> None:
        self.matrix = matrix

    def of(self, x: Any) -> Any:
        """Return the product with an array."""
        return np.asarray(self.matrix @ x)

    def transposed(self) -> _Product:
        """Return the product with the transpose, conjugated for complex values."""
        return _Product(self.matrix.conj().T)

    def link(self, columns: int) -> Link | None:
        """Return the link for a number of columns."""
        entries = self.matrix.tocoo()
        return rows_times(entries.row, entries.col, entries.shape, columns)


class _Inverse:
    """``x`` with ``matrix @ x = b``, from a factorisation that also serves the transpose."""

    def __init__(self, factors: Any, trans: str) -> None:
        self.factors = factors
        self.trans = trans

    def of(self, b: Any) -> Any:
        """Return the solution for an array."""
        return self.factors.solve(np.asarray(b, np.float64), trans=self.trans)

    def transposed(self) -> _Inverse:
        """Return the inverse of the transpose."""
        return _Inverse(self.factors, "N" if self.trans == "T" else "T")

    def link(self, columns: int) -> Link | None:
        """Return the link for a number of columns: each column is dense."""
        size = self.factors.shape[0]
        row, column = np.divmod(np.arange(size * size), size)
        return rows_times(row, column, (size, size), columns)


def _checked(matrix: Any, x: Any, name: str) -> Any:
    sparse = scipy_module("sparse", f"wengert.sparse.{name}")
    if not sparse.issparse(matrix):
        raise TypeError(
            f"wengert.sparse.{name}: expected a matrix of scipy.sparse, but got "
            f"{type(matrix).__name__}; for dense ones there are wengert.matmul and wengert.linalg"
        )
    if x.ndim not in (1, 2) or x.shape[0] != matrix.shape[-2 if name == "solve" else -1]:
        raise ValueError(
            f"wengert.sparse.{name}: a matrix of shape {tuple(matrix.shape)} does not go with an "
            f"array of shape {tuple(x.shape)}"
        )
    return sparse


def matmul(matrix: Any, x: Any) -> Any:
    """Multiply a constant sparse matrix with a tensor, differentiably.

    Parameters
    ----------
    matrix : sparse matrix or array of scipy.sparse. Of shape ``(m, n)``; constant.
    x : Tensor. Of shape ``(n,)`` or ``(n, k)``.

    Returns
    -------
    Tensor: Of shape ``(m,)`` or ``(m, k)``; differentiable with respect to `x`, to any order.
        `pattern` uses the matrix's entries.

    Raises
    ------
    TypeError: If `matrix` is not sparse.
    ValueError: If the shapes do not go together.

    Examples
    --------
    >>> import scipy.sparse
    >>> steps = scipy.sparse.diags_array([-1.0, 1.0], offsets=[0, 1], shape=(3, 4)).tocsr()
    >>> x = wg.tensor([1.0, 2.0, 4.0, 7.0], dtype=wg.float64, requires_grad=True)
    >>> y = wg.sparse.matmul(steps, x)
    >>> (y * y).sum().backward()
    >>> y.tolist(), x.grad.tolist()
    ([1.0, 2.0, 3.0], [-2.0, -2.0, -2.0, 6.0])
    """
    x = as_tensor(x)
    _checked(matrix, x, "matmul")
    return _Linear.apply(x, _Product(matrix))


def solve(matrix: Any, b: Any) -> Any:
    """Solve ``matrix @ x = b`` for a constant sparse matrix, differentiably.

    The matrix is factorised once, for the solution and for all its derivatives.

    Parameters
    ----------
    matrix : sparse matrix or array of scipy.sparse. Of shape ``(n, n)``, real; constant.
    b : Tensor. Real, of shape ``(n,)`` or ``(n, k)``.

    Returns
    -------
    Tensor: Of the shape of `b` and float64; differentiable with respect to `b`, to any order.

    Raises
    ------
    TypeError: If `matrix` is not sparse, or something is complex.
    ValueError: If the shapes do not go together.
    RuntimeError: If the matrix is singular.

    Examples
    --------
    >>> import scipy.sparse
    >>> matrix = scipy.sparse.diags_array([2.0, 4.0, 8.0]).tocsc()
    >>> b = wg.ones(3, dtype=wg.float64, requires_grad=True)
    >>> wg.sparse.solve(matrix, b).sum().backward()
    >>> b.grad.tolist()
    [0.5, 0.25, 0.125]
    """
    b = as_tensor(b)
    _checked(matrix, b, "solve")
    if matrix.shape[0] != matrix.shape[1]:
        raise ValueError(f"wengert.sparse.solve: the matrix is not square: {matrix.shape}")
    if matrix.dtype.kind == "c" or b.dtype.is_complex:
        raise TypeError("wengert.sparse.solve: complex values are not supported")
    linear = scipy_module("sparse.linalg", "wengert.sparse.solve")
    factors = linear.splu(matrix.tocsc().astype(np.float64))
    return _Linear.apply(b.double(), _Inverse(factors, "N"))
