"""Layer 5 · ops · sorting: positions in sorted sequences, membership, nonzero positions."""

# the arguments have PyTorch's names

from __future__ import annotations

from typing import Any

import numpy as np

from wengert.base.dtypes import from_numpy_dtype, promote
from wengert.base.errors import long_name, not_implemented
from wengert.base.export import export
from wengert.kernels.reduce import are_within
from wengert.ops.checks import flag
from wengert.ops.coerce import dtype_name, integer, operand
from wengert.ops.out import into
from wengert.prims import search as search
from wengert.tape.base import new_tensor
from wengert.tape.detachments import note
from wengert.tape.operands import cast, held, is_number
from wengert.tape.record import T

_INT32, _INT64 = np.dtype(np.int32), np.dtype(np.int64)


@export("wengert")
def searchsorted(
    sorted_sequence: Any,
    input: Any,
    *,
    out_int32: bool = False,
    right: bool = False,
    side: str | None = None,
    sorter: Any = None,
    out: Any = None,
) -> Any:
    """Return the positions at which to insert values into sorted sequences to keep them sorted.

    Parameters
    ----------
    sorted_sequence : Tensor. One sequence, of one dimension; or several along the last dimension,
        whose other dimensions are those of `input`.
    input : Tensor or number. The values. A NaN goes to the end.
    out_int32 : bool. Whether to return int32.
    right : bool. Whether to insert behind equal elements, not before them.
    side : {"left", "right"}, optional. The same, in NumPy's way.
    sorter : Tensor, optional. Of int64: positions that sort `sorted_sequence`, which is not sorted
        then.

    Returns
    -------
    Tensor: Of int64, or int32, and of the shape of `input`; without a derivative.

    Raises
    ------
    RuntimeError: If the shapes do not fit, or `side` contradicts `right`.

    Examples
    --------
    >>> edges = wg.tensor([1.0, 3.0, 5.0])
    >>> wg.searchsorted(edges, wg.tensor([0.5, 3.0, 9.0]))
    tensor([0, 1, 3])
    >>> wg.searchsorted(edges, 3.0, side="right")
    tensor(2)
    """
    rows = operand(sorted_sequence, "searchsorted", "sorted_sequence")
    values = _values(input, rows, "searchsorted", "input")
    _check_sequences(rows._payload, values._payload)
    if side not in (None, "left", "right"):
        raise RuntimeError(
            f"torch.searchsorted(): side can only be 'left' or 'right' but got {side}"
        )
    if side == "left" and right:
        raise RuntimeError(
            "torch.searchsorted(): side and right can't be set to opposites, got side of left "
            "while right was True"
        )
    if sorter is not None:
        order = operand(sorter, "searchsorted", "sorter")
        _check_sorter(rows._payload, order._payload)
        rows = T.gather(rows, order, dim=rows._payload.ndim - 1)
    return _inserted(
        "searchsorted", rows, values, flag(right, "right") or side == "right", out_int32, out
    )


def _values(value: Any, rows: Any, op: str, arg: str) -> Any:
    """Return the values to search for; a number gets the dtype promoted with the sequence."""
    if is_number(value):
        kind = promote([rows._payload], [value])
        return new_tensor(np.asarray(held(value, kind), kind))
    return operand(value, op, arg, 2)


def _check_sequences(rows: Any, values: Any) -> None:
    if not rows.ndim:
        raise RuntimeError(
            "torch.searchsorted(): boundaries tensor should have positive dimension, but got 0 "
            "dimension"
        )
    if not values.ndim and rows.ndim != 1:
        raise RuntimeError(
            "torch.searchsorted(): input value can be a scalar only when boundaries tensor "
            f"dimension is 1, but we got boundaries tensor dim({rows.ndim}) and input value's "
            "dim(0) numel(1)"
        )
    if rows.ndim != 1 and rows.shape[:-1] != values.shape[:-1]:
        raise RuntimeError(
            "torch.searchsorted(): boundaries tensor should be 1 dimension or the first N-1 "
            "dimensions of boundaries tensor and input value tensor must match, but we got "
            f"boundaries tensor {list(rows.shape)} and input value tensor {list(values.shape)}"
        )


def _check_sorter(rows: Any, order: Any) -> None:
    if order.shape != rows.shape:
        raise RuntimeError(
            "torch.searchsorted(): boundary and sorter must have the same size, but got boundary "
            f"tensor {list(rows.shape)} and got sorter tensor {list(order.shape)}"
        )
    if order.dtype != _INT64:
        raise RuntimeError(
            "torch.searchsorted(): sorter must be a tensor of long dtype but got dtype "
            f"{dtype_name(order)}"
        )
    if not are_within(order, rows.shape[-1]):
        raise RuntimeError(
            "torch.searchsorted(): sorter index out of range: its elements must be positions from "
            f"0 to {rows.shape[-1] - 1}"
        )


