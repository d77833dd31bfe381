"""Layer 8 · nn: batches of sequences of different lengths, padded and packed."""

# the functions and arguments have PyTorch's names

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple, Self

import numpy as np

from wengert.base.dtypes import from_numpy_dtype
from wengert.base.names import defined, shows
from wengert.ops.coerce import operands
from wengert.ops.create import as_tensor
from wengert.ops.gather import index_select
from wengert.ops.join import stack
from wengert.ops.options import placed
from wengert.ops.padding import constant_pad_nd
from wengert.ops.permute import transpose
from wengert.ops.sorting import argsort
from wengert.tape.base import new_tensor
from wengert.tape.record import T
from wengert.types import Tensor


class _Packed(NamedTuple):
    data: Tensor
    batch_sizes: Tensor
    sorted_indices: Tensor | None
    unsorted_indices: Tensor | None


class PackedSequence(_Packed):
    """A batch of sequences of different lengths, without padding.

    `pack_padded_sequence` and `pack_sequence` make them; RNN, LSTM and GRU take and return them.

    Attributes
    ----------
    data : Tensor. The elements of all sequences: those of step 0, then those of step 1, and so on.
    batch_sizes : Tensor. The number of sequences that reach each step; never increasing.
    sorted_indices : Tensor or None. The permutation that sorted the sequences, if they were
        sorted.
    unsorted_indices : Tensor or None. The inverse permutation.

    Examples
    --------
    >>> packed = wg.nn.utils.rnn.pack_sequence([wg.tensor([1, 2, 3]), wg.tensor([10, 20])])
    >>> packed.data, packed.batch_sizes
    (tensor([ 1, 10,  2, 20,  3]), tensor([2, 2, 1]))
    """

    __slots__ = ()

    def __new__(
        cls,
        data: Any,
        batch_sizes: Any = None,
        sorted_indices: Any = None,
        unsorted_indices: Any = None,
    ) -> Self:
        """Make a packed batch from its parts; data and batch sizes may be given as a pair."""
        if batch_sizes is None:
            if not isinstance(data, list | tuple) or len(data) != 2:
                raise AssertionError(
                    "Expected data to be a list or tuple of length 2, since no batch_sizes are "
                    f"given, but got {type(data).__name__}"
                )
            data, batch_sizes = data
        if unsorted_indices is None:
            unsorted_indices = invert_permutation(sorted_indices)
        return super().__new__(cls, data, batch_sizes, sorted_indices, unsorted_indices)

    def to(self, *args: Any, **kwargs: Any) -> Self:
        """Return the sequences in another dtype or on another device (see `Tensor.to`)."""
        data = self.data.to(*args, **kwargs)
        if data is self.data:
            return self
        return type(self)(data, self.batch_sizes, self.sorted_indices, self.unsorted_indices)

    def cpu(self) -> Self:
        """Return the sequences themselves."""
        return self

    def double(self) -> Self:
        """Return the sequences as float64."""
        return self._as(np.float64)

    def float(self) -> Self:
        """Return the sequences as float32."""
        return self._as(np.float32)

    def half(self) -> Self:
        """Return the sequences as float16."""
        return self._as(np.float16)

    def long(self) -> Self:
        """Return the sequences as int64."""
        return self._as(np.int64)

    def int(self) -> Self:
        """Return the sequences as int32."""
        return self._as(np.int32)

    def short(self) -> Self:
        """Return the sequences as int16."""
        return self._as(np.int16)

    def char(self) -> Self:
        """Return the sequences as int8."""
        return self._as(np.int8)

    def byte(self) -> Self:
        """Return the sequences as uint8."""
        return self._as(np.uint8)

    def _as(self, dtype: Any) -> Self:
        return self.to(dtype=from_numpy_dtype(np.dtype(dtype)))

    @property
    def is_cuda(self) -> bool:
        """Whether the sequences are on a GPU: never."""
        return False

    def is_pinned(self) -> bool:
        """Return whether the sequences are in pinned memory: never."""
        return False


