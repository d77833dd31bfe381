"""Layer 9 · numpy: the namespace inspection of the array API standard."""

from __future__ import annotations

from typing import Any

import numpy as np

from wengert.base.device import CPU, check_device
from wengert.base.sections import fill_sections


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

    def __init__(self) -> None:
        self._numpys: Any = np.__array_namespace_info__()

    def capabilities(self) -> dict[str, Any]:
        """Return whether boolean indexing and data-dependent shapes are supported: both."""
        found: dict[str, Any] = self._numpys.capabilities()
        return {"max dimensions": 64, **found}  # reported by NumPy since version 2.1

    def default_device(self) -> Any:
        """Return the default device: the CPU."""
        return CPU

    def devices(self) -> list[Any]:
        """Return all devices: the CPU."""
        return [CPU]

    def default_dtypes(self, *, device: Any = None) -> dict[str, Any]:
        """Return the default dtypes of real, complex, integral and index arrays."""
        check_device(device)
        found: dict[str, Any] = self._numpys.default_dtypes()
        return found

    def dtypes(self, *, device: Any = None, kind: Any = None) -> dict[str, Any]:
        """Return the dtypes by name, all or those of a kind (see `numpy.isdtype`)."""
        check_device(device)
        found: dict[str, Any] = self._numpys.dtypes(kind=kind)
        return found


fill_sections(globals())