def _inserted(name: str, rows: Any, values: Any, right: bool, out_int32: bool, out: Any) -> Any:
    for tensor in (rows, values):
        if tensor._payload.dtype.kind in "bc":
            raise not_implemented(
                f"{name}_out_cpu", tensor._payload.dtype, "it has no order to search in"
            )
        if tensor._edge is not None:
            note(f"{name}()", tensor)
    kind = _INT32 if flag(out_int32, "out_int32") else _INT64
    if out is not None and out._payload.dtype != kind:
        raise RuntimeError(
            f"torch.{name}(): output tensor's dtype is wrong, it can only be Int(int32) or "
            "Long(int64) depending on whether out_int32 flag is True, but we got output tensor's "
            f"dtype {dtype_name(out._payload)} and out_int32 flag is {bool(out_int32)}"
        )
    return into(out, cast(T.searchsorted(rows, values, right=right), kind), name)


@export("wengert")
def bucketize(
    input: Any, boundaries: Any, *, out_int32: bool = False, right: bool = False, out: Any = None
) -> Any:
    """Return the number of the bucket that each value is in, between sorted boundaries.

    Bucket ``i`` holds the values above ``boundaries[i - 1]`` and up to ``boundaries[i]``; with
    `right`, those from ``boundaries[i - 1]`` on and below ``boundaries[i]``.

    Parameters
    ----------
    input : Tensor or number. The values. A NaN is in the last bucket.
    boundaries : Tensor. The boundaries, of one dimension and sorted.
    out_int32 : bool. Whether to return int32.
    right : bool. Whether a boundary belongs to the bucket above it.

    Returns
    -------
    Tensor: Of int64, or int32, and of the shape of `input`; without a derivative.

    Raises
    ------
    RuntimeError: If the boundaries are not one-dimensional.

    Examples
    --------
    >>> wg.bucketize(wg.tensor([0.5, 1.0, 4.0]), wg.tensor([1.0, 2.0, 3.0]))
    tensor([0, 0, 3])
    """
    rows = operand(boundaries, "bucketize", "boundaries", 2)
    values = _values(input, rows, "bucketize", "input")
    if rows._payload.ndim != 1:
        raise RuntimeError(
            f"boundaries tensor must be 1 dimension, but got dim({rows._payload.ndim})"
        )
    return _inserted("bucketize", rows, values, flag(right, "right"), out_int32, out)


@export("wengert")
def isin(
    elements: Any,
    test_elements: Any,
    *,
    assume_unique: bool = False,
    invert: bool = False,
    out: Any = None,
) -> Any:
    """Return whether each element is among others.

    Parameters
    ----------
    elements, test_elements : Tensor or number. What to look for and where; one of them must be a
        tensor. A NaN is among none.
    assume_unique : bool. Accepted for compatibility; has no effect.
    invert : bool. Whether to say instead whether it is not.

    Returns
    -------
    Tensor: Of bools and of the shape of `elements`; without a derivative.

    Raises
    ------
    TypeError: If both are numbers.
    RuntimeError: If the elements are bools or complex.

    Examples
    --------
    >>> wg.isin(wg.tensor([1, 2, 3]), wg.tensor([3, 1]))
    tensor([ True, False,  True])
    """
    given = (elements, test_elements)
    plain = [is_number(value) for value in given]
    if all(plain):
        raise TypeError(
            "isin() received an invalid combination of arguments - got two numbers, but expected a "
            "Tensor for at least one of them"
        )
    pairs = list(zip(given, plain, strict=True))
    tensors = [operand(value, "isin", "elements") for value, bare in pairs if not bare]
    kind = promote(
        [tensor._payload for tensor in tensors], [value for value, bare in pairs if bare]
    )
    if kind.kind in "bc":
        raise RuntimeError(
            "Unsupported input type encountered for isin(): "
            f"{long_name(from_numpy_dtype(kind))}. Compare with == instead."
        )
    sought, among = [
        new_tensor(np.asarray(value, kind)) if bare else cast(value, kind) for value, bare in pairs
    ]
    return into(out, T.isin(sought, among, invert=flag(invert, "invert")), "isin")


@export("wengert", "Tensor")
def nonzero_static(input: Any, *, size: int, fill_value: int = -1, out: Any = None) -> Any:
    """Return the positions of the first elements that are not zero: a fixed number of them.

    Parameters
    ----------
    %(input)s
    size : int. The number of positions to return.
    fill_value : int. The value in the rows that are left over.

    Returns
    -------
    Tensor: Of int64, with `size` rows and a column for each dimension; without a derivative.

    Raises
    ------
    RuntimeError: If `size` is negative.

    Examples
    --------
    >>> wg.nonzero_static(wg.tensor([0, 3, 4]), size=3)
    tensor([[ 1],
            [ 2],
            [-1]])
    """
    x = operand(input, "nonzero_static")
    count = integer(size, "nonzero_static", "size")
    if count < 0:
        raise RuntimeError(
            f"nonzero_static: 'size' must be an non-negative integer, but is {count}"
        )
    filler = integer(fill_value, "nonzero_static", "fill_value")
    return into(out, T.nonzero_static(x, size=count, fill_value=filler), "nonzero_static")
