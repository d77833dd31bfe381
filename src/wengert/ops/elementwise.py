"""Layer 5 · ops · pointwise: element-wise functions from records, docstrings included."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from wengert.ops.coerce import operand
from wengert.ops.out import into
from wengert.ops.pointwise import documented
from wengert.prims.record import TABLE
from wengert.tape.base import TensorBase, new_tensor
from wengert.tape.masked import hides
from wengert.tape.operands import is_number
from wengert.tape.record import T

Function = Callable[..., Any]


def unary(
    name: str, given: str, result: str, *, record: str = "", namespace: str = "wg", **texts: str
) -> Function:
    """The function of one tensor that computes a record.

    Parameters
    ----------
    given, result: The values and the printed result of an example.
    record: The record's name, where it is not the function's.
    namespace: The public namespace of the function.
    texts: The arguments of `documented`.
    """
    record = record or name

    def function(input: Any, *, out: Any = None) -> Any:
        made = getattr(T, record)(input)
        return made if out is None else into(out, made, name)

    example = f"{namespace}.{name}(wg.tensor({given}))"
    return documented(
        function, name, TABLE[record].doc, "input : Tensor\n        Of any shape.", example, result,
        slope=TABLE[record].is_differentiable, **texts,
    )  # fmt: skip


def binary(
    name: str,
    given: tuple[str, str],
    result: str,
    *,
    record: str = "",
    namespace: str = "wg",
    numbers: bool = True,
    check: Callable[[Any, Any], None] | None = None,
    **texts: str,
) -> Function:
    """The function of two arguments that computes a record.

    Parameters
    ----------
    numbers: Whether one of them may be a number.
    check: ``check(input, other)``, which raises where the record would not.
    """
    record = record or name

    def function(input: Any, other: Any, *, out: Any = None) -> Any:
        if not numbers:
            if not isinstance(input, TensorBase):
                input = operand(input, name)
            if not isinstance(other, TensorBase):
                other = operand(other, name, "other", 2)
        if check is not None:
            check(input, other)
        if is_number(other):
            if is_number(input):
                raise two_tensors(record, input, other)
            other = _as_tensor(other, input)
        elif is_number(input):
            input = _as_tensor(input, other)
        made = getattr(T, record)(input, other)
        if past_nan:
            made = hides(made, input, other)
        return made if out is None else into(out, made, name)

    past_nan = TABLE[record].hides
    one, two = (f"wg.tensor({text})" if text.startswith("[") else text for text in given)
    may = "; one of them may be a number" if numbers else ""
    return documented(
        function, name, TABLE[record].doc,
        f"input, other : Tensor\n        Tensors whose shapes broadcast{may}.",
        f"{namespace}.{name}({one}, {two})", result,
        slope=TABLE[record].is_differentiable, **texts,
    )  # fmt: skip


_SHORT = frozenset({np.dtype(np.float32), np.dtype(np.float64)})


def _as_tensor(number: Any, tensor: Any) -> Any:
    """Return a number as a tensor of another's dtype, if that is certain to be the common one."""
    if isinstance(tensor, TensorBase) and not isinstance(number, complex):
        dtype = tensor._payload.dtype
        if dtype in _SHORT:
            return new_tensor(dtype.type(number))
    return number


def two_tensors(name: str, input: Any, other: Any) -> TypeError:
    """The error of a function that got no tensor at all."""
    return TypeError(
        f"{name}() received an invalid combination of arguments - got ({type(input).__name__}, "
        f"{type(other).__name__}), but expected at least one Tensor"
    )
