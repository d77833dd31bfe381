"""Layer 9 · compat: TensorFlow's records: the wire format of protocol buffers, and record files.

NOTE [records of TensorFlow]
A message is a sequence of fields: a number, a wire type, and a variable-length whole number, four
or eight bytes, or a length and bytes. Which message it is, is known only to the reader. A record
file holds for each record its length, a checksum of the length, the record, and its checksum.
"""

from __future__ import annotations

import functools
import gzip
import math
import struct
import zlib
from collections.abc import Iterator
from typing import Any

import numpy as np

from wengert.compat.kit.namespaces import defined
from wengert.compat.tensorflow import errors


def varint(number: int) -> bytes:
    """Encode a whole number; negative ones have ten bytes."""
    number &= 2**64 - 1
    found = bytearray()
    while number > 127:
        found.append(number & 127 | 128)
        number >>= 7
    found.append(number)
    return bytes(found)


def field(number: int, value) -> bytes:
    """Encode one field, a whole number or bytes."""
    if isinstance(value, int):
        return varint(number << 3) + varint(value)
    return varint(number << 3 | 2) + varint(len(value)) + value


def _read(data: bytes, place: int) -> tuple[int, int]:
    """Decode a whole number; return it and the place after it."""
    number = shift = 0
    while True:
        byte = data[place]
        place += 1
        number |= (byte & 127) << shift
        if byte < 128:
            return number, place
        shift += 7


def fields(data: bytes) -> Iterator[tuple[int, Any]]:
    """Yield the number and the value of each field: a whole number, or bytes.

    Raises
    ------
    DataLossError: If the message is cut off, or has a field of another kind.
    """
    data, place = bytes(data), 0
    try:
        while place < len(data):
            key, place = _read(data, place)
            kind = key & 7
            if kind == 0:
                value, place = _read(data, place)
                yield key >> 3, value
                continue
            size, place = _read(data, place) if kind == 2 else ({1: 8, 5: 4}[kind], place)
            if place + size > len(data):
                raise IndexError
            yield key >> 3, data[place : place + size]
            place += size
    except (IndexError, KeyError):
        raise errors.DataLossError(None, None, "Could not parse the message") from None


def signed(number: int) -> int:
    """Return the signed whole number of 64 bits."""
    return number - 2**64 if number >= 2**63 else number


def packed(value) -> list[int]:
    """Return the signed whole numbers of a field, of which bytes hold several."""
    if isinstance(value, int):
        return [signed(value)]
    place, found = 0, []
    while place < len(value):
        number, place = _read(value, place)
        found.append(signed(number))
    return found


# -- record files ----------------------------------------------------------------------------------


@functools.cache
def _table() -> list[int]:
    """Return the checksums of single bytes (CRC-32C)."""
    numbers = np.arange(256, dtype=np.uint32)
    for _ in range(8):
        numbers = np.where(numbers & 1, numbers >> 1 ^ np.uint32(0x82F63B78), numbers >> 1)
    return [int(n) for n in numbers]


_START = b"Td\x1fd"  # makes the sum 0xFFFFFFFF, with which a checksum begins
_LONG = 4096


def _sum(data: bytes) -> int:
    if len(data) > _LONG:
        return _sum_of_rows(data)
    table, crc = _table(), 0
    for byte in data:
        crc = table[(crc ^ byte) & 255] ^ crc >> 8
    return crc


def _sum_of_rows(data: bytes) -> int:
    """Return the sum of long data, of whose rows a column is added at a time.

    Zeros in front leave a sum of zero, so they fill the first row. Below the rows is each bit of a
    sum, followed by zeros: what a row makes of the sum before it.
    """
    table, width = np.array(_table(), np.uint32), math.isqrt(len(data))
    rows = np.zeros((len(data) // width + 33, width), np.uint8)
    rows[:-32].reshape(-1)[-len(data) :] = np.frombuffer(data, np.uint8)
    sums = np.zeros(len(rows), np.uint32)
    sums[-32:] = bits = np.uint32(1) << np.arange(32, dtype=np.uint32)
    for column in rows.T:
        sums = table[(sums ^ column) & 255] ^ sums >> 8
    crc = np.uint32(0)
    for own in sums[:-32]:
        crc = np.bitwise_xor.reduce(sums[-32:][crc & bits != 0]) ^ own
    return int(crc)


def _checksum(data: bytes) -> bytes:
    crc = _sum(_START + data) ^ 0xFFFFFFFF
    masked = ((crc >> 15 | crc << 17) + 0xA282EAD8) & 0xFFFFFFFF
    return struct.pack("<I", masked)


def framed(data: bytes) -> bytes:
    """Return a record as it stands in a file."""
    size = struct.pack("<Q", len(data))
    return size + _checksum(size) + data + _checksum(data)


def opened(path, mode: str, compression) -> Any:
    """Open a file of records."""
    kind = {0: "", 1: "ZLIB", 2: "GZIP"}.get(compression, compression) or ""
    if kind == "GZIP":
        return gzip.open(path, mode)
    if kind == "ZLIB":
        raise ValueError("compression_type is '' or 'GZIP' here")
    return open(path, mode)


def records(path, compression=None) -> Iterator[bytes]:
    """Yield the records of a file.

    Raises
    ------
    DataLossError: If a checksum does not match.
    NotFoundError: If the path leads nowhere.
    """
    try:
        file = opened(path, "rb", compression)
    except FileNotFoundError:
        raise errors.NotFoundError(None, None, f"{path}; No such file or directory") from None
    with file:
        try:
            while head := file.read(12):
                data = file.read(struct.unpack("<Q", head[:8])[0])
                if framed(data) != head + data + file.read(4):
                    raise struct.error
                yield data
        except (struct.error, OverflowError, gzip.BadGzipFile, EOFError, zlib.error):
            raise errors.DataLossError(None, None, f"corrupted record in {path!r}") from None


__all__ = defined(globals())
