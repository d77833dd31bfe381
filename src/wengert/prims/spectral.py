"""Layer 2 · prims: eigenvalues, singular values, orthogonal factors, and pseudoinverses.

See NOTE [packed results] in `wengert.kernels.spectral`. The rules also hold for complex matrices,
and conjugate explicitly. Where vectors are determined only up to a phase, or not at all because
values are repeated, a rule raises if the cotangents show that the loss depends on the choice.

References
----------
M. Giles, "Collected matrix derivative results for forward and reverse mode algorithmic
differentiation" (2008); for complex singular vectors Z.-Q. Wan and S.-X. Zhang, "Automatic
differentiation for complex valued SVD" (2019), for QR H.-J. Liao et al., "Differentiable
programming tensor networks" (2019), for the pseudoinverse G. Golub and V. Pereyra, "The
differentiation of pseudo-inverses" (1973).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from wengert.kernels import spectral as kernels
from wengert.prims.families import general, per_matrix
from wengert.prims.linear_systems import slope_of_inverse
from wengert.prims.matrices import mH, mT
from wengert.prims.record import case

Dims = tuple[int, ...]


def _rows(F: Any, x: Any, n: int, start: int, end: int) -> Any:
    return F.slice(x, dim=n - 2, start=start, end=end, step=1)


def _columns(F: Any, x: Any, n: int, start: int, end: int) -> Any:
    return F.slice(x, dim=n - 1, start=start, end=end, step=1)


def _row(F: Any, x: Any, n: int, index: int, dtype: Any) -> Any:
    """Return a row of packed matrices that holds real numbers."""
    row = F.select(x, dim=n - 2, index=index)
    return F.real(row) if dtype.kind == "c" else row


def _total(*parts: Any) -> Any:
    """Return the sum of cotangents, of which any may be None; None if all are."""
    total: Any = None
    for part in parts:
        if part is not None:
            total = part if total is None else total + part
    return total


def _scaled(F: Any, x: Any, n: int, factors: Any) -> Any:
    """Scale the columns of matrices."""
    return x * F.unsqueeze(factors, dim=n - 2)


def _diagonal(F: Any, x: Any, n: int) -> Any:
    return F.diagonal(x, offset=0, dim1=n - 2, dim2=n - 1)


def _on_diagonal(F: Any, x: Any, n: int) -> Any:
    return F.diag_embed(x, offset=0, dim1=n - 2, dim2=n - 1)


def _matrices(*shapes: Dims, **params: Any) -> tuple[Any, ...]:
    return tuple(case(shape, **params) for shape in shapes)


_SQUARE: tuple[Dims, ...] = ((3, 3), (2, 2, 2), (1, 1), (0, 0))
_OBLONG: tuple[Dims, ...] = ((3, 3), (4, 2), (2, 4), (2, 3, 2), (0, 2))

# -- Hermitian matrices ---------------------------------------------------------------------------

_EIGH = "linalg_eigh_backward"


def _slope_of_eigh(F: Any, g: Any, result: Any, self_shape: Dims, self_dtype: Any) -> Any:
    n, size = len(self_shape), self_shape[-1]
    vectors = _rows(F, result, n, 0, size)
    values = _row(F, result, n, size, self_dtype)
    whole = g[0] is not None
    g_values = _total(g[1], _row(F, g[0], n, size, self_dtype) if whole else None)
    g_vectors = _total(g[2], _rows(F, g[0], n, 0, size) if whole else None)
    back = mH(F, vectors, self_dtype)
    if g_vectors is None:
        return _scaled(F, vectors, n, g_values) @ back
    inner = back @ g_vectors
    if self_dtype.kind == "c":
        inner = F.phase_free(inner, F.zeros_like(inner), what=_EIGH)
    gaps = F.inverse_gaps(values, g_vectors, g_vectors, squares=False, what=_EIGH)
    middle = (inner - mH(F, inner, self_dtype)) * gaps * 0.5
    if g_values is not None:
        middle = _on_diagonal(F, g_values, n) + middle
    return vectors @ middle @ back


def _slope_of_eigvalsh(
    F: Any, g: Any, self: Any, self_shape: Dims, self_dtype: Any, UPLO: str
) -> Any:
    n = len(self_shape)
    vectors = F.linalg_eigh(self, UPLO=UPLO)[2]
    return _scaled(F, vectors, n, g) @ mH(F, vectors, self_dtype)


# Complex matrices are accepted (there is no message), but not sampled: a loss with random weights
# depends on the phases of complex vectors, and raises. They have tests of their own.
_REAL_SAMPLES: dict[str, None] = {"c": None}

# finite differences perturb each triangle alone: the samples use the mean of both
per_matrix(
    "linalg_eigh",
    kernels.eigh,
    vjp=(_slope_of_eigh,),
    outputs=3,
    partial=True,
    conj="explicit",
    refuses=_REAL_SAMPLES,
    cases=_matrices(*_SQUARE, UPLO=None),
    doc="eigenvalues and eigenvectors of Hermitian matrices, after both in one array",
    lacks="half",
)
per_matrix(
    "linalg_eigvalsh",
    kernels.eigvalsh,
    vjp=(_slope_of_eigvalsh,),
    conj="explicit",
    node="LinalgEighBackward0",
    cases=_matrices(*_SQUARE, UPLO=None),
    doc="eigenvalues of Hermitian matrices",
    lacks="half",
)

# -- any square matrices --------------------------------------------------------------------------

_EIG = "linalg_eig_backward"


def _slope_of_eig(F: Any, g: Any, result: Any, self_shape: Dims, self_dtype: Any) -> Any:
    n, size = len(self_shape), self_shape[-1]
    vectors = _rows(F, result, n, 0, size)
    values = F.select(result, dim=n - 2, index=size)
    whole = g[0] is not None
    g_values = _total(g[1], F.select(g[0], dim=n - 2, index=size) if whole else None)
    g_vectors = _total(g[2], _rows(F, g[0], n, 0, size) if whole else None)
    if g_vectors is None:
        return _slope_of_eigenvalues(F, g_values, vectors, self_shape, self_dtype)
    back = F.conj(mT(F, vectors))
    inner = back @ g_vectors
    inner = F.phase_free(inner, F.zeros_like(inner), what=_EIG)
    gaps = F.inverse_gaps(values, g_vectors, g_vectors, squares=False, what=_EIG)
    # keeps the length of each vector
    length = _scaled(F, back @ vectors, n, F.real(_diagonal(F, inner, n)))
    middle = (inner - length) * F.conj(gaps)
    if g_values is not None:
        middle = _on_diagonal(F, g_values, n) + middle
    slope = F.solve_factor(vectors, middle @ back, turned=True, what=_EIG)
    return slope if self_dtype.kind == "c" else F.real(slope)


def _slope_of_eigvals(F: Any, g: Any, self: Any, self_shape: Dims, self_dtype: Any) -> Any:
    return _slope_of_eigenvalues(F, g, F.linalg_eig(self)[2], self_shape, self_dtype)


def _slope_of_eigenvalues(F: Any, g: Any, vectors: Any, self_shape: Dims, self_dtype: Any) -> Any:
    n = len(self_shape)
    back = F.conj(mT(F, vectors))
    slope = F.solve_factor(vectors, F.unsqueeze(g, dim=n - 1) * back, turned=True, what=_EIG)
    return slope if self_dtype.kind == "c" else F.real(slope)


# its vectors are always complex
per_matrix(
    "linalg_eig",
    kernels.eig,
    vjp=(_slope_of_eig,),
    outputs=3,
    partial=True,
    conj="explicit",
    cases=_matrices((0, 0)),
    doc="eigenvalues and eigenvectors of square matrices, after both in one array",
    lacks="half",
    casts=True,
)
per_matrix(
    "linalg_eigvals",
    kernels.eigvals,
    vjp=(_slope_of_eigvals,),
    conj="explicit",
    node="LinalgEigBackward0",
    cases=_matrices(*_SQUARE),
    doc="eigenvalues of square matrices",
    lacks="half",
    casts=True,
)

# -- singular values ------------------------------------------------------------------------------

_SVD = "svd_backward"


def _slope_of_svd(
    F: Any, g: Any, result: Any, self_shape: Dims, self_dtype: Any, full_matrices: bool
) -> Any:
    nd, (m, n) = len(self_shape), self_shape[-2:]
    k = min(m, n)
    U, V = _rows(F, result, nd, 0, m), _rows(F, result, nd, m + 1, m + 1 + n)
    S = _row(F, result, nd, m, self_dtype)
    whole = g[0] is not None
    gU, gV = g[1], None if g[3] is None else mH(F, g[3], self_dtype)
    if full_matrices and m != n and (gU if m > n else gV) is not None:
        if m > n:
            extra = _columns(F, gU, nd, k, m)
            gU = F.unused(_columns(F, gU, nd, 0, k), extra, what=_SVD)
        else:
            extra = _columns(F, gV, nd, k, n)
            gV = F.unused(_columns(F, gV, nd, 0, k), extra, what=_SVD)
    gU = _total(gU, _rows(F, g[0], nd, 0, m) if whole else None)
    gV = _total(gV, _rows(F, g[0], nd, m + 1, m + 1 + n) if whole else None)
    gS = _total(g[2], _row(F, g[0], nd, m, self_dtype) if whole else None)
    Uh, Vh = mH(F, U, self_dtype), mH(F, V, self_dtype)
    if gU is None and gV is None:
        return _scaled(F, U, nd, gS) @ Vh
    gU = F.zeros_like(U) if gU is None else gU
    gV = F.zeros_like(V) if gV is None else gV
    left, right = Uh @ gU, Vh @ gV
    is_complex = self_dtype.kind == "c"
    if is_complex:
        left = F.phase_free(left, right, what=_SVD)
    gaps = F.inverse_gaps(S, gU, gV, squares=True, what=_SVD)
    middle = _scaled(F, (left - mH(F, left, self_dtype)) * gaps, nd, S) + (
        right - mH(F, right, self_dtype)
    ) * gaps * F.unsqueeze(S, dim=nd - 1)
    if gS is not None:
        middle = middle + _on_diagonal(F, gS, nd)
    if not is_complex and m == n:
        return U @ middle @ Vh
    inverse = F.inverse_values(S, gU, gV, what=_SVD)
    if is_complex:
        turning = F.imag(_diagonal(F, left, nd))
        middle = middle + _on_diagonal(F, turning * inverse * 1j, nd)
    if m > n:
        return (U @ middle + _scaled(F, gU - U @ left, nd, inverse)) @ Vh
    if m < n:
        side = _scaled(F, gV - V @ right, nd, inverse)
        return U @ (middle @ Vh + mH(F, side, self_dtype))
    return U @ middle @ Vh


def _slope_of_svdvals(F: Any, g: Any, self: Any, self_shape: Dims) -> Any:
    _, U, _, Vh = F.linalg_svd(self, full_matrices=False)
    return _scaled(F, U, len(self_shape), g) @ Vh


per_matrix(
    "linalg_svd",
    kernels.svd,
    vjp=(_slope_of_svd,),
    outputs=4,
    partial=True,
    conj="explicit",
    refuses=_REAL_SAMPLES,
    cases=_matrices(*_OBLONG, full_matrices=False),
    doc="singular values and vectors of matrices, after all of them in one array",
    lacks="half",
)
per_matrix(
    "linalg_svdvals",
    kernels.svdvals,
    vjp=(_slope_of_svdvals,),
    conj="explicit",
    node="LinalgSvdBackward0",
    cases=_matrices(*_OBLONG),
    doc="singular values of matrices",
    lacks="half",
)

# -- orthogonal factors ---------------------------------------------------------------------------


def _slope_of_qr(F: Any, g: Any, result: Any, self_shape: Dims, self_dtype: Any, mode: str) -> Any:
    nd, (m, n) = len(self_shape), self_shape[-2:]
    if mode == "r":
        raise RuntimeError(
            "The derivative of linalg.qr depends on Q, which is not computed when mode='r'. Please "
            "use linalg.qr(A, mode='reduced') if you are going to differentiate through linalg.qr."
        )
    if mode == "complete" and m > n:
        raise RuntimeError(
            "The QR decomposition is not differentiable when mode='complete' and nrows > ncols: "
            "the last columns of Q may be any orthonormal basis. Use mode='reduced'."
        )
    k = min(m, n)
    Q, R = _rows(F, result, nd, 0, m), mH(F, _rows(F, result, nd, m, m + n), self_dtype)
    gQ = g[1] + _rows(F, g[0], nd, 0, m)
    gR = g[2] + mH(F, _rows(F, g[0], nd, m, m + n), self_dtype)
    rest = None
    if m < n:
        # the additional columns of R are Q's adjoint times those of the matrix
        rest = Q @ _columns(F, gR, nd, k, n)
        others = _columns(F, R, nd, k, n)
        gQ = gQ + Q @ (others @ mH(F, _columns(F, gR, nd, k, n), self_dtype))
        R, gR = _columns(F, R, nd, 0, k), _columns(F, gR, nd, 0, k)
    inner = gR @ mH(F, R, self_dtype) - mH(F, Q, self_dtype) @ gQ
    upper = F.triu(inner, diagonal=1)
    middle = _diagonal(F, inner, nd)
    if self_dtype.kind == "c":
        middle = F.real(middle)
    inner = upper + mH(F, upper, self_dtype) + _on_diagonal(F, middle, nd)
    side = mH(F, gQ + Q @ inner, self_dtype)
    slope = mH(F, F.solve_factor(R, side, turned=False, what="linalg_qr_backward"), self_dtype)
    return slope if rest is None else F.cat(slope, rest, dim=nd - 1)


per_matrix(
    "linalg_qr",
    kernels.qr,
    vjp=(_slope_of_qr,),
    outputs=3,
    conj="explicit",
    cases=(*_matrices(*_OBLONG[:4], mode="reduced"), *_matrices((2, 2), (2, 3), mode="complete")),
    doc="an orthogonal and a triangular factor of matrices, after both in one array",
    lacks="half",
)

# -- pseudoinverses -------------------------------------------------------------------------------


def _tolerance(rng: Any) -> Any:
    return np.zeros((), np.int64)


general(
    "linalg_pinv",
    kernels.pinv,
    vjp=(slope_of_inverse, None, None),
    conj="explicit",
    cases=tuple(
        case(shape, _tolerance, _tolerance, hermitian=False)
        for shape in ((3, 3), (4, 2), (2, 4), (2, 3, 2), (0, 2))
    ),
    doc="pseudoinverses of matrices",
    lacks="half",
    casts=True,
)

# -- parts of the rules ---------------------------------------------------------------------------


def _slope_of_gaps(
    F: Any, g: Any, self: Any, result: Any, self_shape: Dims, self_dtype: Any, squares: bool
) -> Any:
    n = len(self_shape)
    square = result * result
    pull = g * (F.conj(square) if self_dtype.kind == "c" else square)
    slope = F.sum_dim(pull, dim=(n,), keepdim=False) - F.sum_dim(pull, dim=(n - 1,), keepdim=False)
    if squares:
        slope = slope * (F.conj(self) if self_dtype.kind == "c" else self) * 2
    return slope


def _vectors(*shape: int) -> Any:
    return lambda rng: rng.standard_normal(shape)


per_matrix(
    "inverse_gaps",
    kernels.inverse_gaps,
    vjp=(_slope_of_gaps, None, None),
    conj="explicit",
    cases=(
        case((3,), _vectors(4, 3), _vectors(2, 3), squares=False, what=_EIGH),
        case((2, 3), _vectors(2, 4, 3), _vectors(2, 3, 3), squares=True, what=_SVD),
        case((0,), _vectors(2, 0), _vectors(0, 0), squares=True, what=_SVD),
    ),
    doc="the inverse distances of values from each other",
)
per_matrix(
    "inverse_values",
    kernels.inverse_values,
    vjp=(
        lambda F, g, result: -(g * result * result),
        None,
        None,
    ),
    conj="explicit",
    cases=(
        case((3,), _vectors(4, 3), _vectors(2, 3), what=_SVD),
        case((2, 0), _vectors(2, 4, 0), _vectors(2, 3, 0), what=_SVD),
    ),
    domain="positive",
    refuses=_REAL_SAMPLES,
    doc="the inverses of singular values",
)


per_matrix(
    "phase_free",
    kernels.phase_free,
    vjp=(lambda F, g: g, None),
    conj="explicit",
    cases=(
        case(lambda rng: rng.standard_normal((2, 2)), lambda rng: np.zeros((2, 2)), what=_SVD),
        case((0, 0), (0, 0), what=_EIG),
    ),
    doc="self, checked to have no imaginary diagonal but minus that of other",
)
per_matrix(
    "unused",
    kernels.unused,
    vjp=(lambda F, g: g, None),
    conj="explicit",
    cases=(case((3, 2), lambda rng: np.zeros((3, 1)), what=_SVD),),
    doc="self, if another part is 0",
)


def _slope_of_factor(
    F: Any, g: Any, self: Any, result: Any, self_dtype: Any, turned: bool, what: str
) -> Any:
    pull = F.solve_factor(self, g, turned=not turned, what=what)
    if turned:
        return -(result @ mH(F, pull, self_dtype))
    return -(pull @ mH(F, result, self_dtype))


per_matrix(
    "solve_factor",
    kernels.solve,
    vjp=(
        _slope_of_factor,
        lambda F, g, self, turned, what: F.solve_factor(self, g, turned=not turned, what=what),
    ),
    conj="explicit",
    cases=tuple(
        case(shape, other, turned=turned, what=_EIG)
        for shape, other in (((3, 3), (3, 2)), ((2, 2, 2), (2, 2, 2)))
        for turned in (False, True)
    ),
    doc="the solution of a system of equations with a factor of a matrix",
    lacks="half",
)
