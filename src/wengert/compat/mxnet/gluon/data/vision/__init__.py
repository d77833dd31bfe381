"""Layer 9 · compat: ``gluon.data.vision``: datasets of images on disk."""

from __future__ import annotations

import gzip
from pathlib import Path
from typing import Any

import numpy as np

from wengert.compat.mxnet.base import public, refusal
from wengert.compat.mxnet.gluon.data import ArrayDataset
from wengert.compat.mxnet.gluon.data.vision import transforms as transforms
from wengert.compat.mxnet.numpy.creation import made
from wengert.compat.mxnet.results import CLASSES
from wengert.compat.mxnet.state import NUMPY


def _read(path: Path) -> Any:
    """Read an array from a file in the IDX format."""
    for file in (path.with_name(f"{path.name}.gz"), path):
        if file.exists():
            data = gzip.decompress(file.read_bytes()) if file.suffix == ".gz" else file.read_bytes()
            rank = data[3]
            shape = [int.from_bytes(data[4 + 4 * i : 8 + 4 * i], "big") for i in range(rank)]
            return np.frombuffer(data, np.uint8, offset=4 + 4 * rank).reshape(shape)
    raise refusal(FileNotFoundError, "{}.gz is not", path)


class MNIST(ArrayDataset):
    """Images of digits, of shape (28, 28, 1), and their labels, from files in a folder.

    Parameters
    ----------
    root : str or path. The folder with ``train-images-idx3-ubyte.gz`` and the three others.
    train : bool. Whether to load the training images instead of the test images.
    transform : callable, optional. A function of an image and its label.

    Raises
    ------
    FileNotFoundError: If a file is missing.
    """

    _folder = "mnist"

    def __init__(self, root=None, train=True, transform=None) -> None:
        home = Path("~/.mxnet/datasets", self._folder) if root is None else Path(root)
        part = "train" if train else "t10k"
        images = _read(home.expanduser() / f"{part}-images-idx3-ubyte")
        labels = _read(home.expanduser() / f"{part}-labels-idx1-ubyte").astype(np.int32)
        pictures = made(images[..., None].copy(), CLASSES["np" if NUMPY.get()[1] else "nd"])
        super().__init__(pictures, labels)
        self._transform = transform

    def __getitem__(self, idx) -> Any:
        example = super().__getitem__(idx)
        return example if self._transform is None else self._transform(*example)


class FashionMNIST(MNIST):
    """Images of clothes, from files in the format of `MNIST`."""

    _folder = "fashion-mnist"


__all__ = public(globals(), "transforms")
