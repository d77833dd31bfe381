"""Layer 9 · serialization: reading and writing of safetensors files.

NOTE [the form of a file]
A file is a safetensors file. The entry ``wengert`` of its metadata is JSON: the form of the state
(see NOTE [the form of a state]), the properties of each tensor that the format cannot express
(requiring a gradient, being a parameter, complex128), and the memory of tensors that share it or
are not in C order: ``"at": [memory, offset, strides]``, in bytes. The file holds each tensor's own
elements in C order, so other readers find them, and small views of large tensors stay small.
"""

from __future__ import annotations

import json
from typing import Any

import numpy as np

from wengert.interp.levels import Lifted, is_elsewhere
from wengert.kernels.create import dense_order
from wengert.nn.parameter import Parameter
from wengert.serialization.reading import read_bytes, read_path, safetensors
from wengert.serialization.sharing import sharing
from wengert.serialization.structure import Encoder, decoded
from wengert.tape.base import LEAF
from wengert.tensor.copying import make, warn_of_hooks
from wengert.tensor.tensor import Tensor

_ENTRY = "wengert"
_VERSION = 1


def write(obj: Any, f: Any) -> None:
    """Write a state as a safetensors file, to a path or to a binary file."""
    _need_safetensors()
    encoder = Encoder(_check_plain)
    form = encoder.encode(obj)
    arrays, infos = _laid_out(encoder)
    entry = {"version": _VERSION, "state": form, "tensors": infos}
    metadata = {_ENTRY: json.dumps(entry, separators=(",", ":"))}
    if not isinstance(f, str):
        f.write(safetensors.numpy.save(arrays, metadata))
        return
    try:
        safetensors.numpy.save_file(arrays, f, metadata)
    except safetensors.SafetensorError as error:
        raise OSError(f"{f!r} could not be written: {error}") from error


def read(f: Any, name: str) -> Any:
    """Read the state in a safetensors file, given by its path or open; `name` is for errors."""
    _need_safetensors()
    arrays, metadata = read_path(f, name) if isinstance(f, str) else read_bytes(f.read(), name)
    if _ENTRY not in metadata:
        tensors = {key: make(Tensor, array) for key, array in arrays.items()}
        # safetensors.torch.save_model writes tied tensors once, and lists the omitted names here
        tied = {key: kept for key, kept in metadata.items() if kept in tensors}
        return {**{key: tensors[kept] for key, kept in tied.items()}, **tensors}
    try:
        entry = json.loads(metadata[_ENTRY])
        if entry["version"] > _VERSION:
            raise RuntimeError(f"{name} was written by a newer version of wengert")
        return decoded(entry["state"], _tensors(arrays, entry["tensors"]))
    except (
        KeyError,
        TypeError,
        ValueError,
        AttributeError,
        ArithmeticError,
        RecursionError,
        MemoryError,  # an extent that no memory has; untouched pages cost nothing
    ) as error:
        raise RuntimeError(f"{name} is damaged: its entry {_ENTRY!r} makes no sense") from error


def _need_safetensors() -> None:
    if safetensors is None:
        raise ImportError(
            "safetensors files need the package safetensors: pip install 'wengert[safetensors]'"
        )


# -- saving ----------------------------------------------------------------------------------------


def _check_plain(tensor: Any, place: str) -> None:
    """Raise also for a tensor of a subclass at `place`."""
    if type(tensor) not in (Tensor, Parameter):
        raise TypeError(
            f"cannot save {place}, which is a {type(tensor).__qualname__}: a safetensors file "
            "names no classes. Save x.as_subclass(wengert.Tensor) and what else the object holds"
        )
    check_savable(tensor, place)


