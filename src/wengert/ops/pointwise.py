"""Layer 5 · ops · pointwise: element-wise functions, documented by their records."""

from __future__ import annotations

import operator
import re
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from wengert.base.dtypes import DTYPES, is_differentiable, promote
from wengert.base.errors import wrong_type
from wengert.ops.coerce import in_former_order, number, operand
from wengert.ops.out import into
from wengert.prims.facet import ALIASES, EXAMPLE
from wengert.prims.record import Primitive
from wengert.tape.base import SparseValue, TensorBase
from wengert.tape.operands import held, is_number
from wengert.tape.record import T


def _unary(prim: Primitive) -> Callable[..., Any]:
    compute: Callable[[Any], Any]

    def first(input: Any) -> Any:
        nonlocal compute
        compute = getattr(T, prim.name)
        return compute(input)

    compute = first

    def function(input: Any, *, out: Any = None) -> Any:
        if out is None:
            return compute(input)
        return into(out, compute(input), prim.name)

    return _from_record(function, prim, "input : Tensor\n        Of any shape.")


def _binary(prim: Primitive) -> Callable[..., Any]:
    def function(input: Any, other: Any, *, out: Any = None) -> Any:
        return _result(getattr(T, prim.name)(input, other), out, prim.name)

    return _from_record(function, prim, _TWO)


_TWO = """input, other : Tensor
        Tensors whose shapes broadcast; one of them may be a number."""


def _from_record(function: Callable[..., Any], prim: Primitive, parameters: str) -> Any:
    example = EXAMPLE[prim]
    assert example is not None
    call, slope = f"wg.{prim.name}({example[0]})", prim.is_differentiable
    return documented(function, prim.name, prim.doc, parameters, call, example[1], slope=slope)


def documented(
    function: Callable[..., Any],
    name: str,
    doc: str,
    parameters: str,
    example: str,
    result: str,
    *,
    slope: bool = True,
    note: str = "",
    raises: str = "",
    references: str = "",
) -> Any:
    """Return `function` with its name and a docstring.

    Parameters
    ----------
    doc: The summary, in one line, by the names of a record.
    parameters: The documentation of its arguments.
    example, result: An example and what it prints.
    slope: Whether it has a derivative.
    note: A further remark on the result.
    raises: Further errors.
    references: The sources of its formulas.
    """
    returns = "differentiable, to any order" if slope else "it never requires a gradient"
    function.__name__ = function.__qualname__ = name
    shapes = "shapes do not broadcast, or " if parameters.startswith("input, ") else ""
    ends = f"\n\n    References\n    ----------\n    {references}" if references else ""
    function.__doc__ = f"""{_summary(doc)}

    Parameters
    ----------
    {parameters}
    out : Tensor, optional
        Where to write the result; outside the graph only.

    Returns
    -------
    Tensor
        The result; {note or returns}.

    Raises
    ------
    RuntimeError
        If {shapes}`out` is given and an argument requires a gradient.{raises}

    Examples
    --------
    >>> import wengert as wg
    >>> {example}
    {result}{ends}
    """
    return function


_NAMES = frozenset(("self", "other", "pi", "e"))


def _summary(doc: str) -> str:
    """Return a record's text as a sentence: formulas as code, self as `input`."""
    formula = re.split(r"[,;](?![^(]*\))", doc, maxsplit=1)[0]
    words = re.findall(r"[a-z]\w*+(?!\()", formula)
    if words and _NAMES.issuperset(words):
        doc = f"``{formula}``{doc[len(formula) :]}"
    text = re.sub(r"\bself\b", "input", doc[0].upper() + doc[1:])
    return re.sub(r"(;|$)", r", element by element\1", text, count=1) + "."


def add(input: Any, other: Any, former: Any = None, *, alpha: Any = 1, out: Any = None) -> Any:
    """``input + alpha * other``, element by element.

    Parameters
    ----------
    input, other : Tensor. Tensors whose shapes broadcast; one of them may be a number.
    former : Tensor, optional. The second tensor, for older programs, which give the factor before
        it.
    alpha : number. A factor of `other`.

    Returns
    -------
    Tensor: The result; differentiable with respect to both.

    %(raises_broadcast)s

    Examples
    --------
    >>> wg.add(wg.tensor([1.0, 2.0]), wg.tensor([3.0, 4.0]), alpha=10)
    tensor([31., 42.])
    """
    if former is not None:
        input, other, alpha = in_former_order("add", (input, other), (former,), alpha)
    return _scaled("add", input, other, alpha, out)


