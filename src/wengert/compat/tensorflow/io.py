"""Layer 9 · compat: ``tf.io``: files, records, and strings that hold tensors or numbers.

>>> text = tf.io.serialize_tensor(tf.constant([1, 2]))
>>> print(tf.io.parse_tensor(text, tf.int32).numpy())
[1 2]
"""

from __future__ import annotations

import base64
import csv
import glob
import os
import shutil
from pathlib import Path
from types import SimpleNamespace
from typing import Any, NamedTuple

import numpy as np

from wengert.compat.tensorflow import errors
from wengert.compat.tensorflow.dtypes import as_dtype
from wengert.compat.tensorflow.eager import bytes_of, each, is_text, labels_of
from wengert.compat.tensorflow.elements import stacked
from wengert.compat.tensorflow.examples import Example
from wengert.compat.tensorflow.functions.values import constant_of, invalid, numbers_of
from wengert.compat.tensorflow.sparse import SparseTensor
from wengert.compat.tensorflow.wire import field, fields, framed, opened
from wengert.compat.tensorflow.words import public

# -- files -----------------------------------------------------------------------------------------


def _path(value) -> str:
    """Return a path that a string, a path or a tensor of strings gives."""
    return os.fspath(value) if hasattr(value, "__fspath__") else bytes_of(value)[()].decode()


def read_file(filename, name=None) -> Any:
    """Return the contents of a file.

    Raises
    ------
    NotFoundError: If the file is missing.
    """
    path = _path(filename)
    try:
        return labels_of(Path(path).read_bytes())
    except FileNotFoundError:
        message = f"{path}; No such file or directory [Op:ReadFile]"
        raise errors.NotFoundError(None, None, message) from None


def write_file(filename, contents, name=None) -> None:
    """Write a string to a file, in a folder that is made if needed."""
    path = Path(_path(filename))
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(bytes_of(contents)[()])


def matching_files(pattern, name=None) -> Any:
    """Return the files that match patterns, in alphabetical order."""
    given = [one.decode() for one in np.ravel(bytes_of(pattern))]
    patterns = [f"./{one}" if glob.has_magic(one) and "/" not in one else one for one in given]
    found = {path for one in patterns for path in glob.glob(one)}
    return labels_of(np.asarray([path.encode() for path in sorted(found)], object))


class _File:
    """``tf.io.gfile.GFile``: a file, opened by a path and a mode."""

    def __init__(self, name, mode="r") -> None:
        encoding = None if "b" in mode else "utf-8"
        self._file: Any = Path(_path(name)).open(mode, encoding=encoding)  # noqa: SIM115

    def __getattr__(self, name: str) -> Any:
        return getattr(self._file, name)

    def __enter__(self) -> _File:
        return self

    def __exit__(self, *exc) -> None:
        self._file.close()

    def __iter__(self) -> Any:
        return iter(self._file)

    def size(self) -> int:
        """Return the size in bytes."""
        return os.fstat(self._file.fileno()).st_size


def _onto(act: Any) -> Any:
    def put(src, dst, overwrite=False) -> None:
        """Copy or rename a file; an existing one is replaced on request."""
        if os.path.exists(dst) and not overwrite:
            raise errors.AlreadyExistsError(None, None, f"file already exists: {dst}")
        act(src, dst)

    return put


gfile = SimpleNamespace(
    GFile=_File,
    copy=_onto(shutil.copy),
    exists=lambda path: os.path.exists(_path(path)),
    glob=lambda pattern: [
        path for one in np.ravel(pattern).tolist() for path in sorted(glob.glob(one))
    ],
    isdir=lambda path: os.path.isdir(_path(path)),
    join=os.path.join,
    listdir=lambda path: os.listdir(_path(path)),
    makedirs=lambda path: os.makedirs(_path(path), exist_ok=True),
    mkdir=lambda path: os.mkdir(_path(path)),
    remove=lambda path: os.remove(_path(path)),
    rename=_onto(os.replace),
    rmtree=lambda path: shutil.rmtree(_path(path)),
    stat=lambda path: SimpleNamespace(
        length=os.stat(path).st_size, mtime_nsec=os.stat(path).st_mtime_ns
    ),
    walk=lambda top, topdown=True, onerror=None: os.walk(_path(top), topdown, onerror),
)
"""``tf.io.gfile``: Python's own functions of files, by TensorFlow's names."""


class TFRecordOptions:
    """The compression of a file of records: ``"GZIP"``, or None."""

    def __init__(self, compression_type=None, **kwargs) -> None:
        self.compression_type = compression_type


