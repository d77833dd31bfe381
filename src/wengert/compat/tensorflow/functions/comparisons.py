"""Layer 9 · compat: TensorFlow's comparisons, and its functions of truth values and of bits."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import wengert as wg
from wengert.base.sections import fill_sections
from wengert.compat.kit.rows import of_rows
from wengert.compat.tensorflow.functions.templates import (
    ALL,
    FLAT,
    TRUTH,
    describe,
    fits,
    function_of,
    logical,
)
from wengert.compat.tensorflow.functions.values import (
    INTEGERS,
    REAL,
    aligned,
    check,
    computed,
    tensor_of,
)

__all__ = [
    "bitwise_and",
    "bitwise_or",
    "bitwise_xor",
    "equal",
    "invert",
    "left_shift",
    "not_equal",
    "right_shift",
]


__all__ += of_rows(
    globals(),
    function_of,
    """
    less | Less | =wg.lt | =REAL | . | Whether `x` is less | [1, 2], [2, 2] | [ True False] | =TRUTH
        | =TOP
    less_equal | LessEqual | =wg.le | =REAL | . | Whether `x` is less or equal | [1, 3], [1, 2]
        | [ True False] | =TRUTH | =TOP
    greater | Greater | =wg.gt | =REAL | . | Whether `x` is greater | [1, 3], [1, 2] | [False  True]
        | =TRUTH | =TOP
    greater_equal | GreaterEqual | =wg.ge | =REAL | . | Whether `x` is greater or equal
        | [1, 1], [1, 2] | [ True False] | =TRUTH | =TOP
    """,
    REAL=REAL,
    TOP="",
    TRUTH=TRUTH,
    wg=wg,
)
__all__ += of_rows(
    globals(),
    logical,
    """
    logical_and | LogicalAnd | =wg.logical_and | . | Whether both are true
        | [True, False], [True, True] | [ True False]
    logical_or | LogicalOr | =wg.logical_or | . | Whether at least one is true
        | [True, False], [False, False] | [ True False]
    logical_xor | LogicalXor | =wg.logical_xor | . | Whether exactly one is true
        | [True, False], [True, True] | [False  True]
    """,
    wg=wg,
)


def _equality(op: str, function: Callable[[Any, Any], Any], name: str, words: str) -> Any:
    def applied(x, y, name: str | None = None) -> Any:
        x, y = aligned(op, x, y)
        fits(op, x, y)
        return computed(op, function, x, y)

    line = "[ True False]" if op == "Equal" else "[False  True]"
    describe(applied, words, ALL, name, "[1, 2], [1, 3]", line, TRUTH, "")
    return applied


equal = _equality("Equal", wg.eq, "equal", "Whether the elements are equal")
not_equal = _equality("NotEqual", wg.ne, "not_equal", "Whether the elements differ")


def _bitwise(op: str, function: Callable[[Any, Any], Any], name: str, words: str, line: str) -> Any:
    return function_of(
        op, function, INTEGERS, name, words, "[5, 6], [3, 1]", line, FLAT, "bitwise."
    )


bitwise_and = _bitwise(
    "BitwiseAnd", wg.bitwise_and, "bitwise_and", "The bits that both have", "[1 0]"
)
bitwise_or = _bitwise("BitwiseOr", wg.bitwise_or, "bitwise_or", "The bits that one has", "[7 7]")
bitwise_xor = _bitwise(
    "BitwiseXor", wg.bitwise_xor, "bitwise_xor", "The bits that exactly one has", "[6 7]"
)
left_shift = _bitwise(
    "LeftShift", wg.bitwise_left_shift, "left_shift", "The bits of `x`, moved up by `y`", "[40 12]"
)
right_shift = _bitwise(
    "RightShift",
    wg.bitwise_right_shift,
    "right_shift",
    "The bits of `x`, moved down by `y`",
    "[0 3]",
)


def invert(x, name: str | None = None) -> Any:
    """The bits of whole numbers, each turned to the other value.

    Examples
    --------
    >>> print(tf.bitwise.invert([0, 5]).numpy())
    [-1 -6]
    """
    x = tensor_of(x)
    check("Invert", x, INTEGERS)
    return computed("Invert", wg.bitwise_not, x)


fill_sections(globals())
