"""Layer 0 · base: what NumPy does not support of DLPack's capsules: bfloat16, the first version.

NOTE [bfloat16 in capsules]
To NumPy, the elements are 16-bit integers. One byte of a capsule encodes the kind of its elements:
NumPy makes or reads a capsule of integers, and this byte is rewritten in between.
"""

from __future__ import annotations

import ctypes
from typing import Any

import numpy as np

from wengert.base.extras import bfloat16

UNSIGNED, BFLOAT = 1, 4
"""DLPack's codes for kinds of elements."""
_IN_TENSOR = 20  # after the data pointer, the device and the number of dimensions
_PLACES = {b"dltensor": _IN_TENSOR, b"dltensor_versioned": 32 + _IN_TENSOR}
"""The offset of the kind in a capsule's struct, by the capsule's name."""


def _is_called(capsule: Any, name: bytes) -> bool:
    check = ctypes.pythonapi.PyCapsule_IsValid
    check.argtypes = [ctypes.py_object, ctypes.c_char_p]
    return bool(check(capsule, name))


def _place(capsule: Any) -> int:
    api = ctypes.pythonapi
    api.PyCapsule_GetPointer.argtypes = [ctypes.py_object, ctypes.c_char_p]
    api.PyCapsule_GetPointer.restype = ctypes.c_void_p
    for name, place in _PLACES.items():
        if _is_called(capsule, name):
            return int(api.PyCapsule_GetPointer(capsule, name)) + place
    raise RuntimeError("a capsule of DLPack can be taken in once only")


def set_element_kind(capsule: Any, kind: int) -> None:
    """Set the kind of the elements in a capsule."""
    ctypes.c_uint8.from_address(_place(capsule)).value = kind


class _Capsule:
    """Hands a bare capsule to NumPy, which expects an object that exports one."""

    def __init__(self, capsule: Any) -> None:
        self._capsule = capsule

    def __dlpack__(self, **_: Any) -> Any:
        return self._capsule

    def __dlpack_device__(self) -> tuple[int, int]:
        return (1, 0)  # NumPy reads the capsule itself, too


class _Writable:
    """The memory of an array that NumPy made read-only, for others to write to."""

    def __init__(self, array: Any) -> None:
        self._array = array
        known = array.__array_interface__
        self.__array_interface__ = {**known, "data": (known["data"][0], False)}


def is_capsule(value: Any) -> bool:
    """Return whether a value is a bare capsule."""
    return type(value).__name__ == "PyCapsule"


def array_from(value: Any) -> Any:
    """Return the array exported by `value`, a capsule or an object that exports one."""
    bare = is_capsule(value)
    # a capsule of the first version cannot tell that memory is read-only: it must not hold such,
    # but those of JAX's arrays do
    writable = bare and _is_called(value, b"dltensor")
    kind = None
    try:
        array = np.from_dlpack(_Capsule(value) if bare else value)
    except (RuntimeError, BufferError):
        # see NOTE [bfloat16 in capsules]
        held = value if bare else _handed(value)
        if held is None or ctypes.c_uint8.from_address(_place(held)).value != BFLOAT:
            raise
        kind = bfloat16().numpy
        set_element_kind(held, UNSIGNED)
        array = np.from_dlpack(_Capsule(held))
    if writable:
        array = np.asarray(_Writable(array))
    return array if kind is None else array.view(kind)


def _handed(value: Any) -> Any:
    """Return a capsule of `value`, of the protocol's first version if it knows no other."""
    if tuple(value.__dlpack_device__()) != (1, 0):
        return None
    try:
        return value.__dlpack__(max_version=(1, 0))
    except TypeError:
        return value.__dlpack__()
