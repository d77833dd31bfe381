"""Layer 5 · ops · shapes: views by strides and by another dtype, complex numbers as pairs."""

from __future__ import annotations

from typing import Any

import numpy as np

from wengert.base.errors import long_name, wrong_type
from wengert.base.export import export
from wengert.base.memory_format import contiguous_format, empty_in_format
from wengert.base.settings import unwritten
from wengert.base.shapes import normal_dim
from wengert.interp.dual import Dual
from wengert.interp.levels import Lifted, levels_of, memory_of
from wengert.kernels.strided import fits, owner_of, reach, shares_owner, stored_as, within
from wengert.ops.coerce import dtype_name, integer, operand, sizes_of, wide
from wengert.ops.options import float_type, made, shape_of
from wengert.tape.base import new_tensor
from wengert.tape.detachments import note
from wengert.tape.invalidated import Invalidated
from wengert.tape.modes import is_recording, traced, untraced
from wengert.tape.node import Unrecorded
from wengert.tape.record import T
from wengert.tape.sites import mark
from wengert.tape.views import link, placed_as, root_of

Shape = tuple[int, ...]


def is_viewable(payload: Any, shape: tuple[int, ...]) -> bool:
    """Return whether an array can be viewed in another shape without a copy."""
    if payload.__class__ is np.ndarray and payload.flags.c_contiguous:
        return True
    if isinstance(payload, Lifted) and payload.traced:
        if payload.flags.c_contiguous:
            return True
        payload = payload.array
    if isinstance(payload, Lifted):
        lead = [part.shape[: part.ndim - payload.ndim] for part in payload.contents()]
        parts = zip(payload.contents(), lead, strict=True)
        return all(is_viewable(part, (*first, *shape)) for part, first in parts)
    return payload.flags.c_contiguous or payload.size == 0 or fits(payload, shape)


def in_shape(x: Any, shape: tuple[int, ...]) -> Any:
    """Reshape a tensor to a complete shape with as many elements."""
    if is_viewable(x._payload, shape):
        return T.view(x, shape=shape)
    return T.unsafe_view(T.contiguous(x), shape=shape)


@export("wengert", "Tensor", "Tensor_ reshaped")
def as_strided(input: Any, size: Any, stride: Any, storage_offset: int | None = None) -> Any:
    """Return a view of the tensor's memory with any sizes and strides.

    The memory is that of the tensor's base: a view of ``x[1:]`` may reach ``x[0]``, by
    ``storage_offset=0``. Elements of the view may overlap; then writes that PyTorch refuses are
    refused.

    Parameters
    ----------
    %(input)s
    size : sequence of int. The sizes of the view.
    stride : sequence of int. The elements between neighbours along each dimension; not negative.
    storage_offset : int, optional. The place of the view's first element in memory; default: that
        of `input`'s.

    Returns
    -------
    Tensor: A view. Differentiable, to any order: what several elements share gets the sum of their
        gradients.

    Raises
    ------
    RuntimeError: If the numbers of sizes and strides differ, if a size, a stride or the offset is
        negative, or if the view would reach beyond the memory.

    Examples
    --------
    >>> wg.arange(6).as_strided((2, 3), (1, 2))
    tensor([[0, 2, 4],
            [1, 3, 5]])
    """
    x = operand(input, "as_strided")
    rooted = _root_of_plain(x)
    lonely = x._ext is None or (x._ext.base is None and not x._ext.views)
    if lonely and rooted is None and x._edge is None and x._vc is not None:
        x = _detached(x)
    try:
        params = window_of(x, size, stride, storage_offset)
    except RuntimeError:
        if rooted is None:
            raise
        offset = _place(x)[1] if storage_offset is None else storage_offset
        x = _over(rooted, x)
        params = window_of(x, size, stride, offset)
    return T.as_strided(x, **params) if is_within(x, params) else _of_base(x, params)


