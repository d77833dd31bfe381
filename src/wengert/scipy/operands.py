"""Layer 8 · scipy: conversion of arguments of SciPy's functions to tensors."""

from __future__ import annotations

from typing import Any

import numpy as np

from wengert.base.ports import PORTS
from wengert.ops.coerce import is_sparse
from wengert.tape.base import TensorBase, new_tensor
from wengert.tape.operands import cast
from wengert.tensor.copying import of_class

__all__ = ["idiom_of", "of_idiom", "operands", "plain"]


def operands(name: str, *values: Any, kinds: str = "f") -> list[Any]:
    """Convert numbers, arrays and tensors to tensors of one inexact dtype, by default float64.

    Parameters
    ----------
    name: The name of the function, for errors.
    kinds: The accepted kinds, as NumPy's characters: ``"f"``, or ``"fc"`` to include complex
        numbers. If ``"i"`` is among them, all dtypes are accepted, and integers stay integers.
    """
    tensors = []
    for value in values:
        if is_sparse(value):
            raise TypeError(f"{name}() takes dense tensors, not {type(value).__name__}")
        tensors.append(value if isinstance(value, TensorBase) else new_tensor(np.asarray(value)))
    arrays = [t._payload for t in tensors]
    whole = "i" in kinds
    given = [
        a.dtype
        for a in arrays
        if a.dtype.kind in kinds and (a.ndim or whole or a.dtype.kind == "c")
    ]
    kind = np.result_type(*given) if given else np.dtype(np.float64)
    return [cast(tensor, kind) for tensor in tensors]


def plain(x: Any) -> Any:
    """Return a plain tensor with PyTorch's methods, if it is an array of another idiom."""
    return x if x.__class__ is PORTS.tensor else of_class(x, PORTS.tensor)


def idiom_of(args: tuple[Any, ...]) -> Any:
    """Return the array class of another idiom among `args`; None if there is none."""
    for arg in args:
        if isinstance(arg, TensorBase) and arg.__class__ is not PORTS.tensor:
            return arg.__class__
        if isinstance(arg, tuple) and (kind := idiom_of(arg)) is not None:
            return kind
    return None


def of_idiom(kind: Any, result: Any) -> Any:
    """Return a result as arrays of the arguments' idiom."""
    if kind is None:
        return result
    if isinstance(result, tuple):
        return tuple(of_idiom(kind, part) for part in result)
    if isinstance(result, TensorBase) and result._payload.dtype.kind in "fc":
        return of_class(result, kind)
    return result
