"""Layer 0 · base: bfloat16 in capsules of DLPack, which NumPy neither writes nor reads.

NOTE [bfloat16 in capsules]
NumPy stores bfloat16 as 16-bit integers. A capsule says in one byte what its elements are: NumPy
makes and takes the capsule, and this byte is set before it is handed on.
"""

from __future__ import annotations

import ctypes
from typing import Any

UNSIGNED, BFLOAT = 1, 4
"""DLPack's codes for kinds of elements."""
_IN_TENSOR = 20  # behind the memory's address, the device and the number of dimensions
_PLACES = {b"dltensor": _IN_TENSOR, b"dltensor_versioned": 32 + _IN_TENSOR}
"""The offset of the kind in the struct behind a capsule, by name: versioned ones start later."""


def _place(capsule: Any) -> int:
    api = ctypes.pythonapi
    api.PyCapsule_IsValid.argtypes = [ctypes.py_object, ctypes.c_char_p]
    api.PyCapsule_GetPointer.argtypes = [ctypes.py_object, ctypes.c_char_p]
    api.PyCapsule_GetPointer.restype = ctypes.c_void_p
    for name, place in _PLACES.items():
        if api.PyCapsule_IsValid(capsule, name):
            return int(api.PyCapsule_GetPointer(capsule, name)) + place
    raise RuntimeError("a capsule of DLPack can be taken in once only")


def element_kind(capsule: Any) -> int:
    """Return the kind of the elements in a capsule."""
    return ctypes.c_uint8.from_address(_place(capsule)).value


def set_element_kind(capsule: Any, kind: int) -> None:
    """Set the kind of the elements in a capsule."""
    ctypes.c_uint8.from_address(_place(capsule)).value = kind