def invert_permutation(permutation: Any) -> Any:
    """Return the inverse of a permutation.

    Parameters
    ----------
    permutation : Tensor or None. A permutation of the integers from 0 on.

    Returns
    -------
    Tensor or None: The inverse; None for None.

    Examples
    --------
    >>> wg.nn.utils.rnn.invert_permutation(wg.tensor([2, 0, 1]))
    tensor([1, 2, 0])
    """
    if permutation is None:
        return None
    return argsort(permutation)


def _lengths(lengths: Any) -> Any:
    """Return the lengths of sequences as an array of integers."""
    array = as_tensor(lengths).detach().numpy()
    if array.ndim != 1:
        raise RuntimeError(
            "'lengths' argument should be a 1D CPU int64 tensor, but got "
            f"{array.ndim}D cpu {array.dtype} tensor"
        )
    return array.astype(np.int64)


def _places(lengths: Any, batch: int) -> tuple[Any, Any]:
    """Return the batch size of each step, and the positions of the elements in (step, batch)."""
    lasts = np.arange(lengths.max())[:, None] < lengths
    step, sequence = np.nonzero(lasts)
    return lasts.sum(1), step * batch + sequence


def pack_padded_sequence(
    input: Tensor,
    lengths: Tensor | Sequence[int],
    batch_first: bool = False,
    enforce_sorted: bool = True,
) -> PackedSequence:
    """Pack a batch of padded sequences.

    Parameters
    ----------
    input : Tensor. Of shape (steps, batch, ...), or (batch, steps, ...) with `batch_first`.
    lengths : Tensor or list of int. The length of each sequence, at least 1.
    batch_first : bool. Whether the batch is the first dimension.
    enforce_sorted : bool. Whether the sequences must come in order of decreasing length. If not,
        they are sorted, and the permutation is kept.

    Returns
    -------
    PackedSequence: The elements within the lengths. Differentiable with respect to `input`.

    Raises
    ------
    RuntimeError: If the lengths do not fit the batch, are not positive, or are not sorted but
        must be.

    Examples
    --------
    >>> x = wg.tensor([[1, 2, 0], [3, 4, 5]])
    >>> wg.nn.utils.rnn.pack_padded_sequence(x, [2, 3], True, enforce_sorted=False).data
    tensor([3, 1, 4, 2, 5])
    """
    if not input.numel():
        raise RuntimeError("Cannot pack empty tensors.")
    sizes = _lengths(lengths)
    order: Any = None
    batch_dim = 0 if batch_first else 1
    if not enforce_sorted:
        places = np.argsort(-sizes, kind="stable")
        sizes, order = sizes[places], placed(input, places)
        input = index_select(input, batch_dim, order)
    if input.ndim < 2:
        raise IndexError(
            "Dimension out of range (expected to be in range of [-1, 0], but got 1): sequences of "
            "numbers are packed as a tensor of shape (steps, batch)"
        )
    x: Any = transpose(input, 0, 1) if batch_first else input
    steps, batch = x._payload.shape[:2]
    if len(sizes) != batch:
        raise RuntimeError(
            f"Expected `len(lengths)` to be equal to batch_size, but got {len(sizes)} "
            f"(batch_size={batch})"
        )
    if sizes.min() <= 0:
        raise RuntimeError(
            "Length of all samples has to be greater than 0, but found an element in 'lengths' "
            "that is <= 0"
        )
    if (np.diff(sizes) > 0).any():
        raise RuntimeError(
            "`lengths` array must be sorted in decreasing order when `enforce_sorted` is True. "
            "You can pass `enforce_sorted=False` to pack_padded_sequence and pack_sequence"
        )
    if sizes[0] > steps:
        raise RuntimeError(
            f"Expected no length above the number of steps of the input, {steps}, but got "
            f"{sizes[0]}"
        )
    batch_sizes, places = _places(sizes, batch)
    rows = x.reshape((steps * batch, *x._payload.shape[2:]))
    data = rows if len(places) == steps * batch else index_select(rows, 0, placed(rows, places))
    return PackedSequence(data, new_tensor(batch_sizes), order)


