"""Layer 9 · compat: the functions of `jax.lax` that work element by element.

They are stricter than `jax.numpy`: operands have one dtype (Python numbers adapt to it) and the
same number of dimensions, or none.
"""

from __future__ import annotations

import enum
import math
from collections.abc import Callable
from typing import Any

import numpy as np

import wengert.compat.jax.numpy as jnp
from wengert.base.error_states import errstate, quietly
from wengert.compat.jax.array import Array, asarray, convert, made, result_type
from wengert.compat.jax.checks import all_ones, by_zero, check_dtype, check_shapes
from wengert.compat.jax.classes import is_traced
from wengert.compat.jax.dtypes import requested_dtype
from wengert.compat.jax.numpy.ufuncs import bits_set
from wengert.compat.jax.operators import absolute, negative, power
from wengert.compat.jax.tracing import argument
from wengert.compat.jax.trees import tree_map
from wengert.compat.jax.words import refusal
from wengert.compat.kit.namespaces import functions_of, rows_of
from wengert.compat.kit.signatures import named
from wengert.ops.expand import broadcast_to
from wengert.prims import parts as parts
from wengert.tape.base import new_tensor
from wengert.tape.record import T
from wengert.tensor.tensor import Tensor


class RoundingMethod(enum.Enum):
    """The rule for rounding numbers halfway between two integers."""

    AWAY_FROM_ZERO = 0
    TO_NEAREST_EVEN = 1


_KIND = {"b": "b", "i": "i", "u": "i", "f": "f", "c": "c"}


def same_dtypes(name: str, *values) -> list[Any]:
    """Return operands as arrays of one dtype; only Python numbers are converted.

    Raises
    ------
    TypeError: If dtypes differ.
    """
    arrays = [argument(value) for value in values]
    dtype, weak = result_type(*arrays)
    strong = {x._payload.dtype for x in arrays if not x.weak_type}
    kinds = {_KIND.get(x._payload.dtype.kind, "f") for x in arrays}
    fits = len(strong) <= 1 and len(kinds) == 1
    if not fits:
        names = ", ".join(x._payload.dtype.name for x in arrays)
        raise refusal(TypeError, "lax.{0} requires arguments", name, names)
    return [made(convert(x, dtype), weak) for x in arrays]


def _same_shapes(name: str, arrays: list[Any]) -> None:
    shapes = [tuple(x._payload.shape) for x in arrays if x._payload.ndim]
    ndims = {len(shape) for shape in shapes}
    if len(ndims) > 1:
        raise refusal(TypeError, "{}: arrays must", name, ndims, ", ".join(map(str, shapes)))
    check_shapes(name, *[x for x in arrays if x._payload.ndim])


_TEXT = "Compute ``lax.{0}({1})`` elementwise (see `jax.lax.{0}`)."


def _unary(name: str, rule: Callable[[Any], Any], kinds: str) -> Callable[..., Any]:
    def function(x, accuracy=None) -> Any:
        array = argument(x)
        check_dtype(name, array, kinds)
        return made(quietly(rule, array), array.weak_type)

    return named(function, name, _TEXT.format(name, "x"))


def _binary(name: str, rule: Callable[[Any, Any], Any], kinds: str) -> Callable[..., Any]:
    def function(x, y) -> Any:
        a, b = same_dtypes(name, x, y)
        check_dtype(name, a, kinds, 0)
        _same_shapes(name, [a, b])
        return made(quietly(rule, a, b), a.weak_type)

    return named(function, name, _TEXT.format(name, "x, y"))


def _quotient(a, b) -> Any:
    if a._payload.dtype.kind in "iu":
        return by_zero("div_trunc", a, b, all_ones)
    return T.div(a, b)


def _rounded(x) -> Any:
    # halves away from zero; T.round rounds them to even
    whole = T.trunc(x)
    further = T.ge(T.abs(T.sub(x, whole)), 0.5)
    return T.add(whole, T.copysign(T.to_copy(further, dtype=x._payload.dtype), T.clone(x)))


def _sign(x) -> Any:
    return T.sgn(x) if x._payload.dtype.kind == "c" else T.sign(x)


def _size(x) -> int:
    return 8 * int(x._payload.dtype.itemsize)


def _leading_zeros(x) -> Any:
    for by in (1, 2, 4, 8, 16, 32):
        if by < _size(x):
            x = T.bitwise_or(x, T.bitwise_right_shift(x, by))
    return T.sub(_size(x), bits_set(x))


def _logical_shift(a, b) -> Any:
    if a._payload.dtype.kind == "u":
        return T.bitwise_right_shift(a, b)
    kept = T.bitwise_not(T.bitwise_left_shift(-1, T.sub(_size(a), b)))
    outside = T.logical_or(T.lt(b, 0), T.ge(b, _size(a)))
    moved = T.where(T.eq(b, 0), a, T.bitwise_and(T.bitwise_right_shift(a, b), kept))
    return T.where(outside, 0, moved)


