"""Layer 9 · optim: the namespaces of update rules, for arrays and for tensors.

NOTE [update rules]
Each optimiser defines its rule once, as a function of a namespace `U`, a parameter `p`, its
gradient `g` and the state of the parameter. On arrays `U` is a `Scratch`: functions with a trailing
underscore write to their first argument, others to memory that is reused for each block, so that a
step allocates no arrays. On tensors `U` is `Tensors`, where nothing is written: the rule returns
the new values, which the step puts in place at its end. So a rule must use the results of the
functions, must not read what it has overwritten, and must return the new values of `p` and of its
state. Its coefficients are numbers, or tensors without dimensions where it runs on tensors; None
leaves out the term of that coefficient.
"""

from __future__ import annotations

import operator
from typing import Any

import numpy as np

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
    """The functions of rules on tensors, each of which returns a new tensor."""

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
    """The functions of rules on arrays, and the memory of intermediate results.

    Parameters
    ----------
    dtype: The dtype of the arrays.
    size: Their largest number of elements.
    """

    def __init__(self, dtype: np.dtype[Any], size: int) -> None:
        self._dtype = dtype
        self._size = size
        self._mask = np.empty(size, np.bool_)
        self._memory: list[Any] = []
        # the views of the memory, by the number of elements
        self._views: dict[int, list[Any]] = {}
        self._free: list[Any] = []
        self._work: Any = None
        self._count = 0
        self._next = 1

    def begin(self, count: int) -> None:
        """Free all memory; the following arrays have `count` elements."""
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
        """Return ``-x``."""
        return np.negative(x, self._take())

    def abs(self, x: Any) -> Any:
        """Return ``abs(x)``."""
        return np.absolute(x, self._take())

    def sign(self, x: Any) -> Any:
        """Return -1, 0 or 1."""
        return np.sign(x, self._take())

    def sqrt(self, x: Any) -> Any:
        """Return the square root."""
        return np.sqrt(x, self._take())

    def add(self, x: Any, y: Any) -> Any:
        """Return ``x + y``."""
        return np.add(x, y, self._take())

    def sub(self, x: Any, y: Any) -> Any:
        """Return ``x - y``."""
        return np.subtract(x, y, self._take())

    def mul(self, x: Any, y: Any) -> Any:
        """Return ``x * y``."""
        return np.multiply(x, y, self._take())

    def less(self, x: Any, y: Any) -> Any:
        """Return a mask, which the next call overwrites."""
        return np.less(x, y, self._mask[: self._count])

    def where(self, mask: Any, x: Any, y: Any) -> Any:
        """Return `x` where the mask is true, `y` elsewhere."""
        made = self._take()
        np.copyto(made, y)
        np.copyto(made, x, where=mask)
        return made

    def add_(self, x: Any, y: Any, c: Any = None) -> Any:
        """Compute ``x += c * y``."""
        return np.add(x, y if c is None else np.multiply(y, c, self._work), x)

    def addcmul_(self, x: Any, y: Any, z: Any, c: Any = None) -> Any:
        """Compute ``x += c * y * z``."""
        work = np.multiply(y, z, self._work)
        return np.add(x, work if c is None else np.multiply(work, c, work), x)

    def addcdiv_(self, x: Any, y: Any, z: Any, c: Any = None) -> Any:
        """Compute ``x += c * y / z``."""
        work = np.divide(y, z, self._work)
        return np.add(x, work if c is None else np.multiply(work, c, work), x)

    @staticmethod
    def mul_(x: Any, y: Any) -> Any:
        """Compute ``x *= y``."""
        return np.multiply(x, y, x)

    @staticmethod
    def div_(x: Any, y: Any) -> Any:
        """Compute ``x /= y``."""
        return np.divide(x, y, x)

    @staticmethod
    def maximum_(x: Any, y: Any) -> Any:
        """Compute ``x = maximum(x, y)``."""
        return np.maximum(x, y, out=x)

    @staticmethod
    def clip_(x: Any, low: Any, high: Any) -> Any:
        """Clip `x` to the range of two numbers."""
        return np.minimum(np.maximum(x, low, out=x), high, out=x)

    @staticmethod
    def copy_(x: Any, y: Any) -> Any:
        """Copy `y` to `x`."""
        np.copyto(x, y)
        return x
