"""Layer 5 · ops · pointwise: signs, parts, neighbours, rounding; integers and bits."""

# the functions have PyTorch's names

from __future__ import annotations

from typing import Any

import numpy as np

from wengert.base.dtypes import finfo, from_numpy_dtype
from wengert.base.errors import wrong_type
from wengert.base.export import export
from wengert.ops import named_parts
from wengert.ops.coerce import dtype_name, integer, number, operand
from wengert.ops.elementwise import binary, two_tensors, unary
from wengert.ops.out import into
from wengert.ops.pointwise import is_complex
from wengert.ops.select import check_filling
from wengert.prims import numbers as numbers
from wengert.prims.record import TABLE
from wengert.tape.base import TensorBase
from wengert.tape.inplace import write
from wengert.tape.masked import hides
from wengert.tape.modes import is_recording
from wengert.tape.operands import cast, held, is_number, plain
from wengert.tape.record import T

deg2rad = unary("deg2rad", "[180.0, -90.0]", "tensor([ 3.1416, -1.5708])")
rad2deg = unary("rad2deg", "[3.1416, -1.5708]", "tensor([180.0004, -90.0002])")
frac = unary("frac", "[1.5, -2.25]", "tensor([ 0.5000, -0.2500])")
signbit = unary("signbit", "[1.0, -0.0, -2.0]", "tensor([False,  True,  True])")
isposinf = unary("isposinf", '[1.0, float("inf")]', "tensor([False,  True])")
isneginf = unary("isneginf", '[1.0, -float("inf")]', "tensor([False,  True])")


def _first_is_tensor(input: Any, other: Any) -> None:
    if is_number(input):
        raise two_tensors("copysign", input, other)


copysign = binary(
    "copysign",
    ("[1.0, -2.0]", "[-1.0, 0.0]"),
    "tensor([-1.,  2.])",
    check=_first_is_tensor,
    note="differentiable in `input`, with the derivative 0 at 0; the gradient of `other` is 0",
)
fmax = binary("fmax", ('[1.0, float("nan")]', "[2.0, 3.0]"), "tensor([2., 3.])", numbers=False)
fmin = binary("fmin", ('[1.0, float("nan")]', "[2.0, 3.0]"), "tensor([1., 3.])", numbers=False)
ldexp = binary("ldexp", ("[1.0, 3.0]", "[4, -1]"), "tensor([16.0000,  1.5000])", numbers=False)
nextafter = binary(
    "nextafter",
    ("[1.0]", "[2.0]"),
    "tensor([1.0000])",
    numbers=False,
    note="the gradient of `input` is 1, but 0 where both are equal; that of `other` is 0",
)
gcd = binary("gcd", ("[12, -18]", "[8, 27]"), "tensor([4, 9])", numbers=False)
lcm = binary("lcm", ("[4, -6]", "[6, 9]"), "tensor([12, 18])", numbers=False)
bitwise_left_shift = binary("bitwise_left_shift", ("[1, 3]", "[4, 1]"), "tensor([16,  6])")
bitwise_right_shift = binary("bitwise_right_shift", ("[16, -3]", "[4, 1]"), "tensor([ 1, -2])")
export("wengert", "Tensor", "Tensor_")(
    deg2rad,
    rad2deg,
    frac,
    copysign,
    ldexp,
    nextafter,
    gcd,
    lcm,
    bitwise_left_shift,
    bitwise_right_shift,
)
export("wengert", "Tensor")(signbit, isposinf, isneginf, fmax, fmin)


@export("wengert", "Tensor", "Tensor_")
def heaviside(input: Any, values: Any, *, out: Any = None) -> Any:
    """Return the step function: 0 below 0, 1 above, `values` at 0, element by element.

    Parameters
    ----------
    input, values : Tensor. Of one real dtype; their shapes broadcast.
    out : Tensor, optional. Where to write the result, which must not be part of a graph.

    Returns
    -------
    Tensor: Its derivative with respect to `input` is 0; that with respect to `values` is 1 where
        the input is 0.

    Raises
    ------
    RuntimeError: If the dtypes differ, or are complex.

    Examples
    --------
    >>> wg.heaviside(wg.tensor([-1.0, 0.0, 2.0]), wg.tensor(0.5))
    tensor([0.0000, 0.5000, 1.0000])
    """
    x, y = operand(input, "heaviside"), operand(values, "heaviside", "values", 2)
    kinds = (x._payload.dtype.kind, y._payload.dtype.kind)
    if x._payload.dtype != y._payload.dtype and "c" not in kinds:
        raise RuntimeError(
            "heaviside is not yet implemented for tensors with different dtypes.: they are "
            f"{dtype_name(x._payload)} and {dtype_name(y._payload)}; convert one of them"
        )
    made = T.heaviside(x, y)
    return made if out is None else into(out, made, "heaviside")


