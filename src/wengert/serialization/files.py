"""Layer 9 · serialization: `save` and `load`.

NOTE [the form of a file]
A file is a safetensors file. The entry ``wengert`` of its metadata is JSON: the form of the state
(see NOTE [the form of a state]), what the format cannot say of each tensor (that it requires a
gradient, is a parameter, is complex128), and where tensors lie that share memory or that are not in
C order: ``"at": [memory, offset, strides]``, in bytes. Of each tensor the file holds its own
elements in C order, so that other readers find them, and small views of large tensors stay small.
"""

from __future__ import annotations

import io
import json
import os
import secrets
from typing import Any

import numpy as np

from wengert.base.device import check_device, device
from wengert.base.sections import fill_sections
from wengert.kernels.create import dense_order
from wengert.kernels.strided import owner_of
from wengert.nn.parameter import Parameter
from wengert.serialization.reading import read_bytes, read_path, safetensors
from wengert.serialization.structure import Encoder, decoded
from wengert.tape.base import LEAF
from wengert.tensor.copying import make, warn_of_hooks
from wengert.tensor.tensor import Tensor

__all__ = ["load", "save"]

_ENTRY = "wengert"
_VERSION = 1


def save(obj: Any, f: Any) -> None:
    """Write tensors, and the state that they are part of, to a safetensors file.

    A dictionary of tensors becomes a file that holds each under its key, for any program that reads
    safetensors. Whether a gradient is required, parameters, the order of memory and which tensors
    share it are kept, for `load`. Gradients, graphs, hooks and attributes are not: what is part of
    a graph comes back as a leaf that requires a gradient, as in PyTorch.

    Parameters
    ----------
    obj : object. A tensor, or a state: dictionaries, lists and tuples, nested, of tensors, numbers,
        strings, None, dtypes and sizes. A tensor that occurs twice is one tensor again when it is
        loaded.
    f : str, path or binary file. Where to. A file of that name is replaced once the new one is
        complete: if saving fails, it is as it was.

    Raises
    ------
    TypeError: If something in `obj` cannot be saved; the message says where it is.
    ImportError: Without the extra: ``pip install 'wengert[safetensors]'``.

    See Also
    --------
    load

    Examples
    --------
    >>> import io
    >>> file = io.BytesIO()
    >>> wg.save({"weights": [wg.ones(2), wg.zeros(1)], "step": 3}, file)
    >>> _ = file.seek(0)
    >>> wg.load(file)
    {'weights': [tensor([1., 1.]), tensor([0.])], 'step': 3}
    """
    _need_safetensors()
    encoder = Encoder(_check_savable)
    form = encoder.encode(obj)
    arrays, infos = _laid_out(encoder)
    entry = {"version": _VERSION, "state": form, "tensors": infos}
    metadata = {_ENTRY: json.dumps(entry, separators=(",", ":"))}
    if not isinstance(f, str | os.PathLike):
        _check_binary(f, "write")
        f.write(safetensors.numpy.save(arrays, metadata))
        return
    _replace(os.path.realpath(os.fsdecode(f)), arrays, metadata)


def load(f: Any, map_location: Any = None, *, weights_only: bool = True) -> Any:
    """What `save` wrote, or the tensors of any safetensors file as a dictionary.

    A checkpoint of PyTorch, written by ``safetensors.torch.save_file`` or ``save_model``, is such a
    dictionary, which `Module.load_state_dict` takes. Tied parameters come under all of their names.

    Loading builds tensors, numbers, strings and containers and nothing else; it never runs code
    from the file.

    Parameters
    ----------
    f : str, path or binary file. Where from. A file is read to its end.
    map_location : device, optional. Accepted for PyTorch's sake: tensors are on the CPU, and
        nothing else is possible.
    weights_only : bool. Accepted for PyTorch's sake: there is nothing else to be loaded.

    Returns
    -------
    object: The state that was saved. Its tensors are leaves with memory of their own; those that
        shared memory when they were saved share it again.

    Raises
    ------
    RuntimeError: If it is no safetensors file, or a damaged one.
    TypeError: If a tensor is of a type that does not exist here. bfloat16, if the package for it is
        missing, becomes float32.
    ImportError: Without the extra: ``pip install 'wengert[safetensors]'``.

    See Also
    --------
    save

    Examples
    --------
    >>> import io
    >>> file = io.BytesIO()
    >>> wg.save(wg.ones(2, requires_grad=True), file)
    >>> _ = file.seek(0)
    >>> wg.load(file)
    tensor([1., 1.], requires_grad=True)
    """
    _need_safetensors()
    if isinstance(map_location, str | device):
        check_device(map_location)
    if isinstance(f, str | os.PathLike):
        path = os.fsdecode(f)
        name = repr(path)
        arrays, metadata = read_path(path, name)
    else:
        _check_binary(f, "read")
        name = "the file"
        arrays, metadata = read_bytes(f.read(), name)
    if _ENTRY not in metadata:
        tensors = {key: make(Tensor, array) for key, array in arrays.items()}
        # safetensors.torch.save_model writes tied tensors once, and the names left out here
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
    ) as error:
        raise RuntimeError(f"{name} is damaged: its entry {_ENTRY!r} makes no sense") from error


