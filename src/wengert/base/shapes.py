"""Layer 0 · base: shapes and dimensions: normalising, broadcasting, and the errors they raise.

Every function works on tuples of ints alone, so each layer, payload and idiom can use it.
"""

from __future__ import annotations

import math
import operator
from typing import Any

Shape = tuple[int, ...]


def whole(value: Any) -> int:
    """Return an int, or what has ``__index__`` as an int; a bool is none of these.

    Raises
    ------
    TypeError: If it is none.
    """
    if type(value) is int:
        return value
    if isinstance(value, bool):
        raise TypeError("an int is expected, not a bool")
    return operator.index(value)


def normal_dim(dim: Any, ndim: int) -> int:
    """Return `dim` counted from the front; a tensor without dimensions takes 0 and -1."""
    if type(dim) is int and -ndim <= dim < ndim:
        return dim if dim >= 0 else dim + ndim
    if dim.__class__ is bool or not hasattr(dim, "__index__"):
        raise TypeError(f"argument 'dim' must be int, not {dim.__class__.__name__}")
    bound = ndim or 1
    if -bound <= dim < bound:
        return operator.index(dim) % bound
    raise IndexError(
        f"Dimension out of range (expected to be in range of [{-bound}, {bound - 1}], "
        f"but got {dim})"
    )


def normal_dims(dim: Any, ndim: int) -> Shape:
    """Return one dim, several or None (all of them) as a tuple of distinct dims from the front."""
    if dim is None:
        return tuple(range(ndim))
    if isinstance(dim, tuple | list):
        dims = tuple([normal_dim(d, ndim) for d in dim])
        if len(set(dims)) != len(dims):
            twice = next(d for i, d in enumerate(dims) if d in dims[:i])
            raise RuntimeError(f"dim {twice} appears multiple times in the list of dims")
        return dims if ndim else ()
    one = normal_dim(dim, ndim)
    return (one,) if ndim else ()


def check_size(shape: Shape, itemsize: int) -> None:
    """Refuse an array whose strides, or whose bytes, are too many to count."""
    for what, number in {
        "Stride calculation": math.prod([max(size, 1) for size in shape[1:]]),
        "Storage size calculation": math.prod(shape) * itemsize,
    }.items():
        if number >= 2**63:
            raise RuntimeError(f"{what} overflowed with sizes={list(shape)}")


def resolved(shape: Shape, count: int) -> Shape:
    """Return `shape` with its -1, if any, replaced by the size that `count` elements imply."""
    if math.prod(shape) == count and (not shape or min(shape) >= 0):
        return shape
    known, free = 1, -1
    for i, size in enumerate(shape):
        if size >= 0:
            known *= size
        elif size != -1:
            raise RuntimeError(
                f"invalid shape dimension {size} at index {i} of shape {list(shape)}"
            )
        elif free >= 0:
            raise RuntimeError("only one dimension can be inferred")
        else:
            free = i
    if free < 0:
        if known == count:
            return shape
    elif known == 0:
        if count == 0:
            raise RuntimeError(
                f"cannot reshape tensor of 0 elements into shape {list(shape)} because the "
                f"unspecified dimension size -1 can be any value and is ambiguous"
            )
    elif count % known == 0:
        return (*shape[:free], count // known, *shape[free + 1 :])
    raise RuntimeError(f"shape '{list(shape)}' is invalid for input of size {count}")


def broadcast(*shapes: Shape) -> Shape:
    """Return the shape to which arrays of `shapes` broadcast.

    Raises
    ------
    RuntimeError: If two sizes of one dimension differ and neither is 1.
    """
    result = [1] * max(map(len, shapes), default=0)
    for shape in shapes:
        i = len(result)
        for size in reversed(shape):
            i -= 1
            if size != result[i] and size != 1:
                if result[i] != 1:
                    raise RuntimeError(
                        f"The size of tensor a ({result[i]}) must match the size of tensor b "
                        f"({size}) at non-singleton dimension {i}"
                    )
                result[i] = size
    return tuple(result)


def expanded(shape: Shape, sizes: Shape) -> Shape:
    """Return `sizes` with each -1 replaced by the size in `shape`; check that it can expand.

    Raises
    ------
    RuntimeError: If there are fewer sizes than dimensions, or a size other than 1 would change.
    """
    lead = len(sizes) - len(shape)
    if lead < 0:
        raise RuntimeError(
            f"expand: the number of sizes provided ({len(sizes)}) must be greater or equal to the "
            f"number of dimensions in the tensor ({len(shape)})"
        )
    if shape == sizes[lead:] and not (lead and min(sizes[:lead]) < 0):
        # only new dimensions
        return sizes
    result = list(sizes)
    for i, size in enumerate(sizes):
        own = shape[i - lead] if i >= lead else 1
        if size == -1:
            if i < lead:
                raise RuntimeError(
                    f"The expanded size of the tensor ({size}) isn't allowed in a leading, "
                    f"non-existing dimension {i}"
                )
            result[i] = own
        elif size < 0:
            raise RuntimeError(
                f"The expanded size of the tensor ({size}) at dimension {i} is negative"
            )
        elif own not in (size, 1):
            raise RuntimeError(
                f"The expanded size of the tensor ({size}) must match the existing size ({own}) at "
                f"non-singleton dimension {i}.  Target sizes: {list(sizes)}.  Tensor sizes: "
                f"{list(shape)}"
            )
    return tuple(result)
