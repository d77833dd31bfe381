"""Layer 9 · numpy: the namespace inspection of the array API standard."""

from __future__ import annotations

from typing import Any

import numpy as np

from wengert.base.device import CPU, check_device

_DTYPES = """
    bool int8 int16 int32 int64 uint8 uint16 uint32 uint64 float32 float64 complex64 complex128
    """


class Inspection:
    """The capabilities of `wengert.numpy`, in the terms of the array API standard.

    Examples
    --------
    >>> info = np.__array_namespace_info__()
    >>> info.default_dtypes()["real floating"]
    dtype('float64')
    >>> info.devices()
    [device(type='cpu')]
    """

    def capabilities(self) -> dict[str, Any]:
        """Return whether boolean indexing and data-dependent shapes are supported: both."""
        return {"boolean indexing": True, "data-dependent shapes": True, "max dimensions": 64}

    def default_device(self) -> Any:
        """Return the default device: the CPU."""
        return CPU

    def devices(self) -> list[Any]:
        """Return all devices: the CPU."""
        return [CPU]

    def default_dtypes(self, *, device: Any = None) -> dict[str, Any]:
        """Return the default dtypes of real, complex, integral and index arrays."""
        check_device(device)
        kinds = {"real floating": float, "complex floating": complex, "integral": int}
        return {kind: np.dtype(made) for kind, made in (kinds | {"indexing": np.intp}).items()}

    def dtypes(self, *, device: Any = None, kind: Any = None) -> dict[str, Any]:
        """Return the dtypes by name, all or those of a kind (see `numpy.isdtype`)."""
        check_device(device)
        return {
            name: np.dtype(name)
            for name in _DTYPES.split()
            if kind is None or np.isdtype(np.dtype(name), kind)
        }
