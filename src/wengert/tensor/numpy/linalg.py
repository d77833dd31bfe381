"""Layer 6 · tensor: counterparts of ``numpy.linalg`` (see NOTE [counterparts])."""

from __future__ import annotations

from collections import namedtuple
from typing import Any

import numpy as np

from wengert.ops import (
    arrange,
    expand,
    factors,
    least_squares,
    linear_systems,
    matrix_functions,
    matrix_norms,
    moments,
    permute,
    pointwise,
    pseudoinverse,
    reduce,
    shape,
    spectral,
)
from wengert.tensor.numpy import products
from wengert.tensor.numpy.counterparts import (
    common,
    counterpart,
    counterparts,
    floating,
    known,
    tensor,
)
from wengert.tensor.numpy.sums import total

EigResult = namedtuple("EigResult", "eigenvalues eigenvectors")
EighResult = namedtuple("EighResult", "eigenvalues eigenvectors")
QRResult = namedtuple("QRResult", "Q R")
SlogdetResult = namedtuple("SlogdetResult", "sign logabsdet")
SVDResult = namedtuple("SVDResult", "U S Vh")


def _square(a: Any) -> Any:
    """Return `a` as a tensor of floating square matrices."""
    (a,) = floating(a)
    if a.ndim < 2:
        raise np.linalg.LinAlgError(
            f"{a.ndim}-dimensional array given. Array must be at least two-dimensional"
        )
    if a.shape[-1] != a.shape[-2]:
        raise np.linalg.LinAlgError("Last 2 dimensions of the array must be square")
    return a


# -- systems ---------------------------------------------------------------------------------------


@counterpart("linalg.solve")
def _solve(a: Any, b: Any) -> Any:
    a, b = floating(a, b)
    a = _square(a)
    if b.ndim == 1:
        column = shape.reshape(b, (*(1,) * (a.ndim - 2), -1, 1))
        return shape.squeeze(linear_systems.solve(a, column), -1)
    # if the shapes allow it, PyTorch would treat a stack of matrices as one of vectors
    b = shape.reshape(b, (1,) * (a.ndim - b.ndim) + tuple(b.shape))
    batch = np.broadcast_shapes(tuple(a.shape[:-2]), tuple(b.shape[:-2]))
    return linear_systems.solve(a, expand.broadcast_to(b, (*batch, *b.shape[-2:])))


@counterpart("linalg.inv")
def _inv(a: Any) -> Any:
    return linear_systems.inv(_square(a))


@counterpart("linalg.tensorsolve")
def _tensorsolve(a: Any, b: Any, axes: Any = None) -> Any:
    a, b = floating(a, b)
    if axes is not None:
        a = permute.permute(a, (*[n for n in range(a.ndim) if n not in axes], *axes))
    rest = tuple(a.shape[b.ndim :])
    size = int(np.prod(rest, dtype=int))
    if a._payload.size != size**2:
        raise np.linalg.LinAlgError(
            "Input arrays must satisfy the requirement prod(a.shape[b.ndim:]) == "
            "prod(a.shape[:b.ndim])"
        )
    made = _solve(shape.reshape(a, (size, size)), shape.reshape(b, (-1,)))
    return shape.reshape(made, rest)


@counterpart("linalg.tensorinv")
def _tensorinv(a: Any, ind: int = 2) -> Any:
    (a,) = floating(a)
    if ind <= 0:
        raise ValueError("Invalid ind argument.")
    sizes = tuple(a.shape)
    rows = int(np.prod(sizes[ind:], dtype=int))
    made = _inv(shape.reshape(a, (rows, -1)))
    return shape.reshape(made, (*sizes[ind:], *sizes[:ind]))


