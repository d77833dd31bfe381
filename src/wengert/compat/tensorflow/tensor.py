"""Layer 9 · compat: conversion of the arguments and the results of operations.

NOTE [arrays of the idiom]
A `Tensor` is a `wengert.Tensor` whose class was changed after an operation returned it (`made`);
the engine does not know this class. It differs where TensorFlow does: dtypes are not promoted,
tensors are immutable, NumPy's functions convert them to arrays, and the active tapes decide whether
an operation is recorded (NOTE [tapes over one graph]). So every argument of an operation passes
through `tensor_of` or `same_dtype`, which return an `Operand`, and every result passes through
`made`.
"""

# ruff: noqa: F401  some names are for other modules

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from wengert.base.dtypes import is_differentiable
from wengert.compat.kit.namespaces import defined
from wengert.compat.tensorflow.dtypes import cxx_name, numpy_dtype, of_numpy
from wengert.compat.tensorflow.eager import DEVICE, Reference, StringTensor, Tensor
from wengert.compat.tensorflow.errors import invalid, mismatched
from wengert.compat.tensorflow.recording import Context, active, followed, source_of
from wengert.compat.tensorflow.values import array_of
from wengert.compat.tensorflow.words import refusal
from wengert.numpy.indexing import read as numpys_read
from wengert.tape.base import TensorBase, new_tensor
from wengert.tape.operands import cast
from wengert.tape.record import T
from wengert.tensor.overrides import disabled_torch_function
from wengert.tensor.tensor import Tensor as NativeTensor

_EXPECTED = (
    "Only integers, slices (`:`), ellipsis (`...`), tf.newaxis (`None`) and scalar tf.int32/"
    "tf.int64 tensors are valid indices"
)


def _number(part) -> Any:
    """Return one index as a Python number; return None and other objects unchanged."""
    if isinstance(part, TensorBase) or hasattr(part, "_as_tensor"):
        tensor = part if isinstance(part, TensorBase) else part._as_tensor()
        payload = tensor._payload
        if payload.ndim or payload.dtype.kind not in "iu":
            raise refusal(TypeError, "{}, got {!r}:", _EXPECTED, part)
        return int(payload.item())
    if isinstance(part, np.ndarray) and not part.ndim:
        part = part[()]
    if isinstance(part, np.integer):
        return int(part)
    return part


def _checked(part) -> Any:
    if part is None or part is Ellipsis:
        return part
    if isinstance(part, slice):
        return slice(_bound(part.start), _bound(part.stop), _bound(part.step))
    number = _number(part)
    if not isinstance(number, int) or isinstance(number, bool):
        raise refusal(TypeError, "{}, got {!r}:", _EXPECTED, part)
    return number


def _bound(part) -> Any:
    number = None if part is None else _number(part)
    if number is not None and (not isinstance(number, int) or isinstance(number, bool)):
        raise TypeError(f"{_EXPECTED}, got {part!r}")
    return number


def read(tensor, index) -> Any:
    """Return the elements of `tensor` that `index` selects, recorded."""
    if isinstance(index, TensorBase) and index._payload.dtype.kind == "b" and index._payload.ndim:
        return numpys_read(tensor, np.asarray(index._payload))
    parts = [_checked(part) for part in (index if isinstance(index, tuple | list) else (index,))]
    if parts.count(Ellipsis) > 1:
        raise ValueError("Multiple ellipses are not allowed")
    shape = tensor._payload.shape
    taken = [part for part in parts if part is not None and part is not Ellipsis]
    if len(taken) > len(shape):
        raise refusal(invalid, "Index out of", len(shape), len(shape), operation="StridedSlice")
    dim = 0
    for i, part in enumerate(parts):
        if part is Ellipsis:
            dim = len(shape) - sum(p is not None for p in parts[i + 1 :])
        elif part is not None:
            if isinstance(part, int) and not -shape[dim] <= part < shape[dim]:
                raise refusal(invalid, "slice index {}", part, dim, operation="StridedSlice")
            if isinstance(part, slice) and part.step == 0:
                raise invalid(f"strides[{dim}] must be non-zero", "StridedSlice")
            dim += 1
    return numpys_read(tensor, tuple(parts))


def made(result) -> Any:
    """Convert a result of operations to the user's view, by changing its class in place.

    Parameters
    ----------
    result : Tensor, or a list or tuple of them. A result of this library's operations. Other
        objects are returned unchanged.

    Returns
    -------
    Tensor: The same object, as a `Tensor` of this idiom; for a list or tuple, each of its elements.
    """
    if isinstance(result, TensorBase):
        context = active()
        if context is not None:
            if result._edge is not None and context.ledger is not None and result._edge._seq < 1:
                context.ledger.note(result._edge)
            if context.lifts is not None:
                result = context.lifts.shown(result, Tensor)
        result.__class__ = Tensor
        return result
    if isinstance(result, list | tuple):
        parts = [made(part) for part in result]
        return type(result)._make(parts) if hasattr(result, "_make") else type(result)(parts)
    return result


