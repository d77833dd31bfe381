"""Layer 5 · ops · choosing: ``x[...]``, and helpers of its in-place form.

NOTE [indexing]
As in PyTorch, ``x[...]`` is decomposed: an int becomes `select`, a slice `slice`, and None
`unsqueeze`, which are views; the remaining arrays and masks become one `index`, which copies. So an
int next to an array does not broadcast with it, unlike in NumPy.
"""

from __future__ import annotations

import operator
from typing import Any

import numpy as np

from wengert.base.arrays import column
from wengert.base.errors import long_name, wrong_type
from wengert.base.export import export
from wengert.base.ports import PORTS
from wengert.interp.levels import Lifted
from wengert.ops.checks import check_bools, flag
from wengert.ops.coerce import dtype_name, operand
from wengert.tape.base import TensorBase
from wengert.tape.masked import hides
from wengert.tape.operands import cast
from wengert.tape.record import T
from wengert.tape.sites import warn

Step = tuple[str, dict[str, Any]]
_FULL = slice(None)
_BYTES = "indexing with dtype torch.uint8 is now deprecated, please use a dtype torch.bool instead."
_SIMPLE = frozenset({int, bool, slice, type(None), type(Ellipsis)})


def getitem(input: Any, index: Any) -> Any:
    """``input[index]``: the elements that an index names.

    Parameters
    ----------
    %(input)s
    index : int, slice, None, ``...``, list, Tensor, array, or a tuple of them. Ints, slices, None
        and ``...`` give views; lists, tensors and arrays of integers or bools give copies.

    Returns
    -------
    Tensor: Differentiable: elements that are named more than once add up their gradients.

    Raises
    ------
    IndexError: If an index is out of range, there are too many, or one has a wrong type.
    ValueError: If the step of a slice is not positive.

    Examples
    --------
    >>> x = wg.tensor([[1, 2, 3], [4, 5, 6]])
    >>> x[0, 1:], x[:, [0, 0]]
    (tensor([2, 3]), tensor([[1, 1],
            [4, 4]]))
    """
    kind = index.__class__
    if kind is int:
        shape = input._payload.shape
        if shape:
            size = shape[0]
            if 0 <= index < size:
                return T.select(input, dim=0, index=index)
            if -size <= index < 0:
                return T.select(input, dim=0, index=index + size)
    elif kind is slice and input._payload.shape:
        start, end, step = _bounds(index, input._payload.shape[0])
        return T.slice(input, dim=0, start=start, end=end, step=step)
    steps, advanced = split_index(input, index)
    out = input
    for name, params in steps:
        out = getattr(T, name)(out, **params)
    if advanced is not None:
        made = T.index(out, indices=advanced)
        masks = any(index is not None and index.dtype.kind == "b" for index in advanced)
        return hides(made, out) if masks else made
    return out if steps else T.alias(input)


def split_index(input: Any, index: Any) -> tuple[list[Step], tuple[Any, ...] | None]:
    """The views that `index` asks for, and the arrays for `index` or `index_put` after them.

    Parameters
    ----------
    input : Tensor. The tensor to index.
    index: As `getitem` takes it.

    Returns
    -------
    steps : list of (str, dict). View primitives with their parameters, to be applied one after the
        other. A slice that takes all makes none.
    advanced : tuple or None. Arrays of integers or bools, and None for dimensions that are taken
        whole.

    Raises
    ------
    IndexError: If an index is out of range, there are too many, or one has a wrong type.
    ValueError: If the step of a slice is not positive.
    """
    shape = list(input._payload.shape)
    items = index if index.__class__ is tuple else _items(index)
    items = tuple([item if item.__class__ in _SIMPLE else _item(item) for item in items])
    steps: list[Step] = []
    arrays: list[Any] = []
    dim = 0
    for i, item in enumerate(items):
        kind = item.__class__
        if kind is int:
            if dim >= len(shape):
                raise _too_many(input, items)
            steps.append(("select", {"dim": dim, "index": _position(item, dim, shape, i)}))
            del shape[dim]
        elif kind is slice:
            if not input._payload.ndim and len(items) == 1:
                raise IndexError("slice() cannot be applied to a 0-dim tensor.")
            if dim >= len(shape):
                raise _too_many(input, items)
            _add_slice(steps, item, dim, shape)
            dim += 1
            arrays.append(None)
        elif item is Ellipsis:
            rest = len(shape) - dim - sum(map(_dims_of, items[i + 1 :]))
            if rest > 0:
                dim += rest
                arrays += [None] * rest
        elif kind is np.ndarray or isinstance(item, Lifted):
            taken = _dims_of(item)
            if dim + taken > len(shape):
                raise _too_many(input, items)
            if item.dtype.kind == "b":
                _check_mask(item, dim, shape)
            arrays.append(item)
            dim += taken
        else:
            # None, or a bool, which is a mask over a new dimension
            steps.append(("unsqueeze", {"dim": dim}))
            shape.insert(dim, 1)
            arrays.append(None if item is None else np.array([item]))
            dim += 1
    while arrays and arrays[-1] is None:
        arrays.pop()
    return steps, tuple(arrays) if arrays else None


