"""Layer 9 · serialization: files that are trusted: they may name, and call, anything.

NOTE [trusted files]
Whole objects, as of ``torch.save(model)``, are pickles in the full sense, which run code. They are
read by the standard library's machine, and only where the caller says ``weights_only=False``. What
PyTorch rebuilds tensors with is ours; its classes are those here of the same name.
"""

from __future__ import annotations

import importlib
import pickle
from typing import Any, BinaryIO

from wengert.serialization.rebuilt import Checkpoint, is_known


class Trusting(pickle.Unpickler):
    """Reads one object, with the storages that a checkpoint has for it."""

    def __init__(self, file: BinaryIO, names: Checkpoint, encoding: str) -> None:
        super().__init__(file, encoding=encoding)
        self._names = names

    def persistent_load(self, key: Any) -> Any:
        """The storage that a persistent id names, or the class of a module in the older form."""
        if key[0] == "module":
            return key[1]
        return self._names.storage(key)

    def find_class(self, module: str, name: str) -> Any:
        """A class or function by its name."""
        if module.partition(".")[0] == "torch":
            if is_known(f"{module}.{name}"):
                return self._names.find(f"{module}.{name}")
            # PyTorch's names mean what is here, also where PyTorch is imported
            module = f"wengert{module.removeprefix('torch')}"
            return getattr(importlib.import_module(module), name)
        return super().find_class(module, name)