def window_of(x: Any, size: Any, stride: Any, storage_offset: int | None) -> dict[str, Any]:
    """The parameters of the view by strides, checked; it may reach beyond `x`, not its base."""
    sizes, strides = _ints(size, "size", 1), _ints(stride, "stride", 2)
    if isinstance(x._payload, Lifted) and x._payload.traced:
        untraced("as_strided() depends on how its argument lies in memory")
    elif isinstance(x._payload, Lifted) and not _has_place(x._payload):
        raise RuntimeError(
            "as_strided: a tensor inside of vmap or jvp has no single place in memory, and strides "
            "can access memory outside of `tensor`: use views that are named by dimensions ("
            "select, narrow, unfold, diagonal)"
        )
    base, start = _place(x)
    offset = start if storage_offset is None else integer(storage_offset, "as_strided", "offset")
    first = offset - (start if base is x else _place(base)[1])
    _check_geometry(sizes, strides, first, _memory(base), x._payload.dtype.itemsize)
    layout = (_elements(_memory(x).strides, x), start)
    return {"size": sizes, "stride": strides, "storage_offset": offset, "layout": layout}


def _place(x: Any) -> tuple[Any, int]:
    """Return the tensor that owns the memory of `x`, and where `x` begins in its storage."""
    base, root, memory = _base_of(x), root_of(x), _memory(x)
    root = root.primal if isinstance(root, Dual) else memory_of(root)
    if root is None or not shares_owner(memory, root):
        return base, 0
    apart = _address(x) - int(root.__array_interface__["data"][0])
    start, rest = divmod(apart, memory.itemsize)
    if rest:
        raise RuntimeError(
            "as_strided: the tensor does not begin with a whole element of its memory: clone() it"
        )
    return base, start


def _root_of_plain(x: Any) -> Any:
    """Return the memory under a detached view without a gradient, or None."""
    base = _base_of(x)
    plain = base._ext is not None and x._edge is base._edge is None
    return base._ext.root if plain else None


def _over(root: Any, x: Any) -> Any:
    """Extend a detached view to all the memory of the tensor that it was a view of."""
    if root.dtype != x._payload.dtype:
        root = root.reshape(-1).view(x._payload.dtype)
    if not shares_owner(root, _memory(x)):
        raise RuntimeError("as_strided: the tensor's storage has gaps: clone() it")
    made = new_tensor(root, None, x._share_version())
    link(x, made)
    return made


def _detached(x: Any) -> Any:
    """Extend a detached view of the first elements of memory to all of that memory."""
    dual = x._payload if isinstance(x._payload, Dual) and _has_place(x._payload) else None
    array = x._payload if dual is None else dual.primal
    if array.__class__ is not np.ndarray or array.base is None:
        return x
    owner = owner_of(array)
    same = owner.dtype == array.dtype and owner.flags.c_contiguous and owner.nbytes > array.nbytes
    if not same or owner.__array_interface__["data"] != array.__array_interface__["data"]:
        return x
    whole = owner.reshape(-1)
    if dual is not None:
        tangent = owner_of(dual.tangent).reshape(-1)
        whole = Dual(whole, tangent, dual.owner, dual.own, dual.given)
    made = new_tensor(whole, None, x._vc)
    link(x, made)
    return made


def _has_place(payload: Any) -> bool:
    """Return whether the tangent of a value has the value's memory layout."""
    return (
        isinstance(payload, Dual)
        and payload.primal.__class__ is np.ndarray
        and payload.tangent.__class__ is np.ndarray
        and stored_as(payload.tangent, payload.primal) is payload.tangent
    )


def _base_of(x: Any) -> Any:
    """Return the tensor that owns the memory of `x`: `x` itself if ``.data`` replaced it."""
    base = None if x._ext is None else x._ext.base
    return (
        x
        if base is None or not shares_owner(memory_of(x._payload), memory_of(base._payload))
        else base
    )


def is_within(x: Any, params: dict[str, Any]) -> bool:
    """Return whether the view shows only memory that `x` shows."""
    own, start = params["layout"]
    part = params["size"], params["stride"], params["storage_offset"]
    return _base_of(x) is x or within(part, (x._payload.shape, own, start))


