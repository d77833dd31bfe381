"""Layer 8 · scipy: functions of `scipy.linalg` with derivatives.

They take numbers, arrays and tensors, compute in double precision unless the arrays have another
precision, and return tensors. Parameters are SciPy's. Those that only save memory or time
(``overwrite_a``, ``check_finite``, ...) are accepted by name and have no effect.

>>> import wengert.scipy.linalg as linalg
>>> a = wg.tensor([[4.0, 1.0], [0.0, 9.0]], requires_grad=True)
>>> linalg.sqrtm(a)
tensor([[2.0000, 0.2000],
        [0.0000, 3.0000]], grad_fn=<_MatrixFunctionBackward>)
>>> linalg.sqrtm(a).sum().backward()
>>> a.grad
tensor([[0.2400, 0.2000],
        [0.1840, 0.1600]])
"""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any

import numpy as np

import wengert.linalg as _linalg
from wengert.base.dtypes import finfo
from wengert.base.extras import scipy_module
from wengert.implicit.decorators import root as _root
from wengert.ops.join import cat, stack
from wengert.ops.ranges import eye
from wengert.ops.structure import block_diag as _block_diag
from wengert.scipy.matrices import banded, frechet, matrix_function, sylvester
from wengert.scipy.operands import idiom_of, of_idiom, operands, plain
from wengert.tape.base import TensorBase, new_tensor
from wengert.types import Tensor

__all__: list[str] = []

_IGNORED = {
    "overwrite_a",
    "overwrite_b",
    "overwrite_ab",
    "check_finite",
    "lapack_driver",
    "driver",
    "lwork",
    "workers",
}
"""Options of SciPy that affect only how results are computed."""
_ANY = "biufc"
"""The kinds of structured matrices, whose integers stay integers."""


