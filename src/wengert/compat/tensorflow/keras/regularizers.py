"""Layer 9 · compat: ``tf.keras.regularizers``: penalties on weights."""

from __future__ import annotations

import functools
from typing import Any

import wengert as wg
from wengert.compat.tensorflow.configs import Configured, getter
from wengert.compat.tensorflow.functions.values import computed, tensor_of
from wengert.compat.tensorflow.words import public


class Regularizer(Configured):
    """Base class for regularizers, which map a weight to a penalty."""

    def __call__(self, x) -> Any:
        """Return the penalty."""
        return 0.0


class L1L2(Regularizer):
    """``l1`` times the sum of the absolute values, plus ``l2`` times that of the squares.

    Examples
    --------
    >>> print(tf.keras.regularizers.L1L2(l1=1.0, l2=0.5)(tf.constant([-1.0, 2.0])).numpy())
    5.5
    """

    def __init__(self, l1=0.0, l2=0.0) -> None:
        self.l1 = float(l1)
        self.l2 = float(l2)

    def __call__(self, x) -> Any:
        def amount(x) -> Any:
            total = wg.mul(wg.sum(wg.abs(x)), self.l1) if self.l1 else 0.0
            if self.l2:
                total = wg.add(wg.mul(wg.sum(wg.square(x)), self.l2), total)
            return total if self.l1 or self.l2 else wg.mul(wg.sum(x), 0.0)

        return computed("AddV2", amount, tensor_of(x))


class L1(L1L2):
    """``l1`` times the sum of the absolute values.

    Examples
    --------
    >>> print(tf.keras.regularizers.L1(0.5)(tf.constant([-1.0, 2.0])).numpy())
    1.5
    """

    def __init__(self, l1=0.01) -> None:
        super().__init__(l1=l1)


class L2(L1L2):
    """``l2`` times the sum of the squares.

    Examples
    --------
    >>> print(tf.keras.regularizers.L2(0.5)(tf.constant([-1.0, 2.0])).numpy())
    2.5
    """

    def __init__(self, l2=0.01) -> None:
        super().__init__(l2=l2)


def l1_l2(l1=0.01, l2=0.01) -> L1L2:
    """Build an `L1L2` with these defaults."""
    return L1L2(l1, l2)


l1, l2 = L1, L2


get = getter("regularizer", globals(), Regularizer, {"l1_l2": functools.partial(L1L2, 0.01, 0.01)})


__all__ = public(globals())