def _of_base(x: Any, params: dict[str, Any]) -> Any:
    """Return a view that reaches beyond `x`, as a view of its base, so that no gradient is lost."""
    base = _base_of(x)
    if x._edge is not None and base._edge is None:
        raise RuntimeError(
            "as_strided() reaches beyond a view that requires a gradient which its base does not: "
            "apply it to the base"
        )
    if x._edge.__class__ is Invalidated and is_recording():
        raise RuntimeError(x._edge.message)
    params["storage_offset"] -= _place(base)[1]
    as_pairs = x._payload.dtype.kind == "c" != base._payload.dtype.kind
    if as_pairs:
        params["size"] = (*params["size"], 2)
        params["stride"] = (*[2 * step for step in params["stride"]], 1)
        params["storage_offset"] *= 2
    elif base._payload.dtype != x._payload.dtype:
        base = T.view_as_real(base)
    params["layout"] = _elements(base._payload.strides, base), 0
    result = T.as_strided(base, **params)
    if as_pairs:
        result = T.view_as_complex(result)
    result._ext.no_write = result._ext.no_write or x._ext.no_write
    if x._edge.__class__ is Unrecorded:
        result._edge = Unrecorded(base=base)
        mark(result._edge)
    return result


def _ints(values: Any, arg: str, position: int) -> Shape:
    if not isinstance(values, tuple | list):
        raise wrong_type("as_strided", arg, "tuple of ints", values, position)
    return sizes_of((values,), "as_strided", arg)