@export("wengert", "Tensor")
def positive(input: Any) -> Any:
    """Return the tensor itself, as ``+input`` gives it.

    Raises
    ------
    RuntimeError: If the tensor is bool.

    Examples
    --------
    >>> wg.positive(wg.tensor([1.0, -2.0]))
    tensor([ 1., -2.])
    """
    x = operand(input, "positive")
    if x._payload.dtype.kind == "b":
        raise RuntimeError(
            "The `+` operator, on a bool tensor is not supported: convert it with .int() first"
        )
    return x


@export("wengert", "Tensor")
def isreal(input: Any) -> Any:
    """Return whether the imaginary part of each element is 0; true for all of a real tensor.

    Examples
    --------
    >>> wg.isreal(wg.tensor([1 + 1j, 2 + 0j]))
    tensor([False,  True])
    """
    return T.isreal(operand(input, "isreal"))


@export("wengert", "Tensor")
def float_power(input: Any, exponent: Any, *, out: Any = None) -> Any:
    """Return ``input ** exponent`` in double precision, element by element.

    Parameters
    ----------
    input, exponent : Tensor. Tensors whose shapes broadcast; one of them may be a number. They are
        converted to float64, or to complex128 if either is complex.
    out : Tensor, optional. Where to write the result: of that dtype, and not part of a graph.

    Returns
    -------
    Tensor: The result; differentiable with respect to both, to any order.

    Raises
    ------
    RuntimeError: If the shapes do not broadcast, or `out` has another dtype.

    Examples
    --------
    >>> wg.float_power(wg.tensor([2, 4]), -1)
    tensor([0.5000, 0.2500], dtype=torch.float64)
    """
    if is_number(input) and is_number(exponent):
        raise two_tensors("float_power", input, exponent)
    wide = _wide(input, exponent)
    made = T.pow(_widened(input, wide), _widened(exponent, wide))
    if out is None:
        return made
    if isinstance(out, TensorBase) and out._payload.dtype != wide:
        raise RuntimeError(
            f"the output given to float_power has dtype {dtype_name(out._payload)} but the "
            f"operation's result requires dtype {dtype_name(made._payload)}"
        )
    return into(out, made, "float_power")


@export("Tensor")
def float_power_(input: Any, exponent: Any) -> Any:
    """`float_power`, written into this tensor, which is returned.

    Raises
    ------
    RuntimeError: If the tensor is not of double precision.
    """
    wide = _wide(input, exponent)
    if input._payload.dtype != wide:
        raise RuntimeError(
            f"the base given to float_power_ has dtype {dtype_name(input._payload)} but the "
            f"operation's result requires dtype {dtype_name(np.empty(0, wide))}: convert it "
            "with .double(), or use float_power"
        )
    return write(TABLE["pow"], input, (_widened(exponent, wide),), {}, "float_power_")


def _wide(*values: Any) -> np.dtype[Any]:
    """Return the double-precision dtype that holds all of the values."""
    for i, value in enumerate(values):
        arg = ("input", "exponent")[i]
        if isinstance(value, complex) or not (
            is_number(value) or not is_complex(operand(value, "float_power", arg, i + 1))
        ):
            return np.dtype(np.complex128)
    return np.dtype(np.float64)


def _widened(value: Any, wide: np.dtype[Any]) -> Any:
    if is_number(value):
        return complex(value) if wide.kind == "c" else float(value)
    return cast(operand(value, "float_power"), wide)


@export("wengert", "Tensor")
def frexp(input: Any, *, out: Any = None) -> Any:
    """Return mantissas in [1/2, 1) and exponents, with ``input = mantissa * 2 ** exponent``.

    Parameters
    ----------
    input : Tensor. Of a real floating dtype.
    out : tuple of two Tensors, optional. Where to write the results; the second of int32.

    Returns
    -------
    return_types.frexp: A named tuple ``(mantissa, exponent)``. The mantissa is differentiable, to
        any order (the exponent counts as constant); the exponent is int32.

    Raises
    ------
    RuntimeError: If the input is not of a real floating dtype.

    Examples
    --------
    >>> mantissa, exponent = wg.frexp(wg.tensor([8.0, -3.0]))
    >>> mantissa, exponent
    (tensor([ 0.5000, -0.7500]), tensor([4, 2], dtype=torch.int32))
    """
    made = T.frexp(operand(input, "frexp"))
    if out is not None:
        mantissa, exponent = out
        if exponent._payload.dtype != np.int32:
            raise RuntimeError(
                "torch.frexp() expects exponent to have int dtype but got "
                f"{exponent._payload.dtype.name}: give a tensor of int32"
            )
        made = (into(mantissa, made[0], "frexp"), into(exponent, made[1], "frexp"))
    return named_parts.frexp(made)


