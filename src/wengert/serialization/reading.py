"""Layer 9 · serialization: the arrays and the metadata of safetensors files.

NOTE [bfloat16 in files]
NumPy has no bfloat16, and the reader for NumPy does not reliably support it. So its 16 bits are
read as integers: they become bfloat16 where its package is installed, else float32, of which they
are the upper half, without loss.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any, BinaryIO

import numpy as np

from wengert.base.extras import bfloat16
from wengert.tape.sites import warn

safetensors: Any
try:
    import safetensors
    import safetensors.numpy
except ImportError:
    safetensors = None

_BRAIN = "BF16"
_TYPES = {
    **{f"F{bits}": f"<f{bits // 8}" for bits in (16, 32, 64)},
    **{f"I{bits}": f"<i{bits // 8}" for bits in (8, 16, 32, 64)},
    **{f"U{bits}": f"<u{bits // 8}" for bits in (8, 16, 32, 64)},
    "C64": "<c8",
    "BOOL": "?",
    _BRAIN: "<u2",
}


def read_path(path: str, name: str) -> tuple[dict[str, Any], dict[str, str]]:
    """Read the arrays of a file by their keys, and its metadata; `name` is its name in errors."""
    with open(path, "rb") as file:
        start = file.read(8)
        try:
            with safetensors.safe_open(path, framework="np") as opened:
                arrays: dict[str, Any] = {}
                bits: list[str] = []
                for key in opened.keys():  # noqa: SIM118  # it is not a mapping
                    kind = opened.get_slice(key).get_dtype()
                    _check_kind(kind, name, key)
                    # a place for each, in the order of the file
                    arrays[key] = None if kind == _BRAIN else opened.get_tensor(key)
                    if kind == _BRAIN:
                        bits.append(key)
                metadata = opened.metadata() or {}
            if bits:
                arrays.update(_from_bits(_bits_of(file, start, bits), name))
        except (safetensors.SafetensorError, ValueError) as error:  # NumPy refuses some shapes
            raise _unreadable(name, error) from error
        return arrays, metadata


def read_bytes(data: bytes, name: str) -> tuple[dict[str, Any], dict[str, str]]:
    """Like `read_path`, but for a file's content."""
    arrays = {}
    bits = {}
    try:
        for key, part in safetensors.deserialize(data):
            kind = part["dtype"]
            _check_kind(kind, name, key)
            arrays[key] = np.frombuffer(part["data"], _TYPES[kind]).reshape(part["shape"])
            if kind == _BRAIN:
                bits[key] = arrays[key]
    except (safetensors.SafetensorError, ValueError) as error:
        raise _unreadable(name, error) from error
    if bits:
        arrays.update(_from_bits(bits, name))
    length = int.from_bytes(data[:8], "little")
    return arrays, json.loads(data[8 : 8 + length]).get("__metadata__") or {}


def _check_kind(kind: str, name: str, key: str) -> None:
    if kind not in _TYPES:
        raise TypeError(
            f"{name} holds a tensor {key!r} of a type that does not exist here ({kind})"
        )


def _bits_of(file: BinaryIO, start: bytes, keys: Iterable[str]) -> dict[str, Any]:
    """Return the elements of tensors as unsigned integers; the header has been checked."""
    length = int.from_bytes(start, "little")
    file.seek(len(start))
    header = json.loads(file.read(length))
    made = {}
    for key in keys:
        begin, end = header[key]["data_offsets"]
        file.seek(len(start) + length + begin)
        content = bytearray(file.read(end - begin))
        made[key] = np.frombuffer(content, _TYPES[_BRAIN]).reshape(header[key]["shape"])
    return made


def _from_bits(bits: dict[str, Any], name: str) -> dict[str, Any]:
    try:
        kind = bfloat16().dtype
    except ImportError:
        warn(
            f"{name} holds bfloat16 tensors, which need the package ml_dtypes (pip install "
            "'wengert[bfloat16]'): they become float32, with the same values.",
        )
        return {
            key: (array.astype(np.uint32) << 16).view(np.float32) for key, array in bits.items()
        }
    return {key: array.view(kind) for key, array in bits.items()}


def _unreadable(name: str, error: Exception) -> RuntimeError:
    return RuntimeError(
        f"{name} is not a safetensors file, or it is damaged; nor is it a file of torch.save: "
        f"{error}"
    )
