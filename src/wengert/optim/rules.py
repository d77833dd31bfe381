"""Layer 9 · optim: what update rules are written in, for arrays and for tensors.

NOTE [update rules]
Each optimiser says its rule once, as a function of a namespace `U`, a parameter `p`, its gradient
`g` and what is kept of the parameter. On arrays `U` is a `Scratch`: functions with a trailing
underscore write into their first argument, others into memory that is used again for each block,
so a step makes no arrays. On tensors `U` is `Tensors`, where nothing is written: the rule returns
the new values, which the step puts in place at its end. So a rule goes on with what the functions
return, does not read what it has written over, and returns the new values of `p` and of all that is
kept. Its coefficients are numbers, or tensors without dimensions where it runs on tensors; one that
is None belongs to a term that is left out.
"""

from __future__ import annotations

import operator
from typing import Any

import numpy as np

from wengert.base.sections import fill_sections
from wengert.ops.pointwise import abs as absolute
from wengert.ops.pointwise import maximum, sign, sqrt
from wengert.ops.select import clamp, where


def _add(x: Any, y: Any, c: Any = None) -> Any:
    return x + y if c is None else x + c * y


def _addcmul(x: Any, y: Any, z: Any, c: Any = None) -> Any:
    return _add(x, y * z, c)


def _addcdiv(x: Any, y: Any, z: Any, c: Any = None) -> Any:
    return _add(x, y / z, c)


def _second(x: Any, y: Any) -> Any:
    return y


class Tensors:
    """The functions of rules on tensors: each gives a new one."""

    neg = staticmethod(operator.neg)
    abs: Any = staticmethod(absolute)
    sign: Any = staticmethod(sign)
    sqrt: Any = staticmethod(sqrt)
    add = add_ = staticmethod(_add)
    addcmul_ = staticmethod(_addcmul)
    addcdiv_ = staticmethod(_addcdiv)
    sub = staticmethod(operator.sub)
    mul = mul_ = staticmethod(operator.mul)
    div_ = staticmethod(operator.truediv)
    less = staticmethod(operator.lt)
    maximum_: Any = staticmethod(maximum)
    clip_ = staticmethod(clamp)
    where = staticmethod(where)
    copy_ = staticmethod(_second)


class Scratch:
    """The functions of rules on arrays, and the memory of what is in between.

    Parameters
    ----------
    dtype: That of the arrays.
    size: How many elements they may have.
    """

    def __init__(self, dtype: np.dtype[Any], size: int) -> None:
        self._dtype = dtype
        self._size = size
        self._mask = np.empty(size, np.bool_)
        self._memory: list[Any] = []
        # the parts of the memory that arrays of some number of elements have
        self._views: dict[int, list[Any]] = {}
        self._free: list[Any] = []
        self._work: Any = None
        self._count = 0
        self._next = 1

    def begin(self, count: int) -> None:
        """All memory is free again; the arrays to come have `count` elements."""
        self._next = 1
        if count != self._count:
            self._count = count
            self._free = self._views.setdefault(count, [])
            self._work = self._free[0] if self._free else self._part(0)

    def _part(self, i: int) -> Any:
        if i == len(self._memory):
            self._memory.append(np.empty(self._size, self._dtype))
        self._free.append(self._memory[i][: self._count])
        return self._free[i]

    def _take(self) -> Any:
        i = self._next
        self._next = i + 1
        return self._free[i] if i < len(self._free) else self._part(i)

    def neg(self, x: Any) -> Any:
        """``-x``."""
        return np.negative(x, self._take())

    def abs(self, x: Any) -> Any:
        """``abs(x)``."""
        return np.absolute(x, self._take())

    def sign(self, x: Any) -> Any:
        """-1, 0 or 1."""
        return np.sign(x, self._take())

    def sqrt(self, x: Any) -> Any:
        """The square root."""
        return np.sqrt(x, self._take())

    def add(self, x: Any, y: Any) -> Any:
        """``x + y``."""
        return np.add(x, y, self._take())

    def sub(self, x: Any, y: Any) -> Any:
        """``x - y``."""
        return np.subtract(x, y, self._take())

    def mul(self, x: Any, y: Any) -> Any:
        """``x * y``."""
        return np.multiply(x, y, self._take())

    def less(self, x: Any, y: Any) -> Any:
        """A mask, which the next one takes the place of."""
        return np.less(x, y, self._mask[: self._count])

    def where(self, mask: Any, x: Any, y: Any) -> Any:
        """`x` where the mask is true, `y` elsewhere."""
        made = self._take()
        np.copyto(made, y)
        np.copyto(made, x, where=mask)
        return made

    def add_(self, x: Any, y: Any, c: Any = None) -> Any:
        """``x += c * y``."""
        return np.add(x, y if c is None else np.multiply(y, c, self._work), x)

    def addcmul_(self, x: Any, y: Any, z: Any, c: Any = None) -> Any:
        """``x += c * y * z``."""
        work = np.multiply(y, z, self._work)
        return np.add(x, work if c is None else np.multiply(work, c, work), x)

    def addcdiv_(self, x: Any, y: Any, z: Any, c: Any = None) -> Any:
        """``x += c * y / z``."""
        work = np.divide(y, z, self._work)
        return np.add(x, work if c is None else np.multiply(work, c, work), x)

    @staticmethod
    def mul_(x: Any, y: Any) -> Any:
        """``x *= y``."""
        return np.multiply(x, y, x)

    @staticmethod
    def div_(x: Any, y: Any) -> Any:
        """``x /= y``."""
        return np.divide(x, y, x)

    @staticmethod
    def maximum_(x: Any, y: Any) -> Any:
        """The greater one in place of `x`."""
        return np.maximum(x, y, out=x)

    @staticmethod
    def clip_(x: Any, low: Any, high: Any) -> Any:
        """What lies between two numbers."""
        return np.minimum(np.maximum(x, low, out=x), high, out=x)

    @staticmethod
    def copy_(x: Any, y: Any) -> Any:
        """`y` in place of `x`."""
        np.copyto(x, y)
        return x


fill_sections(globals())
