"""Layer 9 · compat: functions of `jax.numpy` that work element by element.

Each belongs to a family, which determines the dtype to compute in and the accepted kinds of
operands.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from wengert.base.error_states import errstate, quietly
from wengert.compat.jax import operators
from wengert.compat.jax.array import Array, asarray, made
from wengert.compat.jax.checks import check_dtype, check_shapes
from wengert.compat.jax.dtypes import default_dtype, inexact_of
from wengert.compat.jax.numpy.calling import (
    as_operands,
    call,
    check_arrays,
    documented,
    finished,
    no_out,
    of_row,
    operands,
    plain,
    value_of,
)
from wengert.compat.jax.numpy.ufunc_class import ufunc
from wengert.compat.jax.words import refusal
from wengert.compat.kit.namespaces import functions_of, rows_of
from wengert.compat.kit.rows import of_rows
from wengert.prims import parts as parts
from wengert.tape.record import T
from wengert.tensor.numpy import ufuncs as numpy_ufuncs

_FRACTIONS = (
    "arccos arccosh arcsin arcsinh arctan arctanh cbrt cos cosh deg2rad exp exp2 expm1 log log10 "
    "log1p log2 rad2deg reciprocal sin sinh sqrt tan tanh"
)
"""Functions of one argument that compute in an inexact dtype."""
_PREDICATES = "isfinite isinf isnan signbit"
_OLD = (
    "abs=absolute acos=arccos acosh=arccosh asin=arcsin asinh=arcsinh atan=arctan atan2=arctan2 "
    "atanh=arctanh bitwise_invert=invert bitwise_left_shift=left_shift bitwise_not=invert "
    "bitwise_right_shift=right_shift conj=conjugate degrees=rad2deg divide=true_divide "
    "mod=remainder pow=power radians=deg2rad"
)
"""Aliases of functions."""
_LABELS = {
    "bitwise_and": "and",
    "bitwise_or": "or",
    "bitwise_xor": "xor",
    "multiply": "mul",
    "subtract": "sub",
    "true_divide": "div",
}
"""JAX's names for operations in messages."""
_OF_NUMBERS = frozenset({"fmod", "left_shift", "right_shift"})
"""Functions of integers, as which booleans count."""


@errstate(all="ignore")
def _computed(numpys, prim: str | None, *given) -> Any:
    """Build a ufunc of arrays of one dtype, as a primitive where there is one."""
    if prim is not None and given[0]._payload.dtype.kind == "f":
        return getattr(T, prim)(*given)
    return numpy_ufuncs.call(numpys, *map(plain, given))


def _of_one(name: str, inexact: bool, weak: bool = True) -> Callable[..., Any]:
    numpys = getattr(np, name)
    prim = numpy_ufuncs.one_primitive(numpys)

    def function(x, /) -> Any:
        if x.__class__ is not Array or (inexact and x._payload.dtype.kind not in "fc"):
            (x,) = as_operands(name, x, inexact=inexact)
        return finished(_computed(numpys, prim, x), weak and x.weak_type)

    return function


def _of_two(
    name: str, kinds: str = "biufc", inexact: bool = False, weak: bool = True
) -> Callable[..., Any]:
    numpys = getattr(np, name)
    prim = numpy_ufuncs.one_primitive(numpys)
    label = _LABELS.get(name, name)

    def function(x1, x2, /) -> Any:
        if name in _OF_NUMBERS:
            x, y = operators.numbers(label, x1, x2, kinds)
        else:
            x, y = as_operands(name, x1, x2, inexact=inexact)
            check_dtype(label, x, kinds, 0)
            check_shapes(label, x, y)
        return finished(_computed(numpys, prim, x, y), weak and x.weak_type)

    return function


def _logical(name: str) -> Callable[..., Any]:
    numpys = getattr(np, name)

    def function(x1, x2, /) -> Any:
        x, y = operands(name, x1, x2)
        check_shapes(name, x, y)
        return finished(_computed(numpys, None, x, y), x.weak_type and y.weak_type)

    return function


def _same_unless_fraction(name: str) -> Callable[..., Any]:
    """Build `floor` and the like, which leave integers unchanged."""
    rounded = _of_one(name, False)

    def function(x, /) -> Any:
        (x,) = as_operands(name, x)
        return positive(x) if x._payload.dtype.kind in "biu" else rounded(x)

    return function