def _too_many(input: Any, items: tuple[Any, ...]) -> IndexError:
    ndim = input._payload.ndim
    if ndim == 0 and len(items) == 1 and type(items[0]) is int:
        return IndexError(
            "invalid index of a 0-dim tensor. Use `tensor.item()` in Python or "
            "`tensor.item<T>()` in C++ to convert a 0-dim tensor to a number"
        )
    return IndexError(f"too many indices for tensor of dimension {ndim}")


def _items(index: Any) -> tuple[Any, ...]:
    if isinstance(index, tuple):
        return tuple(index)
    # PyTorch treats a short list with items other than numbers as a tuple
    if isinstance(index, list) and len(index) < 32:
        for item in index:
            if item is None or item is Ellipsis:
                return tuple(index)
            if isinstance(item, slice | list | tuple | np.ndarray | TensorBase):
                return tuple(index)
    return (index,)


def _item(item: Any) -> Any:
    """Return an index that is no simple one as int, bool or array; copy arrays, for nodes."""
    # arrays of other idioms may have any integer width
    narrow = item.__class__ is PORTS.tensor
    if isinstance(item, TensorBase):
        item = item._payload
    elif isinstance(item, list | tuple | range):
        item = _array(item)
    elif not isinstance(item := column(item), np.ndarray | np.generic | Lifted):
        try:
            return operator.index(item)
        except TypeError:
            if isinstance(item, str):
                raise TypeError(
                    f"new(): invalid data type 'str': a tensor cannot be indexed with {item!r}"
                ) from None
            raise IndexError(
                "only integers, slices (`:`), ellipsis (`...`), None and long or byte Variables "
                f"are valid indices (got {type(item).__name__})"
            ) from None
    kind = item.dtype.kind
    if isinstance(item, Lifted) and item.dtype == np.uint8 and item.traced:
        warn(_BYTES, UserWarning)
        return item.astype(bool)
    if isinstance(item, Lifted) and kind in "iu" and item.dtype != np.uint8:
        # a batch is not a number, even without dimensions; in a traced function its value
        # determines what the result, a view, shows
        return item.item() if item.traced and not item.ndim else item.astype(np.intp)
    if isinstance(item, Lifted) and item.traced and kind == "b":
        return item.copy() if item.ndim else bool(item)
    if isinstance(item, Lifted) and (kind == "b" or item.dtype == np.uint8):
        raise RuntimeError(
            "vmap: We do not support batching operators that can support dynamic shape. Attempting "
            "to batch over indexing with a boolean mask that differs within the batch: use "
            "wengert.where or masked_fill, which keep the shape, or call the function in a loop."
        )
    if item.dtype == np.uint8:
        warn(_BYTES, UserWarning)
    if kind == "b" or item.dtype == np.uint8:
        return np.array(item, dtype=bool) if item.ndim else bool(item)
    if kind not in "iu" or (narrow and item.ndim and item.dtype.itemsize < 4):
        raise IndexError(
            "tensors used as indices must be long, int, byte or bool tensors, not "
            f"{dtype_name(item)}"
        )
    return item.astype(np.intp) if item.ndim else int(item)


def _array(item: Any) -> Any:
    if not len(item):
        return np.zeros(0, np.intp)
    if any(isinstance(part, TensorBase) for part in item):
        item = [part._payload if isinstance(part, TensorBase) else part for part in item]
    return np.asarray(item)


def _dims_of(item: Any) -> int:
    """Return the number of dimensions that an index removes or replaces."""
    if item.__class__ in _SIMPLE:
        return 1 if item.__class__ is int or item.__class__ is slice else 0
    return item.ndim if item.dtype.kind == "b" else 1


def _position(index: int, dim: int, shape: list[int], place: int) -> int:
    size = shape[dim]
    if not -size <= index < size:
        raise IndexError(f"index {index} is out of bounds for dimension {place} with size {size}")
    return index + size if index < 0 else index


def _add_slice(steps: list[Step], item: slice, dim: int, shape: list[int]) -> None:
    if item == _FULL:
        return
    size = shape[dim]
    start, stop, step = _bounds(item, size)
    if start == 0 and stop == size and step == 1:
        return
    steps.append(("slice", {"dim": dim, "start": start, "end": stop, "step": step}))
    shape[dim] = (stop - start + step - 1) // step


def _bounds(item: slice, size: int) -> tuple[int, int, int]:
    """Return start, stop and step of a slice of `size` elements, with a stop not before start."""
    try:
        start, stop, step = item.indices(size)
    except TypeError:
        item = slice(_number(item.start), _number(item.stop), _number(item.step))
        start, stop, step = item.indices(size)
    if step < 0:
        raise ValueError("step must be greater than zero: use flip() for the reverse order")
    return start, stop if stop > start else start, step


def _number(bound: Any) -> Any:
    return bound._payload.item() if isinstance(bound, TensorBase) else bound


