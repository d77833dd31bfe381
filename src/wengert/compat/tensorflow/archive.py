"""Layer 9 · compat: the file format of this idiom: zip archives of JSON and NumPy arrays.

NOTE [files of TensorFlow's idiom]
TensorFlow and Keras write HDF5, protocol buffers and tables of their own. Here a model, its weights
or a checkpoint is one zip archive of ``state.json``, ``arrays/0.npy`` and so on. It contains no
code, and arrays are read without pickle. Each file is written under a temporary name, and renamed
once it is complete.

NOTE [restoring later]
A checkpoint may be restored before layers have created their weights. Values that have no match yet
are kept in a table by owner, and restoring is retried when the owner gets an attribute or is built.
In programs without checkpoints the table is empty, and costs one look-up. Lists and dicts that lack
parts are replaced by ones that retry when they grow.
"""

from __future__ import annotations

import functools
import io
import json
import os
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np

from wengert.compat.kit.namespaces import defined
from wengert.compat.tensorflow.words import refusal

WAITING: WeakKeyDictionary[Any, list[Callable[[], None]]] = WeakKeyDictionary()


def resume(owner) -> None:
    """Retry the deferred restoration of `owner`."""
    for again in WAITING.pop(owner, ()):
        again()


class Resuming:
    """An object whose new attributes may have values that wait for them."""

    def __setattr__(self, name: str, value) -> None:
        object.__setattr__(self, name, value)
        if WAITING:
            resume(self)


def _growing(kind: Any, names: str) -> Any:
    """Return a list or dict class whose methods of these names retry what waits for new parts."""

    def retrying(method) -> Any:
        @functools.wraps(method)
        def grow(self, *args, **kwargs) -> Any:
            result = method(self, *args, **kwargs)
            resume(self)
            return result

        return grow

    methods = {name: retrying(getattr(kind, name)) for name in names.split()}
    return type(kind.__name__, (kind,), {**methods, "__hash__": object.__hash__})


GROWING: dict[Any, Any] = {
    list: _growing(list, "append extend insert __iadd__ __setitem__"),
    dict: _growing(dict, "update setdefault __ior__ __setitem__"),
}
"""The classes whose objects can wait for their parts, by the class that they replace."""


def coded(value, leaf: Callable[[Any, str], dict[str, Any]], path="") -> dict[str, Any]:
    """Encode nested containers for JSON; `leaf` encodes other values, given the path to them."""
    if isinstance(value, list | tuple):
        parts = [coded(part, leaf, f"{path}.{i}") for i, part in enumerate(value)]
        return {"list" if isinstance(value, list) else "tuple": parts}
    if isinstance(value, dict) and all(isinstance(key, str) for key in value):
        return {"dict": {key: coded(part, leaf, f"{path}.{key}") for key, part in value.items()}}
    return leaf(value, path)


def decoded(code: dict[str, Any], leaf: Callable[[str, Any], Any]) -> Any:
    """Decode what `coded` has encoded; `leaf` takes what it made of a value, as key and value."""
    ((name, held),) = code.items()
    if name == "dict":
        return {key: decoded(part, leaf) for key, part in held.items()}
    if name not in ("list", "tuple"):
        return leaf(name, held)
    parts = [decoded(part, leaf) for part in held]
    return parts if name == "list" else tuple(parts)


_FORMAT = "wengert.compat.tensorflow 1"
_HDF5 = b"\x89HDF"
_DAMAGE = (zipfile.BadZipFile, EOFError, LookupError, RecursionError, TypeError, ValueError)


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
                head, arrays = {"format": "Keras", "state": None}, {}
            else:
                # so that a small file does not stand for much memory
                found = archive.infolist()
                size = sum(one.file_size for one in found)
                if size > os.path.getsize(path) or any(one.compress_type for one in found):
                    raise ValueError("its records are compressed, or larger than the file")
                head = json.loads(archive.read("state.json"))
                names = head["arrays"] if head["format"] == _FORMAT else ()
                records = (archive.read(f"arrays/{i}.npy") for i in range(len(names)))
                arrays = dict(zip(names, map(_array, records), strict=True))
        written, state = head["format"], head["state"]
    except _DAMAGE as error:
        raise ValueError(f"{path} is damaged, or no file of this library: {error}") from error
    if written == "Keras":
        raise refusal(ValueError, "{} was written", path)
    if written != _FORMAT:
        raise ValueError(f"{path} is of the format {written!r}, not {_FORMAT!r}")
    return state, arrays


def _array(content: bytes) -> Any:
    """Return the array of a record; its header asks for no memory that the record does not fill."""
    file = io.BytesIO(content)
    version = np.lib.format.read_magic(file)
    shape, in_columns, dtype = np.lib.format.read_array_header_1_0(file)
    if version != (1, 0) or min(shape, default=0) < 0 or dtype.hasobject:
        raise ValueError("an array has a header that is never written")
    order: Any = "F" if in_columns else "C"
    return np.ndarray(shape, dtype, content, file.tell(), order=order).copy("K")


__all__ = defined(globals())