def _elements(strides: Shape, x: Any) -> Shape:
    width = x._payload.dtype.itemsize
    return tuple([step // width for step in strides])


def _memory(x: Any) -> Any:
    """Return the array of a tensor, also while a function is traced."""
    payload = x._payload
    if isinstance(payload, Lifted) and payload.traced:
        return payload.array
    payload = x._array()
    return payload.primal if isinstance(payload, Dual) else payload


def _address(x: Any) -> int:
    return int(_memory(x).__array_interface__["data"][0])


def _check_geometry(size: Shape, stride: Shape, offset: int, memory: Any, width: int) -> None:
    if len(size) != len(stride):
        raise RuntimeError(
            f"mismatch in length of strides and shape: {len(size)} sizes, {len(stride)} strides"
        )
    if min(stride, default=0) < 0:
        raise RuntimeError(
            "as_strided: Negative strides are not supported at the moment, got strides: "
            f"{list(stride)}: use flip() for the reverse order"
        )
    if min(size, default=0) < 0:
        raise RuntimeError(
            f"Storage size calculation overflowed with sizes={list(size)} and "
            f"strides={list(stride)}: sizes must not be negative"
        )
    if offset < 0:
        raise RuntimeError(f"Tensor: invalid storage offset {offset}")
    if min(memory.strides, default=0) < 0:
        raise RuntimeError(
            "as_strided() needs memory with positive strides, but the tensor is over a NumPy array "
            "with negative ones: clone() it first"
        )
    have = memory.nbytes
    if not memory.flags.c_contiguous:
        own = tuple([step // memory.itemsize for step in memory.strides])
        have = reach(memory.shape, own) * memory.itemsize
    need = (offset + reach(size, stride)) * width
    if need > have and 0 not in size:
        raise RuntimeError(
            f"setStorage: sizes {list(size)}, strides {list(stride)}, storage offset {offset}, and "
            f"itemsize {width} requiring a storage size of {need} are out of bounds for storage of "
            f"size {have}"
        )


@export("Tensor")
def unfold(input: Any, dimension: int, size: int, step: int) -> Any:
    """Return all windows of a dimension: a view in which they overlap.

    Parameters
    ----------
    %(input)s
    dimension : int. The dimension.
    size : int. The number of elements of each window.
    step : int. The distance from one window to the next.

    Returns
    -------
    Tensor: A view: along `dimension` the windows, along a new last dimension their elements.
        Differentiable: elements that several windows share get the sum of their gradients.

    %(raises_no_dim)s
    RuntimeError: If `size` is negative or more than there is, or `step` is not positive.

    Examples
    --------
    >>> wg.arange(5).unfold(0, 3, 1)
    tensor([[0, 1, 2],
            [1, 2, 3],
            [2, 3, 4]])
    """
    x = operand(input, "unfold")
    shape = x._payload.shape
    axis = normal_dim(integer(dimension, "unfold", "dimension"), len(shape))
    length = shape[axis] if shape else 1
    size, step = integer(size, "unfold", "size"), integer(step, "unfold", "step")
    if size < 0:
        raise RuntimeError(f"size is {size} but must be >= 0")
    if size > length:
        raise RuntimeError(
            f"maximum size for tensor at dimension {axis} is {length} but size is {size}"
        )
    if step <= 0:
        raise RuntimeError(f"step is {step} but must be > 0")
    return T.unfold(x, dimension=axis, size=size, step=step)


@export("wengert")
def view_as_real(input: Any) -> Any:
    """Return a complex tensor as pairs of real numbers, along a new last dimension of size 2.

    Parameters
    ----------
    input : Tensor. Complex, of any shape.

    %(returns_view)s

    Raises
    ------
    RuntimeError: If the tensor is not complex.

    Examples
    --------
    >>> wg.view_as_real(wg.tensor([1 + 2j]))
    tensor([[1., 2.]])
    """
    x = operand(input, "view_as_real")
    if x._payload.dtype.kind != "c":
        raise RuntimeError(
            f"view_as_real is only supported for complex tensors, not for {dtype_name(x._payload)}"
        )
    return T.view_as_real(x)


@export("wengert")
def view_as_complex(input: Any) -> Any:
    """Return pairs of real numbers along the last dimension as complex numbers.

    Parameters
    ----------
    input : Tensor. Real and floating, with a last dimension of size 2 whose elements lie side by
        side.

    Returns
    -------
    Tensor: A view without the last dimension. Differentiable.

    Raises
    ------
    RuntimeError: If the tensor is not of that kind.

    Examples
    --------
    >>> wg.view_as_complex(wg.tensor([[1.0, 2.0]]))
    tensor([1.+2.j])
    """
    x = wide(input, "view_as_complex")
    array = x._array()
    if array.dtype.name not in ("float32", "float64"):
        raise RuntimeError(
            "view_as_complex is only supported for half, float and double tensors, but got a "
            f"tensor of scalar type: {dtype_name(array)}"
            + (
                " (there are no complex numbers of half precision)"
                * (array.dtype.name[-2:] == "16")
            )
        )
    if not array.ndim:
        raise RuntimeError("Input tensor must have one or more dimensions")
    if array.shape[-1] != 2:
        raise RuntimeError(
            f"Tensor must have a last dimension of size 2, but its shape is {list(array.shape)}"
        )
    width = array.dtype.itemsize
    if array.size and array.strides[-1] != width:
        raise RuntimeError("Tensor must have a last dimension with stride 1: use contiguous()")
    if any(step // width % 2 for step in array.strides[:-1]):
        raise RuntimeError("Tensor must have a stride divisible by 2 for all but last dimension")
    return T.view_as_complex(x)


def view_dtype(x: Any, dtype: Any) -> Any:
    """The bytes of a tensor as elements of another type: not differentiable, the memory shared."""
    if isinstance(x._payload, Lifted):
        if not x._payload.traced or levels_of(x._payload):
            raise RuntimeError(
                "view(dtype) is not supported under a transform, where a tensor has no place in "
                "memory: take the view outside of it, or convert the values with to(dtype)"
            )
        untraced("view(dtype) reinterprets the bytes of its argument")
    array, kind = _memory(x), dtype.numpy
    have, want = array.itemsize, kind.itemsize
    names = f"{dtype_name(array)} as {long_name(kind)} (different element sizes)"
    if have != want:
        ratio = max(have, want) // min(have, want)
        if not array.ndim:
            raise RuntimeError(f"self.dim() cannot be 0 to view {names}")
        if array.size and array.shape[-1] > 1 and array.strides[-1] != have:
            got = array.strides[-1] // have
            raise RuntimeError(f"self.stride(-1) must be 1 to view {names}, but got {got}")
        if want > have:
            _check_wider(array, ratio, names)
    if x._edge is not None:
        note("view(dtype)", x)
    return placed_as(x, new_tensor(traced("made", array.view(kind)), None, x._share_version()))


def _check_wider(array: Any, ratio: int, names: str) -> None:
    if array.shape[-1] % ratio:
        raise RuntimeError(
            f"self.size(-1) must be divisible by {ratio} to view {names}, but got {array.shape[-1]}"
        )
    offset = (array.ctypes.data - owner_of(array).ctypes.data) // array.itemsize
    if offset % ratio:
        raise RuntimeError(
            f"self.storage_offset() must be divisible by {ratio} to view {names}, but got {offset}"
        )
    for i, step in enumerate(array.strides[:-1]):
        if step // array.itemsize % ratio:
            raise RuntimeError(
                f"self.stride({i}) must be divisible by {ratio} to view {names}, but got "
                f"{step // array.itemsize}"
            )


@export("wengert")
def empty_strided(
    size: Any,
    stride: Any,
    *,
    dtype: Any = None,
    layout: Any = None,
    device: Any = None,
    pin_memory: Any = None,
    requires_grad: bool = False,
) -> Any:
    """Return an uninitialised tensor with these strides.

    Parameters
    ----------
    size, stride : sequence of int. The shape, and the elements between neighbours along each
        dimension; not negative.

    Raises
    ------
    RuntimeError: If their numbers differ, or a stride is negative.

    Examples
    --------
    >>> wg.empty_strided((2, 3), (1, 2)).stride()
    (1, 2)
    """
    shape, kind = shape_of("empty_strided", (size,)), float_type(dtype)
    steps = sizes_of((stride,), "empty_strided", "stride")
    if len(steps) != len(shape):
        raise RuntimeError(
            f"dimensionality of sizes ({len(shape)}) must match dimensionality of strides "
            f"({len(steps)})"
        )
    if any(step < 0 for step in steps):
        raise RuntimeError(f"empty_strided: strides cannot be negative, but got {list(steps)}")
    memory = unwritten(empty_in_format((reach(shape, steps),), kind, contiguous_format))
    array = np.ndarray(shape, kind, memory, 0, [step * kind.itemsize for step in steps])
    return made(array, device, requires_grad)


@export("wengert")
def empty_permuted(size: Any, physical_layout: Any, **options: Any) -> Any:
    """Return an uninitialised tensor whose dimensions lie in memory in a given order.

    Parameters
    ----------
    size : sequence of int. The shape.
    physical_layout : sequence of int. The dimensions from the slowest to the fastest.
    **options: dtype, device and requires_grad, as for `empty_strided`.

    Raises
    ------
    RuntimeError: If `physical_layout` does not name each dimension once.

    Examples
    --------
    >>> wg.empty_permuted((2, 3, 5), (0, 2, 1)).stride()
    (15, 1, 3)
    """
    shape, order = shape_of("empty_permuted", (size,)), tuple(physical_layout)
    if len(order) != len(shape):
        raise RuntimeError(
            "Number of dimensions in size does not match the length of the physical_layout; i.e. "
            f"len(size) = {len(shape)} is not equal to len(physical_layout) = {len(order)}"
        )
    for place, axis in enumerate(order):
        if not 0 <= axis < len(shape):
            raise RuntimeError(
                f"Dimension out of range (expected to be between 0 and {len(shape) - 1}, but got "
                f"{axis} at index {place}).  NB: negative dims not currently supported"
            )
    if len({*order}) < len(order):
        raise RuntimeError(f"Duplicate dim not allowed: {list(order)}")
    steps, step = [0] * len(shape), 1
    for axis in reversed(order):
        steps[axis], step = step, step * max(shape[axis], 1)
    return empty_strided(shape, steps, **options)
