"""Layer 9 · compat: TensorFlow's comparisons, and its functions of truth values and of bits."""

from __future__ import annotations

from wengert.base.sections import fill_sections
from wengert.compat.tensorflow.functions.templates import function_of, rows, unary

__all__ = rows(
    globals(),
    function_of,
    """
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
__all__ += rows(
    globals(),
    unary,
    """
    bitwise.invert | Invert | =wg.bitwise_not | =INTEGERS
        | The bits of whole numbers, each turned to the other value | [0, 5] | [-1 -6] | =FLAT
    """,
)
fill_sections(globals())
