"""Layer 9 · compat: datasets of the lines and the records of files."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from wengert.compat.tensorflow.datasets import Dataset
from wengert.compat.tensorflow.eager import bytes_of, labels_of
from wengert.compat.tensorflow.wire import records
from wengert.compat.tensorflow.words import public


class TextLineDataset(Dataset):
    """A dataset of the lines of text files, as strings.

    Parameters
    ----------
    filenames : str, path, or list of them. The files, in order.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> path = pathlib.Path(tempfile.mkdtemp(), "a.txt")
    >>> _ = path.write_text("one\\ntwo\\n")
    >>> [line.numpy() for line in tf.data.TextLineDataset(path)]
    [b'one', b'two']
    """

    def __init__(self, filenames, *args, name=None) -> None:
        paths = _paths(filenames)

        def begin() -> Iterator[Any]:
            for path in paths:
                with open(path, "rb") as file:
                    for line in file:
                        yield labels_of(line.rstrip(b"\n").rstrip(b"\r"))

        super().__init__(begin)


class TFRecordDataset(Dataset):
    """A dataset of the records of files, which `tf.io.TFRecordWriter` writes, as strings.

    Parameters
    ----------
    filenames : str, path, or list of them. The files of records, in order.
    compression_type : {"", "GZIP"}, optional. The compression of the files.
    """

    def __init__(self, filenames, compression_type=None, *args, name=None, **kwargs) -> None:
        paths = _paths(filenames)
        super().__init__(
            lambda: (labels_of(r) for path in paths for r in records(path, compression_type))
        )


def _paths(filenames) -> list[Any]:
    """Return the paths that strings, paths or tensors of strings give."""
    given = filenames if isinstance(filenames, list | tuple) else [filenames]
    return [
        path
        for one in given
        for path in ([one] if hasattr(one, "__fspath__") else np.ravel(bytes_of(one)).tolist())
    ]


__all__ = public(globals())
