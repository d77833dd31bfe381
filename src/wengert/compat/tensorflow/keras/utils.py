"""Layer 9 · compat: ``tf.keras.utils``: helpers for preparing data."""

from __future__ import annotations

import random
from collections.abc import Iterator
from typing import Any

import numpy as np

from wengert.compat.kit.namespaces import gathered
from wengert.compat.tensorflow.data import Dataset
from wengert.compat.tensorflow.functions.drawing import own_stream, set_seed, shared
from wengert.compat.tensorflow.functions.values import constant_of, numbers_of
from wengert.compat.tensorflow.words import public


class PyDataset:
    """Base class for batches that are computed one by one, which `fit` and `evaluate` take.

    A subclass defines ``__len__``, the number of batches, and ``__getitem__``, which returns batch
    number `index` as a tuple of inputs, targets and weights, of which the last may be missing. The
    batches are computed in the program itself, in order, whatever `workers` is.

    Examples
    --------
    >>> class Counted(tf.keras.utils.PyDataset):
    ...     num_batches = 3
    ...     def __getitem__(self, index):
    ...         return np.full((4, 1), index), np.zeros((4, 1))
    >>> [int(x[0, 0]) for x, y in Counted()]
    [0, 1, 2]
    """

    def __init__(self, workers=1, use_multiprocessing=False, max_queue_size=10) -> None:
        self.workers, self.max_queue_size = workers, max_queue_size
        self.use_multiprocessing = use_multiprocessing

    def __len__(self) -> int:
        return self.num_batches

    @property
    def num_batches(self) -> int:
        """The number of batches."""
        raise NotImplementedError("a PyDataset defines __len__() or num_batches")

    def __getitem__(self, index: int) -> Any:
        raise NotImplementedError("a PyDataset defines __getitem__()")

    def __iter__(self) -> Iterator[Any]:
        self.on_epoch_begin()
        for index in range(len(self)):
            yield self[index]
        self.on_epoch_end()

    def on_epoch_begin(self) -> None:
        """Prepare an epoch; does nothing by default."""

    def on_epoch_end(self) -> None:
        """Finish an epoch; does nothing by default."""


Sequence = PyDataset


def to_categorical(x, num_classes: int | None = None) -> Any:
    """Convert class indices to one-hot vectors.

    Parameters
    ----------
    x : array. The integer class indices.
    num_classes : int, optional. The number of classes; by default one more than the largest index.

    Returns
    -------
    ndarray: The vectors, along a new last dimension; a tensor for a tensor.

    Examples
    --------
    >>> print(tf.keras.utils.to_categorical([0, 2], 3))
    [[1. 0. 0.]
     [0. 0. 1.]]
    """
    numbers = np.asarray(numbers_of(x)).astype(np.int64)
    if numbers.ndim > 1 and numbers.shape[-1] == 1:
        numbers = numbers[..., 0]
    count = num_classes or int(numbers.max()) + 1
    result = np.zeros((numbers.size, count))
    result[np.arange(numbers.size), numbers.reshape(-1)] = 1
    result = result.reshape(*numbers.shape, count)
    return constant_of(result.astype(np.float32)) if hasattr(x, "_payload") else result


def normalize(x, axis=-1, order=2) -> Any:
    """Divide an array by its norms along a dimension.

    Examples
    --------
    >>> print(tf.keras.utils.normalize([[3.0, 4.0]]))
    [[0.6 0.8]]
    """
    array = np.asarray(x, np.float64) if isinstance(x, list | tuple) else numbers_of(x)
    length = np.linalg.norm(array, order, axis, keepdims=True)
    length[length == 0] = 1
    return array / length


def set_random_seed(seed: int) -> None:
    """Set the seeds of Python, NumPy and `tf.random`.

    Examples
    --------
    >>> tf.keras.utils.set_random_seed(1)
    """
    random.seed(seed)
    np.random.seed(seed)
    set_seed(seed)
    shared.cache_clear()