def check_savable(tensor: Any, place: str) -> None:
    """Raise for a tensor at `place` without an array; warn about hooks, which are not saved."""
    if is_elsewhere(tensor._payload):
        raise RuntimeError(f"cannot save {place}, which is on another device: save its x.cpu()")
    if isinstance(tensor._array(), Lifted):
        raise RuntimeError(
            f"cannot save {place}: under a transform a tensor stands for many values"
        )
    warn_of_hooks(tensor)


def _laid_out(encoder: Encoder) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return the arrays to write by name, and the additional data of each."""
    places = _places(
        {name: t._array() for name, t in encoder.tensors.items() if name not in encoder.same}
    )
    arrays: dict[str, Any] = {}
    infos: dict[str, Any] = {}
    for name, tensor in encoder.tensors.items():
        array = tensor._array()
        info: dict[str, Any] = {}
        if tensor._edge is not None:
            info["requires_grad"] = True
        if isinstance(tensor, Parameter):
            info["parameter"] = True
        if name in encoder.same:
            info["same"] = encoder.same[name]
        elif name in places:
            info["at"] = places[name]
        array = array if array.flags.c_contiguous else array.copy(order="C")
        if array.dtype == np.complex128:
            info["complex"] = True
            array = array.view(np.float64).reshape(*array.shape, 2) if array.ndim else _pair(array)
        arrays[name] = array
        if info:
            infos[name] = info
    return arrays, infos


def _pair(number: Any) -> Any:
    return np.array([number.real, number.imag])


def _places(arrays: dict[str, Any]) -> dict[str, list[Any]]:
    """Return the memory places of arrays that overlap another one, or are not in C order."""
    places: dict[str, list[Any]] = {}
    memory = 0
    for start, _, names in sharing(arrays):
        if len(names) == 1:
            name = names[0]
            dense = np.empty_like(arrays[name], order=dense_order(arrays[name]))
            if dense.flags.c_contiguous:
                continue
            places[name] = [memory, 0, list(dense.strides)]
        for name in names if len(names) > 1 else ():
            offset = arrays[name].ctypes.data - start
            places[name] = [memory, offset, list(arrays[name].strides)]
        memory += 1
    return places


# -- loading ---------------------------------------------------------------------------------------


def _tensors(arrays: dict[str, Any], infos: dict[str, Any]) -> dict[str, Any]:
    """Return the tensors of a file by name."""
    for name, info in infos.items():
        if "complex" in info:
            array = arrays[name]
            arrays[name] = array.view(np.complex128).reshape(array.shape[:-1])
    cells = _place(arrays, infos)
    tensors = {}
    for name, array in arrays.items():
        info = infos.get(name, {})
        if "same" not in info:
            cls = Parameter if "parameter" in info else Tensor
            edge = LEAF if "requires_grad" in info else None
            tensors[name] = make(cls, array, edge, cells.get(name))
    for name, info in infos.items():
        if "same" in info:
            tensors[name] = tensors[info["same"]]
    return tensors


def _place(arrays: dict[str, Any], infos: dict[str, Any]) -> dict[str, list[Any]]:
    """Place arrays that shared memory over one buffer; return their shared version cells."""
    members: dict[int, list[str]] = {}
    for name, info in infos.items():
        if "at" in info:
            members.setdefault(info["at"][0], []).append(name)
    cells: dict[str, list[Any]] = {}
    for names in members.values():
        extent = max(_end(arrays[name], *infos[name]["at"][1:]) for name in names)
        memory = np.zeros(extent, np.uint8)
        cell = [0, None]
        for name in names:
            array = arrays[name]
            _, offset, strides = infos[name]["at"]
            # NumPy checks that the whole array lies inside
            placed: Any = np.ndarray(array.shape, array.dtype, memory.data, offset, tuple(strides))
            placed[...] = array
            arrays[name] = placed
            cells[name] = cell
    return cells


def _end(array: Any, offset: int, strides: list[int]) -> int:
    steps = zip(array.shape, strides, strict=True)
    return int(offset + sum(max(0, (n - 1) * step) for n, step in steps) + array.itemsize)
