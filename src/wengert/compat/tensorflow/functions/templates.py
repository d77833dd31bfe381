"""Layer 9 · compat: how TensorFlow's functions of two tensors are made from those of wengert."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from wengert.base.shapes import broadcast
from wengert.compat.tensorflow.functions.values import (
    COMPLEX,
    FLOATING,
    INTEGERS,
    NUMBERS,
    REAL,
    aligned,
    check,
    computed,
    invalid,
    shown,
    tensor_of,
    truths,
)

__all__ = ["ALL", "FLAT", "SAME", "TRUTH", "describe", "fits", "function_of", "hinted", "logical"]

_DOC = """{words}, element by element.

Parameters
----------
{x}, {y} : Tensor
    Or what becomes one; of one {kinds} dtype, and of shapes that broadcast.
name : str, optional
    Accepted, and of no effect.

Returns
-------
Tensor
    {result}

Raises
------
InvalidArgumentError
    If the dtypes differ, or are others, or the shapes do not broadcast.
TypeError
    If a number does not fit into the dtype of the other argument.

Examples
--------
>>> import wengert.compat.tensorflow as tf
>>> print(tf.{place}{name}({example}).numpy(){rounded})
{shown}
"""
ALL = (*NUMBERS, "bool")
_KINDS = {
    FLOATING: "real floating",
    COMPLEX: "floating or complex",
    REAL: "real",
    NUMBERS: "number",
    INTEGERS: "whole-number",
    ALL: "",
}
SAME = "Of that dtype; differentiable."
FLAT = "Of that dtype; as in TensorFlow it passes no gradient on."
TRUTH = "Of bools."


def fits(op: str, x, y) -> None:
    """Raise unless the shapes broadcast."""
    a, b = x.payload.shape, y.payload.shape
    if a != b:
        try:
            broadcast(a, b)
        except RuntimeError:
            raise invalid(op, f"Incompatible shapes: {shown(a)} vs. {shown(b)}") from None


def function_of(
    op: str,
    function: Callable[[Any, Any], Any],
    kinds: Sequence[str],
    name: str,
    words: str,
    example: str,
    shown: str,
    result: str = SAME,
    place: str = "math.",
) -> Any:
    """The function `name`: `function` of two tensors of one of the dtypes `kinds`."""

    def applied(x, y, name: str | None = None) -> Any:
        x, y = aligned(op, x, y)
        check(op, x, kinds)
        fits(op, x, y)
        return computed(op, function, x, y)

    describe(applied, words, kinds, name, example, shown, result, place)
    return applied


def hinted(
    op: str, function: Callable[[Any, Any], Any], name: str, words: str, example: str, shown: str
) -> Any:
    """A function whose second argument gets the dtype of the first one, whatever that is."""

    def applied(x, y, name: str | None = None) -> Any:
        x = tensor_of(x)
        y = tensor_of(y, dtype_hint=x.payload.dtype)
        x, y = aligned(op, x, y)
        check(op, x, NUMBERS)
        fits(op, x, y)
        return computed(op, function, x, y)

    describe(applied, words, NUMBERS, name, example, shown, SAME, "")
    return applied


def describe(
    function,
    words: str,
    kinds: Sequence[str],
    name: str,
    example: str,
    shown: str,
    result: str,
    place: str,
    x: str = "x",
    y: str = "y",
) -> None:
    """Give a function its name and its documentation."""
    function.__name__ = function.__qualname__ = name
    function.__doc__ = _DOC.format(
        words=words,
        kinds=_KINDS[tuple(kinds)],
        name=name,
        example=example,
        shown=shown,
        result=result,
        place=place,
        rounded=".round(3)" if result is SAME and place else "",
        x=x,
        y=y,
    ).replace("one  dtype", "one dtype")


def logical(
    op: str, function: Callable[[Any, Any], Any], name: str, words: str, example: str, shown: str
) -> Any:
    """A function of two truth values."""

    def applied(x, y, name: str | None = None) -> Any:
        x, y = truths(op, x, y)
        fits(op, x, y)
        return computed(op, function, x, y)

    describe(applied, words, ALL, name, example, shown, TRUTH, "math.")
    return applied