class TFRecordWriter:
    """Writes records to a file, which `tf.data.TFRecordDataset` reads.

    Examples
    --------
    >>> import tempfile
    >>> path = tempfile.mkdtemp() + "/a.tfrecord"
    >>> with tf.io.TFRecordWriter(path) as writer:
    ...     writer.write(b"one")
    >>> [record.numpy() for record in tf.data.TFRecordDataset(path)]
    [b'one']
    """

    def __init__(self, path, options=None) -> None:
        self._file = opened(_path(path), "wb", getattr(options, "compression_type", options))

    def write(self, record) -> None:
        """Write one record."""
        self._file.write(framed(bytes_of(record)[()]))

    def flush(self) -> None:
        """Write what is buffered."""
        self._file.flush()

    def close(self) -> None:
        """Close the file."""
        self._file.close()

    def __enter__(self) -> TFRecordWriter:
        return self

    def __exit__(self, *exc) -> None:
        self.close()


# -- strings ---------------------------------------------------------------------------------------


def serialize_tensor(tensor, name=None) -> Any:
    """Return a tensor as a string, in TensorFlow's format."""
    array = bytes_of(tensor) if is_text(tensor) else np.asarray(numbers_of(tensor))
    sizes = b"".join(field(2, field(1, int(n)) if n else b"") for n in array.shape)
    kind = as_dtype("string" if is_text(tensor) else array.dtype).as_datatype_enum
    parts = (
        b"".join(field(8, one) for one in array.ravel().tolist())
        if is_text(tensor)
        else field(4, array.astype(array.dtype.newbyteorder("<")).tobytes())
    )
    return labels_of(field(1, kind) + field(2, sizes) + parts)


def parse_tensor(serialized, out_type, name=None) -> Any:
    """Return the tensor that `serialize_tensor` wrote.

    Raises
    ------
    InvalidArgumentError: If it has another dtype.
    """
    read: dict[int, list[Any]] = {}
    for number, value in fields(bytes_of(serialized)[()]):
        read.setdefault(number, []).append(value)
    kind = as_dtype(out_type)
    if read[1] != [kind.as_datatype_enum]:
        raise invalid(f"Type mismatch between parsed tensor and dtype ({kind.name})", "ParseTensor")
    sizes = [dict(fields(one)).get(1, 0) for _, one in fields(b"".join(read.get(2, [])))]
    if kind.name == "string":
        return labels_of(np.asarray([*read.get(8, []), None], object)[:-1].reshape(sizes))
    array = np.frombuffer(b"".join(read.get(4, [])), kind.as_numpy_dtype)
    return constant_of(array.reshape(sizes))


def encode_base64(input, pad=False, name=None) -> Any:
    """Encode strings by the alphabet of URLs.

    Examples
    --------
    >>> tf.io.encode_base64("abcd").numpy()
    b'YWJjZA'
    """

    def encoded(text: bytes) -> bytes:
        found = base64.urlsafe_b64encode(text)
        return found if pad else found.rstrip(b"=")

    return each(encoded, input)


def decode_base64(input, name=None) -> Any:
    """Decode what `encode_base64` has encoded."""
    return each(lambda text: base64.urlsafe_b64decode(text + b"=" * (-len(text) % 4)), input)


def decode_raw(input_bytes, out_type, little_endian=True, fixed_length=None, name=None) -> Any:
    """Return the numbers whose bytes are in strings of one length.

    Examples
    --------
    >>> print(tf.io.decode_raw("ab", tf.uint8).numpy())
    [97 98]
    """
    strings = bytes_of(input_bytes)
    kind = np.dtype(as_dtype(out_type).as_numpy_dtype)
    rows = [
        np.frombuffer(s, kind.newbyteorder("<" if little_endian else ">")) for s in strings.ravel()
    ]
    return constant_of(np.asarray(rows).astype(kind).reshape(*strings.shape, -1))


