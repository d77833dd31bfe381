"""Layer 5 · ops: element-wise functions; what they compute and document is in their records."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from wengert.base.dtypes import is_differentiable, promote
from wengert.ops.out import into
from wengert.prims.table import TABLE
from wengert.tape.base import TensorBase
from wengert.tape.lift import held, is_number
from wengert.tape.record import T, record


def _unary(name: str, given: str, result: str) -> Callable[..., Any]:
    prim = TABLE[name]

    compute: Callable[[Any], Any]

    def first(input: Any) -> Any:
        nonlocal compute
        compute = getattr(T, name)
        return compute(input)

    compute = first

    def function(input: Any, *, out: Any = None) -> Any:
        if out is None:
            return compute(input)
        return into(out, compute(input), name)

    example = f"wg.{name}(wg.tensor({given}))"
    return _documented(
        function, name, prim.doc, "input : Tensor\n        Of any shape.", example, result
    )


def _binary(name: str, given: str, second: str, result: str) -> Callable[..., Any]:
    prim = TABLE[name]

    def function(input: Any, other: Any, *, out: Any = None) -> Any:
        made = (
            getattr(T, name)(input, other)
            if isinstance(other, TensorBase)
            else record(prim, (input, other), {})
        )
        return made if out is None else into(out, made, name)

    given = f"wg.tensor({given})"
    return _documented(
        function, name, prim.doc, _TWO, f"wg.{name}({given}, wg.tensor({second}))", result
    )


_TWO = """input, other : Tensor
        Tensors whose shapes broadcast; one of them may be a number."""


def _documented(
    function: Callable[..., Any], name: str, doc: str, parameters: str, example: str, result: str
) -> Callable[..., Any]:
    slope = (
        "differentiable to any order, for floating and complex dtypes"
        if TABLE[name].is_differentiable
        else "never requires a gradient"
    )
    function.__name__ = function.__qualname__ = name
    function.__doc__ = f"""{doc[0].upper()}{doc[1:]}, element by element.

    Parameters
    ----------
    {parameters}
    out : Tensor, optional
        Where to write the result, which must not be part of a graph.

    Returns
    -------
    Tensor
        The result; {slope}.

    Raises
    ------
    RuntimeError
        If shapes do not broadcast, or if `out` is given and an argument requires a gradient.

    Examples
    --------
    >>> import wengert as wg
    >>> {example}
    {result}
    """
    return function


neg = _unary("neg", "[0.5, -1.0]", "tensor([-0.5000,  1.0000])")
abs = _unary("abs", "[0.5, -1.0]", "tensor([0.5000, 1.0000])")
exp = _unary("exp", "[0.5, 1.0]", "tensor([1.6487, 2.7183])")
exp2 = _unary("exp2", "[0.5, 1.0]", "tensor([1.4142, 2.0000])")
expm1 = _unary("expm1", "[0.5, 1.0]", "tensor([0.6487, 1.7183])")
log = _unary("log", "[0.5, 1.0]", "tensor([-0.6931,  0.0000])")
log2 = _unary("log2", "[0.5, 1.0]", "tensor([-1.,  0.])")
log10 = _unary("log10", "[0.5, 1.0]", "tensor([-0.3010,  0.0000])")
log1p = _unary("log1p", "[0.5, 1.0]", "tensor([0.4055, 0.6931])")
sqrt = _unary("sqrt", "[0.5, 1.0]", "tensor([0.7071, 1.0000])")
rsqrt = _unary("rsqrt", "[0.5, 1.0]", "tensor([1.4142, 1.0000])")
reciprocal = _unary("reciprocal", "[0.5, 1.0]", "tensor([2., 1.])")
sin = _unary("sin", "[0.5, 1.0]", "tensor([0.4794, 0.8415])")
cos = _unary("cos", "[0.5, 1.0]", "tensor([0.8776, 0.5403])")
tan = _unary("tan", "[0.5, 1.0]", "tensor([0.5463, 1.5574])")
asin = _unary("asin", "[0.0, 0.5]", "tensor([0.0000, 0.5236])")
acos = _unary("acos", "[0.0, 0.5]", "tensor([1.5708, 1.0472])")
atan = _unary("atan", "[0.5, 1.0]", "tensor([0.4636, 0.7854])")
sinh = _unary("sinh", "[0.5, 1.0]", "tensor([0.5211, 1.1752])")
cosh = _unary("cosh", "[0.5, 1.0]", "tensor([1.1276, 1.5431])")
tanh = _unary("tanh", "[0.5, 1.0]", "tensor([0.4621, 0.7616])")
asinh = _unary("asinh", "[0.5, 1.0]", "tensor([0.4812, 0.8814])")
acosh = _unary("acosh", "[1.5, 2.0]", "tensor([0.9624, 1.3170])")
atanh = _unary("atanh", "[0.0, 0.5]", "tensor([0.0000, 0.5493])")
sigmoid = _unary("sigmoid", "[0.5, 1.0]", "tensor([0.6225, 0.7311])")
erf = _unary("erf", "[0.5, 1.0]", "tensor([0.5205, 0.8427])")
erfc = _unary("erfc", "[0.5, 1.0]", "tensor([0.4795, 0.1573])")
relu = _unary("relu", "[0.5, -1.0]", "tensor([0.5000, 0.0000])")
sign = _unary("sign", "[0.5, -1.0]", "tensor([ 1., -1.])")
sgn = _unary("sgn", "[0.5, -1.0]", "tensor([ 1., -1.])")
floor = _unary("floor", "[0.4, -1.5]", "tensor([ 0., -2.])")
ceil = _unary("ceil", "[0.4, -1.5]", "tensor([ 1., -1.])")
trunc = _unary("trunc", "[0.4, -1.5]", "tensor([ 0., -1.])")
isnan = _unary("isnan", '[1.0, float("nan")]', "tensor([False,  True])")
isinf = _unary("isinf", '[1.0, float("inf")]', "tensor([False,  True])")
isfinite = _unary("isfinite", '[1.0, float("inf")]', "tensor([ True, False])")
logical_not = _unary("logical_not", "[0.0, 2.0]", "tensor([ True, False])")
bitwise_not = _unary("bitwise_not", "[1, 2]", "tensor([-2, -3])")
mul = _binary("mul", "[1.0, 4.0]", "[2.0, 3.0]", "tensor([ 2., 12.])")
atan2 = _binary("atan2", "[1.0, 4.0]", "[2.0, 3.0]", "tensor([0.4636, 0.9273])")
hypot = _binary("hypot", "[1.0, 4.0]", "[2.0, 3.0]", "tensor([2.2361, 5.0000])")
fmod = _binary("fmod", "[5.0, -5.0]", "[3.0, 3.0]", "tensor([ 2., -2.])")
remainder = _binary("remainder", "[5.0, -5.0]", "[3.0, 3.0]", "tensor([2., 1.])")
maximum = _binary("maximum", "[1.0, 4.0]", "[2.0, 3.0]", "tensor([2., 4.])")
minimum = _binary("minimum", "[1.0, 4.0]", "[2.0, 3.0]", "tensor([1., 3.])")
floor_divide = _binary("floor_divide", "[5.0, -5.0]", "[3.0, 3.0]", "tensor([ 1., -2.])")
logical_and = _binary("logical_and", "[True, False]", "[True, True]", "tensor([ True, False])")
logical_or = _binary("logical_or", "[True, False]", "[True, True]", "tensor([True, True])")
logical_xor = _binary("logical_xor", "[True, False]", "[True, True]", "tensor([False,  True])")
bitwise_and = _binary("bitwise_and", "[3, 5]", "[1, 4]", "tensor([1, 4])")
bitwise_or = _binary("bitwise_or", "[3, 5]", "[1, 4]", "tensor([3, 5])")
bitwise_xor = _binary("bitwise_xor", "[3, 5]", "[1, 4]", "tensor([2, 1])")
eq = _binary("eq", "[1.0, 4.0]", "[2.0, 3.0]", "tensor([False, False])")
ne = _binary("ne", "[1.0, 4.0]", "[2.0, 3.0]", "tensor([True, True])")
lt = _binary("lt", "[1.0, 4.0]", "[2.0, 3.0]", "tensor([ True, False])")
le = _binary("le", "[1.0, 4.0]", "[2.0, 3.0]", "tensor([ True, False])")
gt = _binary("gt", "[1.0, 4.0]", "[2.0, 3.0]", "tensor([False,  True])")
ge = _binary("ge", "[1.0, 4.0]", "[2.0, 3.0]", "tensor([False,  True])")


def add(input: Any, other: Any, *, alpha: Any = 1, out: Any = None) -> Any:
    """``input + alpha * other``, element by element.

    Parameters
    ----------
    input, other : Tensor
        Tensors whose shapes broadcast; one of them may be a number.
    alpha : number
        A factor of `other`.
    out : Tensor, optional
        Where to write the result, which must not be part of a graph.

    Returns
    -------
    Tensor
        The result; differentiable by both.

    Raises
    ------
    RuntimeError
        If the shapes do not broadcast.

    Examples
    --------
    >>> import wengert as wg
    >>> wg.add(wg.tensor([1.0, 2.0]), wg.tensor([3.0, 4.0]), alpha=10)
    tensor([31., 42.])
    """
    return _scaled("add", input, other, alpha, out)


def sub(input: Any, other: Any, *, alpha: Any = 1, out: Any = None) -> Any:
    """``input - alpha * other``, element by element; arguments as those of `add`.

    Examples
    --------
    >>> import wengert as wg
    >>> wg.sub(wg.tensor([1.0, 2.0]), 1)
    tensor([0., 1.])
    """
    return _scaled("sub", input, other, alpha, out)


def pow(input: Any, exponent: Any, *, out: Any = None) -> Any:
    """``input ** exponent``, element by element.

    Parameters
    ----------
    input, exponent : Tensor
        Tensors whose shapes broadcast; one of them may be a number.
    out : Tensor, optional
        Where to write the result, which must not be part of a graph.

    Returns
    -------
    Tensor
        The result; differentiable by both. At ``input = 0`` the derivative by `exponent` is 0.

    Raises
    ------
    RuntimeError
        If the shapes do not broadcast, or integers are raised to a negative power.

    Examples
    --------
    >>> import wengert as wg
    >>> wg.pow(wg.tensor([1.0, 2.0]), 3)
    tensor([1., 8.])
    """
    if isinstance(exponent, TensorBase):
        return _result(T.pow(input, exponent), out, "pow")
    return _result(record(TABLE["pow"], (input, exponent), {}), out, "pow")


def _scaled(name: str, input: Any, other: Any, alpha: Any, out: Any) -> Any:
    if alpha != 1:
        alpha = fitting_alpha(input, other, alpha)
        if is_number(other):
            other = other * alpha
        else:
            return _result(
                record(TABLE[f"{name}_scaled"], (input, other), {"alpha": alpha}), out, name
            )
    if isinstance(other, TensorBase):
        return _result(getattr(T, name)(input, other), out, name)
    return _result(record(TABLE[name], (input, other), {}), out, name)


def fitting_alpha(input: Any, other: Any, alpha: Any) -> Any:
    """`alpha` as the dtype of the result holds it, and not fractional for integer tensors."""
    arrays = [value for value in (input, other) if getattr(value, "dtype", None) is not None]
    if any(map(is_float, arrays)):
        return alpha
    if isinstance(alpha, float):
        raise RuntimeError(
            "For integral input tensors, argument alpha must not be a floating point number."
        )
    payloads = [value.payload if isinstance(value, TensorBase) else value for value in arrays]
    dtype = promote(payloads, [])
    return held(alpha, dtype) if dtype.kind in "iu" else alpha


def is_float(value: Any) -> bool:
    """Whether a tensor or array is of a floating or complex dtype."""
    payload = value.payload if isinstance(value, TensorBase) else value
    return is_differentiable(payload.dtype)


def _result(made: Any, out: Any, name: str) -> Any:
    return made if out is None else into(out, made, name)


def rsub(input: Any, other: Any, *, alpha: Any = 1) -> Any:
    """``other - alpha * input``, element by element.

    Examples
    --------
    >>> import wengert as wg
    >>> wg.rsub(wg.tensor([1.0, 2.0]), 1)
    tensor([ 0., -1.])
    """
    if alpha != 1:
        input = record(TABLE["mul"], (input, fitting_alpha(input, other, alpha)), {})
    if isinstance(other, TensorBase):
        return T.rsub(input, other)
    return record(TABLE["sub"], (other, input), {})


def div(input: Any, other: Any, *, rounding_mode: str | None = None, out: Any = None) -> Any:
    """``input / other``, element by element, rounded if asked for.

    Parameters
    ----------
    input, other : Tensor
        Tensors whose shapes broadcast; one of them may be a number. Integers become floating.
    rounding_mode : {None, "trunc", "floor"}
        Round the quotient toward zero or down, keeping integer dtypes; then the derivative is 0.
    out : Tensor, optional
        Where to write the result, which must not be part of a graph.

    Raises
    ------
    RuntimeError
        If the shapes do not broadcast, or for another rounding mode.

    Examples
    --------
    >>> import wengert as wg
    >>> wg.div(wg.tensor([7.0, -7.0]), 2), wg.div(wg.tensor([7, -7]), 2, rounding_mode="floor")
    (tensor([ 3.5000, -3.5000]), tensor([ 3, -4]))
    """
    if rounding_mode is None:
        return _result(record(TABLE["div"], (input, other), {}), out, "div")
    if rounding_mode == "floor":
        return _result(record(TABLE["div_floor"], (input, other), {}), out, "div")
    if rounding_mode == "trunc":
        return _result(record(TABLE["div_trunc"], (input, other), {}), out, "div")
    raise RuntimeError(
        "div expected rounding_mode to be one of None, 'trunc', or 'floor' but found "
        f"'{rounding_mode}'"
    )


def square(input: Any) -> Any:
    """``input ** 2``, element by element.

    Examples
    --------
    >>> import wengert as wg
    >>> wg.square(wg.tensor([1.0, -3.0]))
    tensor([1., 9.])
    """
    return record(TABLE["pow"], (input, 2), {})


def real(input: Any) -> Any:
    """The real part of a complex tensor, as a view; a real tensor itself.

    Examples
    --------
    >>> import wengert as wg
    >>> wg.real(wg.tensor([1 + 2j]))
    tensor([1.])
    """
    if input.payload.dtype.kind != "c":
        return input
    return T.select(T.view_as_real(input), dim=input.payload.ndim, index=0)


def imag(input: Any) -> Any:
    """The imaginary part of a complex tensor, as a view.

    Raises
    ------
    RuntimeError
        If the tensor is not complex.

    Examples
    --------
    >>> import wengert as wg
    >>> wg.imag(wg.tensor([1 + 2j]))
    tensor([2.])
    """
    if input.payload.dtype.kind != "c":
        raise RuntimeError("imag is not implemented for tensors with non-complex dtypes.")
    return T.select(T.view_as_real(input), dim=input.payload.ndim, index=1)


def conj(input: Any) -> Any:
    """The complex conjugate; a real tensor itself.

    Examples
    --------
    >>> import wengert as wg
    >>> wg.conj(wg.tensor([1 + 2j]))
    tensor([1.-2.j])
    """
    return T.conj(input) if input.payload.dtype.kind == "c" else input


negative = neg
absolute = abs
arcsin = asin
arccos = acos
arctan = atan
arcsinh = asinh
arccosh = acosh
arctanh = atanh
arctan2 = atan2
subtract = sub
multiply = mul
divide = div
true_divide = div
fix = trunc
greater = gt
greater_equal = ge
less = lt
less_equal = le
not_equal = ne
