"""Layer 9 · compat: arrays in files, as NumPy's ``.npz``; MXNet's own format is not supported."""

from __future__ import annotations

import os
from typing import Any

import numpy as np

from wengert.compat.kit.namespaces import defined
from wengert.compat.mxnet.base import MXNetError, refusal
from wengert.compat.mxnet.results import adopt
from wengert.tape.base import TensorBase, new_tensor

_LIST = "arr_{}"


def save(file, data) -> None:
    """Write an array, or a list or dictionary of arrays, under exactly this file name."""
    if isinstance(data, TensorBase):
        data = [data]
    if isinstance(data, list | tuple):
        data = {_LIST.format(i): value for i, value in enumerate(data)}
    if not isinstance(data, dict) or not all(isinstance(v, TensorBase) for v in data.values()):
        raise ValueError("data needs to be an NDArray, or a list or dict of them")
    arrays: dict[str, Any] = {name: np.asarray(value._payload) for name, value in data.items()}
    with open(file, "wb") as opened:
        np.savez(opened, **arrays)


def load(file, cls: type) -> Any:
    """Return the list or dictionary in a file, with arrays of class `cls`.

    Raises
    ------
    MXNetError: If the file was not written by `save` or by NumPy.
    """
    with open(file, "rb") as opened:
        if opened.read(2) != b"PK":
            raise refusal(MXNetError, "Invalid NDArray file", os.fspath(file))
        opened.seek(0)
        with np.load(opened) as found:
            arrays = {name: adopt(new_tensor(found[name]), cls) for name in found.files}
    if all(name == _LIST.format(i) for i, name in enumerate(arrays)):
        return list(arrays.values())
    return arrays


__all__ = defined(globals())