def _check_mask(mask: Any, dim: int, shape: list[int]) -> None:
    for i, size in enumerate(mask.shape):
        if size != shape[dim + i]:
            raise IndexError(
                f"The shape of the mask {list(mask.shape)} at index {i} does not match the shape "
                f"of the indexed tensor {shape} at index {dim + i}"
            )


@export("wengert", "Tensor")
def index_put(input: Any, indices: Any, values: Any, accumulate: bool = False) -> Any:
    """Return a copy with other values at the elements selected by `indices`.

    Parameters
    ----------
    %(input)s
    indices : tuple of Tensor. Integers or bools for the first dimensions; None for one that is
        taken whole.
    values : Tensor. The values to write; broadcasts to the shape of ``input[indices]``.
    accumulate : bool. Whether to add instead of replacing; elements that are named twice get both.

    Returns
    -------
    Tensor: Differentiable with respect to `input` and `values`, to any order.

    Raises
    ------
    IndexError: If an index is out of range, there are too many, or one has a wrong type.
    RuntimeError: If the dtypes differ, or the values do not broadcast.

    Examples
    --------
    >>> wg.index_put(wg.zeros(3), (wg.tensor([0, 2]),), wg.tensor([1.0, 2.0]))
    tensor([1., 0., 2.])
    """
    x, value = operand(input, "index_put"), operand(values, "index_put", "values", 3)
    places = named_places(x, indices)
    value = fitting_value(value, x, indices, places, accumulate)
    return T.index_put(x, value, indices=places, accumulate=flag(accumulate, "accumulate"))


def check_bytes(value: Any, index: Any, arrays: tuple[Any, ...]) -> None:
    """Refuse one mask of bytes where one number is written, which PyTorch does by `masked_fill_`.

    Parameters
    ----------
    value : Tensor. The values to write.
    index : As it was given.
    arrays : tuple. The result of `split_index` or `named_places`.
    """
    if value._payload.size != 1 or sum(array is not None for array in arrays) != 1:
        return
    for item in _items(index):
        array = item._payload if isinstance(item, TensorBase) else item
        if isinstance(array, np.ndarray | Lifted) and array.dtype == np.uint8 and array.ndim:
            check_bools(array.dtype, "masked_fill")


def fitting_value(
    value: Any, target: Any, index: Any, arrays: tuple[Any, ...], accumulate: bool = False
) -> Any:
    """`value` in the dtype of `target`, which it must have but where it fills a mask.

    Parameters
    ----------
    value, target : Tensor. The values, and the tensor to write to.
    index, arrays: See `check_bytes`.
    accumulate : bool. Whether it is added.

    Raises
    ------
    RuntimeError: If it has another dtype.
    """
    if not accumulate:
        check_bytes(value, index, arrays)
    kind = target._payload.dtype
    if value._payload.dtype == kind:
        return value
    chosen = [array for array in arrays if array is not None]
    if all(isinstance(array, Lifted) and not array.ndim for array in chosen):
        # they would be numbers if they were not values of a transform
        return cast(value, kind)
    masks = [array for array in chosen if array.dtype.kind == "b"]
    alone = len(masks) == len(chosen) == 1 and target._payload.ndim > 0
    if accumulate or not alone or _has_lone_bool(index) or value._payload.size != 1:
        # the error of shapes that do not fit comes first
        T.index_put(target, cast(value, kind), indices=arrays, accumulate=False)
        raise RuntimeError(
            "Index put requires the source and destination dtypes match, got "
            f"{long_name(kind)} for the destination and {long_name(value._payload.dtype)} for the "
            "source: convert the source first"
        )
    return cast(value, kind)


def _has_lone_bool(index: Any) -> bool:
    """Return whether an index contains a 0-d bool tensor, not a mask in PyTorch."""
    return any(
        isinstance(part, TensorBase) and not part._payload.ndim and part._payload.dtype.kind == "b"
        for part in _items(index)
    )


def named_places(input: Any, indices: Any) -> tuple[Any, ...]:
    """The arrays of integers or bools, or None, that `index_put` is given for the first dimensions.

    Raises
    ------
    IndexError: If there are too many, or one has a wrong type or shape.
    """
    if not isinstance(indices, tuple | list):
        raise wrong_type("index_put_", "indices", "tuple of Tensors", indices, 1)
    shape = list(input._payload.shape)
    places: list[Any] = []
    dim = 0
    for index in indices:
        if index is None:
            places.append(None)
            dim += 1
            continue
        item = index if index.__class__ in _SIMPLE else _item(index)
        if item.__class__ in _SIMPLE and item.__class__ not in (int, bool):
            raise IndexError("index_put_() takes tensors of integers or bools, or None, as indices")
        array = item if isinstance(item, Lifted) else np.asarray(item)
        taken = _dims_of(array)
        if dim + taken > len(shape):
            raise _too_many(input, tuple(indices))
        if array.dtype.kind == "b":
            _check_mask(array, dim, shape)
        places.append(array)
        dim += taken
    return tuple(places)
