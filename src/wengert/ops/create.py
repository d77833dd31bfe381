"""Layer 5 · ops · creation: tensors from data and from shapes.

Every function takes ``dtype=``, ``device=`` and ``requires_grad=``; PyTorch's arguments for other
kinds of memory (``pin_memory=``, ``memory_format=``) are accepted and have no effect.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from wengert.base.capsules import is_capsule
from wengert.base.device import as_device
from wengert.base.dtypes import as_dtype, category, default_complex, default_float
from wengert.base.errors import overflow, wrong_type
from wengert.base.export import export
from wengert.base.memory_format import (
    check_memory_format,
    contiguous_format,
    empty_in_format,
    preserve_format,
)
from wengert.base.settings import unwritten
from wengert.ops.cast import to
from wengert.ops.checks import flag
from wengert.ops.convert import check_array, narrow, to_array
from wengert.ops.foreign import from_dlpack, frombuffer
from wengert.ops.options import check_strided, float_type, made, number, shape_of, sized, type_of
from wengert.ops.out import asked, created
from wengert.tape.base import TensorBase, new_tensor
from wengert.tape.detachments import note, without_tangents
from wengert.tape.inference import made_in_inference
from wengert.tape.modes import current_mode, traced
from wengert.tape.operands import cast, is_number
from wengert.tape.record import T
from wengert.tape.sites import warn

_HALF_MAX = 65504.0
"""The largest number that every floating type holds: below it a cast cannot overflow."""


# -- from data ------------------------------------------------------------------------------------


@export("wengert")
def tensor(
    data: Any,
    *,
    dtype: Any = None,
    device: Any = None,
    requires_grad: bool = False,
    pin_memory: bool = False,
) -> Any:
    """Return a new leaf tensor with a copy of `data`.

    Parameters
    ----------
    data : number, (nested) sequence of numbers, array or Tensor. The values to copy.
    dtype : dtype, optional. The dtype. By default Python floats become the default floating dtype,
        integers int64, and arrays keep their dtype.
    %(device)s
    requires_grad : bool. Whether gradients are wanted; needs a floating or complex dtype.
    pin_memory : bool. Has no effect.

    Returns
    -------
    Tensor: Of the shape of `data`. Gradients do not flow to tensors in `data`; use `stack` for
        that.

    Raises
    ------
    ValueError: If sequences of one level differ in length.
    TypeError, RuntimeError: If `data` holds something that is not a number, or that does not fit
        into `dtype`.

    Examples
    --------
    >>> wg.tensor([[1.0, 2.0], [3.0, 4.0]])
    tensor([[1., 2.],
            [3., 4.]])
    >>> wg.tensor(2.5, requires_grad=True)
    tensor(2.5000, requires_grad=True)
    """
    if type(data) is float and dtype is None and -_HALF_MAX < data < _HALF_MAX:
        payload = default_float().type(data)
    elif isinstance(data, TensorBase):
        warn(COPY_CONSTRUCT.format("torch.tensor"), UserWarning)
        if data._edge is not None:
            note("tensor(t)", data)
        payload = copied(data, dtype)
    else:
        payload = to_array(data, None if dtype is None else type_of(dtype))
        mode = current_mode()
        if mode is not None and mode.lifts and not _is_of_numbers(data):
            # only another run can tell where its elements come from
            payload = traced("unknown", payload)
    if device is None and not requires_grad and current_mode() is None:
        return new_tensor(payload)
    return made(payload, device, requires_grad)


def _is_of_numbers(data: Any) -> bool:
    """Return whether `data` consists of Python numbers and lists of them."""
    if isinstance(data, list | tuple):
        return all(map(_is_of_numbers, data))
    return is_number(data)


COPY_CONSTRUCT = (
    "To copy construct from a tensor, it is recommended to use sourceTensor.detach().clone() or "
    "sourceTensor.detach().clone().requires_grad_(True), rather than {}(sourceTensor)."
)


def copied(source: Any, dtype: Any) -> Any:
    """Return a copy of a tensor's payload, without history."""
    copy = T.clone(new_tensor(without_tangents(source)))
    return (copy if dtype is None else cast(copy, type_of(dtype)))._payload


@export("wengert")
def as_tensor(data: Any, dtype: Any = None, device: Any = None) -> Any:
    """Return `data` as a tensor, copying only where necessary.

    Parameters
    ----------
    data : number, (nested) sequence of numbers, array or Tensor. A tensor of the right dtype is
        returned itself, with its history; an array shares its memory with the result; anything else
        is copied as by `tensor`.
    %(result_dtype, device)s

    Returns
    -------
    Tensor: Of the shape of `data`. A change of dtype of a tensor is recorded.

    Examples
    --------
    >>> a = np.zeros(2)
    >>> t = wg.as_tensor(a)
    >>> a[0] = 5
    >>> t
    tensor([5., 0.], dtype=torch.float64)
    """
    target = None if dtype is None else type_of(dtype)
    if isinstance(data, TensorBase):
        return to(data, dtype=target, device=device)
    if device is not None and as_device(device).type != "cpu":
        return made(to_array(data, target), device)
    if isinstance(data, np.ndarray) and (target is None or target == data.dtype):
        return from_numpy(data)
    return made_in_inference(new_tensor(to_array(data, target)))


