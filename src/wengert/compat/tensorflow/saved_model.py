"""Layer 9 · compat: ``tf.saved_model``: modules and models in a folder, without code.

NOTE [saved models]
TensorFlow saves graphs, which run without the program. There are no graphs here: a file holds
variables, plain attributes, and the names of the modules' classes. Loading looks these classes up
among those that the program has already defined; it imports nothing, and calls no `__init__`.

>>> import tempfile
>>> class Scale(tf.Module):
...     def __init__(self):
...         super().__init__()
...         self.factor = tf.Variable(3.0)
...
...     @tf.function
...     def __call__(self, x):
...         return self.factor * x
>>> path = tempfile.mkdtemp()
>>> tf.saved_model.save(Scale(), path)
>>> float(tf.saved_model.load(path)(2.0))
6.0
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from wengert.compat.tensorflow.archive import coded, decoded, read_archive, write_archive
from wengert.compat.tensorflow.keras.models import Model
from wengert.compat.tensorflow.keras.saving import load_model, write_model
from wengert.compat.tensorflow.module import Module
from wengert.compat.tensorflow.variable import Variable
from wengert.compat.tensorflow.words import public, refusal

_FILE, _MODEL = "saved_model.zip", "model.keras"


def save(obj, export_dir, signatures=None, options=None) -> None:
    """Write a module or a Keras model to a folder.

    Parameters
    ----------
    obj : Module or Model. The object to save. Attributes are saved if they are numbers, strings,
        variables, modules, or lists and dicts of these.
    export_dir : str or path. The folder.
    signatures, options : optional. Accepted, without effect: methods come from the class.

    Raises
    ------
    TypeError: If `obj` is of another type, or an attribute cannot be saved.
    """
    folder = Path(os.fspath(export_dir))
    folder.mkdir(parents=True, exist_ok=True)
    if isinstance(obj, Model):
        write_model(obj, folder / _MODEL, True)
        return
    if not isinstance(obj, Module):
        raise refusal(TypeError, "Expected an AutoTrackable", type(obj))
    arrays: dict[str, Any] = {}
    coder = _Coder(arrays)
    write_archive(folder / _FILE, coded(obj, coder.coded, type(obj).__name__), arrays)


def _kinds(kind: type) -> Iterator[type]:
    yield kind
    one: type
    for one in kind.__subclasses__():
        yield from _kinds(one)


class _Coder:
    """Encodes and decodes modules and variables, each once."""

    def __init__(self, arrays: dict[str, Any]) -> None:
        self._arrays = arrays
        self._seen: dict[int, int] = {}
        self._made: list[Any] = []

    def coded(self, value, path: str) -> dict[str, Any]:
        """Encode a value that is no container."""
        if value is None or isinstance(value, bool | int | float | str):
            return {"plain": value}
        if id(value) in self._seen:
            return {"again": self._seen[id(value)]}
        self._seen[id(value)] = len(self._seen)
        kind = type(value)
        if isinstance(value, Variable):
            self._arrays[path] = value.numpy()
            name = value.name.partition(":")[0].split("/")[-1]
            return {"variable": [path, value.trainable, name]}
        if isinstance(value, Module):
            held = coded(vars(value), self.coded, path)
            return {"module": [kind.__module__, kind.__qualname__, held]}
        raise refusal(TypeError, "{} is {!r},", path, value)

    def decoded(self, name: str, held) -> Any:
        """Decode what `coded` has returned."""
        if name == "plain":
            return held
        if name == "again":
            return self._made[held]
        if name == "variable":
            key, trainable, own = held
            self._made.append(Variable(self._arrays[key], trainable=trainable, name=own))
            return self._made[-1]
        home, own, parts = held
        found = [k for k in _kinds(Module) if k.__module__ == home and k.__qualname__ == own]
        if not found:
            raise refusal(ValueError, "the class {}.{}", home, own)
        module: Any = object.__new__(found[-1])
        self._made.append(module)
        for key, part in parts["dict"].items():
            object.__setattr__(module, key, decoded(part, self.decoded))
        return module


def load(export_dir, tags=None, options=None) -> Any:
    """Load what `save` wrote to a folder.

    Raises
    ------
    OSError: If the folder contains no saved model.
    ValueError: If the class of a module is not defined.
    """
    folder = Path(os.fspath(export_dir))
    if (folder / _MODEL).exists():
        return load_model(folder / _MODEL)
    if not (folder / _FILE).exists():
        other = ": it was written by TensorFlow" if (folder / "saved_model.pb").exists() else ""
        raise OSError(f"SavedModel file does not exist at: {folder}{os.sep}{_FILE}{other}")
    state, arrays = read_archive(folder / _FILE)
    return decoded(state, _Coder(arrays).decoded)


def contains_saved_model(export_dir) -> bool:
    """Return whether a folder contains a model that `load` can read."""
    folder = Path(os.fspath(export_dir))
    return (folder / _MODEL).exists() or (folder / _FILE).exists()


__all__ = public(globals())
