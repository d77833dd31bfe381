"""Layer 9 · compat: TensorFlow's functions of one tensor that work element by element."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import wengert as wg
from wengert.base.sections import fill_sections
from wengert.compat.kit.namespaces import defined
from wengert.compat.kit.rows import of_rows
from wengert.compat.tensorflow.functions.values import (
    COMPLEX,
    FLOATING,
    NUMBERS,
    REAL,
    check,
    computed,
    converted,
    is_complex,
    is_floating,
    made,
    tensor_of,
    truths,
    type_of,
)

_DOC = """{words}, element by element.

Parameters
----------
x : Tensor
    Or what becomes one; of a {kinds} dtype.
name : str, optional
    Accepted, and of no effect.

Returns
-------
Tensor
    {result}

Raises
------
InvalidArgumentError
    If the dtype is another one.

Examples
--------
>>> import wengert.compat.tensorflow as tf
>>> print(tf.math.{name}({example}).numpy(){rounded})
{shown}
"""
_KINDS = {
    FLOATING: "real floating",
    COMPLEX: "floating or complex",
    REAL: "real",
    NUMBERS: "number",
}
_SAME = "Of the shape and dtype of `x`; differentiable."
_BOOL = "A bool for each element."
_FLAT = "Of the shape and dtype of `x`; as in TensorFlow it passes no gradient on."


def unary(
    op: str,
    function: Callable[[Any], Any],
    kinds: tuple[str, ...],
    name: str,
    words: str,
    example: str,
    shown: str,
    result: str = _SAME,
) -> Any:
    """The function `name`: `function` of a tensor of one of the dtypes `kinds`."""

    def applied(x, name: str | None = None) -> Any:
        x = tensor_of(x)
        check(op, x, kinds)
        return computed(op, function, x)

    applied.__name__ = applied.__qualname__ = name
    applied.__doc__ = _DOC.format(
        words=words,
        kinds=_KINDS[kinds],
        name=name,
        example=example,
        shown=shown,
        result=result,
        rounded="" if result is _BOOL else ".round(3)",
    )
    return applied


def _stepwise(
    op: str, function: Callable[[Any], Any], name: str, words: str, example: str, shown: str
) -> Any:
    """A step function: its derivative is 0, and TensorFlow gives no gradient at all."""

    def cut(x) -> Any:
        return function(x.detach())

    return unary(op, cut, FLOATING, name, words, example, shown, _FLAT)


def _reciprocal(x) -> Any:
    if x.payload.dtype.kind in "iu":
        return wg.floor_divide(wg.ones_like(x), x)
    return wg.reciprocal(x)


_softplus = unary(
    "Softplus",
    wg.nn.functional.softplus,
    FLOATING,
    "softplus",
    "``log(1 + exp(x))``, without overflow",
    "[0.0, 1.0]",
    "[0.693 1.313]",
)
_softsign = unary(
    "Softsign",
    wg.nn.functional.softsign,
    FLOATING,
    "softsign",
    "``x / (1 + abs(x))``",
    "[0.0, 1.0]",
    "[0.  0.5]",
)
of_rows(
    globals(),
    _stepwise,
    """
    ceil | Ceil | =wg.ceil | . | The next whole number above | [0.5, -0.5] | [ 1. -0.]
    floor | Floor | =wg.floor | . | The next whole number below | [0.5, -0.5] | [ 0. -1.]
    rint | Rint | =wg.round | . | The nearest whole number, halves to even ones | [0.5, 1.5]
        | [0. 2.]
    """,
    wg=wg,
)
of_rows(
    globals(),
    unary,
    """
    acos | Acos | =wg.acos | =COMPLEX | . | The inverse cosine | [0.0, 0.5] | [1.571 1.047]
    acosh | Acosh | =wg.acosh | =COMPLEX | . | The inverse hyperbolic cosine | [1.0, 2.0]
        | [0.    1.317]
    asin | Asin | =wg.asin | =COMPLEX | . | The inverse sine | [0.0, 0.5] | [0.    0.524]
    asinh | Asinh | =wg.asinh | =COMPLEX | . | The inverse hyperbolic sine | [0.0, 1.0]
        | [0.    0.881]
    atan | Atan | =wg.atan | =COMPLEX | . | The inverse tangent | [0.0, 1.0] | [0.    0.785]
    atanh | Atanh | =wg.atanh | =COMPLEX | . | The inverse hyperbolic tangent | [0.0, 0.5]
        | [0.    0.549]
    cos | Cos | =wg.cos | =COMPLEX | . | The cosine | [0.0, 1.0] | [1.   0.54]
    cosh | Cosh | =wg.cosh | =COMPLEX | . | The hyperbolic cosine | [0.0, 1.0] | [1.    1.543]
    exp | Exp | =wg.exp | =COMPLEX | . | The exponential | [0.0, 1.0] | [1.    2.718]
    expm1 | Expm1 | =wg.expm1 | =COMPLEX | . | ``exp(x) - 1``, exact for small `x` | [0.0, 1.0]
        | [0.    1.718]
    log | Log | =wg.log | =COMPLEX | . | The natural logarithm | [1.0, 2.0] | [0.    0.693]
    log1p | Log1p | =wg.log1p | =COMPLEX | . | ``log(1 + x)``, exact for small `x` | [0.0, 1.0]
        | [0.    0.693]
    log_sigmoid | Softplus | =wg.nn.functional.logsigmoid | =FLOATING | .
        | The logarithm of `sigmoid` | [0.0, 1.0] | [-0.693 -0.313]
    negative | Neg | =wg.neg | =NUMBERS | . | Minus the elements | [1.0, -2.0] | [-1.  2.]
    reciprocal | Reciprocal | =_reciprocal | =NUMBERS | . | ``1 / x`` | [1.0, 4.0] | [1.   0.25]
    rsqrt | Rsqrt | =wg.rsqrt | =COMPLEX | . | ``1 / sqrt(x)`` | [1.0, 4.0] | [1.  0.5]
    sigmoid | Sigmoid | =wg.sigmoid | =COMPLEX | . | ``1 / (1 + exp(-x))`` | [0.0, 1.0]
        | [0.5   0.731]
    sign | Sign | =wg.sgn | =NUMBERS | .
        | The sign; of a complex number, the number divided by its absolute value | [-2.0, 0.0]
        | [-1.  0.]
    sin | Sin | =wg.sin | =COMPLEX | . | The sine | [0.0, 1.0] | [0.    0.841]
    sinh | Sinh | =wg.sinh | =COMPLEX | . | The hyperbolic sine | [0.0, 1.0] | [0.    1.175]
    sqrt | Sqrt | =wg.sqrt | =COMPLEX | . | The square root | [1.0, 4.0] | [1. 2.]
    square | Square | =wg.square | =NUMBERS | . | The square | [2, -3] | [4 9]
    tan | Tan | =wg.tan | =COMPLEX | . | The tangent | [0.0, 1.0] | [0.    1.557]
    tanh | Tanh | =wg.tanh | =COMPLEX | . | The hyperbolic tangent | [0.0, 1.0] | [0.    0.762]
    is_finite | IsFinite | =wg.isfinite | =FLOATING | .
        | Whether the elements are neither infinite nor NaN | [1.0, float('inf')] | [ True False]
        | =_BOOL
    is_inf | IsInf | =wg.isinf | =FLOATING | . | Whether the elements are infinite
        | [1.0, float('inf')] | [False  True] | =_BOOL
    is_nan | IsNan | =wg.isnan | =FLOATING | . | Whether the elements are NaN
        | [1.0, float('nan')] | [False  True] | =_BOOL
    """,
    COMPLEX=COMPLEX,
    FLOATING=FLOATING,
    NUMBERS=NUMBERS,
    _BOOL=_BOOL,
    _reciprocal=_reciprocal,
    wg=wg,
)


def abs(x, name: str | None = None) -> Any:
    """The absolute value, element by element; of complex numbers a real one.

    Parameters
    ----------
    x : Tensor. Of a number dtype.

    Returns
    -------
    Tensor: Of the shape of `x`; differentiable, with derivative 0 at 0.

    Examples
    --------
    >>> print(tf.abs([-1.0, 2.0]).numpy())
    [1. 2.]
    """
    x = tensor_of(x)
    check("Abs", x, NUMBERS)
    return computed("Abs", wg.abs, x)


def round(x, name: str | None = None) -> Any:
    """The nearest whole number, halves to even ones; whole numbers stay as they are.

    As in TensorFlow it passes no gradient on.

    Examples
    --------
    >>> print(tf.round([0.5, 1.5, 1.6]).numpy())
    [0. 2. 2.]
    """
    x = tensor_of(x)
    check("Round", x, NUMBERS)
    return computed("Round", lambda x: wg.round(x.detach()) if is_floating(x) else wg.clone(x), x)


def logical_not(x, name: str | None = None) -> Any:
    """The opposite of each truth value.

    Raises
    ------
    TypeError, InvalidArgumentError: If `x` is not a bool, or no tensor of bools.

    Examples
    --------
    >>> print(tf.logical_not([True, False]).numpy())
    [False  True]
    """
    (x,) = truths("LogicalNot", x)
    return computed("LogicalNot", wg.logical_not, x)


def real(input, name: str | None = None) -> Any:
    """The real part of each element; real tensors are returned as they are.

    Examples
    --------
    >>> print(tf.math.real([1 + 2j]).numpy())
    [1.]
    """
    x = tensor_of(input)
    return computed("Real", wg.real, x) if is_complex(x) else made(x)


def imag(input, name: str | None = None) -> Any:
    """The imaginary part of each element; 0 for real tensors.

    Examples
    --------
    >>> print(tf.math.imag([1 + 2j]).numpy())
    [2.]
    """
    x = tensor_of(input)
    return computed("Imag", wg.imag if is_complex(x) else wg.zeros_like, x)


def conj(x, name: str | None = None) -> Any:
    """The complex conjugate of each element; real tensors are returned as they are.

    Raises
    ------
    TypeError: If the elements are not numbers.

    Examples
    --------
    >>> print(tf.math.conj([1 + 2j]).numpy())
    [1.-2.j]
    """
    x = tensor_of(x)
    if x.payload.dtype.kind == "b":
        raise TypeError(f"Expected numeric or variant tensor, got dtype {type_of(x)}")
    # wengert's own conjugate would be a view that is conjugated when it is read
    return computed("Conj", wg.conj_physical, x) if is_complex(x) else made(x)


def angle(input, name: str | None = None) -> Any:
    """The angle of each element in the complex plane: 0 or pi for real numbers.

    Examples
    --------
    >>> print(tf.math.angle([1j]).numpy())
    [1.57079633]
    """
    x = tensor_of(input)
    if not is_complex(x):
        return computed(
            "Angle", lambda x: converted(wg.where(x < 0, math.pi, 0.0), x.payload.dtype), x
        )
    return computed("Angle", wg.angle, x)


def reciprocal_no_nan(x, name: str | None = None) -> Any:
    """``1 / x``, and 0 where `x` is 0.

    Examples
    --------
    >>> print(tf.math.reciprocal_no_nan([0.0, 4.0]).numpy())
    [0.   0.25]
    """
    x = tensor_of(x)
    check("DivNoNan", x, COMPLEX)
    return computed("DivNoNan", _inverse_or_zero, x)


def _inverse_or_zero(x) -> Any:
    zero = x == 0
    return wg.where(zero, wg.zeros_like(x), wg.reciprocal(wg.where(zero, wg.ones_like(x), x)))


def softplus(features, name: str | None = None) -> Any:
    """``log(1 + exp(features))``, element by element, without overflow.

    Examples
    --------
    >>> print(tf.nn.softplus([0.0, 1.0]).numpy().round(3))
    [0.693 1.313]
    """
    return _softplus(features)


def softsign(features, name: str | None = None) -> Any:
    """``features / (1 + abs(features))``, element by element.

    Examples
    --------
    >>> print(tf.nn.softsign([0.0, 1.0]).numpy().round(3))
    [0.  0.5]
    """
    return _softsign(features)


__all__ = defined(globals())
fill_sections(globals())
