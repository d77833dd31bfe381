"""Layer 9 · numpy: what the array API standard asks a namespace about itself."""

from __future__ import annotations

from typing import Any

import numpy as np

from wengert.base.device import CPU, check_device
from wengert.base.sections import fill_sections


class Inspection:
    """What arrays of `wengert.numpy` can do, in the words of the array API standard.

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
        """Whether arrays are indexed by masks, and whether shapes may depend on values: both."""
        found: dict[str, Any] = self._numpys.capabilities()
        return {"max dimensions": 64, **found}  # which NumPy told from version 2.1 on

    def default_device(self) -> Any:
        """The device on which arrays are made: the CPU."""
        return CPU

    def devices(self) -> list[Any]:
        """All devices: the CPU."""
        return [CPU]

    def default_dtypes(self, *, device: Any = None) -> dict[str, Any]:
        """The dtypes of arrays of numbers, of whole numbers and of places, if none is given."""
        check_device(device)
        found: dict[str, Any] = self._numpys.default_dtypes()
        return found

    def dtypes(self, *, device: Any = None, kind: Any = None) -> dict[str, Any]:
        """The dtypes by their names, all or those of a kind (see `numpy.isdtype`)."""
        check_device(device)
        found: dict[str, Any] = self._numpys.dtypes(kind=kind)
        return found


fill_sections(globals())
