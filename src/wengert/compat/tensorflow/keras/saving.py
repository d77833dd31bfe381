"""Layer 9 · compat: ``tf.keras.saving``: models and weights in files, and objects in JSON.

>>> import tempfile
>>> model = tf.keras.Sequential([tf.keras.Input((2,)), tf.keras.layers.Dense(1)])
>>> path = tempfile.mkdtemp() + "/model.keras"
>>> model.save(path)
>>> same = tf.keras.models.load_model(path)
>>> bool((same(tf.ones([1, 2])) == model(tf.ones([1, 2]))).numpy())
True
"""

# ruff: noqa: F401  some names are for users

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from wengert.compat.tensorflow.archive import read_archive, write_archive
from wengert.compat.tensorflow.configs import (
    custom_object_scope,
    deserialize_keras_object,
    get_custom_objects,
    get_registered_name,
    get_registered_object,
    register_keras_serializable,
    serialize_keras_object,
)
from wengert.compat.tensorflow.words import public, refusal
from wengert.tape.sites import warn

CustomObjectScope = custom_object_scope


def _checked(path, overwrite: bool, ends: tuple[str, ...], what: str) -> str:
    name = os.fspath(path)
    if not name.endswith(ends):
        raise refusal(ValueError, "The filepath provided must end in `{}`", ends[0], what, name)
    if not overwrite and Path(name).exists():
        raise ValueError(f"{name} is there already, and overwrite=False")
    return name


def _weights(model) -> dict[str, Any]:
    """Return the values of a model's weights, by index and name."""
    if not model.built:
        raise refusal(ValueError, "You are saving", model.name)
    return {f"{i}:{v.name}": v.numpy() for i, v in enumerate(model.weights)}


def write_weights(model, filepath, overwrite: bool) -> None:
    """Write only the weights of a model."""
    name = _checked(filepath, overwrite, (".weights.h5",), "Keras weights format")
    write_archive(name, {"weights": model.name}, _weights(model))


def _parted(arrays: dict[str, Any]) -> tuple[list[Any], dict[str, Any]]:
    """Return the weights of a model, and the values of its optimizer."""
    start = "optimizer/"
    kept = {k.removeprefix(start): arrays[k] for k in arrays if k.startswith(start)}
    return [value for key, value in arrays.items() if not key.startswith(start)], kept


def read_weights(model, filepath, skip_mismatch=False) -> None:
    """Set the weights of a model to those in a file."""
    _, arrays = read_archive(filepath)
    found, _ = _parted(arrays)
    if not model.weights and found:
        raise refusal(ValueError, "model '{}' has", model.name)
    if not skip_mismatch:
        model.set_weights(found)
        return
    for variable, value in zip(model.weights, found, strict=False):
        if tuple(variable.shape) == value.shape:
            variable.assign(value)
        else:
            warn(f"A weight of shape {value.shape} was not loaded into {variable.name}")


def write_model(model, filepath, overwrite: bool, include_optimizer=True) -> None:
    """Write a model with its configuration."""
    name = _checked(filepath, overwrite, (".keras", ".h5"), "Keras model format")
    arrays = _weights(model)
    state: dict[str, Any] = {"model": serialize_keras_object(model)}
    if model._compiled is not None:
        state["compile"] = model.get_compile_config()
        if include_optimizer:
            kept: dict[str, Any] = {}
            model.optimizer.save_own_variables(kept)
            arrays |= {f"optimizer/{key}": value for key, value in kept.items()}
    write_archive(name, state, arrays)


def save_model(model, filepath, overwrite=True, **kwargs) -> None:
    """Write a model to a file (see `Model.save`)."""
    write_model(model, filepath, overwrite, kwargs.get("include_optimizer", True))


def load_model(filepath, custom_objects=None, compile=True, safe_mode=True) -> Any:
    """Load a model that `Model.save` wrote.

    Parameters
    ----------
    filepath : str or path. The file.
    custom_objects : dict, optional. Classes and functions of the program, by name; not needed for
        those decorated by `register_keras_serializable`.
    compile : bool. Whether to compile the model as it was, and restore the state of its optimizer.
    safe_mode : bool. Accepted, without effect: files contain no code.

    Raises
    ------
    TypeError: If a class or function is not registered.
    ValueError: If the file has another format.
    """
    state, arrays = read_archive(filepath)
    if "model" not in state:
        raise ValueError(f"{filepath} holds weights alone: make the model, and load_weights")
    with custom_object_scope(custom_objects or {}):
        model = deserialize_keras_object(state["model"])
        own, kept = _parted(arrays)
        model.set_weights(own)
        if compile and state.get("compile") is not None:
            model.compile_from_config(state["compile"])
            if len(kept) > 2:
                model.optimizer.load_own_variables(kept)
    return model


def save_weights(model, filepath, overwrite=True, **kwargs) -> None:
    """Write the weights of a model to a file."""
    write_weights(model, filepath, overwrite)


def load_weights(model, filepath, skip_mismatch=False, **kwargs) -> None:
    """Load the weights of a model from a file."""
    read_weights(model, filepath, skip_mismatch)


_CONFIGS = """
    CustomObjectScope custom_object_scope deserialize_keras_object get_custom_objects
    get_registered_name get_registered_object register_keras_serializable serialize_keras_object
    """
__all__ = public(globals(), _CONFIGS, without="read_weights write_model write_weights")
