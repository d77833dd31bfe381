"""Layer 5 · ops: checks of arguments that many functions share, with PyTorch's messages."""

from __future__ import annotations

import sys
from collections.abc import Callable
from functools import wraps
from typing import Any

import numpy as np

from wengert.base.dtypes import is_differentiable
from wengert.base.errors import c_name, not_implemented, wrong_type
from wengert.base.shapes import normal_dim, normal_dims
from wengert.ops.coerce import operand
from wengert.prims.facet import Facet
from wengert.prims.record import TABLE
from wengert.tape.base import TensorBase
from wengert.tape.modes import is_recording


def real_input(value: Any, name: str, kernel: str, floating: bool = False) -> Any:
    """Return `operand`, for functions that refuse complex numbers (or all but floating ones)."""
    # saves a call, as most values are tensors
    tensor = value if isinstance(value, TensorBase) else operand(value, name)
    dtype = tensor._payload.dtype
    if dtype.kind == "f":
        return tensor
    if dtype.kind == "c" or (floating and not is_differentiable(dtype)):
        takes = f"{name}() takes {'floating' if floating else 'real'} tensors"
        raise not_implemented(kernel, dtype, f"{takes}; convert the input with .to(dtype)")
    return tensor


def bool_mask(mask: Any, name: str) -> Any:
    """Return `operand`, for the mask of a function, which must be of bools.

    Raises
    ------
    RuntimeError: If it does not: integers may be places that were meant as such.
    """
    where = operand(mask, name, "mask", 2)
    check_bools(where._payload.dtype, name)
    return where


def check_bools(dtype: Any, name: str) -> None:
    """Refuse the dtype of a mask of the function `name` if it is not bool."""
    if dtype.kind != "b":
        raise RuntimeError(
            f"{name}_ only supports boolean masks, but got mask with dtype {c_name(dtype)}: "
            "compare it first, as in mask != 0"
        )


_SHARED = ("_", "made", "created")
"""How the names of functions begin that public ones share."""


def flag(value: Any, name: str) -> bool:
    """Return the argument `name`, which must be a bool: a number may be meant for another one.

    Raises
    ------
    TypeError: If it is none.
    """
    if isinstance(value, bool | np.bool_):
        return bool(value)
    frame = sys._getframe(1)
    while frame.f_back is not None and frame.f_code.co_name.startswith(_SHARED):
        frame = frame.f_back
    raise wrong_type(frame.f_code.co_name, name, "bool", value)


OVERLOADED: Facet[bool] = Facet("overloaded", lambda prim: False)
"""Whether PyTorch has several signatures of the function, and so another message."""


def _refuse(name: str, dim: Any, expected: str) -> TypeError:
    got = type(dim).__name__
    if name in TABLE and OVERLOADED[TABLE[name]]:
        return TypeError(
            f"{name}() received an invalid combination of arguments - got dim of type {got}, but "
            f"expected {expected}"
        )
    return TypeError(f"{name}(): argument 'dim' (position 2) must be {expected}, not {got}")


def one_dim(dim: Any, ndim: int, name: str) -> int:
    """Return a single dim, counted from the front."""
    if type(dim) is int and 0 <= dim < ndim:
        return dim
    if type(dim) is not int and not hasattr(dim, "__index__"):
        raise _refuse(name, dim, "int")
    return normal_dim(dim, ndim)


def dim_or_axis(dim: Any, axis: Any, name: str) -> Any:
    """The dimension that a function cannot do without, under either name."""
    found = dim if axis is None else axis
    if found is None:
        raise TypeError(
            f'{name}() missing 1 required positional arguments: "dim": say which dimension'
        )
    return found


def names_none(dim: Any) -> bool:
    """Return whether `dim` is None, or an empty sequence."""
    # not by comparison with (), which NumPy's numbers answer with an array
    return dim is None or (isinstance(dim, tuple | list) and not dim)


def all_dims(dim: Any, ndim: int, name: str) -> tuple[int, ...]:
    """One dim, several, or all for None and for an empty sequence: a tuple from the front."""
    if type(dim) is int and 0 <= dim < ndim:
        return (dim,)
    if names_none(dim):
        return tuple(range(ndim))
    several = dim if isinstance(dim, tuple | list) else (dim,)
    if not all(hasattr(d, "__index__") for d in several):
        raise _refuse(name, dim, "tuple of ints")
    return normal_dims(dim, ndim)


def check_alone(name: str, dim: Any, keepdim: Any) -> None:
    """Refuse `keepdim` where no dimension is given, which it would be about."""
    if dim is None and keepdim is not False:
        raise TypeError(f"{name}() takes keepdim only together with a dim")


def refuse_gradients(function: str, **values: Any) -> None:
    """Refuse arguments that are to get gradients, which `function` has none for."""
    for arg, value in values.items():
        if value._edge is not None and is_recording():
            raise RuntimeError(
                f"The function '{function}' is not differentiable with respect to argument "
                f"'{arg}'. This input cannot have requires_grad True: detach() it"
            )


def renamed(
    name: str, dim: Any, keepdim: Any, names: dict[str, Any], axis: str = "axis", usual: Any = None
) -> tuple[Any, Any]:
    """Return `dim` and `keepdim`, also if given under NumPy's names, `axis` and ``keepdims``.

    A `dim` that is not `usual` was given, and takes no second name.
    """
    for key, value in names.items():
        if key == axis and dim == usual:
            dim = value
        elif key == "keepdims" and not keepdim:
            keepdim = value
        else:
            raise TypeError(f"{name}() got an unexpected keyword argument '{key}'")
    return dim, keepdim


_NUMPYS = {"axis": "dim", "keepdims": "keepdim", "a": "input", "x": "input"}


def numpy_names(function: Callable[..., Any]) -> Callable[..., Any]:
    """Let `function` take its arguments under NumPy's names, too, as PyTorch's parser does.

    A call costs 0.2 to 0.3 µs more: small operations list ``**names`` and call `renamed`.
    """

    @wraps(function)
    def called(*args: Any, **kwargs: Any) -> Any:
        for key in _NUMPYS.keys() & kwargs.keys() if kwargs else ():
            if _NUMPYS[key] not in kwargs:
                kwargs[_NUMPYS[key]] = kwargs.pop(key)
        return function(*args, **kwargs)

    return called