def _of(count: int, kinds: str = "fc") -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Wrap a SciPy function whose first `count` arguments are matrices or vectors."""

    def decorated(function: Callable[..., Any]) -> Callable[..., Any]:
        name = function.__name__

        @wraps(function)
        def called(*args: Any, **options: Any) -> Any:
            given = {key: value for key, value in options.items() if key not in _IGNORED}
            kind = idiom_of(args)
            arrays = operands(name, *args[:count], kinds=kinds)
            return of_idiom(kind, function(*map(plain, arrays), *args[count:], **given))

        __all__.append(name)
        return called

    return decorated


def _square(x: Tensor) -> Tensor:
    if x.ndim < 2 or x.shape[-1] != x.shape[-2]:
        raise ValueError(f"expected square matrix: `a` has the shape {tuple(x.shape)}")
    return x


# -- systems of equations --------------------------------------------------------------------------


def _halves(a: Tensor, lower: bool, adjoint: bool) -> Tensor:
    """Return the full matrix that one triangle defines."""
    part = a.tril(-1) if lower else a.triu(1)
    middle = a.diagonal(0, -2, -1)
    return (
        part + (part.mH if adjoint else part.mT) + (middle.real if adjoint else middle).diag_embed()
    )


_READ: dict[str, Callable[[Tensor, bool], Tensor]] = {
    **dict.fromkeys(("gen", "general", "banded"), lambda a, lower: a),
    **dict.fromkeys(("sym", "symmetric"), lambda a, lower: _halves(a, lower, False)),
    **dict.fromkeys(
        ("her", "hermitian", "pos", "positive definite"), lambda a, lower: _halves(a, lower, True)
    ),
    "upper triangular": lambda a, lower: a.triu(),
    "lower triangular": lambda a, lower: a.tril(),
    "diagonal": lambda a, lower: a.triu().tril(),
    "tridiagonal": lambda a, lower: a.triu(-1).tril(1),
}
"""What is read of a matrix of a kind, as a full matrix."""


def _columns(b: Tensor, solve: Callable[[Tensor], Tensor]) -> Tensor:
    """Solve for right-hand sides in columns, or for one vector."""
    return solve(b.unsqueeze(-1)).squeeze(-1) if b.ndim == 1 else solve(b)


@_of(2)
def solve(
    a: Any, b: Any, lower: bool = False, *, assume_a: str | None = None, transposed: bool = False
) -> Tensor:
    """Solve ``a @ x = b`` (see `scipy.linalg.solve`)."""
    _square(a)
    read = _READ.get(assume_a or "general")
    if read is None:
        raise ValueError(f"{assume_a} is not a recognized matrix structure: one of {list(_READ)}")
    a = read(a, lower)
    if transposed:
        a = a.mT
    return _columns(b, lambda b: _linalg.solve(a, b))


@_of(2)
def solve_triangular(
    a: Any, b: Any, trans: Any = 0, lower: bool = False, unit_diagonal: bool = False
) -> Tensor:
    """Solve ``a @ x = b`` for one triangle of `a` (see `scipy.linalg.solve_triangular`).

    The other triangle of `a` is not read.
    """
    if trans not in (0, 1, 2, "N", "T", "C"):
        raise ValueError(f"Invalid 'trans' value {trans}: it is one of 0, 1, 2, 'N', 'T', 'C'")
    _square(a)
    if trans not in (0, "N"):
        a, lower = a.mH if trans in (2, "C") else a.mT, not lower
    unit = bool(unit_diagonal)
    return _columns(
        b, lambda b: _linalg.solve_triangular(a, b, upper=not lower, unitriangular=unit)
    )


@_of(1)
def inv(a: Any) -> Tensor:
    """Compute the inverse of a matrix (see `scipy.linalg.inv`)."""
    return _linalg.inv(_square(a))


@_of(1)
def det(a: Any) -> Tensor:
    """Compute the determinant of a matrix (see `scipy.linalg.det`)."""
    return _linalg.det(_square(a))


@_of(1)
def pinv(a: Any, *, atol: Any = None, rtol: Any = None, return_rank: bool = False) -> Any:
    """Compute the pseudoinverse (see `scipy.linalg.pinv`)."""
    found = _linalg.pinv(a, atol=atol, rtol=rtol)
    return (found, int(_linalg.matrix_rank(a, atol=atol, rtol=rtol))) if return_rank else found


@_of(1)
def pinvh(a: Any, atol: Any = None, rtol: Any = None, lower: bool = True) -> Tensor:
    """Compute the pseudoinverse of a Hermitian matrix (see `scipy.linalg.pinvh`)."""
    return _linalg.pinv(_halves(_square(a), lower, True), atol=atol, rtol=rtol, hermitian=True)


@_of(2)
def lstsq(a: Any, b: Any, cond: float | None = None) -> tuple[Tensor, Tensor, int, Tensor]:
    """Compute the minimum-norm least-squares solution of ``a @ x = b`` (see `scipy.linalg.lstsq`).

    Returns
    -------
    tuple of (x, squared residuals, rank, singular values)
    """
    found = _columns(b, lambda b: _linalg.lstsq(a, b, cond, driver="gelsd").solution)
    values = _linalg.svdvals(a)
    least = finfo(values.dtype).eps if cond is None else cond
    rank = int((values > least * values.max()).sum()) if values.numel() else 0
    m, n = a.shape
    rest = ((a @ found - b).abs() ** 2).sum(0) if rank == n < m else a.new_zeros(0).real
    return found, rest, rank, values


@_of(3)
def solve_sylvester(a: Any, b: Any, q: Any) -> Tensor:
    """Solve ``a @ x + x @ b = q`` (see `scipy.linalg.solve_sylvester`)."""
    return sylvester(a, b, q)


@_of(2)
def solve_continuous_lyapunov(a: Any, q: Any) -> Tensor:
    """Solve ``a @ x + x @ a.mH = q`` (see `scipy.linalg.solve_continuous_lyapunov`)."""
    return sylvester(a, a.mH, q)


@_of(2)
def solve_lyapunov(a: Any, q: Any) -> Tensor:
    """Solve ``a @ x + x @ a.mH = q``: `solve_continuous_lyapunov` by its old name."""
    return solve_continuous_lyapunov(a, q)


@_of(2)
def solve_discrete_lyapunov(a: Any, q: Any, method: str | None = None) -> Tensor:
    """Solve ``a @ x @ a.mH - x + q = 0`` (see `scipy.linalg.solve_discrete_lyapunov`)."""
    n = _square(a).shape[0]
    if method not in (None, "direct", "bilinear"):
        raise ValueError(f"Unknown solver {method}: method is 'direct' or 'bilinear'")
    unit = _eye(a)
    if method == "direct" or (method is None and n < 10):
        product = (a[:, None, :, None] * a.conj()[None, :, None, :]).reshape(n * n, n * n)
        return _linalg.solve(_eye(product) - product, q.reshape(n * n)).reshape(n, n)
    right = _linalg.inv(a.mH + unit)
    b = (a.mH - unit) @ right
    return sylvester(b.mH, b, -2 * _linalg.inv(a + unit) @ q @ right)


def _eye(like: Tensor) -> Tensor:
    return eye(like.shape[-1], dtype=like.dtype)


def _continuous(x: Any, a: Any, b: Any, q: Any, r: Any, e: Any, s: Any) -> Any:
    rest = e.mH @ x @ b + s
    return a.mH @ x @ e + e.mH @ x @ a - rest @ _linalg.solve(r, rest.mH) + q


def _discrete(x: Any, a: Any, b: Any, q: Any, r: Any, e: Any, s: Any) -> Any:
    rest = a.mH @ x @ b + s
    inner = r + b.mH @ x @ b
    return a.mH @ x @ a - e.mH @ x @ e - rest @ _linalg.solve(inner, rest.mH) + q


def _riccati(name: str, equation: Callable[..., Any]) -> Callable[..., Tensor]:
    @_root(equation)
    def found(_: Any, *matrices: Any) -> Any:
        scipys = getattr(scipy_module("linalg", f"scipy.linalg.{name}"), name)
        return scipys(*[m.numpy() for m in matrices])

    def solved(
        a: Any, b: Any, q: Any, r: Any, e: Any = None, s: Any = None, balanced: bool = True
    ) -> Tensor:
        e = _eye(a) if e is None else e
        s = b.new_zeros(b.shape) if s is None else s
        return found(None, *map(plain, operands(name, a, b, q, r, e, s, kinds="fc")))

    solved.__name__ = solved.__qualname__ = name
    solved.__doc__ = f"Solve a Riccati equation (see `scipy.linalg.{name}`)."
    return _of(4)(solved)


solve_continuous_are = _riccati("solve_continuous_are", _continuous)
solve_discrete_are = _riccati("solve_discrete_are", _discrete)


@_of(0)
def solve_banded(l_and_u: Any, ab: Any, b: Any) -> Tensor:
    """Solve a system with a banded matrix (see `scipy.linalg.solve_banded`).

    Parameters
    ----------
    l_and_u : tuple of int. The numbers of diagonals below and above the main one.
    ab : array_like. Of shape (l + u + 1, n): the diagonals as rows, the uppermost first.
    b : array_like. Of shape (n,) or (n, k).
    """
    lower, upper = l_and_u
    ab, b = map(plain, operands("solve_banded", ab, b, kinds="fc"))
    return _columns(b, lambda b: banded(lower, upper, ab, b))


def _diagonals(ab: Any, lower: bool) -> list[Any]:
    """Return the main diagonal of a Hermitian band, and those below it."""
    width, n = ab.shape[0] - 1, ab.shape[1]
    if lower:
        return [ab[k][: n - k] for k in range(width + 1)]
    return [ab[width], *[ab[width - k][k:].conj() for k in range(1, width + 1)]]


@_of(2)
def solveh_banded(ab: Any, b: Any, *, lower: bool = False) -> Tensor:
    """Solve a Hermitian banded system (see `scipy.linalg.solveh_banded`)."""
    main, *below = _diagonals(ab, lower)
    width = len(below)
    above = [cat([d.new_zeros(k), d.conj()]) for k, d in enumerate(below, 1)]
    under = [cat([d, d.new_zeros(k)]) for k, d in enumerate(below, 1)]
    rows = stack([*above[::-1], main, *under])
    return _columns(b, lambda b: banded(width, width, rows, b))


@_of(0)
def solve_toeplitz(c_or_cr: Any, b: Any) -> Tensor:
    """Solve a system with a Toeplitz matrix (see `scipy.linalg.solve_toeplitz`)."""
    matrix, b = map(plain, operands("solve_toeplitz", _toeplitz_of(c_or_cr), b, kinds="fc"))
    return _columns(b, lambda b: _linalg.solve(matrix, b))


@_of(0)
def matmul_toeplitz(c_or_cr: Any, x: Any) -> Tensor:
    """Multiply a Toeplitz matrix with `x` (see `scipy.linalg.matmul_toeplitz`)."""
    matrix, x = map(plain, operands("matmul_toeplitz", _toeplitz_of(c_or_cr), x, kinds="fc"))
    return matrix @ x


def _toeplitz_of(c_or_cr: Any) -> Tensor:
    return toeplitz(*c_or_cr) if isinstance(c_or_cr, tuple) else toeplitz(c_or_cr)


@_of(2)
def solve_circulant(c: Any, b: Any) -> Tensor:
    """Solve ``circulant(c) @ x = b`` (see `scipy.linalg.solve_circulant`)."""
    return _columns(b, lambda b: _linalg.solve(circulant(c), b))


# -- factors ---------------------------------------------------------------------------------------


@_of(1)
def cholesky(a: Any, lower: bool = False) -> Tensor:
    """Compute the Cholesky factor of a positive definite matrix (see `scipy.linalg.cholesky`)."""
    return _linalg.cholesky(_square(a), upper=not lower)


@_of(1)
def cho_factor(a: Any, lower: bool = False) -> tuple[Tensor, bool]:
    """Return ``(factor, lower)`` for `cho_solve`; the other triangle is 0 (see `scipy.linalg`)."""
    return cholesky(a, lower), lower


@_of(0)
def cho_solve(c_and_lower: Any, b: Any) -> Tensor:
    """Solve a system with the result of `cho_factor` (see `scipy.linalg.cho_solve`)."""
    factor, lower = c_and_lower
    first = solve_triangular(factor, b, 0 if lower else 2, lower)
    return solve_triangular(factor, first, 2 if lower else 0, lower)


@_of(1)
def lu(a: Any, permute_l: bool = False, *, p_indices: bool = False) -> Any:
    """Compute the factors of ``a = p @ l @ u`` (see `scipy.linalg.lu`)."""
    p, lower, upper = _linalg.lu(a)
    if permute_l:
        return p @ lower, upper
    return (p.real.argmax(-1) if p_indices else p), lower, upper


@_of(1)
def lu_factor(a: Any) -> tuple[Tensor, Any]:
    """Return both triangular factors in one matrix, and 0-based pivots (see `lu_solve`)."""
    both, pivots, _ = _linalg.lu_factor_ex(a)
    return both, pivots - 1


@_of(0)
def lu_solve(lu_and_piv: Any, b: Any, trans: int = 0) -> Tensor:
    """Solve a system with the result of `lu_factor` (see `scipy.linalg.lu_solve`)."""
    both, pivots = lu_and_piv
    both, b = map(plain, operands("lu_solve", both, b, kinds="fc"))
    if not isinstance(pivots, TensorBase):
        pivots = new_tensor(np.asarray(pivots, np.int32))
    if trans == 1:
        both = both.conj()
    return _columns(b, lambda b: _linalg.lu_solve(both, pivots + 1, b, adjoint=trans != 0))


@_of(1)
def qr(a: Any, *, mode: str = "full", pivoting: bool = False) -> Any:
    """Compute orthogonal and triangular factors (see `scipy.linalg.qr`).

    Parameters
    ----------
    mode : {"full", "economic", "r"}
    """
    if pivoting:
        raise NotImplementedError("qr(pivoting=True) has no derivative here: leave it out")
    names = {"full": "complete", "economic": "reduced", "r": "complete"}
    if mode not in names:
        raise ValueError(f"Mode argument should be one of {list(names)}, not {mode!r}")
    found = tuple(_linalg.qr(a, names[mode]))
    return found[1:] if mode == "r" else found


@_of(1)
def svd(a: Any, full_matrices: bool = True, compute_uv: bool = True) -> Any:
    """Compute singular values, and vectors if `compute_uv` (see `scipy.linalg.svd`)."""
    return tuple(_linalg.svd(a, full_matrices)) if compute_uv else _linalg.svdvals(a)


@_of(1)
def svdvals(a: Any) -> Tensor:
    """Compute the singular values of a matrix (see `scipy.linalg.svdvals`)."""
    return _linalg.svdvals(a)


@_of(1)
def eig(a: Any) -> tuple[Tensor, Tensor]:
    """Compute complex eigenvalues and right eigenvectors (see `scipy.linalg.eig`)."""
    values, vectors = _linalg.eig(_square(a))
    return values, vectors


@_of(1)
def eigvals(a: Any) -> Tensor:
    """Compute the complex eigenvalues of a matrix (see `scipy.linalg.eigvals`)."""
    return _linalg.eigvals(_square(a))


@_of(1)
def eigh(
    a: Any,
    b: Any = None,
    *,
    lower: bool = True,
    eigvals_only: bool = False,
    type: int = 1,
    subset_by_index: Any = None,
) -> Any:
    """Compute eigenvalues and eigenvectors of ``a @ v = w * b @ v`` (see `scipy.linalg.eigh`).

    Parameters
    ----------
    a, b : array_like. Hermitian; `b` positive definite, by default the identity. Their `lower` or
        upper triangles are read.
    subset_by_index : (int, int), optional. The first and the last eigenvalue to return.
    """
    a = _halves(_square(a), lower, True)
    if type != 1:
        raise NotImplementedError("eigh(type=2 or 3) has no derivative here: write type=1")
    if b is None:
        values, vectors = _linalg.eigh(a)
    else:
        a, b = map(plain, operands("eigh", a, b, kinds="fc"))
        factor = _linalg.cholesky(_halves(b, lower, True))
        half = _linalg.solve_triangular(factor, a, upper=False)
        values, vectors = _linalg.eigh(_linalg.solve_triangular(factor, half.mH, upper=False))
        vectors = _linalg.solve_triangular(factor.mH, vectors, upper=True)
    if subset_by_index is not None:
        first, last = subset_by_index
        values, vectors = values[..., first : last + 1], vectors[..., first : last + 1]
    return values if eigvals_only else (values, vectors)


@_of(1)
def eigvalsh(a: Any, b: Any = None, **options: Any) -> Tensor:
    """Compute the eigenvalues of a Hermitian matrix (see `eigh`)."""
    return eigh(a, b, eigvals_only=True, **options)


@_of(2)
def eigh_tridiagonal(d: Any, e: Any, eigvals_only: bool = False) -> Any:
    """Compute `eigh` of a symmetric tridiagonal matrix (see `scipy.linalg.eigh_tridiagonal`).

    Parameters
    ----------
    d, e : array_like. The diagonal, of shape (n,), and the off-diagonal, of shape (n - 1,).
    """
    return eigh(d.diag() + e.diag(-1), eigvals_only=eigvals_only)


@_of(2)
def eigvalsh_tridiagonal(d: Any, e: Any) -> Tensor:
    """Compute the eigenvalues of a symmetric tridiagonal matrix (see `eigh_tridiagonal`)."""
    return eigh_tridiagonal(d, e, eigvals_only=True)


@_of(1)
def eig_banded(a_band: Any, lower: bool = False, eigvals_only: bool = False) -> Any:
    """Compute `eigh` of a Hermitian matrix given by its band (see `scipy.linalg.eig_banded`)."""
    main, *below = _diagonals(a_band, lower)
    full = main.diag()
    for k, diagonal in enumerate(below, 1):
        full = full + diagonal.diag(-k) + diagonal.conj().diag(k)
    return eigh(full, eigvals_only=eigvals_only)


@_of(1)
def eigvals_banded(a_band: Any, lower: bool = False) -> Tensor:
    """Compute the eigenvalues of a Hermitian matrix given by its band (see `eig_banded`)."""
    return eig_banded(a_band, lower, eigvals_only=True)


@_of(1)
def polar(a: Any, side: str = "right") -> tuple[Tensor, Tensor]:
    """Compute a unitary and a positive factor, on the given `side` (see `scipy.linalg.polar`)."""
    if side not in ("right", "left"):
        raise ValueError(f"`side` must be either 'right' or 'left', not {side!r}")
    u, s, vh = _linalg.svd(a, False)
    unitary = u @ vh
    if side == "right":
        return unitary, (vh.mH * s.unsqueeze(-2)) @ vh
    return unitary, (u * s.unsqueeze(-2)) @ u.mH


@_of(2)
def orthogonal_procrustes(A: Any, B: Any) -> tuple[Tensor, Tensor]:
    """Return the orthogonal R with ``A @ R`` nearest to `B`, and a scale (see `scipy.linalg`)."""
    u, s, vh = _linalg.svd(A.mH @ B)
    return u @ vh, s.sum()


@_of(1)
def norm(a: Any, ord: Any = None, axis: Any = None, keepdims: bool = False) -> Tensor:
    """Compute a norm of a matrix or a vector (see `scipy.linalg.norm`)."""
    return np.linalg.norm(a, ord, axis, keepdims)


# -- functions of matrices -------------------------------------------------------------------------


@_of(1)
def expm(A: Any) -> Tensor:
    """Compute the exponential of a matrix (see `scipy.linalg.expm`)."""
    return _linalg.matrix_exp(_square(A))


@_of(2)
def expm_frechet(A: Any, E: Any, method: Any = None, compute_expm: bool = True) -> Any:
    """Compute the exponential of `A`, and its derivative in direction `E` (see `scipy.linalg`)."""
    whole, slope = frechet(_linalg.matrix_exp, _square(A), E)
    return (whole, slope) if compute_expm else slope


def _waves(A: Tensor) -> tuple[Tensor, Tensor]:
    """Return the cosine and the sine of a matrix."""
    turned = _linalg.matrix_exp(1j * _square(A))
    if not A.is_complex():
        return turned.real, turned.imag
    back = _linalg.matrix_exp(-1j * A)
    return (turned + back) / 2, (turned - back) / 2j


def _growths(A: Tensor) -> tuple[Tensor, Tensor]:
    """Return the hyperbolic cosine and sine of a matrix."""
    up, down = _linalg.matrix_exp(_square(A)), _linalg.matrix_exp(-A)
    return (up + down) / 2, (up - down) / 2


@_of(1)
def cosm(A: Any) -> Tensor:
    """Compute the cosine of a matrix (see `scipy.linalg.cosm`)."""
    return _waves(A)[0]


@_of(1)
def sinm(A: Any) -> Tensor:
    """Compute the sine of a matrix (see `scipy.linalg.sinm`)."""
    return _waves(A)[1]


@_of(1)
def tanm(A: Any) -> Tensor:
    """Compute the tangent of a matrix (see `scipy.linalg.tanm`)."""
    return _linalg.solve(*_waves(A))


@_of(1)
def coshm(A: Any) -> Tensor:
    """Compute the hyperbolic cosine of a matrix (see `scipy.linalg.coshm`)."""
    return _growths(A)[0]


@_of(1)
def sinhm(A: Any) -> Tensor:
    """Compute the hyperbolic sine of a matrix (see `scipy.linalg.sinhm`)."""
    return _growths(A)[1]


@_of(1)
def tanhm(A: Any) -> Tensor:
    """Compute the hyperbolic tangent of a matrix (see `scipy.linalg.tanhm`)."""
    return _linalg.solve(*_growths(A))


def _scipys(name: str, *more: Any) -> Callable[[Any], Any]:
    return lambda array: getattr(scipy_module("linalg", f"scipy.linalg.{name}"), name)(array, *more)


@_of(1)
def sqrtm(A: Any) -> Tensor:
    """Compute the square root of a matrix, real if possible (see `scipy.linalg.sqrtm`)."""
    return matrix_function(_scipys("sqrtm"), _square(A))


@_of(1)
def logm(A: Any) -> Tensor:
    """Compute the logarithm of a matrix (see `scipy.linalg.logm`)."""
    return matrix_function(_scipys("logm"), _square(A))


@_of(1)
def fractional_matrix_power(A: Any, t: float) -> Tensor:
    """Compute a power of a matrix, differentiable in the matrix (see `scipy.linalg`)."""
    return matrix_function(_scipys("fractional_matrix_power", float(t)), _square(A))


# -- structured matrices ---------------------------------------------------------------------------


@_of(0)
def block_diag(*arrs: Any) -> Tensor:
    """Put matrices along the diagonal of a large one (see `scipy.linalg.block_diag`)."""
    return _block_diag(*map(plain, operands("block_diag", *arrs, kinds=_ANY)))


def _lines(name: str, c: Any, r: Any) -> list[Tensor]:
    """Return vectors, or batches of them, with one dtype and batch shape."""
    given = [plain(x) for x in operands(name, c, c if r is None else r, kinds=_ANY)]
    given = [x if x.ndim else x.reshape(1) for x in given]
    batch = np.broadcast_shapes(*(x.shape[:-1] for x in given))
    return [x.expand((*batch, x.shape[-1])) for x in given]


@_of(0)
def toeplitz(c: Any, r: Any = None) -> Tensor:
    """Make the Toeplitz matrix of a first column and row (see `scipy.linalg.toeplitz`)."""
    column, row = _lines("toeplitz", c, r)
    if r is None:
        row = row.conj()
    m, n = column.shape[-1], row.shape[-1]
    line = cat([column.flip(-1), row[..., 1:]], -1)
    return line[..., (m - 1) - np.arange(m)[:, None] + np.arange(n)]


@_of(0)
def hankel(c: Any, r: Any = None) -> Tensor:
    """Make the Hankel matrix of a first column and last row (see `scipy.linalg.hankel`)."""
    column, row = _lines("hankel", c, r)
    if r is None:
        row = row.new_zeros(row.shape)
    m, n = column.shape[-1], row.shape[-1]
    line = cat([column, row[..., 1:]], -1)
    return line[..., np.arange(m)[:, None] + np.arange(n)]


@_of(1, _ANY)
def circulant(c: Any) -> Tensor:
    """Make the matrix whose columns are rotations of `c` (see `scipy.linalg.circulant`)."""
    n = c.shape[-1]
    return c[..., (np.arange(n)[:, None] - np.arange(n)) % n]


@_of(1)
def companion(a: Any) -> Tensor:
    """Make the companion matrix of a polynomial (see `scipy.linalg.companion`)."""
    n = a.shape[0] - 1
    if a.ndim != 1 or n < 1:
        raise ValueError("The length of `a` along the last axis must be at least 2.")
    return cat([(-a[1:] / a[0]).unsqueeze(0), eye(n - 1, n, dtype=a.dtype)])


@_of(2, _ANY)
def leslie(f: Any, s: Any) -> Tensor:
    """Make the Leslie matrix of fertilities and survival rates (see `scipy.linalg.leslie`)."""
    if f.shape[0] != s.shape[0] + 1:
        raise ValueError("Incorrect lengths for f and s: f has one element more than s")
    below = cat([s.diag(), s.new_zeros((len(s), 1))], 1)
    return cat([f.unsqueeze(0), below])


@_of(1, _ANY)
def fiedler(a: Any) -> Tensor:
    """Make the matrix of distances ``|a[i] - a[j]|`` (see `scipy.linalg.fiedler`)."""
    return (a.unsqueeze(-1) - a.unsqueeze(-2)).abs()


@_of(1, _ANY)
def convolution_matrix(a: Any, n: int, mode: str = "full") -> Tensor:
    """Make the matrix that convolves with `a` (see `scipy.linalg.convolution_matrix`)."""
    if mode not in ("full", "valid", "same"):
        raise ValueError("'mode' argument must be one of ('full', 'valid', 'same')")
    m = a.shape[0]
    zeros = a.new_zeros(n)
    whole = toeplitz(cat([a, zeros[1:]]), cat([a[:1], zeros[1:]]))
    cut = min(m, n) - 1
    above = {"full": 0, "same": cut // 2, "valid": cut}[mode]
    below = {"full": 0, "same": cut - cut // 2, "valid": cut}[mode]
    return whole[above : len(whole) - below]


@_of(2, _ANY)
def khatri_rao(a: Any, b: Any) -> Tensor:
    """Compute the columnwise Kronecker product (see `scipy.linalg.khatri_rao`)."""
    return (a.unsqueeze(-2) * b.unsqueeze(-3)).flatten(-3, -2)


def __getattr__(name: str) -> Any:
    scipys = None if name.startswith("_") else scipy_module("linalg", f"scipy.linalg.{name}")
    why = (
        "SciPy's has no derivative here: pass it x.detach().numpy() if none is wanted"
        if hasattr(scipys, name)
        else f"it has {', '.join(sorted(__all__))}"
    )
    raise AttributeError(f"module 'wengert.scipy.linalg' has no attribute {name!r}: {why}")


def __dir__() -> list[str]:
    return sorted(__all__)
