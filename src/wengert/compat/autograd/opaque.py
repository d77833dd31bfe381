"""Layer 9 · compat: `Box`, for values of types of the user's own.

NOTE [values of one's own types]
A program may define a type that is not an array, a vector space of its values (`VSpace`), a box for
them (a subclass of `Box`), and primitives that take and give them. On the tape such a value is a
tensor whose payload is an array of one object, and the box shows what the value can do. Cotangents
travel as `Held`, so that the sums of the engine are those of the vector space. This is for reverse
mode, of first order.
"""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from wengert.base.arrays import COUNTED
from wengert.tape.base import TensorBase, new_tensor


class Opaque:
    """What boxes of the user's own types have in common, apart from boxes of arrays."""

    __slots__ = ()
    _node: Any
    _value: Any


class _BoxType(type):
    def __instancecheck__(cls, instance) -> bool:
        # the boxes of arrays are tensors, whose class has another layout
        return type.__instancecheck__(cls, instance) or (
            cls is Box and isinstance(instance, TensorBase)
        )


class Box(Opaque, metaclass=_BoxType):
    """A value inside of a differentiated function; to be subclassed for types of one's own.

    ``class PointBox(Box, Point)`` and ``PointBox.register(Point)`` let functions be differentiated
    by values of `Point`, for which a `VSpace` must be registered, too. Derivatives come from
    primitives, by `defvjp`; there is reverse mode of first order only.
    """

    __slots__ = ("_node", "_trace", "_value")
    _node: Any
    _value: Any
    type_mappings: ClassVar[dict[type, Any]] = {}

    def __init__(self, value, trace, node) -> None:
        self._value = value
        self._trace = trace
        self._node = node

    def __bool__(self) -> bool:
        return bool(self._value)

    def __str__(self) -> str:
        return f"Autograd {type(self).__name__} with value {self._value}"

    @classmethod
    def register(cls, value_type: type) -> None:
        """Say that this is the box of values of a type."""
        Box.type_mappings[value_type] = cls


COUNTED.append(Box.type_mappings)


def opaque_tensor(value, edge, cell=None) -> Any:
    """What stands on the tape for a value of one of the user's own types."""
    payload = np.empty((), object)
    payload[()] = value
    return new_tensor(payload, edge, cell)


def is_opaque(tensor) -> bool:
    """Whether a tensor stands for a value of one of the user's own types."""
    return bool(tensor.payload.dtype.kind == "O")


def boxed_value(tensor) -> Any:
    """The box of the value that a tensor stands for."""
    value = tensor.payload[()]
    return Box.type_mappings[type(value)](value, None, tensor)
