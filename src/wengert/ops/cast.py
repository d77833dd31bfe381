"""Layer 5 · ops · creation: conversion of a tensor to another dtype or device."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from wengert.base.backends import backend_of
from wengert.base.device import as_device, is_meta
from wengert.base.device import device as Device
from wengert.base.dtypes import DTYPES, as_dtype, get_default_dtype, is_differentiable
from wengert.base.dtypes import dtype as DType
from wengert.base.errors import long_name
from wengert.base.export import export
from wengert.base.extras import bfloat16
from wengert.base.layout import sparse_bsc, sparse_bsr, sparse_coo, sparse_csc, sparse_csr
from wengert.base.memory_format import check_memory_format, preserve_format, suggested_format
from wengert.base.ports import PORTS
from wengert.interp.levels import device_of
from wengert.ops.clone import lying
from wengert.tape.base import TensorBase
from wengert.tape.detachments import note
from wengert.tape.record import T
from wengert.tape.sites import warn_once


@export("Tensor")
def to(
    input: Any,
    *args: Any,
    dtype: Any = None,
    device: Any = None,
    non_blocking: bool = False,
    copy: bool = False,
    memory_format: Any = None,
) -> Any:
    """Return the tensor in another dtype or on another device; itself where nothing changes.

    Parameters
    ----------
    *args: A dtype, a device, or another tensor to be like; then optionally `non_blocking` and
        `copy`.
    dtype, device: The same by name. Devices: ``"cpu"``, and ``"cuda"`` where there is one.
    copy : bool. Copy even where nothing changes.
    memory_format : memory_format, optional. The order of the result's memory; default:
        ``preserve_format``, that of `input`.

    Returns
    -------
    Tensor: Differentiable: the gradient comes back in the dtype of `input`.

    Raises
    ------
    RuntimeError: If no backend computes on the device.

    Examples
    --------
    >>> wg.tensor([1, 2]).to(wg.float64)
    tensor([1., 2.], dtype=torch.float64)
    """
    flags = []
    for value in args:
        if isinstance(value, TensorBase):
            dtype, device = value._payload.dtype, device_of(value._payload)
        elif isinstance(value, bool):
            flags.append(value)
        elif value.__class__ is int or _names_device(value):
            device = value
        elif value is not None:
            dtype = value
    copy = copy or (len(flags) > 1 and flags[1])
    wanted = None if dtype is None else as_dtype(dtype).dtype
    on_meta = device is not None and is_meta(device)
    if device is not None and not on_meta:
        place, here = as_device(device), device_of(input._payload)
        if place != here and (place.type, here.type) != ("cpu", "cpu"):
            input, copy = T.to_device(input, device=place), False
    result = _converted(input, wanted, memory_format, "to", copy)
    return PORTS.meta(result) if on_meta else result


def _names_device(value: Any) -> bool:
    return isinstance(value, str | Device) and str(value).removeprefix("torch.") not in DTYPES


def warn_discarded(kind: Any, wanted: Any) -> None:
    """Warn, once, if values of dtype `kind` lose their imaginary parts in dtype `wanted`."""
    if kind.kind == "c" and wanted.kind not in "cb":
        warn_once("Casting complex values to real discards the imaginary part")


def _converted(input: Any, wanted: Any, format: Any, name: str, copy: bool = False) -> Any:
    """Return `input` in the dtype `wanted` and the order `format`, copied only if needed."""
    order = preserve_format
    if format is not None:
        order = check_memory_format(format, name, input._payload.ndim)
    if wanted is not None and wanted != input._payload.dtype:
        if input._edge is not None and not is_differentiable(wanted):
            note(f".{name}({wanted.name})" if name == "to" else f".{name}()", input)
        warn_discarded(input._payload.dtype, wanted)
        out = T.to_copy(input, dtype=wanted)
    elif copy or (order is not preserve_format and suggested_format(input._payload) is not order):
        out = T.clone(input)
    else:
        return input
    return out if order is preserve_format else lying(out, order)


@export("Tensor")
def cpu(input: Any, memory_format: Any = None) -> Any:
    """Return the tensor on the CPU: itself if it is there, in the order `memory_format`.

    Examples
    --------
    >>> wg.ones(2).cpu().device
    device(type='cpu')
    """
    return to(input, device="cpu", memory_format=memory_format)


@export("Tensor")
def cuda(
    input: Any, device: Any = None, non_blocking: bool = False, memory_format: Any = None
) -> Any:
    """Return a copy on a GPU, recorded; the tensor itself if it is there.

    Raises
    ------
    RuntimeError: If there is no GPU (see `wengert.cuda`).
    """
    place = "cuda" if device is None else device
    return to(input, device=place, memory_format=memory_format)


@export("Tensor")
def pin_memory(input: Any, device: Any = None) -> Any:
    """Return the tensor itself, which a GPU copies like any other memory.

    Raises
    ------
    RuntimeError: If there is no GPU.
    """
    if backend_of("cuda") is None:
        raise RuntimeError(
            "Cannot access accelerator device when none is available. Ask "
            "torch.cuda.is_available() before you pin memory"
        )
    return input


def type_of(input: Any, dtype: Any = None, non_blocking: bool = False) -> Any:
    """Return the tensor's type as PyTorch names it, or with `dtype` the tensor converted.

    Examples
    --------
    >>> wg.ones(2).type(), wg.ones(2).type(wg.int64)
    ('torch.FloatTensor', tensor([1, 1]))
    """
    if dtype is None:
        return f"torch.{long_name(input._payload.dtype)}Tensor"
    if isinstance(dtype, str):
        short = dtype.removeprefix("torch.").removesuffix("Tensor")
        known = {long_name(d.dtype): d for d in DTYPES.values()}
        if short not in known:
            raise ValueError(f"invalid type: '{dtype}'")
        dtype = known[short]
    elif isinstance(dtype, type):
        # a class such as FloatTensor has a dtype of its own; NumPy's classes do not
        own = getattr(dtype, "dtype", None)
        dtype = own if isinstance(own, DType) else dtype
        if dtype is PORTS.tensor:
            dtype = get_default_dtype()
    elif not isinstance(dtype, DType | np.dtype):
        raise TypeError(f"dtype must be a type, str, or dtype object, but got {dtype!r}")
    return to(input, dtype)


@export("Tensor")
def type_as(input: Any, other: Any) -> Any:
    """Return the tensor in the dtype of `other`.

    Examples
    --------
    >>> wg.tensor([1, 2]).type_as(wg.ones(1))
    tensor([1., 2.])
    """
    return to(input, other)


def _cast(name: str, dtype: DType) -> Callable[..., Any]:
    wanted: np.dtype[Any] = dtype.dtype

    def method(input: Any, memory_format: Any = None) -> Any:
        if memory_format is None and input._payload.dtype == wanted:
            return input
        return _converted(input, wanted, memory_format, name)

    method.__name__ = method.__qualname__ = name
    method.__doc__ = f"""Return the tensor as {dtype.name}; differentiable between floating types.

    Examples
    --------
    >>> import wengert as wg
    >>> wg.tensor([0, 1]).{name}().dtype
    {dtype!r}
    """
    return method


def to_bfloat16(input: Any, memory_format: Any = None) -> Any:
    """Return the tensor as bfloat16, for which the package ml_dtypes must be installed."""
    return _converted(input, as_dtype(bfloat16()).dtype, memory_format, "bfloat16")


def to_chalf(input: Any, memory_format: Any = None) -> Any:
    """Refused: NumPy has no complex numbers of 32 bits.

    %(raises_always)s
    """
    raise NotImplementedError("chalf(): NumPy has no complex numbers of 32 bits; use cfloat()")


@export("Tensor")
def to_dense(input: Any, dtype: Any = None, *, masked_grad: bool = True) -> Any:
    """Return the tensor itself, since all are dense; with `dtype` the tensor converted.

    Parameters
    ----------
    %(input)s
    dtype : dtype, optional. That of the result; default: that of `input`.
    masked_grad : bool. Accepted for compatibility; it is for gradients of sparse tensors.

    Examples
    --------
    >>> wg.ones(2).to_dense()
    tensor([1., 1.])
    """
    return input if dtype is None else to(input, dtype)


@export("Tensor")
def to_sparse(
    input: Any, sparse_dim: Any = None, *, layout: Any = None, blocksize: Any = None
) -> Any:
    """Return a sparse tensor that stores only the nonzero elements.

    Parameters
    ----------
    %(input)s
    sparse_dim : int, optional. The number of dimensions with indices; default: all.
    layout : layout, optional. `sparse_coo`, which is the default, or for matrices `sparse_csr`,
        `sparse_csc`, `sparse_bsr` or `sparse_bsc`.
    blocksize : tuple of int, optional. The shape of the blocks of the last two layouts.

    Returns
    -------
    SparseTensor or CompressedTensor: The latter for a layout of matrices. Differentiable: the
        gradient is zero where nothing is stored.

    Raises
    ------
    NotImplementedError: For another layout.
    RuntimeError: If the layout is one of matrices, and `input` is none, or blocks do not divide it.

    Examples
    --------
    >>> wg.eye(2).to_sparse()
    tensor(indices=tensor([[0, 1],
                           [0, 1]]),
           values=tensor([1., 1.]),
           size=(2, 2), nnz=2, layout=torch.sparse_coo)
    """
    return PORTS.sparse(input, sparse_coo if layout is None else layout, sparse_dim, blocksize)


@export("Tensor")
def to_sparse_coo(input: Any) -> Any:
    """`to_sparse` with an index for each dimension.

    Parameters
    ----------
    %(input)s

    Returns
    -------
    SparseTensor: Differentiable: the gradient is zero where nothing is stored.

    Examples
    --------
    >>> wg.eye(2).to_sparse_coo().indices()
    tensor([[0, 1],
            [0, 1]])
    """
    return PORTS.sparse(input, sparse_coo)


@export("Tensor")
def to_sparse_csr(input: Any, dense_dim: int | None = None) -> Any:
    """Return the matrix stored by rows, without its zeros.

    Parameters
    ----------
    input : Tensor. A matrix.
    dense_dim : int, optional. Accepted for compatibility; has no effect.

    Returns
    -------
    CompressedTensor: Differentiable: the gradient is zero where nothing is stored.

    Raises
    ------
    RuntimeError: If it is not a matrix.

    Examples
    --------
    >>> wg.eye(2).to_sparse_csr().col_indices()
    tensor([0, 1])
    """
    return PORTS.sparse(input, sparse_csr)


@export("Tensor")
def to_sparse_csc(input: Any, dense_dim: int | None = None) -> Any:
    """Return the matrix stored by columns, without its zeros; see `to_sparse`.

    Parameters
    ----------
    input : Tensor. A matrix.
    dense_dim : int, optional. As for `to_sparse_csr`.

    Returns
    -------
    CompressedTensor: Differentiable, as `to_sparse_csr` is.

    Examples
    --------
    >>> wg.eye(2).to_sparse_csc().row_indices()
    tensor([0, 1])
    """
    return PORTS.sparse(input, sparse_csc)


@export("Tensor")
def to_sparse_bsr(input: Any, blocksize: Any, dense_dim: int | None = None) -> Any:
    """Return the matrix stored by rows of blocks, without its zeros; see `to_sparse`.

    Parameters
    ----------
    input : Tensor. A matrix.
    blocksize : int or tuple of int. As for `to_sparse`.
    dense_dim : int, optional. As for `to_sparse_csr`.

    Returns
    -------
    CompressedTensor: Differentiable, as `to_sparse_csr` is.

    Examples
    --------
    >>> wg.eye(4).to_sparse_bsr(2).values().shape
    torch.Size([2, 2, 2])
    """
    return PORTS.sparse(input, sparse_bsr, None, blocksize)


@export("Tensor")
def to_sparse_bsc(input: Any, blocksize: Any, dense_dim: int | None = None) -> Any:
    """Return the matrix stored by columns of blocks, without its zeros; see `to_sparse`.

    Parameters
    ----------
    input : Tensor. A matrix.
    blocksize : int or tuple of int. As for `to_sparse_bsr`.
    dense_dim : int, optional. Without effect.

    Returns
    -------
    CompressedTensor: Differentiable, as `to_sparse_csr` is.

    Examples
    --------
    >>> wg.eye(4).to_sparse_bsc((2, 4)).values().shape
    torch.Size([2, 2, 4])
    """
    return PORTS.sparse(input, sparse_bsc, None, blocksize)


@export("Tensor")
def sparse_mask(input: Any, mask: Any) -> Any:
    """Return the elements of a tensor where a sparse tensor has some, as a sparse tensor.

    Parameters
    ----------
    %(input)s
    mask : SparseTensor or CompressedTensor. Of the same shape; its values do not matter.

    Returns
    -------
    SparseTensor: Differentiable: the gradient is zero where nothing is stored.

    Examples
    --------
    >>> wg.ones(2, 2).sparse_mask(wg.eye(2).to_sparse()).values()
    tensor([1., 1.])
    """
    return PORTS.masked(input, mask)


CASTS = {
    name: _cast(name, DTYPES[dtype])
    for name, dtype in {
        "float": "float32",
        "double": "float64",
        "half": "float16",
        "int": "int32",
        "long": "int64",
        "short": "int16",
        "char": "int8",
        "byte": "uint8",
        "bool": "bool",
        "cfloat": "complex64",
        "cdouble": "complex128",
    }.items()
}
"""The conversions that have their own methods: ``tensor.double()``."""