def _digamma(x) -> Any:
    # at 0 there is no value, but a derivative
    none, nan = (new_tensor(np.asarray(value, x._payload.dtype)) for value in (0, math.nan))
    return T.add(T.digamma(x), T.where(T.eq(x, 0), nan, none))


def _recorded(prim: str) -> Callable[..., Any]:
    """Return a primitive that is looked up when it is first called."""

    def rule(*arrays) -> Any:
        return getattr(T, prim)(*arrays)

    return rule


_ONE = """
    c: imag real
    fc: acos acosh asin asinh atan atanh cos cosh exp exp2 expm1 log log1p sin sinh sqrt tan tanh
        is_finite=isfinite logistic=sigmoid reciprocal rsqrt
    f: bessel_i0e=special_i0e bessel_i1e=special_i1e cbrt ceil erf erf_inv=erfinv erfc
        floor lgamma
    biu: bitwise_not
    """
_TWO = """
    biufc: add eq mul ne
    iufc: sub
    biuf: ge gt le lt
    f: atan2 complex nextafter igamma igammac zeta=special_zeta
    biu: bitwise_and bitwise_or bitwise_xor
    iu: shift_left=bitwise_left_shift shift_right_arithmetic=bitwise_right_shift
    """
"""Primitives with one and two operands, by dtype kinds, under JAX's names."""


def _primitives(text: str) -> dict[str, tuple[Callable[..., Any], str]]:
    named = [(one.partition("="), kinds) for kinds, names in rows_of(text) for one in names]
    return {name: (_recorded(prim or name), kinds) for (name, _, prim), kinds in named}


_UNARY: dict[str, tuple[Callable[[Any], Any], str]] = {
    **_primitives(_ONE),
    "abs": (absolute, "iufc"),
    "clz": (_leading_zeros, "iu"),
    "digamma": (_digamma, "f"),
    "neg": (negative, "iufc"),
    "population_count": (bits_set, "iu"),
    "sign": (_sign, "iufc"),
    "square": (lambda x: T.mul(x, x), "iufc"),
}
_BINARY: dict[str, tuple[Callable[[Any, Any], Any], str]] = {
    **_primitives(_TWO),
    "div": (_quotient, "iufc"),
    "max": (lambda a, b: (jnp if a._payload.dtype.kind == "c" else T).maximum(a, b), "biufc"),
    "min": (lambda a, b: (jnp if a._payload.dtype.kind == "c" else T).minimum(a, b), "biufc"),
    "rem": (lambda a, b: by_zero("fmod", a, b, lambda x, dtype: x), "iuf"),
    "shift_right_logical": (_logical_shift, "iu"),
}


def pow(x, y) -> Any:
    """Return ``x ** y``; `y` may be an integer where `x` is not."""
    a, b = argument(x), argument(y)
    if b._payload.dtype.kind in "iu" and a._payload.dtype.kind in "fc":
        b = made(convert(b, a._payload.dtype), True)
    a, b = same_dtypes("pow", a, b)
    return power(a, b)


def integer_pow(x, y: int) -> Any:
    """Return ``x ** y`` for a Python int."""
    return power(argument(x), int(y))


def round(x, rounding_method: RoundingMethod = RoundingMethod.AWAY_FROM_ZERO) -> Any:
    """Round to the nearest integer, with halves away from zero or to even."""
    array = argument(x)
    check_dtype("round", array, "f")
    even = rounding_method is RoundingMethod.TO_NEAREST_EVEN
    return made(T.round(array) if even else _rounded(array), array.weak_type)


def clamp(min, x, max) -> Any:
    """Clamp `x` to bounds; at the bounds there is no derivative."""
    low, array, high = same_dtypes("clamp", min, x, max)
    least, most = _BINARY["max"][0], _BINARY["min"][0]
    found = most(least(array, low), high)
    if any(map(is_traced, (low, array, high))):
        inside = T.logical_and(T.gt(array, low), T.lt(array, high))
        above = T.where(T.lt(high, array), high, Tensor.detach(found))
        beyond = T.where(T.logical_and(T.lt(array, low), T.lt(low, high)), low, above)
        found = T.where(inside, array, beyond)
    return made(found, array.weak_type)


def conj(x) -> Any:
    """Return the complex conjugate; real operands become complex."""
    array = argument(x)
    if array._payload.dtype.kind != "c":
        array = made(jnp.asarray(array) + 0j, array.weak_type)
    return made(T.conj(array), array.weak_type)