_OWN = (TensorBase, np.ndarray, np.generic, int, float, complex, str, list, tuple)


def _over_memory(obj: Any, dtype: Any) -> Any:
    """Return a tensor over the memory that `obj` exports, or `obj` if it exports none.

    The bytes of a buffer are elements of `dtype`, the default floating dtype if that is None.
    """
    if isinstance(obj, _OWN) or hasattr(obj, "__array__"):
        return obj
    if is_capsule(obj) or hasattr(obj, "__dlpack__"):
        return from_dlpack(obj)
    try:
        memoryview(obj)
    except TypeError:
        return obj
    return frombuffer(obj, dtype=default_float() if dtype is None else dtype)


@export("wengert")
def asarray(
    obj: Any,
    *,
    dtype: Any = None,
    device: Any = None,
    copy: bool | None = None,
    requires_grad: bool | None = None,
) -> Any:
    """Return `obj` as a tensor; `copy` says whether it must or must not be copied.

    Parameters
    ----------
    obj : number, (nested) sequence of numbers, array or Tensor. The data to convert. The memory of
        an object with the DLPack or the buffer protocol is used; the bytes of a buffer are elements
        of `dtype`, by default of the default floating dtype.
    %(result_dtype, device)s
    copy : bool, optional. True always copies, False raises where a copy is needed, None copies only
        then.
    requires_grad : bool, optional. For a tensor: None keeps its history, False detaches it, True
        makes one that has none a leaf. For other data: whether the result requires a gradient.

    Returns
    -------
    Tensor: Of the shape of `obj`.

    Raises
    ------
    ValueError: If ``copy=False`` and the memory of `obj` cannot be used.

    Examples
    --------
    >>> wg.asarray([1, 2], dtype=wg.float64, requires_grad=True)
    tensor([1., 2.], dtype=torch.float64, requires_grad=True)
    """
    obj = _over_memory(obj, dtype)
    source = obj if isinstance(obj, TensorBase) else None
    held = obj if source is None else source._payload
    target: Any = getattr(held, "dtype", None) if dtype is None else type_of(dtype)
    if copy is False:
        if isinstance(obj, np.generic):
            raise RuntimeError("can't alias NumPy scalars. Leave copy=False out, or use an array")
        if source is None and not isinstance(obj, np.ndarray):
            raise ValueError(f"can't alias arbitrary sequence into a tensor: {type(obj).__name__}")
        if target != held.dtype:
            raise ValueError(
                f"can't alias tensor with dtype '{as_dtype(held.dtype)!r}' into dtype "
                f"'{as_dtype(target)!r}'."
            )
    if source is None:
        fresh = new_tensor(to_array(obj, target)) if copy else as_tensor(obj, target)
        wanted = requires_grad is not None and flag(requires_grad, "requires_grad")
        return made(fresh._payload, device, wanted)
    if requires_grad is False:
        if source._edge is not None:
            note("asarray(t)", source)
        array = without_tangents(source)
        if source._edge is not None or array is not source._payload:
            source = new_tensor(array, None, source._share_version())
    result = to(source, dtype=target, device=device)
    if copy and result is source:
        result = T.clone(source)
    if requires_grad and result._edge is None:
        shared = result._share_version() if result is obj else None
        result = made(result._array(), None, True)
        result._vc = shared
    return result


@export("wengert")
def from_numpy(ndarray: Any) -> Any:
    """Return a tensor that shares the memory of a NumPy array.

    Writes through NumPy are not seen by the check for saved values that were changed in place.

    Parameters
    ----------
    ndarray : numpy.ndarray. Of a numeric or boolean dtype, in this machine's byte order. What
        NumPy's functions give for tensors is a tensor, and is returned as it is.

    Returns
    -------
    Tensor: Of the array's shape and dtype; a leaf that does not require a gradient.

    Raises
    ------
    TypeError: If `ndarray` is not an array, or of a dtype that tensors do not have.
    ValueError: If its strides are not multiples of the size of its elements.

    Examples
    --------
    >>> a = np.arange(3.0)
    >>> wg.from_numpy(a)
    tensor([0., 1., 2.], dtype=torch.float64)
    """
    if isinstance(ndarray, TensorBase):
        return ndarray
    if not isinstance(ndarray, np.ndarray):
        raise TypeError(f"expected np.ndarray (got {type(ndarray).__name__})")
    check_array(ndarray)
    if any(step % ndarray.itemsize for step in ndarray.strides):
        raise ValueError(
            "given numpy array strides not a multiple of the element byte size. Copy the numpy "
            "array to reallocate the memory."
        )
    if not ndarray.flags.writeable:
        warn(
            "The given NumPy array is not writable: writing to the tensor will raise. You may want "
            "to copy the array before converting it to a tensor.",
            UserWarning,
        )
    return made_in_inference(new_tensor(traced("shared", np.asarray(ndarray))))


