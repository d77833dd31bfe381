"""Layer 9 · compat: ``autograd.scipy.linalg``.

>>> from wengert.compat.autograd.scipy.linalg import solve_triangular
>>> a = np.array([[2.0, 0.0], [1.0, 1.0]])
>>> np.tril(grad(lambda a: solve_triangular(a, np.ones(2), lower=True)[1])(a))
array([[ 0.25,  0.  ],
       [-0.5 , -0.5 ]])
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as _np

import wengert.compat.autograd.numpy as np
from wengert.base.extras import scipy_module
from wengert.base.sections import fill_sections
from wengert.compat.autograd.boxes import boxed
from wengert.compat.autograd.primitives import defjvp, defjvp_argnums, defvjp_argnums, primitive
from wengert.compat.autograd.primitives import defvjp as _defvjp
from wengert.compat.autograd.scipy.dispatch import named_by, no_rule
from wengert.numpy.arrays import array_of
from wengert.ops.linear_systems import solve_triangular as _solve_triangular
from wengert.ops.matrix_functions import matrix_exp as _matrix_exp


def _swapped(x) -> Any:
    return np.swapaxes(x, -1, -2)


def triangular(
    a,
    b,
    trans=0,
    lower: bool = False,
    unit_diagonal: bool = False,
    overwrite_b: bool = False,
    check_finite: bool = True,
) -> Any:
    """`scipy.linalg.solve_triangular` of boxes: the other triangle of `a` is not looked at."""
    if trans in (1, "T", 2, "C"):
        a, lower = _swapped(a), not lower
        if trans in (2, "C"):
            a = np.conj(a)
    a, b = np.asarray(a), np.asarray(b)
    vector = np.ndim(b) == 1
    right = np.reshape(b, (-1, 1)) if vector else b
    kind = _np.result_type(a.dtype, b.dtype, _np.float32)
    solved = boxed(
        _solve_triangular(
            array_of(a).astype(kind),
            array_of(right).astype(kind),
            upper=not lower,
            unitriangular=unit_diagonal,
        )
    )
    return np.reshape(solved, (-1,)) if vector else solved


def expm_of(A) -> Any:
    """`scipy.linalg.expm` of boxes."""
    return boxed(_matrix_exp(A))


def cholesky_of(a, lower: bool = False, **options) -> Any:
    """`scipy.linalg.cholesky` of boxes: the upper factor, unless `lower` is given."""
    factor = np.linalg.cholesky(a)
    return factor if lower else np.conj(_swapped(factor))


def inv_of(a, **options) -> Any:
    """`scipy.linalg.inv` of boxes."""
    return np.linalg.inv(a)


def det_of(a, **options) -> Any:
    """`scipy.linalg.det` of boxes."""
    return np.linalg.det(a)


def pinv_of(a, **options) -> Any:
    """`scipy.linalg.pinv` of boxes, with its default tolerances."""
    if options:
        raise no_rule("pinv", "scipy.linalg", (a,))
    return np.linalg.pinv(a)


def solve_of(a, b, lower: bool = False, **options) -> Any:
    """`scipy.linalg.solve` of boxes: of general matrices, whatever is assumed of them."""
    if options.get("transposed"):
        a = _swapped(a)
    return np.linalg.solve(a, b)


def norm_of(a, ord=None, axis=None, keepdims: bool = False, **_) -> Any:
    """`scipy.linalg.norm` of boxes."""
    return np.linalg.norm(a, ord, axis, keepdims)


def block_diag_of(*arrs) -> Any:
    """`scipy.linalg.block_diag` of boxes."""
    blocks = [np.atleast_2d(arr) for arr in arrs]
    shapes = [np.shape(block) for block in blocks]
    width = sum(shape[1] for shape in shapes)
    rows = []
    start = 0
    for block, (height, columns) in zip(blocks, shapes, strict=True):
        left, right = _np.zeros((height, start)), _np.zeros((height, width - start - columns))
        rows.append(np.concatenate([left, block, right], axis=1))
        start += columns
    return np.concatenate(rows, axis=0)


# -- those that SciPy computes ---------------------------------------------------------------------


@primitive
def sqrtm(A, disp: bool = True, blocksize: int = 64) -> Any:
    """The square root of a matrix (see `scipy.linalg.sqrtm`)."""
    if not disp:
        raise NotImplementedError("sqrtm with disp=False: leave it out")
    return scipy_module("linalg", "scipy.linalg.sqrtm").sqrtm(A)


@primitive
def solve_sylvester(a, b, q) -> Any:
    """The matrix x with ``a @ x + x @ b = q`` (see `scipy.linalg.solve_sylvester`)."""
    return scipy_module("linalg", "scipy.linalg.solve_sylvester").solve_sylvester(a, b, q)


@primitive
def solve_banded(l_and_u, a, b, *more, **options) -> Any:
    """The solution of a banded system, `a` given by diagonals (see `scipy.linalg.solve_banded`)."""
    scipys = scipy_module("linalg", "scipy.linalg.solve_banded").solve_banded
    return scipys(l_and_u, a, b, *more, **options)


def _sqrtm_vjp(ans, A, disp: bool = True, blocksize: int = 64) -> Callable[[Any], Any]:
    return lambda g: solve_sylvester(_swapped(ans), _swapped(ans), g)


_defvjp(sqrtm, _sqrtm_vjp)
defjvp(sqrtm, lambda g, ans, A, *more, **options: solve_sylvester(ans, ans, g))


def _sylvester_vjp(argnums, ans, args, _) -> Callable[[Any], Any]:
    a, b, _q = args

    def vjp(g) -> list[Any]:
        by_q = solve_sylvester(_swapped(a), _swapped(b), g)
        other = _swapped(ans)
        parts = {0: lambda: -np.dot(by_q, other), 1: lambda: -np.dot(other, by_q)}
        return [by_q if argnum == 2 else parts[argnum]() for argnum in argnums]

    return vjp


def _sylvester_jvp(argnums, gs, ans, args, _) -> Any:
    a, b, _q = args
    tangents = dict(zip(argnums, gs, strict=True))
    right = tangents.get(2, 0.0)
    if 0 in tangents:
        right = right - np.dot(tangents[0], ans)
    if 1 in tangents:
        right = right - np.dot(ans, tangents[1])
    return solve_sylvester(a, b, right)


defvjp_argnums(solve_sylvester, _sylvester_vjp)
defjvp_argnums(solve_sylvester, _sylvester_jvp)


def _row(values, start: int, width: int) -> Any:
    """A diagonal as a row of `a`, with zeros where it has no elements."""
    after = width - start - np.shape(values)[0]
    return np.concatenate([_np.zeros(start), values, _np.zeros(after)])


def _diagonals(l_and_u, n: int) -> list[tuple[int, int, int]]:
    """For each row of `a`: how far its diagonal is above the main one, its columns from and to."""
    lower, upper = l_and_u
    return [(k, max(k, 0), n + min(k, 0)) for k in range(upper, -lower - 1, -1)]


def _transposed(l_and_u, a) -> Any:
    n = np.shape(a)[1]
    rows = [
        _row(a[i, start:stop], start - k, n)
        for i, (k, start, stop) in enumerate(_diagonals(l_and_u, n))
    ]
    return np.stack(rows[::-1])


def _banded_vjp(argnums, ans, args, options: dict[str, Any]) -> Callable[[Any], Any]:
    l_and_u, a, *_ = args
    lower, upper = l_and_u
    n = np.shape(a)[1]

    def vjp(g) -> list[Any]:
        by_b = solve_banded((upper, lower), _transposed(l_and_u, a), g)
        if 1 not in argnums:
            return [by_b]
        left, right = np.reshape(by_b, (n, -1)), np.reshape(ans, (n, -1))
        rows = [
            _row(-np.sum(left[start - k : stop - k] * right[start:stop], axis=1), start, n)
            for k, start, stop in _diagonals(l_and_u, n)
        ]
        return [np.stack(rows) if argnum == 1 else by_b for argnum in argnums]

    return vjp


defvjp_argnums(solve_banded, _banded_vjp)

_FORMULAS: dict[str, Any] = {
    "block_diag": block_diag_of,
    "cholesky": cholesky_of,
    "det": det_of,
    "expm": expm_of,
    "inv": inv_of,
    "norm": norm_of,
    "pinv": pinv_of,
    "solve": solve_of,
    "solve_triangular": triangular,
}


__getattr__, __dir__ = named_by(globals(), "linalg", "", _FORMULAS)


fill_sections(globals())