def decode_csv(
    records, record_defaults, field_delim=",", use_quote_delim=True, na_value="", select_cols=None,
    name=None,
) -> Any:  # fmt: skip
    """Return the columns of lines of text.

    Parameters
    ----------
    records : Tensor. The lines.
    record_defaults : list. For each column a default, or an empty tensor of its dtype.
    field_delim, na_value : str. The text between fields, and that of a missing one.
    select_cols : list of int, optional. The columns to return.

    Raises
    ------
    InvalidArgumentError: If a line has another number of fields, or a field has no value.

    Examples
    --------
    >>> n, text = tf.io.decode_csv(["1,a", ",b"], [7, ""])
    >>> print(n.numpy(), text.numpy())
    [1 7] [b'a' b'b']
    """
    lines = bytes_of(records)
    quoting: Any = csv.QUOTE_MINIMAL if use_quote_delim else csv.QUOTE_NONE
    given = [line.decode() for line in lines.ravel()]
    rows = list(csv.reader(given, delimiter=field_delim, quoting=quoting))
    if select_cols is not None:
        rows = [[row[i] for i in select_cols] for row in rows]
    columns = []
    for place, default in enumerate(record_defaults):
        text = is_text(default) or getattr(default, "dtype", None) == "string"
        start = bytes_of(default).ravel() if text else np.ravel(numbers_of(default))
        found = []
        for number, row in enumerate(rows):
            if len(row) != len(record_defaults):
                raise invalid(
                    f"Expect {len(record_defaults)} fields but have {len(row)} in record {number}",
                    "DecodeCSV",
                )
            if row[place] != na_value:
                found.append(row[place].encode() if text else start.dtype.type(row[place]))
            elif start.size:
                found.append(start[0])
            else:
                raise invalid(
                    f"Field {place} is required but missing in record {number}!", "DecodeCSV"
                )
        array = np.asarray(found, object if text else start.dtype).reshape(lines.shape)
        columns.append(labels_of(array) if text else constant_of(array))
    return columns


# -- examples --------------------------------------------------------------------------------------


class FixedLenFeature(NamedTuple):
    """A feature with values for one shape, or else a default."""

    shape: Any
    dtype: Any
    default_value: Any = None


class VarLenFeature(NamedTuple):
    """A feature with any number of values, which become a sparse tensor."""

    dtype: Any


_LISTS = {"float32": "float_list", "int64": "int64_list", "string": "bytes_list"}


def _feature(example: Example, key: str, spec) -> Any:
    """Return the values of one feature, in one dimension."""
    kind = as_dtype(spec.dtype).name
    feature = example.features.feature.get(key)
    which = None if feature is None else feature.WhichOneof("kind")
    if which not in (None, _LISTS[kind]):
        raise invalid(f"Key: {key}.  Data types don't match. Expected type: {kind}", "ParseExample")
    if which is not None:
        array = np.asarray(getattr(feature, which).value, object if kind == "string" else kind)
    elif isinstance(spec, VarLenFeature):
        array = np.zeros(0, object if kind == "string" else kind)
    elif spec.default_value is None:
        raise invalid(f"Feature: {key} (data type: {kind}) is required but could not be found.")
    else:
        default = spec.default_value
        array = bytes_of(default) if kind == "string" else np.asarray(numbers_of(default), kind)
    if isinstance(spec, FixedLenFeature):
        sizes = tuple(int(n) for n in np.ravel(spec.shape))
        if array.size != np.prod(sizes, dtype=int) and which is not None:
            raise invalid(
                f"Key: {key}.  Number of {kind} values != expected.  Values size: {array.size} but "
                f"output shape: {list(sizes)}",
                "ParseExample",
            )
        array = np.broadcast_to(array, sizes) if which is None else array.reshape(sizes)
    return labels_of(array) if kind == "string" else constant_of(array)


def parse_single_example(serialized, features, example_names=None, name=None) -> dict[str, Any]:
    """Return the features of an example, by name.

    Parameters
    ----------
    serialized : str or Tensor. The string of a `tf.train.Example`.
    features : dict. For each name a `FixedLenFeature` or a `VarLenFeature`.

    Raises
    ------
    InvalidArgumentError: If a feature is missing, or has another dtype or shape.
    """
    example = Example.FromString(bytes_of(serialized)[()])
    found = {key: _feature(example, key, spec) for key, spec in features.items()}
    for key, spec in features.items():
        if isinstance(spec, VarLenFeature):
            count = found[key].shape[0]
            places = np.arange(count, dtype=np.int64)[:, None]
            found[key] = SparseTensor(places, found[key], [count])
    return found


def parse_example(serialized, features, example_names=None, name=None) -> dict[str, Any]:
    """Return the features of several examples, by name; see `parse_single_example`."""
    strings = np.ravel(bytes_of(serialized)).tolist()
    rows = [
        {key: _feature(Example.FromString(one), key, spec) for key, spec in features.items()}
        for one in strings
    ]
    found: dict[str, Any] = {}
    for key, spec in features.items():
        column = [row[key] for row in rows]
        if isinstance(spec, FixedLenFeature):
            found[key] = stacked(column)
            continue
        sizes = [part.shape[0] for part in column]
        places = [(i, j) for i, size in enumerate(sizes) for j in range(size)]
        values = np.concatenate([np.asarray(part.numpy()) for part in column])
        wide = [len(sizes), max(sizes, default=0)]
        found[key] = SparseTensor(np.asarray(places, np.int64).reshape(-1, 2), values, wide)
    return found


__all__ = public(globals(), "gfile")