def _need_safetensors() -> None:
    if safetensors is None:
        raise ImportError(
            "saving and loading need the package safetensors: pip install 'wengert[safetensors]'"
        )


def _check_binary(file: Any, method: str) -> None:
    if not hasattr(file, method) or isinstance(file, io.TextIOBase):
        raise TypeError(
            f"expected a path or a file opened for {method[:4]}ing bytes, but got {file!r}"
        )


# -- saving ----------------------------------------------------------------------------------------


def _check_savable(tensor: Any, place: str) -> None:
    if type(tensor) not in (Tensor, Parameter):
        raise TypeError(
            f"cannot save {place}, which is a {type(tensor).__qualname__}: loading never runs the "
            "code of a class. Save x.as_subclass(wengert.Tensor) and what else the object holds"
        )
    warn_of_hooks(tensor)


def _laid_out(encoder: Encoder) -> tuple[dict[str, Any], dict[str, Any]]:
    """The arrays to write by name, and what else is to be known of each."""
    places = _places(
        {name: t.array() for name, t in encoder.tensors.items() if name not in encoder.same}
    )
    arrays: dict[str, Any] = {}
    infos: dict[str, Any] = {}
    for name, tensor in encoder.tensors.items():
        array = tensor.array()
        info: dict[str, Any] = {}
        if tensor.edge is not None:
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
    """Where those arrays lie that overlap another one, or that are not in C order."""
    by_owner: dict[int, list[tuple[int, int, str]]] = {}
    for name, array in arrays.items():
        if array.size:
            low, high = np.lib.array_utils.byte_bounds(array)
            by_owner.setdefault(id(owner_of(array)), []).append((low, high, name))
    places: dict[str, list[Any]] = {}
    memory = 0
    for spans in by_owner.values():
        spans.sort()
        while spans:
            # those that touch each other, directly or by others in between
            end = spans[0][1]
            count = 1
            while count < len(spans) and spans[count][0] < end:
                end = max(end, spans[count][1])
                count += 1
            group, spans = spans[:count], spans[count:]
            start = group[0][0]
            if len(group) == 1:
                name = group[0][2]
                dense = np.empty_like(arrays[name], order=dense_order(arrays[name]))
                if dense.flags.c_contiguous:
                    continue
                places[name] = [memory, 0, list(dense.strides)]
            for _, _, name in group if len(group) > 1 else ():
                offset = arrays[name].ctypes.data - start
                places[name] = [memory, offset, list(arrays[name].strides)]
            memory += 1
    return places


def _replace(path: str, arrays: dict[str, Any], metadata: dict[str, str]) -> None:
    """Write a file beside `path` and, once it is complete, put it in its place."""
    folder = os.path.dirname(path)
    if not os.path.isdir(folder):
        raise RuntimeError(f"Parent directory {folder} does not exist.")
    if os.path.exists(path) and not os.path.isfile(path):
        # a device or a pipe cannot be replaced
        with open(path, "wb") as target:
            target.write(safetensors.numpy.save(arrays, metadata))
        return
    beside = os.path.join(folder, f".wengert-{secrets.token_hex(8)}")
    try:
        with open(beside, "xb"):
            pass
        mode = os.stat(path if os.path.exists(path) else beside).st_mode
        try:
            safetensors.numpy.save_file(arrays, beside, metadata)
        except safetensors.SafetensorError as error:
            raise OSError(f"{path!r} could not be written: {error}") from error
        os.chmod(beside, mode)
        os.replace(beside, path)
    except BaseException:
        if os.path.exists(beside):
            os.unlink(beside)
        raise


# -- loading ---------------------------------------------------------------------------------------


def _tensors(arrays: dict[str, Any], infos: dict[str, Any]) -> dict[str, Any]:
    """The tensors of a file by name."""
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
    """Lay arrays that shared memory over one; returns their common version cells."""
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
            # NumPy checks that all of it lies inside
            placed: Any = np.ndarray(array.shape, array.dtype, memory.data, offset, tuple(strides))
            placed[...] = array
            arrays[name] = placed
            cells[name] = cell
    return cells


def _end(array: Any, offset: int, strides: list[int]) -> int:
    steps = zip(array.shape, strides, strict=True)
    return int(offset + sum(max(0, (n - 1) * step) for n, step in steps) + array.itemsize)


fill_sections(globals())