@export("wengert", "Tensor", "Tensor_")
def nan_to_num(
    input: Any,
    nan: float | None = None,
    posinf: float | None = None,
    neginf: float | None = None,
    *,
    out: Any = None,
) -> Any:
    """Return the tensor with numbers in place of NaN and of the infinities.

    Parameters
    ----------
    input : Tensor. Of any dtype.
    nan : float, optional. For NaN; 0 unless given.
    posinf, neginf : float, optional. For plus and minus infinity; the largest and the lowest number
        of the dtype unless given.
    out : Tensor, optional. Where to write the result, which must not be part of a graph.

    Returns
    -------
    Tensor: Differentiable if it is real; where an element was replaced the derivative is 0.

    Raises
    ------
    RuntimeError: If the input is complex and requires a gradient.

    Examples
    --------
    >>> wg.nan_to_num(wg.tensor([1.0, float("nan"), float("inf")]), posinf=9.0)
    tensor([1., 0., 9.])
    """
    x = operand(input, "nan_to_num")
    given = {"nan": nan, "posinf": posinf, "neginf": neginf}
    for place, (arg, value) in enumerate(given.items()):
        if value is not None:
            given[arg] = number(value, "nan_to_num", arg, "float", place + 2)
        if isinstance(given[arg], complex):
            raise wrong_type("nan_to_num", arg, "float", value, place + 2)
    nan, posinf, neginf = given.values()
    kind = x._payload.dtype
    if kind.kind == "V":
        # the kernel computes in float32, which has a larger range
        limits = finfo(from_numpy_dtype(kind))
        posinf = limits.max if posinf is None else posinf
        neginf = limits.min if neginf is None else neginf
    if kind.kind == "c" and x._edge is not None and is_recording():
        raise RuntimeError(
            "nan_to_num does not support automatic differentiation for outputs with complex "
            "dtype.: apply it to input.real and input.imag"
        )
    made = hides(T.nan_to_num(x, nan=0.0 if nan is None else nan, posinf=posinf, neginf=neginf), x)
    return made if out is None else into(out, made, "nan_to_num")


@export("wengert", "Tensor", "Tensor_")
def round(input: Any, *, decimals: int = 0, out: Any = None) -> Any:
    """Round to a number of decimal places, halves to even, element by element.

    Parameters
    ----------
    input : Tensor. Real; floating unless `decimals` is 0.
    decimals : int. How many places to keep after the point; if negative, how many zeros to make
        before it.
    out : Tensor, optional. Where to write the result, which must not be part of a graph.

    Returns
    -------
    Tensor: The result; its derivative is 0.

    Raises
    ------
    NotImplementedError: If the input is complex or of bools, or of integers with `decimals`.

    Examples
    --------
    >>> wg.round(wg.tensor([1.25, -2.5])), wg.round(wg.tensor([1.26]), decimals=1)
    (tensor([ 1., -2.]), tensor([1.3000]))
    """
    decimals = integer(decimals, "round", "decimals")
    made = T.round_decimals(input, decimals=decimals) if decimals else T.round(input)
    return made if out is None else into(out, made, "round")


@export("wengert")
def fill(input: Any, value: Any) -> Any:
    """Return a tensor like `input` with one value everywhere.

    Parameters
    ----------
    input : Tensor. Gives shape and dtype; its derivative is 0.
    value : number or Tensor. A tensor without dimensions is differentiable.

    Raises
    ------
    RuntimeError: If the value is a tensor with dimensions, or does not fit into the dtype.

    Examples
    --------
    >>> wg.fill(wg.zeros(2), 3)
    tensor([3., 3.])
    """
    x = operand(input, "fill")
    if isinstance(value, TensorBase):
        check_filling(value, "fill_ only supports 0-dimension value tensor")
        return T.fill_tensor(x, cast(value, x._payload.dtype))
    number = plain(value)
    if not is_number(number):
        raise wrong_type("fill", "value", "Number", value)
    return T.fill_scalar(x, value=held(number, x._payload.dtype))
