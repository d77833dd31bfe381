"""Layer 9 · compat: the file format of this idiom: zip archives of JSON and NumPy arrays.

NOTE [files of TensorFlow's idiom]
TensorFlow and Keras write HDF5, protocol buffers and tables of their own. Here a model, its weights
or a checkpoint is one zip archive of ``state.json``, ``arrays/0.npy`` and so on. It contains no
code, and arrays are read without pickle. Each file is written under a temporary name, and renamed
once it is complete.

NOTE [restoring later]
A checkpoint may be restored before layers have created their weights. Values that have no match yet
are kept in a table by owner, and restoring is retried when the owner gets an attribute or is built.
In programs without checkpoints the table is empty, and costs one look-up.
"""

from __future__ import annotations

import io
import json
import os
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np

from wengert.base.sections import fill_sections
from wengert.compat.tensorflow.words import refusal

__all__ = ["read_archive", "write_archive"]


WAITING: WeakKeyDictionary[Any, list[Callable[[], None]]] = WeakKeyDictionary()


def resume(owner) -> None:
    """Retry the deferred restoration of `owner`."""
    for again in WAITING.pop(owner, ()):
        again()


_FORMAT = "wengert.compat.tensorflow 1"
_HDF5 = b"\x89HDF"


def write_archive(path, state, arrays: dict[str, Any]) -> None:
    """Write a JSON-compatible state and named arrays to one file."""
    target = Path(path)
    target.parent.mkdir(parents=True, exist_ok=True)
    beside = target.with_name(f"{target.name}.{os.getpid()}.part")
    try:
        with zipfile.ZipFile(beside, "w") as archive:
            head = {"format": _FORMAT, "arrays": list(arrays), "state": state}
            archive.writestr("state.json", json.dumps(head))
            for number, array in enumerate(arrays.values()):
                data = io.BytesIO()
                np.lib.format.write_array(data, np.asarray(array), allow_pickle=False)
                archive.writestr(f"arrays/{number}.npy", data.getvalue())
        os.replace(beside, target)
    finally:
        beside.unlink(missing_ok=True)


def read_archive(path) -> tuple[Any, dict[str, Any]]:
    """Read what `write_archive` wrote.

    Raises
    ------
    FileNotFoundError: If the file does not exist.
    ValueError: If the file is of another kind, or damaged.
    """
    with open(path, "rb") as file:
        start = file.read(4)
    if start == _HDF5:
        raise refusal(ValueError, "{} is an", path)
    try:
        with zipfile.ZipFile(path) as archive:
            if "config.json" in archive.namelist():
                raise refusal(ValueError, "{} was written", path)
            head = json.loads(archive.read("state.json"))
            if head["format"] != _FORMAT:
                raise ValueError(f"{path} is of the format {head['format']!r}, not {_FORMAT!r}")
            arrays = {
                name: np.lib.format.read_array(
                    io.BytesIO(archive.read(f"arrays/{number}.npy")), allow_pickle=False
                )
                for number, name in enumerate(head["arrays"])
            }
    except (zipfile.BadZipFile, KeyError, EOFError) as error:
        raise ValueError(f"{path} is damaged, or no file of this library: {error}") from error
    return head["state"], arrays


fill_sections(globals())