# -- functions that differ from NumPy's ------------------------------------------------------------


def positive(x, /) -> Any:
    """Return `x` as an array."""
    (x,) = as_operands("positive", x)
    return made(plain(x), x.weak_type)


def negative(x, /) -> Any:
    """Return ``-x``."""
    (x,) = as_operands("negative", x)
    return operators.negative(x)


def absolute(x, /) -> Any:
    """Return absolute values, also of complex numbers; the derivative at 0 is 1, as in JAX."""
    (x,) = as_operands("absolute", x)
    return operators.absolute(x)


def fabs(x, /) -> Any:
    """Return absolute values in an inexact dtype."""
    (x,) = as_operands("fabs", x, inexact=True)
    check_dtype("fabs", x, "f")
    return operators.absolute(x)


def square(x, /) -> Any:
    """Return ``x * x``."""
    (x,) = as_operands("square", x)
    if x._payload.dtype.kind == "b":
        x = x.astype(int)
    return made(quietly(T.mul, x, x), x.weak_type)


def power(x1, x2, /) -> Any:
    """Return ``x1 ** x2``; integers to integer powers stay integers."""
    check_arrays("power", x1, x2)
    return operators.power(x1, x2)


def float_power(x, y, /) -> Any:
    """Return ``x ** y`` in an inexact dtype."""
    a, b = as_operands("float_power", x, y, inexact=True)
    check_shapes("pow", a, b)
    return operators.power(a, b)


def floor_divide(x1, x2, /) -> Any:
    """Return ``x1 // x2``, rounded down."""
    check_arrays("floor_divide", x1, x2)
    return quietly(operators.floor_quotient, x1, x2)


def remainder(x1, x2, /) -> Any:
    """Return the remainder of ``x1 // x2``, with the sign of `x2`."""
    check_arrays("remainder", x1, x2)
    return quietly(operators.remainder, x1, x2)


def fmax(x1, x2, /) -> Any:
    """Return the larger element, or the one that is not NaN; of equal ones, the second."""
    return _first_if("greater", *as_operands("fmax", x1, x2))


def fmin(x1, x2, /) -> Any:
    """Return the smaller element, or the one that is not NaN; of equal ones, the second."""
    return _first_if("less", *as_operands("fmin", x1, x2))


def _first_if(relation: str, x, y) -> Any:
    first = T.logical_or(NAMES[relation](x, y), T.isnan(y))
    return call("where", first, x, y, weak=x.weak_type)


def hypot(x1, x2, /) -> Any:
    """Return ``sqrt(x1**2 + x2**2)``; where both are 0, its derivatives are 1/2, as in JAX."""
    x, y = as_operands("hypot", x1, x2, inexact=True)
    if x._payload.dtype.kind == "c":
        raise ValueError("jnp.hypot does not support complex-valued inputs")
    check_shapes("hypot", x, y)
    none = T.logical_and(T.eq(x, 0), T.eq(y, 0))
    found = T.hypot(T.where(none, 1.0, x), y)
    weak = asarray(x1).weak_type and asarray(x2).weak_type
    return made(T.where(none, T.mul(T.add(x, y), 0.5), found), weak)


def divmod_(x1, x2, /) -> Any:
    """Return ``x1 // x2`` and the remainder."""
    return floor_divide(x1, x2), remainder(x1, x2)


def ldexp(x1, x2, /) -> Any:
    """Return ``x1 * 2**x2``."""
    x, y = operands("ldexp", x1, x2)
    check_dtype("ldexp", y, "biu")
    dtype = inexact_of(x._payload.dtype)
    return made(T.mul(asarray(x, dtype), T.exp2(asarray(y, dtype))))


def invert(x, /) -> Any:
    """Flip each bit; for bools, return the opposite."""
    (x,) = as_operands("invert", x)
    return ~x


def bits_set(x) -> Any:
    """Return the numbers of bits set, as integers of the same dtype: sums of ever more bits."""
    size, by = 8 * x._payload.dtype.itemsize, 1
    while by < size:
        mask = sum(((1 << by) - 1) << at for at in range(0, size, 2 * by))
        moved = T.bitwise_right_shift(x, by)
        x, by = T.add(T.bitwise_and(x, mask), T.bitwise_and(moved, mask)), 2 * by
    return x