@export("wengert")
def scalar_tensor(
    s: Any,
    *,
    dtype: Any = None,
    layout: Any = None,
    device: Any = None,
    pin_memory: Any = None,
    requires_grad: bool = False,
) -> Any:
    """Return a number as a 0-d tensor, of the default floating dtype unless `dtype` is given.

    Examples
    --------
    >>> wg.scalar_tensor(3)
    tensor(3.)
    """
    return made(to_array(number(s), float_type(dtype)), device, requires_grad)


# -- from a shape ---------------------------------------------------------------------------------


@export("wengert")
def zeros(
    *shape: Any,
    size: Any = None,
    out: Any = None,
    dtype: Any = None,
    layout: Any = None,
    device: Any = None,
    pin_memory: Any = None,
    requires_grad: bool = False,
) -> Any:
    """Return a tensor of zeros.

    Parameters
    ----------
    %(sizes)s
    dtype : dtype, optional. The default floating dtype unless given.
    layout : layout, optional. `strided`, or that of a sparse tensor.
    %(device, requires_grad, returns_leaf)s

    Examples
    --------
    >>> wg.zeros(2, 3)
    tensor([[0., 0., 0.],
            [0., 0., 0.]])
    """
    array = np.zeros(shape_of("zeros", shape, size), float_type(asked(dtype, out)))
    return created(array, device, requires_grad, out, "zeros", layout)


@export("wengert")
def ones(
    *shape: Any,
    size: Any = None,
    out: Any = None,
    dtype: Any = None,
    layout: Any = None,
    device: Any = None,
    pin_memory: Any = None,
    requires_grad: bool = False,
) -> Any:
    """Return a tensor of ones; arguments as for `zeros`.

    Examples
    --------
    >>> wg.ones(3)
    tensor([1., 1., 1.])
    """
    if layout is not None:
        check_strided(layout, "ones")
    array = np.ones(shape_of("ones", shape, size), float_type(asked(dtype, out)))
    return created(array, device, requires_grad, out, "ones")


@export("wengert")
def empty(
    *shape: Any,
    size: Any = None,
    out: Any = None,
    dtype: Any = None,
    layout: Any = None,
    device: Any = None,
    pin_memory: Any = None,
    requires_grad: bool = False,
    memory_format: Any = None,
) -> Any:
    """Return a tensor with uninitialised elements; arguments as for `zeros`.

    Examples
    --------
    >>> wg.empty(2, 3).shape
    torch.Size([2, 3])
    """
    sizes, kind = shape_of("empty", shape, size), float_type(asked(dtype, out))
    order = contiguous_format
    if memory_format is not None:
        order = check_memory_format(memory_format, "empty", len(sizes))
    if order is preserve_format:
        raise RuntimeError("unsupported memory format Preserve: there is no tensor to be like")
    array = empty_in_format(sizes, kind, order)
    held = None if out is None else getattr(out, "_payload", None)
    if isinstance(held, np.ndarray) and held.shape == array.shape:
        array[...] = held  # what has the shape keeps its elements
    array = unwritten(array)
    if layout is not None:
        array[...] = 0  # a sparse tensor holds no elements
    return created(array, device, requires_grad, out, "empty", layout)


@export("wengert")
def full(
    size: Any,
    fill_value: Any,
    *,
    out: Any = None,
    dtype: Any = None,
    layout: Any = None,
    device: Any = None,
    pin_memory: Any = None,
    requires_grad: bool = False,
) -> Any:
    """Return a tensor filled with one value.

    Parameters
    ----------
    size : sequence of int. The shape.
    fill_value : number. The value; without `dtype` its kind decides: bool, int64, default floating
        or complex.
    out, dtype, layout, device, pin_memory, requires_grad: As for `zeros`.

    %(returns_leaf)s

    Raises
    ------
    RuntimeError: If the value does not fit into `dtype`.

    Examples
    --------
    >>> wg.full((2, 2), 7)
    tensor([[7, 7],
            [7, 7]])
    """
    if layout is not None:
        check_strided(layout, "full")
    shape = sized("full", size)
    value = number(fill_value)
    if not is_number(value):
        raise wrong_type("full", "fill_value", "Number", value, 2)
    if dtype is not None:
        kind = type_of(dtype)
    elif isinstance(value, bool | int):
        kind = np.dtype(bool if isinstance(value, bool) else np.int64)
    else:
        kind = default_complex() if isinstance(value, complex) else default_float()
    asked(dtype, out)
    array = filled(np.empty(shape, kind), value)
    return created(array, device, requires_grad, out, "full")


def filled(array: Any, value: Any) -> Any:
    """Fill `array` with `value`, if its dtype can hold the value."""
    if isinstance(value, complex) and array.dtype.kind not in "cb":
        raise overflow(array.dtype, value)
    if category(array.dtype) == 1:
        value = narrow(to_array(value), array.dtype)
    if type(value) is float and -_HALF_MAX < value < _HALF_MAX:
        array.fill(value)
        return array
    with np.errstate(over="ignore"):
        array.fill(value)
    return array
