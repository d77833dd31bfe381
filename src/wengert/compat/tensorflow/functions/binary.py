"""Layer 9 · compat: TensorFlow's binary arithmetic, comparisons and bitwise functions."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

import wengert as wg
from wengert.compat.kit.namespaces import defined
from wengert.compat.tensorflow import infix
from wengert.compat.tensorflow.functions import values as V
from wengert.compat.tensorflow.functions.templates import fits, function_of, rows, unary
from wengert.compat.tensorflow.words import refusal
from wengert.tape.base import TensorBase


def _greater(x, y) -> Any:
    # for equal arguments the first receives the gradient; NaN in either is propagated
    return wg.where((x >= y) | wg.isnan(x), x, y)


def _smaller(x, y) -> Any:
    return wg.where((x <= y) | wg.isnan(x), x, y)


def _truncated(x, y) -> Any:
    infix.check_divisor("TruncateDiv", y)
    return wg.div(x.detach(), y.detach(), rounding_mode="trunc")


def _remainder(x, y) -> Any:
    infix.check_divisor("TruncateMod", y)
    return wg.fmod(x, y)


def _quotient_or_zero(x, y) -> Any:
    zero = y == 0
    return wg.where(zero, wg.zeros_like(x), x / wg.where(zero, wg.ones_like(y), y))


def _product_or_zero(x, y) -> Any:
    # where y is 0, a non-finite x counts as 0; the gradient of y stays x where x is finite
    return wg.where((y == 0) & ~wg.isfinite(x), wg.zeros_like(x), x) * y


def _zero_beside_zero(function: Callable[[Any], Any]) -> Callable[[Any, Any], Any]:
    """Return ``x * function(y)``, and 0 where `x` is 0, whatever `y`."""

    def product(x, y) -> Any:
        zero = x == 0
        return wg.where(zero, wg.zeros_like(x), x * function(wg.where(zero, wg.ones_like(y), y)))

    return product


def _squared_difference(x, y) -> Any:
    difference = x - y
    return difference * (wg.conj_physical(difference) if V.is_complex(difference) else difference)


def _zeta(x, q) -> Any:
    return wg.special.zeta(x.detach(), q)  # TensorFlow knows the derivative in `q` only


_xdivy, _xlog1py, _xlogy = map(_zero_beside_zero, (wg.reciprocal, wg.log1p, wg.log))
_add = function_of("add", "AddV2", wg.add, V.NUMBERS, "The sum", "[1.0, 2.0], 3", "[4. 5.]")
rows(
    globals(),
    function_of,
    """
    multiply | Mul | =wg.mul | =NUMBERS | The product | [1.0, 2.0], 3 | [3. 6.]
    math.floordiv | FloorDiv | =infix.floor_quotient | =REAL | The quotient, rounded down
        | [7, -7], 2 | [ 3 -4] | =FLAT
    math.floormod | FloorMod | =infix.floor_modulus | =REAL
        | The remainder of a division that is rounded down: of the sign of `y` | [7, -7], 3 | [1 2]
    math.mod | FloorMod | =infix.floor_modulus | =REAL
        | The remainder of a division that is rounded down: of the sign of `y` | [7, -7], 3 | [1 2]
    math.pow | Pow | =infix.power | =NUMBERS | A power | [2.0, 3.0], [3.0, 2.0] | [8. 9.]
    math.maximum | Maximum | =_greater | =REAL
        | The greater one; at ties the first argument has the gradient | [1.0, 5.0], [3.0, 2.0]
        | [3. 5.]
    math.minimum | Minimum | =_smaller | =REAL
        | The smaller one; at ties the first argument has the gradient | [1.0, 5.0], [3.0, 2.0]
        | [1. 2.]
    math.squared_difference | SquaredDifference | =_squared_difference | =NUMBERS
        | ``abs(x - y) ** 2``
        | [1.0, 5.0], [3.0, 2.0] | [4. 9.]
    math.divide_no_nan | DivNoNan | =_quotient_or_zero | =COMPLEX
        | The quotient, and 0 where `y` is 0 | [1.0, 1.0], [2.0, 0.0] | [0.5 0. ]
    math.multiply_no_nan | MulNoNan | =_product_or_zero | =COMPLEX
        | The product, and 0 where `y` is 0, even if `x` is not finite
        | [2.0, float('nan')], [3.0, 0.0] | [6. 0.]
    subtract | Sub | =wg.sub | =NUMBERS | The difference | [1.0, 2.0], 3 | [-2. -1.]
    truncatediv | TruncateDiv | =_truncated | =REAL | The quotient, rounded towards 0 | [7, -7], 2
        | [ 3 -3] | =FLAT
    truncatemod | TruncateMod | =_remainder | =REAL
        | The remainder of a division that is rounded towards 0 | [7, -7], 3 | [ 1 -1]
    math.xlogy | Xlogy | =_xlogy | =COMPLEX | ``x * log(y)``, and 0 where `x` is 0
        | [2.0, 0.0], [3.0, 0.0] | [2.197 0.   ]
    math.xlog1py | Xlog1py | =_xlog1py | =COMPLEX | ``x * log(1 + y)``, and 0 where `x` is 0
        | [2.0, 0.0], [3.0, -1.0] | [2.773 0.   ]
    math.xdivy | Xdivy | =_xdivy | =COMPLEX | ``x / y``, and 0 where `x` is 0
        | [2.0, 0.0], [4.0, 0.0] | [0.5 0. ]
    math.atan2(y, x) | Atan2 | =wg.atan2 | =FLOATING
        | The angle of the point ``(x, y)``: TensorFlow's order is ``atan2(y, x)``
        | [1.0, 0.0], [1.0, -1.0] | [0.785 3.142]
    math.igamma(a, x) | Igamma | =wg.special.gammainc | =FLOATING
        | The lower incomplete gamma function, scaled, and differentiable in `x` only
        | [1.0, 2.0], [1.0, 1.0] | [0.632 0.264]
    math.igammac(a, x) | Igammac | =wg.special.gammaincc | =FLOATING
        | The upper incomplete gamma function, scaled, and differentiable in `x` only
        | [1.0, 2.0], [1.0, 1.0] | [0.368 0.736]
    math.zeta(x, q) | Zeta | =_zeta | =FLOATING
        | The zeta function of Hurwitz, differentiable in `q` only | [2.0, 3.0], [1.0, 1.0]
        | [1.645 1.202]
    math.nextafter(x1, x2) | NextAfter | =wg.nextafter | =FLOATING
        | The next floating number from `x1` towards `x2` | [1.0], [2.0] | [1.]
    less | Less | =wg.lt | =REAL | Whether `x` is less | [1, 2], [2, 2] | [ True False] | =TRUTH
    less_equal | LessEqual | =wg.le | =REAL | Whether `x` is less or equal | [1, 3], [1, 2]
        | [ True False] | =TRUTH
    greater | Greater | =wg.gt | =REAL | Whether `x` is greater | [1, 3], [1, 2] | [False  True]
        | =TRUTH
    greater_equal | GreaterEqual | =wg.ge | =REAL | Whether `x` is greater or equal
        | [1, 1], [1, 2] | [ True False] | =TRUTH
    equal | Equal | =wg.eq | =ALL | Whether the elements are equal | [1, 2], [1, 3]
        | [ True False] | =TRUTH
    not_equal | NotEqual | =wg.ne | =ALL | Whether the elements differ | [1, 2], [1, 3]
        | [False  True] | =TRUTH
    math.logical_and | LogicalAnd | =wg.logical_and | =BOOLS | Whether both are true
        | [True, False], [True, True] | [ True False] | =TRUTH
    math.logical_or | LogicalOr | =wg.logical_or | =BOOLS | Whether at least one is true
        | [True, False], [False, False] | [ True False] | =TRUTH
    math.logical_xor | LogicalXor | =wg.logical_xor | =BOOLS | Whether exactly one is true
        | [True, False], [True, True] | [False  True] | =TRUTH
    bitwise.bitwise_and | BitwiseAnd | =wg.bitwise_and | =INTEGERS | The bits that both have
        | [5, 6], [3, 1] | [1 0] | =FLAT
    bitwise.bitwise_or | BitwiseOr | =wg.bitwise_or | =INTEGERS | The bits that one has
        | [5, 6], [3, 1] | [7 7] | =FLAT
    bitwise.bitwise_xor | BitwiseXor | =wg.bitwise_xor | =INTEGERS
        | The bits that exactly one has | [5, 6], [3, 1] | [6 7] | =FLAT
    bitwise.left_shift | LeftShift | =wg.bitwise_left_shift | =INTEGERS
        | The bits of `x`, moved up by `y` | [5, 6], [3, 1] | [40 12] | =FLAT
    bitwise.right_shift | RightShift | =wg.bitwise_right_shift | =INTEGERS
        | The bits of `x`, moved down by `y` | [5, 6], [3, 1] | [0 3] | =FLAT
    """,
)
rows(
    globals(),
    unary,
    """
    bitwise.invert | Invert | =wg.bitwise_not | =INTEGERS
        | The bits of whole numbers, each turned to the other value | [0, 5] | [-1 -6] | =FLAT
    """,
)


def add(x, y, name=None) -> Any:
    """Return the elementwise sum; `y` is converted to the dtype of `x`.

    Examples
    --------
    >>> print(tf.add([1.0, 2.0], 3).numpy())
    [4. 5.]
    """
    x = V.tensor_of(x)
    return _add(x, V.tensor_of(y, dtype_hint=x._payload.dtype))


def fractional(x) -> Any:
    """Convert whole numbers to floats: those of at most 16 bits to float32, others to float64."""
    if V.kind_of(x) not in "iu":
        return x
    return V.converted(x, np.dtype(np.float32 if x._payload.dtype.itemsize < 4 else np.float64))


@V.operation("RealDiv", x=V.ANY, y="x")
def truediv(x, y, name=None) -> Any:
    """Divide; integers give float64, or float32 if they have at most 16 bits.

    Raises
    ------
    TypeError: If the dtypes differ.

    Examples
    --------
    >>> print(tf.truediv([1, 2], 4).numpy())
    [0.25 0.5 ]
    """
    if x._payload.dtype != y._payload.dtype:
        raise TypeError(
            "`x` and `y` must have the same dtype, got "
            f"{V.type_of(x)!r} != {V.type_of(y)!r}: convert one of them with tf.cast"
        )
    x, y = fractional(x), fractional(y)
    V.check(x, V.COMPLEX)
    fits("RealDiv", x, y)
    return wg.div(x, y)


def divide(x, y, name=None) -> Any:
    """Divide, like Python's ``x / y`` (see `truediv`): a number takes the dtype of a tensor.

    Examples
    --------
    >>> print(tf.divide([1.0, 2.0], 4).numpy())
    [0.25 0.5 ]
    """
    if isinstance(y, TensorBase) or hasattr(y, "_as_tensor"):
        x = V.tensor_of(x, y.dtype)
    return truediv(x, y)


@V.operation("Polygamma", "a", "x", x=("float", "double"))
def polygamma(a, x, name=None) -> Any:
    """Return the derivative of order `a`, a single number, of `digamma`; NaN for other orders.

    Raises
    ------
    InvalidArgumentError: If `a` is not a scalar.

    Examples
    --------
    >>> print(tf.math.polygamma(1.0, [1.0, 2.0]).numpy())
    [1.644934   0.64493406]
    """
    if a._payload.size != 1:
        raise V.invalid(f"the order a is one number here, not {V.shown(a._payload.shape)}")
    order = a._payload.item()
    if order < 0 or not float(order).is_integer():
        return wg.full_like(x, float("nan"))
    return wg.special.polygamma(int(order), x)


@V.operation("Mul", x=V.ANY, scalar="x")
def scalar_mul(scalar, x, name=None) -> Any:
    """Multiply a tensor by a number.

    Raises
    ------
    ValueError: If `scalar` is not a scalar.

    Examples
    --------
    >>> print(tf.math.scalar_mul(2, tf.constant([1.0, 2.0])).numpy())
    [2. 4.]
    """
    if scalar._payload.ndim:
        raise refusal(ValueError, "The input scalar", scalar._payload.shape)
    return wg.mul(*V.aligned("Mul", scalar, x))


__all__ = defined(globals())