def sub(input: Any, other: Any, former: Any = None, *, alpha: Any = 1, out: Any = None) -> Any:
    """``input - alpha * other``, element by element; arguments as for `add`.

    Examples
    --------
    >>> wg.sub(wg.tensor([1.0, 2.0]), 1)
    tensor([0., 1.])
    """
    if former is not None:
        input, other, alpha = in_former_order("sub", (input, other), (former,), alpha)
    return _scaled("sub", input, other, alpha, out)


def pow(input: Any, exponent: Any, *, out: Any = None) -> Any:
    """``input ** exponent``, element by element.

    Parameters
    ----------
    input, exponent : Tensor. Tensors whose shapes broadcast; one of them may be a number.

    Returns
    -------
    Tensor: The result; differentiable with respect to both. At ``input = 0`` the derivative with
        respect to `exponent` is 0.

    Raises
    ------
    RuntimeError: If the shapes do not broadcast, or integers are raised to a negative power.

    Examples
    --------
    >>> wg.pow(wg.tensor([1.0, 2.0]), 3)
    tensor([1., 8.])
    """
    return _result(T.pow(input, exponent), out, "pow")


def _scaled(name: str, input: Any, other: Any, alpha: Any, out: Any) -> Any:
    if alpha.__class__ is not int:
        check_alpha(input, other, alpha)
        if alpha.__class__ is other.__class__ is bool:
            other, alpha = other and alpha, 1
    if alpha != 1:
        alpha = fitting_alpha(input, other, alpha)
        if is_number(other) or isinstance(other, SparseValue):
            other = other * alpha
        else:
            return _result(getattr(T, f"{name}_scaled")(input, other, alpha=alpha), out, name)
    if isinstance(other, SparseValue) or isinstance(input, SparseValue):
        return _result(getattr(operator, name)(input, other), out, name)
    return _result(getattr(T, name)(input, other), out, name)


def check_alpha(input: Any, other: Any, alpha: Any) -> None:
    """Refuse an `alpha` that is a bool among others, or a floating 1 among integers."""
    if alpha.__class__ is bool:
        for value in (input, other):
            if value.__class__ is not bool and getattr(value, "dtype", None) != DTYPES["bool"]:
                raise RuntimeError("Boolean alpha only supported for Boolean results.")
    elif alpha == 1:
        fitting_alpha(input, other, alpha)


def fitting_alpha(input: Any, other: Any, alpha: Any) -> Any:
    """`alpha` as the dtype of the result holds it, and not fractional for integer tensors."""
    # NumPy's float64, which is a float, has a dtype
    plain = alpha.__class__ is float or alpha.__class__ is int
    if plain and isinstance(input, TensorBase) and input._payload.dtype.kind == "f":
        return alpha
    alpha = number(alpha, "add", "alpha")
    arrays = [value for value in (input, other) if getattr(value, "dtype", None) is not None]
    if isinstance(alpha, complex | np.complexfloating) and not any(map(is_complex, arrays)):
        raise RuntimeError(
            "For non-complex input tensors, argument alpha must not be a complex number."
        )
    numbers = [value for value in (input, other) if is_number(value)]
    if any(isinstance(value, float | complex) for value in numbers) or any(map(is_float, arrays)):
        return alpha
    if isinstance(alpha, float):
        raise RuntimeError(
            "For integral input tensors, argument alpha must not be a floating point number."
        )
    payloads = [value._payload if isinstance(value, TensorBase) else value for value in arrays]
    return held(alpha, promote(payloads, numbers))


def is_complex(value: Any) -> bool:
    """Return whether a tensor or array has a complex dtype."""
    payload = value._payload if isinstance(value, TensorBase) else value
    return bool(payload.dtype.kind == "c")


def is_float(value: Any) -> bool:
    """Whether a tensor or array is of a floating or complex dtype."""
    payload = value._payload if isinstance(value, TensorBase) else value
    return is_differentiable(payload.dtype)


