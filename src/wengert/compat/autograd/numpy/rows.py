"""Layer 9 · compat: NumPy's bracket helpers (``r_``, ``c_``), and autograd's additions to NumPy."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as _np

import wengert.numpy as _wnp
from wengert.base.arrays import unmasked
from wengert.compat.autograd.boxes import ArrayBox, boxed, holds_box, isbox, plain
from wengert.compat.autograd.numpy.dispatch import function_of
from wengert.compat.autograd.words import refusal
from wengert.compat.kit.namespaces import defined


class _Joined:
    """``np.r_[...]`` or ``np.c_[...]`` of NumPy's own arrays and of boxes."""

    def __init__(self, name: str) -> None:
        self._name = name

    def __getitem__(self, parts) -> Any:
        if holds_box(parts):
            return boxed(getattr(_wnp, self._name)[parts])
        return getattr(_np, self._name)[parts]

    def __len__(self) -> int:
        return 0


r_ = _Joined("r_")
c_ = _Joined("c_")


def vectorize(pyfunc: Callable[..., Any], *args, **kwargs) -> Callable[..., Any]:
    """Turn a function of numbers into one of arrays, differentiable (see `numpy.vectorize`)."""
    numpys = _np.vectorize(pyfunc, *args, **kwargs)

    def on_boxes(*given, **named) -> Any:
        return pyfunc(*map(boxed, given), **named)

    ours = _wnp.vectorize(on_boxes, *args, **kwargs)

    def each(*given, **named) -> Any:
        if holds_box((given, named)):
            return boxed(ours(*given, **named))
        return numpys(*given, **named)

    return each


_where = function_of("where", _np.where)


def where(condition, *args, **kwargs) -> Any:
    """Like `numpy.where`, but return Python numbers and lists as they are.

    Parameters
    ----------
    condition : array
    x, y : array. The values where `condition` is true and where it is false; give both or neither,
        by position or by name.
    """
    if not args and not kwargs:
        return _where(condition)
    if len(args) + len(kwargs) != 2 or not kwargs.keys() <= {"x", "y"}:
        raise ValueError("either both or neither of x and y should be given")
    given = (condition, *args, *(kwargs[name] for name in ("x", "y") if name in kwargs))
    result = _where(*given)
    return result if any(map(_of_arrays, given)) else result.tolist()


_clip = function_of("clip", _np.clip)


def clip(a, a_min=None, a_max=None, *args, **kwargs) -> Any:
    """Like `numpy.clip`, with derivative 0 at the bounds, as in autograd."""
    found = _clip(a, a_min, a_max, *args, **kwargs)
    low, high = kwargs.get("min", a_min), kwargs.get("max", a_max)
    if a.__class__ is not ArrayBox or isbox(low) or isbox(high):
        return found
    value = plain(found)
    return _where((value != low) & (value != high), found, value)


setattr(ArrayBox, "clip", clip)  # noqa: B010  # the method is the function


def _of_arrays(value) -> bool:
    if isinstance(value, list | tuple):
        return any(map(_of_arrays, value))
    return isbox(value) or isinstance(value, _np.ndarray | _np.generic)


def concatenate_args(axis: int, *args) -> Any:
    """Join the arrays along an axis."""
    if holds_box(args):
        return boxed(_wnp.concatenate(args, axis))
    return _np.concatenate(args, axis)


def array_from_args(array_args, array_kwargs, *args) -> Any:
    """Stack the arguments as the rows of an array."""
    if holds_box(args):
        return boxed(_wnp.array(list(args), *array_args, **array_kwargs))
    return _np.array(unmasked(args), *array_args, **array_kwargs)


def wrap_if_boxes_inside(raw_array, slow_op_name: str | None = None) -> Any:
    """Return an array of objects, some of them boxes, as a box."""
    if isbox(raw_array) or raw_array.dtype.kind != "O":
        return raw_array
    return boxed(_wnp.array(raw_array.ravel().tolist()).reshape(raw_array.shape))


def make_diagonal(D, offset=0, axis1=0, axis2=1) -> Any:
    """Build matrices with the rows of `D` on their diagonals; the inverse of `diagonal`."""
    if not (offset == 0 and axis1 == -1 and axis2 == -2):
        raise refusal(NotImplementedError, "Currently make_diagonal only")
    return D[..., None] * _np.eye(_np.shape(plain(D))[-1])


def metadata(A) -> tuple[Any, ...]:
    """Return the shape, the number of dimensions, the dtype, and whether that is complex."""
    value = plain(A)
    return _np.shape(value), _np.ndim(value), _np.result_type(value), _np.iscomplexobj(value)


__all__ = defined(globals())