def pad_packed_sequence(
    sequence: PackedSequence,
    batch_first: bool = False,
    padding_value: float = 0.0,
    total_length: int | None = None,
) -> tuple[Tensor, Tensor]:
    """Pad packed sequences: the inverse of `pack_padded_sequence`.

    Parameters
    ----------
    sequence : PackedSequence. The sequences.
    batch_first : bool. Whether the batch becomes the first dimension, rather than the second.
    padding_value : float. The value after the end of a sequence.
    total_length : int, optional. The number of steps; default: the length of the longest sequence.

    Returns
    -------
    tuple of Tensor: The padded sequences in their original order, and their lengths.
        Differentiable.

    Raises
    ------
    ValueError: If `total_length` is less than the length of a sequence.

    Examples
    --------
    >>> packed = wg.nn.utils.rnn.pack_sequence([wg.tensor([1.0, 2.0]), wg.tensor([3.0])])
    >>> wg.nn.utils.rnn.pad_packed_sequence(packed, padding_value=-1.0)
    (tensor([[ 1.,  3.],
            [ 2., -1.]]), tensor([2, 1]))
    """
    given: Any = sequence
    batch_sizes = given.batch_sizes._payload
    longest, batch = len(batch_sizes), int(batch_sizes[0])
    steps = longest if total_length is None else total_length
    if steps < longest:
        raise ValueError(
            "Expected total_length to be at least the length of the longest sequence in input, but "
            f"got total_length={total_length} and max sequence length being {longest}"
        )
    lengths = (batch_sizes[:, None] > np.arange(batch)).sum(0)
    _, places = _places(lengths, batch)
    rows, more = given.data, given.data._payload.shape[1:]
    if len(places) < steps * batch:
        # each position indexes its row, or the row of padding after the last
        shown = np.full(steps * batch, len(places))
        shown[places] = np.arange(len(places))
        padding = np.full((1, *more), padding_value, rows._payload.dtype)
        rows = index_select(T.cat(rows, placed(rows, padding), dim=0), 0, placed(rows, shown))
    padded = rows.reshape((steps, batch, *more))
    if batch_first:
        padded = transpose(padded, 0, 1)
    if sequence.unsorted_indices is not None:
        padded = index_select(padded, 0 if batch_first else 1, sequence.unsorted_indices)
        lengths = lengths[given.unsorted_indices.tolist()]
    return padded, new_tensor(lengths)


def pad_sequence(
    sequences: Tensor | Sequence[Tensor],
    batch_first: bool = False,
    padding_value: float = 0.0,
    padding_side: str = "right",
) -> Tensor:
    """Stack sequences of different lengths, padded to the longest.

    Parameters
    ----------
    sequences : list of Tensor. Of shapes (steps, ...), equal except in the first dimension.
    batch_first : bool. Whether the batch becomes the first dimension, rather than the second.
    padding_value : float. The value of the padding.
    padding_side : str. The side to pad, ``"right"`` or ``"left"``.

    Returns
    -------
    Tensor: Of shape (steps, batch, ...), or (batch, steps, ...) with `batch_first`. Differentiable.

    Raises
    ------
    RuntimeError: If there are no sequences, or they do not fit together.

    Examples
    --------
    >>> wg.nn.utils.rnn.pad_sequence([wg.tensor([1, 2]), wg.tensor([3])], batch_first=True)
    tensor([[1, 2],
            [3, 0]])
    """
    if not isinstance(sequences, Iterable):
        raise RuntimeError(
            "pad_sequence: Expected iterable for input sequences, but got arg of type: "
            f"{type(sequences)}"
        )
    if padding_side not in ("left", "right"):
        raise RuntimeError(
            f"Expected padding_side to be one of left or right, but got {padding_side}."
        )
    items = operands(list(sequences), "pad_sequence")
    if not items:
        raise RuntimeError("received an empty list of sequences")
    if not all(item.ndim for item in items):
        raise RuntimeError("pad_sequence takes sequences of shape (steps, ...), not single numbers")
    first = items[0]._payload
    steps = max(item._payload.shape[0] for item in items)
    padded = []
    for item in items:
        shape = item._payload.shape
        for d, (m, n) in enumerate(zip(first.shape[1:], shape[1:], strict=False), 1):
            if m != n:
                raise RuntimeError(
                    f"The size of tensor a ({m}) must match the size of tensor b ({n}) at "
                    f"non-singleton dimension {d}"
                )
        beside = [0, steps - shape[0]] if padding_side == "right" else [steps - shape[0], 0]
        value = padding_value if first.dtype.kind in "fc" else int(padding_value)
        item = item.to(items[0].dtype)
        widths = [0] * (2 * len(shape) - 2) + beside
        padded.append(constant_pad_nd(item, widths, value) if any(beside) else item)
    return stack(padded, 0 if batch_first else 1)


