"""Layer 0 · base: backends, the array libraries for devices other than the CPU.

NOTE [backends]
A backend wraps a library whose arrays follow NumPy's protocols (`__array_ufunc__`,
`__array_function__` with ``like=``) and refuse implicit conversion to NumPy. It defines how arrays
are copied to a device and back; the kernels compute with them as with NumPy's. CuPy is the backend
for ``"cuda"``, if it is installed and finds a GPU.
"""

from __future__ import annotations

import importlib
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from typing import Any, Protocol

import numpy as np


class Backend(Protocol):
    """The interface of an array library for the devices of one type.

    Attributes
    ----------
    kind: The class of its arrays.
    """

    kind: type[Any]

    def count(self) -> int:
        """Return the number of devices."""

    def current(self) -> int:
        """Return the number of the current device."""

    def on(self, index: int) -> AbstractContextManager[Any]:
        """Return a context in which the library computes on the device of that number."""

    def send(self, array: np.ndarray[Any, Any], index: int) -> Any:
        """Copy a NumPy array to a device."""

    def fetch(self, array: Any) -> np.ndarray[Any, Any]:
        """Copy an array from a device into NumPy."""

    def name(self, index: int) -> str:
        """Return the name of a device."""

    def synchronize(self, index: int) -> None:
        """Wait until a device has finished all work submitted to it."""


class CuPy(Backend):
    """CuPy, for ``"cuda"``."""

    def __init__(self, module: Any) -> None:
        self.module = module
        self.kind = module.ndarray
        self.settings = importlib.import_module("cupyx")
        self._count: int | None = None

    def count(self) -> int:
        if self._count is None:
            runtime = self.module.cuda.runtime
            try:
                self._count = int(runtime.getDeviceCount())
            except runtime.CUDARuntimeError:
                # no driver is installed
                self._count = 0
        return self._count

    def current(self) -> int:
        return int(self.module.cuda.Device().id)

    @contextmanager
    def on(self, index: int) -> Iterator[Any]:
        # raise for a singular matrix, as NumPy does
        with self.module.cuda.Device(index), self.settings.errstate(linalg="raise"):
            yield

    def send(self, array: np.ndarray[Any, Any], index: int) -> Any:
        with self.on(index):
            return self.module.array(array)

    def fetch(self, array: Any) -> np.ndarray[Any, Any]:
        with self.on(array.device.id):
            made: np.ndarray[Any, Any] = self.module.asnumpy(array, order="A")
        return made

    def name(self, index: int) -> str:
        found: bytes = self.module.cuda.runtime.getDeviceProperties(index)["name"]
        return found.decode()

    def synchronize(self, index: int) -> None:
        self.module.cuda.Device(index).synchronize()


BACKENDS: dict[str, Backend | None] = {}
"""The backend of each device type that was requested; None if there is none."""


def backend_of(type: str) -> Backend | None:
    """Return the backend of a device type, or None if it is not installed or has no device."""
    if type not in BACKENDS:
        BACKENDS[type] = _cupy() if type == "cuda" else None
    return BACKENDS[type]


def _cupy() -> Backend | None:
    try:
        made = CuPy(importlib.import_module("cupy"))
    except ImportError:
        return None
    return made if made.count() else None