def _result(made: Any, out: Any, name: str) -> Any:
    return made if out is None else into(out, made, name)


def rsub(input: Any, other: Any, *, alpha: Any = 1) -> Any:
    """``other - alpha * input``, element by element.

    Examples
    --------
    >>> wg.rsub(wg.tensor([1.0, 2.0]), 1)
    tensor([ 0., -1.])
    """
    if is_number(input):
        raise wrong_type("rsub", "input", "Tensor", input, 1)
    if alpha.__class__ is not int:
        check_alpha(input, other, alpha)
    if alpha != 1:
        input = T.mul(input, fitting_alpha(input, other, alpha))
    if isinstance(other, TensorBase):
        return T.rsub(input, other)
    return T.sub(other, input)


def div(input: Any, other: Any, *, rounding_mode: str | None = None, out: Any = None) -> Any:
    """``input / other``, element by element, rounded if asked for.

    Parameters
    ----------
    input, other : Tensor. Tensors whose shapes broadcast; one of them may be a number. Integers
        become floating.
    rounding_mode : {None, "trunc", "floor"}. Round the quotient toward zero or down, keeping
        integer dtypes; then the derivative is 0.

    Raises
    ------
    RuntimeError: If the shapes do not broadcast, or for another rounding mode.

    Examples
    --------
    >>> wg.div(wg.tensor([7.0, -7.0]), 2), wg.div(wg.tensor([7, -7]), 2, rounding_mode="floor")
    (tensor([ 3.5000, -3.5000]), tensor([ 3, -4]))
    """
    return _result(getattr(T, rounded_division(rounding_mode))(input, other), out, "div")


def rounded_division(rounding_mode: Any) -> str:
    """Return the name of the primitive that divides and rounds."""
    forms = {None: "div", "floor": "div_floor", "trunc": "div_trunc"}
    if rounding_mode not in forms:
        raise RuntimeError(
            "div expected rounding_mode to be one of None, 'trunc', or 'floor' but found "
            f"'{rounding_mode}'"
        )
    return forms[rounding_mode]


def square(input: Any, *, out: Any = None) -> Any:
    """``input ** 2``, element by element.

    Examples
    --------
    >>> wg.square(wg.tensor([1.0, -3.0]))
    tensor([1., 9.])
    """
    return _result(T.pow(input, 2), out, "square")


def real(input: Any) -> Any:
    """Return the real part of a complex tensor, as a view; a real tensor itself.

    Examples
    --------
    >>> wg.real(wg.tensor([1 + 2j]))
    tensor([1.])
    """
    x = operand(input, "real")
    if x._payload.dtype.kind != "c":
        return x
    return T.select(T.view_as_real(x), dim=x._payload.ndim, index=0)


def imag(input: Any) -> Any:
    """Return the imaginary part of a complex tensor, as a view.

    Raises
    ------
    RuntimeError: If the tensor is not complex.

    Examples
    --------
    >>> wg.imag(wg.tensor([1 + 2j]))
    tensor([2.])
    """
    x = operand(input, "imag")
    if x._payload.dtype.kind != "c":
        raise RuntimeError("imag is not implemented for tensors with non-complex dtypes.")
    return T.select(T.view_as_real(x), dim=x._payload.ndim, index=1)


def conj(input: Any) -> Any:
    """Return the complex conjugate; a real tensor itself.

    Examples
    --------
    >>> wg.conj(wg.tensor([1 + 2j]))
    tensor([1.-2.j])
    """
    x = operand(input, "conj")
    return T.conj(x) if x._payload.dtype.kind == "c" else x


subtract = sub
divide = true_divide = div


def _made() -> dict[str, Callable[..., Any]]:
    found = {}
    for prim, example in EXAMPLE.items():
        if example is not None:
            function = _unary(prim) if len(prim.args) == 1 else _binary(prim)
            found.update(dict.fromkeys((prim.name, *ALIASES[prim].split()), function))
    return found


FUNCTIONS = _made()
"""The functions made from records, under all their names."""
globals().update(FUNCTIONS)

if TYPE_CHECKING:

    def __getattr__(name: str) -> Any: ...
