"""Layer 9 · compat: templates of TensorFlow's element-wise functions over wengert's operations.

See NOTE [functions of rows] in `compat/kit/rows.py`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from wengert.base.shapes import broadcast
from wengert.compat.kit.rows import of_rows, shaped
from wengert.compat.tensorflow.functions import values as V

__all__ = ["KINDS", "fits", "function_of", "rows", "unary"]

ALL, BOOLS = (*V.NUMBERS, "bool"), ("bool",)
KINDS = {
    V.FLOATING: "a real floating dtype",
    V.COMPLEX: "a floating or complex dtype",
    V.REAL: "a real dtype",
    V.NUMBERS: "a dtype of numbers",
    V.INTEGERS: "a dtype of whole numbers",
    BOOLS: "bool",
    ALL: "any dtype",
}
"""The names of the lists of dtypes in docstrings."""
SAME = "Of that dtype; differentiable."
FLAT = "Of that dtype; as in TensorFlow it passes no gradient on."
TRUTH = "Of bools."


def rows(namespace: dict[str, Any], make: Callable[..., Any], text: str) -> list[str]:
    """Define the functions of a table, whose cells may name lists of dtypes (see `of_rows`)."""
    kinds = {"BOOLS": BOOLS, "COMPLEX": V.COMPLEX, "FLOATING": V.FLOATING, "INTEGERS": V.INTEGERS}
    return of_rows(namespace, make, text, NUMBERS=V.NUMBERS, REAL=V.REAL, **kinds)


def fits(op: str, x, y) -> None:
    """Raise an error unless the shapes broadcast."""
    a, b = x._payload.shape, y._payload.shape
    if a != b:
        try:
            broadcast(a, b)
        except RuntimeError:
            raise V.invalid(f"Incompatible shapes: {V.shown(a)} vs. {V.shown(b)}", op) from None


def unary(
    path: str,
    op: str,
    function: Callable[[Any], Any],
    kinds: tuple[str, ...],
    words: str,
    example: str,
    line: str,
    result: str = SAME,
) -> Any:
    """Make the function `path` of a tensor, which computes `function` for the dtypes `kinds`."""

    def applied(x, name=None) -> Any:
        """{words}, element by element.

        Parameters
        ----------
        {0} : Tensor or tensor-like. The input, of {kinds}.

        Returns
        -------
        Tensor: {result}

        Raises
        ------
        InvalidArgumentError: If the dtype is not supported.

        Examples
        --------
        >>> print(tf.{path}({example}).numpy(){rounded})
        {line}
        """
        x = V.tensor_of(x)
        V.check(x, kinds, op=op)
        return V.computed(op, function, x)

    return _described(applied, path, words, kinds, example, line, result)


def function_of(
    path: str,
    op: str,
    function: Callable[[Any, Any], Any],
    kinds: tuple[str, ...],
    words: str,
    example: str,
    line: str,
    result: str = SAME,
) -> Any:
    """Make the function `path` of two tensors, which computes `function` for the dtypes `kinds`."""
    entered = V.truths if kinds is BOOLS else V.aligned

    def applied(x, y, name=None) -> Any:
        """{words}, element by element.

        Parameters
        ----------
        {0}, {1} : Tensor or tensor-like. The operands, of one dtype, {kinds}; their shapes
            broadcast.

        Returns
        -------
        Tensor: {result}

        Raises
        ------
        InvalidArgumentError: If the dtypes differ or are not supported, or the shapes do not
            broadcast.
        TypeError: If the dtype of the other argument cannot represent a number.

        Examples
        --------
        >>> print(tf.{path}({example}).numpy(){rounded})
        {line}
        """
        x, y = entered(op, x, y)
        if kinds is not ALL:
            V.check(x, kinds, op=op)
        fits(op, x, y)
        return V.computed(op, function, x, y)

    applied = V.operation(op)(applied) if kinds is ALL else applied  # strings, too
    return _described(applied, path, words, kinds, example, line, result)


def _described(function, path: str, words: str, kinds, example: str, line: str, result) -> Any:
    said = {"words": words, "kinds": KINDS[kinds], "example": example, "line": line}
    rounded = ".round(3)" if result is SAME else ""
    return shaped(function, path, **said, result=result, rounded=rounded)
