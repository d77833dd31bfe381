"""Layer 5 · ops: the named tuples of sorting, order statistics, running extremes and histograms."""

# the classes have the names of the functions, as in PyTorch

from __future__ import annotations

from typing import Any

from wengert.ops.out import check_dtype, into
from wengert.ops.return_types import Results
from wengert.tape.base import TensorBase


class _Chosen(Results, fields="values indices"):
    """Elements and their positions."""

    __slots__ = ()


class sort(_Chosen):
    """The elements in order and their positions."""

    __slots__ = ()


class topk(_Chosen):
    """The largest or smallest elements and their positions."""

    __slots__ = ()


class kthvalue(_Chosen):
    """The elements of a rank and their positions."""

    __slots__ = ()


class median(_Chosen):
    """The medians and their positions."""

    __slots__ = ()


class nanmedian(_Chosen):
    """The medians of what is not NaN and their positions."""

    __slots__ = ()


class mode(_Chosen):
    """The most frequent elements and their positions."""

    __slots__ = ()


class cummax(_Chosen):
    """The running maxima and their positions."""

    __slots__ = ()


class cummin(_Chosen):
    """The running minima and their positions."""

    __slots__ = ()


class _Counted(Results, fields="hist bin_edges"):
    """A histogram and the edges of its bins."""

    __slots__ = ()


class histogram(_Counted):
    """The counts and the edges of the bins."""

    __slots__ = ()


class histogramdd(_Counted):
    """The counts and, for each dimension, the edges of the bins."""

    __slots__ = ()


def pair(kind: Any, first: Any, second: Any, out: Any) -> Any:
    """Return two results as the named tuple `kind`, written into the tensors of `out` if given.

    Raises
    ------
    TypeError: If `out` is not a pair of tensors.
    RuntimeError: If one of them has another dtype.
    """
    if out is None:
        return kind((first, second))
    name = kind.__name__
    tensors = out if isinstance(out, tuple | list) else (out,)
    if len(tensors) != 2 or not all(isinstance(tensor, TensorBase) for tensor in tensors):
        raise TypeError(
            f"{name}() received an invalid combination of arguments - got out of type "
            f"{type(out).__name__}, but expected a tuple of 2 tensors"
        )
    made = (first, second)
    for tensor, result in zip(tensors, made, strict=True):
        check_dtype(tensor, result)
    return kind([into(tensor, result, name) for tensor, result in zip(tensors, made, strict=True)])