def tensor_of(value, dtype_hint=None) -> Any:
    """Convert anything that TensorFlow accepts as a tensor to an operand.

    Parameters
    ----------
    value: A tensor, a variable, a number, a NumPy array, or a nested sequence of these.
    dtype_hint: The preferred dtype (any argument of `as_dtype`) of numbers and arrays, used if it
        can represent them; a tensor keeps its own.

    Returns
    -------
    Tensor: An operand for this library's operations, without a history if no active tape follows
        it.

    Raises
    ------
    ValueError, TypeError: If `value` cannot become a tensor.
    """
    if value.__class__ is Tensor:
        return entered(value)
    if value.__class__ is Operand:
        return value
    read_value = getattr(value, "_as_tensor", None)
    if read_value is not None:
        return entered(read_value())
    if isinstance(value, TensorBase):
        if value.__class__ is StringTensor:
            raise refusal(invalid, "a tensor of", operation="Cast")
        return entered(value)
    wanted = numpy_dtype(dtype_hint)
    if isinstance(value, list | tuple) and _holds_tensor(value):
        return _packed(value, wanted)
    if wanted is not None:
        try:
            return _constant(array_of(value, wanted))
        except TypeError:
            # the hint is only a preference
            pass
    return _constant(array_of(value))


def _constant(array) -> Any:
    operand = new_tensor(array)
    operand.__class__ = Operand
    return operand


def converted(value, wanted=None) -> Any:
    """Convert a value, like `tensor_of`, to the NumPy dtype `wanted`; refuse tensors of other
    dtypes.

    Raises
    ------
    ValueError: If `value` is a tensor of another dtype.
    TypeError: If `wanted` cannot represent a number.
    """
    if isinstance(value, TensorBase) or hasattr(value, "_as_tensor"):
        tensor = tensor_of(value)
        if wanted is not None and tensor._payload.dtype != wanted:
            shown = made(tensor)
            raise ValueError(
                f"Tensor conversion requested dtype {of_numpy(wanted).name} for Tensor with dtype "
                f"{shown.dtype.name}: {shown!r}. Write tf.cast(x, tf.{of_numpy(wanted).name})."
            )
        return made(tensor)
    if isinstance(value, list | tuple) and _holds_tensor(value):
        packed = _packed(value, wanted)
        # tensors in a list are cast, unlike a tensor
        return made(packed if wanted is None else cast(packed, wanted))
    return made(new_tensor(array_of(value, wanted)))


class Operand(NativeTensor):
    """A tensor inside an operation: this library's own, with its own operators.

    Nodes save operands too, so derivatives follow this library's rules rather than TensorFlow's.
    NumPy can read the values without `detach`, as with TensorFlow's tensors.
    """

    __slots__ = ()
    __torch_function__ = disabled_torch_function  # type: ignore[assignment]
    __hash__ = TensorBase.__hash__

    def numpy(self, *, force=False) -> Any:
        """Return the values as a NumPy array."""
        return Tensor.numpy(self)  # type: ignore[arg-type]

    def __array__(self, dtype=None, copy: bool | None = None) -> Any:
        return Tensor.__array__(self, dtype)  # type: ignore[arg-type]


def entered(tensor) -> Any:
    """Return `tensor` as an argument, with its edge if an active tape follows it, else without."""
    edge, context = tensor._edge, active()
    if context is None:
        edge = None
    else:
        kept = edge is not None and followed(edge, context)
        if context.lifts is not None:
            lifted = context.lifts.entered(tensor, kept)
            if lifted is not tensor:
                return lifted
        elif not kept:
            edge = None
    operand = new_tensor(tensor._payload, edge, tensor._vc)
    operand.__class__ = Operand
    return operand


def _holds_tensor(value) -> bool:
    return any(
        isinstance(part, TensorBase)
        or hasattr(part, "_as_tensor")
        or (isinstance(part, list | tuple) and _holds_tensor(part))
        for part in value
    )


def _first_dtype(value) -> Any:
    for part in value:
        if isinstance(part, TensorBase):
            return part._payload.dtype
        if hasattr(part, "_as_tensor"):
            return part._as_tensor()._payload.dtype
        if isinstance(part, list | tuple):
            found = _first_dtype(part)
            if found is not None:
                return found
    return None


