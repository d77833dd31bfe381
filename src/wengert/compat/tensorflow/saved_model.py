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

from wengert.compat.kit.namespaces import completed
from wengert.compat.tensorflow.archive import read_archive, write_archive
from wengert.compat.tensorflow.keras.models import Model
from wengert.compat.tensorflow.keras.saving import load_model, write_model
from wengert.compat.tensorflow.module import Module
from wengert.compat.tensorflow.refusal import refusing
from wengert.compat.tensorflow.variable import Variable
from wengert.compat.tensorflow.words import refusal

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
    write_archive(folder / _FILE, _coded(obj, arrays, {}, type(obj).__name__), arrays)


def _coded(value, arrays: dict[str, Any], seen: dict[int, int], path: str) -> Any:
    if value is None or isinstance(value, bool | int | float | str):
        return {"plain": value}
    if id(value) in seen:
        return {"again": seen[id(value)]}
    if isinstance(value, Variable):
        seen[id(value)] = number = len(seen)
        arrays[path] = value.numpy()
        named = {"name": value.name.partition(":")[0].split("/")[-1], "trainable": value.trainable}
        return {"variable": path, "number": number, **named}
    if isinstance(value, Module):
        seen[id(value)] = number = len(seen)
        kind = type(value)
        held = {
            key: _coded(part, arrays, seen, f"{path}.{key}") for key, part in vars(value).items()
        }
        return {"module": [kind.__module__, kind.__qualname__], "number": number, "held": held}
    if isinstance(value, list | tuple):
        parts = [_coded(part, arrays, seen, f"{path}.{i}") for i, part in enumerate(value)]
        return {"list" if isinstance(value, list) else "tuple": parts}
    if isinstance(value, dict) and all(isinstance(key, str) for key in value):
        return {"dict": {k: _coded(v, arrays, seen, f"{path}.{k}") for k, v in value.items()}}
    raise refusal(TypeError, "{} is {!r},", path, value)


def _kinds(kind: type) -> Iterator[type]:
    yield kind
    one: type
    for one in kind.__subclasses__():
        yield from _kinds(one)


def _decoded(code, arrays: dict[str, Any], made: dict[int, Any]) -> Any:
    if "plain" in code:
        return code["plain"]
    if "again" in code:
        return made[code["again"]]
    if "variable" in code:
        variable = Variable(
            arrays[code["variable"]], trainable=code["trainable"], name=code["name"]
        )
        made[code["number"]] = variable
        return variable
    if "module" in code:
        home, name = code["module"]
        found = [k for k in _kinds(Module) if k.__module__ == home and k.__qualname__ == name]
        if not found:
            raise refusal(ValueError, "the class {}.{}", home, name)
        module: Any = object.__new__(found[-1])
        made[code["number"]] = module
        for key, part in code["held"].items():
            object.__setattr__(module, key, _decoded(part, arrays, made))
        return module
    if "dict" in code:
        return {key: _decoded(part, arrays, made) for key, part in code["dict"].items()}
    ((name, parts),) = code.items()
    values = [_decoded(part, arrays, made) for part in parts]
    return values if name == "list" else tuple(values)


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
    return _decoded(state, arrays, {})


def contains_saved_model(export_dir) -> bool:
    """Return whether a folder contains a model that `load` can read."""
    folder = Path(os.fspath(export_dir))
    return (folder / _MODEL).exists() or (folder / _FILE).exists()


__getattr__ = refusing("saved_model")


__all__ = completed(globals())