@counterpart("linalg.lstsq")
def _lstsq(a: Any, b: Any, rcond: Any = None) -> Any:
    a, b = floating(a, b)
    if a.ndim != 2:
        raise np.linalg.LinAlgError(
            f"{a.ndim}-dimensional array given. Array must be two-dimensional"
        )
    columns = shape.unsqueeze(b, 1) if b.ndim == 1 else b
    m, n = a.shape
    if columns.shape[0] != m:
        raise np.linalg.LinAlgError("Incompatible dimensions")
    eps = float(np.finfo(a._payload.dtype).eps)
    cut = eps * max(m, n) if rcond is None else eps if rcond == -1 else float(rcond)
    s = spectral.svdvals(a)
    found = known(s)
    rank = int((found > cut * (found[0] if found.size else 0)).sum())
    if rank == min(m, n):
        x = least_squares.lstsq(a, columns)[0]
    else:
        x = products.matmul_of(pseudoinverse.pinv(a, rtol=cut), columns)
    if rank < n or m <= n:
        residuals = tensor(np.empty(0, s._payload.dtype))
    else:
        away = pointwise.abs(products.matmul_of(a, x) - columns)
        residuals = reduce.sum(pointwise.square(away), 0)
    return shape.squeeze(x, 1) if b.ndim == 1 else x, residuals, rank, s


@counterpart("linalg.pinv")
def _pinv(a: Any, rcond: Any = None, hermitian: bool = False, *, rtol: Any = np._NoValue) -> Any:
    (a,) = floating(a)
    if rcond is None:
        if rtol is np._NoValue:
            rcond = 1e-15
        elif rtol is None:
            rcond = max(a.shape[-2:]) * float(np.finfo(a._payload.dtype).eps)
        else:
            rcond = rtol
    rcond = tensor(rcond) if np.ndim(rcond) else rcond
    return pseudoinverse.pinv(a, rtol=rcond, hermitian=hermitian)


# -- factors ---------------------------------------------------------------------------------------


@counterpart("linalg.qr")
def _qr(a: Any, mode: str = "reduced") -> Any:
    (a,) = floating(a)
    if mode == "raw":
        reflectors, scales = factors.geqrf(a)
        return reflectors.mT, scales
    if mode not in ("reduced", "complete", "r"):
        raise NotImplementedError(
            f"numpy.linalg.qr of a tensor with mode={mode!r}: give reduced, complete, r or raw"
        )
    q, r = spectral.qr(a, "reduced" if mode == "r" else mode)
    return r if mode == "r" else QRResult(q, r)


@counterpart("linalg.svd")
def _svd(
    a: Any, full_matrices: bool = True, compute_uv: bool = True, hermitian: bool = False
) -> Any:
    (a,) = floating(a)
    if hermitian:
        a = _square(a)
        values, vectors = spectral.eigh(a)
        sizes = pointwise.abs(values)
        order = np.argsort(sizes._payload, axis=-1)[..., ::-1]
        sizes = _picked(sizes, order)
        if not compute_uv:
            return sizes
        vectors = _picked(vectors, order[..., None, :])
        signs = pointwise.sgn(_picked(values, order))
        right = vectors * shape.unsqueeze(signs, -2)
        return SVDResult(vectors, sizes, pointwise.conj(permute.transpose(right, -2, -1)))
    if not compute_uv:
        return spectral.svdvals(a)
    return SVDResult(*spectral.svd(a, full_matrices))


def _picked(a: Any, order: Any) -> Any:
    """Return the elements of `a`, with each line along the last axis reordered by `order`."""
    order = np.broadcast_to(order, a._payload.shape)
    index = np.indices(a._payload.shape, sparse=True)
    return a[(*index[:-1], order)]


def _half(name: str) -> str:
    if name.upper() not in ("L", "U"):
        raise ValueError("UPLO argument must be 'L' or 'U'")
    return name.upper()


# NumPy before 2.5 returns real eigenvalues of a real matrix if all of them are real
_REAL_IF_POSSIBLE = tuple(map(int, np.__version__.split(".")[:2])) < (2, 5)


def _are_real(values: Any, a: Any) -> bool:
    return _REAL_IF_POSSIBLE and a._payload.dtype.kind != "c" and not np.any(np.imag(known(values)))


@counterpart("linalg.eig")
def _eig(a: Any) -> Any:
    a = _square(a)
    values, vectors = spectral.eig(a)
    if _are_real(values, a):
        values, vectors = pointwise.real(values), pointwise.real(vectors)
    return EigResult(values, vectors)