def bitwise_count(x, /) -> Any:
    """Count the bits set in the absolute value."""
    (x,) = as_operands("bitwise_count", x)
    check_dtype("bitwise_count", x, "iu")
    return made(bits_set(operators.absolute(x))).astype("uint8")


def logical_not(x, /) -> Any:
    """Return True where `x` is 0."""
    (x,) = operands("logical_not", x)
    return made(T.logical_not(x), x.weak_type)


def sign(x, /) -> Any:
    """Return the sign: 1, 0 or -1; for complex numbers, one of absolute value 1."""
    (x,) = as_operands("sign", x)
    check_dtype("sign", x, "iufc")
    return finished(numpy_ufuncs.call(np.sign, plain(x)), x.weak_type)


def spacing(x, /) -> Any:
    """Return the distance to the next number."""
    (x,) = as_operands("spacing", x, inexact=True)
    return finished(np.spacing(value_of(x, "spacing")))


def real(val, /) -> Any:
    """Return the real parts."""
    (x,) = operands("real", val)
    return call("real", x, weak=x.weak_type) if x._payload.dtype.kind == "c" else positive(x)


def imag(val, /) -> Any:
    """Return the imaginary parts: 0 for real numbers."""
    (x,) = operands("imag", val)
    return call("imag" if x._payload.dtype.kind == "c" else "zeros_like", x, weak=x.weak_type)


def angle(z, deg: bool = False) -> Any:
    """Return the angles of complex numbers: 0 or pi for real ones, by their sign."""
    (x,) = as_operands("angle", z)
    if x._payload.dtype.kind in "biu":
        x = asarray(x, default_dtype("f"))
    weak = x.weak_type and x._payload.dtype.kind == "c"
    found = made(T.atan2(plain(imag(x)), plain(real(x))), weak)
    return NAMES["rad2deg"](found) if deg else found


def rint(x, /) -> Any:
    """Round to the nearest integer in an inexact dtype, with halves to even."""
    (x,) = as_operands("rint", x)
    return asarray(x, default_dtype("f")) if x._payload.dtype.kind in "biu" else round_(x)


def clip(arr=None, /, min=None, max=None) -> Any:
    """Clamp values to [min, max]."""
    check_arrays("clip", arr, *[bound for bound in (min, max) if bound is not None])
    result = asarray(arr)
    if result._payload.dtype.kind == "c" or any(
        getattr(bound, "dtype", np.dtype(float)).kind == "c" or isinstance(bound, complex)
        for bound in (min, max)
    ):
        raise ValueError("Clip received a complex value either through the input or the min/max")
    if min is not None:
        result = NAMES["maximum"](min, result)
    if max is not None:
        result = NAMES["minimum"](max, result)
    return positive(result) if result is arr else result


def round_(a, decimals: int = 0, out=None) -> Any:
    """Round to `decimals` digits, with halves to even."""
    no_out("round", out)
    (x,) = operands("round", a)
    if x._payload.dtype.kind in "biu":
        if decimals < 0:
            raise refusal(NotImplementedError, "integer np.round not implemented")
        return positive(x)
    if x._payload.dtype.kind == "c":
        real, imag = (round_(made(part(x)), decimals) for part in (T.real, T.imag))
        return made(T.complex(real, imag), x.weak_type)
    return call("round", x, decimals, weak=x.weak_type)


def isclose(a, b, rtol=1e-05, atol=1e-08, equal_nan: bool = False) -> Any:
    """Return whether numbers are equal up to tolerances."""
    x, y = as_operands("isclose", a, b)
    if x._payload.dtype.kind in "biu":
        x, y = (asarray(part, default_dtype("f")) for part in (x, y))
    near = T.le(T.abs(T.sub(x, y)), T.add(T.mul(T.abs(y), rtol), atol))
    finite = T.logical_and(T.isfinite(x), T.isfinite(y))
    close = T.logical_or(T.logical_and(near, finite), T.eq(x, y))
    if equal_nan:
        close = T.logical_or(close, T.logical_and(T.isnan(x), T.isnan(y)))
    return made(close)


