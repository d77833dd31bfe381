"""Layer 6 · tensor: export of memory to other libraries by the DLPack protocol."""

from __future__ import annotations

import enum
from typing import Any

import numpy as np

from wengert.base.capsules import BFLOAT, set_element_kind
from wengert.base.ports import PORTS
from wengert.tape.base import TensorBase
from wengert.tape.modes import untraced


class DLDeviceType(enum.IntEnum):
    """The kinds of devices, with the protocol's numbers."""

    kDLCPU = 1
    kDLCUDA = 2
    kDLCUDAHost = 3
    kDLOpenCL = 4
    kDLVulkan = 7
    kDLMetal = 8
    kDLVPI = 9
    kDLROCM = 10
    kDLROCMHost = 11
    kDLExtDev = 12
    kDLCUDAManaged = 13
    kDLOneAPI = 14
    kDLWebGPU = 15
    kDLHexagon = 16
    kDLMAIA = 17


def exported(
    tensor: Any,
    stream: Any = -1,
    max_version: tuple[int, int] | None = None,
    dl_device: tuple[Any, int] | None = None,
    copy: bool | None = None,
) -> Any:
    """Return the capsule for ``tensor.__dlpack__()``."""
    untraced("it hands its memory to another library")
    if tensor.requires_grad:
        raise BufferError("Can't export tensors that require gradient, use tensor.detach()")
    if getattr(tensor, "is_meta", False):
        raise BufferError("Can't export meta tensors, which have no memory")
    if stream is not None and not isinstance(stream, int):
        raise TypeError("stream must be ``int`` or ``none``")
    if stream is not None and stream != -1:
        raise AssertionError("stream should be None on cpu.")
    if dl_device is not None and tuple(dl_device) != (DLDeviceType.kDLCPU, 0):
        raise BufferError(
            f"Can't export a tensor to device {tuple(dl_device)}: wengert's are on the CPU, (1, 0)"
        )
    # arrays of other idioms have no `numpy` method, and some are read-only
    array = tensor.numpy() if tensor.__class__ is PORTS.tensor else np.asarray(tensor)
    if copy:
        array = array.copy()
    if any(step < 0 for step in array.strides):
        raise BufferError(
            "Can't export tensors whose elements lie in the reverse order, which other libraries "
            "do not know: use tensor.contiguous()"
        )
    half = array.dtype.name == "bfloat16"  # see NOTE [bfloat16 in capsules]
    if half:
        array = array.view(np.uint16)
    # NumPy 2.0 does not support versions
    known: dict[str, Any] = {} if max_version is None else {"max_version": max_version}
    capsule = array.__dlpack__(**known)
    if half:
        set_element_kind(capsule, BFLOAT)
    return capsule


def to_dlpack(tensor: Any) -> Any:
    """Return a capsule that shares a tensor's memory with another library; it can be consumed once.

    Libraries that support the protocol take the tensor itself, by their ``from_dlpack(tensor)``.

    Parameters
    ----------
    tensor : Tensor. The tensor to export, which must not require a gradient.

    Raises
    ------
    BufferError: If the tensor cannot be exported, for example since it requires a gradient.

    Examples
    --------
    >>> import wengert.utils.dlpack
    >>> x = wg.arange(3.0)
    >>> wg.from_dlpack(wg.utils.dlpack.to_dlpack(x))
    tensor([0., 1., 2.])
    """
    if not isinstance(tensor, TensorBase):
        raise TypeError(f"to_dlpack() takes a Tensor, not {type(tensor).__name__}")
    return exported(tensor)
