"""Layer 9 · datasets: handwritten digits, 1,797 images of 8 by 8 pixels.

The images come from the UCI repository; `ATTRIBUTION.txt`, beside this file, gives source and
licence.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

__all__ = ["Digits", "digits"]

_FILE = Path(__file__).parent / "digits.npz"
_BRIGHTEST = 16
_FOLDS = 5


class Digits(NamedTuple):
    """The digits, divided into training images and test images.

    Attributes
    ----------
    train_images, test_images: Float32 arrays of shape (1442, 64) and (355, 64); pixels lie between
        0 and 1, row by row.
    train_labels, test_labels: The digits that the images show: int64 arrays of shape (1442,) and
        (355,).
    """

    train_images: Any
    train_labels: Any
    test_images: Any
    test_labels: Any


def digits() -> Digits:
    """Load the handwritten digits.

    Every fifth image of each digit is for testing, so the split is the same on every machine and
    balanced over the digits.

    Returns
    -------
    Digits: Four NumPy arrays: training images and labels, test images and labels.

    Examples
    --------
    >>> from wengert.datasets import digits
    >>> data = digits()
    >>> data.train_images.shape, data.test_images.shape
    ((1442, 64), (355, 64))
    >>> data.train_images.dtype, data.train_labels.dtype
    (dtype('float32'), dtype('int64'))
    """
    with np.load(_FILE) as file:
        images, labels = file["images"], file["labels"].astype(np.int64)
    pixels = images.reshape(len(images), -1).astype(np.float32) / _BRIGHTEST
    tested = np.zeros(len(labels), dtype=bool)
    for digit in range(10):
        tested[np.flatnonzero(labels == digit)[_FOLDS - 1 :: _FOLDS]] = True
    return Digits(pixels[~tested], labels[~tested], pixels[tested], labels[tested])