def unpad_sequence(
    padded_sequences: Tensor, lengths: Tensor, batch_first: bool = False
) -> list[Tensor]:
    """Split padded sequences: the inverse of `pad_sequence`.

    Parameters
    ----------
    padded_sequences : Tensor. Of shape (steps, batch, ...), or (batch, steps, ...) with
        `batch_first`.
    lengths : Tensor. The length of each sequence.
    batch_first : bool. Whether the batch is the first dimension.

    Returns
    -------
    list of Tensor: Copies of the sequences without padding; differentiable.

    Raises
    ------
    ValueError: If there are not as many lengths as sequences.

    Examples
    --------
    >>> padded = wg.tensor([[1, 2], [3, 0]])
    >>> wg.nn.utils.rnn.unpad_sequence(padded, wg.tensor([2, 1]), batch_first=True)
    [tensor([1, 2]), tensor([3])]
    """
    sizes = _lengths(lengths)
    x: Any = padded_sequences if batch_first else transpose(padded_sequences, 0, 1)
    if len(sizes) != x._payload.shape[0]:
        raise ValueError(
            f"unpad_sequence() got {len(sizes)} lengths for {x._payload.shape[0]} sequences"
        )
    return [row[: max(int(n), 0)].clone() for row, n in zip(x, sizes, strict=True)]


def pack_sequence(sequences: Sequence[Tensor], enforce_sorted: bool = True) -> PackedSequence:
    """Pack sequences of different lengths.

    Parameters
    ----------
    sequences : list of Tensor. Of shapes (steps, ...), equal except in the first dimension.
    enforce_sorted : bool. Whether the sequences must come in order of decreasing length.

    Returns
    -------
    PackedSequence: The sequences; differentiable.

    Raises
    ------
    RuntimeError: If there are no sequences, or they do not fit together, or are not sorted but
        must be.

    Examples
    --------
    >>> wg.nn.utils.rnn.pack_sequence([wg.tensor([1, 2]), wg.tensor([3])]).data
    tensor([1, 3, 2])
    """
    padded = pad_sequence(sequences)
    return pack_padded_sequence(
        padded, [item.shape[0] for item in sequences], enforce_sorted=enforce_sorted
    )


def unpack_sequence(packed_sequences: PackedSequence) -> list[Tensor]:
    """Unpack packed sequences: the inverse of `pack_sequence`.

    Parameters
    ----------
    packed_sequences : PackedSequence. The sequences.

    Returns
    -------
    list of Tensor: The sequences in their original order; differentiable.

    Examples
    --------
    >>> rnn = wg.nn.utils.rnn
    >>> rnn.unpack_sequence(rnn.pack_sequence([wg.tensor([1, 2]), wg.tensor([3])]))
    [tensor([1, 2]), tensor([3])]
    """
    return unpad_sequence(*pad_packed_sequence(packed_sequences, True), batch_first=True)


__all__ = defined(globals())
__dir__ = shows(__all__)
