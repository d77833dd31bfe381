"""Layer 9 · serialization: the zip archives of `torch.save`, as records by name.

NOTE [zip archives]
Records are looked up by name and read in place; nothing is unpacked to a path. They must not be
compressed, as PyTorch never compresses them, and together they are not larger than the file: so a
file never allocates more memory than its own size.
"""

from __future__ import annotations

import zipfile
import zlib
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any, BinaryIO, cast

import numpy as np

_HEADER = 30
_SIGNATURE = b"PK\x03\x04"
_ALIGNMENT = 64


class Archive:
    """The records of an open archive.

    Parameters
    ----------
    file: Open for reading, and seekable.
    name: Its name in errors.
    memory: All bytes of the file, to lay records over; None reads them.

    Raises
    ------
    RuntimeError: If it is not an archive of this form.
    """

    def __init__(self, file: BinaryIO, name: str, memory: Any = None) -> None:
        self._file = file
        self._memory = memory
        self.name = name
        try:
            found = zipfile.ZipFile(file).infolist()
        except (zipfile.BadZipFile, NotImplementedError, UnicodeDecodeError, ValueError) as error:
            raise RuntimeError(
                f"PytorchStreamReader failed reading zip archive: {name} is damaged ({error})"
            ) from error
        length = file.seek(0, 2)
        self._records = {info.filename: info for info in found}
        if len(self._records) < len(found):
            raise self.damaged("two records have the same name")
        if any(info.compress_type or info.flag_bits & 1 for info in found):
            raise self.damaged("records are compressed or encrypted, which torch.save never does")
        if sum(info.file_size for info in found) > length:
            raise self.damaged("its records are larger than the file")
        pickles = [record for record in self._records if record.endswith("/data.pkl")]
        if len(pickles) != 1:
            raise RuntimeError(
                "PytorchStreamReader failed locating file data.pkl: file not found. "
                f"{name} is a zip archive, but not one of torch.save"
            )
        self._prefix = pickles[0].removesuffix("data.pkl")
        if f"{self._prefix}constants.pkl" in self._records:
            raise RuntimeError(
                f"{name} is a TorchScript archive, which holds code: load it with PyTorch and "
                "save its state_dict()"
            )

    def damaged(self, what: str) -> RuntimeError:
        """Return the error for an archive in which `what` is wrong."""
        return RuntimeError(f"PytorchStreamReader failed reading {self.name}: {what}")

    def has(self, record: str) -> bool:
        """Return whether a record exists."""
        return self._prefix + record in self._records

    def read(self, record: str) -> Any:
        """Return the bytes of a record as a new uint8 array, or as one over the file's memory."""
        info = self._records.get(self._prefix + record)
        if info is None:
            raise self.damaged(f"there is no record {record!r}")
        size = info.file_size
        self._file.seek(info.header_offset)
        head = self._file.read(_HEADER)
        start = info.header_offset + _HEADER
        if len(head) < _HEADER or not head.startswith(_SIGNATURE):
            raise self.damaged(f"record {record!r} does not begin where it should")
        start += int.from_bytes(head[26:28], "little") + int.from_bytes(head[28:30], "little")
        if self._memory is not None:
            if start + size > len(self._memory):
                raise self.damaged(f"record {record!r} ends too early")
            # through a memoryview, so that tensors share only the memory of this record
            return np.frombuffer(memoryview(self._memory)[start : start + size], np.uint8)
        made: Any = np.empty(size, np.uint8)
        self._file.seek(start)
        if fill(self._file, made) < size:
            raise self.damaged(f"record {record!r} ends too early")
        # PyTorch writes 0 if it does not compute the checksum
        if info.CRC and zlib.crc32(made) != info.CRC:
            raise self.damaged(f"record {record!r} is not as it was written: its checksum differs")
        return made


def fill(file: BinaryIO, array: Any) -> int:
    """Read into `array` until it is full or the file ends; return the number of bytes read."""
    view, done = memoryview(array), 0
    into: Callable[[Any], int | None] | None = getattr(file, "readinto", None)
    while done < len(view):
        if into is not None:
            count = into(view[done:]) or 0
        else:
            part = file.read(len(view) - done)
            count = len(part)
            view[done : done + count] = part
        if not count:
            break
        done += count
    return done


def write_archive(file: BinaryIO, pickled: bytes, storages: list[Any]) -> None:
    """Write a pickle and the bytes of its storages as an archive that PyTorch reads."""
    try:
        file.tell()
    except (AttributeError, NotImplementedError, OSError):
        # as PyTorch, ask nothing else of it
        file = cast(BinaryIO, SimpleNamespace(write=file.write, flush=file.flush))
    with zipfile.ZipFile(file, "w", allowZip64=True) as target:
        records = {
            "data.pkl": pickled,
            ".format_version": b"1",
            ".storage_alignment": str(_ALIGNMENT).encode(),
            "byteorder": b"little",
            **{f"data/{key}": array for key, array in enumerate(storages)},
            "version": b"3\n",
            ".data/serialization_id": f"{zlib.crc32(pickled):040}".encode(),
        }
        for name, content in records.items():
            _write(target, f"archive/{name}", memoryview(content))


def _write(target: zipfile.ZipFile, name: str, content: memoryview) -> None:
    info = zipfile.ZipInfo(name)  # with a fixed date: the same state gives the same records
    info.file_size = len(content)
    # as in PyTorch, data are aligned to 64 bytes, by a field that other readers ignore
    large = len(content) * 1.05 > zipfile.ZIP64_LIMIT
    start = target.start_dir + _HEADER + len(name) + 4 + 20 * large
    padding = -start % _ALIGNMENT
    info.extra = b"FB" + padding.to_bytes(2, "little") + b"Z" * padding
    with target.open(info, "w", force_zip64=large) as record:
        record.write(content)
