"""Layer 5 · ops · creation: tensors over memory that another library or object owns."""

from __future__ import annotations

from typing import Any

import numpy as np

from wengert.base.arrays import unmasked
from wengert.base.capsules import array_from, is_capsule
from wengert.base.device import check_device
from wengert.base.dtypes import as_dtype, from_numpy_dtype
from wengert.base.export import export
from wengert.kernels.shared import map_file
from wengert.ops.options import check_strided, float_type, made
from wengert.tape.base import TensorBase, new_tensor
from wengert.tape.inference import made_in_inference
from wengert.tape.modes import traced
from wengert.tape.sites import warn


@export("wengert")
def from_dlpack(ext_tensor: Any, *, device: Any = None, copy: bool | None = None) -> Any:
    """Return a tensor over the memory of another library's, by the DLPack protocol.

    Writes to one appear in the other. The check for saved values that were modified in place does
    not see writes of the other library. Memory is read-only if the other library says so, or if it
    supports only the protocol's first version, which cannot say (JAX's arrays). That of a bare
    capsule is writable.

    Parameters
    ----------
    ext_tensor : object. A tensor or an array of PyTorch, JAX, NumPy, CuPy or another library, with
        ``__dlpack__``; or a capsule, which can be taken in once. Its memory is on the CPU. Numbers
        of bfloat16 are taken in, too.
    device : device, optional. Only the CPU.
    copy : bool, optional. Whether to copy the memory; None and False do not.

    Returns
    -------
    Tensor: A leaf that does not require a gradient.

    Raises
    ------
    BufferError: If it requires a gradient, or is of a dtype that the protocol does not know.
    RuntimeError: If the memory is not on the CPU, or a capsule was used before.
    TypeError: If it does not know the protocol.

    Examples
    --------
    >>> a = np.arange(3.0)
    >>> x = wg.from_dlpack(a)
    >>> a[0] = 7
    >>> x
    tensor([7., 1., 2.], dtype=torch.float64)
    """
    check_device(device)
    if isinstance(ext_tensor, TensorBase):
        if ext_tensor._edge is not None:
            raise BufferError("Can't export tensors that require gradient, use tensor.detach()")
        held: Any = ext_tensor
        memory = held.numpy()
        tensor = new_tensor(traced("shared", memory), None, held._share_version())
        return new_tensor(traced("shared", memory.copy())) if copy else made_in_inference(tensor)
    capsule = is_capsule(ext_tensor)
    if not capsule and not hasattr(ext_tensor, "__dlpack__"):
        raise TypeError(
            f"from_dlpack() takes a capsule or an object with __dlpack__, not "
            f"{type(ext_tensor).__name__}: tensor() copies values"
        )
    try:
        array = array_from(unmasked(ext_tensor))
    except ValueError as error:
        if capsule:
            raise RuntimeError(
                "from_dlpack received an invalid capsule. Note that DLTensor capsules can be "
                "consumed only once, so you might have already constructed a tensor from it once."
            ) from error
        raise
    from_numpy_dtype(array.dtype)
    if copy:
        array = array.copy()
    return made_in_inference(new_tensor(traced("shared", array)))


@export("wengert")
def frombuffer(
    buffer: Any, *, dtype: Any, count: int = -1, offset: int = 0, requires_grad: bool = False
) -> Any:
    """Return a tensor with one dimension over the memory of an object with the buffer protocol.

    Parameters
    ----------
    buffer : object. Bytes, a bytearray, an array, a memory map. Writes to one appear in the other;
        writing to read-only memory raises.
    dtype : dtype. The dtype of its bytes, in this machine's byte order.
    count : int. The number of elements; a negative number means all.
    offset : int. Bytes to skip at the beginning.
    requires_grad : bool. Whether the tensor requires a gradient.

    Returns
    -------
    Tensor: Of shape ``(count,)``; a leaf.

    Raises
    ------
    ValueError: If `buffer` has no such protocol, is empty or too short, or does not hold a whole
        number of elements.

    Examples
    --------
    >>> memory = bytearray(8)
    >>> x = wg.frombuffer(memory, dtype=wg.float32)
    >>> memory[3] = 64
    >>> x
    tensor([2., 0.])
    """
    kind = as_dtype(dtype).dtype
    try:
        view = memoryview(buffer)
    except TypeError as error:
        raise ValueError("object does not implement Python buffer protocol.") from error
    length = view.nbytes
    if length == 0 or count == 0:
        raise ValueError(f"both buffer length ({length}) and count ({count}) must not be 0")
    if not 0 <= offset < length:
        raise ValueError(
            f"offset ({offset} bytes) must be non-negative and no greater than buffer length "
            f"({length} bytes) minus 1"
        )
    if count < 0 and (length - offset) % kind.itemsize:
        raise ValueError(
            f"buffer length ({length - offset} bytes) after offset ({offset} bytes) must be a "
            f"multiple of element size ({kind.itemsize})"
        )
    if count > 0 and offset + count * kind.itemsize > length:
        raise ValueError(
            f"requested buffer length ({count} * {kind.itemsize} bytes) after offset ({offset} "
            f"bytes) must not be greater than actual buffer length ({length} bytes)"
        )
    if view.readonly:
        warn(
            "The given buffer is not writable: writing to the tensor will raise. You may want to "
            "copy the buffer before converting it to a tensor.",
            UserWarning,
        )
    array = np.frombuffer(buffer, kind, max(count, -1), offset)
    return made(traced("shared", array), None, requires_grad)


@export("wengert")
def from_file(
    filename: Any,
    shared: bool | None = None,
    size: int | None = 0,
    *,
    dtype: Any = None,
    layout: Any = None,
    device: Any = None,
    pin_memory: Any = None,
) -> Any:
    """Return a tensor with one dimension over the first elements of a file, mapped into memory.

    Parameters
    ----------
    filename : str. The file, of raw numbers; if `shared`, a missing one is created.
    shared : bool. Whether writes to the tensor change the file.
    size : int. The number of elements.

    Returns
    -------
    Tensor: Of shape ``(size,)``; a leaf.

    Raises
    ------
    RuntimeError: If the file is not `shared`, and is too short.

    Examples
    --------
    >>> import os, tempfile
    >>> path = os.path.join(tempfile.mkdtemp(), "numbers")
    >>> x = wg.from_file(path, shared=True, size=2).fill_(3.0)
    >>> np.fromfile(path, np.float32)
    array([3., 3.], dtype=float32)
    """
    if layout is not None:
        check_strided(layout, "from_file")
    kind = float_type(dtype)
    array = map_file(filename, shared, (size or 0) * kind.itemsize).view(kind)
    return made(traced("shared", array), device, False)
