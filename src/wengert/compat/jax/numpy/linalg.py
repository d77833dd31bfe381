"""Layer 9 · compat: linear algebra under the names of ``jax.numpy.linalg``.

Where a matrix of a batch is singular, not positive definite, or not finite, its result is NaN, as
in JAX, and nothing raises.

>>> jnp.linalg.norm(jnp.array([3.0, 4.0]))
Array(5., dtype=float32)
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import numpy as np

from wengert.compat.jax.array import asarray
from wengert.compat.jax.callbacks import pure_callback
from wengert.compat.jax.custom_batching import custom_vmap
from wengert.compat.jax.lax_elementwise import stop_gradient
from wengert.compat.jax.numpy import products, reductions
from wengert.compat.jax.numpy.calling import (
    as_operands,
    call,
    documented,
    finished,
    of_row,
    operands,
    plain,
    static,
)
from wengert.compat.jax.staging import ShapeDtypeStruct
from wengert.compat.jax.trees import tree_map
from wengert.compat.jax.words import refusal
from wengert.compat.kit.namespaces import closed, defined
from wengert.compat.kit.rows import of_rows
from wengert.kernels.spectral import LinAlgError
from wengert.ops.factors import geqrf

_FAILURES = (np.linalg.LinAlgError, LinAlgError)


def _square(name: str, a) -> Any:
    """Return `a` as square matrices of an inexact dtype."""
    (x,) = as_operands(f"jnp.linalg.{name}", a, inexact=True)
    if x.ndim < 2 or x.shape[-1] != x.shape[-2]:
        raise ValueError(f"Argument to {name} must have shape [..., n, n], got {tuple(x.shape)}.")
    return x


def _fails(function: Callable[..., Any], matrices: np.ndarray) -> np.ndarray:
    """Return for which matrices of a batch a function fails."""
    failed = np.array(~np.isfinite(matrices).all((-2, -1)))
    for place in map(tuple, np.argwhere(~failed)):
        try:
            function(asarray(matrices[place]))
        except _FAILURES:
            failed[place] = True
    return failed


def or_nan(function: Callable[..., Any], x, cores: int | None = None) -> Any:
    """Call a function of matrices; where it fails, its results and their derivatives are NaN.

    Parameters
    ----------
    cores : int, optional. How many dimensions of the results are not of the batch; if omitted, all
        that come after those of the batch of `x`.
    """
    try:
        return function(x)
    except _FAILURES:
        batch = ShapeDtypeStruct(tuple(x.shape[:-2]), bool)
        fails, still = functools.partial(_fails, function), stop_gradient(x)
        failed = pure_callback(fails, batch, still, vmap_method="broadcast_all")
    eye = np.eye(*x.shape[-2:], dtype=x._payload.dtype)
    total = reductions.NAMES["sum"](x, (-2, -1))
    spoilt = call("where", failed, np.float32(np.nan), np.float32(0)) * total

    def result(part) -> Any:
        if isinstance(part, int) or part._payload.dtype.kind not in "fc":
            return part  # ranks and exchanges of rows
        rest = part.ndim - spoilt.ndim if cores is None else cores
        return part + spoilt.reshape(tuple(spoilt.shape) + (1,) * rest).astype(part._payload.dtype)

    return tree_map(result, function(call("where", failed[..., None, None], eye, x)))


def _call(name: str, x, *rest, cores: int | None = None, **options) -> Any:
    return or_nan(lambda x: call(f"linalg.{name}", x, *rest, **options), x, cores)


def _adjoint(x) -> Any:
    return call("conjugate", call("matrix_transpose", x))


def cholesky(a, *, upper: bool = False, symmetrize_input: bool = True) -> Any:
    """Return the Cholesky factor of positive definite matrices."""
    x = _square("cholesky", a)
    if symmetrize_input:
        x = (x + _adjoint(x)) / 2
    return _call("cholesky", x, upper=upper)


def inv(a) -> Any:
    """Return the inverses of matrices."""
    return _call("inv", _square("inv", a))


def det(a) -> Any:
    """Return the determinants of matrices."""
    x = _square("det", a)
    return call("linalg.det", x, weak=x.weak_type)


def slogdet(a, *, method: str | None = None) -> Any:
    """Return the signs of determinants and the logarithms of their absolute values."""
    return call("linalg.slogdet", _square("slogdet", a))


def solve(a, b) -> Any:
    """Solve ``a @ x = b``."""
    x, y = as_operands("jnp.linalg.solve", a, b, inexact=True)
    if x.ndim < 2:
        raise refusal(ValueError, "left hand array must be", x)
    if not y.ndim:
        raise refusal(ValueError, "right hand array must be", y)
    if x.shape[-1] != x.shape[-2]:
        raise refusal(ValueError, "last two dimensions of", x)
    return _call("solve", x, y, cores=min(y.ndim, 2))


def lstsq(a, b, rcond=None, *, numpy_resid: bool = False) -> Any:
    """Return the least squares solution of ``a @ x = b``, residuals, rank and singular values."""
    x, y = as_operands("jnp.linalg.lstsq", a, b, inexact=True)
    if x.ndim != 2:
        raise TypeError(f"{x.ndim}-dimensional array given. Array must be two-dimensional")
    if isinstance(x._payload, np.ndarray):
        found, residuals, rank, s = _call("lstsq", x, y, rcond)
    else:
        solve = functools.partial(products.least_squares, y=y, rcond=rcond)
        found, residuals, rank, s = or_nan(solve, x)
    if not numpy_resid:
        away = x @ found - y
        residuals = reductions.NAMES["sum"](abs(away) ** 2, 0).reshape(-1)
    return found, residuals, asarray(rank, int), s


def pinv(a, rtol=None, hermitian: bool = False, *, rcond=None) -> Any:
    """Return the pseudo-inverses of matrices."""
    (x,) = as_operands("jnp.linalg.pinv", a, inexact=True)
    cut = rtol if rcond is None else rcond
    if cut is None:
        cut = 10.0 * max(x.shape[-2:]) * float(np.finfo(x._payload.dtype).eps)
    return _call("pinv", x, rcond=cut, hermitian=hermitian)


@custom_vmap
def _reflections(x) -> Any:
    """Return the reflections whose product is Q, with R above them, and their factors."""
    return tuple(finished(geqrf(plain(x))))


@_reflections.def_vmap
def _of_batch(size: int, in_batched: list[bool], x) -> Any:
    return _reflections(x), (True, True)


def qr(a, mode: str = "reduced") -> Any:
    """Return the QR factors, or with the mode ``"raw"`` the reflections whose product is Q."""
    (x,) = as_operands("jnp.linalg.qr", a, inexact=True)
    if mode == "raw":
        packed, taus = _reflections(x)
        return packed.mT, taus
    if mode == "full":
        mode = "complete"
    if mode not in ("reduced", "complete", "r"):
        raise ValueError(f"Unsupported QR decomposition mode '{mode}'")
    return _call("qr", x, mode)


def svd(
    a,
    full_matrices: bool = True,
    compute_uv: bool = True,
    hermitian: bool = False,
    subset_by_index=None,
) -> Any:
    """Return the singular value decomposition."""
    (x,) = as_operands("jnp.linalg.svd", a, inexact=True)
    if subset_by_index is not None:
        raise refusal(NotImplementedError, "jnp.linalg.svd with subset_by_index=")
    return _call("svd", x, full_matrices, compute_uv, hermitian)


def _hermitian(name: str, a, symmetrize: bool) -> Any:
    x = _square(name, a)
    return (x + _adjoint(x)) / 2 if symmetrize else x


def eigh(a, UPLO: str | None = None, symmetrize_input: bool = True) -> Any:
    """Return the eigenvalues, in ascending order, and eigenvectors of Hermitian matrices."""
    _check_half(UPLO)
    return _call("eigh", _hermitian("eigh", a, symmetrize_input), UPLO or "L")


def _check_half(half: str | None) -> None:
    if half not in (None, "L", "U"):
        raise ValueError(f"UPLO must be one of None, 'L', or 'U', got {half}")


def eigvalsh(a, UPLO: str | None = "L", *, symmetrize_input: bool = True) -> Any:
    """Return the eigenvalues of Hermitian matrices."""
    _check_half(UPLO)
    return _call("eigvalsh", _hermitian("eigvalsh", a, symmetrize_input), UPLO or "L")


def _as_complex(x) -> Any:
    dtype = x._payload.dtype
    return x if dtype.kind == "c" else x.astype(np.result_type(dtype, np.complex64))


def eig(a) -> Any:
    """Return the eigenvalues and eigenvectors, as complex numbers."""
    x = _square("eig", a)
    found = _call("eig", _as_complex(x))
    return type(found)(*map(_as_complex, found))


def eigvals(a) -> Any:
    """Return the eigenvalues, as complex numbers."""
    return _as_complex(_call("eigvals", _as_complex(_square("eigvals", a))))


def norm(x, ord=None, axis=None, keepdims: bool = False) -> Any:
    """Return norms of vectors or matrices.

    The derivative of the Euclidean norm at 0 is 0, where JAX has NaN.

    Examples
    --------
    >>> jnp.linalg.norm(jnp.ones((2, 2)), axis=0)
    Array([1.4142135, 1.4142135], dtype=float32)
    """
    (x,) = as_operands("jnp.linalg.norm", x, inexact=True)
    if not x.ndim and axis is None:
        return abs(x).astype(abs(x)._payload.dtype)
    if isinstance(axis, tuple) and len(axis) == 1:
        axis = axis[0]
    return call("linalg.norm", x, ord, axis, keepdims)


def matrix_power(a, n: int) -> Any:
    """Raise matrices to an integer power."""
    (x,) = operands("jnp.linalg.matrix_power", a)
    n = static(n, "n of matrix_power")
    if n < 0:
        x = _square("matrix_power", x)
    return _call("matrix_power", x, n)


def matrix_rank(M, rtol=None, *, hermitian: bool = False, tol=None) -> Any:
    """Count the singular values above `rtol`, or above rounding errors of the largest one."""
    (x,) = as_operands("jnp.linalg.matrix_rank", M, inexact=True)
    if x.ndim < 2:
        return call("any", x != 0).astype(int)
    s = _call("svdvals", x)
    bound = rtol if tol is None else tol
    if bound is None:
        bound = s[..., 0] * (max(x.shape[-2:]) * float(np.finfo(x._payload.dtype).eps))
    return reductions.NAMES["sum"]((s > asarray(bound)[..., None]).astype(int), -1)


def multi_dot(arrays, *, precision=None) -> Any:
    """Multiply several matrices in the cheapest order."""
    return call("linalg.multi_dot", as_operands("jnp.linalg.multi_dot", *arrays))


def cross(x1, x2, /, *, axis: int = -1) -> Any:
    """Return the cross product of three-element vectors."""
    x, y = as_operands("jnp.linalg.cross", x1, x2)
    if x.shape[axis] != 3 or y.shape[axis] != 3:
        raise refusal(ValueError, "Both input arrays must", x.shape[axis], y.shape[axis])
    return products.cross(x, y, axis=axis)


def outer(x1, x2, /) -> Any:
    """Return the products of all pairs of elements of two vectors."""
    x, y = as_operands("jnp.linalg.outer", x1, x2)
    if x.ndim != 1 or y.ndim != 1:
        raise refusal(ValueError, "Input arrays must be one-dimensional", x, y)
    return products.NAMES["outer"](x, y)


def _row(name: str, parameters: str, meeting: str, text: str) -> Callable[..., Any]:
    """Return `jax.numpy`'s product of this name, or the counterpart of NumPy's function."""
    product = products.NAMES.get(name)
    compute: Any = functools.partial(_call, name)
    if product is not None:
        compute = lambda *arrays, weak, **options: product(*arrays, **options)  # noqa: E731
    return of_row(name, parameters, meeting, text, compute, "numpy.linalg")


of_rows(
    globals(),
    _row,
    """
    cond | x, p=None | inexact | Return the condition numbers of matrices.
    diagonal | x, /, *, offset=0 | own | Return the diagonals of matrices.
    matmul | x1, x2, /, *, precision=None, preferred_element_type=None | same
        | Return the product of matrices.
    matrix_norm | x, /, *, keepdims=False, ord="fro" | inexact | Return the norms of matrices.
    matrix_transpose | x, / | own | Transpose matrices.
    svdvals | x, / | inexact | Return the singular values.
    tensordot
        | x1, x2, /, *, axes=2, precision=None, preferred_element_type=None, out_sharding=None
        | same | Return the sums of products over axes of both.
    tensorinv | a, ind=2 | inexact | Return the inverse of an array with respect to `tensordot`.
    tensorsolve | a, b, axes=None | inexact | Return the solution x of ``tensordot(a, x) = b``.
    trace | x, /, *, offset=0, dtype=None | own | Return the traces of matrices.
    vecdot | x1, x2, /, *, axis=-1, precision=None, preferred_element_type=None | same
        | Return the sums of products along an axis.
    vector_norm | x, /, *, axis=None, keepdims=False, ord=2 | inexact
        | Return the norms of vectors.
    """,
)

__getattr__ = closed(globals())

__all__ = defined(globals())
for _name in __all__:
    documented(globals()[_name], f"linalg.{_name}")
