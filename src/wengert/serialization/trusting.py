"""Layer 9 · serialization: trusted files, which may name and call anything.

NOTE [trusted files]
Whole objects, as in ``torch.save(model)``, are full pickles, which run code. They are read by the
unpickler of the standard library, or of the caller's ``pickle_module``, and only if the caller
passes ``weights_only=False``. PyTorch's functions that rebuild tensors are replaced by ours, and
its classes by those of the same name here.
"""

from __future__ import annotations

import importlib
from functools import cache
from typing import Any, BinaryIO

from wengert.serialization.rebuilt import Checkpoint, is_known


class _Trusting:
    """Reads one object, with the storages of its checkpoint; another base is the unpickler."""

    def __init__(self, file: BinaryIO, names: Checkpoint, encoding: str) -> None:
        super().__init__(file, encoding=encoding)  # type: ignore[call-arg]
        self._names = names

    def persistent_load(self, key: Any) -> Any:
        """Return the storage of a persistent id, or the class of a module in the older form."""
        if key[0] == "module":
            return key[1]
        return self._names.storage(key)

    def find_class(self, module: str, name: str) -> Any:
        """Return a class or function by its name."""
        if module.partition(".")[0] == "torch":
            if is_known(f"{module}.{name}"):
                return self._names.find(f"{module}.{name}")
            # PyTorch's names mean ours, even where PyTorch is imported
            module = f"wengert{module.removeprefix('torch')}"
            return getattr(importlib.import_module(module), name)
        found: Any = super()
        return found.find_class(module, name)


@cache
def trusting(unpickler: Any) -> Any:
    """Return the class that reads a trusted file with that class of unpicklers."""
    return type("Trusting", (_Trusting, unpickler), {})
