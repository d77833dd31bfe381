"""Layer 8 · scipy: LAPACK's and SciPy's matrix computations as operations on the tape.

NOTE [derivatives of functions of matrices]
For an analytic f, ``f([[A, E], [0, A]]) = [[f(A), L(A, E)], [0, f(A)]]``, in which L is the
derivative of f at A in direction E (Higham, "Functions of Matrices", 2008, (3.16)). Since the trace
of ``B @ L(A, E)`` is that of ``L(A, B) @ E``, the adjoint of ``L(A, ·)`` maps G to the adjoint of
``L(A, G.mH)``, also where f jumps, as the square root does at negative eigenvalues. Both rules are
f of a matrix twice as large, so they have rules themselves, to any order.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from wengert.autograd.elements import each, without_tangent
from wengert.autograd.function import Function
from wengert.base.extras import scipy_module
from wengert.ops.join import cat, stack
from wengert.tape.base import new_tensor

__all__ = ["banded", "frechet", "matrix_function", "sylvester"]


def frechet(function: Callable[[Any], Any], A: Any, E: Any) -> tuple[Any, Any]:
    """Return ``function(A)``, and its derivative in direction `E`."""
    n = A.shape[-1]
    upper, under = cat([A, E.expand(A.shape)], -1), cat([A.new_zeros(A.shape), A], -1)
    found = function(cat([upper, under], -2))
    return found[..., :n, :n], found[..., :n, n:]


def _value(tensor: Any) -> Any:
    """Return the array for SciPy, without tangents, which the rules handle."""
    return without_tangent(tensor)._payload


def _matrixwise(function: Callable[[Any], Any], array: Any) -> Any:
    """Apply `function` to each matrix."""
    rows = [np.asarray(function(m)) for m in array.reshape(-1, *array.shape[-2:])]
    return np.stack(rows).reshape(array.shape) if rows else array.copy()


class _MatrixFunction(Function):
    """A function of square matrices computed by SciPy: see NOTE [derivatives of functions]."""

    @staticmethod
    def forward(ctx: Any, function: Callable[[Any], Any], A: Any) -> Any:
        """Compute ``function(A)``, in the precision of `A`."""
        ctx.scipys = function
        ctx.save_for_backward(A)
        ctx.save_for_forward(A)
        array = _value(A)
        found = _matrixwise(function, array)
        if array.dtype.char in "fF":
            found = found.astype("F" if found.dtype.kind == "c" else "f")
        return new_tensor(found)

    @staticmethod
    def backward(ctx: Any, grad: Any) -> Any:
        """Apply the adjoint of the derivative."""
        return None, _MatrixFunction._slope(ctx, ctx.saved_tensors[0], grad.mH).mH

    @staticmethod
    def jvp(ctx: Any, _: Any, tangent: Any) -> Any:
        """Return the derivative in the direction of the tangent."""
        return _MatrixFunction._slope(ctx, ctx.saved_tensors[0], tangent)

    @staticmethod
    def _slope(ctx: Any, A: Any, E: Any) -> Any:
        return frechet(lambda A: matrix_function(ctx.scipys, A), A, E)[1]


def matrix_function(function: Callable[[Any], Any], A: Any) -> Any:
    """Compute ``function(A)`` of square matrices, by a `function` of one array."""
    return each(lambda given: [_MatrixFunction.apply(function, *given)], [A])[0]


class _Sylvester(Function):
    """The solution x of ``a @ x + x @ b = q``."""

    @staticmethod
    def forward(ctx: Any, a: Any, b: Any, q: Any) -> Any:
        scipys = scipy_module("linalg", "scipy.linalg.solve_sylvester").solve_sylvester
        found = new_tensor(scipys(*map(_value, (a, b, q))).astype(q._payload.dtype))
        ctx.save_for_backward(a, b, found)
        ctx.save_for_forward(a, b, found)
        return found

    @staticmethod
    def backward(ctx: Any, grad: Any) -> Any:
        a, b, x = ctx.saved_tensors
        by_q = sylvester(a.mH, b.mH, grad)
        return -by_q @ x.mH, -x.mH @ by_q, by_q

    @staticmethod
    def jvp(ctx: Any, ta: Any, tb: Any, tq: Any) -> Any:
        a, b, x = ctx.saved_tensors
        return sylvester(a, b, tq - ta @ x - x @ tb)


def sylvester(a: Any, b: Any, q: Any) -> Any:
    """Solve ``a @ x + x @ b = q``; under `vmap`, once for each element of the batch."""
    for name, x in (("a", a), ("b", b), ("q", q)):
        if x.ndim != 2:
            raise ValueError(f"solve_sylvester takes matrices, `{name}` has the shape {x.shape}")
    return each(lambda given: [_Sylvester.apply(*given)], [a, b, q])[0]


class _Banded(Function):
    """The solution of a banded system, by its diagonals."""

    @staticmethod
    def forward(ctx: Any, lower: int, upper: int, ab: Any, b: Any) -> Any:
        scipys = scipy_module("linalg", "scipy.linalg.solve_banded").solve_banded
        found = new_tensor(scipys((lower, upper), _value(ab), _value(b)))
        ctx.widths = lower, upper
        ctx.save_for_backward(ab, found)
        ctx.save_for_forward(ab, found)
        return found

    @staticmethod
    def backward(ctx: Any, grad: Any) -> Any:
        ab, x = ctx.saved_tensors
        lower, upper = ctx.widths
        by_b = banded(upper, lower, _adjoint(lower, upper, ab), grad)
        rows = [
            _row(-(by_b[start - k : stop - k] * x[start:stop].conj()).sum(1), start, len(x))
            for k, start, stop in _diagonals(lower, upper, len(x))
        ]
        return None, None, stack(rows), by_b

    @staticmethod
    def jvp(ctx: Any, _: Any, __: Any, tab: Any, tb: Any) -> Any:
        ab, x = ctx.saved_tensors
        lower, upper = ctx.widths
        moved = sum(
            _row(tab[i, start:stop].unsqueeze(1) * x[start:stop], start - k, len(x))
            for i, (k, start, stop) in enumerate(_diagonals(lower, upper, len(x)))
        )
        return banded(lower, upper, ab, tb - moved)


def _row(values: Any, start: int, width: int) -> Any:
    """Return `values` from `start` on, padded with zeros."""
    after = width - start - len(values)
    zeros = [values.new_zeros((count, *values.shape[1:])) for count in (start, after)]
    return cat([zeros[0], values, zeros[1]])


def _diagonals(lower: int, upper: int, n: int) -> list[tuple[int, int, int]]:
    """Return the offset of each diagonal above the main one, and its first and last column."""
    return [(k, min(max(k, 0), n), max(n + min(k, 0), 0)) for k in range(upper, -lower - 1, -1)]


def _adjoint(lower: int, upper: int, ab: Any) -> Any:
    n = ab.shape[1]
    rows = [
        _row(ab[i, start:stop].conj(), start - k, n)
        for i, (k, start, stop) in enumerate(_diagonals(lower, upper, n))
    ]
    return stack(rows[::-1])


def banded(lower: int, upper: int, ab: Any, b: Any) -> Any:
    """Solve a system with `lower` and `upper` diagonals beside the main one."""
    return each(lambda given: [_Banded.apply(lower, upper, *given)], [ab, b])[0]
