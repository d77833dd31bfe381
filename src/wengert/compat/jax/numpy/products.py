"""Layer 9 · compat: functions of `jax.numpy` for products, differences and polynomials.

Operands are promoted by JAX's rules. ``precision=`` and ``out_sharding=`` have no effect.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from wengert.compat.jax import operators
from wengert.compat.jax.array import asarray
from wengert.compat.jax.checks import check_contracted
from wengert.compat.jax.numpy.calling import (
    as_operands,
    call,
    check_arrays,
    checked_dtype,
    finished,
    no_out,
    of_row,
    operands,
    plain,
    sizes_of,
    static,
    table,
    widened,
)
from wengert.compat.jax.numpy.choosing import where
from wengert.compat.jax.words import refusal
from wengert.compat.kit.rows import of_rows
from wengert.tensor.numpy.polynomials import divided


def _as_asked(x, dtype, name: str) -> Any:
    kind = checked_dtype(dtype, name)
    return x if kind is None else x.astype(kind)


def dot(a, b, *, precision=None, preferred_element_type=None, out_sharding=None) -> Any:
    """Sum products over the last axis of `a` and the second-to-last axis of `b`.

    Examples
    --------
    >>> jnp.dot(jnp.arange(3.0), jnp.arange(3.0))
    Array(5., dtype=float32)
    """
    x, y = widened(preferred_element_type, "dot", *as_operands("dot", a, b))
    if x.ndim and y.ndim:
        check_contracted(x.shape, y.shape)
    return _as_asked(call("dot", x, y, weak=x.weak_type), preferred_element_type, "dot")


def matmul(a, b, *, precision=None, preferred_element_type=None, out_sharding=None) -> Any:
    """Multiply matrices, or stacks of them."""
    check_arrays("matmul", a, b)
    a, b = widened(preferred_element_type, "matmul", a, b)
    return _as_asked(operators.matmul(a, b), preferred_element_type, "matmul")


def tensordot(
    a, b, axes=2, *, precision=None, preferred_element_type=None, out_sharding=None
) -> Any:
    """Sum products over axes of both arrays."""
    x, y = widened(preferred_element_type, "tensordot", *as_operands("tensordot", a, b))
    if isinstance(axes, int) and axes > min(x.ndim, y.ndim):
        raise refusal(TypeError, "Number of tensordot axes", axes, x, y)
    try:
        found = call("tensordot", x, y, axes, weak=x.weak_type)
    except ValueError as error:
        raise TypeError(
            "dot_general requires contracting dimensions to have the same shape: "
            f"{tuple(x.shape)} and {tuple(y.shape)} over axes={axes}"
        ) from error
    return _as_asked(found, preferred_element_type, "tensordot")


def einsum(
    subscripts,
    /,
    *operands_,
    out=None,
    optimize="auto",
    precision=None,
    preferred_element_type=None,
    _dot_general=None,
    out_sharding=None,
) -> Any:
    """Evaluate Einstein's summation convention.

    Examples
    --------
    >>> jnp.einsum("ij,j->i", jnp.eye(2), jnp.arange(2.0))
    Array([0., 1.], dtype=float32)
    """
    no_out("einsum", out)
    several = [subscripts, *operands_]
    # or arrays alternate with their lists of subscripts, and the result's list comes last
    by_text = isinstance(subscripts, str)
    count = len(several) // 2
    arrays = as_operands("einsum", *(operands_ if by_text else several[: 2 * count : 2]))
    given = widened(preferred_element_type, "einsum", *arrays)
    if by_text:
        mixed = [subscripts, *given]
    else:
        pairs = zip(given, several[1::2], strict=False)
        mixed = [part for pair in pairs for part in pair] + several[2 * count :]
    found = call("einsum", *mixed, weak=given[0].weak_type)
    return _as_asked(found, preferred_element_type, "einsum")


def einsum_path(subscripts, /, *operands_, optimize="auto") -> Any:
    """Return the order in which `einsum` would contract, and its cost (see `numpy.einsum_path`)."""
    given = [np.broadcast_to(np.float32(0), sizes_of(x)) for x in operands_]
    how = "greedy" if optimize == "auto" else optimize
    (_, *path), costs = np.einsum_path(subscripts, *given, optimize=how)
    return path, costs


def cross(a, b, axisa: int = -1, axisb: int = -1, axisc: int = -1, axis: int | None = None) -> Any:
    """Return the cross product of three-element vectors, or the third element for two elements."""
    x, y = as_operands("cross", a, b)
    if axis is not None:
        axisa = axisb = axisc = axis
    x, y = call("moveaxis", x, axisa, -1), call("moveaxis", y, axisb, -1)
    if x.shape[-1] not in (2, 3) or y.shape[-1] not in (2, 3):
        raise ValueError("Dimension must be either 2 or 3 for cross product")
    if x.shape[-1] == y.shape[-1] == 2:
        return x[..., 0] * y[..., 1] - x[..., 1] * y[..., 0]
    x, y = (
        part if part.shape[-1] == 3 else call("pad", part, [(0, 0)] * (part.ndim - 1) + [(0, 1)])
        for part in (x, y)
    )
    return call("cross", x, y, axisc=axisc)


def matvec(x1, x2, /) -> Any:
    """Multiply matrices and vectors."""
    x, y = as_operands("matvec", x1, x2)
    return operators.matmul(x, y[..., None])[..., 0]


def vecmat(x1, x2, /) -> Any:
    """Multiply conjugated vectors and matrices."""
    x, y = as_operands("vecmat", x1, x2)
    return operators.matmul(call("conjugate", x)[..., None, :], y)[..., 0, :]


# -- differences and integrals ---------------------------------------------------------------------


def gradient(f, *varargs, axis=None, edge_order: int | None = None) -> Any:
    """Return central differences."""
    if edge_order is not None:
        raise NotImplementedError("The 'edge_order' argument to jnp.gradient is not supported.")
    x, *steps = as_operands("gradient", f, *varargs, inexact=True)
    return call("gradient", x, *steps, axis=axis, weak=x.weak_type)


def interp(x, xp, fp, left=None, right=None, period=None) -> Any:
    """Interpolate linearly between given values, with `left` and `right` beyond the ends.

    Differentiable in `x`, `xp` and `fp`. ``left="extrapolate"`` continues the first line segment.
    """
    x, xp, fp = as_operands("interp", x, xp, fp, inexact=True)
    if xp.ndim != 1 or fp.ndim != 1 or xp.shape != fp.shape:
        raise refusal(ValueError, "xp and fp must be one-dimensional", xp, fp)
    if period is not None and period == 0:
        raise ValueError(f"period must be a non-zero value; got {period}")
    return call("interp", x, xp, fp, left, right, period)


# -- polynomials -----------------------------------------------------------------------------------


def poly(seq_of_zeros) -> Any:
    """Return the polynomial with the given zeros, or the characteristic polynomial of a matrix."""
    (x,) = as_operands("poly", seq_of_zeros, inexact=True)
    if x.ndim == 2:
        x = call("linalg.eigvals", x.astype(np.result_type(x._payload.dtype, np.complex64)))
    found = one = asarray(np.ones(1), x._payload.dtype)
    for zero in call("atleast_1d", x):
        found = call("convolve", found, call("append", one, -zero))
    return found


def polyadd(a1, a2) -> Any:
    """Add polynomials."""
    x, y = as_operands("polyadd", a1, a2)
    if len(y) > len(x):
        x, y = y, x
    return x.at[len(x) - len(y) :].add(y)


def polysub(a1, a2) -> Any:
    """Subtract polynomials."""
    return polyadd(a1, -asarray(a2))


def polymul(a1, a2, *, trim_leading_zeros: bool = False) -> Any:
    """Multiply polynomials."""
    if isinstance(a1, list | tuple):
        a1 = asarray(a1)
    if isinstance(a2, list | tuple):
        a2 = asarray(a2)
    x, y = as_operands("polymul", a1, a2, inexact=True)
    if trim_leading_zeros and min(x.size, y.size) > 1:
        x, y = (call("trim_zeros", part, "f") for part in (x, y))
    return call("convolve", x if x.size else x.at[:].set(0), y)


def polydiv(u, v, *, trim_leading_zeros: bool = False) -> tuple[Any, Any]:
    """Return the quotient and the remainder of polynomials."""
    x, y = as_operands("polydiv", u, v, inexact=True)
    quotient, rest = finished(divided(plain(x), plain(y)))
    return quotient, call("trim_zeros", rest, "f") if trim_leading_zeros else rest


def polyder(p, m: int = 1) -> Any:
    """Differentiate a polynomial."""
    (x,) = as_operands("polyder", p, inexact=True)
    return asarray(call("polyder", x, static(m, "m of polyder")), x._payload.dtype)


def polyint(p, m: int = 1, k=None) -> Any:
    """Integrate a polynomial."""
    (x,) = as_operands("polyint", p, inexact=True)
    constants = asarray(0.0 if k is None else k, x._payload.dtype)
    return asarray(call("polyint", x, m, constants), x._payload.dtype)


def least_squares(x, y, rcond) -> Any:
    """Solve least squares by singular values; those below the tolerance count as 0."""
    u, s, vh = call("linalg.svd", x, False)
    cut = float(np.finfo(x._payload.dtype).eps) * max(x.shape) if rcond is None else rcond
    large = s > cut * s[0]
    inverses = where(large, 1 / where(large, s, 1), 0)
    columns = y[:, None] if y.ndim == 1 else y
    u, v = (call("conjugate", part) for part in (u.T, vh.T))
    found = v @ (inverses[:, None] * (u @ columns))
    found = found[:, 0] if y.ndim == 1 else found
    return found, asarray(np.zeros(0), s.dtype), large.sum(), s


def polyfit(x, y, deg: int, rcond=None, full: bool = False, w=None, cov=False) -> Any:
    """Fit a polynomial to points by least squares; differentiable."""
    x, y, *weights = as_operands("polyfit", x, y, *([] if w is None else [w]), inexact=True)
    deg = static(deg, "deg")
    if rcond is None:
        rcond = asarray(x.size * float(np.finfo(x._payload.dtype).eps))
    columns, values = vander(x, deg + 1), y
    for factors in weights:
        columns = columns * factors[:, None]
        values = values * (factors if y.ndim == 1 else factors[:, None])
    scale = (columns**2).sum(0) ** 0.5
    found, _, rank, sizes = least_squares(columns / scale, values, rcond)
    found = (found.T / scale).T
    if not full and not cov:
        return found
    residuals = ((columns @ found - values) ** 2).sum(0).reshape(-1)
    if full:
        return found, residuals, asarray(rank, int), sizes, rcond
    share = 1 if str(cov) == "unscaled" else residuals / (x.size - deg - 1)
    spread = call("linalg.inv", columns.T @ columns)
    return found, (spread if y.ndim == 1 else spread[..., None]) * share


def roots(p, *, strip_zeros: bool = True) -> Any:
    """Return the zeros of a polynomial."""
    (x,) = as_operands("roots", p, inexact=True)
    if x.ndim != 1:
        raise ValueError("Input must be a rank-1 array.")
    found = call("roots", x)
    found = found if found._payload.dtype.kind == "c" else found.astype(complex)
    if strip_zeros:
        return found
    # one root for each coefficient but the last: NaN for leading zeros
    unknown = np.full(x.size - 1 - found.size, complex("nan+nanj"))
    return call("concatenate", [found, asarray(unknown, found._payload.dtype)])


def vander(x, N: int | None = None, increasing: bool = False) -> Any:
    """Return a matrix of powers, one number per row."""
    (x,) = operands("vander", x)
    if x.ndim != 1:
        raise ValueError("x must be a one-dimensional array")
    n = x.shape[0] if N is None else static(N, "N of vander")
    if n < 0:
        raise ValueError("N must be nonnegative")
    powers = np.arange(n) if increasing else np.arange(n)[::-1]
    return x[:, None] ** asarray(powers.copy(), x._payload.dtype)


of_rows(
    globals(),
    of_row,
    """
    convolve | a, v, mode="full", *, precision=None, preferred_element_type=None | inexact-weak
        | Return the convolution of vectors.
    correlate | a, v, mode="valid", *, precision=None, preferred_element_type=None | inexact-weak
        | Return the correlation of vectors.
    diff | a, n=1, axis=-1, prepend=None, append=None | same-weak prepend append
        | Return the differences of consecutive elements.
    ediff1d | ary, to_end=None, to_begin=None | own-weak to_end to_begin
        | Return the differences of all elements in order, with values added at both ends.
    inner | a, b, *, precision=None, preferred_element_type=None | same-weak
        | Return the sum of products over the last axes.
    kron | a, b | same-weak | Return the Kronecker product.
    outer | a, b, out=None | same-weak | Return the products of all pairs of elements.
    polyval | p, x, *, unroll=16 | same
        | Evaluate a polynomial, whose coefficients begin with the highest power.
    trapezoid | y, x=None, dx=1.0, axis=-1 | inexact x
        | Integrate by the trapezoidal rule.
    unwrap | p, discont=None, axis=-1, period=6.283185307179586 | own
        | Return angles without their jumps.
    vdot | a, b, *, precision=None, preferred_element_type=None | same-weak
        | Return the sum of the products of all elements; those of `a` are conjugated.
    vecdot | x1, x2, /, *, axis=-1, precision=None, preferred_element_type=None | same
        | Return the sums of products along an axis; the elements of `x1` are conjugated.
    """,
)
NAMES = table(globals(), "least_squares")