@counterpart("linalg.eigvals")
def _eigvals(a: Any) -> Any:
    a = _square(a)
    values = spectral.eigvals(a)
    return pointwise.real(values) if _are_real(values, a) else values


# -- norms and products ----------------------------------------------------------------------------


@counterpart("linalg.norm")
def _norm(x: Any, ord: Any = None, axis: Any = None, keepdims: bool = False) -> Any:
    (x,) = floating(x)
    if axis is None and ord is not None and x.ndim not in (1, 2):
        raise ValueError("Improper number of dimensions to norm.")
    if isinstance(axis, tuple | list) and len(axis) > 2:
        raise ValueError("Improper number of dimensions to norm.")
    axis = tuple(axis) if isinstance(axis, list) else axis
    if axis is None and ord is None:
        return _vector_norm(x, keepdims=keepdims)
    if not x._payload.size and (x.ndim == 1 if axis is None else hasattr(axis, "__index__")):
        return _vector_norm(x, axis=axis, keepdims=keepdims, ord=2 if ord is None else ord)
    return matrix_norms.norm(x, ord, axis, keepdims)


@counterpart("linalg.matrix_norm")
def _matrix_norm(x: Any, /, *, keepdims: bool = False, ord: Any = "fro") -> Any:
    return matrix_norms.matrix_norm(floating(x)[0], ord, (-2, -1), keepdims)


@counterpart("linalg.vector_norm")
def _vector_norm(x: Any, /, *, axis: Any = None, keepdims: bool = False, ord: Any = 2) -> Any:
    (x,) = floating(x)
    if axis == ():  # of each element: as a vector of one
        x, axis, keepdims = shape.unsqueeze(x, 0), 0, False
    axis = tuple(range(x.ndim)) if axis is None else axis
    if not x._payload.size and not isinstance(ord, str) and ord > -np.inf:  # each power sums to 0
        none = moments.vector_norm(x, 1, axis, keepdims)
        return none if ord >= 0 else none + np.inf
    return moments.vector_norm(x, ord, axis, keepdims)


@counterpart("linalg.matrix_power")
def _matrix_power(a: Any, n: int) -> Any:
    a = tensor(a)
    if n < 0:
        a = _square(a)
    return matrix_functions.matrix_power(a, n)


@counterpart("linalg.diagonal")
def _diagonal(x: Any, /, *, offset: int = 0) -> Any:
    return arrange.diagonal(tensor(x), offset, -2, -1)


@counterpart("linalg.trace")
def _trace(x: Any, /, *, offset: int = 0, dtype: Any = None) -> Any:
    return total(_diagonal(x, offset=offset), -1, dtype)


@counterpart("linalg.outer")
def _outer(x1: Any, x2: Any, /) -> Any:
    x1, x2 = common(x1, x2)
    if x1.ndim != 1 or x2.ndim != 1:
        raise ValueError(
            "Input arrays must be one-dimensional, but they are x1.ndim="
            f"{x1.ndim} and x2.ndim={x2.ndim}."
        )
    return products.outer(x1, x2)


# -- what one call computes ------------------------------------------------------------------------

counterparts(
    {
        "linalg.det": lambda a: linear_systems.det(_square(a)),
        "linalg.slogdet": lambda a: SlogdetResult(*linear_systems.slogdet(_square(a))),
        "linalg.cholesky": lambda a, /, *, upper=False: factors.cholesky(_square(a), upper=upper),
        "linalg.svdvals": lambda x, /: spectral.svdvals(*floating(x)),
        "linalg.eigh": lambda a, UPLO="L": EighResult(*spectral.eigh(_square(a), _half(UPLO))),
        "linalg.eigvalsh": lambda a, UPLO="L": spectral.eigvalsh(_square(a), _half(UPLO)),
        "linalg.cond": lambda x, p=None: matrix_norms.cond(floating(x)[0], p),
        "linalg.multi_dot": lambda arrays, *, out=None: matrix_functions.multi_dot(common(*arrays)),
        "linalg.cross": lambda x1, x2, /, *, axis=-1: products.cross(x1, x2, axis=axis),
    }
)