def allclose(a, b, rtol=1e-05, atol=1e-08, equal_nan: bool = False) -> Any:
    """Return whether all numbers are equal up to tolerances."""
    return isclose(a, b, rtol, atol, equal_nan).all()


def _is(name: str, sign_: int) -> Callable[..., Any]:
    def function(x, /, out=None) -> Any:
        no_out(name, out)
        (x,) = as_operands(name, x)
        check_dtype(name, x, "biuf")
        return made(T.eq(x, sign_ * math.inf))

    return function


def isreal(x) -> Any:
    """Return True where there is no imaginary part."""
    return imag(x) == 0


def iscomplex(x) -> Any:
    """Return True where there is an imaginary part."""
    return imag(x) != 0


of_rows(
    globals(),
    of_row,
    """
    frexp | x, / | inexact | Return fractions in [1/2, 1) and exponents of 2.
    heaviside | x1, x2, / | inexact | Return 0 below 0, 1 above, and `x2` at 0.
    i0 | x | inexact-weak | Return the modified Bessel function of order 0.
    modf | x, /, out=None | inexact-weak | Return the fractional and the integer parts.
    nan_to_num | x, copy=True, nan=0.0, posinf=None, neginf=None | own
        | Replace NaN and infinities by numbers.
    sinc | x, / | inexact-weak | Return ``sin(pi * x) / (pi * x)``, and 1 at 0.
    """,
)

# -- the tables -----------------------------------------------------------------------------------

_PAIRS = """
    f: arctan2 copysign nextafter
    biuf: fmod
    iu: gcd lcm
    biu: left_shift right_shift
    biufc: true_divide
    """
"""Functions of two arguments, by dtype kinds."""
_OF_FRACTIONS = frozenset({"f", "biufc"})
_COMPARISONS = "equal greater greater_equal less less_equal not_equal"
_WITH_METHODS: dict[str, tuple[str, Any]] = {
    "add": ("biufc", 0),
    "bitwise_and": ("biu", -1),
    "bitwise_or": ("biu", 0),
    "bitwise_xor": ("biu", 0),
    "logaddexp": ("fc", -math.inf),
    "logaddexp2": ("fc", -math.inf),
    "maximum": ("biufc", None),
    "minimum": ("biufc", None),
    "multiply": ("biufc", 1),
    "subtract": ("iufc", None),
}
NAMES: dict[str, Callable[..., Any]] = {
    **functions_of(globals(), "bits_set negative divmod_ logical_not round_"),
    **{name: _of_one(name, True, name not in ("log2", "log10")) for name in _FRACTIONS.split()},
    **{name: _of_one(name, False, name in ("isfinite", "isnan")) for name in _PREDICATES.split()},
    **{name: _same_unless_fraction(name) for name in ("ceil", "floor", "trunc")},
    **{
        name: _of_two(name, kinds, kinds in _OF_FRACTIONS)
        for kinds, names in rows_of(_PAIRS)
        for name in names
    },
    **{name: _of_two(name) for name in _COMPARISONS.split()},
    "around": round_,
    "conjugate": _same_unless_fraction("conjugate"),
    "divmod": divmod_,
    "isneginf": _is("isneginf", -1),
    "isposinf": _is("isposinf", 1),
    "round": round_,
}
for _name, _function in NAMES.items():
    documented(_function, _name, "The function is elementwise.")
for _name, (_kinds, _identity) in _WITH_METHODS.items():
    _function = documented(
        _of_two(_name, _kinds, _name.startswith("logaddexp")), _name, "The function is elementwise."
    )
    NAMES[_name] = ufunc(_function, 2, 1, name=_name, identity=_identity)
for _name, _identity in (("logical_and", True), ("logical_or", False), ("logical_xor", False)):
    _function = documented(_logical(_name), _name, "The function is elementwise.")
    NAMES[_name] = ufunc(_function, 2, 1, name=_name, identity=_identity)
for _name, _function in (("logical_not", logical_not), ("negative", negative)):
    NAMES[_name] = ufunc(_function, 1, 1, name=_name)
NAMES |= {name: NAMES[current] for name, current in (x.split("=") for x in _OLD.split())}
