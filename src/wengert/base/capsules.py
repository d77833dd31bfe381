"""Layer 0 · base: what NumPy does not support of DLPack's capsules: bfloat16, the first version.

NOTE [bfloat16 in capsules]
To NumPy, the elements are 16-bit integers. One byte of a capsule encodes the kind of its elements:
NumPy makes or reads a capsule of integers, and this byte is rewritten in between.
"""

from __future__ import annotations

import ctypes
from typing import Any

UNSIGNED, BFLOAT = 1, 4
"""DLPack's codes for kinds of elements."""
_IN_TENSOR = 20  # after the data pointer, the device and the number of dimensions
_PLACES = {b"dltensor": _IN_TENSOR, b"dltensor_versioned": 32 + _IN_TENSOR}
"""The offset of the kind in a capsule's struct, by the capsule's name."""


def _is_called(capsule: Any, name: bytes) -> bool:
    check = ctypes.pythonapi.PyCapsule_IsValid
    check.argtypes = [ctypes.py_object, ctypes.c_char_p]
    return bool(check(capsule, name))


def is_first_version(capsule: Any) -> bool:
    """Return whether a capsule is one of the protocol's first version, and was not taken in yet.

    It holds no memory that is read-only, since it cannot tell.
    """
    return _is_called(capsule, b"dltensor")


def _place(capsule: Any) -> int:
    api = ctypes.pythonapi
    api.PyCapsule_GetPointer.argtypes = [ctypes.py_object, ctypes.c_char_p]
    api.PyCapsule_GetPointer.restype = ctypes.c_void_p
    for name, place in _PLACES.items():
        if _is_called(capsule, name):
            return int(api.PyCapsule_GetPointer(capsule, name)) + place
    raise RuntimeError("a capsule of DLPack can be taken in once only")


def element_kind(capsule: Any) -> int:
    """Return the kind of the elements in a capsule."""
    return ctypes.c_uint8.from_address(_place(capsule)).value


def set_element_kind(capsule: Any, kind: int) -> None:
    """Set the kind of the elements in a capsule."""
    ctypes.c_uint8.from_address(_place(capsule)).value = kind
