"""Layer 9 · compat: `list`, `tuple`, `dict`, `isinstance` and `type` for differentiated functions.

Container arguments stay Python's own here, with boxes in them, so Python's own functions work on
them. This module exists for programs that import its names.
"""

from __future__ import annotations

import builtins as _python
from typing import Any

from wengert.compat.autograd.boxes import getval, holds_box
from wengert.compat.autograd.noted import container_take  # noqa: F401  a name of this module
from wengert.compat.autograd.vspaces import (  # noqa: F401  names of this module
    ContainerVSpace,
    DictVSpace,
    ListVSpace,
    NamedTupleVSpace,
    SequenceVSpace,
    TupleVSpace,
)
from wengert.compat.kit.namespaces import defined

_VSPACES = "ContainerVSpace DictVSpace ListVSpace NamedTupleVSpace SequenceVSpace TupleVSpace"

dict = _python.dict
list = _python.list
tuple = _python.tuple


class _OfContainer(_python.type):
    """The metaclass for containers that hold boxes, which stay Python's own."""

    kinds: Any

    def __instancecheck__(cls, instance) -> bool:
        return _python.isinstance(instance, cls.kinds) and holds_box(instance)


class DictBox(metaclass=_OfContainer):
    """A dict inside a differentiated function, for `isinstance` and annotations."""

    kinds = (dict,)


class SequenceBox(metaclass=_OfContainer):
    """A list or a tuple inside a differentiated function, for `isinstance` and annotations."""

    kinds = (list, tuple)


def isinstance(A, B) -> bool:
    """Like Python's `isinstance`, but look at the value inside a box.

    Examples
    --------
    >>> import numpy
    >>> from wengert.compat.autograd.builtins import isinstance
    >>> def f(x):
    ...     print(isinstance(x, numpy.ndarray))
    ...     return x.sum()
    >>> grad(f)(numpy.ones(2))
    True
    array([1., 1.])
    """
    return _python.isinstance(getval(A), B)


def type(A) -> Any:
    """Return the type of the value of a box, or of anything else."""
    return _python.type(getval(A))


def make_sequence(seq_type, *args) -> Any:
    """Build a list or a tuple of the arguments."""
    return seq_type(args)


__all__ = defined(globals(), f"{_VSPACES} container_take dict list tuple")