def betainc(a, b, x) -> Any:
    """Return the regularized incomplete beta function."""
    a, b, x = same_dtypes("betainc", a, b, x)
    return made(T.scipy_betainc(a, b, x), a.weak_type)


def polygamma(m, x) -> Any:
    """Return the derivatives of the digamma function; `m` is an integer in a floating dtype."""
    a, b = same_dtypes("polygamma", m, x)
    return made(T.polygamma(b, n=int(a)), b.weak_type)


def convert_element_type(operand, new_dtype) -> Any:
    """Convert an array to another dtype; differentiable between floating and complex ones."""
    dtype = requested_dtype(new_dtype, "astype")
    if operand.__class__ is int and dtype.kind == "f":
        return asarray(operand, dtype)  # which may be too large for an array of integers
    return made(convert(argument(operand), dtype))


def bitcast_convert_type(operand, new_dtype) -> Any:
    """Reinterpret the bits of the elements as another dtype."""
    x, dtype = argument(operand), requested_dtype(new_dtype, "view")
    wider, narrower = dtype.itemsize // x.dtype.itemsize, x.dtype.itemsize // dtype.itemsize
    if narrower > 1:
        return x[..., None].view(dtype)
    if wider > 1 and (not x.ndim or x.shape[-1] != wider):
        raise refusal(ValueError, "bitcast_convert_type to", dtype, wider, x)
    return x.view(dtype)[..., 0] if wider > 1 else x.view(dtype)


@errstate(all="ignore")
def reduce_precision(operand, exponent_bits: int, mantissa_bits: int) -> Any:
    """Round to a mantissa of fewer bits; the derivative is 1."""
    array = argument(operand)
    check_dtype("reduce_precision", array, "f")
    values = stop_gradient(array)
    scale, most = 2 ** (mantissa_bits + 1), 2 ** (exponent_bits - 1) - 1
    fractions, exponents = T.frexp(values)
    rounded = T.div(T.round(T.mul(fractions, scale)), scale / 2)
    rounded = T.ldexp(rounded, T.sub(exponents, 1))
    if most < np.log2(float(jnp.finfo(array.dtype).max)) - 1:
        size = T.abs(rounded)
        small = T.where(T.lt(size, 2.0 ** (1 - most)), 0.0, rounded)
        large = T.where(T.ge(size, 2.0 ** (most + 1)), math.inf, small)
        rounded = T.copysign(large, values)
    shift = T.where(T.isfinite(values), T.sub(rounded, values), 0)
    found = T.where(T.eq(rounded, 0), T.mul(array, 0), T.add(array, shift))
    return made(found, array.weak_type)


def select(pred, on_true, on_false) -> Any:
    """Return `on_true` where `pred` is true, and `on_false` elsewhere."""
    which = argument(pred)
    a, b = same_dtypes("select", on_true, on_false)
    _check_cases(which, [a, b])
    if which._payload.dtype.kind != "b":
        raise refusal(TypeError, "select `which` must be boolean", which)
    return made(T.where(which, a, b), a.weak_type)


def _check_cases(which, cases: list[Any]) -> None:
    shapes = {tuple(case._payload.shape) for case in cases}
    if len(shapes) > 1:
        raise TypeError(f"select cases must have the same shapes, got {sorted(shapes)}.")
    (shape,) = shapes
    if which._payload.ndim and tuple(which._payload.shape) != shape:
        raise refusal(TypeError, "select `which` must be scalar", which, shape)


def select_n(which, *cases) -> Any:
    """Select each element from the array whose index `which` holds; False is the first."""
    index = argument(which)
    arrays = same_dtypes("select_n", *cases)
    _check_cases(index, arrays)
    if index._payload.dtype.kind == "b":
        index = index.astype(int)
    result = arrays[-1]
    for number in range(len(arrays) - 2, -1, -1):
        result = T.where(T.le(index, number), arrays[number], result)
    return made(broadcast_to(result, arrays[0]._payload.shape), arrays[0].weak_type)


def stop_gradient(x) -> Any:
    """Return the same values without derivatives; for a pytree, those of all leaves.

    Examples
    --------
    >>> jax.grad(lambda x: x * jax.lax.stop_gradient(x))(3.0)
    Array(3., dtype=float32, weak_type=True)
    """
    return tree_map(_stopped, x)


def _stopped(x) -> Any:
    if not isinstance(x, Array):
        return argument(x) if isinstance(x, np.ndarray | np.generic) else x
    return made(Tensor.detach(x), x.weak_type)


NAMES: dict[str, Callable[..., Any]] = {
    **functions_of(globals(), "same_dtypes"),
    **{name: _unary(name, rule, kinds) for name, (rule, kinds) in _UNARY.items()},
    **{name: _binary(name, rule, kinds) for name, (rule, kinds) in _BINARY.items()},
}
