"""Layer 9 · serialization: reading and writing of `torch.save`'s files.

NOTE [files of PyTorch]
There are two forms. A zip archive holds a pickle, ``data.pkl``, and the bytes of each storage as a
record. The older form is a sequence of pickles (a magic number, a version, machine data, the
object, the keys of its storages), followed by the bytes of the storages, each after its length.
Files are written in the new form; they hold only the memory that tensors show, so a small view of a
large tensor stays small.
"""

from __future__ import annotations

import io
import sys
from enum import Enum
from pickle import UnpicklingError
from typing import Any, BinaryIO

import numpy as np

from wengert.base.errors import kind_of
from wengert.serialization.archive import Archive, fill, write_archive
from wengert.serialization.machine import names_in, run
from wengert.serialization.pickled import Pickler
from wengert.serialization.rebuilt import Checkpoint
from wengert.serialization.trusting import trusting

ARCHIVE_START = b"PK\x03\x04"
_MAGIC = 0x1950A86A20F9469CFC6C
LEGACY_START = b"\x80\x02\x8a\x0a" + _MAGIC.to_bytes(10, "little") + b"."
_LEGACY_VERSION = 1001
_DAMAGE = (
    ArithmeticError,
    AttributeError,
    EOFError,
    LookupError,
    RecursionError,
    ValueError,
    TypeError,
)


class LoadEndianness(Enum):
    """The byte order of files that do not say theirs."""

    NATIVE, LITTLE, BIG = 1, 2, 3


_assumed: LoadEndianness | None = None


def get_default_load_endianness() -> LoadEndianness | None:
    """Return the byte order that `load` assumes of a file that does not say its own."""
    return _assumed


def set_default_load_endianness(endianness: LoadEndianness | None) -> None:
    """Set the byte order that `load` assumes of a file that does not say its own.

    Parameters
    ----------
    endianness : LoadEndianness, optional. None, as from the start, assumes this machine's.
    """
    global _assumed
    if endianness is not None and not isinstance(endianness, LoadEndianness):
        raise TypeError(
            "Invalid argument type in function set_default_load_endianness: expected "
            f"LoadEndianness or None, but got {kind_of(endianness)}"
        )
    _assumed = endianness


def read(
    file: BinaryIO,
    name: str,
    mapped: bool = False,
    encoding: str = "utf-8",
    trusted: Any = None,
) -> Any:
    """Read the object in a file of `torch.save`.

    Parameters
    ----------
    file: Open for reading, and seekable; at its beginning.
    name: Its name in errors.
    mapped: Whether tensors are memory-mapped from the file; writes to them do not reach it.
    trusted: The class of unpicklers for a file that may name and call anything, or None.

    Raises
    ------
    UnpicklingError: If it names something that is not allowed.
    RuntimeError: If it is damaged.
    """
    start = file.tell()
    legacy = file.read(len(LEGACY_START)) == LEGACY_START
    file.seek(start)
    try:
        if legacy:
            if mapped:
                raise RuntimeError(
                    f"mmap can only be used with files that were saved in the zip format, not with "
                    f"{name}"
                )
            return _read_legacy(file, encoding, trusted)
        memory = np.memmap(file.name, np.uint8, "c") if mapped else None
        return _read_archive(Archive(file, name, memory), encoding, trusted)
    except UnpicklingError as error:
        raise UnpicklingError(f"{error} (in {name})") from error
    except _DAMAGE as error:
        if trusted:
            # it may come from anywhere
            raise
        if isinstance(error, TypeError) and str(error).startswith("cannot load"):
            raise
        raise RuntimeError(
            f"{name} looks like a file of torch.save, but it is damaged: {error or 'it ends early'}"
        ) from error


def _read_archive(archive: Archive, encoding: str, trusted: Any) -> Any:
    assumed = sys.byteorder if _assumed in (None, LoadEndianness.NATIVE) else _assumed.name.lower()
    has_order = archive.has("byteorder")
    order = archive.read("byteorder").tobytes() if has_order else assumed.encode()
    if order not in (b"little", b"big"):
        raise archive.damaged(f"its byte order is {order!r:.40}")
    names = Checkpoint(lambda key, _: archive.read(f"data/{key}"), order == b"big")
    content = io.BytesIO(archive.read("data.pkl").tobytes())
    if trusted:
        return trusting(trusted)(content, names, encoding).load()
    return run(content, names, encoding)


def _read_legacy(file: BinaryIO, encoding: str, trusted: Any) -> Any:
    begin = file.tell()
    length = file.seek(0, 2) - begin
    file.seek(begin)
    plain = Checkpoint(lambda key, count: _nothing(key))
    start = [run(file, plain), run(file, plain)]
    if not all(type(one) is int for one in start) or start != [_MAGIC, _LEGACY_VERSION]:
        raise ValueError("it does not begin as such a file does")
    swapped = run(file, plain)["little_endian"] is not True
    place = file.tell()
    sizes: dict[str, int] = {}

    def placeholder(key: str, count: int) -> Any:
        sizes[key] = count
        if sum(sizes.values()) > length:
            raise ValueError("its storages are larger than the file")
        return np.zeros(count, np.uint8)

    if trusted:
        return _read_trusted(file, plain, swapped, encoding, trusted)
    # the bytes follow the object, so it is read twice: for the sizes, then with the bytes
    run(file, Checkpoint(placeholder, dry=True), encoding)
    storages: dict[str, Any] = {}
    for key in run(file, plain):
        content = np.empty(sizes[key], np.uint8)
        file.seek(8, 1)  # its length, which is known
        if fill(file, content) < len(content):
            raise EOFError
        storages[key] = content
    file.seek(place)
    return run(file, Checkpoint(lambda key, _: storages[key], swapped), encoding)


def _read_trusted(
    file: BinaryIO, plain: Checkpoint, swapped: bool, encoding: str, trusted: Any
) -> Any:
    """Read an object, which is built only once, and then the bytes of its storages."""
    if swapped:
        raise ValueError("the order of its bytes is that of another machine")
    storages: dict[str, Any] = {}

    def memory(key: str, count: int) -> Any:
        return storages.setdefault(key, np.zeros(count, np.uint8))

    made = trusting(trusted)(file, Checkpoint(memory), encoding).load()
    for key in run(file, plain):
        file.seek(8, 1)
        if fill(file, storages[key]) < len(storages[key]):
            raise EOFError
    return made


def _nothing(key: str) -> Any:
    raise ValueError("there is a storage where none should be")


def unsafe_names(file: BinaryIO, name: str) -> list[str]:
    """Return the paths in an archive that are not allowed."""
    archive = Archive(file, name)
    names = Checkpoint(lambda key, _: _nothing(key))
    unsafe = []
    for path in sorted(set(names_in(io.BytesIO(archive.read("data.pkl").tobytes())))):
        try:
            names.find(path)
        except UnpicklingError:
            unsafe.append(path)
    return unsafe


def write(obj: Any, f: Any) -> None:
    """Write an object as PyTorch would, to a path or to a binary file."""
    pickler = Pickler()
    pickled = pickler.dumped(obj)
    if not isinstance(f, str):
        write_archive(f, pickled, pickler.storages)
        return
    with open(f, "wb") as file:
        write_archive(file, pickled, pickler.storages)