def _packed(value, wanted) -> Any:
    """Pack a sequence that holds tensors into one tensor; recorded."""
    wanted = _first_dtype(value) if wanted is None else wanted
    parts = []
    for part in value:
        if isinstance(part, list | tuple) and _holds_tensor(part):
            parts.append(_packed(part, wanted))
        elif isinstance(part, TensorBase) or hasattr(part, "_as_tensor"):
            parts.append(tensor_of(part))
        else:
            parts.append(_constant(array_of(part, wanted)))
    parts = list(same_dtype("Pack", *parts))
    shapes = {tuple(part._payload.shape) for part in parts}
    if len(shapes) > 1:
        first = parts[0]._payload.shape
        at, other = next((i, p) for i, p in enumerate(parts) if p._payload.shape != first)
        raise refusal(
            invalid, "Shapes of all", list(first), at, list(other._payload.shape), operation="Pack"
        )
    return T.stack(*parts, dim=0)


def same_dtype(op_name: str, *values) -> tuple[Any, ...]:
    """Convert the arguments of an operation to one dtype, by TensorFlow's rules.

    The dtype is that of the first tensor or variable. Arrays are cast to it, numbers are converted
    if it can represent their kind, and a tensor of another dtype is refused: nothing is promoted.

    Parameters
    ----------
    op_name : str. TensorFlow's name of the operation, for messages: ``"Mul"``, ``"AddV2"``,
        ``"MatMul"``.
    *values: The arguments, as for `tensor_of`.

    Returns
    -------
    tuple of Tensor: The operands, in order.

    Raises
    ------
    InvalidArgumentError: If two tensors have different dtypes.
    TypeError: If the dtype cannot represent a number.
    """
    kind: Any = None
    place = 0
    for i, value in enumerate(values):
        if isinstance(value, TensorBase):
            kind, place = value._payload.dtype, i
            break
        if hasattr(value, "_as_tensor"):
            kind, place = value.dtype.dtype, i
            break
        if isinstance(value, list | tuple) and _holds_tensor(value):
            kind, place = _first_dtype(value), i
            break
    if kind is None:
        # without a tensor, the first value determines the dtype
        first = tensor_of(values[0])
        kind = first._payload.dtype
        values = (first, *values[1:])
    context = active()
    ready: list[Any] = []
    for i, value in enumerate(values):
        if isinstance(value, TensorBase) or hasattr(value, "_as_tensor"):
            tensor = tensor_of(value)
        elif isinstance(value, list | tuple) and _holds_tensor(value):
            tensor = _packed(value, kind)
        else:
            tensor = _constant(_operand(value, kind, op_name, i))
        if tensor._payload.dtype != kind:
            high = max(place, i)
            have = cxx_name(np.dtype(kind if place < i else tensor._payload.dtype))
            came = cxx_name(np.dtype(tensor._payload.dtype if place < i else kind))
            wanted = of_numpy(np.dtype(kind)).name
            advice = f"\nDtypes are not promoted: write tf.cast(x, tf.{wanted})."
            raise mismatched(op_name, high, have, came, advice)
        ready.append(tensor)
    if context is not None and context.tapes and is_differentiable(kind):
        _join(values, ready, context)
    return tuple(ready)


def _operand(value, kind, op_name: str, place: int) -> Any:
    try:
        return array_of(value, np.dtype(kind))
    except TypeError:
        if op_name != "AddV2" or not place:
            raise
        natural = array_of(value)
    raise mismatched(op_name, place, cxx_name(np.dtype(kind)), cxx_name(natural.dtype))


def _join(values: tuple[Any, ...], ready: list[Any], context: Context) -> None:
    """Add edges to unwatched arguments if another is followed (NOTE [tapes over one graph])."""
    if not any(tensor._edge is not None for tensor in ready):
        return
    for i, value in enumerate(values):
        if ready[i]._edge is None and value.__class__ is Tensor:
            edge = source_of(value)
            lifted = value if context.lifts is None else context.lifts.entered(value, True)
            if lifted is value:
                ready[i]._edge = edge
            else:
                ready[i] = lifted


# -- parts of tensors ------------------------------------------------------------------------------


def _getitem(self, index) -> Any:
    """Return the elements that an index selects: numbers, slices, ``...``, ``tf.newaxis``."""
    return made(read(tensor_of(self), index))


def _iterated(self) -> Iterator[Any]:
    if not self._payload.shape:
        raise TypeError("Cannot iterate over a scalar tensor.")
    return iter([made(part) for part in T.unbind(tensor_of(self), dim=0)])


Tensor.__getitem__ = _getitem  # type: ignore[assignment]
Tensor.__iter__ = _iterated  # type: ignore[method-assign]

__all__ = defined(globals())