def pad_sequences(
    sequences, maxlen: int | None = None, dtype="int32", padding="pre", truncating="pre", value=0.0
) -> Any:
    """Pad lists of different lengths into the rows of an array.

    Parameters
    ----------
    sequences : list of lists. The lists.
    maxlen : int, optional. The length of the rows; by default that of the longest list.
    dtype : dtype. The dtype of the array.
    padding, truncating : {"pre", "post"}. The end at which rows are padded, and truncated.
    value : float. The value of the padding.

    Examples
    --------
    >>> print(tf.keras.utils.pad_sequences([[1, 2], [3]], maxlen=3))
    [[0 1 2]
     [0 0 3]]
    """
    size = max(map(len, sequences), default=0) if maxlen is None else maxlen
    rows = [row[-size:] if truncating == "pre" else row[:size] for row in sequences]
    inner = next((np.shape(row)[1:] for row in rows if len(row)), ())
    whole = np.full((len(rows), size, *inner), value, dtype)
    for place, row in zip(whole, rows, strict=True):
        if len(row):
            start = size - len(row) if padding == "pre" else 0
            place[start : start + len(row)] = row
    return whole


def split_dataset(dataset, left_size=None, right_size=None, shuffle=False, seed=None) -> Any:
    """Split a dataset in two: a fraction or a number of examples, and the rest.

    Examples
    --------
    >>> a, b = tf.keras.utils.split_dataset(tf.data.Dataset.range(10), left_size=0.8)
    >>> len(a), len(b)
    (8, 2)
    """
    whole = dataset if isinstance(dataset, Dataset) else Dataset.from_tensor_slices(dataset)
    elements = list(whole)
    if shuffle:
        elements = [elements[i] for i in own_stream(seed).permutation(len(elements))]
    sizes = [
        round(size * len(elements)) if isinstance(size, float) else size
        for size in (left_size, right_size)
    ]
    cut = sizes[0] if sizes[0] is not None else len(elements) - (sizes[1] or 0)
    end = len(elements) if sizes[1] is None else cut + sizes[1]
    parts = elements[:cut], elements[cut:end]
    return tuple(Dataset(part.__iter__, len(part)) for part in parts)


def timeseries_dataset_from_array(
    data,
    targets,
    sequence_length: int,
    sequence_stride=1,
    sampling_rate=1,
    batch_size: int | None = 128,
    shuffle=False,
    seed=None,
    start_index: int | None = None,
    end_index: int | None = None,
) -> Any:
    """Cut a long series into batches of sequences, with a target for each.

    Parameters
    ----------
    data, targets : array. The series, and a target for the sequence that begins at each index, or
        None.
    sequence_length, sequence_stride, sampling_rate : int. The number of steps of a sequence, the
        distance between the starts of sequences, and that between steps.
    batch_size : int, optional. The batch size; None yields single sequences.
    shuffle, seed : bool, int. Whether to shuffle the sequences, and the seed.
    start_index, end_index : int, optional. The part of the series to use.
    """
    first, last = start_index or 0, len(data) if end_index is None else end_index
    count = last - first - (sequence_length - 1) * sampling_rate
    if targets is not None:
        count = min(count, len(targets))
    starts = np.arange(0, count, sequence_stride) + first
    if shuffle:
        starts = own_stream(seed).permutation(starts)
    places = starts[:, None] + np.arange(sequence_length) * sampling_rate
    windows = np.asarray(data)[places]
    parts = windows if targets is None else (windows, np.asarray(targets)[starts])
    made = Dataset.from_tensor_slices(parts)
    return made if batch_size is None else made.batch(batch_size)


_ELSEWHERE = gathered(
    globals(),
    "wengert.compat.tensorflow",
    """
    configs: CustomObjectScope=custom_object_scope custom_object_scope deserialize_keras_object
        get_custom_objects get_registered_name get_registered_object register_keras_serializable
        serialize_keras_object
    keras.globals: clear_session
    keras.training: pack_x_y_sample_weight=packed unpack_x_y_sample_weight=unpacked
    """,
)


__all__ = public(globals(), " ".join(_ELSEWHERE))
